"""prepared_keys.py OPT FILE.bc: the field keys of a prepared module, one line for each instruction that has some, sorted.

A line has the place, the instruction's name and the keys, nothing that depends on the order of code or on names of values. OPT
verifies the module first.
"""
import re
import subprocess
import sys

text = subprocess.check_output([sys.argv[1], "-passes=verify", "-S", sys.argv[2]], text=True)
text = text.replace("\n          to label", " to label")  # an invoke
nodes = dict(re.findall(r"^(!\d+) = (?:distinct )?(.*)$", text, re.M))


def keys(node):
    return re.sub(r"!\d+", lambda m: keys(m.group()), nodes[node])


def place(node):
    if node is None:
        return "?"
    scope = re.search(r"scope: (!\d+)", nodes[node]).group(1)
    at = "%s:%s" % tuple(re.search(rf"{word}: (\d+)", nodes[node] + f" {word}: 0").group(1) for word in ("line", "column"))
    while "DISubprogram" not in nodes[scope]:
        scope = re.search(r"scope: (!\d+)", nodes[scope]).group(1)
    outer = re.search(r"inlinedAt: (!\d+)", nodes[node])
    name = re.search(r'[nN]ame: "([^"]*)"', nodes[scope]).group(1)
    return f"{name}:{at}" + (" < " + place(outer.group(1)) if outer else "")


lines = []
for line in text.splitlines():
    found = re.findall(r"!blackout\.(\w+) (!\d+)", line)
    if not line.startswith("  ") or not found:
        continue
    loc = re.search(r"!dbg (!\d+)", line)
    name = re.search(r"^  (?:%\S+ = )?(?:tail |musttail )?(\w+)", line).group(1)
    lines.append(" ".join([place(loc and loc.group(1)), name] + [f"{kind}={keys(node)}" for kind, node in found]))
assert "!blackout.prepared" in text
types = re.search(r"^!blackout\.types = !{(.*)}$", text, re.M)
for node in types.group(1).split(", ") if types and types.group(1) else []:
    lines.append("type " + keys(node))
print("\n".join(sorted(lines)))

#!/usr/bin/env python3
"""The layers of the code, read from the sources: fails with a sentence for each breach.

    tests/layout/includes.py [FOLDER OF THE PROJECT]
    tests/layout/includes.py --self-test

An include in src/<module> goes to a module that src/<module>/README.md names in its line "May use: ...", and that stands
earlier in the list of CONTRIBUTING.md ("Order: ..."); a README names no module that isn't used. Where a README has
"## Layers, lowest first", it names each file of the module in the table of one "### layer"; no include goes to a layer
further down that list, and no files of the module include each other in a circle. No two types of one
qualified name are defined in different files of the tool: linked into one program that would be undefined behaviour.
"""

import fnmatch
import os
import re
import sys
import tempfile

SOURCES = (".h", ".hpp", ".def", ".c", ".cpp", ".S")
# The runtime is a library of its own, and nothing of it but `drive` is linked into the tool.
OWN_LIBRARY = {"runtime"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_of(root, module):
    for folder, _, names in os.walk(os.path.join(root, "src", module)):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.join(folder, name)


def module_order(root):
    match = re.search(r"^Order: (.*?)\.$", read(os.path.join(root, "CONTRIBUTING.md")), re.MULTILINE | re.DOTALL)
    return re.findall(r"`([a-z]+)`", match[1]) if match else None


def may_use(readme):
    """The names of the line; None without one."""
    lines = re.findall(r"^May use: (.*)\.$", readme, re.MULTILINE)
    if len(lines) != 1:
        return None
    return [] if lines[0] == "nothing" else lines[0].split(", ")


def included_modules(root, path, modules):
    """(module, the include's words) of each include that goes to a module, the file's own too."""
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', read(path), re.MULTILINE):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        source = beside if os.path.exists(beside) else os.path.join(root, "src", name)
        module = os.path.relpath(source, os.path.join(root, "src")).split(os.sep)[0]
        if module in modules:
            yield module, name


def layer_breaches(root):
    modules = sorted(m for m in os.listdir(os.path.join(root, "src")) if os.path.isdir(os.path.join(root, "src", m)))
    order = module_order(root)
    if order is None:
        yield 'CONTRIBUTING.md: no line "Order: `module`, ..., `module`."'
        return
    for module in modules:
        if module not in order:
            yield f"CONTRIBUTING.md: the order of the modules doesn't name {module}"
            continue
        readme = os.path.join(root, "src", module, "README.md")
        allowed = may_use(read(readme)) if os.path.exists(readme) else None
        if allowed is None:
            yield f'src/{module}/README.md: no line "May use: module, module." (or "May use: nothing.")'
            continue
        used = set()
        for path in files_of(root, module):
            where = os.path.relpath(path, root)
            for other, name in included_modules(root, path, modules):
                if other == module:
                    continue
                used.add(other)
                if other not in allowed:
                    yield f'{where}: includes "{name}", but src/{module}/README.md does not say that {module} may use {other}'
                if other in order and order.index(other) > order.index(module):
                    yield f'{where}: includes "{name}", but {other} stands after {module} in CONTRIBUTING.md'
        for other in allowed:
            if other not in used:
                yield f"src/{module}/README.md: may use {other}, but nothing of it is included"


def units_of(root, module):
    """{name: what it includes} of a module's units: a source and its header are one, named without their ending."""
    base = os.path.join(root, "src", module)
    units = {}
    for path in files_of(root, module):
        included = units.setdefault(os.path.splitext(os.path.relpath(path, base))[0], set())
        for other, name in included_modules(root, path, [module]):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            source = beside if os.path.exists(beside) else os.path.join(root, "src", name)
            included.add(os.path.splitext(os.path.relpath(source, base))[0])
    return {name: {other for other in included if other in units and other != name} for name, included in units.items()}


def circle(units, has_source):
    """A list of units that include each other in a circle; None without one. A header without a source is a part of
    whoever includes it: it may include the header of that."""
    def uses(name, seen=()):
        for other in sorted(units[name]):
            if other in has_source:
                yield other
            elif other not in seen:
                yield from uses(other, (*seen, other))

    done = set()

    def walk(name, way):
        if name in way:
            return [*way[way.index(name):], name]
        if name in done:
            return None
        for other in uses(name):
            found = None if other == name else walk(other, [*way, name])
            if found:
                return found
        done.add(name)
        return None

    return next((found for found in (walk(name, []) for name in sorted(has_source)) if found), None)


def inner_breaches(root):
    """Of modules whose README has layers."""
    for module in sorted(os.listdir(os.path.join(root, "src"))):
        readme = os.path.join(root, "src", module, "README.md")
        parts = read(readme).split("\n## Layers, lowest first\n") if os.path.exists(readme) else []
        if len(parts) != 2:
            continue
        units = units_of(root, module)
        layers = {}
        for number, section in enumerate(re.split(r"^### ", parts[1], flags=re.MULTILINE)[1:]):
            for pattern in re.findall(r"`([\w/*.]+)`", " ".join(re.findall(r"^\|([^|]*)\|", section, re.MULTILINE))):
                matched = fnmatch.filter(units, os.path.splitext(pattern)[0] if "." in pattern else pattern)
                if not matched:
                    yield f"src/{module}/README.md: {pattern} is no file"
                for name in matched:
                    if layers.setdefault(name, number) != number:
                        yield f"src/{module}/README.md: {name} is in two layers"
        for name, included in sorted(units.items()):
            if name not in layers:
                yield f"src/{module}/README.md: no layer has {name}"
                continue
            for other in sorted(included):
                if layers.get(other, 0) > layers[name]:
                    yield f"src/{module}/{name}: includes {other}, which is in a higher layer (src/{module}/README.md)"
        sources = {os.path.splitext(os.path.relpath(path, os.path.join(root, "src", module)))[0]
                   for path in files_of(root, module) if path.endswith((".c", ".cpp", ".S"))}
        found = circle(units, sources)
        if found:
            yield f"src/{module}: files include each other in a circle: {' -> '.join(found)}"


def bare(text):
    """The code alone: no comments, no strings, no preprocessor lines."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.DOTALL)
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', " ", text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)


def defined_types(text):
    """Qualified names of the types that a file defines where others could: not in functions, not without a name."""
    head = re.compile(
        r"(?P<namespace>\bnamespace\b\s*(?P<space>[\w:]*)\s*\{)"
        r"|(?P<type>\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?"
        r"(?P<name>\w+(?:::\w+)*)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?\{)"
        r'|(?P<open>\{)|(?P<close>\})')
    scopes = []  # names; None: nobody else sees what is inside
    for m in head.finditer(bare(text)):
        if m["close"]:
            if scopes:
                scopes.pop()
        elif m["namespace"]:
            scopes.append(m["space"] or None)
        elif m["type"]:
            if None not in scopes:
                yield "::".join([*scopes, m["name"]])
            scopes.append(m["name"])
        else:
            scopes.append(None)


def duplicate_types(root):
    defined = {}
    for module in sorted(set(os.listdir(os.path.join(root, "src"))) - OWN_LIBRARY):
        for path in files_of(root, module):
            for name in set(defined_types(read(path))):
                defined.setdefault(name, []).append(os.path.relpath(path, root))
    for name, paths in sorted(defined.items()):
        if len(paths) > 1:
            yield f"{name} is defined in {' and in '.join(paths)}: one program can have one type of a name only"


def breaches(root):
    return [*layer_breaches(root), *inner_breaches(root), *duplicate_types(root)]


def self_test():
    good = {
        "CONTRIBUTING.md": "Order: `low`, `middle`,\n`high`.\n",
        "src/low/README.md": "May use: nothing.\n",
        "src/low/low.h": "namespace n {\nstruct Low { int a; };\nenum class Kind : int { A };\n}\n",
        "src/middle/README.md": "May use: low.\n",
        "src/middle/middle.cpp": '#include "low/low.h"\n#include <vector>\nnamespace n { namespace { struct Low {}; }\n'
                                 'void f() { struct Low {}; }\n// struct Low {\nstruct Outer { struct Low {}; }; struct Low; }\n'
                                 'struct n::Low::Part { int b; };\n',
        "src/high/README.md": "May use: low, middle.\n\n## Layers, lowest first\n\n### ground\n| file | subject |\n| `part.*`, `inner.h` | a part |\n"
                              "### roof\n| `hig*` | `nothing` |\n| `o*` | others |\n",
        "src/high/other_parts.h": "",
        "src/high/part.h": "",
        "src/high/part.cpp": '#include "high/part.h"\n#include "inner.h"\n',
        "src/high/inner.h": '#include "part.h"\n',
        "src/high/high.cpp": '#include "low/low.h"\n#include "../middle/middle.cpp"\n',
    }
    bad = [
        ("an include upwards", {"src/low/low.h": '#include "middle/middle.cpp"\n', "src/low/README.md": "May use: middle.\n"},
         "stands after low"),
        ("an include that the README doesn't name", {"src/high/README.md": "May use: low.\n"}, "may use middle"),
        ("a name that isn't used", {"src/middle/middle.cpp": "int a;\n"}, "nothing of it is included"),
        ("a README without the line", {"src/middle/README.md": "It may use low.\n"}, "no line"),
        ("a module without a place", {"CONTRIBUTING.md": "Order: `low`, `middle`.\n"}, "doesn't name high"),
        ("no order", {"CONTRIBUTING.md": "low, middle, high\n"}, "no line"),
        ("an include to a higher layer", {"src/high/part.h": '#include "high.cpp"\n'}, "high/part: includes high, which is in a higher"),
        ("a circle", {"src/high/one.cpp": '#include "other.h"\n', "src/high/one.h": "", "src/high/other.cpp": '#include "one.h"\n',
                      "src/high/other.h": ""}, "in a circle: one -> other -> one"),
        ("a circle through a header", {"src/high/one.cpp": '#include "offer.h"\n', "src/high/one.h": "", "src/high/offer.h": '#include "other.h"\n',
                                       "src/high/other.cpp": '#include "one.h"\n', "src/high/other.h": ""}, "in a circle: one -> other -> one"),
        ("a file without a layer", {"src/high/third.h": ""}, "no layer has third"),
        ("a layer of nothing", {"src/high/part.h": "", "src/high/README.md": good["src/high/README.md"].replace("hig*", "high*`, `hug*")},
         "hug* is no file"),
        ("a type twice", {"src/high/other.h": "namespace n {\nstruct Low final : Base { long b; };\n}\n"}, "n::Low is defined in"),
        ("an enum twice, in a source", {"src/high/other.cpp": "namespace n { enum class Kind : char { B }; }\n"}, "n::Kind is defined in"),
    ]
    failed = []
    for what, changes, sentence in [("nothing", {}, None), *bad]:
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**good, **changes}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            found = breaches(root)
            right = not found if sentence is None else any(sentence in line for line in found)
            if not right:
                failed.append(f"self-test: {what}: {found}")
    return failed


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        found = self_test()
    else:
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        found = breaches(os.path.normpath(arguments[0] if arguments else here))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

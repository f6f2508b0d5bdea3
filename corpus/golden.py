#!/usr/bin/env python3
"""Compares the report of every seeded bug with the one that is kept, so that no change of a word goes unseen.

    corpus/golden.py [NAME...] [--bug N] [--update] [--jobs N] [--blackout PATH] [--build FOLDER]

corpus/NAME/golden.txt has, for each bug, the report as text and of each finding what programs read of the JSON. What
changes with every change of the exploration or of the sources is left out of both: numbers are N, addresses and
fingerprints H; excerpts of the source, the calls that lead to a place and the figures of the exploration are not there
(tests/report/golden has their words). That findings have the right kind, class, severity and line is what corpus/run.py
compares.

--update writes the files anew; read the difference. Any difference is printed and makes the exit code 1.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys

from builds import CORPUS, PROJECT
from checks import add_options, execute, in_parallel, report_of, take_options
from run import build, variants_of

# Of the text: excerpts, and the calls that lead to a place.
LEFT_OUT = re.compile(r"^\s+(>\s+)?\d* *\||^      (inlined into|called from|\.\.\. |or, merged|in what it calls)")
PLACE = re.compile(r"\((\d+)\)")


def normal(text, folder):
    """A line as it is kept."""
    for path in (folder, CORPUS, PROJECT):
        text = text.replace(f"{path}/", "")
    # Numbers of places stay; what is hexadecimal may begin with a letter.
    text = PLACE.sub(lambda n: "(" + "abcdefghijklmnopqrstuvwxyz"[min(int(n[1]), 26) - 1] + ")", text)
    text = re.sub(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{16}\b", "H", text)
    text = re.sub(r"\b[0-9a-f]{2}( [0-9a-f]{2})+\b", "H", text)
    text = re.sub(r"(?<![A-Za-z_])-?\d+([,.]\d+)*(\^\d+)?", "N", text)
    text = re.sub(r"\bN:N\b", "N", text)
    # One and many read differently.
    return re.sub(r"\b(about )?N (crash state|time|flush|fence|byte|line|execution|point|restart|range|store)(e?s)?( show)?s?\b", r"N \2\4", text)


def text_of(report, folder):
    kept = [line for line in report.splitlines() if not LEFT_OUT.match(line) and not line.startswith("SUMMARY: ")]
    if "Crash exploration:" in kept and "What this result means:" in kept:
        del kept[kept.index("Crash exploration:"):kept.index("What this result means:")]
    lines = [normal(line, folder) for line in kept]
    return re.sub(r"\n{2,}", "\n", "\n".join(lines))


def facts_of(finding, folder):
    """What programs read of a finding, in a line."""
    places = [[place["label"], place["access"], place["type"], place["stack"][0]["function"] if place["stack"] else None] for place in finding["places"]]
    kept = {key: finding[key] for key in ("kind", "severity", "class", "title")}
    kept |= {"claim": finding["claim"]["is"], "places": places, "facts": [fact["is"] for fact in finding["facts"]],
             "fix": finding["fix"] and {"where": finding["fix"]["where"], "diff": bool(finding["fix"]["diff"])}}
    return normal(json.dumps(kept, ensure_ascii=False), folder)


def golden_of(variant, options):
    """The lines for one variant, or a sentence that says why there are none."""
    try:
        program = build(variant, options)
    except subprocess.CalledProcessError as error:
        return f"does not build ({error.returncode})"
    folder = options.build / f"golden-{variant.name}-{variant.bug}"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    command = [options.blackout, "check", "--jobs", "1", "--pm", "pool", "--json", "report.json", "--report", "report.txt", "--findings", ".",
               *variant.expected.get("options", []), "--failures", str(variant.expected.get("failures", 1)), "--", program, "pool"]
    checked = report_of(lambda: execute(command, options.timeout, cwd=folder), folder / "report.json", options.timeout)
    if isinstance(checked, str):
        return checked
    text = text_of((folder / "report.txt").read_text(), options.build)
    return [f"=== BUG {variant.bug}", *text.splitlines(), *(facts_of(f, options.build) for f in checked[1]["findings"])]


def kept_of(path):
    """The lines of each bug."""
    bugs = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("=== BUG "):
            lines = bugs[int(line.removeprefix("=== BUG "))] = []
        lines.append(line)
    return bugs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="structures; by default all")
    parser.add_argument("--bug", type=int, help="only this one")
    parser.add_argument("--update", action="store_true", help="write the reports as they are now")
    add_options(parser, "variants", "corpus", 600)
    options = take_options(parser)
    options.way = "compiled"
    options.build.mkdir(parents=True, exist_ok=True)
    folders = [CORPUS / n for n in options.names] or sorted(p.parent for p in CORPUS.glob("*/expected.json"))
    variants = [v for f in folders for v in variants_of(f) if v.bug != 0 and options.bug in (None, v.bug)]
    different = 0
    for variant, lines in zip(variants, in_parallel(lambda v: golden_of(v, options), variants, options.jobs)):
        path = variant.source.parent / "golden.txt"
        kept = kept_of(path)
        if isinstance(lines, str):
            print(f"{variant}: {lines}")
            different += 1
        elif options.update:
            kept[variant.bug] = lines
            path.write_text("\n".join(line for bug in sorted(kept) for line in kept[bug]) + "\n")
        elif lines != kept.get(variant.bug):
            print(f"{variant}: the report is another one")
            print("\n".join(difflib.unified_diff(kept.get(variant.bug, []), lines, "kept", "now", n=1, lineterm="")))
            different += 1
    print(f"{len(variants)} bugs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

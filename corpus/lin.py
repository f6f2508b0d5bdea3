#!/usr/bin/env python3
"""The structures of the corpus judged by `blackout lin`: its own operations, its own checks after the crash, its judgement by
the order of operations.

    corpus/lin.py [NAME...] [--bug N] [--all] [--quick] [--table] [--jobs N] [--blackout PATH] [--build FOLDER]

A structure of the corpus has its harness in corpus/lin/harness.cpp, over the class that corpus/lin/harnesses.json names
(`structure`), and its own bugs; others are a file in corpus/lin, with their bugs in that table, and their marks perhaps in a
header (`marks_in`). `words` are more words of `blackout lin` (`@`: the corpus folder). A correct version must be clean and
complete; a bug must be found with a line of its own, by one of its kinds, and nothing else may be shown. A bug that is not
found has a row with the reason (`missed`), and so has one that is shown at lines of others (`elsewhere`). Of a structure with `confirmed` only these bugs are compared: what comes out of the
others has not been written down yet; --all runs them too. Any difference is printed and makes the exit code 1.

--quick takes the variants that are named as quick. --table prints what was found, and how long each took.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import run as corpus
from builds import CORPUS, PROJECT, Builder, content_of

Variant = collections.namedtuple("Variant", "name source bug expected structure")
HARNESS = CORPUS / "lin/harness.cpp"


class HarnessBuilder(Builder):
    """The harness over one structure, kept as the programs of the corpus are."""

    def __init__(self, variant, tools, folder, large=False):
        """`large`: with room for a thousand operations."""
        super().__init__("compiled", tools, folder)
        self.variant = variant
        self.large = large

    def harness(self):
        v = self.variant
        program = self.folder / f"lin-{v.name}-{v.bug}{'-large' if self.large else ''}"
        kept = program.with_suffix(".built")
        made_of = [HARNESS, *sorted((CORPUS / "lin").glob("*.hpp"))]
        key = self.key(v.source) + "".join(content_of(path) + "\n" for path in made_of)
        if not program.exists() or not kept.exists() or kept.read_text() != key:
            kept.unlink(missing_ok=True)
            new = program.with_suffix(f".{os.getpid()}")
            what = [v.source]
            if "structure" in v.structure:
                what = [f'-DSOURCE="{v.name}/{v.source.name}"', f"-DSTRUCTURE={v.structure['structure']}", HARNESS]
            subprocess.run([self.tools / "blackout-clang++", "-g", "-O1", f"-DBUG={v.bug}",
                            *(["-DCORPUS_LARGE"] if self.large else []), "-I", CORPUS, "-I",
                            PROJECT / "include", *what, "-o", new], check=True)
            os.replace(new, program)
            kept.write_text(key)
        return program


def variants_of(name, structure, everything=False):
    source = CORPUS / f"lin/{name}.cpp"
    own = {}
    if "structure" in structure:
        source = CORPUS / f"{name}/{name}.cpp"
        own = json.loads((CORPUS / name / "expected.json").read_text())["bugs"]
    bugs = {bug: {**own.get(bug, {}), **structure.get("bugs", {}).get(bug, {})} for bug in own | structure.get("bugs", {})}
    yield Variant(name, source, 0, structure["correct"], structure)
    for bug, what in bugs.items():
        unconfirmed = int(bug) not in structure.get("confirmed", [int(bug)])
        if what["class"] != "PERF" and (everything or not unconfirmed):  # of PERF there is nothing that a restart could show
            yield Variant(name, source, int(bug), what, structure)


def words_of(variant):
    words = variant.expected.get("words", variant.structure.get("words", []))
    words = [word.replace("@", str(CORPUS)) for word in words]
    return words + (["--failures", str(variant.expected["failures"])] if "failures" in variant.expected else [])


def judged(variant, options):
    """The report, the seconds that it took, and what is not as expected."""
    program = HarnessBuilder(variant, options.blackout.parent, options.build).harness()
    report = options.build / f"lin-{variant.name}-{variant.bug}.json"
    pool = options.build / f"lin-{variant.name}-{variant.bug}.pool"
    report.unlink(missing_ok=True)
    pool.unlink(missing_ok=True)
    began = time.monotonic()
    try:
        ran = subprocess.run([options.blackout, "lin", "--jobs", "1", "--pm", pool, "--json", report, *words_of(variant),
                              "--findings", options.build / f"lin-{variant.name}-{variant.bug}.findings", "--", program, pool],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, options.timeout, [f"not done after {options.timeout} seconds"]
    seconds = time.monotonic() - began
    if not report.exists():
        return None, seconds, [f"ended with {ran.returncode}: {(ran.stdout.strip().splitlines() or ['no output'])[-1]}"]
    result = json.loads(report.read_text())
    return result, seconds, differences_of(variant, result)


def correct_differences(variant, report):
    allowed = variant.expected.get("allowed", [])  # wasted work that comes of how the harness uses it
    differences = [f"false finding: {corpus.describe(f, variant.source)}" for f in report["findings"]
                   if f["severity"] != "performance" or f["kind"] not in allowed]
    if not report["complete"]:
        differences.append("not complete: " + "; ".join(report["incomplete"]))
    # Linearization points that the source marks by hand must be among those that are inferred.
    points = report.get("exploration", {}).get("likely_points", {})
    if variant.structure.get("marked") and not points.get("marked"):
        differences.append("no linearization point is marked")
    if points.get("missed"):
        differences.append(f"{points['missed']} of {points['marked']} marked linearization points are not inferred")
    return differences


def differences_of(variant, report):
    shown = [f for f in report["findings"] if f["severity"] == "shown"]
    if variant.bug == 0:
        return correct_differences(variant, report)
    if "missed" in variant.expected:
        return [f"is not expected to be found: {corpus.describe(f, variant.source)}" for f in shown]
    lines = marked_lines(variant)
    kinds = corpus.kinds_of(variant.expected)
    right = [f for f in shown if f["kind"] in kinds and ("elsewhere" in variant.expected or is_at(f, lines))]
    others = [f for f in shown if f not in right]
    differences = [] if right else [f"missed: {' or '.join(kinds)} ({variant.expected['title']})"]
    return differences + [f"expected {' or '.join(kinds)}: {corpus.describe(f, variant.source)}" for f in others]


def is_at(finding, lines):
    """As of the corpus. Where only the crash is known, it comes inside of what a line of ours has called."""
    if len(finding["places"]) > 1 or not finding["places"]:
        return corpus.is_at(finding, lines)
    return any((os.path.realpath(frame["file"]), frame["line"]) in lines for frame in finding["places"][0]["stack"])


def marked_lines(variant):
    """As of the corpus; the marks of several structures may stand in one header."""
    if "marks_in" not in variant.structure:
        return corpus.marked_lines(variant)
    return corpus.marked_lines(variant._replace(source=CORPUS / variant.structure["marks_in"]))


def orders_of(report):
    """How many findings are shown by an answer that no order explains."""
    return sum(any(fact["is"] == "no-order" for fact in f["facts"]) for f in report["findings"] if f["severity"] == "shown")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--bug", type=int, help="only this variant; 0: the correct version")
    parser.add_argument("--all", action="store_true", help="bugs that are not confirmed, too")
    parser.add_argument("--quick", action="store_true", help="only the variants that are named as quick")
    parser.add_argument("--table", action="store_true", help="print a line for each variant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="variants at a time")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one variant")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, help="folder for programs and reports (corpus/ beside bin/)")
    options = parser.parse_args()
    options.blackout = options.blackout.absolute()
    options.build = (options.build or options.blackout.parent.parent / "corpus").absolute()
    options.build.mkdir(parents=True, exist_ok=True)
    table = json.loads((CORPUS / "lin/harnesses.json").read_text())
    unknown = [name for name in options.names if name not in table]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(table)}")
    variants = [v for name in options.names or table for v in variants_of(name, table[name], options.all)]
    if options.quick:
        variants = [v for v in variants if v.bug in v.structure.get("quick", [])]
    if options.bug is not None:
        variants = [v for v in variants if v.bug == options.bug]

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for v, (report, seconds, differences) in zip(variants, pool.map(lambda v: judged(v, options), variants)):
            for difference in differences:
                print(f"{v.name} {f'BUG={v.bug}' if v.bug else 'correct'}: {difference}", flush=True)
            wrong += bool(differences)
            if options.table and report:
                said = "clean" if v.bug == 0 else "missed" if "missed" in v.expected else "found"
                print(f"{v.name:12}{v.bug:4} {v.expected.get('class', ''):6}{'WRONG' if differences else said:8}"
                      f"{orders_of(report):3} no order {report.get('exploration', {}).get('runs', 0):7} restarts"
                      f"{seconds:8.1f} s", flush=True)
    print(f"{len(variants)} variants, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

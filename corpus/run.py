#!/usr/bin/env python3
"""Checks every program of the corpus and compares what Blackout says with what it should say.

    corpus/run.py [NAME...] [--truth] [--update] [--jobs N] [--blackout PATH] [--build FOLDER]

Every variant (the correct version and each seeded bug) is built with the compiler wrapper that lies beside the
blackout command and goes through `blackout check --json`. corpus/NAME/expected.json says what must come out:

  correct   no finding at all, complete, and exactly so many points and runs
  a bug     a finding of this kind, class and severity ("verdict") with the line marked by its comment (@LOST n) among its
            places, and no finding that was shown and is not the seeded bug

Any difference is printed and makes the exit code 1.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import pathlib
import re
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parent
PROJECT = CORPUS.parent

# What became of one variant. `found`, `misnamed` (right place, wrong kind) and `missed` are 0 or 1 and all 0 for a
# correct version; `false` counts findings that are not the seeded bug.
Result = collections.namedtuple("Result", "variant found misnamed missed false differences report")


class Variant:
    def __init__(self, source, bug, expected):
        self.source, self.bug, self.expected = source, bug, expected
        self.name = source.stem

    def __str__(self):
        return f"{self.name} correct" if self.bug == 0 else f"{self.name} BUG={self.bug}"


def variants_of(folder):
    source = next(iter(sorted(folder.glob(f"{folder.name}.c*"))))
    expected = json.loads((folder / "expected.json").read_text())
    yield Variant(source, 0, expected["correct"])
    for bug, what in sorted(expected["bugs"].items(), key=lambda item: int(item[0])):
        yield Variant(source, int(bug), what)


def newest(paths):
    return max(os.path.getmtime(path) for path in paths)


def build(variant, options):
    """Returns the program, built again if anything that it is made of or by is newer."""
    tools = options.blackout.parent
    compiler = tools / ("blackout-clang" if variant.source.suffix == ".c" else "blackout-clang++")
    program = options.build / f"{variant.name}-{variant.bug}"
    made_of = [variant.source, compiler, *CORPUS.glob("*.h*"), *PROJECT.glob("include/blackout/*"),
               *filter(os.path.isfile, glob.glob(str(tools.parent / "lib/**"), recursive=True))]
    if not program.exists() or program.stat().st_mtime < newest(made_of):
        subprocess.run([compiler, "-g", "-O1", f"-DBUG={variant.bug}", "-I", CORPUS, "-I", PROJECT / "include",
                        variant.source, "-o", program], check=True)
    return program


def check(variant, options):
    """Returns the report as `blackout check` wrote it, or a sentence that says why there is none."""
    program = build(variant, options)
    report = options.build / f"{variant.name}-{variant.bug}.json"
    pool = options.build / f"{variant.name}-{variant.bug}.pool"
    report.unlink(missing_ok=True)
    pool.unlink(missing_ok=True)
    # The variants are what runs in parallel.
    command = [options.blackout, "check", "--jobs", "1", "--pm", pool, "--json", report]
    if "failures" in variant.expected:
        command += ["--failures", str(variant.expected["failures"])]
    try:
        ran = subprocess.run([*command, "--", program, pool], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return f"not done after {options.timeout} seconds"
    if not report.exists():
        last = (ran.stdout.strip().splitlines() or ["no output"])[-1]
        return f"blackout check ended with {ran.returncode}: {last}"
    return json.loads(report.read_text())


def marked_lines(variant):
    """The lines of the seeded bug: those with the comment `@LOST n`."""
    mark = re.compile(rf"@{re.escape(variant.expected['mark'])}\b")
    return {number for number, line in enumerate(variant.source.read_text().splitlines(), 1) if mark.search(line)}


def frame_of(finding, stack):
    """The line that a place is at. What costs only time is done by the headers of the corpus, at the request of the
    line that called them."""
    if finding["severity"] != "performance":
        return stack[0]
    calls = (frame for frame in stack if os.path.dirname(os.path.realpath(frame["file"])) != str(CORPUS))
    return next(calls, stack[0])


def is_at(finding, source, lines):
    places = (frame_of(finding, place["stack"]) for place in finding["places"] if place["stack"])
    return any(os.path.realpath(frame["file"]) == str(source) and frame["line"] in lines for frame in places)


def describe(finding, source):
    lines = [str(place["stack"][0]["line"]) for place in finding["places"]
             if place["stack"] and os.path.realpath(place["stack"][0]["file"]) == str(source)]
    return f"{finding['severity']} {finding['kind']} (lines {', '.join(lines) or 'unknown'}): {finding['verdict']}"


def judge_correct(variant, report):
    false = report["findings"] if variant.expected["clean"] else []
    differences = [f"false finding: {describe(f, variant.source)}" for f in false]
    if report["complete"] != variant.expected["complete"]:
        differences.append("complete" if report["complete"] else "not complete: " + "; ".join(report["incomplete"]))
    exploration = report.get("exploration")
    if not exploration:
        differences.append("crashes were not explored")
    else:
        for figure in ("points", "runs"):
            if variant.expected[figure] != exploration[figure]:
                differences.append(f"{figure}: {exploration[figure]}, expected {variant.expected[figure]}")
    return Result(variant, 0, 0, 0, len(false), differences, report)


def kinds_of(expected):
    """One kind, or several where one mistake shows in two ways."""
    return expected["kind"] if isinstance(expected["kind"], list) else [expected["kind"]]


def class_of(expected):
    """What a finding of the bug must be called across the failure; None: anything."""
    return expected.get("found_as") or {"RACE": "race", "SEM": "semantic", "PERF": "performance"}.get(expected["class"])


def judge_bug(variant, report):
    lines = marked_lines(variant)
    if not lines:
        return Result(variant, 0, 0, 1, 0, [f"no line is marked @{variant.expected['mark']}"], report)
    right, misnamed, false = [], [], []
    for finding in report["findings"]:
        as_expected = finding["severity"] == variant.expected["verdict"]
        if as_expected and is_at(finding, variant.source, lines):
            (right if finding["kind"] in kinds_of(variant.expected) else misnamed).append(finding)
        elif finding["severity"] == "shown":
            false.append(finding)
    differences = [f"not the seeded bug: {describe(f, variant.source)}" for f in false]
    differences += [f"expected {variant.expected['kind']}: {describe(f, variant.source)}" for f in misnamed]
    wanted = class_of(variant.expected)
    if right and wanted and all(f["class"] != wanted for f in right):
        differences.append(f"is called {right[0]['class']}, not {wanted}: {describe(right[0], variant.source)}")
    if not right and not misnamed:
        where = ", ".join(map(str, sorted(lines)))
        differences.append(f"missed: {variant.expected['kind']} at line {where} ({variant.expected['title']})")
    return Result(variant, int(bool(right)), int(not right and bool(misnamed)), int(not right and not misnamed),
                  len(false), differences, report)


def run(variant, options):
    try:
        report = check(variant, options)
    except subprocess.CalledProcessError as error:
        report = f"does not build ({error.returncode})"
    if isinstance(report, str):
        return Result(variant, 0, 0, int(variant.bug != 0), 0, [report], None)
    return judge_bug(variant, report) if variant.bug else judge_correct(variant, report)


def print_truth(results):
    """Found, missed and false by the kinds of bugs of the catalogue in README.md."""
    rows = collections.defaultdict(lambda: [0] * 5)
    for r in results:
        row = rows[r.variant.expected.get("class", "other") if r.variant.bug else "correct"]
        for i, number in enumerate((1, r.found, r.misnamed, r.missed, r.false)):
            row[i] += number
    layout = "{:<10}{:>9}{:>9}{:>10}{:>9}{:>9}"
    print(layout.format("kind", "variants", "found", "misnamed", "missed", "false"))
    for kind in sorted(rows, key=lambda kind: (kind == "correct", kind)):
        print(layout.format(kind, *rows[kind]))
    print(layout.format("all", *map(sum, zip(*rows.values()))))


def update(results):
    """Takes the figures of the correct versions over into expected.json."""
    for r in results:
        if r.variant.bug or not r.report or not r.report.get("exploration"):
            continue
        path = r.variant.source.parent / "expected.json"
        expected = json.loads(path.read_text())
        for figure in ("points", "runs"):
            expected["correct"][figure] = r.report["exploration"][figure]
        path.write_text(json.dumps(expected, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--bug", type=int, help="only this variant; 0: the correct version")
    parser.add_argument("--truth", action="store_true", help="print what was found, missed and false, by kind of bug")
    parser.add_argument("--update", action="store_true", help="write the figures of correct versions to expected.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="variants at a time")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one variant")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, help="folder for programs and reports (corpus/ beside bin/)")
    options = parser.parse_args()
    options.blackout = options.blackout.absolute()
    options.build = (options.build or options.blackout.parent.parent / "corpus").absolute()
    options.build.mkdir(parents=True, exist_ok=True)

    known = {path.parent.name: path.parent for path in sorted(CORPUS.glob("*/expected.json"))}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(known)}")
    variants = [v for name in options.names or known for v in variants_of(known[name])]
    if options.bug is not None:
        variants = [v for v in variants if v.bug == options.bug]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda v: run(v, options), variants))
    if options.update:
        update(results)
    for r in results:
        for difference in r.differences:
            print(f"{r.variant}: {difference}")
    if options.truth:
        print_truth(results)
    wrong = sum(bool(r.differences) for r in results)
    print(f"{len(results)} variants, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

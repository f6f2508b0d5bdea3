#!/usr/bin/env python3
"""Checks every program of the corpus and compares what Blackout says with what it should say.

    corpus/run.py [NAME...] [--trapped | --mixed] [--truth] [--update] [--jobs N] [--blackout PATH] [--build FOLDER]

Every variant (the correct version and each seeded bug) is built with the compiler wrapper that lies beside the
blackout command and goes through `blackout check --json`. corpus/NAME/expected.json says what must come out:

  correct   no finding at all, complete, and exactly so many points and runs
  a bug     a finding of this kind, class and severity ("verdict") with the line marked by its comment (@LOST n) among its
            places, and no finding that was shown and is not the seeded bug

The same must come out of programs that were not built with Blackout (--trapped), or only by half (--mixed). Where it
can't, corpus/trapped.json has a row that says what comes out instead, in which ways of building it, and the reason:

  found_as, kind, points, runs    as in expected.json; "any" of the last two: not compared
  line                            where the bug is found, if not at its marked lines: a number, or a text (and the file) of a line
  besides                         kinds of findings that are shown besides it, at other places
  missed                          it is not found, and the check is not complete
  options                         more options of `blackout check`

Any difference is printed and makes the exit code 1.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

from builds import CORPUS, WAYS, Builder
from checks import add_options, execute, in_parallel, report_of, take_options

# What became of one variant. `found`, `misnamed` (right place, wrong kind) and `missed` are 0 or 1 and all 0 for a
# correct version; `false` counts findings that are not the seeded bug.
Result = collections.namedtuple("Result", "variant found misnamed missed false differences report")


class Variant:
    def __init__(self, source, bug, expected):
        self.source, self.bug, self.expected = source, bug, expected
        self.name = source.stem

    def __str__(self):
        return f"{self.name} correct" if self.bug == 0 else f"{self.name} BUG={self.bug}"


def variants_of(folder, way="compiled"):
    source = next(iter(sorted(folder.glob(f"{folder.name}.c*"))))
    expected = json.loads((folder / "expected.json").read_text())
    for bug, what in sorted({"0": expected["correct"], **expected["bugs"]}.items(), key=lambda item: int(item[0])):
        yield Variant(source, int(bug), {**what, **otherwise(f"{folder.name} {bug}", way)})


def otherwise(variant, way):
    """What of a variant is expected otherwise in this way of building it: trapped.json."""
    table = json.loads((CORPUS / "trapped.json").read_text())
    different = {}
    for row in table["variants"].get(variant, []):
        if row["reason"] not in table["reasons"]:
            sys.exit(f"trapped.json: {variant}: there is no reason '{row['reason']}'")
        if way in row["ways"]:
            different |= row["instead"]
    return different


def build(variant, options, way="compiled"):
    return Builder(way, options.blackout.parent, options.build).program(variant.source, variant.bug)


def check(variant, options):
    """Returns the report as `blackout check` wrote it, or a sentence that says why there is none."""
    program = build(variant, options, options.way)
    report = options.build / f"{variant.name}-{variant.bug}.json"
    pool = options.build / f"{variant.name}-{variant.bug}.pool"
    pool.unlink(missing_ok=True)
    # The variants are what runs in parallel.
    command = [options.blackout, "check", "--jobs", "1", "--pm", pool, "--json", report]
    if options.way.startswith("mixed"):
        command += ["--trap", "always"]  # a library of the program's own is not looked for
    command += variant.expected.get("options", [])
    if "failures" in variant.expected:
        command += ["--failures", str(variant.expected["failures"])]
    checked = report_of(lambda: execute([*command, "--", program, pool], options.timeout), report, options.timeout)
    return checked if isinstance(checked, str) else checked[1]


def marked_lines(variant):
    """The lines of the seeded bug, with their files: those with the comment `@LOST n`, or what trapped.json says instead."""
    mark = re.compile(rf"@{re.escape(variant.expected['mark'])}\b")
    file = variant.source
    instead = variant.expected.get("line", {})
    if "number" in instead:
        return {(str(file), instead["number"])}
    if "text" in instead:
        mark = re.compile(re.escape(instead["text"]))
        file = CORPUS / instead.get("file", file)
    return {(str(file), number) for number, line in enumerate(file.read_text().splitlines(), 1) if mark.search(line)}


def frame_of(finding, stack):
    """The line that a place is at. Plain code is followed into libc, which works at the request of a line of ours. What
    costs only time is done by the headers of the corpus, at the request of the line that called them."""
    ours = [frame for frame in stack if os.path.realpath(frame["file"]).startswith(f"{CORPUS}/")] or stack
    if finding["severity"] != "performance":
        return ours[0] if is_libc(stack[0]) else stack[0]
    calls = (frame for frame in ours if os.path.dirname(os.path.realpath(frame["file"])) != str(CORPUS))
    return next(calls, stack[0])


def is_libc(frame):
    return os.path.basename(frame["module"]).startswith("libc.so")


def is_at(finding, lines):
    places = (frame_of(finding, place["stack"]) for place in finding["places"] if place["stack"])
    return any((os.path.realpath(frame["file"]), frame["line"]) in lines for frame in places)


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
            if variant.expected[figure] not in (exploration[figure], "any"):
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
        if as_expected and is_at(finding, lines):
            (right if finding["kind"] in kinds_of(variant.expected) else misnamed).append(finding)
        elif finding["severity"] == "shown" and finding["kind"] not in variant.expected.get("besides", []):
            false.append(finding)
    differences = [f"not the seeded bug: {describe(f, variant.source)}" for f in false]
    differences += [f"expected {variant.expected['kind']}: {describe(f, variant.source)}" for f in misnamed]
    wanted = class_of(variant.expected)
    if right and wanted and all(f["class"] != wanted for f in right):
        differences.append(f"is called {right[0]['class']}, not {wanted}: {describe(right[0], variant.source)}")
    if variant.expected.get("missed"):
        if right or misnamed or report["complete"]:
            differences.append("is not expected to be found, nor to be complete, in this way of building it")
    elif not right and not misnamed:
        where = ", ".join(str(number) for _, number in sorted(lines))
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
    ways = parser.add_mutually_exclusive_group()
    for way, what in WAYS.items():
        ways.add_argument("--" + way, dest="way", action="store_const", const=way, help=what)
    parser.set_defaults(way="compiled")
    parser.add_argument("--bug", type=int, help="only this variant; 0: the correct version")
    parser.add_argument("--truth", action="store_true", help="print what was found, missed and false, by kind of bug")
    parser.add_argument("--update", action="store_true", help="write the figures of correct versions to expected.json")
    add_options(parser, "variants", "corpus", 600)
    options = take_options(parser)
    if options.update and options.way != "compiled":
        parser.error("--update takes the figures of compiled programs")
    if options.way != "compiled":
        options.build /= options.way
    options.build.mkdir(parents=True, exist_ok=True)

    known = {path.parent.name: path.parent for path in sorted(CORPUS.glob("*/expected.json"))}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(known)}")
    variants = [v for name in options.names or known for v in variants_of(known[name], options.way)]
    if options.bug is not None:
        variants = [v for v in variants if v.bug == options.bug]

    results = list(in_parallel(lambda v: run(v, options), variants, options.jobs))
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

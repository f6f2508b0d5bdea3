#!/usr/bin/env python3
"""Checks programs with one known mistake each, and compares what Blackout calls the mistake with what it is.

    tests/causes/run.py [--only PATTERN]... [--goal] [--text] [--jobs N] [--blackout PATH] [--build FOLDER]

A row is a program and the number of its mistake: log.1, or log.0 for the right version. PATTERN is a row, or a pattern of
a shell ("queue.*"). mistakes.json has the mistakes with their cures; README.md says what its keys mean. Of each row:

  right version   no finding of any severity, complete, exit code 0 (a library's own wasted flushes apart)
  kind            the first finding that was shown has the kind of the mistake
  line            its place (1) is a line that the program marks for this mistake, and not one of a header that it calls
  relies          if the program marks a line that relies on it, the finding leads there too
  findings        so many were shown as there are mistakes, and the exit code is 1

Rows that are known to be wrong are in open.txt; the run fails if another row is wrong, or if one of these is right. With
--goal it fails if the figures are below the goal of mistakes.json instead.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(PROJECT / "corpus"))

from builds import Builder  # noqa: E402: in corpus/
from checks import add_options, execute, in_parallel, report_of, take_options  # noqa: E402

PROGRAMS = HERE / "programs"
ASPECTS = ("kind", "line", "relies", "findings")

# `wrong` has a sentence for each aspect that is wrong; `aspects` are those that the row has. `extra` findings were shown
# though there is no such mistake, and `suspected` ones are listed beside those that were shown.
Result = collections.namedtuple("Result", "row wrong aspects extra suspected text")


class Row:
    def __init__(self, program, number, what, mistake, reason):
        self.source = PROGRAMS / program
        self.number, self.mistake, self.open = number, mistake, reason
        self.name = f"{self.source.stem}.{number}"
        self.libraries = what.get("libraries", [])
        self.prepare = what.get("prepare")

    def lines(self, role):
        """The lines that the program marks for this mistake: `(lost 1, 3)`."""
        mark = re.compile(rf"\({role} ([\d, ]+)\)")
        return {number for number, line in enumerate(self.source.read_text().splitlines(), 1)
                for found in mark.findall(line) if str(self.number) in found.replace(" ", "").split(",")}


def rows_of(table):
    known = re.findall(r'BLACKOUT_FINDING\(\w+, "([\w-]+)"', (PROJECT / "src/findings/finding_kinds.def").read_text())
    reasons = {}
    for line in (HERE / "open.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(" ", 1)
            reasons[name] = reason
    rows = []
    for program, what in table["programs"].items():
        stem = program.split(".")[0]
        rows += [Row(program, number, what, what["mistakes"].get(str(number)), reasons.pop(f"{stem}.{number}", None))
                 for number in range(len(what["mistakes"]) + 1)]
    for row in rows:
        unknown = [kind for kind in (row.mistake["kind"] if row.mistake else []) if kind not in known]
        if unknown:
            sys.exit(f"mistakes.json: {row.name}: there is no kind {unknown[0]}")
        roles = {role for group in row.mistake["lines"] for role in group} if row.mistake else set()
        roles |= set(row.mistake.get("shows", [])) if row.mistake else set()
        unmarked = [role for role in sorted(roles) if not row.lines(role)]
        if unmarked:
            sys.exit(f"{row.source.name}: no line is marked ({unmarked[0]} {row.number})")
    if reasons:
        sys.exit(f"open.txt: there is no row {', '.join(reasons)}")
    return rows


def check(row, options):
    """Exit code, report and text of `blackout check`; or a sentence that says why there is none."""
    program = options.builder.program(row.source, row.number, row.libraries)
    folder = options.build / row.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if row.prepare:
        subprocess.run([program, "pool", *row.prepare], cwd=folder, check=True)
    command = [options.blackout, "check", "--jobs", "1", "--pm", "pool", "--json", "report.json", "--report", "report.txt",
               "--findings", "findings", "--", program, "pool"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BLACKOUT")}
    checked = report_of(lambda: execute(command, options.timeout, cwd=folder, env=environment), folder / "report.json", options.timeout)
    return checked if isinstance(checked, str) else (*checked, (folder / "report.txt").read_text())


def describe(finding):
    at = [f"({number}) {os.path.basename(place['stack'][0]['file'])}:{place['stack'][0]['line']}"
          for number, place in enumerate(finding["places"], 1) if place["stack"]]
    return f"{finding['severity']} {finding['kind']} at {', '.join(at) or 'no place'}: {finding['verdict']}"


def leads_to(row, stack, lines):
    """Whether the frame that a place leads with is one of these lines of the program."""
    return bool(stack) and os.path.realpath(stack[0]["file"]) == str(row.source) and stack[0]["line"] in lines


def is_at(row, finding, group):
    lines = set().union(*(row.lines(role) for role in group))
    places = [place["stack"] for place in finding["places"]]
    if row.mistake.get("where") == "any":
        return any(leads_to(row, stack, lines) for stack in places)
    # Stores that are said to belong together may be named in either order.
    exchanged = finding["kind"] == "not-atomic" and len(places) > 1 and leads_to(row, places[0], row.lines("relies"))
    return bool(places) and leads_to(row, places[1 if exchanged else 0], lines)


def told(report):
    """The findings that explain what restarts did wrong (suspected ones, if none was shown), and those that only stand beside them."""
    findings = [finding for finding in report["findings"] if finding["severity"] != "performance"]
    shown = [finding for finding in findings if finding["severity"] == "shown"]
    causes = shown or [finding for finding in findings if finding["claim"]["is"] == "crash-cause"]
    return causes, [finding for finding in findings if finding not in causes]


def assigned(row, shown):
    """Each expected finding's own among the first that were shown, by their lines; None: there is none."""
    left = list(shown[:len(row.mistake["lines"])])
    found = []
    for group in row.mistake["lines"]:
        at = next((finding for finding in left if is_at(row, finding, group)), None)
        if at:
            left.remove(at)
        found.append(at)
    return found


def numbers(lines):
    return " or ".join(map(str, sorted(lines)))


def judge_right(row, code, report, text):
    wrong = {}
    false = [finding for finding in report["findings"] if finding["severity"] != "performance" or not row.libraries]
    if false:
        wrong["findings"] = "false: " + "; ".join(map(describe, false))
    elif code != 0:
        wrong["findings"] = f"exit code {code}: " + "; ".join(report["incomplete"])
    return Result(row, wrong, {"findings"}, len(false), 0, text)


def judge_mistake(row, code, report, text):
    expected = row.mistake["lines"]
    shown, suspected = told(report)
    first = shown[:len(expected)]
    wrong, aspects = {}, {"kind", "line", "findings"}
    if not first or any(finding["kind"] not in row.mistake["kind"] for finding in first):
        wrong["kind"] = f"{' and '.join(finding['kind'] for finding in first) or 'nothing shown'} instead of {' or '.join(row.mistake['kind'])}"
    found = assigned(row, shown)
    for group, finding in zip(expected, found):
        if not finding:
            wrong["line"] = f"(1) is not {numbers(set().union(*map(row.lines, group)))}"
    for role in row.mistake.get("shows", []):
        lines = {int(line) for line in re.findall(rf"\b{re.escape(row.source.name)}:(\d+)", text)}
        if not lines & row.lines(role):
            wrong["line"] = f"the text shows none of lines {numbers(row.lines(role))}"
    relying = row.lines("relies")
    if relying:
        aspects.add("relies")
        if not all(any(leads_to(row, place["stack"], relying) for place in finding["places"]) for finding in first) or not first:
            wrong["relies"] = f"no place is {numbers(relying)}"
    extra = max(0, len(shown) - len(expected))
    if len(shown) != len(expected):
        wrong["findings"] = f"{len(shown)} instead of {len(expected)}"
    elif any(finding["severity"] != "shown" for finding in first):
        wrong["findings"] = "suspected, not shown"
    elif code != 1:
        wrong["findings"] = f"exit code {code}"
    if wrong:
        wrong["said"] = "; ".join(map(describe, shown or suspected)) or "no findings"
    return Result(row, wrong, aspects, extra, len(suspected), text)


def run_row(row, options):
    try:
        checked = check(row, options)
    except subprocess.CalledProcessError as error:
        checked = f"can't be built or prepared ({error.returncode})"
    if isinstance(checked, str):
        aspects = {"kind", "line", "findings"} if row.mistake else {"findings"}
        return Result(row, dict.fromkeys(sorted(aspects), checked), aspects, 0, 0, "")
    return (judge_mistake if row.mistake else judge_right)(row, *checked)


def print_row(result):
    row = result.row
    cells = ["".ljust(len(aspect)) if aspect not in result.aspects else ("WRONG" if aspect in result.wrong else "right").ljust(len(aspect))
             for aspect in ASPECTS]
    state = ("open" if row.open else "FAILS") if result.wrong else "is right now; its line of open.txt must go" if row.open else ""
    kind = row.mistake["kind"][0] if row.mistake else "right version"
    print(f"{row.name:<14}{kind:<16}" + "  ".join(cells) + f"  {state}", flush=True)
    for aspect, sentence in result.wrong.items():
        print(f"    {aspect}: {sentence}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only these rows")
    parser.add_argument("--goal", action="store_true", help="the exit code is that of the goal, whatever open.txt says")
    parser.add_argument("--text", action="store_true", help="print the report of each row, too")
    add_options(parser, "rows", "causes", 300)
    options = take_options(parser)
    if options.goal and options.only:
        parser.error("the goal is one of all rows")
    options.build.mkdir(parents=True, exist_ok=True)
    options.builder = Builder("compiled", options.blackout.parent, options.build)

    table = json.loads((HERE / "mistakes.json").read_text())
    rows = [row for row in rows_of(table) if not options.only or any(fnmatch.fnmatch(row.name, only) for only in options.only)]
    if not rows:
        parser.error("there is no such row")
    results = []
    print(f"{'row':<14}{'mistake':<16}" + "  ".join(aspect.ljust(5) for aspect in ASPECTS))
    for result in in_parallel(lambda row: run_row(row, options), rows, options.jobs):
        results.append(result)
        print_row(result)
        if options.text:
            print(result.text)

    mistakes = [result for result in results if result.row.mistake]
    right = {aspect: sum(aspect in result.aspects and aspect not in result.wrong for result in mistakes) for aspect in ASPECTS}
    relying = sum("relies" in result.aspects for result in mistakes)
    extra = sum(result.extra for result in results)
    versions = [result for result in results if not result.row.mistake]
    print(f"kind right {right['kind']} of {len(mistakes)}, line right {right['line']} of {len(mistakes)}, extra findings {extra}; "
          f"relying line right {right['relies']} of {relying}; as many findings as mistakes in {right['findings']} of {len(mistakes)}; "
          f"suspected beside them {sum(result.suspected for result in mistakes)}; "
          f"right versions clean {sum(not result.wrong for result in versions)} of {len(versions)}")
    if options.goal:
        goal = table["goal"]
        return 1 if right["kind"] < goal["kind"] or right["line"] < goal["line"] or extra > goal["extra"] else 0
    return 1 if any(bool(result.wrong) != bool(result.row.open) for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

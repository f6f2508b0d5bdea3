#!/usr/bin/env python3
"""Nothing unseen is ever called clean: runs the table of table.py and compares each verdict with what it should be.

    tests/honest/run.py [--only PATTERN]... [--quick] [--list] [--verbose] [--jobs N] [--blackout PATH] [--build FOLDER]

A row is one `blackout check`: a way of writing, reading or ending, in one build of the program, with the bug or in its right version.
Its name is GROUP.WAY.BUILD.VERSION; PATTERN is such a name with * and ?, or a part of one.

  bug     exit code 1, and every shown finding has the row's function among its places
  right   exit code 0 and no finding at all
  unseen  exit code 3, with a sentence that names what was not seen

Rows with an `open` mark are known to be wrong: they are counted apart, and one that is right fails, so that its mark goes.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from programs import Programs
from table import rows

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent

Result = collections.namedtuple("Result", "row verdict wrong command output")
# Kinds of wrong verdicts, the worst first.
CLEAN, FALSE, MISSED, PLACE, OTHER = "clean on the unseen", "false alarm", "inconclusive", "wrong place", "other"


def make_folder(options, row):
    folder = options.build / "rows" / row.name.replace("/", "_")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if row.pool_exists:
        with open(folder / "pool", "wb") as pool:
            pool.truncate(1 << 16)
        os.symlink("pool", folder / "linked")
        os.link(folder / "pool", folder / "hard-linked")
    for name, text in row.files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def command_of(row, options, folder):
    names = {"ways": options.programs.path(row.build), "heap": options.programs.path(row.build).with_name("heap"), "pointers": options.programs.path(row.build).with_name("pointers"), "folder": folder, "programs": options.programs.folder}
    words = [str(options.blackout), "check", "--jobs", "1", *(["--pm", "pool"] if row.pool_exists else []), "--json", "report.json", "--findings", "findings", *row.options]
    for option, command in (("--recover", row.recover), ("--checker", row.checker)):
        if command is not None:
            words += [option, command]
    return [word.format(**names) for word in [*words, "--", *shlex.split(row.program)]]


def start(command, **how):
    for attempt in range(60):
        try:
            return subprocess.Popen(command, **how)
        except BlockingIOError:  # a machine that has no process to spare for a moment
            time.sleep(1)
    return subprocess.Popen(command, **how)


def execute(command, folder, row):
    """Exit code (None: not done in time) and output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BLACKOUT")}
    with open(folder / "output", "w+", errors="replace") as output:
        process = start(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                        env={**environment, **row.environment})
        try:
            code = process.wait(row.timeout)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return code, output.read(200000)


def functions_of(finding):
    return {frame["function"] for place in finding["places"] for stack in [place["stack"], *place["also_from"]] for frame in stack}


def is_at(finding, place):
    return any(re.search(rf"\b{place}\b", function) for function in functions_of(finding))


def describe(finding):
    at = [f"{frame['function']} ({os.path.basename(frame['file'] or frame['module'])}:{frame['line']})"
          for place in finding["places"] for frame in place["stack"][:1]]
    return f"{finding['severity']} {finding['kind']} at {', '.join(at) or 'no place'}: {finding['verdict']}"


def judge(row, code, output, report):
    """(kind, sentence) of what is wrong with the verdict, or None."""
    if code is None:
        return OTHER, f"not done after {row.timeout} seconds"
    last = (output.strip().splitlines() or ["no output"])[-1]
    if code == row.code == 2 and re.search(row.says, output):
        return None
    if code not in (0, 1, 3) or report is None:
        return OTHER, f"exit code {code}: {last}"
    findings = report["findings"]
    listed = "; ".join(describe(finding) for finding in findings if finding["severity"] != "performance" or row.code == 0)
    why = "; ".join(report["incomplete"])
    if code != row.code:
        kind = CLEAN if code == 0 else FALSE if code == 1 and row.code == 0 else MISSED if code == 3 else OTHER
        return kind, f"exit code {code} instead of {row.code}: {why or listed or last}"
    if row.code == 0 and any(finding["severity"] != "performance" or not row.flushes_more for finding in findings):
        return FALSE, f"exit code 0 with findings: {listed}"
    if row.code == 1 and row.place:
        shown = [finding for finding in findings if finding["severity"] == row.severity and row.kind in (None, finding["kind"])]
        if not shown:
            return CLEAN, f"no {row.severity} finding{' of ' + row.kind if row.kind else ''}: {listed}"
        elsewhere = [finding for finding in shown if not is_at(finding, row.place)]
        if elsewhere:
            return PLACE, f"not in {row.place}: " + "; ".join(map(describe, elsewhere))
    if row.says and not re.search(row.says, output):
        return OTHER, f"nothing says '{row.says}': {why or listed or last}"
    return None


def run_row(row, options):
    folder = make_folder(options, row)
    command = command_of(row, options, folder)
    code, output = execute(command, folder, row)
    try:
        report = json.loads((folder / "report.json").read_text())
    except (OSError, ValueError):
        report = None
    wrong = judge(row, code, output, report)
    if wrong is None and not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(row, code, wrong, command, output)


def selected(row, patterns):
    return not patterns or any(fnmatch.fnmatch(row.name, pattern) or pattern in row.name for pattern in patterns)


def is_now_right(result):
    """A mark that must go. What is wrong only sometimes (a verdict that depends on the machine's load) may be right."""
    return bool(result.row.open and not result.wrong and not result.row.open.startswith("sometimes"))


def print_table(results):
    kinds = [CLEAN, FALSE, MISSED, PLACE, OTHER]
    table = collections.defaultdict(collections.Counter)
    for result in results:
        counts = table[result.row.group]
        counts["rows"] += 1
        if result.wrong and result.row.open:
            counts["open"] += 1
            counts["open, clean"] += result.wrong[0] == CLEAN
        elif result.wrong:
            counts["wrong"] += 1
            counts[result.wrong[0]] += 1
        counts["now right"] += is_now_right(result)
    columns = ["rows", "wrong", *kinds, "now right", "open", "open, clean"]
    print("\n" + "group".ljust(10) + "".join(column.rjust(len(column) + 2) for column in columns))
    total = collections.Counter()
    for group in table:
        total.update(table[group])
    for group, counts in [*table.items(), ("all", total)]:
        print(group.ljust(10) + "".join(str(counts[column]).rjust(len(column) + 2) for column in columns))
    return total


AVX512_WAYS = {"avx512", "scatter", "compress_store"}


def has_avx512():
    flags = next((line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return "avx512f" in flags.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only these rows")
    parser.add_argument("--quick", action="store_true", help="only the rows of the quick selection")
    parser.add_argument("--list", action="store_true", help="print the rows' names and what is expected, and run nothing")
    parser.add_argument("--verbose", action="store_true", help="print command and output of wrong rows")
    parser.add_argument("--open", action="store_true", help="print open rows that are wrong, too")
    parser.add_argument("--keep", action="store_true", help="keep the folders of right rows, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="rows at a time")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, help="folder for programs and rows (honest/ beside bin/)")
    options = parser.parse_args()
    options.blackout = options.blackout.absolute()
    options.build = (options.build or options.blackout.parent.parent / "honest").absolute()

    chosen = [row for row in rows() if selected(row, options.only) and (row.quick or not options.quick)]
    if not has_avx512():
        left_out = [row for row in chosen if row.name.split(".")[1] in AVX512_WAYS]
        chosen = [row for row in chosen if row not in left_out]
        if left_out:
            print(f"{len(left_out)} rows left out: this processor has no AVX-512", flush=True)
    if not chosen:
        parser.error("there is no such row")
    if options.list:
        for row in chosen:
            print(f"{row.name:<50} {row.code}" + (f"  open: {row.open}" if row.open else ""))
        print(f"{len(chosen)} rows")
        return 0
    options.programs = Programs(options.blackout.parent, options.build / "programs", options.jobs)
    options.programs.build(sorted({build for row in chosen for build in row.needs}))

    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda row: run_row(row, options), chosen):
            results.append(result)
            row = result.row
            if result.wrong and (not row.open or options.open):
                print(f"{row.name}: {result.wrong[0]}: {result.wrong[1]}" + (f" (open: {row.open})" if row.open else ""), flush=True)
                if options.verbose:
                    print(f"  cd {options.build / 'rows' / row.name}; {shlex.join(result.command)}")
                    print("".join(f"  | {line}\n" for line in result.output.splitlines()))
            elif is_now_right(result):
                print(f"{row.name}: is right now; its mark must go: {row.open}", flush=True)
    total = print_table(results)
    clean = total[CLEAN] + total["open, clean"]
    print(f"{total['rows']} rows, {total['wrong'] + total['open']} wrong verdicts, {clean} clean on the unseen" +
          (f"; {total['open']} of them are known and open" if total["open"] else ""))
    return 1 if total["wrong"] or total["now right"] else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The file system of the corpus (corpus/fs/pmfs.hpp) judged by `blackout fs`: the correct version with workloads of one operation, and
of two; each seeded bug with the workload that corpus/fs/bugs.json names, and what a restart must say.

    corpus/fs.py [--bug N] [--quick] [--workloads N] [--part I/N | --part today] [--table] [--jobs N] [--blackout PATH] [--build FOLDER]

The correct version must be clean and complete. A bug must be shown, with the words of its row in the output of a restart; one that
no workload can show has a row with the reason (`missed`), and nothing may be shown of it. Any difference is printed and makes the exit
code 1. --quick takes a sample of the workloads and two bugs; --workloads N takes N workloads of two operations as well; --part only that part of them all, and no bugs: "today" is
another one of 32 each day, so that a month sees all of them.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import threading
import time

import checks
from builds import CORPUS, PROJECT

QUICK = ["4", "7"]
PARTS = 32


def build(options, bug):
    """Two rows may want one program at once: each makes its own, and the name goes from one to the other whole."""
    program = options.build / f"pmfs-{bug}"
    made = options.build / f"pmfs-{bug}.{os.getpid()}-{threading.get_ident()}"
    subprocess.run([options.blackout.parent / "blackout-clang++", "-std=c++20", "-g", "-O1", "-mclwb", f"-DBUG={bug}", "-I", CORPUS, "-I",
                    PROJECT / "include", CORPUS / "fs/pmfs.cpp", "-o", made], check=True)
    os.replace(made, program)
    return program


def check(options, program, name, words):
    """Exit code and report, or a sentence."""
    folder = options.build / f"fs-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    command = [options.blackout, "fs", "--json", report, "--findings", folder / "findings", *words, "--pm", folder / "image", "--", program,
               folder / "image"]
    return checks.report_of(lambda: checks.execute(command, options.timeout, cwd=folder), report, options.timeout)


def correct(options, row):
    name, words = row
    result = check(options, build(options, 0), name, words)
    if isinstance(result, str):
        return [result]
    code, report = result
    differences = [f"false finding: {f['kind']}: {f['verdict']}" for f in report["findings"] if f["severity"] != "performance"]
    if code != 0 and not differences:
        differences.append(f"exit code {code}: " + "; ".join(report["incomplete"]))
    return differences


def seeded(options, row):
    bug, expected = row
    program = build(options, bug)
    workload = options.build / f"fs-bug-{bug}.txt"
    workload.write_text("\n".join(expected["workload"]) + "\n")
    result = check(options, program, f"bug-{bug}", ["--workload", workload])
    if isinstance(result, str):
        return [result]
    code, report = result
    shown = [f for f in report["findings"] if f["severity"] == "shown"]
    if "missed" in expected:
        return [f"is not expected to be found: {f['kind']}" for f in shown]
    said = ["\n".join(f["shown_by"]["output"]) for f in shown]
    if not any(re.search(expected["says"], text) for text in said):
        return [f"missed: {expected['says']}; shown instead: {said}"]
    return [] if code == 1 else [f"exit code {code}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bug", help="only this variant; 0: the correct version")
    parser.add_argument("--quick", action="store_true", help="a sample of the workloads, and two bugs")
    parser.add_argument("--workloads", type=int, default=0, help="so many of two operations, too")
    parser.add_argument("--part", help="of the workloads of two operations: I/N, or today")
    parser.add_argument("--table", action="store_true", help="print a line for each variant")
    checks.add_options(parser, "variants", "corpus", 1800)
    options = checks.take_options(parser)
    options.build.mkdir(parents=True, exist_ok=True)
    bugs = json.loads((CORPUS / "fs/bugs.json").read_text())
    rows = [("seq-1", ["--workload", "seq-1"] + (["--sample", "8"] if options.quick else []))]
    if options.part:
        part = options.part if options.part != "today" else f"{datetime.date.today().toordinal() % PARTS + 1}/{PARTS}"
        rows = [(f"seq-2-{part.replace('/', '-of-')}", ["--workload", "seq-2", "--shard", part])]
        options.bug = "0"
    if options.workloads:
        rows.append(("seq-2", ["--workload", "seq-2", "--sample", str(options.workloads)]))
    variants = [(f"correct, {row[0]}", correct, row) for row in rows if options.bug in (None, "0")]
    variants += [(f"bug {bug}", seeded, (bug, row)) for bug, row in bugs.items()
                 if options.bug in (None, bug) and (not options.quick or bug in QUICK)]

    def timed(variant):
        began = time.monotonic()
        return variant[1](options, variant[2]), time.monotonic() - began

    wrong = 0
    for (title, _, _), (differences, seconds) in zip(variants, checks.in_parallel(timed, variants, options.jobs)):
        if options.table or differences:
            print(f"{title}: {'as expected' if not differences else '; '.join(differences)} ({seconds:.1f} s)", flush=True)
        wrong += bool(differences)
    print(f"{len(variants) - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

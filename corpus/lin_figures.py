#!/usr/bin/env python3
"""Figures of `blackout lin` on the correct structures of the corpus, as Durinn has them: a table of stores, likely linearization
points, tests and time (its Table 3); what each rule leaves of the stores, and what is marked by hand (its Figure 11); and with
--curve how the number of restarts grows with the operations, beside the states of eager enumeration (its Figure 12).

    corpus/lin_figures.py [NAME...] [--operations N] [--tests] [--curve N,N,...] [--timeout S] [--blackout PATH] [--build FOLDER]

--tests makes only the two tests around each point, as Durinn does, and not the exploration of all states after them. Seconds are
those of the clock, and of the processor for the tool itself (restarts are not counted: who starts them does not wait). What is not done after the time that --timeout gives
has a row that says so. The bugs found with each set of points: lin_compare.py --sets.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import lin
from builds import CORPUS, PROJECT


def measured(variant, operations, options):
    program = lin.HarnessBuilder(variant, options.blackout.parent, options.build).harness()
    pool, report = options.build / f"figures-{variant.name}.pool", options.build / f"figures-{variant.name}.json"
    for path in (pool, report):
        path.unlink(missing_ok=True)
    words = lin.words_of(variant)
    if "--ops" not in words:
        words = ["--operations", str(operations)]
    if options.tests:
        words += ["--strategy", "tests"]
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        ran = subprocess.run([options.blackout, "lin", "--pm", pool, "--json", report, *words, "--", program, pool],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                             timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None, options.timeout, 0
    seconds, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    if not report.exists():
        sys.exit(f"{variant.name}: ended with {ran.returncode}: {ran.stderr[-400:]}")
    return json.loads(report.read_text()), seconds, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--operations", type=int, default=100)
    parser.add_argument("--tests", action="store_true", help="only the two tests around each point")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one of them")
    parser.add_argument("--curve", help="numbers of operations")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout")
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/tests/corpus")
    options = parser.parse_args()
    options.blackout, options.build = options.blackout.absolute(), options.build.absolute()
    os.makedirs(options.build, exist_ok=True)
    table = json.loads((CORPUS / "lin/harnesses.json").read_text())
    if options.curve:
        print("| structure | operations | restarts | restarts of one exploration per point | states of eager enumeration |")
        print("| --- | --- | --- | --- | --- |")
    else:
        print("| structure | stores | to guardians or atomic | published | likely points | by hand | missed | tests ID | tests UD | "
              "restarts | seconds | of the processor, for the tool |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names or table:
        variant = next(lin.variants_of(name, table[name]))
        for operations in map(int, options.curve.split(",")) if options.curve else [options.operations]:
            report, seconds, processor = measured(variant, operations, options)
            if report is None:
                print(f"| {name} | {operations} operations: not done after {seconds:.0f} seconds |", flush=True)
                continue
            e, run = report["exploration"], report["run"]
            if options.curve:
                states = run.get("log10_states")
                eager = "unknown" if states is None else f"10^{states:.1f}" if states > 6 else f"{10 ** states:.0f}"
                print(f"| {name} | {operations} | {e['runs']} | {e['states']} | {eager} |", flush=True)
                continue
            p = e["likely_points"]
            print(f"| {name} | {p['stores']} | {p['by_guardians']} | {p['by_publication']} | {p['inferred']} | "
                  f"{p['marked'] or ''} | {p['missed'] if p['marked'] else ''} | {p['incompletely_durable_tests']} | "
                  f"{p['unrecovered_durable_tests']} | {e['runs']} | {seconds:.1f} | {processor:.1f} |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Figures of `blackout lin` on the correct structures of the corpus, as Durinn has them: a table of stores, likely linearization
points, tests and time (its Table 3); what each rule leaves of the stores, and what is marked by hand (its Figure 11); and with
--curve how the number of restarts grows with the operations, beside the states of eager enumeration (its Figure 12).

    corpus/lin_figures.py [NAME...] [--operations N] [--tests] [--curve N,N,...] [--timeout S] [--blackout PATH] [--build FOLDER]

--tests makes only the two tests around each point, as Durinn does, and not the exploration of all states after them. Seconds are
those of the processor, for the tool and all restarts, where a control group can be made for them (as root, with cgroup2 mounted),
and those of the clock. Of structures whose operations are a file its lines are made again and again. What is not done after the
time that --timeout gives has a row that says so. The bugs found with each set of points: lin_compare.py --sets.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

import lin
from builds import CORPUS, PROJECT


class Accounted:
    """A control group for one command: what it and everything that it starts use of the processor, also processes that nobody
    waits for."""

    def __init__(self):
        mounts = (line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines())
        self.group = next((pathlib.Path(words[1]) / f"lin-figures-{os.getpid()}" for words in mounts if words[2] == "cgroup2"), None)
        try:
            self.group.mkdir()
        except (AttributeError, OSError):
            self.group = None

    def enter(self):
        if self.group:
            (self.group / "cgroup.procs").write_text("0")

    def seconds(self):
        """None: not known."""
        if not self.group:
            return None
        return int((self.group / "cpu.stat").read_text().split()[1]) / 1e6

    def close(self):
        if self.group:
            with contextlib.suppress(OSError):
                self.group.rmdir()


def measured(variant, operations, options):
    program = lin.HarnessBuilder(variant, options.blackout.parent, options.build, large=True).harness()
    pool, report = options.build / f"figures-{variant.name}.pool", options.build / f"figures-{variant.name}.json"
    for path in (pool, report):
        path.unlink(missing_ok=True)
    words = lin.words_of(variant)
    if "--ops" in words:
        lines = [line for line in pathlib.Path(words[words.index("--ops") + 1]).read_text().splitlines() if line and line[0] != "#"]
        file = options.build / f"figures-{variant.name}.ops"
        file.write_text("".join(lines[i % len(lines)] + "\n" for i in range(operations)))
        words = ["--ops", file]
    else:
        words = ["--operations", str(operations)]
    words += ["--strategy", "tests"] if options.tests else []
    command = [options.blackout, "lin", "--jobs", str(options.jobs), "--pm", pool, "--json", report, *words,
               "--findings", options.build / f"figures-{variant.name}.findings", "--", program, pool]
    account = Accounted()
    began = time.monotonic()
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             check=False, timeout=options.timeout, preexec_fn=account.enter)
    except subprocess.TimeoutExpired:
        return None, options.timeout, None
    finally:
        seconds, processor = time.monotonic() - began, account.seconds()
        account.close()
        pool.unlink(missing_ok=True)
    if not report.exists():
        return {"ended": f"ended with {ran.returncode}: {(ran.stderr.strip().splitlines() or ['no output'])[-1]}"}, seconds, processor
    return json.loads(report.read_text()), seconds, processor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--operations", type=int, default=100)
    parser.add_argument("--tests", action="store_true", help="only the two tests around each point")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one of them")
    parser.add_argument("--curve", help="numbers of operations")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="restarts at a time")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout")
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/tests/corpus")
    options = parser.parse_args()
    options.blackout, options.build = options.blackout.absolute(), options.build.absolute()
    os.makedirs(options.build, exist_ok=True)
    table = json.loads((CORPUS / "lin/harnesses.json").read_text())
    if options.curve:
        print("| structure | operations | tests | restarts | restarts of one exploration per point | states of eager enumeration |")
        print("| --- | --- | --- | --- | --- | --- |")
    else:
        print("| structure | stores | to guardians or atomic | published | likely points | by hand | missed | tests ID | tests UD | "
              "restarts | seconds of the processor | of the clock |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names or table:
        variant = next(lin.variants_of(name, table[name]))
        for operations in map(int, options.curve.split(",")) if options.curve else [options.operations]:
            report, seconds, processor = measured(variant, operations, options)
            if report is None:
                print(f"| {name} | {operations} operations: not done after {seconds:.0f} seconds |", flush=True)
                continue
            if "ended" in report:
                print(f"| {name} | {operations} operations: {report['ended']} |", flush=True)
                continue
            e, run = report["exploration"], report["run"]
            if not report["complete"]:
                print(f"| {name} | {operations} operations: {'; '.join(report['incomplete'])} |", flush=True)
                continue
            p = e["likely_points"]
            tests = p["incompletely_durable_tests"] + p["unrecovered_durable_tests"]
            if options.curve:
                states = run.get("log10_states")
                eager = "unknown" if states is None else f"10^{states:.1f}" if states > 6 else f"{10 ** states:.0f}"
                print(f"| {name} | {operations} | {tests} | {e['runs']} | {e['states']} | {eager} |", flush=True)
                continue
            used = "" if processor is None else f"{processor:.1f}"
            print(f"| {name} | {p['stores']} | {p['by_guardians']} | {p['by_publication']} | {p['inferred']} | "
                  f"{p['marked'] or ''} | {p['missed'] if p['marked'] else ''} | {p['incompletely_durable_tests']} | "
                  f"{p['unrecovered_durable_tests']} | {e['runs']} | {used} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()

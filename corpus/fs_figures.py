#!/usr/bin/env python3
"""What it takes to find the seeded bugs of the corpus's file system (corpus/fs/pmfs.hpp), by strategy, with and without the operations
that are only made because one like them was explored (Silhouette's Table 3 and Figure 8).

    corpus/fs_figures.py [--workload NAME] [--sample N] [--bugs 1,4] [--strategies lazy,two-plan] [--duplicates both|with|without]
                         [--jobs N] [--blackout PATH] [--build FOLDER]

A line for each bug, and one for each strategy: crash states, restarts and processor time on the correct version, how many of the bugs are shown, and for each
bug how many restarts come before it is shown, that of the workload which shows it included. "plans" goes by corpus/fs/mechanisms.toml
(invariants and two plans per unprotected store); "invariants" checks the same rules and explores everything. The exit code is 1 if a
strategy finds another set of bugs with the operations that are only made than without them, or if the workloads of bugs.json don't
show them all when everything is explored.
"""

import argparse
import os
import pathlib
import json
import shutil
import sqlite3
import subprocess
import sys

import checks
from builds import CORPUS
from fs import build

MECHANISMS = ["--mechanisms", CORPUS / "fs/mechanisms.toml"]
STRATEGIES = {
    "lazy": ["--strategy", "lazy"],
    "sample:20": ["--strategy", "sample:20"],
    "two-plan": ["--strategy", "two-plan"],
    "invariants": [*MECHANISMS, "--strategy", "lazy"],
    "plans": [*MECHANISMS, "--strategy", "plans"],
}


def processor_time(command, folder):
    """Exit code, and the seconds that it and all its children took."""
    before = os.times()
    code = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    after = os.times()
    return code, after.children_user + after.children_system - before.children_user - before.children_system


def campaign(options, program, bug, strategy, duplicates):
    folder = options.build / f"figures-{bug}-{strategy.replace(':', '-')}-{'with' if duplicates else 'without'}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    workload = options.workload
    if options.workload_of_bugs and bug != "0":
        workload = folder / "workloads"
        workload.mkdir()
        for path in sorted(options.workload.iterdir()):
            if int(path.stem.removeprefix("bug-")) <= int(bug):
                shutil.copy(path, workload)
    words = ["--workload", workload] + (["--sample", str(options.sample)] if options.sample else [])
    command = [options.blackout, "fs", "--jobs", "1", *words, *STRATEGIES[strategy], *([] if duplicates else ["--all-operations"]), "--out",
               "kept", "--json", "report.json", "--pm", "image", "--", program, "image"]
    code, seconds = processor_time(command, folder)
    if code not in (0, 1, 3):
        sys.exit(f"bug {bug}, {strategy}: exit code {code}")
    report = json.loads((folder / "report.json").read_text())
    with sqlite3.connect(folder / "kept/results.db") as database:
        rows = database.execute("SELECT restarts, shown FROM workloads ORDER BY number").fetchall()
    restarts, first = 0, None
    for made, shown in rows:
        restarts += made
        if shown and first is None:
            first = restarts
    broken = any(f["kind"] == "mechanism" for f in report["findings"])
    return {"states": report["exploration"]["states"], "restarts": restarts, "first": first, "seconds": seconds, "broken": broken,
            "workloads": len(rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="seq-1", help="as blackout fs takes it; bugs: those of bugs.json, one after the other, of each bug up to its own")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--bugs", help="only these, as 1,4; 0: none, only the correct version")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--duplicates", choices=("both", "with", "without"), default="both")
    checks.add_options(parser, "variants", "corpus", 3600)
    options = checks.take_options(parser)
    options.build = pathlib.Path(options.build).absolute()
    options.build.mkdir(parents=True, exist_ok=True)
    known = json.loads((CORPUS / "fs/bugs.json").read_text())
    bugs = [b for b in options.bugs.split(",") if b in known] if options.bugs else list(known)
    options.workload_of_bugs = options.workload == "bugs"
    if options.workload_of_bugs:
        options.workload = options.build / "figures-workloads"
        options.workload.mkdir(exist_ok=True)
        for bug, row in known.items():
            (options.workload / f"bug-{int(bug):02}.txt").write_text("\n".join(row["workload"]) + "\n")
    different = False
    for strategy in options.strategies.split(","):
        sets = {}
        for duplicates in [d for d in (True, False) if options.duplicates in ("both", "with" if d else "without")]:
            how = f"{strategy}, {'known operations only made' if duplicates else 'every operation explored'}"
            print(how, flush=True)
            rows = {}
            for bug in ["0", *bugs]:
                row = rows[bug] = campaign(options, build(options, bug), bug, strategy, duplicates)
                if bug != "0":
                    shown = f"shown after {row['first']:,} restarts" if row["first"] is not None else "not shown"
                    print(f"  bug {bug}: {shown}; {row['workloads']} workloads, {row['restarts']:,} restarts, {row['seconds']:.1f} s in "
                          "all", flush=True)
            correct = rows["0"]
            sets[duplicates] = {bug for bug in bugs if rows[bug]["first"] is not None}
            of_rules = sum(rows[bug]["broken"] for bug in bugs)
            print(f"{how}: {correct['states']:,} states, "
                  f"{correct['restarts']:,} restarts, {correct['seconds']:.1f} s; {len(sets[duplicates])} of {len(bugs)} bugs shown"
                  f"{f', {of_rules} break a rule' if of_rules else ''}", flush=True)
        expected = {bug for bug in bugs if "missed" not in known[bug]}
        if options.workload_of_bugs and strategy == "lazy" and any(found != expected for found in sets.values()):
            print(f"{strategy}: the bugs that have a workload are {sorted(expected, key=int)}")
            different = True
        if len(sets) == 2 and sets[True] != sets[False]:
            print(f"{strategy}: operations that are only made hide bugs {sorted(sets[False] ^ sets[True], key=int)}")
            different = True
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()

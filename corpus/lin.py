#!/usr/bin/env python3
"""The maps of the corpus judged by 'blackout lin': which seeded bugs its operations and its judgement find.

    corpus/lin.py [--build FOLDER] [--operations N] [--seed N] [STRUCTURE ...] [--bug N]

Prints a line for each variant: found, missed, clean or false, and the time that it took. Exits with 1 if a correct version has a
finding or is not complete; what is missed is only said, because a bug may need operations that are not generated.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STRUCTURES = {
    "list": "List",
    "hash": "Hash",
    "extendible": "Extendible",
    "atomic_hash": "Hash",
    "tx_btree": "BTree",
    "tx_ctree": "CTree",
    "tx_hash": "Hash",
    "tx_rbtree": "RBTree",
}


def judge(options, name, bug, folder):
    program = os.path.join(folder, f"{name}{bug}")
    build = [os.path.join(options.build, "bin", "blackout-clang++"), "-g", "-O1", f"-DBUG={bug}",
             f'-DSOURCE="{name}/{name}.cpp"', f"-DSTRUCTURE={STRUCTURES[name]}", "-I", HERE, "-I",
             os.path.join(HERE, "..", "include"), os.path.join(HERE, "lin", "harness.cpp"), "-o", program]
    subprocess.run(build, check=True)
    report = os.path.join(folder, "report.json")
    began = time.monotonic()
    ended = subprocess.run(
        [os.path.join(options.build, "bin", "blackout"), "lin", "--pm", "pool", "--operations", str(options.operations), "--seed",
         str(options.seed), "--json", report, "--findings", os.path.join(folder, "findings"), "--", program, "pool"],
        cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if ended.returncode not in (0, 1, 3):
        sys.exit(f"{name} {bug}: exit code {ended.returncode}\n{ended.stderr}")
    with open(report, encoding="utf-8") as file:
        findings = [f for f in json.load(file)["findings"] if f["severity"] == "shown"]
    orders = sum(any(e["is"] == "no-order" for e in f["facts"]["evidence"]) if "facts" in f else "No order" in json.dumps(f)
                 for f in findings)
    return ended.returncode, len(findings), orders, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("structures", nargs="*", default=list(STRUCTURES))
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--operations", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bug", type=int)
    options = parser.parse_args()
    wrong = 0
    print(f"{'structure':12} {'bug':>4} {'class':6} {'said':8} {'findings':>8} {'no order':>8} {'seconds':>8}")
    for name in options.structures:
        with open(os.path.join(HERE, name, "expected.json"), encoding="utf-8") as file:
            bugs = json.load(file)["bugs"]
        classes = {0: ""} | {int(n): b.get("class", "") for n, b in bugs.items()}
        for bug, kind in sorted(classes.items()):
            if kind == "PERF" or (options.bug is not None and bug != options.bug):
                continue
            with tempfile.TemporaryDirectory() as folder:
                code, findings, orders, seconds = judge(options, name, bug, folder)
            if bug == 0:
                said = {0: "clean", 1: "FALSE", 3: "OPEN"}[code]
                wrong += code != 0
            else:
                said = "found" if findings else "missed"
            print(f"{name:12} {bug:4} {kind:6} {said:8} {findings:8} {orders:8} {seconds:8.1f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

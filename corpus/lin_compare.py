#!/usr/bin/env python3
"""The seeded bugs of the corpus by two judgements of the same restarts (Durinn, section 8.5): durable linearizability, and output
equivalence as Witcher has it (`blackout lin --judge order` and `--judge output`); and with --sets by the tests around each set of
likely linearization points alone (its Figure 11): `--strategy tests:SET`.

    corpus/lin_compare.py [NAME...] [--sets] [--rows] [--jobs N] [--timeout S] [--blackout PATH] [--build FOLDER]

A bug counts as found if a finding is shown that has one of its marked lines among its places; as shown elsewhere if only others
are; as suspected if nothing is shown and a suspected finding has such a line. A table of sums by structure; --rows has each bug.
Correct versions are run too: whatever is shown there is false.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import resource
import subprocess
import sys

import lin
import run as corpus
from builds import CORPUS, PROJECT

JUDGES = {"order": ["--judge", "order"], "output": ["--judge", "output"]}
SETS = {name: ["--strategy", f"tests:{name}"] for name in ("guardians", "published", "likely", "marked", "all")}
SETS["every state"] = []


def outcome(variant, words, options):
    """found, elsewhere, suspected or nothing; of a correct version false or clean; and the restarts that were made."""
    program = lin.HarnessBuilder(variant, options.blackout.parent, options.build).harness()
    name = f"compare-{variant.name}-{variant.bug}-{'-'.join(words).replace(':', '-').replace('--', '')}"
    pool, report = options.build / f"{name}.pool", options.build / f"{name}.json"
    for path in (pool, report):
        path.unlink(missing_ok=True)
    command = [options.blackout, "lin", "--jobs", "1", "--pm", pool, "--json", report, *lin.words_of(variant), *words,
               "--findings", options.build / f"{name}.findings", "--", program, pool]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             errors="replace", timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {options.timeout:.0f} s", 0
    finally:
        pool.unlink(missing_ok=True)
    if not report.exists():
        return f"ended with {ran.returncode}", 0
    result = json.loads(report.read_text())
    restarts = result.get("exploration", {}).get("runs", 0)
    shown = [f for f in result["findings"] if f["severity"] == "shown"]
    if variant.bug == 0:
        return ("false" if shown else "clean"), restarts
    lines = lin.marked_lines(variant)
    if any(corpus.is_at(f, lines) for f in shown):
        return "found", restarts
    if shown:
        return "elsewhere", restarts
    suspected = [f for f in result["findings"] if f["severity"] == "suspected" and corpus.is_at(f, lines)]
    return ("suspected" if suspected else "nothing"), restarts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--sets", action="store_true", help="sets of likely linearization points instead of judgements")
    parser.add_argument("--rows", action="store_true", help="a row for each bug")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="variants at a time")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one of them")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/corpus", help="folder for programs and reports")
    options = parser.parse_args()
    options.blackout, options.build = options.blackout.absolute(), options.build.absolute()
    options.build.mkdir(parents=True, exist_ok=True)
    table = json.loads((CORPUS / "lin/harnesses.json").read_text())
    unknown = [name for name in options.names if name not in table]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(table)}")
    ways = SETS if options.sets else JUDGES
    variants = [v for name in options.names or table for v in lin.variants_of(name, table[name], True)]

    def row(variant):
        # The program is built by the first of them.
        return [outcome(variant, words, options) for words in ways.values()]

    print("| structure | bugs | " + " | ".join(ways) + " |\n| --- | --- |" + " --- |" * len(ways), flush=True)
    sums = collections.defaultdict(lambda: [[] for _ in ways])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for variant, outcomes in zip(variants, pool.map(row, variants)):
            for into, one in zip(sums[variant.name], outcomes):
                into.append((variant.bug, *one))
            if options.rows:
                print(f"| {variant.name} {variant.bug} | {variant.expected.get('title', 'correct')} | "
                      + " | ".join(word for word, _ in outcomes) + " |", flush=True)
    total = [[] for _ in ways]
    for name, columns in sums.items():
        print_row(name, columns)
        for into, column in zip(total, columns):
            into += column
    print_row("all", total)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{seconds.ru_utime + seconds.ru_stime:.0f} seconds of processor time, without restarts")


def print_row(name, columns):
    cells = []
    for column in columns:
        words = collections.Counter(word for _, word, _ in column)
        text = str(words["found"])
        for word in sorted(words.keys() - {"found", "nothing", "clean"}):
            text += f", {words[word]} {word}"
        cells.append(f"{text} ({sum(restarts for *_, restarts in column)} restarts)")
    print(f"| {name} | {sum(bug != 0 for bug, *_ in columns[0])} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())

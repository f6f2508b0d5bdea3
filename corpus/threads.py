#!/usr/bin/env python3
"""The structures for several threads (corpus/threads): each mistake is found by directed tests, correct versions are clean.

    corpus/threads.py [NAME[:BUG]...] [--schedules N] [--random MOST] [--blackout PATH] [--build FOLDER]

A correct version is checked by `blackout lin` with three threads under N schedules (12 by default), a mistake with two
threads under one. With --random it is counted instead how many schedules by chance each mistake needs, without directed
tests: those of seeds 1, 2, ... up to MOST, as a table.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import time

CORPUS = pathlib.Path(__file__).resolve().parent
PROJECT = CORPUS.parent

# By program: of each BUG, which is numbered from 1, its kind. VND needs two threads; where the second operation is told nothing
# that relies on the first one's store, but goes with it (an enqueue behind a link that is lost), the report names the lost store
# alone: "VND, lost".
MISTAKES = {
    "hash": ["VND", "VND", "VND", "ID"],
    "list": ["VND", "VND"],
    "queue": ["VND, lost", "VND", "ID"],
    "extendible": ["VND", "VND", "ID", "VND"],
    "btree": ["VND", "VND", "VND", "ID"],
    "radix": ["VND", "VND", "VND", "UD"],
}
# Operations that a mistake needs where those of the usual seed don't come by it.
OPERATIONS = {"queue": ["--ops", CORPUS / "threads/queue.ops"], "extendible:3": ["--operations", "30"],
              "radix": ["--operations", "6"]}
Variant = collections.namedtuple("Variant", "name bug kind")


def variants_of(names):
    everything = [Variant(n, b, "" if b == 0 else MISTAKES[n][b - 1]) for n in MISTAKES for b in range(len(MISTAKES[n]) + 1)]
    if not names:
        return everything
    chosen = [v for v in everything if v.name in names or f"{v.name}:{v.bug}" in names]
    if not chosen:
        sys.exit(f"{' '.join(names)}: there are: {' '.join(MISTAKES)}, with :BUG behind one of them")
    return chosen


def built(variant, options):
    program = options.build / f"threads-{variant.name}-{variant.bug}"
    source = CORPUS / "threads" / f"{variant.name}.cpp"
    subprocess.run([options.blackout.parent / "blackout-clang++", "-std=c++20", "-g", "-O1", f"-DBUG={variant.bug}", "-I",
                    CORPUS, "-I", PROJECT / "include", source, "-o", program], check=True)
    return program


def run(options, words, program, arguments=()):
    pool = options.build / f"{program.name}.pool"
    pool.unlink(missing_ok=True)
    command = [options.blackout, *words, "--findings", options.build / f"{program.name}.findings", "--pm", pool, "--", program,
               pool, *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def operations_of(variant):
    usual = OPERATIONS.get(variant.name, ["--operations", "12"])
    return OPERATIONS.get(f"{variant.name}:{variant.bug}", usual)


def shown(ran):
    return ran.returncode == 1 and "\nshown: " in "\n" + ran.stderr + ran.stdout


def needed(variant, program, options):
    """The first seed whose schedule shows the mistake; 0: none up to the bound."""
    rates = [4, 16, 64, 256]
    for seed in range(1, options.random + 1):
        words = ["check", "--schedule", f"random,{seed},{rates[seed % 4]}"]
        if shown(run(options, words, program, [*operations_of(variant), "--threads", "2"])):
            return seed
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME[:BUG]")
    parser.add_argument("--schedules", type=int, default=12)
    parser.add_argument("--random", type=int, default=0, metavar="MOST")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout")
    parser.add_argument("--build", type=pathlib.Path, default=PROJECT / "build/corpus")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for variant in variants_of(options.names):
        if options.random and variant.bug == 0:
            continue
        program = built(variant, options)
        began = time.monotonic()
        if options.random:
            seed = needed(variant, program, options)
            print(f"| {variant.name}:{variant.bug} | {variant.kind} | {seed or f'more than {options.random}'} |", flush=True)
            continue
        if variant.bug == 0:
            words = ["lin", "--operations", "16", "--threads", "3", "--schedules", str(options.schedules)]
        else:
            words = ["lin", *operations_of(variant), "--threads", "2", "--schedules", "2"]
        ran = run(options, words, program)
        text = ran.stderr + ran.stdout
        right = ran.returncode == 0 if variant.bug == 0 else shown(ran)
        if variant.kind == "VND":
            right = right and "\nshown: visible but not durable" in "\n" + text
        print(f"{variant.name}:{variant.bug} {variant.kind or 'correct'}: {'as expected' if right else 'WRONG'}, "
              f"{time.monotonic() - began:.1f} s", flush=True)
        if not right:
            wrong += 1
            print(text)
    return 1 if wrong else 0


sys.exit(main())

"""Two builds of Blackout side by side: what recording, restarts and whole checks cost with one, as a ratio to the other.

Each builds the programs with its own compiler wrapper; repetitions are interleaved, and of each round the order of the two changes.
"""

import os
import resource
import statistics
import subprocess

OPERATIONS = 100
CHECKS = ["list", "hash", "btree", "radix"]


def processor_seconds(command):
    """Of all the command's processes: a figure that other work on the machine disturbs less than the clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"bench: exit code {done.returncode} from {' '.join(command)}:\n{done.stdout.decode()}{done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rounds(repetitions, ways):
    """ways: {name: function that gives one figure}; the first round doesn't count."""
    figures = {name: [] for name in ways}
    for repetition in range(repetitions + 1):
        for name in sorted(ways, reverse=repetition % 2 == 1):
            figure = ways[name]()
            if repetition > 0:
                figures[name].append(figure)
    return figures


def against(benches, table, include, corpus, here, flags):
    """benches: {"this": Bench, "other": Bench}."""
    table.head("This build against another one", "figure", "other", "this", "ratio of medians", "of the least")

    def row(title, unit, ways):
        figures = rounds(benches["this"].repetitions, ways)
        medians = {name: statistics.median(values) for name, values in figures.items()}
        table.row(title, f"{medians['other']:.4g} {unit}", f"{medians['this']:.4g} {unit}",
                  f"{medians['this'] / medians['other']:.2f}", f"{min(figures['this']) / min(figures['other']):.2f}")

    for name in ("btree", "hash"):
        for bench in benches.values():
            bench.build(name)
        row("recording, " + name, "ns", {who: lambda b=bench: b.record(name, "stores") for who, bench in benches.items()})

    for kind in ("trivial", "walk"):
        ways = {}
        for who, bench in benches.items():
            program = bench.path("recovery", "loads")
            bench.run([bench.cxx, *flags, "-I", include, os.path.join(here, "programs", "recovery.cpp"), "-o", program])
            if os.path.exists(bench.pool):
                os.remove(bench.pool)
            bench.run([program, bench.pool, kind])
            runs = ["taskset", "-c", "0", os.path.join(os.path.dirname(bench.blackout), "runs_bench"), program, bench.pool, kind, "500"]
            ways[who] = lambda b=bench, c=runs: b.time_of(c, "us_per_run")
        row("one restart, " + kind, "us", ways)

    for name in CHECKS:
        for operations in ("1", str(OPERATIONS)):
            ways = {}
            for who, bench in benches.items():
                program = os.path.join(bench.work, "corpus." + name)
                bench.run([bench.cxx, "-std=c++20", "-g", "-O1", "-DBUG=0", "-I", corpus, "-I", include,
                           os.path.join(corpus, name, name + ".cpp"), "-o", program])
                pool = program + ".pool"
                command = [bench.blackout, "check", "--jobs", "1", "--pm", pool, "--", program, pool, operations]

                def once(pool=pool, command=command):
                    if os.path.exists(pool):
                        os.remove(pool)
                    return 1000 * processor_seconds(command)

                ways[who] = once
            row(f"check, {name}, {operations} operations", "CPU ms", ways)

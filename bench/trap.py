"""What code costs that was not built with Blackout: figures of bench/run whose names begin with "trap".

Programs time their loops by their own processor time: a fault is handled by the thread that makes it, so nothing is left out,
and other programs on the machine don't count. Restarts are timed by the clock.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "..", "tests", "real")
NAMES = ["trap-access", "trap-elsewhere", "trap-restart", "trap-mapcli", "trap-parts"]
LIMITS = {"trapped access, us": 5.0, "trapped elsewhere": 1.1, "trapped restart": 2.0, "trapped mapcli, s": 120.0,
          "one instruction, us": 3.0, "one wide instruction, us": 7.0, "patching libpmemobj, ms": 100.0,
          "patching libstdc++, ms": 1000.0, "patched lock xadd, ns more": 6.0, "patched xchg, ns more": 12.0}
ACCESSES = {"store": "8-byte store", "vector": "16-byte vector store", "update": "add to memory", "locked": "lock xadd",
            "copy": "rep movsb of 64 bytes", "mix": "all of them in turn"}
ELSEWHERE = {"compute": "computing", "allocate": "malloc and free", "mutex-tree": "lock, update a tree, unlock",
             "mutex": "lock, update a table, unlock", "bare-mutex": "lock, unlock", "atomics": "std::atomic",
             "calls": "write() and read() of 64 bytes"}
# The table is rebuilt on the way.
OPERATIONS = [*(f"i {key}" for key in (3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26)), "r 15", "r 3", "r 26", "i 50",
              "i 28", "r 92", "i 84", "r 79"]


def build(bench, name):
    program = os.path.join(bench.work, name)
    bench.run(["g++", "-std=c++20", "-O2", "-g", "-mclwb", "-pthread", os.path.join(HERE, "programs", name + ".cpp"), "-o",
               program])
    return program


def recorded(bench, *command):
    """Time per operation of a program while it is recorded; the pool is its first argument."""
    bench.clean()
    return bench.time_of([bench.blackout, "record", "-o", bench.trace, "--pm", bench.pool, "--", command[0], bench.pool,
                          *command[1:]])


def native(bench, *command):
    bench.clean()
    return bench.time_of([command[0], bench.pool, *command[1:]])


def access(bench, table):
    """The slope between two numbers of accesses, so that a trace that grows slower than in proportion would show."""
    table.head("Accesses to persistent memory by plain code", "access", "native, ns", "recorded, us")
    program = build(bench, "trap_access")
    many = 200_000
    for way, what in ACCESSES.items():
        times = bench.medians({
            "native": lambda: native(bench, program, way, str(10 * many)),
            "half": lambda: recorded(bench, program, way, str(many // 2)),
            "whole": lambda: recorded(bench, program, way, str(many)),
        })
        slope = 2 * times["whole"] - times["half"]
        table.row(what, f"{times['native']:.1f}", table.limit("trapped access, us", slope / 1000))


def elsewhere(bench, table):
    table.head("Plain code that does not touch the pool that it has mapped", "code", "native, ns", "recorded, ns", "ratio")
    program = build(bench, "trap_elsewhere")
    for kind, what in ELSEWHERE.items():
        times = bench.medians({
            "native": lambda: native(bench, program, kind),
            "recorded": lambda: recorded(bench, program, kind),
        })
        ratio = times["recorded"] / times["native"]
        # No program does nothing but take a lock: that figure says what the others are made of.
        table.row(what, f"{times['native']:.1f}", f"{times['recorded']:.1f}",
                  f"{ratio:.2f}" if kind == "bare-mutex" else table.limit("trapped elsewhere", ratio))


def seconds(bench, command):
    begin = time.monotonic()
    bench.run(command)
    return time.monotonic() - begin


class Restarts:
    """Explorations of so many operations: how many restarts, and the seconds of the whole."""

    def __init__(self, bench, program, operations):
        self.bench, self.report = bench, os.path.join(bench.work, "report.json")
        self.command = [bench.blackout, "check", "--jobs", "1", "--json", self.report, "--pm", bench.pool, "--recover",
                        f"{program} {bench.pool}", "--", program, bench.pool, str(operations)]
        self.seconds, self.count = [], None

    def again(self):
        self.seconds.append(seconds(self.bench, self.command))
        with open(self.report) as file:
            whole = json.load(file)
        if not whole["complete"]:
            self.bench.stop("trap_restart was not explored completely")
        self.count = whole["exploration"]["runs"]


def restart(bench, table):
    """The slope between two numbers of restarts, each time the best of the repetitions. The rest is the recording, the first
    restart, which is traced, and the report."""
    table.head("Restarts of plain code that reads 50 MB of its pool; its uncertain lines lie on one page", "native, ms",
               "restart, ms", "ratio", "all but restarts, s")
    program = build(bench, "trap_restart")
    bench.clean()
    with open(bench.pool, "wb") as pool:
        pool.write(os.urandom(50 << 20))
        pool.seek(0)
        pool.write(bytes(4096))
    few, many, alone = Restarts(bench, program, 10), Restarts(bench, program, 110), []
    times = 100  # in a row, as restarts are
    for _ in range(bench.repetitions):
        few.again()
        many.again()
        alone.append(sum(seconds(bench, [program, bench.pool]) for _ in range(times)) / times)
    each, once = (min(many.seconds) - min(few.seconds)) / (many.count - few.count), min(alone)
    table.row(f"{once * 1000:.1f}", f"{each * 1000:.1f}", table.limit("trapped restart", each / once),
              f"{min(few.seconds) - few.count * each:.2f}")


def mapcli(bench, table):
    """PMDK's example program from the distribution's package, built with gcc on the distribution's libpmemobj."""
    table.head("mapcli, 20 operations on hashmap_atomic, pool created before, explored completely", "points", "restarts",
               "recording, s", "native restart, ms", "restart, ms", "the whole check, s")
    sys.path.insert(0, REAL)
    import programs
    import scenarios

    builder = programs.Builder(pathlib.Path(bench.work) / "real")
    words = [str(builder.build("mapcli")), "hashmap_atomic", bench.pool, "1"]
    keys = sorted({int(operation.split()[1]) for operation in OPERATIONS})
    commands, questions = os.path.join(bench.work, "commands"), os.path.join(bench.work, "questions")
    pathlib.Path(commands).write_text("".join(operation + "\n" for operation in OPERATIONS))
    pathlib.Path(questions).write_text("".join(f"c {key}\n" for key in keys) + "p\n")
    created = os.path.join(bench.work, "created")
    scenario = scenarios.Scenario("hashmap_atomic.insert")
    scenarios.make_pool(created, scenario)
    scenarios.run_natively(words[0], scenarios.Run(scenario.run.arguments), created, "mapcli")

    def timed(*command, given):
        shutil.copyfile(created, bench.pool)
        begin = time.monotonic()
        with open(given) as file:
            # 1: mapcli has a bug of its own, which is found.
            bench.run(command, stdin=file, env=scenarios.ENVIRONMENT, codes=(0, 1))
        return time.monotonic() - begin

    report = os.path.join(bench.work, "report.json")
    bench.clean()
    recording = timed(bench.blackout, "record", "-o", bench.trace, "--pm", bench.pool, "--", *words, given=commands)
    plain = statistics.median(timed(*words, given=questions) for _ in range(10))
    whole = timed(bench.blackout, "check", "--json", report, "--pm", bench.pool, "--recover-stdin", questions, "--", *words,
                    given=commands)
    with open(report) as file:
        explored = json.load(file)
    if not explored["complete"]:
        bench.stop("mapcli was not explored completely")
    runs = explored["exploration"]["runs"]
    each = (whole - recording) * min(os.cpu_count(), runs) / runs
    table.row(str(explored["exploration"]["points"]), str(runs), f"{recording:.2f}", f"{plain * 1000:.1f}",
              f"{each * 1000:.1f}", table.limit("trapped mapcli, s", whole))


def parts(bench, table):
    """What the unit tests of the runtime's parts print of their own time."""
    table.head("Parts of the runtime", "part", "time")
    tests = os.path.join(os.path.dirname(bench.blackout), "..", "tests", "bin")

    def said(program, test, pattern):
        path = os.path.join(tests, program)
        if not os.path.exists(path):
            bench.stop(f"{path} is missing: build the tests")
        found = re.findall(pattern, bench.run([path, f"--gtest_filter={test}"]), re.MULTILINE)
        if not found:
            bench.stop(f"{program} says nothing of its time")
        return found

    for name, time_of_one in said("trap_instruction_test", "Instructions.Figures", r"^(.*): (\d+) ns$"):
        wide = "ymm" in name or "zmm" in name
        table.row(name, table.limit("one wide instruction, us" if wide else "one instruction, us", int(time_of_one) / 1000))
    libraries = dict(said("trap_patches_libraries_test", "Libraries.ArePatched", r"^(lib\S+) .*? ([\d.]+) ms$"))
    for name in ("libpmemobj.so.1", "libstdc++.so.6"):
        if name in libraries:
            short = "patching " + name.split(".so")[0] + ", ms"
            table.row(short, table.limit(short, float(libraries[name])))
    [figures] = said("trap_patches_libraries_test", "Libraries.LockedInstructionsActOnlyWhenActive",
                     r"^lock xadd: ([\d.]+) ns, patched ([\d.]+), .*; xchg: ([\d.]+) ns, patched ([\d.]+)$")
    xadd, patched_xadd, xchg, patched_xchg = map(float, figures)
    for name, more in {"patched lock xadd, ns more": patched_xadd - xadd, "patched xchg, ns more": patched_xchg - xchg}.items():
        table.row(name, table.limit(name, more))


MEASURES = dict(zip(NAMES, (access, elsewhere, restart, mapcli, parts)))

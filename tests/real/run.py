#!/usr/bin/env python3
"""Checks PMDK's example programs, unmodified and mutated, and compares what Blackout says with what it should say.

    tests/real/run.py [NAME...] [--native] [--mutations] [--update] [--jobs N] [--blackout PATH] [--build FOLDER]

NAME is a scenario, or what its name begins with up to a dot (btree); with --mutations it is a mutation or a map. Everything is built
with plain gcc from the packages' sources (programs.py) and goes through `blackout check`: a scenario's pool is set up natively, its
run is recorded, and every crash state is restarted with questions about all that the pool should hold (scenarios.py).

expected.json says what must come out:

  native       what a scenario's run and its restart print without any crash
  scenarios    the findings, exactly, and whether the exploration is complete; docs/findings.md explains each
  mutations    a finding of the mutation's class, which the program as it is does not have, with a place in the function that was
               mutated; its kind and severity

--native runs no check: every program, mutated or not, must work by itself, and come by the place of its mutation.
Any difference is printed and makes the exit code 1.
"""

import argparse
import collections
import functools
import json
import os
import re
import shlex
import signal
import sys

sys.dont_write_bytecode = True

from mutate import mutate
from programs import Builder, HERE, PROGRAMS, examples_of
from scenarios import Failed, SCENARIOS, Scenario, execute, free_port, native_output, prepared_pool

sys.path.insert(0, str(HERE.parent.parent / "corpus"))

from checks import add_options, in_parallel, report_of, take_options  # noqa: E402: in corpus/

EXPECTED = HERE / "expected.json"

# What a mutation leaves unflushed may survive in many ways; those that a restart comes to first are enough to find it.
MUTATION_LIMIT = ["--max-runs", "400"]

# The synthetic bugs of the XFDetector paper, Table 5: there must be as many mutations at least.
TABLE_5 = {
    "btree": {"race": 8 + 4, "performance": 2},
    "ctree": {"race": 5 + 1, "performance": 1},
    "rbtree": {"race": 7 + 1, "performance": 1},
    "hashmap_tx": {"race": 6 + 3, "performance": 1},
    "hashmap_atomic": {"race": 10 + 3, "semantic": 4, "performance": 2},
}


class Mutation:
    def __init__(self, of_map, wanted, name, data, file):
        self.name, self.wanted, self.data, self.file = f"{of_map}.{name}", wanted, data, file
        self.scenario = Scenario(data["in"])

    def __str__(self):
        return self.name

    def build(self, builder, trap=False):
        source = examples_of(PROGRAMS[self.scenario.program]["package"]) / self.file
        return builder.build(self.scenario.program, {self.file: mutate(source.read_text(), self.data, trap)})


def all_mutations():
    for of_map, of in json.loads((HERE / "mutations.json").read_text()).items():
        for wanted in ("race", "semantic", "performance"):
            for name, data in of.get(wanted, {}).items():
                yield Mutation(of_map, wanted, name, data, of["file"])


def besides(said, pattern):
    """Without the lines that a mutated program prints besides."""
    return "".join(line for line in said.splitlines(True) if not (pattern and re.match(pattern, line)))


@functools.cache
def output_of(scenario_name, builder):
    scenario = Scenario(scenario_name)
    return native_output(scenario, builder, builder.build(scenario.program), builder.build(scenario.recover_program))


def traps(mutation, builder):
    try:
        native_output(mutation.scenario, builder, mutation.build(builder, trap=True))
        return False
    except Failed as failed:
        return failed.code == -signal.SIGILL


def native_differences(job, builder, expected):
    try:
        if isinstance(job, Scenario):
            said, wanted = output_of(job.name, builder), expected["native"].get(job.name)
            return [] if said == wanted else [f"{job}: says {said!r} natively, expected {wanted!r}"]
        said = besides(native_output(job.scenario, builder, job.build(builder)), job.data.get("says"))
        expected = output_of(job.scenario.name, builder)
        differences = [] if said == expected else [f"{job}: says {said!r} natively instead of {expected!r}"]
        if job.data.get("reached", True) and not traps(job, builder):
            differences.append(f"{job}: its run does not come by the mutated place")
        return differences
    except Failed as failed:
        return [f"{job}: {failed}"]


def check(job, options):
    """The report as `blackout check` wrote it, or a sentence that says why there is none."""
    builder = options.builder
    scenario = job if isinstance(job, Scenario) else job.scenario
    program = builder.build(scenario.program) if job is scenario else job.build(builder)
    restarted = program if scenario.recover_program == scenario.program else builder.build(scenario.recover_program)
    folder = builder.folder / "reports" / str(job)
    folder.mkdir(parents=True, exist_ok=True)
    pool, report = prepared_pool(scenario, builder), folder / "report.json"
    (folder / "input").write_text(scenario.run.text)
    (folder / "questions").write_text(scenario.recovery.text)
    port = free_port()
    # The scenarios are what runs in parallel.
    command = [options.blackout, "check", "--jobs", "1", "--pm", pool, "--json", report, "--report", folder / "report.txt",
               "--findings", folder / "findings", "--recover-stdin", folder / "questions",
               "--recover", shlex.join(scenario.recovery.command(restarted, pool, port)), *scenario.options,
               *([] if job is scenario else MUTATION_LIMIT), "--", *scenario.run.command(program, pool, port)]
    (folder / "command").write_text(shlex.join(map(str, command)) + f" < {folder / 'input'}\n")
    checked = report_of(lambda: execute(command, scenario.run, port, options.timeout), report, options.timeout)
    return checked if isinstance(checked, str) else checked[1]


def where(place):
    """The innermost line of the examples; of a library without lines its name."""
    for frame in place["stack"]:
        if frame["file"] and "/sources/" in frame["file"]:
            return f"{os.path.basename(frame['file'])}:{frame['line']}"
    module = place["stack"][0]["module"] if place["stack"] else ""
    return os.path.basename(module) or place["label"]


def in_short(finding):
    """A finding as expected.json has it: no line of it depends on the build."""
    places = list(dict.fromkeys(where(place) for place in finding["places"] if not place["incidental"]))
    symptom = f" [{finding['shown_by']['symptom']}]" if finding["severity"] == "shown" else ""
    # Where endless printing was stopped is chance: in the program, or in the middle of what follows its accesses.
    symptom = re.sub(r"(it printed \d+ MiB) in [^]]*", r"\1", symptom)
    return f"{finding['severity']} {finding['kind']} ({finding['class'] or 'no class'}): {', '.join(places) or 'nowhere'}{symptom}"


def figures(report):
    return {"complete": report["complete"], "findings": sorted(map(in_short, report["findings"]))}


def scenario_differences(scenario, report, expected):
    wanted = expected["scenarios"].get(scenario.name)
    if wanted is None:
        return [f"{scenario}: expected.json does not have it"]
    got = figures(report)
    found, sought = collections.Counter(got["findings"]), collections.Counter(wanted["findings"])
    differences = [f"{scenario}: not expected: {finding}" for finding in (found - sought).elements()]
    differences += [f"{scenario}: missed: {finding}" for finding in (sought - found).elements()]
    if got["complete"] != wanted["complete"]:
        differences.append(f"{scenario}: " + ("complete" if got["complete"] else "not complete: " + "; ".join(report["incomplete"])))
    return differences


def is_in(finding, functions):
    # gcc names its copies of a function with a suffix: insert.isra.0
    return any(frame["function"].split(".")[0] in functions for place in finding["places"] for frame in place["stack"])


def found_of(mutation, report, expected):
    """Findings of the mutation: of its class, in the function that was mutated, and not in the program as it is. The worst first."""
    known = expected["scenarios"].get(mutation.scenario.name, {}).get("findings", [])
    functions = {edit.get("function", mutation.data["function"]) for edit in mutation.data["edits"]}
    functions |= set(mutation.data.get("at", []))
    wanted = mutation.data.get("found_as", mutation.wanted)
    return [f"{f['severity']} {f['kind']}" for f in report["findings"]
            if in_short(f) not in known and is_in(f, functions) and f["class"] == wanted]


def mutation_differences(mutation, report, expected):
    found = found_of(mutation, report, expected)
    wanted = expected["mutations"].get(mutation.name)
    if not found:
        known = expected["scenarios"].get(mutation.scenario.name, {}).get("findings", [])
        others = "; ".join(short for short in map(in_short, report["findings"]) if short not in known) or "nothing"
        return [f"{mutation}: missed ({mutation.wanted}), found: {others}"]
    if wanted not in found:
        return [f"{mutation}: found as {', '.join(found)}, expected {wanted}"]
    return []


def too_few(mutations):
    counted = collections.Counter((mutation.name.split(".")[0], mutation.wanted) for mutation in mutations)
    return [f"{of_map}: {counted[of_map, wanted]} {wanted} mutations, Table 5 has {number}"
            for of_map, numbers in TABLE_5.items() for wanted, number in numbers.items() if counted[of_map, wanted] < number]


def run(job, options, expected):
    if options.native:
        return native_differences(job, options.builder, expected), None
    try:
        report = check(job, options)
    except Failed as failed:
        report = str(failed)
    if isinstance(report, str):
        return [f"{job}: {report}"], None
    judge = scenario_differences if isinstance(job, Scenario) else mutation_differences
    return judge(job, report, expected), report


def update(results, expected, options):
    """Takes over what was found. Whether it is right is for the reader to say, and for docs/findings.md."""
    for job, _, report in results:
        if options.native and isinstance(job, Scenario):
            expected["native"][job.name] = output_of(job.name, options.builder)
        if report is None:
            continue
        if isinstance(job, Scenario):
            expected["scenarios"][job.name] = figures(report)
        else:
            found = found_of(job, report, expected)
            if found:
                expected["mutations"][job.name] = found[0]
    for part in expected:
        expected[part] = dict(sorted(expected[part].items()))
    EXPECTED.write_text(json.dumps(expected, indent=2) + "\n")


def chosen(jobs, names):
    jobs = {str(job): job for job in jobs}
    unknown = [name for name in names if not any(job == name or job.startswith(name + ".") for job in jobs)]
    if unknown:
        sys.exit(f"run.py: no {', '.join(unknown)}; there are {', '.join(jobs)}")
    return [job for key, job in jobs.items()
            if not names or any(key == name or key.startswith(name + ".") for name in names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--native", action="store_true", help="only run the programs, without Blackout")
    parser.add_argument("--mutations", action="store_true", help="the mutated programs")
    parser.add_argument("--update", action="store_true", help="write what is found to expected.json")
    add_options(parser, "checks", "real", 900)
    options = take_options(parser)
    options.builder = Builder(options.build)

    jobs = chosen(all_mutations() if options.mutations else map(Scenario, SCENARIOS), options.names)
    expected = json.loads(EXPECTED.read_text())
    results = list(in_parallel(lambda job: (job, *run(job, options, expected)), jobs, options.jobs))
    if options.update:
        update(results, expected, options)
    for _, differences, _ in results:
        for difference in differences:
            print(difference)
    wrong = sum(bool(differences) for _, differences, _ in results)
    if options.mutations and not options.names:
        lacking = too_few(job for job, differences, _ in results if not differences)
        wrong += len(lacking)
        print(*lacking, sep="\n", end="\n" if lacking else "")
    print(f"{len(results)} {'mutations' if options.mutations else 'scenarios'}, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks the programs of the corpus whose consistency mechanisms are described.

    corpus/mechanisms.py [NAME...] [--bug N] [--update] [--jobs N] [--blackout PATH] [--build FOLDER]

Every variant goes through `blackout check --mechanisms` with the description beside its source (mechanisms.toml, or NAME.toml in
corpus/mechanisms; tx.toml for the transactional maps). corpus/mechanisms/variants.json says what must come out: how many transactions were checked and broken, which rules, as
"rule first-phase second-phase", how many stores are unprotected and how many crash plans were tried, and whether a restart shows something.
Correct versions have no finding at all.
"""

import argparse
import json
import subprocess
import sys

from builds import CORPUS, Builder
from checks import add_options, execute, in_parallel, report_of, take_options

TABLE = CORPUS / "mechanisms/variants.json"


def source_of(name):
    for source in (CORPUS / f"mechanisms/{name}.c", CORPUS / f"{name}/{name}.c", CORPUS / f"{name}/{name}.cpp"):
        if source.exists():
            return source
    sys.exit(f"no program {name}")


def description_of(source):
    for description in (source.with_suffix(".toml"), source.parent / "mechanisms.toml"):
        if description.exists():
            return description
    return CORPUS / "tx.toml"  # of programs that keep their data by the transactions of tx.h


def outcome_of(report):
    m = report["mechanisms"]
    rules = set()
    for finding in report["findings"]:
        if finding["kind"] == "mechanism":
            claim = finding["claim"]
            rules.add(" ".join(filter(None, (claim["rule"], claim["first_phase"], claim["second_phase"]))))
    return {
        "transactions": sum(one["transactions"] for one in m["mechanisms"]),
        "broken": sum(one["broken"] for one in m["mechanisms"]),
        "rules": sorted(rules),
        "unprotected": m["unprotected"],
        "plans": m["plans"],
        "shown": any(f["severity"] == "shown" for f in report["findings"]),
    }


def run(row, options):
    name, bug, expected = row
    source = source_of(name)
    try:
        program = Builder("compiled", options.blackout.parent, options.build).program(source, bug)
    except subprocess.CalledProcessError as error:
        return row, f"does not build ({error.returncode})", None
    report = options.build / f"{name}-{bug}-mechanisms.json"
    pool = options.build / f"{name}-{bug}-mechanisms.pool"
    pool.unlink(missing_ok=True)
    command = [options.blackout, "check", "--jobs", "1", "--pm", pool, "--json", report, "--mechanisms", description_of(source)]
    checked = report_of(lambda: execute([*command, "--", program, pool], options.timeout), report, options.timeout)
    if isinstance(checked, str):
        return row, checked, None
    found = outcome_of(checked[1])
    if bug == 0 and checked[1]["findings"]:
        return row, f"false finding: {checked[1]['findings'][0]['verdict']}", found
    return row, None if found == expected else f"{found}, expected {expected}", found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these programs")
    parser.add_argument("--bug", type=int, help="only this variant; 0: the correct version")
    parser.add_argument("--update", action="store_true", help="write what comes out to variants.json; read the difference")
    add_options(parser, "variants", "corpus", 600)
    options = take_options(parser)
    options.build.mkdir(parents=True, exist_ok=True)
    table = json.loads(TABLE.read_text())
    unknown = [name for name in options.names if name not in table]
    if unknown:
        parser.error(f"no program {', '.join(unknown)}; there are {', '.join(table)}")
    rows = [(name, int(bug), expected) for name in options.names or table for bug, expected in table[name].items()
            if options.bug in (None, int(bug))]
    wrong = 0
    for (name, bug, _), difference, found in in_parallel(lambda row: run(row, options), rows, options.jobs):
        if difference:
            print(f"{name} BUG={bug}: {difference}")
            wrong += 1
        if options.update and found:
            table[name][str(bug)] = found
    if options.update:
        lines = [f'  "{name}": {{\n' + ",\n".join(f'    "{bug}": {json.dumps(e)}' for bug, e in bugs.items()) + "\n  }"
                 for name, bugs in table.items()]
        TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(rows)} variants, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

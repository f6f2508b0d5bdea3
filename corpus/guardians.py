#!/usr/bin/env python3
"""Compares what `blackout infer` says of the corpus with what the programs say of themselves.

    corpus/guardians.py [NAME...] [--update] [--blackout PATH] [--build FOLDER]

Every correct version is built with the compiler wrapper that lies beside the blackout command, analysed and, for the
stores that are likely to commit, recorded. corpus/NAME/expected.json says what must come out:

  commit_variables   each is a guardian. `lines` and `quote` are the comment of the source that names it
  commits            exactly so many stores, and so many left by each rule and by both
  counting           arrays and counters that belong together, each a property ("array ~ counter")
  not_counting       pairs that must not be one

Any difference is printed and makes the exit code 1. The table at the end is that of Durinn (table 3).
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import checks
import run

FIGURES = ("stores", "to_guardians", "published", "commits")


def infer(variant, options):
    """Returns what `blackout infer` says of the program and its run, or a sentence that says why there is nothing."""
    try:
        program = run.build(variant, options)
    except subprocess.CalledProcessError as error:
        return f"does not build ({error.returncode})"
    pool = options.build / f"{variant.name}-guardians.pool"
    pool.unlink(missing_ok=True)
    command = [options.blackout, "infer", "--json", "--infer-time", "60", "--pm", pool, program, "--", program, pool]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                         timeout=options.timeout)
    if ran.returncode != 0:
        last = (ran.stderr.strip().splitlines() or ["no output"])[-1]
        return f"blackout infer ended with {ran.returncode}: {last}"
    return json.loads(ran.stdout)


def plain(text):
    """The words of a comment, however it is broken into lines."""
    return " ".join(re.sub(r"^\s*(//|/\*|\*)", " ", line).replace("*/", " ") for line in text.splitlines()).split()


def check_quote(variable, source):
    first, _, last = variable["lines"].partition("-")
    lines = "\n".join(source.read_text().splitlines()[int(first) - 1:int(last or first)])
    if " ".join(variable["quote"].split()) not in " ".join(plain(lines)):
        return [f"{variable['field']}: line {variable['lines']} does not say \"{variable['quote']}\""]
    return []


def check(variant, expected, result):
    found = {guardian["field"] for guardian in result["guardians"]}
    source = variant.source.parent / expected.get("commit_variables_in", variant.source.name)
    differences = []
    if not expected["commit_variables"]:
        differences.append("names no commit variable")
    for variable in expected["commit_variables"]:
        differences += check_quote(variable, source)
        if variable["field"] not in found:
            differences.append(f"missed: {variable['field']} is no guardian, but \"{variable['quote']}\"")
    for figure in FIGURES:
        if expected["commits"].get(figure) != result["commits"][figure]:
            differences.append(f"{figure}: {result['commits'][figure]}, expected {expected['commits'].get(figure)}")
    return differences + check_counting(expected, result)


def check_counting(expected, result):
    found = {(p["array"], p["counter"]) for p in result["counting"]["properties"]}
    pairs = lambda key: [(pair["array"], pair["counter"]) for pair in expected.get(key, [])]
    return [f"missed: no property of {array} and {counter}" for array, counter in pairs("counting")
            if (array, counter) not in found] + \
           [f"wrong: {array} ~ {counter} is no property" for array, counter in pairs("not_counting")
            if (array, counter) in found]


def print_table(rows):
    layout = "{:<18}{:>8}{:>14}{:>11}{:>9}{:>6}"
    print(layout.format("structure", "stores", "to guardians", "published", "commits", "%"))
    for name, figures in [*rows.items(), ("all", [sum(column) for column in zip(*rows.values())])]:
        print(layout.format(name, *figures, f"{100 * figures[-1] / max(1, figures[0]):.0f}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--update", action="store_true", help="write the figures to expected.json")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one structure")
    parser.add_argument("--blackout", type=pathlib.Path, default=checks.PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, help="folder for programs (corpus/ beside bin/)")
    options = parser.parse_args()
    options.blackout = options.blackout.absolute()
    options.build = (options.build or options.blackout.parent.parent / "corpus").absolute()
    options.build.mkdir(parents=True, exist_ok=True)

    known = {path.parent.name: path.parent for path in sorted(run.CORPUS.glob("*/expected.json"))}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(known)}")
    rows, wrong = {}, 0
    for name in options.names or known:
        variant = next(run.variants_of(known[name]))
        path = known[name] / "expected.json"
        expected = json.loads(path.read_text())
        result = infer(variant, options)
        if isinstance(result, str):
            differences = [result]
        else:
            figures = {figure: result["commits"][figure] for figure in FIGURES}
            rows[name] = list(figures.values())
            if options.update and expected["commits"] != figures:
                expected["commits"] = figures
                path.write_text(json.dumps(expected, indent=2) + "\n")
            differences = check(variant, expected, result)
        for difference in differences:
            print(f"{name}: {difference}")
        wrong += bool(differences)
    if rows:
        print_table(rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

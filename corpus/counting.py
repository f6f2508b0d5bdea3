#!/usr/bin/env python3
"""Which way of inferring what must change together finds which seeded atomicity bug of the corpus, from real runs.

    corpus/counting.py [NAME...] [--places] [--first] [--blackout PATH] [--build FOLDER]

A bug of class ATOM whose two parts are fields says so in expected.json: `together` has its sides, each a list of the keys that
stand for it. Each buggy version is built and analysed (`blackout infer --json`). A method finds the bug if one of
its pairs has a key of two different sides:

  counting   an array and the number that says how much of it counts, strict (every read proven) or relaxed
  Witcher    two fields that one condition tests, or of which one is tested under the other, before one read
  Huang      two fields that guard each other
  MUVI       two fields of which one is mostly accessed where the other is

`methods` of the bug in expected.json says which find it; any difference is printed and makes the exit code 1.

--places   the fourteen places of the paper's table as rows of the corpus (counting_places.json): of those that are
           in persistent memory the bug is shown by a crash (corpus/run.py), of volatile ones no pair is inferred
--first    the restarts until a finding of the bug is shown: with the properties first, and in plain order. Where
           counting finds the bug at most 4, or a tenth of plain order, are allowed, unless `aimed` is false
--update   writes `methods`
"""

import argparse
import json
import pathlib
import subprocess
import sys

import checks
import run

METHODS = ("counting", "Witcher", "Huang", "MUVI")
MOST = 128  # restarts that are tried for --first


def infer(variant, options):
    ran = subprocess.run([options.blackout, "infer", "--json", "--infer-time", "60", run.build(variant, options)],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=options.timeout)
    if not ran.stdout:
        sys.exit(f"{variant}: blackout infer ended with {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def pairs_of(inferred):
    """By method: the pairs, each with the sets of keys of its two sides, and a word about it."""
    rules = {"Witcher": ("together", "nested"), "Huang": ("each-other",)}
    pairs = {method: {(p["first"], p["second"]): "yes" for p in inferred["pairs"] if p["rule"] in wanted}
             for method, wanted in rules.items()}
    pairs["MUVI"] = {(p["first"], p["second"]): "yes" for p in inferred["correlated"]}
    pairs["counting"] = {}
    for p in inferred["counting"]["properties"]:
        for array in {p["array"], p.get("pointer", p["array"])}:
            pairs["counting"][array, p["counter"]] = "strict" if p["strict"] else "relaxed"
    return pairs


def found_by(pairs, together):
    def side(key):
        return next((n for n, keys in enumerate(together) if key in keys), None)

    found = {}
    for method in METHODS:
        for (first, second), word in pairs[method].items():
            if None not in (side(first), side(second)) and side(first) != side(second):
                found[method] = word
    return found




def baselines(variants, options):
    """Prints the table; returns what differs."""
    wrong, sums, rows = [], dict.fromkeys(METHODS, 0), []
    for variant in variants:
        inferred = infer(variant, options)
        pairs = pairs_of(inferred)
        found = found_by(pairs, variant.expected["together"])
        if options.update:
            write_methods(variant, found)
        elif found != variant.expected.get("methods"):
            wrong.append(f"{variant}: found by {found}, expected {variant.expected.get('methods')}")
        named = {method: len(pairs[method]) for method in METHODS} | {"counting": len(inferred["counting"]["properties"])}
        rows.append([f"{variant.name} {variant.bug}", variant.expected["title"],
                     *(f"{found.get(m, '-')} ({named[m]})" for m in METHODS)])
        for m in found:
            sums[m] += 1
    print_table(["bug", "what is wrong", *METHODS], rows + [["all", f"of {len(rows)}", *(str(sums[m]) for m in METHODS)]])
    return wrong


def write_methods(variant, found):
    path = variant.source.parent / "expected.json"
    expected = json.loads(path.read_text())
    expected["bugs"][str(variant.bug)]["methods"] = found
    path.write_text(json.dumps(expected, indent=2) + "\n")


def places(options):
    """Prints the table; returns what differs."""
    wrong, rows, inferred = [], [], {}
    table = json.loads((run.CORPUS / "counting_places.json").read_text())
    for place in table:
        variant = next(v for v in run.variants_of(run.CORPUS / place["structure"]) if v.bug == place.get("bug", 0))
        if str(variant) not in inferred:
            inferred[str(variant)] = infer(variant, options)
        counting = inferred[str(variant)]["counting"]["properties"]
        here = {(p["array"], p["counter"]): "strict" if p["strict"] else "relaxed" for p in counting}
        pair = here.get((place["array"], place["counter"]))
        if pair != place.get("inferred"):
            wrong.append(f"place {place['place']}: {place['array']} ~ {place['counter']}: inferred {pair}, expected {place.get('inferred')}")
        shown = "no crash can show it (volatile)"
        if not place["volatile"]:
            result = run.run(variant, options)
            shown = "shown" if result.found else "not shown"
            wrong += [f"place {place['place']}: {d}" for d in result.differences]
        rows.append([str(place["place"]), place["pattern"], str(variant), f"{place['array']} ~ {place['counter']}",
                     pair or "-", shown])
    print_table(["place", "pattern", "corpus", "pair", "inferred", "crash"], rows)
    return wrong


def shown_within(variant, restarts, more, options):
    report = options.build / f"{variant.name}-{variant.bug}-first.json"
    pool = options.build / f"{variant.name}-{variant.bug}-first.pool"
    pool.unlink(missing_ok=True)
    command = [options.blackout, "check", "--jobs", "1", "--max-runs", str(restarts), *more, "--pm", pool, "--json", report,
               "--", run.build(variant, options), pool]
    answer = checks.report_of(lambda: checks.execute(command, options.timeout), report, options.timeout)
    if isinstance(answer, str):
        sys.exit(f"{variant}: {answer}")
    return any(f["severity"] == "shown" for f in answer[1]["findings"])


def first_of(variant, more, options):
    """The fewest restarts within which a finding is shown; None: not within MOST."""
    high = 1
    while not shown_within(variant, high, more, options):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown_within(variant, middle, more, options) else (middle, high)
    return high


def first(variants, options):
    wrong, rows = [], []
    for variant in variants:
        aimed = first_of(variant, ["--infer-time", "60"], options)
        plain = first_of(variant, ["--infer-time", "0"], options)
        bound = max(4, (plain or MOST) // 10)
        within = aimed is not None and aimed <= bound
        if not within and "counting" in variant.expected.get("methods", {}) and variant.expected.get("aimed", True):
            wrong.append(f"{variant}: first shown after {aimed} restarts, {bound} are allowed")
        rows.append([f"{variant.name} {variant.bug}", str(aimed or f"over {MOST}"), str(plain or f"over {MOST}"), str(bound),
                     "yes" if within else "no"])
    print_table(["bug", "properties first", "plain order", "allowed", "within"], rows)
    return wrong


def print_table(head, rows):
    for row in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(row) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these structures")
    parser.add_argument("--places", action="store_true", help="the places of the paper's table")
    parser.add_argument("--first", action="store_true", help="restarts until the bug is shown")
    parser.add_argument("--update", action="store_true", help="write what finds a bug to expected.json")
    checks.add_options(parser, "variants", "corpus", 600)
    options = checks.take_options(parser)
    options.way = "compiled"
    options.build.mkdir(parents=True, exist_ok=True)
    known = {path.parent.name: path.parent for path in sorted(run.CORPUS.glob("*/expected.json"))}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no structure {', '.join(unknown)}; there are {', '.join(known)}")
    variants = [v for name in options.names or known for v in run.variants_of(known[name]) if "together" in v.expected]
    if options.places:
        wrong = places(options)
    elif options.first:
        wrong = first(variants, options)
    else:
        wrong = baselines(variants, options)
    for difference in wrong:
        print(difference)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

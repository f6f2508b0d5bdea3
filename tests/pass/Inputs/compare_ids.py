"""compare_ids.py TOOL O0 OTHER...: every id of the other builds, of merged instructions too, is an id of the -O0 build.

Then checks on what the -O2 build's rows say about merged instructions:
  --merged FUNCTION LINE,LINE,...   some row of the function lists exactly these lines as its sources
"""
import json
import subprocess
import sys

tool, o0, *rest = sys.argv[1:]
others, merged = [], []
while rest:
    word = rest.pop(0)
    if word == "--merged":
        merged.append((rest.pop(0), [int(n) for n in rest.pop(0).split(",")]))
    else:
        others.append(word)


def sites(binary):
    return json.loads(subprocess.check_output([tool, "sites", "--json", binary]))["sites"]


def ids(rows):
    return {source["id"] for row in rows for source in row["sources"]}


known = ids(sites(o0))
failed = False
for other in others:
    for row in sites(other):
        assert row["id"] in {s["id"] for s in row["sources"]}, row
        for source in row["sources"]:
            if source["id"] in known:
                continue
            failed = True
            places = [(p["linkage_name"], p["line"], p["column"]) for p in source["places"]]
            print(f"{other}: {row['kind']} {row['size']} {row['type']} at {places}: its id is not in {o0}")
for function, lines in merged:
    found = [
        sorted({s["places"][0]["line"] for s in row["sources"]})
        for row in sites(others[-1])
        if any(function in p["linkage_name"] for s in row["sources"] for p in s["places"])
    ]
    if lines not in found:
        failed = True
        print(f"{others[-1]}: no instruction of {function} comes from the lines {lines}; there are {found}")
print(f"{len(known)} ids")
sys.exit(failed)

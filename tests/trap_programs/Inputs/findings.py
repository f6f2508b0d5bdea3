"""Prints what a report (JSON) finds, by kind, lines and functions: what must not depend on the compiler.

--shown: only what was shown, and what was lost.
"""

import json
import os
import sys

shown = sys.argv[1] == "--shown"
report = json.load(open(sys.argv[-1]))
rows = []
for finding in report["findings"]:
    if shown and finding["severity"] != "shown":
        continue
    words = [finding["severity"], finding["kind"]]
    for place in finding["places"][: 2 if shown else None]:
        calls = ["{}:{}:{}".format(f["function"], os.path.basename(f["file"]), f["line"]) for f in place["stack"]]
        words.append(place["label"] + " " + " < ".join(calls))
    rows.append("; ".join(words))
print("complete" if report["complete"] else "incomplete", *sorted(rows), sep="\n")

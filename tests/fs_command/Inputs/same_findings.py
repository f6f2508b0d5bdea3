"""Whether two reports have the same findings: same_findings.py A.json B.json"""

import json
import sys


def findings(path):
    with open(path, encoding="utf-8") as file:
        return sorted((f["severity"], f["kind"], f["fingerprint"]) for f in json.load(file)["findings"])


first, second = findings(sys.argv[1]), findings(sys.argv[2])
shown = [f for f in first if f[0] == "shown"]
assert shown, "the first has nothing to compare"
assert first == second, f"{first}\n{second}"

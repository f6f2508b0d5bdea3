#!/usr/bin/python3
"""Validates reports against docs/report.schema.json, or as SARIF against sarif.schema.json.

  validate.py SCHEMA REPORT...

Readers ignore keys that they don't know, so the schema allows more of them. The tool itself must not write any that
nobody described: here every key has to be in the schema.
"""

import json
import sys

import jsonschema


def strict(schema):
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema:
        out["additionalProperties"] = False
    return out


def main():
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(strict(schema))
    wrong = False
    for path in sys.argv[2:]:
        with open(path) as file:
            report = json.load(file)
        for error in validator.iter_errors(report):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:500]}")
            wrong = True
        if not (report["findings"] if "findings" in report else report["runs"][0]["results"]):
            print(f"{path}: it has no finding, so this shows little")
            wrong = True
    return 1 if wrong else 0


sys.exit(main())

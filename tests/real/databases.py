#!/usr/bin/env python3
"""Checks databases and tools of the distribution's packages, unmodified, on files instead of PM.

    tests/real/databases.py [NAME...] [--blackout PATH] [--build FOLDER]

NAME is one of databases.json, or what it begins with up to a dot. Each is set up natively, recorded and restarted in a folder of its own.
A restart that can't open the database aborts, so none is forgiven for it. `exit` and the kinds that are `shown` must come out exactly, by at
least two restarts of which none was unobserved; `why` says what was read in the code that makes this right.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
CASES = json.loads((HERE / "databases.json").read_text())


def build(case, folder):
    if "build" in case:
        name, library = case["build"].split()
        subprocess.run(["gcc", "-O1", "-g", HERE / "databases" / f"{name}.c", "-o", folder / name, f"-l{library}"], check=True)


def differences(name, case, options):
    folder = options.build / "databases" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build(case, folder)

    def words(command):
        return shlex.split(command.replace("POOL", str(folder / "pool")))

    for command in case["setup"]:
        subprocess.run(words(command), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    restart = "checker" if "checker" in case else "recover"
    command = [options.blackout, "check", "--jobs", "1", "--json", "report.json", "--report", "report.txt", *case.get("options", [])]
    for pm in case["pm"]:
        command += ["--pm", pm]
    command += [f"--{restart}", shlex.join(words(case[restart])), "--", *words(case["run"])]
    (folder / "command").write_text(shlex.join(map(str, command)) + "\n")
    code = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if code != case["exit"]:
        yield f"exit {code}, not {case['exit']}"
    if not (folder / "report.json").exists():
        return (yield "no report")
    report = json.loads((folder / "report.json").read_text())
    shown = sorted({f["kind"] for f in report["findings"] if f["severity"] == "shown"})
    if shown != case["shown"]:
        yield f"shown: {shown}, not {case['shown']}"
    if report["exploration"]["runs"] < 2:
        yield "one restart stands for all: nothing of the pool was seen"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout")
    parser.add_argument("--build", type=pathlib.Path, help="folder for programs and reports (real/ beside bin/)")
    options = parser.parse_args()
    options.blackout = options.blackout.resolve()
    options.build = (options.build or options.blackout.parent.parent / "real").resolve()
    names = [n for n in CASES if not options.names or n in options.names or n.split(".")[0] in options.names]
    if not names:
        sys.exit("no such case")
    wrong = 0
    for name in names:
        said = list(differences(name, CASES[name], options))
        print(f"{name}: {'; '.join(said) or 'as expected'}", flush=True)
        wrong += bool(said)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

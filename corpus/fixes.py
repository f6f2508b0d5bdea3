#!/usr/bin/env python3
"""Applies the fixes that Blackout proposes for the corpus's bugs, and checks what they are worth.

    corpus/fixes.py [NAME...] [--bug N] [--update] [--table] [--jobs N] [--blackout PATH] [--build FOLDER]

Every seeded bug of which a flush or a fence may be the cure, or that wastes them, is built and checked. Each finding that comes with a patch is fixed: the patch is applied to a copy of the source with `patch`,
the copy is built and checked again. It must apply, compile and leave no finding that a restart shows, nor the finding itself. corpus/fixes.json says for which bugs a patch is
proposed; a bug that has none any more is a difference, and so is one that has one now (--update takes them over).

Any difference is printed and makes the exit code 1.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

from builds import CORPUS, PROJECT
from checks import add_options, execute, in_parallel, report_of, take_options
from run import variants_of

EXPECTED = CORPUS / "fixes.json"
# Of these a flush or a fence may be the cure; others are told in words.
CURABLE = {"missing-flush", "missing-fence", "wrong-order"}
# Of these the cure is to leave a statement out.
WASTED = {"clean-flush", "repeated-flush", "idle-fence"}


class Copy:
    """The sources of one variant in a folder of their own, where a patch may change them."""

    def __init__(self, variant, folder, options):
        self.variant, self.folder, self.options = variant, folder, options
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for header in sorted(CORPUS.glob("*.h*")):
            shutil.copy(header, folder)
        shutil.copy(variant.source, folder)

    def patch(self, diff):
        done = subprocess.run(["patch", "-p1", "-s"], cwd=self.folder, input=diff, text=True, capture_output=True)
        return done.returncode == 0, done.stdout + done.stderr

    def check(self):
        """Exit code and report, or a sentence."""
        source = self.variant.source.name
        wrapper = self.options.blackout.parent / ("blackout-clang" if source.endswith(".c") else "blackout-clang++")
        built = subprocess.run([wrapper, "-g", "-O1", f"-DBUG={self.variant.bug}", "-I", ".", "-I", PROJECT / "include", source, "-o", "program"],
                               cwd=self.folder, text=True, capture_output=True)
        if built.returncode != 0:
            return "does not compile: " + built.stderr.strip().splitlines()[0]
        report = self.folder / "report.json"
        command = [self.options.blackout, "check", "--jobs", "1", "--findings", "findings", "--pm", "pool", "--json", report,
                   "--failures", str(self.variant.expected.get("failures", 1)), *self.variant.expected.get("options", []), "--", "./program", "pool"]
        return report_of(lambda: execute(command, self.options.timeout, cwd=self.folder), report, self.options.timeout)


def kinds_of(variant):
    kind = variant.expected["kind"]
    return {kind} if isinstance(kind, str) else set(kind)


def fixable(variant, report):
    """Findings that may have a patch: those that restarts show; of wasted work the seeded ones."""
    return [f for f in report["findings"] if f["severity"] == "shown" or f["kind"] in kinds_of(variant) & WASTED]


def shown(report):
    return [f for f in report["findings"] if f["severity"] == "shown"]


def examine(variant, options):
    """How many patches are proposed, and what is wrong with them."""
    folder = options.build / f"{variant.name}-{variant.bug}"
    checked = Copy(variant, folder, options).check()
    if isinstance(checked, str):
        return 0, [checked]
    patches = [f for f in fixable(variant, checked[1]) if f["fix"] and f["fix"]["diff"]]
    wrong = []
    for number, finding in enumerate(patches):
        copy = Copy(variant, folder.with_name(f"{folder.name}-fixed-{number + 1}"), options)
        applied, said = copy.patch(finding["fix"]["diff"])
        if not applied:
            wrong.append(f"the patch does not apply: {said}")
            continue
        again = copy.check()
        if isinstance(again, str):
            wrong.append(f"patched, it {again}")
        elif len(patches) == len(shown(checked[1])) == 1 and (again[0] == 1 or shown(again[1])):
            wrong.append("patched, there is still: " + "; ".join(f["verdict"] for f in shown(again[1])))
        elif any(f["fingerprint"] == finding["fingerprint"] for f in again[1]["findings"]):
            wrong.append("patched, the finding is still there: " + finding["verdict"])
    return len(patches), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="structures; by default all")
    parser.add_argument("--bug", type=int, help="only this one")
    parser.add_argument("--update", action="store_true", help="take over for which bugs there is a patch")
    parser.add_argument("--table", action="store_true", help="a line for each bug")
    add_options(parser, "variants", "corpus-fixes", 600)
    options = take_options(parser)
    folders = [CORPUS / n for n in options.names] or sorted(p.parent for p in CORPUS.glob("*/expected.json"))
    variants = [v for f in folders for v in variants_of(f) if v.bug != 0 and options.bug in (None, v.bug) and kinds_of(v) & (CURABLE | WASTED)]
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    differences = proposed = 0
    for variant, (patches, wrong) in zip(variants, in_parallel(lambda v: examine(v, options), variants, options.jobs)):
        key = f"{variant.name} {variant.bug}"
        proposed += patches != 0
        if options.table:
            print(f"{variant}: {variant.expected['kind']}: {patches} patch(es){'; ' if wrong else ''}{'; '.join(wrong)}", flush=True)
        if options.update and not wrong:
            expected.pop(key, None)
            if patches:
                expected[key] = patches
        elif expected.get(key, 0) != patches:
            wrong.append(f"{patches} patch(es) proposed, expected {expected.get(key, 0)}")
        for what in wrong:
            print(f"{variant}: {what}")
        differences += bool(wrong)
    if options.update:
        EXPECTED.write_text(json.dumps(dict(sorted(expected.items())), indent=1) + "\n")
    print(f"{len(variants)} bugs, {proposed} with a patch, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

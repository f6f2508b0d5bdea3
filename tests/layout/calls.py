#!/usr/bin/env python3
"""Who calls whom among the runtime's files, read from the object files: fails if files do so in a circle.

    tests/layout/calls.py LLVM-NM OBJECT...

Includes alone don't show it: a header may declare what several files define. Only names of the runtime's own namespace
count. A function that the runtime defines by the name of one of libc's is called as libc's.
"""

import subprocess
import sys

from includes import circle

OURS = "_ZN8blackout2rt"


def unit(path):
    """src/runtime/CMakeFiles/blackout_rt.dir/trap/pages.cpp.o: trap/pages"""
    return path.split(".dir/")[-1].removesuffix(".o").removesuffix(".cpp")


def main():
    defined, wanted = {}, {}
    for path in sys.argv[2:]:
        wanted[unit(path)] = set()
        for line in subprocess.run([sys.argv[1], path], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, name = line.split()[-2:]
            if not name.startswith(OURS):
                continue
            if kind == "U":
                wanted[unit(path)].add(name)
            elif kind in "TDBR":
                defined[name] = unit(path)
    if not defined:
        sys.exit("no names of the runtime in these files")
    calls = {name: {defined[w] for w in names if w in defined} - {name} for name, names in wanted.items()}
    found = circle(calls, set(calls))
    if found:
        steps = zip(found, found[1:])
        print("files of the runtime call each other in a circle:")
        for caller, called in steps:
            print(f"  {caller} -> {called}: {', '.join(sorted(n for n in wanted[caller] if defined.get(n) == called))}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

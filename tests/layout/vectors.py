#!/usr/bin/env python3
"""What stubs of patched accesses call must leave vector registers alone: fails with a sentence for each function that has one.

    tests/layout/vectors.py LLVM-OBJDUMP libblackout.so

Read from the machine code, because the linker makes one function of several, each compiled for what the other must not use.
Functions that are called indirectly are not followed.
"""

import re
import subprocess
import sys

ENTRIES = ("begunIn(", "endedIn(", "fenceReached(")
# Not reached, or not left again: places of restarts whose events are recorded, which have other stubs; the end of a run; waiting for
# other processes of a restart, whose accesses are made with all of the state saved; a trace that is full or has no room, which is
# asked for before.
NOT_FOLLOWED = ("stepsAreOver(", "addPlace(", "noteTouch(", "nameThread(", "grow(", "endRun(", "stop(")


def functions(objdump, library):
    found, lines = {}, []
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", "-C", library], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if begin := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            lines = found.setdefault(begin[1], [])
        else:
            lines.append(line)
    return found


def main():
    code = functions(*sys.argv[1:])
    pending = [name for name in code if any(entry in name for entry in ENTRIES)]
    if len(pending) != len(ENTRIES):
        sys.exit(f"vectors.py: {len(pending)} functions are called {' and '.join(ENTRIES)}")
    way, wrong = {name: name for name in pending}, []
    while pending:
        name = pending.pop()
        if name.endswith("@plt") and not name.startswith(("__errno_location", "sched_yield")):
            wrong.append(f"libc is called: {way[name]}")
            continue
        for line in code.get(name, []):
            if re.search(r"%[xyz]?mm[0-9]", line):
                wrong.append(f"a vector register is used: {way[name]}: {line.strip()}")
                break
        for line in code.get(name, []):
            target = re.search(r"\s(?:call|jmp|j[a-z]+)q?\s.*<(.*?)(?:\+0x[0-9a-f]+)?>$", line)
            if target and target[1] not in way and not any(part in target[1] for part in NOT_FOLLOWED):
                way[target[1]] = f"{way[name]} > {target[1]}"
                pending.append(target[1])
    for sentence in wrong:
        print(sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

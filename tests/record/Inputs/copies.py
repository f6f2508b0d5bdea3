"""copies.py PLAIN COMPILED: the stores of two recordings of copies.c, as `blackout trace` prints them, are the same call by call.

Bytes that a call stores again are left out: where libc's own stores are caught they are there, where the runtime knows their shape it leaves them out."""

import re
import sys


def calls(path):
    """The stores of each call as (offset, size); behind the mfence the order of a call's is its compiler's."""
    found, stores, ordered = [], [], True
    for line in open(path):
        if " sfence" in line or " mfence" in line:
            found.append(stores if ordered else sorted(stores))
            stores = []
            ordered = ordered and " mfence" not in line
        elif store := re.search(r" store +1:0x([0-9a-f]+) +(\d+) byte", line):
            stores.append((int(store[1], 16), int(store[2])))
    return found


def fresh(stores):
    """Without what an earlier store of the call has stored."""
    seen, kept = set(), []
    for offset, size in stores:
        run = None
        for byte in range(offset, offset + size):
            if byte in seen:
                run = None
            elif run is None:
                run = [byte, 1]
                kept.append(run)
            else:
                run[1] += 1
            seen.add(byte)
    return [tuple(run) for run in kept]


plain, compiled = (calls(path) for path in sys.argv[1:])
assert len(plain) == len(compiled) > 4000, (len(plain), len(compiled))
wrong = 0
for number, (executed, recorded) in enumerate(zip(plain, compiled)):
    executed, recorded = fresh(executed), fresh(recorded)
    if executed != recorded:
        wrong += 1
        if wrong < 20:
            print(f"call {number}: executed {executed}, recorded {recorded}")
print(f"{len(plain)} calls, {wrong} wrong")
sys.exit(wrong != 0)

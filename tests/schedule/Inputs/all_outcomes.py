"""Random small programs with locks and atomics: what they can answer under all schedules with at most K preemptions, by
an enumeration of our own, against what 'blackout check --preemptions K' makes of them.

    all_outcomes.py BLACKOUT PROGRAM FOLDER SEED COUNT K THREADS

Programs have two threads, or THREADS.
"""

import os
import random
import subprocess
import sys


def random_thread(rng, steps):
    words, locked = [], None
    while len(words) < steps or locked is not None:
        if len(words) >= steps:
            words.append("u%d" % locked)
            locked = None
            continue
        what = rng.randrange(6)
        if what < 2:
            words.append("r%d" % rng.randrange(2))
        elif what == 2:
            words.append("w%d%d" % (rng.randrange(2), rng.randrange(1, 9)))
        elif what == 3:
            words.append("a%d" % rng.randrange(2))
        elif locked is None:  # one lock at a time: no deadlock
            locked = rng.randrange(2)
            words.append("l%d" % locked)
        else:
            words.append("u%d" % locked)
            locked = None
    return words


def outcomes(threads, most):
    """Every answer with at most `most` preemptions: a switch away from a thread whose next step could be made."""
    found, seen = set(), set()

    def go(at, variables, held, read, running, left):
        state = (at, variables, held, read, running, left)
        if state in seen:
            return
        seen.add(state)
        if all(a == len(t) for a, t in zip(at, threads)):
            found.add("".join(r + "|" for r in read) + "".join(map(str, variables)))
            return

        def can(i):
            if at[i] == len(threads[i]):
                return False
            word = threads[i][at[i]]
            return word[0] != "l" or held[int(word[1])] is None

        for i in range(len(threads)):
            if not can(i):
                continue
            cost = 1 if running is not None and running != i and can(running) else 0
            if cost > left:
                continue
            word = threads[i][at[i]]
            of = int(word[1])
            v, h, r = list(variables), list(held), list(read)
            if word[0] == "r":
                r[i] += str(v[of])
            elif word[0] == "w":
                v[of] = int(word[2])
            elif word[0] == "a":
                v[of] += 1
            elif word[0] == "l":
                h[of] = i
            else:
                h[of] = None
            a = list(at)
            a[i] += 1
            go(tuple(a), tuple(v), tuple(h), tuple(r), i, left - cost)

    go((0,) * len(threads), (0,) * 4, (None,) * 2, ("",) * len(threads), None, most)
    return found


def main():
    blackout, program, folder, seed, count, most, most_threads = sys.argv[1:]
    rng = random.Random(int(seed))
    pool, file = os.path.join(folder, "pool"), os.path.join(folder, "outcomes")
    for n in range(int(count)):
        threads = [random_thread(rng, rng.randrange(2, 5)) for _ in range(2 if rng.randrange(3) else int(most_threads))]
        expected = outcomes(threads, int(most))
        for path in (pool, file):
            if os.path.exists(path):
                os.remove(path)
        command = [blackout, "check", "--no-explore", "--detect", "none", "--preemptions", most, "--pm", pool, "--"]
        run = subprocess.run(command + [program, pool, file] + [" ".join(t) for t in threads], capture_output=True, text=True)
        with open(file) as lines:
            seen = set(lines.read().split())
        if run.returncode != 0 or seen != expected:
            print("program %d of seed %s: %s" % (n, seed, threads))
            print("expected and not seen:", sorted(expected - seen), "seen and not expected:", sorted(seen - expected))
            print(run.stdout, run.stderr)
            return 1
    return 0


sys.exit(main())

"""Runs a campaign that keeps its results, and kills it in its second workload, again and again until a run comes to its end. What
was kept must stay as it was, and each run must have kept one more.

    kill_campaign.py COMMAND...    (with --out FOLDER)
"""

import glob
import os
import signal
import sqlite3
import subprocess
import sys
import time


def kept(path):
    """The rows, by number; none while there is no table, or it is being written."""
    if not os.path.exists(path):
        return {}
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.2) as database:
            return dict(database.execute("SELECT number, result FROM workloads"))
    except sqlite3.OperationalError:
        return {}


def begun(folder):
    """The files of workloads, below a folder for each run: one is written when its workload begins."""
    return set(glob.glob(os.path.join(folder, "*", "workloads", "*")))


def main():
    command = sys.argv[1:]
    folder = command[command.index("--out") + 1]
    path = os.path.join(folder, "results.db")
    known, kills = {}, 0
    while True:
        before, seen = begun(folder), set()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        # Where a second one begins the first is kept.
        while process.poll() is None and len(seen) < 2:
            seen |= begun(folder) - before
            time.sleep(0.002)
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = kept(path)
        assert known.items() <= now.items(), "a result that was kept is gone or was made again"
        assert len(now) > len(known), f"nothing was kept: {sorted(known)}, {sorted(now)}"
        known, kills = now, kills + 1
    assert process.returncode in (0, 1), process.returncode
    now = kept(path)
    assert known.items() <= now.items(), "a result that was kept is gone or was made again"
    assert kills > 0, "it was never killed"
    print(f"killed {kills} times, and nothing that was kept is made again")


if __name__ == "__main__":
    main()

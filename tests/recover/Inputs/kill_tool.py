"""Runs a command, kills it in the middle of its recovery runs, and fails if any process of it is left after that."""

import os
import signal
import subprocess
import sys
import time


def processes():
    """Those that have our mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if mark in environment and state not in "ZX":
            found.append(int(pid))
    return found


mark = f"BLACKOUT_TEST_MARK={os.getpid()}-{time.time_ns()}".encode()
name, value = mark.decode().split("=")
tool = subprocess.Popen(sys.argv[1:], env={**os.environ, name: value}, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
# The recording is one process more; zygote, workers and runs are four.
deadline = time.time() + 60
while len(processes()) < 4 and time.time() < deadline and tool.poll() is None:
    time.sleep(0.01)
if tool.poll() is not None:
    sys.exit("the command ended before it could be killed")
tool.send_signal(signal.SIGKILL)
tool.wait()
deadline = time.time() + 30
while processes() and time.time() < deadline:
    time.sleep(0.05)
if processes():
    sys.exit(f"left behind: {processes()}")

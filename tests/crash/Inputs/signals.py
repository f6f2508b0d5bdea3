"""WHEN SIGNALS COMMAND...: starts a command, sends it signals (TERM,TERM) and ends with its exit code. WHEN is "restarts", or a
file: once that is there."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "recover", "Inputs"))
sys.dont_write_bytecode = True
from marked_processes import Marked

when, signals = sys.argv[1], sys.argv[2].split(",")
tool = Marked(sys.argv[3:])
if when == "restarts":
    ready = tool.wait_for_restarts()
else:
    deadline = time.time() + 60
    while not os.path.exists(when) and time.time() < deadline:
        time.sleep(0.01)
    ready = os.path.exists(when)
if not ready:
    sys.exit("the command ended before a signal could be sent")
time.sleep(0.5)  # until it waits for what does not end
for name in signals:
    tool.command.send_signal(getattr(signal, "SIG" + name))
    time.sleep(0.2)
try:
    sys.exit(tool.command.wait(timeout=100))
except subprocess.TimeoutExpired:
    tool.command.kill()
    sys.exit("it goes on after " + sys.argv[2])

"""Runs a command, kills it in the middle of its recovery runs, and fails if any process of it is left after that."""

import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from marked_processes import Marked

tool = Marked(sys.argv[1:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
if not tool.wait_for_restarts():
    sys.exit("the command ended before it could be killed")
tool.command.send_signal(signal.SIGKILL)
tool.command.wait()
deadline = time.time() + 30
while tool.processes() and time.time() < deadline:
    time.sleep(0.05)
if tool.processes():
    sys.exit(f"left behind: {tool.processes()}")

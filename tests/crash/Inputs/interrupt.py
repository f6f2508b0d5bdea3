"""Starts a command, interrupts it in the middle of its restarts, and ends with its exit code."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "recover", "Inputs"))
sys.dont_write_bytecode = True
from marked_processes import Marked

tool = Marked(sys.argv[1:])
if not tool.wait_for_restarts():
    sys.exit("the command ended before it could be interrupted")
tool.command.send_signal(signal.SIGINT)
try:
    sys.exit(tool.command.wait(timeout=60))
except subprocess.TimeoutExpired:
    tool.command.kill()
    sys.exit("it goes on after an interrupt")

"""Starts a command, interrupts it after some seconds, and ends with its exit code."""

import signal
import subprocess
import sys
import time

command = subprocess.Popen(sys.argv[2:])
time.sleep(float(sys.argv[1]))
command.send_signal(signal.SIGINT)
try:
    sys.exit(command.wait(timeout=60))
except subprocess.TimeoutExpired:
    command.kill()
    sys.exit("it goes on after an interrupt")

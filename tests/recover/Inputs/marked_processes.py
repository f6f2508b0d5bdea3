"""A command with all its processes, known by a mark in their environment."""

import os
import subprocess
import time


class Marked:
    def __init__(self, command, **more):
        name, value = "BLACKOUT_TEST_MARK", f"{os.getpid()}-{time.time_ns()}"
        self.mark = f"{name}={value}".encode()
        self.command = subprocess.Popen(command, env={**os.environ, name: value}, **more)

    def processes(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read()
                with open(f"/proc/{pid}/stat") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if self.mark in environment and state not in "ZX":
                found.append(int(pid))
        return found

    def wait_for_restarts(self, seconds=60):
        """Whether it came to that. A recording is one process more; zygote, workers and restarts make it four."""
        deadline = time.time() + seconds
        while time.time() < deadline and self.command.poll() is None:
            if len(self.processes()) >= 4:
                return True
            time.sleep(0.01)
        return False

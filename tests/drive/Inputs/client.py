"""A client of server.cpp: client.py ADDRESS [N] [end].

Asks for the log, which must be 100, 101, ...; goes on with it until it has N entries; asks again. Exits with 1 if an
answer is wrong. `end` asks the server to end.
"""

import os
import socket
import sys
import time


class Files:
    """A file of requests, and a file of answers that takes its place."""

    def __init__(self, path):
        self.path = path

    def write(self, text):
        with open(self.path + ".new", "a") as f:
            f.write(text)

    def flush(self):
        os.rename(self.path + ".new", self.path)

    def readline(self):
        while not os.path.exists(self.path + ".answers"):
            time.sleep(0.002)
        with open(self.path + ".answers") as f:
            line = f.readline()
        os.remove(self.path + ".answers")
        return line


def connect(address):
    kind, _, at = address.partition(":")
    if kind == "files":
        return Files(at), Files(at)
    if kind == "fifo":
        return open(at, "w"), open(at + ".answers")
    s = socket.socket(socket.AF_INET if kind == "tcp" else socket.AF_UNIX)
    s.connect(("127.0.0.1", int(at)) if kind == "tcp" else at)
    return s.makefile("w"), s.makefile("r")


requests, answers = connect(sys.argv[1])


def ask(line):
    print(line, file=requests, flush=True)
    answer = answers.readline()
    if not answer.endswith("\n"):
        sys.exit(f"no answer to {line}")
    return answer.strip()


def entries():
    found = [int(word) for word in ask("list").split()]
    if found != list(range(100, 100 + len(found))):
        print("a wrong log:", *found)
        sys.exit(1)
    return len(found)


wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 2
for i in range(entries(), wanted):
    ask(f"add {100 + i}")
print(entries(), "entries")
if "end" in sys.argv[3:]:
    print("end", file=requests, flush=True)

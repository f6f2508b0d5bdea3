"""A client of PMDK's kv_server: kv_client.py PORT [KEY...] [kill].

Every key that is there must have its value; those that are not are inserted, and must be there then. Exits with 1 if an
answer is wrong. `kill` asks the server to end.
"""

import socket
import sys

s = socket.socket()
s.connect(("127.0.0.1", int(sys.argv[1])))
answers = s.makefile("rb")


def ask(line):
    s.sendall(line.encode() + b"\n")
    # A value comes with the zeros behind it, up to the length of the request that made it.
    answer = answers.readline().lstrip(b"\0")
    if not answer.endswith(b"\n"):
        sys.exit(f"no answer to {line}")
    return answer.decode(errors="replace").strip()


def get(key):
    value = ask(f"GET {key}")
    if value not in ("NULL", "value-of-" + key):
        print(f"{key} is {value!r}")
        sys.exit(1)
    return value


there = 0
for key in (a for a in sys.argv[2:] if a != "kill"):
    if get(key) == "NULL" and ask(f"INSERT {key} value-of-{key}") != "SUCCESS":
        sys.exit(f"{key} can't be inserted")
    if get(key) == "NULL":
        print(key, "was inserted and is not there")
        sys.exit(1)
    there += 1
print(there, "keys")
if sys.argv[-1] == "kill":
    s.sendall(b"KILL\n")

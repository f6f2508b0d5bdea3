"""Runs of the example programs (scenarios.json): a pool, what is done to it natively before, what is recorded, what a restart asks.

A scenario of a map says which commands its client reads: "run" is recorded, "setup" comes before it, "then" after the questions of a
restart, which asks for every key. Other scenarios give arguments: "setup" is a list of runs, "recover" is the restart; POOL is the
pool, PORT a free port, and "messages" are what a client says to a server. A pool is made here: "pool" is the layout of one of
libpmemobj's, as small as it may be, "size" that of a file of zeros; without them the program makes it.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from programs import HERE, digest

SCENARIOS = json.loads((HERE / "scenarios.json").read_text())
SMALLEST_POOL = 8 << 20  # PMEMOBJ_MIN_POOL

# As `blackout check` sets it: flushes instead of msync, although the pool is an ordinary file.
ENVIRONMENT = {**os.environ, "PMEM_IS_PMEM_FORCE": "1", "PMEM2_FORCE_GRANULARITY": "CACHE_LINE"}


def lines(commands):
    return "".join(f"{command.strip()}\n" for command in commands.split(",") if command.strip())


class Run:
    """One run of a program: its arguments, what it reads, and what a client says to it if it is a server."""

    def __init__(self, arguments, text="", messages=""):
        self.arguments, self.text, self.messages = arguments, text, messages

    def __repr__(self):
        return repr((self.arguments, self.text, self.messages))

    def command(self, program, pool, port):
        words = {"POOL": pool, "PORT": port}
        return [str(program), *(str(words.get(argument, argument)) for argument in self.arguments)]


class Scenario:
    """A scenario with everything spelled out."""

    def __init__(self, name):
        self.name = name
        data = SCENARIOS[name]
        self.size = data.get("size")
        self.options = data.get("options", [])
        if "map" in data:
            self.of_map(data)
        else:
            self.program = data["program"]
            self.recover_program = data.get("recover-program", self.program)
            self.layout = data.get("pool")
            setup = [[run, ""] if isinstance(run, str) else run for run in data.get("setup", [])]
            self.setup = [Run(arguments.split(), messages=lines(messages)) for arguments, messages in setup]
            self.run = Run(data["run"].split(), data.get("input", ""), lines(data.get("messages", "")))
            self.recovery = Run(data["recover"].split(), data.get("questions", ""))

    def of_map(self, data):
        self.program = self.recover_program = data.get("client", "mapcli")
        self.layout = "map" if self.program == "mapcli" else "client"
        # mapcli's last argument is the seed of its hash functions.
        arguments = [data["map"], "POOL"] + (["1"] if self.program == "mapcli" else [])
        self.setup = [Run(arguments, lines(data.get("setup", "")))] if data.get("created", True) else []
        self.run = Run(arguments, lines(data["run"]))
        keys = sorted(set(re.findall(r"[ir] (\d+)", data.get("setup", "") + "," + data["run"])), key=int)
        self.recovery = Run(arguments, "".join(f"c {key}\n" for key in keys) + "p\n" + lines(data.get("then", "")))

    def __str__(self):
        return self.name


def make_pool(path, scenario):
    if scenario.size:
        with open(path, "wb") as file:
            file.truncate(scenario.size)
    elif scenario.layout:
        library = ctypes.CDLL("libpmemobj.so.1", use_errno=True)
        library.pmemobj_create.restype = ctypes.c_void_p
        library.pmemobj_create.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint]
        library.pmemobj_close.argtypes = [ctypes.c_void_p]
        pool = library.pmemobj_create(os.fsencode(path), scenario.layout.encode(), SMALLEST_POOL, 0o600)
        if not pool:
            raise OSError(ctypes.get_errno(), f"pmemobj_create: {path}")
        library.pmemobj_close(pool)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def talk(port, messages, server, timeout):
    """Sends the messages one by one, each after the answer to the one before, and ends the server."""
    end = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=timeout)
            break
        except ConnectionRefusedError:
            if server.poll() is not None or time.monotonic() > end:
                return
            time.sleep(0.02)
    with connection, connection.makefile("r") as answers:
        for message in messages.splitlines(True):
            connection.sendall(message.encode())
            answers.readline()
        connection.sendall(b"KILL\n")


def execute(command, run, port, timeout):
    """Runs a command, which is or contains the program; returns its exit code and what it says."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", env=ENVIRONMENT)
    try:
        if run.messages:
            talk(port, run.messages, server, timeout)
        said, _ = server.communicate(run.text, timeout=timeout)
        return server.returncode, said
    finally:
        server.kill()


class Failed(Exception):
    """A program that does not work natively. `code`: how it ended, as subprocess has it; None: it did not."""

    def __init__(self, sentence, code=None):
        super().__init__(sentence)
        self.code = code


def run_natively(program, run, pool, what):
    port = free_port()
    try:
        code, said = execute(run.command(program, pool, port), run, port, 60)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what}: does not end") from None
    if code != 0:
        raise Failed(f"{what}: exit code {code}: {said.strip()[-300:]}", code)
    return said


def prepared_pool(scenario, builder):
    """The pool before the recorded run, or where the program will make it. Made once for all mutations: by the program as it is."""
    program = builder.build(scenario.program)
    folder = builder.folder / "pools" / digest(program, scenario.layout, scenario.size, scenario.setup)
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
        make_pool(unfinished / "pool", scenario)
        for run in scenario.setup:
            run_natively(program, run, unfinished / "pool", f"{scenario}: set-up")
        try:
            unfinished.rename(folder)
        except OSError:  # another scenario with the same pool was faster
            shutil.rmtree(unfinished)
    return folder / "pool"


def native_output(scenario, builder, program, recover_program=None):
    """What the run and then a restart print, without any crash."""
    work = pathlib.Path(tempfile.mkdtemp(dir=builder.folder))
    pool, prepared = work / "pool", prepared_pool(scenario, builder)
    if prepared.exists():
        shutil.copyfile(prepared, pool)
    try:
        said = run_natively(program, scenario.run, pool, f"{scenario}: run")
        said += run_natively(recover_program or program, scenario.recovery, pool, f"{scenario}: restart")
        # Times, and the pid that is in the log of addlog.
        return re.sub(r"^((.*rebuild|Time elapsed|Bandwidth|Entry from pid|\s+Created):?) .*$", r"\1 ...", said, flags=re.MULTILINE)
    finally:
        shutil.rmtree(work)

"""The programs of the table, in every build that a row may ask for.

A program consists of main (maps the pool, publishes, checks) and three units with ways: writers, readers, endings.

  compiled   everything by blackout-clang++
  plain      everything by g++ -O1
  stripped   everything by g++ -O2, without symbols
  unit       the ways are plain objects, linked into a file whose main is compiled
  library    the ways are plain libraries that a compiled main is linked with
  late       the ways are plain libraries that a compiled main loads when it needs them
  reverse    the ways are compiled libraries, main is plain
  linked     compiled, but linked with small plain libraries and zlib

The programs of the heap and of pointers are one unit each: compiled or plain.
"""

import concurrent.futures
import fcntl
import hashlib
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SOURCES = HERE / "programs"
UNITS = ("writers", "readers", "endings")
HELPERS = ("helper_sfence", "helper_clwb", "helper_store", "helper_open")
BUILDS = ("compiled", "plain", "stripped", "unit", "library", "late", "reverse", "linked")
# What the two halves of a build are made with: main, and the units with the ways.
HALVES = {"compiled": ("compiled", "compiled"), "plain": ("plain", "plain"), "stripped": ("stripped", "stripped"), "unit": ("compiled", "plain"),
          "library": ("compiled", "plain"), "late": ("compiled", "plain"), "reverse": ("plain", "compiled"), "linked": ("compiled", "compiled")}
FLAGS = {"compiled": ["-O1", "-g"], "plain": ["-O1", "-g"], "stripped": ["-O2", "-s"]}
COMMON = ["-std=c++17", "-fPIC", "-Wno-infinite-recursion", "-Wno-unused-result", "-pthread"]


class Programs:
    """Keeps what was built of and by the same bytes: building takes a minute."""

    def __init__(self, tools, folder, jobs):
        self.tools, self.folder, self.jobs = tools, folder, jobs
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, build):
        return self.folder / build / "ways"

    def build(self, builds):
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the quick and the full table may run at once
            missing = [build for build in builds if not self.is_kept(build)]
            if not missing:
                return
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool, tempfile.TemporaryDirectory(dir=self.folder) as work:
                work = pathlib.Path(work)
                objects = sorted({item for build in missing for item in self.objects_of(build)})
                list(pool.map(lambda item: self.compile(work, *item), objects))
                list(pool.map(lambda build: self.link(work, build), missing))

    def compiler(self, way):
        return str(self.tools / "blackout-clang++") if way == "compiled" else "g++"

    def objects_of(self, build):
        main, ways = HALVES[build]
        yield (main, "main", "LOADED_LATE" if build == "late" else "")
        for unit in UNITS:
            yield (ways, unit, "WITH_LIBRARIES" if build == "linked" else "")

    def object(self, work, way, unit, macro):
        return work / f"{way}-{unit}-{macro}.o"

    def compile(self, work, way, unit, macro):
        macros = [f"-D{macro}"] if macro else []
        flags = [flag for flag in FLAGS[way] if flag != "-s"]
        run(self.compiler(way), *COMMON, *flags, *macros, "-c", SOURCES / f"{unit}.cpp", "-o", self.object(work, way, unit, macro))

    def link(self, work, build):
        folder = self.path(build).parent
        folder.mkdir(exist_ok=True)
        (folder / "built").unlink(missing_ok=True)
        for helper in HELPERS:
            run("gcc", "-O1", "-g", "-shared", "-fPIC", SOURCES / f"{helper}.c", "-o", folder / f"lib{helper}.so")
        (main, *units) = self.objects_of(build)
        words = ["-Wl,-rpath,$ORIGIN", "-pthread", "-ldl", *(["-s"] if build == "stripped" else [])]
        units = {unit[1]: self.object(work, *unit) for unit in units}
        if build in ("library", "late", "reverse"):
            for unit, made in units.items():
                library = folder / f"lib{unit}.so"
                run(self.compiler(HALVES[build][1]), "-shared", made, "-o", library, "-pthread", "-Wl,-rpath,$ORIGIN")
                units[unit] = library
        if build == "linked":
            words += ["-L", folder, *(f"-l{helper}" for helper in HELPERS), "-lz"]
        if build == "late":
            units = {}
        # A plain main has to have what a library asks for; -rdynamic: g_pool_path.
        run(self.compiler(HALVES[build][0]), "-rdynamic", self.object(work, *main), *units.values(), *words, "-o", self.path(build))
        if build in ("compiled", "plain"):
            self.heap(build)
            run(self.compiler(build), *COMMON, *FLAGS[build], SOURCES / "pointers.cpp", "-pthread", "-o", self.path(build).with_name("pointers"))
        (folder / "built").write_text(self.key())

    def heap(self, build):
        """A plain program has the runtime's functions of blackout.h by linking it."""
        runtime = self.tools.parent / "lib/blackout/libblackout.so"
        plain = ["-D__BLACKOUT__=1", runtime, f"-Wl,-rpath,{runtime.parent}"] if build == "plain" else []
        run(self.compiler(build), *COMMON, *FLAGS[build], "-I", PROJECT / "include", SOURCES / "heap.cpp", *plain, "-o", self.path(build).with_name("heap"))

    def is_kept(self, build):
        kept = self.path(build).parent / "built"
        return kept.exists() and kept.read_text() == self.key()

    def key(self):
        """Everything that the programs' bytes depend on. Not the runtime: it is a shared library, known by its place."""
        made_of = [*sorted(SOURCES.iterdir()), HERE / "programs.py", self.tools / "blackout-clang++", self.tools.parent / "lib/blackout/BlackoutPass.so"]
        return "".join(f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in made_of)


def run(*words):
    ran = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{ran.stdout}")

"""Builds PMDK's example programs from the sources that the distribution's packages install.

They are compiled as they are, with plain gcc, into the build folder; nothing of them is kept in this tree. What is built is named by
the hash of all that it is made of, so a second run builds nothing, and a mutated program compiles one file.
"""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = json.loads((HERE / "programs.json").read_text())
FLAGS = ["-O2", "-g", "-pthread"]


def examples_of(package):
    return pathlib.Path("/usr/share/doc") / package / "examples"


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:20]


@functools.cache
def compiler_version():
    return subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True).stdout


@functools.cache
def headers_digest(package):
    """Of everything that a source may include; the libraries' own headers come and go with the package's version."""
    headers = sorted(examples_of(package).rglob("*.h")) + [HERE / "ex_common.h"]
    packages = subprocess.run(["dpkg-query", "-W", package, "libc6-dev"], check=True, capture_output=True, text=True).stdout
    return digest(packages, *(header.read_text() for header in headers))


def sources_of(program):
    """Paths below the package's examples, and of our own files."""
    what = PROGRAMS[program]
    examples = examples_of(what["package"])
    if not examples.is_dir():
        raise FileNotFoundError(f"{examples}: {what['package']} is not installed")
    found = []
    for pattern in what["sources"]:
        matches = sorted(examples.glob(pattern))
        if not matches:
            raise FileNotFoundError(f"{examples}/{pattern}: {what['package']} has no such file")
        found += matches
    return found + [HERE / name for name in what.get("own", [])]


@contextlib.contextmanager
def finished(path):
    """A path to write to, which takes its name when it is whole: other threads and processes build the same."""
    unfinished = path.with_name(f"{path.stem}.{os.getpid()}.{threading.get_ident()}{path.suffix}")
    yield unfinished
    unfinished.rename(path)


class Builder:
    def __init__(self, folder):
        self.folder = folder
        for name in ("sources", "objects", "programs"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def compile(self, program, source, text):
        """The object file of a source with this text. The text lies in the build folder, under its own name: reports show it."""
        what = PROGRAMS[program]
        examples = examples_of(what["package"])
        key = digest(compiler_version(), FLAGS, headers_digest(what["package"]), source, text)
        target = self.folder / "objects" / f"{key}.o"
        if target.exists():
            return target
        copy = self.folder / "sources" / key / source.name
        copy.parent.mkdir(exist_ok=True)
        with finished(copy) as unfinished:
            unfinished.write_text(text)
        include = [examples / name for name in what.get("include", [])] + [source.parent, HERE]
        with finished(target) as unfinished:
            subprocess.run(["gcc", *FLAGS, *(f"-I{folder}" for folder in include), "-c", copy, "-o", unfinished], check=True)
        return target

    def build(self, program, changed=None):
        """The program's path. `changed`: other texts for some of the sources, by path below the examples."""
        what = PROGRAMS[program]
        examples = examples_of(what["package"])
        changed = dict(changed or {})
        objects = []
        for source in sources_of(program):
            name = str(source.relative_to(examples)) if source.is_relative_to(examples) else source.name
            objects.append(self.compile(program, source, changed.pop(name, None) or source.read_text()))
        if changed:
            raise FileNotFoundError(f"{program} is not made of {', '.join(changed)}")
        path = self.folder / "programs" / digest(*(obj.name for obj in objects), what["libraries"]) / program
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            libraries = [f"-l{name}" for name in what["libraries"]]
            with finished(path) as unfinished:
                subprocess.run(["gcc", *FLAGS, *objects, "-o", unfinished, *libraries], check=True)
        return path

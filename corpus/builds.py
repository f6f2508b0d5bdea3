"""Building a program of the corpus in one of three ways.

  compiled  by the compiler wrapper that lies beside the blackout command
  trapped   by clang or gcc as they are, -O2: nothing of Blackout is in the code, so everything is caught by its faults
  mixed     cut into two units, function by function; one is compiled by the wrapper, the other as it is

Annotations reach the runtime in all of them: blackout.h declares its functions where __BLACKOUT__ is defined, and the
program is linked with the library that `blackout check` loads into it.
"""

import functools
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent
PROJECT = CORPUS.parent
PLAIN = {"clang": {".c": "clang-19", ".cpp": "clang++-19"}, "gcc": {".c": "gcc", ".cpp": "g++"}}


WAYS = {
    "trapped": "programs are built by clang as it is, without Blackout",
    "trapped-gcc": "programs are built by gcc",
    "mixed": "half of each program is a library, built by clang as it is; the other half is built by blackout-clang",
    "mixed-library": "the library is the half that is built by blackout-clang",
}


@functools.cache
def content_of(path):
    """A hash of a file. None changes while programs are built."""
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def run(*command):
    subprocess.run(command, check=True)


class Builder:
    """`way` is one of WAYS, or `compiled`."""

    def __init__(self, way, tools, folder):
        self.way, self.tools, self.folder = way, tools, folder
        self.runtime = tools.parent / "lib/blackout/libblackout.so"

    def wrapper(self, source):
        return self.tools / ("blackout-clang" if source.suffix == ".c" else "blackout-clang++")

    def program(self, source, bug, libraries=()):
        """The program. One that was built of and by the same bytes is kept: compiling takes twenty times as long as checking."""
        program = self.folder / f"{source.stem}-{bug}"
        kept = program.with_suffix(".built")
        key = self.key(source) + "".join(f"-l{library}\n" for library in libraries)
        if not program.exists() or not kept.exists() or kept.read_text() != key:
            kept.unlink(missing_ok=True)
            words = [f"-DBUG={bug}", "-I", CORPUS, "-I", PROJECT / "include", source, *(f"-l{library}" for library in libraries)]
            if self.way == "compiled":
                # Under another name first: two tests may build one program at a time.
                with tempfile.TemporaryDirectory(dir=self.folder) as work:
                    run(self.wrapper(source), "-g", "-O1", *words, "-o", pathlib.Path(work) / program.name)
                    os.replace(pathlib.Path(work) / program.name, program)
            elif self.way.startswith("trapped"):
                self.trapped(source, words, program, "gcc" if self.way == "trapped-gcc" else "clang")
            else:
                self.mixed(source, words, program, "library" if self.way == "mixed-library" else "program")
            kept.write_text(key)
        return program

    def key(self, source):
        """Everything that the program's bytes depend on. Not the runtime: it is a shared library, known by its place."""
        made_of = [source, *sorted(CORPUS.glob("*.h*")), CORPUS / "builds.py", *sorted(PROJECT.glob("include/blackout/**/*.h*"))]
        if not self.way.startswith("trapped"):
            made_of += [self.wrapper(source), self.tools.parent / "lib/blackout/BlackoutPass.so"]
        return "\n".join([self.way, str(self.runtime), *(f"{path} {content_of(path)}" for path in made_of)]) + "\n"

    def trapped(self, source, words, program, compiler):
        run(PLAIN[compiler][source.suffix], "-g", "-O2", "-D__BLACKOUT__=1", *words, "-o", program, self.runtime,
            f"-Wl,-rpath,{self.runtime.parent}")

    def mixed(self, source, words, program, compiled):
        plain = PLAIN["clang"][source.suffix]
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            work = pathlib.Path(work)
            whole = work / "whole.ll"
            # Not optimised, so that no function is inlined into one of the other half.
            run(plain, "-g", "-O2", "-fPIC", "-fstandalone-debug", "-Xclang", "-disable-llvm-passes", "-D__BLACKOUT__=1",
                "-S", "-emit-llvm", *words, "-o", whole)
            # A unit drops an inline function that it doesn't call itself, though the other may; and one that a library
            # may have it leaves to that.
            text = re.sub(r"\blinkonce(_odr)?\b", r"weak\1", whole.read_text())
            text = re.sub(r"^define available_externally\b", "define weak_odr", text, flags=re.M)
            # What is local now may have the name of something else: the linker has an `end`.
            local = set(re.findall(r"^define internal [^@\n]*@([\w.$]+)\(", text, re.M))
            text = re.sub(r"@([\w.$]+)", lambda name: name[0] + ".local" if name[1] in local else name[0], text)
            whole.write_text(text)
            run("llvm-split-19", "-j2", whole, "-o", work / "half")
            halves = []
            for half in (work / "half0", work / "half1"):
                run("llvm-dis-19", half, "-o", half.with_suffix(".ll"))
                halves.append((half.with_suffix(".ll"), half.with_suffix(".ll").read_text()))
            # What was local is called from the other file now.
            for half, text in halves:
                half.write_text(re.sub(r"^(@|define|declare)(.*?)\b(?:hidden |dso_local )+", r"\1\2", text, flags=re.M))
            halves.sort(key=lambda half: not re.search(r"^define [^\n]*@main\(", half[1], re.M))
            objects = {}
            for name, (half, _) in zip(("program", "library"), halves):
                compiler = self.wrapper(source) if name == compiled else plain
                objects[name] = work / f"{name}.o"
                run(compiler, "-g", "-O2", "-fPIC", "-x", "ir", "-c", half, "-o", objects[name])
            library = program.with_name(f"lib{program.name}.so")
            run(plain, "-shared", objects["library"], "-o", library)
            run(plain, "-rdynamic", objects["program"], library, self.runtime, "-o", program, "-Wl,-rpath,$ORIGIN",
                f"-Wl,-rpath,{self.runtime.parent}")

"""What the runners of tables of checks share (corpus/run.py, tests/causes/run.py, tests/real/run.py): their common options, running
`blackout check` for its report, and several rows at a time."""

import concurrent.futures
import json
import os
import pathlib
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent.parent


def add_options(parser, rows, folder, seconds):
    """`rows`: what runs in parallel; `folder`: of programs and reports, beside bin/ unless the user names another."""
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=f"{rows} at a time")
    parser.add_argument("--timeout", type=float, default=seconds, help="seconds for one of them")
    parser.add_argument("--blackout", type=pathlib.Path, default=PROJECT / "build/bin/blackout", help="the command")
    parser.add_argument("--build", type=pathlib.Path, help=f"folder for programs and reports ({folder}/ beside bin/)")
    parser.set_defaults(folder=folder)


def take_options(parser):
    options = parser.parse_args()
    options.blackout = options.blackout.absolute()
    options.build = (options.build or options.blackout.parent.parent / options.folder).absolute()
    return options


def execute(command, timeout, **more):
    """Exit code and what it says, without an input."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors="replace", timeout=timeout, **more)
    return ran.returncode, ran.stdout


def report_of(run, report, timeout):
    """Exit code and report of a `blackout check` that `run()` makes, giving its exit code and what it says; or a sentence that says why
    there is no report."""
    report.unlink(missing_ok=True)
    try:
        code, said = run()
    except subprocess.TimeoutExpired:
        return f"not done after {timeout} seconds"
    if not report.exists():
        last = (said.strip().splitlines() or ["no output"])[-1]
        return f"blackout check ended with {code}: {last}"
    return code, json.loads(report.read_text())


def in_parallel(function, rows, jobs):
    """What the function gives for each row, in their order, as it comes."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(function, rows)

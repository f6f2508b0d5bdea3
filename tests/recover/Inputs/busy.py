"""Ten checks of each program beside four busy processes: the same exit code, the same verdicts and the same findings each time."""
import os
import re
import subprocess
import sys

RUNS = 10
BUSY = 4


def told(output):
    """What a report says about findings and the result: not the replay files' names, which depend on what was there."""
    lines = re.findall(r"^(?:shown|suspected|inconclusive|clean|SUMMARY)\b.*|^  \(\d+\) .*|^  evidence: .*|^.*hangs: .*", output, re.M)
    # How many restarts were made is the search's affair, and which line of an endless loop is named depends on where it was stopped.
    lines = [re.sub(r"\d+ restarts", "restarts", line) for line in lines]
    return [re.sub(r"(\.c(?:pp)?):\d+(?::\d+)?", r"\1", line) if re.search("hangs|fails here", line) else line for line in lines]


def check(blackout, program, mode):
    subprocess.run(["rm", "-rf", "pool", "blackout-findings"], check=True)
    command = [blackout, "check", "--detect=none", "--run-timeout", "60", "--pm", "pool", "--", f"./{program}", "pool"]
    done = subprocess.run(command + ([mode] if mode else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, told(done.stdout), done.stdout


def main():
    blackout, cases = sys.argv[1], sys.argv[2:]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    wrong = []
    try:
        for case in cases:
            program, _, mode = case.partition(":")
            runs = [check(blackout, program, mode) for _ in range(RUNS)]
            expected = 0 if mode in ("long", "woken") else 1
            for code, lines, output in runs:
                if code != expected or lines != runs[0][1]:
                    wrong.append(f"{case}: exit code {code}, not {expected}, or not as the first said\n{output}\nThe first:\n{runs[0][2]}")
                    break
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())

#!/usr/bin/python3
"""The suite of communicators under the launchers of MPI that this machine has.

    run.py COMM_RANK BUILD-FOLDER [--all]

Debian's Open MPI and MPICH, and the wheels of tests/comm, each by its own mpirun, as whoever runs the tests, with more ranks than processors.
`make test` takes a few numbers of ranks of each, --all 1 to 8 with every type."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from launchers import environment, launchers  # noqa: E402

rank, build = sys.argv[1:3]
everything = "--all" in sys.argv
passed = failed = skipped = 0
for title, launcher, arguments, libraries, counts in launchers(build):
    if not os.path.exists(launcher):
        skipped += 1
        print(f"skipped: {title}: there is no {launcher}", file=sys.stderr)
        continue
    for count in range(1, 9) if everything else counts:
        command = [launcher, *arguments, "-n", str(count), rank, *(["--all"] if everything else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600 if everything else 60, env=environment(libraries))
            output, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            output, code = f"{late.stdout}{late.stderr}: no end in {late.timeout} s", 124
        said = re.findall(r"^rank (\d+) of (\d+): (\d+) passed, (\d+) failed$", output, re.M)
        passed += sum(int(p) for _, _, p, _ in said)
        failed += sum(int(f) for _, _, _, f in said)
        if code or sorted(int(r) for r, _, _, _ in said) != list(range(count)) or any(int(n) != count for _, n, _, _ in said):
            failed += 1
            print(f"{title}, {count} ranks: exit status {code}\n{output}\n{' '.join(command)}", file=sys.stderr)
for title, launcher, arguments, libraries, counts in launchers(build):
    if everything or not os.path.exists(launcher):
        continue
    command = [launcher, *arguments, "-n", "2", rank, "--late-split"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment(libraries))
        good = done.returncode != 0 and "not every rank has come to a split in time" in done.stdout
    except subprocess.TimeoutExpired as late:
        done, good = late, False
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"{title}, a rank that does not come to a split: {done}", file=sys.stderr)
for number, (title, launcher, arguments, libraries, counts) in enumerate(launchers(build)):
    for how, words in [("late", "split: Timeout: MPI: not every rank has come to a split in time, soon"), ("slow", "split: all, soon"),
                       ("crossing", "split: all, soon")]:
        if not os.path.exists(launcher) or not (everything or ["late", "slow", "crossing"][number % 3] == how):
            continue
        command = [launcher, *arguments, "-n", "3", rank, "--short-split", how]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment(libraries))
            good = done.stdout.count(words) == 3
        except subprocess.TimeoutExpired as late:
            done, good = late, False
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"{title}, a rank with little time for a split ({how}): {done}", file=sys.stderr)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0)

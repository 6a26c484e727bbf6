#!/usr/bin/python3
"""A rank that is killed at each of its calls of MPI, under every launcher: nobody hangs, the launcher fails and says of it; where the library
goes on without ranks (Open MPI 5, mpirun --with-ft mpi), the others revoke, agree, shrink and have the right sums, though a second rank is
killed while they do.

    run_kill.py COMM_RANK BUILD-FOLDER [--all]

`make test` takes a few calls, --all each one until a rank that is never killed comes to its end, where looks for messages are counted too: of
calls above 60 it takes each eleventh."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from launchers import environment, launchers  # noqa: E402

rank, build = sys.argv[1:3]
everything = "--all" in sys.argv
passed = failed = skipped = 0


def run(command, libraries):
    """(exit status, what was said); a launcher that takes longer than its ranks' alarm has hung."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(libraries),
                          start_new_session=True) as child:
        try:
            said, _ = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            said, _ = child.communicate()
            return 124, said + "\nno end in 60 s"
        return child.returncode, said


def check(good, title, what, code, said):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"{title}, {what}: exit status {code}\n{said}", file=sys.stderr)


def calls(few):
    return [*range(60), *range(60, 4000, 11)] if everything else few


for number, (title, launcher, arguments, libraries, _) in enumerate(launchers(build)):
    if not os.path.exists(launcher):
        skipped += 1
        print(f"skipped: {title}: there is no {launcher}", file=sys.stderr)
        continue
    for at in calls([3 if number % 2 else 20]):
        code, said = run([launcher, *arguments, "-n", "3", rank, "--die", str(at)], libraries)
        if everything and code == 0 and said.count("all done") == 3:
            break
        # Rank 1 was killed, and the launcher says so: before it has begun MPI by its status alone (128 and the signal). What carries
        # MPICH's messages (UCX) ends the other ranks itself where it was reading the memory of that one.
        words = r"signal 9|signal: 9|EXIT CODE: 9|Killed|process_vm_readv.*No such process"
        check(code not in (0, 124) and (code == 137 or re.search(words, said) is not None), title, f"killed before call {at}", code, said)
    if title != "Open MPI 5":
        continue
    lose = [launcher, "--with-ft", "mpi", *arguments, "-n", "4", rank, "--lose"]
    for at in calls([9]):
        code, said = run([*lose, str(at)], libraries)
        if everything and said.count("goes on with 4") == 4:
            break
        check(code == 0 and said.count("goes on with 3") == 3, title, f"one of four killed before call {at}", code, said)
    for at in [*range(40)] if everything else [4]:
        code, said = run([*lose, "20", str(at)], libraries)
        check(code == 0 and (said.count("goes on with 2") == 2 or said.count("goes on with 3") == 3), title,
              f"another killed before call {at} of those that go on", code, said)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0)

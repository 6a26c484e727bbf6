#!/usr/bin/python3
"""Files, signals and memory of the command: limits of the file size, signals while outputs are written, closed descriptors, who may read what is
written, and every n-th call of the system (files, threads, memory) failing. No crash, no half-written target, nothing left beside it, a message.

    run.py [--long] [PART ...]    parts by the names of their functions; all of them without. --long: every call, without it some of them

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
FAILING = os.path.join(BUILD, "tests", "libfailing_calls.so")


class Folder:
    def __enter__(self):
        self.path = tempfile.mkdtemp()
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLOGRAM_")}
        self.environment.update(HOLOGRAM_JIT="off",  # glibc ends a process without memory for the thread-local data of a module that it loads
                                HOLOGRAM_CACHE_DIR=os.path.join(self.path, "cache"), HOLOGRAM_BACKEND="cpu", VK_DRIVER_FILES="none", VK_ICD_FILENAMES="none",
                                OCL_ICD_VENDORS="none")
        shutil.copy(os.path.join(SOURCE, "examples", "programs", "axpy.atlas"), self.path)
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def run(self, *arguments, before=None, **variables):
        return subprocess.run([COMMAND, *arguments], capture_output=True, cwd=self.path, env={**self.environment, **variables}, preexec_fn=before, timeout=100)

    def start(self, *arguments, **variables):
        return subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.path, env={**self.environment, **variables})

    def temporaries(self):
        return [name for name in os.listdir(self.path) if name.startswith(".hologram")]


AXPY = ["run", "axpy.atlas", "--set", "alpha=2", "--set", "x=1,2,3,4", "--set", "y=10,20,30,40"]
BIG = ["run", "big.atlas", "--set", "n=4000000", "--out", "x=big.npy"]
BIG_PROGRAM = """.atlas 1
.program big
.param r1 x buffer f32 out [n]
.param r4 n u64
.lanes 1
    mov_imm.u64 r5, 0
    mov_imm.f32 r6, 1.0
    stg.f32 [r1 + r5], r6
    exit
"""


def limits():
    """RLIMIT_FSIZE is an error of the write."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with Folder() as f:
        for arguments in [*AXPY, "--out", "y=y.npy"], [*AXPY, "--profile", "p.json"], ["asm", "axpy.atlas", "-o", "axpy.bin"], ["emit", "axpy.atlas", "--target", "c", "-o", "a.c"], \
                ["atlas", "table", "--svg", "t.svg"]:
            names = set(os.listdir(f.path))
            run = f.run(*arguments, before=limit)
            check(run.returncode in (1, 2) and run.stderr, f"{arguments} at a limit of the file size: {run}")
            check(set(os.listdir(f.path)) - names <= {"cache"}, f"{arguments} at a limit of the file size left {set(os.listdir(f.path)) - names}")
        with open(f.file("out"), "wb") as out:
            run = subprocess.run([COMMAND, "ops"], stdout=out, stderr=subprocess.PIPE, cwd=f.path, env=f.environment, preexec_fn=limit)
        check(run.returncode == 1 and b"X02" in run.stderr, f"standard output at a limit of the file size: {run}")


def signals():
    """Nothing is left of outputs that a signal ends, with and without files without names."""
    with Folder() as f:
        with open(f.file("big.atlas"), "w") as out:
            out.write(BIG_PROGRAM)
        run = f.run(*BIG)
        check(run.returncode == 0 and os.path.getsize(f.file("big.npy")) == 16000128, f"undisturbed: {run}")
        ended = 0
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            for more in {}, {"LD_PRELOAD": FAILING, "NO_UNNAMED": "1"}:
                for exists in False, True:
                    if not exists:
                        os.remove(f.file("big.npy"))
                    for step in range(4):
                        process = f.start(*BIG, **more)
                        time.sleep(0.01 + 0.03 * step)
                        process.send_signal(number)
                        status = process.wait(timeout=100)
                        ended += status == -number
                        check(status in (0, -number), f"signal {number}: status {status}")
                        check(not f.temporaries(), f"signal {number} {more}: left {f.temporaries()}")
                        there = os.path.exists(f.file("big.npy"))
                        check((there or not exists) and (not there or os.path.getsize(f.file("big.npy")) == 16000128), f"signal {number}: a whole target")
                    if not os.path.exists(f.file("big.npy")):
                        f.run(*BIG)
        check(ended > 0, "some were ended by the signal")
        ignoring = subprocess.Popen([COMMAND, *BIG], stdout=subprocess.DEVNULL, cwd=f.path, env=f.environment,
                                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.01)
        ignoring.send_signal(signal.SIGHUP)
        check(ignoring.wait(timeout=100) == 0, "a signal that is ignored stays ignored")


def secrets():
    """What replaces a file that only its owner may read is never readable by others, and ends with the file's mode."""
    with Folder() as f:
        with open(f.file("big.atlas"), "w") as out:
            out.write(BIG_PROGRAM)
        for mode in 0o600, 0o640:
            with open(f.file("big.npy"), "w"):
                pass
            os.chmod(f.file("big.npy"), mode)
            seen = set()
            process = f.start(*BIG, LD_PRELOAD=FAILING, NO_UNNAMED="1")
            while process.poll() is None:
                for name in f.temporaries():
                    try:
                        seen.add(stat.S_IMODE(os.stat(f.file(name)).st_mode))
                    except FileNotFoundError:
                        pass
            check(process.returncode == 0 and seen <= {0o600, mode}, f"seen with modes {[oct(m) for m in seen]}")
            check(stat.S_IMODE(os.stat(f.file("big.npy")).st_mode) == mode, "the mode of the file that was replaced")
        os.remove(f.file("big.npy"))
        for unnamed in {}, {"LD_PRELOAD": FAILING, "NO_UNNAMED": "1"}:
            f.run(*BIG, before=lambda: os.umask(0o027), **unnamed)
            check(stat.S_IMODE(os.stat(f.file("big.npy")).st_mode) == 0o640, "a new file has what umask leaves")
            os.remove(f.file("big.npy"))


def descriptors():
    """The first files are not given the numbers of closed standard streams."""
    with Folder() as f:
        for closed in (0,), (1,), (2,), (0, 1, 2):
            run = subprocess.run([COMMAND, "emit", "axpy.atlas", "--target", "kir", "-o", "axpy.bin"], cwd=f.path, env=f.environment, close_fds=False,
                                 preexec_fn=lambda: [os.close(i) for i in closed])
            check(run.returncode == 0 and os.path.getsize(f.file("axpy.bin")) > 100, f"without {closed}: {run}")
            os.remove(f.file("axpy.bin"))
        run = subprocess.run([COMMAND, "ops"], stderr=subprocess.PIPE, env=f.environment, preexec_fn=lambda: os.close(1))
        check(run.returncode == 1 and b"X02" in run.stderr, f"a closed standard output is an error: {run}")
        run = subprocess.run([COMMAND, "verify", "-"], stderr=subprocess.PIPE, env=f.environment, preexec_fn=lambda: os.close(0))
        check(run.returncode == 2 and b"P06" in run.stderr, f"a closed standard input is an error: {run}")


COMMANDS = [([*AXPY, "--out", "y=y.npy"], ["y.npy"]), ([*AXPY, "--profile", "p.json"], ["p.json", "p.json.txt"]), (["asm", "axpy.atlas", "-o", "a.bin"], ["a.bin"]),
            (["disasm", "axpy.atlas", "-o", "a.txt"], ["a.txt"]), (["emit", "axpy.atlas", "--target", "c", "-o", "a.c"], ["a.c"]), (["verify", "axpy.atlas"], []),
            (["atlas", "table", "--svg", "t.svg"], ["t.svg"]), (["circuit", "words", "-e", "mark@c21"], []), (["devices"], []), (["version"], []),
            (["diff", "axpy.atlas", "--set", "alpha=2", "--set", "x=1,2", "--set", "y=1,2", "--backend", "cpu", "--against", "cpu"], []), ([*AXPY, "--json"], [])]


def attempts(count, most, long):
    return range(1, count + 1) if long or count <= most else sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def is_profile(path):
    """Two profiles are never equal, and a run that failed has a short one."""
    try:
        with open(path) as file:
            text = file.read()
        return bool(json.loads(text)) if path.endswith(".json") else text.count("\n") > 1
    except (FileNotFoundError, ValueError):
        return False


def each_failure(variable, index, most, long, extra):
    for arguments, outputs in COMMANDS:
        for old in (None, b"old") if outputs else (None,):
            with Folder() as f:
                def reset():
                    shutil.rmtree(f.file("cache"), ignore_errors=True)
                    for name in outputs:
                        if old is not None:
                            with open(f.file(name), "wb") as out:
                                out.write(old)
                        elif os.path.exists(f.file(name)):
                            os.remove(f.file(name))

                reset()
                run = f.run(*arguments, LD_PRELOAD=FAILING, FAIL_COUNT=f.file("count"), **extra)
                check(run.returncode == 0, f"{arguments}: {run}")
                if run.returncode:
                    continue
                with open(f.file("count")) as count:
                    total = int(count.read().split()[index])
                check(total > 2 or not outputs, f"{arguments}: {total} calls were seen")
                whole = {name: os.path.getsize(f.file(name)) for name in outputs}
                os.remove(f.file("count"))
                for n in attempts(total, most, long):
                    reset()
                    run = f.run(*arguments, LD_PRELOAD=FAILING, **{variable: str(n)}, **extra)
                    what = f"{variable}={n} {extra} {' '.join(arguments)}: "
                    check(0 <= run.returncode <= 3, what + f"status {run.returncode} {run.stderr[-200:]}")
                    check(run.returncode == 0 or run.stderr or (run.stdout and "--json" in arguments), what + f"status {run.returncode} without a word")
                    check(not f.temporaries(), what + f"left {f.temporaries()}")
                    for name in outputs:
                        size = os.path.getsize(f.file(name)) if os.path.exists(f.file(name)) else None
                        near = size == whole[name] or (name.startswith("p.") and is_profile(f.file(name)))
                        before = size == (None if old is None else len(old))
                        check(near or (before and run.returncode != 0), what + f"{name} has {size} bytes, whole {whole[name]}, status {run.returncode}")


def calls(long=False):
    """Each call about files and threads fails."""
    for extra in {}, {"NO_UNNAMED": "1"}:
        each_failure("FAIL_CALL", 0, 40, long, extra)


def memory(long=False):
    """All allocations from the n-th on fail: there is a message all the same. A library with thread-local data, such as oneDNN's, is not opened: the C
    library ends the process where it gets no memory for that."""
    each_failure("FAIL_ALLOC", 1, 15, long, {"HOLOGRAM_VENDOR": "off"})


def main():
    long = "--long" in sys.argv
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    if not os.path.exists(FAILING):
        skip("libfailing_calls.so is not built")
    else:
        for part in (limits, signals, secrets, descriptors, calls, memory):
            if not wanted or part.__name__ in wanted:
                part(long) if part in (calls, memory) else part()
    return finish()


sys.exit(main())

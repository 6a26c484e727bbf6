#!/usr/bin/python3
"""`hologram run --steps --checkpoint` and `hologram stream --checkpoint`: what comes of a run that is ended by SIGKILL at each call that touches files, and goes on with another number of ranks,
is what NumPy works out; a checkpoint that is damaged, cut off or of something else is refused.

    run_checkpoint.py HOLOGRAM SOURCE-FOLDER"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")]
import checks  # noqa: E402
from checks import check  # noqa: E402
from launchers import environment, launchers  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())

HOLOGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# Arrays that ranks share along either axis, one that each has whole, one that is only written.
WALK = """.atlas 1
.program walk
.param x buffer f32 inout [n, 3]
.param z buffer i32 inout [2, n]
.param own buffer i64 inout [1]
.param sum buffer i64 inout [1]
.param y buffer f32 out [n]
.param step u64
.param n u64
.lanes n
    x[global, 0] = x[global, 0] * 1.25 + f32(step)
    x[global, 1] = x[global, 1] - x[global, 0] * 0.5
    z[1, global] = z[1, global] * 3 + i32(z[0, global])
    y[global] = x[global, 1] + f32(step)
    let before = atom.add(own[0], i64(z[1, global]))
all_reduce.i64 buffer=own, n=1, operation=sum
    if global == 0 {
        sum[0] = sum[0] * 3 + own[0]
        own[0] = 0
    }
"""
# SIGKILL at the n-th call that a checkpoint makes.
KILLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int calls;
static void count(void) {
    const char *text = getenv("KILL_AT");
    if (text && __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == atoi(text)) kill(getpid(), SIGKILL);
}
#define NEXT(result, name, parameters, arguments) \
    result name parameters { result (*next) parameters = dlsym(RTLD_NEXT, #name); count(); return next arguments; }
NEXT(int, fsync, (int file), (file))
NEXT(int, rename, (const char *from, const char *to), (from, to))
NEXT(int, link, (const char *from, const char *to), (from, to))
NEXT(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
NEXT(int, unlink, (const char *name), (name))
NEXT(ssize_t, write, (int file, const void *data, size_t length), (file, data, length))
NEXT(ssize_t, pwrite, (int file, const void *data, size_t length, off_t at), (file, data, length, at))
NEXT(int, ftruncate, (int file, off_t length), (file, length))
"""
ROWS, STEPS = 7, 4
X = (np.arange(ROWS * 3, dtype=np.float32).reshape(ROWS, 3) * 37) % 11
Z = (np.arange(2 * ROWS, dtype=np.int32).reshape(2, ROWS) * 7919) % 101


def oracle(steps):
    x, z, total = X.copy(), Z.copy(), 0
    y = np.zeros(ROWS, np.float32)
    for step in range(steps):
        x[:, 0] = x[:, 0] * np.float32(1.25) + np.float32(step)
        x[:, 1] = x[:, 1] - x[:, 0] * np.float32(0.5)
        z[1] = z[1] * np.int32(3) + z[0]
        y = x[:, 1] + np.float32(step)
        total = total * 3 + int(z[1].sum())
    return {"x": x, "z": z, "y": y}, total


def run(*arguments, before=(), ranks=0, steps=STEPS, libraries="", kill=None, program="walk.atlas", more=("--checkpoint", "c.bin")):
    shared = ["--ranks", str(ranks)] if ranks else []
    files = [word for name, axis in (("x", 0), ("z", 1)) for word in ("--in", f"{name}={name}.npy:shard={axis}", "--out", f"{name}=o{name}.npy:shard={axis}")]
    variables = environment(libraries)
    if kill is not None:
        variables.update(LD_PRELOAD=os.path.abspath("killer.so"), KILL_AT=str(kill))
    return subprocess.run([*before, HOLOGRAM, "run", program, *shared, *files, "--out", "y=oy.npy:shard=0", "--set", "step=@step", "--steps", str(steps), *more, *arguments],
                          capture_output=True, text=True, timeout=120, env=variables, stdin=subprocess.DEVNULL)


def good(done, steps, what):
    arrays, total = oracle(steps)
    same = done.returncode == 0 and f"sum i64[1] = {total}\n" in done.stdout and all(np.array_equal(np.load(f"o{name}.npy"), value) for name, value in arrays.items())
    check(same, f"{what}: {done.returncode} {done.stdout}{done.stderr}, expected {total}")
    for name in arrays:
        if os.path.exists(f"o{name}.npy"):
            os.unlink(f"o{name}.npy")


def remove(name="c.bin"):
    if os.path.exists(name):
        os.unlink(name)


def whole_runs():
    for ranks in 0, 1, 2, 3:
        good(run(ranks=ranks, more=()), STEPS, f"{ranks} ranks, no checkpoint")
        remove()
        good(run(ranks=ranks), STEPS, f"{ranks} ranks")
        good(run(ranks=(ranks + 1) % 4), STEPS, f"{ranks} ranks, once more")  # nothing is left to be done
        good(run(ranks=(ranks + 2) % 4, steps=9), 9, f"{ranks} ranks, then {(ranks + 2) % 4}")
    remove()
    done = run("--every", "3", "--progress", ranks=2, steps=7)
    good(done, 7, "every third")
    check(done.stderr.splitlines()[-1:] == ["step 7 of 7"] and done.stderr.count("step 7") == 1, f"progress: {done.stderr}")


def killed():
    if subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "killer.so", "-x", "c", "-", "-ldl"], input=KILLER, text=True).returncode:
        checks.skip("there is no compiler for what kills the runs")
        return
    if "runtime does not come first" in run(ranks=1, kill=1000000).stderr:
        checks.skip("a sanitizer takes nothing before itself: no run is killed")
        os.unlink("killer.so")
        return
    for at in range(1, 200):
        remove()
        done = run(ranks=2, kill=at)
        if done.returncode == 0:
            check(at > 5 * STEPS, f"a run of {at} calls")
            break
        check(done.returncode == -9, f"killed at call {at}: {done.returncode} {done.stderr}")
        good(run(ranks=1 + at % 3), STEPS, f"killed at call {at}, then {1 + at % 3} ranks")
    else:
        check(False, "the run does not end")


def refused():
    remove()
    good(run(ranks=2), STEPS, "before it is damaged")
    with open("c.bin", "rb") as file:
        whole = file.read()
    damages = [(f"byte {at}", whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:]) for at in range(0, len(whole), max(1, len(whole) // 23))]
    damages += [(f"{length} bytes", whole[:length]) for length in (0, 7, 8, 40, len(whole) // 2, len(whole) - 1)] + [("one byte more", whole + b"\0")]
    for what, data in damages:
        with open("c.bin", "wb") as file:
            file.write(data)
        done = run(ranks=2)
        check(done.returncode == 2 and ("the checkpoint is damaged" in done.stderr or "is no checkpoint" in done.stderr) and "c.bin" in done.stderr, f"{what}: {done.returncode} {done.stderr}")
        with open("c.bin", "rb") as file:
            check(file.read() == data, f"{what}: the file is as it was")
    with open("c.bin", "wb") as file:
        file.write(whole)
    with open("other.atlas", "w", encoding="utf-8") as file:
        file.write(WALK.replace("1.25", "1.5"))
    with open("pool.atlas", "w", encoding="utf-8") as file:
        file.write(".atlas 1\n.program p\n.param x buffer f32 inout [n, 3]\n.param q pool 4096\n.param n u64\n.lanes n\n    x[global, 0] = 1.0\n")
    np.save("x.npy", X[:5])
    np.save("z.npy", Z[:, :5])
    for what, done, words in (("another program", run(ranks=1, program="other.atlas"), "another program"), ("fewer rows", run(ranks=1), "array 'x' is f32[7, 3] in the checkpoint, here f32[5, 3]")):
        check(done.returncode == 2 and words in done.stderr, f"{what}: {done.returncode} {done.stderr}")
    np.save("x.npy", X)
    np.save("z.npy", Z)
    for what, done, words in (("fewer steps", run(steps=2), "is of step 4, --steps says 2"), ("no step", run(steps=0), "--steps: at least 1"), ("every 0", run("--every", "0"), "--every: at least 1"),
                              ("every without a checkpoint", run("--every", "2", more=()), "give --checkpoint FILE"),
                              ("a pool", subprocess.run([HOLOGRAM, "run", "pool.atlas", "--in", "x=x.npy", "--steps", "2", "--checkpoint", "p.bin"], capture_output=True, text=True), "in a pool"),
                              ("no steps", subprocess.run([HOLOGRAM, "run", "pool.atlas", "--in", "x=x.npy", "--checkpoint", "p.bin"], capture_output=True, text=True), "give --steps N"),
                              ("a folder that is not there", run("--every", "2", more=("--checkpoint", "none/c.bin")), "none/c.bin")):
        check(done.returncode in (1, 2) and words in done.stderr, f"{what}: {done.returncode} {done.stderr}")
    done = run(steps=1000000000000, more=("--every", "1000000000000", "--checkpoint", "none/c.bin"))
    check(done.returncode in (1, 2) and "none/c.bin" in done.stderr, f"a folder that is not there, before the first step: {done.returncode} {done.stderr}")
    remove()
    done = run("--out", "sum=s.npy:shard=1", ranks=2)
    check(done.returncode in (1, 2) and "--out sum: it has no axis 1" in done.stderr and not os.path.exists("c.bin"), f"an axis that is not there, before the first step: {done.returncode} {done.stderr}")
    for what, done, words in (("standard output", run(more=("--checkpoint", "-")), "the name of a file is expected, got '-'"),):
        check(done.returncode in (1, 2) and words in done.stderr and "HGCHECK" not in done.stdout, f"{what}: {done.returncode} {done.stderr}")
    with open("steps.atlas", "w", encoding="utf-8") as file:
        file.write(".atlas 1\n.program s\n.param x buffer i64 inout [1]\n.param s u8\n.param t i8\n.param m u64 = 1\n.lanes m\n    x[0] = x[0] + i64(s) - i64(t)\n")
    for words, numbers, steps in (("x i64[1] = 0", ("s=@step", "t=@step"), 128), ("t=@step: i8 has no number for the last of 129 steps", ("s=@step", "t=@step"), 129),
                                  ("x i64[1] = 32640", ("s=@step", "t=0"), 256), ("s=@step: u8 has no number for the last of 257 steps", ("s=@step", "t=0"), 257),
                                  ("m=@step: lanes or the shape of an array depend on it", ("s=0", "t=0", "m=@step"), 2)):
        done = subprocess.run([HOLOGRAM, "run", "steps.atlas", "--set", "x=0", *(word for one in numbers for word in ("--set", one)), "--steps", str(steps)], capture_output=True, text=True, timeout=60)
        check(words in done.stdout + done.stderr, f"{words}: {done.returncode} {done.stdout}{done.stderr}")
    remove()
    with open("rank.atlas", "w", encoding="utf-8") as file:
        file.write(".atlas 1\n.program r\n.param x buffer f32 inout [1]\n.param r u64\n.lanes 1\n    x[0] = f32(r)\n")
    done = subprocess.run([HOLOGRAM, "run", "rank.atlas", "--ranks", "2", "--set", "r=@rank", "--steps", "2", "--checkpoint", "c.bin"], capture_output=True, text=True)
    check(done.returncode == 2 and "of rank 1 is not that of rank 0" in done.stderr and not os.path.exists("c.bin"), f"arrays of ranks: {done.stderr}")


def launched():
    for title, launcher, arguments, libraries, counts in launchers(os.path.join(SOURCE, "build")):
        if not os.path.exists(launcher):
            checks.skip(f"{title}: there is no {launcher}")
            continue
        remove()
        good(run(ranks=1, steps=2), 2, "two steps")
        good(run(before=[launcher, *arguments, "-n", str(counts[-1])], ranks=counts[-1], libraries=libraries), STEPS, f"{title} goes on")
        good(run(ranks=2, steps=6), 6, f"goes on behind {title}")


SUMS = """.atlas 1
.program sums
.param x buffer i32 in [n]
.param y buffer i32 out [n]
.param total buffer i32 inout [2]
.param n u64
.lanes 1
    for i in 0 .. n {
        total[0] = total[0] + x[i]
        y[i] = total[0] * 3 + total[1]
    }
    total[1] = total[1] + 1
"""
ROWS_OF_CHUNK = 16


def stream(out, *arguments, kill=None, source="in.bin", before=""):
    """Appends to a file; the input is a file, or comes from a pipe."""
    variables = dict(os.environ)
    if kill is not None:
        variables.update(LD_PRELOAD=os.path.abspath("killer.so"), KILL_AT=str(kill))
    with open(source, "rb") as file, open(out, "ab") as end:
        given = {"input": file.read()} if before == "pipe" else {"stdin": file}
        done = subprocess.run([HOLOGRAM, "stream", "sums.atlas", "--pool", "192", *arguments], stdout=end, stderr=subprocess.PIPE, timeout=60, env=variables, **given)
    return done.returncode, done.stderr.decode()


def streams():
    """A stream that is ended at each call goes on: the output is that of one run."""
    with open("sums.atlas", "w", encoding="utf-8") as file:
        file.write(SUMS)
    for count in 100, 96, 0:
        x = (np.arange(count, dtype=np.int32) * 7919) % 1009
        x.tofile("in.bin")
        wanted = (np.cumsum(x) * 3 + np.arange(count) // ROWS_OF_CHUNK).astype(np.int32)
        last = f"total i32[2] = {x.sum()} {-(-count // ROWS_OF_CHUNK)}"
        for arguments in ([], ["--checkpoint", "s.bin"], ["--checkpoint", "s.bin", "--every", "4"]):
            for at in ([None] if not arguments or not os.path.exists("killer.so") or count != 100 else [None, *range(1, 300, 1 if len(arguments) == 2 else 5)]):
                remove("s.bin")
                remove("out.bin")
                if len(arguments) == 4:  # behind what is there
                    with open("out.bin", "wb") as file:
                        file.write(b"head")
                status, said = stream("out.bin", *arguments, kill=at)
                ended = status == 0
                if not ended:
                    check(status == -9, f"{arguments} killed at {at}: {status} {said}")
                    status, said = stream("out.bin", *arguments, before="pipe" if at % 2 else "")
                with open("out.bin", "rb") as file:
                    got = file.read()
                head = 4 * (len(arguments) == 4)
                check(status == 0 and np.array_equal(np.frombuffer(got[head:], np.int32), wanted) and got[:head] == b"head"[:head] and last in said,
                      f"{count} numbers, {arguments}, killed at {at}: {status} {said}, {len(got)} bytes, expected {last}")
                if ended and at is not None:
                    check(at > 20, f"{arguments}: a run of {at} calls")
                    break
    x = np.arange(100, dtype=np.int32)
    x.tofile("in.bin")
    remove("s.bin")
    remove("out.bin")
    status, said = stream("out.bin", "--checkpoint", "s.bin")
    check(status == 0, f"before mistakes: {said}")
    x[:50].tofile("short.bin")
    for what, (status, said), words in (("another output", stream("new.bin", "--checkpoint", "s.bin"), "append to what it was"), ("a short input", stream("out.bin", "--checkpoint", "s.bin", source="short.bin"), "standard input ends before byte 400"),
                                        ("no output file", stream("/dev/null", "--checkpoint", "s.bin"), "is no file"), ("every 0", stream("out.bin", "--checkpoint", "s.bin", "--every", "0"), "--every: at least 1"),
                                        ("every alone", stream("out.bin", "--every", "2"), "give --checkpoint FILE"), ("standard output", stream("out.bin", "--checkpoint", "-"), "got '-'"),
                                        ("a step", stream("out.bin", "--set", "n=@step"), "a stream has no steps")):
        check(status in (1, 2) and words in said, f"{what}: {status} {said}")
    x.tofile("x.raw")
    whole = ["--in", "x=raw:x.raw", "--steps", "2", "--checkpoint"]
    with open("state.atlas", "w", encoding="utf-8") as file:
        file.write(SUMS.replace(".param y buffer i32 out [n]\n", "").replace("        y[i] = total[0] * 3 + total[1]\n", ""))
    for first, then, words in ((["run", *whole, "r.bin"], ["stream", "--checkpoint", "r.bin"], "of a run, not of a stream"),
                               (["stream", "--checkpoint", "t.bin"], ["run", *whole, "t.bin"], "the checkpoint is of a stream")):
        said = []
        for command, *arguments in first, then:
            with open("in.bin", "rb") as file:
                said.append(subprocess.run([HOLOGRAM, command, "state.atlas", *arguments], stdin=file, capture_output=True, text=True, timeout=60))
        check(said[0].returncode == 0 and said[1].returncode in (1, 2) and words in said[1].stderr, f"{words}: {said}")
    with open("s.bin", "r+b") as file:
        file.seek(30)
        file.write(b"?")
    status, said = stream("out.bin", "--checkpoint", "s.bin")
    check(status == 2 and "the checkpoint is damaged" in said, f"a damaged one: {status} {said}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("walk.atlas", "w", encoding="utf-8") as file:
        file.write(WALK)
    np.save("x.npy", X)
    np.save("z.npy", Z)
    whole_runs()
    killed()
    refused()
    streams()
    launched()
    os.chdir("/")
sys.exit(checks.finish())

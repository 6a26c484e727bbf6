#!/usr/bin/python3
"""`hologram run --ranks`: threads and every launcher of MPI print and write the same, which NumPy works out; errors name the rank.

    run_command.py HOLOGRAM BUILD-FOLDER"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")]
import checks  # noqa: E402
from launchers import environment, launchers  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())

HOLOGRAM, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PROGRAM = """.atlas 1
.program p
.param x buffer i32 in [n, 3]
.param y buffer i32 out [n, 3]
.param most buffer i32 inout [3]
.param r u32
.param p u32
.param n u64
.lanes [i < n, j < 3]
    y[i, j] = x[i, j] * i32(p) + i32(r)
    let before = atom.max(most[j], x[i, j])
all_reduce.i32 buffer=most, n=3, operation=max
"""
GATHER = """.atlas 1
.program g
.param own buffer i32 inout [2]
.param all buffer i32 out [p, 2]
.param p u64
broadcast.i32 buffer=own, n=1, root=0
all_gather.i32 output=all, input=own, n=2
"""
GRAPH = """.graph 1
.extent n
.input x f32 [n]
a = parallel_map abs, in=x
t f32 [1] = parallel_reduce max, in=a
s = all_reduce buffer=t, operation=max
.output s
"""


def part(extent, ranks, rank):
    size = -(-extent // ranks)
    return slice(min(extent, rank * size), min(extent, (rank + 1) * size))


def run(before, *arguments, libraries=""):
    try:
        return subprocess.run([*before, HOLOGRAM, "run", *arguments], capture_output=True, text=True, timeout=60, env=environment(libraries), stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, 124, "", f"no end in {late.timeout} s")


def check_ranks(title, before, ranks, libraries):
    def say(what):
        return f"{title}, {ranks} ranks: {what}"
    share = ["--ranks", str(ranks)] if ranks else []
    count = max(ranks, 1)
    for rows in 10, 1, 0:
        x = (np.arange(rows * 3, dtype=np.int32).reshape(rows, 3) * 7919) % 1000
        np.save("x.npy", x)
        done = run(before, "p.atlas", *share, "--in", "x=x.npy:shard=0", "--set", "r=@rank", "--set", "p=@ranks", "--out", "y=y.npy:shard=0", libraries=libraries)
        if rows == 1 and count > 1:
            checks.check(done.returncode != 0 and "rank 1 has no lanes" in done.stderr, say(f"too few rows: {done.stderr}"))
            continue
        expected = np.concatenate([x[part(rows, count, r)] * count + r for r in range(count)])
        most = " ".join(str(v) for v in (x.max(0) if rows else [0, 0, 0]))
        checks.check(done.returncode == 0 and f"most i32[3] = {most}\n" in done.stdout and done.stdout.count("most") == 1, say(f"{rows} rows: {done.stdout}{done.stderr}"))
        checks.check(os.path.exists("y.npy") and np.array_equal(np.load("y.npy"), expected), say(f"{rows} rows: the file"))
        if os.path.exists("y.npy"):
            os.unlink("y.npy")
    np.save("own.npy", np.arange(2 * count, dtype=np.int32) * 5 + 3)
    done = run(before, "g.atlas", *share, "--in", "own=own.npy:shard=0", "--set", "p=@ranks", libraries=libraries)
    own = np.load("own.npy").reshape(count, 2)
    own[:, 0] = own[0, 0]
    checks.check(f"all i32[{count}, 2] = {' '.join(str(v) for v in own.ravel()[:16])}" in done.stdout, say(f"gathered: {done.stdout}{done.stderr}"))
    values = np.linspace(-9, 5, 17, dtype=np.float32)
    np.save("v.npy", values)
    done = run(before, "g.graph", *share, "--in", "x=v.npy:shard=0", libraries=libraries)
    checks.check(done.stdout.strip() == "s f32[1] = 9.0", say(f"a graph: {done.stdout}{done.stderr}"))
    if ranks < 2:
        return
    os.mkfifo("trace")
    pipe = os.open("trace", os.O_RDWR | os.O_NONBLOCK)
    done = run(before, "g.graph", *share, "--in", "x=v.npy:shard=0", "--profile", "trace", libraries=libraries)
    written = os.read(pipe, 1 << 16).count(b"displayTimeUnit")
    checks.check(done.returncode == 0 and written == 1, say(f"profiles written: {written}, {done.stderr}"))
    os.close(pipe)
    os.unlink("trace")
    if ranks == 2:
        os.environ["HOLOGRAM_TIMEOUT_MS"] = "5"
        done = run(before, "wide.atlas", *share, "--set", f"n={1 << 26}", "--timeout", "20000", "--out", "y=wide.npy:shard=0", libraries=libraries)
        del os.environ["HOLOGRAM_TIMEOUT_MS"]
        checks.check(done.returncode == 0 and os.path.getsize("wide.npy") == ranks * (1 << 26) + 128, say(f"rank 0 writes longer than a launch may take: {done.stderr}"))
    done = run(before, "far.atlas", *share, "--in", "x=v.npy:shard=0", "--set", "r=@rank", libraries=libraries)
    checks.check(done.returncode != 0 and "x f32" not in done.stdout and f"rank {ranks - 1}: far.atlas:7:" in done.stderr and "fault[F01]" in done.stderr and "operand" in done.stderr, say(f"a fault: {done.stdout}{done.stderr}"))
    done = run(before, "uneven.atlas", *share, "--in", "x=v.npy:shard=0", libraries=libraries)
    checks.check(done.returncode != 0 and "ranks call different things" in done.stderr, say(f"uneven: {done.stderr}"))


def main():
    for name, text in {"p.atlas": PROGRAM, "g.atlas": GATHER, "g.graph": GRAPH,
                       "far.atlas": ".atlas 1\n.program far\n.param x buffer f32 inout [n]\n.param r u64\n.param n u64\n.lanes n\n    x[global] = x[global + r / RANKS]\n",
                       "wide.atlas": ".atlas 1\n.program w\n.param y buffer u8 out [n]\n.param n u64\n.lanes 1\n    y[0] = 1\n",
                       "uneven.atlas": ".atlas 1\n.program u\n.param x buffer f32 inout [n]\n.param n u64\nall_reduce buffer=x, n=n, operation=sum\n"}.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    wanted = [("threads", [], n, "") for n in (0, 1, 2, 3, 5)]
    for title, launcher, arguments, libraries, counts in launchers(BUILD):
        if not os.path.exists(launcher):
            checks.skip(f"{title}: there is no {launcher}")
            continue
        wanted += [(title, [launcher, *arguments, "-n", str(n)], n, libraries) for n in counts[-1:]]
    for title, before, ranks, libraries in wanted:
        with open("far.atlas", "w", encoding="utf-8") as file:
            file.write(f".atlas 1\n.program far\n.param x buffer f32 inout [n]\n.param r u64\n.param n u64\n.lanes n\n    x[global] = x[global + r / {max(ranks - 1, 1)}]\n")
        check_ranks(title, before, ranks, libraries)
    for arguments, words in ((["--ranks", "0"], "1 to 256"), (["--ranks", "257"], "up to 256"), (["--ranks", "2", "--in", "x=-"], "one standard input"),
                             (["--ranks", "2", "--in", "x=x.npy:shard=1"], "along its first axis"), (["--ranks", "2", "--in", "x=none.npy:shard=0"], "none.npy"),
                             (["--ranks", "2", "--set", "x=1,2,3", "--out", "y=y.npy:shard=7", "--set", "r=0", "--set", "p=1"], "along its first axis")):
        done = run([], "p.atlas", *arguments)
        checks.check(done.returncode in (1, 2) and words in done.stderr and done.stderr.count("error") <= 2, f"{arguments}: {done.returncode} {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
sys.exit(checks.finish())

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
    for rows in (10, 1):
        values = np.arange(rows, dtype=np.float32) + 0.5
        np.save("v1.npy", values)
        done = run(before, "-e", "copy@c05->c06", *share, "--in", "c05=v1.npy:shard=0", "--out", "c06=c.npy:shard=0", libraries=libraries)
        checks.check(done.returncode == 0 and os.path.exists("c.npy") and np.array_equal(np.load("c.npy"), values), say(f"a circuit of {rows} elements: {done.stdout}{done.stderr}"))
        os.path.exists("c.npy") and os.unlink("c.npy")
    done = run(before, "-e", "copy@c05->c06", *share, "--in", "c05=v1.npy:shard=0", "--out", "c06=c.npy:shard=0", "--hash", libraries=libraries)
    checks.check(done.stdout == run([], "-e", "copy@c05->c06", "--in", "c05=v1.npy", "--hash").stdout, say(f"its hash: {done.stdout}{done.stderr}"))
    check_axes(before, share, count, libraries, say)
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


def check_axes(before, share, count, libraries, say):
    """Parts along every axis, and of graphs in which something is placed: files are what NumPy has, hashes those of the files."""
    def done(*arguments):
        return run(before, *arguments, libraries=libraries)
    whole = (np.arange(2 * 7 * 3, dtype=np.int32).reshape(2, 7, 3) * 7919) % 1000
    np.save("axes.npy", whole)
    for axis in (0, 1, 2) if count == 2 and not before else (1, ):
        ended = done("axes.atlas", *share, "--in", f"x=axes.npy:shard={axis}", "--out", f"y=y.npy:shard={axis}", "--hash")
        if whole.shape[axis] <= (count - 1) * -(-whole.shape[axis] // count):
            checks.check(ended.returncode != 0 and "has no lanes" in ended.stderr, say(f"axis {axis}: {ended.stderr}"))
            continue
        checks.check(ended.returncode == 0 and np.array_equal(np.load("y.npy"), -whole), say(f"axis {axis}: {ended.stdout}{ended.stderr}"))
        alone = run([], "axes.atlas", "--in", "x=axes.npy", "--hash")
        checks.check("y i32[2, 7, 3] blake3 " in alone.stdout and ended.stdout.strip() == alone.stdout.strip(), say(f"axis {axis}: {ended.stdout}, alone {alone.stdout}"))
    random = np.random.default_rng(3)
    for name, shape in {"gx": (7, 6), "gw": (6, 10), "gv": (10, 4)}.items():
        np.save(f"{name}.npy", random.integers(-9, 9, shape).astype(np.float32))
    given = ["--in", "x=gx.npy", "--in", "w=gw.npy", "--in", "v=gv.npy"]
    h = np.load("gx.npy") @ np.load("gw.npy")
    expected = {"h": h, "y": h @ np.load("gv.npy")}
    alone = run([], "net.graph", *given, "--hash").stdout
    for places in ([], ["--place", "x=0", "--place", "w=whole"], ["--place", "w=whole", "--place", "v=split 0"], ["--place", "h=split 0 at (" + ", ".join("3" * (count - 1)) + ")"] if count > 1 else ["--place", "h=0"])[:1 if before else 4]:
        ended = done("net.graph", *share, *given, *places, "--out", "h=h.npy", "--hash")
        checks.check(ended.returncode == 0 and ended.stdout.strip() == alone.strip() and np.array_equal(np.load("h.npy"), h), say(f"{places}: {ended.stdout}{ended.stderr}, alone {alone}"))
        if before:
            return
        ended = done("net.graph", *share, *given, *places, "--out", "all.npz")
        checks.check(ended.returncode == 0 and all(np.array_equal(np.load("all.npz")[k], v) for k, v in expected.items()), say(f"{places}, an archive: {ended.stderr}"))
    ended = done("net.graph", *share, *given)
    checks.check("y f32[7, 4] = " + " ".join(str(v) for v in expected["y"].ravel()[:16]) + " … 12 more" in ended.stdout, say(f"printed: {ended.stdout}{ended.stderr}"))
    if share:
        ended = done("net.graph", *share, "--in", "x=gx.npy:shard=0", *given[2:])
        checks.check(ended.returncode != 0 and "files are whole" in ended.stderr, say(f"a part of a placed graph: {ended.stderr}"))


def main():
    for name, text in {"p.atlas": PROGRAM, "g.atlas": GATHER, "g.graph": GRAPH,
                       "far.atlas": ".atlas 1\n.program far\n.param x buffer f32 inout [n]\n.param r u64\n.param n u64\n.lanes n\n    x[global] = x[global + r / RANKS]\n",
                       "axes.atlas": ".atlas 1\n.program axes\n.param x buffer i32 in [a, b, c]\n.param y buffer i32 out [a, b, c]\n.param a u64\n.param b u64\n.param c u64\n"
                                     ".lanes [i < a, j < b, k < c]\n    y[i, j, k] = -x[i, j, k]\n",
                       "net.graph": ".graph 1\n.extent b\n.input x f32 [b, 6]\n.constant w f32 [6, 10] split 1\n.constant v f32 [10, 4]\nh = gemm a=x, b=w\ny = gemm a=h, b=v\n.output h\n.output y\n",
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
                             (["--ranks", "2", "--in", "x=x.npy:shard=2"], "no axis 2"), (["--ranks", "2", "--in", "x=x.npy:shard=8"], "along an axis, 0 to 7"), (["--ranks", "2", "--in", "x=x.npy:shard=y"], "along an axis"), (["--ranks", "2", "--in", "x=none.npy:shard=0"], "none.npy"), (["--hash", "--out", "y=-"], "--hash and an output on standard output"),
                             (["--ranks", "2", "--set", "x=1,2,3", "--out", "y=y.npy:shard=2", "--set", "r=0", "--set", "p=1"], "no axis 2"), (["--ranks", "2", "--place", "x=0"], "--place is for array graphs")):
        done = run([], "p.atlas", *arguments)
        checks.check(done.returncode in (1, 2) and words in done.stderr and done.stderr.count("error") <= 2, f"{arguments}: {done.returncode} {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
sys.exit(checks.finish())

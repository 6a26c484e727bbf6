"""hologram.dist: what ranks exchange and combine is what NumPy works out, and has the same bits on threads, under every launcher of MPI that is here (also
with mpi4py, where it is installed), and with the variables that torchrun sets; graphs that ranks share have the bits of one device.

    run_dist.py           all of it
    run_dist.py --rank    one rank of a launcher: prints the hash of its results
"""
import concurrent.futures
import glob
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading

from package import BUILD, SOURCE, check, checks, hg, numpy

np = numpy()
dist = hg.dist
sys.path.insert(0, os.path.join(SOURCE, "tests", "comm"))
from launchers import environment, launchers  # noqa: E402

NET = """.graph 1
.extent b
.input x f32 [b, 6]
.constant w f32 [6, 10] split 1
.constant v f32 [10, 4]
h = gemm a=x, b=w
y = gemm a=h, b=v
s = reduce_axis input=y, operation=sum
.output h
.output y
.output s
"""


def near(got, wanted, what):
    got = np.asarray(got)
    check(got.shape == wanted.shape and got.dtype == wanted.dtype and np.array_equal(got, wanted), f"rank {dist.rank()} of {dist.size()}: {what}: {got}, expected {wanted}")


def rows(number):
    """What rank `number` gives: as many rows as its number, and one."""
    return (np.arange((number + 1) * 3) * 7919 % 31 + number).astype("i4").reshape(number + 1, 3)


def one_of(number):
    return (np.sin(np.arange(12) * (number + 1)) * 1e3).astype("f4").reshape(4, 3)


def collectives():
    r, p = dist.rank(), dist.size()
    everyone = [one_of(k) for k in range(p)]
    results = [np.asarray(dist.all_reduce(one_of(r), how)) for how in ("sum", "product", "min", "max")]
    near(results[2], np.minimum.reduce(everyone), "min")
    near(results[3], np.maximum.reduce(everyone), "max")
    check(np.allclose(results[0], np.sum(everyone, axis=0), rtol=1e-5, atol=1e-2), "sum")
    if p == 3:  # the tree: the first and the last, then the one between
        near(results[0], (everyone[0] + everyone[2]) + everyone[1], "the tree of three")
    bits = [np.array([1 << k, 6], "u8") for k in range(p)]
    for how, fold in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        near(dist.all_reduce(hg.asarray(bits[r]), how), fold.reduce(bits), how)
    near(dist.all_reduce(np.array([1 + 2j * r], "c8")), np.array([p + 1j * p * (p - 1)], "c8"), "complex")
    near(dist.all_gather(rows(r)), np.concatenate([rows(k) for k in range(p)]), "all_gather of uneven rows")
    near(dist.all_gather(rows(r).T, axis=1), np.concatenate([rows(k).T for k in range(p)], axis=1), "along axis 1")
    near(dist.all_gather(np.array([1j * r, 2], "c16")), np.concatenate([[1j * k, 2] for k in range(p)]), "of complex numbers")
    near(dist.all_to_all(np.full((p, 1), 1j * r, "c8")), np.array([[1j * k] for k in range(p)], "c8"), "all_to_all of complex numbers")
    near(dist.all_gather(hg.asarray(rows(r).T > 9), axis=-1), np.concatenate([rows(k).T > 9 for k in range(p)], axis=1), "of bool")
    near(dist.all_gather(np.zeros((0, 2), "f8")), np.zeros((0, 2)), "of nothing")
    got = dist.gather(rows(r), root=p - 1)
    if r == p - 1:
        near(got, np.concatenate([rows(k) for k in range(p)]), "gather")
    else:
        check(got is None, "gather on other ranks")
    whole = np.arange(35).reshape(7, 5)
    for axis in (0, 1):
        start, end = dist.part(whole.shape[axis])
        mine = np.take(whole, range(start, end), axis)
        near(dist.scatter(whole if r == 0 else None, axis=axis), mine, f"scatter along {axis}")
        near(dist.reduce_scatter(whole * (r + 1), axis=axis), mine * (p * (p + 1) // 2), f"reduce_scatter along {axis}")
    near(dist.broadcast(np.float16([[1.5, 2]]) if r == p - 1 else None, root=p - 1), np.float16([[1.5, 2]]), "broadcast")
    near(dist.all_to_all(np.arange(p * 2).reshape(p, 2) + 100 * r), np.array([[2 * r + 100 * k, 2 * r + 1 + 100 * k] for k in range(p)]), "all_to_all")
    if p > 1:
        right, left = (r + 1) % p, (r - 1) % p
        if r % 2 == 0:
            dist.send(rows(r), right)
            got = dist.recv(left)
        else:
            got = dist.recv(left)
            dist.send(rows(r), right)
        near(got, rows(left), "send, recv")
    dist.barrier()
    return results


def shared():
    r, p = dist.rank(), dist.size()
    whole = (np.sin(np.arange(70)) * 100).astype("f4").reshape(10, 7)
    results = []
    for axis in (0, 1):
        one = dist.shard(whole, axis)
        near(one.whole(), whole, "a Sharded")
        near((abs(2 * one + whole) - one).whole(), abs(2 * whole + whole) - whole, "operators")
        front = np.stack([whole + k for k in range(-(-whole.shape[axis] // p))])  # as many as a part has
        near((one * front).whole(), whole * front, "axes in front")
        near(one.map(lambda own, its: own + its, front).whole(), whole + front, "axes in front of a map")
        near((2 - dist.shard(front, axis + 1) * one).whole(), 2 - whole * front, "a Sharded with more axes")
        near((one + whole[0]).whole() if axis == 1 else (one + whole[:, :1]).whole(), whole + (whole[0] if axis == 1 else whole[:, :1]), "a smaller array")
        results += [np.asarray(one.sum()), np.asarray(one.mean(axis)), np.asarray(one.sum(1 - axis).whole())]
        near(results[-3], np.asarray(hg.asarray(whole).sum()), "the sum of one device")
        near(results[-2], np.asarray(hg.asarray(whole).mean(axis=axis)), "the mean of one device")
        numbers = dist.shard(whole.astype("i4"), axis)
        near(numbers.sum(), np.asarray(hg.asarray(whole.astype("i4")).sum()), "integers")
        near(numbers.max(axis), whole.astype("i4").max(axis), "the largest")
        try:
            one + dist.shard(whole[::-1].T.copy(), axis)
            check(False, "other shapes")
        except (ValueError, hg.Error) as error:
            check(bool(str(error)), "other shapes")
    near((dist.shard(whole) @ np.eye(7, dtype="f4")).whole(), whole, "rows of a product")
    most = -(-10 // p)
    near((dist.shard(whole) @ np.stack([np.eye(7, dtype="f4") * k for k in range(most)])).whole(), np.stack([whole * k for k in range(most)]), "products in front")
    check((one == None) is False, "no array")  # noqa: E711
    near(one.map(hg.abs).whole(), abs(whole), "a function of elements")
    near(dist.Sharded(rows(r)).whole(), np.concatenate([rows(k) for k in range(p)]), "of parts that ranks have")
    return results


def graphs():
    generator = np.random.default_rng(5)
    given = {"x": generator.standard_normal((7, 6)).astype("f4"), "w": generator.standard_normal((6, 10)).astype("f4"), "v": generator.standard_normal((10, 4)).astype("f4")}
    graph, alone = hg.Graph(NET), {"h": np.zeros((7, 10), "f4"), "y": np.zeros((7, 4), "f4"), "s": np.zeros(4, "f4")}
    graph(executor=hg.Executor("cpu"), **given, **alone)
    r, p = dist.rank(), dist.size()
    uneven = {**given, "x": dist.Sharded(given["x"] if p == 1 else given["x"][:3] if r == 0 else given["x"][3:][:4 * (r == p - 1)])}
    otherwise = f"split 0 at ({', '.join(['3'] + ['5'] * (p - 2))})" if p > 1 else 0  # where rank 0 has the same of it
    for place, arrays in ((None, given), ({"w": "whole", "x": 0}, given), ({"w": "whole"}, {**given, "x": dist.shard(given["x"])}), ({"v": "split 0"}, given),
                          ({"w": "whole"}, uneven), ({"w": "whole", "x": otherwise}, uneven)):
        made = dist.run_graph(graph, place, **arrays)
        for name, wanted in alone.items():
            got = made[name]
            near(got.whole() if isinstance(got, dist.Sharded) else got, wanted.reshape(got.shape), f"{name} of a graph, {place}")
    made = dist.run_graph(graph, whole_outputs=True, **given)
    near(made["h"], alone["h"], "whole outputs")
    return list(alone.values())


def body():
    digest = hashlib.sha256()
    for one in collectives() + shared() + (graphs() if dist._comm().provider != "torch" else []):
        digest.update(np.ascontiguousarray(one).tobytes())
    return digest.hexdigest()


def mistakes():
    try:
        dist.rank()
        check(False, "no ranks yet")
    except RuntimeError as error:
        check("init()" in str(error), str(error))
    for call, kind, words in ((lambda: dist.run(body, 0), ValueError, "1 to 256"), (lambda: dist.run(lambda: dist.all_reduce([1], "mean"), 1), ValueError, "mean"),
                              (lambda: dist.run(lambda: dist.all_reduce(np.ones(2, bool)), 2), TypeError, "sum of bool"),
                              (lambda: dist.run(lambda: dist.run_graph(hg.Graph(NET), {"v": 0}, x=np.zeros((7, 6), "f"), w=np.zeros((6, 10), "f"), v=np.zeros((12, 4), "f")), 2),
                               ValueError, "v: 10 elements along axis 0"),
                              (lambda: dist.run(lambda: dist.run_graph(hg.Graph(NET), x=np.zeros((7, 6), "f"), w=np.zeros((6, 10), "f"), v=dist.shard(np.zeros((12, 4), "f"))), 2),
                               Exception, "10"),
                              (lambda: dist.run(lambda: dist.run_graph(hg.Graph(NET), whole_output=True, b=2), 2), TypeError, "'whole_output' is no input"),
                              (lambda: dist.run(lambda: dist.shard(np.ones(4)) + None, 2), TypeError, "unsupported operand"),
                              (lambda: dist.run(lambda: bool(dist.shard(np.ones(4)) == 2), 2), TypeError, "neither true nor false"),
                              (lambda: dist.run(lambda: dist.all_to_all(np.zeros(2)), 3), ValueError, "3 rows"), (lambda: dist.run(lambda: dist.all_gather(np.zeros(2), axis=1), 2), Exception, "axis 1"),
                              (lambda: dist.run(lambda: dist.all_reduce(np.zeros(2 + dist.rank())), 3), hg.ArgumentError, "ranks call different things"),
                              (lambda: dist.run(lambda: dist.all_gather(np.zeros(2, "f4" if dist.rank() else "i4")), 2), hg.ArgumentError, "ranks call different things"),
                              (lambda: dist.run(lambda: dist.all_to_all(np.zeros((2, 1), "f4" if dist.rank() else "i4")), 2), hg.ArgumentError, "ranks call different things"),
                              (lambda: dist.run(lambda: 1 // (dist.rank() - 1) or dist.barrier(), 3), ZeroDivisionError, "division"),
                              (lambda: hg.Graph(NET).shard(2, 2, b=3), hg.ArgumentError, "rank 2 of 2"), (lambda: hg.Graph(NET).shard(0, 2), hg.ArgumentError, "'b' has no number"),
                              (lambda: hg.Graph(NET).shard(0, 2, {"q": 0}, b=3), hg.ArgumentError, "no such value")):
        try:
            call()
            check(False, f"expected: {words}")
        except kind as error:
            check(words in str(error), f"expected {words}, got {error}")
    own, parts = hg.Graph(NET).shard(1, 4, {"x": "whole"}, b=8)
    check([(p.name, p.kind, p.start, p.length, p.extent) for p in parts if p.kind == "split" and not p.output] == [("w", "split", 3, 3, 10)] and "accumulate=true" in own.text, f"parts: {parts}")
    over = threading.Event()

    def endless():
        while not over.is_set():
            dist.barrier()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        dist.run(endless, 3)
        check(False, "endless ranks ended")
    except KeyboardInterrupt:
        for one in threading.enumerate():
            if "rank" in one.name:
                one.join(10)
        alive = [one.name for one in threading.enumerate() if "rank" in one.name]
        check(not alive, f"Ctrl-C ends all ranks: {alive} go on")
    over.set()
    import pickle
    graph, x, weights = hg.Graph(NET), np.arange(42, dtype="f4").reshape(7, 6), {"w": np.ones((6, 10), "f4"), "v": np.eye(10, 4, dtype="f4")}
    wanted = {"h": np.zeros((7, 10), "f4"), "y": np.zeros((7, 4), "f4"), "s": np.zeros(4, "f4")}
    graph(x=x, **weights, **wanted, executor=hg.Executor("cpu"))

    def pickled():
        own, parts = graph.shard(dist.rank(), 3, {"x": "split 0 at (2, 3)", "w": "whole"}, whole_outputs=True, b=7)
        rows = next(one for one in parts if one.name == "x")
        made = {one.name: np.zeros(one.shape, "f4") for one in parts if one.output}
        pickle.loads(pickle.dumps(own))(x=x[rows.start:rows.start + rows.length].copy(), **weights, **made, executor=dist.executor())
        return made
    for made in dist.run(pickled, 3):
        check(all(np.array_equal(made[name], value) for name, value in wanted.items()), f"a pickled graph of a rank: {made}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def torchrun(ranks):
    """What torchrun sets, for processes of this test's own."""
    shared = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    running = [subprocess.Popen([sys.executable, __file__, "--rank"], env={**os.environ, **shared, "RANK": str(k), "LOCAL_RANK": str(k)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for k in range(ranks)]
    said = []
    for one in running:
        try:
            said.append(one.communicate(timeout=120))
        except subprocess.TimeoutExpired:
            one.kill()
            said.append(one.communicate())
    return said


def launched():
    """One rank of a launcher."""
    if "--mpi4py" in sys.argv:
        from mpi4py import MPI
        assert MPI.COMM_WORLD.Get_size() > 1
    dist.init(timeout=60)
    if "--mpi4py" in sys.argv:
        check(dist.rank() == MPI.COMM_WORLD.Get_rank() and dist.size() == MPI.COMM_WORLD.Get_size(), "the ranks of mpi4py")
    said = body()
    print("failed" if checks.failed else f"{dist._comm().provider} {said}", flush=True)


def together():
    """Lanes that two devices share, against NumPy; what is refused."""
    program = hg.assemble(".atlas 1\n.program p\n.param x buffer f32 in [n]\n.param y buffer f32 inout [n]\n.param by f32\n.param n u64\n.lanes n\n"
                          "    y[global] = y[global] + x[global] * by\n")
    devices = dist.Together("cpu+cpu")
    for n in (0, 1, 1000, 100000):
        x, y = np.arange(n, dtype=np.float32), np.full(n, 0.25, np.float32)
        expected = y + x * np.float32(1.5)
        for launch in range(3):
            mine = y.copy()
            lanes = devices.run(program, x=x, y=mine, by=1.5)
            check(np.array_equal(mine, expected) and sum(lanes) == n and len(lanes) == len(devices) == 2, f"{n} lanes together: {lanes}")
            check(launch or n < 1000 or min(lanes) > 0, f"{n} lanes: {lanes}")
    x = np.zeros(4, np.float32)
    still = x.copy()
    shared = [devices, *(hg.assemble(f".atlas 1\n.program {name}\n.param self buffer u64 out [program]\n.param program u64\n.lanes program\n    self[global] = global * {by}\n")
                         for name, by in (("twice", 2), ("thrice", 3)))]

    def launches(program, by):
        made = np.zeros(300, np.uint64)
        for _ in range(100):
            made[...] = 0
            shared[0].run(program, self=made)
            assert np.array_equal(made, np.arange(300, dtype=np.uint64) * np.uint64(by))
        return True

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        both = [threads.submit(launches, program, by) for program, by in zip(shared[1:], (2, 3))]
        check(all(one.result() for one in both), "two threads launch different programs")
    still.flags.writeable = False
    beside = hg.assemble(".atlas 1\n.program q\n.param y buffer f32 inout [n]\n.param n u64\n.lanes n\n    y[n - 1 - global] = 1.0\n")
    for call, words in ((lambda: devices.run(program, x=x, y=x.copy(), z=1), "no parameter 'z'"), (lambda: devices.run(program, x=x, y=still, by=1), "read-only"),
                        (lambda: devices.run(program, x=x.astype(np.float64), y=x.copy(), by=1), "'d'"), (lambda: devices.run(program, x=3, y=x.copy(), by=1), "x is a int"),
                        (lambda: devices.run(program, x=x, y=x.copy(), by="a"), "by, a f32"), (lambda: devices.run(program, x=x, by=1), "y"),
                        (lambda: devices.run(beside, y=x), "not its own"),
                        (lambda: devices.run(program, y=x.copy(), x=x[:3], by=1), "n is 4 in y, but 3 in x"),
                        (lambda: devices.run(program, y=np.zeros((2, 2), np.float32), x=np.zeros((2, 2), np.float32), by=1), "n"), (lambda: dist.Together("cpu+none"), "none")):
        try:
            call()
            check(False, f"{words} is expected, nothing was raised")
        except Exception as error:
            check(words in str(error), f"{words!r} is expected, got {type(error).__name__}: {error}")


def main():
    import importlib.util
    mistakes()
    together()
    hashes = {}
    for ranks in (1, 2, 3, 4):
        found = dist.run(body, ranks)
        hashes[ranks] = found[0]
        check(len(set(found)) == 1, f"{ranks} threads: the same results on each")
    for title, launcher, arguments, libraries, counts in launchers(os.path.join(SOURCE, "build")):
        if not os.path.exists(launcher):
            checks.skip(f"{title}: there is no {launcher}")
            continue
        ranks = counts[-1]
        done = subprocess.run([launcher, *arguments, "-n", str(ranks), sys.executable, __file__, "--rank"], env=environment(libraries), capture_output=True, text=True, timeout=180)
        check(done.returncode == 0 and done.stdout.count(hashes[ranks]) == ranks, f"{title}, {ranks} ranks: {done.stdout}{done.stderr[-2000:]}, threads {hashes[ranks]}")
    tasks = glob.glob(os.path.join(SOURCE, "build", "tasks", "lib", "python3*", "site-packages"))  # tests/python/tasks.txt
    sys.path += tasks
    title, launcher, arguments, libraries, _ = launchers(os.path.join(SOURCE, "build"))[0]
    if importlib.util.find_spec("mpi4py") is None or not os.path.exists(launcher):
        checks.skip("mpi4py is not installed (tools/setup test)" if os.path.exists(launcher) else f"mpi4py: there is no {launcher}")
    else:
        done = subprocess.run([launcher, *arguments, "-n", "2", sys.executable, __file__, "--rank", "--mpi4py"], capture_output=True, text=True, timeout=180,
                              env={**environment(libraries), "PYTHONPATH": os.pathsep.join(tasks)})
        check(done.returncode == 0 and done.stdout.count(hashes[2]) == 2, f"mpi4py: {done.stdout}{done.stderr[-2000:]}")
    if importlib.util.find_spec("torch") is None:
        checks.skip("PyTorch is not installed: torchrun's variables are not tried")
        return
    threads = dist.run(lambda: hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in collectives() + shared())).hexdigest(), 3)[0]
    for out, err in torchrun(3):
        check(out.strip() == f"torch {threads}", f"torchrun's variables: {out}{err[-2000:]}, threads {threads}")


if __name__ == "__main__":
    if "--rank" in sys.argv:
        launched()
        sys.exit(bool(checks.failed))
    main()
    sys.exit(checks.finish())

"""Every function of the Python package, and every method of its objects, called wrongly: an exception that says so, never a crash, a hang or a defect's
exception. And what calls leave behind, the wrong ones too: no memory, no references.

    run_misuse.py [--only NAME] [--every N] [--untraced]

Last line: N passed, N failed, N skipped."""
import argparse
import contextlib
import copy
import gc
import inspect
import os
import pickle
import sys
import threading
import tracemalloc
import weakref

from package import check, checks, hg, numpy

np = numpy()

options = argparse.ArgumentParser()
options.add_argument("--only", default="")
options.add_argument("--every", type=int, default=3, help="each N-th of the wrong calls of functions and methods")
options.add_argument("--untraced", action="store_true", help="without the count of memory and references, for which tracemalloc is slow under a sanitizer")
given = options.parse_args()
CUBE = """.atlas 1
.program cube
.param x buffer f32 in [n]
.param y buffer f32 inout [n]
.param n u64
.lanes n
    y[global] = x[global] * x[global] * x[global]
"""
# What they do when they are called rightly belongs to no test of this kind; from_jax needs JAX (run_stablehlo.py).
LEFT_OUT = {"from_jax", "set_default_executor", "profile", "save", "write_png", "new_executor_with_backend"}
GOOD_ERRORS = (TypeError, ValueError, IndexError, OverflowError, AttributeError, MemoryError, OSError, KeyError, StopIteration, BufferError, hg.Error)


class Odd:
    """Fails in whatever way it is asked."""
    def __getattr__(self, name):
        raise AttributeError(name)

    def __len__(self):
        raise ValueError("no length")

    def __iter__(self):
        raise ValueError("no items")

    def __index__(self):
        raise ValueError("no integer")

    __float__ = __bool__ = __index__


def values():
    """Things of every kind, some of them what a call may want."""
    locked = np.ones(3, "f")
    locked.flags.writeable = False
    return [None, True, -1, 2**70, 1.5, float("nan"), 2j, "text", b"bytes", (), (1, -1, 2**40), [[1], [2, 3]], {"a": 1}, object(), Odd(), print, hg.zeros((2, 3)),
            hg.zeros((0,)), hg.asarray(1), hg.ones(4, dtype="int8"), hg.zeros(2, dtype="bfloat16"), hg.asarray([2**100], dtype="i128"), hg.ones((2, 2), dtype="complex64")[::-1],
            np.ones((2, 3)), np.ones(6, "f")[::2], locked, np.array(["a"]), np.float32(1), hg.float32, hg.default_executor(), hg.assemble(CUBE)]


GRAPH = """.graph 1
.name layer
.extent b
.input x f32 [b, 3]
y = parallel_map relu, in=x
.output y
"""


def one_of_each():
    """Objects that own one of the library, by what they are."""
    program, graph, builder = hg.assemble(CUBE), hg.Graph(GRAPH), hg.Builder("b", y=hg.Out[hg.f32, "n"])
    launch, queue = program.bind(np.ones(3, "f"), np.ones(3, "f")), hg.Queue()
    made = {"array": hg.ones((3, 4), dtype="float32"), "program": program, "launch": launch, "buffer": hg.Buffer(4), "executor": hg.Executor("cpu"), "graph": graph,
            "graph launch": graph.bind(x=np.ones((2, 3), "f"), y=np.ones((2, 3), "f")), "circuit": hg.Circuit("copy@c05->c06"), "builder": builder, "queue": queue,
            "event": queue.submit(launch), "kernel": hg.kernel(cube), "config": hg.Config(files=False)}
    made["event"].wait()
    return made


def cube(y: hg.Out[hg.f32, "n"]):
    y[hg.lane()] = 1.0


def members(thing):
    """Reads all attributes, calls what has no arguments: nothing but a mistake comes of it."""
    for name in sorted(dir(type(thing))):
        if not name.startswith("_") and name not in ("write_profile", "debug", "forever"):
            with contextlib.suppress(*GOOD_ERRORS):
                got = getattr(thing, name)
                if callable(got):
                    got = got()
                    if inspect.isgenerator(got):
                        got.close()


def owners():
    """Objects that were not made as they are meant to be, twice the same one, and what is left of one that is gone."""
    for label, thing in one_of_each().items():
        kind, sound = type(thing), repr(thing)
        for call in (copy.copy, copy.deepcopy, *(lambda one, p=p: pickle.loads(pickle.dumps(one, p)) for p in range(6))):
            try:
                other = call(thing)
                check(label in ("array", "buffer", "config", "program", "executor", "graph", "circuit", "kernel"), f"{label}: a copy of it")
                del other
            except (TypeError, ValueError, pickle.PicklingError, AttributeError) as error:
                check(bool(str(error)), f"{label}: {error}")
        gc.collect()
        check(repr(thing) == sound, f"{label} after copies: {thing!r}")
        for name in ("handle", "executor", "dtype", "program"):
            with contextlib.suppress(AttributeError):
                setattr(thing, name, 5)
                check(label in ("config", "kernel", "builder"), f"{label}.{name} = 5")
        members(thing)

        class Other(kind):
            def __init__(self, *_, **__):
                raise KeyError("not made")

        for call in (lambda: kind.__new__(kind), lambda: object.__new__(kind), lambda: Other(5), lambda: Other.__new__(Other), lambda: kind(5), lambda: kind(2**40, ()),
                     lambda: kind(None), lambda: kind(object()), lambda: kind(thing)):
            with contextlib.suppress(*GOOD_ERRORS):
                members(call())
        if hasattr(kind, "__del__"):
            thing.__del__()
            thing.__del__()
            members(thing)
            with contextlib.suppress(*GOOD_ERRORS):
                thing()
        del thing
        gc.collect()
        check(True, label)
    program = hg.assemble(CUBE)
    event = program.bind(np.ones(3, "f"), np.ones(3, "f")).start()
    for wrong in (lambda: hg.Program(5), lambda: hg.Launch(5, ()), lambda: hg.Event(5), lambda: hg.Executor("cpu", handle=5), lambda: hg.Executor("cpu", cache_dir=5),
                  lambda: setattr(hg.Config(files=False), "cache_dir", 5), lambda: program.emit("opencl", caps=5), lambda: program.emit("opencl", size=2**40),
                  lambda: event.on_done(5)):
        try:
            wrong()
            check(False, "an address of nothing")
        except TypeError as error:
            check(bool(str(error)), str(error))
    queue, other = hg.Queue(hg.Executor("cpu")), hg.Queue()
    launch = program.bind(np.ones(3, "f"), np.ones(3, "f"))
    for call in (lambda: queue.submit(launch), lambda: queue.submit(after=[other.submit(launch)])):  # of another executor
        with contextlib.suppress(*GOOD_ERRORS):
            call().wait()


turn = 0


def attempt(what, call, *args, **named):
    """The call returns, or raises one of the exceptions for mistakes."""
    global turn
    turn += 1
    if turn % given.every and not given.only:
        return
    try:
        made = call(*args, **named)
        if inspect.iscoroutine(made) or inspect.isgenerator(made):
            made.close()
        elif isinstance(made, hg.Array):
            repr(made)
    except GOOD_ERRORS as error:
        check(bool(str(error)) or isinstance(error, (StopIteration, KeyError)), f"{what}: {type(error).__name__} without a text")
    except RuntimeError as error:
        check(type(error) is RuntimeError and not isinstance(error, (NotImplementedError, RecursionError)), f"{what}: {type(error).__name__}: {error}")
    except BaseException as error:  # noqa: B036
        check(False, f"{what}: {type(error).__name__}: {error}")
    else:
        check(True, what)


def every_call(name, call, first=()):
    if given.only not in name:
        return
    kinds = values()
    attempt(f"{name}()", call, *first)
    attempt(f"{name}: 40 arguments", call, *first, *kinds, *kinds[:9])
    attempt(f"{name}: an unknown name", call, *first, no_such_argument=1)
    for i, one in enumerate(kinds):
        shown = f"{name}({type(one).__name__} {i})"
        attempt(shown, call, *first, one)
        attempt(f"{shown}, twice", call, *first, one, one)
        attempt(f"{shown} behind an array", call, *first, hg.ones((2, 3), dtype="float32"), one)
    for parameter in ("axis", "dtype", "device", "out"):
        for one in kinds[::3]:
            attempt(f"{name}(…, {parameter}={type(one).__name__})", call, *first, hg.ones((2, 3), dtype="float32"), **{parameter: one})


def functions():
    for space, label in ((hg, ""), (hg.linalg, "linalg."), (hg.fft, "fft."), (hg.ops, "ops.")):
        for name in sorted(getattr(space, "__all__", None) or dir(space)):
            call = getattr(space, name, None)
            if not name.startswith("_") and callable(call) and name not in LEFT_OUT and not (isinstance(call, type) and issubclass(call, BaseException)):
                every_call(label + name, call)


def methods():
    for label, thing in one_of_each().items():
        for name in sorted(dir(type(thing))):
            call = getattr(thing, name, None)
            if callable(call) and (not name.startswith("_") or name in ("__getitem__", "__setitem__", "__add__", "__matmul__", "__pow__", "__dlpack__", "__array__")) \
                    and name not in ("write_profile", "on_done"):
                every_call(f"{label}.{name}", call)


def freed():
    """What belongs to something that is gone."""
    buffer = hg.Buffer(4)
    executor = hg.Executor("cpu")
    x = hg.asarray([1.0, 2.0], device=executor)
    view, capsule = x[1:], x.__dlpack__()
    del x, executor
    gc.collect()
    check(view.tolist() == [2.0], "a view keeps the executor")
    check(np.asarray(hg._native.from_dlpack(capsule, None)).tolist() == [1.0, 2.0], "a capsule keeps the elements")
    for wrong in (capsule, 5, None):
        try:
            hg._native.from_dlpack(wrong, None)
            check(False, f"from_dlpack of {wrong!r}, which is used up or none")
        except (ValueError, TypeError) as error:
            check("capsule" in str(error), str(error))
    check(buffer.to_vec() == [0, 0, 0, 0], "a buffer of zeros")


def destructors():
    """Destructors of memory's owners make arrays, whoever lets go of the memory last, and never inside of a call of the library."""
    made = []

    class Owner(np.ndarray):
        def __del__(self):
            if self.base is None:
                made.append(float((hg.ones(9) * 2 + hg.asarray([1.0] * 9)).sum()))

    def owner():
        return np.zeros(9).view(Owner).copy()
    for what, let_go in (("at once", lambda x: None), ("by a view", lambda x: x[1:]), ("by DLPack", np.from_dlpack), ("by a buffer", memoryview)):
        last = let_go(hg.asarray(owner()))
        del last
        gc.collect()
        check(made == [27.0], f"{what}: {made}")
        made.clear()
    with hg.scope():
        y = hg.asarray(owner()) + 1
        z = y * 2
    check(made == [27.0] and z.tolist() == [2.0] * 9, f"at the end of a scope: {made}")
    made.clear()
    thread = threading.Thread(target=lambda: [hg.asarray(owner()) + 1 for _ in range(20)])
    thread.start()
    thread.join()
    gc.collect()
    check(made == [27.0] * 20, f"in a thread: {len(made)}")
    made.clear()

    class Managed:  # what gives out DLPack: its deleter runs code of Python
        def __init__(self):
            self.held = owner()

        def __dlpack__(self, **named):
            return np.ndarray.__dlpack__(self.held)

        def __dlpack_device__(self):
            return (1, 0)
    x = hg.from_dlpack(Managed())
    check(made == [], "another library's tensor keeps its owner")
    del x
    gc.collect()
    check(made == [27.0], f"another library's tensor: {made}")


    order = []

    class Link(np.ndarray):
        def __del__(self):
            if self.base is None:
                order.append("begin")
                self.after = None
                order.append("end")

    chain = None
    for _ in range(5000):
        link = np.zeros(1).view(Link).copy()
        link.after, chain = chain, hg.asarray(link)
    del link, chain
    gc.collect()
    check(order == ["begin", "end"] * 5000, f"destructors of a chain, one after another: {len(order)}, {order[:4]}")


def torch_bits():
    """What PyTorch writes down as bits of a tensor, and not in its memory."""
    class Tensor:
        def __init__(self, array, negative):
            self.array, self.negative = array, negative

        def is_neg(self):
            return self.negative

        def resolve_neg(self):
            return Tensor(-self.array, False)

        def __dlpack__(self, **named):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)
    x = Tensor(np.arange(3.0), True)
    check(hg.asarray(x).tolist() == hg.from_dlpack(x).tolist() == [0, -1, -2], "a tensor with the negative bit")
    try:
        hg.from_dlpack(x, copy=False)
        check(False, "the negative bit without a copy")
    except ValueError as error:
        check("is_neg" in str(error), str(error))


def left_behind():
    program = hg.assemble(CUBE)
    a, out = np.ones((3, 4), "f"), hg.zeros((3, 4), dtype="float32")
    x = hg.asarray(a)
    calls = {
        "asarray": lambda: hg.asarray(a), "from_buffer": lambda: hg.asarray(bytearray(b"abcd")), "from_dlpack": lambda: hg.from_dlpack(a), "lists": lambda: hg.asarray([[1, 2], [3, 4]]),
        "operators": lambda: -(x + 1) * x @ x.T, "out": lambda: hg.add(x, x, out=out), "index": lambda: x[1:, None, ::2], "indices": lambda: x[x > 0], "assign": lambda: x.__setitem__((0, 1), 1),
        "copies": lambda: x.T.contiguous().reshape((2, 6)).copy(), "reduce": lambda: x.sum(axis=0).item(), "lists of": lambda: (x.tolist(), x.tobytes()), "memoryview": lambda: memoryview(x).tolist(),
        "dlpack": lambda: np.from_dlpack(x), "capsule": lambda: x.__dlpack__(), "repr": lambda: repr(x), "program": lambda: program(np.ones(5, "f"), np.ones(5, "f")), "launch": lambda: program.bind(a[0], a[1])(),
        "event": lambda: program.bind(a[0], a[1]).start().wait(), "scope": lambda: scoped(x), "where": lambda: hg.where(x > 0, x, 2.0), "unique": lambda: hg.unique_all(x), "wide": lambda: hg.asarray([2**99], dtype="i128") + 1,
        "an index beyond": lambda: x[9], "shapes": lambda: x + hg.ones(7), "types": lambda: hg.zeros(3, dtype="q"), "ragged": lambda: hg.asarray([[1], [2, 3]]), "text": lambda: x + "a",
        "arguments": lambda: program(a[0]), "out of a type": lambda: hg.add(x, x, out=hg.zeros((3, 4), dtype="int8")), "source": lambda: hg.assemble("nonsense"), "number": lambda: hg.ones(2, dtype="int8") + 300,
        "odd": lambda: hg.asarray(Odd()), "odd items": lambda: hg.asarray([1, Odd()]), "odd axes": lambda: hg.sum(x, axis=Odd()), "odd shape": lambda: x.reshape((Odd(), 2))}
    watched = (a, x, out, program, hg.default_executor(), hg.float32, None, type(x))

    def several(call, count):
        for _ in range(count):
            try:
                call()
            except GOOD_ERRORS:
                pass
    for call in calls.values():
        several(call, 40)  # caches and kept launches are filled
    gc.collect()
    tracemalloc.start()
    for name, call in calls.items():
        for _ in range(4):  # what is left behind is so each time
            gc.collect()
            references, memory = [sys.getrefcount(one) for one in watched], tracemalloc.get_traced_memory()[0]
            several(call, 150)
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - memory
            changed = [(type(one).__name__, sys.getrefcount(one) - before) for one, before in zip(watched, references) if abs(sys.getrefcount(one) - before) > 100]
            if grown < 150 * 16 and not changed:
                break
        check(grown < 150 * 16 and not changed, f"150 calls, {name}: {grown} bytes more, references {changed}")
    tracemalloc.stop()
    used = hg.default_executor().memory()["used"]
    for call in calls.values():
        several(call, 5)
    gc.collect()
    check(hg.default_executor().memory()["used"] <= used, f"{hg.default_executor().memory()['used'] - used} bytes of buffers more")
    gone = [weakref.ref(one) for one in (program,)]
    del calls, watched, program, call
    gc.collect()
    check(all(one() is None for one in gone), "a program is freed")


def scoped(x):
    with hg.scope():
        y = hg.exp(x) + 1
    return y


def main():
    if not given.only:
        freed()
        owners()
        destructors()
        torch_bits()
        if not given.untraced:
            left_behind()
    functions()
    methods()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())

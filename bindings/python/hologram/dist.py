"""Ranks that exchange and combine arrays: processes that mpirun (also under mpi4py) or torchrun has started, or threads of this process.

    import hologram as hg

    hg.dist.init()
    total = hg.dist.all_reduce(hg.asarray([hg.dist.rank(), 1]))

What ranks combine is combined by the fixed tree in rank order: the bits do not depend on the launcher, nor on who comes first.
"""
import atexit
import ctypes
import os
import struct
import threading

from . import _executor, _native, types
from . import _interface as c
from ._array import convert, from_bytes
from ._errors import check
from ._handle import Owner
from ._launch import FORMATS

__all__ = ["Sharded", "Together", "all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "executor", "finish", "gather", "init", "is_launched", "part", "rank",
           "recv", "reduce_scatter", "run", "run_graph", "scatter", "send", "shard", "size"]
_OPERATIONS = {"sum": 0, "min": 1, "max": 2, "product": 3, "and": 4, "or": 5, "xor": 6}  # hg_comm_operation
_KINDS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "gather", "scatter", "all_to_all", "send", "recv", "barrier")  # hg_comm_kind
_KIND = {name: number for number, name in enumerate(_KINDS)}
_process, _thread = None, threading.local()


# ---- who carries calls out ----

class _Comm:
    """A communicator of the library."""

    def __init__(self, handle, owner):
        self.handle, self.executor = handle, owner
        self.rank, self.size = c.hg_comm_rank(handle), c.hg_comm_size(handle)
        self.provider = c.hg_comm_provider(handle).decode()

    def run(self, kind, dtype, count, given=None, taken=None, peer=0, operation="sum"):
        """given, taken: addresses of memory of the host."""
        call = c.hg_comm_call(size=ctypes.sizeof(c.hg_comm_call), kind=_KIND[kind], operation=_OPERATIONS[operation], type=dtype.code, peer=peer,
                              count=count, input=given, output=taken)
        check(c.hg_comm_run(self.handle, ctypes.byref(call)))

    def timeout(self, seconds):
        check(c.hg_comm_set_timeout(self.handle, max(1, int(seconds * 1000))))

    def bind(self):
        """Programs and graphs on the rank's executor have the other ranks."""
        check(c.hg_context_set_comm(c.hg_executor_backend(self.executor.handle), None, self.handle))

    def close(self):
        if self.handle:
            c.hg_context_set_comm(c.hg_executor_backend(self.executor.handle), None, None)
            c.hg_comm_destroy(self.handle)
            self.handle = None


class _Torch:
    """Ranks of torchrun: torch.distributed (gloo) moves bytes, what is combined is combined here, as the library does it."""
    provider = "torch"

    def __init__(self, owner):
        try:
            import torch
        except ImportError:
            raise ImportError("hg.dist.init: torchrun has started this process (RANK, WORLD_SIZE, MASTER_ADDR), and its ranks talk through PyTorch, which is "
                              "not installed; under mpirun no PyTorch is needed") from None
        self.torch, self.group, self.executor, self.began = torch, torch.distributed, owner, False
        if not self.group.is_initialized():
            self.group.init_process_group("gloo")
            self.began = True
        self.rank, self.size = self.group.get_rank(), self.group.get_world_size()
        self.own = self.group.new_group(backend="gloo")

    def tensor(self, address, count):
        if not count or not address:
            return self.torch.empty(count, dtype=self.torch.uint8)
        return self.torch.frombuffer((ctypes.c_ubyte * count).from_address(address), dtype=self.torch.uint8)

    def gathered(self, block, address):
        """The blocks of all ranks."""
        found = [self.torch.empty(block, dtype=self.torch.uint8) for _ in range(self.size)]
        if block:
            self.group.all_gather(found, self.tensor(address, block), group=self.own)
        return found

    def same(self, words):
        """Ranks that call different things all learn of it, before data moves."""
        all_words = [None] * self.size
        self.group.all_gather_object(all_words, words, group=self.own)
        for number, other in enumerate(all_words):
            if other != all_words[0]:
                from ._errors import ArgumentError
                raise ArgumentError(f"ranks call different things: {all_words[0]} on rank 0, {other} on rank {number}")

    def run(self, kind, dtype, count, given=None, taken=None, peer=0, operation="sum"):
        block = count * dtype.itemsize
        if kind == "send":
            self.group.send(self.tensor(given, block), peer, group=self.own)
            return
        if kind == "recv":
            self.group.recv(self.tensor(taken, block), peer, group=self.own)
            return
        rooted = kind in ("broadcast", "gather", "scatter")
        self.same(f"{kind}.{dtype.short} {operation if 'reduce' in kind else ''} of {count} elements" + (f", root {peer}" if rooted else ""))
        if kind in ("barrier", ):
            return
        each = block * self.size if kind in ("reduce_scatter", "scatter", "all_to_all") else block
        found = self.gathered(each, given if not rooted or kind == "gather" or self.rank == peer else None)
        mine = [one[self.rank * block:(self.rank + 1) * block] for one in found]
        if kind in ("all_reduce", "reduce_scatter"):
            self.combine(mine if kind == "reduce_scatter" else found, dtype, count, operation, taken)
        elif kind in ("all_gather", "all_to_all") or kind == "gather" and self.rank == peer:
            self.tensor(taken, block * self.size).copy_(self.torch.cat(mine if kind == "all_to_all" else found)) if block else None
        elif kind in ("broadcast", "scatter") and block:
            self.tensor(taken, block).copy_(found[peer] if kind == "broadcast" else mine[peer])

    def combine(self, blocks, dtype, count, operation, taken):
        """By ranks of threads of one each: the library's own tree."""
        if not count:
            return
        rows = [one.contiguous() for one in blocks]
        backends = (ctypes.c_void_p * self.size)(*[c.hg_executor_backend(self.executor.handle)] * self.size)
        made = (ctypes.c_void_p * self.size)()
        check(c.hg_comm_create_local(backends, self.size, made))
        comms = [_Comm(one, self.executor) for one in made]
        results = [self.torch.empty_like(rows[0]) for _ in rows]
        events = []
        for comm, row, result in zip(comms, rows, results):
            call, event = c.hg_comm_call(size=ctypes.sizeof(c.hg_comm_call), kind=0, operation=_OPERATIONS[operation], type=dtype.code, count=count,
                                         input=row.data_ptr(), output=result.data_ptr()), ctypes.c_void_p()
            check(c.hg_comm_start(comm.handle, ctypes.byref(call), None, 0, ctypes.byref(event)))
            events.append(event)
        for event in events:
            status = c.hg_event_wait(event)
            c.hg_event_destroy(event)
            check(status)
        for comm in comms:
            c.hg_comm_destroy(comm.handle)
        self.tensor(taken, count * dtype.itemsize).copy_(results[self.rank])

    def timeout(self, seconds):
        pass  # the process group has its own

    def bind(self):
        pass

    def close(self):
        if self.began:
            self.group.destroy_process_group()


def _mpi():
    return c.hg_comm_is_launched(b"mpi")


def is_launched():
    """Whether mpirun or torchrun has started this process."""
    return _mpi() or all(name in os.environ for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"))


def init(device=None, *, timeout=None):
    """Makes this process a rank: of those that mpirun has started (mpi4py may have begun MPI before), or torchrun; else it is the only one. device: where
    its graphs run, an Executor or the name of a backend. timeout: seconds that a call may take; 30. Comes before the other functions, on every rank."""
    global _process
    if _process is not None:
        raise RuntimeError(f"hg.dist.init: this process is rank {_process.rank} of {_process.size} already")
    owner = _executor.executor_of(device)
    if not _mpi() and is_launched():
        _process = _Torch(owner)
    else:
        made = ctypes.c_void_p()
        check(c.hg_comm_create(b"auto", c.hg_executor_backend(owner.handle), ctypes.byref(made)))
        _process = _Comm(made.value, owner)
        _process.bind()
    if timeout is not None:
        _process.timeout(timeout)
    atexit.register(finish)


def finish():
    """This process is no rank any more; others that wait for it get an error. At the end of the process it is called by itself."""
    global _process
    if _process is not None:
        _process.close()
        _process = None
        atexit.unregister(finish)


def run(function, ranks, *args, device="cpu", timeout=None):
    """Calls function(*args) on so many ranks, each a thread with an executor of its own, which share the processors; returns a list of what they return, in
    rank order. What one raises ends the calls of the others, and is raised here."""
    if not 1 <= ranks <= 256:
        raise ValueError(f"ranks: 1 to 256, got {ranks}")
    threads_each = max(1, (os.cpu_count() or 1) // ranks)
    owners = [_executor.Executor(device, num_threads=threads_each) for _ in range(ranks)]
    backends = (ctypes.c_void_p * ranks)(*(c.hg_executor_backend(one.handle) for one in owners))
    made = (ctypes.c_void_p * ranks)()
    check(c.hg_comm_create_local(backends, ranks, made))
    comms = [_Comm(handle, one) for handle, one in zip(made, owners)]
    results, failed, lock = [None] * ranks, [], threading.Lock()
    ended = [threading.Event() for _ in range(ranks)]  # Ctrl-C in Thread.join() of CPython 3.11 takes the thread for one that has ended

    def revoke():
        for one in comms:
            c.hg_comm_revoke(one.handle)

    def serve(number):
        _thread.comm = comms[number]
        try:
            comms[number].bind()
            results[number] = function(*args)
        except BaseException as error:
            with lock:
                failed.append((number, error))
            revoke()
        finally:
            _thread.comm = None
            ended[number].set()

    if timeout is not None:
        for one in comms:
            one.timeout(timeout)
    threads = [threading.Thread(target=serve, args=(number,), name=f"hologram-rank-{number}") for number in range(ranks)]
    try:
        for one in threads:
            one.start()
        for one in ended:
            one.wait()
    except BaseException:  # Ctrl-C, or the system gives no thread: ranks end at their next call
        revoke()
        raise
    finally:
        for thread, one in zip(threads, ended):
            if thread.ident is not None:
                one.wait()
        for one in comms:
            one.close()
    if failed:
        number, error = failed[0]
        if hasattr(error, "add_note"):
            error.add_note(f"rank {number} of {ranks}")
        raise error
    return results


def _comm():
    found = getattr(_thread, "comm", None) or _process
    if found is None:
        raise RuntimeError("hg.dist: no ranks yet: call hg.dist.init() first, or hg.dist.run(function, ranks)")
    return found


def rank():
    """The number of this rank, from 0."""
    return _comm().rank


def size():
    """How many ranks there are."""
    return _comm().size


def executor():
    """Where the graphs of this rank run."""
    return _comm().executor


# ---- memory ----

def _host(x):
    """An array on the CPU whose elements lie in C order."""
    made = convert(x, None, None, None).to(_executor.executor_of("cpu"))
    return made if made.is_contiguous else made.contiguous()


def _address(array):
    return _native.address_of(array) if array.size else None


def _empty(shape, dtype):
    return _native.empty(tuple(shape), dtype, _executor.executor_of("cpu"), True)


def _like(made, x):
    """The array where x lies."""
    return made.to(x.executor) if isinstance(x, _native.Array) else made


def _elements(x, operation):
    """(type, elements of it for each) for arithmetic of the library: complex numbers are two."""
    if operation not in _OPERATIONS:
        raise ValueError(f"operation {operation!r}: one of {', '.join(_OPERATIONS)} is expected")
    if x.dtype.kind == "b" and operation == "sum":
        raise TypeError("sum of bool: a count is no bool: 'or', or a sum of integers")
    if x.dtype.kind == "c":
        if operation != "sum":
            raise TypeError(f"{operation} of {x.dtype}: complex numbers have sums alone")
    return _numbers(x.dtype)


def _numbers(dtype):
    """(type, how many of it an element is) as the library has it."""
    if dtype.kind == "c":
        return types.resolve("float32" if dtype.itemsize == 8 else "float64"), 2
    return (types.resolve("uint8") if dtype.kind == "b" else dtype), 1


def _axis(x, axis, what):
    if not -x.ndim <= axis < x.ndim:
        from ._errors import AxisError
        raise AxisError(f"{what}: axis {axis} of an array of {x.ndim} axes")
    return axis % x.ndim


def _front(x, axis):
    """The array with that axis in front, in C order."""
    return _host(x if axis == 0 else x.permute((axis, *(d for d in range(x.ndim) if d != axis))))


def _back(x, axis):
    """The other way round."""
    if axis == 0:
        return x
    order = list(range(1, x.ndim))
    order.insert(axis, 0)
    return x.permute(tuple(order)).contiguous()


def _bounds(extent, ranks, number):
    most = -(-extent // ranks)
    return min(extent, number * most), min(extent, (number + 1) * most)


def _header(kind, array, peer):
    """Shape and type of an array that one rank has, on the others: 18 numbers."""
    words = _empty((18,), types.resolve("uint64"))
    if array is not None:
        if array.ndim > 16:
            raise ValueError(f"an array of {array.ndim} axes: at most 16")
        words[...] = from_bytes(b"".join(one.to_bytes(8, "little") for one in (types.ALL.index(array.dtype), array.ndim, *array.shape, *[0] * (16 - array.ndim))),
                                "uint64", (18,))
    _comm().run(kind, words.dtype, 18, _address(words), _address(words), peer)
    said = words.tolist()
    return types.ALL[said[0]], tuple(said[2:2 + said[1]])


# ---- collectives ----

def all_reduce(x, operation="sum"):
    """Of the arrays of all ranks, which have one shape, the sum (or product, min, max, and, or, xor) of their elements, on every rank."""
    given = _host(x)
    dtype, each = _elements(given, operation)
    made = _empty(given.shape, given.dtype)
    _comm().run("all_reduce", dtype, given.size * each, _address(given), _address(made), operation=operation)
    return _like(made, x)


def _extents(own):
    words = from_bytes(own.to_bytes(8, "little"), "uint64", (1,))
    found = _empty((size(),), types.resolve("uint64"))
    _comm().run("all_gather", words.dtype, 1, _address(words), _address(found))
    return found.tolist()


def _joined(blocks, lengths, most, rest, dtype):
    """Parts of these lengths, each in a block of the longest, one after another."""
    if all(one == most for one in lengths):
        return blocks.reshape((sum(lengths), *rest))
    whole, at = _empty((sum(lengths), *rest), dtype), 0
    for number, length in enumerate(lengths):
        whole[at:at + length] = blocks[number, :length]
        at += length
    return whole


def _block(x, most):
    """The array in a block of so many rows."""
    if x.shape[0] == most:
        return x
    block = _empty((most, *x.shape[1:]), x.dtype)
    block[:x.shape[0]] = x
    return block


def all_gather(x, axis=0):
    """The arrays of all ranks, one after another along an axis, along which they may be of different lengths, on every rank."""
    return _gather(x, axis, None)


def gather(x, root=0, axis=0):
    """The same on rank `root` alone; None on the others."""
    return _gather(x, axis, root)


def _gather(x, axis, root):
    given = convert(x, None, None, None)
    axis = _axis(given, axis, "gather")
    rows = _front(given, axis)
    lengths = _extents(rows.shape[0])
    most, rest, comm = max(lengths), rows.shape[1:], _comm()
    block = _block(rows, most)
    here = root is None or root == comm.rank
    blocks = _empty((comm.size, most, *rest), rows.dtype) if here else None
    dtype, each = _numbers(rows.dtype)
    comm.run("all_gather" if root is None else "gather", dtype, block.size * each, _address(block), _address(blocks) if here else None, root or 0)
    return _like(_back(_joined(blocks, lengths, most, rest, rows.dtype), axis), x) if here else None


def reduce_scatter(x, operation="sum", axis=0):
    """Of the arrays of all ranks combined this rank's part along an axis: of `n` elements on `p` ranks ceil(n / p), the last ones less."""
    given = convert(x, None, None, None)
    axis = _axis(given, axis, "reduce_scatter")
    rows, comm = _front(given, axis), _comm()
    extent, most = rows.shape[0], -(-rows.shape[0] // comm.size)
    dtype, each = _elements(rows, operation)
    padded = _block(rows, most * comm.size)
    made = _empty((most, *rows.shape[1:]), rows.dtype)
    comm.run("reduce_scatter", dtype, made.size * each, _address(padded), _address(made), operation=operation)
    start, end = _bounds(extent, comm.size, comm.rank)
    return _like(_back(made[:end - start].copy(), axis), x)


def broadcast(x=None, root=0):
    """The array of rank `root`, on every rank; the others give nothing."""
    comm = _comm()
    given = _host(x) if comm.rank == root else None
    dtype, shape = _header("broadcast", given, root)
    made = _empty(shape, dtype)
    comm.run("broadcast", types.resolve("uint8"), made.nbytes, None if given is None else _address(given), _address(made), root)
    return made if x is None else _like(made, x)


def scatter(x=None, root=0, axis=0):
    """This rank's part along an axis of the array of rank `root`; the others give nothing."""
    comm = _comm()
    rows = None
    if comm.rank == root:
        given = convert(x, None, None, None)
        axis = _axis(given, axis, "scatter")
        rows = _front(given, axis)
    dtype, shape = _header("broadcast", rows, root)
    most = -(-shape[0] // comm.size)
    padded = None if rows is None else _block(rows, most * comm.size)
    made = _empty((most, *shape[1:]), dtype)
    comm.run("scatter", types.resolve("uint8"), made.nbytes, None if padded is None else _address(padded), _address(made), root)
    start, end = _bounds(shape[0], comm.size, comm.rank)
    return _back(made[:end - start].copy(), axis % len(shape))


def all_to_all(x):
    """x has a row for every rank; what comes has a row of every rank."""
    given, comm = _host(x), _comm()
    if not given.ndim or given.shape[0] != comm.size:
        raise ValueError(f"all_to_all: {comm.size} rows are expected, one for each rank, got the shape {given.shape}")
    made = _empty(given.shape, given.dtype)
    dtype, each = _numbers(given.dtype)
    comm.run("all_to_all", dtype, given.size // comm.size * each, _address(given), _address(made))
    return _like(made, x)


def send(x, peer):
    """Sends an array to a rank, which receives it."""
    given = _host(x)
    _header("send", given, peer)
    _comm().run("send", types.resolve("uint8"), given.nbytes, _address(given), None, peer)


def recv(peer):
    """The array that rank `peer` sends."""
    dtype, shape = _header("recv", None, peer)
    made = _empty(shape, dtype)
    _comm().run("recv", types.resolve("uint8"), made.nbytes, None, _address(made), peer)
    return made


def barrier():
    """Ends when every rank has begun it."""
    _comm().run("barrier", types.resolve("uint8"), 0)


# ---- devices that share a launch ----

class Together(Owner):
    """Devices that share the lanes of a launch and need not be alike: Together("cpu+opencl"); numbers: of the devices, 0 each.

    run(program, x=…, y=…) gives each a run of the lanes, as long as it was quick in the launches before; the results have the bits of one device."""

    __slots__ = ("_handle", "_lock")

    def __init__(self, backends, numbers=None):
        numbers = [0] * len(backends.split("+")) if numbers is None else list(numbers)
        made = ctypes.c_void_p()
        check(c.hg_multi_gpu_create(backends.encode(), (ctypes.c_uint32 * len(numbers))(*numbers), len(numbers), ctypes.byref(made)))
        self._handle, self._lock = made.value, threading.Lock()

    def _destroy(self, handle):
        c.hg_multi_gpu_destroy(handle)

    def __len__(self):
        return c.hg_multi_gpu_count(self.handle)

    def run(self, program, /, **given):
        """Arrays are those with the buffer protocol, as NumPy's; what lanes write stands in them afterwards. Scalars that are extents may be left out. Returns
        how many lanes each device had. Of several threads one runs after another."""
        known = {p.name: p for p in program.params}
        for name in given.keys() - known.keys():
            raise TypeError(f"{program.name} has no parameter {name!r}: there are {', '.join(known)}")
        home, params, lanes, buffers, extents = c.hg_multi_gpu_backend(self.handle, 0), c.hg_params_create(), (ctypes.c_uint64 * len(self))(), [], {}
        try:
            for name, value in given.items():
                if known[name].kind == "buffer":
                    self._give(home, params, known[name], value, buffers)
                    self._extents(known[name], buffers[-1][2].shape, known.keys() - given.keys(), extents)
                else:
                    self._scalar(params, known[name], value)
            for name, (extent, _) in extents.items():
                self._scalar(params, known[name], extent)
            with self._lock:
                check(c.hg_multi_gpu_lanes(self.handle, program.handle, None, params, lanes))
            for p, buffer, view in buffers:
                if p.direction != "in":
                    check(c.hg_buffer_read(home, buffer, 0, _native.address_of(view), view.nbytes))
        finally:
            for _, buffer, _ in buffers:
                c.hg_backend_free_buffer(home, buffer)
            c.hg_params_destroy(params)
        return tuple(lanes)

    @staticmethod
    def _extents(p, shape, wanted, found):
        """Scalars that name an extent, from the shape of an array."""
        for dim, extent in zip(p.dims, shape) if p.dims and len(p.dims) == len(shape) else ():
            if dim in wanted and found.setdefault(dim, (extent, p.name))[0] != extent:
                raise ValueError(f"{dim} is {found[dim][0]} in {found[dim][1]}, but {extent} in {p.name}")

    @staticmethod
    def _scalar(params, p, value):
        letter = FORMATS.get(p.dtype.short, "E")[-1]
        if letter == "E":
            raise TypeError(f"{p.name} is a {p.dtype.short}, which Together takes in arrays alone")
        try:
            check(c.hg_params_set_scalar(params, p.name.encode(), p.dtype.code, struct.pack(f"<{letter}", value)))
        except struct.error as error:
            raise TypeError(f"{p.name}, a {p.dtype.short}: {error}") from None

    @staticmethod
    def _give(home, params, p, value, buffers):
        try:
            view = memoryview(value)
        except TypeError:
            raise TypeError(f"{p.name} is a {type(value).__name__}: expected an array with the buffer protocol, as NumPy's") from None
        letter = view.format.lstrip("@=<|")
        if letter not in FORMATS.get(p.dtype.short, "") or not view.c_contiguous or (view.readonly and p.direction != "in"):
            raise TypeError(f"{p.name}: an array of {p.dtype.short} in C order is expected{'' if p.direction == 'in' else ', which can be written'}, got the format "
                            f"{view.format!r}, strides {view.strides}{', read-only' if view.readonly else ''}")
        buffer = c.hg_buffer()
        check(c.hg_backend_allocate_buffer(home, view.nbytes, ctypes.byref(buffer)))
        buffers.append((p, buffer, view))
        if view.nbytes:
            check(c.hg_buffer_write(home, buffer, 0, _native.address_of(view), view.nbytes))
        check(c.hg_params_set_buffer(params, p.name.encode(), buffer))


# ---- arrays that ranks share ----

def part(extent):
    """(start, end) of this rank's part of so many elements."""
    return _bounds(extent, size(), rank())


class Sharded:
    """An array of which each rank has a part along an axis. local: this rank's part; shape: of the whole; axis, start: where the part lies.

    Operators work on parts, also with numbers and with whole arrays that every rank has, functions of elements by map(hg.exp). whole() is the array itself; sum, max,
    … have the bits that one device has."""

    __slots__ = ("local", "axis", "shape", "start")
    __array_ufunc__ = None

    def __init__(self, local, axis=0):
        """Of the parts that ranks have; a collective."""
        self.local = convert(local, None, None, None)
        self.axis = _axis(self.local, axis, "Sharded")
        lengths = _extents(self.local.shape[self.axis])
        self._place(sum(lengths[:rank()]), sum(lengths))

    def _place(self, start, extent):
        self.start = start
        self.shape = tuple(extent if d == self.axis else one for d, one in enumerate(self.local.shape))

    @classmethod
    def _of(cls, local, axis, start, extent):
        made = cls.__new__(cls)
        made.local, made.axis = local, axis
        made._place(start, extent)
        return made

    dtype = property(lambda self: self.local.dtype, doc="Type of the elements.")
    ndim = property(lambda self: self.local.ndim, doc="Number of axes.")

    def __repr__(self):
        return f"<Sharded {self.dtype} {self.shape}, axis {self.axis} from {self.start}: {self.local.shape} here>"

    def __bool__(self):
        raise TypeError(f"{self!r} is neither true nor false: whole() is the array")

    def whole(self):
        """The whole array, on every rank; a collective."""
        return all_gather(self.local, self.axis)

    def map(self, function, *others):
        """function(part, …) of this rank's parts, which keeps their extent along the axis."""
        return self._made(function(self.local, *(self._part_of(one) for one in others)), max(map(self._axis_with, others), default=self.axis))

    def _made(self, local, axis):
        local, length = convert(local, None, None, None), self.local.shape[self.axis]
        if local.ndim <= axis or local.shape[axis] != length:
            raise ValueError(f"map: {length} elements along axis {axis} are expected, got the shape {local.shape}")
        return Sharded._of(local, axis, self.start, self.shape[self.axis])

    def _axis_with(self, other):
        """The axis of what comes of it and an array that may have more axes in front."""
        return self.axis + max(0, len(getattr(other, "shape", ())) - self.ndim)

    def _part_of(self, other):
        if isinstance(other, Sharded):
            lies = other.ndim - other.axis, other.start, other.shape[other.axis], other.local.shape[other.axis]
            if lies != (self.ndim - self.axis, self.start, self.shape[self.axis], self.local.shape[self.axis]):
                raise ValueError(f"{self!r} and {other!r} lie otherwise: whole() brings them together")
            return other.local
        behind = self.ndim - self.axis
        shape = getattr(other, "shape", ())
        if len(shape) >= behind and shape[-behind] not in (1,):
            if shape[-behind] != self.shape[self.axis]:
                raise ValueError(f"{tuple(shape)} does not fit {self.shape}")
            where = [slice(None)] * len(shape)
            where[len(shape) - behind] = slice(self.start, self.start + self.local.shape[self.axis])
            return other[tuple(where)]
        return other

    def _fold(self, name, axis, keepdims, integers):
        import hologram
        if axis is not None and _axis(self.local, axis, name) != self.axis:
            made = getattr(hologram, name)(self.local, axis=axis, keepdims=keepdims)
            axis = _axis(self.local, axis, name)
            return Sharded._of(made, self.axis - (axis < self.axis and not keepdims), self.start, self.shape[self.axis])
        operation = integers if self.dtype.kind in "iu" or name in ("max", "min") and self.local.dtype.kind in "iu" else None
        if operation and self.shape[self.axis] >= size():  # any order has the same bits; every rank has something
            if min(_extents(self.local.shape[self.axis])):
                return all_reduce(getattr(hologram, name)(self.local, axis=axis, keepdims=keepdims), operation)
        return getattr(hologram, name)(self.whole(), axis=axis, keepdims=keepdims)

    def sum(self, axis=None, keepdims=False):
        """The sum; along another axis than that of the ranks a Sharded. Of floats the parts come together first: the bits of one device."""
        return self._fold("sum", axis, keepdims, "sum")

    def max(self, axis=None, keepdims=False):
        """The largest element."""
        return self._fold("max", axis, keepdims, "max")

    def min(self, axis=None, keepdims=False):
        """The smallest element."""
        return self._fold("min", axis, keepdims, "min")

    def mean(self, axis=None, keepdims=False):
        """The mean, with the bits of one device."""
        return self._fold("mean", axis, keepdims, None)

    def __matmul__(self, other):
        """Rows of the product, of rows and a whole matrix."""
        if self.axis == self.ndim - 1:
            raise ValueError(f"{self!r} @ …: the axis that is summed is shared: whole() @ …, or hg.dist.run_graph")
        return self._made(self.local @ other, self._axis_with(other))


def _operator(name):
    def method(self, other):
        made = getattr(self.local, name)(self._part_of(other))
        return made if made is NotImplemented else self._made(made, self._axis_with(other))
    method.__name__ = name
    method.__doc__ = "Of the parts."
    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    for _side in ("", "r"):
        setattr(Sharded, f"__{_side}{_name}__", _operator(f"__{_side}{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Sharded, f"__{_name}__", _operator(f"__{_name}__"))
Sharded.__hash__ = None
Sharded.__neg__ = lambda self: self.map(lambda own: -own)
Sharded.__abs__ = lambda self: self.map(abs)


def shard(x, axis=0):
    """This rank's part of an array that every rank has, as a Sharded."""
    given = convert(x, None, None, None)
    axis = _axis(given, axis, "shard")
    start, end = part(given.shape[axis])
    where = tuple(slice(start, end) if d == axis else slice(None) for d in range(given.ndim))
    return Sharded._of(given[where].copy(), axis, start, given.shape[axis])


# ---- graphs that ranks share ----

def run_graph(graph, place=None, *, fast=False, whole_outputs=False, **values):
    """Runs a Graph that the ranks share, with the bits of one device; every rank calls it. values: by the names of the inputs arrays that every rank has whole,
    or Sharded ones, and numbers of extents; place: where values lie, over what the graph says: {"x": 0, "w": "split 1"}. Returns {name: output}, whole or
    Sharded."""
    comm = _comm()
    if comm.provider == "torch":
        raise ValueError("run_graph: the ranks of torchrun have no communicator of the library: start them with mpirun")
    place = dict(place or {})
    for name, value in values.items():
        if isinstance(value, Sharded):
            lengths = _extents(value.local.shape[value.axis])
            cuts = ", ".join(str(sum(lengths[:number])) for number in range(1, comm.size))
            place.setdefault(name, f"split {value.axis}" + (f" at ({cuts})" if cuts else ""))
    own, parts = graph.shard(comm.rank, comm.size, place, fast=fast, whole_outputs=whole_outputs, **values)
    given, made = {}, {}
    for one in parts:
        if one.output:
            made[one.name] = _native.empty(one.shape, one.dtype, comm.executor, True)
        elif one.name in values:
            given[one.name] = _taken(values[one.name], one).to(comm.executor)
    own.bind(executor=comm.executor, **given, **made).launch()
    return {one.name: Sharded._of(made[one.name], one.axis, one.start, one.extent) if one.kind == "split" else made[one.name] for one in parts if one.output}


def _taken(value, one):
    if isinstance(value, Sharded):
        lies = one.kind == "split" and (one.axis, one.start, one.extent) == (value.axis, value.start, value.shape[value.axis]) and value.local.shape == one.shape
        if min(_extents(int(lies))):  # on every rank
            return value.local.contiguous()
        value = value.whole()
    array = convert(value, None, None, None)
    if one.kind == "split":
        if array.shape[one.axis:one.axis + 1] != (one.extent,):
            raise ValueError(f"{one.name}: {one.extent} elements along axis {one.axis} are expected, got the shape {array.shape}")
        array = array[tuple(slice(one.start, one.start + one.length) if d == one.axis else slice(None) for d in range(array.ndim))]
    return array.contiguous()

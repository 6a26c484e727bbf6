"""The sides of a race: the library through side.c, functions in C, OpenCL, and functions of Python. time(runs) is seconds a run."""
import ctypes
import os
import time

import numpy as np

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
BUFFERS, PASSES, SCALARS = 5, 10, 4  # of bench/devices/peer.h
TYPES = {"f32": 2, "f64": 3, "u32": 16, "u64": 17}  # HG_TYPE_…


class Missing(Exception):
    """Why a side cannot run here."""


class Job(ctypes.Structure):
    _fields_ = [("buffer", ctypes.c_void_p * 8), ("number", ctypes.c_uint64 * 8), ("real", ctypes.c_double * 8)]


class Pass(ctypes.Structure):
    _fields_ = [("buffers", ctypes.c_int * BUFFERS), ("scalars", ctypes.c_uint32 * SCALARS), ("groups", ctypes.c_uint32 * 2),
                ("group", ctypes.c_uint32 * 2)]


class Workload(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("buffer_count", ctypes.c_int), ("scalar_count", ctypes.c_int), ("pass_count", ctypes.c_int),
                ("pass_buffers", ctypes.c_int), ("bytes", ctypes.c_size_t * BUFFERS), ("data", ctypes.c_void_p * BUFFERS),
                ("result", ctypes.c_int), ("passes", Pass * PASSES)]


def library(path, threads):
    side = ctypes.CDLL(path)
    for name in ("cpu_launch", "cpu_execute", "cpu_first", "cpu_threads", "cpu_peer", "cpu_opencl"):
        getattr(side, name).restype = ctypes.c_double
    side.cpu_error.restype = ctypes.c_char_p
    side.cpu_bind.restype = side.cpu_address.restype = ctypes.c_void_p
    side.cpu_buffer.restype = ctypes.c_uint64
    side.cpu_opencl_open.restype = side.cpu_open.restype = side.cpu_opencl_prepare.restype = ctypes.c_bool
    if not side.cpu_open(threads):
        raise Missing(side.cpu_error().decode())
    return side


def aligned(array):
    """A copy that begins at a page, as the library's buffers do."""
    room = np.empty(array.nbytes + 4096, np.uint8)
    skip = -room.ctypes.data % 4096
    copy = room[skip:skip + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Ours:
    """A program over arrays. Scalars are (type, value)."""
    label, compiler = "ours", ""

    def __init__(self, side, text, arrays, scalars=None, lanes=0, json=False, call="launch"):
        self.prepare(side, text, arrays, scalars)
        self.work = side.cpu_bind(self.text, ctypes.c_uint64(len(self.text)), ctypes.c_bool(json), ctypes.c_uint64(lanes), *self.values)
        if not self.work:
            raise Missing(side.cpu_error().decode())
        self.call = side.cpu_launch if call == "launch" else side.cpu_execute

    def prepare(self, side, text, arrays, scalars):
        """Buffers and values, no program yet."""
        self.side, self.arrays, self.text = side, arrays, text.encode()
        self.handles = {name: side.cpu_buffer(ctypes.c_void_p(a.ctypes.data), ctypes.c_uint64(a.nbytes)) for name, a in arrays.items()}
        names, types, bits = list(self.handles), [0] * len(self.handles), list(self.handles.values())
        for name, (kind, value) in (scalars or {}).items():
            names.append(name)
            types.append(TYPES[kind])
            bits.append(int.from_bytes(np.array(value, {"f": "float", "u": "uint"}[kind[0]] + kind[1:]).tobytes(), "little"))
        count = len(names)
        self.values = (count, (ctypes.c_char_p * count)(*(n.encode() for n in names)), (ctypes.c_int * count)(*types),
                       (ctypes.c_uint64 * count)(*bits))

    def time(self, runs):
        seconds = self.call(ctypes.c_void_p(self.work), runs)
        if seconds < 0:
            raise Missing(self.side.cpu_error().decode())
        return seconds

    def address(self, name):
        return self.side.cpu_address(ctypes.c_uint64(self.handles[name]))

    def first(self):
        return self.side.cpu_first(self.text, ctypes.c_uint64(len(self.text)), ctypes.c_uint64(0), *self.values)

    def reset(self):
        for name, a in self.arrays.items():
            self.side.cpu_write(ctypes.c_uint64(self.handles[name]), ctypes.c_void_p(a.ctypes.data), ctypes.c_uint64(a.nbytes))

    def output(self, name):
        a = np.empty_like(self.arrays[name])
        self.side.cpu_read(ctypes.c_uint64(self.handles[name]), ctypes.c_void_p(a.ctypes.data), ctypes.c_uint64(a.nbytes))
        return a

    def close(self):
        self.side.cpu_release(ctypes.c_void_p(self.work))
        for handle in self.handles.values():
            self.side.cpu_free(ctypes.c_uint64(handle))


class InC:
    """A function of the peers, from the library that one compiler made."""

    def __init__(self, side, label, compiler, functions, name, arrays, units, part, threads, numbers=(), reals=()):
        self.side, self.label, self.compiler, self.arrays = side, label, compiler, arrays
        self.copies = {n: aligned(a) for n, a in arrays.items()}
        self.job = Job((ctypes.c_void_p * 8)(*(a.ctypes.data for a in self.copies.values())), (ctypes.c_uint64 * 8)(*numbers),
                       (ctypes.c_double * 8)(*reals))
        self.function, self.units, self.part, self.threads = getattr(functions, name), units, part, threads

    def time(self, runs):
        return self.side.cpu_peer(self.function, ctypes.byref(self.job), ctypes.c_uint64(self.units), ctypes.c_uint64(self.part), self.threads,
                                  runs)

    def reset(self):
        for name, a in self.arrays.items():
            self.copies[name][...] = a

    def output(self, name):
        return self.copies[name]

    def close(self):
        pass


class OpenCL:
    """NAME.cl of a folder on the first device that OpenCL has."""
    label, compiler = "OpenCL C", "PoCL"

    def __init__(self, side, folder, name, arrays, scalars, groups, group):
        reason = ctypes.create_string_buffer(256)
        if not side.cpu_opencl_open(reason):
            raise Missing(reason.value.decode())
        self.side, self.arrays, count = side, arrays, len(arrays)
        one = Pass((ctypes.c_int * BUFFERS)(*range(count)),
                   (ctypes.c_uint32 * SCALARS)(*(int(np.array(v, np.float32).view(np.uint32)) if isinstance(v, float) else v for v in scalars)),
                   (ctypes.c_uint32 * 2)(*groups), (ctypes.c_uint32 * 2)(*group))
        self.load = Workload(name.encode(), count, len(scalars), 1, count, (ctypes.c_size_t * BUFFERS)(*(a.nbytes for a in arrays.values())),
                             (ctypes.c_void_p * BUFFERS)(*(a.ctypes.data for a in arrays.values())), 0, (Pass * PASSES)(one))
        if not side.cpu_opencl_prepare(os.path.join(SOURCE, folder).encode(), ctypes.byref(self.load)):
            raise Missing("the kernel did not build")

    def time(self, runs):
        return self.side.cpu_opencl(runs)

    def reset(self):
        pass

    def output(self, name):
        a = np.empty_like(self.arrays[name])
        self.side.cpu_opencl_read(list(self.arrays).index(name), ctypes.c_void_p(a.ctypes.data), ctypes.c_uint64(a.nbytes))
        return a

    def close(self):
        self.side.cpu_opencl_release()


class Python:
    """function(copies) runs once over copies of the arrays."""
    compiler = ""

    def __init__(self, label, arrays, function):
        self.label, self.arrays, self.function = label, arrays, function
        self.copies = {n: aligned(a) for n, a in arrays.items()}

    def time(self, runs):
        function, copies = self.function, self.copies
        start = time.perf_counter()
        for _ in range(runs):
            function(copies)
        return (time.perf_counter() - start) / runs

    def reset(self):
        for name, a in self.arrays.items():
            self.copies[name][...] = a

    def output(self, name):
        return self.copies[name]

    def close(self):
        pass

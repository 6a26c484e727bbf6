#!/usr/bin/python3
"""Tensors in files and through DLPack, against NumPy: .npy, .npz and safetensors both ways, and files that are broken on purpose, each refused with a message.

    tests/tensors/run_io.py [GROUP...]

Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import ctypes as C
import json
import os
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())
from arrays import NAMES, Error, Executor, Tensor, check, layouts, lib, refused, same  # noqa: E402

ex = Executor()
random = np.random.default_rng(32)
folder = tempfile.TemporaryDirectory(prefix="hologram-tensors-")
SHAPES = [(3, 4), (), (0, 3), (2, 1, 3)]
WORDS = {"float32": "F32", "float64": "F64", "float16": "F16", "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
         "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "complex64": "C64"}


def path(name):
    return os.path.join(folder.name, name)


def load(file, name=None, executor=ex.handle):
    t = Tensor()
    check(lib.hg_tensor_load(executor, file.encode(), name and name.encode(), C.byref(t.handle)))
    return t.numpy()


def save(file, tensors, names=None):
    handles = (C.c_void_p * max(1, len(tensors)))(*[t.handle for t in tensors])
    texts = (C.c_char_p * max(1, len(tensors)))(*[n.encode() for n in names]) if names is not None else None
    check(lib.hg_tensor_save(file.encode(), handles, texts, len(tensors)))


def equal(label, got, want):
    checks.check(same(got, np.asarray(want)), f"{label}: {got.dtype} {got.shape} {got.ravel()[:6]} for {want.dtype} {want.shape}")


def bytes_of_safetensors(entries, data, length=None):
    head = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(head) if length is None else length) + head + data


def read_safetensors(file):
    """As the format's description says, written here."""
    data = open(file, "rb").read()
    n, = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + n])
    back = {word: name for name, word in WORDS.items()}
    return {name: np.frombuffer(data[8 + n + e["data_offsets"][0]:8 + n + e["data_offsets"][1]], back[e["dtype"]]).reshape(e["shape"])
            for name, e in head.items()}


def files():
    everything = {}
    for dtype in NAMES:
        for shape in SHAPES:
            made = list(layouts(random, dtype, shape))
            layout, a = made[len(everything) % len(made)]
            label = f"{dtype} {shape} {layout}"
            everything[f"a{len(everything)}.b"] = a
            np.save(path("n.npy"), np.ascontiguousarray(a).reshape(shape))
            equal(f"load npy {label}", load(path("n.npy")), a)
            np.save(path("f.npy"), np.asfortranarray(a).reshape(shape))
            equal(f"load npy {label} in Fortran order", load(path("f.npy"), executor=None), a)
            save(path("s.npy"), [ex.put(a)])
            equal(f"save npy {label}", np.load(path("s.npy")), a)
            checks.check(open(path("s.npy"), "rb").read() == open(path("n.npy"), "rb").read(), f"save npy {label}: NumPy's bytes")
    for write in (np.savez, np.savez_compressed):
        write(path("n.npz"), **everything)
        for name, a in everything.items():
            equal(f"load npz {name} {write.__name__}", load(path("n.npz"), name), a)
    for ending, read in (("npz", lambda f: dict(np.load(f))), ("safetensors", read_safetensors)):
        some = {name: a for name, a in everything.items() if ending == "npz" or a.dtype.name in WORDS}
        save(path("s." + ending), [ex.put(a) for a in some.values()], list(some))
        back = read(path("s." + ending))
        checks.check(list(back) == list(some), f"names of {ending}")
        for name, a in some.items():
            equal(f"save {ending} {name}", back[name], a)
            equal(f"load and save {ending} {name}", load(path("s." + ending), name), a)
    np.savez(path("one.npz"), x=np.arange(3))
    equal("the only one", load(path("one.npz")), np.arange(3))
    with open(path("one.safetensors"), "wb") as f:
        f.write(bytes_of_safetensors({"__metadata__": {"format": "pt"}, "x\u00e4": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]}},
                                     np.arange(3).tobytes()))
    equal("the only one", load(path("one.safetensors")), np.arange(3))
    equal("by an escaped name", load(path("one.safetensors"), "x\u00e4"), np.arange(3))
    x = ex.put(np.arange(3))
    refused("complex128", lambda: save(path("t.safetensors"), [ex.put(np.zeros(2, "c16"))], ["a"]), "no elements of type complex128")
    refused("two names", lambda: save(path("t.npz"), [x, x], ["a", "a"]), "two tensors are named 'a'")
    refused("two in .npy", lambda: save(path("t.npy"), [x, x]), "holds several")
    refused("no folder", lambda: save(path("none/t.npy"), [x]), "none/t.npy")
    refused("no file", lambda: load(path("none.npy")), "none.npy")
    refused("a name of .npy", lambda: load(path("n.npy"), "x"), "without names; 'x' is asked for")
    refused("no name", lambda: load(path("n.npz")), "which tensor? name is NULL, the file has several")
    refused("no such name", lambda: load(path("n.npz"), "zz"), "zz")
    refused("no such tensor", lambda: load(path("s.safetensors"), "zz"), "there is no tensor 'zz'")
    np.save(path("o.npy"), np.array([1, "x"], object), allow_pickle=True)
    refused("objects", lambda: load(path("o.npy")), "dtype is '|O'")
    np.save(path("o.npy"), np.arange(3, dtype=">i4"))
    refused("big-endian", lambda: load(path("o.npy")), "(big-endian)")
    np.save(path("o.npy"), np.zeros((1,) * 9))
    refused("nine axes", lambda: load(path("o.npy")), "dimensions")


def hostile():
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

    def file(change, data=b"\0" * 8, length=None):
        return bytes_of_safetensors(change if isinstance(change, bytes) else {"x": {**entry, **change}}, data, length)
    deep = b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    for what, data, words in [
            ("a length beyond the end", file({}, length=1 << 62), "byte 0: a header of 4611686018427387904 bytes"),
            ("a length of all ones", file({}, length=(1 << 64) - 1), "byte 0: a header of 18446744073709551615 bytes"),
            ("a length of nothing", file({}, length=0), "byte 8"),
            ("a length that cuts", file({}, length=20), "byte 24"),
            ("text behind", file(b'{"x": {}} {}'), "byte 18"),
            ("no object", file(b'{"x": 3}'), "byte 14: an object expected"),
            ("depth", file(deep), "byte"),
            ("a key twice", file(b'{"x": {}, "x": {}}'), "byte 18"),
            ("no dtype", file(b'{"x": {"shape": [2], "data_offsets": [0, 8]}}'), "byte 14: an entry without dtype"),
            ("no shape", file(b'{"x": {"dtype": "F32", "data_offsets": [0, 8]}}'), "byte 14: an entry without shape"),
            ("a dtype that is not known", file({"dtype": "F8_E5M2"}), "byte 24: a dtype"),
            ("a dtype that is a number", file({"dtype": 4}), "byte 24: a dtype"),
            ("negative extents", file({"shape": [-2]}), "byte 41: a number of at most 64 bits"),
            ("halves", file({"shape": [0.5]}), "byte 41: a whole number"),
            ("nine axes", file({"shape": [1] * 9}), "byte 40: an array of at most 8 extents"),
            ("a shape of 2^64", file({"shape": [1 << 32, 1 << 32]}), "more bytes than an address can count"),
            ("a wrong shape", file({"shape": [3]}), "not as far apart as shape and dtype say"),
            ("one offset", file({"data_offsets": [0]}), "an array of two numbers expected"),
            ("three offsets", file({"data_offsets": [0, 8, 8]}), "an array of two numbers expected"),
            ("offsets backwards", file({"data_offsets": [8, 0]}), "offsets that lie outside of the file"),
            ("offsets beyond the end", file({"data_offsets": [4, 12]}), "offsets that lie outside of the file"),
            ("offsets of 2^64", file({"data_offsets": [(1 << 64) - 8, (1 << 64) - 1]}), "offsets that lie outside of the file"),
            ("no elements", file({}, data=b""), "offsets that lie outside of the file"),
            ("nothing", b"", "no .npy, .npz or safetensors file"),
            ("few bytes", b"\0\0\0", "no .npy, .npz or safetensors file"),
            ("a zip that is none", b"PK\3\4" + b"\0" * 40, "no end record"),
            ("a .npy that is cut", b"\x93NUMPY\x01\0\xff\xff{", "header")]:
        with open(path("h"), "wb") as f:
            f.write(data)
        refused(what, lambda: load(path("h"), None), words)
    x = np.arange(6, dtype="f4").reshape(2, 3)
    np.savez_compressed(path("m.npz"), x=x)
    np.save(path("m.npy"), x)
    starts = [open(path("m.npz"), "rb").read(), open(path("m.npy"), "rb").read(), file({}),
              bytes_of_safetensors({"a": entry, "b": {**entry, "data_offsets": [8, 16]}}, b"\0" * 16)]
    ends = 0
    for turn in range(600):
        data = bytearray(starts[turn % 4])
        for _ in range(random.integers(1, 4)):
            kind, at = random.integers(0, 4), int(random.integers(0, len(data)))
            if kind == 0:
                data[at] = random.integers(0, 256)
            elif kind == 1:
                data[at] ^= 1 << random.integers(0, 8)
            elif kind == 2:
                del data[at:at + int(random.integers(1, 9))]
            else:
                data[at:at] = random.bytes(random.integers(1, 9))
            if not data:
                data = bytearray(b"\0")
        with open(path("h"), "wb") as f:
            f.write(data)
        try:
            load(path("h"), (None, "x", "b")[turn % 3])
            ends += 1
        except Error as error:
            ends += len(str(error)) > 10
    checks.check(ends == 600, f"600 files with random changes: {ends} are arrays or refused with a sentence")


class Inner(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32), ("ndim", C.c_int32), ("code", C.c_uint8),
                ("bits", C.c_uint8), ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)),
                ("byte_offset", C.c_uint64)]


DELETER = C.CFUNCTYPE(None, C.c_void_p)


class Versioned(C.Structure):
    _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32), ("context", C.c_void_p), ("deleter", DELETER), ("flags", C.c_uint64),
                ("tensor", Inner)]


class Old(C.Structure):
    _fields_ = [("tensor", Inner), ("context", C.c_void_p), ("deleter", DELETER)]


api = C.pythonapi
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
api.PyCapsule_SetName.argtypes = [C.py_object, C.c_char_p]
USED = b"used_dltensor"


def to_dlpack(t, versioned):
    managed = C.c_void_p()
    check(lib.hg_tensor_to_dlpack(t.handle, C.c_bool(versioned), C.byref(managed)))
    return managed.value


def from_dlpack(managed, versioned, executor=ex.handle):
    t = Tensor()
    check(lib.hg_tensor_from_dlpack(executor, C.c_void_p(managed), C.c_bool(versioned), C.byref(t.handle)))
    return t


class Handed:
    """What np.from_dlpack takes."""

    def __init__(self, t):
        self.t = t

    def __dlpack__(self, stream=None):
        return api.PyCapsule_New(to_dlpack(self.t, False), b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


def dlpack():
    for dtype in NAMES:
        for shape in SHAPES:
            for layout, a in layouts(random, dtype, shape):
                label = f"{dtype} {shape} {layout}"
                if dtype != "bool":  # NumPy 1.24 has no bool here
                    back = np.from_dlpack(Handed(ex.put(a)))
                    equal(f"np.from_dlpack {label}", back, a)
                    capsule = a.copy().__dlpack__() if layout == "repeated" else (a if a.flags.writeable else a.copy()).__dlpack__()
                    t = from_dlpack(api.PyCapsule_GetPointer(capsule, b"dltensor"), False)
                    api.PyCapsule_SetName(capsule, USED)
                    del capsule
                    equal(f"from NumPy by DLPack {label}", t.numpy(), a)
                    del t
                source = ex.put(a)
                managed = to_dlpack(source, True)
                m = Versioned.from_address(managed)
                checks.check((m.major, m.minor, m.tensor.device_type, m.tensor.lanes, m.tensor.bits, m.tensor.ndim) ==
                             (1, 1, 1, 1, a.itemsize * 8, a.ndim), f"versioned {label}")
                checks.check(m.tensor.code == {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[a.dtype.kind], f"code of {label}")
                equal(f"versioned there and back {label}", from_dlpack(managed, True, (None, ex.handle)[random.integers(0, 2)]).numpy(), a)
    made = ex.call("add", ex.put(np.arange(6.0)), ex.put(np.ones(6)))  # memory of the executor's pool
    shared = np.from_dlpack(Handed(made))
    equal("of an operation", shared, np.arange(1.0, 7))
    checks.check(lib.hg_tensor_copy_from_host(made.handle, np.zeros(6).ctypes.data_as(C.c_void_p), C.c_uint64(6)) == 0 and
                 not shared.any(), "memory is shared")
    del made
    equal("its memory stays", shared, np.zeros(6))
    scoped = ex.scope(lambda: np.from_dlpack(Handed(ex.call("add", ex.put(np.arange(6.0)), ex.put(np.ones(6))))))
    equal("what is recorded runs first", scoped, np.arange(1.0, 7))
    # The deleter is called once, when the last view is gone; not after an error.
    values, extent, step, calls = (C.c_float * 4)(1, 2, 3, 4), (C.c_int64 * 1)(4), (C.c_int64 * 1)(-1), []
    gone = DELETER(lambda self: calls.append(self))

    def managed_of(**given):
        m = Versioned(major=1, minor=1, deleter=gone)
        m.tensor = Inner(data=C.addressof(values) + 4, device_type=1, ndim=1, code=2, bits=32, lanes=1, shape=extent, strides=step, byte_offset=8)
        for key, value in given.items():
            setattr(m if key in ("major", "flags") else m.tensor, key, value)
        return m
    m = managed_of()
    t = from_dlpack(C.addressof(m), True)
    view = Tensor()
    check(lib.hg_tensor_slice(t.handle, 0, C.c_int64(1), C.c_int64(3), C.c_int64(1), C.byref(view.handle)))
    equal("backwards, with an offset", t.numpy(), np.array([4, 3, 2, 1], "f4"))
    del t
    checks.check(not calls, "the deleter waits for the view")
    equal("the view", view.numpy(), np.array([3, 2], "f4"))
    del view
    checks.check(calls == [C.addressof(m)], "the deleter is called once")
    m = managed_of(flags=1)
    t = from_dlpack(C.addressof(m), True)
    checks.check(len(calls) == 2, "what is read-only is copied")
    values[3] = 9
    equal("the copy", t.numpy(), np.array([4, 3, 2, 1], "f4"))
    for words, given in (("version 2.1", {"major": 2}), ("device type 10", {"device_type": 10}), ("2 lanes", {"lanes": 2}),
                         ("code 5, 32 bits", {"code": 5, "bits": 32}), ("4 bits", {"bits": 4}), ("9 axes", {"ndim": 9}), ("-1 axes", {"ndim": -1}),
                         ("shape", {"shape": None}), ("data", {"data": None}), ("extent -4", {"shape": (C.c_int64 * 1)(-4)}),
                         ("out of range", {"strides": (C.c_int64 * 1)(-(1 << 62))})):
        m = managed_of(**given)
        refused(f"DLPack: {words}", lambda: from_dlpack(C.addressof(m), True), words)
    checks.check(len(calls) == 2, "after an error the caller has it still")


GROUPS = {f.__name__: f for f in (files, hostile, dlpack)}
for name in sys.argv[1:] or GROUPS:
    GROUPS[name]()
sys.exit(checks.finish())

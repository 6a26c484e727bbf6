"""Array graphs by their text, and circuits."""
import ctypes
import re
import threading
from collections import namedtuple

from . import _executor, _native, types
from . import _interface as c
from ._array import convert, from_bytes
from ._errors import check
from ._handle import Owner
from ._program import Program, _Bound, _count, _Diagnostics, _Runnable


Part = namedtuple("Part", "name output dtype kind axis start length extent shape")
Part.__doc__ = """What a rank has of an array of a graph that ranks share. kind: "whole", "split" (`length` of the `extent` along `axis`, from `start` on) or
"partial"; shape: of what it has."""


def outputs_of(lines):
    """Name -> (dtype, shape) of each output, of the lines of a graph's text whose extents are numbers."""
    values, outputs = {}, {}
    for line in lines:
        made, _, rest = line.partition(" = ")
        if line.startswith(".output"):
            name = made.split()[1]
            outputs[name] = values[rest or name]
        elif line.startswith(".view"):  # .view NAME = OF + 3 strides (3, 1) TYPE [dims]
            made = f"{made} {re.search(r'[a-z]+[0-9]+ .[0-9, ]*.$', rest)[0]}"
        for name, dtype, dims in re.findall(r"(\w+) (\w+) \[([\d, ]*)\]", made):
            values[name] = types.resolve(dtype), tuple(int(one) for one in re.findall(r"\d+", dims))
    return outputs


class Graph(_Runnable):
    """Several array operations known together, of a .graph text: bound to arrays by the names of its inputs and outputs, run as one.

        graph = Graph(".graph 1\\n.extent b\\n.input x f32 [b, 3]\\n…")
        graph(x=x, y=y)

    Extents follow from the shapes of inputs that name them; they may be given beside the arrays too: graph(x=x, y=y, b=2).
    """

    __slots__ = ("_handle", "_executables", "_lock", "_inputs", "_extents", "_given", "__weakref__")

    def __init__(self, text, *, name="program.graph"):
        made, raw = ctypes.c_void_p(), text.encode()
        self._executables, self._lock = {}, threading.Lock()
        self._open(raw, name, text, made)
        self._given = _again, (type(self), text, name)  # what makes it again, from a pickle
        self._take(made.value)

    def _take(self, handle):
        self._handle = handle
        lines = self.text.splitlines()
        self._extents = {word for line in lines if line.startswith(".extent") for word in re.findall(r"\w+", line)[1:]}
        self._inputs = {found[1]: (types.resolve(found[2]), [one.strip() for one in found[3].split(",")])
                        for line in lines if (found := re.match(r"\.(?:input|constant)\s+(\w+)\s+(\w+)\s*\[(.*?)\]", line))}

    def _open(self, raw, name, text, made):
        with _Diagnostics() as said:
            said.check(c.hg_graph_read_text(raw, len(raw), None, said.handle, ctypes.byref(made)), name, text)

    def _compile(self, backend, made):
        return c.hg_graph_compile(backend, self.handle, None, made)

    def _destroy_executable(self, executable):
        c.hg_graph_executable_destroy(executable)

    def _release(self, handle):
        c.hg_graph_release(handle)

    def __reduce_ex__(self, protocol):
        return self._given

    @property
    def text(self):
        """Its text."""
        return self._printed(c.hg_graph_print)

    def shard(self, rank, ranks, place=None, *, fast=False, whole_outputs=False, **values):
        """(the graph of one rank, its parts of the arrays), where so many ranks share this one; no device is needed. place: where inputs, constants and
        results lie, over what the graph says: an axis, or words as "split 0 at (3, 5)". values: arrays by the names of the inputs, whose shapes tell extents,
        and numbers of extents. fast: sums of parts, with other bits; whole_outputs: every rank has all outputs. hg.dist.run_graph runs it."""
        placements = [(name.encode(), f"split {where}".encode() if isinstance(where, int) else where.encode()) for name, where in (place or {}).items()]
        extents = {name: _count(value, 64, name) for name, value in values.items() if name in self._extents}
        for name, value in values.items():
            if name not in self._inputs and name not in self._extents:
                raise TypeError(f"{name!r} is no input and no extent of the graph, which are {', '.join([*self._inputs, *sorted(self._extents)])}")
            for dim, extent in zip(self._inputs.get(name, (None, ()))[1], getattr(value, "shape", ())):
                if dim in self._extents and extents.setdefault(dim, extent) != extent:
                    raise ValueError(f"{dim} is {extents[dim]} elsewhere, but {extent} in {name}")
        rows = (c.hg_placement * max(len(placements), 1))(*(c.hg_placement(param=name, place=words) for name, words in placements))
        numbers = (c.hg_graph_number * max(len(extents), 1))(*(c.hg_graph_number(symbol=name.encode(), value=value) for name, value in extents.items()))
        options = c.hg_graph_shard_options()
        options.size, options.ranks, options.fast, options.whole_outputs = ctypes.sizeof(options), _count(ranks, 32, "ranks"), fast, whole_outputs
        options.placements, options.placement_count = rows, len(placements)
        options.numbers, options.number_count = numbers, len(extents)
        made = ctypes.c_void_p()
        check(c.hg_graph_shard(self.handle, ctypes.byref(options), _count(rank, 32, "rank"), ctypes.byref(made)))
        own = Graph.__new__(Graph)
        own._executables, own._lock = {}, threading.Lock()
        own._given = _rank_again, (self, rank, ranks, dict(place or {}), fast, whole_outputs, extents)  # its text has no elements of constants
        own._take(made.value)
        return own, own._parts()

    def _parts(self):
        found, one = [], c.hg_graph_part(size=ctypes.sizeof(c.hg_graph_part))
        made = outputs_of(self.text.splitlines())
        while not c.hg_graph_get_part(self.handle, len(found), ctypes.byref(one)):
            name, kind = one.name.decode(), ("whole", "split", "partial")[one.kind]
            shape = made[name][1] if one.output else tuple(map(int, filter(None, self._inputs[name][1])))
            found.append(Part(name, bool(one.output), types.by_code(one.type), kind, one.axis if kind == "split" else None, one.start, one.length, one.extent,
                              shape))
        return tuple(found)

    def __repr__(self):
        return f"<Graph of {len(self.text.splitlines())} lines>"

    def bind(self, executor=None, **values):
        """A launch of the graph with these arrays, and numbers for its extents."""
        arrays = [value for value in values.values() if isinstance(value, _native.Array)]
        executor = arrays[0].executor if arrays and executor is None else _executor.executor_of(executor)
        executable = self._executable(executor)
        bound = _Bound(executor)
        try:
            extents = {name: _count(value, 64, name) for name, value in values.items() if name in self._extents or isinstance(value, int)}
            for name, value in values.items():
                if name in extents:
                    continue
                dtype, dims = self._inputs.get(name, (None, ()))
                shape = bound.array(name, value, name not in self._inputs, dtype)
                for dim, extent in zip(dims, shape):
                    if dim in self._extents and extents.setdefault(dim, extent) != extent:
                        raise ValueError(f"{dim} is {extents[dim]} elsewhere, but {extent} in {name}")
            for name, extent in extents.items():
                check(c.hg_params_set_scalar(bound.params, name.encode(), c.HG_TYPE_U64, extent.to_bytes(8, "little")))
            made = ctypes.c_void_p()
            check(c.hg_graph_bind(executable, bound.params, ctypes.byref(made)))
            return GraphLaunch._of(made.value, (self, *bound.keeps))
        finally:
            bound.free()

    def __call__(self, executor=None, **values):
        self.bind(executor, **values).launch()


def _again(cls, text, name):
    return cls(text, name=name)


def _rank_again(shared, rank, ranks, place, fast, whole_outputs, extents):
    return shared.shard(rank, ranks, place, fast=fast, whole_outputs=whole_outputs, **extents)[0]


class GraphLaunch(Owner):
    """A graph bound to its arrays."""

    __slots__ = ("_handle", "_keeps")
    _makers = "Graph.bind"

    def _destroy(self, handle):
        c.hg_graph_binding_destroy(handle)

    def launch(self):
        """Runs it and waits."""
        check(c.hg_graph_binding_launch(self.handle))

    __call__ = launch

    def memory(self):
        """Bytes of its workspace, the least that it needs, launches of programs, bytes of tables."""
        info = c.hg_graph_memory_info(size=ctypes.sizeof(c.hg_graph_memory_info))
        check(c.hg_graph_binding_memory(self.handle, ctypes.byref(info)))
        return {name: getattr(info, name) for name in ("workspace_bytes", "least_bytes", "launches", "table_bytes")}


class Circuit(Owner):
    """A circuit of its text: calls over the arrays of classes 0 … 95. program: what it is lowered to; original, canonical: its expression before
    and after it was simplified."""

    __slots__ = ("_handle", "_translated", "_program", "_original", "_canonical", "_dtype", "_text", "__weakref__")

    def __init__(self, text):
        translated = c.hg_translated_program(size=ctypes.sizeof(c.hg_translated_program))
        raw = text.encode()
        with _Diagnostics() as said:
            said.check(c.hg_circuit_to_isa_translate(raw, len(raw), None, said.handle, ctypes.byref(translated)), "circuit", text)
        self._text = text
        self._translated, self._handle = translated, ctypes.addressof(translated)
        self._program = Program._of(c.hg_program_retain(translated.program))
        self._original, self._canonical = (ctypes.string_at(one).decode() if one else "" for one in (translated.original_expr, translated.canonical_expr))
        self._dtype = types.by_code(translated.element_type)

    def _destroy(self, handle):
        c.hg_translated_program_release(handle)

    def __reduce_ex__(self, protocol):
        return Circuit, (self._text,)

    program = property(lambda self: self._program, doc="What it is lowered to.")
    original = property(lambda self: self._original, doc="Its expression before it was simplified.")
    canonical = property(lambda self: self._canonical, doc="Its expression afterwards.")
    dtype = property(lambda self: self._dtype, doc="Type of the elements.")

    def __repr__(self):
        return f"<Circuit {self.canonical}>"

    def __call__(self, inputs, outputs, *, elements=0, executor=None):
        """Runs it over arrays: inputs {class: array}, outputs: the classes that are wanted. Returns {class: Array} of as many elements as the
        longest input has, or `elements`."""
        executor = _executor.executor_of(executor)
        arrays = {number: convert(one, self.dtype, executor, None).contiguous() for number, one in inputs.items()}
        count = elements or max((one.size for one in arrays.values()), default=0)
        made = {number: _native.empty((count,), self.dtype, executor, True) for number in outputs}
        rows, keeps = [], []
        for number in sorted({*arrays, *made}):
            row = c.hg_class_array(cls=number)
            for field, counted, array in (("input", "input_count", arrays.get(number)), ("output", "output_count", made.get(number))):
                if array is None or not array.size:
                    continue
                host = (ctypes.c_char * array.nbytes).from_buffer_copy(array.tobytes())
                keeps.append((array, host, field))
                kind = dict((name, kind) for name, kind in c.hg_class_array._fields_)[field]
                setattr(row, field, ctypes.addressof(host) if kind is ctypes.c_void_p else ctypes.cast(host, kind))
                setattr(row, counted, array.size)
            rows.append(row)
        launch = c.hg_circuit_launch(size=ctypes.sizeof(c.hg_circuit_launch), elements=count)
        check(c.hg_circuit_run(c.hg_executor_backend(executor.handle), self.handle, ctypes.byref(launch),
                               (c.hg_class_array * max(len(rows), 1))(*rows), len(rows)))
        for array, host, field in keeps:
            if field == "output":
                array[...] = from_bytes(bytes(host), self.dtype, array.shape, executor)
        return made

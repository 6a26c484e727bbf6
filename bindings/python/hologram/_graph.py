"""Array graphs by their text, and circuits."""
import ctypes
import re
import sys

from . import _executor, _native, types
from . import _interface as c
from ._array import convert, from_bytes
from ._errors import check
from ._program import Program, _Bound, _Diagnostics, _text


class Graph:
    """Several array operations known together, of a .graph text: bound to arrays by the names of its inputs and outputs, run as one.

        graph = Graph(".graph 1\\n.extent b\\n.input x f32 [b, 3]\\n…")
        graph(x=x, y=y)

    Extents follow from the shapes of inputs that name them.
    """

    __slots__ = ("handle", "_executables", "_inputs", "_extents", "__weakref__")

    def __init__(self, text, *, name="program.graph"):
        made, raw = ctypes.c_void_p(), text.encode()
        self.handle, self._executables = None, {}
        with _Diagnostics() as said:
            said.check(c.hg_graph_read_text(raw, len(raw), None, said.handle, ctypes.byref(made)), name, text)
        self.handle = made.value
        lines = self.text.splitlines()
        self._extents = {word for line in lines if line.startswith(".extent") for word in re.findall(r"\w+", line)[1:]}
        self._inputs = {found[1]: (types.resolve(found[2]), [one.strip() for one in found[3].split(",")])
                        for line in lines if (found := re.match(r"\.(?:input|constant)\s+(\w+)\s+(\w+)\s*\[(.*?)\]", line))}

    def __del__(self):
        if sys.is_finalizing():
            return
        for executable, _ in getattr(self, "_executables", {}).values():
            c.hg_graph_executable_destroy(executable)
        if getattr(self, "handle", None):
            c.hg_graph_release(self.handle)

    @property
    def text(self):
        """Its text."""
        out = ctypes.c_void_p()
        check(c.hg_graph_print(self.handle, ctypes.byref(out), None))
        return _text(out)

    def __repr__(self):
        return f"<Graph of {len(self.text.splitlines())} lines>"

    def bind(self, executor=None, **values):
        """A launch of the graph with these arrays, and numbers for its extents."""
        arrays = [value for value in values.values() if isinstance(value, _native.Array)]
        executor = arrays[0].executor if arrays and executor is None else _executor.executor_of(executor)
        found = self._executables.get(executor.handle)
        if found is None:
            made = ctypes.c_void_p()
            check(c.hg_graph_compile(c.hg_executor_backend(executor.handle), self.handle, None, ctypes.byref(made)))
            found = self._executables[executor.handle] = (made.value, executor)
        bound = _Bound(executor)
        try:
            extents = {name: value for name, value in values.items() if isinstance(value, int)}
            for name, value in values.items():
                if isinstance(value, int):
                    continue
                dtype, dims = self._inputs.get(name, (None, ()))
                shape = bound.array(name, value, name not in self._inputs, dtype)
                for dim, extent in zip(dims, shape):
                    if dim in self._extents and extents.setdefault(dim, extent) != extent:
                        raise ValueError(f"{dim} is {extents[dim]} elsewhere, but {extent} in {name}")
            for name, extent in extents.items():
                check(c.hg_params_set_scalar(bound.params, name.encode(), c.HG_TYPE_U64, extent.to_bytes(8, "little")))
            made = ctypes.c_void_p()
            check(c.hg_graph_bind(found[0], bound.params, ctypes.byref(made)))
            return GraphLaunch(made.value, (self, *bound.keeps))
        finally:
            bound.free()

    def __call__(self, executor=None, **values):
        self.bind(executor, **values).launch()


class GraphLaunch:
    """A graph bound to its arrays."""

    __slots__ = ("handle", "_keeps")

    def __init__(self, handle, keeps):
        self.handle, self._keeps = handle, keeps

    def __del__(self):
        if not sys.is_finalizing():
            c.hg_graph_binding_destroy(self.handle)

    def launch(self):
        """Runs it and waits."""
        check(c.hg_graph_binding_launch(self.handle))

    __call__ = launch

    def memory(self):
        """Bytes of its workspace, the least that it needs, launches of programs, bytes of tables."""
        info = c.hg_graph_memory_info(size=ctypes.sizeof(c.hg_graph_memory_info))
        check(c.hg_graph_binding_memory(self.handle, ctypes.byref(info)))
        return {name: getattr(info, name) for name in ("workspace_bytes", "least_bytes", "launches", "table_bytes")}


class Circuit:
    """A circuit of its text: calls over the arrays of classes 0 … 95. program: what it is lowered to; original, canonical: its expression before
    and after it was simplified."""

    def __init__(self, text):
        translated = c.hg_translated_program(size=ctypes.sizeof(c.hg_translated_program))
        raw = text.encode()
        self._translated = None
        with _Diagnostics() as said:
            said.check(c.hg_circuit_to_isa_translate(raw, len(raw), None, said.handle, ctypes.byref(translated)), "circuit", text)
        self._translated = translated
        self.program = Program(c.hg_program_retain(translated.program))
        self.original, self.canonical = (ctypes.string_at(one).decode() if one else "" for one in (translated.original_expr, translated.canonical_expr))
        self.dtype = types.by_code(translated.element_type)

    def __del__(self):
        if getattr(self, "_translated", None) is not None and not sys.is_finalizing():
            c.hg_translated_program_release(ctypes.byref(self._translated))

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
        check(c.hg_circuit_run(c.hg_executor_backend(executor.handle), ctypes.byref(self._translated), ctypes.byref(launch),
                               (c.hg_class_array * max(len(rows), 1))(*rows), len(rows)))
        for array, host, field in keeps:
            if field == "output":
                array[...] = from_bytes(bytes(host), self.dtype, array.shape, executor)
        return made

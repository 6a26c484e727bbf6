"""StableHLO modules, and functions of JAX, as functions of arrays."""
import ctypes
import numbers

from . import _executor, _interface as c, _namespace, _native
from ._graph import Graph, outputs_of
from ._program import _Diagnostics


class Module(Graph):
    """A StableHLO module as a function: module(x, y) takes its arguments in their order and returns its result, or a tuple of them.

    i1 is u8, 0 or 1; complex elements are two along one more axis."""

    __slots__ = ("_made", "_tree")

    def _open(self, raw, name, text, made):
        with _Diagnostics() as said:
            said.check(c.hg_graph_read_stablehlo(raw, len(raw), said.handle, ctypes.byref(made)), name, text)

    def __init__(self, text, *, name="module.mlir"):
        super().__init__(text, name=name)
        self._made, self._tree = list(outputs_of(self.text.splitlines()).values()), None

    def __reduce_ex__(self, protocol):
        return (*super().__reduce_ex__(protocol), self._tree)

    def __setstate__(self, tree):
        self._tree = tree

    def __call__(self, *arrays, executor=None):
        count = sum(name.startswith("arg") for name in self._inputs)  # constants of the module are there
        if len(arrays) != count:
            raise TypeError(f"the module takes {count} arrays, got {len(arrays)}")
        there = [one for one in arrays if isinstance(one, _native.Array)]
        executor = there[0].executor if there and executor is None else _executor.executor_of(executor)
        given = {}
        for k, one in enumerate(arrays):
            dtype, dims = self._inputs[f"arg{k}"]
            one = one if hasattr(one, "shape") else _namespace.asarray(one, dtype=dtype, device=executor)
            if tuple(map(str, one.shape)) != tuple(filter(None, dims)):
                raise ValueError(f"arg{k}: expected the shape ({', '.join(dims)}), got {tuple(one.shape)}")
            given[f"arg{k}"] = one
        results = [_namespace.empty(shape, dtype=dtype, device=executor) for dtype, shape in self._made]
        names = ["result"] if len(results) == 1 else [f"result{k}" for k in range(len(results))]
        self.bind(executor, **given, **dict(zip(names, results))).launch()
        if self._tree is not None:
            return self._tree(results)
        return results[0] if len(results) == 1 else tuple(results)


def from_stablehlo(text, *, name="module.mlir"):
    """The function that a StableHLO module's @main is, of its text as jax.jit(f).lower(...).as_text() gives it. name: of messages."""
    return Module(text, name=name)


def from_jax(fn, *shapes):
    """A function of JAX for arguments of these shapes: arrays, or shapes (f32), or (shape, dtype). It is lowered by JAX once, here, and runs without it.

    The result has the structure that fn returns, of Hologram's arrays."""
    try:
        import jax
    except ImportError:
        raise ImportError("hg.from_jax needs JAX, which is not installed: pip install jax") from None

    def argument(one):
        if hasattr(one, "shape") and hasattr(one, "dtype"):
            return jax.ShapeDtypeStruct(one.shape, str(one.dtype))
        if not isinstance(one, (tuple, list)):
            raise TypeError(f"each argument is an array, a shape, or (shape, dtype), got {one!r}")
        shape, dtype = one if len(one) == 2 and not isinstance(one[1], numbers.Integral) else (one, "float32")
        return jax.ShapeDtypeStruct(tuple(shape), dtype)

    lowered = jax.jit(fn, keep_unused=True).lower(*map(argument, shapes))
    module = Module(lowered.as_text(), name=getattr(fn, "__name__", "function") + ".mlir")
    tree = jax.tree_util.tree_structure(lowered.out_info)
    module._tree = tree.unflatten
    return module

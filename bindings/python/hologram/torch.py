"""PyTorch on Hologram: layers, modules that are converted whole, kernels as custom operators. Tensors of the CPU are shared without
copies in both directions.

    model = hologram.torch.Linear(512, 256, backend="auto")     # a torch.nn.Module; weight [out, in], as PyTorch's
    fast = hologram.torch.convert(module.eval(), example)       # MLPs, convolutional networks, transformer encoders
"""
import inspect
import operator
import threading
import types as _modules

import torch

from . import _executor, _native
from . import _namespace as xp
from ._array import convert as _convert_array
from ._errors import ArgumentError
from ._scope import scope

__all__ = ["Linear", "convert", "Converted", "from_torch", "to_torch", "register_kernel"]
_op = _native.operations


def from_torch(tensor, executor=None):
    """An array of a tensor: the same memory where both see it, else a copy. What PyTorch knows of gradients stays behind."""
    return _convert_array(tensor.detach(), None, executor, None)


def to_torch(array, device=None):
    """A tensor of an array: the same memory on the CPU, else a copy. device: where PyTorch wants it."""
    tensor = torch.from_dlpack(array if array.executor.backend == "cpu" or array.executor.backend == "cuda" else array.to_device("cpu"))
    return tensor if device is None or tensor.device == device else tensor.to(device)


# ---- a layer ----

class _LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(context, x, weight, bias, executor):
        context.save_for_backward(x, weight)
        context.executor, context.has_bias = executor, bias is not None
        made = _linear(from_torch(x, executor), from_torch(weight, executor), None if bias is None else from_torch(bias, executor))
        return to_torch(made, x.device)

    @staticmethod
    def backward(context, gradient):
        x, weight = context.saved_tensors
        executor = context.executor
        g = from_torch(gradient.contiguous(), executor)
        rows = g.reshape((-1, g.shape[-1]))
        to_x = to_weight = to_bias = None
        with scope(executor):
            if context.needs_input_grad[0]:
                to_x = g @ from_torch(weight, executor)
            if context.needs_input_grad[1]:
                to_weight = rows.T @ from_torch(x, executor).reshape((-1, x.shape[-1]))
            if context.has_bias and context.needs_input_grad[2]:
                to_bias = xp.sum(rows, axis=0)
        return (*(None if one is None else to_torch(one, gradient.device) for one in (to_x, to_weight, to_bias)), None)


def _linear(x, weight, bias):
    """x weight^T + bias over the last axis. The other axes are taken in the order in which they lie: that needs no copy."""
    order = (*sorted(range(x.ndim - 1), key=lambda axis: -x.strides[axis]), x.ndim - 1)
    if not x.is_contiguous and (lying := x.permute(order)).is_contiguous:
        return _linear(lying, weight, bias).permute(tuple(order.index(axis) for axis in range(x.ndim)))
    if x.ndim == 1:
        made = weight @ x
    else:
        made = (x.reshape((-1, x.shape[-1])) @ weight.T).reshape((*x.shape[:-1], weight.shape[0]))
    return made if bias is None else made + bias


class Linear(torch.nn.Linear):
    """torch.nn.Linear whose product runs on Hologram, forwards and backwards: weight [out_features, in_features], x W^T + b over the last
    axis. backend: "auto", "cpu", "cuda", "metal", …, or an Executor; a missing one is hologram.BackendUnavailable."""

    def __init__(self, in_features, out_features, bias=True, backend="auto", device=None, dtype=None):
        super().__init__(in_features, out_features, bias=bias, device=device, dtype=dtype)
        self.executor = _executor.default_executor() if backend == "auto" else _executor.executor_of(backend)

    def forward(self, input):
        if input.shape[-1] != self.in_features:
            raise ArgumentError(f"Linear: the last axis has {input.shape[-1]} elements, {self.in_features} expected (in_features)")
        return _LinearFunction.apply(input, self.weight, self.bias, self.executor)

    def extra_repr(self):
        return f"{super().extra_repr()}, backend={self.executor.backend!r}"

    def __getstate__(self):
        state = self.__dict__.copy()
        state["executor"] = self.executor.backend
        return state

    def __setstate__(self, state):
        super().__setstate__({**state, "executor": _executor.executor_of(state["executor"])})


nn = _modules.SimpleNamespace(Linear=Linear)

# ---- whole modules ----

_DTYPES = {getattr(torch, name): name for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64")}
_TORCH = {name: dtype for dtype, name in _DTYPES.items()}


def _version(tensor):
    """How often PyTorch has written a tensor in place; tensors of inference mode are not counted."""
    return None if tensor.is_inference() else tensor._version


def _each(value, rank, otherwise):
    """Numbers of each axis, of which PyTorch gives none, one or all."""
    value = [value] if isinstance(value, int) else list(value)
    return tuple(value or otherwise) * (rank if len(value) == 1 else 1)


def _with_batch(rank):
    """Decorates a function of [batch, channels, size of `rank` axes]: without a batch there is one."""
    def decorate(function):
        def call(x, *more, **named):
            if x.ndim == rank + 2:
                return function(x, *more, **named)
            made = function(x.unsqueeze(0), *more, **named)
            return tuple(one.squeeze(0) for one in made) if isinstance(made, tuple) else made.squeeze(0)
        return call
    return decorate


def _conv(rank):
    @_with_batch(rank)
    def conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if isinstance(padding, str):
            raise ArgumentError(f"convert: padding={padding!r}: numbers are expected")
        stride, padding, dilation = (_each(one, rank, [other]) for one, other in ((stride, 1), (padding, 0), (dilation, 1)))
        return getattr(xp, f"conv{rank}d")(x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return conv


def _conv_transpose(rank):
    @_with_batch(rank)
    def conv(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, padding, more, dilation = (_each(one, rank, [other]) for one, other in ((stride, 1), (padding, 0), (output_padding, 0), (dilation, 1)))
        return xp.conv_transpose(x, weight, bias, stride=stride, padding=padding, output_padding=more, dilation=dilation, groups=groups)
    return conv


def _max_pool(rank, indices=False):
    @_with_batch(rank)
    def pool(x, window, stride=(), padding=0, dilation=1, ceil_mode=False):
        window = _each(window, rank, None)
        return xp.max_pool(x, window, stride=_each(stride, rank, window), padding=_each(padding, rank, [0]), dilation=_each(dilation, rank, [1]),
                           ceil_mode=ceil_mode, return_indices=indices)
    return pool


def _avg_pool(rank):
    @_with_batch(rank)
    def pool(x, window, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        window = _each(window, rank, None)
        return xp.avg_pool(x, window, stride=_each(stride, rank, window), padding=_each(padding, rank, [0]), counted=count_include_pad, ceil_mode=ceil_mode,
                           divisor=divisor_override)
    return pool


def _adaptive(x, size):
    height, width = x.shape[-2:]
    if height % size[0] or width % size[1]:
        raise ArgumentError(f"convert: adaptive_avg_pool2d of {height} x {width} to {size[0]} x {size[1]}: multiples are expected")
    shape = (*x.shape[:-2], size[0], height // size[0], size[1], width // size[1])
    return xp.mean(x.reshape(shape), axis=(-3, -1))


def _sdpa(query, key, value, mask=None, dropout=0.0, causal=False, *, scale=None, enable_gqa=False):
    return xp.attention(query, key, value, mask, causal=causal, scale=0.0 if scale is None else scale)


def _layer_norm(x, shape, weight=None, bias=None, eps=1e-5, *_):
    if weight is None:
        weight = xp.ones(tuple(shape), dtype=x.dtype, device=x.device)
    return xp.layer_norm(x, weight, xp.zeros_like(weight) if bias is None else bias, eps=eps)


def _batch_norm(x, weight, bias, mean, variance, training, momentum, eps, *_):
    if training:
        raise ArgumentError("convert: batch_norm in training: call eval() first")
    return _op["batch_norm"](x, weight, bias, mean, variance, numbers=(eps,))


def _slice(x, axis=0, start=None, stop=None, step=1):
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, stop, step),)]


def _split(x, sizes, axis=0):
    extent = x.shape[axis]
    sizes = sizes if hasattr(sizes, "__len__") else [min(sizes, extent - at) for at in range(0, extent, sizes)]
    at, parts = 0, []
    for size in sizes:
        parts.append(x.narrow(axis, at, size))
        at += size
    return parts


def _chunk(x, count, axis=0):
    return _split(x, -(-x.shape[axis] // count), axis)


def _expand(x, sizes, **_):
    lead = len(sizes) - x.ndim
    return x.broadcast_to(tuple(x.shape[i - lead] if size == -1 else size for i, size in enumerate(sizes)))


def _flatten(x, start=0, end=-1):
    start, end = start % x.ndim, end % x.ndim
    return x.reshape((*x.shape[:start], -1 if x.size else 0, *x.shape[end + 1:]))


def _unflatten(x, axis, sizes):
    axis %= x.ndim
    return x.reshape((*x.shape[:axis], *sizes, *x.shape[axis + 1:]))


def _transpose(x, a, b):
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return x.permute(tuple(order))


def _reduced(function):
    def reduce(x, axis=None, keepdims=False, *, dtype=None):
        axes = tuple(axis) or None if isinstance(axis, (list, tuple)) else axis  # no axis: all
        return function(_to(x, dtype=dtype), axis=axes, keepdims=keepdims)
    return reduce


def _to(x, *args, dtype=None, **_):
    wanted = dtype or next((one for one in args if isinstance(one, torch.dtype)), None)
    return x if wanted is None else x.astype(_DTYPES[wanted], copy=False)


def _add(a, b, *, alpha=1):
    return a + (b if alpha == 1 else b * alpha)


def _fill(make):
    def fill(x, *args, dtype=None, **_):
        return make(x.shape, *args, dtype=x.dtype if dtype is None else _DTYPES[dtype], device=x.device)
    return fill


def _same(x, *_, **__):
    return x


def _heads(node):
    """Of a node that is the last of view [l, b h, d], transpose, view [b, h, l, d], as PyTorch's attention takes heads apart: the node of [l, b, h d]
    in front of them. Taken together they move nothing; one by one the first is a copy, where query, key and value lie in one array."""
    found = []
    for name in ("view", "transpose", "view"):
        if node.op != "call_function" or getattr(node.target, "_opname", "") != name or found and len(node.users) != 1:
            return None
        found.append(node)
        node = node.args[0]
    last, swap, first = found
    return node if sorted(swap.args[1:]) == [0, 1] and len(last.args[1]) == 4 and len(first.args[1]) == 3 else None


def _take_heads_apart(x, shape):
    batch, heads, length, size = shape
    if x.shape != (length, batch, heads * size):
        return x.reshape((length, batch * heads, size)).permute((1, 0, 2)).reshape(tuple(shape))
    return x.reshape((length, batch, heads, size)).permute((1, 2, 0, 3))


# ATen's operations, as torch.export names them.
_ATEN = {
    "linear": _linear, "adaptive_avg_pool2d": _adaptive, **{f"conv{n}d": _conv(n) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _conv_transpose(n) for n in (1, 2, 3)}, **{f"max_pool{n}d": _max_pool(n) for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": _max_pool(n, True) for n in (1, 2, 3)}, **{f"avg_pool{n}d": _avg_pool(n) for n in (1, 2, 3)},
    "scaled_dot_product_attention": _sdpa, "layer_norm": _layer_norm, "batch_norm": _batch_norm, "_native_batch_norm_legit_no_training": _batch_norm,
    "group_norm": lambda x, groups, weight, bias, eps, *_: _op["group_norm"](x, weight, bias, sizes=(groups,), numbers=(eps,)),
    "rms_norm": lambda x, shape, weight=None, eps=None: xp.rms_norm(x, weight, eps=1e-6 if eps is None else eps),
    "relu": _op["relu"], "relu_": _op["relu"], "sigmoid": _op["sigmoid"], "tanh": _op["tanh"], "silu": _op["silu"], "silu_": _op["silu"],
    "gelu": lambda x, *, approximate="none": _op["gelu_tanh" if approximate == "tanh" else "gelu"](x),
    "softplus": _op["softplus"], "leaky_relu": lambda x, slope=0.01: xp.where(x > 0, x, x * slope),
    "elu": lambda x, alpha=1.0, *_: xp.where(x > 0, x, xp.expm1(x) * alpha),
    "softmax": lambda x, axis, dtype=None: xp.softmax(_to(x, dtype=dtype), axis=axis), "log_softmax": lambda x, axis, dtype=None: xp.log_softmax(_to(x, dtype=dtype), axis=axis),
    "matmul": operator.matmul, "mm": operator.matmul, "bmm": operator.matmul, "mv": operator.matmul, "addmm": lambda c, a, b: a @ b + c, "baddbmm": lambda c, a, b: a @ b + c,
    "add": _add, "add_": _add, "sub": lambda a, b, *, alpha=1: a - (b if alpha == 1 else b * alpha), "mul": operator.mul, "div": operator.truediv, "mul_": operator.mul, "div_": operator.truediv,
    "neg": operator.neg, "pow": operator.pow, "abs": abs, "exp": xp.exp, "log": xp.log, "sqrt": xp.sqrt, "rsqrt": _op["rsqrt"], "erf": xp.erf, "sin": xp.sin, "cos": xp.cos,
    "maximum": xp.maximum, "minimum": xp.minimum, "clamp": lambda x, low=None, high=None: xp.clip(x, low, high), "where": lambda c, a, b: xp.where(c, a, b),
    "hardtanh": lambda x, low=-1.0, high=1.0: xp.clip(x, low, high),
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "logical_not": xp.logical_not, "bitwise_not": operator.invert, "masked_fill": lambda x, mask, value: xp.where(mask, value, x),
    "mean": _reduced(xp.mean), "sum": _reduced(xp.sum), "amax": _reduced(xp.max), "amin": _reduced(xp.min), "cumsum": lambda x, axis, *, dtype=None: xp.cumulative_sum(_to(x, dtype=dtype), axis=axis),
    "argmax": lambda x, axis=None, keepdims=False: xp.argmax(x, axis=axis, keepdims=keepdims),
    "view": lambda x, shape: x.reshape(tuple(shape)), "reshape": lambda x, shape: x.reshape(tuple(shape)), "_unsafe_view": lambda x, shape: x.reshape(tuple(shape)),
    "flatten": _flatten, "unflatten": _unflatten, "transpose": _transpose, "t": lambda x: x.T, "numpy_T": lambda x: x.T, "permute": lambda x, axes: xp.permute_dims(x, tuple(axes)),
    "unsqueeze": lambda x, axis: xp.expand_dims(x, axis=axis), "squeeze": lambda x, axis: x.squeeze(axis) if x.shape[axis] == 1 else x,
    "expand": _expand, "expand_as": lambda x, y: x.broadcast_to(y.shape), "slice": _slice, "select": lambda x, axis, index: x.select(axis, index),
    "split": _split, "split_with_sizes": _split, "chunk": _chunk, "unbind": lambda x, axis=0: xp.unstack(x, axis=axis),
    "cat": lambda parts, axis=0: xp.concat(parts, axis=axis), "stack": lambda parts, axis=0: xp.stack(parts, axis=axis),
    "embedding": lambda table, indices, *_: xp.embedding(table, indices), "narrow": lambda x, axis, start, length: x.narrow(axis, start, length),
    "zeros_like": _fill(xp.zeros), "ones_like": _fill(xp.ones), "full_like": _fill(xp.full), "tril": lambda x, k=0: xp.tril(x, k=k), "triu": lambda x, k=0: xp.triu(x, k=k),
    "contiguous": _same, "clone": _same, "detach": _same, "detach_": _same, "dropout": lambda x, p, training: _same(x), "alias": _same, "lift_fresh_copy": _same, "to": _to, "_to_copy": _to, "type_as": lambda x, y: x.astype(y.dtype, copy=False),
    "feature_dropout": lambda x, p, training: _same(x), "_assert_tensor_metadata": lambda *_, **__: None,
}


class Converted:
    """A module that convert made: called with the tensors that the module takes, it returns the tensors that the module returns. code: its
    operations, a line each. Parameters are copies, which products read in their own order; what training writes into the module's is copied again
    at the next call (changes through `.data`, which PyTorch does not count, by update())."""

    # A recording that has the same memory again uses what was bound for it, with the weights in the order in which products read them. So inputs are
    # copied into memory that stays, for the last shapes of each thread, and results into PyTorch's.
    _SHAPES = 4

    def __init__(self, exported, executor):
        self.executor, self.exported, self._of_thread = executor, exported, threading.local()
        signature = exported.graph_signature
        held = {**dict(exported.named_parameters()), **dict(exported.named_buffers()), **exported.constants}
        names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
        self._constants, self._inputs, self._steps, self._versions = {}, [], [], []
        self._lock, unknown = threading.Lock(), []
        for node in exported.graph.nodes:
            if node.op == "placeholder":
                if node.name in names:
                    tensor = held[names[node.name]]
                    self._constants[node] = from_torch(tensor, executor).copy()
                    self._versions.append([node, tensor, _version(tensor)])
                else:
                    self._inputs.append(node)
            elif node.op == "call_function":
                function = self._function(node)
                if function is None:
                    unknown.append(str(node.target))
                else:
                    self._steps.append((node, function))
            elif node.op == "output":
                self._output = node.args[0]
        self._steps = self._without_copies(self._steps)
        if unknown:
            raise ArgumentError(f"convert: the module uses operations that are not known here: {', '.join(sorted(set(unknown)))}")

    @staticmethod
    def _without_copies(steps):
        """(node, function, arguments), without those that take heads apart one by one."""
        made, gone = [], set()
        for node, function in reversed(steps):
            if node in gone:
                continue
            source = _heads(node)
            if source is None:
                made.append((node, function, node.args))
            else:
                made.append((node, _take_heads_apart, (source, node.args[1])))
                gone.update((node.args[0], node.args[0].args[0]))
        return made[::-1]

    @staticmethod
    def _function(node):
        if not isinstance(node.target, torch._ops.OpOverload):  # operator.getitem, arithmetic of sizes
            return node.target if getattr(node.target, "__module__", "") in ("_operator", "math", "builtins") else None
        namespace, name = node.target.namespace, node.target._schema.name.split("::")[1]
        if namespace != "aten":
            return None
        return {"sym_size": lambda x, axis: x.shape[axis]}.get(name) or _ATEN.get(name)

    @property
    def code(self):
        return self.exported.graph_module.code

    def update(self):
        """Copies all parameters again."""
        with self._lock:
            for entry in self._versions:
                entry[2] = None
        self._update()

    def _update(self):
        if any(_version(tensor) != version for _, tensor, version in self._versions):
            with self._lock:
                for entry in self._versions:
                    node, tensor, version = entry
                    if (now := _version(tensor)) != version:
                        self._constants[node][...] = from_torch(tensor, self.executor)
                        entry[2] = now

    def _kept(self, tensors):
        """The tensors' elements in memory that stays."""
        kept = self._of_thread.__dict__.setdefault("kept", {})
        key = tuple((tensor.shape, tensor.dtype) for tensor in tensors)
        given = [from_torch(tensor, self.executor) for tensor in tensors]
        if key not in kept:
            if len(kept) == self._SHAPES:
                del kept[next(iter(kept))]
            kept[key] = [one.copy() for one in given]
        else:
            for one, new in zip(kept[key], given):
                one[...] = new
        return kept[key]

    def _result(self, made, device):
        """An array as PyTorch's, in memory that is not the array's."""
        if self.executor.backend != "cpu":
            return to_torch(made.contiguous(), device)
        tensor = torch.empty(made.shape, dtype=_TORCH[made.dtype.name])
        from_torch(tensor, self.executor)[...] = made
        return tensor if tensor.device == device else tensor.to(device)

    def __call__(self, *tensors):
        if len(tensors) != len(self._inputs):
            raise TypeError(f"the module takes {len(self._inputs)} tensors, not {len(tensors)}")
        self._update()
        values = dict(self._constants)
        device = tensors[0].device if tensors else None
        values.update(zip(self._inputs, self._kept(tensors)))

        def of(one):
            if isinstance(one, torch.fx.Node):
                return values[one]
            if isinstance(one, (list, tuple)):
                return [of(item) for item in one]
            return one
        with scope(self.executor):
            for node, function, arguments in self._steps:
                values[node] = function(*(of(one) for one in arguments), **{name: of(one) for name, one in node.kwargs.items()})
            results = [of(one) for one in (self._output if isinstance(self._output, (list, tuple)) else [self._output])]
            values.clear()  # what is held at the end of a scope is kept, and not fused with what comes behind
        made = tuple(self._result(one, device) if isinstance(one, _native.Array) else one for one in results)
        spec = self.exported.call_spec.out_spec
        return torch.utils._pytree.tree_unflatten(list(made), spec)


def convert(module, *example, backend="auto", dynamic_batch=True):
    """A module that runs on Hologram as a whole: its operations, as torch.export says them, are recorded together, fused and compiled once.
    MLPs, convolutional networks and transformer encoders.

    module: in eval(). example: tensors of the shapes that it takes. dynamic_batch: the first axis may have any extent afterwards.
    ArgumentError with the names of operations that are not known here; ImportError where PyTorch is older than 2.6.
    """
    if not example:
        raise TypeError("convert: an example of the input is needed: convert(module, torch.zeros(1, 784))")
    if module.training:
        raise ArgumentError("convert: the module is in training: call eval() first")
    if not hasattr(getattr(torch.export, "Dim", None) if hasattr(torch, "export") else None, "DYNAMIC"):
        raise ImportError(f"convert: PyTorch 2.6 or newer is needed, whose torch.export says what a module does; this is {torch.__version__}")
    executor = _executor.default_executor() if backend == "auto" else _executor.executor_of(backend)
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # else an encoder layer is one operation that nobody else knows
    try:
        with torch.no_grad():
            shapes = None
            if dynamic_batch:
                shapes = tuple({0: torch.export.Dim.DYNAMIC} if one.ndim and one.shape[0] > 1 else None for one in example)
            try:
                exported = torch.export.export(module, example, dynamic_shapes=shapes, strict=False)
            except Exception:
                if shapes is None:
                    raise
                exported = torch.export.export(module, example, strict=False)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return Converted(exported, executor)


# ---- kernels as operators ----

def register_kernel(name, forward, backward=None, *, output):
    """Makes a custom operator of PyTorch: torch.ops.NAMESPACE.OPERATOR of "namespace::operator".

    output(x, y, …): the empty tensor that it writes, for inputs of these names. forward(x, y, …, made): launches a kernel over arrays, which
    are the tensors' memory.
    backward(gradient, *tensors) -> a gradient (or None) for each input, with tensors of PyTorch; it may launch kernels by from_torch.
    """
    def compute(*tensors):
        made = output(*tensors)
        forward(*(from_torch(one.contiguous()) for one in tensors), from_torch(made))
        return made

    library, operator_name = name.split("::")
    inputs = ", ".join(f"Tensor {parameter}" for parameter in inspect.signature(output).parameters)
    torch.library.define(name, f"({inputs}) -> Tensor")
    torch.library.impl(name, "CPU", compute)
    torch.library.register_fake(name, output)
    if backward is not None:
        def setup(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
        torch.library.register_autograd(name, lambda context, gradient: backward(gradient, *context.saved_tensors), setup_context=setup)
    return getattr(getattr(torch.ops, library), operator_name)


#!/usr/bin/python3
"""ONNX's node tests with operations on tensors: every graph whose operators are here, in turns at once and in a scope.

    tests/tensors/run_onnx.py [--every N] [--backend B] [--list] [TEST...]

--every N: each N-th of the tests whose operators are here. --list: what has no operation, by reason. The tests are those of the wheel `onnx`
(tests/tensors/requirements.txt, which tools/setup installs into build/onnx); without it "skipped: REASON". The operators of ONNX become one call, or a
few, of hg_ops_call; elements must be equal, floats near. Last line: N passed, N failed, N skipped."""
import argparse
import collections
import ctypes as C
import glob
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Error, Executor, Tensor, TYPES, checks, extents, lib, np, numbers  # noqa: E402
import onnx_files  # noqa: E402
from onnx_files import Other  # noqa: E402

NEAR = {2: 2e-3, 4: 2e-5, 8: 1e-7}  # relative, by the bytes of a float; ONNX's own runner takes 1e-3
ALMOST = {2: 1e-3, 4: 2e-6, 8: 1e-7}
ROUGH = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}  # its numbers have four digits
OPERATORS = {}


# ---- what the functions of operators are written with ----

def operator(*names):
    def keep(function):
        OPERATORS.update(dict.fromkeys(names, function))
        return function
    return keep


def call(name, *inputs, **how):
    return Executor.call(executor, name, *inputs, **how)


def put(value, dtype):
    """A tensor of its own: a recorded operation reads it later."""
    return Tensor(executor.tensor(np.array(value, dtype)).take())


def like(value, t):
    return put(value, kind(t))


def kind(t):
    return np.dtype(TYPES[lib.hg_tensor_type(t.handle)])


def view(name, t, *arguments):
    return Tensor(t.view("hg_tensor_" + name, *arguments).take())


def reshape(t, shape):
    return view("reshape", t, extents(shape), C.c_uint32(len(shape)))


def permute(t, order):
    return view("permute", t, numbers(C.c_int32, order), C.c_uint32(len(order)))


def broadcast(t, shape):
    return view("broadcast_to", t, extents(shape), C.c_uint32(len(shape)))


def cut(t, axis, start, stop, step=1):
    return view("slice", t, C.c_int32(axis), *(C.c_int64(x) for x in (start, stop, step)))


def host(t):
    """Elements that are shapes, axes and the like."""
    return None if t is None else [int(x) for x in t.numpy().ravel()]


def number(t, otherwise=0.0):
    return otherwise if t is None else float(t.numpy().ravel()[0])


def cast(t, dtype):
    return t if kind(t) == dtype else call("cast", t, type=dtype)


def is_float(t):
    return kind(t).kind == "f"


def alike(t):
    """The first input where there is nothing to do."""
    return call("positive", t) if kind(t) != bool else call("logical_or", t, t)


class Call:
    def __init__(self, node):
        self.operator, self.attributes, self.opset, self.outputs = node.operator, node.attributes(), node.opset, node.outputs

    def get(self, name, otherwise=None):
        return self.attributes.get(name, otherwise)

    def only(self, *known, **values):
        """Refuses attributes that are not known, or have other values than those that are."""
        for name, value in self.attributes.items():
            if name not in known and (name not in values or value != values[name]):
                raise Other(f"attribute {name}")


# ---- element-wise ----

SAME = {"Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh", "Ceil": "ceil", "Cos": "cos",
        "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor", "IsNaN": "isnan", "Log": "log", "Neg": "neg", "Not": "logical_not",
        "Reciprocal": "reciprocal", "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
        "Softplus": "softplus", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh", "BitwiseNot": "bitwise_invert",
        "Add": "add", "And": "logical_and", "Equal": "equal", "Greater": "greater", "GreaterOrEqual": "greater_equal", "Less": "less",
        "LessOrEqual": "less_equal", "Mul": "mul", "Or": "logical_or", "Sub": "sub", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and",
        "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Where": "where", "Det": "det"}
for onnx_name, own_name in SAME.items():
    OPERATORS[onnx_name] = lambda n, *x, own=own_name: call(own, *x)


@operator("Identity")
def identity(n, x):
    return alike(x)


@operator("Div")
def div(n, a, b):
    """Of integers toward zero."""
    if is_float(a):
        return call("div", a, b)
    if kind(a).kind == "u":
        return call("floor_divide", a, b)
    sign = call("mul", call("sign", a), call("sign", b))
    return call("mul", sign, call("floor_divide", call("abs", a), call("abs", b)))


@operator("Mod")
def mod(n, a, b):
    if not n.get("fmod", 0):
        return call("remainder", a, b)
    if is_float(a):
        return call("copysign", call("remainder", call("abs", a), call("abs", b)), a)
    if kind(a).kind == "u":
        return call("remainder", a, b)
    return call("mul", call("sign", a), call("remainder", call("abs", a), call("abs", b)))


@operator("Pow")
def pow_(n, a, b):
    return cast(call("pow", a, b if kind(b) == kind(a) else cast(b, np.result_type(kind(a), kind(b)))), kind(a))


@operator("BitShift")
def bit_shift(n, a, b):
    return call({"LEFT": "bitwise_left_shift", "RIGHT": "bitwise_right_shift"}[n.get("direction")], a, b)


def fold(name):
    def function(n, *x):
        result = x[0] if len(x) > 1 else alike(x[0])
        for other in x[1:]:
            result = call(name, result, other)
        return result
    return function


OPERATORS.update({"Max": fold("maximum"), "Min": fold("minimum"), "Sum": fold("add")})


@operator("Mean")
def mean(n, *x):
    return call("div", fold("add")(n, *x), like(len(x), x[0]))


@operator("Clip")
def clip(n, x, low=None, high=None):
    if low is None and high is None:
        return alike(x)
    if low is None:
        return call("minimum", x, high)
    return call("clip", x, low, high) if high is not None else call("maximum", x, low)


@operator("IsInf")
def is_inf(n, x):
    positive, negative = n.get("detect_positive", 1), n.get("detect_negative", 1)
    found = call("isinf", x)
    if positive and negative:
        return found
    if not positive and not negative:
        return call("logical_and", found, call("isnan", x))
    return call("logical_and", found, call("greater" if positive else "less", x, like(0, x)))


@operator("Cast", "CastLike")
def cast_to(n, x, pattern=None):
    n.only("to", "saturate", "round_mode")
    to = kind(pattern) if pattern is not None else onnx_files.TYPES.get(n.get("to"))
    if to is None:
        raise Other(onnx_files.NAMES.get(n.get("to"), "a type"))
    return call("cast", x, type=to)


@operator("Gelu")
def gelu(n, x):
    return call("gelu_tanh" if n.get("approximate") == "tanh" else "gelu", x)


@operator("Swish")
def swish(n, x):
    alpha = n.get("alpha", 1.0)
    return call("silu", x) if alpha == 1 else call("mul", x, call("sigmoid", call("mul", x, like(alpha, x))))


@operator("LeakyRelu")
def leaky_relu(n, x):
    return call("where", call("less", x, like(0, x)), call("mul", x, like(n.get("alpha", 0.01), x)), x)


@operator("PRelu")
def p_relu(n, x, slope):
    return call("where", call("less", x, like(0, x)), call("mul", x, slope), x)


@operator("Elu", "Celu")
def elu(n, x):
    alpha, zero = n.get("alpha", 1.0), like(0, x)
    over = call("div", x, like(alpha, x)) if "Celu" in n.operator else x
    return call("where", call("less", x, zero), call("mul", call("expm1", over), like(alpha, x)), x)


@operator("Selu")
def selu(n, x):
    alpha, gamma = n.get("alpha", 1.67326319217681884765625), n.get("gamma", 1.05070102214813232421875)
    return call("mul", like(gamma, x), call("where", call("less", x, like(0, x)), call("mul", call("expm1", x), like(alpha, x)), x))


@operator("HardSigmoid")
def hard_sigmoid(n, x):
    return call("clip", call("add", call("mul", x, like(n.get("alpha", 0.2), x)), like(n.get("beta", 0.5), x)), like(0, x), like(1, x))


@operator("HardSwish")
def hard_swish(n, x):
    return call("mul", x, call("clip", call("add", call("mul", x, like(1 / 6, x)), like(0.5, x)), like(0, x), like(1, x)))


@operator("Mish")
def mish(n, x):
    return call("mul", x, call("tanh", call("softplus", x)))


@operator("Softsign")
def softsign(n, x):
    return call("div", x, call("add", call("abs", x), like(1, x)))


@operator("ThresholdedRelu")
def thresholded_relu(n, x):
    return call("where", call("greater", x, like(n.get("alpha", 1.0), x)), x, like(0, x))


@operator("Shrink")
def shrink(n, x):
    edge, bias, zero = n.get("lambd", 0.5), n.get("bias", 0.0), like(0, x)
    below, above = call("less", x, like(-edge, x)), call("greater", x, like(edge, x))
    return call("where", below, call("add", x, like(bias, x)), call("where", above, call("sub", x, like(bias, x)), zero))


@operator("Dropout")
def dropout(n, x, ratio=None, training=None):
    if training is not None and number(training) and (ratio is None or number(ratio)):
        raise Other("training")
    return [alike(x), call("equal", x, x)][:len(n.outputs)]


# ---- reductions, sorting, cumulative ----

def axes_of(n, x, axes):
    """Axes of a reduction, as an attribute or an input; None: nothing is reduced."""
    axes = n.get("axes", host(axes))
    if not axes:
        return None if n.get("noop_with_empty_axes", 0) else list(range(len(x.shape)))
    return axes


def reduction(reduce_, before=lambda x: x, after=lambda x: x):
    def function(n, x, axes=None):
        over = axes_of(n, x, axes)
        made = before(x)
        if over is not None:
            made = reduce_(made, axes=over, keepdims=bool(n.get("keepdims", 1)))
        made = after(made)
        return alike(made) if made is x else made
    return function


def sums(x, **how):
    return call("sum", x, type=kind(x), **how)


OPERATORS.update({
    "ReduceSum": reduction(sums), "ReduceMean": reduction(lambda x, **how: call("mean", x, **how)),
    "ReduceProd": reduction(lambda x, **how: call("prod", x, type=kind(x), **how)),
    "ReduceL1": reduction(sums, lambda x: call("abs", x)), "ReduceSumSquare": reduction(sums, lambda x: call("square", x)),
    "ReduceL2": reduction(lambda x, **how: call("vector_norm", x, **how)), "ReduceLogSum": reduction(sums, after=lambda x: call("log", x)),
    "ReduceLogSumExp": reduction(lambda x, **how: call("logsumexp", x, **how))})


@operator("ReduceMax", "ReduceMin")
def extreme(n, x, axes=None):
    largest, over, before = n.operator == "ReduceMax", axes_of(n, x, axes), kind(x)
    if over is None:
        return alike(x)
    if 0 in x.shape:  # what the operation refuses
        if before.kind == "f":
            least = -np.inf if largest else np.inf
        else:
            least = (np.iinfo(before).min if largest else np.iinfo(before).max) if before != bool else not largest
        shape = [1 if d in [o % len(x.shape) for o in over] else s for d, s in enumerate(x.shape)]
        return put(np.full(shape, least), before)
    wide = cast(x, np.dtype("u1")) if before == bool else x
    return cast(call("max" if largest else "min", wide, axes=over, keepdims=bool(n.get("keepdims", 1))), before)


@operator("ArgMax", "ArgMin")
def arg(n, x):
    name, axis, keep = n.operator.lower(), n.get("axis", 0), bool(n.get("keepdims", 1))
    if not n.get("select_last_index", 0):
        return call(name, x, axes=[axis], keepdims=keep)
    last = call(name, cut(x, axis, x.shape[axis] - 1, -(2 ** 63), -1), axes=[axis], keepdims=keep)
    return call("sub", like(x.shape[axis] - 1, last), last)


@operator("CumSum", "CumProd")
def cumulative(n, x, axis):
    name, axis = {"CumSum": "cumulative_sum", "CumProd": "cumulative_prod"}[n.operator], host(axis)[0]
    turn = (lambda t: cut(t, axis, t.shape[axis] - 1, -(2 ** 63), -1)) if n.get("reverse", 0) else (lambda t: t)
    exclusive = bool(n.get("exclusive", 0))
    made = call(name, turn(x), axes=[axis], type=kind(x), flag=exclusive)
    return alike(turn(cut(made, axis, 0, x.shape[axis]) if exclusive else made))


@operator("TopK")
def top_k(n, x, k):
    axis, count = n.get("axis", -1), host(k)[0]
    return call("top_k", x, results=2, axes=[axis], sizes=[count], flag=not n.get("largest", 1))


@operator("Unique")
def unique(n, x):
    if "axis" in n.attributes or not n.get("sorted", 1):
        raise Other("Unique along an axis, or in order of appearance")
    values, first, which, count = call("unique_all", x, results=4)
    return [values, first, reshape(which, [x.shape[0] if len(x.shape) == 1 else int(np.prod(x.shape))]), count][:len(n.outputs)]


@operator("NonZero")
def nonzero(n, x):
    return call("nonzero", x)


@operator("Hardmax")
def hardmax(n, x):
    axis = n.get("axis", -1)
    zeros = call("mul", x, like(0, x))
    return call("put_along_axis", zeros, call("argmax", x, axes=[axis], keepdims=True), like(np.ones([1] * len(x.shape)), x), axes=[axis])


@operator("LpNormalization")
def lp_normalization(n, x):
    norm = call("vector_norm", x, axes=[n.get("axis", -1)], keepdims=True, flag=True, values=[n.get("p", 2)])
    return call("where", call("equal", norm, like(0, x)), like(0, x), call("div", x, norm))


# ---- products ----

@operator("MatMul")
def matmul(n, a, b):
    return call("matmul", a, b)


@operator("Gemm")
def gemm(n, a, b, c=None):
    a, b = (permute(t, [1, 0]) if n.get(name, 0) else t for t, name in ((a, "transA"), (b, "transB")))
    alpha, beta = n.get("alpha", 1.0), n.get("beta", 1.0)
    if c is not None and beta == 0:
        c = None
    if c is not None:
        c = broadcast(c, [a.shape[0], b.shape[1]])
    return call("gemm", a, b, *([c] if c is not None else []), values=[alpha, beta if c is not None else 0])


@operator("Trilu")
def trilu(n, x, k=None):
    return call("triu" if n.get("upper", 1) else "tril", x, values=[number(k)])


# ---- networks ----

@operator("Softmax", "LogSoftmax")
def softmax(n, x):
    if n.opset < 13:
        raise Other("softmax of opset 12 and before")
    return call({"Softmax": "softmax", "LogSoftmax": "log_softmax"}[n.operator], x, axes=[n.get("axis", -1)])


@operator("LayerNormalization", "RMSNormalization")
def row_norm(n, x, gamma, beta=None):
    name, axis, eps = n.operator, n.get("axis", -1) % len(x.shape), n.get("epsilon", 1e-5)
    n.only("axis", "epsilon", stash_type=1)
    shape = x.shape[axis:]
    gamma, beta = (t if t is None else alike(broadcast(t, shape)) for t in (gamma, beta))
    if name == "RMSNormalization":
        return call("rms_norm", x, gamma, values=[eps])
    rest = [gamma, *([beta] if beta is not None else [])]
    if len(n.outputs) == 1:
        return call("layer_norm", x, *rest, values=[eps])
    return call("layer_norm_statistics", x, *rest, results=3, values=[eps])[:len(n.outputs)]


@operator("RotaryEmbedding")
def rotary(n, x, cos, sin, positions=None):
    heads = n.get("num_heads", 0)
    flat = x.shape
    if len(flat) == 3:  # [batch, seq_len, heads of elements side by side]
        x = permute(reshape(x, [*flat[:2], heads, flat[2] // heads]), [0, 2, 1, 3])
    if positions is not None:
        cos, sin = (call("take", t, positions, axes=[0]) for t in (cos, sin))
    turned = call("rope", x, cos, sin, flag=bool(n.get("interleaved", 0)))
    return reshape(permute(turned, [0, 2, 1, 3]), flat) if len(flat) == 3 else turned


@operator("BatchNormalization")
def batch_norm(n, x, gamma, beta, mean_, variance):
    if n.get("training_mode", 0):
        raise Other("training")
    return call("batch_norm", x, gamma, beta, mean_, variance, values=[n.get("epsilon", 1e-5)])


@operator("InstanceNormalization")
def instance_norm(n, x, gamma, beta):
    return call("group_norm", x, gamma, beta, sizes=[x.shape[1]], values=[n.get("epsilon", 1e-5)])


@operator("GroupNormalization")
def group_norm(n, x, gamma, beta):
    return call("group_norm", x, gamma, beta, sizes=[n.get("num_groups")], values=[n.get("epsilon", 1e-5)])


@operator("MeanVarianceNormalization")
def mean_variance(n, x):
    axes = n.get("axes", [0, 2, 3])
    centred = call("sub", x, call("mean", x, axes=axes, keepdims=True))
    return call("div", centred, call("add", call("std", x, axes=axes, keepdims=True), like(1e-9, x)))


def pads_of(n, x, window, strides, dilations):
    """(in front, behind) of each axis of windows."""
    rank, mode = len(window), n.get("auto_pad", "NOTSET")
    pads = n.get("pads", [0] * (2 * rank))
    if mode in ("NOTSET", "VALID"):
        return [(pads[d], pads[rank + d]) for d in range(rank)]
    result = []
    for d in range(rank):
        size, reach = x.shape[2 + d], (window[d] - 1) * dilations[d] + 1
        total = max(0, (-(-size // strides[d]) - 1) * strides[d] + reach - size)
        small = total // 2
        result.append((small, total - small) if mode == "SAME_UPPER" else (total - small, small))
    return result


def padded(x, pads, value):
    """With what the operation does not pad itself, and the padding that is left to it."""
    if all(a == b for a, b in pads):
        return x, [a for a, _ in pads]
    sizes = [0] * (2 * (len(x.shape) - len(pads))) + [s for pair in pads for s in pair]
    return call("pad", x, sizes=sizes, values=[value]), [0] * len(pads)


@operator("Conv")
def conv(n, x, kernel, bias=None):
    rank = len(x.shape) - 2
    window, strides, dilations = n.get("kernel_shape", kernel.shape[2:]), n.get("strides", [1] * rank), n.get("dilations", [1] * rank)
    x, pads = padded(x, pads_of(n, x, window, strides, dilations), 0.0)
    return call(f"conv{rank}d", x, kernel, *([bias] if bias is not None else []), sizes=[*strides, *pads, *dilations, n.get("group", 1)])


@operator("ConvTranspose")
def conv_transpose(n, x, kernel, bias=None):
    rank = len(x.shape) - 2
    window, strides, dilations = n.get("kernel_shape", kernel.shape[2:]), n.get("strides", [1] * rank), n.get("dilations", [1] * rank)
    more, pads, mode = n.get("output_padding", [0] * rank), n.get("pads", [0] * (2 * rank)), n.get("auto_pad", "NOTSET")
    whole = [(x.shape[2 + d] - 1) * strides[d] + (window[d] - 1) * dilations[d] + 1 + more[d] for d in range(rank)]
    out = n.get("output_shape", [x.shape[2 + d] * strides[d] for d in range(rank)] if mode.startswith("SAME") else None)
    if out:
        cut_off = [max(a - b, 0) for a, b in zip(whole, out)]
        front = [c // 2 if mode != "SAME_LOWER" else c - c // 2 for c in cut_off]
    else:
        front, out = pads[:rank], [a - pads[d] - pads[rank + d] for d, a in enumerate(whole)]
    return call("conv_transpose", x, kernel, *([bias] if bias is not None else []), sizes=[*strides, *front, *dilations, n.get("group", 1), *out])


@operator("MaxPool", "AveragePool")
def pool(n, x):
    window, axes = n.get("kernel_shape"), range(len(x.shape) - 2)
    strides, dilations, largest = n.get("strides", [1] * len(axes)), n.get("dilations", [1] * len(axes)), n.operator == "MaxPool"
    pads = pads_of(n, x, window, strides, dilations)
    rest = [x.shape[2 + d] + sum(pads[d]) - (window[d] - 1) * dilations[d] - 1 for d in axes]
    out = [rest[d] // strides[d] + 1 for d in axes]
    if n.get("ceil_mode", 0):
        out = [o + (rest[d] % strides[d] != 0 and o * strides[d] < x.shape[2 + d] + pads[d][0]) for d, o in enumerate(out)]
    sizes = [*window, *strides, *(a for a, _ in pads), *(b for _, b in pads), *dilations, *out]
    if not largest:
        return call("avg_pool", x, sizes=sizes, flag=bool(n.get("count_include_pad", 0)))
    if len(n.outputs) == 1:
        return call("max_pool", x, sizes=sizes)
    y, places = call("max_pool_places", x, sizes=sizes, results=2)
    if n.get("storage_order", 0):  # of columns
        h, w = (like(size, places) for size in x.shape[2:])
        places = call("add", call("mul", call("remainder", places, w), h), call("floor_divide", places, w))
    planes = np.arange(int(np.prod(x.shape[:2]))).reshape(*x.shape[:2], *[1] * len(axes)) * int(np.prod(x.shape[2:]))
    return [y, call("add", places, put(planes, np.int64))]


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(n, x):
    return call("mean" if "Average" in n.operator else "max", x, axes=list(range(2, len(x.shape))), keepdims=True)


@operator("Attention")
def attention(n, q, k, v, mask=None, past_k=None, past_v=None, padding=None):
    n.only("scale", "is_causal", "q_num_heads", "kv_num_heads", softcap=0.0)
    if padding is not None or len(n.outputs) > 3:
        raise Other("attention with lengths or scores")
    flat = len(q.shape) == 3
    if flat:
        heads = [n.get("q_num_heads"), n.get("kv_num_heads"), n.get("kv_num_heads")]
        q, k, v = (permute(reshape(t, [*t.shape[:2], h, t.shape[2] // h]), [0, 2, 1, 3]) for t, h in zip((q, k, v), heads))
    if past_k is not None:
        k, v = call("concat", past_k, k, axes=[2]), call("concat", past_v, v, axes=[2])
    if k.shape != v.shape or (n.get("is_causal", 0) and q.shape[2] != k.shape[2]):
        raise Other("attention with another width of values, or causal from the upper left")
    if mask is not None and mask.shape[-1] != k.shape[2]:
        raise Other("attention with a short mask")
    if mask is not None and len(mask.shape) == 3:
        mask = reshape(mask, [1, *mask.shape])
    made = call("attention", q, k, v, *([mask] if mask is not None else []), flag=bool(n.get("is_causal", 0)), values=[n.get("scale", 0.0)])
    if flat:
        made = reshape(permute(made, [0, 2, 1, 3]), [made.shape[0], made.shape[2], made.shape[1] * made.shape[3]])
    return [made, *(alike(t) for t in (k, v))][:len(n.outputs)]


# ---- shapes and indices ----

@operator("Shape")
def shape(n, x):
    return put(np.array(x.shape, "i8")[n.get("start", 0):n.get("end", 2 ** 31)], "i8")


@operator("Size")
def size(n, x):
    return put(np.prod(x.shape, dtype="i8"), "i8")


@operator("Constant")
def constant(n):
    for name, dtype in (("value_int", "i8"), ("value_ints", "i8"), ("value_float", "f4"), ("value_floats", "f4")):
        if name in n.attributes:
            return put(n.get(name), dtype)
    return put(n.get("value"), n.get("value").dtype)


@operator("ConstantOfShape")
def constant_of_shape(n, x):
    value = n.get("value", np.zeros(1, "f4"))
    return put(np.full(host(x), value.ravel()[0]), value.dtype)


@operator("Reshape")
def reshape_to(n, x, to):
    to = host(to)
    if not n.get("allowzero", 0):
        to = [x.shape[d] if s == 0 else s for d, s in enumerate(to)]
    if -1 in to:
        rest = int(np.prod([s for s in to if s != -1]))
        to[to.index(-1)] = int(np.prod(x.shape)) // rest if rest else 0
    return alike(reshape(x, to))


@operator("Flatten")
def flatten(n, x):
    axis = n.get("axis", 1)
    axis += len(x.shape) if axis < 0 else 0
    return alike(reshape(x, [int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))]))


@operator("Squeeze")
def squeeze(n, x, axes=None):
    axes = n.get("axes", host(axes))
    axes = [d for d, s in enumerate(x.shape) if s == 1] if axes is None else [a % len(x.shape) for a in axes]
    return alike(reshape(x, [s for d, s in enumerate(x.shape) if d not in axes]))


@operator("Unsqueeze")
def unsqueeze(n, x, axes=None):
    axes = n.get("axes", host(axes))
    rank = len(x.shape) + len(axes)
    axes, left = [a % rank for a in axes], iter(x.shape)
    return alike(reshape(x, [1 if d in axes else next(left) for d in range(rank)]))


@operator("Transpose")
def transpose(n, x):
    return alike(permute(x, n.get("perm", list(range(len(x.shape)))[::-1])))


@operator("Expand")
def expand(n, x, to):
    return alike(broadcast(x, np.broadcast_shapes(x.shape, tuple(host(to)))))


@operator("Concat")
def concat(n, *x):
    return call("concat", *x, axes=[n.get("axis")])


@operator("Split")
def split(n, x, sizes=None):
    axis, count = n.get("axis", 0) % len(x.shape), len(n.outputs)
    sizes = n.get("split", host(sizes))
    if sizes is None:
        each = -(-x.shape[axis] // count)
        sizes = [min(each, x.shape[axis] - i * each) for i in range(count)]
    ends = np.cumsum([0, *sizes])
    return [alike(cut(x, axis, int(a), int(b))) for a, b in zip(ends, ends[1:])]


@operator("Slice")
def slice_(n, x, starts, ends, axes=None, steps=None):
    starts, ends, axes, steps = (host(t) for t in (starts, ends, axes, steps))
    for start, end, axis, step in zip(starts, ends, axes or range(len(starts)), steps or [1] * len(starts)):
        first, last, step = slice(start, end, step).indices(x.shape[axis])
        x = cut(x, axis, first, -(2 ** 63) if last < 0 else last, step)
    return alike(x)


@operator("Pad")
def pad(n, x, pads, value=None, axes=None):
    if n.get("mode", "constant") != "constant":
        raise Other("padding with elements")
    pads, axes, rank = host(pads), host(axes), len(x.shape)
    sizes, axes = [0] * (2 * rank), range(rank) if axes is None else axes
    for i, axis in enumerate(axes):
        sizes[2 * (axis % rank)], sizes[2 * (axis % rank) + 1] = pads[i], pads[len(axes) + i]
    for d in range(rank):
        front, behind = min(sizes[2 * d], 0), min(sizes[2 * d + 1], 0)
        if front or behind:
            x = cut(x, d, -front, x.shape[d] + behind)
    return call("pad", x, sizes=[max(s, 0) for s in sizes], values=[number(value)])


@operator("Tile")
def tile(n, x, times):
    return call("tile", x, sizes=host(times))


@operator("Gather")
def gather(n, x, index):
    return call("take", x, index, axes=[n.get("axis", 0)])


@operator("GatherElements")
def gather_elements(n, x, index):
    axis = n.get("axis", 0)
    for d, s in enumerate(index.shape):
        if d != axis % len(x.shape):
            x = cut(x, d, 0, s)
    return call("take_along_axis", x, index, axes=[axis])


def flat_index(x, index):
    """Of index tuples along the last axis the number of the element, or of the first of a row of them, in C order."""
    width = index.shape[-1]
    whole = call("where", call("less", index, like(0, index)), call("add", index, like(x.shape[:width], index)), index)
    steps = [int(np.prod(x.shape[d + 1:width])) for d in range(width)]
    return call("sum", call("mul", whole, like(steps, index)), axes=[-1])


@operator("GatherND")
def gather_nd(n, x, index):
    if n.get("batch_dims", 0):
        raise Other("batches of GatherND")
    width = index.shape[-1]
    rows = reshape(x, [int(np.prod(x.shape[:width])), *x.shape[width:]])
    return call("take", rows, flat_index(x, index), axes=[0])


@operator("ScatterND")
def scatter_nd(n, x, index, updates):
    name = {"none": "put_along_axis", "add": "scatter_add"}.get(n.get("reduction", "none"))
    if not name:
        raise Other("scattering by another function")
    width, at = index.shape[-1], flat_index(x, index)
    count, row = int(np.prod(at.shape)), int(np.prod(x.shape[width:]))
    rows = reshape(x, [int(np.prod(x.shape[:width])), row])
    made = call(name, rows, broadcast(reshape(at, [count, 1]), [count, row]), reshape(updates, [count, row]), axes=[0])
    return alike(reshape(made, x.shape))


@operator("ScatterElements", "Scatter")
def scatter_elements(n, x, index, updates):
    name = {"none": "put_along_axis", "add": "scatter_add"}.get(n.get("reduction", "none"))
    axis = n.get("axis", 0) % len(x.shape)
    if not name or any(a != b for d, (a, b) in enumerate(zip(x.shape, index.shape)) if d != axis):
        raise Other("scattering by another function, or into a part")
    return call(name, x, index, updates, axes=[axis])


@operator("OneHot")
def one_hot(n, index, depth, values):
    depth, axis = host(depth)[0], n.get("axis", -1)
    axis += len(index.shape) + 1 if axis < 0 else 0
    line = [1] * (len(index.shape) + 1)
    line[axis] = depth
    wrapped = call("remainder", cast(index, np.dtype("i8")), put(depth, "i8"))
    columns = reshape(call("arange", sizes=[depth], values=[0, 1], type="i8"), line)
    hit = call("equal", view("unsqueeze", wrapped, C.c_int32(axis)), columns)
    return call("where", hit, cut(values, 0, 1, 2), cut(values, 0, 0, 1))


@operator("EyeLike")
def eye_like(n, x):
    to = onnx_files.TYPES[n.get("dtype")] if "dtype" in n.attributes else kind(x)
    return call("eye", sizes=x.shape, values=[n.get("k", 0)], type=to)


@operator("Range")
def range_(n, start, limit, step):
    first, last, by = (number(t) for t in (start, limit, step))
    return call("arange", sizes=[max(0, int(np.ceil((last - first) / by)))], values=[first, by], type=kind(start))


@operator("DepthToSpace")
def depth_to_space(n, x):
    b, (batch, channels, h, w) = n.get("blocksize"), x.shape
    if n.get("mode", "DCR") == "DCR":
        made = permute(reshape(x, [batch, b, b, channels // b ** 2, h, w]), [0, 3, 4, 1, 5, 2])
    else:
        made = permute(reshape(x, [batch, channels // b ** 2, b, b, h, w]), [0, 1, 4, 2, 5, 3])
    return reshape(alike(made), [batch, channels // b ** 2, h * b, w * b])


@operator("SpaceToDepth")
def space_to_depth(n, x):
    b, (batch, channels, h, w) = n.get("blocksize"), x.shape
    made = permute(reshape(x, [batch, channels, h // b, b, w // b, b]), [0, 3, 5, 1, 2, 4])
    return reshape(alike(made), [batch, channels * b * b, h // b, w // b])


@operator("Compress")
def compress(n, x, condition):
    where = reshape(call("nonzero", condition), [-1 % (1 << 64)])
    return call("take", x, where, **({"axes": [n.get("axis")]} if "axis" in n.attributes else {}))


@operator("DFT")
def dft(n, x, length=None, axis=None):
    axis = n.get("axis", 1) if axis is None else host(axis)[0]
    axis = axis if axis >= 0 else axis + len(x.shape)
    if length is not None or n.get("onesided", 0) and n.get("inverse", 0):
        raise Other("transforms of another length")
    if x.shape[-1] == 1:
        if n.get("inverse", 0):
            raise Other("transforms of another length")
        x = reshape(x, x.shape[:-1])
    else:
        x = view("view_as_complex", x)
    name = "ifft" if n.get("inverse", 0) else "rfft" if n.get("onesided", 0) else "fft"
    return view("view_as_real", call(name, x, axes=[axis]))


# ---- quantized ----

def along(n, t, x):
    """Numbers of an axis, or of its blocks, against all of x."""
    axis, block = n.get("axis", 1), n.get("block_size", 0)
    if t is None or block == 0:
        return t if t is None or len(t.shape) != 1 or t.shape[0] == 1 else reshape(t, [t.shape[0] if d == axis % len(x.shape) else 1 for d in range(len(x.shape))])
    return cut(call("repeat", t, sizes=[block], axes=[axis]), axis, 0, x.shape[axis])


def given(*inputs):
    return [t for t in inputs if t is not None]


@operator("DequantizeLinear")
def dequantize(n, x, scale, zero=None):
    n.only("axis", "block_size")
    return call("dequantize", x, *given(along(n, scale, x), along(n, zero, x)))


@operator("QuantizeLinear")
def quantize(n, x, scale, zero=None):
    n.only("axis", "saturate", "block_size", "output_dtype", precision=0)
    to = kind(zero) if zero is not None else onnx_files.TYPES.get(n.get("output_dtype", 2))
    if to is None or np.dtype(to).kind not in "iu":
        raise Other("quantized floats")
    return call("quantize", x, *given(along(n, scale, x), along(n, zero, x)), type=to)


@operator("DynamicQuantizeLinear")
def dynamic_quantize(n, x):
    return call("dynamic_quantize", x, results=3)


@operator("MatMulInteger")
def matmul_integer(n, a, b, a_zero=None, b_zero=None):
    a_zero = like(0, a) if a_zero is None and b_zero is not None else a_zero
    return call("matmul_integer", a, b, *given(a_zero, b_zero))


@operator("QLinearMatMul")
def quantized_matmul(n, *inputs):
    return call("quantized_matmul", *inputs)


# ---- the tests ----

def evaluate(model, given):
    """Outputs of a graph whose inputs those are."""
    values = {name: put(a, a.dtype) for name, a in ((name, onnx_files.tensor(data)) for name, data in model.initial.items())}
    values.update(zip(model.inputs, given))
    for node in model.nodes:
        function = OPERATORS.get(node.operator)
        if not function:
            raise Other(f"operator {node.operator}")
        try:
            made = function(Call(node), *(values[name] if name else None for name in node.inputs))
        except TypeError as error:
            raise Other(f"{node.operator} with these inputs: {error}") from error
        values.update(zip(node.outputs, made if isinstance(made, list) else [made]))
    missing = [name for name in model.outputs if name not in values]
    if missing:
        raise Other(f"output {missing[0]}")
    return [values[name] for name in model.outputs]


def near(got, want, rough=False):
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    size_ = got.dtype.itemsize
    return bool(np.allclose(got.astype("f8"), want.astype("f8"), 1e-3 if rough else NEAR[size_], ALMOST[size_], equal_nan=True))


def run(folder, in_scope):
    """Whether it is done; what has no operation is Other."""
    model = onnx_files.Model(os.path.join(folder, "model.onnx"))
    unknown = [node.operator for node in model.nodes if node.operator not in OPERATORS]
    if unknown:
        raise Other(f"operator {unknown[0]}")
    for data in sorted(glob.glob(os.path.join(folder, "test_data_set_*"))):
        read = lambda what: [onnx_files.read_tensor(os.path.join(data, f"{what}_{i}.pb")) for i in range(len(glob.glob(os.path.join(data, what + "_*"))))]  # noqa: E731
        given, want = read("input"), read("output")
        inputs = [put(a, a.dtype) for a in given]
        got = [t.numpy() for t in (executor.scope(lambda: evaluate(model, inputs)) if in_scope else evaluate(model, inputs))]
        shown = "; ".join(f"{g.dtype} {list(g.shape)} {g.ravel()[:6]} for {w.dtype} {list(w.shape)} {w.ravel()[:6]}" for g, w in zip(got, want)
                          if not near(g, w, os.path.basename(folder) in ROUGH))
        checks.check(not shown, f"{os.path.basename(folder)}, {'in a scope' if in_scope else 'at once'}: {shown}")


def folder_of_tests():
    build = os.path.join(os.environ.get("HG_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."), "build", "onnx")
    found = glob.glob(os.path.join(build, "lib", "python3*", "site-packages", "onnx", "backend", "test", "data", "node"))
    return found[0] if found else None


def main():
    global executor  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    given = parser.parse_args()
    folder = folder_of_tests()
    if not folder:
        checks.skip("the wheel onnx is not installed (tools/setup)")
        return checks.finish()
    executor, without, turn = Executor(given.backend), collections.defaultdict(list), 0
    for name in sorted(given.tests or os.listdir(folder)):
        path = os.path.join(folder, name)
        try:
            model = onnx_files.Model(os.path.join(path, "model.onnx"))
            if not model.of_tensors:
                raise Other("sequences and optional values")
            here = all(node.operator in OPERATORS for node in model.nodes)
            turn += here
            if here and turn % given.every:
                continue
            run(path, turn // given.every % 2 == 1)
        except Other as reason:
            without[str(reason)].append(name)
        except Error as error:
            checks.check(False, f"{name}: {str(error)[:300]}")
    if given.list:
        for reason, names in sorted(without.items(), key=lambda item: -len(item[1])):
            print(f"{len(names):4} {reason}: {' '.join(names[:3])}{' …' if len(names) > 3 else ''}")
    print(f"{sum(map(len, without.values()))} tests have no operation here")
    return checks.finish()


executor = None
if __name__ == "__main__":
    sys.exit(main())

"""Kernels without a body: what their names mean (semantics 7.6), and names that mean nothing.

NAMED: (name, parameters in order, values, {array: expected}), REFUSED: (name, parameters, words of the message)."""
import json

import numpy as np

from documents import array, scalar
from evaluate import DTYPE

X = np.array([1.5, -2.0, 0.25, 0.0, -0.5, 3.0, 100.0], np.float32)
Y = np.array([2.0, 4.0, -0.5, 1.0, 0.125, 3.0, -7.0], np.float32)
I = np.array([7, -8, 2147483647, -2147483648, 0, 5, -1], np.int32)
J = np.array([2, 3, 1, -1, 9, -5, -1], np.int32)
U = np.array([0, 1, 254, 255, 7, 9, 3], np.uint8)
N = 7
THREE = {"a": array("f32"), "b": array("f32"), "out": array("f32"), "n": scalar("u64")}
TWO = {"x": array("f32"), "out": array("f32"), "n": scalar("u64")}
INTS = {"a": array("i32"), "b": array("i32"), "out": array("i32"), "n": scalar("u32")}

NAMED, REFUSED = [], []


def named(name, params, values, **expected):
    NAMED.append((name, params, dict(values, n=N) if "n" in params and "n" not in values else values, expected))


def three(name, expected, a=X, b=Y, params=None, n=N):
    named(name, params or THREE, {"a": a, "b": b, "out": np.zeros(N, a.dtype), "n": n}, out=expected)


def two(name, expected, x=X, params=None):
    named(name, params or TWO, {"x": x, "out": np.zeros(N, x.dtype)}, out=expected)


three("vector_add", X + Y)
three("add", X + Y)
three("elementwise_sub2", X - Y)
three("MUL", X * Y)
three("my_div_kernel", X / Y)
three("min", np.minimum(X, Y))
three("matrix_max", np.maximum(X, Y))
with np.errstate(all="ignore"):
    three("add_i32", I + J, I, J, INTS)
    three("mul", I * J, I, J, INTS)
three("sub", I - J, I, J, dict(INTS, n=scalar("i32")))
two("relu", np.maximum(X, np.float32(0)))
two("relu_forward", np.maximum(I, 0), I, {"x": array("i32"), "out": array("i32"), "n": scalar("u64")})
two("abs", abs(X))
two("neg", -X)
two("flatten", X)
two("transpose", U, U, {"x": array("u8"), "out": array("u8"), "n": scalar("u16")})
two("squeeze_add", X)  # a copy comes before the operations
named("add_scalar", {"x": array("f32"), "out": array("f32"), "n": scalar("u64"), "s": scalar("f32")}, {"x": X, "out": 0 * X, "s": np.float32(2.5)},
      out=X + np.float32(2.5))
named("sum", TWO, {"x": X, "out": np.zeros(1, np.float32)},
      out=np.array([((X[0] + X[4]) + (X[2] + X[6])) + ((X[1] + X[5]) + X[3])], np.float32))
named("sum", {"x": array("i32"), "out": array("i32"), "n": scalar("u32")}, {"x": J, "out": np.zeros(1, np.int32)}, out=np.array([J.sum()], np.int32))
for kind in ("u8", "i16", "u32", "i64", "u64"):
    where = np.array([6, 0, 3, 3, 1, 2, 5], DTYPE[kind])
    named("gather", {"data": array("f32"), "at": array(kind), "out": array("f32"), "n": scalar("u64")}, {"data": X, "at": where, "out": 0 * X},
          out=X[where.astype(int)])
named("gather_add", {"data": array("f64"), "at": array("u32"), "out": array("f64"), "n": scalar("u64")},
      {"data": X.astype(np.float64), "at": np.arange(N, dtype=np.uint32)[::-1].copy(), "out": np.zeros(N)}, out=X[::-1].astype(np.float64))
three("add", np.append((X + Y)[:4], np.zeros(3, np.float32)), n=4)

# Whole arrays: products, convolutions and sums of small whole numbers are exact in every order.


def sizes(names, kind="u64"):
    return {name: scalar(kind) for name in names.split()}


def whole(name, arrays, values, expected, kind="f32", integer="u64", **scalars):
    """arrays: names in order, the last is the output; scalars: integers."""
    params = {array_name: array(kind) for array_name in arrays.split()}
    values = {key: np.asarray(value, DTYPE[kind]).ravel() for key, value in values.items()}
    output = arrays.split()[-1]
    values.setdefault(output, np.zeros(np.asarray(expected).size, DTYPE[kind]))
    for key, value in scalars.items():
        params[key], values[key] = scalar(integer), value
    NAMED.append((name, params, values, {output: np.asarray(expected, DTYPE[kind]).ravel()}))


RNG = np.random.default_rng(28)


def small(*shape):
    return RNG.integers(-8, 9, shape).astype(np.float64)


def correlate(x, w, stride, padding):
    """x [batch, in, h, w], w [out, in / groups, kh, kw]: one output element after another."""
    x = np.pad(x, ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])))
    groups = x.shape[1] // w.shape[1]
    out = [(x.shape[2 + i] - w.shape[2 + i]) // stride[i] + 1 for i in range(2)]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    for n, o, i, j in np.ndindex(y.shape):
        first = o // (w.shape[0] // groups) * w.shape[1]
        y[n, o, i, j] = (x[n, first:first + w.shape[1], i * stride[0]:i * stride[0] + w.shape[2], j * stride[1]:j * stride[1] + w.shape[3]] * w[o]).sum()
    return y


A, B, BIAS = small(3, 5), small(5, 4), small(4)
for word in ("matmul", "gemm", "batch1_matmul_f32"):
    for kind in ("f32", "f64"):
        whole(word, "a b c", {"a": A, "b": B}, A @ B, kind, m=3, n=4, k=5)
whole("gemm", "left right out", {"left": A, "right": B}, A @ B, integer="u32", m=3, n=4, k=5)
whole("gemm", "left right out", {"left": A, "right": B}, A @ B, integer="i32", m=3, n=4, k=5)
whole("gemm_of_names", "b a out", {"a": A, "b": B}, A @ B, m=3, n=4, k=5)
whole("gemm_relu", "a b bias c", {"a": A, "b": B, "bias": BIAS}, np.maximum(A @ B + BIAS, 0), m=3, n=4, k=5)
whole("gemm", "a b c", {"a": np.pad(A, ((0, 0), (0, 2))), "b": B}, A @ B, m=3, n=4, k=5, lda=7)
whole("gemv", "a x y", {"a": A, "x": B[:, 0]}, A @ B[:, 0], m=3, k=5)
whole("gemv", "a x y", {"a": A, "x": B[:, 0]}, A @ B[:, 0], m=3, n=5)
whole("softmax", "input output", {"input": np.zeros((3, 4))}, np.full((3, 4), 0.25), n=4, rows=3)
whole("row_softmax", "x y", {"x": [0, 0, -np.inf, 0]}, np.float32([1, 1, 0, 1]) / np.float32(3), n=4)
IMAGE, FILTER = small(2, 4, 6, 5), small(6, 2, 3, 2)
SHAPE = {"batch": 2, "in_channels": 4, "out_channels": 6, "height": 6, "width": 5, "kernel_h": 3, "kernel_w": 2}
whole("conv2d", "input kernel output", {"input": IMAGE, "kernel": FILTER}, correlate(IMAGE, FILTER, (1, 1), (0, 0)), groups=2, **SHAPE)
whole("conv2d", "x w y", {"x": IMAGE, "w": FILTER}, correlate(IMAGE, FILTER, (2, 1), (1, 2)), "f64", groups=2, stride_h=2, stride_w=1, padding_h=1, padding_w=2, **SHAPE)
whole("conv_relu", "input kernel bias output", {"input": IMAGE, "kernel": FILTER, "bias": np.arange(6)},
      np.maximum(correlate(IMAGE, FILTER, (2, 2), (1, 1)) + np.arange(6)[:, None, None], 0), groups=2, stride=2, padding=1, **SHAPE)
VALUE = small(2, 1, 4, 3)
HEADS = {"batch": 2, "heads": 1, "seq_len": 4, "head_dim": 3}
ZERO = np.zeros((2, 1, 4, 3))
whole("attention", "query key value output", {"query": ZERO, "key": small(2, 1, 4, 3), "value": VALUE}, np.broadcast_to(VALUE.mean(2, keepdims=True), VALUE.shape), **HEADS)
KEY = np.zeros((2, 1, 4, 3))
KEY[:, :, 2:, 0] = -1000, 1000  # the third is far below the others, the last far above
QUERY = np.ones((2, 1, 4, 3))
whole("attention", "q k v out", {"q": QUERY, "k": KEY, "v": VALUE}, np.broadcast_to(VALUE[:, :, 3:], VALUE.shape), **HEADS)
whole("causal_attention", "q k v out", {"q": QUERY, "k": KEY, "v": VALUE},
      np.stack([VALUE[:, :, :1].mean(2), VALUE[:, :, :2].mean(2), VALUE[:, :, :2].mean(2), VALUE[:, :, 3]], 2), **HEADS)
whole("causal_from_start_attention", "q k v out", {"q": np.ones((2, 1, 2, 3)), "k": KEY[:1], "v": VALUE},
      np.stack([VALUE[:, :, 0], VALUE[:, :, :2].mean(2)], 2), batch=2, heads=1, seq_len=2, kv_len=4, head_dim=3, key_strides_0=0, key_strides_1=0, key_strides_2=3)
for kind in ("f32", "u8", "i64"):
    left, right = abs(small(3, 2)), abs(small(3, 5))
    whole("concat", "a b out", {"a": left, "b": right}, np.concatenate([left, right], 1), kind, rows=3, a_columns=2, b_columns=5)
whole("concat", "b a output", {"a": [1], "b": [2, 3]}, [1, 2, 3], "i32", "u16", a_columns=1, b_columns=2)
PLANES = small(3, 5, 6)


def pooled(x, kernel, stride, of):
    y = np.zeros((x.shape[0], *[(x.shape[1 + i] - kernel[i]) // stride[i] + 1 for i in range(2)]))
    for p, i, j in np.ndindex(y.shape):
        y[p, i, j] = of(x[p, i * stride[0]:i * stride[0] + kernel[0], j * stride[1]:j * stride[1] + kernel[1]])
    return y


IN_PLANES = {"planes": 3, "height": 5, "width": 6}
for kind in ("f32", "i32"):
    whole("max_pool", "x y", {"x": PLANES}, pooled(PLANES, (2, 3), (2, 3), np.max), kind, kernel_h=2, kernel_w=3, **IN_PLANES)
whole("pool", "x y", {"x": PLANES}, pooled(PLANES, (3, 2), (1, 2), np.max), "f64", kernel_h=3, kernel_w=2, stride_h=1, stride_w=2, **IN_PLANES)
for word in ("avg_pool", "mean_pool2d", "average_pool"):
    whole(word, "x y", {"x": PLANES}, pooled(PLANES, (2, 2), (1, 1), np.mean), kernel_h=2, kernel_w=2, stride_h=1, stride_w=1, **IN_PLANES)
whole("max_pool", "input output", {"input": [3, 1, 4, 1, 5, 9]}, [4, 9], "i16", width=6, kernel_w=3)

for word, params, text in (("matmul", THREE, "an integer parameter is missing: 'm'"), ("gemv_add", THREE, "an integer parameter is missing: 'm'"),
                           ("gemm", dict(THREE, **sizes("m k q")), "gemm has no operand of this name"),
                           ("gemm", {"a": array("i32"), "b": array("i32"), "c": array("i32"), **sizes("m n k")}, "expected an array of f32 or f64, got an array of i32"),
                           ("gemm", {"a": array("f32"), "b": array("f64"), "c": array("f32"), **sizes("m n k")}, "expected f32, got an array of f64"),
                           ("gemm", dict(THREE, alpha=scalar("f32"), **sizes("m k")), "a number of the program, not of a launch"),
                           ("gemm", dict(TWO, **sizes("m k")), "a device array is missing: 'c'"),
                           ("gemm", dict(THREE, trans_a=scalar("bool"), **sizes("m k")), "a word in the kernel's name"),
                           ("gemm", dict(THREE, m=scalar("f32"), **sizes("k")), "expected an integer, got f32"),
                           ("softmax", TWO | {"out": array("f32"), "z": array("f32")}, "softmax has no operand of this name"),
                           ("attention", TWO, "a device array is missing"),
                           ("attention", {n: array("f32") for n in ("q", "k", "v", "lengths", "out")} | sizes("batch heads seq_len head_dim"), "expected u32, got an array of f32"),
                           ("attention", {n: array("f32") for n in "qkvo"} | sizes("batch heads seq_len head_dim key_strides_1"), "a number of a tuple is missing: 'key_strides'"),
                            ("concat", THREE, "an integer parameter is missing: 'a_columns'"),
                           ("max_pool", TWO, "an integer parameter is missing: 'width'"),
                           ("avg_pool", {"x": array("i32"), "y": array("i32"), **sizes("width kernel_w")}, "an array of f32 or f64"),
                           ("cosh", TWO, "Unknown complex operation: cosh"), ("sinh", TWO, "Unknown complex operation: sinh"),
                           ("expand", TWO, "Unknown complex operation: expand"), ("addition", THREE, "Unknown complex operation: addition"),
                           ("nothing", TWO, "Unknown complex operation: nothing"), ("add", TWO, "arrays"), ("relu", THREE, "arrays"),
                           ("exp", {"x": array("i32"), "out": array("i32"), "n": scalar("u64")}, "i32"),
                           ("add", dict(THREE, b=array("f64")), "f64")):
    REFUSED.append((word, params, text))


def document(name, params):
    return {"version": "1.0", "kernel": {"name": name, "params": [{"name": key, "type": kind} for key, kind in params.items()], "body": []}}


def text(name, params):
    return json.dumps(document(name, params))

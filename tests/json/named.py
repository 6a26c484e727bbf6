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

for word, params, text in (("matmul", THREE, "requires manual ISA implementation"), ("gemm", THREE, "requires manual ISA implementation"),
                           ("gemv_add", THREE, "requires manual ISA implementation"), ("attention", TWO, "requires manual ISA implementation"),
                           ("concat", THREE, "requires manual ISA implementation"), ("max_pool", TWO, "requires manual ISA implementation"),
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

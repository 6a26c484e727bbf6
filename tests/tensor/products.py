"""Products: gemm, batched_gemm, mixed_precision_gemm, quantized_gemm, sparse_gemm, tensor_contract."""
import numpy as np

from numbers_of import LEAST, UNIT, activated, calculated, rounding, stored, wide
from operation import SMALL, Matrix, Operation


def matmul(a, b):
    """BLAS has no product of long doubles."""
    return np.matmul(a, b) if a.dtype == np.float64 else np.einsum("...ik,...kj->...ij", a, b)


class Gemm(Operation):
    """c = activation(alpha*(a*b, + c with accumulate) + beta*c + bias). Bound, with u of the type of calculation: (k + 4) u |alpha| |a||b| + 4 u (|beta c| + |bias|), times the activation's
    steepness, and one rounding to the type of elements."""

    required = ("c", "a", "b", "m", "n", "k")
    optional = {"alpha": 1.0, "beta": 0.0, "trans_a": False, "trans_b": False, "lda": None, "ldb": None, "ldc": None, "bias": False, "activation": "identity", "bias_strides": (), "accumulate": False}
    inout, arrays_of = ("c",), ("c", "a", "b", "bias")

    @staticmethod
    def result_type(p):
        return p.type

    def arrays(self, p, o):
        batch, m, n, k = o.get("batch", 1), o["m"], o["n"], o["k"]
        strides = (*o.get("batch_strides", ()), None, None, None)
        self.a = Matrix(p, k if o["trans_a"] else m, m if o["trans_a"] else k, o["lda"], batch, strides[0], name="a")
        self.b = Matrix(p, n if o["trans_b"] else k, k if o["trans_b"] else n, o["ldb"], batch, strides[1], name="b")
        self.c = Matrix(p, m, n, o["ldc"], batch, strides[2], self.result_type(p), gap=7.5, name="c")
        if o["beta"] == 0 and not o["accumulate"]:
            self.c.clear()
        arrays = {"c": self.c.bits(), "a": self.a.bits(), "b": self.b.bits()}
        if o["bias"]:
            row, column = o["bias_strides"] or (0, 1)
            self.bias = Matrix(p, 1, (m - 1) * row + (n - 1) * column + 1 if m and n else 0, kind=self.result_type(p))
            # where there are no elements, or the call is refused, an extent may be larger than memory
            self.bias_at = np.arange(m)[:, None] * row + np.arange(n) * column if self.c.at.size else None
            arrays["bias"] = self.bias.bits()
        return arrays

    def expected(self, p, o):
        kind, result = calculated(p.type), self.result_type(p)
        w = wide(p.type)
        a, b = self.a.values.astype(w), self.b.values.astype(w)
        a, b = (np.swapaxes(a, 1, 2) if o["trans_a"] else a), (np.swapaxes(b, 1, 2) if o["trans_b"] else b)
        with np.errstate(invalid="ignore", over="ignore"):
            alpha, beta = (w(np.float64(o[name])) if kind == "f64" else w(np.float32(o[name])) for name in ("alpha", "beta"))
            value = alpha * matmul(a, b) if o["k"] else np.zeros(self.c.shape, w)
            size = np.abs(alpha) * matmul(np.abs(a), np.abs(b)) * (o["k"] + 4) if o["k"] else np.zeros(self.c.shape, w)
            if o["accumulate"]:
                c = self.c.values.astype(w)
                value, size = value + alpha * c, size + np.abs(alpha * c) * (o["k"] + 4)
            if o["beta"] != 0:
                c = self.c.values.astype(w)
                value, size = value + beta * c, size + 4 * np.abs(beta * c)
            if o["bias"] and self.bias_at is not None:
                bias = self.bias.values.astype(w)[0, 0][self.bias_at]
                value, size = value + bias, size + 4 * np.abs(bias)
            bound = UNIT[kind] * size * 1.0001 + (o["k"] + 4) * LEAST[kind] * (1 + np.abs(alpha))
            value, bound = activated(value, bound, o["activation"], kind)
            return {"c": self.c.result(value, bound + rounding(value, result) * 1.0001)}


class BatchedGemm(Gemm):
    required = ("c", "a", "b", "batch", "m", "n", "k")
    optional = {**Gemm.optional, "batch_strides": ()}


class MixedGemm(Gemm):
    """f16 or bf16 times the same, sums and result in f32."""

    def types(self, p):
        return {"c": "f32", "bias": "f32"}

    @staticmethod
    def result_type(p):
        return "f32"


class QuantizedGemm(Operation):
    """Sums of products of bytes are exact; then one rounding of sum*(a_scale*b_scale/c_scale), half to even, kept within the type."""

    required = ("c", "a", "b", "a_scale", "b_scale", "c_scale", "m", "n", "k")
    optional = {"sums": False, "lda": None, "ldb": None, "ldc": None, "trans_b": False, "a_zero": 0, "b_zero": 0, "c_zero": 0, "steps": (), "b_unsigned": False, "batch": None,
                "batch_strides": (), **dict.fromkeys(("a_scales", "b_scales", "c_scales", "a_zeros", "b_zeros", "c_zeros"), False)}
    inout, arrays_of = ("c",), ("c", "a", "b", "a_scales", "b_scales", "c_scales", "a_zeros", "b_zeros", "c_zeros")

    def types(self, p):
        b = "u8" if p.given.get("b_unsigned") else "i8"
        return {"b": b, "b_zeros": b, **dict.fromkeys(("a_scales", "b_scales", "c_scales"), "f32"), **({"c": "i32"} if p.given.get("sums") else {})}

    def lines(self, p, o):
        """Arrays of scales and zero points, and what they are for each row of a, column of b, element of c."""
        steps, at, made = o["steps"] or (1, 1, 1, 0), {}, {}
        m, n = (min(o[name], SMALL) if p.refused is not None else o[name] for name in ("m", "n"))
        at["a"], at["b"] = (np.arange(m) * steps[0])[:, None], np.arange(n) * steps[1]
        at["c"] = (np.arange(m) * steps[2])[:, None] + np.arange(n) * steps[3]
        for name in self.arrays_of[3:]:
            if not o[name]:
                continue
            size = int(at[name[0]].max(initial=0)) + 1
            if name.endswith("scales"):
                values = (p.random.random(size) + 0.25).astype(np.float32)
            else:
                low = 0 if p.type == "u8" and name[0] != "b" or o["b_unsigned"] and name[0] == "b" else -128
                values = p.random.integers(low, low + 256, size).astype(np.uint8 if low == 0 else np.int8)
            made[name] = values
            setattr(self, name, values[at[name[0]]])
        return made

    def arrays(self, p, o):
        m, n, k = o["m"], o["n"], o["k"]
        count, strides = 1 if o["batch"] is None else o["batch"], o["batch_strides"] or (None,) * 3
        self.a = Matrix(p, m, k, o["lda"], count, strides[0])
        self.b = Matrix(p, n if o["trans_b"] else k, k if o["trans_b"] else n, o["ldb"], count, strides[1], kind="u8" if o["b_unsigned"] else "i8")
        self.c = Matrix(p, m, n, o["ldc"], count, strides[2], kind="i32" if o["sums"] else p.type).clear()
        return {"c": self.c.bits(), "a": self.a.bits(), "b": self.b.bits(), **self.lines(p, o)}

    def expected(self, p, o):
        a, b = (x.data[x.at].astype(np.int64) for x in (self.a, self.b))
        zero = {name: getattr(self, name + "_zeros").astype(np.int64) if o[name + "_zeros"] else o[name + "_zero"] for name in "abc"}
        if o["b_unsigned"] and not o["b_zeros"]:
            zero["b"] += 128
        sums = (a - zero["a"]) @ ((np.swapaxes(b, 1, 2) if o["trans_b"] else b) - zero["b"])
        if o["sums"]:
            return {"c": self.c.result(sums, 0)}
        scale = np.float64(np.float32(o["a_scale"])) * np.float64(np.float32(o["b_scale"])) / np.float64(np.float32(o["c_scale"]))
        own = [getattr(self, name + "_scales").astype(np.float64) if o[name + "_scales"] else 1.0 for name in "abc"]
        exact = sums * (own[0] * own[1] / own[2] * scale)
        low, high = (-128, 127) if p.type == "i8" else (0, 255)
        near = np.clip(np.rint(exact) + zero["c"], low, high)
        # The scale is calculated in f32: a product that lies that near to the middle of two numbers may be either.
        unsure = np.abs(np.abs(exact - np.trunc(exact)) - 0.5) <= 6 * UNIT["f32"] * np.abs(exact)
        return {"c": self.c.result(near, unsure.astype(float))}


class SparseGemm(Operation):
    """c = a*b with a in CSR. Bound: (elements of the row + 2) u |a||b|, and one rounding."""

    required = ("c", "a_values", "a_indices", "a_ptr", "b", "m", "n", "k")
    optional = {"ldb": None, "ldc": None, "nnz": None, "part": 0.1}
    inout, arrays_of = ("c",), ("c", "a_values", "a_indices", "a_ptr", "b")

    def types(self, p):
        return {"a_indices": "u32", "a_ptr": "u32"}

    def arrays(self, p, o):
        m, n, k = (min(o[name], 64) if p.refused is not None else o[name] for name in ("m", "n", "k"))
        here = p.random.random((m, k)) < p.given.pop("part", 0.1)
        self.a = np.zeros((m, k), wide(p.type))
        values = p.numbers((int(here.sum()),))
        self.a[here], self.here = values, here
        self.b, self.c = Matrix(p, k, n, o["ldb"]), Matrix(p, m, n, o["ldc"], gap=7.5).clear()
        return {"c": self.c.bits(), "a_values": stored(values, p.type), "a_indices": np.nonzero(here)[1].astype(np.uint32),
                "a_ptr": np.concatenate([[0], np.cumsum(here.sum(1))]).astype(np.uint32), "b": self.b.bits()}

    def expected(self, p, o):
        kind, b = calculated(p.type), self.b.values[0].astype(wide(p.type))
        with np.errstate(invalid="ignore"):  # an infinity of b counts only where a has an element
            value = np.stack([row[at] @ b[at] for row, at in zip(self.a, self.here)]) if o["m"] else np.zeros((0, o["n"]))
            size = np.stack([np.abs(row[at]) @ np.abs(b[at]) for row, at in zip(self.a, self.here)]) if o["m"] else value
        bound = UNIT[kind] * size * (self.here.sum(1)[:, None] + 2) + rounding(value, p.type) + LEAST[kind] * o["k"]
        return {"c": self.c.result(value[None], bound[None])}


class TensorContract(Operation):
    """Sums over pairs of axes. Bound as a product's with as many products as a sum has."""

    required = ("output", "a", "b", "shape_a", "shape_b", "contract_dims")
    out, arrays_of = ("output",), ("output", "a", "b")

    def operands(self, p):
        o = super().operands(p)
        for name in ("shape_a", "shape_b"):
            o[name] = o[name] if isinstance(o[name], tuple) else (o[name],)
        pairs = o["contract_dims"]
        o["contract_dims"] = () if pairs in ("", "none") else pairs if isinstance(pairs[0], tuple) else (pairs,)
        p.given.update(o)
        return o

    def arrays(self, p, o):
        few = p.refused is not None
        shapes = [tuple(min(n, 8) for n in o[name]) if few else o[name] for name in ("shape_a", "shape_b")]
        self.a, self.b = (p.numbers(shape) for shape in shapes)
        axes = ([x for x, _ in o["contract_dims"]], [y for _, y in o["contract_dims"]])
        self.axes = axes
        free = [n for i, n in enumerate(shapes[0]) if i not in axes[0]] + [n for i, n in enumerate(shapes[1]) if i not in axes[1]]
        size = SMALL if few else int(np.prod(free, dtype=np.int64))
        self.count = int(np.prod([shapes[0][i] for i in axes[0] if i < len(shapes[0])], dtype=np.int64))
        return {"output": np.zeros(size, stored(np.zeros(1), p.type).dtype), "a": stored(self.a, p.type).reshape(-1), "b": stored(self.b, p.type).reshape(-1)}

    def expected(self, p, o):
        kind = calculated(p.type)
        value = np.tensordot(self.a, self.b, self.axes).reshape(-1)
        size = np.tensordot(np.abs(self.a), np.abs(self.b), self.axes).reshape(-1)
        return {"output": (value, UNIT[kind] * size * (self.count + 2) + rounding(value, p.type) + self.count * LEAST[kind])}


OPERATIONS = {"gemm": Gemm, "batched_gemm": BatchedGemm, "mixed_precision_gemm": MixedGemm, "quantized_gemm": QuantizedGemm, "sparse_gemm": SparseGemm,
              "tensor_contract": TensorContract}

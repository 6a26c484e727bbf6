"""Layers of networks: conv2d, norms, softmax, attention, rope, layer_scale, kv_cache_update, all_reduce, all_gather."""
from fractions import Fraction

import numpy as np

from numbers_of import LEAST, MOST, TYPES, UNIT, activated, calculated, loaded, rounding, stored, wide
from operation import SMALL, Matrix, Operation


PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def few(p, *sizes):
    """Elements of an array; of a problem that is refused no more than fit."""
    product = 1
    for size in sizes:
        product *= size
    return min(product, SMALL) if p.refused is not None else product


class Conv2d(Operation):
    """Cross-correlation, NCHW. Bound as a product's, with in_channels/groups * kernel_h * kernel_w products a sum."""

    required = ("output", "input", "kernel", "batch", "in_channels", "out_channels", "height", "width", "kernel_h", "kernel_w", "stride", "padding")
    optional = {"dilation": (1, 1), "groups": 1, "padding_end": (), "bias": False, "activation": "identity"}
    out, arrays_of = ("output",), ("output", "input", "kernel", "bias")

    def arrays(self, p, o):
        g = max(o["groups"], 1)
        x, w = (o["batch"], o["in_channels"], o["height"], o["width"]), (o["out_channels"], o["in_channels"] // g, o["kernel_h"], o["kernel_w"])
        ends = o["padding_end"] or o["padding"]
        span = [d * (n - 1) + 1 for d, n in zip(o["dilation"], w[2:])]
        self.size = [(n + a + b - s) // max(t, 1) + 1 if n + a + b >= s else 0 for n, a, b, s, t in zip(x[2:], o["padding"], ends, span, o["stride"])]
        output = few(p, o["batch"], o["out_channels"], *(max(n, 1) if p.refused is not None else n for n in self.size))
        if p.refused is not None:
            x, w = (few(p, *x),), (few(p, *w),)
        self.x, self.w = p.numbers(x), p.numbers(w)
        arrays = {"output": stored(np.zeros(output), p.type), "input": stored(self.x, p.type).reshape(-1), "kernel": stored(self.w, p.type).reshape(-1)}
        if o["bias"]:
            self.bias = p.numbers((o["out_channels"],))
            arrays["bias"] = stored(self.bias, p.type)
        return arrays

    def expected(self, p, o):
        kind, g, (h, v) = calculated(p.type), o["groups"], self.size
        ends = o["padding_end"] or o["padding"]
        value, size = (self.correlate(x, w, o, ends, g, h, v) for x, w in ((self.x, self.w), (np.abs(self.x), np.abs(self.w))))
        bound = (int(np.prod(self.w.shape[1:])) + 4) * (UNIT[kind] * size + LEAST[kind])
        if o["bias"]:
            value, bound = value + self.bias[:, None, None], bound + 4 * UNIT[kind] * np.abs(self.bias)[:, None, None]
        value, bound = activated(value, bound, o["activation"], kind)
        return {"output": (value.reshape(-1), (bound + rounding(value, p.type)).reshape(-1))}

    @staticmethod
    def correlate(x, w, o, ends, g, h, v):
        x = np.pad(x, ((0, 0), (0, 0), (o["padding"][0], ends[0]), (o["padding"][1], ends[1])))
        n, m, (sh, sw), (dh, dw) = x.shape[0], w.shape[0], o["stride"], o["dilation"]
        y = np.zeros((n, g, m // g, h, v), x.dtype)
        x, w = x.reshape(n, g, x.shape[1] // g, *x.shape[2:]), w.reshape(g, m // g, *w.shape[1:])
        with np.errstate(invalid="ignore"):
            for i in range(w.shape[3]):
                for j in range(w.shape[4]):
                    part = x[:, :, :, i * dh:i * dh + (h - 1) * sh + 1:sh, j * dw:j * dw + (v - 1) * sw + 1:sw]
                    y += np.einsum("ngchw,gmc->ngmhw", part, w[..., i, j], optimize=x.dtype == np.float64)
        return y.reshape(n, m, h, v)

    def torch(self, o, torch):
        import torch.nn.functional as F  # pylint: disable=import-outside-toplevel
        top, left, (bottom, right) = *o["padding"], o["padding_end"] or o["padding"]
        x, w = (torch.from_numpy(a.astype(np.float64)) for a in (self.x, self.w))
        return F.conv2d(F.pad(x, (left, right, top, bottom)), w, None, o["stride"], 0, o["dilation"], o["groups"]) if w.numel() and not o["bias"] and o["activation"] == "identity" else None


class Conv(Operation):
    """conv along 1 to 3 axes, and its transpose. Bound as conv2d's."""

    required = ("output", "input", "kernel", "batch", "in_channels", "out_channels", "size", "window")
    optional = {"stride": (), "padding": (), "padding_end": (), "dilation": (), "groups": 1, "bias": False, "activation": "identity", "out": ()}
    out, arrays_of = ("output",), ("output", "input", "kernel", "bias")

    def arrays(self, p, o):
        ones, g = (1,) * len(o["size"]), max(o["groups"], 1)
        self.turned, self.x, self.w = p.name == "conv_transpose", None, None
        self.stride, self.before, self.dilation = (o[name] or other for name, other in (("stride", ones), ("padding", (0,) * len(ones)), ("dilation", ones)))
        after, reach = o["padding_end"] or self.before, [d * (w - 1) + 1 for d, w in zip(self.dilation, o["window"])]
        if self.turned:
            self.outs = o["out"] or [(n - 1) * s + r - a - b for n, s, r, a, b in zip(o["size"], self.stride, reach, self.before, after)]
        else:
            self.outs = [(n + a + b - r) // max(s, 1) + 1 if n + a + b >= r else 0 for n, a, b, r, s in zip(o["size"], self.before, after, reach, self.stride)]
        kernel = (o["in_channels"], o["out_channels"] // g) if self.turned else (o["out_channels"], o["in_channels"] // g)
        x, w, output = (o["batch"], o["in_channels"], *o["size"]), (*kernel, *o["window"]), (o["batch"], o["out_channels"], *self.outs)
        if p.refused is not None:
            x, w, output = ((few(p, *(max(n, 1) for n in shape)),) for shape in (x, w, output))
        self.x, self.w = p.numbers(x), p.numbers(w)
        arrays = {"output": stored(np.zeros(output), p.type).reshape(-1), "input": stored(self.x, p.type).reshape(-1), "kernel": stored(self.w, p.type).reshape(-1)}
        if o["bias"]:
            self.bias = p.numbers((o["out_channels"],))
            arrays["bias"] = stored(self.bias, p.type)
        return arrays

    def expected(self, p, o):
        kind = calculated(p.type)
        value, size = (self.summed(x, w, o) for x, w in ((self.x, self.w), (np.abs(self.x), np.abs(self.w))))
        bound = (o["in_channels"] // o["groups"] * int(np.prod(o["window"])) + 4) * (UNIT[kind] * size + LEAST[kind])
        if o["bias"]:
            bias = self.bias.reshape(-1, *[1] * len(self.outs))
            value, bound = value + bias, bound + 4 * UNIT[kind] * np.abs(bias)
        value, bound = activated(value, bound, o["activation"], kind)
        return {"output": (value.reshape(-1), (bound + rounding(value, p.type)).reshape(-1))}

    def summed(self, x, w, o):
        """Each element of the input by each place of the kernel, to where it goes."""
        g, axes = o["groups"], range(len(self.outs))
        x = x.reshape(o["batch"], g, o["in_channels"] // g, *o["size"])
        w = w.reshape(g, w.shape[0] // g, *w.shape[1:])
        y = np.zeros((o["batch"], g, o["out_channels"] // g, *self.outs), x.dtype)
        for k in np.ndindex(*o["window"]):
            ranges = []  # of each axis: places here, places there
            for i in axes:
                here, steps = (range(o["size"][i]), range(self.outs[i]))
                shift = k[i] * self.dilation[i] - self.before[i]
                pairs = [(a, a * self.stride[i] + shift) for a in here] if self.turned else [(a * self.stride[i] + shift, a) for a in steps]
                ranges.append([(a, b) for a, b in pairs if 0 <= a < len(here) and 0 <= b < len(steps)])
            places = [np.ix_(*[[pair[side] for pair in r] for r in ranges]) for side in (0, 1)]
            part = x[(slice(None), slice(None), slice(None), *places[0])]
            form = "ngc...,gcm->ngm..." if self.turned else "ngc...,gmc->ngm..."
            y[(slice(None), slice(None), slice(None), *places[1])] += np.einsum(form, part, w[(..., *k)])
        return y.reshape(o["batch"], o["out_channels"], *self.outs)


class Pool(Operation):
    """The largest of each window, exactly, or its mean. Bound: a sum of so many elements, and a quotient."""

    required = ("output", "input", "planes", "size", "window")
    optional = {"stride": (), "padding": (), "padding_end": (), "dilation": (), "out": (), "counted": False}
    out, arrays_of = ("output",), ("output", "input")

    def arrays(self, p, o):
        ones = (1,) * len(o["size"])
        self.stride, self.before, self.dilation = (o[name] or other for name, other in (("stride", ones), ("padding", (0,) * len(ones)), ("dilation", ones)))
        self.after = o["padding_end"] or self.before
        rest = [n + a + b - (w - 1) * d - 1 for n, a, b, w, d in zip(o["size"], self.before, self.after, o["window"], self.dilation)]
        self.outs = o["out"] or [max(r // max(s, 1) + 1, 0) for r, s in zip(rest, self.stride)]
        self.x = p.numbers((few(p, o["planes"], *o["size"]),) if p.refused is not None else (o["planes"], *o["size"]))
        return {"output": stored(np.zeros(few(p, o["planes"], *self.outs)), p.type), "input": stored(self.x, p.type).reshape(-1)}

    def expected(self, p, o):
        value, bound = (np.zeros((o["planes"], *self.outs), self.x.dtype) for _ in range(2))
        for at in np.ndindex(*self.outs):
            places = [[i * s - a + k * d for k in range(w)] for i, s, a, w, d in zip(at, self.stride, self.before, o["window"], self.dilation)]
            inside = [[k for k in axis if 0 <= k < n] for axis, n in zip(places, o["size"])]
            part = self.x[(slice(None), *np.ix_(*inside))].reshape(o["planes"], int(np.prod([len(i) for i in inside])))
            count = max(1, int(np.prod([len(i) for i in (places if o["counted"] else inside)])))
            if p.name == "max_pool":
                value[(slice(None), *at)] = part.max(1, initial=-np.inf)
            else:
                value[(slice(None), *at)] = part.sum(1) / count
                bound[(slice(None), *at)] = UNIT[calculated(p.type)] * (part.shape[1] + 2) * np.abs(part).sum(1) / count
        return {"output": (value.reshape(-1), (bound + (0 if p.name == "max_pool" else rounding(value, p.type))).reshape(-1))}


def normalised(x, axes, eps, kind):
    """(x - mean)/sqrt(variance + eps) along axes, and what it is known within: the mean by what sums of what is left of the elements lose, in at least 16 parts, and by its own
    rounding where it is at most 4 deviations; the deviation."""
    n = int(np.prod([x.shape[i] for i in axes]))
    u = UNIT[kind]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = x.mean(axes, keepdims=True)
        away = x - mean
        away = away - away.mean(axes, keepdims=True)  # what the mean lost in rounding
        variance = (away * away).mean(axes, keepdims=True)
        s = np.sqrt(variance + (x.dtype.type(np.float32(eps)) if kind == "f32" else eps))
        off = u * ((n / 24 + 48) * np.sqrt(variance) / s + np.minimum(np.abs(mean) / s, 4))
        return away / s, off + u * (n / 32 + 36) * np.abs(away / s)


def statistics(x, eps, kind, centred):
    """Of rows the mean and 1 / sqrt(variance + eps), and what each is known within, as normalised says it; not centred: of squares."""
    u, n = UNIT[kind], x.shape[1]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = x.mean(1)
        away = x - mean[:, None] if centred else x
        away = away - away.mean(1, keepdims=True) if centred else away
        s = np.sqrt((away * away).mean(1) + (x.dtype.type(np.float32(eps)) if kind == "f32" else eps))
        inverse = 1 / s
        inverse[~np.isfinite(x).all(1)] = np.nan
        off = np.where(np.isfinite(mean), 2 * u * np.abs(mean) + u * (n / 24 + 48) * s, 0)  # an infinity or NaN is what it is
        least = 4 * LEAST[kind]
        return {"mean": (mean, off + least), "inverse_deviation": (inverse, u * (n / 32 + 36) * inverse + least)}


class Norm(Operation):
    out = ("output", "mean", "inverse_deviation")
    arrays_of = ("output", "input", "gamma", "beta", "mean", "variance", "inverse_deviation")
    given = ()  # of each row, beside the output

    def types(self, p):
        return {name: calculated(p.type) for name in self.given}

    def rows_given(self, p, o):
        return {name: np.zeros(few(p, o["rows"]), TYPES[calculated(p.type)]) for name in self.given if o[name]}

    def expected_given(self, p, o, x):
        known = statistics(x, o["eps"], calculated(p.type), "mean" in self.given) if x.size else {name: (np.zeros(o["rows"]),) * 2 for name in self.given}
        return {name: known[name] for name in self.given if o[name]}

    @staticmethod
    def scaled(y, bound, gamma, beta, u):
        with np.errstate(invalid="ignore"):
            least = LEAST["f64" if y.dtype == np.longdouble else "f32"]
            return y * gamma + beta, (bound + least) * np.abs(gamma) + 3 * u * (np.abs(y * gamma) + np.abs(beta)) + least


class LayerNorm(Norm):
    """gamma*(x - mean)/sqrt(variance + eps) + beta of rows, variance about the mean."""

    required = ("output", "input", "gamma", "beta", "n", "eps")
    optional = {"rows": 1, "ld": None, "mean": False, "inverse_deviation": False}
    given = ("mean", "inverse_deviation")

    def arrays(self, p, o):
        self.x, self.y = Matrix(p, o["rows"], o["n"], o["ld"], name="input"), Matrix(p, o["rows"], o["n"], o["ld"], gap=0.0)
        self.gamma, self.beta = (p.numbers((few(p, o["n"]),), name=name) for name in ("gamma", "beta"))
        return {"output": stored(np.zeros(self.y.data.size), p.type), "input": self.x.bits(), "gamma": stored(self.gamma, p.type), "beta": stored(self.beta, p.type), **self.rows_given(p, o)}

    def expected(self, p, o):
        kind, x = calculated(p.type), self.x.values[0]
        if x.size == 0:
            return {"output": (np.zeros(self.y.data.size), np.zeros(self.y.data.size)), **self.expected_given(p, o, x)}
        value, bound = self.scaled(*normalised(x, (1,), o["eps"], kind), self.gamma, self.beta, UNIT[kind])
        self.y.data[:] = 0
        return {"output": self.y.result(value[None], (bound + rounding(value, p.type))[None]), **self.expected_given(p, o, x)}

    def torch(self, o, torch):
        x = torch.from_numpy(self.x.values[0].astype(np.float64))
        y = torch.nn.functional.layer_norm(x, (o["n"],), *(torch.from_numpy(a.astype(np.float64)) for a in (self.gamma, self.beta)), eps=float(np.float32(o["eps"])))
        return y if o["ld"] is None and x.numel() else None


class BatchNorm(Norm):
    required = ("output", "input", "gamma", "beta", "mean", "variance", "batch", "channels", "spatial", "eps")
    optional = {"activation": "identity"}

    def arrays(self, p, o):
        c = few(p, o["channels"])
        self.x = p.numbers((few(p, o["batch"], c, o["spatial"]),), name="input")
        names = ("gamma", "beta", "mean", "variance")
        self.of = [loaded(stored(p.numbers((c,), name=name) if name != "variance" else np.abs(p.numbers((c,), name=name)) + 0.01 * p.times.get(name, 1.0), p.type), p.type) for name in names]
        return {"output": stored(np.zeros(self.x.size), p.type), "input": stored(self.x, p.type), **{name: stored(v, p.type) for name, v in zip(names, self.of)}}

    def expected(self, p, o):
        kind = calculated(p.type)
        u, (gamma, beta, mean, variance) = UNIT[kind], (v[:, None] for v in self.of)
        x = self.x.reshape(o["batch"], o["channels"], o["spatial"])
        eps = x.dtype.type(np.float32(o["eps"])) if kind == "f32" else o["eps"]
        with np.errstate(invalid="ignore"):
            y = (x - mean) / np.sqrt(variance + eps)
            value, bound = self.scaled(y, 0, gamma, beta, u)
            bound = bound + 8 * u * (np.abs(gamma) * (np.abs(x) + np.abs(mean)) / np.sqrt(variance + eps) + np.abs(beta))
        value, bound = activated(value, bound, o["activation"], kind)
        return {"output": (value.reshape(-1), (bound + rounding(value, p.type)).reshape(-1))}


class GroupNorm(Norm):
    required = ("output", "input", "gamma", "beta", "batch", "channels", "groups", "spatial", "eps")
    optional = {"activation": "identity"}

    def arrays(self, p, o):
        c = few(p, o["channels"])
        self.x = p.numbers((few(p, o["batch"], c, o["spatial"]),), name="input")
        self.gamma, self.beta = p.numbers((c,), name="gamma"), p.numbers((c,), name="beta")
        return {"output": stored(np.zeros(self.x.size), p.type), "input": stored(self.x, p.type), "gamma": stored(self.gamma, p.type), "beta": stored(self.beta, p.type)}

    def expected(self, p, o):
        kind = calculated(p.type)
        if self.x.size == 0:
            return {"output": (np.zeros(0), np.zeros(0))}
        y, bound = normalised(self.x.reshape(o["batch"], o["groups"], -1), (2,), o["eps"], kind)
        shape = (o["batch"], o["channels"], o["spatial"])
        value, bound = self.scaled(y.reshape(shape), bound.reshape(shape), self.gamma[:, None], self.beta[:, None], UNIT[kind])
        value, bound = activated(value, bound, o["activation"], kind)
        return {"output": (value.reshape(-1), (bound + rounding(value, p.type)).reshape(-1))}

    def torch(self, o, torch):
        x, gamma, beta = (torch.from_numpy(a.astype(np.float64)) for a in (self.x, self.gamma, self.beta))
        x = x.reshape(o["batch"], o["channels"], o["spatial"])
        return torch.nn.functional.group_norm(x, o["groups"], gamma, beta, float(np.float32(o["eps"]))) if x.numel() and o["activation"] == "identity" else None


class Softmax(Operation):
    """e^(x - largest) over their sum, of rows. Bound, of the result: u (|x - largest| + the mean of that + n/16 + 8)."""

    required, optional = ("output", "input", "n"), {"rows": 1, "ld": None}
    out, arrays_of = ("output",), ("output", "input")

    def arrays(self, p, o):
        self.x, self.y = Matrix(p, o["rows"], o["n"], o["ld"], name="input"), Matrix(p, o["rows"], o["n"], o["ld"], gap=0.0)
        self.y.data[:] = 0
        return {"output": self.y.bits(), "input": self.x.bits()}

    def expected(self, p, o):
        kind, x = calculated(p.type), self.x.values[0]
        if x.size == 0:
            return {"output": (np.zeros(self.y.data.size), np.zeros(self.y.data.size))}
        with np.errstate(invalid="ignore"):
            below = x - x.max(1, keepdims=True)
            value = np.exp(below)
            value = value / value.sum(1, keepdims=True)
            away = np.where(value > 0, np.abs(below), 0)
            bound = value * UNIT[kind] * (away + (value * away).sum(1, keepdims=True) + o["n"] / 16 + 8)
        return {"output": self.y.result(value[None], (bound + rounding(value, p.type) + LEAST[kind])[None])}

    def torch(self, o, torch):
        x = torch.from_numpy(self.x.values[0].astype(np.float64))
        return torch.softmax(x, 1) if o["ld"] is None and x.numel() else None


class LogSoftmax(Softmax):
    """x - largest - the logarithm of the sum of e^(x - largest). Bound: that of the difference, of the sum and of its logarithm."""

    def expected(self, p, o):
        kind, x = calculated(p.type), self.x.values[0]
        if x.size == 0:
            return {"output": (np.zeros(self.y.data.size), np.zeros(self.y.data.size))}
        with np.errstate(invalid="ignore"):
            below = x - x.max(1, keepdims=True)
            powers = np.exp(below)
            total = powers.sum(1, keepdims=True)
            away = np.where(powers > 0, np.abs(below), 0)
            off = (powers * away).sum(1, keepdims=True) / total + o["n"] / 16 + 8
            value = below - np.log(total)
            bound = UNIT[kind] * (off + 2 * np.abs(below) + 3 * np.log(total))
        return {"output": self.y.result(value[None], (bound + rounding(value, p.type) + LEAST[kind])[None])}

    def torch(self, o, torch):
        x = torch.from_numpy(self.x.values[0].astype(np.float64))
        return torch.log_softmax(x, 1) if o["ld"] is None and x.numel() else None


class RmsNorm(Norm):
    """gamma x / sqrt(mean of x^2 + eps) of rows. Bound: squares lose what 128 partial sums lose."""

    required, optional = ("output", "input", "gamma", "n", "eps"), {"rows": 1, "ld": None, "inverse_deviation": False}
    arrays_of, given = ("output", "input", "gamma", "inverse_deviation"), ("inverse_deviation",)

    def arrays(self, p, o):
        self.x, self.y = Matrix(p, o["rows"], o["n"], o["ld"], name="input"), Matrix(p, o["rows"], o["n"], o["ld"], gap=0.0)
        self.gamma = p.numbers((few(p, o["n"]),), name="gamma")
        return {"output": stored(np.zeros(self.y.data.size), p.type), "input": self.x.bits(), "gamma": stored(self.gamma, p.type), **self.rows_given(p, o)}

    def expected(self, p, o):
        kind, x = calculated(p.type), self.x.values[0]
        self.y.data[:] = 0
        if x.size == 0:
            return {"output": (np.zeros(self.y.data.size), np.zeros(self.y.data.size)), **self.expected_given(p, o, x)}
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            eps = x.dtype.type(np.float32(o["eps"])) if kind == "f32" else o["eps"]
            y = x / np.sqrt((x * x).mean(1, keepdims=True) + eps)
            y[~np.isfinite(x).all(1)] = np.nan # a NaN or an infinity makes its whole row NaN
            off = UNIT[kind] * (o["n"] / 128 + 16)
            value = y * self.gamma
            least = LEAST[kind]
            bound = np.abs(value) * off + least * (np.abs(self.gamma) + 1)
        return {"output": self.y.result(value[None], (bound + rounding(value, p.type))[None]), **self.expected_given(p, o, x)}


class Heads:
    """Rows [batch, heads, rows, columns] in memory, with the strides (batch, head, row) or without gaps; a stride of 0 repeats. Gaps are NaN."""

    def __init__(self, p, shape, strides, make, gap=np.nan):
        b, h, r, c = shape
        self.strides = strides or (h * r * c, r * c, c)
        outer = tuple(n if stride or not strides else min(n, 1) for n, stride in zip(shape, self.strides))
        at = sum(np.arange(n).reshape([-1 if k == d else 1 for k in range(4)]) * stride for d, (n, stride) in enumerate(zip((*outer, c), (*self.strides, 1))))
        self.at = np.broadcast_to(at, (*outer, c)).astype(np.int64)
        made = make(self.at.shape)
        self.data = np.full(int(self.at.max(initial=-1)) + 1, gap, made.dtype)
        self.data[self.at] = made
        self.at = np.broadcast_to(self.at, shape)
        if p.refused is not None:
            self.data = np.resize(self.data, min(self.data.size, SMALL))

    @property
    def values(self):
        return self.data[self.at]


class Attention(Operation):
    """softmax(softcap tanh(q k^T scale / softcap) + mask) v of each head. What a causal query does not see counts for nothing, NaN neither; one that sees no key gets zeros.
    Bound: the scores' errors as a product's; e^ of them; a weighted mean of the values."""

    required = ("output", "query", "key", "value", "batch", "heads", "seq_len", "head_dim")
    optional = {"kv_heads": None, "kv_len": None, "causal": False, "mask": False, "mask_strides": (), "scale": None, "value_dim": None, "query_strides": (), "key_strides": (),
                "value_strides": (), "output_strides": (), "from_start": False, "lengths": (), "wide": False, "mask_row": None, "seen": False, "seen_strides": (), "softcap": 0.0,
                "scores": False, "products": False, "masked": False}
    out, arrays_of = ("output", "scores"), ("output", "query", "key", "value", "mask", "lengths", "seen", "scores")

    def types(self, p):
        return {"lengths": "i64" if p.given.get("wide") else "u32", "seen": "u8"}

    def arrays(self, p, o):
        b, h, s, d = (o[name] for name in ("batch", "heads", "seq_len", "head_dim"))
        self.kv_heads, self.kv_len, self.value_dim = (left_out if o[name] is None else o[name] for name, left_out in (("kv_heads", h), ("kv_len", s), ("value_dim", d)))
        if p.refused is not None and max(b, h, s, d, self.kv_heads, self.kv_len) > SMALL:
            return {name: stored(np.zeros(SMALL), p.type) for name in ("output", "query", "key", "value")}
        q, k, v, y = [(b, h, s, d)], [(b, self.kv_heads, self.kv_len, d)], [(b, self.kv_heads, self.kv_len, self.value_dim)], [(b, h, s, self.value_dim)]
        q, k, v = (Heads(p, shape, o[name + "_strides"], lambda shape, name=name: p.numbers(shape, name=name)) for (shape,), name in zip((q, k, v), ("query", "key", "value")))
        self.y = Heads(p, y[0], o["output_strides"] if p.refused is None else (), np.zeros, 7.0)
        self.q, self.k, self.v = (x.values if p.refused is None else None for x in (q, k, v))
        arrays = {"output": stored(self.y.data, p.type), "query": stored(q.data, p.type), "key": stored(k.data, p.type), "value": stored(v.data, p.type)}
        if o["mask"]:
            strides = (*(o["mask_strides"] or (0, 0)), self.kv_len if o["mask_row"] is None else o["mask_row"])
            mask = Heads(p, (b, h, s, self.kv_len), strides, lambda shape: self.some_mask(p, o, shape))
            self.mask = mask.values
            arrays["mask"] = stored(mask.data, p.type)
        if o["lengths"]:
            self.lengths = np.array([o["lengths"]] if isinstance(o["lengths"], int) else o["lengths"])
            arrays["lengths"] = self.lengths.astype("i8" if o["wide"] else "u4")
        if o["seen"]:
            seen = Heads(p, (b, h, s, self.kv_len), o["seen_strides"], lambda shape: (p.random.random(shape) < 0.7).astype("u1"), 1)
            self.seen = seen.values
            arrays["seen"] = seen.data
        if o["scores"]:
            arrays["scores"] = stored(np.zeros(b * h * s * self.kv_len), p.type)
        return arrays

    def some_mask(self, p, o, shape):
        """Rows are those of the shape that the mask has in memory."""
        mask = loaded(stored(np.where(p.random.random(shape) < 0.2, -np.inf, p.random.standard_normal(shape)), p.type), p.type)
        mask[..., :1] = 0.5  # no row without an element
        if o["mask"] == "ends":  # rows of the lowest number, of the highest one beside others, of a number that all of it is, of the lowest and no key
            for row, number in enumerate((-MOST[p.type], MOST[p.type], -10000.0, -np.inf)):
                mask[..., row::5, row % 2:] = number
            mask[..., 3::5, 1] = -np.inf
            mask[..., 3::10, 0] = -np.inf
        return mask

    def hidden(self, o, n, m):
        """[batch, heads, n, m]: keys that are not looked at."""
        keys = np.clip(self.lengths, 0, m) if o["lengths"] else np.full(o["batch"], m)
        keys = keys[:, None, None, None]
        seen = np.arange(m) < keys
        if o["causal"]:
            seen = seen & (np.arange(m) <= np.arange(n)[:, None] + (0 if o["from_start"] else keys - n))
        return np.broadcast_to(~seen, (o["batch"], o["heads"], n, m))

    def expected(self, p, o):
        kind, d, w = calculated(p.type), o["head_dim"], wide(p.type)
        scale = 1 / np.sqrt(w(max(d, 1))) if o["scale"] is None else w(np.float32(o["scale"]) if kind == "f32" else o["scale"])
        k, v = (np.repeat(x, o["heads"] // max(self.kv_heads, 1), 1) for x in (self.k, self.v))
        u = UNIT[kind]
        results = {}
        with np.errstate(invalid="ignore"):
            s = np.einsum("bhid,bhjd->bhij", self.q, k) * scale
            off = u * (d + 6) * np.einsum("bhid,bhjd->bhij", np.abs(self.q), np.abs(k)) * abs(scale)
            least = LEAST[kind] * (4 * np.abs(k).sum(-1)[:, :, None] + abs(scale) + 1)
            products, of_products = s, off + least + 4 * u * np.abs(s)
            if o["softcap"]:
                s = o["softcap"] * np.tanh(s / o["softcap"])
                off = off + 6 * u * np.abs(s) + 2 * LEAST[kind] * (1 + o["softcap"])
            if o["mask"]:
                s = s + self.mask
                off = off + 2 * u * np.where(np.isfinite(self.mask), np.abs(self.mask), 0)
            off = off + least
            if o["seen"]:
                s = np.where(self.seen != 0, s, -np.inf)
            hidden = self.hidden(o, *s.shape[-2:])
            s, off = np.where(hidden, -np.inf, s), np.where(hidden, 0, off)
            of_masked = off + 4 * u * np.where(np.isfinite(s), np.abs(s), 0)
            largest = s.max(-1, keepdims=True, initial=-np.inf)
            e = np.exp(s - np.where(largest == -np.inf, 0, largest))
            weights, keyless = e / e.sum(-1, keepdims=True), largest == -np.inf
            weights, off = np.where(keyless, 0, weights), np.where(keyless, 0, off)
            away, off = np.where(weights > 0, np.abs(s - largest), 0), np.where(weights > 0, off, 0)
            if not hidden.any() or np.isfinite(v).all():
                value = np.einsum("bhij,bhjd->bhid", weights, v)
            else:
                value = np.where(hidden[..., None] & ~hidden.all(-1)[..., None, None], 0, weights[..., None] * v[:, :, None]).sum(3)
                v = np.where(np.isfinite(v), v, 0)
            value = np.where(keyless, 0, value)
            part = off + u * away + off.max(-1, keepdims=True, initial=0)
            part = part + (weights * part).sum(-1, keepdims=True) + u * (s.shape[-1] / 4 + 24)
            bound = np.einsum("bhij,bhjd->bhid", weights * part + 4 * self.kv_len * LEAST[kind], np.abs(v)) + LEAST[kind]
        data, room = self.y.data.astype(wide(p.type)), np.zeros(self.y.data.shape)
        data[self.y.at], room[self.y.at] = value, bound + rounding(value, p.type)
        results["output"] = (data, room)
        if o["scores"]:
            scores, bound = (products, of_products) if o["products"] else (s, of_masked) if o["masked"] else (weights, 2 * weights * part + LEAST[kind])
            results["scores"] = (scores.reshape(-1), (bound + rounding(scores, p.type)).reshape(-1))
        return results

    def torch(self, o, torch):
        own = getattr(torch.nn.functional, "_scaled_dot_product_attention", None)
        if own is None or self.kv_heads != o["heads"] or o["scale"] is not None or any(o[name] for name in ("mask", "lengths", "seen", "softcap", "from_start", "output_strides")) or self.kv_len != o["seq_len"] or self.q.size == 0:
            return None
        q, k, v = (torch.from_numpy(x.astype(np.float64)) for x in (self.q, self.k, self.v))
        return own(q, k, v, None, 0.0, False, o["causal"])[0]


class FlashAttention(Attention):
    required = (*Attention.required, "block_size")


class Rope(Operation):
    """Pairs of elements turned by position*freqs, or with sin by cosines and sines that are there; those from rotary_dim on stay. Bound: the angle's rounding and the functions'; of
    tables that of two products and their sum."""

    required = ("output", "input", "freqs", "batch", "seq_len", "heads", "head_dim")
    optional = {"position": 0, "halves": False, "sin": False, "rotary_dim": None, "freqs_strides": (), "sin_strides": (), "input_strides": (), "output_strides": ()}
    out, arrays_of = ("output",), ("output", "input", "freqs", "sin")

    def arrays(self, p, o):
        sizes = [o[name] for name in ("batch", "seq_len", "heads", "head_dim")]
        half = self.half = (o["head_dim"] if o["rotary_dim"] is None else o["rotary_dim"]) // 2
        tables = ["freqs", "sin"] if o["sin"] else []
        self.freqs = loaded(stored(10000.0 ** (-np.arange(half) / max(half, 1)), p.type), p.type)
        others = {"freqs": stored(self.freqs, p.type)}
        if p.refused is not None:
            x = p.numbers((few(p, *sizes),))
            return {"output": stored(np.zeros(x.size), p.type), "input": stored(x, p.type), **others, **{name: stored(np.zeros(SMALL), p.type) for name in tables}}
        x, self.y = Heads(p, sizes, o["input_strides"], p.numbers), Heads(p, sizes, o["output_strides"], np.zeros, 7.0)
        self.x = x.values
        for name in tables:
            table = Heads(p, (*sizes[:2], 1, half), (*o[name + "_strides"], 0) if o[name + "_strides"] else (), p.numbers)
            others[name] = stored(table.data, p.type)
            setattr(self, name, table.values)
        return {"output": stored(self.y.data, p.type), "input": stored(x.data, p.type), **others}

    def angles(self, o):
        """(position + place) freqs, exactly, without its whole turns, and how large it was."""
        turn, freqs = 2 * PI, [Fraction(*float(f).as_integer_ratio()) for f in self.freqs]
        exact = [[(o["position"] + place) * f for f in freqs] for place in range(o["seq_len"])]
        shape = (o["seq_len"], len(freqs))
        near, whole = ([[f(a) for a in row] for row in exact] for f in (lambda a: float(a % turn), float))
        return np.array(near).reshape(shape).astype(self.x.dtype), np.array(whole).reshape(shape)

    def expected(self, p, o):
        u, half = UNIT[calculated(p.type)], self.half
        one = (slice(0, half), slice(half, 2 * half)) if o["halves"] else (slice(0, 2 * half, 2), slice(1, 2 * half, 2))
        x, y = self.x[..., one[0]], self.x[..., one[1]]
        if o["sin"]:
            cos, sin = self.freqs, self.sin
            bounds = (u * (2 * np.abs(x * cos) + 3 * np.abs(y * sin)), u * (2 * np.abs(x * sin) + 3 * np.abs(y * cos)))
        else:
            angle, size = (a[None, :, None] for a in self.angles(o))
            cos, sin = np.cos(angle), np.sin(angle)
            bounds = (u * (np.abs(x) + np.abs(y)) * (size + 4),) * 2
        value, bound = self.x.copy(), np.zeros(self.x.shape)
        for part, turned, off in zip(one, (x * cos - y * sin, x * sin + y * cos), bounds):
            value[..., part], bound[..., part] = turned, off + rounding(turned, p.type) + LEAST[calculated(p.type)]
        data, room = self.y.data.astype(wide(p.type)), np.zeros(self.y.data.shape)
        data[self.y.at], room[self.y.at] = value, bound
        return {"output": (data, room)}



class LayerScale(Operation):
    required, optional = ("output", "input", "scale", "n"), {"rows": 1}
    out, arrays_of = ("output",), ("output", "input", "scale")

    def arrays(self, p, o):
        self.x = p.numbers((few(p, o["rows"] * o["n"]),))
        self.s = p.numbers((few(p, o["n"]),))
        return {"output": stored(np.zeros(self.x.size), p.type), "input": stored(self.x, p.type), "scale": stored(self.s, p.type)}

    def expected(self, p, o):
        with np.errstate(invalid="ignore"):
            value = (self.x.reshape(o["rows"], o["n"]) * self.s).reshape(-1)
        return {"output": (value, 1.01 * rounding(value, p.type))}


class KvCacheUpdate(Operation):
    """Copies; the rest of the cache stays."""

    required, optional = ("cache", "new_kv", "position", "batch", "heads", "head_dim"), {"seq_len": 1, "length": 0}
    inout, arrays_of = ("cache",), ("cache", "new_kv")

    def arrays(self, p, o):
        self.one = few(p, o["batch"] * o["heads"] * o["head_dim"])
        length = p.given.pop("length", 0) or o["position"] + o["seq_len"] + 1
        self.cache, self.new = p.numbers((few(p, length, self.one),)), p.numbers((few(p, o["seq_len"], self.one),))
        return {"cache": stored(self.cache, p.type), "new_kv": stored(self.new, p.type)}

    def expected(self, p, o):
        value = self.cache.copy()
        value[o["position"] * self.one:o["position"] * self.one + self.new.size] = self.new
        return {"cache": (value, np.zeros(value.shape))}


class AllReduce(Operation):
    """One device: nothing changes."""

    required, inout, arrays_of, optional = ("buffer", "n", "operation"), ("buffer",), ("buffer",), {"devices": ()}

    def arrays(self, p, o):
        self.x = p.numbers((few(p, o["n"]),))
        return {"buffer": stored(self.x, p.type)}

    def expected(self, p, o):
        return {"buffer": (self.x, np.zeros(self.x.shape))}


class Broadcast(AllReduce):
    required, optional = ("buffer", "n"), {"devices": (), "root": 0}


class AllGather(Operation):
    required, out, arrays_of, optional = ("output", "input", "n"), ("output",), ("output", "input"), {"devices": ()}

    def arrays(self, p, o):
        self.x = p.numbers((few(p, o["n"]),))
        return {"output": stored(np.zeros(self.x.size), p.type), "input": stored(self.x, p.type)}

    def expected(self, p, o):
        return {"output": (self.x, np.zeros(self.x.shape))}


class ReduceScatter(AllGather):
    required = ("output", "input", "n", "operation")


OPERATIONS = {"conv2d": Conv2d, "conv": Conv, "conv_transpose": Conv, "max_pool": Pool, "avg_pool": Pool, "layer_norm": LayerNorm, "batch_norm": BatchNorm, "group_norm": GroupNorm, "softmax": Softmax, "log_softmax": LogSoftmax, "rms_norm": RmsNorm, "attention": Attention,
              "flash_attention": FlashAttention, "rope": Rope, "layer_scale": LayerScale, "kv_cache_update": KvCacheUpdate, "all_reduce": AllReduce,
              "all_gather": AllGather, "reduce_scatter": ReduceScatter, "broadcast": Broadcast}

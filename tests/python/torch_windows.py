"""What the converter of hologram.torch does with pools and transposed convolutions, against NumPy by PyTorch's documented formulas: no PyTorch is needed,
of which the converter's module asks only for names here."""
import itertools
import sys
import types

from checks import check
import numpy as np


class _Anything(types.ModuleType):
    """A module whose every name is a class of no use, or a module again."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {}) if name[0].isupper() else _Anything(name)
        setattr(self, name, made)
        return made


def converter():
    if "torch" in sys.modules:
        import hologram.torch as module
        return module._ATEN
    sys.modules["torch"] = _Anything("torch")
    try:
        import hologram.torch as module
        return module._ATEN
    finally:
        del sys.modules["torch"]


def extents(x, window, stride, padding, dilation, ceil_mode):
    outs = []
    for n, w, s, p, d in zip(x.shape[-len(window):], window, stride, padding, dilation):
        out = (n + 2 * p - d * (w - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        outs.append(out - 1 if ceil_mode and (out - 1) * s >= n + p else out)
    return outs


def places(o, n, w, s, p, d):
    return [o * s - p + k * d for k in range(w) if 0 <= o * s - p + k * d < n]


def largest(x, window, stride, padding, dilation, ceil_mode):
    rank, outs = len(window), extents(x, window, stride, padding, dilation, ceil_mode)
    made, at = np.zeros((*x.shape[:-rank], *outs), x.dtype), np.zeros((*x.shape[:-rank], *outs), "i8")
    whole = np.arange(np.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
    for o in np.ndindex(*outs):
        part = np.ix_(*map(places, o, x.shape[-rank:], window, stride, padding, dilation))
        rows = x[(..., *part)].reshape(*x.shape[:-rank], -1)
        made[(..., *o)], at[(..., *o)] = rows.max(-1), whole[part].ravel()[rows.argmax(-1)]
    return made, at


def mean(x, window, stride, padding, ceil_mode, counted, divisor):
    rank, ones = len(window), (1,) * len(window)
    outs = extents(x, window, stride, padding, ones, ceil_mode)
    made = np.zeros((*x.shape[:-rank], *outs))
    for o in np.ndindex(*outs):
        part = list(map(places, o, x.shape[-rank:], window, stride, padding, ones))
        all_ = [min(a * s - p + w, n + p) - (a * s - p) for a, n, w, s, p in zip(o, x.shape[-rank:], window, stride, padding)]
        by = divisor or np.prod(all_ if counted else [len(one) for one in part])
        made[(..., *o)] = x[(..., *np.ix_(*part))].astype("f8").sum(tuple(range(-rank, 0))) / by
    return made


def transposed(x, w, stride, padding, more, dilation, groups):
    rank = w.ndim - 2
    outs = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, k, s, p, m, d in zip(x.shape[2:], w.shape[2:], stride, padding, more, dilation)]
    each_in, each_out = x.shape[1] // groups, w.shape[1]
    made = np.zeros((x.shape[0], each_out * groups, *[o + 2 * p for o, p in zip(outs, padding)]))
    for i, k in itertools.product(np.ndindex(*x.shape[2:]), np.ndindex(*w.shape[2:])):
        to = tuple(a * s + b * d for a, b, s, d in zip(i, k, stride, dilation))
        for g in range(groups):
            a, b = slice(g * each_in, (g + 1) * each_in), slice(g * each_out, (g + 1) * each_out)
            made[(slice(None), b, *to)] += x[(slice(None), a, *i)].astype("f8") @ w[(a, slice(None), *k)].astype("f8")
    return made[(..., *[slice(p, p + o) for o, p in zip(outs, padding)])] if rank else made


def near(made, want, what):
    made = np.asarray(made)
    check(made.shape == want.shape and np.allclose(made, want, rtol=1e-5, atol=1e-5), f"{what}: {made.shape}, {want.shape} expected; {made.ravel()[:4]}, {want.ravel()[:4]} expected")


def run():
    aten = converter()
    import hologram as hg
    random = np.random.default_rng(3)
    number = lambda *bounds: int(random.integers(*bounds))  # noqa: E731
    for turn in range(60):
        rank, ceil_mode, batched = 1 + turn % 3, turn % 2 == 0, turn % 5 != 0
        window = [number(1, 4) for _ in range(rank)]
        stride, dilation = ([number(1, 4) for _ in range(rank)] for _ in range(2))
        padding = [number(0, w // 2 + 1) for w in window]
        size = [number((w - 1) * d + 1, 11) for w, d in zip(window, dilation)]
        x = random.permutation(3 * 2 * int(np.prod(size))).reshape(3, 2, *size).astype("f4")
        x, a = (x, hg.asarray(x)) if batched else (x[0], hg.asarray(x[0]))
        value, at = largest(x, window, stride, padding, dilation, ceil_mode)
        near(aten[f"max_pool{rank}d"](a, window, stride, padding, dilation, ceil_mode), value, f"max_pool{rank}d, turn {turn}")
        made = aten[f"max_pool{rank}d_with_indices"](a, window, stride, padding, dilation, ceil_mode)
        near(made[0], value, f"max_pool{rank}d_with_indices, turn {turn}")
        check(np.array_equal(np.asarray(made[1]), at), f"max_pool{rank}d_with_indices, turn {turn}: {np.asarray(made[1]).ravel()[:6]}, {at.ravel()[:6]} expected")
        for counted, divisor in ((True, None), (False, None), (True, 7), (False, -2))[:4 if rank > 1 else 2]:
            more = () if rank == 1 else (divisor,)
            near(aten[f"avg_pool{rank}d"](a, window, stride, padding, ceil_mode, counted, *more), mean(x, window, stride, padding, ceil_mode, counted, divisor),
                 f"avg_pool{rank}d, turn {turn}, counted {counted}, divisor {divisor}")
        near(aten[f"max_pool{rank}d"](a, window), largest(x, window, window, [0] * rank, [1] * rank, False)[0], f"max_pool{rank}d of a window, turn {turn}")
        if batched and turn < 18:
            groups = 1 + turn % 2
            w = random.standard_normal((2, 3, *window)).astype("f4")
            more = [number(0, max(s, d)) for s, d in zip(stride, dilation)]
            if all((n - 1) * s - 2 * p + d * (k - 1) + m + 1 > 0 for n, k, s, p, m, d in zip(size, window, stride, padding, more, dilation)):
                near(aten[f"conv_transpose{rank}d"](a, hg.asarray(w), None, stride, padding, more, groups, dilation) / 1e2,
                     transposed(x, w, stride, padding, more, dilation, groups) / 1e2, f"conv_transpose{rank}d, turn {turn}")
    for call, words in ((lambda: aten["avg_pool2d"](hg.ones((1, 1, 4, 4)), [2, 2], [], [0], False, True, 0), "divisor"),
                        (lambda: aten["max_pool2d"](hg.ones((1, 1, 4, 4)), [5, 5], [], [0], [1], True), "window"),
                        (lambda: aten["max_pool2d"](hg.ones((1, 1, 4, 4)), [2, 2], [0, 0]), "stride")):
        try:
            call()
            check(False, f"no error of {words}")
        except hg.ArgumentError as error:
            check(words in str(error), str(error))

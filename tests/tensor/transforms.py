"""fft: complex and real, any length."""
import numpy as np

from numbers_of import LEAST, UNIT, loaded, stored
from operation import SMALL, Operation


def direct(x):
    """The sum of its definition over the last axis, of long doubles."""
    n = x.shape[-1]
    j = np.arange(n)
    angle = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * ((j[:, None] * j) % n) / n
    return np.einsum("...j,jk->...k", x, np.cos(angle) - 1j * np.sin(angle))


def forward(x):
    """Of the last axis: divided by its least prime factor."""
    n = x.shape[-1]
    p = next((p for p in range(2, int(n ** 0.5) + 1) if n % p == 0), n)
    if p == n:
        if n > 4099:
            try:
                from scipy import fft  # pylint: disable=import-outside-toplevel
            except ImportError:  # in doubles, which do for f32
                from numpy import fft  # pylint: disable=import-outside-toplevel
            return fft.fft(x)
        return direct(x)
    parts = forward(np.swapaxes(x.reshape(*x.shape[:-1], n // p, p), -1, -2))
    angle = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * np.arange(p)[:, None] * np.arange(n // p) / n
    parts = parts * (np.cos(angle) - 1j * np.sin(angle))
    return np.swapaxes(direct(np.swapaxes(parts, -1, -2)), -1, -2).reshape(x.shape)


def largest_factor(n):
    p = 2
    while p * p <= n:
        if n % p:
            p += 1
        else:
            n //= p
    return n


def transform(x, inverse):
    return np.conj(forward(np.conj(x))) / x.shape[-1] if inverse else forward(x)


class Fft(Operation):
    """Bound, of the root of the sum of the squares of all errors of a transform: u log2(4n) of that of the results, twice as much where n has a prime factor above 7 (three
    transforms of up to 4n numbers), and 8n least numbers."""

    required, optional = ("output", "input", "n", "inverse"), {"batch": 1, "real": False, "wave": False}
    out, arrays_of = ("output",), ("output", "input")

    def arrays(self, p, o):
        n, batch, half = o["n"], o["batch"], o["n"] // 2 + 1
        p.given.pop("wave", None)
        if p.refused is not None:
            return {"output": stored(np.zeros(SMALL), p.type), "input": stored(np.zeros(SMALL), p.type)}
        complexes = half if o["real"] else n
        if o["real"] and not o["inverse"]:
            self.x = self.shaped(p.numbers((batch, n)), p, o)
            data, size = self.x, batch * half * 2
        else:
            pairs = self.shaped(p.numbers((batch, complexes, 2)), p, o)
            if o["real"] and pairs.size:
                pairs[:, 0, 1] = 0
                if n % 2 == 0:
                    pairs[:, -1, 1] = 0
            self.x = pairs[..., 0] + 1j * pairs[..., 1]
            data, size = pairs, batch * n * (1 if o["real"] else 2)
        return {"output": stored(np.zeros(size), p.type), "input": stored(data, p.type).reshape(-1)}

    def shaped(self, x, p, o):
        """With `wave` one frequency is nearly all there is."""
        if not o["wave"]:
            return x
        place = np.arange(x.shape[1]).reshape((1, -1) + (1,) * (x.ndim - 2))
        return loaded(stored(0.001 * x + np.cos(2 * np.pi * place * (o["n"] // 3) / max(o["n"], 1)), p.type), p.type)

    def expected(self, p, o):
        n, x = o["n"], self.x
        if x.size == 0:
            return {"output": (np.zeros(0), np.zeros(0))}
        if o["real"] and o["inverse"]:
            x = np.concatenate([x, np.conj(x[:, 1:n - n // 2][:, ::-1])], 1)
        y = transform(x.astype(np.clongdouble), o["inverse"])
        size = np.sqrt((np.abs(y) ** 2).sum(1, keepdims=True).astype(np.float64))
        bound = (1 if largest_factor(n) <= 7 else 2) * UNIT[p.type] * np.log2(4 * n) * size + 8 * n * LEAST[p.type]
        if o["real"]:
            y = y.real[..., None] if o["inverse"] else y[:, :n // 2 + 1]
        if not (o["real"] and o["inverse"]):
            y = np.stack([y.real, y.imag], -1)
        room = np.broadcast_to(bound[..., None], y.shape)
        self.norms = y, bound
        return {"output": (y.reshape(-1), room.reshape(-1))}

    def together(self, results):
        """What is wrong with all elements of a transform together; empty: nothing."""
        if not results["output"].size:
            return ""
        y, bound = self.norms
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(((results["output"].reshape(y.shape) - y) ** 2).reshape(y.shape[0], -1).sum(1)).astype(np.float64)
        worst = int(np.argmax(errors / bound[:, 0]))
        return f"the errors of transform {worst} are {errors[worst]:.3g} together, expected {bound[worst, 0]:.3g}" if errors[worst] > bound[worst, 0] else ""


OPERATIONS = {"fft": Fft}

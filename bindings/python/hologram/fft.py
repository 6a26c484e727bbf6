"""Fourier transforms of the Python array API standard 2024.12, of any length."""
from . import _executor, _native, types
from ._errors import ArgumentError
from ._namespace import _axes, _axis, _named

_op = _native.operations
_NORMS = {"backward": 0.0, "ortho": 1.0, "forward": 2.0}
__all__ = ["fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift", "ifftshift"]


def _norm(norm, name):
    if norm not in _NORMS:
        raise ArgumentError(f"fft.{name}: norm {norm!r}: expected 'backward', 'ortho' or 'forward'")
    return (_NORMS[norm],)


def _one(name):
    operation = _op[name]

    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        if n is not None and n < 1:
            raise ArgumentError(f"fft.{name}: n is {n}")
        return operation(x, axes=_axis(axis, x.ndim, f"fft.{name}"), sizes=None if n is None else (n,), numbers=_norm(norm, name))
    return _named(name, transform)


def _several(name):
    operation = _op[name]

    def transform(x, /, *, s=None, axes=None, norm="backward"):
        if axes is None:
            axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
        axes = _axes(tuple(axes), x.ndim, f"fft.{name}")
        if s is not None and len(s) != len(axes):
            raise ArgumentError(f"fft.{name}: {len(s)} sizes for {len(axes)} axes")
        return operation(x, axes=axes, sizes=None if s is None else tuple(s), numbers=_norm(norm, name))
    return _named(name, transform)


fft, ifft, rfft, irfft, hfft, ihfft = (_one(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = (_several(name) for name in ("fftn", "ifftn", "rfftn", "irfftn"))


def _frequencies(name):
    operation = _op[name]

    def frequencies(n, /, *, d=1.0, dtype=None, device=None):
        dtype = types.resolve(dtype)
        if dtype is not None and dtype.kind != "f":
            raise ArgumentError(f"fft.{name}: dtype {dtype}: a real floating type is expected")
        return operation(sizes=(n,), numbers=(float(d),), type=dtype, executor=None if device is None else _executor.executor_of(device))
    return _named(name, frequencies)


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


def _shift(name):
    operation = _op[name]

    def shift(x, /, *, axes=None):
        return operation(x, axes=_axes(axes, x.ndim, f"fft.{name}"))
    return _named(name, shift)


fftshift, ifftshift = _shift("fftshift"), _shift("ifftshift")

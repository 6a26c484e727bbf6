"""Linear algebra of the Python array API standard 2024.12, as far as the library has it; the rest is refused by name."""
import math

from . import _native, types
from ._errors import ArgumentError
from ._namespace import _axes, _axis, matmul, matrix_transpose, tensordot, vecdot

_op = _native.operations


def _square(x, name):
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ArgumentError(f"linalg.{name}: square matrices are expected, not shape {x.shape}")


def cross(x1, x2, /, *, axis=-1):
    """Vector products along an axis of 3."""
    ndim = min(x1.ndim, x2.ndim)
    if not -ndim <= axis < ndim:
        raise IndexError(f"linalg.cross: axis {axis} of arrays of {ndim} axes")
    return _op["cross"](x1, x2, axes=axis)


def det(x, /):
    """Determinants of square matrices."""
    _square(x, "det")
    return _op["det"](x)


def diagonal(x, /, *, offset=0):
    """A diagonal of the last two axes."""
    return _op["diagonal"](x, numbers=(float(offset),))


def inv(x, /):
    """Inverses of square matrices."""
    _square(x, "inv")
    return _op["inv"](x)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norms of matrices: "fro", 1, -1, inf, -inf."""
    if ord not in ("fro", 1, -1, math.inf, -math.inf):
        raise ArgumentError(f"linalg.matrix_norm: ord {ord!r} needs singular values, which are not supported: 'fro', 1, -1, inf and -inf are")
    return _op["matrix_norm"](x, numbers=(0.0 if ord == "fro" else float(ord),), keepdims=keepdims)


def matrix_power(x, n, /):
    """Square matrices to a whole power."""
    _square(x, "matrix_power")
    return _op["matrix_power"](x, numbers=(float(n),))


def outer(x1, x2, /):
    """Products of all pairs of elements of two vectors."""
    return _op["outer"](x1, x2)


def slogdet(x, /):
    """Sign and natural logarithm of the absolute value of determinants."""
    from collections import namedtuple
    value = det(x)
    return namedtuple("slogdet", "sign logabsdet")(_op["sign"](value), _op["log"](_op["abs"](value)))


def solve(x1, x2, /):
    """x of x1 x = x2, by LU with partial pivoting."""
    _square(x1, "solve")
    return _op["solve"](x1, x2)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of a diagonal of the last two axes."""
    made = _op["trace"](x, numbers=(float(offset),))
    return made if dtype is None else made.astype(dtype, copy=False)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norms of vectors, over axes, of any order."""
    axes = _axes(axis, x.ndim, "vector_norm")
    if axis is None and x.ndim != 1:  # of all elements
        made = _op["vector_norm"](x.reshape((-1,)) if x.size else x.reshape((0,)), axes=0, flag=True, numbers=(float(ord),))
        return made.reshape((1,) * x.ndim) if keepdims else made
    return _op["vector_norm"](x, axes=axes, keepdims=keepdims, flag=True, numbers=(float(ord),))


def _refused(name, why):
    return ArgumentError(f"linalg.{name} is not supported: {why}")


def cholesky(x, /, *, upper=False):
    """Not supported."""
    raise _refused("cholesky", "solve() uses LU")


def eigh(x, /):
    """Not supported."""
    raise _refused("eigh", "there are no eigenvalues")


def eigvalsh(x, /):
    """Not supported."""
    raise _refused("eigvalsh", "there are no eigenvalues")


def matrix_rank(x, /, *, rtol=None):
    """Not supported."""
    raise _refused("matrix_rank", "there are no singular values")


def pinv(x, /, *, rtol=None):
    """Not supported."""
    raise _refused("pinv", "there are no singular values")


def qr(x, /, *, mode="reduced"):
    """Not supported."""
    raise _refused("qr", "there is no QR decomposition")


def svd(x, /, *, full_matrices=True):
    """Not supported."""
    raise _refused("svd", "there are no singular values")


def svdvals(x, /):
    """Not supported."""
    raise _refused("svdvals", "there are no singular values")


__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
           "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]

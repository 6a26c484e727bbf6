"""Recording: operations on arrays that run together, as one graph."""
import contextlib
import functools

from . import _executor, _native


@contextlib.contextmanager
def scope(executor=None):
    """Operations of this thread on an executor are recorded and run together at the end: fused, with memory planned, compiled once for
    all shapes. Reading an element runs what is recorded so far. The results have the bits that they have outside."""
    executor = _executor.executor_of(executor)
    made = _native.begin_scope(executor)
    try:
        yield executor
    except BaseException:
        with contextlib.suppress(Exception):
            _native.end_scope(made)
        raise
    _native.end_scope(made)


def jit(function=None, *, executor=None):
    """A function of arrays whose operations run together, as in a scope. What was recorded once is not compiled again, whatever the
    shapes."""
    if function is None:
        return functools.partial(jit, executor=executor)

    @functools.wraps(function)
    def recorded(*args, **named):
        with scope(executor):
            return function(*args, **named)
    return recorded


@contextlib.contextmanager
def profile(path, backend="auto", **settings):
    """Inside, a new executor with a profile is the default one; at the end the profile is written: a Chrome trace, and a table in
    path.txt."""
    executor = _executor.Executor(backend, profiling=True, **settings)
    before = _executor._default
    _executor.set_default_executor(executor)
    try:
        yield executor
    finally:
        _executor._restore(before)
        executor.write_profile(path)

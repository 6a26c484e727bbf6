"""Objects of Python that stand for one of the library."""
import sys


class Owner:
    """Owns an object of the library: `_handle` has its address until it is destroyed. Only `_of` takes an address. Two owners would destroy it
    twice, so there are no copies and no pickles but of what can be made again from a text."""

    __slots__ = ()
    _makers = ""  # what makes one

    def __init__(self, *_, **__):
        raise TypeError(f"{type(self).__name__}: made by {self._makers}")

    @classmethod
    def _of(cls, handle, keeps=None):
        """keeps: what has to live as long."""
        made = cls.__new__(cls)
        made._handle = handle
        if keeps is not None:
            made._keeps = keeps
        return made

    @property
    def handle(self):
        """Address of the object of the library, for hologram._interface."""
        handle = getattr(self, "_handle", None)
        if handle is None:
            raise TypeError(f"this {type(self).__name__} was destroyed, or its constructor has not run to its end")
        return handle

    def __del__(self):
        handle = getattr(self, "_handle", None)
        if handle is not None and not sys.is_finalizing():
            self._handle = None
            self._destroy(handle)

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled")

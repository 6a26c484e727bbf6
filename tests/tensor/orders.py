"""Orders of rows: sort, top_k."""
import numpy as np

from numbers_of import loaded, stored, wide
from operation import SMALL, Operation


class Sort(Operation):
    """Exact, in NumPy's order; what is equal stays in order, so descending rows are those of the row turned around, turned around."""

    required, optional = ("output", "input", "n"), {"outer": 1, "inner": 1, "descending": False, "wide": False}
    out, arrays_of = ("output", "indices"), ("output", "indices", "input")

    def kept(self, o):
        return o["n"]

    def down(self, o):
        return o["descending"]

    def types(self, p):
        return {"indices": "i64" if p.given.get("wide") else "u32"}

    def arrays(self, p, o):
        shape = (o["outer"], o["n"], o["inner"]) if p.refused is None else (1, SMALL, 1)
        self.x = p.numbers(shape)
        if p.values == "special" and self.x.size:
            self.x = loaded(stored(np.round(self.x.astype(np.float64)), p.type), p.type)
        kept = o["outer"] * self.kept(o) * o["inner"] if p.refused is None else SMALL
        return {"output": stored(np.zeros(kept), p.type), "indices": np.zeros(kept, np.int64 if o["wide"] else np.uint32), "input": stored(self.x, p.type).reshape(-1)}

    def expected(self, p, o):
        x = self.x[:, ::-1] if self.down(o) else self.x
        places = np.argsort(x, axis=1, kind="stable")
        if self.down(o):
            places = o["n"] - 1 - places[:, ::-1]
        places = places[:, :self.kept(o)]
        value = np.take_along_axis(self.x, places, 1).reshape(-1)
        return {"output": (value, np.zeros(value.shape)), "indices": (places.reshape(-1).astype(wide("f32")), np.zeros(value.shape))}

    def text(self, p, arrays):
        return super().text(p, arrays).replace("output=output,", "output=output, indices=indices,")


class TopK(Sort):
    required, optional = ("output", "input", "n", "k"), {"outer": 1, "inner": 1, "smallest": False, "wide": False}

    def kept(self, o):
        return o["k"]

    def down(self, o):
        return not o["smallest"]


OPERATIONS = {"sort": Sort, "top_k": TopK}

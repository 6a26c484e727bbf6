"""What the operations of tests/tensor have in common: lines of problems, arrays in memory with gaps that nothing may read or write, texts."""
import itertools
import re

import numpy as np

from numbers_of import FAR, MOST, NORMAL, loaded, stored, wide

def lines_of(text):
    """The lines that a line with alternatives is: `m=1|2 k=3|4` are four."""
    words = re.findall(r'[^\s=]+="[^"]*"|\S+', text)
    choices = [[word] if '"' in word else [start + choice for choice in rest.split("|")] for word in words for start, rest in [re.match(r"([^=]*=|[^=.]*\.|)(.*)", word).groups()]]
    return [" ".join(choice) for choice in itertools.product(*choices)]


SMALL = 2048  # elements of the arrays of a problem that is refused, whatever its sizes say


class Problem:
    """A line: MNEMONIC.TYPE and NAME=VALUE…. Values are numbers, true and false, names, and tuples a,b,c or a,b;c,d of them.

    An alternative VALUE|VALUE makes a line of each (lines_of). Beside operands: seed, refused="part of the message", values of all arrays, and of.ARRAY of one:
    normal; special: with NaN, infinities and zeros of both signs; far: from 0 to where e^x is no number any more; large: up to the largest number, of both signs; tiny: around the
    least normal number; lifted: differ by little from a large number; alike. times.ARRAY: what they are multiplied by."""

    def __init__(self, line, where):
        self.line, self.where = line, where
        head, *words = re.findall(r'[^\s=]+="[^"]*"|\S+', line)
        self.name, self.type = (head.split(".") + ["f32"])[:2]
        self.given = {}
        for word in words:
            key, _, value = word.partition("=")
            self.given[key] = value[1:-1] if value.startswith('"') else self.value(value)
        self.refused = self.given.pop("refused", None)
        self.values = self.given.pop("values", "normal")
        self.of, self.times = ({key[len(start):]: self.given.pop(key) for key in list(self.given) if key.startswith(start)} for start in ("of.", "times."))
        self.random = np.random.default_rng([int(self.given.pop("seed", 1)), *line.encode()])

    @staticmethod
    def value(word):
        if ";" in word:
            return tuple(Problem.value(part) for part in word.split(";"))
        if "," in word:
            return tuple(Problem.value(part) for part in word.split(",") if part)
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                pass
        return {"true": True, "false": False}.get(word, word)

    def numbers(self, shape, kind=None, scale=1.0, name=None):
        """Values of elements of a type, those of the problem for the array with a name."""
        kind = kind or self.type
        if kind in ("i8", "u8"):
            return self.random.integers(-128 if kind == "i8" else 0, 128 if kind == "i8" else 256, shape)
        values = self.of.get(name, self.values)
        x = self.random.standard_normal(shape).astype(wide(kind)) * scale
        if values == "far":
            x = -self.random.random(shape) * FAR[kind]
            x.reshape(-1)[::7] = 0
        elif values == "large":
            x = (self.random.random(shape) * 2 - 1) * wide(kind)(MOST[kind])
        elif values == "tiny":
            x = x * NORMAL[kind]
        elif values == "lifted":
            x = 10000 + 0.005 * x
        elif values == "alike":
            x = np.full(shape, 1000.1)
        x = x * wide(kind)(self.times.get(name, 1.0))
        if self.values == "special" and x.size:
            at = self.random.integers(0, x.size, 1 + x.size // 40)
            x.reshape(-1)[at] = self.random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], at.size)
        return loaded(stored(x, kind), kind)


class Matrix:
    """Rows of a matrix, several of them one behind the other, with gaps: ld elements from row to row, stride from matrix to matrix."""

    def __init__(self, problem, rows, columns, ld=None, count=1, stride=None, kind=None, gap=np.nan, name=None):
        self.kind, self.ld = kind or problem.type, columns if ld is None else ld
        self.shape, self.stride = (count, rows, columns), rows * self.ld if stride is None else stride
        length = (count - 1) * self.stride + (rows - 1) * self.ld + columns if min(count, rows, columns) > 0 else 0
        if problem.refused is not None:
            length = min(length, SMALL)
            self.shape = (0, 0, 0)
        self.at = (np.arange(self.shape[0])[:, None, None] * self.stride + np.arange(self.shape[1])[:, None] * self.ld + np.arange(self.shape[2])).astype(np.int64)
        self.data = np.full(length, gap if self.kind not in ("i8", "u8", "i32") else 77)
        self.data[self.at] = problem.numbers(self.shape if self.stride else (min(1, self.shape[0]), *self.shape[1:]), self.kind, name=name)

    def clear(self):
        """Nothing of it may be read."""
        self.data[self.at] = np.nan if self.kind not in ("i8", "u8", "i32") else 77
        return self

    @property
    def values(self):
        return self.data[self.at].astype(wide(self.kind))

    def bits(self):
        return stored(self.data, self.kind)

    def result(self, value, bound):
        """The whole array when the matrices have become these values; the gaps stay."""
        data, room = self.data.astype(wide(self.kind)), np.zeros(self.data.shape)
        data[self.at], room[self.at] = value, bound
        return data, room


class Operation:
    """One mnemonic. `required`: operands in order; `optional`: those with a name. `out`: what it writes, `inout`: what it reads as well.

    arrays(p, o) gives arrays of stored elements by the names of operands, for the operands o of the problem p; expected(p, o) after it the values and bounds of
    those in out and inout. `types` says the types of elements of arrays that do not have the call's."""

    required, optional, out, inout, arrays_of = (), {}, (), (), ()

    def operands(self, p):
        for key in p.given:
            if key not in self.required and key not in self.optional:
                raise ValueError(f"{p.where}: {p.name} has no operand {key}")
        missing = [key for key in self.required if key not in p.given and key not in self.arrays_of]
        if missing:
            raise ValueError(f"{p.where}: {p.name} needs {', '.join(missing)}")
        return {**self.optional, **p.given}

    def types(self, p):  # pylint: disable=unused-argument
        return {}

    @staticmethod
    def word(value):
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return "(" + ", ".join(Operation.word(v) for v in value) + ")"
        return repr(value) if isinstance(value, float) else str(value)

    def text(self, p, arrays):
        lines = [".atlas 1", ".program p"]
        kinds = self.types(p)
        for name, array in arrays.items():
            role = "inout" if name in self.inout else "out" if name in self.out else "in"
            lines.append(f".param {name} buffer {kinds.get(name, p.type)} {role} [{array.size}]")
        words = [f"{name}={name if name in arrays else self.word(p.given[name])}" for name in (*self.required, *self.optional) if name in arrays or name in p.given]
        return "\n".join([*lines, ".lanes 1", f"{p.name}.{p.type} " + ", ".join(words), ""])

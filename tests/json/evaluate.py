"""An evaluator of JSON kernels, written from the specification alone: the oracle of tests/json/run.py.

    result = Kernel(parse(text)).run(lanes, {"x": numpy array, "n": 5})
    result.fault   None, or (lane, "bounds" | "division by zero")

Lanes run one after another, so it is right for kernels without races. Integers are Python integers kept in the range of their type,
floats are NumPy scalars, so that every operation rounds once to its own format. Arrays of the caller are changed in place.
It must not know: the library, how kernels are generated."""
import ctypes
import ctypes.util
import json
import math
from fractions import Fraction

import numpy as np

WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = ("f32", "f64")
TYPES = tuple(WIDTH) + FLOATS + ("bool",)
INT, REAL = "integer literal", "real literal"  # types of literals that nothing has decided yet
DTYPE = {"f32": np.float32, "f64": np.float64, "bool": np.uint8, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
SIZE_SHIFT = {name: int(np.dtype(kind).itemsize).bit_length() - 1 for name, kind in DTYPE.items()}
CONVERSIONS = dict({name: name for name in TYPES}, int="i32", float="f32", usize="u64")
COMPARISONS = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
               "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}
MOST_ROUNDS = 100_000  # of one loop: a kernel that needs more is a fault of the test


class KernelError(Exception):
    """The document is not a kernel."""


class Fault(Exception):
    """A lane stops: kind is "bounds" or "division by zero"."""


class Real:
    """A JSON number with a fraction or an exponent, as it was written."""

    def __init__(self, text):
        self.text, self.f64 = text, float(text)

    def negated(self):
        return Real(self.text[1:] if self.text.startswith("-") else "-" + self.text)

    def to(self, kind):
        """Rounded once from the decimal."""
        if kind == "f64":
            return np.float64(self.f64)
        exact, near = Fraction(self.text), np.float32(self.f64)
        if not np.isfinite(near):
            return near
        around = [np.nextafter(near, np.float32(-math.inf)), near, np.nextafter(near, np.float32(math.inf))]
        around = [value for value in around if np.isfinite(value)]
        value = min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))
        return -value if value == 0 and self.text.startswith("-") and not np.signbit(value) else value


def parse(text):
    return json.loads(text, parse_float=Real)


_libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
OF_ONE = ("exp", "exp2", "exp10", "sinpi", "cospi", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "erfc")
OF_TWO = ("pow", "atan2", "hypot")
OF_PI = ("sinpi", "cospi")
for _name in [name for name in OF_ONE + OF_TWO if name not in OF_PI]:
    getattr(_libm, _name).restype = ctypes.c_double
    getattr(_libm, _name).argtypes = [ctypes.c_double] * (2 if _name in OF_TWO else 1)


# ---- values ------------------------------------------------------------------------------------------------------------------------

def bounds(kind):
    width = WIDTH[kind]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "i" else (0, (1 << width) - 1)


def wrap(value, kind):
    width = WIDTH[kind]
    value &= (1 << width) - 1
    return value - (1 << width) if kind[0] == "i" and value >> (width - 1) else value


def convert(value, source, target):
    """CVT (semantics 3.3)."""
    if source == target:
        return value
    if target == "bool":
        return bool(value != 0)
    if source == "bool":
        source, value = "u8", int(value)
    if source in FLOATS:
        if target in FLOATS:
            return DTYPE[target](value)
        if np.isnan(value):
            return 0
        low, high = bounds(target)
        return low if value <= low else high if value >= high else int(value)
    if target in FLOATS:
        return np.array(value, np.int64 if source[0] == "i" else np.uint64).astype(DTYPE[target])[()]
    return wrap(value, target)


def divide(a, b):
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def int_operation(op, a, b):
    if op == "add":
        return a + b
    if op == "sub":
        return a - b
    if op == "mul":
        return a * b
    if b == 0:
        raise Fault("division by zero")
    if op == "div":
        return divide(a, b)
    if op == "floor_div":
        return a // b
    return a - divide(a, b) * b  # mod: the sign of the dividend


def float_operation(op, a, b):
    if op == "add":
        return a + b
    if op == "sub":
        return a - b
    if op == "mul":
        return a * b
    if op == "div":
        return a / b
    if op == "floor_div":
        return np.floor(a / b)
    return np.fmod(a, b)


def least(a, b, sign):
    """MIN (sign 1) and MAX (sign -1): a NaN gives way to the other operand, -0 is below +0."""
    if a != a:
        return b
    if b != b:
        return a
    if a == 0 and b == 0 and isinstance(a, np.floating):
        return a if bool(np.signbit(a)) == (sign > 0) else b
    return a if (a < b) == (sign > 0) else b


def of_pi(name, x):
    """sinpi and cospi, from the nearest multiple of 1/2 on."""
    if not math.isfinite(x):
        return math.nan
    a = math.fmod(abs(x), 2)
    count = round(2 * a)
    r = math.pi * (a - count / 2)
    turn = count + (name == "cospi")
    value = (math.sin(r), math.cos(r))[turn % 2] * (-1 if turn % 4 > 1 else 1)
    return (math.copysign(0, x) if name == "sinpi" else 0.0) if value == 0 else math.copysign(1, x) * value if name == "sinpi" else value


def function(name, kind, x, y=None):
    """One value of a function of the host's libm, rounded to its type. In f32 it is right to the last bit but for rare halves."""
    x = float(x)
    if name in OF_TWO:
        return DTYPE[kind](getattr(_libm, name)(x, float(y)))
    if name == "rsqrt":
        return DTYPE[kind](np.float64(1.0) / np.sqrt(np.float64(x)))
    return DTYPE[kind](of_pi(name, x) if name in OF_PI else getattr(_libm, name)(x))


def nearest(exact, kind):
    """A fraction rounded once, halves to even."""
    if kind == "f64":
        try:
            return np.float64(exact.numerator / exact.denominator)  # Python rounds the quotient of two integers once
        except OverflowError:
            return np.float64(math.inf if exact > 0 else -math.inf)
    scale = 149 if abs(exact) < Fraction(1, 1 << 126) else 149 - (abs(exact).numerator.bit_length() - abs(exact).denominator.bit_length() + 125)
    for scale in (scale + 1, scale, scale - 1):  # of 24 bits before the point, or of the smallest numbers
        steps = round(exact * Fraction(2) ** scale)
        if abs(steps) <= 1 << 24 and scale <= 149:
            value = float(Fraction(steps) / Fraction(2) ** scale)
            return np.float32(value) if abs(value) < 2.0 ** 128 else np.float32(math.copysign(math.inf, value))
    raise AssertionError(exact)


def fused(kind, a, b, c):
    """a*b + c, rounded once."""
    if kind in WIDTH:
        return wrap(a * b + c, kind)
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        product = np.float64(a) * np.float64(b) if np.isfinite(a) and np.isfinite(b) else a * b
        product = np.float64(0) if np.isfinite(a) and np.isfinite(b) else product  # finite, whatever its size
        return DTYPE[kind](product + c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        negative = (np.signbit(a) != np.signbit(b)) and np.signbit(c) and c == 0
        return DTYPE[kind](-0.0 if negative else 0.0)
    return nearest(exact, kind)


def clamp(x, low, high):
    if x != x:
        return x
    return least(least(x, low, -1), high, 1)


OF_BLOCK = ("block_", "scan_", "shuffle")


def over_block(values, combine):
    """breduce: 128 accumulators, then halves; None is a lane that is not there."""
    def both(a, b):
        return b if a is None else a if b is None else combine(a, b)
    acc = (values[:128] + [None] * 128)[:128]
    for at in range(128, len(values)):
        acc[at % 128] = both(acc[at % 128], values[at])
    half = 64
    while half:
        acc = [both(acc[lane], acc[lane + half]) for lane in range(half)]
        half //= 2
    return acc[0]


def scan_block(values, combine):
    """bscan, inclusive."""
    def both(a, b):
        return b if a is None else a if b is None else combine(a, b)
    step = 1
    while step < len(values):
        values = [both(values[lane - step] if lane >= step else None, values[lane]) for lane in range(len(values))]
        step *= 2
    return values


OF_INTEGERS = {
    "mulhi": lambda a, b, width: a * b >> width, "add_sat": lambda a, b, width: a + b, "sub_sat": lambda a, b, width: a - b,
    "rotl": lambda a, by, width: a << by | a >> width - by, "rotr": lambda a, by, width: a >> by | a << width - by,
    "popc": lambda a, width: bin(a).count("1"), "clz": lambda a, width: width - a.bit_length(),
    "ctz": lambda a, width: (a & -a).bit_length() - 1 if a else width, "brev": lambda a, width: int(f"{a:0{width}b}"[::-1], 2),
    "bswap": lambda a, width: int.from_bytes(a.to_bytes(width // 8, "little"), "big")}


def rounded(name, x):
    """floor, ceil, trunc, round (halves away from zero), rint (halves to even) and sign of a float."""
    if name == "sign":
        return x if x != x else type(x)((x > 0) - (int(x < 0)))
    if name == "round":
        small = abs(x) < 2.0 ** 52
        return np.copysign(np.floor(abs(x)) + (abs(x) - np.floor(abs(x)) >= 0.5), x).astype(type(x)) if small else x
    return getattr(np, name)(x)


def tree_reduce(values, combine):
    """Memory reductions of semantics 0.3: chunks of 4,096, 128 accumulators, missing elements skipped."""
    while True:
        results = []
        for start in range(0, len(values), 4096):
            chunk = values[start:start + 4096]
            acc = list(chunk[:128])
            for at in range(128, len(chunk)):
                acc[at % 128] = combine(acc[at % 128], chunk[at])
            step = 64
            while step:
                for lane in range(step):
                    if lane + step < len(acc):
                        acc[lane] = combine(acc[lane], acc[lane + step])
                acc = acc[:step]
                step //= 2
            results.append(acc[0])
        if len(results) == 1:
            return results[0]
        values = results


# ---- types -------------------------------------------------------------------------------------------------------------------------

def common(a, b):
    """The type two operands of these types are brought to."""
    if a == b:
        return {INT: "i32", REAL: "f32"}.get(a, a)
    if "bool" in (a, b):
        raise KernelError("bool beside a number")
    if a in (INT, REAL):
        a, b = b, a
    if b == INT:
        return "f32" if a == REAL else a
    if b == REAL:
        return a if a in FLOATS else "f32"
    if a in FLOATS or b in FLOATS:
        return "f64" if "f64" in (a, b) else "f32"
    if WIDTH[a] != WIDTH[b]:
        return a if WIDTH[a] > WIDTH[b] else b
    return "u64" if "u64" in (a, b) else a if a[0] == "i" else b


class Value:
    """A typed expression: get(lane) computes it. Literals keep their number until a type is known."""

    def __init__(self, kind, get, literal=None):
        self.kind, self.get, self.literal = kind, get, literal


class Lane:
    __slots__ = ("id", "slots", "ended", "own")

    def __init__(self, number, count, own):
        self.id, self.slots, self.ended, self.own = number, [None] * count, False, own


class Result:
    def __init__(self):
        self.fault = None


class Kernel:
    def __init__(self, document):
        if document.get("version") != "1.0":
            raise KernelError("version")
        kernel = document["kernel"]
        self.name, self.params, self.arrays, self.names, self.slots = kernel["name"], [], {}, {}, 0
        self.loaded, self.stored = set(), set()
        block = kernel.get("block", 256)
        self.block = int(np.prod(block))
        self.local = {entry["name"]: (CONVERSIONS[entry["element_type"]["type"]], entry["length"]) for entry in kernel.get("shared", [])}
        self.own = {entry["name"]: (CONVERSIONS[entry["element_type"]["type"]], entry["length"]) for entry in kernel.get("private", [])}
        for param in kernel["params"]:
            kind = param["type"]
            if kind["kind"] == "device_array":
                self.arrays[param["name"]] = CONVERSIONS[kind["element_type"]["type"]]
            else:
                self.declare(param["name"], "u64" if kind["kind"] == "device_ptr" else CONVERSIONS[kind["type"]])
            self.params.append(param["name"])
        for arrays in (self.local, self.own):
            self.arrays.update({name: kind for name, (kind, _) in arrays.items()})
        self.data = {}
        self.steps = [self.statement(node) for node in kernel["body"]]

    def direction(self, name):
        return "inout" if name in self.loaded and name in self.stored else "out" if name in self.stored else "in"

    def declare(self, name, kind, anew=False):
        """A name belongs to the whole kernel; declared again it keeps its type; a for loop may begin it anew."""
        if name in self.names and (self.names[name][1] == kind or not anew):
            if self.names[name][1] != kind:
                raise KernelError(f"{name} changes its type")
            return self.names[name][0]
        self.names[name] = (self.slots, kind)
        self.slots += 1
        return self.slots - 1

    # -- running --

    def run(self, lanes, values):
        result = Result()
        self.data = {name: values[name] for name in self.arrays if name not in self.local and name not in self.own}
        blocks = [{name: np.zeros(length, DTYPE[kind]) for name, (kind, length) in self.local.items()} for _ in range(-(-lanes // self.block))]
        self.lanes, self.blocks = lanes, blocks
        state = self.state = [Lane(number, self.slots, {name: np.zeros(length, DTYPE[kind]) for name, (kind, length) in self.own.items()})
                              for number in range(lanes)]
        for name, (slot, _) in self.names.items():
            if name in values:
                for lane in state:
                    lane.slots[slot] = values[name]
        with np.errstate(all="ignore"):
            at = 0
            while at < len(self.steps):
                end = at
                while end < len(self.steps) and not self.steps[end][1]:
                    end += 1
                for lane in state:
                    self.data.update(blocks[lane.id // self.block])
                    try:
                        self.run_list([step for step, _ in self.steps[at:end]], lane)
                    except Fault as fault:
                        result.fault = (lane.id, str(fault))
                        return result
                if end < len(self.steps):
                    try:
                        self.steps[end][0](state[0] if state else None)
                    except Fault as fault:
                        result.fault = (None, str(fault))
                        return result
                    end += 1
                at = end
        return result

    @staticmethod
    def run_list(steps, lane):
        for step in steps:
            if lane.ended:
                return
            step(lane)

    # -- statements: (function of the lane, whether it is a step of the whole array) --

    def body(self, nodes):
        steps = []
        for node in nodes:
            step, whole = self.statement(node)
            if whole:
                raise KernelError("a whole-array operation inside a branch")
            steps.append(step)

        def run(lane):
            for step in steps:
                step(lane)
                if lane.ended:
                    return
        return run

    def statement(self, node):
        kind = node["type"]
        if kind == "barrier":  # a step of all lanes, between others
            def meet(_):
                for block in self.blocks if node.get("scope") == "grid" else ():
                    for values in block.values():
                        values[:] = 0
            return meet, True
        if kind == "let" and node["value"]["type"] == "call" and node["value"]["function"].startswith(OF_BLOCK):
            return self.of_block(node), True
        if kind.startswith("parallel_"):
            return getattr(self, "do_" + kind)(node), True
        if kind == "call":
            value = self.expression(node)
            return (lambda lane: value.get(lane) and None), False
        return getattr(self, "do_" + kind)(node), False

    def do_let(self, node):
        value = self.expression(node["value"])
        value = self.settle(value, self.alone(value))
        slot = self.declare(node["name"], value.kind)

        def run(lane):
            lane.slots[slot] = value.get(lane)
        return run

    def of_block(self, node):
        """let name = a function of the values of all lanes of a block: a step of all lanes. Its operand has no faults."""
        name, args = node["value"]["function"], node["value"]["args"]
        value = self.expression(args[0])
        value = self.settle(value, self.alone(value))
        lane_of = self.settle(self.expression(args[1]), "u64") if name == "shuffle" else None
        kind, slot = value.kind, self.declare(node["name"], value.kind)
        word = name.split("_")[1] if name != "shuffle" else ""
        op = {"sum": "add", "product": "mul"}.get(word, word)
        bits = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
        low, high = bounds(kind) if kind in WIDTH else (DTYPE[kind](-math.inf), DTYPE[kind](math.inf))
        nothing = {"mul": 1, "min": high, "max": low, "and": wrap(-1, kind) if kind in WIDTH else 0}.get(op, 0)
        nothing = DTYPE[kind](nothing) if kind in FLOATS else nothing

        def combine(a, b):
            if op in bits:
                return bits[op](a, b)
            result = self.combine(op, kind, a, b)
            return result if kind in FLOATS else int(result)

        def run(_):
            for start in range(0, self.lanes, self.block):
                lanes = self.state[start:start + self.block]
                values = [None if lane.ended else value.get(lane) for lane in lanes]
                if name.startswith("block_"):
                    results = [over_block(values, combine)] * len(lanes)
                elif name == "shuffle":
                    places = [None if lane.ended else lane_of.get(lane) for lane in lanes]
                    results = [values[at] if at is not None and at < len(lanes) and values[at] is not None else value.kind in FLOATS and DTYPE[kind](0) or 0
                               for at in places]
                else:
                    results = scan_block(values, combine)
                    if name.endswith("_before"):
                        results = [nothing if lane == 0 or results[lane - 1] is None else results[lane - 1] for lane in range(len(lanes))]
                for lane, result in zip(lanes, results):
                    if not lane.ended:
                        lane.slots[slot] = DTYPE[kind](result) if kind in FLOATS else result
        return run

    def do_assign(self, node):
        target = node["target"]
        if target["type"] == "var":
            slot, kind = self.names[target["name"]]
            value = self.settle(self.expression(node["value"]), kind, True)

            def run(lane):
                lane.slots[slot] = value.get(lane)
            return run
        name, kind, index = self.element(target)
        self.stored.add(name)
        value = self.settle(self.expression(node["value"]), kind, True)

        def store(lane):
            new = value.get(lane)
            if name in self.own:
                lane.own[name][self.inside(name, index.get(lane))] = new
            else:
                self.data[name][self.place(name, kind, index.get(lane))] = new
        return store

    def do_if(self, node):
        condition = self.condition(node["condition"])
        then, other = self.body(node["then_body"]), self.body(node["else_body"] or [])
        return lambda lane: then(lane) if condition.get(lane) else other(lane)

    def do_for(self, node):
        bounds_ = [self.expression(node[key]) for key in ("start", "stop", "step")]
        kind = common(common(bounds_[0].kind, bounds_[1].kind), bounds_[2].kind) if len({v.kind for v in bounds_}) > 1 \
            else common(bounds_[0].kind, bounds_[0].kind)
        start, stop = (self.settle(value, kind) for value in bounds_[:2])
        step = bounds_[2]
        if step.kind == INT:  # negative ones of unsigned variables too
            if step.literal == 0:
                raise KernelError("step 0")
            by = step.literal
            step = Value(kind, lambda lane: by)
        else:
            step = self.settle(step, kind)
        slot = self.declare(node["var"], kind, anew=True)
        body = self.body(node["body"])

        def run(lane):
            value, last, by = start.get(lane), stop.get(lane), step.get(lane)
            if by == 0:
                raise Fault("division by zero")  # the library's choice for "step 0: error" at run time
            lane.slots[slot] = value  # stays where there is no round
            rounds = range(value, last, by)
            for value in rounds[:MOST_ROUNDS]:
                lane.slots[slot] = value
                body(lane)
                if lane.ended:
                    return
            if not rounds[MOST_ROUNDS:]:
                return
            raise RuntimeError("a loop without end")
        return run

    def do_while(self, node):
        condition = self.condition(node["condition"])
        body = self.body(node["body"])

        def run(lane):
            for _ in range(MOST_ROUNDS):
                if not condition.get(lane):
                    return
                body(lane)
                if lane.ended:
                    return
            raise RuntimeError("a loop without end")
        return run

    def do_return(self, node):
        value = None
        value = node.get("value")
        dropped = self.expression(value) if value is not None else None
        counts = '"function": "atomic_' in json.dumps(value, default=str)  # computed only for what others see of it

        def run(lane):
            if counts:
                dropped.get(lane)
            lane.ended = True
        return run

    # -- whole arrays --

    def whole(self, node, reads, writes):
        for key in reads:
            self.loaded.add(node[key]["name"])
        self.stored.add(node[writes]["name"])
        kind = self.arrays[node[writes]["name"]]
        count = self.expression(node["count"])
        count = self.settle(count, "u64" if count.kind == INT else count.kind)
        return kind, [node[key]["name"] for key in reads], node[writes]["name"], node.get("operation", "").lower(), count

    def fits(self, count, *names):
        if any(count > len(self.data[name]) for name in names):
            raise Fault("bounds")

    def do_parallel_map_unary(self, node):
        kind, (source,), target, op, count = self.whole(node, ("input",), "output")
        one = DTYPE[kind](1)
        table = {"abs": abs, "neg": lambda x: -x, "sqrt": np.sqrt, "ceil": np.ceil, "floor": np.floor, "reciprocal": lambda x: one / x,
                 "relu": lambda x: least(x, DTYPE[kind](0), -1),
                 "round": lambda x: np.copysign(np.floor(abs(x)) + (abs(x) - np.floor(abs(x)) >= DTYPE[kind](0.5)), x).astype(DTYPE[kind])
                 if abs(x) < 2.0 ** 52 else x}

        def run(lane):
            n = count.get(lane)
            self.fits(n, source, target)
            self.data[target][:n] = [table[op](x) for x in self.data[source][:n]]
        return run

    def do_parallel_map_binary(self, node):
        kind, (a, b), target, op, count = self.whole(node, ("input_a", "input_b"), "output")

        def run(lane):
            n = count.get(lane)
            self.fits(n, a, b, target)
            pairs = zip(self.data[a][:n], self.data[b][:n])
            self.data[target][:n] = [self.combine(op, kind, x, y) for x, y in pairs]
        return run

    def do_parallel_reduce(self, node):
        kind, (source,), target, op, count = self.whole(node, ("input",), "output")
        identity = {"sum": 0, "product": 1}
        name = {"sum": "add", "product": "mul"}.get(op, op)

        def run(lane):
            n = count.get(lane)
            self.fits(n, source)
            self.fits(1, target)
            if n == 0:
                low, high = bounds(kind) if kind in WIDTH else (-math.inf, math.inf)
                self.data[target][0] = identity.get(op, high if op == "min" else low)
            else:
                self.data[target][0] = tree_reduce(list(self.data[source][:n]), lambda x, y: self.combine(name, kind, x, y))
        return run

    def do_parallel_scan(self, node):
        kind, (source,), target, op, count = self.whole(node, ("input",), "output")
        low, high = bounds(kind) if kind in WIDTH else (-math.inf, math.inf)
        identity = DTYPE[kind]({"sum": 0, "product": 1, "min": high, "max": low}[op])
        name = {"sum": "add", "product": "mul"}.get(op, op)

        def both(a, b):
            return b if a is None else a if b is None else self.combine(name, kind, a, b)

        def run(lane):
            n = count.get(lane)
            self.fits(n, source, target)
            values = list(self.data[source][:n])
            results, chunks = [], None
            for start in range(0, n, 4096):  # chunks of runs of 16
                line = values[::-1][start:start + 4096] if node.get("reverse") else values[start:start + 4096]
                runs = None
                for first in range(0, len(line), 16):
                    own = None
                    for x in line[first:first + 16]:
                        before, own = own, both(own, x)
                        result = both(chunks, both(runs, before if node.get("exclusive") else own))
                        results.append(identity if result is None else result)
                    runs = both(runs, own)
                chunks = both(chunks, runs)
            self.data[target][:n] = results[::-1] if node.get("reverse") else results
        return run

    def indexed(self, node, sized):
        kind, names, target, op, count = self.whole(node, ("input", "indices"), "output")
        size = self.expression(node["size"])
        size = self.settle(size, "u64" if size.kind == INT else size.kind)

        def places(lane):
            n, limit = count.get(lane), size.get(lane)
            self.fits(n, names[1], names[0] if sized == target else target)
            self.fits(limit, sized if sized == target else names[0])
            at = [int(i) + limit * (int(i) < 0) for i in self.data[names[1]][:n]]
            if any(not 0 <= i < limit for i in at):
                raise Fault("domain")
            return at
        return kind, names[0], target, op, places

    def do_parallel_gather(self, node):
        _, source, target, _, places = self.indexed(node, node["input"]["name"])

        def run(lane):
            at = places(lane)
            self.data[target][:len(at)] = [self.data[source][i] for i in at]
        return run

    def do_parallel_scatter(self, node):
        kind, source, target, op, places = self.indexed(node, node["output"]["name"])
        self.loaded.add(target)

        def run(lane):
            for i, x in zip(places(lane), list(self.data[source])):
                self.data[target][i] = self.combine("add", kind, self.data[target][i], x) if op else x
        return run

    @staticmethod
    def combine(op, kind, x, y):
        if op in ("min", "max"):
            return least(x, y, 1 if op == "min" else -1)
        if kind in FLOATS:
            return float_operation(op, x, y)
        return DTYPE[kind](wrap(int_operation(op, int(x), int(y)), kind))

    # -- expressions --

    def expression(self, node):
        return getattr(self, "on_" + node["type"])(node)

    @staticmethod
    def alone(value):
        """A literal that nothing gives a type: i32 or f32; an integer beyond i32 is i64."""
        if value.kind == INT and not bounds("i32")[0] <= value.literal <= bounds("i32")[1]:
            return "i64"
        return common(value.kind, value.kind)

    def settle(self, value, kind, assign=False):
        """The expression as a value of a type. assign: anything that converts; else an integer literal must be in range."""
        if assign and value.kind in (INT, REAL) and (kind == "bool" or (value.kind == INT and kind in WIDTH
                                                                         and not bounds(kind)[0] <= value.literal <= bounds(kind)[1])):
            value = self.settle(value, self.alone(value))
        if value.kind in (INT, REAL):
            if kind == "bool":
                raise KernelError("a number where a bool is expected")
            if value.kind == REAL:
                number = value.literal.to(kind if kind in FLOATS else "f32")
                number = convert(number, "f32", kind) if kind not in FLOATS else number
            elif kind in FLOATS:
                number = Real(str(value.literal)).to(kind)
            else:
                low, high = bounds(kind)
                if not low <= value.literal <= high:
                    raise KernelError(f"literal {value.literal} out of range for {kind}")
                number = value.literal
            return Value(kind, lambda lane: number)
        if value.kind == kind:
            return value
        if "bool" in (kind, value.kind) and not assign:
            raise KernelError("bool and a number do not mix")
        source, get = value.kind, value.get
        return Value(kind, lambda lane: convert(get(lane), source, kind))

    def condition(self, node):
        value = self.expression(node)
        if value.kind == "bool":
            return value
        if value.kind == REAL or value.kind in FLOATS:
            raise KernelError("a condition is a bool or an integer")
        value = self.settle(value, self.alone(value))
        return Value("bool", lambda lane: value.get(lane) != 0)

    def on_var(self, node):
        slot, kind = self.names[node["name"]]
        return Value(kind, lambda lane: lane.slots[slot])

    def on_literal(self, node):
        value = node["value"]
        if isinstance(value, bool):
            return Value("bool", lambda lane: value)
        if isinstance(value, float):
            value = Real(repr(value))
        return Value(INT if isinstance(value, int) else REAL, None, value)

    def pair(self, left, right):
        kind = common(left.kind, right.kind)
        if left.kind == right.kind == INT and "i64" in (self.alone(left), self.alone(right)):
            kind = "i64"
        return kind, self.settle(left, kind), self.settle(right, kind)

    def on_binary_op(self, node):
        op = node["op"]
        if op in ("and", "or"):
            left, right = self.condition(node["left"]), self.condition(node["right"])
            if op == "and":
                return Value("bool", lambda lane: left.get(lane) and right.get(lane))
            return Value("bool", lambda lane: left.get(lane) or right.get(lane))
        if op in ("shl", "shr"):
            left, right = self.expression(node["left"]), self.expression(node["right"])
            left = self.settle(left, self.alone(left))
            if left.kind not in WIDTH or not (right.kind in WIDTH or right.kind == INT):
                raise KernelError(f"{op} of {left.kind} and {right.kind}")
            kind, right = left.kind, self.settle(right, "u32")
            width, a, b = WIDTH[kind], left.get, right.get
            if op == "shl":
                return Value(kind, lambda lane: wrap(a(lane) << b(lane) % width, kind))
            return Value(kind, lambda lane: a(lane) >> b(lane) % width)
        kind, left, right = self.pair(self.expression(node["left"]), self.expression(node["right"]))
        if op.startswith("bit_"):
            if kind not in WIDTH:
                raise KernelError(f"{op} of {kind}")
            a, b = left.get, right.get
            table = {"bit_and": lambda x, y: x & y, "bit_or": lambda x, y: x | y, "bit_xor": lambda x, y: x ^ y}
            return Value(kind, lambda lane: table[op](a(lane), b(lane)))
        a, b = left.get, right.get
        if kind == "bool" and op not in ("eq", "ne"):
            raise KernelError(f"{op} of bool")
        if op in COMPARISONS:
            test = COMPARISONS[op]
            return Value("bool", lambda lane: bool(test(a(lane), b(lane))))
        if kind in FLOATS:
            return Value(kind, lambda lane: float_operation(op, a(lane), b(lane)))
        return Value(kind, lambda lane: wrap(int_operation(op, a(lane), b(lane)), kind))

    def on_unary_op(self, node):
        op = node["op"]
        if op == "not":
            condition = self.condition(node["operand"])
            return Value("bool", lambda lane: not condition.get(lane))
        value = self.expression(node["operand"])
        if op == "neg" and value.kind in (INT, REAL):  # part of the literal
            return Value(value.kind, None, -value.literal if value.kind == INT else value.literal.negated())
        if op == "pos" and value.kind in (INT, REAL):
            return value
        value = self.settle(value, self.alone(value))
        kind, get = value.kind, value.get
        if kind == "bool" or (op == "inv" and kind in FLOATS):
            raise KernelError(f"{op} of {kind}")
        if op == "pos":
            return value
        if op == "neg":
            return Value(kind, (lambda lane: -get(lane)) if kind in FLOATS else (lambda lane: wrap(-get(lane), kind)))
        return Value(kind, lambda lane: wrap(~get(lane), kind))

    def element(self, node):
        name = node["array"]["name"]
        index = self.expression(node["index"])
        if index.kind in FLOATS + ("bool", REAL):
            raise KernelError("an index is an integer")
        return name, self.arrays[name], self.settle(index, "u64")

    def place(self, name, kind, index):
        """The element at a byte offset of 64 bits."""
        at = (index << SIZE_SHIFT[kind]) & (2 ** 64 - 1)
        if at + (1 << SIZE_SHIFT[kind]) > self.data[name].nbytes:
            raise Fault("bounds")
        return at >> SIZE_SHIFT[kind]

    def inside(self, name, index):
        """The index of an element of a private array, which is checked as a number and not as an offset."""
        if index >= self.own[name][1]:
            raise Fault("bounds")
        return index

    def read(self, name, kind, index, lane):
        value = lane.own[name][self.inside(name, index)] if name in self.own else self.data[name][self.place(name, kind, index)]
        return bool(value) if kind == "bool" else value if kind in FLOATS else int(value)

    def on_index(self, node):
        name, kind, index = self.element(node)
        self.loaded.add(name)
        return Value(kind, lambda lane: self.read(name, kind, index.get(lane), lane))

    def on_if_expr(self, node):
        condition = self.condition(node["condition"])
        kind, then, other = self.pair(self.expression(node["then"]), self.expression(node["else"]))
        return Value(kind, lambda lane: then.get(lane) if condition.get(lane) else other.get(lane))

    def on_call(self, node):
        name, args = node["function"], node["args"]
        coordinates = {"get_global_id": ("u64", lambda lane: lane.id), "get_local_id": ("u32", lambda lane: lane.id % self.block),
                       "get_group_id": ("u32", lambda lane: lane.id // self.block), "get_local_size": ("u32", lambda lane: self.block),
                       "get_global_size": ("u64", lambda lane: self.lanes), "global_lane_id": ("u64", lambda lane: lane.id),
                       "lane_idx_x": ("u32", lambda lane: lane.id % self.block), "block_idx_x": ("u32", lambda lane: lane.id // self.block)}
        if name in coordinates:
            return Value(*coordinates[name])
        if name.startswith("atomic_"):
            return self.atomic(name, args)
        values = [self.expression(arg) for arg in args]
        if name in CONVERSIONS:
            kind, (value,) = CONVERSIONS[name], values
            if value.kind in (INT, REAL):
                return self.settle(value, kind, True)
            source, get = value.kind, value.get
            return Value(kind, lambda lane: convert(get(lane), source, kind))
        if name in ("min", "max") + OF_TWO:
            kind, left, right = self.pair(*values)
            if name in OF_TWO and kind not in FLOATS:
                kind, left, right = "f32", self.settle(values[0], "f32"), self.settle(values[1], "f32")
            a, b = left.get, right.get
            if name in OF_TWO:
                return Value(kind, lambda lane: function(name, kind, a(lane), b(lane)))
            sign = 1 if name == "min" else -1
            return Value(kind, lambda lane: least(a(lane), b(lane), sign))
        if name in OF_INTEGERS:
            if any(value.kind not in WIDTH and value.kind != INT for value in values):
                raise KernelError(f"{name} of {[value.kind for value in values]}")
            if name in ("rotl", "rotr"):
                values = [self.settle(values[0], self.alone(values[0])), self.settle(values[1], "u32")]
            elif len(values) == 2:
                values = self.pair(*values)[1:]
            else:
                values = [self.settle(values[0], self.alone(values[0]))]
            kind, width, compute = values[0].kind, WIDTH[values[0].kind], OF_INTEGERS[name]
            gets = [value.get for value in values]
            if name in ("add_sat", "sub_sat"):
                low, high = bounds(kind)
                return Value(kind, lambda lane: max(low, min(high, compute(gets[0](lane), gets[1](lane), width))))
            if name == "mulhi":
                return Value(kind, lambda lane: wrap(compute(gets[0](lane), gets[1](lane), width), kind))
            bits = (1 << width) - 1
            if len(gets) == 2:
                return Value(kind, lambda lane: wrap(compute(gets[0](lane) & bits, gets[1](lane) % width, width), kind))
            if name in ("popc", "clz", "ctz"):
                return Value("u32", lambda lane: compute(gets[0](lane) & bits, width))
            return Value(kind, lambda lane: wrap(compute(gets[0](lane) & bits, width), kind))
        if name in ("clamp", "fma"):
            kinds = [value.kind for value in values]
            kind = kinds[0]
            for other in sorted(kinds, key=lambda k: k in (INT, REAL)):  # literals take the type of the others
                kind = common(kind if kind not in (INT, REAL) else other, other) if kind != other else kind
            if kind in (INT, REAL):
                raise KernelError("only literals")
            a, b, c = (self.settle(value, kind).get for value in values)
            if name == "fma":
                return Value(kind, lambda lane: fused(kind, a(lane), b(lane), c(lane)))
            return Value(kind, lambda lane: clamp(a(lane), b(lane), c(lane)))
        (value,) = values
        if name in ("floor", "ceil", "trunc", "round", "rint", "sign"):
            value = self.settle(value, self.alone(value))
            kind, get = value.kind, value.get
            if kind in FLOATS:
                return Value(kind, lambda lane: rounded(name, get(lane)))
            return Value(kind, (lambda lane: (get(lane) > 0) - (get(lane) < 0)) if name == "sign" else get)
        if name == "abs":
            value = self.settle(value, self.alone(value))
        else:  # functions of real numbers take integers as f32
            value = self.settle(value, value.kind if value.kind in FLOATS else "f32")
        kind, get = value.kind, value.get
        if name == "abs":
            return Value(kind, (lambda lane: abs(get(lane))) if kind in FLOATS else (lambda lane: wrap(abs(get(lane)), kind)))
        plain = name[:-1] if name in ("expf", "logf", "sqrtf", "sinf", "cosf") else name
        if plain == "sqrt":
            return Value(kind, lambda lane: np.sqrt(get(lane)))
        if plain not in OF_ONE + ("rsqrt",):
            raise KernelError(f"unknown function {name}")
        return Value(kind, lambda lane: function(plain, kind, get(lane)))

    def atomic(self, name, args):
        array = args[0]["name"]
        kind = self.arrays[array]
        if kind not in ("i32", "u32", "i64", "u64"):
            raise KernelError(f"{name} of {kind}")
        if array in self.own:
            raise KernelError(f"{name} on a private array")
        index = self.settle(self.expression(args[1]), "u64")
        value = self.settle(self.expression(args[2]), kind, True)
        self.loaded.add(array)
        self.stored.add(array)
        table = {"add": lambda a, b: wrap(a + b, kind), "min": min, "max": max, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
                 "xor": lambda a, b: a ^ b, "exch": lambda a, b: b}
        op = table[name.split("_")[1]]

        def run(lane):
            at, operand = index.get(lane), value.get(lane)
            at = self.place(array, kind, at)
            old = int(self.data[array][at])
            self.data[array][at] = op(old, operand)
            return old
        return Value(kind, run)

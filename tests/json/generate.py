"""Random well-typed JSON kernels without races, with data to run them on.

    case = generate(seed)      case.text, case.lanes, case.values, case.tolerance
A lane writes only elements of its own; shared arrays are touched by one kind of integer atomic whose old value is not used. Loops are
bounded. One kernel in eight may fault. Arrays that hold results of exp, pow, ... are written once an element, are never read, and have a
tolerance in ULP. It must not know: the library, what kernels compute."""
import json
import math
import random
import struct

import numpy as np

from evaluate import DTYPE, FLOATS, INT, REAL, WIDTH, Kernel, bounds, common, parse

INTS = tuple(WIDTH)
NUMBERS = INTS + FLOATS
ATOMIC = ("i32", "u32", "i64", "u64")
APPROXIMATE = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1, "rsqrt": 1, "pow": 2, "exp2": 2, "exp10": 1, "sinpi": 1, "cospi": 1, "expm1": 2, "log1p": 2, "log2": 2, "log10": 2, "cbrt": 2,
               "tan": 2, "asin": 3, "acos": 3, "atan": 3, "sinh": 3, "cosh": 3, "erf": 3, "erfc": 3, "atan2": 3, "hypot": 3}


def var(name):
    return {"type": "var", "name": name}


def lit(value):
    return {"type": "literal", "value": value}


def binary(op, left, right):
    return {"type": "binary_op", "op": op, "left": left, "right": right}


def unary(op, operand):
    return {"type": "unary_op", "op": op, "operand": operand}


def call(name, *args):
    return {"type": "call", "function": name, "args": list(args)}


def element(array, index):
    return {"type": "index", "array": var(array), "index": index}


def choose(condition, then, other):
    return {"type": "if_expr", "condition": condition, "then": then, "else": other}


def let(name, value):
    return {"type": "let", "name": name, "value": value}


def assign(target, value):
    return {"type": "assign", "target": target, "value": value}


def variables_of(node):
    """Names of the scalars in an expression."""
    if isinstance(node, list):
        for item in node:
            yield from variables_of(item)
    elif isinstance(node, dict):
        if node.get("type") == "var":
            yield node["name"]
        for key, item in node.items():
            if key != "array":
                yield from variables_of(item)


class Case:
    """What the driver needs of one kernel."""

    def __init__(self, seed, document, text, lanes, values, tolerance):
        self.seed, self.document, self.text, self.lanes = seed, document, text, lanes
        self.values, self.tolerance = values, tolerance


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.unique = 0
        self.faults = self.rng.random() < 0.125
        self.scalars, self.inputs, self.own, self.shared, self.approximate = {}, {}, {}, {}, {}
        self.tolerance, self.values = {}, {}
        self.local = {}  # arrays of a block
        self.private = {}  # of a lane: name: (type, length)
        self.scopes = []  # of [name, type, may be assigned]
        self.budget = self.rng.choice((15, 40, 80, 160, 320))
        self.loops = 0
        self.finished = []  # variables of loops that have ended, with their types and the number of loops around them
        self.earlier = []  # (expression, type): what stands again may be computed once, if nothing has changed

    # -- data --

    def name(self, stem):
        self.unique += 1
        return stem + (str(self.unique) if self.rng.random() < 0.8 else "_" + "abcdefghijkl"[self.unique % 12] + str(self.unique))

    def number(self, kind):
        rng, pick = self.rng, self.rng.random()
        if kind == "bool":
            return rng.random() < 0.5
        if kind in WIDTH:
            low, high = bounds(kind)
            if pick < 0.45:
                return max(low, min(high, rng.randint(-9, 9)))
            if pick < 0.6:
                return rng.choice((low, low + 1, high - 1, high, 0, 1, max(low, -1)))
            return rng.randint(low, high)
        if pick < 0.55:
            return DTYPE[kind](rng.choice((-1, 1)) * rng.random() * 10 ** rng.randint(-3, 5))
        if pick < 0.7:
            return DTYPE[kind](rng.randint(-9, 9))
        if pick < 0.85:
            return DTYPE[kind](rng.choice((0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 5e-324, -1e-40, 3.4e38, 2.0 ** 31, -2.0 ** 63,
                                           2.0 ** 64, 0.5, -0.5, 16777216.0, 2.5, -1.5)))
        if kind == "f32":
            return np.frombuffer(struct.pack("<I", rng.getrandbits(32)), np.float32)[0]
        return np.frombuffer(struct.pack("<Q", rng.getrandbits(64)), np.float64)[0]

    def array(self, kind, length):
        with np.errstate(all="ignore"):
            return np.array([self.number(kind) for _ in range(length)], DTYPE[kind])

    def setup(self):
        rng = self.rng
        self.lanes = rng.choice((1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 64, 65, 70, rng.randint(1, 40), rng.randint(100, 300)))
        if self.lanes > 99:
            self.budget = min(self.budget, 40)
        self.guard = rng.choice((None, None, "nest", "return"))
        self.active = max(1, self.lanes - rng.randint(0, 3)) if self.guard else self.lanes
        if self.guard:
            kind = rng.choice(("u64", "u64", "u32", "i32", "i64", "u16"))
            self.scalars["n"] = kind
            self.values["n"] = self.active
        for _ in range(rng.randint(0, 3)):
            name, kind = self.name("s"), rng.choice(NUMBERS + FLOATS + ("bool",))
            self.scalars[name] = kind
            self.values[name] = self.number(kind)
        for _ in range(rng.randint(1, 3)):
            name, kind = self.name("x"), rng.choice(NUMBERS + FLOATS)
            length = rng.choice((self.active, self.active, rng.randint(1, 9)))
            self.inputs[name] = (kind, length)
            self.values[name] = self.array(kind, length)
        for _ in range(rng.randint(1, 3)):
            name, kind, stride = self.name("y"), rng.choice(NUMBERS + FLOATS + ("bool",)), rng.choice((1, 1, 1, 2, 3))
            readable = rng.random() < 0.6 and kind != "bool"
            self.own[name] = (kind, stride, readable)
            self.values[name] = self.array(kind, self.active * stride) if readable else np.zeros(self.active * stride, DTYPE[kind])
        if rng.random() < 0.25:
            name, kind = self.name("total"), rng.choice(ATOMIC)
            self.shared[name] = (kind, "atomic_" + rng.choice(("add", "min", "max", "and", "or", "xor")) + rng.choice(("", "_" + kind)))
            self.values[name] = self.array(kind, rng.randint(1, 5))
        for _ in range(rng.randint(1, 3) if rng.random() < 0.35 else 0):
            self.private[self.name("own")] = (rng.choice(NUMBERS + FLOATS + ("bool",)), rng.choice((1, 2, 3, 4, 5, 8, 25)))
        if rng.random() < 0.25:
            name, kind = self.name("fn"), rng.choice(FLOATS + ("f32",))
            self.approximate[name] = kind
            self.values[name] = np.zeros(self.active, DTYPE[kind])
            self.tolerance[name] = 0

    # -- names in scope --

    def visible(self, kinds):
        found = [(name, kind) for name, kind in self.scalars.items() if kind in kinds]
        for scope in self.scopes:
            found += [(entry[0], entry[1]) for entry in scope if entry[1] in kinds]
        return found

    def assignable(self):
        """Variables, and scalar parameters but for the guard's."""
        return [entry for scope in self.scopes for entry in scope if entry[2]] \
            + [(name, kind) for name, kind in self.scalars.items() if name != "n" and not name.startswith("count")]

    def declare(self, name, kind, may_assign=True):
        self.scopes[-1].append([name, kind, may_assign])

    # -- expressions: (node, type); type may be that of an open literal --

    def literal_for(self, kind):
        """A literal beside an operand of this type."""
        rng = self.rng
        if kind in FLOATS and rng.random() < 0.7:
            value = float(self.number(kind))
            return lit(value if math.isfinite(value) else 1.5)
        if kind in FLOATS:
            return lit(rng.choice((0, 1, 2, 3, -1, 100, 16777217, 9007199254740993)))
        low, high = bounds(kind)
        value = self.number(kind)
        value = max(low, min(high, rng.randint(-9, 9) if rng.random() < 0.5 else value))
        if rng.random() < 0.1 and value <= 1 << 63:
            return unary("neg", lit(-value)) if rng.random() < 0.8 else unary("neg", unary("neg", lit(value)))
        return lit(value)

    def leaf(self, kinds):
        rng = self.rng
        variables = self.visible(kinds)
        arrays = [(name, kind, length) for group in (self.inputs, self.private) for name, (kind, length) in group.items() if kind in kinds]
        owned = [(name, kind) for name, (kind, _, readable) in self.own.items() if kind in kinds and readable]
        pick = rng.random()
        if variables and pick < 0.5:
            name, kind = rng.choice(variables)
            return var(name), kind
        if arrays and pick < 0.8:
            name, kind, length = rng.choice(arrays)
            return element(name, self.safe_index(length)), kind
        if owned and pick < 0.9:
            name, kind = rng.choice(owned)
            return element(name, self.own_index(name)), kind
        if "u64" in kinds and pick < 0.93:
            return call("get_global_id"), "u64"
        kind = rng.choice(sorted(kinds))
        if variables and rng.random() < 0.6:
            name, kind = rng.choice(variables)
            return var(name), kind
        return call(self.conversion(kind), self.literal_for(kind)), kind

    def conversion(self, kind):
        names = {"i32": ("i32", "int"), "f32": ("f32", "float"), "u64": ("u64", "usize")}.get(kind, (kind,))
        return self.rng.choice(names)

    def safe_index(self, length):
        """An index of an input array that is in bounds, unless this kernel may fault."""
        rng = self.rng
        if self.faults and rng.random() < 0.05:
            return self.number_expression(1, INTS)[0]
        if length >= self.active and rng.random() < 0.6:
            return var("i")
        if length >= self.active and self.active > 1 and rng.random() < 0.3:
            return binary("sub", lit(self.active - 1), var("i"))
        unsigned = [(n, k) for n, k in self.visible(("u8", "u16", "u32", "u64")) if length <= bounds(k)[1]]
        if unsigned and rng.random() < 0.6:
            name, _ = rng.choice(unsigned)
            return binary("mod", var(name), lit(length))
        if rng.random() < 0.3:
            return lit(rng.randrange(length))
        return binary("mod", call("u64", self.number_expression(1, INTS)[0]), lit(length))

    def own_index(self, name):
        stride = self.own[name][1]
        if stride == 1:
            return var("i")
        part = lit(self.rng.randrange(stride))
        counters = [entry[0] for scope in self.scopes for entry in scope if len(entry) > 3 and entry[3] <= stride]
        if counters and self.rng.random() < 0.7:
            part = var(self.rng.choice(counters))
        return binary("add", binary("mul", var("i"), lit(stride)), part)

    def number_expression(self, depth, kinds=NUMBERS):
        rng = self.rng
        kinds = tuple(kinds)
        self.budget -= 1
        if rng.random() < 0.12:
            again = self.again(kinds)
            if again:
                return again
        if depth <= 0 or self.budget <= 0:
            return self.leaf(kinds)
        result = self.new_expression(depth, kinds)
        if len(self.earlier) < 200 and "atomic_" not in str(result[0]):
            self.earlier.append(result)
        return result

    def again(self, kinds):
        """An expression that the kernel has already, of names that are in scope here."""
        names = {entry[0] for scope in self.scopes for entry in scope} | set(self.scalars)
        fitting = [(node, kind) for node, kind in self.earlier if kind in kinds]
        for node, kind in self.rng.sample(fitting, min(4, len(fitting))):
            if all(name in names for name in variables_of(node)):
                return node, kind
        return None

    def new_expression(self, depth, kinds):
        rng = self.rng
        pick = rng.random()
        if pick < 0.15:
            return self.leaf(kinds)
        if pick < 0.49:
            return self.arithmetic(depth, kinds)
        if pick < 0.55:
            return self.of_bits(depth, kinds) if any(kind in WIDTH for kind in kinds) else self.of_reals(depth, kinds)
        if pick < 0.65:
            node, kind = self.number_expression(depth - 1, kinds)
            return unary(rng.choice(("pos", "neg", "neg") + (("inv",) if kind in WIDTH else ())), node), kind
        if pick < 0.78:
            name = rng.choice(("min", "max", "abs", "abs") + (("sqrt", "sqrtf") if any(k in FLOATS for k in kinds) else ()))
            if name.startswith("sqrt"):
                wanted = [k for k in kinds if k in FLOATS and (name == "sqrt" or k == "f32")] or ["f64"]
                if wanted == ["f64"]:
                    name = "sqrt"
                node, kind = self.number_expression(depth - 1, wanted)
                return call(name, node), kind
            if name == "abs":
                node, kind = self.number_expression(depth - 1, kinds)
                return call("abs", node), kind
            left, right, kind = self.two(depth, kinds)
            return call(name, left, right), kind
        if pick < 0.9:
            kind = rng.choice(kinds)
            if rng.random() < 0.15:
                return call(self.conversion(kind), self.bool_expression(depth - 1)), kind
            return call(self.conversion(kind), self.number_expression(depth - 1)[0]), kind
        if pick < 0.97:
            left, right, kind = self.two(depth, kinds)
            return choose(self.condition(depth - 1), left, right), kind
        owned = [(name, kind) for name, (kind, _, readable) in self.own.items() if kind in kinds and kind in ATOMIC and readable]
        if owned:
            name, kind = rng.choice(owned)
            value = self.number_expression(depth - 1, [k for k in NUMBERS if k != "bool"])[0]
            return call("atomic_" + rng.choice(("add", "min", "max", "and", "or", "xor", "exch")), var(name), self.own_index(name), value), kind
        return self.leaf(kinds)

    def two(self, depth, kinds):
        """Two operands whose common type is one of kinds: the same type, mixed ones, or one literal."""
        rng = self.rng
        for _ in range(4):
            left, a = self.number_expression(depth - 1, kinds if rng.random() < 0.7 else NUMBERS)
            if rng.random() < 0.3 and a in kinds:
                right, b = self.literal_for(a), a
                if rng.random() < 0.3:
                    left, right = right, left
            else:
                right, b = self.number_expression(depth - 1, (a,) if rng.random() < 0.6 else NUMBERS)
            if common(a, b) in kinds:
                return left, right, common(a, b)
        kind = rng.choice(kinds)
        return self.number_expression(depth - 1, (kind,))[0], self.number_expression(depth - 1, (kind,))[0], kind

    def arithmetic(self, depth, kinds):
        rng = self.rng
        op = rng.choice(("add", "add", "sub", "sub", "mul", "mul", "div", "floor_div", "mod"))
        left, right, kind = self.two(depth, kinds)
        if op not in ("div", "floor_div", "mod") or kind in FLOATS:
            return binary(op, left, right), kind
        if self.faults and rng.random() < 0.3:
            return binary(op, left, right), kind
        if rng.random() < 0.4:
            literal = self.literal_for(kind)
            if literal.get("value"):
                return binary(op, call(kind, left), literal), kind
        divisor = self.leaf((kind,))[0]
        return binary(op, call(kind, left), choose(binary("eq", divisor, lit(0)), lit(rng.choice((1, 2, 3, 7))), divisor)), kind

    def of_bits(self, depth, kinds):
        rng = self.rng
        if rng.random() < 0.4:
            return self.of_integers(depth, kinds)
        op = rng.choice(("bit_and", "bit_or", "bit_xor", "shl", "shr"))
        kinds = [kind for kind in kinds if kind in WIDTH]
        if not op.startswith("bit_"):
            left, kind = self.number_expression(depth - 1, kinds)
            return binary(op, left, lit(rng.randint(0, 70)) if rng.random() < 0.6 else self.number_expression(depth - 1, INTS)[0]), kind
        kind = rng.choice(kinds)
        right = self.literal_for(kind) if rng.random() < 0.3 else self.number_expression(depth - 1, (kind,))[0]
        return binary(op, self.number_expression(depth - 1, (kind,))[0], right), kind

    def of_integers(self, depth, kinds):
        rng = self.rng
        kind = rng.choice([kind for kind in kinds if kind in WIDTH])
        name = rng.choice(("mulhi", "add_sat", "sub_sat", "brev", "bswap", "rotl", "rotr") + (("popc", "clz", "ctz") if kind == "u32" else ()))
        if name in ("popc", "clz", "ctz"):
            return call(name, self.number_expression(depth - 1, INTS)[0]), kind
        first = self.number_expression(depth - 1, (kind,))[0]
        if name in ("brev", "bswap"):
            return call(name, first), kind
        if name in ("rotl", "rotr"):
            return call(name, first, lit(rng.randint(0, 70)) if rng.random() < 0.6 else self.number_expression(depth - 1, INTS)[0]), kind
        return call(name, first, self.literal_for(kind) if rng.random() < 0.3 else self.number_expression(depth - 1, (kind,))[0]), kind

    def of_reals(self, depth, kinds):
        rng = self.rng
        kind = rng.choice(kinds)
        if rng.random() < 0.5:
            return call(rng.choice(("floor", "ceil", "trunc", "round", "rint", "sign")), self.number_expression(depth - 1, (kind,))[0]), kind
        others = [self.literal_for(kind) if rng.random() < 0.3 else self.number_expression(depth - 1, (kind,))[0] for _ in range(2)]
        args = [self.number_expression(depth - 1, (kind,))[0]] + others
        rng.shuffle(args)
        return call(rng.choice(("clamp", "fma")), *args), kind

    def bool_expression(self, depth):
        rng = self.rng
        self.budget -= 1
        pick = rng.random()
        truths = [(name, length) for name, (kind, length) in self.private.items() if kind == "bool"]
        if truths and pick < 0.06:
            name, length = rng.choice(truths)
            return element(name, self.safe_index(length))
        flags = self.visible(("bool",))
        if flags and pick < 0.12:
            return var(rng.choice(flags)[0])
        if pick < 0.15:
            return lit(rng.random() < 0.5)
        if depth <= 0 or self.budget <= 0 or pick < 0.55:
            left, right, _ = self.two(min(depth, 2), NUMBERS)
            return binary(rng.choice(("lt", "le", "gt", "ge", "eq", "ne")), left, right)
        if pick < 0.58:
            return binary(rng.choice(("eq", "ne")), self.bool_expression(depth - 1), self.bool_expression(depth - 1))
        if pick < 0.62:
            return unary("not", self.condition(depth - 1))
        if pick < 0.67:
            return choose(self.condition(depth - 1), self.bool_expression(depth - 1), self.bool_expression(depth - 1))
        if pick < 0.9:
            return binary(rng.choice(("and", "or")), self.condition(depth - 1), self.condition(depth - 1))
        if pick < 0.95:  # the right side faults where the left one says no
            divisor, kind = self.leaf(INTS)
            test = binary(rng.choice(("lt", "gt", "eq")), binary(rng.choice(("div", "mod", "floor_div")), self.leaf((kind,))[0], divisor),
                          self.leaf((kind,))[0])
            if rng.random() < 0.5:
                return binary("and", binary("ne", divisor, lit(0)), test)
            return binary("or", binary("eq", divisor, lit(0)), test)
        name, (kind, length) = rng.choice(sorted(self.inputs.items()))
        index = call("u64", self.leaf(INTS)[0])
        inside = binary("lt", index, lit(length))
        return choose(inside, binary("ge", element(name, index), self.literal_for(kind)), lit(rng.random() < 0.5))

    def condition(self, depth):
        if self.rng.random() < 0.1:
            return self.number_expression(min(depth, 1), INTS)[0]
        return self.bool_expression(depth)

    # -- statements --

    def block(self, size, depth):
        self.scopes.append([])
        result = []
        for _ in range(size):
            result += self.statement(depth)
        self.scopes.pop()
        return result

    def statement(self, depth):
        rng = self.rng
        self.budget -= 1
        if self.budget <= 0:
            return self.store(1)
        pick = rng.random()
        if pick < 0.22:
            return self.do_let(depth)
        if pick < 0.36 and self.assignable():
            name, kind = rng.choice(self.assignable())[:2]
            if kind == "bool":
                return [assign(var(name), self.bool_expression(depth))]
            if rng.random() < 0.1:
                return [assign(var(name), self.literal_for(kind))]
            kinds = NUMBERS if rng.random() < 0.4 else (kind,)
            return [assign(var(name), self.number_expression(depth, kinds)[0])]
        if pick < 0.62 or depth <= 1:
            return self.store(depth)
        if pick < 0.65:
            return self.do_both(depth)
        if pick < 0.68:
            return self.do_again(depth)
        if pick < 0.71:
            return self.do_walk(depth)
        if pick < 0.76:
            return [{"type": "if", "condition": self.condition(depth - 1), "then_body": self.block(rng.randint(1, 3), depth - 1),
                     "else_body": self.block(rng.randint(0, 2), depth - 1) if rng.random() < 0.5 else None}]
        if pick < 0.88 and self.loops < 2:
            return self.do_for(depth)
        if pick < 0.95 and self.loops < 2:
            return self.do_while(depth)
        if self.shared and pick < 0.98:
            name, (kind, function) = rng.choice(sorted(self.shared.items()))
            index = self.safe_index(len(self.values[name]))
            return [call(function, var(name), index if index != var("i") else lit(0), self.number_expression(depth - 1)[0])]
        if not self.scopes or len(self.scopes) < 2 or self.meets:  # a lane that did something before it ended keeps others from a barrier
            return self.store(depth)
        value = self.number_expression(1)[0] if rng.random() < 0.3 else None
        return [{"type": "if", "condition": self.bool_expression(1), "then_body": self.block(rng.randint(0, 1), 1)
                 + [{"type": "return", "value": value}], "else_body": None}]

    def do_again(self, depth):
        """An expression, something that changes what it was kept in or made of, and the expression again."""
        rng, name = self.rng, self.name("v")
        value, kind = self.number_expression(depth)
        change = [assign(var(name), binary(rng.choice(("add", "mul", "sub")), var(name), self.literal_for(kind)))]
        parts = [part for part in set(variables_of(value)) if part in [entry[0] for entry in self.assignable()]]
        if parts and rng.random() < 0.5:
            part = rng.choice(sorted(parts))
            of = [entry[1] for entry in self.assignable() if entry[0] == part][0]
            change.append(assign(var(part), unary("not", var(part)) if of == "bool" else binary("add", var(part), lit(1))))
        rng.shuffle(change)
        target, of = rng.choice(sorted((t, k) for t, (k, _, _) in self.own.items()))
        again = binary(rng.choice(("sub", "add")), value, var(name))
        if of == "bool":
            again = binary("lt", value, var(name))
        if rng.random() < 0.3:
            change = [{"type": "if", "condition": self.condition(1), "then_body": change, "else_body": None}]
        self.declare(name, kind)
        return [let(name, value)] + change + [assign(element(target, self.own_index(target)), again)]

    def do_walk(self, depth):
        """Elements at one expression of a variable, again after the variable has changed, in loops and branches."""
        rng, name, kind = self.rng, self.name("p"), self.rng.choice(("u16", "u32", "u64"))
        array, (of, length) = rng.choice(sorted(self.inputs.items()))
        factor, offset, fixed = rng.randint(1, 3), rng.randint(0, 5), var("i") if rng.random() < 0.5 else None

        def place(by):
            node = binary("mul", var(name), lit(factor))
            if fixed and by % 2:
                node = binary("add", binary("mul", fixed, lit(factor)), node)
            return element(array, binary("mod", binary("add", node, lit(offset)), lit(length)))

        def step():
            return assign(var(name), binary("add", var(name), lit(rng.randint(1, 3))))

        total = self.name("v")
        self.declare(name, kind, False)
        self.declare(total, of)

        def some(count):
            result = []
            for _ in range(count):
                pick = rng.random()
                if pick < 0.5:
                    result.append(assign(var(total), binary(rng.choice(("add", "sub", "mul")), var(total), place(rng.randint(0, 1)))))
                elif pick < 0.8:
                    result.append(step())
                else:
                    result.append({"type": "if", "condition": self.condition(1), "then_body": [step()] + some(1),
                                   "else_body": some(1) if rng.random() < 0.5 else None})
            return result

        body = some(rng.randint(2, 6))
        if rng.random() < 0.6:
            counter = self.name("k")
            body.insert(rng.randint(0, len(body)), {"type": "for", "var": counter, "start": lit(0), "stop": lit(rng.randint(0, 3)), "step": lit(1),
                                                    "body": some(rng.randint(1, 4))})
        return [let(name, call(kind, lit(rng.randint(0, 9)))), let(total, place(0))] + body

    def do_both(self, depth):
        """A name that gets its first value in both branches."""
        name, condition = self.name("v"), self.condition(depth - 1)
        then, kind = self.number_expression(depth - 1)
        other = self.number_expression(depth - 1)[0]
        self.declare(name, kind)
        return [{"type": "if", "condition": condition, "then_body": [let(name, then)], "else_body": [assign(var(name), other)]}]

    def do_let(self, depth):
        rng = self.rng
        name = self.name("v")
        if rng.random() < 0.1:
            value, kind = rng.choice(((lit(rng.randint(-100, 100)), "i32"), (lit(rng.random() * 8), "f32")))
        elif rng.random() < 0.15:
            value, kind = self.bool_expression(depth), "bool"
        else:
            value, kind = self.number_expression(depth)
        self.declare(name, kind)
        return [let(name, value)]

    def store(self, depth):
        rng = self.rng
        if self.approximate and rng.random() < 0.25:
            name, kind = rng.choice(sorted(self.approximate.items()))
            function = rng.choice(sorted(APPROXIMATE))
            self.tolerance[name] = max(self.tolerance[name], APPROXIMATE[function])
            kinds = (kind,) if kind == "f64" or rng.random() < 0.8 else INTS
            args = [self.number_expression(depth - 1, kinds)[0] for _ in range(2 if function in ("pow", "atan2", "hypot") else 1)]
            if kind == "f32" and function in ("exp", "log", "sin", "cos") and rng.random() < 0.5:
                function += "f"
            return [assign(element(name, var("i")), call(function, *args))]
        if self.private and rng.random() < 0.4:
            return self.store_private(depth)
        name, (kind, _, _) = rng.choice(sorted(self.own.items()))
        target = element(name, self.own_index(name))
        if self.faults and rng.random() < 0.03:
            target = element(name, binary("add", var("i"), lit(rng.choice((1 << 20, 1 << 40)))))
        if kind == "bool":
            return [assign(target, self.bool_expression(depth))]
        if rng.random() < 0.05:
            return [assign(target, self.literal_for(kind))]
        kinds = NUMBERS if rng.random() < 0.4 else (kind,)
        return [assign(target, self.number_expression(depth, kinds)[0])]

    def store_private(self, depth):
        rng = self.rng
        name, (kind, length) = rng.choice(sorted(self.private.items()))
        counters = [entry[0] for scope in self.scopes for entry in scope if len(entry) > 3 and entry[3] <= length]
        index = var(rng.choice(counters)) if counters and rng.random() < 0.6 else self.safe_index(length)
        if kind == "bool":
            return [assign(element(name, index), self.bool_expression(depth))]
        kinds = NUMBERS if rng.random() < 0.4 else (kind,)
        return [assign(element(name, index), self.number_expression(depth, kinds)[0])]

    def do_for(self, depth):
        rng = self.rng
        name, result, limit = self.name("k"), [], None
        pick = rng.random()
        used = [entry for entry in self.finished if entry[1] == "i32"]
        anew = [entry for entry in self.finished if entry[2] >= self.loops]
        if used and rng.random() < 0.4:
            entry, pick = rng.choice(used), rng.random() * 0.55
            self.finished.remove(entry)
            name = entry[0]
        elif anew and rng.random() < 0.4:  # in any type: no round of a loop around it can read the old one
            entry, pick = rng.choice(anew), 0.55 + rng.random() * 0.45
            self.finished.remove(entry)
            name = entry[0]
        if pick < 0.4:
            count = rng.randint(0, 5)
            start, stop, step, kind, limit = lit(0), lit(count), lit(1), "i32", count
        elif pick < 0.55:
            low = rng.randint(-20, 5)
            start, stop, step, kind = lit(low + rng.randint(1, 9)), lit(low), lit(-rng.randint(1, 4)), "i32"
        else:
            kind = rng.choice(INTS)
            bound = self.name("m")
            rounds = rng.randint(1, 6)
            source = self.number_expression(1, (kind,))[0]
            value = binary("mod", source, lit(rounds))
            result.append(let(bound, value))
            self.declare(bound, kind)
            if kind[0] == "u" and rng.random() < 0.3:
                start, stop, step = var(bound), lit(0), lit(-1)
            elif pick < 0.7 and rng.random() < 0.4:
                stride = self.name("by")
                result.append(let(stride, choose(binary("lt", source, lit(3)), call(kind, lit(1)), call(kind, lit(2)))))
                self.declare(stride, kind)
                start, stop, step = lit(0), var(bound), var(stride)
            elif pick < 0.8 or kind[0] == "u":
                start, stop, step = lit(rng.randint(0, 2)), var(bound), lit(rng.randint(1, 2))
            else:
                start, stop, step = var(bound), lit(-rounds), lit(-rng.randint(1, 3))
        self.loops += 1
        # what the body assigns to the variable lasts for the round
        self.scopes.append([[name, kind, False, limit] if limit is not None else [name, kind, rng.random() < 0.2]])
        body = self.block(rng.randint(1, 3), depth - 1)
        for bound in (stop, step):  # bounds are computed once: what the body does to their variables changes nothing
            if bound["type"] == "var" and rng.random() < 0.4:
                body.insert(rng.randint(0, len(body)), assign(bound, self.number_expression(1, (kind,))[0]))
        self.scopes.pop()
        self.loops -= 1
        if name not in {entry[0] for scope in self.scopes for entry in scope} and rng.random() < 0.3:
            self.declare(name, kind)  # read behind the loop
        else:
            self.finished.append((name, kind, self.loops))
        return result + [{"type": "for", "var": name, "start": start, "stop": stop, "step": step, "body": body}]

    def do_while(self, depth):
        rng = self.rng
        name, kind = self.name("c"), rng.choice(INTS)
        first, last = (0, rng.randint(1, 6)) if rng.random() < 0.6 else (rng.randint(1, 6), 0)
        go = binary("lt" if first < last else "gt", var(name), lit(last))
        if rng.random() < 0.5:
            go = binary("and", go, self.condition(1))
        self.declare(name, kind, False)
        self.loops += 1
        body = self.block(rng.randint(1, 2), depth - 1)
        self.loops -= 1
        body.append(assign(var(name), binary("add" if first < last else "sub", var(name), lit(1))))
        return [let(name, call(self.conversion(kind), lit(first))), {"type": "while", "condition": go, "body": body}]

    def exchange(self):
        """Lanes of a block give each other values through shared memory, with barriers between; nothing races."""
        rng = self.rng
        if not self.local:
            self.size = rng.choice((1, 3, 4, 8, 16, 32))
        tile, sums, kind, of = self.name("tile"), self.name("sums"), rng.choice(NUMBERS), rng.choice(ATOMIC)
        self.local[tile], self.local[sums] = (kind, self.size), (of, 3)
        value, back, most = self.number_expression(2, (kind,))[0], self.name("v"), self.name("v")
        other = binary("mod", binary("add", call("get_local_id"), lit(rng.randint(0, self.size))), lit(self.size))
        result = [assign(element(tile, call("get_local_id")), value), call("atomic_" + rng.choice(("add", "max", "xor")), var(sums), lit(1), value),
                  {"type": "barrier"}, let(back, element(tile, other)), let(most, element(sums, lit(1)))]
        self.declare(back, kind)
        self.declare(most, of)
        if rng.random() < 0.7:
            one, kind = self.name("v"), rng.choice(NUMBERS)
            both = self.name("v")
            names = ("block_sum", "block_min", "block_max", "block_product", "scan_sum", "scan_max", "scan_sum_before", "scan_min_before", "shuffle")
            function = rng.choice(names + (("block_and", "block_or", "block_xor", "scan_xor", "scan_and_before") if kind in WIDTH else ()))
            result += [let(one, self.number_expression(2, (kind,))[0]),
                       let(both, call(function, var(one), *([call("u32", self.number_expression(1, INTS)[0])] if function == "shuffle" else [])))]
            if function == "shuffle" and rng.random() < 0.8:
                result[-1]["value"]["args"][1] = binary("mod", binary("add", call("get_local_id"), lit(rng.randint(0, 5))), lit(self.size))
            self.declare(one, kind)
            self.declare(both, kind)
        if self.guard is None and rng.random() < 0.4:  # what lanes of other blocks stored, and shared memory, which is zero again
            theirs, zero, (name, (own, stride, _)) = self.name("v"), self.name("v"), rng.choice(sorted(self.own.items()))
            other = binary("mul", binary("mod", binary("add", var("i"), lit(rng.randint(0, 9))), lit(self.active)), lit(stride))
            result += [{"type": "barrier", "scope": "grid"}, let(theirs, element(name, other)), let(zero, element(sums, lit(1))),
                       {"type": "barrier", "scope": "grid"}]
            self.declare(theirs, own)
            self.declare(zero, of)
        return result

    # -- documents --

    def whole_array(self):
        """Statements on whole arrays for the end or the beginning of a body; arrays of their own."""
        rng = self.rng
        kind = rng.choice(("f32", "f32", "f64", "i32", "u32", "i64"))
        length = rng.choice((1, 7, 128, 129, rng.randint(1, 300)))
        names = [self.name(stem) for stem in ("wa", "wb", "wc", "wr")]
        a, b, out, total = names
        for name, size in zip(names, (length, length, length, 1)):
            self.whole[name] = kind
            self.values[name] = self.array(kind, size)
        count = lit(length)
        if rng.random() < 0.5:
            count = var(self.name("count"))
            self.scalars[count["name"]] = rng.choice(("u32", "u64"))
            self.values[count["name"]] = rng.randint(0, length)
        maps = ("abs", "neg") + (("sqrt", "relu", "ceil", "floor", "round", "reciprocal") if kind in FLOATS else ())
        pairs = ("add", "sub", "mul", "min", "max") + (("div",) if kind in FLOATS else ())
        style = rng.choice((str.lower, str.upper, str.capitalize))
        return [{"type": "parallel_map_unary", "input": var(a), "output": var(out), "operation": style(rng.choice(maps)), "count": count},
                {"type": "parallel_map_binary", "input_a": var(out), "input_b": var(b), "output": var(out),
                 "operation": style(rng.choice(pairs)), "count": count},
                {"type": "parallel_reduce", "input": var(out), "output": var(total),
                 "operation": style(rng.choice(("sum", "product", "min", "max"))), "count": count}] + self.whole_lines(kind, length, a, b, count)

    def whole_lines(self, kind, length, a, b, count):
        """Statements that scan, gather and scatter; the indices are an array of their own."""
        rng = self.rng
        index, made, placed = self.name("wi"), self.name("wm"), self.name("wp")
        self.whole[index] = rng.choice(("u32", "i64"))
        self.values[index] = np.array([rng.randint(-length if self.whole[index] == "i64" else 0, length - 1) for _ in range(length)], DTYPE[self.whole[index]])
        for name in (made, placed):
            self.whole[name] = kind
            self.values[name] = self.array(kind, length)
        scan = {"type": "parallel_scan", "input": var(a), "output": var(made), "operation": rng.choice(("sum", "product", "min", "max")), "count": count}
        for flag in ("exclusive", "reverse"):
            if rng.random() < 0.5:
                scan[flag] = rng.random() < 0.5
        scatter = {"type": "parallel_scatter", "input": var(b), "indices": var(index), "output": var(placed), "count": count, "size": lit(length)}
        if rng.random() < 0.5:
            scatter["operation"] = rng.choice(("sum", "Sum"))
        return [scan, scatter] + [{"type": "parallel_gather", "input": var(made), "indices": var(index), "output": var(b), "count": count, "size": lit(length)}]

    def document(self):
        rng = self.rng
        self.setup()
        self.whole = {}
        before = self.whole_array() if rng.random() < 0.08 else []
        self.meets = self.guard != "nest" and rng.random() < 0.3
        self.scopes = [[["i", "u64", False]]]
        body = [let("i", call("get_global_id"))]
        inner = self.block(rng.randint(2, 8), rng.randint(1, 4))
        guard = binary("lt", var("i"), var("n"))
        if self.guard == "nest":
            body.append({"type": "if", "condition": guard, "then_body": inner, "else_body": None})
        elif self.guard == "return":
            body.append({"type": "if", "condition": binary("ge", var("i"), var("n")), "then_body": [{"type": "return", "value": None}],
                         "else_body": None})
            body += inner
        else:
            body += inner
        if self.meets:  # in front of what another scope declared
            self.scopes = [[["i", "u64", False]]]
            for _ in range(rng.randint(1, 2)):
                body += self.exchange() + self.store(2)
                if rng.random() < 0.5:
                    body += self.statement(2)
        body = before + body
        types = {name: {"kind": "scalar", "type": kind} for name, kind in self.scalars.items()}
        arrays = dict(self.whole)
        for group in (self.inputs, self.own, self.shared):
            arrays.update({name: entry[0] for name, entry in group.items()})
        arrays.update(self.approximate)
        for name, kind in arrays.items():
            types[name] = {"kind": "device_array", "element_type": {"kind": "scalar", "type": kind}}
        order = sorted(types)
        rng.shuffle(order)
        params = [{"name": name, "type": types[name]} for name in order]
        for param in params:
            if param["name"] in arrays and rng.random() < 0.3:
                size = len(self.values[param["name"]])
                counted = size == self.values.get("n") and self.scalars.get("n") in ("u32", "u64")
                param["shape"] = ["n"] if counted else [size // 3, 3] if size % 3 == 0 and size else [size]
        kernel = {"name": "k" + str(self.seed), "params": params, "body": body}
        if self.local:
            kernel["block"] = self.size if rng.random() < 0.5 else [self.size]
            kernel["shared"] = [{"name": name, "element_type": {"kind": "scalar", "type": kind}, "length": length}
                                for name, (kind, length) in self.local.items()]
        if self.private:
            kernel["private"] = [{"name": name, "element_type": {"kind": "scalar", "type": kind}, "length": length}
                                 for name, (kind, length) in self.private.items()]
        if rng.random() < 0.2:
            kernel["lanes"] = rng.choice((self.lanes, [self.lanes, 1]))
        return {"version": "1.0", "kernel": kernel}


def shuffled(node, rng):
    if isinstance(node, dict):
        keys = list(node)
        rng.shuffle(keys)
        return {key: shuffled(node[key], rng) for key in keys}
    return [shuffled(item, rng) for item in node] if isinstance(node, list) else node


def write(document, seed):
    """The document as text, in one of several styles."""
    rng = random.Random(seed + 1)
    if rng.random() < 0.5:
        document = shuffled(document, rng)
    return json.dumps(document, indent=rng.choice((None, None, 1, 4, "\t")), separators=rng.choice(((",", ":"), (", ", ": "), (" ,", " : "))))


def generate(seed):
    generator = Generator(seed)
    document = generator.document()
    return Case(seed, document, write(document, seed), generator.lanes, generator.values, generator.tolerance)


if __name__ == "__main__":
    import sys
    print(json.dumps(generate(int(sys.argv[1])).document, indent=1))

"""Kernels with private arrays: every type of element, every type of index, faults with the array's name, what barriers keep.

    cases(rotations)     (name, kernel, lanes, values, expected): arrays by name, or (lane, words of the message)
Expected values are NumPy's."""
import json

import numpy as np

from evaluate import DTYPE, TYPES, WIDTH, bounds
from generate import assign, binary, call, element, let, lit, var

LANES, LENGTH = 6, 5
INDEXES = tuple(WIDTH)
MEET, MEET_ALL = {"type": "barrier"}, {"type": "barrier", "scope": "grid"}


def scalar(kind):
    return {"kind": "scalar", "type": kind}


def array(kind):
    return {"kind": "device_array", "element_type": scalar(kind)}


def own(name, kind, length=LENGTH):
    return {"name": name, "element_type": scalar(kind), "length": length}


def loop(*body):
    return {"type": "for", "var": "r", "start": lit(0), "stop": lit(LENGTH), "step": lit(1), "body": list(body)}


def document(arrays, types, body, **fields):
    kernel = {"name": "own", "params": [{"name": name, "type": array(kind)} for name, kind in types.items()], "private": arrays, "body": body}
    return {"version": "1.0", "kernel": dict(kernel, **fields)}


def numbers(kind, random):
    """LANES rows of LENGTH values; of a bool, bytes."""
    if kind == "bool":
        return random.choice(np.array([0, 1, 2, 200], np.uint8), LANES * LENGTH)
    if kind in WIDTH:
        low, high = bounds(kind)
        return random.integers(low, high, LANES * LENGTH, dtype=DTYPE[kind], endpoint=True)
    return random.standard_normal(LANES * LENGTH).astype(DTYPE[kind])


def every_type(start, rotation):
    """Four element types, each with indexes of another type: own[k[j]] = x[j], then y[j] = own[j]; a lane's own elements begin as zeros."""
    random = np.random.default_rng(start * 8 + rotation)
    kinds = TYPES[start:start + 4] if start + 4 <= len(TYPES) else TYPES[-4:]
    arrays, types, values, expected, stores, loads = [], {}, {}, {}, [], []
    at = binary("add", binary("mul", var("i"), lit(LENGTH)), call("u64", var("r")))
    for number, kind in enumerate(kinds):
        x, y, k, name = (stem + kind for stem in ("x_", "y_", "k_", "own_"))
        of = INDEXES[(start + number + rotation) % len(INDEXES)]
        arrays.append(own(name, kind))
        types.update({x: kind, y: kind, k: of})
        values.update({x: numbers(kind, random), y: np.zeros(LANES * LENGTH, DTYPE[kind]),
                       k: random.integers(0, LENGTH, LANES * LENGTH).astype(DTYPE[of])})
        stores.append(assign(element(name, element(k, at)), element(x, at)))
        loads.append(assign(element(y, at), element(name, var("r"))))
        rows = np.zeros((LANES, LENGTH), DTYPE[kind])
        for place, index in enumerate(values[k]):
            rows[place // LENGTH, int(index)] = values[x][place] != 0 if kind == "bool" else values[x][place]
        expected[y] = rows.reshape(-1)
    return (f"elements of {' '.join(kinds)}, indexes {rotation}", document(arrays, types, [let("i", call("get_global_id")), loop(*stores), loop(*loads)]),
            LANES, values, expected)


def outside(name, of, index, writes, literal=False, converts=False):
    """The third of four lanes takes an index that the array does not have; other arrays of the lane are around it. converts: a value of u32
    is stored, or wanted."""
    shown = index % 2 ** 64
    arrays = [own("first", "f32"), own("second", "f32"), own("odd", "u8", 3), own("third", "f32")]
    place = element(name, lit(index) if literal else element("k", var("i")))
    body = [let("i", call("get_global_id")), assign(element("third", lit(0)), lit(7))]
    value = call("u32", var("i")) if converts else lit(1)
    body.append(assign(place, value) if writes else let("v", call("u32", place) if converts else place))
    body.append(assign(element("y", var("i")), element("third", lit(0))))
    length = [entry["length"] for entry in arrays if entry["name"] == name][0]
    words = f"private access out of bounds: index {shown} of '{name}', which has {length} elements"
    values = {"k": np.array([0, 1, 0 if literal else index, 2], DTYPE[of]), "y": np.zeros(4, np.float32)}
    return (f"index {index} of {name}{', converted' if converts else ''}", document(arrays, {"k": of, "y": "f32"}, body), 4, values, (0 if literal else 2, words))


def renamed(name, kernel, lanes, values, expected):
    """The same program with another name of an array: what was kept of the first must not speak for it."""
    text = json.dumps(kernel).replace('"first"', '"other"')
    return name + ", renamed", json.loads(text), lanes, values, (expected[0], expected[1].replace("first", "other"))


def kept():
    """Barriers keep a lane's elements, also those of the launch; other lanes and later blocks have their own."""
    body = [let("i", call("get_global_id")), let("l", call("get_local_id")), assign(element("own", var("l")), binary("add", var("i"), lit(10))), MEET,
            assign(element("y", var("i")), element("own", var("l"))), MEET_ALL,
            assign(element("z", var("i")), binary("add", element("own", var("l")), element("own", binary("mod", binary("add", var("l"), lit(1)), lit(4)))))]
    values = {"y": np.zeros(12, np.int32), "z": np.zeros(12, np.int32)}
    wanted = np.arange(10, 22, dtype=np.int32)
    return ("kept across barriers", document([own("own", "i32", 4)], {"y": "i32", "z": "i32"}, body, block=4), 12, values, {"y": wanted, "z": wanted})


def unreached():
    """A literal index beyond an array is a fault only where a lane comes to it."""
    test = {"type": "if", "condition": binary("lt", var("i"), lit(0)), "then_body": [assign(element("first", lit(9)), lit(1))], "else_body": None}
    body = [let("i", call("get_global_id")), test, assign(element("y", var("i")), element("first", lit(4)))]
    return ("an index that no lane takes", document([own("first", "f32")], {"y": "f32"}, body), 4, {"y": np.ones(4, np.float32)}, {"y": np.zeros(4, np.float32)})


def cases(rotations):
    result = [every_type(start, rotation) for rotation in range(rotations) for start in range(0, len(TYPES), 4)] + [kept(), unreached()]
    if rotations == 1:
        first = outside("first", "u16", 5, True)
        return result + [first, renamed(*first), outside("third", "i64", -1, False), outside("odd", "u8", 3, True, converts=True)]
    result.append(outside("first", "u16", 5, False))
    result.append(renamed(*result[-1]))
    for name, length in (("first", LENGTH), ("second", LENGTH), ("odd", 3), ("third", LENGTH)):
        for writes in (False, True):
            result += [outside(name, of, index, writes) for of, index in (("u8", length), ("i8", -1), ("u64", 2 ** 62), ("u64", 2 ** 63 + 1))]
            result += [outside(name, "u8", length, writes, literal=True), outside(name, "u8", length, writes, converts=True)]
    return result

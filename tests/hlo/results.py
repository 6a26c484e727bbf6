#!/usr/bin/python3
"""Result types of StableHLO's operations: each operation of the texts in tests/hlo/functions, in a module of its own, is read as it stands and refused with
another result type, by a message that names a type or what was expected. What may be another type, by StableHLO's specification, is in MAY.

    tests/hlo/results.py [WORD]

WORD: only operations whose name has it."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from package import SOURCE, check, checks, hg

TYPE = r"tensor<(?:[^<>]|<[^<>]*>)*>"
OPERATION = re.compile(r"^ *(%[\w]+)(?::(\d+))? = (\"?(?:stablehlo|chlo)\.\w+\"?)(.*)$")
REAL = ["f16", "bf16", "f32", "f64"]
WHOLE = ["i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"]
ELEMENTS = [*REAL, *WHOLE, "complex<f32>", "complex<f64>"]
BITS = {name: int(re.search(r"\d+", name).group()) for name in ELEMENTS}


def element_of(kind):
    return re.fullmatch(r"tensor<(?:\d+x)*(.*)>", kind).group(1)


def kind_of(element):
    return "complex" if "complex" in element else "f" if "f" in element else "ui" if element.startswith("ui") else "i1" if element == "i1" else "i"


def promotes(before, after):
    return kind_of(before) == kind_of(after) and BITS[after] >= BITS[before] and before != "i1"


def sums(before, after):
    """Sums of products: those of integers may be other integers or floats."""
    whole = kind_of(before) in ("i", "ui") and kind_of(after) in ("i", "ui", "f")
    return promotes(before, after) or whole and BITS[after] >= BITS[before]


def any_element(before, after):
    return True


# Operations whose result may have other elements than it has in the text.
MAY = {"convert": any_element, "constant": any_element, "iota": lambda before, after: after != "i1", "dynamic_iota": lambda before, after: after != "i1",
       "dot_general": sums, "convolution": sums, "bitcast_convert": lambda before, after: BITS[before] == BITS[after] and "complex" not in after}


def operations(text):
    """(lines of the operation, names of its operands that other lines made)"""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if not OPERATION.match(line):
            continue
        depth, end = 0, start
        while True:
            depth += lines[end].count("{") - lines[end].count("}")
            if depth <= 0 and not (end + 1 < len(lines) and re.match(r" *(reducer|cond|\} do)\b", lines[end + 1]) and end == start):
                break
            end += 1
        yield lines[start:end + 1]


def signature(lines):
    """Types of operands and of results, and where the results' begin in the line that has them: None where the form is not known."""
    for number in (0, len(lines) - 1):
        match = re.search(rf" : \(((?:{TYPE}(?:, )?)*)\) -> (\(?(?:{TYPE}(?:, )?)+\)?)(?: \{{|$| *loc\(| *reducer)", lines[number])
        if match:
            return number, match.start(2), re.findall(TYPE, match.group(1)), re.findall(TYPE, match.group(2))
    match = re.search(rf" : ({TYPE}(?:, {TYPE})*) -> ({TYPE})$", lines[0])
    if match and len(lines) == 1:  # chlo's
        return 0, match.start(2), re.findall(TYPE, match.group(1)), [match.group(2)]
    match = re.search(rf" : ({TYPE})$", lines[0])
    if match and len(lines) == 1:
        return 0, match.start(1), None, [match.group(1)]
    match = re.search(rf" : ({TYPE}), ({TYPE})$", lines[0])
    if match and "stablehlo.select" in lines[0]:
        return 0, match.start(2), [match.group(1), match.group(2), match.group(2)], [match.group(2)]
    return None


def module(lines, where, types, operands):
    """A text whose @main is the operation; its results have these types, its operands those that they had."""
    number, at, _, _ = where
    lines = list(lines)
    match = OPERATION.match(lines[0])
    head = lines[0][:match.end(3)]
    names = re.findall(r"%\w+(?:#\d+)?", lines[0][match.end(3):at if number == 0 else None].split(" across ")[0])
    if "stablehlo.while" in head or len(names) != len(operands):
        return None
    if any(re.search(r"%(?:c|cst)(?:_\d+)?\b", line) for line in lines[1:]):  # of outside the region
        return None
    # The generic form, which names each operand's type by itself.
    order = names if not head.endswith("stablehlo.reduce") else names[::2] + names[1::2]
    args = []
    for index, kind in enumerate(operands):
        args.append(f"%a{index}: {kind}")
    text = "\n".join(lines)
    offset = sum(len(line) + 1 for line in lines[:number]) + at
    old = text[offset:]
    tail = re.match(rf"\(?(?:{TYPE}(?:, )?)+\)?", old)
    new = types[0] if len(types) == 1 else "(" + ", ".join(types) + ")"
    front = text[:offset]
    if re.search(r" : $", front) and "->" not in front[front.rfind(" : "):]:
        if "stablehlo.select" in head:
            front = front[:front.rfind(" : ")] + f" : ({', '.join(operands)}) -> "
        else:
            front = front[:-3] + f" : ({', '.join(operands)}) -> "
    elif "stablehlo.select" in head:
        front = front[:front.rfind(" : ")] + f" : ({', '.join(operands)}) -> "
    text = front + new + old[tail.end():]
    for index, name in enumerate(order):
        text = re.sub(re.escape(name) + r"(?![\w#])", f"%a{index}", text, count=1 if name in order[:index] else 0)
    result = match.group(1)
    count = len(types)
    returned = ", ".join(f"{result}#{i}" for i in range(count)) if count > 1 else result
    return f"func.func @main({', '.join(args)}) -> ({', '.join(types)}) {{\n{text}\n  return {returned} : {', '.join(types)}\n}}\n"


def others(name, kind):
    """Types that the result cannot have instead."""
    element, dims = element_of(kind), re.findall(r"(\d+)x", kind)
    for one in ELEMENTS:
        if one != element and not MAY.get(name, lambda before, after: False)(element, one):
            yield f"tensor<{''.join(d + 'x' for d in dims)}{one}>"
    if name in ("constant", "iota", "dynamic_iota", "broadcast_in_dim"):  # of any shape that has the axis
        return
    yield f"tensor<{''.join(d + 'x' for d in dims)}3x{element}>"
    if dims:
        yield f"tensor<{int(dims[0]) + 1}x{''.join(d + 'x' for d in dims[1:])}{element}>"
        yield f"tensor<{''.join(d + 'x' for d in dims[:-1])}{int(dims[-1]) + 7}x{element}>"


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    seen, tried, left = set(), 0, set()
    for path in sorted(glob.glob(os.path.join(SOURCE, "tests", "hlo", "functions", "*.mlir"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for lines in operations(text):
            name = OPERATION.match(lines[0]).group(3).strip('"').split(".")[1]
            if word not in name or name in ("custom_call", "constant"):
                continue
            where = signature(lines)
            operands = where and where[2]
            if where and operands is None:
                names = re.findall(r"%\w+(?:#\d+)?", lines[0][OPERATION.match(lines[0]).end(3):where[1]])
                part = where[3][0].replace("complex<", "").replace(">>", ">") if name == "complex" else where[3][0]
                operands = [part] * len(names)
            base = where and module(lines, where, where[3], operands)
            if not base:
                left.add(name)
                continue
            key = (name, re.sub(r"\d+", "", " ".join(operands + where[3])))
            if key in seen:
                continue
            try:
                hg.from_stablehlo(base)
            except hg.ProgramError as error:  # the cut was wrong: an outer value in a region
                check("is not a value" in str(error), f"{os.path.basename(path)}: {error}\n{base}")
                left.add(name)
                continue
            seen.add(key)
            for which, kind in enumerate(where[3]):
                for other in others(name, kind):
                    types = [*where[3][:which], other, *where[3][which + 1:]]
                    bad = module(lines, where, types, operands)
                    tried += 1
                    try:
                        hg.from_stablehlo(bad)
                    except hg.ProgramError as error:
                        check(re.search(r"tensor<|expected", str(error)) and name in str(error), f"{error}\n{bad}")
                    else:
                        check(False, f"{name}: {kind} may be {other}\n{bad}")
    names = {name for name, _ in seen}
    print(f"{len(seen)} operations, {len(names)} by name, {tried} other results; not cut out of their texts: {', '.join(sorted(left - names))}", file=sys.stderr)
    return checks.finish()


sys.exit(main())

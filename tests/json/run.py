#!/usr/bin/python3
"""JSON kernels: random ones against an evaluator of their own, documents against the JSON Schema.

    tests/json/run.py [--count N] [--seed S] [--backend B] [--keep DIR]
Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped. A failure prints the command that repeats it and the
smallest kernel found that still fails; --keep writes that kernel and its data."""
import argparse
import copy
import json
import os
import struct
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
BATCH = os.path.join(BUILD, "tests", "json_batch")
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (python3-numpy)\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
from documents import DOCUMENTS  # noqa: E402
from evaluate import DTYPE, Kernel, KernelError, parse  # noqa: E402
from generate import Case, generate  # noqa: E402
from named import NAMED, REFUSED, document, text  # noqa: E402
from private import INDEXES, cases as private_cases  # noqa: E402
from ranges import cases as range_cases  # noqa: E402

RAN, UNTRANSLATED, UNVERIFIED, FAULT, FAILED = range(5)
DIRECTIONS = ["none", "in", "out", "inout"]
passed = failed = skipped = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        if failed <= 20:
            print(f"failed: {what}")


# ---- the library ----

class Answer:
    pass


def pack(case):
    """One kernel of json_batch's input."""
    text = case.text.encode()
    types = {p["name"]: p["type"] for p in case.document["kernel"]["params"]}
    out = [struct.pack("<I", len(text)), text, struct.pack("<QI", case.lanes, len(case.values))]
    for name, value in case.values.items():
        kind = types[name]
        if kind["kind"] == "device_array":
            form, data = b"", value.tobytes()
        else:
            scalar = {"usize": "u64"}.get(kind["type"], kind["type"])
            form, data = scalar.replace("bool", "u8").encode(), DTYPE[scalar](value).tobytes()
        out.append(struct.pack("<BB", kind["kind"] == "device_array", len(name.encode())) + name.encode() + struct.pack("<B", len(form))
                   + form + struct.pack("<Q", len(data)) + data)
    return b"".join(out)


def unpack(data, at, case):
    """The answer at a place of json_batch's output, and the place behind it; None where the output ends."""
    if at + 21 > len(data):
        return None, at
    answer = Answer()
    answer.result, answer.lane, code, length = struct.unpack_from("<BQ4sI", data, at)
    at += 17
    answer.code = code.rstrip(b"\0").decode()
    answer.message = data[at:at + length].decode("utf-8", "replace")
    at += length
    answer.instructions, arrays = struct.unpack_from("<II", data, at)
    at += 8
    answer.arrays, answer.directions = {}, {}
    for name in [name for name, value in case.values.items() if isinstance(value, np.ndarray)][:arrays]:
        direction, length = struct.unpack_from("<BQ", data, at)
        at += 9
        answer.directions[name] = DIRECTIONS[direction]
        answer.arrays[name] = np.frombuffer(data[at:at + length], case.values[name].dtype)
        at += length
    return answer, at


def library(cases, backend):
    """What the library makes of the cases; None for one that it did not survive."""
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in"), os.path.join(folder, "out")
        while len(answers) < len(cases):
            rest = cases[len(answers):]
            with open(source, "wb") as file:
                file.write(b"".join(pack(case) for case in rest))
            process = subprocess.run([BATCH, source, target, backend], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                     timeout=600 + len(rest), check=False)
            if process.returncode == 2:
                raise SystemExit(process.stdout)
            data, at = b"", 0
            if os.path.exists(target):
                with open(target, "rb") as file:
                    data = file.read()
            for case in rest:
                answer, at = unpack(data, at, case)
                if answer is None:
                    break
                answers.append(answer)
            if len(answers) < len(cases):
                answers.append(None)
                print(f"json_batch ended with status {process.returncode}:\n{process.stdout[-3000:]}")
    return answers


# ---- comparing ----

def steps(a, b):
    """Distance of floats in units of the last place; zero between NaNs."""
    kind = np.int32 if a.dtype == np.float32 else np.int64
    x, y = a.view(kind).astype(object), b.view(kind).astype(object)
    lowest = -(1 << (a.dtype.itemsize * 8 - 1))
    ordered = [np.array([lowest - v if v < 0 else v for v in side], object) for side in (x, y)]
    distance = abs(ordered[0] - ordered[1])
    distance[np.isnan(a) & np.isnan(b)] = 0
    return distance


def bits(value):
    return value.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[value.itemsize])


def difference(case, answer):
    """What is wrong, "" where nothing is. A kernel that the evaluator refuses, the library must refuse too."""
    values = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in case.values.items()}
    try:
        kernel = Kernel(parse(case.text))
        expected = kernel.run(case.lanes, values)
    except KernelError as error:
        if answer is None:
            raise
        return "" if answer.result in (UNTRANSLATED, UNVERIFIED) else f"taken, and the evaluator says: {error}"
    if answer is None:
        return "the library ended the process"
    if answer.result in (UNTRANSLATED, UNVERIFIED):
        return ("not translated: " if answer.result == UNTRANSLATED else "not verified: ") + answer.message
    if answer.result == FAILED:
        return "failed: " + answer.message
    if expected.fault or answer.result == FAULT:
        kind = {"F01": "bounds", "F02": "division by zero"}.get(answer.code, answer.code)
        got = (answer.lane, kind) if answer.result == FAULT else "no fault"
        if expected.fault and answer.result == FAULT and expected.fault[0] is None:
            got = (None, kind)
        return "" if got == expected.fault else f"expected fault {expected.fault}, got {got}: {answer.message}"
    for name, mine in values.items():
        if not isinstance(mine, np.ndarray):
            continue
        if answer.directions[name] not in (kernel.direction(name), "none"):
            return f"{name} is {kernel.direction(name)}, declared {answer.directions[name]}"
        theirs = answer.arrays[name]
        if name in case.tolerance:
            allowed = case.tolerance[name] if mine.dtype == np.float32 else case.tolerance[name] + 2  # the host's libm is not exact
            wrong = np.flatnonzero(steps(mine, theirs) > allowed)
        else:
            wrong = bits(mine) != bits(theirs)
            if mine.dtype.kind == "f":
                wrong &= ~(np.isnan(mine) & np.isnan(theirs))
            wrong = np.flatnonzero(wrong)
        if len(wrong):
            at = wrong[0]
            return f"{name}[{at}] is {mine[at]!r}, got {theirs[at]!r}; {len(wrong)} of {len(mine)} differ"
    return ""


# ---- making a failing kernel smaller ----

def lists_of(node):
    """All lists of statements."""
    if isinstance(node, list):
        if node and all(isinstance(item, dict) and "type" in item for item in node):
            yield node
        for item in node:
            yield from lists_of(item)
    elif isinstance(node, dict):
        for key, item in node.items():
            if key != "args":
                yield from lists_of(item)


def smaller(document):
    """Documents with one thing less: a statement, a statement's own condition, a level of an expression."""
    body = document["kernel"]["body"]
    for index in range(sum(len(statements) for statements in lists_of(body))):
        for replace in (False, True):
            one = copy.deepcopy(document)
            at = index
            for statements in lists_of(one["kernel"]["body"]):
                if at < len(statements):
                    inner = [part for key in ("then_body", "else_body", "body") for part in statements[at].get(key) or []]
                    if replace and not inner:
                        break
                    statements[at:at + 1] = inner if replace else []
                    yield one
                    break
                at -= len(statements)
    count = len(list(parts_of(body)))
    for index in range(count):
        holder, key = list(parts_of(body))[index]
        for child in ("left", "right", "operand", "then", "else", "args"):
            if child not in holder[key]:
                continue
            for number in range(len(holder[key]["args"]) if child == "args" else 1):
                one = copy.deepcopy(document)
                spot, name = list(parts_of(one["kernel"]["body"]))[index]
                spot[name] = spot[name]["args"][number] if child == "args" else spot[name][child]
                yield one


def parts_of(node):
    """(container, key) of every expression."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        if isinstance(item, dict) and key not in ("target", "array") and item.get("type") in ("binary_op", "unary_op", "call", "if_expr"):
            yield node, key
        yield from parts_of(item)


def reduce(case, backend, wrong):
    """A smaller kernel that is wrong in the same way; at most a few hundred tries."""
    def group(text):
        return text.split(":")[0].split("[")[0]

    tries = 600
    while tries > 0:
        candidates, found = smaller(case.document), None
        while not found and tries > 0:
            some = []
            for document in candidates:
                candidate = Case(case.seed, document, json.dumps(document), case.lanes, case.values, case.tolerance)
                try:
                    difference(candidate, None)
                except Exception:  # pylint: disable=broad-except  # not a kernel any more
                    continue
                some.append(candidate)
                if len(some) == 25:
                    break
            if not some:
                return case, wrong
            tries -= len(some)
            for candidate, answer in zip(some, library(some, backend)):
                reason = difference(candidate, answer)
                if reason and group(reason) == group(wrong):
                    case, wrong, found = candidate, reason, True
                    break
    return case, wrong


def written(kind, value):
    """A scalar as the command line takes it."""
    if kind in ("f32", "f64"):
        return "nan" if np.isnan(value) else repr(float(value)) if np.isfinite(value) else "inf" if value > 0 else "-inf"
    return str(int(value))


def keep(case, folder):
    """Writes a kernel with its data; the command that runs it, and its outputs by array."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
        file.write(case.text)
    kernel = Kernel(parse(case.text))
    said = case.document["kernel"]
    arguments, outputs = ["run", "kernel.json"] + ([] if "lanes" in said else ["--lanes", str(case.lanes)]), {}
    shapes = {p["name"]: p.get("shape") for p in said["params"]}
    for name, value in case.values.items():
        kind = [p["type"] for p in case.document["kernel"]["params"] if p["name"] == name][0]
        if kind["kind"] != "device_array":
            arguments += ["--set", f"{name}={written(kind['type'], value)}"]
            continue
        direction = kernel.direction(name)
        if direction == "out":
            element = kind["element_type"]["type"].replace("bool", "u8")
            if shapes[name] is None:  # else the document says it
                arguments += ["--shape", f"{name}={element}[{len(value)}]"]
        else:
            shape = [case.values[extent] if isinstance(extent, str) else extent for extent in shapes[name] or [len(value)]]
            np.save(os.path.join(folder, name + ".npy"), value.reshape(shape))
            arguments += ["--in", f"{name}={name}.npy"]
        if direction != "in":
            arguments += ["--out", f"{name}={name}.out.npy"]
            outputs[name] = os.path.join(folder, name + ".out.npy")
    return arguments, outputs


def commands(backend):
    """`hologram run kernel.json` itself, on a few kernels that end well."""
    count = 0
    for seed in range(1000, 1100):
        case = generate(seed)
        kernel = Kernel(parse(case.text))
        values = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in case.values.items()}
        for name in kernel.arrays:  # the command makes them
            if name in values and kernel.direction(name) == "out":
                values[name][:] = 0
        if case.tolerance or kernel.run(case.lanes, values).fault:
            continue
        with tempfile.TemporaryDirectory() as folder:
            arguments, outputs = keep(case, folder)
            process = subprocess.run([os.path.join(BUILD, "hologram"), *arguments, "--backend", backend], cwd=folder, capture_output=True, text=True,
                                     timeout=60, check=False)
            check(process.returncode == 0, f"hologram {' '.join(arguments)} (kernel {seed}): {process.stderr}")
            for name, path in outputs.items() if process.returncode == 0 else ():
                got = np.load(path).reshape(-1)
                wrong = (bits(got) != bits(values[name])) & ~(got != got)
                check(got.shape == values[name].shape and not wrong.any(), f"hologram run of kernel {seed}: {name} is {values[name]}, got {got}")
        count += 1
        if count == 8:
            return


def random_kernels(count, seed, backend, folder):
    reduced = instructions = 0
    for start in range(seed, seed + count, 500):
        cases = [generate(number) for number in range(start, min(start + 500, seed + count))]
        for case, answer in zip(cases, library(cases, backend)):
            wrong = difference(case, answer)
            instructions += answer.instructions if answer else 0
            check(not wrong, f"kernel {case.seed}: {wrong}\n  repeat: tests/json/run.py --seed {case.seed} --count 1 --backend {backend}")
            if wrong and reduced < 2:
                reduced += 1
                case, wrong = reduce(case, backend, wrong)
                print(f"  smaller: {wrong}\n  {case.text}")
                if folder:
                    print("  hologram " + " ".join(keep(case, os.path.join(folder, str(case.seed)))[0]))
    print(f"{count} random kernels, {instructions} instructions")


# ---- documents ----

def documents(backend):
    """Whether they are kernels: as DOCUMENTS says, the translator and the JSON Schema."""
    global skipped
    validator = None
    try:
        import jsonschema
        with open(os.path.join(SOURCE, "docs", "reference", "json-kernel.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
    except ImportError:
        skipped += 1
        print("skipped: no validator of JSON Schema (python3-jsonschema): documents are not checked against docs/reference/json-kernel.schema.json")
    cases = [Case(0, {"kernel": {"params": []}}, text, 1, {}, {}) for _, text, _, _ in DOCUMENTS]
    for (name, text, shape, error), answer in zip(DOCUMENTS, library(cases, backend)):
        if answer is None:
            check(False, f"{name}: the library ended the process")
            continue
        translated = answer.result not in (UNTRANSLATED, UNVERIFIED)
        check(translated == (error is None), f"{name}: {'translated, should not be' if translated else answer.message}")
        if error is not None and not translated:
            check(error in answer.message, f"{name}: '{error}' is not in the message\n{answer.message}")
            check("kernel:" in answer.message, f"{name}: no place in\n{answer.message}")
        if validator and shape is not None:
            check(validator.is_valid(json.loads(text)) == shape, f"{name}: the schema says {not shape}")
    for seed in range(40):
        if validator:
            first = next(validator.iter_errors(json.loads(generate(seed).text)), None)
            check(first is None, f"kernel {seed} against the schema: {first.message[:300] if first else ''}")


def names(backend):
    """Kernels without a body."""
    cases = [Case(0, document(name, params), text(name, params), max(np.size(v) for v in values.values()), values, {})
             for name, params, values, _ in NAMED]
    for (name, _, _, expected), answer in zip(NAMED, library(cases, backend)):
        if answer is None or answer.result != RAN:
            check(False, f"{name} without a body: {answer.message if answer else 'the library ended the process'}")
            continue
        for array, wanted in expected.items():
            got = answer.arrays[array]
            check(np.array_equal(bits(wanted), bits(got)), f"{name} without a body: {array} is {wanted}, got {got}")
    cases = [Case(0, document(name, params), text(name, params), 1, {}, {}) for name, params, _ in REFUSED]
    for (name, _, words), answer in zip(REFUSED, library(cases, backend)):
        good = answer is not None and answer.result == UNTRANSLATED and words in answer.message
        check(good, f"{name} without a body: expected '{words}', got {answer.message if answer else 'the end of the process'}")


def rows_on(backend, rows):
    """Kernels with what they must give, on one backend."""
    cases = [Case(0, kernel, json.dumps(kernel), lanes, values, {}) for _, kernel, lanes, values, _ in rows]
    for (name, _, _, _, expected), answer in zip(rows, library(cases, backend)):
        where = f"{name} on {backend}"
        if answer is None:
            check(False, f"{where}: the library ended the process")
        elif isinstance(expected, tuple):
            good = answer.result == FAULT and answer.code == "F01" and answer.lane == expected[0] and expected[1] in answer.message
            check(good, f"{where}: expected lane {expected[0]}, {expected[1]}; got lane {answer.lane}, {answer.message}")
        else:
            check(answer.result == RAN, f"{where}: {answer.message}")
            for array, wanted in expected.items() if answer.result == RAN else ():
                got = answer.arrays[array]
                check(np.array_equal(bits(wanted), bits(got)), f"{where}: {array} is {wanted}, got {got}")


def other_backends():
    """Backends with a device here, beside cpu."""
    process = subprocess.run([os.path.join(BUILD, "hologram"), "devices", "--json"], capture_output=True, text=True, check=True)
    return sorted({d["backend"] for d in json.loads(process.stdout)["outputs"] if d["available"]} - {"cpu", "null"})


def main():
    parser = argparse.ArgumentParser(description="Random JSON kernels against an independent evaluator.")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    if not os.path.exists(BATCH):
        raise SystemExit(f"{BATCH} is not there: build json_batch, or set HG_BUILD_DIR to the build folder")
    if options.seed is None:
        documents(options.backend)
        names(options.backend)
        commands(options.backend)
        rows_on(options.backend, private_cases(len(INDEXES)))
        rows_on(options.backend, range_cases())
        for backend in other_backends() if options.backend == "cpu" else ():
            rows_on(backend, private_cases(1))
            rows_on(backend, range_cases(("kept",))[::9])
    random_kernels(options.count, options.seed or 0, options.backend, options.keep)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

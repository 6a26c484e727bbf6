#!/usr/bin/python3
"""A binding that knows no instruction: it is generated from tools/interface, learns the instructions from the library, builds programs with them and
runs them on the CPU. What it learns is compared with the table itself, as the C preprocessor and a reader of its own see it, and with what
the command prints.

    run.py                                      all of it
    run.py --instruction NAME VALUE... RESULT   only an f32 instruction of registers: tools/count-touch tries a new one with it

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import ctypes
import glob
import importlib.util
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "support"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "bindings", "python")]
import generate
from checks import check, finish, skip

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
PROGRAMS = sorted(glob.glob(os.path.join(SOURCE, "examples", "programs", "*.atlas")))
try:
    import jsonschema
except ImportError:
    jsonschema = None
    skip("no validator of JSON Schema (python3-jsonschema): documents are not checked against docs/reference/*.schema.json")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def check_schema(name, document, what):
    if not jsonschema:
        return
    schema = json.loads(read("docs", "reference", name + ".schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    wrong = next(jsonschema.Draft202012Validator(schema).iter_errors(document), None)
    check(wrong is None, f"{what} against {name}.schema.json: {wrong and (list(wrong.path), wrong.message[:300])}")


# ---- the binding ----

def make_binding():
    interface = json.loads(output(sys.executable, "-B", os.path.join(SOURCE, "tools", "interface")))
    path = os.path.join(BUILD, "binding.py")
    with open(path, "w", encoding="utf-8") as file:
        generate.write(interface, file)
    spec = importlib.util.spec_from_file_location("binding", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load(os.path.join(BUILD, "libhologram.so"))
    return interface, module


class Failed(Exception):
    pass


def call(function, *arguments):
    if getattr(hg, function)(*arguments) != hg.HG_OK:
        raise Failed(hg.hg_last_error_text().decode())


def ask(function, structure, *arguments):
    """A structure that the library fills."""
    description = structure(size=ctypes.sizeof(structure))
    call(function, *arguments, ctypes.byref(description))
    return description


def made(function, kind, *arguments):
    """An object that the library makes."""
    pointer = ctypes.POINTER(kind)()
    call(function, *arguments, ctypes.byref(pointer))
    return pointer


def names(enum, prefix):
    """value -> the rest of its name."""
    values = next(one["values"] for one in interface["enums"] if one["name"] == enum)
    return {value["value"]: value["name"].removeprefix(prefix) for value in values}


TEXTS = {"REG": "register", "PRED": "predicate", "COND": "condition", "OPNAME": "operation", "IDNAME": "id", "BOOL": "flag", "U32_U64": "u32 u64", "T": "T",
         "T2": "T2", "COLLECTIVE": "whole_array", "ULP1": "rounded correctly; f64 within 1 ULP",
         "ULP2": "rounded correctly; f64 within 2 ULP"}


def text_of(name):
    """As the documents call a value of an enum."""
    return TEXTS.get(name, name.lower())


def learn():
    """Every instruction, as the library describes it."""
    types, numbers = names("hg_type", "HG_TYPE_"), names("hg_numbers", "HG_NUMBERS_")
    seconds = names("hg_op_second", "HG_OP_SECOND_")
    flags = names("hg_op_flag", "HG_OP_FLAG_")
    kinds, rules = names("hg_op_operand_kind", "HG_OPERAND_"), names("hg_op_operand_type", "HG_OPERAND_TYPE_")
    learnt = []
    for i in range(hg.hg_op_count()):
        op = ask("hg_op_describe", hg.hg_op_description, i)
        operands = []
        for k in range(op.operand_count):
            o = ask("hg_op_operand", hg.hg_operand_description, i, k)
            otherwise = o.otherwise and o.otherwise.decode()
            words = ctypes.cast(o.words, ctypes.POINTER(ctypes.c_char_p)) if o.words else []
            operands.append({"name": o.name.decode(), "kind": text_of(kinds[o.kind]), "type": text_of(rules[o.type]), "reads": o.reads, "writes": o.writes,
                             "named": o.named, "optional": o.optional, "default": otherwise if o.has_default else None,
                             "otherwise": None if o.has_default else otherwise, "items": o.items,
                             "words": [words[w].decode() for w in range(o.word_count)]})
        learnt.append({"opcode": op.opcode, "id": op.id.decode(), "mnemonic": op.mnemonic.decode(), "does": op.about.decode(),
                       "numbers": text_of(numbers[op.numbers]), "suffixes": op.suffix_count, "half_width": op.half_width,
                       "second": text_of(seconds[op.second]),
                       "type_names": [types[t].lower() for t in range(hg.HG_TYPE_COUNT) if op.types >> t & 1],
                       "flags": sorted(text_of(flags[1 << bit]) for bit in range(32) if op.flags >> bit & 1), "operands": operands})
    return learnt


# ---- the interface of a small library (tests/abi/tree), whose headers are replaced by these ----

SMALL = r"""#include <stdint.h>
#include <stddef.h>
#define HG_API __attribute__((visibility("default")))
#define HG_NODISCARD __attribute__((warn_unused_result))
#define HG_MOST 7
/** What is said of colours.
 *
 * @return nothing */
typedef enum hg_colour {
    HG_RED = 3, /**< like blood, not like wine */
#define ROW(id, text, about) HG_##id,
#include "more.def"
#undef ROW
    /** In front of it,
     * in two lines. */
    HG_LAST = -1
} hg_colour;

/** Only pointers. */
typedef struct hg_thing hg_thing;
typedef void hg_call(void *user, const hg_thing *thing);
/** With fields. */
typedef struct hg_pair {
    size_t size; /**< sizeof(hg_pair), as always; really */
    char name[16];
    uint32_t x, y; /**< places */
    const char *const *words;
    int (*ask)(void *user, int what); /* not for bindings */
    hg_colour colours[2];
} hg_pair;

/** Makes things. */
HG_API hg_thing *hg_make(const char *name, uint8_t bytes[32]) HG_NODISCARD;
HG_API void hg_end(hg_thing *thing);

HG_API uint32_t hg_plain(void);
/** Inline. */
static inline int hg_twice(int x) { return 2 * x; }
OTHER
"""
TABLE = 'ROW(GREEN, "green", "like grass")\nROW(BLUE, "blue", "like (some) water")\n'


def small_interface():
    tool = [sys.executable, "-B", os.path.join(SOURCE, "tools", "interface")]
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(os.path.join(SOURCE, "tests", "abi", "tree"), tree)
        headers = os.path.join(tree, "include", "hologram")
        for name in os.listdir(headers):
            os.remove(os.path.join(headers, name))
        for name, text in (("small.h", SMALL.replace("OTHER", "")), ("more.def", TABLE)):
            with open(os.path.join(headers, name), "w") as file:
                file.write(text)
        said = json.loads(output(*tool, "--tree", tree))
        check_schema("interface", said, "a small interface")
        functions = {one["name"]: one for one in said["functions"]}
        check([*functions] == ["hg_make", "hg_end", "hg_plain", "hg_twice"], f"functions {[*functions]}")
        check(functions["hg_make"] == {"name": "hg_make", "header": "hologram/small.h", "result": "hg_thing *", "must_check": True, "exported": True, "comment": "Makes things.",
                                       "parameters": [{"name": "name", "type": "const char *"}, {"name": "bytes", "type": "uint8_t *"}]}, f"{functions['hg_make']}")
        check(functions["hg_end"]["comment"] == "Makes things." and functions["hg_plain"]["comment"] == "", "a comment is of the lines up to the next gap")
        check(functions["hg_plain"]["parameters"] == [] and functions["hg_twice"]["exported"] is False, f"{functions['hg_twice']}")
        colours = said["enums"][0]
        check(colours["comment"] == "What is said of colours.\n\n@return nothing" and [(v["name"], v["value"], v["comment"]) for v in colours["values"]] == [
            ("HG_RED", 3, "like blood, not like wine"), ("HG_GREEN", 4, "like grass"), ("HG_BLUE", 5, "like (some) water"), ("HG_LAST", -1, "In front of it,\nin two lines.")], f"{colours}")
        structs = {one["name"]: one for one in said["structs"]}
        check(structs["hg_thing"] == {"name": "hg_thing", "header": "hologram/small.h", "comment": "Only pointers.", "size": None, "fields": []}, f"{structs}")
        check([(f["name"], f["type"], f["offset"], f["size"], f["comment"]) for f in structs["hg_pair"]["fields"]] == [
            ("size", "size_t", 0, 8, "sizeof(hg_pair), as always; really"), ("name", "char[16]", 8, 16, ""), ("x", "uint32_t", 24, 4, "places"), ("y", "uint32_t", 28, 4, "places"),
            ("words", "const char *const *", 32, 8, ""), ("ask", "function int (void *, int) *", 40, 8, ""), ("colours", "hg_colour[2]", 48, 8, "")], f"{structs['hg_pair']}")
        check(said["types"] == [{"name": "hg_call", "header": "hologram/small.h", "type": "function void (void *, const hg_thing *)", "comment": "Only pointers."}], f"{said['types']}")
        check(said["constants"] == [{"name": "HG_MOST", "text": "7"}], f"{said['constants']}")
        # what the text hides from a reader is a difference
        with open(os.path.join(headers, "small.h"), "w") as file:
            file.write(SMALL.replace("OTHER", "#define WORD uint32_t\nHG_API WORD hg_hidden(int x);\n#define NAME(x) typedef struct hg_##x { int a; } hg_##x;\nNAME(secret)\n"))
        checked = subprocess.run([*tool, "--check", "--tree", tree], capture_output=True, text=True)
        check(checked.returncode == 1 and "function hg_hidden: the text says WORD (int), the ABI uint32_t (int)" in checked.stderr
              and "struct hg_secret: the text does not have it" in checked.stderr and "2 differences" in checked.stdout, f"--check: {checked}")


# ---- the table ----

def parse(text):
    """Braces and what stands between their commas, as lists and strings."""
    stack = [[]]
    for token in re.findall(r'"(?:\\.|[^"\\])*"|[{},]|[^{},"]+', text):
        if token == "{":
            stack.append([])
        elif token == "}":
            last = stack.pop()
            stack[-1].append(last)
        elif token.strip() and token != ",":
            stack[-1].append(token.strip())
    return stack[0][0]


def word_lists():
    text = read("src", "isa", "opname.def")
    rows = re.findall(r'HG_OPNAME\(\w+, "(\w+)", (\w+), \w+\)', text)
    groups = {group: [name for name, of in rows if of == group or of == "BOTH" and group != "MAP"] for group in ("MAP", "BINARY", "REDUCE")}
    return {"COND": re.findall(r'HG_CONDITION\(\w+, "(\w+)"', text), "SCOPE": re.findall(r'HG_SCOPE\(\w+, "(\w+)"', text),
            "IDNAME": re.findall(r'HG_IDNAME\(\w+, "(\w+)"', text), "BOOL": ["false", "true"], **groups}


SETS = {"T_NONE": lambda t: False, "T_ALL": lambda t: True, "T_INTEGER": lambda t: t[0] in "iu", "T_UNSIGNED": lambda t: t[0] == "u",
        "T_FLOAT": lambda t: t[0] in "fb", "T_ATOMIC": lambda t: t in ("i32", "u32", "i64", "u64"), "T_CHARACTER": lambda t: t in ("i128", "f64"),
        "T_CONVERTED": lambda t: True, "T_TWICE": lambda t: t[0] in "iu" and t[1:] != "8",
        "T_WIDER": lambda t: t[0] in "iu" and t[1:] != "8" or t == "f32", "T_NARROWER": lambda t: t[0] in "iu" and t[1:] != "4096" or t in ("f16", "bf16"),
        "T_PATTERN": lambda t: t[0] in "fb" or t[1:] in ("16", "32", "64"),
        "T_REAL": lambda t: t in ("f32", "f64"), "T_HALF": lambda t: t in ("f16", "bf16"),
        "T_BYTE": lambda t: t in ("i8", "u8"), "T_WORD": lambda t: t in ("i32", "u32"),
        "T_ORDERED": lambda t: t == "bf16" or int(t[1:]) <= 64,
        "T_INDEX": lambda t: t[0] in "iu" and int(t[1:]) <= 64}
SECOND = {"T_CONVERTED": "any", "T_TWICE": "half_width", "T_WIDER": "narrower", "T_NARROWER": "wider", "T_PATTERN": "pattern"}


def table_operand(row, words):
    kind, access, rule, optional, name, otherwise, items = row
    kind, rule = kind.removeprefix("HG_K_"), rule.removeprefix("HG_R_")
    otherwise = None if otherwise == "((void *)0)" else otherwise[1:-1]
    default = "HG_OR_VALUE" in optional
    return {"name": name[1:-1], "kind": text_of(kind), "type": text_of(rule), "reads": "HG_READ" in access, "writes": "HG_WRITE" in access,
            "named": "HG_NAMED" in access, "optional": default or "HG_OR_NONE" in optional, "default": otherwise if default else None,
            "otherwise": None if default else otherwise, "items": int(items), "words": words.get(rule if kind == "OPNAME" else kind, [])}


def table():
    """The same from src/isa/isa.def: its lines, and its operands as the C preprocessor writes them out."""
    types = re.findall(r'^HG_TYPE\(\w+,\s*"(\w+)"', read("include", "hologram", "types.def"), re.M)
    text = output(os.environ.get("CC", "cc"), "-std=gnu17", "-E", "-P", "-I" + os.path.join(SOURCE, "src"), "-I" + os.path.join(SOURCE, "include"),
                  os.path.join(SOURCE, "src", "isa", "isa.c"))
    text = re.sub(r"\s+", " ", text[text.index("TABLE[HG_OP_COUNT]"):])
    operands = dict(re.findall(r'\.id = "(\w+)",.*?\.operands = \(const hg_operand_info\[\]\) ?(\{.*?\}) ?\},? ?(?=\[HG_OP_|\};)', text))
    words, rows = word_lists(), []
    line = re.compile(r'^HG_OP\((0x\w+),\s*(\w+),\s*"([^"]+)",\s*(\w+(?:\(.*\))?),\s*(T_\w+),\s*([\w|]+),\s*(\w+),\s*"((?:\\.|[^"\\])*)"\)', re.M)
    source = read("src", "isa", "isa.def")
    for code, name, mnemonic, signature, kinds, flags, numbers, about in line.findall(source):
        listed = [] if signature == "SIG_NONE" else [table_operand(row, words) for row in parse(operands[name])]
        rows.append({"opcode": int(code, 16), "id": name, "mnemonic": mnemonic, "does": about.encode().decode("unicode_escape") if "\\" in about else about,
                     "numbers": text_of(numbers), "suffixes": 0 if kinds == "T_NONE" else 2 if kinds in SECOND else 1,
                     "half_width": kinds == "T_TWICE", "second": SECOND.get(kinds, "none"), "type_names": [t for t in types if SETS[kinds](t)],
                     "flags": sorted(text_of(flag.removeprefix("F_")) for flag in flags.split("|") if flag != "0"), "operands": listed})
    check(len(rows) == len(re.findall(r"^HG_OP\(", source, re.M)) > 150, f"{len(rows)} rows were read of src/isa/isa.def")
    return rows


def compare(what, got, expected):
    check([row["id"] for row in got] == [row["id"] for row in expected], f"{what}: other instructions, or in another order")
    for a, b in zip(got, expected):
        for key in b:
            if key != "operands":
                check(a[key] == b[key], f"{what}: {b['id']}: {key} is {a[key]!r}, the table says {b[key]!r}")
        check(len(a["operands"]) == len(b["operands"]), f"{what}: {b['id']} has {len(a['operands'])} operands, the table says {len(b['operands'])}")
        for x, y in zip(a["operands"], b["operands"]):
            check(x == y, f"{what}: {b['id']}: operand {x}, the table says {y}")


def instructions(learnt):
    compare("the binding", learnt, table())
    document = json.loads(output(COMMAND, "ops", "--caps", "cpu", "--json"))
    check_schema("ops", document, "hologram ops")
    for row in document["outputs"]:
        row["flags"].sort()
    compare("hologram ops --json", document["outputs"], learnt)


# ---- programs as they describe themselves ----

def declared(text):
    """Parameters by the lines of a text: (name, kind, type, direction)."""
    for register, name, rest in re.findall(r"^\s*\.param\s+(r\d+\s+)?(\w+)\s+([^;\n]*)", text, re.M):
        words = rest.split()
        if words[0] == "buffer":
            yield name, "buffer", words[1], words[2]
        elif words[0] != "pool":
            yield name, "scalar", words[0], None


def descriptions():
    directions = {hg.HG_PARAM_IN: "in", hg.HG_PARAM_OUT: "out", hg.HG_PARAM_INOUT: "inout"}
    for path in PROGRAMS:
        text = open(path, "rb").read()
        if b".include" in text or b".data" in text:
            continue
        name = os.path.basename(path)
        document = json.loads(output(COMMAND, "describe", path, "--json"))
        check_schema("describe", document, name)
        said = document["outputs"][0]
        program = made("hg_program_assemble", hg.hg_program, text, len(text), None)
        p = ask("hg_program_describe", hg.hg_program_description, program)
        check((said["name"], said["instructions"]) == (p.name.decode(), p.instructions), f"{name}: {said['name']}, {said['instructions']} instructions")
        check(said["launch"]["lanes"] == [p.lanes[i].decode() for i in range(p.lanes_count)], f"{name}: lanes {said['launch']['lanes']}")
        check([(q["name"], q["kind"], q["type"], q.get("direction")) for q in said["parameters"] if q["kind"] != "pool"] == list(declared(text.decode())),
              f"{name}: parameters {said['parameters']}, its text says {list(declared(text.decode()))}")
        for i, q in enumerate(said["parameters"]):
            one = ask("hg_program_param", hg.hg_param_description, program, i)
            check((one.name.decode(), one.reg) == (q["name"], q["register"]) and directions.get(one.dir) == q.get("direction"), f"{name}: parameter {q}")
            if one.kind == hg.HG_PARAM_BUFFER and q["shape"] is not None:
                check([one.dims[d].decode() for d in range(one.rank)] == q["shape"], f"{name}: the shape of {q}")
        hg.hg_program_release(program)


# ---- programs by the builder ----

def argument(operand, value):
    """The hg_arg of an operand; None: it is left out."""
    kind = operand["kind"]
    if value is None:
        return hg.hg_arg()
    if kind == "register":
        return hg.hg_arg(kind=hg.HG_ARG_REG, reg=value)
    if kind == "predicate":
        return hg.hg_arg(kind=hg.HG_ARG_PRED, reg=value)
    if kind == "address": # a buffer's handle, an index and the bytes that it counts, as hg_addr_scale(hg_addr_buffer(...))
        handle, index, scale = value
        return hg.hg_arg(kind=hg.HG_ARG_ADDRESS, place=6, reg=handle, has_index=2, index=index, page=scale & 255, byte=scale >> 8)
    if kind == "array":
        return hg.hg_arg(kind=hg.HG_ARG_ARRAY, place=8, reg=value)
    if kind in ("condition", "scope", "operation", "id"):
        check(value in operand["words"], f"{value} is no word of {operand}")
        return hg.hg_arg(kind=hg.HG_ARG_NAME, bytes=ctypes.cast(ctypes.c_char_p(value.encode()), ctypes.c_void_p))
    if isinstance(value, float):
        return hg.hg_arg(kind=hg.HG_ARG_REAL, real=value)
    return hg.hg_arg(kind=hg.HG_ARG_NUMBER, value=int(value))


class Program:
    """A program under construction over arrays of f32 with n elements each: whatever instruction there is, by its name."""

    def __init__(self, learnt, arrays):
        self.learnt, self.arrays, self.kept = learnt, arrays, []
        self.builder = hg.hg_builder_create(b"made")
        extent = hg.hg_dim(0, b"n")
        for register, name in enumerate(arrays, 1):
            hg.hg_builder_param_buffer(self.builder, register, name.encode(), hg.HG_TYPE_F32, hg.HG_PARAM_INOUT, ctypes.byref(extent), 1)
        hg.hg_builder_param_scalar(self.builder, 100, b"n", hg.HG_TYPE_U64)
        hg.hg_builder_lanes(self.builder, ctypes.byref(extent), 1)

    def add(self, mnemonic, *values, **named):
        forms = [op for op in self.learnt if op["mnemonic"] == mnemonic and sum(not o["named"] for o in op["operands"]) == len(values)]
        op = forms[0]
        positional = iter(values)
        unknown = set(named) - {o["name"] for o in op["operands"]}
        check(not unknown, f"{mnemonic} has no operands {unknown}")
        arguments = [argument(o, named.get(o["name"]) if o["named"] else next(positional)) for o in op["operands"]]
        self.kept += arguments
        kind = hg.HG_TYPE_F32 if op["suffixes"] else hg.HG_TYPE_COUNT
        hg.hg_builder_add(self.builder, op["opcode"], kind, hg.HG_TYPE_COUNT, (hg.hg_arg * len(arguments))(*arguments), len(arguments))

    def run(self, **values):
        program = made("hg_builder_build", hg.hg_program, self.builder, None)
        count = len(next(iter(values.values())))
        params, buffers = hg.hg_params_create(), {}
        for name in self.arrays:
            data = struct.pack(f"<{count}f", *values.get(name, [0] * count))
            buffers[name] = hg.hg_buffer()
            call("hg_backend_allocate_buffer", backend, len(data), ctypes.byref(buffers[name]))
            call("hg_buffer_write", backend, buffers[name], 0, data, len(data))
            call("hg_params_set_buffer", params, name.encode(), buffers[name])
        call("hg_backend_execute_program_with_params", backend, program, None, params)
        results = {}
        for name, buffer in buffers.items():
            data = ctypes.create_string_buffer(4 * count)
            call("hg_buffer_read", backend, buffer, 0, data, 4 * count)
            call("hg_backend_free_buffer", backend, buffer)
            results[name] = struct.unpack(f"<{count}f", data.raw)
        hg.hg_params_destroy(params)
        hg.hg_program_release(program)
        hg.hg_builder_destroy(self.builder)
        return results


LANE = 255 # r255: the lane's number


def of_registers(learnt, name, columns):
    """What an f32 instruction of registers makes of columns of values."""
    arrays = ["y"] + ["abc"[i] for i in range(len(columns))]
    program = Program(learnt, arrays)
    for i in range(len(columns)):
        program.add("ldg", 10 + i, (2 + i, LANE, 4))
    program.add(name, 20, *range(10, 10 + len(columns)))
    program.add("stg", (1, LANE, 4), 20)
    return program.run(**dict(zip(arrays[1:], columns)))["y"]


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


CASES = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": min, "max": max, "fma": lambda a, b, c: a * b + c,
         "fms": lambda a, b, c: a * b - c, "neg": lambda a: -a, "abs": abs, "floor": math.floor, "sqrt": math.sqrt, "mad": lambda a, b, c: f32(a * b) + c}


def runs(learnt):
    columns = [[1.5, 2.25, 9.0, 100.0], [0.5, -3.0, 4.0, 7.75], [-1.0, 8.0, 0.125, 2.0]]
    for name, function in CASES.items():
        used = columns[:function.__code__.co_argcount] if hasattr(function, "__code__") else columns[:1 if name in ("abs", "floor", "sqrt") else 2]
        got, expected = of_registers(learnt, name, used), [f32(function(*row)) for row in zip(*used)]
        check(list(got) == expected, f"{name} of {used}: expected {expected}, got {got}")
    # a comparison, whose condition is a word, and a predicate
    program = Program(learnt, ["x", "y"])
    program.add("ldg", 10, (1, LANE, 4))
    program.add("ldg", 11, (2, LANE, 4))
    program.add("set", "lt", 1, 10, 11)
    program.add("sel", 12, 1, 10, 11)
    program.add("stg", (1, LANE, 4), 12)
    check(program.run(x=[1, 5, 3], y=[4, 2, 3])["x"] == (1, 2, 3), "set and sel: the smaller ones")
    # a whole-array instruction, by the names of its operands
    program = Program(learnt, ["x", "y"])
    program.add("softmax", output=2, input=1, n=4)
    got = program.run(x=[0.0, math.log(2), math.log(3), math.log(4)])["y"]
    check(all(abs(value - (i + 1) / 10) < 1e-6 for i, value in enumerate(got)), f"softmax: {got}")


def mistakes():
    for function, structure, arguments, message in (
            ("hg_op_describe", hg.hg_op_description, (10**6,), f"there is no instruction form 1000000: there are {hg.hg_op_count()}, from 0"),
            ("hg_type_describe", hg.hg_type_description, (99,), "there is no type 99: there are 24, from 0")):
        try:
            ask(function, structure, *arguments)
            check(False, f"{function}{arguments} succeeds")
        except Failed as error:
            check(message in str(error), f"{function}{arguments}: {error}")


# ---- what the guide says of each call ----

def guide(interface):
    """The table of calls of docs/guide/c-api.md has every function of the library once, and nothing else."""
    text = read("docs", "guide", "c-api.md")
    part = re.search(r"^## Which call may wait$.*?(?=\n\n[^|\n]*\n\n\| callback)", text, re.M | re.S)[0]
    listed = [name for line in part.split("\n") if line.startswith("| `") for name in re.findall(r"`(hg_\w+)`", line.split(" | ")[0])]
    functions = {one["name"] for one in interface["functions"] if one["exported"]}
    for name in sorted(functions - set(listed)):
        check(False, f"docs/guide/c-api.md: the table of calls does not have {name}")
    for name in sorted(set(listed) - functions):
        check(False, f"docs/guide/c-api.md: the table of calls has {name}, which the library does not export")
    check(len(listed) == len(set(listed)), f"docs/guide/c-api.md: more than once in the table of calls: {sorted(n for n in set(listed) if listed.count(n) > 1)}")


def page():
    """docs/reference/reflection.md explains every word of the documents as hologram/reflect.def does."""
    text, table = read("docs", "reference", "reflection.md"), re.sub(r"/\*.*?\*/", "", read("include", "hologram", "reflect.def"), flags=re.S)
    rows = re.findall(r'^HG_\w+\(\w+,(?: \d+,)? "([^"]*)", "([^"]*)"\)', table, re.M)
    check(len(rows) == len(re.findall(r"^HG_", table, re.M)), "include/hologram/reflect.def: rows that this test does not read")
    for word, about in rows:
        check(f"| `{word}` | {about} |" in text, f"docs/reference/reflection.md does not say: {word}, {about}")


interface, hg = make_binding()
backend = made("hg_backend_create", hg.hg_backend, b"cpu", 0)
learnt = learn()
if sys.argv[1:2] == ["--instruction"]:
    name, *values, result = sys.argv[2:]
    got = of_registers(learnt, name, [[float(value)] for value in values])
    check(got == (float(result),), f"{name} of {values}: expected {result}, got {got}")
else:
    check_schema("interface", interface, "tools/interface")
    small_interface()
    instructions(learnt)
    descriptions()
    runs(learnt)
    mistakes()
    guide(interface)
    page()
hg.hg_backend_destroy(backend)
sys.exit(finish())

#!/usr/bin/python3
"""Writes the low layer of the npm package from the document of tools/interface.

    generate.py js INTERFACE.json > interface.js    functions, structures and values, for core.js
    generate.py c INTERFACE.json > layout.c         the same sizes and places of fields, checked by the compiler of hologram.wasm
    generate.py places webgpu.js > places.c         the same of the structures of webgpu_types.h that webgpu.js reads and writes
    generate.py core INTERFACE.json > core.txt      options of the linker: what hologram-core.wasm exports

The document has the layout of the machine that made it; wasm32's is worked out here: pointers and size_t have 4 bytes, everything
lies at a multiple of its size.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OPERATIONS = os.path.join(HERE, "..", "..", "include", "hologram", "operations.def")

# C type -> (form of a field, bytes, letter in a signature). Letters: i u 32 bits, l q 64 bits, b bool, f d floats, p address, s text.
NUMBERS = {"char": ("char", 1, "i"), "_Bool": ("bool", 1, "b"), "float": ("f32", 4, "f"), "double": ("f64", 8, "d"), "int": ("i32", 4, "i"),
           "unsigned int": ("u32", 4, "u"), "size_t": ("u32", 4, "u")}
for bits in (8, 16, 32, 64):
    NUMBERS[f"int{bits}_t"] = (f"i{bits}", bits // 8, "l" if bits == 64 else "i")
    NUMBERS[f"uint{bits}_t"] = (f"u{bits}", bits // 8, "q" if bits == 64 else "u")


class Layout:
    """Forms, sizes and places of everything in the document."""

    def __init__(self, document):
        self.rows = {one["name"]: one for one in document["structs"]}
        self.enums = {one["name"] for one in document["enums"]}
        self.names = {one["name"]: one["type"] for one in document["types"]}
        self.made = {}

    def field(self, text):
        """(form, bytes of one, alignment, count) of a type as C writes it."""
        text = text.strip()
        count = 0
        if text.endswith("]"):
            text, _, length = text[:-1].rpartition("[")
            text, count = text.strip(), int(length)
        if text.endswith(("*", "*const")) or text.startswith("function "):
            is_text = text.removesuffix("const").strip() in ("const char *", "char *")
            return ("text" if is_text else "ptr"), 4, 4, count
        text = text.removeprefix("const ")
        text = self.names.get(text, text)
        if text in self.enums:
            return "i32", 4, 4, count
        if text in NUMBERS:
            form, size, _ = NUMBERS[text]
            return form, size, size, count
        size, alignment, _ = self.structure(text)
        return text, size, alignment, count

    def structure(self, name):
        """(bytes, alignment, [(field, form, place, count)])"""
        if name not in self.made:
            at, most, fields = 0, 1, []
            for one in self.rows[name]["fields"]:
                form, size, alignment, count = self.field(one["type"])
                at = (at + alignment - 1) // alignment * alignment
                fields.append((one["name"], form, at, count))
                at += size * max(count, 1)
                most = max(most, alignment)
            self.made[name] = ((at + most - 1) // most * most, most, fields)
        return self.made[name]

    def letter(self, text):
        """What stands for a parameter or result in a signature. A structure of one number is passed as that number."""
        text = text.strip()
        if text == "void":
            return "v"
        bare = self.names.get(text.removeprefix("const "), text.removeprefix("const "))
        if bare in self.enums:
            return "i"
        if bare in NUMBERS:
            return NUMBERS[bare][2]
        if bare in self.rows:
            fields = self.rows[bare]["fields"]
            return self.letter(fields[0]["type"]) if len(fields) == 1 else "S"
        return "s" if text == "const char *" else "p"

    def signature(self, function):
        """The letter of the result, then those of the parameters; a structure that comes back is a first parameter, S."""
        result = self.letter(function["result"])
        letters = "".join(self.letter(one["type"]) for one in function["parameters"])
        return ("vS" if result == "S" else result) + letters


def exported(document):
    return sorted((one for one in document["functions"] if one["exported"]), key=lambda one: one["name"])


def known(document):
    return sorted((one for one in document["structs"] if one["fields"]), key=lambda one: one["name"])


def write_js(document, layout, out):
    out.write(f"// Generated from the interface of Hologram {document['library']} by bindings/npm/generate.py: do not edit.\n")
    out.write(f"export const version = '{document['library']}';\n")
    out.write("// name: result, then parameters. i u 32 bits, l q 64 bits, b bool, f d floats, p address, s text, S a structure by its address\n")
    out.write("export const functions = {\n")
    out.write("".join(f"  {one['name']}: '{layout.signature(one)}',\n" for one in exported(document)) + "};\n")
    out.write("// name: bytes, then field:form@place or field:form*count@place\nexport const structures = {\n")
    for one in known(document):
        size, _, fields = layout.structure(one["name"])
        text = " ".join(f"{name}:{form}{f'*{count}' if count else ''}@{at}" for name, form, at, count in fields)
        out.write(f"  {one['name']}: '{size} {text}',\n")
    out.write("};\nexport const values = {\n")
    for one in document["enums"]:
        out.write("".join(f"  {value['name']}: {value['value']},\n" for value in one["values"]))
    out.write("};\n// operations on tensors: how many results each has\nexport const operations = {\n")
    with open(OPERATIONS, encoding="utf-8") as file:
        for name, results in re.findall(r"^OPERATION\(\w+, (\w+), \d+, \d+, (\d+),", file.read(), re.M):
            out.write(f"  {name}: {results},\n")
    out.write("};\n")


def write_c(document, layout, out):
    out.write(f"/* Generated by bindings/npm/generate.py: what interface.js says of structures, compared with the compiler's layout. */\n")
    for header in sorted({one["header"] for one in known(document)}):
        out.write(f"#include <{header}>\n")
    out.write("#include <stddef.h>\n")
    for one in known(document):
        size, _, fields = layout.structure(one["name"])
        out.write(f'_Static_assert(sizeof({one["name"]}) == {size}, "{one["name"]}");\n')
        for name, _, at, _ in fields:
            out.write(f'_Static_assert(offsetof({one["name"]}, {name}) == {at}, "{one["name"]}.{name}");\n')


PROGRAMS = {"program.h", "builder.h", "tree.h", "backend.h", "launch.h", "diagnostics.h", "status.h", "type.h", "version.h"}
NOT_CORE = {"graph.h", "tensor.h", "emit.h"}


def write_core(document, layout, out):
    """Headers of programs and their launches; of others what the package's own objects call, but those of graphs, tensors and WebGPU."""
    folder, called = os.path.join(HERE, "src"), set()
    for name in sorted(set(os.listdir(folder)) - {"graph.js", "tensor.js", "webgpu.js"}):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            called.update(re.findall(r"\bhg_\w+", file.read()))
    for one in exported(document):
        header = os.path.basename(one["header"])
        if header in PROGRAMS or (one["name"] in called and header not in NOT_CORE):
            out.write(f"--export={one['name']}\n")


def write_places(text, out):
    table = re.search(r"^const PLACES = \{\n(.*?)^\};", text, re.M | re.S)[1]
    out.write("/* Generated by bindings/npm/generate.py: places of fields that webgpu.js has, compared with the compiler's layout. */\n"
              '#include "backends/webgpu/webgpu_types.h"\n')
    for name, fields in re.findall(r"^  (\w+): '([^']*)',", table, re.M):
        for field, at in (one.split("@") for one in fields.split()):
            what = f"sizeof({name})" if field == "sizeof" else f"offsetof({name}, {field})"
            out.write(f'_Static_assert({what} == {at}, "{name}.{field}");\n')


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        if sys.argv[1] == "places":
            write_places(file.read(), sys.stdout)
            sys.exit()
        read = json.load(file)
    {"js": write_js, "c": write_c, "core": write_core}[sys.argv[1]](read, Layout(read), sys.stdout)

#!/usr/bin/python3
"""Writes hologram/_interface.py, the C interface for Python's ctypes, from the document of tools/interface.

    generate.py INTERFACE.json > _interface.py

Nothing is declared when the module is imported: a function, structure, callback type or value is made when it is first asked for
(PEP 562), so that the import costs a dictionary of texts and no library is opened. Pointers that are passed are c_void_p, which
takes None, addresses, ctypes' arrays and byref(); texts are c_char_p; pointers that come back or lie in structures are of what
they point to, where that is a structure with fields or a number.
"""
import json
import sys

BASIC = {"void": "None", "char": "c_char", "int": "c_int", "unsigned int": "c_uint", "_Bool": "c_bool", "float": "c_float", "double": "c_double",
         "size_t": "c_size_t", **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}

HEAD = '''# Generated from the interface of Hologram {library} by bindings/python/generate.py: do not edit.
"""The C functions of the library, declared when they are first used: _interface.hg_version_text()."""
import ctypes as _ctypes
import os as _os

VERSION = "{library}"


def _find():
    """The library: that of the extension, else of the package, else of HOLOGRAM_LIBRARY, else of a build folder."""
    try:
        from . import _native
        return _native.library()
    except ImportError:
        pass
    beside = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "lib")
    if _os.path.isdir(beside):
        for name in sorted(_os.listdir(beside)):
            if name.startswith("libhologram.so") or name == "libhologram.dylib":
                return _os.path.realpath(_os.path.join(beside, name))
    if _os.environ.get("HOLOGRAM_LIBRARY"):
        return _os.environ["HOLOGRAM_LIBRARY"]
    if _os.environ.get("HG_BUILD_DIR"):
        return _os.path.join(_os.environ["HG_BUILD_DIR"], "libhologram.so")
    raise ImportError("hologram: there is no libhologram.so in " + beside + ": set HOLOGRAM_LIBRARY to its path")


def load(path=None):
    """Opens the library at that path, or where it is found; later calls give the same."""
    library = globals().get("library")
    if library is None:
        library = _ctypes.CDLL(path or _find())
        globals()["library"] = library
    return library


def _type(text):
    if text == "None":
        return None
    if text[0] == "&":
        return _ctypes.POINTER(_type(text[1:]))
    element, _, count = text.rpartition("*")
    if element:
        return _type(element) * int(count)
    return globals()[text] if text in globals() else getattr(_ctypes, text) if text.startswith("c_") else __getattr__(text)


def _types(text):
    result, *parameters = [_type(word) for word in text.split()]
    return result, parameters


def _structure(name):
    size, _, fields = _structures[name].partition(" ")
    made = type(name, (_ctypes.Structure,), {{}})
    globals()[name] = made
    if fields:
        fields = [field.split(":") for field in fields.split()]
        made._fields_ = [(field, _type(kind)) for field, kind, _ in fields]
        if [_ctypes.sizeof(made)] + [getattr(made, field).offset for field, _, _ in fields] != [int(size)] + [int(at) for _, _, at in fields]:
            raise ImportError("hologram: " + name + " lies otherwise here than in the interface")
    return made


def __getattr__(name):
    if name in _values:
        made = _values[name]
    elif name in _functions:
        made = load()[name]
        made.__name__ = name
        made.restype, made.argtypes = _types(_functions[name])
    elif name in _structures:
        return _structure(name)
    elif name in _enums:
        made = {{value: _values[value] for value in _enums[name].split()}}
    elif name in _callbacks:
        result, parameters = _types(_callbacks[name])
        made = _ctypes.CFUNCTYPE(result, *parameters)
    elif name == "library":
        return load()
    else:
        raise AttributeError("hologram._interface has no " + name)
    globals()[name] = made
    return made


def __dir__():
    return sorted([*globals(), *_values, *_functions, *_structures, *_enums, *_callbacks])


'''


class Types:
    def __init__(self, interface):
        self.structures = {one["name"] for one in interface["structs"]} | {one["name"] for one in interface["types"] if one["type"] == "struct"}
        self.known = {one["name"] for one in interface["structs"] if one["fields"]}
        self.enums = {one["name"] for one in interface["enums"]}
        self.names = {one["name"]: one["type"] for one in interface["types"] if one["type"] in BASIC}  # other names of numbers
        self.functions = {one["name"] for one in interface["types"] if one["type"].startswith("function ")}

    def of(self, text, passed=False):
        """The word for a type that is written as C does; passed: of a parameter."""
        text = text.strip()
        if text.endswith("]"):
            element, _, count = text[:-1].rpartition("[")
            return f"{self.of(element)}*{count}"
        text = text.removesuffix("const").strip()
        if text.startswith("function ") or text in self.functions:
            return "c_void_p"
        if text.endswith("*"):
            inner = text[:-1].strip()
            if inner == "const char":
                return "c_char_p"
            inner = self.of(inner) if not inner.endswith(("*", "*const")) else "None"
            return "c_void_p" if passed or inner in ("None", "c_char", "c_void_p") or inner in self.structures - self.known else "&" + inner
        text = text.removeprefix("const ")
        text = self.names.get(text, text)
        return "c_int" if text in self.enums else text if text in self.structures else BASIC[text]

    def signature(self, result, parameters):
        return " ".join([self.of(result), *(self.of(one, passed=True) for one in parameters)])


def split(text):
    """What stands between the commas outside of parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def write(interface, out):
    types = Types(interface)
    out.write(HEAD.format(library=interface["library"]))
    tables = {"_values": {}, "_enums": {}, "_structures": {name: "0" for name in types.structures}, "_callbacks": {}, "_functions": {}}
    for one in interface["enums"]:
        tables["_values"].update((value["name"], value["value"]) for value in one["values"])
        if one["name"]:
            tables["_enums"][one["name"]] = " ".join(value["name"] for value in one["values"])
    for one in interface["structs"]:
        if one["fields"]:
            tables["_structures"][one["name"]] = " ".join(
                [str(one["size"]), *(f"{field['name']}:{types.of(field['type'])}:{field['offset']}" for field in one["fields"])])
    for one in interface["types"]:
        if one["type"].startswith("function "):
            result, _, parameters = one["type"].removeprefix("function ").partition(" (")
            tables["_callbacks"][one["name"]] = types.signature(result, split(parameters[:-1]))
    for one in interface["functions"]:
        if one["exported"]:
            tables["_functions"][one["name"]] = types.signature(one["result"], [parameter["type"] for parameter in one["parameters"]])
    for name, table in tables.items():
        out.write(f"{name} = {{\n" + "".join(f"    {key!r}: {value!r},\n" for key, value in sorted(table.items())) + "}\n")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        write(json.load(file), sys.stdout)

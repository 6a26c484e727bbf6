"""A binding for Python's ctypes from the document of tools/interface: what any generator of bindings does, in its smallest form.

    generate.py INTERFACE.json > binding.py

binding.load(PATH) opens the library; then every exported function is a function of the module, every structure a class, every value of an enum
a name.
"""
import json
import sys

BASIC = {"void": None, "char": "c_char", "int": "c_int", "_Bool": "c_bool", "float": "c_float", "double": "c_double", "size_t": "c_size_t",
         **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}

HEAD = '''# Generated from the interface of Hologram {library}: do not edit.
import ctypes
from ctypes import *

_functions = {{}}


def load(path):
    """Opens the library and declares its functions."""
    library = ctypes.CDLL(path)
    for name, (result, parameters) in _functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
        globals()[name] = function
    return library


'''


class Types:
    def __init__(self, interface):
        self.structs = {one["name"] for one in interface["structs"]} | {one["name"] for one in interface["types"] if one["type"] == "struct"}
        self.enums = {one["name"] for one in interface["enums"]}
        self.names = {one["name"]: one["type"] for one in interface["types"] if one["type"] in BASIC}  # other names of numbers

    def of(self, text):
        """The type of ctypes that a type as C writes it is."""
        text = text.strip()
        if text.endswith("]"):
            element, _, count = text[:-1].rpartition("[")
            return f"{self.of(element)} * {count}"
        if text.startswith("function "):
            return "c_void_p"
        if text.endswith("*const"):
            return self.of(text[:-5])
        if text.endswith("*"):
            inner = text[:-1].strip().removeprefix("const ")
            inner = self.names.get(inner, inner)
            if inner in ("void", "char") or inner not in BASIC and inner not in self.structs | self.enums and not inner.endswith(("*", "*const")):
                return {"char": "c_char_p"}.get(inner, "c_void_p")
            return f"POINTER({self.of(inner)})"
        text = text.removeprefix("const ")
        text = self.names.get(text, text)
        return "c_int" if text in self.enums else text if text in self.structs else BASIC[text]


def write(interface, out):
    types = Types(interface)
    out.write(HEAD.format(library=interface["library"]))
    for one in interface["enums"]:
        out.writelines(f"{value['name']} = {value['value']}\n" for value in one["values"])
    for name in sorted(types.structs):
        out.write(f"\n\nclass {name}(Structure):\n    pass\n")
    comments = {one["name"]: one["comment"] for one in interface["structs"]}
    for one in ordered(interface["structs"]):
        fields = ", ".join(f"({field['name']!r}, {types.of(field['type'])})" for field in one["fields"])
        out.write(f"\n{one['name']}.__doc__ = {comments[one['name']]!r}\n")
        if one["fields"]:
            out.write(f"{one['name']}._fields_ = [{fields}]\nassert sizeof({one['name']}) == {one['size']}\n")
            out.writelines(f"assert {one['name']}.{field['name']}.offset == {field['offset']}\n" for field in one["fields"])
    for one in interface["functions"]:
        if one["exported"]:
            parameters = ", ".join(types.of(parameter["type"]) for parameter in one["parameters"])
            out.write(f"_functions[{one['name']!r}] = ({types.of(one['result'])}, [{parameters}])\n")


def ordered(structs):
    """Structures that hold others behind these."""
    done, left = [], list(structs)
    while left:
        names = {one["name"] for one in left}
        ready = [one for one in left if not any(field["type"].split("[")[0] in names for field in one["fields"])]
        done += ready
        left = [one for one in left if one not in ready]
    return done


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        write(json.load(file), sys.stdout)

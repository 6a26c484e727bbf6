"""Reads files of ONNX: models and tensors as ONNX's node tests have them, without its package. What is read are fields of protocol buffers by their
numbers (onnx.proto3 of ONNX)."""
import struct

import numpy as np

TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}  # TensorProto.DataType
NAMES = {8: "string", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz",
         21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2"}


class Other(Exception):
    """What the reader or the runner has no form of, as a word."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """Number of a field -> its values: integers, or bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def integers(values):
    """A repeated field, packed or not."""
    result = []
    for value in values:
        if isinstance(value, int):
            result.append(signed(value))
            continue
        at = 0
        while at < len(value):
            one, at = varint(value, at)
            result.append(signed(one))
    return result


def tensor(data):
    fields = message(data)
    kind, shape = fields.get(2, [0])[0], integers(fields.get(1, []))
    if kind not in TYPES:
        raise Other(NAMES.get(kind, f"type {kind}"))
    dtype = np.dtype(TYPES[kind])
    if 9 in fields:
        return np.frombuffer(fields[9][0], dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    if dtype.kind == "f" and dtype.itemsize != 2:
        values = np.frombuffer(b"".join(fields.get(4 if dtype.itemsize == 4 else 10, [])), dtype)
    else:
        values = np.array(integers(fields.get(7 if kind == 7 else 11 if kind in (12, 13) else 5, [])), "i8")
        values = values.astype("u2").view("f2") if dtype == "f2" else values.astype(dtype)
    return values.reshape(shape)


def attribute(fields):
    """AttributeProto: its value."""
    kind = fields.get(20, [0])[0]
    if kind == 1:
        return struct.unpack("<f", fields[2][0])[0]
    if kind == 2:
        return signed(fields.get(3, [0])[0])
    if kind == 3:
        return fields.get(4, [b""])[0].decode()
    if kind == 4:
        return tensor(fields[5][0])
    if kind == 6:
        return list(np.frombuffer(b"".join(fields.get(7, [])), "<f4"))
    if kind == 7:
        return integers(fields.get(8, []))
    raise Other("an attribute that is a graph or another kind")


def text(fields, number):
    return fields.get(number, [b""])[0].decode()


class Node:
    def __init__(self, data, opsets):
        fields = message(data)
        self.inputs, self.outputs = ([name.decode() for name in fields.get(number, [])] for number in (1, 2))
        domain = text(fields, 7)
        self.operator, self.opset, self.fields = (domain + "." if domain else "") + text(fields, 4), opsets.get(domain, 0), fields.get(5, [])

    def attributes(self):
        found = (message(data) for data in self.fields)
        return {text(fields, 1): attribute(fields) for fields in found}


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            fields = message(file.read())
        opsets = {text(f, 1): f.get(2, [0])[0] for f in map(message, fields.get(8, []))}
        graph = message(fields[7][0])
        self.nodes = [Node(data, opsets) for data in graph.get(1, [])]
        self.initial = {text(message(data), 8): data for data in graph.get(5, [])}
        self.inputs, self.outputs = ([text(message(data), 1) for data in graph.get(number, [])] for number in (11, 12))
        kinds = [message(message(data)[2][0]) for number in (11, 12) for data in graph.get(number, [])]
        self.of_tensors = all(1 in kind for kind in kinds)  # else sequences, maps or optional values


def read_tensor(path):
    with open(path, "rb") as file:
        return tensor(file.read())

#!/usr/bin/python3
"""Compares what the Atlas programs found with what NumPy finds from the same weights.

    check.py digits FILE      FILE holds 1,797 recognised digits (.npy u8, or raw bytes)
    check.py logits FILE.npy  outputs of the last layer, f32 [1797, 10]
    check.py right LINE       how many are right, as examples/tensors/digits.c says it
    check.py png FILE         the contact sheet: a PNG that decodes, with the colours of wrong digits in it
"""
import os
import struct
import sys
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def numpy_logits():
    w = {name: np.load(os.path.join(HERE, "weights", name + ".npy")) for name in ("w1", "b1", "w2", "b2")}
    x = np.load(os.path.join(HERE, "data", "images.npy")).astype(np.float32) / np.float32(16)
    return np.maximum(x @ w["w1"] + w["b1"], 0) @ w["w2"] + w["b2"]


def check_digits(path):
    found = np.load(path) if path.endswith(".npy") else np.fromfile(path, dtype=np.uint8)
    labels = np.load(os.path.join(HERE, "data", "labels.npy"))
    expected = numpy_logits().argmax(axis=1)
    if found.shape != (1797,) or found.dtype != np.uint8:
        return f"expected u8 [1797], got {found.dtype} {list(found.shape)}"
    different = np.flatnonzero(found != expected)
    if len(different):
        return f"{len(different)} digits differ from NumPy's, the first is row {different[0]}: {found[different[0]]}, not {expected[different[0]]}"
    held_out = np.arange(1797) % 4 == 3
    right = int((found == labels)[held_out].sum())
    if right < 0.96 * 449:
        return f"only {right} of 449 held-out digits are right"
    print(f"every digit as NumPy has it; {right} of 449 held-out digits right")
    return None


def check_logits(path):
    found, expected = np.load(path), numpy_logits()
    if found.shape != expected.shape or found.dtype != np.float32:
        return f"expected f32 {list(expected.shape)}, got {found.dtype} {list(found.shape)}"
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"largest difference to NumPy: {worst:.2g} of the largest output")
    # 64 terms in f32, added in another order: each of at most 128 roundings is at most 2^-24 of a partial sum.
    return None if worst < 128 * 2.0 ** -24 else f"outputs differ by {worst:.2g}"


def check_right(line):
    right = numpy_logits().argmax(axis=1) == np.load(os.path.join(HERE, "data", "labels.npy"))
    expected = f"{right.sum()} of 1797 digits right, {right[3::4].sum()} of 449 unseen ones"
    return None if line == expected else f"'{line}', '{expected}' expected"


def check_png(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return "no PNG signature"
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if zlib.crc32(kind + body) != struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]:
            return f"bad checksum of {kind}"
        if kind == b"IHDR":
            header = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    width, height, depth, colour = header
    if (depth, colour) != (8, 2) or len(zlib.decompress(packed)) != height * (1 + 3 * width):
        return f"expected 8-bit RGB, got depth {depth}, colour type {colour}"
    print(f"{width}x{height} RGB")
    return None


problem = {"digits": check_digits, "logits": check_logits, "right": check_right, "png": check_png}[sys.argv[1]](sys.argv[2])
if problem:
    print(problem)
    sys.exit(1)

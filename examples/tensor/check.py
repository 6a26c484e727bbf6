#!/usr/bin/python3
"""Compares what the programs of this folder made with what NumPy makes of the same files: check.py matmul.npy edges.npy …"""
import os
import sys
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "digits")


def matmul():
    return np.load(os.path.join(DIGITS, "weights", "w1.npy")) @ np.load(os.path.join(DIGITS, "weights", "w2.npy"))


def photograph():
    """Grey pixels of a PNG file of 8 bits whose rows are filtered in any way."""
    with open(os.path.join(HERE, "data", "stairs.png"), "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        if kind == b"IHDR":
            width, height = (int.from_bytes(data[at + 8 + i:at + 12 + i], "big") for i in (0, 4))
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    picture = np.zeros((height + 1, width + 1), int)  # a row above and a column in front
    for y, row in enumerate(rows):
        how, above, here = row[0], picture[y], picture[y + 1]
        for x in range(width):
            a, b, c = here[x], above[x + 1], above[x]
            near = min((a, b, c), key=lambda v: abs(a + b - c - v))  # pylint: disable=cell-var-from-loop
            here[x + 1] = (row[x + 1] + (0, a, b, (a + b) // 2, near)[how]) & 255
    return picture[1:, 1:].astype(np.float32)


def edges():
    x = np.pad(photograph(), 1)
    across = sum(weight * (x[i:i + 512, 2:] - x[i:i + 512, :-2]) for i, weight in enumerate((1, 2, 1)))
    down = sum(weight * (x[2:, i:i + 512] - x[:-2, i:i + 512]) for i, weight in enumerate((1, 2, 1)))
    return np.minimum(np.hypot(across, down), 255)


def spectrogram():
    sound = np.fromfile(os.path.join(HERE, "data", "sound.wav"), np.int16)[22:]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(512) / 512)
    frames = np.stack([sound[at:at + 512] * window for at in range(0, 246 * 128, 128)])
    loud = np.abs(np.fft.rfft(frames)[:, :256])
    return np.minimum(42 * np.log10(np.maximum(loud, 1)), 255)[:, ::-1].T


def recall():
    digits = np.load(os.path.join(DIGITS, "data", "images.npy")).astype(np.float64)
    upper = digits[:, :32] / np.sqrt(1 + (digits[:, :32] ** 2).sum(1, keepdims=True))
    scores = 60 * upper[-24:] @ upper[:-24].T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    found = weights @ digits[:-24] / weights.sum(1, keepdims=True)
    asked = digits[-24:].copy()
    asked[:, 32:] = 0
    parts = [np.pad(x.reshape(24, 8, 8).transpose(1, 0, 2).reshape(8, 192), ((0, 2), (0, 0))) for x in (digits[-24:], asked, found)]
    return 255 - 15 * np.concatenate(parts).repeat(4, 0).repeat(4, 1)


def main():
    makes = {f"{make.__name__}.npy": make for make in (matmul, edges, spectrogram, recall)}
    for path in sys.argv[1:]:
        got, expected = np.load(path), makes[os.path.basename(path)]()
        if got.shape != expected.shape:
            sys.exit(f"{path}: expected {list(expected.shape)}, got {list(got.shape)}")
        room = 1e-5 if got.dtype == np.float32 else 2  # pixels are cut to whole numbers; what is nearly silent has few digits of f32
        wrong = np.abs(got - expected) > room
        if wrong.any():
            sys.exit(f"{path}: {int(wrong.sum())} of {wrong.size} differ from NumPy's, the first at {np.argwhere(wrong)[0]}")
        print(f"{path}: as NumPy has it")


main()

"""Checks a picture and a line of tensor_heat against the same steps by NumPy: heat_check.py PICTURE.png N STEPS LINE."""
import struct
import sys
import zlib

import numpy as np


def steps(n, count):
    u = np.zeros((n, n), np.float32)
    u[0] = 1
    u[n * 3 // 8:n * 5 // 8, n * 3 // 8:n * 5 // 8] += 1
    for _ in range(count):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += (around - u[1:-1, 1:-1] * np.float32(4)) * np.float32(0.2)
    return u


def pixels(path):
    """The chunks with their sums checked, and the rows, none of which is filtered."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", body)
            assert form == [8, 2, 0, 0, 0], form
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kind == b"IEND"
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


picture, n, count, line = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
u = steps(n, count)
expected = np.clip(u[:, :, None] * 3 - np.arange(3), 0, 1) * 255 + 0.5
difference = np.abs(pixels(picture).astype(int) - expected.astype(int)).max()
mean = float(line.rsplit(": ", 1)[1])
if difference > 1 or abs(mean - u.mean(dtype=np.float64)) > 1e-5:
    sys.exit(f"colours differ by up to {difference}, the mean is {mean}, NumPy's {u.mean(dtype=np.float64)}")

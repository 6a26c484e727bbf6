"""Writes an array of u8 [height, width, 3] as a PNG."""
import struct
import zlib


def write_png(path, picture):
    height, width, _ = picture.shape
    data = picture.tobytes()
    rows = b"".join(b"\0" + data[3 * width * y:3 * width * (y + 1)] for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

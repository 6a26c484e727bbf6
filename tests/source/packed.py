#!/usr/bin/python3
"""Texts that cmake/texts.cmake packs are the files' when zlib unpacks them: also through links, and from folders whose names the locale cannot
say.

    packed.py CMAKE        ends with "N passed, N failed, N skipped"
"""
import os
import re
import subprocess
import sys
import tempfile
import zlib

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXTS = {"empty": b"", "short": b"; a \xc3\xbc\n", "long": b"".join(b"add x%d, x%d, %d\n" % (i, i * i % 97, i ** 5) for i in range(5000)), "linked": b"behind a link\n"}


def unpacked(text):
    found = re.findall(r"data_(\w+)\[\] = \{([^}]*)\};\nstatic char text_\w+\[(\d+) \+ 1\]", text)
    texts = {name: zlib.decompress(bytes(int(one, 16) for one in items.split(",") if one.strip()), -15) for name, items, _ in found}
    return texts if all(len(texts[name]) == int(length) for name, _, length in found) else None


def main():
    failed = []
    for sources, build in (("plain", "build"), ("über", "build"), ("plain", "über")):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, build)
            for path in {sources, build}:
                os.mkdir(os.path.join(folder, path))
            paths = [os.path.join(folder, sources, name + ".atlas") for name in TEXTS]
            for path, text in zip(paths, TEXTS.values()):
                with open(path, "wb") as file:
                    file.write(text)
            os.rename(paths[-1], os.path.join(folder, "elsewhere"))
            os.symlink(os.path.join(folder, "elsewhere"), paths[-1])
            done = subprocess.run([sys.argv[1], "-DOUT=" + os.path.join(out, "made.c"), "-DPREFIX=text", "-DTEXTS=" + ";".join(paths), "-P",
                                   os.path.join(SOURCE, "cmake", "texts.cmake")], cwd=out, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
            made = ""
            if done.returncode == 0:
                with open(os.path.join(out, "made.c"), encoding="utf-8") as file:
                    made = file.read()
            if unpacked(made) != TEXTS or os.listdir(out) != ["made.c"]:
                failed.append(f"{sources}, {build}: {done.stderr.decode(errors='replace')}")
    print("\n".join(failed))
    print(f"{3 - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

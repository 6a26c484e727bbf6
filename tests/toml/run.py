"""Documents through the library's reader of TOML and through Python's: what ours reads has the same
keys and values there, what Python refuses ours refuses, and what our part of the language can say is
read."""
import os
import random
import subprocess
import sys
import tomllib

BUILD = os.environ["HG_BUILD_DIR"]
KINDS = {0: str, 1: int, 2: bool, 3: list}
passed = failed = 0


def check(good, what):
    global passed, failed
    passed += good
    failed += not good
    if not good and failed < 20:
        print(f"FAILED: {what}")


def flat(table, prefix=""):
    """Keys as our reader writes them."""
    found = {}
    for key, value in table.items():
        bare = key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
        part = key if bare else '"' + "".join(f"\\{ord(c):02x}" if c in '"\\\0' else c for c in key) + '"'
        if isinstance(value, dict):
            found.update(flat(value, prefix + part + "."))
        else:
            found[prefix + part] = value
    return found


def word(r):
    return r.choice(["a", "b", "c", "a-b", "0", "_", "x1", "true", "inf"])


def key(r):
    parts = []
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        parts.append(r.choice([word(r), word(r), f'"{word(r)}"', f"'{word(r)} {word(r)}'", '"\\u00e9"', "''"]))
    return r.choice([".", " . ", ".", "\t."]).join(parts)


def integer(r):
    n = r.choice([0, 1, 7, 12, 255, 4096, 2**31, 2**63 - 1, r.getrandbits(40)])
    return r.choice([str(n), f"+{n}", f"-{n}", f"{n:_}", f"0x{n:x}", f"0x{n:X}", f"0o{n:o}", f"0b{n:b}", "-9223372036854775808"])


def string(r):
    body = "".join(r.choice(["a", "Z", " ", "#", "é", "😀", "\t", "=", "[", "]"]) for _ in range(r.randrange(6)))
    if r.random() < 0.5:
        return "'" + body + "'"
    return '"' + body + "".join(r.choice(["\\n", "\\t", '\\"', "\\\\", "\\u0041", "\\U0001F600", "x"]) for _ in range(r.randrange(4))) + '"'


def value(r):
    gap = lambda: r.choice(["", " ", "\n", " # c\n", "\t", "\r\n"])
    kind = r.randrange(5)
    if kind == 0:
        return r.choice(["true", "false"])
    if kind == 1:
        return string(r)
    if kind == 2:
        items = [gap() + integer(r) + gap() for _ in range(r.randrange(5))]
        return "[" + ",".join(items) + (r.choice(["", ","]) if items else "") + gap() + "]"
    return integer(r)


def document(r):
    out = []
    for _ in range(r.randrange(12)):
        kind = r.randrange(8)
        end = r.choice(["\n", "\r\n", " # x\n", "\t\n"])
        if kind == 0:
            out.append(end)
        elif kind < 3:
            out.append(f"[{r.choice(['', ' '])}{key(r)}{r.choice(['', ' '])}]{end}")
        else:
            out.append(f"{r.choice(['', '  '])}{key(r)}{r.choice(['=', ' = '])}{value(r)}{end}")
    return "".join(out)


def spoil(r, text):
    """Any bytes: one is put in, left out or changed; or something our part of the language lacks."""
    data = bytearray(text.encode())
    for _ in range(r.randrange(1, 3)):
        at = r.randrange(len(data) + 1)
        kind = r.randrange(4)
        if kind == 0:
            data[at:at] = r.choice([b"\"", b"'", b"[", b"]", b"=", b".", b"#", b"\n", b"\r", b"\0", b"\x7f", b"\xc3", b"_", b"0", b"e1", b".5", b"{}", b"[[", b"'''", b"1979-05-27", b"\\"])
        elif kind == 1 and at < len(data):
            del data[at]
        elif at < len(data):
            data[at] = r.choice(b"ab01=.[]\"'#\n _-+:,")
    return bytes(data).replace(b"\x1e", b"?")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    r = random.Random(seed)
    texts = [document(r).encode() for _ in range(count)]
    texts += [spoil(r, document(r)) for _ in range(count)]
    run = subprocess.run([os.path.join(BUILD, "tests", "test_toml"), "print"], input=b"\x1e".join(texts), stdout=subprocess.PIPE, check=False)
    check(run.returncode == 0, f"test_toml print ends with {run.returncode}")
    lines = iter(run.stdout.decode("utf-8", "surrogateescape").split("\n"))
    read = refused = both = 0
    for i, text in enumerate(texts):
        ours, why = {}, None
        for line in lines:
            if line == ".":
                break
            if line.startswith("! "):
                why = line
                break
            kind, rest = line.split(" ", 1)
            name, data = rest.rsplit(" ", 1)
            ours[name] = (KINDS[int(kind)], bytes.fromhex(data).decode())
        try:
            theirs = flat(tomllib.loads(text.decode("utf-8-sig" if text.startswith(b"\xef\xbb\xbf") else "utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            theirs = None
        if theirs is None:
            refused += 1
            check(why is not None, f"seed {seed}, document {i}: {text!r}: read, and Python refuses it")
        elif why is not None:
            both += 1
            check(i >= count, f"seed {seed}, document {i}: {text!r}: {why}")
        else:
            read += 1
            said = {k: ",".join(map(str, v)) if isinstance(v, list) else str(v).lower() if isinstance(v, bool) else str(v) for k, v in theirs.items()}
            check({k: v for k, (_, v) in ours.items()} == said and all(type(theirs[k]) is t for k, (t, _) in ours.items()),
                  f"seed {seed}, document {i}: {text!r}: {ours} for {theirs}")
    check(read > count / 4 and refused > count / 4, f"{read} read by both, {refused} refused by Python")
    print(f"{read} documents read by both, {refused} refused by both, {both} of the rest of the language")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())

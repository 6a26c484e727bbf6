#!/usr/bin/python3
"""`hologram build --target wasm` in Node: modules that stand alone compute the bits of `hologram run`, SHA-256 those of hashlib, fault by value, and what
cannot be built is refused by name.

    tests/wasm/alone.py
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
COMMAND = os.path.join(BUILD, "hologram")
FAULT = 64  # bytes of NAME_fault

# stdin: modules, [{file, calls: [{name, args: [{array: bytes} | {scalar, type}], skew}]}]; stdout: of each, for each call {code, fault, arrays}, or what was
# thrown. Arrays begin `skew` bytes behind a multiple of 64; a workspace is behind them.
RUN = """
const fs = require('fs');
const results = async (given) => {
  const bytes = fs.readFileSync(given.file);
  const { module, instance } = await WebAssembly.instantiate(bytes);
  if (WebAssembly.Module.imports(module).length) throw new Error('it imports something');
  const { memory, __heap_base: base } = instance.exports;
  return given.calls.map(({ name, args, skew = 0 }) => {
    let at = base.value;
    const places = [];
    const values = args.flatMap((one) => {
      if (one.array === undefined) return [one.big ? BigInt(one.scalar) : Number(one.scalar)];
      const data = Buffer.from(one.array, 'base64');
      at = Math.ceil(at / 64) * 64 + skew;
      const end = at + data.length;
      if (end > memory.buffer.byteLength) memory.grow(Math.ceil((end - memory.buffer.byteLength) / 65536));
      new Uint8Array(memory.buffer, at, data.length).set(data);
      places.push([at, data.length]);
      const place = one.pointer ? [at] : [at, data.length];
      at = end;
      return place;
    });
    const size = instance.exports[name + '_work_bytes'];
    if (size) {
      const bytes = size(...args.filter((one) => one.array === undefined).map((one) => (one.big ? BigInt(one.scalar) : Number(one.scalar)))) >>> 0;
      at = Math.ceil(at / 64) * 64;
      if (at + bytes > memory.buffer.byteLength) memory.grow(Math.ceil((at + bytes - memory.buffer.byteLength) / 65536));
      values.push(at, bytes);
    }
    const code = instance.exports[name](...values);
    const fault = Buffer.from(new Uint8Array(memory.buffer, instance.exports[given.fault].value, %d)).toString('base64');
    return { code, fault, arrays: places.map(([from, n]) => Buffer.from(new Uint8Array(memory.buffer, from, n)).toString('base64')) };
  });
};
(async () => {
  const found = [];
  for (const given of JSON.parse(fs.readFileSync(0, 'utf8'))) found.push(await results(given).catch((error) => ({ error: error.stack })));
  console.log(JSON.stringify(found));
})();
""" % FAULT

def counts():
    """Each lane has nine numbers of both types: eight for an atomic operation each, cas where it does not find what it expects and where it does;
    the last becomes what all of them found."""
    lines = ["mul at, global, 9"]
    for array, kind, size, found, all_found in (("x", "i32", 4, "a", "b"), ("y", "i64", 8, "c", "d")):
        place = lambda i, array=array, size=size: "[%s + at*%d + %d]" % (array, size, i * size)
        lines.append("ldg %s, %s" % (all_found, place(8)))
        for i, op in enumerate(("add", "min", "max", "and", "or", "xor", "exch")):
            lines += ["atom.%s.%s %s, %s, %s" % (op, kind, found, place(i), all_found), "mad %s, %s, 31, %s" % (all_found, all_found, found)]
        for expected, value in ((all_found, found), (found, all_found)):
            lines += ["ldg %s, %s" % (found, place(7)), "atom.cas.%s %s, %s, %s, %s" % (kind, found, place(7), expected, value),
                      "mad %s, %s, 31, %s" % (all_found, all_found, found)]
        lines.append("stg %s, %s" % (place(8), all_found))
    return (".atlas 1\n.program counts\n.param x buffer i32 inout\n.param y buffer i64 inout\n.param n u64\n.lanes n\n.reg a, b i32\n.reg c, d i64\n"
            ".reg at u64\n" + "".join("    %s\n" % line for line in lines))


OWN = {
    # Every operation of f64 that has no instruction in WebAssembly, and numbers of all sizes among the scalars.
    "fused": ".atlas 1\n.program fused\n.param x buffer f64 in [n]\n.param y buffer f64 inout [n]\n.param a f64\n.param n u64\n.lanes n\n"
             "    y[global] = fma(x[global], a, y[global])\n",
    "halves": ".atlas 1\n.program halves\n.param x buffer f16 in [n]\n.param y buffer f32 out [n]\n.param n u32\n.param k i8\n.lanes n\n"
              "    y[global] = f32(x[global]) * f32(k)\n",
    "wide": ".atlas 1\n.program wide\n.param x buffer u128 inout [n]\n.param a u128\n.param n u32\n.lanes n\n    x[global] = x[global] * a + 1\n",
    # Lanes of a block that keep more from barrier to barrier than a host's stack has room for.
    "keeps": ".atlas 1\n.program keeps\n.param x buffer u32 inout [n]\n.param n u64\n.block 1024\n.shared t u32 [1024]\n.lanes n\n.reg v[16] u32\n"
             ".for i, 0, 16\n    v[i] = x[global] * u32(i + 3)\n.end\n    t[lane_idx_x] = x[global]\n    bar.sync 0\n    let s u32 = t[1023 - lane_idx_x]\n"
             ".for i, 0, 16\n    s = s * 31 + v[i]\n.end\n    x[global] = s\n",
    "blocks": ".atlas 1\n.program blocks\n.param x buffer u32 out [n]\n.param n u64\n.block 12, 5, 3\n.lanes n\n"
              "    x[global] = lane_idx_x + 100 * lane_idx_y + 10000 * lane_idx_z + 1000000 * block_idx_x\n",
    # Sums over blocks whose rows are no whole turns, the last of which has fewer lanes.
    "sums": ".atlas 1\n.program sums\n.param x buffer u8 in [n]\n.param y buffer u32 out [n]\n.param z buffer u64 out [n]\n.param n u64\n"
            ".block 12, 5, 3\n.lanes n\n    let v = x[global]\n    let s = bscan.add(v)\n    let a u32 = u32(s)\n    bscan.min v, v, exclusive=true\n"
            "    let w u32 = u32(v) * 40503 + 1\n    a = a * 31 + w\n    bscan.mul w, w, exclusive=true\n    y[global] = a ^ w\n"
            "    let d u64 = u64(a) * u64(w)\n    let e = breduce.max(d)\n    bscan.xor d, d\n    z[global] = d * 3 + e\n",
    # Two kernels, one behind the other.
    "turned": ".atlas 1\n.program turned\n.param x buffer u32 inout [n]\n.param y buffer u32 out [n]\n.param n u64\n.lanes n\n    x[global] += 7\n"
              "    bar.grid\n    y[global] = x[n - 1 - global]\n",
    "gather": ".atlas 1\n.program gather\n.param x buffer u32 in\n.param k buffer u32 in [n]\n.param y buffer u32 out [n]\n.param n u64\n.param m u64\n"
              ".lanes n\n.reg at u64\n    at = u64(k[global]) * 4\n.reg v u32\n    ldg v, [x + at]\n    y[global] = v\n",
    "counts": counts(),
    # More parameters than a word has bits: memory by a number is none of the pools.
    "many": ".atlas 1\n.program many\n.param a0 pool 64\n" + "".join(".param a%d buffer u64 inout [1]\n" % i for i in range(1, 70)) +
            ".lanes 1\n.reg h, z, v u64\n    ldg z, [a1[0]]\n    add h, a64, z\n    mov v, 7\n    stg [buf(h) + 0], v\n",
    "quotient": ".atlas 1\n.program quotient\n.param x buffer i32 in [n]\n.param y buffer i32 out [n]\n.param n u64\n.lanes n\n    y[global] = 100 / x[global]\n",
}


def random(kind, n, seed):
    made = np.random.default_rng(seed)
    if kind.startswith("f"):
        return made.normal(0, 2, n).astype(kind)
    least = np.iinfo(kind).min
    return made.integers(least, least + (1 << 8 * np.dtype(kind).itemsize), n, np.dtype(kind))


# name, text, arrays, scalars: type and value, names of what is written
WORKS = [
    ("axpy", "examples/programs/axpy.atlas", {"x": random("f4", 1003, 1), "y": random("f4", 1003, 2)}, {"alpha": ("f32", 0.3), "n": ("u64", 1003)}, ["y"]),
    ("collatz", "examples/programs/collatz.atlas", {"start": random("u2", 555, 4).astype("u8") + 1, "steps": np.zeros(555, "u4")}, {"n": ("u64", 555)},
     ["steps"]),
    ("chain", "bench/devices/chain.atlas", {"x": random("f4", 5001, 3), "y": np.zeros(5001, "f4")}, {"a": ("f32", 0.75), "b": ("f32", 0.5), "n": ("u64", 5001)},
     ["y"]),
    ("mandelbrot", "bench/devices/mandelbrot.atlas", {"y": np.zeros(48 * 48, "u4")},
     {"step": ("f32", float(np.float32(1 / 16))), "w": ("u32", 48), "n": ("u64", 48 * 48)}, ["y"]),
    ("nbody", "bench/devices/nbody.atlas", {**{name: random("f4", 77, i) for i, name in enumerate("xyzm")}, "a": np.zeros(231, "f4")},
     {"eps": ("f32", 0.01), "n": ("u64", 77)}, ["a"]),
    ("transpose", "TRANSPOSE", {"x": random("f4", 64 * 64, 5), "y": np.zeros(64 * 64, "f4")}, {"w": ("u32", 64)}, ["y"]),
    ("matmul", "examples/programs/matmul.atlas", {"a": random("f4", 50 * 33, 6), "b": random("f4", 33 * 41, 7), "c": np.zeros((50, 41), "f4")},
     {"m": ("u64", 50), "n": ("u64", 41), "k": ("u64", 33)}, ["c"]),
    ("fused", None, {"x": random("f8", 333, 8), "y": random("f8", 333, 9)}, {"a": ("f64", 1.7), "n": ("u64", 333)}, ["y"]),
    ("halves", None, {"x": random("f2", 65, 10), "y": np.zeros(65, "f4")}, {"n": ("u32", 65), "k": ("i8", -3)}, ["y"]),
    ("wide", None, {"x": random("u8", 2 * 19, 11)}, {"a": ("u128", 3 ** 70), "n": ("u32", 19)}, ["x"]),
    ("keeps", None, {"x": random("u4", 3000, 12)}, {"n": ("u64", 3000)}, ["x"]),
    ("turned", None, {"x": random("u4", 5000, 14), "y": np.zeros(5000, "u4")}, {"n": ("u64", 5000)}, ["x", "y"]),
    ("blocks", None, {"x": np.zeros(1000, "u4")}, {"n": ("u64", 1000)}, ["x"]),
    ("sums", None, {"x": random("u1", 1000, 17), "y": np.zeros(1000, "u4"), "z": np.zeros(1000, "u8")}, {"n": ("u64", 1000)}, ["y", "z"]),
    ("counts", None, {"x": random("i4", 9 * 29, 15), "y": random("i8", 9 * 29, 16)}, {"n": ("u64", 29)}, ["x", "y"]),
]
# instruction of a program -> words of the refusal
REFUSED = {
    "fft": (".atlas 1\n.program f\n.param x buffer f32 in [n, 2]\n.param y buffer f32 out [n, 2]\n.param n u64\n.lanes 1\n"
            "    fft output=y, input=x, n=n, inverse=false, batch=1\n", ["fft", "--set"]),
    "lanes": (".atlas 1\n.program l\n.param x buffer f32 inout [4]\n    x[global] = 1\n", [".lanes"]),
    "memory": (".atlas 1\n.program memory\n.param x buffer f32 inout [4]\n.lanes 4\n    x[global] = 1\n", ["memory"]),
}
failed = []
passed = 0


def check(name, good, what=""):
    global passed  # pylint: disable=global-statement
    if good:
        passed += 1
    else:
        failed.append("%s: %s" % (name, what))


def text_of(name, path):
    if path is None:
        return OWN[name]
    with open(os.path.join(SOURCE, "bench/devices/transpose.atlas" if path == "TRANSPOSE" else path), encoding="utf-8") as file:
        text = file.read()
    return text.replace(".block 16,16", ".block 16,16\n.grid 4,4") if path == "TRANSPOSE" else text


def build(folder, name, text, *more):
    path = os.path.join(folder, name + ".atlas")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([COMMAND, "build", "--target", "wasm", path, "-o", os.path.join(folder, name + ".wasm"), *more], capture_output=True, text=True)


def params(folder, name):
    with open(os.path.join(folder, name + ".atlas"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.startswith(".param")]
    return [next(word for word in line[1:] if not (word[0] == "r" and word[1:].isdigit())) for line in lines]


def arguments(order, arrays, scalars):
    """What the function takes, in the order of the program's parameters."""
    import base64  # pylint: disable=import-outside-toplevel
    made = []
    for name in order:
        if name in arrays:
            made.append({"array": base64.b64encode(arrays[name].tobytes()).decode()})
        elif name in scalars:
            kind, value = scalars[name]
            if kind == "u128":
                made.append({"array": base64.b64encode(value.to_bytes(16, "little")).decode(), "pointer": True})
            else:
                made.append({"scalar": str(value), "big": kind in ("u64", "i64")})
    return made


def in_node(modules):
    done = subprocess.run(["node", "-e", RUN], input=json.dumps(modules), capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise SystemExit("node: %s" % done.stderr[-600:])
    return json.loads(done.stdout)


def module(folder, name, *calls, skew=0):
    return {"file": os.path.join(folder, name + ".wasm"), "fault": name + "_fault", "calls": [{"name": name, "args": args, "skew": skew} for args in calls]}


def node(folder, name, *calls, skew=0):
    answers, = in_node([module(folder, name, *calls, skew=skew)])
    if "error" in answers:
        raise SystemExit("%s: node: %s" % (name, answers["error"][-600:]))
    return answers


def by_run(folder, name, arrays, scalars, outs):
    """The bytes that `hologram run` writes."""
    line = [COMMAND, "run", os.path.join(folder, name + ".atlas"), "--backend", "cpu"]
    for key, value in arrays.items():
        value.tofile(os.path.join(folder, key + ".in"))
        line += ["--in", "%s=raw:%s" % (key, os.path.join(folder, key + ".in"))] if key not in outs or value.any() else []
    for key, (_, value) in scalars.items():
        line += ["--set", "%s=%s" % (key, value)]
    for key in outs:
        if not arrays[key].any():
            extents = ",".join(str(n) for n in arrays[key].shape)
            line += ["--shape", "%s=%s[%s]" % (key, {"f4": "f32", "u4": "u32", "f8": "f64", "u8": "u64"}[arrays[key].dtype.str[1:]], extents)]
        line += ["--out", "%s=raw:%s" % (key, os.path.join(folder, key + ".out"))]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("%s: hologram run: %s" % (name, done.stderr))
    found = {}
    for key in outs:
        with open(os.path.join(folder, key + ".out"), "rb") as file:
            found[key] = file.read()
    return found


def works(folder):
    import base64  # pylint: disable=import-outside-toplevel
    for name, path, arrays, scalars, outs in WORKS:
        done = build(folder, name, text_of(name, path))
        check(name, done.returncode == 0, done.stderr)
        if done.returncode:
            continue
        order = params(folder, name)
        args = arguments(order, arrays, scalars)
        wanted = by_run(folder, name, arrays, scalars, outs)
        given = [key for key in order if key in arrays or scalars.get(key, ("",))[0] == "u128"]
        for skew, answers in enumerate(in_node([module(folder, name, args, skew=skew) for skew in (0, 1)])):
            if "error" in answers:
                check(name, False, "arrays %d bytes behind a multiple of 64: %s" % (skew, answers["error"][-300:]))
                continue
            check(name, answers[0]["code"] == 0, "code %d" % answers[0]["code"])
            for key in outs:
                check(name, base64.b64decode(answers[0]["arrays"][given.index(key)]) == wanted[key], "%s differs from hologram run's" % key)


def digests(folder):
    import base64  # pylint: disable=import-outside-toplevel
    name, n = "sha256", 37
    messages = random("u1", 64 * n, 13)
    done = build(folder, name, text_of(name, "examples/programs/sha256.atlas"))
    check(name, done.returncode == 0, done.stderr)
    answer = node(folder, name, arguments(["messages", "digests", "n"], {"messages": messages, "digests": np.zeros(32 * n, "u1")}, {"n": ("u64", n)}))[0]
    wanted = b"".join(hashlib.sha256(messages[64 * i:64 * i + 64].tobytes()).digest() for i in range(n))
    check(name, base64.b64decode(answer["arrays"][1]) == wanted, "no digests of hashlib's")


def fields(answer):
    import base64  # pylint: disable=import-outside-toplevel
    raw = base64.b64decode(answer["fault"])
    word, long = lambda at: int.from_bytes(raw[at:at + 4], "little"), lambda at: int.from_bytes(raw[at:at + 8], "little")
    return {"code": word(0), "instruction": word(4), "operand": word(8), "bytes": word(12), "lane": long(16), "offset": long(24), "limit": long(40),
            "handle": long(48)}


# Calls with memory that is not the caller's: [code, parameter].
OUTSIDE = """
WebAssembly.instantiate(require('fs').readFileSync(process.argv[1])).then(({ instance: { exports: e } }) => {
  const base = e.__heap_base.value, end = e.memory.buffer.byteLength, view = new DataView(e.memory.buffer);
  const call = (...args) => [e.wide(...args), Number(view.getBigUint64(e.wide_fault.value + 48, true))];
  console.log(JSON.stringify([call(base, 16, base + 16, 1), call(base, 16, end - 16, 1), call(end - 16, 16, base, 1), call(base, 16, end - 15, 1),
    call(base, 16, 0xfffffff8, 1), call(end - 15, 16, base, 1), call(0xfffffff0, 16, base, 1), call(0, 16, base, 1), call(base - 1, 16, base, 1),
    call(base, 16, undefined, 1), call(0, 0, base, 0), call(base, 16, base, 2)]));
});
"""


def not_the_callers(folder):
    done = build(folder, "wide", OWN["wide"])
    check("outside", done.returncode == 0, done.stderr)
    done = subprocess.run(["node", "-e", OUTSIDE, os.path.join(folder, "wide.wasm")], capture_output=True, text=True)
    check("outside", done.returncode == 0, done.stderr[-300:])
    wanted = [[0, 0]] * 3 + [[-1, 2]] * 2 + [[-1, 1]] * 4 + [[-1, 2], [0, 0], [-1, 1]]
    check("outside", done.stdout and json.loads(done.stdout) == wanted, done.stdout)


def faults(folder):
    x = np.arange(1, 5002, dtype="i4")
    args = lambda x, n, y=None: arguments(["x", "y", "n"], {"x": x, "y": np.zeros(5001, "i4") if y is None else y}, {"n": ("u64", n)})
    done = build(folder, "quotient", OWN["quotient"])
    check("quotient", done.returncode == 0, done.stderr)
    zero = x.copy()
    zero[[4500, 4097, 4800]] = 0
    beyond = args(x, 5001)
    huge = args(x, 1 << 40)
    answers = node(folder, "quotient", args(x, 5001), args(zero, 5001), args(x, 5002), huge, args(x, 0), beyond, args(x, 5001, np.zeros(0, "i4")))
    check("no fault", answers[0]["code"] == 0, str(fields(answers[0])))
    division = fields(answers[1])
    check("division", answers[1]["code"] == 2 and division["code"] == 2 and division["lane"] == 4097, str(division))
    bounds = fields(answers[2])
    check("extents", answers[2]["code"] == -1 and (bounds["offset"], bounds["limit"], bounds["handle"]) == (20008, 20004, 1), str(bounds))
    check("lanes", answers[3]["code"] == -1, str(answers[3]["code"]))
    check("none", answers[4]["code"] == 0, str(answers[4]["code"]))
    check("again", answers[5]["code"] == 0, "a call after a fault: %d" % answers[5]["code"])
    check("empty", answers[6]["code"] == -1 and fields(answers[6])["handle"] == 2, "an array of no bytes: %s" % fields(answers[6]))
    # No launch leaves what the one before said.
    answers = node(folder, "quotient", args(x, 5002), huge)
    check("lanes", fields(answers[1]) == dict.fromkeys(fields(answers[1]), 0) | {"code": 2 ** 32 - 1}, str(fields(answers[1])))
    not_the_callers(folder)
    done = build(folder, "many", OWN["many"])
    check("many", done.returncode == 0, done.stderr)
    answers = node(folder, "many", arguments(["a%d" % i for i in range(70)], {"a%d" % i: np.zeros(8 if i == 0 else 1, "u8") for i in range(70)}, {}))
    check("many", answers[0]["code"] == 0 and [i for i, data in enumerate(answers[0]["arrays"]) if data[0] != "A"] == [64], str(fields(answers[0])))
    done = build(folder, "gather", OWN["gather"])
    check("gather", done.returncode == 0, done.stderr)
    places = np.arange(5000, dtype="u4") % 77
    good = places.copy()
    places[[4999, 4200, 4300]] = [77, 1 << 30, 78]
    answers = node(folder, "gather", *(arguments(["x", "k", "y", "n", "m"], {"x": np.arange(77, dtype="u4"), "k": k, "y": np.zeros(5000, "u4")},
                                                 {"n": ("u64", 5000), "m": ("u64", 77)}) for k in (places, good)))
    outside = fields(answers[0])
    check("gather", answers[0]["code"] == 1 and (outside["lane"], outside["offset"], outside["bytes"], outside["limit"], outside["handle"]) ==
          (4200, 1 << 32, 4, 308, 1), str(outside))
    check("gather", answers[1]["code"] == 0, str(fields(answers[1])))


# ---- random programs, those of tests/differential ----

BYTES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "f64": 8}
PARAM = re.compile(r"^\.param (?:r\d+ )?(\w+) (\w+)(?: (\w+))?(?: (in|out|inout))?(?: \[(\d+)\])?$", re.M)


def random_case(folder, seed):
    """What Node is to run, and what `hologram run` says: (code, instruction, lane), or arrays by their number. None: it is not built."""
    import base64  # pylint: disable=import-outside-toplevel
    made = np.random.default_rng(seed)
    kinds = ([], ["--rounds"], ["--places"])[seed % 3]
    printed = subprocess.run([os.path.join(BUILD, "tests", "differential"), "--print", "--seed", str(seed), "--count", "1", "--short", "--reference-only",
                              *kinds], capture_output=True, text=True, check=True, cwd=folder)
    text = next(one[one.index(".atlas 1"):] for one in (printed.stdout, printed.stderr) if ".atlas 1" in one)
    block = [None, (8, 1, 1), (12, 5, 3), (64, 1, 1), (5, 7, 1)][made.integers(5)]
    launch = ".grid %d, %d, %d\n" % tuple(made.integers(1, 4, 3)) if made.integers(2) else ".lanes %d\n" % made.choice([1, 7, 9, 64, 100, 257, 600])
    head = ".program random_%d\n%s%s" % (seed, ".block %d, %d, %d\n" % block if block else "", launch)
    text = re.sub(r"^\.program .*\n", head, text, flags=re.M)
    text = re.sub(r"^\d+ passed.*\n", "", text, flags=re.M)
    name = "random_%d" % seed
    if build(folder, name, text).returncode:
        return None
    line, args, outs = [COMMAND, "run", os.path.join(folder, name + ".atlas"), "--backend", "cpu"], [], {}
    encoded = lambda data: base64.b64encode(data).decode()
    for key, kind, element, way, count in PARAM.findall(text):
        if kind == "pool":
            args.append({"array": encoded(bytes(int(element)))})
        elif kind == "buffer":
            data = made.bytes(int(count) * BYTES[element] if count else int(made.choice([3072, 50176, 100352])))
            path = os.path.join(folder, name + key)
            with open(path, "wb") as file:
                file.write(data)
            line += ["--in", "%s=raw:%s" % (key, path)]
            if way != "in":
                line += ["--out", "%s=raw:%s" % (key, path)]
                outs[sum("array" in one for one in args)] = path
            args.append({"array": encoded(data)})
        else:
            value = str(made.choice([0, 1, 5, 100])) # of integers
            line += ["--set", "%s=%s" % (key, value)]
            args.append({"scalar": value, "big": BYTES[kind] == 8})
    done = subprocess.run([*line, "--json"], capture_output=True, text=True)
    wanted = {}
    for number, path in outs.items():
        with open(path, "rb") as file:
            wanted[number] = encoded(file.read())
    if done.returncode:
        first = next(one for one in json.loads(done.stdout)["diagnostics"] if one["code"][0] == "F")
        wanted = (int(first["code"][1:]), first["instruction"], first["lane"])
    return module(folder, name, args, skew=int(made.integers(9))), wanted


def randoms(folder, count):
    if not os.path.exists(os.path.join(BUILD, "tests", "differential")):
        print("not run: random programs, tests/differential is not built")
        return
    cases = [case for case in (random_case(folder, seed) for seed in range(1, count + 1)) if case]
    right = faulty = 0
    for (given, wanted), answers in zip(cases, in_node([given for given, _ in cases])):
        name = given["calls"][0]["name"]
        if "error" in answers:
            check(name, False, answers["error"][-300:])
        elif isinstance(wanted, tuple):
            found = fields(answers[0])
            check(name, (found["code"], found["instruction"], found["lane"]) == wanted, "%s, hologram run: %s" % (found, wanted))
            faulty += 1
        else:
            check(name, answers[0]["code"] == 0 and all(answers[0]["arrays"][at] == data for at, data in wanted.items()), "%s: other bits" % answers[0]["code"])
            right += 1
    check("random programs", right >= count // 4 and faulty >= count // 8, "%d of %d are built and right, %d fault" % (right, count, faulty))


def exports(folder, name):
    done = subprocess.run(["node", "-e", "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1])).then(({instance}) => console.log(Object.keys("
                           "instance.exports).sort().join()))", os.path.join(folder, name + ".wasm")], capture_output=True, text=True)
    return done.stdout.strip() + done.stderr


def refusals(folder):
    for name, (text, words) in REFUSED.items():
        done = build(folder, name, text)
        check(name, done.returncode != 0 and all(word in done.stderr for word in words), "%r in %r" % (words, done.stderr))
        check(name, not os.path.exists(os.path.join(folder, name + ".wasm")), "a module is written all the same")
    names = ["p" * 200, "p" * 200 + "q"]
    paths = [os.path.join(folder, "long%d.atlas" % i) for i in range(2)]
    for path, long_name in zip(paths, names):
        with open(path, "w", encoding="utf-8") as file:
            file.write(".atlas 1\n.program %s\n.param x buffer u32 inout [n]\n.param n u64\n.lanes n\n    x[global] += 7\n" % long_name)
    done = subprocess.run([COMMAND, "build", "--target", "wasm", *paths, "-o", os.path.join(folder, "long")], capture_output=True, text=True)
    check("long names", done.returncode == 0, done.stderr)
    check("long names", exports(folder, "long") == ",".join(["__heap_base", "long_fault", *("long_" + one for one in names), "memory"]), exports(folder, "long"))
    done = subprocess.run([COMMAND, "build", "--target", "x86", os.path.join(folder, "axpy.atlas"), "-o", os.path.join(folder, "t")], capture_output=True, text=True)
    check("target", done.returncode == 2 and "wasm" in done.stderr, done.stderr)
    done = build(folder, "axpy", text_of("axpy", "examples/programs/axpy.atlas"), "--library")
    check("--library", done.returncode == 2 and "--library" in done.stderr, done.stderr)
    two = [os.path.join(folder, name + ".atlas") for name in ("fused", "wide")]
    done = subprocess.run([COMMAND, "build", "--target", "wasm", *two, "-o", os.path.join(folder, "both")], capture_output=True, text=True)
    check("two programs", done.returncode == 0, done.stderr)
    check("two programs", exports(folder, "both") == "__heap_base,both_fault,both_fused,both_wide,memory", exports(folder, "both"))


def main():
    if not shutil.which("node"):
        print("skipped: node is not installed (Debian: nodejs)\n0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory() as folder:
        works(folder)
        digests(folder)
        faults(folder)
        refusals(folder)
        randoms(folder, 48)
    for line in failed[:20]:
        print(line)
    print("%d passed, %d failed, 0 skipped" % (passed, len(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""`hologram build --target wasm` of whole-array instructions, workspaces, values that the host computes, and array graphs, in Node: the bits and faults of
`hologram run`, and what is refused. Problems, programs and graphs are those of tests/build.

    tests/wasm/whole.py [--long]
"""
import array
import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.setdefault("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
COMMAND = os.path.join(BUILD, "hologram")
sys.path += [os.path.join(SOURCE, "tests", name) for name in ("support", "build", "tensor")]
import arrays as of_build  # noqa: E402
import products  # noqa: E402
import layers  # noqa: E402
import transforms  # noqa: E402
from operation import Problem, lines_of  # noqa: E402

# stdin: [{file, fault, calls: [{name, symbols: [text], arrays: [base64], scalars: [text], missing, own}]}]: symbols (BigInts) come first, then arrays and
# scalars (BigInts). A function that takes a workspace gets one, of 0x5a, `missing` bytes too small, with bytes behind it that nobody may touch. `nowhere`: arrays of no bytes are at 0. `anyway`: where no memory holds its
# workspace it is called too. stdout: of each call what came of it.
RUN = """
const fs = require('fs');
const results = async (given) => {
  const module = await WebAssembly.compile(fs.readFileSync(given.file));
  if (WebAssembly.Module.imports(module).length) throw new Error('it imports something');
  const { exports } = await WebAssembly.instantiate(module);
  const { memory, __heap_base: base } = exports;
  return given.calls.map(({ name, symbols = [], arrays, scalars, missing = 0, own = false, nowhere = false, anyway = false }) => {
    let at = base.value;
    const numbers = scalars.map(BigInt), first = symbols.map(BigInt);
    const place = (length) => {
      const from = Math.ceil(at / 64) * 64;
      at = from + length + 8;
      if (at > memory.buffer.byteLength) memory.grow(Math.ceil((at - memory.buffer.byteLength) / 65536));
      return from;
    };
    const places = arrays.map((text) => {
      const data = Buffer.from(text, 'base64'), from = nowhere && !data.length ? 0 : place(data.length);
      new Uint8Array(memory.buffer, from, data.length).set(data);
      return [from, data.length];
    });
    const values = [...first, ...places.flat(), ...numbers];
    let guard = true, behind = 0;
    if (exports[name + '_work_bytes']) {
      const bytes = (exports[name + '_work_bytes'](...first, ...numbers) >>> 0);
      if (bytes > 2 ** 30 && !anyway) return { bytes };
      if (bytes > 2 ** 30) own = true;
      const from = own ? 0 : place(bytes);
      behind = from + bytes;
      if (!own) new Uint8Array(memory.buffer, from, bytes + 8).fill(0x5a);
      values.push(from, Math.max(bytes - missing, 0));
    }
    const code = exports[name](...values);
    if (behind && !own) guard = new Uint8Array(memory.buffer, behind, 8).every((byte) => byte === 0x5a);
    const view = new DataView(memory.buffer, exports[given.fault].value, 64);
    const bytes = new Uint8Array(memory.buffer);
    const text = view.getUint32(56, true);
    const message = text ? Buffer.from(bytes.subarray(text, bytes.indexOf(0, text))).toString() : '';
    return { code, guard, message, instruction: view.getUint32(4, true), operand: view.getUint32(8, true), lane: String(view.getBigUint64(16, true)),
      values: [24, 32, 40, 48].map((at) => String(view.getBigUint64(at, true))),
      arrays: places.map(([from, n]) => Buffer.from(bytes.slice(from, from + n)).toString('base64')) };
  });
};
(async () => {
  const found = [];
  for (const given of JSON.parse(fs.readFileSync(0, 'utf8'))) found.push(await results(given).catch((error) => ({ error: error.stack })));
  console.log(JSON.stringify(found));
})();
"""

# Values that the host computes, branches and loops of its own around whole-array instructions; what lanes keep from kernel to kernel. The number n decides.
HOSTS = {
    "rounds": (".param x buffer f32 inout [200]\n.param n u64",
               "    for i in 0 .. n {\n        parallel_map.f32 x, x, neg, 200\n        if i % 3 == 1 {\n            parallel_map_binary.f32 [x], [x], [x], add, 100\n        }\n    }\n", 1,
               (0, 1, 2, 7)),
    "counted": (".param x buffer f32 inout [500]\n.param n u64\n.reg m u64", "    mul m, n, 3\n    add m, m, 7\n    shr m, m, 1\n    parallel_map.f32 x, x, exp, m\n", 1,
                (0, 1, 250, 331, 400, 2**40, 2**63)),
    "kept": (".param x buffer f32 inout [300]\n.param n u64\n.reg v, w f32\n.reg at u64",
             "    ldg v, [x[global]]\n    mul w, v, 3.0\n    bar.grid\n    mov at, n\n    sub at, at, 1\n    sub at, at, global\n    stg [x[at]], w\n    bar.grid\n    ldg w, [x[global]]\n"
             "    add w, w, v\n    bar.grid\n    stg [x[global]], w\n", "n", (1, 17, 300, 301)),
    "nothing": (".param x buffer f32 inout [9]\n.param n u64", "    parallel_map.f32 x, x, neg, 9\n", "n", (0, 1, 300)),
    "spread": (".param x buffer f32 inout [64]\n.param y buffer f32 inout [64]\n.param n u64\n.scratch t f32 [n]\n.scratch u f32 [n + 5]",
               "    t[global] = x[global]\n    bar.grid\n    y[global] = t[n - 1 - global] + u[global]\n", "n", (0, 1, 64, 65)),
}
IN_C = "the C text has it"
# directives and code, words of the refusal, values of --set with which it is built
REFUSED = {
    "open": (".param x buffer f32 inout [n]\n.param n u64", "    softmax output=x, input=x, n=n, rows=1\n", ["softmax", "--set", IN_C], ["--set", "n=5"]),
    "open_sort": (".param x buffer f32 inout [n]\n.param n u64", "    sort output=x, input=x, outer=1, n=n, inner=1\n", ["sort", "--set"], ["--set", "n=5"]),
    "half_sum": (".param x buffer f16 in [n]\n.param n u64\n.reg s f16\n.param y buffer f16 out [1]", "    parallel_reduce.f16 s, x, sum, n\n    stg [y[0]], s\n",
                 ["parallel_reduce", "--set"], ["--set", "n=300"]),
    "large": (".param x buffer f32 inout [64]", "    sort output=x, input=x, outer=1, n=64, inner=1\n" * 20000, ["large", "at most 7654321"], None),
    "pools": (".param x buffer u64 out [1]\n.reg h u64", "    pool.alloc h, 4096\n    stg [x[0]], h\n", ["pool.alloc"], None),
}
# Reductions whose count comes with the call, to a register and to memory: type, operation, and the counts: ends of rows, chunks and levels of the tree.
REDUCTIONS = [("f32", "sum", (0, 1, 2, 127, 128, 129, 300, 4095, 4096, 4097, 4096 * 3 + 129, 4096 * 130 + 7)), ("f64", "sum", (0, 5, 4096 * 2 + 1)), ("f32", "product", (0, 77, 5000)),
              ("i16", "min", (0, 200, 9000)), ("u64", "max", (0, 130, 4099)), ("u8", "sum", (0, 255, 4096 * 4096 + 4099))]
FOLDS = """.atlas 1
.program folds
.param x buffer %(type)s in [m]
.param y buffer %(type)s out [3]
.param m u64
.param n u64
.reg s %(type)s
.lanes 1
    parallel_reduce.%(type)s s, x, %(operation)s, n
    stg [y[0]], s
    bar.grid
    parallel_reduce.%(type)s [y + %(second)d], x, %(operation)s, n
    stg [y[2]], s
"""
# Graphs whose extents come with the call: text, elements of inputs and outputs, and numbers of their symbols, with some of which there is no such graph.
OPEN = {
    # expressions, slots that values of other sizes use again, views from an offset and with strides, a scalar of 32 bits
    "slots": (""".extent n, m
.program twice "twice.atlas"
.program ends "ends.atlas"
.input x f32 [n, m]
.input z f32 [max(n - 3, 1)]
.view turned = x permuted (1, 0)
.view tail = x + (n - 1) * m f32 [m]
.view odd = x + 1 strides (2) f32 [n * m / 2]
a = parallel_map neg, in=x
b = parallel_map abs, in=a
c = parallel_map exp, in=turned
d f32 [m] = @twice x=tail, n=m, by=2.5, from=0
e = parallel_map relu, in=odd
f f32 [max(n - 3, 1)] = parallel_map neg, in=z
g f32 [m] = @ends x=d, y=tail, n=m
h = parallel_map exp, in=b
s = parallel_reduce sum, in=h
.output c
.output e
.output f
.output g
.output s
""", lambda n, m: ({"x": n * m, "z": max(n - 3, 1)}, {"c": n * m, "e": n * m // 2, "f": max(n - 3, 1), "g": m, "s": 1}),
              [(4, 6), (5, 2), (97, 33), (1, 2), (3, 4), (0, 5), (2, 0), (2**40, 2**40), (2**63, 1), (7, 2**33)]),
}
ENDS = """.atlas 1
.program ends
.param x buffer f32 in [n]
.param y buffer f32 in [n]
.param z buffer f32 out [n]
.param n u32
.lanes n
    z[global] = x[global] - y[n - 1 - u32(global)]
"""
# h has m * 2^17 bytes.
OUTER = """.graph 1
.name outer
.extent m
.input x f32 [m, 1]
.input w f32 [1, 32768]
h = gemm a=x, b=w
y = softmax input=h
z = gemm a=y, trans_a=true, b=x
.output z
"""
failed = []
passed = 0


def check(good, what):
    global passed  # pylint: disable=global-statement
    if good:
        passed += 1
    else:
        failed.append(what)


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


class Command:
    """What tests/build/arrays.py asks of its caller to run a program."""
    command = COMMAND
    run = staticmethod(run)


def built(name, *words):
    status, out, err = run(COMMAND, "build", "--target", "wasm", *words, "-o", name)
    check(status == 0, "build %s: %s%s" % (words, out, err[:500]))
    return status == 0


def in_node(modules):
    done = subprocess.run(["node", "-e", RUN], input=json.dumps(modules), capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise SystemExit("node: %s" % done.stderr[-600:])
    return json.loads(done.stdout)


def call(function, arrays, scalars=(), **more):
    return {"name": function, "arrays": [base64.b64encode(a).decode() for a in arrays], "scalars": [str(one) for one in scalars], **more}


def answers(name, calls):
    found, = in_node([{"file": os.path.abspath(name + ".wasm"), "fault": name + "_fault", "calls": calls}])
    if isinstance(found, dict):
        check(False, "%s: %s" % (name, found["error"][-500:]))
        return [None] * len(calls)
    return found


def compare(what, arrays, expected, found):
    """What `hologram run` says, (message, arrays), and what a call made of the arrays."""
    message, results = expected
    if found is None:
        return
    if message:
        same = re.search(r"instruction (\d+)", message)
        check(found["code"] > 0 and found["message"] in message and (not same or int(same[1]) == found["instruction"]),
              "%s: %s, hologram run: %s" % (what, {key: found[key] for key in ("code", "message", "instruction", "values")}, message[:300]))
        return
    check(found["code"] == 0 and found["guard"], "%s: %s" % (what, {key: found[key] for key in ("code", "guard", "message", "instruction", "values")}))
    for (name, (_, _, is_out)), after in zip(arrays.items(), found["arrays"]):
        check(not is_out or base64.b64decode(after) == results[name], "%s: other bits of %s than hologram run" % (what, name))


def problems(groups):
    operations = {**products.OPERATIONS, **layers.OPERATIONS, **transforms.OPERATIONS}
    for group in groups:
        cases = []
        for line in (one for words in group for one in lines_of(words)):
            problem = Problem(line, line)
            operation = operations[problem.name]()
            values = operation.arrays(problem, operation.operands(problem))
            text = operation.text(problem, values).replace(".program p\n", ".program case%d\n" % len(cases))
            arrays = {name: (value.tobytes(), True, name in operation.out or name in operation.inout) for name, value in values.items()}
            cases.append((line, arrays, write("case%d.atlas" % len(cases), text)))
        if not built("set", *[path for _, _, path in cases]):
            continue
        calls = [call("set_case%d" % i, [a[0] for a in arrays.values()]) for i, (_, arrays, _) in enumerate(cases)]
        for (line, arrays, path), found in zip(cases, answers("set", calls)):
            compare(line, arrays, of_build.ran(Command, path, arrays), found)


def arrays_of(rng, directives, count):
    made = {}
    for word, kind, role, n in re.findall(r"\.param (\w+) buffer (\w+) (\w+) \[(\w+)\]", directives):
        made[word] = (of_build.array_of(rng, kind, count if n == "n" else int(n)), role != "out", role != "in")
    return made


def programs(rng):
    """Arrays in place and across each other, halves, wide integers, the workspace, faults; what the host computes."""
    names = []
    for name, (directives, code) in of_build.PROGRAMS.items():
        given = ["%s=%d" % one for one in of_build.GIVEN.get(name, {}).items()]
        write(name + ".atlas", ".atlas 1\n.program %s\n%s\n.lanes 1\n%s" % (name, directives, code))
        if built("p_" + name, name + ".atlas", *(word for one in given for word in ("--set", one))):
            names.append(name)
    for name in names:
        given = of_build.GIVEN.get(name, {})
        arrays = arrays_of(rng, of_build.PROGRAMS[name][0], 50)
        found, = answers("p_" + name, [call("p_%s_%s" % (name, name), [a[0] for a in arrays.values()])])
        compare(name, arrays, of_build.ran(Command, name + ".atlas", arrays, given), found)
    for name, (directives, code, lanes, numbers) in HOSTS.items():
        write(name + ".atlas", ".atlas 1\n.program %s\n%s\n.lanes %s\n%s" % (name, directives, lanes, code))
        if not built(name, name + ".atlas"):
            continue
        arrays = arrays_of(rng, directives, 0)
        calls = [call(name, [a[0] for a in arrays.values()], [n]) for n in numbers]
        for n, found in zip(numbers, answers(name, calls)):
            compare("%s of %d" % (name, n), arrays, of_build.ran(Command, name + ".atlas", arrays, {"n": n}), found)


def workspaces():
    """One that is too small, one that is not the caller's, and one that no memory has."""
    text = ".atlas 1\n.program spread\n%s\n.lanes n\n%s" % HOSTS["spread"][:2]
    if not built("work", write("spread.atlas", text)):
        return
    x = bytes(64 * 4)
    small, own, large, most = answers("work", [call("work_spread", [x, x], [64], missing=1), call("work_spread", [x, x], [64], own=True),
                                               call("work_spread", [x, x], [2**62]), call("work_spread", [x, x], [2**29])])
    needed = 256 + 69 * 4  # f32 [64], a multiple of 64 bytes, and f32 [69]
    check((small["code"], small["values"]) == (-1, [str(needed), "0", str(needed - 1), "6"]), "too small: %s" % small)
    check((own["code"], own["values"][3]) == (-1, "6"), "not the caller's: %s" % own)
    check(large == most == {"bytes": 2**32 - 1}, "sizes of no memory: %s %s" % (large, most))


    for m in (16384, 32768, 32769, 70000): # half of all memory and more
        if built("outer", write("outer.graph", OUTER), "--set", "m=%d" % m):
            found, = answers("outer", [call("outer", [])])
            check(found == {"bytes": 2**32 - 1}, "a workspace for %d rows: %s" % (m, found))


def reductions(rng):
    for kind, operation, counts in REDUCTIONS:
        size = int(kind[1:]) // 8
        write("folds.atlas", FOLDS % {"type": kind, "operation": operation, "second": size})
        if not built("folds", "folds.atlas"):
            continue
        calls, expected = [], []
        for n in counts:
            values = rng.randbytes(n * size)
            if kind[0] == "f":
                values = array.array("f" if size == 4 else "d", (rng.uniform(0.9, 1.1) for _ in range(n))).tobytes()
            for given in (n, n + 1, 2**61 + n)[:3 if n == counts[1] else 1]:
                arrays = {"x": (values, True, False), "y": (bytes(3 * size), False, True)}
                calls.append(call("folds", [values, bytes(3 * size)], [n, given]))
                expected.append(("%s %s of %d in %d" % (kind, operation, given, n), arrays, of_build.ran(Command, "folds.atlas", arrays, {"m": n, "n": given})))
        for (what, arrays, one), found in zip(expected, answers("folds", calls)):
            compare(what, arrays, one, found)


def open_graph(name, text, arrays_of_call, many):
    """One module for all numbers of the symbols: what `hologram run` refuses is no launch."""
    path = write(name + ".graph", ".graph 1\n.name %s\n%s" % (name, text))
    if not built("set", path):
        return
    for numbers in many:
        there = all(value < 2**20 for value in numbers.values())
        arrays = arrays_of_call(numbers if there else dict.fromkeys(numbers, 1))
        given = [a[0] for a in arrays.values()]
        symbols = [str(value) for value in numbers.values()]
        expected = of_build.ran(Command, path, arrays, numbers)
        if expected[0]:
            found, = answers("set", [call("set", given, symbols=symbols, anyway=True)])
            check(found["code"] == -1 and (found["message"] or found["values"][3] != "0"), "%s %s, no such graph: %s" % (name, numbers, found))
            continue
        whole, small, work, own = answers("set", [call("set", given, symbols=symbols, nowhere=True), call("set", [given[0][:-1], *given[1:]], symbols=symbols),
                                                  call("set", given, symbols=symbols, missing=1), call("set", given, symbols=symbols, own=True)])
        compare("%s %s" % (name, numbers), arrays, expected, whole)
        check(not given[0] or (small["code"], small["values"][2:]) == (-1, [str(len(given[0]) - 1), str(len(numbers) + 1)]), "%s %s, too small: %s" % (name, numbers, small))
        for bad in (work, own):
            check(bad["code"] == -1 and bad["values"][3] == str(len(numbers) + len(arrays) + 1), "%s %s, no workspace: %s" % (name, numbers, bad))


def graphs(rng):
    write("twice.atlas", of_build.TWICE)
    write("ends.atlas", ENDS)
    for name, (text, counts, many) in OPEN.items():
        def arrays_of_call(numbers, of=counts):
            inputs, outputs = of(**numbers)
            return {key: (of_build.array_of(rng, "f32", n), key in inputs, key not in inputs) for key, n in {**inputs, **outputs}.items()}
        open_graph(name, text, arrays_of_call, [dict(zip("nm", one)) for one in many])
    for name, (text, symbols, outputs) in of_build.GRAPHS.items():
        path = write(name + ".graph", ".graph 1\n.name %s\n%s" % (name, text))
        if "gemm" in text:
            status, _, err = run(COMMAND, "build", "--target", "wasm", path, "-o", "open")
            check(status == 1 and "gemm" in err and "--set" in err and not os.path.exists("open.wasm"), "%s without numbers: %s" % (name, err))
        elif symbols:
            open_graph(name, text, lambda numbers, text=text, of=outputs: of_build.graph_arrays(rng, text, numbers, of_build.of_symbols(of, numbers)), of_build.CALLS[name])
        for numbers in [symbols, *of_build.CALLS.get(name, [])]:
            arrays = of_build.graph_arrays(rng, text, numbers, of_build.of_symbols(outputs, numbers))
            expected = of_build.ran(Command, path, arrays, numbers)
            words = [word for key, value in numbers.items() for word in ("--set", "%s=%d" % (key, value))]
            if expected[0] and "F0" not in expected[0]: # no graph with these numbers
                status, _, err = run(COMMAND, "build", "--target", "wasm", path, "-o", "refused", *words)
                check(status != 0, "%s %s is built: %s" % (name, numbers, err))
                continue
            if not built("set", path, *words):
                continue
            given = [a[0] for a in arrays.values()]
            whole, small, work, own = answers("set", [call("set", given, nowhere=True), call("set", [given[0][:-1], *given[1:]]), call("set", given, missing=1),
                                                      call("set", given, own=True)])
            if expected[0]:
                check(whole["code"] == 1 and whole["instruction"] == 6, "%s: %s" % (name, whole)) # the line of the call
            else:
                compare("%s %s" % (name, numbers), arrays, expected, whole)
            check(not given[0] or (small["code"], small["values"][2:]) == (-1, [str(len(given[0]) - 1), str(len(numbers) + 1)]), "%s, too small: %s" % (name, small))
            for bad in (work, own):
                check(bad["code"] == -1 and bad["values"][3] == str(len(numbers) + len(arrays) + 1), "%s, no workspace: %s" % (name, bad))


def refusals():
    for name, (directives, code, words, cure) in REFUSED.items():
        write(name + ".atlas", ".atlas 1\n.program %s\n%s\n.lanes 1\n%s" % (name, directives, code))
        status, _, err = run(COMMAND, "build", "--target", "wasm", name + ".atlas", "-o", "no")
        check(status == 1 and all(word in err for word in words) and not os.path.exists("no.wasm"), "%s: %s" % (name, err))
        if IN_C in err:
            status, _, why = run(COMMAND, "build", name + ".atlas", "-o", "text")
            check(status == 0, "%s: %s, but: %s" % (name, err, why))
        if cure:
            built("yes", name + ".atlas", *cure)


def main():
    if not shutil.which("node"):
        print("skipped: node is not installed (Debian: nodejs)\n0 passed, 0 failed, 1 skipped")
        return
    long = "--long" in sys.argv
    rng = random.Random(34)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        programs(rng)
        workspaces()
        graphs(rng)
        reductions(rng)
        refusals()
        problems(of_build.GROUPS + (of_build.LONG if long else []))
        os.chdir("/")
    for line in failed[:20]:
        print(line)
    print("%d passed, %d failed, 0 skipped" % (passed, len(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

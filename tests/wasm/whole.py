#!/usr/bin/python3
"""`hologram build --target wasm` of whole-array instructions, workspaces, values that the host computes, and array graphs, in Node: the bits and faults of
`hologram run`, and what is refused. Problems, programs and graphs are those of tests/build.

    tests/wasm/whole.py [--long]
"""
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

# stdin: [{file, fault, calls: [{name, arrays: [base64], scalars: [text], missing, own}]}]: arrays come first, then scalars (BigInts). A function that takes a
# workspace gets one, of 0x5a, `missing` bytes too small, with bytes behind it that nobody may touch. `nowhere`: arrays of no bytes are at 0. stdout: of each call what came of it.
RUN = """
const fs = require('fs');
const results = async (given) => {
  const module = await WebAssembly.compile(fs.readFileSync(given.file));
  if (WebAssembly.Module.imports(module).length) throw new Error('it imports something');
  const { exports } = await WebAssembly.instantiate(module);
  const { memory, __heap_base: base } = exports;
  return given.calls.map(({ name, arrays, scalars, missing = 0, own = false, nowhere = false }) => {
    let at = base.value;
    const numbers = scalars.map(BigInt);
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
    const values = [...places.flat(), ...numbers];
    let guard = true, behind = 0;
    if (exports[name + '_work_bytes']) {
      const bytes = (exports[name + '_work_bytes'](...numbers) >>> 0);
      if (bytes > 2 ** 30) return { bytes };
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
# directives and code, words of the refusal, values of --set with which it is built
REFUSED = {
    "open": (".param x buffer f32 inout [n]\n.param n u64", "    softmax output=x, input=x, n=n, rows=1\n", ["softmax", "--set"], ["--set", "n=5"]),
    "half_sum": (".param x buffer f32 in [n]\n.param n u64\n.reg s f32\n.param y buffer f32 out [1]", "    parallel_reduce.f32 s, x, sum, n\n    stg [y[0]], s\n",
                 ["parallel_reduce", "--set"], ["--set", "n=300"]),
    "large": (".param x buffer f32 inout [64]", "    sort output=x, input=x, outer=1, n=64, inner=1\n" * 20000, ["large", "at most 7654321"], None),
    "pools": (".param x buffer u64 out [1]\n.reg h u64", "    pool.alloc h, 4096\n    stg [x[0]], h\n", ["pool.alloc"], None),
}
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


def graphs(rng):
    write("twice.atlas", of_build.TWICE)
    for name, (text, symbols, outputs) in of_build.GRAPHS.items():
        path = write(name + ".graph", ".graph 1\n.name %s\n%s" % (name, text))
        if symbols:
            status, _, err = run(COMMAND, "build", "--target", "wasm", path, "-o", "open")
            check(status == 1 and "--set %s=" % list(symbols)[0] in err and not os.path.exists("open.wasm"), "%s without numbers: %s" % (name, err))
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
        refusals()
        problems(of_build.GROUPS + (of_build.LONG if long else []))
        os.chdir("/")
    for line in failed[:20]:
        print(line)
    print("%d passed, %d failed, 0 skipped" % (passed, len(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

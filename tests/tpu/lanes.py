#!/usr/bin/python3
"""Lanes of programs beside products in one module: `hologram emit --target stablehlo` of random graphs of both, run as the module that it is, has the results
that the graph has on the CPU; where a lane leaves an array the module says so by its last result.

    lanes.py HOLOGRAM [BACKEND [SEED [COUNT]]]
"""
import os
import random
import re
import subprocess
import sys
import tempfile

# Each of n lanes: integers, an element at a place that is data, halves and doubles, a loop of its own.
PROGRAMS = {
    "mix": ".param n u64\n.param k u32\n.param x buffer u32 in [n]\n.param y buffer u32 out [n]\n.lanes n\n.reg a u32\n"
           "    ldg a, [x[global]]\n    mul a, a, 2654435761\n    xor a, a, k\n    stg [y[global]], a\n",
    "pick": ".param n u64\n.param m u64\n.param x buffer u32 in [m]\n.param at buffer u32 in [n]\n.param y buffer u32 out [n]\n.lanes n\n.reg a, b u32\n.reg i u64\n"
            "    ldg a, [at[global]]\n    cvt.u64.u32 i, a\n    ldg b, [x[i]]\n    stg [y[global]], b\n",
    "odd": ".param n u64\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.lanes n\n.reg a f32\n.reg i u64\n.reg odd pred\n"
           "    ldg a, [x[global]]\n    and i, global, 1\n    seteq odd, i, 1\n    bra.!odd @even\n    add a, a, 3.0\neven:\n    stg [y[global]], a\n",
    "wide": ".param n u64\n.param x buffer f32 in [n]\n.param y buffer f64 out [n]\n.lanes n\n.reg a f32\n.reg b f64\n"
            "    ldg a, [x[global]]\n    cvt.f64.f32 b, a\n    mul b, b, 0.5\n    stg [y[global]], b\n",
    "turn": ".param n u64\n.param x buffer f32 inout [n]\n.lanes n\n.reg a f32\n.reg i u64\n.reg first pred\n    mov i, 0\nagain:\n    ldg a, [x[global]]\n"
            "    neg a, a\n    stg [x[global]], a\n    add i, i, 1\n    setlt first, i, 3\n    bra.first @again\n",
}


def make(seed, outside):
    """(the graph, its inputs by name: type, values; its outputs by name: how many elements)"""
    some = random.Random(seed)
    m, k, n = (some.randrange(1, 4) for _ in range(3))
    small = lambda count: [some.randrange(-4, 5) for _ in range(count)]
    inputs = {"a": ("f32", f"{m}, {k}", small(m * k)), "b": ("f32", f"{k}, {n}", small(k * n)), "x": ("u32", str(m * n), [some.randrange(1 << 32) for _ in range(m * n)]),
              "at": ("u32", "7", [some.randrange(m * n) for _ in range(7)])}
    if outside:
        inputs["at"][2][some.randrange(7)] = m * n
    lines = [f".input {name} {kind} [{shape}]" for name, (kind, shape, _) in inputs.items()]
    lines += ["p = gemm a=a, b=b", f"o = @odd n={m * n}, x=p", f"w = @wide n={m * n}, x=o", f"y = @mix n={m * n}, k={some.randrange(1 << 32)}, x=x",
              f"q = @pick n=7, m={m * n}, x=y, at=at", "d = parallel_map_binary.u32 add, a=y, b=x", f".view r = o f32 [{m}, {n}]", "s = gemm a=r, b=b, trans_b=true"]
    outputs = {"o": m * n, "w": m * n, "q": 7, "d": m * n, "s": m * k}
    if some.randrange(2):
        lines.append(f"t = @turn n={m * k}, x=s")
        outputs["t"] = outputs.pop("s")
    programs = "".join(f'.program {name} "{name}.atlas"\n' for name in PROGRAMS if any(f"@{name} " in line for line in lines))
    return ".graph 1\n" + programs + "\n".join(lines) + "\n" + "".join(f".output {name}\n" for name in outputs), inputs, outputs


def values(done):
    found = {}
    for line in done.stdout.splitlines():
        name, equals, numbers = line.partition(" = ")
        if equals:
            found[name.split()[0]] = [float(one) for one in numbers.split()]
    return found


def check(command, backend, folder, seed):
    outside = seed % 5 == 0
    graph, inputs, outputs = make(seed, outside)
    path, text = os.path.join(folder, "g.graph"), os.path.join(folder, "g.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(graph)
    run = lambda *arguments: subprocess.run([command, *arguments], capture_output=True, text=True, timeout=300)
    sets = lambda names: [word for name, (_, _, given) in zip(names, inputs.values()) for word in ("--set", f"{name}={','.join(map(str, given))}")]
    emitted = run("emit", path, "--target", "stablehlo")
    with open(text, "w", encoding="utf-8") as file:
        file.write(emitted.stdout)
    if emitted.returncode or "stablehlo.dot_general" not in emitted.stdout or not re.search(r"func\.call @k\d+_main", emitted.stdout):
        return f"emit: {emitted.stderr}{graph}"
    made = values(run("run", text, "--backend", backend, *sets([f"arg{i}" for i in range(len(inputs))])))
    flag = made.get(f"result{len(outputs)}")
    if outside:
        return None if flag == [1.0] else f"the flag is {flag}, a lane left its array\n{graph}"
    wanted = values(run("run", path, *sets(inputs)))
    for i, name in enumerate(outputs):
        if not wanted.get(name) or made.get(f"result{i}") != wanted[name] or flag != [0.0]:
            return f"{name}: {made.get(f'result{i}')}, expected {wanted.get(name)}, flag {flag}\n{graph}"
    return None


def main():
    command, backend = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu"
    first, count = int(sys.argv[3]) if len(sys.argv) > 3 else 1, int(sys.argv[4]) if len(sys.argv) > 4 else 10
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in PROGRAMS.items():
            with open(os.path.join(folder, name + ".atlas"), "w", encoding="utf-8") as file:
                file.write(f".atlas 1\n.program {name}\n{lines}")
        for seed in range(first, first + count):
            wrong = check(command, backend, folder, seed)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"seed {seed}: {wrong}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())

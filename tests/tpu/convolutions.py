#!/usr/bin/python3
"""Random convolutions of StableHLO: what the CPU backend reads of a module, which becomes lanes, is what XLA makes of the same module on a PJRT
plugin. Any order of axes, none to three spatial ones, strides, padding of both signs, both dilations, reversal, groups of features and of batches.

    on.sh DEVICE convolutions.py HOLOGRAM BACKEND [MODULES [FIRST]]
"""
import os
import random
import subprocess
import sys
import tempfile

HOLOGRAM, BACKEND = sys.argv[1:3]
MODULES, FIRST = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 1), (4, 1)))
EACH = 12


def tensor(extents):
    return f"tensor<{''.join(f'{n}x' for n in extents)}f32>"


def convolution(choose):
    """The text behind %l, %r; the extents of both sides and of the result."""
    spatial = choose.randint(0, 3)
    features, batches = choose.choice(((1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)))
    each, out, batch = choose.randint(1, 3), choose.randint(1, 2) * features * batches, choose.randint(1, 3)
    left, right, result = [("b", batch * batches), ("f", each * features)], [("o", out), ("i", each)], [("b", batch), ("f", out)]
    words = {"stride": [], "pad": [], "lhs_dilate": [], "rhs_dilate": [], "reverse": []}
    for axis in range(spatial):
        while True:
            size, kernel, base, dilation, stride = (choose.randint(1, most) for most in (5, 3, 2, 2, 3))
            low, high = choose.randint(-1, 3), choose.randint(-1, 3)
            room = (size - 1) * base + 1 + low + high - ((kernel - 1) * dilation + 1)
            if room >= 0 and (size - 1) * base + 1 + min(low, 0) + min(high, 0) > 0:
                break
        left.append((axis, size))
        right.append((axis, kernel))
        result.append((axis, room // stride + 1))
        for name, value in zip(words, (stride, f"[{low}, {high}]", base, dilation, choose.choice(("true", "false")))):
            words[name].append(value)
    for side in (left, right, result):
        choose.shuffle(side)
    names = [", ".join(str(name) for name, _ in side) for side in (left, right, result)]
    shapes = [[n for _, n in side] for side in (left, right, result)]
    window = ", ".join(f"{name} = [{', '.join(map(str, values))}]" for name, values in words.items())
    text = (f"dim_numbers = [{names[0]}]x[{names[1]}]->[{names[2]}], window = {{{window if spatial else ''}}} "
            f"{{batch_group_count = {batches} : i64, feature_group_count = {features} : i64}} : "
            f"({tensor(shapes[0])}, {tensor(shapes[1])}) -> {tensor(shapes[2])}")
    return text, shapes


def module(choose):
    arguments, lines, results, inputs = [], [], [], []
    for number in range(EACH):
        text, (left, right, result) = convolution(choose)
        for side in (left, right):
            count = 1
            for n in side:
                count *= n
            inputs += ["--set", f"arg{len(arguments)}=" + ",".join(str(choose.randint(-8, 8)) for _ in range(count))]
            arguments.append(f"%a{len(arguments)}: {tensor(side)}")
        lines.append(f"  %{number} = stablehlo.convolution(%a{2 * number}, %a{2 * number + 1}) {text}\n")
        results.append(tensor(result).replace("f32", "i32"))
        lines.append(f"  %r{number} = stablehlo.convert %{number} : ({tensor(result)}) -> {results[-1]}\n")
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{''.join(lines)}"
            f"  return {', '.join(f'%r{n}' for n in range(EACH))} : {', '.join(results)}\n}}\n"), inputs


passed = failed = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "convolutions.mlir")
    for seed in range(FIRST, FIRST + MODULES):
        text, inputs = module(random.Random(seed))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # Sums of small integers, which are exact in any order.
        runs = [subprocess.run([HOLOGRAM, "run", path, "--hash", "--backend", backend, *inputs], capture_output=True, text=True, timeout=600)
                for backend in ("cpu", BACKEND)]
        lines = [[line for line in run.stdout.splitlines() if line.startswith("result")] for run in runs]
        if any(run.returncode for run in runs) or len(lines[0]) != EACH or len(lines[1]) != EACH:
            failed += 1
            print(f"convolutions.py {HOLOGRAM} {BACKEND} 1 {seed}: {runs[0].stderr}{runs[1].stderr}", file=sys.stderr)
            continue
        for number, (ours, theirs) in enumerate(zip(*lines)):
            passed += ours == theirs
            failed += ours != theirs
            if ours != theirs:
                print(f"convolutions.py {HOLOGRAM} {BACKEND} 1 {seed}: {text.splitlines()[2 * number + 1]}\n  cpu {ours}\n  {BACKEND} {theirs}",
                      file=sys.stderr)
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)

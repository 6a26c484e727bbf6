#!/usr/bin/python3
"""Loops of more arrays than a program has parameters: a while whose states are many arrays of several types, against Python's integers.

    states.py HOLOGRAM [BACKEND [STATES...]]
"""
import os
import random
import subprocess
import sys
import tempfile

KINDS = {"i32": ("i32", 1), "i64": ("i64", 1), "f32": ("f32", 1), "complex<f32>": ("f32", 2), "ui8": ("u8", 1), "i1": ("u8", 1)}
ROUNDS = 3


def make(states, known):
    """(text, results expected): state k becomes its sum with another one of its type, round by round."""
    some = random.Random(states)
    kinds = [some.choice(list(KINDS)) for _ in range(states)]
    extents = [some.choice(((), (3,), (2, 2), (1,), (5,))) for _ in range(states)]
    same = {}
    for k in range(states):
        same.setdefault((kinds[k], extents[k]), []).append(k)
    other = [some.choice(same[kinds[k], extents[k]]) for k in range(states)]
    types = [f"tensor<{''.join(f'{e}x' for e in extents[k])}{kinds[k]}>" for k in range(states)]
    counts = [KINDS[kinds[k]][1] * (extents[k][0] if extents[k] else 1) * (2 if len(extents[k]) == 2 else 1) for k in range(states)]
    values = [[some.randrange(2 if kinds[k] == "i1" else 20) for _ in range(counts[k])] for k in range(states)]
    given = [list(v) for v in values]
    for _ in range(ROUNDS):
        values = [[{"i1": a | b, "ui8": (a + b) % 256}.get(kinds[k], a + b) for a, b in zip(values[k], values[other[k]])] for k in range(states)]
    args = ", ".join(f"%a{k}: {types[k]}" for k in range(states))
    limit = f"  %n = stablehlo.constant dense<{ROUNDS}> : tensor<i32>\n" if known else ""
    lines = "".join(f"    %s{k} = stablehlo.{'or' if kinds[k] == 'i1' else 'add'} %i{k}, %i{other[k]} : {types[k]}\n" for k in range(states))
    text = f"""func.func @main({args}{'' if known else ', %n: tensor<i32>'}) -> ({', '.join(types)}) {{
{limit}  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:{states + 1} = stablehlo.while(%k = %c, {', '.join(f'%i{k} = %a{k}' for k in range(states))}) : tensor<i32>, {', '.join(types)}
  cond {{
    %t = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }} do {{
    %kk = stablehlo.add %k, %one : tensor<i32>
{lines}    stablehlo.return %kk, {', '.join(f'%s{k}' for k in range(states))} : tensor<i32>, {', '.join(types)}
  }}
  return {', '.join(f'%r#{k + 1}' for k in range(states))} : {', '.join(types)}
}}
"""
    sets = [f"arg{k}={','.join(map(str, given[k]))}" for k in range(states)] + ([] if known else [f"arg{states}={ROUNDS}"])
    return text, sets, values


def main():
    command, backend = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "cpu"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for states in [int(one) for one in sys.argv[3:]] or [62, 66, 300]:
            for known in (False, True):
                text, sets, expected = make(states, known)
                path = os.path.join(folder, "m.mlir")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                arguments = [command, "run", path, "--backend", backend]
                for one in sets:
                    arguments += ["--set", one]
                done = subprocess.run(arguments, capture_output=True, text=True, timeout=400)
                found = {}
                for line in done.stdout.splitlines():
                    name, _, numbers = line.partition(" = ")
                    found[name.split()[0]] = [float(n) for n in numbers.split()]
                wrong = [k for k in range(states) if found.get(f"result{k}") != [float(n) for n in expected[k]]]
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    k = wrong[0]
                    print(f"{states} states, {'known' if known else 'unknown'} rounds: {done.stderr[:400]} result {k}: {found.get(f'result{k}')}, expected {expected[k]}",
                          file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())

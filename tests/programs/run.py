#!/usr/bin/python3
"""Ten programs that people write, on every device that is found, against NumPy, hashlib and Python's integers.

    tests/programs/run.py [--long] [--backend B[:DEVICE]]... [--text old|new]... [TASK...]

old/ has each in registers by number; examples/programs has what is written today. --long takes the sizes that tell something about time.
Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
COMMAND = os.path.join(BUILD, "hologram")
TEXTS = {"old": os.path.join(SOURCE, "tests", "programs", "old"), "new": os.path.join(SOURCE, "examples", "programs")}
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())
from tasks import TASKS  # noqa: E402


class Failure(Exception):
    pass


class Runner:
    """Launches the texts of a folder on a device, through files of NumPy."""

    def __init__(self, texts, device, folder):
        backend, number = device.split(":")
        self.texts, self.folder = texts, folder
        self.where = ["--backend", backend, "--device", number]

    def command(self, verb, text, options, **more):
        path = os.path.join(self.texts, text + ".atlas")
        done = subprocess.run([COMMAND, verb, path, *self.where, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, check=False,
                              **more)
        if done.returncode != 0:
            raise Failure(f"{os.path.relpath(path, SOURCE)} ended with status {done.returncode}: {done.stderr.decode(errors='replace')[:800]}")
        return done.stdout

    def __call__(self, text, inputs, outputs, scalars=None, options=()):
        options = ["--timeout", "300000", *options]
        for name, array in inputs.items():
            path = os.path.join(self.folder, f"{name}.npy")
            np.save(path, array)
            options += ["--in", f"{name}={path}"]
        for name, value in (scalars or {}).items():
            options += ["--set", f"{name}={value}"]
        return self.launch(text, options, outputs)

    def launch(self, text, options, outputs):
        places = [f"{name}={os.path.join(self.folder, f'{name}-out.npy')}" for name in outputs]
        self.command("run", text, options + [word for place in places for word in ("--out", place)])
        return {name: np.load(os.path.join(self.folder, f"{name}-out.npy")) for name in outputs}

    def stream(self, text, array, scalars, pool):
        options = ["--in", "x", "--pool", str(pool)]
        for name, value in scalars.items():
            options += ["--set", f"{name}={value}"]
        return np.frombuffer(self.command("stream", text, options, input=array.tobytes()), array.dtype)


def devices():
    """What the command finds, but the device that computes nothing."""
    done = subprocess.run([COMMAND, "devices", "--json"], stdout=subprocess.PIPE, check=True)
    return [f"{d['backend']}:{d['device']}" for d in json.loads(done.stdout)["outputs"] if d["available"] and d["backend"] != "null"]


def lines(folder, texts):
    """Lines of programs that say something."""
    count = 0
    for text in texts:
        with open(os.path.join(folder, text + ".atlas"), encoding="utf-8") as file:
            count += sum(1 for line in file if line.strip() and not line.strip().startswith(";"))
    return count


def lengths():
    """What is written today is much shorter, taken together and each alone."""
    totals = [0, 0]
    for name, task in TASKS.items():
        old, new = lines(TEXTS["old"], getattr(task, "OLD", [name])), lines(TEXTS["new"], [name])
        totals = [totals[0] + old, totals[1] + new]
        checks.check(new < old, f"{name}.atlas has {new} lines, in registers by number {old}")
    checks.check(totals[1] <= 0.6 * totals[0], f"the programs have {totals[1]} lines, in registers by number {totals[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--long", action="store_true", help="the real sizes")
    parser.add_argument("--backend", action="append", metavar="B[:DEVICE]", help="only this one, as in `hologram devices`")
    parser.add_argument("--text", action="append", choices=list(TEXTS), help="only this one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", action="store_true", help="a line with the time of each")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    options = parser.parse_args()
    where = [name if ":" in name else name + ":0" for name in options.backend] if options.backend else devices()
    if not options.tasks and not options.text:
        lengths()
    for name in options.tasks or TASKS:
        task = TASKS[name](np.random.default_rng(options.seed), options.long)
        for text in options.text or TEXTS:
            for device in where:
                start = time.monotonic()
                with tempfile.TemporaryDirectory() as folder:
                    repeat = f"tests/programs/run.py {'--long ' if options.long else ''}--backend {device} --text {text} --seed {options.seed} {name}"
                    try:
                        arrays = getattr(task, text)(Runner(TEXTS[text], device, folder))
                        for good, what in task.check(arrays):
                            checks.check(good, f"{what} ({repeat})")
                    except Failure as failure:
                        if "the device cannot run more than" in str(failure):  # llvmpipe counts the rounds of all loops of a lane
                            checks.skip(f"{device} has too few rounds of loops for this ({repeat})")
                            continue
                        checks.check(False, f"{failure} ({repeat})")
                if options.times:
                    print(f"{name:14} {text} {device:10} {time.monotonic() - start:7.2f} s", flush=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())

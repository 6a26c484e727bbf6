#!/usr/bin/python3
"""How time and memory of every stage grow with the size of a program.

    tests/scaling/run.py                     programs of 256 KiB and 1 MiB: minutes
    tests/scaling/run.py --quick             of 16 and 64 KiB: the slice of `make test`
    tests/scaling/run.py --table FILE        writes the table between the marks `scaling` of that document
    tests/scaling/run.py --families a,b --stages verify,spirv --sizes 65536,262144

For each family of families.py and each stage two programs are made, the second four times as long, or as --sizes says, and the work of the
command is compared: exponent = log(work ratio) / log(size ratio), what the command takes for the smallest program left out of both.
It fails above EXPONENT, where a process takes more than MEMORY, and where one needs more stack than STACK. A family that is refused with S05 above some size is measured at the largest
program that is not (exponent: S05).

Work is the number of basic blocks that run, counted by a command built for that (count.c), so it is the same in every run and on a busy
machine. Without it, or with --cpu, work is the least processor time of three runs, and exponents get 0.2 more room.
"""
import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
sys.path.insert(0, HERE)
import families  # noqa: E402

EXPONENT = 1.2
MEMORY = 300  # MB, at 1 MB of text
MORE_MEMORY = {("steps", "spirv-asm"): 400}  # the text of 15,000 kernels alone is 226 MB
STACK = 65536  # bytes, of threads too: nothing recurses on the depth of its input
SECONDS = 120  # of a process; a runaway ends there
STAGES = {
    "verify": ["verify"],
    "kir": ["emit", "--target", "kir"],
    "c": ["emit", "--target", "c"],
    "opencl": ["emit", "--target", "opencl"],
    "spirv": ["emit", "--target", "spirv"],
    "spirv-asm": ["emit", "--target", "spirv-asm"],
    "run": ["run", "--set", "x=1"],
}
# What a family is not measured by, and why.
LEFT_OUT = {("steps", "spirv"): "a module holds one kernel"}


class Stage:
    def __init__(self, folder, by_cpu):
        self.counted = os.path.join(BUILD, "tests/scaling/scaling_command")
        self.plain = os.path.join(BUILD, "hologram")
        self.by_cpu = by_cpu or not os.path.exists(self.counted)
        self.folder = folder
        self.count = os.path.join(folder, "count")
        self.environment = dict(os.environ, HOLOGRAM_NUM_THREADS="1", HOLOGRAM_CACHE_DIR="off", HOLOGRAM_WORK=self.count,
                                OCL_ICD_VENDORS="none", VK_DRIVER_FILES="none", VK_ICD_FILENAMES="none")

    def once(self, program, command, path):
        """(status, what it said, seconds of processor, MB)"""
        with open(os.path.join(self.folder, "said"), "w+b") as said:
            out = ["-o", os.path.join(self.folder, "out")] if command[0] == "emit" else []

            def limits():
                resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
                resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))

            process = subprocess.Popen([program, command[0], path, *command[1:], *out], stdout=subprocess.DEVNULL, stderr=said, env=self.environment,
                                       preexec_fn=limits)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
            said.seek(0)
            return status, said.read(2000).decode(errors="replace"), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def work(self, command, path):
        """(work, seconds, MB) or the reason why there is none."""
        if not self.by_cpu:
            open(self.count, "w").close()
        runs = [self.once(self.plain if self.by_cpu else self.counted, command, path) for _ in range(3 if self.by_cpu else 1)]
        for status, said, _, _ in runs:
            if status:
                return said.strip().split("\n")[0] or "ended with status %d" % status
        seconds, memory = min(r[2] for r in runs), max(r[3] for r in runs)
        if self.by_cpu:
            return seconds, seconds, memory
        with open(self.count) as f:
            return sum(int(line) for line in f), seconds, memory


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--cpu", action="store_true")
    p.add_argument("--families", default=",".join(families.FAMILIES))
    p.add_argument("--stages", default=",".join(STAGES))
    p.add_argument("--sizes")
    p.add_argument("--table")
    a = p.parse_args()
    a.sizes = [int(s) for s in (a.sizes or ("16384,65536" if a.quick else "262144,1048576")).split(",")]
    return a


def measure(stage, name, command, sizes, folder):
    """[(bytes, n, work, seconds, MB)] for each size, or a reason. One alone: the largest program that is not refused."""
    path = os.path.join(folder, name + ".atlas")
    rows = []

    def write(text):
        with open(path, "w") as f:
            f.write(text)

    for size in [0, *sizes]:
        n, text = families.of_size(name, size)
        write(text)
        got = stage.work(command, path)
        if isinstance(got, str) and "[S05]" in got and name in families.REFUSED:
            good = rows[-1][1]
            while n - good > max(1, good // 50):
                write(families.FAMILIES[name]((good + n) // 2))
                good, n = (good, (good + n) // 2) if isinstance(stage.work(command, path), str) else ((good + n) // 2, n)
            text = families.FAMILIES[name](good)
            write(text)
            got = stage.work(command, path)
            return got if isinstance(got, str) else [(len(text), good, *got)]
        if isinstance(got, str):
            return "n = %d: %s" % (n, got)
        rows.append((len(text), n, *got))
    least = rows.pop(0)
    return [(size - least[0], n, max(work - least[2], 1e-9), seconds, memory) for size, n, work, seconds, memory in rows]


def main():
    a = arguments()
    passed = failed = skipped = 0
    cells = {}
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(folder, a.cpu)
        limit = EXPONENT + (0.2 if stage.by_cpu else 0)
        print("%-20s %-10s %8s %9s %8s %8s" % ("family", "stage", "n", "exponent", "CPU s", "MB"))
        for name in a.families.split(","):
            for what in a.stages.split(","):
                if (name, what) in LEFT_OUT:
                    print("%-20s %-10s %s" % (name, what, LEFT_OUT[name, what]))
                    skipped += 1
                    continue
                began = time.time()
                got = measure(stage, name, STAGES[what], a.sizes, folder)
                if isinstance(got, str):
                    print("%-20s %-10s FAILED: %s" % (name, what, got), flush=True)
                    failed += 1
                    continue
                (s0, _, w0, _, _), (s1, n, w1, seconds, memory) = got[0], got[-1]
                exponent = math.log(w1 / w0) / math.log(s1 / s0) if len(got) > 1 else 0
                shown = "%.2f" % exponent if len(got) > 1 else "S05"
                bad = exponent > limit or memory > MORE_MEMORY.get((name, what), MEMORY)
                print("%-20s %-10s %8d %9s %8.2f %8.0f%s" % (name, what, n, shown, seconds, memory, "   <--" if bad else ""), flush=True)
                cells.setdefault(name, {})[what] = "%s · %.2f · %.0f" % (shown, seconds, memory)
                passed += not bad
                failed += bad
    if a.table:
        write_table(a.table, cells)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


def write_table(path, cells):
    """cells: {family: {stage: text}}"""
    with open(path) as f:
        text = f.read()
    begin, end = "<!-- scaling -->\n", "<!-- /scaling -->\n"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    stages = [s for s in STAGES if any(s in row for row in cells.values())]
    lines = ["| family | " + " | ".join(stages) + " |", "|---" * (len(stages) + 1) + "|"]
    lines += ["| `%s` | %s |" % (name, " | ".join(row.get(s, "") for s in stages)) for name, row in cells.items()]
    with open(path, "w") as f:
        f.write(before + begin + "\n".join(lines) + "\n" + end + after)


if __name__ == "__main__":
    sys.exit(main())

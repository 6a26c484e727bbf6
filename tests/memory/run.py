#!/usr/bin/python3
"""Programs and inputs that want more memory than there is: an error with X01, never a kill. Each runs in a memory control group of 1.5 GB where
this process may make one (version 1 or 2, as root), and again everywhere with --max-memory.

Needs HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

COMMAND = os.path.join(os.environ["HG_BUILD_DIR"], "hologram")
LIMIT = 1536 << 20

PROGRAMS = {
    "pools": ".param r1 x buffer u32 inout [4]\n loop r30, 1000\n pool.alloc r7, 536870912\n endloop\n",
    "one_pool": ".param r1 x buffer u32 inout [4]\n pool.alloc r7, 3221225472\n",
    "small_pools": ".param r1 x buffer u32 inout [4]\n loop r30, 100000000\n pool.alloc r7, 0\n endloop\n",
    "again": ".param r1 x buffer u32 inout [4]\n loop r30, 20\n pool.alloc r7, 60000000\n pool.free r7\n pool.alloc pool5, 30000000\n"
             " pool.free pool5\n endloop\n",
    "words": ".param r1 x buffer u32 in [n]\n.param r4 n u64\n.lanes 1\n",
    "output": ".param r1 x buffer f32 out [n]\n.param r4 n u64\n.lanes 1\n mov_imm.u64 r5, 0\n mov_imm.f32 r6, 1.0\n stg.f32 [r1 + r5], r6\n",
    "copy": ".param r1 x buffer u8 in [n]\n.param r2 y buffer u8 out [n]\n.param r4 n u64\n.lanes n\n"
            " ldg.u8 r10, [r1 + r255]\n stg.u8 [r2 + r255], r10\n",
}


def groups():
    """Folders of the control groups that count this process's memory, and the names of their limits."""
    mounts = [line.split(" - ") for line in open("/proc/self/mountinfo")]
    for line in open("/proc/self/cgroup"):
        _, names, path = line.rstrip("\n").split(":", 2)
        two = not names
        if not two and "memory" not in names.split(","):
            continue
        for left, right in mounts:
            kind, _, options = right.split(None, 2)
            if kind == ("cgroup2" if two else "cgroup") and (two or "memory" in options.strip().split(",")):
                for base in (path, "/"):
                    yield left.split()[4] + base.rstrip("/"), "memory.max" if two else "memory.limit_in_bytes"


class Group:
    """A control group of 1.5 GB, or the reason why there is none."""

    def __init__(self):
        self.folder = self.reason = None
        try:
            for parent, name in groups():
                folder = os.path.join(parent, f"hologram-memory-{os.getpid()}")
                try:
                    os.mkdir(folder)
                except OSError as error:
                    self.reason = f"no memory control group can be made: {error}"
                    continue
                self.folder = folder
                try:
                    with open(os.path.join(folder, name), "w") as f:
                        f.write(str(LIMIT))
                    with open(os.path.join(folder, "cgroup.procs"), "w"):
                        return
                except OSError as error:
                    self.reason = f"the memory control group has no limit: {error}"
                    self.close()
        except OSError as error:
            self.reason = f"control groups cannot be read: {error}"
        self.reason = self.reason or "no memory control group is mounted"

    def enter(self):
        with open(os.path.join(self.folder, "cgroup.procs"), "w") as f:
            f.write("0")

    def close(self):
        if self.folder:
            os.rmdir(self.folder)
        self.folder = None


def run(arguments, group=None, stdin=None):
    process = subprocess.Popen([COMMAND, "run", *map(str, arguments)], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=group.enter if group else None)
    out, err = process.communicate(timeout=250)
    return process.returncode, out.decode(), err.decode()


def expect(result, status, pattern, what):
    check(result[0] == status and re.search(pattern, result[2]) is not None, f"{what}: expected status {status} and /{pattern}/, got {result}")


X01 = r"error\[X01\]: .*\d+ bytes asked for, \d+ are in use, the limit is \d+ \(max_memory\)"


def refusals(more, group, size):
    """What must be refused where there is much less than 3 GB."""
    where = "in the group" if group else f"with {more}"
    for name, arguments in (("pools", ("--set", "x=1,2,3,4")), ("one_pool", ("--set", "x=1,2,3,4")), ("output", ("--set", "n=3000000000")),
                            ("copy", ("--in", "x=raw:/dev/zero"))):
        expect(run([f"{name}.atlas", *arguments, *more], group), 1, X01, f"{name} {where}")
    # the declared extents end the reading
    expect(run(["pools.atlas", "--in", "x=raw:/dev/zero", *more], group), 2, r"error\[P04\]: /dev/zero: it has more than the 16 bytes of its", "extents")
    # a file of 2 GB without contents, and one whose header promises 16 EB
    with open("hole.raw", "wb") as f:
        f.truncate(1 << 31)
    expect(run(["copy.atlas", "--in", "x=raw:hole.raw", *more], group), 1, X01, f"a large file {where}")
    expect(run(["pools.atlas", "--in", "x=raw:hole.raw", *more], group), 2, r"error\[P04\]: array 'x': its shape has 4 elements, the data 536870912",
           f"a large file for four elements {where}")
    with open("promise.npy", "wb") as f:
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (16000000000000000000,), }".ljust(117) + b"\n"
        f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    os.mkfifo("fifo.npy")
    writer = subprocess.Popen(["sh", "-c", "cat promise.npy /dev/zero > fifo.npy"], stderr=subprocess.DEVNULL)
    expect(run(["copy.atlas", "--in", "x=fifo.npy", *more], group), 1, X01, f"a pipe that promises 16 EB {where}")
    writer.wait()
    os.unlink("fifo.npy")
    # 300 MB of zeros, packed into 300 KB
    header = b"{'descr': '<u4', 'fortran_order': False, 'shape': (75000000,), }".ljust(117) + b"\n"
    with zipfile.ZipFile("zeros.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        for _ in range(300):
            member.write(bytes(1000000))
    expect(run(["pools.atlas", "--in", "x=zeros.npz", *more], group), 2, r"error\[P04\]: zeros.npz: 'x.npy' has 300000128 bytes", f"a packed array {where}")
    if not group:
        expect(run(["words.atlas", "--in", "x=zeros.npz", *more], group), 1, X01, f"a packed array {where}")
    # what fits still works
    with open("small.raw", "wb") as f:
        f.write(os.urandom(size))
    expect(run(["copy.atlas", "--in", "x=raw:small.raw", "--out", "y=raw:copy.raw", *more], group), 0, "^$", f"what fits {where}")
    check(open("small.raw", "rb").read() == open("copy.raw", "rb").read(), f"what fits {where} is not the same")


def pages():
    """12 GB of which a program writes four bytes take no memory, and are printed and read in parts."""
    status, out, err = run(["output.atlas", "--set", "n=3000000000", "--max-memory", "13G"])
    if "X01" in err and "max_memory" not in err:
        skip("the system does not give 12 GB of addresses")
    else:
        check(status == 0 and out.startswith("x f32[3000000000] = 1.0 0.0 "), f"12 GB without pages: {status} {out[:100]} {err}")


def options():
    expect(run(["pools.atlas", "--set", "x=1,2,3,4", "--max-memory", "1Q"]), 2, "--max-memory expects a number of bytes", "a unit that is none")
    expect(run(["again.atlas", "--set", "x=1,2,3,4", "--max-memory", "100M"]), 0, "^$", "pools that the program frees")
    with open("million.raw", "wb") as f:
        f.write(bytes(1000000))
    expect(run(["copy.atlas", "--in", "x=raw:million.raw", "--out", "y=/dev/null", "--check-races", "--max-memory", "100M"]), 1, r"error\[X01\]",
           "what races are found with")
    expect(run(["one_pool.atlas", "--set", "x=1,2,3,4", "--max-memory", "4G"]), 0, "^$", "4G")
    expect(run(["small_pools.atlas", "--set", "x=1,2,3,4", "--max-memory", "10M"]), 1, X01, "pools without bytes")
    os.environ["HOLOGRAM_MAX_MEMORY"] = "3G"
    expect(run(["one_pool.atlas", "--set", "x=1,2,3,4"]), 1, r"3221225472 bytes asked for, \d+ are in use, the limit is 3221225472", "the variable")
    del os.environ["HOLOGRAM_MAX_MEMORY"]


def main():
    folder = tempfile.mkdtemp(prefix="hologram-memory-")
    os.chdir(folder)
    os.environ["HOLOGRAM_BACKEND"] = "cpu"
    group = Group()
    try:
        for name, body in PROGRAMS.items():
            with open(name + ".atlas", "w") as f:
                f.write(f".atlas 1\n.program {name}\n{body}")
        refusals(["--max-memory", "100M"], None, 10 << 20)
        if group.folder:
            refusals([], group, 100 << 20)
        else:
            skip(group.reason)
        pages()
        options()
    finally:
        group.close()
        os.chdir("/")
        shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

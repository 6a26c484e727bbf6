#!/usr/bin/python3
"""Machine instructions of kernels for NVIDIA's GPUs beside the same kernels by hand: all of a kernel without loops, and of one with loops its longest
innermost loop, on the shortest way around it, for each of the operations that both do in it. No GPU is needed, NVRTC is.

    bench/cuda/sass.py [BUILD]

What a launch whose bounds were checked runs is compiled and whose blocks are full (`hologram emit --target cuda --proven --whole-blocks`), with the options that exactness needs on both sides.
Code is found in the CUBIN, which is an ELF file: an instruction has 16 bytes from compute capability 7.0 on. Its lowest twelve bits are the operation; a
branch is 0x947, and how far it goes was read off kernels with loops of known length (self_test, which runs each time): a number of 4 bytes in bits 34
to 81, from compute capability 9.0 on with eight more low bits in bits 16 to 23. Later ones branch in other words too, and are not counted.
"""
import ctypes
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OPTIONS = [b"-fmad=false", b"-prec-div=true", b"-prec-sqrt=true", b"-ftz=false"]
BRANCH, EXIT = 0x947, 0x94D
# The operation by its lowest nine bits, and what it is counted for.
WORK = {"FFMA": 0x023, "FMUL": 0x020, "FADD": 0x021, "MUFU": 0x108, "SHF": 0x019}
KERNELS = [("devices", "saxpy", None), ("devices", "chain", None), ("devices", "transpose", None), ("devices", "histogram", None), ("cuda", "fifty", None),
           ("devices", "nbody", "MUFU"), ("devices", "mandelbrot", "FMUL"), ("devices", "gemm", "FFMA"), ("devices", "sum", "FADD"), ("cuda", "collatz", "SHF"), ("cuda", "gcd3", "MUFU")]


def open_nvrtc():
    for name in (os.environ.get("HOLOGRAM_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"):
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("not run: NVRTC is not installed")


def compiled(nvrtc, text, architecture):
    """The CUBIN, and what ptxas says of it."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"-arch=sm_%d" % architecture, b"--ptxas-options=-v"] + OPTIONS
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if failed:
        sys.exit(log.value.decode())
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw, log.value.decode()


def registers(log):
    """Registers of an invocation; with a + where some of its memory is in local memory."""
    used = max(int(n) for n in re.findall(r"Used (\d+) registers", log))
    local = any(int(n) for n in re.findall(r"(\d+) bytes (?:stack frame|spill)", log))
    return "%d%s" % (used, "+" if local else "")


def instructions(elf):
    """(low, high) words of each instruction of the kernel, up to the branch to itself behind it."""
    start = struct.unpack_from("<Q", elf, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, start + i * size) for i in range(count)]
    for section in sections:
        at = sections[names][4] + section[0]
        if elf[at:at + 6] == b".text.":
            return [struct.unpack_from("<QQ", elf, section[4] + i) for i in range(0, section[5], 16)]
    sys.exit("the CUBIN has no code")


def target(index, word, architecture):
    """Where the branch at the index goes; None: it is none."""
    low, high = word
    if low & 0xFFF != BRANCH:
        return None
    distance = (low >> 34 | high << 30) & (1 << 48) - 1
    distance -= (distance >> 47) << 48
    if architecture >= 90:
        distance = distance << 8 | low >> 16 & 0xFF
    return index + 1 + distance * 4 // 16


def innermost(code, architecture):
    """[first, last] of the longest loop without another one in it; None: there is none."""
    loops = []
    for i, word in enumerate(code):
        to = target(i, word, architecture)
        if to is not None and to < i:
            loops.append((to, i))
    inner = [a for a in loops if not any(b != a and b[0] >= a[0] and b[1] <= a[1] for b in loops)]
    return max(inner, key=lambda loop: loop[1] - loop[0]) if inner else None


def shortest_round(code, loop, architecture):
    """Indices of the instructions on the shortest way from the loop's start to its start: without what is only done now and then, such as a look at the clock."""
    first, last = loop
    before = {first: None}
    layer = [first]
    while layer:
        following = []
        for at in layer:
            to = target(at, code[at], architecture)
            always = to is not None and code[at][0] >> 12 & 15 == 7 # under no predicate
            for then in ([] if to is None else [to]) + ([] if always else [at + 1]):
                if then == first:
                    way = [at]
                    while before[way[-1]] is not None:
                        way.append(before[way[-1]])
                    return way[::-1]
                if first < then <= last and then not in before:
                    before[then] = at
                    following.append(then)
        layer = following
    return None


def measure(elf, architecture, work):
    code = instructions(elf)
    if work is None:
        ends = [i for i, word in enumerate(code) if word[0] & 0xFFF == EXIT]
        return max(ends) + 1
    loop = innermost(code, architecture)
    way = shortest_round(code, loop, architecture) if loop else None
    if not way:
        return None
    done = sum(code[i][0] & 0x1FF == WORK[work] for i in way)
    return len(way) / done if done else None


def self_test(nvrtc, architecture):
    """A loop of n additions that is not unrolled grows by one instruction for each."""
    def length(n):
        text = 'extern "C" __global__ void k(float *x, int n) { float s = x[0];\n#pragma unroll 1\nfor (int i = 0; i < n; i++) {%s} x[0] = s; }' % (" s = s + 1.5f;" * n)
        code = instructions(compiled(nvrtc, text.encode(), architecture)[0])
        loop = innermost(code, architecture)
        if not loop:
            sys.exit("sm_%d: the loop of a kernel is not found" % architecture)
        return loop[1] - loop[0] + 1, sum(word[0] & 0x1FF == WORK["FADD"] for word in code[loop[0]:loop[1] + 1])
    for n in (5, 9, 30):
        (a, adds), (b, _) = length(n), length(n + 7)
        if b - a != 7 or adds != n:
            sys.exit("sm_%d: a loop of %d additions has %d of them in %d instructions, one of %d has %d" % (architecture, n, adds, a, n + 7, b))


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release")
    nvrtc = open_nvrtc()
    print("%-12s %-24s %s" % ("kernel", "counted", "".join("%28s" % ("sm_%d: ours, by hand" % a) for a in (75, 80, 90))))
    for architecture in (75, 80, 90):
        self_test(nvrtc, architecture)
    counts = []
    for folder, name, work in KERNELS:
        path = os.path.join(ROOT, "examples/programs" if name in ("collatz", "gcd3") else "bench/" + folder, name + ".atlas")
        with open(os.path.join(ROOT, "bench", folder, name + ".cu"), "rb") as f:
            hand = f.read()
        ours = subprocess.run([os.path.join(build, "hologram"), "emit", "--target", "cuda", "--proven", "--whole-blocks"] + (["--at-origin"] if work is None and name != "histogram" else []) + [path], stdout=subprocess.PIPE, check=True).stdout
        row, counted = "", ""
        for architecture in (75, 80, 90):
            (elf, log), (hand_elf, hand_log) = compiled(nvrtc, ours, architecture), compiled(nvrtc, hand, architecture)
            a, b = measure(elf, architecture, work), measure(hand_elf, architecture, work)
            row += "%28s" % ("%.2f, %.2f: %.2f" % (a, b, a / b) if a and b else "%s, %s" % (a and "%.2f" % a, b and "%.2f" % b))
            counted += "%28s" % ("%s, %s" % (registers(log), registers(hand_log)))
        print("%-12s %-24s %s" % (name, "the kernel" if work is None else "innermost loop, a " + work, row))
        counts.append("%-12s %-24s %s" % (name, "registers", counted))
    print("\n".join(counts))


if __name__ == "__main__":
    main()

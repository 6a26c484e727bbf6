"""What this machine can do at most, measured in the run that measures works (peak.c), and a work's share of it."""
import ctypes
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-O2", "-ffp-contract=fast", "-shared", "-fPIC", "-pthread"]
MEMORY = 256 << 20  # bytes of each array: no cache holds them


def load(folder, march=("-march=native", "-mprefer-vector-width=512")):
    """The library of peak.c for a CPU; None where gcc is not there or refuses it."""
    target = os.path.join(folder, "peak" + "".join(march).replace("=", "-") + ".so")
    source = os.path.join(HERE, "peak.c")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        os.makedirs(folder, exist_ok=True)
        if not shutil.which("gcc") or subprocess.run(["gcc", *FLAGS, *march, source, "-o", target], check=False).returncode != 0:
            return None
    peak = ctypes.CDLL(target)
    peak.peak_fma.restype = peak.peak_copy.restype = peak.peak_memory.restype = ctypes.c_double
    return peak


class Peaks:
    """Rates a second with so many threads: bytes of memory, operations of f32 and f64 in registers. They are measured at once, before there are peers whose
    threads look for work."""

    def __init__(self, peak, threads):
        self.peak, self.threads = peak, threads
        self.known = {"memory": self.memory(), "f32": self.arithmetic(False), "f64": self.arithmetic(True)} if peak else {}

    def of(self, kind):
        """kind: memory, f32 or f64; None: it could not be measured."""
        return self.known.get(kind)

    def memory(self):
        arrays = [ctypes.create_string_buffer(MEMORY + 64) for _ in range(2)]
        begins = [ctypes.c_void_p((ctypes.addressof(a) + 63) // 64 * 64) for a in arrays]
        return self.peak.peak_memory(*begins, ctypes.c_uint64(MEMORY), self.threads, 3)

    def arithmetic(self, doubles):
        operations = 2e9
        return operations / min(self.peak.peak_fma(int(doubles), ctypes.c_double(operations), self.threads, 1) for _ in range(3))


def show(amount, unit, seconds, peak):
    """A rate with its share of the peak: 12.3 GB/s, 45 %. unit: B or F."""
    rate = amount / seconds
    return f"{rate * 1e-9:.3g} G{unit}/s" + (f", {100 * rate / peak:.0f} %" if peak else "")

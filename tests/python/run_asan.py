"""The extension of the Python package under AddressSanitizer and LeakSanitizer: it is compiled for that by gcc, and the tests of arrays and of wrong calls
run with it, with every object of Python in memory of its own (PYTHONMALLOC=malloc). Faults anywhere count, leaks where our code allocated.
Last line: N passed, N failed, N skipped."""
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402
from checks import check  # noqa: E402

headers, compiler = sysconfig.get_path("include"), shutil.which("gcc")
sanitizer = compiler and subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
if not sanitizer or not os.path.isabs(sanitizer) or not os.path.exists(os.path.join(headers, "Python.h")):
    checks.skip("there is no gcc with AddressSanitizer, or there are no headers of CPython")
    sys.exit(checks.finish())
folder = tempfile.mkdtemp()
try:
    package = os.path.join(folder, "python", "hologram")
    os.makedirs(package)
    for path in glob.glob(os.path.join(BUILD, "python", "hologram", "*")):
        if not path.endswith("_native.abi3.so"):
            os.symlink(os.path.realpath(path) if os.path.isfile(path) else path, os.path.join(package, os.path.basename(path)))
    made = subprocess.run([compiler, "-std=gnu17", "-g", "-O1", "-fsanitize=address", "-fno-omit-frame-pointer", "-fPIC", "-shared", "-I" + os.path.join(SOURCE, "include"), "-I" + headers,
                           *sorted(glob.glob(os.path.join(SOURCE, "bindings", "python", "src", "*.c"))), "-o", os.path.join(package, "_native.abi3.so"), "-L" + BUILD, "-lhologram",
                           "-Wl,-rpath,$ORIGIN/lib"], capture_output=True, text=True)
    check(made.returncode == 0, made.stderr[-2000:])
    environment = {**os.environ, "HG_BUILD_DIR": folder, "LD_PRELOAD": os.path.realpath(sanitizer), "PYTHONMALLOC": "malloc", "HOLOGRAM_NUM_THREADS": "1"}
    how = f"exitcode=0:log_path={folder}/said:allocator_may_return_null=1:fast_unwind_on_malloc=0:malloc_context_size=12:detect_leaks="
    # Wrong calls open drivers, whose threads LeakSanitizer does not live through.
    for leaks, name, *more in (("1", "arrays", "--rounds", "20"), ("0", "misuse", "--every", "40", "--untraced")):
        environment["ASAN_OPTIONS"] = how + leaks
        ran = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "tests", "python", f"run_{name}.py"), *more], env=environment, capture_output=True, text=True, timeout=900)
        check(ran.returncode == 0 and re.search(r"^\d+ passed, 0 failed", ran.stdout, re.M), f"{name}: exit {ran.returncode}: {(ran.stdout + ran.stderr)[-1500:]}")
    text = "".join(open(path, encoding="utf-8", errors="replace").read() for path in glob.glob(os.path.join(folder, "said.*")))
    check("ERROR: AddressSanitizer" not in text, text[:3000])
    leaks = [one for one in re.split(r"\n\n+", text) if one.startswith(("Direct leak", "Indirect leak"))]
    ours = [one for one in leaks if "_native.abi3.so" in one or "libhologram" in one]
    if "LeakSanitizer has encountered a fatal error" in text:
        checks.skip("LeakSanitizer may not look at the process here")
    check(not ours, f"{len(ours)} leaks of ours, of {len(leaks)}: {ours[:1]}")
    print(f"{len(leaks)} leaks of CPython and NumPy, which end with the process, are not looked at")
finally:
    shutil.rmtree(folder)
sys.exit(checks.finish())

#!/usr/bin/python3
"""Vendors' libraries that end the process, crash, hang or print while they are opened: the command lists them with the reason and goes on
with the others. What is kept of it, and what ends that.

    run.py [PART ...]    parts by the names of their functions; all of them without

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

BUILD = os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
HELPER = os.path.join(BUILD, "libexec", "hologram", "hologram-try-driver")
FAKE = os.path.join(BUILD, "tests", "libfake_driver.so")
AXPY = ["run", os.path.join(os.environ["HG_SOURCE_DIR"], "examples", "programs", "axpy.atlas"),
        "--set", "alpha=2", "--set", "x=1,2,3,4", "--set", "y=10,20,30,40"]
POCL = "/etc/OpenCL/vendors/pocl.icd"


class Place:
    """A folder with a copy of the fake driver, files that name it for both loaders, a cache, and a program that counts trials."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.library = self.file("libfake.so")
        shutil.copy(FAKE, self.library)
        os.makedirs(self.file("vendors"))
        with open(self.file("vendors/fake.icd"), "w") as f:
            f.write(self.library + "\n")
        self.json = self.file("fake.json")
        with open(self.json, "w") as f:
            json.dump({"file_format_version": "1.0.0", "ICD": {"library_path": "./libfake.so", "api_version": "1.2.0"}}, f)
        self.log = self.file("log")
        self.helper = self.file("helper")
        with open(self.helper, "w") as f:
            f.write(f'#!/bin/sh\necho "$2" >>{self.log}\nexec {HELPER} "$@"\n')
        os.chmod(self.helper, 0o755)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("HOLOGRAM_", "OCL_", "VK_", "OPENCL_"))}
        self.environment.update(OCL_ICD_VENDORS=self.file("vendors"), VK_DRIVER_FILES="none", VK_ICD_FILENAMES="none",
                                HOLOGRAM_CACHE_DIR=self.file("cache"), HOLOGRAM_DRIVER_HELPER=self.helper)

    def file(self, name):
        return os.path.join(self.folder, name)

    def vulkan(self):
        self.environment.update(OCL_ICD_VENDORS=self.file("none"), VK_DRIVER_FILES=self.json, VK_ICD_FILENAMES=self.json)

    def run(self, *arguments, prefix=(), **variables):
        process = subprocess.run([*prefix, COMMAND, *arguments], capture_output=True, text=True, errors="replace", timeout=100,
                                 env={**self.environment, **variables})
        check(process.returncode >= 0, f"{arguments} {variables}: ended by signal {-process.returncode}")
        return process

    def devices(self, backend, prefix=(), **variables):
        """What `devices` says of a backend: each device that is available, or the reason."""
        process = self.run("devices", "--json", prefix=prefix, **variables)
        check(process.returncode == 0, f"devices {variables}: status {process.returncode}\n{process.stdout}{process.stderr}")
        found = []
        for device in json.loads(process.stdout[process.stdout.find("{"):])["outputs"]:
            if device["backend"] == backend:
                found.append(device["reason"] or "available")
            if device["backend"] == "cpu":
                check(device["available"], "the CPU is there")
        return found

    def trials(self, backend):
        """How often the backend was tried since the last call."""
        try:
            with open(self.log) as f:
                count = f.read().split().count(backend)
            os.remove(self.log)
        except FileNotFoundError:
            count = 0
        return count

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.folder, ignore_errors=True)


CRASHES = {"abort": r"^crashed while opening \(signal 6, abort\)$", "crash": r"^crashed while opening \(signal 11, segmentation fault\)$",
           "exit": r"^ended the process while opening \(exit status 3\)$"}


def crashes():
    """Libraries that end the process, wherever they do it."""
    for backend, variable in ("opencl", "OCL_FAKE"), ("vulkan", "VK_FAKE"):
        with Place() as place:
            if backend == "vulkan":
                place.vulkan()
            for where in "load", "list":
                for what, reason in CRASHES.items():
                    said = place.devices(backend, **{variable: f"{where} {what}"})
                    check(len(said) == 1 and re.search(reason, said[0]), f"{backend} {where} {what}: {said}")
            wish = {variable: "list abort"}
            run = place.run(*AXPY, "--backend", backend, **wish)
            check(run.returncode == 3 and f"{backend}: crashed while opening (signal 6, abort)" in run.stderr, f"run: {run}")
            for name in "auto", "cpu":
                run = place.run(*AXPY, "--backend", name, **wish)
                check(run.returncode == 0, f"run on {name}: {run}")


def hangs():
    with Place() as place:
        for where in "load", "list":
            begin = time.monotonic()
            said = place.devices("opencl", OCL_FAKE=f"{where} hang", HOLOGRAM_DRIVER_TIMEOUT_MS="300")
            check(said == ["did not answer within 0.3 s"], f"{where} hang: {said}")
            check(time.monotonic() - begin < 60, "the limit holds")
        place.vulkan()
        said = place.devices("vulkan", VK_FAKE="list hang", HOLOGRAM_DRIVER_TIMEOUT_MS="300")
        check(said == ["did not answer within 0.3 s"], f"vulkan hang: {said}")
        run = place.run("devices", HOLOGRAM_DRIVER_TIMEOUT_MS="soon")
        check(run.returncode != 0 and "HOLOGRAM_DRIVER_TIMEOUT_MS='soon'" in run.stderr, f"a malformed limit: {run}")


def noise():
    """What a library prints is no answer."""
    with Place() as place:
        for where in "load", "list":
            said = place.devices("opencl", OCL_FAKE=f"{where} noise")
            check(len(said) == 2, f"{where} noise: {said}")  # the devices of the library, which cannot compile a probe
        place.vulkan()
        said = place.devices("vulkan", VK_FAKE="load noise")
        check(len(said) == 1 and "crashed" not in said[0], f"vulkan noise: {said}")


def contexts():
    """A device that cannot be opened takes only itself away."""
    with Place() as place:
        for what, reason in CRASHES.items():
            if what == "exit":
                continue
            said = place.devices("opencl", OCL_FAKE=f"context {what}")
            check(len(said) == 2 and re.search(reason, said[1]) and "crashed" not in said[0], f"context {what}: {said}")
        said = place.devices("opencl", OCL_FAKE="context hang", HOLOGRAM_DRIVER_TIMEOUT_MS="1000")
        check(len(said) == 2 and said[1] == "did not answer within 1 s", f"context hang: {said}")
        run = place.run(*AXPY, "--backend", "opencl", "--device", "1", OCL_FAKE="context abort")
        check(run.returncode == 3 and "opencl 1: crashed while opening (signal 6, abort)" in run.stderr, f"the second device: {run}")
        place.trials("opencl")
        said = place.devices("opencl", OCL_FAKE="context abort", POCL_DEBUG="again")
        check(place.trials("opencl") == 2, "asked again from behind the device that did not come back")


def missing():
    """Without the program libraries are opened directly, and that is said."""
    with Place() as place:
        place.environment["OCL_ICD_VENDORS"] = place.file("none")
        other = place.file("other")
        with open(other, "w") as f:
            f.write("#!/bin/sh\necho something else >&3\n")
        os.chmod(other, 0o755)
        for helper, why in ("/dev/null/none/helper", "the helper program /dev/null/none/helper cannot be run"), ("off", "HOLOGRAM_DRIVER_HELPER is off"), \
                (other, f"{other} is not the helper program of this version"), ("/dev/null", "cannot be run"):
            run = place.run("devices", HOLOGRAM_DRIVER_HELPER=helper)
            check(run.returncode == 0 and "opencl: drivers' libraries are opened directly: " in run.stdout and why in run.stdout, f"{helper}: {run}")
        run = place.run("devices", HOLOGRAM_DRIVER_HELPER="")
        check(run.returncode == 0 and "directly" not in run.stdout, f"the program of the build: {run}")
        moved = place.file("somewhere")  # a command that was copied without it
        shutil.copy(COMMAND, moved)

        def looked():
            run = subprocess.run([moved, "devices"], capture_output=True, text=True, env={**place.environment, "HOLOGRAM_DRIVER_HELPER": ""})
            check(run.returncode == 0, f"a copied command: {run}")
            return run.stdout

        installed = os.path.exists("/usr/local/libexec/hologram/hologram-try-driver")
        check("libexec/hologram/hologram-try-driver is missing" in looked() or installed, f"a copied command: {looked()}")
        os.makedirs(place.file("libexec/hologram"))
        alone = shutil.copy(HELPER, place.file("libexec/hologram"))  # it is nothing without the command
        check(f"{alone} is not the helper program of this version" in looked(), f"without the command: {looked()}")
        os.symlink(place.file("none"), place.file("hologram"))
        check(f"{alone} is not the helper program of this version" in looked(), f"a link to nothing: {looked()}")
        os.makedirs(place.file("bin"))
        os.symlink(moved, place.file("bin/hologram"))
        check("directly" not in looked(), f"an installed command: {looked()}")
        os.remove(place.file("hologram"))
        os.symlink(moved, place.file("hologram"))
        check("directly" not in looked(), f"the wheel's: {looked()}")


def kept():
    """One trial serves later processes, until something that it depends on changes."""
    with Place() as place:
        def tried(what, expected, **more):
            prefix = more.pop("prefix", ())
            place.run(*AXPY, "--backend", "opencl", prefix=prefix, **more)
            count = place.trials("opencl")
            check(count == expected, f"{what}: tried {count} times, expected {expected}")

        for wish in "none", "list abort":
            more = {"OCL_FAKE": wish}
            date = 1 + (wish == "none")
            tried("the first process", 1, **more)
            tried("the second", 0, **more)
            for name in "OCL_ICD_DEBUG", "POCL_DEVICES", "VK_LOADER_DEBUG", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HOME":
                tried(f"{name} is another", 1, **more, **{name: place.file("vendors")})
                tried(f"{name} is the same", 0, **more, **{name: place.file("vendors")})
            tried("a variable that drivers do not read", 0, **more, SOMETHING="else")
            os.utime(place.library, (date, date))
            tried("the library's time", 1, **more)
            with open(place.library, "ab") as f:
                f.write(b" ")
            os.utime(place.library, (date, date))
            tried("the library's size", 1, **more)
            os.utime(place.file("vendors/fake.icd"), (date, date))
            tried("a file that names libraries", 1, **more)
            with open(place.file(f"vendors/more-{wish[:4]}.icd"), "w") as f:
                f.write("/dev/null/none/library.so\n")
            tried("one more of them", 1, **more)
            tried("nothing new", 0, **more)
            tried("the time limit", 1, **more, HOLOGRAM_DRIVER_TIMEOUT_MS="54321")
            tried("a limit of the process", 1, **more, prefix=("sh", "-c", 'ulimit -n 200; exec "$@"', "sh"))
            os.utime(place.helper, (date, date))
            tried("the program", 1, **more)
            tried("no cache", 1, **more, HOLOGRAM_CACHE_DIR="off")
            tried("no room", 1, **more, HOLOGRAM_CACHE_BYTES="0")
            shutil.rmtree(place.file("cache"))
            tried("a new cache", 1, **more)
            for where, _, names in os.walk(place.file("cache/drivers")):
                for name in names:
                    with open(os.path.join(where, name), "r+b") as f:
                        f.seek(200)
                        f.write(b"XYZ")
            tried("a damaged answer", 1, **more)
            tried("nothing new again", 0, **more)
            if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
                skip("namespaces need root")
                continue
            tried("a mount namespace", 1, **more, prefix=("unshare", "-m"))
            if subprocess.run(["unshare", "-T", "--boottime", "400", "true"], stderr=subprocess.DEVNULL).returncode == 0:
                tried("minutes later", wish != "none", **more, prefix=("unshare", "-T", "--boottime", "400"))
            else:
                skip("the system has no time namespaces")
            tried("another group", 1, **more, prefix=("setpriv", "--regid", "65534", "--clear-groups"))


def without_sys():
    """PoCL ends the process where /sys is not mounted."""
    unmount = ("unshare", "-m", "sh", "-c", 'umount -l /sys && exec "$@"', "sh")
    if not os.path.exists(POCL):
        return skip("PoCL is not installed (Debian package pocl-opencl-icd)")
    if os.geteuid() != 0 or subprocess.run([*unmount, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return skip("unmounting /sys needs root and a mount namespace")
    with Place() as place:
        place.environment["OCL_ICD_VENDORS"] = POCL
        direct = subprocess.run([*unmount, COMMAND, "devices"], capture_output=True, env={**place.environment, "HOLOGRAM_DRIVER_HELPER": "off"})
        if direct.returncode == 0:
            return skip("this PoCL lives without /sys")
        said = place.devices("opencl", prefix=unmount)
        check(len(said) == 1 and "while opening" in said[0], f"PoCL without /sys: {said}")
        check("available" in place.devices("opencl"), "PoCL with /sys")


def privileged():
    """Whoever starts a setuid program does not choose what it runs."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return skip("setuid programs are made by root")
    with Place() as place:
        os.chmod(place.folder, 0o777)
        command = place.file("setuid")
        shutil.copy(COMMAND, command)
        os.chown(command, 1, 1)
        os.chmod(command, 0o4755)
        environment = {**place.environment, "HOLOGRAM_DRIVER_HELPER": place.helper, "HOME": place.folder}
        run = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", command, "devices"], capture_output=True, text=True,
                             env=environment)
        if "Permission denied" in run.stderr or run.returncode == 127:
            return skip(f"setuid programs do not run here: {run.stderr}")
        check(run.returncode == 0 and place.trials("opencl") == 0 and not os.path.exists(place.file("cache")), f"a setuid program: {run}")


def main():
    if not os.path.exists(FAKE):
        skip("built without CL/cl_icd.h")
    else:
        for part in (crashes, hangs, noise, contexts, missing, kept, without_sys, privileged):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part()
    return finish()


sys.exit(main())

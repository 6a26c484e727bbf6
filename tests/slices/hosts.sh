#!/bin/sh
# Other hosts than this one, as far as settings can imitate them: drivers that use less of the CPU, the handlers of an older CPU, one core,
# drivers that are not there, and a CPU without AVX or without AVX-512 under qemu. A small part of the tests under each; every failure is
# printed with its setting. HG_SLICE=long (make test-all) has more settings, and more tests under each.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need /usr/bin/python3
long=
[ "${HG_SLICE:-}" != long ] || long=yes
# either SHORT LONG: the one that this run takes.
either() { if [ "$long" ]; then echo "$2"; else echo "$1"; fi; }
tests=$HG_BUILD_DIR/tests
suite="/usr/bin/python3 $HG_SOURCE_DIR/tests/command/run.py"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One cache for all: what was found under one setting must not serve another. What the drivers keep themselves is not under test.
export HOLOGRAM_CACHE_DIR="$work/hologram"

# under SETTING... -- COMMAND...: counts a test under VARIABLE=VALUE settings.
under() {
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    own=$work/$(echo "$settings" | tr -c 'A-Za-z0-9=.\n' _ | cut -c1-100)
    mkdir -p "$own/mesa" "$work/pocl"
    before=$failed
    # shellcheck disable=SC2086
    tally env MESA_SHADER_CACHE_DIR="$own/mesa" POCL_CACHE_DIR="$work/pocl" $settings "$@"
    [ "$failed" -eq "$before" ] || echo "that was: env$settings $*"
}

# counts TEXT COMMAND...: one test, that the command prints the text.
counts() {
    text=$1
    shift
    if "$@" 2>&1 | grep -q -F -- "$text"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "no '$text' from: $*"
    fi
}

# ---- drivers on other CPUs. Mesa: avx is a CPU without AVX-512, ssse3 one without SSE4.1; vectors of 512 bits make an f64 as wide as
# no register, which is what f64 is to lavapipe on AVX2. PoCL: the CPU it compiles for.
lavapipe=$(ls /usr/share/vulkan/icd.d/lvp_icd.*.json 2>/dev/null | head -n 1)
[ -n "$lavapipe" ] || echo "skipped: lavapipe is not installed (Debian package mesa-vulkan-drivers)"
hosts="GALLIUM_OVERRIDE_CPU_CAPS=avx LP_NATIVE_VECTOR_WIDTH=128"
[ ! "$long" ] || hosts="NONE=1 $hosts GALLIUM_OVERRIDE_CPU_CAPS=ssse3 LP_NATIVE_VECTOR_WIDTH=256 LP_NATIVE_VECTOR_WIDTH=512"
for host in $hosts; do
    [ -n "$lavapipe" ] || { skipped=$((skipped + 1)); continue; }
    vulkan="$host VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe"
    # shellcheck disable=SC2086
    [ ! "$long" ] || under $vulkan -- $suite operations
    # shellcheck disable=SC2086
    under $vulkan -- "$tests/cts" --backend vulkan --as lavapipe --quick --widest 64 --part "$(either 5/720 5/180)"
    [ ! "$long" ] || [ "$host" != GALLIUM_OVERRIDE_CPU_CAPS=avx ] || under "$host" -- "$tests/test_emit_spirv" --quick
done
if [ -f /etc/OpenCL/vendors/pocl.icd ]; then
    under POCL_LLVM_CPU_NAME=x86-64 -- "$tests/cts" --backend opencl --as pocl --quick --widest 64 --part "$(either 7/960 7/240)"
else
    echo "skipped: PoCL is not installed (Debian package pocl-opencl-icd)"
    skipped=$((skipped + 1))
fi

# ---- an older CPU's handlers
more=
[ ! "$long" ] || more='test_runtime_probe test_circuit_threads'
for test in "cts --quick --level baseline --part $(either 1/16 1/4)" "differential --count $(either 20 50)" test_runtime_run $more; do
    # shellcheck disable=SC2086
    under HOLOGRAM_CPU_LEVEL=baseline -- "$tests"/$test
done
# shellcheck disable=SC2046
under HOLOGRAM_CPU_LEVEL=baseline -- $suite $(either examples "examples formats arrays")
[ ! "$long" ] || under HOLOGRAM_CPU_LEVEL=baseline -- /usr/bin/python3 tests/golden/run.py

# ---- one core, and more threads than cores
if command -v taskset >/dev/null 2>&1; then
    core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    for test in test_thread_pool test_runtime_queue test_runtime_executor test_circuit_threads "differential --count 20"; do
        # shellcheck disable=SC2086
        under NONE=1 -- taskset -c "$core" "$tests"/$test
    done
    [ ! "$long" ] || under NONE=1 -- taskset -c "$core" $suite examples vectors
fi
for threads in $(either 7 "1 7"); do
    under HOLOGRAM_NUM_THREADS=$threads LP_NUM_THREADS=$threads -- "$tests/test_runtime_run"
    under HOLOGRAM_NUM_THREADS=$threads -- "$tests/test_circuit_threads"
    under HOLOGRAM_NUM_THREADS=$threads -- $suite examples
done

# ---- drivers that are not there: tests say so and pass
nothing=$work/nothing
mkdir -p "$nothing"
no_opencl="OCL_ICD_VENDORS=$nothing"
no_vulkan="VK_DRIVER_FILES=$nothing/none.json VK_ICD_FILENAMES=$nothing/none.json"
no_swiftshader="HG_TEST_SWIFTSHADER=$nothing/none.json"
all_absent="$no_opencl $no_vulkan $no_swiftshader"
for absent in "$all_absent" ${long:+"$no_opencl" "$no_vulkan $no_swiftshader"}; do
    # shellcheck disable=SC2086,SC2046
    under $absent -- $suite $(either devices "devices operations")
    # shellcheck disable=SC2086
    under $absent -- "$tests/test_runtime_memory"
done
# shellcheck disable=SC2086
under $no_opencl -- "$tests/test_backend_opencl"
for test in test_backend_vulkan test_runtime_vulkan; do
    # shellcheck disable=SC2086
    under $no_vulkan $no_swiftshader -- "$tests/$test"
done
# shellcheck disable=SC2086
under $no_opencl $no_vulkan $no_swiftshader -- "$tests/test_runtime_device"
# shellcheck disable=SC2086
under $no_swiftshader -- tests/devices/on.sh swiftshader "$tests/cts" --backend @ --quick

# ---- the core on a CPU without AVX, and on one without AVX-512
if command -v qemu-x86_64 >/dev/null 2>&1; then
    for cpu in Nehalem Haswell; do
        emulated="qemu-x86_64 -cpu $cpu"
        for test in "cts --quick --part $(either 3/400 3/80)" "differential --count $(either 2 10)" test_base ${long:+test_tile test_runtime_probe test_runtime_queue}; do
            # shellcheck disable=SC2086
            under HOLOGRAM_BACKEND=cpu -- $emulated "$tests"/$test
        done
        # shellcheck disable=SC2086
        counts "y f32[3] = 12.0 24.0 36.0" env $all_absent $emulated "$HG_BUILD_DIR/hologram" run examples/programs/axpy.atlas --set alpha=2 --set x=1,2,3 --set y=10,20,30
    done
    # shellcheck disable=SC2086
    counts "(baseline)" env $all_absent qemu-x86_64 -cpu Nehalem "$HG_BUILD_DIR/hologram" devices
    # shellcheck disable=SC2086
    counts "(v3)" env $all_absent qemu-x86_64 -cpu Haswell "$HG_BUILD_DIR/hologram" devices
else
    echo "skipped: qemu-x86_64 is not installed (Debian package qemu-user)"
    skipped=$((skipped + 1))
fi
finish

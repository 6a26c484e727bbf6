#!/bin/sh
# on.sh DEVICE PROGRAM [ARGUMENT...]: runs a test program with only one driver in sight and empty caches of its own, or those of HG_DEVICE_CACHES, a
# folder in which the tests of one run share a cache for each driver, so that no kernel is compiled twice. DEVICE is pocl,
# lavapipe, swiftshader (the Vulkan driver in Chromium, or what HG_TEST_SWIFTSHADER names), dawn (WebGPU over it), wgpu (WebGPU over lavapipe; both libraries as
# tools/setup installs them, or HOLOGRAM_WEBGPU), xla (XLA for the CPU, a PJRT plugin, or HOLOGRAM_PJRT), xla_other (another build of it with a newer interface) or fake_cuda (tests/fake_cuda, in HG_BUILD_DIR). In the arguments @ stands for the backend's name. Prints "skipped: REASON" and counts one skipped test where the driver's files are missing.
set -u
device=$1
shift
first() {
    for file in "$@"; do
        [ -f "$file" ] && { echo "$file"; return; }
    done
}
case $device in
    pocl)
        backend=opencl
        driver=$(first /etc/OpenCL/vendors/pocl.icd)
        package=pocl-opencl-icd
        export OCL_ICD_VENDORS="$driver" ;;
    lavapipe)
        backend=vulkan
        driver=$(first /usr/share/vulkan/icd.d/lvp_icd.*.json)
        package=mesa-vulkan-drivers
        export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver" ;;
    swiftshader)
        backend=vulkan
        driver=$(first "${HG_TEST_SWIFTSHADER:-/usr/lib/chromium/vk_swiftshader_icd.json}")
        package=chromium
        export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver" ;;
    dawn)
        backend=webgpu
        driver=$(first "${HOLOGRAM_WEBGPU:-build/dawn/node_modules/bun-webgpu-linux-x64/libwebgpu_wrapper.so}")
        below=$(first "${HG_TEST_SWIFTSHADER:-/usr/lib/chromium/vk_swiftshader_icd.json}")
        package='chromium and the packages of tests/webgpu: tools/setup test' ;;
    wgpu)
        backend=webgpu
        driver=$(first "${HOLOGRAM_WEBGPU:-build/wgpu/native/libwgpu_native-release.so}")
        below=$(first /usr/share/vulkan/icd.d/lvp_icd.*.json)
        package='mesa-vulkan-drivers and the packages of tests/webgpu: tools/setup test' ;;
    xla)
        backend=tpu
        driver=$(first "${HOLOGRAM_PJRT:-build/xla/plugin}")
        package='none: tests/tpu, tools/setup test'
        export HOLOGRAM_PJRT="$driver" ;;
    xla_other)
        backend=tpu
        driver=$(first build/xla-other/plugin)
        package='none: tests/tpu, tools/setup test'
        export HOLOGRAM_PJRT="$driver" ;;
    fake_cuda)
        backend=cuda
        driver=$(first "${HG_BUILD_DIR:-build/release}/tests/fake_cuda/libcuda.so.1")
        package=clang-14
        folder=$(dirname "${driver:-.}")
        export LD_LIBRARY_PATH="$folder" HOLOGRAM_NVRTC="$folder/libnvrtc.so.13" HOLOGRAM_CUBLASLT="$folder/libcublasLt.so.13"
        export HOLOGRAM_NCCL="$folder/libnccl.so.2" ;;
    *) echo "unknown device $device" >&2; exit 2 ;;
esac
if [ "$backend" = webgpu ]; then
    [ -n "$below" ] || driver=
    export HOLOGRAM_WEBGPU="$driver" VK_DRIVER_FILES="$below" VK_ICD_FILENAMES="$below" XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"
fi
if [ -z "$driver" ]; then
    echo "skipped: $device is not installed (Debian package $package)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ -n "${HG_DEVICE_CACHES:-}" ]; then
    caches=$HG_DEVICE_CACHES/$device
else
    caches=$(mktemp -d)
    trap 'rm -rf "$caches"' EXIT
fi
mkdir -p "$caches/pocl" "$caches/mesa" "$caches/hologram"
export POCL_CACHE_DIR="$caches/pocl" MESA_SHADER_CACHE_DIR="$caches/mesa" MESA_GLSL_CACHE_DIR="$caches/mesa" HOLOGRAM_CACHE_DIR="$caches/hologram"
# Drivers that compile at the first dispatch take long on a busy machine; tests of time-outs say their own.
export HOLOGRAM_TIMEOUT_MS="${HOLOGRAM_TIMEOUT_MS:-600000}" HOLOGRAM_COMPILE_TIMEOUT_MS="${HOLOGRAM_COMPILE_TIMEOUT_MS:-600000}"
program=$1
shift
count=$#
while [ "$count" -gt 0 ]; do # @ becomes the backend
    argument=$1
    shift
    [ "$argument" = @ ] && argument=$backend
    set -- "$@" "$argument"
    count=$((count - 1))
done
"$program" "$@"

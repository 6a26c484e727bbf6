#!/bin/sh
# demo.sh BUILD: real digits recognised by Atlas programs, then 100 MB through a 36 KB pool. `make demo` runs it.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/release}
out=out
mkdir -p "$out"
# The Vulkan driver that Chromium brings is no system driver: show it too.
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
[ -f "$swiftshader" ] && export VK_ADD_DRIVER_FILES="${VK_ADD_DRIVER_FILES:+$VK_ADD_DRIVER_FILES:}$swiftshader"

echo "== 1,797 handwritten digits, a 64-64-10 network, every layer an Atlas program (examples/digits/programs)"
"$build/examples/digits" examples/digits "$out/digits.png" "$out/digits.u8"
echo
echo "== 100 MB of readings through a pool of 36 KB (hologram stream)"
"$build/examples/stream" "$build/hologram" examples/digits "$out" 100

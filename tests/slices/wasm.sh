#!/bin/sh
# The core compiled to wasm32, without a C library, runs the recorded conformance slice and the example programs in Node.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 wasm-ld-14 cmake ninja node
cross wasm32 tests/wasm
tally "$HG_BUILD_DIR/tests/cts" --quick --record build/wasm32/cases.bin
tally node tests/wasm/run.js build/wasm32/core.wasm build/wasm32/cases.bin poor
finish

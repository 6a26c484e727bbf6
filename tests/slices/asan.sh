#!/bin/sh
# Unit tests, conformance and differential under AddressSanitizer and UBSan, built with clang, of some rooms, without drivers and without
# the tests that take more than some seconds (label slow). HG_SLICE=long (make test-all) runs all of them, and opens drivers everywhere.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
# Without intercept_tls_get_addr=0 the sanitizer guesses where a driver's thread-local block begins. Of a block 16 bytes into a page it takes
# the allocator's words for start and size, and its scan for leaks ends with a signal (clang 14, sanitizer_tls_get_addr.cpp).
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$HG_SOURCE_DIR/tests/support/leaks.txt:print_suppressions=0
# The sanitizer's dlopen does not look beside the library that calls it, where NVRTC has its own.
export LD_LIBRARY_PATH="$HG_SOURCE_DIR/build/python/nvidia/cuda_nvrtc/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tests="/usr/bin/python3 tools/run-tests build/asan -L unit|sanitize"
if [ "${HG_SLICE:-}" = long ]; then
    build asan
    exec $tests
fi
# The rooms that read what others wrote, and that run it.
rooms='base clients code driver graph io isa offline plan runtime translators'
labels=$(echo "$rooms" | sed 's/ /|/g')
# Long ones whose work on memory others do too.
without='test_operators|test_runtime_axis|test_statements_random'
filters="-L ^($labels|sanitize)$ -LE ^(slow|all)$ -E ^($without)$"
build_tests asan "$filters" hologram_command
# shellcheck disable=SC2086
exec env OCL_ICD_VENDORS=none VK_DRIVER_FILES=none VK_ICD_FILENAMES=none HG_TEST_SWIFTSHADER=none /usr/bin/python3 tools/run-tests build/asan $filters

#!/bin/sh
# Unit tests, conformance, differential and the golden texts under AddressSanitizer and UBSan, built with clang. Most tests run without drivers: where
# one is open, its compiler takes most of the time and is not what is looked at. HG_SLICE=long (make test-all) opens them everywhere.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
build asan
# Without intercept_tls_get_addr=0 the sanitizer guesses where a driver's thread-local block begins. Of a block 16 bytes into a page it takes
# the allocator's words for start and size, and its scan for leaks ends with a signal (clang 14, sanitizer_tls_get_addr.cpp).
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$HG_SOURCE_DIR/tests/support/leaks.txt:print_suppressions=0
tests="/usr/bin/python3 tools/run-tests build/asan -L unit|sanitize"
[ "${HG_SLICE:-}" = long ] && exec $tests
drivers='^test_(backend_(opencl|vulkan)|runtime_device)$'
tally /usr/bin/python3 tools/run-tests build/asan -R "$drivers"
tally env OCL_ICD_VENDORS=none VK_DRIVER_FILES=none VK_ICD_FILENAMES=none HG_TEST_SWIFTSHADER=none $tests -E "$drivers"
finish

#!/bin/sh
# Unit tests, conformance, differential and the golden texts under AddressSanitizer and UBSan, built with clang.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
build asan
# Without intercept_tls_get_addr=0 the sanitizer guesses where a driver's thread-local block begins. Of a block 16 bytes into a page it takes
# the allocator's words for start and size, and its scan for leaks ends with a signal (clang 14, sanitizer_tls_get_addr.cpp).
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$HG_SOURCE_DIR/tests/support/leaks.txt:print_suppressions=0
exec /usr/bin/python3 tools/run-tests build/asan -L 'unit|sanitize'

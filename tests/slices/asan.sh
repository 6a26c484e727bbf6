#!/bin/sh
# Unit tests, conformance, differential and the golden texts under AddressSanitizer and UBSan, built with clang.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
build asan
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$HG_SOURCE_DIR/tests/support/leaks.txt:print_suppressions=0
exec /usr/bin/python3 tools/run-tests build/asan -L 'unit|sanitize'

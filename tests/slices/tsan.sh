#!/bin/sh
# The tests that use threads (label threads) under ThreadSanitizer.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
build_tests tsan "-L threads"
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$HG_SOURCE_DIR/tests/support/races.txt
exec /usr/bin/python3 tools/run-tests build/tsan -L threads

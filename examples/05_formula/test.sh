#!/bin/sh
# The example as a test: what it prints and calculates, and what it says of mistakes.
set -u
passed=0
failed=0
says() { # says LAST_LINE ARGUMENT...
    expected=$1
    shift
    got=$("$HG_BUILD_DIR/examples/formula" "$@" 2>&1 | tail -n 1)
    if [ "$got" = "$expected" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: formula $*: '$got', expected '$expected'"
    fi
}
says 2.9093 "x x * 0.5 * x sin +" 3
says 11 "x i 2 fma" 4
says "1:3: unknown mnemonic 'sine'" "x sine"
says "1:3: 1 values are there" "x +"
says "1:5: 3 values are there" "x 1 2"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

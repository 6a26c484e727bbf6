#!/bin/sh
# The examples as a test: as many digits right as NumPy finds with the same weights, and the plate that NumPy heats.
set -u
passed=0
failed=0
check() {
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $2"
    fi
}
here=$HG_SOURCE_DIR/examples
picture=$HG_BUILD_DIR/examples/heat_test.png
digits() { # digits PROGRAM
    line=$("$HG_BUILD_DIR/examples/$1" "$here/digits") || line="failed: $line"
    /usr/bin/python3 -B "$here/digits/check.py" right "$line"
    check $? "$1: $line"
}
digits tensor_digits
if [ -x "$HG_BUILD_DIR/examples/tensor_heat" ]; then # where there is a compiler of C++
    digits tensor_digits_cpp
    line=$("$HG_BUILD_DIR/examples/tensor_heat" "$picture" 150 65) || line="failed: 0"
    /usr/bin/python3 -B "$here/tensors/heat_check.py" "$picture" 150 65 "$line"
    check $? "heat: $line"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

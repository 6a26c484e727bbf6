#!/bin/sh
# The example as a test: as many digits right as NumPy finds with the same weights.
set -u
digits=$HG_SOURCE_DIR/examples/digits
line=$("$HG_BUILD_DIR/examples/tensor_digits" "$digits") || line="failed: $line"
if /usr/bin/python3 -B "$digits/check.py" right "$line"; then
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

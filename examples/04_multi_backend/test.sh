#!/bin/sh
# The example as a test: every exact device has the CPU's bits, and every backend is named.
set -u
passed=0
failed=0
check() {
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $2"
    fi
}
lines=$("$HG_BUILD_DIR/examples/multi_backend" 20000)
check $? "an exact device has other bits: $lines"
for name in cpu cuda metal webgpu wasm tpu; do
    echo "$lines" | grep -q "^$name "
    check $? "$name is not listed: $lines"
done
echo "$lines" | grep -q "^cpu .*exact: the CPU's bits"
check $? "the CPU differs from itself: $lines"
lines=$("$HG_BUILD_DIR/examples/multi_backend_product" cpu)
check $? "the product failed: $lines"
[ "$lines" = "Backend: cpu
Result shape: [1000, 1000]" ]
check $? "another product: $lines"
lines=$("$HG_BUILD_DIR/examples/multi_backend_product" metal 2>&1)
[ $? -eq 1 ] && echo "$lines" | grep -q Metal
check $? "a backend that is not there: $lines"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

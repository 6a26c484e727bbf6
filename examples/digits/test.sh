#!/bin/sh
# The example as a test: the network by the command and by the C program, against NumPy; and the stream, shorter.
set -u
here=$HG_SOURCE_DIR/examples/digits
hologram=$HG_BUILD_DIR/hologram
work=$HG_BUILD_DIR/digits-test
mkdir -p "$work"
passed=0
failed=0
try() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what: $*"
        tail -n 20 "$work/log"
    fi
}
p=$here/programs
w=$here/weights
try normalize "$hologram" run "$p/normalize.atlas" --in pixels="$here/data/images.npy" --out x="$work/x.npy"
try "layer 1" "$hologram" run "$p/layer.atlas" --in x="$work/x.npy" --in w="$w/w1.npy" --in b="$w/b1.npy" --out y="$work/h.npy"
try "layer 2" "$hologram" run "$p/layer.atlas" --in x="$work/h.npy" --in w="$w/w2.npy" --in b="$w/b2.npy" --set low=-inf --out y="$work/y.npy"
try argmax "$hologram" run "$p/argmax.atlas" --in y="$work/y.npy" --out digit="$work/digit.npy"
try "logits against NumPy" /usr/bin/python3 "$here/check.py" logits "$work/y.npy"
try "digits against NumPy" /usr/bin/python3 "$here/check.py" digits "$work/digit.npy"
if [ -x "$HG_BUILD_DIR/examples/digits" ]; then
    try "C program" "$HG_BUILD_DIR/examples/digits" "$here" "$work/sheet.png" "$work/digits.u8"
    try "C program against NumPy" /usr/bin/python3 "$here/check.py" digits "$work/digits.u8"
    try "contact sheet" /usr/bin/python3 "$here/check.py" png "$work/sheet.png"
fi
try stream "$HG_BUILD_DIR/examples/stream" "$hologram" "$here" "$work" 4
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# Installs the library into an empty folder and uses it from there as a stranger would: C and C++, through pkg-config and
# through the CMake package, shared and static; and looks at what the shared library exports.
set -u
here=$HG_SOURCE_DIR/tests/consumer
work=$HG_BUILD_DIR/consumer
prefix=$work/prefix
passed=0
failed=0
try() { # try WHAT COMMAND...: one check
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
rm -rf "$work"
mkdir -p "$work"
try install cmake --install "$HG_BUILD_DIR" --prefix "$prefix"
library=$(find "$prefix" -name 'libhologram.so' | head -n 1)
libdir=$(dirname "$library")
export PKG_CONFIG_PATH="$libdir/pkgconfig"

flags='-Wall -Wextra -Wpedantic -Werror'
# shellcheck disable=SC2046,SC2086
{
    try "C, pkg-config" gcc -std=c17 $flags "$here/consumer.c" -o "$work/c" $(pkg-config --cflags --libs hologram) "-Wl,-rpath,$libdir"
    try "C++, pkg-config" g++ -std=c++17 $flags "$here/consumer.cpp" -o "$work/cpp" $(pkg-config --cflags --libs hologram) "-Wl,-rpath,$libdir"
    try "C, static" gcc -std=c17 $flags "$here/consumer.c" -o "$work/static" $(pkg-config --cflags hologram) "$libdir/libhologram.a" -lpthread -lm -ldl
}
try "CMake package, configure" cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix"
try "CMake package, build" cmake --build "$work/cmake"
for program in c cpp static cmake/consumer_c cmake/consumer_cpp cmake/consumer_static; do
    try "run $program" "$work/$program"
done
if [ -x "$HG_BUILD_DIR/libexec/hologram/hologram-try-driver" ]; then
    # The installed command and a program beside it find the installed helper program.
    try "helper" test -x "$prefix/libexec/hologram/hologram-try-driver"
    try "the command's helper" sh -c "'$prefix/bin/hologram' devices >'$work/devices' && ! grep directly '$work/devices'"
fi
try "exports" /usr/bin/python3 "$here/exports.py" "$library" "$prefix/include" "$HG_SOURCE_DIR"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

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
try "exports" /usr/bin/python3 "$here/exports.py" "$library" "$libdir/libhologram.a" "$prefix/include" "$HG_SOURCE_DIR"
# An application whose own functions have every name that the library's sources have and its headers do not.
own_names() {
    nm -g --defined-only "$HG_BUILD_DIR/libhologram_internal.a" | awk 'NF == 3 { print $3 }' | sort -u >"$work/internal"
    nm -g --defined-only "$libdir/libhologram.a" | awk 'NF == 3 { print $3 }' | sort -u >"$work/public"
    comm -23 "$work/internal" "$work/public" | sed 's/.*/extern int &;\nint & = 1;/' >"$work/names.c"
    [ "$(wc -l <"$work/names.c")" -gt 1000 ] && gcc -std=c17 -fno-builtin -w -c "$work/names.c" -o "$work/names.o" &&
        gcc -std=c17 $flags "$here/consumer.c" "$work/names.o" -o "$work/names" $(pkg-config --cflags hologram) "$libdir/libhologram.a" -lpthread -lm -ldl &&
        "$work/names"
}
if [ -f "$HG_BUILD_DIR/libhologram_internal.a" ]; then try "an application's own names" own_names; fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# Library, command and tests for AArch64, run under qemu: conformance and random programs (handlers compiled for NEON, and poor
# mode), some unit tests, and the example programs with the same output as on this machine.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
part=2/240
count=8
[ "${HG_SLICE:-}" != long ] || { part=2/9; count=200; } # make test-all
need aarch64-linux-gnu-gcc clang++-14 qemu-aarch64 cmake ninja
units='test_base test_literal test_tile test_atlas'
[ "${HG_SLICE:-}" != long ] || units="$units test_assembler"
# shellcheck disable=SC2086
cross aarch64 . hologram hologram_static hologram_command cts differential $units
arm="qemu-aarch64 -L /usr/aarch64-linux-gnu"

for test in "cts --quick --part $part" "differential --count $count" $units; do
    # shellcheck disable=SC2086
    tally $arm build/aarch64/tests/$test
done

# example PROGRAM --set ...: the command prints the same bytes on both machines.
example() {
    program=examples/programs/$1.atlas
    shift
    # shellcheck disable=SC2086
    there=$($arm build/aarch64/hologram run "$program" "$@" 2>&1)
    here=$("$HG_BUILD_DIR/hologram" run "$program" "$@" 2>&1)
    if [ -n "$here" ] && [ "$here" = "$there" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'hologram run %s %s\nhere:\n%s\non AArch64:\n%s\n' "$program" "$*" "$here" "$there"
    fi
}
example axpy --set alpha=2 --set x=1,2,3 --set y=10,20,30
example block_reverse --set x=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
example center --set x=1,2,3,4
example collatz --set start=1,2,3,6,7,9,27,97,871
example gcd3 --set a=12,17,100,0 --set b=18,5,75,0 --set c=27,34,10,9
example wide --set a=1,-5,1000000007 --set b=3,170141183460469231731687303715884105727,170141183460469231731687303715884105728
finish

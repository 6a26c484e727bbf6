#!/bin/sh
# A minute of libFuzzer for each target of tests/fuzz, from their seed inputs in tests/fuzz/seeds/TARGET.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
targets=$(cd tests/fuzz 2>/dev/null && ls fuzz_*.c 2>/dev/null | sed 's/\.c$//')
if [ -z "$targets" ]; then
    echo "skipped: no fuzz target yet"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
# shellcheck disable=SC2086
build fuzz $targets
seconds=${HG_FUZZ_SECONDS:-60}
passed=0
failed=0
for target in $targets; do
    corpus=build/fuzz/corpus/$target
    mkdir -p "$corpus"
    seeds=tests/fuzz/seeds/$target
    [ -d "$seeds" ] || seeds=
    # shellcheck disable=SC2086
    if build/fuzz/tests/"$target" -max_total_time=$seconds -rss_limit_mb=2048 -timeout=20 -max_len=65536 -print_final_stats=1 \
            -artifact_prefix="build/fuzz/$target-" "$corpus" $seeds >"build/fuzz/$target.log" 2>&1; then
        passed=$((passed + 1))
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log") runs in $seconds s"
    else
        failed=$((failed + 1))
        tail -n 40 "build/fuzz/$target.log"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

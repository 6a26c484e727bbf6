#!/bin/sh
# Three seconds of libFuzzer (HG_FUZZ_SECONDS) for each target of tests/fuzz, from their seed inputs in tests/fuzz/seeds/TARGET.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 cmake ninja
targets=$(cd tests/fuzz 2>/dev/null && ls fuzz_*.c 2>/dev/null | sed 's/\.c$//')
if [ -z "$targets" ]; then
    echo "skipped: no fuzz target yet"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
# shellcheck disable=SC2086
build asan $targets
mkdir -p build/fuzz
seconds=${HG_FUZZ_SECONDS:-3}
rm -f build/fuzz/fuzz_*.status
# As many at once as there are processors.
echo "$targets" | xargs -P "$(nproc)" -I TARGET sh -c '
    corpus=$PWD/build/fuzz/corpus/TARGET
    seeds=$PWD/tests/fuzz/seeds/TARGET
    more=
    mkdir -p "$corpus"
    [ -d "$seeds" ] || seeds=
    case TARGET in
    fuzz_kir) seeds="$seeds $PWD/tests/kir" ;;
    fuzz_stablehlo) seeds=$PWD/tests/hlo/functions ;;
    fuzz_vector) seeds="$seeds $PWD/tests/vector $PWD/tests/golden" ;;
    fuzz_builder) more="-len_control=0 -max_len=4096" ;; # calls, not bytes that look like a file
    fuzz_pipeline) seeds=$PWD/tests/fuzz/seeds/fuzz_text ;;
    fuzz_command) more="-detect_leaks=0 -close_fd_mask=3" ;; # memory lives to the end of the process; reports go to the log, not where the command writes
    esac
    build/asan/tests/TARGET -max_total_time="$1" -rss_limit_mb=2048 -timeout=20 -max_len=65536 -print_final_stats=1 \
        $more -artifact_prefix="$PWD/build/fuzz/TARGET-" "$corpus" $seeds >build/fuzz/TARGET.log 2>&1
    echo $? >build/fuzz/TARGET.status' fuzz "$seconds"
for target in $targets; do
    if [ "$(cat "build/fuzz/$target.status")" -eq 0 ]; then
        passed=$((passed + 1))
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log") runs in $seconds s"
    else
        failed=$((failed + 1))
        tail -n 40 "build/fuzz/$target.log"
    fi
done
finish

# What the slices share. A slice is a script that prints `N passed, N failed, N skipped` as its last line; it gets
# HG_SOURCE_DIR and HG_BUILD_DIR (the release build that runs it).
set -u
cd "$HG_SOURCE_DIR" || exit 1

# need TOOL...: the slice is skipped, with the reason, where a tool is missing.
need() {
    for tool in "$@"; do
        if ! command -v "$tool" >/dev/null 2>&1; then
            echo "skipped: $tool is not installed"
            echo "0 passed, 0 failed, 1 skipped"
            exit 0
        fi
    done
}

# build PRESET [TARGET...]: configures and builds a preset; a build that fails is a failed test.
build() {
    preset=$1
    shift
    log=build/$preset.log
    if ! { cmake --preset "$preset" && cmake --build "build/$preset" ${1:+--target} "$@"; } >"$log" 2>&1; then
        grep -E -A5 'error|FAILED' "$log" | head -n 60
        echo "the build of preset $preset failed; all of it: $log"
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    fi
}

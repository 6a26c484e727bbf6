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
        build_failed "preset $preset" "$log"
    fi
}

# build_tests PRESET 'FILTERS OF CTEST' [TARGET...]: the same for the tests that CTest runs with these filters, and for the targets.
build_tests() {
    preset=$1
    filters=$2
    shift 2
    cmake --preset "$preset" >"build/$preset.log" 2>&1 || build_failed "preset $preset" "build/$preset.log"
    # CTest knows its tests before they are built; most are targets of their own name.
    targets=$(ninja -C "build/$preset" -t targets all | sed -n 's,^tests/\([a-z0-9_]*\): .*EXECUTABLE.*,\1,p')
    # shellcheck disable=SC2086
    for test in $(ctest --test-dir "build/$preset" -N $filters | sed -n 's/.*#[0-9]*: //p'); do
        case " $(echo $targets) " in *" $test "*) set -- "$@" "$test" ;; esac
    done
    cmake --build "build/$preset" --target "$@" >>"build/$preset.log" 2>&1 || build_failed "preset $preset" "build/$preset.log"
}

# cross MACHINE SOURCE [TARGET...]: the same for a project folder with cmake/toolchains/MACHINE.cmake, in build/MACHINE. Cross
# builds cannot run the generator of the tile handlers and take those of the release build. All else is compiled for longer than it runs.
cross() {
    machine=$1
    source=$2
    shift 2
    log=build/$machine.log
    flags='-O1 -DNDEBUG'
    options=
    if [ "$machine" = aarch64 ]; then
        options=-DHG_FOR_TESTS=ON
        flags="$flags -Wno-maybe-uninitialized -Wno-format-truncation" # gcc sees less at -O1
    fi
    # shellcheck disable=SC2086
    if ! { cmake -G Ninja -S "$source" -B "build/$machine" -DCMAKE_TOOLCHAIN_FILE="$HG_SOURCE_DIR/cmake/toolchains/$machine.cmake" \
            $options -DHG_TILES_DIR="$HG_BUILD_DIR/tiles" -DCMAKE_C_FLAGS_RELEASE="$flags" && \
            cmake --build "build/$machine" ${1:+--target} "$@"; } >"$log" 2>&1; then
        build_failed "$machine" "$log"
    fi
}

build_failed() {
    grep -E -A5 'error|FAILED' "$2" | head -n 60
    echo "the build of $1 failed; all of it: $2"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
}

# tally COMMAND...: runs it, shows its output and adds its closing line to passed, failed and skipped; no closing line, or a
# wrong status without a failure counted, is a failure.
passed=0
failed=0
skipped=0
tally() {
    name=$1
    for word in "$@"; do # the program that an emulator runs
        case $word in */tests/*) name=${word##*/} ;; esac
    done
    output=$("$@" 2>&1)
    status=$?
    printf '%s\n' "$output" | sed "s|^\([0-9]* passed, \)|$name: \1|"
    counts=$(printf '%s\n' "$output" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' | tail -n 1)
    if [ -z "$counts" ]; then
        echo "no closing line, status $status: $*"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086
    set -- $counts
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
    if [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        echo "status $status without a failure"
        failed=$((failed + 1))
    fi
}

# The last line of a slice that used tally.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

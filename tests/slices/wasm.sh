#!/bin/sh
# The npm package from its tarball: the whole library compiled to wasm32, without a C library, in Node and in a browser's page and worker.
# Both run some of the recorded conformance slice; HG_SLICE=long all of it, in Node, 1,000 random programs, functions of 2^20 inputs each, and Firefox. Then the package through bundlers and TypeScript, and
# the page of examples/web over it. HG_SLICE=long has wasm-opt make the modules smaller first, where that is installed, as `make npm` does.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need clang-14 wasm-ld-14 cmake ninja node
site=build/npm/site
mkdir -p build/npm
quick=--quick
[ "${HG_SLICE:-}" != long ] || quick=''
# shellcheck disable=SC2086
if ! /usr/bin/python3 -B bindings/npm/build.py $quick --native "$HG_BUILD_DIR" --build build/npm build/npm >build/npm.log 2>&1; then
    build_failed wasm32 build/npm.log
fi
tail -n 1 build/npm.log
# As npm installs it.
rm -rf "$site"
mkdir -p "$site/node_modules/hologram"
tar xzf build/npm/hologram-*.tgz -C "$site/node_modules/hologram" --strip-components=1
cp tests/npm/*.mjs tests/npm/*.html "$site"
# The files of the guide, as it says: the tarball unpacked beside the page.
mkdir "$site/guide"
tar xzf build/npm/hologram-*.tgz -C "$site/guide"
awk -v folder="$site/guide/" '/^<!-- file: / { name = folder $3; next } /^```/ { if (inside) { inside = 0; name = "" } else inside = name != ""; next }
    inside { print >name }' docs/guide/web.md
part='--part 2/9'
programs=100 inputs=16384
[ "${HG_SLICE:-}" != long ] || part='' programs=1000 inputs=1048576 # make test-all
# shellcheck disable=SC2086
tally "$HG_BUILD_DIR/tests/cts" --quick $part --record "$site/node.bin"
tally "$HG_BUILD_DIR/tests/cts" --quick --part 7/60 --record "$site/cases.bin"
tally "$HG_BUILD_DIR/tests/differential" --short --seed 11 --count "$programs" --record "$site/random.bin"
compiled="$site/cases.bin"
[ -n "$part" ] || compiled="$site/node.bin"
tally node "$site/node.mjs" "$site/node.bin" "$compiled" "$site/random.bin"
tally node "$site/core.mjs" "$site/cases.bin" "$site/cases.bin"
tally node "$site/functions.mjs" "$HG_BUILD_DIR/hologram" "$inputs"
if [ "${HG_SLICE:-}" != long ]; then
    : # Firefox takes its time to start
elif ! command -v firefox-esr >/dev/null 2>&1; then
    echo "skipped: firefox-esr is not installed"
    skipped=$((skipped + 1))
elif ! node --experimental-websocket -e 'process.exit(typeof WebSocket === "function" ? 0 : 1)' 2>/dev/null; then
    echo "skipped: Node has no WebSocket, for WebDriver BiDi"
    skipped=$((skipped + 1))
else
    tally node --experimental-websocket --no-warnings "$site/browser.mjs" "$site" firefox
fi
if command -v chromium >/dev/null 2>&1; then
    tally node "$site/browser.mjs" "$site"
    /usr/bin/python3 -B examples/web/build.py --command "$HG_BUILD_DIR/hologram" build/npm/hologram-*.tgz build/npm/web
    tally node tests/npm/bundlers/run.mjs "$site/node_modules/hologram" build/bundlers build/npm/bundles examples/web/serve.py
    tally node tests/web/run.mjs build/npm/web examples/web/serve.py
    [ "${HG_SLICE:-}" != long ] || tally node tests/web/run.mjs build/npm/web examples/web/serve.py webgpu
else
    echo "skipped: chromium is not installed"
    skipped=$((skipped + 1))
fi
finish

#!/bin/sh
# The character table entry by entry against GAP's character table library, and the file it is kept in as GAP gives it again.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need gap python3
if ! echo 'if not LoadPackage("ctbllib", false) = true then FORCE_QUIT_GAP(1); fi;' >build/characters.g || ! gap -q -A -r --nointeract build/characters.g >/dev/null 2>&1; then
    echo "skipped: GAP has no character table library (gap-character-tables)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
"$HG_BUILD_DIR/tests/test_characters" --listing | tr ' ' '\n' >build/characters.ours
python3 tools/gen_characters --listing | tr ' ' '\n' >build/characters.gap
if cmp build/characters.ours build/characters.gap; then # one field a line
    passed=$(wc -l <build/characters.gap)
else
    diff build/characters.ours build/characters.gap | head -n 20
    failed=1
fi
if [ "$passed" -lt 40000 ]; then
    echo "the listing is short"
    failed=$((failed + 1))
fi
if python3 tools/gen_characters --check; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
finish

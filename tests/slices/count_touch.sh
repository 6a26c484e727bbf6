#!/bin/sh
# An instruction in three files, a backend in one folder and one line: proved on a scratch copy.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need cmake ninja gcc
exec /usr/bin/python3 tools/count-touch

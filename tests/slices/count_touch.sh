#!/bin/sh
# How many files an instruction, a primitive, a backend, a language, a front end, passes and a whole-array instruction take: proved on a scratch copy,
# which rebuilds nearly everything: for `make test-all`.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need cmake ninja gcc
exec /usr/bin/python3 tools/count-touch

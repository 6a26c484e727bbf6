#!/bin/sh
# How many files an instruction, a primitive, a backend, a language, a front end, a pass and a whole-array instruction take: proved on a scratch copy.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need cmake ninja gcc
# The rows of two tables rebuild nearly everything: `make test-all` adds them (HG_SLICE=long).
[ "${HG_SLICE:-}" = long ] && exec /usr/bin/python3 tools/count-touch rows
exec /usr/bin/python3 tools/count-touch backend dialect front-end pass collective

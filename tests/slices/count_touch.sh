#!/bin/sh
# How many files an instruction, a primitive, a backend, a language, a front end, a pass and a whole-array instruction take: proved on a scratch copy.
. "$HG_SOURCE_DIR/tests/slices/_slice.sh"
need cmake ninja gcc
# The rows of two tables rebuild nearly everything: `make test-all` adds them (HG_SLICE=long), and what is like the others.
[ "${HG_SLICE:-}" = long ] && exec /usr/bin/python3 tools/count-touch rows front-end pass
exec /usr/bin/python3 tools/count-touch backend dialect collective

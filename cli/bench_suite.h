/* hologram bench --suite: figures that are named elsewhere, measured here. Must not know: programs
 * of the user's. */
#ifndef HG_CLI_BENCH_SUITE_H
#define HG_CLI_BENCH_SUITE_H

#include "cli.h"

/* name: "specification"; others are a wrong usage. */
void bench_suite(cli *c, const char *name);

#endif

/* What a turn of native code pays for. */
#ifndef HG_CLI_WHY_SLOW_H
#define HG_CLI_WHY_SLOW_H

#include "offline/explain.h"
#include "cli.h"

/* Tells it of the kernels of the program, `count` of them, with what was found of each instruction.
 */
void cli_why_slow(cli *c, const hg_explained *list, const hg_explained_kernel *kernels,
                  uint32_t count);

#endif

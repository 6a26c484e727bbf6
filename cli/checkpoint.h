/* Checkpoints of a run of several steps. */
#ifndef HG_CLI_CHECKPOINT_H
#define HG_CLI_CHECKPOINT_H

#include "arrays.h"
#include "device.h"

/* Whether what a program leaves lies in its arrays alone. False after reporting. */
bool cli_checkpoint_can(cli *c);
/* The arrays that steps leave go to the file, whole; it is replaced at once. A collective. */
hg_status cli_checkpoint_save(cli *c, hg_backend *b, const cli_values *values, const char *path,
                              uint64_t step) HG_NODISCARD;
/* Arrays are as they were behind that step; 0, and nothing else, where there is no file. A
 * collective. */
hg_status cli_checkpoint_restore(cli *c, hg_backend *b, const cli_values *values, const char *path,
                                 uint64_t *step) HG_NODISCARD;

#endif

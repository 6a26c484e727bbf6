/* Checkpoints of a run of several steps. */
#ifndef HG_CLI_CHECKPOINT_H
#define HG_CLI_CHECKPOINT_H

#include "arrays.h"
#include "device.h"

/* How far a run is; bytes are those of a stream. */
typedef struct cli_done {
    uint64_t steps, in_bytes, out_bytes;
} cli_done;
enum { CLI_DONE_WORDS = 3 };

/* Whether what a program leaves lies in its arrays alone, and a file can have it. False after
 * reporting. */
bool cli_checkpoint_can(cli *c, const char *path);
/* The arrays that steps leave go to the file, whole; it is replaced at once. A collective. */
hg_status cli_checkpoint_save(cli *c, hg_backend *b, const cli_values *values, const char *path,
                              const cli_done *done) HG_NODISCARD;
/* Arrays are as they were then; false, and nothing else, where there is no file, but one can be
 * written. A collective. */
hg_status cli_checkpoint_restore(cli *c, hg_backend *b, const cli_values *values, const char *path,
                                 cli_done *done, bool *found) HG_NODISCARD;

#endif

/* Runs on several ranks: threads of this process, or the processes that mpirun has started, one
 * each. Must not know: programs, arrays. */
#ifndef HG_CLI_RANKS_H
#define HG_CLI_RANKS_H

#include "base/thread.h"
#include "cli.h"
#include <hologram/comm.h>

enum { CLI_MOST_RANKS = 256 };
typedef struct cli_meeting cli_meeting; /* of threads */

/* One rank of a run. */
typedef struct cli_rank {
    uint32_t number, count;
    cli_meeting *meeting; /* NULL: the others are processes */
    int *speaker;         /* of threads: 1 + the rank that says what is wrong; 0: nobody so far */
    hg_comm *comm;
    bool came; /* to the meeting */
} cli_rank;

/* --ranks N: `run` on each rank with the command line; returns the exit status of the first that
 * failed. */
typedef int cli_rank_run(int argc, char **argv, cli_rank *rank);
int cli_on_ranks(cli *c, const char *ranks, int argc, char **argv, cli_rank_run *run);

/* Each has its part of the processors, unless somebody said how many threads there are. */
void cli_rank_threads(const cli *c, hg_config *config);
/* The backend is open: the programs of its context have the others from now on. False after
 * reporting, or where another rank has. */
bool cli_rank_join(cli *c, hg_backend *backend);
/* A launch without lanes does nothing: all have lanes, or none has. Waits for all. */
hg_status cli_rank_lanes(const cli *c, const hg_launch *launch) HG_NODISCARD;
/* Until all have come here. */
hg_status cli_rank_wait(const cli *c) HG_NODISCARD;
/* Before its backend is closed: others learn of a failure. False: the backend stays as it is. */
bool cli_rank_leave(cli *c);
/* The command's end: others learn of a failure. Returns its exit status. */
int cli_rank_finish(cli *c);
/* Whether this rank says what is wrong: of threads the first that asks. */
static inline bool cli_rank_speaks(const cli *c) {
    int nobody = 0;
    if (!c->rank || !c->rank->speaker) return true;
    int self = (int)c->rank->number + 1;
    return hg_atomic_compare_exchange(c->rank->speaker, &nobody, self, HG_SEQ_CST) ||
           nobody == self;
}

/* FILE:shard=AXIS: this rank's part along an axis, path without that; else CLI_NO_AXIS. False after
 * reporting what is no axis, or too long a path. */
enum { CLI_PATH_BYTES = 4096 };
#define CLI_NO_AXIS UINT32_MAX
#define CLI_SHARD ":shard="
bool cli_shard(cli *c, const char *option, const char *given, char path[CLI_PATH_BYTES],
               uint32_t *axis);
/* Where the parts of `extent` begin and end: all have as many, the last ones less. */
uint64_t cli_part_begin(const cli *c, uint64_t extent, uint32_t rank);

#endif

/* Runs on several ranks. */
#include "ranks.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ranks read and write for as long as it takes, and one that fails is gone, which the others learn
 * of. What a launch waits for ends with the launch's own time. */
#define AS_LONG_AS_IT_TAKES_MS (UINT64_C(1) << 40)

struct cli_meeting {
    hg_mutex lock;
    hg_cond changed;
    uint32_t count, came; /* with a backend, or without when they failed before */
    bool failed, over;    /* over: there are communicators, or never will be */
    int speaker;          /* cli_rank.speaker */
    hg_backend *backends[CLI_MOST_RANKS];
    hg_comm *comms[CLI_MOST_RANKS];
    hg_error error; /* why there are none */
};

/* ---- threads ---- */

typedef struct one_rank {
    cli_rank rank;
    cli_rank_run *run;
    int argc, status;
    char **argv;
    hg_thread thread;
    bool runs;
} one_rank;

static void *serve(void *user) {
    one_rank *one = user;
    hg_thread_name("hologram-rank");
    one->status = one->run(one->argc, one->argv, &one->rank);
    return NULL;
}

/* The rank comes; NULL: without a backend. Until all have. */
static void meet(cli_rank *r, hg_backend *backend) {
    cli_meeting *m = r->meeting;
    hg_mutex_lock(&m->lock);
    r->came = true;
    m->backends[r->number] = backend;
    m->failed = m->failed || !backend;
    if (++m->came == m->count) {
        if (!m->failed && hg_comm_create_local(m->backends, m->count, m->comms) != HG_OK) {
            m->failed = true;
            m->error = *hg_last_error();
        }
        m->over = true;
        hg_cond_broadcast(&m->changed);
    }
    while (backend && !m->over) hg_cond_wait(&m->changed, &m->lock);
    r->comm = m->failed ? NULL : m->comms[r->number];
    hg_mutex_unlock(&m->lock);
}

static int on_threads(cli *c, uint32_t count, int argc, char **argv, cli_rank_run *run) {
    cli_meeting *m = hg_calloc(1, sizeof *m);
    one_rank *all = hg_calloc(count, sizeof *all);
    if (!m || !all) {
        hg_free(m);
        hg_free(all);
        (void)hg_fail_memory();
        cli_last_error(c);
        return cli_finish(c);
    }
    hg_mutex_init(&m->lock);
    hg_cond_init(&m->changed);
    m->count = count;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (one_rank){
            .rank = {.number = i, .count = count, .meeting = m, .speaker = &m->speaker},
            .run = run,
            .argc = argc,
            .argv = argv};
        all[i].runs = i && hg_thread_start(&all[i].thread, serve, &all[i]);
        if (i && !all[i].runs) meet(&all[i].rank, NULL);
    }
    all[0].status = run(argc, argv, &all[0].rank);
    int status = CLI_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].runs) hg_thread_join(all[i].thread);
        if ((int)i + 1 == m->speaker || (status == CLI_OK && !m->speaker)) status = all[i].status;
    }
    if (m->failed && !m->speaker) {
        if (m->error.status != HG_OK)
            cli_error(c, "X04", "%s", m->error.message);
        else
            cli_error(c, "X04", "the system gives no thread for a rank");
    }
    hg_mutex_destroy(&m->lock);
    hg_cond_destroy(&m->changed);
    hg_free(m);
    hg_free(all);
    if (c->status != CLI_OK) return cli_finish(c);
    cli_release(c);
    return status;
}

/* ---- ranks ---- */

int cli_on_ranks(cli *c, const char *ranks, int argc, char **argv, cli_rank_run *run) {
    uint64_t count = 0;
    bool good = cli_number(c, "--ranks", ranks, CLI_MOST_RANKS, &count);
    if (good && !count) cli_usage(c, "--ranks: 1 to %d, got 0", CLI_MOST_RANKS);
    if (c->status != CLI_OK) return cli_finish(c);
    if (!hg_comm_is_launched("mpi")) return on_threads(c, (uint32_t)count, argc, argv, run);
    cli_rank one = {.count = (uint32_t)count};
    int status = run(argc, argv, &one);
    cli_release(c);
    return status;
}

static bool join_processes(cli *c, hg_backend *backend) {
    cli_rank *r = c->rank;
    if (hg_comm_create("mpi", backend, &r->comm) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    r->number = hg_comm_rank(r->comm);
    if (hg_comm_size(r->comm) == r->count) return true;
    cli_usage(c, "--ranks %u, but mpirun has started %u", (unsigned)r->count,
              (unsigned)hg_comm_size(r->comm));
    return false;
}

void cli_rank_threads(const cli *c, hg_config *config) {
    if (!c->rank || config->num_threads) return;
    uint32_t processors = hg_cpu_count(), each = processors / c->rank->count;
    config->num_threads = each ? each : 1;
}

bool cli_rank_join(cli *c, hg_backend *backend) {
    cli_rank *r = c->rank;
    if (!r) return true;
    if (!r->meeting && !join_processes(c, backend)) return false;
    if (r->meeting) meet(r, backend);
    if (!r->comm) {
        c->status = CLI_FAILED; /* another rank says why */
        return false;
    }
    if (hg_comm_set_timeout(r->comm, AS_LONG_AS_IT_TAKES_MS) == HG_OK &&
        hg_context_set_comm(backend, NULL, r->comm) == HG_OK)
        return true;
    cli_last_error(c);
    return false;
}

hg_status cli_rank_lanes(const cli *c, const hg_launch *launch) {
    uint8_t own = launch->lanes != 0, all[CLI_MOST_RANKS];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U8,
                               .count = 1,
                               .input = &own,
                               .output = all};
    if (!c->rank) return HG_OK;
    HG_TRY(hg_comm_run(c->rank->comm, &call));
    for (uint32_t i = 1; i < c->rank->count; i++)
        if (all[i] != all[0])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "rank %u has no lanes, and others have: fewer rows than ranks",
                           all[0] ? (unsigned)i : 0U);
    return HG_OK;
}

hg_status cli_rank_wait(const cli *c) {
    const hg_comm_call barrier = {.size = sizeof barrier, .kind = HG_COMM_BARRIER};
    return c->rank ? hg_comm_run(c->rank->comm, &barrier) : HG_OK;
}

bool cli_rank_leave(cli *c) {
    cli_rank *r = c->rank;
    if (!r || !r->comm) return true;
    if (c->status != CLI_OK) (void)cli_rank_speaks(c);    /* before others learn of it */
    if (!r->meeting && c->status != CLI_OK) return false; /* MPI may wait for the others for ever */
    hg_comm_destroy(r->comm);
    r->comm = NULL;
    return true;
}

int cli_rank_finish(cli *c) {
    cli_rank *r = c->rank;
    if (!r) return cli_finish(c);
    int status = c->status;
    bool failed = status != CLI_OK, speaks = failed ? cli_rank_speaks(c) : r->number == 0;
    if (r->meeting && !r->came) meet(r, NULL);
    if (speaks)
        status = cli_finish(c);
    else
        cli_release(c);
    if (failed && !r->meeting) { /* the others wait, and so would the end of MPI */
        fflush(NULL);
        _exit(status);
    }
    return status;
}

/* ---- parts ---- */

bool cli_shard(cli *c, const char *option, const char *given, char path[CLI_PATH_BYTES],
               uint32_t *axis) {
    const char *at = strstr(given, CLI_SHARD), *word = at ? at + strlen(CLI_SHARD) : NULL;
    uint64_t number;
    *axis = CLI_NO_AXIS;
    if (!at) return true;
    size_t length = (size_t)(at - given);
    if (!cli_read_number(word, strlen(word), HG_MAX_EXTENTS - 1, &number)) {
        cli_usage(c, "%s: %s: a file is shared along an axis, 0 to %d", option, given,
                  HG_MAX_EXTENTS - 1);
        return false;
    }
    *axis = (uint32_t)number;
    if (length >= CLI_PATH_BYTES) {
        cli_usage(c, "%s: a path of %llu bytes, at most %d", option, (unsigned long long)length,
                  CLI_PATH_BYTES - 1);
        return false;
    }
    memcpy(path, given, length);
    path[length] = '\0';
    return true;
}

uint64_t cli_part_begin(const cli *c, uint64_t extent, uint32_t rank) {
    uint64_t count = c->rank ? c->rank->count : 1, part = extent / count + (extent % count != 0);
    return rank && part > extent / rank ? extent : rank * part;
}

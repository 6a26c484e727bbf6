/* A program on several devices: its graph, whose arrays are the caller's, and how ranks and stages
 * carry it out. Arrays go from device to device through the host.
 * Must not know: which provider ranks have. */
#ifndef HG_DIST_DIST_H
#define HG_DIST_DIST_H

#include "optimize/lanes.h"
#include "graph/shard.h"
#include <hologram/devices.h>

/* ---- devices (multi.c) ---- */

/* Lanes of a program that the devices share (share.c). */
typedef struct dist_sharing {
    hg_program *program; /* the last one, */
    hg_program *strict;  /* what the first device runs of it, */
    hg_program *from;    /* and what the others run */
    optimize_lanes touched;
    double *rates; /* of each device: lanes in a nanosecond; 0: not measured yet */
    /* of launches by all devices, and without those that are much slower than others */
    double all_rate, quick_rate;
    double owed_ns; /* that launches take before the slow ones are tried again */
    struct dist_copy {
        hg_buffer buffer;
        uint64_t bytes;
        void *shared; /* the caller's memory itself, which the device sees too; NULL: it is a copy
                       */
    } * copies;       /* [device][parameter]: of the caller's array */
} dist_sharing;

struct hg_multi_gpu {
    uint32_t count;
    hg_backend **backends;
    hg_comm **comms;
    uint32_t *shares; /* graph_shard_options.shares; NULL: all have as much */
    dist_sharing sharing;
};

/* Of any backends. */
hg_status dist_open_devices(const hg_config *configs, size_t count,
                            hg_multi_gpu **made) HG_NODISCARD;
void dist_sharing_end(hg_multi_gpu *m);

/* ---- a program with its arrays (job.c) ---- */

typedef struct dist_job {
    hg_backend *home; /* whose buffers the parameters are */
    hg_program *program;
    const hg_params *params;
    hg_graph *graph;
    uint64_t *symbols, *sizes; /* of the graph's symbols, of its extents */
    uint8_t *placed;           /* by value: a placement says where it lies */
    uint8_t **inputs;          /* by value: elements of what is given */
    uint8_t **outputs;         /* by output: elements */
    uint64_t *handles;         /* by output: the caller's buffer */
} dist_job;

/* What a graph is given is read; the caller ends it, also after failure. */
hg_status dist_job_begin(dist_job *job, hg_backend *home, hg_program *program,
                         const hg_launch *launch, const hg_params *params) HG_NODISCARD;
/* Outputs go to the caller's buffers. */
hg_status dist_job_finish(dist_job *job) HG_NODISCARD;
void dist_job_end(dist_job *job);
hg_status dist_job_place(dist_job *job, const hg_placement *placements, size_t count) HG_NODISCARD;
/* Inputs that have the batch in front, and that nothing places, are split there; *extent: how much
 * that is, 0: there is none. size: of each part, 0: as the shares say. */
hg_status dist_job_split_batch(dist_job *job, uint32_t ranks, uint64_t size,
                               uint64_t *extent) HG_NODISCARD;

/* Elements of an input or constant of the job's graph by its name. */
const uint8_t *dist_job_input(const dist_job *job, const char *name);

/* ---- ranks (ranks.c) ---- */

/* What one rank does. The communicator is that of the backend's own context. */
hg_status dist_run_rank(dist_job *job, const graph_shard_options *options, uint32_t rank,
                        hg_backend *backend) HG_NODISCARD;
/* All ranks, each by a thread. */
hg_status dist_run_ranks(dist_job *job, const graph_shard_options *options,
                         hg_backend *const *backends, hg_comm *const *comms) HG_NODISCARD;

/* ---- stages (stages.c) ---- */

typedef struct dist_stages {
    uint32_t count;
    const size_t *points; /* instructions that stages but the first begin with; NULL: as many calls
                             each */
    uint32_t batches;     /* that follow each other, where they need nothing of each other */
} dist_stages;
hg_status dist_run_stages(dist_job *job, const dist_stages *stages,
                          hg_backend *const *backends) HG_NODISCARD;

#endif

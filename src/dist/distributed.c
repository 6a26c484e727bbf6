/* hg_distributed_...: this process as one of those that a launcher has started. Must not know: how
 * ranks exchange messages. */
#include "comm/comm.h"
#include "dist/dist.h"
#include <stdio.h>

struct hg_distributed {
    hg_backend *backend;
    hg_comm *comm;
};

static hg_status open_all(hg_distributed *d, const char *const *addresses, size_t count,
                          const char *backend) {
    hg_config config;
    HG_TRY(hg_config_from_env(&config));
    if (backend && strlen(backend) >= sizeof config.backend)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%.100s", backend);
    if (backend) snprintf(config.backend, sizeof config.backend, "%s", backend);
    HG_TRY(hg_backend_create_with_config(&config, &d->backend));
    HG_TRY(hg_comm_create("auto", d->backend, &d->comm));
    uint32_t ranks = hg_comm_size(d->comm);
    if (count > ranks) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%.200s", addresses[ranks]);
    if (count < ranks)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%zu addresses of %u ranks: one each expected",
                       count, (unsigned)ranks);
    return hg_context_set_comm(d->backend, NULL, d->comm);
}

hg_status hg_distributed_create(const char *const *addresses, size_t count, const char *backend,
                                hg_distributed **made) {
    HG_ENTRY;
    if (!addresses || !made) return hg_null_argument(addresses ? "distributed" : "addresses");
    if (count == 0 || count > HG_MAX_GRAPH_RANKS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       count ? "%zu addresses: at most %d are allowed"
                             : "%zu addresses: one for each rank expected, at most %d",
                       count, HG_MAX_GRAPH_RANKS);
    for (size_t i = 0; i < count; i++)
        if (!addresses[i]) return hg_null_argument("address");
    hg_distributed *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    hg_status status = open_all(d, addresses, count, backend);
    hg_error error = *hg_error_record();
    if (status == HG_OK) {
        *made = d;
        return HG_OK;
    }
    hg_distributed_destroy(d);
    *hg_error_record() = error;
    return status;
}

void hg_distributed_destroy(hg_distributed *d) {
    HG_ENTRY;
    if (!d) return;
    if (d->backend) HG_IGNORE(hg_context_set_comm(d->backend, NULL, NULL));
    hg_comm_destroy(d->comm);
    hg_backend_destroy(d->backend);
    hg_free(d);
}

hg_backend *hg_distributed_backend(const hg_distributed *d) {
    HG_ENTRY;
    return d ? d->backend : NULL;
}

hg_comm *hg_distributed_comm(const hg_distributed *d) {
    HG_ENTRY;
    return d ? d->comm : NULL;
}

/* ---- what ranks came to ---- */

static hg_status collective(hg_distributed *d, hg_comm_kind kind, hg_type type, uint64_t count,
                            uint32_t root, void *array) {
    const hg_comm_call call = {.size = sizeof call,
                               .kind = kind,
                               .operation = HG_COMM_MIN,
                               .type = type,
                               .peer = root,
                               .count = count,
                               .input = array,
                               .output = array};
    return hg_comm_run(d->comm, &call);
}

/* The least number of all ranks. Others may still be in a collective of the program, which this
 * call ends as one that differs from it: then all of them come here. */
static hg_status least_of_all(hg_distributed *d, uint32_t own, uint32_t *least) {
    *least = own;
    hg_status status = collective(d, HG_COMM_ALL_REDUCE, HG_TYPE_U32, 1, 0, least);
    if (status != HG_ERROR_INVALID_ARGUMENT) return status;
    *least = own;
    return collective(d, HG_COMM_ALL_REDUCE, HG_TYPE_U32, 1, 0, least);
}

/* Every rank comes here, and all have the same afterwards: HG_OK, or the error of the first rank
 * that failed by itself, before those that learned of it. told: failures that this one was told
 * before the program began. */
static hg_status agree(hg_distributed *d, hg_status status, uint32_t told) {
    uint32_t ranks = hg_comm_size(d->comm), rank = hg_comm_rank(d->comm), own = UINT32_MAX, first;
    hg_error error = *hg_error_record();
    bool was_told = hg_atomic_load(&d->comm->counts.told, HG_RELAXED) != told;
    if (ranks == 1) return status;
    if (status != HG_OK) own = was_told ? ranks + rank : rank;
    hg_status agreed = least_of_all(d, own, &first);
    if (agreed == HG_OK && first != UINT32_MAX) {
        uint32_t root = first % ranks;
        agreed = collective(d, HG_COMM_BROADCAST, HG_TYPE_U8, sizeof error, root, &error);
        if (agreed == HG_OK && root != rank) {
            agreed = hg_fail(error.status, "rank %u: %s", (unsigned)root, error.message);
            memcpy(error.message, hg_error_record()->message, sizeof error.message);
            *hg_error_record() = error; /* with its place */
            return agreed;
        }
    }
    if (status == HG_OK) return agreed;
    *hg_error_record() = error;
    return status;
}

static hg_status run(hg_distributed *d, dist_job *job, const hg_placement *placements, size_t count,
                     hg_cluster_strategy strategy) {
    uint32_t ranks = hg_comm_size(d->comm), rank = hg_comm_rank(d->comm);
    graph_shard_options options = {.ranks = ranks, .whole_outputs = true};
    uint64_t extent;
    if (count && !placements) return hg_null_argument("placements");
    if (strategy != HG_CLUSTER_REPLICATED) HG_TRY(dist_job_place(job, placements, count));
    if (strategy == HG_CLUSTER_SHARDED) HG_TRY(dist_job_split_batch(job, ranks, 0, &extent));
    HG_TRY(dist_run_rank(job, &options, rank, d->backend));
    return dist_job_finish(job);
}

hg_status hg_distributed_execute_cluster(hg_distributed *d, hg_program *program,
                                         const hg_launch *launch, const hg_params *params,
                                         const hg_placement *placements, size_t count,
                                         hg_cluster_strategy strategy) {
    HG_ENTRY;
    dist_job job;
    if (!d || !program || !params)
        return hg_null_argument(!d ? "distributed" : !program ? "program" : "params");
    if ((int)strategy < 0 || strategy > HG_CLUSTER_HYBRID)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "strategy %d is none: 0 to %d", (int)strategy,
                       (int)HG_CLUSTER_HYBRID);
    uint32_t told = hg_atomic_load(&d->comm->counts.told, HG_RELAXED);
    hg_status status = dist_job_begin(&job, d->backend, program, launch, params);
    if (status == HG_OK) status = run(d, &job, placements, count, strategy);
    status = agree(d, status, told);
    hg_error error = *hg_error_record();
    dist_job_end(&job);
    if (status != HG_OK) *hg_error_record() = error;
    return status;
}

hg_status hg_distributed_all_reduce(hg_distributed *d, hg_buffer buffer, hg_type type,
                                    uint64_t count, hg_comm_operation operation) {
    HG_ENTRY;
    if (!d) return hg_null_argument("distributed");
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_REDUCE,
                               .operation = operation,
                               .type = type,
                               .count = count,
                               .input_buffer = buffer,
                               .output_buffer = buffer};
    return hg_comm_run(d->comm, &call);
}

hg_status hg_distributed_all_gather(hg_distributed *d, hg_buffer local, uint64_t bytes,
                                    hg_buffer global) {
    HG_ENTRY;
    if (!d) return hg_null_argument("distributed");
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U8,
                               .count = bytes,
                               .input_buffer = local,
                               .output_buffer = global};
    return hg_comm_run(d->comm, &call);
}

hg_status hg_distributed_broadcast(hg_distributed *d, hg_buffer buffer, uint64_t bytes,
                                   uint32_t root) {
    HG_ENTRY;
    if (!d) return hg_null_argument("distributed");
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_BROADCAST,
                               .type = HG_TYPE_U8,
                               .peer = root,
                               .count = bytes,
                               .input_buffer = buffer,
                               .output_buffer = buffer};
    return hg_comm_run(d->comm, &call);
}

/* hg_multi_gpu_...: devices of this machine on one program. Must not know: MPI. */
#include "dist/dist.h"
#include <math.h>
#include <stdio.h>

enum { MOST_DEVICES = 256 };

/* ---- devices ---- */

static void close_comms(hg_multi_gpu *m) {
    for (uint32_t i = 0; m->comms && i < m->count; i++) {
        if (m->backends[i]) HG_IGNORE(hg_context_set_comm(m->backends[i], NULL, NULL));
        hg_comm_destroy(m->comms[i]);
        m->comms[i] = NULL;
    }
}

/* Anew after a failure: what failed has revoked it. */
static hg_status open_comms(hg_multi_gpu *m) {
    HG_TRY(hg_comm_create_local(m->backends, m->count, m->comms));
    for (uint32_t i = 0; i < m->count; i++)
        HG_TRY(hg_context_set_comm(m->backends[i], NULL, m->comms[i]));
    return HG_OK;
}

static hg_status open_all(hg_multi_gpu *m, const hg_config *configs) {
    m->backends = hg_calloc(m->count, sizeof(hg_backend *));
    m->comms = hg_calloc(m->count, sizeof(hg_comm *));
    if (!m->backends || !m->comms) return hg_fail_memory();
    for (uint32_t i = 0; i < m->count; i++)
        HG_TRY(hg_backend_create_with_config(&configs[i], &m->backends[i]));
    return open_comms(m);
}

hg_status dist_open_devices(const hg_config *configs, size_t count, hg_multi_gpu **made) {
    hg_multi_gpu *m = hg_calloc(1, sizeof *m);
    if (!m) return hg_fail_memory();
    m->count = (uint32_t)count;
    hg_status status = open_all(m, configs);
    hg_error error = *hg_error_record();
    if (status == HG_OK) {
        *made = m;
        return HG_OK;
    }
    hg_multi_gpu_destroy(m);
    *hg_error_record() = error;
    return status;
}

/* "cpu" for all, or "cpu+opencl": one for each. Results of unlike devices are the same, so they
 * take no liberties. */
static hg_status read_names(const char *backend, const uint32_t *devices, size_t count,
                            hg_config *configs) {
    const char *given = backend;
    size_t names = 1;
    for (const char *c = backend; *c; c++) names += *c == '+';
    if (names != 1 && names != count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.100s: %zu backends for %zu devices", backend,
                       names, count);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(backend, "+");
        HG_TRY(hg_config_from_env(&configs[i]));
        if (names > 1 && !length)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.100s: the name of backend %zu is missing",
                           given, i);
        if (length >= sizeof configs[i].backend)
            return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "%.*s", (int)(length < 100 ? length : 100),
                           backend);
        memcpy(configs[i].backend, backend, length);
        configs[i].backend[length] = 0;
        configs[i].device_id = devices[i];
        configs[i].deterministic |= names > 1;
        if (names > 1) backend += length + (backend[length] == '+');
    }
    return HG_OK;
}

hg_status hg_multi_gpu_create(const char *backend, const uint32_t *devices, size_t count,
                              hg_multi_gpu **made) {
    HG_ENTRY;
    if (!backend || !devices || !made)
        return hg_null_argument(!backend ? "backend" : !devices ? "devices" : "devices_out");
    if (count == 0 || count > MOST_DEVICES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%zu devices: from 1 to %d expected", count,
                       (int)MOST_DEVICES);
    hg_config *configs = hg_calloc(count, sizeof *configs);
    if (!configs) return hg_fail_memory();
    hg_status status = read_names(backend, devices, count, configs);
    if (status == HG_OK) status = dist_open_devices(configs, count, made);
    hg_free(configs);
    return status;
}

void hg_multi_gpu_destroy(hg_multi_gpu *m) {
    HG_ENTRY;
    if (!m) return;
    dist_sharing_end(m);
    close_comms(m);
    for (uint32_t i = 0; m->backends && i < m->count; i++) hg_backend_destroy(m->backends[i]);
    hg_free(m->backends);
    hg_free(m->comms);
    hg_free(m->shares);
    hg_free(m);
}

uint32_t hg_multi_gpu_count(const hg_multi_gpu *m) {
    HG_ENTRY;
    return m ? m->count : 0;
}

hg_backend *hg_multi_gpu_backend(const hg_multi_gpu *m, uint32_t device) {
    HG_ENTRY;
    return m && device < m->count ? m->backends[device] : NULL;
}

hg_status hg_multi_gpu_weights(hg_multi_gpu *m, const double *weights, size_t count) {
    HG_ENTRY;
    if (!m || !weights) return hg_null_argument(m ? "weights" : "devices");
    if (count != m->count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%zu weights of %u devices", count,
                       (unsigned)m->count);
    double all = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(weights[i] >= 0) || !isfinite(weights[i]))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "weight %zu is %g: a finite number of 0 or more expected", i,
                           weights[i]);
        all += weights[i];
    }
    if (!(all > 0) || !isfinite(all))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the weights add up to %g", all);
    uint32_t *shares = hg_calloc(count + 1, sizeof *shares);
    if (!shares) return hg_fail_memory();
    for (size_t i = 0; i < count; i++) {
        shares[i] = (uint32_t)(sum / all * GRAPH_SHARES);
        sum += weights[i];
    }
    shares[count] = GRAPH_SHARES;
    hg_free(m->shares);
    m->shares = shares;
    return HG_OK;
}

/* ---- programs ---- */

static hg_status begin(hg_multi_gpu *m, dist_job *job, hg_program *program, const hg_launch *launch,
                       const hg_params *params) {
    if (!m || !program || !params)
        return hg_null_argument(!m ? "devices" : !program ? "program" : "params");
    hg_status status = dist_job_begin(job, m->backends[0], program, launch, params);
    hg_error error = *hg_error_record();
    if (status == HG_OK) return HG_OK;
    dist_job_end(job);
    *hg_error_record() = error;
    return status;
}

static hg_status end(dist_job *job, hg_status status) {
    if (status == HG_OK) status = dist_job_finish(job);
    hg_error error = *hg_error_record();
    dist_job_end(job);
    if (status != HG_OK) *hg_error_record() = error;
    return status;
}

static hg_status run_ranks(hg_multi_gpu *m, dist_job *job) {
    graph_shard_options options = {.ranks = m->count, .shares = m->shares};
    hg_status status = dist_run_ranks(job, &options, m->backends, m->comms);
    if (status == HG_OK) return HG_OK;
    hg_error error = *hg_error_record();
    close_comms(m);
    HG_IGNORE(open_comms(m)); /* else the next call says so */
    *hg_error_record() = error;
    return status;
}

static hg_status data_parallel(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                               const hg_params *params, const hg_placement *placements,
                               size_t count, uint64_t batch_size, bool splits) {
    dist_job job;
    uint64_t extent;
    HG_TRY(begin(m, &job, program, launch, params));
    hg_status status = dist_job_place(&job, placements, count);
    if (status == HG_OK && splits)
        status = dist_job_split_batch(&job, m->count, batch_size, &extent);
    if (status == HG_OK) status = run_ranks(m, &job);
    return end(&job, status);
}

static hg_status stages_of(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                           const hg_params *params, dist_stages stages, bool batches) {
    dist_job job;
    uint64_t extent = 0;
    HG_TRY(begin(m, &job, program, launch, params));
    hg_status status = HG_OK;
    stages.batches = 1;
    if (batches) status = dist_job_split_batch(&job, 2 * stages.count, 0, &extent);
    if (extent >= 2) /* twice as many as stages keep all of them at work */
        stages.batches = extent < 2 * stages.count ? (uint32_t)extent : 2 * stages.count;
    if (status == HG_OK) status = dist_run_stages(&job, &stages, m->backends);
    return end(&job, status);
}

hg_status hg_multi_gpu_data_parallel(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                                     const hg_params *params, const hg_placement *placements,
                                     size_t count, uint64_t batch_size) {
    HG_ENTRY;
    return data_parallel(m, program, launch, params, placements, count, batch_size, true);
}

hg_status hg_multi_gpu_model_parallel(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                                      const hg_params *params, const size_t *points, size_t count) {
    HG_ENTRY;
    if (!m || !program) return hg_null_argument(m ? "program" : "devices");
    if (count && !points) return hg_null_argument("points");
    if (count >= m->count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%zu split points on %u devices: at most %u",
                       count, (unsigned)m->count, (unsigned)m->count - 1);
    for (size_t i = 0; i < count; i++) {
        size_t least = i ? points[i - 1] + 1 : 1, end_at = program->inst_count;
        if (points[i] < least || points[i] >= end_at)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "split point %zu is instruction %zu: from %zu to %zu expected, of %zu",
                           i, points[i], least, end_at ? end_at - 1 : 0, end_at);
    }
    return stages_of(m, program, launch, params,
                     (dist_stages){.count = (uint32_t)count + 1, .points = points}, false);
}

hg_status hg_multi_gpu_pipeline_parallel(hg_multi_gpu *m, hg_program *program,
                                         const hg_launch *launch, const hg_params *params,
                                         size_t stages) {
    HG_ENTRY;
    if (!m) return hg_null_argument("devices");
    if (stages == 0 || stages > m->count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%zu stages on %u devices: from 1 to %u expected",
                       stages, (unsigned)m->count, (unsigned)m->count);
    return stages_of(m, program, launch, params, (dist_stages){.count = (uint32_t)stages}, true);
}

hg_status hg_multi_gpu_execute(hg_multi_gpu *m, hg_program *program, const hg_launch *launch,
                               const hg_params *params, const hg_placement *placements,
                               size_t count, hg_distribution strategy) {
    HG_ENTRY;
    if (!m) return hg_null_argument("devices");
    switch (strategy) {
    case HG_DISTRIBUTION_DATA_PARALLEL:
    case HG_DISTRIBUTION_HYBRID:
        return data_parallel(m, program, launch, params, placements, count, 0,
                             strategy == HG_DISTRIBUTION_DATA_PARALLEL);
    case HG_DISTRIBUTION_MODEL_PARALLEL:
        return stages_of(m, program, launch, params, (dist_stages){.count = m->count}, false);
    case HG_DISTRIBUTION_PIPELINE_PARALLEL:
        return stages_of(m, program, launch, params, (dist_stages){.count = m->count}, true);
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "strategy %d is none: 0 to %d", (int)strategy,
                   (int)HG_DISTRIBUTION_HYBRID);
}

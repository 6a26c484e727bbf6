/* Ranks that share a graph: each has its parts on its device, runs its own graph, and returns
 * its parts of the outputs. Must not know: stages. */
#include "base/thread.h"
#include "dist/dist.h"

typedef struct rank_run {
    dist_job *job;
    graph_sharded sharded;
    hg_backend *backend;
    hg_params *params;
    hg_buffer *buffers; /* by part */
} rank_run;

static hg_status bind_part(rank_run *r, uint64_t i) {
    const graph_part *p = &r->sharded.parts[i];
    const uint8_t *whole = p->source == GRAPH_RESULT ? NULL : dist_job_input(r->job, p->name);
    uint64_t bytes = graph_part_bytes(p);
    if (p->source != GRAPH_RESULT && !whole) return HG_OK; /* its elements stand with the graph */
    HG_TRY(hg_backend_allocate_buffer(r->backend, bytes, &r->buffers[i]));
    HG_TRY(hg_params_set_buffer(r->params, p->name, r->buffers[i]));
    if (!whole || !bytes) return HG_OK;
    uint8_t *own = hg_alloc((size_t)bytes);
    if (!own) return hg_fail_memory();
    graph_take_part(p, whole, own);
    hg_status status = hg_buffer_write(r->backend, r->buffers[i], 0, own, bytes);
    hg_free(own);
    return status;
}

static hg_status read_part(rank_run *r, uint64_t i, uint8_t *whole) {
    uint64_t bytes = graph_part_bytes(&r->sharded.parts[i]);
    if (!bytes) return HG_OK;
    uint8_t *own = hg_alloc((size_t)bytes);
    if (!own) return hg_fail_memory();
    hg_status status = hg_buffer_read(r->backend, r->buffers[i], 0, own, bytes);
    if (status == HG_OK) graph_give_part(&r->sharded.parts[i], own, whole);
    hg_free(own);
    return status;
}

/* Outputs stand among the parts in their order; one that all have whole is taken from the first. */
static hg_status read_outputs(rank_run *r, bool whole_too) {
    uint64_t output = 0;
    for (uint64_t i = 0; i < r->sharded.part_count; i++) {
        const graph_part *p = &r->sharded.parts[i];
        if (p->source != GRAPH_RESULT) continue;
        uint8_t *to = r->job->outputs[output++];
        if (p->place == GRAPH_SPLIT || whole_too) HG_TRY(read_part(r, i, to));
    }
    return HG_OK;
}

static hg_status run(rank_run *r, bool whole_too) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    r->params = hg_params_create();
    r->buffers = hg_calloc((size_t)r->sharded.part_count + 1, sizeof *r->buffers);
    hg_status status = r->params && r->buffers ? HG_OK : hg_fail_memory();
    for (uint64_t i = 0; i < r->sharded.part_count && status == HG_OK; i++)
        status = bind_part(r, i);
    if (status == HG_OK) status = hg_graph_compile(r->backend, r->sharded.graph, NULL, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, r->params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    if (status == HG_OK) status = read_outputs(r, whole_too);
    hg_error error = *hg_error_record();
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    for (uint64_t i = 0; r->buffers && i < r->sharded.part_count; i++)
        if (r->buffers[i].handle) HG_IGNORE(hg_backend_free_buffer(r->backend, r->buffers[i]));
    hg_params_destroy(r->params);
    hg_free(r->buffers);
    if (status != HG_OK) *hg_error_record() = error;
    return status;
}

hg_status dist_run_rank(dist_job *job, const graph_shard_options *options, uint32_t rank,
                        hg_backend *backend) {
    rank_run r = {.job = job, .backend = backend};
    HG_TRY(graph_shard(job->graph, job->symbols, options, rank, &r.sharded));
    hg_status status = run(&r, rank == 0 || options->whole_outputs);
    graph_sharded_free(&r.sharded);
    return status;
}

/* ---- all of them ---- */

typedef struct rank_thread {
    dist_job *job;
    const graph_shard_options *options;
    uint32_t rank;
    hg_backend *backend;
    hg_comm *comm;
    hg_thread thread;
    bool started;
    hg_status status;
    hg_error error;
} rank_thread;

static void *serve(void *user) {
    rank_thread *t = user;
    t->status = dist_run_rank(t->job, t->options, t->rank, t->backend);
    t->error = *hg_error_record();
    if (t->status != HG_OK) HG_IGNORE(hg_comm_revoke(t->comm));
    return NULL;
}

/* The first one that failed by itself, before those that learned of it. */
static hg_status result_of(const rank_thread *threads, uint32_t count) {
    const rank_thread *failed = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const rank_thread *t = &threads[i];
        bool told = failed && strstr(failed->error.message, "revoke");
        if (t->status != HG_OK && (!failed || told)) failed = t;
    }
    if (!failed) return HG_OK;
    *hg_error_record() = failed->error;
    return failed->status;
}

/* Outputs that ranks have whole are written by the first alone; parts do not overlap. */
hg_status dist_run_ranks(dist_job *job, const graph_shard_options *options,
                         hg_backend *const *backends, hg_comm *const *comms) {
    rank_thread *threads = hg_calloc(options->ranks, sizeof *threads);
    if (!threads) return hg_fail_memory();
    for (uint32_t i = 0; i < options->ranks; i++) {
        rank_thread *t = &threads[i];
        *t = (rank_thread){job, options, i, backends[i], comms[i], .status = HG_OK};
        t->started = hg_thread_start(&t->thread, serve, t);
        if (t->started) continue;
        t->status = hg_fail(HG_ERROR_WOULD_BLOCK, "the system gives no thread for device %u",
                            (unsigned)i);
        t->error = *hg_error_record();
        HG_IGNORE(hg_comm_revoke(t->comm));
    }
    for (uint32_t i = 0; i < options->ranks; i++)
        if (threads[i].started) hg_thread_join(threads[i].thread);
    hg_status status = result_of(threads, options->ranks);
    hg_free(threads);
    return status;
}

/* Stages of a graph, each on a device of its own: parts of the batch follow each other through
 * them. Must not know: ranks. */
#include "base/thread.h"
#include "dist/dist.h"
#include "graph/slice.h"
#include <stdio.h>

/* A part of the batch on its way. */
typedef struct batch {
    graph_sharded sharded;
    uint64_t *sizes;  /* of its graph's extents */
    uint8_t **arrays; /* by value: elements, once they are there */
    uint32_t *begins; /* the first call of each stage, and the end */
} batch;

typedef struct pipeline {
    dist_job *job;
    const dist_stages *stages;
    hg_backend *const *backends;
    batch *batches;
    uint32_t batch_count;
    hg_mutex lock;
    hg_cond changed;
    uint32_t *done; /* by stage: batches behind it */
    hg_status status;
    hg_error error;
} pipeline;

typedef struct stage {
    pipeline *p;
    uint32_t number;
    hg_thread thread;
} stage;

/* ---- a stage of a batch ---- */

static uint64_t bytes_of(const batch *b, uint32_t value) {
    const graph_value *v = &b->sharded.graph->values.data[value];
    return plan_times(b->sizes[v->elements], graph_type_bytes(v));
}

static hg_status bind_value(const batch *b, const graph_slice *slice, uint32_t i,
                            hg_backend *backend, hg_params *params, hg_buffer buffers[2]) {
    uint64_t bytes = bytes_of(b, i);
    char name[24];
    if (slice->read[i]) {
        snprintf(name, sizeof name, "in_%u", (unsigned)i);
        HG_TRY(hg_backend_allocate_buffer(backend, bytes, &buffers[0]));
        HG_TRY(hg_params_set_buffer(params, name, buffers[0]));
        if (bytes) HG_TRY(hg_buffer_write(backend, buffers[0], 0, b->arrays[i], bytes));
    }
    if (!slice->shown[i]) return HG_OK;
    snprintf(name, sizeof name, "out_%u", (unsigned)i);
    HG_TRY(hg_backend_allocate_buffer(backend, bytes, &buffers[1]));
    return hg_params_set_buffer(params, name, buffers[1]);
}

static hg_status run_bound(batch *b, const graph_slice *slice, hg_backend *backend,
                           const hg_params *params, hg_buffer (*buffers)[2]) {
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_status status = hg_graph_compile(backend, slice->graph, NULL, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    for (uint32_t i = 0; i < b->sharded.graph->values.count && status == HG_OK; i++) {
        uint64_t bytes = slice->shown[i] ? bytes_of(b, i) : 0;
        if (!slice->shown[i]) continue;
        if (!b->arrays[i]) b->arrays[i] = hg_alloc((size_t)bytes + 1);
        status = b->arrays[i] ? HG_OK : hg_fail_memory();
        if (status == HG_OK && bytes)
            status = hg_buffer_read(backend, buffers[i][1], 0, b->arrays[i], bytes);
    }
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    return status;
}

static hg_status run_slice(batch *b, const graph_slice *slice, hg_backend *backend) {
    uint64_t count = b->sharded.graph->values.count;
    hg_buffer(*buffers)[2] = hg_calloc((size_t)count + 1, sizeof *buffers);
    hg_params *params = hg_params_create();
    hg_status status = buffers && params ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = bind_value(b, slice, i, backend, params, buffers[i]);
    if (status == HG_OK) status = run_bound(b, slice, backend, params, buffers);
    for (uint64_t i = 0; buffers && i < count; i++)
        for (int k = 0; k < 2; k++)
            if (buffers[i][k].handle) HG_IGNORE(hg_backend_free_buffer(backend, buffers[i][k]));
    hg_params_destroy(params);
    hg_free(buffers);
    return status;
}

static hg_status run_stage(batch *b, uint32_t number, hg_backend *backend) {
    graph_slice slice;
    HG_TRY(graph_make_slice(b->sharded.graph, b->begins[number], b->begins[number + 1], &slice));
    hg_status status = slice.graph->outputs.count ? run_slice(b, &slice, backend) : HG_OK;
    graph_slice_free(&slice);
    return status;
}

/* ---- all stages ---- */

/* Whether the stage before is through with the batch; false: something failed. */
static bool wait_for(pipeline *p, uint32_t number, uint32_t batch_number) {
    hg_mutex_lock(&p->lock);
    while (p->status == HG_OK && number && p->done[number - 1] <= batch_number)
        hg_cond_wait(&p->changed, &p->lock);
    bool good = p->status == HG_OK;
    hg_mutex_unlock(&p->lock);
    return good;
}

static void note(pipeline *p, uint32_t number, hg_status status) {
    hg_mutex_lock(&p->lock);
    p->done[number]++;
    if (status != HG_OK && p->status == HG_OK) {
        p->status = status;
        p->error = *hg_error_record();
    }
    hg_cond_broadcast(&p->changed);
    hg_mutex_unlock(&p->lock);
}

static void *serve(void *user) {
    stage *s = user;
    for (uint32_t i = 0; i < s->p->batch_count && wait_for(s->p, s->number, i); i++)
        note(s->p, s->number, run_stage(&s->p->batches[i], s->number, s->p->backends[s->number]));
    return NULL;
}

static hg_status run_all(pipeline *p) {
    stage *list = hg_calloc(p->stages->count, sizeof *list);
    uint32_t started = 0;
    if (!list) return hg_fail_memory();
    for (; started < p->stages->count; started++) {
        list[started] = (stage){.p = p, .number = started};
        if (!hg_thread_start(&list[started].thread, serve, &list[started])) break;
    }
    if (started < p->stages->count)
        note(p, started, hg_fail(HG_ERROR_WOULD_BLOCK, "the system gives no thread for a stage"));
    for (uint32_t i = 0; i < started; i++) hg_thread_join(list[i].thread);
    hg_free(list);
    if (p->status != HG_OK) *hg_error_record() = p->error;
    return p->status;
}

/* ---- batches ---- */

/* A call that sharding added belongs to the stage of those before it. */
static void cut_calls(const dist_stages *stages, batch *b) {
    const hg_graph *g = b->sharded.graph;
    uint32_t at = 0, count = (uint32_t)g->calls.count;
    for (uint32_t s = 1; s < stages->count; s++) {
        while (stages->points && at < count && g->calls.data[at].inst < stages->points[s - 1]) at++;
        b->begins[s] = stages->points ? at : (uint32_t)((uint64_t)count * s / stages->count);
    }
    b->begins[stages->count] = count;
}

static hg_status make_batch(dist_job *job, const dist_stages *stages,
                            const graph_shard_options *options, uint32_t number, batch *b) {
    HG_TRY(graph_shard(job->graph, job->symbols, options, number, &b->sharded));
    const hg_graph *g = b->sharded.graph;
    b->sizes = hg_calloc((size_t)g->terms.count + 1, sizeof *b->sizes);
    b->arrays = hg_calloc((size_t)g->values.count + 1, sizeof *b->arrays);
    b->begins = hg_calloc((size_t)stages->count + 1, sizeof *b->begins);
    if (!b->sizes || !b->arrays || !b->begins) return hg_fail_memory();
    graph_extent_values(g, NULL, b->sizes);
    cut_calls(stages, b);
    for (uint64_t i = 0; i < b->sharded.part_count; i++) {
        const graph_part *p = &b->sharded.parts[i];
        const uint8_t *whole = p->source == GRAPH_RESULT ? NULL : dist_job_input(job, p->name);
        if (!whole) continue;
        uint8_t *own = hg_alloc((size_t)graph_part_bytes(p) + 1);
        if (!own) return hg_fail_memory();
        graph_take_part(p, whole, own);
        b->arrays[graph_find_value(g, p->name, strlen(p->name))] = own;
    }
    return HG_OK;
}

static void give_outputs(const dist_job *job, const batch *b) {
    uint64_t output = 0;
    for (uint64_t i = 0; i < b->sharded.part_count; i++) {
        const graph_part *p = &b->sharded.parts[i];
        if (p->source != GRAPH_RESULT) continue;
        uint32_t value = b->sharded.graph->outputs.data[output].value;
        graph_give_part(p, b->arrays[value], job->outputs[output]);
        output++;
    }
}

static void free_batch(batch *b) {
    for (uint64_t i = 0; b->arrays && i < b->sharded.graph->values.count; i++)
        hg_free(b->arrays[i]);
    hg_free(b->arrays);
    hg_free(b->sizes);
    hg_free(b->begins);
    graph_sharded_free(&b->sharded);
}

/* Parts of the batch, where they need nothing of each other. */
static hg_status find_batches(const dist_job *job, uint32_t wanted, uint32_t *count) {
    graph_shard_options options = {.ranks = wanted, .no_arrays = true};
    graph_sharded sharded = {0};
    *count = wanted;
    if (wanted == 1) return HG_OK;
    HG_TRY(graph_shard(job->graph, job->symbols, &options, 0, &sharded));
    for (uint64_t i = 0; i < sharded.graph->calls.count; i++)
        if (graph_is_collective(&sharded.graph->calls.data[i])) *count = 1;
    graph_sharded_free(&sharded);
    return HG_OK;
}

hg_status dist_run_stages(dist_job *job, const dist_stages *stages, hg_backend *const *backends) {
    pipeline p = {.job = job, .stages = stages, .backends = backends, .status = HG_OK};
    HG_TRY(find_batches(job, stages->batches, &p.batch_count));
    graph_shard_options options = {.ranks = p.batch_count};
    p.batches = hg_calloc(p.batch_count, sizeof *p.batches);
    p.done = hg_calloc((size_t)stages->count + 1, sizeof *p.done);
    hg_status status = p.batches && p.done ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < p.batch_count && status == HG_OK; i++)
        status = make_batch(job, stages, &options, i, &p.batches[i]);
    hg_mutex_init(&p.lock);
    hg_cond_init(&p.changed);
    if (status == HG_OK) status = run_all(&p);
    hg_cond_destroy(&p.changed);
    hg_mutex_destroy(&p.lock);
    for (uint32_t i = 0; p.batches && i < p.batch_count; i++) {
        if (status == HG_OK) give_outputs(job, &p.batches[i]);
        free_batch(&p.batches[i]);
    }
    hg_free(p.batches);
    hg_free(p.done);
    return status;
}

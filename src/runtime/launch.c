/* Kernels in device form run to their end: begin, windows, wait. What the fast path and expanded
 * steps use; the plan machine goes through windows by itself.
 * Must not know: plans, handles. */
#include "runtime/execute_internal.h"
#include <string.h>

/* ---- launches that were checked ---- */

static bool prove(const hg_binding *binding, const hg_kernel *kernel, const hg_driver_launch *l,
                  const uint64_t *sizes) {
    kir_prove_launch launch = {.lanes = l->lanes,
                               .shared_bytes = l->shared_bytes - l->shared_scratch,
                               .inputs = l->inputs,
                               .slot_bytes = sizes,
                               .uniforms = binding->env.bytes,
                               .unknown = binding->env.stale,
                               .cuts_loops = kernel->code->facts.cuts_loops};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    return kir_prove(kernel->prover, &launch);
}

/* What a proof is about: inputs, sizes of slots, then of each value that the kernel loads from the
 * environment whether the host knows it, and the value. */
static uint64_t fact_of(const hg_binding *binding, uint32_t index, const hg_driver_launch *l,
                        uint32_t i) {
    const hg_kernel *kernel = &binding->executable->kernels[index];
    const hg_plan *plan = binding->executable->plan;
    uint64_t value = 0;
    if (i < kernel->input_count) return l->inputs[i];
    i -= kernel->input_count;
    if (i < kernel->slot_count) return l->slots[i].arena ? l->slots[i].size : 0;
    i -= kernel->slot_count;
    uint32_t offset =
        plan->env.data[plan->refs.data[plan->kernels.data[index].loads.first + i / 2]].offset;
    bool unknown = binding->env.stale && binding->env.stale[offset / 8];
    if (i % 2 == 0 || unknown) return unknown;
    memcpy(&value, binding->env.bytes + offset, sizeof value);
    return value;
}

/* A binding's lanes stay the same: only other facts change the answer. */
bool hg_launch_proven(hg_binding *binding, uint32_t index, const hg_driver_launch *l) {
    const hg_kernel *kernel = &binding->executable->kernels[index];
    hg_bound_kernel *bound = &binding->kernels[index];
    if (!kernel->prover) return false;
    uint32_t count = kernel->input_count + kernel->slot_count +
                     2 * binding->executable->plan->kernels.data[index].loads.count,
             i = 0;
    while (bound->proved && i < count && bound->proved[i] == fact_of(binding, index, l, i)) i++;
    if (bound->proved && i == count) return bound->proven;
    if (!bound->proved)
        bound->proved = hg_arena_alloc(&binding->arena,
                                       (count + (size_t)1) * sizeof *bound->proved);
    if (!bound->proved) return false;
    for (; i < count; i++) bound->proved[i] = fact_of(binding, index, l, i);
    bound->proven = prove(binding, kernel, l, bound->proved + kernel->input_count);
    return bound->proven;
}

/* ---- launches ---- */

static hg_status run_window(hg_stream *stream, hg_submission *d) {
    const hg_backend *b = stream->context->backend;
    if (!b->caps->scheduling.asynchronous) return hg_dispatch_submit(d, stream->queue, NULL);
    if (!stream->event) HG_TRY(b->driver->event_create(b->device, &stream->event));
    HG_TRY(hg_dispatch_submit(d, stream->queue, stream->event));
    return hg_stream_wait(stream);
}

/* hg_dispatch_begin and the first hg_dispatch_prepare, which are waited for. */
static hg_status prepare(hg_submission *d) {
    bool waits;
    hg_status status = hg_dispatch_prepare(d, &waits);
    for (; status == HG_OK && waits; status = hg_dispatch_prepare(d, &waits))
        hg_dispatch_wait(d, UINT64_MAX);
    if (status != HG_OK) hg_dispatch_abandon(d);
    return status;
}

static hg_status begin(hg_stream *stream, hg_submission *d, const hg_kernel *kernel,
                       const hg_driver_launch *launch, bool proven, bool unchanged) {
    bool waits = true;
    while (waits) {
        HG_TRY(hg_dispatch_begin(d, kernel->code, &stream->dispatch, launch, proven, unchanged,
                                 &waits));
        if (waits) hg_dispatch_wait(d, UINT64_MAX);
    }
    return prepare(d);
}

/* A launch that has begun, window by window. */
static hg_status finish(hg_stream *stream, hg_submission *d, hg_driver_fault *fault) {
    for (;;) {
        hg_status status = run_window(stream, d);
        if (status != HG_OK) {
            hg_dispatch_abandon(d);
            return status;
        }
        if (!hg_dispatch_done(d, fault)) return HG_OK;
        HG_TRY(prepare(d));
    }
}

hg_status hg_launch_wait(hg_stream *stream, hg_submission *d, const hg_kernel *kernel,
                         const hg_driver_launch *launch, bool proven, bool unchanged,
                         hg_driver_fault *fault) {
    HG_TRY(begin(stream, d, kernel, launch, proven, unchanged));
    return finish(stream, d, fault);
}

hg_status hg_launch_only(hg_stream *stream, const hg_kernel *kernel, const hg_driver_launch *launch,
                         bool proven, hg_driver_fault *fault) {
    hg_submission d = {0};
    hg_status status = begin(stream, &d, kernel, launch, proven, false);
    if (status == HG_OK && !hg_dispatch_needs_wait(&d)) {
        status = hg_dispatch_submit(&d, stream->queue, NULL);
        if (status != HG_OK) hg_dispatch_abandon(&d);
    } else if (status == HG_OK) {
        status = finish(stream, &d, fault);
    }
    hg_dispatch_free(&d);
    return status;
}

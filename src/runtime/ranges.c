/* Launches whose memory the device does not bind whole: their lanes in ranges, each with the parts
 * of the memory that its lanes can touch, as kir_prove_reach says.
 * Must not know: windows. */
#include "kir/fault_text.h"
#include "runtime/backend.h"
#include "runtime/dispatch_internal.h"
#include <string.h>

enum { MOST_RANGES = 4096 };

/* ---- what the device binds ---- */

static bool binds(const hg_submission *d, const hg_range *range) {
    return !range->arena || hg_range_binds(&d->set->caps->memory, range->offset, range->size);
}

static const hg_range *find_large(const hg_submission *d, const hg_driver_launch *l) {
    for (uint32_t i = 0; i < l->slot_count; i++)
        if (!binds(d, &l->slots[i])) return &l->slots[i];
    return NULL;
}

bool hg_ranges_needed(const hg_submission *d, const hg_driver_launch *l) {
    return d->set->caps->memory.bound_bytes && find_large(d, l);
}

/* ---- what lanes touch ---- */

typedef struct finder {
    hg_submission *d;
    kir_prove_launch launch;
    uint64_t *sizes;    /* of the launch's slots */
    kir_reach *reach;   /* of them */
    hg_range *bindings; /* of the range that was looked at last */
    uint64_t step;      /* lanes that stay together */
    uint64_t deadline_ns;
} finder;

static hg_status finder_open(finder *f, hg_submission *d) {
    const hg_driver_launch *l = d->launch;
    *f = (finder){.d = d,
                  .step = hg_dispatch_is_flat(d) ? 1 : d->block_lanes,
                  .deadline_ns = hg_deadline(l->timeout_ms)};
    f->sizes = hg_calloc(l->slot_count + (size_t)1, sizeof *f->sizes);
    f->reach = hg_calloc(l->slot_count + (size_t)1, sizeof *f->reach);
    f->bindings = hg_calloc(d->code->layout.binding_count + (size_t)1, sizeof *f->bindings);
    if (!f->sizes || !f->reach || !f->bindings) return hg_fail_memory();
    for (uint32_t i = 0; i < l->slot_count; i++)
        f->sizes[i] = l->slots[i].arena ? l->slots[i].size : 0;
    f->launch = (kir_prove_launch){.lanes = l->lanes,
                                   .shared_bytes = l->shared_bytes - l->shared_scratch,
                                   .inputs = l->inputs,
                                   .slot_bytes = f->sizes,
                                   .uniforms = l->uniforms.bytes,
                                   .unknown = l->uniforms.unknown,
                                   .cuts_loops = d->set->facts.cuts_loops};
    memcpy(f->launch.grid, l->grid, sizeof f->launch.grid);
    memcpy(f->launch.block, l->block, sizeof f->launch.block);
    return HG_OK;
}

static void finder_close(finder *f) {
    hg_free(f->sizes);
    hg_free(f->reach);
    hg_free(f->bindings);
}

/* Whether the device binds what lanes [first, first + count) touch; then f->bindings are that. */
static bool fits(finder *f, uint64_t first, uint64_t count) {
    hg_submission *d = f->d;
    const hg_driver_launch *l = d->launch;
    const hg_code *code = d->code;
    if (!kir_prove_reach(d->set->facts.prover, &f->launch, first, count, f->reach)) return false;
    for (uint32_t i = 0; i < code->slot_count; i++)
        if (code->slots[i].kind == KIR_SLOT_MEMORY && i < l->slot_count &&
            !binds(d, &l->slots[i])) {
            const kir_reach *r = &f->reach[i];
            d->slots[i] = r->end ? (hg_range){l->slots[i].arena, l->slots[i].offset + r->low,
                                              r->end - r->low}
                                 : (hg_range){NULL, 0, 0};
        }
    hg_launch_record_bindings(d, f->bindings);
    bool all = true;
    for (uint32_t i = 0; i < code->layout.binding_count; i++)
        all = all && binds(d, &f->bindings[i]);
    hg_launch_record_slots(d); /* as they are */
    return all;
}

/* The search ends with the launch's time. */
static bool is_over(const finder *f) {
    const volatile int *cancel = f->d->launch->cancel;
    return (f->deadline_ns && hg_clock_ns() >= f->deadline_ns) ||
           (cancel && hg_atomic_load(cancel, HG_RELAXED));
}

/* As many lanes from `first` on as fit; 0: not even those that stay together, or it is over. */
static uint64_t find_count(finder *f, uint64_t first) {
    uint64_t left = f->d->launch->lanes - first, good = 0, bad = (left - 1) / f->step + 1;
    if (fits(f, first, left)) return left;
    while (bad - good > 1 && !is_over(f)) {
        uint64_t middle = good + (bad - good) / 2;
        if (fits(f, first, middle * f->step))
            good = middle;
        else
            bad = middle;
    }
    return good && fits(f, first, good * f->step) ? good * f->step : 0;
}

/* ---- the ranges ---- */

static hg_status refuse(const hg_submission *d, uint64_t first) {
    const hg_range *large = find_large(d, d->launch);
    const hg_memory_caps *caps = &d->set->caps->memory;
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "kernel '%s' reaches an array of %llu bytes, the device binds at most %llu at "
                   "once, and lanes from %llu on do not reach parts of it that lie so close "
                   "together: use smaller arrays or another backend",
                   d->set->form.name, (unsigned long long)large->size,
                   (unsigned long long)caps->bound_bytes, (unsigned long long)first);
}

static hg_status fail_over(const hg_submission *d) {
    char text[64];
    if (d->launch->cancel && hg_atomic_load(d->launch->cancel, HG_RELAXED))
        return kir_fail_launch(KIR_FAULT_CANCELLED, "cancelled");
    kir_fault_text_timeout(text, sizeof text, d->launch->timeout_ms);
    return kir_fail_launch(KIR_FAULT_TIMEOUT, "%s", text);
}

static hg_status add_range(hg_submission *d, uint64_t end, const hg_range *bindings) {
    uint32_t each = d->code->layout.binding_count;
    if (d->window.ranges.count == d->window.ranges.capacity) {
        uint32_t capacity = d->window.ranges.capacity ? d->window.ranges.capacity * 2 : 8;
        uint64_t *ends = hg_realloc(d->window.ranges.ends, capacity * sizeof *ends);
        if (ends) d->window.ranges.ends = ends;
        hg_range *all = hg_realloc(d->window.ranges.bindings,
                                   ((size_t)capacity * each + 1) * sizeof *all);
        if (all) d->window.ranges.bindings = all;
        if (!ends || !all) return hg_fail_memory();
        d->window.ranges.capacity = capacity;
    }
    d->window.ranges.ends[d->window.ranges.count] = end;
    memcpy(d->window.ranges.bindings + (size_t)d->window.ranges.count * each, bindings,
           each * sizeof *bindings);
    d->window.ranges.count++;
    return HG_OK;
}

static hg_status find_ranges(finder *f) {
    hg_submission *d = f->d;
    for (uint64_t first = 0; first < d->launch->lanes;) {
        uint64_t count = find_count(f, first);
        if (is_over(f)) return fail_over(d);
        if (!count || d->window.ranges.count == MOST_RANGES) return refuse(d, first);
        first += count;
        HG_TRY(add_range(d, first, f->bindings));
    }
    return HG_OK;
}

hg_status hg_ranges_find(hg_submission *d) {
    finder f;
    hg_ranges_forget(d);
    if (!hg_ranges_needed(d, d->launch)) return HG_OK;
    if (!d->set->facts.prover || !d->code->layout.bindings.count) return refuse(d, 0);
    hg_status status = finder_open(&f, d);
    if (status == HG_OK) status = find_ranges(&f);
    finder_close(&f);
    if (status != HG_OK) hg_ranges_forget(d);
    return status;
}

void hg_ranges_forget(hg_submission *d) {
    hg_free(d->window.ranges.ends);
    hg_free(d->window.ranges.bindings);
    memset(&d->window.ranges, 0, sizeof d->window.ranges);
}

uint64_t hg_ranges_end(hg_submission *d, uint64_t lane) {
    uint32_t i = 0;
    while (i + 1 < d->window.ranges.count && d->window.ranges.ends[i] <= lane) i++;
    d->window.ranges.at = i;
    return d->window.ranges.count ? d->window.ranges.ends[i] : UINT64_MAX;
}

void hg_ranges_bind(hg_submission *d) {
    uint32_t each = d->code->layout.binding_count;
    if (!d->window.ranges.count) return;
    memcpy(d->slots + d->code->slot_count,
           d->window.ranges.bindings + (size_t)d->window.ranges.at * each, each * sizeof *d->slots);
}

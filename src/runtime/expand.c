/* Whole-array steps that a driver does not do itself, as kernels of plan/expand.h: compiled once a backend, launched on the context's
 * queue. Nothing of them runs on the host.
 * Must not know: programs, how arrays were named. */
#include "plan/expand.h"
#include "runtime/execute_internal.h"
#include "kir/define/define.h"
#include <string.h>

/* Memory that a slot names starts at a multiple of this; what is left over goes into the kernel as a shift. */
enum { SLOT_ALIGN = 256, MAP_BLOCK = 256, MAX_LEVELS = 6 /* 4096^6 > 2^64 */, MAX_INPUTS = 24 };

/* ---- kernels ---- */

typedef struct expansion_key {
    uint16_t fn;
    uint8_t type, reduce, first, last, shifted;
} expansion_key;

struct hg_expansion {
    hg_expansion *next;
    expansion_key key;
    hg_kernel kernel;
};

static bool same_key(const expansion_key *x, const expansion_key *y) {
    return x->fn == y->fn && x->type == y->type && x->reduce == y->reduce && x->first == y->first && x->last == y->last &&
           x->shifted == y->shifted;
}

static hg_status compile(hg_backend *b, const expansion_key *key, hg_kernel *kernel) {
    kir_module *m;
    if (key->reduce) {
        plan_reduce r = {.op = (hg_op)key->fn, .type = (hg_type)key->type, .first = key->first, .last = key->last, .shifted = key->shifted};
        m = plan_expand_reduce(&r);
    } else {
        m = plan_expand_map(key->fn, (hg_type)key->type, key->shifted);
    }
    if (!m) return hg_fail_memory();
    return hg_kernel_compile(b, m, false, kernel);
}

/* Under the lock: the expansion of a key; NULL: not made yet. */
static hg_expansion *find_locked(const hg_backend *b, const expansion_key *key) {
    for (hg_expansion *e = b->expansions; e; e = e->next)
        if (same_key(&e->key, key)) return e;
    return NULL;
}

/* Made without the lock. Of two threads that make the same one, one was in vain. */
static hg_status make_expansion(hg_backend *b, const expansion_key *key, hg_expansion **expansion) {
    hg_expansion *made = hg_calloc(1, sizeof *made), *other;
    if (!made) return hg_fail_memory();
    made->key = *key;
    hg_status status = compile(b, key, &made->kernel);
    if (status == HG_OK) {
        hg_mutex_lock(&b->expansion_lock);
        other = find_locked(b, key);
        if (!other) {
            made->next = b->expansions;
            b->expansions = made;
        }
        *expansion = other ? other : made;
        hg_mutex_unlock(&b->expansion_lock);
        if (!other) return HG_OK;
    }
    hg_kernel_free(&made->kernel);
    hg_free(made);
    return status;
}

static hg_status find_kernel(hg_stream *stream, const expansion_key *key, const hg_kernel **kernel) {
    hg_backend *b = stream->context->backend;
    uint64_t start = hg_clock_ns();
    hg_mutex_lock(&b->expansion_lock);
    hg_expansion *e = find_locked(b, key);
    hg_mutex_unlock(&b->expansion_lock);
    if (!e) HG_TRY(make_expansion(b, key, &e));
    *kernel = &e->kernel;
    stream->dispatch.compile_ns += hg_clock_ns() - start;
    return HG_OK;
}

void hg_expansions_free(hg_backend *b) {
    while (b->expansions) {
        hg_expansion *e = b->expansions;
        b->expansions = e->next;
        hg_kernel_free(&e->kernel);
        hg_free(e);
    }
}

/* ---- launches ---- */

/* A launch with the memory its pointers lead to. */
typedef struct prepared {
    hg_driver_launch launch;
    uint64_t inputs[MAX_INPUTS];
    hg_range slots[4];
    uint8_t aliases[8];
} prepared;

static uint64_t shift_of(const hg_range *r) { return r->offset % SLOT_ALIGN; }
static hg_range aligned(hg_range r) {
    uint64_t shift = shift_of(&r);
    return (hg_range){r.arena, r.offset - shift, r.size + shift};
}

/* ranges, values: by input of the unlegalised module. */
static hg_status prepare(const hg_backend *b, const hg_kernel *kernel, const hg_range *ranges, const uint64_t *values, prepared *p) {
    if (kernel->input_count > MAX_INPUTS || kernel->slot_count > HG_COUNT_OF(p->slots))
        return hg_fail(HG_ERROR_INTERNAL, "an expanded step has %u inputs and %u slots", (unsigned)kernel->input_count,
                       (unsigned)kernel->slot_count);
    for (uint32_t i = 0; i < kernel->input_count; i++) {
        const kir_input *input = &kernel->inputs[i];
        p->inputs[i] = input->limb_bytes ? values[input->reg] >> (8 * input->limb * input->limb_bytes) : values[input->reg];
        if (input->limb_bytes == 4) p->inputs[i] &= UINT32_MAX;
    }
    for (uint32_t i = 0; i < kernel->slot_count; i++) p->slots[i] = aligned(ranges[kernel->slots[i].input]);
    hg_alias_signature(b, p->slots, kernel->slot_count, p->aliases);
    p->launch.kernel = hg_code_only(kernel->code, 0);
    p->launch.inputs = p->inputs;
    p->launch.slots = p->slots;
    p->launch.slot_count = kernel->slot_count;
    p->launch.aliases = p->aliases;
    p->launch.max_threads = b->config.num_threads;
    return HG_OK;
}

static hg_status submit(hg_stream *stream, const hg_driver_command *commands, uint32_t count) {
    return stream->context->backend->driver->queue_submit(stream->queue, commands, count, NULL, 0, NULL);
}

static hg_status wait_for_queue(hg_stream *stream) {
    const hg_backend *b = stream->context->backend;
    hg_driver_event *event = NULL;
    if (!b->caps->asynchronous) return HG_OK;
    HG_TRY(b->driver->event_create(b->device, &event));
    hg_status status = b->driver->queue_submit(stream->queue, NULL, 0, NULL, 0, event);
    if (status == HG_OK) status = hg_driver_wait(b->driver, b->device, event);
    b->driver->event_destroy(event);
    return status;
}

/* ---- maps ---- */

static hg_status expand_map(hg_stream *stream, const hg_driver_step *step, hg_driver_fault *fault) {
    prepared p = {.launch = {.grid = {1, 1, 1}, .block = {MAP_BLOCK, 1, 1}, .lanes = step->count}};
    uint8_t nin = step->nin;
    hg_range ranges[3] = {step->in[0], step->in[1], step->out};
    uint64_t values[2 * HG_COUNT_OF(ranges)] = {0};
    const hg_kernel *kernel;
    if (step->count == 0) return HG_OK;
    ranges[nin] = step->out;
    expansion_key key = {.fn = step->fn, .type = step->atlas_type};
    for (uint8_t i = 0; i <= nin; i++) {
        values[nin + 1 + i] = shift_of(&ranges[i]);
        key.shifted |= values[nin + 1 + i] != 0;
    }
    HG_TRY(find_kernel(stream, &key, &kernel));
    HG_TRY(prepare(stream->context->backend, kernel, ranges, values, &p));
    uint64_t blocks = (step->count - 1) / MAP_BLOCK + 1, rows = (blocks - 1) / UINT32_MAX + 1; /* a block is only a numbering */
    p.launch.grid[0] = (uint32_t)(blocks < UINT32_MAX ? blocks : UINT32_MAX);
    p.launch.grid[1] = (uint32_t)rows;
    HG_TRY(hg_launch_kernel(stream, kernel, &p.launch, fault));
    return wait_for_queue(stream);
}

/* ---- reductions ---- */

/* Where the results of the levels lie in the context's arena. */
typedef struct reduction {
    uint32_t levels;
    uint64_t counts[MAX_LEVELS + 1];  /* elements that go into a level */
    uint64_t offsets[MAX_LEVELS + 1]; /* of its results */
    uint64_t work, bytes;             /* accumulators of wide types; all */
} reduction;

static bool reserve(uint64_t *end, uint64_t count, uint64_t size, uint64_t *offset) {
    uint64_t bytes;
    if (!hg_mul_u64(count, size, &bytes) || bytes > (UINT64_MAX >> 1) - *end - SLOT_ALIGN) return false;
    *offset = *end;
    *end += (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    return true;
}

static bool plan_levels(hg_type type, uint64_t n, reduction *r) {
    bool ok = true;
    for (; n > 1 || r->levels == 0; r->levels++) {
        r->counts[r->levels] = n;
        n = (n - 1) / PLAN_CHUNK + 1;
        ok = ok && reserve(&r->bytes, n, plan_reduce_element(type), &r->offsets[r->levels]);
    }
    uint64_t chunks = (r->counts[0] - 1) / PLAN_CHUNK + 1;
    if (plan_reduce_in_memory(type)) ok = ok && reserve(&r->bytes, chunks, PLAN_ACCUMULATORS * plan_reduce_element(type), &r->work);
    return ok && chunks <= UINT32_MAX;
}

/* The arena that expanded steps of this context use; one step at a time, and each is waited for. */
static hg_status step_memory(hg_stream *stream, uint64_t bytes) {
    hg_backend *b = stream->context->backend;
    if (stream->step_memory.range.size >= bytes) return HG_OK;
    hg_piece_free(&b->memory, &stream->step_memory);
    return hg_piece_alloc(&b->memory, bytes, &stream->step_memory);
}

static hg_range part(const hg_stream *stream, uint64_t offset, uint64_t size) {
    return (hg_range){stream->step_memory.range.arena, stream->step_memory.range.offset + offset, size};
}

static hg_status expand_level(hg_stream *stream, const hg_driver_step *step, const reduction *r, uint32_t level, hg_range x, hg_range out,
                              prepared *p, hg_driver_fault *fault) {
    hg_type type = (hg_type)step->atlas_type;
    bool wide = plan_reduce_in_memory(type);
    uint64_t n = r->counts[level], chunks = (n - 1) / PLAN_CHUNK + 1;
    hg_range ranges[3] = {x, out, part(stream, r->work, wide ? chunks * PLAN_ACCUMULATORS * plan_reduce_element(type) : 0)};
    uint64_t values[6] = {0};
    uint32_t count = wide ? 3 : 2;
    values[count] = n;
    values[count + 1] = shift_of(&x);
    values[count + 2] = shift_of(&out);
    expansion_key key = {.fn = step->fn, .type = step->atlas_type, .reduce = true, .shifted = shift_of(&x) || shift_of(&out)};
    if (kir_is_half(type)) {
        key.first = level == 0;
        key.last = level + 1 == r->levels;
    }
    const hg_kernel *kernel;
    HG_TRY(find_kernel(stream, &key, &kernel));
    HG_TRY(prepare(stream->context->backend, kernel, ranges, values, p));
    p->launch.grid[0] = (uint32_t)chunks;
    p->launch.grid[1] = p->launch.grid[2] = 1;
    p->launch.block[0] = PLAN_ACCUMULATORS;
    p->launch.block[1] = p->launch.block[2] = 1;
    p->launch.lanes = chunks * PLAN_ACCUMULATORS;
    p->launch.shared_bytes = plan_reduce_shared(type);
    return hg_launch_kernel(stream, kernel, &p->launch, fault);
}

static hg_status expand_levels(hg_stream *stream, const hg_driver_step *step, const reduction *r, hg_driver_fault *fault) {
    prepared levels[MAX_LEVELS];
    hg_range x = step->in[0], out = step->out;
    uint64_t size = hg_type_size_bytes((hg_type)step->atlas_type), element = plan_reduce_element((hg_type)step->atlas_type);
    hg_status status = HG_OK;
    memset(levels, 0, sizeof levels);
    for (uint32_t i = 0; i < r->levels && status == HG_OK; i++) {
        bool last = i + 1 == r->levels;
        if (!last)
            out = part(stream, r->offsets[i], ((r->counts[i] - 1) / PLAN_CHUNK + 1) * element);
        else if (step->host_result)
            out = part(stream, r->offsets[i], size);
        else
            out = step->out;
        status = expand_level(stream, step, r, i, x, out, &levels[i], fault);
        x = out;
    }
    if (status == HG_OK && step->host_result)
        status = submit(stream, &(hg_driver_command){.kind = HG_CMD_COPY_OUT, .from = out, .host = step->host_result}, 1);
    hg_status waited = wait_for_queue(stream); /* what was submitted before a failure still reads levels */
    return status != HG_OK ? status : waited;
}

static hg_status expand_reduction(hg_stream *stream, const hg_driver_step *step, hg_driver_fault *fault) {
    reduction r = {.levels = 0};
    hg_type type = (hg_type)step->atlas_type;
    if (step->count == 0) {
        uint8_t identity[512];
        kir_identity((hg_op)step->fn, type, identity);
        if (step->host_result) {
            memcpy(step->host_result, identity, (size_t)hg_type_size_bytes(type));
            return HG_OK;
        }
        HG_TRY(submit(stream, &(hg_driver_command){.kind = HG_CMD_COPY_IN, .to = step->out, .host = identity}, 1));
        return wait_for_queue(stream);
    }
    if (!plan_levels(type, step->count, &r)) return hg_fail_memory();
    HG_TRY(step_memory(stream, r.bytes));
    return expand_levels(stream, step, &r, fault);
}

hg_status hg_expand_step(hg_stream *stream, const hg_driver_step *step, hg_driver_fault *fault) {
    return step->reduce ? expand_reduction(stream, step, fault) : expand_map(stream, step, fault);
}

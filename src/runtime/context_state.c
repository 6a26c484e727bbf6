/* Phases and resonance accumulators of contexts (semantics 1.11): one piece of memory of a context,
 * as atlas/state.h lays it out. Launches read its start part and add to its pending part; the host
 * folds the one into the other before anybody looks: the next launch that uses the state, or a call
 * of the interface. So all kernels of a launch see the same start part, and what a failed launch
 * added is kept.
 * Must not know: instructions. */
#include "atlas/state.h"
#include "runtime/memory.h"
#include <hologram/atlas.h>
#include <string.h>

/* ---- the memory; in a ticket that shares the state ---- */

static hg_status make_state(hg_context *c) {
    if (c->state.range.arena) return HG_OK;
    hg_backend *b = c->backend;
    HG_TRY(hg_piece_alloc(&b->memory, HG_STATE_BYTES, &c->state));
    c->state_image = hg_host_address(b, &c->state.range);
    if (!c->state_image) c->state_image = hg_calloc(1, HG_STATE_BYTES);
    if (c->state_image) return HG_OK;
    hg_piece_free(&b->memory, &c->state);
    return hg_fail_memory();
}

static bool is_copy(const hg_context *c) {
    return c->state_image && !hg_host_address(c->backend, &c->state.range);
}

void hg_state_close(hg_context *c) {
    if (is_copy(c)) hg_free(c->state_image);
    hg_piece_free(&c->backend->memory, &c->state);
}

/* Between the image and the device's memory, where they are two. A part of it or all. */
static hg_status move_part(hg_stream *stream, hg_driver_command_kind kind, uint64_t offset,
                           uint64_t length) {
    const hg_context *c = stream->context;
    if (!is_copy(c)) return HG_OK;
    hg_range part = {c->state.range.arena, c->state.range.offset + offset, length};
    hg_driver_command copy = {
        .kind = kind, .to = part, .from = part, .host = (uint8_t *)c->state_image + offset};
    return hg_stream_run(stream, &copy, 1);
}

static hg_status can_wait(const hg_context *c) {
    const hg_backend *b = c->backend;
    if (hg_driver_can_block(b->driver, b->caps)) return HG_OK;
    return hg_driver_would_block(b->driver, "a look at phases and resonances");
}

/* When it fails the pending part is still there, or is folded and empty: it can be tried again. */
static hg_status fold(hg_stream *stream) {
    hg_context *c = stream->context;
    if (!c->state_pending) return HG_OK;
    HG_TRY(move_part(stream, HG_CMD_COPY_OUT, 0, HG_STATE_BYTES));
    hg_state_fold(c->state_image);
    HG_TRY(move_part(stream, HG_CMD_COPY_IN, 0, HG_STATE_BYTES));
    c->state_pending = false;
    return HG_OK;
}

hg_status hg_state_begin(hg_stream *stream, bool writes) {
    hg_context *c = stream->context;
    HG_TRY(make_state(c));
    HG_TRY(fold(stream));
    c->state_pending = writes;
    return HG_OK;
}

hg_status hg_state_fetch(hg_context *c, bool writes, hg_driver_command *copy, bool *away) {
    HG_TRY(make_state(c));
    *away = c->state_pending && is_copy(c);
    if (*away) {
        *copy = (hg_driver_command){
            .kind = HG_CMD_COPY_OUT, .from = c->state.range, .host = c->state_image};
        return HG_OK;
    }
    if (c->state_pending) hg_state_fold(c->state_image);
    c->state_pending = writes;
    return HG_OK;
}

hg_driver_command hg_state_fold_fetched(hg_context *c, bool writes) {
    hg_state_fold(c->state_image);
    c->state_pending = writes;
    return (hg_driver_command){
        .kind = HG_CMD_COPY_IN, .to = c->state.range, .host = c->state_image};
}

/* ---- the interface ---- */

static hg_status check_class(uint32_t cls) {
    if (cls < HG_MAX_CLASSES) return HG_OK;
    return hg_fail(HG_ERROR_ISA, "invalid class index: %u (must be < %d)", (unsigned)cls,
                   HG_MAX_CLASSES);
}

/* A look at the state, in its ticket among the runs. */
typedef struct look {
    hg_context *context;
    hg_ticket ticket;
    hg_stream *stream;
} look;
static const hg_touches THE_STATE = {.shares = HG_SHARES_STATE};

static void close_state(look *l) { hg_context_leave(l->context, &l->ticket, l->stream); }

/* Waits for runs that use the state. On HG_OK it is the look's until close_state. */
static hg_status open_state(hg_context *c, bool make, look *l) {
    *l = (look){.context = c, .ticket = {.touches = &THE_STATE}};
    HG_TRY(can_wait(c));
    HG_TRY(hg_context_enter(c, &l->ticket, &l->stream));
    hg_status status = make ? make_state(c) : HG_OK;
    if (status == HG_OK) status = fold(l->stream);
    if (status != HG_OK) close_state(l);
    return status;
}

/* A folded part of the state; zeros before its first use. */
static hg_status read_part(const look *l, uint64_t offset, void *to, uint64_t length) {
    const hg_context *c = l->context;
    memset(to, 0, (size_t)length);
    if (!c->state.range.arena) return HG_OK;
    HG_TRY(move_part(l->stream, HG_CMD_COPY_OUT, offset, length));
    memcpy(to, (uint8_t *)c->state_image + offset, (size_t)length);
    return HG_OK;
}

static hg_status read_resonance(hg_context *c, uint32_t index, double *value) {
    uint32_t words[HG_RESONANCE_WORDS], flags = 0;
    look l;
    if (!value) return hg_null_argument("value");
    HG_TRY(open_state(c, false, &l));
    hg_status status = read_part(&l, HG_STATE_RESONANCE + index * sizeof words, words,
                                 sizeof words);
    if (status == HG_OK)
        status = read_part(&l, HG_STATE_FLAGS + index * sizeof flags, &flags, sizeof flags);
    close_state(&l);
    if (status == HG_OK) *value = hg_resonance_round(words, flags);
    return status;
}

hg_status hg_context_phase(hg_context *c, uint32_t cls, uint32_t *value) {
    HG_ENTRY;
    uint32_t phase;
    look l;
    if (!c) return hg_null_argument("context");
    if (!value) return hg_null_argument("value");
    HG_TRY(check_class(cls));
    HG_TRY(open_state(c, false, &l));
    hg_status status = read_part(&l, HG_STATE_PHASE + cls * sizeof phase, &phase, sizeof phase);
    close_state(&l);
    if (status == HG_OK) *value = phase;
    return status;
}

hg_status hg_context_set_phase(hg_context *c, uint32_t cls, uint32_t value) {
    HG_ENTRY;
    if (!c) return hg_null_argument("context");
    look l;
    HG_TRY(check_class(cls));
    HG_TRY(open_state(c, true, &l));
    uint64_t offset = HG_STATE_PHASE + cls * sizeof value;
    value %= HG_PHASE_MODULUS;
    memcpy((uint8_t *)c->state_image + offset, &value, sizeof value);
    hg_status status = move_part(l.stream, HG_CMD_COPY_IN, offset, sizeof value);
    close_state(&l);
    return status;
}

hg_status hg_context_resonance(hg_context *c, uint32_t cls, double *value) {
    HG_ENTRY;
    if (!c) return hg_null_argument("context");
    HG_TRY(check_class(cls));
    return read_resonance(c, cls, value);
}

hg_status hg_context_resonance_total(hg_context *c, double *value) {
    HG_ENTRY;
    if (!c) return hg_null_argument("context");
    return read_resonance(c, HG_RESONANCE_TOTAL, value);
}

hg_status hg_context_reset_state(hg_context *c) {
    HG_ENTRY;
    look l;
    if (!c) return hg_null_argument("context");
    HG_TRY(open_state(c, false, &l));
    hg_status status = HG_OK;
    if (c->state.range.arena) {
        memset(c->state_image, 0, HG_STATE_BYTES);
        status = move_part(l.stream, HG_CMD_COPY_IN, 0, HG_STATE_BYTES);
    }
    close_state(&l);
    return status;
}

/* ---- of a backend: its default context's ---- */

hg_status hg_backend_phase(hg_backend *b, uint32_t cls, uint32_t *value) {
    HG_ENTRY;
    return b ? hg_context_phase(b->context, cls, value) : hg_null_argument("backend");
}
hg_status hg_backend_set_phase(hg_backend *b, uint32_t cls, uint32_t value) {
    HG_ENTRY;
    return b ? hg_context_set_phase(b->context, cls, value) : hg_null_argument("backend");
}
hg_status hg_backend_resonance(hg_backend *b, uint32_t cls, double *value) {
    HG_ENTRY;
    return b ? hg_context_resonance(b->context, cls, value) : hg_null_argument("backend");
}
hg_status hg_backend_resonance_total(hg_backend *b, double *value) {
    HG_ENTRY;
    return b ? hg_context_resonance_total(b->context, value) : hg_null_argument("backend");
}
hg_status hg_backend_reset_state(hg_backend *b) {
    HG_ENTRY;
    return b ? hg_context_reset_state(b->context) : hg_null_argument("backend");
}

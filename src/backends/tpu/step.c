/* Whole-array steps of the TPU backend: each is a module over the arenas that its arrays lie in.
 * Must not know: what an instruction is. */
#include "backends/tpu/tpu_internal.h"
#include "stablehlo/step.h"
#include <string.h>

typedef struct bound {
    hg_driver_arena *arenas[HG_MAX_OPERANDS];
    shlo_memory memories[HG_MAX_OPERANDS];
    shlo_place places[HG_MAX_OPERANDS];
    uint32_t count;
} bound;

static uint64_t bytes_of(uint8_t type) { return hg_type_size_bytes((hg_type)type); }

/* The type of a memory's elements, an array more in it: the array's own where all agree. Halves are
 * numbers: XLA for the CPU takes bf16 through f32, which changes bits of NaNs that lie beside. */
static void narrow(shlo_memory *m, uint8_t type, uint64_t offset) {
    if (type == HG_TYPE_F16 || type == HG_TYPE_BF16) type = HG_TYPE_U16;
    uint64_t word = bytes_of(type);
    if (m->type == HG_TYPE_COUNT && offset % word == 0) {
        m->type = type;
        return;
    }
    if (m->type == type && offset % word == 0) return;
    if (m->type != HG_TYPE_COUNT && bytes_of(m->type) < word) word = bytes_of(m->type);
    while (offset % word) word /= 2;
    m->type = tpu_numbers(0, (uint8_t)word).type;
}

static void bind(bound *b, const hg_driver_step *s) {
    for (uint32_t i = 0; i < s->call->array_count; i++) {
        const hg_range *range = &s->ranges[i];
        uint32_t at = 0;
        while (at < b->count && b->arenas[at] != range->arena) at++;
        if (at == b->count) {
            b->arenas[b->count] = range->arena;
            b->memories[b->count++].type = HG_TYPE_COUNT;
        }
        narrow(&b->memories[at], s->call->arrays[i].type, range->offset);
        b->memories[at].written = b->memories[at].written || s->call->arrays[i].written;
        b->places[i] = (shlo_place){at, range->offset, s->call->arrays[i].bytes};
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->memories[i].count = tpu_words(b->arenas[i], (uint8_t)bytes_of(b->memories[i].type));
}

/* ---- runs ---- */

static hg_status run(hg_device *device, pjrt_executable *code, bound *b) {
    pjrt_buffer *arguments[HG_MAX_OPERANDS], *results[HG_MAX_OPERANDS] = {NULL};
    hg_driver_shape shapes[HG_MAX_OPERANDS];
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        shapes[i] = (hg_driver_shape){b->memories[i].type, 1, {(int64_t)b->memories[i].count}};
        HG_TRY(tpu_to_device(b->arenas[i], &shapes[i]));
        arguments[i] = b->arenas[i]->buffer;
    }
    hg_status status = tpu_execute(device->device, code, arguments, b->count, results);
    for (uint32_t i = 0; i < b->count; i++) {
        if (!b->memories[i].written) continue;
        if (status == HG_OK)
            tpu_put(b->arenas[i], results[at], &shapes[i]);
        else
            tpu_lose(b->arenas[i]);
        if (status != HG_OK) tpu_free_buffer(results[at]);
        at++;
    }
    return status;
}

hg_status tpu_run_step(hg_device *device, const hg_driver_step *step) {
    bound b = {.count = 0};
    hg_text text = {0};
    tpu_code *code = NULL;
    bind(&b, step);
    hg_status status = shlo_print_step(step->call, b.memories, b.count, b.places, &text);
    if (status == HG_OK) status = tpu_code_find(device, text.data, text.length, false, &code);
    hg_text_free(&text);
    if (status == HG_OK) status = run(device, code->executable, &b);
    tpu_code_release(code);
    return status;
}

/* ---- notes ---- */

static hg_status note(const bound *b, tpu_note *n) {
    n->memories = hg_calloc((size_t)b->count + 1, sizeof *n->memories);
    if (!n->memories) return hg_fail_memory();
    for (uint32_t i = 0; i < b->count; i++)
        n->memories[n->count++] = (tpu_noted_memory){
            b->arenas[i], b->memories[i].type, b->memories[i].count, b->memories[i].written, false};
    return HG_OK;
}

hg_status tpu_note_step(const hg_driver_step *step, tpu_note *n) {
    bound b = {.count = 0};
    bind(&b, step);
    HG_TRY(note(&b, n));
    return shlo_print_step(step->call, b.memories, b.count, b.places, &n->text);
}

enum { MOST_BYTES = 1 << 16 }; /* from the host, which the text has */

/* What the host gives is the same whenever a note runs (graph_noted.h). */
hg_status tpu_note_move(const hg_driver_command *c, tpu_note *n) {
    bool copies = c->kind == HG_CMD_COPY;
    uint64_t all = c->to.offset | c->to.size, word = 8;
    if (c->kind == HG_CMD_COPY_OUT || (c->kind == HG_CMD_COPY_IN && c->to.size > MOST_BYTES))
        return hg_fail(HG_ERROR_ISA, "tpu: a copy between host and device cannot be noted");
    if (copies) all |= c->from.offset;
    while (all % word) word /= 2;
    bound b = {.count = 1};
    b.arenas[0] = c->to.arena;
    b.memories[0] = (shlo_memory){tpu_numbers(0, (uint8_t)word).type,
                                  tpu_words(c->to.arena, (uint8_t)word), true};
    if (copies && c->from.arena != c->to.arena) {
        b.arenas[b.count] = c->from.arena;
        b.memories[b.count++] = (shlo_memory){b.memories[0].type,
                                              tpu_words(c->from.arena, (uint8_t)word), false};
    }
    HG_TRY(note(&b, n));
    const shlo_move move = {.from = c->to.offset / word,
                            .to = (c->to.offset + c->to.size) / word,
                            .source = c->from.offset / word,
                            .elements = c->kind == HG_CMD_COPY_IN ? c->host : NULL,
                            .fills = c->kind == HG_CMD_FILL,
                            .number = c->value * UINT64_C(0x0101010101010101) >> (64 - 8 * word)};
    return shlo_print_move(b.memories, b.count, &move, &n->text);
}

/* What keeps the instruction's promise and cannot fault. Each array in memory of its own here. */
bool tpu_step_supported(const hg_device *device, const plan_call *call, uint64_t *scratch) {
    shlo_memory memories[HG_MAX_OPERANDS];
    shlo_place places[HG_MAX_OPERANDS];
    hg_text text = {0};
    (void)scratch;
    bool bounded = hg_op_get((hg_op)call->op)->numbers == HG_NUMBERS_BOUNDED;
    if (device->expands || (!bounded && !shlo_is_exact(call))) return false;
    for (uint32_t i = 0; i < call->array_count; i++) {
        const plan_array *a = &call->arrays[i];
        if (a->open || bytes_of(a->type) > 8 || !a->bytes) return false;
        memories[i] = (shlo_memory){a->type, a->bytes / bytes_of(a->type), a->written};
        places[i] = (shlo_place){i, 0, a->bytes};
    }
    hg_error kept = *hg_error_record();
    hg_status status = shlo_print_step(call, memories, call->array_count, places, &text);
    *hg_error_record() = kept;
    hg_text_free(&text);
    return status == HG_OK;
}

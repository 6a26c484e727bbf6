/* Finds out that a batch of commands is the one before, by its bytes: records, memory and kernels.
 * Pointers in it mean what they meant as long as no arena and no kernel was destroyed.
 * Must not know: programs, what the commands do. */
#include "runtime/recorded.h"
#include <string.h>

/* ---- recordings ---- */

bool hg_repeated_find(hg_repeated *r, const hg_driver *driver, hg_device *device,
                      const hg_driver_command *commands, uint32_t count) {
    if (r->recording || !driver->recording_create || r->repeats > HG_RECORD_AFTER)
        return r->recording != NULL;
    if (++r->repeats <= HG_RECORD_AFTER) return false;
    hg_error kept = *hg_error_record();
    if (driver->recording_create(device, commands, count, &r->recording) != HG_OK)
        *hg_error_record() = kept;
    return r->recording != NULL;
}

void hg_repeated_drop(hg_repeated *r, const hg_driver *driver) {
    if (r->recording) driver->recording_destroy(r->recording);
    *r = (hg_repeated){0};
}

/* ---- images ---- */

enum { MOST_BYTES = 1 << 18 }; /* of an image: a full batch of a graph (HG_FULL_BATCH) */

/* The image while it is compared: from the first difference on it is written anew. */
typedef struct cursor {
    hg_recorded *r;
    size_t at;
    bool same, failed;
} cursor;

static void put(cursor *c, const void *bytes, size_t size) {
    hg_recorded *r = c->r;
    if (!size || c->failed) return;
    c->same = c->same && r->size - c->at >= size && memcmp(r->image + c->at, bytes, size) == 0;
    if (!c->same) {
        if (c->at + size > MOST_BYTES) c->failed = true;
        if (!c->failed && c->at + size > r->capacity) {
            size_t capacity = r->capacity ? r->capacity * 2 : 1024;
            while (capacity < c->at + size) capacity *= 2;
            uint8_t *image = hg_realloc(r->image, capacity);
            c->failed = !image;
            if (image) r->image = image;
            if (image) r->capacity = capacity;
        }
        if (c->failed) return;
        memcpy(r->image + c->at, bytes, size);
    }
    c->at += size;
}

static void put_number(cursor *c, uint64_t number) { put(c, &number, sizeof number); }

static void put_dispatch(cursor *c, const hg_driver_dispatch *x) {
    put(c, &x->kernel, sizeof x->kernel);
    put(c, x->groups, sizeof x->groups);
    put(c, x->group, sizeof x->group);
    put_number(c, x->group_memory);
    put_number(c, x->record_bytes);
    put(c, x->record, x->record_bytes);
    put_number(c, x->slot_count);
    put(c, x->slots, x->slot_count * sizeof *x->slots);
}

/* The values of the call and where its memory lies; what kind of instruction it is follows from its
 * row. */
static void put_step(cursor *c, const hg_driver_step *step) {
    const plan_call *call = step->call;
    put_number(c, (uint64_t)call->op << 32 | (uint64_t)call->fn << 16 | (uint64_t)call->type << 8 |
                      call->relaxed);
    for (uint32_t i = 0; i < hg_op_get((hg_op)call->op)->operand_count; i++) {
        put_number(c, call->operands[i].count);
        put(c, call->operands[i].words, call->operands[i].count * sizeof *call->operands[i].words);
    }
    put_number(c, call->array_count);
    for (uint32_t i = 0; i < call->array_count; i++) {
        const plan_array *a = &call->arrays[i];
        put_number(c, (uint64_t)a->operand << 16 | (uint64_t)a->type << 8 | a->rank);
        put(c, a->extents, a->rank * sizeof *a->extents);
        put(c, a->strides, a->rank * sizeof *a->strides);
        put_number(c, a->before);
    }
    put(c, step->ranges, call->array_count * sizeof *step->ranges);
    put(c, &step->scratch, sizeof step->scratch);
}

/* False: a recording cannot have it. */
static bool put_command(cursor *c, const hg_driver_command *command, bool steps) {
    put_number(c, command->kind);
    switch (command->kind) {
    case HG_CMD_DISPATCH: put_dispatch(c, command->dispatch); return true;
    case HG_CMD_STEP:
        if (!steps) return false;
        put_step(c, command->step);
        return true;
    case HG_CMD_COPY: put(c, &command->from, sizeof command->from); /* fallthrough */
    case HG_CMD_FILL:
        put(c, &command->to, sizeof command->to);
        put_number(c, command->value);
        return true;
    default: return false;
    }
}

/* Whether the commands are those of the image; else the image is theirs now, or empty. */
static bool compare(hg_recorded *r, const hg_driver_command *commands, uint32_t count, bool steps) {
    uint64_t gone = hg_driver_gone();
    cursor c = {.r = r, .same = r->gone == gone};
    bool fit = count > 0;
    for (uint32_t i = 0; i < count && fit; i++)
        fit = put_command(&c, &commands[i], steps) && !c.failed;
    bool same = fit && c.same && c.at == r->size;
    r->size = fit ? c.at : 0;
    r->gone = gone;
    return same;
}

bool hg_recorded_find(hg_recorded *r, const hg_driver *driver, hg_device *device,
                      const hg_driver_command *commands, uint32_t count) {
    if (!driver->recording_create || hg_atomic_load(&r->in_flight, HG_ACQUIRE)) return false;
    if (compare(r, commands, count, driver->device_caps(device)->scheduling.records_steps))
        return hg_repeated_find(&r->repeated, driver, device, commands, count);
    hg_repeated_drop(&r->repeated, driver);
    return false;
}

void hg_recorded_launched(hg_recorded *r) { hg_atomic_store(&r->in_flight, 1, HG_RELEASE); }
void hg_recorded_done(hg_recorded *r) { hg_atomic_store(&r->in_flight, 0, HG_RELEASE); }

void hg_recorded_free(hg_recorded *r, const hg_driver *driver) {
    hg_repeated_drop(&r->repeated, driver);
    hg_free(r->image);
    memset(r, 0, sizeof *r);
}

/* Addresses (semantics 4.2, assembly 2.1): which bytes an operand names, checked with exact sums.
 */
#include "ref_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ref_object *ref_find(ref_machine *m, ref_space space, uint64_t handle) {
    for (ref_object *o = m->objects; o; o = o->next)
        if (o->space == space && o->handle == handle) return o;
    return NULL;
}

/* Flat addresses carry the index part of a handle only. */
static ref_object *find_index(ref_machine *m, ref_space space, uint64_t index) {
    for (ref_object *o = m->objects; o; o = o->next)
        if (o->space == space && (o->handle & 0x7FFFFF) == index) return o;
    return NULL;
}

ref_object *ref_add(ref_machine *m, ref_space space, uint64_t handle, uint8_t *bytes,
                    uint64_t size) {
    ref_object *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    *o = (ref_object){m->objects, handle, size, bytes, (uint8_t)space, false};
    m->objects = o;
    return o;
}

void ref_remove(ref_machine *m, ref_object *object) {
    ref_object **at = &m->objects;
    while (*at != object) at = &(*at)->next;
    *at = object->next;
    if (object->owned) free(object->bytes);
    free(object);
}

/* A piece of memory that an address can run out of. */
typedef struct region {
    uint8_t *bytes;
    uint64_t size;
    const char *kind;
} region;

static bool object_region(ref_machine *m, ref_space space, uint64_t handle, bool flat, region *r) {
    *r = (region){NULL, 0, space == REF_POOL ? "pool" : "buffer"};
    if (space == REF_BUFFER && handle == 0) {
        *r = (region){m->classes, REF_CLASS_MEMORY_BYTES, "buffer"};
        return true;
    }
    if (space == REF_BUFFER && !flat && handle >= (uint64_t)-96) {
        *r = (region){m->classes + (handle - (uint64_t)-96) * REF_CLASS_BYTES, REF_CLASS_BYTES,
                      "buffer"};
        return true;
    }
    ref_object *o = flat ? find_index(m, space, handle) : ref_find(m, space, handle);
    if (!o) return false;
    r->bytes = o->bytes;
    r->size = o->size;
    return true;
}

static const char *decimal(ref_int128 value, char text[48]) {
    char *at = text + 47;
    bool negative = value < 0;
    *at = '\0';
    if (negative) value = -value;
    do {
        *--at = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    if (negative) *--at = '-';
    return at;
}

static uint8_t *check(ref_machine *m, const ref_lane *lane, uint64_t pc, uint32_t number,
                      const region *r, ref_int128 offset, uint64_t size) {
    if (offset >= 0 && offset + (ref_int128)size <= (ref_int128)r->size)
        return r->bytes + (uint64_t)offset;
    char text[48];
    ref_fail(m, lane, pc, number, "F01",
             "%s access out of bounds: offset %s + size %llu > %s size %llu", r->kind,
             decimal(offset, text), (unsigned long long)size, r->kind, (unsigned long long)r->size);
    return NULL;
}

/* Text numbers operands from 1 and does not count a condition, which is part of the mnemonic. */
static uint32_t text_number(uint32_t operand) { return operand + 1; }

/* The region and the constant part of the offset that a place names. */
static bool place(ref_machine *m, const ref_lane *lane, const hg_operand *o, region *r,
                  ref_int128 *offset, uint64_t *handle) {
    const uint8_t *value;
    *offset = 0;
    *handle = o->value;
    switch ((hg_place_kind)o->place) {
    case HG_PLACE_BUF: return object_region(m, REF_BUFFER, o->value, false, r);
    case HG_PLACE_POOL: return object_region(m, REF_POOL, o->value, false, r);
    case HG_PLACE_SHARED: {
        uint64_t size = m->launch.shared;
        *r = (region){m->shared + lane->block * size, size, "buffer"};
        return true;
    }
    case HG_PLACE_PHI: *offset = o->phi[0] * 256 + o->phi[1]; /* fall through */
    case HG_PLACE_CLASS:
        *r = (region){m->classes + o->value * REF_CLASS_BYTES, REF_CLASS_BYTES, "buffer"};
        return true;
    case HG_PLACE_PRIVATE: return false; /* ref_resolve_private */
    case HG_PLACE_FLAT: {
        uint64_t flat = 0;
        if (!ref_read_uint(m, lane, o->reg, &flat)) return false;
        *offset = (ref_int128)(flat & ((UINT64_C(1) << 40) - 1));
        *handle = flat >> 40 & 0x7FFFFF;
        return object_region(m, flat >> 63 ? REF_POOL : REF_BUFFER, *handle, true, r);
    }
    case HG_PLACE_BUF_REG:
    case HG_PLACE_POOL_REG:
    case HG_PLACE_BARE:
        value = ref_read(m, lane, o->reg, HG_TYPE_U64);
        if (!value) return false;
        memcpy(handle, value, sizeof *handle);
        return object_region(m, o->place == HG_PLACE_POOL_REG ? REF_POOL : REF_BUFFER, *handle,
                             false, r);
    }
    return false;
}

/* The memory of an operand and its offset there; false after recording the fault. */
static bool find(ref_machine *m, const ref_lane *lane, uint32_t operand, const ref_lane *blamed,
                 region *r, ref_int128 *offset) {
    const hg_operand *o = &hg_inst_operands(m->program, lane->pc)[operand];
    uint64_t handle, index = 0;
    *r = (region){NULL, 0, "buffer"};
    if (!place(m, lane, o, r, offset, &handle)) {
        if (!m->broken.code[0])
            ref_fail(m, blamed, lane->pc, text_number(operand), "F03", "invalid %s handle: %llu",
                     r->kind, (unsigned long long)handle);
        return false;
    }
    if (o->place != HG_PLACE_BARE && o->has_index) {
        if (!ref_read_uint(m, lane, o->index, &index)) return false;
        /* A product of 2^64 or more is out of bounds, and told as the greatest multiple below. */
        ref_int128 scale = o->scale ? o->scale : 1, product = (ref_int128)index * scale,
                   most = (ref_int128)UINT64_MAX;
        *offset += product <= most ? product : most - most % scale;
    }
    if (o->place != HG_PLACE_BARE) *offset += o->disp;
    return true;
}

uint8_t *ref_resolve(ref_machine *m, const ref_lane *lane, uint32_t operand, uint64_t size,
                     bool collective, bool atomic) {
    const ref_lane *blamed = collective ? NULL : lane;
    region r;
    ref_int128 offset;
    if (!find(m, lane, operand, blamed, &r, &offset)) return NULL;
    uint8_t *bytes = check(m, blamed, lane->pc, text_number(operand), &r, offset, size);
    if (bytes && atomic && (uint64_t)offset % size != 0) {
        ref_fail(m, blamed, lane->pc, text_number(operand), "F04", "misaligned atomic: offset %llu",
                 (unsigned long long)offset);
        return NULL;
    }
    return bytes;
}

uint64_t ref_room(ref_machine *m, const ref_lane *lane, uint32_t operand) {
    region r;
    ref_int128 offset;
    return find(m, lane, operand, NULL, &r, &offset) ? r.size - (uint64_t)offset : 0;
}

uint8_t *ref_resolve_private(ref_machine *m, const ref_lane *lane, uint32_t operand,
                             uint64_t size) {
    const hg_operand *o = &hg_inst_operands(m->program, lane->pc)[operand];
    uint64_t index = 0, scale = o->scale ? o->scale : 1, bytes = m->program->private_bytes,
             align = size < 8 ? size : 8;
    if (o->has_index && !ref_read_uint(m, lane, o->index, &index)) return NULL;
    ref_int128 offset = (ref_int128)index * (ref_int128)scale + o->disp;
    if (offset < 0 || offset + (ref_int128)size > (ref_int128)bytes) {
        char where[96];
        int n = o->has_index ? snprintf(where, sizeof where, "%llu", (unsigned long long)index) : 0;
        if (scale > 1)
            n += snprintf(where + n, sizeof where - (size_t)n, " * %llu",
                          (unsigned long long)scale);
        if (!o->has_index)
            snprintf(where, sizeof where, "%lld", (long long)o->disp);
        else if (o->disp)
            snprintf(where + n, sizeof where - (size_t)n, " %c %llu", o->disp < 0 ? '-' : '+',
                     o->disp < 0 ? 0 - (unsigned long long)o->disp : (unsigned long long)o->disp);
        ref_fail(m, lane, lane->pc, text_number(operand), "F01",
                 "private access out of bounds: offset %s + size %llu > private size %llu", where,
                 (unsigned long long)size, (unsigned long long)bytes);
        return NULL;
    }
    if ((uint64_t)offset % align != 0) {
        ref_fail(m, lane, lane->pc, text_number(operand), "F04",
                 "misaligned private access: offset %llu", (unsigned long long)offset);
        return NULL;
    }
    return m->own + lane->id * bytes + (uint64_t)offset;
}

uint8_t *ref_resolve_class(ref_machine *m, const ref_lane *lane, uint32_t operand, uint32_t cls,
                           uint64_t offset, uint64_t size) {
    region r = {m->classes + cls * REF_CLASS_BYTES, REF_CLASS_BYTES, "buffer"};
    return check(m, lane, lane->pc, text_number(operand), &r, (ref_int128)offset, size);
}

uint8_t *ref_resolve_pool(ref_machine *m, const ref_lane *lane, uint32_t operand, uint64_t handle,
                          uint64_t offset, uint64_t size) {
    region r;
    if (!object_region(m, REF_POOL, handle, false, &r)) {
        ref_fail(m, lane, lane->pc, text_number(operand), "F03", "invalid pool handle: %llu",
                 (unsigned long long)handle);
        return NULL;
    }
    return check(m, lane, lane->pc, text_number(operand + 1), &r, (ref_int128)offset, size);
}

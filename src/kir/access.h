/* Memory operations: where their operands stand, and how one is made. The one place that knows the
 * order of their arguments: handle, index, what is stored or operated with; a number of 64 bits is
 * two arguments, low half first, where mem.split says so. In device form (kir/device/device.h) a
 * byte offset stands where these are: kir_device_offset. */
#ifndef HG_KIR_ACCESS_H
#define HG_KIR_ACCESS_H

#include "kir/builder.h"

/* Indices of arguments. handle_args, index_args: how many arguments; 0: the operation has none. */
typedef struct kir_access {
    uint8_t handle, handle_args; /* FLAT: the flat address */
    uint8_t index, index_args;
    uint8_t value; /* the first behind the place: of STORE what is stored, of ATOMIC the operands;
                      v->nargs where there is none */
} kir_access;

static inline kir_access kir_access_of(const kir_value *v) {
    uint8_t each = v->u.mem.split ? 2 : 1, space = v->u.mem.space;
    kir_access a = {0};
    if (space == KIR_BUFFER || space == KIR_POOL || space == KIR_FLAT) a.handle_args = each;
    if (v->u.mem.has_index) a.index_args = each;
    a.index = a.handle_args;
    a.value = (uint8_t)(a.index + a.index_args);
    return a;
}

/* Device form: index of the byte offset; an address stands before it, operands behind it. */
static inline uint8_t kir_device_offset(const kir_value *v) {
    return v->u.mem.slot == KIR_ADDRESS ? v->u.mem.split ? 2 : 1 : 0;
}

/* Whether the access goes through a slot, so that nobody needs to read its handle. */
static inline bool kir_access_is_direct(const kir_value *v) {
    return (v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) && v->u.mem.slot >= 0;
}

/* Whether only its handle, or the flat address, says which memory it is in. */
static inline bool kir_access_is_open(const kir_value *v) {
    return v->u.mem.space != KIR_SHARED && v->u.mem.space != KIR_CLASS && !kir_access_is_direct(v);
}

/* Bytes of the access as it was written: those of a wide type too. */
static inline uint16_t kir_access_size(const kir_value *v) {
    return v->u.mem.bytes_wide ? v->u.mem.bytes_wide : v->u.mem.bytes;
}

/* A place in memory. */
typedef struct kir_place {
    kir_value *handle; /* u64; NULL in SHARED and CLASS */
    kir_value *index;  /* u64; NULL: none */
    int64_t disp;      /* added exactly to the index */
    uint8_t space;     /* kir_space */
    uint8_t class_id;  /* CLASS: which; BUFFER: kir_plan_memory */
    uint8_t operand;   /* of the instruction, for faults, from 1 */
    bool unchecked;    /* known to be in bounds */
} kir_place;

/* LOAD, STORE, CHECK or ATOMIC of an element of that type; its slot is open. values: STORE 1,
 * ATOMIC 1 or 2, else none. */
kir_value *kir_access_make(kir_builder *b, kir_op op, uint8_t type, const kir_place *at,
                           uint8_t count, kir_value *const *values);

#endif

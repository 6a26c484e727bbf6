/* Shared by the files that print kernels as StableHLO: the printer's state, names, and operations
 * on tensors of lanes. */
#ifndef HG_EMIT_STABLEHLO_INTERNAL_H
#define HG_EMIT_STABLEHLO_INTERNAL_H

#include "emit/emit_stablehlo.h"
#include "kir/access.h"

/* What a function reads or writes beside its values. Each item is a tensor: of a variable, of an
 * array of the launch, of what the launch gives lanes. An item's number is its place in one list:
 * the variables of the module by id, then the arrays of the launch, then these, the inputs, and
 * limits and bases of slots. */
typedef enum hlo_item {
    HLO_SHARED, /* shared memory of all blocks */
    HLO_CODE,   /* of each lane: 1 + the place of its fault in sites, 0: none */
    HLO_FIRST,  /* of each lane: the values of its fault */
    HLO_SECOND,
    HLO_PHASE,    /* barriers that the lane has passed */
    HLO_ALIVE,    /* lanes that no exit and no fault has ended */
    HLO_FUEL,     /* rounds of loops that are left, one number */
    HLO_STAYS,    /* lanes that stay in the innermost loop; this one and the next three are the */
    HLO_GOES_ON,  /* function's own, which no caller sees: lanes that stay in this round, */
    HLO_RETURNED, /* lanes that have not returned, */
    HLO_RESULT,   /* and what lanes return */
    HLO_ZERO32,
    HLO_ZERO64,                            /* zeros that the compiler cannot know */
    HLO_SHARED_BASE,                       /* where the lane's block begins in shared memory */
    HLO_TABLE,                             /* of memory that only handles name */
    HLO_TABLE_BUFFERS,                     /* how many entries of it are buffers', */
    HLO_TABLE_POOLS,                       /* and pools' */
    HLO_ID,                                /* HG_ID_COUNT of them */
    HLO_CLASS_BASE = HLO_ID + HG_ID_COUNT, /* where class memory begins */
    HLO_INPUT /* of the module's inputs; then limit and base of each slot */
} hlo_item;

/* How many numbers stand in front of the inputs in the record. */
enum { HLO_RECORD_ZERO, HLO_RECORD_FUEL, HLO_RECORD_CLASS, HLO_RECORD_SHARED, HLO_RECORD };

typedef struct hlo {
    hg_text *out;
    const kir_module *module;
    const emit_stablehlo_launch *launch;
    emit_stablehlo_sites *sites;
    const char *unsupported;        /* why this module has no text */
    bool failed;                    /* out of memory */
    uint64_t lanes;                 /* of a tensor */
    uint32_t next;                  /* number of the next name */
    uint32_t item_count, set_words; /* words of 64 bits of a set of items */
    const kir_var **vars;           /* by id */
    uint64_t *reads, *writes;       /* sets of items by id of the function, by its calls too */
    uint32_t *items;                /* current name of each item; 0: none here */
    /* of the function that is printed */
    const kir_function *function;
    uint32_t *names; /* of its values, by id */
    uint32_t mask;   /* lanes that are here */
    uint32_t all;    /* what HLO_RETURNED is until lanes return */
} hlo;

/* ---- names ---- */
static inline uint32_t hlo_var(const kir_var *v) { return v->id; }
static inline uint32_t hlo_array(const hlo *p, uint32_t array) {
    return p->module->var_count + array;
}
static inline uint32_t hlo_of(const hlo *p, uint32_t item) {
    return p->module->var_count + p->launch->array_count + item;
}
static inline uint32_t hlo_slot_limit(const hlo *p, uint32_t slot) {
    return hlo_of(p, HLO_INPUT + (uint32_t)p->module->inputs.count + 2 * slot);
}
static inline uint32_t hlo_slot_base(const hlo *p, uint32_t slot) {
    return hlo_slot_limit(p, slot) + 1;
}
/* Where the table begins in the record: counts of buffers and pools, then the entries. */
static inline uint64_t hlo_table_begin(const hlo *p) {
    return HLO_RECORD + p->module->inputs.count + 2 * p->module->slots.count;
}
enum { HLO_TABLE_COUNTS = 2, HLO_ENTRY_WORDS = 4 /* of 64 bits */ };
static inline uint64_t hlo_block_lanes(const hlo *p) {
    return (uint64_t)p->launch->block[0] * p->launch->block[1] * p->launch->block[2];
}
static inline uint64_t hlo_shared_words(const hlo *p) { /* of all blocks of a tile */
    uint64_t bytes = p->lanes / hlo_block_lanes(p) * p->launch->shared_bytes;
    return bytes ? bytes / p->launch->shared_word : 1;
}
static inline uint32_t hlo_name(const hlo *p, const kir_value *v) { return p->names[v->id]; }

/* ---- emit_stablehlo_value.c: operations, each of which returns the name of its result ---- */
const char *hlo_element(hlo *p, uint8_t type); /* "ui32", "f32", "i1" */
void hlo_type(hlo *p, uint8_t type);           /* "tensor<64xui32>" */
uint32_t hlo_constant(hlo *p, uint8_t type, uint64_t bits);
uint32_t hlo_unary(hlo *p, const char *op, uint8_t type, uint32_t a);
uint32_t hlo_binary(hlo *p, const char *op, uint8_t type, uint32_t a, uint32_t b);
uint32_t hlo_compare(hlo *p, const char *direction, uint8_t type, uint32_t a, uint32_t b);
uint32_t hlo_select(hlo *p, uint8_t type, uint32_t condition, uint32_t a, uint32_t b);
/* op: "convert" or "bitcast_convert" */
uint32_t hlo_convert(hlo *p, const char *op, uint8_t to, uint8_t from, uint32_t a);
uint32_t hlo_not(hlo *p, uint32_t mask);
uint32_t hlo_and(hlo *p, uint32_t a, uint32_t b); /* of masks */
/* The value where the mask is set, else the other one. */
bool hlo_print_value(hlo *p, const kir_value *v); /* false: no value primitive */

/* ---- emit_stablehlo_memory.c ---- */
bool hlo_print_memory(hlo *p, const kir_value *v); /* false: no operation on memory */
void hlo_print_array(hlo *p, const kir_value *v);  /* ARRAY_GET, ARRAY_SET, TABLE_GET */
/* The lanes of `bad` end with a fault. */
void hlo_fault(hlo *p, const kir_value *v, uint32_t bad, uint32_t first, uint32_t second);
void hlo_item_type(hlo *p, uint32_t item);

#endif

/* The dataflow that gives every register its one type, shared by verification and by the inference
 * of omitted types.
 *
 * Functions are analysed symbolically, callees first: a register starts as "the caller's". What is
 * read of it fixes the type that every caller must have there; a register that is only passed on
 * has no type in the function at all. */
#ifndef HG_ISA_FLOW_H
#define HG_ISA_FLOW_H

#include "isa/verify_internal.h"

/* What is known of a register: a type, or FLOW_MAYBE | type (that type or the caller's value), or
 * one of these. */
enum {
    FLOW_MAYBE = HG_LEAVES_MAYBE,
    FLOW_ANY = 0xFC,   /* checking: no more complaints; inferring: not known yet */
    FLOW_UNSET = 0xFD, /* not initialised on some path (functions[0] only) */
    FLOW_MIXED = 0xFE, /* different types meet, or a callee left nothing known */
    FLOW_CALLER = 0xFF /* untouched since the function began */
};

typedef struct flow_function {
    uint8_t *in;       /* block_count × slots: state at the start of each block */
    uint16_t *pred_in; /* predicates written since the function began, on every path */
    uint8_t *seen;     /* block has a state */
    uint8_t *out;      /* slots: state over all returns; NULL: never returns */
    uint8_t *hint;     /* inferring: types that callers pass */
} flow_function;

typedef struct flow {
    hg_check *check;
    hg_cfg *cfg;
    hg_program *target; /* inferring: where types are filled in; NULL when checking */
    bool inferred;      /* something was filled in or learnt */
    uint32_t slots;     /* registers that the program names */
    uint8_t slot_of[256], reg_of[256];
    flow_function *functions;
    /* scratch of the function at work */
    uint32_t *order, *position, *stack;
    uint8_t *dirty;
} flow;

bool flow_begin(flow *x, hg_check *c, hg_cfg *cfg);
/* Runs function f to its fixed point; then its reads, leaves and predicates are filled in. */
void flow_run(flow *x, uint32_t f);
/* State of a slot with what is known of the caller's value: a type, ANY, UNSET, MIXED, or CALLER
 * where nothing is known. */
uint8_t flow_known(const flow *x, uint32_t f, uint32_t slot, uint8_t state);
/* One instruction over a state. */
void flow_step(flow *x, uint32_t f, uint32_t inst, uint8_t *state, uint16_t *preds);
/* A call over a state. */
void flow_call(flow *x, uint32_t f, uint32_t callee, uint8_t *state, uint16_t *preds);

#endif

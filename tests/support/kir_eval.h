/* Evaluates kernel IR for one lane, one operation at a time, in plain C: the meaning of prim.def
 * written a second time. Used to test definitions and legalisation; shares no code with them. */
#ifndef HG_TESTS_KIR_EVAL_H
#define HG_TESTS_KIR_EVAL_H

#include "kir/builder.h"
#include "kir/kir.h"
#include "kir/define/define.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct eval_value {
    uint32_t limb[128];
} eval_value; /* little-endian, zero above the type's size */

typedef struct eval {
    const kir_module *module;
    bool flush;               /* f32 subnormals are flushed, as on a poor device */
    const eval_value *inputs; /* by input index */
    uint8_t *memory;          /* buffer 1; others fault */
    uint64_t memory_size;
    uint64_t steps, max_steps;
    bool exited;
    int fault; /* kir_fault */
    uint32_t fault_inst;
    uint64_t fault_offset;
    eval_value **vars;                /* by variable id: the elements */
    const struct eval_device *device; /* who does accesses, fields, ids and barriers in device form;
                                         NULL: nobody */
    struct device_lane *lane;         /* its own */
} eval;

/* What device_eval.h does for a kernel in device form. */
typedef struct eval_device {
    eval_value (*access)(eval *e, const kir_value *v, eval_value *const *x);
    eval_value (*leaf)(eval *e, const kir_value *v);
    void (*barrier)(eval *e, const kir_value *v);
} eval_device;

/* ---- integers of up to 4096 bits ---- */

uint64_t ev_u64(const eval_value *v);
eval_value ev_from(uint64_t u);
uint32_t ev_limbs(uint32_t bits);
void ev_cut(eval_value *v, uint32_t bits);
bool ev_bit(const eval_value *v, uint32_t i);
int ev_cmp(const eval_value *a, const eval_value *b);
eval_value ev_add(const eval_value *a, const eval_value *b, uint32_t bits);
eval_value ev_neg(const eval_value *a, uint32_t bits);
eval_value ev_sub(const eval_value *a, const eval_value *b, uint32_t bits);
eval_value ev_shl(const eval_value *a, uint32_t n, uint32_t bits);
eval_value ev_shr(const eval_value *a, uint32_t n, uint32_t bits, bool fill);
uint32_t ev_length(const eval_value *a);
/* ---- one operation ---- */

/* A float of the type of v as a double, and back. */
double ev_real(const eval *e, const kir_value *v, const eval_value *x);
eval_value ev_of_real(const eval *e, uint8_t type, double d);

/* F32 arithmetic is done in float, so that each result is rounded once. */
eval_value ev_float(const eval *e, const kir_value *v, eval_value *const *x);
eval_value ev_convert(const eval *e, const kir_value *v, const eval_value *x);
eval_value ev_integer(const kir_value *v, eval_value *const *x);

/* The float x with an exponent from -15 to 0: where FMULERR of two such numbers is exact. */
uint64_t ev_near_one(uint8_t type, uint64_t bits);
kir_value *ev_build_near_one(kir_builder *b, kir_value *x);

/* ---- functions ---- */

/* Array parameters name the caller's arrays. */
eval_value eval_function(eval *e, const kir_function *f, const eval_value *params,
                         kir_var *const *arrays);

/* Prepares for running functions of a module; call eval_end when done. Numbers all functions. */
void eval_begin(eval *e, const kir_module *m);
void eval_end(eval *e);

#endif

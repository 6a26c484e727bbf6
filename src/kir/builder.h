/* Writes operations at the end of a region. Nothing here returns NULL: out of memory sets b->failed
 * and gives a harmless value.
 *
 * Order: operations are written as the calls run, and C leaves open which argument of a call runs
 * first. Whatever takes several values is therefore a macro that works its arguments out from left
 * to right, so that kir_sub(b, f(b), g(b)) writes f's operations first with every compiler. A
 * shorthand over them is a macro too, or its callers name their steps; `tools/check` finds those
 * that do neither. */
#ifndef HG_KIR_BUILDER_H
#define HG_KIR_BUILDER_H

#include "kir/kir.h"

enum { KIR_HELD_MAX = 32 }; /* how deep calls nest in one expression of the sources */
typedef struct kir_builder {
    kir_module *module;
    kir_function *function;
    kir_region *region; /* where operations are appended */
    uint32_t inst;      /* stored in new values */
    bool failed;
    kir_value dummy; /* given out when failed */
    kir_value *dummy_args[8];
    kir_region dummy_region;
    const kir_caps *caps; /* what a definition is made for; NULL: for any target */
    uint32_t held_count;
    kir_value *held[KIR_HELD_MAX]; /* arguments that wait for the next one of the same call */
} kir_builder;
/* A value waits until the rest of its call's arguments are worked out; the last that was put in
 * comes out first. */
static inline void kir_hold(kir_builder *b, kir_value *value) {
    if (b->held_count < KIR_HELD_MAX)
        b->held[b->held_count] = value;
    else
        b->failed = true;
    b->held_count++;
}
static inline kir_value *kir_held(kir_builder *b) {
    return --b->held_count < KIR_HELD_MAX ? b->held[b->held_count] : &b->dummy;
}
void kir_builder_init(kir_builder *b, kir_module *m, kir_function *f);
kir_value *kir_emit(kir_builder *b, kir_op op, uint8_t type, uint8_t nargs,
                    kir_value *const *args); /* fields of u are zero */
kir_value *kir_const(kir_builder *b, uint8_t type, uint64_t bits);
kir_value *kir_const_bytes(kir_builder *b, uint8_t type, const uint8_t *bytes); /* any width; copies
                                                                                 */
kir_value *kir_f32(kir_builder *b, float value);
kir_value *kir_f64(kir_builder *b, double value);
kir_value *kir_unary(kir_builder *b, kir_op op, kir_value *a);       /* result SAME */
kir_value *kir_binary_held(kir_builder *b, kir_op op, kir_value *c); /* result SAME or BOOL by
                                                                        prim.def */
kir_value *kir_ffma_held(kir_builder *b, kir_value *c);
kir_value *kir_mad_held(kir_builder *b, kir_value *c);
kir_value *kir_select_held(kir_builder *b, kir_value *c);
#define kir_binary(b, op, a, c) (kir_hold(b, a), kir_binary_held(b, op, c))
#define kir_ffma(b, a, m, c) (kir_hold(b, a), kir_hold(b, m), kir_ffma_held(b, c))
#define kir_mad(b, a, m, c) (kir_hold(b, a), kir_hold(b, m), kir_mad_held(b, c))
#define kir_select(b, cond, a, c) (kir_hold(b, cond), kir_hold(b, a), kir_select_held(b, c))
kir_value *kir_convert(kir_builder *b, kir_op op, uint8_t type, kir_value *a);
kir_value *kir_not(kir_builder *b, kir_value *boolean);
kir_value *kir_get(kir_builder *b, kir_var *var);
void kir_set(kir_builder *b, kir_var *var, kir_value *value);
kir_value *kir_array_get(kir_builder *b, kir_var *array, kir_value *index);
void kir_array_set_held(kir_builder *b, kir_var *array, kir_value *value);
#define kir_array_set(b, array, index, value) \
    (kir_hold(b, index), kir_array_set_held(b, array, value))
kir_value *kir_table_get(kir_builder *b, kir_table *table, kir_value *index);
kir_value *kir_call(kir_builder *b, kir_function *f, uint8_t nargs, kir_value *const *args,
                    kir_var *const *arrays);
void kir_return(kir_builder *b, kir_value *value); /* NULL: none */
kir_value *kir_param(kir_builder *b, uint8_t index);
kir_value *kir_derived(kir_builder *b, uint16_t fn, hg_type atlas_type, uint8_t nargs,
                       kir_value *const *args);
/* if: kir_if_begin; …; [kir_if_else;] kir_if_end. The pointer is the IF. */
kir_value *kir_if_begin(kir_builder *b, kir_value *cond);
void kir_if_else(kir_builder *b, kir_value *branch);
void kir_if_end(kir_builder *b, kir_value *branch);
kir_value *kir_loop_begin(kir_builder *b, bool bounded);
void kir_loop_end(kir_builder *b, kir_value *loop);
/* for (i = 0; i < n; i++): the index is a variable of the builder's function. */
typedef struct kir_for {
    kir_var *index;
    kir_value *loop, *i;
} kir_for;
kir_for kir_for_begin(kir_builder *b, kir_value *n);
void kir_for_end(kir_builder *b, kir_for *f);
void kir_break(kir_builder *b);
void kir_continue(kir_builder *b);
void kir_exit(kir_builder *b);
void kir_fault_if(kir_builder *b, kir_value *cond, kir_fault code, uint8_t operand,
                  const char *message);
/* message with a {} for each value (u64, at most KIR_FAULT_VALUES). Values are worked out by all
 * lanes: put them under an IF. */
kir_value *kir_fault_if_values(kir_builder *b, kir_value *cond, kir_fault code, uint8_t operand,
                               const char *message, uint8_t count, kir_value *const *values);
/* shorthands used by definitions: of the type's kind, integer or float */
kir_value *kir_arithmetic_held(kir_builder *b, kir_op integer, kir_op real, kir_value *c);
#define kir_add(b, a, c) (kir_hold(b, a), kir_arithmetic_held(b, KIR_ADD, KIR_FADD, c))
#define kir_sub(b, a, c) (kir_hold(b, a), kir_arithmetic_held(b, KIR_SUB, KIR_FSUB, c))
#define kir_mul(b, a, c) (kir_hold(b, a), kir_arithmetic_held(b, KIR_MUL, KIR_FMUL, c))

#endif

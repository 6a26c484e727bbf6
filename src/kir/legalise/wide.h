/* Inside the pass over wide integers: arrays of limbs and the functions on them. */
#ifndef HG_KIR_LEGALISE_WIDE_H
#define HG_KIR_LEGALISE_WIDE_H

#include "kir/legalise/legalise_internal.h"

typedef struct wide_state {
    uint8_t limb; /* HG_TYPE_U64, or U32 where the target has no 64-bit integers */
    uint32_t limb_bits;
    uint32_t *release; /* by id of an operation: first value (id + 1) whose array is free after it
                        */
    uint32_t *release_next;   /* by id of a value */
    uint32_t *limbs_of_input; /* by input: the place of its first limb in the new module's inputs,
                                 0: not made */
    bool values;              /* a value for each limb, no arrays (wide_values.c) */
    kir_var *unused[6]; /* arrays of the function being written, by width; linked through scratch */
} wide_state;

static inline bool is_wide(uint8_t type) { return type > HG_TYPE_U64 && type <= HG_TYPE_U4096; }
static inline wide_state *wide(const rewrite_pass *p) { return p->state; }
static inline uint32_t wide_limbs(const rewrite_pass *p, uint8_t type) {
    return kir_type_bits(type) / wide(p)->limb_bits;
}

/* Arrays of the function being written, by type, that hold nothing. */
kir_var *wide_take_array(rewrite_pass *p, uint8_t type);
void wide_give_array(rewrite_pass *p, uint8_t type, kir_var *array);
/* The module's input of a limb of an input, made on first use; p->b.failed after failure. */
kir_value *wide_input(rewrite_pass *p, const kir_value *v, uint32_t limb);
/* Its operands' arrays are in p->values, and its result's will be; false: there is nothing wide. */
bool wide_lower_arrays(rewrite_pass *p, const kir_value *v);
bool wide_declare_array(rewrite_pass *p, const kir_var *v, kir_function *owner);
/* At a function's begin, and behind an operation: whose arrays are free again. */
void wide_begin_arrays(rewrite_pass *p);
void wide_release_arrays(rewrite_pass *p, const kir_value *v);
/* Whether the module's wide integers may be values, as few and short as they are. */
bool wide_suits_values(const kir_module *m);
/* The same as wide_lower_arrays with a value for each limb. */
bool wide_lower_values(rewrite_pass *p, const kir_value *v);
bool wide_declare_values(rewrite_pass *p, const kir_var *v, kir_function *owner);

/* The function for an operation on a wide type (arrays by reference: result first). Made on first
 * use; NULL after failure. */
kir_function *wide_function(rewrite_pass *p, kir_op op, uint8_t type);
/* result and value: the types converted between, one of them wide at least. Handles ZEXT SEXT TRUNC
 * between wide types, U2F S2F F2U F2S. */
kir_function *wide_convert(rewrite_pass *p, kir_op op, uint8_t to, uint8_t from);
kir_function *wide_powm(rewrite_pass *p, uint8_t type); /* (r, a, b, c): r = a ^ b mod c, by 0 0
                                                         */
kir_function *wide_fill(rewrite_pass *p, uint8_t type); /* (r; from u32, value): r[from …] = value
                                                         */
kir_function *wide_copy(rewrite_pass *p, uint8_t type); /* (r, a) */

#endif

/* Inside kir_verify: the rules of single operations. NULL: the operation keeps them; else what it
 * breaks. */
#ifndef HG_KIR_VERIFY_INTERNAL_H
#define HG_KIR_VERIFY_INTERNAL_H

#include "kir/kir.h"

/* A value's type: bool, f32, f64, u8 to u4096. */
static inline bool kir_is_type(uint8_t type) {
    return type == KIR_BOOL || (type < HG_TYPE_COUNT && kir_type_of((hg_type)type) == type);
}
static inline bool kir_is_int(uint8_t type) { return type >= HG_TYPE_U8 && type <= HG_TYPE_U4096; }
/* Of more than 64 bits: such values live in variables and move through memory, nothing else. */
static inline bool kir_is_wide(uint8_t type) { return type > HG_TYPE_U64 && type <= HG_TYPE_U4096; }
static inline bool kir_is_narrow_type(uint8_t type) {
    return kir_is_type(type) && !kir_is_wide(type);
}

/* verify_op.c: arguments and results. */
const char *kir_verify_operation(const kir_module *m, const kir_function *f, const kir_value *v);
/* verify_memory.c */
const char *kir_verify_access(const kir_module *m, const kir_function *f, const kir_value *v);
const char *kir_verify_step(const kir_value *v);
/* A variable that f may touch. */
const char *kir_verify_var(const kir_function *f, const kir_var *var, bool array);

#endif

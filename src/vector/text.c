#include "vector/text_internal.h"

#define WORDS(...) \
    { (const char *const[]){__VA_ARGS__}, HG_COUNT_OF(((const char *[]){__VA_ARGS__})) }
const kir_words vec_reach_words = WORDS("one", "row", "stride", "each");
const kir_words vec_mem_flag_words = WORDS("aligned", "small", "combines", "checked", "fits");

bool *vec_mem_flag(vec_value *v, size_t i) {
    bool *const flags[VEC_MEM_FLAGS] = {&v->u.mem.aligned, &v->u.mem.small, &v->u.mem.may.combines,
                                        &v->u.mem.may.checked, &v->u.mem.may.fits};
    return flags[i];
}

uint8_t vec_text_bytes(const vec_value *v) {
    const uint8_t first = vec_place_args(v);
    uint8_t type = v->type;
    if (v->op == VEC_STORE) type = first < v->nargs ? v->args[first]->type : (uint8_t)KIR_VOID;
    return type == KIR_VOID ? 0 : (uint8_t)kir_type_bytes(type);
}

/* The pass over wide integers (u128 … u4096): arrays of limbs (wide.c), or a value for each limb
 * where the target likes that and the module has few (wide_values.c).
 * Requires: of wide types no DERIVED but powm. Provides: no value, variable, constant or input wider
 * than 64 bits. */
#include "kir/legalise/wide.h"

static bool declare_var(rewrite_pass *p, const kir_var *v, kir_function *owner) {
    if (!is_wide(v->type)) return false;
    return (wide(p)->values ? wide_declare_values : wide_declare_array)(p, v, owner);
}

static bool lower(rewrite_pass *p, const kir_value *v) {
    return (wide(p)->values ? wide_lower_values : wide_lower_arrays)(p, v);
}

static const rewrite_rules WIDE_RULES = {.lower = lower,
                                         .declare_var = declare_var,
                                         .begin_function = wide_begin_arrays,
                                         .after = wide_release_arrays};

hg_status legal_wide(const kir_module *in, const kir_caps *caps, kir_module **out) {
    wide_state s = {.limb = caps->i64 ? HG_TYPE_U64 : HG_TYPE_U32,
                    .limb_bits = caps->i64 ? 64 : 32};
    uint32_t most = 0;
    for (kir_function *f = in->functions; f; f = f->next) {
        uint32_t n = kir_number(f);
        if (n > most) most = n;
    }
    s.values = caps->limb_values && caps->i64 && wide_suits_values(in);
    s.release = hg_calloc(most + 1u, sizeof *s.release);
    s.release_next = hg_calloc(most + 1u, sizeof *s.release_next);
    s.limbs_of_input = hg_calloc((size_t)in->inputs.count + 1, sizeof *s.limbs_of_input);
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    *out = NULL;
    if (s.release && s.release_next && s.limbs_of_input)
        status = rewrite_run(in, caps, &WIDE_RULES, &s, out);
    else
        status = hg_fail_memory();
    hg_free(s.release);
    hg_free(s.release_next);
    hg_free(s.limbs_of_input);
    return status;
}

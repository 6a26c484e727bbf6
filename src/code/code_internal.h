/* What the files of compiled code share. */
#ifndef HG_CODE_CODE_INTERNAL_H
#define HG_CODE_CODE_INTERNAL_H

#include "code/code.h"
#include "kir/pipeline/pipeline.h"
#include "kir/rewrite.h"

/* A part of a compilation that ends now. */
static inline void hg_code_record(const hg_code_set *set, const char *what, uint64_t start) {
    hg_profile_end(set->profile, &(hg_profile_span){.kind = HG_PROFILE_COMPILE,
                                                    .name = what,
                                                    .detail = set->form.name,
                                                    .start_ns = start});
}

/* ---- code.c ---- */
void hg_code_set_release(hg_code_set *set); /* one reference */

/* ---- form.c: code in device form ---- */
/* What a set says of its kernel. */
void hg_code_note(hg_code_set *set, const kir_module *low);
/* The device form that the code's key asks for, compiled, and what launches of it must fill in. */
hg_status hg_code_compile_form(hg_code *c) HG_NODISCARD;
void hg_code_free_form(hg_code *c);

#endif

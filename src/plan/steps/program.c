/* Library programs as kernels of expansions.
 * Must not know: what a collective does. */
#include "kir/define/define.h"
#include "plan/steps/steps.h"
#include <string.h>

/* What the epilogue of a text says: value = fn(value). */
static const char *epilogue_of(uint16_t fn, hg_text *text) {
    if (fn == HG_OP_MOV) return NULL;
    if (fn == KIR_FN_RELU)
        hg_text_addf(text, "    max value, value, 0.0\n");
    else
        hg_text_addf(text, "    %s value, value\n", kir_fn_name(fn));
    return text->failed ? NULL : text->data;
}

static kir_module *make(const plan_kernel_key *key) {
    int64_t constants[LIBRARY_MOST_CONSTANTS];
    hg_text epilogue = {0};
    kir_module *m = NULL;
    for (uint32_t i = 0; i < LIBRARY_MOST_CONSTANTS; i++) constants[i] = key->constants[i];
    library_request r = {
        .id = (library_id)key->program, .type = (hg_type)key->type, .constants = constants, .epilogue = epilogue_of(key->fn, &epilogue)};
    hg_status status = library_module(&r, key->shifted, &m);
    hg_text_free(&epilogue);
    return status == HG_OK ? m : NULL;
}

bool plan_key_is_library(const plan_kernel_key *key) { return key->make == make; }

plan_kernel_key plan_library_key(library_id program, hg_type type, uint16_t fn, const int32_t *constants, uint8_t arrays, uint8_t values) {
    plan_kernel_key key = {.make = make, .fn = fn, .type = (uint8_t)type, .arrays = arrays, .values = values, .program = (uint16_t)program};
    uint32_t count = library_constant_count(program);
    if (count) memcpy(key.constants, constants, count * sizeof *constants);
    return key;
}

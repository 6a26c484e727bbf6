/* Library programs as kernels of expansions.
 * Must not know: what a collective does. */
#include "kir/define/define.h"
#include "plan/steps/chain.h"
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

/* ---- maps that follow ---- */

/* Array 0 is the output, whose element is in v; the others are parameters, their elements in e1, e2, … */
static void write_element(hg_text *text, uint8_t array) {
    if (array)
        hg_text_addf(text, "e%u", (unsigned)array);
    else
        hg_text_addf(text, "v");
}

static void write_link(const plan_chain *chain, uint8_t at, bool *known, hg_text *text) {
    const plan_link *link = &chain->links[at];
    for (uint8_t i = 0; i + 1 < link->arrays; i++) {
        uint8_t array = link->in[i];
        if (!known[array]) hg_text_addf(text, "    ldg e%u, [array%u[place]]\n", (unsigned)array, (unsigned)array);
        known[array] = true;
    }
    hg_text_addf(text, "    %s ", link->fn == KIR_FN_RELU ? "max" : kir_fn_name(link->fn));
    write_element(text, link->out);
    for (uint8_t i = 0; i + 1 < link->arrays; i++) {
        hg_text_addf(text, ", ");
        write_element(text, link->in[i]);
    }
    hg_text_addf(text, link->fn == KIR_FN_RELU ? ", 0.0\n" : "\n");
    known[link->out] = true;
}

static void write_chain(const plan_chain *chain, hg_text *parameters, hg_text *functions) {
    bool known[PLAN_CHAIN_ARRAYS] = {true}, changed[PLAN_CHAIN_ARRAYS] = {false};
    for (uint8_t i = 1; i < chain->arrays; i++)
        hg_text_addf(parameters, ".param array%u buffer %s inout\n", (unsigned)i, hg_type_name((hg_type)chain->types[i]));
    for (uint8_t i = 1; i < chain->arrays; i++)
        hg_text_addf(functions, ".reg e%u %s\n", (unsigned)i, hg_type_name((hg_type)chain->types[i]));
    hg_text_addf(functions, "fused:\n");
    for (uint8_t i = 0; i < chain->count; i++) write_link(chain, i, known, functions);
    for (uint8_t i = 0; i < chain->count; i++) changed[chain->links[i].out] = true;
    for (uint8_t i = 1; i < chain->arrays; i++)
        if (changed[i]) hg_text_addf(functions, "    stg [array%u[place]], e%u\n", (unsigned)i, (unsigned)i);
    hg_text_addf(functions, "    ret\n");
}

static kir_module *make(const plan_kernel_key *key) {
    int64_t constants[LIBRARY_MOST_CONSTANTS];
    hg_text epilogue = {0}, parameters = {0}, functions = {0};
    kir_module *m = NULL;
    for (uint32_t i = 0; i < LIBRARY_MOST_CONSTANTS; i++) constants[i] = key->constants[i];
    library_request r = {
        .id = (library_id)key->program, .type = (hg_type)key->type, .constants = constants, .epilogue = epilogue_of(key->fn, &epilogue)};
    if (key->chain) {
        write_chain(key->chain, &parameters, &functions);
        r.parameters = parameters.data;
        r.fused = "    call @fused\n";
        r.functions = functions.data;
    }
    bool failed = epilogue.failed || parameters.failed || functions.failed;
    hg_status status = failed ? hg_fail_memory() : library_module(&r, key->shifted, &m);
    hg_text_free(&epilogue);
    hg_text_free(&parameters);
    hg_text_free(&functions);
    return status == HG_OK ? m : NULL;
}

void plan_fuse(const plan_expansion *x, plan_kernel_key *key, plan_part *parts, uint64_t elements) {
    key->chain = x->fused;
    for (uint8_t i = 1; x->fused && i < x->fused->arrays; i++)
        parts[key->arrays++] = (plan_part){.array = PLAN_FUSED + i, .bytes = elements * hg_type_size_bytes((hg_type)x->fused->types[i])};
}

bool plan_key_is_library(const plan_kernel_key *key) { return key->make == make; }

plan_kernel_key plan_library_key(library_id program, hg_type type, uint16_t fn, const int32_t *constants, uint8_t arrays, uint8_t values) {
    plan_kernel_key key = {.make = make, .fn = fn, .type = (uint8_t)type, .arrays = arrays, .values = values, .program = (uint16_t)program};
    uint32_t count = library_constant_count(program);
    if (count) memcpy(key.constants, constants, count * sizeof *constants);
    return key;
}

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

/* ---- maps in front and behind ---- */

/* The maps on one side of the program. */
typedef struct maps_text {
    const plan_chain *chain;
    uint8_t made;                    /* the array whose element is in the register of that name; the others' are in e0, e1, … */
    bool known[PLAN_CHAIN_ARRAYS];   /* its element is in its register, */
    bool changed[PLAN_CHAIN_ARRAYS]; /* and another than the memory's */
    hg_text *text;
} maps_text;

static void write_element(const maps_text *m, uint8_t array) {
    if (array == m->made)
        hg_text_addf(m->text, "made");
    else
        hg_text_addf(m->text, "e%u", (unsigned)array);
}

/* As the program names it. */
static void write_array(const maps_text *m, uint8_t array) {
    if (array == m->chain->input)
        hg_text_addf(m->text, "[x[element]]");
    else if (array == m->chain->output)
        hg_text_addf(m->text, "[y[element]]");
    else
        hg_text_addf(m->text, "[array%u[element]]", (unsigned)array);
}

static void write_load(maps_text *m, uint8_t array) {
    if (m->known[array]) return;
    hg_text_addf(m->text, "    ldg ");
    write_element(m, array);
    hg_text_addf(m->text, ", ");
    write_array(m, array);
    hg_text_addf(m->text, "\n");
    m->known[array] = true;
}

static void write_store(maps_text *m, uint8_t array) {
    hg_text_addf(m->text, "    stg ");
    write_array(m, array);
    hg_text_addf(m->text, ", ");
    write_element(m, array);
    hg_text_addf(m->text, "\n");
}

static void write_link(maps_text *m, const plan_link *link) {
    for (uint8_t i = 0; i + 1 < link->arrays; i++) write_load(m, link->in[i]);
    hg_text_addf(m->text, "    %s ", link->fn == KIR_FN_RELU ? "max" : kir_fn_name(link->fn));
    write_element(m, link->out);
    for (uint8_t i = 0; i + 1 < link->arrays; i++) {
        hg_text_addf(m->text, ", ");
        write_element(m, link->in[i]);
    }
    hg_text_addf(m->text, link->fn == KIR_FN_RELU ? ", 0.0\n" : "\n");
    m->known[link->out] = m->changed[link->out] = true;
}

/* Links from `first` to in front of `end`. What they change is stored, but the array `kept`, whose elements the program stores. */
static void write_links(maps_text *m, uint8_t first, uint8_t end, uint8_t kept) {
    for (uint8_t i = first; i < end; i++) write_link(m, &m->chain->links[i]);
    for (uint8_t i = 0; i < m->chain->arrays; i++)
        if (m->changed[i] && i != kept) write_store(m, i);
}

static void write_chain(const plan_chain *chain, hg_text *parameters, hg_text *prologue, hg_text *fused) {
    maps_text in_front = {.chain = chain, .made = chain->input, .text = prologue};
    maps_text behind = {.chain = chain, .made = chain->output, .text = fused};
    behind.known[chain->output] = true;
    hg_text_addf(parameters, ".reg element u64\n.reg made %s\n", hg_type_name((hg_type)chain->types[chain->output]));
    for (uint8_t i = 0; i < chain->arrays; i++) {
        const char *type = hg_type_name((hg_type)chain->types[i]);
        hg_text_addf(parameters, ".reg e%u %s\n", (unsigned)i, type);
        if (i != chain->input && i != chain->output) hg_text_addf(parameters, ".param array%u buffer %s inout\n", (unsigned)i, type);
    }
    /* An input that lies on the output is read again before it is overwritten. */
    uint8_t overwritten = chain->output == chain->input ? PLAN_NO_ARRAY : chain->output;
    write_links(&in_front, 0, chain->front, overwritten);
    write_links(&behind, chain->front, chain->count, chain->output);
}

static kir_module *make(const plan_kernel_key *key) {
    int64_t constants[LIBRARY_MOST_CONSTANTS];
    hg_text epilogue = {0}, parameters = {0}, prologue = {0}, fused = {0};
    kir_module *m = NULL;
    for (uint32_t i = 0; i < LIBRARY_MOST_CONSTANTS; i++) constants[i] = key->constants[i];
    library_request r = {
        .id = (library_id)key->program, .type = (hg_type)key->type, .constants = constants, .epilogue = epilogue_of(key->fn, &epilogue)};
    if (key->chain) {
        write_chain(key->chain, &parameters, &prologue, &fused);
        r.parameters = parameters.data;
        r.prologue = prologue.data;
        r.fused = fused.data;
    }
    bool failed = epilogue.failed || parameters.failed || prologue.failed || fused.failed;
    hg_status status = failed ? hg_fail_memory() : library_module(&r, key->shifted, &m);
    hg_text_free(&epilogue);
    hg_text_free(&parameters);
    hg_text_free(&prologue);
    hg_text_free(&fused);
    return status == HG_OK ? m : NULL;
}

void plan_fuse(const plan_expansion *x, plan_kernel_key *key, plan_part *parts, uint64_t elements) {
    const plan_chain *chain = key->chain = x->fused;
    for (uint8_t i = 0; chain && i < chain->arrays; i++)
        if (i != chain->input && i != chain->output)
            parts[key->arrays++] = (plan_part){.array = PLAN_FUSED + i, .bytes = elements * hg_type_size_bytes((hg_type)chain->types[i])};
}

bool plan_key_is_library(const plan_kernel_key *key) { return key->make == make; }

plan_kernel_key plan_library_key(library_id program, hg_type type, uint16_t fn, const int32_t *constants, uint8_t arrays, uint8_t values) {
    plan_kernel_key key = {.make = make, .fn = fn, .type = (uint8_t)type, .arrays = arrays, .values = values, .program = (uint16_t)program};
    uint32_t count = library_constant_count(program);
    if (count) memcpy(key.constants, constants, count * sizeof *constants);
    return key;
}

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
    uint8_t sides; /* that the program does */
    uint8_t made; /* the array whose element is in the register of that name; the others' are in e0,
                     e1, … */
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

/* Those that the program has a name for; the others are array0, array1, … */
static bool is_x(const plan_chain *chain, uint8_t sides, uint8_t array) {
    return (sides & PLAN_IN_FRONT) && array == chain->input;
}
static bool is_y(const plan_chain *chain, uint8_t sides, uint8_t array) {
    return (sides & PLAN_BEHIND) && array == chain->output;
}

static void write_array(const maps_text *m, uint8_t array) {
    if (is_x(m->chain, m->sides, array))
        hg_text_addf(m->text, "[x[element]]");
    else if (is_y(m->chain, m->sides, array))
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
    hg_text_addf(m->text, link->fn != KIR_FN_RELU                 ? "\n"
                          : hg_type_is_float((hg_type)link->type) ? ", 0.0\n"
                                                                  : ", 0\n");
    m->known[link->out] = m->changed[link->out] = true;
}

/* Links from `first` to in front of `end`. What they change is stored, but the array `kept`, whose
 * elements the program stores. */
static void write_links(maps_text *m, uint8_t first, uint8_t end, uint8_t kept) {
    for (uint8_t i = first; i < end; i++) write_link(m, &m->chain->links[i]);
    for (uint8_t i = 0; i < m->chain->arrays; i++)
        if (m->changed[i] && i != kept) write_store(m, i);
}

/* Arrays that maps on these sides name and the program does not. */
static bool is_parameter(const plan_chain *chain, uint8_t sides, uint8_t array) {
    uint8_t first = sides & PLAN_IN_FRONT ? 0 : chain->front,
            end = sides & PLAN_BEHIND ? chain->count : chain->front;
    if (is_x(chain, sides, array) || is_y(chain, sides, array)) return false;
    for (uint8_t i = first; i < end; i++) {
        const plan_link *link = &chain->links[i];
        if (link->out == array) return true;
        for (uint8_t k = 0; k + 1 < link->arrays; k++)
            if (link->in[k] == array) return true;
    }
    return false;
}

static void write_chain(const plan_chain *chain, uint8_t sides, hg_text *parameters,
                        hg_text *prologue, hg_text *fused) {
    maps_text in_front = {.chain = chain, .sides = sides, .made = chain->input, .text = prologue};
    maps_text behind = {.chain = chain, .sides = sides, .made = chain->output, .text = fused};
    behind.known[chain->output] = true;
    uint8_t type = chain->types[sides & PLAN_BEHIND ? chain->output : chain->input];
    hg_text_addf(parameters, ".reg element u64\n.reg made %s\n", hg_type_name((hg_type)type));
    for (uint8_t i = 0; i < chain->arrays; i++) {
        const char *name = hg_type_name((hg_type)chain->types[i]);
        hg_text_addf(parameters, ".reg e%u %s\n", (unsigned)i, name);
        if (is_parameter(chain, sides, i))
            hg_text_addf(parameters, ".param array%u buffer %s inout\n", (unsigned)i, name);
    }
    /* Where one program does both sides, an input that lies on the output is read again before it
     * is overwritten. */
    uint8_t overwritten = !(sides & PLAN_BEHIND) || chain->output == chain->input ? PLAN_NO_ARRAY
                                                                                  : chain->output;
    if (sides & PLAN_IN_FRONT) write_links(&in_front, 0, chain->front, overwritten);
    if (sides & PLAN_BEHIND) write_links(&behind, chain->front, chain->count, chain->output);
}

kir_module *plan_library_kernel(const plan_kernel_key *key) {
    int64_t constants[LIBRARY_MOST_CONSTANTS];
    hg_text epilogue = {0}, parameters = {0}, prologue = {0}, fused = {0};
    kir_module *m = NULL;
    for (uint32_t i = 0; i < LIBRARY_MOST_CONSTANTS; i++) constants[i] = key->constants[i];
    library_request r = {.id = (library_id)key->program,
                         .type = (hg_type)key->type,
                         .constants = constants,
                         .epilogue = epilogue_of(key->fn, &epilogue)};
    if (key->chain) {
        write_chain(key->chain, key->sides, &parameters, &prologue, &fused);
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

void plan_fuse(const plan_expansion *x, plan_kernel_key *key, plan_part *parts, uint8_t sides) {
    const plan_chain *chain = x->fused;
    if (!chain || !plan_chain_has(chain, sides)) return;
    key->chain = chain;
    key->sides = sides;
    for (uint8_t i = 0; i < chain->arrays; i++)
        if (is_parameter(chain, sides, i))
            parts[key->arrays++] = (plan_part){.array = PLAN_FUSED + i, .bytes = PLAN_TO_END};
}

bool plan_key_is_library(const plan_kernel_key *key) { return key->make == plan_library_kernel; }

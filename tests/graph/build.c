#include "graph/build.h"
#include "graph/graph.h"
#include "offline/build.h"
#include "support/c_build.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int call(void *const *memory, const size_t *bytes, c_build_fault *f);

static uint32_t number_of(const generated_graph *g, const char *name) {
    uint32_t i = 0;
    while (i < g->array_count && strcmp(g->arrays[i].name, name) != 0) i++;
    return i;
}

/* Symbols of odd numbers come with the call, where that can be. */
static bool is_open(const generated_graph *g, uint32_t symbol, bool open) {
    return open && g->symbols[symbol] % 2 == 1;
}

static hg_status make_texts(const hg_graph *graph, const generated_graph *g, bool open, hg_text *c,
                            hg_text *h) {
    uint32_t count = 0;
    hg_build_value values[GENERATE_SYMBOLS];
    char names[GENERATE_SYMBOLS][16];
    for (uint32_t i = 0; i < g->symbol_count; i++) {
        snprintf(names[i], sizeof names[i], "n%u", (unsigned)i);
        if (!is_open(g, i, open))
            values[count++] = (hg_build_value){.name = names[i], .bits = g->symbols[i]};
    }
    return hg_build_graph(
        &(hg_build_request){
            .graph = graph, .name = "slice", .values = values, .value_count = count},
        c, h);
}

static void add_symbols(const generated_graph *g, bool open, bool first, hg_text *c) {
    for (uint32_t i = 0; i < g->symbol_count; i++) {
        if (!is_open(g, i, open)) continue;
        hg_text_addf(c, first ? "%llu" : ", %llu", (unsigned long long)g->symbols[i]);
        first = false;
    }
}

/* A function with one signature for all graphs. */
static bool add_call(const hg_graph *graph, const generated_graph *g, bool open, bool works,
                     hg_text *c) {
    hg_program *face = NULL;
    if (graph_interface(graph, &face) != HG_OK) return false;
    hg_text_addf(c, "\nint slice_call(void *const *memory, const size_t *bytes, slice_fault *f);\n"
                    "int slice_call(void *const *memory, const size_t *bytes, slice_fault *f) {\n  "
                    "  (void)memory, (void)bytes;\n");
    if (works) hg_text_addf(c, "    const size_t size = slice_work_bytes(");
    if (works) add_symbols(g, open, true, c);
    if (works)
        hg_text_addf(c, ");\n    void *const work = malloc(size ? size : 1);\n    memset(work, "
                        "0x5A, size);\n");
    hg_text_addf(c, "    const int code = slice(NULL");
    add_symbols(g, open, false, c);
    for (uint32_t i = 0; i < face->param_count; i++) {
        unsigned n = (unsigned)number_of(g, face->params[i].name);
        if (face->params[i].kind != HG_PARAM_SCALAR)
            hg_text_addf(c, ", memory[%u], bytes[%u]", n, n);
    }
    hg_text_addf(c, "%s, f);\n%s    return code;\n}\n", works ? ", work, size" : "",
                 works ? "    free(work);\n" : "");
    hg_program_release(face);
    return !c->failed;
}

static built_graph_outcome run(void *library, const generated_graph *g, uint8_t *const *arrays,
                               char why[256]) {
    call *function;
    void *memory[GENERATE_MOST_ARRAYS];
    size_t bytes[GENERATE_MOST_ARRAYS];
    c_build_fault f = {0};
    *(void **)(void *)&function = dlsym(library, "slice_call");
    for (uint32_t i = 0; i < g->array_count; i++) {
        memory[i] = arrays[i];
        bytes[i] = (size_t)(g->arrays[i].elements * hg_type_size_bytes(g->arrays[i].type));
    }
    if (function(memory, bytes, &f) == 0) return BUILT_GRAPH_RAN;
    snprintf(why, 256, "%s", f.message);
    return BUILT_GRAPH_FAILED;
}

built_graph_outcome built_graph_run(const hg_graph *graph, const generated_graph *g,
                                    uint8_t *const *arrays, char why[256]) {
    hg_text c = {0}, h = {0};
    built_graph_outcome outcome = BUILT_GRAPH_FAILED;
    bool open = true;
    hg_status status = make_texts(graph, g, true, &c, &h);
    if (status == HG_ERROR_ISA) {
        open = false;
        hg_text_free(&c);
        hg_text_free(&h);
        c = h = (hg_text){0};
        status = make_texts(graph, g, false, &c, &h);
    }
    snprintf(why, 256, "%s", status != HG_OK ? hg_last_error_text() : "the compiler refuses it");
    if (status == HG_ERROR_ISA) outcome = BUILT_GRAPH_HAS_NONE;
    if (status == HG_OK &&
        add_call(graph, g, open, strstr(h.data, "slice_work_bytes(") != NULL, &c)) {
        void *library = c_build_compile(&c, &h);
        if (library) {
            outcome = run(library, g, arrays, why);
            dlclose(library);
        }
    }
    hg_text_free(&c);
    hg_text_free(&h);
    return outcome;
}

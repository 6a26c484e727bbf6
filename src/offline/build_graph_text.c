/* The function of an array graph: where its values lie, then its launches one behind the other.
 * Must not know: kernels. */
#include "offline/build_internal.h"
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

static uint64_t bytes_of(const build_graph *b, uint32_t value) {
    const graph_value *v = &b->g->values.data[value];
    return b->extents[v->elements] * graph_type_bytes(v);
}

/* ---- how it is called ---- */

bool build_graph_works(const build_job *job) {
    bool works = job->graph->memory.bytes != 0 || job->graph->slot_count != 0;
    for (uint32_t i = 0; i < job->count; i++) works |= job->programs[i].spans != 0;
    return works;
}

void build_add_graph_size_prototype(const build_job *job, hg_text *out) {
    const build_program *face = &job->graph->face;
    bool any = false;
    hg_text_addf(out, "size_t %s_work_bytes(", job->name);
    for (uint32_t i = 0; i < face->program->param_count; i++) {
        if (face->program->params[i].kind != HG_PARAM_SCALAR || face->fixed[i]) continue;
        hg_text_addf(out, any ? ", uint64_t %s" : "uint64_t %s", face->names[i]);
        any = true;
    }
    hg_text_addf(out, any ? ")" : "void)");
}

void build_add_graph_comment(const build_job *job, hg_text *out) {
    const build_program *face = &job->graph->face;
    hg_text_addf(out, "/* Graph %s.\n", job->graph->g->name);
    for (uint32_t i = 0; i < face->program->param_count; i++) build_add_param_comment(face, i, out);
    if (build_graph_works(job))
        hg_text_addf(out, " *   %-12s %s_work_bytes(%s) bytes, for the time of the call\n", "work",
                     job->name, job->graph->open ? "…" : "");
    hg_text_addf(out, " * stop: NULL, or a number that another thread makes other than 0 to end "
                      "the call. What is written shares no memory "
                      "with anything else. Of a fault\n"
                      " * instruction is the line of the call in the graph's text. */\n");
}

/* ---- values ---- */

/* The parameter with a name, in C. */
static const char *param_named(const build_graph *b, const char *name, bool output) {
    const hg_program *p = b->face.program;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].kind == HG_PARAM_BUFFER && (p->params[i].dir == HG_DIR_OUT) == output &&
            strcmp(p->params[i].name, name) == 0)
            return b->face.names[i];
    return "NULL";
}

static const char *output_name(const build_graph *b, uint32_t value) {
    for (uint64_t i = 0; i < b->g->outputs.count; i++)
        if (b->g->outputs.data[i].value == value) return b->g->outputs.data[i].name;
    return NULL;
}

/* Of a value that takes over memory of an output: in that one's. */
static build_place place_of(const build_graph *b, uint32_t value) {
    build_place p = {.of = value, .open = b->open};
    if (!b->open) p.bytes = bytes_of(b, value);
    for (const graph_value *v = &b->g->values.data[value]; v->source == GRAPH_VIEW;
         v = &b->g->values.data[value]) {
        if (!b->open) p.begin += b->extents[v->offset] * graph_type_bytes(v);
        if (b->open && b->extents[v->offset] != 0) p.begin = p.of + UINT64_C(1);
        value = v->of;
    }
    p.value = value;
    if (b->g->values.data[value].source != GRAPH_RESULT) return p;
    p.value = b->memory.owners[value];
    if (output_name(b, p.value)) return p;
    p.value = b->open ? GRAPH_NOT_SET - 1 - b->slots[p.value] : GRAPH_NOT_SET;
    if (!b->open) p.begin += b->memory.offsets[value];
    return p;
}

/* How far behind the memory that it is a view of a value begins. */
static void add_begin(const build_graph *b, const build_place *p, hg_text *out) {
    uint32_t depth = 0;
    if (!b->open) {
        hg_text_addf(out, "%llu", (ull)p->begin);
        return;
    }
    for (const graph_value *v = &b->g->values.data[p->of]; v->source == GRAPH_VIEW;
         v = &b->g->values.data[v->of]) {
        hg_text_addf(out, "@_add(@_mul(");
        build_add_graph_extent(b, v->offset, out);
        hg_text_addf(out, ", @_is(%llu)), ", (ull)graph_type_bytes(v));
        depth++;
    }
    hg_text_addf(out, "@_is(0)");
    while (depth--) hg_text_addf(out, ")");
    hg_text_addf(out, ".value");
}

static void add_place(const build_graph *b, const build_place *p, hg_text *out) {
    hg_text begin = {0};
    uint32_t slot = GRAPH_NOT_SET - 1 - p->value;
    bool inside = p->value == GRAPH_NOT_SET || (b->open && slot < b->slot_count);
    const graph_value *v = inside ? NULL : &b->g->values.data[p->value];
    add_begin(b, p, &begin);
    const char *text = begin.data ? begin.data : "";
    if (!v && b->open)
        hg_text_addf(out, "(void *)(hgd_w + hgd_slots[%u].begin.value + %s)", (unsigned)slot, text);
    else if (!v)
        hg_text_addf(out, "(void *)(hgd_w + %s)", text);
    else if (v->source == GRAPH_CONSTANT && v->bytes)
        hg_text_addf(out, "(void *)(uintptr_t)(hgd_%u + %s)", (unsigned)p->value, text);
    else
        hg_text_addf(out, "(void *)((uintptr_t)%s + %s)",
                     v->source == GRAPH_RESULT ? param_named(b, output_name(b, p->value), true)
                                               : param_named(b, v->name, false),
                     text);
    out->failed |= begin.failed;
    hg_text_free(&begin);
}

/* Elements that the graph brings. */
static void add_constants(const build_graph *b, hg_text *out) {
    for (uint32_t i = 0; i < b->g->values.count; i++) {
        const graph_value *v = &b->g->values.data[i];
        if (v->source != GRAPH_CONSTANT || !v->bytes) continue;
        hg_text_addf(out, "\nstatic const _Alignas(64) uint8_t hgd_%u[] = {", (unsigned)i);
        for (uint64_t n = 0; n < bytes_of(b, i); n++)
            hg_text_addf(out, n % 24 ? " %u," : "\n    %u,",
                         (unsigned)((const uint8_t *)v->bytes)[n]);
        hg_text_addf(out, " 0\n};\n");
    }
}

/* An array of the caller has to be as large as the value. */
static void add_check(const build_graph *b, uint32_t value, const char *name, const char *what,
                      bool output, hg_text *out) {
    const char *param = param_named(b, name, output);
    hg_text shape = {0};
    graph_print_shape(&shape, b->g, &b->g->values.data[value]);
    hg_text_addf(out, "    if (!@_given(%s, %s_bytes, ", param, param);
    build_add_value_bytes(b, value, out);
    hg_text_addf(out, ".value, \"the %s %s is %s\", fault)) return -1;\n", what, name,
                 shape.data ? shape.data : "");
    out->failed |= shape.failed;
    hg_text_free(&shape);
}

static void add_checks(const build_graph *b, hg_text *out) {
    for (uint32_t i = 0; i < b->g->values.count; i++) {
        const graph_value *v = &b->g->values.data[i];
        if (v->source == GRAPH_INPUT) add_check(b, i, v->name, "input", false, out);
        if (v->source == GRAPH_CONSTANT && !v->bytes)
            add_check(b, i, v->name, "constant", false, out);
    }
    for (uint64_t i = 0; i < b->g->outputs.count; i++)
        add_check(b, b->g->outputs.data[i].value, b->g->outputs.data[i].name, "output", true, out);
}

/* ---- launches ---- */

/* The call of the graph that an instruction of a launch comes from: both have a line. */
const graph_call *build_graph_call_of(const build_graph *b, const graph_region *r, uint32_t inst) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < r->calls.count && !r->direct && r->program->lines; i++)
        if (b->g->calls.data[r->calls.data[i]].line == r->program->lines[inst]) at = i;
    return &b->g->calls.data[r->calls.data[at]];
}

static void add_calls(const build_graph *b, uint32_t region, hg_text *out) {
    const graph_region *r = &b->regions.data[region];
    char text[160];
    hg_text_addf(out, "    static const @_graph_call hgd_c%u[] = {", (unsigned)region);
    for (uint32_t i = 0; i < r->program->inst_count; i++) {
        const graph_call *call = build_graph_call_of(b, r, i);
        hg_text_addf(out, "\n        {%u, \"%s\"},", (unsigned)call->line,
                     graph_call_text(b->g, call, text));
    }
    hg_text_addf(out, "\n        {0, \"\"}};\n");
}

/* The value that a parameter is bound to; GRAPH_NOT_SET: it is no array. */
static uint32_t value_of(const build_graph *b, const graph_region *r, uint32_t param) {
    const hg_param *p = &r->program->params[param];
    const graph_call *call = &b->g->calls.data[r->calls.data[0]];
    if (p->kind != HG_PARAM_BUFFER && p->kind != HG_PARAM_POOL) return GRAPH_NOT_SET;
    if (r->direct) {
        const graph_operand *o = graph_operand_of(b->g, call, param);
        uint32_t result = graph_result_of(b->g, call, param);
        return result != GRAPH_NOT_SET       ? result
               : o && o->kind == GRAPH_ARRAY ? o->number
                                             : GRAPH_NOT_SET;
    }
    for (uint64_t i = 0; i < r->slots.count; i++)
        if (strcmp(r->slots.data[i].name, p->name) == 0) return r->slots.data[i].value;
    return GRAPH_NOT_SET;
}

hg_status build_find_places(const build_job *job, build_program *p) {
    const build_graph *b = job->graph;
    const graph_region *r = &b->regions.data[p - job->programs];
    p->places = hg_calloc(r->program->param_count + (size_t)1, sizeof *p->places);
    if (!p->places) return hg_fail_memory();
    for (uint32_t i = 0; i < r->program->param_count; i++) {
        uint32_t value = value_of(b, r, i);
        p->places[i] = value == GRAPH_NOT_SET ? (build_place){.value = GRAPH_NOT_SET}
                                              : place_of(b, value);
    }
    return HG_OK;
}

static void add_scalar(const build_job *job, uint32_t region, uint32_t param, hg_text *out) {
    const hg_param *p = &job->graph->regions.data[region].program->params[param];
    const char *type = build_scalar_type((hg_type)p->type);
    hg_text_addf(out, ", (%s)", type ? type : "uint64_t");
    build_add_graph_extent(job->graph, build_graph_scalar_of(job, region, param), out);
    hg_text_addf(out, ".value");
}

static void add_launch(const build_job *job, uint32_t region, hg_text *out) {
    const build_graph *b = job->graph;
    const graph_region *r = &b->regions.data[region];
    const build_program *p = &job->programs[region];
    add_calls(b, region, out);
    hg_text_addf(out, "    if (%s(stop", p->function);
    for (uint32_t i = 0; i < r->program->param_count; i++) {
        if (build_graph_scalar_of(job, region, i) != GRAPH_NOT_SET) add_scalar(job, region, i, out);
        if (value_of(b, r, i) == GRAPH_NOT_SET) continue;
        hg_text_addf(out, ", ");
        add_place(b, &p->places[i], out);
        hg_text_addf(out, ", ");
        build_add_value_bytes(b, p->places[i].of, out);
        hg_text_addf(out, ".value");
    }
    if (p->spans) hg_text_addf(out, ", hgd_w + hgd_end, work_bytes - hgd_end");
    hg_text_addf(out, ", &hgd_f)) return @_in_call(&hgd_f, hgd_c%u, fault);\n", (unsigned)region);
}

/* Where the values end in the workspace: hgd_end. */
static void add_end(const build_graph *b, hg_text *out) {
    if (b->slot_count)
        hg_text_addf(out,
                     "    const @_span hgd_last = @_behind(&hgd_slots[%u], @_is(0));\n    const "
                     "size_t hgd_end = @_work_end(&hgd_last);\n    (void)hgd_end;\n",
                     (unsigned)b->slot_count - 1);
    else
        hg_text_addf(out, "    const size_t hgd_end = %llu;\n    (void)hgd_end;\n",
                     (ull)b->memory.bytes);
}

static void add_size(const build_job *job, hg_text *out) {
    hg_text_addf(out, "\n");
    build_add_graph_size_prototype(job, out);
    hg_text_addf(out, " {\n    size_t most = 0, next = 0;\n    (void)next;\n");
    build_add_extents_of_call(job, out);
    add_end(job->graph, out);
    for (uint32_t i = 0; i < job->count; i++) {
        if (!job->programs[i].spans) continue;
        hg_text_addf(out, "    next = %s_work_bytes(NULL", job->programs[i].function);
        for (uint32_t k = 0; k < job->programs[i].program->param_count; k++)
            if (build_graph_scalar_of(job, i, k) != GRAPH_NOT_SET) add_scalar(job, i, k, out);
        hg_text_addf(out, ");\n    if (next > most) most = next;\n");
    }
    hg_text_addf(out,
                 "    return most > SIZE_MAX / 2 || hgd_end > SIZE_MAX / 2 ? SIZE_MAX : most + "
                 "hgd_end;\n}\n");
}

hg_status build_add_graph_function(const build_job *job, hg_text *out) {
    const build_graph *b = job->graph;
    hg_text body = {0};
    bool works = build_graph_works(job);
    add_constants(b, &body);
    build_add_extents(job, out);
    if (works) add_size(job, &body);
    hg_text_addf(&body, "\n");
    build_add_prototype(job, &b->face, &body);
    hg_text_addf(&body, " {\n    @_fault hgd_f = {0};\n    (void)stop;\n");
    build_add_extents_of_call(job, &body);
    const hg_status status = build_add_graph_checks(job, &body);
    add_checks(b, &body);
    if (works) {
        bool any = false;
        hg_text_addf(&body, "    if (!@_given(work, work_bytes, %s_work_bytes(", job->name);
        for (uint32_t i = 0; i < b->face.program->param_count; i++) {
            if (b->face.program->params[i].kind != HG_PARAM_SCALAR || b->face.fixed[i]) continue;
            hg_text_addf(&body, any ? ", %s" : "%s", b->face.names[i]);
            any = true;
        }
        hg_text_addf(&body, "), \"work is too small\", fault)) return -1;\n"
                            "    uint8_t *const hgd_w = (uint8_t *)work;\n    (void)hgd_w;\n");
        add_end(b, &body);
    }
    for (uint32_t i = 0; i < job->count; i++) add_launch(job, i, &body);
    hg_text_addf(&body, "    if (fault) *fault = hgd_f;\n    return 0;\n}\n");
    if (body.data) build_add_marked(out, job->name, body.data);
    out->failed |= body.failed;
    hg_text_free(&body);
    return status;
}

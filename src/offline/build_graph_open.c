/* Graphs in C text whose extents come with the call: each extent is worked out there, once; values
 * of the workspace lie in slots, as who lives beside whom does not depend on extents; what numbers
 * alone show to be wrong is checked before the first launch.
 * Must not know: launches, kernels. */
#include "offline/build_internal.h"
#include "graph/shapes.h"
#include <string.h>

typedef unsigned long long ull;

/* ---- extents: hgd_e of the text ---- */

static bool is_known(const build_graph *b, graph_extent e) { return b->extents[e] != UINT64_MAX; }

void build_add_graph_extent(const build_graph *b, graph_extent e, hg_text *out) {
    if (is_known(b, e))
        hg_text_addf(out, "@_is(UINT64_C(%llu))", (ull)b->extents[e]);
    else
        hg_text_addf(out, "hgd_e[%u]", (unsigned)e);
}

void build_add_value_bytes(const build_graph *b, uint32_t value, hg_text *out) {
    const graph_value *v = &b->g->values.data[value];
    hg_text_addf(out, "@_mul(");
    build_add_graph_extent(b, v->elements, out);
    hg_text_addf(out, ", @_is(%llu))", (ull)graph_type_bytes(v));
}

/* The symbol as the function has it. */
static void add_symbol(const build_graph *b, uint32_t symbol, hg_text *out) {
    const build_program *face = &b->face;
    for (uint32_t i = 0; i < face->program->param_count; i++)
        if (face->program->params[i].kind == HG_PARAM_SCALAR &&
            strcmp(face->program->params[i].name, b->g->symbols.data[symbol]) == 0)
            hg_text_addf(out, "@_is(v_%s)", face->names[i]);
}

/* Operands stand in front of their operation. */
static void add_terms(const build_graph *b, hg_text *out) {
    for (uint64_t i = 0; i < b->g->terms.count; i++) {
        const graph_term *t = &b->g->terms.data[i];
        if (is_known(b, (graph_extent)i)) continue;
        hg_text_addf(out, "    hgd_e[%u] = ", (unsigned)i);
        if (t->kind == HG_EXTENT_OP_PARAM) {
            add_symbol(b, (uint32_t)t->value, out);
        } else if (t->kind == HG_EXTENT_OP_NUMBER) {
            hg_text_addf(out, "@_is(UINT64_C(%llu))", (ull)t->value);
        } else {
            hg_text_addf(out, "@_%s(", build_extent_function((hg_extent_op_kind)t->kind));
            build_add_graph_extent(b, t->left, out);
            hg_text_addf(out, ", ");
            build_add_graph_extent(b, t->right, out);
            hg_text_addf(out, ")");
        }
        hg_text_addf(out, ";\n");
    }
}

/* ---- slots ---- */

typedef struct slot {
    uint32_t last; /* call that reads it */
    graph_extent elements;
    uint64_t size; /* of an element */
} slot;

/* One that is free at a call: of values of the same size, else any; count: none. */
static uint32_t find_free(const slot *slots, uint32_t count, const graph_value *v, uint32_t first) {
    uint32_t found = count;
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].last >= first) continue;
        if (found == count) found = i;
        if (slots[i].elements == v->elements && slots[i].size == graph_type_bytes(v)) return i;
    }
    return found;
}

/* Values in the order of the calls that make them. */
static void place(build_graph *b, slot *slots) {
    for (uint32_t call = 0; call < b->g->calls.count; call++)
        for (uint32_t i = 0; i < b->g->values.count; i++) {
            const graph_life *life = &b->memory.lives[i];
            const graph_value *v = &b->g->values.data[i];
            if (life->first != call || life->first > life->last) continue;
            uint32_t at = find_free(slots, b->slot_count, v, call);
            if (at == b->slot_count) b->slot_count++;
            slots[at] = (slot){life->last, v->elements, graph_type_bytes(v)};
            b->slots[i] = at;
        }
}

hg_status build_find_slots(build_graph *b) {
    size_t count = (size_t)b->g->values.count + 1;
    slot *slots = hg_calloc(count, sizeof *slots);
    uint64_t *ones = hg_alloc((size_t)(b->g->terms.count + 1) * sizeof *ones);
    b->slots = hg_calloc(count, sizeof *b->slots);
    hg_status status = slots && ones && b->slots ? HG_OK : hg_fail_memory();
    for (uint64_t i = 0; status == HG_OK && i < b->g->terms.count; i++) ones[i] = 1;
    if (status == HG_OK) /* lives and owners; places follow from numbers */
        status = graph_plan_memory(b->g, ones, true, &b->memory);
    if (status == HG_OK) place(b, slots);
    b->memory.bytes = 0;
    hg_free(slots);
    hg_free(ones);
    return status;
}

/* hgd_slots of the text. */
static void add_slots(const build_graph *b, hg_text *out) {
    for (uint32_t s = 0; s < b->slot_count; s++) {
        uint32_t depth = 0;
        hg_text_addf(out,
                     s ? "    hgd_slots[%u] = @_behind(&hgd_slots[%u], "
                       : "    hgd_slots[%u] = @_behind(NULL, ",
                     (unsigned)s, (unsigned)s - 1);
        for (uint32_t i = 0; i < b->g->values.count; i++) {
            if (b->memory.lives[i].first > b->memory.lives[i].last || b->slots[i] != s) continue;
            hg_text_addf(out, "@_max(");
            build_add_value_bytes(b, i, out);
            hg_text_addf(out, ", ");
            depth++;
        }
        hg_text_addf(out, "@_is(1)");
        while (depth--) hg_text_addf(out, ")");
        hg_text_addf(out, ");\n");
    }
}

static bool is_symbol(const build_graph *b, uint32_t param) {
    return b->face.program->params[param].kind == HG_PARAM_SCALAR && !b->face.fixed[param];
}

void build_add_extents(const build_job *job, hg_text *out) {
    const build_graph *b = job->graph;
    hg_text body = {0};
    if (!b->open) return;
    hg_text_addf(&body, "\nstatic void hgk_extents(");
    for (uint32_t i = 0; i < b->face.program->param_count; i++)
        if (is_symbol(b, i)) hg_text_addf(&body, "uint64_t v_%s, ", b->face.names[i]);
    hg_text_addf(&body, "@_number *hgd_e, @_span *hgd_slots) {\n    (void)hgd_slots;\n");
    add_terms(b, &body);
    add_slots(b, &body);
    hg_text_addf(&body, "}\n");
    if (body.data) build_add_marked(out, job->name, body.data);
    out->failed |= body.failed;
    hg_text_free(&body);
}

void build_add_extents_of_call(const build_job *job, hg_text *out) {
    const build_graph *b = job->graph;
    if (!b->open) return;
    hg_text_addf(out, "    @_number hgd_e[%llu];\n    @_span hgd_slots[%u];\n    hgk_extents(",
                 (ull)b->g->terms.count + 1, (unsigned)b->slot_count + 1);
    for (uint32_t i = 0; i < b->face.program->param_count; i++)
        if (is_symbol(b, i)) hg_text_addf(out, "%s, ", b->face.names[i]);
    hg_text_addf(out, "hgd_e, hgd_slots);\n");
}

/* ---- checks ---- */

/* Whoever takes them; the words of one. */
typedef struct checker {
    const build_job *job;
    const build_graph *b;
    build_check_fn *take;
    void *user;
    hg_text words;
} checker;

static hg_status tell(checker *k, build_check check) {
    check.words = k->words.data ? k->words.data : "";
    const hg_status status = k->words.failed ? hg_fail_memory() : HG_OK;
    if (status == HG_OK) k->take(k->user, &check);
    hg_text_free(&k->words);
    k->words = (hg_text){0};
    return status;
}

static void add_words(checker *k, const graph_value *v) {
    hg_text shape = {0};
    graph_print_shape(&shape, k->b->g, v);
    hg_text_addf(&k->words, "%s is %s", v->name ? v->name : "a value",
                 shape.data ? shape.data : "");
    k->words.failed |= shape.failed;
    hg_text_free(&shape);
}

static hg_status check_extent(checker *k, const graph_value *v, graph_extent e) {
    if (is_known(k->b, e)) return HG_OK;
    add_words(k, v);
    hg_text_addf(&k->words, ", of which no array can be with these extents");
    return tell(k, (build_check){.kind = BUILD_CHECK_EXTENT, .x = e});
}

static hg_status check_value(checker *k, const graph_value *v, uint32_t number) {
    const build_graph *b = k->b;
    for (uint8_t d = 0; d < v->rank; d++) HG_TRY(check_extent(k, v, v->extents[d]));
    if (!is_known(b, v->elements) || b->extents[v->elements] > UINT32_MAX) {
        add_words(k, v);
        hg_text_addf(&k->words, ", more than any memory holds");
        HG_TRY(tell(k, (build_check){.kind = BUILD_CHECK_SIZE, .value = number}));
    }
    if (v->source != GRAPH_VIEW) return HG_OK;
    for (uint8_t d = 0; d < v->rank && v->strided; d++) HG_TRY(check_extent(k, v, v->strides[d]));
    add_words(k, v);
    hg_text_addf(&k->words, ", a view that does not lie in ");
    add_words(k, &b->g->values.data[v->of]);
    return tell(k, (build_check){.kind = BUILD_CHECK_VIEW, .value = number});
}

/* Extents of an array that are sizes of the call: equal numbers where they are not one extent. */
static hg_status check_sizes(checker *k, const graph_call *call, const graph_shape *s,
                             const graph_value *v) {
    const build_graph *b = k->b;
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    int many = graph_shape_many(s, v->rank);
    char text[160];
    for (uint32_t i = 0, at = 0; many >= 0 && i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        const graph_operand *size = e->kind == GRAPH_SHAPE_SIZE
                                        ? graph_operand_of(b->g, call, e->operand)
                                        : NULL;
        graph_extent is = e->kind == GRAPH_SHAPE_SIZE ? v->extents[at] : 0;
        at += e->kind == GRAPH_SHAPE_MANY ? (uint32_t)many : 1;
        if (!size || size->number == is ||
            (is_known(b, size->number) && is_known(b, is) &&
             b->extents[size->number] == b->extents[is]))
            continue;
        hg_text_addf(&k->words, "%s: %s: ", graph_call_text(b->g, call, text),
                     row->operands[s->operand].name);
        add_words(k, v);
        hg_text_addf(&k->words, ", but %s is ", row->operands[e->operand].name);
        graph_print_extent(&k->words, b->g, size->number);
        HG_TRY(tell(k, (build_check){.kind = BUILD_CHECK_SAME, .x = is, .y = size->number}));
    }
    return HG_OK;
}

static hg_status check_pattern(checker *k, const graph_call *call) {
    const build_graph *b = k->b;
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    const char *p = graph_shape_pattern((hg_op)call->op);
    graph_shape s;
    if (graph_has_leading(row, &b->g->operands.data[call->first_operand], call->operand_count))
        return HG_OK;
    while (graph_shape_next(row, &p, &s)) {
        const graph_operand *o = graph_operand_of(b->g, call, s.operand),
                            *flag = graph_operand_of(b->g, call, s.flag);
        if (!o || o->kind != GRAPH_ARRAY) continue;
        graph_shape_settle(&s, flag && flag->number, graph_operand_of(b->g, call, s.maybe));
        HG_TRY(check_sizes(k, call, &s, &b->g->values.data[o->number]));
    }
    return HG_OK;
}

graph_extent build_graph_scalar_of(const build_job *job, uint32_t region, uint32_t param) {
    const build_graph *b = job->graph;
    const graph_region *r = &b->regions.data[region];
    const graph_call *call = &b->g->calls.data[r->calls.data[0]];
    const hg_param *p = &r->program->params[param];
    if (p->kind != HG_PARAM_SCALAR || job->programs[region].fixed[param]) return GRAPH_NOT_SET;
    for (uint64_t i = 0; i < r->scalars.count && !r->direct; i++)
        if (strcmp(r->scalars.data[i].name, p->name) == 0) return r->scalars.data[i].extent;
    const graph_operand *o = r->direct ? graph_operand_of(b->g, call, param) : NULL;
    return o && o->kind == GRAPH_COUNT ? o->number : GRAPH_NOT_SET;
}

/* Scalars of programs hold the extents that they are given. */
static hg_status check_scalars(checker *k, uint32_t region) {
    const hg_program *program = k->job->programs[region].program;
    for (uint32_t i = 0; i < program->param_count; i++) {
        const hg_param *p = &program->params[i];
        const graph_extent e = build_graph_scalar_of(k->job, region, i);
        const uint64_t size = hg_type_size_bytes((hg_type)p->type);
        if (e == GRAPH_NOT_SET || size >= 8) continue;
        hg_text_addf(&k->words, "%s is more than a %s holds", p->name,
                     hg_type_name((hg_type)p->type));
        HG_TRY(
            tell(k, (build_check){.kind = BUILD_CHECK_HOLDS, .x = e, .bits = 8 * (uint32_t)size}));
    }
    return HG_OK;
}

hg_status build_find_checks(const build_job *job, build_check_fn *take, void *user) {
    const build_graph *b = job->graph;
    checker k = {.job = job, .b = b, .take = take, .user = user};
    for (uint32_t i = 0; b->open && i < b->g->values.count; i++) {
        const graph_value *v = &b->g->values.data[i];
        if (v->source != GRAPH_RESULT || v->call != GRAPH_NOT_SET) HG_TRY(check_value(&k, v, i));
    }
    for (uint64_t i = 0; b->open && i < b->g->calls.count; i++)
        if (!b->g->calls.data[i].program) HG_TRY(check_pattern(&k, &b->g->calls.data[i]));
    for (uint32_t r = 0; b->open && r < job->count; r++) HG_TRY(check_scalars(&k, r));
    return HG_OK;
}

/* Elements of memory from the first to the last of a value. */
static void add_reach(const build_graph *b, const graph_value *v, hg_text *out) {
    if (!v->strided) {
        build_add_graph_extent(b, v->elements, out);
        return;
    }
    hg_text_addf(out, "@_reach(");
    build_add_graph_extent(b, v->elements, out);
    hg_text_addf(out, ", ");
    for (uint8_t d = 0; d < v->rank; d++) {
        hg_text_addf(out, "@_add(@_mul(@_sub(");
        build_add_graph_extent(b, v->extents[d], out);
        hg_text_addf(out, ", @_is(1)), ");
        build_add_graph_extent(b, v->strides[d], out);
        hg_text_addf(out, "), ");
    }
    hg_text_addf(out, "@_is(0)");
    for (uint8_t d = 0; d < v->rank; d++) hg_text_addf(out, ")");
    hg_text_addf(out, ")");
}

typedef struct check_text {
    const build_graph *b;
    hg_text *out;
} check_text;

static void add_check(void *user, const build_check *check) {
    const build_graph *b = ((check_text *)user)->b;
    const graph_value *v = &b->g->values.data[check->value];
    hg_text *out = ((check_text *)user)->out;
    hg_text_addf(out, "    if (!@_fits(");
    switch (check->kind) {
    case BUILD_CHECK_EXTENT: hg_text_addf(out, "!hgd_e[%u].bad", (unsigned)check->x); break;
    case BUILD_CHECK_SIZE:
        hg_text_addf(out, "@_is_size(");
        build_add_value_bytes(b, check->value, out);
        hg_text_addf(out, ")");
        break;
    case BUILD_CHECK_VIEW:
        hg_text_addf(out, "@_is_in(@_add(");
        build_add_graph_extent(b, v->offset, out);
        hg_text_addf(out, ", ");
        add_reach(b, v, out);
        hg_text_addf(out, "), ");
        add_reach(b, &b->g->values.data[v->of], out);
        hg_text_addf(out, ")");
        break;
    case BUILD_CHECK_SAME:
        hg_text_addf(out, "@_same(");
        build_add_graph_extent(b, check->x, out);
        hg_text_addf(out, ", ");
        build_add_graph_extent(b, check->y, out);
        hg_text_addf(out, ")");
        break;
    case BUILD_CHECK_HOLDS:
        hg_text_addf(out, "!(");
        build_add_graph_extent(b, check->x, out);
        hg_text_addf(out, ".value >> %u)", (unsigned)check->bits);
        break;
    }
    hg_text_addf(out, ", \"%s\", fault)) return -1;\n", check->words);
}

hg_status build_add_graph_checks(const build_job *job, hg_text *out) {
    check_text text = {job->graph, out};
    return build_find_checks(job, add_check, &text);
}

/* What a call's shapes tell: sizes that are left out, the type, the shapes of results. Must not
 * know: numbers of symbols. */
#include "graph/shapes.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

static const struct {
    uint16_t op;
    const char *pattern;
} SHAPES[] = {
#define GRAPH_SHAPES(id, pattern) {HG_OP_##id, pattern},
#include "graph/shapes.def"
#undef GRAPH_SHAPES
};

const char *graph_shape_pattern(hg_op op) {
    for (size_t i = 0; i < HG_COUNT_OF(SHAPES); i++)
        if (SHAPES[i].op == op) return SHAPES[i].pattern;
    return "";
}

static size_t name_length(const char *p) {
    size_t n = 0;
    while ((p[n] >= 'a' && p[n] <= 'z') || p[n] == '_' || (p[n] >= '0' && p[n] <= '9')) n++;
    return n;
}

static uint32_t operand_of(const hg_op_info *row, const char *name, size_t length) {
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (graph_is_name(row->operands[i].name, name, length)) return i;
    return HG_MAX_OPERANDS;
}

static void read_extent(const hg_op_info *row, const char **p, graph_shape *s) {
    graph_shape_extent *e = &s->extents[s->count++];
    *e = (graph_shape_extent){.kind = GRAPH_SHAPE_ANY};
    if (**p == '?' || **p == '@' || **p == '$') {
        if (**p == '$') e->kind = GRAPH_SHAPE_OUTS;
        if (**p == '@')
            *e = (graph_shape_extent){.kind = GRAPH_SHAPE_CONV, .by = (uint32_t)((*p)[1] - '0')};
        *p += **p == '@' ? 2 : 1;
        return;
    }
    size_t length = name_length(*p);
    e->kind = GRAPH_SHAPE_SIZE;
    e->operand = operand_of(row, *p, length);
    *p += length;
    if (**p == '*' || **p == '?') {
        if (**p == '*') {
            e->kind = GRAPH_SHAPE_MANY;
        } else {
            s->maybe = e->operand;
            s->maybe_at = s->count - 1;
        }
        ++*p;
    }
    if (**p != '/') return;
    length = name_length(++*p);
    e->kind = (*p)[0] >= '0' && (*p)[0] <= '9' ? GRAPH_SHAPE_PART : GRAPH_SHAPE_QUOTIENT;
    e->by = e->kind == GRAPH_SHAPE_PART ? (uint32_t)((*p)[0] - '0') : operand_of(row, *p, length);
    *p += length;
}

bool graph_shape_next(const hg_op_info *row, const char **p, graph_shape *s) {
    while (**p == ' ') ++*p;
    if (!**p) return false;
    size_t length = name_length(*p);
    *s = (graph_shape){
        .operand = operand_of(row, *p, length), .flag = HG_MAX_OPERANDS, .maybe = HG_MAX_OPERANDS};
    for (*p += length + 1; **p != ']';) {
        read_extent(row, p, s);
        while (**p == ',' || **p == ' ') ++*p;
    }
    if (*++*p != '^') return true;
    length = name_length(++*p);
    s->flag = operand_of(row, *p, length);
    *p += length;
    return true;
}

void graph_shape_settle(graph_shape *s, bool flag, bool maybe) {
    if (s->maybe < HG_MAX_OPERANDS && !maybe) {
        s->count--;
        memmove(&s->extents[s->maybe_at], &s->extents[s->maybe_at + 1],
                (s->count - s->maybe_at) * sizeof *s->extents);
    }
    if (!flag || s->count < 2) return;
    graph_shape_extent end = s->extents[s->count - 1];
    s->extents[s->count - 1] = s->extents[s->count - 2];
    s->extents[s->count - 2] = end;
}

bool graph_has_leading(const hg_op_info *row, const graph_operand *operands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(row->operands[operands[i].operand].name, "ld", 2) == 0) return true;
    return false;
}

uint32_t graph_operand_behind(const hg_op_info *row, uint32_t operand, const char *suffix) {
    const char *name = row->operands[operand].name;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (strncmp(row->operands[i].name, name, length) == 0 &&
            strcmp(row->operands[i].name + length, suffix) == 0)
            return i;
    return HG_MAX_OPERANDS;
}

/* Whether the call says by strides where the rows of an array lie: its shape says nothing then. */
static bool says_strides(graph_request *r, const hg_op_info *row, uint32_t operand) {
    uint32_t strides = graph_operand_behind(row, operand, "_strides");
    return strides < HG_MAX_OPERANDS && graph_given(r, strides);
}

int graph_shape_many(const graph_shape *s, uint8_t rank) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->extents[i].kind == GRAPH_SHAPE_OUTS) return -1;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->extents[i].kind == GRAPH_SHAPE_MANY) return (int)rank - (int)(s->count - 1);
    return rank == s->count ? 0 : -1;
}

/* ---- a request at work ---- */

typedef struct inference {
    hg_graph *g;
    graph_request *r;
    const hg_op_info *row;
    graph_extent sizes[HG_MAX_OPERANDS]; /* of count operands; GRAPH_NOT_SET: nothing tells it so
                                            far */
    uint32_t teller[HG_MAX_OPERANDS]; /* the array operand that told it; HG_MAX_OPERANDS: the call
                                         itself */
    graph_extent many[HG_MAX_OPERANDS][PLAN_MAX_RANK]; /* the extents that a `n*` was */
    uint8_t many_count[HG_MAX_OPERANDS];
    bool has_many[HG_MAX_OPERANDS];
} inference;

static hg_status add_size(inference *f, uint32_t operand) {
    if (f->r->operand_count == HG_COUNT_OF(f->r->operands))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "too many operands");
    f->r->operands[f->r->operand_count++] = (graph_operand){
        .operand = (uint8_t)operand, .kind = GRAPH_COUNT, .number = f->sizes[operand]};
    return HG_OK;
}

static bool is_true(graph_request *r, uint32_t flag) {
    const graph_operand *o = flag < HG_MAX_OPERANDS ? graph_given(r, flag) : NULL;
    return o && o->kind == GRAPH_FLAG && o->number;
}

static const graph_value *value_of(const inference *f, const graph_operand *o) {
    return &f->g->values.data[o->number];
}

/* The extents of the pattern in the order in which they stand in memory. */
static void settle(graph_request *r, graph_shape *s) {
    graph_shape_settle(s, is_true(r, s->flag),
                       s->maybe < HG_MAX_OPERANDS && graph_given(r, s->maybe));
}

bool graph_shape_of(graph_request *r, uint32_t operand, graph_shape *s) {
    const char *p = graph_shape_pattern((hg_op)r->op);
    while (graph_shape_next(hg_op_get((hg_op)r->op), &p, s)) {
        if (s->operand != operand) continue;
        settle(r, s);
        return true;
    }
    return false;
}

static void tell(inference *f, uint32_t size, uint32_t array, graph_extent e) {
    if (f->sizes[size] != GRAPH_NOT_SET) return;
    f->sizes[size] = e;
    f->teller[size] = array;
}

static hg_status learn(inference *f, graph_shape *s, const graph_value *v) {
    settle(f->r, s);
    int many = graph_shape_many(s, v->rank);
    if (many < 0) return HG_OK;
    for (uint32_t i = 0, d = 0; i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        if (e->kind != GRAPH_SHAPE_MANY) {
            if (e->kind == GRAPH_SHAPE_SIZE) tell(f, e->operand, s->operand, v->extents[d]);
            d++;
            continue;
        }
        graph_extent product = graph_number(f->g, 1);
        for (int k = 0; k < many; k++)
            product = graph_combine(f->g, HG_EXTENT_OP_MUL, product, v->extents[d + (uint32_t)k]);
        if (product == GRAPH_NOT_SET) return hg_error_record()->status;
        tell(f, e->operand, s->operand, product);
        if (!f->has_many[e->operand] && f->sizes[e->operand] == product) {
            f->has_many[e->operand] = true;
            f->many_count[e->operand] = (uint8_t)many;
            memcpy(f->many[e->operand], &v->extents[d], (size_t)many * sizeof *v->extents);
        }
        d += (uint32_t)many;
    }
    return HG_OK;
}

static hg_status learn_sizes(inference *f) {
    const char *p = graph_shape_pattern((hg_op)f->r->op);
    graph_shape s;
    for (uint32_t i = 0; i < HG_MAX_OPERANDS; i++) {
        f->sizes[i] = GRAPH_NOT_SET;
        f->teller[i] = HG_MAX_OPERANDS;
    }
    for (uint32_t i = 0; i < f->r->operand_count; i++)
        if (f->r->operands[i].kind == GRAPH_COUNT)
            f->sizes[f->r->operands[i].operand] = f->r->operands[i].number;
    while (graph_shape_next(f->row, &p, &s)) {
        const graph_operand *o = s.operand < HG_MAX_OPERANDS ? graph_given(f->r, s.operand) : NULL;
        if (o && o->kind == GRAPH_ARRAY && !says_strides(f->r, f->row, s.operand))
            HG_TRY(learn(f, &s, value_of(f, o)));
    }
    for (uint32_t i = 0; i < f->row->operand_count; i++)
        if (f->sizes[i] != GRAPH_NOT_SET && !graph_given(f->r, i)) HG_TRY(add_size(f, i));
    return HG_OK;
}

/* ---- types ---- */

static hg_status find_type(inference *f) {
    graph_request *r = f->r;
    for (uint32_t i = 0; i < r->operand_count && r->type == HG_TYPE_COUNT; i++)
        if (r->operands[i].kind == GRAPH_ARRAY &&
            f->row->operands[r->operands[i].operand].rule == HG_R_T)
            r->type = value_of(f, &r->operands[i])->type;
    if (r->type == HG_TYPE_COUNT) r->type = HG_TYPE_F32;
    if (!hg_op_allows_type((hg_op)r->op, (hg_type)r->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s has no type %s: %s", f->row->text,
                       hg_type_name((hg_type)r->type), hg_op_types_text((hg_op)r->op));
    return HG_OK;
}

/* Of quantized_gemm flags tell what its row does not: of b and b_zeros, and of c. */
static hg_type quantized_type(const inference *f, uint32_t operand) {
    const char *name = f->row->operands[operand].name;
    bool weights = strncmp(name, "b", 1) == 0;
    const char *flag = weights ? "b_unsigned" : "sums";
    if (!is_true(f->r, operand_of(f->row, flag, strlen(flag))))
        return weights ? HG_TYPE_I8 : (hg_type)f->r->type;
    return weights ? HG_TYPE_U8 : HG_TYPE_I32;
}

static hg_type type_of(const inference *f, uint32_t operand) {
    const hg_operand_info *info = &f->row->operands[operand];
    return f->r->op == HG_OP_QUANTIZED_GEMM && info->rule == HG_R_NONE
               ? quantized_type(f, operand)
               : hg_element_type(f->r->type, HG_TYPE_COUNT, info);
}

static hg_status check_type(const inference *f, uint32_t operand, const graph_value *v) {
    hg_type expected = type_of(f, operand);
    if (expected == HG_TYPE_COUNT || expected == v->type) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s of %s: %s is %s, %s expected", f->row->text,
                   hg_type_name((hg_type)f->r->type), f->row->operands[operand].name,
                   hg_type_name((hg_type)v->type), hg_type_name(expected));
}

/* ---- literals ---- */

static hg_type literal_type(const inference *f, uint32_t operand) {
    hg_inst in = {.type = f->r->type};
    return hg_literal_type(&in, &f->row->operands[operand]);
}

/* Texts of numbers become bytes of their type. */
static hg_status read_literals(inference *f) {
    for (uint32_t i = 0; i < f->r->operand_count; i++)
        if (f->r->operands[i].kind == GRAPH_LITERAL)
            HG_TRY(graph_read_literal(f->g, f->r, &f->r->operands[i],
                                      literal_type(f, f->r->operands[i].operand)));
    return HG_OK;
}

/* ---- results ---- */

static graph_extent tuple_item(inference *f, const char *name, uint32_t axis, uint64_t otherwise) {
    const graph_operand *o = graph_given(f->r, operand_of(f->row, name, strlen(name)));
    if (!o || o->number <= axis) return graph_number(f->g, otherwise);
    return f->g->items.data[o->first + axis];
}

static graph_extent padding_behind(inference *f, uint32_t axis) {
    const graph_operand *end = graph_given(f->r, operand_of(f->row, "padding_end", 11));
    return tuple_item(f, end && end->number ? "padding_end" : "padding", axis, 0);
}

/* dilation (window - 1) */
static graph_extent reach_of(inference *f, uint32_t axis, graph_extent window) {
    return graph_combine(f->g, HG_EXTENT_OP_MUL, tuple_item(f, "dilation", axis, 1),
                         graph_combine(f->g, HG_EXTENT_OP_SUB, window, graph_number(f->g, 1)));
}

/* How often a window fits into what an axis has with its padding: (padded - dilation (window - 1) -
 * 1) / stride + 1. */
static graph_extent fits_in(inference *f, uint32_t axis, graph_extent padded, graph_extent window) {
    hg_graph *g = f->g;
    graph_extent one = graph_number(g, 1);
    graph_extent rest = graph_combine(g, HG_EXTENT_OP_SUB, padded, reach_of(f, axis, window));
    rest = graph_combine(g, HG_EXTENT_OP_SUB, rest, one);
    return graph_combine(g, HG_EXTENT_OP_ADD,
                         graph_combine(g, HG_EXTENT_OP_DIV, rest, tuple_item(f, "stride", axis, 1)),
                         one);
}

/* Rows or columns of conv2d's output. */
static graph_extent conv_extent(inference *f, uint32_t axis) {
    hg_graph *g = f->g;
    const char *size_name = axis ? "width" : "height",
               *kernel_name = axis ? "kernel_w" : "kernel_h";
    graph_extent size = f->sizes[operand_of(f->row, size_name, strlen(size_name))];
    graph_extent kernel = f->sizes[operand_of(f->row, kernel_name, strlen(kernel_name))];
    graph_extent padded = graph_combine(g, HG_EXTENT_OP_ADD, size,
                                        tuple_item(f, "padding", axis, 0));
    padded = graph_combine(g, HG_EXTENT_OP_ADD, padded, padding_behind(f, axis));
    return fits_in(f, axis, padded, kernel);
}

/* Along an axis of conv and pools; of conv_transpose (size - 1) stride + dilation (window - 1) + 1
 * less the padding. */
static graph_extent out_extent(inference *f, uint32_t axis) {
    hg_graph *g = f->g;
    const graph_operand *told = graph_given(f->r, operand_of(f->row, "out", 3));
    if (told && told->number) return tuple_item(f, "out", axis, 0);
    graph_extent one = graph_number(g, 1), size = tuple_item(f, "size", axis, 1),
                 window = tuple_item(f, "window", axis, 1),
                 padding = graph_combine(g, HG_EXTENT_OP_ADD, tuple_item(f, "padding", axis, 0),
                                         padding_behind(f, axis));
    if (f->r->op != HG_OP_CONV_TRANSPOSE)
        return fits_in(f, axis, graph_combine(g, HG_EXTENT_OP_ADD, size, padding), window);
    graph_extent all = graph_combine(g, HG_EXTENT_OP_MUL,
                                     graph_combine(g, HG_EXTENT_OP_SUB, size, one),
                                     tuple_item(f, "stride", axis, 1));
    all = graph_combine(g, HG_EXTENT_OP_ADD, all, reach_of(f, axis, window));
    all = graph_combine(g, HG_EXTENT_OP_ADD, all, one);
    return graph_combine(g, HG_EXTENT_OP_SUB, all, padding);
}

static bool add_outs(inference *f, graph_value *v) {
    const graph_operand *sizes = graph_given(f->r, operand_of(f->row, "size", 4));
    for (uint32_t i = 0; sizes && i < sizes->number; i++) {
        graph_extent extent = out_extent(f, i);
        if (extent == GRAPH_NOT_SET || v->rank == PLAN_MAX_RANK) return false;
        v->extents[v->rank++] = extent;
    }
    return sizes != NULL;
}

static graph_extent extent_of(inference *f, const graph_shape_extent *e) {
    graph_extent size = e->kind == GRAPH_SHAPE_ANY || e->kind == GRAPH_SHAPE_CONV
                            ? GRAPH_NOT_SET
                            : f->sizes[e->operand];
    switch (e->kind) {
    case GRAPH_SHAPE_CONV: return conv_extent(f, e->by);
    case GRAPH_SHAPE_PART:
        return size == GRAPH_NOT_SET
                   ? size
                   : graph_combine(f->g, HG_EXTENT_OP_DIV, size, graph_number(f->g, e->by));
    case GRAPH_SHAPE_QUOTIENT:
        return f->sizes[e->by] == GRAPH_NOT_SET
                   ? size
                   : graph_combine(f->g, HG_EXTENT_OP_DIV, size, f->sizes[e->by]);
    default: return size;
    }
}

/* The shape of a result from the pattern; false: it does not tell it. */
static bool shape_result(inference *f, const graph_shape *s, graph_value *v) {
    for (uint32_t i = 0; i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        if (e->kind == GRAPH_SHAPE_MANY && f->has_many[e->operand]) {
            if (v->rank + f->many_count[e->operand] > PLAN_MAX_RANK) return false;
            memcpy(&v->extents[v->rank], f->many[e->operand],
                   f->many_count[e->operand] * sizeof *v->extents);
            v->rank = (uint8_t)(v->rank + f->many_count[e->operand]);
            continue;
        }
        if (e->kind == GRAPH_SHAPE_OUTS) {
            if (!add_outs(f, v)) return false;
            continue;
        }
        graph_extent extent = extent_of(f, e);
        if (extent == GRAPH_NOT_SET || v->rank == PLAN_MAX_RANK) return false;
        v->extents[v->rank++] = extent;
    }
    return true;
}

/* Of indices, which have a type of their own: i64 of places, and where the call is `wide`. */
static hg_type index_type(const inference *f) {
    if (f->r->op == HG_OP_ARG_MAX || f->r->op == HG_OP_ARG_MIN || f->r->op == HG_OP_MAX_POOL)
        return HG_TYPE_I64;
    for (uint32_t i = 0; i < f->row->operand_count; i++) {
        if (strcmp(f->row->operands[i].name, "wide") != 0) continue;
        const graph_operand *wide = graph_given(f->r, i);
        return wide && wide->number ? HG_TYPE_I64 : HG_TYPE_U32;
    }
    return HG_TYPE_COUNT;
}

static bool infer_result(inference *f, uint32_t operand, graph_value *v) {
    const graph_operand *before = graph_given(f->r, operand);
    graph_shape s;
    *v = (graph_value){
        .source = GRAPH_RESULT, .type = (uint8_t)type_of(f, operand), .line = f->r->line};
    if (v->type == HG_TYPE_COUNT) v->type = (uint8_t)index_type(f);
    if (v->type == HG_TYPE_COUNT) return false;
    if (before) { /* what it had before the call has that shape */
        const graph_value *of = value_of(f, before);
        v->rank = of->rank;
        memcpy(v->extents, of->extents, sizeof v->extents);
        return true;
    }
    return !says_strides(f->r, f->row, operand) && graph_shape_of(f->r, operand, &s) &&
           shape_result(f, &s, v);
}

static hg_status make_results(inference *f) {
    graph_request *r = f->r;
    for (uint32_t i = 0; i < r->result_count; i++) {
        graph_value v;
        HG_TRY(
            graph_make_result(f->g, r, i, infer_result(f, r->results[i].operand, &v) ? &v : NULL));
        HG_TRY(check_type(f, r->results[i].operand, &f->g->values.data[r->results[i].value]));
    }
    return HG_OK;
}

bool graph_leaves_contents(graph_request *r) {
    const hg_op_info *row = hg_op_get((hg_op)r->op);
    bool leaves = false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        const graph_operand *given = graph_given(r, i);
        if (given && given->number && strcmp(info->name, "accumulate") == 0) return false;
        if (info->kind != HG_K_LITERAL || strcmp(info->name, "beta") != 0) continue;
        const hg_inst in = {.type = r->type};
        bool zero = true;
        for (uint64_t k = 0; given && k < hg_type_size_bytes(hg_literal_type(&in, info)); k++)
            zero = zero && given->bytes[k] == 0;
        leaves = zero;
    }
    return leaves;
}

/* An array that is read and written must have contents before, but for c of a product that neither
 * beta nor accumulate reads. */
static hg_status check_contents(inference *f, uint32_t operand) {
    if (graph_given(f->r, operand) || graph_leaves_contents(f->r)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%s: it reads %s: give the value that it has before, %s=...", f->row->text,
                   f->row->operands[operand].name, f->row->operands[operand].name);
}

/* ---- all of an instruction ---- */

/* What only the instruction's type and row tell of an operation and of a tuple. */
static hg_status check_operand(const inference *f, const graph_operand *o) {
    const hg_operand_info *info = &f->row->operands[o->operand];
    if (graph_is_written(info) && !(info->access & HG_READ))
        return graph_refuse_made(f->r, o->operand);
    if (o->kind == GRAPH_ARRAY) return check_type(f, o->operand, value_of(f, o));
    if (o->kind == GRAPH_NAME && !hg_opname_allows_type((hg_opname)o->number, (hg_type)f->r->type))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s of %s: %s=%s is no operation for it",
                       f->row->text, hg_type_name((hg_type)f->r->type), info->name,
                       hg_opname_name((hg_opname)o->number));
    bool none = info->optional == HG_OR_NONE && o->number == 0;
    if (o->kind == GRAPH_TUPLE && info->items && o->number != info->items && !none)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s has %u number%s, %u expected",
                       f->row->text, info->name, (unsigned)o->number, o->number == 1 ? "" : "s",
                       (unsigned)info->items);
    return HG_OK;
}

static hg_status check_given(inference *f) {
    graph_request *r = f->r;
    for (uint32_t i = 0; i < f->row->operand_count; i++) {
        const hg_operand_info *info = &f->row->operands[i];
        if (info->optional != HG_REQUIRED || graph_is_written(info) || graph_given(f->r, i))
            continue;
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       info->kind == HG_K_COUNT ? "%s: no shape tells %s: write %s=…"
                                                : "%s: %s is missing: write %s=…",
                       f->row->text, info->name, info->name);
    }
    for (uint32_t i = 0; i < r->operand_count; i++) HG_TRY(check_operand(f, &r->operands[i]));
    return HG_OK;
}

/* Extent number `at` of an array is not what another shape or the call says. */
static hg_status refuse_extent(inference *f, const graph_shape *s, const graph_shape_extent *e,
                               const graph_value *v, uint32_t at, uint64_t expected) {
    hg_text shape = {0}, other = {0};
    bool told = e->kind == GRAPH_SHAPE_SIZE || e->kind == GRAPH_SHAPE_MANY;
    uint32_t teller = told ? f->teller[e->operand] : HG_MAX_OPERANDS;
    graph_print_shape(&shape, f->g, v);
    if (teller < HG_MAX_OPERANDS) {
        hg_text_addf(&other, ": %s is ", f->row->operands[teller].name);
        graph_print_shape(&other, f->g, value_of(f, graph_given(f->r, teller)));
    }
    hg_status status = hg_fail(
        HG_ERROR_INVALID_ARGUMENT, "%s: %s is %s, extent %u of it should be %llu%s", f->row->text,
        f->row->operands[s->operand].name, shape.data ? shape.data : "", (unsigned)at + 1,
        (unsigned long long)expected, other.data ? other.data : "");
    hg_text_free(&shape);
    hg_text_free(&other);
    return status;
}

/* The product of some extents where all are numbers. */
static bool known_product(const hg_graph *g, const graph_extent *extents, uint32_t count,
                          uint64_t *product) {
    uint64_t x;
    *product = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!graph_is_number(g, extents[i], &x) || !hg_mul_u64(*product, x, product)) return false;
    return true;
}

/* Whether the call itself says all sizes of a shape, or leaves out what the instruction knows then:
 * an array may be any memory that is large enough. */
static bool says_sizes(const inference *f, const graph_shape *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        if (e->kind == GRAPH_SHAPE_ANY || e->kind == GRAPH_SHAPE_CONV) continue;
        if (f->sizes[e->operand] == GRAPH_NOT_SET &&
            f->row->operands[e->operand].optional == HG_OR_NONE)
            continue;
        if (f->sizes[e->operand] == GRAPH_NOT_SET || f->teller[e->operand] != HG_MAX_OPERANDS)
            return false;
    }
    return true;
}

static hg_status check_rank(const inference *f, const graph_shape *s, const graph_value *v) {
    hg_text shape = {0};
    if (says_sizes(f, s)) return HG_OK;
    graph_print_shape(&shape, f->g, v);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is %s, %u extent%s expected",
                               f->row->text, f->row->operands[s->operand].name,
                               shape.data ? shape.data : "", (unsigned)s->count,
                               s->count == 1 ? "" : "s");
    hg_text_free(&shape);
    return status;
}

static hg_status check_shape(inference *f, graph_shape *s, const graph_value *v) {
    settle(f->r, s);
    int many = graph_shape_many(s, v->rank);
    if (many < 0) return check_rank(f, s, v);
    for (uint32_t i = 0, at = 0; i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        uint64_t expected, is;
        uint32_t count = e->kind == GRAPH_SHAPE_MANY ? (uint32_t)many : 1;
        bool whole = e->kind == GRAPH_SHAPE_SIZE || e->kind == GRAPH_SHAPE_MANY;
        graph_extent extent = whole ? f->sizes[e->operand] : extent_of(f, e);
        bool known = graph_is_number(f->g, extent, &expected) &&
                     known_product(f->g, &v->extents[at], count, &is);
        bool part = e->kind == GRAPH_SHAPE_MANY &&
                    f->teller[e->operand] == HG_MAX_OPERANDS; /* the
                                                                 call
                                                                 takes
                                                                 so
                                                                 many
                                                                 of
                                                                 them
                                                               */
        if (known && is != expected && !(part && expected < is))
            return refuse_extent(f, s, e, v, at, expected);
        at += count;
    }
    return HG_OK;
}

/* Numbers that are known already must agree with those that other shapes told. */
static hg_status check_shapes(inference *f) {
    const char *p = graph_shape_pattern((hg_op)f->r->op);
    graph_shape s;
    if (graph_has_leading(f->row, f->r->operands, f->r->operand_count)) return HG_OK;
    while (graph_shape_next(f->row, &p, &s)) {
        const graph_operand *o = s.operand < HG_MAX_OPERANDS ? graph_given(f->r, s.operand) : NULL;
        if (o && o->kind == GRAPH_ARRAY && !says_strides(f->r, f->row, s.operand))
            HG_TRY(check_shape(f, &s, value_of(f, o)));
    }
    return HG_OK;
}

hg_status graph_infer(hg_graph *g, graph_request *r) {
    if (r->program) return graph_infer_program(g, r);
    inference f = {.g = g, .r = r, .row = hg_op_get((hg_op)r->op)};
    HG_TRY(find_type(&f));
    HG_TRY(learn_sizes(&f));
    HG_TRY(check_given(&f));
    HG_TRY(check_shapes(&f));
    HG_TRY(read_literals(&f));
    for (uint32_t i = 0; i < f.row->operand_count; i++)
        if (graph_is_written(&f.row->operands[i]) && (f.row->operands[i].access & HG_READ))
            HG_TRY(check_contents(&f, i));
    return make_results(&f);
}

/* Rows of a tensor, and their folds: the program reduce.atlas, a launch for each level of 4,096
 * elements.
 * Must not know: operations. */
#include "tensor/rows.h"
#include "library/texts.h"
#include <string.h>

enum { CHUNK = 4096, PARTS = 128, FEW_PARTS = 8 };

/* ---- rows ---- */

enum { OUTER, ROW, INNER, GROUPS };

/* Axes of one group as one axis. false: their elements have no common stride. */
static bool join(const hg_tensor *x, const uint8_t *groups, uint32_t group, uint64_t *extent,
                 int64_t *stride) {
    *extent = 1;
    *stride = 0;
    for (uint32_t d = x->rank; d-- > 0;) {
        if (groups[d] != group || x->shape[d] == 1) continue;
        if (*extent == 1)
            *stride = x->strides[d];
        else if (x->strides[d] != *stride * (int64_t)*extent)
            return false;
        *extent *= x->shape[d];
    }
    return true;
}

static bool join_all(tensor_rows *r, const uint8_t *groups) {
    return join(r->x, groups, OUTER, &r->outer, &r->strides[OUTER]) &&
           join(r->x, groups, ROW, &r->n, &r->strides[ROW]) &&
           join(r->x, groups, INNER, &r->inner, &r->strides[INNER]);
}

/* Which group an axis belongs to. false: axes of rows do not stand side by side. */
static bool group(const hg_tensor *x, uint32_t axes, uint8_t *groups) {
    uint8_t now = OUTER;
    for (uint32_t d = 0; d < x->rank; d++) {
        bool row = axes >> d & 1;
        groups[d] = row ? ROW : now == OUTER ? OUTER : INNER;
        if (x->shape[d] == 1) continue;
        if (row && now == INNER) return false;
        now = row ? ROW : now == OUTER ? OUTER : INNER;
    }
    return true;
}

/* In C order with the axes of rows last. */
static hg_status pack(tensor_run *run, const hg_tensor *x, uint32_t axes, uint8_t *groups,
                      hg_tensor **packed) {
    int32_t order[HG_TENSOR_AXES];
    uint32_t count = 0;
    hg_tensor *view;
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t d = 0; d < x->rank; d++)
            if ((axes >> d & 1) == row) {
                groups[count] = row ? ROW : OUTER;
                order[count++] = (int32_t)d;
            }
    HG_TRY(hg_tensor_permute(x, order, count, &view));
    hg_status status = tensor_cast(run, view, view->type, packed);
    hg_tensor_release(view);
    return status;
}

hg_status tensor_rows_of(tensor_run *run, const hg_tensor *x, uint32_t axes, bool keepdims,
                         tensor_rows *r) {
    uint8_t groups[HG_TENSOR_AXES];
    *r = (tensor_rows){.x = NULL};
    for (uint32_t d = 0; d < x->rank; d++) {
        bool row = axes >> d & 1;
        if (!row || keepdims) r->shape[r->rank++] = row ? 1 : x->shape[d];
    }
    HG_TRY(tensor_alias(x, &r->x));
    if (group(x, axes, groups) && join_all(r, groups)) return HG_OK;
    hg_tensor_release(r->x);
    r->x = NULL;
    HG_TRY(pack(run, x, axes, groups, &r->x));
    (void)join_all(r, groups); /* in C order they all join */
    return HG_OK;
}

void tensor_rows_end(tensor_rows *rows) {
    hg_tensor_release(rows->x);
    rows->x = NULL;
}

/* ---- the text of a launch ---- */

/* What a launch reads: the rows' elements, or what the launch before gave. */
typedef struct level {
    const tensor_fold *fold;
    const tensor_rows *rows;
    const hg_tensor *parts; /* [outer, n, inner]; NULL: it is the first one */
    uint64_t n, chunks;
} level;

static const char *const STRIDES[GROUPS] = {"so", "sn", "si"};
static const char *type_name(hg_element type) { return hg_type_name(tensor_stored(type)); }

static void add_place(hg_text *out, const tensor_rows *r) {
    static const char *const names[GROUPS] = {"o", "k", "i"};
    hg_text_addf(out, r->x->offset ? "at" : "0");
    for (int g = 0; g < GROUPS; g++) {
        if (!r->strides[g]) continue;
        hg_text_addf(out, " + %s", names[g]);
        if (r->strides[g] != 1)
            hg_text_addf(out, r->strides[g] < 0 ? " * u64(%s)" : " * %s", STRIDES[g]);
    }
}

/* The parameters of x, and element(): of a later launch, what the one before gave. */
static void add_elements(hg_text *out, const level *l) {
    const tensor_rows *r = l->rows;
    bool later = l->parts != NULL;
    hg_text_addf(out, ".param x buffer T in%s\n", later ? " [outer, n, inner]" : "");
    for (int g = 0; g < GROUPS && !later; g++)
        if (r->strides[g] && r->strides[g] != 1)
            hg_text_addf(out, ".param %s %s\n", STRIDES[g], r->strides[g] < 0 ? "i64" : "u64");
    if (r->x->offset && !later) hg_text_addf(out, ".param at u64\n");
}

static void add_functions(hg_text *out, const level *l) {
    const tensor_fold *f = l->fold;
    bool later = l->parts != NULL;
    hg_text_addf(out, "\nfn element(o u64, k u64, i u64) -> A {\n    let a = x[");
    if (later)
        hg_text_addf(out, "o, k, i");
    else
        add_place(out, l->rows);
    hg_text_addf(out, "]\n    return %s\n}\n", later ? "a" : f->load);
    hg_text_addf(out, "\nfn fold(a A, b A) -> A {\n    return %s\n}\n", f->fold);
    hg_text_addf(out, "\nfn finish(a A) -> G {\n    return G(a)\n}\n\n%s", library_text_elements);
}

static void write_text(hg_text *out, const level *l, hg_element gives) {
    const tensor_fold *f = l->fold;
    hg_text_addf(out, ".atlas 1\n.program %s\n", f->name);
    hg_text_addf(out, ".type T = %s\n", type_name(l->parts ? f->computes : l->rows->x->type));
    hg_text_addf(out, ".type A = %s\n.type G = %s\n", type_name(f->computes), type_name(gives));
    hg_text_addf(out, ".const KIND = %d\n.const ROOM = %d\n", (int)f->kind,
                 l->n <= FEW_PARTS ? FEW_PARTS : PARTS);
    add_elements(out, l);
    hg_text_addf(out, "%s", library_text_reduce);
    add_functions(out, l);
}

/* ---- launches ---- */

typedef struct operands {
    tensor_arg args[16];
    uint32_t count;
} operands;

/* Strides that go backwards are no extents of a graph. */
static void add_size(operands *o, const char *name, uint64_t value) {
    tensor_arg a = {.name = name, .kind = TENSOR_SIZE, .number = value};
    if (value > INT64_MAX) {
        a.kind = TENSOR_SCALAR;
        a.type = HG_TYPE_I64;
        memcpy(a.bytes, &value, sizeof value);
    }
    o->args[o->count++] = a;
}

static void add_array(operands *o, const char *name, const hg_tensor *t) {
    o->args[o->count++] = (tensor_arg){.name = name, .kind = TENSOR_ARRAY, .tensor = t};
}

static void add_operands(operands *o, const level *l) {
    const tensor_rows *r = l->rows;
    bool later = l->parts != NULL;
    add_array(o, "x", later ? l->parts : r->x);
    for (int g = 0; g < GROUPS && !later; g++)
        if (r->strides[g] && r->strides[g] != 1) add_size(o, STRIDES[g], (uint64_t)r->strides[g]);
    if (r->x->offset && !later) add_size(o, "at", r->x->offset);
    add_size(o, "outer", r->outer);
    add_size(o, "chunks", l->chunks);
    add_size(o, "inner", r->inner);
    add_size(o, "n", l->n);
}

static hg_status launch(tensor_run *run, const level *l, hg_element gives, hg_tensor **result) {
    hg_text text = {0};
    operands o = {.count = 0};
    tensor_work work = {.operation = l->fold->name};
    write_text(&text, l, gives);
    hg_status status = tensor_program_of(run->state, &text, &work.program);
    hg_text_free(&text);
    HG_TRY(status);
    add_operands(&o, l);
    const uint64_t shape[] = {l->rows->outer, l->chunks, l->rows->inner};
    tensor_result made = {.operand = "y", .type = gives, .rank = 3, .shape = shape};
    HG_TRY(tensor_call(run, &work, o.args, o.count, &made, 1));
    *result = made.tensor;
    return HG_OK;
}

static hg_status launches(tensor_run *run, const tensor_fold *f, const tensor_rows *rows,
                          hg_tensor **result) {
    level l = {.fold = f, .rows = rows, .n = rows->n};
    hg_tensor *before = NULL;
    hg_status status = HG_OK;
    do {
        hg_tensor *made = NULL;
        l.chunks = (l.n - 1) / CHUNK + 1;
        l.parts = before;
        status = launch(run, &l, l.chunks == 1 ? f->gives : f->computes, &made);
        hg_tensor_release(before);
        before = made;
        l.n = l.chunks;
    } while (status == HG_OK && l.n > 1);
    *result = before;
    return status;
}

/* A result in the rows' shape. */
static void shape_rows(const tensor_rows *r, hg_tensor *result) {
    result->rank = r->rank;
    memcpy(result->shape, r->shape, sizeof r->shape);
    tensor_c_strides(r->shape, r->rank, result->strides);
}

hg_status tensor_rows_call(tensor_run *run, const tensor_work *work, const char *operation,
                           const tensor_rows *r, hg_element gives, hg_tensor **result) {
    hg_tensor lines = *r->x, *own;
    const uint64_t extents[GROUPS] = {r->outer, r->n, r->inner}, shape[] = {r->outer, r->inner};
    *result = NULL;
    lines.rank = GROUPS;
    memcpy(lines.shape, extents, sizeof extents);
    memcpy(lines.strides, r->strides, sizeof r->strides);
    HG_TRY(tensor_operand(run, &lines, false, &own));
    const tensor_arg args[] = {{.name = "input", .kind = TENSOR_ARRAY, .tensor = own},
                               {.name = "operation", .kind = TENSOR_WORD, .text = operation}};
    tensor_result made = {.operand = "output", .type = gives, .rank = 2, .shape = shape};
    hg_status status = tensor_call(run, work, args, operation ? 2 : 1, &made, 1);
    hg_tensor_release(own);
    HG_TRY(status);
    shape_rows(r, made.tensor);
    *result = made.tensor;
    return HG_OK;
}

/* Whether reduce_axis is that fold. */
static bool is_instruction(const tensor_fold *f, const tensor_rows *r) {
    return f->word && r->x->type == f->gives &&
           (f->computes == f->gives || hg_type_size_bytes((hg_type)f->gives) == 2);
}

hg_status tensor_rows_fold(tensor_run *run, const tensor_fold *f, const tensor_rows *r,
                           hg_tensor **result) {
    if (is_instruction(f, r)) {
        tensor_work work = {.instruction = "reduce_axis", .operation = f->name};
        return tensor_rows_call(run, &work, f->word, r, f->gives, result);
    }
    *result = NULL;
    HG_TRY(launches(run, f, r, result));
    shape_rows(r, *result);
    return HG_OK;
}

/* Rows of a tensor, and their folds: the instruction reduce_axis, or its library programs
 * (axis.atlas) with another fold, a launch for each level of 4,096 elements.
 * Must not know: operations. */
#include "tensor/rows.h"
#include "library/library.h"
#include "library/texts.h"
#include "runtime/client.h"
#include <string.h>

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

/* Lines in one row of lines may be behind each other or beside each other: as they lie. */
static void turn(tensor_rows *r) {
    uint64_t beside = r->outer == 1 ? r->inner : r->outer;
    int64_t stride = r->outer == 1 ? r->strides[INNER] : r->strides[OUTER];
    if (r->outer != 1 && r->inner != 1) return;
    bool behind = stride > r->strides[ROW];
    r->outer = behind ? beside : 1;
    r->inner = behind ? 1 : beside;
    r->strides[OUTER] = behind ? stride : 0;
    r->strides[INNER] = behind ? 0 : stride;
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
    if (!group(x, axes, groups) || !join_all(r, groups)) {
        hg_tensor_release(r->x);
        r->x = NULL;
        HG_TRY(pack(run, x, axes, groups, &r->x));
        (void)join_all(r, groups); /* in C order they all join */
    }
    turn(r);
    return HG_OK;
}

void tensor_rows_end(tensor_rows *rows) {
    hg_tensor_release(rows->x);
    rows->x = NULL;
}

/* ---- the text of a launch ---- */

/* What a launch reads: lines [outer, n, inner] without gaps, the rows' elements or what the launch
 * before gave. */
typedef struct level {
    const tensor_fold *fold;
    const hg_tensor *x;
    bool later;
    uint64_t outer, n, inner, chunks;
    hg_element gives;
    library_lines way;
    uint64_t each; /* chunks of a block, where a block has whole ones; else 1: it is in the text */
} level;

static const char *type_name(hg_element type) { return hg_type_name(tensor_stored(type)); }

/* Macros, not functions: those are called. */
static void add_macros(hg_text *out, const level *l) {
    const tensor_fold *f = l->fold;
    hg_text_addf(out, ".macro fold to, a, b\n    to = %s\n.end\n", f->fold);
    hg_text_addf(out, ".macro take to, a\n    to = %s\n.end\n", l->later ? "a" : f->load);
    hg_text_addf(out, ".macro begin to, first\n    value = x[first]\n    take to, value\n");
    if (f->nothing) hg_text_addf(out, "    to = %s\n", f->nothing);
    hg_text_addf(out, ".end\n");
}

static hg_type left_type(const tensor_fold *fold) {
    return library_left_type((hg_type)tensor_stored(fold->computes));
}

/* What stands in axis.atlas in front of its programs, for this fold. */
static void add_head(hg_text *out, const level *l) {
    hg_text_addf(out, ".atlas 1\n.type X = %s\n.type A = %s\n.type Y = %s\n", type_name(l->x->type),
                 type_name(l->fold->computes), type_name(l->gives));
    hg_text_addf(out, ".const OP = 4\n.const CHUNK = %d\n.const SIZE = %u\n", LIBRARY_CHUNK,
                 (unsigned)hg_type_size_bytes(left_type(l->fold)));
    hg_text_addf(out, ".type S = %s\n", hg_type_name(left_type(l->fold)));
    hg_text_addf(out, ".const W = %u\n.const Q = 128 / W\n.const R = %u\n",
                 l->way.by_block ? (unsigned)LIBRARY_LINE_LANES : (unsigned)l->way.width,
                 (unsigned)l->each);
    hg_text_addf(out, ".const LEVELS = %d\n.const U = %d\n.const WIDE = %d\n.const KEPT = %d\n",
                 (int)l->way.levels, (int)l->way.made, l->way.wide, l->way.kept);
    add_macros(out, l);
}

static void write_text(hg_text *out, const level *l) {
    add_head(out, l);
    tensor_add_section(out, hg_unpacked(&library_text_axis), l->way.by_block ? "rows" : "columns");
}

/* ---- launches ---- */

static void add_size(tensor_arg *args, uint32_t *count, const char *name, uint64_t value) {
    args[(*count)++] = (tensor_arg){.name = name, .kind = TENSOR_SIZE, .number = value};
}

static uint32_t add_operands(tensor_arg *args, const level *l) {
    uint32_t count = 0;
    uint64_t groups = l->outer * l->chunks;
    args[count++] = (tensor_arg){.name = "x", .kind = TENSOR_ARRAY, .tensor = l->x};
    add_size(args, &count, "offset", l->x->offset);
    add_size(args, &count, "n", l->n);
    add_size(args, &count, "chunks", l->chunks);
    add_size(args, &count, "groups", groups);
    if (l->way.by_block) return count;
    add_size(args, &count, "inner", l->inner);
    add_size(args, &count, "count", groups * l->way.lanes);
    return count;
}

static hg_status launch(tensor_run *run, const level *l, hg_tensor **result) {
    hg_text text = {0};
    tensor_arg args[8];
    tensor_work work = {.operation = l->fold->name};
    write_text(&text, l);
    hg_status status = tensor_program_of(run->state, &text, &work.program);
    hg_text_free(&text);
    HG_TRY(status);
    const uint64_t all = l->outer * l->chunks * l->inner;
    tensor_result made = {.operand = "y", .type = l->gives, .rank = 1, .shape = &all};
    HG_TRY(tensor_call(run, &work, args, add_operands(args, l), &made, 1));
    *result = made.tensor;
    return HG_OK;
}

static hg_status launches(tensor_run *run, const tensor_fold *f, const tensor_rows *rows,
                          const hg_tensor *x, hg_tensor **result) {
    level l = {.fold = f, .x = x, .outer = rows->outer, .n = rows->n, .inner = rows->inner};
    hg_tensor *before = NULL;
    hg_status status = HG_OK;
    const uint16_t *tiles = hg_backend_tiles(run->state->backend)->sizes;
    uint64_t most = tiles[LIBRARY_TILE_LINE_CHUNKS];
    do {
        hg_tensor *made = NULL;
        l.chunks = (l.n - 1) / LIBRARY_CHUNK + 1;
        l.gives = l.chunks == 1 ? f->gives : f->computes;
        l.way = library_lines_of(l.n, l.inner, hg_type_size_bytes(left_type(f)),
                                 tiles[LIBRARY_TILE_COLUMN_LANES]);
        l.each = l.way.by_block ? library_lines_of_block(l.outer * l.chunks, most) : 1;
        status = launch(run, &l, &made);
        hg_tensor_release(before);
        l.x = before = made;
        l.n = l.chunks;
        l.later = true;
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

/* The rows' elements as an array [outer, n, inner]; packed: without gaps. */
static hg_status lines_of(tensor_run *run, const tensor_rows *r, bool packed, hg_tensor **lines) {
    hg_tensor all = *r->x;
    const uint64_t extents[GROUPS] = {r->outer, r->n, r->inner};
    all.rank = GROUPS;
    memcpy(all.shape, extents, sizeof extents);
    memcpy(all.strides, r->strides, sizeof r->strides);
    return tensor_operand(run, &all, packed, lines);
}

hg_status tensor_rows_call(tensor_run *run, const tensor_work *work, const char *operation,
                           const tensor_rows *r, hg_element gives, hg_tensor **result) {
    hg_tensor *lines;
    const uint64_t shape[] = {r->outer, r->inner};
    *result = NULL;
    HG_TRY(lines_of(run, r, false, &lines));
    const tensor_arg args[] = {{.name = "input", .kind = TENSOR_ARRAY, .tensor = lines},
                               {.name = "operation", .kind = TENSOR_WORD, .text = operation}};
    tensor_result made = {.operand = "output", .type = gives, .rank = 2, .shape = shape};
    hg_status status = tensor_call(run, work, args, operation ? 2 : 1, &made, 1);
    hg_tensor_release(lines);
    HG_TRY(status);
    shape_rows(r, made.tensor);
    *result = made.tensor;
    return HG_OK;
}

/* Whether reduce_axis is that fold. */
static bool is_instruction(const tensor_fold *f, const tensor_rows *r) {
    return f->word && tensor_stored(r->x->type) == f->gives &&
           (f->computes == f->gives || hg_type_size_bytes((hg_type)f->gives) == 2);
}

hg_status tensor_rows_fold(tensor_run *run, const tensor_fold *f, const tensor_rows *r,
                           hg_tensor **result) {
    if (is_instruction(f, r)) {
        tensor_work work = {.instruction = "reduce_axis", .operation = f->name};
        return tensor_rows_call(run, &work, f->word, r, f->gives, result);
    }
    hg_tensor *lines;
    *result = NULL;
    HG_TRY(lines_of(run, r, true, &lines));
    hg_status status = launches(run, f, r, lines, result);
    hg_tensor_release(lines);
    if (status == HG_OK) shape_rows(r, *result);
    return status;
}

/* sort and top_k: rows in order, the library programs sort.atlas. Short rows by ranks, in one
 * launch; longer ones in passes over the digits of keys, the lowest first, which keep the order of
 * equal digits: a pass counts the digits of each block's elements, adds up what lies in front of
 * them, and moves. */
#include "plan/steps/rows.h"

enum { SHORT_ROW = 256, BLOCK = 32 };
enum { KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT };

/* Rows are every `inner`th element: n of a row are ordered, the first `kept` of them written. */
typedef struct sorting {
    uint64_t n, kept, rows, inner;
    bool down;
    const plan_array *values, *indices; /* NULL: left out */
} sorting;

static sorting sorting_of(const plan_call *call) {
    uint64_t n = plan_named(call, "n"), inner = plan_named(call, "inner");
    bool top = call->op == HG_OP_TOP_K;
    return (sorting){.n = n,
                     .kept = top ? plan_named(call, "k") : n,
                     .rows = plan_times(plan_named(call, "outer"), inner),
                     .inner = inner,
                     .down = top ? plan_named(call, "smallest") == 0
                                 : plan_named(call, "descending") != 0,
                     .values = plan_array_of(call, plan_operand_named(call, "output")),
                     .indices = plan_array_of(call, plan_operand_named(call, "indices"))};
}

static void check(const plan_call *call, plan_problem *problem) {
    sorting s = sorting_of(call);
    if (!s.values && !s.indices)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "output"),
                    "left out, as indices are: one of them expected");
    if (s.n > UINT32_MAX)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "n"),
                    "%llu, at most %llu expected", (unsigned long long)s.n,
                    (unsigned long long)UINT32_MAX);
    if (s.kept > s.n)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "k"),
                    "%llu, at most n (%llu) expected", (unsigned long long)s.kept,
                    (unsigned long long)s.n);
}

static void shape(plan_call *call, const char *name, uint64_t n, hg_type type) {
    plan_array *a = plan_array_of(call, plan_operand_named(call, name));
    if (!a) return;
    a->type = (uint8_t)type;
    plan_array_shape(a, 3,
                     (const uint64_t[]){plan_named(call, "outer"), n, plan_named(call, "inner")});
}

static void ranges(plan_call *call) {
    sorting s = sorting_of(call);
    shape(call, "output", s.kept, (hg_type)call->type);
    shape(call, "indices", s.kept, plan_named(call, "wide") ? HG_TYPE_I64 : HG_TYPE_U32);
    shape(call, "input", s.n, (hg_type)call->type);
}

/* ---- launches ---- */

/* The constants that all programs begin with. */
enum { CONSTANTS = 7 };
static void start_constants(const plan_call *call, const sorting *s, int32_t *to) {
    static const hg_type PATTERNS[] = {HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64};
    hg_type type = (hg_type)call->type;
    uint32_t bytes = (uint32_t)hg_type_size_bytes(type), power = 0;
    while (1u << power < bytes) power++;
    to[0] = (int32_t)PATTERNS[power];
    to[1] = (int32_t)(bytes == 8 ? HG_TYPE_U64 : HG_TYPE_U32);
    to[2] = (int32_t)(plan_named(call, "wide") ? HG_TYPE_I64 : HG_TYPE_U32);
    to[3] = hg_type_is_float(type)    ? KIND_FLOAT
            : hg_type_is_signed(type) ? KIND_SIGNED
                                      : KIND_UNSIGNED;
    to[4] = (int32_t)bytes;
    to[5] = type == HG_TYPE_F16 ? 0x7C00 : type == HG_TYPE_F64 ? 0x7FF0 : 0x7F80;
    to[6] = s->down;
}

static void expand_ranks(const plan_call *call, const sorting *s, plan_expansion *x) {
    int32_t constants[CONSTANTS + 3];
    plan_part parts[3] = {plan_part_named(call, "input")};
    uint8_t arrays = 1;
    start_constants(call, s, constants);
    constants[CONSTANTS] = s->indices != NULL;
    constants[CONSTANTS + 1] = s->values != NULL;
    constants[CONSTANTS + 2] = SHORT_ROW;
    if (s->values) parts[arrays++] = plan_part_named(call, "output");
    if (s->indices) parts[arrays++] = plan_part_named(call, "indices");
    plan_kernel_key key = plan_library_key(LIBRARY_SORT_RANK, (hg_type)call->type, HG_OP_MOV,
                                           constants, arrays, 3);
    uint64_t step = hg_type_size_bytes((hg_type)call->type) == 8 ? 8 : 4;
    plan_expand_grid(x, &key, (uint64_t[]){(s->n - 1) / BLOCK + 1, s->rows, 1},
                     (uint32_t[]){BLOCK, 1, 1}, SHORT_ROW * step, parts,
                     (uint64_t[]){s->n, s->inner, s->kept});
}

/* Where rows lie between passes: without gaps in scratch memory, one after another. */
typedef struct sort_place {
    plan_part values, indices;
    uint64_t inner;
} sort_place;

typedef struct digits {
    uint32_t bits, lanes;  /* of a digit; of a block */
    uint64_t each, blocks; /* elements of a lane; blocks of a row */
    plan_part counts, lower;
} digits;

/* Where a device has threads of its own a block has many lanes, each with counters of its own; else
 * one, with many counters. */
enum { FEW_BITS = 5, LANES = 32, FEW_ELEMENTS = 16, MANY_ELEMENTS = 16 };
static digits digits_of(const sorting *s, plan_expansion *x) {
    digits d = {.bits = plan_tile(x, LIBRARY_TILE_SORT_BITS)};
    d.lanes = d.bits <= FEW_BITS ? LANES : 1;
    d.each = d.lanes > 1 ? FEW_ELEMENTS : (uint64_t)MANY_ELEMENTS << d.bits;
    d.blocks = (s->n - 1) / (d.each * d.lanes) + 1;
    d.counts = plan_scratch(x, plan_times(s->rows, d.blocks), (uint64_t)4 << d.bits);
    d.lower = plan_scratch(x, s->rows, (uint64_t)4 << d.bits);
    return d;
}

static void expand_pass(const plan_call *call, const sorting *s, const digits *d, plan_expansion *x,
                        uint32_t shift, const sort_place *from, const sort_place *to) {
    hg_type type = (hg_type)call->type;
    int32_t constants[CONSTANTS + 4];
    uint64_t shared = ((uint64_t)4 << d->bits) * d->lanes;
    const uint64_t grid[] = {d->blocks, s->rows, 1};
    const uint32_t block[] = {d->lanes, 1, 1};
    start_constants(call, s, constants);
    constants[CONSTANTS] = (int32_t)d->bits;
    constants[CONSTANTS + 1] = (int32_t)d->lanes;
    constants[CONSTANTS + 2] = !to->indices.bytes ? 0 : from->indices.bytes ? 1 : 2;
    constants[CONSTANTS + 3] = to->values.bytes != 0;
    plan_kernel_key count = plan_library_key(LIBRARY_SORT_COUNT, type, HG_OP_MOV, constants, 2, 5);
    plan_expand_grid(x, &count, grid, block, shared, (plan_part[]){from->values, d->counts},
                     (uint64_t[]){s->n, d->each, from->inner, d->blocks, shift});
    plan_kernel_key scan = plan_library_key(LIBRARY_SORT_SCAN, type, HG_OP_MOV,
                                            (int32_t[]){(int32_t)d->bits}, 2, 1);
    plan_expand_grid(x, &scan, (uint64_t[]){1, s->rows, 1}, (uint32_t[]){BLOCK, 1, 1},
                     (uint64_t)4 << d->bits, (plan_part[]){d->counts, d->lower}, &d->blocks);
    plan_part parts[6] = {from->values};
    uint8_t arrays = 1;
    if (from->indices.bytes && to->indices.bytes) parts[arrays++] = from->indices;
    parts[arrays++] = d->counts;
    parts[arrays++] = d->lower;
    if (to->values.bytes) parts[arrays++] = to->values;
    if (to->indices.bytes) parts[arrays++] = to->indices;
    plan_kernel_key move = plan_library_key(LIBRARY_SORT_MOVE, type, HG_OP_MOV, constants, arrays,
                                            7);
    plan_expand_grid(
        x, &move, grid, block, shared, parts,
        (uint64_t[]){s->n, d->each, from->inner, d->blocks, shift, s->kept, to->inner});
}

static void expand_passes(const plan_call *call, const sorting *s, plan_expansion *x) {
    hg_type type = (hg_type)call->type;
    digits d = digits_of(s, x);
    uint32_t width = 8 * (uint32_t)hg_type_size_bytes(type), passes = (width - 1) / d.bits + 1;
    uint64_t count = plan_times(s->rows, s->n);
    sorting all = *s;
    all.kept = s->n;
    sort_place from = {.values = plan_part_named(call, "input"), .inner = s->inner}, places[2];
    for (uint32_t i = 0; i < 2; i++) {
        places[i] = (sort_place){.inner = 1};
        if (i + 1 >= passes) continue;
        places[i].values = plan_scratch(x, count, width / 8);
        if (s->indices)
            places[i].indices = plan_scratch(x, count,
                                             hg_type_size_bytes((hg_type)s->indices->type));
    }
    sort_place last = {.inner = s->inner};
    if (s->values) last.values = plan_part_named(call, "output");
    if (s->indices) last.indices = plan_part_named(call, "indices");
    for (uint32_t i = 0; i < passes; i++) {
        bool end = i + 1 == passes;
        expand_pass(call, end ? s : &all, &d, x, i * d.bits, &from, end ? &last : &places[i % 2]);
        from = places[i % 2];
    }
}

static void expand(const plan_call *call, plan_expansion *x) {
    sorting s = sorting_of(call);
    if (s.rows == 0 || s.kept == 0) return;
    if (s.n <= SHORT_ROW)
        expand_ranks(call, &s, x);
    else
        expand_passes(call, &s, x);
}

/* A row of short ones compares all pairs, a pass looks at each element twice. */
static plan_cost cost(const plan_call *call) {
    sorting s = sorting_of(call);
    return (plan_cost){
        plan_call_bytes(call),
        plan_times(plan_times(s.rows, s.n),
                   s.n <= SHORT_ROW ? s.n : 4 * hg_type_size_bytes((hg_type)call->type))};
}

const plan_collective plan_collective_sort = {.check = check,
                                              .ranges = ranges,
                                              .expand = expand,
                                              .cost = cost,
                                              .overlap = PLAN_OVERLAP_NEVER};

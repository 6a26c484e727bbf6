/* scan: the library programs of scan.atlas. Lines of an array [outer, n, inner], each along n. */
#include "kir/define/define.h"
#include "plan/steps/lines.h"
#include "plan/steps/tree.h"

typedef struct scan {
    plan_lines lines;
    uint64_t chunks; /* of a line */
    hg_type sum;
    bool exclusive, reverse;
} scan;

static scan scan_of(const plan_call *call) {
    scan s = {.lines = plan_named_lines(call),
              .sum = library_sum_type((hg_type)call->type),
              .exclusive = plan_named(call, "exclusive") != 0,
              .reverse = plan_named(call, "reverse") != 0};
    s.chunks = s.lines.n ? (s.lines.n - 1) / PLAN_CHUNK + 1 : 0;
    return s;
}

static void ranges(plan_call *call) {
    plan_lines lines = plan_named_lines(call);
    plan_shape_lines(call, "output", &lines);
    plan_shape_lines(call, "input", &lines);
}

/* ---- launches ---- */

typedef struct launches {
    const plan_call *call;
    plan_expansion *x;
    scan s;
    uint64_t part;      /* chunks of a line that a block goes through */
    plan_part parts[4]; /* input, what stands ahead of chunks, what changes nothing, output */
} launches;

enum {
    SHORT_LINE = 256,
    COLUMN_LANES = 64,
    FEW_LANES = 16,
    OPERATIONS = 8 /* for an element, about */
};

/* Chunks of lines, a part of them by one block; totals: of the first `count` chunks their totals
 * instead of elements. */
static void expand_chunks(launches *l, bool totals, uint64_t count) {
    const scan *s = &l->s;
    const bool series = !totals && l->part > 1, exact = l->x->threads && !hg_type_is_float(s->sum);
    const uint64_t size = hg_type_size_bytes(s->sum);
    uint32_t lanes = plan_tile(l->x, LIBRARY_TILE_SCAN_LANES);
    while (lanes & (lanes - 1)) lanes &= lanes - 1;           /* a round is whole runs of a chunk */
    if (l->x->rolled && lanes > FEW_LANES) lanes = FEW_LANES; /* each is a sum in all of them */
    plan_kernel_key key = plan_library_key(LIBRARY_SCAN_CHUNKS, (hg_type)l->call->type, HG_OP_MOV,
                                           (int32_t[]){plan_fold_number(l->call->fn), (int32_t)size,
                                                       s->reverse, s->exclusive, totals,
                                                       l->x->rolled, (int32_t)lanes, series, exact},
                                           4, series ? 4 : 3);
    l->x->work = series ? plan_times(s->lines.outer, plan_times(s->lines.n, OPERATIONS)) : 0;
    plan_expand_grid(l->x, &key, (uint64_t[]){count, 1, 1}, (uint32_t[]){lanes, 1, 1},
                     exact ? KIR_BLOCK_HEAD + 2 * lanes * (size < 4 ? 4 : size) : lanes * size,
                     l->parts, (uint64_t[]){s->lines.n, s->chunks, count, l->part});
}

static void expand_columns(launches *l, bool totals) {
    const scan *s = &l->s;
    uint64_t count = s->lines.outer * s->chunks * s->lines.inner;
    plan_kernel_key key = plan_library_key(
        LIBRARY_SCAN_COLUMNS, (hg_type)l->call->type, HG_OP_MOV,
        (int32_t[]){plan_fold_number(l->call->fn), s->reverse, s->exclusive, totals}, 4, 4);
    plan_expand_launch(l->x, &key, count, COLUMN_LANES, 0, l->parts,
                       (uint64_t[]){s->lines.n, s->chunks, s->lines.inner, count});
}

static void expand_before(launches *l, uint64_t chunks) {
    const scan *s = &l->s;
    uint64_t count = s->lines.outer * s->lines.inner;
    plan_kernel_key key = plan_library_key(LIBRARY_SCAN_BEFORE, (hg_type)l->call->type, HG_OP_MOV,
                                           (int32_t[]){plan_fold_number(l->call->fn)}, 1, 3);
    plan_expand_launch(l->x, &key, count, COLUMN_LANES, 0, &l->parts[1],
                       (uint64_t[]){chunks, s->lines.inner, count});
}

static uint64_t rounded_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* Lines whose elements lie side by side. Where few threads do it each takes a part of a line, which
 * it reads once: what stands before the first needs nothing, what stands before others the totals
 * of the chunks there. */
static void expand_rows(launches *l) {
    const scan *s = &l->s;
    uint64_t parts = s->chunks;
    if (l->x->threads) {
        parts = rounded_up(l->x->threads, s->lines.outer);
        l->part = rounded_up(s->chunks, parts < s->chunks ? parts : s->chunks);
        parts = rounded_up(s->chunks, l->part);
    }
    const uint64_t before = (parts - 1) * l->part; /* chunks of a line whose totals are asked for */
    if (parts > 1) {
        const bool one = s->lines.outer == 1;
        expand_chunks(l, true, one ? before : s->lines.outer * s->chunks);
        expand_before(l, one ? before + 1 : s->chunks);
    }
    expand_chunks(l, false, s->lines.outer * parts);
}

static void expand(const plan_call *call, plan_expansion *x) {
    launches l = {.call = call, .x = x, .s = scan_of(call), .part = 1};
    const scan *s = &l.s;
    uint64_t size = hg_type_size_bytes(s->sum);
    uint8_t identity[512];
    if (plan_lines_are_none(&s->lines)) return;
    kir_identity((hg_op)call->fn, s->sum, identity);
    plan_part nothing = plan_scratch(x, 1, size);
    plan_expand_write(x, nothing, identity);
    plan_part ahead = s->chunks == 1
                          ? nothing
                          : plan_scratch(x, s->lines.outer * s->chunks * s->lines.inner, size);
    l.parts[0] = plan_part_named(call, "input");
    l.parts[1] = ahead;
    l.parts[2] = nothing;
    l.parts[3] = plan_part_named(call, "output");
    if (s->lines.inner == 1 && s->lines.n > SHORT_LINE && size <= 8) {
        expand_rows(&l);
        return;
    }
    if (s->chunks > 1) {
        expand_columns(&l, true);
        expand_before(&l, s->chunks);
    }
    expand_columns(&l, false);
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call),
                       plan_call_bytes(call) / (2 * hg_type_size_bytes((hg_type)call->type))};
}

const plan_collective plan_collective_scan = {
    .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};

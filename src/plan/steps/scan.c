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
    plan_part parts[4]; /* input, what stands ahead of chunks, what changes nothing, output */
} launches;

enum { SHORT_LINE = 256, COLUMN_LANES = 64 };

/* All chunks of all lines; totals: their totals instead of elements. */
static void expand_chunks(launches *l, bool totals) {
    const scan *s = &l->s;
    uint64_t chunks = s->lines.outer * s->chunks;
    uint32_t lanes = plan_tile(l->x, LIBRARY_TILE_SCAN_LANES);
    while (lanes & (lanes - 1)) lanes &= lanes - 1; /* a round is whole runs of a chunk */
    plan_kernel_key key = plan_library_key(
        LIBRARY_SCAN_CHUNKS, (hg_type)l->call->type, HG_OP_MOV,
        (int32_t[]){plan_fold_number(l->call->fn), (int32_t)hg_type_size_bytes(s->sum), s->reverse,
                    s->exclusive, totals, l->x->rolled, (int32_t)lanes},
        4, 3);
    plan_expand_grid(l->x, &key, (uint64_t[]){chunks, 1, 1}, (uint32_t[]){lanes, 1, 1},
                     lanes * hg_type_size_bytes(s->sum), l->parts,
                     (uint64_t[]){s->lines.n, s->chunks, chunks});
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

static void expand_before(launches *l) {
    const scan *s = &l->s;
    uint64_t count = s->lines.outer * s->lines.inner;
    plan_kernel_key key = plan_library_key(LIBRARY_SCAN_BEFORE, (hg_type)l->call->type, HG_OP_MOV,
                                           (int32_t[]){plan_fold_number(l->call->fn)}, 1, 3);
    plan_expand_launch(l->x, &key, count, COLUMN_LANES, 0, &l->parts[1],
                       (uint64_t[]){s->chunks, s->lines.inner, count});
}

static void expand(const plan_call *call, plan_expansion *x) {
    launches l = {.call = call, .x = x, .s = scan_of(call)};
    const scan *s = &l.s;
    uint64_t size = hg_type_size_bytes(s->sum);
    uint8_t identity[512];
    if (plan_lines_are_none(&s->lines)) return;
    void (*write)(launches *, bool) = s->lines.inner == 1 && s->lines.n > SHORT_LINE && size <= 8
                                          ? expand_chunks
                                          : expand_columns;
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
    if (s->chunks > 1) {
        write(&l, true);
        expand_before(&l);
    }
    write(&l, false);
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call),
                       plan_call_bytes(call) / (2 * hg_type_size_bytes((hg_type)call->type))};
}

const plan_collective plan_collective_scan = {
    .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};

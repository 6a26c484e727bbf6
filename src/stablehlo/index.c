/* Gathers, scatters, orders of elements, caches, and what several devices do together.
 * Must not know: where arrays lie. */
#include "stablehlo/call_internal.h"
#include <string.h>

static ten everywhere(ten_module *m, ten like, uint64_t bits) {
    return ten_integer(m, ten_like(like, like.type), bits);
}

/* Indices as i64 from 0 to n - 1; those outside are a fault, and are 0. Wide ones below 0 count
 * from the end. */
static ten indices_of(shlo_call *c, uint64_t n) {
    ten_module *m = c->m;
    ten at = ten_convert(m, shlo_in(c, "indices"), HG_TYPE_I64), zero = everywhere(m, at, 0);
    if (shlo_flag(c, "wide")) {
        ten from_end = ten_binary(m, "add", at, everywhere(m, at, n));
        at = ten_select(m, ten_compare(m, "LT", at, zero), from_end, at);
    }
    ten bad = ten_binary(m, "or", ten_compare(m, "LT", at, zero),
                         ten_compare(m, "GE", at, everywhere(m, at, n)));
    shlo_note_bad(m, bad);
    return ten_select(m, bad, zero, at);
}

void shlo_gather(shlo_call *c) {
    ten a = shlo_in(c, "input");
    shlo_out(c, "output", ten_gather(c->m, a, indices_of(c, a.extents[1])));
}

/* What a later index stores is what stays; sums are in the order of indices. */
void shlo_scatter(shlo_call *c) {
    ten_module *m = c->m;
    ten into = shlo_in(c, "output"), updates = shlo_in(c, "input");
    uint8_t type = into.type, sum = ten_sum_type(type);
    ten at = indices_of(c, into.extents[1]);
    if (c->call->op == HG_OP_SCATTER_ADD) {
        into = ten_convert(m, into, sum);
        updates = ten_convert(m, updates, sum);
        into = ten_scatter(m, into, at, updates, "add", false);
        shlo_out(c, "output", ten_convert(m, into, type));
        return;
    }
    shlo_out(c, "output", ten_scatter(m, into, at, updates, NULL, false));
}

/* ---- segments ---- */

/* Of each element the segment that it is in: how many begin at it or before. */
void shlo_segment_reduce(shlo_call *c) {
    ten_module *m = c->m;
    ten a = shlo_in(c, "input"); /* [1, n, inner] */
    ten offsets = ten_convert(m, shlo_in(c, "offsets"), HG_TYPE_I64);
    uint64_t n = a.extents[1], segments = shlo_size(c, "segments"), inner = a.extents[2];
    uint8_t type = a.type, sum = ten_sum_type(type);
    a = ten_convert(m, a, sum);
    ten next = ten_slice(m, offsets, 0, 1, segments + 1, 1),
        from = ten_slice(m, offsets, 0, 0, segments, 1);
    shlo_note_bad(m, ten_compare(m, "LT", next, from));
    shlo_note_bad(m, ten_compare(m, "GT", offsets, everywhere(m, offsets, n)));
    shlo_note_bad(m, ten_compare(m, "LT", offsets, everywhere(m, offsets, 0)));
    ten segment = shlo_begun(m, offsets, n);
    uint64_t whole[3] = {1, segments, inner};
    uint16_t fn = c->call->fn;
    if (ten_is_float(type) && (fn == HG_OP_MIN || fn == HG_OP_MAX))
        ten_refuse(m, "the smallest or largest float of segments");
    ten start = ten_shape(sum, 3, whole);
    start = fn == HG_OP_ADD ? ten_number(m, start, 0) : shlo_neutral(m, fn, start);
    const char *op = fn == HG_OP_ADD   ? "add"
                     : fn == HG_OP_MUL ? "multiply"
                     : fn == HG_OP_MIN ? "minimum"
                                       : "maximum";
    shlo_out(c, "output", ten_convert(m, ten_scatter(m, start, segment, a, op, false), type));
}

ten shlo_begun(ten_module *m, ten offsets, uint64_t n) {
    uint64_t count = offsets.extents[0], all[3] = {1, n + 1, 1}, each[3] = {1, count, 1};
    ten marks = ten_number(m, ten_shape(HG_TYPE_I64, 3, all), 0),
        one = ten_number(m, ten_shape(HG_TYPE_I64, 3, each), 1);
    marks = ten_scatter(m, marks, offsets, one, "add", false);
    for (uint64_t by = 1; by <= n; by *= 2) {
        ten none = ten_number(m, ten_shape(HG_TYPE_I64, 0, NULL), 0),
            before = ten_pad_axis(m, ten_slice(m, marks, 1, 0, n + 1 - by, 1), none, 1, by, 0);
        marks = ten_binary(m, "add", marks, before);
    }
    marks = ten_reshape(m, ten_slice(m, marks, 1, 0, n, 1), 1, &n);
    ten segment = ten_binary(m, "subtract", marks, everywhere(m, marks, 1)),
        none = ten_compare(m, "LT", segment, everywhere(m, segment, 0));
    return ten_select(m, none, everywhere(m, segment, count - 1), segment);
}

/* ---- sort, top_k ---- */

/* Numbers that have the order of the elements: NaNs are the largest, -0 is 0. */
static ten keys_of(ten_module *m, ten a) {
    if (!ten_is_float(a.type)) return a;
    if (ten_sum_type(a.type) != a.type) a = ten_convert(m, a, HG_TYPE_F32);
    ten bits = ten_bits(m, a, a.type == HG_TYPE_F64 ? HG_TYPE_I64 : HG_TYPE_I32),
        like = ten_like(bits, bits.type), minus = ten_compare(m, "EQ", bits, ten_lowest(m, like)),
        key = ten_select(m, minus, everywhere(m, bits, 0), shlo_in_order(m, bits));
    return ten_select(m, ten_is_nan(m, a), ten_highest(m, like), key);
}

void shlo_sort(shlo_call *c) {
    ten_module *m = c->m;
    bool top = c->call->op == HG_OP_TOP_K,
         down = top ? !shlo_flag(c, "smallest") : shlo_flag(c, "descending");
    ten a = shlo_in(c, "input"), key = keys_of(m, a);
    uint64_t kept = top ? shlo_size(c, "k") : a.extents[1];
    uint8_t index = shlo_flag(c, "wide") ? HG_TYPE_I64 : HG_TYPE_U32;
    ten operands[3] = {key, a, ten_iota(m, ten_like(a, index), 1)};
    ten_sort(m, 3, operands, 1, down);
    if (shlo_has(c, "output")) shlo_out(c, "output", ten_slice(m, operands[1], 1, 0, kept, 1));
    if (shlo_has(c, "indices")) shlo_out(c, "indices", ten_slice(m, operands[2], 1, 0, kept, 1));
}

/* ---- caches ---- */

/* New places side by side, from one on that the run tells. */
static void update_at(shlo_call *c) {
    ten_module *m = c->m;
    ten old = shlo_memory_of(c, "cache"), more = shlo_pattern(m, shlo_in(c, "new_kv")),
        memory = shlo_pattern(m, old);
    uint64_t have = ten_count(old), count = ten_count(more),
             place = count / shlo_size(c, "seq_len");
    ten from = ten_binary(m, "multiply", c->o->position, ten_integer(m, c->o->position, place));
    memory = ten_update_at(m, ten_reshape(m, memory, 1, &have), ten_reshape(m, more, 1, &count),
                           from);
    shlo_out_memory(c, "cache", ten_bits(m, memory, old.type));
}

/* The first places of the cache up to the last new one; what lies behind stays (shlo_out). */
void shlo_kv_cache(shlo_call *c) {
    if (c->o->position.name) {
        update_at(c);
        return;
    }
    ten cache = shlo_in(c, "cache"), more = shlo_in(c, "new_kv");
    const uint64_t at[] = {shlo_size(c, "position"), 0, 0, 0};
    ten r = ten_update(c->m, shlo_pattern(c->m, cache), shlo_pattern(c->m, more), at);
    shlo_out(c, "cache", ten_bits(c->m, r, cache.type));
}

/* ---- one device ---- */

void shlo_all_reduce(shlo_call *c) { shlo_out(c, "buffer", shlo_in(c, "buffer")); }
void shlo_all_gather(shlo_call *c) { shlo_out(c, "output", shlo_in(c, "input")); }

/* Values of a rank's graph: as a part, as a whole, as an array that is combined; how one becomes
 * the other. Must not know: which calls read them. */
#include "graph/passes.h"
#include "graph/shard_internal.h"
#include "graph/strides.h"
#include <stdio.h>

static bool is_split(shard_place p) { return p.kind == GRAPH_SPLIT; }

/* ---- places ---- */

shard_axes shard_axes_of(const shard *s, uint32_t value, uint32_t axis) {
    const graph_value *v = &s->g->values.data[value];
    shard_axes a = {1, 1, 1};
    for (uint32_t d = 0; d < v->rank; d++) {
        uint64_t *to = d < axis ? &a.outer : d > axis ? &a.inner : &a.extent;
        *to = plan_times(*to, shard_extent(s, value, d));
    }
    return a;
}

/* Where a rank's part begins when all but the last ones are as large. */
static uint64_t even_start(uint64_t extent, uint64_t part, uint32_t rank) {
    uint64_t start = plan_times(part, rank);
    return start < extent ? start : extent;
}

static void measure(const shard *s, shard_cut *cut) {
    uint64_t extent = cut->starts[s->ranks];
    cut->even = true;
    for (uint32_t r = 0; r < s->ranks; r++)
        if (cut->starts[r + 1] - cut->starts[r] > cut->most)
            cut->most = cut->starts[r + 1] - cut->starts[r];
    for (uint32_t r = 0; r < s->ranks; r++)
        cut->even &= cut->starts[r] == even_start(extent, cut->most, r);
}

hg_status shard_keep_cut(shard *s, const uint64_t *starts, uint32_t *cut) {
    size_t bytes = ((size_t)s->ranks + 1) * sizeof *starts;
    for (uint32_t i = 0; i < s->cuts.count; i++)
        if (memcmp(s->cuts.data[i].starts, starts, bytes) == 0) {
            *cut = i;
            return HG_OK;
        }
    uint64_t *kept = hg_arena_alloc(&s->arena, bytes);
    shard_cut *to = kept ? hg_vec_push(&s->cuts) : NULL;
    if (!to) return hg_fail_memory();
    memcpy(kept, starts, bytes);
    to->starts = kept;
    measure(s, to);
    *cut = (uint32_t)(s->cuts.count - 1);
    return HG_OK;
}

static hg_status say_cuts(const shard *s, uint32_t value, const graph_place *place, uint64_t extent,
                          uint64_t *starts) {
    const graph_value *v = &s->g->values.data[value];
    if (place->cut_count + 1 != s->ranks)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.100s is split at %u places, which makes %u parts: there are %u ranks",
                       v->name ? v->name : "a value", (unsigned)place->cut_count,
                       (unsigned)place->cut_count + 1, (unsigned)s->ranks);
    for (uint32_t i = 0; i < place->cut_count; i++) {
        starts[i + 1] = s->sizes[s->g->items.data[place->first_cut + i]];
        if (starts[i + 1] < starts[i] || starts[i + 1] > extent)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.100s is split at %llu: from %llu to %llu expected",
                           v->name ? v->name : "a value", (unsigned long long)starts[i + 1],
                           (unsigned long long)starts[i], (unsigned long long)extent);
    }
    return HG_OK;
}

/* The nearest place: a third of 2^20 is not a whole number. */
static uint64_t shared_start(uint64_t extent, uint64_t share) {
    const uint64_t unit = GRAPH_SHARES;
    return extent / unit * share + (extent % unit * share + unit / 2) / unit;
}

void shard_even_starts(const shard *s, uint64_t extent, uint64_t *starts) {
    const uint32_t *shares = s->options->shares;
    uint64_t part = extent / s->ranks + (extent % s->ranks != 0);
    for (uint32_t r = 0; r <= s->ranks; r++)
        starts[r] = shares ? shared_start(extent, shares[r]) : even_start(extent, part, r);
}

hg_status shard_place_of(shard *s, uint32_t value, shard_place *place) {
    const graph_place *said = &s->g->values.data[value].place;
    *place = (shard_place){.kind = said->kind, .axis = said->axis, .operation = said->operation};
    if (s->ranks == 1) place->kind = GRAPH_WHOLE;
    if (said->kind != GRAPH_SPLIT) return HG_OK;
    uint64_t extent = shard_extent(s, value, said->axis),
             *starts = hg_calloc((size_t)s->ranks + 1, sizeof *starts);
    if (!starts) return hg_fail_memory();
    starts[s->ranks] = extent;
    hg_status status = HG_OK;
    if (said->cut_count)
        status = say_cuts(s, value, said, extent, starts);
    else
        shard_even_starts(s, extent, starts);
    if (status == HG_OK) status = shard_keep_cut(s, starts, &place->cut);
    hg_free(starts);
    return status;
}

/* ---- values of the rank's graph ---- */

static hg_status set_extent(shard *s, graph_extent *to, uint64_t n) {
    *to = graph_number(s->to, n);
    return *to == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

/* In the text of the rank's graph. */
static hg_status say_place(shard *s, shard_place place, graph_place *said) {
    *said = (graph_place){.kind = place.kind, .axis = place.axis, .operation = place.operation};
    if (!is_split(place) || s->cuts.data[place.cut].even) return HG_OK;
    said->first_cut = (uint32_t)s->to->items.count;
    said->cut_count = s->ranks - 1;
    for (uint32_t r = 1; r < s->ranks; r++) {
        graph_extent *to = hg_vec_push(&s->to->items);
        if (!to) return hg_fail_memory();
        HG_TRY(set_extent(s, to, s->cuts.data[place.cut].starts[r]));
    }
    return HG_OK;
}

/* The shape of a value of g where it lies so. */
static hg_status local_shape(shard *s, uint32_t value, shard_place place, graph_value *v) {
    const graph_value *whole = &s->g->values.data[value];
    v->type = whole->type;
    v->rank = whole->rank;
    for (uint32_t d = 0; d < whole->rank; d++) {
        bool cut = is_split(place) && place.axis == d;
        HG_TRY(set_extent(s, &v->extents[d],
                          cut ? shard_length(s, place.cut) : shard_extent(s, value, d)));
    }
    return say_place(s, place, &v->place);
}

hg_status shard_add_local(shard *s, uint32_t value, shard_place place, graph_source source,
                          const char *name, uint32_t *local) {
    graph_value v = {.source = (uint8_t)source, .line = s->g->values.data[value].line};
    HG_TRY(local_shape(s, value, place, &v));
    return graph_add_value(s->to, &v, name, name ? strlen(name) : 0, local);
}

hg_status shard_add_form(shard *s, uint32_t value, shard_place place, uint32_t local) {
    shard_form *to = hg_vec_push(&s->forms);
    uint32_t *last = &s->first[value];
    if (!to) return hg_fail_memory();
    *to = (shard_form){place, local, GRAPH_NOT_SET};
    while (*last != GRAPH_NOT_SET) last = &s->forms.data[*last].next;
    *last = (uint32_t)(s->forms.count - 1);
    return HG_OK;
}

/* A value whose elements lie one after another: itself or a copy. */
static hg_status flat(shard *s, uint32_t local, uint32_t *to) {
    *to = local;
    return s->to->values.data[local].strided ? graph_append_copy(s->to, local, 0, to) : HG_OK;
}

/* A view with numbers. strides NULL: elements one after another, of a value that is so too. */
static hg_status view(shard *s, uint32_t of, uint64_t offset, uint32_t rank,
                      const uint64_t *extents, const uint64_t *strides, uint32_t *made) {
    graph_value v = {
        .source = GRAPH_VIEW, .type = s->to->values.data[of].type, .rank = (uint8_t)rank, .of = of};
    HG_TRY(set_extent(s, &v.offset, offset));
    for (uint32_t d = 0; d < rank; d++) {
        HG_TRY(set_extent(s, &v.extents[d], extents[d]));
        if (strides) HG_TRY(set_extent(s, &v.strides[d], strides[d]));
    }
    if (strides) HG_TRY(graph_set_strides(s->to, &v));
    return graph_add_value(s->to, &v, NULL, 0, made);
}

/* A flat value in the whole shape of a value of g, whose cut axis has `have` elements in memory. */
static hg_status shaped(shard *s, uint32_t of, uint32_t value, uint32_t axis, uint64_t have,
                        uint64_t start, uint64_t length, uint32_t *made) {
    const graph_value *v = &s->g->values.data[value];
    uint64_t extents[PLAN_MAX_RANK], strides[PLAN_MAX_RANK], stride = 1, offset = 0;
    for (uint32_t d = v->rank; d-- > 0;) {
        extents[d] = d == axis ? length : shard_extent(s, value, d);
        strides[d] = stride;
        if (d == axis) offset = plan_times(start, stride);
        stride = plan_times(stride, d == axis ? have : extents[d]);
    }
    bool empty = false;
    for (uint32_t d = 0; d < v->rank; d++) empty |= extents[d] == 0;
    return view(s, of, empty ? 0 : offset, v->rank, extents,
                axis == PLAN_MAX_RANK || have == length ? NULL : strides, made);
}

hg_status shard_shaped(shard *s, uint32_t local, uint32_t value, uint32_t *made) {
    HG_TRY(flat(s, local, &local));
    return shaped(s, local, value, PLAN_MAX_RANK, 0, 0, 0, made);
}

/* ---- calls ---- */

/* A call whose first operand is its result. */
typedef struct made_call {
    shard *s;
    graph_call call;
    graph_operand operands[HG_MAX_OPERANDS];
    uint32_t count;
    const char *name; /* of its result; NULL: none */
} made_call;

static hg_status add(made_call *c, const char *name, graph_operand_kind kind, uint64_t number) {
    const hg_op_info *row = hg_op_get((hg_op)c->call.op);
    uint32_t i = 0, at = c->count++;
    graph_extent e = (graph_extent)number;
    while (i < row->operand_count && strcmp(row->operands[i].name, name) != 0) i++;
    if (kind == GRAPH_COUNT) HG_TRY(set_extent(c->s, &e, number));
    for (; at > 0 && c->operands[at - 1].operand > i; at--) c->operands[at] = c->operands[at - 1];
    c->operands[at] = (graph_operand){.operand = (uint8_t)i, .kind = (uint8_t)kind, .number = e};
    return HG_OK;
}

static hg_status end(made_call *c, uint32_t rank, const uint64_t *extents, uint32_t *made) {
    graph_value v = {.source = GRAPH_RESULT, .type = c->call.type, .rank = (uint8_t)rank};
    for (uint32_t d = 0; d < rank; d++) HG_TRY(set_extent(c->s, &v.extents[d], extents[d]));
    HG_TRY(graph_add_value(c->s->to, &v, c->name, c->name ? strlen(c->name) : 0, made));
    HG_TRY(
        graph_add_parts(c->s->to, &c->call, c->operands, c->count, &(graph_result){0, *made}, 1));
    return graph_append(c->s->to, &c->call);
}

static hg_status exchange(shard *s, hg_op op, uint32_t input, uint64_t n, uint32_t operation,
                          uint32_t rank, const uint64_t *extents, uint32_t *made) {
    made_call c = {
        .s = s,
        .call = {.op = (uint16_t)op, .type = s->to->values.data[input].type, .writes_more = true}};
    HG_TRY(add(&c, op == HG_OP_ALL_REDUCE ? "buffer" : "input", GRAPH_ARRAY, input));
    HG_TRY(add(&c, "n", GRAPH_COUNT, n));
    if (op != HG_OP_ALL_GATHER) HG_TRY(add(&c, "operation", GRAPH_NAME, operation));
    return end(&c, rank, extents, made);
}

hg_status shard_broadcast(shard *s, uint32_t input, uint32_t from, uint32_t to, const char *name,
                          uint32_t *made) {
    const graph_value *v = &s->to->values.data[input];
    made_call c = {.s = s,
                   .call = {.op = HG_OP_BROADCAST, .type = v->type, .writes_more = true},
                   .name = name};
    uint64_t extents[PLAN_MAX_RANK], n = 1, first = s->to->items.count;
    uint32_t rank = v->rank;
    for (uint32_t d = 0; d < rank; d++) {
        extents[d] = shard_local_extent(s, input, d);
        n *= extents[d];
    }
    HG_TRY(add(&c, "buffer", GRAPH_ARRAY, input));
    HG_TRY(add(&c, "n", GRAPH_COUNT, n));
    HG_TRY(add(&c, "root", GRAPH_COUNT, from));
    for (uint32_t i = 0; i < 2 && to != SHARD_ALL_RANKS; i++) {
        graph_extent *e = hg_vec_push(&s->to->items);
        if (!e) return hg_fail_memory();
        HG_TRY(set_extent(s, e, i ? to : from));
    }
    if (to != SHARD_ALL_RANKS) {
        HG_TRY(add(&c, "devices", GRAPH_TUPLE, 2));
        for (uint32_t i = 0; i < c.count; i++)
            if (c.operands[i].kind == GRAPH_TUPLE) c.operands[i].first = (uint32_t)first;
    }
    return end(&c, rank, extents, made);
}

hg_status shard_put_rows(shard *s, uint32_t whole, uint32_t rows, uint64_t at, uint32_t *made) {
    const graph_value v = s->to->values.data[whole];
    uint64_t extents[PLAN_MAX_RANK], all = shard_local_extent(s, whole, 0),
                                     some = shard_local_extent(s, rows, 0), row = 1;
    made_call c = {.s = s, .call = {.op = HG_OP_KV_CACHE_UPDATE, .type = v.type}};
    for (uint32_t d = 0; d < v.rank; d++) extents[d] = shard_local_extent(s, whole, d);
    for (uint32_t d = 1; d < v.rank; d++) row *= extents[d];
    HG_TRY(view(s, whole, 0, 4, (uint64_t[]){all, 1, 1, row}, NULL, &whole));
    HG_TRY(view(s, rows, 0, 4, (uint64_t[]){some, 1, 1, row}, NULL, &rows));
    HG_TRY(add(&c, "cache", GRAPH_ARRAY, whole));
    HG_TRY(add(&c, "new_kv", GRAPH_ARRAY, rows));
    HG_TRY(add(&c, "position", GRAPH_COUNT, at));
    HG_TRY(add(&c, "seq_len", GRAPH_COUNT, some));
    HG_TRY(add(&c, "batch", GRAPH_COUNT, 1));
    HG_TRY(add(&c, "heads", GRAPH_COUNT, 1));
    HG_TRY(add(&c, "head_dim", GRAPH_COUNT, row));
    HG_TRY(end(&c, 4, (uint64_t[]){all, 1, 1, row}, &whole));
    return view(s, whole, 0, v.rank, extents, NULL, made);
}

/* [outer, n, inner] with elements of its middle axis by their numbers. The list is kept with the
 * graph. */
static hg_status pick(shard *s, uint32_t input, shard_axes a, const uint32_t *places,
                      uint64_t count, uint32_t *made) {
    graph_value list = {.source = GRAPH_CONSTANT, .type = HG_TYPE_U32, .rank = 1, .bytes = places};
    made_call c = {.s = s, .call = {.op = HG_OP_GATHER, .type = s->to->values.data[input].type}};
    char name[32];
    size_t length;
    uint32_t indices, number = (uint32_t)s->to->values.count;
    do length = (size_t)snprintf(name, sizeof name, "places_%u", (unsigned)number++);
    while (graph_find_value(s->g, name, length) != GRAPH_NOT_SET ||
           graph_find_value(s->to, name, length) != GRAPH_NOT_SET ||
           graph_find_symbol(s->g, name, length) != GRAPH_NOT_SET);
    HG_TRY(view(s, input, 0, 3, (uint64_t[]){a.outer, a.extent, a.inner}, NULL, &input));
    HG_TRY(set_extent(s, &list.extents[0], count));
    HG_TRY(graph_add_value(s->to, &list, name, length, &indices));
    HG_TRY(add(&c, "input", GRAPH_ARRAY, input));
    HG_TRY(add(&c, "indices", GRAPH_ARRAY, indices));
    HG_TRY(add(&c, "n", GRAPH_COUNT, a.extent));
    HG_TRY(add(&c, "count", GRAPH_COUNT, count));
    HG_TRY(add(&c, "outer", GRAPH_COUNT, a.outer));
    HG_TRY(add(&c, "inner", GRAPH_COUNT, a.inner));
    return end(&c, 3, (uint64_t[]){a.outer, count, a.inner}, made);
}

/* Where the graph is only counted nobody reads it: `listed` is how much of it is filled. */
static uint64_t listed(const shard *s, uint64_t count) { return s->options->no_arrays ? 0 : count; }

static uint32_t *places(shard *s, uint64_t count) {
    if (count > UINT32_MAX) {
        HG_IGNORE(hg_fail(HG_ERROR_INVALID_ARGUMENT,
                          "an axis of %llu elements in parts of several sizes: at most 2^32 - 1",
                          (unsigned long long)count));
        return NULL;
    }
    uint32_t *list = hg_arena_alloc(&s->to->arena, (size_t)listed(s, count) * sizeof *list + 1);
    if (!list) HG_IGNORE(hg_fail_memory());
    return list;
}

/* [outer, a, inner] as [a, outer, inner] or back, where an axis is [many, each]: from blocks of
 * ranks one after another to their places in rows, or the other way round. */
static hg_status turn(shard *s, uint32_t of, uint64_t first, uint64_t second, uint64_t each,
                      uint32_t *made) {
    uint64_t extents[3] = {second, first, each}, strides[3] = {each, plan_times(second, each), 1};
    uint32_t turned;
    HG_TRY(view(s, of, 0, 3, extents, strides, &turned));
    return flat(s, turned, made);
}

/* ---- from one place to another ---- */

uint64_t shard_local_extent(const shard *s, uint32_t local, uint32_t axis) {
    uint64_t n = 0; /* a rank's graph has numbers alone */
    (void)graph_is_number(s->to, s->to->values.data[local].extents[axis], &n);
    return n;
}

hg_status shard_slice(shard *s, uint32_t local, uint32_t axis, uint64_t start, uint64_t length,
                      uint32_t *made) {
    const graph_value *v = &s->to->values.data[local];
    uint64_t extents[PLAN_MAX_RANK], strides[PLAN_MAX_RANK], offset = 0, stride = 1;
    bool empty = length == 0;
    for (uint32_t d = v->rank; d-- > 0;) {
        extents[d] = shard_local_extent(s, local, d);
        strides[d] = stride;
        if (v->strided && !graph_is_number(s->to, v->strides[d], &strides[d])) strides[d] = 0;
        stride = plan_times(stride, extents[d]);
        empty |= extents[d] == 0;
    }
    if (!empty) offset = start * strides[axis];
    extents[axis] = length;
    return view(s, local, offset, v->rank, extents, strides, made);
}

/* A part as long as the largest; what is behind it is of no meaning. */
static hg_status pad(shard *s, uint32_t local, shard_axes a, uint32_t cut, uint32_t *made) {
    uint64_t most = s->cuts.data[cut].most, own = shard_length(s, cut);
    HG_TRY(flat(s, local, made));
    if (own == most) return HG_OK;
    if (own == 0) {
        graph_value like = {.type = s->to->values.data[local].type, .rank = 3};
        HG_TRY(set_extent(s, &like.extents[0], a.outer));
        HG_TRY(set_extent(s, &like.extents[1], most));
        HG_TRY(set_extent(s, &like.extents[2], a.inner));
        return graph_append_zeros(s->to, &like, made);
    }
    uint32_t *list = places(s, most);
    if (!list) return hg_error_record()->status;
    for (uint64_t i = 0; i < listed(s, most); i++) list[i] = (uint32_t)(i < own ? i : own - 1);
    return pick(s, *made, (shard_axes){a.outer, own, a.inner}, list, most, made);
}

/* Each element of [outer, ranks * most, inner] that is one of the whole, in order. */
static hg_status close_gaps(shard *s, uint32_t value, uint32_t axis, uint32_t cut, uint32_t local,
                            uint32_t *made) {
    shard_axes a = shard_axes_of(s, value, axis);
    const uint64_t *starts = s->cuts.data[cut].starts;
    uint64_t most = s->cuts.data[cut].most, all = most * s->ranks;
    if (s->cuts.data[cut].even) return shaped(s, local, value, axis, all, 0, a.extent, made);
    uint32_t *list = places(s, a.extent);
    if (!list) return hg_error_record()->status;
    for (uint32_t r = 0; r < s->ranks; r++)
        for (uint64_t i = 0; i < listed(s, starts[r + 1] - starts[r]); i++)
            list[starts[r] + i] = (uint32_t)(r * most + i);
    HG_TRY(pick(s, local, (shard_axes){a.outer, all, a.inner}, list, a.extent, made));
    return shaped(s, *made, value, axis, a.extent, 0, a.extent, made);
}

static hg_status gather(shard *s, uint32_t value, const shard_form *from, uint32_t *made) {
    shard_axes a = shard_axes_of(s, value, from->place.axis);
    uint64_t most = s->cuts.data[from->place.cut].most, row = plan_times(most, a.inner),
             block = plan_times(a.outer, row);
    uint32_t local;
    if (block == 0) { /* nobody has anything */
        HG_TRY(flat(s, from->local, &local));
        return shaped(s, local, value, from->place.axis, a.extent, 0, a.extent, made);
    }
    HG_TRY(pad(s, from->local, a, from->place.cut, &local));
    HG_TRY(
        exchange(s, HG_OP_ALL_GATHER, local, block, 0, 2, (uint64_t[]){s->ranks, block}, &local));
    if (a.outer != 1) HG_TRY(turn(s, local, s->ranks, a.outer, row, &local));
    return close_gaps(s, value, from->place.axis, from->place.cut, local, made);
}

static uint64_t elements_of(const shard *s, uint32_t value) {
    return s->sizes[s->g->values.data[value].elements];
}

static hg_status combine(shard *s, uint32_t value, const shard_form *from, uint32_t *made) {
    const graph_value *v = &s->g->values.data[value];
    uint64_t extents[PLAN_MAX_RANK];
    uint32_t local;
    HG_TRY(flat(s, from->local, &local));
    for (uint32_t d = 0; d < v->rank; d++) extents[d] = shard_extent(s, value, d);
    return exchange(s, HG_OP_ALL_REDUCE, local, elements_of(s, value), from->place.operation,
                    v->rank, extents, made);
}

/* The blocks for the ranks one after another, each as large as the largest. */
static hg_status scatter(shard *s, uint32_t value, const shard_form *from, shard_place place,
                         uint32_t *made) {
    shard_axes a = shard_axes_of(s, value, place.axis);
    const uint64_t *starts = s->cuts.data[place.cut].starts;
    uint64_t most = s->cuts.data[place.cut].most, row = plan_times(most, a.inner),
             block = plan_times(a.outer, row), own = shard_length(s, place.cut);
    uint32_t local;
    HG_TRY(flat(s, from->local, &local));
    if (most * s->ranks != a.extent) {
        uint32_t *list = places(s, most * s->ranks);
        if (!list) return hg_error_record()->status;
        for (uint64_t i = 0; i < listed(s, most * s->ranks); i++) {
            uint64_t at = starts[i / most] + i % most;
            list[i] = (uint32_t)(at < a.extent ? at : a.extent - 1);
        }
        HG_TRY(pick(s, local, a, list, most * s->ranks, &local));
    }
    if (a.outer != 1) HG_TRY(turn(s, local, a.outer, s->ranks, row, &local));
    HG_TRY(exchange(s, s->scatter, local, block, from->place.operation, 1, &block, &local));
    return shaped(s, local, value, place.axis, most, 0, own, made);
}

static bool has_scatter(const shard *s, uint32_t value, shard_place place) {
    return s->scatter != HG_OP_NONE && elements_of(s, value) != 0 && is_split(place);
}

/* Bytes that ranks send for one way. */
static uint64_t way_cost(const shard *s, uint32_t value, shard_place from, shard_place to) {
    uint64_t others = s->ranks - 1,
             bytes = plan_times(elements_of(s, value), graph_type_bytes(&s->g->values.data[value]));
    if (shard_same(from, to) || from.kind == GRAPH_WHOLE) return 0;
    if (is_split(from)) {
        shard_axes a = shard_axes_of(s, value, from.axis);
        uint64_t block = plan_times(plan_times(a.outer, a.inner), s->cuts.data[from.cut].most);
        bytes = plan_times(block, graph_type_bytes(&s->g->values.data[value]));
        return plan_times(bytes, others * s->ranks);
    }
    if (!has_scatter(s, value, to)) return plan_times(bytes, 2 * others);
    shard_axes a = shard_axes_of(s, value, to.axis);
    uint64_t block = plan_times(plan_times(a.outer, a.inner), s->cuts.data[to.cut].most);
    bytes = plan_times(block, graph_type_bytes(&s->g->values.data[value]));
    return plan_times(bytes, others * s->ranks);
}

static const shard_form *cheapest(const shard *s, uint32_t value, shard_place place) {
    const shard_form *best = NULL;
    for (uint32_t i = s->first[value]; i != GRAPH_NOT_SET; i = s->forms.data[i].next) {
        const shard_form *f = &s->forms.data[i];
        if (shard_same(f->place, place)) return f;
        if (f->place.kind == GRAPH_WHOLE || !best ||
            (best->place.kind != GRAPH_WHOLE &&
             way_cost(s, value, f->place, place) < way_cost(s, value, best->place, place)))
            best = f;
    }
    return best;
}

/* A view whose array has no place that is one of the view is taken of the whole array. */
uint64_t shard_cost(const shard *s, uint32_t value, shard_place place) {
    for (;; value = s->g->values.data[value].of, place = (shard_place){GRAPH_WHOLE, 0, 0, 0}) {
        const shard_form *from = cheapest(s, value, place);
        if (from) return way_cost(s, value, from->place, place);
        if (s->g->values.data[value].source != GRAPH_VIEW) return 0;
    }
}

/* ---- views ---- */

/* A view of an array whole: the same. */
static hg_status whole_view(shard *s, uint32_t number, uint32_t local, uint32_t *made) {
    const graph_value *v = &s->g->values.data[number];
    uint64_t extents[PLAN_MAX_RANK], strides[PLAN_MAX_RANK];
    HG_TRY(flat(s, local, &local));
    for (uint32_t d = 0; d < v->rank; d++) {
        extents[d] = shard_extent(s, number, d);
        if (v->strided) strides[d] = s->sizes[v->strides[d]];
    }
    return view(s, local, s->sizes[v->offset], v->rank, extents, v->strided ? strides : NULL, made);
}

/* The same elements in another shape: an axis of it that is cut where the array is. */
static bool find_axis(const shard *s, uint32_t number, shard_place of, uint64_t *starts,
                      uint32_t *axis) {
    const graph_value *v = &s->g->values.data[number];
    shard_axes a = shard_axes_of(s, v->of, of.axis);
    if (s->sizes[v->offset] || elements_of(s, number) != elements_of(s, v->of)) return false;
    for (uint32_t d = 0; d < v->rank; d++) {
        shard_axes b = shard_axes_of(s, number, d);
        bool fits = b.outer == a.outer;
        for (uint32_t r = 0; r <= s->ranks && fits; r++) {
            uint64_t at = s->cuts.data[of.cut].starts[r] * a.inner;
            fits = at % b.inner == 0;
            starts[r] = at / b.inner;
        }
        *axis = d;
        if (fits) return true;
    }
    return false;
}

static hg_status flat_view(shard *s, uint32_t number, const shard_form *of, uint64_t *starts) {
    const graph_value *v = &s->g->values.data[number];
    shard_place place = {.kind = GRAPH_SPLIT};
    uint64_t extents[PLAN_MAX_RANK];
    uint32_t axis, local = of->local, made;
    if (!find_axis(s, number, of->place, starts, &axis)) return HG_OK;
    place.axis = (uint8_t)axis;
    HG_TRY(shard_keep_cut(s, starts, &place.cut));
    HG_TRY(flat(s, local, &local));
    for (uint32_t d = 0; d < v->rank; d++)
        extents[d] = d == axis ? shard_length(s, place.cut) : shard_extent(s, number, d);
    HG_TRY(view(s, local, 0, v->rank, extents, NULL, &made));
    return shard_add_form(s, number, place, made);
}

/* Axes in another order, repeated ones: each axis of the view is one of the array, or repeats. */
static hg_status strided_view(shard *s, uint32_t number, const shard_form *of) {
    const graph_value *v = &s->g->values.data[number], *base = &s->g->values.data[v->of];
    uint64_t extents[PLAN_MAX_RANK], strides[PLAN_MAX_RANK], whole[PLAN_MAX_RANK],
        parts[PLAN_MAX_RANK], stride = 1, part = 1;
    uint32_t local, made;
    int cut = -1;
    if (s->sizes[v->offset] || base->strided) return HG_OK;
    for (uint32_t d = base->rank; d-- > 0;) {
        whole[d] = stride;
        parts[d] = part;
        stride = plan_times(stride, shard_extent(s, v->of, d));
        part = plan_times(part, d == of->place.axis ? shard_length(s, of->place.cut)
                                                    : shard_extent(s, v->of, d));
    }
    for (uint32_t d = 0; d < v->rank; d++) {
        extents[d] = shard_extent(s, number, d);
        strides[d] = 0;
        if (extents[d] == 1 || s->sizes[v->strides[d]] == 0) continue;
        uint32_t b = 0;
        while (b < base->rank &&
               (whole[b] != s->sizes[v->strides[d]] || shard_extent(s, v->of, b) != extents[d]))
            b++;
        if (b == base->rank || (b == of->place.axis && cut >= 0)) return HG_OK;
        strides[d] = parts[b];
        if (b == of->place.axis) cut = (int)d;
    }
    if (cut < 0) return HG_OK;
    extents[cut] = shard_length(s, of->place.cut);
    HG_TRY(flat(s, of->local, &local));
    HG_TRY(view(s, local, 0, v->rank, extents, strides, &made));
    return shard_add_form(s, number, (shard_place){GRAPH_SPLIT, (uint8_t)cut, 0, of->place.cut},
                          made);
}

hg_status shard_view_forms(shard *s, uint32_t number) {
    const graph_value *v = &s->g->values.data[number];
    uint64_t *starts = hg_calloc((size_t)s->ranks + 1, sizeof *starts);
    hg_status status = starts ? HG_OK : hg_fail_memory();
    for (uint32_t i = s->first[v->of]; i != GRAPH_NOT_SET && status == HG_OK;
         i = s->forms.data[i].next) {
        const shard_form of = s->forms.data[i];
        uint32_t made;
        if (of.place.kind == GRAPH_WHOLE) {
            status = whole_view(s, number, of.local, &made);
            if (status == HG_OK) status = shard_add_form(s, number, of.place, made);
        } else if (of.place.kind == GRAPH_SPLIT && elements_of(s, number)) {
            status = v->strided ? strided_view(s, number, &of) : flat_view(s, number, &of, starts);
        }
    }
    hg_free(starts);
    return status;
}

/* Kept too: what needs it whole later has it. */
static hg_status whole_of(shard *s, uint32_t value, const shard_form *from, uint32_t *local) {
    const shard_place whole = {.kind = GRAPH_WHOLE};
    HG_TRY(from->place.kind == GRAPH_SPLIT ? gather(s, value, from, local)
                                           : combine(s, value, from, local));
    return shard_add_form(s, value, whole, *local);
}

static hg_status become(shard *s, uint32_t value, shard_place place, uint32_t *local) {
    const shard_form from = *cheapest(s, value, place);
    *local = from.local;
    if (shard_same(from.place, place)) return HG_OK;
    if (from.place.kind == GRAPH_PARTIAL && has_scatter(s, value, place)) {
        HG_TRY(scatter(s, value, &from, place, local));
    } else if (place.kind == GRAPH_SPLIT) {
        if (from.place.kind != GRAPH_WHOLE) HG_TRY(whole_of(s, value, &from, local));
        HG_TRY(shard_slice(s, *local, place.axis, shard_start(s, place.cut),
                           shard_length(s, place.cut), local));
    } else {
        return whole_of(s, value, &from, local);
    }
    return shard_add_form(s, value, place, *local);
}

/* A view of a view … of an array that it has to have whole. */
static hg_status whole_chain(shard *s, uint32_t value) {
    const shard_place whole = {.kind = GRAPH_WHOLE};
    HG_VEC(uint32_t) chain = {0};
    hg_status status = HG_OK;
    uint32_t at = value, local = 0;
    for (; s->first[at] == GRAPH_NOT_SET && status == HG_OK; at = s->g->values.data[at].of) {
        uint32_t *to = hg_vec_push(&chain);
        status = to ? HG_OK : hg_fail_memory();
        if (to) *to = at;
    }
    if (status == HG_OK) status = become(s, at, whole, &local);
    for (uint64_t i = chain.count; i-- > 0 && status == HG_OK;) {
        status = whole_view(s, chain.data[i], local, &local);
        if (status == HG_OK) status = shard_add_form(s, chain.data[i], whole, local);
    }
    hg_vec_free(&chain);
    return status;
}

hg_status shard_want(shard *s, uint32_t value, shard_place place, uint32_t *local) {
    if (s->first[value] == GRAPH_NOT_SET) HG_TRY(whole_chain(s, value));
    return become(s, value, place, local);
}

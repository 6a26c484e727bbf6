/* Sharding: the graph of one rank from a graph whose values say where they lie. Calls are cut along
 * what their operands are cut along; where operands lie elsewhere they are moved, by the way on
 * which the fewest bytes go between ranks, of equal ones by that with less to calculate.
 * Requires: numbers of the symbols. Provides: a graph without symbols, with collectives.
 * Must not know: devices, who carries out collectives. */
#include "graph/memory.h"
#include "graph/passes.h"
#include "graph/shard_internal.h"

static const shard_place WHOLE = {.kind = GRAPH_WHOLE};

/* ---- which way ---- */

typedef struct choice {
    const shard_way *way; /* NULL: whole arrays */
    uint32_t cut;
    uint64_t bytes;
    bool found;     /* an operand is cut so already */
    uint64_t parts; /* how many of the ranks' largest parts the whole is */
} choice;

static shard_place place_along(const shard_array *a, const shard_way *way, uint32_t cut) {
    int axis = way ? shard_axis_along(a, way) : -1;
    if (axis < 0) return WHOLE;
    return (shard_place){GRAPH_SPLIT, (uint8_t)axis, 0, cut};
}

static uint64_t bytes_of(const shard *s, uint32_t value) {
    const graph_value *v = &s->g->values.data[value];
    return plan_times(s->sizes[v->elements], graph_type_bytes(v));
}

/* What it takes to bring the operands there, and to combine a result of parts. */
static uint64_t cost_of(const shard *s, const shard_rule *rule, const choice *c) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < rule->array_count; i++) {
        const shard_array *a = &rule->arrays[i];
        uint64_t more = 0;
        if (!a->result)
            more = shard_cost(s, a->value, place_along(a, c->way, c->cut));
        else if (c->way && c->way->folded)
            more = plan_times(bytes_of(s, a->value), 2 * ((uint64_t)s->ranks - 1));
        if (!hg_add_u64(bytes, more, &bytes)) return UINT64_MAX;
    }
    return bytes;
}

static void consider(const shard *s, const shard_rule *rule, choice next, choice *best) {
    uint64_t most = next.way ? s->cuts.data[next.cut].most : 0,
             extent = next.way ? s->cuts.data[next.cut].starts[s->ranks] : 0;
    next.bytes = cost_of(s, rule, &next);
    next.parts = most ? extent / most : 1;
    bool better = next.bytes < best->bytes ||
                  (next.bytes == best->bytes &&
                   (next.found > best->found ||
                    (next.found == best->found && next.parts > best->parts)));
    if (better) *best = next;
}

/* The ways along which an operand is cut already. */
static void consider_found(const shard *s, const shard_rule *rule, const shard_way *way,
                           choice *best) {
    for (uint32_t i = 0; i < rule->array_count; i++) {
        const shard_array *a = &rule->arrays[i];
        int axis = shard_axis_along(a, way);
        if (a->result || axis < 0) continue;
        for (uint32_t f = s->first[a->value]; f != GRAPH_NOT_SET; f = s->forms.data[f].next) {
            shard_place at = s->forms.data[f].place;
            if (at.kind == GRAPH_SPLIT && at.axis == axis)
                consider(s, rule, (choice){.way = way, .cut = at.cut, .found = true}, best);
        }
    }
}

/* Where operands have to be moved anyway, the ranks may share the work in equal parts. */
static hg_status consider_new(shard *s, const shard_rule *rule, const shard_way *way,
                              choice *best) {
    uint64_t *starts = hg_calloc((size_t)s->ranks + 1, sizeof *starts), extent = 0;
    uint32_t cut;
    if (!starts) return hg_fail_memory();
    for (uint32_t i = 0; i < rule->array_count; i++) {
        int axis = shard_axis_along(&rule->arrays[i], way);
        if (axis >= 0) extent = shard_extent(s, rule->arrays[i].value, (uint32_t)axis);
    }
    shard_even_starts(s, extent, starts);
    hg_status status = shard_keep_cut(s, starts, &cut);
    hg_free(starts);
    if (status == HG_OK) consider(s, rule, (choice){.way = way, .cut = cut}, best);
    return status;
}

static bool all_whole(const shard *s, const shard_rule *rule) {
    for (uint32_t i = 0; i < rule->array_count; i++) {
        uint32_t first = s->first[rule->arrays[i].value];
        if (rule->arrays[i].result) continue;
        if (first == GRAPH_NOT_SET || s->forms.data[first].place.kind != GRAPH_WHOLE ||
            s->forms.data[first].next != GRAPH_NOT_SET)
            return false;
    }
    return true;
}

static hg_status choose(shard *s, const shard_rule *rule, choice *best) {
    *best = (choice){.parts = 1};
    best->bytes = cost_of(s, rule, best);
    if (all_whole(s, rule)) return HG_OK;
    for (uint32_t i = 0; i < rule->way_count; i++) consider_found(s, rule, &rule->ways[i], best);
    for (uint32_t i = 0; i < rule->way_count && best->bytes && !best->found; i++)
        if (!rule->ways[i].folded) HG_TRY(consider_new(s, rule, &rule->ways[i], best));
    return HG_OK;
}

/* ---- calls ---- */

/* A size of the call with a part of one of the extents that it is a product of. */
static uint64_t local_size(const shard *s, const shard_rule *rule, const choice *c,
                           const graph_operand *o, uint64_t number) {
    bool cut = c->way && (o->operand == c->way->size || rule->alias[o->operand] == c->way->size);
    if (!cut) return number;
    uint64_t extent = s->cuts.data[c->cut].starts[s->ranks];
    return extent ? number / extent * shard_length(s, c->cut) : 0;
}

static hg_status local_number(shard *s, uint64_t number, uint32_t *e) {
    *e = graph_number(s->to, number);
    return *e == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

static hg_status local_items(shard *s, graph_operand *o) {
    uint32_t from = o->first;
    o->first = (uint32_t)s->to->items.count;
    for (uint32_t i = 0; i < o->number; i++) {
        graph_extent e, *to;
        HG_TRY(local_number(s, s->sizes[s->g->items.data[from + i]], &e));
        to = hg_vec_push(&s->to->items);
        if (!to) return hg_fail_memory();
        *to = e;
    }
    return HG_OK;
}

static hg_status local_operand(shard *s, const shard_rule *rule, const choice *c,
                               graph_operand *o) {
    const shard_array *a = shard_array_of(rule, o->operand, false);
    switch ((graph_operand_kind)o->kind) {
    case GRAPH_ARRAY:
        return shard_want(s, o->number, a ? place_along(a, c->way, c->cut) : WHOLE, &o->number);
    case GRAPH_COUNT:
        return local_number(s, local_size(s, rule, c, o, s->sizes[o->number]), &o->number);
    case GRAPH_TUPLE:
    case GRAPH_TUPLES: return local_items(s, o);
    default: return HG_OK;
    }
}

/* Where the text says that a result lies elsewhere it is moved there, which is its first form then.
 */
static hg_status add_result(shard *s, uint32_t value, shard_place place, uint32_t local) {
    shard_place said;
    HG_TRY(shard_add_form(s, value, place, local));
    if (s->g->values.data[value].place.kind == GRAPH_WHOLE) return HG_OK;
    if (s->g->values.data[value].place.kind == GRAPH_PARTIAL)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.100s is partial: an input can be, a result is what it comes from",
                       s->g->values.data[value].name ? s->g->values.data[value].name : "a value");
    HG_TRY(shard_place_of(s, value, &said));
    return shard_want(s, value, said, &local);
}

static hg_status add_results(shard *s, const shard_rule *rule, const choice *c,
                             const graph_call *call, graph_result *results, shard_place *places) {
    for (uint32_t i = 0; i < call->result_count; i++) {
        results[i] = s->g->results.data[call->first_result + i];
        uint32_t value = results[i].value;
        const shard_array *a = shard_array_of(rule, results[i].operand, true);
        places[i] = a ? place_along(a, c->way, c->cut) : WHOLE;
        if (c->way && c->way->folded)
            places[i] = (shard_place){GRAPH_PARTIAL, 0, (uint8_t)rule->operation, 0};
        HG_TRY(shard_add_local(s, value, places[i], GRAPH_RESULT, s->g->values.data[value].name,
                               &results[i].value));
    }
    return HG_OK;
}

/* A collective of the graph itself is that of one device: a copy. */
static hg_status add_copy(shard *s, const graph_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    uint32_t array = GRAPH_NOT_SET, devices = 0, result, local;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &s->g->operands.data[call->first_operand + i];
        if (o->kind == GRAPH_ARRAY) array = o->number;
        if (o->kind == GRAPH_TUPLE) devices = o->number;
    }
    result = s->g->results.data[call->first_result].value;
    if (devices > 1 || bytes_of(s, array) != bytes_of(s, result))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s is between ranks already: sharding puts in what is needed", row->text);
    HG_TRY(shard_want(s, array, WHOLE, &local));
    HG_TRY(graph_append_copy(s->to, local, call->line, &local));
    HG_TRY(shard_shaped(s, local, result, &local));
    return shard_add_form(s, result, WHOLE, local);
}

/* The result is whole on each rank. */
static hg_status add_handed_on(shard *s, const graph_call *call, const shard_rule *rule,
                               const graph_operand *operands) {
    uint32_t value = s->g->results.data[call->first_result].value, local;
    HG_TRY(shard_hand_on(s, call, rule, operands, value, &local));
    return add_result(s, value, WHOLE, local);
}

static hg_status add_call(shard *s, const graph_call *call) {
    shard_rule rule;
    choice c;
    graph_call local = *call;
    graph_operand operands[HG_MAX_PARAMS];
    graph_result results[HG_MAX_PARAMS];
    shard_place places[HG_MAX_PARAMS];
    if (graph_is_collective(call)) return add_copy(s, call);
    HG_TRY(shard_find_rule(s, call, &rule));
    if (!rule.way_count) rule.array_count = 0; /* all is whole */
    HG_TRY(choose(s, &rule, &c));
    for (uint32_t i = 0; i < call->operand_count; i++) {
        operands[i] = s->g->operands.data[call->first_operand + i];
        HG_TRY(local_operand(s, &rule, &c, &operands[i]));
    }
    if (c.way && c.way->handed_on) return add_handed_on(s, call, &rule, operands);
    HG_TRY(add_results(s, &rule, &c, call, results, places));
    HG_TRY(
        graph_add_parts(s->to, &local, operands, call->operand_count, results, call->result_count));
    HG_TRY(graph_append(s->to, &local));
    for (uint32_t i = 0; i < call->result_count; i++)
        HG_TRY(add_result(s, s->g->results.data[call->first_result + i].value, places[i],
                          results[i].value));
    return HG_OK;
}

/* ---- inputs, constants, outputs ---- */

/* A rank's part of a constant whose elements are known. */
static hg_status cut_elements(shard *s, uint32_t value, shard_place place, uint32_t local) {
    const graph_value *v = &s->g->values.data[value];
    graph_value *to = &s->to->values.data[local];
    shard_axes a = shard_axes_of(s, value, place.axis);
    uint64_t row = plan_times(a.inner, graph_type_bytes(v)),
             part = plan_times(row, shard_length(s, place.cut)), bytes = plan_times(part, a.outer);
    const uint8_t *from = (const uint8_t *)v->bytes + shard_start(s, place.cut) * row;
    if (s->options->no_arrays || a.outer <= 1) {
        to->bytes = from;
        return HG_OK;
    }
    uint8_t *kept = bytes < SIZE_MAX ? hg_arena_alloc(&s->to->arena, (size_t)bytes + 1) : NULL;
    if (!kept) return hg_fail_memory();
    for (uint64_t i = 0; i < a.outer && part; i++)
        memcpy(kept + i * part, from + i * row * a.extent, (size_t)part);
    to->bytes = kept;
    return HG_OK;
}

static hg_status add_source(shard *s, uint32_t value) {
    const graph_value *v = &s->g->values.data[value];
    shard_place place;
    uint32_t local;
    HG_TRY(shard_place_of(s, value, &place));
    HG_TRY(shard_add_local(s, value, place, (graph_source)v->source, v->name, &local));
    s->to->values.data[local].bytes = v->bytes;
    if (place.kind == GRAPH_WHOLE) s->to->values.data[local].file = v->file;
    if (v->bytes && place.kind == GRAPH_SPLIT) HG_TRY(cut_elements(s, value, place, local));
    return shard_add_form(s, value, place, local);
}

/* Values stand where they are declared: behind the calls before them. */
static hg_status add_values(shard *s) {
    const hg_graph *g = s->g;
    uint64_t done = 0;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        if (v->source == GRAPH_INPUT || v->source == GRAPH_CONSTANT) HG_TRY(add_source(s, i));
        while (v->source == GRAPH_RESULT && v->call != GRAPH_NOT_SET && done <= v->call)
            HG_TRY(add_call(s, &g->calls.data[done++]));
        if (v->source == GRAPH_VIEW && s->first[v->of] != GRAPH_NOT_SET)
            HG_TRY(shard_view_forms(s, i));
    }
    while (done < g->calls.count) HG_TRY(add_call(s, &g->calls.data[done++]));
    return HG_OK;
}

static graph_part part_of(const shard *s, uint32_t value, const char *name, graph_source source,
                          shard_place place) {
    const graph_value *v = &s->g->values.data[value];
    shard_axes a = shard_axes_of(s, value, place.kind == GRAPH_SPLIT ? place.axis : 0);
    graph_part part = {.name = name,
                       .source = source,
                       .type = (hg_type)v->type,
                       .place = place.kind,
                       .operation = (hg_opname)place.operation,
                       .outer = a.outer,
                       .extent = a.extent,
                       .inner = a.inner,
                       .length = a.extent};
    if (place.kind != GRAPH_SPLIT) return part;
    part.axis = place.axis;
    part.start = shard_start(s, place.cut);
    part.length = shard_length(s, place.cut);
    return part;
}

/* An output lies where the text says, else as it was made, combined; or whole where that is asked.
 */
static hg_status output_place(shard *s, uint32_t value, shard_place *place) {
    *place = WHOLE;
    if (s->options->whole_outputs) return HG_OK;
    if (s->g->values.data[value].place.kind == GRAPH_SPLIT) return shard_place_of(s, value, place);
    uint32_t first = s->first[value];
    if (first != GRAPH_NOT_SET && s->forms.data[first].place.kind == GRAPH_SPLIT)
        *place = s->forms.data[first].place;
    return HG_OK;
}

static hg_status add_outputs(shard *s, graph_sharded *sharded) {
    for (uint64_t i = 0; i < s->g->outputs.count; i++) {
        const graph_output *o = &s->g->outputs.data[i];
        shard_place place;
        uint32_t local;
        HG_TRY(output_place(s, o->value, &place));
        HG_TRY(shard_want(s, o->value, place, &local));
        HG_TRY(graph_add_output(s->to, local, o->name, strlen(o->name)));
        sharded->parts[sharded->part_count++] = part_of(s, o->value, o->name, GRAPH_RESULT, place);
    }
    return HG_OK;
}

static void note_sources(const shard *s, graph_sharded *sharded) {
    for (uint32_t i = 0; i < s->g->values.count; i++) {
        const graph_value *v = &s->g->values.data[i];
        if (v->source != GRAPH_INPUT && v->source != GRAPH_CONSTANT) continue;
        sharded->parts[sharded->part_count++] = part_of(s, i, v->name, (graph_source)v->source,
                                                        s->forms.data[s->first[i]].place);
    }
}

/* Ranks whose parts are as long, and begin where memory is aligned as much, have equal graphs. */
static uint64_t kind_of(const shard *s, uint32_t rank) {
    uint64_t h = 0;
    for (uint64_t i = 0; i < s->cuts.count; i++) {
        const uint64_t *starts = s->cuts.data[i].starts;
        h = (h ^ (starts[rank + 1] - starts[rank])) * UINT64_C(0x9E3779B97F4A7C15);
        h = (h ^ h >> 29 ^ starts[rank] % GRAPH_ALIGN) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    return h ^ h >> 32;
}

static void find_alike(const shard *s, graph_sharded *sharded) {
    for (uint32_t r = 0; sharded->kinds && r < s->ranks; r++) {
        uint64_t end = r == 0 ? 1 : r + 1 == s->ranks ? 2 : 3;
        sharded->kinds[r] = kind_of(s, r) ^ (s->handed_on ? end << 62 : 0);
    }
}

/* ---- all of it ---- */

static hg_status begin(shard *s, graph_sharded *sharded) {
    const hg_graph *g = s->g;
    uint64_t parts = g->outputs.count + 1;
    for (uint64_t i = 0; i < g->values.count; i++)
        parts += g->values.data[i].source == GRAPH_INPUT ||
                 g->values.data[i].source == GRAPH_CONSTANT;
    s->to = hg_graph_create(g->name);
    s->first = hg_alloc((size_t)(g->values.count + 1) * sizeof *s->first);
    sharded->parts = hg_calloc((size_t)parts, sizeof *sharded->parts);
    if (!s->to || !s->first || !sharded->parts) return hg_fail_memory();
    s->to->origin = hg_graph_retain((hg_graph *)(uintptr_t)g);
    memset(s->first, 0xFF, (size_t)(g->values.count + 1) * sizeof *s->first);
    s->scatter = graph_op_named("reduce_scatter", 14);
    for (uint64_t i = 0; i < g->programs.count; i++) {
        const graph_program *p = &g->programs.data[i];
        hg_program_retain(p->program);
        HG_TRY(graph_add_program(s->to, p->program, p->name, strlen(p->name), p->file));
    }
    return HG_OK;
}

static hg_status all(shard *s, const uint64_t *symbols, graph_sharded *sharded) {
    s->sizes = hg_alloc((size_t)(s->g->terms.count + 1) * sizeof *s->sizes);
    if (!s->sizes) return hg_fail_memory();
    graph_extent_values(s->g, symbols, s->sizes);
    HG_TRY(graph_check(s->g, s->sizes));
    HG_TRY(begin(s, sharded));
    HG_TRY(add_values(s));
    note_sources(s, sharded);
    HG_TRY(add_outputs(s, sharded));
    find_alike(s, sharded);
    return graph_verify(s->to);
}

/* Calls that nothing needs go first: behind sharding what a rank does not need others may. */
hg_status graph_shard(const hg_graph *g, const uint64_t *symbols,
                      const graph_shard_options *options, uint32_t rank, graph_sharded *sharded) {
    hg_graph *needed;
    *sharded = (graph_sharded){.kinds = sharded->kinds};
    if (options->ranks == 0 || options->ranks > HG_MAX_GRAPH_RANKS || rank >= options->ranks)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "rank %u of %u: 1 to %d ranks, counted from 0, expected", (unsigned)rank,
                       (unsigned)options->ranks, HG_MAX_GRAPH_RANKS);
    HG_TRY(graph_copy(g, &needed));
    shard s = {.g = needed, .options = options, .ranks = options->ranks, .rank = rank};
    hg_status status = graph_pass_dead(needed);
    if (status == HG_OK) status = all(&s, symbols, sharded);
    sharded->graph = s.to;
    if (status != HG_OK) graph_sharded_free(sharded);
    hg_vec_free(&s.cuts);
    hg_vec_free(&s.forms);
    hg_free(s.first);
    hg_free(s.sizes);
    hg_arena_free(&s.arena);
    hg_graph_release(needed);
    return status;
}

void graph_sharded_free(graph_sharded *sharded) {
    hg_graph_release(sharded->graph);
    hg_free(sharded->parts);
    *sharded = (graph_sharded){0};
}

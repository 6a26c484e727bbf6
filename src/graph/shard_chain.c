/* A product whose k is cut, in the order of one device: each rank goes on with the sums of the rank
 * before it. c goes in blocks of rows, so that ranks work at the same time, each on another block;
 * the last rank has all sums, and gives the result to all.
 * Must not know: which of several ways is cheaper. */
#include "graph/passes.h"
#include "graph/shard_internal.h"

uint64_t shard_least_block = 65536;

/* Blocks in which all ranks but for the beginning and the end have work, of that many bytes. */
static uint64_t block_rows(const shard *s, uint32_t value) {
    enum { MOST_BLOCKS = 64 };
    const graph_value *v = &s->g->values.data[value];
    uint64_t rows = shard_extent(s, value, 0), blocks = 4 * (uint64_t)s->ranks,
             bytes = plan_times(s->sizes[v->elements], graph_type_bytes(v));
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    if (shard_least_block && blocks > bytes / shard_least_block) blocks = bytes / shard_least_block;
    if (blocks > rows) blocks = rows;
    return blocks ? (rows - 1) / blocks + 1 : rows;
}

typedef struct handing {
    shard *s;
    const graph_call *call;
    const hg_op_info *row;
    const shard_rule *rule;
    const graph_operand *operands; /* of the rank's graph */
    uint32_t value;                /* the result */
    shard_way rows;                /* the size that its first axis is of */
    bool first, last;
} handing;

/* The value's shape with that many rows. */
static hg_status block_shape(const handing *h, uint64_t rows, graph_value *v) {
    const graph_value *whole = &h->s->g->values.data[h->value];
    *v = (graph_value){.source = GRAPH_RESULT, .type = whole->type, .rank = whole->rank};
    for (uint32_t d = 0; d < whole->rank; d++) {
        v->extents[d] = graph_number(h->s->to, d ? shard_extent(h->s, h->value, d) : rows);
        if (v->extents[d] == GRAPH_NOT_SET) return hg_error_record()->status;
    }
    return HG_OK;
}

static hg_status zeros(const handing *h, uint64_t rows, uint32_t *made) {
    graph_value like;
    HG_TRY(block_shape(h, rows, &like));
    return graph_append_zeros(h->s->to, &like, made);
}

/* What comes behind the sums is the last rank's. */
static bool is_left_out(const handing *h, uint32_t operand) {
    static const char *const BEHIND[] = {"alpha", "beta", "bias", "activation", "bias_strides"};
    for (size_t i = 0; i < HG_COUNT_OF(BEHIND) && !h->last; i++)
        if (strcmp(h->row->operands[operand].name, BEHIND[i]) == 0) return true;
    return false;
}

static hg_status block_operand(const handing *h, uint64_t from, uint64_t rows, graph_operand *o) {
    const shard_array *a = shard_array_of(h->rule, o->operand, false);
    int axis = o->kind == GRAPH_ARRAY && a ? shard_axis_along(a, &h->rows) : -1;
    if (axis >= 0) return shard_slice(h->s, o->number, (uint32_t)axis, from, rows, &o->number);
    if (o->kind != GRAPH_COUNT || o->operand != h->rows.size) return HG_OK;
    uint64_t all = 0;
    (void)graph_is_number(h->s->to, o->number, &all);
    o->number = graph_number(h->s->to, all / shard_extent(h->s, h->value, 0) * rows);
    return o->number == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

/* The call on rows of c. sums: of the ranks before. */
static hg_status multiply(const handing *h, uint64_t from, uint64_t rows, uint32_t sums,
                          uint32_t *made) {
    graph_operand operands[HG_MAX_PARAMS];
    graph_call block = *h->call;
    graph_value v;
    uint32_t count = 0, c = h->s->g->results.data[h->call->first_result].operand, flag = 0;
    while (strcmp(h->row->operands[flag].name, "accumulate") != 0) flag++;
    if (!h->first)
        operands[count++] = (graph_operand){
            .operand = (uint8_t)c, .kind = GRAPH_ARRAY, .number = sums};
    for (uint32_t i = 0; i < h->call->operand_count; i++) {
        if (is_left_out(h, h->operands[i].operand) || h->operands[i].operand == flag) continue;
        operands[count] = h->operands[i];
        HG_TRY(block_operand(h, from, rows, &operands[count++]));
    }
    if (!h->first)
        operands[count++] = (graph_operand){
            .operand = (uint8_t)flag, .kind = GRAPH_FLAG, .number = 1};
    HG_TRY(block_shape(h, rows, &v));
    HG_TRY(graph_add_value(h->s->to, &v, NULL, 0, made));
    HG_TRY(
        graph_add_parts(h->s->to, &block, operands, count, &(graph_result){(uint8_t)c, *made}, 1));
    return graph_append(h->s->to, &block);
}

static hg_status one_block(const handing *h, uint64_t from, uint64_t rows, uint32_t *made) {
    shard *s = h->s;
    uint32_t sums = GRAPH_NOT_SET, sent;
    if (!h->first) {
        HG_TRY(zeros(h, rows, &sums));
        HG_TRY(shard_broadcast(s, sums, s->rank - 1, s->rank, NULL, &sums));
    }
    HG_TRY(multiply(h, from, rows, sums, made));
    return h->last ? HG_OK : shard_broadcast(s, *made, s->rank, s->rank + 1, NULL, &sent);
}

hg_status shard_hand_on(shard *s, const graph_call *call, const shard_rule *rule,
                        const graph_operand *operands, uint32_t value, uint32_t *made) {
    const shard_array *result = shard_array_of(rule, s->g->results.data[call->first_result].operand,
                                               true);
    const handing h = {.s = s,
                       .call = call,
                       .row = hg_op_get((hg_op)call->op),
                       .rule = rule,
                       .operands = operands,
                       .value = value,
                       .rows = {.size = result->size[0], .sub = result->sub[0]},
                       .first = s->rank == 0,
                       .last = s->rank + 1 == s->ranks};
    uint64_t rows = shard_extent(s, value, 0), most = block_rows(s, value);
    s->handed_on = true;
    if (rows > most || !h.last) HG_TRY(zeros(&h, rows, made));
    for (uint64_t from = 0; from < rows; from += most) {
        uint64_t some = rows - from < most ? rows - from : most;
        uint32_t block;
        HG_TRY(one_block(&h, from, some, &block));
        if (!h.last) continue;
        if (some == rows)
            *made = block;
        else
            HG_TRY(shard_put_rows(s, *made, block, from, made));
    }
    return shard_broadcast(s, *made, s->ranks - 1, SHARD_ALL_RANKS, s->g->values.data[value].name,
                           made);
}

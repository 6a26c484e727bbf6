/* What a call can be cut along: the table shards.def, and the shapes of shapes.def. Must not know:
 * where values lie. */
#include "graph/shapes.h"
#include "graph/shard_internal.h"
#include "optimize/lanes.h"

static const struct {
    uint16_t op;
    const char *sizes, *folded, *arrays;
} SHARDS[] = {
#define GRAPH_SHARDS(id, sizes, folded, arrays) {HG_OP_##id, sizes, folded, arrays},
#include "graph/shards.def"
#undef GRAPH_SHARDS
};

/* A call at work. */
typedef struct finder {
    const shard *s;
    const graph_call *call;
    const hg_op_info *row;
    shard_rule *rule;
    /* the extents that each size is a product of, as the first array with it has them */
    uint64_t extents[HG_MAX_OPERANDS][PLAN_MAX_RANK];
    uint8_t count[HG_MAX_OPERANDS];
    bool seen[HG_MAX_OPERANDS], bad[HG_MAX_OPERANDS]; /* bad: arrays have it in other extents */
    bool handed_on;
} finder;

/* The next word of a list; false: there is none. */
static bool next_word(const char **list, const char **word, size_t *length) {
    *word = *list + strspn(*list, " ");
    *length = strcspn(*word, " ");
    *list = *word + *length;
    return *length != 0;
}

static uint32_t operand_named(const hg_op_info *row, const char *name, size_t length) {
    uint32_t i = 0;
    while (i < row->operand_count && !graph_is_name(row->operands[i].name, name, length)) i++;
    return i < row->operand_count ? i : HG_MAX_OPERANDS;
}

static const graph_operand *given(const finder *f, uint32_t operand) {
    return operand < HG_MAX_OPERANDS ? graph_operand_of(f->s->g, f->call, operand) : NULL;
}

/* Where rows and matrices lie is said by numbers of their own: shapes tell nothing then. */
static bool says_places(const finder *f) {
    if (graph_has_leading(f->row, &f->s->g->operands.data[f->call->first_operand],
                          f->call->operand_count))
        return true;
    for (uint32_t i = 0; i < f->row->operand_count; i++) {
        const char *name = f->row->operands[i].name;
        size_t length = strlen(name);
        bool strides = length >= 7 && strcmp(name + length - 7, "strides") == 0;
        const graph_operand *o = strides || strcmp(name, "steps") == 0 ? given(f, i) : NULL;
        if (o && o->number) return true;
    }
    return false;
}

/* An array has `count` of its extents from `axis` on for a size of the call; false: their product
 * is not the size. */
static bool take_size(finder *f, shard_array *a, uint32_t size, uint32_t axis, uint32_t count) {
    const graph_operand *o = given(f, size);
    uint64_t product = 1;
    if (!o) return true; /* nothing is cut along it */
    for (uint32_t k = 0; k < count; k++) {
        uint64_t extent = shard_extent(f->s, a->value, axis + k);
        product = plan_times(product, extent);
        if (!f->seen[size]) f->extents[size][k] = extent;
        f->bad[size] |= f->seen[size] && k < f->count[size] && f->extents[size][k] != extent;
        a->size[axis + k] = (uint8_t)size;
        a->sub[axis + k] = (uint8_t)k;
    }
    f->bad[size] |= f->seen[size] && f->count[size] != count;
    if (!f->seen[size]) f->count[size] = (uint8_t)count;
    f->seen[size] = true;
    return o->kind == GRAPH_COUNT && product == f->s->sizes[o->number];
}

static bool find_shape(const finder *f, uint32_t operand, graph_shape *shape) {
    const char *p = graph_shape_pattern((hg_op)f->call->op);
    while (graph_shape_next(f->row, &p, shape)) {
        if (shape->operand != operand) continue;
        const graph_operand *flag = given(f, shape->flag);
        graph_shape_settle(shape, flag && flag->number, given(f, shape->maybe) != NULL);
        return true;
    }
    return false;
}

/* Of an array without a row in shapes.def what shards.def says: "freqs", each rank may have it
 * whole, or "freqs=sin", it has the shape of sin where the call has that. False: nothing. */
static bool find_listed(const finder *f, uint32_t operand, graph_shape *shape, bool *whole) {
    const char *list = "", *word;
    size_t length;
    for (size_t i = 0; i < HG_COUNT_OF(SHARDS); i++)
        if (SHARDS[i].op == f->call->op) list = SHARDS[i].arrays;
    while (next_word(&list, &word, &length)) {
        size_t name = strcspn(word, "= ");
        if (!graph_is_name(f->row->operands[operand].name, word, name)) continue;
        uint32_t as = name == length ? HG_MAX_OPERANDS
                                     : operand_named(f->row, word + name + 1, length - name - 1);
        *whole = !given(f, as);
        return *whole || find_shape(f, as, shape);
    }
    return false;
}

/* False: it has another shape than the table says. */
static bool add_array(finder *f, uint32_t operand, uint32_t value, bool result) {
    shard_array *a = &f->rule->arrays[f->rule->array_count++];
    const graph_value *v = &f->s->g->values.data[value];
    graph_shape shape;
    bool whole = false;
    *a = (shard_array){.operand = (uint8_t)operand, .result = result, .value = value};
    memset(a->size, SHARD_NO_SIZE, sizeof a->size);
    if (!find_shape(f, operand, &shape) && !find_listed(f, operand, &shape, &whole)) return false;
    if (whole) return !result;
    int many = graph_shape_many(&shape, v->rank);
    if (many < 0) return false;
    for (uint32_t i = 0, axis = 0; i < shape.count; i++) {
        const graph_shape_extent *e = &shape.extents[i];
        uint32_t count = e->kind == GRAPH_SHAPE_MANY ? (uint32_t)many : 1;
        bool is_size = e->kind == GRAPH_SHAPE_MANY || e->kind == GRAPH_SHAPE_SIZE;
        if (is_size && !take_size(f, a, e->operand, axis, count)) return false;
        axis += count;
    }
    return true;
}

static bool add_arrays(finder *f) {
    for (uint32_t i = 0; i < f->row->operand_count; i++) {
        if (!graph_is_array(&f->row->operands[i])) continue;
        const graph_operand *o = given(f, i);
        uint32_t result = graph_result_of(f->s->g, f->call, i);
        if (f->rule->array_count + 2 > HG_MAX_OPERANDS) return false;
        if (o && !add_array(f, i, o->number, false)) return false;
        if (result != GRAPH_NOT_SET && !add_array(f, i, result, true)) return false;
    }
    return true;
}

/* "kv_heads=heads" */
static void take_alias(finder *f, const char *word, size_t length) {
    size_t name = (size_t)((const char *)memchr(word, '=', length) - word);
    uint32_t a = operand_named(f->row, word, name),
             b = operand_named(f->row, word + name + 1, length - name - 1);
    if (a == HG_MAX_OPERANDS || b == HG_MAX_OPERANDS) return;
    const graph_operand *x = given(f, a), *y = given(f, b);
    if (!x || !y || f->s->sizes[x->number] != f->s->sizes[y->number] || f->bad[a]) {
        f->bad[b] = true;
        return;
    }
    f->rule->alias[a] = (uint8_t)b;
    for (uint32_t i = 0; i < f->rule->array_count; i++)
        for (uint32_t d = 0; d < PLAN_MAX_RANK; d++)
            if (f->rule->arrays[i].size[d] == a) f->rule->arrays[i].size[d] = (uint8_t)b;
}

int shard_axis_along(const shard_array *array, const shard_way *way) {
    for (int d = 0; d < PLAN_MAX_RANK; d++)
        if (array->size[d] == way->size && array->sub[d] == way->sub) return d;
    return -1;
}

const shard_array *shard_array_of(const shard_rule *rule, uint32_t operand, bool result) {
    for (uint32_t i = 0; i < rule->array_count; i++)
        if (rule->arrays[i].operand == operand && rule->arrays[i].result == result)
            return &rule->arrays[i];
    return NULL;
}

/* What is calculated by itself has the size in each result, what is folded in none. */
static bool fits(const finder *f, const shard_way *way) {
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < f->rule->array_count; i++) {
        const shard_array *a = &f->rule->arrays[i];
        bool has = shard_axis_along(a, way) >= 0;
        if (a->result && has == way->folded) return false;
        arrays += has && !a->result;
    }
    return arrays != 0;
}

static void add_ways(finder *f, const char *word, size_t length, bool folded) {
    uint32_t size = operand_named(f->row, word, length);
    if (size == HG_MAX_OPERANDS || !f->seen[size] || f->bad[size]) return;
    for (uint32_t sub = 0; sub < f->count[size]; sub++) {
        shard_way way = {(uint8_t)size, (uint8_t)sub, folded, folded && f->handed_on};
        if (f->rule->way_count < SHARD_MOST_WAYS && fits(f, &way))
            f->rule->ways[f->rule->way_count++] = way;
    }
}

/* The operation that combines what parts give. */
static bool find_operation(finder *f) {
    static const struct {
        hg_op op;
        hg_opname name;
    } FOLDS[] = {{HG_OP_ADD, HG_OPNAME_SUM},
                 {HG_OP_MUL, HG_OPNAME_PRODUCT},
                 {HG_OP_MIN, HG_OPNAME_MIN},
                 {HG_OP_MAX, HG_OPNAME_MAX}};
    hg_op fold = hg_op_folds_with((hg_op)f->call->op);
    for (uint32_t i = 0; i < f->row->operand_count && fold == HG_OP_NONE; i++) {
        if (f->row->operands[i].kind != HG_K_OPNAME || f->row->operands[i].rule != HG_R_REDUCE)
            continue;
        const graph_operand *o = given(f, i);
        hg_default d = {0};
        if (!o) hg_default_operand(&f->row->operands[i], (hg_type)f->call->type, &d);
        fold = hg_opname_op((hg_opname)(o ? o->number : d.operand.value));
    }
    for (size_t i = 0; i < HG_COUNT_OF(FOLDS); i++)
        if (FOLDS[i].op == fold) {
            f->rule->operation = FOLDS[i].name;
            return true;
        }
    return false;
}

/* Products of parts are added; a bias or an activation would come too early. */
static bool is_plain_product(finder *f) {
    f->rule->operation = HG_OPNAME_SUM;
    const graph_operand *activation = given(f, operand_named(f->row, "activation", 10));
    return f->rule->array_count == 3 && (!activation || activation->number == HG_OPNAME_IDENTITY);
}

/* A product that reads nothing of c, whose c has the type of the sums, and as its first axis one of
 * a or b, in whose rows it goes: the accumulator is c. */
static bool may_hand_on(const finder *f) {
    uint32_t c = operand_named(f->row, "c", 1);
    hg_type type = (hg_type)f->call->type;
    bool sums = type == HG_TYPE_F32 || type == HG_TYPE_F64 ||
                f->call->op == HG_OP_MIXED_PRECISION_GEMM;
    const shard_array *result = shard_array_of(f->rule, c, true);
    if (operand_named(f->row, "accumulate", 10) == HG_MAX_OPERANDS || !sums || given(f, c))
        return false;
    return f->s->ranks > 1 && f->call->result_count == 1 && result &&
           f->s->sizes[f->s->g->values.data[result->value].elements] != 0 &&
           f->s->g->values.data[result->value].rank != 0 && result->size[0] != SHARD_NO_SIZE &&
           !f->bad[result->size[0]];
}

/* Integers wrap, so that any order gives the same bits; of floats only what is asked to be fast, or
 * one sum that goes from rank to rank. */
static bool may_fold(finder *f) {
    bool reduces = find_operation(f);
    if (hg_type_is_integer((hg_type)f->call->type)) return reduces;
    if (!reduces) f->handed_on = !f->s->options->fast && may_hand_on(f);
    if (f->handed_on) return true;
    return (reduces || is_plain_product(f)) && f->s->options->fast &&
           f->rule->operation == HG_OPNAME_SUM;
}

/* ---- programs ---- */

static bool shape_matches(const finder *f, uint32_t value, uint64_t extent, uint64_t each) {
    const graph_value *v = &f->s->g->values.data[value];
    return v->rank != 0 && shard_extent(f->s, value, 0) == extent &&
           f->s->sizes[v->elements] == plan_times(extent, each);
}

static bool add_program_array(finder *f, const optimize_part *part, uint32_t operand,
                              uint32_t value, bool result, uint64_t extent) {
    shard_array *a = &f->rule->arrays[f->rule->array_count];
    bool cut = part->parts >> operand & 1;
    if (f->rule->array_count == HG_MAX_OPERANDS) return false;
    if (cut && !shape_matches(f, value, extent, part->each[operand])) return false;
    if (!cut && result) return false;
    f->rule->array_count++;
    *a = (shard_array){.operand = (uint8_t)operand, .result = result, .value = value};
    memset(a->size, SHARD_NO_SIZE, sizeof a->size);
    if (cut) a->size[0] = (uint8_t)part->param;
    return true;
}

static bool add_program_arrays(finder *f, const optimize_part *part, uint64_t extent) {
    for (uint32_t i = 0; i < f->call->operand_count; i++) {
        const graph_operand *o = &f->s->g->operands.data[f->call->first_operand + i];
        if (o->kind == GRAPH_ARRAY &&
            !add_program_array(f, part, o->operand, o->number, false, extent))
            return false;
    }
    for (uint32_t i = 0; i < f->call->result_count; i++) {
        const graph_result *o = &f->s->g->results.data[f->call->first_result + i];
        if (!add_program_array(f, part, o->operand, o->value, true, extent)) return false;
    }
    return true;
}

static bool number_of(void *user, uint16_t param, uint64_t *value) {
    *value = ((const uint64_t *)user)[param];
    return *value != 0;
}

static bool lanes_are(const hg_program *p, uint64_t *numbers, uint64_t count) {
    uint64_t lanes = 1, value;
    for (uint32_t i = 0; i < p->lanes_count; i++)
        if (hg_extent_value(p, &p->lanes[i], number_of, numbers, &value, NULL) != HG_EXTENT_KNOWN ||
            !hg_mul_u64(lanes, value, &lanes))
            return false;
    return lanes == count;
}

/* The scalar that is the first extent of what the call makes, and the lanes for each of its places;
 * false: there is none. */
static bool find_axis(const finder *f, optimize_part *part) {
    const hg_program *p = f->call->program;
    const graph_result *made = &f->s->g->results.data[f->call->first_result];
    const hg_param *array = &p->params[made->operand];
    if (array->rank == HG_NO_DIMS || !array->rank || array->dims[0].kind != HG_EXTENT_PARAM)
        return false;
    part->param = array->dims[0].param;
    uint64_t extent = part->numbers[part->param],
             elements = f->s->sizes[f->s->g->values.data[made->value].elements];
    if (!extent || !elements || elements % extent) return false;
    part->inner = elements / extent;
    return true;
}

/* A program whose lanes have their own part: the axis is a size of the call, by the number of the
 * scalar. */
static hg_status find_program_rule(finder *f) {
    const graph_call *call = f->call;
    uint64_t numbers[HG_MAX_OPERANDS] = {0};
    optimize_part part = {.numbers = numbers};
    bool apart = false;
    if (call->writes_more || !call->result_count || call->program->param_count > HG_MAX_OPERANDS ||
        !call->program->lanes_count)
        return HG_OK;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &f->s->g->operands.data[call->first_operand + i];
        if (o->kind == GRAPH_COUNT) numbers[o->operand] = f->s->sizes[o->number];
    }
    if (!find_axis(f, &part)) return HG_OK;
    hg_error kept = *hg_error_record();
    HG_TRY(optimize_find_part(call->program, &part, &apart));
    *hg_error_record() = kept;
    apart = apart && lanes_are(call->program, numbers, plan_times(numbers[part.param], part.inner));
    if (!apart || !add_program_arrays(f, &part, numbers[part.param])) {
        f->rule->array_count = 0;
        return HG_OK;
    }
    f->rule->ways[f->rule->way_count++] = (shard_way){.size = (uint8_t)part.param};
    return HG_OK;
}

hg_status shard_find_rule(const shard *s, const graph_call *call, shard_rule *rule) {
    finder f = {.s = s, .call = call, .rule = rule};
    const char *word, *sizes = NULL, *folded = NULL;
    size_t length;
    rule->array_count = rule->way_count = 0;
    memset(rule->alias, SHARD_NO_SIZE, sizeof rule->alias);
    if (call->program) return find_program_rule(&f);
    for (size_t i = 0; i < HG_COUNT_OF(SHARDS); i++)
        if (SHARDS[i].op == call->op) {
            sizes = SHARDS[i].sizes;
            folded = SHARDS[i].folded;
        }
    if (!sizes) return HG_OK;
    f.row = hg_op_get((hg_op)call->op);
    if (says_places(&f) || !add_arrays(&f)) return HG_OK;
    for (const char *list = sizes; next_word(&list, &word, &length);)
        if (memchr(word, '=', length)) take_alias(&f, word, length);
    while (next_word(&sizes, &word, &length))
        if (!memchr(word, '=', length)) add_ways(&f, word, length, false);
    if (*folded && may_fold(&f)) add_ways(&f, folded, strlen(folded), true);
    return HG_OK;
}

/* attention, flash_attention: the library program attention.atlas. */
#include "plan/steps/steps.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Where the rows of an array lie: elements from those of a batch to the next, of a head, and from
 * one row to the next. Elements of a row are side by side. */
typedef struct layout {
    uint64_t batch, head, row;
} layout;

/* What is asked for. */
typedef struct asked {
    uint64_t batch, heads, seq_len, head_dim, kv_heads, kv_len, value_dim;
    layout query, key, value, output, mask, seen;
    bool causal, from_start, wide;
    double softcap;
} asked;

static bool has_array(const plan_call *call, const char *name) {
    return plan_array_of(call, plan_operand_named(call, name)) != NULL;
}

/* Where rows of `columns` elements lie. */
static layout layout_of(const plan_call *call, const char *name, uint64_t heads, uint64_t rows,
                        uint64_t columns) {
    uint64_t strides[3];
    plan_strides_of(call, name, 3, (const uint64_t[]){heads, rows, columns}, strides);
    return (layout){strides[0], strides[1], strides[2]};
}

static asked read_call(const plan_call *call) {
    asked a = {.batch = plan_named(call, "batch"),
               .heads = plan_named(call, "heads"),
               .seq_len = plan_named(call, "seq_len"),
               .head_dim = plan_named(call, "head_dim"),
               .kv_heads = plan_named_or(call, "kv_heads", plan_named(call, "heads")),
               .kv_len = plan_named_or(call, "kv_len", plan_named(call, "seq_len")),
               .value_dim = plan_named_or(call, "value_dim", plan_named(call, "head_dim")),
               .causal = plan_named(call, "causal") != 0,
               .from_start = plan_named(call, "from_start") != 0,
               .wide = plan_named(call, "wide") != 0};
    uint32_t strides = plan_operand_named(call, "mask_strides");
    a.query = layout_of(call, "query_strides", a.heads, a.seq_len, a.head_dim);
    a.key = layout_of(call, "key_strides", a.kv_heads, a.kv_len, a.head_dim);
    a.value = layout_of(call, "value_strides", a.kv_heads, a.kv_len, a.value_dim);
    a.output = layout_of(call, "output_strides", a.heads, a.seq_len, a.value_dim);
    a.seen = layout_of(call, "seen_strides", a.heads, a.seq_len, a.kv_len);
    a.mask.row = plan_named_or(call, "mask_row", a.kv_len);
    if (call->operands[strides].count == 2) {
        a.mask.batch = plan_number(call, strides, 0);
        a.mask.head = plan_number(call, strides, 1);
    }
    memcpy(&a.softcap, call->operands[plan_operand_named(call, "softcap")].words, sizeof a.softcap);
    return a;
}

/* ---- shapes ---- */

static void check(const plan_call *call, plan_problem *problem) {
    static const char *const layouts[] = {"query_strides", "key_strides", "value_strides",
                                          "output_strides", "seen_strides"};
    asked a = read_call(call);
    if (call->op == HG_OP_FLASH_ATTENTION && plan_named(call, "block_size") == 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "block_size"),
                    "0, at least 1 expected");
    if (a.kv_heads ? a.heads % a.kv_heads != 0 : a.heads != 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "kv_heads"),
                    "%llu, a divisor of the %llu heads expected", (unsigned long long)a.kv_heads,
                    (unsigned long long)a.heads);
    if (!(a.softcap >= 0) || isinf(a.softcap))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "softcap"),
                    "%g, a number of at least 0 expected", a.softcap);
    if (a.from_start && !a.causal)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "from_start"),
                    "true, and causal is false: it says which end causal counts from");
    plan_check_strides(call, problem, "mask_strides", 2, "of a batch and of a head");
    for (size_t i = 0; i < HG_COUNT_OF(layouts); i++)
        plan_check_strides(call, problem, layouts[i], 3, "of a batch, of a head and of a row");
    plan_check_apart(call, problem, plan_operand_named(call, "output_strides"),
                     (const uint64_t[]){a.batch, a.heads, a.seq_len},
                     (const uint64_t[]){a.output.batch, a.output.head, a.output.row}, a.value_dim);
}

static void matrices(const plan_call *call, const char *operand, const layout *at,
                     const uint64_t extents[4]) {
    plan_array *array = plan_array_of(call, plan_operand_named(call, operand));
    if (array)
        plan_array_strides(array, 4, extents,
                           (const int64_t[]){plan_stride(at->batch), plan_stride(at->head),
                                             plan_stride(at->row), 1});
}

static void ranges(plan_call *call) {
    asked a = read_call(call);
    const uint64_t pairs[] = {a.batch, a.heads, a.seq_len, a.kv_len};
    plan_array *lengths = plan_array_of(call, plan_operand_named(call, "lengths")),
               *scores = plan_array_of(call, plan_operand_named(call, "scores"));
    matrices(call, "output", &a.output, (uint64_t[]){a.batch, a.heads, a.seq_len, a.value_dim});
    matrices(call, "query", &a.query, (uint64_t[]){a.batch, a.heads, a.seq_len, a.head_dim});
    matrices(call, "key", &a.key, (uint64_t[]){a.batch, a.kv_heads, a.kv_len, a.head_dim});
    matrices(call, "value", &a.value, (uint64_t[]){a.batch, a.kv_heads, a.kv_len, a.value_dim});
    matrices(call, "mask", &a.mask, pairs);
    matrices(call, "seen", &a.seen, pairs);
    if (lengths) {
        lengths->type = a.wide ? HG_TYPE_I64 : HG_TYPE_U32;
        plan_array_shape(lengths, 1, &a.batch);
    }
    if (scores) plan_array_shape(scores, 4, pairs);
}

/* ---- the expansion ---- */

enum { LANES = 32, KEYS = 64, UNIT = 4 }; /* of the text */
static const double LOG2E = 1.4426950408889634;

/* A number in the type of the calculation. */
static uint64_t bits_of(const plan_call *call, double value) {
    uint64_t bits = 0;
    float narrow = (float)value;
    if (call->type == HG_TYPE_F64)
        memcpy(&bits, &value, sizeof value);
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

/* scale log2 e / UNIT of the text as a number from 1/2 to 1, and what power of 2 it is multiplied
 * by: neither end of the type's range is near. */
static double scale_of(const plan_call *call, const asked *a, int *exponent) {
    double scale;
    uint32_t given = plan_operand_named(call, "scale");
    int more;
    if (plan_is_given(call, given))
        memcpy(&scale, call->operands[given].words, sizeof scale);
    else
        scale = 1 / sqrt((double)a->head_dim);
    *exponent = 0;
    if (!isfinite(scale)) return scale;
    scale = frexp(frexp(scale, exponent) * LOG2E, &more);
    if (scale != 0) *exponent += more - 2;
    return scale;
}

/* The text's `cap`, which is neither 0 nor infinite in the type of the calculation. */
static double cap_of(const plan_call *call, const asked *a) {
    double cap = a->softcap * (LOG2E / UNIT);
    double least = call->type == HG_TYPE_F64 ? DBL_MIN : FLT_MIN,
           most = call->type == HG_TYPE_F64 ? DBL_MAX : FLT_MAX;
    return cap < least ? least : cap > most ? most : cap;
}

/* A power of 2 of at most half of 1 / kv_len, times 2^-LIFT of the text. */
static double share_of(const plan_call *call, const asked *a) {
    int exponent = call->type == HG_TYPE_F64 ? -513 : -65;
    for (uint64_t keys = a->kv_len; keys > 1; keys -= keys / 2) exponent--;
    return ldexp(1, exponent);
}

/* What the text writes of scores: its GIVES. */
enum { GIVES_NOTHING, GIVES_WEIGHTS, GIVES_MASKED, GIVES_PRODUCTS };
static int32_t gives(const plan_call *call) {
    if (!has_array(call, "scores")) return GIVES_NOTHING;
    if (plan_named(call, "products")) return GIVES_PRODUCTS;
    return plan_named(call, "masked") ? GIVES_MASKED : GIVES_WEIGHTS;
}

static void give_layout(plan_given *g, const layout *at) {
    plan_give_values(g, (const uint64_t[]){at->batch, at->head, at->row}, 3);
}

static void give_values(const plan_call *call, plan_given *g, const asked *a) {
    int exponent;
    double scale = scale_of(call, a, &exponent);
    const uint64_t sizes[] = {a->heads / a->kv_heads, a->seq_len, a->kv_len, a->head_dim,
                              a->value_dim,           a->kv_heads},
                   scales[] = {bits_of(call, scale), (uint64_t)exponent,
                               bits_of(call, share_of(call, a))};
    plan_give_values(g, sizes, HG_COUNT_OF(sizes));
    give_layout(g, &a->query);
    give_layout(g, &a->key);
    give_layout(g, &a->value);
    plan_give_values(g, scales, HG_COUNT_OF(scales));
    if (has_array(call, "mask")) give_layout(g, &a->mask);
    if (has_array(call, "seen")) give_layout(g, &a->seen);
    if (a->softcap != 0) plan_give_values(g, (const uint64_t[]){bits_of(call, cap_of(call, a))}, 1);
}

static void expand_output(const plan_call *call, plan_expansion *x, const asked *a,
                          plan_part results, uint64_t tiles) {
    hg_type type = (hg_type)call->type;
    int32_t ts = (int32_t)hg_type_size_bytes(type), as = type == HG_TYPE_F64 ? 8 : 4;
    plan_kernel_key key = plan_library_key(LIBRARY_ATTENTION_OUTPUT, type, HG_OP_MOV,
                                           (int32_t[]){ts, as}, 2, 6);
    plan_expand_grid(
        x, &key, (uint64_t[]){tiles, (a->value_dim - 1) / LANES + 1, a->batch * a->heads},
        (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){results, plan_part_named(call, "output")},
        (uint64_t[]){a->seq_len, a->value_dim, a->heads, a->output.batch, a->output.head,
                     a->output.row});
}

static void expand(const plan_call *call, plan_expansion *x) {
    static const char *const others[] = {"mask", "seen", "lengths", "scores"};
    asked a = read_call(call);
    hg_type type = (hg_type)call->type;
    uint64_t size = type == HG_TYPE_F64 ? 8 : 4;
    int32_t scores = gives(call);
    bool kept = scores == GIVES_WEIGHTS || scores == GIVES_MASKED;
    if (!a.batch || !a.heads || !a.seq_len || (!a.value_dim && !scores)) return;
    /* The output or the scores have batch * heads * seq_len elements or more, so that products of
     * these do not overflow. */
    uint64_t tiles = (a.seq_len - 1) / LANES + 1, blocks = a.batch * a.heads * tiles;
    plan_given g = {.parts = {plan_part_named(call, "query"), plan_part_named(call, "key"),
                              plan_part_named(call, "value")}};
    g.parts[3] = plan_scratch(x, blocks, plan_times(a.head_dim, LANES * size));
    g.parts[4] = plan_scratch(x, blocks, KEYS * LANES * size);
    g.parts[5] = plan_scratch(x, blocks, plan_times(a.value_dim, LANES * size));
    g.arrays = 6;
    for (size_t i = 0; i < HG_COUNT_OF(others); i++) (void)plan_give_array(&g, call, others[i]);
    if (kept) g.parts[g.arrays++] = plan_scratch(x, blocks, plan_times(a.kv_len, LANES * size));
    give_values(call, &g, &a);
    plan_kernel_key key = plan_library_key(
        LIBRARY_ATTENTION, type, HG_OP_MOV,
        (int32_t[]){(int32_t)hg_type_size_bytes(type), (int32_t)size,
                    a.causal ? 1 + a.from_start : 0, has_array(call, "mask"),
                    has_array(call, "seen"), has_array(call, "lengths"),
                    a.wide ? HG_TYPE_U64 : HG_TYPE_U32, a.wide, a.softcap != 0, scores, kept},
        g.arrays, g.count);
    plan_expand_grid(x, &key, (uint64_t[]){tiles, a.heads / a.kv_heads, a.batch * a.kv_heads},
                     (uint32_t[]){LANES, 1, 1}, 0, g.parts, g.values);
    if (a.value_dim) expand_output(call, x, &a, g.parts[5], tiles);
}

/* Two products and a function for each pair of a query and a key. */
static plan_cost cost(const plan_call *call) {
    asked a = read_call(call);
    uint64_t pairs = a.batch * a.heads * a.seq_len * a.kv_len;
    return (plan_cost){plan_call_bytes(call), pairs * (2 * a.head_dim + 2 * a.value_dim + 4)};
}

const plan_collective plan_collective_attention = {.check = check,
                                                   .ranges = ranges,
                                                   .expand = expand,
                                                   .cost = cost,
                                                   .overlap = PLAN_OVERLAP_REFUSED};

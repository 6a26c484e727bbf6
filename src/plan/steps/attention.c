/* attention, flash_attention: the library program attention.atlas. */
#include "plan/steps/steps.h"
#include <math.h>
#include <string.h>

/* What is asked for. */
typedef struct asked {
    uint64_t batch, heads, seq_len, head_dim, kv_heads, kv_len, mask_batch, mask_head;
    bool causal;
} asked;

static asked read_call(const plan_call *call) {
    asked a = {.batch = plan_named(call, "batch"),
               .heads = plan_named(call, "heads"),
               .seq_len = plan_named(call, "seq_len"),
               .head_dim = plan_named(call, "head_dim"),
               .kv_heads = plan_named_or(call, "kv_heads", plan_named(call, "heads")),
               .kv_len = plan_named_or(call, "kv_len", plan_named(call, "seq_len")),
               .causal = plan_named(call, "causal") != 0};
    uint32_t strides = plan_operand_named(call, "mask_strides");
    if (plan_is_given(call, strides)) {
        a.mask_batch = plan_number(call, strides, 0);
        a.mask_head = plan_number(call, strides, 1);
    }
    return a;
}

/* ---- shapes ---- */

static void check(const plan_call *call, plan_problem *problem) {
    asked a = read_call(call);
    uint32_t strides = plan_operand_named(call, "mask_strides"),
             count = call->operands[strides].count;
    if (call->op == HG_OP_FLASH_ATTENTION && plan_named(call, "block_size") == 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "block_size"),
                    "0, at least 1 expected");
    if (a.kv_heads ? a.heads % a.kv_heads != 0 : a.heads != 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "kv_heads"),
                    "%llu, a divisor of the %llu heads expected", (unsigned long long)a.kv_heads,
                    (unsigned long long)a.heads);
    if (count != 0 && count != 2)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, strides,
                    "%u strides, 2 expected: of a batch and of a head", (unsigned)count);
}

static void matrices(const plan_call *call, const char *operand, uint64_t batch, uint64_t heads,
                     uint64_t rows, uint64_t columns) {
    plan_array_shape(plan_array_of(call, plan_operand_named(call, operand)), 4,
                     (const uint64_t[]){batch, heads, rows, columns});
}

static void ranges(plan_call *call) {
    asked a = read_call(call);
    plan_array *mask = plan_array_of(call, plan_operand_named(call, "mask"));
    matrices(call, "output", a.batch, a.heads, a.seq_len, a.head_dim);
    matrices(call, "query", a.batch, a.heads, a.seq_len, a.head_dim);
    matrices(call, "key", a.batch, a.kv_heads, a.kv_len, a.head_dim);
    matrices(call, "value", a.batch, a.kv_heads, a.kv_len, a.head_dim);
    if (mask)
        plan_array_strides(mask, 4, (const uint64_t[]){a.batch, a.heads, a.seq_len, a.kv_len},
                           (const int64_t[]){plan_stride(a.mask_batch), plan_stride(a.mask_head),
                                             plan_stride(a.kv_len), 1});
}

/* ---- the expansion ---- */

enum { LANES = 32, KEYS = 64 }; /* of the text */

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
    const double log2e = 1.4426950408889634;
    double scale;
    uint32_t given = plan_operand_named(call, "scale");
    int more;
    if (plan_is_given(call, given))
        memcpy(&scale, call->operands[given].words, sizeof scale);
    else
        scale = 1 / sqrt((double)a->head_dim);
    *exponent = 0;
    if (!isfinite(scale)) return scale;
    scale = frexp(frexp(scale, exponent) * log2e, &more);
    if (scale != 0) *exponent += more - 2;
    return scale;
}

/* A power of 2 of at most half of 1 / kv_len, times 2^-LIFT of the text. */
static double share_of(const plan_call *call, const asked *a) {
    int exponent = call->type == HG_TYPE_F64 ? -513 : -65;
    for (uint64_t keys = a->kv_len; keys > 1; keys -= keys / 2) exponent--;
    return ldexp(1, exponent);
}

static void expand(const plan_call *call, plan_expansion *x) {
    asked a = read_call(call);
    hg_type type = (hg_type)call->type;
    uint64_t size = type == HG_TYPE_F64 ? 8 : 4;
    bool mask = plan_array_of(call, plan_operand_named(call, "mask")) != NULL;
    if (!a.batch || !a.heads || !a.seq_len || !a.head_dim) return;
    /* The output has batch * heads * seq_len * head_dim elements, so that products of these do not
     * overflow. */
    uint64_t tiles = (a.seq_len - 1) / LANES + 1, blocks = a.batch * a.heads * tiles;
    int32_t ts = (int32_t)hg_type_size_bytes(type), as = (int32_t)size;
    plan_part parts[8] = {plan_part_named(call, "query"), plan_part_named(call, "key"),
                          plan_part_named(call, "value")};
    parts[3] = plan_scratch(x, blocks, a.head_dim * LANES * size);
    parts[4] = plan_scratch(x, blocks, KEYS * LANES * size);
    parts[5] = plan_scratch(x, blocks, a.head_dim * LANES * size);
    if (mask) parts[6] = plan_part_named(call, "mask");
    plan_kernel_key key = plan_library_key(LIBRARY_ATTENTION, type, HG_OP_MOV,
                                           (int32_t[]){ts, as, a.causal, mask}, mask ? 7 : 6,
                                           mask ? 10 : 7);
    int exponent;
    double scale = scale_of(call, &a, &exponent);
    plan_expand_grid(x, &key, (uint64_t[]){tiles, a.heads / a.kv_heads, a.batch * a.kv_heads},
                     (uint32_t[]){LANES, 1, 1}, 0, parts,
                     (uint64_t[]){a.heads / a.kv_heads, a.seq_len, a.kv_len, a.head_dim,
                                  bits_of(call, scale), (uint64_t)exponent,
                                  bits_of(call, share_of(call, &a)), a.kv_heads, a.mask_batch,
                                  a.mask_head});
    key = plan_library_key(LIBRARY_ATTENTION_OUTPUT, type, HG_OP_MOV, (int32_t[]){ts, as}, 2, 2);
    plan_expand_grid(x, &key, (uint64_t[]){tiles, (a.head_dim - 1) / LANES + 1, a.batch * a.heads},
                     (uint32_t[]){LANES, 1, 1}, 0,
                     (plan_part[]){parts[5], plan_part_named(call, "output")},
                     (uint64_t[]){a.seq_len, a.head_dim});
}

/* Two products and a function for each pair of a query and a key. */
static plan_cost cost(const plan_call *call) {
    asked a = read_call(call);
    uint64_t pairs = a.batch * a.heads * a.seq_len * a.kv_len;
    return (plan_cost){plan_call_bytes(call), pairs * (4 * a.head_dim + 4)};
}

const plan_collective plan_collective_attention = {.check = check,
                                                   .ranges = ranges,
                                                   .expand = expand,
                                                   .cost = cost,
                                                   .overlap = PLAN_OVERLAP_REFUSED};

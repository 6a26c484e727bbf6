/* Instructions on the lanes of a block, from their meaning: values that may be missing, combined in
 * the order of the text. A missing value beside another one gives the other. */
#include "oracle_internal.h"
#include <stdlib.h>
#include <string.h>

typedef struct maybe {
    bool is;
    uint8_t bytes[ORACLE_MAX_BYTES];
} maybe;

static hg_op combining(hg_op op) {
    switch (op) {
    case HG_OP_BREDUCE_ADD:
    case HG_OP_BSCAN_ADD: return HG_OP_ADD;
    case HG_OP_BREDUCE_MUL:
    case HG_OP_BSCAN_MUL: return HG_OP_MUL;
    case HG_OP_BREDUCE_MIN:
    case HG_OP_BSCAN_MIN: return HG_OP_MIN;
    case HG_OP_BREDUCE_MAX:
    case HG_OP_BSCAN_MAX: return HG_OP_MAX;
    case HG_OP_BREDUCE_AND:
    case HG_OP_BSCAN_AND: return HG_OP_AND;
    case HG_OP_BREDUCE_OR:
    case HG_OP_BSCAN_OR: return HG_OP_OR;
    default: return HG_OP_XOR;
    }
}

static maybe join(hg_op op, hg_type type, const maybe *x, const maybe *y) {
    maybe both = {.is = true};
    if (!x->is) return *y;
    if (!y->is) return *x;
    oracle_eval(op, type, type, 0, (const uint8_t *[]){x->bytes, y->bytes}, both.bytes);
    return both;
}

/* acc[l] = x[l], x[l + 128], … in order; then acc[l] with acc[l + s] for s = 64 … 1. */
static maybe tree(hg_op op, hg_type type, const maybe *x, uint64_t n) {
    static maybe acc[128];
    for (uint64_t l = 0; l < 128; l++) acc[l] = (maybe){.is = false};
    for (uint64_t i = 0; i < n; i++) acc[i % 128] = join(op, type, &acc[i % 128], &x[i]);
    for (uint64_t s = 64; s > 0; s /= 2)
        for (uint64_t l = 0; l < s; l++) acc[l] = join(op, type, &acc[l], &acc[l + s]);
    return acc[0];
}

/* v[l] = v[l - s] with v[l], all at once, for s = 1, 2, 4, … */
static void sums(hg_op op, hg_type type, maybe *v, uint64_t n) {
    for (uint64_t s = 1; s < n; s *= 2)
        for (uint64_t l = n; l-- > s;)
            v[l] = join(op, type, &v[l - s], &v[l]); /* from the end: v[l - s] is still the old one
                                                      */
}

static void neutral(hg_op op, hg_type type, uint8_t *result) {
    memset(result, op == HG_OP_AND ? 0xFF : 0, oracle_size(type));
    hg_op folds = op == HG_OP_MUL   ? HG_OP_REDUCE_MUL
                  : op == HG_OP_MIN ? HG_OP_REDUCE_MIN
                  : op == HG_OP_MAX ? HG_OP_REDUCE_MAX
                                    : HG_OP_NONE;
    if (folds != HG_OP_NONE) oracle_eval(folds, type, type, 0, NULL, result);
}

bool oracle_block(hg_op op, hg_type type, bool exclusive, const oracle_lane *lanes, uint64_t n,
                  uint8_t *results) {
    bool narrow = type == HG_TYPE_F16 || type == HG_TYPE_BF16,
         scan = strncmp(hg_op_get(op)->text, "bscan", 5) == 0;
    hg_type work = narrow ? HG_TYPE_F32 : type;
    hg_op by = combining(op);
    uint32_t size = oracle_size(type);
    maybe *v = calloc(n + 1, sizeof *v);
    if (!v) return false;
    for (uint64_t l = 0; l < n; l++) {
        v[l].is = lanes[l].value != NULL;
        if (v[l].is) oracle_convert(work, type, lanes[l].value, v[l].bytes);
    }
    maybe all = {.is = false};
    if (scan)
        sums(by, work, v, n);
    else
        all = tree(by, work, v, n);
    for (uint64_t l = 0; l < n; l++) {
        maybe r = !scan ? all : !exclusive ? v[l] : l ? v[l - 1] : (maybe){.is = false};
        if (!r.is) neutral(by, work, r.bytes);
        if (lanes[l].value) oracle_convert(type, work, r.bytes, &results[l * size]);
    }
    free(v);
    return true;
}

void oracle_shuffle(hg_type type, const oracle_lane *lanes, uint64_t n, uint64_t from,
                    uint8_t *result) {
    memset(result, 0, oracle_size(type));
    if (from < n && lanes[from].value) memcpy(result, lanes[from].value, oracle_size(type));
}

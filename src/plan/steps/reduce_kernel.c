/* The reduction tree of semantics 0.3 as kernels, a level each: a block reduces a chunk of 4,096
 * elements with 128 accumulators, missing elements are skipped, and the accumulators are halved
 * between barriers. No faults, no exits: all lanes reach every barrier. Accumulators lie in shared
 * memory (at least four bytes each, which every device can access), those of wide integers in a
 * buffer. */
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include "kir/define/define.h"
#include "plan/steps/tree.h"
#include "plan/steps/writer.h"
#include <stdio.h>
#include <string.h>

enum { X, OUT, WORK }; /* arrays */

typedef struct reducer {
    expand_kernel w;
    hg_op op;
    hg_type given; /* of x */
    bool first, last;
    hg_type tree;       /* type of the tree's operations */
    uint8_t type, cell; /* of a value, of an accumulator in shared memory */
    bool in_memory;
    kir_value *block; /* u64 */
} reducer;

static hg_type tree_type(hg_type type) { return kir_is_half(type) ? HG_TYPE_F32 : type; }

bool plan_reduce_in_memory(hg_type type) { return hg_type_size_bytes(type) > 8; }
uint64_t plan_reduce_element(hg_type type) { return hg_type_size_bytes(tree_type(type)); }
uint64_t plan_reduce_shared(hg_type type) {
    uint64_t size = plan_reduce_element(type);
    return plan_reduce_in_memory(type) ? 0 : PLAN_ACCUMULATORS * (size < 4 ? 4 : size);
}

static kir_value *widen(reducer *d, kir_value *n) {
    return kir_convert(&d->w.b, KIR_ZEXT, HG_TYPE_U64, n);
}

static kir_value *combine(reducer *d, kir_value *x, kir_value *y) {
    return kir_operate(&d->w.b, (uint16_t)d->op, d->tree, (kir_value *[]){x, y});
}

/* ---- accumulators ---- */

static kir_value *shared_access(reducer *d, kir_op op, kir_value *index, kir_value *value) {
    kir_place at = {.space = KIR_SHARED, .unchecked = true};
    at.index = kir_mul(&d->w.b, widen(d, index), u64(&d->w.b, kir_type_bytes(d->cell)));
    return kir_access_make(&d->w.b, op, d->cell, &at, value != NULL, &value);
}

static kir_value *work_index(reducer *d, kir_value *index) {
    kir_value *first = kir_mul(&d->w.b, d->block, u64(&d->w.b, PLAN_ACCUMULATORS));
    return kir_mul(&d->w.b, kir_add(&d->w.b, first, widen(d, index)),
                   u64(&d->w.b, kir_type_bytes(d->type)));
}

static kir_value *get(reducer *d, kir_value *index) {
    if (d->in_memory) return expand_load(&d->w, d->type, WORK, work_index(d, index));
    kir_value *v = shared_access(d, KIR_LOAD, index, NULL);
    return d->cell == d->type ? v : kir_convert(&d->w.b, KIR_TRUNC, d->type, v);
}

static void put(reducer *d, kir_value *index, kir_value *value) {
    if (d->in_memory)
        expand_store(&d->w, WORK, work_index(d, index), value);
    else
        shared_access(d, KIR_STORE, index,
                      d->cell == d->type ? value : kir_convert(&d->w.b, KIR_ZEXT, d->cell, value));
}

/* ---- elements ---- */

static kir_value *element(reducer *d, kir_value *offset) {
    hg_type type = d->given;
    if (!kir_is_half(type) || !d->first) return expand_load(&d->w, d->type, X, offset);
    return kir_convert(&d->w.b, type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, HG_TYPE_F32,
                       expand_load(&d->w, HG_TYPE_U16, X, offset));
}

static void finish(reducer *d, kir_value *value) {
    hg_type type = d->given;
    if (kir_is_half(type) && d->last) value = kir_narrow_half(&d->w.b, type, value);
    kir_value *offset = kir_mul(&d->w.b, d->block, u64(&d->w.b, kir_type_bytes(value->type)));
    expand_store(&d->w, OUT, offset, value);
}

/* The lane's own elements: lane, lane + 128, … below count, in order. */
static void accumulate(reducer *d, kir_value *lane, kir_value *count) {
    kir_builder *b = &d->w.b;
    uint64_t size = kir_is_half(d->given) && d->first ? 2 : kir_type_bytes(d->type);
    if (b->failed) return;
    kir_function *main = b->function;
    kir_var *sum = kir_var_create(b->module, main, d->type, 0, "sum"),
            *at = kir_var_create(b->module, main, HG_TYPE_U32, 0, "at");
    kir_var *place = kir_var_create(b->module, main, HG_TYPE_U64, 0, "place");
    kir_value *first = kir_mul(
        b, kir_add(b, kir_mul(b, d->block, u64(&d->w.b, PLAN_CHUNK)), widen(d, lane)),
        u64(&d->w.b, size));
    kir_set(b, sum, element(d, first));
    kir_set(b, at, kir_add(b, lane, u32(&d->w.b, PLAN_ACCUMULATORS)));
    kir_set(b, place, first);
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *i = kir_get(b, at), *done = kir_if_begin(b, kir_not(b, below(&d->w.b, i, count)));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *offset = kir_add(b, kir_get(b, place), u64(&d->w.b, PLAN_ACCUMULATORS * size));
    kir_set(b, place, offset);
    kir_value *so_far = kir_get(b, sum);
    kir_set(b, sum, combine(d, so_far, element(d, offset)));
    kir_set(b, at, kir_add(b, i, u32(&d->w.b, PLAN_ACCUMULATORS)));
    kir_loop_end(b, loop);
    put(d, lane, kir_get(b, sum));
}

static void barrier(reducer *d) { kir_emit(&d->w.b, KIR_BARRIER, KIR_VOID, 0, NULL); }

/* acc[lane] op= acc[lane + s] where both exist. */
static void halve(reducer *d, kir_value *lane, kir_value *count, uint32_t s) {
    kir_builder *b = &d->w.b;
    kir_value *other = kir_add(b, lane, u32(&d->w.b, s));
    kir_value *branch = kir_if_begin(b,
                                     kir_binary(b, KIR_AND, below(&d->w.b, lane, u32(&d->w.b, s)),
                                                below(&d->w.b, other, count)));
    kir_value *own = get(d, lane);
    put(d, lane, combine(d, own, get(d, other)));
    kir_if_end(b, branch);
}

kir_module *plan_reduce_kernel(const plan_kernel_key *key) {
    char name[64];
    hg_type type = (hg_type)key->type;
    reducer d_ = {.op = (hg_op)key->fn,
                  .given = type,
                  .tree = tree_type(type),
                  .in_memory = plan_reduce_in_memory(type)},
            *d = &d_;
    d->first = key->choice & PLAN_REDUCE_FIRST;
    d->last = key->choice & PLAN_REDUCE_LAST;
    d->type = d->cell = kir_type_of(d->tree);
    if (kir_type_bytes(d->type) < 4) d->cell = HG_TYPE_U32;
    snprintf(name, sizeof name, "reduce_%s_%s%s%s", hg_op_get(d->op)->text, hg_type_name(type),
             d->first ? "_first" : "", d->last ? "_last" : "");
    expand_begin(&d->w, key, name);
    kir_builder *b = &d->w.b;
    if (b->module) {
        b->module->uses_barrier = true;
        b->module->uses_shared = !d->in_memory;
    }
    kir_value *lane = expand_id(&d->w, HG_ID_LANE_IDX_X, HG_TYPE_U32),
              *count = expand_value(&d->w, 0);
    d->block = widen(d, expand_id(&d->w, HG_ID_BLOCK_IDX_X, HG_TYPE_U32));
    kir_value *left = kir_sub(b, count, kir_mul(b, d->block, u64(&d->w.b, PLAN_CHUNK)));
    left = kir_select(b, below(&d->w.b, left, u64(&d->w.b, PLAN_CHUNK)), left,
                      u64(&d->w.b, PLAN_CHUNK));
    kir_value *mine = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, left); /* elements of this chunk */
    kir_value *branch = kir_if_begin(b, below(&d->w.b, lane, mine));
    accumulate(d, lane, mine);
    kir_if_end(b, branch);
    barrier(d);
    for (uint32_t s = PLAN_ACCUMULATORS / 2; s >= 1; s /= 2) {
        halve(d, lane, mine, s);
        barrier(d);
    }
    branch = kir_if_begin(b, kir_binary(b, KIR_CMP_EQ, lane, u32(&d->w.b, 0)));
    finish(d, get(d, lane));
    kir_if_end(b, branch);
    return expand_end(&d->w);
}

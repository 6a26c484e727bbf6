/* parallel_map, parallel_map_binary: out[i] = fn(in[0][i], …), a lane an element. */
#include "kir/define/define.h"
#include "plan/steps/tree.h"
#include "plan/steps/writer.h"
#include <stdio.h>

enum { BLOCK = 256 };

static void ranges(plan_call *call) {
    uint32_t count = hg_op_get((hg_op)call->op)->operand_count - 1u;
    for (uint32_t i = 0; i < call->array_count; i++) plan_array_shape(&call->arrays[i], 1, &call->operands[count].words[0]);
}

/* Arrays: the inputs, then the output. */
static kir_module *make(const plan_kernel_key *key) {
    char name[64];
    hg_type type = (hg_type)key->type;
    snprintf(name, sizeof name, "map_%s_%s", kir_fn_name(key->fn), hg_type_name(type));
    expand_kernel w;
    kir_builder *b = &w.b;
    expand_begin(&w, key, name);
    uint32_t inputs = key->arrays - 1u;
    kir_value *lane = expand_id(&w, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64), *a[3] = {0};
    kir_value *index = kir_mul(b, lane, kir_const(b, HG_TYPE_U64, hg_type_size_bytes(type)));
    for (uint32_t i = 0; i < inputs; i++) a[i] = expand_load(&w, kir_type_of(type), i, index);
    expand_store(&w, inputs, index, kir_operate(b, key->fn, type, a));
    return expand_end(&w);
}

static plan_kernel_key key_of(uint16_t fn, hg_type type) {
    return (plan_kernel_key){.make = make, .fn = fn, .type = (uint8_t)type, .arrays = (uint8_t)(kir_operate_args(fn) + 1)};
}

kir_module *plan_map_kernel(uint16_t fn, hg_type type) {
    plan_kernel_key key = key_of(fn, type);
    return make(&key);
}

static void expand(const plan_call *call, plan_expansion *x) {
    plan_kernel_key key = key_of(call->fn, (hg_type)call->type);
    plan_part parts[4];
    for (uint32_t i = 1; i < call->array_count; i++) parts[i - 1] = plan_whole(call, i);
    parts[call->array_count - 1] = plan_whole(call, 0);
    plan_expand_launch(x, &key, call->arrays[0].extents[0], BLOCK, 0, parts, NULL);
}

static plan_cost cost(const plan_call *call) { return (plan_cost){plan_call_bytes(call), call->arrays[0].extents[0]}; }

const plan_collective plan_collective_map = {.ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};

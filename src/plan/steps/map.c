/* parallel_map, parallel_map_binary: out[i] = fn(in[0][i], …), a lane an element. */
#include "kir/define/define.h"
#include "plan/steps/chain.h"
#include "plan/steps/tree.h"
#include "plan/steps/writer.h"
#include <stdio.h>

enum { BLOCK = 256 };

static void ranges(plan_call *call) {
    uint32_t count = hg_op_get((hg_op)call->op)->operand_count - 1u;
    for (uint32_t i = 0; i < call->array_count; i++) plan_array_shape(&call->arrays[i], 1, &call->operands[count].words[0]);
}

/* ---- the kernel ---- */

typedef struct maps {
    expand_kernel w;
    kir_value *lane, *index; /* the byte of a lane's element */
    uint64_t size;           /* of that element */
    struct {
        kir_value *value, *index; /* NULL: not loaded so far, not changed */
    } elements[PLAN_CHAIN_ARRAYS];
} maps;

static void write_link(maps *m, const plan_link *link) {
    kir_builder *b = &m->w.b;
    hg_type type = (hg_type)link->type;
    kir_value *a[PLAN_LINK_INPUTS] = {0};
    uint64_t size = hg_type_size_bytes(type);
    if (size != m->size) m->index = kir_mul(b, m->lane, kir_const(b, HG_TYPE_U64, size));
    m->size = size;
    for (uint8_t i = 0; i < kir_operate_args(link->fn); i++) {
        kir_value **value = &m->elements[link->in[i]].value;
        if (!*value) *value = expand_load(&m->w, kir_type_of(type), link->in[i], m->index);
        a[i] = *value;
    }
    m->elements[link->out].value = kir_operate(b, link->fn, type, a);
    m->elements[link->out].index = m->index;
}

static kir_module *write_links(const plan_kernel_key *key, const plan_chain *chain, const char *name) {
    maps m = {.size = 0};
    expand_begin(&m.w, key, name);
    m.lane = expand_id(&m.w, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64);
    for (uint8_t i = 0; i < chain->count; i++) write_link(&m, &chain->links[i]);
    for (uint8_t i = 0; i < chain->arrays; i++)
        if (m.elements[i].index) expand_store(&m.w, i, m.elements[i].index, m.elements[i].value);
    return expand_end(&m.w);
}

kir_module *plan_maps_kernel(const plan_kernel_key *key) {
    char name[64];
    const plan_link *first = &key->chain->links[0];
    snprintf(name, sizeof name, "maps_%u_%s_%s", (unsigned)key->chain->count, kir_fn_name(first->fn), hg_type_name((hg_type)first->type));
    return write_links(key, key->chain, name);
}

/* Arrays: the inputs, then the output. */
static kir_module *make(const plan_kernel_key *key) {
    char name[64];
    plan_chain chain = {.count = 1, .arrays = key->arrays};
    chain.links[0] = (plan_link){.fn = key->fn, .type = key->type, .out = (uint8_t)(key->arrays - 1u), .in = {0, 1, 2}};
    snprintf(name, sizeof name, "map_%s_%s", kir_fn_name(key->fn), hg_type_name((hg_type)key->type));
    return write_links(key, &chain, name);
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

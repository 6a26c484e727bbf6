/* parallel_map, parallel_map_binary: out[i] = fn(in[0][i], …), a lane an element, or several
 * neighbouring ones. */
#include "kir/define/define.h"
#include "plan/steps/chain.h"
#include "plan/steps/tree.h"
#include "plan/steps/writer.h"
#include <stdio.h>
#include <string.h>

enum { BLOCK = 256 };

static void ranges(plan_call *call) {
    uint32_t count = hg_op_get((hg_op)call->op)->operand_count - 1u;
    for (uint32_t i = 0; i < call->array_count; i++)
        plan_array_shape(&call->arrays[i], 1, &call->operands[count].words[0]);
}

/* ---- the kernel ---- */

_Static_assert(PLAN_MAP_ELEMENTS == 16, "the most bytes of map.bytes");

/* The elements of a lane, which all lie one after another. */
typedef struct maps {
    expand_kernel w;
    kir_value *first; /* number of the lane's first element */
    struct {
        kir_value *value, *index; /* NULL: not loaded so far, not changed */
    } elements[PLAN_MAP_ELEMENTS][PLAN_CHAIN_ARRAYS];
} maps;

/* The byte of the lane's element number i of that type. */
static kir_value *byte_of(maps *m, uint64_t size, uint32_t i) {
    kir_builder *b = &m->w.b;
    kir_value *at = kir_mul(b, m->first, kir_const(b, HG_TYPE_U64, size));
    return i ? kir_add(b, at, kir_const(b, HG_TYPE_U64, i * size)) : at;
}

static void write_link(maps *m, const plan_link *link, uint32_t i, kir_value *index) {
    hg_type type = (hg_type)link->type;
    kir_value *a[PLAN_LINK_INPUTS] = {0};
    for (uint8_t k = 0; k < kir_operate_args(link->fn); k++) {
        kir_value **value = &m->elements[i][link->in[k]].value;
        if (!*value) *value = expand_load(&m->w, kir_type_of(type), link->in[k], index);
        a[k] = *value;
    }
    m->elements[i][link->out].value = kir_operate(&m->w.b, link->fn, type, a);
    m->elements[i][link->out].index = index;
}

/* Elements first … first + count - 1: all are loaded before any is stored, so that what lies side
 * by side can be one access. */
static void write_elements(maps *m, const plan_chain *chain, uint32_t count) {
    memset(m->elements, 0, sizeof m->elements);
    for (uint32_t i = 0; i < count; i++) {
        kir_value *index = NULL;
        uint64_t of_size = 0;
        for (uint8_t k = 0; k < chain->count; k++) {
            uint64_t size = hg_type_size_bytes((hg_type)chain->links[k].type);
            if (size != of_size) index = byte_of(m, size, i);
            of_size = size;
            write_link(m, &chain->links[k], i, index);
        }
    }
    for (uint8_t k = 0; k < chain->arrays; k++)
        for (uint32_t i = 0; i < count; i++)
            if (m->elements[i][k].index)
                expand_store(&m->w, k, m->elements[i][k].index, m->elements[i][k].value);
}

/* With key->choice elements a lane, the first value is how many lanes have so many; the others have
 * one each, of those that are left. */
static void write_several(maps *m, const plan_chain *chain, uint32_t count) {
    kir_builder *b = &m->w.b;
    kir_value *lane = m->first, *whole = expand_value(&m->w, 0),
              *is_whole = kir_binary(b, KIR_CMP_ULT, lane, whole);
    kir_value *branch = kir_if_begin(b, is_whole);
    m->first = kir_mul(b, lane, kir_const(b, HG_TYPE_U64, count));
    write_elements(m, chain, count);
    kir_if_else(b, branch);
    m->first = kir_add(b, lane, kir_mul(b, whole, kir_const(b, HG_TYPE_U64, count - 1)));
    write_elements(m, chain, 1);
    kir_if_end(b, branch);
}

static kir_module *write_links(const plan_kernel_key *key, const plan_chain *chain,
                               const char *name) {
    maps m;
    expand_begin(&m.w, key, name);
    m.first = expand_id(&m.w, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64);
    if (key->choice > 1)
        write_several(&m, chain, key->choice);
    else
        write_elements(&m, chain, 1);
    return expand_end(&m.w);
}

bool plan_map_can_fault(uint16_t fn, hg_type type) {
    return fn == HG_OP_POWM || (!hg_type_is_float(type) && (fn == HG_OP_DIV || fn == HG_OP_REM));
}

/* Where the device joins accesses that lie side by side, a lane of short maps has several elements:
 * so many bytes of the array with the largest. A fault tells the lane for the element. */
static uint32_t elements_of_lane(const plan_expansion *x, const plan_chain *chain) {
    enum { MOST_OPERATIONS = 64 };
    uint64_t bytes = plan_tile(x, LIBRARY_TILE_MAP_BYTES), largest = 1;
    for (uint8_t i = 0; i < chain->count; i++) {
        const plan_link *link = &chain->links[i];
        uint64_t size = hg_type_size_bytes((hg_type)link->type);
        if (plan_is_long(link->fn) || plan_map_can_fault(link->fn, (hg_type)link->type)) return 1;
        if (size > largest) largest = size;
    }
    uint64_t count = bytes / largest;
    while (count * chain->count > MOST_OPERATIONS) count /= 2;
    return count > 1 ? (uint32_t)count : 1;
}

void plan_maps_launch(plan_expansion *x, plan_kernel_key *key, const plan_chain *chain, uint64_t n,
                      const plan_part *parts) {
    uint32_t count = elements_of_lane(x, chain);
    uint64_t whole = n / count;
    if (count > 1) {
        key->choice = count;
        key->values = 1;
    }
    plan_expand_launch(x, key, whole + n % count, BLOCK, 0, parts, count > 1 ? &whole : NULL);
}

kir_module *plan_maps_kernel(const plan_kernel_key *key) {
    char name[64];
    const plan_link *first = &key->chain->links[0];
    snprintf(name, sizeof name, "maps_%u_%s_%s", (unsigned)key->chain->count,
             kir_fn_name(first->fn), hg_type_name((hg_type)first->type));
    return write_links(key, key->chain, name);
}

/* Arrays: the inputs, then the output. */
static plan_chain chain_of(const plan_kernel_key *key) {
    plan_chain chain = {.count = 1, .arrays = key->arrays};
    chain.links[0] = (plan_link){
        .fn = key->fn, .type = key->type, .out = (uint8_t)(key->arrays - 1u), .in = {0, 1, 2}};
    return chain;
}

static kir_module *make(const plan_kernel_key *key) {
    char name[64];
    plan_chain chain = chain_of(key);
    snprintf(name, sizeof name, "map_%s_%s", kir_fn_name(key->fn),
             hg_type_name((hg_type)key->type));
    return write_links(key, &chain, name);
}

static plan_kernel_key key_of(uint16_t fn, hg_type type) {
    return (plan_kernel_key){.make = make,
                             .fn = fn,
                             .type = (uint8_t)type,
                             .arrays = (uint8_t)(kir_operate_args(fn) + 1)};
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
    plan_chain chain = chain_of(&key);
    plan_maps_launch(x, &key, &chain, call->arrays[0].extents[0], parts);
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call), call->arrays[0].extents[0]};
}

const plan_collective plan_collective_map = {
    .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};

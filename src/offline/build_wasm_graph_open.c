/* Extents of an array graph that come with the call, in a module of WebAssembly that stands alone:
 * they are worked out once, then where the slots of the workspace begin, as build_graph_open.c has
 * them in C, and looked at before the first launch.
 * Must not know: launches, kernels. */
#include "offline/build_wasm_internal.h"
#include <string.h>

enum { NUMBER = 16, BAD = 8 /* of a record: the number, whether there is none */ };

static const build_graph *graph_of(const build_wasm *k) { return k->job->graph; }

static bool is_known(const build_graph *b, graph_extent e) { return b->extents[e] != UINT64_MAX; }

void build_wasm_lay_out_extents(build_wasm *k) {
    const build_graph *b = graph_of(k);
    if (!b->open) return;
    k->open.extents = bw_take_memory(k, NUMBER * b->g->terms.count);
    k->open.slots = bw_take_memory(k, 8 * (b->slot_count + UINT64_C(1)));
}

/* ---- numbers ---- */

void build_wasm_push_graph_extent(build_wasm *k, graph_extent e) {
    const uint32_t at = k->open.extents + NUMBER * e;
    if (is_known(graph_of(k), e)) {
        w_i64(k->c, graph_of(k)->extents[e]);
        return;
    }
    bw_load(k->c, W_I32_LOAD, at + BAD);
    build_wasm_set_bad(k);
    bw_load(k->c, W_I64_LOAD, at);
}

void build_wasm_push_value_bytes(build_wasm *k, uint32_t value) {
    const graph_value *v = &graph_of(k)->g->values.data[value];
    uint64_t bytes;
    if (is_known(graph_of(k), v->elements) &&
        hg_mul_u64(graph_of(k)->extents[v->elements], graph_type_bytes(v), &bytes)) {
        w_i64(k->c, bytes);
        return;
    }
    build_wasm_push_graph_extent(k, v->elements);
    w_i64(k->c, graph_type_bytes(v));
    build_wasm_apply(k, HG_EXTENT_OP_MUL);
}

void build_wasm_push_begin(build_wasm *k, const build_place *place) {
    const build_graph *b = graph_of(k);
    w_i64(k->c, b->open ? 0 : place->begin);
    if (!b->open) return;
    for (const graph_value *v = &b->g->values.data[place->of]; v->source == GRAPH_VIEW;
         v = &b->g->values.data[v->of]) {
        build_wasm_push_graph_extent(k, v->offset);
        w_i64(k->c, graph_type_bytes(v));
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
        build_wasm_apply(k, HG_EXTENT_OP_ADD);
    }
}

void build_wasm_push_slot(build_wasm *k, uint32_t slot) {
    bw_load(k->c, W_I64_LOAD, k->open.slots + 8 * slot);
}

static void clear_bad(build_wasm *k) {
    w_i32(k->c, 0);
    w_set(k->c, k->f.bad);
}

/* ---- what follows from the symbols ---- */

/* Symbols are the first parameters of the graph. */
static uint32_t local_of(const build_wasm *k, uint64_t symbol) {
    uint32_t local = 0;
    for (uint64_t i = 0; i < symbol; i++) local += !graph_of(k)->face.fixed[i];
    return local;
}

/* Operands stand in front of their operation. */
static void write_terms(build_wasm *k, uint32_t number) {
    const build_graph *b = graph_of(k);
    for (uint32_t i = 0; i < b->g->terms.count; i++) {
        const graph_term *t = &b->g->terms.data[i];
        const uint32_t at = k->open.extents + NUMBER * i;
        if (is_known(b, i)) continue;
        clear_bad(k);
        if (t->kind == HG_EXTENT_OP_PARAM) {
            w_get(k->c, local_of(k, t->value));
        } else if (t->kind == HG_EXTENT_OP_NUMBER) {
            w_i64(k->c, t->value);
        } else {
            build_wasm_push_graph_extent(k, t->left);
            build_wasm_push_graph_extent(k, t->right);
            build_wasm_apply(k, (hg_extent_op_kind)t->kind);
        }
        w_set(k->c, number);
        bw_store(k->c, W_I64_STORE, at, number);
        bw_store(k->c, W_I32_STORE, at + BAD, k->f.bad);
    }
}

/* Each is as large as the largest of its values. Where all end is 2^64 - 1 if that is no number. */
static void write_slots(build_wasm *k, uint32_t number) {
    const build_graph *b = graph_of(k);
    const uint32_t end = wasm_take(k->c, WASM_I64), bytes = wasm_take(k->c, WASM_I64);
    clear_bad(k);
    w_i64(k->c, 0);
    w_set(k->c, end);
    for (uint32_t s = 0; s <= b->slot_count; s++) {
        w_i64(k->c, s < b->slot_count);
        for (uint32_t i = 0; i < b->g->values.count; i++) {
            const graph_life *life = &b->memory.lives[i];
            if (life->first > life->last || b->slots[i] != s) continue;
            build_wasm_push_value_bytes(k, i);
            build_wasm_apply(k, HG_EXTENT_OP_MAX);
        }
        build_wasm_push_part(k, end, bytes);
        w_set(k->c, number);
        if (s == b->slot_count) {
            w_i64(k->c, UINT64_MAX);
            w_get(k->c, number);
            w_get(k->c, k->f.bad);
            w(k->c, W_SELECT);
            w_set(k->c, number);
        }
        bw_store(k->c, W_I64_STORE, k->open.slots + 8 * s, number);
    }
}

hg_status build_wasm_add_extents(build_wasm *k) {
    const build_graph *b = graph_of(k);
    hg_text signature = {0};
    wasm_code code;
    if (!b->open) return HG_OK;
    for (uint32_t i = local_of(k, b->g->symbols.count); i > 0; i--) hg_text_addf(&signature, "I");
    hg_text_addf(&signature, ":");
    const bool good = signature.data && !signature.failed;
    if (good) {
        k->open.find = wasm_declare(k->m, "extents", signature.data, false);
        wasm_begin(&code, signature.data);
        k->c = &code;
        k->f.bad = wasm_take(&code, WASM_I32);
        const uint32_t number = wasm_take(&code, WASM_I64);
        write_terms(k, number);
        write_slots(k, number);
        wasm_define(k->m, k->open.find, &code);
    }
    hg_text_free(&signature);
    return good ? HG_OK : hg_fail_memory();
}

void build_wasm_find_extents(build_wasm *k) {
    const build_graph *b = graph_of(k);
    k->f.bad = wasm_take(k->c, WASM_I32);
    if (!b->open) return;
    for (uint32_t i = 0; i < local_of(k, b->g->symbols.count); i++) w_get(k->c, i);
    w_number(k->c, W_CALL, k->open.find);
}

/* ---- checks ---- */

/* Elements of memory from the first to the last of a value. */
static void push_reach(build_wasm *k, const graph_value *v) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    build_wasm_push_graph_extent(k, v->elements);
    if (!v->strided) return;
    const uint32_t elements = wasm_take(c, WASM_I64), reach = wasm_take(c, WASM_I64),
                   before = wasm_take(c, WASM_I32);
    w_set(c, elements);
    w_get(c, k->f.bad);
    w_set(c, before);
    w_i64(c, 1);
    for (uint8_t d = 0; d < v->rank; d++) {
        build_wasm_push_graph_extent(k, v->extents[d]);
        w_i64(c, 1);
        build_wasm_apply(k, HG_EXTENT_OP_SUB);
        build_wasm_push_graph_extent(k, v->strides[d]);
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
        build_wasm_apply(k, HG_EXTENT_OP_ADD);
    }
    w_set(c, reach);
    w_get(c, k->f.bad); /* without elements nothing is reached, and nothing is wrong with it */
    w_get(c, before);
    w_get(c, elements);
    w_i64(c, 0);
    w(c, W_I64_NE);
    w(c, W_SELECT);
    w_set(c, k->f.bad);
    w_get(c, reach);
    w_i64(c, 0);
    w_get(c, elements);
    w_i64(c, 0);
    w(c, W_I64_NE);
    w(c, W_SELECT);
    wasm_release(c, mark);
}

static void write_check(void *user, const build_check *check) {
    build_wasm *k = user;
    const graph_value *values = graph_of(k)->g->values.data, *v = &values[check->value];
    wasm_code *c = k->c;
    clear_bad(k);
    switch (check->kind) { /* whether it does not hold */
    case BUILD_CHECK_EXTENT:
        build_wasm_push_graph_extent(k, check->x);
        w(c, W_DROP);
        w_i32(c, 0);
        break;
    case BUILD_CHECK_SIZE:
        build_wasm_push_value_bytes(k, check->value);
        w_i64(c, INT64_MAX);
        w(c, W_I64_GT_U);
        break;
    case BUILD_CHECK_VIEW:
        build_wasm_push_graph_extent(k, v->offset);
        push_reach(k, v);
        build_wasm_apply(k, HG_EXTENT_OP_ADD);
        push_reach(k, &values[v->of]);
        w(c, W_I64_GT_U);
        break;
    case BUILD_CHECK_SAME:
        build_wasm_push_graph_extent(k, check->x);
        build_wasm_push_graph_extent(k, check->y);
        w(c, W_I64_NE);
        break;
    case BUILD_CHECK_HOLDS:
        build_wasm_push_graph_extent(k, check->x);
        w_i64(c, check->bits);
        w(c, W_I64_SHR_U);
        w_i64(c, 0);
        w(c, W_I64_NE);
        break;
    }
    build_wasm_set_bad(k);
    w_get(c, k->f.bad);
    (void)w_open(c, W_IF, WASM_VOID);
    bw_store_i32(c, k->run + FOUND_MESSAGE,
                 k->m->alone.base + wasm_data(k->m, check->words, strlen(check->words) + 1, 1));
    w(c, W_END);
    w_get(c, k->f.bad);
    build_wasm_refuse_if(k, 0);
}

hg_status build_wasm_check_extents(build_wasm *k) {
    return build_find_checks(k->job, write_check, k);
}

/* Loops and branches: a program of one lane, in which arrays are scratch. */
#include "hlo/lower.h"
#include <string.h>

/* An operation that is loops of one lane: between programs a program of its own, whose results are
 * its outputs. body binds the results. */
void shlo_in_loops(shlo_lower *w, const shlo_op *op,
                   void (*body)(shlo_lower *w, const shlo_op *op)) {
    shlo_kernel kernel;
    uint32_t outside = w->block;
    if (w->scalars) shlo_refuse(w, "an array in a region of scalars is not read");
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++) {
        shlo_tensor *t = shlo_operand(w, op, i); /* it may be read in each round */
        if (t && t->kind == SHLO_PUT_OFF) shlo_bind(w, op->operands[i], shlo_array(w, t));
    }
    if (w->status != HG_OK) return;
    if (w->k) {
        body(w, op);
        return;
    }
    shlo_begin(w, &kernel, NULL);
    w->block = ++w->blocks;
    body(w, op);
    w->block = outside;
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
        shlo_tensor *t = w->env[op->results + i];
        if (t->kind == SHLO_ARRAY && !t->storage->local) continue;
        shlo_storage *s = shlo_output(w, &t->type);
        shlo_copy(w, s, t);
        if (s) shlo_bind(w, op->results + i, shlo_stored(w, &t->type, s));
    }
    shlo_end(w);
}

/* The one element of a scalar. */
static shlo_scalar scalar_of(shlo_lower *w, const shlo_tensor *t) {
    const char *none[SHLO_MAX_RANK] = {0};
    if (t && t->type.rank) shlo_refuse(w, "expected a scalar");
    return shlo_element(w, t, none);
}

/* ---- while ---- */

static bool returns(const shlo_region *region, uint32_t i, uint32_t value) {
    const shlo_op *op = region->first;
    while (op && op->next) op = op->next;
    return op && i < op->operand_count && op->operands[i] == value;
}

/* What the body makes of the state, in memory of its own before any of the state is written. */
static void take_state(shlo_lower *w, const shlo_op *op, shlo_tensor **next, shlo_storage **state) {
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++) {
        if (!state[i]) continue;
        bool own = next[i]->kind == SHLO_ARRAY && next[i]->storage->local &&
                   next[i]->block == w->block;
        for (uint32_t j = 0; j < op->operand_count; j++)
            own &= next[i]->kind != SHLO_ARRAY || next[i]->storage != state[j];
        if (own) continue;
        shlo_storage *s = shlo_scratch(w, &next[i]->type);
        shlo_copy(w, s, next[i]);
        next[i] = shlo_stored(w, &next[i]->type, s);
    }
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++)
        if (state[i]) shlo_copy(w, state[i], next[i]);
}

static bool same_shape(shlo_lower *w, const shlo_type *a, const shlo_type *b) {
    bool same = a->rank == b->rank && a->element == b->element && a->complex == b->complex &&
                !memcmp(a->dims, b->dims, sizeof a->dims);
    if (!same) shlo_refuse(w, "values that go from round to round have one type");
    return same;
}

static void while_loop(shlo_lower *w, const shlo_op *op) {
    shlo_region *cond = op->regions, *body = cond ? cond->next : NULL;
    uint32_t count = op->operand_count, outside = w->block;
    shlo_storage **state = shlo_make(w, (count + 1) * sizeof *state);
    shlo_tensor **next = shlo_make(w, (count + 1) * sizeof *next),
                **held = shlo_make(w, (count + 1) * sizeof *held), *test;
    if (!body || cond->arg_count != count || body->arg_count != count || op->result_count != count)
        shlo_refuse(w, "expected a condition and a body with an argument for each operand");
    if (!state || !next || !held || w->status != HG_OK) return;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        shlo_tensor *t = shlo_operand(w, op, i);
        bool stays = returns(body, i, body->args[i]);
        if (!t || !same_shape(w, &t->type, &op->types[i])) return;
        state[i] = stays ? NULL : shlo_scratch(w, &t->type);
        if (!stays) shlo_copy(w, state[i], t);
        held[i] = stays ? t : shlo_stored(w, &t->type, state[i]);
        shlo_bind(w, cond->args[i], held[i]);
        shlo_bind(w, body->args[i], held[i]);
    }
    if (w->status != HG_OK) return;
    w->block = ++w->blocks;
    uint64_t known = shlo_open(w, "loop");
    shlo_walk(w, cond, &test, 1);
    if (w->status == HG_OK) {
        uint64_t inner = shlo_open(w, "if %s == 0", scalar_of(w, test).re);
        shlo_line(w, "break");
        shlo_close(w, inner, "}");
    }
    shlo_walk(w, body, next, count);
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        same_shape(w, &next[i]->type, &op->types[i]);
    take_state(w, op, next, state);
    shlo_close(w, known, "}");
    w->block = outside;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        held[i] = state[i] ? shlo_stored(w, &op->types[i], state[i]) : held[i];
        shlo_bind(w, op->results + i, held[i]);
    }
}

void shlo_apply_loop(shlo_lower *w, const shlo_op *op) { shlo_in_loops(w, op, while_loop); }

/* ---- case, if ---- */

static void branch(shlo_lower *w, const shlo_op *op, const shlo_region *region, shlo_storage **to) {
    shlo_tensor **results = shlo_make(w, (op->result_count + 1) * sizeof *results);
    uint32_t outside = w->block;
    if (!results) return;
    w->block = ++w->blocks;
    shlo_walk(w, region, results, op->result_count);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        if (same_shape(w, &results[i]->type, &op->types[i])) shlo_copy(w, to[i], results[i]);
    w->block = outside;
}

static void branch_out(shlo_lower *w, const shlo_op *op) {
    shlo_storage **to = shlo_make(w, (op->result_count + 1) * sizeof *to);
    const shlo_region *region = op->regions;
    bool is_if = shlo_is(&op->name, "stablehlo.if");
    shlo_tensor *t = shlo_operand(w, op, 0);
    if (!region || (is_if && (!region->next || region->next->next)))
        shlo_refuse(w, "expected its regions");
    if (!to || w->status != HG_OK) return;
    const char *index = scalar_of(w, t).re;
    for (uint32_t i = 0; i < op->result_count; i++) to[i] = shlo_scratch(w, &op->types[i]);
    uint64_t known = 0;
    uint32_t opened = 0;
    for (uint32_t i = 0; region && w->status == HG_OK; region = region->next, i++) {
        if (region->next) {
            known = is_if ? shlo_open(w, "if %s != 0", index)
                          : shlo_open(w, "if %s == %u", index, (unsigned)i);
            opened++;
        }
        branch(w, op, region, to);
        if (region->next) shlo_close(w, known, "} else {");
    }
    while (opened--) shlo_close(w, known, "}");
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        shlo_bind(w, op->results + i, shlo_stored(w, &op->types[i], to[i]));
}

void shlo_apply_branches(shlo_lower *w, const shlo_op *op) { shlo_in_loops(w, op, branch_out); }

/* Loops and branches: a program of one lane, in which arrays are scratch. */
#include "hlo/lower.h"
#include <string.h>

/* An operation that is loops of one lane: between programs a program of its own, whose results are
 * its outputs. body binds the results. */
void mlir_in_loops(mlir_lower *w, const mlir_op *op,
                   void (*body)(mlir_lower *w, const mlir_op *op)) {
    mlir_kernel kernel;
    uint32_t outside = w->block;
    mlir_tensor **given = mlir_make(w, (op->operand_count + 1) * sizeof *given);
    if (w->scalars) mlir_refuse(w, "an array in a region of scalars is not read");
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++) {
        mlir_tensor *t = given[i] = mlir_operand(w, op, i); /* it may be read in each round */
        if (t && t->kind == MLIR_PUT_OFF) mlir_bind(w, op->operands[i], mlir_array(w, t));
    }
    if (w->status != HG_OK) return;
    if (w->k) {
        body(w, op);
        for (uint32_t i = op->operand_count; i-- > 0;) /* arrays of this block are for it alone */
            mlir_bind(w, op->operands[i], given[i]);
        return;
    }
    mlir_begin(w, &kernel, NULL);
    w->block = ++w->blocks;
    body(w, op);
    w->block = outside;
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
        mlir_tensor *t = w->env[op->results + i];
        if (t->kind == MLIR_ARRAY && !t->storage->local) continue;
        mlir_storage *s = mlir_output(w, &t->type);
        mlir_copy(w, s, t);
        if (s) mlir_bind(w, op->results + i, mlir_stored(w, &t->type, s));
    }
    mlir_end(w);
}

/* The one element of a scalar. */
static mlir_scalar scalar_of(mlir_lower *w, const mlir_tensor *t) {
    const char *none[MLIR_MAX_RANK] = {0};
    if (t && t->type.rank) mlir_refuse(w, "expected a scalar");
    return mlir_element(w, t, none);
}

/* ---- while ---- */

static bool returns(const mlir_region *region, uint32_t i, uint32_t value) {
    const mlir_op *op = region->first;
    while (op && op->next) op = op->next;
    return op && i < op->operand_count && op->operands[i] == value;
}

/* What the body makes of the state, in memory of its own before any of the state is written. */
static void take_state(mlir_lower *w, const mlir_op *op, mlir_tensor **next, mlir_storage **state) {
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++) {
        if (!state[i]) continue;
        bool own = next[i]->kind == MLIR_ARRAY && next[i]->storage->local &&
                   next[i]->block == w->block;
        for (uint32_t j = 0; j < op->operand_count; j++)
            own &= next[i]->kind != MLIR_ARRAY || next[i]->storage != state[j];
        if (own) continue;
        mlir_storage *s = mlir_scratch(w, &next[i]->type);
        mlir_copy(w, s, next[i]);
        next[i] = mlir_stored(w, &next[i]->type, s);
    }
    for (uint32_t i = 0; i < op->operand_count && w->status == HG_OK; i++)
        if (state[i]) mlir_copy(w, state[i], next[i]);
}

static bool same_shape(mlir_lower *w, const mlir_type *a, const mlir_type *b) {
    bool same = mlir_same_type(a, b);
    if (!same) mlir_refuse(w, "values that go from round to round have one type");
    return same;
}

static void while_loop(mlir_lower *w, const mlir_op *op) {
    mlir_region *cond = op->regions, *body = cond ? cond->next : NULL;
    uint32_t count = op->operand_count, outside = w->block;
    mlir_storage **state = mlir_make(w, (count + 1) * sizeof *state);
    mlir_tensor **next = mlir_make(w, (count + 1) * sizeof *next),
                **held = mlir_make(w, (count + 1) * sizeof *held), *test;
    if (!body || cond->arg_count != count || body->arg_count != count || op->result_count != count)
        mlir_refuse(w, "expected a condition and a body with an argument for each operand");
    if (!state || !next || !held || w->status != HG_OK) return;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        mlir_tensor *t = mlir_operand(w, op, i);
        bool stays = returns(body, i, body->args[i]);
        if (!t || !same_shape(w, &t->type, &op->types[i])) return;
        state[i] = stays ? NULL : mlir_scratch(w, &t->type);
        if (!stays) mlir_copy(w, state[i], t);
        held[i] = stays ? t : mlir_stored(w, &t->type, state[i]);
        mlir_bind(w, cond->args[i], held[i]);
        mlir_bind(w, body->args[i], held[i]);
    }
    if (w->status != HG_OK) return;
    w->block = ++w->blocks;
    uint64_t known = mlir_open(w, "loop");
    mlir_walk(w, cond, &test, 1);
    if (w->status == HG_OK && !test->type.truth) mlir_refuse(w, "expected a condition of i1");
    if (w->status == HG_OK) {
        uint64_t inner = mlir_open(w, "if %s == 0", scalar_of(w, test).re);
        mlir_line(w, "break");
        mlir_close(w, inner, "}");
    }
    mlir_walk(w, body, next, count);
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        same_shape(w, &next[i]->type, &op->types[i]);
    take_state(w, op, next, state);
    mlir_close(w, known, "}");
    w->block = outside;
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++) {
        held[i] = state[i] ? mlir_stored(w, &op->types[i], state[i]) : held[i];
        mlir_bind(w, op->results + i, held[i]);
    }
}

enum { MOST_ROUNDS = 32, MOST_UNROLLED = 4096, MOST_KNOWN = 1 << 20 };

/* Between programs a loop of few rounds, which the text tells, is its rounds one behind the other.
 */
static bool unroll(mlir_lower *w, const mlir_op *op) {
    const mlir_region *cond = op->regions, *body = cond ? cond->next : NULL;
    uint32_t count = op->operand_count;
    mlir_tensor **state = mlir_make(w, (count + 1) * sizeof *state);
    if (w->k || w->scalars || !state || !body || cond->arg_count != count ||
        body->arg_count != count || op->result_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        state[i] = mlir_operand(w, op, i);
        if (!state[i] || !same_shape(w, &state[i]->type, &op->types[i])) return true;
    }
    uint64_t rounds = mlir_rounds(w, cond, body, state, count);
    if (!rounds || rounds > MOST_ROUNDS || rounds * mlir_count(body) > MOST_UNROLLED) return false;
    while (rounds-- && w->status == HG_OK) {
        for (uint32_t i = 0; i < count; i++) mlir_bind_shared(w, body->args[i], state[i]);
        mlir_walk(w, body, state, count);
        for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
            same_shape(w, &state[i]->type, &op->types[i]);
    }
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        mlir_bind_shared(w, op->results + i, state[i]);
    return true;
}

/* Rounds that the text tells; 0: it does not. */
static uint64_t known_rounds(mlir_lower *w, const mlir_op *op) {
    const mlir_region *cond = op->regions, *body = cond ? cond->next : NULL;
    mlir_tensor **state = mlir_make(w, (op->operand_count + 1) * sizeof *state);
    if (!state || !body || cond->arg_count != op->operand_count ||
        body->arg_count != op->operand_count)
        return 0;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!(state[i] = mlir_operand(w, op, i))) return 0;
    return mlir_rounds(w, cond, body, state, op->operand_count);
}

void mlir_apply_loop(mlir_lower *w, const mlir_op *op) {
    uint64_t around = w->rounds, rounds = known_rounds(w, op);
    if (!rounds || rounds > MOST_KNOWN / around)
        w->endless = true;
    else
        w->rounds *= rounds;
    if (!unroll(w, op)) mlir_in_loops(w, op, while_loop);
    w->rounds = around;
}

/* ---- case, if ---- */

static void branch(mlir_lower *w, const mlir_op *op, const mlir_region *region, mlir_storage **to) {
    mlir_tensor **results = mlir_make(w, (op->result_count + 1) * sizeof *results);
    uint32_t outside = w->block;
    if (!results) return;
    w->block = ++w->blocks;
    mlir_walk(w, region, results, op->result_count);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        if (same_shape(w, &results[i]->type, &op->types[i])) mlir_copy(w, to[i], results[i]);
    w->block = outside;
}

static void branch_out(mlir_lower *w, const mlir_op *op) {
    mlir_storage **to = mlir_make(w, (op->result_count + 1) * sizeof *to);
    const mlir_region *region = op->regions;
    bool is_if = mlir_is(&op->name, "stablehlo.if");
    mlir_tensor *t = mlir_operand(w, op, 0);
    if (!region || (is_if && (!region->next || region->next->next)))
        mlir_refuse(w, "expected its regions");
    if (t && (is_if ? !t->type.truth : t->type.element != HG_TYPE_I32))
        mlir_refuse(w, is_if ? "expected a condition of i1" : "expected a number of i32");
    if (!to || w->status != HG_OK) return;
    const char *index = scalar_of(w, t).re;
    for (uint32_t i = 0; i < op->result_count; i++) to[i] = mlir_scratch(w, &op->types[i]);
    uint64_t known = 0;
    uint32_t opened = 0;
    for (uint32_t i = 0; region && w->status == HG_OK; region = region->next, i++) {
        if (region->next) {
            known = is_if ? mlir_open(w, "if %s != 0", index)
                          : mlir_open(w, "if %s == %u", index, (unsigned)i);
            opened++;
        }
        branch(w, op, region, to);
        if (region->next) mlir_close(w, known, "} else {");
    }
    while (opened--) mlir_close(w, known, "}");
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        mlir_bind(w, op->results + i, mlir_stored(w, &op->types[i], to[i]));
}

void mlir_apply_branches(mlir_lower *w, const mlir_op *op) { mlir_in_loops(w, op, branch_out); }

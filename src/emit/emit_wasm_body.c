/* Operations of the vector form in WebAssembly, in order: calls, turns of blocks, control flow.
 * Must not know: how functions begin and end. */
#include "emit/emit_wasm_internal.h"

#include <string.h>

/* ---- calls ---- */

static uint32_t wa_element_bytes(uint8_t type) {
    return type == KIR_BOOL ? VEC_SHARED_MASK_BYTES : (uint32_t)kir_type_bytes(type);
}

static char letter_of(uint8_t type) {
    switch (wa_scalar(type)) {
    case WASM_I64: return 'I';
    case WASM_F32: return 'f';
    case WASM_F64: return 'F';
    default: return 'i';
    }
}

static void letters(const wa_printer *p, hg_text *out, uint8_t type, bool each) {
    if (!each) hg_text_addf(out, "%c", letter_of(type));
    for (uint32_t i = 0; each && i < wa_parts(p, wa_element_bytes(type)); i++)
        hg_text_addf(out, "v");
}

/* launch, frame; of masked ones shared, first, run; arrays, parameters: the result, and of masked
 * ones the lanes that ended. */
void wa_signature(const wa_printer *p, const vec_function *f, hg_text *out) {
    hg_text_addf(out, f->masked ? "iiiII" : "ii");
    for (uint8_t n = 0; n < f->array_count; n++) hg_text_addf(out, "i");
    for (uint8_t n = 0; n < f->param_count; n++)
        letters(p, out, f->param_types[n], f->param_each[n]);
    hg_text_addf(out, ":");
    if (f->result != KIR_VOID) letters(p, out, f->result, f->result_each);
    if (f->masked) hg_text_addf(out, "I");
}

static void call(wa_printer *p, const vec_value *v) {
    const vec_function *f = v->u.call.to;
    if (v->type != KIR_VOID) wa_new(p, v);
    w_get(p->c, p->l.launch);
    w_get(p->c, p->l.frame);
    if (f->masked) {
        w_get(p->c, p->l.shared_at);
        w_get(p->c, p->l.first);
        wa_bits(p, v->mask);
        w_get(p->c, p->l.run);
        w(p->c, W_I64_AND);
    }
    for (uint8_t n = 0; n < f->array_count; n++) {
        const wa_var *at = wa_var_of(p, v->u.call.arrays[n]);
        w_get(p->c, at->base);
        w_i32(p->c, at->offset);
        w(p->c, W_I32_ADD);
    }
    for (uint8_t n = 0; n < v->nargs; n++) {
        const uint32_t size = wa_element_bytes(f->param_types[n]);
        if (!f->param_each[n]) wa_one(p, v->args[n]);
        for (uint32_t i = 0; f->param_each[n] && i < wa_parts(p, size); i++)
            wa_part(p, v->args[n], size, i);
    }
    w_number(p->c, W_CALL, p->memory.frames[f->id].function);
    const uint32_t gone = wasm_take(p->c, WASM_I64);
    if (f->masked) w_set(p->c, gone);
    if (v->type != KIR_VOID)
        for (uint32_t i = v->each ? wa_parts(p, wa_size(p, v)) : 1; i-- > 0;)
            w_set(p->c, wa_local(p, v, i));
    if (f->masked && f->can_end) {
        w_get(p->c, gone);
        w_i64(p->c, 0);
        w(p->c, W_I64_NE);
        (void)w_open(p->c, W_IF, WASM_VOID);
        wa_end(p, v, gone);
        w(p->c, W_END);
    }
    wasm_release(p->c, p->c->taken.count - 1);
}

static void param(wa_printer *p, const vec_value *v) {
    uint32_t at = (p->f->masked ? 5u : 2u) + p->f->array_count;
    for (uint8_t n = 0; n < v->u.imm; n++)
        at += p->f->param_each[n] ? wa_parts(p, wa_element_bytes(p->f->param_types[n])) : 1;
    wa_new(p, v);
    for (uint32_t i = 0; i < (v->each ? wa_parts(p, wa_size(p, v)) : 1); i++) {
        w_get(p->c, at + i);
        w_set(p->c, wa_local(p, v, i));
    }
}

static void print_return(wa_printer *p, const vec_value *v) {
    const vec_value *turns = v->nargs ? NULL : vec_turns_around(v);
    if (turns) {
        w_i64(p->c, 0);
        w_set(p->c, p->l.run);
        w_i32(p->c, 0);
        w_set(p->c, p->b.intact);
        w_branch(p->c, W_BR, p->of.labels[turns->id]);
        return;
    }
    if (p->f == p->k->functions && p->settled) {
        w_branch(p->c, W_BR, p->l.over);
        return;
    }
    if (v->nargs && p->f->result_each)
        for (uint32_t i = 0; i < wa_parts(p, wa_element_bytes(p->f->result)); i++)
            wa_part(p, v->args[0], wa_element_bytes(p->f->result), i);
    else if (v->nargs)
        wa_one(p, v->args[0]);
    if (p->f->masked) w_get(p->c, p->l.ended);
    w(p->c, W_RETURN);
}

/* ---- turns of a block ---- */

void wa_leave_settled(wa_printer *p) {
    p->settled = p->all_run = false;
    memset(p->of.made, 0, (size_t)p->f->value_count + 1);
}

void wa_push_block(wa_printer *p, uint32_t axis) {
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I32_LOAD, WA_LAUNCH_BLOCK + 4 * (uint64_t)axis);
}

/* "while (number < turns)": the labels of the loop and of what is behind it. */
static void open_turn_loop(wa_printer *p, uint32_t labels[2]) {
    const uint32_t zeros[] = {p->b.number, p->b.turn[0], p->b.turn[1], p->b.turn[2]};
    w_get(p->c, p->l.begin);
    w_set(p->c, p->l.first);
    for (size_t i = 0; i < HG_COUNT_OF(zeros); i++) {
        w_i32(p->c, 0);
        w_set(p->c, zeros[i]);
    }
    labels[0] = w_open(p->c, W_BLOCK, WASM_VOID);
    labels[1] = w_open(p->c, W_LOOP, WASM_VOID);
    w_get(p->c, p->b.number);
    w_get(p->c, p->b.turns);
    w(p->c, W_I32_GE_U);
    w_branch(p->c, W_BR_IF, labels[0]);
    w_get(p->c, p->b.all);
    w_get(p->c, p->b.number);
    w_i32(p->c, p->memory.kept_bytes);
    w(p->c, W_I32_MUL);
    w(p->c, W_I32_ADD);
    w_set(p->c, p->b.kept);
}

static void add_to(wa_printer *p, uint32_t local, uint32_t by) {
    w_get(p->c, local);
    w_i32(p->c, by);
    w(p->c, W_I32_ADD);
    w_set(p->c, local);
}

/* The turn behind this one, and round the loop (hgv_next). */
static void close_turn_loop(wa_printer *p, const uint32_t labels[2]) {
    const uint32_t left = wasm_take(p->c, WASM_I32), lanes = p->k->lanes;
    w_get(p->c, p->b.rows[0]);
    w_get(p->c, p->b.turn[0]);
    w(p->c, W_I32_SUB);
    w_set(p->c, left);
    add_to(p, p->b.number, 1);
    w_get(p->c, left);
    w_i32(p->c, lanes);
    w(p->c, W_I32_GT_U);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w_get(p->c, p->l.first);
    w_i64(p->c, lanes);
    w(p->c, W_I64_ADD);
    w_set(p->c, p->l.first);
    add_to(p, p->b.turn[0], lanes);
    w_branch(p->c, W_BR, labels[1]);
    w(p->c, W_END);
    w_get(p->c, p->l.first);
    w_get(p->c, left);
    w(p->c, W_I64_EXTEND_I32_U);
    w(p->c, W_I64_ADD);
    w_set(p->c, p->l.first);
    w_i32(p->c, 0);
    w_set(p->c, p->b.turn[0]);
    add_to(p, p->b.turn[1], 1);
    w_get(p->c, p->b.turn[1]);
    w_get(p->c, p->b.rows[1]);
    w(p->c, W_I32_LT_U);
    w_branch(p->c, W_BR_IF, labels[1]);
    w_i32(p->c, 0);
    w_set(p->c, p->b.turn[1]);
    add_to(p, p->b.turn[2], 1);
    w_branch(p->c, W_BR, labels[1]);
    w(p->c, W_END);
    w(p->c, W_END);
    wasm_release(p->c, p->c->taken.count - 1);
}

/* The lanes of each turn that start (hgv_start): n lanes, all of them where n is as many. */
static void start_turns(wa_printer *p) {
    const uint64_t mark = p->c->taken.count;
    const uint32_t row = wasm_take(p->c, WASM_I64), left = wasm_take(p->c, WASM_I64),
                   lanes = p->k->lanes;
    uint32_t labels[2];
    open_turn_loop(p, labels);
    w_get(p->c, p->b.rows[0]);
    w_get(p->c, p->b.turn[0]);
    w(p->c, W_I32_SUB);
    w(p->c, W_I64_EXTEND_I32_U);
    w_set(p->c, row);
    w_get(p->c, p->l.end);
    w_get(p->c, p->l.first);
    w(p->c, W_I64_SUB);
    w_set(p->c, left);
    w_get(p->c, row);
    w_get(p->c, left);
    w_get(p->c, row);
    w_get(p->c, left);
    w(p->c, W_I64_LT_U);
    w(p->c, W_SELECT);
    w_set(p->c, row);
    w_get(p->c, p->b.kept);
    w_i64(p->c, wa_all(p));
    w_i64(p->c, 1);
    w_get(p->c, row);
    w(p->c, W_I64_SHL);
    w_i64(p->c, 1);
    w(p->c, W_I64_SUB);
    w_get(p->c, row);
    w_i64(p->c, lanes);
    w(p->c, W_I64_GE_U);
    w(p->c, W_SELECT);
    w_memory(p->c, W_I64_STORE, 0);
    close_turn_loop(p, labels);
    wasm_release(p->c, mark);
}

typedef struct open_loop {
    uint32_t labels[2];
} open_loop;

/* Where all goes well and no lane ends, nobody asks which lanes run. */
static open_loop open_turns(wa_printer *p, const vec_value *v) {
    open_loop loop;
    if (!p->all_run) {
        w_get(p->c, p->b.started);
        w(p->c, W_I32_EQZ);
        (void)w_open(p->c, W_IF, WASM_VOID);
        start_turns(p);
        w_i32(p->c, 1);
        w_set(p->c, p->b.started);
        w(p->c, W_END);
    }
    open_turn_loop(p, loop.labels);
    p->of.labels[v->id] = w_open(p->c, W_BLOCK, WASM_VOID);
    if (p->settled) {
        w_i64(p->c, wa_all(p));
    } else {
        w_get(p->c, p->b.kept);
        w_memory(p->c, W_I64_LOAD, 0);
    }
    w_set(p->c, p->l.run);
    if (p->k->shared) {
        w_get(p->c, p->b.kept);
        w_i32(p->c, 16);
        w(p->c, W_I32_ADD);
        w_set(p->c, p->l.shared_at);
    }
    if (!p->settled) {
        w_get(p->c, p->l.run);
        w(p->c, W_I64_EQZ);
        w_branch(p->c, W_BR_IF, p->of.labels[v->id]);
    }
    wa_clear_vars(p, v, true);
    return loop;
}

static void close_turns(wa_printer *p, const vec_value *v, const open_loop *loop) {
    w(p->c, W_END);
    if (vec_loses_lanes(v->body[0]) && !p->all_run) {
        w_get(p->c, p->b.kept);
        w_get(p->c, p->l.run);
        w_memory(p->c, W_I64_STORE, 0);
    }
    close_turn_loop(p, loop->labels);
}

static void turns_once(wa_printer *p, const vec_value *v) {
    const uint64_t mark = p->c->taken.count;
    const open_loop loop = open_turns(p, v);
    wa_body(p, v->body[0]);
    close_turns(p, v, &loop);
    wasm_release(p->c, mark);
}

/* Where all goes well, what is settled is left out; then the other text. */
static void print_turns(wa_printer *p, const vec_value *v) {
    if (!v->nargs) {
        turns_once(p, v);
        return;
    }
    wa_one(p, v->args[0]);
    (void)w_open(p->c, W_IF, WASM_VOID);
    p->settled = true;
    p->all_run = !vec_loses_unsettled(v->body[0]);
    turns_once(p, v);
    wa_leave_settled(p);
    w(p->c, W_ELSE);
    turns_once(p, v);
    w(p->c, W_END);
}

/* ---- operations ---- */

/* True in all lanes. */
static void define_true(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    if (!v->each) {
        w_i32(p->c, 1);
        w_set(p->c, wa_local(p, v, 0));
        return;
    }
    for (uint32_t i = 0; i < wa_parts(p, wa_size(p, v)); i++) {
        wa_splat_bits(p, UINT64_MAX, 8);
        w_set(p->c, wa_local(p, v, i));
    }
}

void wa_input(wa_printer *p, const vec_value *v) {
    wa_new(p, v);
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I32_LOAD, WA_LAUNCH_INPUTS);
    wa_load(p, v->type == KIR_BOOL ? HG_TYPE_U8 : v->type, 8 * v->u.imm);
    w_set(p->c, wa_local(p, v, 0));
}

/* A value that a local has. */
static void copy(wa_printer *p, const vec_value *v, uint32_t local) {
    wa_new(p, v);
    w_get(p->c, local);
    w_set(p->c, wa_local(p, v, 0));
}

/* launch->fuel less what a turn of the loop takes; a call where that is below 0. */
static void fuel(wa_printer *p, const vec_value *v) {
    const bool block = wa_in_block(p) && !vec_turns_around(v);
    wa_new(p, v);
    const uint32_t left = wasm_take(p->c, WASM_I64);
    w_get(p->c, p->l.launch);
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I64_LOAD, WA_LAUNCH_FUEL);
    w_i64(p->c, v->u.imm + (block ? 0 : p->k->lanes));
    if (block) {
        w_get(p->c, p->b.turns);
        w_i32(p->c, p->k->lanes);
        w(p->c, W_I32_MUL);
        w(p->c, W_I64_EXTEND_I32_U);
        w(p->c, W_I64_ADD);
    }
    w(p->c, W_I64_SUB);
    w_tee(p->c, left);
    w_memory(p->c, W_I64_STORE, WA_LAUNCH_FUEL);
    w_i32(p->c, 0);
    w_set(p->c, wa_local(p, v, 0));
    w_get(p->c, left);
    w_i64(p->c, 0);
    w(p->c, W_I64_LT_S);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w_get(p->c, p->l.launch);
    if (block)
        w_i64(p->c, 1);
    else
        w_get(p->c, p->l.run);
    wa_call(p, WA_HELPER_FUEL);
    w_set(p->c, wa_local(p, v, 0));
    w(p->c, W_END);
    wasm_release(p->c, p->c->taken.count - 1);
}

static void barrier(wa_printer *p, const vec_value *v) {
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I32_LOAD8_U, WA_LAUNCH_FAULTED);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w(p->c, W_RETURN);
    w(p->c, W_END);
    if (v->u.imm == KIR_BARRIER_INNER) return;
    w_get(p->c, p->l.launch);
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I64_LOAD, WA_LAUNCH_PHASE);
    w_i64(p->c, 1);
    w(p->c, W_I64_ADD);
    w_memory(p->c, W_I64_STORE, WA_LAUNCH_PHASE);
}

/* The loop around a BREAK or CONTINUE. */
static const vec_value *loop_around(const vec_value *v) {
    const vec_value *o = v->parent->owner;
    while (o && o->op != VEC_LOOP) o = o->parent->owner;
    return o;
}

static void print_value(wa_printer *p, const vec_value *v) {
    if (!v->uses && !vec_op_has((vec_op)v->op, VEC_F_EFFECT)) return;
    if (p->settled && v->settled && v->op != VEC_IF) {
        if (v->type == KIR_BOOL) define_true(p, v);
        return;
    }
    switch ((vec_op)v->op) {
    case VEC_CONST: break; /* by its literal */
    case VEC_PRIM: wa_prim(p, v); break;
    case VEC_INPUT:
        if (!p->all_run || p->k->blocks) wa_input(p, v); /* else in front of the turns */
        break;
    case VEC_FIRST: copy(p, v, p->l.first); break;
    case VEC_BEGIN: copy(p, v, p->l.begin); break;
    case VEC_END: copy(p, v, p->l.end); break;
    case VEC_INTACT: copy(p, v, p->b.intact); break;
    case VEC_PARAM: param(p, v); break;
    case VEC_GET:
    case VEC_SET:
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET:
    case VEC_TABLE_GET:
    case VEC_ID:
    case VEC_COORDINATE:
    case VEC_RAMP:
    case VEC_RUNNING:
    case VEC_ANY:
    case VEC_LEAVE: wa_leaf(p, v); break;
    case VEC_EXCHANGE: wa_exchange(p, v); break;
    case VEC_SLIDE: wa_slide(p, v); break;
    case VEC_PICK: wa_pick(p, v); break;
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_SIZE:
    case VEC_FITS:
    case VEC_ATOMIC:
    case VEC_FAULT_IF: wa_memory(p, v); break;
    case VEC_FENCE: w(p->c, W_ATOMIC_FENCE); break;
    case VEC_BREAK: w_branch(p->c, W_BR, p->of.labels[loop_around(v)->id]); break;
    case VEC_CONTINUE: w_branch(p->c, W_BR, p->of.labels[loop_around(v)->id] + 1); break;
    case VEC_RETURN: print_return(p, v); break;
    case VEC_CALL: call(p, v); break;
    case VEC_FUEL: fuel(p, v); break;
    case VEC_IF:
        if (p->settled && v->settled) {
            (void)w_open(p->c, W_BLOCK, WASM_VOID);
            break;
        }
        wa_one(p, v->args[0]);
        (void)w_open(p->c, W_IF, WASM_VOID);
        break;
    case VEC_LOOP:
        p->of.labels[v->id] = w_open(p->c, W_BLOCK, WASM_VOID);
        (void)w_open(p->c, W_LOOP, WASM_VOID);
        break;
    case VEC_TURNS: print_turns(p, v); break;
    case VEC_ANSWER:
        wa_one(p, v->args[0]);
        w(p->c, W_RETURN);
        break;
    case VEC_BARRIER: barrier(p, v); break;
    default: p->unsupported = "an unknown operation";
    }
    p->of.marks[v->id] = p->c->taken.count;
}

/* Closes the region that the walk is at the end of. */
static void close_region(wa_printer *p, vec_cursor *c, const vec_region *root) {
    const vec_value *owner = c->region->owner;
    wasm_release(p->c, p->of.marks[owner->id]);
    if (owner->op == VEC_LOOP) {
        w_branch(p->c, W_BR, p->of.labels[owner->id] + 1);
        w(p->c, W_END);
        w(p->c, W_END);
    } else if (p->settled && owner->settled) {
        w(p->c, W_END);
        *c = (vec_cursor){root, owner->body[1], NULL}; /* the other branch is left out */
    } else if (vec_cursor_at_else(c)) {
        w(p->c, W_ELSE);
    } else {
        w(p->c, W_END);
    }
}

/* ---- pieces ---- */

/* TurboFan of V8 leaves loads in their order, and puts off what is computed from them until that is
 * used: of many loads in a row it has all before it adds up the first. What is behind a branch
 * that is never taken stays there, as it is another value on the other way. */
enum { MOST_LOADS = 4 };

static void close_piece(wa_printer *p) {
    if (p->piece.open) {
        w_get(p->c, p->l.launch); /* whoever launches has a function for faults */
        w_memory(p->c, W_I32_LOAD, WA_LAUNCH_FAULT);
        w(p->c, W_I32_EQZ);
        w_branch(p->c, W_BR_IF, p->piece.label);
        w(p->c, W_END);
    }
    p->piece.open = false;
    p->piece.loads = 0;
}

static void next_piece(wa_printer *p, const vec_value *v) {
    const bool ends = v->body[0] || vec_op_has((vec_op)v->op, VEC_F_JUMP);
    if (ends) close_piece(p);
    if (v->op != VEC_LOAD || p->in_stretch || p->piece.loads++ < MOST_LOADS) return;
    close_piece(p);
    p->piece.label = w_open(p->c, W_LOOP, WASM_VOID);
    p->piece.open = true;
    p->piece.loads = 1;
}

void wa_body(wa_printer *p, const vec_region *root) {
    close_piece(p);
    for (vec_cursor c = {root, root, root->first}; c.v || c.region != root;
         (void)vec_cursor_next(&c)) {
        if (!c.v) {
            close_piece(p);
            close_region(p, &c, root);
        } else if (c.v->op == VEC_WHOLE) {
            c = (vec_cursor){root, c.v->body[0], NULL}; /* a function of its own */
        } else {
            next_piece(p, c.v);
            print_value(p, c.v);
            if (c.v->op == VEC_TURNS) c = (vec_cursor){root, c.v->body[0], NULL}; /* is done */
        }
    }
    close_piece(p);
}

/* Blocks, and the values of variables in them: control flow has regions, so each value is found
 * while printing, without a pass that looks for them. A variable whose values differ on the ways to
 * a block becomes a phi there; a loop's head has one for each variable that changes in the loop.
 * Must not know: operations but what they change. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <stddef.h>
#include <string.h>

/* ---- variables ---- */

static uint32_t var_slots(const jit_printer *p) { return p->by.var_count + JIT_SLOTS; }

static LLVMValueRef *copy_vars(jit_printer *p) {
    LLVMValueRef *copy = hg_calloc(var_slots(p), sizeof *copy);
    if (copy)
        memcpy(copy, p->by.vars, var_slots(p) * sizeof *copy);
    else
        p->failed = true;
    return copy;
}

static void add_edge(jit_printer *p, jit_edges *edges, LLVMBasicBlockRef from, LLVMValueRef *vars) {
    jit_edge *edge = vars ? hg_vec_push(edges) : NULL;
    if (edge) *edge = (jit_edge){from, vars};
    if (edge) return;
    p->failed = true;
    hg_free(vars);
}

/* The place goes to `block`, which the edges lead to. Without one the block is not there. */
static void join(jit_printer *p, LLVMBasicBlockRef block, jit_edges *edges) {
    p->here.dead = edges->count == 0;
    LLVMPositionBuilderAtEnd(p->b, block);
    for (uint32_t n = 0; n < var_slots(p) && !p->here.dead; n++) {
        bool same = true;
        for (uint64_t i = 1; i < edges->count; i++)
            same = same && edges->data[i].vars[n] == edges->data[0].vars[n];
        p->by.vars[n] = edges->data[0].vars[n];
        if (same || !p->by.vars[n]) continue;
        p->by.vars[n] = LLVMBuildPhi(p->b, LLVMTypeOf(p->by.vars[n]), "");
        for (uint64_t i = 0; i < edges->count; i++)
            LLVMAddIncoming(p->by.vars[n], &edges->data[i].vars[n], &edges->data[i].from, 1);
    }
    if (p->here.dead) LLVMBuildUnreachable(p->b);
    for (uint64_t i = 0; i < edges->count; i++) hg_free(edges->data[i].vars);
    hg_vec_free(edges);
}

LLVMBasicBlockRef jit_block(jit_printer *p, const char *name) {
    return LLVMAppendBasicBlockInContext(p->context, p->in.fn, name);
}

static jit_frame *top(jit_printer *p) { return &p->frames.data[p->frames.count - 1]; }

static jit_frame *push(jit_printer *p, const vec_value *owner) {
    jit_frame *frame = hg_vec_push(&p->frames);
    if (!frame) {
        p->failed = true;
        return NULL;
    }
    frame->owner = owner;
    frame->dead = p->here.dead;
    return frame;
}

/* From here to `to`, if something comes here. */
static void leave_to(jit_printer *p, LLVMBasicBlockRef to, jit_edges *edges) {
    if (p->here.dead) return;
    add_edge(p, edges, LLVMGetInsertBlock(p->b), copy_vars(p));
    LLVMBuildBr(p->b, to);
    p->here.dead = true;
}

/* ---- branches ---- */

void jit_if(jit_printer *p, const vec_value *owner, LLVMValueRef condition, bool unlikely) {
    jit_frame *frame = push(p, owner);
    if (!frame || p->here.dead) return;
    bool second = owner && owner->body[1] && owner->body[1]->first;
    LLVMBasicBlockRef then = jit_block(p, "then");
    frame->other = second ? jit_block(p, "else") : NULL;
    frame->next = jit_block(p, "next");
    LLVMValueRef branch = LLVMBuildCondBr(p->b, condition, then,
                                          second ? frame->other : frame->next);
    if (unlikely)
        LLVMSetMetadata(branch, p->made.prof, LLVMMetadataAsValue(p->context, p->made.unlikely));
    frame->saved = copy_vars(p);
    if (!second && frame->saved) add_edge(p, &frame->out, LLVMGetInsertBlock(p->b), copy_vars(p));
    LLVMPositionBuilderAtEnd(p->b, then);
}

void jit_if_both(jit_printer *p, const vec_value *owner, LLVMValueRef first,
                 LLVMBasicBlockRef ask) {
    jit_frame *frame = push(p, owner);
    if (!frame) return;
    frame->next = jit_block(p, "next");
    LLVMValueRef branch = LLVMBuildCondBr(p->b, first, ask, frame->next);
    LLVMSetMetadata(branch, p->made.prof, LLVMMetadataAsValue(p->context, p->made.unlikely));
    frame->saved = copy_vars(p);
    add_edge(p, &frame->out, LLVMGetInsertBlock(p->b), copy_vars(p));
    LLVMPositionBuilderAtEnd(p->b, ask);
}

void jit_if_then(jit_printer *p, LLVMValueRef second) {
    LLVMBasicBlockRef then = jit_block(p, "then");
    if (p->failed) return;
    LLVMBuildCondBr(p->b, second, then, top(p)->next);
    add_edge(p, &top(p)->out, LLVMGetInsertBlock(p->b), copy_vars(p));
    LLVMPositionBuilderAtEnd(p->b, then);
}

void jit_else(jit_printer *p) {
    jit_frame *frame = top(p);
    if (frame->dead || !frame->saved) return;
    leave_to(p, frame->next, &frame->out);
    memcpy(p->by.vars, frame->saved, var_slots(p) * sizeof *p->by.vars);
    p->here.dead = false;
    LLVMPositionBuilderAtEnd(p->b, frame->other);
}

void jit_end_if(jit_printer *p) {
    jit_frame frame = *top(p);
    p->frames.count--;
    if (frame.dead) {
        p->here.dead = true;
        return;
    }
    leave_to(p, frame.next, &frame.out);
    join(p, frame.next, &frame.out);
    hg_free(frame.saved);
}

/* ---- loops ---- */

/* Marks the variables that a loop changes. */
static void mark_changed(const jit_printer *p, const vec_value *loop, LLVMValueRef *changed,
                         LLVMValueRef mark) {
    for (const vec_value *v = vec_walk(NULL, loop->body[0]); v; v = vec_walk(v, loop->body[0])) {
        if (v->op == VEC_SET && !v->u.var->shared && !v->u.var->kept) changed[v->u.var->id] = mark;
        for (uint8_t i = 0; i < v->loses.count; i++)
            if (!v->loses.vars[i]->shared && !v->loses.vars[i]->kept)
                changed[v->loses.vars[i]->id] = mark;
        if ((vec_op_has((vec_op)v->op, VEC_F_LOSES) && !p->in.alone) || loop->op == VEC_TURNS ||
            v->op == VEC_TURNS)
            changed[p->by.var_count + JIT_RUN] = changed[p->by.var_count + JIT_ENDED] = mark;
        if (v->op == VEC_FUEL || v->op == VEC_CALL) changed[p->by.var_count + JIT_FUEL] = mark;
    }
}

void jit_loop(jit_printer *p, const vec_value *owner) {
    jit_frame *frame = push(p, owner);
    if (!frame || p->here.dead) return;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b);
    frame->other = jit_block(p, "loop");
    frame->next = jit_block(p, "after");
    frame->phis = hg_calloc(var_slots(p), sizeof *frame->phis);
    LLVMBuildBr(p->b, frame->other);
    LLVMPositionBuilderAtEnd(p->b, frame->other);
    if (!frame->phis) {
        p->failed = true;
        return;
    }
    mark_changed(p, owner, frame->phis, jit_u64(p, 1));
    for (uint32_t n = 0; n < var_slots(p); n++) {
        if (!p->by.vars[n]) frame->phis[n] = NULL;
        if (!frame->phis[n]) continue;
        frame->phis[n] = LLVMBuildPhi(p->b, LLVMTypeOf(p->by.vars[n]), "");
        LLVMAddIncoming(frame->phis[n], &p->by.vars[n], &before, 1);
        p->by.vars[n] = frame->phis[n];
    }
}

void jit_end_loop_unless(jit_printer *p, LLVMValueRef condition) {
    LLVMBasicBlockRef body = jit_block(p, "round");
    if (p->failed) return;
    LLVMBuildCondBr(p->b, condition, body, top(p)->next);
    add_edge(p, &top(p)->out, LLVMGetInsertBlock(p->b), copy_vars(p));
    LLVMPositionBuilderAtEnd(p->b, body);
}

void jit_leave_frame(jit_printer *p, jit_frame *frame) { leave_to(p, frame->next, &frame->out); }

static void back(jit_printer *p, const jit_frame *frame) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    for (uint32_t n = 0; n < var_slots(p); n++)
        if (frame->phis[n] && p->by.vars[n])
            LLVMAddIncoming(frame->phis[n], &p->by.vars[n], &here, 1);
    LLVMBuildBr(p->b, frame->other);
    p->here.dead = true;
}

void jit_end_loop(jit_printer *p) {
    jit_frame frame = *top(p);
    p->frames.count--;
    if (!frame.dead && frame.phis) {
        if (!p->here.dead) back(p, &frame);
        join(p, frame.next, &frame.out);
    } else {
        p->here.dead = true;
    }
    hg_free(frame.phis);
}

static jit_frame *innermost_loop(jit_printer *p) {
    for (uint64_t i = p->frames.count; i-- > 0;)
        if (p->frames.data[i].owner && p->frames.data[i].owner->op == VEC_LOOP)
            return &p->frames.data[i];
    return NULL;
}

void jit_break(jit_printer *p) {
    jit_frame *frame = innermost_loop(p);
    if (frame) leave_to(p, frame->next, &frame->out);
}

void jit_continue(jit_printer *p) {
    jit_frame *frame = innermost_loop(p);
    if (frame && frame->phis && !p->here.dead) back(p, frame);
}

/* ---- a turn's fuel and end ---- */

LLVMValueRef jit_fuel_place(jit_printer *p) {
    return jit_field(p, p->in.launch, offsetof(hgv_launch, fuel));
}

void jit_start_fuel(jit_printer *p) {
    if (p->in.alone)
        *jit_slot_of(p, JIT_FUEL) = LLVMBuildLoad2(p->b, p->t.i64, jit_fuel_place(p), "");
}

void jit_keep_fuel(jit_printer *p) {
    if (p->in.alone && !LLVMIsALoadInst(*jit_slot_of(p, JIT_FUEL)))
        LLVMBuildStore(p->b, *jit_slot_of(p, JIT_FUEL), jit_fuel_place(p));
}

void jit_end_turn(jit_printer *p) {
    jit_keep_fuel(p);
    LLVMBuildBr(p->b, p->in.end);
    p->here.dead = true;
}

/* ---- lanes one by one ---- */

jit_lanes jit_each_lane(jit_printer *p, LLVMValueRef bits) {
    jit_lanes loop = {jit_block(p, "lane"), jit_block(p, "lanes_done"), NULL, NULL};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b);
    LLVMValueRef some = LLVMBuildICmp(p->b, LLVMIntNE, bits, jit_u64(p, 0), "");
    LLVMBuildCondBr(p->b, some, loop.head, loop.next);
    LLVMPositionBuilderAtEnd(p->b, loop.head);
    loop.rest = LLVMBuildPhi(p->b, p->t.i64, "");
    LLVMAddIncoming(loop.rest, &bits, &before, 1);
    LLVMValueRef args[2] = {loop.rest, LLVMConstInt(p->t.i1, 1, false)};
    loop.lane = jit_intrinsic(p, "llvm.cttz", &p->t.i64, 1, args, 2);
    return loop;
}

void jit_end_lanes(jit_printer *p, jit_lanes *loop) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    LLVMValueRef less = LLVMBuildAnd(p->b, loop->rest,
                                     LLVMBuildSub(p->b, loop->rest, jit_u64(p, 1), ""), "");
    LLVMAddIncoming(loop->rest, &less, &here, 1);
    LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntNE, less, jit_u64(p, 0), ""), loop->head,
                    loop->next);
    LLVMPositionBuilderAtEnd(p->b, loop->next);
}

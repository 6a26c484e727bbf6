/* Kernels with barriers or shared memory as LLVM IR: the kernel function runs a block, TURNS are
 * loops over its turns, and what a turn keeps from one to the next lies in memory, one record a
 * turn: the variables that functions share, then those that are kept. Behind all records lies a
 * word for each turn, of the lanes that run: records without gaps are twice as fast as others where
 * what fills them comes from memory.
 * Must not know: operations within a turn. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

bool jit_in_block(const jit_printer *p) { return p->k->blocks && p->in.turn; }

/* ---- what turns keep ---- */

enum { WORD = 8 }; /* bytes, of a turn's lanes that run */

static bool find_record(jit_printer *p) {
    const vec_function *f = p->in.f;
    LLVMTypeRef *types = hg_calloc((size_t)f->var_count + 1, sizeof *types);
    uint32_t count = 0;
    if (!types) return false;
    if (p->made.shared_type) types[count++] = p->made.shared_type;
    for (const vec_var *v = f->vars; v; v = v->next) {
        if (!v->kept) continue;
        p->block.kept_field[v->id] = count;
        types[count++] = v->length ? LLVMArrayType2(jit_var_type(p, v), v->length)
                                   : jit_var_type(p, v);
    }
    p->block.kept_type = LLVMStructTypeInContext(p->context, types, count, false);
    const uint64_t bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(p->module),
                                             p->block.kept_type);
    p->block.kept_bytes = (bytes + WORD - 1) / WORD * WORD;
    hg_free(types);
    return true;
}

/* ---- turns ---- */

/* Variables of a TURNS, or of the block (NULL). */
static void start_vars(jit_printer *p, const vec_value *turns) {
    for (const vec_var *v = p->in.f->vars; v; v = v->next) {
        if (v->kept || v->turns != turns) continue;
        if (v->length)
            jit_array_memory(p, v);
        else
            jit_start_var(p, v);
    }
}

static LLVMValueRef phi(jit_printer *p, LLVMValueRef start, LLVMBasicBlockRef before) {
    LLVMValueRef made = LLVMBuildPhi(p->b, LLVMTypeOf(start), "");
    LLVMAddIncoming(made, &start, &before, 1);
    return made;
}

/* The word of the turn's lanes that run. */
static LLVMValueRef run_word(jit_printer *p) {
    return jit_at(p, p->block.runs, LLVMBuildShl(p->b, p->block.at.number, jit_u64(p, 3), ""));
}

/* Where a turn of the block keeps things; it has begun. */
static void start_turn(jit_printer *p, const vec_value *v) {
    LLVMValueRef offset = LLVMBuildMul(p->b, p->block.at.number, jit_u64(p, p->block.kept_bytes),
                                       "");
    p->block.kept = jit_at(p, p->block.all_kept, offset);
    p->in.first = p->block.at.first;
    p->in.shared = p->made.shared_type
                       ? LLVMBuildStructGEP2(p->b, p->block.kept_type, p->block.kept, 0, "")
                       : LLVMConstNull(p->t.ptr);
    jit_set_run(p, p->here.settled ? jit_all(p) : jit_load(p, p->t.i64, run_word(p)));
    p->block.at.frame = p->frames.count;
    jit_if(p, NULL,
           p->here.settled ? LLVMConstInt(p->t.i1, 1, false)
                           : LLVMBuildICmp(p->b, LLVMIntNE, jit_run(p), jit_u64(p, 0), ""),
           false);
    start_vars(p, v);
}

static void open_loop(jit_printer *p, const vec_value *v) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b);
    LLVMValueRef none = jit_u64(p, 0);
    bool dead = p->here.dead;
    jit_loop(p, v);
    if (dead || p->failed) return;
    jit_turn *t = &p->block.at;
    t->number = phi(p, none, before);
    t->first = phi(p, p->block.begin, before);
    t->x = phi(p, none, before);
    t->y = phi(p, jit_u32(p, 0), before);
    t->z = phi(p, jit_u32(p, 0), before);
    jit_end_loop_unless(p, LLVMBuildICmp(p->b, LLVMIntULT, t->number, p->block.turns, ""));
    start_turn(p, v);
}

static LLVMValueRef turns_of_row(jit_printer *p) {
    LLVMValueRef last = LLVMBuildAdd(p->b, p->block.row, jit_u64(p, p->level.lanes - 1), "");
    return LLVMBuildUDiv(p->b, last, jit_u64(p, p->level.lanes), "");
}

/* No value differs between lanes, nor does a place: what all lanes of a turn do is what fewer of
 * them do. */
static bool is_scalar(const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if ((v->each && v->op != VEC_RUNNING) || v->op == VEC_ATOMIC || v->op == VEC_CALL ||
            (v->op == VEC_STORE && v->u.mem.reach != VEC_REACH_ONE))
            return false;
    return true;
}

/* Whether all rows of the block are turns of all lanes: what is settled is of intact blocks. */
static bool has_whole_rows(const jit_printer *p) { return p->here.settled && !is_scalar(p->in.f); }

/* Where rows are whole and nobody has asked which row a turn is in: the next turn. Not where the
 * first turns of rows are enough: what finds these asks where lanes are in their row (heads.c). */
static bool just_next_turn(jit_printer *p) {
    const jit_turn *t = &p->block.at;
    if (!has_whole_rows(p) || LLVMGetFirstUse(t->x) || LLVMGetFirstUse(t->y) ||
        LLVMGetFirstUse(t->z))
        return false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    LLVMValueRef number = LLVMBuildAdd(p->b, t->number, jit_u64(p, 1), ""),
                 first = LLVMBuildAdd(p->b, t->first, jit_u64(p, p->level.lanes), "");
    LLVMAddIncoming(t->number, &number, &here, 1);
    LLVMAddIncoming(t->first, &first, &here, 1);
    LLVMInstructionEraseFromParent(t->x);
    LLVMInstructionEraseFromParent(t->y);
    LLVMInstructionEraseFromParent(t->z);
    return true;
}

/* The next turn: behind this one in its row, or the first of the next row. */
static void next_turn(jit_printer *p, bool heads) {
    if (just_next_turn(p)) return;
    const jit_turn *t = &p->block.at;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    LLVMValueRef lanes = jit_u64(p, p->level.lanes), zero = jit_u32(p, 0), one = jit_u32(p, 1);
    LLVMValueRef left = LLVMBuildSub(p->b, p->block.row, t->x, ""),
                 more = heads ? LLVMConstNull(p->t.i1)
                              : LLVMBuildICmp(p->b, LLVMIntUGT, left, lanes, "");
    LLVMValueRef step = heads ? turns_of_row(p) : jit_u64(p, 1),
                 number = LLVMBuildAdd(p->b, t->number, step, "");
    LLVMValueRef first = LLVMBuildAdd(p->b, t->first, LLVMBuildSelect(p->b, more, lanes, left, ""),
                                      "");
    LLVMValueRef x = LLVMBuildSelect(p->b, more, LLVMBuildAdd(p->b, t->x, lanes, ""), jit_u64(p, 0),
                                     "");
    LLVMValueRef y = LLVMBuildAdd(p->b, t->y, LLVMBuildSelect(p->b, more, zero, one, ""), "");
    LLVMValueRef over = LLVMBuildICmp(p->b, LLVMIntEQ, y, p->block.rows, "");
    LLVMValueRef z = LLVMBuildAdd(p->b, t->z, LLVMBuildSelect(p->b, over, one, zero, ""), "");
    y = LLVMBuildSelect(p->b, over, zero, y, "");
    LLVMAddIncoming(t->number, &number, &here, 1);
    LLVMAddIncoming(t->first, &first, &here, 1);
    LLVMAddIncoming(t->x, &x, &here, 1);
    LLVMAddIncoming(t->y, &y, &here, 1);
    LLVMAddIncoming(t->z, &z, &here, 1);
}

static void close_loop(jit_printer *p, const vec_value *v) {
    if (p->frames.data[p->frames.count - 1].dead) {
        jit_end_loop(p);
        return;
    }
    jit_end_if(p);
    if (vec_loses_lanes(v->body[0]) && jit_run(p) != jit_all(p))
        jit_store(p, jit_run(p), run_word(p));
    next_turn(p, v->u.heads);
    jit_end_loop(p);
}

void jit_open_turns(jit_printer *p, const vec_value *v) { open_loop(p, v); }

void jit_close_turns(jit_printer *p, const vec_value *v) {
    close_loop(p, v);
    if (v->nargs) jit_end_if(p);
}

/* The lanes of each turn that start. */
static void start_runs(jit_printer *p) {
    LLVMValueRef args[] = {
        p->in.launch,      p->block.runs,  jit_u64(p, WORD),          p->block.begin,
        p->block.end_lane, p->block.turns, jit_u64(p, p->level.lanes)};
    (void)jit_call_helper(p, "hgv_start_turns", args, HG_COUNT_OF(args));
}

LLVMValueRef jit_intact(jit_printer *p) {
    LLVMValueRef intact = LLVMBuildLoad2(p->b, p->t.i8, p->block.intact, "");
    return LLVMBuildICmp(p->b, LLVMIntNE, intact, LLVMConstNull(p->t.i8), "");
}

/* An intact block asks for none: it has them written where a text comes that does. */
static void start_runs_if(jit_printer *p, LLVMIntPredicate is) {
    if (p->here.dead || p->failed) return;
    LLVMValueRef intact = LLVMBuildLoad2(p->b, p->t.i8, p->block.intact, "");
    jit_if(p, NULL, LLVMBuildICmp(p->b, is, intact, LLVMConstNull(p->t.i8), ""), false);
    start_runs(p);
    jit_end_if(p);
}

static bool has_settled(const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->op == VEC_TURNS) return v->nargs != 0; /* all, or none */
    return false;
}

LLVMValueRef jit_open_settled(jit_printer *p, const vec_value *v) {
    LLVMValueRef well = p->here.dead || p->failed ? NULL : jit_one(p, v->args[0]);
    jit_if(p, NULL, well, false);
    p->here.settled = true;
    open_loop(p, v);
    return well;
}

void jit_close_settled(jit_printer *p, const vec_value *v, LLVMValueRef well) {
    close_loop(p, v);
    p->here.settled = false;
    jit_forget(p);
    jit_end_if(p);
    jit_if(p, NULL, well ? LLVMBuildNot(p->b, well, "") : NULL, true);
    start_runs_if(p, LLVMIntNE);
}

/* RETURN: in TURNS all lanes of the turn end. */
void jit_return_in_turns(jit_printer *p) {
    LLVMBuildStore(p->b, LLVMConstNull(p->t.i8), p->block.intact);
    jit_set_run(p, jit_u64(p, 0));
    jit_leave_frame(p, &p->frames.data[p->block.at.frame]);
}

/* ---- block ---- */

/* Whether a lane faulted, once more: only so that two ways lead to the place behind a barrier. For
 * each loop LLVM goes back through all loops that can only be reached one way, which takes the
 * square of their number (ScalarEvolution::LoopGuards). */
static LLVMValueRef asked_again(jit_printer *p) {
    LLVMValueRef again = LLVMBuildLoad2(
        p->b, p->t.i8, jit_field(p, p->in.launch, offsetof(hgv_launch, faulted)), "");
    LLVMSetVolatile(again, true);
    return LLVMBuildICmp(p->b, LLVMIntNE, again, LLVMConstNull(p->t.i8), "");
}

void jit_barrier(jit_printer *p, const vec_value *v) {
    LLVMValueRef faulted = LLVMBuildLoad2(
        p->b, p->t.i8, jit_field(p, p->in.launch, offsetof(hgv_launch, faulted)), "");
    jit_if(p, NULL, LLVMBuildICmp(p->b, LLVMIntNE, faulted, LLVMConstNull(p->t.i8), ""), true);
    jit_if_then(p, asked_again(p));
    LLVMBuildBr(p->b, p->in.end);
    p->here.dead = true;
    jit_end_if(p);
    if (v->u.imm == KIR_BARRIER_INNER) return;
    LLVMValueRef place = jit_field(p, p->in.launch, offsetof(hgv_launch, phase)),
                 phase = LLVMBuildLoad2(p->b, p->t.i64, place, "");
    LLVMBuildStore(p->b, LLVMBuildAdd(p->b, phase, jit_u64(p, 1), ""), place);
}

LLVMValueRef jit_block_id(jit_printer *p, bool of_grid, uint32_t axis) {
    if (of_grid) return LLVMGetParam(p->in.fn, 3 + axis);
    return axis == 0   ? LLVMBuildTrunc(p->b, p->block.at.x, p->t.i32, "")
           : axis == 1 ? p->block.at.y
                       : p->block.at.z;
}

/* The place of what turns keep, of so many bytes: on the stack for few turns, else in memory of the
 * launch, and there behind what functions need for themselves. */
static LLVMValueRef record_memory(jit_printer *p) {
    const uint64_t each = p->block.kept_bytes + WORD;
    uint64_t few = p->frame.own_in_memory ? 0 : jit_left_on_stack(p) / each,
             own = p->frame.own_in_memory ? p->frame.own_bytes : 0;
    LLVMValueRef bytes = LLVMBuildMul(p->b, p->block.turns, jit_u64(p, each), ""), stack = NULL;
    if (few) {
        stack = jit_stack(p, p->t.i8, few * each);
        LLVMSetAlignment(stack, p->level.bytes);
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b), ask = jit_block(p, "memory"),
                      next = jit_block(p, "kept");
    LLVMBasicBlockRef good = jit_block(p, "start");
    if (few)
        LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntULE, p->block.turns, jit_u64(p, few), ""),
                        next, ask);
    else
        LLVMBuildBr(p->b, ask);
    LLVMPositionBuilderAtEnd(p->b, ask);
    LLVMValueRef given = jit_ask_memory(p, LLVMBuildAdd(p->b, bytes, jit_u64(p, own), ""));
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, next);
    LLVMValueRef made = LLVMBuildPhi(p->b, p->t.ptr, "");
    if (few) LLVMAddIncoming(made, &stack, &before, 1);
    LLVMAddIncoming(made, &given, &ask, 1);
    LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntEQ, made, LLVMConstNull(p->t.ptr), ""),
                    p->in.end, good);
    LLVMPositionBuilderAtEnd(p->b, good);
    p->in.own = made;
    if (own) made = jit_field(p, made, own);
    if (p->made.shared_type || vec_reads_unset(p->in.f))
        LLVMBuildMemSet(p->b, made, LLVMConstNull(p->t.i8), bytes, 1);
    return made;
}

static LLVMValueRef block_size(jit_printer *p, uint64_t axis) {
    return LLVMBuildLoad2(p->b, p->t.i32,
                          jit_field(p, p->in.launch, offsetof(hgv_launch, block) + 4 * axis), "");
}

/* All its lanes are there, and rows are turns of all lanes, where that makes a difference. Returns
 * how many lanes start. */
static LLVMValueRef start_intact(jit_printer *p) {
    LLVMValueRef lanes = LLVMBuildMul(p->b, p->block.row,
                                      LLVMBuildZExt(p->b, p->block.rows, p->t.i64, ""), "");
    lanes = LLVMBuildMul(p->b, lanes, LLVMBuildZExt(p->b, p->block.layers, p->t.i64, ""), "");
    LLVMValueRef start = LLVMBuildSub(p->b, p->block.end_lane, p->block.begin, ""),
                 all = LLVMBuildICmp(p->b, LLVMIntEQ, start, lanes, "");
    LLVMValueRef rest = LLVMBuildAnd(p->b, p->block.row,
                                     jit_u64(p, is_scalar(p->in.f) ? 0 : p->level.lanes - 1), "");
    LLVMValueRef whole = LLVMBuildAnd(p->b, all,
                                      LLVMBuildICmp(p->b, LLVMIntEQ, rest, jit_u64(p, 0), ""), "");
    p->block.intact = jit_stack(p, p->t.i8, 1);
    LLVMBuildStore(p->b, LLVMBuildZExt(p->b, whole, p->t.i8, ""), p->block.intact);
    return start;
}

/* The turns of a block in which so many lanes start, without a division where its rows are whole.
 */
static LLVMValueRef turns_of_block(jit_printer *p, LLVMValueRef start) {
    LLVMValueRef args[] = {p->in.launch, start, jit_u64(p, p->level.lanes)};
    if (is_scalar(p->in.f)) return jit_call_helper(p, "hgv_turns", args, 3);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b), ask = jit_block(p, "count"),
                      next = jit_block(p, "counted");
    LLVMValueRef whole = LLVMBuildUDiv(p->b, start, jit_u64(p, p->level.lanes), "");
    LLVMBuildCondBr(p->b, jit_intact(p), next, ask);
    LLVMPositionBuilderAtEnd(p->b, ask);
    LLVMValueRef counted = jit_call_helper(p, "hgv_turns", args, 3);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, next);
    LLVMValueRef made = LLVMBuildPhi(p->b, p->t.i64, "");
    LLVMAddIncoming(made, &whole, &before, 1);
    LLVMAddIncoming(made, &counted, &ask, 1);
    return made;
}

/* The start of the block's function, behind its entry. Its parameters: launch, first lane, end,
 * place in the grid. */
void jit_open_block(jit_printer *p) {
    if (!find_record(p)) {
        p->failed = true;
        return;
    }
    p->block.begin = LLVMGetParam(p->in.fn, 1);
    p->in.end = jit_block(p, "over");
    p->block.row = LLVMBuildZExt(p->b, block_size(p, 0), p->t.i64, "");
    p->block.rows = block_size(p, 1);
    p->block.layers = block_size(p, 2);
    p->block.end_lane = LLVMGetParam(p->in.fn, 2);
    p->block.turns = turns_of_block(p, start_intact(p));
    p->block.all_kept = record_memory(p);
    p->block.runs = jit_at(p, p->block.all_kept,
                           LLVMBuildMul(p->b, p->block.turns, jit_u64(p, p->block.kept_bytes), ""));
    jit_place_own(p);
    p->in.first = p->block.begin;
    p->block.kept = p->block.all_kept;
    p->in.shared = LLVMConstNull(p->t.ptr);
    jit_set_run(p, jit_all(p));
    jit_set_ended(p, jit_u64(p, 0));
    start_vars(p, NULL);
    if (has_settled(p->in.f))
        start_runs_if(p, LLVMIntEQ);
    else
        start_runs(p);
}

void jit_close_block(jit_printer *p) {
    LLVMPositionBuilderAtEnd(p->b, p->in.end);
    LLVMBuildRetVoid(p->b);
}

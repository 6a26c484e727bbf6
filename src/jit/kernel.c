/* The kernel of an object: turns one after the other, or blocks.
 * Must not know: what an operation becomes. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <stddef.h>
#include <string.h>

/* Whether a turn starts at `first`: lanes are left, and time is not over. */
static LLVMValueRef goes_on(jit_printer *p, LLVMValueRef some) {
    LLVMValueRef stopped = LLVMBuildLoad2(
        p->b, p->t.i8, jit_field(p, p->in.launch, offsetof(hgv_launch, stopped)), "");
    return LLVMBuildAnd(p->b, some,
                        LLVMBuildICmp(p->b, LLVMIntEQ, stopped, LLVMConstNull(p->t.i8), ""), "");
}

/* A turn from here; leaves the place behind it. */
static void turn(jit_printer *p, LLVMValueRef first, LLVMValueRef run) {
    p->in.first = first;
    p->in.end = jit_block(p, "turn_end");
    p->here.dead = false;
    jit_forget(p);
    jit_set_run(p, run);
    jit_set_ended(p, jit_u64(p, 0));
    if (p->made.shared_type)
        LLVMBuildMemSet(p->b, p->in.shared, LLVMConstNull(p->t.i8), LLVMSizeOf(p->made.shared_type),
                        1);
    jit_start_vars(p);
    jit_start_fuel(p);
    jit_print_body(p);
    LLVMPositionBuilderAtEnd(p->b, p->in.end);
}

/* ---- whole turns in which all goes well ---- */

/* Whole turns from the first on, as long as all goes well in them: as many as there are, else half
 * as many, and so on. Returns the lane that comes next. */
static LLVMValueRef settled_turns(jit_printer *p, const vec_value *whole, LLVMValueRef begin,
                                  LLVMValueRef end) {
    LLVMValueRef lanes = jit_u64(p, p->level.lanes),
                 multiple = jit_u64(p, ~(uint64_t)(p->level.lanes - 1));
    LLVMValueRef most = LLVMBuildAnd(p->b, LLVMBuildSub(p->b, end, begin, ""), multiple, "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b), some = jit_block(p, "some"),
                      test = jit_block(p, "test"), body = jit_block(p, "settled");
    LLVMBasicBlockRef less = jit_block(p, "less"), next = jit_block(p, "next");
    LLVMBuildBr(p->b, some);

    LLVMPositionBuilderAtEnd(p->b, some);
    LLVMValueRef from = LLVMBuildPhi(p->b, p->t.i64, ""), span = LLVMBuildPhi(p->b, p->t.i64, "");
    LLVMAddIncoming(from, &begin, &before, 1);
    LLVMAddIncoming(span, &most, &before, 1);
    LLVMBuildCondBr(p->b, goes_on(p, LLVMBuildICmp(p->b, LLVMIntNE, span, jit_u64(p, 0), "")), test,
                    next);

    LLVMPositionBuilderAtEnd(p->b, test);
    LLVMValueRef behind_last = LLVMBuildAdd(p->b, from, span, "");
    p->block.begin = from;
    p->block.end_lane = behind_last;
    LLVMBuildCondBr(p->b, jit_answer(p, whole), body, less);

    LLVMPositionBuilderAtEnd(p->b, body);
    LLVMValueRef first = LLVMBuildPhi(p->b, p->t.i64, "");
    LLVMAddIncoming(first, &from, &test, 1);
    p->here.settled = true;
    turn(p, first, jit_all(p));
    p->here.settled = false;
    LLVMValueRef then = LLVMBuildAdd(p->b, first, lanes, ""),
                 more = LLVMBuildICmp(p->b, LLVMIntULT, then, behind_last, "");
    if (vec_asks_time(p->in.f)) more = goes_on(p, more);
    LLVMBasicBlockRef behind = LLVMGetInsertBlock(p->b);
    LLVMAddIncoming(first, &then, &behind, 1);
    LLVMBuildCondBr(p->b, more, body, less);

    LLVMPositionBuilderAtEnd(p->b, less);
    LLVMValueRef come = LLVMBuildPhi(p->b, p->t.i64, "");
    LLVMAddIncoming(come, (LLVMValueRef[]){from, then}, (LLVMBasicBlockRef[]){test, behind}, 2);
    LLVMValueRef args[2] = {LLVMBuildSub(p->b, end, come, ""),
                            LLVMBuildLShr(p->b, span, jit_u64(p, 1), "")};
    LLVMValueRef fewer = LLVMBuildAnd(p->b, jit_intrinsic(p, "llvm.umin", &p->t.i64, 1, args, 2),
                                      multiple, "");
    LLVMAddIncoming(from, &come, &less, 1);
    LLVMAddIncoming(span, &fewer, &less, 1);
    LLVMBuildBr(p->b, some);
    LLVMPositionBuilderAtEnd(p->b, next);
    return from;
}

/* for (; end - first >= lanes && !stopped; first += lanes) turn; then one for the rest. Both are
 * written out where nothing ends lanes and the kernel is small: then all lanes of a whole turn run,
 * and nobody asks. Else they share one text. */
static void kernel_body(jit_printer *p, LLVMValueRef begin, LLVMValueRef end) {
    bool apart = !p->k->can_end && p->in.f->value_count <= 256;
    LLVMValueRef lanes = jit_u64(p, p->level.lanes);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b), head = jit_block(p, "turns"),
                      body = jit_block(p, "turn");
    LLVMBasicBlockRef rest = jit_block(p, "rest"), last = jit_block(p, "last"),
                      done = jit_block(p, "done");
    LLVMBuildBr(p->b, head);
    LLVMPositionBuilderAtEnd(p->b, head);
    LLVMValueRef first = LLVMBuildPhi(p->b, p->t.i64, ""),
                 left = LLVMBuildSub(p->b, end, first, "");
    LLVMAddIncoming(first, &begin, &before, 1);
    LLVMValueRef whole = LLVMBuildICmp(p->b, LLVMIntUGE, left, lanes, "");
    LLVMValueRef some = apart ? whole : LLVMBuildICmp(p->b, LLVMIntNE, left, jit_u64(p, 0), "");
    LLVMBuildCondBr(p->b, goes_on(p, some), body, rest);

    LLVMPositionBuilderAtEnd(p->b, body);
    LLVMValueRef shift = LLVMBuildAnd(p->b, left, jit_u64(p, 63), "");
    LLVMValueRef few = LLVMBuildSub(p->b, LLVMBuildShl(p->b, jit_u64(p, 1), shift, ""),
                                    jit_u64(p, 1), "");
    turn(p, first,
         apart || p->in.alone ? jit_all(p) : LLVMBuildSelect(p->b, whole, jit_all(p), few, ""));
    LLVMValueRef taken = apart ? lanes : LLVMBuildSelect(p->b, whole, lanes, left, "");
    LLVMValueRef next = LLVMBuildAdd(p->b, first, taken, "");
    LLVMBasicBlockRef behind = LLVMGetInsertBlock(p->b);
    LLVMAddIncoming(first, &next, &behind, 1);
    LLVMBuildBr(p->b, head);

    LLVMPositionBuilderAtEnd(p->b, rest);
    if (apart) {
        LLVMBuildCondBr(p->b, goes_on(p, LLVMBuildICmp(p->b, LLVMIntNE, left, jit_u64(p, 0), "")),
                        last, done);
        LLVMPositionBuilderAtEnd(p->b, last);
        shift = LLVMBuildAnd(p->b, left, jit_u64(p, 63), "");
        turn(p, first,
             LLVMBuildSub(p->b, LLVMBuildShl(p->b, jit_u64(p, 1), shift, ""), jit_u64(p, 1), ""));
        LLVMBuildBr(p->b, done);
    } else {
        LLVMDeleteBasicBlock(last);
        LLVMBuildBr(p->b, done);
    }
    LLVMPositionBuilderAtEnd(p->b, done);
    jit_end_streams(p);
    LLVMBuildRetVoid(p->b);
}

/* Turns of half as many lanes are half as much text, for what comes rarely: rows that have no whole
 * turns come in all of a launch. Where a turn is a straight line they are as fast; lanes that know
 * their turn, and functions, which are made for whole ones, have none. */
static bool has_half_turns(const vec_kernel *k, uint32_t bytes) {
    if (k->functions->next || k->shared || k->lanes * 2 < bytes) return false;
    for (const vec_value *v = vec_walk(NULL, k->functions->body); v;
         v = vec_walk(v, k->functions->body))
        if (v->op == VEC_LOOP || v->op == VEC_EXCHANGE || v->op == VEC_SLIDE || v->op == VEC_PICK)
            return false;
    return true;
}

static void shared_struct(jit_printer *p) {
    if (!p->k->shared) return;
    LLVMTypeRef *types = hg_calloc(p->k->shared_count, sizeof *types);
    if (!types) {
        p->failed = true;
        return;
    }
    for (const vec_var *v = p->k->shared; v; v = v->next) {
        LLVMTypeRef type = jit_var_type(p, v);
        types[v->id] = v->length ? LLVMArrayType2(type, v->length) : type;
    }
    p->made.shared_type = LLVMStructTypeInContext(p->context, types, p->k->shared_count, false);
    hg_free(types);
}

/* Whether some lane may read or write the block's memory, which is zeros at its start. */
static bool reaches_shared(const vec_kernel *k) {
    for (const vec_function *f = k->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (vec_op_has((vec_op)v->op, VEC_F_PLACE) && !vec_slot_of(k, v)) return true;
    return false;
}

/* The kernel's function calls the block's for each block. */
static void print_blocks(jit_printer *p) {
    LLVMTypeRef types[6] = {p->t.ptr, p->t.i64, p->t.i64, p->t.i32, p->t.i32, p->t.i32};
    char name[16];
    jit_name_function(p->k->functions->id, name);
    LLVMValueRef kernel = p->in.fn,
                 block = LLVMAddFunction(p->module, name,
                                         LLVMFunctionType(p->t.none, types, 6, false));
    LLVMSetLinkage(block, LLVMInternalLinkage);
    jit_function_attributes(p, block);
    LLVMPositionBuilderAtEnd(p->b, jit_block(p, "entry"));
    LLVMValueRef args[] = {LLVMGetParam(kernel, 0), LLVMGetParam(kernel, 1),
                           LLVMGetParam(kernel, 2), block, jit_u64(p, reaches_shared(p->k))};
    p->in.launch = args[0];
    (void)jit_call_helper(p, "hgv_blocks", args, HG_COUNT_OF(args));
    jit_end_streams(p);
    LLVMBuildRetVoid(p->b);
    p->in.fn = block;
    if (!jit_open_function(p, p->k->functions)) {
        p->failed = true;
        return;
    }
    p->in.launch = LLVMGetParam(p->in.fn, 0);
    jit_find_memory(p);
    jit_open_block(p);
    if (!p->failed) jit_print_body(p);
    jit_close_block(p);
}

/* Behind the entry, where everything is that the kernel needs for itself. */
static void start_own(jit_printer *p) {
    LLVMBasicBlockRef start = jit_block(p, "start");
    p->in.shared = p->made.shared_type && !p->frame.own_in_memory
                       ? jit_stack(p, p->made.shared_type, 1)
                       : LLVMConstNull(p->t.ptr);
    if (!p->frame.own_in_memory) {
        LLVMBuildBr(p->b, start);
        LLVMPositionBuilderAtEnd(p->b, start);
        return;
    }
    LLVMBasicBlockRef none = jit_block(p, "no_memory");
    p->in.own = jit_ask_memory(p, jit_u64(p, p->frame.own_bytes));
    LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntEQ, p->in.own, LLVMConstNull(p->t.ptr), ""),
                    none, start);
    LLVMPositionBuilderAtEnd(p->b, none);
    LLVMBuildRetVoid(p->b);
    LLVMPositionBuilderAtEnd(p->b, start);
    jit_place_own(p);
}

static void print_turns(jit_printer *p) {
    if (!jit_open_function(p, p->k->functions)) {
        p->failed = true;
        return;
    }
    p->in.launch = LLVMGetParam(p->in.fn, 0);
    jit_find_memory(p);
    start_own(p);
    LLVMValueRef begin = LLVMGetParam(p->in.fn, 1), end = LLVMGetParam(p->in.fn, 2);
    const vec_value *whole = vec_whole_of(p->k);
    if (whole) begin = settled_turns(p, whole, begin, end);
    p->here.rarely = whole && !vec_asks_for_rows(whole);
    uint32_t lanes = p->level.lanes;
    if (p->here.rarely && has_half_turns(p->k, p->level.bytes)) p->level.lanes = p->k->lanes /= 2;
    kernel_body(p, begin, end);
    p->level.lanes = p->k->lanes = lanes;
}

void jit_kernel(jit_printer *p) {
    LLVMTypeRef types[3] = {p->t.ptr, p->t.i64, p->t.i64};
    shared_struct(p);
    if (!p->failed && !jit_find_own(p)) p->failed = true;
    if (p->failed) return;
    for (const vec_function *f = p->k->functions->next; f; f = f->next) jit_declare_function(p, f);
    for (vec_function *f = p->k->functions->next; f && !p->unsupported && !p->failed; f = f->next)
        jit_print_function(p, f);
    p->in.fn = LLVMAddFunction(p->module, HG_JIT_KERNEL,
                               LLVMFunctionType(p->t.none, types, 3, false));
    jit_function_attributes(p, p->in.fn);
    if (!p->unsupported && !p->failed) {
        if (p->k->blocks)
            print_blocks(p);
        else
            print_turns(p);
    }
    jit_close_function(p);
}

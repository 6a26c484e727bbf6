/* Functions of the vector form as LLVM IR: control flow, variables, calls, and the loop over turns
 * around the kernel.
 * Must not know: value primitives, memory. */
#include "jit/jit_internal.h"

#include <hologram/vector.h>
#include <stddef.h>
#include <string.h>

static const LLVMAttributeIndex OF_FUNCTION = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
enum { FAST_CALL = 8 /* LLVM's calling convention fastcc */ };

/* ---- variables ---- */

static void get(jit_printer *p, const vec_value *v) { jit_define(p, v, jit_read_var(p, v->u.var)); }

/* What a variable is behind a SET with a mask. Where masks are integers, old + 1 in some lanes is
 * old less the mask. */
static LLVMValueRef in_lanes(jit_printer *p, const vec_value *v, LLVMValueRef value) {
    const vec_value *from = v->args[0];
    LLVMValueRef old = jit_read_var(p, v->u.var);
    bool counts = !p->level.mask_registers && from->op == VEC_PRIM && from->prim == KIR_ADD &&
                  from->each && p->by.values[from->args[0]->id] == old &&
                  from->args[1]->op == VEC_CONST && from->args[1]->u.imm == 1;
    if (counts)
        return LLVMBuildSub(p->b, old, jit_mask(p, v->mask, (uint32_t)kir_type_bytes(from->type)),
                            "");
    return LLVMBuildSelect(p->b, jit_mask_i1(p, v->mask), value, old, "");
}

static void set(jit_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    const vec_value *from = v->args[0];
    LLVMValueRef value = NULL;
    if (!var->each)
        value = jit_one(p, from);
    else
        value = var->type == KIR_BOOL ? jit_mask(p, from, jit_var_size(p, var)) : jit_each(p, from);
    if (v->mask && !jit_is_all(p, v->mask)) value = in_lanes(p, v, value);
    jit_write_var(p, var, value);
}

void jit_start_vars(jit_printer *p) {
    for (const vec_var *v = p->in.f->vars; v; v = v->next) {
        if (v->by_reference) continue;
        if (v->length)
            jit_array_memory(p, v);
        else
            jit_start_var(p, v);
    }
}

/* ---- leaves, masks ---- */

/* Of the first lane: where it is in its block, or its block in the grid. */
static LLVMValueRef first_coordinate(jit_printer *p, bool of_grid, uint32_t axis) {
    if (jit_in_block(p)) return jit_block_id(p, of_grid, axis);
    LLVMValueRef args[] = {p->in.launch, jit_u32(p, axis + (of_grid ? 3u : 0u)), p->in.first};
    return jit_call_helper(p, "hgv_coordinate", args, 3);
}

static void id(jit_printer *p, const vec_value *v) {
    hg_idname name = (hg_idname)v->u.imm;
    uint64_t axis = hg_idname_axis(name), at = 0;
    switch (hg_idname_part(name)) {
    case HG_PART_LANE_COUNT: at = offsetof(hgv_launch, lanes); break;
    case HG_PART_BLOCK_DIM: at = offsetof(hgv_launch, block) + 4 * axis; break;
    case HG_PART_GRID_DIM: at = offsetof(hgv_launch, grid) + 4 * axis; break;
    default:
        jit_define(p, v,
                   first_coordinate(p, hg_idname_part(name) == HG_PART_BLOCK_IDX, (uint32_t)axis));
        return;
    }
    jit_define(p, v, jit_load(p, jit_type_of(p, v), jit_field(p, p->in.launch, at)));
}

static void coordinate(jit_printer *p, const vec_value *v) {
    hg_idname name = (hg_idname)v->u.imm;
    uint64_t number = hg_idname_axis(name) + (hg_idname_part(name) == HG_PART_BLOCK_IDX ? 3u : 0u);
    LLVMTypeRef type = jit_type_of(p, v), element = jit_scalar(p, v->type);
    LLVMValueRef made = LLVMGetPoison(type);
    for (uint32_t i = 0; i < p->level.lanes; i++) {
        LLVMValueRef args[] = {p->in.launch, jit_u32(p, number),
                               LLVMBuildAdd(p->b, p->in.first, jit_u64(p, i), "")};
        LLVMValueRef one = jit_call_helper(p, "hgv_coordinate", args, 3);
        if (element != p->t.i32) one = LLVMBuildIntCast2(p->b, one, element, false, "");
        made = LLVMBuildInsertElement(p->b, made, one, jit_u64(p, i), "");
    }
    jit_define(p, v, made);
}

static void ramp(jit_printer *p, const vec_value *v) {
    jit_define(p, v,
               LLVMBuildAdd(p->b, jit_each(p, v->args[0]),
                            jit_ramp(p, jit_scalar(p, v->type), 0, v->u.imm), ""));
}

/* Whether a mask is anything but zero: the parts that are native vectors, or registers, as one,
 * then one test. bytes: of an element; 0: one bit. */
static LLVMValueRef any_of_mask(jit_printer *p, LLVMValueRef mask, uint32_t bytes) {
    uint32_t count = p->level.lanes,
             least = bytes ? p->level.bytes / bytes : p->level.lanes / p->mask.mask_parts;
    for (; count > least; count /= 2)
        mask = LLVMBuildOr(p->b, jit_part(p, mask, 0, count / 2),
                           jit_part(p, mask, count / 2, count / 2), "");
    LLVMTypeRef word = LLVMIntTypeInContext(p->context, bytes ? count * bytes * 8 : count);
    return LLVMBuildICmp(p->b, LLVMIntNE, LLVMBuildBitCast(p->b, mask, word, ""),
                         LLVMConstNull(word), "");
}

static void any(jit_printer *p, const vec_value *v) {
    const vec_value *mask = v->args[0];
    LLVMValueRef made = NULL;
    if (mask->op == VEC_RUNNING)
        made = LLVMBuildICmp(p->b, LLVMIntNE, jit_run(p), jit_u64(p, 0), "");
    else if (!mask->each)
        made = LLVMBuildICmp(p->b, LLVMIntNE, jit_bits(p, mask), jit_u64(p, 0), "");
    else
        made = any_of_mask(p, p->by.values[mask->id],
                           p->level.mask_registers ? 0 : p->by.widths[mask->id]);
    jit_define(p, v, made);
}

/* mask and not gone. Where gone is `mask and x`, mask and not x: a comparison under a mask. */
static LLVMValueRef without(jit_printer *p, LLVMValueRef mask, LLVMValueRef gone) {
    if (LLVMIsAInstruction(gone) && LLVMGetInstructionOpcode(gone) == LLVMAnd)
        for (unsigned i = 0; i < 2; i++)
            if (LLVMGetOperand(gone, i) == mask)
                return LLVMBuildAnd(p->b, mask, LLVMBuildNot(p->b, LLVMGetOperand(gone, 1 - i), ""),
                                    "");
    return LLVMBuildAnd(p->b, mask, LLVMBuildNot(p->b, gone, ""), "");
}

static void leave(jit_printer *p, const vec_value *v) {
    LLVMValueRef bits = v->leave.exits || v->leave.ends ? jit_bits(p, v->mask) : NULL;
    if (v->leave.exits)
        jit_set_ended(
            p, LLVMBuildOr(p->b, jit_ended(p), LLVMBuildAnd(p->b, bits, jit_run(p), ""), ""));
    for (uint8_t k = 0; k < v->loses.count; k++) {
        LLVMValueRef gone = jit_mask(p, v->mask, jit_var_size(p, v->loses.vars[k])),
                     old = jit_read_var(p, v->loses.vars[k]);
        jit_write_var(p, v->loses.vars[k], without(p, old, gone));
    }
    if (v->leave.ends && jit_in_block(p)) {
        LLVMValueRef none = LLVMBuildICmp(p->b, LLVMIntEQ, bits, jit_u64(p, 0), ""),
                     no = LLVMConstNull(p->t.i8);
        LLVMBuildStore(
            p->b,
            LLVMBuildSelect(p->b, none, LLVMBuildLoad2(p->b, p->t.i8, p->block.intact, ""), no, ""),
            p->block.intact);
    }
    if (v->leave.ends)
        jit_set_run(p, LLVMBuildAnd(p->b, jit_run(p), LLVMBuildNot(p->b, bits, ""), ""));
}

/* ---- time ---- */

/* Takes the cost of a round away; true: none is left. */
static LLVMValueRef take_fuel(jit_printer *p, const vec_value *v) {
    LLVMValueRef *alone = jit_slot_of(p, JIT_FUEL),
                 old = p->in.alone ? *alone : LLVMBuildLoad2(p->b, p->t.i64, jit_fuel_place(p), "");
    LLVMValueRef cost = jit_u64(p, v->u.imm + p->level.lanes);
    if (jit_in_block(p) && !vec_turns_around(v)) {
        cost = LLVMBuildMul(p->b, p->block.turns, jit_u64(p, p->level.lanes), "");
        cost = LLVMBuildAdd(p->b, cost, jit_u64(p, v->u.imm), "");
    }
    LLVMValueRef left = LLVMBuildSub(p->b, old, cost, "");
    if (p->in.alone)
        *alone = left;
    else
        LLVMBuildStore(p->b, left, jit_fuel_place(p));
    return LLVMBuildICmp(p->b, LLVMIntSLT, left, jit_u64(p, 0), "");
}

static LLVMValueRef ask_for_fuel(jit_printer *p, const vec_value *v) {
    bool level = jit_in_block(p) && !vec_turns_around(v);
    LLVMValueRef args[] = {p->in.launch, level ? jit_u64(p, 1) : jit_run(p)};
    LLVMValueRef stop = LLVMBuildICmp(p->b, LLVMIntNE, jit_call_helper(p, "hgv_go_on", args, 2),
                                      jit_u64(p, 0), "");
    jit_start_fuel(p);
    return stop;
}

/* An IF right behind is part of it: then no value stands between the question and the branch. */
static bool is_asked_at_once(const vec_value *v) {
    const vec_value *next = v->next;
    return next && next->op == VEC_IF && next->args[0] == v && v->uses == 1 &&
           !(next->body[1] && next->body[1]->first);
}

static LLVMValueRef either(jit_printer *p, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b,
                           LLVMBasicBlockRef from_b) {
    LLVMValueRef made = LLVMBuildPhi(p->b, LLVMTypeOf(a), "");
    LLVMAddIncoming(made, &a, &from_a, 1);
    LLVMAddIncoming(made, &b, &from_b, 1);
    return made;
}

static void fuel(jit_printer *p, const vec_value *v) {
    if (is_asked_at_once(v)) return;
    LLVMValueRef out = take_fuel(p, v), no = LLVMConstInt(p->t.i1, 0, false);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b), ask = jit_block(p, "fuel"),
                      next = jit_block(p, "fuelled");
    LLVMSetMetadata(LLVMBuildCondBr(p->b, out, ask, next), p->made.prof,
                    LLVMMetadataAsValue(p->context, p->made.unlikely));
    LLVMValueRef *alone = jit_slot_of(p, JIT_FUEL), left = *alone;
    LLVMPositionBuilderAtEnd(p->b, ask);
    LLVMValueRef stop = ask_for_fuel(p, v);
    LLVMBuildBr(p->b, next);
    LLVMPositionBuilderAtEnd(p->b, next);
    jit_define(p, v, either(p, no, here, stop, ask));
    if (p->in.alone) *alone = either(p, left, here, *alone, ask);
}

static void open_if(jit_printer *p, const vec_value *v) {
    const vec_value *condition = v->args[0];
    if (p->here.dead) {
        jit_if(p, v, NULL, false);
    } else if (condition->op == VEC_FUEL && condition->next == v && is_asked_at_once(condition)) {
        LLVMBasicBlockRef ask = jit_block(p, "fuel");
        jit_if_both(p, v, take_fuel(p, condition), ask);
        jit_if_then(p, ask_for_fuel(p, condition));
    } else {
        jit_if(p, v, jit_one(p, condition), false);
    }
}

/* ---- calls ---- */

static LLVMTypeRef passed(const jit_printer *p, uint8_t type, bool each) {
    if (!each) return jit_scalar(p, type);
    return type == KIR_BOOL ? jit_mask_type(p, VEC_SHARED_MASK_BYTES)
                            : jit_vector(p, jit_scalar(p, type));
}

static LLVMValueRef pass(jit_printer *p, const vec_value *v, uint8_t type, bool each) {
    if (!each) return jit_one(p, v);
    return type == KIR_BOOL ? jit_mask(p, v, VEC_SHARED_MASK_BYTES) : jit_each(p, v);
}

static void call(jit_printer *p, const vec_value *v) {
    const vec_function *f = v->u.call.to;
    LLVMValueRef args[32], ended = NULL;
    unsigned count = 0;
    args[count++] = p->in.launch;
    if (p->frame.own_in_memory) args[count++] = p->in.own;
    if (f->masked) {
        ended = jit_words_of(p, JIT_WORD_ENDED);
        args[count++] = p->in.shared;
        args[count++] = p->in.first;
        args[count++] = LLVMBuildAnd(p->b, jit_bits(p, v->mask), jit_run(p), "");
        args[count++] = ended;
    }
    for (uint8_t n = 0; n < f->array_count; n++)
        args[count++] = jit_array_place(p, v->u.call.arrays[n]);
    for (uint8_t n = 0; n < v->nargs; n++)
        args[count++] = pass(p, v->args[n], f->param_types[n], f->param_each[n]);
    jit_keep_fuel(p);
    LLVMValueRef made = LLVMBuildCall2(p->b, p->made.function_types[f->id],
                                       p->made.functions[f->id], args, count, "");
    LLVMSetInstructionCallConv(made, FAST_CALL);
    jit_start_fuel(p);
    jit_define(p, v, made);
    if (!f->masked || !f->can_end) return;
    LLVMValueRef gone = jit_load(p, p->t.i64, ended);
    jit_if(p, NULL, LLVMBuildICmp(p->b, LLVMIntNE, gone, jit_u64(p, 0), ""), true);
    jit_end_lanes_of(p, v, gone);
    jit_end_if(p);
}

static void print_return(jit_printer *p, const vec_value *v) {
    if (v && jit_in_block(p) && vec_turns_around(v)) {
        jit_return_in_turns(p);
    } else if (p->in.turn) {
        jit_end_turn(p);
    } else {
        if (p->in.f->masked) jit_store(p, jit_ended(p), p->in.ended_out);
        if (v && v->nargs)
            LLVMBuildRet(p->b, pass(p, v->args[0], p->in.f->result, p->in.f->result_each));
        else
            LLVMBuildRetVoid(p->b);
    }
    p->here.dead = true;
}

/* ---- control ---- */

/* Behind the launch, memory, and what masked functions get. */
static unsigned first_param(const jit_printer *p) {
    return 1u + p->frame.own_in_memory + (p->in.f->masked ? 4u : 0u);
}

static void print_region(jit_printer *p, const vec_region *root);

static void open_turns(jit_printer *p, const vec_value *v) {
    if (v->nargs) {
        LLVMValueRef opened = jit_open_settled(p, v);
        print_region(p, v->body[0]);
        jit_close_settled(p, v, opened);
    }
    jit_open_turns(p, v);
}

static void define_true(jit_printer *p, const vec_value *v) {
    jit_define(p, v,
               v->each ? jit_mask_of_i1(p, jit_true(p), p->by.widths[v->id])
                       : LLVMConstInt(p->t.i1, 1, false));
}

/* Inputs are loaded once, where the function begins: LLVM cannot know that no store changes them.
 */
static LLVMValueRef input(jit_printer *p, const vec_value *v) {
    LLVMValueRef *made = &p->by.inputs[v->u.imm];
    if (*made) return *made;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    jit_go_behind(p, p->in.launch);
    LLVMValueRef inputs = LLVMBuildLoad2(
        p->b, p->t.ptr, jit_field(p, p->in.launch, offsetof(hgv_launch, inputs)), "");
    *made = jit_load(p, jit_type_of(p, v), jit_field(p, inputs, v->u.imm * 8));
    LLVMPositionBuilderAtEnd(p->b, here);
    return *made;
}

static void print_value(jit_printer *p, const vec_value *v) {
    if (p->here.settled && v->settled) { /* of an IF the first branch follows in place */
        if (v->op == VEC_PRIM) define_true(p, v);
        return;
    }
    if (v->op == VEC_IF) {
        open_if(p, v);
        return;
    }
    if (v->op == VEC_LOOP) {
        jit_copy_ahead(p, v);
        jit_loop(p, v);
        return;
    }
    if (v->op == VEC_TURNS) {
        open_turns(p, v);
        return;
    }
    if (p->here.dead || (!v->uses && !vec_op_has((vec_op)v->op, VEC_F_EFFECT))) return;
    switch ((vec_op)v->op) {
    case VEC_CONST: break; /* where it is used */
    case VEC_PRIM: jit_prim(p, v); break;
    case VEC_INPUT: jit_define(p, v, input(p, v)); break;
    case VEC_ID: id(p, v); break;
    case VEC_FIRST: jit_define(p, v, p->in.first); break;
    case VEC_BEGIN: jit_define(p, v, p->block.begin); break;
    case VEC_END: jit_define(p, v, p->block.end_lane); break;
    case VEC_INTACT: jit_define(p, v, jit_intact(p)); break;
    case VEC_COORDINATE: coordinate(p, v); break;
    case VEC_RAMP: ramp(p, v); break;
    case VEC_PARAM:
        jit_define(
            p, v,
            LLVMGetParam(p->in.fn, first_param(p) + p->in.f->array_count + (unsigned)v->u.imm));
        break;
    case VEC_GET: get(p, v); break;
    case VEC_SET: set(p, v); break;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: jit_array(p, v); break;
    case VEC_TABLE_GET: jit_table(p, v); break;
    case VEC_EXCHANGE: jit_exchange(p, v); break;
    case VEC_SLIDE: jit_slide(p, v); break;
    case VEC_PICK:
        jit_define(
            p, v, LLVMBuildExtractElement(p->b, jit_each(p, v->args[0]), jit_u64(p, v->u.imm), ""));
        break;
    case VEC_RUNNING: jit_define(p, v, jit_mask(p, NULL, p->by.widths[v->id])); break;
    case VEC_ANY: any(p, v); break;
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_SIZE:
    case VEC_FITS:
    case VEC_ATOMIC:
    case VEC_FAULT_IF: jit_memory(p, v); break;
    case VEC_FENCE:
        LLVMBuildFence(p->b,
                       v->u.imm == HG_SCOPE_SYSTEM ? LLVMAtomicOrderingSequentiallyConsistent
                                                   : LLVMAtomicOrderingAcquireRelease,
                       false, "");
        break;
    case VEC_LEAVE: leave(p, v); break;
    case VEC_BREAK: jit_break(p); break;
    case VEC_CONTINUE: jit_continue(p); break;
    case VEC_RETURN: print_return(p, v); break;
    case VEC_CALL: call(p, v); break;
    case VEC_FUEL: fuel(p, v); break;
    case VEC_BARRIER: jit_barrier(p, v); break;
    default: p->unsupported = "an unknown operation";
    }
}

static void print_region(jit_printer *p, const vec_region *root) {
    for (vec_cursor c = {root, root, root->first};
         (c.v || c.region != root) && !p->unsupported && !p->failed; (void)vec_cursor_next(&c)) {
        bool in_place = !c.v && p->here.settled && c.region->owner->settled;
        if (c.v && c.v->op == VEC_WHOLE)
            c = (vec_cursor){root, c.v->body[0], NULL}; /* asked elsewhere */
        else if (in_place)
            c = (vec_cursor){root, c.region->owner->body[1], NULL}; /* the other branch is over */
        else if (c.v)
            print_value(p, c.v);
        else if (c.region->owner->op == VEC_LOOP)
            jit_end_loop(p);
        else if (c.region->owner->op == VEC_TURNS)
            jit_close_turns(p, c.region->owner);
        else if (vec_cursor_at_else(&c))
            jit_else(p);
        else
            jit_end_if(p);
    }
}

void jit_print_body(jit_printer *p) {
    print_region(p, p->in.f->body);
    if (!p->here.dead && !p->unsupported && !p->failed) print_return(p, NULL);
}

LLVMValueRef jit_answer(jit_printer *p, const vec_value *whole) {
    const vec_value *v = whole->body[0]->first;
    jit_forget(p);
    for (; v->op != VEC_ANSWER; v = v->next) print_value(p, v);
    return jit_one(p, v->args[0]);
}

/* ---- functions ---- */

static void attribute(const jit_printer *p, LLVMValueRef f, const char *name, const char *value) {
    LLVMAttributeRef made = LLVMCreateStringAttribute(p->context, name, (unsigned)strlen(name),
                                                      value ? value : "",
                                                      value ? (unsigned)strlen(value) : 0);
    LLVMAddAttributeAtIndex(f, OF_FUNCTION, made);
}

void jit_function_attributes(const jit_printer *p, LLVMValueRef f) {
    const char *width = p->level.bytes == 64 ? "512" : p->level.bytes == 32 ? "256" : "128";
    jit_add_attribute(p, f, "nounwind");
    attribute(p, f, "target-cpu", p->level.cpu);
    attribute(p, f, "prefer-vector-width", width);
    attribute(p, f, "min-legal-vector-width", width);
    attribute(p, f, "probe-stack", "inline-asm");
    attribute(p, f, "warn-stack-size", "0"); /* LLVM says how large each frame is: frame.c */
}

void jit_declare_function(jit_printer *p, const vec_function *f) {
    LLVMTypeRef types[32],
        result = f->result == KIR_VOID ? p->t.none : passed(p, f->result, f->result_each);
    unsigned count = 0;
    char name[16];
    types[count++] = p->t.ptr;
    if (p->frame.own_in_memory) types[count++] = p->t.ptr;
    if (f->masked) {
        types[count++] = p->t.ptr;
        types[count++] = p->t.i64;
        types[count++] = p->t.i64;
        types[count++] = p->t.ptr;
    }
    for (uint8_t n = 0; n < f->array_count; n++) types[count++] = p->t.ptr;
    for (uint8_t n = 0; n < f->param_count; n++)
        types[count++] = passed(p, f->param_types[n], f->param_each[n]);
    jit_name_function(f->id, name);
    p->made.function_types[f->id] = LLVMFunctionType(result, types, count, false);
    p->made.functions[f->id] = LLVMAddFunction(p->module, name, p->made.function_types[f->id]);
    LLVMSetLinkage(p->made.functions[f->id], LLVMInternalLinkage);
    LLVMSetFunctionCallConv(p->made.functions[f->id], FAST_CALL);
    jit_function_attributes(p, p->made.functions[f->id]);
}

/* Whether a turn is one lane that runs until it ends the turn. */
static bool is_alone(const vec_kernel *k) {
    if (k->lanes > 1 || k->blocks) return false;
    for (const vec_value *v = vec_walk(NULL, k->functions->body); v;
         v = vec_walk(v, k->functions->body))
        if (v->op == VEC_LEAVE) return false;
    return true;
}

/* Tables by value and variable id; the places of the launch's memory. */
bool jit_open_function(jit_printer *p, vec_function *f) {
    p->in.f = f;
    p->in.turn = f == p->k->functions;
    p->in.alone = p->in.turn && is_alone(p->k);
    vec_count_uses(f);
    p->mask.mask_bytes = vec_common_size(f);
    p->mask.mask_parts = p->level.mask_registers &&
                                 p->level.lanes * p->mask.mask_bytes > p->level.bytes
                             ? p->level.lanes * p->mask.mask_bytes / p->level.bytes
                             : 1;
    p->by.var_count = f->var_count;
    uint64_t slots = p->k->module->slots.count;
    p->by.values = hg_calloc((size_t)f->value_count + 1, sizeof *p->by.values);
    p->by.splats = hg_calloc((size_t)f->value_count + 1, sizeof *p->by.splats);
    p->by.checked = hg_calloc((size_t)f->value_count + 1, sizeof *p->by.checked);
    p->by.widths = vec_find_widths(f, p->mask.mask_bytes);
    p->by.arrays = hg_calloc((size_t)f->var_count + 1, sizeof *p->by.arrays);
    p->by.vars = hg_calloc((size_t)f->var_count + JIT_SLOTS, sizeof *p->by.vars);
    p->by.wholes = hg_calloc((size_t)f->var_count + 1, sizeof *p->by.wholes);
    p->block.kept_field = hg_calloc((size_t)f->var_count + 1, sizeof *p->block.kept_field);
    p->by.bases = hg_calloc(slots + 1, sizeof *p->by.bases);
    p->by.sizes = hg_calloc(slots + 1, sizeof *p->by.sizes);
    p->by.inputs = hg_calloc(p->k->module->inputs.count + 1, sizeof *p->by.inputs);
    p->by.divisors = hg_calloc(p->k->module->inputs.count + 1, sizeof *p->by.divisors);
    if (!p->by.values || !p->by.splats || !p->by.checked || !p->by.widths || !p->by.arrays ||
        !p->by.vars || !p->by.wholes || !p->block.kept_field || !p->by.bases || !p->by.sizes ||
        !p->by.inputs || !p->by.divisors)
        return false;
    memset(p->in.spills, 0, sizeof p->in.spills);
    memset(p->in.words, 0, sizeof p->in.words);
    p->in.limit_count = 0;
    p->here.dead = false;
    p->in.entry = jit_block(p, "entry");
    LLVMPositionBuilderAtEnd(p->b, p->in.entry);
    p->in.scratch = jit_stack(p, p->t.i64, 1);
    return true;
}

void jit_close_function(jit_printer *p) {
    hg_free(p->by.values);
    hg_free(p->by.splats);
    hg_free(p->by.checked);
    hg_free(p->by.widths);
    hg_free(p->by.arrays);
    hg_free(p->by.vars);
    hg_free(p->by.wholes);
    hg_free(p->block.kept_field);
    hg_free(p->by.bases);
    hg_free(p->by.sizes);
    hg_free(p->by.inputs);
    hg_free(p->by.divisors);
    p->by.values = p->by.splats = p->by.checked = p->by.arrays = p->by.vars = p->by.bases =
        p->by.sizes = p->by.inputs = NULL;
    p->by.divisors = NULL;
    p->by.widths = NULL;
    p->by.wholes = NULL;
    p->block.kept_field = NULL;
    for (uint64_t i = 0; i < p->frames.count; i++) hg_free(p->frames.data[i].saved);
    p->frames.count = 0;
}

void jit_find_memory(jit_printer *p) {
    LLVMValueRef slots = LLVMBuildLoad2(
        p->b, p->t.ptr, jit_field(p, p->in.launch, offsetof(hgv_launch, slots)), "");
    for (uint64_t i = 0; i < p->k->module->slots.count; i++) {
        LLVMValueRef slot = jit_field(p, slots, i * sizeof(hgv_memory));
        p->by.bases[i] = LLVMBuildLoad2(p->b, p->t.ptr, slot, "");
        p->by.sizes[i] = LLVMBuildLoad2(p->b, p->t.i64,
                                        jit_field(p, slot, offsetof(hgv_memory, size)), "");
    }
    LLVMValueRef memory = jit_field(p, p->in.launch, offsetof(hgv_launch, class_memory));
    LLVMValueRef valid = LLVMBuildLoad2(p->b, p->t.i8,
                                        jit_field(p, memory, offsetof(hgv_memory, valid)), "");
    LLVMValueRef is = LLVMBuildICmp(p->b, LLVMIntNE, valid, LLVMConstNull(p->t.i8), "");
    p->in.class_base = LLVMBuildLoad2(p->b, p->t.ptr, memory, "");
    p->block.shared_base = LLVMBuildLoad2(
        p->b, p->t.ptr, jit_field(p, p->in.launch, offsetof(hgv_launch, shared)), "");
    p->block.shared_size = LLVMBuildLoad2(
        p->b, p->t.i64, jit_field(p, p->in.launch, offsetof(hgv_launch, shared_visible)), "");
    p->in.class_size = LLVMBuildSelect(p->b, is, jit_u64(p, VEC_CLASS_BYTES), jit_u64(p, 0), "");
}

/* The operation on limbs that the launch brings, in place of the function's own code. */
static void call_ready(jit_printer *p, const vec_function *f) {
    LLVMTypeRef types[9] = {p->t.ptr, p->t.i32, p->t.ptr, p->t.ptr, p->t.ptr,
                            p->t.ptr, p->t.i32, p->t.i32, p->t.i64};
    LLVMTypeRef type = LLVMFunctionType(p->t.none, types, HG_COUNT_OF(types), false);
    LLVMValueRef ready = LLVMBuildLoad2(p->b, p->t.ptr,
                                        jit_field(p, p->in.launch, offsetof(hgv_launch, wide)), "");
    LLVMValueRef arrays[4] = {NULL, NULL, NULL, LLVMConstNull(p->t.ptr)};
    for (uint8_t i = 0; i < f->array_count; i++) arrays[i] = p->by.arrays[f->array_params[i]->id];
    LLVMValueRef args[9] = {p->in.launch,
                            jit_u32(p, f->limbs_op),
                            arrays[0],
                            arrays[1],
                            arrays[2],
                            arrays[3],
                            jit_u32(p, f->array_params[0]->length),
                            jit_u32(p, p->level.lanes),
                            jit_run(p)};
    (void)LLVMBuildCall2(p->b, type, ready, args, HG_COUNT_OF(args), "");
    LLVMBuildRetVoid(p->b);
}

void jit_print_function(jit_printer *p, vec_function *f) {
    unsigned next = 1;
    p->in.fn = p->made.functions[f->id];
    if (!jit_open_function(p, f)) {
        p->failed = true;
        jit_close_function(p);
        return;
    }
    p->in.launch = LLVMGetParam(p->in.fn, 0);
    if (p->frame.own_in_memory) p->in.own = LLVMGetParam(p->in.fn, next++);
    p->in.shared = LLVMConstNull(p->t.ptr);
    p->in.first = jit_u64(p, 0);
    jit_set_run(p, jit_all(p));
    jit_set_ended(p, jit_u64(p, 0));
    if (f->masked) {
        p->in.shared = LLVMGetParam(p->in.fn, next++);
        p->in.first = LLVMGetParam(p->in.fn, next++);
        jit_set_run(p, LLVMGetParam(p->in.fn, next++));
        p->in.ended_out = LLVMGetParam(p->in.fn, next++);
        jit_find_memory(p);
    }
    for (uint8_t n = 0; n < f->array_count; n++)
        p->by.arrays[f->array_params[n]->id] = LLVMGetParam(p->in.fn, next++);
    if (f->limbs_op != KIR_OP_COUNT && jit_has_limbs(f)) {
        jit_limbs(p, f);
    } else if (f->limbs_op != KIR_OP_COUNT) {
        call_ready(p, f);
    } else {
        jit_place_own(p);
        jit_start_vars(p);
        jit_print_body(p);
    }
    jit_close_function(p);
}

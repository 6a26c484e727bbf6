/* Counted loops (language.md 4.1).
 * Must not know: types of registers that have no name. */
#include "isa/assemble_inst.h"

static bool emit_skip(hg_assembler *a, hg_register predicate, const hg_token *at,
                      uint64_t *target) {
    return hg_asm_emit(a, HG_OP_BRA, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, predicate, true, HG_READ, at) &&
           hg_asm_emit_target(a, 0, at, target);
}

/* A count in a register: over the body where it is zero; the counter begins with count - 1. */
static bool emit_guard(hg_assembler *a, const hg_token *at, uint8_t type, hg_raw_operand *count,
                       hg_counted_loop *loop) {
    hg_register zero, one, none;
    loop->guarded = true;
    return hg_asm_as_register(a, at, type, count) && hg_asm_temporary(a, type, false, &zero) &&
           hg_asm_emit_number(a, at, zero, type, 0, at, at) &&
           hg_asm_temporary(a, HG_TYPE_OMITTED, true, &none) &&
           hg_asm_emit(a, HG_OP_SET, type, HG_TYPE_NOT_USED, at) &&
           hg_asm_add_operand(a, (hg_operand){.kind = HG_K_COND, .value = HG_COND_EQ}, at) &&
           hg_asm_emit_register(a, none, true, HG_WRITE, at) &&
           hg_asm_emit_register(a, count->reg, false, HG_READ, &count->token) &&
           hg_asm_emit_register(a, zero, false, HG_READ, at) &&
           emit_skip(a, none, at, &loop->operand) && hg_asm_temporary(a, type, false, &one) &&
           hg_asm_emit_number(a, at, one, type, 1, at, at) &&
           hg_asm_emit_binary(a, at, HG_OP_SUB, type, loop->counter, count->reg, one);
}

static bool emit_start(hg_assembler *a, const hg_token *at, uint8_t type, const hg_given *given,
                       hg_counted_loop *loop) {
    const hg_token *number = &given->raw[1].literal;
    uint64_t count = 1;
    if (!hg_asm_unsigned_value(a, number, type == HG_TYPE_U64 ? UINT64_MAX : UINT32_MAX, "S04",
                               &count))
        count = 1; /* its endloop is no mistake */
    loop->never = count == 0;
    if (loop->never) return emit_skip(a, HG_NO_PREDICATE, at, &loop->operand);
    return hg_asm_emit_number(a, at, loop->counter, type, count - 1, &given->raw[0].token, number);
}

bool hg_asm_open_loop(hg_assembler *a, const hg_mnemonic *m, hg_given *given) {
    const hg_token *at = &m->token;
    hg_counted_loop made = {.token = *at, .counter = given->raw[0].reg, .op = (uint16_t)m->op};
    hg_op wide = hg_asm_find_op(a, "loop.u64");
    (void)hg_asm_check_fixed(a, &given->raw[0].token);
    uint8_t type = made.counter.type;
    if (type == HG_TYPE_OMITTED) type = m->op == wide ? HG_TYPE_U64 : HG_TYPE_U32;
    if (type != HG_TYPE_U32 && type != HG_TYPE_U64) {
        hg_asm_error(a, "V03", &given->raw[0].token, NULL,
                     "type mismatch: a loop counter is u32 or u64, not %s",
                     hg_type_name((hg_type)type));
        type = HG_TYPE_U32;
    }
    if (type == HG_TYPE_U64) made.op = (uint16_t)wide;
    if (a->code.loops.count == HG_MAX_LOOP_NESTING) {
        if (!a->code.loops_too_deep)
            hg_asm_error(a, "S05", at, NULL, "counted loops nested deeper than %d",
                         HG_MAX_LOOP_NESTING);
        a->code.loops_too_deep++;
        return true;
    }
    bool literal = given->raw[1].literal.length != 0;
    if (!(literal ? emit_start(a, at, type, given, &made)
                  : emit_guard(a, at, type, &given->raw[1], &made)))
        return false;
    made.body = (uint32_t)a->code.insts.count;
    hg_counted_loop *loop = hg_vec_push(&a->code.loops);
    if (!loop) return hg_asm_no_memory(a);
    *loop = made;
    return true;
}

bool hg_asm_close_loop(hg_assembler *a, const hg_token *at) {
    if (!hg_asm_expect_end(a)) return true; /* closed all the same */
    if (a->code.loops_too_deep) {
        a->code.loops_too_deep--;
        return true;
    }
    if (!a->code.loops.count) {
        if (!a->code.loops_unsure) hg_asm_error(a, "L03", at, NULL, "'endloop' without 'loop'");
        return true;
    }
    hg_counted_loop loop = a->code.loops.data[--a->code.loops.count];
    bool emitted = loop.never ||
                   (hg_asm_emit(a, (hg_op)loop.op, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
                    hg_asm_emit_register(a, loop.counter, false, HG_READ | HG_WRITE, at) &&
                    hg_asm_emit_target(a, loop.body, at, NULL));
    if (emitted && (loop.never || loop.guarded))
        a->code.operands.data[loop.operand].value = a->code.bound = a->code.insts.count;
    if (!emitted || !loop.never) return emitted;
    hg_inst_range *skipped = hg_vec_push(&a->kept.skipped);
    if (!skipped) return hg_asm_no_memory(a);
    *skipped = (hg_inst_range){loop.body, (uint32_t)a->code.insts.count};
    return true;
}

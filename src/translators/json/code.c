/* Instructions of a kernel under translation: registers, constants, labels.
 * Must not know: nodes, types of the document. */
#include "translators/json/lower_internal.h"

/* ---- registers ---- */

static uint8_t out_of_registers(jk_code *c) {
    if (!c->exhausted)
        jk_error(
            c->kernel, "S05", c->token, "fewer variables at a time, or a shorter expression",
            "no register is left: r%d to r%d hold variables, intermediate values and constants",
            JK_FIRST_LOCAL, JK_LAST_LOCAL);
    c->exhausted = true;
    c->users[JK_FIRST_LOCAL]++; /* as if it had been taken: everything goes on, nothing comes of it
                                 */
    return JK_FIRST_LOCAL;
}

static int find_free(const jk_code *c) {
    for (int reg = JK_FIRST_LOCAL; reg <= JK_LAST_LOCAL; reg++)
        if (!c->users[reg]) return reg;
    return -1;
}

/* For a constant, which stands at the start of the program: a register that no instruction writes.
 */
static int find_untouched(const jk_code *c) {
    for (int reg = JK_LAST_LOCAL; reg >= JK_FIRST_LOCAL; reg--)
        if (!c->users[reg] && !c->taken[reg]) return reg;
    return -1;
}

uint8_t jk_take_register(jk_code *c) {
    int reg = find_free(c);
    if (reg < 0) return out_of_registers(c);
    c->users[reg] = 1;
    c->taken[reg] = true;
    return (uint8_t)reg;
}

void jk_release(jk_code *c, uint8_t reg) {
    if (c->users[reg]) c->users[reg]--;
}

uint8_t jk_constant_register(jk_code *c, hg_type type, uint64_t bits, bool shift, bool *owned) {
    *owned = false;
    for (uint32_t i = 0; i < c->constant_count; i++)
        if (c->constants[i].type == type && c->constants[i].bits == bits)
            return c->constants[i].reg;
    int reg = shift && !c->users[JK_SHIFT]           ? JK_SHIFT
              : c->constant_count < JK_MAX_CONSTANTS ? find_untouched(c)
                                                     : -1;
    if (reg >= 0 && c->constant_count < JK_MAX_CONSTANTS) {
        c->users[reg] = 1;
        c->constants[c->constant_count++] = (jk_constant){bits, (uint8_t)type, (uint8_t)reg};
        return (uint8_t)reg;
    }
    *owned = true;
    uint8_t temporary = jk_take_register(c);
    jk_emit(c, HG_OP_MOV_IMM, type, temporary, 0, 0)->bits = bits;
    return temporary;
}

/* ---- instructions ---- */

jk_inst *jk_emit(jk_code *c, hg_op op, hg_type type, uint8_t d, uint8_t a, uint8_t b) {
    static _Thread_local jk_inst nowhere; /* what no path reaches, and what memory does not hold */
    bool full = c->insts.count + JK_MAX_CONSTANTS >= HG_MAX_INSTRUCTIONS;
    if (full && !c->exhausted)
        jk_error(c->kernel, "S05", c->token, NULL, "more than %d instructions",
                 HG_MAX_INSTRUCTIONS);
    c->exhausted |= full;
    jk_inst *in = c->reachable && !full ? hg_vec_push(&c->insts) : NULL;
    if (c->reachable && !full && !in) c->kernel->out_of_memory = true;
    if (!in) in = &nowhere;
    *in = (jk_inst){
        .op = (uint8_t)op, .type = (uint8_t)type, .d = d, .a = a, .b = b, .token = c->token};
    c->fresh = in != &nowhere;
    return in;
}

uint32_t jk_new_label(jk_code *c) {
    if (!hg_vec_push(&c->labels)) {
        c->kernel->out_of_memory = true;
        return 0;
    }
    return (uint32_t)c->labels.count - 1;
}

void jk_place_label(jk_code *c, uint32_t label) {
    if (label >= c->labels.count) return;
    jk_label *l = &c->labels.data[label];
    l->inst = (uint32_t)c->insts.count;
    l->placed = true;
    c->fresh = false;
    c->reachable |= l->used;
}

void jk_place_top(jk_code *c, uint32_t label) {
    if (label < c->labels.count) c->labels.data[label].used |= c->reachable;
    jk_place_label(c, label);
}

static void jump(jk_code *c, uint32_t label, bool predicated) {
    if (!c->reachable || label >= c->labels.count) return;
    jk_inst *in = jk_emit(c, HG_OP_BRA, HG_TYPE_COUNT, 0, 0, 0);
    in->label = label;
    in->predicated = predicated;
    c->labels.data[label].used = true;
}

void jk_jump(jk_code *c, uint32_t label) {
    jump(c, label, false);
    c->reachable = false;
}

void jk_jump_if(jk_code *c, uint32_t label) { jump(c, label, true); }

/* Registers and predicates of a program as variables of the module: what reads and writes them, and
 * what each is known to hold in the block that is being written. Must not know: instructions. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"

#include <stdio.h>

kir_var *build_var(build *x, uint8_t reg, uint8_t type) {
    kir_var **var = &x->regs.vars[reg][type];
    if (!*var) {
        char name[8];
        snprintf(name, sizeof name, "r%u", (unsigned)reg);
        *var = kir_var_create(x->module, NULL, type, 0, name);
    }
    return *var;
}

static void hold(build *x, uint8_t reg, uint8_t type, kir_value *value) {
    x->regs.held[reg][type] = value;
    x->regs.held_at[reg][type] = x->regs.block_number;
}

kir_value *build_get(build *x, uint8_t reg, uint8_t type) {
    if (x->regs.held_at[reg][type] != x->regs.block_number)
        hold(x, reg, type, kir_get(&x->b, build_var(x, reg, type)));
    return x->regs.held[reg][type];
}

/* ---- what a debugger sees ---- */

static kir_value *trace(build *x, kir_traced what, uint8_t number, uint8_t type, uint8_t part,
                        kir_value *value) {
    kir_value *v = kir_emit(&x->b, KIR_TRACE, KIR_VOID, value != NULL, value ? &value : NULL);
    v->u.trace.what = (uint8_t)what;
    v->u.trace.number = number;
    v->u.trace.part = part;
    v->u.trace.atlas_type = type;
    return v;
}

void build_trace_point(build *x, uint32_t inst) {
    if (!x->how.trace) return;
    x->b.inst = inst + 1;
    kir_value *point = trace(x, KIR_TRACE_POINT, 0, 0, 0, NULL);
    point->u.trace.own = x->own;
}

void build_trace_register(build *x, uint8_t reg, uint8_t type, kir_value *value) {
    if (!x->how.trace) return;
    uint32_t bytes = (uint32_t)kir_type_bytes(type);
    if (bytes <= 8) {
        trace(x, KIR_TRACE_REGISTER, reg, type, 0, value);
        return;
    }
    for (uint32_t part = 0; part < bytes / 8; part++) {
        kir_value *high = part ? kir_binary(&x->b, KIR_LSHR, value,
                                            kir_const(&x->b, HG_TYPE_U32, part * 64))
                               : value;
        trace(x, KIR_TRACE_REGISTER, reg, type, (uint8_t)part,
              kir_convert(&x->b, KIR_TRUNC, HG_TYPE_U64, high));
    }
}

/* ---- registers ---- */

void build_set(build *x, uint8_t reg, kir_value *value) {
    uint8_t type = value->type; /* the builder's value for failure changes its type */
    kir_set(&x->b, build_var(x, reg, type), value);
    hold(x, reg, type, value);
    x->axes.chains[reg].block = 0;
    build_trace_register(x, reg, type, value);
}

static kir_var *pred_var(build *x, uint8_t pred) {
    kir_var **var = &x->regs.preds[pred];
    if (!*var) {
        char name[8];
        snprintf(name, sizeof name, "p%u", (unsigned)pred);
        *var = kir_var_create(x->module, NULL, KIR_BOOL, 0, name);
    }
    return *var;
}

static void hold_pred(build *x, uint8_t pred, kir_value *value) {
    x->regs.held_pred[pred] = value;
    x->regs.held_pred_at[pred] = x->regs.block_number;
}

kir_value *build_pred(build *x, uint8_t pred) {
    if (x->regs.held_pred_at[pred] != x->regs.block_number)
        hold_pred(x, pred, kir_get(&x->b, pred_var(x, pred)));
    return x->regs.held_pred[pred];
}

void build_set_pred(build *x, uint8_t pred, kir_value *value) {
    kir_set(&x->b, pred_var(x, pred), value);
    hold_pred(x, pred, value);
    if (x->how.trace) trace(x, KIR_TRACE_PREDICATE, pred, KIR_BOOL, 0, value);
}

kir_value *build_wide(build *x, uint8_t reg, uint32_t operand) {
    if (x->types[operand] != HG_TYPE_U32) return build_get(x, reg, HG_TYPE_U64);
    return kir_convert(&x->b, KIR_ZEXT, HG_TYPE_U64, build_get(x, reg, HG_TYPE_U32));
}

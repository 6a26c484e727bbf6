/* Regions: each call that is a whole-array instruction becomes an instruction of a program whose
 * parameters are the values; calls that follow each other share a program as long as its registers
 * last. Must not know: devices. */
#include "graph/lower.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <string.h>

/* Registers of a program that is made: values and extents from 0 on, one behind them for results
 * that are registers. */
enum { MOST_SLOTS = 160, MOST_SCALARS = 80, RESULT_REGISTER = 250, MOST_CALLS = 64 };

typedef struct lowering {
    const hg_graph *g;
    hg_builder *b;
    graph_region *r;
    hg_arena arena; /* of what the builder borrows for a call */
} lowering;

static hg_status slot_of(lowering *l, uint32_t value, bool written, uint8_t *reg) {
    graph_slot *slots = l->r->slots.data;
    for (uint64_t i = 0; i < l->r->slots.count; i++) {
        if (slots[i].value != value) continue;
        slots[i].written |= written;
        *reg = (uint8_t)i;
        return HG_OK;
    }
    graph_slot *to = hg_vec_push(&l->r->slots);
    if (!to) return hg_fail_memory();
    *to = (graph_slot){.value = value, .written = written};
    *reg = (uint8_t)(l->r->slots.count - 1);
    snprintf(to->name, sizeof to->name, "a%u", (unsigned)*reg); /* the same calls of other values
                                                                   are the same program */
    return HG_OK;
}

static hg_status scalar_of(lowering *l, graph_extent e, hg_arg *arg) {
    uint64_t value, i = 0;
    if (graph_is_number(l->g, e, &value)) {
        *arg = hg_count(value);
        return HG_OK;
    }
    while (i < l->r->scalars.count && l->r->scalars.data[i].extent != e) i++;
    if (i == l->r->scalars.count) {
        graph_scalar *to = hg_vec_push(&l->r->scalars);
        if (!to) return hg_fail_memory();
        to->extent = e;
        snprintf(to->name, sizeof to->name, "n%u", (unsigned)i);
    }
    *arg = hg_count_reg((uint8_t)(MOST_SLOTS + i));
    return HG_OK;
}

/* ---- operands ---- */

/* Of f16 and bf16 instructions the numbers are f32, which only a real can say. */
static hg_arg literal_arg(hg_type type, const uint8_t *bytes) {
    float narrow;
    double wide;
    memcpy(&narrow, bytes, sizeof narrow);
    memcpy(&wide, bytes, type == HG_TYPE_F64 ? sizeof wide : 1);
    return type == HG_TYPE_F32   ? hg_imm_f64((double)narrow)
           : type == HG_TYPE_F64 ? hg_imm_f64(wide)
                                 : hg_imm_bits(bytes);
}

static hg_status tuple_arg(lowering *l, const graph_operand *o, hg_arg *arg) {
    const graph_extent *items = &l->g->items.data[o->first];
    hg_arg *args = hg_arena_alloc(&l->arena, 2 * (o->number + (size_t)1) * sizeof *args),
           *tuples = args + o->number;
    uint32_t count = 0;
    uint64_t length;
    if (!args) return hg_fail_memory();
    for (uint32_t i = 0; i < o->number; i++) HG_TRY(scalar_of(l, items[i], &args[i]));
    *arg = hg_tuple_of(args, o->number);
    if (o->kind == GRAPH_TUPLE) return HG_OK;
    for (uint32_t i = 0; i < o->number && graph_is_number(l->g, items[i], &length);
         i += (uint32_t)length + 1)
        tuples[count++] = hg_tuple_of(&args[i + 1], (uint32_t)length);
    *arg = hg_tuple_of(tuples, count);
    return HG_OK;
}

static hg_arg array_arg(const hg_operand_info *info, uint8_t reg) {
    return info->kind == HG_K_ADDRESS ? hg_addr_buffer_start(reg) : hg_array(reg);
}

static hg_status operand_arg(lowering *l, const graph_call *call, uint32_t i, hg_arg *arg) {
    const hg_operand_info *info = &hg_op_get((hg_op)call->op)->operands[i];
    const graph_operand *o = graph_operand_of(l->g, call, i);
    uint32_t result = graph_is_array(info) ? graph_result_of(l->g, call, i) : GRAPH_NOT_SET;
    uint8_t reg;
    hg_inst in = {.type = call->type};
    *arg = hg_left_out();
    if (info->kind == HG_K_REG) {
        *arg = hg_arg_reg(RESULT_REGISTER);
        return HG_OK;
    }
    if (result != GRAPH_NOT_SET) {
        HG_TRY(slot_of(l, result, true, &reg));
        *arg = array_arg(info, reg);
        return HG_OK;
    }
    if (!o) return HG_OK;
    switch ((graph_operand_kind)o->kind) {
    case GRAPH_ARRAY:
        HG_TRY(slot_of(l, o->number, false, &reg));
        *arg = array_arg(info, reg);
        return HG_OK;
    case GRAPH_COUNT: return scalar_of(l, o->number, arg);
    case GRAPH_LITERAL: *arg = literal_arg(hg_literal_type(&in, info), o->bytes); return HG_OK;
    case GRAPH_NAME: *arg = hg_arg_name(hg_opname_name((hg_opname)o->number)); return HG_OK;
    case GRAPH_FLAG: *arg = hg_flag((int)o->number); return HG_OK;
    default: return tuple_arg(l, o, arg);
    }
}

/* ---- calls ---- */

/* A result that is a register is stored. */
static hg_status store_after(lowering *l, const graph_call *call) {
    uint8_t reg;
    if (hg_op_get((hg_op)call->op)->operands[0].kind != HG_K_REG) return HG_OK;
    HG_TRY(slot_of(l, graph_result_of(l->g, call, 0), true, &reg));
    hg_build_stg(l->b, (hg_type)call->type, hg_addr_buffer_start(reg), RESULT_REGISTER);
    return HG_OK;
}

static hg_status add_instruction(lowering *l, const graph_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    hg_arg args[HG_MAX_OPERANDS];
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < row->operand_count && status == HG_OK; i++)
        status = operand_arg(l, call, i, &args[i]);
    if (status == HG_OK)
        hg_builder_add(l->b, row->opcode, row->type_count ? (hg_type)call->type : HG_TYPE_INFER,
                       HG_TYPE_INFER, args, row->operand_count);
    if (status == HG_OK) status = store_after(l, call);
    return status;
}

/* How many values a call may add at most; a value that is there already counts too. */
static uint32_t most_new(const graph_call *call) {
    return call->operand_count + call->result_count;
}

static bool has_room(const graph_region *r, const hg_graph *g, const graph_call *call) {
    uint32_t items = 0;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_operand *o = &g->operands.data[call->first_operand + i];
        items += o->kind == GRAPH_TUPLE || o->kind == GRAPH_TUPLES ? o->number
                                                                   : o->kind == GRAPH_COUNT;
    }
    return r->calls.count < MOST_CALLS && r->slots.count + most_new(call) <= MOST_SLOTS &&
           r->scalars.count + items + 1 <= MOST_SCALARS;
}

/* ---- regions ---- */

/* gemm names c as read and written, whether it reads it or not: so is what any call writes. */
static void declare(lowering *l) {
    for (uint64_t i = 0; i < l->r->slots.count; i++) {
        const graph_slot *s = &l->r->slots.data[i];
        hg_builder_param_buffer(l->b, (uint8_t)i, s->name,
                                (hg_type)l->g->values.data[s->value].type,
                                s->written ? HG_PARAM_INOUT : HG_PARAM_IN, NULL, HG_NO_DIMS);
    }
    for (uint64_t i = 0; i < l->r->scalars.count; i++)
        hg_builder_param_scalar(l->b, (uint8_t)(MOST_SLOTS + i), l->r->scalars.data[i].name,
                                HG_TYPE_U64);
}

static hg_status lower_instructions(const hg_graph *g, uint32_t first, bool together,
                                    graph_region *r, uint32_t *end) {
    lowering l = {.g = g, .b = hg_builder_create("graph"), .r = r};
    if (!l.b) return hg_fail_memory();
    hg_dim one = hg_dim_of(1);
    hg_status status = HG_OK;
    uint32_t i = first;
    for (; i < g->calls.count && status == HG_OK; i++) {
        const graph_call *call = &g->calls.data[i];
        uint32_t *to;
        if (call->program || (i > first && (!together || !has_room(r, g, call)))) break;
        status = add_instruction(&l, call);
        to = hg_vec_push(&r->calls);
        if (to) *to = i;
        if (!to) status = hg_fail_memory();
    }
    hg_builder_lanes(l.b, &one, 1);
    declare(&l);
    if (status == HG_OK) status = hg_builder_build(l.b, NULL, &r->program);
    hg_builder_destroy(l.b);
    hg_arena_free(&l.arena);
    *end = i;
    return status;
}

static hg_status lower_program(const hg_graph *g, uint32_t number, graph_region *r) {
    const graph_call *call = &g->calls.data[number];
    uint32_t *to = hg_vec_push(&r->calls);
    if (!to) return hg_fail_memory();
    *to = number;
    r->direct = true;
    r->program = hg_program_retain((hg_program *)(uintptr_t)call->program);
    return HG_OK;
}

hg_status graph_lower(const hg_graph *g, bool together, graph_regions *regions) {
    for (uint32_t i = 0; i < g->calls.count;) {
        graph_region *r = hg_vec_push(regions);
        if (!r) return hg_fail_memory();
        if (g->calls.data[i].program)
            HG_TRY(lower_program(g, i++, r));
        else
            HG_TRY(lower_instructions(g, i, together, r, &i));
    }
    return HG_OK;
}

void graph_regions_free(graph_regions *regions) {
    for (uint64_t i = 0; i < regions->count; i++) {
        graph_region *r = &regions->data[i];
        hg_program_release(r->program);
        hg_vec_free(&r->calls);
        hg_vec_free(&r->slots);
        hg_vec_free(&r->scalars);
    }
    hg_vec_free(regions);
}

/* What a call is made of. Must not know: text. */
#include "graph/request.h"
#include <string.h>

hg_status graph_find_callee(graph_request *r, const char *text, size_t length) {
    hg_type type = HG_TYPE_COUNT;
    for (size_t i = length; i-- > 1;) {
        if (text[i] != '.') continue;
        if (hg_type_from_name(text + i + 1, length - i - 1, &type)) length = i;
        break;
    }
    r->program = NULL;
    r->type = (uint8_t)type;
    r->op = (uint16_t)graph_op_named(text, length);
    if (r->op != HG_OP_NONE) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no whole-array instruction '%.*s'",
                   (int)(length > 40 ? 40 : length), text);
}

const char *graph_callee_name(const graph_request *r) {
    return r->program ? hg_program_name(r->program) : hg_op_get((hg_op)r->op)->text;
}

uint32_t graph_operand_named(const graph_request *r, const char *name, size_t length) {
    const hg_op_info *row = r->program ? NULL : hg_op_get((hg_op)r->op);
    uint32_t count = row ? row->operand_count : r->program->param_count;
    for (uint32_t i = 0; i < count; i++)
        if (graph_is_name(row ? row->operands[i].name : r->program->params[i].name, name, length))
            return i;
    return GRAPH_NOT_SET;
}

graph_operand_kind graph_operand_kind_of(const graph_request *r, uint32_t operand) {
    if (r->program) {
        const hg_param *p = &r->program->params[operand];
        bool size = p->kind == HG_PARAM_SCALAR &&
                    (p->type == HG_TYPE_U32 || p->type == HG_TYPE_U64);
        return p->kind != HG_PARAM_SCALAR ? GRAPH_ARRAY : size ? GRAPH_COUNT : GRAPH_LITERAL;
    }
    const hg_operand_info *info = &hg_op_get((hg_op)r->op)->operands[operand];
    if (graph_is_array(info)) return GRAPH_ARRAY;
    switch ((hg_operand_kind)info->kind) {
    case HG_K_LITERAL: return GRAPH_LITERAL;
    case HG_K_OPNAME: return GRAPH_NAME;
    case HG_K_BOOL: return GRAPH_FLAG;
    case HG_K_TUPLE: return GRAPH_TUPLE;
    case HG_K_TUPLES: return GRAPH_TUPLES;
    default: return GRAPH_COUNT;
    }
}

bool graph_operand_is_made(const graph_request *r, uint32_t operand) {
    if (!r->program) return graph_is_written(&hg_op_get((hg_op)r->op)->operands[operand]);
    const hg_param *p = &r->program->params[operand];
    return p->kind == HG_PARAM_BUFFER && (p->dir == HG_DIR_OUT || p->dir == HG_DIR_INOUT);
}

hg_status graph_refuse_made(const graph_request *r, uint32_t operand) {
    const char *name = r->program ? r->program->params[operand].name
                                  : hg_op_get((hg_op)r->op)->operands[operand].name;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s is what it makes: nothing is given for it",
                   graph_callee_name(r), name);
}

graph_operand *graph_given(graph_request *r, uint32_t operand) {
    for (uint32_t i = 0; i < r->operand_count; i++)
        if (r->operands[i].operand == operand) return &r->operands[i];
    return NULL;
}

hg_status graph_read_word(const graph_request *r, uint32_t operand, const char *text, size_t length,
                          uint32_t *number) {
    const hg_operand_info *info = &hg_op_get((hg_op)r->op)->operands[operand];
    int shown = length > 40 ? 40 : (int)length;
    hg_opname word;
    if (!hg_opname_from_text(text, length, &word))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no operation '%.*s'", shown, text);
    if (!hg_opname_fits(word, (hg_type_rule)info->rule))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s=%.*s is no operation for it",
                       graph_callee_name(r), info->name, shown, text);
    *number = (uint32_t)word;
    return HG_OK;
}

/* What an instruction writes only where somebody wants it. */
static bool may_be_left_out(const graph_request *r, uint32_t operand) {
    return !r->program && hg_op_get((hg_op)r->op)->operands[operand].optional == HG_OR_NONE;
}

hg_status graph_match_results(graph_request *r, uint32_t count) {
    uint32_t operands = r->program ? r->program->param_count
                                   : hg_op_get((hg_op)r->op)->operand_count,
             writes = 0, needed = 0;
    for (uint32_t operand = 0; operand < operands; operand++) {
        if (!graph_operand_is_made(r, operand)) continue;
        if (writes < count) r->results[writes] = (graph_result){(uint8_t)operand, GRAPH_NOT_SET};
        writes++;
        if (!may_be_left_out(r, operand)) needed = writes;
    }
    r->result_count = count;
    if (count <= writes && count >= needed && (count || !writes)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s makes %u value%s, %u name%s in front of it",
                   graph_callee_name(r), (unsigned)writes, writes == 1 ? "" : "s", (unsigned)count,
                   count == 1 ? "" : "s");
}

hg_status graph_read_literal(hg_graph *g, const graph_request *r, graph_operand *o, hg_type type) {
    char message[160] = "it is no number";
    const char *hint = NULL, *name = r->program
                                         ? r->program->params[o->operand].name
                                         : hg_op_get((hg_op)r->op)->operands[o->operand].name;
    if (!o->number) return HG_OK;
    uint8_t *bytes = hg_arena_alloc(&g->arena, (size_t)hg_type_size_bytes(type) + 8); /* read as
                                                                                         eight bytes
                                                                                         too */
    if (!bytes) return hg_fail_memory();
    if (hg_parse_literal((const char *)o->bytes, o->number, type, bytes, message, &hint))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %s=%.*s: %s", graph_callee_name(r), name,
                       o->number > 40 ? 40 : (int)o->number, (const char *)o->bytes, message);
    o->bytes = bytes;
    o->number = 0;
    return HG_OK;
}

hg_status graph_make_result(hg_graph *g, graph_request *r, uint32_t i,
                            const graph_value *inferred) {
    const graph_value *declared = r->declared && r->declared[i].type != HG_TYPE_COUNT
                                      ? &r->declared[i]
                                      : NULL;
    const graph_value *v = declared ? declared : inferred;
    if (!v && g->extent_status != HG_OK) return g->extent_status;
    if (!v)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: nothing tells the type and shape of what it makes: write it in front, "
                       "as in y f32 [n] = %s ...",
                       graph_callee_name(r), graph_callee_name(r));
    return graph_add_value(g, v, r->result_names[i], r->result_lengths[i], &r->results[i].value);
}

/* Values as operands in SPIR-V: constants, parameters, fields of the record, ids of the device,
 * results of operations. What a function needs of the record and the ids is read once, at its top.
 * Must not know: what operations do with them. */
#include "emit/emit_spirv_internal.h"
#include <string.h>

/* ---- blocks ---- */

void spv_decorate_block(spirv *s, uint32_t id, bool coherent) {
    SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_Block);
    SPV(s, &s->to.decorations, OpMemberDecorate, id, 0, Spv_D_Offset, 0);
    if (coherent) SPV(s, &s->to.decorations, OpMemberDecorate, id, 0, Spv_D_Coherent);
}

uint32_t spv_bound_variable(spirv *s, uint32_t type, const spv_binding *b) {
    uint32_t id = spv_variable(s, Spv_S_StorageBuffer, type, 0, b->name);
    SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_DescriptorSet, 0);
    SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_Binding, b->number);
    SPV(s, &s->to.decorations, OpDecorate, id, b->alone ? Spv_D_Restrict : Spv_D_Aliased);
    if (!b->written) SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_NonWritable);
    if (b->coherent) SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_Coherent);
    return id;
}

/* ---- the record ---- */

static uint32_t member_of(spirv *s, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (s->module->inputs.data[i].index == s->module->inputs.data[index].index)
            return s->launch.members[i];
    return UINT32_MAX;
}

/* Members are the record's fields by input; inputs of the same place share one. */
static void make_record_type(spirv *s) {
    uint32_t count = (uint32_t)s->module->inputs.count, used = 0;
    uint32_t *types = hg_alloc((size_t)count * sizeof *types);
    if (!types) {
        s->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->launch.members[i] = member_of(s, i);
        if (s->launch.members[i] != UINT32_MAX) continue;
        types[used] = spv_type(s, s->module->inputs.data[i].type);
        s->launch.members[i] = used++;
    }
    uint32_t id = s->launch.record_type = spv_struct(s, types, used);
    SPV(s, &s->to.decorations, OpDecorate, id, Spv_D_Block);
    spv_name(s, id, "Record");
    for (uint32_t i = 0, done = 0; i < count; i++) {
        const kir_input *input = &s->module->inputs.data[i];
        if (s->launch.members[i] != done) continue;
        SPV(s, &s->to.decorations, OpMemberDecorate, id, done, Spv_D_Offset, input->index);
        if (s->options->debug && input->name)
            spv_write_text(s, &s->to.names, OpMemberName, (const uint32_t[]){id, done}, 2,
                           input->name, strlen(input->name));
        done++;
    }
    hg_free(types);
}

/* An address out of two words or one 64-bit number. */
static uint32_t address_type(spirv *s) {
    return s->options->target.i64 ? spv_type(s, HG_TYPE_U64) : spv_vector(s, 2);
}
uint32_t spv_to_pointer(spirv *s, uint32_t type, uint32_t address) {
    return SPV_RESULT(s, s->options->target.i64 ? OpConvertUToPtr : OpBitcast, type, address);
}

static void make_record(spirv *s) {
    const emit_spirv_options *o = s->options;
    make_record_type(s);
    if (o->record_is_pushed) {
        s->launch.record = spv_variable(s, Spv_S_PushConstant, s->launch.record_type, 0, "record");
    } else if (o->target.addressed) {
        uint32_t address = address_type(s), block = spv_struct(s, &address, 1);
        spv_decorate_block(s, block, false);
        s->launch.record = spv_variable(s, Spv_S_PushConstant, block, 0, "record");
    } else {
        const spv_binding binding = {.number = kir_device_binding_count(s->layout, s->module),
                                     .name = "record"};
        s->launch.record = spv_bound_variable(s, s->launch.record_type, &binding);
    }
}

/* Written at the function's top. */
static uint32_t read_record(spirv *s, uint32_t index) {
    const emit_spirv_options *o = s->options;
    if (!s->launch.record) make_record(s);
    uint8_t type = s->module->inputs.data[index].type;
    bool by_address = !o->record_is_pushed && o->target.addressed;
    uint32_t storage = o->record_is_pushed ? Spv_S_PushConstant
                       : by_address        ? Spv_S_PhysicalStorageBuffer
                                           : Spv_S_StorageBuffer;
    uint32_t block = s->launch.record, zero = spv_u32(s, 0), word = spv_type(s, type);
    if (by_address && !s->launch.record_pointer) {
        uint32_t address = address_type(s);
        uint32_t field = SPV_RESULT(s, OpAccessChain, spv_pointer(s, Spv_S_PushConstant, address),
                                    s->launch.record, zero);
        uint32_t value = SPV_RESULT(s, OpLoad, address, field);
        s->launch.record_pointer = spv_to_pointer(s, spv_pointer(s, storage, s->launch.record_type),
                                                  value);
    }
    if (by_address) block = s->launch.record_pointer;
    uint32_t place = SPV_RESULT(s, OpAccessChain, spv_pointer(s, storage, word), block,
                                spv_u32(s, s->launch.members[index]));
    if (!by_address) return SPV_RESULT(s, OpLoad, word, place);
    return SPV_RESULT(s, OpLoad, word, place, Spv_m_Aligned, (uint32_t)kir_type_bytes(type));
}

uint32_t spv_input(spirv *s, uint32_t index) {
    if (s->inputs[index]) return s->inputs[index];
    emit_words *at = s->to.at;
    s->to.at = &s->to.prologue;
    uint32_t id = s->inputs[index] = read_record(s, index);
    s->to.at = at;
    return id;
}

/* ---- ids ---- */

static uint32_t builtin(spirv *s, uint32_t which) {
    static const uint32_t BUILTINS[] = {Spv_b_NumWorkgroups, Spv_b_WorkgroupId,
                                        Spv_b_LocalInvocationId, Spv_b_LocalInvocationIndex};
    uint32_t type = which == 3 ? spv_type(s, HG_TYPE_U32) : spv_vector(s, 3),
             *id = &s->made.builtins[which];
    if (!*id) {
        *id = spv_variable(s, Spv_S_Input, type, 0, spv_enumerant('b', BUILTINS[which]));
        SPV(s, &s->to.decorations, OpDecorate, *id, Spv_D_BuiltIn, BUILTINS[which]);
    }
    return SPV_RESULT(s, OpLoad, type, *id);
}

/* (group.z · groups.y + group.y) · groups.x + group.x, times the group's size, plus the index in
 * it. */
static uint32_t thread_id(spirv *s) {
    const uint32_t *group = s->options->group;
    uint32_t word = spv_type(s, HG_TYPE_U32), counts = builtin(s, 0), which = builtin(s, 1);
    uint32_t index = SPV_RESULT(s, OpCompositeExtract, word, which, 2);
    for (uint32_t i = 2; i-- > 0;) {
        index = SPV_RESULT(s, OpIMul, word, index,
                           SPV_RESULT(s, OpCompositeExtract, word, counts, i));
        index = SPV_RESULT(s, OpIAdd, word, index,
                           SPV_RESULT(s, OpCompositeExtract, word, which, i));
    }
    index = SPV_RESULT(s, OpIMul, word, index, spv_u32(s, group[0] * group[1] * group[2]));
    return SPV_RESULT(s, OpIAdd, word, index, builtin(s, 3));
}

static uint32_t device_id(spirv *s, uint32_t which) {
    if (which >= KIR_DEVICE_ID_COUNT) {
        spv_unsupported(s, "an unknown id");
        return 1;
    }
    uint32_t *id = &s->made.device_ids[which];
    if (*id) return *id;
    emit_words *at = s->to.at;
    s->to.at = &s->to.prologue;
    if (which == KIR_ID_THREAD) {
        *id = thread_id(s);
    } else {
        uint32_t all = builtin(s, kir_device_id_part((kir_device_id)which) == KIR_DEVICE_GROUP ? 1
                                                                                               : 2);
        *id = SPV_RESULT(s, OpCompositeExtract, spv_type(s, HG_TYPE_U32), all,
                         kir_device_id_axis((kir_device_id)which));
    }
    s->to.at = at;
    return *id;
}

/* ---- operands ---- */

uint32_t spv_bitcast(spirv *s, uint8_t to, uint8_t from, uint32_t value) {
    return to == from ? value : SPV_VALUE(s, OpBitcast, to, value);
}

uint32_t spv_convert_uint(spirv *s, uint8_t to, uint8_t from, uint32_t value) {
    return to == from ? value : SPV_VALUE(s, OpUConvert, to, value);
}

uint32_t spv_use(spirv *s, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST: return spv_constant(s, v->type, v->u.imm);
    case KIR_PARAM: return s->made.params[v->u.imm];
    case KIR_INPUT: {
        uint8_t type = s->module->inputs.data[v->u.imm].type;
        uint32_t id = spv_input(s, (uint32_t)v->u.imm);
        if (v->type == type) return id;
        if (kir_type_bits(v->type) == kir_type_bits(type)) return spv_bitcast(s, v->type, type, id);
        if (kir_type_is_float(v->type) || v->type == KIR_BOOL)
            spv_unsupported(s, "a field of another type");
        return spv_convert_uint(s, v->type, type, id);
    }
    case KIR_ID: return device_id(s, (uint32_t)v->u.imm);
    default: return s->by_id.ids[v->id];
    }
}

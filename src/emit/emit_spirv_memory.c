/* Memory in SPIR-V: slots by address or by binding, group memory, variables, arrays, tables.
 * Must not know: control flow, devices by name. */
#include "emit/emit_spirv_internal.h"
#include "kir/access.h"
#include <string.h>

static uint32_t log2_bytes(uint64_t bytes) {
    return bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
}
static uint8_t uint_of(uint32_t log2) {
    static const uint8_t TYPES[] = {HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64};
    return TYPES[log2];
}

/* ---- what the module does with its memory ---- */

/* Elements of the binding that a value of type is read from or written to: its own size where
 * memory has it, else words. */
static uint32_t binding_log2(const spirv *s, uint8_t type) {
    const kir_device_target *target = &s->options->target;
    uint64_t bytes = kir_type_bytes(type);
    bool own = bytes == 4 || (bytes == 1 && target->memory8) || (bytes == 2 && target->memory16) ||
               (bytes == 8 && target->memory64);
    return own ? log2_bytes(bytes) : 2;
}

/* The type of the number that an access reads or writes. */
static uint8_t access_type(const kir_value *v) {
    return v->op == KIR_LOAD ? v->type : v->args[v->nargs - 1]->type;
}

typedef struct memory_use {
    bool fence, barrier;
    spv_slot open;
} memory_use;

static void note_access(spirv *s, const kir_value *v, memory_use *use) {
    spv_slot *slot = v->u.mem.slot < 0 ? &use->open : &s->slots[s->slots[v->u.mem.slot].holder];
    if (v->u.mem.slot < 0 && v->u.mem.space == KIR_SHARED) return;
    slot->read |= v->op != KIR_STORE;
    slot->written |= v->op != KIR_LOAD;
    slot->atomic |= v->op == KIR_ATOMIC;
    slot->widths |= (uint8_t)(1u << binding_log2(s, access_type(v)));
}

static void find_holders(spirv *s) {
    for (uint64_t i = 0; i < s->module->slots.count; i++) {
        uint64_t first = 0;
        while (kir_device_binding(s->layout, first) != kir_device_binding(s->layout, i)) first++;
        s->slots[i].holder = (int16_t)first;
    }
}

/* Coherent is what makes a store visible to other invocations by a fence, a barrier or an atomic
 * operation alone; it costs a device its caches, so only memory gets it that one invocation writes
 * and another may read meanwhile. Open accesses may go anywhere. */
void spv_prepare_memory(spirv *s) {
    memory_use use = {.fence = false};
    find_holders(s);
    for (const kir_function *f = s->module->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_LOAD || v->op == KIR_STORE || v->op == KIR_ATOMIC)
                note_access(s, v, &use);
            use.fence |= v->op == KIR_FENCE;
            use.barrier |= v->op == KIR_BARRIER;
            if (v->op != KIR_CALL) continue;
            for (uint8_t i = 0; i < v->u.call.function->array_count; i++)
                s->by_id.passed[v->u.call.arrays[i]->id] = true;
        }
    for (uint64_t i = 0; i < s->module->slots.count; i++) {
        spv_slot *slot = &s->slots[i];
        bool exchanged = (slot->written && (slot->read || use.open.read)) ||
                         (slot->read && use.open.written);
        slot->coherent = use.fence || slot->atomic || (use.barrier && exchanged);
        slot->alone = s->module->slots.data[i].distinct &&
                      (slot->widths & (slot->widths - 1)) == 0; /* else several variables */
    }
    s->open_coherent = use.fence || use.open.atomic || use.barrier;
}

/* ---- types of memory ---- */

static void memory_capability(spirv *s, uint8_t type) {
    if (type == HG_TYPE_U8) spv_capability(s, Spv_C_StorageBuffer8BitAccess);
    if (type == HG_TYPE_U16) spv_capability(s, Spv_C_StorageBuffer16BitAccess);
}

/* struct { uN elements[]; } */
static uint32_t block_type(spirv *s, uint32_t log2, bool coherent) {
    uint32_t *block = &s->made.blocks[log2][coherent];
    if (*block) return *block;
    uint32_t *array = &s->made.runtime_arrays[log2];
    memory_capability(s, uint_of(log2));
    if (!*array) {
        *array = SPV_GLOBAL(s, OpTypeRuntimeArray, 0, spv_type(s, uint_of(log2)));
        SPV(s, &s->to.decorations, OpDecorate, *array, Spv_D_ArrayStride, 1u << log2);
    }
    *block = spv_struct(s, array, 1);
    spv_decorate_block(s, *block, coherent);
    return *block;
}

/* struct { coherent T cell; }: decorations need a member. */
static uint32_t cell_type(spirv *s, uint8_t type) {
    uint32_t *cell = &s->made.cell_struct[type];
    if (*cell) return *cell;
    uint32_t inside = spv_type(s, type);
    *cell = spv_struct(s, &inside, 1);
    spv_decorate_block(s, *cell, true);
    return *cell;
}

/* ---- variables, arrays, tables ---- */

static bool is_private(const spirv *s, const kir_var *x) {
    return !x->function || x->by_reference || s->by_id.passed[x->id];
}

static uint32_t var_type(spirv *s, const kir_var *x) {
    return x->length ? spv_array(s, x->type, x->length) : spv_type(s, x->type);
}

/* Mesa turns a zero at start into a store an element, and its passes take time with the square of
 * them: arrays that the kernel has for all its run are cleared in a loop. */
static bool is_long(const spirv *s, const kir_var *x) {
    enum { LONG_ARRAY = 256 };
    return x->length > LONG_ARRAY && !x->by_reference &&
           (!x->function || x->function == s->module->functions);
}

/* An array that goes to functions lives outside of them, so that their parameters are of one
 * storage class; it is cleared where its function begins. */
uint32_t spv_var(spirv *s, const kir_var *x) {
    uint32_t *id = &s->by_id.vars_by_id[x->id];
    if (*id) return *id;
    uint32_t type = var_type(s, x), zero = is_long(s, x) ? 0 : spv_null(s, type);
    if (is_private(s, x)) {
        *id = spv_variable(s, Spv_S_Private, type, zero, x->name);
        if (x->function && x->function != s->module->functions)
            SPV(s, &s->to.prologue, OpStore, *id, zero);
        return *id;
    }
    *id = s->next_id++;
    const uint32_t operands[] = {spv_pointer(s, Spv_S_Function, type), *id, Spv_S_Function, zero};
    spv_write(s, &s->to.vars, OpVariable, operands, zero ? 4 : 3);
    spv_name(s, *id, x->name);
    return *id;
}

static void clear_element(spirv *s, const kir_var *x, uint32_t array, uint32_t index) {
    uint32_t type = spv_pointer(s, is_private(s, x) ? Spv_S_Private : Spv_S_Function,
                                spv_type(s, x->type));
    uint32_t place = SPV_RESULT(s, OpAccessChain, type, array, index);
    SPV(s, s->to.at, OpStore, place, spv_null(s, spv_type(s, x->type)));
}

/* A few rounds: llvmpipe counts those of all loops of an invocation. */
static void clear_array(spirv *s, const kir_var *x, uint32_t counter) {
    enum { EACH = 32 };
    uint32_t array = spv_var(s, x), head = s->next_id, body = head + 1, next = head + 2,
             after = head + 3;
    s->next_id += 4;
    SPV(s, s->to.at, OpStore, counter, spv_u32(s, 0));
    SPV(s, s->to.at, OpBranch, head);
    SPV(s, s->to.at, OpLabel, head);
    uint32_t index = SPV_VALUE(s, OpLoad, HG_TYPE_U32, counter);
    uint32_t inside = SPV_VALUE(s, OpULessThan, KIR_BOOL, index,
                                spv_u32(s, x->length / EACH * EACH));
    SPV(s, s->to.at, OpLoopMerge, after, next, SPV_DO_NOT_UNROLL);
    SPV(s, s->to.at, OpBranchConditional, inside, body, after);
    SPV(s, s->to.at, OpLabel, body);
    for (uint32_t i = 0; i < EACH; i++)
        clear_element(s, x, array, SPV_VALUE(s, OpIAdd, HG_TYPE_U32, index, spv_u32(s, i)));
    SPV(s, s->to.at, OpBranch, next);
    SPV(s, s->to.at, OpLabel, next);
    SPV(s, s->to.at, OpStore, counter, SPV_VALUE(s, OpIAdd, HG_TYPE_U32, index, spv_u32(s, EACH)));
    SPV(s, s->to.at, OpBranch, head);
    SPV(s, s->to.at, OpLabel, after);
    for (uint32_t i = x->length / EACH * EACH; i < x->length; i++)
        clear_element(s, x, array, spv_u32(s, i));
}

void spv_clear_arrays(spirv *s) {
    uint32_t counter = 0;
    emit_words *at = s->to.at;
    s->to.at = &s->to.prologue;
    for (const kir_var *x = s->module->vars; x; x = x->next) {
        if (!is_long(s, x)) continue;
        if (!counter) {
            uint32_t type = spv_pointer(s, Spv_S_Function, spv_type(s, HG_TYPE_U32));
            SPV(s, &s->to.vars, OpVariable, type, counter = s->next_id++, Spv_S_Function);
        }
        clear_array(s, x, counter);
    }
    s->to.at = at;
}

static uint32_t element(spirv *s, const kir_var *x, const kir_value *at) {
    uint32_t array = spv_var(s, x), index = spv_use(s, at),
             type = spv_pointer(s, is_private(s, x) ? Spv_S_Private : Spv_S_Function,
                                spv_type(s, x->type));
    return SPV_RESULT(s, OpAccessChain, type, array, index);
}

static uint32_t make_table(spirv *s, const kir_table *t) {
    uint64_t size = kir_type_bytes(t->type);
    const uint8_t *data = t->data;
    uint32_t *elements = hg_alloc((size_t)t->length * sizeof *elements);
    if (!elements) {
        s->failed = true;
        return 1;
    }
    for (uint32_t i = 0; i < t->length; i++) {
        uint64_t bits = 0;
        for (uint64_t k = 0; k < size; k++) bits |= (uint64_t)data[i * size + k] << (8 * k);
        elements[i] = spv_constant(s, t->type, bits);
    }
    uint32_t type = spv_array(s, t->type, t->length);
    uint32_t id = spv_variable(s, Spv_S_Private, type,
                               spv_global(s, OpConstantComposite, type, elements, t->length),
                               t->name);
    hg_free(elements);
    return id;
}

static uint32_t table_get(spirv *s, const kir_value *v) {
    const kir_table *t = v->u.table;
    uint32_t *id = &s->by_id.tables_by_id[t->id], type = spv_type(s, t->type),
             index = spv_use(s, v->args[0]);
    if (!*id) *id = make_table(s, t);
    return SPV_RESULT(
        s, OpLoad, type,
        SPV_RESULT(s, OpAccessChain, spv_pointer(s, Spv_S_Private, type), *id, index));
}

static uint32_t variable_access(spirv *s, const kir_value *v) {
    const kir_var *x = v->u.var;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET: return SPV_RESULT(s, OpLoad, spv_type(s, x->type), spv_var(s, x));
    case KIR_ARRAY_GET:
        return SPV_RESULT(s, OpLoad, spv_type(s, x->type), element(s, x, v->args[0]));
    case KIR_VAR_SET: SPV(s, s->to.at, OpStore, spv_var(s, x), spv_use(s, v->args[0])); return 0;
    default: SPV(s, s->to.at, OpStore, element(s, x, v->args[0]), spv_use(s, v->args[1])); return 0;
    }
}

/* ---- places in memory ---- */

typedef struct place {
    uint32_t pointer, second; /* of cells; second: the next one, when the value takes two */
    uint32_t storage;
    uint8_t cell;     /* kir type */
    uint32_t shift;   /* value is narrower than the cell: bits to its right; 0: it is not */
    uint32_t aligned; /* 0: no operand */
    uint8_t operands; /* first argument after the place */
    bool is_volatile;
    bool atomic; /* only atomic operations reach it */
} place;

/* Offset of a place, u32: groups, blocks behind two halves of an address and bindings are all below
 * 4 GiB (maxStorageBufferRange has 32 bits), so only the low half of an offset in bounds counts; a
 * device does 32-bit numbers faster. */
static uint32_t low_offset(spirv *s, const kir_value *offset) {
    if (offset->op == KIR_CONST) return spv_u32(s, (uint32_t)offset->u.imm);
    return spv_convert_uint(s, HG_TYPE_U32, offset->type, spv_use(s, offset));
}

/* The same in elements of 2^log2 bytes, plus that of the slot's base, 0: none. The base is aligned,
 * so the offset is. */
static uint32_t element_index(spirv *s, const kir_value *offset, uint32_t base, uint32_t log2) {
    bool constant = offset->op == KIR_CONST;
    uint32_t id = constant ? spv_u32(s, (uint32_t)offset->u.imm >> log2) : low_offset(s, offset);
    if (constant && base && !((uint32_t)offset->u.imm >> log2)) return base;
    if (log2 && !constant)
        id = SPV_VALUE(s, OpShiftRightLogical, HG_TYPE_U32, id, spv_u32(s, log2));
    return base ? SPV_VALUE(s, OpIAdd, HG_TYPE_U32, id, base) : id;
}

/* Elements of an array of cells, or (member) of the block around one: the second cell of wide
 * values, the shift of narrow ones. */
static void in_elements(spirv *s, const kir_value *v, place *p, uint32_t object, bool member,
                        uint32_t index, uint8_t type, uint32_t low) {
    uint32_t pointer = spv_pointer(s, p->storage, spv_type(s, p->cell)), zero = spv_u32(s, 0);
    uint64_t cell = kir_type_bytes(p->cell), bytes = kir_type_bytes(type);
    p->pointer = member ? SPV_RESULT(s, OpAccessChain, pointer, object, zero, index)
                        : SPV_RESULT(s, OpAccessChain, pointer, object, index);
    if (bytes > cell) {
        uint32_t next = SPV_RESULT(s, OpIAdd, spv_type(s, HG_TYPE_U32), index, spv_u32(s, 1));
        p->second = member ? SPV_RESULT(s, OpAccessChain, pointer, object, zero, next)
                           : SPV_RESULT(s, OpAccessChain, pointer, object, next);
    } else if (bytes < cell) {
        if (v->op != KIR_LOAD) spv_unsupported(s, "a narrow store to word memory");
        uint32_t word = spv_type(s, HG_TYPE_U32);
        uint32_t byte = SPV_RESULT(s, OpBitwiseAnd, word, low, spv_u32(s, 3));
        p->shift = SPV_RESULT(s, OpShiftLeftLogical, word, byte, spv_u32(s, 3));
    }
}

static void in_group_memory(spirv *s, const kir_value *v, place *p, uint8_t type) {
    const kir_value *offset = v->args[kir_device_offset(v)];
    if (!s->made.group_memory) {
        uint64_t words = (s->options->group_memory + 3) / 4;
        uint32_t array = spv_array(s, HG_TYPE_U32, words ? (uint32_t)words : 1);
        s->made.group_memory = spv_variable(s, Spv_S_Workgroup, array, 0, "group_memory");
    }
    p->storage = Spv_S_Workgroup;
    p->cell = HG_TYPE_U32;
    p->operands = 1;
    uint32_t low = kir_type_bytes(type) < 4 ? low_offset(s, offset) : 0;
    in_elements(s, v, p, s->made.group_memory, false, element_index(s, offset, 0, 2), type, low);
}

/* The base of a slot in elements of 2^log2 bytes, once a function; 0: it is bound at its beginning.
 */
static uint32_t base_index(spirv *s, int16_t slot, uint32_t log2) {
    int32_t input = s->module->slots.data[slot].base;
    uint32_t *base = &s->slots[slot].base[log2];
    if (input < 0 || *base) return *base;
    uint32_t id = spv_input(s, (uint32_t)input);
    emit_words *at = s->to.at;
    s->to.at = &s->to.prologue;
    id = spv_convert_uint(s, HG_TYPE_U32, s->module->inputs.data[input].type, id);
    *base = log2 ? SPV_VALUE(s, OpShiftRightLogical, HG_TYPE_U32, id, spv_u32(s, log2)) : id;
    s->to.at = at;
    return *base;
}

static void in_binding(spirv *s, const kir_value *v, place *p, uint8_t type) {
    const kir_value *offset = v->args[kir_device_offset(v)];
    uint32_t log2 = binding_log2(s, type);
    bool own = kir_type_bytes(type) == UINT64_C(1) << log2;
    int16_t holder = s->slots[v->u.mem.slot].holder;
    spv_slot *slot = &s->slots[holder];
    if (!slot->variable[log2]) {
        static const char *const NAMES[] = {"buffer", "class_memory",  "fault", "table",
                                            "locks",  "shared_memory", "arena"};
        const spv_binding binding = {
            .number = kir_device_binding(s->layout, (uint64_t)v->u.mem.slot),
            .written = slot->written,
            .coherent = slot->coherent,
            .alone = slot->alone,
            .name = s->layout->bindings.count ? "binding"
                                              : NAMES[s->module->slots.data[holder].kind]};
        slot->variable[log2] = spv_bound_variable(s, block_type(s, log2, false), &binding);
    }
    p->storage = Spv_S_StorageBuffer;
    p->cell = uint_of(log2);
    p->operands = 1;
    uint32_t low = own ? 0 : low_offset(s, offset),
             index = element_index(s, offset, base_index(s, v->u.mem.slot, log2), log2);
    in_elements(s, v, p, slot->variable[log2], true, index, type, low);
}

/* The input with the high half of a slot's address. */
static uint32_t high_half(spirv *s, int32_t low) {
    const kir_input *inputs = s->module->inputs.data;
    for (uint64_t i = 0; i < s->module->inputs.count; i++)
        if (inputs[i].index == inputs[low].index + 4) return spv_input(s, (uint32_t)i);
    spv_unsupported(s, "half an address");
    return 1;
}

static uint32_t pointer_of_halves(spirv *s, uint32_t low, uint32_t high, bool coherent) {
    uint32_t type = spv_pointer(s, Spv_S_PhysicalStorageBuffer, block_type(s, 2, coherent));
    uint32_t pair = SPV_RESULT(s, OpCompositeConstruct, spv_vector(s, 2), low, high);
    return spv_to_pointer(s, type, pair);
}

/* Addresses without 64-bit integers: words behind a pointer that is made of two halves. */
static void in_halves(spirv *s, const kir_value *v, place *p, uint8_t type) {
    bool open = v->u.mem.slot < 0;
    uint32_t block;
    if (open) {
        uint32_t low = spv_use(s, v->args[0]), high = spv_use(s, v->args[1]);
        block = pointer_of_halves(s, low, high, s->open_coherent);
    } else {
        spv_slot *slot = &s->slots[v->u.mem.slot];
        int32_t base = s->module->slots.data[v->u.mem.slot].base;
        if (!slot->pointer && base < 0) spv_unsupported(s, "a slot without an address");
        if (!slot->pointer && base >= 0) {
            uint32_t low = spv_input(s, (uint32_t)base), high = high_half(s, base);
            emit_words *at = s->to.at;
            s->to.at = &s->to.prologue;
            slot->pointer = pointer_of_halves(s, low, high, slot->coherent);
            s->to.at = at;
        }
        block = slot->pointer;
    }
    const kir_value *offset = v->args[kir_device_offset(v)];
    p->storage = Spv_S_PhysicalStorageBuffer;
    p->cell = HG_TYPE_U32;
    p->aligned = 4;
    p->operands = (uint8_t)(kir_device_offset(v) + 1);
    uint32_t low = kir_type_bytes(type) < 4 ? low_offset(s, offset) : 0;
    in_elements(s, v, p, block, true, element_index(s, offset, 0, 2), type, low);
}

static void at_address(spirv *s, const kir_value *v, place *p, uint8_t type) {
    bool open = v->u.mem.slot < 0,
         coherent = open ? s->open_coherent : s->slots[v->u.mem.slot].coherent;
    const kir_value *offset = v->args[kir_device_offset(v)];
    uint32_t address, wide = spv_type(s, HG_TYPE_U64);
    if (open) {
        address = spv_use(s, v->args[0]);
    } else {
        int32_t base = s->module->slots.data[v->u.mem.slot].base;
        if (base < 0) {
            spv_unsupported(s, "a slot without an address");
            return;
        }
        address = spv_input(s, (uint32_t)base);
    }
    if (offset->op != KIR_CONST || offset->u.imm)
        address = SPV_RESULT(s, OpIAdd, wide, address,
                             spv_convert_uint(s, HG_TYPE_U64, offset->type, spv_use(s, offset)));
    p->storage = Spv_S_PhysicalStorageBuffer;
    p->cell = type;
    p->aligned = (uint32_t)kir_type_bytes(type);
    p->operands = (uint8_t)(kir_device_offset(v) + 1);
    memory_capability(s, type);
    uint32_t cell = spv_pointer(s, p->storage, spv_type(s, type));
    if (!coherent) {
        p->pointer = spv_to_pointer(s, cell, address);
        return;
    }
    uint32_t block = spv_to_pointer(s, spv_pointer(s, p->storage, cell_type(s, type)), address);
    p->pointer = SPV_RESULT(s, OpAccessChain, cell, block, spv_u32(s, 0));
}

/* Where a value of type lies that v reads or writes. */
static place locate(spirv *s, const kir_value *v, uint8_t type) {
    place p = {.is_volatile = v->u.mem.volatile_access != 0,
               .atomic = s->options->target.whole_atomics && kir_device_is_atomic(s->layout, v)};
    bool open = v->u.mem.slot < 0;
    if (v->u.mem.space == KIR_SHARED && open)
        in_group_memory(s, v, &p, type);
    else if (open && (v->u.mem.slot != KIR_ADDRESS || !s->options->target.addressed))
        spv_unsupported(s, "an access that the device form does not have");
    else if (!s->options->target.addressed)
        in_binding(s, v, &p, type);
    else if (s->options->target.i64)
        at_address(s, v, &p, type);
    else
        in_halves(s, v, &p, type);
    return p;
}

static uint32_t memory_operands(const place *p, uint32_t *to) {
    uint32_t count = 0;
    if (p->is_volatile || p->aligned)
        to[count++] = (p->is_volatile ? Spv_m_Volatile : 0u) | (p->aligned ? Spv_m_Aligned : 0u);
    if (p->aligned) to[count++] = p->aligned;
    return count;
}

/* Relaxed: order is made by FENCE and BARRIER. */
static uint32_t load_cell(spirv *s, const place *p, uint32_t pointer) {
    if (p->atomic)
        return SPV_RESULT(s, OpAtomicLoad, spv_type(s, p->cell), pointer,
                          spv_u32(s, Spv_o_DeviceScope), spv_u32(s, 0));
    uint32_t operands[4] = {spv_type(s, p->cell), pointer};
    return spv_result(s, OpLoad, operands, 2 + memory_operands(p, operands + 2));
}

static void store_cell(spirv *s, const place *p, uint32_t pointer, uint32_t value) {
    if (p->atomic) {
        SPV(s, s->to.at, OpAtomicStore, pointer, spv_u32(s, Spv_o_DeviceScope), spv_u32(s, 0),
            value);
        return;
    }
    uint32_t operands[4] = {pointer, value};
    spv_write(s, s->to.at, OpStore, operands, 2 + memory_operands(p, operands + 2));
}

static uint32_t load(spirv *s, const kir_value *v) {
    place p = locate(s, v, v->type);
    if (s->unsupported) return 1;
    uint32_t id = load_cell(s, &p, p.pointer);
    if (p.second) {
        uint32_t pair = SPV_RESULT(s, OpCompositeConstruct, spv_vector(s, 2), id,
                                   load_cell(s, &p, p.second));
        return SPV_RESULT(s, OpBitcast, spv_type(s, v->type), pair);
    }
    if (!p.shift) return spv_bitcast(s, v->type, p.cell, id);
    id = SPV_RESULT(s, OpShiftRightLogical, spv_type(s, HG_TYPE_U32), id, p.shift);
    return spv_convert_uint(s, v->type, HG_TYPE_U32, id);
}

static void store(spirv *s, const kir_value *v) {
    const kir_value *value = v->args[v->nargs - 1];
    place p = locate(s, v, value->type);
    if (s->unsupported) return;
    uint32_t id = spv_use(s, value), word = spv_type(s, HG_TYPE_U32);
    if (!p.second) {
        store_cell(s, &p, p.pointer, spv_bitcast(s, p.cell, value->type, id));
        return;
    }
    uint32_t pair = SPV_RESULT(s, OpBitcast, spv_vector(s, 2), id);
    store_cell(s, &p, p.pointer, SPV_RESULT(s, OpCompositeExtract, word, pair, 0));
    store_cell(s, &p, p.second, SPV_RESULT(s, OpCompositeExtract, word, pair, 1));
}

static uint32_t atomic(spirv *s, const kir_value *v) {
    static const uint16_t OPCODES[] = {
        OpAtomicIAdd, OpAtomicUMin, OpAtomicSMin, OpAtomicUMax,     OpAtomicSMax,
        OpAtomicAnd,  OpAtomicOr,   OpAtomicXor,  OpAtomicExchange, OpAtomicCompareExchange};
    uint8_t type = v->args[v->nargs - 1]->type;
    place p = locate(s, v, type);
    if (s->unsupported) return 1;
    if (p.second || p.shift || (type != HG_TYPE_U32 && type != HG_TYPE_U64)) {
        spv_unsupported(s, "an atomic operation of a width that the memory does not have");
        return 1;
    }
    if (type == HG_TYPE_U64) spv_capability(s, Spv_C_Int64Atomics);
    uint32_t scope = spv_u32(s, Spv_o_DeviceScope), relaxed = spv_u32(s, 0), id = spv_type(s, type);
    uint32_t first = spv_use(s, v->args[p.operands]);
    if (v->u.mem.atomic == KIR_ATOMIC_CAS) {
        uint32_t desired = spv_use(s, v->args[p.operands + 1]);
        return SPV_RESULT(s, OpAtomicCompareExchange, id, p.pointer, scope, relaxed, relaxed,
                          desired, first);
    }
    return SPV_RESULT(s, OPCODES[v->u.mem.atomic], id, p.pointer, scope, relaxed, first);
}

static void order(spirv *s, const kir_value *v) {
    if (v->op == KIR_FENCE && s->options->no_fences) return;
    uint32_t semantics = spv_u32(s, Spv_q_AcquireRelease | Spv_q_UniformMemory |
                                        Spv_q_WorkgroupMemory);
    uint32_t group = spv_u32(s, Spv_o_WorkgroupScope);
    if (v->op == KIR_BARRIER)
        SPV(s, s->to.at, OpControlBarrier, group, group, semantics);
    else
        SPV(s, s->to.at, OpMemoryBarrier,
            v->u.imm == HG_SCOPE_BLOCK ? group : spv_u32(s, Spv_o_DeviceScope), semantics);
}

bool spv_memory(spirv *s, const kir_value *v) {
    uint32_t id = 0;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: id = variable_access(s, v); break;
    case KIR_TABLE_GET: id = table_get(s, v); break;
    case KIR_LOAD: id = load(s, v); break;
    case KIR_STORE: store(s, v); break;
    case KIR_ATOMIC: id = atomic(s, v); break;
    case KIR_FENCE:
    case KIR_BARRIER: order(s, v); break;
    default: return false;
    }
    s->by_id.ids[v->id] = id;
    return true;
}

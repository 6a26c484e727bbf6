/* See device_support.h. */
#include "support/device_support.h"

/* What drivers lose is theirs (PoCL and its LLVM keep megabytes until the process ends). Nothing of
 * ours allocates through these. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libLLVM\nleak:libclang\nleak:libpocl\nleak:libOpenCL\nleak:libstdc++\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }

kir_value *build_field(device_kernel *k, kir_builder *b, kir_field_kind kind, uint32_t index,
                       uint8_t type) {
    uint32_t size = (uint32_t)kir_type_bytes(type),
             offset = (k->layout.record_bytes + size - 1) / size * size;
    kir_field *field = hg_vec_push(&k->layout.fields);
    kir_input *input = hg_vec_push(&k->module->inputs);
    kir_value *v = kir_emit(b, KIR_INPUT, type, 0, NULL);
    if (!field || !input) return v;
    *field = (kir_field){.kind = (uint8_t)kind, .index = index};
    *input = (kir_input){.kind = KIR_INPUT_FIELD, .type = type, .index = offset};
    k->layout.record_bytes = offset + size;
    v->u.imm = k->module->inputs.count - 1;
    return v;
}

kir_value *build_field_again(kir_builder *b, const kir_value *field) {
    kir_value *v = kir_emit(b, KIR_INPUT, field->type, 0, NULL);
    v->u.imm = field->u.imm;
    return v;
}

void device_kernel_begin_as(device_kernel *k, kir_builder *b, const char *name, uint32_t slots,
                            bool addressed) {
    memset(k, 0, sizeof *k);
    k->module = kir_module_create(name);
    CHECK(k->module != NULL);
    k->module->facts = KIR_FACT_DEVICE;
    kir_builder_init(b, k->module, kir_function_create(k->module, name, KIR_VOID));
    k->layout.fault_slot = k->layout.table_slot = k->layout.locks_slot = k->layout.class_slot =
        k->layout.shared_slot = -1;
    k->layout.first_arena_slot = -1;
    for (uint32_t i = 0; i < slots; i++) {
        kir_slot *slot = hg_vec_push(&k->module->slots);
        if (!slot) return;
        *slot = (kir_slot){.base = -1};
        if (i % 2 == 0 && !addressed) continue;
        slot->base = (int32_t)build_field(k, b, KIR_FIELD_BASE, i, HG_TYPE_U64)->u.imm;
    }
}

void device_kernel_begin(device_kernel *k, kir_builder *b, const char *name, uint32_t slots) {
    device_kernel_begin_as(k, b, name, slots, false);
}

void device_kernel_end(device_kernel *k, const kir_builder *b) {
    CHECK(!b->failed);
    k->layout.record_bytes = (k->layout.record_bytes + 7) / 8 * 8;
    kir_count_uses(k->module);
    CHECK_MESSAGE(kir_verify(k->module) == HG_OK, "%s", hg_last_error_text());
}

void device_kernel_free(device_kernel *k) {
    hg_vec_free(&k->layout.fields);
    kir_module_destroy(k->module);
}

kir_value *build_id(kir_builder *b, kir_device_id id) {
    kir_value *v = kir_emit(b, KIR_ID, HG_TYPE_U32, 0, NULL);
    v->u.imm = (uint64_t)id;
    return v;
}

void build_barrier(kir_builder *b) { (void)kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL); }

kir_value *build_access(kir_builder *b, kir_op op, int16_t slot, uint8_t type, uint8_t nargs,
                        kir_value *const *args, uint8_t of) {
    kir_value *v = kir_emit(b, op, type, nargs, args);
    v->u.mem.slot = slot;
    v->u.mem.space = slot == KIR_OPEN ? KIR_SHARED : KIR_BUFFER;
    v->u.mem.bytes = (uint8_t)kir_type_bytes(of);
    v->u.mem.has_index = v->u.mem.unchecked = 1;
    return v;
}

kir_value *build_load(kir_builder *b, int16_t slot, kir_value *at, uint8_t type) {
    return build_access(b, KIR_LOAD, slot, type, 1, &at, type);
}

void build_store(kir_builder *b, int16_t slot, kir_value *at, kir_value *value) {
    kir_value *args[] = {at, value};
    (void)build_access(b, KIR_STORE, slot, KIR_VOID, 2, args, value->type);
}

kir_value *build_atomic(kir_builder *b, int16_t slot, kir_atomic atomic, uint8_t count,
                        kir_value *at, kir_value *const *operands) {
    kir_value *args[] = {at, operands[0], count > 1 ? operands[1] : NULL};
    kir_value *v = build_access(b, KIR_ATOMIC, slot, operands[0]->type, (uint8_t)(count + 1), args,
                                operands[0]->type);
    v->u.mem.atomic = (uint8_t)atomic;
    return v;
}

kir_value *build_group_load(kir_builder *b, kir_value *at, uint8_t type) {
    return build_load(b, KIR_OPEN, at, type);
}

void build_group_store(kir_builder *b, kir_value *at, kir_value *value) {
    build_store(b, KIR_OPEN, at, value);
}

void device_shut(device_fixture *d) {
    if (d->event) d->driver->event_destroy(d->event);
    if (d->queue) d->driver->queue_destroy(d->queue);
    if (d->device) d->driver->device_close(d->device);
}

bool device_open(device_fixture *d, const hg_driver *driver, const char *pretend,
                 char reason[256]) {
    hg_driver_options options = {.cpu_level = "", .pretend = pretend, .cache_dir = ""};
    *d = (device_fixture){.driver = driver};
    if (driver->enumerate(NULL, 0, reason) == 0) return false;
    hg_status status = driver->device_open(0, &options, &d->device);
    if (status == HG_OK) status = driver->queue_create(d->device, &d->queue);
    if (status == HG_OK) status = driver->event_create(d->device, &d->event);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    if (status == HG_OK)
        d->caps = driver->device_caps(d->device);
    else
        device_shut(d);
    snprintf(reason, 256, "the first device does not open");
    return status == HG_OK;
}

bool device_submit(device_fixture *d, const hg_driver_command *commands, uint32_t count) {
    hg_status status = d->driver->queue_submit(d->queue, commands, count, NULL, 0, d->event);
    if (status == HG_OK) status = d->driver->event_wait(d->event);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    return status == HG_OK;
}

void device_fill_record(const device_kernel *k, const uint64_t *values, uint8_t *record) {
    for (uint64_t i = 0; i < k->layout.fields.count; i++) {
        const kir_input *input = &k->module->inputs.data[i];
        uint64_t value = k->layout.fields.data[i].kind == KIR_FIELD_BASE ? DEVICE_BASE
                         : values                                        ? *values++
                                                                         : 0;
        memcpy(record + input->index, &value, (size_t)kir_type_bytes(input->type));
    }
}

bool device_run(device_fixture *d, const device_kernel *k, uint32_t groups, uint32_t group,
                uint64_t group_memory, const uint64_t *values, const device_memory *memories) {
    hg_driver_code code = {.module = k->module,
                           .layout = &k->layout,
                           .group = {group, 1, 1},
                           .group_memory = group_memory};
    hg_driver_dispatch dispatch = {
        .groups = {groups, 1, 1}, .group = {group, 1, 1}, .group_memory = group_memory};
    hg_driver_command commands[2 * DEVICE_SLOTS + 1] = {{.kind = HG_CMD_COPY_IN}};
    hg_range slots[DEVICE_SLOTS] = {{NULL, 0, 0}};
    uint32_t count = (uint32_t)k->module->slots.count;
    uint8_t *record = calloc(k->layout.record_bytes + 1u, 1);
    hg_status status = d->driver->code_create(d->device, &code, &dispatch.kernel);
    device_fill_record(k, values, record);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        uint64_t base = k->module->slots.data[i].base >= 0 ? DEVICE_BASE : 0;
        status = d->driver->arena_alloc(d->device, memories[i].size + base, &slots[i].arena);
        slots[i].offset = base;
        slots[i].size = memories[i].size;
        commands[i] = (hg_driver_command){
            .kind = HG_CMD_COPY_IN, .to = slots[i], .host = memories[i].bytes};
        commands[count + 1 + i] = (hg_driver_command){
            .kind = HG_CMD_COPY_OUT, .from = slots[i], .host = memories[i].bytes};
    }
    for (uint64_t i = 0;
         i < k->layout.fields.count && d->caps->compiler.target.addressed && status == HG_OK; i++) {
        const kir_field *field = &k->layout.fields.data[i];
        uint64_t address = field->kind == KIR_FIELD_BASE
                               ? d->driver->arena_address(slots[field->index].arena) + DEVICE_BASE
                               : 0;
        if (field->kind == KIR_FIELD_BASE)
            memcpy(record + k->module->inputs.data[i].index, &address, sizeof address);
    }
    dispatch.record = record;
    dispatch.record_bytes = k->layout.record_bytes;
    dispatch.slots = slots;
    dispatch.slot_count = count;
    commands[count] = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &dispatch};
    CHECK_MESSAGE(status == HG_OK, "%s: %s", k->module->name, hg_last_error_text());
    bool ok = status == HG_OK && device_submit(d, commands, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (slots[i].arena) d->driver->arena_free(d->device, slots[i].arena);
    if (dispatch.kernel) d->driver->kernel_destroy(dispatch.kernel);
    free(record);
    return ok;
}

/* Names of the record's fields and of ids in texts of the device form. Must not know: languages. */
#include "emit/emit_c_internal.h"

const char *const emit_id_names[KIR_DEVICE_ID_COUNT] = {
    [KIR_ID_THREAD] = "id_thread",   [KIR_ID_LOCAL_X] = "id_local_x",
    [KIR_ID_LOCAL_Y] = "id_local_y", [KIR_ID_LOCAL_Z] = "id_local_z",
    [KIR_ID_GROUP_X] = "id_group_x", [KIR_ID_GROUP_Y] = "id_group_y",
    [KIR_ID_GROUP_Z] = "id_group_z"};

void emit_field_name(const kir_device_layout *layout, hg_text *out, uint64_t i) {
    static const char *const NAMES[] = {[KIR_FIELD_INPUT] = "input",
                                        [KIR_FIELD_BASE] = "base",
                                        [KIR_FIELD_LIMIT] = "limit",
                                        [KIR_FIELD_SHARED_LIMIT] = "shared_limit",
                                        [KIR_FIELD_SHARED_BYTES] = "shared_bytes",
                                        [KIR_FIELD_SIZE] = "size",
                                        [KIR_FIELD_COUNT] = "count",
                                        [KIR_FIELD_FIRST] = "first",
                                        [KIR_FIELD_LANES] = "lanes",
                                        [KIR_FIELD_BLOCK_DIM] = "block_dim",
                                        [KIR_FIELD_GRID_DIM] = "grid_dim",
                                        [KIR_FIELD_DIGIT] = "digit",
                                        [KIR_FIELD_BOX] = "box",
                                        [KIR_FIELD_TABLE] = "entries",
                                        [KIR_FIELD_FUEL] = "fuel",
                                        [KIR_FIELD_ARENAS] = "arenas",
                                        [KIR_FIELD_ZERO] = "zero"};
    const kir_field *f = &layout->fields.data[i];
    hg_text_addf(out, "%s_%u", f->kind < HG_COUNT_OF(NAMES) ? NAMES[f->kind] : "field",
                 (unsigned)f->index);
    if (f->reach) hg_text_addf(out, "_reach_%llu", (unsigned long long)f->reach);
    if (f->high) hg_text_addf(out, "_high");
}

/* The field that begins at an offset; the count of fields when no field begins there. */
uint64_t emit_field_at(const kir_module *m, uint32_t offset) {
    for (uint64_t i = 0; i < m->inputs.count; i++)
        if (m->inputs.data[i].index == offset) return i;
    return m->inputs.count;
}

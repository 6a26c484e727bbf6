/* Tables (.data): elements that travel with the program, from literals or from a .npy file that the
 * resolver finds. Elements are collected until the table ends, since further lines may go on with
 * it.
 * Must not know: instructions, where files are. */
#include "isa/text_internal.h"
#include "io/io.h"

static bool too_large(hg_assembler *a, const hg_token *at) {
    hg_asm_error(a, "S05", at, NULL, "more than %d bytes of tables", HG_MAX_DATA_BYTES);
    return false;
}

/* Literals with commas between, up to the end of the line. */
static bool read_elements(hg_assembler *a, hg_type type) {
    uint64_t size = hg_type_size_bytes(type);
    while (!hg_asm_at_end(a)) {
        hg_token literal;
        uint8_t bytes[HG_MAX_LITERAL_BYTES];
        if (!hg_asm_literal(a, &literal) || !hg_asm_literal_bytes(a, &literal, type, bytes))
            return false;
        if (a->head.table.length + size > HG_MAX_DATA_BYTES) return too_large(a, &literal);
        hg_text_add(&a->head.table, (const char *)bytes, (size_t)size);
        if (a->head.table.failed) return hg_asm_no_memory(a);
        if (!hg_asm_at_end(a) && !hg_asm_expect(a, ',', "',' or the end of the line")) return false;
    }
    return true;
}

/* The file has other extents than the table. */
static void other_extents(hg_assembler *a, const hg_token *string, const hg_param *p,
                          const hg_array *array) {
    hg_text file = {0}, table = {0};
    for (uint32_t i = 0; i < array->rank; i++)
        hg_text_addf(&file, "%s%llu", i ? ", " : "", (unsigned long long)array->extent[i]);
    for (uint32_t i = 0; i < p->rank; i++)
        hg_text_addf(&table, "%s%llu", i ? ", " : "", (unsigned long long)p->dims[i].value);
    hg_asm_error(a, "D03", string, NULL,
                 "the extents of the array in the file are [%s], the table's [%s]",
                 file.data ? file.data : "", table.data ? table.data : "");
    hg_text_free(&file);
    hg_text_free(&table);
}

/* The array of a .npy file. Without extents the table has those of the file. */
static bool read_npy(hg_assembler *a, hg_param *p) {
    hg_token string = a->token;
    hg_array array = {0};
    hg_asm_next(a);
    const hg_source *source = hg_asm_resolve(a, &string);
    if (!source) return false;
    if (hg_npy_parse(source->bytes, source->length, source->name ? source->name : "",
                     (hg_type)p->type, &array) != HG_OK) {
        hg_asm_error(a, hg_error_record()->code[0] ? hg_error_record()->code : "P04", &string, NULL,
                     "%s", hg_error_record()->message);
        return false;
    }
    bool same = p->rank == 255 || p->rank == array.rank;
    for (uint32_t i = 0; p->rank != 255 && same && i < array.rank; i++)
        same = p->dims[i].value == array.extent[i];
    if (!same) {
        other_extents(a, &string, p, &array);
        return false;
    }
    if (array.bytes > HG_MAX_DATA_BYTES) return too_large(a, &string);
    p->rank = (uint8_t)array.rank;
    for (uint32_t i = 0; i < array.rank; i++)
        p->dims[i] = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = array.extent[i]};
    hg_text_add(&a->head.table, (const char *)array.data, (size_t)array.bytes);
    return !a->head.table.failed || hg_asm_no_memory(a);
}

bool hg_asm_table_body(hg_assembler *a, hg_param *p, uint32_t number) {
    p->kind = HG_PARAM_DATA;
    a->head.table.length = 0;
    if (!hg_asm_expect_type(a, "an element type", &p->type) || !hg_asm_dims(a, p, number))
        return false;
    a->head.table_token = a->token;
    return a->token.kind == HG_TOKEN_STRING ? read_npy(a, p) : read_elements(a, (hg_type)p->type);
}

bool hg_asm_more_table(hg_assembler *a) {
    if (a->head.open_table)
        return read_elements(a, (hg_type)a->head.params.data[a->head.open_table - 1].type);
    hg_asm_error(a, "S02", &a->token, NULL, "'.data +' goes on with a table: there is none before");
    return false;
}

void hg_asm_finish_table(hg_assembler *a) {
    if (!a->head.open_table) return;
    hg_param *p = &a->head.params.data[a->head.open_table - 1];
    uint64_t size = hg_type_size_bytes((hg_type)p->type), count = a->head.table.length / size,
             said = 1;
    a->head.open_table = 0;
    if (p->rank == 255) {
        p->rank = 1;
        p->dims[0] = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = count};
    }
    for (uint32_t i = 0; i < p->rank; i++)
        if (!hg_mul_u64(said, p->dims[i].value, &said)) said = UINT64_MAX;
    if (said != count) {
        hg_asm_error(a, "D03", &a->head.table_token, NULL,
                     "the extents of '%s' say %llu elements, there are %llu", p->name,
                     (unsigned long long)said, (unsigned long long)count);
        return;
    }
    uint8_t *copy = hg_arena_alloc(&a->program->arena, a->head.table.length + 1);
    if (!copy) {
        hg_asm_no_memory(a);
        return;
    }
    if (a->head.table.length) memcpy(copy, a->head.table.data, a->head.table.length);
    p->data = copy;
    p->data_bytes = a->head.table.length;
}

/* The operator table: 288 records, and the program of each from its template.
 * Must not know: devices, memory. */
#include "base/base.h"
#include "isa/cfg.h"
#include "translators/operators/templates.h"

#include <hologram/operators.h>
#include <string.h>

#define HG_OPERATOR(id, category, family, parameters, floats, integers, name, ...) \
    static const char *const generators_##id[] = {__VA_ARGS__, NULL};
#include "translators/operators/operators.def"
#undef HG_OPERATOR

/* What the records of an operation do not show. */
typedef struct operation {
    const char *name, *floats, *integers; /* templates */
    const char *inner;                    /* $O in them */
} operation;
static const operation operations[HG_OPERATOR_OPERATIONS] = {
#define HG_OPERATOR(id, category, family, parameters, floats, integers, name, ...) \
    {#id, template_##floats, template_##integers, name},
#include "translators/operators/operators.def"
#undef HG_OPERATOR
};

#define EMBEDDING_ELEMENTS "ElementWise"
#define EMBEDDING_MATRICES "CharacterBasis"
#define EMBEDDING_ORBITS "Orbit"
#define LIFTING_ELEMENTS "Standard"
#define LIFTING_MATRICES "CharacterBasis"
#define LIFTING_ORBITS "Orbit"
#define RECORD(id, category, family, parameters, type)                                 \
    {#id,        category,      EMBEDDING_##family, generators_##id, LIFTING_##family, \
     parameters, HG_TYPE_##type},
/* In the order of column_of. */
#define HG_OPERATOR(id, category, family, parameters, ...)                                      \
    {RECORD(id, category, family, parameters, I8) RECORD(id, category, family, parameters, I16) \
         RECORD(id, category, family, parameters, I32)                                          \
             RECORD(id, category, family, parameters, I64)                                      \
                 RECORD(id, category, family, parameters, U8)                                   \
                     RECORD(id, category, family, parameters, U16)                              \
                         RECORD(id, category, family, parameters, U32)                          \
                             RECORD(id, category, family, parameters, U64)                      \
                                 RECORD(id, category, family, parameters, F16)                  \
                                     RECORD(id, category, family, parameters, BF16)             \
                                         RECORD(id, category, family, parameters, F32)          \
                                             RECORD(id, category, family, parameters, F64)},
static const hg_operator records[HG_OPERATOR_OPERATIONS][HG_OPERATOR_TYPES] = {
#include "translators/operators/operators.def"
#undef HG_OPERATOR
};

static int column_of(hg_type type) {
    static const hg_type types[HG_OPERATOR_TYPES] = {
        HG_TYPE_I8,  HG_TYPE_I16, HG_TYPE_I32, HG_TYPE_I64,  HG_TYPE_U8,  HG_TYPE_U16,
        HG_TYPE_U32, HG_TYPE_U64, HG_TYPE_F16, HG_TYPE_BF16, HG_TYPE_F32, HG_TYPE_F64};
    for (int t = 0; t < HG_OPERATOR_TYPES; t++) {
        if (types[t] == type) return t;
    }
    return -1;
}

static int row_of(const char *name) {
    for (int i = 0; name && i < HG_OPERATOR_OPERATIONS; i++) {
        if (strcmp(operations[i].name, name) == 0) return i;
    }
    return -1;
}

const hg_operator *hg_operator_find(const char *name, hg_type type) {
    HG_ENTRY;
    int row = row_of(name), column = column_of(type);
    if (row >= 0 && column >= 0) return &records[row][column];
    if (row < 0) {
        (void)hg_fail(HG_ERROR_ISA, "unknown operation: %s", name ? name : "(none)");
    } else {
        (void)hg_fail(HG_ERROR_ISA, "operation %s has no kernel for type %s", name,
                      hg_type_name(type));
    }
    return NULL;
}

bool hg_operator_supported(const char *name, hg_type type) {
    HG_ENTRY;
    return row_of(name) >= 0 && column_of(type) >= 0;
}

const hg_operator *hg_operator_at(size_t i) {
    HG_ENTRY;
    return i < HG_OPERATOR_COUNT ? &records[i / HG_OPERATOR_TYPES][i % HG_OPERATOR_TYPES] : NULL;
}

/* ---- programs ---- */

/* The text that stands for one letter of a template. */
static void add_part(hg_text *text, char letter, const hg_operator *record, const operation *o) {
    uint64_t bytes = hg_type_size_bytes(record->type);
    bool half = record->type == HG_TYPE_F16 || record->type == HG_TYPE_BF16;
    switch (letter) {
    case 'T': hg_text_addf(text, "%s", hg_type_name(record->type)); break;
    case 'A': hg_text_addf(text, "%s", half ? "f32" : hg_type_name(record->type)); break;
    case 'W': hg_text_addf(text, "%s", hg_type_is_signed(record->type) ? "i64" : "u64"); break;
    case 'S': hg_text_addf(text, "%d", bytes == 8 ? 3 : (int)bytes / 2); break;
    case 'B': hg_text_addf(text, "%d", 256 * 8 + 256 * (int)bytes); break;
    default: hg_text_addf(text, "%s", o->inner); break;
    }
}

static const char *template_of(const hg_operator *record, const operation *o) {
    if (!hg_type_is_float(record->type)) return o->integers;
    bool half = record->type == HG_TYPE_F16 || record->type == HG_TYPE_BF16;
    return half && o->floats == template_MEAN ? template_HALF_MEAN : o->floats;
}

/* Version, name and metadata come around the template: directives stand before instructions, in any
 * order. */
static void add_program(hg_text *text, const hg_operator *record, const operation *o) {
    hg_text_addf(text, ".atlas 1\n.program %s_%s\n", record->operation, hg_type_name(record->type));
    hg_text_addf(text, ".meta operation \"%s\"\n.meta type \"%s\"\n", record->operation,
                 hg_type_name(record->type));
    hg_text_addf(text, ".meta category \"%s\"\n.meta embedding \"%s\"\n", record->category,
                 record->embedding);
    hg_text_addf(text, ".meta lifting \"%s\"\n.meta generators \"", record->lifting);
    for (const char *const *g = record->generators; *g; g++)
        hg_text_addf(text, "%s%s", g == record->generators ? "" : " ", *g);
    hg_text_addf(text, "\"\n");
    for (const char *at = template_of(record, o); *at; at++) {
        if (*at == '$') {
            add_part(text, *++at, record, o);
        } else {
            size_t length = strcspn(at, "$");
            hg_text_add(text, at, length);
            at += length - 1;
        }
    }
}

hg_status hg_operator_program(const hg_operator *record, hg_program **program) {
    HG_ENTRY;
    if (!program) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "hg_operator_program: program is NULL");
    *program = NULL;
    if (!record) { /* the failure of hg_operator_find */
        return hg_last_error()->status == HG_ERROR_ISA ? HG_ERROR_ISA
                                                       : hg_fail(HG_ERROR_ISA, "no kernel given");
    }
    hg_text text = {0};
    add_program(&text, record, &operations[row_of(record->operation)]);
    hg_status status = text.failed ? hg_fail_memory()
                                   : hg_program_assemble(text.data, text.length, NULL, program);
    hg_text_free(&text);
    if (status == HG_OK) status = hg_verify(*program, NULL, NULL, NULL);
    if (status != HG_OK) {
        hg_program_release(*program);
        *program = NULL;
    }
    return status;
}

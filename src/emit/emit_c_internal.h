/* Shared by the files that print kernels in languages of the C family: the printer's state,
 * expressions of primitives, helper functions, functions and control flow. */
#ifndef HG_EMIT_EMIT_C_INTERNAL_H
#define HG_EMIT_EMIT_C_INTERNAL_H

#include "emit/c_dialect.h"

enum { EMIT_C_HELPER_COUNT = 64 };

typedef struct c_printer c_printer;

/* Which form of a kernel is printed: a function of one lane (emit_c_lane) or the device form. */
typedef struct c_form {
    bool lane_at_a_time;   /* one call a lane: faults and fuel end it, its variables lie in a struct
                            */
    const char *shared;    /* in front of a variable that functions share */
    const char *arguments; /* what functions that are not pure get */
    const char *unused;    /* the first lines of such a function */
    void (*parameters)(c_printer *p);             /* declarations of those arguments */
    void (*kernel_head)(c_printer *p);            /* from the signature to the first declaration */
    void (*id)(c_printer *p, const kir_value *v); /* the right-hand side of an ID, semicolon
                                                     included */
    void (*input)(c_printer *p, const kir_value *v);  /* of an INPUT */
    bool (*memory)(c_printer *p, const kir_value *v); /* LOAD STORE CHECK ATOMIC FENCE BARRIER
                                                         FAULT_IF; false: another */
    bool (*is_wide)(const kir_value *v); /* a u32 that is declared as u64; NULL: none is */
    bool (*wide)(c_printer *p, const kir_value *v); /* prints the statement of such a value; false:
                                                       v is not one */
} c_form;

struct c_printer {
    const c_dialect *dialect;
    const c_form *form;
    hg_text *out;
    const kir_module *module;
    char name[96];                /* the module's as a C name */
    const kir_function *function; /* being printed */
    const char *prefix; /* function mode: name of the root, before every other name; NULL: a whole
                           translation unit */
    const kir_function *root;
    int indent;
    uint32_t inst;           /* last source instruction named in a comment, plus 1 */
    bool kernel;             /* inside functions[0] */
    bool common;             /* leave out branches, note them in *rare */
    const char *unsupported; /* why this module has no C text */
    uint64_t helpers[EMIT_C_HELPER_COUNT][C_KINDS]; /* non-zero: used; bit k + 1: with source kind k
                                                     */
    /* the device form */
    const kir_device_layout *layout;
    uint8_t *marks;              /* what is done with each slot, group memory, the record and ids */
    bool environment;            /* functions get one */
    bool fences[HG_SCOPE_COUNT]; /* used */
};

/* ---- emit_c_expr.c ---- */
/* c_kind of a type; -1: a type without one. */
const char *emit_c_type(const c_printer *p, uint8_t type);
/* The name or literal by which a value is used. */
void emit_c_name(c_printer *p, const kir_value *v);
void emit_c_literal(const c_printer *p, hg_text *out, uint8_t type, uint64_t bits);
/* The right-hand side of a pure operation; false when v is not a pure operation. */
bool emit_c_expression(c_printer *p, const kir_value *v);
/* A comparison whose text is true or false. */
bool emit_c_is_constant(const kir_value *v);
/* Definitions of the helpers that were used. */
void emit_c_helpers(const c_printer *p, hg_text *out);
/* "name_suffix" of tables and functions, unique in the file. */
void emit_c_table_name(const c_printer *p, hg_text *out, const kir_table *t);

/* ---- emit_fields.c ---- */
extern const char *const emit_id_names[KIR_DEVICE_ID_COUNT]; /* "id_local_x" */
/* The name of the i-th field of the record: "limit_0_reach_4". */
void emit_field_name(const kir_device_layout *layout, hg_text *out, uint64_t i);
/* The field that begins at an offset; the count of fields when no field begins there. */
uint64_t emit_field_at(const kir_module *m, uint32_t offset);

/* ---- emit_c_body.c ---- */
/* What a function reaches: functions, callees first. */
typedef struct c_reach {
    HG_VEC(const kir_function *) order;
} c_reach;
/* Marks of variables in their scratch, set by emit_c_reach. OUTER: some function but the root names
 * it. */
enum { EMIT_C_SEEN = 1, EMIT_C_READ = 4, EMIT_C_OUTER = 8 };
/* Numbers values and counts those that the text reads, too. device: the module is in device form.
 * False: out of memory. */
bool emit_c_reach(const kir_module *m, const kir_function *root, bool device, c_reach *r);
void emit_c_print_function(c_printer *p, const kir_function *f);
/* Whether a function of them reads it. */
bool emit_c_reads_table(const c_reach *r, const kir_table *table);
void emit_c_print_tables(c_printer *p, hg_text *out, const c_reach *r);
void emit_c_declare_vars(c_printer *p, const kir_function *f); /* NULL: those that functions share
                                                                */
/* Indentation of a line, in blanks; deeper levels than that stand where the last does, or nesting
 * would make texts grow with its square. */
enum { EMIT_C_MOST_LEVELS = 32 };
static inline int emit_c_blanks(int levels) {
    return 4 * (levels < EMIT_C_MOST_LEVELS ? levels : EMIT_C_MOST_LEVELS);
}
void emit_c_line(c_printer *p);  /* indentation of a new line */
void emit_c_leave(c_printer *p); /* "return;" or "return 0;" */

/* ---- emit_c_memory.c ---- */
extern const c_form emit_c_lane;
void emit_c_environment(hg_text *out); /* struct hg_env and what memory operations call */

#endif

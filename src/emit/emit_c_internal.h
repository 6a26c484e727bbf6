/* Shared by the files of the C emitter: the printer's state, expressions of primitives, helper functions. */
#ifndef HG_EMIT_EMIT_C_INTERNAL_H
#define HG_EMIT_EMIT_C_INTERNAL_H

#include "emit/emit.h"

enum { EMIT_C_HELPER_COUNT = 64, EMIT_C_KIND_COUNT = 6 };

typedef struct c_printer {
    hg_text *out;
    const kir_module *module;
    char name[96];                /* the module's as a C name */
    const kir_function *function; /* being printed */
    const char *prefix;           /* function mode: name of the root, before every other name; NULL: a whole translation unit */
    const kir_function *root;
    int indent;
    uint32_t inst;                                            /* last source instruction named in a comment, plus 1 */
    bool kernel;                                              /* inside functions[0] */
    bool common;                                              /* leave out branches, note them in *rare */
    const char *unsupported;                                  /* why this module has no C text */
    uint64_t helpers[EMIT_C_HELPER_COUNT][EMIT_C_KIND_COUNT]; /* non-zero: used; bit k + 1: with source kind k */
} c_printer;

/* u8 u16 u32 u64 f32 f64 as 0 … 5 (bool counts as u8); -1 for others. */
int emit_c_kind(uint8_t type);
const char *emit_c_type(uint8_t type);
/* The name or literal by which a value is used. */
void emit_c_name(c_printer *p, const kir_value *v);
void emit_c_literal(hg_text *out, uint8_t type, uint64_t bits);
/* The right-hand side of a pure operation; false when this operation is none. */
bool emit_c_expression(c_printer *p, const kir_value *v);
/* A comparison whose text is true or false. */
bool emit_c_is_constant(const kir_value *v);
/* Definitions of the helpers that were used. */
void emit_c_helpers(const c_printer *p, hg_text *out);
/* "name_suffix" of tables and functions, unique in the file. */
void emit_c_table_name(const c_printer *p, hg_text *out, const kir_table *t);

/* Parts of emit_c.c used by emit_c_memory.c. */
void emit_c_line(c_printer *p);                       /* indentation of a new line */
void emit_c_leave(c_printer *p);                      /* "return;" or "return 0;" */
bool emit_c_memory(c_printer *p, const kir_value *v); /* LOAD STORE CHECK ATOMIC FENCE BARRIER FAULT_IF; false: another */
void emit_c_environment(hg_text *out);                /* struct hg_env and what memory operations call */

#endif

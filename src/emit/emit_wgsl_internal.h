/* Shared by the files that print the device form in WGSL: the printer's state, expressions, memory.
 */
#ifndef HG_EMIT_EMIT_WGSL_INTERNAL_H
#define HG_EMIT_EMIT_WGSL_INTERNAL_H

#include "emit/emit_c_internal.h"
#include <string.h>

/* Functions of the text that stand for what WGSL has no word for. */
typedef enum wgsl_helper {
    WGSL_BITS_F32,
    WGSL_OPAQUE_U32,
    WGSL_UDIV,
    WGSL_UREM,
    WGSL_SDIV,
    WGSL_SREM,
    WGSL_MULHI,
    WGSL_F2U,
    WGSL_F2S,
    WGSL_DOT4_U,
    WGSL_F2H,
    WGSL_F2H_F16, /* by the extension f16 */
    WGSL_HELPER_COUNT
} wgsl_helper;

/* What a function and the functions that it calls name of the kernel: it gets it as parameters. */
enum { WGSL_READ = 1, WGSL_SET = 2 };
typedef struct wgsl_needs {
    uint8_t *vars;         /* of the module, by id: WGSL_READ, WGSL_SET or both; 0: not needed */
    uint8_t *bindings;     /* that are accessed, by number, likewise */
    uint8_t ids;           /* kir_device_id, by bit */
    uint8_t written_array; /* array parameters that are written, by bit */
} wgsl_needs;

/* Where something stands in a walk of the kernel, from 1 on; {0, 0}: nowhere. */
typedef struct wgsl_span {
    uint32_t first, last;
} wgsl_span;

typedef struct wgsl {
    const kir_module *module;
    const kir_device_layout *layout;
    const emit_wgsl_options *options;
    hg_text *out;
    const kir_function *function; /* being printed */
    wgsl_needs *needs;            /* by function id */
    bool *reached;                /* IF, LOOP: something comes to the place after it, by value id */
    wgsl_span *spans;             /* of the kernel's operations, an outermost loop's to its end */
    wgsl_span *accessed, *set;    /* of the kernel's accesses and writes, by binding */
    bool group_used, storage_written;
    uint32_t helpers; /* wgsl_helper, by bit */
    int indent;
    uint32_t inst; /* last source instruction named in a comment, plus 1 */
    const char *unsupported;
    bool failed; /* out of memory */
} wgsl;

static inline void wgsl_text(wgsl *p, const char *s) { hg_text_add(p->out, s, strlen(s)); }
/* Indentation of a new line. */
static inline void wgsl_line(wgsl *p) { hg_text_addf(p->out, "%*s", emit_c_blanks(p->indent), ""); }
/* A line up to "let v12 = ". */
static inline void wgsl_declare(wgsl *p, const kir_value *v) {
    wgsl_line(p);
    hg_text_addf(p->out, "let v%u = ", (unsigned)v->id);
}

/* ---- emit_wgsl_value.c ---- */
const char *wgsl_type(wgsl *p, uint8_t type);
void wgsl_name(wgsl *p, const kir_value *v); /* the name or literal by which a value is used */
/* The right-hand side of a primitive; false where v is not one. */
bool wgsl_expression(wgsl *p, const kir_value *v);
void wgsl_literal(wgsl *p, uint8_t type, uint64_t bits);
void wgsl_use_helper(wgsl *p, wgsl_helper helper); /* prints its name */
void wgsl_print_helpers(wgsl *p);

/* ---- emit_wgsl_memory.c ---- */
void wgsl_prepare_memory(wgsl *p); /* looks at all accesses */
uint32_t wgsl_binding_count(const wgsl *p);
void wgsl_note_access(wgsl *p, const kir_function *f, const kir_value *v); /* in needs */
void wgsl_find_spans(wgsl *p);                 /* of the kernel, whose functions' needs are known */
void wgsl_declare_memory(wgsl *p);             /* bindings, the record, group memory */
void wgsl_slot_bases(wgsl *p);                 /* at the top of a function */
bool wgsl_memory(wgsl *p, const kir_value *v); /* LOAD STORE ATOMIC FENCE BARRIER; false: another */

#endif

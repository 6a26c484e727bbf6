/* Shared by the files of the verifier: where reports go, what an instruction reads and writes, the
 * passes.
 * Must not know: text syntax, the binary container. */
#ifndef HG_ISA_VERIFY_INTERNAL_H
#define HG_ISA_VERIFY_INTERNAL_H

#include "isa/cfg.h"

/* ---- reports (verify_report.c) ---- */

/* One run of checks over one program. At most one error an instruction: a mistake found twice is
 * one mistake. */
typedef struct hg_check {
    const hg_program *program;
    hg_diagnostics *diagnostics; /* may be NULL */
    const char *code;            /* replaces every code (B08 while reading a binary); NULL: none */
    uint8_t *marked;             /* a byte an instruction: has an error */
    hg_said said;                /* mistakes in text that was read several times */
    hg_arena scratch;            /* freed with the check */
    uint64_t errors;
    bool out_of_memory;
    bool has_first; /* the error that stands first, for hg_last_error */
    hg_error first;
} hg_check;

enum { HG_NO_OPERAND = -1, HG_NO_INSTRUCTION = -1, HG_AT_SHARED = -2, HG_AT_BLOCK = -3 };

hg_status hg_check_begin(hg_check *c, const hg_program *program, hg_diagnostics *d) HG_NODISCARD;
/* operand: its index in the instruction's row, or HG_NO_OPERAND. inst: HG_NO_INSTRUCTION for the
 * program as a whole, HG_AT_… for its directives. */
void hg_check_error(hg_check *c, const char *code, int64_t inst, int operand, const char *hint,
                    const char *format, ...) HG_PRINTF(6, 7);
void hg_check_warning(hg_check *c, const char *code, int64_t inst, const char *hint,
                      const char *format, ...) HG_PRINTF(5, 6);
/* HG_OK, HG_ERROR_ISA with the first error, or HG_ERROR_OUT_OF_MEMORY. Frees what the check holds.
 */
hg_status hg_check_end(hg_check *c) HG_NODISCARD;
/* Zeroed scratch memory; NULL sets out_of_memory. */
void *hg_check_alloc(hg_check *c, uint64_t count, size_t size) HG_NODISCARD;

typedef struct hg_where {
    char text[32];
} hg_where;
/* "line 9", or "instruction 4" for a program without lines. */
hg_where hg_check_where(const hg_program *p, uint32_t inst);
typedef struct hg_label_text {
    char text[260];
} hg_label_text;
/* Name of the first label at an index, ".L4" where there is none. */
hg_label_text hg_check_label(const hg_program *p, uint32_t index);
typedef struct hg_register_text {
    char text[HG_MAX_IDENT_BYTES + 16];
} hg_register_text;
/* "r12", and where it has a name "i (r12)". */
hg_register_text hg_check_register(const hg_program *p, uint32_t inst, bool predicate,
                                   uint8_t number);

/* ---- structure (verify_structure.c) ---- */

/* Everything that can be said of operands one by one, of parameters and of launch defaults. types:
 * every type must be present. */
void hg_check_structure(hg_check *c, bool types);
/* Numbers of an Atlas instruction that are out of their range (verify_atlas.c). Operands are of the
 * right kinds. */
void hg_check_atlas(hg_check *c, uint32_t inst);

/* ---- what an instruction reads and writes (verify_access.c) ---- */

/* Sets of types that an operand may have, each a part of the next. */
enum {
    HG_WANT_U32_U64 = 0x80,
    HG_WANT_INDEX /* and u8 u16 */,
    HG_WANT_INTEGER,
    HG_WANT_ANY,
    HG_WANT_END
};
enum {
    HG_MAX_ACCESSES = 2 * HG_MAX_OPERANDS + 256
}; /* 256: a run of registers, or all of them in tuples */
typedef struct hg_access {
    uint8_t reg; /* register or predicate */
    uint8_t is_pred;
    uint8_t want;    /* type read or written, HG_WANT_*, or HG_TYPE_OMITTED as in the instruction */
    uint8_t operand; /* index in the row */
} hg_access;
typedef struct hg_accesses {
    uint32_t reads, writes;
    hg_access read[HG_MAX_ACCESSES], write[4];
} hg_accesses;
void hg_inst_accesses(const hg_program *p, uint32_t inst, hg_accesses *out);
static inline bool hg_is_want(uint8_t v) { return v >= HG_WANT_U32_U64 && v < HG_WANT_END; }
bool hg_want_allows(uint8_t want, uint8_t type); /* want: HG_WANT_* */
/* Number of an operand as the list of instructions shows it, from 1; 0: part of the mnemonic. */
uint32_t hg_operand_number(hg_op op, uint32_t index);
/* Index of the operand whose type stands for an omitted one: the first source register. */
uint32_t hg_first_source(hg_op op);

/* ---- passes ---- */

/* cfg->param_types from .param lines, signature (may be NULL) and specials (verify.c). */
void hg_start_types(hg_cfg *cfg, const hg_program *p, const hg_signature *signature);
/* Blocks, functions, call graph (cfg.c). Errors V06, V07, S05. False: nothing more can be said
 * about the program. */
bool hg_cfg_build(hg_check *c, hg_cfg *cfg);
/* Types of registers and initialised predicates (verify_types.c). Fills in reads, leaves, pred_*.
 * Errors V01 … V04. */
void hg_check_types(hg_check *c, hg_cfg *cfg);
/* Parameters used against their declaration (verify_params.c): V11, V12, V15. */
void hg_check_params(hg_check *c, hg_cfg *cfg);
/* Uniform values and control flow (uniform.c): V08, V09, V10. */
void hg_check_uniform(hg_check *c, hg_cfg *cfg);

/* Postdominators (cfg_tree.c): parent[b] of each block of a graph with `count` blocks and node
 * `count` as the end that edges `succ` = count lead to. Blocks that never reach the end are given
 * an edge to it. False: out of memory. */
bool hg_postdominators(hg_check *c, uint32_t count, const uint32_t (*succ)[2], uint32_t *parent,
                       uint32_t *depth);

#endif

/* Shared by the passes from program to program: the program that is changed, and what is known of
 * it.
 * Must not know: launches. */
#ifndef HG_OPTIMIZE_OPTIMIZE_H
#define HG_OPTIMIZE_OPTIMIZE_H

#include "isa/cfg.h"
#include "isa/live.h"
#include "isa/verify_internal.h"
#include <hologram/optimizer.h>

typedef enum optimize_pass_id {
#define HG_OPTIMIZE(id, name, what) OPTIMIZE_##id,
#include "optimize/passes.def"
#undef HG_OPTIMIZE
    OPTIMIZE_COUNT
} optimize_pass_id;

/* An instruction of the program that is written. `from`: the number of the one that it was, or from
 * which it was made; labels that stood in front of that stand in front of the first such one. A
 * label operand is the number of an old instruction, or OPTIMIZE_HERE + an index in the list of
 * instructions that is written. */
typedef struct optimize_inst {
    hg_inst inst;
    uint32_t from;
} optimize_inst;
#define OPTIMIZE_HERE (UINT64_C(1) << 32)

/* A pass changes a copy of the program. It has the numbers of the cfg until optimize_finish. */
typedef struct optimize_edit {
    hg_program *program; /* operands may change in place */
    const hg_cfg *cfg;   /* of the program before any change */
    uint8_t *gone;       /* an instruction each: it is left out */
    uint8_t *leader;     /* an instruction each: a block begins there, or no function has it */
    hg_live_set *after;  /* what is live after each; made by optimize_live */
    uint8_t *reached;    /* a function has it */
    uint32_t operand_capacity;
    uint64_t literal_capacity;
    uint64_t changes;
    bool keep_jumps; /* branches, jumps and exits stay as they are */
    bool rewritten;  /* `written` is the program's code, and `gone` is not looked at */
    HG_VEC(optimize_inst) written;
} optimize_edit;

/* The passes. What they change counts in edit->changes. */
#define HG_OPTIMIZE(id, name, what) hg_status optimize_##name(optimize_edit *e) HG_NODISCARD;
#include "optimize/passes.def"
#undef HG_OPTIMIZE

/* ---- edit.c ---- */

/* A copy of the program to change. The cfg is borrowed until optimize_close. */
hg_status optimize_open(const hg_program *program, const hg_cfg *cfg,
                        optimize_edit *e) HG_NODISCARD;
void optimize_close(optimize_edit *e);
/* The program that the edit makes, with everything that stands by instruction numbers moved. */
hg_status optimize_finish(optimize_edit *e, const hg_program *before,
                          hg_program **made) HG_NODISCARD;
/* Fills in after and reached. needs: as of hg_live_after, with the edit as user; NULL: everything
 * is needed. */
hg_status optimize_live(optimize_edit *e, hg_live_needs *needs) HG_NODISCARD;

static inline hg_operand *optimize_operands(optimize_edit *e, uint32_t inst) {
    return &e->program->operands[e->program->insts[inst].operands];
}
/* An instruction over operands that are copied; false: out of memory. */
bool optimize_make(optimize_edit *e, hg_op op, uint8_t type, const hg_operand *operands,
                   hg_inst *made);
/* The same in place of an instruction. */
bool optimize_replace(optimize_edit *e, uint32_t inst, hg_op op, uint8_t type,
                      const hg_operand *operands);
/* mov.type d, s and mov_imm.type d, value in place of an instruction. */
bool optimize_to_mov(optimize_edit *e, uint32_t inst, uint8_t type, uint8_t d, uint8_t s);
bool optimize_to_literal(optimize_edit *e, uint32_t inst, uint8_t type, uint8_t d,
                         const uint8_t *bytes);
/* A literal operand of those bytes. False: out of memory. */
bool optimize_literal(optimize_edit *e, uint8_t type, const uint8_t *bytes, hg_operand *made);
static inline hg_operand optimize_reg(uint8_t reg) {
    return (hg_operand){.kind = HG_K_REG, .reg = reg};
}
static inline hg_operand optimize_pred(uint8_t pred) {
    return (hg_operand){.kind = HG_K_PRED, .reg = pred};
}
/* owners, by instruction: adds how many functions have it, up to 2. */
void optimize_count_owners(const optimize_edit *e, uint8_t *owners);
void optimize_remove(optimize_edit *e, uint32_t inst);

/* ---- identities.c: what an instruction is when some of its operands are known ---- */

/* The bytes of a register in front of the instruction at work, which reads it as `type`; NULL: not
 * known. */
typedef const uint8_t *optimize_known(void *user, uint8_t reg, uint8_t type);
/* x + 0, x * 1, x & x and the like of integers. False: out of memory. */
bool optimize_identity(optimize_edit *e, uint32_t inst, optimize_known *known, void *user);

/* ---- evaluate.c ---- */

enum { OPTIMIZE_VALUE_BYTES = 64, OPTIMIZE_PREDICATE = 0xF0 };
/* What is known to be in a register or a predicate; bytes beyond the type's are 0. */
typedef struct optimize_value {
    uint8_t type; /* hg_type, or OPTIMIZE_PREDICATE: bytes[0] is 0 or 1 */
    uint8_t bytes[OPTIMIZE_VALUE_BYTES];
} optimize_value;
/* What a pure instruction writes when it reads these values, one an access. *done false: it would
 * fault, a result is NaN or too wide. HG_ERROR_OUT_OF_MEMORY. */
hg_status optimize_evaluate(const hg_program *program, uint32_t inst, const hg_accesses *what,
                            const optimize_value *values, optimize_value *results,
                            bool *done) HG_NODISCARD;

/* ---- what instructions are ---- */

/* Its results follow from its operands alone and it does nothing else, but for a fault that its row
 * may tell of. */
bool optimize_is_pure(const hg_program *p, uint32_t inst);
/* It cannot fault, whatever its operands hold. */
bool optimize_cannot_fault(const hg_program *p, uint32_t inst);

#endif

/* Programs as statements (language.md 2.7): what `disasm --structured` writes.
 *
 * The text assembles to the same instructions in the same order, registers aside, so that it has
 * the same kernel IR: a statement or an expression is written only where the instructions are those
 * that the assembler makes of it (tree/). Everything else is an instruction, and a label where it
 * must be.
 *
 * A register is a variable for each web of its writes and reads, as it is in kernel IR. A value
 * that is read once, in the instructions behind it, goes into its use: values that wait for their
 * use are a stack in the order of their instructions, and an instruction takes its operands from
 * the top of it, as an expression is worked out. So no order of anything changes, and nothing has
 * to be known of what acts.
 * Must not know: kernel IR, the assembler. */
#ifndef HG_ISA_STRUCTURED_H
#define HG_ISA_STRUCTURED_H

#include "isa/live.h"
#include "isa/print.h"
#include "isa/verify_internal.h"

#define HG_ST_NONE UINT32_MAX
enum {
    HG_ST_PREDICATE = 0xFD,
    HG_ST_MOST_NAME = 40,
    HG_ST_MOST_TEXT = 320,
    HG_ST_MOST_VALUES = 32
};

/* How tightly the outermost operator of a text binds (language.md 2.4). */
enum {
    HG_ST_CHOICE = 0,
    HG_ST_OR,
    HG_ST_AND,
    HG_ST_COMPARISON,
    HG_ST_BIT_OR,
    HG_ST_BIT_XOR,
    HG_ST_BIT_AND,
    HG_ST_SHIFT,
    HG_ST_SUM,
    HG_ST_PRODUCT,
    HG_ST_SIGN,
    HG_ST_ATOM
};

/* ---- facts (structured_facts.c) ---- */

/* A web of a register: writes and reads that one value may go between. */
typedef struct hg_st_variable {
    const char *name;
    const hg_param *array; /* the handle of that array, and nothing else */
    uint32_t first, scope; /* block of its first mention, and the innermost one around all */
    uint8_t reg, type;
    bool begins;  /* it has a value where the program begins */
    bool written; /* some instruction writes it */
    bool raw;     /* it stands by its number */
    bool fixed;   /* never declared: a parameter, a special register */
    bool seen, let;
} hg_st_variable;

typedef struct hg_st_name {
    const char *text;
    uint32_t next; /* of the names that begin with it */
} hg_st_name;

/* Jumps that lead to an instruction. */
typedef struct hg_st_target {
    uint32_t count, low, high; /* of their instructions; low above high: none */
} hg_st_target;

/* A `for` by one (structured_for.c). */
typedef struct hg_st_for {
    uint32_t from, to;    /* the instructions that make its bounds */
    uint32_t guard;       /* the comparison in front of it */
    uint32_t next, last;  /* what `continue` leads to; the branch back */
    uint32_t variable;    /* its number */
    bool falls, reversed; /* the variable does */
} hg_st_for;

typedef struct hg_st_facts {
    const hg_program *program;
    hg_cfg *cfg;
    hg_arena arena;
    uint32_t count; /* of instructions */
    hg_live_set *after;
    uint8_t *reached;
    uint8_t *leader; /* count + 1: nothing is known there of the instruction before it */
    uint32_t *use;   /* the one instruction that reads what an instruction writes */
    struct {
        hg_st_target *all;             /* count + 1 */
        uint32_t *least, *most, width; /* of ranges of them: a tree with `width` leaves */
    } target;
    uint32_t *accesses; /* of each instruction the first of webs; reads, then writes */
    uint32_t *webs;     /* number of a variable, or HG_ST_NONE */
    HG_VEC(hg_st_variable) variables;
    HG_VEC(hg_st_for) fors;
    uint32_t *for_of; /* of each instruction the number of one whose bound it makes, or in front of
                         which it stands, + 1 */
    bool numbered[HG_MAX_REGISTERS]; /* the register's number stands in the text */
    const hg_param *param[HG_MAX_REGISTERS];
    struct {
        hg_st_name *all; /* a hash table */
        uint32_t count, capacity;
    } name;
    uint8_t form[HG_OP_COUNT]; /* whether a row is the only one of its name and operands */
    hg_accesses what;
} hg_st_facts;

/* HG_OK, or an error of verification or memory. Freed with hg_st_facts_free in any case. */
hg_status hg_st_find_facts(hg_st_facts *f, const hg_program *program) HG_NODISCARD;
void hg_st_facts_free(hg_st_facts *f);
/* All jumps to instructions first … last come from instructions low … high. */
bool hg_st_only_from(const hg_st_facts *f, uint32_t first, uint32_t last, uint32_t low,
                     uint32_t high);
/* The variable of a read or a write of an instruction (hg_inst_accesses), by its number there. */
static inline uint32_t hg_st_read(const hg_st_facts *f, uint32_t inst, uint32_t k) {
    return f->webs[f->accesses[inst] + k];
}
static inline uint32_t hg_st_written(const hg_st_facts *f, uint32_t inst, const hg_accesses *what,
                                     uint32_t k) {
    return f->webs[f->accesses[inst] + what->reads + k];
}
static inline bool hg_st_is_raw(const hg_st_facts *f, uint32_t variable) {
    return variable == HG_ST_NONE || f->variables.data[variable].raw;
}
/* Fills webs (structured_webs.c). False: out of memory. */
bool hg_st_find_webs(hg_st_facts *f);
/* Fills fors (structured_for.c). False: out of memory. */
bool hg_st_find_fors(hg_st_facts *f) HG_NODISCARD;
/* The instruction is an unconditional jump; whether the next instruction is reached from it. */
static inline bool hg_st_is_jump(const hg_st_facts *f, uint32_t inst) {
    return inst < f->count && f->program->insts[inst].op == HG_OP_BRA &&
           hg_inst_operands(f->program, inst)[0].reg == 255;
}
static inline uint32_t hg_st_target_of(const hg_st_facts *f, uint32_t inst) {
    return (uint32_t)hg_inst_operands(f->program, inst)[1].value;
}
bool hg_st_is_reached(const hg_st_facts *f, uint32_t inst);

/* ---- text (structured_lines.c) ---- */

typedef enum hg_st_kind {
    HG_ST_IF,
    HG_ST_ELSE,
    HG_ST_LOOP,
    HG_ST_WHILE,
    HG_ST_ROUND, /* a loop that ends with its condition */
    HG_ST_FOR
} hg_st_kind;

typedef struct hg_st_block {
    uint8_t kind;
    bool open;       /* its line is written */
    bool takes_jump; /* its end is a jump that it stands for */
    uint32_t close;  /* the instruction where it ends */
    uint32_t limit;  /* blocks in it end there at the latest */
    uint32_t behind; /* of if: where it and its else end; of loops what `break` leads to */
    uint32_t top;    /* of loops: what `continue` leads to */
    uint32_t scope;
} hg_st_block;

/* A value that waits for its use. */
typedef struct hg_st_value {
    uint32_t inst;
    uint32_t variable; /* that it becomes where it waits no more; HG_ST_NONE: a predicate */
    uint8_t reg, type; /* type HG_ST_PREDICATE: a predicate */
    uint8_t level;
    bool acts, literal;
    bool loads;    /* a load that a conversion would become one with */
    bool converts; /* a conversion that a store would become one with */
    bool turns;    /* a comparison that a condition writes as its opposite */
    bool is_not;   /* !p */
    uint8_t sign;  /* of a comparison: its condition */
    /* The check of an axis: it and the values of its indices and of the checks before it are the
     * top `span` ones; text: the last index, where it does not wait. */
    const hg_param *array;
    uint8_t axes, span;
    bool whole;             /* all axes are checked */
    uint16_t middle, right; /* of an operation with two sides: ends of the left one, begin of the
                               right */
    char text[HG_ST_MOST_TEXT];
} hg_st_value;

typedef struct hg_st {
    hg_st_facts facts;
    hg_text *out;    /* NULL: only what is mentioned where is found out */
    uint8_t *needed; /* count + 1: labels that some jump names */
    HG_VEC(hg_st_block) blocks;
    HG_VEC(uint32_t) scopes; /* the one around each */
    HG_VEC(uint32_t) depths;
    hg_st_value values[HG_ST_MOST_VALUES + 1];
    uint32_t value_count;
    bool out_of_memory;
    hg_text text;
    struct {
        uint32_t statements, instructions; /* lines of each, jumps that stay aside */
        uint32_t jumps;                    /* that stay */
    } found;
} hg_st;

/* Blocks that wait for something to stand in them. */
void hg_st_open_blocks(hg_st *s);
void hg_st_indent(hg_st *s, uint32_t depth);
/* A line, in front of which waiting blocks are opened. */
void hg_st_line(hg_st *s, const char *format, ...) HG_PRINTF(2, 3);
/* A block in the innermost one. */
void hg_st_push(hg_st *s, hg_st_block block);
/* The innermost block. */
uint32_t hg_st_scope(const hg_st *s);
/* A variable is mentioned in the innermost block. defines: its first mention may declare it. */
void hg_st_mention(hg_st *s, uint32_t variable, bool defines);

/* The first instruction in the `for` that begins with the comparison and whose bounds wait; it is
 * open then. HG_ST_NONE: there is none (structured_for.c). */
uint32_t hg_st_open_for(hg_st *s, uint32_t inst);

/* ---- values (structured_value.c) ---- */

/* Writes an instruction that is no jump, or lets its value wait. */
void hg_st_instruction(hg_st *s, uint32_t inst);
/* Values that wait become variables. */
void hg_st_flush(hg_st *s);
/* All but the last `kept` ones. */
void hg_st_flush_below(hg_st *s, uint32_t kept);
/* An instruction as it is. */
void hg_st_plain(hg_st *s, uint32_t inst);
/* The condition of the branch, if it waits on top: the value; else NULL. */
hg_st_value *hg_st_condition(hg_st *s, uint32_t branch);
/* The condition's text, or that of its opposite. */
void hg_st_condition_text(hg_st *s, uint32_t branch, bool opposite, char out[HG_ST_MOST_TEXT + 8]);

#endif

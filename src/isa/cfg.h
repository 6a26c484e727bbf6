/* Control flow of a verified program: functions, blocks, summaries. Made by the verifier, read by
 * kir.
 * Requires: a program that passed structural checks. Provides: acyclic call graph, typed registers. */
#ifndef HG_ISA_CFG_H
#define HG_ISA_CFG_H

#include "isa/program.h"

typedef enum hg_exit_kind {
    HG_EXIT_FALL,   /* to succ[0] */
    HG_EXIT_JUMP,   /* bra: to succ[0] */
    HG_EXIT_BRANCH, /* bra.p: taken succ[0], else succ[1] */
    HG_EXIT_LOOP,   /* loop: taken succ[0], else succ[1] */
    HG_EXIT_CALL,   /* call functions[callee], then succ[0] */
    HG_EXIT_RET,
    HG_EXIT_STOP /* exit, or past the last instruction */
} hg_exit_kind;

#define HG_NO_BLOCK UINT32_MAX

/* Instructions [first, last); the terminator, if it is one, is the last of them. A block of zero
 * instructions stands for the index one past the end. Blocks shared by several functions are
 * repeated in each (cloned by number, not by code). */
typedef struct hg_block {
    uint32_t first, last;
    uint8_t exit;     /* hg_exit_kind */
    uint32_t succ[2]; /* block numbers inside the function, HG_NO_BLOCK when absent */
    uint32_t callee;  /* HG_EXIT_CALL: function number */
} hg_block;

/* leaves[r] = HG_LEAVES_MAYBE | T: some path writes T, another leaves the caller's value alone.
 * After the call the register holds T if it held T before, else nothing known: such a register is
 * an input too, of type T, any value where the caller has no T. */
enum { HG_LEAVES_MAYBE = 0x40, HG_LEAVES_NOTHING = 0xFE };

/* A part of the program that runs by itself (functions[0]) or by call, and what it does to
 * registers. A function's types are worked out once: what it reads before writing has one type,
 * which every caller must have there. */
typedef struct hg_function {
    uint32_t entry;       /* instruction index */
    uint32_t block_count; /* blocks[0] is the entry; only reachable blocks, ordered by first
                             instruction otherwise */
    hg_block *blocks;
    uint32_t height;     /* 1 for a leaf */
    bool has_barrier;    /* itself or below */
    bool has_collective; /* itself or below */
    uint8_t reads[256];  /* type a register must have on entry, HG_TYPE_OMITTED: none needed */
    uint8_t leaves[256]; /* after return: HG_TYPE_OMITTED untouched, HG_LEAVES_NOTHING,
                            HG_LEAVES_MAYBE | type, else the type */
    uint16_t pred_reads, pred_writes; /* bit sets of predicates: may be read before a write; may be
                                         written */
    uint16_t pred_sets; /* written on every path to a return; pred_writes & ~pred_sets are inputs
                           too */
    bool returns; /* a RET is reachable; if not, the code after its calls is never run (but typed as
                     if nothing changed) */
    bool exits;   /* an EXIT or the program's end is reachable, itself or below */
} hg_function;

typedef struct hg_cfg {
    hg_arena arena;
    const hg_program *program;
    uint32_t function_count; /* functions[0] is the program itself; callees come after their
                                callers' discovery */
    hg_function *functions;
    uint32_t *bottom_up; /* function numbers, callees before their callers; functions[0] is the last
                          */
    uint8_t param_types[256]; /* signature: type of each register at start, HG_TYPE_OMITTED:
                                 uninitialised. Specials included */
    bool special_given[HG_SPECIAL_COUNT]; /* the signature gives the register a value of its own */
    bool uses_barrier, uses_shared, has_collective;
} hg_cfg;

/* Types of registers at launch besides the .param lines: all of a program without those, else only
 * specials that are overwritten. Registers not listed are uninitialised (specials are added). */
typedef struct hg_signature {
    uint8_t types[256];
} hg_signature;

/* Verifies and, on success, returns the cfg in *cfg (NULL to only verify; freed with
 * hg_cfg_destroy). signature: NULL: nothing is set. HG_ERROR_ISA with every mistake in d, and the
 * first as last error. */
hg_status hg_verify(const hg_program *program, const hg_signature *signature, hg_diagnostics *d,
                    hg_cfg **cfg) HG_NODISCARD;
void hg_cfg_destroy(hg_cfg *cfg);

#endif

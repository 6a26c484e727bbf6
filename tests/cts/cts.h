/* The conformance suite: every row of the instruction table, in every type it allows, on edge and
 * random values, against the oracle; one suite for every backend. Programs are made from the table,
 * so a new row is tested without a line here. */
#ifndef HG_TESTS_CTS_H
#define HG_TESTS_CTS_H

#include "oracle/oracle.h"
#include "reference/case.h"
#include "support/library.h"
#include <stdio.h>

enum { CTS_TARGETS = 8, CTS_ARGUMENTS = 8 };

typedef struct cts_target {
    library *library;
    const char *level, *pretend;
} cts_target;

typedef struct cts {
    const char *backend;
    const char *device;                           /* its name in expected.txt; NULL: none */
    uint32_t part, parts;                         /* every parts-th case from part; 0: all */
    uint64_t numbered;                            /* cases so far */
    uint32_t widest;                              /* bits of the widest type; 0: all */
    bool times;                                   /* print each case's */
    const char *only_row, *only_type, *only_case; /* NULL: all */
    const char *without;                          /* a row that is left out; NULL: none */
    bool quick;                                   /* fewer values: emulated machines */
    cts_target targets[CTS_TARGETS];
    int target_count;
    FILE *record;      /* not NULL: cases go here and nothing runs */
    uint64_t recorded; /* cases so far */
    uint64_t state;    /* of the random numbers */
    uint64_t values;   /* compared so far, all targets together */
    bool covered[HG_OP_COUNT];
    bool compiles;              /* nothing runs: kernels become texts (compile.c) */
    const char *target, *texts; /* of which language; the folder they are written to, NULL: none,
                                   NVRTC compiles them */
    uint64_t compiled[HG_OP_COUNT]; /* types, by bit, in which it did */
} cts;

/* values.c */
uint64_t cts_random(cts *s);
/* Number of edge values of a type, and the i-th. */
uint32_t cts_edge_count(hg_type type);
void cts_edge(hg_type type, uint32_t i, uint8_t *bytes);
/* An edge value, a small one, or any bits; for floats also plain magnitudes. */
void cts_any(cts *s, hg_type type, uint8_t *bytes);
/* How many lanes a batch of this type has. */
uint64_t cts_batch(const cts *s, hg_type type);
/* Fills n tuples of count values: exhaustive where the tuples fit n, else edge combinations first
 * and random ones after. */
void cts_fill(cts *s, uint32_t count, const hg_type *types, uint8_t *const *arrays, uint64_t n);

/* cts.c */
bool cts_wanted(const cts *s, const char *row, hg_type type);
/* Whether the next call of cts_check or cts_compare, of a case of this name, runs it: else its
 * expected values are not looked at. */
bool cts_runs(const cts *s, const char *name);
/* One batch: arrays[0] of the case is the output, expected its expected bytes and tolerance the
 * ULPs an element may be off (NULL: 0). Runs on every target and reports the first difference of
 * each. Frees the case. */
void cts_check(cts *s, const char *name, hg_type type, run_case *c, const uint8_t *expected,
               const uint32_t *tolerance);
/* Runs text on the reference and on every target; all memory, or the fault, must be equal. Frees
 * the case. */
void cts_compare(cts *s, const char *name, run_case *c);
/* Text of the case from a format. */
void cts_text(run_case *c, const char *format, ...) HG_PRINTF(2, 3);
void cts_fail(cts *s, const cts_target *t, const char *name, const char *reason);

void cts_rows(cts *s);       /* rows.c: rows whose operands are registers and predicates */
void cts_known_rows(cts *s); /* literals.c: the same on operands that a compiler knows; nothing else
                                runs with them */
void cts_arrays(cts *s);     /* arrays.c: the check of an axis */
void cts_blocks(cts *s);     /* block.c: rows on the lanes of a block */
void cts_literals(cts *s);   /* rows.c: mov_imm and rdid */
void cts_maps(cts *s);       /* maps.c: operations on whole arrays */
void cts_conv2d(cts *s);     /* conv2d.c */
void cts_matrices(cts *s);   /* matrices.c: gemm, batched_gemm, mixed_precision_gemm, attention */
void cts_norms(cts *s); /* norms.c: softmax, norms, rope, layer_scale, kv_cache_update, all_reduce,
                           all_gather, reduce_scatter, broadcast */
void cts_transforms(cts *s); /* transforms.c: fft */
void cts_orders(cts *s);     /* orders.c: sort, top_k */
void cts_products(cts *s);   /* products.c: sparse_gemm, tensor_contract, quantized_gemm */
void cts_windows(cts *s);    /* windows.c: conv, conv_transpose, max_pool, avg_pool */
void cts_lines(cts *s);      /* lines.c: scan, gather, scatter, segment_reduce, arg_max */
void cts_forms(cts *s);      /* forms.c: memory, pools, atomics, control, barriers, faults */
void cts_atlas(cts *s);      /* atlas.c: block 1C0 */
void cts_more_norms(cts *s); /* what they give beside their output; rope by tables */
void cts_examples(cts *s);   /* examples.c: the programs of examples/programs */

/* compile.c: cases as texts, of CUDA C through NVIDIA's compiler. */
bool cts_compile_open(const cts *s, char reason[256]);
void cts_compile(cts *s, const char *name, const hg_program *program);
void cts_compile_close(cts *s); /* rows in types that no case had */

#endif

/* A call before it is one: from text or from C.
 * Must not know: text, numbers of symbols. */
#ifndef HG_GRAPH_REQUEST_H
#define HG_GRAPH_REQUEST_H

#include "graph/graph.h"

/* What a call is made of, before it is one. */
typedef struct graph_request {
    uint16_t op;
    uint8_t type; /* HG_TYPE_COUNT: of its arrays */
    hg_program *program;
    graph_operand operands[HG_MAX_PARAMS];
    uint32_t operand_count;
    graph_result results[HG_MAX_PARAMS]; /* their values are made by graph_add_call */
    const graph_value *declared; /* of each result: its shape, or HG_TYPE_COUNT as its type: to be
                                    inferred. NULL: of all */
    const char *result_names[HG_MAX_PARAMS];
    size_t result_lengths[HG_MAX_PARAMS];
    uint32_t result_count;
    uint32_t line, inst;
} graph_request;
/* Fills in what is left out of sizes and shapes, checks, and appends (call.c). The results' values
 * are in request->results then. */
hg_status graph_add_call(hg_graph *g, graph_request *request) HG_NODISCARD;

/* The instruction that a text means, "gemm" or "gemm.f64". */
hg_status graph_find_callee(graph_request *r, const char *text, size_t length) HG_NODISCARD;
const char *graph_callee_name(const graph_request *r);
/* The operand, or parameter, of that name; GRAPH_NOT_SET: there is none. */
uint32_t graph_operand_named(const graph_request *r, const char *name, size_t length);
/* What an operand is to a graph. */
graph_operand_kind graph_operand_kind_of(const graph_request *r, uint32_t operand);
/* Whether the call writes it, and may make a value of it. */
bool graph_operand_is_made(const graph_request *r, uint32_t operand);
/* The error of an operand that the call only writes. */
hg_status graph_refuse_made(const graph_request *r, uint32_t operand) HG_NODISCARD;
/* What the call has of an operand; NULL: nothing. */
graph_operand *graph_given(graph_request *r, uint32_t operand);
/* The operation of that name, for an operand that takes one. */
hg_status graph_read_word(const graph_request *r, uint32_t operand, const char *text, size_t length,
                          uint32_t *number) HG_NODISCARD;
/* The results in order are the arrays that the call writes; there must be so many. */
hg_status graph_match_results(graph_request *r, uint32_t count) HG_NODISCARD;
/* Parses the literal of an operand, whose text it has so far, as that type. */
hg_status graph_read_literal(hg_graph *g, const graph_request *r, graph_operand *o,
                             hg_type type) HG_NODISCARD;
/* Whether an instruction does not read what the arrays that it reads and writes had before: a
 * product with beta = 0. Its literals have been read (shapes.c). */
bool graph_leaves_contents(graph_request *r);
/* Makes the value of result i, of the inferred shape unless another one is declared. */
hg_status graph_make_result(hg_graph *g, graph_request *r, uint32_t i,
                            const graph_value *inferred) HG_NODISCARD;
/* Fills in the sizes that shapes tell, and makes the results (shapes.c; of a program programs.c).
 */
hg_status graph_infer(hg_graph *g, graph_request *r) HG_NODISCARD;
hg_status graph_infer_program(hg_graph *g, graph_request *r) HG_NODISCARD;
/* An extent of the program that is called, with what the call gives; GRAPH_NOT_SET: it is not
 * known. */
graph_extent graph_translate(hg_graph *g, graph_request *r, const hg_extent *e);
/* Whether a program writes every element of its results (fills.c). */
bool graph_fills(hg_graph *g, graph_request *r);
/* Whether a program writes more than its results: class memory, state. */
bool graph_writes_more(const hg_program *program);

#endif

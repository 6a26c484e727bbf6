/* Array graphs: values with shapes, and calls in order. A call is a whole-array instruction of
 * isa.def or a program; its operands are values. A value has one call that makes it, or none, and
 * never changes: what lies in which memory is decided later (memory.c).
 * Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_GRAPH_H
#define HG_GRAPH_GRAPH_H

#include "isa/program.h"
#include "plan/steps/call.h"
#include <hologram/graph.h>
#include <string.h>

/* ---- extents (extent.c) ---- */

/* Number of an expression over the graph's symbols. Equal expressions have equal numbers. */
typedef uint32_t graph_extent;
#define GRAPH_NOT_SET UINT32_MAX /* an extent, a value or a call that is not there */

typedef struct graph_term {
    uint8_t kind;         /* hg_extent_op_kind; a PARAM is a symbol */
    uint8_t height;       /* of the tree that it is */
    uint32_t left, right; /* of operations */
    uint64_t value;       /* of a NUMBER; of a PARAM the symbol's number */
} graph_term;

/* ---- values and calls ---- */

typedef enum graph_source {
    GRAPH_INPUT,
    GRAPH_CONSTANT,
    GRAPH_RESULT, /* a call makes it */
    GRAPH_VIEW    /* elements of another value */
} graph_source;

/* Where a value lies when ranks share a graph. */
typedef enum graph_place_kind {
    GRAPH_WHOLE,  /* each rank has it */
    GRAPH_SPLIT,  /* each rank has a part of an axis, in rank order */
    GRAPH_PARTIAL /* each rank has an array of its shape: it is what they are combined */
} graph_place_kind;

typedef struct graph_place {
    uint8_t kind;       /* graph_place_kind */
    uint8_t axis;       /* SPLIT */
    uint8_t operation;  /* PARTIAL: hg_opname */
    uint32_t first_cut; /* SPLIT: in graph->items, where ranks but the first begin; */
    uint32_t cut_count; /* 0: all have as much, ceil(extent / ranks), the last ones less */
} graph_place;

typedef struct graph_value {
    const char *name; /* of programs and messages; NULL: it has none */
    uint8_t source;   /* graph_source */
    uint8_t type;     /* hg_type */
    uint8_t rank;
    graph_extent extents[PLAN_MAX_RANK];
    graph_extent elements; /* their product */
    uint32_t call;         /* RESULT: that makes it; GRAPH_NOT_SET: it is gone */
    uint32_t of;           /* VIEW: of that value, */
    graph_extent offset;   /* from that element on, counted in memory where that value is a view too
                            */
    bool strided; /* VIEW, of none that is it too: its elements do not lie one after another, */
    graph_extent strides[PLAN_MAX_RANK]; /* but so many elements apart along each axis */
    uint32_t takes;    /* RESULT: a value whose memory it takes over, which nothing reads any more
                          (memory.c); GRAPH_NOT_SET: none */
    const char *file;  /* CONSTANT of a text: where its elements are; NULL: whoever runs the graph
                          gives them by name */
    const void *bytes; /* CONSTANT: its elements, NULL: not known yet. Borrowed */
    bool once;         /* CONSTANT: a call of graph->once makes it */
    graph_place place; /* of sharding (shard.c) */
    uint32_t line;     /* of the text, from 1; 0: of none */
} graph_value;

typedef enum graph_operand_kind {
    GRAPH_ARRAY,   /* value */
    GRAPH_COUNT,   /* an extent */
    GRAPH_LITERAL, /* bytes of the operand's type */
    GRAPH_NAME,    /* hg_opname */
    GRAPH_FLAG,    /* 0 or 1 */
    GRAPH_TUPLE,   /* so many extents, one after another in graph->items from `first` on */
    GRAPH_TUPLES   /* the same, of tuples: each is its length, a number, and its own */
} graph_operand_kind;

typedef struct graph_operand {
    uint8_t operand; /* its number in the instruction's row, of a program in its parameters */
    uint8_t kind;    /* graph_operand_kind */
    uint32_t number; /* value, extent, name, flag; of tuples how many items */
    uint32_t first;  /* of tuples */
    const uint8_t *bytes;
} graph_operand;

/* Operands are in order of their numbers; an array that the call writes stands among the results
 * too. One that it reads and writes is an operand where it has contents before the call. */
typedef struct graph_call {
    uint16_t op;               /* hg_op; HG_OP_NONE: program */
    uint8_t type;              /* hg_type of the instruction */
    const hg_program *program; /* the graph's */
    bool whole;        /* of a program: it writes every element of its results; instructions do */
    bool made;         /* its program was made by a pass: it reads nothing but its operands */
    bool writes_more;  /* of a program: more than its results, memory that others may read later; of
                          a collective: other ranks wait for it, so it is neither left out, nor
                          merged, nor moved */
    uint32_t together; /* calls that follow each other with one number may be one kernel (maps.c);
                          0: it stands alone */
    uint32_t first_operand, operand_count;
    uint32_t first_result, result_count;
    uint32_t line;
    uint32_t inst; /* of a graph from a program: its first instruction there */
} graph_call;

typedef struct graph_result {
    uint8_t operand;
    uint32_t value;
} graph_result;

/* A program that calls name. */
typedef struct graph_program {
    hg_program *program; /* retained */
    const char *name, *file;
    bool zeros; /* made by graph_optimize: it makes an array of zeros (passes.c) */
} graph_program;

typedef struct graph_output {
    const char *name;
    uint32_t value;
} graph_output;

/* A hash table: number + 1. */
typedef HG_VEC(uint32_t) graph_names;

struct hg_graph {
    uint32_t references; /* atomic */
    hg_arena arena;      /* of names and literals */
    const char *name;
    HG_VEC(graph_term) terms;
    struct {
        uint32_t *data, count;
    } term_slots;            /* a hash table of terms: number + 1 */
    hg_status extent_status; /* why the last extent that could not be made could not; graph_add_call
                                begins with HG_OK */
    HG_VEC(const char *) symbols;
    HG_VEC(graph_value) values;
    HG_VEC(graph_call) calls;
    /* calls of constants alone, done when the graph is compiled (constants.c) */
    HG_VEC(graph_call) once;
    HG_VEC(graph_operand) operands;
    HG_VEC(graph_result) results;
    HG_VEC(graph_extent) items;
    HG_VEC(graph_output) outputs;
    HG_VEC(graph_program) programs;
    graph_names names, output_names; /* of values, of outputs */
    /* A module of StableHLO that says the same as the calls, while there are so many of these, as
     * many values and outputs (hlo/source.c). In the arena; NULL: none */
    struct {
        const char *text;
        uint64_t length, calls, values, outputs;
    } source;
    hg_graph *origin; /* of a copy: owns what its pointers point to; retained */
    /* A rank's graph (shard_api.c): what it has of the shared one's arrays. In the arena */
    struct {
        struct graph_part *data;
        uint64_t count;
    } parts;
};

/* What the source says is what the graph is now. */
static inline void graph_mark_source(hg_graph *g) {
    g->source.calls = g->calls.count;
    g->source.values = g->values.count;
    g->source.outputs = g->outputs.count;
}
static inline bool graph_has_source(const hg_graph *g) {
    return g->source.text && g->source.calls == g->calls.count &&
           g->source.values == g->values.count && g->source.outputs == g->outputs.count;
}

/* Whether a text that may be NULL is that name. */
static inline bool graph_is_name(const char *own, const char *name, size_t length) {
    return own && strlen(own) == length && memcmp(own, name, length) == 0;
}

/* ---- extents ---- */

/* GRAPH_NOT_SET: this thread's error says why. Operands may be GRAPH_NOT_SET: so is the result
 * then. */
graph_extent graph_number(hg_graph *g, uint64_t value);
graph_extent graph_symbol(hg_graph *g, uint32_t symbol);
/* left op right, with what is known of numbers worked out. */
graph_extent graph_combine(hg_graph *g, hg_extent_op_kind op, graph_extent left,
                           graph_extent right);
/* Whether it is a number, and which. */
bool graph_is_number(const hg_graph *g, graph_extent e, uint64_t *value);
/* The values of all terms with the symbols' values. values: room for graph->terms.count; one that
 * has none is UINT64_MAX. */
void graph_extent_values(const hg_graph *g, const uint64_t *symbols, uint64_t *values);
void graph_print_extent(hg_text *out, const hg_graph *g, graph_extent e);
/* " split 0 at (3, 5)"; nothing of GRAPH_WHOLE */
void graph_print_place(hg_text *out, const hg_graph *g, const graph_place *place);
/* Whether a value of that type and rank can lie so; HG_ERROR_INVALID_ARGUMENT says why not. */
hg_status graph_check_place(const hg_graph *g, const graph_value *v) HG_NODISCARD;
/* "f32 [b * s, 384]" */
void graph_print_shape(hg_text *out, const hg_graph *g, const graph_value *v);
uint32_t graph_find_symbol(const hg_graph *g, const char *name, size_t length);

/* ---- building (build.c). Failures are this thread's error ---- */

hg_status graph_add_symbol(hg_graph *g, const char *name, size_t length) HG_NODISCARD;
/* A value whose type, rank, extents and source are set; the name (may be NULL) is copied. */
hg_status graph_add_value(hg_graph *g, const graph_value *value, const char *name, size_t length,
                          uint32_t *number) HG_NODISCARD;
/* The graph as it was when it had so many: what a call that failed had begun to add goes. */
void graph_cut(hg_graph *g, uint64_t values, uint64_t operands, uint64_t results);
uint32_t graph_find_value(const hg_graph *g, const char *name, size_t length);
/* Operands and results of a call that is to be appended. */
hg_status graph_add_parts(hg_graph *g, graph_call *call, const graph_operand *operands,
                          uint32_t operand_count, const graph_result *results,
                          uint32_t result_count) HG_NODISCARD;
/* A call with its parts, behind all others. */
hg_status graph_append(hg_graph *g, const graph_call *call) HG_NODISCARD;
/* Keeps a program, which it takes over, also after failure. file may be NULL. */
hg_status graph_add_program(hg_graph *g, hg_program *program, const char *name, size_t length,
                            const char *file) HG_NODISCARD;
/* Keeps one that the graph may have already, under a name of its own. */
hg_status graph_keep_program(hg_graph *g, hg_program *program) HG_NODISCARD;
uint32_t graph_find_program(const hg_graph *g, const char *name, size_t length);
bool graph_is_output(const hg_graph *g, uint32_t value);
/* An output whose name is copied. */
hg_status graph_add_output(hg_graph *g, uint32_t value, const char *name,
                           size_t length) HG_NODISCARD;
/* Bytes of an element. */
static inline uint64_t graph_type_bytes(const graph_value *v) {
    return hg_type_size_bytes((hg_type)v->type);
}
/* The value whose memory it lies in: itself, but for views. *offset: elements from that one's
 * first, may be NULL. */
uint32_t graph_base(const hg_graph *g, uint32_t value);
/* read: a byte for each value, 0 before. Sets those of values that calls read, also through views.
 */
void graph_mark_read(const hg_graph *g, uint8_t *read);
/* A copy that passes may change. */
hg_status graph_copy(const hg_graph *g, hg_graph **copy) HG_NODISCARD;
/* The operand of a call with that number; NULL: it is left out. */
const graph_operand *graph_operand_of(const hg_graph *g, const graph_call *call, uint32_t operand);
/* The value that a call makes of an operand; GRAPH_NOT_SET: none. */
uint32_t graph_result_of(const hg_graph *g, const graph_call *call, uint32_t operand);
/* Whether a value is one that the call makes: a call that went has left the values of others. */
bool graph_result_is(const hg_graph *g, const graph_call *call, uint32_t value);
/* Behind the last of the calls that stand together with one. */
static inline uint32_t graph_together_end(const hg_graph *g, uint32_t call) {
    uint32_t end = call + 1;
    while (g->calls.data[call].together && end < g->calls.count &&
           g->calls.data[end].together == g->calls.data[call].together)
        end++;
    return end;
}
/* The row of an instruction that a graph can call, by its text; HG_OP_NONE: there is none. Of two
 * with the text it is the one that writes memory. */
hg_op graph_op_named(const char *text, size_t length);
/* Whether an operand of an instruction is an array to a graph, and whether the instruction writes
 * it. */
bool graph_is_array(const hg_operand_info *info);
static inline bool graph_is_written(const hg_operand_info *info) {
    return graph_is_array(info) && (info->access & HG_WRITE);
}
/* Whether a call is between ranks. */
bool graph_is_collective(const graph_call *call);
/* "gemm in line 4" */
const char *graph_call_text(const hg_graph *g, const graph_call *call, char buffer[160]);

/* ---- one call with numbers (check.c) ---- */

/* A call with the values of all extents, as the instructions' own code takes it. */
typedef struct graph_sized_call {
    plan_call call;
    plan_operand operands[HG_MAX_OPERANDS];
    plan_array arrays[HG_MAX_OPERANDS];
    uint32_t values[HG_MAX_OPERANDS]; /* of the arrays */
    uint64_t words[HG_MAX_OPERANDS * HG_MAX_TUPLE_ITEMS];
    plan_problem problem;
} graph_sized_call;
/* extents: graph_extent_values. Of an instruction. A problem is left in it. */
void graph_size_call(const hg_graph *g, const graph_call *call, const uint64_t *extents,
                     graph_sized_call *sized);
/* All calls and shapes of the graph: what cannot be is this thread's error and names the call and
 * shapes. */
hg_status graph_check(const hg_graph *g, const uint64_t *extents) HG_NODISCARD;

/* The rules that every pass keeps: values are made once and before they are read, calls name what
 * is there. HG_ERROR_INTERNAL: a pass broke one. */
hg_status graph_verify(const hg_graph *g) HG_NODISCARD;

/* A program without code whose parameters are what the graph is given and gives: symbols, inputs,
 * constants without elements, outputs (interface.c). The caller releases it before the graph. */
hg_status graph_interface(const hg_graph *g, hg_program **program) HG_NODISCARD;

/* ---- text (read.c, print.c) ---- */

void graph_print(hg_text *out, const hg_graph *g);
/* Appends statements to the graph. */
hg_status graph_read(hg_graph *g, const char *text, size_t length,
                     const hg_graph_read_options *options, bool whole,
                     hg_diagnostics *d) HG_NODISCARD;
/* An extent as it stands in a text: "b * 128". */
hg_status graph_read_extent(hg_graph *g, const char *text, graph_extent *e) HG_NODISCARD;

/* Where a value lies, as behind a shape: "split 0", "whole". HG_ERROR_INVALID_ARGUMENT says why it
 * cannot. */
hg_status graph_read_place(hg_graph *g, uint32_t value, const char *text) HG_NODISCARD;

#endif

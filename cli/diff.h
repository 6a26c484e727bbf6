/* hologram diff: what its files share. Must not know: how backends run programs. */
#ifndef HG_CLI_DIFF_H
#define HG_CLI_DIFF_H

#include "launch.h"

/* One of the two that are compared. */
typedef struct diff_side {
    char label[64];
    hg_backend *backend;
    const hg_program *program; /* as loaded; borrowed */
} diff_side;

/* A parameter that a rewritten program has beyond its own: a u64 scalar, or a buffer of bytes (rank
 * none) read back after the run. */
typedef struct diff_extra {
    const char *name;
    uint64_t value, bytes; /* bytes 0: a scalar */
    uint8_t *data;
} diff_extra;

/* What a run left behind. */
typedef struct diff_result {
    hg_status status; /* HG_OK or HG_ERROR_EXECUTION_FAILED */
    hg_error error;
    uint8_t **arrays; /* one a parameter, NULL for scalars; the program's own memory of pools too */
    uint32_t count;
    uint8_t *class_memory; /* NULL: the program cannot reach it */
    uint32_t phase[HG_MAX_CLASSES];
    double resonance[HG_MAX_CLASSES];
} diff_result;

/* The first element that differs. */
typedef struct diff_place {
    uint32_t param; /* behind the parameters: class memory, phases, resonances, in this order */
    uint64_t element, differing, compared;
} diff_place;
enum { DIFF_CLASS_MEMORY, DIFF_PHASE, DIFF_RESONANCE };

enum { DIFF_SAME, DIFF_DATA, DIFF_FAULT };

/* ---- diff_text.c ---- */
/* "12.0 0x41400000"; the second cut where it is long. type: hg_type; HG_TYPE_COUNT: a predicate. */
void diff_add_value(hg_text *out, uint8_t type, const uint8_t *bytes);
void diff_value_text(uint8_t type, const uint8_t *bytes, char text[160]);
void diff_add_index(hg_text *out, uint32_t rank, const uint64_t *extents, uint64_t element); /* "[1,
                                                                                                2]"
                                                                                              */

/* ---- diff_inputs.c ---- */
/* Reads --in, --set and --shape, and makes up what they leave open. False after reporting. */
bool diff_inputs(cli *c, cli_values *values, uint64_t lanes, uint64_t seed);
/* The number of lanes or the shape of an array depends on it. */
bool diff_is_extent(const hg_program *p, uint32_t param);
/* A copy with the scalar parameter `extent` set to n and every array that it shapes cut to its
 * beginning; extent UINT32_MAX: as it is. */
hg_status diff_inputs_cut(const cli_values *from, uint32_t extent, uint64_t n, cli_values *to);

/* ---- diff_run.c ---- */
/* HG_OK for runs that end in a fault too; else the run itself was impossible. */
hg_status diff_run(const diff_side *side, const hg_program *program, const cli_values *values,
                   const hg_launch *launch, diff_extra *extras, uint32_t extra_count,
                   diff_result *result) HG_NODISCARD;
void diff_result_free(diff_result *result);
bool diff_is_endless(const diff_result *r); /* a step limit or a timeout */
bool diff_same_fault(const diff_result *a, const diff_result *b);
/* DIFF_SAME, DIFF_FAULT, or DIFF_DATA with the place. Two equal faults are the same, whatever
 * memory holds. */
int diff_compare(const cli_values *values, const diff_result *a, const diff_result *b,
                 diff_place *place);
bool diff_same_value(hg_type type, const uint8_t *a, const uint8_t *b); /* equal bits, or two NaNs
                                                                         */
bool diff_reaches_class(const hg_program *p);
bool diff_reaches_state(const hg_program *p);           /* phases and resonances */
hg_status diff_clear_class(hg_backend *b) HG_NODISCARD; /* class memory as it is at first: zeros */

/* ---- diff_trace.c: programs that record what every instruction gives ---- */
enum {
    DIFF_EVENT_BYTES = 40,
    DIFF_MOST_OPERANDS = 24,
    DIFF_EXECUTIONS_AT = DIFF_MOST_OPERANDS * 512,
    DIFF_CAPTURE_BYTES = DIFF_EXECUTIONS_AT + 8
};
/* Of a lane, at lane · stride of the buffer: a hash of the first `limit` results, their number in
 * all, the instruction of the last one hashed, steps passed (two a whole-array instruction: before
 * and after it), the instruction of the last step; then the result itself. */
typedef struct diff_event {
    uint64_t hash, count, instruction, steps, step_instruction;
} diff_event;

typedef struct diff_operand {
    char name[8];
    uint8_t type; /* hg_type; HG_TYPE_COUNT: a predicate */
    bool is_result;
    uint32_t offset; /* in the capture */
} diff_operand;

typedef struct diff_trace {
    hg_program *program;
    char records[40], limit[40], step_limit[40], lane[40], capture[40]; /* names of the extra
                                                                           parameters */
    uint64_t stride;
    diff_operand operands[DIFF_MOST_OPERANDS];
    uint32_t operand_count;
} diff_trace;

#define DIFF_NO_CAPTURE UINT32_MAX
/* capture: the instruction whose operands are recorded for one lane, or DIFF_NO_CAPTURE. ordered:
 * also results that depend on the order of lanes (old values of atomics and what is made of them).
 * HG_ERROR_INVALID_ARGUMENT: no free registers. */
hg_status diff_trace_build(const hg_program *p, uint32_t capture, bool ordered,
                           diff_trace *trace) HG_NODISCARD;
void diff_trace_free(diff_trace *trace);
/* The program with only the instructions that keep names; labels stay. */
void diff_print_kept(hg_text *out, const hg_program *p, const uint8_t *keep);

/* ---- diff_narrow.c ---- */
typedef struct diff_case {
    cli *c;
    diff_side sides[2];
    hg_graph *graphs[2]; /* of array graphs; borrowed */
    diff_side judge; /* cpu; backend NULL: one of the sides is it, or the two run different programs
                      */
    const cli_values *values;
    hg_launch launch;
} diff_case;

enum { DIFF_SIDES = 3 }; /* the judge is the third */

/* The first difference. Fields that are not known are HG_NONE. */
typedef struct diff_finding {
    uint64_t step;           /* whole-array instructions done before it, in the order of running */
    uint64_t instruction[2]; /* on each side: control flow may have parted */
    uint64_t lane, result, execution; /* the result-th of the lane, the execution-th of the
                                         instruction, from 1 */
    bool stopped[2];                  /* a lane had ended before */
    bool reached[2];                  /* stopped by a fault of this very instruction */
    bool ordered;                     /* it depends on the order of lanes */
    bool by_step;                     /* a whole-array instruction wrote memory wrongly */
    diff_place place;                 /* by_step: what */
    uint32_t operand_count[DIFF_SIDES];
    diff_operand operands[DIFF_SIDES][DIFF_MOST_OPERANDS];
    uint8_t values[DIFF_SIDES][DIFF_CAPTURE_BYTES];
    bool judged;
    char note[512]; /* why it was not narrowed; "" when it was */
} diff_finding;

/* False after reporting that a run was impossible. */
bool diff_narrow(const diff_case *d, const diff_result results[2], diff_finding *finding);

/* ---- diff_graph.c ---- */
/* The graphs on two devices, or (passes) the first one on the first side with its passes and
 * without: the first call whose value differs. */
void diff_graph(diff_case *d, const hg_graph_options *options, bool passes);

/* ---- diff_reduce.c ---- */
/* Writes a smaller program and smaller inputs that still differ to a folder, and the command that
 * compares them to *command. sides: as on the command line. False after reporting. */
bool diff_reduce(const diff_case *d, const cli_launch *options, const char *folder,
                 const char *const sides[2], hg_text *command);

#endif

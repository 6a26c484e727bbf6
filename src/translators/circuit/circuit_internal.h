/* What the files of the circuit language share: tokens, the syntax tree as a list of items, the
 * circuit itself.
 * Must not know: how programs run, files. */
#ifndef HG_TRANSLATORS_CIRCUIT_INTERNAL_H
#define HG_TRANSLATORS_CIRCUIT_INTERNAL_H

#include "base/base.h"
#include <hologram/atlas.h>
#include <hologram/circuit.h>

/* ---- tokens (lexer.c) ---- */

/* Other punctuation stands for itself. CIRCUIT_PARALLEL is `||` or `|`. */
enum {
    CIRCUIT_END = 256,
    CIRCUIT_WORD,
    CIRCUIT_NUMBER,
    CIRCUIT_PARALLEL,
    CIRCUIT_DOTS,
    CIRCUIT_ARROW,
    CIRCUIT_EXCHANGE,
    CIRCUIT_BAD,
    CIRCUIT_NOT_UTF8
};

typedef struct circuit_token {
    int kind;
    uint32_t line, column, length; /* bytes; columns from 1 */
    size_t at;                     /* byte offset in the text */
    const char *text;
} circuit_token;

typedef struct circuit_lexer {
    const char *text;
    size_t length, at, line_start;
    uint32_t line;
} circuit_lexer;

void hg_circuit_lexer_init(circuit_lexer *lexer, const char *text, size_t length);
circuit_token hg_circuit_next(circuit_lexer *lexer);

/* ---- the syntax tree (parser.c) ---- */

/* A transform: amounts smaller than their modulus, with the sign as written. All zero: none. */
typedef struct circuit_shift {
    int8_t rotate, triality, twist;
    uint8_t mirror;
} circuit_shift;

typedef struct circuit_sigil {
    uint8_t cls;
    int8_t page /* -1: none */;
    circuit_shift postfix;
} circuit_sigil;

typedef enum circuit_generator {
    GENERATOR_MARK,
    GENERATOR_COPY,
    GENERATOR_SWAP,
    GENERATOR_MERGE,
    GENERATOR_SPLIT,
    GENERATOR_QUOTE,
    GENERATOR_EVALUATE,
    GENERATOR_SCALE,
    GENERATOR_FMA,
    GENERATOR_COUNT
} circuit_generator;
typedef enum circuit_target {
    TARGET_SINGLE,
    TARGET_RANGE,
    TARGET_COPY,
    TARGET_SWAP,
    TARGET_TRIPLE
} circuit_target;

/* The tree in order of the text. Neighbouring terms are a sequence, BRANCH stands between branches,
 * OPEN … CLOSE is a group. */
typedef enum circuit_item_kind { ITEM_TERM, ITEM_OPEN, ITEM_CLOSE, ITEM_BRANCH } circuit_item_kind;
typedef struct circuit_item {
    uint8_t kind, generator, variant, target;
    circuit_shift prefix;    /* of a term or OPEN */
    circuit_sigil sigils[3]; /* in order of the text; of a range the start and the end, each with
                                the range's postfix */
    uint32_t constant;       /* of scale: index in the circuit's constants */
    uint32_t match;          /* OPEN: index of its CLOSE, and the other way round */
    uint32_t line, column, length;
} circuit_item;
typedef HG_VEC(circuit_item) circuit_items;

struct hg_circuit {
    circuit_shift phrase; /* prefix of the whole */
    circuit_items items;
    HG_VEC(hg_circuit_call) calls;
    HG_VEC(char *) constants;        /* as the text writes them */
    hg_type type;                    /* of the elements */
    uint8_t use[HG_CIRCUIT_CLASSES]; /* of calls that were simplified away: what a run takes and
                                        gives stays the same */
    bool parsed, compiled, appended; /* appended: there are calls that no text says */
    char *original, *canonical;
    uint64_t original_ops, canonical_ops;
};

/* Errors of one text, the first kept for hg_last_error. */
typedef struct circuit_report {
    hg_diagnostics *diagnostics;
    const char *prefix; /* of every message */
    uint64_t errors;
    bool out_of_memory;
    char code[4], message[400];
    uint32_t line, column;
} circuit_report;
void hg_circuit_report(circuit_report *r, const char *code, uint32_t line, uint32_t column,
                       uint32_t length, const char *hint, const char *format, ...) HG_PRINTF(7, 8);
hg_status hg_circuit_report_status(const circuit_report *r); /* HG_OK, or the failure recorded as
                                                                last error */

/* Fills phrase, items and original_ops. */
void hg_circuit_parse_text(hg_circuit *circuit, const char *text, size_t length,
                           const hg_circuit_options *options, circuit_report *report);

static inline bool hg_shift_is_none(circuit_shift s) {
    return !s.rotate && !s.triality && !s.twist && !s.mirror;
}
circuit_shift hg_shift_combine(circuit_shift outer, circuit_shift inner);
uint8_t hg_shift_apply(circuit_shift shift, uint8_t cls);
/* Class of a sigil below the prefixes. */
static inline uint8_t hg_sigil_class(const circuit_sigil *sigil, circuit_shift prefix) {
    return hg_shift_apply(prefix, hg_shift_apply(sigil->postfix, sigil->cls));
}
/* Number of sigils of a target. */
static inline uint32_t hg_target_sigils(uint8_t target) {
    return target == TARGET_SINGLE ? 1 : target == TARGET_TRIPLE ? 3 : 2;
}
extern const char *const hg_generator_names[GENERATOR_COUNT];  /* "mark" */
extern const char *const hg_generator_titles[GENERATOR_COUNT]; /* "Mark" */

/* Prefixes of open groups. */
typedef HG_VEC(circuit_shift) circuit_shifts;

/* compile.c: the defaults and over them what the caller gave, NULL or a structure of an older or
 * newer header. */
hg_status hg_circuit_take_options(const hg_circuit_options *given, hg_circuit_options *own);

/* ---- text (print.c) ---- */
/* circuit: whose constants they name. */
void hg_circuit_print_items(hg_text *out, const hg_circuit *circuit, circuit_shift phrase,
                            const circuit_items *items);
void hg_circuit_print_call(hg_text *out, const hg_circuit *circuit, const hg_circuit_call *call);
/* HG_OK for a circuit made from text and a pointer to put the answer to. */
hg_status hg_circuit_need_tree(const hg_circuit *circuit, const void *result);

/* calls.c: keeps a constant; UINT32_MAX: out of memory. */
uint32_t hg_circuit_keep_constant(hg_circuit *circuit, const char *text, size_t length);
/* NULL, or why the text is no literal of the type (in scratch). */
const char *hg_circuit_check_constant(hg_type type, const char *text, size_t length,
                                      char scratch[160]);
/* Whether a variant is there for the type. */
bool hg_variant_allows(uint8_t variant, hg_type type);

/* ---- canonical.c ---- */
/* The gate rules of 6.9 on a copy of the items: their text in out, their number of terms in ops. */
hg_status hg_circuit_gate_form(const hg_circuit *circuit, hg_text *out, uint64_t *ops);
/* Calls with the same effect on every class, as few or fewer. */
hg_status hg_circuit_simplify(hg_circuit *circuit);

/* ---- calls.c ---- */
bool hg_variant_is_unary(uint8_t variant);
/* Classes a call reads and those it writes, without ranges. */
uint32_t hg_call_reads(const hg_circuit_call *call, uint8_t classes[3]);
uint32_t hg_call_writes(const hg_circuit_call *call, uint8_t classes[2]);
/* The calls of a range one by one: start … end; other calls are one. */
uint32_t hg_call_count(const hg_circuit_call *call);
hg_circuit_call hg_call_member(const hg_circuit_call *call, uint32_t i);

#endif

/* Circuits: the sigil language over the 96 classes, and its translation to programs (semantics,
 * section 6).
 *
 *     merge@c00[c01,c02] . copy@c02->c05     c02 = c00 + c01, then c05 = c02, elementwise
 *
 * A translated circuit works on class memory and has no parameters: class c is the buffer
 * 0xFFFFFFFFFFFFFFA0 + c of the context that runs it (12,288 bytes, 3,072 elements of f32), and
 * lane i works on element i of every class, so a launch has exactly as many lanes as the classes
 * have elements. The record of the translation says which classes take part and how. */
#ifndef HOLOGRAM_CIRCUIT_H
#define HOLOGRAM_CIRCUIT_H

#include <hologram/diagnostics.h>
#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HG_CIRCUIT_CLASSES = 96,
    HG_CIRCUIT_CLASS_ELEMENTS = 3072 /* f32 elements of a class */
};
/** Handle of a class as a buffer of the context. */
#define HG_CIRCUIT_HANDLE(cls) (UINT64_C(0xFFFFFFFFFFFFFFA0) + (uint64_t)(cls))

/* ---- options ---- */

/** What is done to the operations before they are lowered. Memory after a run is the same in all
 * three. */
typedef enum hg_canonicalise {
    HG_CANONICALISE_OFF, /**< lowered as written */
    /** Operations without effect on data are removed (equal marks or swaps that meet, repeated
       copies, copies to itself, quote and evaluate); the canonical text is that of what is left,
       and that is lowered. */
    HG_CANONICALISE_SOUND,
    /** The canonical text and the counts follow the gate rules (H² = I, X² = I, …), which ignore
       destinations, pages and transforms and would change data; what is lowered is the sound form.
     */
    HG_CANONICALISE_GATES
} hg_canonicalise;

typedef struct hg_circuit_options {
    size_t size; /**< sizeof(hg_circuit_options) */
    hg_canonicalise canonicalise;
    int variants;     /**< not 0: merge.mul@…, split.div@… are allowed */
    const char *name; /**< of the program; NULL: "circuit" */
    const char *type; /**< of the elements of all classes, as "f64" or "u8"; NULL: "f32" */
} hg_circuit_options;

/* ---- calls (6.7) ---- */

typedef enum hg_circuit_kind {
    HG_CIRCUIT_MARK,       /**< src: XOR every byte with 0x80 */
    HG_CIRCUIT_QUOTE,      /**< src: no effect on data */
    HG_CIRCUIT_EVALUATE,   /**< src: no effect on data */
    HG_CIRCUIT_COPY,       /**< dst = src */
    HG_CIRCUIT_SWAP,       /**< src and dst exchange contents */
    HG_CIRCUIT_MERGE,      /**< dst = src VARIANT context */
    HG_CIRCUIT_SPLIT,      /**< dst = src VARIANT context */
    HG_CIRCUIT_MARK_RANGE, /**< of every class src … dst, inclusive, src < dst */
    HG_CIRCUIT_QUOTE_RANGE,
    HG_CIRCUIT_EVALUATE_RANGE,
    HG_CIRCUIT_MERGE_RANGE, /**< c = c VARIANT c for every class src … dst, inclusive */
    HG_CIRCUIT_REDUCE_SUM,  /**< dst[0] = sum of the first n elements of src, by the fixed tree */
    HG_CIRCUIT_REDUCE_MIN,
    HG_CIRCUIT_REDUCE_MAX,
    /** dst[i] = exp(src[i] - max) / sum of these, over the first n elements; those that no lane has
       are left out */
    HG_CIRCUIT_SOFTMAX,
    HG_CIRCUIT_SCALE, /**< dst = src times a constant: n is its number, of hg_circuit_constant */
    HG_CIRCUIT_FMA,   /**< dst = src times context plus dst: floats rounded once, integers wrap */
    HG_CIRCUIT_KIND_COUNT
} hg_circuit_kind;

typedef enum hg_circuit_variant {
    HG_MERGE_ADD,
    HG_MERGE_MUL,
    HG_MERGE_MIN,
    HG_MERGE_MAX,
    HG_MERGE_ABS,
    HG_MERGE_EXP,
    HG_MERGE_LOG,
    HG_MERGE_SQRT,
    HG_MERGE_SIGMOID,
    HG_MERGE_TANH,
    HG_MERGE_GELU, /**< context is ignored */
    HG_SPLIT_SUB,
    HG_SPLIT_DIV,
    HG_CIRCUIT_VARIANT_COUNT
} hg_circuit_variant;

/** n of a reduction or softmax: as many elements as the launch has lanes. */
#define HG_CIRCUIT_LANES UINT32_MAX

/** One call of a generator. Fields that its kind does not name are ignored. */
typedef struct hg_circuit_call {
    uint8_t kind;    /**< hg_circuit_kind */
    uint8_t variant; /**< hg_circuit_variant of merges and splits */
    uint8_t src, context, dst;
    uint32_t n; /**< of a reduction 0 … the elements of a class (3,072 f32), or HG_CIRCUIT_LANES; of
                   a scaling its constant */
} hg_circuit_call;

/* ---- circuits ---- */

/** A parsed or compiled circuit. Not thread-safe while calls are appended. */
typedef struct hg_circuit hg_circuit;

/**
 * Reads the text by the grammar alone: print, json, words and bytes work on the result; it has no
 * calls. copy, swap, merge and split of a single class are allowed. The text need not end in NUL.
 * Messages of the grammar count positions in bytes from 0, diagnostics lines and columns from 1.
 * @param options      may be NULL: the defaults, all zero
 * @param diagnostics  receives every error; may be NULL
 * @return HG_OK and a circuit the caller destroys; HG_ERROR_ISA with the first error as
 * hg_last_error(), HG_ERROR_OUT_OF_MEMORY, HG_ERROR_INVALID_ARGUMENT
 */
HG_API hg_status hg_circuit_parse(const char *text, size_t length,
                                  const hg_circuit_options *options, hg_diagnostics *diagnostics,
                                  hg_circuit **circuit) HG_NODISCARD;
/** The same, and makes the list of calls. Errors of the grammar begin with "Parse error: ". */
HG_API hg_status hg_circuit_compile(const char *text, size_t length,
                                    const hg_circuit_options *options, hg_diagnostics *diagnostics,
                                    hg_circuit **circuit) HG_NODISCARD;
/** A circuit without text and calls, for hg_circuit_append. NULL when out of memory. */
HG_API hg_circuit *hg_circuit_create(void);
HG_API void hg_circuit_destroy(hg_circuit *circuit);
/** One more call behind the others, as it is: it is not canonicalised, and counts as one operation.
   The circuit is compiled or created.
    @return HG_ERROR_ISA for a class above 95, a range not rising, an n above 3,072: `Invalid
   src_class: 96 (must be < 96)` */
HG_API hg_status hg_circuit_append(hg_circuit *circuit, const hg_circuit_call *call) HG_NODISCARD;

/**
 * A constant for calls of HG_CIRCUIT_SCALE, as a program writes literals of the element type:
 * "0.5", "-3", "0x1p-4".
 * @param number  its number, for hg_circuit_call.n
 * @return HG_OK; HG_ERROR_ISA for no literal of that type; HG_ERROR_INVALID_ARGUMENT,
 * HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_circuit_constant(hg_circuit *circuit, const char *text,
                                     uint32_t *number) HG_NODISCARD;
/** Type of the elements of all classes of hg_circuit_create and of a text's circuit: before the
 * first call is appended. */
HG_API hg_status hg_circuit_set_type(hg_circuit *circuit, const char *type) HG_NODISCARD;
/** Elements of a type in a class, 12,288 bytes; 0 for no type. */
HG_API uint32_t hg_circuit_class_elements(hg_type type);

HG_API size_t hg_circuit_call_count(const hg_circuit *circuit);
/** The i-th call; NULL when i is not below the count. Valid until the next append. */
HG_API const hg_circuit_call *hg_circuit_call_at(const hg_circuit *circuit, size_t i);
/** "Mark", "MergeRange", …; NULL when out of range. Static. */
HG_API const char *hg_circuit_kind_name(uint32_t kind);
/** "add", …, "div"; NULL when out of range. Static. */
HG_API const char *hg_circuit_variant_name(uint32_t variant);

/** The text as given, and its canonical form, without appended calls. Owned by the circuit;
 * NUL-terminated; empty where there is none. */
HG_API const char *hg_circuit_original_expr(const hg_circuit *circuit);
HG_API const char *hg_circuit_canonical_expr(const hg_circuit *circuit);
/** Operations written, at every depth, and operations of the canonical form. A group is as many as
 * it holds, not one: taking its parentheses away, which canonicalising does first, never makes more
 * of them. */
HG_API uint64_t hg_circuit_original_ops(const hg_circuit *circuit);
HG_API uint64_t hg_circuit_canonical_ops(const hg_circuit *circuit);
/** 100·(1 - canonical/original), 0 when original is 0. */
HG_API float hg_circuit_reduction_pct(const hg_circuit *circuit);

/** How a circuit uses a class: bits. */
enum {
    HG_CLASS_NAMED = 1,  /**< some call names it */
    HG_CLASS_READ = 2,   /**< an input: contents from before the run reach a result */
    HG_CLASS_WRITTEN = 4 /**< an output */
};
/** Bits of every class, for all calls in order; those that canonicalisation removed count too. */
HG_API void hg_circuit_class_use(const hg_circuit *circuit, uint8_t use[HG_CIRCUIT_CLASSES]);
/** Not 0: a call reduces over a class, so longer arrays cannot go through it piece by piece. */
HG_API int hg_circuit_is_whole_array(const hg_circuit *circuit);

/* ---- back ends of parsed circuits (6.8): the caller frees texts with hg_string_free ---- */

/** Canonical text, one line without its end. Parsing it and printing again gives the same. */
HG_API hg_status hg_circuit_print(const hg_circuit *circuit, char **text,
                                  size_t *length) HG_NODISCARD;
/** The syntax tree as one JSON object. */
HG_API hg_status hg_circuit_json(const hg_circuit *circuit, char **text,
                                 size_t *length) HG_NODISCARD;
/** Words of the operational back end, one a line. Sequences go last term first. */
HG_API hg_status hg_circuit_words(const hg_circuit *circuit, char **text,
                                  size_t *length) HG_NODISCARD;

/** One class of the text, transforms applied. */
typedef struct hg_circuit_byte {
    uint8_t cls, byte; /**< canonical byte */
    int16_t page;      /**< -1: none given */
    int32_t address;   /**< page·256 + byte, -1 without page */
} hg_circuit_byte;
/** Every class in order of appearance; ranges give each member. The caller frees with
 * hg_string_free((char *)*bytes). */
HG_API hg_status hg_circuit_bytes(const hg_circuit *circuit, hg_circuit_byte **bytes,
                                  size_t *count) HG_NODISCARD;

/* ---- translation to ISA (6.10) ---- */

/** A program with the record of where it came from. Zero-initialise; hg_translated_program_release
 * frees what it holds. */
typedef struct hg_translated_program {
    size_t size;         /**< sizeof(hg_translated_program), set by the caller */
    hg_program *program; /**< hg_program_retain it to keep it longer */
    uint64_t original_ops, canonical_ops;
    float reduction_pct;
    char *original_expr, *canonical_expr;
    uint8_t class_use[HG_CIRCUIT_CLASSES]; /**< hg_circuit_class_use */
    int whole_array;                       /**< hg_circuit_is_whole_array */
    uint64_t element_type;                 /**< hg_type of the elements */
} hg_translated_program;

/**
 * Parses, compiles and lowers a circuit: calls left to right, in one program without parameters.
 * @return as hg_circuit_compile
 * Thread-safe.
 */
HG_API hg_status hg_circuit_to_isa_translate(const char *text, size_t length,
                                             const hg_circuit_options *options,
                                             hg_diagnostics *diagnostics,
                                             hg_translated_program *translated) HG_NODISCARD;
/** Lowers the calls of a compiled circuit. */
HG_API hg_status hg_circuit_to_isa(const hg_circuit *circuit, const hg_circuit_options *options,
                                   hg_translated_program *translated) HG_NODISCARD;
HG_API void hg_translated_program_release(hg_translated_program *translated);

#ifdef __cplusplus
}
#endif
#endif

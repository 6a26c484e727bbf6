/* Programs: assembling, reading, writing, verifying, inspecting. Programs are immutable and
 * reference counted. */
#ifndef HOLOGRAM_PROGRAM_H
#define HOLOGRAM_PROGRAM_H

#include <hologram/diagnostics.h>
#include <hologram/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hg_program hg_program;

/** What a parameter is. A scratch is a buffer that each launch makes, zeros when it begins; a data
 * is a table that travels with the program. Nobody sets those two. */
typedef enum hg_param_kind {
    HG_PARAM_SCALAR,
    HG_PARAM_BUFFER,
    HG_PARAM_POOL,
    HG_PARAM_SCRATCH,
    HG_PARAM_DATA
} hg_param_kind;
/** Whether lanes read a buffer, write it, or both. */
enum { HG_PARAM_IN = 1, HG_PARAM_OUT = 2, HG_PARAM_INOUT = 3 };

/**
 * Assembles .atlas text (language.md). The text need not end in NUL.
 * @param diagnostics  receives every error and warning; may be NULL
 * @return HG_OK and a program the caller releases; HG_ERROR_ISA with the first error as
 * hg_last_error(), HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_program_assemble(const char *text, size_t length, hg_diagnostics *diagnostics,
                                     hg_program **program) HG_NODISCARD;

/** A file that a program text names, as a resolver gives it. */
typedef struct hg_source {
    size_t size;      /**< sizeof(hg_source) of the library */
    const char *name; /**< for messages, and the same for the same file: by it a file that includes
                         itself is found */
    const void *bytes;
    size_t length;
    void *owner; /**< the resolver's own */
} hg_source;

/** How a text is assembled. Zero it, set size to sizeof(hg_assemble_options), then what is wanted.
 */
typedef struct hg_assemble_options {
    size_t size;
    const char *const *defines; /**< "NAME=VALUE": the `.const` of that name has this value; NAME
                                   alone is 1 */
    size_t define_count;
    const char *program;     /**< which `.program` of the text; NULL: the only one */
    const char *source_name; /**< what the text is called, for `resolve`; may be NULL */
    /** Finds what `.include` and `.data` name; `from` is the name of the text that says so. NULL:
     * such lines are errors. */
    hg_status (*resolve)(void *user, const char *from, const char *name, hg_source *source);
    /** Called once for each file that was found, when its text is no longer needed. May be NULL. */
    void (*release)(void *user, hg_source *source);
    void *user;
} hg_assemble_options;

/**
 * hg_program_assemble with options. Strings are borrowed for the call.
 * @param options  NULL: none
 * @return as hg_program_assemble; D04 where a definition names no constant of the program,
 * HG_ERROR_INVALID_ARGUMENT for a bad structure
 * Thread-safe.
 */
HG_API hg_status hg_program_assemble_with(const char *text, size_t length,
                                          const hg_assemble_options *options,
                                          hg_diagnostics *diagnostics,
                                          hg_program **program) HG_NODISCARD;

enum { HG_PROGRAM_DEBUG = 1 }; /**< hg_program_encode: write the DEBUG section (asm -g) */

/** Reads an .atlasb container. Errors as hg_program_assemble, codes B01 … B08. The bytes are not
 * kept. Thread-safe. */
HG_API hg_status hg_program_decode(const void *bytes, size_t length, hg_diagnostics *diagnostics,
                                   hg_program **program) HG_NODISCARD;
/** Writes the canonical container. The caller frees *bytes with hg_string_free((char *)*bytes).
 * Thread-safe. */
HG_API hg_status hg_program_encode(const hg_program *program, uint32_t flags, uint8_t **bytes,
                                   size_t *length) HG_NODISCARD;
/** Canonical text; the caller frees it with hg_string_free. length may be NULL. Thread-safe. */
HG_API hg_status hg_program_print(const hg_program *program, char **text,
                                  size_t *length) HG_NODISCARD;
/**
 * The program as statements: if, while, loop and expressions where its jumps and its order of
 * instructions allow them, instructions and labels elsewhere. The text assembles to the same
 * instructions in the same order; registers may have other numbers.
 * @param text  the caller frees it with hg_string_free
 * @param length  may be NULL
 * @return HG_OK, HG_ERROR_ISA where the program does not verify, HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_program_print_structured(const hg_program *program, char **text,
                                             size_t *length) HG_NODISCARD;
/** Checks everything that can be known before running, with the signature of the .param lines.
 * Thread-safe. */
HG_API hg_status hg_program_verify(const hg_program *program,
                                   hg_diagnostics *diagnostics) HG_NODISCARD;

/**
 * A named kernel: a program of the library that makes the elements of an array from those of
 * others, for every backend. They are called atlas_add_f32 … atlas_fill_f32 (hg_kernel_name lists
 * them, the command `hologram kernels` too). Parameters: a, b, c (in) and the last array (out) with
 * n elements each, of atlas_memcpy n bytes; of atlas_fill_f32 the scalar `value` in place of
 * inputs.
 * @return HG_OK and a verified program that the caller releases; HG_ERROR_INVALID_ARGUMENT for any
 * other name; HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_kernel_by_name(const char *name, hg_program **program) HG_NODISCARD;
/** Name of the i-th named kernel; NULL when there is none. Static. Thread-safe. */
HG_API const char *hg_kernel_name(uint32_t index);
/** What it does in a line: "c = a + b"; NULL when there is none. Static. Thread-safe. */
HG_API const char *hg_kernel_about(uint32_t index);

/** One more owner. Thread-safe. Returns program. */
HG_API hg_program *hg_program_retain(hg_program *program);
/** One owner less; the last frees it. NULL is allowed. Thread-safe. */
HG_API void hg_program_release(hg_program *program);

HG_API const char *hg_program_name(const hg_program *program);
/** Number of instructions. */
HG_API size_t hg_program_len(const hg_program *program);
/** BLAKE3 of code, parameters and launch defaults (language.md 7); names and metadata do not change
 * it. 32 bytes. */
HG_API const uint8_t *hg_program_hash(const hg_program *program);
/** Parameters that a caller sets. A .scratch is none, nor is a .data. */
HG_API size_t hg_program_param_count(const hg_program *program);
/** Name of the i-th parameter; NULL when i is not below the count. Owned by the program. */
HG_API const char *hg_program_param_name(const hg_program *program, size_t i);
/** Value of a metadata key, NULL when absent. Owned by the program; NUL-terminated. */
HG_API const char *hg_program_meta(const hg_program *program, const char *key);

#ifdef __cplusplus
}
#endif
#endif

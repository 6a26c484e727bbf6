/* JSON kernels to programs: documents that compilers of other languages write
 * (docs/reference/json-kernel.md). */
#ifndef HOLOGRAM_JSON_KERNEL_H
#define HOLOGRAM_JSON_KERNEL_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Translates a document that holds one kernel: the object itself, or an array with one of it.
 * Parameters bind by name; an array's direction follows from its use (only loaded: in, only stored:
 * out, both: inout). A kernel without a body is translated by its name.
 * @param text         UTF-8, need not end in NUL
 * @param diagnostics  receives every error with line and column; may be NULL
 * @return HG_OK and a program the caller releases; HG_ERROR_ISA with the first error as
 * hg_last_error(), HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_json_to_isa_translate(const char *text, size_t length,
                                          hg_diagnostics *diagnostics,
                                          hg_program **program) HG_NODISCARD;

/** The same for the kernel of that name in an array of documents (or the only document). kernel
 * NULL: hg_json_to_isa_translate. */
HG_API hg_status hg_json_to_isa_translate_named(const char *text, size_t length, const char *kernel,
                                                hg_diagnostics *diagnostics,
                                                hg_program **program) HG_NODISCARD;

/**
 * Translates every kernel of a document in its order.
 * @param programs  receives an array of *count programs that the caller frees with
 * hg_json_programs_free; NULL after an error
 * @return as hg_json_to_isa_translate; one kernel that fails fails all
 */
HG_API hg_status hg_json_to_isa_translate_all(const char *text, size_t length,
                                              hg_diagnostics *diagnostics, hg_program ***programs,
                                              size_t *count) HG_NODISCARD;
/** Releases the programs and frees the array. NULL is allowed. */
HG_API void hg_json_programs_free(hg_program **programs, size_t count);

/**
 * The program of an element-wise operation by its name: add sub mul div min max (parameters a, b,
 * out, n), sigmoid tanh exp log sin cos abs neg relu (parameters x, out, n), all arrays of `type`,
 * n u64. One lane an element; lanes from n on do nothing.
 * @return HG_OK and a program the caller releases; HG_ERROR_ISA for another name or a type the
 * operation does not have
 * Thread-safe.
 */
HG_API hg_status hg_json_to_isa_translate_simple_op(const char *operation, hg_type type,
                                                    hg_program **program) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

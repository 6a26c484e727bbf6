/* Emission: what a program is lowered to, as text or bytes of a target language, without any device
 * (compile_to_spirv, compile_to_opencl_c). `hologram emit` is a command over this. */
#ifndef HOLOGRAM_EMIT_H
#define HOLOGRAM_EMIT_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A target. Owned by the library and constant. */
typedef struct hg_emit_target {
    size_t size;        /**< sizeof(hg_emit_target) of the library */
    const char *name;   /**< "opencl", "spirv", "spirv-asm", "c", "vector", "kir" */
    const char *suffix; /**< of a file with the output, without the dot */
    const char *about;  /**< what it is, in a line */
    const char *caps; /**< devices whose capabilities it is made for, with blanks between them, the
                         first unless another is asked for; "": none */
    bool binary;      /**< bytes; else text */
    uint8_t reserved[7]; /**< never used */
} hg_emit_target;
/** The targets one after another; NULL when index is not below their number. Thread-safe. */
HG_API const hg_emit_target *hg_emit_target_get(size_t index);

typedef enum hg_emit_form {
    HG_EMIT_FORM_CHOSEN, /**< as a launch would choose */
    HG_EMIT_FORM_FLAT,   /**< a work-item for each lane, blocks are only numbers */
    HG_EMIT_FORM_BLOCK   /**< a work-group for each block */
} hg_emit_form;

/** What may be chosen. Zero, but for the size, is what `hologram emit` does without options. */
typedef struct hg_emit_options {
    size_t size;       /**< sizeof(hg_emit_options) */
    const char *caps;  /**< device whose capabilities the code may use: "pocl", "lavapipe",
                          "swiftshader" (or "poor"), "cpu"; NULL: the  target's own. Borrowed for the
                          call. Not for target "c" */
    hg_emit_form form; /**< a form, a group or a fold given with target "kir" shows kernels in
                          device form. Not for target "c" */
    uint32_t fold;     /**< lanes of one work-item; 0: 1 */
    uint32_t group[3]; /**< work-items of a work-group; 0, 0, 0: the program's block, else the usual
                          one */
    uint32_t kernel;   /**< with one_kernel: its number, from 0 */
    bool one_kernel; /**< only the kernel of that number; of target "kir" with a form. A module of a
                        device holds one: "spirv" needs it for a program with several kernels */
    bool large;      /**< launches of 2^32 lanes and more */
    bool proven;     /**< bounds were checked before */
    bool whole_blocks; /**< no partial block at the end */
    bool no_addresses; /**< a device without addresses of buffers */
    bool debug;        /**< names and source lines in binary targets */
    bool verify;       /**< check the rules of kernel IR after every pass */
    bool at_origin;    /**< one dispatch is the whole launch */
} hg_emit_options;

/**
 * Verifies and lowers a program for a target and returns what comes out.
 *
 * @param target   a name of hg_emit_target_get
 * @param options  NULL: as if zero
 * @param output   receives the text, which ends in NUL, or the bytes; the caller frees it with
 * hg_string_free. Untouched after a failure
 * @param length   receives its bytes, without the NUL; may be NULL
 * @return HG_OK; HG_ERROR_ISA (the program does not verify), HG_ERROR_INVALID_ARGUMENT (NULL, no
 * such target, options that do not go with it: the message names the field), HG_ERROR_OUT_OF_MEMORY
 * Thread-safe. The text is not promised to stay the same from release to release.
 */
HG_API hg_status hg_program_emit(const hg_program *program, const char *target,
                                 const hg_emit_options *options, char **output,
                                 size_t *length) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

/* Emitters: kernel IR to text of a target language. Must not know: devices, drivers, threads. */
#ifndef HG_EMIT_EMIT_H
#define HG_EMIT_EMIT_H

#include "kir/device/device.h"

typedef enum emit_dialect { EMIT_C } emit_dialect; /* OpenCL C, CUDA, HIP, MSL to come */

/* A self-contained translation unit with every kernel given (of different names): readable, structured, commented with the source
 * instructions, compiled without warnings. about: lines for the comment at its top, each ending in a newline; may be "".
 * Requires: modules legalised for the dialect's caps (emit_c_caps). */
void emit_c_caps(kir_caps *caps);
hg_status emit_c(const kir_module *const *kernels, uint32_t count, const char *about, emit_dialect dialect, hg_text *out) HG_NODISCARD;
/* One pure function as a `static inline` C function named name (used by tools/gen_tiles; calls other definitions by name too). */
hg_status emit_c_function(const kir_function *f, const char *name, hg_text *out) HG_NODISCARD;
/* The same without its rare branches, so that loops around it vectorise: a further parameter `uint32_t *rare` becomes non-zero where
 * a branch would have been taken; the result counts only where it stays as it is. *has_branches: false when there are none (and no
 * such parameter). HG_ERROR_ISA when a branch has an else part or there is a loop outside of branches. */
hg_status emit_c_function_common(const kir_function *f, const char *name, hg_text *out, bool *has_branches) HG_NODISCARD;

/* A kernel in device form as OpenCL C 1.2, self-contained, readable, structured, compiled without warnings. The kernel function is
 * named after the module (emit_kernel_name); its parameters are `__global uchar *` one for each slot of the module, in order, then (when
 * the layout needs group memory) `__local ulong *`, then the record. about: as for emit_c. The group of a folded kernel and the whole
 * dispatch of a FLAT one must be numbered in the first dimension alone. */
typedef enum emit_record {
    EMIT_RECORD_NONE /* nothing in it: no parameter */,
    EMIT_RECORD_VALUE /* a struct by value */,
    EMIT_RECORD_BUFFER /* `__global const` pointer: too large for the parameters of a device */
} emit_record;
emit_record emit_opencl_record(const kir_module *kernel, const kir_device_layout *layout);
hg_status emit_opencl(const kir_module *kernel, const kir_device_layout *layout, const char *about, hg_text *out) HG_NODISCARD;
/* The module's name as an identifier of the target language. */
void emit_kernel_name(const kir_module *module, char name[96]);

/* SPIR-V 1.5 (Vulkan 1.2) words, added to out; on failure out is as before. The entry point is "main". Group memory may be reached by 1, 2
 * (loads only), 4 and 8 bytes, atomically by 4; the group of a folded kernel is numbered in the first dimension, that of a FLAT one and
 * its dispatch in all three. BASE fields are multiples of 8. Words do not depend on the compiler of this library, only on the module. */
typedef struct emit_spirv_options {
    kir_caps caps;            /* capabilities to declare: i8 i16 i64 f64 only where the device has them */
    kir_device_target target; /* addressed: slots by device address out of the record; else storage buffers, set 0, binding = slot */
    bool record_is_pushed;    /* the record is the push constant block; else the block is the record's address (addressed) or the record
                                 is storage buffer binding = number of slots */
    bool float_controls_rte[2], float_controls_preserve[2], float_controls_inf_nan[2]; /* f32, f64: execution modes the device offers */
    bool no_fences;        /* the device's compiler takes a memory barrier for a control barrier, and keeps the order of atomics anyway */
    uint32_t group[3];     /* LocalSize */
    uint64_t group_memory; /* bytes */
    bool debug;            /* OpName, OpLine with source instructions */
} emit_spirv_options;
typedef HG_VEC(uint32_t) emit_words;
hg_status emit_spirv(const kir_module *kernel, const kir_device_layout *layout, const emit_spirv_options *options,
                     emit_words *out) HG_NODISCARD;
/* Assembly text of any module that emit_spirv writes, as `spirv-as` reads it. */
hg_status emit_spirv_text(const uint32_t *words, uint64_t count, const char *about, hg_text *out) HG_NODISCARD;

#endif

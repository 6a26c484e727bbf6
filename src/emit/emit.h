/* Emitters: kernel IR to text of a target language. Must not know: devices, drivers, threads. */
#ifndef HG_EMIT_EMIT_H
#define HG_EMIT_EMIT_H

#include "kir/device/device.h"
#include "vector/vector.h"

/* A self-contained translation unit with every kernel given (of different names): readable,
 * structured, commented with the source instructions, compiled without warnings. about: lines for
 * the comment at its top, each ending in a newline; may be "".
 * Requires: modules legalised for emit_c_caps. */
void emit_c_caps(kir_caps *caps);
hg_status emit_c(const kir_module *const *kernels, uint32_t count, const char *about,
                 hg_text *out) HG_NODISCARD;
/* One pure function as a `static inline` C function named name (used by tools/gen_tiles; calls
 * other definitions by name too). */
hg_status emit_c_function(const kir_function *f, const char *name, hg_text *out) HG_NODISCARD;
/* The same without its rare branches, so that loops around it vectorise: a further parameter
 * `uint32_t *rare` becomes non-zero where a branch would have been taken; the result counts only
 * where it stays as it is. *has_branches: false when there are none (and no such parameter).
 * HG_ERROR_ISA when a branch has an else part or there is a loop outside of branches. */
hg_status emit_c_function_common(const kir_function *f, const char *name, hg_text *out,
                                 bool *has_branches) HG_NODISCARD;

/* A kernel in device form in a language of the C family, self-contained, readable, structured,
 * compiled without warnings. The kernel function is named after the module (emit_kernel_name). Its
 * parameters: a pointer for each slot of the module, in order (none where slots are addresses in
 * the record), then group memory when the layout needs it and the language passes it, then the
 * record. about: as for emit_c. The group of a folded kernel and the whole dispatch of a FLAT one
 * must be numbered in the first dimension alone. */
typedef struct c_dialect c_dialect;
#define EMITTER(name, suffix, output, form, caps, print, about)
#define DIALECT(name, suffix, caps, about) extern const c_dialect emit_##name##_dialect;
#include "emit/emitters.def"
typedef enum emit_record {
    EMIT_RECORD_NONE /* nothing in it: no parameter */,
    EMIT_RECORD_VALUE /* a struct by value */,
    EMIT_RECORD_BUFFER /* a pointer to constant memory: too large for the parameters of a device */
} emit_record;
emit_record emit_device_c_record(const c_dialect *dialect, const kir_module *kernel,
                                 const kir_device_layout *layout);
hg_status emit_device_c(const c_dialect *dialect, const kir_module *kernel,
                        const kir_device_layout *layout, const char *about,
                        hg_text *out) HG_NODISCARD;
/* The module's name as an identifier of the target language. */
void emit_kernel_name(const kir_module *module, char name[96]);

/* Kernels of different names in vector form as C with vector extensions of gcc and clang, over
 * <hologram/vector.h>: for machines with native vectors of vector_bytes (16, 32, 64). void
 * NAME(hgv_launch *, uint64_t begin, uint64_t end) runs the lanes from begin to end - 1. All have
 * the same number of lanes a turn, at most 64, which fill a native vector of f32 at the least. */
hg_status emit_vector_c(vec_kernel *const *kernels, uint32_t count, uint32_t vector_bytes,
                        const char *about, hg_text *out) HG_NODISCARD;
/* The same without the lines at the top, as static functions of these names. */
hg_status emit_vector_c_local(vec_kernel *const *kernels, const char *const *names, uint32_t count,
                              uint32_t vector_bytes, hg_text *out) HG_NODISCARD;

/* Kernels in vector form as a module of WebAssembly with SIMD (128-bit vectors; none of relaxed
 * SIMD), added to out. It exports a function for each kernel, under these names or, NULL, the
 * kernels' own, and imports what a C program for wasm32 has: env.memory,
 * env.__indirect_function_table, env.__stack_pointer, env.__memory_base, where the module's
 * constant data comes to lie (section dylink.0 says its size). A function (launch, begin, end) of
 * i32, i64, i64 runs lanes from begin, a multiple of the lanes of a turn, to end - 1, over an
 * hgv_launch of <hologram/vector.h> as clang lays it out for wasm32. about: a text in a section of
 * its own; may be "". HG_ERROR_ISA: a kernel has what this printer has not. Text of such bytes:
 * emit_wasm_text. */
void emit_wasm_caps(kir_caps *caps); /* what kernels may have */
hg_status emit_wasm(vec_kernel *const *kernels, uint32_t count, const char *const *names,
                    const char *about, hg_text *out) HG_NODISCARD;
/* The same as a module that stands alone: it imports nothing, and exports its memory and what
 * `more` adds, which is called when the kernels' functions are there, and says where the stack,
 * data and the memory's own part end (wasm_module.h). */
struct wasm_module;
typedef struct emit_wasm_made {
    uint32_t function;
    uint64_t frame_bytes, turn_bytes; /* a call, and each turn of a block, takes of memory */
} emit_wasm_made;
typedef hg_status emit_wasm_more(void *user, struct wasm_module *m, const emit_wasm_made *made);
hg_status emit_wasm_alone(vec_kernel *const *kernels, uint32_t count, const char *const *names,
                          emit_wasm_more *more, void *user, const char *about,
                          hg_text *out) HG_NODISCARD;
void emit_wasm_text(const hg_text *bytes, const char *about, hg_text *out);
/* Lanes of a turn in modules of `hologram emit`, and in those of a host unless a kernel is better
 * off with others. */
enum { EMIT_WASM_LANES = 8, EMIT_WASM_BYTES = 16 };

/* SPIR-V 1.5 (Vulkan 1.2) words, added to out; on failure out is as before. The entry point is
 * "main". Group memory may be reached by 1, 2 (loads only), 4 and 8 bytes, atomically by 4; the
 * group of a folded kernel is numbered in the first dimension, that of a FLAT one and its dispatch
 * in all three. BASE fields are multiples of 8. Words do not depend on the compiler of this
 * library, only on the module. */
typedef struct emit_spirv_options {
    kir_caps caps; /* capabilities to declare: i8 i16 i64 f64 only where the device has them */
    kir_device_target target; /* addressed: slots by device address out of the record; else storage
                                 buffers, set 0, binding = slot */
    bool record_is_pushed; /* the record is the push constant block; else the block is the record's
                              address (addressed) or the record is storage buffer binding = number
                              of slots */
    bool float_controls_rte[2], float_controls_preserve[2], float_controls_inf_nan[2]; /* f32, f64:
                                                                                          execution
                                                                                          modes the
                                                                                          device
                                                                                          offers */
    bool no_fences; /* the device's compiler takes a memory barrier for a control barrier, and keeps
                       the order of atomics anyway */
    uint32_t group[3];     /* LocalSize */
    uint64_t group_memory; /* bytes */
    bool debug;            /* OpName, OpLine with source instructions */
} emit_spirv_options;
typedef HG_VEC(uint32_t) emit_words;
hg_status emit_spirv(const kir_module *kernel, const kir_device_layout *layout,
                     const emit_spirv_options *options, emit_words *out) HG_NODISCARD;
/* Assembly text of any module that emit_spirv writes, as `spirv-as` reads it. */
hg_status emit_spirv_text(const uint32_t *words, uint64_t count, const char *about,
                          hg_text *out) HG_NODISCARD;

/* WGSL of a kernel in device form of words alone (target.whole_atomics and shown_uniform; no 64-bit
 * numbers, no addresses), accepted without warnings. The entry point is "main". Group 0 has a
 * storage buffer, read_write, for each binding of the layout, then the record as a uniform buffer,
 * whose number is the count of bindings; a record of no bytes has none. All of them may be missing
 * from the code: bind group layouts are made by the layout, never by the shader. Groups are
 * numbered in all three dimensions. What the device gets wrong is in the caps that the module was
 * lowered for; the text relies on nothing else that WGSL leaves open. about: as for emit_c. */
typedef struct emit_wgsl_options {
    uint32_t group[3];     /* workgroup_size */
    uint64_t group_memory; /* bytes */
    bool f16;              /* the text may enable it */
} emit_wgsl_options;
hg_status emit_wgsl(const kir_module *kernel, const kir_device_layout *layout,
                    const emit_wgsl_options *options, const char *about, hg_text *out) HG_NODISCARD;

/* ---- emitters.c: the targets of `hologram emit`, one row each in emitters.def ---- */

typedef enum emit_form {
    EMIT_PROGRAM, /* the program's kernel IR before it is lowered; a device form when options ask
                     for one */
    EMIT_LANES,   /* kernels legalised for emit_c_caps, all in one text */
    EMIT_DEVICE,  /* kernels in device form, each on its own */
    EMIT_GRAPH    /* the program as the array graph that it is: print is NULL (stablehlo/graph.h) */
} emit_form;

/* What is printed: the module, or modules (EMIT_LANES). layout, caps, target, group: of a device
 * form. */
typedef struct emit_input {
    const kir_module *const *kernels;
    uint32_t count;
    const kir_device_layout *layout;
    const kir_caps *caps;
    const kir_device_target *target;
    uint32_t group[3];
    uint64_t group_memory; /* bytes */
    bool debug;            /* names and source lines where the output can have or lack them */
    const char *about;     /* lines for a comment at the top */
} emit_input;

typedef struct emitter emitter;
struct emitter {
    const char *name, *suffix; /* of the target; of a file with its output, without the dot */
    bool binary;
    bool foreign;     /* text of a compiler that is not ours */
    uint8_t form;     /* emit_form */
    const char *caps; /* names of capability sets, with blanks between them; the first is the
                         default */
    hg_status (*print)(const emitter *row, const emit_input *in, hg_text *out);
    const c_dialect *dialect; /* of print, where that is for languages of the C family */
    const char *about;        /* what it is, in a line */
};
const emitter *emitter_get(uint32_t index); /* NULL past the last */
const emitter *emitter_find(const char *name);
bool emitter_by_address(const emitter *row); /* kernels of this target find memory by addresses in
                                                the record, never by bindings */

#endif

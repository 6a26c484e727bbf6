/* What libhologram_jit.so offers: one function by name, which returns a table. The module is opened
 * only when a kernel is to be compiled; the library never links to it, and does without where it is
 * missing.
 *
 * Must not know: devices, caches, the runtime, how objects are loaded. */
#ifndef HG_JIT_JIT_H
#define HG_JIT_JIT_H

#include "base/patience.h"
#include "vector/vector.h"

/* Of the interface, and (HG_JIT_SEAM, by CMake) of what both sides read: a module of another build
 * is refused before it misreads a kernel. */
#ifndef HG_JIT_SEAM
#define HG_JIT_SEAM 0
#endif
enum { HG_JIT_VERSION = 1 << 24 | HG_JIT_SEAM };
enum {
    HG_JIT_MOST_FRAME = 65536
}; /* bytes of its caller's stack that a call of an object takes at the most */
#define HG_JIT_ENTRY "hologram_jit" /* the function's name */
#define HG_JIT_KERNEL                                                                            \
    "hologram_kernel" /* the one global symbol of an object: void (hgv_launch *, uint64_t begin, \
                         uint64_t end) */

typedef struct hg_jit_options {
    uint32_t bytes;  /* of a native vector: 16, 32, 64 */
    const char *cpu; /* "x86-64", "x86-64-v3", "x86-64-v4": LLVM's names */
    bool dot4;       /* the CPU has AVX-512 VNNI, with v4: kernels may have DOT4_S and DOT4_U */
    bool vbmi;       /* it has AVX-512 VBMI, with v4: bytes of two registers are picked at once */
} hg_jit_options;

typedef struct hg_jit_object {
    uint8_t *bytes; /* freed with release */
    uint64_t size;
    uint32_t frame; /* bytes of the stack that a call takes, as the compiler reports them; 0: it
                       reports none */
} hg_jit_object;

typedef struct hg_jit_table {
    uint32_t version;     /* HG_JIT_VERSION */
    const char *compiler; /* "LLVM 19.1.7": part of keys of caches */
    /* One kernel as an ELF relocatable object of the machine the module runs on, with the global
     * symbol HG_JIT_KERNEL; undefined are only symbols of HG_JIT_SYMBOLS and HG_JIT_HELPERS. From
     * any thread, with little stack; writes ids and counts of uses in the kernel. HG_ERROR_ISA: the
     * kernel has what the module cannot print, or its code would take more than HG_JIT_MOST_FRAME;
     * `reason` says what (of every error). HG_ERROR_WOULD_BLOCK: patience (NULL: there is no end of
     * it) was over first, and the compiler is left alone. The kernel and its module are its own
     * then: it destroys them when it is done, and nobody sees what it makes. The process may end
     * meanwhile. */
    hg_status (*compile)(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]);
    void (*release)(uint8_t *bytes);
    uint32_t (*at_work)(void); /* compiles that go on, left alone or waited for; NULL: none is ever
                                  left alone */
} hg_jit_table;

/* NULL: the module is of another version. */
typedef const hg_jit_table *(*hg_jit_entry)(uint32_t version);

/* The functions of libc and libm that objects may call: where a level has no instruction for it.
 * X(name) */
#define HG_JIT_SYMBOLS(X) \
    X(memcpy)             \
    X(memmove) X(memset) X(fma) X(fmaf) X(floor) X(floorf) X(trunc) X(truncf) X(rint) X(rintf)

/* The functions of the library that objects may call (src/native/helpers.c). Types of the result
 * and the arguments: v none, p a pointer, w a word of 64 bits, i one of 32. `keeps`: leaves all
 * registers as they are but the result's and r11 (LLVM's preserve_allcc). X(name, keeps, types) */
#define HG_JIT_HELPERS(X)                 \
    X(hgv_go_on, true, "wpw")             \
    X(hgv_fault, true, "wppwp")           \
    X(hgv_check, true, "wpppwpwwww")      \
    X(hgv_check_open, false, "wppiwppww") \
    X(hgv_base, false, "ppwiip")          \
    X(hgv_coordinate, false, "ipiw")      \
    X(hgv_blocks, false, "vpwwpw")        \
    X(hgv_turns, false, "wpww")           \
    X(hgv_start_turns, false, "vppwwwww")

#endif

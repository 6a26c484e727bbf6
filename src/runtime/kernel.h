/* Kernels and executables: a program lowered, planned and compiled once for a backend.
 * Must not know: launches, parameters. */
#ifndef HG_RUNTIME_KERNEL_H
#define HG_RUNTIME_KERNEL_H

#include "code/code.h"
#include "isa/cfg.h"
#include "isa/program.h"
#include "kir/analysis/prove.h"
#include "plan/plan.h"

typedef struct hg_expansion hg_expansion; /* a compiled kernel of a whole-array step; expand.c */

/* A kernel: its code, and what launches must give it. */
typedef struct hg_kernel {
    hg_code_set *code;  /* owns the kernel's form of before legalisation too */
    kir_prover *prover; /* which launches in device form are checked with; NULL: they are not */
    uint32_t input_count, slot_count;
    kir_input *inputs;
    kir_slot *slots;
    bool has_open, uses_class;
    char name[64];       /* for profiles; cut */
    uint32_t first_inst; /* of the source, + 1; 0: none */
} hg_kernel;

/* ---- tables.c ---- */
typedef struct hg_tables hg_tables;
/* The buffers of a program's tables on the backend, made and filled when first asked for; NULL
 * where it has none. */
hg_status hg_tables_get(hg_backend *b, const hg_program *program, hg_tables **tables) HG_NODISCARD;
void hg_tables_release(hg_backend *b, hg_tables *tables);
uint64_t hg_tables_handle(const hg_tables *tables, uint32_t number); /* of the number-th .data */
/* Whether the device has their bytes: else a run copies them there first, and notes it when it is
 * over. */
bool hg_tables_are_filled(const hg_tables *tables);
void hg_tables_note_filled(hg_tables *tables);

struct hg_executable {
    hg_backend *backend;
    hg_program *program;
    hg_tables *tables; /* NULL: the program has none */
    hg_plan *plan;     /* its kernels' modules are gone: code, steps, env stay */
    hg_kernel *kernels;
    uint32_t kernel_count;
    hg_expansion *chains; /* kernels of several steps (chain.h); under the backend's expansion_lock
                           */
    uint64_t max_steps;
    bool uses_barrier, uses_shared;
    uint32_t block_bytes; /* of shared memory that operations of the block need for each of its
                             lanes */
    bool uses_state, writes_state; /* phases and accumulators of the context; their pending part */
    bool moves_pools; /* allocates under ids of its own or frees: pools are looked up at each use */
    hg_signature signature; /* registers set at launch */
    uint32_t references;    /* atomic: creator, bindings, cache */
};

/* ---- executable_cache.c ---- */
/* From the cache, or made and put there. Retained. timeout_ms: F08 where making it takes longer; 0:
 * none. */
hg_status hg_executable_get(hg_backend *b, const hg_program *program, const hg_signature *signature,
                            uint64_t max_steps, uint64_t timeout_ms,
                            hg_executable **executable) HG_NODISCARD;
uint32_t hg_executables_kept(const hg_backend *b); /* by the cache alone */
void hg_executables_forget(hg_backend *b);         /* the cache lets go of all */

/* ---- executable.c ----
 * deadline_ns: F08 where lowering is not over by then; 0: none. */
hg_status hg_executable_make(hg_backend *b, const hg_program *program,
                             const hg_signature *signature, uint64_t max_steps,
                             uint64_t deadline_ns, hg_executable **executable) HG_NODISCARD;
hg_executable *hg_executable_retain(hg_executable *e);
/* The kernels of its plan, whose modules go. After a failure hg_executable_destroy frees what there
 * is. */
hg_status hg_executable_compile(hg_backend *b, hg_executable *e, uint64_t deadline_ns) HG_NODISCARD;
/* ---- kernel.c ---- */
/* A kernel of a module, which it takes over, also after failure; code that any launch needs is
 * compiled. checked: launches are looked at for accesses that cannot leave their bounds; else the
 * accesses are unchecked, and its handles lead nowhere: launches give each memory a slot. The
 * caller frees *kernel (zero before) also after failure. */
hg_status hg_kernel_compile(hg_backend *b, kir_module *high, bool checked, uint64_t deadline_ns,
                            hg_kernel *kernel) HG_NODISCARD;
void hg_kernel_free(hg_kernel *kernel);

/* ---- expand.c: whole-array steps as kernels ---- */
void hg_expansions_free(hg_expansion **list);

#endif

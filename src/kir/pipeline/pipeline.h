/* The passes over kernel IR, run in the one order that pipeline.def states.
 * Must not know: devices by name, launches. */
#ifndef HG_KIR_PIPELINE_H
#define HG_KIR_PIPELINE_H

#include "base/patience.h"
#include "kir/build/build.h"
#include "kir/device/device.h"

typedef enum kir_stage {
    KIR_STAGE_PROGRAM,
    KIR_STAGE_KERNEL,
    KIR_STAGE_LEGAL,
    KIR_STAGE_LOW,
    KIR_STAGE_DEVICE,
    KIR_STAGE_COUNT
} kir_stage;
const char *kir_stage_name(kir_stage stage);

typedef enum kir_pass_id {
#define KIR_PASS(id, name, needs, gives, drops, what) KIR_PASS_##id,
#include "kir/pipeline/pipeline.def"
    KIR_PASS_COUNT
} kir_pass_id;

/* What a compilation is for. Fields that the stages run do not read may stay zero. Everything is
 * borrowed. */
typedef struct kir_compilation {
    const struct hg_cfg *program; /* PROGRAM */
    kir_build_options build;      /* PROGRAM */
    uint32_t max_slots; /* KERNEL: direct buffers that the target has; 0: no limit but the module's
                           own */
    const kir_caps *caps;             /* LEGAL */
    const kir_device_options *device; /* DEVICE */
    kir_device_layout *layout;        /* DEVICE: filled; the caller frees it, after a failure too */
    uint64_t deadline_ns;             /* F08 where a pass begins later; 0: none */
    const hg_patience *patience;      /* the same, and where it is stopped; NULL: none */
    bool verify; /* check the rules of kernel IR after each pass; debug builds always do */
    const struct kir_pass_watch *watch; /* called after each pass; NULL: not */
} kir_compilation;

/* A pass. Works in place, or writes a new module and leaves the one it was given as it was (but for
 * ids and scratch). */
typedef struct kir_pass {
    const char *name, *what;
    uint32_t needs, gives, drops; /* KIR_FACT_… */
    bool in_place; /* changes the module it is given; else it writes a new one, or none where
                      nothing is to be done. A new one may say itself what it kept of the facts that
                      are dropped as a rule */
    hg_status (*run)(const kir_compilation *c, kir_module *m, kir_module **made);
} kir_pass;
const kir_pass *kir_pass_get(kir_pass_id id);
/* By name; KIR_PASS_COUNT: no pass has that name. */
kir_pass_id kir_pass_find(const char *name);
/* Line index of the order, from 0; false: there are no more. */
bool kir_order_get(uint32_t index, kir_stage *stage, kir_pass_id *pass);

/* An observer: `after` is called when a pass is done, with the module as it left it and the time
 * that it took. */
typedef struct kir_pass_watch {
    void (*after)(void *user, kir_stage stage, const kir_pass *pass, const kir_module *m,
                  uint64_t ns);
    void *user;
} kir_pass_watch;

/* Runs one pass on *m, which it may replace. owned: the module that it replaces is freed.
 * HG_ERROR_INTERNAL where the module lacks a fact that the pass needs, or does not obey the rules
 * of kernel IR afterwards (verify). */
hg_status kir_pass_run(const kir_compilation *c, kir_stage stage, kir_pass_id id, kir_module **m,
                       bool *owned) HG_NODISCARD;

/* Runs the stages from first to last on a module. in: NULL for PROGRAM, which makes one; else
 * borrowed. Passes that work in place change it, and *out is it where no pass wrote a new one. A
 * new module is the caller's. After a failure *out is NULL and `in` is still the caller's. */
hg_status kir_pipeline_run(const kir_compilation *c, kir_stage first, kir_stage last,
                           kir_module *in, kir_module **out) HG_NODISCARD;

/* Stage LEGAL alone. */
static inline hg_status kir_legalise(const kir_module *in, const kir_caps *caps, kir_module **out) {
    return kir_pipeline_run(&(kir_compilation){.caps = caps}, KIR_STAGE_LEGAL, KIR_STAGE_LEGAL,
                            (kir_module *)(uintptr_t)in, out);
}

#endif

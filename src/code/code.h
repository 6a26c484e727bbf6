/* Compiled code of a kernel. Each kernel has one hg_code_set. Where the device takes no device
 * forms it has one code for all launches, which may get better while it runs (improve.c); else the
 * set returns code for a key: what the launch lets the code take for granted, how the buffers lie
 * to each other. Such code is made when a launch asks, never under a lock: a thread that asks for
 * other code of the kernel does not wait.
 * Must not know: programs, plans, handles, launches' memory, queues. */
#ifndef HG_CODE_CODE_H
#define HG_CODE_CODE_H

#include "base/fork.h"
#include "base/patience.h"
#include "base/thread.h"
#include "code/background.h"
#include "code/compiler.h"
#include "driver/driver.h"
#include "kir/analysis/prove.h"
#include "profile/profile.h"
#include <hologram/backend.h>

/* What a launch asks of code in device form. Bytes that do not count are zero: keys are compared as
 * memory. */
typedef struct hg_code_key {
    uint64_t group_memory; /* static groups, and kernels with shared memory or barriers; as group */
    uint64_t distinct;     /* kir_device_options.distinct; 0 where the device does not ask for it */
    uint32_t fold, group[3];
    uint8_t form, small, whole_blocks, at_origin, proven, shared_is_slot, bound, alone;
    /* target.bind_arenas, as in kir_device_options; open_arenas: how many open accesses reach. */
    uint8_t slot_arenas[KIR_BOUND_SLOTS], kind_arenas[KIR_SLOT_ARENA], open_arenas;
} hg_code_key;

/* A field of the launch record. */
typedef struct hg_code_field {
    kir_field field;
    uint32_t offset; /* in the record */
    uint8_t bytes;   /* 4 or 8 */
    bool paired;     /* 4 bytes of a value whose other half is a field too */
} hg_code_field;

/* Code in device form. */
typedef struct hg_code {
    hg_compile_job job; /* that makes what follows; the first field. Its lock is the set's */
    struct hg_code *next;
    hg_code_key key;
    uint32_t references; /* atomic: the kernel's list, the compiler's job, dispatches, bindings */
    struct hg_code_set *set;
    uint32_t group[3]; /* of the launch that asked first */
    uint64_t group_memory;
    int ready; /* atomic: the driver's compiler was seen to be through with the kernel */
    hg_driver_kernel *kernel;
    kir_device_layout layout;
    hg_code_field *fields;
    uint32_t field_count;
    kir_slot *slots;
    uint32_t slot_count;
    hg_arena messages; /* texts of the layout's sites */
} hg_code;

/* The code of one kernel. */
typedef struct hg_code_set {
    const hg_driver *driver;
    hg_device *device;
    const hg_device_caps *caps;
    hg_compiler *compiler; /* runs the driver's compiler; NULL: it runs where it is asked for */
    struct {               /* better code for all launches */
        hg_background *background; /* where better code is made; NULL: nowhere */
        hg_background_job job;     /* of it */
        int better;                /* hg_code_better; atomic */
        uint64_t improve_limit_ms;
        const struct hg_code_ear *ear; /* NULL: none */
    } improving;
    uint64_t input_count, slot_count;
    uint32_t references;  /* atomic: whoever created the set, jobs of the compiler, the background's
                             job */
    struct {              /* what it is made from */
        kir_module *high; /* before legalisation; NULL once nothing is made from it any more */
        kir_module *low;  /* legalised. What device forms are made from; else NULL once the code is
                             there */
        hg_program *program; /* what modules point to, for as long as jobs may read them; or NULL */
        char name[64];       /* of the kernel, cut */
    } form;
    hg_driver_kernel *kernel; /* the code for all launches; NULL: they ask with a key */
    int ready;                /* atomic: the driver's compiler was seen to be through with it */
    hg_mutex lock;
    hg_cond changed;
    hg_fork_lock forks;
    struct {            /* code in device form */
        hg_code *first; /* the last used first */
        uint32_t count;
    } keyed;
    hg_profile *profile;          /* NULL: off */
    bool verify;                  /* kernel IR after each pass */
    struct {                      /* what launches in device form want to know of the kernel */
        const kir_prover *prover; /* of the form before legalisation; its owner sets it. NULL: none
                                   */
        bool wants_blocks, needs_blocks;
        bool resumes; /* lanes leave a dispatch whose loops have too many rounds, and go on in the
                         next */
        bool plain_barriers; /* in the kernel's own sequence or loops there, and no lane can stop
                                where nothing leaves its bounds */
        bool bindable;       /* could be made for bindings: only 32-bit accesses to known slots */
        bool unbounded;      /* a loop or a call whose length nobody knows */
        bool cuts_loops; /* the device leaves loops by itself (target.max_rounds), and this kernel
                            may come so far */
    } facts;
    struct { /* what it does with memory, as far as slots are distinct: by bit, of the first 64
                slots */
        uint64_t read_slots, written_slots;
        bool uses_class, writes_class, has_open;
    } memory;
    struct {              /* of one lane */
        uint64_t work;    /* operations of one lane without loops */
        uint64_t atomics; /* of them */
        uint64_t lane_ps; /* measured: picoseconds a lane; 0: unknown. Atomic */
    } cost;
} hg_code_set;

/* Who is told what became of native code of kernels. */
typedef struct hg_code_ear {
    hg_code_listener *call; /* atomic; NULL: nobody */
    void *user;             /* set before */
} hg_code_ear;

typedef struct hg_code_options {
    const hg_driver *driver;
    hg_device *device;
    const hg_device_caps *caps;
    hg_compiler *compiler;     /* may be NULL */
    hg_background *background; /* may be NULL */
    hg_profile *profile;
    bool verify;
    bool by_slots; /* the kernel's handles lead nowhere: each memory that it names has a slot,
                      however few the device has */
    uint64_t deadline_ns;      /* of what hg_code_set_create lowers; 0: none */
    uint64_t improve_limit_ms; /* of better code; 0: none */
    const hg_code_ear *ear;    /* may be NULL */
} hg_code_options;

/* Takes `high` over on success; it is simplified and gets slots. Lowers it (set->low) and compiles
 * nothing. */
hg_status hg_code_set_create(const hg_code_options *options, kir_module *high,
                             hg_code_set **set) HG_NODISCARD;
void hg_code_set_destroy(hg_code_set *set);

/* Compiles the code now where it is one for all launches, and frees what no later launch can ask
 * for. keep_high: the caller goes on reading `high`. */
hg_status hg_code_ahead(hg_code_set *set, bool keep_high) HG_NODISCARD;

/* Whether the device wants better code of its kernels: then, after hg_code_ahead with keep_high,
 * hg_code_improve makes it at once or has it made when launches ask, and takes `high` over. */
bool hg_code_improves(const hg_code_set *set);
void hg_code_improve(hg_code_set *set);
/* Has it made now, on the background thread, whether launches ask or not. */
void hg_code_hurry(hg_code_set *set);
typedef enum hg_better { HG_BETTER_LATER, HG_BETTER_MADE, HG_BETTER_NEVER } hg_better;
hg_better hg_code_better(const hg_code_set *set);

static inline bool hg_code_in_device_form(const hg_code_set *set) {
    return set->caps->compiler.device_form;
}

/* Whether the code for all launches is there. FAILED: this thread's error says why. */
hg_code_state hg_code_look_at_all(hg_code_set *set);
/* Waits for it, where the host can wait. */
hg_status hg_code_await_all(hg_code_set *set) HG_NODISCARD;

/* The code of a key: found, or being made from now on. Retained; hg_code_release. It may be used
 * when it is READY: a run that needs it waits for it as for an event. Code that cannot be made is
 * FAILED for all who asked before that was known; who asks later has it made again. group,
 * group_memory: of the launch. */
hg_status hg_code_ask(hg_code_set *set, const hg_code_key *key, const uint32_t group[3],
                      uint64_t group_memory, hg_code **code) HG_NODISCARD;
hg_code_state hg_code_look(hg_code *code);           /* FAILED: this thread's error says why */
void hg_code_wait(hg_code *code, uint64_t until_ns); /* until it is not pending any more, or that
                                                        moment has come; where the host can wait */
/* The same at once, waited for: never pending. */
hg_status hg_code_get(hg_code_set *set, const hg_code_key *key, const uint32_t group[3],
                      uint64_t group_memory, hg_code **code) HG_NODISCARD;

/* The part of the driver's compiler that runs with a dispatch, for dispatches like this one
 * (hg_driver.code_prepare). */
typedef struct hg_code_preparing hg_code_preparing;
hg_status hg_code_prepare(hg_code_set *set, hg_code *code, const hg_driver_dispatch *like,
                          hg_code_preparing **preparing) HG_NODISCARD;
hg_code_state hg_code_prepare_look(hg_code_preparing *preparing);
void hg_code_prepare_wait(hg_code_preparing *preparing, uint64_t until_ns);
void hg_code_prepare_end(hg_code_preparing *preparing); /* at any time: it goes on by itself. NULL
                                                           is allowed */

void hg_code_retain(hg_code *code);
void hg_code_release(hg_code_set *set, hg_code *code);

#endif

/* Records of the runtime shared by its files. Must not know: which driver it runs on, text syntax. */
#ifndef HG_RUNTIME_RUNTIME_H
#define HG_RUNTIME_RUNTIME_H

#include "base/handles.h"
#include "base/thread.h"
#include "isa/cfg.h"
#include "isa/program.h"
#include "plan/plan.h"
#include "runtime/driver.h"
#include <hologram/backend.h>

/* A buffer or a pool. */
typedef struct hg_memory { hg_driver_arena *arena; uint64_t size; } hg_memory;

typedef struct hg_cache_entry { uint8_t key[32]; hg_executable *executable; uint64_t used; } hg_cache_entry;

struct hg_backend {
    const hg_driver *driver;
    hg_device *device;
    const hg_device_caps *caps;
    hg_config config;
    hg_handles buffers, pools; /* of hg_memory */
    hg_context *context;       /* default */
    hg_mutex cache_lock;
    HG_VEC(hg_cache_entry) cache;
    uint64_t cache_clock;
};

struct hg_context {
    hg_backend *backend;
    hg_mutex lock;               /* one launch at a time */
    hg_mutex class_lock;
    hg_driver_arena *class_arena; /* allocated at first touch */
    hg_driver_queue *queue;
};

/* What the runtime keeps of a kernel module after the driver compiled it. */
typedef struct hg_kernel {
    hg_driver_kernel *code;
    uint32_t input_count, slot_count;
    kir_input *inputs;
    kir_slot *slots;
    bool has_open, uses_class, uses_barrier, uses_shared;
} hg_kernel;

struct hg_executable {
    hg_backend *backend;
    hg_program *program;
    hg_plan *plan;           /* its kernels' modules are gone: code, steps, env stay */
    hg_kernel *kernels;
    uint32_t kernel_count;
    uint64_t max_steps;
    bool uses_barrier, uses_shared;
    uint8_t param_types[256]; /* signature */
    uint32_t references;     /* atomic: creator, bindings, cache */
};

/* Everything a launch needs, resolved. */
typedef struct hg_resolved {
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes, timeout_ms;
} hg_resolved;

/* One kernel's arguments in a binding. */
typedef struct hg_bound_kernel { uint64_t *inputs; hg_range *slots; } hg_bound_kernel;

struct hg_binding {
    hg_executable *executable;
    hg_arena arena;
    hg_resolved launch;
    uint8_t *values[256];      /* initial bytes of each parameter register, NULL: none */
    HG_VEC(uint64_t) held_buffers;
    HG_VEC(uint64_t) held_pools;
    HG_VEC(uint64_t) own_pools; /* made for .param pool without a value; freed with the binding */
    hg_bound_kernel *kernels;
    uint8_t *env;              /* image of the environment */
    hg_driver_arena *env_arena, *scratch_arena; /* device copies; NULL when not needed */
    bool simple;               /* one kernel, no steps: the fast path */
    hg_driver_launch ready;    /* simple: everything but the deadline */
    hg_driver_fault fault;
};

/* ---- memory.c ---- */
hg_status hg_memory_create(hg_backend *b, uint64_t size, hg_memory **memory) HG_NODISCARD;
void hg_memory_destroy(void *backend, void *memory);
hg_status hg_context_class_memory(hg_context *context, hg_range *range) HG_NODISCARD;
/* The range of a buffer handle (class handles included; context may be NULL when they cannot occur). Unknown: arena NULL. */
hg_range hg_buffer_range(hg_backend *b, hg_context *context, uint64_t handle);
hg_range hg_pool_range(hg_backend *b, uint64_t handle);
bool hg_handle_is_class(uint64_t handle); /* 0 or 2^64-96 … 2^64-1 */
hg_status hg_invalid_handle(bool pool, uint64_t handle);
/* Blocking transfers through the context's queue. */
hg_status hg_transfer(hg_context *context, hg_driver_command *command) HG_NODISCARD;

/* ---- params.c ---- */
typedef struct hg_param_value {
    char *name;           /* NULL: a raw register */
    uint8_t reg, kind, type; /* hg_param_kind */
    uint64_t handle;      /* buffers, pools */
    uint8_t bytes[512];
} hg_param_value;
struct hg_params { HG_VEC(hg_param_value) values; };
/* Checks and resolves everything of assembly.md 5.1 into the binding. */
hg_status hg_binding_resolve(hg_binding *binding, const hg_launch *launch, const hg_params *params) HG_NODISCARD;
/* Types of the registers that params sets, for programs without .param lines. */
void hg_params_signature(const hg_params *params, hg_signature *signature);
hg_status hg_binding_error(const char *code, const char *format, ...) HG_PRINTF(2, 3);

/* ---- executable.c ---- */
hg_status hg_executable_get(hg_backend *b, const hg_program *program, const hg_params *params, uint64_t max_steps, bool cached,
                            hg_executable **executable) HG_NODISCARD;
hg_executable *hg_executable_retain(hg_executable *e);

/* ---- execute.c: the plan machine ---- */
typedef struct hg_pool_alias { uint64_t id, handle; } hg_pool_alias;
typedef enum hg_run_state { HG_RUN_DONE, HG_RUN_WAITING, HG_RUN_FAILED } hg_run_state;
typedef struct hg_run {
    hg_binding *binding;
    hg_context *context;
    uint32_t pc;
    uint64_t step;            /* steps done so far, for faults */
    uint64_t deadline_ns;
    hg_driver_event *event;   /* what it waits for */
    hg_status status;
    HG_VEC(uint64_t) pools;   /* allocated by the program in this run */
    HG_VEC(hg_pool_alias) aliases; /* pool ids the program chose itself */
} hg_run;
hg_status hg_run_binding(hg_binding *binding, hg_context *context) HG_NODISCARD; /* blocking */
hg_status hg_report_fault(const hg_executable *e, const hg_driver_fault *fault, uint64_t step);

/* ---- cache.c ---- */
void hg_cache_key(const hg_program *program, const hg_signature *signature, uint64_t max_steps, uint8_t key[32]);
hg_executable *hg_cache_find(hg_backend *b, const uint8_t key[32]); /* retained; NULL: none */
void hg_cache_add(hg_backend *b, const uint8_t key[32], hg_executable *e);
void hg_cache_clear(hg_backend *b);

#endif

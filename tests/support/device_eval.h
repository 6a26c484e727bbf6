/* Runs kernels in device form as a device would: groups of invocations, each a coroutine that gives
 * way at barriers and, by chance, at volatile and atomic accesses; memory in arenas; launch records
 * filled field by field from kir/device/device.h. Checks what the form promises: places aligned and
 * in bounds, only widths that the target has, barriers reached by all. Shares no code with
 * src/kir/device*.c. */
#ifndef HG_TESTS_DEVICE_EVAL_H
#define HG_TESTS_DEVICE_EVAL_H

#include "support/kir_eval.h"
#include "kir/device/device.h"
#include "test.h"
#include <ucontext.h>

enum { DEVICE_ARENAS = 3, DEVICE_STACK = 1 << 20, DEVICE_MOST_LANES = 64 };

/* A buffer or pool: part of an arena. */
typedef struct device_memory {
    int arena; /* -1: none */
    uint64_t offset, size, handle;
} device_memory;

typedef struct device_launch {
    uint32_t grid[3], block[3];
    uint64_t lanes, shared_bytes;
    const uint64_t *inputs;     /* of the legalised module */
    const device_memory *slots; /* of the legalised module */
    device_memory class_memory, shared_memory;
    const device_memory *buffers, *pools; /* handle table: by index */
    uint32_t buffer_count, pool_count, fuel;
    uint32_t flat_group, window; /* FLAT: lanes of a group and of a dispatch */
    bool cancelled;              /* the host has set CANCEL */
} device_launch;

typedef struct device_lane {
    struct device_run *run;
    eval e;
    uint32_t local[3];
    ucontext_t context;
    char *stack;
    const kir_value *waits; /* the barrier it stands at */
    bool done;
} device_lane;

typedef struct device_run {
    const kir_module *m;
    const kir_device_layout *layout;
    const kir_device_options *options;
    uint8_t *arena[DEVICE_ARENAS];
    uint64_t arena_bytes;
    device_memory slots[300];
    int bound[300];                  /* arenas, by binding */
    uint8_t *touched[DEVICE_ARENAS]; /* what reached each byte; only where slots are said to be
                                        distinct */
    uint64_t record[256];
    uint32_t group[3], groups[3], at[3];
    uint8_t *group_memory;
    uint64_t group_bytes, steps, max_steps;
    uint64_t chance;
    uint32_t barriers; /* passed by groups */
    /* A marked load, what it read, and how many barriers were passed then. */
    const kir_value *uniform;
    uint64_t uniform_value;
    uint32_t uniform_at;
    device_lane lanes[DEVICE_MOST_LANES];
    device_lane *now;
    ucontext_t scheduler;
    bool stuck;
} device_run;

/* Runs a whole launch; form_memory: 64 KiB of arena 0 at offset 0 are the form's own. The fault
 * record is copied to fault. */
void dev_launch(device_run *r, const device_launch *l, uint32_t fault[KIR_FAULT_WORDS]);
void dev_begin(device_run *r, uint64_t arena_bytes, uint64_t chance);
void dev_end(device_run *r);

#endif

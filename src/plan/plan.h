/* Plans: a program as a sequence of lane kernels and whole-array steps with uniform control flow
 * around them. The plan is code for a resumable machine (runtime/execute.c): a program counter and
 * an environment of uniform values.
 * Must not know: devices, threads. */
#ifndef HG_PLAN_PLAN_H
#define HG_PLAN_PLAN_H

#include "kir/step.h"

typedef enum plan_op {
    PLAN_KERNEL,  /* launch kernels[index] over all lanes (one lane if single_lane) */
    PLAN_STEP,    /* perform steps[index] */
    PLAN_COMPUTE, /* the host carries out operations[index] … operations[index + target - 1] */
    PLAN_JUMP,    /* to target */
    PLAN_JUMP_UNLESS, /* to target when the bool of environment entry index is 0 */
    PLAN_END
} plan_op;

typedef struct plan_inst {
    uint8_t op;
    uint32_t index;
    uint32_t target;
} plan_inst;

/* Where an environment entry's value comes from before the first instruction. */
typedef enum plan_init { PLAN_INIT_ZERO, PLAN_INIT_CONST, PLAN_INIT_PARAM } plan_init;
/* Who writes an entry afterwards. The host knows the values that nobody or the host wrote without
 * waiting for the device. */
typedef enum plan_writer {
    PLAN_BY_NOBODY,
    PLAN_BY_HOST,  /* the handle of a pool that the program allocates, and what PLAN_COMPUTE sets */
    PLAN_BY_KERNEL /* lane 0 of a kernel, or a whole-array step */
} plan_writer;
/* One uniform value that lives across steps. Offsets are multiples of 8. */
typedef struct plan_env {
    uint8_t type;         /* of the kernel IR; bool is one byte */
    uint8_t init;         /* plan_init */
    uint8_t writer;       /* plan_writer */
    uint8_t reg;          /* PLAN_INIT_PARAM: register of the signature */
    uint32_t offset;      /* bytes into the environment */
    uint64_t value;       /* PLAN_INIT_CONST */
    const uint8_t *bytes; /* PLAN_INIT_CONST of more than 64 bits */
} plan_env;

/* What the host computes between kernels: integers of at most 64 bits, as kernels compute them. */
enum { PLAN_MOST_ARGS = 3 };
typedef struct plan_operation {
    uint8_t op; /* kir_op: a value primitive, CONST, ID, INPUT and VAR_GET (the value of entry),
                   VAR_SET (entry = args[0]) */
    uint8_t type, nargs;
    uint32_t args[PLAN_MOST_ARGS]; /* numbers of operations from the first of the PLAN_COMPUTE */
    uint32_t entry;
    uint64_t imm;
} plan_operation;
/* What an ID is to them. */
typedef struct plan_dims {
    uint64_t lanes;
    uint32_t grid[3], block[3];
} plan_dims;

/* How kernels read uniform values. */
typedef enum plan_reads {
    PLAN_READS_INPUTS, /* as inputs of a launch (KIR_INPUT_ENV): where the host has the values
                          without a wait */
    /* From device memory, KIR_PLAN_UNIFORMS: where a launch should not wait until the host knows
     * them. A kernel writes KIR_PLAN_ENV, and what it wrote is copied to the uniforms when it is
     * done: lane 0 of one block writes while other blocks still read. Values narrower than 32 bits
     * are u32 in both. Handles stay inputs. */
    PLAN_READS_MEMORY,
    /* From device memory, but as inputs in kernels with barriers, which wait for what the host does
     * not know: where the device's compiler must see that control flow around a barrier is the same
     * in all lanes, and memory is nothing that it sees so (kir_device_target.shown_uniform). */
    PLAN_READS_SHOWN
} plan_reads;

/* Environment entries: refs[first] … refs[first + count - 1] of the plan. */
typedef struct plan_list {
    uint32_t first, count;
} plan_list;

typedef struct plan_kernel {
    kir_module *module; /* owned; not legalised */
    bool single_lane;   /* only uniform work: one lane is enough */
    plan_list inputs;   /* entries that it reads as inputs, */
    plan_list loads;    /* that it reads from memory, */
    plan_list writes;   /* and that it writes */
} plan_kernel;

/* A whole-array step or pool instruction. Arguments are environment entries. */
typedef struct plan_step {
    uint16_t op; /* hg_op */
    uint8_t atlas_type;
    uint32_t inst;        /* source instruction */
    const kir_step *info; /* the plan's */
    uint32_t arg_count;
    const uint32_t *args; /* environment entries */
    uint32_t result;      /* environment entry; HG_PLAN_NO_ENV: the instruction has none */
    uint32_t followers; /* steps directly behind it that could be done with it in one kernel, where
                           memory allows it. From plan_find_chains: maps behind a map, or behind a
                           step whose library program does them too */
    bool long_map; /* from there too: a map that can be such a kernel alone, of a function of many
                      operations */
} plan_step;
#define HG_PLAN_NO_ENV UINT32_MAX

typedef struct hg_plan {
    HG_VEC(plan_inst) code;
    HG_VEC(plan_kernel) kernels;
    HG_VEC(plan_step) steps;
    HG_VEC(plan_env) env;
    HG_VEC(plan_operation) operations;
    uint32_t most_operations; /* of one PLAN_COMPUTE */
    HG_VEC(uint32_t) refs;    /* what plan_lists are parts of */
    plan_reads reads;
    hg_arena arena; /* of what steps and entries point to */
    uint64_t env_bytes;
    uint64_t scratch_lane_bytes; /* scratch needed for one lane: the buffer is that times the lanes
                                  */
    bool relaxed;                /* the program says `.flag relaxed` */
    bool keeps_shared; /* a step besides bar.grid: shared memory lives from kernel to kernel */
    bool is_static; /* no jumps, and no instruction needs a value of a kernel on the host: submitted
                       whole */
} hg_plan;

/* Splits a module (simplified, not legalised) at its steps. Takes ownership of the module on
 * success. */
hg_status plan_build(kir_module *module, plan_reads reads, hg_plan **plan) HG_NODISCARD;
void plan_destroy(hg_plan *plan);

/* The entries that the host must know before an instruction: of a branch its condition, of a step
 * its arguments, of a kernel its inputs. Returns how many there are. */
uint32_t plan_needs(const hg_plan *plan, const plan_inst *inst, const uint32_t **entries);
/* Carries out a PLAN_COMPUTE on the environment. values: room for most_operations. */
void plan_compute(const hg_plan *plan, uint32_t first, uint32_t count, const plan_dims *dims,
                  uint8_t *env, uint64_t *values);
/* Whether a kernel writes one of them: the host must wait for it. */
bool plan_waits(const hg_plan *plan, const plan_inst *inst);

#endif

/* Plans: a program as a sequence of lane kernels and whole-array steps with uniform control flow around them.
 * The plan is code for a resumable machine (runtime/execute.c): a program counter and an environment of uniform values.
 * Must not know: devices, threads. */
#ifndef HG_PLAN_PLAN_H
#define HG_PLAN_PLAN_H

#include "kir/kir.h"

typedef enum plan_op {
    PLAN_KERNEL,      /* launch kernels[index] over all lanes (one lane if single_lane) */
    PLAN_STEP,        /* perform steps[index] */
    PLAN_JUMP,        /* to target */
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
/* One uniform value that lives across steps. Offsets are multiples of 8. */
typedef struct plan_env {
    uint8_t type;    /* of the kernel IR; bool is one byte */
    uint8_t init;    /* plan_init */
    uint8_t reg;     /* PLAN_INIT_PARAM: register of the signature */
    uint32_t offset; /* bytes into the environment */
    uint64_t value;  /* PLAN_INIT_CONST */
} plan_env;

typedef struct plan_kernel {
    kir_module *module; /* owned; not legalised; inputs of kind KIR_INPUT_ENV read the environment */
    bool single_lane;   /* only uniform work: one lane is enough */
    bool writes_env;
} plan_kernel;

/* A whole-array step or pool instruction. Arguments are environment entries. */
typedef struct plan_step {
    uint16_t op;    /* hg_op */
    uint8_t opname; /* maps and reductions */
    uint8_t atlas_type;
    uint32_t inst; /* source instruction */
    kir_step info;
    uint32_t arg_count;
    uint32_t args[12]; /* environment entries */
    uint32_t result;   /* environment entry; HG_PLAN_NO_ENV: none */
} plan_step;
#define HG_PLAN_NO_ENV UINT32_MAX

typedef struct hg_plan {
    HG_VEC(plan_inst) code;
    HG_VEC(plan_kernel) kernels;
    HG_VEC(plan_step) steps;
    HG_VEC(plan_env) env;
    uint64_t env_bytes;
    uint64_t scratch_lane_bytes; /* scratch needed for one lane: the buffer is that times the lanes */
    bool is_static;              /* no data-dependent decision: submitted whole */
} hg_plan;

/* Splits a module (simplified, not legalised) at its steps. Takes ownership of the module on success. */
hg_status plan_build(kir_module *module, hg_plan **plan) HG_NODISCARD;
void plan_destroy(hg_plan *plan);

#endif

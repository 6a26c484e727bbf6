/* Written by hologram. The caller fills an hg_env and calls a kernel once for every lane.
gcd3, slot 0: input 0, a
gcd3, slot 1: input 1, b
gcd3, slot 2: input 2, c
gcd3, slot 3: input 3, out
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#endif

typedef struct hg_memory {
    uint8_t *base;
    uint64_t size;
    bool valid;
    bool pool; /* for fault texts */
} hg_memory;

/* Everything a lane sees. inputs: low 64 bits of each; slots: buffers and pools that the kernel names directly. */
typedef struct hg_env {
    uint32_t lane_idx[3], block_idx[3], block_dim[3], grid_dim[3];
    uint64_t global_lane_id, lane_count;
    const uint64_t *inputs;
    const hg_memory *slots;
    hg_memory shared, class_memory;
    hg_memory (*resolve)(void *user, uint64_t handle, bool pool, bool flat);
    void (*barrier)(void *user);
    void *user;
    uint64_t fuel; /* loop rounds left; 0 at the start: no limit */
    /* results */
    bool stopped;
    uint32_t fault; /* 0: none; 1 bounds, 2 division, 3 handle, 4 alignment, 5 domain, 6 barrier, 7 steps, 8 fuel */
    uint32_t fault_instruction, fault_operand;
    uint64_t fault_offset, fault_limit;
    const char *fault_message;
} hg_env;

static inline float hg_input_f32(const hg_env *env, unsigned index) {
    uint32_t bits = (uint32_t)env->inputs[index];
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline double hg_input_f64(const hg_env *env, unsigned index) {
    double value;
    memcpy(&value, &env->inputs[index], 8);
    return value;
}
static inline void hg_fault(hg_env *env, uint32_t code, uint32_t instruction, uint32_t operand, const char *message) {
    env->stopped = true;
    env->fault = code;
    env->fault_instruction = instruction;
    env->fault_operand = operand;
    env->fault_message = message;
}
static inline bool hg_out_of_fuel(hg_env *env) {
    if (env->fuel == 0 || --env->fuel != 0) return false;
    hg_fault(env, 8, 0, 0, "fuel");
    return true;
}
/* The place of size bytes at index + disp (added exactly), or NULL and a fault. */
static inline uint8_t *hg_address(hg_env *env, hg_memory memory, uint64_t index, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {
    if (!memory.valid) {
        hg_fault(env, 3, instruction, operand, memory.pool ? "invalid pool handle" : "invalid buffer handle");
        return NULL;
    }
    uint64_t offset = index + (uint64_t)disp;
    bool wrapped = disp < 0 ? index < 0 - (uint64_t)disp : offset < index;
    if (wrapped || size > memory.size || offset > memory.size - size) {
        hg_fault(env, 1, instruction, operand, memory.pool ? "pool access out of bounds" : "buffer access out of bounds");
        env->fault_offset = offset;
        env->fault_limit = memory.size;
        return NULL;
    }
    return memory.base ? memory.base + offset : NULL;
}
/* A flat address: bits 40 to 62 the handle's index, 0 to 39 the offset, bit 63 a pool. */
static inline uint8_t *hg_flat_address(hg_env *env, uint64_t address, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {
    bool pool = address >> 63 != 0;
    uint64_t handle = address >> 40 & 0x7fffff, offset = address & UINT64_C(0xffffffffff);
    hg_memory memory = handle == 0 && !pool ? env->class_memory : env->resolve(env->user, handle, pool, true);
    memory.pool = pool;
    return hg_address(env, memory, offset, disp, size, instruction, operand);
}
static inline uint8_t *hg_handle_address(hg_env *env, uint64_t handle, bool pool, uint64_t index, int64_t disp, uint64_t size, uint32_t instruction, uint32_t operand) {
    hg_memory memory = env->resolve(env->user, handle, pool, false);
    memory.pool = pool;
    return hg_address(env, memory, index, disp, size, instruction, operand);
}
static inline hg_memory hg_class(const hg_env *env, uint32_t class_id) {
    hg_memory memory = env->class_memory;
    memory.base += class_id * UINT64_C(12288);
    memory.size = 12288;
    return memory;
}

static inline uint32_t hg_urem_u32(uint32_t a, uint32_t b) { return b ? (uint32_t)(a % b) : 0; }

/* Variables of a lane that the functions of gcd3 share. */
typedef struct gcd3_kernel_lane {
    uint8_t unused;
    uint32_t x6; /* r20 */
    uint32_t x8; /* r21 */
} gcd3_kernel_lane;

void gcd3_kernel(hg_env *env);

static inline void gcd3_kernel_f1(hg_env *env, gcd3_kernel_lane *lane) {
    (void)env;
    (void)lane;
    /* mov_imm.u32 r22, 0 */
    for (;;) {
        if (hg_out_of_fuel(env)) return;
        /* seteq.u32 p1, r21, r22 */
        const uint32_t v2 = lane->x8;
        const bool v3 = v2 == 0u;
        /* bra.p1 @gcd_end */
        if (v3) {
            break;
        }
        /* rem.u32 r23, r20, r21 */
        const uint32_t v6 = lane->x6;
        if (v3) {
            hg_fault(env, 2, 14, 3, "division by zero");
            return;
        }
        const uint32_t v8 = hg_urem_u32(v6, v2);
        /* mov.u32 r20, r21 */
        lane->x6 = v2;
        /* mov.u32 r21, r23 */
        lane->x8 = v8;
    }
}

/* One lane of the kernel. */
void gcd3_kernel(hg_env *env) {
    gcd3_kernel_lane lane_variables = {0}, *lane = &lane_variables;
    (void)lane;
    env->stopped = false;
    const uint64_t v4 = (uint64_t)env->inputs[4];
    const uint64_t v5 = (uint64_t)env->global_lane_id;
    /* setgeu.u64 p0, r255, r4 */
    const bool v6 = v5 < v4;
    /* bra.p0 @done */
    if (v6) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const uint64_t v9 = (uint64_t)(v5 << 2);
        /* ldg.u32 r20, [r1 + r0] */
        uint8_t *m10 = hg_address(env, env->slots[0], v9, 0, 4, 4, 2);
        if (!m10) return;
        uint32_t v10;
        memcpy(&v10, m10, 4);
        lane->x6 = v10;
        /* ldg.u32 r21, [r2 + r0] */
        uint8_t *m12 = hg_address(env, env->slots[1], v9, 0, 4, 5, 2);
        if (!m12) return;
        uint32_t v12;
        memcpy(&v12, m12, 4);
        lane->x8 = v12;
        /* call @gcd */
        gcd3_kernel_f1(env, lane);
        if (env->stopped) return;
        /* ldg.u32 r21, [r3 + r0] */
        uint8_t *m15 = hg_address(env, env->slots[2], v9, 0, 4, 7, 2);
        if (!m15) return;
        uint32_t v15;
        memcpy(&v15, m15, 4);
        lane->x8 = v15;
        /* call @gcd */
        gcd3_kernel_f1(env, lane);
        if (env->stopped) return;
        /* stg.u32 [r6 + r0], r20 */
        const uint32_t v18 = lane->x6;
        uint8_t *m19 = hg_address(env, env->slots[3], v9, 0, 4, 9, 1);
        if (!m19) return;
        const uint32_t n19 = v18;
        memcpy(m19, &n19, 4);
    }
}


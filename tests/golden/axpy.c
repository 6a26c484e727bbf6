/* Written by hologram. The caller fills an hg_env and calls a kernel once for every lane.
axpy, slot 0: input 0, x
axpy, slot 1: input 1, y
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


/* Variables of a lane that the functions of axpy share. */
typedef struct axpy_kernel_lane {
    uint8_t unused;
} axpy_kernel_lane;

void axpy_kernel(hg_env *env);

/* One lane of the kernel. */
void axpy_kernel(hg_env *env) {
    axpy_kernel_lane lane_variables = {0}, *lane = &lane_variables;
    (void)lane;
    env->stopped = false;
    const float v2 = hg_input_f32(env, 2);
    const uint64_t v3 = (uint64_t)env->inputs[3];
    const uint64_t v4 = (uint64_t)env->global_lane_id;
    /* axis.u64 r3, r255, [buf(r0)], 0 */
    const bool v5 = v4 < v3;
    const bool v7 = v5 ^ true;
    if (v7) {
        hg_fault(env, 1, 0, 2, "index {} is outside of axis 0 of 'x', which has extent {}");
        env->fault_offset = v4;
        env->fault_limit = v3;
        return;
    }
    /* ldg.f32 r3, [r0 + r3*4] */
    const uint64_t v10 = (uint64_t)(v4 << 2);
    uint8_t *m11 = hg_address(env, env->slots[0], v10, 0, 4, 1, 2);
    if (!m11) return;
    float v11;
    memcpy(&v11, m11, 4);
    /* ldg.f32 r4, [r1 + r4*4] */
    uint8_t *m12 = hg_address(env, env->slots[1], v10, 0, 4, 3, 2);
    if (!m12) return;
    float v12;
    memcpy(&v12, m12, 4);
    /* fma.f32 r2, r2, r3, r4 */
    const float v13 = fmaf(v2, v11, v12);
    /* stg.f32 [r1 + r3*4], r2 */
    uint8_t *m14 = hg_address(env, env->slots[1], v10, 0, 4, 6, 1);
    if (!m14) return;
    const float n14 = v13;
    memcpy(m14, &n14, 4);
}


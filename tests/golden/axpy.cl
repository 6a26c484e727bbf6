/* Written by hologram: OpenCL C 1.2; of later versions only fences.
axpy, slot 0: input 0, x
axpy, slot 1: input 1, y
axpy, slot 2: the fault record
 */
#pragma OPENCL FP_CONTRACT OFF

static inline void hg_fence_acq_rel(void) {
#if __OPENCL_C_VERSION__ >= 300 ? defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device) : __OPENCL_C_VERSION__ >= 200
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#else
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

/* What a launch tells every lane. */
typedef struct axpy_kernel_record {
    ulong input_3;
    ulong limit_0_reach_4;
    ulong base_0;
    ulong base_2;
    ulong limit_1_reach_4;
    ulong base_1;
    uint count_0;
    uint first_0;
    uint input_2;
    uint unused_60;
} axpy_kernel_record;

/* What the functions of axpy share. */
typedef struct axpy_kernel_env {
    __global const uchar *s0;
    __global uchar *s1;
    __global uchar *fault;
    axpy_kernel_record record;
    uint x11; /* fault_site */
    ulong x12; /* fault_index */
} axpy_kernel_env;

static inline void axpy_kernel_f2(__private axpy_kernel_env *env) {
    (void)env;
    const uint v0 = (uint)get_global_id(0);
    const uint v1 = env->record.count_0;
    const bool v2 = v0 < v1;
    const bool v4 = !v2;
    if (v4) {
        return;
    }
    const uint v7 = env->record.first_0;
    const uint v8 = v7 + v0;
    const ulong v9 = (ulong)v8;
    const uint v10 = env->record.input_2;
    const float v11 = as_float(v10);
    const ulong v12 = env->record.input_3;
    /* setgeu.u64 p0, r255, r4 */
    const bool v13 = v9 < v12;
    /* bra.p0 @done */
    if (v13) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const ulong v16 = (ulong)(v9 << 2);
        /* ldg.f32 r10, [r1 + r0] */
        const ulong v17 = env->record.limit_0_reach_4;
        const bool v18 = v16 < v17;
        const bool v19 = !v18;
        if (v19) {
            env->x11 = 1u;
            env->x12 = v16;
            return;
        }
        const float v25 = *(__global const float *)(env->s0 + v16);
        /* ldg.f32 r11, [r2 + r0] */
        const ulong v26 = env->record.limit_1_reach_4;
        const bool v27 = v16 < v26;
        const bool v28 = !v27;
        if (v28) {
            env->x11 = 2u;
            env->x12 = v16;
            return;
        }
        const float v33 = *(__global float *)(env->s1 + v16);
        /* fma.f32 r12, r5, r10, r11 */
        const float v34 = fma(v11, v25, v33);
        /* stg.f32 [r2 + r0], r12 */
        if (v28) {
            env->x11 = 3u;
            env->x12 = v16;
            return;
        }
        *(__global float *)(env->s1 + v16) = v34;
    }
}

static inline void axpy_kernel_f1(__private axpy_kernel_env *env, uint a0, ulong a1) {
    (void)env;
    (void)a0;
    (void)a1;
    const uint v2 = (uint)get_global_id(0);
    const uint v4 = atomic_min((volatile __global uint *)(env->fault + 4ul), v2);
    const bool v5 = v4 < v2;
    if (v5) {
        return;
    }
    const uint v8 = env->record.first_0;
    const uint v9 = v8 + v2;
    for (;;) {
        const uint v14 = atomic_cmpxchg((volatile __global uint *)(env->fault), 0u, 1u);
        const bool v15 = v14 == 0u;
        if (v15) {
            hg_fence_acq_rel();
            const uint v19 = *(volatile __global uint *)(env->fault + 8ul);
            const uint v21 = *(volatile __global uint *)(env->fault + 24ul);
            const bool v22 = v9 < v21;
            const bool v23 = v19 == 0u;
            const bool v24 = v23 | v22;
            if (v24) {
                *(volatile __global uint *)(env->fault + 12ul) = a0;
                *(volatile __global uint *)(env->fault + 24ul) = v9;
                *(volatile __global uint *)(env->fault + 28ul) = 0u;
                const uint v31 = (uint)a1;
                *(volatile __global uint *)(env->fault + 32ul) = v31;
                const ulong v35 = (ulong)(a1 >> 32);
                const uint v36 = (uint)v35;
                *(volatile __global uint *)(env->fault + 36ul) = v36;
                *(volatile __global uint *)(env->fault + 8ul) = 1u;
            }
            hg_fence_acq_rel();
            atomic_xchg((volatile __global uint *)(env->fault), 0u);
        }
        if (v15) {
            break;
        }
    }
}

/* One invocation. */
__kernel void axpy_kernel(__global const uchar *restrict s0_arena, __global uchar *restrict s1_arena, __global uchar *fault_arena, axpy_kernel_record record) {
    __global const uchar *const s0 = s0_arena + record.base_0;
    __global uchar *const s1 = s1_arena + record.base_1;
    __global uchar *const fault = fault_arena + record.base_2;
    axpy_kernel_env environment = {.s0 = s0, .s1 = s1, .fault = fault, .record = record};
    __private axpy_kernel_env *const env = &environment;
    (void)env;
    axpy_kernel_f2(env);
    const uint v1 = env->x11;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x12;
        axpy_kernel_f1(env, v8, v9);
    }
}


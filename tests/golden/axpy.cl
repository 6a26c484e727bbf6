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
    ulong base_2;
    ulong base_0;
    ulong base_1;
    uint count_0;
    uint first_0;
    uint input_2;
    uint unused_44;
} axpy_kernel_record;

/* What the functions of axpy share. */
typedef struct axpy_kernel_env {
    __global const uchar *s0;
    __global uchar *s1;
    __global uchar *fault;
    axpy_kernel_record record;
    uint x11; /* fault_site */
    ulong x12; /* fault_index */
    ulong x13; /* fault_name */
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
    /* axis.u64 r3, r255, [buf(r0)], 0 */
    const bool v13 = v9 < v12;
    const bool v14 = !v13;
    if (v14) {
        env->x11 = 1u;
        env->x12 = v9;
        env->x13 = v12;
        return;
    }
    /* ldg.f32 r3, [r0 + r3*4] */
    const ulong v22 = (ulong)(v9 << 2);
    const float v23 = *(__global const float *)(env->s0 + v22);
    /* ldg.f32 r4, [r1 + r4*4] */
    const float v24 = *(__global float *)(env->s1 + v22);
    /* fma.f32 r2, r2, r3, r4 */
    const float v25 = fma(v11, v23, v24);
    /* stg.f32 [r1 + r3*4], r2 */
    *(__global float *)(env->s1 + v22) = v25;
}

static inline void axpy_kernel_f1(__private axpy_kernel_env *env, uint a0, ulong a1, ulong a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const uint v3 = (uint)get_global_id(0);
    const uint v5 = atomic_min((volatile __global uint *)(env->fault + 4ul), v3);
    const bool v6 = v5 < v3;
    if (v6) {
        return;
    }
    const uint v9 = env->record.first_0;
    const uint v10 = v9 + v3;
    for (;;) {
        const uint v15 = atomic_cmpxchg((volatile __global uint *)(env->fault), 0u, 1u);
        const bool v16 = v15 == 0u;
        if (v16) {
            hg_fence_acq_rel();
            const uint v20 = *(volatile __global uint *)(env->fault + 8ul);
            const uint v22 = *(volatile __global uint *)(env->fault + 24ul);
            const bool v23 = v10 < v22;
            const bool v24 = v20 == 0u;
            const bool v25 = v24 | v23;
            if (v25) {
                *(volatile __global uint *)(env->fault + 12ul) = a0;
                *(volatile __global uint *)(env->fault + 24ul) = v10;
                *(volatile __global uint *)(env->fault + 28ul) = 0u;
                const uint v32 = (uint)a1;
                *(volatile __global uint *)(env->fault + 32ul) = v32;
                const ulong v36 = (ulong)(a1 >> 32);
                const uint v37 = (uint)v36;
                *(volatile __global uint *)(env->fault + 36ul) = v37;
                const uint v40 = (uint)a2;
                *(volatile __global uint *)(env->fault + 40ul) = v40;
                const ulong v43 = (ulong)(a2 >> 32);
                const uint v44 = (uint)v43;
                *(volatile __global uint *)(env->fault + 44ul) = v44;
                *(volatile __global uint *)(env->fault + 8ul) = 1u;
            }
            hg_fence_acq_rel();
            atomic_xchg((volatile __global uint *)(env->fault), 0u);
        }
        if (v16) {
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
        const ulong v10 = env->x13;
        axpy_kernel_f1(env, v8, v9, v10);
    }
}


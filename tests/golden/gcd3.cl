/* Written by hologram: OpenCL C 1.2; of later versions only fences.
gcd3, slot 0: input 0, a
gcd3, slot 1: input 1, b
gcd3, slot 2: input 2, c
gcd3, slot 3: input 3, out
gcd3, slot 4: the fault record
 */
#pragma OPENCL FP_CONTRACT OFF

static inline uint hg_urem_u32(uint a, uint b) { return b ? (uint)(a % b) : 0; }
static inline void hg_fence_acq_rel(void) {
#if __OPENCL_C_VERSION__ >= 300 ? defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device) : __OPENCL_C_VERSION__ >= 200
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#else
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

/* What a launch tells every lane. */
typedef struct gcd3_kernel_record {
    ulong input_4;
    ulong limit_0_reach_4;
    ulong base_0;
    ulong base_4;
    ulong limit_1_reach_4;
    ulong base_1;
    ulong limit_2_reach_4;
    ulong base_2;
    ulong limit_3_reach_4;
    ulong base_3;
    uint count_0;
    uint first_0;
    uint fuel_0;
    uint unused_92;
} gcd3_kernel_record;

/* What the functions of gcd3 share. */
typedef struct gcd3_kernel_env {
    __global const uchar *s0;
    __global const uchar *s1;
    __global const uchar *s2;
    __global uchar *s3;
    __global uchar *fault;
    gcd3_kernel_record record;
    uint x6; /* r20 */
    uint x8; /* r21 */
    uint x14; /* fault_site */
    ulong x15; /* fault_index */
    bool x16; /* stopped */
    uint x18; /* rounds */
} gcd3_kernel_env;

static inline uint gcd3_kernel_f3(__private gcd3_kernel_env *env, uint a0) {
    (void)env;
    (void)a0;
    const uint v1 = *(volatile __global uint *)(env->fault + 56ul);
    const bool v3 = v1 == 0u;
    if (v3) {
        const uint v6 = env->record.fuel_0;
        const bool v7 = a0 < v6;
        if (v7) {
            return 0u;
        }
        *(volatile __global uint *)(env->fault + 56ul) = 1u;
    }
    return 1u;
}

static inline void gcd3_kernel_f1(__private gcd3_kernel_env *env) {
    (void)env;
    bool x17 = 0; /* left */
    /* mov_imm.u32 r22, 0 */
    for (;;) {
        x17 = true;
        for (;;) {
            const uint v5 = env->x18;
            const uint v7 = v5 + 1u;
            env->x18 = v7;
            const uint v10 = v7 & 1023u;
            const bool v11 = v10 == 0u;
            if (v11) {
                x17 = false;
                break;
            }
            /* seteq.u32 p1, r21, r22 */
            const uint v16 = env->x8;
            const bool v17 = v16 == 0u;
            /* bra.p1 @gcd_end */
            if (v17) {
                break;
            }
            /* rem.u32 r23, r20, r21 */
            const uint v20 = env->x6;
            if (v17) {
                env->x14 = 5u;
                env->x15 = 0ul;
                env->x16 = true;
                return;
            }
            const uint v28 = hg_urem_u32(v20, v16);
            /* mov.u32 r20, r21 */
            env->x6 = v16;
            /* mov.u32 r21, r23 */
            env->x8 = v28;
        }
        const bool v31 = x17;
        if (v31) {
            break;
        }
        const uint v34 = env->x18;
        const uint v36 = (uint)(v34 >> 10);
        const uint v37 = gcd3_kernel_f3(env, v36);
        const bool v38 = v37 == 0u;
        const bool v39 = !v38;
        if (v39) {
            env->x16 = true;
            return;
        }
    }
}

static inline void gcd3_kernel_f4(__private gcd3_kernel_env *env) {
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
    const ulong v10 = env->record.input_4;
    /* setgeu.u64 p0, r255, r4 */
    const bool v11 = v9 < v10;
    /* bra.p0 @done */
    if (v11) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const ulong v14 = (ulong)(v9 << 2);
        /* ldg.u32 r20, [r1 + r0] */
        const ulong v15 = env->record.limit_0_reach_4;
        const bool v16 = v14 < v15;
        const bool v17 = !v16;
        if (v17) {
            env->x14 = 1u;
            env->x15 = v14;
            return;
        }
        const uint v23 = *(__global const uint *)(env->s0 + v14);
        env->x6 = v23;
        /* ldg.u32 r21, [r2 + r0] */
        const ulong v25 = env->record.limit_1_reach_4;
        const bool v26 = v14 < v25;
        const bool v27 = !v26;
        if (v27) {
            env->x14 = 2u;
            env->x15 = v14;
            return;
        }
        const uint v32 = *(__global const uint *)(env->s1 + v14);
        env->x8 = v32;
        /* call @gcd */
        gcd3_kernel_f1(env);
        const bool v35 = env->x16;
        if (v35) {
            return;
        }
        /* ldg.u32 r21, [r3 + r0] */
        const ulong v38 = env->record.limit_2_reach_4;
        const bool v39 = v14 < v38;
        const bool v40 = !v39;
        if (v40) {
            env->x14 = 3u;
            env->x15 = v14;
            return;
        }
        const uint v46 = *(__global const uint *)(env->s2 + v14);
        env->x8 = v46;
        /* call @gcd */
        gcd3_kernel_f1(env);
        const bool v49 = env->x16;
        if (v49) {
            return;
        }
        /* stg.u32 [r6 + r0], r20 */
        const uint v52 = env->x6;
        const ulong v53 = env->record.limit_3_reach_4;
        const bool v54 = v14 < v53;
        const bool v55 = !v54;
        if (v55) {
            env->x14 = 4u;
            env->x15 = v14;
            return;
        }
        *(__global uint *)(env->s3 + v14) = v52;
    }
}

static inline void gcd3_kernel_f2(__private gcd3_kernel_env *env, uint a0, ulong a1) {
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
__kernel void gcd3_kernel(__global const uchar *restrict s0_arena, __global const uchar *restrict s1_arena, __global const uchar *restrict s2_arena, __global uchar *restrict s3_arena, __global uchar *fault_arena, gcd3_kernel_record record) {
    __global const uchar *const s0 = s0_arena + record.base_0;
    __global const uchar *const s1 = s1_arena + record.base_1;
    __global const uchar *const s2 = s2_arena + record.base_2;
    __global uchar *const s3 = s3_arena + record.base_3;
    __global uchar *const fault = fault_arena + record.base_4;
    gcd3_kernel_env environment = {.s0 = s0, .s1 = s1, .s2 = s2, .s3 = s3, .fault = fault, .record = record};
    __private gcd3_kernel_env *const env = &environment;
    (void)env;
    gcd3_kernel_f4(env);
    const uint v1 = env->x14;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x15;
        gcd3_kernel_f2(env, v8, v9);
    }
}


/* Written by hologram: OpenCL C 1.2; of later versions only fences.
collatz, slot 0: input 0, start
collatz, slot 1: input 1, steps
collatz, slot 2: the fault record
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
typedef struct collatz_kernel_record {
    ulong input_2;
    ulong limit_0_reach_8;
    ulong base_0;
    ulong base_2;
    ulong limit_1_reach_4;
    ulong base_1;
    uint count_0;
    uint first_0;
    uint fuel_0;
    uint unused_60;
} collatz_kernel_record;

/* What the functions of collatz share. */
typedef struct collatz_kernel_env {
    __global uchar *fault;
    collatz_kernel_record record;
} collatz_kernel_env;

static inline void collatz_kernel_f1(__private collatz_kernel_env *env, uint a0, ulong a1) {
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
    const ulong v10 = (ulong)v9;
    for (;;) {
        const uint v15 = atomic_cmpxchg((volatile __global uint *)(env->fault), 0u, 1u);
        const bool v16 = v15 == 0u;
        if (v16) {
            hg_fence_acq_rel();
            const uint v20 = *(volatile __global uint *)(env->fault + 8ul);
            const uint v22 = *(volatile __global uint *)(env->fault + 24ul);
            const uint v24 = *(volatile __global uint *)(env->fault + 28ul);
            const ulong v25 = (ulong)v24;
            const ulong v27 = (ulong)(v25 << 32);
            const ulong v28 = (ulong)v22;
            const ulong v29 = v27 | v28;
            const bool v30 = v10 < v29;
            const bool v31 = v20 == 0u;
            const bool v32 = v31 | v30;
            if (v32) {
                *(volatile __global uint *)(env->fault + 12ul) = a0;
                *(volatile __global uint *)(env->fault + 24ul) = v9;
                const ulong v37 = (ulong)(v10 >> 32);
                const uint v38 = (uint)v37;
                *(volatile __global uint *)(env->fault + 28ul) = v38;
                const uint v40 = (uint)a1;
                *(volatile __global uint *)(env->fault + 32ul) = v40;
                const ulong v43 = (ulong)(a1 >> 32);
                const uint v44 = (uint)v43;
                *(volatile __global uint *)(env->fault + 36ul) = v44;
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

static inline uint collatz_kernel_f2(__private collatz_kernel_env *env, uint a0) {
    (void)env;
    (void)a0;
    const uint v1 = *(volatile __global uint *)(env->fault + 56ul);
    const bool v3 = v1 == 0u;
    if (v3) {
        const uint v5 = env->record.fuel_0;
        const bool v7 = a0 < v5;
        if (v7) {
            return 0u;
        }
        *(volatile __global uint *)(env->fault + 56ul) = 1u;
    }
    return 1u;
}

/* One invocation. */
__kernel void collatz_kernel(__global const uchar *s0_arena, __global uchar *s1_arena, __global uchar *fault_arena, collatz_kernel_record record) {
    __global const uchar *const s0 = s0_arena + record.base_0;
    __global uchar *const s1 = s1_arena + record.base_1;
    __global uchar *const fault = fault_arena + record.base_2;
    collatz_kernel_env environment = {.fault = fault, .record = record};
    __private collatz_kernel_env *const env = &environment;
    (void)env;
    ulong x6 = 0; /* r10 */
    uint x11 = 0; /* r20 */
    bool x18 = 0; /* left */
    uint x19 = 0; /* rounds */
    const uint v0 = record.count_0;
    const uint v1 = (uint)get_global_id(0);
    const bool v2 = v1 < v0;
    const bool v4 = !v2;
    if (v4) {
        return;
    }
    const uint v7 = record.first_0;
    const uint v8 = v7 + v1;
    const ulong v9 = (ulong)v8;
    const ulong v10 = record.input_2;
    /* setgeu.u64 p0, r255, r4 */
    const bool v11 = v9 < v10;
    /* bra.p0 @done */
    if (v11) {
        /* mov_imm.u32 r250, 3 */
        /* shl.u64 r0, r255, r250 */
        const ulong v14 = (ulong)(v9 << 3);
        /* ldg.u64 r10, [r1 + r0] */
        const ulong v15 = record.limit_0_reach_8;
        const bool v16 = v14 < v15;
        const bool v17 = !v16;
        if (v17) {
            collatz_kernel_f1(env, 0u, v14);
            return;
        }
        const ulong v22 = *(__global const ulong *)(s0 + v14);
        x6 = v22;
        /* mov_imm.u64 r11, 1 */
        /* mov_imm.u64 r12, 3 */
        /* mov_imm.u64 r13, 0 */
        /* mov_imm.u32 r14, 1 */
        /* mov_imm.u32 r20, 0 */
        x11 = 0u;
        for (;;) {
            x18 = true;
            for (;;) {
                const uint v33 = x19;
                const uint v34 = v33 + 1u;
                x19 = v34;
                const uint v37 = v34 & 1023u;
                const bool v38 = v37 == 0u;
                if (v38) {
                    x18 = false;
                    break;
                }
                /* setleu.u64 p1, r10, r11 */
                const ulong v43 = x6;
                const bool v44 = 1ul < v43;
                const bool v45 = !v44;
                /* bra.p1 @store */
                if (v45) {
                    break;
                }
                /* add.u32 r20, r20, r14 */
                const uint v48 = x11;
                const uint v49 = v48 + 1u;
                x11 = v49;
                /* and.u64 r15, r10, r11 */
                const ulong v51 = v43 & 1ul;
                /* seteq.u64 p2, r15, r13 */
                const bool v52 = v51 == 0ul;
                /* bra.p2 @even */
                if (v52) {
                    /* shr.u64 r10, r10, r14 */
                    const ulong v54 = (ulong)(v43 >> 1);
                    x6 = v54;
                } else {
                    /* mad.u64 r10, r10, r12, r11 */
                    const ulong v56 = v43 * 3ul;
                    const ulong v57 = v56 + 1ul;
                    x6 = v57;
                }
            }
            const bool v59 = x18;
            if (v59) {
                break;
            }
            const uint v62 = x19;
            const uint v64 = (uint)(v62 >> 10);
            const uint v65 = collatz_kernel_f2(env, v64);
            const bool v66 = v65 == 0u;
            const bool v67 = !v66;
            if (v67) {
                return;
            }
        }
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const ulong v71 = (ulong)(v9 << 2);
        /* stg.u32 [r2 + r0], r20 */
        const uint v72 = x11;
        const ulong v73 = record.limit_1_reach_4;
        const bool v74 = v71 < v73;
        const bool v75 = !v74;
        if (v75) {
            collatz_kernel_f1(env, 1u, v71);
            return;
        }
        *(__global uint *)(s1 + v71) = v72;
    }
}


/* Written by hologram: OpenCL C 1.2; of later versions only fences.
block_reverse, for blocks of 8 x 1 x 1 lanes
block_reverse, slot 0: input 0, x
block_reverse, slot 1: the fault record
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
typedef struct block_reverse_kernel_record {
    ulong input_1;
    ulong base_1;
    ulong base_0;
    uint shared_bytes_0;
    uint lanes_0;
    uint box_2;
    uint grid_dim_1;
    uint box_1;
    uint grid_dim_0;
    uint box_0;
    uint unused_52;
} block_reverse_kernel_record;

/* What the functions of block_reverse share. */
typedef struct block_reverse_kernel_env {
    __global uchar *fault;
    block_reverse_kernel_record record;
} block_reverse_kernel_env;

static inline void block_reverse_kernel_f1(__private block_reverse_kernel_env *env, uint a0, ulong a1, ulong a2, uint a3) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    (void)a3;
    const uint v4 = (uint)get_local_id(2);
    const uint v6 = (uint)get_local_id(1);
    const uint v7 = v4 + v6;
    const uint v9 = v7 * 8u;
    const uint v10 = (uint)get_local_id(0);
    const uint v11 = v9 + v10;
    const uint v12 = env->record.box_2;
    const uint v13 = (uint)get_group_id(2);
    const uint v14 = v12 + v13;
    const uint v15 = env->record.grid_dim_1;
    const uint v16 = env->record.box_1;
    const uint v17 = (uint)get_group_id(1);
    const uint v18 = v16 + v17;
    const uint v19 = v14 * v15;
    const uint v20 = v19 + v18;
    const uint v21 = env->record.grid_dim_0;
    const uint v22 = env->record.box_0;
    const uint v23 = (uint)get_group_id(0);
    const uint v24 = v22 + v23;
    const uint v25 = v20 * v21;
    const uint v26 = v25 + v24;
    const uint v27 = v26 * 8u;
    const uint v28 = v27 + v11;
    const bool v30 = a3 == 0u;
    if (v30) {
        const uint v33 = atomic_min((volatile __global uint *)(env->fault + 4ul), v28);
        const bool v34 = v33 < v28;
        if (v34) {
            return;
        }
    }
    for (;;) {
        const uint v39 = atomic_cmpxchg((volatile __global uint *)(env->fault), 0u, 1u);
        const bool v40 = v39 == 0u;
        if (v40) {
            hg_fence_acq_rel();
            const uint v44 = *(volatile __global uint *)(env->fault + 8ul);
            const uint v46 = *(volatile __global uint *)(env->fault + 24ul);
            const bool v47 = v28 < v46;
            const uint v49 = *(volatile __global uint *)(env->fault + 16ul);
            const bool v50 = a3 < v49;
            const bool v51 = a3 == v49;
            const bool v52 = v51 & v47;
            const bool v53 = v50 | v52;
            const bool v54 = v44 == 0u;
            const bool v55 = v54 | v53;
            if (v55) {
                *(volatile __global uint *)(env->fault + 12ul) = a0;
                *(volatile __global uint *)(env->fault + 16ul) = a3;
                *(volatile __global uint *)(env->fault + 24ul) = v28;
                *(volatile __global uint *)(env->fault + 28ul) = 0u;
                const uint v63 = (uint)a1;
                *(volatile __global uint *)(env->fault + 32ul) = v63;
                const ulong v67 = (ulong)(a1 >> 32);
                const uint v68 = (uint)v67;
                *(volatile __global uint *)(env->fault + 36ul) = v68;
                const uint v71 = (uint)a2;
                *(volatile __global uint *)(env->fault + 40ul) = v71;
                const ulong v74 = (ulong)(a2 >> 32);
                const uint v75 = (uint)v74;
                *(volatile __global uint *)(env->fault + 44ul) = v75;
                *(volatile __global uint *)(env->fault + 8ul) = 1u;
            }
            hg_fence_acq_rel();
            atomic_xchg((volatile __global uint *)(env->fault), 0u);
        }
        if (v40) {
            break;
        }
    }
}

/* One invocation. */
__kernel void block_reverse_kernel(__global uchar *restrict s0_arena, __global uchar *fault_arena, __local ulong *group_memory, block_reverse_kernel_record record) {
    __global uchar *const s0 = s0_arena + record.base_0;
    __global uchar *const fault = fault_arena + record.base_1;
    __local uchar *const group = (__local uchar *)group_memory;
    block_reverse_kernel_env environment = {.fault = fault, .record = record};
    __private block_reverse_kernel_env *const env = &environment;
    (void)env;
    uint x14 = 0; /* at */
    bool x15 = 0; /* stopped */
    uint x16 = 0; /* phase */
    uint x17 = 0; /* sync */
    uint x18 = 0;
    const uint v4 = record.shared_bytes_0;
    const uint v6 = v4 + 16u;
    const uint v7 = (uint)get_local_id(2);
    const uint v8 = (uint)get_local_id(1);
    const uint v9 = v7 + v8;
    const uint v10 = v9 * 8u;
    const uint v11 = (uint)get_local_id(0);
    const uint v12 = v10 + v11;
    const uint v13 = (uint)(v12 << 2);
    x14 = v13;
    for (;;) {
        const uint v16 = x14;
        const bool v17 = v16 < v6;
        const bool v19 = !v17;
        if (v19) {
            break;
        }
        *(__local uint *)(group + v16) = 0u;
        const uint v24 = v16 + 32u;
        x14 = v24;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v27 = record.lanes_0;
    const ulong v28 = (ulong)v27;
    const uint v29 = record.box_2;
    const uint v30 = (uint)get_group_id(2);
    const uint v31 = v29 + v30;
    const uint v32 = record.grid_dim_1;
    const uint v33 = record.box_1;
    const uint v34 = (uint)get_group_id(1);
    const uint v35 = v33 + v34;
    const uint v36 = v31 * v32;
    const uint v37 = v36 + v35;
    const uint v38 = record.grid_dim_0;
    const uint v39 = record.box_0;
    const uint v40 = (uint)get_group_id(0);
    const uint v41 = v39 + v40;
    const uint v42 = v37 * v38;
    const uint v43 = v42 + v41;
    const uint v44 = v43 * 8u;
    const uint v45 = v44 + v12;
    const ulong v46 = (ulong)v45;
    const bool v47 = v46 < v28;
    const bool v49 = !v47;
    if (v49) {
        x15 = true;
    }
    const ulong v52 = record.input_1;
    /* axis.u64 r1, r255, [buf(r0)], 0 */
    const bool v53 = v46 < v52;
    const bool v54 = !v53;
    if (v54) {
        const bool v56 = x15;
        const bool v57 = !v56;
        if (v57) {
            const uint v60 = x16;
            block_reverse_kernel_f1(env, 0u, v46, v52, v60);
            const uint v62 = x17;
            const uint v63 = v62 + 1u;
            *(volatile __local uint *)(group) = v63;
            x15 = true;
        }
    }
    /* ldg.i32 r1, [r0 + r1*4] */
    const ulong v66 = (ulong)(v46 << 2);
    x18 = 0u;
    const bool v69 = x15;
    const bool v70 = !v69;
    if (v70) {
        const uint v72 = *(__global uint *)(s0 + v66);
        x18 = v72;
    }
    const uint v74 = x18;
    /* axis.u32 r2, r252, [shared + 0], 0, extent=8 */
    const ulong v75 = (ulong)v11;
    const bool v77 = v75 < 8ul;
    const bool v78 = !v77;
    if (v78) {
        if (v70) {
            const uint v81 = x16;
            block_reverse_kernel_f1(env, 1u, v75, 8ul, v81);
            const uint v83 = x17;
            const uint v84 = v83 + 1u;
            *(volatile __local uint *)(group) = v84;
            x15 = true;
        }
    }
    /* sts.i32 [shared + r2*4], r1 */
    const ulong v87 = (ulong)(v75 << 2);
    const ulong v88 = v87;
    const ulong v89 = v88 + 16ul;
    const bool v90 = x15;
    const bool v91 = !v90;
    if (v91) {
        *(__local uint *)(group + v89) = v74;
    }
    /* bar.sync 0 */
    const uint v94 = x17;
    const uint v95 = v94 + 1u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v97 = *(volatile __local uint *)(group);
    const uint v98 = v97 - 1u;
    const bool v99 = v98 < v95;
    if (v99) {
        return;
    }
    const uint v102 = x16;
    const uint v103 = v102 + 1u;
    if (v90) {
        return;
    }
    /* sub.u32 r1, r254, r1 */
    /* sub.u32 r1, r1, r252 */
    const uint v107 = 7u - v11;
    /* axis.u32 r1, r1, [shared + 0], 0, extent=8 */
    const ulong v108 = (ulong)v107;
    const bool v109 = v108 < 8ul;
    const bool v110 = !v109;
    if (v110) {
        block_reverse_kernel_f1(env, 2u, v108, 8ul, v103);
        return;
    }
    /* lds.i32 r1, [shared + r1*4] */
    const ulong v114 = (ulong)(v108 << 2);
    const uint v115 = (uint)v114;
    const uint v116 = v115 + 16u;
    const uint v117 = *(__local uint *)(group + v116);
    /* stg.i32 [r0 + r2*4], r1 */
    *(__global uint *)(s0 + v66) = v117;
}


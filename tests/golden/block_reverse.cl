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
    ulong limit_0_reach_4;
    ulong base_0;
    ulong base_1;
    ulong shared_limit_0_reach_4;
    uint shared_bytes_0;
    uint lanes_0;
    uint box_2;
    uint grid_dim_1;
    uint box_1;
    uint grid_dim_0;
    uint box_0;
    uint unused_60;
} block_reverse_kernel_record;

/* What the functions of block_reverse share. */
typedef struct block_reverse_kernel_env {
    __global uchar *fault;
    block_reverse_kernel_record record;
} block_reverse_kernel_env;

static inline void block_reverse_kernel_f1(__private block_reverse_kernel_env *env, uint a0, ulong a1, uint a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const uint v3 = (uint)get_local_id(2);
    const uint v5 = (uint)get_local_id(1);
    const uint v6 = v3 + v5;
    const uint v8 = v6 * 8u;
    const uint v9 = (uint)get_local_id(0);
    const uint v10 = v8 + v9;
    const uint v11 = env->record.box_2;
    const uint v12 = (uint)get_group_id(2);
    const uint v13 = v11 + v12;
    const uint v14 = env->record.grid_dim_1;
    const uint v15 = env->record.box_1;
    const uint v16 = (uint)get_group_id(1);
    const uint v17 = v15 + v16;
    const uint v18 = v13 * v14;
    const uint v19 = v18 + v17;
    const uint v20 = env->record.grid_dim_0;
    const uint v21 = env->record.box_0;
    const uint v22 = (uint)get_group_id(0);
    const uint v23 = v21 + v22;
    const uint v24 = v19 * v20;
    const uint v25 = v24 + v23;
    const uint v26 = v25 * 8u;
    const uint v27 = v26 + v10;
    const bool v29 = a2 == 0u;
    if (v29) {
        const uint v32 = atomic_min((volatile __global uint *)(env->fault + 4ul), v27);
        const bool v33 = v32 < v27;
        if (v33) {
            return;
        }
    }
    for (;;) {
        const uint v38 = atomic_cmpxchg((volatile __global uint *)(env->fault), 0u, 1u);
        const bool v39 = v38 == 0u;
        if (v39) {
            hg_fence_acq_rel();
            const uint v43 = *(volatile __global uint *)(env->fault + 8ul);
            const uint v45 = *(volatile __global uint *)(env->fault + 24ul);
            const bool v46 = v27 < v45;
            const uint v48 = *(volatile __global uint *)(env->fault + 16ul);
            const bool v49 = a2 < v48;
            const bool v50 = a2 == v48;
            const bool v51 = v50 & v46;
            const bool v52 = v49 | v51;
            const bool v53 = v43 == 0u;
            const bool v54 = v53 | v52;
            if (v54) {
                *(volatile __global uint *)(env->fault + 12ul) = a0;
                *(volatile __global uint *)(env->fault + 16ul) = a2;
                *(volatile __global uint *)(env->fault + 24ul) = v27;
                *(volatile __global uint *)(env->fault + 28ul) = 0u;
                const uint v62 = (uint)a1;
                *(volatile __global uint *)(env->fault + 32ul) = v62;
                const ulong v66 = (ulong)(a1 >> 32);
                const uint v67 = (uint)v66;
                *(volatile __global uint *)(env->fault + 36ul) = v67;
                *(volatile __global uint *)(env->fault + 8ul) = 1u;
            }
            hg_fence_acq_rel();
            atomic_xchg((volatile __global uint *)(env->fault), 0u);
        }
        if (v39) {
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
    uint x13 = 0; /* at */
    bool x14 = 0; /* stopped */
    uint x15 = 0;
    uint x16 = 0; /* phase */
    uint x17 = 0; /* sync */
    const uint v4 = record.shared_bytes_0;
    const uint v6 = v4 + 16u;
    const uint v7 = (uint)get_local_id(2);
    const uint v8 = (uint)get_local_id(1);
    const uint v9 = v7 + v8;
    const uint v10 = v9 * 8u;
    const uint v11 = (uint)get_local_id(0);
    const uint v12 = v10 + v11;
    const uint v13 = (uint)(v12 << 2);
    x13 = v13;
    for (;;) {
        const uint v16 = x13;
        const bool v17 = v16 < v6;
        const bool v19 = !v17;
        if (v19) {
            break;
        }
        *(__local uint *)(group + v16) = 0u;
        const uint v24 = v16 + 32u;
        x13 = v24;
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
        x14 = true;
    }
    /* shl.u64 r0, r255, r250 */
    const ulong v52 = (ulong)(v46 << 2);
    /* ldg.i32 r10, [r1 + r0] */
    const ulong v53 = record.limit_0_reach_4;
    const bool v54 = v52 < v53;
    const bool v55 = !v54;
    x15 = 0u;
    if (v55) {
        const bool v59 = x14;
        const bool v60 = !v59;
        if (v60) {
            const uint v62 = x16;
            block_reverse_kernel_f1(env, 0u, v52, v62);
            const uint v64 = x17;
            const uint v65 = v64 + 1u;
            *(volatile __local uint *)(group) = v65;
            x14 = true;
        }
    } else {
        const uint v68 = *(__global uint *)(s0 + v52);
        x15 = v68;
    }
    const uint v70 = x15;
    /* shl.u32 r5, r252, r250 */
    const ulong v71 = (ulong)v11 << 2;
    /* sts.i32 [shared + r5], r10 */
    const ulong v72 = v71;
    const ulong v73 = record.shared_limit_0_reach_4;
    const bool v74 = v72 < v73;
    const bool v75 = !v74;
    const ulong v76 = v71 + 16ul;
    if (v75) {
        const bool v78 = x14;
        const bool v79 = !v78;
        if (v79) {
            const uint v81 = x16;
            block_reverse_kernel_f1(env, 1u, v72, v81);
            const uint v83 = x17;
            const uint v84 = v83 + 1u;
            *(volatile __local uint *)(group) = v84;
            x14 = true;
        }
    } else {
        const bool v87 = x14;
        const bool v88 = !v87;
        if (v88) {
            *(__local uint *)(group + v76) = v70;
        }
    }
    /* bar.sync 0 */
    const uint v91 = x17;
    const uint v92 = v91 + 1u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v94 = *(volatile __local uint *)(group);
    const uint v95 = v94 - 1u;
    const bool v96 = v95 < v92;
    if (v96) {
        return;
    }
    const uint v99 = x16;
    const uint v100 = v99 + 1u;
    const bool v101 = x14;
    if (v101) {
        return;
    }
    /* sub.u32 r7, r254, r6 */
    /* sub.u32 r7, r7, r252 */
    const uint v105 = 7u - v11;
    /* shl.u32 r7, r7, r250 */
    const uint v106 = (uint)(v105 << 2);
    /* lds.i32 r11, [shared + r7] */
    const ulong v107 = (ulong)v106;
    const bool v108 = v107 < v73;
    const bool v109 = !v108;
    const uint v110 = v106 + 16u;
    if (v109) {
        block_reverse_kernel_f1(env, 2u, v107, v100);
        return;
    }
    const uint v114 = *(__local uint *)(group + v110);
    /* stg.i32 [r1 + r0], r11 */
    if (v55) {
        block_reverse_kernel_f1(env, 3u, v52, v100);
        return;
    }
    *(__global uint *)(s0 + v52) = v114;
}


/* Written by hologram: Metal Shading Language 3.2; compile with the safe math mode.
block_reverse, slot 0: input 0, x
block_reverse, slot 1: the fault record
 */
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

static inline uint hg_atomic_cas(volatile device atomic_uint *p, uint expected, uint wanted, memory_order order) {
    for (;;) {
        uint old = expected;
        if (atomic_compare_exchange_weak_explicit(p, &old, wanted, order, memory_order_relaxed)) return expected;
        if (old != expected) return old;
    }
}
static inline uint hg_atomic_cas(volatile threadgroup atomic_uint *p, uint expected, uint wanted, memory_order order) {
    for (;;) {
        uint old = expected;
        if (atomic_compare_exchange_weak_explicit(p, &old, wanted, order, memory_order_relaxed)) return expected;
        if (old != expected) return old;
    }
}

/* What a launch tells every lane. */
typedef struct block_reverse_kernel_record {
    ulong limit_0_reach_4;
    ulong base_0;
    ulong base_1;
    ulong shared_limit_0_reach_4;
    uint block_dim_0;
    uint block_dim_1;
    uint block_dim_2;
    uint shared_bytes_0;
    uint lanes_0;
    uint box_2;
    uint grid_dim_1;
    uint box_1;
    uint grid_dim_0;
    uint box_0;
} block_reverse_kernel_record;

/* What the functions of block_reverse share. */
typedef struct block_reverse_kernel_env {
    device uchar *fault;
    block_reverse_kernel_record record;
    uint id_local_x;
    uint id_local_y;
    uint id_local_z;
    uint id_group_x;
    uint id_group_y;
    uint id_group_z;
} block_reverse_kernel_env;

static inline void block_reverse_kernel_f1(thread block_reverse_kernel_env *env, uint a0, ulong a1, uint a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const uint v3 = env->id_local_z;
    const uint v4 = env->record.block_dim_1;
    const uint v5 = v3 * v4;
    const uint v6 = env->id_local_y;
    const uint v7 = v5 + v6;
    const uint v8 = env->record.block_dim_0;
    const uint v9 = v7 * v8;
    const uint v10 = env->id_local_x;
    const uint v11 = v9 + v10;
    const uint v12 = env->record.box_2;
    const uint v13 = env->id_group_z;
    const uint v14 = v12 + v13;
    const uint v15 = env->record.grid_dim_1;
    const uint v16 = env->record.box_1;
    const uint v17 = env->id_group_y;
    const uint v18 = v16 + v17;
    const uint v19 = v14 * v15;
    const uint v20 = v19 + v18;
    const uint v21 = env->record.grid_dim_0;
    const uint v22 = env->record.box_0;
    const uint v23 = env->id_group_x;
    const uint v24 = v22 + v23;
    const uint v25 = v20 * v21;
    const uint v26 = v25 + v24;
    const uint v27 = v8 * v4;
    const uint v28 = env->record.block_dim_2;
    const uint v29 = v27 * v28;
    const uint v30 = v26 * v29;
    const uint v31 = v30 + v11;
    const ulong v32 = (ulong)v31;
    const bool v34 = a2 == 0u;
    if (v34) {
        const uint v37 = atomic_fetch_min_explicit((volatile device atomic_uint *)(env->fault + 4ul), v31, memory_order_relaxed);
        const bool v38 = v37 < v31;
        if (v38) {
            return;
        }
    }
    for (;;) {
        const uint v44 = hg_atomic_cas((volatile device atomic_uint *)(env->fault), 0u, 1u, memory_order_relaxed);
        const bool v45 = v44 == 0u;
        if (v45) {
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            const uint v49 = *(volatile device uint *)(env->fault + 8ul);
            const uint v51 = *(volatile device uint *)(env->fault + 24ul);
            const uint v53 = *(volatile device uint *)(env->fault + 28ul);
            const ulong v54 = (ulong)v53;
            const ulong v56 = (ulong)(v54 << 32);
            const ulong v57 = (ulong)v51;
            const ulong v58 = v56 | v57;
            const bool v59 = v32 < v58;
            const uint v61 = *(volatile device uint *)(env->fault + 16ul);
            const bool v62 = a2 < v61;
            const bool v63 = a2 == v61;
            const bool v64 = v63 & v59;
            const bool v65 = v62 | v64;
            const bool v66 = v49 == 0u;
            const bool v67 = v66 | v65;
            if (v67) {
                *(volatile device uint *)(env->fault + 12ul) = a0;
                *(volatile device uint *)(env->fault + 16ul) = a2;
                *(volatile device uint *)(env->fault + 24ul) = v31;
                const ulong v73 = (ulong)(v32 >> 32);
                const uint v74 = (uint)v73;
                *(volatile device uint *)(env->fault + 28ul) = v74;
                const uint v76 = (uint)a1;
                *(volatile device uint *)(env->fault + 32ul) = v76;
                const ulong v79 = (ulong)(a1 >> 32);
                const uint v80 = (uint)v79;
                *(volatile device uint *)(env->fault + 36ul) = v80;
                *(volatile device uint *)(env->fault + 8ul) = 1u;
            }
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            atomic_exchange_explicit((volatile device atomic_uint *)(env->fault), 0u, memory_order_relaxed);
        }
        if (v45) {
            break;
        }
    }
}

/* One invocation. */
kernel void block_reverse_kernel(device uchar *s0_arena [[buffer(0)]], device uchar *fault_arena [[buffer(1)]], threadgroup ulong *group_memory [[threadgroup(0)]], constant block_reverse_kernel_record &record [[buffer(2)]], uint3 thread_id [[thread_position_in_grid]], uint3 local_id [[thread_position_in_threadgroup]], uint3 group_id [[threadgroup_position_in_grid]]) {
    (void)thread_id, (void)local_id, (void)group_id;
    device uchar *const s0 = s0_arena + record.base_0;
    device uchar *const fault = fault_arena + record.base_1;
    threadgroup uchar *const group = (threadgroup uchar *)group_memory;
    block_reverse_kernel_env environment = {};
    environment.fault = fault;
    environment.record = record;
    environment.id_local_x = (uint)local_id.x;
    environment.id_local_y = (uint)local_id.y;
    environment.id_local_z = (uint)local_id.z;
    environment.id_group_x = (uint)group_id.x;
    environment.id_group_y = (uint)group_id.y;
    environment.id_group_z = (uint)group_id.z;
    thread block_reverse_kernel_env *const env = &environment;
    (void)env;
    uint x13 = 0; /* at */
    bool x14 = 0; /* stopped */
    uint x15 = 0;
    uint x16 = 0; /* phase */
    uint x17 = 0; /* sync */
    const uint v0 = record.block_dim_0;
    const uint v1 = record.block_dim_1;
    const uint v2 = v0 * v1;
    const uint v3 = record.block_dim_2;
    const uint v4 = v2 * v3;
    const uint v6 = (uint)(v4 << 2);
    const uint v7 = record.shared_bytes_0;
    const uint v9 = v7 + 16u;
    const uint v10 = (uint)local_id.z;
    const uint v11 = v10 * v1;
    const uint v12 = (uint)local_id.y;
    const uint v13 = v11 + v12;
    const uint v14 = v13 * v0;
    const uint v15 = (uint)local_id.x;
    const uint v16 = v14 + v15;
    const uint v17 = (uint)(v16 << 2);
    x13 = v17;
    for (;;) {
        const uint v20 = x13;
        const bool v21 = v20 < v9;
        const bool v23 = !v21;
        if (v23) {
            break;
        }
        *(threadgroup uint *)(group + v20) = 0u;
        const uint v28 = v20 + v6;
        x13 = v28;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v31 = record.lanes_0;
    const ulong v32 = (ulong)v31;
    const uint v33 = record.box_2;
    const uint v34 = (uint)group_id.z;
    const uint v35 = v33 + v34;
    const uint v36 = record.grid_dim_1;
    const uint v37 = record.box_1;
    const uint v38 = (uint)group_id.y;
    const uint v39 = v37 + v38;
    const uint v40 = v35 * v36;
    const uint v41 = v40 + v39;
    const uint v42 = record.grid_dim_0;
    const uint v43 = record.box_0;
    const uint v44 = (uint)group_id.x;
    const uint v45 = v43 + v44;
    const uint v46 = v41 * v42;
    const uint v47 = v46 + v45;
    const uint v48 = v47 * v4;
    const uint v49 = v48 + v16;
    const ulong v50 = (ulong)v49;
    const bool v51 = v50 < v32;
    const bool v53 = !v51;
    if (v53) {
        x14 = true;
    }
    /* shl.u64 r0, r255, r250 */
    const ulong v56 = (ulong)(v50 << 2);
    /* ldg.i32 r10, [r1 + r0] */
    const ulong v57 = record.limit_0_reach_4;
    const bool v58 = v56 < v57;
    const bool v59 = !v58;
    x15 = 0u;
    if (v59) {
        const bool v63 = x14;
        const bool v64 = !v63;
        if (v64) {
            const uint v66 = x16;
            block_reverse_kernel_f1(env, 0u, v56, v66);
            const uint v68 = x17;
            const uint v70 = v68 + 1u;
            *(volatile threadgroup uint *)(group) = v70;
            x14 = true;
        }
    } else {
        const uint v73 = *(device uint *)(s0 + v56);
        x15 = v73;
    }
    const uint v75 = x15;
    /* shl.u32 r5, r252, r250 */
    const uint v76 = (uint)(v15 << 2);
    /* sts.i32 [shared + r5], r10 */
    const ulong v77 = (ulong)v76;
    const ulong v78 = record.shared_limit_0_reach_4;
    const bool v79 = v77 < v78;
    const bool v80 = !v79;
    const uint v81 = v76 + 16u;
    if (v80) {
        const bool v83 = x14;
        const bool v84 = !v83;
        if (v84) {
            const uint v87 = x16;
            block_reverse_kernel_f1(env, 1u, v77, v87);
            const uint v89 = x17;
            const uint v90 = v89 + 1u;
            *(volatile threadgroup uint *)(group) = v90;
            x14 = true;
        }
    } else {
        const bool v93 = x14;
        const bool v94 = !v93;
        if (v94) {
            *(threadgroup uint *)(group + v81) = v75;
        }
    }
    /* bar.sync 0 */
    const uint v97 = x17;
    const uint v99 = v97 + 1u;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v101 = *(volatile threadgroup uint *)(group);
    const uint v102 = v101 - 1u;
    const bool v103 = v102 < v99;
    if (v103) {
        return;
    }
    const uint v106 = x16;
    const uint v107 = v106 + 1u;
    const bool v108 = x14;
    if (v108) {
        return;
    }
    /* sub.u32 r7, r254, r6 */
    const uint v111 = v0 - 1u;
    /* sub.u32 r7, r7, r252 */
    const uint v112 = v111 - v15;
    /* shl.u32 r7, r7, r250 */
    const uint v113 = (uint)(v112 << 2);
    /* lds.i32 r11, [shared + r7] */
    const ulong v114 = (ulong)v113;
    const bool v115 = v114 < v78;
    const bool v116 = !v115;
    const uint v117 = v113 + 16u;
    if (v116) {
        block_reverse_kernel_f1(env, 2u, v114, v107);
        return;
    }
    const uint v121 = *(threadgroup uint *)(group + v117);
    /* stg.i32 [r1 + r0], r11 */
    if (v59) {
        block_reverse_kernel_f1(env, 3u, v56, v107);
        return;
    }
    *(device uint *)(s0 + v56) = v121;
}


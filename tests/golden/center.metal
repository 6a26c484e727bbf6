/* Written by hologram: Metal Shading Language 3.2; compile with the safe math mode.
The program has whole-array steps: the kernels run in this order, each over all lanes.
  0: step parallel_reduce.f32
  1: center_0
  2: end
center_0, slot 0: the plan's environment as the kernel finds it
center_0, slot 1: input 0, x
center_0, slot 2: input 1, y
center_0, slot 3: the fault record
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
typedef struct center_0_kernel_record {
    ulong base_0;
    ulong input_2;
    ulong limit_1_reach_4;
    ulong base_1;
    ulong base_3;
    ulong limit_2_reach_4;
    ulong base_2;
    uint count_0;
    uint first_0;
} center_0_kernel_record;

/* What the functions of center_0 share. */
typedef struct center_0_kernel_env {
    device const uchar *s0;
    device const uchar *s1;
    device uchar *s2;
    device uchar *fault;
    center_0_kernel_record record;
    uint id_thread;
    uint x6; /* fault_site */
    ulong x7; /* fault_index */
} center_0_kernel_env;

static inline uint center_0_kernel_f2(uint a0, uint a1) {
    (void)a0;
    (void)a1;
    uint x2 = 0; /* rest */
    uint x3 = 0; /* quotient */
    uint x4 = 0; /* i */
    const uint v3 = a0 & 0x80000000u;
    const uint v4 = a0 ^ v3;
    const bool v6 = v4 == 0u;
    const bool v7 = v4 == 0x7f800000u;
    const bool v8 = 0x7f800000u < v4;
    const uint v10 = (uint)(v4 >> 23);
    const bool v11 = v10 == 0u;
    const uint v13 = v4 & 0x7fffffu;
    const uint v15 = v13 | 0x800000u;
    const uint v16 = v11 ? v13 : v15;
    const uint v17 = clz(v16);
    const uint v18 = (uint)(v16 << (v17 & 31u));
    const uint v20 = v11 ? 1u : v10;
    const uint v22 = v20 + 8u;
    const uint v23 = v22 - v17;
    const uint v25 = a1 & 0x80000000u;
    const uint v26 = a1 ^ v25;
    const bool v27 = v26 == 0u;
    const bool v28 = v26 == 0x7f800000u;
    const bool v29 = 0x7f800000u < v26;
    const uint v30 = (uint)(v26 >> 23);
    const bool v31 = v30 == 0u;
    const uint v32 = v26 & 0x7fffffu;
    const uint v33 = v32 | 0x800000u;
    const uint v34 = v31 ? v32 : v33;
    const uint v35 = clz(v34);
    const uint v36 = (uint)(v34 << (v35 & 31u));
    const uint v37 = v31 ? 1u : v30;
    const uint v38 = v37 + 8u;
    const uint v39 = v38 - v35;
    const uint v40 = v3 ^ v25;
    const uint v41 = (uint)(v36 >> 1);
    const uint v42 = (uint)(v18 >> 1);
    x2 = v42;
    x3 = 0u;
    x4 = 0u;
    for (;;) {
        const uint v48 = x4;
        const bool v49 = v48 < 27u;
        const bool v51 = !v49;
        if (v51) {
            break;
        }
        const uint v54 = x2;
        const uint v55 = x3;
        const bool v56 = v54 < v41;
        const bool v57 = !v56;
        const uint v58 = v54 - v41;
        const uint v59 = v57 ? v58 : v54;
        const uint v60 = (uint)(v59 << 1);
        x2 = v60;
        const uint v62 = (uint)(v55 << 1);
        const uint v63 = v57 ? 1u : 0u;
        const uint v64 = v62 | v63;
        x3 = v64;
        const uint v66 = v48 + 1u;
        x4 = v66;
    }
    const uint v68 = x3;
    const uint v70 = (uint)(v68 << 5);
    const uint v71 = x2;
    const bool v72 = v71 == 0u;
    const bool v74 = !v72;
    const uint v75 = v74 ? 1u : 0u;
    const uint v76 = v70 | v75;
    const uint v77 = clz(v76);
    const uint v78 = v23 - v39;
    const uint v80 = v78 + 127u;
    const uint v81 = v80 - v77;
    const uint v82 = (uint)(v76 << (v77 & 31u));
    const bool v83 = (int)v81 < (int)1u;
    const uint v84 = 1u - v81;
    const bool v86 = v84 < 31u;
    const uint v87 = v86 ? v84 : 31u;
    const uint v88 = (uint)(v82 >> (v87 & 31u));
    const uint v89 = (uint)(v88 << (v87 & 31u));
    const bool v90 = v89 == v82;
    const bool v91 = !v90;
    const uint v92 = v91 ? 1u : 0u;
    const uint v93 = v88 | v92;
    const uint v94 = v83 ? v93 : v82;
    const uint v95 = (uint)(v94 >> 8);
    const uint v97 = v94 & 255u;
    const uint v99 = v95 & 1u;
    const bool v100 = v99 == 0u;
    const bool v101 = !v100;
    const bool v102 = 128u < v97;
    const bool v103 = v97 == 128u;
    const bool v104 = v103 & v101;
    const bool v105 = v102 | v104;
    const uint v106 = v81 - 1u;
    const uint v107 = (uint)(v106 << 23);
    const uint v108 = v83 ? 0u : v107;
    const uint v109 = v108 + v95;
    const uint v110 = v105 ? 1u : 0u;
    const uint v111 = v109 + v110;
    const bool v113 = (int)254u < (int)v81;
    const uint v114 = v113 ? 0x7f800000u : v111;
    const uint v115 = v40 | v114;
    const bool v116 = v6 | v28;
    const uint v117 = v116 ? v40 : v115;
    const bool v118 = v7 | v27;
    const uint v119 = v40 | 0x7f800000u;
    const uint v120 = v118 ? v119 : v117;
    const bool v121 = v6 & v27;
    const bool v122 = v7 & v28;
    const bool v123 = v121 | v122;
    const bool v124 = v8 | v29;
    const bool v125 = v123 | v124;
    const uint v127 = v125 ? 0x7fc00000u : v120;
    return v127;
}

static inline float center_0_kernel_f1(float a0, float a1) {
    (void)a0;
    (void)a1;
    float x1 = 0; /* result */
    const uint v1 = as_type<uint>(a0);
    const uint v3 = v1 & 0x7fffffffu;
    const bool v5 = v3 == 0u;
    const uint v7 = v1 & 0x7f800000u;
    const bool v8 = v7 == 0u;
    const bool v10 = !v5;
    const bool v11 = v8 & v10;
    const uint v13 = as_type<uint>(a1);
    const uint v14 = v13 & 0x7fffffffu;
    const bool v15 = v14 == 0u;
    const uint v16 = v13 & 0x7f800000u;
    const bool v17 = v16 == 0u;
    const bool v18 = !v15;
    const bool v19 = v17 & v18;
    const bool v20 = v11 | v19;
    const bool v21 = v10 & v18;
    const float v22 = a0 / a1;
    x1 = v22;
    const uint v25 = as_type<uint>(v22);
    const uint v26 = v25 & 0x7f800000u;
    const bool v27 = 0x800000u < v26;
    const bool v28 = !v27;
    const bool v29 = v28 & v21;
    const bool v30 = v20 | v29;
    if (v30) {
        const uint v32 = center_0_kernel_f2(v1, v13);
        const float v33 = as_type<float>(v32);
        x1 = v33;
    }
    const float v35 = x1;
    return v35;
}

static inline uint center_0_kernel_f4(uint a0, uint a1) {
    (void)a0;
    (void)a1;
    const uint v3 = a1 ^ 0x80000000u;
    const uint v5 = a0 & 0x80000000u;
    const uint v6 = a0 ^ v5;
    const bool v8 = v6 == 0u;
    const bool v9 = v6 == 0x7f800000u;
    const bool v10 = 0x7f800000u < v6;
    const uint v12 = (uint)(v6 >> 23);
    const bool v13 = v12 == 0u;
    const uint v15 = v6 & 0x7fffffu;
    const uint v17 = v15 | 0x800000u;
    const uint v18 = v13 ? v15 : v17;
    const uint v19 = clz(v18);
    const uint v20 = (uint)(v18 << (v19 & 31u));
    const uint v22 = v13 ? 1u : v12;
    const uint v24 = v22 + 8u;
    const uint v25 = v24 - v19;
    const uint v26 = v3 & 0x80000000u;
    const uint v27 = v3 ^ v26;
    const bool v28 = v27 == 0u;
    const bool v29 = v27 == 0x7f800000u;
    const bool v30 = 0x7f800000u < v27;
    const uint v31 = (uint)(v27 >> 23);
    const bool v32 = v31 == 0u;
    const uint v33 = v27 & 0x7fffffu;
    const uint v34 = v33 | 0x800000u;
    const uint v35 = v32 ? v33 : v34;
    const uint v36 = clz(v35);
    const uint v37 = (uint)(v35 << (v36 & 31u));
    const uint v38 = v32 ? 1u : v31;
    const uint v39 = v38 + 8u;
    const uint v40 = v39 - v36;
    const bool v41 = v6 < v27;
    const bool v42 = v5 == v26;
    const uint v43 = v41 ? v37 : v20;
    const uint v44 = (uint)(v43 >> 1);
    const uint v45 = v41 ? v20 : v37;
    const uint v46 = (uint)(v45 >> 1);
    const uint v47 = v41 ? v40 : v25;
    const uint v48 = v41 ? v25 : v40;
    const uint v49 = v47 - v48;
    const bool v51 = v49 < 31u;
    const uint v52 = v51 ? v49 : 31u;
    const uint v53 = (uint)(v46 >> (v52 & 31u));
    const uint v54 = (uint)(v53 << (v52 & 31u));
    const bool v55 = v54 == v46;
    const bool v57 = !v55;
    const uint v58 = v57 ? 1u : 0u;
    const uint v59 = v53 | v58;
    const uint v60 = v44 + v59;
    const uint v61 = v44 - v59;
    const uint v62 = v42 ? v60 : v61;
    const uint v63 = clz(v62);
    const uint v64 = v47 + 1u;
    const uint v65 = v64 - v63;
    const uint v66 = v41 ? v26 : v5;
    const uint v67 = (uint)(v62 << (v63 & 31u));
    const bool v68 = (int)v65 < (int)1u;
    const uint v69 = 1u - v65;
    const bool v70 = v69 < 31u;
    const uint v71 = v70 ? v69 : 31u;
    const uint v72 = (uint)(v67 >> (v71 & 31u));
    const uint v73 = (uint)(v72 << (v71 & 31u));
    const bool v74 = v73 == v67;
    const bool v75 = !v74;
    const uint v76 = v75 ? 1u : 0u;
    const uint v77 = v72 | v76;
    const uint v78 = v68 ? v77 : v67;
    const uint v79 = (uint)(v78 >> 8);
    const uint v81 = v78 & 255u;
    const uint v83 = v79 & 1u;
    const bool v84 = v83 == 0u;
    const bool v85 = !v84;
    const bool v86 = 128u < v81;
    const bool v87 = v81 == 128u;
    const bool v88 = v87 & v85;
    const bool v89 = v86 | v88;
    const uint v90 = v65 - 1u;
    const uint v91 = (uint)(v90 << 23);
    const uint v92 = v68 ? 0u : v91;
    const uint v93 = v92 + v79;
    const uint v94 = v89 ? 1u : 0u;
    const uint v95 = v93 + v94;
    const bool v97 = (int)254u < (int)v65;
    const uint v98 = v97 ? 0x7f800000u : v95;
    const uint v99 = v66 | v98;
    const bool v100 = v62 == 0u;
    const uint v101 = v5 & v26;
    const uint v102 = v100 ? v101 : v99;
    const uint v103 = v8 ? v102 : a0;
    const uint v104 = v28 ? v103 : v102;
    const uint v105 = v28 ? v104 : v3;
    const uint v106 = v8 ? v105 : v104;
    const uint v107 = v9 ? a0 : v106;
    const uint v108 = v29 ? v3 : v107;
    const bool v109 = v9 & v29;
    const bool v110 = !v42;
    const bool v111 = v109 & v110;
    const bool v112 = v10 | v30;
    const bool v113 = v111 | v112;
    const uint v115 = v113 ? 0x7fc00000u : v108;
    return v115;
}

static inline float center_0_kernel_f3(float a0, float a1) {
    (void)a0;
    (void)a1;
    float x5 = 0; /* result */
    const uint v1 = as_type<uint>(a0);
    const uint v3 = v1 & 0x7fffffffu;
    const bool v5 = v3 == 0u;
    const uint v7 = v1 & 0x7f800000u;
    const bool v8 = v7 == 0u;
    const bool v10 = !v5;
    const bool v11 = v8 & v10;
    const uint v13 = as_type<uint>(a1);
    const uint v14 = v13 & 0x7fffffffu;
    const bool v15 = v14 == 0u;
    const uint v16 = v13 & 0x7f800000u;
    const bool v17 = v16 == 0u;
    const bool v18 = !v15;
    const bool v19 = v17 & v18;
    const bool v20 = v11 | v19;
    const bool v21 = v10 & v18;
    const float v22 = a0 - a1;
    x5 = v22;
    const uint v25 = as_type<uint>(v22);
    const uint v26 = v25 & 0x7f800000u;
    const bool v27 = 0x800000u < v26;
    const bool v28 = !v27;
    const bool v30 = v7 < 0x10000000u;
    const bool v31 = v28 & v30;
    const bool v32 = v31 & v21;
    const bool v33 = v20 | v32;
    if (v33) {
        const uint v35 = center_0_kernel_f4(v1, v13);
        const float v36 = as_type<float>(v35);
        x5 = v36;
    }
    const float v38 = x5;
    return v38;
}

static inline void center_0_kernel_f6(thread center_0_kernel_env *env) {
    (void)env;
    const uint v0 = env->id_thread;
    const uint v1 = env->record.count_0;
    const bool v2 = v0 < v1;
    const bool v4 = !v2;
    if (v4) {
        return;
    }
    const uint v7 = env->record.first_0;
    const uint v8 = v7 + v0;
    const ulong v9 = (ulong)v8;
    const float v11 = *(device const float *)(env->s0);
    /* cvt.f32.u64 r11, r4 */
    const ulong v12 = env->record.input_2;
    const float v13 = (float)v12;
    /* div.f32 r12, r10, r11 */
    const float v14 = center_0_kernel_f1(v11, v13);
    /* setgeu.u64 p0, r255, r4 */
    const bool v15 = v9 < v12;
    /* bra.p0 @done */
    if (v15) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const ulong v18 = (ulong)(v9 << 2);
        /* ldg.f32 r13, [r1 + r0] */
        const ulong v19 = env->record.limit_1_reach_4;
        const bool v20 = v18 < v19;
        const bool v21 = !v20;
        if (v21) {
            env->x6 = 1u;
            env->x7 = v18;
            return;
        }
        const float v27 = *(device const float *)(env->s1 + v18);
        /* sub.f32 r14, r13, r12 */
        const float v28 = center_0_kernel_f3(v27, v14);
        /* stg.f32 [r2 + r0], r14 */
        const ulong v29 = env->record.limit_2_reach_4;
        const bool v30 = v18 < v29;
        const bool v31 = !v30;
        if (v31) {
            env->x6 = 2u;
            env->x7 = v18;
            return;
        }
        *(device float *)(env->s2 + v18) = v28;
    }
}

static inline void center_0_kernel_f5(thread center_0_kernel_env *env, uint a0, ulong a1) {
    (void)env;
    (void)a0;
    (void)a1;
    const uint v2 = env->id_thread;
    const uint v4 = atomic_fetch_min_explicit((volatile device atomic_uint *)(env->fault + 4ul), v2, memory_order_relaxed);
    const bool v5 = v4 < v2;
    if (v5) {
        return;
    }
    const uint v8 = env->record.first_0;
    const uint v9 = v8 + v2;
    const ulong v10 = (ulong)v9;
    for (;;) {
        const uint v15 = hg_atomic_cas((volatile device atomic_uint *)(env->fault), 0u, 1u, memory_order_relaxed);
        const bool v16 = v15 == 0u;
        if (v16) {
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            const uint v20 = *(volatile device uint *)(env->fault + 8ul);
            const uint v22 = *(volatile device uint *)(env->fault + 24ul);
            const uint v24 = *(volatile device uint *)(env->fault + 28ul);
            const ulong v25 = (ulong)v24;
            const ulong v27 = (ulong)(v25 << 32);
            const ulong v28 = (ulong)v22;
            const ulong v29 = v27 | v28;
            const bool v30 = v10 < v29;
            const bool v31 = v20 == 0u;
            const bool v32 = v31 | v30;
            if (v32) {
                *(volatile device uint *)(env->fault + 12ul) = a0;
                *(volatile device uint *)(env->fault + 24ul) = v9;
                const ulong v37 = (ulong)(v10 >> 32);
                const uint v38 = (uint)v37;
                *(volatile device uint *)(env->fault + 28ul) = v38;
                const uint v40 = (uint)a1;
                *(volatile device uint *)(env->fault + 32ul) = v40;
                const ulong v43 = (ulong)(a1 >> 32);
                const uint v44 = (uint)v43;
                *(volatile device uint *)(env->fault + 36ul) = v44;
                *(volatile device uint *)(env->fault + 8ul) = 1u;
            }
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            atomic_exchange_explicit((volatile device atomic_uint *)(env->fault), 0u, memory_order_relaxed);
        }
        if (v16) {
            break;
        }
    }
}

/* One invocation. */
kernel void center_0_kernel(device const uchar *s0_arena [[buffer(0)]], device const uchar *s1_arena [[buffer(1)]], device uchar *s2_arena [[buffer(2)]], device uchar *fault_arena [[buffer(3)]], constant center_0_kernel_record &record [[buffer(4)]], uint3 thread_id [[thread_position_in_grid]], uint3 local_id [[thread_position_in_threadgroup]], uint3 group_id [[threadgroup_position_in_grid]]) {
    (void)thread_id, (void)local_id, (void)group_id;
    device const uchar *const s0 = s0_arena + record.base_0;
    device const uchar *const s1 = s1_arena + record.base_1;
    device uchar *const s2 = s2_arena + record.base_2;
    device uchar *const fault = fault_arena + record.base_3;
    center_0_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.s2 = s2;
    environment.fault = fault;
    environment.record = record;
    environment.id_thread = (uint)thread_id.x;
    thread center_0_kernel_env *const env = &environment;
    (void)env;
    center_0_kernel_f6(env);
    const uint v1 = env->x6;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x7;
        center_0_kernel_f5(env, v8, v9);
    }
}

/* Written by hologram: Metal Shading Language 3.2; compile with the safe math mode.
reduce_add_f32, slot 0: input 0
reduce_add_f32, slot 1: input 1
 */
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

/* What a launch tells every lane. */
typedef struct reduce_add_f32_kernel_record {
    ulong input_2;
    ulong base_0;
    ulong base_1;
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
} reduce_add_f32_kernel_record;

static inline uint reduce_add_f32_kernel_f2(uint a0, uint a1) {
    (void)a0;
    (void)a1;
    const uint v4 = a0 & 0x80000000u;
    const uint v5 = a0 ^ v4;
    const bool v7 = v5 == 0u;
    const bool v8 = v5 == 0x7f800000u;
    const bool v9 = 0x7f800000u < v5;
    const uint v11 = (uint)(v5 >> 23);
    const bool v12 = v11 == 0u;
    const uint v14 = v5 & 0x7fffffu;
    const uint v16 = v14 | 0x800000u;
    const uint v17 = v12 ? v14 : v16;
    const uint v18 = clz(v17);
    const uint v19 = (uint)(v17 << (v18 & 31u));
    const uint v21 = v12 ? 1u : v11;
    const uint v23 = v21 + 8u;
    const uint v24 = v23 - v18;
    const uint v25 = a1 & 0x80000000u;
    const uint v26 = a1 ^ v25;
    const bool v27 = v26 == 0u;
    const bool v28 = v26 == 0x7f800000u;
    const bool v29 = 0x7f800000u < v26;
    const uint v30 = (uint)(v26 >> 23);
    const bool v31 = v30 == 0u;
    const uint v32 = v26 & 0x7fffffu;
    const uint v33 = v32 | 0x800000u;
    const uint v34 = v31 ? v32 : v33;
    const uint v35 = clz(v34);
    const uint v36 = (uint)(v34 << (v35 & 31u));
    const uint v37 = v31 ? 1u : v30;
    const uint v38 = v37 + 8u;
    const uint v39 = v38 - v35;
    const bool v40 = v5 < v26;
    const bool v41 = v4 == v25;
    const uint v42 = v40 ? v36 : v19;
    const uint v43 = (uint)(v42 >> 1);
    const uint v44 = v40 ? v19 : v36;
    const uint v45 = (uint)(v44 >> 1);
    const uint v46 = v40 ? v39 : v24;
    const uint v47 = v40 ? v24 : v39;
    const uint v48 = v46 - v47;
    const bool v50 = v48 < 31u;
    const uint v51 = v50 ? v48 : 31u;
    const uint v52 = (uint)(v45 >> (v51 & 31u));
    const uint v53 = (uint)(v52 << (v51 & 31u));
    const bool v54 = v53 == v45;
    const bool v56 = !v54;
    const uint v57 = v56 ? 1u : 0u;
    const uint v58 = v52 | v57;
    const uint v59 = v43 + v58;
    const uint v60 = v43 - v58;
    const uint v61 = v41 ? v59 : v60;
    const uint v62 = clz(v61);
    const uint v63 = v46 + 1u;
    const uint v64 = v63 - v62;
    const uint v65 = v40 ? v25 : v4;
    const uint v66 = (uint)(v61 << (v62 & 31u));
    const bool v67 = (int)v64 < (int)1u;
    const uint v68 = 1u - v64;
    const bool v69 = v68 < 31u;
    const uint v70 = v69 ? v68 : 31u;
    const uint v71 = (uint)(v66 >> (v70 & 31u));
    const uint v72 = (uint)(v71 << (v70 & 31u));
    const bool v73 = v72 == v66;
    const bool v74 = !v73;
    const uint v75 = v74 ? 1u : 0u;
    const uint v76 = v71 | v75;
    const uint v77 = v67 ? v76 : v66;
    const uint v78 = (uint)(v77 >> 8);
    const uint v80 = v77 & 255u;
    const uint v82 = v78 & 1u;
    const bool v83 = v82 == 0u;
    const bool v84 = !v83;
    const bool v85 = 128u < v80;
    const bool v86 = v80 == 128u;
    const bool v87 = v86 & v84;
    const bool v88 = v85 | v87;
    const uint v89 = v64 - 1u;
    const uint v90 = (uint)(v89 << 23);
    const uint v91 = v67 ? 0u : v90;
    const uint v92 = v91 + v78;
    const uint v93 = v88 ? 1u : 0u;
    const uint v94 = v92 + v93;
    const bool v96 = (int)254u < (int)v64;
    const uint v97 = v96 ? 0x7f800000u : v94;
    const uint v98 = v65 | v97;
    const bool v99 = v61 == 0u;
    const uint v100 = v4 & v25;
    const uint v101 = v99 ? v100 : v98;
    const uint v102 = v7 ? v101 : a0;
    const uint v103 = v27 ? v102 : v101;
    const uint v104 = v27 ? v103 : a1;
    const uint v105 = v7 ? v104 : v103;
    const uint v106 = v8 ? a0 : v105;
    const uint v107 = v28 ? a1 : v106;
    const bool v108 = v8 & v28;
    const bool v109 = !v41;
    const bool v110 = v108 & v109;
    const bool v111 = v9 | v29;
    const bool v112 = v110 | v111;
    const uint v114 = v112 ? 0x7fc00000u : v107;
    return v114;
}

static inline float reduce_add_f32_kernel_f1(float a0, float a1) {
    (void)a0;
    (void)a1;
    float x3 = 0; /* result */
    const uint v1 = as_type<uint>(a0);
    const uint v3 = v1 & 0x7fffffffu;
    const bool v5 = v3 == 0u;
    const uint v7 = v1 & 0x7f800000u;
    const bool v8 = v7 == 0u;
    const bool v10 = !v5;
    const bool v11 = v8 & v10;
    const uint v13 = as_type<uint>(a1);
    const uint v14 = v13 & 0x7fffffffu;
    const bool v15 = v14 == 0u;
    const uint v16 = v13 & 0x7f800000u;
    const bool v17 = v16 == 0u;
    const bool v18 = !v15;
    const bool v19 = v17 & v18;
    const bool v20 = v11 | v19;
    const bool v21 = v10 & v18;
    const float v22 = a0 + a1;
    x3 = v22;
    const uint v25 = as_type<uint>(v22);
    const uint v26 = v25 & 0x7f800000u;
    const bool v27 = 0x800000u < v26;
    const bool v28 = !v27;
    const bool v30 = v7 < 0x10000000u;
    const bool v31 = v28 & v30;
    const bool v32 = v31 & v21;
    const bool v33 = v20 | v32;
    if (v33) {
        const uint v35 = reduce_add_f32_kernel_f2(v1, v13);
        const float v36 = as_type<float>(v35);
        x3 = v36;
    }
    const float v38 = x3;
    return v38;
}

/* One invocation. */
kernel void reduce_add_f32_kernel(device const uchar *s0_arena [[buffer(0)]], device uchar *s1_arena [[buffer(1)]], threadgroup ulong *group_memory [[threadgroup(0)]], constant reduce_add_f32_kernel_record &record [[buffer(2)]], uint3 thread_id [[thread_position_in_grid]], uint3 local_id [[thread_position_in_threadgroup]], uint3 group_id [[threadgroup_position_in_grid]]) {
    (void)thread_id, (void)local_id, (void)group_id;
    device const uchar *const s0 = s0_arena + record.base_0;
    device uchar *const s1 = s1_arena + record.base_1;
    threadgroup uchar *const group = (threadgroup uchar *)group_memory;
    float x0 = 0; /* sum */
    uint x1 = 0; /* at */
    ulong x2 = 0; /* place */
    uint x4 = 0; /* at */
    bool x5 = 0; /* stopped */
    float x6 = 0;
    float x9 = 0;
    float x10 = 0;
    float x11 = 0;
    float x12 = 0;
    float x13 = 0;
    float x14 = 0;
    float x15 = 0;
    float x16 = 0;
    float x17 = 0;
    float x18 = 0;
    float x19 = 0;
    float x20 = 0;
    float x21 = 0;
    float x22 = 0;
    const uint v0 = record.block_dim_0;
    const uint v1 = record.block_dim_1;
    const uint v2 = v0 * v1;
    const uint v3 = record.block_dim_2;
    const uint v4 = v2 * v3;
    const uint v6 = (uint)(v4 << 2);
    const uint v7 = record.shared_bytes_0;
    const uint v9 = (uint)local_id.z;
    const uint v10 = v9 * v1;
    const uint v11 = (uint)local_id.y;
    const uint v12 = v10 + v11;
    const uint v13 = v12 * v0;
    const uint v14 = (uint)local_id.x;
    const uint v15 = v13 + v14;
    const uint v16 = (uint)(v15 << 2);
    x4 = v16;
    for (;;) {
        const uint v19 = x4;
        const bool v20 = v19 < v7;
        const bool v22 = !v20;
        if (v22) {
            break;
        }
        *(threadgroup uint *)(group + v19) = 0u;
        const uint v26 = v19 + v6;
        x4 = v26;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v29 = record.lanes_0;
    const ulong v30 = (ulong)v29;
    const uint v31 = record.box_2;
    const uint v32 = (uint)group_id.z;
    const uint v33 = v31 + v32;
    const uint v34 = record.grid_dim_1;
    const uint v35 = record.box_1;
    const uint v36 = (uint)group_id.y;
    const uint v37 = v35 + v36;
    const uint v38 = v33 * v34;
    const uint v39 = v38 + v37;
    const uint v40 = record.grid_dim_0;
    const uint v41 = record.box_0;
    const uint v42 = (uint)group_id.x;
    const uint v43 = v41 + v42;
    const uint v44 = v39 * v40;
    const uint v45 = v44 + v43;
    const uint v46 = v45 * v4;
    const uint v47 = v46 + v15;
    const ulong v48 = (ulong)v47;
    const bool v49 = v48 < v30;
    const bool v51 = !v49;
    if (v51) {
        x5 = true;
    }
    const ulong v54 = record.input_2;
    const ulong v55 = (ulong)v43;
    const ulong v57 = v55 * 4096ul;
    const ulong v58 = v54 - v57;
    const bool v59 = v58 < 4096ul;
    const ulong v60 = v59 ? v58 : 4096ul;
    const uint v61 = (uint)v60;
    const bool v62 = v14 < v61;
    if (v62) {
        const ulong v64 = (ulong)v14;
        const ulong v65 = v57 + v64;
        const ulong v67 = v65 * 4ul;
        x6 = 0.0f;
        const bool v70 = x5;
        const bool v71 = !v70;
        if (v71) {
            const float v73 = *(device const float *)(s0 + v67);
            x6 = v73;
        }
        const float v75 = x6;
        x0 = v75;
        const uint v78 = v14 + 128u;
        x1 = v78;
        x2 = v67;
        if (v71) {
            for (;;) {
                const uint v83 = x1;
                const bool v84 = v83 < v61;
                const bool v85 = !v84;
                if (v85) {
                    break;
                }
                const ulong v88 = x2;
                const ulong v90 = v88 + 512ul;
                x2 = v90;
                const float v92 = x0;
                const float v93 = *(device const float *)(s0 + v90);
                const float v94 = reduce_add_f32_kernel_f1(v92, v93);
                x0 = v94;
                const uint v96 = v83 + 128u;
                x1 = v96;
            }
        }
        const float v98 = x0;
        const ulong v99 = v64 * 4ul;
        const uint v100 = (uint)v99;
        if (v71) {
            *(threadgroup float *)(group + v100) = v98;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v106 = v14 + 64u;
    const bool v107 = v14 < 64u;
    const bool v108 = v106 < v61;
    const bool v109 = v107 & v108;
    if (v109) {
        const ulong v111 = (ulong)v14;
        const ulong v113 = v111 * 4ul;
        const uint v114 = (uint)v113;
        x9 = 0.0f;
        const bool v117 = x5;
        const bool v118 = !v117;
        if (v118) {
            const float v120 = *(threadgroup float *)(group + v114);
            x9 = v120;
        }
        const float v122 = x9;
        const ulong v123 = (ulong)v106;
        const ulong v124 = v123 * 4ul;
        const uint v125 = (uint)v124;
        x10 = 0.0f;
        if (v118) {
            const float v128 = *(threadgroup float *)(group + v125);
            x10 = v128;
        }
        const float v130 = x10;
        const float v131 = reduce_add_f32_kernel_f1(v122, v130);
        if (v118) {
            *(threadgroup float *)(group + v114) = v131;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v136 = v14 + 32u;
    const bool v137 = v14 < 32u;
    const bool v138 = v136 < v61;
    const bool v139 = v137 & v138;
    if (v139) {
        const ulong v141 = (ulong)v14;
        const ulong v143 = v141 * 4ul;
        const uint v144 = (uint)v143;
        x11 = 0.0f;
        const bool v147 = x5;
        const bool v148 = !v147;
        if (v148) {
            const float v150 = *(threadgroup float *)(group + v144);
            x11 = v150;
        }
        const float v152 = x11;
        const ulong v153 = (ulong)v136;
        const ulong v154 = v153 * 4ul;
        const uint v155 = (uint)v154;
        x12 = 0.0f;
        if (v148) {
            const float v158 = *(threadgroup float *)(group + v155);
            x12 = v158;
        }
        const float v160 = x12;
        const float v161 = reduce_add_f32_kernel_f1(v152, v160);
        if (v148) {
            *(threadgroup float *)(group + v144) = v161;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v166 = v14 + 16u;
    const bool v167 = v14 < 16u;
    const bool v168 = v166 < v61;
    const bool v169 = v167 & v168;
    if (v169) {
        const ulong v171 = (ulong)v14;
        const ulong v173 = v171 * 4ul;
        const uint v174 = (uint)v173;
        x13 = 0.0f;
        const bool v177 = x5;
        const bool v178 = !v177;
        if (v178) {
            const float v180 = *(threadgroup float *)(group + v174);
            x13 = v180;
        }
        const float v182 = x13;
        const ulong v183 = (ulong)v166;
        const ulong v184 = v183 * 4ul;
        const uint v185 = (uint)v184;
        x14 = 0.0f;
        if (v178) {
            const float v188 = *(threadgroup float *)(group + v185);
            x14 = v188;
        }
        const float v190 = x14;
        const float v191 = reduce_add_f32_kernel_f1(v182, v190);
        if (v178) {
            *(threadgroup float *)(group + v174) = v191;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v196 = v14 + 8u;
    const bool v197 = v14 < 8u;
    const bool v198 = v196 < v61;
    const bool v199 = v197 & v198;
    if (v199) {
        const ulong v201 = (ulong)v14;
        const ulong v203 = v201 * 4ul;
        const uint v204 = (uint)v203;
        x15 = 0.0f;
        const bool v207 = x5;
        const bool v208 = !v207;
        if (v208) {
            const float v210 = *(threadgroup float *)(group + v204);
            x15 = v210;
        }
        const float v212 = x15;
        const ulong v213 = (ulong)v196;
        const ulong v214 = v213 * 4ul;
        const uint v215 = (uint)v214;
        x16 = 0.0f;
        if (v208) {
            const float v218 = *(threadgroup float *)(group + v215);
            x16 = v218;
        }
        const float v220 = x16;
        const float v221 = reduce_add_f32_kernel_f1(v212, v220);
        if (v208) {
            *(threadgroup float *)(group + v204) = v221;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v226 = v14 + 4u;
    const bool v227 = v14 < 4u;
    const bool v228 = v226 < v61;
    const bool v229 = v227 & v228;
    if (v229) {
        const ulong v231 = (ulong)v14;
        const ulong v233 = v231 * 4ul;
        const uint v234 = (uint)v233;
        x17 = 0.0f;
        const bool v237 = x5;
        const bool v238 = !v237;
        if (v238) {
            const float v240 = *(threadgroup float *)(group + v234);
            x17 = v240;
        }
        const float v242 = x17;
        const ulong v243 = (ulong)v226;
        const ulong v244 = v243 * 4ul;
        const uint v245 = (uint)v244;
        x18 = 0.0f;
        if (v238) {
            const float v248 = *(threadgroup float *)(group + v245);
            x18 = v248;
        }
        const float v250 = x18;
        const float v251 = reduce_add_f32_kernel_f1(v242, v250);
        if (v238) {
            *(threadgroup float *)(group + v234) = v251;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v255 = v14 + 2u;
    const bool v256 = v14 < 2u;
    const bool v257 = v255 < v61;
    const bool v258 = v256 & v257;
    if (v258) {
        const ulong v260 = (ulong)v14;
        const ulong v262 = v260 * 4ul;
        const uint v263 = (uint)v262;
        x19 = 0.0f;
        const bool v266 = x5;
        const bool v267 = !v266;
        if (v267) {
            const float v269 = *(threadgroup float *)(group + v263);
            x19 = v269;
        }
        const float v271 = x19;
        const ulong v272 = (ulong)v255;
        const ulong v273 = v272 * 4ul;
        const uint v274 = (uint)v273;
        x20 = 0.0f;
        if (v267) {
            const float v277 = *(threadgroup float *)(group + v274);
            x20 = v277;
        }
        const float v279 = x20;
        const float v280 = reduce_add_f32_kernel_f1(v271, v279);
        if (v267) {
            *(threadgroup float *)(group + v263) = v280;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v284 = v14 + 1u;
    const bool v285 = v14 < 1u;
    const bool v286 = v284 < v61;
    const bool v287 = v285 & v286;
    if (v287) {
        const ulong v289 = (ulong)v14;
        const ulong v291 = v289 * 4ul;
        const uint v292 = (uint)v291;
        x21 = 0.0f;
        const bool v295 = x5;
        const bool v296 = !v295;
        if (v296) {
            const float v298 = *(threadgroup float *)(group + v292);
            x21 = v298;
        }
        const float v300 = x21;
        const ulong v301 = (ulong)v284;
        const ulong v302 = v301 * 4ul;
        const uint v303 = (uint)v302;
        x22 = 0.0f;
        if (v296) {
            const float v306 = *(threadgroup float *)(group + v303);
            x22 = v306;
        }
        const float v308 = x22;
        const float v309 = reduce_add_f32_kernel_f1(v300, v308);
        if (v296) {
            *(threadgroup float *)(group + v292) = v309;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const bool v313 = x5;
    if (v313) {
        return;
    }
    const bool v316 = v14 == 0u;
    if (v316) {
        const ulong v318 = (ulong)v14;
        const ulong v320 = v318 * 4ul;
        const uint v321 = (uint)v320;
        const float v322 = *(threadgroup float *)(group + v321);
        const ulong v323 = v55 * 4ul;
        *(device float *)(s1 + v323) = v322;
    }
}


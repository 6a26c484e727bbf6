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
    for (;;) {
        const uint v14 = hg_atomic_cas((volatile device atomic_uint *)(env->fault), 0u, 1u, memory_order_relaxed);
        const bool v15 = v14 == 0u;
        if (v15) {
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            const uint v19 = *(volatile device uint *)(env->fault + 8ul);
            const uint v21 = *(volatile device uint *)(env->fault + 24ul);
            const bool v22 = v9 < v21;
            const bool v23 = v19 == 0u;
            const bool v24 = v23 | v22;
            if (v24) {
                *(volatile device uint *)(env->fault + 12ul) = a0;
                *(volatile device uint *)(env->fault + 24ul) = v9;
                *(volatile device uint *)(env->fault + 28ul) = 0u;
                const uint v31 = (uint)a1;
                *(volatile device uint *)(env->fault + 32ul) = v31;
                const ulong v35 = (ulong)(a1 >> 32);
                const uint v36 = (uint)v35;
                *(volatile device uint *)(env->fault + 36ul) = v36;
                *(volatile device uint *)(env->fault + 8ul) = 1u;
            }
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            atomic_exchange_explicit((volatile device atomic_uint *)(env->fault), 0u, memory_order_relaxed);
        }
        if (v15) {
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
reduce_add_f32, for blocks of 128 x 1 x 1 lanes
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
    uint shared_bytes_0;
    uint lanes_0;
    uint box_2;
    uint grid_dim_1;
    uint box_1;
    uint grid_dim_0;
    uint box_0;
    uint unused_52;
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
    const uint v4 = record.shared_bytes_0;
    const uint v6 = (uint)local_id.z;
    const uint v7 = (uint)local_id.y;
    const uint v8 = v6 + v7;
    const uint v9 = v8 * 128u;
    const uint v10 = (uint)local_id.x;
    const uint v11 = v9 + v10;
    const uint v12 = (uint)(v11 << 2);
    x4 = v12;
    for (;;) {
        const uint v15 = x4;
        const bool v16 = v15 < v4;
        const bool v18 = !v16;
        if (v18) {
            break;
        }
        *(threadgroup uint *)(group + v15) = 0u;
        const uint v22 = v15 + 512u;
        x4 = v22;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v25 = record.lanes_0;
    const ulong v26 = (ulong)v25;
    const uint v27 = record.box_2;
    const uint v28 = (uint)group_id.z;
    const uint v29 = v27 + v28;
    const uint v30 = record.grid_dim_1;
    const uint v31 = record.box_1;
    const uint v32 = (uint)group_id.y;
    const uint v33 = v31 + v32;
    const uint v34 = v29 * v30;
    const uint v35 = v34 + v33;
    const uint v36 = record.grid_dim_0;
    const uint v37 = record.box_0;
    const uint v38 = (uint)group_id.x;
    const uint v39 = v37 + v38;
    const uint v40 = v35 * v36;
    const uint v41 = v40 + v39;
    const uint v42 = v41 * 128u;
    const uint v43 = v42 + v11;
    const ulong v44 = (ulong)v43;
    const bool v45 = v44 < v26;
    const bool v47 = !v45;
    if (v47) {
        x5 = true;
    }
    const ulong v50 = record.input_2;
    const ulong v51 = (ulong)v39;
    const ulong v53 = v51 * 4096ul;
    const ulong v54 = v50 - v53;
    const bool v55 = v54 < 4096ul;
    const ulong v56 = v55 ? v54 : 4096ul;
    const uint v57 = (uint)v56;
    const bool v58 = v10 < v57;
    if (v58) {
        const ulong v60 = (ulong)v10;
        const ulong v61 = v53 + v60;
        const ulong v63 = v61 * 4ul;
        x6 = 0.0f;
        const bool v66 = x5;
        const bool v67 = !v66;
        if (v67) {
            const float v69 = *(device const float *)(s0 + v63);
            x6 = v69;
        }
        const float v71 = x6;
        x0 = v71;
        const uint v73 = v10 + 128u;
        x1 = v73;
        x2 = v63;
        if (v67) {
            for (;;) {
                const uint v78 = x1;
                const bool v79 = v78 < v57;
                const bool v80 = !v79;
                if (v80) {
                    break;
                }
                const ulong v83 = x2;
                const ulong v85 = v83 + 512ul;
                x2 = v85;
                const float v87 = x0;
                const float v88 = *(device const float *)(s0 + v85);
                const float v89 = reduce_add_f32_kernel_f1(v87, v88);
                x0 = v89;
                const uint v91 = v78 + 128u;
                x1 = v91;
            }
        }
        const float v93 = x0;
        const ulong v94 = v60 * 4ul;
        const uint v95 = (uint)v94;
        if (v67) {
            *(threadgroup float *)(group + v95) = v93;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v100 = v10 + 64u;
    const bool v101 = v10 < 64u;
    const bool v102 = v100 < v57;
    const bool v103 = v101 & v102;
    if (v103) {
        const ulong v105 = (ulong)v10;
        const ulong v107 = v105 * 4ul;
        const uint v108 = (uint)v107;
        x9 = 0.0f;
        const bool v111 = x5;
        const bool v112 = !v111;
        if (v112) {
            const float v114 = *(threadgroup float *)(group + v108);
            x9 = v114;
        }
        const float v116 = x9;
        const ulong v117 = (ulong)v100;
        const ulong v118 = v117 * 4ul;
        const uint v119 = (uint)v118;
        x10 = 0.0f;
        if (v112) {
            const float v122 = *(threadgroup float *)(group + v119);
            x10 = v122;
        }
        const float v124 = x10;
        const float v125 = reduce_add_f32_kernel_f1(v116, v124);
        if (v112) {
            *(threadgroup float *)(group + v108) = v125;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v130 = v10 + 32u;
    const bool v131 = v10 < 32u;
    const bool v132 = v130 < v57;
    const bool v133 = v131 & v132;
    if (v133) {
        const ulong v135 = (ulong)v10;
        const ulong v137 = v135 * 4ul;
        const uint v138 = (uint)v137;
        x11 = 0.0f;
        const bool v141 = x5;
        const bool v142 = !v141;
        if (v142) {
            const float v144 = *(threadgroup float *)(group + v138);
            x11 = v144;
        }
        const float v146 = x11;
        const ulong v147 = (ulong)v130;
        const ulong v148 = v147 * 4ul;
        const uint v149 = (uint)v148;
        x12 = 0.0f;
        if (v142) {
            const float v152 = *(threadgroup float *)(group + v149);
            x12 = v152;
        }
        const float v154 = x12;
        const float v155 = reduce_add_f32_kernel_f1(v146, v154);
        if (v142) {
            *(threadgroup float *)(group + v138) = v155;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v160 = v10 + 16u;
    const bool v161 = v10 < 16u;
    const bool v162 = v160 < v57;
    const bool v163 = v161 & v162;
    if (v163) {
        const ulong v165 = (ulong)v10;
        const ulong v167 = v165 * 4ul;
        const uint v168 = (uint)v167;
        x13 = 0.0f;
        const bool v171 = x5;
        const bool v172 = !v171;
        if (v172) {
            const float v174 = *(threadgroup float *)(group + v168);
            x13 = v174;
        }
        const float v176 = x13;
        const ulong v177 = (ulong)v160;
        const ulong v178 = v177 * 4ul;
        const uint v179 = (uint)v178;
        x14 = 0.0f;
        if (v172) {
            const float v182 = *(threadgroup float *)(group + v179);
            x14 = v182;
        }
        const float v184 = x14;
        const float v185 = reduce_add_f32_kernel_f1(v176, v184);
        if (v172) {
            *(threadgroup float *)(group + v168) = v185;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v190 = v10 + 8u;
    const bool v191 = v10 < 8u;
    const bool v192 = v190 < v57;
    const bool v193 = v191 & v192;
    if (v193) {
        const ulong v195 = (ulong)v10;
        const ulong v197 = v195 * 4ul;
        const uint v198 = (uint)v197;
        x15 = 0.0f;
        const bool v201 = x5;
        const bool v202 = !v201;
        if (v202) {
            const float v204 = *(threadgroup float *)(group + v198);
            x15 = v204;
        }
        const float v206 = x15;
        const ulong v207 = (ulong)v190;
        const ulong v208 = v207 * 4ul;
        const uint v209 = (uint)v208;
        x16 = 0.0f;
        if (v202) {
            const float v212 = *(threadgroup float *)(group + v209);
            x16 = v212;
        }
        const float v214 = x16;
        const float v215 = reduce_add_f32_kernel_f1(v206, v214);
        if (v202) {
            *(threadgroup float *)(group + v198) = v215;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v220 = v10 + 4u;
    const bool v221 = v10 < 4u;
    const bool v222 = v220 < v57;
    const bool v223 = v221 & v222;
    if (v223) {
        const ulong v225 = (ulong)v10;
        const ulong v227 = v225 * 4ul;
        const uint v228 = (uint)v227;
        x17 = 0.0f;
        const bool v231 = x5;
        const bool v232 = !v231;
        if (v232) {
            const float v234 = *(threadgroup float *)(group + v228);
            x17 = v234;
        }
        const float v236 = x17;
        const ulong v237 = (ulong)v220;
        const ulong v238 = v237 * 4ul;
        const uint v239 = (uint)v238;
        x18 = 0.0f;
        if (v232) {
            const float v242 = *(threadgroup float *)(group + v239);
            x18 = v242;
        }
        const float v244 = x18;
        const float v245 = reduce_add_f32_kernel_f1(v236, v244);
        if (v232) {
            *(threadgroup float *)(group + v228) = v245;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v249 = v10 + 2u;
    const bool v250 = v10 < 2u;
    const bool v251 = v249 < v57;
    const bool v252 = v250 & v251;
    if (v252) {
        const ulong v254 = (ulong)v10;
        const ulong v256 = v254 * 4ul;
        const uint v257 = (uint)v256;
        x19 = 0.0f;
        const bool v260 = x5;
        const bool v261 = !v260;
        if (v261) {
            const float v263 = *(threadgroup float *)(group + v257);
            x19 = v263;
        }
        const float v265 = x19;
        const ulong v266 = (ulong)v249;
        const ulong v267 = v266 * 4ul;
        const uint v268 = (uint)v267;
        x20 = 0.0f;
        if (v261) {
            const float v271 = *(threadgroup float *)(group + v268);
            x20 = v271;
        }
        const float v273 = x20;
        const float v274 = reduce_add_f32_kernel_f1(v265, v273);
        if (v261) {
            *(threadgroup float *)(group + v257) = v274;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const uint v278 = v10 + 1u;
    const bool v279 = v10 < 1u;
    const bool v280 = v278 < v57;
    const bool v281 = v279 & v280;
    if (v281) {
        const ulong v283 = (ulong)v10;
        const ulong v285 = v283 * 4ul;
        const uint v286 = (uint)v285;
        x21 = 0.0f;
        const bool v289 = x5;
        const bool v290 = !v289;
        if (v290) {
            const float v292 = *(threadgroup float *)(group + v286);
            x21 = v292;
        }
        const float v294 = x21;
        const ulong v295 = (ulong)v278;
        const ulong v296 = v295 * 4ul;
        const uint v297 = (uint)v296;
        x22 = 0.0f;
        if (v290) {
            const float v300 = *(threadgroup float *)(group + v297);
            x22 = v300;
        }
        const float v302 = x22;
        const float v303 = reduce_add_f32_kernel_f1(v294, v302);
        if (v290) {
            *(threadgroup float *)(group + v286) = v303;
        }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup); /* barrier 0 */
    const bool v307 = x5;
    if (v307) {
        return;
    }
    const bool v310 = v10 == 0u;
    if (v310) {
        const ulong v312 = (ulong)v10;
        const ulong v314 = v312 * 4ul;
        const uint v315 = (uint)v314;
        const float v316 = *(threadgroup float *)(group + v315);
        const ulong v317 = v51 * 4ul;
        *(device float *)(s1 + v317) = v316;
    }
}


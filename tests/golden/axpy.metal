/* Written by hologram: Metal Shading Language 3.2; compile with the safe math mode.
axpy, slot 0: input 0, x
axpy, slot 1: input 1, y
axpy, slot 2: the fault record
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
    device const uchar *s0;
    device uchar *s1;
    device uchar *fault;
    axpy_kernel_record record;
    uint id_thread;
    uint x12; /* fault_site */
    ulong x13; /* fault_index */
    ulong x14; /* fault_name */
} axpy_kernel_env;

static inline uint axpy_kernel_f2(uint a0, uint a1, uint a2) {
    (void)a0;
    (void)a1;
    (void)a2;
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
    const uint v26 = a1 & 0x80000000u;
    const uint v27 = a1 ^ v26;
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
    const uint v41 = a2 & 0x80000000u;
    const uint v42 = a2 ^ v41;
    const bool v43 = v42 == 0u;
    const bool v44 = v42 == 0x7f800000u;
    const bool v45 = 0x7f800000u < v42;
    const uint v46 = (uint)(v42 >> 23);
    const bool v47 = v46 == 0u;
    const uint v48 = v42 & 0x7fffffu;
    const uint v49 = v48 | 0x800000u;
    const uint v50 = v47 ? v48 : v49;
    const uint v51 = clz(v50);
    const uint v52 = (uint)(v50 << (v51 & 31u));
    const uint v53 = v47 ? 1u : v46;
    const uint v54 = v53 + 8u;
    const uint v55 = v54 - v51;
    const uint v56 = v4 ^ v26;
    const bool v57 = v7 | v28;
    const uint v58 = mulhi(v19, v37);
    const uint v59 = v19 * v37;
    const uint v60 = (uint)(v58 >> 1);
    const uint v61 = (uint)(v52 >> 1);
    const uint v62 = (uint)(v59 >> 1);
    const uint v64 = (uint)(v58 << 31);
    const uint v65 = v62 | v64;
    const uint v66 = v24 + v40;
    const uint v68 = v66 - 126u;
    const uint v69 = v57 ? v55 : v68;
    const uint v70 = v43 ? v69 : v55;
    const bool v71 = (int)v69 < (int)v70;
    const uint v72 = v71 ? v70 : v69;
    const uint v73 = v70 - v69;
    const bool v75 = v73 < 32u;
    const bool v77 = !v75;
    const bool v78 = v65 == 0u;
    const bool v79 = !v78;
    const bool v80 = v77 & v79;
    const uint v81 = v77 ? 0u : v60;
    const uint v82 = v77 ? v60 : v65;
    const uint v83 = v73 - 32u;
    const uint v84 = v77 ? v83 : v73;
    const bool v85 = v84 < 31u;
    const uint v86 = v85 ? v84 : 31u;
    const bool v87 = v86 == 0u;
    const uint v88 = 32u - v86;
    const bool v89 = !v87;
    const uint v90 = (uint)(v82 << (v88 & 31u));
    const bool v91 = v90 == 0u;
    const bool v92 = !v91;
    const bool v93 = v89 & v92;
    const bool v94 = v80 | v93;
    const uint v95 = (uint)(v81 << (v88 & 31u));
    const uint v96 = v87 ? 0u : v95;
    const uint v97 = (uint)(v82 >> (v86 & 31u));
    const uint v98 = v97 | v96;
    const uint v99 = v94 ? 1u : 0u;
    const uint v100 = v98 | v99;
    const uint v101 = (uint)(v81 >> (v86 & 31u));
    const uint v102 = v71 ? v101 : v60;
    const uint v103 = v71 ? v100 : v65;
    const uint v104 = v69 - v70;
    const bool v105 = v104 < 32u;
    const bool v106 = !v105;
    const bool v108 = v106 & false;
    const uint v109 = v106 ? 0u : v61;
    const uint v110 = v106 ? v61 : 0u;
    const uint v111 = v104 - 32u;
    const uint v112 = v106 ? v111 : v104;
    const bool v113 = v112 < 31u;
    const uint v114 = v113 ? v112 : 31u;
    const bool v115 = v114 == 0u;
    const uint v116 = 32u - v114;
    const bool v117 = !v115;
    const uint v118 = (uint)(v110 << (v116 & 31u));
    const bool v119 = v118 == 0u;
    const bool v120 = !v119;
    const bool v121 = v117 & v120;
    const bool v122 = v108 | v121;
    const uint v123 = (uint)(v109 << (v116 & 31u));
    const uint v124 = v115 ? 0u : v123;
    const uint v125 = (uint)(v110 >> (v114 & 31u));
    const uint v126 = v125 | v124;
    const uint v127 = v122 ? 1u : 0u;
    const uint v128 = v126 | v127;
    const uint v129 = (uint)(v109 >> (v114 & 31u));
    const uint v130 = v71 ? v61 : v129;
    const uint v131 = v71 ? 0u : v128;
    const bool v132 = v56 == v41;
    const bool v133 = v102 < v130;
    const bool v134 = v102 == v130;
    const bool v135 = v103 < v131;
    const bool v136 = v134 & v135;
    const bool v137 = v133 | v136;
    const uint v138 = v103 + v131;
    const uint v139 = v102 + v130;
    const bool v140 = v138 < v103;
    const uint v141 = v140 ? 1u : 0u;
    const uint v142 = v139 + v141;
    const uint v143 = v103 - v131;
    const uint v144 = v102 - v130;
    const uint v145 = v135 ? 1u : 0u;
    const uint v146 = v144 - v145;
    const uint v147 = v131 - v103;
    const uint v148 = v130 - v102;
    const bool v149 = v131 < v103;
    const uint v150 = v149 ? 1u : 0u;
    const uint v151 = v148 - v150;
    const uint v152 = v137 ? v151 : v146;
    const uint v153 = v137 ? v147 : v143;
    const uint v154 = v132 ? v142 : v152;
    const uint v155 = v132 ? v138 : v153;
    const bool v156 = !v132;
    const bool v157 = v137 & v156;
    const uint v158 = v157 ? v41 : v56;
    const bool v159 = v154 == 0u;
    const uint v160 = v159 ? v155 : v154;
    const uint v161 = v159 ? 0u : v155;
    const uint v162 = clz(v160);
    const bool v163 = v162 == 0u;
    const uint v164 = 32u - v162;
    const uint v165 = (uint)(v161 >> (v164 & 31u));
    const uint v166 = v163 ? 0u : v165;
    const uint v167 = (uint)(v161 << (v162 & 31u));
    const bool v168 = v167 == 0u;
    const bool v169 = !v168;
    const uint v170 = v169 ? 1u : 0u;
    const uint v171 = (uint)(v160 << (v162 & 31u));
    const uint v172 = v171 | v166;
    const uint v173 = v172 | v170;
    const uint v174 = v72 + 1u;
    const uint v175 = v159 ? 32u : 0u;
    const uint v176 = v162 + v175;
    const uint v177 = v174 - v176;
    const bool v178 = (int)v177 < (int)1u;
    const uint v179 = 1u - v177;
    const bool v180 = v179 < 31u;
    const uint v181 = v180 ? v179 : 31u;
    const uint v182 = (uint)(v173 >> (v181 & 31u));
    const uint v183 = (uint)(v182 << (v181 & 31u));
    const bool v184 = v183 == v173;
    const bool v185 = !v184;
    const uint v186 = v185 ? 1u : 0u;
    const uint v187 = v182 | v186;
    const uint v188 = v178 ? v187 : v173;
    const uint v189 = (uint)(v188 >> 8);
    const uint v191 = v188 & 255u;
    const uint v193 = v189 & 1u;
    const bool v194 = v193 == 0u;
    const bool v195 = !v194;
    const bool v196 = 128u < v191;
    const bool v197 = v191 == 128u;
    const bool v198 = v197 & v195;
    const bool v199 = v196 | v198;
    const uint v200 = v177 - 1u;
    const uint v201 = (uint)(v200 << 23);
    const uint v202 = v178 ? 0u : v201;
    const uint v203 = v202 + v189;
    const uint v204 = v199 ? 1u : 0u;
    const uint v205 = v203 + v204;
    const bool v207 = (int)254u < (int)v177;
    const uint v208 = v207 ? 0x7f800000u : v205;
    const uint v209 = v158 | v208;
    const uint v210 = v154 | v155;
    const bool v211 = v210 == 0u;
    const uint v212 = v56 & v41;
    const uint v213 = v211 ? v212 : v209;
    const bool v214 = v8 | v29;
    const uint v215 = v56 | 0x7f800000u;
    const uint v216 = v214 ? v215 : v213;
    const uint v217 = v44 ? a2 : v216;
    const bool v218 = v7 & v29;
    const bool v219 = v28 & v8;
    const bool v220 = v218 | v219;
    const bool v221 = v214 & v44;
    const bool v222 = v221 & v156;
    const bool v223 = v220 | v222;
    const bool v224 = v9 | v30;
    const bool v225 = v224 | v45;
    const bool v226 = v223 | v225;
    const uint v228 = v226 ? 0x7fc00000u : v217;
    return v228;
}

static inline float axpy_kernel_f1(float a0, float a1, float a2) {
    (void)a0;
    (void)a1;
    (void)a2;
    float x11 = 0; /* result */
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
    const uint v22 = as_type<uint>(a2);
    const uint v23 = v22 & 0x7fffffffu;
    const bool v24 = v23 == 0u;
    const uint v25 = v22 & 0x7f800000u;
    const bool v26 = v25 == 0u;
    const bool v27 = !v24;
    const bool v28 = v26 & v27;
    const bool v29 = v20 | v28;
    const float v30 = fma(a0, a1, a2);
    x11 = v30;
    const uint v33 = as_type<uint>(v30);
    const uint v34 = v33 & 0x7f800000u;
    const bool v35 = 0x800000u < v34;
    const bool v36 = !v35;
    const bool v37 = v29 | v36;
    if (v37) {
        const uint v39 = axpy_kernel_f2(v1, v13, v22);
        const float v40 = as_type<float>(v39);
        x11 = v40;
    }
    const float v42 = x11;
    return v42;
}

static inline void axpy_kernel_f4(thread axpy_kernel_env *env) {
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
    const uint v10 = env->record.input_2;
    const float v11 = as_type<float>(v10);
    const ulong v12 = env->record.input_3;
    /* axis.u64 r3, r255, [buf(r0)], 0 */
    const bool v13 = v9 < v12;
    const bool v14 = !v13;
    if (v14) {
        env->x12 = 1u;
        env->x13 = v9;
        env->x14 = v12;
        return;
    }
    /* ldg.f32 r3, [r0 + r3*4] */
    const ulong v22 = (ulong)(v9 << 2);
    const float v23 = *(device const float *)(env->s0 + v22);
    /* ldg.f32 r4, [r1 + r4*4] */
    const float v24 = *(device float *)(env->s1 + v22);
    /* fma.f32 r2, r2, r3, r4 */
    const float v25 = axpy_kernel_f1(v11, v23, v24);
    /* stg.f32 [r1 + r3*4], r2 */
    *(device float *)(env->s1 + v22) = v25;
}

static inline void axpy_kernel_f3(thread axpy_kernel_env *env, uint a0, ulong a1, ulong a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const uint v3 = env->id_thread;
    const uint v5 = atomic_fetch_min_explicit((volatile device atomic_uint *)(env->fault + 4ul), v3, memory_order_relaxed);
    const bool v6 = v5 < v3;
    if (v6) {
        return;
    }
    const uint v9 = env->record.first_0;
    const uint v10 = v9 + v3;
    for (;;) {
        const uint v15 = hg_atomic_cas((volatile device atomic_uint *)(env->fault), 0u, 1u, memory_order_relaxed);
        const bool v16 = v15 == 0u;
        if (v16) {
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            const uint v20 = *(volatile device uint *)(env->fault + 8ul);
            const uint v22 = *(volatile device uint *)(env->fault + 24ul);
            const bool v23 = v10 < v22;
            const bool v24 = v20 == 0u;
            const bool v25 = v24 | v23;
            if (v25) {
                *(volatile device uint *)(env->fault + 12ul) = a0;
                *(volatile device uint *)(env->fault + 24ul) = v10;
                *(volatile device uint *)(env->fault + 28ul) = 0u;
                const uint v32 = (uint)a1;
                *(volatile device uint *)(env->fault + 32ul) = v32;
                const ulong v36 = (ulong)(a1 >> 32);
                const uint v37 = (uint)v36;
                *(volatile device uint *)(env->fault + 36ul) = v37;
                const uint v40 = (uint)a2;
                *(volatile device uint *)(env->fault + 40ul) = v40;
                const ulong v43 = (ulong)(a2 >> 32);
                const uint v44 = (uint)v43;
                *(volatile device uint *)(env->fault + 44ul) = v44;
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
kernel void axpy_kernel(device const uchar *s0_arena [[buffer(0)]], device uchar *s1_arena [[buffer(1)]], device uchar *fault_arena [[buffer(2)]], constant axpy_kernel_record &record [[buffer(3)]], uint3 thread_id [[thread_position_in_grid]], uint3 local_id [[thread_position_in_threadgroup]], uint3 group_id [[threadgroup_position_in_grid]]) {
    (void)thread_id, (void)local_id, (void)group_id;
    device const uchar *const s0 = s0_arena + record.base_0;
    device uchar *const s1 = s1_arena + record.base_1;
    device uchar *const fault = fault_arena + record.base_2;
    axpy_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.fault = fault;
    environment.record = record;
    environment.id_thread = (uint)thread_id.x;
    thread axpy_kernel_env *const env = &environment;
    (void)env;
    axpy_kernel_f4(env);
    const uint v1 = env->x12;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x13;
        const ulong v10 = env->x14;
        axpy_kernel_f3(env, v8, v9, v10);
    }
}


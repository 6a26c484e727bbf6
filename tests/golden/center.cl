/* Written by hologram: OpenCL C 1.2; of later versions only fences.
The program has whole-array steps: the kernels run in this order, each over all lanes.
  0: step parallel_reduce.f32
  1: center_0
  2: end
center_0, slot 0: the plan's environment as the kernel finds it
center_0, slot 1: input 0, x
center_0, slot 2: input 1, y
center_0, slot 3: the fault record
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
    __global const uchar *s0;
    __global const uchar *s1;
    __global uchar *s2;
    __global uchar *fault;
    center_0_kernel_record record;
    uint x1; /* fault_site */
    ulong x2; /* fault_index */
} center_0_kernel_env;

static inline void center_0_kernel_f2(__private center_0_kernel_env *env) {
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
    const float v11 = *(__global const float *)(env->s0);
    /* cvt.f32.u64 r11, r4 */
    const ulong v12 = env->record.input_2;
    const float v13 = (float)v12;
    /* div.f32 r12, r10, r11 */
    const float v14 = v11 / v13;
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
            env->x1 = 1u;
            env->x2 = v18;
            return;
        }
        const float v27 = *(__global const float *)(env->s1 + v18);
        /* sub.f32 r14, r13, r12 */
        const float v28 = v27 - v14;
        /* stg.f32 [r2 + r0], r14 */
        const ulong v29 = env->record.limit_2_reach_4;
        const bool v30 = v18 < v29;
        const bool v31 = !v30;
        if (v31) {
            env->x1 = 2u;
            env->x2 = v18;
            return;
        }
        *(__global float *)(env->s2 + v18) = v28;
    }
}

static inline void center_0_kernel_f1(__private center_0_kernel_env *env, uint a0, ulong a1) {
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
__kernel void center_0_kernel(__global const uchar *restrict s0_arena, __global const uchar *restrict s1_arena, __global uchar *restrict s2_arena, __global uchar *fault_arena, center_0_kernel_record record) {
    __global const uchar *const s0 = s0_arena + record.base_0;
    __global const uchar *const s1 = s1_arena + record.base_1;
    __global uchar *const s2 = s2_arena + record.base_2;
    __global uchar *const fault = fault_arena + record.base_3;
    center_0_kernel_env environment = {.s0 = s0, .s1 = s1, .s2 = s2, .fault = fault, .record = record};
    __private center_0_kernel_env *const env = &environment;
    (void)env;
    center_0_kernel_f2(env);
    const uint v1 = env->x1;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x2;
        center_0_kernel_f1(env, v8, v9);
    }
}

/* Written by hologram: OpenCL C 1.2; of later versions only fences.
reduce_add_f32, for blocks of 128 x 1 x 1 lanes
reduce_add_f32, slot 0: input 0
reduce_add_f32, slot 1: input 1
 */
#pragma OPENCL FP_CONTRACT OFF

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

/* One invocation. */
__kernel void reduce_add_f32_kernel(__global const uchar *restrict s0_arena, __global uchar *restrict s1_arena, __local ulong *group_memory, reduce_add_f32_kernel_record record) {
    __global const uchar *const s0 = s0_arena + record.base_0;
    __global uchar *const s1 = s1_arena + record.base_1;
    __local uchar *const group = (__local uchar *)group_memory;
    float x0 = 0; /* sum */
    uint x1 = 0; /* at */
    ulong x2 = 0; /* place */
    uint x3 = 0; /* at */
    bool x4 = 0; /* stopped */
    float x5 = 0;
    float x8 = 0;
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
    const uint v4 = record.shared_bytes_0;
    const uint v6 = (uint)get_local_id(2);
    const uint v7 = (uint)get_local_id(1);
    const uint v8 = v6 + v7;
    const uint v9 = v8 * 128u;
    const uint v10 = (uint)get_local_id(0);
    const uint v11 = v9 + v10;
    const uint v12 = (uint)(v11 << 2);
    x3 = v12;
    for (;;) {
        const uint v15 = x3;
        const bool v16 = v15 < v4;
        const bool v18 = !v16;
        if (v18) {
            break;
        }
        *(__local uint *)(group + v15) = 0u;
        const uint v22 = v15 + 512u;
        x3 = v22;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v25 = record.lanes_0;
    const ulong v26 = (ulong)v25;
    const uint v27 = record.box_2;
    const uint v28 = (uint)get_group_id(2);
    const uint v29 = v27 + v28;
    const uint v30 = record.grid_dim_1;
    const uint v31 = record.box_1;
    const uint v32 = (uint)get_group_id(1);
    const uint v33 = v31 + v32;
    const uint v34 = v29 * v30;
    const uint v35 = v34 + v33;
    const uint v36 = record.grid_dim_0;
    const uint v37 = record.box_0;
    const uint v38 = (uint)get_group_id(0);
    const uint v39 = v37 + v38;
    const uint v40 = v35 * v36;
    const uint v41 = v40 + v39;
    const uint v42 = v41 * 128u;
    const uint v43 = v42 + v11;
    const ulong v44 = (ulong)v43;
    const bool v45 = v44 < v26;
    const bool v47 = !v45;
    if (v47) {
        x4 = true;
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
        x5 = 0.0f;
        const bool v66 = x4;
        const bool v67 = !v66;
        if (v67) {
            const float v69 = *(__global const float *)(s0 + v63);
            x5 = v69;
        }
        const float v71 = x5;
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
                const float v88 = *(__global const float *)(s0 + v85);
                const float v89 = v87 + v88;
                x0 = v89;
                const uint v91 = v78 + 128u;
                x1 = v91;
            }
        }
        const float v93 = x0;
        const ulong v94 = v60 * 4ul;
        const ulong v95 = v94;
        if (v67) {
            *(__local float *)(group + v95) = v93;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v100 = v10 + 64u;
    const bool v101 = v10 < 64u;
    const bool v102 = v100 < v57;
    const bool v103 = v101 & v102;
    if (v103) {
        const ulong v105 = (ulong)v10;
        const ulong v107 = v105 * 4ul;
        const ulong v108 = v107;
        x8 = 0.0f;
        const bool v111 = x4;
        const bool v112 = !v111;
        if (v112) {
            const float v114 = *(__local float *)(group + v108);
            x8 = v114;
        }
        const float v116 = x8;
        const ulong v117 = (ulong)v100;
        const ulong v118 = v117 * 4ul;
        const ulong v119 = v118;
        x9 = 0.0f;
        if (v112) {
            const float v122 = *(__local float *)(group + v119);
            x9 = v122;
        }
        const float v124 = x9;
        const float v125 = v116 + v124;
        if (v112) {
            *(__local float *)(group + v108) = v125;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v130 = v10 + 32u;
    const bool v131 = v10 < 32u;
    const bool v132 = v130 < v57;
    const bool v133 = v131 & v132;
    if (v133) {
        const ulong v135 = (ulong)v10;
        const ulong v137 = v135 * 4ul;
        const ulong v138 = v137;
        x10 = 0.0f;
        const bool v141 = x4;
        const bool v142 = !v141;
        if (v142) {
            const float v144 = *(__local float *)(group + v138);
            x10 = v144;
        }
        const float v146 = x10;
        const ulong v147 = (ulong)v130;
        const ulong v148 = v147 * 4ul;
        const ulong v149 = v148;
        x11 = 0.0f;
        if (v142) {
            const float v152 = *(__local float *)(group + v149);
            x11 = v152;
        }
        const float v154 = x11;
        const float v155 = v146 + v154;
        if (v142) {
            *(__local float *)(group + v138) = v155;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v160 = v10 + 16u;
    const bool v161 = v10 < 16u;
    const bool v162 = v160 < v57;
    const bool v163 = v161 & v162;
    if (v163) {
        const ulong v165 = (ulong)v10;
        const ulong v167 = v165 * 4ul;
        const ulong v168 = v167;
        x12 = 0.0f;
        const bool v171 = x4;
        const bool v172 = !v171;
        if (v172) {
            const float v174 = *(__local float *)(group + v168);
            x12 = v174;
        }
        const float v176 = x12;
        const ulong v177 = (ulong)v160;
        const ulong v178 = v177 * 4ul;
        const ulong v179 = v178;
        x13 = 0.0f;
        if (v172) {
            const float v182 = *(__local float *)(group + v179);
            x13 = v182;
        }
        const float v184 = x13;
        const float v185 = v176 + v184;
        if (v172) {
            *(__local float *)(group + v168) = v185;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v190 = v10 + 8u;
    const bool v191 = v10 < 8u;
    const bool v192 = v190 < v57;
    const bool v193 = v191 & v192;
    if (v193) {
        const ulong v195 = (ulong)v10;
        const ulong v197 = v195 * 4ul;
        const ulong v198 = v197;
        x14 = 0.0f;
        const bool v201 = x4;
        const bool v202 = !v201;
        if (v202) {
            const float v204 = *(__local float *)(group + v198);
            x14 = v204;
        }
        const float v206 = x14;
        const ulong v207 = (ulong)v190;
        const ulong v208 = v207 * 4ul;
        const ulong v209 = v208;
        x15 = 0.0f;
        if (v202) {
            const float v212 = *(__local float *)(group + v209);
            x15 = v212;
        }
        const float v214 = x15;
        const float v215 = v206 + v214;
        if (v202) {
            *(__local float *)(group + v198) = v215;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v220 = v10 + 4u;
    const bool v221 = v10 < 4u;
    const bool v222 = v220 < v57;
    const bool v223 = v221 & v222;
    if (v223) {
        const ulong v225 = (ulong)v10;
        const ulong v227 = v225 * 4ul;
        const ulong v228 = v227;
        x16 = 0.0f;
        const bool v231 = x4;
        const bool v232 = !v231;
        if (v232) {
            const float v234 = *(__local float *)(group + v228);
            x16 = v234;
        }
        const float v236 = x16;
        const ulong v237 = (ulong)v220;
        const ulong v238 = v237 * 4ul;
        const ulong v239 = v238;
        x17 = 0.0f;
        if (v232) {
            const float v242 = *(__local float *)(group + v239);
            x17 = v242;
        }
        const float v244 = x17;
        const float v245 = v236 + v244;
        if (v232) {
            *(__local float *)(group + v228) = v245;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v249 = v10 + 2u;
    const bool v250 = v10 < 2u;
    const bool v251 = v249 < v57;
    const bool v252 = v250 & v251;
    if (v252) {
        const ulong v254 = (ulong)v10;
        const ulong v256 = v254 * 4ul;
        const ulong v257 = v256;
        x18 = 0.0f;
        const bool v260 = x4;
        const bool v261 = !v260;
        if (v261) {
            const float v263 = *(__local float *)(group + v257);
            x18 = v263;
        }
        const float v265 = x18;
        const ulong v266 = (ulong)v249;
        const ulong v267 = v266 * 4ul;
        const ulong v268 = v267;
        x19 = 0.0f;
        if (v261) {
            const float v271 = *(__local float *)(group + v268);
            x19 = v271;
        }
        const float v273 = x19;
        const float v274 = v265 + v273;
        if (v261) {
            *(__local float *)(group + v257) = v274;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v278 = v10 + 1u;
    const bool v279 = v10 < 1u;
    const bool v280 = v278 < v57;
    const bool v281 = v279 & v280;
    if (v281) {
        const ulong v283 = (ulong)v10;
        const ulong v285 = v283 * 4ul;
        const ulong v286 = v285;
        x20 = 0.0f;
        const bool v289 = x4;
        const bool v290 = !v289;
        if (v290) {
            const float v292 = *(__local float *)(group + v286);
            x20 = v292;
        }
        const float v294 = x20;
        const ulong v295 = (ulong)v278;
        const ulong v296 = v295 * 4ul;
        const ulong v297 = v296;
        x21 = 0.0f;
        if (v290) {
            const float v300 = *(__local float *)(group + v297);
            x21 = v300;
        }
        const float v302 = x21;
        const float v303 = v294 + v302;
        if (v290) {
            *(__local float *)(group + v286) = v303;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const bool v307 = x4;
    if (v307) {
        return;
    }
    const bool v310 = v10 == 0u;
    if (v310) {
        const ulong v312 = (ulong)v10;
        const ulong v314 = v312 * 4ul;
        const ulong v315 = v314;
        const float v316 = *(__local float *)(group + v315);
        const ulong v317 = v51 * 4ul;
        *(__global float *)(s1 + v317) = v316;
    }
}


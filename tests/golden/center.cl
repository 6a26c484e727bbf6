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
reduce_add_f32, slot 0: input 0
reduce_add_f32, slot 1: input 1
 */
#pragma OPENCL FP_CONTRACT OFF

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
    const uint v0 = record.block_dim_0;
    const uint v1 = record.block_dim_1;
    const uint v2 = v0 * v1;
    const uint v3 = record.block_dim_2;
    const uint v4 = v2 * v3;
    const uint v6 = (uint)(v4 << 2);
    const uint v7 = record.shared_bytes_0;
    const uint v9 = (uint)get_local_id(2);
    const uint v10 = v9 * v1;
    const uint v11 = (uint)get_local_id(1);
    const uint v12 = v10 + v11;
    const uint v13 = v12 * v0;
    const uint v14 = (uint)get_local_id(0);
    const uint v15 = v13 + v14;
    const uint v16 = (uint)(v15 << 2);
    x3 = v16;
    for (;;) {
        const uint v19 = x3;
        const bool v20 = v19 < v7;
        const bool v22 = !v20;
        if (v22) {
            break;
        }
        *(__local uint *)(group + v19) = 0u;
        const uint v26 = v19 + v6;
        x3 = v26;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v29 = record.lanes_0;
    const ulong v30 = (ulong)v29;
    const uint v31 = record.box_2;
    const uint v32 = (uint)get_group_id(2);
    const uint v33 = v31 + v32;
    const uint v34 = record.grid_dim_1;
    const uint v35 = record.box_1;
    const uint v36 = (uint)get_group_id(1);
    const uint v37 = v35 + v36;
    const uint v38 = v33 * v34;
    const uint v39 = v38 + v37;
    const uint v40 = record.grid_dim_0;
    const uint v41 = record.box_0;
    const uint v42 = (uint)get_group_id(0);
    const uint v43 = v41 + v42;
    const uint v44 = v39 * v40;
    const uint v45 = v44 + v43;
    const uint v46 = v45 * v4;
    const uint v47 = v46 + v15;
    const ulong v48 = (ulong)v47;
    const bool v49 = v48 < v30;
    const bool v51 = !v49;
    if (v51) {
        x4 = true;
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
        x5 = 0.0f;
        const bool v70 = x4;
        const bool v71 = !v70;
        if (v71) {
            const float v73 = *(__global const float *)(s0 + v67);
            x5 = v73;
        }
        const float v75 = x5;
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
                const float v93 = *(__global const float *)(s0 + v90);
                const float v94 = v92 + v93;
                x0 = v94;
                const uint v96 = v83 + 128u;
                x1 = v96;
            }
        }
        const float v98 = x0;
        const ulong v99 = v64 * 4ul;
        const ulong v100 = v99;
        if (v71) {
            *(__local float *)(group + v100) = v98;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v106 = v14 + 64u;
    const bool v107 = v14 < 64u;
    const bool v108 = v106 < v61;
    const bool v109 = v107 & v108;
    if (v109) {
        const ulong v111 = (ulong)v14;
        const ulong v113 = v111 * 4ul;
        const ulong v114 = v113;
        x8 = 0.0f;
        const bool v117 = x4;
        const bool v118 = !v117;
        if (v118) {
            const float v120 = *(__local float *)(group + v114);
            x8 = v120;
        }
        const float v122 = x8;
        const ulong v123 = (ulong)v106;
        const ulong v124 = v123 * 4ul;
        const ulong v125 = v124;
        x9 = 0.0f;
        if (v118) {
            const float v128 = *(__local float *)(group + v125);
            x9 = v128;
        }
        const float v130 = x9;
        const float v131 = v122 + v130;
        if (v118) {
            *(__local float *)(group + v114) = v131;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v136 = v14 + 32u;
    const bool v137 = v14 < 32u;
    const bool v138 = v136 < v61;
    const bool v139 = v137 & v138;
    if (v139) {
        const ulong v141 = (ulong)v14;
        const ulong v143 = v141 * 4ul;
        const ulong v144 = v143;
        x10 = 0.0f;
        const bool v147 = x4;
        const bool v148 = !v147;
        if (v148) {
            const float v150 = *(__local float *)(group + v144);
            x10 = v150;
        }
        const float v152 = x10;
        const ulong v153 = (ulong)v136;
        const ulong v154 = v153 * 4ul;
        const ulong v155 = v154;
        x11 = 0.0f;
        if (v148) {
            const float v158 = *(__local float *)(group + v155);
            x11 = v158;
        }
        const float v160 = x11;
        const float v161 = v152 + v160;
        if (v148) {
            *(__local float *)(group + v144) = v161;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v166 = v14 + 16u;
    const bool v167 = v14 < 16u;
    const bool v168 = v166 < v61;
    const bool v169 = v167 & v168;
    if (v169) {
        const ulong v171 = (ulong)v14;
        const ulong v173 = v171 * 4ul;
        const ulong v174 = v173;
        x12 = 0.0f;
        const bool v177 = x4;
        const bool v178 = !v177;
        if (v178) {
            const float v180 = *(__local float *)(group + v174);
            x12 = v180;
        }
        const float v182 = x12;
        const ulong v183 = (ulong)v166;
        const ulong v184 = v183 * 4ul;
        const ulong v185 = v184;
        x13 = 0.0f;
        if (v178) {
            const float v188 = *(__local float *)(group + v185);
            x13 = v188;
        }
        const float v190 = x13;
        const float v191 = v182 + v190;
        if (v178) {
            *(__local float *)(group + v174) = v191;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v196 = v14 + 8u;
    const bool v197 = v14 < 8u;
    const bool v198 = v196 < v61;
    const bool v199 = v197 & v198;
    if (v199) {
        const ulong v201 = (ulong)v14;
        const ulong v203 = v201 * 4ul;
        const ulong v204 = v203;
        x14 = 0.0f;
        const bool v207 = x4;
        const bool v208 = !v207;
        if (v208) {
            const float v210 = *(__local float *)(group + v204);
            x14 = v210;
        }
        const float v212 = x14;
        const ulong v213 = (ulong)v196;
        const ulong v214 = v213 * 4ul;
        const ulong v215 = v214;
        x15 = 0.0f;
        if (v208) {
            const float v218 = *(__local float *)(group + v215);
            x15 = v218;
        }
        const float v220 = x15;
        const float v221 = v212 + v220;
        if (v208) {
            *(__local float *)(group + v204) = v221;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v226 = v14 + 4u;
    const bool v227 = v14 < 4u;
    const bool v228 = v226 < v61;
    const bool v229 = v227 & v228;
    if (v229) {
        const ulong v231 = (ulong)v14;
        const ulong v233 = v231 * 4ul;
        const ulong v234 = v233;
        x16 = 0.0f;
        const bool v237 = x4;
        const bool v238 = !v237;
        if (v238) {
            const float v240 = *(__local float *)(group + v234);
            x16 = v240;
        }
        const float v242 = x16;
        const ulong v243 = (ulong)v226;
        const ulong v244 = v243 * 4ul;
        const ulong v245 = v244;
        x17 = 0.0f;
        if (v238) {
            const float v248 = *(__local float *)(group + v245);
            x17 = v248;
        }
        const float v250 = x17;
        const float v251 = v242 + v250;
        if (v238) {
            *(__local float *)(group + v234) = v251;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v255 = v14 + 2u;
    const bool v256 = v14 < 2u;
    const bool v257 = v255 < v61;
    const bool v258 = v256 & v257;
    if (v258) {
        const ulong v260 = (ulong)v14;
        const ulong v262 = v260 * 4ul;
        const ulong v263 = v262;
        x18 = 0.0f;
        const bool v266 = x4;
        const bool v267 = !v266;
        if (v267) {
            const float v269 = *(__local float *)(group + v263);
            x18 = v269;
        }
        const float v271 = x18;
        const ulong v272 = (ulong)v255;
        const ulong v273 = v272 * 4ul;
        const ulong v274 = v273;
        x19 = 0.0f;
        if (v267) {
            const float v277 = *(__local float *)(group + v274);
            x19 = v277;
        }
        const float v279 = x19;
        const float v280 = v271 + v279;
        if (v267) {
            *(__local float *)(group + v263) = v280;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const uint v284 = v14 + 1u;
    const bool v285 = v14 < 1u;
    const bool v286 = v284 < v61;
    const bool v287 = v285 & v286;
    if (v287) {
        const ulong v289 = (ulong)v14;
        const ulong v291 = v289 * 4ul;
        const ulong v292 = v291;
        x20 = 0.0f;
        const bool v295 = x4;
        const bool v296 = !v295;
        if (v296) {
            const float v298 = *(__local float *)(group + v292);
            x20 = v298;
        }
        const float v300 = x20;
        const ulong v301 = (ulong)v284;
        const ulong v302 = v301 * 4ul;
        const ulong v303 = v302;
        x21 = 0.0f;
        if (v296) {
            const float v306 = *(__local float *)(group + v303);
            x21 = v306;
        }
        const float v308 = x21;
        const float v309 = v300 + v308;
        if (v296) {
            *(__local float *)(group + v292) = v309;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* barrier 0 */
    const bool v313 = x4;
    if (v313) {
        return;
    }
    const bool v316 = v14 == 0u;
    if (v316) {
        const ulong v318 = (ulong)v14;
        const ulong v320 = v318 * 4ul;
        const ulong v321 = v320;
        const float v322 = *(__local float *)(group + v321);
        const ulong v323 = v55 * 4ul;
        *(__global float *)(s1 + v323) = v322;
    }
}


/* Written by hologram: HIP.
The program has whole-array steps: the kernels run in this order, each over all lanes.
  0: step parallel_reduce.f32
  1: center_0
  2: end
center_0, slot 0: the plan's environment as the kernel finds it
center_0, slot 1: input 0, x
center_0, slot 2: input 1, y
center_0, slot 3: the fault record
 */
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang fp contract(off)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. */
typedef struct center_0_kernel_record {
    u64 base_0;
    u64 input_2;
    u64 limit_1_reach_4;
    u64 base_1;
    u64 base_3;
    u64 limit_2_reach_4;
    u64 base_2;
    u32 count_0;
    u32 first_0;
} center_0_kernel_record;

/* What the functions of center_0 share. */
typedef struct center_0_kernel_env {
    const u8 *s0;
    const u8 *s1;
    u8 *s2;
    u8 *fault;
    center_0_kernel_record record;
    u32 x1; /* fault_site */
    u64 x2; /* fault_index */
} center_0_kernel_env;

static __device__ __forceinline__ void center_0_kernel_f2(center_0_kernel_env *env) {
    (void)env;
    const u32 v0 = (u32)(blockIdx.x * blockDim.x + threadIdx.x);
    const u32 v1 = env->record.count_0;
    const bool v2 = v0 < v1;
    const bool v4 = !v2;
    if (v4) {
        return;
    }
    const u32 v7 = env->record.first_0;
    const u32 v8 = v7 + v0;
    const u64 v9 = (u64)v8;
    const float v11 = *(const float *)(env->s0);
    /* cvt.f32.u64 r11, r4 */
    const u64 v12 = env->record.input_2;
    const float v13 = (float)v12;
    /* div.f32 r12, r10, r11 */
    const float v14 = v11 / v13;
    /* setgeu.u64 p0, r255, r4 */
    const bool v15 = v9 < v12;
    /* bra.p0 @done */
    if (v15) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const u64 v18 = (u64)(v9 << 2);
        /* ldg.f32 r13, [r1 + r0] */
        const u64 v19 = env->record.limit_1_reach_4;
        const bool v20 = v18 < v19;
        const bool v21 = !v20;
        if (v21) {
            env->x1 = 1u;
            env->x2 = v18;
            return;
        }
        const float v27 = *(const float *)(env->s1 + v18);
        /* sub.f32 r14, r13, r12 */
        const float v28 = v27 - v14;
        /* stg.f32 [r2 + r0], r14 */
        const u64 v29 = env->record.limit_2_reach_4;
        const bool v30 = v18 < v29;
        const bool v31 = !v30;
        if (v31) {
            env->x1 = 2u;
            env->x2 = v18;
            return;
        }
        *(float *)(env->s2 + v18) = v28;
    }
}

static __device__ __forceinline__ void center_0_kernel_f1(center_0_kernel_env *env, u32 a0, u64 a1) {
    (void)env;
    (void)a0;
    (void)a1;
    const u32 v2 = (u32)(blockIdx.x * blockDim.x + threadIdx.x);
    const u32 v4 = atomicMin((u32 *)(env->fault + 4ull), v2);
    const bool v5 = v4 < v2;
    if (v5) {
        return;
    }
    const u32 v8 = env->record.first_0;
    const u32 v9 = v8 + v2;
    const u64 v10 = (u64)v9;
    for (;;) {
        const u32 v15 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v16 = v15 == 0u;
        if (v16) {
            __threadfence();
            const u32 v20 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v22 = *(volatile u32 *)(env->fault + 24ull);
            const u32 v24 = *(volatile u32 *)(env->fault + 28ull);
            const u64 v25 = (u64)v24;
            const u64 v27 = (u64)(v25 << 32);
            const u64 v28 = (u64)v22;
            const u64 v29 = v27 | v28;
            const bool v30 = v10 < v29;
            const bool v31 = v20 == 0u;
            const bool v32 = v31 | v30;
            if (v32) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 24ull) = v9;
                const u64 v37 = (u64)(v10 >> 32);
                const u32 v38 = (u32)v37;
                *(volatile u32 *)(env->fault + 28ull) = v38;
                const u32 v40 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v40;
                const u64 v43 = (u64)(a1 >> 32);
                const u32 v44 = (u32)v43;
                *(volatile u32 *)(env->fault + 36ull) = v44;
                *(volatile u32 *)(env->fault + 8ull) = 1u;
            }
            __threadfence();
            atomicExch((u32 *)(env->fault), 0u);
        }
        if (v16) {
            break;
        }
    }
}

/* One invocation. */
extern "C" __global__ void center_0_kernel(const center_0_kernel_record record) {
    const u8 *const s0 = (const u8 *)(record.base_0);
    const u8 *const s1 = (const u8 *)(record.base_1);
    u8 *const s2 = (u8 *)(record.base_2);
    u8 *const fault = (u8 *)(record.base_3);
    center_0_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.s2 = s2;
    environment.fault = fault;
    environment.record = record;
    center_0_kernel_env *const env = &environment;
    (void)env;
    center_0_kernel_f2(env);
    const u32 v1 = env->x1;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const u32 v8 = v1 - 1u;
        const u64 v9 = env->x2;
        center_0_kernel_f1(env, v8, v9);
    }
}

/* Written by hologram: HIP.
reduce_add_f32, slot 0: input 0
reduce_add_f32, slot 1: input 1
 */
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang fp contract(off)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. */
typedef struct reduce_add_f32_kernel_record {
    u64 input_2;
    u64 base_0;
    u64 base_1;
    u32 block_dim_0;
    u32 block_dim_1;
    u32 block_dim_2;
    u32 shared_bytes_0;
    u32 lanes_0;
    u32 box_2;
    u32 grid_dim_1;
    u32 box_1;
    u32 grid_dim_0;
    u32 box_0;
} reduce_add_f32_kernel_record;

/* One invocation. */
extern "C" __global__ void reduce_add_f32_kernel(const reduce_add_f32_kernel_record record) {
    const u8 *const s0 = (const u8 *)(record.base_0);
    u8 *const s1 = (u8 *)(record.base_1);
    extern __shared__ u64 group_memory[];
    u8 *const group = (u8 *)group_memory;
    float x0 = 0; /* sum */
    u32 x1 = 0; /* at */
    u64 x2 = 0; /* place */
    u32 x3 = 0; /* at */
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
    const u32 v0 = record.block_dim_0;
    const u32 v1 = record.block_dim_1;
    const u32 v2 = v0 * v1;
    const u32 v3 = record.block_dim_2;
    const u32 v4 = v2 * v3;
    const u32 v6 = (u32)(v4 << 2);
    const u32 v7 = record.shared_bytes_0;
    const u32 v9 = (u32)threadIdx.z;
    const u32 v10 = v9 * v1;
    const u32 v11 = (u32)threadIdx.y;
    const u32 v12 = v10 + v11;
    const u32 v13 = v12 * v0;
    const u32 v14 = (u32)threadIdx.x;
    const u32 v15 = v13 + v14;
    const u32 v16 = (u32)(v15 << 2);
    x3 = v16;
    for (;;) {
        const u32 v19 = x3;
        const bool v20 = v19 < v7;
        const bool v22 = !v20;
        if (v22) {
            break;
        }
        *(u32 *)(group + v19) = 0u;
        const u32 v26 = v19 + v6;
        x3 = v26;
    }
    __syncthreads(); /* barrier 0 */
    const u32 v29 = record.lanes_0;
    const u64 v30 = (u64)v29;
    const u32 v31 = record.box_2;
    const u32 v32 = (u32)blockIdx.z;
    const u32 v33 = v31 + v32;
    const u32 v34 = record.grid_dim_1;
    const u32 v35 = record.box_1;
    const u32 v36 = (u32)blockIdx.y;
    const u32 v37 = v35 + v36;
    const u32 v38 = v33 * v34;
    const u32 v39 = v38 + v37;
    const u32 v40 = record.grid_dim_0;
    const u32 v41 = record.box_0;
    const u32 v42 = (u32)blockIdx.x;
    const u32 v43 = v41 + v42;
    const u32 v44 = v39 * v40;
    const u32 v45 = v44 + v43;
    const u32 v46 = v45 * v4;
    const u32 v47 = v46 + v15;
    const u64 v48 = (u64)v47;
    const bool v49 = v48 < v30;
    const bool v51 = !v49;
    if (v51) {
        x4 = true;
    }
    const u64 v54 = record.input_2;
    const u64 v55 = (u64)v43;
    const u64 v57 = v55 * 4096ull;
    const u64 v58 = v54 - v57;
    const bool v59 = v58 < 4096ull;
    const u64 v60 = v59 ? v58 : 4096ull;
    const u32 v61 = (u32)v60;
    const bool v62 = v14 < v61;
    if (v62) {
        const u64 v64 = (u64)v14;
        const u64 v65 = v57 + v64;
        const u64 v67 = v65 * 4ull;
        x5 = 0.0f;
        const bool v70 = x4;
        const bool v71 = !v70;
        if (v71) {
            const float v73 = *(const float *)(s0 + v67);
            x5 = v73;
        }
        const float v75 = x5;
        x0 = v75;
        const u32 v78 = v14 + 128u;
        x1 = v78;
        x2 = v67;
        if (v71) {
            for (;;) {
                const u32 v83 = x1;
                const bool v84 = v83 < v61;
                const bool v85 = !v84;
                if (v85) {
                    break;
                }
                const u64 v88 = x2;
                const u64 v90 = v88 + 512ull;
                x2 = v90;
                const float v92 = x0;
                const float v93 = *(const float *)(s0 + v90);
                const float v94 = v92 + v93;
                x0 = v94;
                const u32 v96 = v83 + 128u;
                x1 = v96;
            }
        }
        const float v98 = x0;
        const u64 v99 = v64 * 4ull;
        const u32 v100 = (u32)v99;
        if (v71) {
            *(float *)(group + v100) = v98;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v106 = v14 + 64u;
    const bool v107 = v14 < 64u;
    const bool v108 = v106 < v61;
    const bool v109 = v107 & v108;
    if (v109) {
        const u64 v111 = (u64)v14;
        const u64 v113 = v111 * 4ull;
        const u32 v114 = (u32)v113;
        x8 = 0.0f;
        const bool v117 = x4;
        const bool v118 = !v117;
        if (v118) {
            const float v120 = *(float *)(group + v114);
            x8 = v120;
        }
        const float v122 = x8;
        const u64 v123 = (u64)v106;
        const u64 v124 = v123 * 4ull;
        const u32 v125 = (u32)v124;
        x9 = 0.0f;
        if (v118) {
            const float v128 = *(float *)(group + v125);
            x9 = v128;
        }
        const float v130 = x9;
        const float v131 = v122 + v130;
        if (v118) {
            *(float *)(group + v114) = v131;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v136 = v14 + 32u;
    const bool v137 = v14 < 32u;
    const bool v138 = v136 < v61;
    const bool v139 = v137 & v138;
    if (v139) {
        const u64 v141 = (u64)v14;
        const u64 v143 = v141 * 4ull;
        const u32 v144 = (u32)v143;
        x10 = 0.0f;
        const bool v147 = x4;
        const bool v148 = !v147;
        if (v148) {
            const float v150 = *(float *)(group + v144);
            x10 = v150;
        }
        const float v152 = x10;
        const u64 v153 = (u64)v136;
        const u64 v154 = v153 * 4ull;
        const u32 v155 = (u32)v154;
        x11 = 0.0f;
        if (v148) {
            const float v158 = *(float *)(group + v155);
            x11 = v158;
        }
        const float v160 = x11;
        const float v161 = v152 + v160;
        if (v148) {
            *(float *)(group + v144) = v161;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v166 = v14 + 16u;
    const bool v167 = v14 < 16u;
    const bool v168 = v166 < v61;
    const bool v169 = v167 & v168;
    if (v169) {
        const u64 v171 = (u64)v14;
        const u64 v173 = v171 * 4ull;
        const u32 v174 = (u32)v173;
        x12 = 0.0f;
        const bool v177 = x4;
        const bool v178 = !v177;
        if (v178) {
            const float v180 = *(float *)(group + v174);
            x12 = v180;
        }
        const float v182 = x12;
        const u64 v183 = (u64)v166;
        const u64 v184 = v183 * 4ull;
        const u32 v185 = (u32)v184;
        x13 = 0.0f;
        if (v178) {
            const float v188 = *(float *)(group + v185);
            x13 = v188;
        }
        const float v190 = x13;
        const float v191 = v182 + v190;
        if (v178) {
            *(float *)(group + v174) = v191;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v196 = v14 + 8u;
    const bool v197 = v14 < 8u;
    const bool v198 = v196 < v61;
    const bool v199 = v197 & v198;
    if (v199) {
        const u64 v201 = (u64)v14;
        const u64 v203 = v201 * 4ull;
        const u32 v204 = (u32)v203;
        x14 = 0.0f;
        const bool v207 = x4;
        const bool v208 = !v207;
        if (v208) {
            const float v210 = *(float *)(group + v204);
            x14 = v210;
        }
        const float v212 = x14;
        const u64 v213 = (u64)v196;
        const u64 v214 = v213 * 4ull;
        const u32 v215 = (u32)v214;
        x15 = 0.0f;
        if (v208) {
            const float v218 = *(float *)(group + v215);
            x15 = v218;
        }
        const float v220 = x15;
        const float v221 = v212 + v220;
        if (v208) {
            *(float *)(group + v204) = v221;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v226 = v14 + 4u;
    const bool v227 = v14 < 4u;
    const bool v228 = v226 < v61;
    const bool v229 = v227 & v228;
    if (v229) {
        const u64 v231 = (u64)v14;
        const u64 v233 = v231 * 4ull;
        const u32 v234 = (u32)v233;
        x16 = 0.0f;
        const bool v237 = x4;
        const bool v238 = !v237;
        if (v238) {
            const float v240 = *(float *)(group + v234);
            x16 = v240;
        }
        const float v242 = x16;
        const u64 v243 = (u64)v226;
        const u64 v244 = v243 * 4ull;
        const u32 v245 = (u32)v244;
        x17 = 0.0f;
        if (v238) {
            const float v248 = *(float *)(group + v245);
            x17 = v248;
        }
        const float v250 = x17;
        const float v251 = v242 + v250;
        if (v238) {
            *(float *)(group + v234) = v251;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v255 = v14 + 2u;
    const bool v256 = v14 < 2u;
    const bool v257 = v255 < v61;
    const bool v258 = v256 & v257;
    if (v258) {
        const u64 v260 = (u64)v14;
        const u64 v262 = v260 * 4ull;
        const u32 v263 = (u32)v262;
        x18 = 0.0f;
        const bool v266 = x4;
        const bool v267 = !v266;
        if (v267) {
            const float v269 = *(float *)(group + v263);
            x18 = v269;
        }
        const float v271 = x18;
        const u64 v272 = (u64)v255;
        const u64 v273 = v272 * 4ull;
        const u32 v274 = (u32)v273;
        x19 = 0.0f;
        if (v267) {
            const float v277 = *(float *)(group + v274);
            x19 = v277;
        }
        const float v279 = x19;
        const float v280 = v271 + v279;
        if (v267) {
            *(float *)(group + v263) = v280;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v284 = v14 + 1u;
    const bool v285 = v14 < 1u;
    const bool v286 = v284 < v61;
    const bool v287 = v285 & v286;
    if (v287) {
        const u64 v289 = (u64)v14;
        const u64 v291 = v289 * 4ull;
        const u32 v292 = (u32)v291;
        x20 = 0.0f;
        const bool v295 = x4;
        const bool v296 = !v295;
        if (v296) {
            const float v298 = *(float *)(group + v292);
            x20 = v298;
        }
        const float v300 = x20;
        const u64 v301 = (u64)v284;
        const u64 v302 = v301 * 4ull;
        const u32 v303 = (u32)v302;
        x21 = 0.0f;
        if (v296) {
            const float v306 = *(float *)(group + v303);
            x21 = v306;
        }
        const float v308 = x21;
        const float v309 = v300 + v308;
        if (v296) {
            *(float *)(group + v292) = v309;
        }
    }
    __syncthreads(); /* barrier 0 */
    const bool v313 = x4;
    if (v313) {
        return;
    }
    const bool v316 = v14 == 0u;
    if (v316) {
        const u64 v318 = (u64)v14;
        const u64 v320 = v318 * 4ull;
        const u32 v321 = (u32)v320;
        const float v322 = *(float *)(group + v321);
        const u64 v323 = v55 * 4ull;
        *(float *)(s1 + v323) = v322;
    }
}


/* Written by hologram: CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with -fmad=false.
The program has whole-array steps: the kernels run in this order, each over all lanes.
  0: step parallel_reduce.f32
  1: center_0
  2: end
center_0, slot 0: the plan's environment as the kernel finds it
center_0, slot 1: input 0, x
center_0, slot 2: input 1, y
center_0, slot 3: the fault record
 */
#if __CUDA_ARCH__ < 700 || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1107
#undef __grid_constant__
#define __grid_constant__
#endif
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. Addresses are multiples of 16. */
typedef struct center_0_kernel_record {
    u64 base_0;
    u64 input_2;
    u64 base_3;
    u64 base_1;
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
    u64 x3; /* fault_name */
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
    /* axis.u64 r4, r255, [buf(r0)], 0 */
    const u64 v12 = env->record.input_2;
    const bool v13 = v9 < v12;
    const bool v14 = !v13;
    if (v14) {
        env->x1 = 1u;
        env->x2 = v9;
        env->x3 = v12;
        return;
    }
    /* ldg.f32 r4, [r0 + r4*4] */
    const u64 v22 = (u64)(v9 << 2);
    const float v23 = *(const float *)(env->s1 + v22);
    /* cvt.f32.u64 r2, r2 */
    const float v24 = (float)v12;
    /* div.f32 r2, r3, r2 */
    const float v25 = v11 / v24;
    /* sub.f32 r2, r4, r2 */
    const float v26 = v23 - v25;
    /* stg.f32 [r1 + r3*4], r2 */
    *(float *)(env->s2 + v22) = v26;
}

static __device__ __forceinline__ void center_0_kernel_f1(center_0_kernel_env *env, u32 a0, u64 a1, u64 a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const u32 v3 = (u32)(blockIdx.x * blockDim.x + threadIdx.x);
    const u32 v5 = atomicMin((u32 *)(env->fault + 4ull), v3);
    const bool v6 = v5 < v3;
    if (v6) {
        return;
    }
    const u32 v9 = env->record.first_0;
    const u32 v10 = v9 + v3;
    for (;;) {
        const u32 v15 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v16 = v15 == 0u;
        if (v16) {
            __threadfence();
            const u32 v20 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v22 = *(volatile u32 *)(env->fault + 24ull);
            const bool v23 = v10 < v22;
            const bool v24 = v20 == 0u;
            const bool v25 = v24 | v23;
            if (v25) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 24ull) = v10;
                *(volatile u32 *)(env->fault + 28ull) = 0u;
                const u32 v32 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v32;
                const u64 v36 = (u64)(a1 >> 32);
                const u32 v37 = (u32)v36;
                *(volatile u32 *)(env->fault + 36ull) = v37;
                const u32 v40 = (u32)a2;
                *(volatile u32 *)(env->fault + 40ull) = v40;
                const u64 v43 = (u64)(a2 >> 32);
                const u32 v44 = (u32)v43;
                *(volatile u32 *)(env->fault + 44ull) = v44;
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
extern "C" __global__ void center_0_kernel(const __grid_constant__ center_0_kernel_record record) {
    const u8 *const s0 = (const u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    const u8 *const s1 = (const u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    u8 *const s2 = (u8 *)__builtin_assume_aligned((void *)(record.base_2), 16);
    u8 *const fault = (u8 *)__builtin_assume_aligned((void *)(record.base_3), 16);
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
        const u64 v10 = env->x3;
        center_0_kernel_f1(env, v8, v9, v10);
    }
}

/* Written by hologram: CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with -fmad=false.
reduce_add_f32, for blocks of 128 x 1 x 1 lanes
reduce_add_f32, slot 0: input 0
reduce_add_f32, slot 1: input 1
 */
#if __CUDA_ARCH__ < 700 || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1107
#undef __grid_constant__
#define __grid_constant__
#endif
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. Addresses are multiples of 16. */
typedef struct reduce_add_f32_kernel_record {
    u64 input_2;
    u64 base_0;
    u64 base_1;
    u32 shared_bytes_0;
    u32 lanes_0;
    u32 box_2;
    u32 grid_dim_1;
    u32 box_1;
    u32 grid_dim_0;
    u32 box_0;
    u32 unused_52;
} reduce_add_f32_kernel_record;

/* One invocation. */
extern "C" __global__ void reduce_add_f32_kernel(const __grid_constant__ reduce_add_f32_kernel_record record) {
    const u8 *const s0 = (const u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    u8 *const s1 = (u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    extern __shared__ __attribute__((aligned(16))) u64 group_memory[];
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
    const u32 v4 = record.shared_bytes_0;
    const u32 v6 = (u32)threadIdx.z;
    const u32 v7 = (u32)threadIdx.y;
    const u32 v8 = v6 + v7;
    const u32 v9 = v8 * 128u;
    const u32 v10 = (u32)threadIdx.x;
    const u32 v11 = v9 + v10;
    const u32 v12 = (u32)(v11 << 2);
    x3 = v12;
    for (;;) {
        const u32 v15 = x3;
        const bool v16 = v15 < v4;
        const bool v18 = !v16;
        if (v18) {
            break;
        }
        *(u32 *)(group + v15) = 0u;
        const u32 v22 = v15 + 512u;
        x3 = v22;
    }
    __syncthreads(); /* barrier 0 */
    const u32 v25 = record.lanes_0;
    const u64 v26 = (u64)v25;
    const u32 v27 = record.box_2;
    const u32 v28 = (u32)blockIdx.z;
    const u32 v29 = v27 + v28;
    const u32 v30 = record.grid_dim_1;
    const u32 v31 = record.box_1;
    const u32 v32 = (u32)blockIdx.y;
    const u32 v33 = v31 + v32;
    const u32 v34 = v29 * v30;
    const u32 v35 = v34 + v33;
    const u32 v36 = record.grid_dim_0;
    const u32 v37 = record.box_0;
    const u32 v38 = (u32)blockIdx.x;
    const u32 v39 = v37 + v38;
    const u32 v40 = v35 * v36;
    const u32 v41 = v40 + v39;
    const u32 v42 = v41 * 128u;
    const u32 v43 = v42 + v11;
    const u64 v44 = (u64)v43;
    const bool v45 = v44 < v26;
    const bool v47 = !v45;
    if (v47) {
        x4 = true;
    }
    const u64 v50 = record.input_2;
    const u64 v51 = (u64)v39;
    const u64 v53 = v51 * 4096ull;
    const u64 v54 = v50 - v53;
    const bool v55 = v54 < 4096ull;
    const u64 v56 = v55 ? v54 : 4096ull;
    const u32 v57 = (u32)v56;
    const bool v58 = v10 < v57;
    if (v58) {
        const u64 v60 = (u64)v10;
        const u64 v61 = v53 + v60;
        const u64 v63 = v61 * 4ull;
        x5 = 0.0f;
        const bool v66 = x4;
        const bool v67 = !v66;
        if (v67) {
            const float v69 = *(const float *)(s0 + v63);
            x5 = v69;
        }
        const float v71 = x5;
        x0 = v71;
        const u32 v73 = v10 + 128u;
        x1 = v73;
        x2 = v63;
        if (v67) {
            for (;;) {
                const u32 v78 = x1;
                const bool v79 = v78 < v57;
                const bool v80 = !v79;
                if (v80) {
                    break;
                }
                const u64 v83 = x2;
                const u64 v85 = v83 + 512ull;
                x2 = v85;
                const float v87 = x0;
                const float v88 = *(const float *)(s0 + v85);
                const float v89 = v87 + v88;
                x0 = v89;
                const u32 v91 = v78 + 128u;
                x1 = v91;
            }
        }
        const float v93 = x0;
        const u64 v94 = v60 * 4ull;
        const u32 v95 = (u32)v94;
        if (v67) {
            *(float *)(group + v95) = v93;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v100 = v10 + 64u;
    const bool v101 = v10 < 64u;
    const bool v102 = v100 < v57;
    const bool v103 = v101 & v102;
    if (v103) {
        const u64 v105 = (u64)v10;
        const u64 v107 = v105 * 4ull;
        const u32 v108 = (u32)v107;
        x8 = 0.0f;
        const bool v111 = x4;
        const bool v112 = !v111;
        if (v112) {
            const float v114 = *(float *)(group + v108);
            x8 = v114;
        }
        const float v116 = x8;
        const u64 v117 = (u64)v100;
        const u64 v118 = v117 * 4ull;
        const u32 v119 = (u32)v118;
        x9 = 0.0f;
        if (v112) {
            const float v122 = *(float *)(group + v119);
            x9 = v122;
        }
        const float v124 = x9;
        const float v125 = v116 + v124;
        if (v112) {
            *(float *)(group + v108) = v125;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v130 = v10 + 32u;
    const bool v131 = v10 < 32u;
    const bool v132 = v130 < v57;
    const bool v133 = v131 & v132;
    if (v133) {
        const u64 v135 = (u64)v10;
        const u64 v137 = v135 * 4ull;
        const u32 v138 = (u32)v137;
        x10 = 0.0f;
        const bool v141 = x4;
        const bool v142 = !v141;
        if (v142) {
            const float v144 = *(float *)(group + v138);
            x10 = v144;
        }
        const float v146 = x10;
        const u64 v147 = (u64)v130;
        const u64 v148 = v147 * 4ull;
        const u32 v149 = (u32)v148;
        x11 = 0.0f;
        if (v142) {
            const float v152 = *(float *)(group + v149);
            x11 = v152;
        }
        const float v154 = x11;
        const float v155 = v146 + v154;
        if (v142) {
            *(float *)(group + v138) = v155;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v160 = v10 + 16u;
    const bool v161 = v10 < 16u;
    const bool v162 = v160 < v57;
    const bool v163 = v161 & v162;
    if (v163) {
        const u64 v165 = (u64)v10;
        const u64 v167 = v165 * 4ull;
        const u32 v168 = (u32)v167;
        x12 = 0.0f;
        const bool v171 = x4;
        const bool v172 = !v171;
        if (v172) {
            const float v174 = *(float *)(group + v168);
            x12 = v174;
        }
        const float v176 = x12;
        const u64 v177 = (u64)v160;
        const u64 v178 = v177 * 4ull;
        const u32 v179 = (u32)v178;
        x13 = 0.0f;
        if (v172) {
            const float v182 = *(float *)(group + v179);
            x13 = v182;
        }
        const float v184 = x13;
        const float v185 = v176 + v184;
        if (v172) {
            *(float *)(group + v168) = v185;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v190 = v10 + 8u;
    const bool v191 = v10 < 8u;
    const bool v192 = v190 < v57;
    const bool v193 = v191 & v192;
    if (v193) {
        const u64 v195 = (u64)v10;
        const u64 v197 = v195 * 4ull;
        const u32 v198 = (u32)v197;
        x14 = 0.0f;
        const bool v201 = x4;
        const bool v202 = !v201;
        if (v202) {
            const float v204 = *(float *)(group + v198);
            x14 = v204;
        }
        const float v206 = x14;
        const u64 v207 = (u64)v190;
        const u64 v208 = v207 * 4ull;
        const u32 v209 = (u32)v208;
        x15 = 0.0f;
        if (v202) {
            const float v212 = *(float *)(group + v209);
            x15 = v212;
        }
        const float v214 = x15;
        const float v215 = v206 + v214;
        if (v202) {
            *(float *)(group + v198) = v215;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v220 = v10 + 4u;
    const bool v221 = v10 < 4u;
    const bool v222 = v220 < v57;
    const bool v223 = v221 & v222;
    if (v223) {
        const u64 v225 = (u64)v10;
        const u64 v227 = v225 * 4ull;
        const u32 v228 = (u32)v227;
        x16 = 0.0f;
        const bool v231 = x4;
        const bool v232 = !v231;
        if (v232) {
            const float v234 = *(float *)(group + v228);
            x16 = v234;
        }
        const float v236 = x16;
        const u64 v237 = (u64)v220;
        const u64 v238 = v237 * 4ull;
        const u32 v239 = (u32)v238;
        x17 = 0.0f;
        if (v232) {
            const float v242 = *(float *)(group + v239);
            x17 = v242;
        }
        const float v244 = x17;
        const float v245 = v236 + v244;
        if (v232) {
            *(float *)(group + v228) = v245;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v249 = v10 + 2u;
    const bool v250 = v10 < 2u;
    const bool v251 = v249 < v57;
    const bool v252 = v250 & v251;
    if (v252) {
        const u64 v254 = (u64)v10;
        const u64 v256 = v254 * 4ull;
        const u32 v257 = (u32)v256;
        x18 = 0.0f;
        const bool v260 = x4;
        const bool v261 = !v260;
        if (v261) {
            const float v263 = *(float *)(group + v257);
            x18 = v263;
        }
        const float v265 = x18;
        const u64 v266 = (u64)v249;
        const u64 v267 = v266 * 4ull;
        const u32 v268 = (u32)v267;
        x19 = 0.0f;
        if (v261) {
            const float v271 = *(float *)(group + v268);
            x19 = v271;
        }
        const float v273 = x19;
        const float v274 = v265 + v273;
        if (v261) {
            *(float *)(group + v257) = v274;
        }
    }
    __syncthreads(); /* barrier 0 */
    const u32 v278 = v10 + 1u;
    const bool v279 = v10 < 1u;
    const bool v280 = v278 < v57;
    const bool v281 = v279 & v280;
    if (v281) {
        const u64 v283 = (u64)v10;
        const u64 v285 = v283 * 4ull;
        const u32 v286 = (u32)v285;
        x20 = 0.0f;
        const bool v289 = x4;
        const bool v290 = !v289;
        if (v290) {
            const float v292 = *(float *)(group + v286);
            x20 = v292;
        }
        const float v294 = x20;
        const u64 v295 = (u64)v278;
        const u64 v296 = v295 * 4ull;
        const u32 v297 = (u32)v296;
        x21 = 0.0f;
        if (v290) {
            const float v300 = *(float *)(group + v297);
            x21 = v300;
        }
        const float v302 = x21;
        const float v303 = v294 + v302;
        if (v290) {
            *(float *)(group + v286) = v303;
        }
    }
    __syncthreads(); /* barrier 0 */
    const bool v307 = x4;
    if (v307) {
        return;
    }
    const bool v310 = v10 == 0u;
    if (v310) {
        const u64 v312 = (u64)v10;
        const u64 v314 = v312 * 4ull;
        const u32 v315 = (u32)v314;
        const float v316 = *(float *)(group + v315);
        const u64 v317 = v51 * 4ull;
        *(float *)(s1 + v317) = v316;
    }
}


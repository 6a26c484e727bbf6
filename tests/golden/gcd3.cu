/* Written by hologram: CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with -fmad=false.
gcd3, slot 0: input 0, a
gcd3, slot 1: input 1, b
gcd3, slot 2: input 2, c
gcd3, slot 3: input 3, out
gcd3, slot 4: the fault record
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

static __device__ __forceinline__ u32 hg_urem_u32(u32 a, u32 b) { return b ? (u32)(a % b) : 0; }
/* What a launch tells every lane. Addresses are multiples of 16. */
typedef struct gcd3_kernel_record {
    u64 input_4;
    u64 limit_0_reach_4;
    u64 base_0;
    u64 base_4;
    u64 limit_1_reach_4;
    u64 base_1;
    u64 limit_2_reach_4;
    u64 base_2;
    u64 limit_3_reach_4;
    u64 base_3;
    u32 count_0;
    u32 first_0;
    u32 fuel_0;
    u32 unused_92;
} gcd3_kernel_record;

/* What the functions of gcd3 share. */
typedef struct gcd3_kernel_env {
    const u8 *s0;
    const u8 *s1;
    const u8 *s2;
    u8 *s3;
    u8 *fault;
    gcd3_kernel_record record;
    u32 x6; /* r20 */
    u32 x8; /* r21 */
    u32 x14; /* fault_site */
    u64 x15; /* fault_index */
    bool x16; /* stopped */
    u32 x19; /* rounds */
} gcd3_kernel_env;

static __device__ __forceinline__ u32 gcd3_kernel_f3(gcd3_kernel_env *env, u32 a0) {
    (void)env;
    (void)a0;
    const u32 v1 = *(volatile u32 *)(env->fault + 56ull);
    const bool v3 = v1 == 0u;
    if (v3) {
        const u32 v6 = env->record.fuel_0;
        const bool v7 = a0 < v6;
        if (v7) {
            return 0u;
        }
        *(volatile u32 *)(env->fault + 56ull) = 1u;
    }
    return 1u;
}

static __device__ __forceinline__ void gcd3_kernel_f1(gcd3_kernel_env *env) {
    (void)env;
    bool x17 = 0; /* left */
    u32 x18 = 0; /* round */
    /* mov_imm.u32 r22, 0 */
    for (;;) {
        for (;;) {
            x18 = 0u;
            x17 = true;
#pragma unroll
            for (;;) {
                const u32 v7 = x18;
                const bool v9 = v7 == 4u;
                if (v9) {
                    x17 = false;
                    break;
                }
                const u32 v15 = v7 + 1u;
                x18 = v15;
                /* seteq.u32 p1, r21, r22 */
                const u32 v17 = env->x8;
                const bool v18 = v17 == 0u;
                /* bra.p1 @gcd_end */
                if (v18) {
                    break;
                }
                /* rem.u32 r23, r20, r21 */
                const u32 v21 = env->x6;
                if (v18) {
                    env->x14 = 5u;
                    env->x15 = 0ull;
                    env->x16 = true;
                    return;
                }
                const u32 v29 = hg_urem_u32(v21, v17);
                /* mov.u32 r20, r21 */
                env->x6 = v17;
                /* mov.u32 r21, r23 */
                env->x8 = v29;
            }
            const bool v32 = x17;
            if (v32) {
                break;
            }
            const u32 v35 = env->x19;
            const u32 v37 = v35 + 4u;
            env->x19 = v37;
            const u32 v40 = v37 & 1020u;
            const bool v41 = v40 == 0u;
            if (v41) {
                break;
            }
        }
        const bool v44 = x17;
        if (v44) {
            break;
        }
        const u32 v47 = env->x19;
        const u32 v49 = (u32)(v47 >> 10);
        const u32 v50 = gcd3_kernel_f3(env, v49);
        const bool v51 = v50 == 0u;
        const bool v53 = !v51;
        if (v53) {
            env->x16 = true;
            return;
        }
    }
}

static __device__ __forceinline__ void gcd3_kernel_f4(gcd3_kernel_env *env) {
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
    const u64 v10 = env->record.input_4;
    /* setgeu.u64 p0, r255, r4 */
    const bool v11 = v9 < v10;
    /* bra.p0 @done */
    if (v11) {
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const u64 v14 = (u64)(v9 << 2);
        /* ldg.u32 r20, [r1 + r0] */
        const u64 v15 = env->record.limit_0_reach_4;
        const bool v16 = v14 < v15;
        const bool v17 = !v16;
        if (v17) {
            env->x14 = 1u;
            env->x15 = v14;
            return;
        }
        const u32 v23 = *(const u32 *)(env->s0 + v14);
        env->x6 = v23;
        /* ldg.u32 r21, [r2 + r0] */
        const u64 v25 = env->record.limit_1_reach_4;
        const bool v26 = v14 < v25;
        const bool v27 = !v26;
        if (v27) {
            env->x14 = 2u;
            env->x15 = v14;
            return;
        }
        const u32 v32 = *(const u32 *)(env->s1 + v14);
        env->x8 = v32;
        /* call @gcd */
        gcd3_kernel_f1(env);
        const bool v35 = env->x16;
        if (v35) {
            return;
        }
        /* ldg.u32 r21, [r3 + r0] */
        const u64 v38 = env->record.limit_2_reach_4;
        const bool v39 = v14 < v38;
        const bool v40 = !v39;
        if (v40) {
            env->x14 = 3u;
            env->x15 = v14;
            return;
        }
        const u32 v46 = *(const u32 *)(env->s2 + v14);
        env->x8 = v46;
        /* call @gcd */
        gcd3_kernel_f1(env);
        const bool v49 = env->x16;
        if (v49) {
            return;
        }
        /* stg.u32 [r6 + r0], r20 */
        const u32 v52 = env->x6;
        const u64 v53 = env->record.limit_3_reach_4;
        const bool v54 = v14 < v53;
        const bool v55 = !v54;
        if (v55) {
            env->x14 = 4u;
            env->x15 = v14;
            return;
        }
        *(u32 *)(env->s3 + v14) = v52;
    }
}

static __device__ __forceinline__ void gcd3_kernel_f2(gcd3_kernel_env *env, u32 a0, u64 a1) {
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
    for (;;) {
        const u32 v14 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v15 = v14 == 0u;
        if (v15) {
            __threadfence();
            const u32 v19 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v21 = *(volatile u32 *)(env->fault + 24ull);
            const bool v22 = v9 < v21;
            const bool v23 = v19 == 0u;
            const bool v24 = v23 | v22;
            if (v24) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 24ull) = v9;
                *(volatile u32 *)(env->fault + 28ull) = 0u;
                const u32 v31 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v31;
                const u64 v35 = (u64)(a1 >> 32);
                const u32 v36 = (u32)v35;
                *(volatile u32 *)(env->fault + 36ull) = v36;
                *(volatile u32 *)(env->fault + 8ull) = 1u;
            }
            __threadfence();
            atomicExch((u32 *)(env->fault), 0u);
        }
        if (v15) {
            break;
        }
    }
}

/* One invocation. */
extern "C" __global__ void gcd3_kernel(const __grid_constant__ gcd3_kernel_record record) {
    const u8 *const s0 = (const u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    const u8 *const s1 = (const u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    const u8 *const s2 = (const u8 *)__builtin_assume_aligned((void *)(record.base_2), 16);
    u8 *const s3 = (u8 *)__builtin_assume_aligned((void *)(record.base_3), 16);
    u8 *const fault = (u8 *)__builtin_assume_aligned((void *)(record.base_4), 16);
    gcd3_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.s2 = s2;
    environment.s3 = s3;
    environment.fault = fault;
    environment.record = record;
    gcd3_kernel_env *const env = &environment;
    (void)env;
    gcd3_kernel_f4(env);
    const u32 v1 = env->x14;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const u32 v8 = v1 - 1u;
        const u64 v9 = env->x15;
        gcd3_kernel_f2(env, v8, v9);
    }
}


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
    u64 base_4;
    u64 base_0;
    u64 base_1;
    u64 base_2;
    u64 base_3;
    u32 count_0;
    u32 first_0;
    u32 fuel_0;
    u32 unused_60;
} gcd3_kernel_record;

/* What the functions of gcd3 share. */
typedef struct gcd3_kernel_env {
    const u8 *s0;
    const u8 *s1;
    const u8 *s2;
    u8 *s3;
    u8 *fault;
    gcd3_kernel_record record;
    u32 x3; /* r4 */
    u32 x6; /* r5 */
    u32 x15; /* fault_site */
    u64 x16; /* fault_index */
    u64 x17; /* fault_name */
    bool x18; /* stopped */
    u32 x21; /* rounds */
    u32 x22; /* looks */
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
    bool x19 = 0; /* left */
    u32 x20 = 0; /* round */
    for (;;) {
        for (;;) {
            x20 = 0u;
            x19 = true;
#pragma unroll
            for (;;) {
                const u32 v7 = x20;
                const bool v9 = v7 == 4u;
                if (v9) {
                    x19 = false;
                    break;
                }
                const u32 v15 = v7 + 1u;
                x20 = v15;
                /* seteq.u32 p0, r5, r6 */
                const u32 v17 = env->x6;
                const bool v18 = v17 == 0u;
                /* bra.p0 @.L20 */
                if (v18) {
                    break;
                }
                /* rem.u32 r6, r4, r5 */
                const u32 v21 = env->x3;
                if (v18) {
                    env->x15 = 2u;
                    env->x16 = 0ull;
                    env->x17 = 0ull;
                    env->x18 = true;
                    return;
                }
                const u32 v30 = hg_urem_u32(v21, v17);
                /* mov.u32 r4, r5 */
                env->x3 = v17;
                /* mov.u32 r5, r6 */
                env->x6 = v30;
            }
            const bool v33 = x19;
            if (v33) {
                break;
            }
            const u32 v36 = env->x21;
            const u32 v38 = v36 + 4u;
            env->x21 = v38;
            const u32 v41 = v38 & 1020u;
            const bool v42 = v41 == 0u;
            if (v42) {
                break;
            }
        }
        const bool v45 = x19;
        if (v45) {
            break;
        }
        const u32 v48 = env->x22;
        const bool v50 = v48 < 0xfffffffeu;
        const u32 v53 = v50 ? 1u : 0u;
        const u32 v54 = v48 + v53;
        env->x22 = v54;
        const u32 v56 = gcd3_kernel_f3(env, v54);
        const bool v57 = v56 == 0u;
        const bool v59 = !v57;
        if (v59) {
            env->x18 = true;
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
    /* axis.u64 r4, r255, [buf(r0)], 0 */
    const bool v11 = v9 < v10;
    const bool v12 = !v11;
    if (v12) {
        env->x15 = 1u;
        env->x16 = v9;
        env->x17 = v10;
        return;
    }
    /* ldg.u32 r4, [r0 + r4*4] */
    const u64 v20 = (u64)(v9 << 2);
    const u32 v21 = *(const u32 *)(env->s0 + v20);
    env->x3 = v21;
    /* ldg.u32 r5, [r1 + r5*4] */
    const u32 v23 = *(const u32 *)(env->s1 + v20);
    env->x6 = v23;
    /* call @gcd */
    gcd3_kernel_f1(env);
    const bool v26 = env->x18;
    if (v26) {
        return;
    }
    /* ldg.u32 r5, [r2 + r5*4] */
    const u32 v29 = *(const u32 *)(env->s2 + v20);
    env->x6 = v29;
    /* call @gcd */
    gcd3_kernel_f1(env);
    const bool v32 = env->x18;
    if (v32) {
        return;
    }
    /* mov.u32 r4, r4 */
    const u32 v35 = env->x3;
    /* stg.u32 [r3 + r5*4], r4 */
    *(u32 *)(env->s3 + v20) = v35;
}

static __device__ __forceinline__ void gcd3_kernel_f2(gcd3_kernel_env *env, u32 a0, u64 a1, u64 a2) {
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
    const u32 v1 = env->x15;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const u32 v8 = v1 - 1u;
        const u64 v9 = env->x16;
        const u64 v10 = env->x17;
        gcd3_kernel_f2(env, v8, v9, v10);
    }
}


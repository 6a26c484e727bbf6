/* Written by hologram: CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with -fmad=false.
collatz, slot 0: input 0, start
collatz, slot 1: input 1, steps
collatz, slot 2: the fault record
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
typedef struct collatz_kernel_record {
    u64 input_2;
    u64 base_2;
    u64 base_0;
    u64 base_1;
    u32 count_0;
    u32 first_0;
    u32 fuel_0;
    u32 unused_44;
} collatz_kernel_record;

/* What the functions of collatz share. */
typedef struct collatz_kernel_env {
    const u8 *s0;
    u8 *s1;
    u8 *fault;
    collatz_kernel_record record;
    u32 x19; /* fault_site */
    u64 x20; /* fault_index */
    u64 x21; /* fault_name */
    u32 x24; /* rounds */
    u32 x25; /* looks */
} collatz_kernel_env;

static __device__ __forceinline__ u32 collatz_kernel_f2(collatz_kernel_env *env, u32 a0) {
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

static __device__ __forceinline__ void collatz_kernel_f3(collatz_kernel_env *env) {
    (void)env;
    u32 x3 = 0; /* r3 */
    u64 x10 = 0; /* r2_3 */
    bool x22 = 0; /* left */
    u32 x23 = 0; /* round */
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
    const u64 v10 = env->record.input_2;
    /* axis.u64 r2, r255, [buf(r0)], 0 */
    const bool v11 = v9 < v10;
    const bool v12 = !v11;
    if (v12) {
        env->x19 = 1u;
        env->x20 = v9;
        env->x21 = v10;
        return;
    }
    /* ldg.u64 r2, [r0 + r2*8] */
    const u64 v21 = (u64)(v9 << 3);
    const u64 v22 = *(const u64 *)(env->s0 + v21);
    x10 = v22;
    /* mov_imm.u32 r3, 0 */
    x3 = 0u;
    for (;;) {
        for (;;) {
            x23 = 0u;
            x22 = true;
#pragma unroll
            for (;;) {
                const u32 v31 = x23;
                const bool v33 = v31 == 4u;
                if (v33) {
                    x22 = false;
                    break;
                }
                const u32 v39 = v31 + 1u;
                x23 = v39;
                /* mov_imm.u64 r4, 1 */
                /* setle.u64 p0, r2, r4 */
                const u64 v42 = x10;
                const bool v43 = 1ull < v42;
                const bool v44 = !v43;
                /* bra.p0 @.L21 */
                if (v44) {
                    break;
                }
                /* and.u64 r4, r2, r4 */
                const u64 v47 = v42 & 1ull;
                /* setne.u64 p0, r4, r5 */
                const bool v48 = v47 == 0ull;
                const bool v49 = !v48;
                /* bra.p0 @.L14 */
                if (v49) {
                    /* mov_imm.u64 r4, 3 */
                    /* mul.u64 r2, r2, r4 */
                    const u64 v52 = v42 * 3ull;
                    /* add.u64 r2, r2, r4 */
                    const u64 v53 = v52 + 1ull;
                    x10 = v53;
                } else {
                    /* shr.u64 r2, r2, r4 */
                    const u64 v55 = (u64)(v42 >> 1);
                    x10 = v55;
                }
                /* add.u32 r3, r3, r4 */
                const u32 v57 = x3;
                const u32 v58 = v57 + 1u;
                x3 = v58;
            }
            const bool v60 = x22;
            if (v60) {
                break;
            }
            const u32 v63 = env->x24;
            const u32 v65 = v63 + 4u;
            env->x24 = v65;
            const u32 v68 = v65 & 1020u;
            const bool v69 = v68 == 0u;
            if (v69) {
                break;
            }
        }
        const bool v72 = x22;
        if (v72) {
            break;
        }
        const u32 v75 = env->x25;
        const bool v77 = v75 < 0xfffffffeu;
        const u32 v79 = v77 ? 1u : 0u;
        const u32 v80 = v75 + v79;
        env->x25 = v80;
        const u32 v82 = collatz_kernel_f2(env, v80);
        const bool v83 = v82 == 0u;
        const bool v84 = !v83;
        if (v84) {
            return;
        }
    }
    /* stg.u32 [r1 + r2*4], r3 */
    const u64 v88 = (u64)(v9 << 2);
    const u32 v89 = x3;
    *(u32 *)(env->s1 + v88) = v89;
}

static __device__ __forceinline__ void collatz_kernel_f1(collatz_kernel_env *env, u32 a0, u64 a1, u64 a2) {
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
extern "C" __global__ void collatz_kernel(const __grid_constant__ collatz_kernel_record record) {
    const u8 *const s0 = (const u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    u8 *const s1 = (u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    u8 *const fault = (u8 *)__builtin_assume_aligned((void *)(record.base_2), 16);
    collatz_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.fault = fault;
    environment.record = record;
    collatz_kernel_env *const env = &environment;
    (void)env;
    collatz_kernel_f3(env);
    const u32 v1 = env->x19;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const u32 v8 = v1 - 1u;
        const u64 v9 = env->x20;
        const u64 v10 = env->x21;
        collatz_kernel_f1(env, v8, v9, v10);
    }
}


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
    u64 limit_0_reach_8;
    u64 base_0;
    u64 base_2;
    u64 limit_1_reach_4;
    u64 base_1;
    u32 count_0;
    u32 first_0;
    u32 fuel_0;
    u32 unused_60;
} collatz_kernel_record;

/* What the functions of collatz share. */
typedef struct collatz_kernel_env {
    const u8 *s0;
    u8 *s1;
    u8 *fault;
    collatz_kernel_record record;
    u32 x18; /* fault_site */
    u64 x19; /* fault_index */
    u32 x22; /* rounds */
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
    u64 x6 = 0; /* r10 */
    u32 x11 = 0; /* r20 */
    bool x20 = 0; /* left */
    u32 x21 = 0; /* round */
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
    /* setgeu.u64 p0, r255, r4 */
    const bool v11 = v9 < v10;
    /* bra.p0 @done */
    if (v11) {
        /* mov_imm.u32 r250, 3 */
        /* shl.u64 r0, r255, r250 */
        const u64 v14 = (u64)(v9 << 3);
        /* ldg.u64 r10, [r1 + r0] */
        const u64 v15 = env->record.limit_0_reach_8;
        const bool v16 = v14 < v15;
        const bool v17 = !v16;
        if (v17) {
            env->x18 = 1u;
            env->x19 = v14;
            return;
        }
        const u64 v23 = *(const u64 *)(env->s0 + v14);
        x6 = v23;
        /* mov_imm.u64 r11, 1 */
        /* mov_imm.u64 r12, 3 */
        /* mov_imm.u64 r13, 0 */
        /* mov_imm.u32 r14, 1 */
        /* mov_imm.u32 r20, 0 */
        x11 = 0u;
        for (;;) {
            for (;;) {
                x21 = 0u;
                x20 = true;
#pragma unroll
                for (;;) {
                    const u32 v36 = x21;
                    const bool v38 = v36 == 4u;
                    if (v38) {
                        x20 = false;
                        break;
                    }
                    const u32 v43 = v36 + 1u;
                    x21 = v43;
                    /* setleu.u64 p1, r10, r11 */
                    const u64 v45 = x6;
                    const bool v46 = 1ull < v45;
                    const bool v47 = !v46;
                    /* bra.p1 @store */
                    if (v47) {
                        break;
                    }
                    /* add.u32 r20, r20, r14 */
                    const u32 v50 = x11;
                    const u32 v51 = v50 + 1u;
                    x11 = v51;
                    /* and.u64 r15, r10, r11 */
                    const u64 v53 = v45 & 1ull;
                    /* seteq.u64 p2, r15, r13 */
                    const bool v54 = v53 == 0ull;
                    /* bra.p2 @even */
                    if (v54) {
                        /* shr.u64 r10, r10, r14 */
                        const u64 v56 = (u64)(v45 >> 1);
                        x6 = v56;
                    } else {
                        /* mad.u64 r10, r10, r12, r11 */
                        const u64 v58 = v45 * 3ull;
                        const u64 v59 = v58 + 1ull;
                        x6 = v59;
                    }
                }
                const bool v61 = x20;
                if (v61) {
                    break;
                }
                const u32 v64 = env->x22;
                const u32 v66 = v64 + 4u;
                env->x22 = v66;
                const u32 v69 = v66 & 1020u;
                const bool v70 = v69 == 0u;
                if (v70) {
                    break;
                }
            }
            const bool v73 = x20;
            if (v73) {
                break;
            }
            const u32 v76 = env->x22;
            const u32 v78 = (u32)(v76 >> 10);
            const u32 v79 = collatz_kernel_f2(env, v78);
            const bool v80 = v79 == 0u;
            const bool v81 = !v80;
            if (v81) {
                return;
            }
        }
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const u64 v85 = (u64)(v9 << 2);
        /* stg.u32 [r2 + r0], r20 */
        const u32 v86 = x11;
        const u64 v87 = env->record.limit_1_reach_4;
        const bool v88 = v85 < v87;
        const bool v89 = !v88;
        if (v89) {
            env->x18 = 2u;
            env->x19 = v85;
            return;
        }
        *(u32 *)(env->s1 + v85) = v86;
    }
}

static __device__ __forceinline__ void collatz_kernel_f1(collatz_kernel_env *env, u32 a0, u64 a1) {
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
    const u32 v1 = env->x18;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const u32 v8 = v1 - 1u;
        const u64 v9 = env->x19;
        collatz_kernel_f1(env, v8, v9);
    }
}


/* Written by hologram: HIP.
block_reverse, for blocks of 8 x 1 x 1 lanes
block_reverse, slot 0: input 0, x
block_reverse, slot 1: the fault record
 */
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang fp contract(off)
#pragma clang diagnostic ignored "-Wpass-failed"
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. Addresses are multiples of 16. */
typedef struct block_reverse_kernel_record {
    u64 input_1;
    u64 base_1;
    u64 base_0;
    u32 shared_bytes_0;
    u32 lanes_0;
    u32 box_2;
    u32 grid_dim_1;
    u32 box_1;
    u32 grid_dim_0;
    u32 box_0;
    u32 unused_52;
} block_reverse_kernel_record;

/* What the functions of block_reverse share. */
typedef struct block_reverse_kernel_env {
    u8 *fault;
    block_reverse_kernel_record record;
} block_reverse_kernel_env;

static __device__ __forceinline__ void block_reverse_kernel_f1(block_reverse_kernel_env *env, u32 a0, u64 a1, u64 a2, u32 a3) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    (void)a3;
    const u32 v4 = (u32)threadIdx.z;
    const u32 v6 = (u32)threadIdx.y;
    const u32 v7 = v4 + v6;
    const u32 v9 = v7 * 8u;
    const u32 v10 = (u32)threadIdx.x;
    const u32 v11 = v9 + v10;
    const u32 v12 = env->record.box_2;
    const u32 v13 = (u32)blockIdx.z;
    const u32 v14 = v12 + v13;
    const u32 v15 = env->record.grid_dim_1;
    const u32 v16 = env->record.box_1;
    const u32 v17 = (u32)blockIdx.y;
    const u32 v18 = v16 + v17;
    const u32 v19 = v14 * v15;
    const u32 v20 = v19 + v18;
    const u32 v21 = env->record.grid_dim_0;
    const u32 v22 = env->record.box_0;
    const u32 v23 = (u32)blockIdx.x;
    const u32 v24 = v22 + v23;
    const u32 v25 = v20 * v21;
    const u32 v26 = v25 + v24;
    const u32 v27 = v26 * 8u;
    const u32 v28 = v27 + v11;
    const bool v30 = a3 == 0u;
    if (v30) {
        const u32 v33 = atomicMin((u32 *)(env->fault + 4ull), v28);
        const bool v34 = v33 < v28;
        if (v34) {
            return;
        }
    }
    for (;;) {
        const u32 v39 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v40 = v39 == 0u;
        if (v40) {
            __threadfence();
            const u32 v44 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v46 = *(volatile u32 *)(env->fault + 24ull);
            const bool v47 = v28 < v46;
            const u32 v49 = *(volatile u32 *)(env->fault + 16ull);
            const bool v50 = a3 < v49;
            const bool v51 = a3 == v49;
            const bool v52 = v51 & v47;
            const bool v53 = v50 | v52;
            const bool v54 = v44 == 0u;
            const bool v55 = v54 | v53;
            if (v55) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 16ull) = a3;
                *(volatile u32 *)(env->fault + 24ull) = v28;
                *(volatile u32 *)(env->fault + 28ull) = 0u;
                const u32 v63 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v63;
                const u64 v67 = (u64)(a1 >> 32);
                const u32 v68 = (u32)v67;
                *(volatile u32 *)(env->fault + 36ull) = v68;
                const u32 v71 = (u32)a2;
                *(volatile u32 *)(env->fault + 40ull) = v71;
                const u64 v74 = (u64)(a2 >> 32);
                const u32 v75 = (u32)v74;
                *(volatile u32 *)(env->fault + 44ull) = v75;
                *(volatile u32 *)(env->fault + 8ull) = 1u;
            }
            __threadfence();
            atomicExch((u32 *)(env->fault), 0u);
        }
        if (v40) {
            break;
        }
    }
}

/* One invocation. */
extern "C" __global__ void block_reverse_kernel(const block_reverse_kernel_record record) {
    u8 *const s0 = (u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    u8 *const fault = (u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    extern __shared__ __attribute__((aligned(16))) u64 group_memory[];
    u8 *const group = (u8 *)group_memory;
    block_reverse_kernel_env environment = {};
    environment.fault = fault;
    environment.record = record;
    block_reverse_kernel_env *const env = &environment;
    (void)env;
    u32 x14 = 0; /* at */
    bool x15 = 0; /* stopped */
    u32 x16 = 0; /* phase */
    u32 x17 = 0; /* sync */
    u32 x18 = 0;
    const u32 v4 = record.shared_bytes_0;
    const u32 v6 = v4 + 16u;
    const u32 v7 = (u32)threadIdx.z;
    const u32 v8 = (u32)threadIdx.y;
    const u32 v9 = v7 + v8;
    const u32 v10 = v9 * 8u;
    const u32 v11 = (u32)threadIdx.x;
    const u32 v12 = v10 + v11;
    const u32 v13 = (u32)(v12 << 2);
    x14 = v13;
    for (;;) {
        const u32 v16 = x14;
        const bool v17 = v16 < v6;
        const bool v19 = !v17;
        if (v19) {
            break;
        }
        *(u32 *)(group + v16) = 0u;
        const u32 v24 = v16 + 32u;
        x14 = v24;
    }
    __syncthreads(); /* barrier 0 */
    const u32 v27 = record.lanes_0;
    const u64 v28 = (u64)v27;
    const u32 v29 = record.box_2;
    const u32 v30 = (u32)blockIdx.z;
    const u32 v31 = v29 + v30;
    const u32 v32 = record.grid_dim_1;
    const u32 v33 = record.box_1;
    const u32 v34 = (u32)blockIdx.y;
    const u32 v35 = v33 + v34;
    const u32 v36 = v31 * v32;
    const u32 v37 = v36 + v35;
    const u32 v38 = record.grid_dim_0;
    const u32 v39 = record.box_0;
    const u32 v40 = (u32)blockIdx.x;
    const u32 v41 = v39 + v40;
    const u32 v42 = v37 * v38;
    const u32 v43 = v42 + v41;
    const u32 v44 = v43 * 8u;
    const u32 v45 = v44 + v12;
    const u64 v46 = (u64)v45;
    const bool v47 = v46 < v28;
    const bool v49 = !v47;
    if (v49) {
        x15 = true;
    }
    const u64 v52 = record.input_1;
    /* axis.u64 r1, r255, [buf(r0)], 0 */
    const bool v53 = v46 < v52;
    const bool v54 = !v53;
    if (v54) {
        const bool v56 = x15;
        const bool v57 = !v56;
        if (v57) {
            const u32 v60 = x16;
            block_reverse_kernel_f1(env, 0u, v46, v52, v60);
            const u32 v62 = x17;
            const u32 v63 = v62 + 1u;
            *(volatile u32 *)(group) = v63;
            x15 = true;
        }
    }
    /* ldg.i32 r1, [r0 + r1*4] */
    const u64 v66 = (u64)(v46 << 2);
    x18 = 0u;
    const bool v69 = x15;
    const bool v70 = !v69;
    if (v70) {
        const u32 v72 = *(u32 *)(s0 + v66);
        x18 = v72;
    }
    const u32 v74 = x18;
    /* axis.u32 r2, r252, [shared + 0], 0, extent=8 */
    const u64 v75 = (u64)v11;
    const bool v77 = v75 < 8ull;
    const bool v78 = !v77;
    if (v78) {
        if (v70) {
            const u32 v81 = x16;
            block_reverse_kernel_f1(env, 1u, v75, 8ull, v81);
            const u32 v83 = x17;
            const u32 v84 = v83 + 1u;
            *(volatile u32 *)(group) = v84;
            x15 = true;
        }
    }
    /* sts.i32 [shared + r2*4], r1 */
    const u64 v87 = (u64)(v75 << 2);
    const u32 v88 = (u32)v87;
    const u32 v89 = v88 + 16u;
    const bool v90 = x15;
    const bool v91 = !v90;
    if (v91) {
        *(u32 *)(group + v89) = v74;
    }
    /* bar.sync 0 */
    const u32 v94 = x17;
    const u32 v95 = v94 + 1u;
    __syncthreads(); /* barrier 0 */
    const u32 v97 = *(volatile u32 *)(group);
    const u32 v98 = v97 - 1u;
    const bool v99 = v98 < v95;
    if (v99) {
        return;
    }
    const u32 v102 = x16;
    const u32 v103 = v102 + 1u;
    if (v90) {
        return;
    }
    /* sub.u32 r1, r254, r1 */
    /* sub.u32 r1, r1, r252 */
    const u32 v107 = 7u - v11;
    /* axis.u32 r1, r1, [shared + 0], 0, extent=8 */
    const u64 v108 = (u64)v107;
    const bool v109 = v108 < 8ull;
    const bool v110 = !v109;
    if (v110) {
        block_reverse_kernel_f1(env, 2u, v108, 8ull, v103);
        return;
    }
    /* lds.i32 r1, [shared + r1*4] */
    const u64 v114 = (u64)(v108 << 2);
    const u32 v115 = (u32)v114;
    const u32 v116 = v115 + 16u;
    const u32 v117 = *(u32 *)(group + v116);
    /* stg.i32 [r0 + r2*4], r1 */
    *(u32 *)(s0 + v66) = v117;
}


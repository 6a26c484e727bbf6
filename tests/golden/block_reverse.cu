/* Written by hologram: CUDA C for compute capability 5.0 and later, 6.1 where it has dp4a; compile with -fmad=false.
block_reverse, for blocks of 8 x 1 x 1 lanes
block_reverse, slot 0: input 0, x
block_reverse, slot 1: the fault record
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
typedef struct block_reverse_kernel_record {
    u64 limit_0_reach_4;
    u64 base_0;
    u64 base_1;
    u64 shared_limit_0_reach_4;
    u32 shared_bytes_0;
    u32 lanes_0;
    u32 box_2;
    u32 grid_dim_1;
    u32 box_1;
    u32 grid_dim_0;
    u32 box_0;
    u32 unused_60;
} block_reverse_kernel_record;

/* What the functions of block_reverse share. */
typedef struct block_reverse_kernel_env {
    u8 *fault;
    block_reverse_kernel_record record;
} block_reverse_kernel_env;

static __device__ __forceinline__ void block_reverse_kernel_f1(block_reverse_kernel_env *env, u32 a0, u64 a1, u32 a2) {
    (void)env;
    (void)a0;
    (void)a1;
    (void)a2;
    const u32 v3 = (u32)threadIdx.z;
    const u32 v5 = (u32)threadIdx.y;
    const u32 v6 = v3 + v5;
    const u32 v8 = v6 * 8u;
    const u32 v9 = (u32)threadIdx.x;
    const u32 v10 = v8 + v9;
    const u32 v11 = env->record.box_2;
    const u32 v12 = (u32)blockIdx.z;
    const u32 v13 = v11 + v12;
    const u32 v14 = env->record.grid_dim_1;
    const u32 v15 = env->record.box_1;
    const u32 v16 = (u32)blockIdx.y;
    const u32 v17 = v15 + v16;
    const u32 v18 = v13 * v14;
    const u32 v19 = v18 + v17;
    const u32 v20 = env->record.grid_dim_0;
    const u32 v21 = env->record.box_0;
    const u32 v22 = (u32)blockIdx.x;
    const u32 v23 = v21 + v22;
    const u32 v24 = v19 * v20;
    const u32 v25 = v24 + v23;
    const u32 v26 = v25 * 8u;
    const u32 v27 = v26 + v10;
    const bool v29 = a2 == 0u;
    if (v29) {
        const u32 v32 = atomicMin((u32 *)(env->fault + 4ull), v27);
        const bool v33 = v32 < v27;
        if (v33) {
            return;
        }
    }
    for (;;) {
        const u32 v38 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v39 = v38 == 0u;
        if (v39) {
            __threadfence();
            const u32 v43 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v45 = *(volatile u32 *)(env->fault + 24ull);
            const bool v46 = v27 < v45;
            const u32 v48 = *(volatile u32 *)(env->fault + 16ull);
            const bool v49 = a2 < v48;
            const bool v50 = a2 == v48;
            const bool v51 = v50 & v46;
            const bool v52 = v49 | v51;
            const bool v53 = v43 == 0u;
            const bool v54 = v53 | v52;
            if (v54) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 16ull) = a2;
                *(volatile u32 *)(env->fault + 24ull) = v27;
                *(volatile u32 *)(env->fault + 28ull) = 0u;
                const u32 v62 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v62;
                const u64 v66 = (u64)(a1 >> 32);
                const u32 v67 = (u32)v66;
                *(volatile u32 *)(env->fault + 36ull) = v67;
                *(volatile u32 *)(env->fault + 8ull) = 1u;
            }
            __threadfence();
            atomicExch((u32 *)(env->fault), 0u);
        }
        if (v39) {
            break;
        }
    }
}

/* One invocation. */
extern "C" __global__ void block_reverse_kernel(const __grid_constant__ block_reverse_kernel_record record) {
    u8 *const s0 = (u8 *)__builtin_assume_aligned((void *)(record.base_0), 16);
    u8 *const fault = (u8 *)__builtin_assume_aligned((void *)(record.base_1), 16);
    extern __shared__ __attribute__((aligned(16))) u64 group_memory[];
    u8 *const group = (u8 *)group_memory;
    block_reverse_kernel_env environment = {};
    environment.fault = fault;
    environment.record = record;
    block_reverse_kernel_env *const env = &environment;
    (void)env;
    u32 x13 = 0; /* at */
    bool x14 = 0; /* stopped */
    u32 x15 = 0;
    u32 x16 = 0; /* phase */
    u32 x17 = 0; /* sync */
    const u32 v4 = record.shared_bytes_0;
    const u32 v6 = v4 + 16u;
    const u32 v7 = (u32)threadIdx.z;
    const u32 v8 = (u32)threadIdx.y;
    const u32 v9 = v7 + v8;
    const u32 v10 = v9 * 8u;
    const u32 v11 = (u32)threadIdx.x;
    const u32 v12 = v10 + v11;
    const u32 v13 = (u32)(v12 << 2);
    x13 = v13;
    for (;;) {
        const u32 v16 = x13;
        const bool v17 = v16 < v6;
        const bool v19 = !v17;
        if (v19) {
            break;
        }
        *(u32 *)(group + v16) = 0u;
        const u32 v24 = v16 + 32u;
        x13 = v24;
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
        x14 = true;
    }
    /* shl.u64 r0, r255, r250 */
    const u64 v52 = (u64)(v46 << 2);
    /* ldg.i32 r10, [r1 + r0] */
    const u64 v53 = record.limit_0_reach_4;
    const bool v54 = v52 < v53;
    const bool v55 = !v54;
    x15 = 0u;
    if (v55) {
        const bool v59 = x14;
        const bool v60 = !v59;
        if (v60) {
            const u32 v62 = x16;
            block_reverse_kernel_f1(env, 0u, v52, v62);
            const u32 v64 = x17;
            const u32 v65 = v64 + 1u;
            *(volatile u32 *)(group) = v65;
            x14 = true;
        }
    } else {
        const u32 v68 = *(u32 *)(s0 + v52);
        x15 = v68;
    }
    const u32 v70 = x15;
    /* shl.u32 r5, r252, r250 */
    const u32 v71 = (u32)(v11 << 2);
    /* sts.i32 [shared + r5], r10 */
    const u64 v72 = (u64)v71;
    const u64 v73 = record.shared_limit_0_reach_4;
    const bool v74 = v72 < v73;
    const bool v75 = !v74;
    const u32 v76 = v71 + 16u;
    if (v75) {
        const bool v78 = x14;
        const bool v79 = !v78;
        if (v79) {
            const u32 v81 = x16;
            block_reverse_kernel_f1(env, 1u, v72, v81);
            const u32 v83 = x17;
            const u32 v84 = v83 + 1u;
            *(volatile u32 *)(group) = v84;
            x14 = true;
        }
    } else {
        const bool v87 = x14;
        const bool v88 = !v87;
        if (v88) {
            *(u32 *)(group + v76) = v70;
        }
    }
    /* bar.sync 0 */
    const u32 v91 = x17;
    const u32 v92 = v91 + 1u;
    __syncthreads(); /* barrier 0 */
    const u32 v94 = *(volatile u32 *)(group);
    const u32 v95 = v94 - 1u;
    const bool v96 = v95 < v92;
    if (v96) {
        return;
    }
    const u32 v99 = x16;
    const u32 v100 = v99 + 1u;
    const bool v101 = x14;
    if (v101) {
        return;
    }
    /* sub.u32 r7, r254, r6 */
    /* sub.u32 r7, r7, r252 */
    const u32 v105 = 7u - v11;
    /* shl.u32 r7, r7, r250 */
    const u32 v106 = (u32)(v105 << 2);
    /* lds.i32 r11, [shared + r7] */
    const u64 v107 = (u64)v106;
    const bool v108 = v107 < v73;
    const bool v109 = !v108;
    const u32 v110 = v106 + 16u;
    if (v109) {
        block_reverse_kernel_f1(env, 2u, v107, v100);
        return;
    }
    const u32 v114 = *(u32 *)(group + v110);
    /* stg.i32 [r1 + r0], r11 */
    if (v55) {
        block_reverse_kernel_f1(env, 3u, v52, v100);
        return;
    }
    *(u32 *)(s0 + v52) = v114;
}


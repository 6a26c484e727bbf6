/* Written by hologram: CUDA C for compute capability 7.5 and later; compile with -fmad=false.
block_reverse, slot 0: input 0, x
block_reverse, slot 1: the fault record
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

/* What a launch tells every lane. */
typedef struct block_reverse_kernel_record {
    u64 limit_0_reach_4;
    u64 base_0;
    u64 base_1;
    u64 shared_limit_0_reach_4;
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
    const u32 v4 = env->record.block_dim_1;
    const u32 v5 = v3 * v4;
    const u32 v6 = (u32)threadIdx.y;
    const u32 v7 = v5 + v6;
    const u32 v8 = env->record.block_dim_0;
    const u32 v9 = v7 * v8;
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
    const u32 v27 = v8 * v4;
    const u32 v28 = env->record.block_dim_2;
    const u32 v29 = v27 * v28;
    const u32 v30 = v26 * v29;
    const u32 v31 = v30 + v11;
    const u64 v32 = (u64)v31;
    const bool v34 = a2 == 0u;
    if (v34) {
        const u32 v37 = atomicMin((u32 *)(env->fault + 4ull), v31);
        const bool v38 = v37 < v31;
        if (v38) {
            return;
        }
    }
    for (;;) {
        const u32 v44 = atomicCAS((u32 *)(env->fault), 0u, 1u);
        const bool v45 = v44 == 0u;
        if (v45) {
            __threadfence();
            const u32 v49 = *(volatile u32 *)(env->fault + 8ull);
            const u32 v51 = *(volatile u32 *)(env->fault + 24ull);
            const u32 v53 = *(volatile u32 *)(env->fault + 28ull);
            const u64 v54 = (u64)v53;
            const u64 v56 = (u64)(v54 << 32);
            const u64 v57 = (u64)v51;
            const u64 v58 = v56 | v57;
            const bool v59 = v32 < v58;
            const u32 v61 = *(volatile u32 *)(env->fault + 16ull);
            const bool v62 = a2 < v61;
            const bool v63 = a2 == v61;
            const bool v64 = v63 & v59;
            const bool v65 = v62 | v64;
            const bool v66 = v49 == 0u;
            const bool v67 = v66 | v65;
            if (v67) {
                *(volatile u32 *)(env->fault + 12ull) = a0;
                *(volatile u32 *)(env->fault + 16ull) = a2;
                *(volatile u32 *)(env->fault + 24ull) = v31;
                const u64 v73 = (u64)(v32 >> 32);
                const u32 v74 = (u32)v73;
                *(volatile u32 *)(env->fault + 28ull) = v74;
                const u32 v76 = (u32)a1;
                *(volatile u32 *)(env->fault + 32ull) = v76;
                const u64 v79 = (u64)(a1 >> 32);
                const u32 v80 = (u32)v79;
                *(volatile u32 *)(env->fault + 36ull) = v80;
                *(volatile u32 *)(env->fault + 8ull) = 1u;
            }
            __threadfence();
            atomicExch((u32 *)(env->fault), 0u);
        }
        if (v45) {
            break;
        }
    }
}

/* One invocation. */
extern "C" __global__ void block_reverse_kernel(const __grid_constant__ block_reverse_kernel_record record) {
    u8 *const s0 = (u8 *)(record.base_0);
    u8 *const fault = (u8 *)(record.base_1);
    extern __shared__ u64 group_memory[];
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
    const u32 v0 = record.block_dim_0;
    const u32 v1 = record.block_dim_1;
    const u32 v2 = v0 * v1;
    const u32 v3 = record.block_dim_2;
    const u32 v4 = v2 * v3;
    const u32 v6 = (u32)(v4 << 2);
    const u32 v7 = record.shared_bytes_0;
    const u32 v9 = v7 + 16u;
    const u32 v10 = (u32)threadIdx.z;
    const u32 v11 = v10 * v1;
    const u32 v12 = (u32)threadIdx.y;
    const u32 v13 = v11 + v12;
    const u32 v14 = v13 * v0;
    const u32 v15 = (u32)threadIdx.x;
    const u32 v16 = v14 + v15;
    const u32 v17 = (u32)(v16 << 2);
    x13 = v17;
    for (;;) {
        const u32 v20 = x13;
        const bool v21 = v20 < v9;
        const bool v23 = !v21;
        if (v23) {
            break;
        }
        *(u32 *)(group + v20) = 0u;
        const u32 v28 = v20 + v6;
        x13 = v28;
    }
    __syncthreads(); /* barrier 0 */
    const u32 v31 = record.lanes_0;
    const u64 v32 = (u64)v31;
    const u32 v33 = record.box_2;
    const u32 v34 = (u32)blockIdx.z;
    const u32 v35 = v33 + v34;
    const u32 v36 = record.grid_dim_1;
    const u32 v37 = record.box_1;
    const u32 v38 = (u32)blockIdx.y;
    const u32 v39 = v37 + v38;
    const u32 v40 = v35 * v36;
    const u32 v41 = v40 + v39;
    const u32 v42 = record.grid_dim_0;
    const u32 v43 = record.box_0;
    const u32 v44 = (u32)blockIdx.x;
    const u32 v45 = v43 + v44;
    const u32 v46 = v41 * v42;
    const u32 v47 = v46 + v45;
    const u32 v48 = v47 * v4;
    const u32 v49 = v48 + v16;
    const u64 v50 = (u64)v49;
    const bool v51 = v50 < v32;
    const bool v53 = !v51;
    if (v53) {
        x14 = true;
    }
    /* shl.u64 r0, r255, r250 */
    const u64 v56 = (u64)(v50 << 2);
    /* ldg.i32 r10, [r1 + r0] */
    const u64 v57 = record.limit_0_reach_4;
    const bool v58 = v56 < v57;
    const bool v59 = !v58;
    x15 = 0u;
    if (v59) {
        const bool v63 = x14;
        const bool v64 = !v63;
        if (v64) {
            const u32 v66 = x16;
            block_reverse_kernel_f1(env, 0u, v56, v66);
            const u32 v68 = x17;
            const u32 v70 = v68 + 1u;
            *(volatile u32 *)(group) = v70;
            x14 = true;
        }
    } else {
        const u32 v73 = *(u32 *)(s0 + v56);
        x15 = v73;
    }
    const u32 v75 = x15;
    /* shl.u32 r5, r252, r250 */
    const u32 v76 = (u32)(v15 << 2);
    /* sts.i32 [shared + r5], r10 */
    const u64 v77 = (u64)v76;
    const u64 v78 = record.shared_limit_0_reach_4;
    const bool v79 = v77 < v78;
    const bool v80 = !v79;
    const u32 v81 = v76 + 16u;
    if (v80) {
        const bool v83 = x14;
        const bool v84 = !v83;
        if (v84) {
            const u32 v87 = x16;
            block_reverse_kernel_f1(env, 1u, v77, v87);
            const u32 v89 = x17;
            const u32 v90 = v89 + 1u;
            *(volatile u32 *)(group) = v90;
            x14 = true;
        }
    } else {
        const bool v93 = x14;
        const bool v94 = !v93;
        if (v94) {
            *(u32 *)(group + v81) = v75;
        }
    }
    /* bar.sync 0 */
    const u32 v97 = x17;
    const u32 v99 = v97 + 1u;
    __syncthreads(); /* barrier 0 */
    const u32 v101 = *(volatile u32 *)(group);
    const u32 v102 = v101 - 1u;
    const bool v103 = v102 < v99;
    if (v103) {
        return;
    }
    const u32 v106 = x16;
    const u32 v107 = v106 + 1u;
    const bool v108 = x14;
    if (v108) {
        return;
    }
    /* sub.u32 r7, r254, r6 */
    const u32 v111 = v0 - 1u;
    /* sub.u32 r7, r7, r252 */
    const u32 v112 = v111 - v15;
    /* shl.u32 r7, r7, r250 */
    const u32 v113 = (u32)(v112 << 2);
    /* lds.i32 r11, [shared + r7] */
    const u64 v114 = (u64)v113;
    const bool v115 = v114 < v78;
    const bool v116 = !v115;
    const u32 v117 = v113 + 16u;
    if (v116) {
        block_reverse_kernel_f1(env, 2u, v114, v107);
        return;
    }
    const u32 v121 = *(u32 *)(group + v117);
    /* stg.i32 [r1 + r0], r11 */
    if (v59) {
        block_reverse_kernel_f1(env, 3u, v56, v107);
        return;
    }
    *(u32 *)(s0 + v56) = v121;
}


/* Written by hologram: Metal Shading Language 3.2; compile with the safe math mode.
collatz, slot 0: input 0, start
collatz, slot 1: input 1, steps
collatz, slot 2: the fault record
 */
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

static inline uint hg_atomic_cas(volatile device atomic_uint *p, uint expected, uint wanted, memory_order order) {
    for (;;) {
        uint old = expected;
        if (atomic_compare_exchange_weak_explicit(p, &old, wanted, order, memory_order_relaxed)) return expected;
        if (old != expected) return old;
    }
}
static inline uint hg_atomic_cas(volatile threadgroup atomic_uint *p, uint expected, uint wanted, memory_order order) {
    for (;;) {
        uint old = expected;
        if (atomic_compare_exchange_weak_explicit(p, &old, wanted, order, memory_order_relaxed)) return expected;
        if (old != expected) return old;
    }
}

/* What a launch tells every lane. */
typedef struct collatz_kernel_record {
    ulong input_2;
    ulong limit_0_reach_8;
    ulong base_0;
    ulong base_2;
    ulong limit_1_reach_4;
    ulong base_1;
    uint count_0;
    uint first_0;
    uint fuel_0;
    uint unused_60;
} collatz_kernel_record;

/* What the functions of collatz share. */
typedef struct collatz_kernel_env {
    device const uchar *s0;
    device uchar *s1;
    device uchar *fault;
    collatz_kernel_record record;
    uint id_thread;
    uint x18; /* fault_site */
    ulong x19; /* fault_index */
    uint x21; /* rounds */
} collatz_kernel_env;

static inline uint collatz_kernel_f2(thread collatz_kernel_env *env, uint a0) {
    (void)env;
    (void)a0;
    const uint v1 = *(volatile device uint *)(env->fault + 56ul);
    const bool v3 = v1 == 0u;
    if (v3) {
        const uint v6 = env->record.fuel_0;
        const bool v7 = a0 < v6;
        if (v7) {
            return 0u;
        }
        *(volatile device uint *)(env->fault + 56ul) = 1u;
    }
    return 1u;
}

static inline void collatz_kernel_f3(thread collatz_kernel_env *env) {
    (void)env;
    ulong x6 = 0; /* r10 */
    uint x11 = 0; /* r20 */
    bool x20 = 0; /* left */
    const uint v0 = env->id_thread;
    const uint v1 = env->record.count_0;
    const bool v2 = v0 < v1;
    const bool v4 = !v2;
    if (v4) {
        return;
    }
    const uint v7 = env->record.first_0;
    const uint v8 = v7 + v0;
    const ulong v9 = (ulong)v8;
    const ulong v10 = env->record.input_2;
    /* setgeu.u64 p0, r255, r4 */
    const bool v11 = v9 < v10;
    /* bra.p0 @done */
    if (v11) {
        /* mov_imm.u32 r250, 3 */
        /* shl.u64 r0, r255, r250 */
        const ulong v14 = (ulong)(v9 << 3);
        /* ldg.u64 r10, [r1 + r0] */
        const ulong v15 = env->record.limit_0_reach_8;
        const bool v16 = v14 < v15;
        const bool v17 = !v16;
        if (v17) {
            env->x18 = 1u;
            env->x19 = v14;
            return;
        }
        const ulong v23 = *(device const ulong *)(env->s0 + v14);
        x6 = v23;
        /* mov_imm.u64 r11, 1 */
        /* mov_imm.u64 r12, 3 */
        /* mov_imm.u64 r13, 0 */
        /* mov_imm.u32 r14, 1 */
        /* mov_imm.u32 r20, 0 */
        x11 = 0u;
        for (;;) {
            x20 = true;
            for (;;) {
                const uint v34 = env->x21;
                const uint v35 = v34 + 1u;
                env->x21 = v35;
                const uint v38 = v35 & 1023u;
                const bool v39 = v38 == 0u;
                if (v39) {
                    x20 = false;
                    break;
                }
                /* setleu.u64 p1, r10, r11 */
                const ulong v44 = x6;
                const bool v45 = 1ul < v44;
                const bool v46 = !v45;
                /* bra.p1 @store */
                if (v46) {
                    break;
                }
                /* add.u32 r20, r20, r14 */
                const uint v49 = x11;
                const uint v50 = v49 + 1u;
                x11 = v50;
                /* and.u64 r15, r10, r11 */
                const ulong v52 = v44 & 1ul;
                /* seteq.u64 p2, r15, r13 */
                const bool v53 = v52 == 0ul;
                /* bra.p2 @even */
                if (v53) {
                    /* shr.u64 r10, r10, r14 */
                    const ulong v55 = (ulong)(v44 >> 1);
                    x6 = v55;
                } else {
                    /* mad.u64 r10, r10, r12, r11 */
                    const ulong v57 = v44 * 3ul;
                    const ulong v58 = v57 + 1ul;
                    x6 = v58;
                }
            }
            const bool v60 = x20;
            if (v60) {
                break;
            }
            const uint v63 = env->x21;
            const uint v65 = (uint)(v63 >> 10);
            const uint v66 = collatz_kernel_f2(env, v65);
            const bool v67 = v66 == 0u;
            const bool v68 = !v67;
            if (v68) {
                return;
            }
        }
        /* mov_imm.u32 r250, 2 */
        /* shl.u64 r0, r255, r250 */
        const ulong v72 = (ulong)(v9 << 2);
        /* stg.u32 [r2 + r0], r20 */
        const uint v73 = x11;
        const ulong v74 = env->record.limit_1_reach_4;
        const bool v75 = v72 < v74;
        const bool v76 = !v75;
        if (v76) {
            env->x18 = 2u;
            env->x19 = v72;
            return;
        }
        *(device uint *)(env->s1 + v72) = v73;
    }
}

static inline void collatz_kernel_f1(thread collatz_kernel_env *env, uint a0, ulong a1) {
    (void)env;
    (void)a0;
    (void)a1;
    const uint v2 = env->id_thread;
    const uint v4 = atomic_fetch_min_explicit((volatile device atomic_uint *)(env->fault + 4ul), v2, memory_order_relaxed);
    const bool v5 = v4 < v2;
    if (v5) {
        return;
    }
    const uint v8 = env->record.first_0;
    const uint v9 = v8 + v2;
    for (;;) {
        const uint v14 = hg_atomic_cas((volatile device atomic_uint *)(env->fault), 0u, 1u, memory_order_relaxed);
        const bool v15 = v14 == 0u;
        if (v15) {
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            const uint v19 = *(volatile device uint *)(env->fault + 8ul);
            const uint v21 = *(volatile device uint *)(env->fault + 24ul);
            const bool v22 = v9 < v21;
            const bool v23 = v19 == 0u;
            const bool v24 = v23 | v22;
            if (v24) {
                *(volatile device uint *)(env->fault + 12ul) = a0;
                *(volatile device uint *)(env->fault + 24ul) = v9;
                *(volatile device uint *)(env->fault + 28ul) = 0u;
                const uint v31 = (uint)a1;
                *(volatile device uint *)(env->fault + 32ul) = v31;
                const ulong v35 = (ulong)(a1 >> 32);
                const uint v36 = (uint)v35;
                *(volatile device uint *)(env->fault + 36ul) = v36;
                *(volatile device uint *)(env->fault + 8ul) = 1u;
            }
            atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_device);
            atomic_exchange_explicit((volatile device atomic_uint *)(env->fault), 0u, memory_order_relaxed);
        }
        if (v15) {
            break;
        }
    }
}

/* One invocation. */
kernel void collatz_kernel(device const uchar *s0_arena [[buffer(0)]], device uchar *s1_arena [[buffer(1)]], device uchar *fault_arena [[buffer(2)]], constant collatz_kernel_record &record [[buffer(3)]], uint3 thread_id [[thread_position_in_grid]], uint3 local_id [[thread_position_in_threadgroup]], uint3 group_id [[threadgroup_position_in_grid]]) {
    (void)thread_id, (void)local_id, (void)group_id;
    device const uchar *const s0 = s0_arena + record.base_0;
    device uchar *const s1 = s1_arena + record.base_1;
    device uchar *const fault = fault_arena + record.base_2;
    collatz_kernel_env environment = {};
    environment.s0 = s0;
    environment.s1 = s1;
    environment.fault = fault;
    environment.record = record;
    environment.id_thread = (uint)thread_id.x;
    thread collatz_kernel_env *const env = &environment;
    (void)env;
    collatz_kernel_f3(env);
    const uint v1 = env->x18;
    const bool v3 = v1 == 0u;
    const bool v5 = !v3;
    if (v5) {
        const uint v8 = v1 - 1u;
        const ulong v9 = env->x19;
        collatz_kernel_f1(env, v8, v9);
    }
}


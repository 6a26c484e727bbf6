// CUDA C and HIP on the CPU, for tests of the texts that the library prints: what they call, as
// functions of this machine. The fiber of an invocation leaves the processor only at a barrier.
#ifndef HG_TESTS_SHIM_CUDA_H
#define HG_TESTS_SHIM_CUDA_H

#include "shim.h"

#define __device__
#define __global__
#define __shared__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
// A kernel may rely on what it is told.
static inline void *hg_shim_aligned(void *p, unsigned n) {
    if ((unsigned long)p % n) __builtin_trap();
    return p;
}
#define __builtin_assume_aligned(p, n) __builtin_assume_aligned(hg_shim_aligned(p, n), n)

#define threadIdx hg_shim.lane
#define blockIdx hg_shim.block
#define blockDim hg_shim.block_dim
#define gridDim hg_shim.grid_dim
// `extern __shared__ u64 group_memory[]` in a kernel is this array.
extern "C" {
alignas(16) unsigned long long group_memory[8192];
}

static inline int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
static inline int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
static inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float floorf(float a) { return __builtin_floorf(a); }
static inline double floor(double a) { return __builtin_floor(a); }
static inline float truncf(float a) { return __builtin_truncf(a); }
static inline double trunc(double a) { return __builtin_trunc(a); }
static inline float rintf(float a) { return __builtin_rintf(a); }
static inline double rint(double a) { return __builtin_rint(a); }

static inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8)
        c = (int)((unsigned)c +
                  (unsigned)((int)(signed char)(a >> i) * (int)(signed char)(b >> i)));
    return c;
}
static inline unsigned hg_shim_dp4a_mixed(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8)
        c += (unsigned)((int)(a >> i & 255) * (int)(signed char)(b >> i));
    return c;
}
// The texts have one line of PTX, in a function that calls its operands so.
#define asm(...) d = hg_shim_dp4a_mixed(a, b, c)

template <typename To, typename From> static inline To hg_shim_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
static inline unsigned __float_as_uint(float a) { return hg_shim_bits<unsigned>(a); }
static inline float __uint_as_float(unsigned a) { return hg_shim_bits<float>(a); }
static inline long long __double_as_longlong(double a) { return hg_shim_bits<long long>(a); }
static inline double __longlong_as_double(long long a) { return hg_shim_bits<double>(a); }

// Only the types that CUDA has them for.
#define HG_SHIM_ATOMIC(name, T, new_value)                                               \
    static inline T name(T *p, T x) {                                                    \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                    \
        while (!__atomic_compare_exchange_n(p, &old, new_value, false, __ATOMIC_RELAXED, \
                                            __ATOMIC_RELAXED)) {}                        \
        return old;                                                                      \
    }
#define HG_SHIM_ATOMICS(T)                                                         \
    HG_SHIM_ATOMIC(atomicAdd, T, old + x)                                          \
    HG_SHIM_ATOMIC(atomicAnd, T, old &x)                                           \
    HG_SHIM_ATOMIC(atomicOr, T, old | x)                                           \
    HG_SHIM_ATOMIC(atomicXor, T, old ^ x)                                          \
    HG_SHIM_ATOMIC(atomicExch, T, x)                                               \
    HG_SHIM_ATOMIC(atomicMin, T, x < old ? x : old)                                \
    HG_SHIM_ATOMIC(atomicMax, T, x > old ? x : old)                                \
    static inline T atomicCAS(T *p, T expected, T wanted) {                        \
        __atomic_compare_exchange_n(p, &expected, wanted, false, __ATOMIC_RELAXED, \
                                    __ATOMIC_RELAXED);                             \
        return expected;                                                           \
    }
HG_SHIM_ATOMICS(unsigned)
HG_SHIM_ATOMICS(unsigned long long)
HG_SHIM_ATOMIC(atomicMin, int, x < old ? x : old)
HG_SHIM_ATOMIC(atomicMax, int, x > old ? x : old)
HG_SHIM_ATOMIC(atomicMin, long long, x < old ? x : old)
HG_SHIM_ATOMIC(atomicMax, long long, x > old ? x : old)

static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __syncthreads() { hg_shim.barrier(); }

#endif

/* What the sources need and C17 does not have, under names of their own: integers of 128 bits, bits
 * of words, atomic operations on objects of plain types, hints, attributes. gcc and clang have all
 * of it; another compiler is taught here, and nowhere else (tools/check).
 * Must not know: what it is used for. */
#ifndef HG_BASE_COMPAT_H
#define HG_BASE_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

/* ---- integers ---- */

__extension__ typedef __int128 hg_i128;
__extension__ typedef unsigned __int128 hg_u128;

/* Zeros below the lowest bit that is set, and above the highest. Not for 0. */
static inline uint32_t hg_ctz64(uint64_t x) { return (uint32_t)__builtin_ctzll(x); }
static inline uint32_t hg_clz64(uint64_t x) { return (uint32_t)__builtin_clzll(x); }
static inline int hg_popcount32(uint32_t x) { return __builtin_popcount(x); }
static inline int hg_popcount64(uint64_t x) { return __builtin_popcountll(x); }
static inline uint64_t hg_byteswap64(uint64_t x) { return __builtin_bswap64(x); }
/* *result = a op b as far as its type holds it, of integers of any types; true: it does not hold
 * it. */
#define hg_add_overflows(a, b, result) __builtin_add_overflow(a, b, result)
#define hg_sub_overflows(a, b, result) __builtin_sub_overflow(a, b, result)
#define hg_mul_overflows(a, b, result) __builtin_mul_overflow(a, b, result)

/* ---- atomic operations ----
 * Of <stdatomic.h>, for integers and pointers that are no _Atomic objects: words of device memory,
 * fields that are plain before anybody shares them. p: pointer to the object; the order comes last.
 */
enum {
    HG_RELAXED = __ATOMIC_RELAXED,
    HG_ACQUIRE = __ATOMIC_ACQUIRE,
    HG_RELEASE = __ATOMIC_RELEASE,
    HG_ACQ_REL = __ATOMIC_ACQ_REL,
    HG_SEQ_CST = __ATOMIC_SEQ_CST
};
#define hg_atomic_load(p, order) __atomic_load_n(p, order)
#define hg_atomic_store(p, x, order) __atomic_store_n(p, x, order)
#define hg_atomic_exchange(p, x, order) __atomic_exchange_n(p, x, order)
/* False: *expected is what was found instead. Never fails without a reason. */
#define hg_atomic_compare_exchange(p, expected, x, order) \
    __atomic_compare_exchange_n(p, expected, x, false, order, order)
/* fetch_op returns the old value, op_fetch the new one. */
#define hg_atomic_fetch_add(p, x, order) __atomic_fetch_add(p, x, order)
#define hg_atomic_fetch_and(p, x, order) __atomic_fetch_and(p, x, order)
#define hg_atomic_fetch_or(p, x, order) __atomic_fetch_or(p, x, order)
#define hg_atomic_fetch_xor(p, x, order) __atomic_fetch_xor(p, x, order)
#define hg_atomic_add_fetch(p, x, order) __atomic_add_fetch(p, x, order)
#define hg_atomic_sub_fetch(p, x, order) __atomic_sub_fetch(p, x, order)
#define hg_atomic_fence(order) __atomic_thread_fence(order)
#define hg_atomic_signal_fence(order) __atomic_signal_fence(order)

/* ---- sanitizers ---- */

/* ThreadSanitizer takes every clone for a fork and cannot go on where memory is shared. */
#if defined(__SANITIZE_THREAD__)
#define HG_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HG_THREAD_SANITIZER 1
#endif
#endif
#if !defined(HG_THREAD_SANITIZER)
#define HG_THREAD_SANITIZER 0
#endif

/* ---- hints ---- */

#define HG_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define HG_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
static inline void hg_prefetch(const void *memory) { __builtin_prefetch(memory); }

/* A function that is not wanted in its callers. */
#define HG_NOINLINE __attribute__((noinline))
#define HG_FOR_AVX \
    __attribute__((target("avx"))) /* a function that runs only where hg_cpu_supports("avx") */
#define HG_FOR_IFMA __attribute__((target("avx512ifma"))) /* the same for "avx512ifma" */

/* Before the declaration of a variable: end(&variable) is called wherever its block is left. It may
 * have no other use. */
#define HG_ENDED_BY(end) __attribute__((cleanup(end), unused))

/* What a variable is worth is worked out here, neither before nor behind what is volatile. */
#define HG_WORKED_OUT(variable) __asm__ volatile("" : "+m"(variable)::"memory")

/* A hint to the CPU that this is a waiting loop. */
static inline void hg_cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* ---- the CPU ---- */

#if defined(__x86_64__)
/* Whether this CPU and its system have a feature, by the name that gcc and clang give it; a
 * literal. */
#define hg_cpu_supports(feature) (__builtin_cpu_init(), __builtin_cpu_supports(feature) != 0)

#if defined(__BMI2__)
/* u += q · m + carry, of four limbs; returns the limb above. */
#define HG_HAVE_ROW_OF_4
static inline uint64_t hg_row_of_4(uint64_t *u, uint64_t q, const uint64_t *m, uint64_t carry) {
    uint64_t low0, low1, high0, high1;
    __asm__("mulx 0(%[m]), %[low0], %[high0]\n\t"
            "mulx 8(%[m]), %[low1], %[high1]\n\t"
            "add %[carry], %[low0]\n\t"
            "adc %[high0], %[low1]\n\t"
            "mulx 16(%[m]), %[carry], %[high0]\n\t"
            "adc %[high1], %[carry]\n\t"
            "mulx 24(%[m]), %[high1], %%r8\n\t"
            "adc %[high0], %[high1]\n\t"
            "adc $0, %%r8\n\t"
            "add %[low0], 0(%[u])\n\t"
            "adc %[low1], 8(%[u])\n\t"
            "adc %[carry], 16(%[u])\n\t"
            "adc %[high1], 24(%[u])\n\t"
            "adc $0, %%r8\n\t"
            "mov %%r8, %[carry]"
            : [carry] "+&r"(carry), [low0] "=&r"(low0), [low1] "=&r"(low1), [high0] "=&r"(high0),
              [high1] "=&r"(high1)
            : [m] "r"(m), [u] "r"(u), "d"(q)
            : "r8", "cc", "memory");
    return carry;
}
#endif

/* (high, low) / d for high below d, which one division of the machine does. */
#define HG_HAVE_DIVIDE_128
static inline uint64_t hg_divide_128(uint64_t high, uint64_t low, uint64_t d, uint64_t *rest) {
    uint64_t q;
    __asm__("divq %[d]" : "=a"(q), "=d"(*rest) : "a"(low), "d"(high), [d] "r"(d) : "cc");
    return q;
}

/* The registers of the floating-point environment: of SSE, and of the x87 unit. Nothing that
 * touches memory moves across. */
static inline uint32_t hg_mxcsr_read(void) {
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr)::"memory");
    return mxcsr;
}
static inline void hg_mxcsr_write(uint32_t mxcsr) {
    __asm__ volatile("ldmxcsr %0" ::"m"(mxcsr) : "memory");
}
static inline uint16_t hg_x87_control_read(void) {
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control)::"memory");
    return control;
}
static inline void hg_x87_control_write(uint16_t control) {
    __asm__ volatile("fldcw %0" ::"m"(control) : "memory");
}
static inline uint16_t hg_x87_status_read(void) {
    uint16_t status;
    __asm__ volatile("fnstsw %0" : "=m"(status)::"memory");
    return status;
}
/* Its flags, which can only be written together with all the unit knows; the low half of the second
 * word holds them. */
static inline void hg_x87_flags_write(uint16_t flags) {
    uint32_t all[7];
    __asm__ volatile("fnstenv %0" : "=m"(all)::"memory");
    all[1] = (all[1] & ~UINT32_C(0xBF)) | flags;
    __asm__ volatile("fldenv %0" ::"m"(all) : "memory");
}
#elif defined(__aarch64__)
/* The registers of the floating-point environment: mode, and flags. Nothing that touches memory
 * moves across. */
static inline uint64_t hg_fpcr_read(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr)::"memory");
    return fpcr;
}
static inline void hg_fpcr_write(uint64_t fpcr) {
    __asm__ volatile("msr fpcr, %0" ::"r"(fpcr) : "memory");
}
static inline uint64_t hg_fpsr_read(void) {
    uint64_t fpsr;
    __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr)::"memory");
    return fpsr;
}
static inline void hg_fpsr_write(uint64_t fpsr) {
    __asm__ volatile("msr fpsr, %0" ::"r"(fpsr) : "memory");
}
#endif

/* ---- the language ---- */

/* Text for the assembler, between functions. It reaches functions and variables with external
 * linkage by their names. */
#define HG_ASSEMBLY(text) __asm__(text)

#define HG_TYPEOF(expression) __typeof__(expression)
/* A block whose last expression is its value. */
#define HG_BLOCK_VALUE(...) __extension__({__VA_ARGS__})
/* Behind the name of a thread-local variable: it is found without a call also in a shared library.
 */
#if defined(__ELF__)
#define HG_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define HG_TLS_INITIAL_EXEC
#endif

/* Before the definition of a function: it is called before main. */
#define HG_AT_START __attribute__((constructor))

/* ---- WebAssembly ---- */

#if defined(__wasm__)
/* A function of the host, and one for it, by names that are their own. */
#define HG_WASM_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define HG_WASM_EXPORT(name) __attribute__((export_name(name)))
/* A variable of an instance, a 32-bit number that is 0 at first: each worker has its own. */
#define HG_WASM_GLOBAL(name) __asm__(".globaltype " #name ", i32\n" #name ":\n")
#define HG_WASM_GLOBAL_GET(name, to) \
    __asm__ volatile("global.get " #name "\n\tlocal.set %0" : "=r"(to))
#define HG_WASM_GLOBAL_SET(name, from) \
    __asm__ volatile("local.get %0\n\tglobal.set " #name : : "r"(from))
/* Sleeps while a word has a value, until it is woken. Traps where that is not allowed. */
#define hg_wasm_sleep(word, value) \
    ((void)__builtin_wasm_memory_atomic_wait32((int *)(word), (int)(value), -1))
#define hg_wasm_wake(word, count) \
    ((void)__builtin_wasm_memory_atomic_notify((int *)(word), (unsigned)(count)))
#endif

#endif

/* What C text with vectors needs that hologram writes (`hologram build`): vector types, the value
 * primitives on them, memory under masks, the launch. It needs nothing else of Hologram, gcc 12 or
 * clang 14, and HGV_LANES and HGV_BYTES: the lanes of a turn (at most 64) and the bytes of a native
 * vector (16, 32 or 64). Without HGV_LANES: the launch alone.
 *
 * A vector of HGV_LANES elements is as many native vectors as it takes, its parts. A truth value of
 * a lane is 0 or -1 in an element as wide as what was compared. The lanes that run are bits of a
 * word. */
#ifndef HOLOGRAM_VECTOR_H
#define HOLOGRAM_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(HGV_LANES) && defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- a launch ---- */

/* A buffer, pool or class memory. */
typedef struct hgv_memory {
    uint8_t *base;
    uint64_t size; /* bytes */
    bool valid;    /* false: the handle names no memory */
} hgv_memory;

/* Where a fault can happen. */
typedef struct hgv_site {
    uint8_t code;    /* 1 bounds, 2 division, 3 handle, 4 alignment, 5 domain */
    uint8_t operand; /* from 1; 0: none */
    uint8_t pool;
    uint8_t values;         /* numbers for the {} of the message */
    uint32_t inst;          /* source instruction */
    uint32_t size;          /* bytes of an access */
    int32_t input;          /* of the launch, that the handle comes from; -1: `handle` is it */
    const char *message;    /* codes 2 and 5 */
    uint64_t handle, limit; /* limit: bytes of the memory, when it faults */
} hgv_site;

typedef struct hgv_launch hgv_launch;
struct hgv_launch {
    const uint64_t *inputs;
    const hgv_memory *slots;
    hgv_memory class_memory;
    uint64_t lanes;
    uint32_t grid[3], block[3];
    /* A lane faults. values: of a bounds fault the low and high word of the offset; else of the
     * message. */
    void (*fault)(hgv_launch *launch, const hgv_site *site, uint64_t lane, const uint64_t *values);
    /* The memory that a handle names (flat: an index of one) at the time. */
    hgv_memory (*resolve)(hgv_launch *launch, uint64_t handle, bool pool, bool flat);
    /* Asked when fuel is out: more fuel, or false to stop. */
    bool (*go_on)(hgv_launch *launch);
    int64_t fuel;
    bool stopped; /* time is over: what runs ends soon */
    void *user;
    /* NULL, or by slot: 0 and more: nobody else has the memory, and eight copies of it lie so many
     * bytes apart, which are combined afterwards (0: there is one). -1: it is as it is. */
    const int64_t *spread;
    /* Kernels with barriers or shared memory, of which a call runs whole blocks, one after another.
     */
    hgv_memory shared;    /* of the first block, then of the one at work; */
    uint64_t shared_step; /* bytes to the next block's, used as it is; 0: all use the same, zeroed
                             by the code when a block begins */
    uint64_t shared_visible; /* bytes of it that the program sees */
    uint64_t phase;          /* barriers that the block has passed */
    bool faulted; /* a lane of the block faulted: fault sets it, a block begins with false */
    /* NULL, or does operations on arrays of 64-bit limbs of `lanes` numbers, limb 0 of all of them
     * first, for the lanes in `run`: d = a op b; op is the caller's number of the operation. With
     * c: a ^ b mod c. `wide_table` is its own. */
    void (*wide)(hgv_launch *launch, uint32_t op, uint64_t *d, const uint64_t *a, const uint64_t *b,
                 const uint64_t *c, uint32_t limbs, uint32_t lanes, uint64_t run);
    const void *wide_table;
    /* Memory for the time of a block, in kernels without blocks of a call of the kernel, a multiple
     * of 64; what was given before is lost. NULL: there is none, and `stopped` is set. */
    void *(*memory)(hgv_launch *launch, uint64_t bytes);
};

#if defined(HGV_LANES)

#if defined(__FAST_MATH__)
#error "these kernels promise every bit of their results: compile them without -ffast-math"
#endif
/* What the machine has: the compiler's macros say it, or HGV_LEVEL, where a pragma chose x86-64-v3
 * (3) or -v4 (4) and clang defines none. */
#if !defined(HGV_LEVEL)
#define HGV_LEVEL 0
#endif
#define HGV_AVX2 (HGV_LEVEL >= 3)
#define HGV_FMA (HGV_LEVEL >= 3)
#define HGV_F16C (HGV_LEVEL >= 3)
#define HGV_AVX512 (HGV_LEVEL >= 4)
#if defined(__AVX2__)
#undef HGV_AVX2
#define HGV_AVX2 1
#endif
#if defined(__FMA__)
#undef HGV_FMA
#define HGV_FMA 1
#endif
#if defined(__F16C__)
#undef HGV_F16C
#define HGV_F16C 1
#endif
#if defined(__AVX512F__)
#undef HGV_AVX512
#define HGV_AVX512 1
#endif
#if HGV_BYTES == 64 && !HGV_AVX512
#error "vectors of 64 bytes need AVX-512: compile with -march=x86-64-v4"
#elif HGV_BYTES == 32 && !HGV_AVX2
#error "vectors of 32 bytes need AVX2: compile with -march=x86-64-v3"
#endif

/* The coordinate of a lane: id is 0 to 2 in its block, 3 to 5 of its block in the grid, along x, y,
 * z. */
static inline uint32_t hgv_coordinate(const hgv_launch *launch, unsigned id, uint64_t lane) {
    uint64_t x = launch->block[0], y = launch->block[1], z = launch->block[2],
             in = lane % (x * y * z), block = lane / (x * y * z);
    uint64_t gx = launch->grid[0], gy = launch->grid[1];
    switch (id) {
    case 0: return (uint32_t)(in % x);
    case 1: return (uint32_t)(in / x % y);
    case 2: return (uint32_t)(in / x / y);
    case 3: return (uint32_t)(block % gx);
    case 4: return (uint32_t)(block / gx % gy);
    default: return (uint32_t)(block / gx / gy);
    }
}

#define HGV_LIKELY(x) __builtin_expect(!!(x), 1)
#define HGV_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HGV_COLD static __attribute__((noinline, cold, unused))
#define HGV_FN static inline __attribute__((always_inline, unused))

__extension__ typedef __int128 hgs_i128;
__extension__ typedef unsigned __int128 hgs_u128;

#define HGV_ALL (HGV_LANES == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (HGV_LANES % 64)) - 1)

/* True: stop. */
HGV_FN bool hgv_fuel(hgv_launch *launch, int64_t cost, uint64_t run) {
    launch->fuel = (int64_t)((uint64_t)launch->fuel - (uint64_t)cost); /* its sign is asked */
    if (HGV_LIKELY(launch->fuel >= 0)) return false;
    if (launch->stopped || !launch->go_on(launch)) launch->stopped = true;
    return launch->stopped || !run;
}

/* Whole turns: those of `most` lanes, of `left` at most. */
HGV_FN uint64_t hgv_fewer(uint64_t most, uint64_t left) {
    return (most < left ? most : left) & ~(uint64_t)(HGV_LANES - 1);
}

/* ---- blocks ---- */

typedef struct hgv_block {
    uint64_t begin, end; /* lanes */
    uint32_t x, y, z;    /* in the grid */
} hgv_block;

/* The lanes of a turn of a block are neighbours along x, with one y and z: the last turn of a row
 * may have fewer. */
typedef struct hgv_turn {
    uint64_t first; /* global id of its first lane */
    uint32_t number, x, y, z;
} hgv_turn;
HGV_FN uint64_t hgv_block_lanes(const hgv_launch *launch) {
    return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}
/* Turns of a block of which `lanes` lanes start. */
HGV_FN uint32_t hgv_turns(const hgv_launch *launch, uint64_t lanes) {
    const uint64_t x = launch->block[0], rows = lanes / x, rest = lanes % x;
    return (uint32_t)(rows * ((x + HGV_LANES - 1) / HGV_LANES) +
                      (rest + HGV_LANES - 1) / HGV_LANES);
}
/* In blocks of `rows` rows of `row` lanes. */
HGV_FN void hgv_next(uint32_t row, uint32_t rows, hgv_turn *turn) {
    const uint32_t left = row - turn->x;
    turn->number++;
    turn->first += left > HGV_LANES ? HGV_LANES : left;
    turn->x += HGV_LANES;
    if (left > HGV_LANES) return;
    turn->x = 0;
    if (++turn->y < rows) return;
    turn->y = 0;
    turn->z++;
}
/* The block of lane `first`, of a call that ends with `end`. */
HGV_FN hgv_block hgv_first_block(const hgv_launch *launch, uint64_t first, uint64_t end) {
    const uint64_t lanes = hgv_block_lanes(launch), number = first / lanes, x = launch->grid[0],
                   y = launch->grid[1];
    return (hgv_block){first, end - first < lanes ? end : first + lanes, (uint32_t)(number % x),
                       (uint32_t)(number / x % y), (uint32_t)(number / x / y)};
}
HGV_FN void hgv_next_block(hgv_launch *launch, hgv_block *block, uint64_t end) {
    const uint64_t lanes = hgv_block_lanes(launch);
    block->begin = block->end;
    block->end = end - block->begin < lanes ? end : block->begin + lanes;
    launch->shared.base += launch->shared_step;
    if (++block->x < launch->grid[0]) return;
    block->x = 0;
    if (++block->y < launch->grid[1]) return;
    block->y = 0;
    block->z++;
}
HGV_FN void hgv_begin_block(hgv_launch *launch) {
    launch->phase = 0;
    launch->faulted = false;
    if (!launch->shared_step && launch->shared.size)
        memset(launch->shared.base, 0, launch->shared.size);
}
/* The lanes of a turn that start. */
HGV_FN uint64_t hgv_start(uint32_t row, const hgv_turn *turn, uint64_t end) {
    const uint64_t here = row - turn->x, left = end - turn->first, n = here < left ? here : left;
    return n >= HGV_LANES ? HGV_ALL : (UINT64_C(1) << n) - 1;
}

/* ---- vector types: hgv_T of elements, hgv_bN of truth values ---- */

#define HGV_PART(size) (HGV_LANES * (size) < HGV_BYTES ? HGV_LANES * (size) : HGV_BYTES)
#define HGV_TYPE(name, c) typedef c hgv_##name __attribute__((vector_size(HGV_PART(sizeof(c)))))
HGV_TYPE(u8, uint8_t);
HGV_TYPE(u16, uint16_t);
HGV_TYPE(u32, uint32_t);
HGV_TYPE(u64, uint64_t);
HGV_TYPE(i8, int8_t);
HGV_TYPE(i16, int16_t);
HGV_TYPE(i32, int32_t);
HGV_TYPE(i64, int64_t);
HGV_TYPE(f32, float);
HGV_TYPE(f64, double);
typedef hgv_i8 hgv_b8;
typedef hgv_i16 hgv_b16;
typedef hgv_i32 hgv_b32;
typedef hgv_i64 hgv_b64;
/* Smaller ones, of which conversions make a part: hgv_T_N of N elements. */
#define HGV_SMALL(T, c, n) typedef c hgv_##T##_##n __attribute__((vector_size(n * sizeof(c))))
#define HGV_SMALLER(T, c) \
    HGV_SMALL(T, c, 2);   \
    HGV_SMALL(T, c, 4);   \
    HGV_SMALL(T, c, 8);   \
    HGV_SMALL(T, c, 16);  \
    HGV_SMALL(T, c, 32)
HGV_SMALLER(u8, uint8_t);
HGV_SMALLER(u16, uint16_t);
HGV_SMALLER(u32, uint32_t);
HGV_SMALLER(f32, float);
HGV_SMALLER(b8, int8_t);
HGV_SMALLER(b16, int16_t);
HGV_SMALLER(b32, int32_t);
#define HGV_EACH(T) for (unsigned i = 0; i < sizeof(hgv_##T) / sizeof(((hgv_##T){0})[0]); i++)

/* X(T, C type, signed T, signed C type, bits) */
#define HGV_INTEGERS(X)                \
    X(u8, uint8_t, i8, int8_t, 8)      \
    X(u16, uint16_t, i16, int16_t, 16) \
    X(u32, uint32_t, i32, int32_t, 32) X(u64, uint64_t, i64, int64_t, 64)
/* X(T, C type, integer T, integer C type, bits, suffix of functions) */
#define HGV_FLOATS(X) X(f32, float, u32, uint32_t, 32, f) X(f64, double, u64, uint64_t, 64, )

/* ---- one value ---- */

#define HGV_ONE_INTEGER(T, C, ST, SC, B)                                                         \
    HGV_FN C hgs_add_##T(C a, C b) { return (C)(a + b); }                                        \
    HGV_FN C hgs_sub_##T(C a, C b) { return (C)(a - b); }                                        \
    HGV_FN C hgs_mul_##T(C a, C b) { return (C)((uint64_t)a * b); }                              \
    HGV_FN C hgs_mulhi_u_##T(C a, C b) { return (C)((hgs_u128)a * b >> B); }                     \
    HGV_FN C hgs_udiv_##T(C a, C b) { return b ? (C)(a / b) : 0; }                               \
    HGV_FN C hgs_urem_##T(C a, C b) { return b ? (C)(a % b) : 0; }                               \
    HGV_FN C hgs_sdiv_##T(C a, C b) {                                                            \
        return b == 0 ? 0 : b == (C)-1 ? (C)(0 - a) : (C)((SC)a / (SC)b);                        \
    }                                                                                            \
    HGV_FN C hgs_srem_##T(C a, C b) { return b == 0 || b == (C)-1 ? 0 : (C)((SC)a % (SC)b); }    \
    HGV_FN C hgs_and_##T(C a, C b) { return a & b; }                                             \
    HGV_FN C hgs_or_##T(C a, C b) { return a | b; }                                              \
    HGV_FN C hgs_xor_##T(C a, C b) { return a ^ b; }                                             \
    HGV_FN C hgs_shl_##T(C a, uint32_t b) { return (C)((uint64_t)a << (b & (B - 1))); }          \
    HGV_FN C hgs_lshr_##T(C a, uint32_t b) { return (C)(a >> (b & (B - 1))); }                   \
    HGV_FN C hgs_ashr_##T(C a, uint32_t b) { return (C)((SC)a >> (b & (B - 1))); }               \
    HGV_FN C hgs_clz_##T(C a) { return a ? (C)(__builtin_clzll(a) - (64 - B)) : B; }             \
    HGV_FN bool hgs_cmp_eq_##T(C a, C b) { return a == b; }                                      \
    HGV_FN bool hgs_cmp_ult_##T(C a, C b) { return a < b; }                                      \
    HGV_FN bool hgs_cmp_slt_##T(C a, C b) { return (SC)a < (SC)b; }                              \
    HGV_FN C hgs_select_##T(bool c, C a, C b) { return c ? a : b; }                              \
    HGV_FN float hgs_u2f_f32_##T(C a) { return (float)a; }                                       \
    HGV_FN double hgs_u2f_f64_##T(C a) { return (double)a; }                                     \
    HGV_FN float hgs_s2f_f32_##T(C a) { return (float)(SC)a; }                                   \
    HGV_FN double hgs_s2f_f64_##T(C a) { return (double)(SC)a; }                                 \
    HGV_FN C hgs_f2u_##T##_f32(float a) {                                                        \
        return a > -1.0f ? (a < 0x1p##B##f ? (C)a : (C)-1) : 0;                                  \
    }                                                                                            \
    HGV_FN C hgs_f2u_##T##_f64(double a) { return a > -1.0 ? (a < 0x1p##B ? (C)a : (C)-1) : 0; } \
    HGV_FN C hgs_f2s_##T##_f32(float a) {                                                        \
        const float h = 0x1p##B##f / 2;                                                          \
        return a >= -h ? (a < h ? (C)(SC)a : (C)((C)-1 >> 1))                                    \
                       : (C)(a == a ? (C)((C)-1 >> 1) + 1u : 0u);                                \
    }                                                                                            \
    HGV_FN C hgs_f2s_##T##_f64(double a) {                                                       \
        const double h = 0x1p##B / 2;                                                            \
        return a >= -h ? (a < h ? (C)(SC)a : (C)((C)-1 >> 1))                                    \
                       : (C)(a == a ? (C)((C)-1 >> 1) + 1u : 0u);                                \
    }
HGV_INTEGERS(HGV_ONE_INTEGER)

HGV_FN bool hgs_and_bool(bool a, bool b) { return a & b; }
HGV_FN bool hgs_or_bool(bool a, bool b) { return a | b; }
HGV_FN bool hgs_xor_bool(bool a, bool b) { return a ^ b; }
HGV_FN bool hgs_cmp_eq_bool(bool a, bool b) { return a == b; }
HGV_FN bool hgs_select_bool(bool c, bool a, bool b) { return c ? a : b; }

#define HGV_ONE_FLOAT(T, C, UT, UC, B, F)                                      \
    HGV_FN UC hgs_bits_##T(C a) {                                              \
        UC r;                                                                  \
        memcpy(&r, &a, sizeof r);                                              \
        return r;                                                              \
    }                                                                          \
    HGV_FN C hgs_of_bits_##T(UC a) {                                           \
        C r;                                                                   \
        memcpy(&r, &a, sizeof r);                                              \
        return r;                                                              \
    }                                                                          \
    HGV_FN C hgs_fadd_##T(C a, C b) { return a + b; }                          \
    HGV_FN C hgs_fsub_##T(C a, C b) { return a - b; }                          \
    HGV_FN C hgs_fmul_##T(C a, C b) { return a * b; }                          \
    HGV_FN C hgs_fdiv_##T(C a, C b) { return a / b; }                          \
    HGV_FN C hgs_ffma_##T(C a, C b, C c) { return __builtin_fma##F(a, b, c); } \
    HGV_FN C hgs_ffloor_##T(C a) { return __builtin_floor##F(a); }             \
    HGV_FN C hgs_ftrunc_##T(C a) { return __builtin_trunc##F(a); }             \
    HGV_FN C hgs_frint_##T(C a) { return __builtin_rint##F(a); }               \
    HGV_FN bool hgs_fcmp_eq_##T(C a, C b) { return a == b; }                   \
    HGV_FN bool hgs_fcmp_lt_##T(C a, C b) { return a < b; }                    \
    HGV_FN bool hgs_fcmp_le_##T(C a, C b) { return a <= b; }                   \
    HGV_FN C hgs_select_##T(bool c, C a, C b) { return c ? a : b; }
HGV_FLOATS(HGV_ONE_FLOAT)
#if defined(__x86_64__) /* no call for the sake of errno */
HGV_FN float hgs_fsqrt_f32(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
HGV_FN double hgs_fsqrt_f64(double a) {
    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(a), _mm_set_sd(a)));
}
#else
HGV_FN float hgs_fsqrt_f32(float a) { return __builtin_sqrtf(a); }
HGV_FN double hgs_fsqrt_f64(double a) { return __builtin_sqrt(a); }
#endif

HGV_FN float hgs_h2f(uint16_t h) {
    uint32_t m = h & 0x7fffu, bits = (m << 13) + (m >= 0x7c00u ? 0x70000000u : 0x38000000u);
    float tiny = (float)(int32_t)m * 0x1p-24f; /* subnormal halves */
    return hgs_of_bits_f32((m < 0x400u ? hgs_bits_f32(tiny) : bits) | (uint32_t)(h & 0x8000u)
                                                                          << 16);
}
HGV_FN uint16_t hgs_f2h(float a) { /* to nearest even */
    uint32_t bits = hgs_bits_f32(a), m = bits & 0x7fffffffu,
             normal = (m + 0xc8000fffu + ((m >> 13) & 1u)) >> 13;
    float tiny = hgs_of_bits_f32(m) + 0.5f; /* its last bit is the half's last subnormal bit */
    uint32_t big = m > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t h = m >= 0x47800000u  ? big
                 : m < 0x38800000u ? hgs_bits_f32(tiny) - 0x3f000000u
                                   : normal;
    return (uint16_t)(h | (bits >> 16 & 0x8000u));
}
HGV_FN float hgs_b2f(uint16_t b) { return hgs_of_bits_f32((uint32_t)b << 16); }
HGV_FN uint16_t hgs_f2b(float a) { /* to nearest even */
    uint32_t bits = hgs_bits_f32(a);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/* ---- a part of a vector ---- */

#define HGV_LANES_1(op, R, T)                    \
    HGV_FN hgv_##R hgv_##op##_##T(hgv_##T a) {   \
        hgv_##R r;                               \
        HGV_EACH(T) r[i] = hgs_##op##_##T(a[i]); \
        return r;                                \
    }
#define HGV_LANES_2(op, R, T)                             \
    HGV_FN hgv_##R hgv_##op##_##T(hgv_##T a, hgv_##T b) { \
        hgv_##R r;                                        \
        HGV_EACH(T) r[i] = hgs_##op##_##T(a[i], b[i]);    \
        return r;                                         \
    }
#if HGV_BYTES == 32 /* one instruction, for vectors of 32 bytes */
#define HGV_SELECT(V, name, B)                              \
    HGV_FN V name(hgv_b##B c, V a, V b) {                   \
        if (sizeof a == 32) {                               \
            __m256i x = {0}, y = {0}, z = {0};              \
            memcpy(&x, &a, sizeof a);                       \
            memcpy(&y, &b, sizeof b);                       \
            memcpy(&z, &c, sizeof c);                       \
            x = _mm256_blendv_epi8(y, x, z);                \
            memcpy(&a, &x, sizeof a);                       \
            return a;                                       \
        }                                                   \
        return (V)(((hgv_b##B)a & c) | ((hgv_b##B)b & ~c)); \
    }
#else
#define HGV_SELECT(V, name, B) \
    HGV_FN V name(hgv_b##B c, V a, V b) { return (V)(((hgv_b##B)a & c) | ((hgv_b##B)b & ~c)); }
#endif
#define HGV_PART_INTEGER(T, C, ST, SC, B)                                               \
    HGV_FN hgv_##T hgv_add_##T(hgv_##T a, hgv_##T b) { return a + b; }                  \
    HGV_FN hgv_##T hgv_sub_##T(hgv_##T a, hgv_##T b) { return a - b; }                  \
    HGV_FN hgv_##T hgv_mul_##T(hgv_##T a, hgv_##T b) { return a * b; }                  \
    HGV_LANES_2(mulhi_u, T, T)                                                          \
    HGV_LANES_2(udiv, T, T)                                                             \
    HGV_LANES_2(urem, T, T)                                                             \
    HGV_LANES_2(sdiv, T, T)                                                             \
    HGV_LANES_2(srem, T, T)                                                             \
    HGV_FN hgv_##T hgv_and_##T(hgv_##T a, hgv_##T b) { return a & b; }                  \
    HGV_FN hgv_##T hgv_or_##T(hgv_##T a, hgv_##T b) { return a | b; }                   \
    HGV_FN hgv_##T hgv_xor_##T(hgv_##T a, hgv_##T b) { return a ^ b; }                  \
    HGV_FN hgv_##T hgv_shl_##T(hgv_##T a, hgv_##T b) { return a << (b & (B - 1)); }     \
    HGV_FN hgv_##T hgv_lshr_##T(hgv_##T a, hgv_##T b) { return a >> (b & (B - 1)); }    \
    HGV_FN hgv_##T hgv_ashr_##T(hgv_##T a, hgv_##T b) {                                 \
        return (hgv_##T)((hgv_##ST)a >> (hgv_##ST)(b & (B - 1)));                       \
    }                                                                                   \
    HGV_LANES_1(clz, T, T)                                                              \
    HGV_FN hgv_b##B hgv_cmp_eq_##T(hgv_##T a, hgv_##T b) { return (hgv_b##B)(a == b); } \
    HGV_FN hgv_b##B hgv_cmp_ult_##T(hgv_##T a, hgv_##T b) { return (hgv_b##B)(a < b); } \
    HGV_FN hgv_b##B hgv_cmp_slt_##T(hgv_##T a, hgv_##T b) {                             \
        return (hgv_b##B)((hgv_##ST)a < (hgv_##ST)b);                                   \
    }                                                                                   \
    HGV_SELECT(hgv_##T, hgv_select_##T, B)                                              \
    HGV_FN hgv_b##B hgv_and_b##B(hgv_b##B a, hgv_b##B b) { return a & b; }              \
    HGV_FN hgv_b##B hgv_or_b##B(hgv_b##B a, hgv_b##B b) { return a | b; }               \
    HGV_FN hgv_b##B hgv_xor_b##B(hgv_b##B a, hgv_b##B b) { return a ^ b; }              \
    HGV_FN hgv_b##B hgv_cmp_eq_b##B(hgv_b##B a, hgv_b##B b) { return ~(a ^ b); }        \
    HGV_SELECT(hgv_b##B, hgv_select_b##B, B)
HGV_INTEGERS(HGV_PART_INTEGER)

#define HGV_PART_FLOAT(T, C, UT, UC, B, F)                                               \
    HGV_FN hgv_##T hgv_fadd_##T(hgv_##T a, hgv_##T b) { return a + b; }                  \
    HGV_FN hgv_##T hgv_fsub_##T(hgv_##T a, hgv_##T b) { return a - b; }                  \
    HGV_FN hgv_##T hgv_fmul_##T(hgv_##T a, hgv_##T b) { return a * b; }                  \
    HGV_FN hgv_##T hgv_fdiv_##T(hgv_##T a, hgv_##T b) { return a / b; }                  \
    HGV_FN hgv_b##B hgv_fcmp_eq_##T(hgv_##T a, hgv_##T b) { return (hgv_b##B)(a == b); } \
    HGV_FN hgv_b##B hgv_fcmp_lt_##T(hgv_##T a, hgv_##T b) { return (hgv_b##B)(a < b); }  \
    HGV_FN hgv_b##B hgv_fcmp_le_##T(hgv_##T a, hgv_##T b) { return (hgv_b##B)(a <= b); } \
    HGV_SELECT(hgv_##T, hgv_select_##T, B)
HGV_FLOATS(HGV_PART_FLOAT)

/* Square root, fma, rounding: the machine's own where it has them. The branches on sizes are
 * decided when the text is compiled. */
#define HGV_LANES_3(op, T)                                           \
    HGV_FN hgv_##T hgv_##op##_##T(hgv_##T a, hgv_##T b, hgv_##T c) { \
        hgv_##T r;                                                   \
        HGV_EACH(T) r[i] = hgs_##op##_##T(a[i], b[i], c[i]);         \
        return r;                                                    \
    }
#if HGV_BYTES == 32 && HGV_FMA && HGV_LANES >= 8
HGV_FN hgv_f32 hgv_ffma_f32(hgv_f32 a, hgv_f32 b, hgv_f32 c) { return _mm256_fmadd_ps(a, b, c); }
HGV_FN hgv_f64 hgv_ffma_f64(hgv_f64 a, hgv_f64 b, hgv_f64 c) { return _mm256_fmadd_pd(a, b, c); }
HGV_FN hgv_f32 hgv_fsqrt_f32(hgv_f32 a) { return _mm256_sqrt_ps(a); }
HGV_FN hgv_f64 hgv_fsqrt_f64(hgv_f64 a) { return _mm256_sqrt_pd(a); }
HGV_FN hgv_f32 hgv_ffloor_f32(hgv_f32 a) { return _mm256_floor_ps(a); }
HGV_FN hgv_f64 hgv_ffloor_f64(hgv_f64 a) { return _mm256_floor_pd(a); }
HGV_FN hgv_f32 hgv_ftrunc_f32(hgv_f32 a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
HGV_FN hgv_f64 hgv_ftrunc_f64(hgv_f64 a) {
    return _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
HGV_FN hgv_f32 hgv_frint_f32(hgv_f32 a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HGV_FN hgv_f64 hgv_frint_f64(hgv_f64 a) {
    return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#elif HGV_BYTES == 64 && HGV_LANES >= 16
HGV_FN hgv_f32 hgv_ffma_f32(hgv_f32 a, hgv_f32 b, hgv_f32 c) { return _mm512_fmadd_ps(a, b, c); }
HGV_FN hgv_f64 hgv_ffma_f64(hgv_f64 a, hgv_f64 b, hgv_f64 c) { return _mm512_fmadd_pd(a, b, c); }
HGV_FN hgv_f32 hgv_fsqrt_f32(hgv_f32 a) { return _mm512_sqrt_ps(a); }
HGV_FN hgv_f64 hgv_fsqrt_f64(hgv_f64 a) { return _mm512_sqrt_pd(a); }
HGV_FN hgv_f32 hgv_ffloor_f32(hgv_f32 a) { return _mm512_roundscale_ps(a, 1); }
HGV_FN hgv_f64 hgv_ffloor_f64(hgv_f64 a) { return _mm512_roundscale_pd(a, 1); }
HGV_FN hgv_f32 hgv_ftrunc_f32(hgv_f32 a) { return _mm512_roundscale_ps(a, 3); }
HGV_FN hgv_f64 hgv_ftrunc_f64(hgv_f64 a) { return _mm512_roundscale_pd(a, 3); }
HGV_FN hgv_f32 hgv_frint_f32(hgv_f32 a) { return _mm512_roundscale_ps(a, 0); }
HGV_FN hgv_f64 hgv_frint_f64(hgv_f64 a) { return _mm512_roundscale_pd(a, 0); }
#else
HGV_LANES_3(ffma, f32)
HGV_LANES_3(ffma, f64)
#if defined(__x86_64__) && HGV_BYTES == 16 && HGV_LANES >= 4
HGV_FN hgv_f32 hgv_fsqrt_f32(hgv_f32 a) { return _mm_sqrt_ps(a); }
HGV_FN hgv_f64 hgv_fsqrt_f64(hgv_f64 a) { return _mm_sqrt_pd(a); }
#else
HGV_LANES_1(fsqrt, f32, f32)
HGV_LANES_1(fsqrt, f64, f64)
#endif
HGV_LANES_1(ffloor, f32, f32)
HGV_LANES_1(ffloor, f64, f64)
HGV_LANES_1(ftrunc, f32, f32)
HGV_LANES_1(ftrunc, f64, f64)
HGV_LANES_1(frint, f32, f32)
HGV_LANES_1(frint, f64, f64)
#endif

/* a * b less its rounding: fused where the machine does that itself, else by halves whose products
 * are exact. */
HGV_FN float hgs_fmul_err_f32(float a, float b) { return hgs_ffma_f32(a, b, -(a * b)); }
HGV_FN double hgs_fmul_err_f64(double a, double b) { return hgs_ffma_f64(a, b, -(a * b)); }
#if HGV_FMA || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
#define HGV_MAD(T, C)                                                      \
    HGV_FN C hgs_fmad_##T(C a, C b, C c) { return hgs_ffma_##T(a, b, c); } \
    HGV_FN hgv_##T hgv_fmad_##T(hgv_##T a, hgv_##T b, hgv_##T c) { return hgv_ffma_##T(a, b, c); }
HGV_FN hgv_f32 hgv_fmul_err_f32(hgv_f32 a, hgv_f32 b) { return hgv_ffma_f32(a, b, -(a * b)); }
HGV_FN hgv_f64 hgv_fmul_err_f64(hgv_f64 a, hgv_f64 b) { return hgv_ffma_f64(a, b, -(a * b)); }
#else
#define HGV_MAD(T, C)                                          \
    HGV_FN C hgs_fmad_##T(C a, C b, C c) { return a * b + c; } \
    HGV_FN hgv_##T hgv_fmad_##T(hgv_##T a, hgv_##T b, hgv_##T c) { return a * b + c; }
HGV_FN hgv_f32 hgv_fmul_err_f32(hgv_f32 a, hgv_f32 b) {
    const hgv_f32 ha = (hgv_f32)((hgv_u32)a & 0xfffff000u), la = a - ha,
                  hb = (hgv_f32)((hgv_u32)b & 0xfffff000u), lb = b - hb;
    return ((ha * hb - a * b + ha * lb) + la * hb) + la * lb;
}
HGV_FN hgv_f64 hgv_fmul_err_f64(hgv_f64 a, hgv_f64 b) {
    const uint64_t cut = UINT64_C(0xfffffffff8000000);
    const hgv_f64 ha = (hgv_f64)(((hgv_u64)a + 0x4000000u) & cut), la = a - ha,
                  hb = (hgv_f64)((hgv_u64)b & cut), lb = b - hb;
    return ((ha * hb - a * b + ha * lb) + la * hb) + la * lb;
}
#endif

/* a * b + c, fused where the machine does that itself: of functions whose results do not depend on
 * it. */
HGV_MAD(f32, float)
HGV_MAD(f64, double)

/* Floats to integers of the same size: what does not fit is cut off first, so that no conversion is
 * left to the machine. */
#define HGV_TO_INTEGER(T, C, UT, UC, B, F)                                                  \
    HGV_FN hgv_##UT hgv_f2s_##UT##_##T(hgv_##T a) {                                         \
        const hgv_##T zero = {0}, h = zero + (C)0x1p##B / 2;                                \
        const hgv_b##B high = (hgv_b##B)(a >= h), low = (hgv_b##B)(a < -h),                 \
                       nan = (hgv_b##B)(a != a);                                            \
        const hgv_##T fits = hgv_select_##T(high | low | nan, zero, a);                     \
        hgv_##UT r = (hgv_##UT) __builtin_convertvector(fits, hgv_i##B);                    \
        r = hgv_select_##UT(high, (hgv_##UT){0} + ((UC)-1 >> 1), r);                        \
        return hgv_select_##UT(low, (hgv_##UT){0} + ((UC)1 << (B - 1)), r);                 \
    }                                                                                       \
    HGV_FN hgv_##UT hgv_f2u_##UT##_##T(hgv_##T a) {                                         \
        const hgv_##T zero = {0};                                                           \
        const hgv_b##B high = (hgv_b##B)(a >= zero + (C)0x1p##B),                           \
                       fit = (hgv_b##B)(a > zero) & ~high;                                  \
        const hgv_##UT r = __builtin_convertvector(hgv_select_##T(fit, a, zero), hgv_##UT); \
        return r | (hgv_##UT)high;                                                          \
    }
HGV_FLOATS(HGV_TO_INTEGER)

/* Conversions of all lanes, from array to array. */
#define HGV_CONVERT_ALL(name, R, A)                                           \
    HGV_FN void hgv_all_##name(const A *from, R *to) {                        \
        for (unsigned i = 0; i < HGV_LANES; i++) to[i] = hgs_##name(from[i]); \
    }
#if HGV_F16C && HGV_LANES >= 8
HGV_FN void hgv_all_h2f(const uint16_t *from, float *to) {
    for (unsigned i = 0; i < HGV_LANES; i += 8)
        _mm256_storeu_ps(
            to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
}
HGV_FN void hgv_all_f2h(const float *from, uint16_t *to) {
    for (unsigned i = 0; i < HGV_LANES; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i),
                                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
HGV_CONVERT_ALL(h2f, float, uint16_t)
HGV_CONVERT_ALL(f2h, uint16_t, float)
#endif
HGV_CONVERT_ALL(b2f, float, uint16_t)
HGV_CONVERT_ALL(f2b, uint16_t, float)

/* ---- lanes among each other ---- */

/* Part `part` of a vector whose lane l is lane l xor `by` of the one in parts. */
#define HGV_EXCHANGE(T)                                                                            \
    HGV_FN hgv_##T hgv_exchange_##T(const hgv_##T *parts, uint32_t by, unsigned part) {            \
        const unsigned lanes = sizeof(hgv_##T) / sizeof(((hgv_##T){0})[0]), in = by & (lanes - 1); \
        const hgv_##T from = parts[part ^ (by / lanes)];                                           \
        hgv_##T r;                                                                                 \
        HGV_EACH(T) r[i] = from[i ^ in];                                                           \
        return r;                                                                                  \
    }
HGV_EXCHANGE(u8)
HGV_EXCHANGE(u16)
#if HGV_BYTES == 32 && HGV_LANES >= 8
HGV_FN hgv_u32 hgv_exchange_u32(const hgv_u32 *parts, uint32_t by, unsigned part) {
    const hgv_u32 number = {0, 1, 2, 3, 4, 5, 6, 7};
    return (hgv_u32)_mm256_permutevar8x32_epi32((__m256i)parts[part ^ by / 8],
                                                (__m256i)(number ^ (by & 7)));
}
HGV_FN hgv_u64 hgv_exchange_u64(const hgv_u64 *parts, uint32_t by, unsigned part) {
    const hgv_u32 half = {0, 1, 2, 3, 4, 5, 6, 7}; /* of an element */
    return (hgv_u64)_mm256_permutevar8x32_epi32((__m256i)parts[part ^ by / 4],
                                                (__m256i)(half ^ ((by & 3) * 2)));
}
#elif HGV_BYTES == 64 && HGV_LANES >= 16
HGV_FN hgv_u32 hgv_exchange_u32(const hgv_u32 *parts, uint32_t by, unsigned part) {
    const hgv_u32 number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (hgv_u32)_mm512_permutexvar_epi32((__m512i)(number ^ (by & 15)),
                                             (__m512i)parts[part ^ by / 16]);
}
HGV_FN hgv_u64 hgv_exchange_u64(const hgv_u64 *parts, uint32_t by, unsigned part) {
    const hgv_u64 number = {0, 1, 2, 3, 4, 5, 6, 7};
    return (hgv_u64)_mm512_permutexvar_epi64((__m512i)(number ^ (by & 7)),
                                             (__m512i)parts[part ^ by / 8]);
}
#else
HGV_EXCHANGE(u32)
HGV_EXCHANGE(u64)
#endif

/* ---- lanes as bits ---- */

#define HGV_BITS(B)                                              \
    HGV_FN uint64_t hgv_bits_b##B(hgv_b##B a) {                  \
        uint64_t r = 0;                                          \
        HGV_EACH(b##B) r |= (uint64_t)(a[i] & 1) << i;           \
        return r;                                                \
    }                                                            \
    HGV_FN hgv_b##B hgv_lanes_b##B(uint64_t bits) {              \
        hgv_b##B r;                                              \
        HGV_EACH(b##B) r[i] = (int##B##_t)(0 - (bits >> i & 1)); \
        return r;                                                \
    }                                                            \
    HGV_FN bool hgv_any_b##B(hgv_b##B a) { return hgv_bits_b##B(a) != 0; }
HGV_BITS(8)
HGV_BITS(16)
#if HGV_BYTES == 32 && HGV_LANES >= 8
HGV_FN uint64_t hgv_bits_b32(hgv_b32 a) {
    return (uint64_t)(uint32_t)_mm256_movemask_ps((__m256)a);
}
HGV_FN uint64_t hgv_bits_b64(hgv_b64 a) {
    return (uint64_t)(uint32_t)_mm256_movemask_pd((__m256d)a);
}
HGV_FN bool hgv_any_b32(hgv_b32 a) { return !_mm256_testz_si256((__m256i)a, (__m256i)a); }
HGV_FN bool hgv_any_b64(hgv_b64 a) { return !_mm256_testz_si256((__m256i)a, (__m256i)a); }
HGV_FN hgv_b32 hgv_lanes_b32(uint64_t bits) {
    const hgv_b32 each = {1, 2, 4, 8, 16, 32, 64, 128};
    return (hgv_b32)((((hgv_b32){0} + (int32_t)(bits & 255)) & each) == each);
}
HGV_FN hgv_b64 hgv_lanes_b64(uint64_t bits) {
    const hgv_b64 each = {1, 2, 4, 8};
    return (hgv_b64)((((hgv_b64){0} + (int64_t)(bits & 15)) & each) == each);
}
#elif HGV_BYTES == 64 && HGV_LANES >= 16
HGV_FN uint64_t hgv_bits_b32(hgv_b32 a) { return _mm512_movepi32_mask((__m512i)a); }
HGV_FN uint64_t hgv_bits_b64(hgv_b64 a) { return _mm512_movepi64_mask((__m512i)a); }
HGV_FN bool hgv_any_b32(hgv_b32 a) { return hgv_bits_b32(a) != 0; }
HGV_FN bool hgv_any_b64(hgv_b64 a) { return hgv_bits_b64(a) != 0; }
HGV_FN hgv_b32 hgv_lanes_b32(uint64_t bits) { return (hgv_b32)_mm512_movm_epi32((__mmask16)bits); }
HGV_FN hgv_b64 hgv_lanes_b64(uint64_t bits) { return (hgv_b64)_mm512_movm_epi64((__mmask8)bits); }
#else
HGV_BITS(32)
HGV_BITS(64)
#endif

/* ---- memory ---- */

/* Where loads of nobody read. */
static const uint8_t hgv_zeros[64] __attribute__((unused));

/* Whether all of a row or stride is in bounds: the first offset is index + disp, the lowest byte
 * `low` from index on, the end `high`. */
HGV_FN bool hgv_fits(uint64_t size, uint64_t index, int64_t low, int64_t high) {
    bool from = low >= 0 || index >= (uint64_t)-low;
    return high >= 0 ? from && size >= (uint64_t)high && index <= size - (uint64_t)high
                     : from && index <= size + (uint64_t)-high;
}
/* Indices below it fit, if what is reached from them on ends `high` behind, which is not 0. */
HGV_FN uint64_t hgv_limit(uint64_t size, uint64_t high) {
    return size < high ? 0 : size - (high - 1);
}
HGV_FN hgv_b64 hgv_outside(hgv_u64 index, uint64_t size, int64_t low, int64_t high) {
    if (high >= 0 && size < (uint64_t)high) return ~(hgv_b64){0};
    uint64_t most = high >= 0 ? size - (uint64_t)high : size + (uint64_t)-high;
    hgv_b64 r = (hgv_b64)(index > (hgv_u64){0} + most);
    return low < 0 ? r | (hgv_b64)(index < (hgv_u64){0} + (uint64_t)-low) : r;
}
/* Of one lane: offset = index + disp exactly. */
HGV_FN bool hgv_lane_fits(const hgv_memory *m, uint64_t index, int64_t disp, uint32_t bytes) {
    hgs_i128 offset = (hgs_i128)index + disp;
    return m->valid && offset >= 0 && offset + bytes <= (hgs_i128)m->size;
}
/* Lanes `bits` whose access is out of bounds fault; returns those that go on. index: of each lane.
 */
HGV_COLD uint64_t hgv_check(hgv_launch *launch, const hgv_site *site, const hgv_memory *m,
                            uint64_t first, const uint64_t *index, int64_t disp, uint64_t bits) {
    uint64_t left = bits;
    for (uint64_t rest = bits; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        if (hgv_lane_fits(m, index[i], disp, site->size)) continue;
        hgs_i128 offset = (hgs_i128)index[i] + disp;
        const uint64_t values[2] = {(uint64_t)offset, (uint64_t)(offset >> 64)};
        hgv_site at = *site;
        at.limit = m->size;
        if (site->input >= 0) at.handle = launch->inputs[site->input];
        if (!m->valid) at.code = 3;
        launch->fault(launch, &at, first + i, values);
        left &= ~(UINT64_C(1) << i);
    }
    return left;
}

/* The memory of a lane; of a flat address *at becomes the offset. */
static inline hgv_memory hgv_find(hgv_launch *launch, uint64_t *handle, bool *pool, bool flat,
                                  uint64_t *at) {
    if (flat) {
        *at = *handle & UINT64_C(0xffffffffff);
        *pool = *handle >> 63 != 0;
        *handle = *handle >> 40 & 0x7fffff;
    }
    return launch->resolve(launch, *handle, *pool, flat);
}
HGV_FN uint8_t *hgv_base(hgv_launch *launch, uint64_t handle, bool pool, bool flat, uint64_t *at) {
    return hgv_find(launch, &handle, &pool, flat, at).base;
}
HGV_COLD uint64_t hgv_check_open(hgv_launch *launch, const hgv_site *site, bool flat,
                                 uint64_t first, const uint64_t *handles, const uint64_t *index,
                                 int64_t disp, uint64_t bits) {
    uint64_t left = bits;
    for (uint64_t rest = bits; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        uint64_t handle = handles[i], at = index[i];
        bool pool = site->pool;
        hgv_memory m = hgv_find(launch, &handle, &pool, flat, &at);
        hgv_site one = *site;
        one.input = -1;
        one.handle = handle;
        one.pool = pool;
        left &= ~(UINT64_C(1) << i) | hgv_check(launch, &one, &m, first + i, &at, disp, 1) << i;
    }
    return left;
}

/* What compilers do not do with a vector behind these. HGV_HOLD: gcc reads the memory of a vector
 * that is used several times again and again, as it counts an operand in memory as free.
 * HGV_WHOLE: clang stores a vector that is put together as its halves. */
#if defined(__x86_64__) && HGV_LANES >= 4 && defined(__clang__)
#define HGV_HOLD(v) (void)(v)
#define HGV_WHOLE(v) __asm__("" : "+v"(v))
#elif defined(__x86_64__) && HGV_LANES >= 4
#define HGV_HOLD(v) __asm__("" : "+v"(v))
#define HGV_WHOLE(v) (void)(v)
#else
#define HGV_HOLD(v) (void)(v)
#define HGV_WHOLE(v) (void)(v)
#endif
#define HGV_HOLD_8(v) (void)(v)
#define HGV_HOLD_16(v) (void)(v)
#define HGV_HOLD_32(v) HGV_HOLD(v)
#define HGV_HOLD_64(v) HGV_HOLD(v)
#define HGV_WHOLE_8(v) (void)(v)
#define HGV_WHOLE_16(v) (void)(v)
#define HGV_WHOLE_32(v) HGV_WHOLE(v)
#define HGV_WHOLE_64(v) HGV_WHOLE(v)

#define HGV_MEMORY(T, C, B)                                                       \
    HGV_FN C hgs_load_##T(const uint8_t *p) {                                     \
        C r;                                                                      \
        memcpy(&r, p, sizeof r);                                                  \
        return r;                                                                 \
    }                                                                             \
    HGV_FN void hgs_store_##T(uint8_t *p, C a) { memcpy(p, &a, sizeof a); }       \
    HGV_FN hgv_##T hgv_load_##T(const uint8_t *p) {                               \
        hgv_##T r;                                                                \
        memcpy(&r, p, sizeof r);                                                  \
        return r;                                                                 \
    }                                                                             \
    HGV_FN hgv_##T hgv_load_once_##T(const uint8_t *p) {                          \
        hgv_##T r = hgv_load_##T(p);                                              \
        HGV_HOLD_##B(r);                                                          \
        return r;                                                                 \
    }                                                                             \
    HGV_FN void hgv_store_##T(uint8_t *p, hgv_##T a) { memcpy(p, &a, sizeof a); } \
    HGV_FN void hgv_store_past_##T(uint8_t *p, hgv_##T a) { hgv_past(p, &a, sizeof a); }
/* A store past the caches where it may be one: of 16 bytes each, at multiples of them. */
HGV_FN void hgv_past(uint8_t *p, const void *from, unsigned bytes) {
#if defined(__x86_64__)
    if (bytes % 16 == 0 && (uintptr_t)p % 16 == 0) {
        for (unsigned i = 0; i < bytes; i += 16)
            _mm_stream_si128(
                (__m128i *)(void *)(p + i),
                _mm_loadu_si128((const __m128i *)(const void *)((const uint8_t *)from + i)));
        return;
    }
#endif
    memcpy(p, from, bytes);
}
/* Before anybody else looks at what went past the caches. */
HGV_FN void hgv_past_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

HGV_MEMORY(u8, uint8_t, 8)
HGV_MEMORY(u16, uint16_t, 16)
HGV_MEMORY(u32, uint32_t, 32)
HGV_MEMORY(u64, uint64_t, 64)
HGV_MEMORY(f32, float, 32)
HGV_MEMORY(f64, double, 64)

/* Elements that the mask does not have are not touched: they may lie outside of all memory. */
#define HGV_WHERE(T, C, B)                                               \
    HGV_FN hgv_##T hgv_load_where_##T(const uint8_t *p, hgv_b##B m) {    \
        hgv_##T r = {0};                                                 \
        HGV_EACH(T) if (m[i]) r[i] = hgs_load_##T(p + i * sizeof(C));    \
        return r;                                                        \
    }                                                                    \
    HGV_FN void hgv_store_where_##T(uint8_t *p, hgv_##T a, hgv_b##B m) { \
        HGV_EACH(T) if (m[i]) hgs_store_##T(p + i * sizeof(C), a[i]);    \
    }
HGV_WHERE(u8, uint8_t, 8)
HGV_WHERE(u16, uint16_t, 16)
#if HGV_BYTES == 32 && HGV_LANES >= 8
/* X(T, B, intrinsics' suffix, vector type, element type). Masked stores are slow on some machines:
 * they are for masks that have some lanes. */
#define HGV_WHERE_256(T, B, S, V, E, all)                                            \
    HGV_FN hgv_##T hgv_load_where_##T(const uint8_t *p, hgv_b##B m) {                \
        return (hgv_##T)_mm256_maskload_##S((const E *)(const void *)p, (__m256i)m); \
    }                                                                                \
    HGV_FN void hgv_store_where_##T(uint8_t *p, hgv_##T a, hgv_b##B m) {             \
        const uint64_t bits = hgv_bits_b##B(m);                                      \
        if (bits == all)                                                             \
            hgv_store_##T(p, a);                                                     \
        else if (bits)                                                               \
            _mm256_maskstore_##S((E *)(void *)p, (__m256i)m, (V)a);                  \
    }
HGV_WHERE_256(u32, 32, epi32, __m256i, int, 255)
HGV_WHERE_256(f32, 32, ps, __m256, float, 255)
HGV_WHERE_256(u64, 64, epi64, __m256i, long long, 15)
HGV_WHERE_256(f64, 64, pd, __m256d, double, 15)
#elif HGV_BYTES == 64 && HGV_LANES >= 16
#define HGV_WHERE_512(T, B, S, V)                                                       \
    HGV_FN hgv_##T hgv_load_where_##T(const uint8_t *p, hgv_b##B m) {                   \
        return (hgv_##T)_mm512_maskz_loadu_##S(_mm512_movepi##B##_mask((__m512i)m), p); \
    }                                                                                   \
    HGV_FN void hgv_store_where_##T(uint8_t *p, hgv_##T a, hgv_b##B m) {                \
        _mm512_mask_storeu_##S(p, _mm512_movepi##B##_mask((__m512i)m), (V)a);           \
    }
HGV_WHERE_512(u32, 32, epi32, __m512i)
HGV_WHERE_512(f32, 32, ps, __m512)
HGV_WHERE_512(u64, 64, epi64, __m512i)
HGV_WHERE_512(f64, 64, pd, __m512d)
#else
HGV_WHERE(u32, uint32_t, 32)
HGV_WHERE(u64, uint64_t, 64)
HGV_WHERE(f32, float, 32)
HGV_WHERE(f64, double, 64)
#endif

/* First element, difference, number of the part's first lane. */
#define HGV_RAMP(T, C, ST, SC, B)                           \
    HGV_FN hgv_##T hgv_ramp_##T(C a, C by, unsigned from) { \
        hgv_##T r;                                          \
        HGV_EACH(T) r[i] = (C)(i + from);                   \
        return (hgv_##T){0} + a + r * by;                   \
    }
HGV_INTEGERS(HGV_RAMP)

#define HGV_ATOMIC(T, C, SC)                                                                       \
    HGV_FN C hgv_atomic_##T(unsigned op, uint8_t *at, C a, C b) {                                  \
        C *p = (C *)(void *)at, old;                                                               \
        switch (op) {                                                                              \
        case 0: return __atomic_fetch_add(p, a, __ATOMIC_RELAXED);                                 \
        case 5: return __atomic_fetch_and(p, a, __ATOMIC_RELAXED);                                 \
        case 6: return __atomic_fetch_or(p, a, __ATOMIC_RELAXED);                                  \
        case 7: return __atomic_fetch_xor(p, a, __ATOMIC_RELAXED);                                 \
        case 8: return __atomic_exchange_n(p, a, __ATOMIC_RELAXED);                                \
        case 9:                                                                                    \
            old = a;                                                                               \
            __atomic_compare_exchange_n(p, &old, b, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);    \
            return old;                                                                            \
        default: break;                                                                            \
        }                                                                                          \
        old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                \
        for (;;) {                                                                                 \
            bool take = op == 1   ? a < old                                                        \
                        : op == 2 ? (SC)a < (SC)old                                                \
                        : op == 3 ? a > old                                                        \
                                  : (SC)a > (SC)old;                                               \
            if (!take ||                                                                           \
                __atomic_compare_exchange_n(p, &old, a, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
                return old;                                                                        \
        }                                                                                          \
    }
HGV_ATOMIC(u32, uint32_t, int32_t)
HGV_ATOMIC(u64, uint64_t, int64_t)

/* The same in memory that only this thread reaches. */
#define HGV_OWN_ATOMIC(T, C, SC)                                      \
    HGV_FN C hgv_own_atomic_##T(unsigned op, uint8_t *at, C a, C b) { \
        const C old = hgs_load_##T(at);                               \
        C now = a;                                                    \
        switch (op) {                                                 \
        case 0: now = (C)(old + a); break;                            \
        case 1: now = a < old ? a : old; break;                       \
        case 2: now = (SC)a < (SC)old ? a : old; break;               \
        case 3: now = a > old ? a : old; break;                       \
        case 4: now = (SC)a > (SC)old ? a : old; break;               \
        case 5: now = old & a; break;                                 \
        case 6: now = old | a; break;                                 \
        case 7: now = old ^ a; break;                                 \
        case 9: now = old == a ? b : old; break;                      \
        default: break;                                               \
        }                                                             \
        hgs_store_##T(at, now);                                       \
        return old;                                                   \
    }                                                                 \
    HGV_FN void hgv_combine_##T(unsigned op, uint8_t *at, C a) {      \
        (void)hgv_own_atomic_##T(op, at, a, 0);                       \
    }
HGV_OWN_ATOMIC(u32, uint32_t, int32_t)
HGV_OWN_ATOMIC(u64, uint64_t, int64_t)

#endif

#endif

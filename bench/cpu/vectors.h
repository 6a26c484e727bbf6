/* Native vectors of a CPU level, as one writes them by hand: vector extensions, and intrinsics for
 * what these lack. */
#ifndef HG_BENCH_CPU_VECTORS_H
#define HG_BENCH_CPU_VECTORS_H

#include "peers.h"
#include <immintrin.h>
#include <string.h>

#if defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512BW__
enum { BYTES = 64, W = 16 };
typedef float vf __attribute__((vector_size(64)));
typedef double vd __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint32_t vu __attribute__((vector_size(64)));
typedef int64_t vl __attribute__((vector_size(64)));
typedef float vf_any __attribute__((vector_size(64), aligned(4), may_alias));
typedef double vd_any __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint32_t vu_any __attribute__((vector_size(64), aligned(4), may_alias));
typedef __mmask16 mask;
#define IOTA ((vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
static inline mask all_lanes(void) { return 0xffff; }
static inline mask no_more(vf a, vf b) {
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
}
static inline mask less(vf a, vf b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
static inline int any(mask m) { return m != 0; }
static inline vi count_one(vi n, mask m) {
    return (vi)_mm512_mask_add_epi32((__m512i)n, m, (__m512i)n, _mm512_set1_epi32(1));
}
static inline vf blend(mask m, vf a, vf b) {
    return (vf)_mm512_mask_blend_ps(m, (__m512)b, (__m512)a);
}
static inline vu blend_words(mask m, vu a, vu b) {
    return (vu)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a);
}
static inline vf root(vf x) { return (vf)_mm512_sqrt_ps((__m512)x); }
static inline vf fused(vf a, vf b, vf c) {
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static inline vf floats_of(vi x) { return (vf)_mm512_cvtepi32_ps((__m512i)x); }
static inline void store_past(float *p, vf x) { _mm512_stream_ps(p, (__m512)x); }
#elif defined __AVX2__
enum { BYTES = 32, W = 8 };
typedef float vf __attribute__((vector_size(32)));
typedef double vd __attribute__((vector_size(32)));
typedef int32_t vi __attribute__((vector_size(32)));
typedef uint32_t vu __attribute__((vector_size(32)));
typedef int64_t vl __attribute__((vector_size(32)));
typedef float vf_any __attribute__((vector_size(32), aligned(4), may_alias));
typedef double vd_any __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint32_t vu_any __attribute__((vector_size(32), aligned(4), may_alias));
typedef vi mask;
#define IOTA ((vi){0, 1, 2, 3, 4, 5, 6, 7})
static inline mask all_lanes(void) { return ~(vi){0}; }
static inline mask no_more(vf a, vf b) { return (mask)(a <= b); }
static inline mask less(vf a, vf b) { return (mask)(a < b); }
static inline int any(mask m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
static inline vi count_one(vi n, mask m) { return n - m; }
static inline vf blend(mask m, vf a, vf b) {
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
}
static inline vu blend_words(mask m, vu a, vu b) {
    return (vu)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)m);
}
static inline vf root(vf x) { return (vf)_mm256_sqrt_ps((__m256)x); }
static inline vf fused(vf a, vf b, vf c) {
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline vf floats_of(vi x) { return (vf)_mm256_cvtepi32_ps((__m256i)x); }
static inline void store_past(float *p, vf x) { _mm256_stream_ps(p, (__m256)x); }
#else
#error "v3 or v4"
#endif

static inline vf splat(float x) { return (vf){0} + x; }
static inline vf load(const float *p) { return *(const vf_any *)p; }
static inline void store(float *p, vf x) { *(vf_any *)p = x; }
static inline vu load_words(const uint32_t *p) { return *(const vu_any *)p; }
static inline void store_words(uint32_t *p, vu x) { *(vu_any *)p = x; }

#endif

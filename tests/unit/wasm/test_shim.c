/* The C library of the wasm32 build (bindings/npm/wasm/libc.c), compiled here under other names,
 * against this machine's: fused multiply-add, scaling, 128-bit integers, printing, sorting, memory.
 */
#include "test.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define fma shim_fma
#define fmaf shim_fmaf
#define ldexp shim_ldexp
#define frexp shim_frexp
#define ilogb shim_ilogb
#define snprintf shim_snprintf
#define vsnprintf shim_vsnprintf
#define malloc shim_malloc
#define calloc shim_calloc
#define realloc shim_realloc
#define free shim_free
#define qsort shim_qsort
#define getenv shim_getenv
#define strchr shim_strchr
#define strcspn shim_strcspn
#define strspn shim_strspn
#define strstr shim_strstr
#define strcmp shim_strcmp
#define strrchr shim_strrchr
#define strcpy shim_strcpy
#define strncpy shim_strncpy
#define strcat shim_strcat
#define strnlen shim_strnlen
#undef isdigit
#undef isalpha
#undef isalnum
#undef toupper
#define isdigit shim_isdigit
#define isalpha shim_isalpha
#define isalnum shim_isalnum
#define toupper shim_toupper
int shim_isdigit(int c), shim_isalpha(int c), shim_isalnum(int c), shim_toupper(int c);
#define strncmp shim_strncmp
#define __multi3 shim_multi3
#define __ashlti3 shim_ashlti3
#define __lshrti3 shim_lshrti3
#define __udivti3 shim_udivti3
#define __umodti3 shim_umodti3
#define __ashrti3 shim_ashrti3
#define __divti3 shim_divti3
#define __modti3 shim_modti3
#define __muloti4 shim_muloti4
#define __fixdfti shim_fixdfti
#define __floattidf shim_floattidf
double shim_fma(double a, double b, double c), shim_ldexp(double x, int e),
    shim_frexp(double x, int *e);
float shim_fmaf(float a, float b, float c);
int shim_ilogb(double x),
    shim_vsnprintf(char *text, size_t room, const char *format, va_list arguments);
int shim_snprintf(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *shim_malloc(size_t size), *shim_calloc(size_t count, size_t size),
    *shim_realloc(void *memory, size_t size);
void shim_free(void *memory),
    shim_qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
char *shim_getenv(const char *name), *shim_strchr(const char *text, int c),
    *shim_strstr(const char *text, const char *what);
int shim_strcmp(const char *a, const char *b), shim_strncmp(const char *a, const char *b, size_t n);
size_t shim_strcspn(const char *text, const char *any),
    shim_strspn(const char *text, const char *all), shim_strnlen(const char *text, size_t n);
char *shim_strrchr(const char *text, int c), *shim_strcpy(char *to, const char *from),
    *shim_strncpy(char *to, const char *from, size_t n), *shim_strcat(char *to, const char *from);
#include "../bindings/npm/wasm/libc.c"
#undef fma
#undef fmaf
#undef ldexp
#undef frexp
#undef ilogb
#undef snprintf
#undef malloc
#undef qsort
#undef strcmp
#undef strcspn
#undef strspn
#undef strrchr
#undef strcpy
#undef strncpy
#undef strcat
#undef strnlen
#undef isdigit
#undef isalpha
#undef isalnum
#undef toupper

/* ---- linear memory ---- */

static _Alignas(16) unsigned char linear[1 << 22];
static size_t linear_pages = 2;
static uintptr_t heap_start(void) { return (uintptr_t)linear + 8; }
static uintptr_t heap_end(void) { return (uintptr_t)linear + linear_pages * PAGE; }
static bool grow(size_t pages) {
    if (pages > sizeof linear / PAGE - linear_pages) return false;
    linear_pages += pages;
    return true;
}

static uint64_t state = 7;
static uint64_t next_random(void) { /* SplitMix64 */
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- floating point ---- */

/* Any bits, subnormals, exponents close together, few bits, products near the smallest numbers. */
static double any_double(void) {
    uint64_t bits = next_random(), fraction = bits & 0x800FFFFFFFFFFFFF, kind = next_random() % 6;
    if (kind == 0) bits = fraction | (next_random() & 3) << 52;
    if (kind == 1) bits = fraction | (1000 + next_random() % 46) << 52;
    if (kind == 2) bits = (bits & 0x800F800000000003) | (1000 + next_random() % 46) << 52;
    if (kind == 3) bits = fraction | (480 + next_random() % 100) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float any_float(void) {
    uint32_t bits = (uint32_t)next_random(), fraction = bits & 0x807FFFFF,
             kind = (uint32_t)(next_random() % 5);
    if (kind == 0) bits = fraction | (uint32_t)(next_random() & 3) << 23;
    if (kind == 1) bits = fraction | (uint32_t)(110 + next_random() % 30) << 23;
    if (kind == 2) bits = (bits & 0x80700003) | (uint32_t)(110 + next_random() % 30) << 23;
    if (kind == 3) bits = fraction | (uint32_t)(50 + next_random() % 30) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void test_fma(void) {
    for (int i = 0; i < 300000; i++) {
        double a = any_double(), b = any_double(), c = i % 7 ? any_double() : -(a * b);
        if (i % 11 == 0) c = -c;
        CHECK_MESSAGE(same(shim_fma(a, b, c), fma(a, b, c)), "fma(%a, %a, %a) = %a, expected %a", a,
                      b, c, shim_fma(a, b, c), fma(a, b, c));
        float x = any_float(), y = any_float(), z = i % 7 ? any_float() : -(x * y);
        float got = shim_fmaf(x, y, z), expected = fmaf(x, y, z);
        CHECK_MESSAGE(same((double)got, (double)expected), "fmaf(%a, %a, %a) = %a, expected %a",
                      (double)x, (double)y, (double)z, (double)got, (double)expected);
    }
}

static void test_scaling(void) {
    for (int i = 0; i < 100000; i++) {
        double x = any_double();
        int by = (int)(next_random() % 4400) - 2200, got = 0, expected = 0;
        CHECK_MESSAGE(same(shim_ldexp(x, by), ldexp(x, by)), "ldexp(%a, %d) = %a", x, by,
                      shim_ldexp(x, by));
        if (x == 0 || !isfinite(x)) continue;
        CHECK_MESSAGE(shim_ilogb(x) == ilogb(x), "ilogb(%a) = %d", x, shim_ilogb(x));
        CHECK(same(shim_frexp(x, &got), frexp(x, &expected)) && got == expected);
    }
}

/* ---- 128-bit integers ---- */

static void test_integers(void) {
    for (int i = 0; i < 50000; i++) {
        u128 a = (u128)next_random() << 64 | next_random(),
             b = ((u128)next_random() << 64 | next_random()) >> next_random() % 128;
        int by = (int)(next_random() % 128);
        if (!b) b = 1;
        CHECK(shim_multi3(a, b) == a * b);
        CHECK(shim_ashlti3(a, by) == a << by && shim_lshrti3(a, by) == a >> by);
        CHECK(shim_udivti3(a, b) == a / b && shim_umodti3(a, b) == a % b);
    }
}

/* ---- text, sorting, memory ---- */

#define SAME_TEXT(...)                                            \
    do {                                                          \
        char expected[100], got[100];                             \
        int n = snprintf(expected, sizeof expected, __VA_ARGS__), \
            m = shim_snprintf(got, sizeof got, __VA_ARGS__);      \
        CHECK_TEXT(got, expected);                                \
        CHECK_U64(m, n);                                          \
    } while (0)

static void test_printing(void) {
    char small[4];
    SAME_TEXT("%d %5d|%-5d|%05d|%+d|% d", 1, -2, 3, -4, 5, 6);
    SAME_TEXT("%u %x %X %#x %08x %llx %llu", 1u, 2u, 255u, 255u, 0xabcu, ~0ull, ~0ull);
    SAME_TEXT("%s|%10s|%-10s|%.2s|%.*s", "ab", "cd", "ef", "ghi", 1, "xyz");
    SAME_TEXT("%c%%%02u %lld %lld", 'a', 7u, -5ll, -9223372036854775807ll - 1);
    SAME_TEXT("%.3d|%8.3d|%.0d|%*d|%-*d|", 5, 5, 0, 6, 7, 4, 8);
    SAME_TEXT("%g %.0f %.17g %f|%+.*g|%08.2f|%-9g|%9g|% g", 1.5, 2.5, 0.1, 1e-7, 3, -7.25, -2.345,
              1e5, 1e6, INFINITY);
    SAME_TEXT("%.17g %.1f %.0f %g %.3f", 5e-324, 0.05, 0.5, 999999.5, 1e22);
    for (int i = 0; i < 4000; i++) {
        double value = i % 2 ? any_double() : (double)(int64_t)(next_random() >> 20) / 1024;
        int digits = (int)(next_random() % 20);
        SAME_TEXT("%.*g", digits, value);
        if (fabs(value) < 1e60) SAME_TEXT("%.*f", digits, value);
    }
    CHECK_U64(shim_snprintf(small, sizeof small, "%s", "abcdef"), 6);
    CHECK_TEXT(small, "abc");
}

static void test_spans(void) {
    static const char *const texts[] = {"", "/", "opencl", "opencl/1", "a b/c"}, *const any[] = {
                                                                                     "", "/", " /",
                                                                                     "1n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t j = 0; j < sizeof any / sizeof any[0]; j++) {
            CHECK_U64(shim_strcspn(texts[i], any[j]), strcspn(texts[i], any[j]));
            CHECK_U64(shim_strspn(texts[i], any[j]), strspn(texts[i], any[j]));
        }
    CHECK_TEXT(shim_strrchr(texts[4], 'c'), "c");
    CHECK_TEXT(shim_strrchr("a/b/c", '/'), "/c");
    CHECK(shim_strrchr("a", '/') == NULL);
    CHECK_U64(shim_strnlen("abc", 2), 2);
    CHECK_U64(shim_strnlen("abc", 9), 3);
}

static void test_copies(void) {
    char text[8] = "?????";
    CHECK_TEXT(shim_strcpy(text, "ab"), "ab");
    CHECK_TEXT(shim_strcat(text, "cd"), "abcd");
    shim_strncpy(text, "x", 4);
    CHECK(memcmp(text, "x\0\0\0", 5) == 0);
    shim_strncpy(text, "vwxyz", 3);
    CHECK(memcmp(text, "vwx\0", 4) == 0);
    for (int c = 0; c < 128; c++) {
        CHECK(!shim_isdigit(c) == !isdigit(c));
        CHECK(!shim_isalpha(c) == !isalpha(c));
        CHECK(!shim_isalnum(c) == !isalnum(c));
        CHECK_U64((uint64_t)shim_toupper(c), (uint64_t)toupper(c));
    }
}

static int compare_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void test_sorting(void) {
    for (size_t n = 0; n < 200; n++) {
        int a[200], b[200];
        for (size_t i = 0; i < n; i++) a[i] = b[i] = (int)(next_random() % 50);
        shim_qsort(a, n, sizeof a[0], compare_ints);
        qsort(b, n, sizeof b[0], compare_ints);
        CHECK(n == 0 || memcmp(a, b, n * sizeof a[0]) == 0);
    }
}

/* Blocks that live together do not overlap; what was freed serves again, joined with its
 * neighbours; too much gives NULL and nothing else. */
static void test_memory(void) {
    enum { COUNT = 64 };
    unsigned char *blocks[COUNT] = {NULL};
    size_t sizes[COUNT] = {0};
    bool whole = true;
    for (int i = 0; i < 20000; i++) {
        size_t k = next_random() % COUNT, size = next_random() % 3000;
        for (size_t at = 0; blocks[k] && at < sizes[k]; at++)
            whole &= blocks[k][at] == (unsigned char)k;
        if (next_random() % 3 == 0) {
            shim_free(blocks[k]);
            blocks[k] = NULL;
            sizes[k] = 0;
            continue;
        }
        blocks[k] = shim_realloc(blocks[k], size);
        CHECK(blocks[k] && (uintptr_t)blocks[k] % 16 == 0);
        for (size_t at = 0; blocks[k] && at < size && at < sizes[k]; at++)
            whole &= blocks[k][at] == (unsigned char)k;
        sizes[k] = size;
        if (blocks[k]) memset(blocks[k], (int)k, size);
    }
    CHECK(whole);
    CHECK(linear_pages < 40); /* the blocks alive have at most 3 pages, in a few dozen classes */
    for (int k = 0; k < COUNT; k++) shim_free(blocks[k]);
    size_t before = linear_pages;
    for (size_t size = 1; size < (before - 1) * PAGE; size += size / 7 + 1) {
        void *whole_block = shim_malloc(size);
        CHECK(whole_block != NULL);
        shim_free(whole_block);
    }
    CHECK_U64(linear_pages, before);
    /* Up to the last byte, then again. */
    for (int round = 0; round < 2; round++) {
        void *held[80];
        int count = 0;
        while (count < 80 && (held[count] = shim_malloc(PAGE - HEADER))) {
            memset(held[count], round, PAGE - HEADER);
            count++;
        }
        CHECK(count >= 60 && count < 80);
        for (int i = 0; i < count; i += 2) shim_free(held[i]);
        for (int i = 1; i < count; i += 2) shim_free(held[i]);
    }
    CHECK(shim_malloc(sizeof linear) == NULL);
    CHECK(shim_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(shim_malloc(100) != NULL);
}

/* Signed 128-bit integers: against the machine's own. */
static void test_signed(void) {
    static const uint64_t parts[] = {
        0, 1, 2, 7, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF0};
    enum { COUNT = sizeof parts / sizeof *parts };
    for (int i = 0; i < COUNT * COUNT; i++) {
        i128 a = (i128)((u128)parts[i / COUNT] << 64 | parts[i % COUNT]);
        for (int by = 0; by < 128; by += 9) CHECK(shim_ashrti3(a, by) == a >> by);
        double real = shim_floattidf(a);
        CHECK(real == (double)a);
        if (real < 0x1p126 && real > -0x1p126)
            CHECK(shim_fixdfti(real) == (i128)real && shim_fixdfti(real / 3) == (i128)(real / 3));
        for (int k = 0; k < COUNT * COUNT; k++) {
            i128 b = (i128)((u128)parts[k / COUNT] << 64 | parts[k % COUNT]), product;
            int overflow = 0;
            bool over = __builtin_mul_overflow(a, b, &product);
            i128 mine = shim_muloti4(a, b, &overflow);
            CHECK((overflow != 0) == over && (over || mine == product));
            if (!b || (b == -1 && a == (i128)((u128)1 << 127))) continue;
            CHECK(shim_divti3(a, b) == a / b && shim_modti3(a, b) == a % b);
        }
    }
}

int main(void) {
    test_signed();
    test_fma();
    test_scaling();
    test_integers();
    test_printing();
    test_spans();
    test_copies();
    test_sorting();
    test_memory();
    return test_done();
}

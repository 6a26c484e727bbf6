/* What every room may use: memory, errors, diagnostics, text, hashing. No thread, mmap or dlopen is
 * needed (wasm32).
 * Must not know: instructions, programs, devices. */
#ifndef HG_BASE_BASE_H
#define HG_BASE_BASE_H

#include "base/fp.h"

#include <hologram/status.h>
#include <hologram/type.h>
#include <hologram/diagnostics.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* HG_MAX_<ID> of limits.def. */
enum {
#define HG_LIMIT(id, value, what) HG_MAX_##id = (value),
#define HG_LIMIT64(id, value, what)
#include <hologram/limits.def>
#undef HG_LIMIT
#undef HG_LIMIT64
};
#define HG_LIMIT(id, value, what)
#define HG_LIMIT64(id, value, what) static const uint64_t HG_MAX_##id = (value);
#include <hologram/limits.def>
#undef HG_LIMIT
#undef HG_LIMIT64

#define HG_TRY(expr)                                      \
    do {                                                  \
        hg_status hg_try_status = (expr);                 \
        if (hg_try_status != HG_OK) return hg_try_status; \
    } while (0)
/* A call whose failure changes nothing for the caller. A comment says why. */
#define HG_IGNORE(expr) ((void)!(expr))
#define HG_COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- memory (alloc.c): every byte goes through the hooks of hg_set_allocator ---- */
void *hg_alloc(size_t size) HG_NODISCARD; /* NULL when out of memory; size 0 gives a unique pointer
                                           */
void *hg_calloc(size_t count, size_t size) HG_NODISCARD;  /* zeroed; NULL on overflow of the product
                                                             too. Pages are not touched */
void *hg_realloc(void *memory, size_t size) HG_NODISCARD; /* on NULL the old block stays */
void *hg_alloc_aligned(size_t size, size_t alignment) HG_NODISCARD;  /* a power of two; freed with
                                                                        hg_free_aligned */
void *hg_calloc_aligned(size_t size, size_t alignment) HG_NODISCARD; /* the same, zeroed as
                                                                        hg_calloc does it */
/* Another size for a block of hg_alloc_aligned, the first `kept` bytes stay; large ones move
 * without a copy. On NULL the old block stays. */
void *hg_realloc_aligned(void *memory, size_t kept, size_t size, size_t alignment) HG_NODISCARD;
void hg_free(void *memory);
void hg_free_aligned(void *memory);
uint8_t hg_uint_of_bytes(uint64_t bytes);                   /* u8, u16, u32 or u64 */
bool hg_mul_u64(uint64_t a, uint64_t b, uint64_t *product); /* false on overflow */
bool hg_add_u64(uint64_t a, uint64_t b, uint64_t *sum);

/* Bump allocator: everything is freed at once. Zero-initialise to make an empty one. Not
 * thread-safe. */
typedef struct hg_arena {
    struct hg_arena_chunk *chunk;
    size_t used, capacity; /* of the current chunk */
    bool failed;           /* an allocation failed since init: sticky */
} hg_arena;
void *hg_arena_alloc(hg_arena *arena, size_t size) HG_NODISCARD; /* zeroed, aligned to 16; NULL when
                                                                    out of memory */
char *hg_arena_text(hg_arena *arena, const char *text, size_t length) HG_NODISCARD; /* copy with a
                                                                                       final NUL */
void hg_arena_free(hg_arena *arena);

/* Growable array of any element type: HG_VEC(int) v = {0}; HG_TRY_PUSH-style use through
 * hg_vec_push. */
#define HG_VEC(T)                 \
    struct {                      \
        T *data;                  \
        uint64_t count, capacity; \
    }
/* Pointer to a new zeroed last element, NULL when out of memory. */
#define hg_vec_push(v)                                                                   \
    ((HG_TYPEOF((v)->data))hg_vec_last((void **)&(v)->data, &(v)->count, &(v)->capacity, \
                                       sizeof *(v)->data))
#define hg_vec_free(v) (hg_free((v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)
bool hg_vec_grow(void **data, uint64_t *count, uint64_t *capacity, size_t element);  /* adds one
                                                                                        zeroed
                                                                                        element */
void *hg_vec_last(void **data, uint64_t *count, uint64_t *capacity, size_t element); /* the same,
                                                                                        and where it
                                                                                        is */

/* ---- text (text.c) ---- */
/* Growable byte string; on out of memory it stays valid, drops the addition and sets failed. */
typedef struct hg_text {
    char *data;
    size_t length, capacity;
    bool failed;
} hg_text;
void hg_text_add(hg_text *text, const char *bytes, size_t length);
void hg_text_addf(hg_text *text, const char *format, ...) HG_PRINTF(2, 3);
void hg_text_free(hg_text *text); /* data is NUL-terminated whenever not NULL */
/* Decimal digits that the text begins with: how many. 0: none, or a number beyond 64 bits; *value
 * stays then. */
size_t hg_read_digits(const char *text, size_t length, uint64_t *value);
/* Bytes as people write them: 1048576, 512M (K, M, G, T are powers of 1,024). False for anything
 * else, and for 2^64 and more. */
bool hg_parse_size(const char *text, uint64_t *bytes) HG_NODISCARD;

/* Equal words, in any case of their Latin letters. */
bool hg_same_name(const char *a, const char *b);

/* ---- errors (error.c) ---- */
/* Records status and message as this thread's last error and returns status. Resets all fields that
 * do not apply. */
hg_status hg_fail(hg_status status, const char *format, ...) HG_PRINTF(2, 3);
/* How a message of HG_ERROR_INVALID_BUFFER begins that is about a pool; it stands alone, without
 * the status's own text. */
#define HG_INVALID_POOL "invalid pool handle: "
/* The writable record, for filling in places after hg_fail. */
hg_error *hg_error_record(void);
/* HG_ERROR_INVALID_ARGUMENT: "WHAT is NULL". */
hg_status hg_null_argument(const char *what);
/* HG_ERROR_OUT_OF_MEMORY with a message that needs no allocation. */
hg_status hg_fail_memory(void);

/* ---- diagnostics (diagnostics.c) ---- */
typedef enum hg_severity {
    HG_SEVERITY_ERROR,
    HG_SEVERITY_WARNING,
    HG_SEVERITY_NOTE,
    HG_SEVERITY_FAULT
} hg_severity;
typedef struct hg_place {
    uint32_t line, column, length;
    uint64_t instruction;
    uint32_t operand;
} hg_place; /* 0 / HG_NONE: unknown */
/* Of a place that is not, or not only, one of the source itself. */
typedef struct hg_origin {
    const char *file; /* NULL: the source */
    const char *text; /* the line of that file; NULL: unknown */
    size_t text_length;
    const char *expansion; /* "in macro 'm', used at 12:5"; NULL: no expansion */
    uint32_t line, column; /* of the source, from where the file was included; else the place itself
                            */
} hg_origin;
/* Adds one; d may be NULL (dropped). Code is "V03". Hint may be NULL. Beyond the maximum of errors
 * only the count grows. */
void hg_diagnose(hg_diagnostics *d, hg_severity severity, const char *code, hg_place place,
                 const char *hint, const char *format, ...) HG_PRINTF(6, 7);
/* The same with an origin; NULL: the source itself. */
void hg_diagnose_from(hg_diagnostics *d, hg_severity severity, const char *code, hg_place place,
                      const hg_origin *origin, const char *hint, const char *format, ...)
    HG_PRINTF(7, 8);
/* A fault of one lane. `where` is the whole second line, "in instruction 4 (…), lane 3 (…), operand
 * 2"; NULL: made from place and lane. */
void hg_diagnose_fault(hg_diagnostics *d, const char *code, hg_place place, uint64_t lane,
                       const char *where, const char *format, ...) HG_PRINTF(6, 7);
/* hg_diagnostics_print; for a place without a line, instruction_text appends the instruction's
 * canonical text (false: unknown). */
char *hg_diagnostics_print_with(const hg_diagnostics *d, const char *file, const char *source,
                                size_t source_length,
                                bool (*instruction_text)(void *user, uint64_t index, hg_text *out),
                                void *user);

/* ---- BLAKE3 (blake3.c), written from the BLAKE3 paper, section 2 ---- */
typedef struct hg_blake3 {
    uint32_t chaining[8], stack[54][8];
    uint8_t block[64];
    uint64_t chunk;
    uint32_t block_length, blocks_compressed, stack_length;
} hg_blake3;
void hg_blake3_init(hg_blake3 *h);
void hg_blake3_update(hg_blake3 *h, const void *bytes, size_t length);
void hg_blake3_final(const hg_blake3 *h, uint8_t out[32]);

#endif

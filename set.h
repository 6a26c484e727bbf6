/* Written by `hologram build`: kernels of open0, open1, open2. For gcc 12 or clang 14 and later, on machines of 64 bits;
 * link with -lm. */
#ifndef SET_H
#define SET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The lanes of a call. A function that gets NULL runs the lanes that its program asks for. */
typedef struct set_launch {
    uint64_t lanes;              /* of the whole launch */
    uint64_t begin, end;         /* this call runs those from begin to end - 1 */
    uint32_t grid[3], block[3];  /* how they are numbered; 0: as many blocks as it takes, the block of the program or 256 lanes */
    const int *stop;             /* NULL, or a number that another thread makes other than 0 to end the call */
} set_launch;

/* All lanes of a launch of so many. */
static inline set_launch set_lanes(uint64_t lanes) {
    const set_launch launch = {lanes, 0, lanes, {0, 0, 0}, {0, 0, 0}, 0};
    return launch;
}
/* Some of them, so that threads can share a launch. Threads may run parts of one launch at the same time. Lanes from begin to end - 1. */
static inline set_launch set_part(uint64_t lanes, uint64_t begin, uint64_t end) {
    const set_launch launch = {lanes, begin, end, {0, 0, 0}, {0, 0, 0}, 0};
    return launch;
}
/* All lanes of a grid of blocks. */
static inline set_launch set_grid(uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                      uint32_t block_z) {
    const uint64_t lanes = (uint64_t)grid_x * grid_y * grid_z * block_x * block_y * block_z;
    const set_launch launch = {lanes, 0, lanes, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, 0};
    return launch;
}

/* What functions return. A positive number is the fault of a lane; memory that was written before it stays written. */
enum {
    SET_OK = 0,
    SET_BOUNDS = 1,      /* F01: an access outside of a buffer */
    SET_DIVISION = 2,    /* F02: an integer divided by 0 */
    SET_HANDLE = 3,      /* F03: a buffer that is NULL, or none of the call's */
    SET_ALIGNMENT = 4,   /* F04: an atomic operation at an address that is no multiple of its size */
    SET_DOMAIN = 5,      /* F05: an operand that an instruction does not take */
    SET_BARRIER = 6,     /* F06: lanes of a block that wait at different barriers */
    SET_BAD_LAUNCH = -1, /* no launch: what is wrong says the message */
    SET_STOPPED = -2     /* by set_launch.stop */
};

/* The fault of the lowest lane that has one. */
typedef struct set_fault {
    int code;             /* what the function returned */
    uint32_t instruction; /* of the program, from 0 */
    uint32_t operand;     /* of the instruction, from 1; 0: none */
    uint64_t lane;
    char message[160]; /* the words of `hologram run` */
} set_fault;

/* 0, or what is wrong with how this file was compiled or with the CPU: call it once in a test of your own. The words for a result are
 * set_problem's. */
enum {
    SET_CONTRACTS = 1,    /* a product and a sum became one operation: gcc and clang, compile without -ffp-contract=fast */
    SET_FLUSHES = 2,      /* subnormal numbers become 0: this CPU has a mode for that which functions do not know */
    SET_REORDERS = 3,     /* sums are computed in another order: -ffast-math or a part of it */
    SET_ROUNDS = 4,       /* results are not rounded to nearest, or are more precise than their type */
    SET_IGNORES_NAN = 5   /* comparisons with NaN are taken for what they are not: -ffinite-math-only */
};
int set_check(void);
const char *set_problem(int check);

/* The vectors that functions use: "baseline" (16 bytes), "neon", "v3" (AVX2), "v4" (AVX-512). The best that the machine has, unless a test
 * says otherwise: set_use_level returns 0, or 1 where there is no such level here. NULL: the best again. */
const char *set_level(void);
int set_use_level(const char *level);

/* What follows is thread-safe and keeps nothing. It computes to nearest, with subnormal numbers and without traps, whatever the calling thread's
 * floating-point mode is, and leaves mode and flags as they were. A buffer is a pointer and its size in bytes; lanes that reach outside
 * of it fault. Buffers may overlap only where they are read. `fault` may be NULL. */

/* Program open0.
 *   output       f32, written
 *   input        f32, read
 *   gamma        f32, read
 *   size0        u64
 *   size1        u64
 *   work         set_open0_work_bytes(…) bytes, for the time of the call
 * Lanes where launch is NULL: 1.
 * It runs all lanes: it is more than one kernel. */
int set_open0(const set_launch *launch, float *output, size_t output_bytes, const float *input, size_t input_bytes, const float *gamma, size_t gamma_bytes, uint64_t size0, uint64_t size1, void *work, size_t work_bytes, set_fault *fault);
size_t set_open0_work_bytes(const set_launch *launch, uint64_t size0, uint64_t size1);

/* Program open1.
 *   output       f32, written
 *   input        f32, read
 *   size0        u64
 *   size1        u64
 *   size2        u64
 *   size3        u64
 *   size4        u64
 *   size5        u64
 *   size6        u64
 *   size7        u64
 *   size8        u64
 *   work         set_open1_work_bytes(…) bytes, for the time of the call
 * Lanes where launch is NULL: 1.
 * It runs all lanes: it is more than one kernel. */
int set_open1(const set_launch *launch, float *output, size_t output_bytes, const float *input, size_t input_bytes, uint64_t size0, uint64_t size1, uint64_t size2, uint64_t size3, uint64_t size4, uint64_t size5, uint64_t size6, uint64_t size7, uint64_t size8, void *work, size_t work_bytes, set_fault *fault);
size_t set_open1_work_bytes(const set_launch *launch, uint64_t size0, uint64_t size1, uint64_t size2, uint64_t size3, uint64_t size4, uint64_t size5, uint64_t size6, uint64_t size7, uint64_t size8);

/* Program open2.
 *   output       f16, written
 *   input        f16, read
 *   size0        u64
 *   size1        u64
 *   size2        u64
 *   size3        u64
 *   size4        u64
 *   size5        u64
 *   size6        u64
 *   size7        u64
 *   size8        u64
 *   size9        u64
 *   work         set_open2_work_bytes(…) bytes, for the time of the call
 * Lanes where launch is NULL: 1.
 * It runs all lanes: it is more than one kernel. */
int set_open2(const set_launch *launch, uint16_t *output, size_t output_bytes, const uint16_t *input, size_t input_bytes, uint64_t size0, uint64_t size1, uint64_t size2, uint64_t size3, uint64_t size4, uint64_t size5, uint64_t size6, uint64_t size7, uint64_t size8, uint64_t size9, void *work, size_t work_bytes, set_fault *fault);
size_t set_open2_work_bytes(const set_launch *launch, uint64_t size0, uint64_t size1, uint64_t size2, uint64_t size3, uint64_t size4, uint64_t size5, uint64_t size6, uint64_t size7, uint64_t size8, uint64_t size9);

#ifdef __cplusplus
}
#endif

#endif

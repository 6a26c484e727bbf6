/* Tile code and the frames it runs in. Shared by the files of this room only. */
#ifndef HG_TILE_TILE_INTERNAL_H
#define HG_TILE_TILE_INTERNAL_H

#include "kir/analysis/lanes.h"
#include "base/thread.h"
#include "tile/handlers.h"
#include "tile/tile.h"
#include <stdatomic.h>

enum {
    TILE_NONE = 0x7FFFFFFF, /* no register, no target */
    TILE_MAX_WIDTH = 512,   /* lanes of a tile */
    TILE_MIN_WIDTH = 8,
    TILE_BUDGET = 24 * 1024, /* bytes of live values in a tile: half of a small first-level cache */
    TILE_ARRAY_BUDGET = 256 * 1024, /* with private arrays: a small second-level cache */
    TILE_CELL = 8,                  /* bytes of a scalar */
    TILE_FRAME_CACHE = 64,          /* frames kept by a kernel */
    TILE_FUEL = 1 << 16 /* lanes and instructions of loops and calls between looks at the clock */
};

/* ---- code ---- */

typedef enum tile_kind {
    TILE_RUN,        /* run(d, a, b, c, n) */
    TILE_RUN_ONE,    /* run(d, a, b, c, 1) */
    TILE_SPLAT,      /* vector d = scalar a; size bytes */
    TILE_IOTA,       /* vector d[i] = a + i * imm; size bytes */
    TILE_ID,         /* vector d of coordinate imm; size bytes */
    TILE_LESS,       /* bools d[i] = a + i * imm < b, imm > 0, without wrap; size bytes */
    TILE_MORE,       /* bools d[i] = b < a + i * imm */
    TILE_COPY,       /* d = a where active */
    TILE_COPY_ONE,   /* cell d = cell a */
    TILE_COPY_SPLAT, /* d = scalar a where active */
    TILE_COPY_ALL,   /* d = a in all lanes */
    TILE_SWAP,       /* d = a where active, a is not needed any more */
    TILE_FIRST,      /* cell d = vector a in the first active lane */
    TILE_ARRAY_GET,
    TILE_ARRAY_GET_ONE, /* d = array a [ b ]: b a vector, a scalar */
    TILE_ARRAY_SET,
    TILE_ARRAY_SET_ONE, /* array a [ b ] = c where active */
    TILE_ARRAY_ZERO,    /* array a, imm elements */
    TILE_ARRAY_BIND,    /* array register d names a's */
    TILE_TABLE,
    TILE_TABLE_ONE, /* d = table[b] */
    TILE_JOIN,
    TILE_JOIN_ONE, /* u64 d = u32 a | u32 b << 32 */
    TILE_LOAD,
    TILE_STORE,
    TILE_CHECK,
    TILE_ATOMIC,
    TILE_FENCE,
    TILE_BARRIER,
    TILE_TRACE, /* tells the debugger u.traced, of a: b a scalar; of a place: size: private memory
                   is array c, 0: there is none */
    TILE_FAULT_IF,
    TILE_IF,     /* masks: mask split by vector a into b (then) and c (else); none in b: jump */
    TILE_ELSE,   /* none in mask c: jump */
    TILE_END_IF, /* mask = b | c */
    TILE_JUMP,
    TILE_JUMP_UNLESS /* scalar a */,
    TILE_LOOP,     /* mask enters a loop with masks b (body), c (broken out), d (continuing) */
    TILE_END_LOOP, /* b |= d; any: jump back; else mask = c */
    TILE_BACK,     /* jump back while mask has lanes */
    TILE_BREAK,    /* mask moves into mask b (of break, continue, return), or ends (b none); jump */
    TILE_WIDE,     /* wide(array d, array a, array b) where active, c limbs */
    TILE_CALL,     /* mask enters function imm with masks b (body), c (returned) */
    TILE_END_CALL, /* mask = c */
    TILE_RETURN,   /* end of a function: masks b joins c; back to the caller */
    TILE_END
} tile_kind;

typedef struct tile_access tile_access;

/* As of the kernel IR. */
typedef struct tile_traced {
    uint8_t what, number, part, atlas_type;
} tile_traced;

/* A number in the text of a fault: 8 bytes, or two halves of 4 (low first). */
typedef struct tile_fault_value {
    uint8_t size; /* 0: none */
    bool one[2];  /* the same for all lanes */
    uint32_t reg[2];
} tile_fault_value;

typedef struct tile_insn {
    uint8_t kind, size;
    uint8_t bounded;
    uint8_t operands; /* RUN, RUN_ONE: how many of a, b, c */
    uint32_t mask;
    uint32_t d, a, b, c;
    uint32_t target;
    uint32_t inst; /* source instruction + 1 */
    tile_fn *run;
    union {
        uint64_t imm;
        tile_wide_fn *wide;
        const kir_value *unused;
        const uint8_t *table;
        tile_access *access;
        const char *message;
        tile_traced traced;
    } u;
    const tile_fault_value *values; /* FAULT_IF: KIR_FAULT_VALUES of them, or NULL */
} tile_insn;

/* Where a memory operation reads a number of each lane. */
typedef struct tile_operand {
    uint8_t form; /* kir_lane_form */
    uint32_t reg;
    int64_t stride; /* AFFINE: from one lane to the next */
} tile_operand;

/* A memory operation. */
struct tile_access {
    uint8_t op; /* kir_op: LOAD STORE CHECK ATOMIC */
    uint8_t unchecked, atomic;
    uint8_t bytes;      /* moved */
    uint8_t value_size; /* of the value's type */
    uint8_t has_index;
    uint8_t one;    /* LOAD whose result is a scalar */
    uint16_t scale; /* bytes that the index counts */
    struct {
        uint8_t space, pool, class_id;
        int16_t slot; /* KIR_OPEN: through handle */
    } where;
    struct {
        uint16_t size; /* checked, and named in faults */
        uint8_t operand;
        uint32_t inst;
    } fault;
    tile_operand handle, index, value, second; /* handle: only when open */
    uint32_t result;                           /* register */
    struct {
        bool once;     /* STORE: of one pass, to memory that is not read before */
        bool combines; /* ATOMIC: kir_combines */
        bool direct;   /* LOAD: the result may point into the memory; register result + 1 is where
                          it goes otherwise */
    } may;
    uint32_t high; /* ATOMIC: variable of the old value's high half, or none */
    int64_t disp;
    uint64_t constant_handle;
    uint32_t handle_input; /* of a direct slot, for the text of an invalid handle; TILE_NONE:
                              constant_handle */
};

typedef enum tile_register_kind {
    TILE_REGISTER_CELL, /* a scalar */
    TILE_REGISTER_CONST,
    TILE_REGISTER_INPUT,
    TILE_REGISTER_ID,
    TILE_REGISTER_VECTOR,
    TILE_REGISTER_SPLAT, /* a constant in every lane */
    TILE_REGISTER_ARRAY,
    TILE_REGISTER_BOUND,  /* an array of a caller */
    TILE_REGISTER_DIRECT, /* a pointer to loaded elements; the next register is their place when
                         they had to be copied */
    TILE_REGISTER_SPARE
} tile_register_kind;

typedef struct tile_register {
    uint8_t kind, size; /* element bytes */
    uint32_t length;    /* arrays: elements */
    uint64_t offset;    /* arrays: bytes a lane before it */
    uint64_t imm;       /* constant, input index (and part << 32), idname */
} tile_register;

/* A slot that the kernel only combines numbers into (kir_find_combined). */
typedef struct tile_combined {
    uint32_t slot;
    uint8_t atomic, bytes;
} tile_combined;

/* Code in turns of one lane beside that in turns of many, and which of them is faster for the lanes
 * that come: native.c. Atomic, but for `code`, which does not change once `now` is there. */
typedef struct tile_alone {
    const tile_native *now; /* NULL: there is none, or not yet */
    tile_native code;
    bool chosen;
    uint32_t tried, rest; /* pieces of this trial; lanes until the next */
    uint32_t trials;      /* whose lanes those were, at first */
    uint32_t least[2];    /* ns of 1,024 lanes: of turns of many, of one */
} tile_alone;

struct tile_kernel {
    hg_arena arena;
    const tile_handlers *handlers;
    tile_options options;
    bool block_mode; /* tile = whole block: barriers, shared memory */
    bool has_loop;
    bool quiet; /* it cannot fault, wait or run for ever, and knows only memory that slots name */
    uint32_t width;                     /* lanes of a tile when not block_mode */
    uint32_t input_count, memory_count; /* of the module; memory: its slots */
    struct {
        const tile_native *now; /* NULL: the interpreter's code runs. Atomic; it is code, once that
                                   is filled in */
        tile_native code;
        bool taken;             /* code is filled in, but for a `run` that has not arrived */
        struct tile_heat *heat; /* NULL: nobody wants to know */
        /* Of launches of it on one thread, until a few were timed, and again from a long one on:
         * the least time of 1,024 lanes, and how many there were. Atomic. */
        uint32_t lanes_ns, timed;
        tile_alone alone;
    } native;
    struct {
        tile_insn *insns;
        uint32_t count;
        uint32_t function_work; /* of functions, in instructions: what they take more than one */
        uint32_t function_count;
        uint32_t *entries; /* of functions */
        uint32_t mask_count;
        uint32_t body_mask; /* of the kernel */
    } code;
    struct {
        tile_register *registers;
        uint32_t register_count;
        uint64_t lane_bytes; /* of vectors and arrays, for one lane */
        uint64_t array_bytes;
        uint32_t *launch_cells, *tile_cells; /* registers that a launch, a tile fills in */
        uint32_t launch_cell_count, tile_cell_count;
        _Atomic(struct tile_frame *) cache[TILE_FRAME_CACHE];
    } frame; /* what its frames have */
    struct {
        struct tile_combined *slots;
        uint32_t count;
    } combined; /* memory that numbers are only combined into */
    struct {
        bool library; /* of a library program: a store that changes no byte of a buffer is no race
                         (keeps_bytes) */
        const char **names; /* options.check_races: of the parameters that the module's slots come
                               from, NULL where there is none */
        uint32_t name_count;
    } races;
};

/* ---- running ---- */

/* bytes are only valid while 0 < count < n; count n: all lanes, 0: none. */
typedef struct tile_mask {
    uint32_t count;
    uint8_t *bytes;
} tile_mask;

typedef struct tile_run_state {
    const tile_kernel *kernel;
    const tile_launch *launch;
    uint64_t block_lanes, blocks; /* lanes of a block */
    uint64_t dims[6];             /* bx by bz gx gy gz */
    _Atomic uint64_t best_lane;   /* lowest lane with a fault in phase 0 */
    _Atomic int stop;             /* 1: timeout, 2: cancelled, 3: out of memory */
    tile_fault *fault;            /* the launch's */
    struct tile_races *races;
    struct tile_owns *owns; /* NULL: none */
} tile_run_state;
/* A lane of wide integers that takes microseconds and more: threads share few of them. */
enum { TILE_HEAVY_LANES = 8 };
static inline bool tile_is_heavy(const tile_kernel *k) { return k->code.function_work >= 1 << 16; }

/* Operations of one lane whose loops do not look at the time; 0: they do. */
static inline uint64_t tile_work_of_lane(const tile_run_state *s) {
    return s->launch->lanes ? s->launch->operations / s->launch->lanes : 0;
}

typedef struct tile_resolved {
    uint64_t handle;
    uint8_t pool, flat, used;
    tile_memory memory;
} tile_resolved;

/* Memory as one thread of a launch sees it. */
typedef struct tile_own {
    const tile_memory *slots;
    const int64_t *spread; /* a slot of copies of its own: bytes from one to the next of
                              TILE_COPIES, 0: there is one; -1: it is the launch's */
} tile_own;
enum { TILE_COPIES = 8 };

typedef struct tile_frame {
    const tile_kernel *kernel;
    tile_run_state *state;
    const tile_own *own; /* NULL: all memory is the launch's */
    uint32_t width;      /* lanes it has room for */
    uint32_t n;          /* lanes of this tile */
    uint64_t lane0;      /* global id of lane 0 */
    uint64_t phase;
    uint8_t **reg;
    tile_mask *mask;
    uint32_t *returns;     /* program counters, one a function */
    uint8_t *ones, *zeros; /* width bytes of 1, of 0 */
    struct {
        uint8_t *bytes; /* of the block at work: own, or the launch's */
        uint8_t *own;
        uint64_t size, capacity;
    } shared;
    int64_t fuel;
    struct {
        tile_fault best; /* of this frame since it was taken */
        bool in_block;   /* a lane of this block faulted */
    } faults;
    struct {
        tile_resolved entries[4];
        uint32_t next;
    } resolved;
    uint8_t *scratch, *bad; /* width * 8 bytes, width bytes */
    struct {
        void *bytes;
        uint64_t capacity;
    } kept; /* of native code, for a block */
    void *memory;
} tile_frame;

/* ---- between files ---- */
/* frame.c */
tile_frame *tile_frame_take(const tile_kernel *kernel, uint32_t width); /* NULL: out of memory */
void tile_frame_give(tile_frame *frame);
void tile_frame_free(tile_frame *frame);
uint64_t tile_frame_bytes(const tile_kernel *kernel, uint32_t width); /* UINT64_MAX: more than there
                                                                         can be */
bool tile_frame_shared(tile_frame *frame, uint64_t bytes);

/* exec.c: runs the code for the lanes that frame names */
void tile_execute(tile_frame *frame);
/* Of a branch: changes the masks; what comes next. NULL: it is a loop's, or no branch. */
const tile_insn *tile_branch(const tile_frame *frame, const tile_insn *insn);
void tile_border(const tile_insn *insn, uint8_t *const *reg, uint32_t n); /* LESS, MORE */
/* run.c */
void tile_run_watch_forks(void); /* what a launch locks is free in a forked child */
/* Worth waking other threads for: about 20 microseconds. work: of the launch, 0: not said. */
bool tile_run_is_large(const tile_kernel *kernel, uint64_t lanes, uint64_t work);
void tile_run_begin(tile_run_state *state, const tile_kernel *kernel,
                    const tile_launch *launch); /* lanes, blocks; nothing ran yet */
void tile_run_fill(tile_frame *frame, const tile_run_state *state);      /* cells of the launch, */
void tile_run_fill_tile(tile_frame *frame, const tile_run_state *state); /* and of the tile that
                                                                            begins at frame->lane0
                                                                          */
/* native.c: the same by the kernel's native code */
struct hgv_launch;
static inline const tile_native *tile_native_of(const tile_kernel *kernel) {
    return hg_atomic_load(&kernel->native.now, HG_ACQUIRE);
}
void tile_run_native(tile_frame *frame, const tile_native *native);
/* Lanes of a piece that a thread takes; of a call. */
uint32_t tile_native_lanes(const tile_run_state *state, const tile_native *native, bool piece);
bool tile_native_fits(const tile_run_state *state, const tile_native *native); /* whether it is of
                                                                                  use for the
                                                                                  launch's blocks */
void tile_native_launch(const tile_run_state *state, tile_frame *frame,
                        struct hgv_launch *to); /* frame NULL: it cannot fault */
static inline bool tile_takes_native(const tile_kernel *k) {
    return !k->options.check_races && !k->options.debugger && !k->options.poor;
}
/* heat.c: the interpreter has done so much work: instructions of tiles, times their lanes. */
void tile_heat_told(const tile_kernel *kernel, uint64_t work);
static inline void tile_heat_add(const tile_kernel *kernel, uint64_t work) {
    if (HG_UNLIKELY(kernel->native.heat != NULL)) tile_heat_told(kernel, work);
}
/* memory.c */
void tile_access_run(tile_frame *frame, const tile_insn *insn);
/* Where the access of all lanes to a direct slot is when its address is known for the whole tile
 * and within bounds, and the bytes from one lane's element to the next one's. NULL: each lane must
 * be looked at. */
uint8_t *tile_access_known(const tile_frame *frame, const tile_access *access, int64_t *stride);
tile_memory tile_resolve(tile_frame *frame, uint64_t handle, bool pool, bool flat); /* of an open
                                                                                       access */
void tile_id_vector(const tile_frame *frame, uint8_t *d, uint32_t idname, uint8_t size);
/* atomic.c */
uint64_t tile_atomic(uint8_t op, uint8_t bytes, uint8_t *at, uint64_t x, uint64_t y); /* the old
                                                                                         value. op:
                                                                                         kir_atomic;
                                                                                         bytes: 4 or
                                                                                         8 */
void tile_combine(uint8_t op, uint8_t bytes, uint64_t *a, uint64_t x); /* *a = *a op x, of numbers
                                                                          in no memory */
/* Lanes that combine their values with aligned elements of memory: with base + index[i] * scale, or
 * base + i * stride. */
typedef struct tile_updates {
    uint8_t op, bytes;
    bool own, uniform; /* nobody else has the memory; one value for all */
    uint32_t n;
    const uint8_t *active; /* NULL: all */
    const uint8_t *value;
    uint8_t *base;
    const uint64_t *index;  /* NULL: by stride */
    uint64_t scale, spread; /* spread: lane i goes to base + i % TILE_COPIES * spread */
    int64_t stride;
} tile_updates;
void tile_updates_run(const tile_updates *u);
void tile_updates_run_one(const tile_updates *u); /* all at base */
/* own.c */
typedef struct tile_owns tile_owns;
hg_status tile_owns_find(tile_kernel *kernel, const kir_module *module) HG_NODISCARD; /* what to
                                                                                         make copies
                                                                                         of */
/* NULL: none in this launch, which stays until the end. workers: threads that may ask. */
tile_owns *tile_owns_begin(const tile_kernel *kernel, const tile_launch *launch, uint32_t workers);
tile_own *tile_owns_of(tile_owns *owns, uint32_t worker); /* made at the first call; NULL: the
                                                             thread has none */
void tile_owns_end(tile_owns *owns); /* combines them with the memory. NULL is allowed */
/* mask.c */
const uint8_t *tile_mask_bytes(const tile_frame *frame, const tile_mask *mask);
void tile_mask_copy(const tile_frame *frame, tile_mask *to, const tile_mask *from);
void tile_mask_join(const tile_frame *frame, tile_mask *to, const tile_mask *from); /* of disjoint
                                                                                       masks */
void tile_mask_split(const tile_frame *frame, const tile_mask *mask, const uint8_t *cond,
                     tile_mask *yes, tile_mask *no);
/* Removes the lanes where bad[i] is set. */
void tile_mask_remove(const tile_frame *frame, tile_mask *mask, const uint8_t *bad);
uint32_t tile_mask_first(const tile_frame *frame, const tile_mask *mask); /* lowest active lane; 0
                                                                             when there is none */
uint32_t tile_mask_last(const tile_frame *frame, const tile_mask *mask); /* highest active lane; the
                                                                            last one when there is
                                                                            none */
/* debug.c */
void tile_trace(tile_frame *frame, const tile_insn *insn);
/* fault.c */
void tile_fault_message(tile_fault *fault, const char *format, ...) HG_PRINTF(2, 3);
void tile_fault_bounds(tile_fault *fault, bool pool, hg_i128 offset, uint64_t size, uint64_t limit);
bool tile_faults_before(uint64_t phase, uint64_t lane, const tile_fault *than);
tile_fault *tile_fault_lane(tile_frame *frame, uint32_t lane); /* NULL: an earlier one is known;
                                                                  marks the block */
bool tile_out_of_time(tile_frame *frame);                      /* sets state->stop */
const tile_handlers *tile_handlers_of(tile_level level);

/* Code over an unsigned `element` of 1, 2, 4 or 8 bytes. */
#define TILE_BY_SIZE(size, code)  \
    switch (size) {               \
    case 1: {                     \
        typedef uint8_t element;  \
        code                      \
    } break;                      \
    case 2: {                     \
        typedef uint16_t element; \
        code                      \
    } break;                      \
    case 4: {                     \
        typedef uint32_t element; \
        code                      \
    } break;                      \
    default: {                    \
        typedef uint64_t element; \
        code                      \
    } break;                      \
    }

#endif

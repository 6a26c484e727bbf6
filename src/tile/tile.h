/* Tile interpreter: runs a legalised kernel over tiles of lanes with generated SIMD handlers.
 * Must not know: text syntax, drivers, contexts. Requires: kir legalised for tile_caps(). */
#ifndef HG_TILE_TILE_H
#define HG_TILE_TILE_H

#include "base/budget.h"
#include "base/limit.h"
#include "kir/kir.h"

struct hgv_launch;

/* A CPU level's handlers; chosen at run time (HOLOGRAM_CPU_LEVEL through the runtime's configuration). */
typedef enum tile_level {
    TILE_LEVEL_BASELINE,
    TILE_LEVEL_V3,
    TILE_LEVEL_V4,
    TILE_LEVEL_COUNT,
    TILE_LEVEL_BEST = TILE_LEVEL_COUNT
} tile_level;
bool tile_level_available(tile_level level); /* this machine can run it; baseline (SSE2, NEON, simd128 or scalar) always */
tile_level tile_level_best(void);
const char *tile_level_name(tile_level level); /* "baseline" (on AArch64 "neon", on wasm "simd128"), "v3", "v4" */
/* The level of a name ("" is the best that this machine has), whether this machine has it or not. */
hg_status tile_level_find(const char *name, tile_level *level) HG_NODISCARD;

/* What the handlers do natively (all integers, f64, half conversions, about 25 derived functions); poor: SwiftShader's
 * capabilities, no derived functions. Fills *caps. */
void tile_caps(bool poor, kir_caps *caps);

typedef struct tile_kernel tile_kernel; /* immutable code; shared by threads */

/* Kernels of whole-array operations that have no handler, for tile_map and tile_reduce with the same level and poor. Thread-safe. */
typedef struct tile_cache tile_cache;
tile_cache *tile_cache_create(void); /* NULL: out of memory */
void tile_cache_destroy(tile_cache *cache);

/* What a debugger sees of a launch: the lanes lane0 ... lane0 + n - 1, of which those with active[i] have come to this place. */
typedef struct tile_place {
    uint32_t inst; /* source instruction */
    uint64_t lane0;
    uint32_t n;
    const uint8_t *active;
    uint64_t phase;  /* barriers that the block has passed */
    uint8_t *shared; /* of the block; NULL: none */
    uint64_t shared_bytes;
    const uint8_t *own; /* private memory of the lanes, element by element; NULL: none */
    uint32_t own_element, own_width;
    const struct tile_launch *launch;
} tile_place;

/* Where byte `at` of the private memory of lane lane0 + i is. */
static inline const uint8_t *tile_private_byte(const tile_place *p, uint32_t i, uint64_t at) {
    return p->own + (at / p->own_element * p->own_width + i) * p->own_element + at % p->own_element;
}

/* Told of kernels with TRACE operations, one tile after the other: give launches one thread. */
typedef struct tile_debugger {
    void *user;
    /* The instruction comes next. False: the launch ends as one that was cancelled. */
    bool (*point)(void *user, const tile_place *place);
    /* In the active lanes a register (or a predicate) holds elements[i] of `size` bytes now; one: elements[0] in all of them. part: which u64
     * of a wide value. type: hg_type without sign; a predicate: one byte, 0 or 1. */
    void (*value)(void *user, const tile_place *place, bool predicate, uint8_t number, uint8_t type, uint8_t part, const void *elements,
                  uint8_t size, bool one);
} tile_debugger;

typedef struct tile_options {
    tile_level level;
    bool poor;                     /* f32 subnormals are flushed by the handlers (FTZ, DAZ), no native derived functions */
    hg_budget *budget;             /* of what races are found with; NULL: none */
    const tile_debugger *debugger; /* NULL: none */
    bool check_races;              /* record accesses and report races as faults: --check-races */
    uint32_t max_width;            /* lanes of a tile at the most; 0: as many as are good */
    uint32_t max_threads;          /* of tile_map and tile_reduce, as of a launch; kernels do not look */
    tile_cache *cache;             /* of tile_map and tile_reduce; NULL: compile every time */
    hg_limit *limit;               /* the same; NULL: none. Once it is reached their results are of no meaning */
} tile_options;

/* Compiles functions[0] of a legalised module. Requires kir_provenance (before legalisation) and kir_find_uniformity of the module for speed,
 * and slots for direct accesses. The module is not kept; its ids, counts of uses and scratch pointers are written: one compilation
 * of a module at a time. HG_ERROR_OUT_OF_MEMORY, HG_ERROR_INTERNAL (something was not lowered). */
hg_status tile_compile(const kir_module *module, const tile_options *options, tile_kernel **kernel) HG_NODISCARD;
void tile_kernel_destroy(tile_kernel *kernel);

/* Code of the same kernel that runs turns of neighbouring lanes, for launches in place of the interpreter's (hologram/vector.h). It begins
 * with lane `begin`, a multiple of `lanes`; `destroy` is called with the kernel's end. */
typedef struct tile_native {
    void (*run)(struct hgv_launch *launch, uint64_t begin, uint64_t end);
    void (*destroy)(void *user);
    void *user;
    uint32_t lanes; /* of a turn */
    bool
        blocks; /* it begins with a block's first lane, and goes from block to block; for blocks of less than half a turn along x it is no use */
} tile_native;
/* Once a kernel, at any time: launches that are under way go over to it where they begin a piece of work, and so do launches made ready.
 * False: the kernel keeps the interpreter's code, since it is looked at while it runs. Of a kernel with barriers or shared memory each call is a block. */
bool tile_kernel_attach(tile_kernel *kernel, const tile_native *native);
/* Beside code that was attached, code of the same kernel in turns of one lane, once and at any time: both are timed now and then, and lanes go to the
 * one that takes less time for them. False: there is some already. */
bool tile_kernel_attach_alone(tile_kernel *kernel, const tile_native *native);
/* As tile_kernel_attach, for code that is still being made, whose `run` is not known yet: `destroy` is called with the kernel's end, and tile_kernel_arrive
 * may be called before, from where no launch of the kernel is at work on this thread. */
bool tile_kernel_expect(tile_kernel *kernel, const tile_native *native);
void tile_kernel_arrive(tile_kernel *kernel, void (*run)(struct hgv_launch *launch, uint64_t begin, uint64_t end));
/* Who wants to know when native code is worth having, of a kernel that nobody has launched yet. `ask` is called by a thread that launches, at
 * most once when the kernel has become warm (worth a look whether there is code already) and once when it is hot: the interpreter has
 * spent about as much time on it as a compiler would take. */
typedef struct tile_watch {
    void (*ask)(void *user, bool hot);
    void *user;
} tile_watch;
bool tile_kernel_watch(tile_kernel *kernel, const tile_watch *watch); /* false: out of memory, or native code cannot be attached */

/* A buffer or pool as the kernel sees it during one launch. base NULL and size 0 with valid: an empty buffer. */
typedef struct tile_memory {
    uint8_t *base;
    uint64_t size;
    bool valid;
} tile_memory;

/* The first fault in the order (phase, lane, instruction) of this kernel. */
typedef struct tile_fault {
    bool happened;
    uint8_t code; /* kir_fault or kir_launch_fault */
    uint8_t operand;
    uint32_t inst;       /* source instruction */
    uint32_t other_inst; /* of a race: that of the lane which came first */
    uint64_t phase, lane;
    char message[160];      /* as semantics 8.6, without "Execution failed: " */
    uint64_t offset, limit; /* bounds faults */
} tile_fault;

typedef struct tile_launch {
    uint32_t grid[3], block[3];
    uint64_t lanes;           /* exact number of lanes that start, <= grid · block */
    uint64_t shared_bytes;    /* a block's, */
    uint64_t shared_scratch;  /* and how many of them at the end the program does not see */
    uint8_t *shared_memory;   /* NULL: zeroed for each block; else shared_bytes a block, block after block, used as they are: what a
                                    program of several kernels left there */
    const uint64_t *inputs;   /* one an input of the module (module->inputs order), zero-extended; wide values have an input a limb */
    const tile_memory *slots; /* one a slot of the module (module->slots order) */
    tile_memory
        class_memory; /* 1,179,648 bytes, or valid = false when untouched so far (the runtime allocates before a launch that uses it) */
    /* open accesses: finds buffer (pool false) or pool (pool true) by its full handle; flat: by index only. Thread-safe, returns valid = false when unknown. May be NULL when !has_open. */
    tile_memory (*resolve)(void *user, uint64_t handle, bool pool, bool flat);
    void *resolve_user;
    uint64_t deadline_ns;       /* monotonic clock of base/thread.h; 0: none */
    uint64_t timeout_ms;        /* for the message "timeout after N ms" */
    const volatile int *cancel; /* non-zero: stop soon; may be NULL */
    uint32_t max_threads;       /* 0: all of the pool, 1: only the caller */
    uint64_t operations;        /* of native code whose loops do not look at the time: at most so many, of all lanes; 0: its loops do */
    uint64_t work;              /* about how many operations its lanes do together; 0: as many as the kernel is long, for each */
} tile_launch;

/* Runs all lanes. HG_OK even when a fault happened (see *fault); HG_ERROR_OUT_OF_MEMORY. Thread-safe for one kernel. */
hg_status tile_run(const tile_kernel *kernel, const tile_launch *launch, tile_fault *fault) HG_NODISCARD;
/* The fault of what a limit has ended. */
void tile_fault_of_limit(const hg_limit *limit, tile_fault *fault);

/* Work that is a list of handlers on known addresses: a launch of one tile of a kernel without loops whose branches do not depend on memory and whose accesses are all within
 * bounds; native code of a kernel that always ends and reads and writes nothing but slots; or a map. It cannot fault. What it does is what
 * tile_run and tile_map do; whatever is not such work gives NULL, and so does want of memory. */
typedef struct tile_prepared tile_prepared;
/* The kernel and the memory of the slots stay until the end; nothing else of the launch does. */
tile_prepared *tile_prepare(const tile_kernel *kernel, const tile_launch *launch);
tile_prepared *tile_map_prepare(const tile_options *options, uint16_t fn, hg_type type, uint64_t n, uint8_t *out, const uint8_t *const *in,
                                uint8_t nin);
/* By one thread at a time. HG_ERROR_OUT_OF_MEMORY: of what lanes of large blocks keep from barrier to barrier. */
hg_status tile_prepared_run(tile_prepared *prepared) HG_NODISCARD;
void tile_prepared_destroy(tile_prepared *prepared);
/* Of a launch that does not run: its slots are these from now on, as large as those before, identical or apart as they were. False: other
 * memory needs other work. */
bool tile_prepared_move(tile_prepared *prepared, const tile_memory *slots, uint32_t count);

/* Whole-array steps straight on memory, the same handlers (bits equal to lane programs). fn: hg_op or KIR_FN_*; type: hg_type.
 * n elements; out may equal an input exactly (in place), other overlap is handled by the caller. Uses the thread pool.
 * Types and functions without a native handler (wide integers, poor mode) run as a small compiled kernel inside. */
hg_status tile_map(const tile_options *options, uint16_t fn, hg_type type, uint64_t n, uint8_t *out, const uint8_t *const *in, uint8_t nin,
                   tile_fault *fault) HG_NODISCARD;
/* The fixed tree of semantics 0.3. op: HG_OP_ADD, MIN, MAX, MUL. result: size(type) bytes. */
hg_status tile_reduce(const tile_options *options, hg_op op, hg_type type, uint64_t n, const uint8_t *in, uint8_t *result) HG_NODISCARD;
/* The same tree over arrays: out[i] = in[0][i], in[1][i], … combined, halves in f32 and rounded once. n elements each, aligned to the type (at most
 * 8 bytes). op: of two operands. out may equal one of the inputs exactly. On the calling thread. */
hg_status tile_fold_arrays(const tile_options *options, hg_op op, hg_type type, const uint8_t *const *in, uint32_t arrays, uint64_t n,
                    uint8_t *out) HG_NODISCARD;

#endif

/* Inside the printer of the vector form as WebAssembly. */
#ifndef HG_EMIT_EMIT_WASM_INTERNAL_H
#define HG_EMIT_EMIT_WASM_INTERNAL_H

#include "emit/wasm_module.h"
#include "vector/vector.h"

enum { WA_BYTES = 16 /* of a vector */ };

/* hgv_launch, hgv_memory and hgv_site (include/hologram/vector.h) as clang lays them out for
 * wasm32; src/native/wasm.c asserts it. */
enum {
    WA_LAUNCH_INPUTS = 0,
    WA_LAUNCH_SLOTS = 4,
    WA_LAUNCH_CLASS = 8,
    WA_LAUNCH_LANES = 32,
    WA_LAUNCH_GRID = 40,
    WA_LAUNCH_BLOCK = 52,
    WA_LAUNCH_FAULT = 64,
    WA_LAUNCH_RESOLVE = 68,
    WA_LAUNCH_GO_ON = 72,
    WA_LAUNCH_FUEL = 80,
    WA_LAUNCH_STOPPED = 88,
    WA_LAUNCH_SHARED = 104,
    WA_LAUNCH_SHARED_STEP = 128,
    WA_LAUNCH_SHARED_VISIBLE = 136,
    WA_LAUNCH_PHASE = 144,
    WA_LAUNCH_FAULTED = 152,
    WA_LAUNCH_WIDE = 156,
    WA_LAUNCH_MEMORY = 164,
    WA_LAUNCH_BYTES = 168,
    WA_MEMORY_SIZE = 8,
    WA_MEMORY_VALID = 16,
    WA_MEMORY_BYTES = 24,
    WA_SITE_CODE = 0,
    WA_SITE_POOL = 2,
    WA_SITE_BYTES_OF_ACCESS = 8,
    WA_SITE_INPUT = 12,
    WA_SITE_MESSAGE = 16,
    WA_SITE_HANDLE = 24,
    WA_SITE_LIMIT = 32,
    WA_SITE_BYTES = 40
};

/* Functions that the module has for its kernels, written when one asks for them. HELPER(id, name,
 * signature) */
#define WA_HELPERS(HELPER)                          \
    HELPER(CHECK, "check", "iiIiIIIII:I")           \
    HELPER(CHECK_OPEN, "check_open", "iiiiIIIII:I") \
    HELPER(FIND, "find", "iIIii:iI")                \
    HELPER(FAULT, "fault", "iiIII:")                \
    HELPER(FUEL, "fuel", "iI:i")                    \
    HELPER(COORDINATE, "coordinate", "iiI:i")       \
    HELPER(MULHI, "mulhi", "II:I")                  \
    HELPER(ATOMIC_4, "atomic_4", "iii:i")           \
    HELPER(ATOMIC_8, "atomic_8", "iiI:I")
typedef enum wa_helper {
#define HELPER(id, name, signature) WA_HELPER_##id,
    WA_HELPERS(HELPER)
#undef HELPER
        WA_HELPER_COUNT
} wa_helper;

/* Of all kernels of a module: numbers of helpers + 1. */
typedef struct wa_module {
    wasm_module m;
    uint32_t helpers[WA_HELPER_COUNT];
    bool written[WA_HELPER_COUNT];
} wa_module;

typedef struct wa_var {
    bool in_memory;
    uint32_t base, offset; /* there: the local with the address that offset is from */
    uint32_t first;        /* else: of its locals in wa_printer.locals */
} wa_var;

/* What functions of a kernel have in memory beside locals: private arrays. */
typedef struct wa_frame {
    uint32_t function; /* number in the module */
    uint32_t at;       /* in the kernel's frame */
} wa_frame;

typedef struct wa_printer {
    wa_module *module;
    wasm_code *c;
    vec_kernel *k;
    const vec_function *f;
    const char *name;
    uint32_t mask_bytes;
    struct {              /* by value id */
        uint8_t *widths;  /* of truth values of lanes */
        uint32_t *at;     /* the first of its locals */
        uint32_t *labels; /* of the block around a loop, that of the loop is the next; of what a
                             RETURN in a TURNS goes to */
        uint64_t *marks;  /* locals that were taken before its regions */
        bool *made;       /* CHECKs that another one asked for */
    } of;
    HG_VEC(uint32_t) locals;
    wa_var *vars, *shared; /* by id */
    struct {
        wa_frame *frames; /* by function id */
        uint32_t *tables; /* by id: in the module's data */
        uint32_t frame_bytes, shared_bytes, kept_bytes;
    } memory;
    struct { /* locals of the function */
        uint32_t launch, frame, shared_at, first, run, ended, begin, end;
        uint32_t over; /* the label behind a turn in which all goes well */
    } l;
    struct {                     /* locals: what memory the slots, classes and the block have */
        uint32_t *bases, *sizes; /* by slot */
        uint32_t class_base, class_size, shared_base, shared_size;
    } m;
    struct { /* locals of the function that runs a block */
        uint32_t block[3], turn[3], number, turns, intact, started, all, kept;
        uint32_t rows[2]; /* lanes of a row of the block, its rows */
    } b;
    bool settled; /* where all goes well */
    bool all_run; /* there, and no lane ends */
    uint32_t in_stretch;
    struct {
        bool open;
        uint32_t label;
        uint32_t loads; /* since it began, or the region */
    } piece;
    const char *unsupported;
} wa_printer;

static inline uint32_t wa_parts(const wa_printer *p, uint32_t size) {
    const uint32_t all = p->k->lanes * size;
    return all < WA_BYTES ? 1 : all / WA_BYTES;
}
static inline uint32_t wa_part_lanes(const wa_printer *p, uint32_t size) {
    return p->k->lanes / wa_parts(p, size);
}
static inline uint64_t wa_all(const wa_printer *p) {
    return p->k->lanes == 64 ? UINT64_MAX : (UINT64_C(1) << p->k->lanes) - 1;
}
static inline bool wa_in_block(const wa_printer *p) {
    return p->k->blocks && p->f == p->k->functions;
}
wasm_type wa_scalar(uint8_t type);
uint32_t wa_size(const wa_printer *p, const vec_value *v); /* bytes of an element */
void wa_add_local(wa_printer *p, wasm_type type);          /* to p->locals */
/* Locals of a value, which is defined behind it. */
void wa_new(wa_printer *p, const vec_value *v);
uint32_t wa_local(const wa_printer *p, const vec_value *v, uint32_t part);

/* All of these push what they say. */
void wa_one(wa_printer *p, const vec_value *v);
void wa_one_64(wa_printer *p, const vec_value *v); /* an integer, extended to 64 bits */
void wa_part(wa_printer *p, const vec_value *v, uint32_t size, uint32_t i);
void wa_lane(wa_printer *p, const vec_value *v, uint32_t lane);         /* of one or each */
void wa_bits(wa_printer *p, const vec_value *mask);                     /* NULL: run */
void wa_lanes(wa_printer *p, uint32_t bits, uint32_t size, uint32_t i); /* bits: a local */
/* A vector of what is on the stack, an element of `size` bytes; a truth value: of its mask. */
void wa_splat(wa_printer *p, uint8_t type, uint32_t size);
void wa_replace(wa_printer *p, uint8_t type, uint32_t size, uint32_t lane);
void wa_call(wa_printer *p, wa_helper helper);
void wa_write_helpers(wa_module *module);
void wa_zero(wa_printer *p, uint8_t type);

/* A variable that is each: part i; one: its value, i is 0. In memory the address comes first. */
void wa_push_var(wa_printer *p, const vec_var *var, uint32_t i);
void wa_begin_set(wa_printer *p, const vec_var *var);
void wa_set_var(wa_printer *p, const vec_var *var, uint32_t i);
uint32_t wa_var_bytes(const wa_printer *p, const vec_var *var); /* of an element */
void wa_load(wa_printer *p, uint8_t type, uint64_t offset); /* one value; the address is there */
void wa_store(wa_printer *p, uint8_t type, uint64_t offset);
wasm_op wa_lane_op(uint32_t size, bool stores);
void wa_load_part(wa_printer *p, uint32_t size, uint64_t offset);
void wa_store_part(wa_printer *p, uint32_t size, uint64_t offset);

uint32_t wa_align(uint32_t bytes);                               /* to vectors */
uint32_t wa_var_memory(const wa_printer *p, const vec_var *var); /* bytes of one in memory */
wa_var *wa_var_of(const wa_printer *p, const vec_var *var);
void wa_zero_part(wa_printer *p);
void wa_fill_zero(wa_printer *p, uint32_t base, uint32_t offset, uint32_t bytes); /* base: a local
                                                                                   */
/* Variables of a function in locals, and arrays in its frame; those that a turn of a block keeps,
 * in its record. */
void wa_place_vars(wa_printer *p, const vec_function *f);
/* Zero as at the start of a turn. turns: those of a TURNS, NULL: of none. locals: those too. */
void wa_clear_vars(wa_printer *p, const vec_value *turns, bool locals);
void wa_leaf(wa_printer *p, const vec_value *v);

/* launch, frame; of masked ones shared, first, run; arrays, parameters: the result, and of masked
 * ones the lanes that ended. */
void wa_signature(const wa_printer *p, const vec_function *f, hg_text *out);
void wa_push_block(wa_printer *p, uint32_t axis); /* the block's extent */
void wa_input(wa_printer *p, const vec_value *v);
void wa_body(wa_printer *p, const vec_region *root);
void wa_leave_settled(wa_printer *p); /* the other text is printed from here on */

/* Operations that are an instruction: of one value i32, i64, f32, f64, of vectors u8, u16, u32,
 * u64, f32, f64. All zero: more than an instruction. */
typedef struct wa_prim_ops {
    wasm_op one[4], vectors[6];
} wa_prim_ops;
extern const wa_prim_ops WA_OPS[KIR_OP_COUNT];
/* The result of a primitive in one lane, or of one value. */
void wa_one_result(wa_printer *p, const vec_value *v, uint32_t lane);
/* Of the two vectors of f32 on the stack: a * b less its rounding, by halves whose products are
 * exact, as hgv_fmul_err of include/hologram/vector.h. That of f64 the kernel IR has by sums. */
void wa_product_error(wa_printer *p);
void wa_literal(wa_printer *p, uint8_t type, uint64_t bits);
void wa_splat_bits(wa_printer *p, uint64_t bits, uint32_t size); /* a constant */
void wa_equal(wa_printer *p, uint32_t size); /* of integers, or of bits of lanes */
/* Words of 64 bits, the first bit turned round: signed comparisons compare unsigned numbers. */
void wa_turn(wa_printer *p);
int wa_log(uint32_t size); /* 0 to 3 */
void wa_extract(wa_printer *p, uint8_t type, uint32_t size, uint32_t lane);
/* Part i of a vector of integers or truth values as elements of `size` bytes. */
void wa_resize(wa_printer *p, const vec_value *v, bool is_signed, uint32_t size, uint32_t i);

bool wa_is_all(const wa_printer *p, const vec_value *mask);
void wa_prim(wa_printer *p, const vec_value *v);
void wa_exchange(wa_printer *p, const vec_value *v);
void wa_slide(wa_printer *p, const vec_value *v);
void wa_pick(wa_printer *p, const vec_value *v);
void wa_memory(wa_printer *p, const vec_value *v);
void wa_end(wa_printer *p, const vec_value *v, uint32_t gone); /* gone: a local */

/* So far the module has no function that is too large for hosts. name: of what it was made for. */
hg_status wa_check_limits(const wasm_module *m, const char *name) HG_NODISCARD;

#endif

/* Kernel IR: typed values, structured control flow, functions, variables, private arrays.
 *
 * A module holds functions; functions[0] is the kernel that every lane runs. A function's body is a
 * region: a list of operations (kir_value), some of which (IF, LOOP) own regions. A value may be
 * used after its definition in the same region and in regions nested there, never outside (joins go
 * through variables). Integers are unsigned bit patterns (signedness is in the operation): i32 and
 * u32 are both HG_TYPE_U32 here. f16 and bf16 are HG_TYPE_U16 bits (op16 = round16(op32(widen))).
 *
 * LOOP repeats its region until a BREAK; falling out of the end of the region repeats it, CONTINUE
 * repeats it at once. BREAK and CONTINUE act on the innermost LOOP. EXIT stops the lane, from any
 * function. Nothing follows BREAK, CONTINUE, EXIT, RETURN in their region.
 *
 * Variables belong to a lane. Those of the module (function NULL) are shared by all functions:
 * Atlas registers that cross calls. There is no recursion, so each variable has one home.
 *
 * Must not know: text syntax, devices, threads. */
#ifndef HG_KIR_KIR_H
#define HG_KIR_KIR_H

#include "base/base.h"
#include "isa/isa.h"

typedef enum kir_op {
#define KIR_OP(id, text, args, result, class, flags) KIR_##id,
#include "kir/prim.def"
#undef KIR_OP
    KIR_OP_COUNT
} kir_op;

/* The columns of prim.def. */
typedef enum kir_op_class {
    KIR_CLASS_INT,
    KIR_CLASS_FLOAT,
    KIR_CLASS_ANY,
    KIR_CLASS_CONVERT,
    KIR_CLASS_DOT,
    KIR_CLASS_MEMORY,
    KIR_CLASS_CONTROL,
    KIR_CLASS_OTHER
} kir_op_class;
typedef enum kir_op_result {
    KIR_RESULT_SAME,
    KIR_RESULT_BOOL,
    KIR_RESULT_GIVEN,
    KIR_RESULT_NONE
} kir_op_result;
enum { KIR_ARGS_ANY = 255 };
enum {
    KIR_F_VALUE = 1, /* a value primitive: of class INT, FLOAT, ANY, CONVERT or DOT */
    KIR_F_COMMUTES = 2,
    KIR_F_CHEAP = 4,
    KIR_F_DIVIDES = 8,
    KIR_F_SHIFTS = 16,
    KIR_F_LOGIC = 32,
    KIR_F_PURE = 64, /* value primitives too */
    KIR_F_EFFECT = 128,
    KIR_F_ACCESS = 256,
    KIR_F_JUMP = 512,
    KIR_F_WORDS = 1024
};
typedef struct kir_op_info {
    const char *text;
    uint16_t flags; /* KIR_F_* */
    uint8_t args;   /* KIR_ARGS_ANY: as many as are given */
    uint8_t result; /* kir_op_result */
    uint8_t class;  /* kir_op_class */
} kir_op_info;
extern const kir_op_info KIR_OPS[KIR_OP_COUNT];
static inline const kir_op_info *kir_op_get(kir_op op) { return &KIR_OPS[op]; }
static inline bool kir_op_has(kir_op op, uint16_t flag) { return (KIR_OPS[op].flags & flag) != 0; }

/* Types of values: F32, F64, U8 … U4096 of hg_type, and these two. */
enum { KIR_BOOL = HG_TYPE_COUNT, KIR_VOID = HG_TYPE_COUNT + 1, KIR_TYPE_COUNT };

typedef struct kir_value kir_value;
typedef struct kir_region {
    kir_value *first, *last;
    kir_value *owner; /* IF or LOOP; NULL: function body */
} kir_region;

typedef enum kir_plan_memory {
    KIR_PLAN_NONE,
    KIR_PLAN_ENV,
    KIR_PLAN_SCRATCH,
    KIR_PLAN_STATE /* atlas/state.h */,
    KIR_PLAN_CHARACTERS /* i128[194·194], then f64[194·194]: atlas/characters.h; read only */,
    KIR_PLAN_UNIFORMS /* the environment as it was when the kernel started; read only: what is
                         loaded is the same in all lanes */
    ,
    KIR_PLAN_MEMORY_COUNT
} kir_plan_memory;
typedef enum kir_space { KIR_BUFFER, KIR_POOL, KIR_SHARED, KIR_CLASS, KIR_FLAT } kir_space;
typedef enum kir_atomic {
    KIR_ATOMIC_ADD,
    KIR_ATOMIC_UMIN,
    KIR_ATOMIC_SMIN,
    KIR_ATOMIC_UMAX,
    KIR_ATOMIC_SMAX,
    KIR_ATOMIC_AND,
    KIR_ATOMIC_OR,
    KIR_ATOMIC_XOR,
    KIR_ATOMIC_EXCH,
    KIR_ATOMIC_CAS
} kir_atomic;
typedef enum kir_uniformity {
    KIR_VARYING, /* also: not analysed */
    KIR_AFFINE,
    KIR_ROW_UNIFORM, /* kir_find_row_uniformity alone: the same along x in a block */
    KIR_BLOCK_UNIFORM,
    KIR_UNIFORM
} kir_uniformity;
typedef enum kir_fault {
    KIR_FAULT_BOUNDS = 1,
    KIR_FAULT_DIVISION = 2,
    KIR_FAULT_HANDLE = 3,
    KIR_FAULT_ALIGN = 4,
    KIR_FAULT_DOMAIN = 5,
    KIR_FAULT_BARRIER = 6,
    KIR_FAULT_STEPS = 7
} kir_fault; /* F01 … F07 */

typedef enum kir_traced {
    KIR_TRACE_POINT,
    KIR_TRACE_REGISTER,
    KIR_TRACE_PREDICATE,
    KIR_TRACED_COUNT
} kir_traced;

enum { KIR_FAULT_VALUES = 2 }; /* that a fault carries for its message, at most */

/* Functions that are definitions over primitives: an hg_op, or one of these (maps without an
 * instruction). */
enum {
    KIR_FN_FIRST = HG_OP_COUNT - 1,
#define KIR_FUNCTION(id, text) KIR_FN_##id,
#include "kir/prim.def"
#undef KIR_FUNCTION
    KIR_FN_COUNT
};

/* What an ID names in device form (kir/device/device.h); in all other modules it is an hg_idname.
 */
typedef enum kir_device_id {
#define KIR_DEVICE_ID(id, text, part, axis) KIR_ID_##id,
#include "kir/prim.def"
#undef KIR_DEVICE_ID
    KIR_DEVICE_ID_COUNT
} kir_device_id;
typedef enum kir_device_part {
    KIR_DEVICE_THREAD,
    KIR_DEVICE_LOCAL,
    KIR_DEVICE_GROUP
} kir_device_part;
kir_device_part kir_device_id_part(kir_device_id id);
uint32_t kir_device_id_axis(kir_device_id id);
kir_device_id kir_device_id_of(kir_device_part part, uint32_t axis);

typedef struct kir_var {
    struct kir_function *function; /* NULL: module (lane) variable */
    struct kir_var *next;
    const char *name; /* "r10", "p0", or NULL */
    uint8_t type;
    uint32_t length;   /* 0: scalar; else a private array of that many elements, zero at start */
    uint32_t id;       /* dense in the module */
    bool by_reference; /* array parameter of a function: names the caller's array while the function
                          runs */
    void *scratch;     /* free for the pass that runs */
} kir_var;

typedef struct kir_table {
    struct kir_table *next;
    uint8_t type;
    uint32_t length;
    const void *data; /* little-endian elements */
    uint32_t id;
    const char *name;
} kir_table;

/* An operation and its result. */
struct kir_value {
    uint8_t op;   /* kir_op */
    uint8_t type; /* of the result; KIR_VOID: none */
    uint8_t nargs;
    uint8_t uniformity; /* kir_uniformity, set by kir_find_uniformity */
    uint32_t id; /* dense in the function, for printing and side tables (kir/side.h); renumbered by
                    kir_number */
    uint32_t inst; /* source instruction + 1; 0: none */
    uint32_t uses; /* set by kir_count_uses */
    kir_value **args;
    kir_value *prev, *next;
    kir_region *parent;
    kir_region *body[2]; /* IF: then, else (never NULL); LOOP: body */
    union {
        /* After legalisation: an INPUT narrower than u32 may be read as u32, zero-extended. An ID
         * of type u64 may be read as two u32 values: imm = hg_idname, and hg_idname | KIR_ID_HIGH
         * for the high half. */
        /* CONST up to 64 bits: zero-extended bits of the type, bool 0 or 1; INPUT, PARAM: index;
         * ID: hg_idname; FENCE: hg_scope; BARRIER: id */
        uint64_t imm;
        const uint8_t *bytes; /* CONST wider than 64 bits: size(type) little-endian bytes */
        kir_var *var; /* VAR_*, ARRAY_* (ARRAY_GET args: index u32; ARRAY_SET: index u32, value) */
        kir_table *table; /* TABLE_GET args: index u32, in range */
        struct {
            struct kir_function *function;
            kir_var **arrays;
        } call; /* CALL: args are the scalar params; arrays one for each array param */
        /* LOAD, STORE, CHECK, ATOMIC. args: [handle u64] (BUFFER, POOL; FLAT: flat address), [index
         * u64] if has_index, then STORE: value; ATOMIC: operand(s) */
        struct {
            uint8_t space; /* kir_space */
            uint8_t bytes; /* in memory: 1 2 4 8 (before legalisation up to 512 as bytes_wide) */
            uint8_t has_index;
            uint8_t split;     /* handle and index are each two u32 args, low first (targets without
                                  64-bit integers) */
            uint8_t unchecked; /* a CHECK or range analysis proved it */
            uint8_t volatile_access; /* device form: the fault record and locks; must really happen
                                      */
            uint8_t uniform;         /* device form, a LOAD that all lanes of a group do together:
                                        kir/device/device.h */
            uint8_t atomic;          /* kir_atomic */
            uint8_t class_id; /* CLASS: base = class·12288, limit 12288; BUFFER: kir_plan_memory,
                                 memory no program can name */
            uint8_t operand;  /* of the instruction, for faults, from 1 */
            uint16_t bytes_wide; /* size of the access as written, for fault texts and CHECK */
            int16_t slot;        /* provenance: index in module->slots, KIR_OPEN */
            int64_t disp;        /* added exactly to the index */
            kir_var *high;       /* ATOMIC of 8 bytes on a target without 64-bit integers (split):
                                operands are pairs of u32, low first       (CAS: expected low, high,
                                desired       low, high), the result is the old value's low half, and this
                                u32       variable       receives the high half */
        } mem;
        struct {
            uint16_t op;        /* hg_op, of those on the lanes of a block */
            uint8_t atlas_type; /* that it is meant in; no half but for SHUFFLE */
            bool exclusive;
            bool whole; /* every lane of the block that started takes part (kir_find_blocks) */
        } block;        /* BLOCK: args: the value; SHUFFLE: and the lane, u64 */
        struct {
            uint16_t fn;
            uint8_t atlas_type;
        } derived; /* DERIVED: KIR_FN_* or hg_op, and the hg_type it is meant in */
        /* FAULT_IF: kir_fault; message static or in the module's arena. args: the condition, then a
           u64 for each {} of the message (two u32, low first, on targets without 64-bit integers)
         */
        struct {
            uint8_t code, operand, values;
            bool axis; /* of an array, which a launch may prove as it does accesses (kir_prove) */
            const char *message;
        } fault;
        struct {
            uint16_t op;
            uint8_t atlas_type;
            const struct kir_step *info;
        } step; /* STEP: hg_op; the args are those of info's operands, all uniform: step.h */
        /* TRACE: what a debugger is told of. POINT: v->inst comes next in the lanes that are here,
         * whose private memory (of the whole module, NULL: none) it sees; no args. REGISTER,
         * PREDICATE: it now holds the argument; of a value wider than 64 bits the argument is its
         * `part`-th u64, 0 the lowest. */
        struct {
            uint8_t what;   /* kir_traced */
            uint8_t number; /* of the register or predicate */
            uint8_t part;
            uint8_t atlas_type; /* of the whole value, without its sign: u8 ... u4096, f32, f64 */
            kir_var *own;
        } trace;
        struct {
            bool bounded, once, rolled, written_out;
            uint64_t rounds; /* at most, where kir_find_rounds found it; 0: unknown */
            uint64_t most;   /* likewise, where its maker knows what nothing shows; 0: not said. Not
                                in the text */
        } loop; /* LOOP: proven short, needs no fuel; once: its region is left at its end at the
                   latest; rolled: a target's compiler had better not write its rounds out;
                   written_out: it had better do so, they are few */
    } u;
    int64_t stride; /* AFFINE: difference between neighbouring lanes, set by kir_find_uniformity */
    uint64_t umin, umax; /* unsigned range, set by kir_find_uniformity */
    void *scratch;       /* free for the pass that runs */
};
enum {
    KIR_BARRIER_INNER = 256, /* BARRIER: of an operation of the block, counts no phase */
    KIR_BLOCK_HEAD = 16      /* bytes in front of the lanes' places */
};
enum {
    KIR_OPEN = -1,
    KIR_ADDRESS = -2 /* device form: args begin with an address */,
    KIR_ID_HIGH = 256
};

typedef struct kir_function {
    struct kir_module *module;
    struct kir_function *next;
    const char *name;
    uint32_t id;
    uint8_t param_count; /* scalar parameters, PARAM(i) */
    uint8_t param_types[16];
    uint8_t array_count; /* array parameters: vars with by_reference */
    kir_var *array_params[8];
    uint8_t result; /* KIR_VOID or a scalar type */
    kir_region *body;
    uint32_t value_count; /* after kir_number */
    bool pure;            /* a definition: no memory, no faults, no module variables */
    bool cold;            /* device form: seldom called, not worth writing in place */
    bool helper;          /* kir_helper made it */
    uint8_t limbs_op;     /* of arrays r, a, b of u64 limbs, equally long: kir_op + 1 of r = a op b,
                             which its body writes out and a target     may do in a way of its own; that
                             of     KIR_DERIVED: r = a ^ b mod c, of r, a, b, c; 0: any other function
                           */
    void *scratch;
} kir_function;

typedef enum kir_input_kind {
    KIR_INPUT_PARAM /* register of the signature */,
    KIR_INPUT_ENV /* plan environment */,
    KIR_INPUT_SHARED /* where the memory that BLOCK needs begins in a block's shared memory, a
                        multiple of 16 */
    ,
    KIR_INPUT_FIELD /* device form: a field of the launch record at byte index */
} kir_input_kind;
/* index: ENV: byte offset in the environment. limb_bytes 0: the whole value (at most 64 bits); else
 * the value is the limb_bytes bytes that start at byte limb · limb_bytes of the little-endian
 * source value (wide types, and halves of u64 on targets without it). */
typedef struct kir_input {
    uint8_t kind, type, reg, limb_bytes;
    uint16_t limb;
    uint32_t index;
    const char *name;
    bool is_buffer, is_pool;
} kir_input;
/* What a slot is: a buffer or pool of the program, or (device form only) memory that the form
 * itself needs. */
typedef enum kir_slot_kind {
    KIR_SLOT_MEMORY,
    KIR_SLOT_CLASS,
    KIR_SLOT_FAULT,
    KIR_SLOT_TABLE,
    KIR_SLOT_LOCKS,
    KIR_SLOT_SHARED,
    KIR_SLOT_ARENA /* handle: which */
} kir_slot_kind;
/* A buffer or pool that memory operations name directly: through an input (handle parameter) or a
 * constant handle. */
typedef struct kir_slot {
    uint8_t space, plan; /* kir_plan_memory */
    uint8_t kind;        /* kir_slot_kind */
    bool constant, read, written;
    bool distinct; /* device form: bytes that the kernel reaches through this slot and writes, it
                      reaches in no other way. What `restrict` promises in C */
    uint32_t input;
    uint64_t handle;
    int32_t base; /* device form: the input that holds its BASE field (u64, or the low half of two
                     u32); -1: offset 0 */
} kir_slot;

/* What passes made of a module so far: kir/pipeline runs the passes whose facts are missing. */
enum {
    KIR_FACT_NONE = 0,
    KIR_FACT_SIMPLE = 1,     /* simplified, and nothing written since */
    KIR_FACT_SLOTS = 2,      /* mem.slot of its accesses, module->slots */
    KIR_FACT_LEGAL = 4,      /* only what the target has */
    KIR_FACT_UNIFORMITY = 8, /* uniformity, stride and range of its values */
    KIR_FACT_DEVICE = 16,    /* device form */
    KIR_FACT_HOISTED = 32    /* what loops do not change stands in front of them */
    /* A new one has a word in kir_fact_words (text.c). */
};

typedef struct kir_module {
    hg_arena arena;
    const char *name;
    uint32_t facts;                          /* KIR_FACT_… */
    kir_function *functions, *last_function; /* functions: the kernel */
    uint32_t function_count;
    kir_var *vars, *last_var; /* all variables, module's and functions' */
    uint32_t var_count;
    kir_table *tables;
    uint32_t table_count;
    HG_VEC(kir_input) inputs;
    HG_VEC(kir_slot) slots; /* set by kir_provenance */
    bool has_open;          /* some access has slot KIR_OPEN */
    bool uses_barrier, uses_shared, uses_class, has_step, relaxed;
    bool unchecked;                   /* kir_build_options */
    const struct hg_program *program; /* for comments and fault texts; may be NULL; borrowed */
    struct hg_program *owned_program; /* released with the module; NULL: none */
    uint64_t made, most; /* operations made in it; builders fail when they are more than most (0: no
                            bound) */
    kir_function **definitions[KIR_FN_COUNT]; /* by type; a row and a function in it are made on
                                                 demand: most kernels need none */
} kir_module;

/* What a target does natively. Everything else is lowered by kir_legalise. */
typedef struct kir_caps {
    bool i8, i16, i64, f64;
    bool fma32, fma64; /* fused and correctly rounded */
    bool mad;          /* FMAD: the target chooses; else a product and a sum */
    bool subnormals;   /* f32 (and f64) keep subnormals */
    bool half;         /* H2F F2H B2F F2B */
    bool dot4;         /* DOT4_S DOT4_U */
    bool limb_values; /* integers of few limbs are values, one a limb, where that is not too much */
    bool block; /* sums and scans of integers that all lanes of a block take part in stay a BLOCK */
    bool inlines; /* short functions, and those that are called once, stand in place of their calls
                   */
    bool long_code;   /* longer loops of known rounds are written out (kir_unroll) */
    bool folds_zeros; /* the compiler takes x + 0 for x, x * 0, 0 / x and x - x for 0, whatever x
                         is: it must not see such zeros */
    bool derived[KIR_FN_COUNT][HG_TYPE_COUNT]; /* [fn][atlas_type] stays a DERIVED */
    bool inexact[KIR_OP_COUNT][2]; /* [op][1: of or to f64] the target's own result differs from
                                      prim.def (division that is not correctly rounded, a conversion
                                      that does not saturate, …): integer code instead */
    bool slow_paths; /* tests: definitions take their slow paths with every argument */
    const char *name;
} kir_caps;

/* ---- module.c ---- */
kir_module *kir_module_create(const char *name) HG_NODISCARD; /* NULL when out of memory */
void kir_module_destroy(kir_module *m);
/* What a stage whose builder failed ends in: S05 where the module has more operations than it may,
 * else out of memory. */
hg_status kir_fail_making(const kir_module *m);
kir_function *kir_function_create(kir_module *m, const char *name, uint8_t result); /* NULL when out
                                                                                       of memory */
/* A function that a pass adds to the module it makes, made once and then found by its name: only
 * among helpers, since the functions of a program may bear any name. *fresh: its body is still to
 * be written. NULL when out of memory. */
kir_function *kir_helper(kir_module *m, const char *name, uint8_t result, uint8_t params,
                         const uint8_t *types, bool *fresh);
kir_var *kir_var_create(kir_module *m, kir_function *f, uint8_t type, uint32_t length,
                        const char *name);
kir_var *kir_array_param(kir_function *f, uint8_t type, uint32_t length, const char *name);
kir_table *kir_table_create(kir_module *m, uint8_t type, uint32_t length, const void *data,
                            const char *name); /* copies data */
uint64_t kir_type_bytes(uint8_t type);         /* bool: 1 */
uint32_t kir_type_bits(uint8_t type);          /* bool: 1 */
bool kir_type_is_float(uint8_t type);
static inline bool kir_is_half(hg_type type) { return type == HG_TYPE_F16 || type == HG_TYPE_BF16; }
uint8_t kir_type_of(hg_type type); /* i32 -> u32, f16 -> u16, … */
const char *kir_op_name(kir_op op);
const char *kir_type_name(uint8_t type);
/* The order that tables by scalar type have; a bool counts as u8. kir_kind_of: -1 for wider types
 * and void. */
typedef enum kir_kind {
    KIR_KIND_U8,
    KIR_KIND_U16,
    KIR_KIND_U32,
    KIR_KIND_U64,
    KIR_KIND_F32,
    KIR_KIND_F64,
    KIR_KIND_COUNT
} kir_kind;
int kir_kind_of(uint8_t type);
uint8_t kir_kind_type(int kind);
/* The operation on arrays of limbs that a function is: its limbs_op, where its parameters are what
 * that needs. KIR_OP_COUNT: none. */
kir_op kir_limbs_op(const kir_function *f);
const char *kir_fn_name(uint16_t fn);    /* "exp", "relu": of an hg_op or KIR_FN_* */
uint16_t kir_fn_of_name(hg_opname name); /* what the name of a map or fold stands for: an hg_op or
                                            KIR_FN_* */
uint32_t kir_number(kir_function *f);    /* ids in order of text; returns and stores the count */
void kir_count_uses(kir_module *m);
static inline bool kir_is_device_form(const kir_module *m) {
    return (m->facts & KIR_FACT_DEVICE) != 0;
}
bool kir_has_side_effect(const kir_value *v); /* must stay even when unused */
/* A value primitive of integers and bools alone: argument and result. */
bool kir_is_integer_value(const kir_value *v);
static inline bool kir_is_value(const kir_value *v) {
    return kir_op_has((kir_op)v->op, KIR_F_VALUE);
}
static inline bool kir_is_pure(const kir_value *v) { return kir_op_has((kir_op)v->op, KIR_F_PURE); }
static inline bool kir_is_jump(const kir_value *v) { return kir_op_has((kir_op)v->op, KIR_F_JUMP); }
static inline bool kir_is_access(const kir_value *v) {
    return kir_op_has((kir_op)v->op, KIR_F_ACCESS);
}
/* ID: what it names, without KIR_ID_HIGH. */
static inline hg_idname kir_id_name(const kir_value *v) {
    return (hg_idname)(v->u.imm & ~(uint64_t)KIR_ID_HIGH);
}
bool kir_in_loops_only(const kir_value *v);     /* no IF around it */
kir_value *kir_loop_around(const kir_value *v); /* the innermost; NULL: none */
kir_value *kir_outermost_loop(const kir_value *v);
bool kir_functions_exit(const kir_module *m); /* an EXIT stands in a function beside the kernel's */
void kir_remove(kir_value *v);                /* unlinks from its region */
/* Puts operations into a region in front of one of its operations; before NULL: at the end. They
 * belong to no region that is still looked at. */
void kir_insert(kir_region *to, kir_value *before, kir_value *first, kir_value *last);
/* The same with all operations of a region, which is empty then. */
void kir_splice(kir_region *to, kir_value *before, kir_region *from);
/* The operation after v in a walk of all operations of a function, parents before children; NULL at
 * the end. first: kir_walk(NULL, body). */
kir_value *kir_walk(const kir_value *v, const kir_region *root);

/* Checks all structural rules; HG_ERROR_INTERNAL with the place as text. */
hg_status kir_verify(const kir_module *m) HG_NODISCARD;
/* Of a value primitive alone, for other forms: NULL, or the rule that these types of arguments and
 * this result break. */
const char *kir_verify_prim(kir_op op, uint8_t result, const uint8_t *args, uint8_t nargs);
void kir_print(hg_text *out, const kir_module *m); /* numbers the functions; kir/parse.h reads it
                                                      back */
void kir_print_head(hg_text *out, const kir_module *module); /* its first line, inputs, slots and
                                                                tables */
void kir_print_quoted(hg_text *out, const char *text);       /* a string of the text form */

#endif

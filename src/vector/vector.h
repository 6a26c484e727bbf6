/* Vector form: the code of a kernel for machines that bring vectors. One pass through the kernel
 * function is a *turn*: `lanes` neighbouring lanes run it together, in lockstep.
 *
 * A value is *one* for all lanes of the turn (a scalar) or has one element for *each* lane (a
 * vector). Control flow is the turn's: the condition of an IF is one value. Where lanes go
 * different ways, masks say who takes part: vectors of bools.
 *
 * Lanes start together; which of them do is the mask that a turn gets (all, but for the last turn
 * of a launch). A lane that faults or leaves the kernel *ends*: it is taken out of the lanes that
 * run (RUNNING) and of every mask variable that the operation names in `losing`. A memory operation
 * without a mask is of all lanes that run. What lanes compute that do not run, nobody sees.
 *
 * A kernel with barriers or shared memory runs a block at a time (`blocks`). The body of its kernel
 * function is then the block's own: scalars that are the same in the whole block, branches and
 * loops that it takes as one, BARRIER, and TURNS, whose region is run once for each turn of the
 * block's lanes, one after another. A turn's lanes are neighbours along x with the same y and z:
 * the last turn of a row may be short. Turns run in the order of their lanes: a variable of the
 * block that they set is for the next what this one left. What a turn keeps from one TURNS to the
 * next is in variables that are `kept`, an instance of which each turn of the block has, and in the
 * lanes that run. A variable of the block that is each has an element for each place in a turn:
 * GET, PRIM, EXCHANGE and SLIDE may put those together outside of TURNS. All other operations that
 * are each, or touch memory, stand in TURNS.
 *
 * Operations:
 * - PRIM: a value primitive of the kernel IR (prim), its arguments one or each
 * - INPUT, ID: a value of the launch, or of the block; lane_idx_x … z in blocks: of the
 *   turn's first lane
 * - FIRST: u64: global id of the turn's first lane
 * - COORDINATE: an id that the lanes of a turn do not share
 * - BEGIN, END: u64: global id of the first lane of the block, or of a stretch of turns, and
 *   what comes behind its last
 * - INTACT: whether the block's rows are turns of all lanes, and none of its lanes has ended
 * - SIZE: u64: bytes of the memory that the place names
 * - RAMP: argument + stride for each lane before this one; no wrap in lanes that run
 * - GET, SET: a variable. SET of one value to a variable that is each: of all lanes. With a
 *   mask: only in those lanes
 * - ARRAY_GET, ARRAY_SET: an element of a private array. An index out of range: any element;
 *   nothing
 * - TABLE_GET: an element of a constant table, whose index is in range in lanes that run
 * - RUNNING: mask of the lanes that run in this function
 * - ANY: whether a lane is in the mask (which has no lane that does not run)
 * - EXCHANGE: of the first argument, which is each or a mask: lane l gets the element of lane
 *   l xor the second argument, which is one integer below `lanes`
 * - SLIDE: lane l gets the element of lane l - imm of the first argument, which is each; the first
 *   imm lanes get the last ones of the second. PICK: the element of lane imm, one value
 * - FITS: whether all lanes' places, of those that do not run too, are in bounds; false where
 *   that is hard to say
 * - LOAD, STORE, ATOMIC: after a CHECK, or proven to be in bounds: look at nothing. ATOMIC:
 *   faults where it is not aligned
 * - CHECK: lanes whose access is out of bounds, or whose slot has no memory, fault
 * - FAULT_IF: lanes with the condition fault
 * - LEAVE: the lanes of the mask end, or go elsewhere: they are taken out of the variables in
 *   `losing`, and of RUNNING where `ends`
 * - CALL: of a masked function: for the lanes of the mask, which are those that run there.
 *   Lanes may end inside
 * - TURNS: its region for each turn of the block in which a lane runs. Variables of this
 *   TURNS are new and zero in each turn. With an argument, one bool: where that is true, all
 *   lanes of all turns run, and what is `settled` inside may be left out
 * - BARRIER: of the block: it is over if a lane faulted (RETURN), else the next phase begins
 *   (unless imm is KIR_BARRIER_INNER)
 * - FUEL: a round of a loop that nobody knows the length of: true when the time is over
 * - WHOLE: first in a kernel of turns. Its region, which ANSWER ends, is asked once for a
 *   stretch of turns of all lanes. Where the answer is true, what is `settled` may be left
 *   out of these turns, and no lane ends in them
 * - RETURN: of a turn: it is over, in TURNS for good: its lanes end. Of a block: it is over.
 *   Of a function: its result
 *
 * Must not know: targets, native widths, text of any language. */
#ifndef HG_VECTOR_VECTOR_H
#define HG_VECTOR_VECTOR_H

#include "kir/kir.h"

typedef enum vec_op {
#define VEC_OP(id, text, args, flags) VEC_##id,
#include "vector/vector.def"
#undef VEC_OP
    VEC_OP_COUNT
} vec_op;
enum {
    VEC_F_LANES = 1,
    VEC_F_ONE = 2,
    VEC_F_EFFECT = 4,
    VEC_F_JUMP = 8,
    VEC_F_PLACE = 16,
    VEC_F_LOSES = 32
};
typedef struct vec_op_info {
    const char *text;
    uint8_t args; /* KIR_ARGS_ANY: as many as are given */
    uint8_t flags;
} vec_op_info;
extern const vec_op_info VEC_OPS[VEC_OP_COUNT];
static inline bool vec_op_has(vec_op op, uint8_t flag) { return (VEC_OPS[op].flags & flag) != 0; }

/* How the lanes of a turn reach memory. */
typedef enum vec_reach {
    VEC_REACH_ONE,    /* all the same place */
    VEC_REACH_ROW,    /* neighbouring elements: the index is the first lane's */
    VEC_REACH_STRIDE, /* places as far apart: the index is the first lane's, `stride` bytes to the
                         next */
    VEC_REACH_EACH    /* anywhere: an index for each lane */
} vec_reach;

typedef struct vec_value vec_value;
typedef struct vec_region {
    vec_value *first, *last;
    vec_value *owner; /* IF, LOOP, TURNS or WHOLE; NULL: function body */
} vec_region;

typedef struct vec_var {
    struct vec_var *next;
    const char *name; /* of the source, or NULL */
    uint8_t type;
    bool each;        /* an element for each lane */
    bool mask;        /* who takes part somewhere: starts empty */
    bool shared;      /* of all functions of a turn: in the kernel's list; else of a function */
    bool kept;        /* of a turn of a block as long as the block runs; zero at its start */
    vec_value *turns; /* not kept, in a kernel of blocks: the TURNS that it belongs to; NULL: of the
                         block */
    bool by_reference; /* array parameter of a function: names the caller's array while the function
                          runs */
    uint32_t length;   /* 0: no array. Arrays are each, and zero at the start of a turn */
    uint32_t id;       /* dense in its list */
} vec_var;

struct vec_value {
    uint8_t op;   /* vec_op */
    uint8_t prim; /* PRIM: kir_op */
    uint8_t type; /* of an element of the result; KIR_VOID: none */
    bool each;    /* an element for each lane */
    uint8_t nargs;
    /* Of passes `whole` and `boxes`: where all goes well, a CHECK or FAULT_IF that is settled
     * faults nobody, of an IF the condition is true, of any other value all lanes have the value
     * true. tested: in front of TURNS, what is only there to be asked whether all goes well. */
    bool settled, tested;
    struct {
        bool ends; /* lanes stop running: in the function, with `exits` in the kernel */
        bool exits;
    } leave;       /* LEAVE */
    uint32_t id;   /* dense in the function */
    uint32_t uses; /* set by vec_count_uses */
    uint32_t inst; /* source instruction + 1; 0: none */
    vec_value **args;
    vec_value *mask; /* who takes part; NULL: the lanes that run */
    struct {
        uint8_t count;
        vec_var **vars; /* the masks that lanes which end here are taken out of */
    } loses;
    vec_value *prev, *next, *before; /* before: in the text, set by vec_count_uses */
    vec_region *parent;
    vec_region *body[2]; /* IF: then, else (never NULL); LOOP, TURNS, WHOLE: body */
    union {
        /* BARRIER: its number; CONST: zero-extended bits; INPUT: index in the module's inputs; ID,
         * COORDINATE: hg_idname; PARAM: number; FENCE: hg_scope; FUEL: what a round costs; RAMP:
         * the stride; SLIDE: how far, below `lanes`; PICK: the lane */
        uint64_t imm;
        vec_var *var; /* GET, SET, ARRAY_* */
        bool heads;   /* TURNS: of each row of the block the first turn may be all that is run */
        const kir_table *table; /* TABLE_GET */
        struct {
            struct vec_function *to;
            vec_var **arrays;
        } call; /* CALL: arrays one for each array parameter */
        /* args: [handle u64] where open, [index u64] where has_index, then STORE: value; ATOMIC:
         * operands */
        struct {
            uint8_t reach;  /* vec_reach */
            uint8_t space;  /* KIR_BUFFER and KIR_POOL: slot, unless open; KIR_SHARED, KIR_CLASS,
                               KIR_FLAT */
            uint8_t bytes;  /* of an element in memory; a LOAD's result and a STORE's value are as
                               large */
            uint16_t size;  /* that CHECK looks at and faults name */
            bool has_index; /* index in bytes */
            bool open;      /* through a handle, or in space KIR_FLAT a flat address: reach EACH, of
                               handle and index as they are */
            uint8_t atomic; /* kir_atomic */
            bool aligned;   /* ATOMIC: known to be */
            bool small;     /* the index of lanes that run is known to be below 2^62 */
            uint8_t class_id, operand;
            bool pool; /* for fault texts */
            uint32_t slot;
            uint64_t end;   /* reach EACH: what is addressed ends there at the latest, whatever the
                               indices are; 0: not known */
            int64_t disp;   /* added exactly to the index */
            int64_t stride; /* STRIDE: bytes from lane to lane */
            struct {
                bool combines; /* ATOMIC: of a slot, whose result nothing uses: it may be done in a
                                  copy of the thread's own (hgv_launch.spread) */
                bool fits;     /* LOAD of a row with a mask: a plain one where the row is in the
                                  memory */
                bool checked;  /* LOAD of one place, behind a CHECK of it: reads where that says */
                uint8_t answers;  /* CHECK: so many CHECKs behind it in its region are of its place,
                                     with nothing between that lanes or the memory could tell: they
                                     may be asked, and lanes end, here */
                uint8_t stretch;  /* LOAD, STORE: so many, from this one on, are members of a
                                     stretch, a power of two: where all lanes run, and what is
                                     settled holds, they may be done together here (stretch.h). 0:
                                     none, or a member behind the first */
                uint32_t streams; /* STORE of a row: where a launch has so many lanes and all of the
                                     turn run, it is written past the caches, if the target can do
                                     that there. 0: never */
            } may;                /* how a printer may do it, as passes found */
        } mem;
        struct {
            uint8_t code, operand, values;
            const char *message;
        } fault; /* args: the condition, then a u64 for each {} of the message */
    } u;
};

typedef struct vec_function {
    struct vec_function *next;
    const char *name;
    uint32_t id;
    uint8_t param_count, result; /* KIR_VOID: none */
    uint8_t param_types[16];
    bool param_each[16], result_each;
    bool masked;  /* works for the lanes of CALL's mask alone: it changes what is not its own. Else
                     it computes a result for all lanes */
    bool can_end; /* lanes may end inside: they are in none of CALL's `losing` afterwards */
    /* kir_op: what it is on arrays of u64 limbs, one of ADD to XOR, a division, or DERIVED (a * b
     * mod c), whose arrays are d, a, b (and c): a target may have it ready (hgv_launch.wide).
     * KIR_OP_COUNT: no such function */
    uint8_t limbs_op;
    uint8_t array_count;
    vec_var *array_params[8];
    vec_region *body;
    vec_var *vars, *last_var;
    uint32_t var_count, value_count;
} vec_function;

/* Facts of pass `pressure`: how much of the kernel function lives in vectors where that is most:
 * bytes a lane, and the source instruction + 1 (0: none). An estimate: what a compiler moves, or
 * calculates again, it does not know. */
typedef struct vec_pressure {
    uint32_t bytes, inst;
} vec_pressure;

typedef struct vec_kernel {
    hg_arena arena;
    const kir_module *module; /* inputs, slots, tables, source; borrowed */
    uint32_t lanes;           /* of a turn, a power of two */
    uint32_t fewer_lanes;     /* of turns in which guesses of quotients that are asked for may hold,
                                 which in these never do (guess.c); 0: none */
    bool may_be_faster_alone; /* in loops each lane reaches places of its own: turns of one lane may
                                 be faster, as the data are */
    bool blocks;              /* the kernel function runs a block */
    bool can_end;             /* lanes may fault or leave: some operation loses lanes that run */
    vec_function *functions, *last_function; /* functions: the kernel; a function is called only by
                                                earlier ones */
    uint32_t function_count;
    vec_var *shared, *last_shared; /* variables that functions share */
    uint32_t shared_count;
    vec_pressure pressure; /* of pass `pressure` */
} vec_kernel;

typedef struct vec_options {
    uint32_t lanes; /* of a turn, a power of two up to 256; one: never of blocks */
    bool plain;     /* without the passes of the form */
    bool blocks; /* a kernel that asks where lanes are in their blocks is a kernel of blocks too */
} vec_options;
/* How wide turns of native code are. */
typedef struct vec_turn_size {
    uint32_t lanes, bytes, registers; /* of a turn; of a native vector, and how many of them the
                                         level has */
} vec_turn_size;
/* Whether the kernel asks where lanes are in their blocks, or which block they are in, and has
 * neither barriers nor shared memory. */
bool vec_asks_for_places(const kir_module *module);

/* Writes functions[0] of a module in vector form. Requires: stage LOW for a target with all
 * integers up to 64 bits, f64, fma, subnormals and half conversions (vec_caps), with slots and
 * uniformity. The module is borrowed for as long as the kernel lives; its ids, counts of uses and
 * scratch pointers are written, and of a kernel of blocks the uniformity (kir_find_row_uniformity).
 * HG_ERROR_ISA: the kernel has what the vector form has not; the text says what.
 * HG_ERROR_OUT_OF_MEMORY. */
hg_status vec_form(const kir_module *module, const vec_options *options,
                   vec_kernel **kernel) HG_NODISCARD;
/* Passes of the form (pipeline.def). Operations are numbered, and their uses counted, before each
 * and behind it. */
typedef enum vec_pass_id {
#define VEC_PASS(id, name, what) VEC_PASS_##id,
#include "vector/pipeline.def"
    VEC_PASS_COUNT
} vec_pass_id;
vec_pass_id vec_pass_find(const char *name); /* VEC_PASS_COUNT: no pass has that name */
/* Runs a pass. HG_ERROR_OUT_OF_MEMORY. */
hg_status vec_pass_run(vec_kernel *kernel, vec_pass_id id) HG_NODISCARD;
void vec_kernel_destroy(vec_kernel *kernel);
void vec_caps(kir_caps *caps);

/* The operation after v in a walk of all operations of a function, parents before children; NULL at
 * the end. first: vec_walk(NULL, body). */
vec_value *vec_walk(const vec_value *v, const vec_region *root);
/* A walk that stops at the end of each region too, for printers; it starts at {root, root,
 * root->first}. */
typedef struct vec_cursor {
    const vec_region *root, *region; /* of the whole walk; the one it is in */
    vec_value *v;                    /* the operation it is at; NULL: the end of region */
} vec_cursor;
/* Whether it is at the end of an IF's first branch and the second is not empty: that comes next. */
bool vec_cursor_at_else(const vec_cursor *c);
/* Into the first region of an IF or LOOP, or on. False: it was at the end of the root. */
bool vec_cursor_next(vec_cursor *c);
/* The WHOLE of a kernel of turns; NULL: none. The answer's argument is its region's last. */
vec_value *vec_whole_of(const vec_kernel *k);
/* Whether a WHOLE asks if rows have whole turns: of many launches none of theirs has. */
bool vec_asks_for_rows(const vec_value *whole);
/* Whether two accesses that lanes reach from one index, if any, are of one place but for disp, for
 * the same lanes. */
bool vec_is_same_place(const vec_value *a, const vec_value *b);
/* The CHECK right in front of an access, of just that place; NULL: there is none. */
const vec_value *vec_check_of(const vec_value *v);
/* What a CHECK and those that it answers for reach together, as vec_reach_of. */
bool vec_reach_of_all(const vec_kernel *k, const vec_value *v, int64_t *low, int64_t *high);
/* The CHECK behind another one that it may answer for, if it is of its place; NULL: there is none.
 */
const vec_value *vec_next_answered(const vec_value *w);
/* Whether a LOAD or STORE may be the one that comes `number` behind the first of a stretch. */
enum { VEC_MOST_STRETCH = 32 };
bool vec_is_member(const vec_value *first, const vec_value *v, uint32_t number);
/* What may be the next member behind one: between them stand only CHECKs that are settled. */
const vec_value *vec_next_member(const vec_value *v);
/* Whether a stretch has none between its members: it is one where nothing is settled too. */
bool vec_is_close(const vec_value *first);
/* The least that a STORE's `streams` says; 0: none goes past the caches. */
uint32_t vec_streams_from(const vec_kernel *k);
/* Whether two masks are one value, or of one variable. */
bool vec_is_same_mask(const vec_value *a, const vec_value *b);
/* Whether a mask has all lanes that run, where what is settled holds. */
bool vec_has_all_lanes(const vec_value *mask);
/* The TURNS around an operation; NULL: none. */
vec_value *vec_turns_around(const vec_value *v);
/* Whether lanes may end in a region; the same where all goes well, without what is settled. */
bool vec_loses_lanes(const vec_region *body);
bool vec_loses_unsettled(const vec_region *body);
/* Whether a function has a FUEL; one that reaches memory of a space. */
bool vec_asks_time(const vec_function *f);
bool vec_reaches(const vec_function *f, uint8_t space);
void vec_count_uses(vec_function *f);
uint32_t vec_number(vec_function *f); /* ids in order of text; returns and stores the count */

/* sizes.c: what printers share. Truth values of lanes are elements as wide as what was compared;
 * those that functions share or take of VEC_SHARED_MASK_BYTES, others in variables of mask_bytes,
 * which is best what most vectors of the function have (vec_common_size). */
enum { VEC_SHARED_MASK_BYTES = 4, VEC_CLASS_BYTES = 12288 /* of a class in class memory */ };
uint32_t vec_common_size(const vec_function *f);
uint32_t vec_var_size(const vec_var *v, uint32_t mask_bytes); /* bytes of an element */
/* By id: bytes of an element of each value that is a truth value of lanes. The caller frees it;
 * NULL: out of memory. */
uint8_t *vec_find_widths(const vec_function *f, uint32_t mask_bytes);
const kir_slot *vec_slot_of(const vec_kernel *k, const vec_value *v); /* NULL: no slot is named */
/* What all lanes' offsets reach, from the index on: false where the numbers are too large to say.
 */
bool vec_reach_of(const vec_kernel *k, const vec_value *v, int64_t *low, int64_t *high);

/* Whether a turn of a block may read a kept variable before it sets it: then it is 0. */
bool vec_reads_unset(const vec_function *f);

/* Where the operands of a memory operation begin behind its place. */
static inline uint8_t vec_place_args(const vec_value *v) {
    return (uint8_t)(v->u.mem.open + v->u.mem.has_index);
}

/* What a compiler has to do for a kernel whose native vectors have so many bytes, in instructions
 * of its text (work.c). LLVM takes 60 to 90 us for one, on the machine of docs/performance.md. */
enum { VEC_MOST_WORK = 100000 };
uint64_t vec_work(const vec_kernel *kernel, uint32_t bytes);
/* Whether nobody should have it compiled: it stays interpreted, and `why` says so. */
bool vec_is_too_much(const vec_kernel *kernel, uint32_t bytes, char why[120]);
/* Whether turns of twice the lanes are worth their text, and all that lives in vectors then still
 * fits into `registers` bytes of them. */
bool vec_wants_double(const vec_kernel *kernel, uint32_t registers);

/* What a turn pays for, where all goes well, in steps: instructions of the machine, or lanes of a
 * gather (cost.c). */
typedef enum vec_cost {
    VEC_COST_WORK,    /* arithmetic, rows of memory */
    VEC_COST_SCALARS, /* what is one for all lanes: indices, counters, branches */
    VEC_COST_GATHERS, /* elements that lanes reach one by one */
    VEC_COST_CHECKS,  /* of bounds, of numbers, of time, that are left in every turn */
    VEC_COST_MASKS,   /* who takes part, and what they keep meanwhile */
    VEC_COST_PRIVATE, /* private arrays */
    VEC_COST_KEPT,    /* values that a block keeps over a barrier */
    VEC_COST_ATOMICS,
    VEC_COST_FUNCTIONS, /* of the library: exp, log, … */
    VEC_COST_SPILLS,    /* what the registers do not hold */
    VEC_COST_PROLOGUE,  /* what is asked once for a stretch of turns, or for a block */
    VEC_COST_COUNT
} vec_cost;
typedef struct vec_costs {
    double steps[VEC_COST_COUNT];
} vec_costs;
/* Adds to costs, by source instruction + 1 (0: of none), what a turn pays. rounds: by source
 * instruction + 1, the most rounds of the loop that it ends; 0: not known, 8 are taken. Numbers
 * the operations. HG_ERROR_OUT_OF_MEMORY. */
hg_status vec_find_costs(vec_kernel *kernel, const vec_turn_size *size, const uint32_t *rounds,
                         vec_costs *costs) HG_NODISCARD;

/* Checks all structural rules; HG_ERROR_INTERNAL with the place as text. */
hg_status vec_verify(const vec_kernel *kernel) HG_NODISCARD;
/* docs/design/vector-form.md */
void vec_print(hg_text *out, vec_kernel *kernel);
/* Of that text, without the instructions of the source: the same for the same form. 0: out of
 * memory. */
uint64_t vec_hash(vec_kernel *kernel);

#endif

/* Inside the printer of the vector form as LLVM IR. A value that is each is one LLVM vector of all
 * lanes of the turn; LLVM cuts it into native ones.
 *
 * Truth values of lanes: where the target has mask registers a vector of i1; else a vector of
 * integers, 0 or -1, as wide as what was compared, so that no conversion stands between a
 * comparison and its use. The lanes that run are bits of an i64. */
#ifndef HG_JIT_JIT_INTERNAL_H
#define HG_JIT_JIT_INTERNAL_H

#include "jit/jit.h"

#include <llvm-c/Core.h>

enum { ZEROS_BYTES = 64 };

/* Values of variables on the way to a block. */
typedef struct jit_edge {
    LLVMBasicBlockRef from;
    LLVMValueRef *vars;
} jit_edge;

typedef HG_VEC(jit_edge) jit_edges;

/* An IF or LOOP that is being printed. */
typedef struct jit_frame {
    const vec_value *owner;  /* NULL: of the printer's own */
    LLVMBasicBlockRef next;  /* behind it */
    LLVMBasicBlockRef other; /* IF: the second branch or NULL; LOOP: its head */
    LLVMValueRef *saved;     /* IF: variables at the branch */
    LLVMValueRef *phis;      /* LOOP: of variables that change in it, else NULL */
    jit_edges out;           /* to `next` */
    bool dead;               /* nothing reaches it */
} jit_frame;

/* The turn of a block that is being printed. */
typedef struct jit_turn {
    LLVMValueRef number, first, x, y, z; /* y, z: u32 */
    uint64_t frame;                      /* of what is behind it */
} jit_turn;

/* A mask variable that was put together from its parts, or from which they were taken. */
typedef struct jit_whole {
    LLVMValueRef parts, whole;
    LLVMBasicBlockRef block;
} jit_whole;

/* Memory of a function that an operation uses from its start to its end: one of each kind for all
 * operations, so that the frame does not grow with their number. */
typedef enum jit_spill {
    JIT_SPILL_INDEX,
    JIT_SPILL_HANDLE,
    JIT_SPILL_VALUE,
    JIT_SPILL_SECOND,
    JIT_SPILL_OLD,
    JIT_SPILLS
} jit_spill;
typedef enum jit_words {
    JIT_WORD_GONE,
    JIT_WORD_ENDED,
    JIT_WORDS_OF_FAULT,
    JIT_WORDS_OF_MEMORY,
    JIT_WORDS
} jit_words;

/* A number that is calculated where `size` is known. */
enum { JIT_MOST_LIMITS = 16 };
typedef struct jit_limit {
    LLVMValueRef size, made;
    uint64_t high, shift;
} jit_limit;

/* What goes from block to block like variables. FUEL: what is left of it, in turns of one lane:
 * there the launch's has it only between turns and where something is called; NULL: elsewhere. */
typedef enum jit_slot { JIT_RUN, JIT_ENDED, JIT_FUEL, JIT_SLOTS } jit_slot;

/* Numbers that divide by an input (prim.c). */
typedef struct jit_divisor {
    LLVMValueRef m, is_one, is_some;
} jit_divisor;

typedef struct jit_types {
    LLVMTypeRef none, i1, i8, i16, i32, i64, i128, f16, f32, f64, ptr;
} jit_types;

typedef struct jit_printer {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    jit_types t;
    vec_kernel *k;
    struct { /* what native vectors of the target are */
        uint32_t lanes, bytes;
        bool mask_registers, fused, halves; /* what the level has */
        bool dot4, vbmi;                    /* what the CPU has */
        const char *cpu;
    } level;
    const char *unsupported;
    bool failed;                          /* out of memory */
    struct {                              /* of the module */
        LLVMValueRef *functions, *tables; /* by id */
        LLVMTypeRef *function_types;
        LLVMValueRef zeros; /* where loads of nobody read: ZEROS_BYTES */
        LLVMTypeRef shared_type;
        LLVMMetadataRef unlikely, likely; /* of a branch */
        unsigned prof;
    } made;
    struct { /* frame.c: memory that functions need for themselves, behind each other along calls;
                on the stack where it is little */
        uint64_t own_bytes, *own_at; /* of all; by function id: where its begins */
        bool own_in_memory;
        uint64_t entry_frame, *frame_bytes; /* of the kernel's entry; by function id */
    } frame;
    struct { /* the function that is being printed */
        const vec_function *f;
        bool turn;
        bool alone;       /* a turn is one lane, and ends with it */
        LLVMValueRef own; /* with own_in_memory: the launch's memory that it is in */
        LLVMValueRef fn, launch, first, shared, ended_out, scratch; /* scratch: where stores of
                                                                       nobody write */
        LLVMBasicBlockRef entry, end;                               /* end: of a turn */
        LLVMValueRef spills[JIT_SPILLS], words[JIT_WORDS];          /* NULL: not used yet */
        jit_limit limits[JIT_MOST_LIMITS];
        uint32_t limit_count;
        LLVMValueRef class_base, class_size;
    } in;
    struct {                           /* by id */
        LLVMValueRef *values, *splats; /* by value id */
        LLVMValueRef *arrays;          /* by variable id: where an array lies */
        LLVMValueRef *bases, *sizes;   /* by slot */
        LLVMValueRef *inputs;          /* of the launch, by number; NULL: not used yet */
        jit_divisor *divisors;         /* the same */
        LLVMValueRef *checked; /* by value id, of a CHECK that is made: where loads behind it may
                                  read, without disp; zeros: not known */
        uint8_t *widths;       /* by value id: bytes of an element of a mask */
        jit_whole *wholes;     /* by variable id */
        LLVMValueRef *vars;    /* what variables are here; then those of jit_slot */
        uint32_t var_count;
    } by;
    struct {                 /* variables that are masks */
        uint32_t mask_bytes; /* of an element of masks in variables */
        uint32_t mask_parts; /* with mask registers: how many of them a mask variable is, one for
                                each native vector of elements so wide */
    } mask;
    struct {                 /* this place of its text */
        bool dead;           /* nothing reaches this place */
        bool settled;        /* a whole turn in which all goes well (passes `whole`, `boxes`) */
        bool rarely;         /* behind those: the last turn, and turns in which lanes end */
        uint32_t in_stretch; /* loads or stores that follow here and are done */
    } here;
    struct { /* a kernel that runs blocks */
        LLVMValueRef shared_base, shared_size, all_kept, runs;
        LLVMValueRef kept, begin, turns, row, rows; /* kept: of the turn; row, rows: along x, y */
        LLVMTypeRef kept_type;
        uint64_t kept_bytes;
        uint32_t *kept_field; /* by variable id */
        LLVMValueRef intact;  /* a byte in memory: 1 where the block has whole rows and no lane has
                                 ended; NULL: no blocks */
        LLVMValueRef end_lane, layers; /* behind the last of the block; lanes along z */
        jit_turn at;
    } block;
    HG_VEC(jit_frame) frames;
} jit_printer;

/* ---- jit.c ---- */
/* Ends the compile of this thread, which fails with that reason. Returns where there is none. */
void jit_give_up(const char *why);

/* ---- ir.c: types and values ---- */
LLVMTypeRef jit_scalar(const jit_printer *p, uint8_t type);
LLVMTypeRef jit_vector(const jit_printer *p, LLVMTypeRef element);
LLVMTypeRef jit_integer(const jit_printer *p, uint32_t bytes);
LLVMTypeRef jit_mask_type(const jit_printer *p, uint32_t bytes);
uint32_t jit_size(const jit_printer *p, const vec_value *v); /* bytes of an element */
uint32_t jit_var_size(const jit_printer *p, const vec_var *v);
LLVMTypeRef jit_var_type(const jit_printer *p, const vec_var *v);
LLVMTypeRef jit_type_of(const jit_printer *p, const vec_value *v);
LLVMValueRef jit_u64(const jit_printer *p, uint64_t x);
LLVMValueRef jit_u32(const jit_printer *p, uint64_t x);
LLVMValueRef jit_splat(jit_printer *p, LLVMValueRef one);
void jit_go_behind(jit_printer *p, LLVMValueRef value); /* the place goes to where a value is known
                                                           first */
LLVMValueRef jit_ramp(jit_printer *p, LLVMTypeRef element, uint64_t from, uint64_t by); /* constants
                                                                                           from,
                                                                                           from +
                                                                                           by, … */
LLVMValueRef jit_intrinsic(jit_printer *p, const char *name, LLVMTypeRef *overloads,
                           unsigned overload_count, LLVMValueRef *args, unsigned count);
/* A value as it is; as an element for each lane. */
LLVMValueRef jit_one(jit_printer *p, const vec_value *v);
LLVMValueRef jit_each(jit_printer *p, const vec_value *v);
void jit_define(jit_printer *p, const vec_value *v, LLVMValueRef made);
void jit_forget(jit_printer *p); /* what is known of values that are printed once more */
/* A mask in elements of `bytes`, as i1s, as bits; `mask` NULL: the lanes that run. */
LLVMValueRef jit_mask(jit_printer *p, const vec_value *mask, uint32_t bytes);
LLVMValueRef jit_mask_i1(jit_printer *p, const vec_value *mask);
LLVMValueRef jit_bits(jit_printer *p, const vec_value *mask);
LLVMValueRef jit_mask_resize(jit_printer *p, LLVMValueRef mask, uint32_t from, uint32_t to);
LLVMValueRef jit_mask_of_i1(jit_printer *p, LLVMValueRef i1s, uint32_t bytes);
LLVMValueRef jit_i1_of_mask(jit_printer *p, LLVMValueRef mask);
LLVMValueRef jit_bits_of_i1(jit_printer *p, LLVMValueRef i1s);
LLVMValueRef jit_i1_of_bits(jit_printer *p, LLVMValueRef bits);
LLVMValueRef jit_all(const jit_printer *p); /* bits of all lanes */
/* The lanes that run, and those that ended in a masked function, as bits. */
LLVMValueRef jit_run(const jit_printer *p);
LLVMValueRef jit_ended(const jit_printer *p);
void jit_set_run(jit_printer *p, LLVMValueRef bits);
void jit_set_ended(jit_printer *p, LLVMValueRef bits);
LLVMValueRef *jit_slot_of(const jit_printer *p, jit_slot slot); /* of by.vars */
bool jit_is_all(jit_printer *p, const vec_value *mask); /* whether the mask is known to have all
                                                           lanes; NULL: the lanes that run */
LLVMValueRef jit_true(const jit_printer *p);            /* of all lanes, as i1s */
/* Memory without promises of alignment. */
LLVMValueRef jit_load(jit_printer *p, LLVMTypeRef type, LLVMValueRef at);
void jit_store(jit_printer *p, LLVMValueRef value, LLVMValueRef at);
LLVMValueRef jit_at(jit_printer *p, LLVMValueRef base, LLVMValueRef offset); /* bytes */
LLVMValueRef jit_field(jit_printer *p, LLVMValueRef base, uint64_t offset);
LLVMValueRef jit_stack(jit_printer *p, LLVMTypeRef type, uint64_t count); /* lives as long as the
                                                                             function */
LLVMValueRef jit_words_of(jit_printer *p, jit_words which); /* i64s that an operation uses from its
                                                               start to its end */
LLVMValueRef jit_call_helper(jit_printer *p, const char *name, LLVMValueRef *args,
                             unsigned count); /* of HG_JIT_HELPERS */
void jit_add_attribute(const jit_printer *p, LLVMValueRef function, const char *name);

/* ---- frame.c ---- */
bool jit_find_own(jit_printer *p);                /* false: out of memory */
uint64_t jit_shared_bytes(const jit_printer *p);  /* of shared_type, as the kernel's own */
uint64_t jit_left_on_stack(const jit_printer *p); /* bytes that may lie there beside what functions
                                                     need for themselves */
LLVMValueRef jit_ask_memory(jit_printer *p, LLVMValueRef bytes); /* of the launch; NULL at run time:
                                                                    there is none, and the launch
                                                                    stops */
void jit_place_own(jit_printer *p); /* where the function's arrays are in `own` */
void jit_name_function(uint32_t id, char name[16]);
bool jit_frame_of(jit_printer *p, const char *text); /* takes the size of a frame from what LLVM
                                                        says; false: it says something else */
uint64_t jit_deepest_frame(const jit_printer *p, uint64_t *at); /* bytes of the stack that a call of
                                                                   the kernel takes; `at` by
                                                                   function id: room */

/* ---- flow.c: blocks, and what variables are in them ---- */
LLVMBasicBlockRef jit_block(jit_printer *p, const char *name);
void jit_if(jit_printer *p, const vec_value *owner, LLVMValueRef condition, bool unlikely);
/* Where the first question, which is rarely true, is asked before another: `ask` is the place of
 * the second. No second branch. */
void jit_if_both(jit_printer *p, const vec_value *owner, LLVMValueRef first, LLVMBasicBlockRef ask);
void jit_if_then(jit_printer *p, LLVMValueRef second);
void jit_else(jit_printer *p);
void jit_end_if(jit_printer *p);
void jit_loop(jit_printer *p, const vec_value *owner);
void jit_end_loop(jit_printer *p);
void jit_end_loop_unless(jit_printer *p, LLVMValueRef condition); /* the loop ends here unless it
                                                                     holds */
void jit_leave_frame(jit_printer *p, jit_frame *frame);           /* to behind it */
void jit_break(jit_printer *p);
void jit_continue(jit_printer *p);
LLVMValueRef jit_fuel_place(jit_printer *p);
void jit_start_fuel(jit_printer *p); /* of a turn of one lane, or again behind what takes some */
void jit_keep_fuel(jit_printer *p);  /* in front of that */
void jit_end_turn(jit_printer *p);
/* For each set bit, from the lowest on: the lane's number. No variable may change within. */
typedef struct jit_lanes {
    LLVMBasicBlockRef head, next;
    LLVMValueRef lane, rest;
} jit_lanes;
jit_lanes jit_each_lane(jit_printer *p, LLVMValueRef bits);
void jit_end_lanes(jit_printer *p, jit_lanes *loop);

/* ---- prim.c, memory.c, access.c, body.c ---- */
void jit_end_streams(jit_printer *p); /* behind the last turn, before anybody else looks */
void jit_prim(jit_printer *p, const vec_value *v);
void jit_memory(jit_printer *p, const vec_value *v); /* PLACE operations and FAULT_IF */
void jit_array(jit_printer *p, const vec_value *v);
void jit_table(jit_printer *p, const vec_value *v);
void jit_exchange(jit_printer *p, const vec_value *v);
void jit_slide(jit_printer *p, const vec_value *v);
void jit_array_memory(jit_printer *p, const vec_var *v); /* an array of the function, zero from here
                                                            on */
LLVMValueRef jit_array_place(jit_printer *p, const vec_var *v);
LLVMValueRef jit_read_var(jit_printer *p, const vec_var *v);
void jit_write_var(jit_printer *p, const vec_var *v, LLVMValueRef value);
void jit_start_var(jit_printer *p, const vec_var *v); /* zero; no array, not shared, not kept */
LLVMValueRef jit_part(jit_printer *p, LLVMValueRef vector, uint32_t from, uint32_t count);
LLVMValueRef jit_join(jit_printer *p, LLVMValueRef low, LLVMValueRef high);
LLVMValueRef jit_base_of(jit_printer *p, const vec_value *v);      /* of an access's memory */
LLVMValueRef jit_limit_of(jit_printer *p, const vec_value *check); /* indices below it are inside;
                                                                      NULL: not known */

/* ---- copy.c ---- */
/* In front of a loop: rounds of it that are done at once, where it is one that copies. */
void jit_copy_ahead(jit_printer *p, const vec_value *loop);

/* ---- picks.c ---- */
/* An element of so many bytes for each lane, `stride` bytes from one to the next, where rows and
 * picks are cheaper than loads one by one; else NULL. */
LLVMValueRef jit_pick(jit_printer *p, LLVMTypeRef type, uint32_t bytes, int64_t stride,
                      LLVMValueRef first);

/* ---- limbs.c ---- */
bool jit_has_limbs(const vec_function *f); /* whether it is code of its own */
void jit_limbs(jit_printer *p, const vec_function *f);
/* ---- block.c ---- */
bool jit_in_block(const jit_printer *p); /* in the function of a kernel that runs blocks */
void jit_open_block(jit_printer *p);
void jit_close_block(jit_printer *p);
LLVMValueRef jit_intact(jit_printer *p); /* whether the block is intact */
void jit_open_turns(jit_printer *p, const vec_value *v);
void jit_close_turns(jit_printer *p, const vec_value *v);
/* Around the text of TURNS that goes first, for a block that is intact where all goes well; then
 * comes the other. */
LLVMValueRef jit_open_settled(jit_printer *p, const vec_value *v);
void jit_close_settled(jit_printer *p, const vec_value *v, LLVMValueRef opened);
void jit_return_in_turns(jit_printer *p);
void jit_barrier(jit_printer *p, const vec_value *v);
LLVMValueRef jit_block_id(jit_printer *p, bool of_grid, uint32_t axis); /* u32: of the turn's first
                                                                           lane, or of the block */

/* Lanes in the word `gone` end. */
void jit_end_lanes_of(jit_printer *p, const vec_value *v, LLVMValueRef gone);
/* Elements at base + offsets (bytes, i64s) of the lanes in `mask` (i1s; NULL: all); of the others
 * any value, and no write. */
LLVMValueRef jit_gather(jit_printer *p, LLVMTypeRef element, uint32_t bytes, LLVMValueRef base,
                        LLVMValueRef offsets, LLVMValueRef mask);
void jit_scatter(jit_printer *p, LLVMValueRef value, uint32_t bytes, LLVMValueRef base,
                 LLVMValueRef offsets, LLVMValueRef mask);
/* body.c: a function's text. */
void jit_function_attributes(const jit_printer *p, LLVMValueRef f);
void jit_declare_function(jit_printer *p, const vec_function *f);
bool jit_open_function(jit_printer *p, vec_function *f); /* false: out of memory */
void jit_close_function(jit_printer *p);
void jit_find_memory(jit_printer *p);
void jit_start_vars(jit_printer *p);
void jit_print_body(jit_printer *p);
LLVMValueRef jit_answer(jit_printer *p, const vec_value *whole); /* of WHOLE, from `begin` to
                                                                    `end_lane` */
void jit_print_function(jit_printer *p, vec_function *f);
void jit_kernel(jit_printer *p); /* kernel.c: all functions, into the module */

#endif

/* What the files that write vector form share: facts about the kernel IR, in its scratch pointers.
 * uniformity.c: who is one, affine, each, and where lanes part (rules for kir/analysis/lanes.h) ·
 * split.c: what is a block's · live.c: whose old values somebody reads · write.c: operations ·
 * keep.c: what more than one TURNS reads · guess.c: who is affine in most turns · form_access.c:
 * memory · block.c: control of a block · sums.c: sums and scans of a block · form.c: control, the
 * whole. */
#ifndef HG_VECTOR_FORM_INTERNAL_H
#define HG_VECTOR_FORM_INTERNAL_H

#include "kir/access.h"
#include "kir/analysis/lanes.h"
#include "kir/walk.h"
#include "vector/vector.h"

/* Facts about values of the kernel IR: each analysis has a table of its own, which it fills and
 * others read. v->scratch leads to v's row of each. */

/* uniformity.c, beside kir_lanes. */
typedef struct uniformity_fact {
    bool wanted_each; /* affine: somebody needs all elements */
    bool guard;       /* IF: the rest of the kernel is in one branch, so that the other lanes end */
    bool continues;   /* LOOP: divergent, and some lanes wait at its end for the next round */
    bool leaves;      /* IF, LOOP: lanes may leave the kernel or the function inside */
    uint32_t depth;   /* IF, LOOP: around it, itself included */
} uniformity_fact;

/* guess.c, of a value that is each: in every lane l it is first + l * stride, modulo its type,
 * where ok holds. */
typedef struct guess_fact {
    bool exists, wanted;
    bool swapped;            /* of lane l xor `swap`, not of l */
    bool sure;               /* ok is always NULL */
    bool agrees, wanted_one; /* a truth value: by guesses that always hold it is the same in all
                                lanes that are here; an IF asks for that */
    bool lazy;               /* elements are calculated where a guess fails, and nowhere else */
    bool by_guess; /* LOAD, STORE, CHECK: asks whether the guess of its index holds; what a LOAD of
                      one place has then is a guess of its own */
    uint8_t again; /* operations that this writes */
    uint32_t hidden_uses; /* by those who need elements only there */
    int64_t stride;
    vec_value *first, *ok, *swap; /* in vector form; ok NULL: true */
} guess_fact;

/* live.c, of IF and LOOP: variables that are read behind it · at the start of a branch or round; by
 * id. NULL: all. */
typedef struct live_fact {
    uint8_t *after, *inside[2];
} live_fact;

/* split.c, in a kernel of blocks. */
typedef struct split_fact {
    bool split; /* IF, LOOP: of the block */
    bool low;   /* the turn's, not the block's */
} split_fact;

/* keep.c, of a value that is low. */
typedef struct kept_fact {
    vec_value *turns;     /* where it is known */
    bool made;            /* in some TURNS */
    uint8_t remake;       /* what making it again costs; 0: it is kept */
    vec_value *origin[4]; /* one or each, first, ok, swap as they were made first; NULL: none */
    vec_var *kept[4];     /* where those are kept */
    uint32_t sets;        /* GET: how many SETs of its variable were written before it */
} kept_fact;

/* form.c: a value in vector form; of affine values `one` is the first lane's. */
typedef struct written_fact {
    vec_value *one, *each;
} written_fact;

/* form.c, block.c: where an IF or LOOP is written. */
typedef struct control_fact {
    vec_region *level;   /* split: what is around it in the block */
    vec_region *outside; /* where it is written */
    vec_region *into[2]; /* IF: where its branches are written */
    vec_var *mask[2];    /* who takes part in the branch, in the round; NULL: the lanes that run */
    vec_var *next; /* divergent LOOP: who takes part in the next round; mask[0] without `continues`
                    */
} control_fact;

typedef struct value_rows {
    kir_lanes lanes; /* how it lives in a turn: kir/analysis/lanes.h looks for it here */
    uniformity_fact *uniformity;
    guess_fact *guess;
    split_fact *split;
    kept_fact *kept;
    written_fact *written;
    live_fact *live; /* IF, LOOP; else NULL */
    control_fact *control;
} value_rows;

typedef struct var_fact {
    uint8_t form; /* kir_lane_form */
    int64_t stride;
    vec_var *var; /* of the function at work */
    struct {
        bool low, kept;   /* a turn's, not the block's; in several TURNS */
        vec_value *turns; /* low: where it is used first */
        uint32_t sets;    /* that are written */
    } block;
    struct { /* each */
        bool none, exists, wanted, sure;
        bool left; /* read behind the regions that lanes leave one by one, where lanes have what
                      each set last */
        int64_t stride;
        const kir_region *inner; /* the innermost that lanes are in one by one and a SET is in */
        vec_var *first, *ok;     /* of the guess of what was set; ok NULL: sure */
    } guess;
} var_fact;

typedef struct function_fact {
    kir_function_lanes lanes;
    bool masked, can_end; /* as of the vector function */
    vec_function *made;
    vec_var *result; /* with divergent_return */
} function_fact;

typedef struct former {
    kir_module *m;
    vec_kernel *k;
    hg_arena arena;          /* of this run */
    kir_function_list order; /* callers before callees */
    const char *unsupported;
    bool failed;     /* out of memory */
    bool has_masked; /* functions that are not pure: variables of the module are shared */
    /* at work */
    kir_function *f;
    vec_function *to;
    vec_region *into;  /* NULL: the TURNS that is open, or that opens with the next operation */
    vec_value *before; /* what comes behind the next operation; NULL: the region's end */
    const kir_region *region;
    uint32_t inst;
    void (*remake)(struct former *x, kir_value *v); /* ID or a value primitive */
    bool block;                                     /* the kernel function, of blocks */
    vec_region *level;                              /* of the block */
    vec_value *turns;                               /* open; NULL: none */
    vec_var *so_far; /* of the KIR_BLOCK at work: what all turns so far come to; NULL: none */
    vec_value *head; /* the last operation of what TURNS begins with: what came from elsewhere */
} former;

typedef struct vec_place {
    vec_region *into;
    vec_value *before;
} vec_place;

static inline uniformity_fact *uniformity_of(const kir_value *v) {
    return ((value_rows *)v->scratch)->uniformity;
}
static inline guess_fact *guess_of(const kir_value *v) { return ((value_rows *)v->scratch)->guess; }
static inline split_fact *split_of(const kir_value *v) { return ((value_rows *)v->scratch)->split; }
static inline kept_fact *kept_of(const kir_value *v) { return ((value_rows *)v->scratch)->kept; }
static inline written_fact *written_of(const kir_value *v) {
    return ((value_rows *)v->scratch)->written;
}
static inline live_fact *live_of(const kir_value *v) { return ((value_rows *)v->scratch)->live; }
static inline control_fact *control_of(const kir_value *v) {
    return ((value_rows *)v->scratch)->control;
}
static inline var_fact *fact_of_var(const kir_var *v) { return v->scratch; }
static inline function_fact *fact_of_function(const kir_function *f) { return f->scratch; }

/* Nobody reads it. */
static inline bool is_dead(const kir_value *v) { return v->uses == 0 && !kir_has_side_effect(v); }

enum { MOST_NESTED = 200 }; /* branches and loops, one in another */

/* facts.c: numbers the functions and makes the tables. False: out of memory. */
bool vec_make_tables(former *x);
/* The analyses of pipeline.def. False: out of memory, or x->unsupported. */
#define VEC_ANALYSIS(id, name, what) bool vec_find_##name(former *x);
#include "vector/pipeline.def"
/* Writes first, ok and elements of a value whose guess is wanted. */
void vec_form_guess(former *x, kir_value *v);
/* The same of what a variable is set to. True: nobody needs its elements. */
bool vec_set_guess(former *x, const kir_value *set);
vec_value *vec_each(former *x, kir_value *v);     /* an argument for an operation on each lane */
vec_value *vec_alone(former *x, vec_value *made); /* write.c: in turns of one lane its element */
/* One bool: that a is below the limit in all lanes, where it says so. NULL: no guess. */
vec_value *vec_below_by_guess(former *x, kir_value *a, kir_value *limit);
/* Of the check of an axis, one bool: where it is true the index is inside in all lanes. NULL: its
 * lanes' indices are not known from one. */
vec_value *vec_is_inside(former *x, const kir_value *fault);
/* Whether the conditions around the check of an axis settle it where the extent is at least *least
 * (implied.c). */
bool vec_is_implied(const kir_value *fault, uint64_t *least);
/* live.c. Whether lanes that are not here may still read what the variable held before a SET: an
 * unmasked SET would be seen. */
bool vec_is_read_elsewhere(const kir_value *set);

bool vec_is_live_in_round(const kir_value *loop, const kir_var *v); /* read at the start of a round
                                                                     */

/* split.c, for kernels of blocks, as all with `block` in it. */
bool vec_is_high(const former *x, const kir_value *v); /* written where the block's are */
/* keep.c */
void vec_is(former *x, kir_value *v, vec_value *made); /* what the vector form of v is; of affine
                                                          values the first lane's */
void vec_made(former *x, const kir_value *v);          /* one, each, first, ok are there */
void vec_bring(former *x, kir_value *v);               /* makes it known here */
void vec_use_var(former *x, const kir_var *v);
vec_value *vec_one(former *x, kir_value *v); /* of a value that is one; of an affine one the first
                                                lane's */
/* sums.c: KIR_BLOCK; what can be written in front of the barrier that stands before it */
void vec_begin_sum(former *x, const kir_value *barrier);
void vec_form_sum(former *x, kir_value *v);
/* block.c */
void vec_form_split_if(former *x, kir_value *v);
void vec_form_split_loop(former *x, kir_value *v, uint64_t cost);
void vec_enter_split(former *x, const kir_value *v, int i);
void vec_close_split(former *x, const kir_value *v);
void vec_add_to_block(former *x, vec_op op, uint64_t imm); /* behind all TURNS */

/* write.c. Nothing returns NULL but where it says so: out of memory sets x->failed and gives what
 * is harmless. */
vec_value *vec_add(former *x, vec_op op, uint8_t type, bool each, uint8_t nargs,
                   vec_value *const *args);
vec_value *vec_prim(former *x, kir_op op, uint8_t type, uint8_t nargs, vec_value *const *args);
vec_value *vec_and_of(former *x, vec_value *a, vec_value *b);
vec_value *vec_not_of(former *x, vec_value *a);
vec_region *vec_new_region(former *x, vec_value *owner);
vec_var *vec_new_var(former *x, uint8_t type, bool each, const char *name, bool shared);
vec_var *vec_new_mask(former *x);
vec_value *vec_get(former *x, vec_var *var);
void vec_set(former *x, vec_var *var, vec_value *value, vec_value *mask);
vec_value *vec_open_if(former *x, vec_value *condition); /* an IF with empty branches */
vec_value *vec_nowhere(void);                            /* of what cannot be made */
/* Stops what `op` stops (BREAK, RETURN) where the condition holds. */
void vec_jump_if(former *x, vec_value *condition, bool wanted, vec_op op);
vec_region *vec_turns(former *x); /* the region of the TURNS that is open */
void vec_close_turns(former *x);
/* The block's region in front of the TURNS that is open; back from there. */
vec_place vec_to_level(former *x);
void vec_back_to(former *x, vec_place place);
vec_value *vec_ramp(former *x, vec_value *first, int64_t stride);
vec_value *vec_running(former *x);
vec_var *vec_mask_of(const kir_region *r); /* who is in the region; NULL: the lanes that run */
vec_value *vec_mask_here(former *x);       /* NULL: the lanes that run */
vec_value *vec_mask_or_running(former *x);
/* Fills losing: the masks around here as far as the loop, or all (NULL); with next the loop's too.
 */
void vec_lose(former *x, vec_value *v, const kir_value *loop, bool next);
/* form_access.c: LOAD, STORE, CHECK, ATOMIC. */
void vec_form_access(former *x, kir_value *v);

#endif

/* Inside the device form: what the parts of kir_device share. One copying pass (kir/rewrite.h)
 * writes the new module; fields of the launch record, slots, fault sites and helper functions are
 * made when something first needs them.
 * Must not know: devices by name, languages. */
#ifndef HG_KIR_DEVICE_INTERNAL_H
#define HG_KIR_DEVICE_INTERNAL_H

#include "kir/device/device.h"
#include "kir/analysis/analysis.h"
#include "kir/rewrite.h"
#include "kir/builder.h"

/* 64 bits: a u64, or two u32 on targets without 64-bit integers (h not NULL). */
typedef struct device_wide {
    kir_value *l, *h;
} device_wide;

/* Where an access goes once it is checked: a slot, group memory, a computed address, or an arena
 * chosen by number. */
typedef enum device_place_kind {
    DEVICE_SLOT,
    DEVICE_GROUP,
    DEVICE_ADDRESS,
    DEVICE_ARENA
} device_place_kind;
typedef struct device_place {
    uint8_t kind; /* device_place_kind */
    int16_t slot;
    device_wide base; /* ADDRESS */
    kir_value *arena; /* ARENA: its number, u32 */
} device_place;

/* How a stopped lane goes on at the place that is being written. */
typedef enum device_stop {
    DEVICE_EXIT,   /* leaves the kernel */
    DEVICE_RETURN, /* leaves the function, its caller looks at `stopped` */
    DEVICE_BREAK,  /* leaves the innermost loop */
    DEVICE_FALL    /* runs along as a ghost */
} device_stop;

/* What is known of a function of the input, by its id. */
typedef struct device_function {
    bool stops;   /* a lane may stop in it */
    bool ghosts;  /* it holds something that stopped lanes must still do (a barrier, a value that
                     decides about one) */
    bool barrier; /* it reaches a barrier */
    bool faults;  /* … because of a fault or the clock */
} device_function;

/* Marks of values of the input. */
enum {
    DEVICE_KEPT = 1 /* decides whether barriers are reached: ghosts compute it */,
    DEVICE_NEEDED = 2 /* what is kept is computed from it */,
    DEVICE_READ = 4 /* an INPUT that is more than the handle of a slot */,
    DEVICE_BARE = 8 /* nothing computes with the float but STORE, and nothing is read behind that */
};

/* A loop being copied. */
typedef struct device_loop {
    kir_value *wrap;  /* the IF that keeps ghosts out, or NULL */
    kir_value *outer; /* the loop around it that looks at the clock, or NULL */
    kir_var *left; /* with outer: the program's loop has ended, not just the rounds that are counted
                      together */
    /* With outer: rounds that the target's compiler writes out, which are counted together. More
     * than one: the program's loop ends after so many, and one between it and the outer one goes on
     * with it. */
    uint32_t written;
    kir_value *middle;
    kir_var *round; /* of those */
} device_loop;

typedef struct device {
    rewrite_pass *p; /* NULL until the copying runs */
    const kir_module *in;
    kir_module *out;
    const kir_device_options *options;
    kir_device_layout *layout;
    bool i64, small, block, failed, ghosts;
    struct {               /* what it has */
        bool group_memory; /* the program's shared memory is in the group */
        bool fills;        /* … and begins as zeros */
        bool any_open;
        bool any_name; /* records have a NAME: open accesses, or faults with two values */
        bool can_exit; /* an EXIT somewhere; with ghosts: one that lanes of a group take apart */
        bool has_kept_loop;           /* a loop that ghosts stay in */
        bool tell_faults, tell_alive; /* words that the group shares at barriers */
    } kernel;
    device_function *functions;
    kir_side_table marks, zeros; /* of the input's values: DEVICE_…; low bits known to be zero */
    struct {                     /* variables of the form; NULL until needed */
        kir_var *stopped, *rounds, *looks, *open_base[2], *open_size[2], *open_arena, *open_state;
        kir_function *recorder; /* NULL: nobody records a fault. Without ghosts: called at the end
                                   of the kernel, with these: */
        kir_var *late_site /* + 1; 0: no fault */, *late_index[2], *late_name[2];
        kir_var *phase, *sync, *common_rounds, *block_stopped, *atomic_high;
    } vars;
    struct {                          /* what is being written */
        const kir_function *function; /* being written */
        device_wide ids[HG_ID_COUNT]; /* of the function being written */
        uint32_t loops;               /* loops around that ghosts leave */
        bool tail;                    /* of the kernel: nothing here must still be done by ghosts */
        bool maybe_stopped;           /* a lane here may be a ghost */
        bool stops_pending;           /* … once the access being written is done */
        const kir_value *last_kept;   /* of the operations of the kernel's body the last that holds
                                         something ghosts must do */
        HG_VEC(device_loop) open_loops; /* the innermost last */
        uint32_t open_ifs;              /* of the access being written */
        kir_value *ifs[8];
    } at;
} device;

/* Facts about a value of the function that is being written. */
static inline bool device_has(const device *d, const kir_value *v, uint8_t mark) {
    return (kir_side_of(&d->marks, d->at.function)[v->id] & mark) != 0;
}
static inline uint32_t device_zero_bits(const device *d, const kir_value *v) {
    return kir_side_of(&d->zeros, d->at.function)[v->id];
}

/* ---- common.c ---- */
bool device_is_open(const kir_value *access); /* its memory is found at run time */
kir_var *device_own_var(device *d, kir_var **var, uint8_t type, const char *name); /* a variable of
                                                                                      the form, made
                                                                                      when new */
void device_open_vars(device *d); /* what open_place leaves behind, made when new */
/* Helper functions of the output; see kir/rewrite.h. */
rewrite_helper device_helper(device *d, const char *name, uint8_t result, uint8_t params,
                             const uint8_t *types);
void device_helper_end(device *d, rewrite_helper *h);
void device_leave_lock(kir_builder *b, kir_value *taken); /* at the end of a loop that tries a lock:
                                                             out of it where the lock was 0 */

/* ---- wide.c: 64 bits either way ---- */
device_wide dwide(const device *d, kir_builder *b, uint64_t n);
device_wide dwide_of_u32(const device *d, kir_builder *b, kir_value *x);
device_wide dwide_get(kir_builder *b, kir_var *const vars[2]); /* one variable of u64, or two of u32
                                                                */
device_wide dwide_select(kir_builder *b, kir_value *c, device_wide x, device_wide y);
kir_value *dwide_low(const device *d, kir_builder *b, device_wide x);  /* u32 */
kir_value *dwide_high(const device *d, kir_builder *b, device_wide x); /* u32 */
device_wide dwide_add(const device *d, kir_builder *b, device_wide x, device_wide y);
kir_value *dwide_below(const device *d, kir_builder *b, device_wide x, device_wide y);
kir_value *dwide_equal(const device *d, kir_builder *b, device_wide x, device_wide y);
device_wide dwide_mul32(const device *d, kir_builder *b, device_wide x, kir_value *y); /* y: u32 */
uint8_t dwide_types(const device *d, uint8_t *types); /* parameters that carry one: 1 or 2 */
uint8_t dwide_args(device_wide x, kir_value **args);
device_wide dwide_param(const device *d, kir_builder *b, uint8_t *next);
/* An offset of the memory's type (u64 or u32) from 64 bits whose value is in bounds. */
kir_value *doffset(const device *d, device_wide x);
kir_value *doffset_const(const device *d, kir_builder *b, uint64_t n);
kir_value *doffset_of_u32(const device *d, kir_builder *b, kir_value *x);

/* ---- fields.c: the launch record, slots, ids ---- */
kir_value *device_field32(device *d, kir_builder *b, kir_field_kind kind, uint32_t index);
device_wide device_field64(device *d, kir_builder *b, kir_field_kind kind, uint32_t index);
kir_value *device_limit(device *d, kir_builder *b, kir_field_kind kind, uint32_t index,
                        uint64_t reach); /* of the offsets' type */
bool device_lower_input(device *d, const kir_value *v);
/* What a compiler may not compute with, as something that it does not know: the zero of a float,
 * the second argument of x - x, with hide_results every constant and every result that something
 * computes with. False: nothing to hide. */
bool device_hide(device *d, const kir_value *v);
hg_status device_lay_out(device *d); /* byte offsets in the record, at the end */
/* The slot of a kind that the form adds, made when new. */
int16_t device_slot(device *d, kir_slot_kind kind, uint32_t number);
void device_touch(device *d, int16_t slot, bool write); /* the slot's base is needed */
/* target.bind_arenas: of kir_device_options, for a slot of the form. */
uint8_t device_slot_arena(const device *d, uint64_t slot);
device_wide device_lane(device *d, kir_builder *b); /* global lane id */
kir_value *device_order(device *d, kir_builder *b); /* u32 that grows with the lane in the dispatch;
                                                       NULL where no value does */
kir_value *device_linear(device *d, kir_builder *b); /* index of the lane in its block */
kir_value *device_block_lanes(device *d, kir_builder *b);
device_wide device_block_number(device *d, kir_builder *b);
void device_prepare_ids(device *d, kir_builder *b, const kir_function *f); /* what the function
                                                                              reads, at its start */
void device_lower_id(device *d, const kir_value *v);

/* ---- group.c: what lanes know about other lanes that have stopped ---- */
enum { DEVICE_FAULT_WORD = 0, DEVICE_ALIVE_WORD = 4 }; /* byte offsets in the group's memory */
extern const device_place DEVICE_GROUP_MEMORY;
kir_var *device_stopped(device *d);
kir_value *device_is_live(device *d, kir_builder *b);
kir_var *device_phase(device *d);                  /* u32: barriers of the program passed */
kir_var *device_sync(device *d);                   /* u32: barriers passed, those of the form too */
void device_tell_group(device *d, kir_builder *b); /* this lane's fault or timeout stops the block
                                                      at its next barrier */

/* ---- fault.c: sites, records, stopping ---- */
uint32_t device_site(device *d, const kir_value *v, uint8_t code, uint8_t operand, uint16_t bytes);
device_stop device_stop_here(const device *d);
void device_stop_lane(device *d, kir_builder *b); /* the end of its region, but for FALL */
/* The lane faults where bad. name: NULL l for accesses to fixed memory. Where ghosts run along an
 * IF stays open for the good case, to be closed by device_close_ifs. */
void device_guard(device *d, kir_builder *b, kir_value *bad, uint32_t site, device_wide index,
                  device_wide name);
void device_mask(device *d, kir_builder *b); /* what follows is for lanes that have not stopped;
                                                closed as above */
void device_close_ifs(device *d, kir_builder *b);

/* ---- clock.c ---- */
/* A loop that looks at the clock is two: the inner one is the program's and ends every
 * KIR_POLL_ROUNDS rounds, the outer one looks and goes on with it; three, where rounds are written
 * out (device_loop). (Devices that run both sides of a branch under a mask would pay for a look in
 * each round.) */
void device_poll_begin(device *d, kir_builder *b, const kir_value *v,
                       device_loop *loop);                                  /* before
                                                                               the
                                                                               program's
                                                                               loop v
                                                                             */
void device_poll_round(device *d, kir_builder *b, const device_loop *loop); /* at its start */
void device_poll_end(device *d, kir_builder *b, device_loop *loop);         /* after it */
kir_value *device_ask_clock(device *d, kir_builder *b);                     /* bool: time is over */

/* ---- access.c: LOAD, STORE, CHECK, ATOMIC ---- */
void device_lower_access(device *d, const kir_value *v);

/* ---- memory.c: widths, alignment; zeros: low bits of the offset known to be zero ---- */
kir_value *device_load(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                       uint32_t zeros, uint8_t type, uint8_t bytes);
void device_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                  uint32_t zeros, kir_value *value, uint8_t bytes);
kir_value *device_raw_load(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                           uint8_t type, bool now);
void device_raw_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                      kir_value *value, bool now);
kir_value *device_raw_atomic(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                             kir_atomic op, kir_value *x, kir_value *y);
bool device_is_native(const device *d, const device_place *at, uint8_t bytes);
uint8_t device_place_types(const device *d, const device_place *at, uint8_t *types);
uint8_t device_place_args(const device_place *at, kir_value **args);
device_place device_place_params(const device *d, kir_builder *b, const device_place *at,
                                 uint8_t *next);
void device_place_name(const device_place *at, char *name, size_t size, const char *prefix,
                       uint32_t number);
device_place device_slot_place(device *d, int16_t slot, bool write);

/* ---- atomic.c ---- */
device_wide device_atomic64(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                            kir_atomic op, device_wide x, device_wide y);

/* ---- kept.c: an analysis of the input ---- */
hg_status device_find_kept(device *d) HG_NODISCARD;

/* The kernel's body becomes a function, and what its lanes left to record is recorded after it. The
 * function; NULL: it is as it was. */
kir_function *device_record_late(device *d, kir_module *m);
/* The kernel's body as a function that the kernel has still to call; NULL when out of memory. */
kir_function *device_wrap_kernel(kir_module *m);
kir_value *device_read_word(device *d, kir_builder *b, kir_fault_word word);
void device_write_word(device *d, kir_builder *b, kir_fault_word word, kir_value *x);

/* ---- rounds.c ---- */
/* target.max_rounds: an invocation whose loops may have been cut short says so. */
void device_watch_rounds(device *d, kir_module *m);

/* ---- resume.c ---- */
/* options.resumes: the lanes of m, whose body is the function `lane`, NULL: the kernel's. */
void device_resume(device *d, kir_module *m, kir_function *lane);

/* ---- shared.c ---- */
bool device_writes_shared_first(device *d); /* the group's shared memory needs no zeros */

/* ---- ghost.c: barriers that all lanes reach ---- */
void device_begin_group(device *d, kir_builder *b); /* at the start of the kernel */
void device_lower_barrier(device *d, const kir_value *v);
void device_follow_block(device *d, kir_builder *b); /* after a call that may have met a barrier:
                                                        leaves with the group */
void device_enter_kept(device *d, kir_builder *b, const kir_value *loop); /* at the start of a loop
                                                                             that ghosts stay in */

/* ---- shown.c ---- */
/* target.shown_uniform: the text of the form shows that all lanes of a group reach its barriers.
 * HG_ERROR_ISA: it does not. */
hg_status device_show_uniform(kir_module *m) HG_NODISCARD;

/* ---- inline.c, fold.c: an invocation that runs several lanes of a block ---- */
enum { DEVICE_MOST_INLINED = 4096 };
/* Functions with barriers, or (long_loops) with loops of more rounds than few. */
enum { DEVICE_FEW_ROUNDS = 64 };
bool device_has_long_loop(const kir_function *f); /* after kir_find_rounds */
hg_status device_inline(const kir_module *in, bool long_loops, kir_module **out) HG_NODISCARD;
hg_status device_fold(device *d) HG_NODISCARD; /* the kernel of d->out, in place */

#endif

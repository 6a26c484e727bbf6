/* What the files of a dispatch share: dispatch.c on top of code_choice.c, launch_record.c,
 * launch_memory.c, ranges.c, windows.c and fault_record.c. */
#ifndef HG_RUNTIME_DISPATCH_INTERNAL_H
#define HG_RUNTIME_DISPATCH_INTERNAL_H

#include "runtime/dispatch.h"

/* ---- code_choice.c ---- */
/* The code for a launch, found or made, and what of the command follows from it. *waits: it is
 * being made. */
hg_status hg_dispatch_choose(hg_submission *d, const hg_driver_launch *launch, bool proven,
                             bool *waits) HG_NODISCARD;
/* What it waits for does not concern it any more. */
void hg_dispatch_stop_asking(hg_submission *d);
static inline bool hg_dispatch_is_flat(const hg_submission *d) {
    return d->code->key.form == KIR_FORM_FLAT;
}
static inline uint32_t hg_ceil_div(uint64_t a, uint64_t b) { return (uint32_t)((a + b - 1) / b); }

/* ---- launch_memory.c ---- */
/* The fault record, and where they are asked for locks, and shared memory of all blocks in a slot.
 */
hg_status hg_launch_memory_make(hg_submission *d, const hg_driver_launch *launch, bool locks,
                                bool shared) HG_NODISCARD;

/* ---- launch_record.c ---- */
/* The memory of each slot of the code, and behind them of each binding where arenas are bound. */
void hg_launch_record_slots(hg_submission *d);
/* target.bind_arenas: which slots lie in one arena, for a key. All memory of the launch is there.
 */
hg_status hg_launch_record_arenas(hg_submission *d, const hg_driver_launch *launch,
                                  hg_code_key *key) HG_NODISCARD;
/* The fields of a window of `count` lanes, or all the others. */
void hg_launch_record_fill(hg_submission *d, bool window, uint64_t count);
/* Coordinates of the first lane of a FLAT window: 0 … 2 lane_idx, 3 … 5 block_idx. */
uint64_t hg_launch_digit(const hg_submission *d, uint64_t lane, uint32_t index);

/* The memory of each binding, from that of the slots. */
void hg_launch_record_bindings(const hg_submission *d, hg_range *bindings);

/* ---- ranges.c ---- */
/* Whether the device binds a part of an arena as it is. */
static inline bool hg_range_binds(const hg_memory_caps *caps, uint64_t offset, uint64_t size) {
    uint64_t cut = caps->cut_bytes, last = size ? offset + size - 1 : offset;
    return !caps->bound_bytes ||
           (size <= caps->bound_bytes && (!cut || offset / cut == last / cut));
}
/* Whether a launch has memory that the device does not bind whole. */
bool hg_ranges_needed(const hg_submission *d, const hg_driver_launch *launch);
/* Finds d->window.ranges, where the launch needs them; refused where lanes may reach more than the
 * device binds. */
hg_status hg_ranges_find(hg_submission *d) HG_NODISCARD;
void hg_ranges_forget(hg_submission *d);
/* The end of the range that a lane is in; UINT64_MAX: there are no ranges. */
uint64_t hg_ranges_end(hg_submission *d, uint64_t lane);
/* The bindings of the range that was asked for last. */
void hg_ranges_bind(hg_submission *d);

/* ---- windows.c ---- */
void hg_window_rewind(hg_submission *d);
/* The next window's groups and fields. */
void hg_window_cut(hg_submission *d);
/* Whether somebody wants to know how long the window that comes, or was, takes. */
bool hg_window_is_measured(const hg_submission *d);
/* Lanes that leave go on in a dispatch that follows. Where arenas are bound, memory is made before
 * code is chosen, and no code resumes. */
static inline bool hg_window_leaves(const hg_submission *d) {
    return d->code && d->code->layout.resume_bytes;
}

/* layout.resume_bytes: lanes that a window may have, of so many. */
uint64_t hg_window_resumes(const hg_submission *d, uint64_t lanes);
/* What the last window took decides how large the next one may be. */
void hg_window_measure(hg_submission *d);
/* To the next window's place; false: that was the last. */
bool hg_window_step(hg_submission *d);
/* Whether a launch of so many lanes is always one window: code chosen for it may rely on that.
 * flat_group: of a FLAT form; 0: of d's box of blocks. */
bool hg_window_never_cuts(const hg_submission *d, uint64_t lanes, uint32_t flat_group);
/* Whether the launch, as far as anybody knows, is one window. */
bool hg_window_is_one(const hg_submission *d);

/* ---- fault_record.c ---- */
hg_status hg_fault_record_make(hg_dispatch_queue *queue) HG_NODISCARD;
void hg_fault_record_free(hg_dispatch_queue *queue);
/* Memory for records that are copied, where there is none yet. */
hg_status hg_fault_record_make_copied(hg_dispatch_queue *queue) HG_NODISCARD;
hg_range hg_fault_record_range(const hg_submission *d);
/* Whether the host sees the launch's record. */
static inline bool hg_fault_record_is_seen(const hg_submission *d) {
    return d->queue->fault_words && !d->fault.copied;
}
/* A record that no launch has; HG_FAULT_RECORDS: none is free. */
uint8_t hg_fault_record_find(const hg_dispatch_queue *queue);
/* Its words where the host sees them. */
volatile uint32_t *hg_fault_record_words(const hg_dispatch_queue *queue, uint8_t number);
/* Words that host and device both see, as they are before a dispatch. */
void hg_fault_record_clean(hg_dispatch_queue *queue, uint8_t number);
/* The same words as host memory of a copy. */
void *hg_fault_record_clean_words(void);
/* Keeps the least fault in d->fault.found. True: the host has set the cancel word. *left: lanes go
 * on in another dispatch. */
bool hg_fault_record_read(hg_submission *d, bool *left);

#endif

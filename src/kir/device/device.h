/* Device form: a legalised kernel made ready for a device that runs groups of invocations. What
 * every device would otherwise do for itself is done here once, as kernel IR: bounds checks,
 * faults, the handle table, lane and block ids, exits from functions, barriers that stopped lanes
 * still reach, the clock, narrow accesses to word memory, missing 64-bit atomics. An emitter prints
 * what is left.
 * Must not know: devices by name, languages. */
#ifndef HG_KIR_DEVICE_H
#define HG_KIR_DEVICE_H

#include "kir/kir.h"

/* How a device sees memory. 32-bit accesses always exist. */
typedef struct kir_device_target {
    bool addressed; /* memory has 64-bit addresses that a kernel may compute; else it is reached
                       through bindings only */
    bool i64;       /* offsets are u64; else u32 (memory below 4 GiB a slot) */
    bool memory8, memory16, memory64; /* loads and stores of these widths on buffers; where missing:
                                         words, and atomics for narrow stores */
    bool shared8, shared16, shared64; /* the same on shared memory */
    bool atomic64, shared_atomic64;   /* where missing: under a lock in the device's lock words */
    uint32_t max_arenas;              /* not addressed: arenas that an open access can reach */
    bool bind_arenas; /* not addressed: no memory may be bound twice. Slots that lie in one arena
                         share a binding */
    bool bind_parts;  /* bind_arenas: only those do whose parts of it meet. A binding is the part
                         around its slots, from a multiple of KIR_PART_BYTES on */
    /* What WGSL asks for. whole_atomics: a binding, or group memory, that an atomic operation
     * reaches, or a binding that is read or written volatile, is reached by atomic operations alone
     * (layout.atomic_bindings). It is words: no memory8 and the like, no 64-bit atomics.
     * shown_uniform: a compiler must see that all lanes of a group reach a barrier. Control flow
     * around barriers then follows from the record, numbers of groups and marked loads
     * (mem.uniform) alone; a kernel whose flow does not is an error (it may be one where an
     * invocation runs several lanes and a function holds a barrier). */
    bool whole_atomics, shown_uniform;
    uint32_t written_rounds; /* loops of few operations that look at the clock count so many rounds
                                together, which the device's compiler writes out one after another
                                (kir_value.loop.written_out); a power of two, 0 and 1: each on its
                                own */
    uint32_t max_rounds; /* once all loops of an invocation together have had so many rounds, each
                            loop is left at the end of its first round without a word; 0: never. An
                            invocation is all lanes that run in step */
    bool rewrites;       /* the compiler takes floats for real numbers: it makes x of x + y - y, one
                            operation of a product and a sum, x * (1 / 3) of x / 3. It must not see
                            what becomes of a result, nor constants */
    bool pads_groups; /* the last vector of a group is filled up with lanes that do not exist: what
                         they read is 0, and loops that end by it go on for them */
} kir_device_target;

/* FLAT: a block is only a numbering; lane = first lane of the dispatch + linear invocation index.
 * For kernels without barrier and shared memory. BLOCK: a group of invocations is a block (or block
 * / fold); groups are numbered in three dimensions from the dispatch's first block. */
typedef enum kir_form { KIR_FORM_FLAT, KIR_FORM_BLOCK } kir_form;

enum { KIR_PART_BYTES = 256, KIR_AT_START = 128 };
/* Slots of a legalised module that a form with target.bind_arenas may have. */
enum { KIR_BOUND_SLOTS = 25 };

typedef struct kir_device_options {
    kir_device_target target;
    uint8_t form;      /* kir_form */
    bool small;        /* fewer than 2^32 - 2^24 lanes in the launch: ids are computed in u32 */
    bool whole_blocks; /* BLOCK: every lane of every block starts */
    bool at_origin; /* a dispatch is the whole launch: its first lane, its first block are number 0
                     */
    bool proven; /* the launch was checked: no access through a slot, to shared or class memory can
                    leave its bounds */
    bool shared_is_slot; /* shared memory is in a slot (it lives across steps), not in the group */
    bool hide_zeros;     /* kir_caps.folds_zeros */
    bool hide_results;   /* target.rewrites */
    uint32_t fold;       /* BLOCK: lanes of a block that one invocation runs; 0 and 1: one */
    bool alone;          /* BLOCK: a group is one invocation, so that no barrier is needed */
    bool resumes;  /* FLAT, without barriers: lanes leave loops with more rounds than the device
                      runs, and go on in the next dispatch (resume.c) */
    bool may_idle; /* a record of zeros runs no lane and touches no memory, whatever the groups */
    uint32_t block[3]; /* BLOCK: the launch's block where the code may depend on it; 0: read from
                          the record */
    uint64_t shared_bytes; /* likewise; 0: unknown */
    /* Slots of the legalised module, by bit, that share no byte that the kernel writes with another
     * slot or with class memory (kir_slot.distinct). Of no effect where the module has open
     * accesses, which may go anywhere. */
    uint64_t distinct;
    /* target.bind_arenas: numbers of the arenas, or with bind_parts of their parts, in which the
     * slots of the legalised module lie, and those that the form adds, by kir_slot_kind. The arenas
     * that open accesses reach have the numbers from 0. Slots without memory count as an arena.
     * KIR_AT_START beside a number: its part begins with the slot, which then has no base. */
    uint8_t slot_arenas[KIR_BOUND_SLOTS], kind_arenas[KIR_SLOT_ARENA];
} kir_device_options;

/* ---- what a launch must fill in: the record, a small block of uniform data ---- */
typedef enum kir_field_kind {
    KIR_FIELD_INPUT, /* module->inputs[index] of the legalised module, its low 4 or 8 bytes */
    KIR_FIELD_BASE, /* slot index: its address (addressed), or its offset in the arena that is bound
                     */
    KIR_FIELD_LIMIT, /* slot index, reach: size >= reach ? size - reach + 1 : 0, cut to the field; 0
                        without memory */
    KIR_FIELD_SHARED_LIMIT, /* the same of the block's shared memory */
    KIR_FIELD_SHARED_BYTES, /* of a block, without the reserved ones, rounded up to a multiple of
                               16: the distance between blocks in the shared slot, and what a group
                               sets to zero */
    KIR_FIELD_SIZE,         /* slot index: its size in bytes (fault texts) */
    KIR_FIELD_COUNT,        /* FLAT: lanes of this dispatch */
    KIR_FIELD_FIRST,        /* FLAT: global id of the dispatch's first lane */
    KIR_FIELD_LANES,        /* lanes of the launch */
    KIR_FIELD_BLOCK_DIM,    /* index 0 … 2 */
    KIR_FIELD_GRID_DIM,     /* index 0 … 2 */
    KIR_FIELD_DIGIT, /* FLAT: coordinates of the first lane: index 0 … 2 lane_idx, 3 … 5 block_idx.
                        The host cuts dispatches so that digit + COUNT stays below 2^32 for each */
    KIR_FIELD_BOX,    /* BLOCK: block_idx of group (0, 0, 0), index 0 … 2 */
    KIR_FIELD_TABLE,  /* handle table entries: index 0 buffers, 1 pools */
    KIR_FIELD_FUEL,   /* looks at the clock that a lane may take before it stops by itself;
                         UINT32_MAX: any number */
    KIR_FIELD_ARENAS, /* arenas bound */
    KIR_FIELD_ZERO    /* 0, which the device's compiler cannot know */
} kir_field_kind;
/* Fields and module->inputs of the device form are parallel. kir_input there: kind KIR_INPUT_FIELD,
 * type u32 or u64, index = byte offset in the record; u64 at multiples of 8. Without target.i64 a
 * u64 is two u32 fields, `high` marks the second. */
typedef struct kir_field {
    uint8_t kind; /* kir_field_kind */
    bool high;    /* bits 32 … 63 of the value */
    uint32_t index;
    uint64_t reach;
} kir_field;

/* Words of the fault record (slot KIR_SLOT_FAULT). All zero before the first launch, but BEST is
 * ~0. NAME, LIMIT and VALID are written for open accesses alone (site slot KIR_OPEN and space
 * BUFFER, POOL or FLAT); the host knows them for all others: a slot without memory is a bad handle.
 */
typedef enum kir_fault_word {
    KIR_FAULT_LOCK, /* 1: somebody writes */
    KIR_FAULT_BEST, /* low half of the least lane, in this dispatch's order, that faulted in phase
                       0; ~0: none */
    KIR_FAULT_HAPPENED,
    KIR_FAULT_SITE, /* index in layout->sites */
    KIR_FAULT_PHASE,
    KIR_FAULT_PHASE_HIGH, /* always 0: a phase has 32 bits. rounds.c reads it as a number that no
                             compiler knows */
    KIR_FAULT_LANE,
    KIR_FAULT_LANE_HIGH, /* global lane id */
    KIR_FAULT_INDEX,
    KIR_FAULT_INDEX_HIGH, /* the index argument, without the displacement; a flat address's 40-bit
                             offset; FAULT_IF: its first value, and the second in NAME */
    KIR_FAULT_NAME,
    KIR_FAULT_NAME_HIGH, /* the handle, or a flat address's handle index; bit 63 kept for a pool's
                            flat address */
    KIR_FAULT_LIMIT,
    KIR_FAULT_LIMIT_HIGH, /* size of the memory */
    KIR_FAULT_CANCEL, /* not 0: lanes stop at their next look. The host or a lane without fuel sets
                         it; KIR_CANCEL_ROUNDS: a loop has been cut short (target.max_rounds),
                         nothing that this dispatch wrote counts */
    KIR_FAULT_VALID,  /* 1: the handle was good, the offset was not */
    KIR_FAULT_LEFT,   /* layout.resume_bytes: not 0: a lane of the dispatch has left and goes on in
                         the next one */
    KIR_FAULT_WORDS = 20
} kir_fault_word;
typedef struct kir_fault_site {
    uint8_t code, operand, space; /* kir_fault; kir_space of the access */
    uint16_t bytes;               /* of the access, as written in the program */
    uint32_t inst;                /* source instruction; UINT32_MAX: none */
    int64_t disp;
    int16_t slot;        /* of the legalised module; KIR_OPEN */
    const char *message; /* FAULT_IF; in the module's arena */
} kir_fault_site;

/* Handle table (slot KIR_SLOT_TABLE): TABLE[0] entries of buffers by handle index, then TABLE[1] of
 * pools, 8 words each. Entry 0 of the buffers is class memory. A handle fits when its low 23 bits
 * are below the count and the entry's handle is equal; for flat addresses the index is enough and
 * an entry with handle 0 is only good at index 0. Handles from 2^64 - 96 are classes: 12288 bytes
 * each at 12288 · number in class memory. */
typedef enum kir_table_word {
    KIR_ENTRY_HANDLE,
    KIR_ENTRY_HANDLE_HIGH,
    KIR_ENTRY_ARENA, /* not addressed: index of the arena binding */
    KIR_ENTRY_VALID, /* 0: none; else 1, and what the host's handles have more than the program's:
                        bits 47 to 62 */
    KIR_ENTRY_BASE,
    KIR_ENTRY_BASE_HIGH, /* address, or offset in the arena */
    KIR_ENTRY_SIZE,
    KIR_ENTRY_SIZE_HIGH,
    KIR_ENTRY_WORDS = 8
} kir_table_word;

enum {
    KIR_CANCEL_ROUNDS = 2,
    KIR_LOCK_WORDS = 1024,    /* slot KIR_SLOT_LOCKS: zero when no launch runs */
    KIR_SHARED_RESERVED = 16, /* bytes at the start of group memory, in front of the program's
                                 shared memory */
    KIR_POLL_ROUNDS = 1024
}; /* loop rounds of a lane between looks at the clock */

typedef struct kir_device_layout {
    HG_VEC(kir_field) fields; /* parallel to module->inputs */
    HG_VEC(kir_fault_site) sites;
    uint32_t record_bytes;    /* a multiple of 8 */
    uint32_t shared_reserved; /* 0 or KIR_SHARED_RESERVED */
    /* Not 0: what a lane of a dispatch keeps for the next one in the shared slot, which is zero
     * before the first; dispatches of the same lanes are repeated as long as KIR_FAULT_LEFT says
     * so. */
    uint32_t resume_bytes;
    bool uses_group_memory; /* group memory of shared_reserved + the launch's shared bytes is needed
                             */
    int16_t fault_slot, table_slot, locks_slot, class_slot, shared_slot,
        first_arena_slot; /* in
                             module->slots,
                             -1:
                             not
                             used
                           */
    /* target.bind_arenas: the binding of each slot, in module->slots order. A binding is a whole
     * arena, or its part (bind_parts), and BASE fields are offsets in it. */
    HG_VEC(uint8_t) bindings;
    uint32_t binding_count;
    /* Whether some ATOMIC, or an access that must really happen (volatile_access), reaches a
     * binding, by its number; whether some ATOMIC reaches group memory. */
    HG_VEC(bool) atomic_bindings;
    bool atomic_group;
} kir_device_layout;

/* Where a slot is bound: on its own, unless arenas are. */
static inline uint32_t kir_device_binding(const kir_device_layout *layout, uint64_t slot) {
    return layout->bindings.count ? layout->bindings.data[slot] : (uint32_t)slot;
}
static inline uint32_t kir_device_binding_count(const kir_device_layout *layout,
                                                const kir_module *m) {
    return layout->bindings.count ? layout->binding_count : (uint32_t)m->slots.count;
}

/* target.whole_atomics: a LOAD or STORE that must be an atomic operation. */
static inline bool kir_device_is_atomic(const kir_device_layout *layout, const kir_value *access) {
    int16_t slot = access->u.mem.slot;
    if (slot >= 0) return layout->atomic_bindings.data[kir_device_binding(layout, (uint64_t)slot)];
    return access->u.mem.space == KIR_SHARED && layout->atomic_group;
}

/* What the device form contains, besides value primitives, variables, arrays, tables, calls and
 * structured control: INPUT            a field of the record (above) ID               imm =
 * kir_device_id, type u32 LOAD STORE ATOMIC with mem.bytes = size of the value's type (u8 … u64,
 * f32, f64; atomics u32, u64), unchecked = 1, has_index = 1: slot >= 0      args: byte offset from
 * the slot's base (u32, or u64 with target.i64), then operands slot KIR_ADDRESS (addressed only)
 * args: base address (u64; without i64 two u32, low first, split = 1), byte offset (u32 or u64),
 * operands space KIR_SHARED and slot KIR_OPEN: group memory; args: byte offset (u32), operands The
 * place is in bounds and aligned to mem.bytes. volatile_access: the device must really read or
 * write it now. uniform: a load of group memory that all lanes of the group do together and decide
 * the same by. A device may read it once for all of them (workgroupUniformLoad of WGSL). FENCE,
 * BARRIER   as they are. A BARRIER is reached by all invocations of the group; it makes memory of
 * group and buffers visible EXIT             only in the kernel function: return Functions may call
 * functions that stand behind them in the module. Variables of the module start as zero. Nothing
 * else: no CHECK, FAULT_IF, STEP (DERIVED where the caps keep it); no call returns with a stopped
 * lane unnoticed. Slots: module->slots of the legalised module come first, in their order, then
 * those that the form needs (kir_slot.kind). */

/* ---- device.c ----
 * Requires: a legalised, simplified module with slots (kir_provenance before legalisation); not changed but for ids, uniformity, ranges and loop.bounded.
 * Provides: a new module in device form, verified with kir_verify, and its layout. HG_ERROR_ISA: the form is not possible (FLAT with a
 * barrier). */
hg_status kir_device(const kir_module *in, const kir_device_options *options, kir_module **out,
                     kir_device_layout *layout) HG_NODISCARD;
void kir_device_layout_free(kir_device_layout *layout);
/* Whether a module in device form numbers invocations in one direction (KIR_ID_THREAD), so that all
 * of its groups must be dispatched in the first. */
bool kir_device_is_flat(const kir_module *m);
/* Whether the kernel reads block_idx or lane_idx, so that a BLOCK form saves the divisions of the
 * FLAT one. */
bool kir_device_wants_blocks(const kir_module *in);

#endif

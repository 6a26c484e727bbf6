/* Shared between the files of the reference interpreter. */
#ifndef HG_TESTS_REF_INTERNAL_H
#define HG_TESTS_REF_INTERNAL_H

#include "oracle/oracle.h"
#include "reference.h"

__extension__ typedef __int128 ref_int128;

enum { REF_STACK = 256, REF_NO_TYPE = 0xFF };
#define REF_CLASS_BYTES UINT64_C(12288)
#define REF_CLASS_MEMORY_BYTES UINT64_C(1179648)

typedef struct ref_object {
    struct ref_object *next;
    uint64_t handle, size;
    uint8_t *bytes;
    uint8_t space;
    bool owned; /* made by pool.alloc */
} ref_object;

typedef enum lane_state { LANE_RUNS, LANE_AT_BARRIER, LANE_AT_COLLECTIVE, LANE_STOPPED } lane_state;

/* What a lane added to a class's resonance, or the phase it wrote there last. */
typedef struct ref_own {
    struct ref_own *next;
    uint32_t cls;
    bool wrote;
    uint32_t phase;
    oracle_sum sum;
} ref_own;

typedef struct ref_lane {
    uint64_t id, steps;
    uint32_t block, local; /* linear */
    uint32_t pc, depth;
    lane_state state;
    uint16_t predicates, predicates_set;
    uint32_t stack[REF_STACK];
    uint8_t types[256];
    uint8_t *values; /* a slot for each register the program names */
    uint32_t phase;  /* of phase.get */
    ref_own *own;
} ref_lane;

struct ref_machine {
    const hg_program *program;
    ref_object *objects;
    uint8_t *classes;
    bool owns_classes;
    uint8_t start_types[256];
    uint8_t start_values[256][ORACLE_MAX_BYTES];
    uint16_t slot[256]; /* of a register among the used ones */
    uint32_t slots, slot_bytes;
    ref_launch launch;
    uint64_t block_count, block_lanes, lane_count;
    ref_lane *lanes;
    uint8_t *values, *shared, *own; /* own: private memory, a piece a lane */
    uint64_t step, phase;
    uint32_t start_phase[96], new_phase[96]; /* of the context, and as the highest lane left them */
    uint64_t phase_lane[96];                 /* that lane + 1 */
    oracle_sum resonance[97];                /* at the start; 96: of all classes */
    bool has_fault, block_has_fault;         /* any block; the running block */
    ref_fault fault;                         /* the first in order so far */
    ref_fault broken;                        /* why the run is REF_BROKEN */
};

/* Where one instruction left its lane. */
typedef enum ref_next {
    NEXT_FOLLOWING,
    NEXT_JUMPED,
    NEXT_STOPPED,
    NEXT_BARRIER,
    NEXT_COLLECTIVE,
    NEXT_FAULT,
    NEXT_BROKEN
} ref_next;

/* ref_axis.c */
ref_next ref_axis(ref_machine *m, ref_lane *lane, const hg_inst *inst);

/* reference.c: records a fault of the current step and phase, keeping the first in order. lane may
 * be NULL (whole-array). */
ref_next ref_fail(ref_machine *m, const ref_lane *lane, uint64_t instruction, uint32_t operand,
                  const char *code, const char *format, ...) HG_PRINTF(6, 7);
ref_next ref_break(ref_machine *m, const ref_lane *lane, uint64_t instruction, const char *format,
                   ...) HG_PRINTF(4, 5);

/* ref_lane.c: registers and single instructions. Reading gives NULL (and records REF_BROKEN) where
 * type or initialisation is wrong. */
const uint8_t *ref_read(ref_machine *m, const ref_lane *lane, uint8_t reg, hg_type type);
bool ref_read_uint(ref_machine *m, const ref_lane *lane, uint8_t reg, uint64_t *value); /* u32 or
                                                                                           u64 */
bool ref_read_count(ref_machine *m, const ref_lane *lane, const hg_operand *operand,
                    uint64_t *value);
void ref_write(ref_machine *m, ref_lane *lane, uint8_t reg, hg_type type, const uint8_t *bytes);
ref_next ref_execute(ref_machine *m, ref_lane *lane);

void ref_write_uint(ref_machine *m, ref_lane *lane, uint8_t reg, hg_type type, uint64_t value);
bool ref_read_predicate(ref_machine *m, const ref_lane *lane, uint8_t p, uint8_t *value);
void ref_write_predicate(ref_lane *lane, uint8_t p, bool value);

/* ref_atlas.c: instructions of block 1C0. */
ref_next ref_atlas(ref_machine *m, ref_lane *lane, const hg_inst *inst);
void ref_atlas_free(ref_lane *lane);

/* ref_memory.c: the bytes of a class [offset, offset + size). */
/* Of ldp and stp. */
uint8_t *ref_resolve_private(ref_machine *m, const ref_lane *lane, uint32_t operand, uint64_t size);
uint8_t *ref_resolve_class(ref_machine *m, const ref_lane *lane, uint32_t operand, uint32_t cls,
                           uint64_t offset, uint64_t size);
/* ref_memory.c: the bytes [address, address + size); NULL after recording the fault (whole-array
 * instructions: without lane). */
uint8_t *ref_resolve(ref_machine *m, const ref_lane *lane, uint32_t operand, uint64_t size,
                     bool collective, bool atomic);
uint8_t *ref_resolve_pool(ref_machine *m, const ref_lane *lane, uint32_t operand, uint64_t handle,
                          uint64_t offset, uint64_t size);
/* Bytes from where an array operand begins to the end of its memory; it was resolved before. */
uint64_t ref_room(ref_machine *m, const ref_lane *lane, uint32_t operand);
ref_object *ref_find(ref_machine *m, ref_space space, uint64_t handle);
ref_object *ref_add(ref_machine *m, ref_space space, uint64_t handle, uint8_t *bytes,
                    uint64_t size);
void ref_remove(ref_machine *m, ref_object *object);

/* ref_block.c: an instruction on the lanes of a block, of which those that have not stopped wait at
 * it. False: REF_BROKEN, or no memory. */
bool ref_block(ref_machine *m, ref_lane *lanes, uint64_t count, uint32_t instruction);
/* ref_collective.c: the whole-array instruction at which all live lanes stand. */
ref_next ref_collective(ref_machine *m, uint32_t instruction);
/* ref_conv2d.c */
ref_next ref_conv2d(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
/* Of its instructions, each in a file of its name. */
ref_next ref_sparse_gemm(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_tensor_contract(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_quantized_gemm(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
/* ref_windows.c */
ref_next ref_conv(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_pool(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
/* ref_indices.c: gather, scatter and scatter_add; segment_reduce; arg_max and arg_min */
ref_next ref_gather(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_segment_reduce(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_arg(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_scan(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
ref_next ref_reduce_axis(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
/* sort and top_k. */
ref_next ref_sort(ref_machine *m, const ref_lane *lane, const hg_inst *inst);
/* ref_fft.c */
ref_next ref_fft(ref_machine *m, const ref_lane *lane, const hg_inst *inst);

#endif

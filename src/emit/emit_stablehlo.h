/* Kernels as StableHLO: the lanes of a launch do each operation together, so that a value is a
 * tensor with an element a lane. A branch is taken by a mask, a loop goes on while a lane is in it,
 * memory is a tensor that each store makes anew. The text takes old operations alone (StableHLO
 * 1.0), no dynamic shapes: it belongs to the sizes of a launch.
 * Must not know: PJRT, devices. */
#ifndef HG_EMIT_STABLEHLO_H
#define HG_EMIT_STABLEHLO_H

#include "emit/emit.h"

/* An array of the launch: some slots lie in it. */
typedef struct emit_stablehlo_array {
    uint64_t words;     /* at least 1 */
    uint8_t word_bytes; /* 1, 2, 4, 8: divides each access and each base of its slots */
    bool written;       /* out: the kernel may write it */
} emit_stablehlo_array;

#define EMIT_STABLEHLO_NOWHERE UINT32_MAX

/* Sizes that the text is made for. Everything else is in the record. */
typedef struct emit_stablehlo_launch {
    uint32_t grid[3], block[3];
    uint64_t lanes;                        /* that start */
    uint64_t shared_bytes, shared_scratch; /* as of hg_driver_launch */
    emit_stablehlo_array *arrays;
    uint32_t array_count;
    const uint32_t *slot_arrays; /* of each slot; EMIT_STABLEHLO_NOWHERE: an invalid handle */
    uint32_t class_array;        /* EMIT_STABLEHLO_NOWHERE: none */
    uint32_t shared_array; /* shared_bytes a block; EMIT_STABLEHLO_NOWHERE: zeros for each block */
    uint8_t shared_word;   /* as word_bytes, of shared memory */
    /* The table of all memory, for accesses that only a handle names: entries, buffers then pools,
     * of which there is room for so many; the array of each arena that they name. */
    uint64_t table_room;
    const uint32_t *table_arrays;
    uint32_t table_array_count;
} emit_stablehlo_launch;

/* Of an access; the first value is the index, the handle, the offset, the index. */
typedef enum emit_stablehlo_fault {
    EMIT_STABLEHLO_OUTSIDE, /* of its slot, class or shared memory */
    EMIT_STABLEHLO_HANDLE,
    EMIT_STABLEHLO_ALIGN,
    EMIT_STABLEHLO_OUTSIDE_SIZE /* of memory of that size */
} emit_stablehlo_fault;

/* The operations that a fault may come from: a fault's code is the index of one, plus 1. */
typedef HG_VEC(const kir_value *) emit_stablehlo_sites;

/* Operations of its modules' values: no f64 is missing, no fused multiply-add, no halves. Whether
 * subnormals are kept is for the numeric probe to say. */
void emit_stablehlo_caps(kir_caps *caps);
/* The bytes that the places of all accesses to a memory are multiples of, 8 at the most: of each
 * slot, then of class memory, of shared memory, and of all memory that an access may reach by its
 * handle alone. It writes ids and counts of uses, which emit_stablehlo reads. */
enum { EMIT_STABLEHLO_CLASS, EMIT_STABLEHLO_SHARED, EMIT_STABLEHLO_ANY, EMIT_STABLEHLO_WORDS };
hg_status emit_stablehlo_words(kir_module *kernel, uint8_t *words) HG_NODISCARD;
/* A module whose function @main takes a record of 64-bit numbers and the arrays, in order, and
 * returns five 64-bit numbers for the first fault (code, 0: none; phase, lane, two values), then
 * the arrays that the kernel may write, as they are afterwards, in place of what was given unless a
 * loop of it may take long. The record: 0, the rounds that loops may go together, where class
 * memory and the shared_array's part begin, the inputs, size and begin of each slot, in bytes, and
 * where an access is open the table: how many buffers and pools, then kir_table_word's, two a
 * number. Second value of a fault of an access: kind + 4 for a pool that a flat address names + 8
 * size, where kinds are emit_stablehlo_fault.
 * Requires: stage LOW, for emit_stablehlo_caps. HG_ERROR_ISA, with the operation, where StableHLO
 * has no words for it. */
hg_status emit_stablehlo(const kir_module *kernel, const emit_stablehlo_launch *launch,
                         const char *about, hg_text *out, emit_stablehlo_sites *sites) HG_NODISCARD;

#endif

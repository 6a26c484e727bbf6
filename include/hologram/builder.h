/* Building programs in C and C++: labels, structured loops, parameters by name, one function an
 * instruction. */
#ifndef HOLOGRAM_BUILDER_H
#define HOLOGRAM_BUILDER_H

#include <hologram/dim.h>
#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A program under construction. Every call returns its builder, so calls can be chained. The first
 * mistake sticks: later calls do nothing and hg_builder_build reports it. A NULL builder (out of
 * memory) is allowed everywhere. Not thread-safe.
 */
typedef struct hg_builder hg_builder;

/** A place in the code, known before or after it is placed. */
typedef struct hg_label {
    uint32_t id;
} hg_label;

/** One operand of an instruction, made by the functions hg_addr_…, hg_count…, hg_imm_… and hg_arg_…
 * below. */
typedef struct hg_arg {
    uint8_t kind;  /**< HG_ARG_… */
    uint8_t reg;   /**< register or predicate */
    uint8_t place; /**< place of an address, as in the binary */
    uint8_t has_index, index, page, byte;
    uint64_t value;
    int64_t disp;
    double real;
    const void *bytes; /**< a literal's bits, little-endian, a name, or a tuple's items; borrowed
                          for the call */
} hg_arg;

enum {
    HG_ARG_REG,
    HG_ARG_PRED,
    HG_ARG_NO_PRED,
    HG_ARG_LABEL,
    HG_ARG_ADDRESS,
    HG_ARG_ARRAY,
    HG_ARG_NUMBER,
    HG_ARG_SIGNED,
    HG_ARG_REAL,
    HG_ARG_BITS,
    HG_ARG_COUNT_REG,
    HG_ARG_NAME,
    HG_ARG_TUPLE
};

/** In place of a type: that of the first source register; of whole-array instructions that of the
 * elements of their arrays, where these are parameters that have been declared before, else f32;
 * f32 for pool.load and nbr.load. */
#define HG_TYPE_INFER HG_TYPE_COUNT

/* ---- the program ---- */

/** An empty program. name: an identifier. NULL when out of memory. */
HG_API hg_builder *hg_builder_create(const char *name);
HG_API void hg_builder_destroy(hg_builder *builder);
/** Instructions so far. */
HG_API size_t hg_builder_len(const hg_builder *builder);
/**
 * The program as built so far; the builder can go on. Types left out are inferred.
 * @return HG_OK and a program the caller releases; HG_ERROR_ISA with the first mistake,
 * HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_builder_build(const hg_builder *builder, hg_diagnostics *diagnostics,
                                  hg_program **program) HG_NODISCARD;

/**
 * Instructions that are added from now on come from this place of some source, line and column from
 * 1: messages name it, and it is the debug information of the program. 0, 0: from none. The columns
 * of operands are not kept.
 */
HG_API hg_builder *hg_builder_at(hg_builder *builder, uint32_t line, uint32_t column);

/* ---- parameters and launch defaults (language.md 5) ---- */

HG_API hg_builder *hg_builder_param_scalar(hg_builder *builder, uint8_t reg, const char *name,
                                           hg_type type);
/** value: hg_imm_… */
HG_API hg_builder *hg_builder_param_scalar_default(hg_builder *builder, uint8_t reg,
                                                   const char *name, hg_type type, hg_arg value);
/** dir: HG_PARAM_IN, OUT or INOUT. rank: number of dims (0: one element), or HG_NO_DIMS for any
 * shape. */
HG_API hg_builder *hg_builder_param_buffer(hg_builder *builder, uint8_t reg, const char *name,
                                           hg_type type, int dir, const hg_dim *dims,
                                           uint32_t rank);
/** An array of the launch's own, zeros when it begins: nobody sets it. Its size is the product of
 * `rank` dims (0: one element). */
HG_API hg_builder *hg_builder_scratch(hg_builder *builder, uint8_t reg, const char *name,
                                      hg_type type, const hg_dim *dims, uint32_t rank);
/** A table that travels with the program: read only, in memory once a device, and nobody sets it.
 * dims: numbers; elements: little-endian, in C order, as many as the product of the dims says (0
 * dims: one), copied. */
HG_API hg_builder *hg_builder_data(hg_builder *builder, uint8_t reg, const char *name, hg_type type,
                                   const hg_dim *dims, uint32_t rank, const void *elements);
HG_API hg_builder *hg_builder_param_pool(hg_builder *builder, uint8_t reg, const char *name,
                                         uint64_t bytes);
/** Bytes of private memory of each lane, zero when it starts (ldp, stp). */
HG_API hg_builder *hg_builder_private(hg_builder *builder, uint64_t bytes);
/** Bytes of shared memory a block needs. */
HG_API hg_builder *hg_builder_shared(hg_builder *builder, uint64_t bytes);
HG_API hg_builder *hg_builder_block(hg_builder *builder, uint32_t x, uint32_t y, uint32_t z);
/** Number of lanes: the product of the extents, 1 … 8 of them. */
HG_API hg_builder *hg_builder_lanes(hg_builder *builder, const hg_dim *extents, uint32_t count);
/** Number of blocks in each direction, 1 … 3 extents; the lanes of a block are hg_builder_block's.
 * In place of hg_builder_lanes. */
HG_API hg_builder *hg_builder_grid(hg_builder *builder, const hg_dim *extents, uint32_t count);
HG_API hg_builder *hg_builder_relaxed(hg_builder *builder);
HG_API hg_builder *hg_builder_meta(hg_builder *builder, const char *key, const char *value);
/** Where lanes start; default: the first instruction. */
HG_API hg_builder *hg_builder_entry(hg_builder *builder, hg_label label);

/* ---- labels and loops ---- */

/** A new label without a name. */
HG_API hg_label hg_builder_label(hg_builder *builder);
/** The label of that name; made at the first call. */
HG_API hg_label hg_builder_label_named(hg_builder *builder, const char *name);
/** Puts the label in front of the next instruction. */
HG_API hg_builder *hg_builder_place(hg_builder *builder, hg_label label);
/** The instructions up to hg_builder_endloop run `iterations` times; counter (u32) counts down
 * iterations - 1 … 0. Nests. */
HG_API hg_builder *hg_builder_loop(hg_builder *builder, uint8_t counter, uint32_t iterations);
HG_API hg_builder *hg_builder_endloop(hg_builder *builder);

/* ---- instructions ---- */

/**
 * Appends the instruction with that opcode (language.md 7). types: one a suffix, HG_TYPE_COUNT
 * where there is none.
 * @param args  one an operand of the instruction's row, in its order. Of operands with names a
 * zeroed one (hg_left_out) is left out, which the list of instructions allows and explains of each;
 * it is something else than hg_count(0), the number 0
 */
HG_API hg_builder *hg_builder_add(hg_builder *builder, uint16_t opcode, hg_type type, hg_type type2,
                                  const hg_arg *args, uint32_t count);

static inline hg_arg hg_arg_make(int kind, uint8_t reg, uint64_t value) {
    hg_arg a = {(uint8_t)kind, reg, 0, 0, 0, 0, 0, value, 0, 0.0, 0};
    return a;
}
/** A named operand that is left out; the same as a field of a structure of operands that nobody
 * sets. */
static inline hg_arg hg_left_out(void) { return hg_arg_make(HG_ARG_REG, 0, 0); }
static inline hg_arg hg_arg_reg(uint8_t reg) { return hg_arg_make(HG_ARG_REG, reg, 0); }
static inline hg_arg hg_arg_pred(uint8_t pred) { return hg_arg_make(HG_ARG_PRED, pred, 0); }
static inline hg_arg hg_arg_label(hg_label label) { return hg_arg_make(HG_ARG_LABEL, 0, label.id); }
static inline hg_arg hg_arg_number(uint64_t value) { return hg_arg_make(HG_ARG_NUMBER, 0, value); }
static inline hg_arg hg_arg_name(const char *name) {
    hg_arg a = hg_arg_make(HG_ARG_NAME, 0, 0);
    a.bytes = name;
    return a;
}

/** A number of elements or bytes, given or in a register (u32 or u64). */
static inline hg_arg hg_count(uint64_t value) { return hg_arg_make(HG_ARG_NUMBER, 0, value); }
static inline hg_arg hg_count_reg(uint8_t reg) { return hg_arg_make(HG_ARG_COUNT_REG, reg, 0); }

/** A tuple of counts, or of such tuples; the items are borrowed until the instruction is added. */
static inline hg_arg hg_tuple_of(const hg_arg *items, uint32_t count) {
    hg_arg a = hg_arg_make(HG_ARG_TUPLE, 0, count);
    a.bytes = items;
    return a;
}
/** true or false, as a number: 1 or 0. */
static inline hg_arg hg_flag(int value) { return hg_arg_make(HG_ARG_NUMBER, 0, value != 0); }

/** A literal. Integers must fit the type; reals are rounded once to it. */
static inline hg_arg hg_imm_u64(uint64_t value) { return hg_arg_make(HG_ARG_NUMBER, 0, value); }
static inline hg_arg hg_imm_i64(int64_t value) {
    return hg_arg_make(HG_ARG_SIGNED, 0, (uint64_t)value);
}
static inline hg_arg hg_imm_f64(double value) {
    hg_arg a = hg_arg_make(HG_ARG_REAL, 0, 0);
    a.real = value;
    return a;
}
/** size(type) bytes, little-endian. Of alpha, beta and eps of f16 and bf16 instructions, which are
 * f32: two bytes of the instruction's type. */
static inline hg_arg hg_imm_bits(const void *bytes) {
    hg_arg a = hg_arg_make(HG_ARG_BITS, 0, 0);
    a.bytes = bytes;
    return a;
}

static inline hg_arg hg_addr_make(uint8_t place, uint8_t reg, uint64_t value) {
    hg_arg a = hg_arg_make(HG_ARG_ADDRESS, reg, value);
    a.place = place;
    return a;
}
/** The same address with a byte offset in a register (u32 or u64) added. */
static inline hg_arg hg_addr_index(hg_arg address, uint8_t reg) {
    address.has_index = 1;
    address.index = reg;
    return address;
}
/** The same address, whose index counts `scale` bytes (1 to 65535) instead of one: [handle +
 * index*scale]. To be called after hg_addr_index. The sum is exact: an index of 2^62 with scale 4
 * is out of bounds. */
static inline hg_arg hg_addr_scale(hg_arg address, uint16_t scale) {
    address.has_index = 2;
    address.page = (uint8_t)(scale & 255);
    address.byte = (uint8_t)(scale >> 8);
    return address;
}
/** The same address with that many bytes added. */
static inline hg_arg hg_addr_disp(hg_arg address, int64_t bytes) {
    address.disp = bytes;
    return address;
}
/** [handle + index], [buf(handle)]: the buffer whose handle is in a register. */
static inline hg_arg hg_addr_buffer(uint8_t handle, uint8_t index) {
    return hg_addr_index(hg_addr_make(6, handle, 0), index);
}
static inline hg_arg hg_addr_buffer_start(uint8_t handle) { return hg_addr_make(6, handle, 0); }
/** [pool(handle)]: the pool whose handle is in a register. */
static inline hg_arg hg_addr_pool(uint8_t handle) { return hg_addr_make(7, handle, 0); }
/** [bufN], [poolN]: by a handle known now. */
static inline hg_arg hg_addr_buffer_handle(uint64_t handle) { return hg_addr_make(0, 0, handle); }
static inline hg_arg hg_addr_pool_handle(uint64_t handle) { return hg_addr_make(1, 0, handle); }
/** [private]: the lane's private memory. */
static inline hg_arg hg_addr_private(void) { return hg_addr_make(10, 0, 0); }
/** [shared]: this block's shared memory. */
static inline hg_arg hg_addr_shared(void) { return hg_addr_make(2, 0, 0); }
/** [classN]: class memory. */
static inline hg_arg hg_addr_class(uint8_t number) { return hg_addr_make(3, 0, number); }
/** [phi(class, page, byte)]. */
static inline hg_arg hg_addr_phi(uint8_t number, uint8_t page, uint8_t byte) {
    hg_arg a = hg_addr_make(4, 0, number);
    a.page = page;
    a.byte = byte;
    return a;
}
/** [reg]: a flat address. */
static inline hg_arg hg_addr_flat(uint8_t reg) { return hg_addr_make(5, reg, 0); }
/** A whole array: the buffer whose handle is in a register. Arrays may also be addresses. */
static inline hg_arg hg_array(uint8_t handle) {
    hg_arg a = hg_addr_make(8, handle, 0);
    a.kind = HG_ARG_ARRAY;
    return a;
}

#ifdef __cplusplus
}
#endif
#include <hologram/builder_ops.h>
#endif

/* Shared by the files of the SPIR-V writer: the module being written, its sections, types and
 * constants, values. */
#ifndef HG_EMIT_EMIT_SPIRV_INTERNAL_H
#define HG_EMIT_EMIT_SPIRV_INTERNAL_H

#include "emit/emit.h"

enum {
#define SPV_OP(name, opcode, operands) Op##name = (opcode),
#include "emit/spirv.def"
#define SPV_ENUM(kind, name, value) Spv_##kind##_##name = (value),
#include "emit/spirv.def"
};

typedef struct spv_op_info {
    const char *name, *operands;
} spv_op_info;
/* NULL: an instruction that is never written. */
const spv_op_info *spv_info(uint32_t opcode);
const char *spv_enumerant(char kind, uint32_t value); /* NULL: none of ours */
/* Words that a string takes, its final zero included. 0: it does not end before limit. */
uint32_t spv_string_words(const uint32_t *words, uint32_t limit);

/* How the memory of a slot is reached from the function that is being written. */
typedef struct spv_slot {
    bool read, written, atomic, coherent;
    int16_t holder; /* descriptors: the first slot of its binding, which has the variables and what
                       is known of them */
    bool alone;     /* descriptors: one variable, and no other one reaches its memory */
    uint8_t widths; /* descriptors: log2 of the elements' sizes, by bit */
    uint32_t variable[4]; /* descriptors: by log2 of the element's size */
    uint32_t pointer;     /* addressed without 64-bit integers: of the block, in this function */
    uint32_t base[4];     /* descriptors: where it begins, by log2 of the element's size, in this
                             function */
} spv_slot;

enum {
    SPV_NESTED = 64
}; /* operands that wait at once; an instruction written with SPV below has at most 9 */
enum { SPV_DO_NOT_UNROLL = 2 }; /* the bit of a loop control */

typedef struct spirv {
    const kir_module *module;
    const kir_device_layout *layout;
    const emit_spirv_options *options;
    const kir_function *function; /* being written */
    struct { /* sections of the module and of the function that is being written */
        emit_words debug, names, decorations, globals, functions;
        emit_words vars, prologue, body; /* of the function: variables, what is read once at its
                                            top, the rest */
        emit_words interface, todo; /* global variables; functions still to be written, as indices
                                       in all_functions */
        emit_words capabilities;
        emit_words *at; /* where operations are written: body or prologue */
    } to;
    uint32_t next_id;
    uint32_t operands[SPV_NESTED + 9], operand_count; /* of instructions that are not written yet
                                                         (SPV below) */
    struct {                                          /* ids of what there is once */
        uint32_t *table; /* open hash table of places in globals, plus 1 */
        uint32_t table_size, table_count;
        uint32_t types[KIR_TYPE_COUNT];
        uint32_t glsl;          /* the imported instruction set */
        uint32_t extended_type; /* struct { u32, u32 } of UMulExtended */
        uint32_t group_memory;
        uint32_t blocks[4][2]; /* struct { uN[] } by log2 of the element's size, plain and coherent
                                */
        uint32_t runtime_arrays[4];
        uint32_t cell_struct[KIR_TYPE_COUNT]; /* addressed: struct { coherent T } */
        uint32_t builtins[4];
        uint32_t params[16];
        uint32_t device_ids[KIR_DEVICE_ID_COUNT];
    } made;
    struct {                          /* the record that a launch gives */
        uint32_t record, record_type; /* variable, struct */
        uint32_t record_pointer;      /* addressed, not pushed: of the record, in this function */
        uint32_t *members;            /* of the record, by input */
    } launch;
    bool open_coherent;
    struct {                /* places in the text of the program */
        emit_words sources; /* instructions + 1 whose text the module carries, in order; empty: all
                               of the program */
        uint32_t file;
        uint32_t line;
    } source;
    spv_slot *slots;
    struct {                                /* of functions, variables, tables, values */
        const kir_function **all_functions; /* by id */
        uint32_t *function_ids;
        uint32_t *vars_by_id, *tables_by_id;
        bool *passed;  /* arrays that go to functions by reference live outside of functions, by id
                        */
        uint32_t *ids; /* of the function's values: results; first label of IF and LOOP */
        bool *reached; /* IF, LOOP: something comes to the place after it */
    } by_id;
    uint32_t *inputs; /* read in this function */
    const char *unsupported;
    bool failed; /* out of memory */
} spirv;

/* ---- emit_spirv_module.c ---- */
void spv_unsupported(spirv *s, const char *why);
void spv_words(spirv *s, emit_words *to, const uint32_t *words, uint64_t count);
void spv_write(spirv *s, emit_words *to, uint32_t opcode, const uint32_t *operands, uint32_t count);
/* An instruction that ends in a string: the operands before it. */
void spv_write_text(spirv *s, emit_words *to, uint32_t opcode, const uint32_t *operands,
                    uint32_t count, const char *text, size_t length);
/* An instruction with a result, written where operations are written; the result. The first operand
 * is the result's type. */
uint32_t spv_result(spirv *s, uint32_t opcode, const uint32_t *operands, uint32_t count);
/* Operands may write instructions themselves, so their order is part of the module: each is put on
 * a stack, from left to right (a comma orders what stands on its sides, unlike arguments and
 * initialisers), and the instruction takes them from there. */
#define SPV_COUNT_OF(a, b, c, d, e, f, g, h, i, count, ...) count
#define SPV_COUNT(...) SPV_COUNT_OF(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SPV_PUSH_1(s, a) spv_push(s, a)
#define SPV_PUSH_2(s, a, ...) spv_push(s, a), SPV_PUSH_1(s, __VA_ARGS__)
#define SPV_PUSH_3(s, a, ...) spv_push(s, a), SPV_PUSH_2(s, __VA_ARGS__)
#define SPV_PUSH_4(s, a, ...) spv_push(s, a), SPV_PUSH_3(s, __VA_ARGS__)
#define SPV_PUSH_5(s, a, ...) spv_push(s, a), SPV_PUSH_4(s, __VA_ARGS__)
#define SPV_PUSH_6(s, a, ...) spv_push(s, a), SPV_PUSH_5(s, __VA_ARGS__)
#define SPV_PUSH_7(s, a, ...) spv_push(s, a), SPV_PUSH_6(s, __VA_ARGS__)
#define SPV_PUSH_8(s, a, ...) spv_push(s, a), SPV_PUSH_7(s, __VA_ARGS__)
#define SPV_PUSH_9(s, a, ...) spv_push(s, a), SPV_PUSH_8(s, __VA_ARGS__)
#define SPV_JOIN(a, b) a##b
#define SPV_PUSH_COUNT(s, count, ...) SPV_JOIN(SPV_PUSH_, count)(s, __VA_ARGS__)
#define SPV_PUSH(s, ...) SPV_PUSH_COUNT(s, SPV_COUNT(__VA_ARGS__), __VA_ARGS__)
static inline void spv_push(spirv *s, uint32_t operand) {
    if (s->operand_count >= SPV_NESTED) spv_unsupported(s, "operands nested too deeply");
    s->operands[s->operand_count++ % SPV_NESTED] = operand;
}
/* The operands that were put there last, valid until the next one is put there. */
static inline const uint32_t *spv_pop(spirv *s, uint32_t count) {
    s->operand_count -= count;
    return s->operands + s->operand_count % SPV_NESTED;
}
#define SPV_POP(s, ...) spv_pop(s, SPV_COUNT(__VA_ARGS__)), SPV_COUNT(__VA_ARGS__)
#define SPV(s, to, opcode, ...) \
    (SPV_PUSH(s, __VA_ARGS__), spv_write(s, to, opcode, SPV_POP(s, __VA_ARGS__)))
#define SPV_RESULT(s, opcode, ...) \
    (SPV_PUSH(s, __VA_ARGS__), spv_result(s, opcode, SPV_POP(s, __VA_ARGS__)))
#define SPV_VALUE(s, opcode, type, ...) SPV_RESULT(s, opcode, spv_type(s, type), __VA_ARGS__)
/* A type (opcode OpType…) or constant, each different one written once. */
uint32_t spv_global(spirv *s, uint32_t opcode, uint32_t type, const uint32_t *operands,
                    uint32_t count);
#define SPV_GLOBAL(s, opcode, type, ...) \
    (SPV_PUSH(s, __VA_ARGS__), spv_global(s, opcode, type, SPV_POP(s, __VA_ARGS__)))
uint32_t spv_type(spirv *s, uint8_t type);
uint32_t spv_pointer(spirv *s, uint32_t storage, uint32_t type);
uint32_t spv_vector(spirv *s, uint32_t count); /* of u32 */
uint32_t spv_constant(spirv *s, uint8_t type, uint64_t bits);
uint32_t spv_u32(spirv *s, uint32_t value);
uint32_t spv_null(spirv *s, uint32_t type);
uint32_t spv_struct(spirv *s, const uint32_t *members, uint32_t count); /* a new one, never shared
                                                                         */
uint32_t spv_array(spirv *s, uint8_t type, uint32_t length);
/* A variable outside of functions; initial: constant or 0. */
uint32_t spv_variable(spirv *s, uint32_t storage, uint32_t type, uint32_t initial,
                      const char *name);
void spv_capability(spirv *s, uint32_t capability);
void spv_name(spirv *s, uint32_t id, const char *name);
void spv_renumber(uint32_t *words, uint64_t count, uint32_t *map, uint32_t *bound);

/* ---- emit_spirv_use.c ---- */
uint32_t spv_use(spirv *s, const kir_value *v); /* as an operand */
uint32_t spv_input(spirv *s, uint32_t index);   /* a field of the record as module->inputs types it,
                                                   read at the function's top */
uint32_t spv_bitcast(spirv *s, uint8_t to, uint8_t from, uint32_t value);
uint32_t spv_convert_uint(spirv *s, uint8_t to, uint8_t from, uint32_t value); /* zero-extends or
                                                                                  cuts */
void spv_decorate_block(spirv *s, uint32_t id, bool coherent);
/* A storage buffer. alone: no other variable reaches its memory. */
typedef struct spv_binding {
    uint32_t number;
    bool written, coherent, alone;
    const char *name;
} spv_binding;
uint32_t spv_bound_variable(spirv *s, uint32_t type, const spv_binding *binding);
uint32_t spv_to_pointer(spirv *s, uint32_t type, uint32_t address); /* address: two words or one
                                                                       number of 64 bits */

/* ---- emit_spirv_value.c ---- */
/* A primitive's result; 0 where v is not a primitive. */
uint32_t spv_primitive(spirv *s, const kir_value *v);

/* ---- emit_spirv_memory.c ---- */
void spv_prepare_memory(spirv *s);             /* what is read, written, shared with functions */
bool spv_memory(spirv *s, const kir_value *v); /* LOAD STORE ATOMIC FENCE BARRIER, variables,
                                                  arrays, tables; false: another */
uint32_t spv_var(spirv *s, const kir_var *x);  /* pointer */
/* In the kernel function, before its body: the arrays that are too long for an initializer. */
void spv_clear_arrays(spirv *s);

#endif

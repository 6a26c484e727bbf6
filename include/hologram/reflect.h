/* Reflection: what instructions, types and programs are, as data. `hologram ops --json` and
 * `hologram describe --json` print the same.
 *
 * Each structure here begins with its size, which the caller sets; the call fills the rest and
 * fails with HG_ERROR_INVALID_ARGUMENT where a pointer is NULL, no version has that size, or there
 * is no such thing: the message names the number and how many there are. */
#ifndef HOLOGRAM_REFLECT_H
#define HOLOGRAM_REFLECT_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- instructions ---- */

/** What can stand in an operand's place. */
typedef enum hg_op_operand_kind {
    HG_OPERAND_NONE, /**< no operand has it */
#define HG_OPERAND_KIND(id, text, about) HG_OPERAND_##id,
#include "reflect.def"
#undef HG_OPERAND_KIND
} hg_op_operand_kind;

/** The type that an operand has, where it has one. */
typedef enum hg_op_operand_type {
#define HG_OPERAND_TYPE(id, text, about) HG_OPERAND_TYPE_##id,
#include "reflect.def"
#undef HG_OPERAND_TYPE
} hg_op_operand_type;

/** What is true of an instruction. A later version may know more of one. */
typedef enum hg_op_flag {
#define HG_OP_FLAG(id, bit, text, about) HG_OP_FLAG_##id = bit,
#include "reflect.def"
#undef HG_OP_FLAG
} hg_op_flag;

/** Which types the second of two suffixes may name. */
typedef enum hg_op_second {
#define HG_OP_SECOND(id, text, about) HG_OP_SECOND_##id,
#include "reflect.def"
#undef HG_OP_SECOND
} hg_op_second;

/** How exact the numbers are that an instruction makes. */
typedef enum hg_numbers {
#define HG_OP_NUMBERS(id, text, about) HG_NUMBERS_##id,
#include "reflect.def"
#undef HG_OP_NUMBERS
} hg_numbers;

/** A form of an instruction. Strings are static. */
typedef struct hg_op_description {
    size_t size;    /**< sizeof(hg_op_description) */
    const char *id; /**< "REDUCE_ADD_MEM": no two forms have the same, and it stays from version to
                       version */
    const char *mnemonic; /**< "reduce.add", without condition, scope and types; several forms may
                             share one */
    const char *about;    /**< "dst = a + b; integers wrap" */
    uint64_t types;  /**< bit t: the first suffix may be the hg_type t. 0: there is no suffix */
    uint32_t opcode; /**< of the binary form and of hg_builder_add */
    uint32_t flags;  /**< HG_OP_FLAG_… */
    uint32_t suffix_count;  /**< types that the mnemonic is followed by: 0, 1 or 2 */
    uint32_t operand_count; /**< operands, in the order of text, binary and hg_builder_add */
    hg_numbers numbers;
    bool half_width;     /**< `second` is HG_OP_SECOND_HALF_WIDTH */
    uint8_t second;      /**< hg_op_second: which types the second suffix may name */
    uint8_t reserved[2]; /**< never used */
} hg_op_description;

/** An operand of an instruction. Strings are static. */
typedef struct hg_operand_description {
    size_t size;              /**< sizeof(hg_operand_description) */
    const char *name;         /**< "alpha" */
    const char *otherwise;    /**< what it is when it is left out; NULL where it may not be */
    const char *const *words; /**< the words that may stand there: of HG_OPERAND_COND, _SCOPE,
                                 _OPNAME, _IDNAME and _BOOL; else NULL */
    uint32_t word_count;
    hg_op_operand_kind kind;
    hg_op_operand_type type;
    uint32_t items;     /**< of a tuple how many it has, of tuples how many each of them has; 0: any
                           number */
    bool reads, writes; /**< the register or the memory; both of a register that counts down */
    bool named;         /**< written name=value, in any order */
    bool optional;      /**< it may be left out */
    bool has_default; /**< then `otherwise` is a value as text writes it; else it says in words what
                         is done */
    uint8_t reserved[3]; /**< never used */
} hg_operand_description;

/** Number of forms. A later version has more, and theirs may stand anywhere. Thread-safe. */
HG_API size_t hg_op_count(void);
/** The form of a number below hg_op_count. Thread-safe. */
HG_API hg_status hg_op_describe(size_t index, hg_op_description *op) HG_NODISCARD;
/** An operand of it, by its number below operand_count. Thread-safe. */
HG_API hg_status hg_op_operand(size_t index, size_t operand,
                               hg_operand_description *description) HG_NODISCARD;

/* ---- types ---- */

/** An element type. */
typedef struct hg_type_description {
    size_t size;         /**< sizeof(hg_type_description) */
    const char *name;    /**< "f32". Static */
    uint64_t bytes;      /**< of one element, 1 … 512 */
    bool is_float;       /**< else an integer */
    bool is_signed;      /**< all floats are */
    uint8_t reserved[6]; /**< never used */
} hg_type_description;
/** One of the HG_TYPE_COUNT types. Thread-safe. */
HG_API hg_status hg_type_describe(hg_type type, hg_type_description *description) HG_NODISCARD;

/* ---- programs: strings are owned by the program ---- */

/** A parameter that a caller sets. */
typedef struct hg_param_description {
    size_t size; /**< sizeof(hg_param_description) */
    const char *name;
    const char *dims[8]; /**< extents of a buffer as text: "4", "n", "ceil(n / 16)"; NULL beyond the
                            rank */
    const char *default_text;  /**< of a scalar, as text writes it; NULL: there is none, so it must
                                  be set or follow from a buffer's size */
    const void *default_value; /**< the same: bytes of its type, little-endian; NULL: there is none
                                */
    uint64_t pool_bytes;       /**< of a pool */
    hg_param_kind kind;        /**< HG_PARAM_SCALAR, HG_PARAM_BUFFER or HG_PARAM_POOL */
    hg_type type;  /**< of the scalar or of the buffer's elements; HG_TYPE_COUNT of a pool */
    int dir;       /**< of a buffer HG_PARAM_IN, HG_PARAM_OUT or HG_PARAM_INOUT; 0 of others */
    uint32_t rank; /**< extents of a buffer; 0: one element; HG_NO_DIMS: any shape. 0 of others */
    uint32_t reg;  /**< register that has the value or the handle when lanes start */
    uint8_t reserved[4]; /**< never used */
} hg_param_description;
/**
 * A parameter by its number below hg_program_param_count.
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT as above; HG_ERROR_OUT_OF_MEMORY: texts are made when
 * they are first asked for
 * Thread-safe.
 */
HG_API hg_status hg_program_param(const hg_program *program, size_t i,
                                  hg_param_description *description) HG_NODISCARD;

/** What a program says of itself. */
typedef struct hg_program_description {
    size_t size; /**< sizeof(hg_program_description) */
    const char *name;
    const char *entry_label; /**< of the entry; NULL: it has none */
    const char *lanes[8];   /**< .lanes: extents as text, whose product is the number of lanes; NULL
                               beyond lanes_count */
    const char *grid[3];    /**< .grid: blocks in each direction as text; NULL beyond grid_count */
    uint64_t entry;         /**< instruction that lanes start with */
    uint64_t instructions;  /**< number of instructions */
    uint64_t shared_bytes;  /**< .shared: of a block */
    uint64_t private_bytes; /**< .private: of a lane */
    uint64_t params;        /**< hg_program_param_count */
    uint64_t labels;        /**< names of instructions */
    uint64_t metas;         /**< metadata keys */
    uint32_t lanes_count;   /**< 0: no .lanes */
    uint32_t grid_count;    /**< 0: no .grid */
    uint32_t block[3];      /**< .block: lanes of a block; 0: not said */
    bool relaxed;           /**< .relaxed: numbers may differ between devices */
    uint8_t reserved[3];    /**< never used */
} hg_program_description;
/** Errors as hg_program_param. Thread-safe. */
HG_API hg_status hg_program_describe(const hg_program *program,
                                     hg_program_description *description) HG_NODISCARD;

/** A name of an instruction. */
typedef struct hg_label_description {
    size_t size; /**< sizeof(hg_label_description) */
    const char *name;
    uint64_t instruction; /**< the number of instructions: behind the last */
    bool entry;           /**< lanes start there */
    bool called;          /**< a function begins there: an instruction `call` names it */
    uint8_t reserved[6];  /**< never used */
} hg_label_description;
/** A label by its number below hg_program_description.labels, in the order of their instructions.
 * Thread-safe. */
HG_API hg_status hg_program_label(const hg_program *program, size_t i,
                                  hg_label_description *description) HG_NODISCARD;

/** The i-th metadata key, in their order; NULL when i is not below hg_program_description.metas.
 * hg_program_meta has the value. Thread-safe. */
HG_API const char *hg_program_meta_key(const hg_program *program, size_t i);

#ifdef __cplusplus
}
#endif
#endif

/* Programs from statements and typed expressions: what the text's `let`, `if`, `for` and formulas
 * are made of, for front ends in C and for bindings. */
#ifndef HOLOGRAM_TREE_H
#define HOLOGRAM_TREE_H

#include <hologram/builder.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A program under construction, statement by statement. A statement becomes instructions when it is
 * made; blocks are begun and ended. Nothing converts by itself but a u32 beside a u64: each other
 * conversion is an expression of its own.
 *
 * Mistakes (types, a foreign or used expression, a block that is not closed, break outside a loop)
 * are kept, as diagnostics with the place of hg_tree_place: the call gives HG_ERROR_ISA or the
 * expression 0, calls that follow are checked too, and hg_tree_build reports the first. An argument
 * that is 0 because it could not be made is no second mistake. A NULL tree (out of memory) is
 * allowed everywhere. Not thread-safe; different trees are independent.
 */
typedef struct hg_tree hg_tree;

/** A value to be worked out, in the statement that takes it and nowhere else: it is an operand of
 * one expression or of one statement. 0: none. Operands are worked out from left to right, as deep
 * as memory goes. */
typedef uint64_t hg_expression;
/** A variable, or a scalar parameter, of a tree. 0: none. */
typedef uint64_t hg_variable;
/** An array of a tree: a parameter, a table, or one in shared or private memory. 0: none. */
typedef uint64_t hg_elements;

/** A function of a tree. 0: none. */
typedef uint64_t hg_routine;

/** In place of a type: a truth, of a comparison or a variable. */
enum { HG_TREE_PREDICATE = 0xFD };

typedef enum hg_tree_operator {
    HG_TREE_ADD,
    HG_TREE_SUB,
    HG_TREE_MUL,
    HG_TREE_DIV,       /**< integers: toward zero; by 0 is a fault */
    HG_TREE_REM,       /**< with the sign of the dividend */
    HG_TREE_FLOOR_DIV, /**< toward minus infinity; floats: floor of the quotient */
    HG_TREE_FLOOR_MOD, /**< with the sign of the divisor, zeros of floats aside */
    HG_TREE_BIT_AND,
    HG_TREE_BIT_OR,
    HG_TREE_BIT_XOR,
    HG_TREE_SHL, /**< the amount is a u32 */
    HG_TREE_SHR,
    HG_TREE_EQ,
    HG_TREE_NE,
    HG_TREE_LT,
    HG_TREE_LE,
    HG_TREE_GT,
    HG_TREE_GE,
    HG_TREE_NEG,     /**< of one operand */
    HG_TREE_BIT_NOT, /**< of one operand */
    HG_TREE_NOT      /**< of one operand, a predicate */
} hg_tree_operator;

/* ---- the program ---- */

/** An empty tree. name: an identifier. diagnostics: receives every mistake, borrowed until the tree
 * is destroyed; may be NULL. NULL when out of memory. */
HG_API hg_tree *hg_tree_create(const char *name, hg_diagnostics *diagnostics);
/** NULL is allowed. Programs that were made of it stay. */
HG_API void hg_tree_destroy(hg_tree *tree);
/**
 * The program, whose lanes end behind its last statement. The tree takes no more of them then.
 * @return HG_OK and a program the caller releases; HG_ERROR_ISA with the first mistake,
 * HG_ERROR_INVALID_ARGUMENT when it has been built before, HG_ERROR_OUT_OF_MEMORY. Uniformity and
 * what a path leaves unset is checked by hg_program_verify, whose messages have the same places.
 */
HG_API hg_status hg_tree_build(hg_tree *tree, hg_program **program) HG_NODISCARD;

/**
 * What is made from now on stands there: messages, faults and debug information say so. line and
 * column are of some source, from 1, or numbers of the caller's own; 0, 0: no place. text: what
 * stands there, which messages show and underline; copied, may be NULL.
 */
HG_API hg_status hg_tree_place(hg_tree *tree, uint32_t line, uint32_t column, const char *text);

/* ---- parameters, memory, launch defaults: as hg_builder_… of these names ---- */

/** A scalar. It may be assigned: the lane's own copy changes. */
HG_API hg_variable hg_tree_param_scalar(hg_tree *tree, const char *name, hg_type type);
/** dir: HG_PARAM_IN, OUT or INOUT. rank: number of dims, or HG_NO_DIMS. */
HG_API hg_elements hg_tree_param_buffer(hg_tree *tree, const char *name, hg_type type, int dir,
                                        const hg_dim *dims, uint32_t rank);
/** An array of the launch's own, zeros when it begins. */
HG_API hg_elements hg_tree_scratch(hg_tree *tree, const char *name, hg_type type,
                                   const hg_dim *dims, uint32_t rank);
/** A table that travels with the program: its elements little-endian, copied. */
HG_API hg_elements hg_tree_data(hg_tree *tree, const char *name, hg_type type, const hg_dim *dims,
                                uint32_t rank, const void *elements);
/** An array in the block's shared memory, of 1 to 8 extents. */
HG_API hg_elements hg_tree_shared(hg_tree *tree, const char *name, hg_type type,
                                  const uint64_t *extents, uint32_t rank);
/** An array in the lane's private memory, zeros when the lane starts. */
HG_API hg_elements hg_tree_private(hg_tree *tree, const char *name, hg_type type,
                                   const uint64_t *extents, uint32_t rank);
HG_API hg_status hg_tree_block(hg_tree *tree, uint32_t x, uint32_t y, uint32_t z);
HG_API hg_status hg_tree_lanes(hg_tree *tree, const hg_dim *extents, uint32_t count);
HG_API hg_status hg_tree_grid(hg_tree *tree, const hg_dim *extents, uint32_t count);
HG_API hg_status hg_tree_relaxed(hg_tree *tree);
HG_API hg_status hg_tree_meta(hg_tree *tree, const char *key, const char *value);

/* ---- values ---- */

/** The type of a value: an hg_type, HG_TREE_PREDICATE, or HG_TYPE_COUNT: a literal that has none
 * yet, or no value. */
HG_API uint32_t hg_tree_value_type(const hg_tree *tree, hg_expression value);
/** Literals. They take the type of what stands beside them; hg_tree_cast gives one. Alone an
 * integer is an i32, or an i64 where that does not hold it, a real number an f32. */
HG_API hg_expression hg_tree_integer(hg_tree *tree, int64_t value);
HG_API hg_expression hg_tree_unsigned(hg_tree *tree, uint64_t value);
HG_API hg_expression hg_tree_real(hg_tree *tree, double value);
/** As the text writes it: "0.1", rounded once; "1e400"; an integer of any width; "inf". Copied. */
HG_API hg_expression hg_tree_number(hg_tree *tree, const char *text);
/** The value of that type with these bits; type: of at most 8 bytes. */
HG_API hg_expression hg_tree_bits(hg_tree *tree, hg_type type, uint64_t bits);
/** A predicate that is known. A condition of it leaves out what it does not choose. */
HG_API hg_expression hg_tree_truth(hg_tree *tree, int value);
HG_API hg_expression hg_tree_read(hg_tree *tree, hg_variable variable);
/** "global", "lane_idx_x", …: an id of the lane, by its name. */
HG_API hg_expression hg_tree_lane_id(hg_tree *tree, const char *name);
/** An element: an index for each axis, or one that counts elements in row order; integers of at
 * most 64 bits, taken exactly. One outside its axis, or of an array without extents beyond its
 * memory, is a fault of the lane. */
HG_API hg_expression hg_tree_element_of(hg_tree *tree, hg_elements array,
                                        const hg_expression *indices, uint32_t count);
HG_API hg_expression hg_tree_unary(hg_tree *tree, hg_tree_operator op, hg_expression x);
HG_API hg_expression hg_tree_operate(hg_tree *tree, hg_tree_operator op, hg_expression x,
                                     hg_expression y);
/** x && y, x || y, of predicates: y is worked out only where x leaves it open, if it may fault or
 * is seen by others. */
HG_API hg_expression hg_tree_both(hg_tree *tree, hg_expression x, hg_expression y);
HG_API hg_expression hg_tree_either(hg_tree *tree, hg_expression x, hg_expression y);
/** condition ? x : y; of x and y one is worked out, if one of them may fault or is seen by others.
 */
HG_API hg_expression hg_tree_choose(hg_tree *tree, hg_expression condition, hg_expression x,
                                    hg_expression y);
/** The value as another type: f32(x). A predicate gives 1 or 0; no conversion gives a predicate. */
HG_API hg_expression hg_tree_cast(hg_tree *tree, hg_type type, hg_expression x);
/** An instruction with a result as a function, by its mnemonic with types where these do not
 * follow: "fma", "atom.add", "bits.u32". arguments: its operands without results, an element where
 * it takes an address; borrowed for the call. A second result:
 * hg_tree_assign_results. */
HG_API hg_expression hg_tree_apply(hg_tree *tree, const char *mnemonic,
                                   const hg_expression *arguments, uint32_t count);

/* ---- statements ---- */

/** A variable without a value. type: an hg_type or HG_TREE_PREDICATE. It lives as long as the
 * program, in a register only where it is needed. name: for messages; NULL: none. */
HG_API hg_variable hg_tree_variable(hg_tree *tree, const char *name, uint32_t type);
/** A variable of the value's type that has it. */
HG_API hg_variable hg_tree_let(hg_tree *tree, const char *name, hg_expression value);
HG_API hg_status hg_tree_assign(hg_tree *tree, hg_variable variable, hg_expression value);
/** Several results: those of a function, or both of an instruction ("addc"). They have the
 * variables' types. */
HG_API hg_status hg_tree_assign_results(hg_tree *tree, const hg_variable *variables, uint32_t count,
                                        hg_expression value);
/** element = value; the value is worked out first. element: of hg_tree_element_of. */
HG_API hg_status hg_tree_store_element(hg_tree *tree, hg_expression element, hg_expression value);
/** element = element op value, with its indices worked out once. */
HG_API hg_status hg_tree_update(hg_tree *tree, hg_tree_operator op, hg_expression element,
                                hg_expression value);
/** Works the value out, for what others see of it. */
HG_API hg_status hg_tree_evaluate(hg_tree *tree, hg_expression value);

/** if (condition) { … } else if (…) { … } else { … }: each block up to the next of these or to
 * hg_tree_end. */
HG_API hg_status hg_tree_begin_if(hg_tree *tree, hg_expression condition);
HG_API hg_status hg_tree_begin_else_if(hg_tree *tree, hg_expression condition);
HG_API hg_status hg_tree_begin_else(hg_tree *tree);
/** The condition is worked out before each round. */
HG_API hg_status hg_tree_begin_while(hg_tree *tree, hg_expression condition);
/** Up to a break. */
HG_API hg_status hg_tree_begin_loop(hg_tree *tree);
/**
 * for i in from .. to step s: from + k·s for an exact number of rounds, worked out once.
 * @param step  0: 1. A signed type of the bounds' width goes either way, an unsigned one upwards; 0
 * as a value is a fault
 * @param reversed  the same values backwards
 * @return the variable, which has the bounds' type and is not assigned; 0 after a mistake. The
 * block is open all the same
 */
HG_API hg_variable hg_tree_begin_for(hg_tree *tree, const char *name, hg_expression from,
                                     hg_expression to, hg_expression step, int reversed);
/** The end of the innermost block. */
HG_API hg_status hg_tree_end(hg_tree *tree);
/** Of the innermost loop. */
HG_API hg_status hg_tree_break(hg_tree *tree);
HG_API hg_status hg_tree_continue(hg_tree *tree);
/** The lane ends; inside a function, that ends with its results. values: as many as it has,
 * borrowed for the call. */
HG_API hg_status hg_tree_return(hg_tree *tree, const hg_expression *values, uint32_t count);
/** All lanes of the block come here. */
HG_API hg_status hg_tree_barrier(hg_tree *tree);
/**
 * Any other instruction, by its mnemonic: "bar.grid", "memfence.device", "parallel_map.f32".
 * @param arguments  one an operand of its row that does not stand in the mnemonic, in their order:
 * hg_arg_of (an expression, also where a register or count is read; an element for an address; a
 * variable for a result; an array), hg_count, hg_flag, hg_imm_…, hg_arg_name. Those at the end that
 * may be left out may be left out; borrowed for the call
 */
HG_API hg_status hg_tree_instruction(hg_tree *tree, const char *mnemonic, const hg_arg *arguments,
                                     uint32_t count);

/* ---- functions ---- */

/**
 * A function with parameters and results by value, which can be called from here on. No function
 * calls itself, through others neither.
 * @param types  of the parameters and then of the results, 64 together at most: an hg_type or
 * HG_TREE_PREDICATE; borrowed for the call
 */
HG_API hg_routine hg_tree_declare_function(hg_tree *tree, const char *name, const uint32_t *types,
                                           uint32_t parameters, uint32_t results);
/** What follows, up to its hg_tree_end, is the function's; each way through it ends in
 * hg_tree_return where it has results. Functions stand behind the program's statements and behind
 * each other. parameters: receives a variable for each; may be NULL. */
HG_API hg_status hg_tree_begin_function(hg_tree *tree, hg_routine routine, hg_variable *parameters);
/** Its value is the first result. arguments: as many as it has parameters, borrowed for the call.
 */
HG_API hg_expression hg_tree_call_routine(hg_tree *tree, hg_routine routine,
                                          const hg_expression *arguments, uint32_t count);

enum { HG_ARG_OF_TREE = 64 /**< kind of an hg_arg: an expression, variable or array */ };
static inline hg_arg hg_arg_of(uint64_t id) { return hg_arg_make(HG_ARG_OF_TREE, 0, id); }

#ifdef __cplusplus
}
#endif
#endif

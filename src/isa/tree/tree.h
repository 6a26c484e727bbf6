/* The statement tree: typed expressions and structured statements, whatever front end they come
 * from, and how they become instructions.
 *
 * An expression is a tree of nodes, made from its leaves up and worked out from left to right: the
 * operands of a node, each once, then the node. Every pass over it keeps a stack of its own, so
 * that nothing is as deep as the input. A statement takes the root of one, becomes instructions at
 * once and leaves no node; a statement with a block is a hg_brace until its end.
 *
 * Nothing converts by itself but u32 beside u64; each other conversion is a node. A literal has no
 * type until something beside it says one.
 * Must not know: syntax. */
#ifndef HG_ISA_TREE_TREE_H
#define HG_ISA_TREE_TREE_H

#include "isa/assemble_inst.h"
#include <hologram/tree.h>

enum {
    HG_TREE_NO_VALUE = 0xFC,    /* of a call of a function without results, and of an array */
    HG_TREE_MOST_ARGUMENTS = 4, /* of an instruction */
    HG_TREE_TALL = 32           /* numbers in front of such an operand wait for it in no register */
};
#define HG_TREE_BAD UINT32_MAX /* a node that could not be made; it has been reported */

typedef enum hg_tree_kind {
    HG_TREE_LITERAL,
    HG_TREE_REGISTER, /* or a predicate */
    HG_TREE_ID,
    HG_TREE_AXIS,    /* an index of an array, checked, and the ones in front of it as one number */
    HG_TREE_ELEMENT, /* of an array: its value, or its place where an operation takes that */
    HG_TREE_OP,      /* an instruction of the table */
    HG_TREE_FLOOR,   /* division of signed integers toward minus infinity; op HG_OP_REM: its rest */
    HG_TREE_CALL,    /* of a function of the program */
    HG_TREE_ARRAY,   /* that is an argument by reference */
    HG_TREE_SELECT,
    HG_TREE_AND,
    HG_TREE_OR
} hg_tree_kind;

typedef struct hg_tree_node {
    uint8_t kind;
    uint8_t type;      /* of its value: hg_type, HG_TREE_PREDICATE; HG_TYPE_OMITTED: a literal that
                          is still open */
    uint8_t wide;      /* HG_TYPE_U64: the value, a u32, is made that; else HG_TYPE_OMITTED */
    uint8_t types[2];  /* of an instruction */
    uint8_t condition; /* of a comparison; HG_TREE_ID: which; HG_TREE_AXIS: its number */
    uint16_t op;       /* hg_op */
    uint32_t count;    /* of arguments */
    uint32_t argument[HG_TREE_MOST_ARGUMENTS];
    struct {
        bool place;     /* HG_TREE_ELEMENT: an instruction takes its address */
        bool operand;   /* HG_TREE_LITERAL: an instruction takes its number */
        bool truth;     /* HG_TREE_LITERAL: of a comparison, so that it may be a condition */
        bool acting;    /* it may fault, changes memory or waits: not worked out unasked */
        bool calling;   /* there is a call in it */
        bool branching; /* of its sides only the one that is asked for is worked out */
        bool taken;     /* something has it as its operand (fill.c) */
        bool positive;  /* HG_TREE_FLOOR: the divisor is known to be */
    } is;
    uint16_t predicates; /* so many hold something at a time while it is worked out */
    uint16_t height;     /* nodes above each other below it, 0: none; at most HG_TREE_TALL */
    uint32_t constant;   /* of a literal, in hg_tree_nodes.constants; the number of an array */
    struct {
        uint32_t function;
        uint32_t list;    /* its first argument in hg_tree_nodes.arguments */
        uint32_t results; /* where its results are to be, in hg_tree_nodes.results */
        bool unused;      /* its results are */
    } call;
    hg_register reg; /* the register, or where the value is when it has been worked out */
    struct {
        hg_register reg; /* of a second result; of an element or an axis the array's handle */
        bool wanted;     /* the second result is, there */
    } other;
    bool is_set; /* of an instruction with a flag: the flag is */
    struct {
        hg_register index;  /* of an element */
        hg_operand address; /* of an element; of an axis its array */
        uint64_t extent;    /* of an axis, where the array's declaration does not say it; else 0 */
        bool checked; /* of an element with an index: a load from `check` on stands in front */
        int64_t check;
    } at;
    struct {
        hg_register reg; /* where its value is to be */
        bool wanted;
    } goal;
    hg_jumps jumps; /* over a side */
    hg_token token;
} hg_tree_node;

/* A node that is being worked out, and which of its operands comes next. */
typedef struct hg_tree_step {
    uint32_t node, argument;
} hg_tree_step;

/* A parameter or a result of a function, which has its register wherever it is called. */
typedef struct hg_tree_value {
    uint8_t type;
    hg_register reg;
} hg_tree_value;

/* Where a result of a call is to be. */
typedef struct hg_tree_target {
    hg_register reg;
    bool wanted;
} hg_tree_target;

typedef struct hg_tree_function {
    uint32_t values; /* its parameters and then its results in hg_tree_nodes.values */
    uint32_t parameters, results;
    uint32_t entry; /* instruction; HG_UNDEFINED: it is still to come */
    hg_jumps calls; /* until then */
} hg_tree_function;

/* An array as its elements are named. */
typedef struct hg_tree_array {
    hg_token name;
    hg_register handle; /* of HG_PLACE_BUF_REG */
    hg_operand address; /* where it begins */
    uint8_t type;
    bool has_extents;    /* without them one index counts elements up to the end of its memory */
    bool declared;       /* the program says its extents; else all are known */
    uint8_t rank, known; /* known: bits, one an extent that is a number */
    bool counts_bytes;   /* its one index does, in place of elements */
    bool is_checked;     /* hg_tree_private_at */
    int64_t check;
    uint64_t extents[HG_MAX_EXTENTS];
} hg_tree_array;

typedef struct hg_tree_nodes {
    HG_VEC(hg_tree_node) nodes;
    HG_VEC(hg_constant) constants;
    HG_VEC(uint32_t) work; /* of a walk over nodes that are open */
    HG_VEC(hg_tree_step) steps;
    HG_VEC(uint32_t) arguments;
    HG_VEC(hg_tree_target) results;
    HG_VEC(hg_tree_function) functions;
    HG_VEC(hg_tree_value) values;
    uint32_t function; /* whose statements are read now + 1; 0: those of the program */
} hg_tree_nodes;

static inline hg_tree_node *hg_tree_at(const hg_assembler *a, uint32_t node) {
    return &a->tree->nodes.data[node];
}
/* Operand number i of a node. */
static inline uint32_t hg_tree_operand(const hg_assembler *a, const hg_tree_node *n, uint32_t i) {
    return n->kind == HG_TREE_CALL ? a->tree->arguments.data[n->call.list + i] : n->argument[i];
}
/* The type of its value as others see it. */
static inline uint8_t hg_tree_type(const hg_assembler *a, uint32_t node) {
    const hg_tree_node *n = hg_tree_at(a, node);
    return n->wide != HG_TYPE_OMITTED ? n->wide : n->type;
}
/* "f32", "predicate", "literal". */
const char *hg_tree_type_name(uint8_t type);

/* ---- nodes (node.c, element.c): each returns the new node, or HG_TREE_BAD; with a HG_TREE_BAD as
 * operand it returns that ---- */

uint32_t hg_tree_literal(hg_assembler *a, const hg_constant *value, bool truth);
uint32_t hg_tree_register(hg_assembler *a, const hg_token *at, hg_register reg, bool predicate);
uint32_t hg_tree_id(hg_assembler *a, const hg_token *at, hg_idname id);
/* An element of an array, with an index for each axis or one that counts in row order. N04: another
 * number of them. */
uint32_t hg_tree_element(hg_assembler *a, const hg_token *at, const hg_tree_array *array,
                         const uint32_t *indices, uint32_t count);
/* op: the token of the operator. */
uint32_t hg_tree_sign(hg_assembler *a, const hg_token *op, uint32_t x);
uint32_t hg_tree_binary(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y);
/* / and % toward minus infinity. */
uint32_t hg_tree_floor(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y, bool rest);
/* && and ||. */
uint32_t hg_tree_logic(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y);
/* colon: stands between the sides, for messages. */
uint32_t hg_tree_select(hg_assembler *a, const hg_token *colon, uint32_t condition, uint32_t x,
                        uint32_t y);
uint32_t hg_tree_convert(hg_assembler *a, const hg_token *at, uint8_t type, uint32_t x);
/* An instruction as a function, with its type suffixes; at: the whole call. Results beside the
 * first: hg_tree_result. */
uint32_t hg_tree_call(hg_assembler *a, const hg_mnemonic *m, const hg_token *at,
                      const uint32_t *arguments, uint32_t count);
/* A call of a function of the program: each argument has its parameter's type already, or becomes
 * it (V03). */
uint32_t hg_tree_call_function(hg_assembler *a, const hg_token *at, uint32_t function,
                               const uint32_t *arguments, uint32_t count);
/* An array as an argument, which functions of the program do not take: the caller chooses one that
 * has that array. number: the caller's. */
uint32_t hg_tree_array_argument(hg_assembler *a, const hg_token *at, uint32_t number);
/* The type of result number i of a node; false: it has no so many. */
bool hg_tree_result(const hg_assembler *a, uint32_t node, uint32_t i, uint8_t *type);
/* Result number i, above 0, is to be in that register too. */
void hg_tree_give(hg_assembler *a, uint32_t node, uint32_t i, hg_register reg);

/* For those who make nodes (node.c, element.c): a node, and its place among the others. */
hg_tree_node hg_tree_plain(hg_tree_kind kind, uint8_t type, const hg_token *at);
uint32_t hg_tree_add(hg_assembler *a, hg_tree_node node);
/* A literal that takes part in arithmetic of constants. */
bool hg_tree_is_number(const hg_assembler *a, uint32_t node);

/* The type that an operand with that rule has in an instruction of those types. */
uint8_t hg_tree_operand_type(const uint8_t types[2], const hg_operand_info *o);
/* Makes the value one that suits the operand. */
bool hg_tree_fit_operand(hg_assembler *a, const uint8_t types[2], const hg_operand_info *o,
                         uint32_t node);
/* Makes the value one of that type, if it may be: a literal takes it, a u32 becomes a u64. V03
 * else; `what`: where it is meant. */
bool hg_tree_fit(hg_assembler *a, uint32_t node, uint8_t type, const char *what);
/* A type for a literal that nothing tells one (language.md 2.2). */
bool hg_tree_settle(hg_assembler *a, uint32_t node);
/* Of several, which get one type. */
bool hg_tree_settle_all(hg_assembler *a, const uint32_t *nodes, uint32_t count);
/* The one type of both values; HG_TYPE_OMITTED: both are open. */
bool hg_tree_join(hg_assembler *a, const hg_token *op, const uint32_t *nodes, uint32_t count,
                  uint8_t *type);
/* Whether it is a number known now; *value then. */
bool hg_tree_known(const hg_assembler *a, uint32_t node, hg_constant *value);
/* The tree is there. */
bool hg_tree_make(hg_assembler *a);
/* The nodes are no more needed; the tree is not. */
void hg_tree_clear(hg_assembler *a);
void hg_tree_free(hg_assembler *a);

/* ---- instructions (lower.c) ---- */

/* The nodes of the tree whose root it is; its value is in its reg then. want: where it is to be, or
 * NULL; fresh: nothing reads what that holds now. */
bool hg_tree_lower(hg_assembler *a, uint32_t root, const hg_register *want, bool fresh);
/* A node that has been worked out as an operand of the instruction emitted last. */
bool hg_tree_emit_operand(hg_assembler *a, uint32_t node, const hg_operand_info *o);
/* A value, which is worked out here, into an element; read: the value has been made of that
 * element, whose place is known then. */
bool hg_tree_store(hg_assembler *a, uint32_t element, uint32_t value, bool read,
                   const hg_token *at);
/* A new predicate: x compared with y. */
bool hg_tree_compare(hg_assembler *a, const hg_token *at, hg_condition c, uint8_t type,
                     hg_register x, hg_register y, hg_register *p);
/* d = a register, of the type or a predicate. */
bool hg_tree_copy(hg_assembler *a, const hg_token *at, uint8_t type, hg_register d,
                  hg_register from);
/* bra; predicate HG_NO_PREDICATE: always. To an instruction, or to a place that is still to come.
 */
bool hg_tree_jump(hg_assembler *a, const hg_token *at, hg_register predicate, uint32_t to);
bool hg_tree_jump_on(hg_assembler *a, const hg_token *at, hg_register predicate, hg_jumps *jumps);
/* Jumps where the condition, a node of predicates, does not hold; it is worked out here. */
bool hg_tree_jump_unless(hg_assembler *a, uint32_t condition, hg_jumps *jumps);
/* The jumps lead to the next instruction. */
void hg_tree_bind(hg_assembler *a, hg_jumps *jumps);
/* Whether the next instruction is reached from the one before it or by a jump. */
bool hg_tree_is_reached(const hg_assembler *a);

/* ---- functions (function.c) ---- */

/* A function of the program with parameters and results of those types, all by value; its number,
 * or HG_TREE_BAD. It can be called before its statements come. */
uint32_t hg_tree_function_new(hg_assembler *a, const uint8_t *types, uint32_t parameters,
                              uint32_t results);
/* What follows is the function's, up to its end; functions stand behind the program's statements
 * and behind each other. */
bool hg_tree_open_function(hg_assembler *a, uint32_t function, const hg_token *at);
/* S02 where its end is reached without the results that it has; at: its name. */
bool hg_tree_close_function(hg_assembler *a, const hg_token *at);
/* `return` in the function, with nodes that have the types of its results or become them; N04:
 * another number of them. Outside a function it ends the lane. */
bool hg_tree_return_from(hg_assembler *a, const hg_token *at, const uint32_t *values,
                         uint32_t count);

/* ---- statements (flow.c) ---- */

/* `if` and `while`: the condition is the root of the nodes that there are. */
bool hg_tree_open_if(hg_assembler *a, const hg_token *at, uint32_t condition);
bool hg_tree_else(hg_assembler *a, hg_brace *brace, const hg_token *at);
/* `else if`: in front of the condition's nodes; and with them. */
bool hg_tree_else_if(hg_assembler *a, hg_brace *brace, const hg_token *at);
bool hg_tree_else_condition(hg_assembler *a, hg_brace *brace, uint32_t condition);
bool hg_tree_open_while(hg_assembler *a, const hg_token *at, uint32_t condition);
bool hg_tree_open_loop(hg_assembler *a, const hg_token *at);
/* from, to, step: nodes; step HG_TREE_BAD: 1; of the bounds' unsigned type: upwards. The variable
 * gets the bounds' type; its register is returned in brace->variable and is declared by the caller.
 */
bool hg_tree_open_for(hg_assembler *a, const hg_token *at, uint32_t from, uint32_t to,
                      uint32_t step, bool reversed, uint8_t *type);
/* The end of the innermost block. */
bool hg_tree_close(hg_assembler *a, const hg_token *at);
/* break, or continue. S02 where there is no loop. */
bool hg_tree_leave(hg_assembler *a, const hg_token *at, bool again);
/* Only the end of the block is looked for. */
bool hg_tree_open_bad(hg_assembler *a, const hg_token *at);

#endif

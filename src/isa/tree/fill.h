/* A tree that callers of the library fill: what its files share, and what front ends of the library
 * itself need beside <hologram/tree.h>.
 * Must not know: syntax. */
#ifndef HG_ISA_TREE_FILL_H
#define HG_ISA_TREE_FILL_H

#include "isa/tree/tree.h"

typedef enum hg_tree_thing {
    HG_TREE_ID_EXPRESSION = 1,
    HG_TREE_ID_VARIABLE,
    HG_TREE_ID_ARRAY,
    HG_TREE_ID_ROUTINE
} hg_tree_thing;
extern const char *const hg_tree_thing_names[5]; /* "an expression" */

typedef struct hg_tree_variable_info {
    hg_register reg;
    bool predicate;
    bool fixed; /* of a for, or a parameter without a lane's own copy: not assigned */
} hg_tree_variable_info;

typedef struct hg_tree_routine {
    uint32_t number; /* hg_tree_function_new */
    hg_token name;
} hg_tree_routine;

struct hg_tree {
    hg_builder *head; /* name, parameters, launch defaults */
    hg_assembler *a;
    uint32_t serial;
    uint32_t base;    /* expressions of statements that are done */
    uint32_t pending; /* expressions that nothing has taken yet */
    hg_token at;      /* hg_tree_place */
    bool built;
    uint64_t bytes[2]; /* of shared and private memory */
    HG_VEC(hg_tree_variable_info) variables;
    HG_VEC(hg_tree_array) arrays;
    HG_VEC(hg_tree_routine) routines;
    hg_routine open; /* whose statements are made; 0: none */
    uint64_t behind; /* instructions when the last function ended; 0: none has */
};

enum { HG_TREE_MOST_VALUES = 64 /* of one call, return or function */ };

/* Every call begins with it: false where nothing can be done. */
bool hg_tree_ready(hg_tree *t);
/* What a call that began with so many errors gives. */
hg_status hg_tree_status(const hg_tree *t, uint64_t errors);
/* The place of what is made now; text: where hg_tree_place has none. */
hg_token hg_tree_here(const hg_tree *t, const char *text);
/* N03: another kind of thing, or one of another tree. Always false. */
bool hg_tree_foreign(hg_tree *t, uint64_t id, hg_tree_thing expected);
uint64_t hg_tree_make_id(const hg_tree *t, hg_tree_thing kind, uint64_t number);
uint32_t hg_tree_id_number(uint64_t id);
/* hg_tree_take, also of a call that has no value. */
uint32_t hg_tree_take_any(hg_tree *t, hg_expression x);
/* hg_tree_ready, with the place of now; *errors: for hg_tree_status. */
bool hg_tree_begin(hg_tree *t, uint64_t *errors);
/* N03 where it is no type; predicate: HG_TREE_PREDICATE is one. */
bool hg_tree_check_type(hg_tree *t, uint32_t type, bool predicate);
/* The node of an expression that is still there, HG_TREE_BAD: of none. */
uint32_t hg_tree_find_node(const hg_tree *t, hg_expression x);
/* The token of an operator of so many operands; N03. */
bool hg_tree_operator_token(hg_tree *t, hg_tree_operator op, int operands, hg_token *sign);
uint32_t hg_tree_operate_nodes(hg_tree *t, hg_tree_operator op, const hg_token *sign, uint32_t x,
                               uint32_t y);
/* The node of an expression, which is taken; HG_TREE_BAD after an error, or of 0. */
uint32_t hg_tree_take(hg_tree *t, hg_expression x);
/* The kind of an id of this tree, 0: of none. */
hg_tree_thing hg_tree_thing_of(const hg_tree *t, uint64_t id);
const hg_tree_variable_info *hg_tree_find_variable(hg_tree *t, hg_variable v);
const hg_tree_array *hg_tree_find_array(hg_tree *t, hg_elements array);
/* The statement is over: nodes that nothing can take any more go. */
void hg_tree_over(hg_tree *t);
/* An id for a node that has just been made, with the place of now; 0: of HG_TREE_BAD. */
hg_expression hg_tree_made(hg_tree *t, uint32_t node, const char *text);
hg_variable hg_tree_add_variable(hg_tree *t, hg_register reg, bool predicate, bool fixed);
hg_routine hg_tree_add_routine(hg_tree *t, uint32_t number, const hg_token *name);
const hg_tree_routine *hg_tree_find_routine(const hg_tree *t, hg_routine routine);
/* The function that is open ends (fill_function.c). */
void hg_tree_end_function(hg_tree *t);
/* ---- for front ends of the library, which check elements in their own way ---- */

/* The one index of the array counts bytes; it is checked against its memory, not its extents. */
void hg_tree_count_bytes(hg_tree *t, hg_elements array);
/* An array from that byte on of shared memory, whose size the head says; its index counts bytes. */
hg_elements hg_tree_shared_at(hg_tree *t, const char *name, hg_type type, uint64_t offset);
/* Of private memory; its index counts elements. check: a load that counts from that byte on is a
 * fault where the index is outside, and stands in front of the access; `offset`: none is needed. */
hg_elements hg_tree_private_at(hg_tree *t, const char *name, hg_type type, uint64_t offset,
                               uint64_t check);
/* A bscan is of the lanes before this one only. */
void hg_tree_scan_before(hg_tree *t, hg_expression scan);
/* hg_tree_build; d: for what is wrong with the head. Mistakes of statements are hg_last_error(). */
hg_status hg_tree_build_to(hg_tree *t, hg_diagnostics *d, hg_program **program) HG_NODISCARD;

/* L03 where statements of the program stand behind a function. */
void hg_tree_check_behind(hg_tree *t);

#endif

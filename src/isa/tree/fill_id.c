/* What every call of a tree that callers fill begins and ends with: the place of now, ids of
 * expressions, variables, arrays and functions, and what is checked of them.
 * Must not know: values, statements. */
#include "isa/tree/fill.h"

bool hg_tree_ready(hg_tree *t) {
    if (!t) {
        (void)hg_fail_memory();
        return false;
    }
    if (t->built) (void)hg_fail(HG_ERROR_INVALID_ARGUMENT, "the tree has been built");
    if (t->a->out_of_memory) (void)hg_fail_memory();
    return !t->built && !t->a->out_of_memory && !t->a->wrong.stop;
}

hg_status hg_tree_status(const hg_tree *t, uint64_t errors) {
    if (!t || t->a->out_of_memory) return hg_fail_memory();
    if (t->built) return HG_ERROR_INVALID_ARGUMENT;
    if (t->a->wrong.errors > errors || t->a->wrong.stop) return hg_asm_first_error(t->a);
    return HG_OK;
}

hg_token hg_tree_here(const hg_tree *t, const char *text) {
    hg_token at = t->at;
    if (!at.text) {
        at.text = text;
        at.length = (uint32_t)strlen(text);
        at.marked = 1;
    }
    return at;
}

bool hg_tree_begin(hg_tree *t, uint64_t *errors) {
    bool ready = hg_tree_ready(t);
    *errors = t ? t->a->wrong.errors : 0;
    if (ready) t->a->token = hg_tree_here(t, "");
    return ready;
}

/* ---- ids ---- */

const char *const hg_tree_thing_names[5] = {"nothing", "an expression", "a variable", "an array",
                                            "a function"};
enum { MOST_OF_A_KIND = 1 << 29 };

uint64_t hg_tree_make_id(const hg_tree *t, hg_tree_thing kind, uint64_t number) {
    return (uint64_t)t->serial << 32 | (uint64_t)kind << 29 | number;
}

hg_tree_thing hg_tree_thing_of(const hg_tree *t, uint64_t id) {
    return id && id >> 32 == t->serial ? (hg_tree_thing)(id >> 29 & 7) : (hg_tree_thing)0;
}

uint32_t hg_tree_id_number(uint64_t id) { return (uint32_t)id & (MOST_OF_A_KIND - 1); }

bool hg_tree_foreign(hg_tree *t, uint64_t id, hg_tree_thing expected) {
    hg_token at = hg_tree_here(t, "id");
    hg_tree_thing kind = hg_tree_thing_of(t, id);
    if (!id) return false;
    if (!kind)
        hg_asm_error(t->a, "N03", &at, NULL, "expected %s of this tree, got an id of another one",
                     hg_tree_thing_names[expected]);
    else if (kind == expected)
        hg_asm_error(t->a, "N03", &at, NULL, "expected %s, got %s that does not exist",
                     hg_tree_thing_names[expected], hg_tree_thing_names[kind]);
    else
        hg_asm_error(t->a, "N03", &at,
                     kind == HG_TREE_ID_VARIABLE ? "hg_tree_read is its value"
                     : kind == HG_TREE_ID_ARRAY  ? "hg_tree_element_of is a value of it"
                                                 : NULL,
                     "expected %s, got %s", hg_tree_thing_names[expected],
                     hg_tree_thing_names[kind]);
    return false;
}

const hg_tree_variable_info *hg_tree_find_variable(hg_tree *t, hg_variable v) {
    if (hg_tree_thing_of(t, v) == HG_TREE_ID_VARIABLE && hg_tree_id_number(v) < t->variables.count)
        return &t->variables.data[hg_tree_id_number(v)];
    (void)hg_tree_foreign(t, v, HG_TREE_ID_VARIABLE);
    return NULL;
}

const hg_tree_array *hg_tree_find_array(hg_tree *t, hg_elements array) {
    if (hg_tree_thing_of(t, array) == HG_TREE_ID_ARRAY &&
        hg_tree_id_number(array) < t->arrays.count)
        return &t->arrays.data[hg_tree_id_number(array)];
    (void)hg_tree_foreign(t, array, HG_TREE_ID_ARRAY);
    return NULL;
}

const hg_tree_routine *hg_tree_find_routine(const hg_tree *t, hg_routine routine) {
    bool there = hg_tree_thing_of(t, routine) == HG_TREE_ID_ROUTINE &&
                 hg_tree_id_number(routine) < t->routines.count;
    return there ? &t->routines.data[hg_tree_id_number(routine)] : NULL;
}

hg_routine hg_tree_add_routine(hg_tree *t, uint32_t number, const hg_token *name) {
    hg_tree_routine *r = hg_vec_push(&t->routines);
    if (!r) {
        (void)hg_asm_no_memory(t->a);
        return 0;
    }
    *r = (hg_tree_routine){number, *name};
    return hg_tree_make_id(t, HG_TREE_ID_ROUTINE, t->routines.count - 1);
}

/* The node of an expression that is still there. */
uint32_t hg_tree_find_node(const hg_tree *t, hg_expression x) {
    uint32_t number = hg_tree_id_number(x);
    bool there = hg_tree_thing_of(t, x) == HG_TREE_ID_EXPRESSION && number >= t->base &&
                 t->a->tree && number - t->base < t->a->tree->nodes.count;
    return there ? number - t->base : HG_TREE_BAD;
}

/* Of a value, or of a call that has none. */
uint32_t hg_tree_take_any(hg_tree *t, hg_expression x) {
    uint32_t node = hg_tree_find_node(t, x);
    if (hg_tree_thing_of(t, x) != HG_TREE_ID_EXPRESSION) {
        (void)hg_tree_foreign(t, x, HG_TREE_ID_EXPRESSION);
        return HG_TREE_BAD;
    }
    if (node != HG_TREE_BAD && !hg_tree_at(t->a, node)->is.taken) {
        hg_tree_at(t->a, node)->is.taken = true;
        t->pending--;
        return node;
    }
    hg_token at = hg_tree_here(t, "expression");
    hg_asm_error(t->a, "N03", &at, "hg_tree_let keeps a value that is used again",
                 "the expression has been used: it is an operand of one expression or statement");
    return HG_TREE_BAD;
}

uint32_t hg_tree_take(hg_tree *t, hg_expression x) {
    uint32_t node = hg_tree_take_any(t, x);
    if (node == HG_TREE_BAD || hg_tree_type(t->a, node) != HG_TREE_NO_VALUE) return node;
    hg_asm_error(t->a, "N03", &hg_tree_at(t->a, node)->token, "hg_tree_evaluate calls it",
                 "the function has no result");
    return HG_TREE_BAD;
}

hg_expression hg_tree_made(hg_tree *t, uint32_t node, const char *text) {
    if (node == HG_TREE_BAD) return 0;
    hg_tree_node *n = hg_tree_at(t->a, node);
    if (n->is.taken) n->is.taken = false; /* what need not be converted */
    n->token = hg_tree_here(t, text);
    t->pending++;
    if ((uint64_t)t->base + node >= MOST_OF_A_KIND) {
        hg_asm_error(t->a, "S05", &n->token, NULL, "more than %d expressions", MOST_OF_A_KIND);
        t->a->wrong.stop = true;
        return 0;
    }
    return hg_tree_make_id(t, HG_TREE_ID_EXPRESSION, t->base + node);
}

void hg_tree_over(hg_tree *t) {
    if (t->pending || !t->a->tree) return;
    t->base += (uint32_t)t->a->tree->nodes.count;
    hg_tree_clear(t->a);
}

bool hg_tree_check_type(hg_tree *t, uint32_t type, bool predicate) {
    if (type < HG_TYPE_COUNT || (predicate && type == HG_TREE_PREDICATE)) return true;
    hg_token at = hg_tree_here(t, "type");
    hg_asm_error(t->a, "N03", &at, NULL, "%u is no type: expected a value of hg_type below %d%s",
                 (unsigned)type, (int)HG_TYPE_COUNT, predicate ? ", or HG_TREE_PREDICATE" : "");
    return false;
}

hg_variable hg_tree_add_variable(hg_tree *t, hg_register reg, bool predicate, bool fixed) {
    hg_tree_variable_info *v = t->variables.count < MOST_OF_A_KIND ? hg_vec_push(&t->variables)
                                                                   : NULL;
    if (!v) {
        (void)hg_asm_no_memory(t->a);
        return 0;
    }
    *v = (hg_tree_variable_info){reg, predicate, fixed};
    return hg_tree_make_id(t, HG_TREE_ID_VARIABLE, t->variables.count - 1);
}

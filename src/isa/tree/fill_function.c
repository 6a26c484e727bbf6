/* Functions of a tree that callers fill: declared before they are called, with their statements
 * behind those of the program.
 * Must not know: syntax. */
#include "isa/tree/fill.h"

static const hg_tree_routine *find(hg_tree *t, hg_routine routine) {
    const hg_tree_routine *found = hg_tree_find_routine(t, routine);
    if (!found) (void)hg_tree_foreign(t, routine, HG_TREE_ID_ROUTINE);
    return found;
}

static bool good_types(hg_tree *t, const uint32_t *types, uint32_t count) {
    hg_token at = hg_tree_here(t, "types");
    bool good = count <= HG_TREE_MOST_VALUES && (types || !count);
    for (uint32_t i = 0; good && i < count; i++)
        good = types[i] < HG_TYPE_COUNT || types[i] == HG_TREE_PREDICATE;
    if (!good)
        hg_asm_error(t->a, "N03", &at, NULL,
                     "a function has at most %d parameters and results, each of an hg_type or "
                     "HG_TREE_PREDICATE",
                     HG_TREE_MOST_VALUES);
    return good;
}

hg_routine hg_tree_declare_function(hg_tree *t, const char *name, const uint32_t *types,
                                    uint32_t parameters, uint32_t results) {
    HG_ENTRY;
    uint8_t all[HG_TREE_MOST_VALUES] = {0};
    uint32_t count = parameters <= HG_TREE_MOST_VALUES && results <= HG_TREE_MOST_VALUES
                         ? parameters + results
                         : UINT32_MAX;
    if (!hg_tree_ready(t) || !good_types(t, types, count)) return 0;
    for (uint32_t i = 0; i < count; i++) all[i] = (uint8_t)types[i];
    hg_token at = hg_tree_here(t, "function");
    if (!name || !hg_is_parameter_name(name, strlen(name))) {
        hg_asm_error(t->a, "N03", &at, NULL, "'%.64s' cannot be the name of a function",
                     name ? name : "");
        return 0;
    }
    at.marked = hg_token_width(&at);
    at.text = hg_arena_text(&t->a->texts, name, strlen(name));
    at.length = (uint32_t)strlen(name);
    uint32_t number = hg_tree_function_new(t->a, all, parameters, results);
    return number == HG_TREE_BAD || !at.text ? 0 : hg_tree_add_routine(t, number, &at);
}

/* Whether a function may begin here: behind the statements of the program, in no block. */
static bool may_begin(hg_tree *t, const hg_tree_routine *r) {
    hg_token at = hg_tree_here(t, "function");
    const char *wrong = NULL;
    if (t->open || t->a->source.braces.count)
        wrong = "a function begins where no block and no other function is open";
    else if (t->a->tree->functions.data[r->number].entry != HG_UNDEFINED)
        wrong = "the function has its statements already";
    if (wrong) hg_asm_error(t->a, "L03", &at, "hg_tree_end", "%s", wrong);
    return !wrong;
}

hg_status hg_tree_begin_function(hg_tree *t, hg_routine routine, hg_variable *parameters) {
    HG_ENTRY;
    uint64_t errors = t ? t->a->wrong.errors : 0;
    if (!hg_tree_ready(t)) return hg_tree_status(t, errors);
    const hg_tree_routine *r = find(t, routine);
    if (!r || !may_begin(t, r)) return hg_tree_status(t, errors);
    const hg_token name = r->name;
    uint32_t number = r->number;
    hg_tree_check_behind(t);
    t->open = routine;
    if (!hg_tree_open_function(t->a, number, &name)) return hg_tree_status(t, errors);
    const hg_tree_function f = t->a->tree->functions.data[number];
    for (uint32_t i = 0; parameters && i < f.parameters; i++) {
        const hg_tree_value value = t->a->tree->values.data[f.values + i];
        parameters[i] = hg_tree_add_variable(t, value.reg, value.type == HG_TREE_PREDICATE, false);
    }
    return hg_tree_status(t, errors);
}

void hg_tree_end_function(hg_tree *t) {
    const hg_token name = hg_tree_find_routine(t, t->open)->name;
    t->open = 0;
    (void)hg_tree_close_function(t->a, &name);
    t->behind = t->a->code.insts.count;
}

void hg_tree_check_behind(hg_tree *t) {
    hg_token at = hg_tree_here(t, "statement");
    if (!t->behind || t->open || t->a->code.insts.count == t->behind) return;
    t->behind = 0; /* said */
    hg_asm_error(t->a, "L03", &at, "functions come last",
                 "statements of the program stand behind a function");
}

hg_expression hg_tree_call_routine(hg_tree *t, hg_routine routine, const hg_expression *arguments,
                                   uint32_t count) {
    HG_ENTRY;
    uint32_t nodes[HG_TREE_MOST_VALUES];
    if (!hg_tree_ready(t)) return 0;
    const hg_tree_routine *r = find(t, routine);
    hg_token at = hg_tree_here(t, "call");
    bool good = r && count <= HG_TREE_MOST_VALUES && (arguments || !count);
    uint32_t takes = r ? t->a->tree->functions.data[r->number].parameters : 0;
    for (uint32_t i = 0; good && i < count; i++)
        good = (nodes[i] = hg_tree_take(t, arguments[i])) != HG_TREE_BAD;
    if (r && count != takes) {
        hg_asm_error(t->a, "N04", &at, NULL, "'%.*s' takes %u arguments, got %u",
                     hg_token_shown(&r->name), r->name.text, (unsigned)takes, (unsigned)count);
        good = false;
    }
    if (!good) return 0;
    return hg_tree_made(t, hg_tree_call_function(t->a, &at, r->number, nodes, count), "call");
}

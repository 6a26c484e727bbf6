/* Functions of the program: each is a target of `call` behind the program's statements. Parameters
 * and results have registers of their own: a call copies its arguments there and the results from
 * there, so that a value of the caller is the caller's. Whether a call is inlined is the kernel
 * IR's decision.
 * Must not know: syntax, types that are parameters. */
#include "isa/tree/tree.h"

static uint32_t next_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count; }

static bool add_value(hg_assembler *a, uint8_t type) {
    bool predicate = type == HG_TREE_PREDICATE;
    hg_tree_value *kept = hg_vec_push(&a->tree->values);
    if (!kept) return hg_asm_no_memory(a);
    *kept = (hg_tree_value){.type = type};
    return hg_asm_temporary(a, predicate ? (uint8_t)HG_TYPE_OMITTED : type, predicate, &kept->reg);
}

uint32_t hg_tree_function_new(hg_assembler *a, const uint8_t *types, uint32_t parameters,
                              uint32_t results) {
    if (!hg_tree_make(a)) return HG_TREE_BAD;
    hg_tree_function f = {.values = (uint32_t)a->tree->values.count,
                          .parameters = parameters,
                          .results = results,
                          .entry = HG_UNDEFINED};
    for (uint32_t i = 0; i < parameters + results; i++)
        if (!add_value(a, types[i])) return HG_TREE_BAD;
    hg_tree_function *kept = hg_vec_push(&a->tree->functions);
    if (!kept) {
        hg_asm_no_memory(a);
        return HG_TREE_BAD;
    }
    *kept = f;
    return (uint32_t)a->tree->functions.count - 1;
}

bool hg_tree_open_function(hg_assembler *a, uint32_t function, const hg_token *at) {
    if (hg_tree_is_reached(a) &&
        !hg_asm_emit(a, HG_OP_EXIT, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at))
        return false;
    hg_tree_function *f = &a->tree->functions.data[function];
    f->entry = next_inst(a);
    hg_tree_bind(a, &f->calls);
    a->code.bound = next_inst(a);
    a->tree->function = function + 1;
    return true;
}

static bool leave(hg_assembler *a, const hg_token *at) {
    return hg_asm_emit(a, HG_OP_RET, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at);
}

bool hg_tree_close_function(hg_assembler *a, const hg_token *at) {
    const hg_tree_function *f = &a->tree->functions.data[a->tree->function - 1];
    a->tree->function = 0;
    if (!hg_tree_is_reached(a)) return true;
    if (!f->results) return leave(a, at);
    hg_asm_error(a, "S02", at, "each way through it ends in return with its results",
                 "the end of '%.*s' is reached without 'return'", hg_token_shown(at), at->text);
    return leave(a, at);
}

static hg_tree_value result(const hg_assembler *a, const hg_tree_function *f, uint32_t i) {
    return a->tree->values.data[f->values + f->parameters + i];
}

static bool give_results(hg_assembler *a, const hg_token *at, const hg_tree_function *f,
                         const uint32_t *values) {
    if (f->results == 1) {
        const hg_tree_value only = result(a, f, 0);
        return hg_tree_lower(a, values[0], &only.reg, true);
    }
    for (uint32_t i = 0; i < f->results; i++)
        if (!hg_tree_lower(a, values[i], NULL, false)) return false;
    for (uint32_t i = 0; i < f->results; i++) {
        const hg_tree_value to = result(a, f, i);
        if (!hg_tree_copy(a, at, to.type, to.reg, hg_tree_at(a, values[i])->reg)) return false;
    }
    return true;
}

bool hg_tree_return_from(hg_assembler *a, const hg_token *at, const uint32_t *values,
                         uint32_t count) {
    if (!a->tree || !a->tree->function)
        return hg_asm_emit(a, HG_OP_EXIT, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at);
    const hg_tree_function f = a->tree->functions.data[a->tree->function - 1];
    if (count != f.results) {
        hg_asm_error(a, "N04", at, NULL, "the function has %u result%s, 'return' gives %u",
                     (unsigned)f.results, f.results == 1 ? "" : "s", (unsigned)count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!hg_tree_fit(a, values[i], result(a, &f, i).type, "the result")) return false;
    return give_results(a, at, &f, values) && leave(a, at);
}

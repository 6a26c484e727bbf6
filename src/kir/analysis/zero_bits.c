/* How many low bits of integers are known to be zero: proves that accesses are aligned.
 * Requires: a legalised module. Provides: a side table. One fact for each variable, parameter and result; everything starts at its best and gets worse until nothing changes. */
#include "kir/analysis/analysis.h"

enum { ALL = 64, PATIENCE = 12 };

typedef struct function_zeros {
    uint8_t params[16], result;
} function_zeros;
typedef struct finder {
    function_zeros *functions; /* by id */
    uint8_t *vars;             /* by id */
    uint8_t *values;           /* of the function at work, by id */
    bool changed, hurry;
} finder;

static uint32_t trailing(uint64_t x) { return x ? hg_ctz64(x) : ALL; }
static uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

static void lower_fact(finder *x, uint8_t *fact, uint32_t zeros) {
    if (zeros >= *fact) return;
    *fact = (uint8_t)(x->hurry ? 0 : zeros);
    x->changed = true;
}

static uint32_t of(const finder *x, const kir_value *v) { return x->values[v->id]; }

static uint32_t shifted(const kir_value *v, uint32_t zeros) {
    bool fixed = v->args[1]->op == KIR_CONST;
    uint32_t n = fixed ? (uint32_t)(v->args[1]->u.imm % kir_type_bits(v->type)) : 0;
    if (v->op == KIR_SHL) return least(zeros + n, ALL);
    return fixed && zeros > n ? zeros - n : 0;
}

static uint32_t zeros_of(const finder *x, const kir_function *f, const kir_value *v) {
    if (v->op == KIR_CONST)
        return v->type == KIR_BOOL || kir_type_bytes(v->type) > 8 ? 0 : trailing(v->u.imm);
    if (v->op == KIR_VAR_GET) return x->vars[v->u.var->id];
    if (v->op == KIR_PARAM) return x->functions[f->id].params[v->u.imm];
    if (v->op == KIR_CALL)
        return v->type == KIR_VOID ? 0 : x->functions[v->u.call.function->id].result;
    if (v->nargs == 0 || v->type == KIR_BOOL) return 0;
    uint32_t a = of(x, v->args[0]), c = v->nargs > 1 ? of(x, v->args[1]) : 0;
    switch ((kir_op)v->op) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_OR:
    case KIR_XOR:
    case KIR_UREM: return least(a, c);
    case KIR_AND: return a > c ? a : c;
    case KIR_MUL: return least(a + c, ALL);
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: return shifted(v, a);
    case KIR_SELECT: return least(c, of(x, v->args[2]));
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC: return a;
    default: return 0;
    }
}

static void visit(finder *x, const kir_function *f, const kir_value *v) {
    x->values[v->id] = (uint8_t)zeros_of(x, f, v);
    if (v->op == KIR_VAR_SET) lower_fact(x, &x->vars[v->u.var->id], of(x, v->args[0]));
    if (v->op == KIR_ATOMIC && v->u.mem.high) lower_fact(x, &x->vars[v->u.mem.high->id], 0);
    if (v->op == KIR_RETURN && v->nargs)
        lower_fact(x, &x->functions[f->id].result, of(x, v->args[0]));
    for (uint8_t i = 0; v->op == KIR_CALL && i < v->nargs && i < 16; i++)
        lower_fact(x, &x->functions[v->u.call.function->id].params[i], of(x, v->args[i]));
}

hg_status kir_find_zero_bits(const kir_module *m, kir_side_table *zeros) {
    finder x = {.changed = true};
    HG_TRY(kir_side_create(m, zeros));
    x.functions = hg_calloc((size_t)m->function_count + 1, sizeof *x.functions);
    x.vars = hg_calloc((size_t)m->var_count + 1, 1);
    if (!x.functions || !x.vars) {
        hg_free(x.functions);
        hg_free(x.vars);
        kir_side_free(zeros);
        return hg_fail_memory();
    }
    for (uint32_t i = 0; i < m->function_count; i++) {
        for (int k = 0; k < 16; k++) x.functions[i].params[k] = ALL;
        x.functions[i].result = ALL;
    }
    for (const kir_var *v = m->vars; v; v = v->next) x.vars[v->id] = v->length ? 0 : ALL;
    for (uint32_t round = 0; x.changed; round++) {
        x.changed = false;
        x.hurry = round > PATIENCE;
        for (const kir_function *f = m->functions; f; f = f->next) {
            x.values = kir_side_of(zeros, f);
            for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
                visit(&x, f, v);
        }
    }
    hg_free(x.functions);
    hg_free(x.vars);
    return HG_OK;
}

/* What a turn pays for, where all goes well: steps by kind and by instruction of the source. A step
 * is an instruction of the machine, or one lane of a gather or scatter. An estimate: what a
 * compiler folds or moves it does not know.
 * Must not know: compilers. */
#include "vector/vector.h"

/* Rounds of a loop whose number is not known; steps of a lane whose element is reached by
 * instructions of its own, and of a call; native vectors of so many bytes come with gathers. */
enum { ROUNDS = 8, BY_HAND = 5, CALL = 6, GATHERS = 64 };

typedef struct pricing {
    const vec_kernel *k;
    const vec_turn_size *size;
    const uint32_t *rounds; /* by instruction + 1; 0: not known */
    vec_costs *costs;       /* by instruction + 1 */
    double *functions;      /* by id: the steps of a call */
    double *weights;        /* by id: calls in a turn */
    double *own;            /* of the function that is looked at, by id: with what is inside */
    double *runs;           /* by id: how often a turn comes there */
    bool *answered;         /* by id: CHECKs for which another one answers */
    bool settled;           /* of the text in which all goes well */
} pricing;

static double pieces(const pricing *p, uint8_t type, bool each) {
    uint64_t element = type == KIR_BOOL ? 4 : type == KIR_VOID ? 1 : kir_type_bytes(type);
    if (!each) return 1;
    return (double)((p->k->lanes * element + p->size->bytes - 1) / p->size->bytes);
}

static double pieces_of_bytes(const pricing *p, uint32_t bytes) {
    return (double)((p->k->lanes * (uint64_t)bytes + p->size->bytes - 1) / p->size->bytes);
}

/* ---- one operation ---- */

static bool is_logic(const vec_value *v) {
    return v->type == KIR_BOOL && (v->prim == KIR_AND || v->prim == KIR_OR || v->prim == KIR_XOR);
}

/* Integers have no division of vectors: each lane has its own. */
static bool divides_by_lane(const vec_value *v) {
    return v->each && (v->prim == KIR_UDIV || v->prim == KIR_SDIV || v->prim == KIR_UREM ||
                       v->prim == KIR_SREM);
}

/* Places are calculated by the access itself, of indices of 32 bits. */
static bool is_of_address(const vec_value *v) {
    if (!v->each || v->type != HG_TYPE_U64) return false;
    return v->prim == KIR_ZEXT || (v->prim == KIR_SHL && v->args[0]->prim == KIR_ZEXT);
}

static double price_prim(const pricing *p, const vec_value *v, vec_cost *kind) {
    double n = pieces(p, v->type, v->each);
    if (v->nargs && v->each && v->type == KIR_BOOL)
        n = pieces(p, v->args[0]->type, v->args[0]->each || v->args[v->nargs - 1]->each);
    *kind = !v->each ? VEC_COST_SCALARS : is_logic(v) ? VEC_COST_MASKS : VEC_COST_WORK;
    bool negates = is_logic(v) && v->prim == KIR_XOR && v->args[1]->op == VEC_CONST;
    if (v->settled || negates || is_of_address(v)) return 0;
    return divides_by_lane(v) ? BY_HAND * (double)p->k->lanes : n;
}

/* A row, or an element for all lanes. */
static double price_row(const pricing *p, const vec_value *v, vec_cost *kind) {
    bool one = v->u.mem.reach == VEC_REACH_ONE;
    *kind = one ? VEC_COST_SCALARS : VEC_COST_WORK;
    return one ? 1 : pieces_of_bytes(p, v->u.mem.bytes);
}

static double price_access(const pricing *p, const vec_value *v, vec_cost *kind) {
    if (v->u.mem.reach == VEC_REACH_ONE || v->u.mem.reach == VEC_REACH_ROW)
        return price_row(p, v, kind);
    *kind = VEC_COST_GATHERS;
    bool near = v->u.mem.reach == VEC_REACH_STRIDE && v->u.mem.stride > 0 &&
                v->u.mem.stride <= 4 * (int64_t)v->u.mem.bytes;
    if (near)
        return 2 * pieces_of_bytes(p, v->u.mem.bytes) * (double)v->u.mem.stride / v->u.mem.bytes;
    bool one_by_one = v->u.mem.bytes < 4 || p->size->bytes < GATHERS;
    return (double)p->k->lanes * (one_by_one ? BY_HAND : 1);
}

static double price_check(const pricing *p, const vec_value *v) {
    if (p->answered[v->id] || (p->settled && v->settled)) return 0;
    if (v->u.mem.reach != VEC_REACH_EACH) return 3;
    return 2 + pieces(p, HG_TYPE_U32, true);
}

static double price_fault(const pricing *p, const vec_value *v) {
    if (p->settled && v->settled) return 0;
    return v->args[0]->each ? 1 + pieces(p, KIR_BOOL, true) : 2;
}

static double price_var(const pricing *p, const vec_value *v, vec_cost *kind) {
    const vec_var *var = v->u.var;
    bool keeps = var->kept && var->each;
    *kind = keeps ? VEC_COST_KEPT : var->mask || v->mask ? VEC_COST_MASKS : VEC_COST_WORK;
    if (keeps) return pieces(p, var->type, true);
    return v->op == VEC_SET && v->mask ? pieces(p, var->type, var->each) : 0;
}

static double price_array(const pricing *p, const vec_value *v) {
    double n = pieces(p, v->u.var->type, true);
    if (v->args[0]->each) return (double)p->k->lanes * BY_HAND;
    return v->op == VEC_ARRAY_SET ? 3 * n + 4 : n + 2;
}

static double price_atomic(const pricing *p, const vec_value *v) {
    return (double)p->k->lanes * (v->u.mem.may.combines ? BY_HAND : 2 * BY_HAND);
}

/* What it takes itself, without what is inside; kind: NO_COST for nothing. */
static double price_of(const pricing *p, const vec_value *v, vec_cost *kind) {
    *kind = VEC_COST_SCALARS;
    switch ((vec_op)v->op) {
    case VEC_PRIM: return price_prim(p, v, kind);
    case VEC_LOAD:
    case VEC_STORE: return price_access(p, v, kind);
    case VEC_CHECK: return *kind = VEC_COST_CHECKS, price_check(p, v);
    case VEC_FAULT_IF: return *kind = VEC_COST_CHECKS, price_fault(p, v);
    case VEC_GET:
    case VEC_SET: return price_var(p, v, kind);
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: return *kind = VEC_COST_PRIVATE, price_array(p, v);
    case VEC_ATOMIC: return *kind = VEC_COST_ATOMICS, price_atomic(p, v);
    case VEC_TABLE_GET:
        *kind = v->each ? VEC_COST_GATHERS : VEC_COST_SCALARS;
        return v->each ? (double)p->k->lanes : 1;
    case VEC_FUEL: return *kind = VEC_COST_CHECKS, 3;
    case VEC_ANY: return *kind = VEC_COST_MASKS, 1 + pieces(p, KIR_BOOL, true) / 2;
    case VEC_LEAVE: return *kind = VEC_COST_MASKS, v->loses.count * pieces(p, KIR_BOOL, true);
    case VEC_RUNNING: return 0;
    case VEC_RAMP:
    case VEC_COORDINATE:
    case VEC_EXCHANGE:
    case VEC_SLIDE: return *kind = VEC_COST_WORK, pieces(p, v->type, true);
    case VEC_PICK: return 1;
    case VEC_CALL: return *kind = VEC_COST_FUNCTIONS, CALL;
    case VEC_IF:
    case VEC_LOOP: return 1;
    case VEC_BARRIER: return BY_HAND;
    default: return 0;
    }
}

/* ---- what is inside ---- */

static bool is_library(const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->inst) return false;
    return true;
}

/* An instruction that ends the loop says how many rounds it has at most. */
static double rounds_of(const pricing *p, const vec_value *loop) {
    for (const vec_value *v = vec_walk(NULL, loop->body[0]); v; v = vec_walk(v, loop->body[0]))
        if (v->op == VEC_BREAK && p->rounds[v->inst]) return p->rounds[v->inst];
    return ROUNDS;
}

/* Of loops in loops: bounded, so that no sum of such or product of two is infinite. */
static double product(double rounds, double steps) {
    const double most = 1e100;
    return steps < most / rounds ? rounds * steps : most;
}

static double region_sum(const pricing *p, const vec_region *r) {
    double sum = 0;
    for (const vec_value *v = r->first; v; v = v->next) sum += p->own[v->id];
    return sum;
}

/* The branch of an IF that a turn is taken to go: where all goes well, or the dearer one. */
static int way_of(const pricing *p, const vec_value *v) {
    if (p->settled && v->settled) return 0;
    return region_sum(p, v->body[1]) > region_sum(p, v->body[0]);
}

static double inside(const pricing *p, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_IF: return region_sum(p, v->body[way_of(p, v)]);
    case VEC_LOOP: return product(rounds_of(p, v), region_sum(p, v->body[0]));
    case VEC_TURNS: return region_sum(p, v->body[0]);
    case VEC_CALL: return p->functions[v->u.call.to->id];
    default: return 0;
    }
}

/* Whether it is asked once for many turns. */
static bool is_question(const pricing *p, const vec_value *v) {
    const vec_value *owner = v->parent->owner;
    return (p->k->blocks && v->tested) || v->op == VEC_WHOLE || (owner && owner->op == VEC_WHOLE);
}

static void find_answered(pricing *p, const vec_value *v) {
    if (v->op != VEC_CHECK) return;
    const vec_value *w = v;
    for (uint8_t i = v->u.mem.may.answers; i && w; i--) {
        w = vec_next_answered(w);
        if (w) p->answered[w->id] = true;
    }
}

static const vec_value *last_of(const vec_function *f) {
    const vec_value *last = NULL;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) last = v;
    return last;
}

/* Children come behind their parents in the text: from its end on what is inside is known. */
static void sum_up(pricing *p, const vec_function *f) {
    vec_cost kind;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        p->answered[v->id] = false;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        find_answered(p, v);
    for (const vec_value *v = last_of(f); v; v = v->before)
        p->own[v->id] = is_question(p, v) ? 0 : price_of(p, v, &kind) + inside(p, v);
    p->functions[f->id] = region_sum(p, f->body);
}

static double runs_of(const pricing *p, const vec_value *v, double weight) {
    const vec_value *owner = v->parent->owner;
    if (!owner) return weight;
    double runs = p->runs[owner->id];
    if (owner->op == VEC_LOOP) return product(runs, rounds_of(p, owner));
    if (owner->op == VEC_IF && v->parent != owner->body[way_of(p, owner)]) return 0;
    return runs;
}

/* The time of a loop is asked for where it ends. */
static uint32_t inst_of(const vec_value *v) {
    const vec_value *owner = v->parent->owner;
    return v->op == VEC_FUEL && owner && owner->op == VEC_LOOP ? v->parent->last->inst : v->inst;
}

static void spread(pricing *p, const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        vec_cost kind;
        double steps = price_of(p, v, &kind), runs = runs_of(p, v, p->weights[f->id]);
        p->runs[v->id] = runs;
        if (is_question(p, v)) {
            kind = VEC_COST_PROLOGUE; /* its runs: one for many turns */
        } else if (kind == VEC_COST_SCALARS && p->k->lanes == 1) {
            kind = VEC_COST_WORK; /* of a lane alone all is scalars */
        } else if (v->op == VEC_CALL) {
            const vec_function *to = v->u.call.to;
            if (is_library(to))
                steps += p->functions[to->id];
            else
                p->weights[to->id] += runs;
        }
        p->costs[inst_of(v)].steps[kind] += steps * runs;
    }
}

/* What does not fit into the registers is written and read again in each round there. */
static void add_spills(pricing *p) {
    const vec_pressure *most = &p->k->pressure;
    double bytes = (double)most->bytes * p->k->lanes - (double)p->size->registers * p->size->bytes;
    double runs = 0;
    if (bytes <= 0) return;
    const vec_function *f = p->k->functions;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->inst == most->inst && p->runs[v->id] > runs) runs = p->runs[v->id];
    p->costs[most->inst].steps[VEC_COST_SPILLS] += 2 * runs * bytes / p->size->bytes;
}

static bool has_question(const vec_kernel *k) {
    if (!k->blocks) return vec_whole_of(k) != NULL;
    const vec_region *body = k->functions->body;
    for (const vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body))
        if (v->op == VEC_TURNS && v->nargs) return true;
    return false;
}

static void price_all(pricing *p, const vec_function *const *functions) {
    uint32_t count = p->k->function_count;
    for (uint32_t i = count; i--;) sum_up(p, functions[i]);
    p->weights[p->k->functions->id] = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (i && is_library(functions[i])) continue;
        sum_up(p, functions[i]);
        spread(p, functions[i]);
        if (i == 0) add_spills(p);
    }
}

hg_status vec_find_costs(vec_kernel *k, const vec_turn_size *size, const uint32_t *rounds,
                         vec_costs *costs) {
    uint32_t count = 0, i = 0, most = 0;
    for (vec_function *f = k->functions; f; f = f->next) {
        vec_count_uses(f);
        uint32_t values = vec_number(f);
        most = values > most ? values : most;
        count++;
    }
    const vec_function **functions = hg_calloc((size_t)count + 1, sizeof *functions);
    pricing p = {.k = k,
                 .size = size,
                 .rounds = rounds,
                 .costs = costs,
                 .functions = hg_calloc((size_t)count + 1, sizeof *p.functions),
                 .weights = hg_calloc((size_t)count + 1, sizeof *p.weights),
                 .own = hg_calloc((size_t)most + 1, sizeof *p.own),
                 .runs = hg_calloc((size_t)most + 1, sizeof *p.runs),
                 .answered = hg_calloc((size_t)most + 1, sizeof *p.answered),
                 .settled = has_question(k)};
    bool ok = functions && p.functions && p.weights && p.own && p.runs && p.answered;
    for (const vec_function *f = k->functions; f && ok; f = f->next) functions[i++] = f;
    if (ok) price_all(&p, functions);
    hg_free(functions);
    hg_free(p.functions);
    hg_free(p.weights);
    hg_free(p.own);
    hg_free(p.runs);
    hg_free(p.answered);
    return ok ? HG_OK : hg_fail_memory();
}

/* Loops that copy bytes, in turns of one lane: what rounds do that certainly come, none of which
 * faults, is done sixteen bytes at a time in front of the loop, which then does the rest.
 * Must not know: loops that do anything else. */
#include "jit/jit_internal.h"

enum { CHUNK = 16, MOST_SETS = 4, MOST_QUESTIONS = 8, MOST_ROUNDS = 1 << 24 };

/* What must hold in a round: a < b, or a != b. */
typedef struct question {
    const vec_value *a, *b; /* b: NULL: a CHECK, `a` */
    bool less;
} question;

typedef struct copy {
    const vec_region *body;
    const vec_value *fuel, *load, *store, *sets[MOST_SETS];
    question questions[MOST_QUESTIONS];
    uint32_t set_count, question_count;
} copy;

/* ---- what the loop does ---- */

static bool is_outside(const copy *c, const vec_value *v) {
    for (const vec_region *r = v->parent; r; r = r->owner ? r->owner->parent : NULL)
        if (r == c->body) return false;
    return true;
}

static bool is_const(const vec_value *v, uint64_t x) {
    const uint32_t bits = (uint32_t)kir_type_bits(v->type);
    return v->op == VEC_CONST && bits <= 64 && v->u.imm == (x & (UINT64_MAX >> (64 - bits)));
}

/* By how much a SET changes its variable in each round, which begins with what it then has; 0:
 * something else. */
static int step_of_set(const copy *c, const vec_value *v) {
    const vec_value *sum = v->args[0];
    if (sum->op != VEC_PRIM || sum->nargs != 2 || sum->args[0]->op != VEC_GET ||
        sum->args[0]->u.var != v->u.var || is_outside(c, sum->args[0]))
        return 0;
    const bool up = is_const(sum->args[1], 1), down = is_const(sum->args[1], UINT64_MAX);
    return sum->prim == KIR_ADD ? up - down : sum->prim == KIR_SUB ? down - up : 0;
}

static int step_of_var(const copy *c, const vec_var *var) {
    for (uint32_t i = 0; i < c->set_count; i++)
        if (c->sets[i]->u.var == var) return step_of_set(c, c->sets[i]);
    return 0;
}

/* What a value changes by from round to round, without a look at its width; NONE: not known. */
enum { NONE = 9999, MOST_DEPTH = 8 };
static int step_within(const copy *c, const vec_value *v, int depth) {
    if (v->each || depth == 0) return NONE;
    if (is_outside(c, v) || v->op == VEC_CONST) return 0;
    if (v->op == VEC_GET) return step_of_var(c, v->u.var);
    if (v->op != VEC_PRIM || v->nargs != 2 || (v->prim != KIR_ADD && v->prim != KIR_SUB))
        return NONE;
    const int a = step_within(c, v->args[0], depth - 1), b = step_within(c, v->args[1], depth - 1);
    return a == NONE || b == NONE ? NONE : v->prim == KIR_ADD ? a + b : a - b;
}

static int step_of(const copy *c, const vec_value *v) { return step_within(c, v, MOST_DEPTH); }

/* An index that is a number of 32 bits at first. */
static const vec_value *narrow(const copy *c, const vec_value *v) {
    return !is_outside(c, v) && v->op == VEC_PRIM && v->prim == KIR_ZEXT &&
                   v->args[0]->type == HG_TYPE_U32
               ? v->args[0]
               : v;
}

static bool is_counter(const vec_value *v) {
    return v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64;
}

static bool goes_up(const copy *c, const vec_value *v) {
    return is_counter(v) && step_of(c, narrow(c, v)) == 1;
}

/* ---- what it looks like ---- */

static bool is_only(const vec_region *r, vec_op op) {
    return r->first && r->first == r->last && r->first->op == op;
}

static bool ask(copy *c, const vec_value *a, const vec_value *b, bool less) {
    if (c->question_count == MOST_QUESTIONS) return false;
    c->questions[c->question_count++] = (question){a, b, less};
    return true;
}

/* The loop ends, or a lane faults, unless the condition is as said. */
static bool add_condition(copy *c, const vec_value *v, bool wanted) {
    while (v->op == VEC_PRIM && v->prim == KIR_XOR && is_const(v->args[1], 1))
        v = v->args[0], wanted = !wanted;
    if (v->op != VEC_PRIM || (v->prim != KIR_CMP_ULT && v->prim != KIR_CMP_EQ)) return false;
    return wanted == (v->prim == KIR_CMP_ULT) &&
           ask(c, v->args[0], v->args[1], v->prim == KIR_CMP_ULT);
}

static bool add_if(copy *c, const vec_value *v) {
    if (v->args[0] == c->fuel) return is_only(v->body[0], VEC_RETURN) && !v->body[1]->first;
    if (is_only(v->body[0], VEC_BREAK) && !v->body[1]->first)
        return add_condition(c, v->args[0], false);
    return !v->body[0]->first && is_only(v->body[1], VEC_FAULT_IF) &&
           add_condition(c, v->args[0], true);
}

static bool is_byte(const vec_value *v, uint8_t reach) {
    return v->u.mem.bytes == 1 && v->u.mem.has_index && !v->u.mem.open && !v->mask &&
           v->u.mem.reach == reach;
}

static bool is_set(const copy *c, const vec_var *var) {
    for (uint32_t i = 0; i < c->set_count; i++)
        if (c->sets[i]->u.var == var) return true;
    return false;
}

/* Values are of the start of a round: nothing reads or changes a variable behind its SET. */
static bool add(copy *c, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CONST:
    case VEC_PRIM: return true;
    case VEC_GET: return !is_set(c, v->u.var);
    case VEC_FUEL: return !c->fuel && !v->prev && (c->fuel = v);
    case VEC_IF: return add_if(c, v);
    case VEC_CHECK: return is_byte(v, VEC_REACH_ONE) && ask(c, v, NULL, true);
    case VEC_LOAD: return is_byte(v, VEC_REACH_ONE) && !c->load && (c->load = v);
    case VEC_STORE:
        return is_byte(v, VEC_REACH_ONE) && !c->store && v->args[1] == c->load && (c->store = v);
    case VEC_SET:
        if (c->set_count == MOST_SETS || v->mask || v->u.var->each || v->u.var->shared ||
            v->u.var->kept || is_set(c, v->u.var) || !is_counter(v->args[0]) || !step_of_set(c, v))
            return false;
        c->sets[c->set_count++] = v;
        return true;
    default: return false;
    }
}

static bool is_answered(const copy *c, const question *q) {
    if (!q->b) return goes_up(c, q->a->args[0]);
    if (step_of(c, q->b) != 0 || !is_counter(q->a)) return false;
    const int step = step_of(c, q->less ? narrow(c, q->a) : q->a);
    return q->less ? step == 1 : step == 1 || step == -1;
}

static bool is_copy(const vec_value *loop, copy *c) {
    *c = (copy){.body = loop->body[0]};
    for (const vec_value *v = c->body->first; v; v = v->next)
        if (!add(c, v)) return false;
    if (!c->fuel || !c->store || !goes_up(c, c->load->args[0]) || !goes_up(c, c->store->args[0]))
        return false;
    for (uint32_t i = 0; i < c->question_count; i++)
        if (!is_answered(c, &c->questions[i])) return false;
    return true;
}

/* ---- in front of it ---- */

/* A value as it is in the first round. */
static LLVMValueRef first(jit_printer *p, const copy *c, const vec_value *v) {
    if (is_outside(c, v) || v->op == VEC_CONST) return jit_one(p, v);
    if (v->op == VEC_GET) return jit_read_var(p, v->u.var);
    LLVMValueRef a = first(p, c, v->args[0]);
    if (v->prim == KIR_ZEXT) return LLVMBuildZExt(p->b, a, p->t.i64, "");
    LLVMValueRef b = first(p, c, v->args[1]);
    return v->prim == KIR_ADD ? LLVMBuildAdd(p->b, a, b, "") : LLVMBuildSub(p->b, a, b, "");
}

static LLVMValueRef wide(jit_printer *p, LLVMValueRef v) {
    return LLVMBuildZExt(p->b, v, p->t.i64, "");
}

static LLVMValueRef call_of_two(jit_printer *p, const char *name, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[2] = {a, b};
    return jit_intrinsic(p, name, &p->t.i64, 1, args, 2);
}

/* Rounds until what goes up reaches the end, or its own width's. */
static LLVMValueRef rounds_below(jit_printer *p, const copy *c, const vec_value *v,
                                 LLVMValueRef end) {
    if (narrow(c, v) != v || v->type == HG_TYPE_U32)
        end = call_of_two(p, "llvm.umin", end, jit_u64(p, UINT64_C(1) << 32));
    return call_of_two(p, "llvm.usub.sat", end, wide(p, first(p, c, v)));
}

static LLVMValueRef rounds_of(jit_printer *p, const copy *c, const question *q) {
    if (!q->b) {
        LLVMValueRef end = jit_limit_of(p, q->a);
        return end ? rounds_below(p, c, q->a->args[0], end) : jit_u64(p, 0);
    }
    LLVMValueRef a = first(p, c, q->a), b = first(p, c, q->b);
    if (q->less) return rounds_below(p, c, q->a, wide(p, b));
    return wide(p, step_of(c, q->a) == 1 ? LLVMBuildSub(p->b, b, a, "")
                                         : LLVMBuildSub(p->b, a, b, ""));
}

static LLVMValueRef place(jit_printer *p, const copy *c, const vec_value *v) {
    LLVMValueRef at = jit_at(p, jit_base_of(p, v), first(p, c, v->args[0]));
    return v->u.mem.disp ? jit_field(p, at, (uint64_t)v->u.mem.disp) : at;
}

/* So many bytes, a multiple of CHUNK above 0. */
static void move(jit_printer *p, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(p->b), head = jit_block(p, "copy"),
                      next = jit_block(p, "copied");
    LLVMValueRef none = jit_u64(p, 0);
    LLVMBuildBr(p->b, head);
    LLVMPositionBuilderAtEnd(p->b, head);
    LLVMValueRef at = LLVMBuildPhi(p->b, p->t.i64, "");
    jit_store(p, jit_load(p, LLVMVectorType(p->t.i8, CHUNK), jit_at(p, from, at)),
              jit_at(p, to, at));
    LLVMValueRef then = LLVMBuildAdd(p->b, at, jit_u64(p, CHUNK), "");
    LLVMAddIncoming(at, (LLVMValueRef[]){none, then}, (LLVMBasicBlockRef[]){before, head}, 2);
    LLVMBuildCondBr(p->b, LLVMBuildICmp(p->b, LLVMIntULT, then, bytes, ""), head, next);
    LLVMPositionBuilderAtEnd(p->b, next);
}

void jit_copy_ahead(jit_printer *p, const vec_value *loop) {
    copy c;
    if (!p->in.alone || p->here.dead || !is_copy(loop, &c)) return;
    LLVMValueRef rounds = jit_u64(p, MOST_ROUNDS), from = place(p, &c, c.load),
                 to = place(p, &c, c.store);
    rounds = call_of_two(p, "llvm.umin", rounds,
                         rounds_below(p, &c, c.load->args[0], jit_u64(p, UINT64_MAX)));
    rounds = call_of_two(p, "llvm.umin", rounds,
                         rounds_below(p, &c, c.store->args[0], jit_u64(p, UINT64_MAX)));
    for (uint32_t i = 0; i < c.question_count; i++)
        rounds = call_of_two(p, "llvm.umin", rounds, rounds_of(p, &c, &c.questions[i]));
    /* A byte that is read again is written so long before, or not at all. */
    LLVMValueRef apart = LLVMBuildSub(p->b, LLVMBuildPtrToInt(p->b, to, p->t.i64, ""),
                                      LLVMBuildPtrToInt(p->b, from, p->t.i64, ""), "");
    LLVMValueRef least = call_of_two(p, "llvm.umin", rounds, apart);
    jit_if(p, NULL, LLVMBuildICmp(p->b, LLVMIntUGE, least, jit_u64(p, CHUNK), ""), false);
    LLVMValueRef whole = LLVMBuildAnd(p->b, rounds, jit_u64(p, ~(uint64_t)(CHUNK - 1)), "");
    move(p, to, from, whole);
    for (uint32_t i = 0; i < c.set_count; i++) {
        const vec_var *var = c.sets[i]->u.var;
        LLVMValueRef old = jit_read_var(p, var),
                     by = LLVMBuildTrunc(p->b, whole, jit_var_type(p, var), "");
        jit_write_var(p, var,
                      step_of_set(&c, c.sets[i]) == 1 ? LLVMBuildAdd(p->b, old, by, "")
                                                      : LLVMBuildSub(p->b, old, by, ""));
    }
    LLVMValueRef *fuel = jit_slot_of(p, JIT_FUEL);
    *fuel = LLVMBuildSub(p->b, *fuel, LLVMBuildMul(p->b, whole, jit_u64(p, c.fuel->u.imm + 1), ""),
                         "");
    jit_end_if(p);
}

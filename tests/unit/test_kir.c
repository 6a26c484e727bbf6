/* Kernel IR from programs: structure, simplification, shapes and provenance.
 *
 * Random graphs of blocks (irreducible ones too) run twice: instruction by instruction over the program, and over the structured
 * kernel IR before and after simplification, by an evaluator written here. Every block changes a state and stores it, so equal
 * numbers of stores with equal last values mean equal paths. */
#include "isa/cfg.h"
#include "kir/kir.h"
#include "test.h"

#include <stdlib.h>

/* ---- programs ---- */

static kir_module *lower(const char *text, uint64_t max_steps, hg_program **program) {
    hg_diagnostics *d = hg_diagnostics_create(20);
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    *program = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), d, program);
    if (status == HG_OK) status = hg_verify(*program, NULL, d, &cfg);
    if (status == HG_OK) status = kir_build(cfg, &(kir_build_options){max_steps}, &m);
    if (status == HG_OK) status = kir_verify(m);
    CHECK_MESSAGE(status == HG_OK, "%s\n%s", hg_last_error_text(), strlen(text) < 4000 ? text : "(long)");
    hg_cfg_destroy(cfg);
    hg_diagnostics_destroy(d);
    if (status == HG_OK) return m;
    kir_module_destroy(m);
    hg_program_release(*program);
    *program = NULL;
    return NULL;
}

static void done(kir_module *m, hg_program *program) {
    kir_module_destroy(m);
    hg_program_release(program);
}

static bool simplify(kir_module *m) {
    bool ok = kir_simplify(m) == HG_OK && kir_verify(m) == HG_OK;
    CHECK_MESSAGE(ok, "%s", hg_last_error_text());
    return ok;
}

/* ---- what a lane did ---- */

enum { STOPPED, OUT_OF_STORES, FAULT };
typedef struct trace { uint64_t stores, limit, last; int end; uint32_t fault_inst; } trace;

static bool store(trace *t, uint64_t value) {
    t->last = value;
    return ++t->stores < t->limit;
}

/* ---- the program, instruction by instruction ---- */

static uint64_t literal(const hg_program *p, const hg_operand *o, uint64_t size) {
    uint64_t v = 0;
    memcpy(&v, hg_literal(p, o), size);
    return v;
}

static trace walk_program(const hg_program *p, uint64_t limit, uint64_t max_steps) {
    trace t = {.limit = limit, .end = STOPPED};
    uint64_t r[256] = {0}, steps = 0;
    uint32_t stack[256], depth = 0, pc = p->entry;
    bool preds[16] = {0};
    while (pc < p->inst_count) {
        const hg_inst *in = &p->insts[pc];
        const hg_operand *o = hg_inst_operands(p, pc);
        uint32_t next = pc + 1, target = (uint32_t)o[1].value;
        bool counts = false;
        switch ((hg_op)in->op) {
        case HG_OP_MOV_IMM: r[o[0].reg] = literal(p, &o[1], hg_type_size_bytes((hg_type)in->type)); break;
        case HG_OP_MAD: r[o[0].reg] = r[o[1].reg] * r[o[2].reg] + r[o[3].reg]; break;
        case HG_OP_SHR: r[o[0].reg] = r[o[1].reg] >> r[o[2].reg] % 64; break;
        case HG_OP_AND: r[o[0].reg] = r[o[1].reg] & r[o[2].reg]; break;
        case HG_OP_SET: preds[o[1].reg] = r[o[2].reg] == r[o[3].reg]; break;
        case HG_OP_STG:
            if (!store(&t, r[o[1].reg])) { t.end = OUT_OF_STORES; return t; }
            break;
        case HG_OP_BRA:
            if (o[0].reg != 255 && !preds[o[0].reg]) break;
            counts = target <= pc;
            next = target;
            break;
        case HG_OP_LOOP:
            if (r[o[0].reg] == 0) break;
            r[o[0].reg]--;
            counts = true;
            next = target;
            break;
        case HG_OP_CALL:
            stack[depth++] = next;
            next = (uint32_t)o[0].value;
            counts = true;
            break;
        case HG_OP_RET: next = stack[--depth]; break;
        case HG_OP_EXIT: return t;
        default: CHECK_MESSAGE(false, "instruction %u is not part of this test", (unsigned)in->op); return t;
        }
        if (counts && max_steps && ++steps > max_steps) {
            t.end = FAULT;
            t.fault_inst = pc;
            return t;
        }
        pc = next;
    }
    return t;
}

/* ---- the kernel IR ---- */

typedef enum flow { NEXT, BROKEN, AGAIN, RETURNED, ENDED } flow;
typedef struct machine { trace t; uint64_t *vars; uint64_t rubbish; const kir_module *m; } machine;

static uint64_t compute(const kir_value *v, uint64_t a, uint64_t b) {
    uint32_t bits = kir_type_bits(v->args[0]->type);
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch ((kir_op)v->op) {
    case KIR_ADD: return (a + b) & mask;
    case KIR_SUB: return (a - b) & mask;
    case KIR_MUL: return (a * b) & mask;
    case KIR_AND: return a & b;
    case KIR_OR: return a | b;
    case KIR_XOR: return a ^ b;
    case KIR_LSHR: return a >> b % bits;
    case KIR_SHL: return (a << b % bits) & mask;
    case KIR_CMP_EQ: return a == b;
    case KIR_CMP_ULT: return a < b;
    case KIR_ZEXT: return a;
    default: CHECK_MESSAGE(false, "operation %s is not part of this test", kir_op_name((kir_op)v->op)); return 0;
    }
}

static flow run_function(machine *x, const kir_function *f);

static flow run_region(machine *x, const kir_region *r, uint64_t *values) {
    for (const kir_value *v = r->first; v; v = v->next) {
        flow next = NEXT;
        switch ((kir_op)v->op) {
        case KIR_CONST: values[v->id] = v->u.imm; break;
        case KIR_INPUT: case KIR_ID: values[v->id] = 1; break;
        case KIR_VAR_GET: values[v->id] = x->vars[v->u.var->id]; break;
        case KIR_VAR_SET: x->vars[v->u.var->id] = values[v->args[0]->id]; break;
        case KIR_STORE:
            if (!store(&x->t, values[v->args[v->nargs - 1]->id])) {
                x->t.end = OUT_OF_STORES;
                next = ENDED;
            }
            break;
        case KIR_FAULT_IF:
            if (!values[v->args[0]->id]) break;
            x->t.end = FAULT;
            x->t.fault_inst = v->inst - 1;
            next = ENDED;
            break;
        case KIR_CALL: next = run_function(x, v->u.call.function); break;
        case KIR_IF: next = run_region(x, v->body[values[v->args[0]->id] ? 0 : 1], values); break;
        case KIR_LOOP:
            do next = run_region(x, v->body[0], values);
            while (next == NEXT || next == AGAIN);
            if (next == BROKEN) next = NEXT;
            break;
        case KIR_BREAK: next = BROKEN; break;
        case KIR_CONTINUE: next = AGAIN; break;
        case KIR_RETURN: next = RETURNED; break;
        case KIR_EXIT: next = ENDED; break;
        default: values[v->id] = compute(v, values[v->args[0]->id], v->nargs > 1 ? values[v->args[1]->id] : 0);
        }
        if (next != NEXT) return next;
    }
    return NEXT;
}

/* A function's own variables hold rubbish at first: reading one before setting it shows. */
static flow run_function(machine *x, const kir_function *f) {
    uint64_t *values = calloc(f->value_count + 1u, sizeof *values);
    for (const kir_var *v = x->m->vars; v; v = v->next)
        if (v->function == f) x->vars[v->id] = v->type == KIR_BOOL ? x->rubbish & 1 : v->type == HG_TYPE_U32 ? (uint32_t)x->rubbish : x->rubbish;
    flow end = run_region(x, f->body, values);
    free(values);
    return end == RETURNED ? NEXT : end;
}

static trace walk_kir(const kir_module *m, uint64_t limit, uint64_t rubbish) {
    machine x = {.t = {.limit = limit, .end = STOPPED}, .rubbish = rubbish, .m = m};
    x.vars = calloc(m->var_count + 1u, sizeof *x.vars);
    for (kir_function *f = m->functions; f; f = f->next) kir_number(f);
    run_function(&x, m->functions);
    free(x.vars);
    return x.t;
}

/* ---- random graphs ---- */

static uint64_t random_state;
static uint32_t rnd(uint32_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

static void add_head(hg_text *t) {
    hg_text_addf(t, ".atlas 1\n.program t\n.param r1 x buffer u64 inout [n]\n.param r4 n u64\n"
                    "    mov_imm.u64 r20, %u\n    mov_imm.u64 r21, 0x5851f42d4c957f2d\n    mov_imm.u64 r22, 0\n    mov_imm.u64 r23, 1\n"
                    "    mov_imm.u32 r30, 33\n    mov_imm.u32 r40, 2\n    mov_imm.u32 r41, 0\n    mov_imm.u32 r42, 3\n"
                    "    seteq.u64 p0, r22, r23\n    seteq.u64 p1, r22, r22\n    seteq.u64 p2, r22, r23\n", rnd(1000000));
}

/* The state becomes another for each block, and is stored. */
static void add_visit(hg_text *t, uint32_t number) {
    hg_text_addf(t, "    mov_imm.u64 r24, %u\n    mad.u64 r20, r20, r21, r24\n    stg.u64 [buf(r1) + 0], r20\n", number * 2 + 1);
}

typedef struct part { const char *name; uint32_t blocks; uint32_t part, parts; } part;

static void add_condition(hg_text *t, uint32_t pred) {
    hg_text_addf(t, "    mov_imm.u32 r30, %u\n    shr.u64 r25, r20, r30\n    mov_imm.u64 r26, %u\n    and.u64 r25, r25, r26\n    seteq.u64 p%u, r25, r22\n",
                 30 + rnd(30), rnd(3) ? 1 : 3, pred);
}

/* A jump target of a block: anywhere, or near. */
static uint32_t pick(const part *p, uint32_t from, uint32_t style) {
    if (style == 0) return rnd(p->blocks);
    int32_t to = (int32_t)from + (int32_t)rnd(7) - (style == 1 ? 3 : 0);
    return to < 0 ? 0 : (uint32_t)to >= p->blocks ? p->blocks - 1 : (uint32_t)to;
}

static void add_block(hg_text *t, const part *p, uint32_t i, uint32_t style) {
    hg_text_addf(t, "%s%u.%u:\n", p->name, p->part, i);
    add_visit(t, p->part * 1000 + i);
    if (rnd(8) == 0) hg_text_addf(t, "    mov_imm.u32 r%u, %u\n", 40 + rnd(3), rnd(4));
    if (rnd(6) == 0 && p->part + 1 < p->parts) hg_text_addf(t, "    call @f%u.0\n", p->part + 1 + rnd(p->parts - p->part - 1));
    uint32_t pred = rnd(3);
    if (rnd(4)) add_condition(t, pred);
    switch (rnd(10)) {
    case 0: hg_text_addf(t, "    bra @%s%u.%u\n", p->name, p->part, pick(p, i, style)); break;
    case 1: hg_text_addf(t, "    loop r%u, @%s%u.%u\n", 40 + rnd(3), p->name, p->part, pick(p, i, style)); break;
    case 2:
        if (rnd(4) == 0) hg_text_addf(t, "    exit\n");
        else if (p->part) hg_text_addf(t, "    ret\n");
        break;
    case 3: break; /* falls through */
    default: hg_text_addf(t, "    bra.p%u @%s%u.%u\n", pred, p->name, p->part, pick(p, i, style));
    }
}

static char *random_program(uint32_t most) {
    hg_text t = {0};
    uint32_t parts = 1 + rnd(3), style = rnd(3);
    add_head(&t);
    for (uint32_t k = 0; k < parts; k++) {
        part p = {"f", 1 + rnd(most), k, parts};
        for (uint32_t i = 0; i < p.blocks; i++) add_block(&t, &p, i, style);
        hg_text_addf(&t, k ? "    ret\n" : "    exit\n");
    }
    return t.data;
}

static bool equal(trace a, trace b) {
    return a.stores == b.stores && a.last == b.last && a.end == b.end && (a.end != FAULT || a.fault_inst == b.fault_inst);
}

static void check_paths(const char *text, uint64_t seed, uint64_t limit, uint64_t max_steps) {
    hg_program *program;
    kir_module *m = lower(text, max_steps, &program);
    if (!m) return;
    trace expected = walk_program(program, limit, max_steps), built = walk_kir(m, limit, ~seed);
    CHECK_MESSAGE(equal(expected, built), "seed %" PRIu64 ": structured form differs: %" PRIu64 " stores, last %" PRIx64 ", expected %" PRIu64 ", %" PRIx64, seed,
                  built.stores, built.last, expected.stores, expected.last);
    if (simplify(m)) {
        trace simple = walk_kir(m, limit, seed * 3);
        CHECK_MESSAGE(equal(expected, simple), "seed %" PRIu64 ": simplified form differs: %" PRIu64 " stores, last %" PRIx64 ", expected %" PRIu64 ", %" PRIx64, seed,
                      simple.stores, simple.last, expected.stores, expected.last);
    }
    done(m, program);
}

static void random_graphs(uint64_t first, uint64_t count) {
    for (uint64_t seed = first; seed < first + count && test_failed < 5; seed++) {
        random_state = seed * 77;
        char *text = random_program(seed % 16 == 0 ? 60 : 3 + (uint32_t)(seed % 10));
        check_paths(text, seed, 300, 0);
        if (seed % 4 == 0) check_paths(text, seed, 1000, 100);
        hg_free(text);
    }
}

int main(int count, char **words) {
    uint64_t first = count > 1 ? strtoull(words[1], NULL, 0) : 1, graphs = count > 2 ? strtoull(words[2], NULL, 0) : 3000;
    random_graphs(first, graphs);
    return test_done();
}

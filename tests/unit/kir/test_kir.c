/* Kernel IR from programs: structure, simplification, shapes and provenance.
 *
 * Random graphs of blocks (irreducible ones too) run twice: instruction by instruction over the
 * program, and over the structured kernel IR before and after simplification, by an evaluator
 * written here. Every block changes a state and stores it, so equal numbers of stores with equal
 * last values mean equal paths.
 * test: labels=slow */
#include "isa/cfg.h"
#include "kir/kir.h"
#include "oracle/oracle.h"
#include "support/kir_text.h"
#include "test.h"
#include "kir/builder.h"
#include "kir/passes/passes.h"
#include "kir/analysis/analysis.h"
#include "kir/build/build.h"
#include "kir/rewrite.h"
#include "support/sanitized.h"

#include <stdlib.h>

/* ---- programs ---- */

static kir_module *lower(const char *text, uint64_t max_steps, hg_program **program) {
    hg_diagnostics *d = hg_diagnostics_create(20);
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    *program = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), d, program);
    if (status == HG_OK) status = hg_verify(*program, NULL, d, &cfg);
    if (status == HG_OK) status = kir_build(cfg, &(kir_build_options){.max_steps = max_steps}, &m);
    if (status == HG_OK) status = kir_verify(m);
    CHECK_MESSAGE(status == HG_OK, "%s\n%s", hg_last_error_text(),
                  strlen(text) < 4000 ? text : "(long)");
    hg_cfg_destroy(cfg);
    hg_diagnostics_destroy(d);
    if (status == HG_OK) {
        CHECK_MESSAGE(kir_reads_back(m, "built"), "%s", strlen(text) < 4000 ? text : "(long)");
        return m;
    }
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
    CHECK(!ok || kir_reads_back(m, "simplified"));
    return ok;
}

/* ---- what a lane did ---- */

enum { STOPPED, OUT_OF_STORES, FAULT };
typedef struct trace {
    uint64_t stores, limit, last;
    int end;
    uint32_t fault_inst;
} trace;

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
        uint32_t next = pc + 1,
                 target = in->op == HG_OP_BRA || in->op == HG_OP_LOOP ? (uint32_t)o[1].value : 0;
        bool counts = false;
        switch ((hg_op)in->op) {
        case HG_OP_MOV_IMM:
            r[o[0].reg] = literal(p, &o[1], hg_type_size_bytes((hg_type)in->type));
            break;
        case HG_OP_MAD: r[o[0].reg] = r[o[1].reg] * r[o[2].reg] + r[o[3].reg]; break;
        case HG_OP_SHR: r[o[0].reg] = r[o[1].reg] >> r[o[2].reg] % 64; break;
        case HG_OP_AND: r[o[0].reg] = r[o[1].reg] & r[o[2].reg]; break;
        case HG_OP_SET: preds[o[1].reg] = r[o[2].reg] == r[o[3].reg]; break;
        case HG_OP_STG:
            if (!store(&t, r[o[1].reg])) {
                t.end = OUT_OF_STORES;
                return t;
            }
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
        case HG_OP_PARALLEL_MAP: break;
        default:
            CHECK_MESSAGE(false, "instruction %u is not part of this test", (unsigned)in->op);
            return t;
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
typedef struct machine {
    trace t;
    uint64_t *vars;
    uint64_t rubbish;
    const kir_module *m;
} machine;

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
    default:
        CHECK_MESSAGE(false, "operation %s is not part of this test", kir_op_name((kir_op)v->op));
        return 0;
    }
}

static flow run_function(machine *x, const kir_function *f);

static flow run_region(machine *x, const kir_region *r, uint64_t *values) {
    for (const kir_value *v = r->first; v; v = v->next) {
        flow next = NEXT;
        switch ((kir_op)v->op) {
        case KIR_CONST: values[v->id] = v->u.imm; break;
        case KIR_INPUT:
        case KIR_ID: values[v->id] = 1; break;
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
        case KIR_STEP: break;
        default:
            values[v->id] = compute(v, values[v->args[0]->id],
                                    v->nargs > 1 ? values[v->args[1]->id] : 0);
        }
        if (next != NEXT) return next;
    }
    return NEXT;
}

/* A function's own variables hold rubbish at first: reading one before setting it shows. */
static flow run_function(machine *x, const kir_function *f) {
    uint64_t *values = calloc(f->value_count + 1u, sizeof *values);
    for (const kir_var *v = x->m->vars; v; v = v->next)
        if (v->function == f)
            x->vars[v->id] = v->type == KIR_BOOL      ? x->rubbish & 1
                             : v->type == HG_TYPE_U32 ? (uint32_t)x->rubbish
                                                      : x->rubbish;
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
    hg_text_addf(
        t,
        ".atlas 1\n.program t\n.param r1 x buffer u64 inout [n]\n.param r4 n u64\n"
        "    mov_imm.u64 r20, %u\n    mov_imm.u64 r21, 0x5851f42d4c957f2d\n    mov_imm.u64 r22, "
        "0\n    mov_imm.u64 r23, 1\n"
        "    mov_imm.u32 r30, 33\n    mov_imm.u32 r40, 2\n    mov_imm.u32 r41, 0\n    mov_imm.u32 "
        "r42, 3\n"
        "    seteq.u64 p0, r22, r23\n    seteq.u64 p1, r22, r22\n    seteq.u64 p2, r22, r23\n",
        rnd(1000000));
}

/* The state becomes another for each block, and is stored. */
static void add_visit(hg_text *t, uint32_t number) {
    hg_text_addf(
        t,
        "    mov_imm.u64 r24, %u\n    mad.u64 r20, r20, r21, r24\n    stg.u64 [buf(r1) + 0], r20\n",
        number * 2 + 1);
}

typedef struct part {
    const char *name;
    uint32_t blocks;
    uint32_t part, parts;
    bool steps;
} part;

static void add_condition(hg_text *t, uint32_t pred) {
    hg_text_addf(t,
                 "    mov_imm.u32 r30, %u\n    shr.u64 r25, r20, r30\n    mov_imm.u64 r26, %u\n    "
                 "and.u64 r25, r25, r26\n    seteq.u64 "
                 "p%u, r25, r22\n",
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
    if (p->steps && rnd(5) == 0)
        hg_text_addf(t, "    parallel_map.u64 r1, r1, abs, r4\n"); /* control is uniform here */
    if (rnd(6) == 0 && p->part + 1 < p->parts)
        hg_text_addf(t, "    call @f%u.0\n", p->part + 1 + rnd(p->parts - p->part - 1));
    uint32_t pred = rnd(3);
    if (rnd(4)) add_condition(t, pred);
    switch (rnd(10)) {
    case 0: hg_text_addf(t, "    bra @%s%u.%u\n", p->name, p->part, pick(p, i, style)); break;
    case 1:
        hg_text_addf(t, "    loop r%u, @%s%u.%u\n", 40 + rnd(3), p->name, p->part,
                     pick(p, i, style));
        break;
    case 2:
        if (rnd(4) == 0)
            hg_text_addf(t, "    exit\n");
        else if (p->part)
            hg_text_addf(t, "    ret\n");
        break;
    case 3: break; /* falls through */
    default: hg_text_addf(t, "    bra.p%u @%s%u.%u\n", pred, p->name, p->part, pick(p, i, style));
    }
}

static char *random_program(uint32_t most) {
    hg_text t = {0};
    uint32_t parts = 1 + rnd(3), style = rnd(3);
    bool steps = rnd(2);
    add_head(&t);
    for (uint32_t k = 0; k < parts; k++) {
        part p = {"f", 1 + rnd(most), k, parts, steps};
        for (uint32_t i = 0; i < p.blocks; i++) add_block(&t, &p, i, style);
        hg_text_addf(&t, k ? "    ret\n" : "    exit\n");
    }
    return t.data;
}

static bool equal(trace a, trace b) {
    return a.stores == b.stores && a.last == b.last && a.end == b.end &&
           (a.end != FAULT || a.fault_inst == b.fault_inst);
}

static void check_paths(const char *text, uint64_t seed, uint64_t limit, uint64_t max_steps) {
    hg_program *program;
    kir_module *m = lower(text, max_steps, &program);
    if (!m) return;
    trace expected = walk_program(program, limit, max_steps), built = walk_kir(m, limit, ~seed);
    CHECK_MESSAGE(equal(expected, built),
                  "seed %" PRIu64 ": structured form differs: %" PRIu64 " stores, last %" PRIx64
                  ", expected %" PRIu64 ", %" PRIx64,
                  seed, built.stores, built.last, expected.stores, expected.last);
    if (simplify(m)) {
        trace simple = walk_kir(m, limit, seed * 3);
        CHECK_MESSAGE(equal(expected, simple),
                      "seed %" PRIu64 ": simplified form differs: %" PRIu64 " stores, last %" PRIx64
                      ", expected %" PRIu64 ", %" PRIx64,
                      seed, simple.stores, simple.last, expected.stores, expected.last);
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

/* ---- shape of the result ---- */

/* Control and effects as one line: if(…)else(…), loop(…), load, store, and so on. */
static void skeleton(hg_text *t, const kir_region *r) {
    for (const kir_value *v = r->first; v; v = v->next) {
        bool shown = v->op == KIR_IF || v->op == KIR_LOOP ||
                     (kir_has_side_effect(v) && v->op != KIR_VAR_SET);
        if (!shown) continue;
        hg_text_addf(t, "%s%s", t->length && t->data[t->length - 1] != '(' ? " " : "",
                     kir_op_name((kir_op)v->op));
        if (v->op == KIR_CALL) hg_text_addf(t, " %s", v->u.call.function->name);
        if (!v->body[0]) continue;
        hg_text_addf(t, "(");
        skeleton(t, v->body[0]);
        hg_text_addf(t, ")");
        if (!v->body[1] || !v->body[1]->first) continue;
        hg_text_addf(t, " else(");
        skeleton(t, v->body[1]);
        hg_text_addf(t, ")");
    }
}

static void check_skeleton(const char *text, const char *expected) {
    hg_program *program;
    kir_module *m = lower(text, 0, &program);
    if (!m || !simplify(m)) return;
    hg_text t = {0};
    for (const kir_function *f = m->functions; f; f = f->next) {
        hg_text_addf(&t, "%s%s:", t.length ? "; " : "", f->name);
        skeleton(&t, f->body);
    }
    CHECK_TEXT(t.data, expected);
    hg_text_free(&t);
    done(m, program);
}

static char *example(const char *name) {
    static char text[16384];
    char path[512];
    snprintf(path, sizeof path, "%s/tests/instructions/%s.atlas", HG_SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    CHECK_MESSAGE(n > 0, "%s cannot be read", path);
    if (f) fclose(f);
    text[n] = '\0';
    return text;
}

static void examples(void) {
    check_skeleton(example("axpy"), "main: if(load load store)");
    check_skeleton(example("collatz"), "main: if(load loop(if(break) if() else()) store)");
    check_skeleton(example("block_reverse"), "main: load store barrier load store");
    check_skeleton(
        example("gcd3"),
        "main: if(load load call gcd load call gcd store); gcd: loop(if(break) fault_if)");
    check_skeleton(example("center"), "main: step if(load store)");
    check_skeleton(example("wide"), "main: if(load load store store)");
}

#define HEAD ".atlas 1\n.program t\n.param r1 x buffer u32 inout [n]\n.param r4 n u64\n"
#define SHOW "    stg.u32 [buf(r1) + 0], r5\n"

static void common_forms(void) {
    const char *preds = "    mov_imm.u32 r5, 1\n    ldg.u32 r6, [buf(r1) + 0]\n    seteq.u32 p0, "
                        "r5, r6\n    setlt.u32 p1, r5, r6\n";
    struct {
        const char *body, *expected;
    } forms[] = {
        {"    bra.p0 @done\n    bra.p1 @done\n" SHOW "done:\n    exit\n",
         "if(if(store))"}, /* guards
                            */
        {"    bra.p0 @a\n" SHOW "    bra @b\na:\n" SHOW SHOW "b:\n" SHOW,
         "if(store store) else(store) store"}, /* diamond */
        {"    mov_imm.u32 r7, 5\na:\n" SHOW "    loop r7, @a\n" SHOW,
         "loop(store if(break)) store"}, /* counted */
        {"a:\n" SHOW
         "    ldg.u32 r6, [buf(r1) + 0]\n    seteq.u32 p0, r5, r6\n    bra.p0 @a\n" SHOW,
         "loop(store load if(break)) store"},
        {"a:\n" SHOW "    bra @a\n", "loop(store)"},
        {"a:\n    ldg.u32 r6, [buf(r1) + 0]\n    seteq.u32 p0, r5, r6\n    bra.p0 @out\nb:\n" SHOW
         "    ldg.u32 r7, [buf(r1) + 4]\n    seteq.u32 p1, r5, r7\n"
         "    bra.p1 @b\n    bra @a\nout:\n" SHOW,
         "loop(load if(break) loop(store load if(break))) store"}, /* nested */
    };
    for (size_t i = 0; i < HG_COUNT_OF(forms); i++) {
        hg_text t = {0}, expected = {0};
        hg_text_addf(&t, HEAD "%s%s", preds, forms[i].body);
        hg_text_addf(&expected, "main: load %s", forms[i].expected);
        check_skeleton(t.data, expected.data);
        hg_text_free(&t);
        hg_text_free(&expected);
    }
}

static const kir_value *find_op(const kir_module *m, kir_op op, uint32_t number) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == op && number-- == 0) return v;
    return NULL;
}

static void example_shapes(void) {
    hg_program *program;
    kir_module *m = lower(example("axpy"), 0, &program);
    if (!m || !simplify(m)) return;
    kir_find_uniformity(m, false);
    const kir_value *load = find_op(m, KIR_LOAD, 0), *branch = find_op(m, KIR_IF, 0);
    CHECK(load && load->uniformity == KIR_VARYING);
    CHECK(load && load->args[0]->uniformity == KIR_UNIFORM);
    CHECK(load && load->args[1]->uniformity == KIR_AFFINE && load->args[1]->stride == 4 &&
          load->args[1]->umax < UINT64_C(1) << 42);
    CHECK(branch && branch->args[0]->uniformity == KIR_VARYING);
    CHECK(kir_provenance(m, UINT32_MAX) == HG_OK);
    CHECK_U64(m->slots.count, 2);
    CHECK(!m->has_open && !m->slots.data[0].written && m->slots.data[0].read &&
          m->slots.data[1].written && m->slots.data[1].read);
    CHECK_U64(m->slots.data[0].input, 0);
    CHECK_U64(m->slots.data[1].input, 1);
    done(m, program);
    m = lower(example("collatz"), 0, &program);
    if (!m || !simplify(m)) return;
    kir_find_uniformity(m, true);
    const kir_value *loop = find_op(m, KIR_LOOP, 0), *get = find_op(m, KIR_VAR_GET, 1);
    CHECK(loop && loop->uniformity == KIR_VARYING);
    CHECK(get && get->type == HG_TYPE_U32 && get->uniformity == KIR_VARYING); /* the number of
                                                                                 steps: constants,
                                                                                 but lanes leave at
                                                                                 different times */
    done(m, program);
}

/* One register counts a loop that all lanes leave together, and later one that they do not. */
static void reused_register(void) {
    hg_program *program;
    kir_module *m = lower(HEAD "    mov_imm.u32 r7, 3\n    mov_imm.u32 r5, 1\ntop:\n" SHOW
                               "    loop r7, @top\n    ldg.u32 r7, [buf(r1) + 0]\nagain:\n" SHOW
                               "    loop r7, @again\n    exit\n",
                          0, &program);
    if (!m || !simplify(m)) return;
    kir_find_uniformity(m, false);
    CHECK(find_op(m, KIR_LOOP, 0)->uniformity == KIR_UNIFORM);
    CHECK(find_op(m, KIR_LOOP, 1)->uniformity == KIR_VARYING);
    done(m, program);
}

static void handles(void) {
    hg_program *program;
    kir_module *m = lower(HEAD ".param r2 y buffer u32 inout [n]\n    setgeu.u64 p0, r255, r4\n    "
                               "sel.u64 r6, p0, r1, r2\n    ldg.u32 r5, [buf(r6) + 0]\n"
                               "    stg.u32 [buf7 + 0], r5\n    mov.u64 r7, r2\n    call @f\n    "
                               "exit\nf:\n    stg.u32 [buf(r7) + 4], r5\n    ret\n",
                          0, &program);
    if (!m) return;
    CHECK(kir_provenance(m, UINT32_MAX) == HG_OK);
    const kir_value *load = find_op(m, KIR_LOAD, 0), *constant = find_op(m, KIR_STORE, 0),
                    *moved = find_op(m, KIR_STORE, 1);
    CHECK(m->has_open && load && load->u.mem.slot == KIR_OPEN);
    CHECK(constant && constant->u.mem.slot >= 0 && m->slots.data[constant->u.mem.slot].constant &&
          m->slots.data[constant->u.mem.slot].handle == 7);
    CHECK(moved && moved->u.mem.slot >= 0 && !m->slots.data[moved->u.mem.slot].constant &&
          m->slots.data[moved->u.mem.slot].input == 2);
    done(m, program);
}

/* An index takes the width that the register has where the function is called, through another
 * function too. */
static void index_widths(void) {
    for (int wide = 0; wide < 2; wide++) {
        hg_text t = {0};
        hg_program *program;
        hg_text_addf(&t,
                     HEAD "    mov_imm.u32 r5, 1\n    mov_imm.%s r6, 4\n    call @f\n    "
                          "exit\ng:\n    stg.u32 [r1 + r6], r5\n    "
                          "ret\nf:\n    call @g\n    ret\n",
                     wide ? "u64" : "u32");
        kir_module *m = lower(t.data, 0, &program);
        hg_text_free(&t);
        if (!m) return;
        const kir_value *put = find_op(m, KIR_STORE, 0), *index = put ? put->args[1] : NULL;
        CHECK(index && index->op == (wide ? KIR_VAR_GET : KIR_ZEXT));
        if (index && !wide) index = index->args[0];
        CHECK(index && index->op == KIR_VAR_GET &&
              index->u.var == find_op(m, KIR_VAR_SET, 2)->u.var);
        done(m, program);
    }
}

/* ---- size ---- */

static uint64_t operations(const kir_module *m) {
    uint64_t n = 0;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) n++;
    return n;
}

/* 97 functions, each calling the next twice: 2^96 calls when run, as many operations as
 * instructions. */
static void doubling_calls(void) {
    hg_text t = {0};
    hg_program *program;
    hg_text_addf(&t, HEAD "    mov_imm.u32 r5, 1\n    call @g0\n    exit\n");
    for (int i = 0; i < 96; i++)
        hg_text_addf(&t, "g%d:\n    call @g%d\n    call @g%d\n    ret\n", i, i + 1, i + 1);
    hg_text_addf(&t, "g96:\n    add.u32 r5, r5, r5\n    ret\n");
    kir_module *m = lower(t.data, 0, &program);
    hg_text_free(&t);
    if (!m) return;
    CHECK_U64(m->function_count, 98);
    CHECK(operations(m) < 400);
    if (simplify(m)) CHECK(operations(m) < 400);
    done(m, program);
}

/* Loops in loops, each with an exit of its own to a far place: n² ways out. */
static void many_exits(uint32_t n, bool run) {
    hg_text t = {0};
    add_head(&t);
    for (uint32_t i = 0; i < n; i++) {
        hg_text_addf(&t, "l%u:\n", i);
        add_visit(&t, i);
        add_condition(&t, 0);
        hg_text_addf(&t, "    bra.p0 @t%u\n", i);
    }
    for (uint32_t i = n; i-- > 0;) {
        add_condition(&t, 1);
        hg_text_addf(&t, "    bra.p1 @l%u\n", i);
    }
    for (uint32_t i = 0; i < n; i++) {
        hg_text_addf(&t, "t%u:\n", i);
        add_visit(&t, n + i);
    }
    hg_text_addf(&t, "    exit\n");
    hg_program *program;
    kir_module *m = run ? NULL : lower(t.data, 0, &program);
    if (run)
        check_paths(t.data, n, 2000, 0);
    else if (m) {
        CHECK(operations(m) < 100 * (uint64_t)program->inst_count);
        done(m, program);
    }
    hg_text_free(&t);
}

static void large(const char *line, uint32_t n) {
    hg_text t = {0};
    hg_program *program;
    add_head(&t);
    for (uint32_t i = 0; i < n; i++) hg_text_addf(&t, line, i, i);
    hg_text_addf(&t, "done:\n    exit\n");
    kir_module *m = lower(t.data, 0, &program);
    if (m && simplify(m)) CHECK(operations(m) < 12 * (uint64_t)program->inst_count);
    if (m) done(m, program);
    hg_text_free(&t);
}

/* ---- steps ---- */

/* Statements of a nested program; labels are numbered. loops: labels of the uniform loops around,
 * inside and out. */
typedef struct nest {
    hg_text t;
    uint32_t labels, depth;
    struct {
        uint32_t top, out;
    } loops[8];
    uint32_t loop_count;
    bool varying;
} nest;

static void add_statements(nest *n, uint32_t count);

static void add_branch(nest *n, bool varying) {
    uint32_t other = n->labels++, end = n->labels++;
    bool was = n->varying, has_else = rnd(2);
    hg_text_addf(&n->t, "    bra.p%u @L%u.\n", varying ? 2 : rnd(2), other);
    n->varying |= varying;
    add_statements(n, 1 + rnd(2));
    if (has_else) hg_text_addf(&n->t, "    bra @L%u.\n", end);
    hg_text_addf(&n->t, "L%u.:\n", other);
    if (has_else) add_statements(n, 1 + rnd(2));
    if (has_else) hg_text_addf(&n->t, "L%u.:\n", end);
    n->varying = was;
}

/* One loop, or two that begin at one label: the inner one varying. */
static void add_loop(nest *n, bool varying) {
    uint32_t top = n->labels++, out = n->labels++;
    bool was = n->varying;
    hg_text_addf(&n->t, "L%u.:\n", top);
    if (!varying && rnd(2)) {
        n->varying = true;
        add_statements(n, 1);
        hg_text_addf(&n->t, "    bra.p2 @L%u.\n", top);
        n->varying = was;
    }
    n->varying |= varying;
    uint32_t before = n->loop_count;
    if (n->varying) n->loop_count = 0; /* a jump out of a varying loop is not uniform */
    if (!n->varying && n->loop_count < HG_COUNT_OF(n->loops)) {
        n->loops[n->loop_count].top = top;
        n->loops[n->loop_count++].out = out;
    }
    add_statements(n, 1 + rnd(3));
    n->loop_count = before;
    hg_text_addf(&n->t, "    bra.p%u @L%u.\nL%u.:\n", varying ? 2 : rnd(2), top, out);
    n->varying = was;
}

static void add_statements(nest *n, uint32_t count) {
    n->depth++;
    for (; count; count--) {
        uint32_t kind = rnd(8);
        bool varying = rnd(3) == 0;
        if (n->depth < 5 && kind < 2)
            add_branch(n, varying);
        else if (n->depth < 5 && kind < 4)
            add_loop(n, varying);
        else if (kind == 4 && n->loop_count && !n->varying) {
            uint32_t at = rnd(n->loop_count);
            hg_text_addf(&n->t, "    bra.p%u @L%u.\n", rnd(2),
                         rnd(2) ? n->loops[at].top : n->loops[at].out);
        } else if (!n->varying && kind < 7)
            hg_text_addf(&n->t, "    parallel_map.f32 r1, r1, abs, r4\n");
        else
            hg_text_addf(&n->t, "    add.u64 r8, r8, r5\n    stg.u64 [buf(r1) + 0], r8\n");
    }
    n->depth--;
}

/* Where the verifier finds control uniform, the structured form is uniform too: nothing that a step
 * needs is lost. */
static char *random_steps(void) {
    nest n = {.labels = 0};
    hg_text_addf(&n.t, ".atlas 1\n.program t\n.param r1 x buffer f32 inout [n]\n.param r4 n "
                       "u64\n.param r5 k u64\n.param r6 j u64\n"
                       "    seteq.u64 p0, r5, r6\n    setltu.u64 p1, r6, r5\n    seteq.u64 p2, "
                       "r255, r5\n    mov.u64 r8, r5\n");
    add_statements(&n, 2 + rnd(4));
    hg_text_addf(&n.t, "    exit\n");
    return n.t.data;
}

static uint64_t steps_seen, steps_accepted;

static void check_steps(const kir_module *m, uint64_t seed, const char *text) {
    for (const kir_value *v = kir_walk(NULL, m->functions->body); v;
         v = kir_walk(v, m->functions->body)) {
        if (v->op != KIR_STEP) continue;
        bool uniform = true;
        for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
            uniform &= r->owner->op == KIR_IF ? r->owner->args[0]->uniformity == KIR_UNIFORM
                                              : r->owner->uniformity == KIR_UNIFORM;
        steps_seen++;
        CHECK_MESSAGE(
            uniform, "seed %" PRIu64 ": a step in uniform control is under a varying condition\n%s",
            seed, text);
    }
}

static void random_step_graphs(uint64_t count) {
    for (uint64_t seed = 1; seed <= count && test_failed < 5; seed++) {
        random_state = seed * 1234567;
        char *text = random_steps();
        hg_program *program = NULL;
        hg_cfg *cfg = NULL;
        kir_module *m = NULL;
        if (hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK &&
            hg_verify(program, NULL, NULL, &cfg) == HG_OK && kir_build(cfg, NULL, &m) == HG_OK &&
            simplify(m)) {
            steps_accepted++;
            kir_find_uniformity(m, false);
            check_steps(m, seed, text);
        }
        kir_module_destroy(m);
        hg_cfg_destroy(cfg);
        hg_program_release(program);
        hg_free(text);
    }
    CHECK_MESSAGE(steps_accepted > count / 2 && steps_seen > count,
                  "only %" PRIu64 " programs accepted, %" PRIu64 " steps", steps_accepted,
                  steps_seen);
}

/* Instructions of pools have no type: such a step obeys the rules and reads back (lower asks both).
 */
static void untyped_steps(void) {
    hg_program *program;
    kir_module *m = lower(".atlas 1\n.program t\n.param r1 x buffer u64 inout [n]\n.param r4 n "
                          "u64\n    mov_imm.u64 r0, 0\n"
                          "    pool.alloc r10, 64\n    pool.alloc pool7, 8\n    stg.u64 [r1 + r0], "
                          "r10\n    pool.free r10\n    exit\n",
                          0, &program);
    if (!m) return;
    uint32_t untyped = 0;
    for (kir_value *v = kir_walk(NULL, m->functions->body); v;
         v = kir_walk(v, m->functions->body)) {
        if (v->op != KIR_STEP || v->u.step.atlas_type != HG_TYPE_NOT_USED) continue;
        untyped++;
        v->u.step.atlas_type = HG_TYPE_U64;
        CHECK(kir_verify(m) == HG_ERROR_INTERNAL);
        v->u.step.atlas_type = HG_TYPE_NOT_USED;
    }
    CHECK_U64(untyped, 3);
    done(m, program);
}

/* ---- out of memory ---- */

static uint64_t allocations_left;
static void *scarce(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allocations_left == 0) return NULL;
    allocations_left--;
    return realloc(memory, bytes);
}
static void give_back(void *user, void *memory) {
    (void)user;
    free(memory);
}

static hg_status lower_and_simplify(const hg_cfg *cfg) {
    kir_module *m = NULL, *copy = NULL;
    hg_status status = kir_build(cfg, NULL, &m);
    if (status == HG_OK) status = kir_simplify(m);
    if (status == HG_OK) status = kir_hoist(m);
    if (status == HG_OK) kir_find_uniformity(m, false);
    if (status == HG_OK) status = kir_provenance(m, UINT32_MAX);
    if (status == HG_OK) status = kir_copy(m, &copy);
    kir_module_destroy(copy);
    kir_module_destroy(m);
    return status;
}

/* Every allocation fails once: the error comes back and nothing is lost (the address sanitizer
 * looks for leaks). */
static void out_of_memory(const char *text) {
    hg_program *program = NULL;
    hg_cfg *cfg = NULL;
    hg_allocator hooks = {.size = sizeof hooks, .reallocate = scarce, .release = give_back};
    CHECK(hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK &&
          hg_verify(program, NULL, NULL, &cfg) == HG_OK);
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    for (uint64_t n = 0; status == HG_ERROR_OUT_OF_MEMORY && n < 10000; n++) {
        allocations_left = n;
        status = lower_and_simplify(cfg);
    }
    CHECK(status == HG_OK);
    CHECK(hg_set_allocator(NULL) == HG_OK);
    hg_cfg_destroy(cfg);
    hg_program_release(program);
}

/* ---- halves of constants ---- */

static uint64_t folded(kir_op op, uint8_t from, uint8_t to, uint64_t bits) {
    kir_module *m = kir_module_create("fold");
    kir_function *f = kir_function_create(m, "main", to);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_return(&b, kir_convert(&b, op, to, kir_const(&b, from, bits)));
    CHECK(kir_simplify(m) == HG_OK);
    const kir_value *result = f->body->last->args[0];
    CHECK_MESSAGE(result->op == KIR_CONST, "%s %llx is not folded", kir_op_name(op),
                  (unsigned long long)bits);
    bits = result->u.imm;
    kir_module_destroy(m);
    return bits;
}

static void check_half(hg_type type, uint32_t half, uint32_t single) {
    uint8_t narrow[2] = {(uint8_t)half, (uint8_t)(half >> 8)}, bytes[4];
    uint32_t bits = (uint32_t)folded(type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, HG_TYPE_U16,
                                     HG_TYPE_F32, half),
             expected;
    oracle_convert(HG_TYPE_F32, type, narrow, bytes);
    memcpy(&expected, bytes, 4);
    bool nan = (bits & 0x7FFFFFFF) > 0x7F800000, is_nan = (expected & 0x7FFFFFFF) > 0x7F800000;
    CHECK_MESSAGE(nan == is_nan && (nan || bits == expected), "%s %04x is %08x, expected %08x",
                  hg_type_name(type), half, bits, expected);
    memcpy(bytes, &single, 4);
    oracle_convert(type, HG_TYPE_F32, bytes, narrow);
    expected = (uint32_t)(narrow[0] | narrow[1] << 8);
    bits = (uint32_t)folded(type == HG_TYPE_F16 ? KIR_F2H : KIR_F2B, HG_TYPE_F32, HG_TYPE_U16,
                            single);
    uint32_t infinity = type == HG_TYPE_F16 ? 0x7C00 : 0x7F80;
    nan = (bits & 0x7FFF) > infinity;
    is_nan = (expected & 0x7FFF) > infinity;
    CHECK_MESSAGE(nan == is_nan && (nan || bits == expected), "f32 %08x is %s %04x, expected %04x",
                  single, hg_type_name(type), bits, expected);
}

/* Every 5th half and those near the ends of ranges; floats of all sizes, ties, and what rounds to
 * the least and the largest. */
static void test_halves(void) {
    static const uint32_t edges[] = {
        0,          1,          0x80000000, 0x33000000, 0x33000001, 0x33800000, 0x387FC000,
        0x387FE000, 0x387FFFFF, 0x38800000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001,
        0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000,
        0xFFFFFFFF, 0x3F801000, 0x3F803000, 0x3F808000, 0x3F818000, 0x33C00000, 0x34200000};
    uint32_t random = 12345;
    for (int t = 0; t < 2; t++) {
        hg_type type = t ? HG_TYPE_BF16 : HG_TYPE_F16;
        for (uint32_t i = 0; i < 65536; i += 5) {
            random = random * 1664525 + 1013904223;
            uint32_t near = (random & 0x8FFFFFFF) + 0x32000000; /* sizes that halves have */
            check_half(type, i, i % 2 ? random : near);
        }
        for (size_t i = 0; i < HG_COUNT_OF(edges); i++) check_half(type, edges[i] >> 16, edges[i]);
    }
}

int main(int count, char **words) {
    uint64_t first = count > 1 ? strtoull(words[1], NULL, 0) : 1,
             graphs = count > 2   ? strtoull(words[2], NULL, 0)
                      : SANITIZED ? 400
                                  : 3000;
    examples();
    common_forms();
    example_shapes();
    reused_register();
    handles();
    index_widths();
    doubling_calls();
    many_exits(40, true);
    many_exits(700, true); /* given up: one loop over block numbers */
    many_exits(3000, false);
    large("    bra.p0 @done\n", 20000);
    large("    bra.p0 @e%u\n    add.u32 r40, r40, r41\ne%u:\n", 20000);
    large("l%u:\n    add.u32 r40, r40, r41\n    bra.p1 @l%u\n", 20000);
    out_of_memory(example("gcd3"));
    random_state = 5;
    char *random = random_program(40), *steps = random_steps();
    out_of_memory(random);
    out_of_memory(steps);
    hg_free(random);
    hg_free(steps);
    untyped_steps();
    random_step_graphs(graphs);
    random_graphs(first, graphs);
    test_halves();
    return test_done();
}

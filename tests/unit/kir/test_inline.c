/* Functions in place of their calls against calls as they stand, both in the one-lane evaluator:
 * random modules with calls in branches, loops and functions, several RETURNs, some in loops, lanes
 * that end, faults, private arrays, and variables that functions share. What is compared: memory,
 * how the lane ended, and the fault with its instruction. Then what is written out, and what not.
 */
#include "support/kir_eval.h"
#include "test.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"

/* ---- random modules ---- */

enum { MOST_FUNCTIONS = 9, BYTES = 64, STEPS = 200000 };

typedef struct maker {
    hg_text text;
    uint64_t state;
    uint32_t functions, at; /* the function that is written: it calls later ones */
    uint32_t names, insts, loops;
    int budget;
} maker;

static uint32_t pick(maker *x, uint32_t n) {
    x->state ^= x->state << 13;
    x->state ^= x->state >> 7;
    x->state ^= x->state << 17;
    return (uint32_t)(x->state >> 33) % n;
}

static void indent(maker *x, int depth) { hg_text_addf(&x->text, "%*s", 2 * depth + 2, ""); }

/* Writes an operation; its number as a name. */
#define LINE(x, depth, ...) (indent(x, depth), hg_text_addf(&(x)->text, __VA_ARGS__))

static uint32_t value(maker *x, int depth) {
    const uint32_t v = x->names++;
    switch (pick(x, x->at ? 5 : 4)) {
    case 0: LINE(x, depth, "%%v%u: u32 = const %u\n", v, pick(x, 5)); break;
    case 1: LINE(x, depth, "%%v%u = get $m%u\n", v, pick(x, 3)); break;
    case 2: LINE(x, depth, "%%v%u = get l%u\n", v, pick(x, 2)); break;
    case 3: {
        const uint32_t one = x->names++;
        LINE(x, depth, "%%v%u: u32 = const %u\n", one, pick(x, 3));
        LINE(x, depth, "%%v%u: u32 = array_get own %%v%u\n", v, one);
        break;
    }
    default: LINE(x, depth, "%%v%u: u32 = param 0\n", v);
    }
    return v;
}

static uint32_t sum(maker *x, int depth) {
    static const char *const ops[] = {"add", "mul", "xor", "sub"};
    const uint32_t a = value(x, depth), b = value(x, depth), v = x->names++;
    LINE(x, depth, "%%v%u: u32 = %s %%v%u, %%v%u\n", v, ops[pick(x, 4)], a, b);
    return v;
}

static uint32_t condition(maker *x, int depth, uint32_t of) {
    const uint32_t a = sum(x, depth), mask = x->names++, low = x->names++, zero = x->names++,
                   v = x->names++;
    LINE(x, depth, "%%v%u: u32 = const %u\n", mask, of - 1);
    LINE(x, depth, "%%v%u: u32 = and %%v%u, %%v%u\n", low, a, mask);
    LINE(x, depth, "%%v%u: u32 = const 0\n", zero);
    LINE(x, depth, "%%v%u: bool = cmp_eq %%v%u, %%v%u\n", v, low, zero);
    return v;
}

/* The kernel stays to the end more often than not: what functions did shows there. */
static void leave(maker *x, int depth) {
    if (!x->at && pick(x, 8)) return;
    if (pick(x, 12) == 0) {
        LINE(x, depth, "exit\n");
    } else if (x->at % 2) {
        const uint32_t v = sum(x, depth);
        LINE(x, depth, "return %%v%u\n", v);
    } else {
        LINE(x, depth, "return\n");
    }
}

static void call(maker *x, int depth) {
    if (x->at + 1 >= x->functions) return;
    const uint32_t f = x->at + 1 + pick(x, x->functions - x->at - 1), a = sum(x, depth);
    LINE(x, depth, "inst %u\n", x->insts++);
    if (f % 2 == 0) {
        LINE(x, depth, "call @f%u %%v%u\n", f, a);
        return;
    }
    const uint32_t v = x->names++;
    LINE(x, depth, "%%v%u: u32 = call @f%u %%v%u\n", v, f, a);
    LINE(x, depth, "set l%u %%v%u\n", pick(x, 2), v);
}

static void block(maker *x, int depth, bool in_loop);

static void branch(maker *x, int depth, bool in_loop) {
    const uint32_t c = condition(x, depth, 2);
    LINE(x, depth, "if %%v%u {\n", c);
    block(x, depth + 1, in_loop);
    if (pick(x, 3) == 0)
        leave(x, depth + 1);
    else if (in_loop && pick(x, 4) == 0)
        LINE(x, depth + 1, "break\n");
    if (pick(x, 2)) {
        LINE(x, depth, "} else {\n");
        block(x, depth + 1, in_loop);
        if (pick(x, 3) == 0) leave(x, depth + 1);
    }
    LINE(x, depth, "}\n");
}

static void loop(maker *x, int depth) {
    const uint32_t n = x->loops++ % 4;
    uint32_t v = x->names++;
    LINE(x, depth, "%%v%u: u32 = const 0\n", v);
    LINE(x, depth, "set i%u %%v%u\n", n, v);
    LINE(x, depth, "loop {\n");
    const uint32_t i = x->names++, most = x->names++, out = x->names++, one = x->names++,
                   next = x->names++;
    LINE(x, depth + 1, "%%v%u = get i%u\n", i, n);
    LINE(x, depth + 1, "%%v%u: u32 = const %u\n", most, 1 + pick(x, 3));
    LINE(x, depth + 1, "%%v%u: bool = cmp_ult %%v%u, %%v%u\n", out, most, i);
    LINE(x, depth + 1, "if %%v%u {\n", out);
    LINE(x, depth + 2, "break\n");
    LINE(x, depth + 1, "}\n");
    LINE(x, depth + 1, "%%v%u: u32 = const 1\n", one);
    LINE(x, depth + 1, "%%v%u: u32 = add %%v%u, %%v%u\n", next, i, one);
    LINE(x, depth + 1, "set i%u %%v%u\n", n, next);
    block(x, depth + 1, true);
    LINE(x, depth, "}\n");
}

static void statement(maker *x, int depth, bool in_loop) {
    const uint32_t kind = pick(x, 12);
    if (kind < 3) {
        const uint32_t v = sum(x, depth);
        LINE(x, depth, "set %s%u %%v%u\n", kind ? "$m" : "l", pick(x, 2), v);
    } else if (kind == 3) {
        const uint32_t at = x->names++, v = sum(x, depth);
        LINE(x, depth, "%%v%u: u32 = const %u\n", at, pick(x, 3));
        LINE(x, depth, "array_set own %%v%u, %%v%u\n", at, v);
    } else if (kind == 4) {
        const uint32_t v = sum(x, depth);
        LINE(x, depth, "inst %u\n", x->insts++);
        LINE(x, depth, "store buffer %%x [%u], %%v%u\n",
             4 * pick(x, BYTES / 4 + (x->at && pick(x, 40) == 0 ? 1u : 0u)), v);
    } else if (kind == 5 && x->at && pick(x, 4) == 0) {
        const uint32_t c = condition(x, depth, 16);
        LINE(x, depth, "inst %u\n", x->insts++);
        LINE(x, depth, "fault_if F05 %%v%u \"bad\"\n", c);
    } else if (kind < 8) {
        call(x, depth);
    } else if (kind < 11 && depth < 4) {
        branch(x, depth, in_loop);
    } else if (depth < 3) {
        loop(x, depth);
    }
}

static void block(maker *x, int depth, bool in_loop) {
    for (uint32_t i = 1 + pick(x, 3); i > 0 && x->budget > 0; i--) {
        x->budget--;
        statement(x, depth, in_loop);
    }
}

static void function(maker *x) {
    if (x->at)
        hg_text_addf(&x->text, "\nfunction @f%u(u32) -> %s {\n", x->at, x->at % 2 ? "u32" : "void");
    else
        hg_text_addf(&x->text, "\nfunction @main() -> void {\n");
    hg_text_addf(&x->text,
                 "  var l0, l1, i0, i1, i2, i3: u32\n  var own: u32[3]\n  %%x: u64 = const "
                 "1\n  %%zero: u32 = const 0\n");
    for (int i = 0; i < 2; i++) hg_text_addf(&x->text, "  set l%d %%zero\n", i);
    for (int i = 0; i < 4; i++) hg_text_addf(&x->text, "  set i%d %%zero\n", i);
    x->names = x->loops = 0;
    x->budget = 4 + (int)pick(x, 25);
    block(x, 0, false);
    if (x->at)
        hg_text_addf(&x->text, "  %%kept = array_get own %%zero\n  %%m = get $m2\n  "
                               "%%mixed: u32 = sub %%kept, %%m\n  set $m2 %%mixed\n  "
                               "%%p: u32 = param 0\n  array_set own %%zero, %%p\n");
    block(x, 0, false);
    if (x->at % 2 || (x->at && pick(x, 2))) leave(x, 0); /* others end at their end */
    if (!x->at)
        for (uint32_t i = 0; i < 3; i++)
            hg_text_addf(&x->text, "  %%r%u = get $m%u\n  store buffer %%x [%u], %%r%u\n", i, i,
                         4 * i, i);
    hg_text_addf(&x->text, "}\n");
}

static kir_module *make(uint64_t seed) {
    maker x = {.state = seed * 0x9E3779B97F4A7C15u + 1};
    kir_module *m = NULL;
    for (int i = 0; i < 5; i++) (void)pick(&x, 2);
    x.functions = 2 + pick(&x, MOST_FUNCTIONS - 1);
    hg_text_addf(&x.text, "module t\nvar $m0, $m1, $m2: u32\n");
    for (x.at = 0; x.at < x.functions; x.at++) function(&x);
    CHECK(!x.text.failed);
    bool good = kir_parse(x.text.data, x.text.length, NULL, &m) == HG_OK && kir_verify(m) == HG_OK;
    CHECK_MESSAGE(good, "%s\n%s", hg_last_error_text(), x.text.data);
    hg_text_free(&x.text);
    return m;
}

/* ---- what a lane does ---- */

typedef struct outcome {
    uint8_t memory[BYTES];
    bool exited;
    int fault;
    uint32_t inst;
} outcome;

static outcome run(const kir_module *m) {
    outcome o = {.exited = false};
    eval e;
    eval_begin(&e, m);
    e.max_steps = STEPS;
    e.memory = o.memory;
    e.memory_size = BYTES;
    (void)eval_function(&e, m->functions, NULL, NULL);
    eval_end(&e);
    o.exited = e.exited;
    o.fault = e.fault;
    o.inst = e.fault ? e.fault_inst : 0;
    return o;
}

static void check_same(uint64_t seed, const char *when, const outcome *a, const outcome *b) {
    CHECK_MESSAGE(a->fault == b->fault && a->inst == b->inst,
                  "seed %llu %s: fault %d at %u, not %d at %u", (unsigned long long)seed, when,
                  b->fault, b->inst, a->fault, a->inst);
    CHECK_MESSAGE(a->exited == b->exited, "seed %llu %s: the lane ends otherwise",
                  (unsigned long long)seed, when);
    CHECK_MESSAGE(memcmp(a->memory, b->memory, BYTES) == 0, "seed %llu %s: other memory",
                  (unsigned long long)seed, when);
}

static uint32_t count_of(const kir_module *m, kir_op op) {
    uint32_t count = 0;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            count += v->op == op;
    return count;
}

static void test_random(void) {
    uint32_t made_all = 0, faults = 0, ends = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        kir_module *m = make(seed), *made = NULL;
        if (!m) return;
        const outcome wanted = run(m);
        CHECK(kir_inline(m, &made) == HG_OK);
        if (wanted.fault != 99 && made) { /* 99: more steps than are counted */
            CHECK(kir_verify(made) == HG_OK);
            outcome got = run(made);
            check_same(seed, "written out", &wanted, &got);
            CHECK(kir_simplify(made) == HG_OK);
            CHECK(kir_hoist(made) == HG_OK);
            CHECK(kir_verify(made) == HG_OK);
            got = run(made);
            check_same(seed, "simplified", &wanted, &got);
            made_all += made->function_count == 1 && count_of(made, KIR_CALL) == 0;
            faults += wanted.fault != 0;
            ends += wanted.exited;
        }
        kir_module_destroy(made);
        kir_module_destroy(m);
    }
    printf("%u modules without calls, %u faults, %u lanes that end\n", made_all, faults, ends);
    CHECK(made_all > 40 && faults > 10 && ends > 10);
}

/* ---- what is written out ---- */

/* A kernel that calls a function of about `size` operations so many times, in so many IFs. */
static kir_module *plain(uint32_t size, uint32_t calls, uint32_t depth) {
    hg_text text = {0};
    kir_module *m = NULL;
    hg_text_addf(&text,
                 "module t\nvar $a: u32\n\nfunction @main() -> void {\n  %%true: bool = const "
                 "true\n");
    for (uint32_t i = 0; i < depth; i++) hg_text_addf(&text, "  if %%true {\n");
    for (uint32_t i = 0; i < calls; i++) hg_text_addf(&text, "  call @f\n");
    for (uint32_t i = 0; i < depth; i++) hg_text_addf(&text, "  }\n");
    hg_text_addf(&text, "}\n\nfunction @f() -> void {\n  %%v0 = get $a\n");
    for (uint32_t i = 1; i < size; i++)
        hg_text_addf(&text, "  %%v%u: u32 = add %%v%u, %%v%u\n", i, i - 1, i - 1);
    hg_text_addf(&text, "  set $a %%v%u\n}\n", size - 1);
    CHECK(kir_parse(text.data, text.length, NULL, &m) == HG_OK);
    hg_text_free(&text);
    return m;
}

static void check_plain(uint32_t size, uint32_t calls, uint32_t depth, bool written) {
    kir_module *m = plain(size, calls, depth), *made = NULL;
    CHECK(kir_inline(m, &made) == HG_OK);
    CHECK_MESSAGE((made != NULL) == written, "%u calls of %u operations in %u branches", calls,
                  size, depth);
    if (made) {
        CHECK_U64(made->function_count, 1);
        CHECK_U64(count_of(made, KIR_CALL), 0);
        CHECK(made->vars->function == made->functions); /* nobody else's now */
        CHECK_U64(count_of(made, KIR_ADD), (uint64_t)calls * (size - 1));
    }
    kir_module_destroy(made);
    kir_module_destroy(m);
}

int main(void) {
    test_random();
    check_plain(1000, 1, 0, true);  /* called once */
    check_plain(5000, 1, 0, false); /* but too long */
    check_plain(100, 2, 0, true);   /* short */
    check_plain(200, 2, 0, false);  /* called more than once, and not short */
    check_plain(100, 60, 0, false); /* the kernel would be too long */
    check_plain(100, 20, 40, true);
    check_plain(100, 1, 60, false); /* too deep in branches */
    return test_done();
}

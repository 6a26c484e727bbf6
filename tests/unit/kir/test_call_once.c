/* Calls through one place against calls as they stand, both in the one-lane evaluator: values and
 * variables that cross from part to part, results that are used late, branches and loops inside of
 * parts, calls inside of branches, functions without a result. */
#include "support/kir_eval.h"
#include "test.h"
#include <math.h>
#include "kir/builder.h"
#include "kir/passes/passes.h"
#include "kir/sugar.h"

/* A function longer than what is called in place: some rounds of a mix of two numbers. */
static kir_function *mixer(kir_module *m, const char *name, uint32_t factor) {
    kir_function *f = kir_function_create(m, name, HG_TYPE_U32);
    kir_builder b;
    f->pure = true;
    f->param_count = 2;
    f->param_types[0] = f->param_types[1] = HG_TYPE_U32;
    kir_builder_init(&b, m, f);
    kir_value *x = kir_param(&b, 0), *y = kir_param(&b, 1);
    for (uint32_t i = 0; i < 30; i++) {
        x = kir_add(&b, kir_mul(&b, x, u32(&b, factor + i)), y);
        y = kir_binary(&b, KIR_XOR, y, shift_by(&b, KIR_LSHR, x, 3 + i % 7));
    }
    kir_return(&b, kir_binary(&b, KIR_XOR, x, y));
    return f;
}

/* A function without a result: it adds to a variable of the module. */
static kir_function *adder(kir_module *m, kir_var *sum) {
    kir_function *f = kir_function_create(m, "add", KIR_VOID);
    kir_builder b;
    f->param_count = 1;
    f->param_types[0] = HG_TYPE_U32;
    kir_builder_init(&b, m, f);
    kir_value *x = kir_param(&b, 0);
    for (uint32_t i = 0; i < 40; i++) x = kir_add(&b, kir_mul(&b, x, u32(&b, 5)), u32(&b, i));
    kir_set(&b, sum, kir_add(&b, kir_get(&b, sum), x));
    return f;
}

enum { CALLS = 60 };

/* Calls the three often: with values from far before, in an IF, in a LOOP, and with variables that
 * change between. */
static kir_function *worker(kir_module *m, kir_function *const *mix, kir_function *add,
                            kir_var *sum) {
    kir_function *f = kir_function_create(m, "work", HG_TYPE_U32);
    kir_builder builder, *b = &builder;
    f->param_count = 2;
    f->param_types[0] = f->param_types[1] = HG_TYPE_U32;
    kir_builder_init(b, m, f);
    kir_var *count = kir_var_create(m, f, HG_TYPE_U32, 0, "count");
    kir_value *early[CALLS], *x = kir_param(b, 0), *y = kir_param(b, 1),
                             *odd = equal(b, by(b, KIR_AND, x, 1), u32(b, 1));
    for (uint32_t i = 0; i < CALLS; i++) {
        kir_value *old = i < 7 ? y : early[i - 7],
                  *args[] = {kir_binary(b, KIR_XOR, x, u32(b, i)), old};
        early[i] = x = kir_call(b, mix[i % 3 == 0], 2, args, NULL);
        if (i % 7 == 3) kir_call(b, add, 1, (kir_value *[]){old}, NULL);
        if (i % 11 == 5) {
            kir_value *branch = kir_if_begin(b, odd);
            kir_set(b, sum,
                    kir_call(b, mix[0], 2, (kir_value *[]){kir_get(b, sum), early[i / 2]}, NULL));
            kir_if_else(b, branch);
            kir_for round = kir_for_begin(b, u32(b, 3));
            kir_set(b, count, kir_add(b, kir_get(b, count), kir_add(b, round.i, early[i / 3])));
            kir_for_end(b, &round);
            kir_if_end(b, branch);
        }
        x = kir_select(b, odd, x, kir_add(b, x, kir_get(b, count)));
    }
    kir_return(b, kir_add(b, x, kir_get(b, sum)));
    CHECK(!b->failed);
    return f;
}

static uint32_t evaluate(const kir_module *m, const kir_function *f, uint32_t x, uint32_t y) {
    eval e = {.module = m, .max_steps = 1000000};
    eval_value params[] = {ev_from(x), ev_from(y)};
    eval_begin(&e, m);
    uint32_t result = (uint32_t)ev_u64(&(eval_value[]){eval_function(&e, f, params, NULL)}[0]);
    CHECK(e.fault == 0);
    eval_end(&e);
    return result;
}

static uint32_t count_calls(const kir_function *f) {
    uint32_t calls = 0;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        calls += v->op == KIR_CALL;
    return calls;
}

int main(void) {
    kir_module *m = kir_module_create("once");
    kir_function *kernel = kir_function_create(m, "kernel", KIR_VOID);
    kir_var *sum = kir_var_create(m, NULL, HG_TYPE_U32, 0, "sum");
    kir_function *mix[] = {mixer(m, "mix", 77), mixer(m, "mix2", 1001)},
                 *f = worker(m, mix, adder(m, sum), sum);
    kir_builder b;
    kir_builder_init(&b, m, kernel);
    (void)kir_call(&b, f, 2, (kir_value *[]){u32(&b, 1), u32(&b, 2)}, NULL);
    uint32_t wanted[50];
    CHECK(kir_verify(m) == HG_OK);
    for (uint32_t i = 0; i < 50; i++) wanted[i] = evaluate(m, f, i * 0x9E3779B9u, i * i);
    kir_size before = {0}, size = {0};
    CHECK(kir_call_once(m, UINT64_MAX, &before) == HG_OK); /* short enough: nothing happens */
    CHECK(count_calls(f) > CALLS);
    CHECK(kir_call_once(m, 1000, &size) == HG_OK);
    CHECK_MESSAGE(size.operations < before.operations / 3, "%llu operations of %llu are left",
                  (unsigned long long)size.operations, (unsigned long long)before.operations);
    /* one for each part, one for each function that is called, and the branches of before */
    CHECK_U64(before.choices_squared, 0);
    double choices = sqrt((double)size.choices_squared);
    CHECK_MESSAGE(choices >= CALLS && choices < CALLS + 40, "%g choices of %d parts", choices,
                  CALLS + 1);
    CHECK(count_calls(f) < 12); /* three, and those in branches */
    for (uint32_t i = 0; i < 50; i++) CHECK_U64(evaluate(m, f, i * 0x9E3779B9u, i * i), wanted[i]);
    kir_module_destroy(m);
    return test_done();
}

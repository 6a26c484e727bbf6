/* test: labels=threads */
/* Compiled code: one for all launches of a kernel, or by key; a compiler that fails, and a compiler
 * that holds nobody up who asks for other code. Device forms are compiled by a driver that makes
 * nothing of them. */
#include "base/thread.h"
#include "driver/capsets.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/parse.h"
#include "runtime/backend.h"
#include "support/runtime_support.h"
#include <pthread.h>

/* ---- drivers ---- */

struct hg_driver_kernel {
    int nothing;
};
static int compiled;
static uint64_t alive;

static hg_status make(hg_device *device, const hg_driver_code *code, hg_driver_kernel **kernel) {
    (void)device;
    CHECK(code->module && code->layout);
    *kernel = hg_calloc(1, sizeof **kernel);
    if (!*kernel) return hg_fail_memory();
    alive++;
    return HG_OK;
}

static hg_status make_plain(hg_device *device, const kir_module *module,
                            hg_driver_kernel **kernel) {
    (void)device;
    CHECK(module->functions != NULL);
    *kernel = hg_calloc(1, sizeof **kernel);
    if (!*kernel) return hg_fail_memory();
    alive++;
    return HG_OK;
}

static void destroy(hg_driver_kernel *kernel) {
    alive--;
    hg_free(kernel);
}

typedef struct compiling {
    hg_driver driver;
    hg_device_caps caps;
    hg_code_set *set;
} compiling;

static hg_status begin(compiling *c, bool device_form, kir_module *high) {
    hg_capset capset;
    CHECK(hg_capset_find("cuda", &capset));
    c->driver = (hg_driver){.name = "nothing",
                            .code_create = make,
                            .kernel_create = make_plain,
                            .kernel_destroy = destroy};
    c->caps = (hg_device_caps){.compiler = {.kir = capset.kir,
                                            .device_form = device_form,
                                            .target = capset.target,
                                            .max_slots = UINT32_MAX}};
    const hg_code_options options = {.driver = &c->driver, .caps = &c->caps, .verify = true};
    c->set = NULL;
    hg_status status = hg_code_set_create(&options, high, &c->set);
    if (status == HG_OK) return hg_code_ahead(c->set, false);
    kir_module_destroy(high);
    return status;
}

static hg_status get(hg_code_set *set, uint64_t distinct, hg_code **code) {
    return hg_code_get(set, &(hg_code_key){.form = KIR_FORM_FLAT, .small = 1, .distinct = distinct},
                       (uint32_t[]){64, 1, 1}, 0, code);
}

/* ---- threads ---- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static int at_gate;

/* The first to come waits until the gate is opened. */
static hg_status slow_create(hg_device *device, const hg_driver_code *code,
                             hg_driver_kernel **kernel) {
    pthread_mutex_lock(&gate_lock);
    compiled++;
    if (at_gate++ == 0) {
        pthread_cond_broadcast(&gate_changed);
        while (!gate_open) pthread_cond_wait(&gate_changed, &gate_lock);
    }
    pthread_mutex_unlock(&gate_lock);
    return make(device, code, kernel);
}

typedef struct asker {
    hg_code_set *set;
    uint64_t distinct;
    hg_code *code;
    hg_status status;
} asker;

static void *ask(void *user) {
    asker *a = user;
    a->status = get(a->set, a->distinct, &a->code);
    return NULL;
}

static kir_module *small_kernel(void) {
    kir_module *m = kir_module_create("small");
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_exit(&b);
    CHECK(!b.failed);
    return m;
}

/* A loop that leaves something to move out, a variable and a call. NULL: out of memory. */
static kir_module *looping_kernel(void) {
    static const char text[] =
        "module looping\nfunction @main() -> void {\n  var i: u64\n  %one: u64 = const 1\n  loop "
        "{\n"
        "    %lane: u64 = id global_lane_id\n    %limit: u64 = mul %lane, %lane\n    %i: u64 = get "
        "i\n"
        "    %next: u64 = add %i, %one\n    set i %next\n    %over: bool = cmp_ult %limit, %next\n"
        "    if %over {\n      break\n    }\n  }\n}\n";
    kir_module *m = NULL;
    hg_status status = kir_parse(text, sizeof text - 1, NULL, &m);
    CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY, "%s", hg_last_error_text());
    return m;
}

static void compiling_holds_nobody_up(void) {
    enum { SAME = 4 };
    compiling c;
    CHECK_OK(begin(&c, true, small_kernel()));
    hg_code_set *set = c.set;
    c.driver.code_create = slow_create;
    compiled = 0;
    asker same[SAME] = {{0}}, other = {.set = set, .distinct = 2};
    pthread_t threads[SAME];
    for (int i = 0; i < SAME; i++) same[i] = (asker){.set = set, .distinct = 1};
    CHECK(pthread_create(&threads[0], NULL, ask, &same[0]) == 0);
    pthread_mutex_lock(&gate_lock);
    while (at_gate == 0) pthread_cond_wait(&gate_changed, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
    for (int i = 1; i < SAME; i++) CHECK(pthread_create(&threads[i], NULL, ask, &same[i]) == 0);
    ask(&other); /* while the first is at work: this would wait for ever if its compiler held the
                    lock */
    CHECK(other.status == HG_OK && other.code);
    pthread_mutex_lock(&gate_lock);
    gate_open = true;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_lock);
    for (int i = 0; i < SAME; i++) {
        pthread_join(threads[i], NULL);
        CHECK(same[i].status == HG_OK && same[i].code == same[0].code);
    }
    CHECK_U64(compiled, 2); /* one a key */
    for (int i = 0; i < SAME; i++) hg_code_release(set, same[i].code);
    hg_code_release(set, other.code);
    hg_code_set_destroy(set);
    CHECK_U64(alive, 0);
}

/* The first to come waits until the gate is opened, and then fails; so do the others. */
static hg_status slow_failing(hg_device *device, const hg_driver_code *code,
                              hg_driver_kernel **kernel) {
    hg_status status = slow_create(device, code, kernel);
    return status == HG_OK
               ? (destroy(*kernel), *kernel = NULL, hg_fail(HG_ERROR_OUT_OF_MEMORY, "no memory"))
               : status;
}

/* Who waited for code that could not be made fails too: nobody waits for ever. */
static void waiting_for_a_failure_ends(void) {
    enum { SAME = 4 };
    compiling c;
    CHECK_OK(begin(&c, true, small_kernel()));
    hg_code_set *set = c.set;
    c.driver.code_create = slow_failing;
    gate_open = false;
    at_gate = compiled = 0;
    asker same[SAME] = {{0}};
    pthread_t threads[SAME];
    for (int i = 0; i < SAME; i++) {
        same[i] = (asker){.set = set, .distinct = 1};
        CHECK(pthread_create(&threads[i], NULL, ask, &same[i]) == 0);
    }
    pthread_mutex_lock(&gate_lock);
    while (at_gate == 0) pthread_cond_wait(&gate_changed, &gate_lock);
    gate_open = true;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_lock);
    for (int i = 0; i < SAME; i++) pthread_join(threads[i], NULL); /* they count checks too */
    for (int i = 0; i < SAME; i++) {
        CHECK_STATUS(same[i].status, HG_ERROR_OUT_OF_MEMORY);
        CHECK(!same[i].code);
    }
    CHECK(compiled >= 1 && compiled <= SAME); /* who came later tried again */
    CHECK_U64(set->keyed.count, 0);
    c.driver.code_create = make;
    ask(&same[0]); /* another time there is memory */
    CHECK(same[0].status == HG_OK && same[0].code);
    hg_code_release(set, same[0].code);
    hg_code_set_destroy(set);
    CHECK_U64(alive, 0);
}

/* Ever new keys: the set keeps some, and code that is in use stays until it is released. */
static void ever_new_keys(void) {
    enum { KEYS = 100 };
    compiling c;
    hg_code *codes[KEYS] = {NULL}, *again = NULL;
    CHECK_OK(begin(&c, true, small_kernel()));
    for (uint64_t k = 0; k < KEYS; k++) CHECK_OK(get(c.set, k, &codes[k]));
    CHECK_U64(alive, KEYS);
    for (uint64_t k = 0; k < KEYS; k++)
        CHECK(codes[k] && codes[k]->kernel && codes[k]->key.distinct == k);
    for (uint64_t k = 0; k < KEYS; k++) hg_code_release(c.set, codes[k]);
    CHECK(alive == c.set->keyed.count && alive < KEYS);
    CHECK_OK(get(c.set, 0, &again)); /* one that was dropped */
    hg_code_release(c.set, again);
    hg_code_set_destroy(c.set);
    CHECK_U64(alive, 0);
}

/* ---- one code for all launches ---- */

static void one_code(void) {
    compiling c;
    CHECK_OK(begin(&c, false, small_kernel()));
    CHECK(c.set->kernel && !c.set->keyed.first && alive == 1);
    CHECK(!c.set->form.high && !c.set->form.low); /* nothing is made from them any more */
    hg_code_set_destroy(c.set);
    CHECK_U64(alive, 0);
    CHECK_OK(begin(&c, true, small_kernel()));
    CHECK(!c.set->kernel && c.set->form.low && alive == 0); /* device forms are made when launches
                                                               ask */
    hg_code_set_destroy(c.set);
}

/* ---- memory that ends ---- */

static failing_allocator memory;

static hg_status make_and_ask(bool device_form) {
    compiling c;
    hg_code *code = NULL, *other = NULL;
    kir_module *m = looping_kernel();
    if (!m) return HG_ERROR_OUT_OF_MEMORY;
    hg_status status = begin(&c, device_form, m);
    if (status == HG_OK && device_form) status = get(c.set, 1, &code);
    if (status == HG_OK && device_form) status = get(c.set, 2, &other);
    if (status != HG_OK && c.set)
        CHECK(c.set->keyed.count == (uint32_t)(code != NULL) && !c.set->kernel);
    if (code) hg_code_release(c.set, code);
    if (other) hg_code_release(c.set, other);
    hg_code_set_destroy(c.set);
    CHECK_U64(alive, 0);
    return status;
}

/* Threads that make code at the same time copy one module: none of them may find ids that it has to
 * write. */
static void what_is_copied_is_numbered(void) {
    compiling c;
    CHECK_OK(begin(&c, true, looping_kernel()));
    uint32_t id = 0, wrong = 0;
    const kir_function *f = c.set->form.low->functions;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        wrong += v->id != id++;
    CHECK_MESSAGE(wrong == 0 && f->value_count == id, "%u of %u ids", wrong, id);
    hg_code_set_destroy(c.set);
}

/* c = a + b, each a memory of its own. */
static kir_module *three_arrays(void) {
    kir_module *m = kir_module_create("three");
    kir_builder b;
    kir_value *x[3] = {NULL};
    kir_builder_init(&b, m, kir_function_create(m, "main", KIR_VOID));
    for (uint8_t i = 0; i < 3; i++) {
        kir_input *input = hg_vec_push(&m->inputs);
        CHECK(input != NULL);
        *input = (kir_input){.type = HG_TYPE_U64, .reg = i, .is_buffer = true};
        kir_value *handle = kir_emit(&b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
        handle->u.imm = i;
        kir_place at = {.space = KIR_BUFFER, .handle = handle, .unchecked = true};
        if (i == 2) x[2] = kir_add(&b, x[0], x[1]);
        kir_value *v = kir_access_make(&b, i < 2 ? KIR_LOAD : KIR_STORE, HG_TYPE_U32, &at, i == 2,
                                       &x[2]);
        if (i < 2) x[i] = v;
    }
    CHECK(!b.failed);
    return m;
}

/* The handles of whole-array steps lead nowhere, so that each of their arrays has a slot. Kernels
 * of programs have as many as the device. */
static void slots_of_steps(void) {
    for (uint32_t by_slots = 0; by_slots < 2; by_slots++) {
        compiling c;
        CHECK_OK(begin(&c, true, small_kernel()));
        hg_code_set_destroy(c.set);
        c.caps.compiler.max_slots = 1;
        const hg_code_options options = {
            .driver = &c.driver, .caps = &c.caps, .verify = true, .by_slots = by_slots != 0};
        CHECK_OK(hg_code_set_create(&options, three_arrays(), &c.set));
        CHECK(c.set->form.low->has_open == !by_slots);
        CHECK_U64(c.set->slot_count, by_slots ? 3 : 1);
        hg_code_set_destroy(c.set);
    }
}

static void each_allocation_fails(void) {
    for (int device_form = 0; device_form < 2; device_form++) {
        hg_status status = HG_ERROR_OUT_OF_MEMORY;
        uint64_t n = 1;
        CHECK_OK(make_and_ask(device_form)); /* what is made once is there now */
        for (bool hit = true; hit && n < 20000 && !test_failed; n++) {
            uint64_t before = memory.live;
            memory.allocations = 0;
            memory.fail_at = n;
            memory.only_once = true;
            status = make_and_ask(device_form);
            memory.fail_at = 0;
            hit = memory.allocations >= n;
            CHECK_MESSAGE(hit ? status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY
                              : status == HG_OK,
                          "allocation %" PRIu64 ": %s", n, hg_last_error_text());
            CHECK_MESSAGE(memory.live == before,
                          "allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64 " after", n,
                          before, memory.live);
        }
        CHECK(n > 20);
    }
}

int main(void) {
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    one_code();
    compiling_holds_nobody_up();
    waiting_for_a_failure_ends();
    ever_new_keys();
    what_is_copied_is_numbered();
    slots_of_steps();
    each_allocation_fails();
    CHECK_OK(hg_set_allocator(NULL));
    return test_done();
}

/* test: labels=threads */
/* Compiled code by key: tiers by the number of launches, code for distinct slots, a compiler that fails, and a compiler that holds
 * nobody up who asks for other code. */
#include "base/thread.h"
#include "kir/builder.h"
#include "kir/parse.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include <pthread.h>

static hg_backend *open_pretending(const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

enum { LANES = 1000 };

typedef struct bound {
    hg_program *program;
    hg_executable *executable;
    hg_binding *binding;
    hg_buffer x, y;
    float values[LANES];
} bound;

/* y = alpha x + y; with one buffer for both where they alias. */
static void bind(hg_backend *b, bool aliased, hg_executable *executable, bound *k) {
    for (int i = 0; i < LANES; i++) k->values[i] = (float)i;
    k->x = make_buffer(b, k->values, sizeof k->values);
    k->y = aliased ? k->x : make_buffer(b, k->values, sizeof k->values);
    if (!executable) {
        k->program = assemble(AXPY);
        CHECK_OK(hg_executable_create(b, k->program, &k->executable));
        executable = k->executable;
    }
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", k->x));
    CHECK_OK(hg_params_set_buffer(params, "y", k->y));
    CHECK_OK(hg_params_set_scalar(params, "alpha", HG_TYPE_F32, &(float){2}));
    CHECK_OK(hg_binding_create(executable, NULL, params, &k->binding));
    hg_params_destroy(params);
}

static void launch_and_check(hg_backend *b, bound *k, bool aliased) {
    float out[LANES];
    CHECK_OK(hg_binding_launch(k->binding));
    CHECK_OK(hg_backend_copy_from_buffer(b, k->y, out, sizeof out));
    uint32_t wrong = 0;
    for (int i = 0; i < LANES; i++) {
        float expected = aliased ? 3 * k->values[i] : 2 * (float)i + k->values[i];
        wrong += out[i] != expected;
        k->values[i] = expected;
    }
    CHECK_U64(wrong, 0);
}

static void unbind(hg_backend *b, bound *k, bool aliased) {
    hg_binding_destroy(k->binding);
    hg_executable_destroy(k->executable);
    hg_program_release(k->program);
    CHECK_OK(hg_backend_free_buffer(b, k->x));
    if (!aliased) CHECK_OK(hg_backend_free_buffer(b, k->y));
}

static void launches_decide(void) {
    hg_backend *b = open_pretending("tiers");
    bound k = {0};
    bind(b, false, NULL, &k);
    const hg_bound_kernel *bk = &k.binding->kernels[0];
    hg_code_set *set = k.binding->executable->kernels[0].code;
    CHECK_U64(set->caps->compiler.tier_count, 2);
    for (uint64_t n = 0; n < 5; n++) {
        launch_and_check(b, &k, false);
        CHECK_U64(set->launches, n + 1);
        CHECK(n < set->caps->compiler.tiers[1].from_launch
                  ? !bk->code && k.binding->one.launch.kernel == hg_code_only(set, 0)
                  : bk->code && bk->code->key.tier == 1 && k.binding->one.launch.kernel == bk->code->kernel);
    }
    unbind(b, &k, false);
    hg_backend_destroy(b);
}

static void alias_signatures_have_code_each(void) {
    hg_backend *b = open_pretending("second-tier");
    bound apart = {0}, same = {0}, again = {0};
    bind(b, false, NULL, &apart);
    bind(b, true, apart.executable, &same);
    bind(b, false, apart.executable, &again);
    for (int n = 0; n < 2; n++) {
        launch_and_check(b, &apart, false);
        launch_and_check(b, &same, true);
        launch_and_check(b, &again, false);
    }
    const hg_code *a = apart.binding->kernels[0].code, *s = same.binding->kernels[0].code, *g = again.binding->kernels[0].code;
    CHECK(a && s && a != s && a->key.distinct == 3 && s->key.distinct == 0);
    CHECK(a == g);
    unbind(b, &again, false);
    unbind(b, &same, true);
    unbind(b, &apart, false);
    hg_backend_destroy(b);
}

/* ---- drivers that misbehave ---- */

static hg_status (*real_create)(hg_device *, uint32_t, const kir_module *, hg_driver_kernel **);
static void (*real_destroy)(hg_driver_kernel *);
static int compiled, failures;
static uint64_t alive;

static hg_status counted_create(hg_device *device, uint32_t tier, const kir_module *module, hg_driver_kernel **kernel) {
    hg_status status = real_create(device, tier, module, kernel);
    alive += status == HG_OK;
    return status;
}

static void counted_destroy(hg_driver_kernel *kernel) {
    alive--;
    real_destroy(kernel);
}

static hg_status failing_second(hg_device *device, uint32_t tier, const kir_module *module, hg_driver_kernel **kernel) {
    if (tier == 0) return real_create(device, tier, module, kernel);
    failures++;
    return hg_fail(HG_ERROR_OUT_OF_MEMORY, "the compiler has no memory");
}

static void a_compiler_that_fails_falls_a_tier(void) {
    hg_backend *b = open_pretending("tiers");
    const hg_driver *kept = b->driver;
    hg_driver broken = *kept;
    real_create = kept->kernel_create;
    broken.kernel_create = failing_second;
    b->driver = &broken;
    bound k = {0};
    bind(b, false, NULL, &k);
    for (int n = 0; n < 6; n++) launch_and_check(b, &k, false);
    CHECK_U64(failures, 1); /* asked once */
    CHECK(!k.binding->kernels[0].code);
    unbind(b, &k, false);
    b->driver = kept;
    hg_backend_destroy(b);
}

/* ---- threads ---- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static int at_gate;

/* The first to come waits until the gate is opened. */
static hg_status slow_create(hg_device *device, uint32_t tier, const kir_module *module, hg_driver_kernel **kernel) {
    pthread_mutex_lock(&gate_lock);
    compiled++;
    if (at_gate++ == 0) {
        pthread_cond_broadcast(&gate_changed);
        while (!gate_open) pthread_cond_wait(&gate_changed, &gate_lock);
    }
    pthread_mutex_unlock(&gate_lock);
    return real_create(device, tier, module, kernel);
}

typedef struct asker {
    hg_code_set *set;
    uint64_t distinct;
    hg_code *code;
    hg_status status;
} asker;

static void *ask(void *user) {
    asker *a = user;
    a->status = hg_code_get(a->set, &(hg_code_key){.tier = 1, .distinct = a->distinct}, NULL, 0, &a->code);
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
    static const char text[] = "module looping\nfunction @main() -> void {\n  var i: u64\n  %one: u64 = const 1\n  loop {\n"
                               "    %lane: u64 = id global_lane_id\n    %limit: u64 = mul %lane, %lane\n    %i: u64 = get i\n"
                               "    %next: u64 = add %i, %one\n    set i %next\n    %over: bool = cmp_ult %limit, %next\n"
                               "    if %over {\n      break\n    }\n  }\n}\n";
    kir_module *m = NULL;
    hg_status status = kir_parse(text, sizeof text - 1, NULL, &m);
    CHECK_MESSAGE(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY, "%s", hg_last_error_text());
    return m;
}

static void compiling_holds_nobody_up(void) {
    enum { SAME = 4 };
    hg_backend *b = open_pretending("second-tier");
    hg_driver slow = *b->driver;
    hg_code_set *set = NULL;
    real_create = b->driver->kernel_create;
    hg_code_options options = {.driver = &slow, .device = b->device, .caps = b->caps};
    CHECK_OK(hg_code_set_create(&options, small_kernel(), &set));
    CHECK_OK(hg_code_ahead(set, false));
    slow.kernel_create = slow_create;
    compiled = 0;
    asker same[SAME] = {{0}}, other = {.set = set, .distinct = 2};
    pthread_t threads[SAME];
    for (int i = 0; i < SAME; i++) same[i] = (asker){.set = set, .distinct = 1};
    CHECK(pthread_create(&threads[0], NULL, ask, &same[0]) == 0);
    pthread_mutex_lock(&gate_lock);
    while (at_gate == 0) pthread_cond_wait(&gate_changed, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
    for (int i = 1; i < SAME; i++) CHECK(pthread_create(&threads[i], NULL, ask, &same[i]) == 0);
    ask(&other); /* while the first is at work: this would wait for ever if its compiler held the lock */
    CHECK(other.status == HG_OK && other.code);
    CHECK(hg_code_only(set, 0) != NULL);
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
    hg_backend_destroy(b);
}

/* The first to come waits until the gate is opened, and then fails; so do the others. */
static hg_status slow_failing(hg_device *device, uint32_t tier, const kir_module *module, hg_driver_kernel **kernel) {
    hg_status status = slow_create(device, tier, module, kernel);
    return status == HG_OK ? (real_destroy(*kernel), *kernel = NULL, hg_fail(HG_ERROR_OUT_OF_MEMORY, "no memory")) : status;
}

/* Who waited for code that could not be made tries it himself, and fails too: nobody waits for ever. */
static void waiting_for_a_failure_ends(void) {
    enum { SAME = 4 };
    hg_backend *b = open_pretending("second-tier");
    hg_driver slow = *b->driver;
    hg_code_set *set = NULL;
    real_create = b->driver->kernel_create;
    real_destroy = b->driver->kernel_destroy;
    hg_code_options options = {.driver = &slow, .device = b->device, .caps = b->caps};
    CHECK_OK(hg_code_set_create(&options, small_kernel(), &set));
    CHECK_OK(hg_code_ahead(set, false));
    slow.kernel_create = slow_failing;
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
    for (int i = 0; i < SAME; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STATUS(same[i].status, HG_ERROR_OUT_OF_MEMORY);
        CHECK(!same[i].code);
    }
    CHECK_U64(compiled, SAME);
    CHECK_U64(set->count, 1); /* of the first tier */
    slow.kernel_create = real_create;
    ask(&same[0]); /* another time there is memory */
    CHECK(same[0].status == HG_OK && same[0].code);
    hg_code_release(set, same[0].code);
    hg_code_set_destroy(set);
    hg_backend_destroy(b);
}

/* Ever new keys: the set keeps some, and code that is in use stays until it is released. */
static void ever_new_keys(void) {
    enum { KEYS = 100 };
    hg_backend *b = open_pretending("second-tier");
    hg_driver counting = *b->driver;
    hg_code_set *set = NULL;
    hg_code *codes[KEYS] = {NULL};
    real_create = b->driver->kernel_create;
    real_destroy = b->driver->kernel_destroy;
    counting.kernel_create = counted_create;
    counting.kernel_destroy = counted_destroy;
    alive = 0;
    hg_code_options options = {.driver = &counting, .device = b->device, .caps = b->caps};
    CHECK_OK(hg_code_set_create(&options, small_kernel(), &set));
    CHECK_OK(hg_code_ahead(set, false));
    for (uint64_t k = 0; k < KEYS; k++) CHECK_OK(hg_code_get(set, &(hg_code_key){.tier = 1, .distinct = k}, NULL, 0, &codes[k]));
    CHECK_U64(alive, KEYS + 1);
    for (uint64_t k = 0; k < KEYS; k++) CHECK(codes[k] && codes[k]->kernel && codes[k]->key.distinct == k);
    CHECK(hg_code_only(set, 0) != NULL); /* the oldest, but a tier has only that */
    for (uint64_t k = 0; k < KEYS; k++) hg_code_release(set, codes[k]);
    CHECK(alive == set->count && alive < KEYS);
    hg_code *again = NULL;
    CHECK_OK(hg_code_get(set, &(hg_code_key){.tier = 1, .distinct = 0}, NULL, 0, &again)); /* one that was dropped */
    hg_code_release(set, again);
    hg_code_set_destroy(set);
    CHECK_U64(alive, 0);
    hg_backend_destroy(b);
}

/* ---- memory that ends ---- */

static failing_allocator memory;

static hg_status make_and_ask(hg_backend *b, bool ahead) {
    hg_code_options options = {.driver = b->driver, .device = b->device, .caps = b->caps, .verify = true};
    hg_code_set *set = NULL;
    hg_code *code = NULL, *other = NULL;
    kir_module *m = looping_kernel();
    if (!m) return HG_ERROR_OUT_OF_MEMORY;
    hg_status status = hg_code_set_create(&options, m, &set);
    if (status != HG_OK) kir_module_destroy(m);
    if (status == HG_OK && ahead) status = hg_code_ahead(set, false);
    if (status == HG_OK) status = hg_code_get(set, &(hg_code_key){.tier = 1, .distinct = 1}, NULL, 0, &code);
    if (status == HG_OK) status = hg_code_get(set, &(hg_code_key){.tier = 1, .distinct = 2}, NULL, 0, &other);
    if (status != HG_OK && set) CHECK(set->count == (uint32_t)(hg_code_only(set, 0) != NULL) + (code != NULL));
    if (code) hg_code_release(set, code);
    if (other) hg_code_release(set, other);
    hg_code_set_destroy(set);
    return status;
}

/* Threads that make code at the same time copy one module: none of them may find ids that it has to write. */
static void what_is_copied_is_numbered(void) {
    hg_backend *b = open_pretending("second-tier");
    hg_code_options options = {.driver = b->driver, .device = b->device, .caps = b->caps};
    hg_code_set *set = NULL;
    CHECK_OK(hg_code_set_create(&options, looping_kernel(), &set));
    const kir_module *modules[] = {set->high, set->tiers[0].low};
    for (int i = 0; i < 2; i++) {
        uint32_t id = 0, wrong = 0;
        const kir_function *f = modules[i]->functions;
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) wrong += v->id != id++;
        CHECK_MESSAGE(wrong == 0 && f->value_count == id, "%u of %u ids of module %d", wrong, id, i);
    }
    hg_code_set_destroy(set);
    hg_backend_destroy(b);
}

static void each_allocation_fails(void) {
    hg_backend *b = open_pretending("second-tier");
    for (int ahead = 0; ahead < 2; ahead++) {
        hg_status status = HG_ERROR_OUT_OF_MEMORY;
        uint64_t n = 1;
        CHECK_OK(make_and_ask(b, ahead)); /* what is made once is there now */
        for (bool hit = true; hit && n < 20000 && !test_failed; n++) {
            uint64_t before = memory.live;
            memory.allocations = 0;
            memory.fail_at = n;
            memory.only_once = true;
            status = make_and_ask(b, ahead);
            memory.fail_at = 0;
            hit = memory.allocations >= n;
            CHECK_MESSAGE(hit ? status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY : status == HG_OK, "allocation %" PRIu64 ": %s", n,
                          hg_last_error_text());
            CHECK_MESSAGE(memory.live == before, "allocation %" PRIu64 ": %" PRIu64 " blocks before, %" PRIu64 " after", n, before,
                          memory.live);
        }
        CHECK(n > 20);
    }
    hg_backend_destroy(b);
}

int main(void) {
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    launches_decide();
    alias_signatures_have_code_each();
    a_compiler_that_fails_falls_a_tier();
    compiling_holds_nobody_up();
    waiting_for_a_failure_ends();
    ever_new_keys();
    what_is_copied_is_numbered();
    each_allocation_fails();
    CHECK_OK(hg_set_allocator(NULL));
    return test_done();
}

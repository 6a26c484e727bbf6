/* The state of contexts between launches, without the instructions that use it: kernels written by
 * hand touch the memory that atlas/state.h lays out. What launches leave there is folded before
 * anybody looks, belongs to one context, and survives faults. */
/* test: labels=threads timeout=300 */
#include "atlas/characters.h"
#include "atlas/state.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include "kir/builder.h"
#include "kir/passes/passes.h"
#include <float.h>
#include <math.h>
#include <pthread.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define HG_TSAN 1
#endif
#endif
#ifndef HG_TSAN
#define HG_TSAN 0
#endif

enum { LANES = 500, OUT_WORDS = 4, NO_FAULT = -1 };

/* ---- a program whose kernel is written by hand ---- */

static kir_value *constant(kir_builder *b, uint64_t value) {
    return kir_const(b, HG_TYPE_U64, value);
}

static kir_value *access_state(kir_builder *b, kir_op op, uint8_t type, kir_value *index,
                               int64_t disp, kir_value *value) {
    kir_value *args[3] = {constant(b, 0), index, value};
    kir_value *v = kir_emit(b, op, type, value ? 3 : 2, args);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.class_id = KIR_PLAN_STATE;
    v->u.mem.has_index = true;
    v->u.mem.bytes = (uint8_t)kir_type_bytes(type);
    v->u.mem.bytes_wide = v->u.mem.bytes;
    v->u.mem.disp = disp;
    v->u.mem.slot = KIR_OPEN;
    return v;
}

static void atomic(kir_builder *b, kir_atomic op, uint8_t type, kir_value *index, int64_t disp,
                   kir_value *value) {
    access_state(b, KIR_ATOMIC, type, index, disp, value)->u.mem.atomic = (uint8_t)op;
}

static void store(kir_builder *b, kir_value *buffer, kir_value *index, int64_t disp,
                  kir_value *word) {
    kir_value *args[3] = {buffer, index, word};
    kir_value *v = kir_emit(b, KIR_STORE, KIR_VOID, 3, args);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.has_index = 1;
    v->u.mem.bytes = 4;
    v->u.mem.bytes_wide = 4;
    v->u.mem.disp = disp;
    v->u.mem.slot = KIR_OPEN;
    v->u.mem.operand = 1;
}

/* Lane l of class l mod 96: adds 2^32 · 2^-1074 to its class and takes 2^-1074 away, writes phase l
 * mod 768, and stores in out[l] what the launch began with: the phase, word 1 of the class, word 1
 * of the sum of all. */
static kir_module *write_kernel(int64_t fault_lane) {
    kir_module *m = kir_module_create("touch");
    kir_builder b;
    kir_builder_init(&b, m, kir_function_create(m, "touch", KIR_VOID));
    kir_input *input = hg_vec_push(&m->inputs);
    *input = (kir_input){
        .kind = KIR_INPUT_PARAM, .type = HG_TYPE_U64, .reg = 1, .name = "out", .is_buffer = true};
    kir_value *out = kir_emit(&b, KIR_INPUT, HG_TYPE_U64, 0, NULL),
              *lane = kir_emit(&b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_value *cls = kir_binary(&b, KIR_UREM, lane, constant(&b, 96)), *zero = constant(&b, 0);
    kir_value *words = kir_mul(&b, cls, constant(&b, 4 * HG_RESONANCE_WORDS)),
              *one = kir_const(&b, HG_TYPE_U32, 1);
    kir_value *seen[3] = {
        access_state(&b, KIR_LOAD, HG_TYPE_U32, kir_mul(&b, cls, constant(&b, 4)), HG_STATE_PHASE,
                     NULL),
        access_state(&b, KIR_LOAD, HG_TYPE_U32, words, HG_STATE_RESONANCE + 4, NULL),
        access_state(&b, KIR_LOAD, HG_TYPE_U32, zero,
                     HG_STATE_RESONANCE + 4 * (HG_RESONANCE_TOTAL * HG_RESONANCE_WORDS + 1), NULL)};
    atomic(&b, KIR_ATOMIC_ADD, HG_TYPE_U32, words, HG_STATE_PENDING_ADD + 4, one);
    atomic(&b, KIR_ATOMIC_ADD, HG_TYPE_U32, words, HG_STATE_PENDING_SUB, one);
    kir_value *number = kir_binary(&b, KIR_SHL, kir_add(&b, lane, constant(&b, 1)),
                                   kir_const(&b, HG_TYPE_U32, HG_PENDING_PHASE_BITS));
    number = kir_binary(&b, KIR_OR, number, kir_binary(&b, KIR_UREM, lane, constant(&b, 768)));
    atomic(&b, KIR_ATOMIC_UMAX, HG_TYPE_U64, kir_mul(&b, cls, constant(&b, 8)),
           HG_STATE_PENDING_PHASE, number);
    for (int i = 0; i < 3; i++)
        store(&b, out, kir_mul(&b, lane, constant(&b, 4 * OUT_WORDS)), 4 * i, seen[i]);
    if (fault_lane != NO_FAULT)
        kir_fault_if(&b, kir_binary(&b, KIR_CMP_EQ, lane, constant(&b, (uint64_t)fault_lane)),
                     KIR_FAULT_DOMAIN, 1, "execution error: by hand");
    CHECK(!b.failed);
    return m;
}

/* Lane l copies word l of the character table to out[l]. */
static kir_module *write_table_kernel(void) {
    kir_module *m = kir_module_create("table");
    kir_builder b;
    kir_builder_init(&b, m, kir_function_create(m, "table", KIR_VOID));
    kir_input *input = hg_vec_push(&m->inputs);
    *input = (kir_input){
        .kind = KIR_INPUT_PARAM, .type = HG_TYPE_U64, .reg = 1, .name = "out", .is_buffer = true};
    kir_value *out = kir_emit(&b, KIR_INPUT, HG_TYPE_U64, 0, NULL),
              *lane = kir_emit(&b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_value *at = kir_mul(&b, lane, constant(&b, 4)),
              *word = access_state(&b, KIR_LOAD, HG_TYPE_U32, at, 0, NULL);
    word->u.mem.class_id = KIR_PLAN_CHARACTERS;
    store(&b, out, at, 0, word);
    CHECK(!b.failed);
    return m;
}

static hg_executable *compile(hg_backend *b, kir_module *m) {
    hg_executable *e = hg_calloc(1, sizeof *e);
    e->backend = b;
    hg_child_add(&b->children, HG_CHILD_EXECUTABLE);
    e->references = 1;
    e->program = assemble(PROGRAM(".param r1 out buffer u32 inout\n exit\n"));
    memset(e->signature.types, HG_TYPE_OMITTED, sizeof e->signature.types);
    CHECK_OK(kir_simplify(m));
    CHECK_OK(plan_build(m, PLAN_READS_INPUTS, &e->plan));
    CHECK_OK(hg_executable_compile(b, e, 0));
    return e;
}

static hg_executable *make_executable(hg_backend *b, int64_t fault_lane) {
    hg_executable *e = compile(b, write_kernel(fault_lane));
    CHECK(e->uses_state && e->writes_state);
    return e;
}

/* A binding with its buffer. */
typedef struct bound {
    hg_binding *binding;
    hg_buffer out;
} bound;

static bound bind_lanes(hg_backend *b, hg_executable *e, uint64_t lanes) {
    bound x = {NULL, make_buffer(b, NULL, lanes * 4 * OUT_WORDS)};
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(lanes);
    CHECK_OK(hg_params_set_buffer(params, "out", x.out));
    CHECK_OK(hg_binding_create(e, &launch, params, &x.binding));
    hg_params_destroy(params);
    return x;
}

static void unbind(hg_backend *b, bound *x) {
    hg_binding_destroy(x->binding);
    CHECK_OK(hg_backend_free_buffer(b, x->out));
}

/* ---- what must be there after n launches of that many lanes ---- */

static double expected_sum(uint64_t count, uint64_t launches) {
    return (double)(count * launches) * (ldexp(1, 32 - 1074) - DBL_TRUE_MIN); /* exact: 41 bits,
                                                                                 subnormal */
}

static uint64_t count_of(uint64_t lanes, uint32_t cls) { return lanes / 96 + (cls < lanes % 96); }

static void check_state(const char *what, hg_context *c, uint64_t lanes, uint64_t launches) {
    double value = 1;
    uint32_t phase = 1;
    for (uint32_t cls = 0; cls < 96; cls++) {
        uint64_t count = count_of(lanes, cls), last = count ? (count - 1) * 96 + cls : 0;
        CHECK_OK(hg_context_resonance(c, cls, &value));
        CHECK_MESSAGE(value == expected_sum(count, launches), "%s: class %u is %a, expected %a",
                      what, (unsigned)cls, value, expected_sum(count, launches));
        CHECK_OK(hg_context_phase(c, cls, &phase));
        CHECK_MESSAGE(phase == last % 768 * (launches != 0), "%s: phase %u is %u, expected %u",
                      what, (unsigned)cls, (unsigned)phase, (unsigned)last % 768);
    }
    CHECK_OK(hg_context_resonance_total(c, &value));
    CHECK_MESSAGE(value == expected_sum(lanes, launches), "%s: the sum is %a, expected %a", what,
                  value, expected_sum(lanes, launches));
}

/* What the lanes saw: the state that `launches` launches before left. */
static void check_seen(const char *what, hg_backend *b, const bound *x, uint64_t lanes,
                       uint64_t launches) {
    uint32_t *seen = malloc(lanes * 4 * OUT_WORDS);
    CHECK_OK(hg_backend_copy_from_buffer(b, x->out, seen, lanes * 4 * OUT_WORDS));
    for (uint64_t l = 0; l < lanes; l++) {
        uint64_t count = count_of(lanes, (uint32_t)(l % 96)), last = (count - 1) * 96 + l % 96;
        uint64_t phase = launches ? last % 768 : 0, word = launches ? launches * count - 1 : 0,
                 total = launches ? launches * lanes - 1 : 0;
        const uint32_t *at = seen + l * OUT_WORDS;
        CHECK_MESSAGE(at[0] == phase && at[1] == word && at[2] == total,
                      "%s, lane %u: saw %u %u %u, expected %u %u %u", what, (unsigned)l, at[0],
                      at[1], at[2], (unsigned)phase, (unsigned)word, (unsigned)total);
    }
    free(seen);
}

/* ---- the tests ---- */

static void test_host(hg_backend *b) {
    hg_context *c = NULL;
    uint32_t phase = 5;
    double value = 5;
    CHECK_OK(hg_context_create(b, &c));
    check_state("a new context", c, 0, 0);
    CHECK_OK(hg_context_reset_state(c));
    CHECK(!c->state.range.arena); /* nobody has touched it */
    CHECK_OK(hg_context_set_phase(c, 7, 767));
    CHECK_OK(hg_context_set_phase(c, 95, 768 * 1000 + 3));
    CHECK_OK(hg_context_phase(c, 7, &phase));
    CHECK_U64(phase, 767);
    CHECK_OK(hg_context_phase(c, 95, &phase));
    CHECK_U64(phase, 3);
    CHECK_OK(hg_context_phase(c, 6, &phase));
    CHECK_U64(phase, 0);
    CHECK_OK(hg_backend_phase(b, 7, &phase)); /* of another context */
    CHECK_U64(phase, 0);
    CHECK_OK(hg_backend_set_phase(b, 7, 1));
    CHECK_OK(hg_context_phase(b->context, 7, &phase));
    CHECK_U64(phase, 1);
    CHECK_OK(hg_backend_reset_state(b));
    CHECK_OK(hg_backend_phase(b, 7, &phase));
    CHECK_U64(phase, 0);
    CHECK_OK(hg_backend_resonance(b, 7, &value));
    CHECK(value == 0 && !signbit(value));
    CHECK_OK(hg_backend_resonance_total(b, &value));
    CHECK(value == 0);
    CHECK_OK(hg_context_reset_state(c));
    check_state("reset", c, 0, 0);
    phase = 5;
    value = 5;
    const char *text = "invalid class index: 96 (must be < 96)";
    CHECK_STATUS(hg_context_phase(c, 96, &phase), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, text);
    CHECK_STATUS(hg_context_set_phase(c, 96, 0), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, text);
    CHECK_STATUS(hg_context_resonance(c, 96, &value), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, text);
    CHECK_STATUS(hg_backend_phase(b, UINT32_MAX, &phase), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "invalid class index: 4294967295 (must be < 96)");
    CHECK(phase == 5 && value == 5);
    CHECK_STATUS(hg_context_phase(NULL, 0, &phase), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_phase(b, 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_resonance(b, 0, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_resonance_total(b, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_context_set_phase(NULL, 0, 0), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_context_resonance(NULL, 0, &value), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_context_resonance_total(NULL, &value), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_context_reset_state(NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_phase(NULL, 0, &phase), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_set_phase(NULL, 0, 0), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_resonance(NULL, 0, &value), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_resonance_total(NULL, &value), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_reset_state(NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_context_destroy(c);
}

/* The table is the same wherever it is read, and one for all bindings. */
static void test_characters(const char *what, hg_backend *b) {
    enum { TABLE = HG_CHARACTER_ENTRIES * 24 };
    hg_executable *e = compile(b, write_table_kernel());
    CHECK(!e->uses_state && !b->characters.piece.range.arena);
    bound x = bind_lanes(b, e, TABLE / 4), y = bind_lanes(b, e, 5);
    hg_range table = b->characters.piece.range;
    uint8_t *bytes = malloc(TABLE);
    CHECK_OK(hg_binding_launch(x.binding));
    CHECK_OK(hg_binding_launch(y.binding));
    CHECK((x.binding->way.submitted != HG_WAY_PLAN || !b->caps->memory.host_memory) &&
          table.arena == b->characters.piece.range.arena && table.size == TABLE);
    CHECK_OK(hg_backend_copy_from_buffer(b, x.out, bytes, TABLE));
    for (uint64_t i = 0; i < HG_CHARACTER_ENTRIES; i++) {
        uint8_t exact[16] = {[15] = 0x80};
        double real, seen;
        memcpy(&seen, bytes + HG_CHARACTER_ENTRIES * 16 + i * 8, 8);
        (void)!hg_character_i128(i / HG_CHARACTER_COUNT, i % HG_CHARACTER_COUNT, exact); /* stays
                                                                                            where it
                                                                                            is not
                                                                                            rational
                                                                                          */
        CHECK_OK(hg_character_f64(i / HG_CHARACTER_COUNT, i % HG_CHARACTER_COUNT, &real, NULL));
        bool same = memcmp(exact, bytes + i * 16, 16) == 0 &&
                    memcmp(&seen, &real, sizeof real) == 0;
        CHECK_MESSAGE(same, "%s: entry %u: %a, expected %a", what, (unsigned)i, seen, real);
    }
    free(bytes);
    unbind(b, &x);
    unbind(b, &y);
    hg_executable_destroy(e);
}

/* One binding, two contexts and the default one: each has its own. */
static void test_contexts(const char *what, hg_backend *b) {
    hg_executable *e = make_executable(b, NO_FAULT);
    bound x = bind_lanes(b, e, LANES);
    hg_context *c[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) CHECK_OK(hg_context_create(b, &c[i]));
    for (uint64_t n = 0; n < 3; n++) {
        CHECK_OK(hg_binding_launch_in(x.binding, c[0]));
        check_seen(what, b, &x, LANES, n);
        CHECK_OK(hg_binding_launch_in(x.binding, c[0]));
        check_seen(what, b, &x, LANES, n + 1);
        CHECK_OK(hg_context_reset_state(c[0]));
        for (uint64_t k = 0; k <= n; k++) CHECK_OK(hg_binding_launch_in(x.binding, c[0]));
        CHECK_OK(hg_binding_launch_in(x.binding, c[1]));
        check_seen(what, b, &x, LANES, n);
        check_state(what, c[0], LANES, n + 1);
        check_state(what, c[1], LANES, n + 1);
    }
    check_state(what, b->context, LANES, 0);
    CHECK_OK(hg_binding_launch(x.binding));
    CHECK_OK(hg_context_set_phase(c[1], 4, 9));
    check_state(what, b->context, LANES, 1);
    CHECK_OK(hg_backend_reset_state(b));
    check_state(what, b->context, LANES, 0);
    unbind(b, &x);
    hg_executable_destroy(e);
    for (int i = 0; i < 2; i++) hg_context_destroy(c[i]);
}

/* All lanes run although one of them faults, and what they added stays. */
static void test_fault(const char *what, hg_backend *b) {
    hg_executable *bad = make_executable(b, 3), *good = make_executable(b, NO_FAULT);
    bound x = bind_lanes(b, bad, 64), y = bind_lanes(b, good, 64);
    hg_context *c = NULL;
    CHECK_OK(hg_context_create(b, &c));
    CHECK_STATUS(hg_binding_launch_in(x.binding, c), HG_ERROR_EXECUTION_FAILED);
    CHECK_U64(hg_last_error()->lane, 3);
    check_state(what, c, 64, 1);
    CHECK_OK(hg_binding_launch_in(y.binding, c));
    check_seen(what, b, &y, 64, 1);
    CHECK_STATUS(hg_binding_launch_in(x.binding, c), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_binding_launch_in(y.binding, c));
    check_seen(what, b, &y, 64, 3);
    check_state(what, c, 64, 4);
    unbind(b, &x);
    unbind(b, &y);
    hg_executable_destroy(bad);
    hg_executable_destroy(good);
    hg_context_destroy(c);
}

/* What other threads find: they count no checks. */
typedef struct look {
    hg_context *context;
    double before, after;
    hg_status status;
} look;

static void look_before(void *user) {
    look *l = user;
    l->status = hg_context_resonance_total(l->context, &l->before);
}
static void look_after(void *user) {
    look *l = user;
    if (l->status == HG_OK) l->status = hg_context_resonance_total(l->context, &l->after);
}

/* A host call of a queue sees what the launches before it left, and not what comes. */
static void test_queue(hg_backend *b) {
    hg_executable *e = make_executable(b, NO_FAULT);
    bound x = bind_lanes(b, e, LANES);
    hg_context *c = NULL;
    hg_queue *q = NULL;
    hg_event *event = NULL;
    double value = 0;
    CHECK_OK(hg_context_create(b, &c));
    CHECK_OK(hg_queue_create(b, c, &q));
    look seen = {c, 0, 0, HG_OK};
    hg_command launch = {.size = sizeof launch, .kind = HG_COMMAND_LAUNCH, .binding = x.binding};
    hg_command before = {.size = sizeof before,
                         .kind = HG_COMMAND_HOST_CALL,
                         .call = look_before,
                         .user = &seen},
               after = before;
    after.call = look_after;
    const hg_command commands[] = {launch, launch, before, launch, after, launch};
    CHECK_OK(hg_queue_submit(q, commands, HG_COUNT_OF(commands), NULL, 0, &event));
    CHECK_OK(hg_event_wait(event));
    CHECK_OK(hg_context_resonance_total(c, &value)); /* nothing is left to do when the event is done
                                                      */
    CHECK(value == expected_sum(LANES, 4));
    CHECK_OK(seen.status);
    CHECK(seen.before == expected_sum(LANES, 2));
    CHECK(seen.after == expected_sum(LANES, 3));
    check_seen("a queue", b, &x, LANES, 3);
    hg_event_destroy(event);
    hg_queue_destroy(q);
    unbind(b, &x);
    hg_executable_destroy(e);
    hg_context_destroy(c);
}

/* ---- threads ---- */

enum { ROUNDS = 20, WORKERS = 4 };
typedef struct worker {
    bound bound;
    hg_context *own, *shared;
    bool wrong;
    pthread_t thread;
} worker;

static void *work(void *user) {
    worker *w = user;
    double total = 0, last = 0, each = expected_sum(LANES, 1);
    for (int i = 0; i < ROUNDS && !w->wrong; i++) {
        w->wrong = hg_binding_launch_in(w->bound.binding, w->own) != HG_OK ||
                   hg_binding_launch_in(w->bound.binding, w->shared) != HG_OK ||
                   hg_context_resonance_total(w->shared, &total) != HG_OK;
        w->wrong |= total <= last || total / each != floor(total / each); /* only whole launches */
        last = total;
    }
    return NULL;
}

static void test_threads(hg_backend *b) {
    hg_executable *e = make_executable(b, NO_FAULT);
    worker workers[WORKERS];
    hg_context *shared = NULL;
    CHECK_OK(hg_context_create(b, &shared));
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.bound = bind_lanes(b, e, LANES), .shared = shared};
        CHECK_OK(hg_context_create(b, &workers[i].own));
    }
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) {
        CHECK(!workers[i].wrong);
        unbind(b, &workers[i].bound);
        check_state("a thread's own", workers[i].own, LANES, ROUNDS);
        hg_context_destroy(workers[i].own);
    }
    check_state("of all threads", shared, LANES, (uint64_t)ROUNDS * WORKERS);
    hg_context_destroy(shared);
    hg_executable_destroy(e);
}

/* ---- failures ---- */

static failing_allocator memory;
static struct {
    hg_driver driver;
    const hg_driver *real;
    uint64_t calls, fail_at;
} failing;

static bool call_fails(void) { return ++failing.calls == failing.fail_at; }
static hg_status fail_call(void) {
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "the call of a test");
}
static hg_status failing_submit(hg_driver_queue *q, const hg_driver_command *c, uint32_t n,
                                hg_driver_event *const *w, uint32_t wn, hg_driver_event *s) {
    return call_fails() ? fail_call() : failing.real->queue_submit(q, c, n, w, wn, s);
}
static hg_status failing_arena(hg_device *d, uint64_t size, hg_driver_arena **a) {
    return call_fails() ? fail_call() : failing.real->arena_alloc(d, size, a);
}
static hg_status failing_event(hg_device *d, hg_driver_event **e) {
    return call_fails() ? fail_call() : failing.real->event_create(d, e);
}
static hg_status failing_wait(hg_driver_event *e) {
    hg_status status = failing.real->event_wait(e); /* it is over all the same */
    return call_fails() ? fail_call() : status;
}

static void intercept(hg_backend *b) {
    failing.real = b->driver;
    failing.driver = *b->driver;
    failing.driver.queue_submit = failing_submit;
    failing.driver.arena_alloc = failing_arena;
    failing.driver.event_create = failing_event;
    if (failing.real->event_wait) failing.driver.event_wait = failing_wait;
    failing.calls = failing.fail_at = 0;
    b->driver = b->memory.driver = &failing.driver;
}

static void stop_intercepting(hg_backend *b) { b->driver = b->memory.driver = failing.real; }

/* Two launches and a look at everything; repeats what failed. Returns whether something did. */
static bool use_everything(const char *what, hg_backend *b, const bound *x, hg_context *c) {
    bool failed = false;
    double value;
    uint32_t phase = 0;
    for (uint64_t n = 0; n < 2; n++) {
        hg_status status = hg_binding_launch_in(x->binding, c);
        failed |= status != HG_OK;
        CHECK_MESSAGE(status == HG_OK || memory.fail_at || failing.fail_at, "%s: %s", what,
                      hg_last_error_text());
    }
    hg_status statuses[4] = {hg_context_resonance(c, 5, &value), hg_context_set_phase(c, 90, 11),
                             hg_context_phase(c, 90, &phase), HG_OK};
    CHECK_MESSAGE(statuses[1] != HG_OK || statuses[2] != HG_OK || phase == 11, "%s: phase %u", what,
                  (unsigned)phase);
    statuses[3] = hg_context_resonance_total(c, &value);
    for (int i = 0; i < 4; i++) failed |= statuses[i] != HG_OK;
    (void)b;
    return failed;
}

/* Allocations fail, then calls of the driver. Whatever happens, what is read is that of whole
 * launches, and nothing is lost. */
static void test_failures(const char *what, hg_backend *b, bool of_driver) {
    hg_executable *e = make_executable(b, NO_FAULT);
    bound x = bind_lanes(b, e, 96);
    bool hit = true;
    CHECK_OK(hg_binding_launch(x.binding)); /* variants, what is made once */
    CHECK_OK(hg_backend_reset_state(b));
    uint64_t *calls = of_driver ? &failing.calls : &memory.allocations,
             *fail_at = of_driver ? &failing.fail_at : &memory.fail_at;
    memory.only_once = true;
    if (of_driver) intercept(b);
    for (uint64_t n = 1; hit && n < 500 && test_failed < 20; n++) {
        hg_context *c = NULL;
        double value = 0;
        CHECK_OK(hg_context_create(b, &c));
        uint64_t before = memory.live;
        *calls = 0;
        *fail_at = n;
        bool failed = use_everything(what, b, &x, c);
        hit = *calls >= n;
        *fail_at = 0;
        CHECK_MESSAGE(hit || !failed, "%s: fails without a failing call", what);
        CHECK_OK(hg_context_resonance_total(c, &value));
        double launches = value / expected_sum(96, 1);
        CHECK_MESSAGE(launches == 0 || launches == 1 || launches == 2, "%s, call %u: %a", what,
                      (unsigned)n, launches);
        CHECK_MESSAGE(failed || launches == 2, "%s, call %u: %a launches", what, (unsigned)n,
                      launches);
        CHECK_OK(hg_context_reset_state(c));
        CHECK_OK(hg_binding_launch_in(x.binding, c));
        check_state(what, c, 96, 1);
        (void)before;
        hg_context_destroy(c);
    }
    CHECK(!hit);
    if (of_driver) stop_intercepting(b);
    memory.only_once = false;
    unbind(b, &x);
    hg_executable_destroy(e);
}

static hg_backend *open_pretending(const char *name, uint32_t device, const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "%s", name);
    set_pretend(&config, pretend);
    config.device_id = device;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    return b;
}

static hg_status make_table(hg_backend *b) {
    hg_range range;
    return hg_backend_characters(b, &range);
}

/* The table that could not be made is made the next time. */
static void test_table_failures(const char *what, const char *name, uint32_t device,
                                const char *pretend, bool hide_memory) {
    for (int of_driver = 0; of_driver < 2; of_driver++) {
        uint64_t *calls = of_driver ? &failing.calls : &memory.allocations,
                 *fail_at = of_driver ? &failing.fail_at : &memory.fail_at;
        hg_backend *b = open_pretending(name, device, pretend);
        bool hit = true;
        if (hide_memory) b->own_caps.memory.host_memory = false;
        if (of_driver) intercept(b);
        memory.only_once = true;
        for (uint64_t n = 1; hit && n < 100 && test_failed < 20; n++) {
            *calls = 0;
            *fail_at = n;
            hg_status status = make_table(b);
            hit = *calls >= n;
            *fail_at = 0;
            CHECK_MESSAGE(hit || status == HG_OK, "%s: fails without a failing call", what);
            CHECK((b->characters.piece.range.arena != NULL) == (status == HG_OK));
            CHECK_OK(make_table(b));
            hg_piece_free(&b->memory, &b->characters.piece);
        }
        CHECK(!hit);
        memory.only_once = false;
        if (of_driver) stop_intercepting(b);
        hg_backend_destroy(b);
    }
}

/* Where the host cannot wait it says so instead of showing half a launch. */
static void test_would_block(hg_backend *b) {
    uint32_t phase = 0;
    double value = 0;
    hg_device_caps kept = b->own_caps;
    intercept(b);
    b->own_caps.scheduling.asynchronous = true;
    failing.driver.event_wait = NULL;
    failing.driver.device_poll = NULL;
    CHECK_STATUS(hg_backend_phase(b, 0, &phase), HG_ERROR_WOULD_BLOCK);
    CHECK_STATUS(hg_backend_set_phase(b, 0, 1), HG_ERROR_WOULD_BLOCK);
    CHECK_STATUS(hg_backend_resonance(b, 0, &value), HG_ERROR_WOULD_BLOCK);
    CHECK_STATUS(hg_backend_resonance_total(b, &value), HG_ERROR_WOULD_BLOCK);
    CHECK_STATUS(hg_backend_reset_state(b), HG_ERROR_WOULD_BLOCK);
    stop_intercepting(b);
    b->own_caps = kept;
}

static void test_backend(const char *name, uint32_t device, const char *pretend, bool hide_memory) {
    char what[80];
    uint64_t before = memory.live;
    hg_backend *b = open_pretending(name, device, pretend);
    if (!b) return;
    snprintf(what, sizeof what, "%s %u %s%s", name, (unsigned)device, pretend,
             hide_memory ? ", memory out of sight" : "");
    if (hide_memory) b->own_caps.memory.host_memory = false;
    test_host(b);
    if (strcmp(name, "null") != 0) {
        test_characters(what, b);
        test_contexts(what, b);
        test_fault(what, b);
        test_queue(b);
        test_threads(b);
        test_failures(what, b, false);
        test_failures(what, b, true);
        test_table_failures(what, name, device, pretend, hide_memory);
    }
    if (strcmp(name, "cpu") == 0) test_would_block(b);
    hg_backend_destroy(b);
    if (strcmp(name, "cpu") == 0 || strcmp(name, "null") == 0) CHECK_U64(memory.live, before);
}

int main(int argc, char **argv) {
    setenv("HOLOGRAM_JIT", "off", 1); /* what is allocated is counted */
    const hg_allocator counting = {sizeof counting, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&counting));
    hg_device_info devices[16];
    size_t count = 0;
    const char *only = argc > 1 ? argv[1] : "";
    if (!*only || strcmp(only, "cpu") == 0) {
        hg_backend_destroy(open_pretending("cpu", 0, "")); /* what is made once for the process */
        test_backend("cpu", 0, "", false);
        test_backend("cpu", 0, "", true);
        test_backend("cpu", 0, "poor", false);
        test_backend("null", 0, "", false);
    }
    if (!HG_TSAN)
        CHECK_OK(hg_devices(devices, HG_COUNT_OF(devices), &count)); /* it does not see what drivers
                                                                        do */
    for (size_t i = 0; i < count && i < HG_COUNT_OF(devices); i++) {
        const char *name = devices[i].backend;
        bool is_vulkan = strcmp(name, "vulkan") == 0;
        if ((!is_vulkan && strcmp(name, "opencl") != 0) || (*only && strcmp(only, name) != 0))
            continue;
        if (!devices[i].available) {
            SKIP(devices[i].reason);
            continue;
        }
        test_backend(name, devices[i].device, "", false);
        test_backend(name, devices[i].device,
                     is_vulkan ? "descriptors,staging,no-atomic64" : "staging,no-int64", false);
    }
    return test_done();
}

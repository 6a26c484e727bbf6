/* test: labels=threads */
/* Launches that are made ready: the same bits as by the interpreter, however the arrays lie, and
 * nothing that a launch promises is lost. */
#include "base/thread.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <math.h>

static failing_allocator memory;

static hg_binding *bind(hg_backend *b, const char *text, const hg_params *params) {
    hg_program *p = assemble(text);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    hg_executable_destroy(e);
    hg_program_release(p);
    if (!binding) exit(test_done());
    return binding;
}

/* Launches until the binding is ready. */
static void make_ready(hg_binding *binding) {
    for (int i = 0; i < 4 && !binding->way.ready.count; i++) CHECK_OK(hg_binding_launch(binding));
    CHECK(binding->way.ready.count != 0);
}

#define COUNT                                                                                     \
    PROGRAM(".param r1 x buffer u32 inout\n.lanes 256\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, " \
            "r250\n mov_imm.u32 r11, 1\n ldg.u32 r10, "                                           \
            "[r1 + r0]\n add.u32 r10, r10, r11\n stg.u32 [r1 + r0], r10\n")
#define COUNT_BY_MAP                                                                           \
    PROGRAM(".param r1 x buffer u32 inout\n.param r2 y buffer u32 in\n mov_imm.u64 r4, 256\n " \
            "parallel_map_binary.u32 r1, r1, r2, add, "                                        \
            "r4\n")

static hg_binding *bind_count(hg_backend *b, hg_buffer x) {
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    hg_binding *binding = bind(b, COUNT, params);
    hg_params_destroy(params);
    return binding;
}

static void check_count(hg_backend *b, hg_buffer x, uint32_t expected) {
    uint32_t data[256];
    CHECK_OK(hg_backend_copy_from_buffer(b, x, data, sizeof data));
    for (int i = 0; i < 256; i++) CHECK_U64(data[i], expected);
}

/* ---- the same bits ---- */

static uint64_t seed = 1;
static uint32_t below(uint32_t n) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

enum {
    BUFFERS = 4,
    MOST_LANES = 5000,
    PLACE = 3 * MOST_LANES * 8
}; /* lanes: of one tile, and of some */
static _Alignas(64) uint8_t place[PLACE], first[PLACE], expected[PLACE], elsewhere[PLACE];
static uint32_t moves; /* bindings that went on with other buffers */

static const struct {
    const char *name;
    uint32_t size, shift;
} TYPES[] = {{"u8", 1, 0},  {"i16", 2, 1}, {"u32", 4, 2},
             {"f32", 4, 2}, {"f64", 8, 3}, {"u64", 8, 3}};

/* Loads, operations and stores of one type in any order, some of them behind a guard: for all
 * lanes, for none, or for some. */
static void write_program(char *text, size_t size, uint32_t type, uint32_t lanes) {
    static const char *const OPS[] = {"add", "sub", "mul", "min", "max"};
    const char *t = TYPES[type].name;
    size_t n = (size_t)snprintf(text, size, ".atlas 1\n.program p\n");
    for (int i = 0; i < BUFFERS; i++)
        n += (size_t)snprintf(text + n, size - n, ".param r%d b%d buffer %s inout\n", i + 1, i, t);
    n += (size_t)snprintf(text + n, size - n,
                          ".param r6 k %s\n.param r7 m u64 = %u\n.lanes %u\n mov_imm.u32 r250, "
                          "%u\n shl.u64 r0, r255, r250\n",
                          t, below(8) ? below(3) ? (unsigned)lanes : 0 : below(lanes),
                          (unsigned)lanes, (unsigned)TYPES[type].shift);
    for (int r = 10; r < 14; r++)
        n += (size_t)snprintf(text + n, size - n, " ldg.%s r%d, [r%u + r0]\n", t, r,
                              (unsigned)below(BUFFERS) + 1);
    int guard = -1;
    for (int i = 0, count = (int)below(8) + 1; i < count; i++) {
        if (guard < 0 && below(5) == 0)
            n += (size_t)snprintf(text + n, size - n, " set%s.u64 p1, r255, r7\n bra.p1 @skip%d\n",
                                  below(2) ? "ge" : "lt", guard = i);
        else if (guard < 0 && below(12) == 0) /* what memory decides about is never ready */
            n += (size_t)snprintf(text + n, size - n, " setlt.%s p1, r10, r11\n bra.p1 @skip%d\n",
                                  t, guard = i);
        else if (guard >= 0 && below(2) == 0)
            n += (size_t)snprintf(text + n, size - n, "skip%d:\n", guard), guard = -1;
        if (below(3) == 0)
            n += (size_t)snprintf(text + n, size - n, " ldg.%s r%u, [r%u + r0]\n", t, 10 + below(4),
                                  below(BUFFERS) + 1);
        if (below(2) == 0)
            n += (size_t)snprintf(text + n, size - n, " %s.%s r%u, r%u, r6\n", OPS[below(5)], t,
                                  10 + below(4), 10 + below(4));
        else
            n += (size_t)snprintf(text + n, size - n, " %s.%s r%u, r%u, r%u\n", OPS[below(5)], t,
                                  10 + below(4), 10 + below(4), 10 + below(4));
        if (below(2) == 0)
            n += (size_t)snprintf(text + n, size - n, " stg.%s [r%u + r0], r%u\n", t,
                                  below(BUFFERS) + 1, below(9) ? 10 + below(4) : 6);
    }
    if (guard >= 0) n += (size_t)snprintf(text + n, size - n, "skip%d:\n", guard);
    (void)snprintf(text + n, size - n, " stg.%s [r%u + r0], r%u\n", t, below(BUFFERS) + 1,
                   10 + below(4));
}

/* The same launch on buffers that lie elsewhere in the same way. */
static void check_moved(hg_backend *b, hg_binding *binding, const uint32_t *at, uint32_t bytes,
                        const char *text) {
    static const uint8_t regs[BUFFERS] = {1, 2, 3, 4};
    hg_buffer buffers[BUFFERS];
    if (!hg_binding_loosen(binding)) return;
    for (uint32_t i = 0; i < BUFFERS; i++)
        CHECK_OK(hg_buffer_import(b, elsewhere + at[i], bytes, &buffers[i]));
    memcpy(elsewhere, first, PLACE);
    if (hg_binding_move(binding, regs, buffers, BUFFERS)) {
        moves++;
        CHECK_OK(hg_binding_launch(binding));
        CHECK_MESSAGE(memcmp(elsewhere, expected, PLACE) == 0, "other bits, moved, of\n%s", text);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

/* Buffers in one place: apart, the same, or overlapping at any byte that the seed chooses. Only
 * those apart are for several threads: of others a lane reads what another one writes, and what it
 * gets is the order of lanes, which threads do not have. */
static uint32_t check_program(hg_backend *several, hg_backend *one) {
    char text[4096], name[8];
    uint32_t type = below(6),
             lanes = below(below(4)   ? 700
                           : below(3) ? MOST_LANES
                                      : 9) +
                     1,
             bytes = lanes * TYPES[type].size, how = below(4);
    hg_backend *b = how == 0 && BUFFERS * bytes < PLACE ? several : one;
    hg_buffer buffers[BUFFERS];
    uint32_t starts[BUFFERS];
    hg_params *params = hg_params_create();
    uint64_t k = 0;
    float single = 1.25f;
    double wide = 1.25;
    memcpy(&k, strcmp(TYPES[type].name, "f32") == 0 ? (void *)&single : (void *)&wide,
           TYPES[type].size == 4 ? 4 : TYPES[type].size);
    if (TYPES[type].name[0] != 'f') k = 3;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        uint32_t at = how == 0 ? i * bytes % (PLACE - bytes) : below(PLACE - bytes);
        if (how == 1) at = at / 8 * 8;
        if (how == 2) at = below(3) * 8 * (at % 2);
        starts[i] = at;
        CHECK_OK(hg_buffer_import(b, place + at, bytes, &buffers[i]));
        (void)snprintf(name, sizeof name, "b%u", (unsigned)i);
        CHECK_OK(hg_params_set_buffer(params, name, buffers[i]));
    }
    for (size_t i = 0; i < PLACE; i++)
        first[i] = (uint8_t)below(TYPES[type].name[0] == 'f' ? 64 : 256);
    write_program(text, sizeof text, type, lanes);
    CHECK_OK(hg_params_set_scalar(params, "k",
                                  strcmp(TYPES[type].name, "u8") == 0    ? HG_TYPE_U8
                                  : strcmp(TYPES[type].name, "i16") == 0 ? HG_TYPE_I16
                                  : strcmp(TYPES[type].name, "u32") == 0 ? HG_TYPE_U32
                                  : strcmp(TYPES[type].name, "f32") == 0 ? HG_TYPE_F32
                                  : strcmp(TYPES[type].name, "f64") == 0 ? HG_TYPE_F64
                                                                         : HG_TYPE_U64,
                                  &k));
    hg_binding *binding = bind(b, text, params);
    memcpy(place, first, PLACE);
    CHECK_OK(hg_binding_launch(binding));
    memcpy(expected, place, PLACE);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_binding_launch(binding));
    uint32_t ready = binding->way.ready.count != 0;
    memcpy(place, first, PLACE);
    CHECK_OK(hg_binding_launch(binding));
    CHECK_MESSAGE(memcmp(place, expected, PLACE) == 0, "other bits of\n%s", text);
    check_moved(b, binding, starts, bytes, text);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    for (uint32_t i = 0; i < BUFFERS; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    return ready;
}

static void test_same_bits(hg_backend *b) {
    uint32_t ready = 0, count = (uint32_t)rounds_here(600, 40);
    hg_config config = hg_config_default();
    hg_backend *one = NULL;
    memcpy(config.backend, "cpu", 4);
    config.num_threads = 1;
    CHECK_OK(hg_backend_create_with_config(&config, &one));
    if (!one) exit(test_done());
    for (uint32_t i = 0; i < count; i++) ready += check_program(b, one);
    hg_backend_destroy(one);
    CHECK_MESSAGE(ready >= count / 3, "%u of %u launches were made ready", (unsigned)ready,
                  (unsigned)count);
    CHECK_MESSAGE(moves >= count / 4, "%u of %u bindings went on with other buffers",
                  (unsigned)moves, (unsigned)count);
}

/* Buffers of other sizes, that lie to each other in another way, or that are gone, need a new
 * binding. */
#define COPY                                                                                   \
    PROGRAM(".param r1 x buffer u32 in\n.param r2 y buffer u32 out\n.lanes 250\n mov_imm.u32 " \
            "r250, 2\n shl.u64 r0, r255, r250\n ldg.u32 r10, [r1 + r0]\n stg.u32 [r2 + r0], "  \
            "r10\n")
static void test_moves(hg_backend *b) {
    static const uint8_t regs[2] = {1, 2};
    static const struct {
        uint32_t x, y, x_bytes, y_bytes;
        bool may;
    } cases[] = {{2048, 0, 1000, 1000, true},     {0, 4096, 1000, 1000, true},
                 {2048, 2052, 1000, 1000, false}, {2048, 2048, 1000, 1000, false},
                 {0, 2048, 1000, 1004, false},    {0, 2048, 996, 1000, false},
                 {1, 2049, 1000, 1000, true}};
    hg_buffer two[2];
    hg_params *params = hg_params_create();
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(hg_buffer_import(b, place + 2048 * (uint64_t)i, 1000, &two[i]));
        CHECK_OK(hg_params_set_buffer(params, i ? "y" : "x", two[i]));
    }
    hg_binding *binding = bind(b, COPY, params);
    make_ready(binding);
    CHECK(hg_binding_loosen(binding));
    for (uint32_t i = 0; i < PLACE; i++) place[i] = (uint8_t)below(256);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hg_buffer other[2];
        CHECK_OK(hg_buffer_import(b, place + cases[i].x, cases[i].x_bytes, &other[0]));
        CHECK_OK(hg_buffer_import(b, place + cases[i].y, cases[i].y_bytes, &other[1]));
        bool may = hg_binding_move(binding, regs, other, 2);
        CHECK_MESSAGE(may == cases[i].may, "case %u", (unsigned)i);
        if (may) CHECK_OK(hg_binding_launch(binding));
        if (may) CHECK(memcmp(place + cases[i].x, place + cases[i].y, 1000) == 0);
        CHECK_OK(hg_backend_free_buffer(b, other[0]));
        CHECK_OK(hg_backend_free_buffer(b, other[1]));
        CHECK(!hg_binding_move(binding, regs, (hg_buffer[]){two[0], other[1]}, 2));
        CHECK(!hg_binding_move(binding, regs, other, 2));
    }
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, two[0]));
    CHECK_OK(hg_backend_free_buffer(b, two[1]));
}

static void test_map(hg_backend *b) {
    uint32_t ones[256];
    hg_params *params = hg_params_create();
    for (int i = 0; i < 256; i++) ones[i] = 1;
    hg_buffer x = make_buffer(b, NULL, 1024), y = make_buffer(b, ones, 1024);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    hg_binding *binding = bind(b, COUNT_BY_MAP, params);
    for (int i = 0; i < 10; i++) CHECK_OK(hg_binding_launch(binding));
    CHECK(binding->way.ready.count != 0);
    check_count(b, x, 10);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

/* Launches of many lanes that are one operation on memory, by one thread and by several; others of
 * as many lanes. */
enum { LONG = 100003 };
static float long_x[LONG + 1], long_y[LONG + 1], long_z[LONG + 1];

static const struct {
    const char *code;
    bool ready;
} LONG_PROGRAMS[] = {
    {" ldg.f32 r11, [r2 + r0]\n add.f32 r10, r10, r11\n stg.f32 [r3 + r0], r10\n", true},
    {" ldg.f32 r11, [r2 + r0]\n add.f32 r10, r10, r11\n stg.f32 [r1 + r0], r10\n", true},
    {" mul.f32 r10, r10, r6\n stg.f32 [r3 + r0], r10\n", true},
    {" mov_imm.f32 r12, 0.0\n max.f32 r10, r12, r10\n stg.f32 [r3 + r0], r10\n", true},
    {" sqrt.f32 r10, r10\n stg.f32 [r3 + r0 + 4], r10\n", true},
    {" ldg.f32 r11, [r2 + r0]\n max.f32 r10, r10, r11\n stg.f32 [r3 + r0], r10\n", false},
    {" ldg.f32 r11, [r2 + r0]\n add.f32 r10, r10, r11\n stg.f32 [r3 + r0], r6\n", false},
    {" ldg.f32 r11, [r2 + r0]\n mov_imm.u64 r7, 70000\n setge.u64 p1, r255, r7\n bra.p1 @out\n "
     "add.f32 r10, r10, r11\nout:\n stg.f32 [r3 + "
     "r0], r10\n",
     false},
};

static void check_long(hg_backend *b, uint32_t lanes, size_t which) {
    static float want[3][LONG + 1];
    float *arrays[] = {long_x, long_y, long_z}, k = -1.5f;
    hg_buffer buffers[3];
    char text[1024];
    hg_params *params = hg_params_create();
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hg_buffer_import(b, arrays[i], sizeof long_x, &buffers[i]));
        CHECK_OK(hg_params_set_buffer(params, (const char *[]){"x", "y", "z"}[i], buffers[i]));
    }
    CHECK_OK(hg_params_set_scalar(params, "k", HG_TYPE_F32, &k));
    (void)snprintf(text, sizeof text,
                   ".atlas 1\n.program p\n.param r1 x buffer f32 inout\n.param r2 y buffer f32 "
                   "inout\n.param r3 z buffer f32 inout\n"
                   ".param r6 k f32\n.lanes %u\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n "
                   "ldg.f32 r10, [r1 + r0]\n%s",
                   (unsigned)lanes, LONG_PROGRAMS[which].code);
    hg_binding *binding = bind(b, text, params);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 3; i++)
            for (int n = 0; n <= LONG; n++)
                arrays[i][n] = n % 97 == 0   ? NAN
                               : n % 89 == 0 ? -0.0f
                                             : (float)(n % 1001 - 500) * (float)(i + 1);
        CHECK_OK(hg_binding_launch(binding));
        for (int i = 0; i < 3; i++) {
            if (round == 0) memcpy(want[i], arrays[i], sizeof want[i]);
            CHECK(memcmp(want[i], arrays[i], sizeof want[i]) == 0);
        }
    }
    CHECK_MESSAGE((binding->way.ready.count != 0) == LONG_PROGRAMS[which].ready, "%u lanes of\n%s",
                  (unsigned)lanes, text);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

static void test_long(void) {
    for (uint32_t threads = 1; threads <= 2; threads++) {
        hg_config config = hg_config_default();
        hg_backend *b;
        config.num_threads = threads;
        CHECK_OK(hg_backend_create_with_config(&config, &b));
        for (size_t i = 0; i < HG_COUNT_OF(LONG_PROGRAMS); i++) {
            check_long(b, LONG, i);
            check_long(b, 40000, i);
        }
        hg_backend_destroy(b);
    }
}

/* ---- memory ---- */

static void test_no_allocation(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x);
    make_ready(binding);
    uint64_t before = memory.allocations;
    memory.fail_at = before + 1; /* whatever asks for memory fails */
    for (int i = 0; i < 100; i++) CHECK_OK(hg_binding_launch(binding));
    memory.fail_at = 0;
    CHECK_U64(memory.allocations, before);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* Without memory for it launches go on as before. */
static void test_no_memory_to_prepare(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1024);
    for (uint64_t at = 1; at <= 3; at++) {
        hg_binding *binding = bind_count(b, x);
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_binding_launch(binding));
        memory.only_once = true;
        memory.fail_at = memory.allocations + at;
        CHECK_OK(hg_binding_launch(binding));
        memory.fail_at = 0;
        memory.only_once = false;
        CHECK_OK(hg_binding_launch(binding));
        hg_binding_destroy(binding);
    }
    check_count(b, x, 12);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* A binding keeps its memory; the handle and what comes behind it are another thing. */
static void test_freed(hg_backend *b) {
    uint64_t live = memory.live;
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x);
    make_ready(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
    hg_buffer other = make_buffer(b, NULL, 1024);
    CHECK_OK(hg_binding_launch(binding));
    check_count(b, other, 0);
    uint32_t data[256];
    CHECK_STATUS(hg_backend_copy_from_buffer(b, x, data, sizeof data), HG_ERROR_INVALID_BUFFER);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, other));
    CHECK(memory.live <= live + 64); /* of the program's executable, which is cached */
}

/* ---- others at the same time ---- */

/* One side of two that launch at the same time. */
typedef struct side {
    hg_binding *binding;
    hg_context *context;
    struct side *other;
    uint32_t launches, failed; /* launches: atomic */
} side;

enum { EACH = 100000 };

/* Until both have launched often: so long they overlap, however threads come to processors. */
static void *launch_many(void *user) {
    side *s = user;
    do {
        s->failed += hg_binding_launch_in(s->binding, s->context) != HG_OK;
        hg_atomic_fetch_add(&s->launches, 1, HG_RELAXED);
    } while (s->launches < EACH || hg_atomic_load(&s->other->launches, HG_RELAXED) < EACH);
    return NULL;
}

/* One binding in two threads, in one context and in two; and two bindings of one buffer in one
 * context. No launch is lost. */
static void test_threads(hg_backend *b) {
    hg_context *context;
    CHECK_OK(hg_context_create(b, &context));
    for (int how = 0; how < 3; how++) {
        hg_buffer x = make_buffer(b, NULL, 1024);
        hg_binding *binding = bind_count(b, x), *second = bind_count(b, x);
        side one = {binding, b->context, NULL, 0, 0},
             two = {how == 2 ? second : binding, how == 1 ? context : b->context, &one, 0, 0};
        one.other = &two;
        hg_thread thread;
        make_ready(binding);
        make_ready(second);
        uint32_t zero[256] = {0};
        CHECK_OK(hg_backend_copy_to_buffer(b, x, zero, sizeof zero));
        if (!hg_thread_start(&thread, launch_many, &two)) exit(test_done());
        (void)launch_many(&one);
        hg_thread_join(thread);
        CHECK_U64(one.failed + two.failed, 0);
        check_count(b, x, one.launches + two.launches);
        hg_binding_destroy(binding);
        hg_binding_destroy(second);
        CHECK_OK(hg_backend_free_buffer(b, x));
    }
    hg_context_destroy(context);
}

/* A queue of the default context writes the same buffer. */
static void test_beside_a_queue(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x), *queued = bind_count(b, x);
    hg_queue *queue;
    make_ready(binding);
    uint32_t zero[256] = {0};
    CHECK_OK(hg_backend_copy_to_buffer(b, x, zero, sizeof zero));
    CHECK_OK(hg_queue_create(b, b->context, &queue));
    hg_command commands[4];
    for (int i = 0; i < 4; i++)
        commands[i] = (hg_command){.size = sizeof(hg_command),
                                   .kind = HG_COMMAND_LAUNCH,
                                   .binding = i % 2 ? binding : queued};
    for (int i = 0; i < 500; i++) {
        CHECK_OK(hg_queue_submit(queue, commands, 4, NULL, 0, NULL));
        for (int k = 0; k < 10; k++) CHECK_OK(hg_binding_launch(binding));
    }
    CHECK_OK(hg_queue_synchronize(queue));
    check_count(b, x, 500 * 14);
    hg_queue_destroy(queue);
    hg_binding_destroy(binding);
    hg_binding_destroy(queued);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

static int open_gate; /* atomic */
static void wait_at_gate(void *user) {
    (void)user;
    while (!hg_atomic_load(&open_gate, HG_ACQUIRE)) {}
}

/* A launch of a queue that was cancelled does not run; the binding's own launches before and after
 * it do. */
static void test_cancel(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x);
    hg_queue *gate, *queue;
    CHECK_OK(hg_queue_create(b, NULL, &gate));
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    for (uint32_t round = 0; round < 4; round++) {
        hg_event *opened, *done;
        hg_command wait = {.size = sizeof wait, .kind = HG_COMMAND_HOST_CALL, .call = wait_at_gate};
        hg_command launch = {.size = sizeof launch, .kind = HG_COMMAND_LAUNCH, .binding = binding};
        hg_atomic_store(&open_gate, 0, HG_RELEASE);
        CHECK_OK(hg_queue_submit(gate, &wait, 1, NULL, 0, &opened));
        CHECK_OK(hg_queue_submit(queue, &launch, 1, &opened, 1, &done));
        hg_event_cancel(done);
        hg_atomic_store(&open_gate, 1, HG_RELEASE);
        CHECK_FAILS(hg_event_wait(done), HG_ERROR_EXECUTION_FAILED, "F11", "cancelled");
        hg_event_destroy(done);
        hg_event_destroy(opened);
        CHECK_STATUS(hg_queue_synchronize(queue), HG_ERROR_EXECUTION_FAILED);
        for (int i = 0; i < 2; i++) CHECK_OK(hg_binding_launch(binding));
        check_count(b, x, 2 * (round + 1));
    }
    CHECK(binding->way.ready.count != 0);
    hg_queue_destroy(queue);
    hg_queue_destroy(gate);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* ---- faults ---- */

/* What may fault is never made ready: each launch has its fault. */
static void test_out_of_bounds(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1000);
    hg_binding *binding = bind_count(b, x);
    for (int i = 0; i < 6; i++) {
        CHECK_STATUS(hg_binding_launch(binding), HG_ERROR_EXECUTION_FAILED);
        CHECK_U64(hg_last_error()->lane, 250);
        CHECK_TEXT(hg_last_error()->code, "F01");
    }
    CHECK(!binding->way.ready.count);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

static hg_binding *faulting;

static hg_status run_with_fault(hg_driver_prepared *self) {
    (void)self;
    faulting->fault = (hg_driver_fault){
        .happened = true, .code = 2, .inst = 3, .lane = 7, .message = "made up"};
    return HG_OK;
}

static hg_status run_refused(hg_driver_prepared *self) {
    (void)self;
    return hg_fail(HG_ERROR_OUT_OF_MEMORY, "refused");
}

/* A driver's ready launch that faults or fails, and the one after it. */
static void test_fault_of_the_driver(hg_backend *b) {
    hg_buffer x = make_buffer(b, NULL, 1024);
    faulting = bind_count(b, x);
    make_ready(faulting);
    uint32_t zero[256] = {0};
    CHECK_OK(hg_backend_copy_to_buffer(b, x, zero, sizeof zero));
    hg_status (*run)(hg_driver_prepared *) = faulting->way.ready.commands[0].prepared->run;
    faulting->way.ready.commands[0].prepared->run = run_with_fault;
    CHECK_STATUS(hg_binding_launch(faulting), HG_ERROR_EXECUTION_FAILED);
    CHECK_U64(hg_last_error()->lane, 7);
    faulting->way.ready.commands[0].prepared->run = run_refused;
    CHECK_STATUS(hg_binding_launch(faulting), HG_ERROR_OUT_OF_MEMORY);
    faulting->way.ready.commands[0].prepared->run = run;
    CHECK_OK(hg_binding_launch(faulting));
    check_count(b, x, 1);
    hg_binding_destroy(faulting);
    CHECK_OK(hg_backend_free_buffer(b, x));
}

/* A plan of several steps that are the same in each launch is one list. Its fault is the step's
 * whose command has it. */
static void test_steps(hg_backend *b) {
    static const char text[] = /* of 256 elements, of 128, of 256: three chains */
        PROGRAM(".param r1 x buffer u32 inout\n.param r2 y buffer u32 inout\n mov_imm.u64 r4, "
                "256\n mov_imm.u64 r5, 128\n"
                " parallel_map_binary.u32 r1, r1, r1, add, r4\n parallel_map_binary.u32 r2, r1, "
                "r2, add, r5\n"
                " parallel_map_binary.u32 r1, r1, r1, sub, r4\n parallel_map_binary.u32 r1, r1, "
                "r2, add, r4\n");
    uint32_t ones[256], out[256], sum = 1, value = 1;
    for (int i = 0; i < 256; i++) ones[i] = 1;
    hg_buffer x = make_buffer(b, ones, sizeof ones), y = make_buffer(b, ones, sizeof ones);
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    faulting = bind(b, text, params);
    hg_params_destroy(params);
    for (int i = 0; i < 3000; i++) { /* x = 2 x, y += x, x = y */
        CHECK_OK(hg_binding_launch(faulting));
        sum += 2 * value;
        value = sum;
    }
    CHECK_OK(hg_backend_copy_from_buffer(b, x, out, sizeof out));
    CHECK_U64(out[127], value);
    CHECK_U64(out[255], 1);
    CHECK_U64(faulting->way.ready.count, 3);
    if (faulting->way.ready.count == 3) {
        hg_ready_command *last = &faulting->way.ready.commands[2];
        hg_status (*run)(hg_driver_prepared *) = last->prepared->run;
        last->prepared->run = run_with_fault;
        CHECK_STATUS(hg_binding_launch(faulting), HG_ERROR_EXECUTION_FAILED);
        CHECK_U64(hg_last_error()->instruction, faulting->executable->plan->steps.data[2].inst);
        last->prepared->run = run;
    }
    hg_binding_destroy(faulting);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
}

/* ---- devices that have nothing ready ---- */

static void test_prepared_at_once(void) {
    hg_config config = hg_config_default();
    hg_backend *b;
    set_pretend(&config, "prepared");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x);
    CHECK(binding->way.ready.count != 0);
    CHECK_OK(hg_binding_launch(binding));
    check_count(b, x, 1);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
    test_out_of_bounds(b);
    hg_backend_destroy(b);
}

static void test_not_ready(const char *pretend) {
    hg_config config = hg_config_default();
    hg_backend *b;
    set_pretend(&config, pretend);
    config.check_races = !*pretend;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    hg_buffer x = make_buffer(b, NULL, 1024);
    hg_binding *binding = bind_count(b, x);
    for (int i = 0; i < 8; i++) CHECK_OK(hg_binding_launch(binding));
    CHECK(!binding->way.ready.count);
    check_count(b, x, 8);
    hg_binding_destroy(binding);
    CHECK_OK(hg_backend_free_buffer(b, x));
    hg_backend_destroy(b);
}

int main(void) {
    /* What is allocated is counted. And where arrays overlap, a lane that reads what another one
     * writes gets what the order of lanes gives it, which is another one in native code. */
    setenv("HOLOGRAM_JIT", "off", 1);
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    hg_backend *b = open_backend("cpu");
    test_moves(b);
    test_same_bits(b);
    test_map(b);
    test_no_allocation(b);
    test_no_memory_to_prepare(b);
    test_freed(b);
    test_threads(b);
    test_beside_a_queue(b);
    test_cancel(b);
    test_out_of_bounds(b);
    test_fault_of_the_driver(b);
    test_steps(b);
    hg_backend_destroy(b);
    test_prepared_at_once();
    test_long();
    test_not_ready("polled=1");
    test_not_ready("");
    CHECK_U64(memory.live, 0);
    return test_done();
}

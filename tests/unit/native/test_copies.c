/* Loops that copy bytes, in turns of one lane, where rounds are done sixteen at a time: the bytes
 * and counters are those of C, however near the two places are, and a lane that leaves the memory
 * faults as in the tile interpreter. So do indices that are so large that they are limited.
 * test: labels=slow */
#include "native/compilers.h"
#include "native/native.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include "test.h"
#include "tile/tile_internal.h"
#include <stdlib.h>
#include <string.h>

enum { LANES = 320, ROOM = 512, BYTES = LANES * ROOM, LAUNCHES = 12 };

#define HEAD(words)                                                                       \
    ".atlas 1\n.program copies\n.param data buffer u8 inout [m]\n.param at buffer " words \
    " inout [n, 3]\n.param m u64\n.param n u64\n.lanes n\n"
#define REGS(words)                                                                \
    HEAD(words)                                                                    \
    ".reg from, to, left, x " words "\n.reg b u8\n.reg i u64\n mul i, global, 3\n" \
    " ldg from, [at[i]]\n ldg to, [at[i + 1]]\n ldg left, [at[i + 2]]\n"
#define ROUND " ldg b, [data[from]]\n stg [data[to]], b\n add from, from, 1\n add to, to, 1\n"
#define TAIL " stg [at[i]], from\n stg [at[i + 1]], to\n stg [at[i + 2]], left\n"

static const struct form {
    const char *text;
    bool wide, counts; /* of u64; what is left is counted down */
} FORMS[] = {
    {REGS("u32") "again:\n" ROUND " sub left, left, 1\n bra.ne left, 0, @again\n" TAIL, false,
     true},
    {REGS("u64") "again:\n bra.eq left, 0, @out\n" ROUND
                 " add left, left, 18446744073709551615\n bra @again\nout:\n" TAIL,
     true, true},
    {REGS("u64") " add x, from, left\nagain:\n bra.geu from, x, @out\n" ROUND
                 " bra @again\nout:\n" TAIL,
     true, false},
    {HEAD("u32") "    let from = at[global, 0]\n    let to = at[global, 1]\n"
                 "    for i in u32(0) .. at[global, 2] {\n        data[to + i] = data[from + i]\n"
                 "    }\n    at[global, 0] = from + at[global, 2]\n"
                 "    at[global, 1] = to + at[global, 2]\n",
     false, false},
};

static uint64_t state = 1;
static uint64_t below(uint64_t n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (state >> 33) % n;
}

static uint64_t places[LANES][3];
static uint8_t before[BYTES], data[BYTES];

/* Lanes copy within rooms of their own; the two places are often near each other. */
static void make_places(void) {
    for (uint64_t i = 0; i < LANES; i++) {
        uint64_t from = below(ROOM - 1), to = below(ROOM - 1);
        if (below(3)) to = (from + below(40)) % (ROOM - 1);
        const uint64_t last = from > to ? from : to;
        places[i][0] = i * ROOM + from;
        places[i][1] = i * ROOM + to;
        places[i][2] = 1 + below(below(3) ? 40 < ROOM - last ? 40 : ROOM - last : ROOM - last);
    }
    for (uint32_t i = 0; i < BYTES; i++) before[i] = (uint8_t)below(256);
}

typedef struct side {
    hg_backend *b;
    hg_executable *executable;
    hg_buffer data, at;
} side;

static void open_side(side *s, const char *jit, const char *text, bool wide) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = "off";
    CHECK_OK(hg_backend_create_with_config(&config, &s->b));
    hg_program *program = s->b ? assemble(text) : NULL;
    if (!program) exit(test_done());
    CHECK_OK(hg_executable_create(s->b, program, &s->executable));
    hg_program_release(program);
    CHECK_OK(hg_backend_allocate_buffer(s->b, BYTES, &s->data));
    CHECK_OK(hg_backend_allocate_buffer(s->b, LANES * (wide ? 24 : 12), &s->at));
}

static void close_side(side *s) {
    CHECK_OK(hg_backend_free_buffer(s->b, s->data));
    CHECK_OK(hg_backend_free_buffer(s->b, s->at));
    hg_executable_destroy(s->executable);
    hg_backend_destroy(s->b);
}

/* All turns are of one lane. */
static void choose_alone(const side *s) {
    const hg_driver_kernel *kernel = s->executable->kernels[0].code->kernel;
    tile_kernel *code;
    memcpy(&code, kernel, sizeof code);
    CHECK(code->native.alone.now != NULL);
    code->native.alone.chosen = true;
    code->native.alone.rest = UINT32_MAX;
}

static hg_status launch(side *s, bool wide, char error[256]) {
    uint32_t narrow[LANES][3];
    hg_params *params = hg_params_create();
    hg_binding *binding = NULL;
    const void *from = wide ? (const void *)places : narrow;
    for (uint32_t i = 0; i < LANES * 3; i++) narrow[i / 3][i % 3] = (uint32_t)places[i / 3][i % 3];
    CHECK_OK(hg_buffer_write(s->b, s->data, 0, before, BYTES));
    CHECK_OK(hg_buffer_write(s->b, s->at, 0, from, wide ? sizeof places : sizeof narrow));
    CHECK_OK(hg_params_set_buffer(params, "data", s->data));
    CHECK_OK(hg_params_set_buffer(params, "at", s->at));
    CHECK_OK(hg_binding_create(s->executable, NULL, params, &binding));
    hg_status status = hg_binding_launch(binding);
    snprintf(error, 256, "%s", status == HG_OK ? "" : hg_last_error_text());
    CHECK_OK(hg_buffer_read(s->b, s->data, 0, data, BYTES));
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    return status;
}

static void values(side *s, const struct form *form) {
    static uint8_t expected[BYTES];
    static union {
        uint64_t wide[LANES][3];
        uint32_t narrow[LANES][3];
    } made;
    uint32_t wrong = 0;
    char error[256];
    make_places();
    CHECK_OK(launch(s, form->wide, error));
    CHECK_OK(
        hg_buffer_read(s->b, s->at, 0, &made, form->wide ? sizeof made.wide : sizeof made.narrow));
    memcpy(expected, before, BYTES);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint64_t *p = places[i];
        for (uint64_t k = 0; k < p[2]; k++) expected[p[1] + k] = expected[p[0] + k];
        for (uint32_t k = 0; k < 3; k++)
            wrong += (form->wide ? made.wide[i][k] : made.narrow[i][k]) != (k < 2 ? p[k] + p[2]
                                                                            : form->counts ? 0
                                                                                           : p[2]);
    }
    CHECK_U64(wrong, 0);
    CHECK(memcmp(expected, data, BYTES) == 0);
}

/* Some lanes leave the memory, sooner or later, or were never in it. */
static void faults(side *interpreted, side *s, const struct form *form) {
    char expected[256], error[256];
    make_places();
    for (uint32_t n = 0; n < 3; n++) {
        uint64_t *p = places[below(LANES)];
        p[below(2)] = below(4) ? BYTES - below(100) : UINT32_MAX - below(20);
        p[2] = 100 + below(100);
    }
    CHECK(launch(interpreted, form->wide, expected) != HG_OK);
    CHECK(launch(s, form->wide, error) != HG_OK);
    CHECK_MESSAGE(strcmp(error, expected) == 0, "'%s', not '%s'", error, expected);
}

static void copies(const struct form *form) {
    side interpreted = {0}, s = {0};
    open_side(&interpreted, "off", form->text, form->wide);
    open_side(&s, "on", form->text, form->wide);
    for (int n = 0; n < LAUNCHES; n++) {
        choose_alone(&s);
        values(&s, form);
        choose_alone(&s);
        faults(&interpreted, &s, form);
    }
    close_side(&interpreted);
    close_side(&s);
}

/* Loops that look like those that copy, but for what they do with a place. */
static const char *const OTHERS[] = {
    /* after the first round `from` stays where it is */
    REGS("u64") " bra.ltu left, 7, @few\n add from, from, 1\nfew:\n add x, from, 1\nagain:\n"
                " ldg b, [data[from]]\n stg [data[to]], b\n mov from, x\n add to, to, 1\n"
                " sub left, left, 1\n bra.ne left, 0, @again\n" TAIL,
    /* `from` goes up, then down */
    REGS("u64") "again:\n mov x, from\n" ROUND " bra.eq left, 1, @out\n sub from, x, 1\n"
                " sub left, left, 1\n bra.eq left, 0, @out\n bra @again\nout:\n" TAIL,
};

static void others(const char *text) {
    enum { ROOM_OF_ONE = 3 };
    static uint8_t expected[BYTES];
    static uint64_t ends[LANES * ROOM_OF_ONE], made[LANES * ROOM_OF_ONE];
    char error[256];
    side interpreted = {0}, s = {0};
    open_side(&interpreted, "off", text, true);
    open_side(&s, "on", text, true);
    make_places();
    for (uint32_t i = 0; i < LANES; i++) { /* lanes keep to their rooms, whichever way they go */
        places[i][0] = i * ROOM + 120;
        places[i][1] = i * ROOM + 140 + below(100);
        places[i][2] = 1 + below(100);
    }
    CHECK_OK(launch(&interpreted, true, error));
    memcpy(expected, data, BYTES);
    CHECK_OK(hg_buffer_read(interpreted.b, interpreted.at, 0, ends, sizeof ends));
    choose_alone(&s);
    CHECK_OK(launch(&s, true, error));
    CHECK_OK(hg_buffer_read(s.b, s.at, 0, made, sizeof made));
    CHECK_MESSAGE(memcmp(expected, data, BYTES) == 0, "%s", text);
    CHECK(memcmp(ends, made, sizeof ends) == 0);
    close_side(&interpreted);
    close_side(&s);
}

/* A place that is a sum of sums, each of the two in front of it: it is compiled at all. */
static void sums(void) {
    enum { SUMS = 60 };
    char text[4096];
    int at = snprintf(text, sizeof text, "%s", REGS("u64") ".reg y u64\nagain:\n mov y, to\n");
    for (int n = 0; n < SUMS; n++)
        at += snprintf(text + at, sizeof text - (size_t)at, " add %s, %s, %s\n", n % 2 ? "y" : "x",
                       n ? "x" : "from", "y");
    snprintf(text + at, sizeof text - (size_t)at, "%s",
             " ldg b, [data[y]]\n stg [data[to]], b\n add from, from, 1\n add to, to, 1\n"
             " sub left, left, 1\n bra.ne left, 0, @again\n" TAIL);
    side s = {0};
    open_side(&s, "on", text, true);
    choose_alone(&s);
    close_side(&s);
}

/* The elements of `at` behind a chain of them, which ends anywhere. */
static const char WALK[] = HEAD("u64") ".reg i, k u64\n mul i, global, 3\n ldg k, [at[i]]\n"
                                       "again:\n bra.ltu k, 2, @out\n ldg k, [at[k]]\n bra @again\n"
                                       "out:\n stg [at[i + 1]], k\n";

static void limited(void) {
    static const uint64_t FAR[] = {
        3 * LANES,         3 * LANES - 1,         UINT64_MAX,
        UINT64_MAX >> 3,   (UINT64_MAX >> 3) - 1, (UINT64_MAX >> 3) + 1,
        UINT64_C(1) << 62, UINT64_C(1) << 63,     (UINT64_C(1) << 61) + 3};
    char expected[256], error[256];
    side interpreted = {0}, s = {0};
    open_side(&interpreted, "off", WALK, true);
    open_side(&s, "on", WALK, true);
    for (size_t n = 0; n < 2 * HG_COUNT_OF(FAR); n++) {
        memset(places, 0, sizeof places);
        places[below(LANES)][0] = FAR[n / 2];
        const hg_status status = launch(&interpreted, true, expected);
        CHECK((status == HG_OK) == (n / 2 == 1));
        if (n % 2) choose_alone(&s);
        CHECK(launch(&s, true, error) == status);
        CHECK_MESSAGE(strcmp(error, expected) == 0, "'%s', not '%s'", error, expected);
    }
    close_side(&interpreted);
    close_side(&s);
}

int main(void) {
    char reason[256];
    if (!native_by(reason)) {
        SKIP(reason);
        return test_done();
    }
    for (size_t i = 0; i < HG_COUNT_OF(FORMS); i++) copies(&FORMS[i]);
    for (size_t i = 0; i < HG_COUNT_OF(OTHERS); i++) others(OTHERS[i]);
    sums();
    limited();
    return test_done();
}

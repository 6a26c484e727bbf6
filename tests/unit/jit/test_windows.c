/* Neighbours and windows in arrays of two and three axes, by native code of each CPU level: what
 * conditions and loops of a few rounds say of an index settles its check, rows of every length have
 * turns that straddle their ends, and conditions wrap where an extent is less than what is taken
 * from it. Random texts against a loop in C that also says which lane faults first; the fault's
 * words against the interpreter's. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <string.h>

enum { MOST = 110 * 110, READS = 4, TEXTS = 24 };

/* What a lane does: conditions of its row and column, and reads, or a window. */
typedef struct shape {
    uint32_t low[2], high[2]; /* low <= place < extent - high, by axis */
    bool strict, in_order;    /* how it is written */
    int32_t at[READS][2];     /* of reads, from the lane's place */
    uint32_t from[2], to[2];  /* of windows: rounds */
    uint32_t more[2];         /* of x in each axis */
    bool window, deep;        /* deep: three axes, of which the first has two */
} shape;

typedef struct work {
    shape s;
    uint64_t h, w;
    uint32_t x[MOST], y[MOST], made[MOST];
    char said[512];
} work;

static uint64_t state = 0x9E3779B97F4A7C15u;
static uint32_t pick(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* ---- texts ---- */

static void add(char *text, const char *more) {
    CHECK(strlen(text) + strlen(more) < 2000);
    strcat(text, more);
}

static void place(char *text, const char *name, int32_t by) {
    char at[40];
    snprintf(at, sizeof at,
             by < 0   ? "%s - %d"
             : by > 0 ? "%s + %d"
                      : "%s",
             name, by < 0 ? -by : by);
    add(text, at);
}

static void condition(char *text, const shape *s, int axis) {
    const char *name = axis ? "c" : "r", *extent = axis ? "w" : "h";
    char at[120];
    if (s->strict && s->low[axis])
        snprintf(at, sizeof at, "%s > %u && ", name, s->low[axis] - 1);
    else
        snprintf(at, sizeof at, "%s >= %u && ", name, s->low[axis]);
    add(text, at);
    if (s->strict || !s->high[axis])
        snprintf(at, sizeof at, "%s < %s - %u", name, extent, s->high[axis]);
    else
        snprintf(at, sizeof at, "%s <= %s - %u", name, extent, s->high[axis] + 1);
    add(text, at);
}

static hg_program *program_of(const shape *s) {
    char text[2400];
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param x buffer u32 in [%sh + %u, w + %u]\n.param y buffer u32 "
             "inout [%sh, w]\n.param h u64\n.param w u64\n.lanes [%sr < h, c < w]\n    let s u32 = "
             "1\n",
             s->deep ? "2, " : "", s->more[0], s->more[1], s->deep ? "2, " : "",
             s->deep ? "p < 2, " : "");
    const char *plane = s->deep ? "p, " : "";
    if (s->window) {
        snprintf(
            text + strlen(text), 400,
            "    for a in u64(%u) .. %u {\n        for b in u64(%u) .. %u {\n            s = s "
            "* 3 + x[%sr + a, c + b]\n        }\n    }\n    y[%sr, c] = s\n",
            s->from[0], s->to[0], s->from[1], s->to[1], plane, plane);
        return assemble(text);
    }
    add(text, "    if ");
    condition(text, s, s->in_order ? 0 : 1);
    add(text, " && ");
    condition(text, s, s->in_order ? 1 : 0);
    add(text, " {\n");
    for (int i = 0; i < READS; i++) {
        snprintf(text + strlen(text), 60, "        s = s * 3 + x[%s", plane);
        place(text, "r", s->at[i][0]);
        add(text, ", ");
        place(text, "c", s->at[i][1]);
        add(text, "]\n");
    }
    snprintf(text + strlen(text), 60, "        y[%sr, c] = s\n    }\n", plane);
    return assemble(text);
}

/* Half of them stay inside where nothing wraps; of the others one read is next to what is allowed.
 */
static shape shape_of(bool window, bool deep) {
    shape s = {.window = window, .deep = deep, .strict = pick(2), .in_order = pick(2)};
    const bool good = pick(2);
    for (int i = 0; i < 2; i++) {
        s.low[i] = pick(3);
        s.high[i] = pick(3);
        for (int k = 0; k < READS; k++)
            s.at[k][i] = (int32_t)pick(s.low[i] + s.high[i] + 1) - (int32_t)s.low[i];
        s.from[i] = pick(2);
        s.to[i] = s.from[i] + 1 + pick(5);
        s.more[i] = window ? s.to[i] - 1 - (!good && s.to[i] > 1 && pick(3) == 0) : 0;
    }
    const uint32_t axis = pick(2);
    if (!good)
        s.at[pick(READS)][axis] = pick(2) ? (int32_t)s.high[axis] + 1 : -1 - (int32_t)s.low[axis];
    return s;
}

/* ---- the loop in C ---- */

static uint64_t planes(const work *k) { return k->s.deep ? 2 : 1; }

static bool read(const work *k, uint64_t p, uint64_t r, uint64_t c, uint32_t *sum) {
    const uint64_t h = k->h + k->s.more[0], w = k->w + k->s.more[1];
    if (r >= h || c >= w) return false;
    *sum = *sum * 3 + k->x[(p * h + r) * w + c];
    return true;
}

static bool is_in(const work *k, int axis, uint64_t at) {
    const uint64_t extent = axis ? k->w : k->h, high = k->s.high[axis];
    if (at < k->s.low[axis]) return false;
    return k->s.strict || !high ? at < extent - high : at <= extent - (high + 1);
}

/* False: it faults. */
static bool lane(work *k, uint64_t p, uint64_t r, uint64_t c) {
    const shape *s = &k->s;
    uint32_t sum = 1;
    if (s->window) {
        for (uint64_t a = s->from[0]; a < s->to[0]; a++)
            for (uint64_t b = s->from[1]; b < s->to[1]; b++)
                if (!read(k, p, r + a, c + b, &sum)) return false;
    } else {
        if (!is_in(k, 0, r) || !is_in(k, 1, c)) return true;
        for (int i = 0; i < READS; i++)
            if (!read(k, p, r + (uint64_t)(int64_t)s->at[i][0], c + (uint64_t)(int64_t)s->at[i][1],
                      &sum))
                return false;
    }
    k->y[(p * k->h + r) * k->w + c] = sum;
    return true;
}

/* The first lane that faults; the number of lanes: none. */
static uint64_t right(work *k) {
    const uint64_t lanes = planes(k) * k->h * k->w;
    for (uint64_t i = 0; i < lanes; i++)
        if (!lane(k, i / (k->h * k->w), i / k->w % k->h, i % k->w)) return i;
    return lanes;
}

/* ---- runs ---- */

static uint64_t run(hg_backend *b, hg_program *program, work *k) {
    const uint64_t lanes = planes(k) * k->h * k->w,
                   bytes = planes(k) * (k->h + k->s.more[0]) * (k->w + k->s.more[1]) * 4;
    hg_params *p = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    hg_buffer x, y;
    CHECK(p != NULL && bytes <= sizeof k->x);
    memset(k->made, 0, sizeof k->made);
    CHECK_OK(hg_backend_allocate_buffer(b, bytes, &x));
    CHECK_OK(hg_backend_allocate_buffer(b, lanes * 4, &y));
    CHECK_OK(hg_backend_copy_to_buffer(b, x, k->x, bytes));
    CHECK_OK(hg_backend_copy_to_buffer(b, y, k->made, lanes * 4));
    CHECK_OK(hg_params_set_buffer(p, "x", x));
    CHECK_OK(hg_params_set_buffer(p, "y", y));
    CHECK_OK(hg_params_set_scalar(p, "h", HG_TYPE_U64, &k->h));
    CHECK_OK(hg_params_set_scalar(p, "w", HG_TYPE_U64, &k->w));
    const hg_status status = hg_backend_execute_program_with_params(b, program, &at, p);
    const hg_error *e = hg_last_error();
    const uint64_t faulted = status == HG_OK ? lanes : e->lane;
    k->said[0] = 0;
    if (status != HG_OK)
        snprintf(k->said, sizeof k->said, "%s, instruction %lld", hg_last_error_text(),
                 (long long)e->instruction);
    CHECK_OK(hg_backend_copy_from_buffer(b, y, k->made, lanes * 4));
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_params_destroy(p);
    return faulted;
}

static uint32_t faults, clean;

static void compare(hg_backend *b, hg_backend *interpreter, hg_program *program, work *k,
                    const char *level, int number) {
    static work other;
    const uint64_t lanes = planes(k) * k->h * k->w;
    memset(k->y, 0, sizeof k->y);
    const uint64_t expected = right(k), made = run(b, program, k);
    CHECK_MESSAGE(made == expected, "%s, text %d, %u by %u: lane %u faults, not %u of %u: %s",
                  level, number, (unsigned)k->h, (unsigned)k->w, (unsigned)made, (unsigned)expected,
                  (unsigned)lanes, k->said);
    if (expected < lanes) {
        other = *k;
        CHECK(run(interpreter, program, &other) == expected);
        CHECK_MESSAGE(strcmp(k->said, other.said) == 0, "%s, text %d: '%s', the interpreter '%s'",
                      level, number, k->said, other.said);
        faults++;
        return;
    }
    CHECK_MESSAGE(memcmp(k->made, k->y, lanes * 4) == 0, "%s, text %d, %u by %u differs", level,
                  number, (unsigned)k->h, (unsigned)k->w);
    clean++;
}

static hg_backend *backend_of(const char *level, const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    if (hg_backend_create_with_config(&config, &b) != HG_OK) SKIP(hg_last_error_text());
    return b;
}

static void test_level(const char *level) {
    static work k;
    static const uint64_t SIZES[][2] = {{1, 1},  {1, 40}, {2, 3},  {7, 5},   {5, 64},
                                        {3, 96}, {6, 33}, {9, 31}, {40, 16}, {4, 100}};
    hg_backend *b = backend_of(level, "on"), *interpreter = backend_of(level, "off");
    if (!b || !interpreter) return;
    for (uint32_t i = 0; i < MOST; i++) k.x[i] = i * 2654435761u;
    for (int i = 0; i < TEXTS; i++) {
        k.s = shape_of(i % 2 == 0, i % 3 == 0);
        hg_program *program = program_of(&k.s);
        for (size_t n = 0; n < HG_COUNT_OF(SIZES); n++) {
            k.h = SIZES[n][0];
            k.w = SIZES[n][1];
            compare(b, interpreter, program, &k, level, i);
        }
        hg_program_release(program);
    }
    hg_backend_destroy(b);
    hg_backend_destroy(interpreter);
}

int main(void) {
    test_level("baseline");
    test_level("v3");
    test_level(""); /* what this CPU has */
    if (faults + clean > 0)
        CHECK_MESSAGE(faults >= 20 && clean >= 100, "%u launches fault, %u do not", faults, clean);
    return test_done();
}

/* The accuracy of functions.
 *
 *     accuracy FUNCTION TYPE [--all | --every N] [--random N] [--hard N] [--peers] [--threads N]
 * [--backend B] [--pretend WORDS] [--level L] [--jit on|off]
 *         --all        every bit pattern of f32 (of an odd function the positive ones, and that the
 * negative ones mirror them)
 *         --part I/N   of these, or of random ones, the I-th of N parts, from 0 on; I-J/N: to the
 * J-th
 *         --every N    every N-th bit pattern
 *         --random N   N random arguments (rounded up to whole chunks of 65,536)
 *         --hard N     N arguments of f64 whose results lie next to the middle of two numbers or
 * whose reduction is hardest
 *         --peers      glibc, libmvec and SLEEF on the same arguments
 *         --halves     f16 and bf16 of every function, or of FUNCTION: of one argument at all
 * 65,536, with --all the results that are wrong, as rows of define/halves.def; of two arguments at
 * a few first arguments with all second ones, with --all at every pair, or a part of them
 *         --jit on     native code, made before the first launch; off [it is]: the interpreter
 *         --against L  no errors: the results' bits (any NaN is one) beside those of the CPU level
 * L, which lowers operations in another way. Prints the number of results that differ and the first
 * argument of one
 *     accuracy --nearest [--every N] [FUNCTION] [--without FUNCTION]...
 * every 65,521st or N-th pattern of every function whose f32 is rounded correctly, or of FUNCTION,
 * and as many random pairs of those with two arguments
 *     accuracy --worst FILE [--backend B] [--pretend WORDS] [--level L] [--jit on|off]
 * checks the library at the worst arguments known, one a line: FUNCTION TYPE X [Y]
 *
 * Prints one line of JSON for each subject. An argument goes to MPFR when the filter cannot exclude
 * that it is the worst so far, that it is above 0.9 of the bound, or that the result is of another
 * kind (NaN, infinite, a zero's sign).
 *
 * A function whose bound is 0.5 is rounded correctly. Its result must be the reference rounded, for
 * the reference is within 8 ULP of double of the true value (gelu, whose reference is composed,
 * 512); where so near to it two results meet, MPFR says which one. Such arguments are kept by
 * --near FILE. Every such run ends with one result changed, which must be found. */
#include "accuracy.h"
#include "support/native_told.h"
#include "test.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum source { SOURCE_ALL, SOURCE_EVERY, SOURCE_RANDOM, SOURCE_HARD } source;

typedef struct task {
    const function *f;
    bool wide, peers;
    library_choice library;
    const char *against; /* CPU level, or NULL */
    FILE *near;          /* arguments that MPFR decided, or NULL */
    source from;
    uint64_t inputs, first, chunks, every; /* chunks from the first on */
    const uint64_t *hard;
    _Atomic uint64_t next;
} task;

typedef struct figures { /* of one subject */
    bool measured;
    double worst;
    uint64_t x, y, got;
    uint64_t above, wrong; /* than the bound (the library's); results of another kind */
    uint64_t wrong_x, wrong_y;
} figures;

typedef struct worker {
    task *t;
    pthread_t thread;
    bool failed, planting, planted_missed;
    uint64_t decided;  /* by MPFR */
    double filter_off; /* the largest error of the filter seen */
    figures of[SUBJECTS];
    exact e;
    float errors[CHUNK];
    uint64_t x[CHUNK], y[CHUNK], got[CHUNK];
    long double reference[CHUNK];
} worker;

static uint64_t element(const void *array, bool wide, size_t i) {
    return wide ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

static void fill(const task *t, uint64_t chunk, worker *w) {
    if (t->from == SOURCE_ALL || t->from == SOURCE_EVERY)
        for (uint32_t i = 0; i < CHUNK; i++)
            ((uint32_t *)w->x)[i] = (uint32_t)((chunk * CHUNK + i) * t->every);
    else if (t->from == SOURCE_RANDOM)
        inputs_random(t->f, t->wide, chunk, w->x, w->y, CHUNK);
    else
        for (uint64_t i = 0; i < CHUNK; i++) { /* the last ones again, to fill a chunk */
            uint64_t at = chunk * CHUNK + i;
            w->x[i] = t->hard[at < t->inputs ? at : t->inputs - 1];
        }
}

/* Arguments for which the filter need not be asked: their results are NaN. */
static bool gives_nan(const function *f, double x) {
    bool positive_only = f->id == FN_LOG || f->id == FN_LOG2 || f->id == FN_LOG10 ||
                         f->id == FN_RSQRT;
    bool periodic = f->id == FN_SIN || f->id == FN_COS || f->id == FN_TAN || f->id == FN_SINPI ||
                    f->id == FN_COSPI;
    bool inside_only = f->id == FN_ASIN || f->id == FN_ACOS || f->id == FN_ATANH;
    bool outside = (positive_only && x < 0) || (periodic && isinf(x)) ||
                   (inside_only && fabs(x) > 1) || (f->id == FN_LOG1P && x < -1) ||
                   (f->id == FN_ACOSH && x < 1);
    return f->args == 1 && (isnan(x) || outside);
}

static void decide(worker *w, figures *s, size_t i) {
    const task *t = w->t;
    uint64_t x = element(w->x, t->wide, i), y = t->f->args == 2 ? element(w->y, t->wide, i) : 0,
             got = element(w->got, t->wide, i);
    if (isnan(number_of(got, t->wide)) && gives_nan(t->f, number_of(x, t->wide))) return;
    double error = exact_error(&w->e, t->f, t->wide, x, y, got);
    w->decided++;
    if (isinf(error)) {
        if (!s->wrong++) s->wrong_x = x, s->wrong_y = y;
        return;
    }
    s->above += error > t->f->bound[t->wide];
    if (error <= s->worst && s->worst > 0) return;
    s->worst = error;
    s->x = x;
    s->y = y;
    s->got = got;
}

/* Errors below are those of rounding alone and never the largest. A function that is constant over
 * half of its arguments, as acos next to 0, would have all of them decided by MPFR. */
static const double ROUNDING = 0.45;

static bool is_nearest(const task *t) { return !t->wide && t->f->bound[0] == 0.5; }

/* Correctly rounded results: see the top. */
static void settle_nearest(worker *w) {
    const task *t = w->t;
    figures *s = &w->of[0];
    const uint32_t *x = (const uint32_t *)w->x, *got = (const uint32_t *)w->got,
                   *second = t->f->args == 2 ? (const uint32_t *)w->y : NULL;
    const double relative = t->f->id == FN_GELU ? 0x1p-43 : 0x1p-49;
    uint32_t *open = (uint32_t *)w->errors;
    s->measured = true;
    if (!filter_nearest((const double *)w->reference, got, relative, CHUNK, open)) {
        if (second || x[0] << 1 != 0) return; /* the chunks that begin with a zero are looked at */
    }
    for (size_t i = 0; i < CHUNK; i++) {
        uint32_t y = second ? second[i] : 0;
        bool zero = !second && x[i] << 1 == 0, near = open[i] == 2 && !exact_is_half(t->f, x[i]);
        if (!open[i] && !zero) continue;
        double given = number_of(x[i], false), result = number_of(got[i], false);
        if (isnan(result) && gives_nan(t->f, given)) continue;
        uint32_t right = (uint32_t)exact_nearest(&w->e, t->f, x[i], y);
        bool good = got[i] == right || (isnan(result) && isnan(number_of(right, false)));
        w->decided += near || zero || !good;
        if (t->near && !w->planting && near) {
            flockfile(t->near);
            fprintf(t->near, "%s f32 %08x", t->f->name, (unsigned)x[i]);
            fprintf(t->near, second ? " %08x\n" : "\n", (unsigned)y);
            funlockfile(t->near);
        }
        double error = good && !near ? 0 : exact_error(&w->e, t->f, false, x[i], y, got[i]);
        if (!good && s->above++ < 8 && !w->planting)
            fprintf(stderr, "%s of %08x %08x is %08x, not %08x\n", t->f->name, (unsigned)x[i],
                    (unsigned)y, (unsigned)got[i], (unsigned)right);
        if (isinf(error) && !good && !w->planting && !s->wrong++) s->wrong_x = x[i], s->wrong_y = y;
        if (error <= s->worst || isinf(error) || w->planting) continue;
        s->worst = error;
        s->x = x[i];
        s->y = y;
        s->got = got[i];
    }
}

static void settle(worker *w, int which) {
    const task *t = w->t;
    figures *s = &w->of[which];
    if (which == 0 && is_nearest(t)) {
        settle_nearest(w);
        return;
    }
    float most = filter_errors(w->reference, w->got, t->wide, CHUNK, w->errors);
    double budget = FILTER_BUDGET(t->wide),
           certain = which == 0 ? 0.9 * t->f->bound[t->wide] : (double)INFINITY;
    uint64_t left = which == 0 ? UINT64_MAX : 256; /* a peer's results of another kind are counted,
                                                      but only some are looked at */
    s->measured = true;
    if ((double)most <= fmin(fmax(s->worst, ROUNDING) - budget, certain)) return;
    for (size_t i = 0; i < CHUNK; i++) {
        double threshold = fmin(fmax(s->worst, ROUNDING) - budget, certain);
        if ((double)w->errors[i] <= threshold) continue;
        if (isinf(w->errors[i]) && left-- == 0) break;
        decide(w, s, i);
    }
}

/* The results at -x are those at x with the other sign; NaN for NaN. */
static bool check_mirror(worker *w, subject *s) {
    uint32_t *x = (uint32_t *)w->x, *y = (uint32_t *)w->y;
    const uint32_t *got = (const uint32_t *)w->got;
    for (size_t i = 0; i < CHUNK; i++) x[i] ^= UINT32_C(1) << 31;
    if (!subject_run(s, x, x, y, CHUNK)) return false;
    for (size_t i = 0; i < CHUNK; i++) {
        bool nan = (got[i] & INT32_MAX) > 0x7F800000,
             mirrored = nan ? (y[i] & INT32_MAX) > 0x7F800000
                            : (y[i] ^ got[i]) == UINT32_C(1) << 31;
        if (!mirrored && !w->of[0].wrong++) w->of[0].wrong_x = x[i];
    }
    return true;
}

static void check_filter(worker *w, uint64_t chunk) {
    const task *t = w->t;
    size_t i = chunk * 40503 % CHUNK;
    uint64_t y = t->f->args == 2 ? element(w->y, t->wide, i) : 0;
    double off = exact_error_of(&w->e, t->f, t->wide, element(w->x, t->wide, i), y,
                                filter_result(w->reference, t->wide, i));
    if (off > w->filter_off) w->filter_off = off;
}

/* One result of the chunk is changed: it and no other is found. */
static void plant(worker *w) {
    uint32_t *got = (uint32_t *)w->got;
    uint64_t above = w->of[0].above, decided = w->decided;
    size_t at = 0;
    while (at < CHUNK && isnan(number_of(got[at], false))) at++;
    if (at == CHUNK) return;
    got[at] ^= 1;
    w->planting = true;
    settle_nearest(w);
    w->planting = false;
    got[at] ^= 1;
    w->planted_missed |= w->of[0].above != above + 1;
    w->of[0].above = above;
    w->decided = decided;
}

static void *work(void *argument) {
    worker *w = argument;
    task *t = w->t;
    subject *subjects[SUBJECTS] = {0};
    exact_begin(&w->e);
    for (int i = 0; i < (t->peers ? SUBJECTS : 1); i++)
        subjects[i] = subject_open(i, t->f, t->wide, &t->library);
    w->failed = !subjects[0];
    for (uint64_t chunk; !w->failed && (chunk = atomic_fetch_add(&t->next, 1)) < t->chunks;) {
        fill(t, chunk, w);
        filter_reference(t->f, t->wide, w->x, w->y, w->reference, CHUNK);
        check_filter(w, chunk);
        for (int i = 0; i < SUBJECTS; i++) {
            if (!subjects[i]) continue;
            if (!subject_run(subjects[i], w->x, w->y, w->got, CHUNK))
                w->failed = true;
            else
                settle(w, i);
            if (i == 0 && is_nearest(t) && chunk % 1024 == 0 && !w->failed) plant(w);
        }
        if (t->from == SOURCE_ALL && t->f->odd && !w->failed)
            w->failed = !check_mirror(w, subjects[0]);
    }
    for (int i = 0; i < SUBJECTS; i++) subject_close(subjects[i]);
    exact_end(&w->e);
    return NULL;
}

static bool same_bits(uint64_t x, uint64_t y, bool wide) {
    return x == y || (isnan(number_of(x, wide)) && isnan(number_of(y, wide)));
}

/* The results of two CPU levels, bit by bit: `wrong` counts those that differ. */
static void *work_against(void *argument) {
    worker *w = argument;
    task *t = w->t;
    library_choice other = t->library;
    other.level = t->against;
    subject *one = subject_open(0, t->f, t->wide, &t->library),
            *two = subject_open(0, t->f, t->wide, &other);
    uint64_t *second = calloc(CHUNK, sizeof *second);
    figures *s = &w->of[0];
    w->failed = !one || !two || !second;
    s->measured = true;
    for (uint64_t chunk; !w->failed && (chunk = atomic_fetch_add(&t->next, 1)) < t->chunks;) {
        fill(t, chunk, w);
        w->failed = !subject_run(one, w->x, w->y, w->got, CHUNK) ||
                    !subject_run(two, w->x, w->y, second, CHUNK);
        if (memcmp(w->got, second, CHUNK * (t->wide ? 8 : 4)) == 0) continue;
        for (size_t i = 0; i < CHUNK && !w->failed; i++) {
            if (same_bits(element(w->got, t->wide, i), element(second, t->wide, i), t->wide))
                continue;
            if (!s->wrong++)
                s->wrong_x = element(w->x, t->wide, i),
                s->wrong_y = t->f->args == 2 ? element(w->y, t->wide, i) : 0;
        }
    }
    free(second);
    subject_close(one);
    subject_close(two);
    return NULL;
}

static void merge(figures *to, const figures *from) {
    if (from->worst > to->worst || !to->measured)
        to->worst = from->worst, to->x = from->x, to->y = from->y, to->got = from->got;
    if (from->wrong && !to->wrong) to->wrong_x = from->wrong_x, to->wrong_y = from->wrong_y;
    to->above += from->above;
    to->wrong += from->wrong;
    to->measured |= from->measured;
}

static void print(const task *t, int which, const figures *s, uint64_t decided, double off) {
    static const char *const FROM[] = {"all", "every", "random", "hard"};
    int digits = t->wide ? 16 : 8;
    if (t->against) {
        printf("%s.%s: level %s beside %s, %s %" PRIu64 " inputs: %" PRIu64 " differ\n", t->f->name,
               t->wide ? "f64" : "f32", t->library.level[0] ? t->library.level : "best", t->against,
               FROM[t->from], t->inputs, s->wrong);
        fflush(stdout);
        return;
    }
    printf("{\"function\": \"%s\", \"type\": \"%s\", \"subject\": \"%s\", \"inputs\": \"%s\", "
           "\"count\": %" PRIu64 ", \"ulp\": %.6f, \"x\": "
           "\"%0*" PRIx64 "\"",
           t->f->name, t->wide ? "f64" : "f32", subject_name(which), FROM[t->from], t->inputs,
           s->worst, digits, s->x);
    if (t->f->args == 2) printf(", \"y\": \"%0*" PRIx64 "\"", digits, s->y);
    printf(", \"result\": \"%0*" PRIx64 "\"", digits, s->got);
    if (which == 0) printf(", \"above\": %" PRIu64, s->above);
    printf(", \"wrong\": %" PRIu64, s->wrong);
    if (s->wrong) printf(", \"wrong_x\": \"%0*" PRIx64 "\"", digits, s->wrong_x);
    if (which == 0) printf(", \"by_mpfr\": %" PRIu64 ", \"filter_off\": %.3g", decided, off);
    printf("}\n");
    fflush(stdout);
}

/* One source of arguments over all subjects. */
static void measure(task *t, int threads) {
    worker **workers = calloc((size_t)threads, sizeof *workers);
    figures of[SUBJECTS] = {0};
    uint64_t decided = 0;
    double off = 0;
    bool failed = !workers, missed = false;
    atomic_store(&t->next, t->first);
    for (int i = 0; i < threads && !failed; i++) {
        workers[i] = calloc(1, sizeof **workers);
        failed = !workers[i];
        if (failed) break;
        workers[i]->t = t;
        if (pthread_create(&workers[i]->thread, NULL, t->against ? work_against : work,
                           workers[i]) != 0)
            failed = true;
    }
    for (int i = 0; i < threads && workers && workers[i]; i++) {
        pthread_join(workers[i]->thread, NULL);
        failed |= workers[i]->failed;
        missed |= workers[i]->planted_missed;
        decided += workers[i]->decided;
        off = fmax(off, workers[i]->filter_off);
        for (int k = 0; k < SUBJECTS; k++) merge(&of[k], &workers[i]->of[k]);
        free(workers[i]);
    }
    free(workers);
    CHECK_MESSAGE(!failed, "%s could not be measured", t->f->name);
    for (int k = 0; k < SUBJECTS; k++)
        if (of[k].measured) print(t, k, &of[k], decided, off);
    const char *type = t->wide ? "f64" : "f32";
    CHECK_MESSAGE(!missed, "%s: a result that was changed was not found", t->f->name);
    if (t->against) {
        CHECK_MESSAGE(of[0].wrong == 0,
                      "%s.%s: %" PRIu64 " results differ between CPU levels, first at %" PRIx64
                      " %" PRIx64,
                      t->f->name, type, of[0].wrong, of[0].wrong_x, of[0].wrong_y);
        return;
    }
    CHECK_MESSAGE(off <= FILTER_BUDGET(t->wide) / 2, "%s.%s: the filter is off by %.3g ULP",
                  t->f->name, type, off);
    CHECK_MESSAGE(of[0].above == 0 && of[0].worst <= t->f->bound[t->wide],
                  "%s.%s: %.6f ULP at %" PRIx64 ", %" PRIu64 " above %g", t->f->name, type,
                  of[0].worst, of[0].x, of[0].above, t->f->bound[t->wide]);
    CHECK_MESSAGE(of[0].wrong == 0, "%s.%s: %" PRIu64 " wrong special results, first at %" PRIx64,
                  t->f->name, type, of[0].wrong, of[0].wrong_x);
}

/* ---- the worst arguments known ---- */

typedef struct known {
    const function *f;
    bool wide;
    uint64_t x, y;
    int line;
} known;

static bool known_right(exact *e, const known *k, uint64_t got) {
    if (k->wide || k->f->bound[0] != 0.5)
        return exact_error(e, k->f, k->wide, k->x, k->y, got) <= k->f->bound[k->wide];
    uint64_t right = exact_nearest(e, k->f, (uint32_t)k->x, (uint32_t)k->y);
    return same_bits(right, got, false);
}

/* All lines of one function and type are one launch. */
static void check_known(const char *path, const known *all, size_t count,
                        const library_choice *library) {
    static uint64_t x[CHUNK], y[CHUNK], got[CHUNK];
    static size_t at[CHUNK];
    exact e;
    exact_begin(&e);
    for (int id = 0; id < FN_COUNT * 2; id++) {
        const function *f = &FUNCTIONS[id / 2];
        bool wide = id % 2;
        size_t n = 0;
        for (size_t i = 0; i < count && n < CHUNK; i++) {
            if (all[i].f != f || all[i].wide != wide) continue;
            if (wide)
                x[n] = all[i].x, y[n] = all[i].y;
            else
                ((uint32_t *)x)[n] = (uint32_t)all[i].x, ((uint32_t *)y)[n] = (uint32_t)all[i].y;
            at[n++] = i;
        }
        if (!n) continue;
        subject *s = subject_open(0, f, wide, library);
        bool ran = s && subject_run(s, x, y, got, CHUNK);
        CHECK_MESSAGE(ran, "%s: %s cannot be run", path, f->name);
        for (size_t i = 0; i < n && ran; i++) {
            const known *k = &all[at[i]];
            uint64_t result = element(got, wide, i);
            CHECK_MESSAGE(known_right(&e, k, result),
                          "%s:%d: %s.%s of %" PRIx64 " is %" PRIx64 ": %.6f ULP, bound %g", path,
                          k->line, f->name, wide ? "f64" : "f32", k->x, result,
                          exact_error(&e, f, wide, k->x, k->y, result), f->bound[wide]);
        }
        subject_close(s);
    }
    exact_end(&e);
}

static void check_worst(const char *path, const library_choice *library) {
    char line[256], name[32], type[8];
    FILE *file = fopen(path, "r");
    CHECK_MESSAGE(file != NULL, "%s cannot be read", path);
    known *all = calloc(CHUNK, sizeof *all);
    size_t count = 0;
    for (int number = 1; file && all && count < CHUNK && fgets(line, sizeof line, file); number++) {
        known k = {.line = number};
        int fields = sscanf(line, "%31s %7s %" SCNx64 " %" SCNx64, name, type, &k.x, &k.y);
        if (line[0] == '#' || fields < 3) continue;
        k.f = function_find(name);
        k.wide = strcmp(type, "f64") == 0;
        CHECK_MESSAGE(k.f != NULL, "%s:%d: no function %s", path, number, name);
        if (k.f) all[count++] = k;
    }
    if (all) check_known(path, all, count, library);
    free(all);
    if (file) fclose(file);
}

/* Of the task's chunks those of the part; inputs are counted again. */
static void take_part(task *t, const uint64_t *part) {
    t->first = t->chunks * part[0] / part[2];
    t->chunks = t->chunks * (part[1] + 1) / part[2];
    if (part[2] > 1) t->inputs = (t->chunks - t->first) * CHUNK;
}

/* "I/N" or "I-J/N" */
static bool read_part(const char *text, uint64_t *part) {
    if (sscanf(text, "%" SCNu64 "-%" SCNu64 "/%" SCNu64, &part[0], &part[1], &part[2]) != 3) {
        if (sscanf(text, "%" SCNu64 "/%" SCNu64, &part[0], &part[2]) != 2) part[2] = 0;
        part[1] = part[0];
    }
    bool good = part[0] <= part[1] && part[1] < part[2];
    if (!good)
        fprintf(stderr, "part %s, expected I/N or I-J/N\n", text), part[0] = part[1] = 0,
                                                                   part[2] = 1;
    return good;
}

/* A number from `least` to `most` in decimal digits; ends the program if it is none. */
static uint64_t read_number(const char *option, const char *text, uint64_t least, uint64_t most) {
    char *end = NULL;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && n >= least && n <= most) return n;
    fprintf(stderr, "%s \"%s\", expected a number from %" PRIu64 " to %" PRIu64 "\n", option, text,
            least, most);
    exit(2);
}

int main(int argc, char **argv) {
    task t = {.library = {"cpu", "", "", "off", NULL}};
    uint64_t random = 0, hard = 0, seed = 1, part[3] = {0, 0, 1};
    const char *worst = NULL;
    bool all = false, nearest = false, halves = false, without[FN_COUNT] = {false};
    int threads = 2;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--all") == 0)
            all = true;
        else if (strcmp(argv[i], "--part") == 0)
            i += read_part(value, part);
        else if (strcmp(argv[i], "--nearest") == 0)
            nearest = true;
        else if (strcmp(argv[i], "--without") == 0 && function_find(value))
            without[function_find(value)->id] = true, i++;
        else if (strcmp(argv[i], "--halves") == 0)
            halves = true;
        else if (strcmp(argv[i], "--near") == 0)
            t.near = fopen(value, "a"), i++;
        else if (strcmp(argv[i], "--peers") == 0)
            t.peers = true;
        else if (strcmp(argv[i], "--random") == 0)
            random = read_number(argv[i], value, 1, UINT64_C(1) << 48), i++;
        else if (strcmp(argv[i], "--every") == 0)
            t.every = read_number(argv[i], value, 1, UINT64_C(1) << 32), i++;
        else if (strcmp(argv[i], "--hard") == 0)
            hard = read_number(argv[i], value, 1, UINT64_C(1) << 32), i++;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = read_number(argv[i], value, 0, UINT64_MAX), i++;
        else if (strcmp(argv[i], "--threads") == 0)
            threads = (int)read_number(argv[i], value, 1, 1024), i++;
        else if (strcmp(argv[i], "--backend") == 0)
            t.library.backend = value, i++;
        else if (strcmp(argv[i], "--pretend") == 0)
            t.library.pretend = value, i++;
        else if (strcmp(argv[i], "--level") == 0)
            t.library.level = value, i++;
        else if (strcmp(argv[i], "--jit") == 0)
            t.library.jit = value, i++;
        else if (strcmp(argv[i], "--against") == 0)
            t.against = value, i++;
        else if (strcmp(argv[i], "--worst") == 0)
            worst = value, i++;
        else if (argv[i][0] == '-' || t.wide)
            return fprintf(stderr, "unknown argument %s\n", argv[i]), 2;
        else if (!t.f && !(t.f = function_find(argv[i])))
            return fprintf(stderr, "unknown function %s\n", argv[i]), 2;
        else
            t.wide = strcmp(argv[i], "f64") == 0;
    }
    for (int i = 0; i < FN_COUNT && nearest; i++) {
        task slice = t;
        slice.f = &FUNCTIONS[i];
        slice.from = slice.f->args == 1 ? SOURCE_EVERY : SOURCE_RANDOM;
        if (!t.every) slice.every = 65521;
        slice.inputs = t.every ? (UINT64_C(1) << 32) / t.every : CHUNK;
        slice.chunks = (slice.inputs + CHUNK - 1) / CHUNK;
        if (without[i] || !is_nearest(&slice) || (t.f && t.f != slice.f)) continue;
        measure(&slice, t.every ? threads : 1);
    }
    if (halves) check_halves(t.f, &t.library, all, part);
    if (worst) check_worst(worst, &t.library);
    if (t.f && (all || t.every) && !nearest && !t.wide && t.f->args == 1) {
        t.from = t.every ? SOURCE_EVERY : SOURCE_ALL;
        if (!t.every) t.every = 1;
        t.inputs = (UINT64_C(1) << 32) / t.every;
        t.chunks = (t.inputs + CHUNK - 1) / CHUNK;
        if (all && t.f->odd && !t.against) t.chunks /= 2;
        take_part(&t, part);
        measure(&t, threads);
    }
    if (t.f && random) {
        t.from = SOURCE_RANDOM;
        t.chunks = (random + CHUNK - 1) / CHUNK;
        t.inputs = t.chunks * CHUNK;
        take_part(&t, part);
        measure(&t, threads);
        t.first = 0;
    }
    if (t.f && hard && t.wide && t.f->args == 1) {
        uint64_t *list = calloc(hard, sizeof *list);
        t.from = SOURCE_HARD;
        t.hard = list;
        t.inputs = list ? hard_inputs(t.f, list, (size_t)hard, seed) : 0;
        t.chunks = (t.inputs + CHUNK - 1) / CHUNK;
        if (t.inputs) measure(&t, threads);
        free(list);
    }
    if (t.near) fclose(t.near);
    if (strcmp(t.library.jit, "on") == 0) native_told(true);
    return test_done();
}

/* The differential driver: random programs on the reference and on the library must give the same
 * bits or the same fault.
 *
 *     differential [--count N] [--seed N] [--backend B[:DEVICE]] [--level L] [--pretend poor]
 * [--short | --tiny] [--rounds] [--places] [--print] [--reference-only]
 *                  [--if-available] [--vectors BYTES:LANES:COMPILER] [--build COMPILER]
 *
 * --rounds: all programs have many rounds of loops.
 *
 * A device that says that it runs only so many rounds of loops (`loops<=N`) may refuse a program
 * for that; how often it did is printed. Any other refusal fails.
 *
 * --places: programs reach memory by lanes' numbers and by what they loaded before, and much lives
 * at a time, as in tests/native.
 *
 * --vectors: kernels that have a vector form run as C that this compiler ("gcc -O1") makes code of,
 * for native vectors of so many bytes and turns of so many lanes.
 *
 * --build: programs run as the C text that `hologram build` writes of them, twenty in one text, at
 * every level of the machine, whole and in three parts, by what this compiler ("gcc -O1") makes of
 * it. How many programs C has not all that they need for is printed.
 *
 * --record FILE: what the reference gives, for machines that cannot run it (reference/record.h).
 *
 * --level best: the machine's. Without --level and --pretend every CPU level of this machine and
 * poor mode are compared; the test suite runs it without arguments. */
/* test: labels=differential timeout=900 */
#include "generate.h"
#include "reduce.h"
#include "reference/record.h"
#include "support/c_build.h"
#include "support/c_vectors.h"
#include "support/shim_driver.h"
#include "test.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICE = 2000, MAX_TARGETS = 8, MAX_FAILURES = 20, REDUCTION_RUNS = 3000, MOST_UNIT = 20 };

typedef struct target {
    library *library;
    const char *level, *pretend;
} target;

/* A program that is to be run as C text, and what comes out of it. */
typedef struct waiting {
    uint64_t seed;
    hg_program *program;
    run_case given, expected;
    run_result result;
} waiting;

typedef struct options {
    uint64_t count, seed;
    const char *backend, *level, *pretend, *vectors, *build;
    bool one, is_short, is_tiny, print, reference_only, rounds, places, if_available;
    waiting unit[MOST_UNIT]; /* programs of the text that is compiled next */
    uint32_t unit_count;
    uint64_t built, not_built, units;
    FILE *record; /* not NULL: cases go here and nothing else runs */
    uint64_t refusals, compared;
    target targets[MAX_TARGETS];
    int target_count;
} options;

static char crash_line[256];

/* A crash must name its seed as well. */
static void crashed(int number) {
    size_t length = strlen(crash_line);
    if (write(STDERR_FILENO, crash_line, length) < 0) _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

/* Every tenth seed faults, every fiftieth is long and wide, every fiftieth has races, every
 * fiftieth has many rounds. */
static uint32_t flags_of(const options *o, uint64_t seed) {
    return (o->is_short ? (uint32_t)GENERATE_SHORT : 0) |
           (o->is_tiny ? (uint32_t)GENERATE_TINY : 0) |
           (seed % 10 == 9 ? (uint32_t)GENERATE_FAULTS : 0) |
           (seed % 50 == 7 && !o->is_short ? (uint32_t)GENERATE_DEEP : 0) |
           (seed % 50 == 23 ? (uint32_t)GENERATE_RACY : 0) |
           (seed % 50 == 37 || o->rounds ? (uint32_t)GENERATE_ROUNDS : 0) |
           (o->places ? (uint32_t)GENERATE_VECTOR : 0);
}

static void reproduce(const options *o, const target *t, uint64_t seed, char *text,
                      size_t capacity) {
    int n = snprintf(text, capacity, "differential --seed %" PRIu64 " --backend %s", seed,
                     o->backend);
    if (o->is_short && n > 0)
        n += snprintf(text + n, capacity - (size_t)n, o->is_tiny ? " --tiny" : " --short");
    if (o->rounds && n > 0) n += snprintf(text + n, capacity - (size_t)n, " --rounds");
    if (o->places && n > 0) n += snprintf(text + n, capacity - (size_t)n, " --places");
    if (o->build && n > 0)
        n += snprintf(text + n, capacity - (size_t)n, " --build '%.40s'", o->build);
    if (t && t->level[0] && n > 0)
        n += snprintf(text + n, capacity - (size_t)n, " --level %s", t->level);
    if (t && t->pretend[0] && n > 0)
        snprintf(text + n, capacity - (size_t)n, " --pretend %s", t->pretend);
}

static void name_crash(const options *o, uint64_t seed) {
    char command[160];
    reproduce(o, NULL, seed, command, sizeof command);
    snprintf(crash_line, sizeof crash_line, "%s: crashed\n", command);
}

static void fail(const options *o, const target *t, uint64_t seed, run_case *c, const char *first) {
    char reason[640] = "", command[160], path[64] = "";
    reproduce(o, t, seed, command, sizeof command);
    int kind = case_fails(t->library, c, 0, reason);
    if (kind) {
        reduce_case(t->library, c, kind, REDUCTION_RUNS, reason);
        snprintf(path, sizeof path, "differential-%" PRIu64 ".atlas", seed);
        FILE *file = fopen(path, "w");
        if (file) fwrite(c->text, 1, c->length, file), fclose(file);
    } else {
        snprintf(reason, sizeof reason, "differs from run to run; the first time: %s", first);
    }
    test_failed++;
    fprintf(stderr, "%s: %s%s%s\n", command, reason, path[0] ? "; reduced to " : "", path);
}

static void refused(const options *o, uint64_t seed, const char *what, const char *why) {
    char command[160];
    reproduce(o, NULL, seed, command, sizeof command);
    test_failed++;
    fprintf(stderr, "%s --print: %s: %s\n", command, what, why);
}

/* A generated program has no race: lanes in falling order give the same. */
static void check_order(const options *o, uint64_t seed, const run_case *c,
                        const hg_program *program, const run_case *expected, const run_result *er) {
    run_case backwards = {0};
    run_result br;
    char reason[512];
    if (!case_copy(&backwards, c)) return;
    backwards.launch.backwards = true;
    case_run_reference(program, &backwards, &br);
    if (case_same(expected, er, &backwards, &br, reason))
        test_passed++;
    else
        refused(o, seed, "depends on the order of lanes", reason);
    case_free(&backwards);
}

static const char ROUNDS[] = " rounds of loops";

/* Whether the device may refuse it so, which is counted. */
static bool may_refuse(options *o, const target *t, const run_result *r) {
    bool may = r->outcome == RUN_FAULT && memcmp(r->code, "F12", 3) == 0 &&
               strstr(r->message, ROUNDS) && library_limits_rounds(t->library);
    o->refusals += may;
    return may;
}

/* ---- as C text ---- */

static void compare_level(options *o, c_build *b, uint32_t n, const char *level, uint32_t parts) {
    const waiting *w = &o->unit[n];
    run_case actual = {0};
    run_result ar;
    char reason[512], what[64];
    if (!case_copy(&actual, &w->given)) return;
    c_build_run(b, n, level, parts, &actual, &ar);
    snprintf(what, sizeof what, "as C text, %s, %u parts", level, (unsigned)parts);
    if (case_same(&w->expected, &w->result, &actual, &ar, reason))
        test_passed++;
    else
        refused(o, w->seed, what, reason);
    case_free(&actual);
}

static void run_unit(options *o, c_build *b) {
    const char *level;
    for (uint32_t n = 0; n < o->unit_count; n++) {
        name_crash(o, o->unit[n].seed);
        for (uint32_t i = 0; (level = c_build_level(b, i)) != NULL; i++) {
            compare_level(o, b, n, level, 1);
            if (c_build_has_parts(b, n)) compare_level(o, b, n, level, 3);
        }
    }
    c_build_free(b);
}

/* Those that wait, as one text; which of them the compiler refuses is asked one by one. */
static void end_unit(options *o) {
    const hg_program *programs[MOST_UNIT];
    for (uint32_t i = 0; i < o->unit_count; i++) programs[i] = o->unit[i].program;
    c_build *b = o->unit_count ? c_build_make(programs, o->unit_count) : NULL;
    if (b) {
        o->units++;
        run_unit(o, b);
    } else if (o->unit_count) {
        refused(o, o->unit[0].seed, "as C text", "the compiler refuses it, or those behind it");
        for (uint32_t i = 0; i < o->unit_count && o->unit_count > 1; i++) {
            c_build *one = c_build_make(&programs[i], 1);
            if (!one) refused(o, o->unit[i].seed, "as C text", "the compiler refuses it");
            c_build_free(one);
        }
    }
    for (uint32_t i = 0; i < o->unit_count; i++) {
        hg_program_release(o->unit[i].program);
        case_free(&o->unit[i].given);
        case_free(&o->unit[i].expected);
    }
    o->unit_count = 0;
}

/* Waits until a unit is full. */
static void compare_built(options *o, uint64_t seed, hg_program *program, const run_case *c,
                          const run_case *expected, const run_result *er) {
    bool failed = false, can = !c->launch.max_steps && c_build_can(program, &failed);
    waiting *w = &o->unit[o->unit_count];
    if (failed) refused(o, seed, "as C text", "no text could be written");
    if (!can && o->print) fprintf(stderr, "not built: %s\n", hg_last_error_text());
    *(can ? &o->built : &o->not_built) += 1;
    *w = (waiting){.seed = seed, .program = program, .result = *er};
    if (!can || !case_copy(&w->given, c)) return;
    if (!case_copy(&w->expected, expected)) {
        case_free(&w->given);
        return;
    }
    hg_program_retain(program);
    if (++o->unit_count == MOST_UNIT) end_unit(o);
}

static void record(options *o, uint64_t seed, const run_case *c, const run_case *expected,
                   const run_result *er) {
    char command[160];
    if (flags_of(o, seed) & GENERATE_RACY) return; /* it has no one result */
    reproduce(o, NULL, seed, command, sizeof command);
    record_run(o->record, command, c, expected, er);
    test_passed++;
}

/* The reference once, then every target. */
static void compare(options *o, uint64_t seed, run_case *c, hg_program *program) {
    run_case expected = {0};
    run_result er, ar;
    if (!case_copy(&expected, c)) return;
    case_run_reference(program, &expected, &er);
    bool should_fault = (flags_of(o, seed) & GENERATE_FAULTS) != 0;
    if (er.outcome == RUN_ERROR || (er.outcome == RUN_FAULT && !should_fault))
        refused(o, seed, "reference", er.message);
    else if (o->reference_only)
        check_order(o, seed, c, program, &expected, &er);
    else if (o->record)
        record(o, seed, c, &expected, &er);
    else if (o->build)
        compare_built(o, seed, program, c, &expected, &er);
    for (int i = 0; i < o->target_count && er.outcome != RUN_ERROR; i++) {
        run_case actual = {0};
        char reason[512];
        if (!case_copy(&actual, c)) break;
        library_run(o->targets[i].library, program, &actual, &ar);
        bool refusal = may_refuse(o, &o->targets[i], &ar);
        o->compared += !refusal;
        if (refusal || case_same(&expected, &er, &actual, &ar, reason))
            test_passed++;
        else
            fail(o, &o->targets[i], seed, c, reason);
        case_free(&actual);
    }
    case_free(&expected);
}

static void run_seed(options *o, uint64_t seed) {
    run_case c;
    hg_program *program = NULL;
    name_crash(o, seed);
    if (!generate_case(seed, flags_of(o, seed), &c)) return;
    if (o->print) fwrite(c.text, 1, c.length, stderr);
    if (hg_program_assemble(c.text, c.length, NULL, &program) != HG_OK) {
        refused(o, seed, "assemble", hg_last_error_text());
    } else if (hg_program_verify(program, NULL) != HG_OK) {
        refused(o, seed, "verify", hg_last_error_text());
    } else {
        compare(o, seed, &c, program);
    }
    hg_program_release(program);
    case_free(&c);
}

static void add_target(options *o, const char *level, const char *pretend, bool required) {
    char reason[256];
    shim_driver_bring(o->backend);
    library *l = library_open(o->backend, level, pretend, reason);
    if (l)
        o->targets[o->target_count++] = (target){l, level, pretend};
    else if (required)
        test_failed++, fprintf(stderr, "%s %s %s: %s\n", o->backend, level, pretend, reason);
}

static bool parse(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--print") == 0)
            o->print = true;
        else if (strcmp(argv[i], "--short") == 0)
            o->is_short = true;
        else if (strcmp(argv[i], "--tiny") == 0)
            o->is_short = o->is_tiny = true;
        else if (strcmp(argv[i], "--rounds") == 0)
            o->rounds = true;
        else if (strcmp(argv[i], "--places") == 0)
            o->places = true;
        else if (strcmp(argv[i], "--reference-only") == 0)
            o->reference_only = true;
        else if (strcmp(argv[i], "--count") == 0)
            o->count = strtoull(value, NULL, 0), i++;
        else if (strcmp(argv[i], "--record") == 0)
            o->record = record_open(value), i++;
        else if (strcmp(argv[i], "--seed") == 0)
            o->seed = strtoull(value, NULL, 0), o->one = true, i++;
        else if (strcmp(argv[i], "--backend") == 0)
            o->backend = value, i++;
        else if (strcmp(argv[i], "--level") == 0)
            o->level = strcmp(value, "best") == 0 ? "" : value, i++;
        else if (strcmp(argv[i], "--vectors") == 0)
            o->vectors = value, i++;
        else if (strcmp(argv[i], "--build") == 0)
            o->build = value, i++;
        else if (strcmp(argv[i], "--if-available") == 0)
            o->if_available = true;
        else if (strcmp(argv[i], "--pretend") == 0)
            o->pretend = value, i++;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), false;
    }
    if (!o->count) o->count = o->one ? 1 : SLICE;
    return true;
}

int main(int argc, char **argv) {
    static options o = {.seed = 1, .backend = "cpu"};
    char reason[256];
    if (!parse(&o, argc, argv)) return 2;
    if (o.vectors && !c_vectors_use(o.vectors, reason)) {
        SKIP(reason);
        return test_done();
    }
    if (o.build && !c_build_use(o.build, reason)) {
        SKIP(reason);
        return test_done();
    }
    signal(SIGSEGV, crashed);
    signal(SIGFPE, crashed);
    signal(SIGILL, crashed);
    if (!o.reference_only && !o.build && !o.record) {
        if (o.level || o.pretend || o.vectors || strcmp(o.backend, "cpu") != 0) {
            add_target(&o, o.level ? o.level : "", o.pretend ? o.pretend : "", !o.if_available);
            if (!o.target_count && o.if_available) {
                SKIP("this machine does not have the level");
                return test_done();
            }
        } else {
            add_target(&o, "baseline", "", true);
            add_target(&o, "v3", "", false);
            add_target(&o, "v4", "", false);
            add_target(&o, "", "poor", true);
            add_target(&o, "", "expand", true);
        }
    }
    for (uint64_t i = 0; i < o.count && test_failed < MAX_FAILURES; i++) run_seed(&o, o.seed + i);
    if (o.vectors) test_failed += c_vectors_end();
    if (o.record && !record_close(o.record)) test_failed++;
    end_unit(&o);
    if (o.build)
        printf("built: %" PRIu64 " programs in %" PRIu64 " texts, not built: %" PRIu64 "\n",
               o.built, o.units, o.not_built);
    if (o.refusals)
        printf("refused: %" PRIu64 " runs, \"%s\"; compared: %" PRIu64 "\n", o.refusals, ROUNDS,
               o.compared);
    for (int i = 0; i < o.target_count; i++) library_close(o.targets[i].library);
    return test_done();
}

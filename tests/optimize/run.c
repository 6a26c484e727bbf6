/* Random programs before and after the optimiser: the same results, or the same fault at the same
 * instruction of the source in the same lane.
 *
 *     optimize_random [--count N] [--seed N] [--passes LIST] [--print]
 *
 * The programs are those of tests/differential. Every pass runs alone, all run in their own order,
 * and some run in an order that the seed chooses; --passes names one list instead. The optimised
 * program must verify, print and read back as the same program, and be what the optimiser leaves as
 * it is. Both run on the CPU, and the optimised one on the reference too. The test suite runs a
 * slice; the long form is `optimize_random --count 100000`. */
/* test: labels=differential timeout=300 */
#include "differential/generate.h"
#include "support/library.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdlib.h>

enum { SLICE = 140, MOST_FAILURES = 20, LISTS = 8, LIST_BYTES = 128 };

typedef struct options {
    uint64_t count, seed;
    const char *passes;
    bool print;
    library *library;
    uint64_t changed, lists; /* programs that came out as others */
} options;

static void differs(const options *o, uint64_t seed, const char *passes, const char *why) {
    (void)o;
    test_failed++;
    fprintf(stderr, "optimize_random --seed %" PRIu64 " --passes %s: %s\n", seed, passes, why);
}

/* Every seed has its flags, as in the differential. */
static uint32_t flags_of(uint64_t seed) {
    return (seed % 10 == 9 ? (uint32_t)GENERATE_FAULTS : 0) |
           (seed % 50 == 7 ? (uint32_t)GENERATE_DEEP : 0) |
           (seed % 50 == 37 ? (uint32_t)GENERATE_ROUNDS : 0);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Each pass alone, all, and two orders of the seed's. */
static int make_lists(uint64_t seed, char lists[LISTS][LIST_BYTES]) {
    int count = 0, passes = 0;
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (; hg_optimizer_pass_get((size_t)passes); passes++)
        snprintf(lists[count++], LIST_BYTES, "%s", hg_optimizer_pass_get((size_t)passes)->name);
    snprintf(lists[count++], LIST_BYTES, "all");
    for (int k = 0; k < 2; k++) {
        size_t used = 0;
        for (int i = 0; i < 5; i++) {
            const char *name =
                hg_optimizer_pass_get((size_t)(next_random(&state) % (uint64_t)passes))->name;
            used += (size_t)snprintf(lists[count] + used, LIST_BYTES - used, "%s%s", i ? "," : "",
                                     name);
        }
        count++;
    }
    return count;
}

/* The instruction of the source that a fault is of. */
static void to_source(const hg_program *program, run_result *r) {
    if (r->outcome == RUN_FAULT)
        r->instruction = hg_program_source_instruction(program, r->instruction);
}

/* What the optimiser gives stands by itself: it verifies, and its text is a program of the same
 * code. */
static void check_form(const options *o, uint64_t seed, const char *passes,
                       const hg_program *program) {
    char *text = NULL;
    size_t length = 0;
    hg_program *again = NULL;
    if (hg_program_verify(program, NULL) != HG_OK) {
        differs(o, seed, passes, hg_last_error_text());
    } else if (hg_program_print(program, &text, &length) != HG_OK ||
               hg_program_assemble(text, length, NULL, &again) != HG_OK ||
               memcmp(hg_program_hash(again), hg_program_hash(program), 32) != 0) {
        differs(o, seed, passes, "its text is another program");
    } else {
        test_passed++;
    }
    hg_program_release(again);
    hg_string_free(text);
}

static void compare(const options *o, uint64_t seed, const char *passes, const run_case *c,
                    const hg_program *program, const run_case *expected, const run_result *er,
                    bool reference) {
    run_case actual = {0};
    run_result ar;
    char reason[512];
    if (!case_copy(&actual, c)) return;
    if (reference)
        case_run_reference(program, &actual, &ar);
    else
        library_run(o->library, program, &actual, &ar);
    to_source(program, &ar);
    if (case_same(expected, er, &actual, &ar, reason))
        test_passed++;
    else
        differs(o, seed, passes, reason);
    case_free(&actual);
}

static void run_list(options *o, uint64_t seed, const char *passes, const run_case *c,
                     const hg_program *source, const run_case *expected, const run_result *er) {
    const hg_optimize_options how = {.size = sizeof how, .passes = passes};
    hg_optimize_stats stats = {.size = sizeof stats};
    hg_program *program = NULL;
    if (hg_program_optimize(source, &how, &stats, &program) != HG_OK) {
        differs(o, seed, passes, hg_last_error_text());
        return;
    }
    for (size_t i = 0; hg_optimizer_pass_get(i); i++)
        if (stats.passes[i].refused)
            differs(o, seed, passes, "a pass made a program that does not verify");
    o->lists++;
    if (program != source) {
        o->changed++;
        check_form(o, seed, passes, program);
        compare(o, seed, passes, c, program, expected, er, false);
        if (strcmp(passes, "all") == 0) compare(o, seed, passes, c, program, expected, er, true);
    }
    if (o->print) {
        char *text = NULL;
        if (hg_program_print(program, &text, NULL) == HG_OK)
            fprintf(stderr, "; %s\n%s\n", passes, text);
        hg_string_free(text);
    }
    hg_program_release(program);
}

static void run_seed(options *o, uint64_t seed) {
    run_case c, expected = {0};
    run_result er;
    hg_program *program = NULL;
    char lists[LISTS][LIST_BYTES];
    if (!generate_case(seed, flags_of(seed), &c)) return;
    if (o->print) fwrite(c.text, 1, c.length, stderr);
    if (hg_program_assemble(c.text, c.length, NULL, &program) != HG_OK ||
        !case_copy(&expected, &c)) {
        differs(o, seed, "all", hg_last_error_text());
    } else {
        library_run(o->library, program, &expected, &er);
        int count = make_lists(seed, lists);
        if (o->passes) run_list(o, seed, o->passes, &c, program, &expected, &er);
        for (int i = 0; i < count && !o->passes; i++)
            run_list(o, seed, lists[i], &c, program, &expected, &er);
        case_free(&expected);
    }
    hg_program_release(program);
    case_free(&c);
}

static bool parse(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--print") == 0)
            o->print = true;
        else if (strcmp(argv[i], "--count") == 0)
            o->count = strtoull(value, NULL, 0), i++;
        else if (strcmp(argv[i], "--seed") == 0)
            o->seed = strtoull(value, NULL, 0), o->count = o->count == SLICE ? 1 : o->count, i++;
        else if (strcmp(argv[i], "--passes") == 0)
            o->passes = value, i++;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), false;
    }
    return true;
}

int main(int argc, char **argv) {
    options o = {.count = SLICE, .seed = 1};
    char reason[256];
    if (!parse(&o, argc, argv)) return 2;
    o.library = library_open("cpu", "", "", reason);
    if (!o.library) return fprintf(stderr, "%s\n", reason), 1;
    for (uint64_t i = 0; i < o.count && test_failed < MOST_FAILURES; i++) run_seed(&o, o.seed + i);
    printf("changed: %" PRIu64 " of %" PRIu64 "\n", o.changed, o.lists);
    library_close(o.library);
    return test_done();
}

/* Random programs as native code against the interpreter, at every CPU level of the machine: the
 * same bits, or the same fault, its text and place included.
 *
 *     native_random [--count N] [--seed N] [--level L] [--passes] [--form] [--print]
 *
 * The programs are those of tests/differential with what compilers of the vector form tell apart
 * (generate_vector.c). Half of the kernels are in the form as the pipeline makes it; a quarter have
 * been through one of its passes alone, a quarter through passes in a random order, some of them
 * again; --passes: none is as the pipeline makes it. The compiler takes nearly all of the time
 * (8 ms for a kernel of one store, 60 more for a hundred lines), so nearly all programs are tiny.
 *
 * A program that differs is made small, and a line says how to run it again. --level: baseline, v3
 * or v4 alone. --form: nothing runs, programs are only put in vector form, whose rules are checked
 * (some 300 a second): the slice of the test suite does that with more of them. The test suite runs
 * a slice; the long form is `native_random --seed 1000 --count 100000`. */
/* test: labels=differential timeout=600 */
#include "native/compilers.h"
#include "differential/generate.h"
#include "differential/reduce.h"
#include "support/library.h"
#include "test.h"
#include "tile/tile.h"
#include "vector/vector.h"
#include <hologram/hologram.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICE = 200, FORMS = 400, MOST_FAILURES = 20, REDUCTION_RUNS = 1500, REASONS = 64 };

static const char *const LEVELS[] = {"baseline", "v3", "v4"};

typedef struct options {
    uint64_t count, seed;
    const char *level;
    bool print, form, slice;
    library *interpreter, *native[TILE_LEVEL_COUNT];
    uint64_t programs, faulted, forms;
} options;

/* ---- the compiler, counted ---- */

static const native_compiler *llvm;
static atomic_uint_least64_t compiled, refused, one_pass, random_order;
static char first_reason[256];
static uint64_t current_seed;
static bool never_as_is;

static uint64_t next(uint64_t state) { return state * 6364136223846793005u + 1442695040888963407u; }

/* The kernel again, after other passes, or after these in another order: as the seed, the kernel
 * and the level choose. *made: NULL, it is taken as it is. */
static hg_status form_again(const vec_kernel *kernel, const hg_jit_options *o, vec_kernel **made) {
    uint64_t state = current_seed * 1024 + o->bytes;
    *made = NULL;
    for (const char *c = kernel->module->name; *c; c++) state = next(state ^ (uint8_t)*c);
    uint32_t kind = (state >> 33) & 3, count = 1 + (uint32_t)(state >> 40) % (2 * VEC_PASS_COUNT);
    if (kind >= 2 && !never_as_is) return HG_OK;
    const vec_options plain = {.lanes = kernel->lanes, .blocks = kernel->blocks, .plain = true};
    hg_status status = vec_form(kernel->module, &plain, made);
    if (kind % 2) count = 1;
    for (; count && status == HG_OK; count--, state = next(state)) {
        status = vec_pass_run(*made, (vec_pass_id)((state >> 45) % VEC_PASS_COUNT));
        if (status == HG_OK) status = vec_verify(*made);
    }
    if (kind % 2)
        one_pass++;
    else
        random_order++;
    return status;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *o, const hg_patience *patience,
                         hg_jit_object *object, char reason[256]) {
    (void)patience; /* a busy machine is no reason to give up */
    vec_kernel *again;
    hg_status status = form_again(kernel, o, &again);
    if (status == HG_OK)
        status = llvm->compile(again ? again : kernel, o, NULL, object, reason);
    else
        snprintf(reason, 256, "formed again: %.200s", hg_last_error_text());
    vec_kernel_destroy(again);
    if (status == HG_OK) {
        compiled++;
    } else {
        if (refused++ == 0) snprintf(first_reason, sizeof first_reason, "%s", reason);
    }
    if (status != HG_OK && status != HG_ERROR_ISA) {
        test_failed++;
        fprintf(stderr, "kernel '%s': %s\n", kernel->module->name, reason);
    }
    if (status == HG_OK && object->frame == 0)
        test_failed++,
            fprintf(stderr, "kernel '%s': its frame is not known\n", kernel->module->name);
    return status;
}

static bool use_compiler(char reason[256]) {
    static native_compiler use;
    llvm = native_choose();
    if (!llvm || !llvm->open(reason)) return false;
    use = *llvm;
    use.compile = compile;
    use.identity = NULL;
    use.at_once = true;
    native_compiler_in_use = &use;
    return true;
}

/* ---- one program ---- */

static char crash_line[256];

/* A crash must name its seed as well. */
static void crashed(int number) {
    size_t length = strlen(crash_line);
    if (write(STDERR_FILENO, crash_line, length) < 0) _exit(3);
    signal(number, SIG_DFL);
    raise(number);
}

/* Every tenth seed faults, every fiftieth has many rounds. Those that run are tiny, half of them
 * without what is for the vector form; of every two hundred six are short, as long as they come, or
 * long and wide. Of those that are only put in vector form most are small, every fifth is not. */
static uint32_t flags_of(uint64_t seed, bool form_only) {
    enum { TINY = GENERATE_SHORT | GENERATE_TINY, VECTOR = GENERATE_VECTOR };
    static const uint32_t large[12] = {[1] = GENERATE_SHORT | VECTOR,
                                       [3] = GENERATE_SHORT | VECTOR, /* many values live */
                                       [5] = VECTOR,
                                       [6] = GENERATE_SHORT | VECTOR,
                                       [7] = GENERATE_DEEP | VECTOR,
                                       [11] = GENERATE_SHORT | VECTOR}; /* a row of thousands */
    uint64_t at = seed % 200;
    uint32_t run = at < HG_COUNT_OF(large) && large[at] ? large[at]
                   : seed % 2                           ? TINY
                                                        : TINY | VECTOR,
             form = seed % 5 == 0    ? VECTOR
                    : seed % 5 == 1  ? GENERATE_SHORT | VECTOR
                    : seed % 50 == 7 ? GENERATE_DEEP | VECTOR
                                     : TINY | VECTOR;
    return (form_only ? form : run) | (seed % 10 == 9 ? (uint32_t)GENERATE_FAULTS : 0) |
           (seed % 50 == 37 ? (uint32_t)GENERATE_ROUNDS : 0);
}

/* What a fault says, all of it. */
static bool same_fault(const run_result *expected, const run_result *actual, char reason[512]) {
    if (expected->outcome != RUN_FAULT || actual->outcome != RUN_FAULT) return true;
    bool same = memcmp(expected->code, actual->code, 3) == 0 &&
                strcmp(expected->message, actual->message) == 0 && expected->step == actual->step &&
                expected->phase == actual->phase && expected->lane == actual->lane &&
                expected->instruction == actual->instruction &&
                expected->offset == actual->offset && expected->limit == actual->limit &&
                expected->operand == actual->operand;
    if (!same)
        snprintf(reason, 512,
                 "expected %s '%.150s' (lane %llu, instruction %llu, offset %llu, limit %llu), got "
                 "%s '%.150s' (%llu, %llu, %llu, %llu)",
                 expected->code, expected->message, (unsigned long long)expected->lane,
                 (unsigned long long)expected->instruction, (unsigned long long)expected->offset,
                 (unsigned long long)expected->limit, actual->code, actual->message,
                 (unsigned long long)actual->lane, (unsigned long long)actual->instruction,
                 (unsigned long long)actual->offset, (unsigned long long)actual->limit);
    return same;
}

static void fail(options *o, int level, uint64_t seed, run_case *c, const char *why) {
    char reason[640] = "", path[64] = "";
    int kind = case_fails(o->native[level], c, 0, reason);
    if (kind) { /* the reference, which is a third opinion, is with the interpreter */
        reduce_case(o->native[level], c, kind, REDUCTION_RUNS, reason);
        snprintf(path, sizeof path, "native-%" PRIu64 ".atlas", seed);
        FILE *file = fopen(path, "w");
        if (file) fwrite(c->text, 1, c->length, file), fclose(file);
    }
    test_failed++;
    fprintf(stderr, "native_random --seed %" PRIu64 " --level %s: %s%s%s\n", seed, LEVELS[level],
            why, path[0] ? "; reduced to " : "", path);
}

static void compare(options *o, uint64_t seed, run_case *c, const hg_program *program) {
    run_case expected = {0};
    run_result er, ar;
    if (!case_copy(&expected, c)) return;
    library_run(o->interpreter, program, &expected, &er);
    if (er.outcome == RUN_ERROR)
        test_failed++, fprintf(stderr, "native_random --seed %" PRIu64 ": %s\n", seed, er.message);
    o->faulted += er.outcome == RUN_FAULT;
    for (int level = 0; level < TILE_LEVEL_COUNT && er.outcome != RUN_ERROR; level++) {
        run_case actual = {0};
        char reason[512];
        if (!o->native[level] || !case_copy(&actual, c)) continue;
        library_run(o->native[level], program, &actual, &ar);
        if (case_same(&expected, &er, &actual, &ar, reason) && same_fault(&er, &ar, reason))
            test_passed++;
        else
            fail(o, level, seed, c, reason);
        case_free(&actual);
    }
    case_free(&expected);
}

static void form(options *o, uint64_t seed, const hg_program *program, bool form_only) {
    char *text = NULL;
    hg_status status = hg_program_emit(program, "vector", NULL, &text, NULL);
    o->forms += form_only;
    if (status == HG_OK) {
        test_passed++;
    } else {
        test_failed++;
        fprintf(stderr, "native_random --seed %" PRIu64 "%s: %s\n", seed,
                form_only ? " --form" : "", hg_last_error_text());
    }
    hg_string_free(text);
}

static void run_seed(options *o, uint64_t seed, bool form_only) {
    run_case c;
    hg_program *program = NULL;
    snprintf(crash_line, sizeof crash_line, "native_random --seed %" PRIu64 "%s: crashed\n", seed,
             form_only ? " --form" : "");
    current_seed = seed;
    if (!generate_case(seed, flags_of(seed, form_only), &c)) return;
    if (o->print) fwrite(c.text, 1, c.length, stderr);
    if (hg_program_assemble(c.text, c.length, NULL, &program) == HG_OK &&
        hg_program_verify(program, NULL) == HG_OK) {
        form(o, seed, program, form_only); /* else the interpreter would run it in both */
        if (!form_only) o->programs++, compare(o, seed, &c, program);
    } else {
        test_failed++;
        fprintf(stderr, "native_random --seed %" PRIu64 " --print: no valid program: %s\n", seed,
                hg_last_error_text());
    }
    hg_program_release(program);
    case_free(&c);
}

/* ---- the whole ---- */

static bool parse(options *o, int argc, char **argv) {
    bool one = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--print") == 0)
            o->print = true;
        else if (strcmp(argv[i], "--form") == 0)
            o->form = true;
        else if (strcmp(argv[i], "--passes") == 0)
            never_as_is = true;
        else if (strcmp(argv[i], "--count") == 0)
            o->count = strtoull(value, NULL, 0), i++;
        else if (strcmp(argv[i], "--seed") == 0)
            o->seed = strtoull(value, NULL, 0), one = true, i++;
        else if (strcmp(argv[i], "--level") == 0)
            o->level = value, i++;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), false;
    }
    o->slice = !o->count && !one && !o->form;
    if (!o->count) o->count = one ? 1 : o->form ? FORMS : SLICE;
    return true;
}

static bool open_all(options *o) {
    char reason[256];
    int levels = 0;
    setenv("HOLOGRAM_JIT", "off", 1);
    o->interpreter = library_open("cpu", "", "", reason);
    setenv("HOLOGRAM_JIT", "on", 1);
    for (int level = 0; level < TILE_LEVEL_COUNT && o->interpreter; level++) {
        if ((o->level && strcmp(o->level, LEVELS[level]) != 0) ||
            !tile_level_available((tile_level)level))
            continue;
        o->native[level] = library_open("cpu", LEVELS[level], "", reason);
        levels += o->native[level] != NULL;
    }
    if (levels == 0) test_failed++, fprintf(stderr, "no device with native code: %s\n", reason);
    return levels != 0;
}

int main(int argc, char **argv) {
    static options o = {.seed = 1};
    char reason[256];
    if (!parse(&o, argc, argv)) return 2;
    signal(SIGSEGV, crashed);
    signal(SIGFPE, crashed);
    signal(SIGILL, crashed);
    signal(SIGABRT, crashed);
    uint64_t forms = o.form ? o.count : o.slice ? FORMS : 0;
    for (uint64_t i = 0; i < forms && test_failed < MOST_FAILURES; i++)
        run_seed(&o, o.seed + i, true);
    if (forms) printf("%" PRIu64 " programs in vector form\n", o.forms);
    if (o.form) return test_done();
    if (!use_compiler(reason)) {
        SKIP(reason);
        return test_done();
    }
    if (open_all(&o))
        for (uint64_t i = 0; i < o.count && test_failed < MOST_FAILURES; i++)
            run_seed(&o, o.seed + i, false);
    library_close(o.interpreter);
    for (int level = 0; level < TILE_LEVEL_COUNT; level++) library_close(o.native[level]);
    printf("%" PRIu64 " programs, %" PRIu64 " of them faulted; kernels compiled: %" PRIu64
           ", %" PRIu64 " of them after one pass, %" PRIu64 " after passes in a random order; left "
           "to the interpreter: %" PRIu64 "%s%s\n",
           o.programs, o.faulted, (uint64_t)compiled, (uint64_t)one_pass, (uint64_t)random_order,
           (uint64_t)refused, refused ? ", the first as " : "", first_reason);
    return test_done();
}

/* The conformance program.
 *
 *     cts [--backend B[:DEVICE]] [--level L] [--pretend WORDS] [--row MNEMONIC] [--without
 * MNEMONIC] [--type T] [--case TEXT] [--quick] [--part I/N] [--widest BITS] [--as NAME] [--times]
 * [--record FILE]
 *         [--vectors BYTES:LANES:COMPILER] [--compile] [--texts TARGET
 * FOLDER] [--known]
 *
 * On cpu, without --level and --pretend, it runs on every CPU level of this machine and in poor
 * mode. --part runs every N-th case, from the I-th; --case those with TEXT in their name; --widest
 * leaves out wider types. --as names the device in expected.txt, the list of what a device can
 * never do and of what is known to fail; a listed failure that passes is a failure. With --record
 * it runs nothing and writes the cases with their expected results for tests/npm/replay.mjs.
 * --known: the rows on operands that compilers know, and nothing else (literals.c). --vectors: as
 * of the differential. With --compile it runs nothing either: NVRTC compiles the CUDA C of every
 * case for several architectures; --texts writes them into a folder, of any target of `hologram
 * emit`. */
/* test: labels=cts timeout=900 */
#include "cts.h"
#include "reference/record.h"
#include "support/c_vectors.h"
#include "support/shim_driver.h"
#include "test.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool cts_wanted(const cts *s, const char *row, hg_type type) {
    if (s->widest && oracle_size(type) * 8 > s->widest) return false;
    if (s->without && strcmp(s->without, row) == 0) return false;
    return (!s->only_row || strcmp(s->only_row, row) == 0) &&
           (!s->only_type || strcmp(s->only_type, hg_type_name(type)) == 0);
}

void cts_text(run_case *c, const char *format, ...) {
    enum { ROOM = 8192 };
    va_list arguments;
    c->text = malloc(ROOM);
    if (!c->text) return;
    va_start(arguments, format);
    c->length = (uint64_t)vsnprintf(c->text, ROOM, format, arguments);
    va_end(arguments);
}

void cts_fail(cts *s, const cts_target *t, const char *name, const char *reason) {
    test_failed++;
    if (test_failed > 50) return;
    fprintf(stderr, "cts --backend %s%s%s%s%s: %s: %s\n", s->backend,
            t && t->level[0] ? " --level " : "", t ? t->level : "",
            t && t->pretend[0] ? " --pretend " : "", t ? t->pretend : "", name, reason);
}

/* ---- expected.txt ---- */

enum { EXPECTED_LINES = 256 };
typedef struct expectation {
    char kind[16], device[32], name[96];
    bool used;
} expectation;
static expectation expected_list[EXPECTED_LINES];
static int expected_count;

static void load_expected(const char *path) {
    char line[512];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f) && expected_count < EXPECTED_LINES) {
        expectation *e = &expected_list[expected_count];
        if (line[0] != '#' &&
            sscanf(line, "%15s %31s \"%95[^\"]\"", e->kind, e->device, e->name) == 3)
            expected_count++;
    }
    if (f) fclose(f);
}

/* A name ending in * stands for all that begin so. */
static bool is_expected(const cts *s, const char *kind, const char *name) {
    for (int i = 0; i < expected_count && s->device; i++) {
        expectation *e = &expected_list[i];
        size_t length = strlen(e->name);
        bool prefix = length && e->name[length - 1] == '*';
        if (strcmp(e->kind, kind) != 0 || strcmp(e->device, s->device) != 0) continue;
        if (prefix ? strncmp(e->name, name, length - 1) == 0 : strcmp(e->name, name) == 0)
            return true;
    }
    return false;
}

bool cts_runs(const cts *s, const char *name) {
    return (!s->parts || s->numbered % s->parts == s->part) &&
           (!s->only_case || strstr(name, s->only_case));
}

/* Whether this case is this process's: one in s->parts, and not one that the device can never do.
 */
static bool is_ours(cts *s, const char *name) {
    bool runs = cts_runs(s, name);
    s->numbered++;
    if (!runs) return false;
    if (!is_expected(s, "unsupported", name)) return true;
    test_skipped++;
    return false;
}

static void settle(cts *s, const cts_target *t, const char *name, bool same, const char *reason) {
    bool failing = is_expected(s, "fails", name);
    if (same && failing)
        cts_fail(s, t, name, "passes, though expected.txt says that it fails: take the line out");
    else if (!same && failing)
        test_skipped++;
    else if (!same)
        cts_fail(s, t, name, reason);
    else
        test_passed++;
}

/* Runs a case; with --times says how long it took. */
static void run(const cts *s, const cts_target *t, const char *name, const hg_program *program,
                run_case *c, run_result *result) {
    struct timespec a, b;
    timespec_get(&a, TIME_UTC);
    library_run(t->library, program, c, result);
    timespec_get(&b, TIME_UTC);
    if (s->times)
        fprintf(stderr, "%8.1f ms %s\n",
                (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6, name);
}

/* Assembled and verified; the rows it uses count as covered. */
static hg_program *prepare(cts *s, const char *name, const run_case *c) {
    hg_program *program = NULL;
    hg_status status = c->text ? hg_program_assemble(c->text, c->length, NULL, &program)
                               : HG_ERROR_OUT_OF_MEMORY;
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    if (status != HG_OK) {
        cts_fail(s, NULL, name, hg_last_error_text());
        hg_program_release(program);
        return NULL;
    }
    for (uint32_t i = 0; i < program->inst_count; i++) s->covered[program->insts[i].op] = true;
    return program;
}

static void hex(char text[200], const uint8_t *bytes, uint32_t size) {
    int n = 0;
    for (uint32_t i = size; i-- > 0 && n < 190;) n += sprintf(text + n, "%02x", bytes[i]);
}

static void describe(const run_case *c, uint64_t i, const uint8_t *expected, const uint8_t *actual,
                     uint32_t size, char *reason, size_t room) {
    char text[200];
    int n = snprintf(reason, room, "element %llu:", (unsigned long long)i);
    for (uint32_t k = 1; k < c->array_count; k++) {
        uint32_t width = oracle_size(c->arrays[k].type);
        if ((i + 1) * width > c->arrays[k].size) continue;
        hex(text, c->arrays[k].bytes + i * width, width);
        n += snprintf(reason + n, room - (size_t)n, " %s=%s", c->arrays[k].name, text);
    }
    hex(text, expected, size);
    n += snprintf(reason + n, room - (size_t)n, ": expected %s", text);
    hex(text, actual, size);
    snprintf(reason + n, room - (size_t)n, ", got %s", text);
}

void cts_check(cts *s, const char *name, hg_type type, run_case *c, const uint8_t *expected,
               const uint32_t *tolerance) {
    hg_program *program = is_ours(s, name) ? prepare(s, name, c) : NULL;
    uint32_t size = oracle_size(type);
    uint64_t n = c->arrays[0].size / size;
    if (s->record && program) {
        s->recorded++;
        record_values(s->record, name, c, expected, tolerance);
    }
    if (s->compiles && program) cts_compile(s, name, program);
    for (int t = 0; t < s->target_count && program; t++) {
        run_case actual = {0};
        run_result result;
        char reason[2048] = "";
        bool same = true;
        if (!case_copy(&actual, c)) break;
        run(s, &s->targets[t], name, program, &actual, &result);
        if (result.outcome != RUN_OK) {
            snprintf(reason, sizeof reason, "%s", result.message);
            same = false;
        }
        for (uint64_t i = 0; i < n && same; i++) {
            uint32_t ulp = tolerance ? tolerance[i] : 0;
            s->values += ulp != ORACLE_UNCHECKED;
            same = oracle_agrees(type, ulp, expected + i * size, actual.arrays[0].bytes + i * size);
            if (same) continue;
            describe(c, i, expected + i * size, actual.arrays[0].bytes + i * size, size, reason,
                     sizeof reason);
        }
        settle(s, &s->targets[t], name, same, reason);
        case_free(&actual);
    }
    hg_program_release(program);
    case_free(c);
}

void cts_compare(cts *s, const char *name, run_case *c) {
    hg_program *program = is_ours(s, name) ? prepare(s, name, c) : NULL;
    run_case expected = {0};
    run_result er, ar;
    if (s->compiles && program) cts_compile(s, name, program);
    if (program && !s->compiles && case_copy(&expected, c)) {
        case_run_reference(program, &expected, &er);
        if (er.outcome == RUN_ERROR)
            cts_fail(s, NULL, name, er.message);
        else if (s->record) {
            s->recorded++;
            record_run(s->record, name, c, &expected, &er);
        }
        for (int t = 0; t < s->target_count && er.outcome != RUN_ERROR; t++) {
            run_case actual = {0};
            char reason[512];
            if (!case_copy(&actual, c)) break;
            run(s, &s->targets[t], name, program, &actual, &ar);
            bool same = case_same(&expected, &er, &actual, &ar, reason);
            settle(s, &s->targets[t], name, same, reason);
            for (uint32_t i = 0; i < c->array_count; i++)
                s->values += er.outcome == RUN_OK
                                 ? c->arrays[i].size / oracle_size(c->arrays[i].type)
                                 : 0;
            case_free(&actual);
        }
        case_free(&expected);
    }
    hg_program_release(program);
    case_free(c);
}

static void add_target(cts *s, const char *level, const char *pretend, bool required) {
    char reason[256];
    shim_driver_bring(s->backend);
    library *l = library_open(s->backend, level, pretend, reason);
    if (l)
        s->targets[s->target_count++] = (cts_target){l, level, pretend};
    else if (required)
        cts_fail(s, &(cts_target){NULL, level, pretend}, "open", reason);
}

/* A row nobody made a program for is a failure, not an omission. */
static void check_coverage(cts *s) {
    for (int op = 0; op < HG_OP_COUNT && !s->only_row && !s->only_type && !s->only_case &&
                     !s->parts && !s->widest;
         op++)
        if (!s->covered[op]) cts_fail(s, NULL, hg_op_get((hg_op)op)->id, "no conformance program");
}

static void all_families(cts *s) {
    cts_rows(s);
    cts_literals(s);
    if (s->target_count > 1) { /* nothing else has whole-array steps */
        add_target(s, "", "expand", true);
        add_target(s, "", "expand,poor", true);
    }
    cts_maps(s);
    cts_conv2d(s);
    cts_windows(s);
    cts_matrices(s);
    cts_norms(s);
    cts_transforms(s);
    cts_orders(s);
    cts_forms(s);
    cts_products(s);
    cts_lines(s);
    cts_arrays(s);
    cts_blocks(s);
    cts_atlas(s);
    cts_examples(s);
    cts_more_norms(s);
    check_coverage(s);
}

int main(int argc, char **argv) {
    static cts s = {.backend = "cpu", .target = "cuda", .state = 20240229};
    const char *level = NULL, *pretend = NULL, *record = NULL, *vectors = NULL;
    char reason[256];
    bool known = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--quick") == 0)
            s.quick = true;
        else if (strcmp(argv[i], "--compile") == 0)
            s.compiles = true;
        else if (strcmp(argv[i], "--texts") == 0 && i + 2 < argc)
            s.compiles = true, s.target = argv[i + 1], s.texts = argv[i + 2], i += 2;
        else if (strcmp(argv[i], "--known") == 0)
            known = true;
        else if (strcmp(argv[i], "--times") == 0)
            s.times = true;
        else if (strcmp(argv[i], "--backend") == 0)
            s.backend = value, i++;
        else if (strcmp(argv[i], "--level") == 0)
            level = value, i++;
        else if (strcmp(argv[i], "--vectors") == 0)
            vectors = value, i++;
        else if (strcmp(argv[i], "--pretend") == 0)
            pretend = value, i++;
        else if (strcmp(argv[i], "--row") == 0)
            s.only_row = value, i++;
        else if (strcmp(argv[i], "--without") == 0)
            s.without = value, i++;
        else if (strcmp(argv[i], "--type") == 0)
            s.only_type = value, i++;
        else if (strcmp(argv[i], "--case") == 0)
            s.only_case = value, i++;
        else if (strcmp(argv[i], "--widest") == 0)
            s.widest = (uint32_t)strtoul(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--as") == 0)
            s.device = value, i++;
        else if (strcmp(argv[i], "--part") == 0) {
            if (sscanf(value, "%u/%u", &s.part, &s.parts) != 2) return 2;
            i++;
        } else if (strcmp(argv[i], "--record") == 0)
            record = value, i++;
        else
            return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    }
    load_expected(HG_SOURCE_DIR "/tests/cts/expected.txt");
    if (vectors && !c_vectors_use(vectors, reason)) {
        SKIP(reason);
        return test_done();
    }
    if (s.compiles) {
        if (!cts_compile_open(&s, reason)) {
            SKIP(reason);
            return test_done();
        }
    } else if (record) {
        if (!(s.record = record_open(record)))
            return fprintf(stderr, "%s cannot be written\n", record), 1;
    } else if (level || pretend || vectors || strcmp(s.backend, "cpu") != 0) {
        add_target(&s, level ? level : "", pretend ? pretend : "", true);
    } else {
        add_target(&s, "baseline", "", true);
        add_target(&s, "v3", "", false);
        add_target(&s, "v4", "", false);
        add_target(&s, "", "poor", true);
    }
    if (known)
        cts_known_rows(&s);
    else
        all_families(&s);
    if (s.compiles) cts_compile_close(&s);
    for (int t = 0; t < s.target_count; t++) library_close(s.targets[t].library);
    if (vectors) test_failed += c_vectors_end();
    if (record && s.record && !record_close(s.record))
        cts_fail(&s, NULL, record, "cannot be written");
    if (s.compiles) return test_done();
    if (record)
        printf("cts: %" PRIu64 " cases recorded\n", s.recorded);
    else
        printf("cts: %" PRIu64 " values checked on %d targets\n", s.values, s.target_count);
    return test_done();
}

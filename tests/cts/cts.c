/* The conformance program.
 *
 *     cts [--backend B] [--level L] [--pretend poor] [--row MNEMONIC] [--type T] [--quick] [--record FILE]
 *
 * Without --level and --pretend it runs on every CPU level of this machine and in poor mode. With --record it runs nothing and
 * writes the cases with their expected results for tests/wasm/replay.c. */
/* test: labels=cts timeout=900 */
#include "cts.h"
#include "test.h"
#include <stdarg.h>
#include <stdlib.h>

bool cts_wanted(const cts *s, const char *row, hg_type type) {
    return (!s->only_row || strcmp(s->only_row, row) == 0) && (!s->only_type || strcmp(s->only_type, hg_type_name(type)) == 0);
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
    fprintf(stderr, "cts --backend %s%s%s%s%s: %s: %s\n", s->backend, t && t->level[0] ? " --level " : "", t ? t->level : "",
            t && t->pretend[0] ? " --pretend " : "", t ? t->pretend : "", name, reason);
}

/* Assembled and verified; the rows it uses count as covered. */
static hg_program *prepare(cts *s, const char *name, const run_case *c) {
    hg_program *program = NULL;
    hg_status status = c->text ? hg_program_assemble(c->text, c->length, NULL, &program) : HG_ERROR_OUT_OF_MEMORY;
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

static void describe(const run_case *c, uint64_t i, const uint8_t *expected, const uint8_t *actual, uint32_t size, char *reason, size_t room) {
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

void cts_check(cts *s, const char *name, hg_type type, run_case *c, const uint8_t *expected, const uint32_t *tolerance) {
    hg_program *program = prepare(s, name, c);
    uint32_t size = oracle_size(type);
    uint64_t n = c->arrays[0].size / size;
    if (s->record && program) cts_record_values(s, name, c, expected, tolerance);
    for (int t = 0; t < s->target_count && program; t++) {
        run_case actual = {0};
        run_result result;
        bool same = true;
        if (!case_copy(&actual, c)) break;
        library_run(s->targets[t].library, program, &actual, &result);
        if (result.outcome != RUN_OK) {
            cts_fail(s, &s->targets[t], name, result.message);
            same = false;
        }
        for (uint64_t i = 0; i < n && same; i++) {
            uint32_t ulp = tolerance ? tolerance[i] : 0;
            s->values += ulp != ORACLE_UNCHECKED;
            same = oracle_agrees(type, ulp, expected + i * size, actual.arrays[0].bytes + i * size);
            if (same) continue;
            char reason[2048];
            describe(c, i, expected + i * size, actual.arrays[0].bytes + i * size, size, reason, sizeof reason);
            cts_fail(s, &s->targets[t], name, reason);
        }
        test_passed += same;
        case_free(&actual);
    }
    hg_program_release(program);
    case_free(c);
}

void cts_compare(cts *s, const char *name, run_case *c) {
    hg_program *program = prepare(s, name, c);
    run_case expected = {0};
    run_result er, ar;
    if (program && case_copy(&expected, c)) {
        case_run_reference(program, &expected, &er);
        if (er.outcome == RUN_ERROR) cts_fail(s, NULL, name, er.message);
        else if (s->record) cts_record_run(s, name, c, &expected, &er);
        for (int t = 0; t < s->target_count && er.outcome != RUN_ERROR; t++) {
            run_case actual = {0};
            char reason[512];
            if (!case_copy(&actual, c)) break;
            library_run(s->targets[t].library, program, &actual, &ar);
            bool same = case_same(&expected, &er, &actual, &ar, reason);
            if (!same) cts_fail(s, &s->targets[t], name, reason);
            for (uint32_t i = 0; i < c->array_count; i++) s->values += er.outcome == RUN_OK ? c->arrays[i].size / oracle_size(c->arrays[i].type) : 0;
            test_passed += same;
            case_free(&actual);
        }
        case_free(&expected);
    }
    hg_program_release(program);
    case_free(c);
}

static void add_target(cts *s, const char *level, const char *pretend, bool required) {
    char reason[256];
    library *l = library_open(s->backend, level, pretend, reason);
    if (l) s->targets[s->target_count++] = (cts_target){l, level, pretend};
    else if (required) cts_fail(s, &(cts_target){NULL, level, pretend}, "open", reason);
}

/* A row nobody made a program for is a failure, not an omission. */
static void check_coverage(cts *s) {
    for (int op = 0; op < HG_OP_COUNT && !s->only_row && !s->only_type; op++)
        if (!s->covered[op]) cts_fail(s, NULL, hg_op_get((hg_op)op)->id, "no conformance program");
}

int main(int argc, char **argv) {
    static cts s = {.backend = "cpu", .state = 20240229};
    const char *level = NULL, *pretend = NULL, *record = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--quick") == 0) s.quick = true;
        else if (strcmp(argv[i], "--backend") == 0) s.backend = value, i++;
        else if (strcmp(argv[i], "--level") == 0) level = value, i++;
        else if (strcmp(argv[i], "--pretend") == 0) pretend = value, i++;
        else if (strcmp(argv[i], "--row") == 0) s.only_row = value, i++;
        else if (strcmp(argv[i], "--type") == 0) s.only_type = value, i++;
        else if (strcmp(argv[i], "--record") == 0) record = value, i++;
        else return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    }
    if (record) {
        if (!cts_record_open(&s, record)) return fprintf(stderr, "%s cannot be written\n", record), 1;
    } else if (level || pretend) {
        add_target(&s, level ? level : "", pretend ? pretend : "", true);
    } else {
        add_target(&s, "baseline", "", true);
        add_target(&s, "v3", "", false);
        add_target(&s, "v4", "", false);
        add_target(&s, "", "poor", true);
    }
    cts_rows(&s);
    cts_literals(&s);
    cts_maps(&s);
    cts_forms(&s);
    cts_examples(&s);
    check_coverage(&s);
    for (int t = 0; t < s.target_count; t++) library_close(s.targets[t].library);
    if (record && !cts_record_close(&s)) cts_fail(&s, NULL, record, "cannot be written");
    if (record) printf("cts: %" PRIu64 " cases recorded\n", s.recorded);
    else printf("cts: %" PRIu64 " values checked on %d targets\n", s.values, s.target_count);
    return test_done();
}

/* Reduction of failing programs: delete ever smaller groups of lines, then lanes, as long as the
 * program stays valid and fails in the same way. A deletion may make a program race or run for
 * ever; such candidates are recognised on the reference and rejected. */
#include "reduce.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A candidate is fair when no lane runs past the guard and falling order of lanes gives the same.
 */
static bool is_fair(const hg_program *program, const run_case *c, uint64_t guard,
                    const run_case *expected, const run_result *er) {
    run_case backwards = {0};
    run_result br;
    char unused[512];
    if (er->outcome == RUN_FAULT && memcmp(er->code, "F07", 3) == 0 && !c->launch.max_steps)
        return false;
    if (!case_copy(&backwards, c)) return false;
    if (!backwards.launch.max_steps) backwards.launch.max_steps = guard;
    backwards.launch.backwards = true;
    case_run_reference(program, &backwards, &br);
    bool fair = case_same(expected, er, &backwards, &br, unused);
    case_free(&backwards);
    return fair;
}

int case_fails(library *l, const run_case *c, uint64_t guard, char reason[512]) {
    hg_program *program = NULL;
    run_case expected = {0}, actual = {0};
    run_result er, ar;
    int kind = 0;
    if (hg_program_assemble(c->text, c->length, NULL, &program) != HG_OK) return 0;
    if (hg_program_verify(program, NULL) == HG_OK && case_copy(&expected, c) &&
        case_copy(&actual, c)) {
        if (!expected.launch.max_steps) expected.launch.max_steps = guard;
        case_run_reference(program, &expected, &er);
        if (er.outcome != RUN_ERROR && (!guard || is_fair(program, c, guard, &expected, &er))) {
            library_run(l, program, &actual, &ar);
            if (!case_same(&expected, &er, &actual, &ar, reason))
                kind = 1 + 3 * (int)er.outcome + (int)ar.outcome;
        }
    }
    case_free(&expected);
    case_free(&actual);
    hg_program_release(program);
    return kind;
}

static const char *line_end(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static bool removable(const char *start, const char *end) {
    return end - start > 1 && start[0] != '.'; /* no directive */
}

/* The text without the removable lines first … first + count - 1 (numbered among removable lines).
 */
static char *without(const char *text, uint32_t first, uint32_t count, uint32_t *removed) {
    char *out = malloc(strlen(text) + 1), *to = out;
    uint32_t n = 0;
    *removed = 0;
    if (!out) return NULL;
    for (const char *at = text; *at;) {
        const char *end = line_end(at);
        bool drop = false;
        if (removable(at, end)) {
            drop = n >= first && n - first < count;
            n++;
        }
        if (drop) {
            (*removed)++;
        } else {
            memcpy(to, at, (size_t)(end - at));
            to += end - at;
        }
        at = end;
    }
    *to = '\0';
    return out;
}

static uint32_t count_removable(const char *text) {
    uint32_t n = 0;
    for (const char *at = text; *at; at = line_end(at)) n += removable(at, line_end(at));
    return n;
}

enum { GUARD = 100000 };

static bool try_text(library *l, run_case *c, int kind, char *text, char reason[512]) {
    char why[512];
    char *old = c->text;
    uint64_t old_length = c->length;
    c->text = text;
    c->length = strlen(text);
    if (case_fails(l, c, GUARD, why) == kind) {
        memcpy(reason, why, sizeof why);
        free(old);
        return true;
    }
    c->text = old;
    c->length = old_length;
    free(text);
    return false;
}

static void drop_lines(library *l, run_case *c, int kind, uint32_t *runs, char reason[512]) {
    for (uint32_t group = count_removable(c->text) / 2 + 1; group > 0; group /= 2)
        for (uint32_t first = 0; *runs > 0 && first < count_removable(c->text);) {
            uint32_t removed;
            char *text = without(c->text, first, group, &removed);
            if (!text) return;
            (*runs)--;
            if (!removed || !try_text(l, c, kind, text, reason)) first += group;
        }
}

static void drop_lanes(library *l, run_case *c, int kind, char reason[512]) {
    char why[512];
    for (uint64_t lanes = 1; lanes < (uint64_t)c->launch.block[0] * c->launch.grid[0] && lanes < 64;
         lanes *= 2) {
        ref_launch old = c->launch;
        c->launch.lanes = lanes;
        if ((!old.lanes || lanes < old.lanes) && case_fails(l, c, GUARD, why) == kind) {
            memcpy(reason, why, sizeof why);
            return;
        }
        c->launch = old;
    }
}

void reduce_case(library *l, run_case *c, int kind, uint32_t most_runs, char reason[512]) {
    drop_lanes(l, c, kind, reason);
    uint32_t before;
    do {
        before = count_removable(c->text);
        drop_lines(l, c, kind, &most_runs, reason);
    } while (most_runs > 0 && count_removable(c->text) < before);
    drop_lanes(l, c, kind, reason);
}

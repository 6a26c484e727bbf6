/* Makes a comparison that differs smaller as long as it differs in the same way: smaller extents,
 * then fewer instructions. A candidate that races or that does not end is no reproduction. Must not
 * know: why it differs. */
#include "diff.h"
#include "base/thread.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_CANDIDATES = 1000, GUARD_STEPS = 100000, GUARD_MS = 5000 };
#define MOST_NS \
    UINT64_C(60000000000) /* where compilers take seconds the reproduction stays larger */

typedef struct reducer {
    const diff_case *d;
    cli_launch options;
    char lanes[24]; /* of options.lanes once it is cut */
    cli_values values;
    hg_program *programs[2];
    diff_side racer; /* finds races; backend NULL: the program always had them */
    int kind;
    char codes[2][4];
    uint32_t candidates;
    uint64_t deadline_ns;
} reducer;

static bool in_budget(const reducer *r) {
    return r->candidates < MOST_CANDIDATES && hg_clock_ns() < r->deadline_ns;
}

/* ---- one candidate ---- */

static bool launch_of(const reducer *r, const cli_values *values, hg_launch *launch) {
    cli quiet = {.command = r->d->c->command,
                 .program = r->programs[0],
                 .json = true,
                 .diagnostics = hg_diagnostics_create(1)};
    bool good = quiet.diagnostics && cli_prepare_launch(&quiet, &r->options, values, launch);
    hg_diagnostics_destroy(quiet.diagnostics);
    return good;
}

/* How a run ended, without where: a program cut short may run into the guard instead of the
 * timeout. */
static const char *ending(const diff_result *result) {
    return result->status == HG_OK ? "" : diff_is_endless(result) ? "F07" : result->error.code;
}

static bool races(const reducer *r, hg_program *program, const cli_values *values,
                  const hg_launch *launch) {
    diff_result result;
    if (!r->racer.backend) return false;
    if (diff_run(&r->racer, program, values, launch, NULL, 0, &result) != HG_OK) return true;
    bool found = result.status != HG_OK && strncmp(result.error.message, "race", 4) == 0;
    diff_result_free(&result);
    return found;
}

/* Both sides on these programs and values: the same kind of difference as at first. */
static bool differs(reducer *r, hg_program *const programs[2], const cli_values *values,
                    bool guarded) {
    hg_launch launch;
    diff_result results[2];
    diff_place place;
    r->candidates++;
    if (!launch_of(r, values, &launch)) return false;
    if (guarded && !launch.max_steps) launch.max_steps = GUARD_STEPS;
    if (guarded) launch.timeout_ms = GUARD_MS;
    if (diff_run(&r->d->sides[0], programs[0], values, &launch, NULL, 0, &results[0]) != HG_OK)
        return false;
    if (diff_run(&r->d->sides[1], programs[1], values, &launch, NULL, 0, &results[1]) != HG_OK) {
        diff_result_free(&results[0]);
        return false;
    }
    bool good = diff_compare(values, &results[0], &results[1], &place) == r->kind;
    for (int i = 0; i < 2 && good; i++) good = strcmp(ending(&results[i]), r->codes[i]) == 0;
    diff_result_free(&results[0]);
    diff_result_free(&results[1]);
    return good && !races(r, programs[0], values, &launch);
}

/* ---- instructions ---- */

static hg_program *without(const hg_program *p, uint32_t first, uint32_t count, uint8_t *keep) {
    hg_text text = {0};
    hg_program *smaller = NULL;
    memset(keep, 1, p->inst_count + 1u);
    memset(keep + first, 0, count);
    diff_print_kept(&text, p, keep);
    if (!text.failed && text.data &&
        hg_program_assemble(text.data, text.length, NULL, &smaller) == HG_OK &&
        hg_program_verify(smaller, NULL) != HG_OK) {
        hg_program_release(smaller);
        smaller = NULL;
    }
    hg_text_free(&text);
    return smaller;
}

static bool drop(reducer *r, uint32_t first, uint32_t count, uint8_t *keep) {
    hg_program *smaller[2] = {without(r->programs[0], first, count, keep), NULL};
    smaller[1] = r->programs[0] == r->programs[1] ? hg_program_retain(smaller[0])
                                                  : without(r->programs[1], first, count, keep);
    bool good = smaller[0] && smaller[1] && differs(r, smaller, &r->values, true);
    for (int i = 0; i < 2; i++) {
        hg_program_release(good ? r->programs[i] : smaller[i]);
        if (good) r->programs[i] = smaller[i];
    }
    return good;
}

static void drop_instructions(reducer *r) {
    if (r->programs[0]->inst_count != r->programs[1]->inst_count) return;
    uint8_t *keep = hg_calloc(r->programs[0]->inst_count + 1u, 1);
    uint32_t before;
    if (!keep) return;
    do {
        before = r->programs[0]->inst_count;
        for (uint32_t group = before / 2 + 1; group > 0; group /= 2)
            for (uint32_t first = 0; in_budget(r) && first + group <= r->programs[0]->inst_count;)
                if (!drop(r, first, group, keep)) first += group;
    } while (in_budget(r) && r->programs[0]->inst_count < before);
    hg_free(keep);
}

/* ---- inputs ---- */

static uint64_t scalar_of(const cli_value *v) {
    uint64_t n = 0;
    memcpy(&n, v->scalar, hg_type_size_bytes((hg_type)v->param->type) < 8 ? 4 : 8);
    return n;
}

static bool try_cut(reducer *r, uint32_t param, uint64_t n) {
    cli_values smaller = {0};
    bool good = diff_inputs_cut(&r->values, param, n, &smaller) == HG_OK &&
                differs(r, r->programs, &smaller, true);
    cli_values_free(good ? &r->values : &smaller);
    if (good) r->values = smaller;
    return good;
}

static void cut_inputs(reducer *r) {
    for (uint32_t i = 0; i < r->values.count; i++) {
        if (r->values.data[i].param->kind != HG_PARAM_SCALAR ||
            !diff_is_extent(r->d->sides[0].program, i))
            continue;
        uint64_t now = scalar_of(&r->values.data[i]);
        for (uint64_t n = 1; n < now && in_budget(r); n *= 2)
            if (try_cut(r, i, n)) break;
    }
    if (!r->options.lanes || r->options.grid) return;
    for (uint64_t n = 1; in_budget(r) && n < (UINT64_C(1) << 40); n *= 2) {
        const char *old = r->options.lanes;
        char text[24], kept[24];
        memcpy(kept, r->lanes, sizeof kept);
        snprintf(text, sizeof text, "%llu", (unsigned long long)n);
        if (strlen(text) > strlen(old) || (strlen(text) == strlen(old) && strcmp(text, old) >= 0))
            return;
        memcpy(r->lanes, text, sizeof text);
        r->options.lanes = r->lanes;
        if (differs(r, r->programs, &r->values, true)) return;
        memcpy(r->lanes, kept, sizeof kept);
        r->options.lanes = old;
    }
}

/* ---- writing ---- */

/* A word for a shell. */
static void add_word(hg_text *out, const char *text) {
    bool plain = *text != '\0';
    for (const char *c = text; *c; c++)
        plain = plain && ((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= 'a' && *c <= 'z') || strchr("_-./,:=+[]", *c));
    if (plain && !strpbrk(text, "[]")) {
        hg_text_addf(out, " %s", text);
        return;
    }
    hg_text_addf(out, " '");
    for (const char *c = text; *c; c++) hg_text_addf(out, *c == '\'' ? "'\\''" : "%c", *c);
    hg_text_addf(out, "'");
}

static hg_status add_file(hg_outputs *outputs, const char *folder, const char *name,
                          const char *ending, const cli_value *v, const hg_program *p,
                          hg_text *path) {
    hg_text_addf(path, "%s/%s%s", folder, name, ending);
    if (path->failed) return hg_fail_memory();
    if (v)
        return hg_outputs_add_array(outputs, path->data, (hg_type)v->param->type, v->rank,
                                    v->extent, v->data);
    char *text = NULL;
    size_t length = 0;
    HG_TRY(hg_program_print(p, &text, &length));
    const hg_file_part part = {.data = text, .length = length};
    hg_status status = hg_outputs_add(outputs, path->data, &part, 1);
    hg_string_free(text);
    return status;
}

static hg_status add_parameter(hg_outputs *outputs, const char *folder, const cli_value *v,
                               hg_text *command) {
    hg_text word = {0}, path = {0};
    const char *name = v->param->name;
    hg_status status = HG_OK;
    if (v->param->kind == HG_PARAM_SCALAR) {
        hg_text_addf(&word, "%s=", name);
        hg_print_literal(&word, (hg_type)v->param->type, v->scalar);
        hg_text_addf(command, " --set");
        add_word(command, word.data ? word.data : "");
    } else if (v->param->kind == HG_PARAM_BUFFER && v->data) {
        status = add_file(outputs, folder, name, ".npy", v, NULL, &path);
        hg_text_addf(&word, "%s=%s", name, path.data ? path.data : "");
        hg_text_addf(command, " --in");
        add_word(command, word.data ? word.data : "");
    } else if (v->param->kind == HG_PARAM_BUFFER && v->param->rank == 255) {
        hg_text_addf(&word, "%s=%s[", name, hg_type_name((hg_type)v->param->type));
        for (uint32_t i = 0; i < v->rank; i++)
            hg_text_addf(&word, "%s%llu", i ? "," : "", (unsigned long long)v->extent[i]);
        hg_text_addf(&word, "]");
        hg_text_addf(command, " --shape");
        add_word(command, word.data ? word.data : "");
    }
    if (word.failed) status = hg_fail_memory();
    hg_text_free(&word);
    hg_text_free(&path);
    return status;
}

static void add_option(hg_text *command, const char *option, const char *value) {
    if (!value) return;
    hg_text_addf(command, " %s", option);
    add_word(command, value);
}

static hg_status write_all(const reducer *r, hg_outputs *outputs, const char *folder,
                           const char *const sides[2], hg_text *command) {
    const char *name = hg_program_name(r->programs[0]);
    hg_text first = {0}, second = {0};
    hg_status status = add_file(outputs, folder, name, ".atlas", NULL, r->programs[0], &first);
    hg_text_addf(command, "hologram diff");
    add_word(command, first.data ? first.data : "");
    add_option(command, "--backend", sides[0]);
    add_option(command, "--against", sides[1]);
    if (status == HG_OK && r->programs[0] != r->programs[1]) {
        status = add_file(outputs, folder, name, "-against.atlas", NULL, r->programs[1], &second);
        add_option(command, "--against-program", second.data);
    }
    add_option(command, "--lanes", r->options.lanes);
    add_option(command, "--grid", r->options.grid);
    add_option(command, "--block", r->options.block);
    add_option(command, "--shared", r->options.shared);
    add_option(command, "--timeout", r->options.timeout);
    char guard[24];
    bool endless = strcmp(r->codes[0], "F07") == 0 || strcmp(r->codes[1], "F07") == 0;
    snprintf(guard, sizeof guard, "%d", GUARD_STEPS);
    add_option(command, "--max-steps",
               endless && !r->options.max_steps ? guard : r->options.max_steps);
    for (uint32_t i = 0; i < r->values.count && status == HG_OK; i++)
        status = add_parameter(outputs, folder, &r->values.data[i], command);
    hg_text_free(&first);
    hg_text_free(&second);
    if (status == HG_OK && command->failed) status = hg_fail_memory();
    return status == HG_OK ? hg_outputs_commit(outputs) : status;
}

static hg_status write_folder(const reducer *r, const char *folder, const char *const sides[2],
                              hg_text *command) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        hg_status status = hg_fail(HG_ERROR_IO, "%s: %s", folder, strerror(errno));
        memcpy(hg_error_record()->code, "X02", 4);
        return status;
    }
    hg_outputs *outputs = hg_outputs_create();
    hg_status status = outputs ? write_all(r, outputs, folder, sides, command) : hg_fail_memory();
    hg_outputs_destroy(outputs);
    return status;
}

/* ---- the whole ---- */

/* A backend that reports races, if the program has none of its own. */
static void open_racer(reducer *r) {
    hg_config config;
    hg_launch launch;
    if (hg_config_load(NULL, &config) != HG_OK) return;
    memcpy(config.backend, "cpu", 4);
    config.device_id = 0;
    config.check_races = true;
    config.num_threads = 1;
    config.profiling = false;
    config.profile_file = NULL;
    if (cli_device_open(&config, &r->racer.backend) != HG_OK) return;
    if (launch_of(r, &r->values, &launch) && !races(r, r->programs[0], &r->values, &launch)) return;
    hg_backend_destroy(r->racer.backend);
    r->racer.backend = NULL;
}

/* What the unreduced comparison gives: the kind that every candidate must keep. */
static bool learn_kind(reducer *r) {
    diff_result results[2] = {{0}, {0}};
    diff_place place;
    for (int i = 0; i < 2; i++)
        if (diff_run(&r->d->sides[i], r->programs[i], &r->values, &r->d->launch, NULL, 0,
                     &results[i]) != HG_OK)
            cli_last_error(r->d->c);
    if (r->d->c->status == CLI_OK) {
        r->kind = diff_compare(&r->values, &results[0], &results[1], &place);
        for (int i = 0; i < 2; i++)
            snprintf(r->codes[i], sizeof r->codes[i], "%s", ending(&results[i]));
    }
    diff_result_free(&results[0]);
    diff_result_free(&results[1]);
    return r->d->c->status == CLI_OK && r->kind != DIFF_SAME;
}

bool diff_reduce(const diff_case *d, const cli_launch *options, const char *folder,
                 const char *const sides[2], hg_text *command) {
    reducer r = {.d = d, .options = *options, .deadline_ns = hg_clock_ns() + MOST_NS};
    hg_status status = diff_inputs_cut(d->values, UINT32_MAX, 0, &r.values);
    for (int i = 0; i < 2; i++)
        r.programs[i] = hg_program_retain((hg_program *)(uintptr_t)d->sides[i].program);
    if (status == HG_OK && learn_kind(&r)) {
        open_racer(&r);
        cut_inputs(&r);
        drop_instructions(&r);
        cut_inputs(&r);
        status = write_folder(&r, folder, sides, command);
    }
    if (status != HG_OK) cli_last_error(d->c);
    hg_error kept = *hg_last_error();
    hg_backend_destroy(r.racer.backend);
    for (int i = 0; i < 2; i++) hg_program_release(r.programs[i]);
    cli_values_free(&r.values);
    *hg_error_record() = kept;
    return status == HG_OK && command->length > 0;
}

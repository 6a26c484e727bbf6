/* hologram opt: an equal program with less to do (hg_program_optimize), as text or container, and
 * what the passes did. */
#include "cli.h"
#include <hologram/optimizer.h>
#include <stdio.h>
#include <string.h>

typedef struct opt_options {
    const char *passes, *rounds, *out;
    bool stats, list, debug;
} opt_options;

static void list_passes(cli *c) {
    for (size_t i = 0; hg_optimizer_pass_get(i); i++) {
        const hg_optimizer_pass *pass = hg_optimizer_pass_get(i);
        if (!c->json) {
            cli_out(c, "%-10s %s\n", pass->name, pass->about);
            continue;
        }
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "name", pass->name);
        hg_json_add_text(&json, "about", pass->about);
        hg_json_end_object(&json);
    }
}

/* ---- what the passes did ---- */

static void print_stats(const hg_optimize_stats *stats) {
    fprintf(stderr, "%-10s %5s %8s %12s\n", "pass", "runs", "changes", "us");
    for (size_t i = 0; hg_optimizer_pass_get(i); i++) {
        const hg_optimize_pass_stats *p = &stats->passes[i];
        if (p->runs)
            fprintf(stderr, "%-10s %5llu %8llu %12.1f\n", hg_optimizer_pass_get(i)->name,
                    (unsigned long long)p->runs, (unsigned long long)p->changes,
                    (double)p->ns / 1000);
    }
    fprintf(stderr, "%llu instructions, before %llu; whole-array %llu, before %llu; rounds %llu\n",
            (unsigned long long)stats->instructions_after,
            (unsigned long long)stats->instructions_before,
            (unsigned long long)stats->whole_array_after,
            (unsigned long long)stats->whole_array_before, (unsigned long long)stats->rounds);
}

static void add_passes(hg_json *json, const hg_optimize_stats *stats) {
    hg_json_key(json, "passes");
    hg_json_begin_array(json);
    for (size_t i = 0; hg_optimizer_pass_get(i); i++) {
        const hg_optimize_pass_stats *p = &stats->passes[i];
        if (!p->runs) continue;
        hg_json_begin_object(json);
        hg_json_add_text(json, "name", hg_optimizer_pass_get(i)->name);
        hg_json_add_u64(json, "runs", p->runs);
        hg_json_add_u64(json, "changes", p->changes);
        hg_json_add_u64(json, "ns", p->ns);
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
}

/* text NULL: it went to a file. */
static void add_json(cli *c, const hg_optimize_stats *stats, const char *text) {
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_u64(&json, "instructions_before", stats->instructions_before);
    hg_json_add_u64(&json, "instructions_after", stats->instructions_after);
    hg_json_add_u64(&json, "whole_array_before", stats->whole_array_before);
    hg_json_add_u64(&json, "whole_array_after", stats->whole_array_after);
    hg_json_add_u64(&json, "rounds", stats->rounds);
    add_passes(&json, stats);
    if (text) hg_json_add_text(&json, "text", text);
    hg_json_end_object(&json);
}

/* ---- the program that comes out ---- */

static bool is_container(const char *path) {
    size_t length = path ? strlen(path) : 0;
    return length > 7 && strcmp(path + length - 7, ".atlasb") == 0;
}

static void write_container(cli *c, const hg_program *program, const opt_options *o) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (hg_program_encode(program, o->debug ? HG_PROGRAM_DEBUG : 0, &bytes, &length) != HG_OK)
        cli_last_error(c);
    else
        cli_write(c, o->out, bytes, length);
    hg_string_free((char *)bytes);
}

static void write_program(cli *c, const hg_program *program, const opt_options *o,
                          const hg_optimize_stats *stats) {
    char *text = NULL;
    size_t length = 0;
    bool to_output = !o->out || strcmp(o->out, "-") == 0;
    if (is_container(o->out))
        write_container(c, program, o);
    else if (hg_program_print(program, &text, &length) != HG_OK)
        cli_last_error(c);
    else
        cli_write(c, o->out, text, length);
    if (c->json && c->status == CLI_OK) add_json(c, stats, to_output ? text : NULL);
    hg_string_free(text);
}

static void optimise(cli *c, const opt_options *o) {
    hg_optimize_options options = {.size = sizeof options, .passes = o->passes};
    hg_optimize_stats stats = {.size = sizeof stats};
    hg_program *program = NULL;
    uint64_t rounds = 0;
    if (!cli_number(c, "--rounds", o->rounds, UINT32_MAX, &rounds)) return;
    if (o->rounds && !rounds) {
        cli_usage(c, "--rounds expects 1 or more, got 0");
        return;
    }
    options.rounds = (uint32_t)rounds;
    hg_status status = hg_program_optimize(c->program, &options, &stats, &program);
    if (status == HG_ERROR_INVALID_ARGUMENT) {
        const char *message = hg_last_error_text(), *said = strstr(message, ": ");
        cli_usage(c, "--passes: %s", said ? said + 2 : message);
    } else if (status != HG_OK) {
        cli_last_error(c);
    } else {
        write_program(c, program, o, &stats);
        if (o->stats && !c->json) print_stats(&stats);
    }
    hg_program_release(program);
}

int command_opt(int argc, char **argv) {
    cli c = {0};
    opt_options o = {0};
    const cli_option options[] = {{"--passes", &o.passes, NULL}, {"--rounds", &o.rounds, NULL},
                                  {"-o", &o.out, NULL},          {"--stats", NULL, &o.stats},
                                  {"--list", NULL, &o.list},     {"-g", NULL, &o.debug}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (o.list) {
        if (c.arguments.count)
            cli_usage(&c, "--list expects no argument, got '%s'", c.arguments.data[0]);
        else
            list_passes(&c);
        return cli_finish(&c);
    }
    if (cli_one_file(&c) && cli_load(&c, cli_file(&c)) && cli_verify(&c)) optimise(&c, &o);
    return cli_finish(&c);
}

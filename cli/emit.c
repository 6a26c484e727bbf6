/* hologram emit: what a program becomes for a target (hg_program_emit), and what the passes did on
 * the way. */
#include "graph.h"
#include "offline/emit.h"
#include "driver/capsets.h"
#include "emit/emit.h"
#include "stablehlo/graph.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct emit_request {
    const emitter *target;
    hg_emit_options options;
    hg_emit_watch watch;
    uint64_t launch; /* of a graph, from 1; 0: all */
} emit_request;

/* ---- passes ---- */

/* What the passes did: printed to the error output, so that the target's text can go on to a file
 * or a compiler. */
typedef struct pass_times {
    uint64_t ns;
    uint32_t runs;
} pass_times;
typedef struct pass_report {
    const char *print_after; /* "": after none; "all" */
    bool time;
    pass_times times[KIR_STAGE_COUNT][KIR_PASS_COUNT];
} pass_report;

static void after_pass(void *user, kir_stage stage, const kir_pass *pass, const kir_module *m,
                       uint64_t ns) {
    pass_report *report = user;
    pass_times *t = &report->times[stage][kir_pass_find(pass->name)];
    t->ns += ns;
    t->runs++;
    if (strcmp(report->print_after, pass->name) != 0 && strcmp(report->print_after, "all") != 0)
        return;
    hg_text text = {0};
    kir_print(&text, m);
    fprintf(stderr, "; %s, after pass '%s' of stage %s\n%s\n", m->name, pass->name,
            kir_stage_name(stage), text.data ? text.data : "");
    hg_text_free(&text);
}

static void print_times(const pass_report *report) {
    kir_stage stage;
    kir_pass_id id;
    fprintf(stderr, "%-8s %-12s %5s %12s\n", "stage", "pass", "runs", "us");
    for (uint32_t i = 0; kir_order_get(i, &stage, &id); i++) {
        const pass_times *t = &report->times[stage][id];
        if (t->runs)
            fprintf(stderr, "%-8s %-12s %5u %12.1f\n", kir_stage_name(stage),
                    kir_pass_get(id)->name, (unsigned)t->runs, (double)t->ns / 1000);
    }
}

/* ---- options ---- */

static bool read_target(cli *c, const char *name, emit_request *o) {
    hg_text known = {0};
    o->target = emitter_find(name);
    for (uint32_t i = 0; emitter_get(i); i++)
        hg_text_addf(&known, "%s%s",
                     !i                   ? ""
                     : emitter_get(i + 1) ? ", "
                                          : " or ",
                     emitter_get(i)->name);
    if (!o->target)
        cli_usage(c, "--target expects %s, got %s%s%s", known.data ? known.data : "a name",
                  name ? "'" : "", name ? name : "nothing", name ? "'" : "");
    hg_text_free(&known);
    return o->target != NULL;
}

/* Targets that no device has a say in. */
static bool is_whole(const emitter *target) {
    return target->form == EMIT_LANES || target->form == EMIT_GRAPH;
}

static bool read_caps(cli *c, const char *caps, const char *pretend, emit_request *o) {
    if (caps && pretend) {
        cli_usage(c, "--caps and --pretend exclude each other");
        return false;
    }
    if (pretend && strcmp(pretend, "poor") != 0) {
        cli_usage(c, "--pretend expects poor, got '%s'", pretend);
        return false;
    }
    if ((caps || pretend) && is_whole(o->target)) {
        cli_usage(c, "%s is for devices, not for --target %s", caps ? "--caps" : "--pretend",
                  o->target->name);
        return false;
    }
    o->options.caps = pretend ? "poor" : caps;
    hg_capset set;
    return !o->options.caps || cli_find_caps(c, o->options.caps, &set);
}

static bool read_form(cli *c, const char *form, const char *group, const char *fold,
                      const char *kernel, emit_request *o) {
    uint64_t lanes = 0, number = 0;
    if (form && strcmp(form, "flat") != 0 && strcmp(form, "block") != 0) {
        cli_usage(c, "--form expects flat or block, got '%s'", form);
        return false;
    }
    if (form) o->options.form = form[0] == 'b' ? HG_EMIT_FORM_BLOCK : HG_EMIT_FORM_FLAT;
    if (!cli_number(c, "--fold", fold, HG_MAX_BLOCK_LANES, &lanes) ||
        !cli_number(c, "--kernel", kernel, UINT32_MAX, &number))
        return false;
    o->options.fold = (uint32_t)lanes;
    o->options.kernel = (uint32_t)number;
    o->options.one_kernel = kernel != NULL;
    uint32_t *extents = o->options.group;
    if (group &&
        (!cli_triple(c, "--group", group, extents) || !extents[0] || !extents[1] || !extents[2])) {
        if (c->status == CLI_OK) cli_usage(c, "--group: no extent can be 0");
        return false;
    }
    if ((form || group || fold) && is_whole(o->target)) {
        cli_usage(c, "--form, --group and --fold are for devices, not for --target %s",
                  o->target->name);
        return false;
    }
    return true;
}

static bool read_passes(cli *c, const char *print_after, pass_report *report) {
    char known[256] = "";
    report->print_after = print_after ? print_after : "";
    if (!print_after || strcmp(print_after, "all") == 0 ||
        kir_pass_find(print_after) != KIR_PASS_COUNT)
        return true;
    for (int i = 0; i < KIR_PASS_COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", kir_pass_get((kir_pass_id)i)->name);
    }
    cli_usage(c, "--print-after expects one of %sall, got '%s'", known, print_after);
    return false;
}

static bool may_write(cli *c, const emit_request *o, const char *out) {
    if (!o->target->binary || (out && strcmp(out, "-") != 0)) return true;
    if (c->json)
        cli_usage(c, "--json needs -o FILE");
    else if (isatty(STDOUT_FILENO))
        cli_usage(c, "--target %s is not for a terminal: use -o FILE, or a target of text",
                  o->target->name);
    return c->status == CLI_OK;
}

/* ---- the list of targets ---- */

static void add_caps(hg_json *json, const emitter *row) {
    hg_json_key(json, "caps");
    hg_json_begin_array(json);
    for (const char *at = row->caps; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        hg_json_string(json, at, length);
        at += length;
    }
    hg_json_end_array(json);
}

static void list_targets(cli *c) {
    static const char *const FORMS[] = {[EMIT_PROGRAM] = "program",
                                        [EMIT_LANES] = "lanes",
                                        [EMIT_DEVICE] = "device",
                                        [EMIT_GRAPH] = "graph"};
    for (uint32_t i = 0; emitter_get(i); i++) {
        const emitter *row = emitter_get(i);
        if (!c->json) {
            cli_out(c, "%-10s .%-7s %-7s %s\n", row->name, row->suffix,
                    row->binary ? "binary" : "text", row->about);
            continue;
        }
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "name", row->name);
        hg_json_add_text(&json, "suffix", row->suffix);
        hg_json_add_bool(&json, "binary", row->binary);
        hg_json_add_bool(&json, "foreign", row->foreign);
        hg_json_add_text(&json, "form", FORMS[row->form]);
        add_caps(&json, row);
        hg_json_add_text(&json, "about", row->about);
        hg_json_end_object(&json);
    }
}

/* ---- array graphs ---- */

/* Each launch of a graph is a program. */
static hg_status emit_launch(const cli *c, const emit_request *o, const hg_graph *g,
                             const graph_region *r, uint64_t number, hg_text *out) {
    hg_text text = {0};
    char call[160];
    hg_status status = hg_emit_watched(r->program, o->target->name, &o->options, &o->watch, &text);
    if (!o->target->binary) {
        bool slashes = o->target->dialect || o->target->form == EMIT_LANES;
        hg_text_addf(out, "%s%s %s, launch %llu:", out->length ? "\n" : "", slashes ? "//" : ";",
                     hg_program_name(c->program), (unsigned long long)number + 1);
        for (uint64_t i = 0; i < r->calls.count; i++)
            hg_text_addf(out, "%s %s", i ? "," : "",
                         graph_call_text(g, &g->calls.data[r->calls.data[i]], call));
        hg_text_addf(out, "\n");
    }
    if (status == HG_OK && text.data) hg_text_add(out, text.data, text.length);
    hg_text_free(&text);
    return status;
}

static hg_status emit_launches(cli *c, const emit_request *o, const hg_graph *g, bool together,
                               hg_text *out) {
    graph_regions regions = {0};
    hg_status status = graph_lower(g, together, &regions);
    uint64_t first = o->launch ? o->launch - 1 : 0, end = o->launch ? o->launch : regions.count;
    if (status == HG_OK && o->launch > regions.count)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT, "--launch: the graph has %llu, got %llu",
                         (unsigned long long)regions.count, (unsigned long long)o->launch);
    if (status == HG_OK && o->target->binary && end - first != 1)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                         "--target %s: the graph is %llu launches: give --launch N",
                         o->target->name, (unsigned long long)regions.count);
    for (uint64_t i = first; i < end && status == HG_OK; i++)
        status = emit_launch(c, o, g, &regions.data[i], i, out);
    graph_regions_free(&regions);
    return status;
}

/* The graph as it is written: the target's compiler has passes of its own. */
static hg_status emit_whole(cli *c, const emit_request *o, hg_text *out) {
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS] = {0};
    const hg_graph *g = c->graph;
    if (!cli_take_symbols(c, g, symbols))
        return c->status != CLI_OK ? HG_OK
                                   : hg_fail(HG_ERROR_INVALID_ARGUMENT,
                                             "--target %s: shapes are part of the text: --set "
                                             "N=VALUE for each extent, of which %s is the first",
                                             o->target->name, g->symbols.data[0]);
    uint64_t *extents = cli_extents(g, symbols);
    if (!extents) return hg_error_record()->status;
    hg_status status = shlo_print_graph(g, extents, &(shlo_form){.driver = false}, out);
    hg_free(extents);
    return status;
}

static hg_status emit_graph(cli *c, const emit_request *o, const char *print_after, hg_text *out) {
    if (o->target->form == EMIT_GRAPH) return emit_whole(c, o, out);
    hg_graph *done = NULL;
    graph_pass_list order;
    hg_status status = cli_optimize_graph(c, print_after, &order, &done);
    if (status == HG_OK)
        status = emit_launches(c, o, done, graph_passes_have(&order, GRAPH_PASS_JOIN), out);
    hg_graph_release(done);
    return status;
}

int command_emit(int argc, char **argv) {
    cli c = {0};
    emit_request o = {.options = {.size = sizeof o.options}, .watch = {.dashes = "--"}};
    const char *out = NULL, *output = NULL, *name = NULL, *caps = NULL, *pretend = NULL,
               *form = NULL, *group = NULL, *fold = NULL, *kernel = NULL, *print_after = NULL,
               *launch = NULL;
    bool list = false;
    pass_report report = {0};
    const kir_pass_watch watch = {after_pass, &report};
    const cli_option options[] = {
        {"-o", &out, NULL},
        {"--output", &output, NULL},
        {"--target", &name, NULL},
        {"--caps", &caps, NULL},
        {"--pretend", &pretend, NULL},
        {"--form", &form, NULL},
        {"--group", &group, NULL},
        {"--fold", &fold, NULL},
        {"--kernel", &kernel, NULL},
        {"--list", NULL, &list},
        {"--large", NULL, &o.options.large},
        {"--proven", NULL, &o.options.proven},
        {"--whole-blocks", NULL, &o.options.whole_blocks},
        {"--at-origin", NULL, &o.options.at_origin},
        {"--descriptors", NULL, &o.options.no_addresses},
        {"-g", NULL, &o.options.debug},
        {"--passes", &c.passes, NULL},
        {"--as-graph", NULL, &c.as_graph},
        {"--launch", &launch, NULL},
        {"--print-after", &print_after, NULL},
        {"--time-passes", NULL, &report.time},
        {"--verify-passes", NULL, &o.options.verify},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (list) {
        if (c.arguments.count)
            cli_usage(&c, "--list expects no argument, got '%s'", c.arguments.data[0]);
        else
            list_targets(&c);
        return cli_finish(&c);
    }
    if (!c.arguments.count && kernel) { /* a name: no program has several kernels here */
        c.kernel = kernel;
        kernel = NULL;
    }
    if (!cli_one_file(&c)) return cli_finish(&c);
    if (!out) out = output;
    if (!read_target(&c, name, &o) || !read_form(&c, form, group, fold, kernel, &o) ||
        !read_caps(&c, caps, pretend, &o))
        return cli_finish(&c);
    if (o.target->form == EMIT_GRAPH) c.as_graph = true;
    bool graph = cli_is_graph(&c, cli_file(&c));
    if (launch && (!graph || o.target->form == EMIT_GRAPH))
        cli_usage(&c,
                  "--launch is for array graphs: name a .graph, or write --as-graph for a program");
    if (c.status != CLI_OK ||
        !(graph ? cli_graph_print_after(&c, print_after) : read_passes(&c, print_after, &report)) ||
        !cli_number(&c, "--launch", launch, UINT64_MAX, &o.launch))
        return cli_finish(&c);
    if (launch && !o.launch) {
        cli_usage(&c, "--launch expects 1 or more, got 0");
        return cli_finish(&c);
    }
    if ((print_after && !graph) || report.time) o.watch.passes = &watch;
    if (may_write(&c, &o, out) && cli_load_any(&c, cli_file(&c))) {
        hg_text text = {0};
        hg_status status = graph ? emit_graph(&c, &o, print_after, &text)
                                 : hg_emit_watched(c.program, o.target->name, &o.options, &o.watch,
                                                   &text);
        if (status != HG_OK)
            cli_last_error(&c);
        else
            cli_write(&c, out, text.data ? text.data : "", text.length);
        hg_text_free(&text);
        if (report.time) print_times(&report);
    }
    return cli_finish(&c);
}

/* hologram explain of array graphs: what the passes did, launches, memory. */
#include "graph.h"
#include <stdio.h>
#include <string.h>

/* ---- passes ---- */

static void after_pass(void *user, const char *pass, const hg_graph *g) {
    const char *wanted = user;
    if (strcmp(wanted, pass) != 0 && strcmp(wanted, "all") != 0) return;
    hg_text text = {0};
    graph_print(&text, g);
    fprintf(stderr, "; %s, %s%s\n%s\n", g->name,
            strcmp(pass, "none") == 0 ? "before the passes" : "after pass ",
            strcmp(pass, "none") == 0 ? "" : pass, text.data ? text.data : "");
    hg_text_free(&text);
}

bool cli_graph_print_after(cli *c, const char *name) {
    hg_text known = {0};
    bool found = !name || strcmp(name, "all") == 0 || strcmp(name, "none") == 0;
    for (uint32_t i = 0; hg_graph_pass_name(i); i++) {
        found |= name && strcmp(name, hg_graph_pass_name(i)) == 0;
        hg_text_addf(&known, "%s, ", hg_graph_pass_name(i));
    }
    if (!found)
        cli_usage(c, "--print-after expects one of none, %sall for a graph, got '%s'",
                  known.data ? known.data : "", name);
    hg_text_free(&known);
    return found;
}

hg_status cli_optimize_graph(const cli *c, const char *print_after, graph_pass_list *order,
                             hg_graph **done) {
    graph_watch watch = {.verify = true,
                         .after = print_after ? after_pass : NULL,
                         .user = (void *)(uintptr_t)print_after};
    HG_TRY(graph_passes_named(c->passes, order));
    return graph_optimize(c->graph, order, &watch, done);
}

/* ---- explain ---- */

/* What is known of a graph once it was optimised. */
typedef struct explained {
    const hg_graph *g;
    hg_graph *done;
    graph_pass_list order;
    graph_regions regions;
    uint64_t *extents; /* NULL: they follow from a run */
    graph_memory shared, apart;
} explained;

bool cli_take_symbols(cli *c, const hg_graph *g, uint64_t *symbols) {
    uint64_t given = 0;
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *pair = &c->pairs.data[i];
        if (strcmp(pair->option, "--set") != 0) continue;
        uint32_t symbol = graph_find_symbol(g, pair->name, strlen(pair->name));
        if (symbol == GRAPH_NOT_SET)
            cli_usage(c, "--set %s: the graph has no such extent", pair->name);
        else if (cli_number(c, "--set", pair->value, UINT64_MAX - 1, &symbols[symbol]))
            given |= UINT64_C(1) << symbol;
    }
    return c->status == CLI_OK && given == (UINT64_C(1) << g->symbols.count) - 1;
}

static hg_status find_out(cli *c, const char *print_after, explained *e) {
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS] = {0};
    HG_TRY(cli_optimize_graph(c, print_after, &e->order, &e->done));
    const hg_graph *done = e->done;
    HG_TRY(graph_lower(done, graph_passes_have(&e->order, GRAPH_PASS_JOIN), &e->regions));
    if (!cli_take_symbols(c, done, symbols)) return HG_OK;
    e->extents = cli_extents(done, symbols);
    if (!e->extents) return HG_ERROR_INVALID_ARGUMENT;
    HG_TRY(graph_plan_memory(done, e->extents, graph_passes_have(&e->order, GRAPH_PASS_SHARE),
                             &e->shared));
    return graph_plan_memory(done, e->extents, false, &e->apart);
}

static void forget(explained *e) {
    graph_regions_free(&e->regions);
    graph_memory_free(&e->shared);
    graph_memory_free(&e->apart);
    hg_free(e->extents);
    hg_graph_release(e->done);
}

static void explain_memory(cli *c, const explained *e) {
    char text[160];
    if (!e->extents) {
        cli_out(c, "memory: follows from the extents that a run gives (--set N=VALUE here)\n");
        return;
    }
    cli_out(c,
            "memory: %llu bytes between calls (%llu if no two shared any; no plan needs less than "
            "%llu)\n",
            (unsigned long long)e->shared.bytes, (unsigned long long)e->apart.bytes,
            (unsigned long long)e->shared.least);
    if (e->done->calls.count && e->shared.least)
        cli_out(c, "most at: %s\n",
                graph_call_text(e->done, &e->done->calls.data[e->shared.peak], text));
}

static void explain_launches(cli *c, const explained *e) {
    char text[160];
    for (uint64_t i = 0; i < e->regions.count; i++) {
        const graph_region *r = &e->regions.data[i];
        cli_out(c, "launch %llu:\n", (unsigned long long)i + 1);
        for (uint64_t k = 0; k < r->calls.count; k++)
            cli_out(c, "    %s\n",
                    graph_call_text(e->done, &e->done->calls.data[r->calls.data[k]], text));
    }
}

static void explain_text(cli *c, const explained *e) {
    hg_text text = {0};
    cli_out(c, "passes:\n");
    for (uint32_t i = 0; hg_graph_pass_name(i); i++)
        cli_out(c, "    %-9s %s\n", hg_graph_pass_name(i), hg_graph_pass_about(i));
    cli_out(c, "calls: %llu, %llu after the passes\n", (unsigned long long)e->g->calls.count,
            (unsigned long long)e->done->calls.count);
    explain_launches(c, e);
    explain_memory(c, e);
    graph_print(&text, e->done);
    cli_out(c, "\nafter the passes:\n%s", text.data ? text.data : "");
    hg_text_free(&text);
}

static void explain_json(cli *c, const explained *e) {
    hg_json json;
    hg_text text = {0};
    graph_print(&text, e->done);
    cli_json_item(c, &json);
    hg_json_add_text(&json, "graph", e->g->name);
    hg_json_add_u64(&json, "calls", e->g->calls.count);
    hg_json_add_u64(&json, "calls_after_passes", e->done->calls.count);
    hg_json_add_u64(&json, "launches", e->regions.count);
    if (e->extents) {
        hg_json_add_u64(&json, "workspace_bytes", e->shared.bytes);
        hg_json_add_u64(&json, "unshared_bytes", e->apart.bytes);
        hg_json_add_u64(&json, "least_bytes", e->shared.least);
    }
    hg_json_add_text(&json, "after_passes", text.data ? text.data : "");
    hg_json_end_object(&json);
    hg_text_free(&text);
}

static void draw(cli *c, const explained *e, const char *path) {
    hg_text text = {0};
    cli_draw_graph(&text, e->done, &e->regions, e->extents, &e->shared);
    if (text.failed || !text.data) {
        HG_IGNORE(hg_fail_memory()); /* it is this thread's error */
        cli_last_error(c);
    } else {
        cli_write(c, path, text.data, text.length);
    }
    hg_text_free(&text);
}

void cli_explain_graph(cli *c, const char *print_after, const char *svg) {
    explained e = {.g = c->graph};
    if (!cli_graph_print_after(c, print_after)) return;
    if (find_out(c, print_after, &e) != HG_OK)
        cli_last_error(c);
    else if (c->status != CLI_OK)
        ; /* was reported */
    else if (svg)
        draw(c, &e, svg);
    else if (c->json)
        explain_json(c, &e);
    else
        explain_text(c, &e);
    forget(&e);
}

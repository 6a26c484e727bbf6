/* hologram describe: what a program or an array graph takes and gives, for people and as a document
 * of docs/reference/describe.schema.json. */
#include "cli.h"
#include "graph/graph.h"
#include <hologram/dim.h>
#include <string.h>

enum { DESCRIBE_VERSION = 1 }; /* to be raised when a field changes */

static const char *const KINDS[] = {
    [HG_PARAM_SCALAR] = "scalar", [HG_PARAM_BUFFER] = "buffer", [HG_PARAM_POOL] = "pool"};
static const char *const DIRECTIONS[] = {
    "", [HG_PARAM_IN] = "in", [HG_PARAM_OUT] = "out", [HG_PARAM_INOUT] = "inout"};

/* ---- programs as JSON ---- */

static void add_texts(hg_json *json, const char *key, const char *const *texts, uint32_t count) {
    hg_json_key(json, key);
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < count; i++) hg_json_text(json, texts[i]);
    hg_json_end_array(json);
}

static void add_null(hg_json *json, const char *key) {
    hg_json_key(json, key);
    hg_json_null(json);
}

static void add_param(hg_json *json, const hg_param_description *p) {
    hg_json_begin_object(json);
    hg_json_add_text(json, "name", p->name);
    hg_json_add_text(json, "kind", KINDS[p->kind]);
    hg_json_add_u64(json, "register", p->reg);
    if (p->kind == HG_PARAM_POOL) {
        hg_json_add_u64(json, "bytes", p->pool_bytes);
    } else {
        hg_json_add_text(json, "type", hg_type_name(p->type));
        if (p->kind == HG_PARAM_SCALAR) hg_json_add_text(json, "default", p->default_text);
    }
    if (p->kind == HG_PARAM_BUFFER) {
        hg_json_add_text(json, "direction", DIRECTIONS[p->dir]);
        if (p->rank == HG_NO_DIMS)
            add_null(json, "shape");
        else
            add_texts(json, "shape", p->dims, p->rank);
    }
    hg_json_end_object(json);
}

static hg_status add_params(hg_json *json, const hg_program *program, uint64_t count) {
    hg_json_key(json, "parameters");
    hg_json_begin_array(json);
    for (uint64_t i = 0; i < count; i++) {
        hg_param_description p = {.size = sizeof p};
        HG_TRY(hg_program_param(program, (size_t)i, &p));
        add_param(json, &p);
    }
    hg_json_end_array(json);
    return HG_OK;
}

static hg_status add_labels(hg_json *json, const hg_program *program, uint64_t count) {
    hg_json_key(json, "labels");
    hg_json_begin_array(json);
    for (uint64_t i = 0; i < count; i++) {
        hg_label_description label = {.size = sizeof label};
        HG_TRY(hg_program_label(program, (size_t)i, &label));
        hg_json_begin_object(json);
        hg_json_add_text(json, "name", label.name);
        hg_json_add_u64(json, "instruction", label.instruction);
        hg_json_add_bool(json, "called", label.called);
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
    return HG_OK;
}

static void add_launch(hg_json *json, const hg_program_description *p) {
    hg_json_key(json, "launch");
    hg_json_begin_object(json);
    add_texts(json, "lanes", p->lanes, p->lanes_count);
    add_texts(json, "grid", p->grid, p->grid_count);
    hg_json_key(json, "block");
    hg_json_begin_array(json);
    for (int i = 0; i < 3 && p->block[0]; i++) hg_json_u64(json, p->block[i]);
    hg_json_end_array(json);
    hg_json_add_u64(json, "shared_bytes", p->shared_bytes);
    hg_json_add_u64(json, "private_bytes", p->private_bytes);
    hg_json_end_object(json);
}

static void add_entry(hg_json *json, const hg_program_description *p) {
    hg_json_key(json, "entry");
    hg_json_begin_object(json);
    hg_json_add_u64(json, "instruction", p->entry);
    hg_json_add_text(json, "label", p->entry_label);
    hg_json_end_object(json);
}

static hg_status add_program(hg_json *json, const hg_program *program,
                             const hg_program_description *p) {
    hg_json_add_text(json, "kind", "program");
    hg_json_add_text(json, "name", p->name);
    hg_json_add_u64(json, "instructions", p->instructions);
    hg_json_add_bool(json, "relaxed", p->relaxed);
    HG_TRY(add_params(json, program, p->params));
    add_launch(json, p);
    add_entry(json, p);
    HG_TRY(add_labels(json, program, p->labels));
    hg_json_key(json, "meta");
    hg_json_begin_object(json);
    for (size_t i = 0; i < p->metas; i++)
        hg_json_add_text(json, hg_program_meta_key(program, i),
                         hg_program_meta(program, hg_program_meta_key(program, i)));
    hg_json_end_object(json);
    return HG_OK;
}

/* ---- programs for people ---- */

static void print_list(cli *c, const char *before, const char *const *texts, uint32_t count,
                       const char *between, const char *after) {
    for (uint32_t i = 0; i < count; i++) {
        cli_out(c, "%s", i ? between : before);
        cli_out(c, "%s", texts[i]);
    }
    if (count) cli_out(c, "%s", after);
}

static void print_count(cli *c, uint64_t count, const char *what) {
    cli_out(c, "%llu %s%s", (unsigned long long)count, what, count == 1 ? "" : "s");
}

static void print_param(cli *c, const hg_param_description *p) {
    cli_out(c, "%-16s %s", p->name, KINDS[p->kind]);
    if (p->kind == HG_PARAM_POOL) cli_out(c, " of %llu bytes", (unsigned long long)p->pool_bytes);
    if (p->kind != HG_PARAM_POOL) cli_out(c, " %s", hg_type_name(p->type));
    if (p->kind == HG_PARAM_BUFFER) cli_out(c, " %s", DIRECTIONS[p->dir]);
    if (p->kind == HG_PARAM_BUFFER && p->rank != HG_NO_DIMS) {
        cli_out(c, " [");
        print_list(c, "", p->dims, p->rank, ", ", "");
        cli_out(c, "]");
    }
    if (p->default_text) cli_out(c, " = %s", p->default_text);
    cli_out(c, "\n");
}

static hg_status print_program(cli *c, const hg_program_description *p) {
    cli_out(c, "program %s: ", p->name);
    print_count(c, p->instructions, "instruction");
    cli_out(c, p->relaxed ? ", relaxed\n" : "\n");
    for (uint64_t i = 0; i < p->params; i++) {
        hg_param_description param = {.size = sizeof param};
        HG_TRY(hg_program_param(c->program, (size_t)i, &param));
        print_param(c, &param);
    }
    print_list(c, ".lanes ", p->lanes, p->lanes_count, " * ", "\n");
    print_list(c, ".grid ", p->grid, p->grid_count, ", ", "\n");
    if (p->block[0])
        cli_out(c, ".block %u, %u, %u\n", (unsigned)p->block[0], (unsigned)p->block[1],
                (unsigned)p->block[2]);
    if (p->shared_bytes) cli_out(c, ".shared %llu bytes\n", (unsigned long long)p->shared_bytes);
    if (p->private_bytes) cli_out(c, ".private %llu bytes\n", (unsigned long long)p->private_bytes);
    if (p->entry)
        cli_out(c, ".entry %s: instruction %llu\n", p->entry_label ? p->entry_label : "",
                (unsigned long long)p->entry);
    for (size_t i = 0; i < p->metas; i++) {
        const char *key = hg_program_meta_key(c->program, i);
        cli_out(c, ".meta %s: %s\n", key, hg_program_meta(c->program, key));
    }
    return HG_OK;
}

static hg_status describe_program(cli *c) {
    hg_program_description p = {.size = sizeof p};
    HG_TRY(hg_program_describe(c->program, &p));
    if (!c->json) return print_program(c, &p);
    hg_json json;
    cli_json_item(c, &json);
    HG_TRY(add_program(&json, c->program, &p));
    hg_json_end_object(&json);
    return HG_OK;
}

/* ---- array graphs ---- */

/* The extents of a value: "2", "batch * 3". To be freed. */
static void print_shape(hg_text *out, const hg_graph *g, const graph_value *v) {
    for (uint8_t d = 0; d < v->rank; d++) {
        if (d) hg_text_addf(out, ", ");
        graph_print_extent(out, g, v->extents[d]);
    }
}

static void add_value(cli *c, hg_json *json, const char *role, const char *name,
                      const graph_value *v) {
    const hg_graph *g = c->graph;
    hg_text text = {0};
    if (!json) {
        print_shape(&text, g, v);
        cli_out(c, "%-16s %s %s [", name, role, hg_type_name((hg_type)v->type));
        if (text.data) hg_text_add(&c->outputs, text.data, text.length);
        cli_out(c, v->file ? "] of %s\n" : "]\n", v->file);
    } else {
        hg_json_begin_object(json);
        hg_json_add_text(json, "name", name);
        hg_json_add_text(json, "type", hg_type_name((hg_type)v->type));
        hg_json_key(json, "shape");
        hg_json_begin_array(json);
        for (uint8_t d = 0; d < v->rank; d++) {
            text.length = 0;
            graph_print_extent(&text, g, v->extents[d]);
            hg_json_text(json, text.data);
        }
        hg_json_end_array(json);
        if (v->source == GRAPH_CONSTANT && strcmp(role, "constant") == 0)
            hg_json_add_text(json, "file", v->file);
        hg_json_end_object(json);
    }
    if (text.failed) c->outputs.failed = true;
    hg_text_free(&text);
}

static void add_values(cli *c, hg_json *json, const char *key, const char *role,
                       graph_source source) {
    if (json) hg_json_key(json, key);
    if (json) hg_json_begin_array(json);
    for (uint64_t i = 0; i < c->graph->values.count; i++) {
        const graph_value *v = &c->graph->values.data[i];
        if (v->source == source) add_value(c, json, role, v->name, v);
    }
    if (json) hg_json_end_array(json);
}

static void add_outputs(cli *c, hg_json *json) {
    if (json) hg_json_key(json, "outputs");
    if (json) hg_json_begin_array(json);
    for (uint64_t i = 0; i < c->graph->outputs.count; i++)
        add_value(c, json, "output", c->graph->outputs.data[i].name,
                  &c->graph->values.data[c->graph->outputs.data[i].value]);
    if (json) hg_json_end_array(json);
}

static void describe_graph(cli *c) {
    const hg_graph *g = c->graph;
    hg_json item, *json = c->json ? &item : NULL;
    if (json) {
        cli_json_item(c, json);
        hg_json_add_text(json, "kind", "graph");
        hg_json_add_text(json, "name", g->name);
        hg_json_add_u64(json, "calls", g->calls.count);
        add_texts(json, "symbols", g->symbols.data, (uint32_t)g->symbols.count);
    } else {
        cli_out(c, "graph %s: ", g->name);
        print_count(c, g->calls.count, "call");
        cli_out(c, "\n");
        for (uint64_t i = 0; i < g->symbols.count; i++)
            cli_out(c, "%-16s extent\n", g->symbols.data[i]);
    }
    add_values(c, json, "inputs", "input", GRAPH_INPUT);
    add_values(c, json, "constants", "constant", GRAPH_CONSTANT);
    add_outputs(c, json);
    if (json) hg_json_end_object(json);
}

/* ---- the command ---- */

int command_describe(int argc, char **argv) {
    cli c = {.version = DESCRIBE_VERSION};
    if (!cli_parse(&c, argc, argv, NULL, 0) || !cli_one_program(&c)) return cli_finish(&c);
    const char *path = cli_file(&c);
    bool is_graph = cli_is_graph(&c, path);
    if (is_graph ? cli_load_graph(&c, path) : cli_load(&c, path) && cli_verify(&c)) {
        if (is_graph)
            describe_graph(&c);
        else if (describe_program(&c) != HG_OK)
            cli_last_error(&c);
    }
    return cli_finish(&c);
}

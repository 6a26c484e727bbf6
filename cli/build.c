/* hologram build: programs or an array graph as C text, or as a library that the C compiler of this
 * machine makes of it. */
#include "arrays.h"
#include "cli.h"
#include "offline/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct build_request {
    const char *out, *name, *target; /* as given; without its folder */
    char shortened[4096];            /* out without .wasm */
    bool library;
    HG_VEC(hg_program *) programs;
    HG_VEC(hg_build_value) values;
    const hg_graph *graph; /* the command's, in place of programs, of which there is one then: its
                              interface */
    hg_text c, h;
} build_request;

/* As of verify: each program's messages are its own. */
static void load_program(cli *c, build_request *r, const char *path) {
    cli one = {.command = c->command,
               .json = c->json,
               .kernel = c->kernel,
               .diagnostics = hg_diagnostics_create(20)};
    one.defines.data = c->defines.data; /* lent */
    one.defines.count = c->defines.count;
    one.include_folders.data = c->include_folders.data;
    one.include_folders.count = c->include_folders.count;
    one.program_name = c->program_name;
    if (cli_load(&one, path) && cli_verify(&one)) {
        hg_program **slot = hg_vec_push(&r->programs);
        if (slot) {
            *slot = one.program;
            one.program = NULL;
        } else {
            cli_error(&one, "X01", "out of memory");
        }
    }
    one.defines.data = one.include_folders.data = NULL;
    cli_join(c, &one);
}

/* Its interface is the program whose scalars are its symbols. */
static void load_graph(cli *c, build_request *r, const char *path) {
    if (!cli_load_graph(c, path)) return;
    hg_program **face = hg_vec_push(&r->programs);
    r->graph = c->graph;
    if (face)
        *face = hg_program_retain(c->program);
    else
        cli_error(c, "X01", "out of memory");
}

/* ---- scalars with a value ---- */

/* The value for one program; true where that has no such scalar. False after reporting. */
static bool take_value(cli *c, build_request *r, uint32_t number, const cli_pair *pair,
                       bool *found) {
    const hg_program *program = r->programs.data[number];
    for (uint32_t i = 0; i < program->param_count; i++) {
        const hg_param *param = &program->params[i];
        cli_value value = {.param = param};
        if (param->kind != HG_PARAM_SCALAR || strcmp(param->name, pair->name) != 0) continue;
        *found = true;
        if (hg_type_size_bytes((hg_type)param->type) > sizeof(uint64_t)) {
            cli_usage(c, "--set %s: a scalar of more than 64 bits stays a parameter", pair->name);
            return false;
        }
        if (!cli_set_scalar(c, &value, pair->value)) return false;
        hg_build_value *to = hg_vec_push(&r->values);
        if (!to) {
            cli_error(c, "X01", "out of memory");
            return false;
        }
        *to = (hg_build_value){.program = number, .name = param->name};
        memcpy(&to->bits, value.scalar, (size_t)hg_type_size_bytes((hg_type)param->type));
    }
    return true;
}

static bool take_values(cli *c, build_request *r) {
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *pair = &c->pairs.data[i];
        bool found = false;
        for (uint32_t n = 0; n < r->programs.count; n++)
            if (!take_value(c, r, n, pair, &found)) return false;
        if (found) continue;
        cli_usage(c, "--set %s: nothing has a scalar of that name", pair->name);
        return false;
    }
    return true;
}

static bool make_texts(cli *c, build_request *r) {
    const hg_build_request request = {.programs = (const hg_program *const *)r->programs.data,
                                      .count = (uint32_t)r->programs.count,
                                      .graph = r->graph,
                                      .name = r->name,
                                      .values = r->values.data,
                                      .value_count = (uint32_t)r->values.count};
    hg_status status;
    if (r->graph)
        status = r->target ? hg_build_graph_wasm(&request, &r->c)
                           : hg_build_graph(&request, &r->c, &r->h);
    else
        status = r->target ? hg_build_wasm(&request, &r->c) : hg_build(&request, &r->c, &r->h);
    if (status == HG_OK) return true;
    if (status == HG_ERROR_INVALID_ARGUMENT)
        cli_usage(c, "%s", hg_last_error()->message);
    else
        cli_error(c, "X05", "%s", hg_last_error()->message);
    return false;
}

/* ---- files ---- */

static hg_status add_file(hg_outputs *outputs, const char *name, const char *suffix,
                          const void *data, size_t length) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s%s", name, suffix) >= sizeof path)
        return hg_fail(HG_ERROR_IO, "the path is too long");
    const hg_file_part part = {.data = data, .length = length};
    return hg_outputs_add(outputs, path, &part, 1);
}

static void tell_file(cli *c, const char *name, const char *suffix, size_t length) {
    hg_json json;
    char path[4096];
    if (!c->json) return;
    snprintf(path, sizeof path, "%s%s", name, suffix);
    cli_json_item(c, &json);
    hg_json_add_text(&json, "file", path);
    hg_json_add_u64(&json, "bytes", length);
    hg_json_end_object(&json);
}

static void write_files(cli *c, const build_request *r, const char *suffix, const void *data,
                        size_t length) {
    hg_outputs *outputs = hg_outputs_create();
    hg_status status = outputs ? HG_OK : hg_fail_memory();
    if (status == HG_OK) status = add_file(outputs, r->out, suffix, data, length);
    if (status == HG_OK && !r->target)
        status = add_file(outputs, r->out, ".h", r->h.data, r->h.length);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    if (status != HG_OK) {
        cli_last_error(c);
        return;
    }
    tell_file(c, r->out, suffix, length);
    if (!r->target) tell_file(c, r->out, ".h", r->h.length);
}

/* ---- the library ---- */

/* The compiler's messages go to standard error. False after reporting. */
static bool compile(cli *c, const char *folder, const char *name, const char *library) {
    hg_text line = {0};
    const char *compiler = getenv("CC");
    if (!compiler || !*compiler) compiler = "cc";
    hg_text_addf(&line, "%s -std=gnu17 -O3 -fPIC -shared -o '%s' '%s/%s.c' -lm >&2", compiler,
                 library, folder, name);
    int status = line.data ? system(line.data) : -1; /* $CC is words for a shell */
    hg_text_free(&line);
    if (status == 0) return true;
    cli_error(c, "X05",
              "the C compiler '%s' made no library (status %d): set CC, or build without --library",
              compiler, WIFEXITED(status) ? WEXITSTATUS(status) : status);
    return false;
}

static void write_library(cli *c, const build_request *r) {
    char folder[64] = "/tmp/hologram-build-XXXXXX", path[512], library[80];
    hg_bytes bytes = {0};
    if (!mkdtemp(folder)) {
        cli_error(c, "X02", "no folder for the compiler: /tmp cannot be written");
        return;
    }
    snprintf(library, sizeof library, "%s/library", folder);
    snprintf(path, sizeof path, "%s/%s", folder, r->name);
    hg_outputs *outputs = hg_outputs_create();
    hg_status status = outputs ? add_file(outputs, path, ".c", r->c.data, r->c.length)
                               : hg_fail_memory();
    if (status == HG_OK) status = add_file(outputs, path, ".h", r->h.data, r->h.length);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    if (status != HG_OK)
        cli_last_error(c);
    else if (compile(c, folder, r->name, library)) {
        if (hg_file_read(library, UINT64_MAX, &bytes) != HG_OK)
            cli_last_error(c);
        else
            write_files(c, r, ".so", bytes.data, (size_t)bytes.length);
    }
    hg_bytes_free(&bytes);
    unlink(library);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, r->name, i ? ".c" : ".h");
        unlink(path);
    }
    rmdir(folder);
}

/* --target, and NAME.wasm as NAME. False after reporting. */
static bool take_target(cli *c, build_request *r) {
    static const char end[] = ".wasm";
    const size_t length = r->out ? strlen(r->out) : 0, own = sizeof end - 1;
    if (!r->target) return true;
    if (strcmp(r->target, "wasm") != 0) {
        if (strcmp(r->target, "c") == 0) {
            r->target = NULL;
            return true;
        }
        cli_usage(c, "--target %s: expects c or wasm", r->target);
        return false;
    }
    if (r->library) {
        cli_usage(c, "--library is of --target c");
        return false;
    }
    if (length > own && length < sizeof r->shortened && strcmp(r->out + length - own, end) == 0) {
        snprintf(r->shortened, sizeof r->shortened, "%.*s", (int)(length - own), r->out);
        r->out = r->shortened;
    }
    return true;
}

int command_build(int argc, char **argv) {
    cli c = {0};
    build_request r = {0};
    const cli_option options[] = {{"-o", &r.out, NULL},
                                  {"--target", &r.target, NULL},
                                  {"--library", NULL, &r.library},
                                  {"--as-graph", NULL, &c.as_graph}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !take_target(&c, &r))
        return cli_finish(&c);
    const char *slash = r.out ? strrchr(r.out, '/') : NULL;
    r.name = slash ? slash + 1 : r.out;
    if (c.arguments.count == 0)
        cli_usage(&c, "expects at least one PROGRAM");
    else if (!r.out)
        cli_usage(&c, "expects -o NAME, for NAME.c and NAME.h or NAME.wasm");
    const bool graph = c.arguments.count == 1 && r.out && cli_is_graph(&c, c.arguments.data[0]);
    if (graph)
        load_graph(&c, &r, c.arguments.data[0]);
    else
        for (uint64_t i = 0; i < c.arguments.count && r.out; i++)
            load_program(&c, &r, c.arguments.data[i]);
    if (c.status == CLI_OK && take_values(&c, &r) && make_texts(&c, &r)) {
        if (r.target)
            write_files(&c, &r, ".wasm", r.c.data, r.c.length);
        else if (r.library)
            write_library(&c, &r);
        else
            write_files(&c, &r, ".c", r.c.data, r.c.length);
    }
    for (uint64_t i = 0; i < r.programs.count; i++) hg_program_release(r.programs.data[i]);
    hg_vec_free(&r.programs);
    hg_vec_free(&r.values);
    hg_text_free(&r.c);
    hg_text_free(&r.h);
    return cli_finish(&c);
}

/* Reading a program with the front end of its language, by file name, or by its first bytes on
 * standard input. */
#include "cli.h"
#include "translators/front_ends.h"
#include <stdio.h>
#include <string.h>

static bool fails(cli *c, hg_status status, size_t errors_before) {
    if (status == HG_OK) return false;
    if (hg_diagnostics_errors(c->diagnostics) == errors_before) cli_last_error(c);
    if (c->status == CLI_OK) c->status = CLI_FAILED;
    return true;
}

static hg_status translate(cli *c, const hg_front_end *front_end, const hg_bytes *bytes) {
    c->circuit_options.size = sizeof c->circuit_options;
    c->circuit.size = sizeof c->circuit;
    hg_assemble_options assembly = cli_assembling(c);
    hg_front_end_request request = {.kernel = c->kernel,
                                    .circuit = &c->circuit_options,
                                    .assembly = &assembly,
                                    .record = &c->circuit};
    return front_end->translate((const char *)bytes->data, (size_t)bytes->length, &request,
                                c->diagnostics, &c->program);
}

bool cli_load_circuit(cli *c, const char *text) {
    c->file = "<expression>";
    if (c->defines.count || c->program_name || c->kernel) {
        cli_usage(c, "%s is not for circuits",
                  c->defines.count  ? "--define"
                  : c->program_name ? "--program"
                                    : "--kernel");
        return false;
    }
    if (hg_bytes_alloc(strlen(text), &c->source) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    if (c->source.length) memcpy(c->source.data, text, (size_t)c->source.length);
    return !fails(c, translate(c, &hg_front_end_circuit, &c->source), 0);
}

bool cli_take_input(cli *c, const char *path, const char *reader, const char *what) {
    if (strcmp(path, "-") != 0 && strcmp(path, "raw:-") != 0) return true;
    if (c->rank) {
        cli_usage(c, "%s: there is one standard input for several ranks", reader);
        return false;
    }
    if (c->input_has[0]) {
        cli_usage(c, "%s: standard input has %s already", reader, c->input_has);
        return false;
    }
    snprintf(c->input_has, sizeof c->input_has, "%s", what);
    return true;
}

/* --kernel NAME without a file. */
static bool load_named_kernel(cli *c) {
    c->file = c->kernel;
    if (c->defines.count || c->program_name) {
        cli_usage(c, "%s is for texts of .atlas, --kernel without a file is a named kernel",
                  c->defines.count ? "--define" : "--program");
        return false;
    }
    return !fails(c, hg_kernel_by_name(c->kernel, &c->program),
                  hg_diagnostics_errors(c->diagnostics));
}

const char *cli_file(const cli *c) { return c->arguments.count ? c->arguments.data[0] : NULL; }

bool cli_take_source(cli *c, const char *path, hg_bytes bytes) {
    const hg_front_end *front_end = hg_front_end_choose(path, (const char *)bytes.data,
                                                        (size_t)bytes.length);
    if (c->kernel && !front_end->has_kernels) {
        cli_usage(c, "--kernel chooses a kernel of a .json file, '%s' is none", c->file);
        hg_bytes_free(&bytes);
        return false;
    }
    if ((c->defines.count || c->program_name) && !front_end->has_assembly) {
        cli_usage(c, "%s is for texts of .atlas, '%s' is another file",
                  c->defines.count ? "--define" : "--program", c->file);
        hg_bytes_free(&bytes);
        return false;
    }
    if (!front_end->binary) c->source = bytes;
    hg_status status = translate(c, front_end, &bytes);
    if (front_end->binary) hg_bytes_free(&bytes);
    return !fails(c, status, 0);
}

bool cli_load(cli *c, const char *path) {
    if (!path) return load_named_kernel(c);
    bool from_input = strcmp(path, "-") == 0;
    hg_bytes bytes = {0};
    if (hg_path_ends(path, ".graph") || cli_is_stablehlo(path)) {
        cli_usage(
            c,
            "'%s' is an array graph: run, verify, describe, explain, plan, emit, bench, diff and "
            "build (alone) take one",
            path);
        return false;
    }
    c->file = from_input ? "<stdin>" : path;
    if (!cli_take_input(c, path, "the program", "the program")) return false;
    if (hg_file_read(path, HG_MAX_SOURCE_BYTES, &bytes) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    return cli_take_source(c, from_input ? NULL : path, bytes);
}

bool cli_verify(cli *c) {
    size_t before = hg_diagnostics_errors(c->diagnostics);
    return !fails(c, hg_program_verify(c->program, c->diagnostics), before);
}

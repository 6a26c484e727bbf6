/* Reading a program: text or container, by file name, or by its first bytes on standard input. */
#include "cli.h"
#include <string.h>

static bool fails(cli *c, hg_status status, size_t errors_before) {
    if (status == HG_OK) return false;
    if (hg_diagnostics_errors(c->diagnostics) == errors_before) cli_last_error(c);
    if (c->status == CLI_OK) c->status = CLI_FAILED;
    return true;
}

bool cli_load(cli *c, const char *path) {
    bool from_input = strcmp(path, "-") == 0;
    hg_bytes bytes = {0};
    c->file = from_input ? "<stdin>" : path;
    if (hg_file_read(path, HG_MAX_SOURCE_BYTES, &bytes) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    bool binary = bytes.length >= 4 && memcmp(bytes.data,
                                              "\x89"
                                              "ATL",
                                              4) == 0;
    if (!from_input && (hg_path_ends(path, ".json") || hg_path_ends(path, ".circuit"))) {
        cli_usage(c, "'%s': this build reads .atlas and .atlasb programs only", path);
        hg_bytes_free(&bytes);
        return false;
    }
    if (!from_input && hg_path_ends(path, ".atlasb")) binary = true;
    hg_status status;
    if (binary) {
        status = hg_program_decode(bytes.data, (size_t)bytes.length, c->diagnostics, &c->program);
        hg_bytes_free(&bytes);
    } else {
        c->source = bytes;
        status = hg_program_assemble((const char *)bytes.data, (size_t)bytes.length, c->diagnostics, &c->program);
    }
    return !fails(c, status, 0);
}

bool cli_verify(cli *c) {
    size_t before = hg_diagnostics_errors(c->diagnostics);
    return !fails(c, hg_program_verify(c->program, c->diagnostics), before);
}

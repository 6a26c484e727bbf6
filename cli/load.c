/* Reading a program: text, container, circuit or JSON kernel, by file name, or by its first bytes on standard input. */
#include "cli.h"
#include <hologram/json_kernel.h>
#include <string.h>

static bool fails(cli *c, hg_status status, size_t errors_before) {
    if (status == HG_OK) return false;
    if (hg_diagnostics_errors(c->diagnostics) == errors_before) cli_last_error(c);
    if (c->status == CLI_OK) c->status = CLI_FAILED;
    return true;
}

/* A circuit begins with a generator, a transform or a parenthesis, behind comments of its own: programs in text never do. */
static bool looks_like_circuit(const hg_bytes *bytes) {
    const char *p = (const char *)bytes->data, *end = p + bytes->length;
    if (bytes->length >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3;
    while (p < end) {
        if (strchr(" \t\r\n", *p) && *p) {
            p++;
        } else if (end - p >= 2 && memcmp(p, "//", 2) == 0) {
            const char *line = memchr(p, '\n', (size_t)(end - p));
            p = line ? line : end;
        } else {
            return (*p >= 'a' && *p <= 'z') || *p == 'R' || *p == 'D' || *p == 'T' || *p == '~' || *p == '(';
        }
    }
    return false;
}

static hg_status load_circuit(cli *c) {
    c->circuit.size = sizeof c->circuit;
    c->circuit_options.size = sizeof c->circuit_options;
    HG_TRY(hg_circuit_to_isa_translate((const char *)c->source.data, (size_t)c->source.length, &c->circuit_options, c->diagnostics,
                                       &c->circuit));
    c->program = hg_program_retain(c->circuit.program);
    return HG_OK;
}

bool cli_load_circuit(cli *c, const char *text) {
    c->file = "<expression>";
    if (hg_bytes_alloc(strlen(text), &c->source) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    if (c->source.length) memcpy(c->source.data, text, (size_t)c->source.length);
    return !fails(c, load_circuit(c), 0);
}

/* A document begins with a brace or a bracket, a program's text with neither. */
static bool looks_like_json(const hg_bytes *bytes) {
    const char *text = (const char *)bytes->data;
    uint64_t i = 0;
    while (i < bytes->length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t')) i++;
    return i < bytes->length && (text[i] == '{' || text[i] == '[');
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
    bool json = from_input ? looks_like_json(&bytes) : hg_path_ends(path, ".json");
    if (!from_input && hg_path_ends(path, ".atlasb")) binary = true;
    if (c->kernel && !json) {
        cli_usage(c, "--kernel chooses a kernel of a .json file, '%s' is none", c->file);
        hg_bytes_free(&bytes);
        return false;
    }
    hg_status status;
    if (json) {
        c->source = bytes;
        status = hg_json_to_isa_translate_named((const char *)bytes.data, (size_t)bytes.length, c->kernel, c->diagnostics, &c->program);
    } else if (binary) {
        status = hg_program_decode(bytes.data, (size_t)bytes.length, c->diagnostics, &c->program);
        hg_bytes_free(&bytes);
    } else if (from_input ? looks_like_circuit(&bytes) : hg_path_ends(path, ".circuit")) {
        c->source = bytes;
        status = load_circuit(c);
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

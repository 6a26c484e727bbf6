/* asm, disasm, verify: programs in, text or containers out. */
#include "cli.h"
#include <string.h>
#include <unistd.h>

static bool one_argument(cli *c, const char *what) {
    if (c->arguments.count == 1 || (c->arguments.count == 0 && c->kernel)) return true;
    cli_usage(c, "expects one %s, got %llu", what, (unsigned long long)c->arguments.count);
    return false;
}
bool cli_one_file(cli *c) { return one_argument(c, "FILE"); }
bool cli_one_program(cli *c) { return one_argument(c, "PROGRAM"); }

/* To -o FILE, else to standard output with everything else of the command. */
void cli_write(cli *c, const char *path, const void *bytes, size_t length) {
    if (!path || strcmp(path, "-") == 0) {
        if (!c->json) hg_text_add(&c->outputs, bytes, length);
        return;
    }
    if (hg_file_write(path, bytes, length) != HG_OK) cli_last_error(c);
}

/* What was written, with the hash that caches know the program by. */
static void add_hash(cli *c, const char *path, size_t length) {
    char hash[65];
    cli_hash_text(hg_program_hash(c->program), hash);
    if (!c->json) {
        cli_out(c, "%s: %zu bytes, hash %s\n", path, length, hash);
        return;
    }
    hg_json json;
    cli_json_item(c, &json);
    hg_json_add_text(&json, "file", path);
    hg_json_add_u64(&json, "bytes", length);
    hg_json_add_text(&json, "hash", hash);
    hg_json_end_object(&json);
}

int command_asm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    bool debug = false;
    const cli_option options[] = {{"-o", &out, NULL}, {"-g", NULL, &debug}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !cli_one_file(&c))
        return cli_finish(&c);
    bool to_output = !out || strcmp(out, "-") == 0;
    if (to_output && c.json)
        cli_usage(&c, "--json needs -o FILE");
    else if (to_output && isatty(STDOUT_FILENO))
        cli_usage(&c, "a container is not for a terminal: use -o FILE");
    else if (cli_load(&c, cli_file(&c)) && cli_verify(&c)) {
        uint8_t *bytes = NULL;
        size_t length = 0;
        if (hg_program_encode(c.program, debug ? HG_PROGRAM_DEBUG : 0, &bytes, &length) != HG_OK)
            cli_last_error(&c);
        else
            cli_write(&c, out, bytes, length);
        hg_string_free((char *)bytes);
        if (!to_output && c.status == CLI_OK) add_hash(&c, out, length);
    }
    return cli_finish(&c);
}

int command_disasm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    bool structured = false;
    const cli_option options[] = {{"-o", &out, NULL}, {"--structured", NULL, &structured}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !cli_one_file(&c))
        return cli_finish(&c);
    if (cli_load(&c, cli_file(&c)) && (!structured || cli_verify(&c))) {
        char *text = NULL;
        size_t length = 0;
        if ((structured ? hg_program_print_structured : hg_program_print)(c.program, &text,
                                                                          &length) != HG_OK)
            cli_last_error(&c);
        else
            cli_write(&c, out, text, length);
        hg_string_free(text);
    }
    return cli_finish(&c);
}

/* Each file is reported on its own; the worst status is the command's. */
int command_verify(int argc, char **argv) {
    cli c = {0};
    if (!cli_parse(&c, argc, argv, NULL, 0)) return cli_finish(&c);
    if (c.arguments.count == 0) {
        cli_usage(&c, "expects at least one FILE");
        return cli_finish(&c);
    }
    uint64_t most = 20;
    (void)cli_number(&c, "--max-errors", c.max_errors, UINT32_MAX, &most);
    for (uint64_t i = 0; i < c.arguments.count; i++) {
        cli one = {.command = c.command,
                   .json = c.json,
                   .kernel = c.kernel,
                   .diagnostics = hg_diagnostics_create((uint32_t)most)};
        one.defines.data = c.defines.data; /* lent */
        one.defines.count = c.defines.count;
        one.include_folders.data = c.include_folders.data;
        one.include_folders.count = c.include_folders.count;
        one.program_name = c.program_name;
        if (cli_is_graph(&c, c.arguments.data[i])) {
            if (cli_load_graph(&one, c.arguments.data[i])) cli_verify_graph(&one);
        } else if (cli_load(&one, c.arguments.data[i]) && cli_verify(&one) && !c.json)
            cli_out(&one, "%s: ok, %zu instructions\n", one.file, hg_program_len(one.program));
        one.defines.data = one.include_folders.data = NULL;
        cli_join(&c, &one);
    }
    return cli_finish(&c);
}

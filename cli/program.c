/* asm, disasm, verify, emit: programs in, text or containers out. */
#include "cli.h"
#include "emit/emit.h"
#include "isa/cfg.h"
#include "kir/kir.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool one_file(cli *c) {
    if (c->arguments.count == 1) return true;
    cli_usage(c, "expects one FILE, got %llu", (unsigned long long)c->arguments.count);
    return false;
}

/* To -o FILE, else to standard output with everything else of the command. */
static void write_out(cli *c, const char *path, const void *bytes, size_t length) {
    if (!path || strcmp(path, "-") == 0) {
        if (!c->json) hg_text_add(&c->outputs, bytes, length);
        return;
    }
    if (hg_file_write(path, bytes, length) != HG_OK) cli_last_error(c);
}

int command_asm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    bool debug = false;
    const cli_option options[] = {{"-o", &out, NULL, false}, {"-g", NULL, &debug, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    bool to_output = !out || strcmp(out, "-") == 0;
    if (to_output && c.json) cli_usage(&c, "--json needs -o FILE");
    else if (to_output && isatty(STDOUT_FILENO)) cli_usage(&c, "a container is not for a terminal: use -o FILE");
    else if (cli_load(&c, c.arguments.data[0]) && cli_verify(&c)) {
        uint8_t *bytes = NULL;
        size_t length = 0;
        if (hg_program_encode(c.program, debug ? HG_PROGRAM_DEBUG : 0, &bytes, &length) != HG_OK) cli_last_error(&c);
        else write_out(&c, out, bytes, length);
        hg_string_free((char *)bytes);
    }
    return cli_finish(&c);
}

int command_disasm(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL;
    const cli_option options[] = {{"-o", &out, NULL, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    if (cli_load(&c, c.arguments.data[0])) {
        char *text = NULL;
        size_t length = 0;
        if (hg_program_print(c.program, &text, &length) != HG_OK) cli_last_error(&c);
        else write_out(&c, out, text, length);
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
    int worst = CLI_OK;
    for (uint64_t i = 0; i < c.arguments.count; i++) {
        bool last = i + 1 == c.arguments.count;
        cli one = {.command = c.command, .json = c.json, .diagnostics = hg_diagnostics_create(0)};
        if (cli_load(&one, c.arguments.data[i]) && cli_verify(&one) && !c.json)
            cli_out(&one, "%s: ok, %zu instructions\n", one.file, hg_program_len(one.program));
        int status = cli_finish(&one);
        if (status > worst) worst = status;
        if (last) break;
    }
    c.json = false;
    c.status = worst;
    return cli_finish(&c);
}

static hg_status lower(const hg_program *program, const char *target, hg_text *text) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL, *low = NULL;
    kir_build_options options = {0};
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    hg_status status = kir_build(cfg, &options, &module);
    if (status == HG_OK) status = kir_simplify(module);
    if (status == HG_OK) status = kir_provenance(module);
    if (status == HG_OK) kir_shapes(module, module->uses_barrier || module->uses_shared);
    if (status == HG_OK && strcmp(target, "kir") == 0) {
        kir_print(text, module);
    } else if (status == HG_OK) {
        kir_caps caps;
        emit_c_caps(&caps);
        status = kir_legalise(module, &caps, &low);
        if (status == HG_OK) status = kir_simplify(low);
        if (status == HG_OK) status = emit_c(low, EMIT_C, text);
    }
    kir_module_destroy(low);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status == HG_OK && text->failed ? hg_fail_memory() : status;
}

int command_emit(int argc, char **argv) {
    cli c = {0};
    const char *out = NULL, *target = NULL;
    const cli_option options[] = {{"-o", &out, NULL, false}, {"--target", &target, NULL, false}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options)) || !one_file(&c)) return cli_finish(&c);
    if (!target || (strcmp(target, "kir") != 0 && strcmp(target, "c") != 0)) {
        cli_usage(&c, "--target expects kir or c, got '%s'", target ? target : "nothing");
        return cli_finish(&c);
    }
    if (cli_load(&c, c.arguments.data[0]) && cli_verify(&c)) {
        hg_text text = {0};
        if (lower(c.program, target, &text) != HG_OK) cli_last_error(&c);
        else write_out(&c, out, text.data ? text.data : "", text.length);
        hg_text_free(&text);
    }
    return cli_finish(&c);
}

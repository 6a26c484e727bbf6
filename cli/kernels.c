/* hologram kernels: the named kernels, as a list, one as a program, or as texts of targets in a
 * folder. */
#include "cli.h"
#include "emit/emit.h"
#include <errno.h>
#include <hologram/emit.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void list(cli *c) {
    for (uint32_t i = 0; hg_kernel_name(i); i++) {
        if (!c->json) {
            cli_out(c, "%-18s %s\n", hg_kernel_name(i), hg_kernel_about(i));
            continue;
        }
        hg_json json;
        cli_json_item(c, &json);
        hg_json_add_text(&json, "name", hg_kernel_name(i));
        hg_json_add_text(&json, "about", hg_kernel_about(i));
        hg_json_end_object(&json);
    }
}

/* FOLDER/NAME.SUFFIX: the kernel without tests of bounds. */
static bool write_kernel(cli *c, uint32_t number, const emitter *target, const char *folder) {
    hg_emit_options options = {.size = sizeof options, .proven = true};
    hg_program *program = NULL;
    hg_text path = {0}, text = {0};
    char *body = NULL;
    size_t length = 0;
    hg_status status = hg_kernel_by_name(hg_kernel_name(number), &program);
    if (status == HG_OK) status = hg_program_emit(program, target->name, &options, &body, &length);
    if (status == HG_OK && target->form == EMIT_DEVICE && !target->binary)
        hg_text_addf(&text,
                     "/* %s: %s.\n"
                     "Launch at least n lanes in one dimension. The record has: base_N, where the "
                     "array of slot N begins; count_0 = n; "
                     "first_0 = 0.\n"
                     "Each array has n elements; nothing is checked. */\n",
                     hg_kernel_name(number), hg_kernel_about(number));
    if (body) hg_text_add(&text, body, length);
    hg_text_addf(&path, "%s/%s.%s", folder, hg_kernel_name(number), target->suffix);
    if (status == HG_OK && (path.failed || text.failed)) status = hg_fail_memory();
    if (status == HG_OK) status = hg_file_write(path.data, text.data, text.length);
    if (status != HG_OK) cli_last_error(c);
    hg_string_free(body);
    hg_text_free(&path);
    hg_text_free(&text);
    hg_program_release(program);
    return status == HG_OK;
}

static bool write_target(cli *c, const char *name, const char *folder) {
    const emitter *target = emitter_find(name);
    if (!target) {
        cli_usage(c,
                  "--target expects names that `hologram emit --list` shows, with commas between, "
                  "got '%s'",
                  name);
        return false;
    }
    uint32_t count = 0;
    while (hg_kernel_name(count))
        if (!write_kernel(c, count++, target, folder)) return false;
    cli_out(c, "%u kernels: %s/*.%s\n", (unsigned)count, folder, target->suffix);
    return true;
}

static void write_all(cli *c, const char *targets, const char *folder) {
    char name[32];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_error(c, "X02", "cannot make the folder '%s': %s", folder, strerror(errno));
        return;
    }
    for (const char *at = targets;; at++) {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 at);
        if (!write_target(c, name, folder)) return;
        at += length;
        if (!*at) return;
    }
}

/* One of them as a program. */
static void print_kernel(cli *c, const char *name) {
    hg_program *program = NULL;
    char *text = NULL;
    size_t length = 0;
    hg_status status = hg_kernel_by_name(name, &program);
    if (status == HG_ERROR_INVALID_ARGUMENT)
        cli_usage(c, "no kernel is called '%s': `hologram kernels` lists them", name);
    else if (status != HG_OK || hg_program_print(program, &text, &length) != HG_OK)
        cli_last_error(c);
    else
        cli_write(c, NULL, text, length);
    hg_string_free(text);
    hg_program_release(program);
}

int command_kernels(int argc, char **argv) {
    cli c = {0};
    const char *folder = NULL, *targets = NULL;
    const cli_option options[] = {{"-o", &folder, NULL}, {"--target", &targets, NULL}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count > 1 || (c.arguments.count && (folder || targets || c.json)))
        cli_usage(&c, "expects one NAME alone, got '%s'", c.arguments.data[c.arguments.count > 1]);
    else if (c.arguments.count)
        print_kernel(&c, c.arguments.data[0]);
    else if (targets && !folder)
        cli_usage(&c, "--target needs -o DIR");
    else if (folder)
        write_all(&c, targets ? targets : "cuda,msl", folder);
    else
        list(&c);
    return cli_finish(&c);
}

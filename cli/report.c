/* Diagnostics, outputs and exit status: text for people, one object for --json. */
#include "ranks.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void note_status(cli *c, const char *code) {
    int status = code[0] == 'P' || code[0] == '\0' ? CLI_USAGE
                 : strcmp(code, "X03") == 0        ? CLI_UNAVAILABLE
                                                   : CLI_FAILED;
    if (c->status == CLI_OK) c->status = status;
}

void cli_json_item(cli *c, hg_json *json) {
    if (c->outputs.length) hg_text_addf(&c->outputs, ",");
    *json = (hg_json){.out = &c->outputs};
    hg_json_begin_object(json);
}

void cli_out(cli *c, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length > 0)
        hg_text_add(&c->outputs, line,
                    (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static const hg_place NOWHERE = {0, 0, 0, HG_NONE, 0};

void cli_usage(cli *c, const char *format, ...) {
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    c->status = CLI_USAGE;
    c->said = !c->json;
    if (!c->diagnostics) c->diagnostics = hg_diagnostics_create(0);
    if (c->json)
        hg_diagnose(c->diagnostics, HG_SEVERITY_ERROR, "", NOWHERE, NULL, "%s", message);
    else if (cli_rank_speaks(c))
        fprintf(stderr, "hologram %s: error: %s\n", c->command, message);
}

void cli_error(cli *c, const char *code, const char *format, ...) {
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    hg_diagnose(c->diagnostics, HG_SEVERITY_ERROR, code, NOWHERE, NULL, "%s", message);
    note_status(c, code);
}

/* Codes of statuses that come without one. */
static const char *code_of(const hg_error *e) {
    if (e->code[0]) return e->code;
    switch (e->status) {
    case HG_ERROR_OUT_OF_MEMORY:
    case HG_ERROR_ALLOCATION_FAILED: return "X01";
    case HG_ERROR_BACKEND_UNAVAILABLE: return "X03";
    case HG_ERROR_INTERNAL: return "X04";
    case HG_ERROR_INVALID_BUFFER: return "F03";
    case HG_ERROR_IO: return "P06";
    case HG_ERROR_INVALID_ARGUMENT: return "P01";
    default: return "X04";
    }
}

/* "lane 3 (block 0, lane 3 of it), operand 2" and the instruction's text, as language.md 6 shows a
 * fault. */
static void report_fault(cli *c, const hg_error *e) {
    hg_text where = {0};
    hg_place place = {e->line, e->column, e->length, e->instruction,
                      e->operand == HG_NONE ? 0 : (uint32_t)e->operand};
    if (e->instruction != HG_NONE && c->program && e->instruction < hg_program_len(c->program)) {
        hg_text_addf(&where, "in instruction %llu (", (unsigned long long)e->instruction);
        hg_print_named_instruction(&where, c->program, (uint32_t)e->instruction);
        hg_text_addf(&where, ")");
    }
    if (e->lane != HG_NONE && where.data) {
        uint64_t block = c->block_lanes ? c->block_lanes : 1;
        hg_text_addf(&where, ", lane %llu (block %llu, lane %llu of it)",
                     (unsigned long long)e->lane, (unsigned long long)(e->lane / block),
                     (unsigned long long)(e->lane % block));
    }
    if (e->operand != HG_NONE && where.data)
        hg_text_addf(&where, ", operand %llu", (unsigned long long)e->operand);
    hg_diagnose_fault(c->diagnostics, e->code, place, e->lane, where.data ? where.data : "", "%s",
                      hg_last_error_text());
    hg_text_free(&where);
    note_status(c, e->code);
}

/* An environment variable that is malformed is wrong usage; no place in a program has to do with
 * it. */
static bool is_of_environment(const hg_error *e) {
    return !e->code[0] && e->status == HG_ERROR_INVALID_ARGUMENT &&
           (strncmp(e->message, "Environment variable error:", 27) == 0 ||
            strncmp(e->message, "HOLOGRAM_", 9) == 0);
}

void cli_hash_text(const uint8_t hash[32], char text[65]) {
    for (size_t i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

void cli_last_error(cli *c) {
    const hg_error *e = hg_last_error();
    if (is_of_environment(e)) {
        cli_usage(c, "%s", e->message);
        return;
    }
    if (!c->diagnostics) c->diagnostics = hg_diagnostics_create(0);
    if (e->code[0] == 'F')
        report_fault(c, e);
    else if (e->code[0] || e->status == HG_ERROR_OUT_OF_MEMORY)
        cli_error(c, code_of(e), "%s", e->message);
    else
        cli_error(c, code_of(e), "%s", hg_last_error_text());
}

static bool instruction_text(void *user, uint64_t index, hg_text *out) {
    const cli *c = user;
    if (!c->program || index >= hg_program_len(c->program)) return false;
    hg_print_named_instruction(out, c->program, (uint32_t)index);
    return true;
}

hg_status cli_print_now(const char *text, size_t length) {
    if (length == 0 || (fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0))
        return HG_OK;
    hg_status status = hg_fail(HG_ERROR_IO, "standard output: write failed");
    memcpy(hg_error_record()->code, "X02", 4);
    return status;
}

static const char NO_MEMORY[] = "hologram: error[X01]: no memory left\n"; /* when there is none for
                                                                             a diagnostic */

/* Whether what was to be said found no memory. */
static bool is_lost(const cli *c) {
    return !c->diagnostics ||
           (hg_diagnostics_errors(c->diagnostics) > 0 && hg_diagnostics_count(c->diagnostics) == 0);
}

static void print_text(cli *c) {
    if (hg_diagnostics_count(c->diagnostics)) {
        char *text = hg_diagnostics_print_with(c->diagnostics, c->file ? c->file : "hologram",
                                               (const char *)c->source.data,
                                               (size_t)c->source.length, instruction_text, c);
        if (c->rank) fprintf(stderr, "rank %u: ", (unsigned)c->rank->number);
        fputs(text ? text : NO_MEMORY, stderr);
        hg_string_free(text);
    }
    if (!c->outputs.data) return;
    if (fwrite(c->outputs.data, 1, c->outputs.length, stdout) != c->outputs.length ||
        fflush(stdout) != 0) {
        fprintf(stderr, "hologram %s: error[X02]: standard output: write failed\n", c->command);
        if (c->status == CLI_OK) c->status = CLI_FAILED;
    }
}

/* Appends the diagnostics of one to c->earlier. */
static void add_diagnostics(cli *c, const cli *one) {
    hg_text list = {0};
    hg_json json = {.out = &list};
    hg_json_diagnostics(&json, one->diagnostics, one->file ? one->file : "");
    if (list.length > 2)
        hg_text_addf(&c->earlier, "%s%.*s", c->earlier.length ? "," : "", (int)(list.length - 2),
                     list.data + 1);
    hg_text_free(&list);
}

static void print_json(cli *c) {
    hg_text text = {0};
    hg_json json = {.out = &text};
    hg_json_begin_object(&json);
    hg_json_key(&json, "hologram");
    hg_json_u64(&json, 1);
    hg_json_key(&json, "command");
    hg_json_text(&json, c->command);
    if (c->version) hg_json_add_u64(&json, "version", c->version);
    if (c->rank) hg_json_add_u64(&json, "rank", c->rank->number);
    hg_json_key(&json, "status");
    hg_json_text(&json, c->status == CLI_OK ? "ok" : "error");
    hg_json_key(&json, "exit");
    hg_json_u64(&json, (uint64_t)c->status);
    hg_json_key(&json, "diagnostics");
    add_diagnostics(c, c);
    hg_text_addf(&text, "[%s],", c->earlier.data ? c->earlier.data : "");
    hg_json_key(&json, "outputs");
    hg_text_addf(&text, "[");
    if (c->outputs.data && (c->status == CLI_OK || c->keep_outputs))
        hg_text_add(&text, c->outputs.data, c->outputs.length);
    hg_text_addf(&text, "]}\n");
    FILE *out = c->errors_to_stderr ? stderr : stdout;
    c->said = !text.failed && text.data && !is_lost(c);
    if (!text.data || text.failed || fwrite(text.data, 1, text.length, out) != text.length ||
        fflush(out) != 0)
        if (c->status == CLI_OK) c->status = CLI_FAILED;
    hg_text_free(&text);
}

void cli_release(cli *c) {
    hg_diagnostics_destroy(c->diagnostics);
    hg_program_release(c->program);
    hg_graph_release(c->graph);
    hg_translated_program_release(&c->circuit);
    hg_bytes_free(&c->source);
    hg_text_free(&c->outputs);
    hg_text_free(&c->earlier);
    for (uint64_t i = 0; i < c->pairs.count; i++) hg_free(c->pairs.data[i].name);
    hg_vec_free(&c->pairs);
    hg_vec_free(&c->arguments);
    hg_vec_free(&c->defines);
    hg_vec_free(&c->include_folders);
}

int cli_finish(cli *c) {
    if (c->outputs.failed) {
        (void)hg_fail_memory();
        cli_last_error(c);
    }
    if (c->json)
        print_json(c);
    else
        print_text(c);
    if (c->status != CLI_OK && !c->said && (c->json || is_lost(c))) fputs(NO_MEMORY, stderr);
    cli_release(c);
    return c->status;
}

void cli_join(cli *c, cli *one) {
    if (one->status > c->status) c->status = one->status;
    if (c->json) {
        add_diagnostics(c, one);
        cli_release(one);
    } else if (cli_finish(one) > c->status) {
        c->status = one->status;
    }
}

/* Rows of the reference that the command carries: of an instruction, of a directive.
 * Must not know: who asks. */
#include "reference.h"
#include "isa/isa.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const cli_page *cli_page_find(const char *name) {
    const cli_page *page = CLI_PAGES;
    while (page->name && strcmp(page->name, name) != 0) page++;
    return page;
}

/* ---- instructions ---- */

/* "add.f32" → "add", "setlt.u32" → "set". */
static void base_of(const char *word, char base[64]) {
    size_t length = strlen(word) < 63 ? strlen(word) : 63;
    for (size_t i = 0; i < length; i++) base[i] = (char)tolower((unsigned char)word[i]);
    base[length] = '\0';
    hg_type type;
    for (char *point;
         (point = strrchr(base, '.')) && hg_type_from_name(point + 1, strlen(point + 1), &type);)
        *point = '\0';
    hg_condition condition;
    if (strncmp(base, "set", 3) == 0 &&
        hg_condition_from_text(base + 3, strlen(base + 3), &condition))
        base[3] = '\0';
}

static bool is_named(const hg_op_info *row, const char *base) {
    size_t length = strlen(base), text = strlen(row->text);
    if (strcmp(row->text, base) == 0 ||
        (strncmp(row->text, base, length) == 0 && row->text[length] == '.'))
        return true;
    return strncmp(base, row->text, text) == 0 && base[text] == '.' && row->operand_count &&
           row->operands[0].kind == HG_K_SCOPE;
}

/* A cell of a row in Markdown, without its code marks and escapes. */
static const char *add_cell(hg_text *out, const char *at) {
    while (*at == ' ' || *at == '|') at++;
    for (; *at != '\n' && !(*at == '|' && at[-1] != '\\'); at++) {
        bool mark = *at == '`' || (*at == '\\' && at[1] == '|') ||
                    (*at == ' ' && (at[1] == '|' || at[1] == '\n'));
        if (!mark) hg_text_add(out, at, 1);
    }
    return at;
}

/* "div[.T] d, a, b", then what it does, its types and how exact it is. */
static void explain_row(hg_text *out, const char *at) {
    hg_text cells[5] = {{0}};
    for (int i = 0; i < 5; i++)
        at = i == 2 && strncmp(at, "|  |", 4) == 0 ? at + 3 : add_cell(&cells[i], at);
    const char *text[5];
    for (int i = 0; i < 5; i++) text[i] = cells[i].data ? cells[i].data : "";
    hg_text_addf(out, "%s\n    %s\n    types: %s; result: %s; opcode %s\n", text[1], text[4],
                 *text[2] ? text[2] : "none", text[3], text[0]);
    for (int i = 0; i < 5; i++) hg_text_free(&cells[i]);
}

bool cli_reference_instruction(const char *word, hg_text *out, char base[64]) {
    const cli_page *page = cli_page_find("isa");
    size_t before = out->length;
    base_of(word, base);
    for (char *point = base; point && out->length == before;) {
        for (int i = 0; i < HG_OP_COUNT; i++) {
            const hg_op_info *row = hg_op_get((hg_op)i);
            char key[16];
            if (!is_named(row, base)) continue;
            snprintf(key, sizeof key, "\n| `%03X` |", (unsigned)row->opcode);
            const char *line = strstr(page->text, key);
            if (line) explain_row(out, line + 1);
        }
        point = strrchr(base, '.'); /* of bra.ge the condition is an operand */
        if (point && out->length == before) *point = '\0';
    }
    return out->length != before;
}

/* ---- directives and statements ---- */

static bool is_word_byte(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Whether a code span of the row's first cell begins with the word. */
static bool row_has(const char *row, const char *word) {
    size_t length = strlen(word);
    if (row[0] != '|') return false;
    for (const char *at = row + 1; *at != '\n' && *at && !(*at == '|' && at[-1] != '\\'); at++) {
        if (*at != '`') continue;
        if (strncmp(at + 1, word, length) == 0 && !is_word_byte(at[1 + length])) return true;
        const char *end = strpbrk(at + 1, "`\n");
        if (!end || *end == '\n') return false;
        at = end;
    }
    return false;
}

bool cli_reference_rows(const char *page, const char *word, hg_text *out) {
    size_t before = out->length;
    const char *row = cli_page_find(page)->text;
    for (; row; row = strchr(row, '\n') ? strchr(row, '\n') + 1 : NULL) {
        hg_text form = {0}, what = {0};
        if (!row_has(row, word)) continue;
        const char *rest = add_cell(&form, row);
        add_cell(&what, rest);
        hg_text_addf(out, "%s\n    %s\n", form.data ? form.data : "", what.data ? what.data : "");
        hg_text_free(&form);
        hg_text_free(&what);
    }
    return out->length != before;
}

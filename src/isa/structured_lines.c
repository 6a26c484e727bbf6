/* Lines of statements: their indents, blocks that wait for something to stand in them, and in which
 * block a variable is mentioned first.
 * Must not know: instructions. */
#include "isa/structured.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- lines ---- */

void hg_st_indent(hg_st *s, uint32_t depth) {
    for (uint32_t i = 0; i <= depth; i++) hg_text_add(s->out, "    ", 4);
}

/* Blocks that wait for something to stand in them. */
void hg_st_open_blocks(hg_st *s) {
    for (uint64_t i = 0; i < s->blocks.count; i++) {
        hg_st_block *b = &s->blocks.data[i];
        if (b->open) continue;
        b->open = true;
        s->found.statements++;
        if (!s->out) continue;
        hg_st_indent(s, (uint32_t)i);
        hg_text_addf(s->out, b->kind == HG_ST_ELSE ? "} else {\n" : "loop {\n");
    }
}

void hg_st_line(hg_st *s, const char *format, ...) {
    char line[2 * HG_ST_MOST_TEXT];
    hg_st_open_blocks(s);
    if (!s->out) return;
    va_list arguments;
    hg_st_indent(s, (uint32_t)s->blocks.count);
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof line) {
        hg_text_add(s->out, line, (size_t)length);
        return;
    }
    char *longer = length < 0 ? NULL : hg_calloc((size_t)length + 1, 1);
    if (!longer) {
        s->out_of_memory = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(longer, (size_t)length + 1, format, arguments);
    va_end(arguments);
    hg_text_add(s->out, longer, (size_t)length);
    hg_free(longer);
}

/* ---- where variables are mentioned ---- */

static uint32_t new_scope(hg_st *s) {
    uint32_t around = hg_st_scope(s);
    uint32_t *scope = hg_vec_push(&s->scopes), *depth = hg_vec_push(&s->depths);
    if (!scope || !depth) {
        s->out_of_memory = true;
        return 0;
    }
    *scope = around;
    *depth = s->depths.data[around] + 1;
    return (uint32_t)s->scopes.count - 1;
}

void hg_st_push(hg_st *s, hg_st_block block) {
    block.scope = new_scope(s);
    hg_st_block *kept = s->out_of_memory ? NULL : hg_vec_push(&s->blocks);
    if (kept)
        *kept = block;
    else
        s->out_of_memory = true;
}

uint32_t hg_st_scope(const hg_st *s) {
    return s->blocks.count ? s->blocks.data[s->blocks.count - 1].scope : 0;
}

static uint32_t common_scope(const hg_st *s, uint32_t a, uint32_t b) {
    while (a != b) {
        bool deeper = s->depths.data[a] > s->depths.data[b];
        bool same = s->depths.data[a] == s->depths.data[b];
        if (deeper || same) a = s->scopes.data[a];
        if (!deeper) b = s->scopes.data[b];
    }
    return a;
}

void hg_st_mention(hg_st *s, uint32_t variable, bool defines) {
    hg_st_variable *v = &s->facts.variables.data[variable];
    uint32_t scope = hg_st_scope(s);
    if (!s->out && !v->seen) {
        v->first = v->scope = scope;
        v->let = defines;
    } else if (!s->out) {
        v->scope = common_scope(s, v->scope, scope);
    }
    v->seen = true;
}

/* Lines of the C text of a vector form.
 * Must not know: the vector form. */
#include "emit/emit_vector_c.h"

#include <stdarg.h>
#include <stdio.h>

enum { MOST_LEVELS = 32 };

static void indent(const vc_printer *p) {
    hg_text_addf(p->out, "%*s", 4 * (int)(p->indent < MOST_LEVELS ? p->indent : MOST_LEVELS), "");
}

static void add(vc_printer *p, const char *format, va_list list) {
    va_list copy;
    va_copy(copy, list);
    int length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    char *text = length >= 0 ? hg_alloc((size_t)length + 1) : NULL;
    if (!text) {
        p->out->failed = true;
        return;
    }
    vsnprintf(text, (size_t)length + 1, format, list);
    hg_text_add(p->out, text, (size_t)length);
    hg_free(text);
}

void vc_line(vc_printer *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    indent(p);
    add(p, format, list);
    hg_text_addf(p->out, "\n");
    va_end(list);
}

void vc_open(vc_printer *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    indent(p);
    add(p, format, list);
    hg_text_addf(p->out, " {\n");
    va_end(list);
    p->indent++;
}

void vc_block(vc_printer *p) {
    vc_line(p, "{");
    p->indent++;
}

void vc_close(vc_printer *p) {
    p->indent--;
    vc_line(p, "}");
}

vc_name vc_var(const vec_var *v) {
    vc_name name;
    snprintf(name.text, sizeof name.text, "%s%s%u",
             v->shared ? "shared->"
             : v->kept ? "kept->"
                       : "",
             v->each ? "x" : "y", (unsigned)v->id);
    return name;
}

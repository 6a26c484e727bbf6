#include "support/vector_text.h"
#include "vector/parse.h"
#include <stdio.h>
#include <string.h>

static bool differ(const char *what, const char *a, const char *b) {
    size_t i = 0, line = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n') line = i + 1;
    fprintf(stderr, "%s: the form reads back as another:\n  %.*s\n  %.*s\n", what,
            (int)strcspn(a + line, "\n"), a + line, (int)strcspn(b + line, "\n"), b + line);
    return false;
}

bool vec_reads_back(vec_kernel *k, const char *what) {
    hg_text text = {0}, again = {0};
    kir_module *m = NULL;
    vec_kernel *second = NULL;
    vec_print(&text, k);
    bool good = text.data && vec_parse(text.data, text.length, NULL, &m, &second) == HG_OK &&
                vec_verify(second) == HG_OK;
    if (good) {
        m->program = k->module->program; /* whose instructions the text shows */
        vec_print(&again, second);
        good = again.data &&
               (strcmp(text.data, again.data) == 0 || differ(what, text.data, again.data));
        m->program = NULL;
    } else {
        fprintf(stderr, "%s: the form does not read back: %s\n", what, hg_last_error_text());
    }
    vec_kernel_destroy(second);
    kir_module_destroy(m);
    hg_text_free(&text);
    hg_text_free(&again);
    return good;
}

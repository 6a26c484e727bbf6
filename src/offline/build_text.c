/* What all files of building need. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include <ctype.h>
#include <string.h>

uint16_t build_step_function(const plan_step *step) {
    hg_op fold = hg_op_folds_with((hg_op)step->op);
    return fold != HG_OP_NONE ? (uint16_t)fold : kir_fn_of_name(kir_step_name(step->info));
}

void build_add_marked(hg_text *out, const char *name, const char *text) {
    for (const char *mark; (mark = strchr(text, '@')) != NULL; text = mark + 1) {
        hg_text_add(out, text, (size_t)(mark - text));
        hg_text_addf(out, "%s", name);
    }
    hg_text_addf(out, "%s", text);
}

void build_add_named(hg_text *out, const char *name, const char *text) {
    for (const char *at = text; *at;) {
        bool small = strncmp(at, "built", 5) == 0, large = strncmp(at, "BUILT", 5) == 0;
        bool inside = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (inside || (!small && !large)) {
            hg_text_add(out, at++, 1);
            continue;
        }
        for (const char *c = name; *c; c++)
            hg_text_addf(out, "%c", small ? *c : toupper((unsigned char)*c));
        at += 5;
    }
}

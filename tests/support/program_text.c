/* See program_text.h. */
#include "support/program_text.h"
#include <stdlib.h>

hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), NULL, &p) == HG_OK, "%s\nin\n%s",
                  hg_last_error_text(), text);
    if (!p) exit(test_done());
    return p;
}

void prints(const hg_program *p, const char *expected) {
    char *text = NULL;
    CHECK(hg_program_print(p, &text, NULL) == HG_OK);
    CHECK_TEXT(text, expected);
    hg_string_free(text);
}

/* Circuits as a front end.
 * Must not know: grammar, lowering. */
#include "base/decimal.h"
#include "translators/front_ends.h"
#include <string.h>

/* A circuit begins with a generator, a transform or a parenthesis, behind comments of its own:
 * programs in text never do. */
static bool begins(const char *text, size_t length) {
    const char *p = text, *end = text + length;
    p += hg_byte_order_mark(p, length);
    while (p < end) {
        if (strchr(" \t\r\n", *p) && *p) {
            p++;
        } else if (end - p >= 2 && memcmp(p, "//", 2) == 0) {
            const char *line = memchr(p, '\n', (size_t)(end - p));
            p = line ? line : end;
        } else {
            return (*p >= 'a' && *p <= 'z') || *p == 'R' || *p == 'D' || *p == 'T' || *p == '~' ||
                   *p == '(';
        }
    }
    return false;
}

static hg_status translate(const char *text, size_t length, hg_front_end_request *request,
                           hg_diagnostics *d, hg_program **program) {
    hg_translated_program own = {.size = sizeof own},
                          *record = request->record ? request->record : &own;
    HG_TRY(hg_circuit_to_isa_translate(text, length, request->circuit, d, record));
    *program = hg_program_retain(record->program);
    if (!request->record) hg_translated_program_release(&own);
    return HG_OK;
}

const hg_front_end hg_front_end_circuit = {
    .extension = ".circuit", .begins = begins, .translate = translate};

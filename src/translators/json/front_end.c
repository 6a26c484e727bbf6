/* JSON kernels as a front end.
 * Must not know: what kernels mean. */
#include "base/decimal.h"
#include "translators/front_ends.h"
#include <hologram/json_kernel.h>

/* A document begins with a brace or a bracket, a program's text with neither. */
static bool begins(const char *text, size_t length) {
    size_t i = hg_byte_order_mark(text, length);
    while (i < length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t'))
        i++;
    return i < length && (text[i] == '{' || text[i] == '[');
}

static hg_status translate(const char *text, size_t length, hg_front_end_request *request,
                           hg_diagnostics *d, hg_program **program) {
    return hg_json_to_isa_translate_named(text, length, request->kernel, d, program);
}

const hg_front_end hg_front_end_json = {
    .extension = ".json", .has_kernels = true, .begins = begins, .translate = translate};

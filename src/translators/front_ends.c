/* The table of front ends, and the rows of the instruction set's own text and binary.
 * Must not know: what the languages mean. */
#include "translators/front_ends.h"
#include "isa/program.h"
#include <string.h>

static const hg_front_end *const FRONT_ENDS[] = {
#define HG_FRONT_END(name) &hg_front_end_##name,
#include "translators/front_ends.def"
#undef HG_FRONT_END
};

static bool has_ending(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

const hg_front_end *hg_front_end_choose(const char *path, const char *text, size_t length) {
    for (size_t i = 0; i < HG_COUNT_OF(FRONT_ENDS); i++) {
        const hg_front_end *f = FRONT_ENDS[i];
        if (path && has_ending(path, f->extension)) return f;
        if ((!path || f->binary) && f->begins(text, length)) return f;
    }
    return &hg_front_end_assembly;
}

static bool begins_container(const char *text, size_t length) {
    static const char MAGIC[] = {'\x89', 'A', 'T', 'L'};
    return length >= sizeof MAGIC && memcmp(text, MAGIC, sizeof MAGIC) == 0;
}

static hg_status decode(const char *text, size_t length, hg_front_end_request *request,
                        hg_diagnostics *d, hg_program **program) {
    (void)request;
    return hg_program_decode((const uint8_t *)text, length, d, program);
}

const hg_front_end hg_front_end_container = {
    .extension = ".atlasb", .binary = true, .begins = begins_container, .translate = decode};

static bool begins_assembly(const char *text, size_t length) {
    (void)text;
    (void)length;
    return true;
}

static hg_status assemble(const char *text, size_t length, hg_front_end_request *request,
                          hg_diagnostics *d, hg_program **program) {
    return hg_program_assemble_with(text, length, request->assembly, d, program);
}

const hg_front_end hg_front_end_assembly = {
    .extension = ".atlas", .has_assembly = true, .begins = begins_assembly, .translate = assemble};

/* A front end: what makes programs of another language. A new one is a source that defines its row
 * and a line in front_ends.def; it builds the program with the functions of hologram/builder.h,
 * hg_builder_at says which place of the text an instruction comes from.
 * Must not know: commands, files, devices. */
#ifndef HG_TRANSLATORS_FRONT_ENDS_H
#define HG_TRANSLATORS_FRONT_ENDS_H

#include "base/base.h"
#include <hologram/circuit.h>
#include <hologram/program.h>

/* Options of a translation, and what it returns beside the program. */
typedef struct hg_front_end_request {
    const char *kernel;                  /* of a text with several; NULL: the only one */
    const hg_circuit_options *circuit;   /* NULL: the usual ones */
    const hg_assemble_options *assembly; /* of a text that has_assembly; NULL: the usual ones */
    hg_translated_program *record; /* of a circuit, with size set by the caller; NULL: not wanted */
} hg_front_end_request;

typedef struct hg_front_end {
    const char *extension; /* of file names: ".json" */
    bool binary; /* recognised by its first bytes, whatever the file is called; there is no text to
                    show with messages */
    bool has_kernels;  /* takes request.kernel */
    bool has_assembly; /* takes request.assembly */
    /* Whether a text without a name looks like it. */
    bool (*begins)(const char *text, size_t length);
    hg_status (*translate)(const char *text, size_t length, hg_front_end_request *request,
                           hg_diagnostics *diagnostics, hg_program **program);
} hg_front_end;

#define HG_FRONT_END(name) extern const hg_front_end hg_front_end_##name;
#include "translators/front_ends.def"
#undef HG_FRONT_END

/* The front end of a file, by its name or by its first bytes where those are enough. path NULL: by
 * the text alone. Never NULL. */
const hg_front_end *hg_front_end_choose(const char *path, const char *text, size_t length);

#endif

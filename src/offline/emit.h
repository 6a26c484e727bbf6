/* Emission with what only the command asks for. */
#ifndef HG_OFFLINE_EMIT_H
#define HG_OFFLINE_EMIT_H

#include "base/base.h"
#include "kir/pipeline/pipeline.h"
#include <hologram/emit.h>

typedef struct hg_emit_watch {
    const kir_pass_watch *passes; /* NULL: nobody asked */
    const char *dashes; /* "--" where names of fields in messages are options of a command, else ""
                         */
} hg_emit_watch;
/* hg_program_emit, added to out. */
hg_status hg_emit_watched(const hg_program *program, const char *target,
                          const hg_emit_options *options, const hg_emit_watch *watch,
                          hg_text *out) HG_NODISCARD;

#endif

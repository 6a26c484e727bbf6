/* What made a result. */
#ifndef HG_CLI_STAMP_H
#define HG_CLI_STAMP_H

#include "io/io.h"
#include "cli.h"

/* PATH.stamp among the outputs. result: BLAKE3 of the elements; NULL: of several arrays. */
hg_status cli_stamp_add(const cli *c, const hg_backend *b, const char *path, const uint8_t *result,
                        hg_outputs *outputs) HG_NODISCARD;
/* One line, behind results that are printed. */
void cli_stamp_print(const cli *c, const hg_backend *b, hg_text *out);

#endif

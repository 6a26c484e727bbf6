/* An array of which ranks have parts along an axis. */
#ifndef HG_CLI_GATHER_H
#define HG_CLI_GATHER_H

#include "arrays.h"
#include "device.h"

/* The parts of a value on all ranks. */
typedef struct cli_parts cli_parts;
/* A collective. extent: of the whole along the axis; other extents are the same on all ranks, or it
 * is an error. The value stays as it is until the end. */
hg_status cli_parts_open(const cli *c, hg_backend *b, const cli_value *v, uint32_t axis,
                         cli_parts **parts, uint64_t *extent) HG_NODISCARD;
/* NULL is allowed. */
void cli_parts_close(cli_parts *parts);
/* Rank 0: all elements, which are read once, in order, */
hg_file_part cli_parts_elements(cli_parts *parts);
/* while each other rank gives its own. */
hg_status cli_parts_send(const cli_parts *parts) HG_NODISCARD;

#endif

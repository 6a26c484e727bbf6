/* Shared inside this room only. */
#ifndef HG_IO_IO_INTERNAL_H
#define HG_IO_IO_INTERNAL_H

#include "io/io.h"

/* hg_fail with a diagnostic code. */
#define IO_FAIL(status, diagnostic, ...) (hg_fail(status, __VA_ARGS__), hg_io_code(diagnostic), (status))
void hg_io_code(const char *code);
/* What an errno means, the same in every locale. */
const char *hg_io_reason(int error);

#endif

/* What LLVM packs debug information with. Objects here have none, so neither zlib nor zstd is
 * needed: the functions are there to link and say that they failed. The module shows none of them
 * to others.
 * Must not know: anything. */
#include "jit/jit_internal.h"

#define STUB(type, name, value) \
    type name(void);            \
    type name(void) { return value; }

/* zlib: an error is not 0 */
STUB(int, compress2, -2)
STUB(int, uncompress, -2)
STUB(unsigned long, compressBound, 0)
STUB(unsigned long, crc32, 0)
/* zstd: ZSTD_isError says that whatever it is asked about is one */
STUB(void *, ZSTD_createCCtx, 0)
STUB(size_t, ZSTD_CCtx_setParameter, 0)
STUB(unsigned, ZSTD_isError, 1)
STUB(size_t, ZSTD_compressBound, 0)
STUB(size_t, ZSTD_compress2, 0)
STUB(size_t, ZSTD_freeCCtx, 0)
STUB(size_t, ZSTD_decompress, 0)
STUB(const char *, ZSTD_getErrorName, "not there")

/* What the library uses of inttypes.h. */
#ifndef SHIM_INTTYPES_H
#define SHIM_INTTYPES_H
#include <stdint.h>
#define PRIu32 "u"
#define PRId32 "d"
#define PRIx32 "x"
#define PRIX32 "X"
#define PRIu64 "llu"
#define PRId64 "lld"
#define PRIx64 "llx"
#endif

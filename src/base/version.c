/* The version of the library, which is that of its headers. */
#include "base/base.h"
#include <hologram/version.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

uint32_t hg_version(void) {
    HG_ENTRY;
    return HG_VERSION;
}
const char *hg_version_text(void) {
    HG_ENTRY;
    return TEXT(HG_VERSION_MAJOR) "." TEXT(HG_VERSION_MINOR) "." TEXT(HG_VERSION_PATCH);
}
uint32_t hg_bits_version(void) {
    HG_ENTRY;
    return HG_BITS_VERSION;
}

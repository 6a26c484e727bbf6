/* Structures that begin with their size: checking, reading and writing those of older and newer
 * headers. */
#include "base/sized.h"

#include <string.h>

hg_status hg_sized_check(const hg_sized *s, size_t size) {
    if (size < s->least)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s.size is %zu, expected %zu, and never less than %zu: %s", s->name, size,
                       s->known, s->least, s->advice);
    if (size % s->alignment)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s.size is %zu, expected %zu, and always a multiple of %zu: %s", s->name,
                       size, s->known, s->alignment, s->advice);
    if (size > HG_SIZED_MOST)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s.size is %zu, expected %zu, and never more than %d: %s", s->name, size,
                       s->known, (int)HG_SIZED_MOST, s->advice);
    return HG_OK;
}

hg_status hg_sized_take(const hg_sized *s, const void *given, void *own) {
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size != s->known) {
        HG_TRY(hg_sized_check(s, size));
        const unsigned char *bytes = given;
        for (size_t i = s->known; i < size; i++)
            if (bytes[i])
                return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "%s.size is %zu, this library knows %zu bytes: byte %zu is %u, "
                               "expected 0 (a field of a newer version is set)",
                               s->name, size, s->known, i, (unsigned)bytes[i]);
    }
    memcpy(own, given, size < s->known ? size : s->known);
    memcpy(own, &s->known, sizeof s->known);
    return HG_OK;
}

void hg_sized_give(const hg_sized *s, const void *own, void *given, size_t size) {
    memcpy(given, own, size < s->known ? size : s->known);
    if (size > s->known) memset((unsigned char *)given + s->known, 0, size - s->known);
    memcpy(given, &size, sizeof size);
}

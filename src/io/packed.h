/* Texts that are part of the library, packed when it is built (cmake/texts.cmake).
 * Must not know: whose texts. */
#ifndef HG_IO_PACKED_H
#define HG_IO_PACKED_H

#include <stdbool.h>
#include <stdint.h>

/* Raw deflate data, and where it is unpacked when it is first asked for. */
typedef struct hg_packed {
    const uint8_t *data;
    uint32_t data_length, length;
    char *text; /* one byte more than length */
    bool done;
} hg_packed;
const char *hg_unpacked(hg_packed *packed); /* ends with 0; never fails, and stays */

#endif

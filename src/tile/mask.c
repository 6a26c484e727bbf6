/* Sets of active lanes: a count, and a byte of 0 or 1 a lane that is only written when some but not
 * all lanes are in.
 * Must not know: code, memory. */
#include "tile/tile_internal.h"
#include <string.h>

const uint8_t *tile_mask_bytes(const tile_frame *frame, const tile_mask *mask) {
    return mask->count == frame->n ? frame->ones : mask->count == 0 ? frame->zeros : mask->bytes;
}

void tile_mask_copy(const tile_frame *frame, tile_mask *to, const tile_mask *from) {
    to->count = from->count;
    if (from->count && from->count < frame->n) memcpy(to->bytes, from->bytes, frame->n);
}

static uint64_t word_at(const uint8_t *bytes, uint32_t i) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    return word;
}

/* Sum of the 8 bytes of a word. */
static uint32_t byte_sum(uint64_t word) {
    uint64_t pairs = (word & UINT64_C(0x00ff00ff00ff00ff)) +
                     (word >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    return (uint32_t)(pairs * UINT64_C(0x0001000100010001) >> 48);
}

static uint32_t count_bytes(const uint8_t *bytes, uint32_t n) {
    uint32_t count = 0, i = 0;
    while (i + 8 <= n) {
        uint64_t sum = 0;
        uint32_t stop = i + 255 * 8; /* a byte of the sum stays below 256 */
        for (; i + 8 <= n && i < stop; i += 8) sum += word_at(bytes, i);
        count += byte_sum(sum);
    }
    for (; i < n; i++) count += bytes[i];
    return count;
}

void tile_mask_join(const tile_frame *frame, tile_mask *to, const tile_mask *from) {
    if (!from->count) return;
    if (!to->count) {
        tile_mask_copy(frame, to, from);
        return;
    }
    to->count += from->count;
    if (to->count >= frame->n) return;
    for (uint32_t i = 0; i < frame->n; i++) to->bytes[i] |= from->bytes[i];
}

void tile_mask_split(const tile_frame *frame, const tile_mask *mask, const uint8_t *cond,
                     tile_mask *yes, tile_mask *no) {
    uint32_t n = frame->n;
    if (n == 1) {
        yes->count = mask->count & cond[0];
        no->count = mask->count - yes->count;
        return;
    }
    if (mask->count == n) {
        yes->count = memchr(cond, 1, n) ? count_bytes(cond, n) : 0; /* most often nobody, and found
                                                                       out at once otherwise */
        no->count = n - yes->count;
        if (yes->count == 0 || no->count == 0) return;
        memcpy(yes->bytes, cond, n);
        for (uint32_t i = 0; i < n; i++) no->bytes[i] = cond[i] ^ 1;
        return;
    }
    if (mask->count == 0) {
        yes->count = no->count = 0;
        return;
    }
    for (uint32_t i = 0; i < n; i++) yes->bytes[i] = mask->bytes[i] & cond[i];
    yes->count = count_bytes(yes->bytes, n);
    no->count = mask->count - yes->count;
    if (no->count)
        for (uint32_t i = 0; i < n; i++) no->bytes[i] = mask->bytes[i] & (uint8_t)(cond[i] ^ 1);
}

void tile_mask_remove(const tile_frame *frame, tile_mask *mask, const uint8_t *bad) {
    uint32_t n = frame->n;
    if (!mask->count) return;
    const uint8_t *from = tile_mask_bytes(frame, mask);
    for (uint32_t i = 0; i < n; i++) mask->bytes[i] = from[i] & (uint8_t)(bad[i] ^ 1);
    mask->count = count_bytes(mask->bytes, n);
}

uint32_t tile_mask_first(const tile_frame *frame, const tile_mask *mask) {
    if (mask->count == 0 || mask->count == frame->n) return 0;
    const uint8_t *first = memchr(mask->bytes, 1, frame->n);
    return first ? (uint32_t)(first - mask->bytes) : 0;
}

uint32_t tile_mask_last(const tile_frame *frame, const tile_mask *mask) {
    uint32_t end = frame->n;
    if (mask->count == 0 || mask->count == frame->n) return end - 1;
    while (end >= 8 && word_at(mask->bytes, end - 8) == 0) end -= 8;
    while (end > 1 && !mask->bytes[end - 1]) end--;
    return end - 1;
}

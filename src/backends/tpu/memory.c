/* Memory of the TPU backend: an arena is bytes on the host, an array on the device, or both. A
 * kernel says which elements it wants the array to have; PJRT arrays never change, so a kernel that
 * writes an arena gives it a new one.
 * Must not know: kernels. */
#include "backends/tpu/tpu_internal.h"
#include <string.h>

static int element_of(uint8_t word) {
    return word == 1 ? PJRT_U8 : word == 2 ? PJRT_U16 : word == 4 ? PJRT_U32 : PJRT_U64;
}

uint64_t tpu_words(const hg_driver_arena *arena, uint8_t word) {
    uint64_t words = (arena->size + word - 1) / word;
    return words ? words : 1;
}

hg_status tpu_upload(hg_device *device, const void *data, uint64_t count, uint8_t word,
                     pjrt_buffer **buffer) {
    int64_t extent = (int64_t)count;
    pjrt_from_host a = {.head = {sizeof a, NULL},
                        .client = tpu->client,
                        .data = data,
                        .type = element_of(word),
                        .extents = &extent,
                        .rank = 1,
                        .semantics = PJRT_COPIES_DURING_CALL,
                        .device = device->device};
    HG_TRY(tpu_check("copy to the device", tpu->from_host(&a)));
    *buffer = a.buffer;
    hg_status status = tpu_await("copy to the device", a.done);
    if (status == HG_OK) return HG_OK;
    tpu_free_buffer(a.buffer);
    *buffer = NULL;
    return status;
}

hg_status tpu_download(pjrt_buffer *buffer, void *data, uint64_t size) {
    pjrt_to_host a = {
        .head = {sizeof a, NULL}, .buffer = buffer, .data = data, .size = (size_t)size};
    HG_TRY(tpu_check("copy to the host", tpu->to_host(&a)));
    return tpu_await("copy to the host", a.event);
}

hg_status tpu_to_host(hg_driver_arena *arena) {
    if (arena->on_host) return HG_OK;
    HG_TRY(tpu_download(arena->buffer, arena->bytes, tpu_words(arena, arena->word) * arena->word));
    arena->on_host = true;
    return HG_OK;
}

hg_status tpu_to_device(hg_driver_arena *arena, uint8_t word) {
    if (arena->buffer && arena->word == word) return HG_OK;
    HG_TRY(tpu_to_host(arena));
    tpu_free_buffer(arena->buffer);
    arena->buffer = NULL;
    arena->word = word;
    return tpu_upload(arena->device, arena->bytes, tpu_words(arena, word), word, &arena->buffer);
}

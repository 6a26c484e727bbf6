/* Memory of the TPU backend: an arena is bytes on the host, an array on the device, or both. A
 * kernel says which elements it wants the array to have; PJRT arrays never change, so a kernel that
 * writes an arena gives it a new one.
 * Must not know: kernels. */
#include "backends/tpu/tpu_internal.h"
#include <string.h>

static int element_of(hg_type type) {
    static const uint8_t ELEMENTS[] = {
        [HG_TYPE_I8] = PJRT_S8,   [HG_TYPE_I16] = PJRT_S16,   [HG_TYPE_I32] = PJRT_S32,
        [HG_TYPE_I64] = PJRT_S64, [HG_TYPE_U8] = PJRT_U8,     [HG_TYPE_U16] = PJRT_U16,
        [HG_TYPE_U32] = PJRT_U32, [HG_TYPE_U64] = PJRT_U64,   [HG_TYPE_F16] = PJRT_F16,
        [HG_TYPE_F32] = PJRT_F32, [HG_TYPE_BF16] = PJRT_BF16, [HG_TYPE_F64] = PJRT_F64};
    return ELEMENTS[type];
}

hg_driver_shape tpu_numbers(uint64_t count, uint8_t word) {
    hg_type type = word == 1   ? HG_TYPE_U8
                   : word == 2 ? HG_TYPE_U16
                   : word == 4 ? HG_TYPE_U32
                               : HG_TYPE_U64;
    return (hg_driver_shape){(uint8_t)type, 1, {(int64_t)count}};
}

uint64_t tpu_words(const hg_driver_arena *arena, uint8_t word) {
    uint64_t words = (arena->size + word - 1) / word;
    return words ? words : 1;
}

hg_status tpu_upload(hg_device *device, const void *data, const hg_driver_shape *shape,
                     pjrt_buffer **buffer) {
    pjrt_from_host a = {.head = {sizeof a, NULL},
                        .client = tpu->client,
                        .data = data,
                        .type = element_of((hg_type)shape->type),
                        .extents = shape->extents,
                        .rank = shape->rank,
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

static uint64_t bytes_of(const hg_driver_shape *shape) {
    uint64_t bytes = hg_type_size_bytes((hg_type)shape->type);
    for (uint8_t i = 0; i < shape->rank; i++) bytes *= (uint64_t)shape->extents[i];
    return bytes;
}

hg_status tpu_to_host(hg_driver_arena *arena) {
    if (arena->on_host) return HG_OK;
    HG_TRY(tpu_download(arena->buffer, arena->bytes, bytes_of(&arena->shape)));
    arena->on_host = true;
    return HG_OK;
}

static bool same_shape(const hg_driver_shape *a, const hg_driver_shape *b) {
    bool same = a->type == b->type && a->rank == b->rank;
    for (uint8_t i = 0; i < a->rank && same; i++) same = a->extents[i] == b->extents[i];
    return same;
}

bool tpu_is_on_device(const hg_driver_arena *arena, const hg_driver_shape *shape) {
    return arena->buffer && same_shape(&arena->shape, shape);
}

hg_status tpu_to_device(hg_driver_arena *arena, const hg_driver_shape *shape) {
    if (tpu_is_on_device(arena, shape)) return HG_OK;
    HG_TRY(tpu_to_host(arena));
    tpu_free_buffer(arena->buffer);
    arena->buffer = NULL;
    arena->shape = *shape;
    return tpu_upload(arena->device, arena->bytes, shape, &arena->buffer);
}

void tpu_put(hg_driver_arena *arena, pjrt_buffer *buffer, const hg_driver_shape *shape) {
    tpu_free_buffer(arena->buffer);
    arena->buffer = buffer;
    arena->shape = *shape;
    arena->on_host = false;
}

void tpu_lose(hg_driver_arena *arena) {
    pjrt_is_gone a = {.head = {sizeof a, NULL}, .buffer = arena->buffer};
    if (a.buffer && tpu->is_gone && tpu_went_well(tpu->is_gone(&a)) && !a.gone) return;
    tpu_free_buffer(arena->buffer);
    arena->buffer = NULL;
    arena->on_host = true;
}

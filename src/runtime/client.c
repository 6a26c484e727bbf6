/* What front ends' host sides ask of a backend and its contexts. */
#include "runtime/client.h"
#include "runtime/memory.h"

bool hg_backend_is_host(const hg_backend *b) { return b->caps->memory.host_memory; }
uint32_t hg_backend_threads(const hg_backend *b) { return b->config.num_threads; }
uint64_t hg_backend_timeout_ms(const hg_backend *b) { return b->config.timeout_ms; }
hg_profile *hg_backend_profile(const hg_backend *b) { return b->profile; }

bool hg_buffers_meet(hg_backend *b, uint64_t one, uint64_t other) {
    const hg_range both[] = {hg_buffer_range(b, b->context, hg_handle_plain(b, one)),
                             hg_buffer_range(b, b->context, hg_handle_plain(b, other))};
    uint8_t pair;
    hg_alias_signature(b, both, 2, &pair);
    return pair != HG_ALIAS_DISTINCT;
}

hg_status hg_context_class_image(hg_context *context, uint8_t **image) {
    hg_range range;
    HG_TRY(hg_context_class_memory(context, &range));
    *image = hg_host_address(context->backend, &range);
    return HG_OK;
}

hg_status hg_context_write(hg_context *context, uint64_t handle, uint64_t offset, const void *data,
                           uint64_t length) {
    return hg_copy(context, false, handle, offset, (void *)(uintptr_t)data, length, HG_CMD_COPY_IN);
}

hg_status hg_context_read(hg_context *context, uint64_t handle, uint64_t offset, void *data,
                          uint64_t length) {
    return hg_copy(context, false, handle, offset, data, length, HG_CMD_COPY_OUT);
}

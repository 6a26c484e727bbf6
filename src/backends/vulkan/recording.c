/* Commands recorded once and submitted often: a piece of work of its own with room for all of them,
 * whose command buffer is submitted again and again.
 * Must not know: what the commands do, semaphores. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN

struct hg_driver_recording {
    hg_device *device;
    VkCommandPool pool;
    vk_piece piece;
    vk_device_queue *device_queue; /* of the last launch */
    uint64_t value;                /* when that is done; 0: never launched */
};

/* Memory for everything, so that recording needs no second piece. */
static hg_status make_room(hg_driver_recording *p, const hg_driver_command *commands,
                           uint32_t count) {
    uint64_t staging = 0, records = 0;
    for (uint32_t i = 0; i < count; i++)
        vk_measure(&commands[i], &staging, &records, &p->piece.sets_most);
    if (staging)
        HG_TRY(vk_buffer_create(p->device, staging, VK_MEMORY_VISIBLE, &p->piece.staging.buffer));
    if (records)
        HG_TRY(vk_buffer_create(p->device, records, VK_MEMORY_VISIBLE, &p->piece.records.buffer));
    return HG_OK;
}

static hg_status make_commands(hg_driver_recording *p) {
    hg_device *d = p->device;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = d->queues.family};
    VK_TRY(d, CreateCommandPool, d->handle, &pool, NULL, &p->pool);
    return vk_piece_create_commands(d, &p->piece, p->pool);
}

static hg_status record(hg_driver_recording *p, const hg_driver_command *commands, uint32_t count) {
    vk_recorder r = {.device = p->device, .piece = &p->piece, .clean = true};
    HG_TRY(make_commands(p));
    HG_TRY(make_room(p, commands, count));
    HG_TRY(vk_piece_begin(p->device, &p->piece, 0));
    for (uint32_t i = 0; i < count; i++) HG_TRY(vk_record(&r, &commands[i]));
    return vk_piece_end(p->device, &p->piece);
}

hg_status vk_recording_create(hg_device *d, const hg_driver_command *commands, uint32_t count,
                              hg_driver_recording **recording) {
    HG_TRY(hg_driver_check_recordable("vulkan", &d->caps, commands, count));
    hg_driver_recording *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->device = d;
    hg_status status = record(p, commands, count);
    if (status != HG_OK)
        vk_recording_destroy(p);
    else
        *recording = p;
    return status;
}

hg_status vk_recording_launch(hg_driver_queue *q, hg_driver_recording *p,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    if (p->value && !vk_has_reached(p->device, p->device_queue, p->value))
        return hg_fail(HG_ERROR_INTERNAL, "vulkan: the recording's last launch is still in flight");
    HG_TRY(vk_submit_recorded(q, p->piece.commands, waits, wait_count, signal, &p->value));
    p->device_queue = q->device_queue;
    return HG_OK;
}

void vk_recording_destroy(hg_driver_recording *p) {
    if (!p) return;
    hg_device *d = p->device;
    hg_error kept = *hg_error_record();
    if (p->value)
        (void)!vk_wait_for(d, p->device_queue, p->value); /* after a failure nothing runs either */
    vk_piece_free(d, &p->piece);
    if (p->pool) d->vk.DestroyCommandPool(d->handle, p->pool, NULL);
    hg_free(p);
    *hg_error_record() = kept;
}
#endif

/* Queues and events. A queue's work goes to one queue of the device in pieces; each piece has a number on that queue's timeline,
 * and an event is such a number. Pieces on one device queue follow each other through barriers, those on different ones through the timeline.
 * Must not know: what the commands do. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <string.h>

/* ---- waiting ---- */

/* The last resort when a wait fails. Either nothing runs after it, or the device counts as lost. */
static bool wait_for_everything(hg_device *d) {
    for (uint32_t l = 0; l < d->device_queue_count; l++) hg_mutex_lock(&d->device_queues[l].lock);
    bool idle = VK_CALL(&d->vk, DeviceWaitIdle, d->handle) == VK_SUCCESS;
    for (uint32_t l = 0; l < d->device_queue_count; l++) hg_mutex_unlock(&d->device_queues[l].lock);
    if (!idle) hg_atomic_store(&d->lost, 1, HG_RELAXED);
    return idle;
}

static bool is_lost(const hg_device *d) { return hg_atomic_load(&d->lost, HG_RELAXED) != 0; }

static hg_status check_lost(const hg_device *d) {
    return is_lost(d) ? hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "vulkan: the device was lost earlier: create a new backend") : HG_OK;
}

/* Fails only when the device is lost. */
static hg_status wait_for(hg_device *d, const vk_device_queue *device_queue, uint64_t value) {
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &device_queue->timeline, .pValues = &value};
    hg_status status = vk_check(d, "vkWaitSemaphores", VK_CALL(&d->vk, WaitSemaphores, d->handle, &info, UINT64_MAX));
    return status != HG_OK && wait_for_everything(d) && !is_lost(d) ? HG_OK : status;
}

/* Pieces up to a value are done: their bytes go to the host, and they are free again. */
static void retire(hg_driver_queue *q, uint64_t value) {
    while (q->count && q->pieces[q->first].value <= value) {
        vk_piece *s = &q->pieces[q->first];
        for (uint64_t i = 0; i < s->read_backs.count; i++)
            memcpy(s->read_backs.data[i].host, s->read_backs.data[i].from, (size_t)s->read_backs.data[i].size);
        s->read_backs.count = 0;
        q->first = (q->first + 1) % VK_PIECES;
        q->count--;
    }
}

/* The device is lost, and so is what was on its way to the host. */
static void abandon(hg_driver_queue *q) {
    for (uint32_t s = 0; s < VK_PIECES; s++) q->pieces[s].read_backs.count = 0;
    q->count = 0;
}

hg_status vk_queue_drain(hg_driver_queue *q) {
    if (!q->count) return HG_OK;
    uint64_t value = q->pieces[(q->first + q->count - 1) % VK_PIECES].value;
    hg_status status = wait_for(q->device, q->device_queue, value);
    if (status == HG_OK)
        retire(q, value);
    else
        abandon(q);
    return status;
}

/* ---- pieces ---- */

static hg_status free_piece(hg_driver_queue *q, vk_piece **piece) {
    if (q->count == VK_PIECES) {
        uint64_t value = q->pieces[q->first].value;
        hg_status status = wait_for(q->device, q->device_queue, value);
        if (status != HG_OK) {
            abandon(q);
            return status;
        }
        retire(q, value);
    }
    *piece = &q->pieces[(q->first + q->count) % VK_PIECES];
    return HG_OK;
}

static hg_status clear_piece(hg_device *d, vk_piece *s) {
    if (s->open) VK_TRY(d, ResetCommandBuffer, s->commands, 0);
    s->open = false;
    if (s->sets_used) VK_TRY(d, ResetDescriptorPool, d->handle, s->sets, 0);
    s->sets_used = 0;
    s->staging.used = s->records.used = 0;
    s->read_backs.count = 0;
    return HG_OK;
}

/* Everything before the piece on its device queue, or between the piece and the host. */
static void edge(const hg_device *d, const vk_piece *s, bool end) {
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                              .dstAccessMask = end ? VK_ACCESS_HOST_READ_BIT
                                                   : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                                                         VK_ACCESS_TRANSFER_WRITE_BIT};
    d->vk.CmdPipelineBarrier(s->commands, stages, end ? (VkPipelineStageFlags)VK_PIPELINE_STAGE_HOST_BIT : stages, 0, 1, &memory, 0, NULL,
                             0, NULL);
}

hg_status vk_recorder_open(vk_recorder *r) {
    hg_device *d = r->queue->device;
    vk_piece *s;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    HG_TRY(check_lost(d));
    HG_TRY(free_piece(r->queue, &s));
    HG_TRY(clear_piece(d, s));
    VK_TRY(d, BeginCommandBuffer, s->commands, &info);
    s->open = true;
    edge(d, s, false);
    r->piece = s;
    r->clean = true;
    return HG_OK;
}

hg_status vk_recorder_flush(vk_recorder *r) {
    hg_device *d = r->queue->device;
    vk_device_queue *device_queue = r->queue->device_queue;
    vk_piece *s = r->piece;
    VkPipelineStageFlags stages[VK_DEVICE_QUEUES];
    if (!s) return HG_OK;
    r->piece = NULL;
    edge(d, s, true);
    VK_TRY(d, EndCommandBuffer, s->commands);
    for (uint32_t i = 0; i < r->wait_count; i++) stages[i] = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    hg_mutex_lock(&device_queue->lock);
    uint64_t value = device_queue->last + 1;
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = r->wait_count,
                                            .pWaitSemaphoreValues = r->wait_values,
                                            .signalSemaphoreValueCount = 1,
                                            .pSignalSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &values,
                         .waitSemaphoreCount = r->wait_count,
                         .pWaitSemaphores = r->waits,
                         .pWaitDstStageMask = stages,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &s->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &device_queue->timeline};
    VkResult result = VK_CALL(&d->vk, QueueSubmit, device_queue->handle, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) device_queue->last = value;
    hg_mutex_unlock(&device_queue->lock);
    HG_TRY(vk_check(d, "vkQueueSubmit", result));
    s->open = false;
    s->value = r->value = value;
    r->queue->count++;
    r->wait_count = 0;
    return HG_OK;
}

/* ---- submissions ---- */

static void release(hg_driver_queue *q) {
    if (!q || hg_atomic_sub_fetch(&q->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&q->lock);
    hg_free(q);
}

static bool is_done(hg_driver_event *e) {
    uint64_t value = 0;
    if (!e->device_queue) return true;
    return VK_CALL(&e->device->vk, GetSemaphoreCounterValue, e->device->handle, e->device_queue->timeline, &value) == VK_SUCCESS &&
           value >= e->value;
}

/* Bytes that an event's submission brings to the host may be what this one takes from there. Before the queue's lock is taken. */
static hg_status wait_for_host(hg_driver_event *const *waits, uint32_t wait_count, const hg_driver_command *commands, uint32_t count) {
    bool reads_host = false;
    for (uint32_t i = 0; i < count; i++) reads_host = reads_host || commands[i].kind == HG_CMD_COPY_IN;
    for (uint32_t i = 0; i < wait_count; i++) {
        if (waits[i]->status != HG_OK) return hg_fail(waits[i]->status, "vulkan: work that this one waits for has failed");
        if (reads_host && waits[i]->queue) HG_TRY(vk_event_wait(waits[i]));
    }
    return HG_OK;
}

/* Events of other device queues become waits of the first piece; those of the queue's own one are before it anyway. *running: some may run. */
static void gather_waits(vk_recorder *r, hg_driver_event *const *waits, uint32_t count, bool *running) {
    for (uint32_t i = 0; i < count; i++) {
        const hg_driver_event *e = waits[i];
        uint32_t w = 0;
        if (is_done(waits[i])) continue;
        *running = true;
        if (e->device_queue == r->queue->device_queue) continue;
        while (w < r->wait_count && r->waits[w] != e->device_queue->timeline) w++;
        if (w == r->wait_count) {
            r->waits[w] = e->device_queue->timeline;
            r->wait_values[w] = 0;
            r->wait_count++;
        }
        if (r->wait_values[w] < e->value) r->wait_values[w] = e->value;
    }
}

static hg_status retire_done(hg_driver_queue *q) {
    uint64_t value;
    if (!q->count) return HG_OK;
    VK_TRY(q->device, GetSemaphoreCounterValue, q->device->handle, q->device_queue->timeline, &value);
    retire(q, value);
    return HG_OK;
}

static hg_status submit(vk_recorder *r, const hg_driver_command *commands, uint32_t count, bool running) {
    uint32_t i = 0;
    HG_TRY(check_lost(r->queue->device));
    HG_TRY(retire_done(r->queue));
    if (!running && !r->queue->count) /* nothing to come after: what the host can do it does now */
        while (i < count && vk_do_on_host(&commands[i])) i++;
    for (; i < count; i++) HG_TRY(vk_record(r, &commands[i]));
    if (running && !r->piece && !r->value) HG_TRY(vk_recorder_open(r)); /* the signal comes after the waits */
    return vk_recorder_flush(r);
}

static void set_signal(hg_driver_event *signal, const vk_recorder *r, hg_status status) {
    hg_driver_queue *queue = r->has_read_backs && r->value ? r->queue : NULL;
    if (queue) hg_atomic_add_fetch(&queue->references, 1, HG_RELAXED);
    release(signal->queue);
    *signal = (hg_driver_event){signal->device, status == HG_OK && r->value ? r->queue->device_queue : NULL, r->value, queue, true, status};
    if (status != HG_OK) {
        release(queue);
        signal->queue = NULL;
    }
}

/* The submission has no piece of its own but comes after those in flight. */
static void follow(vk_recorder *r) {
    const hg_driver_queue *q = r->queue;
    if (r->value || !q->count) return;
    r->value = q->pieces[(q->first + q->count - 1) % VK_PIECES].value;
    r->has_read_backs = true; /* maybe of those */
}

hg_status vk_queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count, hg_driver_event *const *waits,
                          uint32_t wait_count, hg_driver_event *signal) {
    vk_recorder r = {.queue = q};
    bool running = false;
    hg_status status = wait_for_host(waits, wait_count, commands, count);
    hg_mutex_lock(&q->lock);
    if (status == HG_OK) {
        gather_waits(&r, waits, wait_count, &running);
        status = submit(&r, commands, count, running);
    }
    if (status == HG_OK) {
        follow(&r);
    } else {
        hg_error kept = *hg_error_record();
        if (r.piece) r.piece->read_backs.count = 0;
        (void)vk_queue_drain(q); /* pieces of it must not write to the caller's memory later */
        *hg_error_record() = kept;
    }
    if (signal) set_signal(signal, &r, status);
    hg_mutex_unlock(&q->lock);
    return status;
}

/* ---- queues ---- */

static hg_status fill_queue(hg_device *d, hg_driver_queue *q) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = d->family};
    VkCommandBuffer buffers[VK_PIECES];
    VK_TRY(d, CreateCommandPool, d->handle, &pool, NULL, &q->pool);
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = q->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = VK_PIECES};
    VK_TRY(d, AllocateCommandBuffers, d->handle, &info, buffers);
    for (uint32_t s = 0; s < VK_PIECES; s++) q->pieces[s].commands = buffers[s];
    return HG_OK;
}

hg_status vk_queue_create(hg_device *d, hg_driver_queue **queue) {
    hg_driver_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->device = d;
    q->references = 1;
    q->device_queue = &d->device_queues[hg_atomic_fetch_add(&d->next_device_queue, 1, HG_RELAXED) % d->device_queue_count];
    hg_mutex_init(&q->lock);
    hg_status status = fill_queue(d, q);
    if (status != HG_OK)
        vk_queue_destroy(q);
    else
        *queue = q;
    return status;
}

void vk_queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    hg_device *d = q->device;
    hg_error kept = *hg_error_record();
    hg_mutex_lock(&q->lock);
    (void)vk_queue_drain(q); /* after a failure nothing runs either */
    for (uint32_t i = 0; i < VK_PIECES; i++) {
        vk_piece *s = &q->pieces[i];
        vk_buffer_destroy(d, &s->staging.buffer);
        vk_buffer_destroy(d, &s->records.buffer);
        if (s->sets) d->vk.DestroyDescriptorPool(d->handle, s->sets, NULL);
        hg_vec_free(&s->read_backs);
    }
    if (q->pool) d->vk.DestroyCommandPool(d->handle, q->pool, NULL);
    hg_mutex_unlock(&q->lock);
    release(q);
    *hg_error_record() = kept;
}

/* ---- events ---- */

hg_status vk_event_create(hg_device *d, hg_driver_event **event) {
    *event = hg_calloc(1, sizeof **event);
    if (!*event) return hg_fail_memory();
    (*event)->device = d;
    return HG_OK;
}

void vk_event_destroy(hg_driver_event *e) {
    if (!e) return;
    release(e->queue);
    hg_free(e);
}

static hg_status fetch(hg_driver_event *e) {
    if (!e->queue) return HG_OK;
    hg_mutex_lock(&e->queue->lock);
    hg_status status = check_lost(e->device);
    if (status == HG_OK) retire(e->queue, e->value);
    hg_mutex_unlock(&e->queue->lock);
    return status;
}

hg_status vk_event_wait(hg_driver_event *e) {
    if (!e->device_queue) return e->status;
    HG_TRY(wait_for(e->device, e->device_queue, e->value));
    return fetch(e);
}

hg_status vk_event_query(hg_driver_event *e, bool *done) {
    uint64_t value = 0;
    *done = e->submitted;
    if (!e->device_queue) return e->status;
    if (VK_CALL(&e->device->vk, GetSemaphoreCounterValue, e->device->handle, e->device_queue->timeline, &value) != VK_SUCCESS)
        return vk_event_wait(e);
    *done = value >= e->value;
    return *done ? fetch(e) : HG_OK;
}
#endif

/* Queues and events. A queue's work goes to one queue of the device in pieces; each piece has a
 * number on that queue's timeline, and an event is such a number. Pieces on one device queue follow
 * each other through barriers, those on different ones through the timeline.
 * Must not know: what the commands do. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <string.h>

/* ---- waiting ---- */

/* The last resort when a wait fails. Either nothing runs after it, or the device counts as lost. */
static bool wait_for_everything(hg_device *d) {
    for (uint32_t l = 0; l < d->queues.device_queue_count; l++)
        hg_mutex_lock(&d->queues.device_queues[l].lock);
    bool idle = VK_CALL(&d->vk, DeviceWaitIdle, d->handle) == VK_SUCCESS;
    for (uint32_t l = 0; l < d->queues.device_queue_count; l++)
        hg_mutex_unlock(&d->queues.device_queues[l].lock);
    if (!idle) hg_atomic_store(&d->lost, 1, HG_RELAXED);
    return idle;
}

static bool is_lost(const hg_device *d) { return hg_atomic_load(&d->lost, HG_RELAXED) != 0; }

static hg_status check_lost(const hg_device *d) {
    return is_lost(d) ? hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                                "vulkan: the device was lost earlier: create a new backend")
                      : HG_OK;
}

/* Values only grow; one that is stored late costs a question to the device. */
static void note_reached(vk_device_queue *device_queue, uint64_t value) {
    if (value > hg_atomic_load(&device_queue->done, HG_RELAXED))
        hg_atomic_store(&device_queue->done, value, HG_RELEASE);
}

static hg_status ask_reached(hg_device *d, vk_device_queue *device_queue, uint64_t value,
                             bool *reached) {
    uint64_t counter;
    *reached = hg_atomic_load(&device_queue->done, HG_ACQUIRE) >= value;
    if (*reached) return HG_OK;
    VK_TRY(d, GetSemaphoreCounterValue, d->handle, device_queue->timeline, &counter);
    note_reached(device_queue, counter);
    *reached = counter >= value;
    return HG_OK;
}

bool vk_has_reached(hg_device *d, vk_device_queue *device_queue, uint64_t value) {
    bool reached;
    return ask_reached(d, device_queue, value, &reached) == HG_OK && reached;
}

hg_status vk_wait_for(hg_device *d, vk_device_queue *device_queue, uint64_t value) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &device_queue->timeline,
                                .pValues = &value};
    if (hg_atomic_load(&device_queue->done, HG_ACQUIRE) >= value) return HG_OK;
    hg_status status = vk_check(d, "vkWaitSemaphores",
                                VK_CALL(&d->vk, WaitSemaphores, d->handle, &info, UINT64_MAX));
    if (status != HG_OK && (!wait_for_everything(d) || is_lost(d))) return status;
    note_reached(device_queue, value);
    return HG_OK;
}

static void take_back(hg_driver_queue *q, vk_piece *s) {
    s->read_backs.count = 0;
    s->next = q->free;
    q->free = s;
}

/* Pieces up to a value are done: their bytes go to the host, and they are free again. */
static void retire(hg_driver_queue *q, uint64_t value) {
    while (q->first && q->first->value <= value) {
        vk_piece *s = q->first;
        for (uint64_t i = 0; i < s->read_backs.count; i++)
            memcpy(s->read_backs.data[i].host, s->read_backs.data[i].from,
                   (size_t)s->read_backs.data[i].size);
        q->read_backs -= s->read_backs.count;
        q->first = s->next;
        take_back(q, s);
    }
    if (!q->first) q->last = NULL;
}

/* The device is lost, and so is what was on its way to the host. */
static void abandon(hg_driver_queue *q) {
    while (q->first) {
        vk_piece *s = q->first;
        q->first = s->next;
        take_back(q, s);
    }
    q->last = NULL;
    q->read_backs = 0;
}

static hg_status wait_and_retire(hg_driver_queue *q, uint64_t value) {
    hg_status status = vk_wait_for(q->device, q->device_queue, value);
    if (status == HG_OK)
        retire(q, value);
    else
        abandon(q);
    return status;
}

hg_status vk_queue_drain(hg_driver_queue *q) { return wait_and_retire(q, q->value); }

/* ---- pieces ---- */

hg_status vk_piece_create_commands(hg_device *d, vk_piece *s, VkCommandPool pool) {
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
    VK_TRY(d, AllocateCommandBuffers, d->handle, &info, &s->commands);
    return HG_OK;
}

static hg_status new_piece(hg_driver_queue *q, vk_piece **piece) {
    vk_piece *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    hg_status status = vk_piece_create_commands(q->device, s, q->pool);
    if (status != HG_OK) {
        hg_free(s);
        return status;
    }
    s->sets_most = VK_SETS;
    q->piece_count++;
    *piece = s;
    return HG_OK;
}

static hg_status free_piece(hg_driver_queue *q, vk_piece **piece) {
    if (!q->free && q->piece_count >= VK_MOST_PIECES) HG_TRY(wait_and_retire(q, q->first->value));
    if (!q->free) return new_piece(q, piece);
    *piece = q->free;
    q->free = q->free->next;
    return HG_OK;
}

void vk_piece_free(hg_device *d, vk_piece *s) {
    vk_buffer_destroy(d, &s->staging.buffer);
    vk_buffer_destroy(d, &s->records.buffer);
    if (s->sets) d->vk.DestroyDescriptorPool(d->handle, s->sets, NULL);
    hg_vec_free(&s->read_backs);
}

static void drop_staging(hg_driver_queue *q, vk_piece *s) {
    q->staging_bytes -= s->staging.buffer.size;
    vk_buffer_destroy(q->device, &s->staging.buffer);
}

/* Room for more bytes: from pieces that are free, or will be. */
static hg_status limit_staging(hg_driver_queue *q, uint64_t more) {
    for (;;) {
        for (vk_piece *f = q->free; f && q->staging_bytes + more > VK_MOST_STAGING; f = f->next)
            drop_staging(q, f);
        if (q->staging_bytes + more <= VK_MOST_STAGING || !q->first) return HG_OK;
        HG_TRY(wait_and_retire(q, q->first->value));
    }
}

hg_status vk_staging_grow(hg_driver_queue *q, vk_piece *s, uint64_t bytes) {
    for (vk_piece *f = q->free; f; f = f->next) /* somebody else's that is long enough */
        if (f->staging.buffer.size >= bytes) {
            vk_buffer other = f->staging.buffer;
            f->staging.buffer = s->staging.buffer;
            s->staging.buffer = other;
            return HG_OK;
        }
    drop_staging(q, s);
    HG_TRY(limit_staging(q, bytes));
    HG_TRY(vk_buffer_create(q->device, bytes, VK_MEMORY_VISIBLE, &s->staging.buffer));
    q->staging_bytes += s->staging.buffer.size;
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
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                        VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = end ? VK_ACCESS_HOST_READ_BIT
                             : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    d->vk.CmdPipelineBarrier(s->commands, stages,
                             end ? (VkPipelineStageFlags)VK_PIPELINE_STAGE_HOST_BIT : stages, 0, 1,
                             &memory, 0, NULL, 0, NULL);
}

hg_status vk_piece_begin(hg_device *d, vk_piece *s, VkCommandBufferUsageFlags usage) {
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = usage};
    VK_TRY(d, BeginCommandBuffer, s->commands, &info);
    s->open = true;
    edge(d, s, false);
    return HG_OK;
}

hg_status vk_piece_end(hg_device *d, vk_piece *s) {
    edge(d, s, true);
    VK_TRY(d, EndCommandBuffer, s->commands);
    return HG_OK;
}

hg_status vk_recorder_open(vk_recorder *r) {
    HG_TRY(check_lost(r->device));
    HG_TRY(free_piece(r->queue, &r->piece)); /* the recorder's from here on, also when it cannot be
                                                begun */
    HG_TRY(clear_piece(r->device, r->piece));
    HG_TRY(vk_piece_begin(r->device, r->piece, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
    r->clean = true;
    return HG_OK;
}

/* One call of the device for one command buffer, with the recorder's waits. */
static hg_status hand_over(vk_recorder *r, VkCommandBuffer commands) {
    hg_device *d = r->device;
    vk_device_queue *device_queue = r->queue->device_queue;
    VkPipelineStageFlags stages[VK_DEVICE_QUEUES];
    for (uint32_t i = 0; i < r->wait_count; i++)
        stages[i] = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    hg_mutex_lock(&device_queue->lock);
    uint64_t value = device_queue->last + 1;
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
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
                         .pCommandBuffers = &commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &device_queue->timeline};
    VkResult result = VK_CALL(&d->vk, QueueSubmit, device_queue->handle, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) device_queue->last = value;
    hg_mutex_unlock(&device_queue->lock);
    HG_TRY(vk_check(d, "vkQueueSubmit", result));
    r->value = r->queue->value = value;
    r->wait_count = 0;
    return HG_OK;
}

hg_status vk_recorder_flush(vk_recorder *r) {
    hg_driver_queue *q = r->queue;
    vk_piece *s = r->piece;
    if (!s) return HG_OK;
    HG_TRY(vk_piece_end(r->device, s));
    HG_TRY(hand_over(r, s->commands));
    s->open = false;
    s->value = r->value;
    s->next = NULL;
    if (q->last)
        q->last->next = s;
    else
        q->first = s;
    q->last = s;
    q->read_backs += s->read_backs.count;
    r->piece = NULL;
    return HG_OK;
}

/* ---- submissions ---- */

static void release(hg_driver_queue *q) {
    if (!q || hg_atomic_sub_fetch(&q->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&q->lock);
    hg_free(q);
}

static bool is_done(const hg_driver_event *e) {
    return !e->device_queue || vk_has_reached(e->device, e->device_queue, e->value);
}

/* Whether bytes on their way to the host land where a command takes some from. */
static bool brings(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count) {
    bool found = false;
    hg_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < count && q->read_backs; i++)
        found = found || (commands[i].kind == HG_CMD_COPY_IN &&
                          vk_awaits_host(q, commands[i].host, commands[i].to.size));
    hg_mutex_unlock(&q->lock);
    return found;
}

/* Bytes that an event's submission brings to the host may be what this one takes from there. Before
 * the queue's lock is taken. */
static hg_status wait_for_host(hg_driver_event *const *waits, uint32_t wait_count,
                               const hg_driver_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < wait_count; i++) {
        if (waits[i]->status != HG_OK)
            return hg_fail(waits[i]->status, "vulkan: work that this one waits for has failed");
        if (waits[i]->queue && brings(waits[i]->queue, commands, count))
            HG_TRY(vk_event_wait(waits[i]));
    }
    return HG_OK;
}

/* Events of other device queues become waits of the first piece; those of the queue's own one are
 * before it anyway. *running: some may run. */
static void gather_waits(vk_recorder *r, hg_driver_event *const *waits, uint32_t count,
                         bool *running) {
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

/* Whether all work of the queue is done; what came to the host is there then. */
static hg_status retire_done(hg_driver_queue *q, bool *idle) {
    HG_TRY(ask_reached(q->device, q->device_queue, q->value, idle));
    if (q->first) retire(q, hg_atomic_load(&q->device_queue->done, HG_ACQUIRE));
    return HG_OK;
}

static hg_status submit(vk_recorder *r, const hg_driver_command *commands, uint32_t count,
                        bool running) {
    uint32_t i = 0;
    bool idle;
    HG_TRY(check_lost(r->device));
    HG_TRY(retire_done(r->queue, &idle));
    if (!running && idle) /* nothing to come after: what the host can do it does now */
        while (i < count && vk_do_on_host(&commands[i])) i++;
    for (; i < count; i++) HG_TRY(vk_record(r, &commands[i]));
    if (running && !r->piece && !r->value)
        HG_TRY(vk_recorder_open(r)); /* the signal comes after the waits */
    HG_TRY(vk_recorder_flush(r));
    if (!r->value && !idle)
        r->value = r->queue->value; /* no piece of its own: it comes after those in flight */
    return HG_OK;
}

static void set_signal(hg_driver_event *signal, const vk_recorder *r, hg_status status) {
    hg_driver_queue *queue = status == HG_OK && r->value && r->queue->read_backs ? r->queue : NULL;
    if (queue) hg_atomic_add_fetch(&queue->references, 1, HG_RELAXED);
    release(signal->queue);
    *signal = (hg_driver_event){
        signal->device, status == HG_OK && r->value ? r->queue->device_queue : NULL,
        r->value,       queue,
        true,           status};
}

hg_status vk_queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                          hg_driver_event *const *waits, uint32_t wait_count,
                          hg_driver_event *signal) {
    vk_recorder r = {.device = q->device, .queue = q};
    bool running = false;
    hg_status status = wait_for_host(waits, wait_count, commands, count);
    hg_mutex_lock(&q->lock);
    if (status == HG_OK) {
        gather_waits(&r, waits, wait_count, &running);
        status = submit(&r, commands, count, running);
    }
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        if (r.piece) take_back(q, r.piece);
        (void)vk_queue_drain(q); /* pieces of it must not write to the caller's memory later */
        *hg_error_record() = kept;
    }
    if (signal) set_signal(signal, &r, status);
    hg_mutex_unlock(&q->lock);
    return status;
}

hg_status vk_submit_recorded(hg_driver_queue *q, VkCommandBuffer commands,
                             hg_driver_event *const *waits, uint32_t wait_count,
                             hg_driver_event *signal, uint64_t *value) {
    vk_recorder r = {.device = q->device, .queue = q};
    bool running;
    hg_status status = wait_for_host(waits, wait_count, NULL, 0);
    hg_mutex_lock(&q->lock);
    if (status == HG_OK) status = check_lost(r.device);
    if (status == HG_OK) {
        gather_waits(&r, waits, wait_count, &running);
        status = hand_over(&r, commands);
    }
    if (status == HG_OK) *value = r.value;
    if (signal) set_signal(signal, &r, status);
    hg_mutex_unlock(&q->lock);
    return status;
}

/* ---- queues ---- */

hg_status vk_queue_create(hg_device *d, hg_driver_queue **queue) {
    hg_driver_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->device = d;
    q->references = 1;
    q->device_queue =
        &d->queues.device_queues[hg_atomic_fetch_add(&d->queues.next_device_queue, 1, HG_RELAXED) %
                                 d->queues.device_queue_count];
    hg_mutex_init(&q->lock);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = d->queues.family};
    hg_status status = vk_check(
        d, "vkCreateCommandPool",
        VK_CALL(&d->vk, CreateCommandPool, d->handle, &pool, NULL, &q->pool));
    if (status != HG_OK)
        vk_queue_destroy(q);
    else
        *queue = q;
    return status;
}

void *vk_queue_native(hg_driver_queue *q) { return q->device_queue->handle; }

void vk_queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    hg_device *d = q->device;
    hg_error kept = *hg_error_record();
    hg_mutex_lock(&q->lock);
    (void)vk_queue_drain(q); /* after a failure nothing runs either */
    while (q->free) {
        vk_piece *s = q->free;
        q->free = s->next;
        vk_piece_free(d, s);
        hg_free(s);
    }
    if (q->pool) d->vk.DestroyCommandPool(d->handle, q->pool, NULL);
    hg_mutex_unlock(&q->lock);
    release(q);
    *hg_error_record() = kept;
}

hg_status vk_queue_finish(hg_driver_queue *q) {
    hg_mutex_lock(&q->lock);
    hg_status status = vk_queue_drain(q);
    hg_mutex_unlock(&q->lock);
    return status;
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
    HG_TRY(vk_wait_for(e->device, e->device_queue, e->value));
    return fetch(e);
}

/* Where the device cannot be asked the work may still run: only a device that is lost is done with
 * it. */
hg_status vk_event_query(hg_driver_event *e, bool *done) {
    *done = e->submitted;
    if (!e->device_queue) return e->status;
    hg_status status = ask_reached(e->device, e->device_queue, e->value, done);
    if (status != HG_OK) {
        *done = is_lost(e->device);
        return *done ? status : HG_OK;
    }
    return *done ? fetch(e) : HG_OK;
}
#endif

/* The commands of a submission, recorded into pieces of work: copies through staging memory, fills,
 * dispatches.
 * Must not know: semaphores, submission. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <string.h>

enum {
    STAGING_LEAST = 64 << 10,
    STAGING_MOST = 8 << 20, /* longer copies go in several steps */
    RECORDS_LEAST = 64 << 10,
    RECORD_ALIGNMENT = 256, /* the most that Vulkan lets a device ask for bindings */
    STAGING_ALIGNMENT = 16
};

static vk_device_functions *functions(const vk_recorder *r) { return &r->device->vk; }

/* ---- by the host ---- */

static uint8_t *seen(const hg_range *range) {
    uint8_t *mapped = vk_arena_map(range->arena);
    return mapped ? mapped + range->offset : NULL;
}

bool vk_do_on_host(const hg_driver_command *c) {
    if (c->kind > HG_CMD_FILL) return false;
    if ((c->kind == HG_CMD_COPY_OUT ? c->from.size : c->to.size) == 0) return true;
    uint8_t *to = c->kind == HG_CMD_COPY_IN || c->kind == HG_CMD_COPY || c->kind == HG_CMD_FILL
                      ? seen(&c->to)
                      : c->host;
    const uint8_t *from = c->kind == HG_CMD_COPY_OUT || c->kind == HG_CMD_COPY ? seen(&c->from)
                                                                               : c->host;
    switch (c->kind) {
    case HG_CMD_COPY_IN:
    case HG_CMD_COPY:
        if (to && from) memmove(to, from, (size_t)c->to.size);
        return to && from;
    case HG_CMD_COPY_OUT:
        if (from) memcpy(to, from, (size_t)c->from.size);
        return from != NULL;
    case HG_CMD_FILL:
        if (to) memset(to, c->value, (size_t)c->to.size);
        return to != NULL;
    default: return false;
    }
}

/* ---- pieces ---- */

static hg_status ensure_open(vk_recorder *r) { return r->piece ? HG_OK : vk_recorder_open(r); }

/* What comes after sees what was recorded so far. */
static void barrier(vk_recorder *r) {
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                        VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    if (r->clean) return;
    functions(r)->CmdPipelineBarrier(r->piece->commands, stages, stages, 0, 1, &memory, 0, NULL, 0,
                                     NULL);
    r->clean = true;
}

static uint64_t round_up(uint64_t n, uint64_t step) { return (n + step - 1) / step * step; }

static hg_status grow_records(hg_device *d, vk_region *records, uint64_t size) {
    vk_buffer_destroy(d, &records->buffer);
    return vk_buffer_create(d, size, VK_MEMORY_VISIBLE, &records->buffer);
}

/* Bytes that the host may write for the open piece; a full region means a new piece. */
static hg_status reserve(vk_recorder *r, bool staging, uint64_t bytes, uint64_t *offset) {
    uint64_t least = staging ? STAGING_LEAST : RECORDS_LEAST,
             alignment = staging ? STAGING_ALIGNMENT : RECORD_ALIGNMENT;
    HG_TRY(ensure_open(r));
    vk_region *region = staging ? &r->piece->staging : &r->piece->records;
    if (region->used && region->used + bytes > region->buffer.size) {
        HG_TRY(vk_recorder_flush(r));
        HG_TRY(vk_recorder_open(r));
        region = staging ? &r->piece->staging : &r->piece->records;
    }
    if (bytes > region->buffer.size) { /* nothing in it is used */
        uint64_t size = least;
        while (size < bytes) size *= 2;
        HG_TRY(staging ? vk_staging_grow(r->queue, r->piece, size)
                       : grow_records(r->device, region, size));
    }
    *offset = region->used;
    region->used = round_up(region->used + bytes, alignment);
    return HG_OK;
}

static void copy(vk_recorder *r, const vk_buffer *from, uint64_t from_offset, const vk_buffer *to,
                 uint64_t to_offset, uint64_t size) {
    VkBufferCopy region = {from_offset, to_offset, size};
    functions(r)->CmdCopyBuffer(r->piece->commands, from->handle, to->handle, 1, &region);
    r->clean = false;
}

/* ---- copies and fills ---- */

static bool lands_in(const vk_piece *s, const uint8_t *host, uint64_t size) {
    for (uint64_t i = 0; i < s->read_backs.count; i++) {
        const vk_read_back *b = &s->read_backs.data[i];
        if ((uintptr_t)b->host < (uintptr_t)host + size &&
            (uintptr_t)host < (uintptr_t)b->host + b->size)
            return true;
    }
    return false;
}

bool vk_awaits_host(const hg_driver_queue *q, const void *host, uint64_t size) {
    for (const vk_piece *s = q->first; s; s = s->next)
        if (lands_in(s, host, size)) return true;
    return false;
}

static hg_status copy_in(vk_recorder *r, const uint8_t *host, const hg_range *to) {
    if ((r->piece && lands_in(r->piece, host, to->size)) ||
        vk_awaits_host(r->queue, host, to->size)) {
        HG_TRY(vk_recorder_flush(r));
        HG_TRY(vk_queue_drain(r->queue));
    }
    HG_TRY(ensure_open(r));
    barrier(r);
    for (uint64_t done = 0, offset; done < to->size;) {
        uint64_t size = to->size - done < STAGING_MOST ? to->size - done : STAGING_MOST;
        HG_TRY(reserve(r, true, size, &offset));
        memcpy(r->piece->staging.buffer.mapped + offset, host + done, (size_t)size);
        copy(r, &r->piece->staging.buffer, offset, &to->arena->buffer, to->offset + done, size);
        done += size;
    }
    return HG_OK;
}

static hg_status copy_out(vk_recorder *r, const hg_range *from, uint8_t *host) {
    HG_TRY(ensure_open(r));
    barrier(r);
    for (uint64_t done = 0, offset; done < from->size;) {
        uint64_t size = from->size - done < STAGING_MOST ? from->size - done : STAGING_MOST;
        HG_TRY(reserve(r, true, size, &offset));
        vk_read_back *b = hg_vec_push(&r->piece->read_backs);
        if (!b) return hg_fail_memory();
        *b = (vk_read_back){host + done, r->piece->staging.buffer.mapped + offset, size};
        copy(r, &from->arena->buffer, from->offset + done, &r->piece->staging.buffer, offset, size);
        done += size;
    }
    return HG_OK;
}

/* Vulkan does not define copies onto themselves: they go through staging, from the end that is not
 * overwritten. */
static hg_status copy_overlapping(vk_recorder *r, const hg_range *from, const hg_range *to) {
    bool backwards = to->offset > from->offset;
    for (uint64_t done = 0, offset; done < to->size;) {
        uint64_t size = to->size - done < STAGING_MOST ? to->size - done : STAGING_MOST;
        uint64_t at = backwards ? to->size - done - size : done;
        HG_TRY(reserve(r, true, size, &offset));
        barrier(r);
        copy(r, &from->arena->buffer, from->offset + at, &r->piece->staging.buffer, offset, size);
        barrier(r);
        copy(r, &r->piece->staging.buffer, offset, &to->arena->buffer, to->offset + at, size);
        done += size;
    }
    return HG_OK;
}

static bool overlap(const hg_range *from, const hg_range *to) {
    return from->arena == to->arena && from->offset < to->offset + to->size &&
           to->offset < from->offset + to->size;
}

static hg_status copy_between(vk_recorder *r, const hg_range *from, const hg_range *to) {
    if (overlap(from, to))
        return from->offset == to->offset ? HG_OK : copy_overlapping(r, from, to);
    HG_TRY(ensure_open(r));
    barrier(r);
    copy(r, &from->arena->buffer, from->offset, &to->arena->buffer, to->offset, to->size);
    return HG_OK;
}

/* The device fills words; bytes before and after them are copied. */
static hg_status fill(vk_recorder *r, const hg_range *to, uint8_t value) {
    uint64_t end = to->offset + to->size, words = round_up(to->offset, 4),
             words_end = end & ~UINT64_C(3), offset;
    const vk_buffer *b = &to->arena->buffer;
    if (words >= words_end)
        words = words_end = end; /* no whole word: all of it is a copy of at most 6 bytes */
    HG_TRY(reserve(r, true, STAGING_ALIGNMENT, &offset));
    memset(r->piece->staging.buffer.mapped + offset, value, STAGING_ALIGNMENT);
    barrier(r);
    if (words > to->offset)
        copy(r, &r->piece->staging.buffer, offset, b, to->offset, words - to->offset);
    if (end > words_end) copy(r, &r->piece->staging.buffer, offset, b, words_end, end - words_end);
    if (words_end > words)
        functions(r)->CmdFillBuffer(r->piece->commands, b->handle, words, words_end - words,
                                    value * UINT32_C(0x01010101));
    r->clean = false;
    return HG_OK;
}

/* ---- dispatches ---- */

static hg_status create_sets(hg_device *d, vk_piece *piece) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                 piece->sets_most * d->max_bindings};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = piece->sets_most,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VK_TRY(d, CreateDescriptorPool, d->handle, &info, NULL, &piece->sets);
    return HG_OK;
}

static VkDescriptorBufferInfo binding_of(const hg_device *d, const vk_buffer *b, uint64_t offset,
                                         uint64_t size) {
    uint64_t most = d->limits.maxStorageBufferRange;
    return (VkDescriptorBufferInfo){b->handle, offset, size < most ? size : most};
}

static hg_status bind_set(vk_recorder *r, const hg_driver_dispatch *x, uint64_t record_offset) {
    enum { BINDINGS = 256 };
    hg_device *d = r->device;
    const hg_driver_kernel *k = x->kernel;
    VkDescriptorBufferInfo infos[BINDINGS];
    VkWriteDescriptorSet writes[BINDINGS];
    VkDescriptorSet set;
    uint32_t count = k->slots + !k->pushed;
    if (count == 0) return HG_OK;
    if (d->caps.compiler.target.bind_arenas) HG_TRY(hg_driver_check_bound_once(x));
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = r->piece->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &k->set_layout};
    VK_TRY(d, AllocateDescriptorSets, d->handle, &info, &set);
    r->piece->sets_used++;
    for (uint32_t i = 0; i < count; i++) {
        const hg_driver_arena *arena = i < k->slots && i < x->slot_count ? x->slots[i].arena : NULL;
        if (i == k->slots)
            infos[i] = binding_of(d, &r->piece->records.buffer, record_offset, k->record_bytes);
        else
            infos[i] = binding_of(d, arena ? &arena->buffer : &d->nothing, 0,
                                  arena ? arena->buffer.size : d->nothing.size);
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &infos[i]};
    }
    d->vk.UpdateDescriptorSets(d->handle, count, writes, 0, NULL);
    d->vk.CmdBindDescriptorSets(r->piece->commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->layout, 0, 1,
                                &set, 0, NULL);
    return HG_OK;
}

/* A piece with room for what the dispatch needs besides commands. */
static hg_status make_piece(vk_recorder *r, const hg_driver_dispatch *x, uint64_t *record_offset) {
    const hg_driver_kernel *k = x->kernel;
    *record_offset = 0;
    HG_TRY(ensure_open(r));
    if (k->set_layout && r->piece->sets_used == r->piece->sets_most) {
        HG_TRY(vk_recorder_flush(r));
        HG_TRY(vk_recorder_open(r));
    }
    if (!k->pushed) {
        HG_TRY(reserve(r, false, k->record_bytes, record_offset));
        memcpy(r->piece->records.buffer.mapped + *record_offset, x->record, k->record_bytes);
    }
    return k->set_layout && !r->piece->sets ? create_sets(r->device, r->piece) : HG_OK;
}

static hg_status dispatch(vk_recorder *r, const hg_driver_dispatch *x) {
    const hg_driver_kernel *k = x->kernel;
    vk_device_functions *vk = functions(r);
    uint64_t record_offset;
    if (x->record_bytes != k->record_bytes)
        return hg_fail(HG_ERROR_INTERNAL, "a record of %u bytes for a kernel with %u",
                       (unsigned)x->record_bytes, (unsigned)k->record_bytes);
    HG_TRY(make_piece(r, x, &record_offset));
    barrier(r);
    vk->CmdBindPipeline(r->piece->commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
    if (k->set_layout) HG_TRY(bind_set(r, x, record_offset));
    if (k->pushed && k->record_bytes)
        vk->CmdPushConstants(r->piece->commands, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             k->record_bytes, x->record);
    if (!k->pushed && !k->set_layout) {
        uint64_t address = r->piece->records.buffer.address + record_offset;
        vk->CmdPushConstants(r->piece->commands, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             sizeof address, &address);
    }
    vk->CmdDispatch(r->piece->commands, x->groups[0], x->groups[1], x->groups[2]);
    r->clean = false;
    return HG_OK;
}

void vk_measure(const hg_driver_command *c, uint64_t *staging, uint64_t *records, uint32_t *sets) {
    if (c->kind == HG_CMD_FILL && c->to.size) *staging += STAGING_ALIGNMENT;
    if (c->kind == HG_CMD_COPY && overlap(&c->from, &c->to) && c->from.offset != c->to.offset)
        *staging += round_up(c->to.size, STAGING_ALIGNMENT) +
                    (c->to.size / STAGING_MOST + 1) * STAGING_ALIGNMENT;
    if (c->kind != HG_CMD_DISPATCH) return;
    const hg_driver_kernel *k = c->dispatch->kernel;
    if (!k->pushed) *records += round_up(k->record_bytes, RECORD_ALIGNMENT);
    if (k->set_layout) ++*sets;
}

hg_status vk_record(vk_recorder *r, const hg_driver_command *c) {
    switch (c->kind) {
    case HG_CMD_COPY_IN: return c->to.size ? copy_in(r, c->host, &c->to) : HG_OK;
    case HG_CMD_COPY_OUT: return c->from.size ? copy_out(r, &c->from, c->host) : HG_OK;
    case HG_CMD_COPY: return c->to.size ? copy_between(r, &c->from, &c->to) : HG_OK;
    case HG_CMD_FILL: return c->to.size ? fill(r, &c->to, c->value) : HG_OK;
    case HG_CMD_DISPATCH: return dispatch(r, c->dispatch);
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "vulkan: unknown command %d", (int)c->kind);
}
#endif

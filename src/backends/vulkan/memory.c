/* Buffers: arenas of the device's own memory and small memory that host and device see together.
 * Where both share one memory (software, integrated), an arena is the host's own pages, lent to the
 * device when it takes them: they are zero without being touched.
 * Must not know: commands, kernels. */
/* circle: commands.c memory.c queue.c: pieces of work own buffers, and a queue zeroes new ones */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <string.h>
#include <sys/mman.h>

enum { ROUND = 256 }; /* arenas end on words, whatever width a kernel reads */

static uint64_t round_up(uint64_t n, uint64_t step) { return (n + step - 1) / step * step; }

/* The first memory type with all properties that are needed and the most of those liked. */
static bool choose_type(const hg_device *d, uint32_t allowed, VkMemoryPropertyFlags needed,
                        VkMemoryPropertyFlags liked, uint32_t *type) {
    int best = -1;
    for (uint32_t t = 0; t < d->memory.memoryTypeCount; t++) {
        VkMemoryPropertyFlags has = d->memory.memoryTypes[t].propertyFlags;
        int score = hg_popcount32(has & liked);
        if (!(allowed >> t & 1) || (has & needed) != needed || score <= best) continue;
        best = score;
        *type = t;
    }
    return best >= 0;
}

static bool type_for(const hg_device *d, uint32_t allowed, vk_memory_kind kind, uint32_t *type) {
    const VkMemoryPropertyFlags both = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if (kind == VK_MEMORY_VISIBLE)
        return choose_type(d, allowed, both, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, type);
    if (d->caps.memory.host_memory)
        return choose_type(d, allowed, both,
                           VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                           type);
    return choose_type(d, allowed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, type);
}

static hg_status create_handle(hg_device *d, vk_buffer *b, bool imported) {
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = imported ? &external : NULL,
                               .size = b->size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (d->caps.compiler.target.addressed) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VK_TRY(d, CreateBuffer, d->handle, &info, NULL, &b->handle);
    return HG_OK;
}

/* Memory of a type under the buffer: host, when not NULL, or new. */
static hg_status bind_memory(hg_device *d, vk_buffer *b, uint64_t bytes, uint32_t type,
                             void *host) {
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = host};
    VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = host ? &import : NULL,
        .flags = d->caps.compiler.target.addressed ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &flags,
                                 .allocationSize = bytes,
                                 .memoryTypeIndex = type};
    VK_TRY(d, AllocateMemory, d->handle, &info, NULL, &b->memory);
    VK_TRY(d, BindBufferMemory, d->handle, b->handle, b->memory, 0);
    if (d->caps.compiler.target.addressed) {
        VkBufferDeviceAddressInfo where = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = b->handle};
        b->address = d->vk.GetBufferDeviceAddress(d->handle, &where);
    }
    return HG_OK;
}

static hg_status fill_buffer(hg_device *d, vk_memory_kind kind, vk_buffer *b) {
    VkMemoryRequirements needs;
    uint32_t type;
    HG_TRY(create_handle(d, b, false));
    d->vk.GetBufferMemoryRequirements(d->handle, b->handle, &needs);
    if (!type_for(d, needs.memoryTypeBits, kind, &type))
        return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                       "vulkan: the device has no memory of the kind needed");
    HG_TRY(bind_memory(d, b, needs.size, type, NULL));
    if (d->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT &&
        (kind == VK_MEMORY_VISIBLE || d->caps.memory.host_memory)) {
        void *mapped;
        VK_TRY(d, MapMemory, d->handle, b->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
        b->mapped = mapped;
    }
    return HG_OK;
}

hg_status vk_buffer_create(hg_device *d, uint64_t size, vk_memory_kind kind, vk_buffer *b) {
    uint64_t limit = d->caps.memory.max_arena_bytes;
    memset(b, 0, sizeof *b);
    if (size > limit)
        return hg_fail(
            HG_ERROR_ALLOCATION_FAILED,
            "vulkan: %llu bytes are not available, the device allocates at most %llu at once",
            (unsigned long long)size, (unsigned long long)limit);
    b->size = size ? round_up(size, ROUND) : ROUND;
    hg_status status = fill_buffer(d, kind, b);
    if (status != HG_OK) vk_buffer_destroy(d, b);
    return status;
}

void vk_buffer_destroy(hg_device *d, vk_buffer *b) {
    if (b->handle) d->vk.DestroyBuffer(d->handle, b->handle, NULL);
    if (b->memory) d->vk.FreeMemory(d->handle, b->memory, NULL); /* unmaps it */
    if (b->owned) (void)munmap(b->owned, (size_t)b->size);
    memset(b, 0, sizeof *b);
}

/* ---- the host's own pages ---- */

/* Not taken: the device does not want this memory, which is no error. */
static hg_status import_pages(hg_device *d, void *host, uint64_t bytes, vk_buffer *b, bool *taken) {
    const VkExternalMemoryHandleTypeFlagBits kind =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT can = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkMemoryRequirements needs;
    uint32_t type;
    b->size = bytes;
    *taken = false;
    VK_TRY(d, GetMemoryHostPointerPropertiesEXT, d->handle, kind, host, &can);
    HG_TRY(create_handle(d, b, true));
    d->vk.GetBufferMemoryRequirements(d->handle, b->handle, &needs);
    if (needs.size > bytes ||
        !type_for(d, needs.memoryTypeBits & can.memoryTypeBits, VK_MEMORY_ARENA, &type))
        return HG_OK;
    HG_TRY(bind_memory(d, b, bytes, type, host));
    b->mapped = host;
    *taken = true;
    return HG_OK;
}

enum { HUGE_FROM = 4 << 20 }; /* large arrays are bound by address translation too */

/* An arena of pages that are zero without having been touched. False: not to be had this way. */
static bool lend_pages(hg_device *d, uint64_t size, vk_buffer *b) {
    uint64_t step = d->import_alignment, bytes = round_up(size, step);
    hg_error kept = *hg_error_record();
    bool taken = false;
    memset(b, 0, sizeof *b);
    if (bytes > SIZE_MAX / 2) return false;
    void *pages = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (pages == MAP_FAILED) return false;
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_FROM)
        (void)madvise(pages, (size_t)bytes, MADV_HUGEPAGE); /* advice: refusal changes nothing */
#endif
    if ((uintptr_t)pages % step == 0 && import_pages(d, pages, bytes, b, &taken) == HG_OK &&
        taken) {
        b->owned = pages;
        return true;
    }
    vk_buffer_destroy(d, b);
    (void)munmap(pages, (size_t)bytes);
    *hg_error_record() = kept;
    return false;
}

/* ---- arenas ---- */

/* Memory that the host does not see is zeroed by the device. */
static hg_status zero_on_device(hg_device *d, hg_driver_arena *a) {
    hg_driver_command fill = {.kind = HG_CMD_FILL, .to = {a, 0, a->buffer.size}};
    hg_driver_event event = {.device = d};
    hg_status status = HG_OK;
    hg_mutex_lock(&d->zeroing.service_lock);
    if (!d->zeroing.service) status = vk_queue_create(d, &d->zeroing.service);
    if (status == HG_OK) status = vk_queue_submit(d->zeroing.service, &fill, 1, NULL, 0, &event);
    if (status == HG_OK) status = vk_event_wait(&event);
    hg_mutex_unlock(&d->zeroing.service_lock);
    return status;
}

static hg_status fill_arena(hg_device *d, uint64_t size, vk_memory_kind kind, hg_driver_arena *a) {
    *a = (hg_driver_arena){.size = size,
                           .mappable = kind == VK_MEMORY_VISIBLE || d->caps.memory.host_memory};
    if (d->import_alignment && d->caps.memory.host_memory && size >= 65536 &&
        size <= d->caps.memory.max_arena_bytes && lend_pages(d, size, &a->buffer))
        return HG_OK;
    HG_TRY(vk_buffer_create(d, size, kind, &a->buffer));
    if (!a->buffer.mapped) return zero_on_device(d, a);
    memset(a->buffer.mapped, 0, (size_t)a->buffer.size);
    return HG_OK;
}

static hg_status new_arena(hg_device *d, uint64_t size, vk_memory_kind kind,
                           hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    hg_status status = fill_arena(d, size, kind, a);
    if (status != HG_OK)
        vk_arena_free(d, a);
    else
        *arena = a;
    return status;
}

hg_status vk_arena_alloc(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return new_arena(d, size, VK_MEMORY_ARENA, arena);
}
hg_status vk_arena_alloc_visible(hg_device *d, uint64_t size, hg_driver_arena **arena) {
    return new_arena(d, size, VK_MEMORY_VISIBLE, arena);
}

hg_status vk_arena_import(hg_device *d, void *host, uint64_t size, hg_driver_arena **arena) {
    uint64_t step = d->import_alignment;
    bool taken = false;
    if (!step || !d->caps.memory.host_memory || (uintptr_t)host % step || size % step || size == 0)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "vulkan: the device takes host memory at addresses and of sizes that are "
                       "multiples of %llu",
                       (unsigned long long)(step ? step : 4096));
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    *a = (hg_driver_arena){.size = size, .mappable = true};
    hg_status status = import_pages(d, host, size, &a->buffer, &taken);
    if (status == HG_OK && !taken)
        status = hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                         "vulkan: the device does not take this host memory");
    if (status != HG_OK)
        vk_arena_free(d, a);
    else
        *arena = a;
    return status;
}

void vk_arena_free(hg_device *d, hg_driver_arena *arena) {
    if (!arena) return;
    vk_buffer_destroy(d, &arena->buffer);
    hg_free(arena);
}

void *vk_arena_map(hg_driver_arena *arena) { return arena->mappable ? arena->buffer.mapped : NULL; }
void vk_arena_unmap(hg_driver_arena *arena) { (void)arena; }
uint64_t vk_arena_address(hg_driver_arena *arena) { return arena->buffer.address; }
void vk_arena_native(hg_device *device, hg_driver_arena *arena, hg_native_buffer *native) {
    (void)device;
    native->kind = HG_MEMORY_VULKAN;
    memcpy(&native->memory, &arena->buffer.handle, sizeof arena->buffer.handle); /* a pointer or a
                                                                                    number */
}
#endif

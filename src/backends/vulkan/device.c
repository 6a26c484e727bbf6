/* Devices: listing, opening, and what they can do as they say it themselves (the runtime's probe
 * corrects that).
 * Must not know: commands, kernels. */
#include "base/host.h"
#include "library/tiles.h"
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <stdio.h>
#include <string.h>

/* Everything that is asked of a physical device, chained. */
typedef struct vk_facts {
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceVulkan11Properties v11;
    VkPhysicalDeviceVulkan12Properties v12;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features f11;
    VkPhysicalDeviceVulkan12Features f12;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot;
    VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR dot_properties;
    bool usable, has_import, has_portability_subset, has_dot;
} vk_facts;

static void look_at_extensions(const vk_instance *i, VkPhysicalDevice device, vk_facts *f) {
    uint32_t count = 0;
    if (VK_CALL(&i->vk, EnumerateDeviceExtensionProperties, device, NULL, &count, NULL) !=
        VK_SUCCESS)
        return;
    VkExtensionProperties *all = hg_calloc(count ? count : 1, sizeof *all);
    if (all && VK_CALL(&i->vk, EnumerateDeviceExtensionProperties, device, NULL, &count, all) >=
                   VK_SUCCESS)
        for (uint32_t e = 0; e < count; e++) {
            f->has_import = f->has_import ||
                            strcmp(all[e].extensionName,
                                   VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0;
            f->has_dot = f->has_dot ||
                         strcmp(all[e].extensionName,
                                VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME) == 0;
            f->has_portability_subset = f->has_portability_subset ||
                                        strcmp(all[e].extensionName, "VK_KHR_portability_subset") ==
                                            0;
        }
    hg_free(all);
}

static void look_at(const vk_instance *i, VkPhysicalDevice device, vk_facts *f) {
    memset(f, 0, sizeof *f);
    f->properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    i->vk.GetPhysicalDeviceProperties2(device, &f->properties);
    i->vk.GetPhysicalDeviceMemoryProperties(device, &f->memory);
    f->usable = f->properties.properties.apiVersion >= VK_API_VERSION_1_2;
    if (!f->usable) return;
    look_at_extensions(i, device, f);
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    f->import.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
    f->properties.pNext = &f->v11;
    f->v11.pNext = &f->v12;
    f->dot_properties.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES_KHR;
    if (f->has_import) f->v12.pNext = &f->import;
    if (f->has_dot) {
        f->dot_properties.pNext = f->v12.pNext;
        f->v12.pNext = &f->dot_properties;
    }
    i->vk.GetPhysicalDeviceProperties2(device, &f->properties);
    f->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->features.pNext = &f->f11;
    f->f11.pNext = &f->f12;
    f->dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR;
    if (f->has_dot) f->f12.pNext = &f->dot;
    i->vk.GetPhysicalDeviceFeatures2(device, &f->features);
}

static uint64_t device_memory(const VkPhysicalDeviceMemoryProperties *m) {
    uint64_t bytes = 0;
    for (uint32_t h = 0; h < m->memoryHeapCount; h++)
        if (m->memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            bytes += m->memoryHeaps[h].size;
    return bytes;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- listing ---- */

static void describe(const vk_facts *f, hg_device_info *info, uint32_t index) {
    const VkPhysicalDeviceProperties *p = &f->properties.properties;
    const VkPhysicalDeviceFeatures *v10 = &f->features.features;
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    snprintf(info->backend, sizeof info->backend, "%s", "vulkan");
    snprintf(info->name, sizeof info->name, "%.127s", p->deviceName);
    info->device = index;
    info->available = f->usable;
    if (!f->usable)
        snprintf(info->reason, sizeof info->reason,
                 "Vulkan 1.2 is needed, the driver has %u.%u: install a newer driver",
                 (unsigned)VK_API_VERSION_MAJOR(p->apiVersion),
                 (unsigned)VK_API_VERSION_MINOR(p->apiVersion));
    info->exact = f->usable;
    info->software = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    info->memory_bytes = device_memory(&f->memory);
    info->max_buffer_bytes = least(f->v11.maxMemoryAllocationSize, info->memory_bytes);
    snprintf(info->driver, sizeof info->driver, "%.40s %.80s", f->v12.driverName,
             f->v12.driverInfo);
    info->max_block_lanes = p->limits.maxComputeWorkGroupInvocations;
    info->max_shared_bytes = p->limits.maxComputeSharedMemorySize;
    snprintf(info->capabilities, sizeof info->capabilities, "%s%s%s%s",
             v10->shaderInt64 ? "i64 " : "", v10->shaderFloat64 ? "f64 " : "",
             f->f12.shaderInt8 ? "i8 " : "", v10->shaderInt16 ? "i16 " : "");
}

uint32_t vk_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    const vk_instance *i = vk_instance_get(reason);
    if (!i) return 0;
    for (uint32_t d = 0; devices && d < i->count && d < capacity; d++) {
        vk_facts facts;
        look_at(i, i->devices[d], &facts);
        describe(&facts, &devices[d], d);
    }
    return i->count;
}

/* ---- capabilities ---- */

static bool is_unified(const vk_facts *f) {
    VkPhysicalDeviceType type = f->properties.properties.deviceType;
    return type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
}

/* Bindings of a kernel: what is left after the record, the fault record, the handle table, the
 * locks, class memory, shared memory and the arenas of open accesses. */
static void fill_bindings(const vk_facts *f, hg_device *d, hg_device_caps *caps) {
    enum { OWN = 6 };
    const VkPhysicalDeviceLimits *limits = &f->properties.properties.limits;
    uint32_t bindings = limits->maxPerStageDescriptorStorageBuffers;
    if (bindings > limits->maxDescriptorSetStorageBuffers)
        bindings = limits->maxDescriptorSetStorageBuffers;
    d->max_bindings = bindings = bindings < 256 ? bindings : 256;
    if (caps->compiler.target.addressed) { /* kernels of words may have either */
        caps->compiler.bound_bytes = limits->maxStorageBufferRange;
        caps->compiler.bound_slots = bindings > OWN ? bindings - OWN : 0;
        return;
    }
    caps->compiler.target.bind_arenas = d->pretends.pretend_bind_arenas;
    caps->compiler.target.whole_atomics = caps->compiler.target.shown_uniform =
        d->pretends.pretend_wgsl;
    caps->compiler.max_bindings = bindings;
    caps->compiler.target.max_arenas = bindings >= 24 ? 8 : 2;
    caps->compiler.max_slots = bindings > OWN + caps->compiler.target.max_arenas
                                   ? bindings - OWN - caps->compiler.target.max_arenas
                                   : 1;
    if (caps->compiler.target.bind_arenas && caps->compiler.max_slots > KIR_BOUND_SLOTS)
        caps->compiler.max_slots = KIR_BOUND_SLOTS;
    caps->memory.max_arena_bytes = least(caps->memory.max_arena_bytes,
                                         limits->maxStorageBufferRange) &
                                   ~UINT64_C(255);
}

static void fill_memory(const vk_facts *f, hg_device *d, hg_device_caps *caps) {
    caps->memory.host_memory = is_unified(f) && !d->pretends.pretend_staging;
    caps->memory.can_import = f->has_import && caps->memory.host_memory;
    caps->memory.total_bytes = device_memory(&f->memory);
    caps->memory.max_arena_bytes = least(f->v11.maxMemoryAllocationSize, caps->memory.total_bytes) &
                                   ~UINT64_C(255);
    caps->compiler.max_slots = UINT32_MAX;
    fill_bindings(f, d, caps);
    caps->memory.arena_bytes = least(UINT64_C(64) << 20, caps->memory.max_arena_bytes);
}

static void fill_kernel_caps(const vk_facts *f, hg_device_caps *caps) {
    const VkPhysicalDeviceFeatures *v10 = &f->features.features;
    kir_caps *k = &caps->compiler.kir;
    k->name = "vulkan";
    k->i8 = f->f12.shaderInt8;
    k->i16 = v10->shaderInt16;
    k->i64 = v10->shaderInt64;
    k->f64 = v10->shaderFloat64;
    k->subnormals = f->v12.shaderDenormPreserveFloat32 &&
                    (!k->f64 || f->v12.shaderDenormPreserveFloat64);
    k->dot4 = f->dot.shaderIntegerDotProduct;
    caps->hints.dot4 = k->dot4 &&
                       f->dot_properties.integerDotProduct4x8BitPackedMixedSignednessAccelerated;
    caps->compiler.target.i64 = k->i64;
    bool narrow = k->i64 || !caps->compiler.target.addressed; /* an address in two halves reaches
                                                                 words */
    caps->compiler.target.memory8 = narrow && k->i8 && f->f12.storageBuffer8BitAccess;
    caps->compiler.target.memory16 = narrow && k->i16 && f->f11.storageBuffer16BitAccess;
    caps->compiler.target.memory64 = k->i64;
    caps->compiler.target.atomic64 = k->i64 && f->f12.shaderBufferInt64Atomics;
}

/* A driver on the CPU is another device on another CPU: lavapipe truncates an f64 with AVX-512 and,
 * on large numbers, not without. The two settings are Mesa's, which change the code it makes. */
static void fill_identity(const vk_facts *f, hg_device_caps *caps) {
    static const char *const SETTINGS[] = {"LP_NATIVE_VECTOR_WIDTH", "GALLIUM_OVERRIDE_CPU_CAPS"};
    const VkPhysicalDeviceProperties *p = &f->properties.properties;
    char uuid[2 * VK_UUID_SIZE + 1];
    for (uint32_t i = 0; i < VK_UUID_SIZE; i++)
        snprintf(uuid + 2 * i, 3, "%02x", (unsigned)p->pipelineCacheUUID[i]);
    snprintf(caps->identity, sizeof caps->identity, "vulkan %x:%x %x %s driver %d %.40s %.60s",
             (unsigned)p->vendorID, (unsigned)p->deviceID, (unsigned)p->driverVersion, uuid,
             (int)f->v12.driverID, f->v12.driverInfo, p->deviceName);
    if (p->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) return;
    size_t length = strlen(caps->identity);
    char host[HG_HOST_TEXT];
    hg_host_text(SETTINGS, HG_COUNT_OF(SETTINGS), host);
    snprintf(caps->identity + length, sizeof caps->identity - length, " %s", host);
}

/* SwiftShader of Chromium 156 writes all functions in place of their calls and ends the process in
 * its compiler on what is too long then: GELU of f64 in 32-bit integers, 80,000 operations, after
 * minutes. A loop that chooses between 421 parts it lives through, and six of 185, not
 * one of 583 (erf of f64) or two of 421: what counts is the sum of their squares. */
enum { SWIFTSHADER_MOST = 30000, SWIFTSHADER_CHOICES = 500 };

static void fill_caps(const vk_facts *f, hg_device *d) {
    hg_device_caps *caps = &d->caps;
    const VkPhysicalDeviceLimits *limits = &f->properties.properties.limits;
    caps->compiler.device_form = caps->compiler.by_aliases = caps->scheduling.asynchronous =
        caps->memory.uniforms_in_memory = caps->compiler.static_groups = caps->exact = true;
    caps->compiler.target.addressed = f->f12.bufferDeviceAddress;
    fill_kernel_caps(f, caps);
    fill_memory(f, d, caps);
    caps->scheduling.max_block_lanes = limits->maxComputeWorkGroupInvocations;
    caps->memory.max_shared_bytes = limits->maxComputeSharedMemorySize;
    memcpy(caps->scheduling.max_groups, limits->maxComputeWorkGroupCount,
           sizeof caps->scheduling.max_groups);
    memcpy(caps->scheduling.max_group, limits->maxComputeWorkGroupSize,
           sizeof caps->scheduling.max_group);
    /* Drivers on the CPU pay for each group: groups of 1,024 take lavapipe from 0.86 to 0.92 – 1.02
     * of hand-written kernels. */
    caps->hints.on_cpu = f->properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    caps->hints.flat_group = (uint32_t)least(caps->hints.on_cpu ? 1024 : 128,
                                             caps->scheduling.max_block_lanes);
    fill_identity(f, caps);
    d->no_fences = f->v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    if (f->v12.driverID == VK_DRIVER_ID_GOOGLE_SWIFTSHADER) {
        caps->compiler.max_operations = SWIFTSHADER_MOST;
        caps->compiler.max_choices = SWIFTSHADER_CHOICES;
        caps->hints.tile_kind = LIBRARY_TILES_BASELINE; /* the shortest programs */
    }
}

static void fill_float_controls(const vk_facts *f, hg_device *d) {
    const VkPhysicalDeviceVulkan12Properties *v = &f->v12;
    bool apart = v->roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    d->floats.rte[0] = v->shaderRoundingModeRTEFloat32;
    d->floats.rte[1] = v->shaderRoundingModeRTEFloat64 && (apart || d->floats.rte[0]);
    d->floats.preserve[0] = v->shaderDenormPreserveFloat32;
    d->floats.preserve[1] = v->shaderDenormPreserveFloat64;
    d->floats.inf_nan[0] = v->shaderSignedZeroInfNanPreserveFloat32;
    d->floats.inf_nan[1] = v->shaderSignedZeroInfNanPreserveFloat64;
}

/* ---- opening ---- */

/* A family that computes; one without graphics runs beside whatever draws. */
static uint32_t choose_family(const hg_device *d, uint32_t *queues) {
    VkQueueFamilyProperties families[32];
    uint32_t count = HG_COUNT_OF(families), best = 0, best_score = 0;
    d->instance->vk.GetPhysicalDeviceQueueFamilyProperties(d->physical, &count, families);
    for (uint32_t f = 0; f < count; f++) {
        if (!(families[f].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
        uint32_t score = families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT ? 1 : 2;
        if (score <= best_score) continue;
        best = f;
        best_score = score;
        *queues = families[f].queueCount;
    }
    return best;
}

/* Only what kernels use, and only where it is reported. */
static void choose_features(const vk_facts *f, VkPhysicalDeviceFeatures2 *features,
                            VkPhysicalDeviceVulkan11Features *f11,
                            VkPhysicalDeviceVulkan12Features *f12,
                            VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR *dot) {
    *features = (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                            .pNext = f11};
    features->features.shaderInt64 = f->features.features.shaderInt64;
    features->features.shaderFloat64 = f->features.features.shaderFloat64;
    features->features.shaderInt16 = f->features.features.shaderInt16;
    *f11 = (VkPhysicalDeviceVulkan11Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = f12};
    f11->storageBuffer16BitAccess = f->f11.storageBuffer16BitAccess;
    *f12 = (VkPhysicalDeviceVulkan12Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    f12->shaderInt8 = f->f12.shaderInt8;
    f12->storageBuffer8BitAccess = f->f12.storageBuffer8BitAccess;
    f12->shaderBufferInt64Atomics = f->f12.shaderBufferInt64Atomics;
    f12->bufferDeviceAddress = f->f12.bufferDeviceAddress;
    f12->timelineSemaphore = f->f12.timelineSemaphore;
    f12->vulkanMemoryModel = f->f12.vulkanMemoryModel;
    f12->vulkanMemoryModelDeviceScope = f->f12.vulkanMemoryModelDeviceScope;
    *dot = (VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR,
        .shaderIntegerDotProduct = VK_TRUE};
    if (f->dot.shaderIntegerDotProduct) f12->pNext = dot;
}

static hg_status create_device(hg_device *d, const vk_facts *f) {
    static const float priorities[VK_DEVICE_QUEUES] = {1, 1, 1, 1};
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features f11;
    VkPhysicalDeviceVulkan12Features f12;
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot;
    const char *extensions[3];
    uint32_t queues = 1, extension_count = 0;
    d->queues.family = choose_family(d, &queues);
    d->queues.device_queue_count = queues < VK_DEVICE_QUEUES ? queues : VK_DEVICE_QUEUES;
    choose_features(f, &features, &f11, &f12, &dot);
    if (f->has_import) extensions[extension_count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    if (f->has_portability_subset)
        extensions[extension_count++] = "VK_KHR_portability_subset"; /* must be enabled where it is
                                                                        there */
    if (f->dot.shaderIntegerDotProduct)
        extensions[extension_count++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = d->queues.family,
                                     .queueCount = d->queues.device_queue_count,
                                     .pQueuePriorities = priorities};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = extension_count,
                               .ppEnabledExtensionNames = extensions};
    HG_TRY(vk_check(NULL, "vkCreateDevice",
                    VK_CALL(&d->instance->vk, CreateDevice, d->physical, &info, NULL, &d->handle)));
    if (!vk_device_load(d->instance, d->handle, &d->vk))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "vulkan: the driver lacks functions of Vulkan 1.2");
    return HG_OK;
}

/* What the host has enabled, of what kernels use. */
typedef struct vk_enabled {
    VkPhysicalDeviceFeatures f10;
    VkPhysicalDeviceVulkan11Features f11;
    VkPhysicalDeviceVulkan12Features f12;
} vk_enabled;

static void add_enabled(const void *features, vk_enabled *e) {
    for (const VkBaseInStructure *s = features; s; s = s->pNext) {
        const void *at = s;
        switch ((int)s->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
            e->f10 = ((const VkPhysicalDeviceFeatures2 *)at)->features;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
            e->f11 = *(const VkPhysicalDeviceVulkan11Features *)at;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
            e->f12 = *(const VkPhysicalDeviceVulkan12Features *)at;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
            e->f12.timelineSemaphore =
                ((const VkPhysicalDeviceTimelineSemaphoreFeatures *)at)->timelineSemaphore;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
            e->f12.bufferDeviceAddress =
                ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)at)->bufferDeviceAddress;
            break;
        default: break;
        }
    }
}

/* A device of the host has no more than the host has enabled; its extensions nobody can ask for. */
static hg_status keep_enabled(const void *features, vk_facts *f) {
    vk_enabled e = {0};
    add_enabled(features, &e);
    VkPhysicalDeviceFeatures *f10 = &f->features.features;
    f10->shaderInt64 = f10->shaderInt64 && e.f10.shaderInt64;
    f10->shaderFloat64 = f10->shaderFloat64 && e.f10.shaderFloat64;
    f10->shaderInt16 = f10->shaderInt16 && e.f10.shaderInt16;
    f->f11.storageBuffer16BitAccess = f->f11.storageBuffer16BitAccess &&
                                      e.f11.storageBuffer16BitAccess;
    f->f12.shaderInt8 = f->f12.shaderInt8 && e.f12.shaderInt8;
    f->f12.storageBuffer8BitAccess = f->f12.storageBuffer8BitAccess &&
                                     e.f12.storageBuffer8BitAccess;
    f->f12.shaderBufferInt64Atomics = f->f12.shaderBufferInt64Atomics &&
                                      e.f12.shaderBufferInt64Atomics;
    f->f12.bufferDeviceAddress = f->f12.bufferDeviceAddress && e.f12.bufferDeviceAddress;
    f->f12.vulkanMemoryModel = f->f12.vulkanMemoryModel && e.f12.vulkanMemoryModel;
    f->f12.vulkanMemoryModelDeviceScope = f->f12.vulkanMemoryModelDeviceScope &&
                                          e.f12.vulkanMemoryModelDeviceScope;
    f->dot.shaderIntegerDotProduct = VK_FALSE;
    f->has_import = false;
    if (e.f12.timelineSemaphore) return HG_OK;
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                   "vulkan: hg_host_device.features does not enable timelineSemaphore");
}

static hg_status adopt_device(hg_device *d, const hg_host_device *host) {
    d->handle = host->device;
    d->queues.family = host->queue_family;
    d->queues.device_queue_count = 1;
    d->queues.device_queues[0].handle = host->queue;
    if (vk_device_load(d->instance, d->handle, &d->vk)) return HG_OK;
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                   "vulkan: the driver lacks functions of Vulkan 1.2");
}

static hg_status create_lanes(hg_device *d) {
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    for (uint32_t i = 0; i < d->queues.device_queue_count; i++) {
        if (!d->adopted)
            d->vk.GetDeviceQueue(d->handle, d->queues.family, i,
                                 &d->queues.device_queues[i].handle);
        VK_TRY(d, CreateSemaphore, d->handle, &info, NULL, &d->queues.device_queues[i].timeline);
    }
    return HG_OK;
}

/* What the configuration says the device should seem to lack. */
static void pretend(const char *words, vk_facts *f, hg_device *d) {
    enum { FEW_BUFFERS = 8 };
    bool few = hg_pretends(words, "few-buffers");
    if (few) f->properties.properties.limits.maxPerStageDescriptorStorageBuffers = FEW_BUFFERS;
    d->pretends.pretend_staging = hg_pretends(words, "staging");
    d->pretends.pretend_wgsl = hg_pretends(words, "wgsl");
    d->pretends.pretend_bind_arenas = hg_pretends(words, "bind-arenas") || d->pretends.pretend_wgsl;
    if (hg_pretends(words, "descriptors") || few || d->pretends.pretend_bind_arenas)
        f->f12.bufferDeviceAddress = VK_FALSE;
    if (hg_pretends(words, "no-fp64") || d->pretends.pretend_wgsl)
        f->features.features.shaderFloat64 = VK_FALSE;
    if (hg_pretends(words, "no-int64") || d->pretends.pretend_wgsl)
        f->features.features.shaderInt64 = VK_FALSE;
    if (hg_pretends(words, "no-dot4")) f->dot.shaderIntegerDotProduct = VK_FALSE;
    if (d->pretends.pretend_wgsl) {
        f->features.features.shaderInt16 = f->f12.shaderInt8 = VK_FALSE;
        f->f12.storageBuffer8BitAccess = f->f11.storageBuffer16BitAccess = VK_FALSE;
    }
    if (hg_pretends(words, "no-atomic64")) f->f12.shaderBufferInt64Atomics = VK_FALSE;
}

static hg_status open_device(hg_device *d, const hg_driver_options *options) {
    vk_facts facts;
    look_at(d->instance, d->physical, &facts);
    if (!facts.usable)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "vulkan: %s has no Vulkan 1.2: install a newer driver",
                       facts.properties.properties.deviceName);
    if (options->host) HG_TRY(keep_enabled(options->host->features, &facts));
    pretend(options->pretend, &facts, d);
    d->memory = facts.memory;
    d->limits = facts.properties.properties.limits;
    fill_caps(&facts, d);
    fill_float_controls(&facts, d);
    HG_TRY(options->host ? adopt_device(d, options->host) : create_device(d, &facts));
    if (facts.has_import && d->vk.GetMemoryHostPointerPropertiesEXT)
        d->import_alignment = facts.import.minImportedHostPointerAlignment;
    d->caps.memory.can_import = d->caps.memory.can_import && d->import_alignment != 0;
    HG_TRY(create_lanes(d));
    HG_TRY(vk_buffer_create(d, 256, VK_MEMORY_ARENA, &d->nothing));
    return hg_blob_cache_open(options->cache_dir, options->cache_bytes, &d->cache);
}

/* adopted: of the host, which the device has from here on; or NULL. */
static hg_status make_device(const vk_instance *instance, vk_instance *adopted,
                             VkPhysicalDevice physical, const hg_driver_options *options,
                             hg_device **device) {
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) {
        vk_instance_let_go(adopted);
        return hg_fail_memory();
    }
    d->instance = instance;
    d->adopted = adopted;
    d->physical = physical;
    hg_mutex_init(&d->zeroing.service_lock);
    for (uint32_t l = 0; l < VK_DEVICE_QUEUES; l++) hg_mutex_init(&d->queues.device_queues[l].lock);
    hg_status status = open_device(d, options);
    if (status != HG_OK)
        vk_device_close(d);
    else
        *device = d;
    return status;
}

hg_status vk_device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    char reason[256] = "";
    const vk_instance *i = vk_instance_get(reason);
    if (!i) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "vulkan: %s", reason);
    if (index >= i->count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "vulkan has %u devices, numbers from 0; asked for %u", (unsigned)i->count,
                       (unsigned)index);
    return make_device(i, NULL, i->devices[index], options, device);
}

hg_status vk_device_adopt(const hg_driver_options *options, hg_device **device) {
    const hg_host_device *host = options->host;
    char reason[256] = "";
    const char *missing = !host->context    ? "context"
                          : !host->device   ? "device"
                          : !host->physical ? "physical"
                          : !host->queue    ? "queue"
                                            : NULL;
    if (missing)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "vulkan: hg_host_device.%s is NULL, expected VkInstance, VkDevice, "
                       "VkPhysicalDevice and VkQueue",
                       missing);
    vk_instance *i = vk_instance_adopt(host->context, reason);
    if (!i) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "vulkan: %s", reason);
    return make_device(i, i, host->physical, options, device);
}

void vk_device_close(hg_device *d) {
    hg_error kept = *hg_error_record();
    if (d->handle && d->vk.DestroyDevice) {
        if (d->zeroing.service) vk_queue_destroy(d->zeroing.service);
        if (!d->adopted)
            (void)VK_CALL(&d->vk, DeviceWaitIdle, d->handle); /* a lost device has nothing to wait
                                                                 for */
        vk_buffer_destroy(d, &d->nothing);
        for (uint32_t l = 0; l < d->queues.device_queue_count; l++)
            d->vk.DestroySemaphore(d->handle, d->queues.device_queues[l].timeline, NULL);
        if (!d->adopted) d->vk.DestroyDevice(d->handle, NULL);
    }
    vk_instance_let_go(d->adopted);
    hg_blob_cache_close(d->cache);
    hg_mutex_destroy(&d->zeroing.service_lock);
    for (uint32_t l = 0; l < VK_DEVICE_QUEUES; l++)
        hg_mutex_destroy(&d->queues.device_queues[l].lock);
    hg_free(d);
    *hg_error_record() = kept;
}
#endif

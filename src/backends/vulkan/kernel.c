/* Kernels: pipelines out of SPIR-V words, with the driver's own compiled form kept in the cache on
 * disk.
 * Must not know: queues, memory. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <string.h>

bool vk_record_is_pushed(const hg_device *d, uint32_t record_bytes) {
    return record_bytes <= d->limits.maxPushConstantsSize;
}

/* ---- what the driver compiled, on disk ---- */

enum { CACHE_HEADER = 32 }; /* VkPipelineCacheHeaderVersionOne: a blob of this size holds nothing */

static void cache_key(const hg_device *d, const vk_code *code, uint8_t key[HG_BLOB_KEY_BYTES]) {
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, "vulkan pipeline", 16);
    hg_blake3_update(&hash, d->caps.identity, strlen(d->caps.identity) + 1);
    hg_blake3_update(&hash, code->words, (size_t)code->count * 4);
    hg_blake3_final(&hash, key);
}

/* A cache of one pipeline. Without one everything works: it is VK_NULL_HANDLE then. */
static VkPipelineCache open_cache(hg_device *d, const uint8_t key[HG_BLOB_KEY_BYTES],
                                  bool *filled) {
    VkPipelineCache cache = VK_NULL_HANDLE;
    uint8_t *blob = NULL;
    uint64_t size = 0;
    *filled = hg_blob_cache_get(d->cache, key, &blob, &size);
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = (size_t)size,
                                      .pInitialData = blob};
    if (VK_CALL(&d->vk, CreatePipelineCache, d->handle, &info, NULL, &cache) != VK_SUCCESS)
        cache = VK_NULL_HANDLE;
    hg_free(blob);
    return cache;
}

static void close_cache(hg_device *d, VkPipelineCache cache, const uint8_t key[HG_BLOB_KEY_BYTES],
                        bool keep) {
    size_t size = 0;
    void *blob = NULL;
    if (keep &&
        VK_CALL(&d->vk, GetPipelineCacheData, d->handle, cache, &size, NULL) == VK_SUCCESS &&
        size > CACHE_HEADER)
        blob = hg_alloc(size);
    if (blob && VK_CALL(&d->vk, GetPipelineCacheData, d->handle, cache, &size, blob) == VK_SUCCESS)
        (void)hg_blob_cache_put(d->cache, key, blob, size);
    hg_free(blob);
    d->vk.DestroyPipelineCache(d->handle, cache, NULL);
}

/* ---- pipelines ---- */

static hg_status create_set_layout(hg_device *d, hg_driver_kernel *k) {
    enum { BINDINGS = 256 };
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    uint32_t count = k->slots + !k->pushed;
    if (count > d->max_bindings)
        return hg_fail(HG_ERROR_EXECUTION_FAILED,
                       "vulkan: a kernel uses %u buffers, the device binds at most %u at once",
                       (unsigned)count, (unsigned)d->max_bindings);
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings};
    VK_TRY(d, CreateDescriptorSetLayout, d->handle, &info, NULL, &k->set_layout);
    return HG_OK;
}

static hg_status create_layout(hg_device *d, bool bound, hg_driver_kernel *k) {
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 k->pushed ? k->record_bytes : 8 /* the record's address */};
    if (bound) HG_TRY(create_set_layout(d, k));
    bool pushes = k->pushed ? k->record_bytes != 0 : !k->set_layout;
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = k->set_layout ? 1 : 0,
                                       .pSetLayouts = &k->set_layout,
                                       .pushConstantRangeCount = pushes ? 1 : 0,
                                       .pPushConstantRanges = &range};
    VK_TRY(d, CreatePipelineLayout, d->handle, &info, NULL, &k->layout);
    return HG_OK;
}

static hg_status create_pipeline(hg_device *d, const vk_code *code, hg_driver_kernel *k) {
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = (size_t)code->count * 4,
                                       .pCode = code->words};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = code->entry},
        .layout = k->layout};
    uint8_t key[HG_BLOB_KEY_BYTES];
    bool filled = true, caches = hg_blob_cache_usable(d->cache);
    VkPipelineCache cache = VK_NULL_HANDLE;
    VK_TRY(d, CreateShaderModule, d->handle, &module, NULL, &info.stage.module);
    if (caches) {
        cache_key(d, code, key);
        cache = open_cache(d, key, &filled);
    }
    VkResult result = VK_CALL(&d->vk, CreateComputePipelines, d->handle, cache, 1, &info, NULL,
                              &k->pipeline);
    if (cache) close_cache(d, cache, key, result == VK_SUCCESS && !filled);
    d->vk.DestroyShaderModule(d->handle, info.stage.module, NULL);
    return vk_check(d, "vkCreateComputePipelines", result);
}

hg_status vk_kernel_create(hg_device *d, const vk_code *code, hg_driver_kernel **kernel) {
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    *k = (hg_driver_kernel){.device = d,
                            .slots = code->slots,
                            .record_bytes = code->record_bytes,
                            .pushed = vk_record_is_pushed(d, code->record_bytes)};
    hg_status status = create_layout(d, code->bound, k);
    if (status == HG_OK) status = create_pipeline(d, code, k);
    if (status != HG_OK)
        vk_kernel_destroy(k);
    else
        *kernel = k;
    return status;
}

hg_status vk_code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    emit_spirv_options options = {
        .caps = d->caps.compiler.kir,
        .target = code->target,
        .record_is_pushed = vk_record_is_pushed(d, code->layout->record_bytes),
        .group_memory = code->group_memory};
    emit_words words = {0};
    memcpy(options.float_controls_rte, d->floats.rte, sizeof d->floats.rte);
    memcpy(options.float_controls_preserve, d->floats.preserve, sizeof d->floats.preserve);
    memcpy(options.float_controls_inf_nan, d->floats.inf_nan, sizeof d->floats.inf_nan);
    memcpy(options.group, code->group, sizeof options.group);
    options.no_fences = d->no_fences;
    hg_status status = emit_spirv(code->module, code->layout, &options, &words);
    vk_code made = {words.data,
                    words.count,
                    "main",
                    kir_device_binding_count(code->layout, code->module),
                    code->layout->record_bytes,
                    !code->target.addressed};
    if (status == HG_OK) status = vk_kernel_create(d, &made, kernel);
    hg_vec_free(&words);
    return status;
}

/* ---- the part of the compiler that runs with a dispatch ---- */

bool vk_code_is_ready(hg_driver_kernel *k, const hg_driver_dispatch *dispatch) {
    (void)dispatch;
    return hg_atomic_load(&k->compiled, HG_ACQUIRE) != 0;
}

/* Lavapipe compiles a dispatch of no groups too; SwiftShader has compiled the pipeline already. */
hg_status vk_code_prepare(hg_driver_kernel *k, const hg_driver_dispatch *idle) {
    hg_driver_dispatch none = *idle;
    hg_driver_command command = {.kind = HG_CMD_DISPATCH, .dispatch = &none};
    hg_driver_queue *queue = NULL;
    memset(none.groups, 0, sizeof none.groups);
    HG_TRY(vk_queue_create(k->device, &queue));
    hg_status status = vk_queue_submit(queue, &command, 1, NULL, 0, NULL);
    if (status == HG_OK) status = vk_queue_finish(queue);
    vk_queue_destroy(queue);
    if (status == HG_OK) hg_atomic_store(&k->compiled, 1, HG_RELEASE);
    return status;
}

void vk_kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    hg_device *d = k->device;
    if (k->pipeline) d->vk.DestroyPipeline(d->handle, k->pipeline, NULL);
    if (k->layout) d->vk.DestroyPipelineLayout(d->handle, k->layout, NULL);
    if (k->set_layout) d->vk.DestroyDescriptorSetLayout(d->handle, k->set_layout, NULL);
    hg_free(k);
}
#endif

/* Vulkan as its user would call it by hand: storage buffer descriptors, push constants, one command
 * buffer recorded once. */
#include "peer.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

/* clang-format off */
#define SYMBOLS(X)                                                                                                                         \
    X(vkCreateInstance)                                                                                                                    \
    X(vkDestroyInstance) X(vkEnumeratePhysicalDevices) X(vkGetPhysicalDeviceQueueFamilyProperties) X(vkGetPhysicalDeviceMemoryProperties)  \
        X(vkCreateDevice) X(vkDestroyDevice) X(vkGetDeviceQueue) X(vkCreateBuffer) X(vkDestroyBuffer) X(vkGetBufferMemoryRequirements)     \
            X(vkAllocateMemory) X(vkFreeMemory) X(vkBindBufferMemory) X(vkMapMemory) X(vkCreateShaderModule) X(vkDestroyShaderModule)      \
                X(vkCreateDescriptorSetLayout) X(vkDestroyDescriptorSetLayout) X(vkCreatePipelineLayout) X(vkDestroyPipelineLayout)        \
                    X(vkCreateComputePipelines) X(vkDestroyPipeline) X(vkCreateDescriptorPool) X(vkDestroyDescriptorPool)                  \
                        X(vkAllocateDescriptorSets) X(vkUpdateDescriptorSets) X(vkCreateCommandPool) X(vkDestroyCommandPool)               \
                            X(vkAllocateCommandBuffers) X(vkBeginCommandBuffer) X(vkEndCommandBuffer) X(vkCmdBindPipeline)                 \
                                X(vkCmdBindDescriptorSets) X(vkCmdPushConstants) X(vkCmdDispatch) X(vkCmdPipelineBarrier) X(vkCreateFence) \
                                    X(vkDestroyFence) X(vkResetFences) X(vkWaitForFences) X(vkQueueSubmit)
/* clang-format on */
#define DECLARE(name) static __typeof__(name) *p_##name;
SYMBOLS(DECLARE)

struct peer {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool commands;
    VkFence fence;
    /* a workload's */
    VkBuffer buffers[PEER_BUFFERS];
    VkDeviceMemory memory[PEER_BUFFERS];
    void *mapped[PEER_BUFFERS];
    VkShaderModule module;
    VkDescriptorSetLayout sets;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkCommandBuffer recorded;
    peer_workload work;
};

static int load(char reason[256]) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, 256, "no libvulkan.so.1");
        return 0;
    }
#define LOAD(name)                               \
    *(void **)&p_##name = dlsym(library, #name); \
    if (!p_##name) return 0;
    SYMBOLS(LOAD)
    return 1;
}

static peer *open_device(uint32_t index, char reason[256]) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                   .pApplicationInfo = &application};
    VkPhysicalDevice all[8];
    uint32_t count = 8, families = 8;
    VkQueueFamilyProperties family[8];
    if (!load(reason)) return NULL;
    peer *p = calloc(1, sizeof *p);
    snprintf(reason, 256, "no Vulkan device");
    if (!p || p_vkCreateInstance(&create, NULL, &p->instance) != VK_SUCCESS) return NULL;
    if (p_vkEnumeratePhysicalDevices(p->instance, &count, all) < 0 || index >= count) return NULL;
    p->physical = all[index];
    p_vkGetPhysicalDeviceQueueFamilyProperties(p->physical, &families, family);
    while (p->family < families && !(family[p->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        p->family++;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = p->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = p->family};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (p_vkCreateDevice(p->physical, &device, NULL, &p->device) != VK_SUCCESS) return NULL;
    p_vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
    if (p_vkCreateCommandPool(p->device, &pool, NULL, &p->commands) != VK_SUCCESS) return NULL;
    if (p_vkCreateFence(p->device, &fence, NULL, &p->fence) != VK_SUCCESS) return NULL;
    return p;
}

static void close_device(peer *p) {
    p_vkDestroyFence(p->device, p->fence, NULL);
    p_vkDestroyCommandPool(p->device, p->commands, NULL);
    p_vkDestroyDevice(p->device, NULL);
    p_vkDestroyInstance(p->instance, NULL);
    free(p);
}

static int make_buffer(peer *p, int i, size_t bytes, const void *data) {
    VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = bytes,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements need;
    VkPhysicalDeviceMemoryProperties have;
    if (p_vkCreateBuffer(p->device, &create, NULL, &p->buffers[i]) != VK_SUCCESS) return 0;
    p_vkGetBufferMemoryRequirements(p->device, p->buffers[i], &need);
    p_vkGetPhysicalDeviceMemoryProperties(p->physical, &have);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = need.size};
    uint32_t want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while (allocate.memoryTypeIndex < have.memoryTypeCount &&
           (!(need.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
            (have.memoryTypes[allocate.memoryTypeIndex].propertyFlags & want) != want))
        allocate.memoryTypeIndex++;
    if (p_vkAllocateMemory(p->device, &allocate, NULL, &p->memory[i]) != VK_SUCCESS) return 0;
    if (p_vkBindBufferMemory(p->device, p->buffers[i], p->memory[i], 0) != VK_SUCCESS) return 0;
    if (p_vkMapMemory(p->device, p->memory[i], 0, VK_WHOLE_SIZE, 0, &p->mapped[i]) != VK_SUCCESS)
        return 0;
    if (data)
        memcpy(p->mapped[i], data, bytes);
    else
        memset(p->mapped[i], 0, bytes);
    return 1;
}

static int make_pipeline(peer *p, const peer_workload *w, const char *folder) {
    char command[2048], file[] = "/tmp/hologram_bench_XXXXXX";
    int fd = mkstemp(file);
    if (fd < 0) return 0;
    snprintf(command, sizeof command,
             "glslangValidator -V --target-env vulkan1.2 %s/%s.comp -o %s >/dev/null", folder,
             w->name, file);
    int made = system(command) == 0;
    FILE *f = made ? fopen(file, "rb") : NULL;
    static uint32_t words[65536];
    size_t size = f ? fread(words, 1, sizeof words, f) : 0;
    if (f) fclose(f);
    remove(file);
    if (!size) return 0;
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkDescriptorSetLayoutBinding bindings[PEER_BUFFERS];
    for (int i = 0; i < w->pass_buffers; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){(uint32_t)i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = (uint32_t)w->pass_buffers,
        .pBindings = bindings};
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 16};
    if (p_vkCreateShaderModule(p->device, &module, NULL, &p->module) != VK_SUCCESS) return 0;
    if (p_vkCreateDescriptorSetLayout(p->device, &sets, NULL, &p->sets) != VK_SUCCESS) return 0;
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->sets,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    if (p_vkCreatePipelineLayout(p->device, &layout, NULL, &p->layout) != VK_SUCCESS) return 0;
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = p->module,
                  .pName = "main"},
        .layout = p->layout};
    return p_vkCreateComputePipelines(p->device, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                      &p->pipeline) == VK_SUCCESS;
}

static int record(peer *p, const peer_workload *w) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, PEER_BUFFERS * PEER_PASSES};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = PEER_PASSES,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = p->commands,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (p_vkCreateDescriptorPool(p->device, &pool, NULL, &p->pool) != VK_SUCCESS) return 0;
    if (p_vkAllocateCommandBuffers(p->device, &buffer, &p->recorded) != VK_SUCCESS) return 0;
    p_vkBeginCommandBuffer(p->recorded, &begin);
    p_vkCmdBindPipeline(p->recorded, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    for (int k = 0; k < w->pass_count; k++) {
        VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = p->pool,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &p->sets};
        VkDescriptorSet chosen;
        if (p_vkAllocateDescriptorSets(p->device, &set, &chosen) != VK_SUCCESS) return 0;
        for (int i = 0; i < w->pass_buffers; i++) {
            VkDescriptorBufferInfo info = {p->buffers[w->passes[k].buffers[i]], 0, VK_WHOLE_SIZE};
            VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .dstSet = chosen,
                                          .dstBinding = (uint32_t)i,
                                          .descriptorCount = 1,
                                          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          .pBufferInfo = &info};
            p_vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
        }
        VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
        if (k)
            p_vkCmdPipelineBarrier(p->recorded, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                                   NULL);
        p_vkCmdBindDescriptorSets(p->recorded, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1,
                                  &chosen, 0, NULL);
        p_vkCmdPushConstants(p->recorded, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 16,
                             w->passes[k].scalars);
        p_vkCmdDispatch(p->recorded, w->passes[k].groups[0], w->passes[k].groups[1], 1);
    }
    return p_vkEndCommandBuffer(p->recorded) == VK_SUCCESS;
}

static int prepare(peer *p, const peer_workload *w, const char *folder) {
    p->work = *w;
    for (int i = 0; i < w->buffer_count; i++)
        if (!make_buffer(p, i, w->bytes[i], w->data[i])) return 0;
    return make_pipeline(p, w, folder) && record(p, w);
}

static void run(peer *p) {
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &p->recorded};
    p_vkResetFences(p->device, 1, &p->fence);
    p_vkQueueSubmit(p->queue, 1, &submit, p->fence);
    p_vkWaitForFences(p->device, 1, &p->fence, VK_TRUE, UINT64_MAX);
}

static void read_buffer(peer *p, int buffer, void *to, size_t bytes) {
    memcpy(to, p->mapped[buffer], bytes);
}

static void release(peer *p) {
    p_vkDestroyDescriptorPool(p->device, p->pool, NULL);
    p_vkDestroyPipeline(p->device, p->pipeline, NULL);
    p_vkDestroyPipelineLayout(p->device, p->layout, NULL);
    p_vkDestroyDescriptorSetLayout(p->device, p->sets, NULL);
    p_vkDestroyShaderModule(p->device, p->module, NULL);
    for (int i = 0; i < p->work.buffer_count; i++) {
        p_vkDestroyBuffer(p->device, p->buffers[i], NULL);
        p_vkFreeMemory(p->device, p->memory[i], NULL);
    }
}

const peer_api peer_vulkan = {"vulkan", open_device, close_device, prepare,
                              run,      read_buffer, release,      NULL};

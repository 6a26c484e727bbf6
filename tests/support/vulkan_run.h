/* The least of Vulkan that runs a compute module once: one host-visible buffer a slot, reached by
 * address or by binding, a push constant block. The library is opened at run time; a test without
 * it is skipped. */
#ifndef HG_TESTS_VULKAN_RUN_H
#define HG_TESTS_VULKAN_RUN_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#include <stdbool.h>
#include <stdlib.h>

/* clang-format off */
#define VULKAN_FUNCTIONS(F)                                                                                                                \
    F(EnumeratePhysicalDevices)                                                                                                            \
    F(GetPhysicalDeviceProperties2) F(GetPhysicalDeviceFeatures2) F(GetPhysicalDeviceMemoryProperties) F(CreateDevice) F(DestroyDevice)    \
        F(GetDeviceQueue) F(CreateBuffer) F(DestroyBuffer) F(GetBufferMemoryRequirements) F(AllocateMemory) F(FreeMemory)                  \
            F(BindBufferMemory) F(MapMemory) F(GetBufferDeviceAddress) F(CreateDescriptorSetLayout) F(DestroyDescriptorSetLayout)          \
                F(CreatePipelineLayout) F(DestroyPipelineLayout) F(CreateShaderModule) F(DestroyShaderModule) F(CreateComputePipelines)    \
                    F(DestroyPipeline) F(CreateDescriptorPool) F(DestroyDescriptorPool) F(AllocateDescriptorSets) F(UpdateDescriptorSets)  \
                        F(CreateCommandPool) F(DestroyCommandPool) F(AllocateCommandBuffers) F(BeginCommandBuffer) F(EndCommandBuffer)     \
                            F(CmdBindPipeline) F(CmdBindDescriptorSets) F(CmdPushConstants) F(CmdDispatch) F(QueueSubmit) F(QueueWaitIdle) \
                                F(DestroyInstance)
/* clang-format on */

typedef struct vulkan {
    void *library;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features features11;
    VkPhysicalDeviceVulkan12Features features12;
    VkPhysicalDeviceFloatControlsProperties floats;
    VkPhysicalDeviceProperties2 properties;
#define F(name) PFN_vk##name name;
    VULKAN_FUNCTIONS(F)
#undef F
} vulkan;

typedef struct vulkan_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *data;
    VkDeviceAddress address;
    uint64_t size;
} vulkan_buffer;

bool vulkan_open(vulkan *vk);
void vulkan_close(vulkan *vk);
bool vulkan_buffer_create(vulkan *vk, uint64_t size, vulkan_buffer *b);
void vulkan_buffer_destroy(vulkan *vk, vulkan_buffer *b);

/* Runs the entry point "main" once; buffers are bound as 0, 1, … of set 0. */
bool vulkan_run(vulkan *vk, const uint32_t *words, uint64_t count, vulkan_buffer *buffers,
                uint32_t buffer_count, const void *push, uint32_t push_bytes,
                const uint32_t groups[3]);

#endif

/* See vulkan_run.h. */
#include "support/vulkan_run.h"
#include <dlfcn.h>
#include <string.h>

bool vulkan_open(vulkan *vk) {
    vk->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get = NULL;
    if (vk->library) *(void **)&get = dlsym(vk->library, "vkGetInstanceProcAddr");
    if (!get) return false;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app};
    if (create(&info, NULL, &vk->instance)) return false;
#define F(name) vk->name = (PFN_vk##name)get(vk->instance, "vk" #name);
    VULKAN_FUNCTIONS(F)
#undef F
    uint32_t one = 1;
    if (vk->EnumeratePhysicalDevices(vk->instance, &one, &vk->physical) < 0 || one == 0)
        return false;
    vk->floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
    vk->properties = (VkPhysicalDeviceProperties2){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &vk->floats};
    vk->GetPhysicalDeviceProperties2(vk->physical, &vk->properties);
    vk->features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    vk->features11 = (VkPhysicalDeviceVulkan11Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &vk->features12};
    vk->features = (VkPhysicalDeviceFeatures2){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &vk->features11};
    vk->GetPhysicalDeviceFeatures2(vk->physical, &vk->features);
    vk->features.features.robustBufferAccess = 0;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &vk->features,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue};
    if (vk->CreateDevice(vk->physical, &device, NULL, &vk->device)) return false;
    vk->GetDeviceQueue(vk->device, 0, 0, &vk->queue);
    return true;
}

void vulkan_close(vulkan *vk) {
    if (vk->device) vk->DestroyDevice(vk->device, NULL);
    if (vk->instance) vk->DestroyInstance(vk->instance, NULL);
}

bool vulkan_buffer_create(vulkan *vk, uint64_t size, vulkan_buffer *b) {
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    memset(b, 0, sizeof *b);
    if (vk->CreateBuffer(vk->device, &info, NULL, &b->buffer)) return false;
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties kinds;
    vk->GetBufferMemoryRequirements(vk->device, b->buffer, &needs);
    vk->GetPhysicalDeviceMemoryProperties(vk->physical, &kinds);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t kind = 0;
    while (kind < kinds.memoryTypeCount &&
           !(needs.memoryTypeBits >> kind & 1 &&
             (kinds.memoryTypes[kind].propertyFlags & wanted) == wanted))
        kind++;
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = kind};
    if (vk->AllocateMemory(vk->device, &allocate, NULL, &b->memory)) return false;
    if (vk->BindBufferMemory(vk->device, b->buffer, b->memory, 0)) return false;
    if (vk->MapMemory(vk->device, b->memory, 0, VK_WHOLE_SIZE, 0, &b->data)) return false;
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                         .buffer = b->buffer};
    b->address = vk->GetBufferDeviceAddress(vk->device, &address);
    b->size = size;
    memset(b->data, 0, (size_t)size);
    return true;
}

void vulkan_buffer_destroy(vulkan *vk, vulkan_buffer *b) {
    vk->DestroyBuffer(vk->device, b->buffer, NULL);
    vk->FreeMemory(vk->device, b->memory, NULL);
}

bool vulkan_run(vulkan *vk, const uint32_t *words, uint64_t count, vulkan_buffer *buffers,
                uint32_t buffer_count, const void *push, uint32_t push_bytes,
                const uint32_t groups[3]) {
    VkDescriptorSetLayoutBinding bindings[16] = {{0}};
    VkDescriptorBufferInfo infos[16];
    VkWriteDescriptorSet writes[16];
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkShaderModule module = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkCommandPool commands = VK_NULL_HANDLE;
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < buffer_count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = buffer_count,
        .pBindings = bindings};
    bool ok = !vk->CreateDescriptorSetLayout(vk->device, &set_info, NULL, &set_layout);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 16};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    ok = ok && !vk->CreateDescriptorPool(vk->device, &pool_info, NULL, &pool);
    VkDescriptorSetAllocateInfo set_allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set_layout};
    ok = ok && !vk->AllocateDescriptorSets(vk->device, &set_allocate, &set);
    for (uint32_t i = 0; i < buffer_count; i++) {
        infos[i] = (VkDescriptorBufferInfo){buffers[i].buffer, 0, VK_WHOLE_SIZE};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &infos[i]};
    }
    if (ok) vk->UpdateDescriptorSets(vk->device, buffer_count, writes, 0, NULL);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
        .pushConstantRangeCount = push_bytes ? 1 : 0,
        .pPushConstantRanges = &range};
    ok = ok && !vk->CreatePipelineLayout(vk->device, &layout_info, NULL, &layout);
    VkShaderModuleCreateInfo module_info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = (size_t)count * 4,
                                            .pCode = words};
    ok = ok && !vk->CreateShaderModule(vk->device, &module_info, NULL, &module);
    VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = layout};
    ok = ok && !vk->CreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &pipeline_info, NULL,
                                           &pipeline);
    VkCommandPoolCreateInfo commands_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    ok = ok && !vk->CreateCommandPool(vk->device, &commands_info, NULL, &commands);
    VkCommandBufferAllocateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = commands,
        .commandBufferCount = 1};
    ok = ok && !vk->AllocateCommandBuffers(vk->device, &buffer_info, &buffer);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    ok = ok && !vk->BeginCommandBuffer(buffer, &begin);
    if (ok) {
        vk->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        vk->CmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0,
                                  NULL);
        if (push_bytes)
            vk->CmdPushConstants(buffer, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes, push);
        vk->CmdDispatch(buffer, groups[0], groups[1], groups[2]);
        ok = !vk->EndCommandBuffer(buffer);
    }
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &buffer};
    ok = ok && !vk->QueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE) &&
         !vk->QueueWaitIdle(vk->queue);
    if (commands) vk->DestroyCommandPool(vk->device, commands, NULL);
    if (pipeline) vk->DestroyPipeline(vk->device, pipeline, NULL);
    if (module) vk->DestroyShaderModule(vk->device, module, NULL);
    if (layout) vk->DestroyPipelineLayout(vk->device, layout, NULL);
    if (pool) vk->DestroyDescriptorPool(vk->device, pool, NULL);
    if (set_layout) vk->DestroyDescriptorSetLayout(vk->device, set_layout, NULL);
    return ok;
}

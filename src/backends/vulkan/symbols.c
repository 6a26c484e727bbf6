/* The Vulkan library, opened when first needed, its functions, and the names of its errors.
 * Must not know: memory, kernels. */
#include "vulkan_internal.h"
#if HG_HAS_VULKAN
#include <stdio.h>
#include <string.h>

VkResult (*vk_before_call)(const char *call);

/* ---- errors ---- */

const char *vk_result_name(VkResult result) {
#define NAME(id) \
    case id: return #id
    switch ((int)result) {
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
        NAME(VK_ERROR_FRAGMENTATION);
        NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        NAME(VK_ERROR_INVALID_SHADER_NV);
        NAME(VK_ERROR_NOT_PERMITTED_KHR);
    }
#undef NAME
    return "VK_ERROR_UNKNOWN";
}

hg_status vk_check(hg_device *device, const char *call, VkResult result) {
    switch ((int)result) {
    case VK_SUCCESS: return HG_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return hg_fail(HG_ERROR_OUT_OF_MEMORY, "vulkan: %s: VK_ERROR_OUT_OF_HOST_MEMORY", call);
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
        return hg_fail(HG_ERROR_ALLOCATION_FAILED, "vulkan: the device has no memory left (%s: %s)",
                       call, vk_result_name(result));
    case VK_ERROR_DEVICE_LOST:
        if (device) hg_atomic_store(&device->lost, 1, HG_RELAXED);
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "vulkan: the device was lost (%s: VK_ERROR_DEVICE_LOST): what its memory "
                       "held is gone; create a new backend",
                       call);
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_LAYER_NOT_PRESENT:
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "vulkan: %s: %s", call,
                       vk_result_name(result));
    }
    return hg_fail(HG_ERROR_EXECUTION_FAILED, "vulkan: %s: %s (%d)", call, vk_result_name(result),
                   (int)result);
}

/* ---- the library ---- */

#define INSTALL "install mesa-vulkan-drivers or the GPU vendor's driver"

static bool load_library_functions(hg_library *library, PFN_vkGetInstanceProcAddr *get,
                                   vk_instance_functions *vk) {
    if (!hg_library_function(library, "vkGetInstanceProcAddr", get)) return false;
    bool all = true;
#define VK_LIBRARY(name) all = (vk->name = (PFN_vk##name)(*get)(NULL, "vk" #name)) != NULL && all;
#include "backends/vulkan/symbols.def"
    return all;
}

static bool load_instance_functions(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                                    vk_instance_functions *vk) {
    bool all = true;
#define VK_INSTANCE(name) all = (vk->name = (PFN_vk##name)get(instance, "vk" #name)) != NULL && all;
#include "backends/vulkan/symbols.def"
    return all;
}

bool vk_device_load(const vk_instance *instance, VkDevice device, vk_device_functions *vk) {
    bool all = true;
    PFN_vkGetDeviceProcAddr get = instance->vk.GetDeviceProcAddr;
#define VK_DEVICE(name) all = (vk->name = (PFN_vk##name)get(device, "vk" #name)) != NULL && all;
#define VK_DEVICE_EXTENSION(name) vk->name = (PFN_vk##name)get(device, "vk" #name);
#include "backends/vulkan/symbols.def"
    return all;
}

/* Drivers that are only nearly Vulkan (on top of Metal) show themselves to those who ask. */
static bool has_portability(const vk_instance_functions *vk) {
    VkExtensionProperties *all;
    uint32_t count = 0;
    bool found = false;
    if (VK_CALL(vk, EnumerateInstanceExtensionProperties, NULL, &count, NULL) != VK_SUCCESS ||
        count == 0)
        return false;
    all = hg_calloc(count, sizeof *all);
    if (all && VK_CALL(vk, EnumerateInstanceExtensionProperties, NULL, &count, all) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found = found || strcmp(all[i].extensionName,
                                    VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
    hg_free(all);
    return found;
}

static VkResult create_instance(vk_instance *i) {
    const char *portability[] = {VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "hologram",
                                     .pEngineName = "hologram",
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    if (has_portability(&i->vk)) {
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = portability;
    }
    return VK_CALL(&i->vk, CreateInstance, &info, NULL, &i->handle);
}

static bool computes(const vk_instance *i, VkPhysicalDevice device) {
    VkQueueFamilyProperties families[32];
    uint32_t count = HG_COUNT_OF(families);
    i->vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    for (uint32_t f = 0; f < count; f++)
        if (families[f].queueFlags & VK_QUEUE_COMPUTE_BIT) return true;
    return false;
}

static VkResult list_devices(vk_instance *i) {
    VkPhysicalDevice all[VK_DEVICES];
    uint32_t count = VK_DEVICES;
    VkResult result = VK_CALL(&i->vk, EnumeratePhysicalDevices, i->handle, &count, all);
    for (uint32_t d = 0; result >= 0 && d < count; d++)
        if (computes(i, all[d])) i->devices[i->count++] = all[d];
    return result < 0 ? result : VK_SUCCESS;
}

bool vk_instance_load(const char *const *libraries, size_t count, vk_instance *i,
                      char reason[256]) {
    char said[160];
    PFN_vkGetInstanceProcAddr get;
    memset(i, 0, sizeof *i);
    i->library = hg_library_open(libraries, count, said, sizeof said);
    if (!i->library) {
        snprintf(reason, 256, "no Vulkan library (%s): " INSTALL, said);
        return false;
    }
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;
    const char *step = "the library lacks functions";
    if (load_library_functions(i->library, &get, &i->vk)) {
        step = "vkCreateInstance";
        result = create_instance(i);
        if (result == VK_SUCCESS && !load_instance_functions(get, i->handle, &i->vk)) {
            step = "the library lacks functions of Vulkan 1.1";
            result = VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    if (result == VK_SUCCESS) {
        step = "vkEnumeratePhysicalDevices";
        result = list_devices(i);
    }
    if (result == VK_SUCCESS && i->count) return true;
    if (result == VK_SUCCESS)
        snprintf(reason, 256, "no device: " INSTALL);
    else
        snprintf(reason, 256, "%s (%s): " INSTALL, step, vk_result_name(result));
    vk_instance_unload(i);
    return false;
}

void vk_instance_unload(vk_instance *i) {
    if (i->handle && i->vk.DestroyInstance) i->vk.DestroyInstance(i->handle, NULL);
    hg_library_close(i->library);
    memset(i, 0, sizeof *i);
}

static const char *const NAMES[] = {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib",
                                    "libMoltenVK.dylib"};
#define VK_FOLDERS(base) base "/vulkan/icd.d", base "/vulkan/implicit_layer.d"
static const char *const PLACES[] = {"$VK_DRIVER_FILES",
                                     "$VK_ICD_FILENAMES",
                                     "$VK_ADD_DRIVER_FILES",
                                     VK_FOLDERS("/etc"),
                                     VK_FOLDERS("/usr/share"),
                                     VK_FOLDERS("/usr/local/etc"),
                                     VK_FOLDERS("/usr/local/share"),
                                     VK_FOLDERS("$XDG_CONFIG_DIRS"),
                                     VK_FOLDERS("$XDG_DATA_DIRS"),
                                     VK_FOLDERS("$XDG_CONFIG_HOME"),
                                     VK_FOLDERS("$XDG_DATA_HOME"),
                                     VK_FOLDERS("$HOME/.config"),
                                     VK_FOLDERS("$HOME/.local/share")};
const hg_vendor vk_vendor = {NAMES, HG_COUNT_OF(NAMES), HG_COUNT_OF(PLACES), PLACES};

static hg_mutex instance_lock = HG_MUTEX_INIT;
static vk_instance the_instance;

vk_instance *vk_instance_adopt(VkInstance handle, char reason[256]) {
    char said[160];
    PFN_vkGetInstanceProcAddr get;
    vk_instance *i = hg_calloc(1, sizeof *i);
    snprintf(reason, 256, "out of memory");
    if (!i) return NULL;
    i->library = hg_library_open(NAMES, HG_COUNT_OF(NAMES), said, sizeof said);
    if (i->library && load_library_functions(i->library, &get, &i->vk) &&
        load_instance_functions(get, handle, &i->vk)) {
        i->handle = handle;
        return i;
    }
    snprintf(reason, 256, "%s", i->library ? "the library lacks functions of Vulkan 1.1" : said);
    vk_instance_let_go(i);
    return NULL;
}

void vk_instance_let_go(vk_instance *i) {
    if (!i) return;
    hg_library_close(i->library);
    hg_free(i);
}

const vk_instance *vk_instance_get(char reason[256]) {
    hg_mutex_lock(&instance_lock);
    bool there = the_instance.handle ||
                 vk_instance_load(NAMES, HG_COUNT_OF(NAMES), &the_instance, reason);
    hg_mutex_unlock(&instance_lock);
    return there ? &the_instance : NULL;
}
#endif

/* Types of the functions in symbols.def, as the documentation of the interface has them (the C
 * header of the webgpu-native group, the form of 2025 and later: strings with lengths, callbacks
 * with two words of the caller). Only what the backend uses; structures that libraries have made
 * longer since end in room for that. In wasm the page's part reads and writes the same structures.
 */
#ifndef HG_BACKENDS_WEBGPU_TYPES_H
#define HG_BACKENDS_WEBGPU_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define WGPU_OBJECT(name) typedef struct WGPU##name##Impl *WGPU##name;
WGPU_OBJECT(Instance)
WGPU_OBJECT(Adapter)
WGPU_OBJECT(Device)
WGPU_OBJECT(Queue)
WGPU_OBJECT(Buffer)
WGPU_OBJECT(ShaderModule)
WGPU_OBJECT(BindGroupLayout)
WGPU_OBJECT(PipelineLayout)
WGPU_OBJECT(BindGroup)
WGPU_OBJECT(ComputePipeline)
WGPU_OBJECT(CommandEncoder)
WGPU_OBJECT(ComputePassEncoder)
WGPU_OBJECT(CommandBuffer)
#undef WGPU_OBJECT

typedef uint32_t WGPUBool;
typedef struct WGPUFuture {
    uint64_t id;
} WGPUFuture;
typedef struct WGPUStringView {
    const char *data;
    size_t length; /* SIZE_MAX: data ends with a 0 */
} WGPUStringView;
typedef struct WGPUChainedStruct {
    struct WGPUChainedStruct *next;
    uint32_t sType;
} WGPUChainedStruct;

enum {
    WGPU_STATUS_SUCCESS = 1, /* of every callback */
    WGPU_ERROR_NONE = 1,     /* types of errors */
    WGPU_ERROR_OUT_OF_MEMORY = 3,
    WGPU_FILTER_VALIDATION = 1, /* what an error scope catches */
    WGPU_FILTER_OUT_OF_MEMORY = 2,
    WGPU_ALLOW_PROCESS_EVENTS = 2, /* when a callback may come: in ProcessEvents alone */
    WGPU_LOST_DESTROYED = 2,       /* why a device was lost: by DeviceDestroy */
    WGPU_ADAPTER_CPU = 3,
    WGPU_BACKEND_NULL = 1,
    WGPU_CORE = 2, /* feature level */
    WGPU_HIGH_PERFORMANCE = 2,
    WGPU_STYPE_WGSL = 2,
    WGPU_PACKED_4X8 = 2,                     /* language feature packed_4x8_integer_dot_product */
    WGPU_SHADER_F16 = 0x0b,                  /* feature */
    WGPU_SHADER_F16_OLD = 0x0a,              /* its number in Dawn of 2025 */
    WGPU_STYPE_NATIVE_INSTANCE = 0x00030004, /* wgpu-native's additions to an instance */
    WGPU_STYPE_DAWN_TOGGLES = 0x0005000a,    /* Dawn's: WGPUDawnToggles of adapter options, */
    WGPU_STYPE_HOST_MEMORY = 0x00050012,     /* WGPUBufferHostMemory of a buffer, */
    WGPU_HOST_MEMORY = 0x00050010,           /* and the feature for it, HostMappedPointer, */
    WGPU_HOST_MEMORY_OLD = 0x00050011,       /* with its number in Dawn of 2024 */
    WGPU_STAGE_COMPUTE = 4,
    WGPU_MAP_READ = 1,
    WGPU_BIND_UNIFORM = 2,
    WGPU_BIND_STORAGE = 3
};
enum { /* uses of a buffer */
       WGPU_USE_MAP_READ = 0x1,
       WGPU_USE_COPY_FROM = 0x4,
       WGPU_USE_COPY_TO = 0x8,
       WGPU_USE_UNIFORM = 0x40,
       WGPU_USE_STORAGE = 0x80
};

typedef struct WGPUInstanceDescriptor {
    const WGPUChainedStruct *next;
    size_t feature_count;
    const void *features, *limits;
    uint64_t reserved[8];
} WGPUInstanceDescriptor;
/* wgpu-native: the drivers that it looks for, by bit. What follows is zero, which says nothing. */
typedef struct WGPUInstanceExtras {
    WGPUChainedStruct chain;
    uint64_t backends; /* 1 Vulkan, 4 Metal, 8 Direct3D 12 */
    uint64_t reserved[62];
} WGPUInstanceExtras;
typedef struct WGPURequestAdapterOptions {
    const WGPUChainedStruct *next;
    uint32_t feature_level, power_preference;
    WGPUBool fallback;
    uint32_t backend;
    void *surface;
    uint64_t reserved[4];
} WGPURequestAdapterOptions;
typedef struct WGPUDawnToggles {
    WGPUChainedStruct chain;
    size_t on_count;
    const char *const *on;
    size_t off_count;
    const char *const *off;
} WGPUDawnToggles;
typedef struct WGPUAdapterInfo {
    WGPUChainedStruct *next;
    WGPUStringView vendor, architecture, device, description;
    uint32_t backend, adapter_type, vendor_id, device_id;
    uint64_t reserved[16];
} WGPUAdapterInfo;
typedef struct WGPULimits {
    WGPUChainedStruct *next;
    uint32_t texture_1d, texture_2d, texture_3d, texture_layers, bind_groups, groups_and_vertices,
        bindings_of_group, dynamic_uniforms, dynamic_storage, sampled_textures, samplers,
        storage_buffers, storage_textures, uniform_buffers;
    uint64_t uniform_bytes, storage_bytes; /* of a binding */
    uint32_t uniform_alignment, storage_alignment, vertex_buffers;
    uint64_t buffer_bytes;
    uint32_t vertex_attributes, vertex_stride, shader_variables, color_attachments,
        color_attachment_bytes, shared_bytes, group_lanes, group_x, group_y, group_z, groups;
    uint64_t reserved[128];
} WGPULimits;
typedef struct WGPUBufferDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    uint64_t usage, size;
    WGPUBool mapped;
} WGPUBufferDescriptor;
/* Dawn: the buffer is memory of the host, which it may read and write at any time. `gone` is called
 * when the buffer is no longer used. */
typedef struct WGPUBufferHostMemory {
    WGPUChainedStruct chain;
    void *memory;
    void (*gone)(void *user);
    void *user;
} WGPUBufferHostMemory;
typedef struct WGPUShaderSourceWGSL {
    WGPUChainedStruct chain;
    WGPUStringView code;
} WGPUShaderSourceWGSL;
typedef struct WGPUShaderModuleDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
} WGPUShaderModuleDescriptor;
typedef struct WGPUBindGroupLayoutEntry {
    const WGPUChainedStruct *next;
    uint32_t binding;
    uint64_t visibility;
    uint32_t array_size;
    struct {
        const WGPUChainedStruct *next;
        uint32_t type;
        WGPUBool dynamic_offset;
        uint64_t least_bytes;
    } buffer;
    struct {
        const WGPUChainedStruct *next;
        uint32_t type;
    } sampler;
    struct {
        const WGPUChainedStruct *next;
        uint32_t type, dimension;
        WGPUBool multisampled;
    } texture;
    struct {
        const WGPUChainedStruct *next;
        uint32_t access, format, dimension;
    } storage_texture;
} WGPUBindGroupLayoutEntry;
typedef struct WGPUBindGroupLayoutDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    size_t count;
    const WGPUBindGroupLayoutEntry *entries;
} WGPUBindGroupLayoutDescriptor;
typedef struct WGPUPipelineLayoutDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    size_t count;
    const WGPUBindGroupLayout *layouts;
    uint32_t immediate_bytes;
} WGPUPipelineLayoutDescriptor;
typedef struct WGPUComputePipelineDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    WGPUPipelineLayout layout;
    struct {
        const WGPUChainedStruct *next;
        WGPUShaderModule module;
        WGPUStringView entry;
        size_t constant_count;
        const void *constants;
    } compute;
} WGPUComputePipelineDescriptor;
typedef struct WGPUBindGroupEntry {
    const WGPUChainedStruct *next;
    uint32_t binding;
    WGPUBuffer buffer;
    uint64_t offset, size;
    void *sampler, *texture;
} WGPUBindGroupEntry;
typedef struct WGPUBindGroupDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    WGPUBindGroupLayout layout;
    size_t count;
    const WGPUBindGroupEntry *entries;
} WGPUBindGroupDescriptor;

/* A callback, and how it is handed over: by value, with two words that come back. */
#define WGPU_CALLBACK(name, ...)                                             \
    typedef void (*WGPU##name##Callback)(__VA_ARGS__, void *one, void *two); \
    typedef struct WGPU##name##CallbackInfo {                                \
        const WGPUChainedStruct *next;                                       \
        uint32_t mode;                                                       \
        WGPU##name##Callback callback;                                       \
        void *one, *two;                                                     \
    } WGPU##name##CallbackInfo;
WGPU_CALLBACK(RequestAdapter, uint32_t status, WGPUAdapter adapter, WGPUStringView said)
WGPU_CALLBACK(RequestDevice, uint32_t status, WGPUDevice device, WGPUStringView said)
WGPU_CALLBACK(DeviceLost, const WGPUDevice *device, uint32_t reason, WGPUStringView said)
WGPU_CALLBACK(BufferMap, uint32_t status, WGPUStringView said)
WGPU_CALLBACK(CreateComputePipelineAsync, uint32_t status, WGPUComputePipeline pipeline,
              WGPUStringView said)
WGPU_CALLBACK(PopErrorScope, uint32_t status, uint32_t type, WGPUStringView said)
WGPU_CALLBACK(QueueWorkDone, uint32_t status, WGPUStringView said)
#undef WGPU_CALLBACK
typedef void (*WGPUUncapturedErrorCallback)(const WGPUDevice *device, uint32_t type,
                                            WGPUStringView said, void *one, void *two);

typedef struct WGPUDeviceDescriptor {
    const WGPUChainedStruct *next;
    WGPUStringView label;
    size_t feature_count;
    const uint32_t *features;
    const WGPULimits *limits;
    struct {
        const WGPUChainedStruct *next;
        WGPUStringView label;
    } queue;
    WGPUDeviceLostCallbackInfo lost;
    struct {
        const WGPUChainedStruct *next;
        WGPUUncapturedErrorCallback callback;
        void *one, *two;
    } error;
    uint64_t reserved[8];
} WGPUDeviceDescriptor;

#endif

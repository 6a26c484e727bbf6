/* Backends: devices, memory, running programs; and the prepared forms
 * (executable, binding, queue, event) under that. */
#ifndef HOLOGRAM_BACKEND_H
#define HOLOGRAM_BACKEND_H

#include <hologram/config.h>
#include <hologram/launch.h>
#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device and its default context. Functions are thread-safe unless they say otherwise. Launches
 * of one context are in order where they share class memory, state or a written buffer, and run at
 * the same time otherwise. */
typedef struct hg_backend hg_backend;

/** The backend and device that HOLOGRAM_BACKEND and HOLOGRAM_DEVICE_ID name, or an error. Where
 * HOLOGRAM_BACKEND is not set, empty or `auto`: the first available of the automatic order, which
 * ends with the CPU. hg_backend_name says which it is.
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE with the reason (what the variable names is not
 * there, or is no known word); HG_ERROR_INVALID_ARGUMENT (a malformed variable),
 * HG_ERROR_OUT_OF_MEMORY */
HG_API hg_status hg_backend_create_auto(hg_backend **backend) HG_NODISCARD;
/** A named backend: "cpu", "cuda", "opencl", "vulkan", "webgpu", "null", "auto";
 * HG_ERROR_BACKEND_UNAVAILABLE with the reason. device counts the devices of the backend; behind a
 * platform's number, "opencl/1", those of that platform (hg_device_info.platform). "cuda" needs an
 * NVIDIA driver. "webgpu" ("wgpu") a library of WebGPU, "tpu" a PJRT plugin. "metal", "wasm",
 * "hip", "rocm", "oneapi", "levelzero" and "sycl" are known words without a backend in this
 * version. */
HG_API hg_status hg_backend_create(const char *name, uint32_t device,
                                   hg_backend **backend) HG_NODISCARD;
/** With a configuration (hg_config_from_env, …): backend, device, threads, CPU level, limits.
 * HG_ERROR_WOULD_BLOCK: the device opens only while the host goes on with something else, and
 * hg_backend_open_start is the way to it. */
HG_API hg_status hg_backend_create_with_config(const hg_config *config,
                                               hg_backend **backend) HG_NODISCARD;
/** A backend that is being opened. */
typedef struct hg_opening hg_opening;
/**
 * Begins to open a backend and returns at once: for hosts that must not wait. What drivers do only
 * while somebody waits for them runs on a thread of the library.
 *
 * @param config   not looked at after the call
 * @param opening  receives what hg_opening_poll asks; to be given to hg_opening_destroy
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (NULL, a size of no version, an unknown word of
 * `pretend`), HG_ERROR_OUT_OF_MEMORY. Whatever else is wrong hg_opening_poll says
 * Thread-safe.
 */
HG_API hg_status hg_backend_open_start(const hg_config *config, hg_opening **opening) HG_NODISCARD;
/**
 * Goes on with the opening as far as that needs no waiting, and says whether it is over.
 *
 * @param done     true: the status is what came of it, the same as of hg_backend_create_with_config
 * @param backend  receives the backend, which is the caller's, with the first call that is done and
 * HG_OK; else NULL
 * @return HG_OK: it is not over (done is false), or there is the backend. Else done is true: the
 * error of the opening, each time it is asked; HG_ERROR_INVALID_ARGUMENT (NULL, or the backend was
 * given to an earlier call); HG_ERROR_EXECUTION_FAILED in a forked child Not thread-safe: one
 * thread asks at a time.
 */
HG_API hg_status hg_opening_poll(hg_opening *opening, bool *done,
                                 hg_backend **backend) HG_NODISCARD;
/** A device that the host has opened, for hg_backend_open_with. */
typedef struct hg_host_device {
    size_t size;    /**< sizeof(hg_host_device); set by the caller */
    void *context;  /**< opencl: the cl_context; cuda: the CUcontext; vulkan: the VkInstance, of
                       version 1.2; webgpu: the WGPUInstance */
    void *device;   /**< opencl: the cl_device_id, one of the context's; vulkan: the VkDevice;
                       webgpu: the WGPUDevice; cuda: not looked at */
    void *physical; /**< vulkan: the VkPhysicalDevice; webgpu: the WGPUAdapter, or NULL */
    void *queue;    /**< vulkan: a VkQueue that computes. The others make queues of their own in the
                       context */
    /** vulkan: the VkPhysicalDeviceFeatures2 that the device was made with, with its chain, until
     * the opening is over. What it does not enable is not used; timelineSemaphore must be. */
    const void *features;
    uint32_t queue_family; /**< vulkan: of the queue */
    uint8_t reserved[4];   /**< never used */
} hg_host_device;
/**
 * The same as hg_backend_open_start on a device that the host has opened: it is probed like others,
 * and never destroyed. The library's loader ("libOpenCL.so.1", "libvulkan.so.1", "libcuda.so.1",
 * for webgpu what HOLOGRAM_WEBGPU names) must be that of the host.
 *
 * @param config   backend: "opencl", "vulkan", "cuda" or "webgpu"; device_id is not read
 * @param device   copied; what it names must stay until the backend is destroyed, or the opening
 * where that gives none. For such a device hg_backend_destroy and hg_opening_destroy wait until the
 * driver's compiler is through with it
 * @return as hg_backend_open_start. hg_opening_poll: HG_ERROR_INVALID_ARGUMENT (a field that the
 * backend needs is NULL), HG_ERROR_BACKEND_UNAVAILABLE (the backend takes no device of others, or
 * the device lacks what it needs) A Vulkan queue must not be used by others while work of the
 * backend is submitted to it; nor may objects of Dawn, which have no lock of their own.
 * Thread-safe.
 */
HG_API hg_status hg_backend_open_with(const hg_config *config, const hg_host_device *device,
                                      hg_opening **opening) HG_NODISCARD;
/** Frees it, at any time and without waiting. What is not open yet is given up: a driver that is at
 * work is left alone with it, and what it makes is freed when it returns. A backend that
 * hg_opening_poll has given stays. NULL is allowed. */
HG_API void hg_opening_destroy(hg_opening *opening);
/** Frees the backend, its buffers and pools. Executables, bindings, queues and contexts of it must
 * be gone. Waits for no compiler: what one works on is left alone. NULL is allowed. Not
 * thread-safe. */
HG_API void hg_backend_destroy(hg_backend *backend);
/** "cpu". Static. */
HG_API const char *hg_backend_name(const hg_backend *backend);
/** Backend-specific access; NULL for backends that have none. */
HG_API void *hg_backend_native(hg_backend *backend);

/**
 * Writes what the backend recorded so far (hg_config.profiling or profile_file) as a Chrome trace
 * to path and as a table to path.txt; path NULL: to hg_config.profile_file, which
 * hg_backend_destroy does too but cannot report. Backends alive at the same time with one
 * profile_file share a trace.
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (nothing is recorded, or no path), HG_ERROR_IO
 */
HG_API hg_status hg_backend_write_profile(hg_backend *backend, const char *path) HG_NODISCARD;

/** What became of a kernel's native code. Valid during the call. */
typedef struct hg_code_report {
    size_t size; /**< sizeof(hg_code_report) of the library: fields behind it are not there */
    const char *kernel; /**< its name: the program's or the whole-array instruction's */
    bool native; /**< it has native code from now on; else it stays on the interpreter, with the
                    same bits */
    const char *reason; /**< why it stays: no compiler, what the compiler refuses, too much work for
                           it, compile_timeout_ms, …; "" where native */
    uint64_t took_ns;   /**< from the beginning to this call */
} hg_code_report;
typedef void hg_code_listener(void *user, const hg_code_report *report);
/**
 * Has `call` called once for each kernel whose native code was made, or was given up: with
 * hg_config.jit "auto" on the thread that compiles in the background, with "on" while who makes the
 * executable waits; on threads of the library, for several kernels at the same time perhaps. It
 * must not destroy the backend or wait for its launches. Kernels that are never asked to be native
 * (not hot, or jit "off"), and all of other backends, are not told of. No call begins after
 * hg_backend_destroy.
 *
 * @param call  NULL: nobody. Set it before the backend's first program: what is under way then may
 * still call the one before
 */
HG_API hg_status hg_backend_listen(hg_backend *backend, hg_code_listener *call,
                                   void *user) HG_NODISCARD;

/**
 * What a front end made and kept by hg_backend_cache_put, in this process or an earlier one, in the
 * folder of compiled kernels (hg_config.cache_dir): a saving only, since files that are damaged,
 * written by others or removed to make room are as if they had never been kept.
 *
 * @param key     what the bytes depend on, length of them: sources, types, options. The version of
 * the library is part of it already
 * @param bytes   what was kept under that key, size of them, to be freed with hg_string_free; NULL:
 * nothing
 * @return HG_OK, also where nothing is kept; HG_ERROR_INVALID_ARGUMENT, HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_backend_cache_get(hg_backend *backend, const uint8_t *key, size_t length,
                                      uint8_t **bytes, size_t *size) HG_NODISCARD;
/**
 * Keeps size bytes under a key of length bytes, in place of what was kept under it; both are
 * borrowed for the call. Waits until they are on the disk. Where there is no folder or no room
 * nothing is kept, which is no error.
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT, HG_ERROR_OUT_OF_MEMORY
 * Thread-safe, also with other processes that keep under the same key.
 */
HG_API hg_status hg_backend_cache_put(hg_backend *backend, const uint8_t *key, size_t length,
                                      const uint8_t *bytes, size_t size) HG_NODISCARD;

/**
 * Goes on with what nobody else goes on with: queues without a thread, and callbacks of
 * hg_event_on_done where the library has no thread for them. A host that cannot wait, or has no
 * threads, calls it from its own loop; elsewhere it does nothing. Returns as soon as it would have
 * to wait.
 *
 * @param left  true: something is left, call it again
 * @return HG_OK; HG_ERROR_WOULD_BLOCK from a host call or callback of the backend that it would
 * have to end first; HG_ERROR_BACKEND_UNAVAILABLE
 * Thread-safe.
 */
HG_API hg_status hg_backend_progress(hg_backend *backend, bool *left) HG_NODISCARD;

/** Runs a program with the default launch values of its own (.lanes, .block) or of launch, without
 * parameters. launch may be NULL. */
HG_API hg_status hg_backend_execute_program(hg_backend *backend, const hg_program *program,
                                            const hg_launch *launch) HG_NODISCARD;
/**
 * Runs a program on every lane of the launch and returns when it is done. The program is verified
 * and lowered once and cached; a call that comes again with the same program, launch and values
 * costs little more than the launch of a binding.
 *
 * @param launch   NULL: the program's .lanes, .grid and .block, else one lane (HG_LAUNCH_PROGRAM,
 * where more is to be said)
 * @param params   borrowed for the call; NULL: none
 * @return HG_OK; HG_ERROR_ISA (program or binding: hg_last_error has the code),
 * HG_ERROR_EXECUTION_FAILED (a fault: step, instruction and lane in hg_last_error; memory written
 * before it is kept), HG_ERROR_INVALID_BUFFER, HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_backend_execute_program_with_params(hg_backend *backend,
                                                        const hg_program *program,
                                                        const hg_launch *launch,
                                                        const hg_params *params) HG_NODISCARD;

/** A zeroed buffer of size bytes; size 0 is allowed (every access is out of bounds).
 * HG_ERROR_ALLOCATION_FAILED. */
HG_API hg_status hg_backend_allocate_buffer(hg_backend *backend, uint64_t size,
                                            hg_buffer *buffer) HG_NODISCARD;
/** Later use is HG_ERROR_INVALID_BUFFER. A launch that runs and a binding keep the memory until
 * they end; copies that run are waited for. */
HG_API hg_status hg_backend_free_buffer(hg_backend *backend, hg_buffer buffer) HG_NODISCARD;
/** Writes the first length bytes. Longer than the buffer: HG_ERROR_EXECUTION_FAILED (bounds). A
 * class handle takes exactly 12,288 bytes. */
HG_API hg_status hg_backend_copy_to_buffer(hg_backend *backend, hg_buffer buffer, const void *data,
                                           uint64_t length) HG_NODISCARD;
HG_API hg_status hg_backend_copy_from_buffer(hg_backend *backend, hg_buffer buffer, void *data,
                                             uint64_t length) HG_NODISCARD;
/** Bytes of the buffer. */
HG_API hg_status hg_backend_buffer_size(hg_backend *backend, hg_buffer buffer,
                                        uint64_t *size) HG_NODISCARD;
/** As the copies above, at a byte offset, any length; class memory too. */
HG_API hg_status hg_buffer_write(hg_backend *backend, hg_buffer buffer, uint64_t offset,
                                 const void *data, uint64_t length) HG_NODISCARD;
HG_API hg_status hg_buffer_read(hg_backend *backend, hg_buffer buffer, uint64_t offset, void *data,
                                uint64_t length) HG_NODISCARD;
/** Makes a buffer of host memory without copying; the memory must outlive the buffer.
 * HG_ERROR_BACKEND_UNAVAILABLE where the device cannot. Imports may overlap. Only one memory that
 * the process has mapped at two addresses counts as two that do not: a program that writes one of
 * them and reads the other may read old bytes. */
HG_API hg_status hg_buffer_import(hg_backend *backend, void *memory, uint64_t size,
                                  hg_buffer *buffer) HG_NODISCARD;

/** Where memory lies that another library made, or is given. The numbers are those of DLPack
 * (DLDeviceType). */
typedef enum hg_memory_kind {
    HG_MEMORY_HOST = 1,      /**< of the process */
    HG_MEMORY_CUDA = 2,      /**< of a CUDA device */
    HG_MEMORY_CUDA_HOST = 3, /**< of the process, pinned by the CUDA driver */
    HG_MEMORY_OPENCL = 4,    /**< of an OpenCL memory object; hg_buffer_native only */
    HG_MEMORY_VULKAN = 7     /**< of a Vulkan buffer; hg_buffer_native only */
} hg_memory_kind;
/**
 * Makes a buffer of memory that another library made, without copying: what a DLPack tensor says,
 * with its strides left to the program.
 *
 * @param kind    host memory is imported as by hg_buffer_import; HG_MEMORY_CUDA needs a backend on
 * that CUDA device
 * @param device  number of the CUDA device (DLDevice.device_id); not looked at for host memory
 * @param memory  address of the first byte, a multiple of 16 for a CUDA backend. It must outlive
 * the buffer
 * @param size    bytes
 * What the other library does with the memory must be over: no stream of its own is waited for. It
 * may go on when a launch that uses the buffer has returned, or the queue's event is done.
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE where the backend cannot use the memory in place;
 * HG_ERROR_INVALID_ARGUMENT for an address that is not what kind, device and size say
 * Thread-safe.
 */
HG_API hg_status hg_buffer_import_device(hg_backend *backend, hg_memory_kind kind, uint32_t device,
                                         void *memory, uint64_t size,
                                         hg_buffer *buffer) HG_NODISCARD;

/** Where a buffer lies, for another library on the same device. */
typedef struct hg_native_buffer {
    size_t size; /**< sizeof(hg_native_buffer); set by the caller */
    /** HG_MEMORY_HOST, HG_MEMORY_CUDA and HG_MEMORY_CUDA_HOST: the address of the first byte (on
     * CUDA a CUdeviceptr). HG_MEMORY_OPENCL: the cl_mem, HG_MEMORY_VULKAN: the VkBuffer, in which
     * the buffer begins at `offset`. */
    uint64_t memory;
    uint64_t offset; /**< bytes; 0 where `memory` is an address */
    uint64_t bytes; /**< of the buffer. What lies around them in the same memory object is of others
                     */
    hg_memory_kind kind;
    uint32_t device; /**< number of the CUDA device; 0 of other kinds, whose context or device
                        hg_backend_native has */
} hg_native_buffer;
/**
 * The backend's own handle of a buffer, which stays the same until the buffer is freed. Whoever
 * uses it keeps the order: work of the library on the buffer is over (the launch has returned, the
 * event is done) before the other library begins, and the other way round.
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE: the backend has none that others could use;
 * HG_ERROR_INVALID_BUFFER; HG_ERROR_INVALID_ARGUMENT (NULL, a size of no version);
 * HG_ERROR_OUT_OF_MEMORY or HG_ERROR_ALLOCATION_FAILED (class memory, which is allocated when first
 * asked for)
 * Thread-safe.
 */
HG_API hg_status hg_buffer_native(hg_backend *backend, hg_buffer buffer,
                                  hg_native_buffer *native) HG_NODISCARD;

/** Linear pools: as buffers, with a byte offset. */
HG_API hg_status hg_backend_allocate_pool(hg_backend *backend, uint64_t size,
                                          hg_pool *pool) HG_NODISCARD;
HG_API hg_status hg_backend_free_pool(hg_backend *backend, hg_pool pool) HG_NODISCARD;
HG_API hg_status hg_backend_copy_to_pool(hg_backend *backend, hg_pool pool, uint64_t offset,
                                         const void *data, uint64_t length) HG_NODISCARD;
HG_API hg_status hg_backend_copy_from_pool(hg_backend *backend, hg_pool pool, uint64_t offset,
                                           void *data, uint64_t length) HG_NODISCARD;
HG_API hg_status hg_backend_pool_size(hg_backend *backend, hg_pool pool,
                                      uint64_t *size) HG_NODISCARD;
/** Aliases of the two copies. */
HG_API hg_status hg_backend_pool_store(hg_backend *backend, hg_pool pool, uint64_t offset,
                                       const void *data, uint64_t length) HG_NODISCARD;
HG_API hg_status hg_backend_pool_load(hg_backend *backend, hg_pool pool, uint64_t offset,
                                      void *data, uint64_t length) HG_NODISCARD;

/** Class memory, phase and resonance state of launches. Contexts run concurrently; see hg_backend
 * for launches of one context. */
typedef struct hg_context hg_context;
HG_API hg_status hg_context_create(hg_backend *backend, hg_context **context) HG_NODISCARD;
HG_API void hg_context_destroy(hg_context *context);

/**
 * Phases and resonance of a context, 0 in a new one: what phase.write and res.accum left there, the
 * same for every number of threads. A launch that runs in the context is waited for; one that
 * failed keeps what its lanes had added. What a queue has not begun does not count yet.
 * @param cls  class; from 96: HG_ERROR_ISA, `invalid class index: 96 (must be < 96)`
 * @return HG_OK; HG_ERROR_WOULD_BLOCK where the host cannot wait for the device; errors of its
 * memory
 */
HG_API hg_status hg_context_phase(hg_context *context, uint32_t cls, uint32_t *value) HG_NODISCARD;
/** value is taken modulo 768. */
HG_API hg_status hg_context_set_phase(hg_context *context, uint32_t cls,
                                      uint32_t value) HG_NODISCARD;
/** The exact sum of all that was added to a class, rounded once: to nearest, ties to even, beyond
 * the largest double infinity. Zero is +0. */
HG_API hg_status hg_context_resonance(hg_context *context, uint32_t cls,
                                      double *value) HG_NODISCARD;
/** The exact sum over all classes, rounded once. */
HG_API hg_status hg_context_resonance_total(hg_context *context, double *value) HG_NODISCARD;
/** All phases and sums are 0 again. */
HG_API hg_status hg_context_reset_state(hg_context *context) HG_NODISCARD;
/** Of the backend's default context. */
HG_API hg_status hg_backend_phase(hg_backend *backend, uint32_t cls, uint32_t *value) HG_NODISCARD;
HG_API hg_status hg_backend_set_phase(hg_backend *backend, uint32_t cls,
                                      uint32_t value) HG_NODISCARD;
HG_API hg_status hg_backend_resonance(hg_backend *backend, uint32_t cls,
                                      double *value) HG_NODISCARD;
HG_API hg_status hg_backend_resonance_total(hg_backend *backend, double *value) HG_NODISCARD;
HG_API hg_status hg_backend_reset_state(hg_backend *backend) HG_NODISCARD;

/** A program verified and lowered for one backend, shared through the backend's cache. Immutable,
 * thread-safe, keeps the program. */
typedef struct hg_executable hg_executable;
HG_API hg_status hg_executable_create(hg_backend *backend, const hg_program *program,
                                      hg_executable **executable) HG_NODISCARD;
/** With the types of params' registers for a program without .param lines, and instrumented for
 * launch->max_steps. */
HG_API hg_status hg_executable_create_for(hg_backend *backend, const hg_program *program,
                                          const hg_launch *launch, const hg_params *params,
                                          hg_executable **executable) HG_NODISCARD;
HG_API void hg_executable_destroy(hg_executable *executable);

/**
 * A launch with its parameters, checked once. Holds its buffers: freeing one is deferred until the
 * binding is gone. A pool of a .param line that nobody set is the binding's own, zeroed at every
 * launch. The executable may have been made for other registers or another max_steps: then the
 * right one comes from the cache or is made.
 */
typedef struct hg_binding hg_binding;
HG_API hg_status hg_binding_create(hg_executable *executable, const hg_launch *launch,
                                   const hg_params *params, hg_binding **binding) HG_NODISCARD;
/** What was submitted or started of it goes on to its end. NULL is allowed. */
HG_API void hg_binding_destroy(hg_binding *binding);
/** Runs it and waits, in the backend's default context. Launches of one binding run one after
 * another, in whatever context. */
HG_API hg_status hg_binding_launch(hg_binding *binding) HG_NODISCARD;
/** Whether each launch does the same work whatever memory has: the program is one kernel without
 * loops and calls, or whole-array instructions in a row. A launch of others may be quick once and
 * endless the next time. False of NULL. */
HG_API bool hg_binding_is_steady(const hg_binding *binding);
/**
 * Launches that this thread waits for, of operations on tensors too, end early once *word is not 0,
 * as hg_event_cancel ends work: with F11, `cancelled`; memory written before is kept. For handlers
 * of signals, which may set it.
 * @param word  must stay until the next call; NULL: nobody ends them
 * @return what it was before; NULL: none
 */
HG_API const int *hg_thread_cancel_word(const int *word);
/** In another context of the same backend. */
HG_API hg_status hg_binding_launch_in(hg_binding *binding, hg_context *context) HG_NODISCARD;

/** An ordered stream of work that runs beside the caller; queues are independent of each other. A
 * forked child must make its own. */
typedef struct hg_queue hg_queue;
/** A point in a queue's work. May be waited for from any thread, and by submissions even after it
 * is destroyed. */
typedef struct hg_event hg_event;
/** context NULL: a context of its own. */
HG_API hg_status hg_queue_create(hg_backend *backend, hg_context *context,
                                 hg_queue **queue) HG_NODISCARD;
/** Waits for the queue's work first. In WebAssembly, where nothing can be waited for, a queue with
 * work under way stays as it is, and hg_last_error has HG_ERROR_WOULD_BLOCK: destroy it when its
 * events are done. Launches that were started keep their context and their backend in the same way.
 */
HG_API void hg_queue_destroy(hg_queue *queue);
/**
 * The device's queue behind it: a CUstream, a cl_command_queue, a VkQueue (which other queues of
 * the backend may share: nobody else may use it while work of the backend is submitted). What was
 * submitted to the queue may come to it later: call hg_queue_synchronize first. It stays the same
 * until the queue is destroyed or work in it fails on the device.
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE: the backend has none; HG_ERROR_INVALID_ARGUMENT
 * (NULL)
 */
HG_API hg_status hg_queue_native(hg_queue *queue, void **native) HG_NODISCARD;

typedef enum hg_command_kind {
    HG_COMMAND_LAUNCH,
    HG_COMMAND_COPY_IN,
    HG_COMMAND_COPY_OUT,
    HG_COMMAND_COPY,
    HG_COMMAND_FILL,
    HG_COMMAND_HOST_CALL
} hg_command_kind;
/** One piece of work of a submission. Host memory must stay until the submission's event is done; a
 * binding that is destroyed before goes when its work is over, with the buffers that it keeps.
 * Class handles mean the queue's context. All commands of a submission have the same size, and go
 * at least up to `length`. */
typedef struct hg_command {
    size_t size; /**< sizeof(hg_command) */
    hg_command_kind kind;
    hg_binding *binding;                    /**< launch */
    hg_buffer buffer, source;               /**< copy: source to buffer */
    uint64_t offset, source_offset, length; /**< bytes */
    void *host;                             /**< copy in: read, copy out: written */
    uint8_t value;                          /**< fill */
    void (*call)(void *user);               /**< host call: must not wait for this queue */
    void *user;
} hg_command;
/**
 * Appends commands; they start when all events of waits are done. After a failed command the rest
 * of the submission is skipped and the event carries the error; so do submissions that wait for it;
 * later submissions run.
 * @param signal  receives a new event that the caller destroys; may be NULL
 */
HG_API hg_status hg_queue_submit(hg_queue *queue, const hg_command *commands, size_t count,
                                 hg_event *const *waits, size_t wait_count,
                                 hg_event **signal) HG_NODISCARD;
/** Waits for everything submitted so far; returns the first error since the last call.
 * HG_ERROR_WOULD_BLOCK where waiting is impossible. */
HG_API hg_status hg_queue_synchronize(hg_queue *queue) HG_NODISCARD;
/** *done: whether the work is over; when it is, returns its status and sets hg_last_error. */
HG_API hg_status hg_event_query(hg_event *event, bool *done) HG_NODISCARD;
/** Waits and returns the work's status; HG_ERROR_WOULD_BLOCK where waiting is impossible. */
HG_API hg_status hg_event_wait(hg_event *event) HG_NODISCARD;
/** Waits for timeout_ms milliseconds at most, 0 not at all, and returns the work's status.
 * HG_ERROR_TIMEOUT, which no work has: the event is not done yet, and its work goes on.
 * HG_ERROR_WOULD_BLOCK where waiting is impossible. */
HG_API hg_status hg_event_wait_for(hg_event *event, uint64_t timeout_ms) HG_NODISCARD;
/** What became of an event: its status and, unless that is HG_OK, its error, which is valid during
 * the call; else NULL. */
typedef void hg_event_listener(void *user, hg_status status, const hg_error *error);
/**
 * Has `call` called exactly once when the event is done, whether its work succeeded, failed or was
 * cancelled, and soon where it is done already; never inside this call, and never under a lock of
 * the library. A thread of the library calls it; where the backend has none, hg_backend_progress
 * does. Callbacks of one event come in the order in which they were registered. The event may be
 * destroyed before. hg_backend_destroy calls what is due before it returns; a forked child calls
 * nothing that its parent registered.
 *
 * `call` may submit, start launches and register callbacks. It must not wait (hg_event_wait,
 * hg_queue_synchronize, blocking launches and copies) and must not destroy queues, contexts or the
 * backend: callbacks of the backend wait for each other.
 *
 * @param user  handed to call; may be NULL
 * @return HG_OK; HG_ERROR_OUT_OF_MEMORY; HG_ERROR_INVALID_ARGUMENT (NULL, or the event's backend is
 * destroyed); HG_ERROR_EXECUTION_FAILED in a forked child for work of the parent. Then `call` is
 * never called
 * Thread-safe.
 */
HG_API hg_status hg_event_on_done(hg_event *event, hg_event_listener *call,
                                  void *user) HG_NODISCARD;
/** Callbacks that were registered are called all the same. NULL is allowed. */
HG_API void hg_event_destroy(hg_event *event);
/**
 * Ends the event's work early and returns at once: commands that have not begun are skipped, lanes
 * stop where they would stop at their time limit. The event is done when nothing of it runs any
 * more, with HG_ERROR_EXECUTION_FAILED (F11, `cancelled`); memory written before is kept. Work that
 * is over, or on a device whose lanes the host cannot stop before their end, stays as it is.
 */
HG_API void hg_event_cancel(hg_event *event);

/**
 * Starts a launch and returns; the event is done when the launch is over, with its error. Launches
 * of one context are in the order of their starts where they share class memory, state or a written
 * buffer, at the same time otherwise. A binding that is destroyed before goes when the launch is
 * over.
 * @param context  NULL: the backend's default context
 * @param event    receives a new event that the caller destroys
 */
HG_API hg_status hg_binding_start(hg_binding *binding, hg_context *context,
                                  hg_event **event) HG_NODISCARD;

/** A circular byte buffer in host memory: writing beyond the capacity drops the oldest bytes. Not
 * thread-safe. */
typedef struct hg_ring hg_ring;
HG_API hg_status hg_ring_create(uint64_t capacity, hg_ring **ring) HG_NODISCARD;
HG_API void hg_ring_destroy(hg_ring *ring);
HG_API hg_status hg_ring_write(hg_ring *ring, const void *data, uint64_t length) HG_NODISCARD;
/** offset counts from the oldest byte kept; beyond the end is HG_ERROR_INVALID_ARGUMENT. */
HG_API hg_status hg_ring_read(const hg_ring *ring, uint64_t offset, void *data,
                              uint64_t length) HG_NODISCARD;
HG_API uint64_t hg_ring_len(const hg_ring *ring);
HG_API uint64_t hg_ring_capacity(const hg_ring *ring);

/** One device of one backend, as `hologram devices` lists it. */
typedef struct hg_device_info {
    size_t size; /**< sizeof(hg_device_info) of the caller; the library sets it */
    char backend[16], name[128];
    uint32_t device; /**< index in the backend */
    bool available;
    char reason[256]; /**< why not, and what to install */
    bool exact;    /**< bits equal to the reference; else bounded. Only of an open device is it more
                      than the driver's promise */
    bool software; /**< a GPU interface on the host's CPU (PoCL, lavapipe, SwiftShader): used only
                      when asked for */
    uint64_t memory_bytes; /**< 0: unknown */
    uint32_t compute_units, max_block_lanes;
    uint64_t max_shared_bytes;
    uint64_t max_buffer_bytes; /**< largest buffer; 0: unknown */
    char capabilities[256];    /**< words: "i64 f64 fma …" */
    char driver[128];          /**< whose driver, and its version; may be "" */
    uint32_t platform;   /**< of the backend's platforms (OpenCL), from 0; 0 where it has none */
    uint8_t reserved[4]; /**< never used */
} hg_device_info;
/**
 * All backends of this build, each with its devices or one entry with the reason.
 * @param devices   an array of capacity entries of size bytes each; need not be filled; NULL with
 * capacity 0
 * @param size      sizeof(hg_device_info) in the caller's header
 * @param count     receives the number, also beyond capacity
 * @return HG_OK, HG_ERROR_INVALID_ARGUMENT (no version has that size), HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_devices_list(hg_device_info *devices, size_t size, size_t capacity,
                                 size_t *count) HG_NODISCARD;
/** The device of a backend, as the numeric probe found it when it was opened, in a structure of
 * size bytes that need not be filled. */
HG_API hg_status hg_backend_describe(const hg_backend *backend, hg_device_info *device,
                                     size_t size) HG_NODISCARD;

/** hg_devices_list with the size of this header. */
static inline HG_NODISCARD hg_status hg_devices(hg_device_info *devices, size_t capacity,
                                                size_t *count) {
    return hg_devices_list(devices, sizeof(hg_device_info), capacity, count);
}
/** hg_backend_describe with the size of this header. */
static inline HG_NODISCARD hg_status hg_backend_device(const hg_backend *backend,
                                                       hg_device_info *device) {
    return hg_backend_describe(backend, device, sizeof(hg_device_info));
}

#ifdef __cplusplus
}
#endif
#endif

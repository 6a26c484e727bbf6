/* Configuration: defaults, environment, programmatic. */
#ifndef HOLOGRAM_CONFIG_H
#define HOLOGRAM_CONFIG_H

#include <hologram/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of a backend. hg_config_default or hg_config_from_env fills it; then fields may be
 * changed. Up to `backend` it must be there. */
typedef struct hg_config {
    size_t size;          /**< sizeof(hg_config) */
    char backend[16];     /**< "auto", "cpu", "opencl", "vulkan", "null", …; "opencl/1": only its
                             platform 1 */
    uint32_t device_id;   /**< device of the backend; with "auto" 0 is its first that is no software
                             device */
    uint32_t num_threads; /**< 0: all CPUs */
    uint64_t timeout_ms;  /**< 0: none */
    uint64_t max_buffer_size; /**< bytes; 0: no limit */
    uint32_t cache_programs;  /**< entries of the program cache */
    char cpu_level[16];       /**< "", "baseline", "v3", "v4" */
    char pretend[64]; /**< words, comma separated, of what devices shall pretend not to have: "",
                         "poor", "descriptors,staging", … */
    const char *cache_dir; /**< compiled kernels are kept here between processes; "auto":
                              $XDG_CACHE_HOME/hologram, else $HOME/.cache/hologram; "off", "" or
                              NULL: not kept. Borrowed until the backend is made */
    uint64_t cache_bytes;  /**< largest size of that directory; 0: nothing is kept */
    bool check_races;
    bool profiling;           /**< record where time goes: hg_backend_write_profile */
    const char *profile_file; /**< records, and writes the profile here at the end; NULL: nowhere.
                                 Borrowed until the backend is made */
    bool verify; /**< check the rules of kernel IR after every pass of the compiler; slower */
    uint8_t reserved[7]; /**< never used */
    uint64_t max_memory; /**< bytes of all buffers, pools and scratch of the backend together;
                            UINT64_MAX: no limit. 0: three quarters of the memory that this process
                            may have (of the machine, of its control groups), of devices with memory
                            of their own seven eighths of what they report. Imported memory does not
                            count */
    uint64_t compile_timeout_ms; /**< what a compiler may take for a kernel. The driver's of a
                                    device: then launches of it fail (F13), and all of the backend
                                    until it is over. On the CPU: then the kernel stays on the
                                    interpreter (hg_backend_listen). 0: as long as it likes */
    char jit[8]; /**< native code of kernels on the CPU: "auto" or "": of hot kernels, made in the
                    background; "on": of every kernel, made before its first launch; "off": none */
    char vendor[8]; /**< whole-array steps through a vendor's library (on the CPU oneDNN, on CUDA
                     cuBLASLt): "auto" or "": where it was measured faster; "on": wherever it can do
                     them; "off": none */
    bool deterministic;   /**< instructions with bounded numbers are their reference expansions: the
                             same bits on every exact device */
    uint8_t reserved2[7]; /**< never used */
} hg_config;

/**
 * Fills a configuration with the defaults and sets its size.
 * @param size  sizeof(hg_config) in the caller's header
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: no version has that size
 */
HG_API hg_status hg_config_init(hg_config *config, size_t size) HG_NODISCARD;
/** Over a filled configuration: reads HOLOGRAM_BACKEND, HOLOGRAM_DEVICE_ID, HOLOGRAM_NUM_THREADS,
 * HOLOGRAM_TIMEOUT_MS, HOLOGRAM_COMPILE_TIMEOUT_MS, HOLOGRAM_MAX_BUFFER_SIZE, HOLOGRAM_MAX_MEMORY,
 * HOLOGRAM_CPU_LEVEL, HOLOGRAM_JIT, HOLOGRAM_VENDOR, HOLOGRAM_DETERMINISTIC, HOLOGRAM_PRETEND,
 * HOLOGRAM_CACHE_DIR, HOLOGRAM_CACHE_BYTES, HOLOGRAM_ENABLE_PROFILING (or HOLOGRAM_PROFILING),
 * HOLOGRAM_PROFILE_FILE, HOLOGRAM_VERIFY. Set to nothing is unset. A
 * malformed value is HG_ERROR_INVALID_ARGUMENT `Environment variable error: …` and changes nothing.
 * In a program that has more rights than who started it (setuid) all are unset. */
HG_API hg_status hg_config_read_env(hg_config *config) HG_NODISCARD;

/** The defaults. */
static inline hg_config hg_config_default(void) {
    hg_config config;
    hg_status status = hg_config_init(&config, sizeof config); /* cannot fail */
    (void)status;
    return config;
}
/** The defaults, and over them the environment. config need not be filled. */
static inline HG_NODISCARD hg_status hg_config_from_env(hg_config *config) {
    hg_status status = hg_config_init(config, sizeof *config);
    return status == HG_OK ? hg_config_read_env(config) : status;
}

/** Value of a variable of env.def for this process, as set or its default; NULL for an unknown
 * name. For `hologram devices`. */
HG_API const char *hg_config_env(const char *name);

#ifdef __cplusplus
}
#endif
#endif

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
    bool pooling;         /**< an executor keeps freed buffers for later */
    uint8_t reserved2[2]; /**< never used */
    uint32_t pool_buffers;  /**< so many of them at most */
    uint64_t pool_bytes;    /**< and so many bytes */
    uint64_t cache_size_mb; /**< MiB of what is kept in case it is needed again; 0: not given. Else
                               half of it stands for cache_bytes, half for pool_bytes */
    uint32_t grid[3];       /**< of launches of an executor that say nothing; 0: the program's */
    uint32_t block[3];      /**< lanes of their blocks; 0: the program's */
    char log_level[8];      /**< of an executor: "error", "warn", "info", "debug", "trace" */
    const char *log_file;   /**< gets its log, at its end; NULL: no log. Borrowed until the executor
                               is made */
} hg_config;

/**
 * Fills a configuration with the defaults and sets its size.
 * @param size  sizeof(hg_config) in the caller's header
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: no version has that size
 */
HG_API hg_status hg_config_init(hg_config *config, size_t size) HG_NODISCARD;
/** Over a filled configuration: what the environment sets (`hologram config` lists the variables);
 * HOLOGRAM_PROFILE, a profile (dev, prod, test), below the others. Set to nothing is unset. A
 * malformed value is HG_ERROR_INVALID_ARGUMENT `Environment variable error: …` and changes nothing.
 * In a program that has more rights than who started it (setuid) all are unset. */
HG_API hg_status hg_config_read_env(hg_config *config) HG_NODISCARD;
/**
 * Over a filled configuration: a profile, a configuration file (TOML), `.env` of the current
 * folder, the environment; each wins over those before it. docs/guide/configuration.md has the
 * keys.
 *
 * @param path  of the file, which must be there. NULL: `hologram.toml` of the current folder, else
 *              `$XDG_CONFIG_HOME/hologram/config.toml` or `~/.config/hologram/config.toml`, else
 * none
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (`Failed to load config file: …`, `Failed to parse TOML:
 *         …`, `Invalid backend type: …`, `GPU backends require device_id`, `Configuration error:
 * …`, each with file, line and column; `Environment variable error: …`): nothing is changed. Texts
 * that the configuration points to stay for the life of the process. No file is read in a program
 * with more rights than who started it. Thread-safe.
 */
HG_API hg_status hg_config_read_files(const char *path, hg_config *config) HG_NODISCARD;

/** One setting and where its value came from. */
typedef struct hg_config_item {
    const char *variable; /**< "HOLOGRAM_TIMEOUT_MS" */
    const char *key;      /**< of a configuration file, "execution.timeout_ms"; "": none */
    const char *value;    /**< as text */
    const char *origin; /**< "default", "profile dev", "hologram.toml:3", ".env:2", "environment" */
    const char *what;   /**< what it does, a line */
} hg_config_item;
typedef void hg_config_listener(void *user, const hg_config_item *item);
/** Calls `each` for every setting as hg_config_read_files over the defaults leaves it, in the order
 * of the reference. The texts are valid during the call only. Errors as there. */
HG_API hg_status hg_config_list(const char *path, hg_config_listener *each,
                                void *user) HG_NODISCARD;

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

/** The defaults, and over them a profile, a file, `.env` and the environment
 * (hg_config_read_files). config need not be filled. */
static inline HG_NODISCARD hg_status hg_config_load(const char *path, hg_config *config) {
    hg_status status = hg_config_init(config, sizeof *config);
    return status == HG_OK ? hg_config_read_files(path, config) : status;
}

/** Value of a variable of env.def for this process, as set or its default; NULL for an unknown
 * name. For `hologram devices`. */
HG_API const char *hg_config_env(const char *name);

#ifdef __cplusplus
}
#endif
#endif

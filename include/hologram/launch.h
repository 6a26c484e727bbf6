/* How many lanes run, and with which values. */
#ifndef HOLOGRAM_LAUNCH_H
#define HOLOGRAM_LAUNCH_H

#include <hologram/status.h>
#include <hologram/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer of a backend: bytes of device memory. value 0 is class memory, 2^64-96+c is class c. */
typedef struct hg_buffer {
    uint64_t handle;
} hg_buffer;
/** A linear pool of a backend. Distinct from hg_buffer on purpose. */
typedef struct hg_pool {
    uint64_t handle;
} hg_pool;

/** Grid and block in blocks and lanes. Fill through HG_LAUNCH_INIT or the helpers below. Up to `block` it must be there; see
 * docs/reference/stability.md for structures that begin with their size. */
typedef struct hg_launch {
    size_t size;            /**< sizeof(hg_launch) */
    uint32_t grid[3];       /**< blocks; a zero dimension is zero lanes and succeeds */
    uint32_t block[3];      /**< lanes of a block */
    uint64_t shared_memory; /**< bytes a block; the larger of this and the program's .shared is used */
    uint64_t lanes;         /**< exact number of lanes that start; 0: all of grid times block */
    uint64_t timeout_ms;    /**< 0: the configuration's (HOLOGRAM_TIMEOUT_MS, else 30,000); UINT64_MAX: none */
    uint64_t max_steps;     /**< most backward branches, calls and loop steps of a lane; 0: no limit */
} hg_launch;

/** One lane: grid (1,1,1), block (1,1,1). */
#define HG_LAUNCH_INIT \
    { sizeof(hg_launch), {1, 1, 1}, {1, 1, 1}, 0, 0, 0, 0 }

/** Exactly total lanes in blocks of min(max(total, 1), 256): sets grid, block and lanes. More than 2^40 - 1 is refused when it is launched. */
HG_API void hg_launch_set_linear(hg_launch *launch, uint64_t total);
/** Blocks of 16 × 16 that cover width × height; surplus lanes start. Sets grid, block and lanes. */
HG_API void hg_launch_set_grid_2d(hg_launch *launch, uint32_t width, uint32_t height);

/** One lane. */
static inline hg_launch hg_launch_default(void) {
    hg_launch launch = HG_LAUNCH_INIT;
    return launch;
}
/** hg_launch_set_linear of one lane's launch. */
static inline hg_launch hg_launch_linear(uint64_t total) {
    hg_launch launch = HG_LAUNCH_INIT;
    hg_launch_set_linear(&launch, total);
    return launch;
}
/** hg_launch_set_grid_2d of one lane's launch. */
static inline hg_launch hg_launch_grid_2d(uint32_t width, uint32_t height) {
    hg_launch launch = HG_LAUNCH_INIT;
    hg_launch_set_grid_2d(&launch, width, height);
    return launch;
}
/** Lanes that start. Saturates at UINT64_MAX. */
HG_API uint64_t hg_launch_total_threads(const hg_launch *launch);

/** Values for a program's parameters, by name, or raw registers for a program without .param lines. Not thread-safe. */
typedef struct hg_params hg_params;
/** An empty set; NULL when out of memory. */
HG_API hg_params *hg_params_create(void);
HG_API void hg_params_destroy(hg_params *params);
/** Forgets all values, keeps the memory. */
HG_API void hg_params_clear(hg_params *params);
/** Names are copied. Setting a name again replaces its value. Unknown names are reported at the launch (P01). */
HG_API hg_status hg_params_set_buffer(hg_params *params, const char *name, hg_buffer buffer) HG_NODISCARD;
HG_API hg_status hg_params_set_pool(hg_params *params, const char *name, hg_pool pool) HG_NODISCARD;
/** value points to size(type) bytes in the host's (little-endian) form; type must be the parameter's. */
HG_API hg_status hg_params_set_scalar(hg_params *params, const char *name, hg_type type, const void *value) HG_NODISCARD;
/** Initial value of a register, for programs without .param lines; in all programs to overwrite the specials r252 … r255. */
HG_API hg_status hg_params_set_register(hg_params *params, uint8_t reg, hg_type type, const void *value) HG_NODISCARD;
/** The same with type u64. */
HG_API hg_status hg_params_set_register_u64(hg_params *params, uint8_t reg, uint64_t value) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

/* How many lanes run, and with which values. */
#ifndef HOLOGRAM_LAUNCH_H
#define HOLOGRAM_LAUNCH_H

#include <hologram/status.h>
#include <hologram/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer of a backend: bytes of device memory; for every other backend HG_ERROR_INVALID_BUFFER.
 * 0 is class memory, 2^64-96+c is class c. The first ones of a backend are 1, 2, 3 for its
 * programs, and in `handle` too unless another backend was there first. */
typedef struct hg_buffer {
    uint64_t handle;
} hg_buffer;
/** A linear pool of a backend. Distinct from hg_buffer on purpose. */
typedef struct hg_pool {
    uint64_t handle;
} hg_pool;

/** Who says how many lanes a launch has. */
typedef enum hg_launch_extents {
    HG_EXTENTS_GIVEN = 0,  /**< the launch: its grid, block and lanes */
    HG_EXTENTS_PROGRAM = 1 /**< the program: its .lanes, .grid and .block, else one lane. grid,
                              block and lanes must be 0 */
} hg_launch_extents;

/** How a program is launched. Fill it through HG_LAUNCH_PROGRAM, HG_LAUNCH_INIT or the helpers
 * below, then set what is wanted. Up to `block` it must be there; see docs/reference/stability.md
 * for structures that begin with their size. */
typedef struct hg_launch {
    size_t size;            /**< sizeof(hg_launch) */
    uint32_t grid[3];       /**< blocks; a zero dimension is zero lanes and succeeds */
    uint32_t block[3];      /**< lanes of a block */
    uint64_t shared_memory; /**< bytes a block; the larger of this and the program's .shared is used
                             */
    uint64_t lanes;         /**< exact number of lanes that start; 0: all of grid times block */
    uint64_t timeout_ms; /**< 0: the configuration's (HOLOGRAM_TIMEOUT_MS, else 30,000); UINT64_MAX:
                            none */
    uint64_t max_steps;  /**< most backward branches, calls and loop steps of a lane; 0: no limit */
    uint64_t extents;    /**< hg_launch_extents; behind max_steps since 0.2 */
} hg_launch;

/** The lanes and blocks that the program has, as a launch of NULL: what to start from for a
 * time-out, a limit of steps or shared memory. */
#define HG_LAUNCH_PROGRAM \
    { sizeof(hg_launch), {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0, HG_EXTENTS_PROGRAM }
/** One lane, whatever the program says: grid (1,1,1), block (1,1,1). For the program's own lanes
 * start from HG_LAUNCH_PROGRAM. */
#define HG_LAUNCH_INIT \
    { sizeof(hg_launch), {1, 1, 1}, {1, 1, 1}, 0, 0, 0, 0, HG_EXTENTS_GIVEN }

/** Exactly total lanes in blocks of min(max(total, 1), 256): sets grid, block, lanes and, where its
 * size has them, extents. More than 2^40 - 1 is refused when it is launched. */
HG_API void hg_launch_set_linear(hg_launch *launch, uint64_t total);
/** Blocks of 16 × 16 that cover width × height; surplus lanes start. Sets what hg_launch_set_linear
 * sets. */
HG_API void hg_launch_set_grid_2d(hg_launch *launch, uint32_t width, uint32_t height);

/** HG_LAUNCH_INIT: one lane. */
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
/** Lanes that start. Saturates at UINT64_MAX. 0 where the program says how many. */
HG_API uint64_t hg_launch_total_threads(const hg_launch *launch);

/** Values for a program's parameters, by name, or raw registers for a program without .param lines.
 * Not thread-safe. */
typedef struct hg_params hg_params;
/** An empty set; NULL when out of memory. */
HG_API hg_params *hg_params_create(void);
HG_API void hg_params_destroy(hg_params *params);
/** Forgets all values, keeps the memory. */
HG_API void hg_params_clear(hg_params *params);
/** Names are copied. Setting a name again replaces its value. Unknown names are reported at the
 * launch (P01). */
HG_API hg_status hg_params_set_buffer(hg_params *params, const char *name,
                                      hg_buffer buffer) HG_NODISCARD;
HG_API hg_status hg_params_set_pool(hg_params *params, const char *name, hg_pool pool) HG_NODISCARD;
/** value points to size(type) bytes in the host's (little-endian) form; type must be the
 * parameter's. */
HG_API hg_status hg_params_set_scalar(hg_params *params, const char *name, hg_type type,
                                      const void *value) HG_NODISCARD;
/** Initial value of a register, for programs without .param lines; in all programs to overwrite the
 * specials r252 … r255. */
HG_API hg_status hg_params_set_register(hg_params *params, uint8_t reg, hg_type type,
                                        const void *value) HG_NODISCARD;
/** The same with type u64. */
HG_API hg_status hg_params_set_register_u64(hg_params *params, uint8_t reg,
                                            uint64_t value) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

/* Several devices of this machine, or several machines, on one program. The program is taken as the
 * array graph that it is (hg_graph_from_program), and its arrays are cut, moved and gathered: the
 * results have the bits of one device. */
#ifndef HOLOGRAM_DEVICES_H
#define HOLOGRAM_DEVICES_H

#include <hologram/comm.h>
#include <hologram/graph.h>
#include <hologram/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Devices that work together. Calls are not thread-safe. */
typedef struct hg_multi_gpu hg_multi_gpu;

/** How devices share a program; with one device it makes no difference. */
typedef enum hg_distribution {
    HG_DISTRIBUTION_DATA_PARALLEL,  /**< each has a part of the batch: hg_multi_gpu_data_parallel */
    HG_DISTRIBUTION_MODEL_PARALLEL, /**< each has some of the instructions, one after another */
    HG_DISTRIBUTION_PIPELINE_PARALLEL, /**< the same, with parts of the batch on their way */
    HG_DISTRIBUTION_HYBRID             /**< as the placements say, and nothing else */
} hg_distribution;

/**
 * Opens devices of a backend.
 * @param backend  "cpu", "cuda", …: as hg_config.backend; or "cpu+opencl", one for each device,
 * which are opened so that their results have the same bits (hg_config.deterministic)
 * @param devices  their numbers, at most 256; one may come more than once
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE "Backend not available: …" for one that is not there;
 * HG_ERROR_INVALID_ARGUMENT (NULL, none, too many); HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_multi_gpu_create(const char *backend, const uint32_t *devices, size_t count,
                                     hg_multi_gpu **devices_out) HG_NODISCARD;
/** NULL is allowed. */
HG_API void hg_multi_gpu_destroy(hg_multi_gpu *devices);
/** How many; 0 of NULL. */
HG_API uint32_t hg_multi_gpu_count(const hg_multi_gpu *devices);
/** The backend of a device, from 0; NULL where there is none. Buffers of params are those of the
 * first one: parts of inputs go from there to the others, and outputs come back. */
HG_API hg_backend *hg_multi_gpu_backend(const hg_multi_gpu *devices, uint32_t device);
/** How much of a batch each device gets where no placement says it: in proportion to the numbers,
 * one for each device, at least 0 and finite, not all 0. At first all have as much.
 * HG_ERROR_INVALID_ARGUMENT says which number is wrong. */
HG_API hg_status hg_multi_gpu_weights(hg_multi_gpu *devices, const double *weights,
                                      size_t count) HG_NODISCARD;

/**
 * Runs a program on all devices and waits. Its arrays say their extents, its lanes stand in it
 * (.lanes, .grid).
 * @param launch  NULL, or hg_launch_default(): the program says its lanes
 * @param params  buffers of the first device, and scalars
 * @param strategy  data and model parallel with as many parts as there are devices, pipeline with
 * as many stages
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: what a graph cannot say of the program, a parameter
 * that is missing, a placement that cannot be; HG_ERROR_ISA: a parameter that is unknown or of
 * another type, as a launch says it; errors of launches on any device
 */
HG_API hg_status hg_multi_gpu_execute(hg_multi_gpu *devices, hg_program *program,
                                      const hg_launch *launch, const hg_params *params,
                                      const hg_placement *placements, size_t placement_count,
                                      hg_distribution strategy) HG_NODISCARD;
/**
 * Each device has a part of the batch. The batch is the first extent of the first input; every
 * input with the same first extent is cut there unless a placement says otherwise.
 * @param batch_size  how much of the batch a device has at most; 0: as the weights say. So many on
 * each device must be the whole batch: else HG_ERROR_INVALID_ARGUMENT with the numbers
 */
HG_API hg_status hg_multi_gpu_data_parallel(hg_multi_gpu *devices, hg_program *program,
                                            const hg_launch *launch, const hg_params *params,
                                            const hg_placement *placements, size_t placement_count,
                                            uint64_t batch_size) HG_NODISCARD;
/**
 * The program is cut at instructions: the first device does those before points[0], the second
 * those before points[1], …
 * @param points  numbers of instructions from 0, ascending, each with one before and behind it; at
 * most one less than devices. Else HG_ERROR_INVALID_ARGUMENT with the numbers
 */
HG_API hg_status hg_multi_gpu_model_parallel(hg_multi_gpu *devices, hg_program *program,
                                             const hg_launch *launch, const hg_params *params,
                                             const size_t *points, size_t count) HG_NODISCARD;
/**
 * The program is cut into stages, one a device, with as many calls each. Where the batch can be cut
 * without any exchange, parts of it follow each other through the stages.
 * @param stages  from 1 to the number of devices: else HG_ERROR_INVALID_ARGUMENT with the numbers
 */
HG_API hg_status hg_multi_gpu_pipeline_parallel(hg_multi_gpu *devices, hg_program *program,
                                                const hg_launch *launch, const hg_params *params,
                                                size_t stages) HG_NODISCARD;

/**
 * One launch whose lanes the devices share, which need not be alike: each has a run of them, as
 * long as it is quick. How quick is measured by each launch; the first one begins with the weights.
 * A device that is much slower than others has none where that is quicker.
 * The arrays are those of the first device: others have copies, from which what their
 * lanes write returns. The results have the bits of one device.
 * @param launch  as of hg_backend_execute_program_with_params; how lanes are in blocks is of no
 * meaning
 * @param lanes  NULL, or room for as many as there are devices: how many lanes each had
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: a program of which it is not proven that each lane
 * writes its own elements alone (the message names the instruction), arrays that share memory;
 * errors of launches on any device: of several faults that of the first lane
 */
HG_API hg_status hg_multi_gpu_lanes(hg_multi_gpu *devices, hg_program *program,
                                    const hg_launch *launch, const hg_params *params,
                                    uint64_t *lanes) HG_NODISCARD;

/** Processes that work together, each with a backend: a rank each. */
typedef struct hg_distributed hg_distributed;

typedef enum hg_cluster_strategy {
    HG_CLUSTER_REPLICATED, /**< every rank does all of it */
    HG_CLUSTER_SHARDED,    /**< each has a part of the batch, as in hg_multi_gpu_data_parallel */
    HG_CLUSTER_HYBRID      /**< as the placements say */
} hg_cluster_strategy;

/**
 * This process among those that a launcher has started.
 * @param addresses  one for each rank in rank order, for messages: inside a launcher as many as
 * there are ranks; without one, a single one
 * @param backend  NULL: "auto"
 * @return HG_OK; HG_ERROR_BACKEND_UNAVAILABLE: "Backend not available: ADDRESS", the first one that
 * no rank is for; HG_ERROR_INVALID_ARGUMENT: NULL, none, or fewer than ranks, with the numbers
 */
HG_API hg_status hg_distributed_create(const char *const *addresses, size_t count,
                                       const char *backend,
                                       hg_distributed **distributed) HG_NODISCARD;
/** NULL is allowed. */
HG_API void hg_distributed_destroy(hg_distributed *distributed);
/** The rank's backend and communicator; NULL of NULL. */
HG_API hg_backend *hg_distributed_backend(const hg_distributed *distributed);
HG_API hg_comm *hg_distributed_comm(const hg_distributed *distributed);
/** Every rank calls it with the same program, whole arrays of equal elements and the same
 * placements, and has whole outputs afterwards. Errors as hg_multi_gpu_execute, and of hg_comm_run:
 * where one rank fails all do, with its error behind "rank R: ", and may go on.
 */
HG_API hg_status hg_distributed_execute_cluster(hg_distributed *distributed, hg_program *program,
                                                const hg_launch *launch, const hg_params *params,
                                                const hg_placement *placements,
                                                size_t placement_count,
                                                hg_cluster_strategy strategy) HG_NODISCARD;
/** Of `count` elements of a buffer of each rank, combined, in their place. Errors as hg_comm_run.
 */
HG_API hg_status hg_distributed_all_reduce(hg_distributed *distributed, hg_buffer buffer,
                                           hg_type type, uint64_t count,
                                           hg_comm_operation operation) HG_NODISCARD;
/** global = `bytes` of local of each rank, in rank order. */
HG_API hg_status hg_distributed_all_gather(hg_distributed *distributed, hg_buffer local,
                                           uint64_t bytes, hg_buffer global) HG_NODISCARD;
/** `bytes` of the buffer of rank `root`, in those of all. */
HG_API hg_status hg_distributed_broadcast(hg_distributed *distributed, hg_buffer buffer,
                                          uint64_t bytes, uint32_t root) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

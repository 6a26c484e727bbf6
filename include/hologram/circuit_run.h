/* Circuits over arrays: classes are filled from arrays, the circuit runs, classes are fetched into
 * arrays. Arrays longer than a class (3,072 elements of f32) go through class memory piece by
 * piece. */
#ifndef HOLOGRAM_CIRCUIT_RUN_H
#define HOLOGRAM_CIRCUIT_RUN_H

#include <hologram/backend.h>
#include <hologram/circuit.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a class holds before and after a run, in elements of the circuit's type: of another one
 * than f32 cast the pointers. Zero-initialise: what is not set is not there. */
typedef struct hg_class_array {
    uint8_t cls;             /**< 0 … 95; each class at most once */
    const float *input;      /**< host memory; without an input the class is zeros */
    uint64_t input_count;    /**< elements of the input; those that the run has beyond are zeros */
    float *output;           /**< host memory; without an output the class is not fetched */
    uint64_t output_count;   /**< room for elements; as many as the run has are written */
    hg_buffer input_buffer;  /**< a buffer of the backend in place of input; handle 0: none */
    hg_buffer output_buffer; /**< a buffer of the backend in place of output; handle 0: none */
} hg_class_array;

/** How many elements run. */
typedef struct hg_circuit_launch {
    size_t size;         /**< sizeof(hg_circuit_launch) */
    uint64_t elements;   /**< of every class, and lanes in all; 0: those of the longest input */
    uint64_t timeout_ms; /**< of each piece: 0: the configuration's; UINT64_MAX: none */
} hg_circuit_launch;
#define HG_CIRCUIT_LAUNCH_INIT \
    { sizeof(hg_circuit_launch), 0, 0 }

/**
 * Runs a translated circuit over arrays and returns when it is done. Every piece of a class's size
 * runs by itself in class memory of the run's own: the class memory of the backend's contexts is
 * not touched, and nothing goes from piece to piece. Pieces run on several threads where that
 * helps.
 *
 * @param launch  NULL: as many elements as the longest input has
 * @param arrays  an output may be an input, also of another class, from the same first element on;
 * else arrays must not overlap
 * @return HG_OK; HG_ERROR_ISA with a code: P01 (a class that the circuit does not name), P04 (an
 * array does not fit the run, a class twice), P07 (no input and no launch->elements), P08 (the
 * circuit reduces over a class or takes its softmax, and there are more elements than a class has:
 * results of pieces would not be results of the array); otherwise as hg_binding_launch. After an
 *         error the contents of outputs are unspecified.
 * Thread-safe.
 */
HG_API hg_status hg_circuit_run(hg_backend *backend, const hg_translated_program *circuit,
                                const hg_circuit_launch *launch, const hg_class_array *arrays,
                                size_t count) HG_NODISCARD;

/**
 * The same on a queue, for hosts that must not wait: appends the copies and launches of all pieces
 * and returns. They run one behind the other in class memory of the queue's context, which holds
 * nothing that can be relied on afterwards.
 *
 * @param circuit  not looked at after the call
 * @param arrays   the descriptions are copied; host memory that they name must stay until the event
 * is done
 * @param waits    events that must be done before it begins; may be NULL with wait_count 0
 * @param signal   receives a new event that the caller destroys; may be NULL. It carries the first
 * error, and what comes behind it is skipped
 * @return HG_OK; errors of hg_circuit_run that can be known before, with nothing appended;
 * HG_ERROR_OUT_OF_MEMORY: what was appended before runs to its end. A piece takes a command for
 * each array and one launch: some 150 bytes each until they are done
 * Thread-safe.
 */
HG_API hg_status hg_circuit_submit(hg_queue *queue, const hg_translated_program *circuit,
                                   const hg_circuit_launch *launch, const hg_class_array *arrays,
                                   size_t count, hg_event *const *waits, size_t wait_count,
                                   hg_event **signal) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

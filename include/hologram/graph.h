/* Array graphs: several array operations known together. Values have a type and a shape, whose
 * extents may be symbols; calls are whole-array instructions and programs. A graph is built once,
 * compiled once for a backend, bound to buffers and launched like a program. */
#ifndef HOLOGRAM_GRAPH_H
#define HOLOGRAM_GRAPH_H

#include <hologram/backend.h>
#include <hologram/dim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph. Reference counted; calls that add to it are not thread-safe. */
typedef struct hg_graph hg_graph;
/** A value of a graph. */
typedef struct hg_value {
    uint32_t number;
} hg_value;

/** An empty graph; NULL when out of memory. name: NULL for "graph"; copied, with _ for characters
 * that no name has. */
HG_API hg_graph *hg_graph_create(const char *name);
/** One more owner. Thread-safe. Returns graph. */
HG_API hg_graph *hg_graph_retain(hg_graph *graph);
/** One owner less; the last frees it. NULL is allowed. Thread-safe. */
HG_API void hg_graph_release(hg_graph *graph);

/** A symbol that extents may name, as in "batch * 128": whoever binds the graph says what it is. */
HG_API hg_status hg_graph_extent(hg_graph *graph, const char *name) HG_NODISCARD;
/**
 * An input: whoever binds the graph gives a buffer of that name.
 * @param dims  rank extents: numbers, symbols or expressions over both (hg_dim_of,
 * hg_dim_expression)
 * @return HG_OK and the value; HG_ERROR_INVALID_ARGUMENT with what is wrong with name, type or an
 * extent; HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_graph_input(hg_graph *graph, const char *name, hg_type type, const hg_dim *dims,
                                uint32_t rank, hg_value *value) HG_NODISCARD;
/**
 * A constant. Its elements, in C order and little-endian, are borrowed until the graph is gone;
 * NULL: whoever binds the graph gives a buffer of that name.
 * @return as hg_graph_input
 */
HG_API hg_status hg_graph_constant(hg_graph *graph, const char *name, hg_type type,
                                   const hg_dim *dims, uint32_t rank, const void *elements,
                                   hg_value *value) HG_NODISCARD;
/** Elements of another value from the `offset`-th on, which lie one after another, in another
 * shape. Nothing is copied. name may be NULL. HG_ERROR_INVALID_ARGUMENT: a wrong shape, or `of` is
 * a view whose elements do not lie one after another. */
HG_API hg_status hg_graph_view(hg_graph *graph, const char *name, hg_value of, hg_dim offset,
                               const hg_dim *dims, uint32_t rank, hg_value *view) HG_NODISCARD;

/**
 * The same with strides: element (i, j, …) is the one i * strides[0] + j * strides[1] + … behind
 * the `offset`-th. Strides, and the offset where `of` has strides itself, count elements in memory.
 * Nothing is copied: maps read it as it is, a product that reads a matrix the other way round takes
 * it as its flag; for other calls it is copied on the way.
 */
HG_API hg_status hg_graph_strided_view(hg_graph *graph, const char *name, hg_value of,
                                       hg_dim offset, const hg_dim *dims, const hg_dim *strides,
                                       uint32_t rank, hg_value *view) HG_NODISCARD;
/** A view with the axes of `of` in another order: axis d of it is axis order[d] of `of`. count: the
 * rank of `of`. */
HG_API hg_status hg_graph_permuted(hg_graph *graph, const char *name, hg_value of,
                                   const uint32_t *order, uint32_t count,
                                   hg_value *view) HG_NODISCARD;
/** A view of the shape dims in which extents of 1, and axes that `of` does not have in front, are
 * repeated. */
HG_API hg_status hg_graph_broadcast(hg_graph *graph, const char *name, hg_value of,
                                    const hg_dim *dims, uint32_t rank, hg_value *view) HG_NODISCARD;

typedef enum hg_graph_arg_kind {
    HG_GRAPH_ARRAY,  /**< value */
    HG_GRAPH_SIZE,   /**< dims[0] */
    HG_GRAPH_NUMBER, /**< text: a literal as programs write it, "0.125" */
    HG_GRAPH_WORD,   /**< text: the name of an operation, "gelu" */
    HG_GRAPH_FLAG,   /**< flag */
    HG_GRAPH_TUPLE   /**< count of dims; of a tuple of tuples each begins with its length: ((1, 0),
                        (2, 1)) is 2, 1, 0, 2, 2, 1 */
} hg_graph_arg_kind;
/** A named operand of a call. Pointers are borrowed for the call. */
typedef struct hg_graph_arg {
    const char *name; /**< of the instruction's operand, or of the program's parameter */
    hg_graph_arg_kind kind;
    hg_value value;
    const hg_dim *dims;
    uint32_t count;
    int flag;
    const char *text;
} hg_graph_arg;
/** What a call makes. */
typedef struct hg_graph_made {
    const char *name;    /**< of the value; NULL: none */
    const char *operand; /**< of the instruction or program that it comes out of; NULL: the first
                            that is written and has no result yet */
    hg_value value;      /**< set by the call */
} hg_graph_made;
/**
 * A call of a whole-array instruction, by its text: "gemm", "gemm.f64", "layer_norm". Sizes that
 * shapes tell may be left out, and the shape of what it makes follows from them. A value never
 * changes: an operand that the instruction reads and writes (c of gemm, the cache of
 * kv_cache_update) is given with the contents that it has before, and the result is a value of its
 * own.
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: operand, type or shape that does not fit, with both
 * shapes; HG_ERROR_OUT_OF_MEMORY
 */
HG_API hg_status hg_graph_call(hg_graph *graph, const char *instruction, const hg_graph_arg *args,
                               uint32_t arg_count, hg_graph_made *made,
                               uint32_t made_count) HG_NODISCARD;
/** The same of a program, which the graph keeps: arrays and scalars by the names of its parameters;
 * what it only writes is made. Its lanes are those that it says itself (.lanes, .grid). */
HG_API hg_status hg_graph_call_program(hg_graph *graph, hg_program *program,
                                       const hg_graph_arg *args, uint32_t arg_count,
                                       hg_graph_made *made, uint32_t made_count) HG_NODISCARD;
/** An output: whoever binds the graph gives a buffer of that name. name NULL: the value's own. */
HG_API hg_status hg_graph_output(hg_graph *graph, hg_value value, const char *name) HG_NODISCARD;
/** The value of that name; HG_ERROR_INVALID_ARGUMENT: there is none. */
HG_API hg_status hg_graph_find(const hg_graph *graph, const char *name,
                               hg_value *value) HG_NODISCARD;

/** How a text is read. Zero it, set size, then what is wanted. */
typedef struct hg_graph_read_options {
    size_t size;
    /** The program that `.program NAME "FILE"` names, which the graph keeps. NULL: such lines are
     * errors. */
    hg_status (*program)(void *user, const char *file, hg_diagnostics *diagnostics,
                         hg_program **program);
    void *user;
} hg_graph_read_options;
/**
 * Reads a .graph text (docs/reference/graph.md). The text need not end in NUL and is not kept.
 * @return HG_OK and a graph that the caller releases; HG_ERROR_ISA with the first error, all of
 * them in diagnostics (may be NULL)
 * Thread-safe.
 */
HG_API hg_status hg_graph_read_text(const char *text, size_t length,
                                    const hg_graph_read_options *options,
                                    hg_diagnostics *diagnostics, hg_graph **graph) HG_NODISCARD;
/** Statements of such a text, added to a graph: "q = gemm a=x, b=wq, bias=bq". Those before the
 * first error are added. */
HG_API hg_status hg_graph_add_text(hg_graph *graph, const char *text, size_t length,
                                   const hg_graph_read_options *options,
                                   hg_diagnostics *diagnostics) HG_NODISCARD;
/**
 * A graph of what a program does, where its whole-array instructions are done once each: these are
 * its calls, and lanes between them programs. u32 and u64 parameters are the graph's symbols,
 * arrays its inputs and outputs under their names (of one that is read and written the output is
 * NAME_out), data its constants. Every array must say its extents. What a program leaves of an
 * `out` array is zeros in the graph's output, and arrays of a binding may not share memory.
 * @return HG_OK and a graph that the caller releases; HG_ERROR_INVALID_ARGUMENT with the line and
 * what a graph cannot say of it: an instruction in a loop or behind a branch, a count that the
 * program computes from data, pools; HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_graph_from_program(const hg_program *program, hg_graph **graph) HG_NODISCARD;
/** The graph as text, which hg_graph_read_text reads back; the caller frees it with hg_string_free.
 */
HG_API hg_status hg_graph_print(const hg_graph *graph, char **text, size_t *length) HG_NODISCARD;

/* ---- shared by ranks ---- */

/** Where an array lies: "whole", "split 0", "split 1 at (3, 5)" (docs/reference/graph.md). */
typedef struct hg_placement {
    const char *param; /**< of a graph the name of an input, a constant or a result */
    const char *place;
} hg_placement;

/** What a symbol of a graph is. */
typedef struct hg_graph_number {
    const char *symbol;
    uint64_t value;
} hg_graph_number;

/** How ranks share a graph. Zero it, set size, then what is wanted. */
typedef struct hg_graph_shard_options {
    size_t size;
    uint32_t ranks;                 /**< 1 to 4,096 */
    const hg_placement *placements; /**< over those that the graph says; borrowed for the call */
    size_t placement_count;
    const hg_graph_number *numbers; /**< of all symbols of the graph; borrowed for the call */
    size_t number_count;
    int fast; /**< sums of parts where an extent that is summed is split: other bits than one device
                 has */
    int whole_outputs; /**< each rank has every output whole */
} hg_graph_shard_options;

/** How a rank has an input, constant or output of the graph that ranks share. */
typedef enum hg_part_kind {
    HG_PART_WHOLE,  /**< all of it */
    HG_PART_SPLIT,  /**< `length` of the `extent` along `axis`, from `start` on */
    HG_PART_PARTIAL /**< an array of its shape: what it is comes of those of all ranks together */
} hg_part_kind;
typedef struct hg_graph_part {
    size_t size;      /**< sizeof(hg_graph_part); set by the caller */
    const char *name; /**< of the shared graph; lives as long as the rank's graph */
    int output;       /**< an output; else an input or constant */
    hg_type type;
    hg_part_kind kind;
    uint32_t axis;
    uint64_t outer, extent, inner; /**< of the whole array: the product of the extents in front of
                                      the axis, along it, and behind it */
    uint64_t start, length;        /**< along the axis */
} hg_graph_part;

/**
 * The graph of one rank of a graph that ranks share: with the shapes of its parts, and with
 * collectives where ranks need what others have. It is verified, and runs on a backend whose
 * context has a communicator of so many ranks (hg_context_set_comm). No device is opened, and no
 * element of an array looked at, but for constants in the graph that are cut.
 *
 * @param shard  receives a graph that the caller releases; it keeps `graph`
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: ranks, a placement that cannot be, a symbol without a
 * number, shapes that do not fit with the numbers; HG_ERROR_OUT_OF_MEMORY
 * Thread-safe.
 */
HG_API hg_status hg_graph_shard(const hg_graph *graph, const hg_graph_shard_options *options,
                                uint32_t rank, hg_graph **shard) HG_NODISCARD;
/** The index-th part of a rank's graph: inputs and constants, then outputs.
 * HG_ERROR_INVALID_ARGUMENT: there is none, which of other graphs is so at once. */
HG_API hg_status hg_graph_get_part(const hg_graph *shard, uint32_t index,
                                   hg_graph_part *part) HG_NODISCARD;
/** Whether graphs of ranks come to the same collectives in the same order;
 * HG_ERROR_INVALID_ARGUMENT names the first two that are different, or what no communicator of so
 * many ranks can do. */
HG_API hg_status hg_graph_check_shards(hg_graph *const *shards, uint32_t ranks) HG_NODISCARD;

/* ---- running ---- */

/** A graph compiled for a backend: shared, immutable, thread-safe. It keeps the graph. */
typedef struct hg_graph_executable hg_graph_executable;
/** An executable with buffers and numbers for its symbols, checked once, and a workspace of its own
 * for values between calls. */
typedef struct hg_graph_binding hg_graph_binding;

/** How a graph is compiled. Zero it, set size, then what is wanted. */
typedef struct hg_graph_options {
    size_t size;
    /** Names of the passes (hg_graph_pass_name) in the order in which they are done, with commas
     * between them; "none": each call by itself, with memory of its own for each value; NULL: all.
     * constants, inplace, join and share come last, in this order; the others in any, more than
     * once too. No choice changes a bit of any result. */
    const char *passes;
    uint64_t timeout_ms; /**< of each launch of a program: 0: the configuration's; UINT64_MAX: none
                          */
    uint64_t max_steps;  /**< of a lane of a program, as hg_launch.max_steps; 0: no limit */
} hg_graph_options;
/** Name of the i-th pass, in their order; NULL when there is none. Static. */
HG_API const char *hg_graph_pass_name(uint32_t index);
/** What it does, in a line. */
HG_API const char *hg_graph_pass_about(uint32_t index);

/**
 * Compiles a graph as it is now: what is added to it later changes nothing of the executable.
 * @param options  NULL: all passes
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT (what the graph is, or an unknown pass), errors of
 * hg_executable_create
 */
HG_API hg_status hg_graph_compile(hg_backend *backend, hg_graph *graph,
                                  const hg_graph_options *options,
                                  hg_graph_executable **executable) HG_NODISCARD;
/** NULL is allowed. Bindings keep what they need. */
HG_API void hg_graph_executable_destroy(hg_graph_executable *executable);
/**
 * Binds inputs, outputs and constants without elements to buffers by their names (a constant's
 * elements are there at the first launch and do not change while the binding lives), and symbols to
 * numbers (scalars of type u64). Other numbers compile nothing. Buffers may be larger than their
 * values. An output may not share memory with an input, a constant or another output. The workspace
 * is allocated here, zeroed once, and used again by each launch: launches of one binding wait for
 * each other; those of two bindings do not.
 * @return HG_OK; HG_ERROR_INVALID_ARGUMENT: a name that is missing or unknown, a buffer too small,
 * shapes that do not fit with these numbers: the message names the call and the shapes.
 * HG_ERROR_ALLOCATION_FAILED: no room for the workspace
 */
HG_API hg_status hg_graph_bind(hg_graph_executable *executable, const hg_params *params,
                               hg_graph_binding **binding) HG_NODISCARD;
/** What was submitted goes on to its end: the workspace and the programs go then. NULL is allowed.
 */
HG_API void hg_graph_binding_destroy(hg_graph_binding *binding);
/** Runs it in the backend's default context and waits. A fault is HG_ERROR_EXECUTION_FAILED; the
 * message names the call. Thread-safe. */
HG_API hg_status hg_graph_binding_launch(hg_graph_binding *binding) HG_NODISCARD;
/**
 * Appends it to a queue of the same backend, behind what was submitted of the binding before. The
 * binding may be destroyed at once, its buffers are kept until it is over. Cancelling the event
 * ends the graph between two launches, or in one where the device can stop its lanes; the binding
 * can be launched again.
 * @param signal  receives a new event that the caller destroys; may be NULL
 */
HG_API hg_status hg_graph_binding_submit(hg_graph_binding *binding, hg_queue *queue,
                                         hg_event *const *waits, size_t wait_count,
                                         hg_event **signal) HG_NODISCARD;

/** What a binding needs. */
typedef struct hg_graph_memory_info {
    size_t size;              /**< sizeof(hg_graph_memory_info); set by the caller */
    uint64_t workspace_bytes; /**< allocated for values between calls */
    uint64_t least_bytes; /**< the largest sum of values that live at one call: no workspace can be
                             smaller */
    uint64_t launches;    /**< programs that a launch runs */
    uint64_t table_bytes; /**< allocated for what the first launch makes and others read: constants
                             in the order in which products read them, factors of transforms. Where
                             there is no room, products read constants as they are */
} hg_graph_memory_info;
HG_API hg_status hg_graph_binding_memory(const hg_graph_binding *binding,
                                         hg_graph_memory_info *info) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif

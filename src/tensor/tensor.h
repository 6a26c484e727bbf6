/* Tensors inside: memory that views share, and operations as they are recorded.
 * Must not know: what operations mean (ops_*.c say it in instructions and Atlas texts). */
#ifndef HG_TENSOR_TENSOR_H
#define HG_TENSOR_TENSOR_H

#include "base/base.h"
#include "base/compat.h"
#include "base/thread.h"
#include "tensor/types.h"
#include <hologram/graph.h>
#include <hologram/ops.h>
#include <hologram/tensor.h>
#include <string.h>

/* ---- memory (storage.c) ---- */

typedef struct tensor_state tensor_state;
typedef struct tensor_storage tensor_storage;
typedef struct tensor_record tensor_record;

/* Memory of one or more tensors. */
struct tensor_storage {
    uint32_t references;  /* atomic */
    uint8_t type;         /* hg_type that its elements are stored as */
    tensor_state *state;  /* atomic: of its executor, which it keeps alive; NULL: it has none yet */
    uint64_t count;       /* of these; of complex elements two each */
    hg_buffer buffer;     /* handle 0: none yet */
    uint64_t class_bytes; /* of a buffer of the pool; 0: it is not the pool's */
    bool borrowed;        /* the buffer is the caller's */
    bool imported;        /* it is memory of somebody else's: in the state's list */
    bool exported;        /* atomic: others have its address or its buffer, and may write it */
    bool steady;          /* atomic: a scope has read it as a product's second factor, and nobody
                             has written it since */
    uint64_t contents;    /* atomic: where steady: of its elements; no others have this number */
    void *host;           /* memory of the host that it is, or that it still waits in */
    hg_tensor_freed *release;
    void *user;
    tensor_record *record;           /* atomic: that will make it; NULL: its elements are there */
    uint32_t number;                 /* of it among the record's storages */
    bool failed;                     /* what would have made it did: it has no elements */
    char *why;                       /* it failed; NULL: there was no memory to say it */
    tensor_storage *previous, *next; /* of the state's imported ones, or spare ones */
};

struct hg_tensor {
    uint32_t references; /* atomic */
    hg_element type;
    tensor_storage *storage;
    bool lazy;       /* operations on it are recorded */
    uint64_t offset; /* of its first element in the storage */
    uint32_t rank;
    uint64_t shape[HG_TENSOR_AXES];
    int64_t strides[HG_TENSOR_AXES];
};

static inline bool tensor_is_complex(hg_element type) {
    return type == HG_ELEMENT_COMPLEX64 || type == HG_ELEMENT_COMPLEX128;
}
/* The hg_type that elements of a type are stored as, of complex ones their parts. */
static inline hg_type tensor_stored(hg_element type) {
    if (tensor_is_complex(type)) return type == HG_ELEMENT_COMPLEX64 ? HG_TYPE_F32 : HG_TYPE_F64;
    return type == HG_ELEMENT_BOOL ? HG_TYPE_U8 : (hg_type)type;
}
/* How many of these an element is. */
static inline uint32_t tensor_parts(hg_element type) { return tensor_is_complex(type) ? 2 : 1; }
/* The type with such parts. */
static inline hg_element tensor_complex_of(hg_element part) {
    return part == HG_TYPE_F64 ? HG_ELEMENT_COMPLEX128 : HG_ELEMENT_COMPLEX64;
}
/* What elements are copied as. */
static inline hg_element tensor_copied(hg_element type) {
    return type == HG_ELEMENT_BOOL ? (hg_element)HG_TYPE_U8 : type;
}
/* Errors of types and shapes; HG_OK: all extents, and their product, are possible. */
hg_status tensor_check_shape(hg_element type, const uint64_t *shape, uint32_t rank,
                             uint64_t *count) HG_NODISCARD;
/* A storage of the executor without elements yet, and a contiguous tensor of it. */
hg_status tensor_make(tensor_state *state, hg_element type, const uint64_t *shape, uint32_t rank,
                      hg_tensor **tensor) HG_NODISCARD;
/* Memory of storages that ended, for the next ones. Who has it locks it. */
typedef struct tensor_spare {
    tensor_storage *first;
    uint32_t count;
} tensor_spare;
/* tensor_make in such memory, where there is some. */
hg_status tensor_make_of(tensor_state *state, hg_element type, const uint64_t *shape, uint32_t rank,
                         tensor_spare *spare, hg_tensor **tensor) HG_NODISCARD;
/* tensor_storage_release, whose memory is spare then. */
void tensor_storage_spare(tensor_storage *s, tensor_spare *spare);
void tensor_spare_free(tensor_spare *spare);
/* What a tensor is, without its owners: they come and go while others look at it. */
static inline hg_tensor tensor_like(const hg_tensor *t) {
    hg_tensor like = {.type = t->type, .storage = t->storage, .offset = t->offset, .rank = t->rank};
    memcpy(like.shape, t->shape, sizeof like.shape);
    memcpy(like.strides, t->strides, sizeof like.strides);
    return like;
}
/* Another tensor over the same storage, equal to `of`. */
hg_status tensor_alias(const hg_tensor *of, hg_tensor **view) HG_NODISCARD;
/* The same with offset, shape and strides of `like`. */
hg_status tensor_give(const hg_tensor *t, const hg_tensor *like, hg_tensor **view) HG_NODISCARD;
/* The real, or imaginary, parts of complex elements. */
hg_status tensor_part(const hg_tensor *t, bool imaginary, hg_tensor **view) HG_NODISCARD;
/* Whether elements lie one after another in C order. */
bool tensor_is_packed(const hg_tensor *t);
/* Strides of a shape in C order. */
void tensor_c_strides(const uint64_t *shape, uint32_t rank, int64_t *strides);
uint64_t tensor_numel(const uint64_t *shape, uint32_t rank);
/* What it belongs to; NULL: nothing yet. */
static inline tensor_state *tensor_state_at(const tensor_storage *s) {
    return hg_atomic_load(&s->state, HG_ACQUIRE);
}
/* Memory for a storage that has none. */
hg_status tensor_storage_allocate(tensor_storage *s, bool zero) HG_NODISCARD;
tensor_storage *tensor_storage_retain(tensor_storage *s);
void tensor_storage_release(tensor_storage *s);
/* Its buffer was imported: the executor frees it where it goes first. */
void tensor_storage_imported(tensor_storage *s, tensor_state *state);
hg_status tensor_place_there(tensor_storage *s, tensor_state *state) HG_NODISCARD;
/* Its elements are there: runs what makes them. */
hg_status tensor_ready(tensor_storage *s) HG_NODISCARD;
/* Its elements are others from now on. */
void tensor_storage_written(tensor_storage *s);
/* A scope has read it as a product's second factor. */
void tensor_storage_read(tensor_storage *s);
/* Whether nobody but this library can write it, and a scope has read it as a product's second
 * factor since it was written: a weight, as it seems. */
bool tensor_storage_steady(const tensor_storage *s);
/* The same as tensor_ready, and what this thread's scopes and tensors of hg_tensor_lazy read of it
 * is read: it may be written. */
hg_status tensor_writable(tensor_storage *s) HG_NODISCARD;

/* ---- what an executor keeps (state.c) ---- */

/* A program with what it is known by. */
typedef struct tensor_program {
    hg_program *program;
    char *key;
    size_t length;
    uint64_t hash;
} tensor_program;
enum { TENSOR_BINDINGS = 2, TENSOR_STEADY = 16 };
/* A binding that nobody uses, with the handles of its buffers. */
typedef struct tensor_bound {
    hg_graph_binding *binding; /* NULL: none */
    uint64_t *handles;
    uint64_t count;
} tensor_bound;
/* A binding with constants, of which it keeps what products read. */
typedef struct tensor_steady {
    tensor_bound bound;
    uint64_t graph; /* its number */
    uint64_t used;  /* when, counted in uses */
    bool again;     /* it was used more than once */
} tensor_steady;
/* An array graph that was compiled, with what it says as its key, and its last bindings: the next
 * record that says the same often has the same buffers. They keep their workspaces until the
 * executor is trimmed or has no memory left. */
typedef struct tensor_graph {
    hg_graph_executable *executable;
    char *key;
    size_t length;
    uint64_t used;   /* when, counted in uses */
    uint64_t number; /* of its first use, which no other has */
    tensor_bound bound[TENSOR_BINDINGS];
} tensor_graph;

/* A launch of a program with its binding, which one thread at a time takes out (launch.c). */
typedef struct tensor_kept tensor_kept;
typedef struct tensor_slot {
    uint64_t hash;     /* atomic: of what lies or lay there */
    tensor_kept *kept; /* atomic; NULL: none, or somebody has it */
} tensor_slot;
enum { TENSOR_LAUNCHES = 256, TENSOR_WAYS = 4 };

struct tensor_state {
    uint32_t references;   /* atomic: of the executor and of storages */
    hg_executor *executor; /* NULL: destroyed */
    hg_backend *backend;
    struct {
        hg_queue *queue; /* that records are appended to; NULL: they run at once */
        hg_event *last;  /* of what was; NULL: nothing that nobody was told of */
    } appends;
    hg_mutex lock; /* of what follows */
    HG_VEC(tensor_program) programs;
    uint32_t *program_slots; /* a hash table: number + 1 */
    uint32_t program_slot_count;
    tensor_record *spare; /* records that nobody uses, one behind another, */
    tensor_record *lazy;  /* atomic: what tensors of hg_tensor_lazy record; NULL: nothing yet. Both
                             are */
    void (*free_records)(tensor_state *state); /* freed by this; NULL: there were none */
    void (*trim_records)(tensor_state *state); /* spare ones keep less; the lock is held */
    HG_VEC(tensor_graph *) graphs;
    uint64_t uses;
    tensor_steady steady[TENSOR_STEADY];
    uint32_t wasted; /* atomic: bindings with constants, one behind another, that were used once
                        only */
    tensor_storage *imported; /* storages with buffers that are neither the pool's nor the caller's;
                                 they go with the executor */
    hg_mutex recording;       /* held while records are added to and run */
    tensor_slot launches[TENSOR_LAUNCHES]; /* by hash, in sets of ways */
    uint32_t launch_turn;                  /* atomic: which way goes next */
};

/* Puts a storage that waits in host memory on an executor; HG_OK where it is there. */
HG_NODISCARD static inline hg_status tensor_place(tensor_storage *s, tensor_state *state) {
    if (HG_LIKELY(tensor_state_at(s) == state && state->executor)) return HG_OK;
    return tensor_place_there(s, state);
}
/* Before something else than its queue uses its memory: what was appended is over. */
HG_NODISCARD static inline hg_status tensor_await(tensor_state *state) {
    hg_status status = HG_OK;
    if (!state->appends.queue) return HG_OK;
    hg_mutex_lock(&state->recording);
    if (state->appends.last) status = hg_event_wait(state->appends.last);
    hg_mutex_unlock(&state->recording);
    return status == HG_OK ? hg_queue_synchronize(state->appends.queue) : status;
}
/* Of an executor; made at the first call. */
hg_status tensor_state_of(hg_executor *executor, tensor_state **state) HG_NODISCARD;
/* Lets go of bindings that nobody uses. */
void tensor_state_trim(tensor_state *state);
tensor_state *tensor_state_retain(tensor_state *state);
void tensor_state_release(tensor_state *state);
/* Adds a program of a text of src/library, by its name: from its line to the next program's. */
void tensor_add_section(hg_text *out, const char *text, const char *name);
/* A program by its text, assembled once. It is the state's. */
hg_status tensor_program_of(tensor_state *state, const hg_text *text,
                            hg_program **program) HG_NODISCARD;
/* The same by bytes that stand for the text; NULL: none is known by them. */
hg_program *tensor_program_known(tensor_state *state, const void *key, size_t length);
/* Makes the text's program known by these bytes. */
hg_status tensor_program_add(tensor_state *state, const void *key, size_t length,
                             const hg_text *text, hg_program **program) HG_NODISCARD;

/* ---- calls ---- */

/* Operands of a call: arrays by their tensors, everything else as hg_graph_arg. */
typedef enum tensor_arg_kind {
    TENSOR_ARRAY,  /* tensor: of an instruction with its shape and strides, of a program its whole
                      memory */
    TENSOR_SIZE,   /* number */
    TENSOR_SCALAR, /* type, bytes: of a program */
    TENSOR_WORD,   /* text, which lives as long as the library */
    TENSOR_FLAG,   /* number */
    TENSOR_TUPLE,  /* items, count */
    TENSOR_SIZES   /* the same of extents, which other shapes change */
} tensor_arg_kind;
typedef struct tensor_arg {
    const char *name; /* of the operand; lives as long as the library */
    tensor_arg_kind kind;
    const hg_tensor *tensor;
    uint64_t number;
    uint8_t type;
    uint8_t bytes[8];
    const char *text;
    const uint64_t *items;
    uint32_t count;
} tensor_arg;
/* A result of a call. */
typedef struct tensor_result {
    const char *operand; /* that writes it */
    hg_element type;
    uint32_t rank;
    const uint64_t *shape;
    hg_tensor *tensor; /* set by the call; the caller's */
} tensor_result;
/* What is called: an instruction by its text ("gemm"), or a program of the state's. */
typedef struct tensor_work {
    const char *instruction; /* lives as long as the library */
    hg_program *program;
    const char *operation; /* of messages: "add" */
} tensor_work;

/* ---- launching (launch.c) ---- */

/* A storage with memory that a program's operand is. */
typedef struct tensor_target {
    const char *operand;
    tensor_storage *storage;
} tensor_target;
/* A program by itself, and waits. Arrays have their elements. */
hg_status tensor_launch(tensor_state *state, const tensor_work *work, const tensor_arg *args,
                        uint32_t arg_count, const tensor_target *targets,
                        uint32_t target_count) HG_NODISCARD;

/* Lets go of the launches that nobody has. */
void tensor_forget_launches(tensor_state *state);

/* ---- recording (record.c) ---- */

/* Where operations go: a scope of this thread, or a record of its own that is run when the
 * operation is over. One is on the stack of every call. */
typedef struct tensor_run {
    tensor_state *state;
    tensor_record *record; /* NULL: its own one, which nothing needed so far */
    bool own;              /* the record is run and freed by tensor_run_end */
} tensor_run;
hg_status tensor_run_begin(tensor_run *run, hg_executor *executor) HG_NODISCARD;
/* The same for an operation on tensors of hg_tensor_lazy. */
hg_status tensor_run_begin_lazy(tensor_run *run, hg_executor *executor) HG_NODISCARD;
/* status: of the operation; what it recorded is run where it is HG_OK. */
hg_status tensor_run_end(tensor_run *run, hg_status status) HG_NODISCARD;
/* Records a call. Its results' tensors are the caller's. */
hg_status tensor_call(tensor_run *run, const tensor_work *work, const tensor_arg *args,
                      uint32_t arg_count, tensor_result *results,
                      uint32_t result_count) HG_NODISCARD;
/* Runs a record as far as it goes, with the state's recording lock held. */
hg_status tensor_record_run(tensor_record *record) HG_NODISCARD;

/* ---- element-wise texts (elements.c) ---- */

/* An expression over elements a, b, c of up to three tensors, broadcast to one shape, and scalars
 * v0, v1 … of its type; i is the element's number. One that computes in a complex type is over the
 * parts ar, ai, br …; one that gives a complex type has two, of the real and the imaginary part,
 * with "; " between them, or, in a complex type, one over a, b, c for each part by itself. */
typedef struct tensor_formula {
    const char *name;       /* of the operation */
    const char *expression; /* in Atlas; lives as long as the library */
    hg_element computes;    /* the type of a, b and c in it; HG_ELEMENT_BOOL: predicates */
    uint32_t truths;        /* bit k: input k is a predicate whatever the others are */
    hg_element gives;       /* of the result; HG_ELEMENT_BOOL: the expression is a predicate */
    const char *map;        /* the word of parallel_map that means it; NULL: none */
} tensor_formula;
hg_status tensor_map(tensor_run *run, const tensor_formula *f, const hg_tensor *const *inputs,
                     uint32_t input_count, const uint64_t *shape, uint32_t rank,
                     const double *scalars, uint32_t scalar_count, hg_tensor **result) HG_NODISCARD;
/* The same into a tensor that is there, at once; of the type `gives`. Where it shares memory with
 * an input, inputs are read as they were. */
hg_status tensor_map_into(tensor_state *state, const tensor_formula *f,
                          const hg_tensor *const *inputs, uint32_t input_count,
                          hg_tensor *target) HG_NODISCARD;
/* No element stands in it twice. */
hg_status tensor_check_target(const char *operation, const hg_tensor *target) HG_NODISCARD;
/* A copy of another type, or a contiguous one of its own. */
hg_status tensor_cast(tensor_run *run, const hg_tensor *x, hg_element type,
                      hg_tensor **result) HG_NODISCARD;
/* x as an instruction can take it: itself, or a copy in C order where strides are negative or
 * `packed` asks for it; retained. */
hg_status tensor_operand(tensor_run *run, const hg_tensor *x, bool packed,
                         hg_tensor **operand) HG_NODISCARD;

/* ---- messages ---- */

/* "[2, 3]" */
const char *tensor_shape_text(const uint64_t *shape, uint32_t rank, char text[200]);
/* "f32 [2, 3]" */
const char *tensor_text(const hg_tensor *t, char text[220]);
/* The shape that all broadcast to; `Tensor shape mismatch: add: …`. */
hg_status tensor_broadcast(const char *operation, const hg_tensor *const *inputs, uint32_t count,
                           uint64_t *shape, uint32_t *rank) HG_NODISCARD;
/* An axis that may count from the end; `Invalid dimension: …`. */
hg_status tensor_axis(int64_t dim, uint32_t rank, uint32_t *axis) HG_NODISCARD;

#endif

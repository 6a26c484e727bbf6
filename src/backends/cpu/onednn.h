/* oneDNN, opened when a step first asks for it: its C interface of versions 2.x as far as it is
 * used, declared here so that no header is needed.
 * Must not know: steps, devices. */
#ifndef HG_BACKENDS_CPU_ONEDNN_H
#define HG_BACKENDS_CPU_ONEDNN_H

#include "base/base.h"

typedef struct onednn_engine onednn_engine;
typedef struct onednn_stream onednn_stream;
typedef struct onednn_memory onednn_memory;
typedef struct onednn_attributes onednn_attributes;
typedef struct onednn_post_ops onednn_post_ops;
typedef struct onednn_description onednn_description;
typedef struct onednn_primitive onednn_primitive;

/* dnnl_memory_desc_t (696 bytes in 2.6) and the descriptors of operations (matmul: 2,800,
 * convolution: 5,976), which only its functions fill and read. */
typedef struct onednn_layout {
    uint64_t words[96];
} onednn_layout;
typedef struct onednn_operation {
    uint64_t words[1024];
} onednn_operation;

typedef struct onednn_argument {
    int which; /* ONEDNN_SOURCE, … */
    onednn_memory *memory;
} onednn_argument;

typedef struct onednn_version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} onednn_version;

enum {
    ONEDNN_BF16 = 2,
    ONEDNN_F32 = 3,
    ONEDNN_S32 = 4,
    ONEDNN_S8 = 5,
    ONEDNN_U8 = 6,         /* dnnl_data_type_t */
    ONEDNN_CPU = 1,        /* dnnl_engine_kind_t */
    ONEDNN_IN_ORDER = 1,   /* dnnl_stream_flags_t */
    ONEDNN_ANY = 1,        /* dnnl_format_tag_t */
    ONEDNN_INFERENCE = 96, /* dnnl_prop_kind_t */
    ONEDNN_DIRECT = 1,     /* dnnl_alg_kind_t: dnnl_convolution_direct */
    ONEDNN_SOURCE = 1,
    ONEDNN_RESULT = 17,
    ONEDNN_WEIGHTS = 33,
    ONEDNN_BIAS = 41,
    ONEDNN_SCRATCHPAD = 80,        /* DNNL_ARG_… */
    ONEDNN_SCRATCHPAD_OF_USER = 1, /* dnnl_scratchpad_mode_t */
    ONEDNN_STRICT = 0,             /* dnnl_fpmath_mode_t */
    ONEDNN_QUERY_NAME = 8,         /* dnnl_query_t: impl_info_str, */
    ONEDNN_QUERY_SOURCE = 129,     /* src_md, */
    ONEDNN_QUERY_WEIGHTS = 131,    /* weights_md, */
    ONEDNN_QUERY_RESULT = 133,     /* dst_md, */
    ONEDNN_QUERY_SCRATCHPAD = 136, /* scratchpad_md */
    ONEDNN_OUT_OF_MEMORY = 1,      /* dnnl_status_t */
    ONEDNN_ISA_AVX2 = 0x7,         /* dnnl_cpu_isa_t: bits, a better one has those of the worse */
    ONEDNN_ISA_AVX512 = 0x27,
    ONEDNN_ISA_VNNI = 0x67,
    ONEDNN_ISA_BF16 = 0xe7
};

/* Its functions, and those of the OpenMP library that it runs on; NULL where it runs without. */
typedef struct onednn_library {
#define ONEDNN_FUNCTION(result, name, parameters) result(*name) parameters;
#define ONEDNN_OPTIONAL ONEDNN_FUNCTION
#include "backends/cpu/onednn.def"
    void (*omp_set_num_threads)(int count);
    int (*omp_get_max_threads)(void);
    onednn_engine *engine;
    int isa;          /* that it uses on this CPU */
    char version[32]; /* "oneDNN 2.6.3" */
} onednn_library;

/* The first of count libraries that opens, made ready. False: the reason, and what to install. It
 * is never closed: what it made may be in use. */
bool onednn_open(const char *const *names, size_t count, onednn_library *library, char reason[256]);

/* That of the process, opened at the first call; NULL: the reason (may be NULL) says why there is
 * none. */
const onednn_library *onednn_get(char reason[256]);

/* The lock under which it makes primitives: its own list of them is locked then, and the lock must
 * be free when a process forks. After onednn_get. */
void onednn_lock(void);
void onednn_unlock(void);
/* In a forked child of the process that opened it: what was made may be executed, nothing is made.
 */
bool onednn_is_parents(void);

#endif

/* What the calls that tests/misuse/generate.py writes stand on: one of every object of the public
 * interface. */
#ifndef HG_TESTS_MISUSE_H
#define HG_TESTS_MISUSE_H

#include "test.h"
#include <hologram/hologram.h>

#include <limits.h>
#include <setjmp.h>

typedef struct misuse_fixture {
    hg_backend *backend;
    hg_context *context;
    hg_comm *comm;
    hg_multi_gpu *multi;
    hg_distributed *distributed;
    hg_placement placement;
    const char *address;
    double weight;
    uint32_t devices[2];
    hg_comm_call call;
    hg_queue *queue;
    hg_event *event;
    hg_opening *opening;
    hg_executable *executable;
    hg_binding *binding;
    hg_graph *graph;
    hg_graph_executable *graph_executable;
    hg_graph_binding *graph_binding;
    hg_params *graph_params;
    hg_program *program;
    hg_params *params, *no_params; /* no_params: what the program's launch expects */
    hg_builder *builder;           /* a new one for every call */
    hg_circuit *circuit;
    hg_ring *ring;
    hg_program_cache *program_cache;
    hg_class_allocator *class_allocator;
    hg_optimizer *optimizer;
    hg_diagnostics *diagnostics;
    hg_buffer buffer, other;
    hg_pool pool;
    hg_typed_buffer typed;
    hg_launch launch;
    hg_config config;
    hg_command command;
    hg_event_listener *on_done;
    hg_config_listener *on_config;
    hg_executor *executor;
    hg_tensor *tensor; /* of one element */
    hg_tensor *results[8];
    uint64_t extents[2];
    int32_t order[2];
    int64_t axes[2];
    hg_tree *tree; /* a new one for every call */
    hg_dim dims[8];
    hg_arg args[8];
    hg_label label;
    const char *text;
    hg_status status;        /* of the call */
    void *made;              /* by the call */
    uint64_t bytes[1 << 18]; /* data to read and to write: room for a lift */
} misuse_fixture;
extern misuse_fixture f;

/* Around each call: if (begin(…)) { …; end(); }. A crash is counted and comes back to begin, which
 * is then false. refused: it must not have returned HG_OK. */
extern sigjmp_buf misuse_crash;
void misuse_prepare(const char *call);
#define begin(call) (misuse_prepare(call), sigsetjmp(misuse_crash, 1) == 0)
void refused(const char *call);
void end(void);

void misuse_all(void);

#endif

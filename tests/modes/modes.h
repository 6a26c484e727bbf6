/* What the calls that tests/modes/generate.py writes stand on: objects that compute, and the notes
 * of what calls gave. */
#ifndef HG_TESTS_MODES_H
#define HG_TESTS_MODES_H

#include "test.h"
#include <hologram/hologram.h>

#include <stdlib.h>

typedef struct modes_fixture {
    const char *backend_name, *text, *circuit_text, *graph_text, *stablehlo_text, *json, *target;
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
    hg_executable *executable;
    hg_binding *binding;
    hg_graph *graph;
    hg_graph_executable *graph_executable;
    hg_graph_binding *graph_binding;
    hg_params *graph_params;
    hg_program *program;
    hg_params *params, *no_params;
    hg_builder *builder;
    hg_circuit *circuit;
    hg_ring *ring;
    hg_program_cache *program_cache;
    hg_class_allocator *class_allocator;
    hg_optimizer *optimizer;
    hg_diagnostics *diagnostics;
    hg_translated_program translated;
    hg_buffer buffer, spare;
    hg_pool pool, spare_pool;
    hg_typed_buffer typed, typed_out, typed_one, spare_typed, given;
    hg_class_block block;
    hg_launch launch;
    hg_config config;
    hg_command command, commands[2];
    hg_event_listener *on_done;
    hg_config_listener *on_config;
    hg_executor *executor;
    hg_tensor *tensor, *results[8];
    uint64_t extents[2];
    int32_t order[2];
    int64_t axes[2];
    hg_tree *tree;
    hg_assemble_options assembling;
    hg_dim dims[8];
    hg_arg args[8];
    hg_label label;
    double real, *lift;
    float small, floats[8];
    void *import, *made;
    size_t status_length;
    uint64_t bytes[1 << 18];
} modes_fixture;
extern modes_fixture f;

/* Around each call; end: mode and flags must be what they were before. */
void modes_begin(const char *call);
void modes_end(void);
void modes_note_bytes(void); /* what it wrote to f.bytes */
void modes_note_number(uint64_t value);
void modes_note_double(double value);
void modes_note_text(const char *text);
void modes_note_made(size_t length); /* bytes at f.made */
void modes_note_program(hg_program *program);

void modes_all(void);
extern const unsigned modes_functions, modes_left_out;

#endif

/* Array graphs on a backend: what the passes made of a graph as executables, and their bindings
 * over one workspace.
 * Must not know: what calls do. */
#include "graph/lower.h"
#include "graph/memory.h"
#include "graph/passes.h"
#include "base/sized.h"
#include "runtime/graph.h"
#include "runtime/graph_module.h"
#include "runtime/graph_noted.h"
#include "runtime/queue_internal.h"
#include <stdio.h>
#include <string.h>

struct hg_graph_executable {
    hg_backend *backend;
    hg_graph *graph; /* after the passes */
    hg_graph *whole; /* as it was written, where the device may take it as one module; else NULL */
    graph_pass_list passes;
    hg_launch launch; /* of all its programs */
    graph_regions regions;
    hg_executable **executables; /* of each region */
    hg_buffer *constants;        /* of each value: its elements on the device; handle 0: none */
    uint32_t references;         /* atomic */
};

typedef struct bound_value {
    hg_buffer buffer; /* 0: not bound */
    bool own;         /* a view, freed with the binding */
} bound_value;

struct hg_graph_binding {
    hg_graph_executable *executable;
    uint64_t *extents; /* of all terms */
    graph_memory memory;
    hg_buffer workspace;
    bound_value *values;
    hg_binding **bindings; /* of each region */
    hg_binding *whole; /* the one whose launch is that of all; NULL: each is launched by itself. Not
                          owned */
    hg_mutex lock;     /* protects `last`; held by a launch that waits */
    hg_graph_module *module; /* what a launch runs in place of the bindings; NULL: nothing */
    hg_graph_noted noted;    /* where there is none */
    uint64_t module_runs;    /* launches that one of them has done */
    hg_event *last;          /* of the last submission; NULL: it is over */
    bool spoils;             /* graph.h */
};

/* ---- executables ---- */

static const hg_sized MEMORY = HG_SIZED(hg_graph_memory_info, launches, "set size");
static const hg_sized OPTIONS = HG_SIZED(hg_graph_options, passes, "zero it and set size");

static hg_status compile_regions(hg_graph_executable *e) {
    e->executables = hg_calloc((size_t)e->regions.count + 1, sizeof(hg_executable *));
    if (!e->executables) return hg_fail_memory();
    for (uint64_t i = 0; i < e->regions.count; i++)
        HG_TRY(hg_executable_create_for(e->backend, e->regions.data[i].program, &e->launch, NULL,
                                        &e->executables[i]));
    return HG_OK;
}

/* Where the device sees the host's memory nothing is copied. What only calls read that were done
 * when the graph was compiled has no place. */
static hg_status place_constant(hg_graph_executable *e, uint32_t value, bool read) {
    const graph_value *v = &e->graph->values.data[value];
    uint64_t elements, bytes;
    if (v->source != GRAPH_CONSTANT || (!v->bytes && !v->once)) return HG_OK;
    if (!graph_is_number(e->graph, v->elements, &elements) ||
        !hg_mul_u64(elements, graph_type_bytes(v), &bytes))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "constant %s: its extents are to be numbers, as its elements are given",
                       v->name);
    if (!read) return HG_OK;
    if (v->once) return hg_backend_allocate_buffer(e->backend, bytes, &e->constants[value]);
    if (e->backend->caps->memory.host_memory && bytes && (uintptr_t)v->bytes % GRAPH_ALIGN == 0 &&
        hg_buffer_import(e->backend, (void *)(uintptr_t)v->bytes, bytes, &e->constants[value]) ==
            HG_OK)
        return HG_OK;
    HG_TRY(hg_backend_allocate_buffer(e->backend, bytes, &e->constants[value]));
    return hg_buffer_write(e->backend, e->constants[value], 0, v->bytes, bytes);
}

static hg_status place_constants(hg_graph_executable *e) {
    e->constants = hg_calloc((size_t)e->graph->values.count + 1, sizeof *e->constants);
    uint8_t *read = hg_calloc((size_t)e->graph->values.count + 1, 1);
    hg_status status = e->constants && read ? HG_OK : hg_fail_memory();
    if (read) graph_mark_read(e->graph, read);
    for (uint32_t i = 0; i < e->graph->values.count && status == HG_OK; i++)
        status = place_constant(e, i, read[i] || e->whole);
    hg_free(read);
    return status;
}

/* ---- constants that calls make ---- */

static hg_status bind_once(const hg_graph_executable *e, hg_params *params) {
    for (uint32_t i = 0; i < e->graph->values.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "once_%u", (unsigned)i);
        if (e->constants[i].handle && e->graph->values.data[i].once)
            HG_TRY(hg_params_set_buffer(params, name, e->constants[i]));
    }
    return HG_OK;
}

static hg_status run_once(const hg_graph_executable *e, hg_graph *once) {
    hg_graph_options options = {
        .size = sizeof options, .passes = "inplace,join,share", .timeout_ms = e->launch.timeout_ms};
    hg_graph_executable *executable = NULL;
    hg_graph_binding *binding = NULL;
    hg_params *params = hg_params_create();
    hg_status status = params ? bind_once(e, params) : hg_fail_memory();
    if (status == HG_OK) status = hg_graph_compile(e->backend, once, &options, &executable);
    if (status == HG_OK) status = hg_graph_bind(executable, params, &binding);
    if (status == HG_OK) status = hg_graph_binding_launch(binding);
    hg_error kept = *hg_error_record();
    hg_graph_binding_destroy(binding);
    hg_graph_executable_destroy(executable);
    hg_params_destroy(params);
    *hg_error_record() = kept;
    return status;
}

static hg_status make_constants(const hg_graph_executable *e) {
    hg_graph *once;
    if (!e->graph->once.count) return HG_OK;
    HG_TRY(graph_once(e->graph, &once));
    hg_status status = run_once(e, once);
    hg_graph_release(once);
    return status;
}

static void release(hg_graph_executable *e) {
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0) return;
    for (uint64_t i = 0; i < e->regions.count && e->executables; i++)
        hg_executable_destroy(e->executables[i]);
    for (uint64_t i = 0; e->constants && i < e->graph->values.count; i++)
        if (e->constants[i].handle)
            HG_IGNORE(hg_backend_free_buffer(e->backend, e->constants[i])); /* it is there */
    hg_free(e->constants);
    hg_free(e->executables);
    graph_regions_free(&e->regions);
    hg_graph_release(e->graph);
    hg_graph_release(e->whole);
    hg_free(e);
}

void hg_graph_executable_destroy(hg_graph_executable *e) {
    HG_ENTRY;
    release(e);
}

static hg_status compile(hg_backend *backend, hg_graph *graph, const hg_graph_options *options,
                         const graph_pass_list *passes, hg_graph_executable **executable) {
    hg_graph_executable *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    e->backend = backend;
    e->references = 1;
    e->launch = (hg_launch)HG_LAUNCH_PROGRAM;
    e->launch.timeout_ms = options->timeout_ms;
    e->launch.max_steps = options->max_steps;
    e->passes = *passes;
    hg_status status = hg_graph_modules(backend) ? graph_copy(graph, &e->whole) : HG_OK;
    if (status == HG_OK) status = graph_optimize(graph, &e->passes, NULL, &e->graph);
    if (status == HG_OK)
        status = graph_lower(e->graph, graph_passes_have(&e->passes, GRAPH_PASS_JOIN), &e->regions);
    if (status == HG_OK) status = compile_regions(e);
    if (status == HG_OK) status = place_constants(e);
    if (status == HG_OK) status = make_constants(e);
    hg_error kept = *hg_error_record();
    if (status == HG_OK)
        *executable = e;
    else
        release(e);
    *hg_error_record() = kept;
    return status;
}

static void leave_out(graph_pass_list *passes, graph_pass pass) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < passes->count; i++)
        if (passes->passes[i] != pass) passes->passes[kept++] = passes->passes[i];
    passes->count = kept;
}

hg_status hg_graph_compile(hg_backend *backend, hg_graph *graph, const hg_graph_options *given,
                           hg_graph_executable **executable) {
    HG_ENTRY;
    hg_graph_options options = {.size = sizeof options};
    graph_pass_list passes;
    if (!backend || !graph || !executable)
        return hg_null_argument(!backend ? "backend" : !graph ? "graph" : "executable");
    if (given) HG_TRY(hg_sized_take(&OPTIONS, given, &options));
    HG_TRY(hg_backend_alive(backend));
    HG_TRY(graph_passes_named(options.passes, &passes));
    hg_status status = compile(backend, graph, &options, &passes, executable);
    if (status != HG_ERROR_EXECUTION_FAILED || !graph_passes_have(&passes, GRAPH_PASS_CONSTANTS))
        return status;
    leave_out(&passes, GRAPH_PASS_CONSTANTS); /* a call of constants faults: launches do */
    return compile(backend, graph, &options, &passes, executable);
}

/* ---- what a binding is given ---- */

static const hg_param_value *given(const hg_params *params, const char *name) {
    for (uint64_t i = 0; params && name && i < params->values.count; i++)
        if (params->values.data[i].name && strcmp(params->values.data[i].name, name) == 0)
            return &params->values.data[i];
    return NULL;
}

static hg_status take_symbols(const hg_graph *g, const hg_params *params, uint64_t *symbols) {
    for (uint64_t i = 0; i < g->symbols.count; i++) {
        const hg_param_value *v = given(params, g->symbols.data[i]);
        if (!v)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the extent %s is not set",
                           g->symbols.data[i]);
        if (v->kind != HG_PARAM_SCALAR || (v->type != HG_TYPE_U64 && v->type != HG_TYPE_U32))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the extent %s is given as %s, u64 expected",
                           g->symbols.data[i],
                           v->kind == HG_PARAM_SCALAR ? hg_type_name((hg_type)v->type)
                                                      : "an array");
        symbols[i] = 0;
        memcpy(&symbols[i], v->bytes, v->type == HG_TYPE_U64 ? 8 : 4);
    }
    return HG_OK;
}

static bool is_known(const hg_graph *g, const char *name) {
    if (graph_find_symbol(g, name, strlen(name)) != GRAPH_NOT_SET) return true;
    for (uint64_t i = 0; i < g->outputs.count; i++)
        if (strcmp(g->outputs.data[i].name, name) == 0) return true;
    uint32_t value = graph_find_value(g, name, strlen(name));
    if (value == GRAPH_NOT_SET) return false;
    const graph_value *v = &g->values.data[value];
    return v->source == GRAPH_INPUT || (v->source == GRAPH_CONSTANT && !v->bytes && !v->once);
}

static hg_status check_names(const hg_graph *g, const hg_params *params) {
    for (uint64_t i = 0; params && i < params->values.count; i++) {
        const hg_param_value *v = &params->values.data[i];
        if (!v->name)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "register r%u: a graph has no registers",
                           (unsigned)v->reg);
        if (!is_known(g, v->name))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "'%.200s' is no input, output, extent or open constant of the graph",
                           v->name);
    }
    return HG_OK;
}

/* ---- memory ---- */

static uint64_t bytes_of(const hg_graph_binding *b, uint32_t value) {
    const graph_value *v = &b->executable->graph->values.data[value];
    return b->extents[v->elements] * graph_type_bytes(v);
}

/* Part of a buffer, or the buffer where it is all of it. */
static hg_status bind_part(hg_graph_binding *b, uint32_t value, hg_buffer whole, uint64_t offset) {
    hg_backend *backend = b->executable->backend;
    uint64_t size, bytes = bytes_of(b, value);
    HG_TRY(hg_backend_buffer_size(backend, whole, &size));
    b->values[value].buffer = whole;
    if (offset == 0 && size == bytes) return HG_OK;
    HG_TRY(hg_buffer_view(backend, whole, offset, bytes, &b->values[value].buffer));
    b->values[value].own = true;
    return HG_OK;
}

static hg_status bind_named(hg_graph_binding *b, uint32_t value, const char *name, const char *what,
                            const hg_params *params) {
    const hg_graph *g = b->executable->graph;
    const hg_param_value *v = given(params, name);
    uint64_t size, bytes = bytes_of(b, value);
    if (!v) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the %s %s has no buffer", what, name);
    if (v->kind != HG_PARAM_BUFFER)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the %s %s is given a %s, a buffer expected",
                       what, name, v->kind == HG_PARAM_POOL ? "pool" : "scalar");
    hg_buffer buffer = {v->handle};
    HG_TRY(hg_backend_buffer_size(b->executable->backend, buffer, &size));
    if (size >= bytes) return bind_part(b, value, buffer, 0);
    hg_text shape = {0};
    graph_print_shape(&shape, g, &g->values.data[value]);
    hg_status status = hg_fail(
        HG_ERROR_INVALID_ARGUMENT, "the %s %s is %s, %llu bytes: its buffer has %llu", what, name,
        shape.data ? shape.data : "", (unsigned long long)bytes, (unsigned long long)size);
    hg_text_free(&shape);
    return status;
}

/* Outputs are written while inputs are still read. */
static hg_status check_apart(const hg_graph_binding *b, uint32_t output, const char *name) {
    const hg_graph *g = b->executable->graph;
    hg_backend *backend = b->executable->backend;
    uint64_t handle = hg_handle_plain(backend, b->values[output].buffer.handle);
    hg_range own = hg_buffer_range(backend, NULL, handle);
    hg_touch mine = hg_touch_of(backend, &own, true);
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        if (i == output || !b->values[i].buffer.handle || v->source == GRAPH_VIEW) continue;
        hg_range range = hg_buffer_range(backend, NULL,
                                         hg_handle_plain(backend, b->values[i].buffer.handle));
        hg_touch other = hg_touch_of(backend, &range, false);
        bool apart = mine.arena != other.arena || mine.start >= other.start + other.size ||
                     other.start >= mine.start + mine.size;
        if (!apart)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the output %s shares memory with %s", name,
                           v->name ? v->name : "another output");
    }
    return HG_OK;
}

/* A part of what it lies in, which may have a larger number. Those with strides are read in that.
 */
static hg_status bind_view(hg_graph_binding *b, uint32_t value) {
    const graph_value *values = b->executable->graph->values.data;
    uint64_t offset = 0;
    uint32_t base = value;
    for (; values[base].source == GRAPH_VIEW; base = values[base].of) {
        if (values[base].strided) return HG_OK;
        offset += b->extents[values[base].offset];
    }
    hg_buffer whole = b->values[base].buffer;
    return base != value && whole.handle
               ? bind_part(b, value, whole, offset * graph_type_bytes(&values[value]))
               : HG_OK;
}

static hg_status bind_values(hg_graph_binding *b, const hg_params *params) {
    const hg_graph *g = b->executable->graph;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        if (v->source == GRAPH_INPUT) HG_TRY(bind_named(b, i, v->name, "input", params));
        if (b->executable->constants[i].handle)
            HG_TRY(bind_part(b, i, b->executable->constants[i], 0));
        if (v->source == GRAPH_CONSTANT && !v->bytes && !v->once)
            HG_TRY(bind_named(b, i, v->name, "constant", params));
    }
    for (uint64_t i = 0; i < g->outputs.count; i++) {
        uint32_t value = g->outputs.data[i].value;
        HG_TRY(bind_named(b, value, g->outputs.data[i].name, "output", params));
        HG_TRY(check_apart(b, value, g->outputs.data[i].name));
    }
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_value *v = &g->values.data[i];
        bool live = v->call < g->calls.count && graph_result_is(g, &g->calls.data[v->call], i);
        if (v->source == GRAPH_RESULT && live && !b->values[i].buffer.handle) {
            uint32_t owner = b->memory.owners[i]; /* an output, of a value that it takes over */
            bool output = graph_is_output(g, owner);
            HG_TRY(bind_part(b, i, output ? b->values[owner].buffer : b->workspace,
                             output ? 0 : b->memory.offsets[i]));
        }
    }
    for (uint32_t i = 0; i < g->values.count; i++) HG_TRY(bind_view(b, i));
    return HG_OK;
}

/* ---- regions ---- */

static hg_status set_scalar(hg_params *params, const hg_param *p, const graph_operand *o,
                            const uint64_t *extents) {
    uint64_t value;
    if (o->kind == GRAPH_LITERAL)
        return hg_params_set_scalar(params, p->name, (hg_type)p->type, o->bytes);
    value = extents[o->number];
    if (p->type == HG_TYPE_U32 && value > UINT32_MAX)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s is %llu, more than a u32 holds", p->name,
                       (unsigned long long)value);
    return hg_params_set_scalar(params, p->name, (hg_type)p->type, &value);
}

/* What the first launch makes of constants is kept, where calls of constants are done once. */
static hg_status set_array(const hg_graph_binding *b, hg_params *params, const char *name,
                           uint32_t value) {
    const hg_graph *g = b->executable->graph;
    if (!b->values[value].buffer.handle)
        return hg_fail(HG_ERROR_INTERNAL, "value %u has no memory", (unsigned)value);
    bool constant = g->values.data[graph_base(g, value)].source == GRAPH_CONSTANT &&
                    graph_passes_have(&b->executable->passes, GRAPH_PASS_CONSTANTS);
    return constant ? hg_params_set_constant(params, name, b->values[value].buffer)
                    : hg_params_set_buffer(params, name, b->values[value].buffer);
}

static hg_status set_direct(const hg_graph_binding *b, const graph_call *call, hg_params *params) {
    const hg_graph *g = b->executable->graph;
    for (uint32_t i = 0; i < call->program->param_count; i++) {
        const hg_param *p = &call->program->params[i];
        const graph_operand *o = graph_operand_of(g, call, i);
        uint32_t value = graph_result_of(g, call, i);
        if (value == GRAPH_NOT_SET && o && o->kind == GRAPH_ARRAY) value = o->number;
        if (value != GRAPH_NOT_SET)
            HG_TRY(set_array(b, params, p->name, value));
        else if (o)
            HG_TRY(set_scalar(params, p, o, b->extents));
    }
    return HG_OK;
}

static hg_status set_region(const hg_graph_binding *b, const graph_region *r, hg_params *params) {
    if (r->direct)
        return set_direct(b, &b->executable->graph->calls.data[r->calls.data[0]], params);
    for (uint64_t i = 0; i < r->slots.count; i++)
        HG_TRY(set_array(b, params, r->slots.data[i].name, r->slots.data[i].value));
    for (uint64_t i = 0; i < r->scalars.count; i++)
        HG_TRY(hg_params_set_scalar(params, r->scalars.data[i].name, HG_TYPE_U64,
                                    &b->extents[r->scalars.data[i].extent]));
    return HG_OK;
}

/* Which calls a region's instructions are: each is one whole-array instruction, and a store behind
 * some. They go with the binding, which work under way keeps. */
static hg_status set_origins(const hg_graph *g, const graph_region *r, hg_binding *binding) {
    const hg_program *p = r->program;
    uint32_t at = 0;
    if (!r->calls.count) return HG_OK;
    hg_provenance *origins = hg_arena_alloc(&binding->arena,
                                            (p->inst_count + (size_t)1) * sizeof *origins);
    if (!origins) return hg_fail_memory();
    for (uint32_t i = 0; i < p->inst_count; i++) {
        bool begins = r->direct ? i == 0
                                : (hg_op_get((hg_op)p->insts[i].op)->flags & HG_F_COLLECTIVE) != 0;
        char text[160];
        origins[i] = (hg_provenance){NULL, 0};
        if (!begins && i) continue;
        const graph_call *call = &g->calls.data[r->calls.data[at]];
        const char *what = graph_call_text(g, call, text);
        at += begins;
        origins[i] = (hg_provenance){hg_arena_text(&binding->arena, what, strlen(what)),
                                     call->line};
        if (!origins[i].text) return hg_fail_memory();
    }
    binding->origins = origins;
    return HG_OK;
}

/* An error of a binding that could not be made is its first call's. */
static hg_status in_first_call(const hg_graph *g, const graph_region *r, hg_status status) {
    char text[160];
    if (status == HG_OK || !r->calls.count) return status;
    const graph_call *call = &g->calls.data[r->calls.data[0]];
    hg_error_set_origin(&(hg_provenance){graph_call_text(g, call, text), call->line});
    return status;
}

static hg_status bind_region(hg_graph_binding *b, uint64_t number) {
    const graph_region *r = &b->executable->regions.data[number];
    hg_params *params = hg_params_create();
    if (!params) return hg_fail_memory();
    hg_status status = set_region(b, r, params);
    if (status == HG_OK)
        status = hg_binding_create(b->executable->executables[number], &b->executable->launch,
                                   params, &b->bindings[number]);
    if (status == HG_OK) status = set_origins(b->executable->graph, r, b->bindings[number]);
    hg_params_destroy(params);
    return in_first_call(b->executable->graph, r, status);
}

/* Devices that work while the host goes on are given all launches in one run: its commands go to
 * the driver together, which may keep them as one plan. Others have each launch ready. A profile is
 * of single launches. */
static hg_status sequence_regions(hg_graph_binding *b) {
    const hg_graph_executable *e = b->executable;
    uint32_t count = 0;
    if (!e->backend->caps->scheduling.asynchronous || e->backend->profile || !e->regions.count)
        return HG_OK;
    hg_binding **all = hg_alloc((size_t)e->regions.count * sizeof(hg_binding *));
    if (!all) return hg_fail_memory();
    bool can = true;
    for (uint64_t i = 0; i < e->regions.count; i++) {
        can = can && !b->bindings[i]->executable->uses_state;
        if (b->bindings[i]->launch.lanes) all[count++] = b->bindings[i];
    }
    hg_status status = HG_OK;
    if (can && count > 1) status = hg_binding_sequence(all, count);
    if (status == HG_OK && can && count > 1) b->whole = all[0];
    hg_free(all);
    return status;
}

static hg_status allocate_workspace(hg_graph_binding *b) {
    const hg_graph *g = b->executable->graph;
    hg_status status = hg_backend_allocate_buffer(b->executable->backend, b->memory.bytes,
                                                  &b->workspace);
    char what[160], message[sizeof hg_error_record()->message];
    hg_error *error = hg_error_record();
    if (status != HG_ERROR_ALLOCATION_FAILED || !g->calls.count) return status;
    snprintf(message, sizeof message,
             "the workspace of %s: %.300s; most is needed at %s: %llu bytes", g->name,
             error->message, graph_call_text(g, &g->calls.data[b->memory.peak], what),
             (unsigned long long)b->memory.least);
    memcpy(error->message, message, sizeof message);
    error->line = g->calls.data[b->memory.peak].line;
    error->column = error->line != 0;
    return status;
}

/* One module for all, where the device has modules and takes this one. A profile is of single
 * launches. */
static hg_status bind_module(hg_graph_binding *b, const uint64_t *symbols) {
    const hg_graph *whole = b->executable->whole, *g = b->executable->graph;
    if (!whole || b->executable->backend->profile) return HG_OK;
    const size_t count = (size_t)(whole->values.count + whole->outputs.count) + 1;
    hg_buffer *buffers = hg_calloc(count, sizeof *buffers), *outputs = buffers;
    uint64_t *extents = hg_alloc((size_t)(whole->terms.count + 1) * sizeof *extents);
    hg_status status = buffers && extents ? HG_OK : hg_fail_memory();
    if (status == HG_OK) {
        outputs = buffers + whole->values.count;
        for (uint64_t i = 0; i < whole->values.count; i++) buffers[i] = b->values[i].buffer;
        for (uint64_t i = 0; i < whole->outputs.count; i++)
            outputs[i] = b->values[g->outputs.data[i].value].buffer;
        graph_extent_values(whole, symbols, extents);
        b->module = hg_graph_module_create(b->executable->backend, whole, extents, buffers,
                                           outputs);
    }
    hg_free(buffers);
    hg_free(extents);
    return status;
}

static hg_status bind_all(hg_graph_binding *b, const hg_params *params) {
    const hg_graph_executable *e = b->executable;
    const hg_graph *g = e->graph;
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS];
    HG_TRY(check_names(g, params));
    HG_TRY(take_symbols(g, params, symbols));
    b->extents = hg_alloc((size_t)(g->terms.count + 1) * sizeof *b->extents);
    b->values = hg_calloc((size_t)g->values.count + 1, sizeof *b->values);
    b->bindings = hg_calloc((size_t)e->regions.count + 1, sizeof(hg_binding *));
    if (!b->extents || !b->values || !b->bindings) return hg_fail_memory();
    graph_extent_values(g, symbols, b->extents);
    HG_TRY(graph_check(g, b->extents));
    HG_TRY(graph_plan_memory(g, b->extents, graph_passes_have(&e->passes, GRAPH_PASS_SHARE),
                             &b->memory));
    HG_TRY(allocate_workspace(b));
    HG_TRY(bind_values(b, params));
    for (uint64_t i = 0; i < e->regions.count; i++) HG_TRY(bind_region(b, i));
    HG_TRY(bind_module(b, symbols));
    return sequence_regions(b);
}

hg_status hg_graph_bind(hg_graph_executable *e, const hg_params *params,
                        hg_graph_binding **binding) {
    HG_ENTRY;
    if (!e || !binding) return hg_null_argument(e ? "binding" : "executable");
    HG_TRY(hg_backend_alive(e->backend));
    hg_graph_binding *b = hg_calloc(1, sizeof *b);
    if (!b) return hg_fail_memory();
    hg_mutex_init(&b->lock);
    hg_atomic_fetch_add(&e->references, 1, HG_RELAXED);
    b->executable = e;
    hg_status status = bind_all(b, params);
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        hg_graph_binding_destroy(b);
        *hg_error_record() = kept;
        return status;
    }
    *binding = b;
    return HG_OK;
}

void hg_graph_binding_destroy(hg_graph_binding *b) {
    HG_ENTRY;
    if (!b) return;
    hg_graph_executable *e = b->executable;
    hg_graph_module_destroy(b->module);
    hg_graph_noted_drop(&b->noted, e->backend);
    for (uint64_t i = 0; b->bindings && i < e->regions.count; i++)
        hg_binding_destroy(b->bindings[i]);
    for (uint64_t i = e->graph->values.count; b->values && i-- > 0;)
        if (b->values[i].own)
            HG_IGNORE(hg_backend_free_buffer(e->backend, b->values[i].buffer)); /* it is there */
    if (b->workspace.handle)
        HG_IGNORE(hg_backend_free_buffer(e->backend, b->workspace)); /* the same */
    hg_event_destroy(b->last);
    graph_memory_free(&b->memory);
    hg_mutex_destroy(&b->lock);
    hg_free(b->extents);
    hg_free(b->values);
    hg_free(b->bindings);
    hg_free(b);
    release(e);
}

hg_status hg_graph_binding_memory(const hg_graph_binding *b, hg_graph_memory_info *info) {
    HG_ENTRY;
    if (!b || !info) return hg_null_argument(b ? "info" : "binding");
    HG_TRY(hg_sized_check(&MEMORY, info->size));
    hg_graph_memory_info own = {.size = sizeof own,
                                .workspace_bytes = b->memory.bytes,
                                .least_bytes = b->memory.least,
                                .launches = b->executable->regions.count};
    for (uint64_t i = 0; i < own.launches; i++)
        own.table_bytes += b->bindings[i]->steps.tables.range.size;
    hg_sized_give(&MEMORY, &own, info, info->size);
    return HG_OK;
}

/* ---- launches ---- */

static hg_status wait_for_last(hg_graph_binding *b) {
    hg_event *last = b->last;
    if (!last) return HG_OK;
    hg_status status = hg_event_wait(last);
    if (status == HG_ERROR_WOULD_BLOCK) return status;
    b->last = NULL;
    hg_event_destroy(last); /* what became of that launch, its own event says */
    return HG_OK;
}

uint64_t hg_graph_binding_module_runs(const hg_graph_binding *b) { return b->module_runs; }

void hg_graph_binding_spoil(hg_graph_binding *b) {
    b->spoils = true;
    hg_binding_end_sequence(b->whole); /* the host does something between calls */
    b->whole = NULL;
}

/* Blocks of the workspace, of GRAPH_ALIGN bytes, that values have which are made before a call and
 * read by it or later. */
static void mark_live(const hg_graph_binding *b, uint32_t call, uint8_t *used) {
    const hg_graph *g = b->executable->graph;
    for (uint32_t i = 0; i < g->values.count; i++) {
        const graph_life *life = &b->memory.lives[i];
        if (b->memory.owners[i] != i || life->first >= call || life->last < call) continue;
        memset(used + b->memory.offsets[i] / GRAPH_ALIGN, 1,
               (size_t)((bytes_of(b, i) + GRAPH_ALIGN - 1) / GRAPH_ALIGN));
    }
}

static hg_status spoil(const hg_graph_binding *b, uint32_t call) {
    uint64_t blocks = b->memory.bytes / GRAPH_ALIGN;
    uint8_t noise[GRAPH_ALIGN], *used = hg_calloc((size_t)blocks + 1, 1);
    hg_status status = used ? HG_OK : hg_fail_memory();
    memset(noise, 0xA5, sizeof noise);
    if (used) mark_live(b, call, used);
    for (uint64_t i = 0; i < blocks && status == HG_OK; i++)
        if (!used[i])
            status = hg_buffer_write(b->executable->backend, b->workspace, i * GRAPH_ALIGN, noise,
                                     sizeof noise);
    hg_free(used);
    return status;
}

static hg_status launch_regions(hg_graph_binding *b) {
    const hg_graph_executable *e = b->executable;
    if (b->whole) return hg_binding_launch(b->whole);
    for (uint64_t i = 0; i < e->regions.count; i++) {
        if (HG_UNLIKELY(b->spoils)) HG_TRY(spoil(b, e->regions.data[i].calls.data[0]));
        HG_TRY(hg_binding_launch(b->bindings[i]));
    }
    return HG_OK;
}

/* The host gives a program with state what it is at that time. */
static bool uses_state(const hg_graph_binding *b) {
    bool uses = false;
    for (uint64_t i = 0; i < b->executable->regions.count; i++)
        uses = uses || b->bindings[i]->executable->uses_state;
    return uses;
}

/* What fails is done again, and fails as it would have. */
static hg_status note_regions(hg_graph_binding *b) {
    hg_backend *backend = b->executable->backend;
    HG_TRY(hg_graph_noted_begin(&b->noted, backend));
    hg_status status = launch_regions(b);
    hg_graph_noted_end(&b->noted, backend, b->workspace, status);
    return status;
}

/* In its turn among the runs of the context, as launches call by call are. */
static hg_status run_module(hg_graph_binding *b, bool *done) {
    static const hg_touches ANYTHING = {.shares = HG_SHARES_ALL};
    hg_backend *backend = b->executable->backend;
    hg_ticket ticket = {.touches = &ANYTHING};
    hg_stream *stream;
    HG_TRY(hg_context_enter(backend->context, &ticket, &stream));
    hg_status status = b->module ? hg_graph_module_run(b->module, done)
                                 : hg_graph_noted_run(&b->noted, backend, done);
    hg_context_leave(backend->context, &ticket, stream);
    return status;
}

/* As one program of the device's compiler. *done false: nothing was done. */
static hg_status launch_module(hg_graph_binding *b, bool *done) {
    hg_backend *backend = b->executable->backend;
    hg_error kept = *hg_error_record();
    if (!b->module && hg_graph_noted_wanted(&b->noted, backend) && !b->spoils && !uses_state(b) &&
        note_regions(b) != HG_OK)
        *hg_error_record() = kept;
    return b->module || b->noted.noted ? run_module(b, done) : HG_OK;
}

static hg_status launch_all(hg_graph_binding *b) {
    bool done = false;
    HG_TRY(wait_for_last(b));
    HG_TRY(launch_module(b, &done));
    b->module_runs += done;
    if (done) return HG_OK;
    HG_TRY(launch_regions(b));
    b->noted.launches++; /* to its end: what only first launches do, or leave out, is over */
    return HG_OK;
}

hg_status hg_graph_binding_launch(hg_graph_binding *b) {
    HG_ENTRY;
    if (!b) return hg_null_argument("binding");
    hg_mutex_lock(&b->lock);
    hg_status status = launch_all(b);
    hg_mutex_unlock(&b->lock);
    return status;
}

/* The commands of all regions, behind the last submission. */
static hg_status submit_all(hg_graph_binding *b, hg_queue *queue, hg_event *const *waits,
                            size_t wait_count, hg_event **signal) {
    hg_binding *const *bindings = b->whole ? &b->whole : b->bindings;
    uint64_t count = b->whole ? 1 : b->executable->regions.count;
    hg_command *commands = hg_calloc((size_t)count + 1, sizeof *commands);
    hg_event **all = hg_calloc(wait_count + 1, sizeof *all), *last = NULL;
    hg_status status = commands && all ? HG_OK : hg_fail_memory();
    for (size_t i = 0; i < wait_count && all; i++) all[i] = waits[i];
    if (all && b->last) all[wait_count] = b->last;
    for (uint64_t i = 0; i < count && commands; i++)
        commands[i] = (hg_command){
            .size = sizeof(hg_command), .kind = HG_COMMAND_LAUNCH, .binding = bindings[i]};
    if (status == HG_OK)
        status = hg_queue_submit(queue, commands, (size_t)count, all,
                                 wait_count + (b->last != NULL), &last);
    if (status == HG_OK && signal) {
        hg_event_retain(last); /* the caller's, who may cancel it */
        *signal = last;
    }
    if (last) {
        hg_event_destroy(b->last);
        b->last = last;
    }
    hg_free(commands);
    hg_free(all);
    return status;
}

hg_status hg_graph_binding_submit(hg_graph_binding *b, hg_queue *queue, hg_event *const *waits,
                                  size_t wait_count, hg_event **signal) {
    HG_ENTRY;
    if (!b || !queue || (wait_count && !waits))
        return hg_null_argument(!b ? "binding" : !queue ? "queue" : "waits");
    hg_mutex_lock(&b->lock);
    hg_status status = submit_all(b, queue, waits, wait_count, signal);
    hg_mutex_unlock(&b->lock);
    return status;
}

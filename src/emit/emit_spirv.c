/* A kernel in device form to the words of a SPIR-V 1.5 module for Vulkan 1.2: one function a
 * function, structured control flow, values in single assignment. The entry point is named "main".
 * The walk over regions keeps no stack: regions know their owners.
 * Must not know: devices by name, drivers. */
#include "emit/emit_spirv_internal.h"
#include "kir/walk.h"
#include "isa/program.h"
#include <stdlib.h>
#include <string.h>

/* Labels of an IF: after it, its else part. Of a LOOP: after it, the next round, its head, its
 * body. */
enum { AFTER, ELSE = 1, NEXT_ROUND = 1, HEAD = 2, BODY = 3 };

/* ---- functions ---- */

static uint32_t function_id(spirv *s, const kir_function *f) {
    uint32_t *id = &s->by_id.function_ids[f->id];
    if (!*id) {
        *id = s->next_id++;
        spv_words(s, &s->to.todo, &f->id, 1);
    }
    return *id;
}

static uint32_t function_type(spirv *s, const kir_function *f) {
    uint32_t types[1 + HG_COUNT_OF(f->param_types) + HG_COUNT_OF(f->array_params)], count = 0;
    types[count++] = spv_type(s, f->result);
    for (uint8_t i = 0; i < f->param_count; i++) types[count++] = spv_type(s, f->param_types[i]);
    for (uint8_t i = 0; i < f->array_count; i++)
        types[count++] = spv_pointer(
            s, Spv_S_Private, spv_array(s, f->array_params[i]->type, f->array_params[i]->length));
    return spv_global(s, OpTypeFunction, 0, types, count);
}

static void call(spirv *s, const kir_value *v) {
    const kir_function *f = v->u.call.function;
    uint32_t operands[2 + HG_COUNT_OF(f->param_types) + HG_COUNT_OF(f->array_params)], count = 0;
    operands[count++] = spv_type(s, f->result);
    operands[count++] = function_id(s, f);
    for (uint8_t i = 0; i < v->nargs; i++) operands[count++] = spv_use(s, v->args[i]);
    for (uint8_t i = 0; i < f->array_count; i++) {
        if (v->u.call.arrays[i]->length != f->array_params[i]->length)
            spv_unsupported(s, "an array of another length than the parameter");
        operands[count++] = spv_var(s, v->u.call.arrays[i]);
    }
    s->by_id.ids[v->id] = spv_result(s, OpFunctionCall, operands, count);
}

static void leave(spirv *s, const kir_value *value) {
    uint32_t none = 0;
    if (s->function->result == KIR_VOID)
        spv_write(s, s->to.at, OpReturn, &none, 0);
    else
        SPV(s, s->to.at, OpReturnValue,
            value ? spv_use(s, value) : spv_null(s, spv_type(s, s->function->result)));
}

/* ---- control flow ---- */

static const kir_value *loop_around(const kir_value *v) {
    const kir_value *owner = v->parent->owner;
    while (owner && owner->op != KIR_LOOP) owner = owner->parent->owner;
    return owner;
}

static void jump(spirv *s, const kir_value *v) {
    const kir_value *loop;
    switch ((kir_op)v->op) {
    case KIR_BREAK:
        loop = loop_around(v);
        s->by_id.reached[loop->id] = true;
        SPV(s, s->to.at, OpBranch, s->by_id.ids[loop->id] + AFTER);
        break;
    case KIR_CONTINUE:
        SPV(s, s->to.at, OpBranch, s->by_id.ids[loop_around(v)->id] + NEXT_ROUND);
        break;
    case KIR_EXIT:
        if (s->function != s->module->functions)
            spv_unsupported(s, "an exit outside of the kernel function");
        leave(s, NULL);
        break;
    default: leave(s, v->nargs ? v->args[0] : NULL); break;
    }
}

static void open_if(spirv *s, const kir_value *v) {
    uint32_t labels = s->by_id.ids[v->id] = s->next_id, then = labels + 2,
             cond = spv_use(s, v->args[0]);
    s->next_id += 3;
    bool has_then = v->body[0]->first != NULL, has_else = v->body[1]->first != NULL;
    s->by_id.reached[v->id] = !has_then || !has_else;
    SPV(s, s->to.at, OpSelectionMerge, labels + AFTER, 0);
    SPV(s, s->to.at, OpBranchConditional, cond, has_then ? then : labels + AFTER,
        has_else ? labels + ELSE : labels + AFTER);
    SPV(s, s->to.at, OpLabel, has_then ? then : labels + ELSE);
}

static void open_loop(spirv *s, const kir_value *v) {
    uint32_t labels = s->by_id.ids[v->id] = s->next_id;
    s->next_id += 4;
    s->by_id.reached[v->id] = false;
    SPV(s, s->to.at, OpBranch, labels + HEAD);
    SPV(s, s->to.at, OpLabel, labels + HEAD);
    SPV(s, s->to.at, OpLoopMerge, labels + AFTER, labels + NEXT_ROUND,
        v->u.loop.rolled ? SPV_DO_NOT_UNROLL : 0);
    SPV(s, s->to.at, OpBranch, labels + BODY);
    SPV(s, s->to.at, OpLabel, labels + BODY);
}

/* The label after a construct; false when nothing reaches it. */
static bool after(spirv *s, const kir_value *owner) {
    uint32_t none = 0;
    SPV(s, s->to.at, OpLabel, s->by_id.ids[owner->id] + AFTER);
    if (!s->by_id.reached[owner->id]) spv_write(s, s->to.at, OpUnreachable, &none, 0);
    return s->by_id.reached[owner->id];
}

/* The end of a nested region. open: it is reached; afterwards: what follows is. An empty branch is
 * not written. */
static void close_region(spirv *s, const kir_cursor *c, bool *open) {
    const kir_value *owner = c->region->owner;
    uint32_t labels = s->by_id.ids[owner->id];
    if (owner->op == KIR_LOOP) {
        if (*open) SPV(s, s->to.at, OpBranch, labels + NEXT_ROUND);
        SPV(s, s->to.at, OpLabel, labels + NEXT_ROUND);
        SPV(s, s->to.at, OpBranch, labels + HEAD);
    } else if (*open && c->region->first) {
        SPV(s, s->to.at, OpBranch, labels + AFTER);
        s->by_id.reached[owner->id] = true;
    }
    if (!kir_cursor_ends_first(c)) {
        *open = after(s, owner);
    } else if (owner->body[0]->first && owner->body[1]->first) {
        SPV(s, s->to.at, OpLabel, labels + ELSE);
        *open = true;
    }
}

/* The line of an instruction (+ 1, as values name it) in the source that the module carries. */
static uint32_t line_of(const spirv *s, uint32_t inst) {
    uint64_t low = 0, high = s->source.sources.count;
    if (!high) return inst;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (s->source.sources.data[middle] < inst)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low + 1;
}

static void source_line(spirv *s, const kir_value *v) {
    if (!s->source.file || !v->inst || v->inst == s->source.line) return;
    s->source.line = v->inst;
    SPV(s, s->to.at, OpLine, s->source.file, line_of(s, v->inst), 0);
}

static void operation(spirv *s, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_PARAM:
    case KIR_INPUT:
    case KIR_ID: return; /* written where they are used */
    default: break;
    }
    bool volatile_load = v->op == KIR_LOAD && v->u.mem.volatile_access;
    if (!v->uses && !kir_has_side_effect(v) && !volatile_load) return;
    source_line(s, v);
    if (v->op == KIR_CALL)
        call(s, v);
    else if (!spv_memory(s, v) && !(s->by_id.ids[v->id] = spv_primitive(s, v)))
        spv_unsupported(s, "an operation or type was not lowered");
}

static bool is_empty_if(const kir_value *v) {
    return v->op == KIR_IF && !v->body[0]->first && !v->body[1]->first;
}

static void write_body(spirv *s, const kir_region *root) {
    kir_cursor c = kir_cursor_start(root);
    bool open = true; /* the place that is being written can be reached */
    while (!s->unsupported && !s->failed && ((c.v && open) || c.region != root)) {
        if (!open) c.v = NULL; /* the rest of the region is not */
        if (!c.v) {
            close_region(s, &c, &open);
        } else if (is_empty_if(c.v)) {
            (void)kir_cursor_over(&c);
            continue;
        } else if (c.v->op == KIR_IF) {
            source_line(s, c.v);
            open_if(s, c.v);
        } else if (c.v->op == KIR_LOOP) {
            open_loop(s, c.v);
        } else if (kir_is_jump(c.v)) {
            source_line(s, c.v);
            jump(s, c.v);
            open = false;
        } else {
            operation(s, c.v);
        }
        (void)kir_cursor_next(&c);
    }
    if (open) leave(s, NULL);
}

static bool begin_function(spirv *s, const kir_function *f) {
    s->function = f;
    s->to.at = &s->to.body;
    s->source.line = 0;
    s->to.vars.count = s->to.prologue.count = s->to.body.count = 0;
    s->launch.record_pointer = 0;
    memset(s->inputs, 0, ((size_t)s->module->inputs.count + 1) * sizeof *s->inputs);
    memset(s->made.device_ids, 0, sizeof s->made.device_ids);
    for (uint64_t i = 0; i < s->module->slots.count; i++) {
        s->slots[i].pointer = 0;
        memset(s->slots[i].base, 0, sizeof s->slots[i].base);
    }
    s->by_id.ids = hg_calloc((size_t)f->value_count + 1, sizeof *s->by_id.ids);
    s->by_id.reached = hg_calloc((size_t)f->value_count + 1, sizeof *s->by_id.reached);
    return s->by_id.ids && s->by_id.reached;
}

static void write_function(spirv *s, const kir_function *f) {
    if (!begin_function(s, f)) s->failed = true;
    if (f->param_count > HG_COUNT_OF(s->made.params))
        spv_unsupported(s, "a function of too many parameters");
    if (s->failed || s->unsupported) return;
    uint32_t id = s->by_id.function_ids[f->id], none = 0, result = spv_type(s, f->result),
             type = function_type(s, f);
    emit_words *out = &s->to.functions;
    spv_name(s, id, f->name);
    SPV(s, out, OpFunction, result, id, 0, type);
    for (uint8_t i = 0; i < f->param_count; i++) {
        s->made.params[i] = s->next_id++;
        SPV(s, out, OpFunctionParameter, spv_type(s, f->param_types[i]), s->made.params[i]);
    }
    for (uint8_t i = 0; i < f->array_count; i++) {
        const kir_var *x = f->array_params[i];
        s->by_id.vars_by_id[x->id] = s->next_id++;
        SPV(s, out, OpFunctionParameter,
            spv_pointer(s, Spv_S_Private, spv_array(s, x->type, x->length)),
            s->by_id.vars_by_id[x->id]);
        spv_name(s, s->by_id.vars_by_id[x->id], x->name);
    }
    SPV(s, out, OpLabel, s->next_id++);
    if (f == s->module->functions) spv_clear_arrays(s);
    write_body(s, f->body);
    spv_words(s, out, s->to.vars.data, s->to.vars.count);
    spv_words(s, out, s->to.prologue.data, s->to.prologue.count);
    spv_words(s, out, s->to.body.data, s->to.body.count);
    spv_write(s, out, OpFunctionEnd, &none, 0);
    hg_free(s->by_id.ids);
    hg_free(s->by_id.reached);
    s->by_id.ids = NULL;
    s->by_id.reached = NULL;
}

/* ---- the module ---- */

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The instructions that the module's values come from, + 1, each once. */
static void find_sources(spirv *s) {
    uint32_t last = 0;
    uint64_t kept = 0;
    for (const kir_function *f = s->module->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v && !s->failed;
             v = kir_walk(v, f->body)) {
            if (!v->inst || v->inst == last || v->inst > s->module->program->inst_count) continue;
            uint32_t *n = hg_vec_push(&s->source.sources);
            if (n)
                *n = last = v->inst;
            else
                s->failed = true;
        }
    if (s->source.sources.count)
        qsort(s->source.sources.data, s->source.sources.count, sizeof *s->source.sources.data,
              compare_u32);
    for (uint64_t i = 0; i < s->source.sources.count; i++)
        if (!i || s->source.sources.data[i] != s->source.sources.data[kept - 1])
            s->source.sources.data[kept++] = s->source.sources.data[i];
    s->source.sources.count = kept;
}

/* The program's text, one instruction a line, for OpLine to refer to; of a long program, which may
 * be cut into many kernels, only the instructions of this one. A string of more than 65,535 words
 * continues. */
static void write_source(spirv *s) {
    enum { CHUNK = 240000, WHOLE = 256 };
    const hg_program *program = s->module->program;
    if (!s->options->debug || !program) return;
    hg_text text = {0};
    if (program->inst_count > WHOLE) find_sources(s);
    for (uint32_t i = 0;
         i < (s->source.sources.count ? s->source.sources.count : program->inst_count); i++) {
        hg_print_instruction(&text, program,
                             s->source.sources.count ? s->source.sources.data[i] - 1 : i);
        hg_text_add(&text, "\n", 1);
    }
    s->source.file = s->next_id++;
    const char *name = s->module->name ? s->module->name : "program";
    spv_write_text(s, &s->to.debug, OpString, &s->source.file, 1, name, strlen(name));
    size_t first = text.length < CHUNK ? text.length : CHUNK;
    spv_write_text(s, &s->to.debug, OpSource, (const uint32_t[]){Spv_U_Unknown, 0, s->source.file},
                   3, text.data ? text.data : "", first);
    for (size_t at = first; at < text.length; at += CHUNK) {
        size_t length = text.length - at < CHUNK ? text.length - at : CHUNK;
        spv_write_text(s, &s->to.debug, OpSourceContinued, NULL, 0, text.data + at, length);
    }
    s->failed |= text.failed;
    hg_text_free(&text);
}

static void execution_modes(spirv *s, emit_words *out, uint32_t entry) {
    static const struct {
        uint32_t mode, capability;
    } CONTROLS[] = {{Spv_X_RoundingModeRTE, Spv_C_RoundingModeRTE},
                    {Spv_X_DenormPreserve, Spv_C_DenormPreserve},
                    {Spv_X_SignedZeroInfNanPreserve, Spv_C_SignedZeroInfNanPreserve}};
    const emit_spirv_options *o = s->options;
    const bool *wanted[] = {o->float_controls_rte, o->float_controls_preserve,
                            o->float_controls_inf_nan};
    SPV(s, out, OpExecutionMode, entry, Spv_X_LocalSize, o->group[0], o->group[1], o->group[2]);
    for (int control = 0; control < 3; control++)
        for (uint32_t wide = 0; wide < 2; wide++) {
            if (!wanted[control][wide] || !s->made.types[wide ? HG_TYPE_F64 : HG_TYPE_F32])
                continue;
            spv_capability(s, CONTROLS[control].capability);
            SPV(s, out, OpExecutionMode, entry, CONTROLS[control].mode, wide ? 64 : 32);
        }
}

/* Sections in the order of the specification, 2.4. */
static void assemble(spirv *s, emit_words *out) {
    bool by_address = s->options->target.addressed;
    uint32_t entry = s->by_id.function_ids[s->module->functions->id], at = (uint32_t)out->count;
    emit_words modes = {0}, entry_point = {0};
    execution_modes(s, &modes, entry);
    if (by_address) spv_capability(s, Spv_C_PhysicalStorageBufferAddresses);
    spv_words(s, out, (const uint32_t[]){0x07230203, 0x00010500, 0, s->next_id, 0}, 5);
    SPV(s, out, OpCapability, Spv_C_Shader);
    for (uint64_t i = 0; i < s->to.capabilities.count; i++)
        SPV(s, out, OpCapability, s->to.capabilities.data[i]);
    for (uint64_t i = 0; i < s->to.capabilities.count; i++)
        if (s->to.capabilities.data[i] == Spv_C_DotProduct)
            spv_write_text(s, out, OpExtension, NULL, 0, "SPV_KHR_integer_dot_product", 27);
    spv_write_text(s, out, OpExtInstImport, &s->made.glsl, 1, "GLSL.std.450", 12);
    SPV(s, out, OpMemoryModel, by_address ? Spv_A_PhysicalStorageBuffer64 : Spv_A_Logical,
        Spv_M_GLSL450);
    spv_write_text(s, &entry_point, OpEntryPoint, (const uint32_t[]){Spv_E_GLCompute, entry}, 2,
                   "main", 4);
    spv_words(s, &entry_point, s->to.interface.data, s->to.interface.count);
    if (entry_point.count > 65535)
        spv_unsupported(s, "more variables than an entry point can name");
    if (entry_point.data) entry_point.data[0] = (uint32_t)entry_point.count << 16 | OpEntryPoint;
    const emit_words *sections[] = {
        &entry_point,       &modes,         &s->to.debug,    &s->to.names,
        &s->to.decorations, &s->to.globals, &s->to.functions};
    for (size_t i = 0; i < HG_COUNT_OF(sections); i++)
        spv_words(s, out, sections[i]->data, sections[i]->count);
    uint32_t *map = hg_calloc(s->next_id, sizeof *map);
    if (!map) s->failed = true;
    if (map && !s->failed && !s->unsupported)
        spv_renumber(out->data + at, out->count - at, map, &out->data[at + 3]);
    hg_free(map);
    hg_vec_free(&modes);
    hg_vec_free(&entry_point);
}

/* Side tables: one block of memory each, by id. */
static bool allocate(spirv *s) {
    const kir_module *m = s->module;
    s->slots = hg_calloc((size_t)m->slots.count + 1, sizeof *s->slots);
    s->launch.members = hg_calloc((size_t)m->inputs.count + 1, sizeof *s->launch.members);
    s->inputs = hg_calloc((size_t)m->inputs.count + 1, sizeof *s->inputs);
    s->by_id.all_functions = hg_calloc((size_t)m->function_count + 1,
                                       sizeof *s->by_id.all_functions);
    s->by_id.function_ids = hg_calloc((size_t)m->function_count + 1, sizeof *s->by_id.function_ids);
    s->by_id.vars_by_id = hg_calloc((size_t)m->var_count + 1, sizeof *s->by_id.vars_by_id);
    s->by_id.tables_by_id = hg_calloc((size_t)m->table_count + 1, sizeof *s->by_id.tables_by_id);
    s->by_id.passed = hg_calloc((size_t)m->var_count + 1, sizeof *s->by_id.passed);
    return s->slots && s->launch.members && s->inputs && s->by_id.all_functions &&
           s->by_id.function_ids && s->by_id.vars_by_id && s->by_id.tables_by_id && s->by_id.passed;
}

static void release(spirv *s) {
    emit_words *sections[] = {&s->to.debug,    &s->to.names,        &s->to.decorations,
                              &s->to.globals,  &s->to.functions,    &s->to.vars,
                              &s->to.prologue, &s->to.body,         &s->to.interface,
                              &s->to.todo,     &s->to.capabilities, &s->source.sources};
    void *tables[] = {s->made.table,
                      s->slots,
                      s->launch.members,
                      s->inputs,
                      (void *)s->by_id.all_functions,
                      s->by_id.function_ids,
                      s->by_id.vars_by_id,
                      s->by_id.tables_by_id,
                      s->by_id.passed,
                      s->by_id.ids,
                      s->by_id.reached};
    for (size_t i = 0; i < HG_COUNT_OF(sections); i++) hg_vec_free(sections[i]);
    for (size_t i = 0; i < HG_COUNT_OF(tables); i++) hg_free(tables[i]);
}

static void write_module(spirv *s, emit_words *out) {
    for (kir_function *f = s->module->functions; f; f = f->next) {
        kir_number(f);
        s->by_id.all_functions[f->id] = f;
    }
    spv_prepare_memory(s);
    s->made.glsl = s->next_id++;
    write_source(s);
    spv_type(s, HG_TYPE_U32);
    function_id(s, s->module->functions);
    for (uint64_t i = 0; i < s->to.todo.count && !s->failed && !s->unsupported; i++)
        write_function(s, s->by_id.all_functions[s->to.todo.data[i]]);
    if (!s->failed && !s->unsupported) assemble(s, out);
}

hg_status emit_spirv(const kir_module *kernel, const kir_device_layout *layout,
                     const emit_spirv_options *options, emit_words *out) {
    spirv writer = {.module = kernel, .layout = layout, .options = options, .next_id = 1},
          *s = &writer;
    if (kernel->functions->result != KIR_VOID || kernel->functions->param_count ||
        kernel->functions->array_count)
        return hg_fail(HG_ERROR_ISA,
                       "no SPIR-V for '%s': the kernel function has parameters or a result",
                       kernel->name);
    kir_count_uses((kir_module *)(uintptr_t)kernel);
    uint64_t before = out->count;
    if (allocate(s))
        write_module(s, out);
    else
        s->failed = true;
    release(s);
    if (s->failed || s->unsupported) out->count = before;
    if (s->failed) return hg_fail_memory();
    return s->unsupported
               ? hg_fail(HG_ERROR_ISA, "no SPIR-V for '%s': %s", kernel->name, s->unsupported)
               : HG_OK;
}

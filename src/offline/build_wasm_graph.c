/* The functions of an array graph in a module of WebAssembly that stands alone: whether what the
 * call gives is large enough, then the graph's launches one behind the other.
 * Must not know: kernels. */
#include "offline/build_wasm_internal.h"
#include <stdio.h>

static const build_graph *graph_of(const build_wasm *k) { return k->job->graph; }

/* ---- what the call gives ---- */

/* An array of the caller has to be as large as the value. */
static void look_at_array(build_wasm *k, uint32_t param, uint32_t value) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t at = k->f.locals[param], needed = wasm_take(c, WASM_I64);
    build_wasm_push_value_bytes(k, value);
    w_set(c, needed);
    bw_store(c, W_I64_STORE, k->run + FOUND_VALUES, needed);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, at + 1);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    w_get(c, at + 1);
    w(c, W_I64_EXTEND_I32_U);
    w_get(c, needed);
    w(c, W_I64_LT_U);
    w_get(c, at);
    w(c, W_I32_EQZ);
    w_get(c, needed);
    w_i64(c, 0);
    w(c, W_I64_NE);
    w(c, W_I32_AND);
    w(c, W_I32_OR);
    build_wasm_refuse_if(k, param + 1);
    w_get(c, at + 1);
    w(c, W_I64_EXTEND_I32_U);
    build_wasm_refuse_outside(k, param + 1, at);
    wasm_release(c, mark);
}

/* The value that a parameter of the graph is. */
static uint32_t value_of(const build_graph *b, const hg_param *param) {
    for (uint64_t i = 0; param->dir == HG_DIR_OUT && i < b->g->outputs.count; i++)
        if (strcmp(b->g->outputs.data[i].name, param->name) == 0)
            return b->g->outputs.data[i].value;
    for (uint32_t i = 0; param->dir != HG_DIR_OUT && i < b->g->values.count; i++) {
        const graph_value *v = &b->g->values.data[i];
        if ((v->source == GRAPH_INPUT || (v->source == GRAPH_CONSTANT && !v->bytes)) &&
            strcmp(v->name, param->name) == 0)
            return i;
    }
    return GRAPH_NOT_SET;
}

/* The locals of what lies where a value does. */
static uint32_t local_of(const build_wasm *k, uint32_t value) {
    const build_graph *b = graph_of(k);
    const graph_value *v = &b->g->values.data[value];
    const hg_program *face = b->face.program;
    for (uint32_t i = 0; i < face->param_count; i++) {
        const hg_param *param = &face->params[i];
        if (param->kind != HG_PARAM_BUFFER) continue;
        if ((param->dir == HG_DIR_OUT) == (v->source == GRAPH_RESULT) &&
            value_of(b, param) == value)
            return k->f.locals[i];
    }
    return 0;
}

/* ---- launches ---- */

static void push_place(build_wasm *k, const build_place *place, const uint32_t *constants) {
    const build_graph *b = graph_of(k);
    const uint32_t slot = GRAPH_NOT_SET - 1 - place->value;
    wasm_code *c = k->c;
    if (place->value == GRAPH_NOT_SET) {
        w_get(c, k->f.work);
    } else if (b->open && slot < b->slot_count) {
        w_get(c, k->f.work);
        build_wasm_push_slot(k, slot);
        w(c, W_I32_WRAP_I64);
        w(c, W_I32_ADD);
    } else if (constants[place->value]) {
        w_i32(c, constants[place->value]);
    } else {
        w_get(c, local_of(k, place->value));
    }
    build_wasm_push_begin(k, place);
    w(c, W_I32_WRAP_I64);
    w(c, W_I32_ADD);
    build_wasm_push_value_bytes(k, place->of);
    w(c, W_I32_WRAP_I64);
}

/* Where the values end in the workspace, as an i64. */
static void push_end(build_wasm *k) {
    const build_graph *b = graph_of(k);
    if (b->open)
        build_wasm_push_slot(k, b->slot_count);
    else
        w_i64(k->c, (b->memory.bytes + GRAPH_ALIGN - 1) & ~(uint64_t)(GRAPH_ALIGN - 1));
}

/* An extent that a launch takes as a scalar. */
static void push_scalar(build_wasm *k, uint32_t region, uint32_t param) {
    const hg_param *p = &k->job->programs[region].program->params[param];
    build_wasm_push_graph_extent(k, build_graph_scalar_of(k->job, region, param));
    if (hg_type_size_bytes((hg_type)p->type) < 8) w(k->c, W_I32_WRAP_I64);
}

/* The lines of the calls that a launch's instructions come from. */
static uint32_t write_lines(build_wasm *k, const graph_region *r) {
    uint32_t first = 0;
    for (uint32_t i = 0; i <= r->program->inst_count; i++) {
        const uint32_t line = i < r->program->inst_count
                                  ? build_graph_call_of(graph_of(k), r, i)->line
                                  : 0;
        const uint8_t bytes[4] = {(uint8_t)line, (uint8_t)(line >> 8), (uint8_t)(line >> 16),
                                  (uint8_t)(line >> 24)};
        const uint32_t at = wasm_data(k->m, bytes, sizeof bytes, i ? 1 : 4);
        if (!i) first = at;
    }
    return k->m->alone.base + first;
}

static void write_launch(build_wasm *k, uint32_t region, const uint32_t *constants) {
    const build_graph *b = graph_of(k);
    const build_program *p = &k->job->programs[region];
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t code = wasm_take(c, WASM_I32);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        if (!build_wasm_takes(p, i)) continue;
        if (p->program->params[i].kind == HG_PARAM_SCALAR)
            push_scalar(k, region, i);
        else
            push_place(k, &p->places[i], constants);
    }
    for (uint32_t part = 0; part < 2 && p->spans; part++) {
        w_get(c, k->f.work + part);
        push_end(k);
        w(c, W_I32_WRAP_I64);
        w(c, part ? W_I32_SUB : W_I32_ADD);
    }
    w_number(c, W_CALL, k->functions[region].run);
    w_tee(c, code);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, code);
    w_i32(c, 0);
    w(c, W_I32_GT_S);
    (void)w_open(c, W_IF, WASM_VOID);
    w_i32(c, k->run + FOUND_INSTRUCTION);
    bw_load(c, W_I32_LOAD, k->run + FOUND_INSTRUCTION);
    w_i32(c, 4);
    w(c, W_I32_MUL);
    w_memory(c, W_I32_LOAD, write_lines(k, &b->regions.data[region]));
    w_memory(c, W_I32_STORE, 0);
    w(c, W_END);
    w_get(c, code);
    w(c, W_RETURN);
    w(c, W_END);
    wasm_release(c, mark);
}

/* ---- functions ---- */

/* The bytes of the workspace: those of the values, and the most that a launch takes; -1: more than
 * there can be. */
static uint32_t write_size(build_wasm *k, const char *signature) {
    char name[HG_MAX_IDENT_BYTES + 16];
    wasm_code code, *c = &code;
    snprintf(name, sizeof name, "%s_work_bytes", k->job->name);
    const uint32_t number = wasm_declare(k->m, name, signature, true);
    wasm_begin(c, signature);
    k->c = c;
    build_wasm_find_extents(k);
    const uint32_t most = wasm_take(c, WASM_I32), next = wasm_take(c, WASM_I32);
    for (uint32_t i = 0; i < k->job->count; i++) {
        const build_program *p = &k->job->programs[i];
        if (!p->spans) continue;
        for (uint32_t n = 0; n < p->program->param_count; n++)
            if (p->program->params[n].kind == HG_PARAM_SCALAR && build_wasm_takes(p, n))
                push_scalar(k, i, n);
        w_number(c, W_CALL, k->functions[i].bytes);
        w_tee(c, next);
        w_get(c, most);
        w_get(c, next);
        w_get(c, most);
        w(c, W_I32_GT_U);
        w(c, W_SELECT);
        w_set(c, most);
    }
    w_i32(c, UINT32_MAX); /* no such memory */
    w_get(c, most);
    push_end(k);
    w(c, W_I32_WRAP_I64);
    w(c, W_I32_ADD);
    push_end(k);
    w_i64(c, INT32_MAX);
    w(c, W_I64_GT_U);
    w_get(c, most);
    w(c, W_I64_EXTEND_I32_U);
    push_end(k);
    w(c, W_I64_ADD);
    w_i64(c, INT32_MAX);
    w(c, W_I64_GT_U);
    w(c, W_I32_OR);
    w(c, W_SELECT);
    wasm_define(k->m, number, c);
    return number;
}

static void look_at_call(build_wasm *k, uint32_t size) {
    const build_program *face = &graph_of(k)->face;
    wasm_code *c = k->c;
    for (uint32_t i = 0; i < face->program->param_count; i++) {
        const hg_param *param = &face->program->params[i];
        if (param->kind == HG_PARAM_BUFFER) look_at_array(k, i, value_of(graph_of(k), param));
    }
    if (!face->spans) return;
    const uint32_t parameter = face->program->param_count + 1;
    w_i32(c, k->run + FOUND_VALUES);
    for (uint32_t i = 0; i < face->program->param_count; i++)
        if (face->program->params[i].kind == HG_PARAM_SCALAR && build_wasm_takes(face, i))
            w_get(c, k->f.locals[i]);
    w_number(c, W_CALL, size);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, k->f.work + 1);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    bw_load(c, W_I64_LOAD, k->run + FOUND_VALUES);
    bw_load(c, W_I64_LOAD, k->run + FOUND_LIMIT);
    w(c, W_I64_GT_U);
    build_wasm_refuse_if(k, parameter);
    w_get(c, k->f.work + 1);
    w(c, W_I64_EXTEND_I32_U);
    build_wasm_refuse_outside(k, parameter, k->f.work);
}

static hg_status write_run(build_wasm *k, const char *signature, uint32_t size,
                           const uint32_t *constants) {
    wasm_code code, *c = &code;
    const uint32_t number = wasm_declare(k->m, k->job->name, signature, true);
    wasm_begin(c, signature);
    k->c = c;
    w_i32(c, k->run + FOUND); /* nothing of the call before */
    w_i32(c, 0);
    w_i32(c, RUN_PHASE - FOUND);
    w(c, W_MEMORY_FILL);
    build_wasm_find_extents(k);
    const hg_status status = build_wasm_check_extents(k);
    look_at_call(k, size);
    bw_store_i64(c, k->run + FOUND_VALUES, 0);
    bw_store_i64(c, k->run + FOUND_LIMIT, 0);
    for (uint32_t i = 0; i < k->job->count; i++) write_launch(k, i, constants);
    w_i32(c, 0);
    wasm_define(k->m, number, c);
    return status;
}

/* Elements that the graph brings: where; 0: the value is none of them. */
static uint32_t *write_constants(build_wasm *k) {
    const build_graph *b = graph_of(k);
    uint32_t *at = hg_calloc((size_t)b->g->values.count + 1, sizeof *at);
    for (uint32_t i = 0; at && i < b->g->values.count; i++) {
        const graph_value *v = &b->g->values.data[i];
        if (v->source == GRAPH_CONSTANT && v->bytes)
            at[i] = k->m->alone.base +
                    wasm_data(k->m, v->bytes, b->extents[v->elements] * graph_type_bytes(v), 64);
    }
    return at;
}

hg_status build_wasm_add_graph(build_wasm *k) {
    const build_program *face = &graph_of(k)->face;
    const uint32_t count = face->program->param_count;
    uint32_t *constants = write_constants(k), local = 0;
    hg_text signature = {0}, of_size = {0};
    k->f.p = face;
    k->f.locals = hg_calloc(count + (size_t)1, sizeof *k->f.locals);
    for (uint32_t i = 0; k->f.locals && i < count; i++) {
        const bool scalar = face->program->params[i].kind == HG_PARAM_SCALAR;
        if (!build_wasm_takes(face, i)) continue;
        k->f.locals[i] = local;
        local += scalar ? 1 : 2;
        hg_text_addf(&signature, scalar ? "I" : "ii");
        if (scalar) hg_text_addf(&of_size, "I");
    }
    k->f.work = local;
    hg_text_addf(&signature, face->spans ? "ii:i" : ":i");
    hg_text_addf(&of_size, ":i");
    const bool good = constants && k->f.locals && signature.data && !signature.failed &&
                      of_size.data && !of_size.failed;
    hg_status status = good ? build_wasm_add_extents(k) : hg_fail_memory();
    if (status == HG_OK)
        status = write_run(k, signature.data, face->spans ? write_size(k, of_size.data) : 0,
                           constants);
    hg_text_free(&signature);
    hg_text_free(&of_size);
    hg_free(k->f.locals);
    hg_free(constants);
    return status;
}

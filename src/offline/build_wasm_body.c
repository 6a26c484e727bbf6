/* The function of a program in a module of WebAssembly that stands alone: parameters, the launch,
 * memory, and the plan: its kernels, what the host computes between them, and jumps.
 * Must not know: what kernels compute, graphs. */
#include "offline/build_wasm_internal.h"
#include <stdio.h>
#include <string.h>

enum { DEFAULT_BLOCK = 256, WORK_ALIGN = 64 };

/* ---- parameters ---- */

bool build_wasm_takes(const build_program *p, uint32_t i) {
    const hg_param *param = &p->program->params[i];
    return param->kind != HG_PARAM_DATA && param->kind != HG_PARAM_SCRATCH && !p->fixed[i];
}

static bool is_wide(const hg_param *param) {
    return param->kind == HG_PARAM_SCALAR && !build_scalar_type((hg_type)param->type);
}

static char letter_of(const hg_param *param) {
    switch ((hg_type)param->type) {
    case HG_TYPE_F32: return 'f';
    case HG_TYPE_F64: return 'F';
    case HG_TYPE_I64:
    case HG_TYPE_U64: return 'I';
    default: return 'i';
    }
}

/* size: of NAME_work_bytes, which takes what the workspace's size follows from. */
static void write_signature(const build_program *p, bool size, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (!build_wasm_takes(p, i)) continue;
        if (size && (param->kind != HG_PARAM_SCALAR || is_wide(param))) continue;
        if (param->kind != HG_PARAM_SCALAR)
            hg_text_addf(out, "ii");
        else
            hg_text_addf(out, "%c", is_wide(param) ? 'i' : letter_of(param));
    }
    hg_text_addf(out, p->spans && !size ? "ii:i" : ":i");
}

/* The bits of a scalar of at most 64. */
static void push_scalar(build_wasm *k, uint32_t i) {
    const build_program *p = k->f.p;
    const hg_param *param = &p->program->params[i];
    const uint64_t size = hg_type_size_bytes((hg_type)param->type);
    if (p->fixed[i]) {
        w_i64(k->c, p->fixed[i]->bits);
        return;
    }
    w_get(k->c, k->f.locals[i]);
    switch (letter_of(param)) {
    case 'I': return;
    case 'F': w(k->c, W_I64_REINTERPRET_F64); return;
    case 'f': w(k->c, W_I32_REINTERPRET_F32); break;
    default:
        if (size < 4) {
            w_i32(k->c, size == 1 ? 0xff : 0xffff);
            w(k->c, W_I32_AND);
        }
    }
    w(k->c, W_I64_EXTEND_I32_U);
}

/* `size` bytes of a parameter from one on, as an i64; of memory its handle. */
static void push_param(build_wasm *k, uint32_t i, uint64_t start, uint64_t size) {
    const hg_param *param = &k->f.p->program->params[i];
    if (param->kind != HG_PARAM_SCALAR) {
        w_i64(k->c, i + UINT64_C(1));
    } else if (is_wide(param)) {
        w_get(k->c, k->f.locals[i]);
        w_memory(k->c, size > 4 ? W_I64_LOAD : W_I64_LOAD32_U, start);
    } else {
        push_scalar(k, i);
    }
}

/* ---- extents: exact numbers from 0 to 2^64 - 1; `bad` is set where one is not ---- */

void build_wasm_set_bad(build_wasm *k) {
    w_get(k->c, k->f.bad);
    w(k->c, W_I32_OR);
    w_set(k->c, k->f.bad);
}

void build_wasm_apply(build_wasm *k, hg_extent_op_kind op) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t a = wasm_take(c, WASM_I64), b = wasm_take(c, WASM_I64),
                   r = wasm_take(c, WASM_I64);
    w_set(c, b);
    w_set(c, a);
    switch (op) {
    case HG_EXTENT_OP_ADD:
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_ADD);
        w_tee(c, r);
        w_get(c, a);
        w(c, W_I64_LT_U);
        build_wasm_set_bad(k);
        w_get(c, r);
        break;
    case HG_EXTENT_OP_SUB:
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_LT_U);
        build_wasm_set_bad(k);
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_SUB);
        break;
    case HG_EXTENT_OP_MUL: /* a != 0 && a * b / a != b */
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_MUL);
        w_tee(c, r);
        w_get(c, a);
        w_get(c, a);
        w(c, W_I64_EQZ);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_OR);
        w(c, W_I64_DIV_U);
        w_get(c, b);
        w(c, W_I64_NE);
        w_get(c, a);
        w_i64(c, 0);
        w(c, W_I64_NE);
        w(c, W_I32_AND);
        build_wasm_set_bad(k);
        w_get(c, r);
        break;
    case HG_EXTENT_OP_DIV:
    case HG_EXTENT_OP_CEIL_DIV:
        w_get(c, b);
        w(c, W_I64_EQZ);
        build_wasm_set_bad(k);
        w_get(c, b);
        w_get(c, b);
        w(c, W_I64_EQZ);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_OR);
        w_set(c, b);
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_DIV_U);
        if (op == HG_EXTENT_OP_DIV) break;
        w_get(c, a);
        w_get(c, b);
        w(c, W_I64_REM_U);
        w_i64(c, 0);
        w(c, W_I64_NE);
        w(c, W_I64_EXTEND_I32_U);
        w(c, W_I64_ADD);
        break;
    default:
        w_get(c, a);
        w_get(c, b);
        w_get(c, a);
        w_get(c, b);
        w(c, op == HG_EXTENT_OP_MIN ? W_I64_LT_U : W_I64_GT_U);
        w(c, W_SELECT);
    }
    wasm_release(c, mark);
}

static void push_extent(build_wasm *k, const hg_extent *e) {
    if (e->kind == HG_EXTENT_NUMBER) w_i64(k->c, e->value);
    if (e->kind == HG_EXTENT_PARAM) push_scalar(k, e->param);
    for (uint16_t i = 0; e->kind == HG_EXTENT_EXPRESSION && i < e->op_count; i++) {
        const hg_extent_op *op = &k->f.p->program->extent_ops[e->value + i];
        if (op->kind == HG_EXTENT_OP_NUMBER)
            w_i64(k->c, op->value);
        else if (op->kind == HG_EXTENT_OP_PARAM)
            push_scalar(k, op->param);
        else
            build_wasm_apply(k, (hg_extent_op_kind)op->kind);
    }
}

/* ---- a function ---- */

void build_wasm_refuse_if(build_wasm *k, uint32_t parameter) {
    wasm_code *c = k->c;
    (void)w_open(c, W_IF, WASM_VOID);
    bw_store_i32(c, k->run + FOUND_CODE, (uint32_t)BAD_LAUNCH);
    bw_store_i64(c, k->run + FOUND_HANDLE, parameter);
    w_i32(c, (uint32_t)BAD_LAUNCH);
    w(c, W_RETURN);
    w(c, W_END);
}

static uint32_t volume_of(const hg_program *p) {
    return p->block[0] ? p->block[0] * p->block[1] * p->block[2] : 0;
}

/* launch.lanes, grid and block, of what the program asks for. */
static void write_launch(build_wasm *k) {
    const hg_program *program = k->f.p->program;
    const uint32_t volume = volume_of(program), lanes = k->f.lanes;
    wasm_code *c = k->c;
    const bool grid = !program->lanes_count && program->grid_count;
    const uint32_t number = wasm_take(c, WASM_I64);
    for (uint32_t axis = 0; axis < 3; axis++)
        bw_store_i32(c, k->run + WA_LAUNCH_BLOCK + 4 * axis, volume ? program->block[axis] : 1);
    w_i64(c, program->lanes_count || !grid ? 1 : volume ? volume : 1);
    for (uint32_t i = 0; i < program->lanes_count; i++) {
        push_extent(k, &program->lanes[i]);
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
    }
    for (uint32_t i = 0; grid && i < 3; i++) {
        if (i < program->grid_count)
            push_extent(k, &program->grid[i]);
        else
            w_i64(c, 1);
        w_tee(c, number);
        w_i64(c, UINT32_MAX);
        w(c, W_I64_GT_U);
        build_wasm_set_bad(k);
        w_i32(c, k->run + WA_LAUNCH_GRID + 4 * i);
        w_get(c, number);
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
        w_get(c, number);
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
    }
    w_tee(c, lanes);
    w_i64(c, UINT64_C(1) << 40);
    w(c, W_I64_GE_U);
    build_wasm_set_bad(k);
    w_get(c, k->f.bad);
    build_wasm_refuse_if(k, 0);
    bw_store(c, W_I64_STORE, k->run + WA_LAUNCH_LANES, lanes);
    if (volume) {
        w_i64(c, volume);
    } else { /* min(max(lanes, 1), 256) */
        w_get(c, lanes);
        w_i64(c, 1);
        build_wasm_apply(k, HG_EXTENT_OP_MAX);
        w_i64(c, grid ? 1 : DEFAULT_BLOCK);
        build_wasm_apply(k, HG_EXTENT_OP_MIN);
    }
    w_set(c, k->f.volume);
    if (grid) return;
    if (!volume) {
        w_i32(c, k->run + WA_LAUNCH_BLOCK);
        w_get(c, k->f.volume);
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
    }
    for (int axis = 0; axis < 2; axis++) { /* blocks, in rows of 2^32 - 1 */
        w_i32(c, k->run + WA_LAUNCH_GRID + 4 * (uint32_t)axis);
        w_get(c, lanes);
        w_get(c, k->f.volume);
        build_wasm_apply(k, HG_EXTENT_OP_CEIL_DIV);
        w_i64(c, UINT32_MAX);
        build_wasm_apply(k, axis ? HG_EXTENT_OP_CEIL_DIV : HG_EXTENT_OP_MIN);
        if (axis) {
            w_i64(c, 1);
            build_wasm_apply(k, HG_EXTENT_OP_MAX);
        }
        w(c, W_I32_WRAP_I64);
        w_memory(c, W_I32_STORE, 0);
    }
    bw_store_i32(c, k->run + WA_LAUNCH_GRID + 8, 1);
}

/* An array that has fewer bytes than its extents say is no launch: found has the array, the bytes
 * that it must have, and those that it has. */
static void write_extents(build_wasm *k, uint32_t number) {
    const hg_param *param = &k->f.p->program->params[number];
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    if (param->kind != HG_PARAM_BUFFER || param->rank == 255) return;
    const uint32_t needed = wasm_take(c, WASM_I64), bytes = k->f.locals[number] + 1;
    w_i64(c, hg_type_size_bytes((hg_type)param->type));
    for (uint8_t d = 0; d < param->rank; d++) {
        push_extent(k, &param->dims[d]);
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
    }
    w_tee(c, needed);
    w_get(c, bytes);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_GT_U);
    w_get(c, k->f.bad);
    w(c, W_I32_OR);
    w_tee(c, k->f.bad);
    (void)w_open(c, W_IF, WASM_VOID);
    bw_store(c, W_I64_STORE, k->run + FOUND_VALUES, needed);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, bytes);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    w(c, W_END);
    w_get(c, k->f.bad);
    build_wasm_refuse_if(k, number + 1);
    wasm_release(c, mark);
}

void build_wasm_refuse_outside(build_wasm *k, uint32_t parameter, uint32_t at) {
    wasm_code *c = k->c;
    const uint64_t mark = c->taken.count;
    const uint32_t bytes = wasm_take(c, WASM_I64);
    w_tee(c, bytes); /* at + bytes <= the memory's pages */
    w_get(c, at);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_ADD);
    w(c, W_MEMORY_SIZE);
    w(c, W_I64_EXTEND_I32_U);
    w_i64(c, 16);
    w(c, W_I64_SHL);
    w(c, W_I64_GT_U);
    w_get(c, at);
    w_number(c, W_GLOBAL_GET, WASM_CONSTANTS + HEAP_BASE);
    w(c, W_I32_LT_U);
    w_get(c, bytes);
    w_i64(c, 0);
    w(c, W_I64_NE);
    w(c, W_I32_AND);
    w(c, W_I32_OR);
    build_wasm_refuse_if(k, parameter);
    wasm_release(c, mark);
}

/* A launch of a graph is given what the graph's function has looked at. */
static void refuse_outside(build_wasm *k, uint32_t i, uint32_t at) {
    if (k->f.p->use == BUILD_LAUNCH)
        w(k->c, W_DROP);
    else
        build_wasm_refuse_outside(k, i + 1, at);
}

/* Arrays of the call, and tables of the program. */
static void write_memories(build_wasm *k) {
    const build_program *p = k->f.p;
    wasm_code *c = k->c;
    uint64_t pools[BUILD_POOL_WORDS];
    build_find_pools(p, pools);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        const uint32_t to = k->f.memories + i * WA_MEMORY_BYTES, at = k->f.locals[i];
        if (is_wide(param)) {
            w_i64(c, hg_type_size_bytes((hg_type)param->type));
            refuse_outside(k, i, at);
        }
        if (param->kind == HG_PARAM_SCALAR || param->kind == HG_PARAM_SCRATCH) continue;
        if (param->kind == HG_PARAM_DATA) {
            bw_store_i32(c, to,
                         k->m->alone.base + wasm_data(k->m, param->data, param->data_bytes, 64));
            bw_store_i64(c, to + WA_MEMORY_SIZE, param->data_bytes);
            bw_store_i32(c, to + WA_MEMORY_VALID, 1);
            continue;
        }
        write_extents(k, i);
        w_get(c, at + 1);
        w(c, W_I64_EXTEND_I32_U);
        refuse_outside(k, i, at);
        bw_store(c, W_I32_STORE, to, at);
        w_i32(c, to);
        w_get(c, at + 1);
        w(c, W_I64_EXTEND_I32_U);
        w_memory(c, W_I64_STORE, WA_MEMORY_SIZE);
        if (p->use == BUILD_LAUNCH) { /* an array of no bytes may be nowhere */
            bw_store_i32(c, to + WA_MEMORY_VALID, 1);
            continue;
        }
        w_i32(c, to);
        w_get(c, at);
        w_i32(c, 0);
        w(c, W_I32_NE);
        w_memory(c, W_I32_STORE, WA_MEMORY_VALID);
    }
    bw_store_i32(c, k->run + RUN_MEMORIES, k->f.memories);
    bw_store_i32(c, k->run + RUN_COUNT, p->program->param_count);
    for (uint32_t i = 0; i < BUILD_POOL_WORDS; i++)
        bw_store_i64(c, k->run + RUN_POOLS + 8 * i, pools[i]);
}

/* ---- values between kernels ---- */

static void write_env(build_wasm *k) {
    const hg_plan *plan = k->f.p->plan;
    wasm_code *c = k->c;
    if (!plan->env_bytes) return;
    w_i32(c, k->f.env); /* nothing of the call before */
    w_i32(c, 0);
    w_i32(c, (uint32_t)plan->env_bytes);
    w(c, W_MEMORY_FILL);
    for (uint64_t i = 0; i < plan->env.count; i++) {
        const plan_env *e = &plan->env.data[i];
        const uint64_t size = kir_type_bytes(e->type);
        for (uint64_t at = 0; e->init != PLAN_INIT_ZERO && at < size; at += 8) {
            const uint64_t part = size - at < 8 ? size - at : 8;
            uint64_t word = 0;
            if (e->init == PLAN_INIT_CONST)
                memcpy(&word, (e->bytes ? e->bytes : (const uint8_t *)&e->value) + at,
                       (size_t)part);
            w_i32(c, k->f.env + (uint32_t)(e->offset + at));
            if (e->init == PLAN_INIT_CONST)
                w_i64(c, word);
            else
                push_param(k, build_param_of(k->f.p, e->reg), at, part);
            w_memory(c, W_I64_STORE, 0);
        }
    }
}

/* What a launch is to the host's operations, as an i64. */
static void push_id(build_wasm *k, const plan_operation *o) {
    const hg_idname id = (hg_idname)o->imm;
    const uint32_t axis = 4 * (uint32_t)hg_idname_axis(id);
    if (hg_idname_part(id) == HG_PART_BLOCK_DIM || hg_idname_part(id) == HG_PART_GRID_DIM)
        bw_load(k->c, W_I64_LOAD32_U,
                k->run + axis +
                    (hg_idname_part(id) == HG_PART_BLOCK_DIM ? WA_LAUNCH_BLOCK : WA_LAUNCH_GRID));
    else
        bw_load(k->c, W_I64_LOAD, k->run + WA_LAUNCH_LANES);
}

static void store_env(build_wasm *k, const plan_env *e, uint32_t local) {
    static const wasm_op STORES[] = {W_I32_STORE8, W_I32_STORE16, W_I32_STORE, W_I64_STORE};
    bw_store(k->c, STORES[wa_log((uint32_t)kir_type_bytes(e->type))], k->f.env + e->offset, local);
}

/* Operations of the host are primitives on one value, as kernels have them. values: room for them,
 * args: for three each. Returns the name of one that cannot be written; NULL: none. */
static const char *write_operations(build_wasm *k, const plan_inst *inst, vec_value *values,
                                    vec_value **args, uint32_t *at) {
    const hg_plan *plan = k->f.p->plan;
    wa_printer printer = {.module = NULL, .c = k->c, .of = {.at = at}};
    for (uint32_t i = 0; i < inst->target && !printer.unsupported; i++) {
        const plan_operation *o = &plan->operations.data[inst->index + i];
        const plan_env *e = &plan->env.data[o->entry];
        const bool wide = wa_scalar(o->type) == WASM_I64;
        vec_value *v = &values[i];
        *v = (vec_value){.op = VEC_PRIM,
                         .prim = o->op,
                         .type = o->type,
                         .nargs = o->nargs,
                         .id = i,
                         .args = args + PLAN_MOST_ARGS * (size_t)i};
        for (uint8_t n = 0; n < o->nargs; n++) v->args[n] = &values[o->args[n]];
        if (o->op == KIR_VAR_SET) {
            store_env(k, e, printer.locals.data ? wa_local(&printer, v->args[0], 0) : 0);
            continue;
        }
        switch ((kir_op)o->op) {
        case KIR_CONST: w_i64(k->c, o->imm); break;
        case KIR_ID: push_id(k, o); break;
        case KIR_INPUT:
        case KIR_VAR_GET: build_wasm_push_env(k, e->offset, kir_type_bytes(e->type)); break;
        default:
            if (o->op == KIR_MULHI_U && wide) /* a helper's */
                printer.unsupported = kir_op_name(KIR_MULHI_U);
            else
                wa_one_result(&printer, v, 0);
        }
        if (!wide && !o->nargs) w(k->c, W_I32_WRAP_I64);
        at[i] = (uint32_t)printer.locals.count;
        wa_add_local(&printer, wa_scalar(o->type));
        w_set(k->c, wa_local(&printer, v, 0));
    }
    hg_vec_free(&printer.locals);
    return printer.unsupported;
}

static hg_status write_compute(build_wasm *k, const plan_inst *inst) {
    const uint64_t mark = k->c->taken.count;
    const size_t count = (size_t)inst->target + 1;
    vec_value *values = hg_calloc(count, sizeof *values);
    vec_value **args = hg_calloc(count * PLAN_MOST_ARGS, sizeof *args);
    uint32_t *at = hg_calloc(count, sizeof *at);
    hg_status status = values && args && at ? HG_OK : hg_fail_memory();
    const char *unknown = status == HG_OK ? write_operations(k, inst, values, args, at) : NULL;
    if (unknown)
        status = build_refuse(k->f.p, 0,
                              "it computes '%s' between kernels, which is not built for "
                              "WebAssembly: the C text has it",
                              unknown);
    wasm_release(k->c, mark);
    hg_free(values);
    hg_free(args);
    hg_free(at);
    return status;
}

/* ---- the workspace ---- */

void build_wasm_push_part(build_wasm *k, uint32_t end, uint32_t bytes) {
    w_set(k->c, bytes);
    w_get(k->c, end);
    w_i64(k->c, WORK_ALIGN);
    build_wasm_apply(k, HG_EXTENT_OP_CEIL_DIV);
    w_i64(k->c, WORK_ALIGN);
    build_wasm_apply(k, HG_EXTENT_OP_MUL);
    w_tee(k->c, end);
    w_get(k->c, end);
    w_get(k->c, bytes);
    build_wasm_apply(k, HG_EXTENT_OP_ADD);
    w_set(k->c, end);
}

/* Where the part on the stack begins in the workspace, and how many bytes it has, as a memory. */
static void write_part(build_wasm *k, uint32_t memory, uint32_t bytes) {
    const uint32_t begin = wasm_take(k->c, WASM_I32);
    w(k->c, W_I32_WRAP_I64);
    w_get(k->c, k->f.work);
    w(k->c, W_I32_ADD);
    w_set(k->c, begin);
    bw_store(k->c, W_I32_STORE, memory, begin);
    bw_store(k->c, W_I64_STORE, memory + WA_MEMORY_SIZE, bytes);
    bw_store_i32(k->c, memory + WA_MEMORY_VALID, 1);
}

/* The parts, one behind the other, as build_plan_work numbers them. Sets `end`, and `zeroed`, where
 * those end that begin as zeros; both are locals. places: whether they are written down. */
static void write_parts(build_wasm *k, uint32_t end, uint32_t zeroed, bool places) {
    const build_program *p = k->f.p;
    wasm_code *c = k->c;
    const uint32_t bytes = wasm_take(c, WASM_I64);
    w_i64(c, 0);
    w_set(c, end);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind != HG_PARAM_SCRATCH) continue;
        w_i64(c, hg_type_size_bytes((hg_type)param->type));
        for (uint8_t d = 0; d < param->rank; d++) {
            push_extent(k, &param->dims[d]);
            build_wasm_apply(k, HG_EXTENT_OP_MUL);
        }
        build_wasm_push_part(k, end, bytes);
        if (places)
            write_part(k, k->f.memories + i * WA_MEMORY_BYTES, bytes);
        else
            w(c, W_DROP);
    }
    if (p->plan->scratch_lane_bytes) {
        w_get(c, k->f.lanes);
        w_i64(c, p->plan->scratch_lane_bytes);
        build_wasm_apply(k, HG_EXTENT_OP_MUL);
        build_wasm_push_part(k, end, bytes);
        if (places)
            write_part(k, k->f.keep, bytes);
        else
            w(c, W_DROP);
    }
    w_get(c, end);
    w_set(c, zeroed);
    if (!p->step_bytes) return;
    w_i64(c, p->step_bytes);
    build_wasm_push_part(k, end, bytes);
    w(c, W_I32_WRAP_I64);
    if (places) w_get(c, k->f.work);
    if (places) w(c, W_I32_ADD);
    w_set(c, k->f.steps);
}

/* The workspace of the call. */
static void write_work(build_wasm *k) {
    const build_program *p = k->f.p;
    wasm_code *c = k->c;
    if (!p->spans) return;
    const uint32_t end = wasm_take(c, WASM_I64), zeroed = wasm_take(c, WASM_I64);
    write_parts(k, end, zeroed, true);
    bw_store(c, W_I64_STORE, k->run + FOUND_VALUES, end);
    w_i32(c, k->run + FOUND_LIMIT);
    w_get(c, k->f.work + 1);
    w(c, W_I64_EXTEND_I32_U);
    w_memory(c, W_I64_STORE, 0);
    w_get(c, end);
    w_get(c, k->f.work + 1);
    w(c, W_I64_EXTEND_I32_U);
    w(c, W_I64_GT_U);
    w_get(c, k->f.bad);
    w(c, W_I32_OR);
    build_wasm_refuse_if(k, p->program->param_count + 1);
    w_get(c, end);
    build_wasm_refuse_outside(k, p->program->param_count + 1, k->f.work);
    bw_store_i64(c, k->run + FOUND_VALUES, 0);
    bw_store_i64(c, k->run + FOUND_LIMIT, 0);
    w_get(c, k->f.work);
    w_i32(c, 0);
    w_get(c, zeroed);
    w(c, W_I32_WRAP_I64);
    w(c, W_MEMORY_FILL);
}

/* ---- kernels ---- */

static void push_input(build_wasm *k, const kir_input *input) {
    const build_program *p = k->f.p;
    const uint64_t size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type),
                   start = (uint64_t)input->limb * input->limb_bytes;
    if (input->kind == KIR_INPUT_SHARED)
        w_i64(k->c,
              input->limb_bytes && input->limb ? 0 : (p->program->shared + 15) & ~UINT64_C(15));
    else if (input->kind == KIR_INPUT_ENV)
        build_wasm_push_env(k, input->index + start, size);
    else
        push_param(k, build_param_of(p, input->reg), start, size);
}

static void write_slot(build_wasm *k, const kir_module *m, const kir_slot *s, uint32_t to) {
    const kir_input *input = s->constant ? NULL : &m->inputs.data[s->input];
    wasm_code *c = k->c;
    if (s->plan == KIR_PLAN_ENV) {
        bw_store_i32(c, to, k->f.env);
        bw_store_i64(c, to + WA_MEMORY_SIZE, (k->f.p->plan->env_bytes + 7) & ~UINT64_C(7));
        bw_store_i32(c, to + WA_MEMORY_VALID, 1);
    } else if (s->plan == KIR_PLAN_SCRATCH || (input && input->kind == KIR_INPUT_PARAM)) {
        w_i32(c, to);
        w_i32(c, s->plan == KIR_PLAN_SCRATCH
                     ? k->f.keep
                     : k->f.memories + build_param_of(k->f.p, input->reg) * WA_MEMORY_BYTES);
        w_i32(c, WA_MEMORY_BYTES);
        w(c, W_MEMORY_COPY);
    } else if (input) {
        w_i32(c, to);
        w_i32(c, k->run);
        push_input(k, input);
        w_i32(c, s->space == KIR_POOL);
        w_i32(c, 0);
        w_number(c, W_CALL, k->calls.resolve);
    } else {
        bw_store_i32(c, to + WA_MEMORY_VALID, 0);
    }
}

/* The call of a kernel of the plan; the function returns where it did not go well. */
static void write_kernel(build_wasm *k, uint32_t number, bool single_lane) {
    const build_program *p = k->f.p;
    const build_kernel *kernel = &k->job->kernels.data[number];
    const kir_module *m = kernel->low;
    const uint32_t inputs = k->at.inputs, slots = k->at.slots;
    const uint32_t place = wasm_place(k->m, k->made[number].function);
    wasm_code *c = k->c;
    for (uint32_t i = 0; i < m->inputs.count; i++) {
        w_i32(c, inputs + 8 * i);
        push_input(k, &m->inputs.data[i]);
        w_memory(c, W_I64_STORE, 0);
    }
    for (uint32_t i = 0; i < m->slots.count; i++)
        write_slot(k, m, &m->slots.data[i], slots + i * WA_MEMORY_BYTES);
    bw_store_i32(c, k->run + WA_LAUNCH_INPUTS, inputs);
    bw_store_i32(c, k->run + WA_LAUNCH_SLOTS, slots);
    w_i32(c, place);
    if (single_lane)
        w_i64(c, 1);
    else
        w_get(c, k->f.lanes);
    w_i64(c, AT_ONCE);
    if (kernel->blocks || kernel->places) { /* whole blocks: volume * (1 + 4096 / volume) */
        w_get(c, k->f.volume);
        w(c, W_I64_DIV_U);
        w_i64(c, 1);
        w(c, W_I64_ADD);
        w_get(c, k->f.volume);
        w(c, W_I64_MUL);
    }
    if (kernel->blocks) {
        const uint64_t visible = p->program->shared, aligned = (visible + 15) & ~UINT64_C(15);
        if (p->block_bytes) { /* and what operations of the block need for each of its lanes */
            w_get(c, k->f.volume);
            w_i64(c, p->block_bytes);
            w(c, W_I64_MUL);
            w_i64(c, 15 + 16 + aligned);
            w(c, W_I64_ADD);
            w_i64(c, ~UINT64_C(15));
            w(c, W_I64_AND);
        } else {
            w_i64(c, aligned);
        }
        w_i64(c, visible);
        w_number(c, W_CALL, k->calls.run_blocks);
    } else {
        w_number(c, W_CALL, k->calls.run_lanes);
    }
    build_wasm_end_unless(k);
}

/* ---- the plan ---- */

static bool is_jump(const plan_inst *inst) {
    return inst->op == PLAN_JUMP || inst->op == PLAN_JUMP_UNLESS;
}

static bool is_target(const hg_plan *plan, uint64_t at) {
    for (uint64_t i = 0; i < plan->code.count; i++)
        if (is_jump(&plan->code.data[i]) && plan->code.data[i].target == at) return true;
    return false;
}

/* next: a local, the number of the instruction to go on with; again: the label of what finds it. */
static hg_status write_instruction(build_wasm *k, const plan_inst *inst, uint32_t next,
                                   uint32_t again) {
    const build_program *p = k->f.p;
    wasm_code *c = k->c;
    switch ((plan_op)inst->op) {
    case PLAN_KERNEL:
        write_kernel(k, p->first_kernel + inst->index,
                     p->plan->kernels.data[inst->index].single_lane);
        break;
    case PLAN_STEP: build_wasm_add_step(k, inst->index); break;
    case PLAN_COMPUTE: return write_compute(k, inst);
    case PLAN_JUMP_UNLESS:
        build_wasm_push_env(k, p->plan->env.data[inst->index].offset, 1);
        w(c, W_I64_EQZ);
        (void)w_open(c, W_IF, WASM_VOID);
        w_i32(c, inst->target);
        w_set(c, next);
        w_branch(c, W_BR, again);
        w(c, W_END);
        break;
    case PLAN_JUMP:
        w_i32(c, inst->target);
        w_set(c, next);
        w_branch(c, W_BR, again);
        break;
    case PLAN_END: w_i32(c, 0); w(c, W_RETURN);
    }
    return HG_OK;
}

/* Where there are jumps: a loop around pieces of straight code, each of which runs when it is
 * next. */
static hg_status write_code(build_wasm *k) {
    const hg_plan *plan = k->f.p->plan;
    wasm_code *c = k->c;
    bool jumps = false, open = false;
    for (uint64_t i = 0; i < plan->code.count; i++) jumps |= is_jump(&plan->code.data[i]);
    const uint32_t next = jumps ? wasm_take(c, WASM_I32) : 0;
    if (jumps) w_i32(c, 0);
    if (jumps) w_set(c, next);
    const uint32_t again = jumps ? w_open(c, W_LOOP, WASM_VOID) : 0;
    for (uint64_t i = 0; i < plan->code.count; i++) {
        if (jumps && (!i || is_target(plan, i))) {
            if (open) { /* the next one follows */
                w_i32(c, (uint32_t)i);
                w_set(c, next);
                w(c, W_END);
            }
            w_get(c, next);
            w_i32(c, (uint32_t)i);
            w(c, W_I32_EQ);
            (void)w_open(c, W_IF, WASM_VOID);
            open = true;
        }
        HG_TRY(write_instruction(k, &plan->code.data[i], next, again));
    }
    if (open) w(c, W_END);
    if (jumps) w(c, W_END);
    return HG_OK;
}

/* ---- functions ---- */

/* Locals of the parameters, and those that all functions of a program have. */
static void begin_function(build_wasm *k, wasm_code *code, const char *signature, bool size) {
    const build_program *p = k->f.p;
    uint32_t local = 0;
    wasm_begin(code, signature);
    k->c = code;
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (!build_wasm_takes(p, i)) continue;
        if (size && (param->kind != HG_PARAM_SCALAR || is_wide(param))) continue;
        k->f.locals[i] = local;
        local += param->kind == HG_PARAM_SCALAR ? 1 : 2;
    }
    k->f.work = local;
    k->f.bad = wasm_take(code, WASM_I32);
    k->f.lanes = wasm_take(code, WASM_I64);
    k->f.volume = wasm_take(code, WASM_I64);
    k->f.steps = wasm_take(code, WASM_I32);
    w_i32(code, k->run + FOUND); /* nothing of the call before */
    w_i32(code, 0);
    w_i32(code, RUN_PHASE - FOUND);
    w(code, W_MEMORY_FILL);
    bw_store_i32(code, k->run + WA_LAUNCH_STOPPED, 0);
    write_launch(k);
}

/* NAME_work_bytes: -1, as an unsigned number the most there is, where there is no launch. */
static void write_size(build_wasm *k, uint32_t number, const char *signature) {
    wasm_code code, *c = &code;
    begin_function(k, c, signature, true);
    const uint32_t end = wasm_take(c, WASM_I64), zeroed = wasm_take(c, WASM_I64);
    write_parts(k, end, zeroed, false);
    w_get(c, end);
    w_i64(c, INT32_MAX);
    w(c, W_I64_GT_U);
    w_get(c, k->f.bad);
    w(c, W_I32_OR);
    build_wasm_refuse_if(k, 0);
    w_get(c, end);
    w(c, W_I32_WRAP_I64);
    wasm_define(k->m, number, c);
}

/* Nothing happens then, nor do whole-array instructions. */
static void end_if_no_lanes(build_wasm *k) {
    w_get(k->c, k->f.lanes);
    w(k->c, W_I64_EQZ);
    (void)w_open(k->c, W_IF, WASM_VOID);
    w_i32(k->c, 0);
    w(k->c, W_RETURN);
    w(k->c, W_END);
}

static hg_status write_run(build_wasm *k, uint32_t number, const char *signature) {
    wasm_code code;
    begin_function(k, &code, signature, false);
    write_memories(k);
    write_work(k);
    end_if_no_lanes(k);
    write_env(k);
    const hg_status status = write_code(k);
    w_i32(&code, 0);
    wasm_define(k->m, number, &code);
    return status;
}

static hg_status declare(build_wasm *k, bool size, uint32_t *number, hg_text *signature) {
    const build_program *p = k->f.p;
    char name[HG_MAX_IDENT_BYTES * 2 + 16];
    snprintf(name, sizeof name, "%s%s", p->function, size ? "_work_bytes" : "");
    write_signature(p, size, signature);
    if (!signature->data || signature->failed) return hg_fail_memory();
    *number = wasm_declare(k->m, name, signature->data, p->use == BUILD_PUBLIC);
    return HG_OK;
}

hg_status build_wasm_add_function(build_wasm *k, uint32_t program) {
    const build_program *p = &k->job->programs[program];
    struct build_wasm_function *f = &k->functions[program];
    hg_text signature = {0};
    k->f.p = p;
    k->f.locals = hg_calloc(p->program->param_count + (size_t)1, sizeof *k->f.locals);
    if (!k->f.locals) return hg_fail_memory();
    k->f.memories = build_wasm_room(k, (p->program->param_count + 1) * WA_MEMORY_BYTES, 8);
    k->f.keep = build_wasm_room(k, WA_MEMORY_BYTES, 8);
    k->f.env = build_wasm_room(k, ((uint32_t)p->plan->env_bytes + 7) & ~UINT32_C(7), 8);
    hg_status status = declare(k, false, &f->run, &signature);
    if (status == HG_OK) status = write_run(k, f->run, signature.data);
    hg_text_free(&signature);
    signature = (hg_text){0};
    if (status == HG_OK && p->spans) {
        status = declare(k, true, &f->bytes, &signature);
        if (status == HG_OK) write_size(k, f->bytes, signature.data);
        hg_text_free(&signature);
    }
    hg_free(k->f.locals);
    return status;
}

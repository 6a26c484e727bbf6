/* Runs one side of a comparison and compares what two runs left. */
#include "diff.h"
#include <string.h>

static bool is_class_handle(uint64_t handle) {
    return handle == 0 || handle >= UINT64_MAX - (HG_MAX_CLASSES - 1);
}

bool diff_reaches_class(const hg_program *p) {
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const hg_operand *o = &p->operands[i];
        if (o->kind != HG_K_ADDRESS && o->kind != HG_K_ARRAY) continue;
        if (o->place == HG_PLACE_CLASS || o->place == HG_PLACE_PHI || o->place == HG_PLACE_FLAT)
            return true;
        if (o->place == HG_PLACE_BUF && is_class_handle(o->value)) return true;
    }
    return false;
}

/* Phases and resonances live in the context, from launch to launch. */
bool diff_reaches_state(const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        switch ((hg_op)p->insts[i].op) {
        case HG_OP_RES_ACCUM:
        case HG_OP_PHASE_READ:
        case HG_OP_PHASE_WRITE:
        case HG_OP_PHASE_GET:
        case HG_OP_PHASE_ADV: return true;
        default: break;
        }
    }
    return false;
}

static hg_status read_state(hg_backend *b, diff_result *result) {
    for (uint32_t cls = 0; cls < HG_MAX_CLASSES; cls++) {
        HG_TRY(hg_backend_phase(b, cls, &result->phase[cls]));
        HG_TRY(hg_backend_resonance(b, cls, &result->resonance[cls]));
    }
    return HG_OK;
}

/* ---- running ---- */

typedef struct bound {
    hg_buffer buffer;
    hg_pool pool;
} bound;

typedef struct attempt {
    const diff_side *side;
    const cli_values *values;
    diff_extra *extras;
    uint32_t extra_count;
    bound *own, *more; /* one a parameter, one an extra */
    hg_params *params;
} attempt;

static hg_status upload(attempt *t) {
    hg_backend *b = t->side->backend;
    for (uint32_t i = 0; i < t->values->count; i++) {
        const cli_value *v = &t->values->data[i];
        const char *name = v->param->name;
        if (v->param->kind == HG_PARAM_SCALAR) {
            HG_TRY(hg_params_set_scalar(t->params, name, (hg_type)v->param->type, v->scalar));
        } else if (v->param->kind == HG_PARAM_POOL) {
            HG_TRY(hg_backend_allocate_pool(b, v->param->pool_bytes, &t->own[i].pool));
            HG_TRY(hg_params_set_pool(t->params, name, t->own[i].pool));
        } else if (v->param->kind == HG_PARAM_BUFFER) {
            HG_TRY(hg_backend_allocate_buffer(b, v->bytes, &t->own[i].buffer));
            if (v->data) HG_TRY(cli_device_write(b, t->own[i].buffer, v->data, v->bytes));
            HG_TRY(hg_params_set_buffer(t->params, name, t->own[i].buffer));
        }
    }
    for (uint32_t i = 0; i < t->extra_count; i++) {
        const diff_extra *e = &t->extras[i];
        if (!e->bytes) {
            HG_TRY(hg_params_set_scalar(t->params, e->name, HG_TYPE_U64, &e->value));
            continue;
        }
        HG_TRY(hg_backend_allocate_buffer(b, e->bytes, &t->more[i].buffer));
        HG_TRY(hg_params_set_buffer(t->params, e->name, t->more[i].buffer));
    }
    return HG_OK;
}

static hg_status keep(uint64_t bytes, uint8_t **memory) {
    if (*memory) return HG_OK;
    *memory = hg_calloc(bytes ? (size_t)bytes : 1, 1);
    return *memory ? HG_OK : hg_fail_memory();
}

static hg_status download(attempt *t, diff_result *result) {
    hg_backend *b = t->side->backend;
    for (uint32_t i = 0; i < t->values->count; i++) {
        const cli_value *v = &t->values->data[i];
        if (v->param->kind != HG_PARAM_BUFFER && v->param->kind != HG_PARAM_POOL) continue;
        bool pool = v->param->kind == HG_PARAM_POOL;
        HG_TRY(keep(pool ? v->param->pool_bytes : v->bytes, &result->arrays[i]));
        if (pool)
            HG_TRY(
                cli_device_read_pool(b, t->own[i].pool, result->arrays[i], v->param->pool_bytes));
        else
            HG_TRY(cli_device_read(b, t->own[i].buffer, 0, result->arrays[i], v->bytes));
    }
    for (uint32_t i = 0; i < t->extra_count; i++) {
        if (!t->extras[i].bytes) continue;
        HG_TRY(keep(t->extras[i].bytes, &t->extras[i].data));
        HG_TRY(cli_device_read(b, t->more[i].buffer, 0, t->extras[i].data, t->extras[i].bytes));
    }
    return HG_OK;
}

static void free_attempt(attempt *t) {
    hg_backend *b = t->side->backend;
    /* The program under test may have freed any of them. */
    for (uint32_t i = 0; t->own && i < t->values->count; i++) {
        if (t->own[i].buffer.handle) HG_IGNORE(hg_backend_free_buffer(b, t->own[i].buffer));
        if (t->own[i].pool.handle) HG_IGNORE(hg_backend_free_pool(b, t->own[i].pool));
    }
    for (uint32_t i = 0; t->more && i < t->extra_count; i++)
        if (t->more[i].buffer.handle) HG_IGNORE(hg_backend_free_buffer(b, t->more[i].buffer));
    hg_params_destroy(t->params);
    hg_free(t->own);
    hg_free(t->more);
}

hg_status diff_clear_class(hg_backend *b) {
    uint8_t *zeros = hg_calloc(1, HG_MAX_CLASS_MEMORY_BYTES);
    if (!zeros) return hg_fail_memory();
    hg_status status = cli_device_write(b, (hg_buffer){0}, zeros, HG_MAX_CLASS_MEMORY_BYTES);
    hg_free(zeros);
    return status;
}

static hg_status perform(attempt *t, const hg_program *program, const hg_launch *launch,
                         diff_result *result) {
    hg_backend *b = t->side->backend;
    bool classes = diff_reaches_class(program), state = diff_reaches_state(program);
    HG_TRY(upload(t));
    if (classes) HG_TRY(diff_clear_class(b));
    if (state) HG_TRY(hg_backend_reset_state(b));
    result->status = cli_device_execute(b, program, launch, t->params);
    if (result->status != HG_OK) result->error = *hg_last_error();
    if (result->status != HG_OK && result->error.code[0] != 'F') return result->status;
    HG_TRY(download(t, result));
    if (state) HG_TRY(read_state(b, result));
    if (!classes) return HG_OK;
    HG_TRY(keep(HG_MAX_CLASS_MEMORY_BYTES, &result->class_memory));
    return cli_device_read(b, (hg_buffer){0}, 0, result->class_memory, HG_MAX_CLASS_MEMORY_BYTES);
}

hg_status diff_run(const diff_side *side, const hg_program *program, const cli_values *values,
                   const hg_launch *launch, diff_extra *extras, uint32_t extra_count,
                   diff_result *result) {
    attempt t = {.side = side, .values = values, .extras = extras, .extra_count = extra_count};
    memset(result, 0, sizeof *result);
    t.own = hg_calloc(values->count + 1u, sizeof *t.own);
    t.more = hg_calloc(extra_count + 1u, sizeof *t.more);
    t.params = hg_params_create();
    result->count = values->count;
    result->arrays = hg_calloc(values->count + 1u, sizeof *result->arrays);
    hg_status status = t.own && t.more && t.params && result->arrays
                           ? perform(&t, program, launch, result)
                           : hg_fail_memory();
    hg_error kept = *hg_last_error();
    free_attempt(&t);
    if (status != HG_OK) {
        diff_result_free(result);
        *hg_error_record() = kept;
    }
    return status;
}

void diff_result_free(diff_result *r) {
    for (uint32_t i = 0; r->arrays && i < r->count; i++) hg_free(r->arrays[i]);
    hg_free(r->arrays);
    hg_free(r->class_memory);
    memset(r, 0, sizeof *r);
}

/* ---- comparing ---- */

bool diff_same_value(hg_type type, const uint8_t *a, const uint8_t *b) {
    if (memcmp(a, b, (size_t)hg_type_size_bytes(type)) == 0) return true;
    return cli_is_nan(type, a) && cli_is_nan(type, b);
}

static void compare_elements(hg_type type, uint64_t elements, const uint8_t *a, const uint8_t *b,
                             uint32_t param, diff_place *place) {
    uint64_t size = hg_type_size_bytes(type);
    place->compared += elements;
    if (memcmp(a, b, (size_t)(elements * size)) == 0) return;
    for (uint64_t i = 0; i < elements; i++) {
        if (diff_same_value(type, a + i * size, b + i * size)) continue;
        if (place->differing == 0) place->param = param, place->element = i;
        if (place->param == param) place->differing++;
    }
}

/* Where it ends depends on time: a time-out, a driver's compiler. */
static bool ends_by_chance(const diff_result *r) {
    return memcmp(r->error.code, "F08", 3) == 0 || memcmp(r->error.code, "F13", 3) == 0;
}

bool diff_is_endless(const diff_result *r) {
    return r->status != HG_OK && (memcmp(r->error.code, "F07", 3) == 0 || ends_by_chance(r));
}

bool diff_same_fault(const diff_result *a, const diff_result *b) {
    const hg_error *x = &a->error, *y = &b->error;
    if (a->status != b->status) return false;
    if (a->status == HG_OK) return true;
    if (memcmp(x->code, y->code, sizeof x->code) != 0) return false;
    if (ends_by_chance(a)) return true;
    return x->instruction == y->instruction && x->lane == y->lane && x->operand == y->operand &&
           x->step == y->step && strcmp(x->message, y->message) == 0;
}

int diff_compare(const cli_values *values, const diff_result *a, const diff_result *b,
                 diff_place *place) {
    memset(place, 0, sizeof *place);
    if (!diff_same_fault(a, b)) return DIFF_FAULT;
    if (a->status != HG_OK) return DIFF_SAME;
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        if (v->param->kind == HG_PARAM_POOL)
            compare_elements(HG_TYPE_U8, v->param->pool_bytes, a->arrays[i], b->arrays[i], i,
                             place);
        else if (v->param->kind == HG_PARAM_BUFFER)
            compare_elements((hg_type)v->param->type, v->elements, a->arrays[i], b->arrays[i], i,
                             place);
    }
    if (a->class_memory && b->class_memory)
        compare_elements(HG_TYPE_U8, HG_MAX_CLASS_MEMORY_BYTES, a->class_memory, b->class_memory,
                         values->count + DIFF_CLASS_MEMORY, place);
    uint64_t compared = place->compared; /* what is told to have been compared are values of arrays
                                          */
    compare_elements(HG_TYPE_U32, HG_MAX_CLASSES, (const uint8_t *)a->phase,
                     (const uint8_t *)b->phase, values->count + DIFF_PHASE, place);
    compare_elements(HG_TYPE_F64, HG_MAX_CLASSES, (const uint8_t *)a->resonance,
                     (const uint8_t *)b->resonance, values->count + DIFF_RESONANCE, place);
    place->compared = compared;
    return place->differing ? DIFF_DATA : DIFF_SAME;
}

/* Parameter sets, launches, and the resolution of both against a program (language.md 5.1, 5.3). */
#include "runtime/binding.h"
#include "runtime/client.h"
#include "runtime/memory.h"
#include "base/sized.h"
#include <stdio.h>
#include <string.h>

/* ---- launches ---- */

static const hg_sized RULES = HG_SIZED(hg_launch, block,
                                       "fill it through HG_LAUNCH_PROGRAM or HG_LAUNCH_INIT");

static hg_status unknown_extents(uint64_t extents) {
    return hg_fail(
        HG_ERROR_INVALID_ARGUMENT,
        "hg_launch.extents is %llu, expected HG_EXTENTS_GIVEN (0) or HG_EXTENTS_PROGRAM (1)",
        (unsigned long long)extents);
}

/* A number that would be ignored is a mistake. */
static hg_status check_left_out(const hg_launch *launch) {
    static const char *const names[] = {"grid[0]",  "grid[1]",  "grid[2]", "block[0]",
                                        "block[1]", "block[2]", "lanes"};
    const uint64_t given[] = {launch->grid[0],  launch->grid[1],  launch->grid[2], launch->block[0],
                              launch->block[1], launch->block[2], launch->lanes};
    for (size_t i = 0; i < HG_COUNT_OF(given); i++)
        if (given[i])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "hg_launch.%s is %llu, expected 0, because the program says how many "
                           "lanes there are "
                           "(HG_LAUNCH_PROGRAM; start from HG_LAUNCH_INIT or hg_launch_set_linear "
                           "to say it here)",
                           names[i], (unsigned long long)given[i]);
    return HG_OK;
}

hg_status hg_launch_take(const hg_launch *given, hg_launch *own) {
    *own = (hg_launch)HG_LAUNCH_INIT;
    HG_TRY(hg_sized_take(&RULES, given, own));
    if (own->extents == HG_EXTENTS_GIVEN) return HG_OK;
    return own->extents == HG_EXTENTS_PROGRAM ? check_left_out(own) : unknown_extents(own->extents);
}

/* Whether the caller's structure has the field `extents`; one of an older header ends before it. */
static bool has_extents(const hg_launch *launch) {
    return launch->size >= HG_SIZE_THROUGH(hg_launch, extents) && launch->size <= HG_SIZED_MOST;
}

static void set_extents(hg_launch *launch, const uint32_t grid[3], const uint32_t block[3],
                        uint64_t lanes) {
    memcpy(launch->grid, grid, sizeof launch->grid);
    memcpy(launch->block, block, sizeof launch->block);
    launch->lanes = lanes;
    if (has_extents(launch)) launch->extents = HG_EXTENTS_GIVEN;
}

void hg_launch_set_linear(hg_launch *launch, uint64_t total) {
    HG_ENTRY;
    if (!launch) return;
    uint64_t block = total == 0 ? 1 : total < 256 ? total : 256;
    uint64_t blocks = total / block + (total % block != 0);
    uint32_t across = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
    uint32_t down = blocks > UINT32_MAX ? (uint32_t)((blocks + UINT32_MAX - 1) / UINT32_MAX) : 1;
    set_extents(launch, (uint32_t[]){across, down, 1}, (uint32_t[]){(uint32_t)block, 1, 1}, total);
}

void hg_launch_set_grid_2d(hg_launch *launch, uint32_t width, uint32_t height) {
    HG_ENTRY;
    if (!launch) return;
    uint32_t across = width / 16 + (width % 16 != 0), down = height / 16 + (height % 16 != 0);
    set_extents(launch, (uint32_t[]){across, down, 1}, (uint32_t[]){16, 16, 1}, 0);
}

static uint64_t block_lanes(const uint32_t block[3]) {
    uint64_t lanes = (uint64_t)block[0] * block[1]; /* below 2^64 */
    return hg_mul_u64(lanes, block[2], &lanes) ? lanes : UINT64_MAX;
}

static uint64_t saturating_product(const uint32_t grid[3], const uint32_t block[3]) {
    uint64_t total = 1;
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0) return 0;
    for (int i = 0; i < 3; i++)
        if (!hg_mul_u64(total, grid[i], &total) || !hg_mul_u64(total, block[i], &total))
            return UINT64_MAX;
    return total;
}

uint64_t hg_launch_total_threads(const hg_launch *launch) {
    HG_ENTRY;
    if (!launch) return 0;
    uint64_t all = saturating_product(launch->grid, launch->block);
    bool ends_before = launch->size >= RULES.least &&
                       launch->size < HG_SIZE_THROUGH(hg_launch, lanes);
    return !ends_before && launch->lanes && launch->lanes < all ? launch->lanes : all;
}

/* ---- parameter sets ---- */

hg_params *hg_params_create(void) {
    HG_ENTRY;
    return hg_calloc(1, sizeof(hg_params));
}

void hg_params_clear(hg_params *params) {
    HG_ENTRY;
    if (!params) return;
    for (uint64_t i = 0; i < params->values.count; i++) hg_free(params->values.data[i].name);
    params->values.count = 0;
}

void hg_params_destroy(hg_params *params) {
    HG_ENTRY;
    if (!params) return;
    hg_params_clear(params);
    hg_vec_free(&params->values);
    hg_free(params);
}

static hg_param_value *find(const hg_params *params, const char *name, uint8_t reg) {
    for (uint64_t i = 0; i < params->values.count; i++) {
        hg_param_value *v = &params->values.data[i];
        if (name ? v->name && strcmp(v->name, name) == 0 : !v->name && v->reg == reg) return v;
    }
    return NULL;
}

static hg_status put(hg_params *params, const char *name, uint8_t reg, hg_param_value **value) {
    hg_param_value *v = find(params, name, reg);
    if (!v) {
        char *copy = NULL;
        if (name) {
            size_t size = strlen(name) + 1;
            copy = hg_alloc(size);
            if (!copy) return hg_fail_memory();
            memcpy(copy, name, size);
        }
        v = hg_vec_push(&params->values);
        if (!v) {
            hg_free(copy);
            return hg_fail_memory();
        }
        v->name = copy;
        v->reg = reg;
    }
    memset(v->bytes, 0, sizeof v->bytes);
    v->constant = false;
    *value = v;
    return HG_OK;
}

static void store_u64(uint8_t *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
}

static hg_status put_handle(hg_params *params, const char *name, hg_param_kind kind,
                            uint64_t handle) {
    hg_param_value *v = NULL;
    if (!params) return hg_null_argument("params");
    if (!name) return hg_null_argument("parameter name");
    HG_TRY(put(params, name, 0, &v));
    v->kind = (uint8_t)kind;
    v->type = HG_TYPE_U64;
    v->handle = handle;
    store_u64(v->bytes, handle);
    return HG_OK;
}

hg_status hg_params_set_buffer(hg_params *params, const char *name, hg_buffer buffer) {
    HG_ENTRY;
    return put_handle(params, name, HG_PARAM_BUFFER, buffer.handle);
}
hg_status hg_params_set_constant(hg_params *params, const char *name, hg_buffer buffer) {
    HG_TRY(put_handle(params, name, HG_PARAM_BUFFER, buffer.handle));
    find(params, name, 0)->constant = true;
    return HG_OK;
}
hg_status hg_params_set_pool(hg_params *params, const char *name, hg_pool pool) {
    HG_ENTRY;
    return put_handle(params, name, HG_PARAM_POOL, pool.handle);
}

static hg_status put_scalar(hg_params *params, const char *name, uint8_t reg, hg_type type,
                            const void *value) {
    hg_param_value *v = NULL;
    if (!params) return hg_null_argument("params");
    if ((unsigned)type >= HG_TYPE_COUNT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no type", (int)type);
    if (!value) return hg_null_argument("value");
    HG_TRY(put(params, name, reg, &v));
    v->kind = HG_PARAM_SCALAR;
    v->type = (uint8_t)type;
    memcpy(v->bytes, value, (size_t)hg_type_size_bytes(type));
    return HG_OK;
}

hg_status hg_params_set_scalar(hg_params *params, const char *name, hg_type type,
                               const void *value) {
    HG_ENTRY;
    if (!name) return hg_null_argument("parameter name");
    return put_scalar(params, name, 0, type, value);
}

hg_status hg_params_set_register(hg_params *params, uint8_t reg, hg_type type, const void *value) {
    HG_ENTRY;
    return put_scalar(params, NULL, reg, type, value);
}

hg_status hg_params_set_register_u64(hg_params *params, uint8_t reg, uint64_t value) {
    HG_ENTRY;
    uint8_t bytes[8];
    store_u64(bytes, value);
    return put_scalar(params, NULL, reg, HG_TYPE_U64, bytes);
}

void hg_params_signature(const hg_params *params, hg_signature *signature) {
    memset(signature->types, HG_TYPE_OMITTED, sizeof signature->types);
    for (uint64_t i = 0; params && i < params->values.count; i++)
        if (!params->values.data[i].name)
            signature->types[params->values.data[i].reg] = params->values.data[i].type;
}

/* ---- resolution ---- */

hg_status hg_binding_error(const char *code, const char *format, ...) {
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", message);
    memcpy(hg_error_record()->code, code, 4);
    return status;
}

static hg_status set_value(hg_binding *binding, uint8_t reg, const uint8_t *bytes, size_t size) {
    uint8_t *copy = hg_arena_alloc(&binding->arena, size < 8 ? 8 : size);
    if (!copy) return hg_fail_memory();
    memcpy(copy, bytes, size);
    binding->values[reg] = copy;
    return HG_OK;
}

static uint64_t read_u64(const uint8_t *bytes, uint64_t size) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < size && i < 8; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static const hg_param_value *given(const hg_params *params, const char *name) {
    return params ? find(params, name, 0) : NULL;
}

bool hg_params_given(const hg_params *params, const char *name, hg_given *to) {
    const hg_param_value *v = given(params, name);
    if (!v || (v->kind != HG_PARAM_BUFFER && v->kind != HG_PARAM_SCALAR)) return false;
    *to = (hg_given){v->kind == HG_PARAM_BUFFER, v->handle, (hg_type)v->type, v->bytes};
    return true;
}

bool hg_params_set_registers(const hg_params *params) {
    bool set = false;
    for (uint64_t i = 0; i < params->values.count; i++) set |= !params->values.data[i].name;
    return set;
}

static const char *const KINDS[] = {"scalar", "buffer", "pool", "scratch",
                                    "table"}; /* by
                                                 hg_param_kind
                                               */

static hg_status check_register(const hg_program *p, const hg_param_value *v) {
    if (p->param_count == 0) return HG_OK;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].reg == v->reg)
            return hg_binding_error("P01", "register r%u is the parameter '%s': set it by name",
                                    (unsigned)v->reg, p->params[i].name);
    if (v->reg >= HG_FIRST_SPECIAL) return HG_OK;
    return hg_binding_error("P01", "unknown parameter: r%u is no parameter of '%s'",
                            (unsigned)v->reg, p->name);
}

static hg_status check_name(const hg_program *p, const hg_param_value *v) {
    const hg_param *match = NULL;
    for (uint32_t i = 0; i < p->param_count && !match; i++)
        if (strcmp(p->params[i].name, v->name) == 0) match = &p->params[i];
    if (!match)
        return hg_binding_error("P01", "unknown parameter: '%s' is no parameter of '%s'", v->name,
                                p->name);
    if (match->kind == HG_PARAM_SCRATCH)
        return hg_binding_error("P03",
                                "'%s' is scratch: its memory belongs to the launch, nobody sets it",
                                match->name);
    if (match->kind == HG_PARAM_DATA)
        return hg_binding_error("P03", "'%s' is a table of the program: nobody sets it",
                                match->name);
    if (match->kind != v->kind)
        return hg_binding_error("P03", "parameter '%s' is a %s, given a %s", match->name,
                                KINDS[match->kind], KINDS[v->kind]);
    if (v->kind == HG_PARAM_SCALAR && match->type != v->type)
        return hg_binding_error("P03", "parameter '%s' is %s, given %s", match->name,
                                hg_type_name((hg_type)match->type), hg_type_name((hg_type)v->type));
    return HG_OK;
}

hg_status hg_params_check(const hg_params *params, const hg_program *p) {
    for (uint64_t i = 0; params && i < params->values.count; i++) {
        const hg_param_value *v = &params->values.data[i];
        HG_TRY(v->name ? check_name(p, v) : check_register(p, v));
    }
    return HG_OK;
}

/* NULL: it is not held. */
static hg_held *find_held(const hg_binding *binding, bool pool, uint64_t handle, bool index) {
    if (!index)
        handle = hg_handle_plain(binding->executable->backend, handle); /* a raw register may hold
                                                                           what the host has */
    hg_held *held = pool ? binding->memory.held_pools.data : binding->memory.held_buffers.data;
    uint64_t count = pool ? binding->memory.held_pools.count : binding->memory.held_buffers.count;
    for (uint64_t i = 0; i < count; i++)
        if ((index ? hg_handle_index(held[i].handle) : held[i].handle) == handle) return &held[i];
    return NULL;
}

hg_range hg_binding_held(const hg_binding *binding, bool pool, uint64_t handle, bool index) {
    const hg_held *held = find_held(binding, pool, handle, index);
    return held ? held->range : (hg_range){NULL, 0, 0};
}

bool hg_binding_is_constant(const hg_binding *binding, uint64_t handle, bool index) {
    const hg_held *held = find_held(binding, false, handle, index);
    return held && held->constant;
}

hg_status hg_binding_hold(hg_binding *binding, bool pool, uint64_t handle, hg_range *range) {
    hg_backend *b = binding->executable->backend;
    handle = hg_handle_plain(b, handle);
    *range = hg_binding_held(binding, pool, handle, false);
    if (range->arena) return HG_OK;
    const hg_memory *m = hg_handles_retain(pool ? &b->pools : &b->buffers, handle);
    if (!m) return HG_OK;
    hg_held *entry = pool ? hg_vec_push(&binding->memory.held_pools)
                          : hg_vec_push(&binding->memory.held_buffers);
    if (!entry) {
        hg_handles_release(pool ? &b->pools : &b->buffers, handle);
        return hg_fail_memory();
    }
    *range = m->place.range;
    *entry = (hg_held){.handle = handle, .range = *range, .arena_bytes = m->place.arena_bytes};
    return HG_OK;
}

static hg_status hold_handle(hg_binding *binding, bool pool, uint64_t handle, uint64_t *size) {
    hg_range range;
    if (!pool && hg_handle_is_class(handle)) {
        *size = handle ? HG_MAX_CLASS_BYTES : HG_MAX_CLASS_MEMORY_BYTES;
        return HG_OK;
    }
    HG_TRY(hg_binding_hold(binding, pool, handle, &range));
    *size = range.size;
    return range.arena ? HG_OK : hg_invalid_handle(pool, handle);
}

/* What a parameter is set to; le: the program's handle. */
static hg_status hold_given(hg_binding *binding, bool pool, uint64_t given, uint8_t le[8],
                            uint64_t *size) {
    uint64_t handle;
    HG_TRY(hg_handle_take(binding->executable->backend, pool, given, &handle));
    if (le) store_u64(le, handle);
    return hold_handle(binding, pool, handle, size);
}

/* A scalar's value; false while it is unbound. */
static bool scalar_value(void *user, uint16_t param, uint64_t *value) {
    const hg_binding *binding = user;
    const hg_param *scalar = &binding->executable->program->params[param];
    if (!binding->values[scalar->reg]) return false;
    *value = read_u64(binding->values[scalar->reg], hg_type_size_bytes((hg_type)scalar->type));
    return true;
}

/* An extent's value. UNKNOWN: that of *param. */
static hg_extent_status extent_value(const hg_binding *binding, const hg_extent *e, uint64_t *value,
                                     uint16_t *param) {
    return hg_extent_value(binding->executable->program, e, scalar_value,
                           (void *)(uintptr_t)binding, value, param);
}

/* An extent without a value, with its text. */
static hg_status extent_error(const hg_binding *binding, const char *what, const hg_extent *e,
                              hg_extent_status status) {
    hg_text text = {0};
    hg_print_extent(&text, binding->executable->program, e);
    hg_status result = hg_binding_error("P09", "%s: the extent %s %s", what,
                                        text.data ? text.data : "", hg_extent_problem(status));
    hg_text_free(&text);
    return result;
}

static hg_status buffer_extent_error(const hg_binding *binding, const hg_param *param,
                                     const hg_extent *e, hg_extent_status status) {
    char what[300];
    (void)snprintf(what, sizeof what, "%s '%s'", KINDS[param->kind], param->name);
    return extent_error(binding, what, e, status);
}

/* Gives the scalar the value that an extent of this buffer tells. */
static hg_status bind_extent(hg_binding *binding, const hg_param *buffer, uint16_t param,
                             uint64_t extent) {
    const hg_param *scalar = &binding->executable->program->params[param];
    uint64_t size = hg_type_size_bytes((hg_type)scalar->type);
    if (size < 8 && extent >> (8 * size))
        return hg_binding_error("P05", "buffer '%s': extent %llu does not fit '%s' of type %s",
                                buffer->name, (unsigned long long)extent, scalar->name,
                                hg_type_name((hg_type)scalar->type));
    uint8_t le[8];
    store_u64(le, extent);
    return set_value(binding, scalar->reg, le, (size_t)size);
}

/* The only unknown extent is `value`: what its parameter is then. An expression that tells nothing
 * leaves the parameter open. */
static hg_status solve_extent(hg_binding *binding, const hg_param *buffer, const hg_extent *e,
                              uint64_t value) {
    uint16_t param;
    uint64_t solved;
    hg_extent_status status = hg_extent_solve(binding->executable->program, e, value, scalar_value,
                                              binding, &param, &solved);
    if (status == HG_EXTENT_UNKNOWN) return HG_OK;
    if (status != HG_EXTENT_KNOWN && status != HG_EXTENT_NO_VALUE)
        return buffer_extent_error(binding, buffer, e, status);
    if (status == HG_EXTENT_KNOWN) return bind_extent(binding, buffer, param, solved);
    hg_text text = {0};
    hg_print_extent(&text, binding->executable->program, e);
    hg_status result = hg_binding_error("P05", "buffer '%s': an extent of %llu is %s for no '%s'",
                                        buffer->name, (unsigned long long)value,
                                        text.data ? text.data : "",
                                        binding->executable->program->params[param].name);
    hg_text_free(&text);
    return result;
}

static hg_status infer_extent(hg_binding *binding, const hg_param *buffer, uint64_t bytes) {
    const hg_program *p = binding->executable->program;
    uint64_t known = hg_type_size_bytes((hg_type)buffer->type), value;
    const hg_extent *unknown = NULL;
    uint16_t param = 0, first = 0;
    for (uint8_t i = 0; i < buffer->rank; i++) {
        hg_extent_status status = extent_value(binding, &buffer->dims[i], &value, &param);
        if (status == HG_EXTENT_KNOWN) {
            if (!hg_mul_u64(known, value, &known))
                return hg_binding_error("P05", "buffer '%s': the extents' product is too large",
                                        buffer->name);
        } else if (status != HG_EXTENT_UNKNOWN) {
            return buffer_extent_error(binding, buffer, &buffer->dims[i], status);
        } else if (unknown && first != param) {
            return hg_binding_error(
                "P07",
                "buffer '%s': more than one extent is unknown ('%s' and '%s'): set one of them",
                buffer->name, p->params[first].name, p->params[param].name);
        } else if (unknown) {
            return hg_binding_error("P07", "buffer '%s': extent '%s' occurs twice: set it",
                                    buffer->name, p->params[first].name);
        } else {
            unknown = &buffer->dims[i];
            first = param;
        }
    }
    if (!unknown) {
        if (known > bytes)
            return hg_binding_error("P05", "buffer '%s': its extents need %llu bytes, it has %llu",
                                    buffer->name, (unsigned long long)known,
                                    (unsigned long long)bytes);
        return HG_OK;
    }
    if (known == 0)
        return hg_binding_error(
            "P07", "buffer '%s': extent '%s' cannot be found, another one is 0: set it",
            buffer->name, p->params[first].name);
    if (bytes % known)
        return hg_binding_error("P05", "buffer '%s': %llu bytes are no multiple of %llu",
                                buffer->name, (unsigned long long)bytes, (unsigned long long)known);
    return solve_extent(binding, buffer, unknown, bytes / known);
}

/* Extents that could not be known before all scalars are: of the buffers that have expressions. */
static hg_status check_extents(hg_binding *binding, const hg_params *params) {
    const hg_program *p = binding->executable->program;
    for (uint32_t i = 0; p->extent_op_count && i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        uint64_t bytes;
        if (param->kind != HG_PARAM_BUFFER || param->rank == 255) continue;
        HG_TRY(hold_given(binding, false, given(params, param->name)->handle, NULL, &bytes));
        HG_TRY(infer_extent(binding, param, bytes));
    }
    return HG_OK;
}

static void mark_constants(hg_binding *binding, const hg_params *params) {
    for (uint64_t i = 0; params && i < params->values.count; i++)
        binding->memory.has_constants |= params->values.data[i].constant;
    for (uint64_t pass = 0; binding->memory.has_constants && pass < 2; pass++) /* those that are,
                                                                           then those that another
                                                                           parameter may change */
        for (uint64_t i = 0; i < params->values.count; i++) {
            const hg_param_value *v = &params->values.data[i];
            hg_held *held = v->kind == HG_PARAM_BUFFER && v->constant == !pass
                                ? find_held(binding, false, v->handle, false)
                                : NULL;
            if (held) held->constant = v->constant;
        }
}

static hg_status bind_buffers(hg_binding *binding, const hg_params *params) {
    const hg_program *p = binding->executable->program;
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        if (param->kind != HG_PARAM_BUFFER) continue;
        const hg_param_value *v = given(params, param->name);
        uint64_t bytes;
        uint8_t le[8];
        if (!v) return hg_binding_error("P02", "parameter not bound: buffer '%s'", param->name);
        HG_TRY(hold_given(binding, false, v->handle, le, &bytes));
        HG_TRY(set_value(binding, param->reg, le, 8));
        if (param->rank != 255) HG_TRY(infer_extent(binding, param, bytes));
    }
    mark_constants(binding, params);
    return HG_OK;
}

static hg_status bind_pool(hg_binding *binding, const hg_param *param, const hg_param_value *v) {
    hg_backend *b = binding->executable->backend;
    uint64_t bytes;
    uint8_t le[8];
    if (v) {
        HG_TRY(hold_given(binding, true, v->handle, le, &bytes));
        if (bytes < param->pool_bytes)
            return hg_binding_error("P05", "pool '%s': %llu bytes expected, it has %llu",
                                    param->name, (unsigned long long)param->pool_bytes,
                                    (unsigned long long)bytes);
        return set_value(binding, param->reg, le, 8);
    }
    hg_pool pool;
    HG_TRY(hg_backend_allocate_pool(b, param->pool_bytes, &pool));
    uint64_t *own = hg_vec_push(&binding->memory.own_pools);
    if (!own) {
        HG_IGNORE(hg_backend_free_pool(b, pool)); /* out of memory is what the caller must know */
        return hg_fail_memory();
    }
    *own = hg_handle_plain(b, pool.handle);
    store_u64(le, *own);
    return set_value(binding, param->reg, le, 8);
}

/* The size of a scratch; all scalars are known. */
static hg_status scratch_bytes(const hg_binding *binding, const hg_param *param, uint64_t *bytes) {
    bool fits = true, empty = false;
    *bytes = hg_type_size_bytes((hg_type)param->type);
    for (uint8_t i = 0; i < param->rank; i++) {
        uint64_t extent;
        hg_extent_status status = extent_value(binding, &param->dims[i], &extent, NULL);
        if (status == HG_EXTENT_UNKNOWN)
            return hg_binding_error("P07", "scratch '%s': extent %u is unknown", param->name,
                                    i + 1u);
        if (status != HG_EXTENT_KNOWN)
            return buffer_extent_error(binding, param, &param->dims[i], status);
        empty |= extent == 0;
        fits = fits && hg_mul_u64(*bytes, extent, bytes);
    }
    if (empty) *bytes = 0;
    return fits || empty
               ? HG_OK
               : hg_binding_error("P05", "scratch '%s': the extents' product is too large",
                                  param->name);
}

static hg_status bind_scratch(hg_binding *binding, const hg_param *param) {
    hg_backend *b = binding->executable->backend;
    uint64_t bytes, held;
    uint8_t le[8];
    hg_buffer buffer;
    HG_TRY(scratch_bytes(binding, param, &bytes));
    HG_TRY(hg_backend_allocate_buffer(b, bytes, &buffer));
    uint64_t *own = hg_vec_push(&binding->memory.own_buffers);
    if (!own) {
        HG_IGNORE(hg_backend_free_buffer(b, buffer)); /* out of memory is what the caller must know
                                                       */
        return hg_fail_memory();
    }
    *own = hg_handle_plain(b, buffer.handle);
    store_u64(le, *own);
    HG_TRY(hold_handle(binding, false, *own, &held));
    return set_value(binding, param->reg, le, 8);
}

/* The number-th table of the program, which the executable keeps. */
static hg_status bind_table(hg_binding *binding, const hg_param *param, uint32_t number) {
    uint64_t handle = hg_tables_handle(binding->executable->tables, number), held;
    uint8_t le[8];
    HG_TRY(hold_handle(binding, false, handle, &held));
    store_u64(le, handle);
    return set_value(binding, param->reg, le, 8);
}

static hg_status bind_scalars(hg_binding *binding, const hg_params *params) {
    const hg_program *p = binding->executable->program;
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param_value *v = p->params[i].kind == HG_PARAM_SCALAR
                                      ? given(params, p->params[i].name)
                                      : NULL;
        if (v)
            HG_TRY(set_value(binding, p->params[i].reg, v->bytes,
                             (size_t)hg_type_size_bytes((hg_type)v->type)));
    }
    HG_TRY(bind_buffers(binding, params));
    for (uint32_t i = 0; i < p->param_count; i++) {
        const hg_param *param = &p->params[i];
        size_t size = (size_t)hg_type_size_bytes((hg_type)param->type);
        if (param->kind == HG_PARAM_SCALAR && !binding->values[param->reg] && param->has_default)
            HG_TRY(set_value(binding, param->reg, param->default_bytes, size));
        if (param->kind == HG_PARAM_SCALAR && !binding->values[param->reg])
            return hg_binding_error("P02", "parameter not bound: %s '%s'",
                                    hg_type_name((hg_type)param->type), param->name);
        if (param->kind == HG_PARAM_POOL)
            HG_TRY(bind_pool(binding, param, given(params, param->name)));
    }
    HG_TRY(check_extents(binding, params));
    uint32_t tables = 0;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].kind == HG_PARAM_SCRATCH) HG_TRY(bind_scratch(binding, &p->params[i]));
        if (p->params[i].kind == HG_PARAM_DATA)
            HG_TRY(bind_table(binding, &p->params[i], tables++));
    }
    return HG_OK;
}

/* Raw registers: all of a program without .param lines, else specials that are overwritten. */
static hg_status bind_registers(hg_binding *binding, const hg_params *params) {
    for (uint64_t i = 0; params && i < params->values.count; i++) {
        const hg_param_value *v = &params->values.data[i];
        if (!v->name)
            HG_TRY(
                set_value(binding, v->reg, v->bytes, (size_t)hg_type_size_bytes((hg_type)v->type)));
    }
    return HG_OK;
}

/* Exactly n lanes in blocks of the program's or min(n, 256) lanes. */
static void linear(const hg_program *p, uint64_t n, hg_resolved *r) {
    hg_launch launch = hg_launch_linear(n);
    memcpy(r->grid, launch.grid, sizeof r->grid);
    memcpy(r->block, launch.block, sizeof r->block);
    r->lanes = n;
    if (!p->block[0]) return;
    uint64_t lanes = block_lanes(p->block); /* not 0 */
    uint64_t blocks = n / lanes + (n % lanes != 0);
    memcpy(r->block, p->block, sizeof r->block);
    r->grid[0] = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
    r->grid[1] = blocks > UINT32_MAX ? (uint32_t)((blocks + UINT32_MAX - 1) / UINT32_MAX) : 1;
    r->grid[2] = 1;
}

/* The lanes that .lanes says; 1 without it. UINT64_MAX: more than that. */
static hg_status program_lanes(const hg_binding *binding, uint64_t *lanes) {
    const hg_program *p = binding->executable->program;
    uint64_t value;
    *lanes = 1;
    for (uint32_t i = 0; i < p->lanes_count; i++) {
        hg_extent_status status = extent_value(binding, &p->lanes[i], &value, NULL);
        if (status == HG_EXTENT_UNKNOWN)
            return hg_binding_error("P07", "the number of lanes is unknown");
        if (status != HG_EXTENT_KNOWN) return extent_error(binding, ".lanes", &p->lanes[i], status);
        if (!hg_mul_u64(*lanes, value, lanes)) *lanes = UINT64_MAX;
    }
    return HG_OK;
}

/* The blocks that .grid says, each of .block. */
static hg_status program_grid(const hg_binding *binding, hg_resolved *r) {
    const hg_program *p = binding->executable->program;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t value = 1;
        hg_extent_status status = i < p->grid_count
                                      ? extent_value(binding, &p->grid[i], &value, NULL)
                                      : HG_EXTENT_KNOWN;
        if (status == HG_EXTENT_UNKNOWN) return hg_binding_error("P07", "the grid is unknown");
        if (status != HG_EXTENT_KNOWN) return extent_error(binding, ".grid", &p->grid[i], status);
        if (value > UINT32_MAX)
            return hg_binding_error("P08",
                                    "launch too large: %llu blocks in a direction, at most %llu",
                                    (unsigned long long)value, (unsigned long long)UINT32_MAX);
        r->grid[i] = (uint32_t)value;
        r->block[i] = p->block[0] ? p->block[i] : 1;
    }
    r->lanes = saturating_product(r->grid, r->block);
    return HG_OK;
}

/* What operations of the block need counts as shared memory; so do bytes that put the next block's,
 * where these lie side by side, at an address that atomics may have. */
static hg_status add_scratch(const hg_executable *e, hg_resolved *r) {
    uint64_t own = r->shared_bytes, start = (own + 15) & ~UINT64_C(15),
             lanes = block_lanes(r->block);
    if (!e->block_bytes) {
        if (e->plan->keeps_shared) r->shared_bytes = start;
        r->shared_scratch = r->shared_bytes - own;
        return HG_OK;
    }
    uint64_t need = KIR_BLOCK_HEAD + ((lanes * e->block_bytes + 15) & ~UINT64_C(15));
    r->shared_bytes = start + need;
    r->shared_scratch = r->shared_bytes - own;
    if (r->shared_bytes <= HG_MAX_SHARED_BYTES) return HG_OK;
    return hg_binding_error("P08",
                            "launch too large: operations of the block need %llu bytes of shared "
                            "memory for its %llu lanes, beside the %llu of "
                            "the program; at most %d together",
                            (unsigned long long)need, (unsigned long long)lanes,
                            (unsigned long long)own, HG_MAX_SHARED_BYTES);
}

static hg_status resolve_launch(hg_binding *binding, const hg_launch *launch) {
    const hg_program *p = binding->executable->program;
    hg_resolved *r = &binding->launch;
    uint64_t lanes;
    if (launch && launch->extents == HG_EXTENTS_GIVEN) {
        memcpy(r->grid, launch->grid, sizeof r->grid);
        memcpy(r->block, launch->block, sizeof r->block);
        r->lanes = saturating_product(r->grid, r->block) == UINT64_MAX
                       ? UINT64_MAX
                       : hg_launch_total_threads(launch);
    } else if (p->grid_count) {
        HG_TRY(program_grid(binding, r));
    } else {
        HG_TRY(program_lanes(binding, &lanes));
        if (lanes <= HG_MAX_LANES)
            linear(p, lanes, r);
        else
            r->lanes = lanes;
    }
    if (r->lanes > HG_MAX_LANES)
        return hg_binding_error("P08", "launch too large: %s%llu lanes, at most %llu",
                                r->lanes == UINT64_MAX ? "at least " : "",
                                (unsigned long long)r->lanes, (unsigned long long)HG_MAX_LANES);
    r->shared_bytes = launch && launch->shared_memory > p->shared ? launch->shared_memory
                                                                  : p->shared;
    if (r->shared_bytes > HG_MAX_SHARED_BYTES)
        return hg_binding_error("P08", "launch too large: %llu bytes of shared memory, at most %d",
                                (unsigned long long)r->shared_bytes, HG_MAX_SHARED_BYTES);
    uint64_t most = binding->executable->uses_barrier || binding->executable->uses_shared
                        ? HG_MAX_BLOCK_LANES
                        : HG_MAX_LANES;
    if (block_lanes(r->block) > HG_MAX_LANES)
        return hg_binding_error(
            "P08", "launch too large: a block of %u x %u x %u lanes, at most %llu", r->block[0],
            r->block[1], r->block[2], (unsigned long long)HG_MAX_LANES);
    if (block_lanes(r->block) > most)
        return hg_binding_error("P08",
                                "launch too large: a block of %u x %u x %u lanes uses a barrier or "
                                "shared memory, at most %d lanes",
                                r->block[0], r->block[1], r->block[2], HG_MAX_BLOCK_LANES);
    r->timeout_ms = hg_timeout_of(binding->executable->backend, launch);
    return add_scratch(binding->executable, r);
}

hg_status hg_binding_resolve(hg_binding *binding, const hg_launch *launch,
                             const hg_params *params) {
    const hg_program *p = binding->executable->program;
    HG_TRY(hg_params_check(params, p));
    HG_TRY(bind_scalars(binding, params));
    HG_TRY(bind_registers(binding, params));
    return resolve_launch(binding, launch);
}

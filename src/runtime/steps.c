/* Whole-array steps and pool instructions: bounds, overlap, and the hand-over to the driver's native steps.
 * Must not know: how a step is computed. */
#include "runtime/execute_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

static uint64_t argument(const hg_run *run, const plan_step *step, int index) {
    const plan_env *e = &run->binding->executable->plan->env.data[step->args[index]];
    uint64_t value = 0, size = kir_type_bytes(e->type);
    memcpy(&value, run->binding->env + e->offset, size < 8 ? (size_t)size : 8);
    return value;
}

static hg_status put_result(hg_run *run, const plan_step *step, const void *bytes, size_t size) {
    if (step->result == HG_PLAN_NO_ENV) return HG_OK;
    memcpy(run->binding->env + run->binding->executable->plan->env.data[step->result].offset, bytes, size);
    return hg_run_write_env(run);
}

hg_status hg_run_take_result(hg_run *run) {
    const plan_step *step = run->result_step;
    run->result_step = NULL;
    return step ? put_result(run, step, run->binding->result, (size_t)hg_type_size_bytes((hg_type)step->atlas_type)) : HG_OK;
}

static hg_status step_fault(hg_run *run, const plan_step *step, uint8_t code, uint8_t operand, const char *format, ...) HG_PRINTF(5, 6);
static hg_status step_fault(hg_run *run, const plan_step *step, uint8_t code, uint8_t operand, const char *format, ...) {
    hg_driver_fault fault = {.happened = true, .code = code, .operand = operand, .inst = step->inst, .phase = HG_NONE, .lane = HG_NONE};
    va_list list;
    va_start(list, format);
    vsnprintf(fault.message, sizeof fault.message, format, list);
    va_end(list);
    return hg_report_fault(run->binding->executable, &fault, run->step);
}

/* ---- pools ---- */

void hg_run_end_pools(hg_run *run, bool failed) {
    hg_backend *b = run->context->backend;
    if (!run->aliases.data && !run->pools.data) return;
    hg_error kept = *hg_error_record();
    /* Somebody else may have freed them by their numbers: then there is nothing left to do. */
    for (uint64_t i = 0; i < run->aliases.count; i++) HG_IGNORE(hg_backend_free_pool(b, (hg_pool){run->aliases.data[i].handle}));
    for (uint64_t i = 0; failed && i < run->pools.count; i++) HG_IGNORE(hg_backend_free_pool(b, (hg_pool){run->pools.data[i]}));
    hg_vec_free(&run->aliases);
    hg_vec_free(&run->pools);
    *hg_error_record() = kept;
}

static hg_status allocate_pool(hg_run *run, const plan_step *step) {
    hg_backend *b = run->context->backend;
    uint64_t size = argument(run, step, step->info.count_arg);
    bool chosen = step->op == HG_OP_POOL_ALLOC_CONST;
    uint64_t id = chosen ? argument(run, step, step->info.handle_arg) : 0;
    if (chosen && hg_run_pool(run, id).arena)
        return step_fault(run, step, KIR_FAULT_DOMAIN, 1, "execution error: pool handle already in use");
    hg_pool pool;
    HG_TRY(hg_backend_allocate_pool(b, size, &pool));
    if (chosen) {
        hg_pool_alias *alias = hg_vec_push(&run->aliases);
        if (!alias) {
            HG_IGNORE(hg_backend_free_pool(b, pool)); /* out of memory is what the caller must know */
            return hg_fail_memory();
        }
        *alias = (hg_pool_alias){id, pool.handle};
        return HG_OK;
    }
    uint64_t *own = hg_vec_push(&run->pools);
    if (!own) {
        HG_IGNORE(hg_backend_free_pool(b, pool)); /* the same */
        return hg_fail_memory();
    }
    *own = pool.handle;
    return put_result(run, step, &pool.handle, sizeof pool.handle);
}

static hg_status free_pool(hg_run *run, const plan_step *step) {
    hg_backend *b = run->context->backend;
    uint64_t id = argument(run, step, step->info.handle_arg), handle = id;
    for (uint64_t i = 0; i < run->aliases.count; i++) {
        if (run->aliases.data[i].id != id) continue;
        handle = run->aliases.data[i].handle;
        run->aliases.data[i] = run->aliases.data[--run->aliases.count];
        return hg_backend_free_pool(b, (hg_pool){handle});
    }
    for (uint64_t i = 0; i < run->pools.count; i++)
        if (run->pools.data[i] == handle) run->pools.data[i] = run->pools.data[--run->pools.count];
    if (!hg_handles_remove(&b->pools, handle))
        return step_fault(run, step, KIR_FAULT_HANDLE, 1, "invalid pool handle: %llu", (unsigned long long)id);
    return HG_OK;
}

/* ---- arrays ---- */

/* Finds the memory an array operand names. base: where its bytes start counting (flat addresses carry an offset). */
static hg_range array_memory(hg_run *run, const kir_step_array *a, const uint64_t *args, uint64_t *base, bool *pool, uint64_t *shown) {
    uint64_t handle = args[0];
    *base = 0;
    *pool = a->space == KIR_POOL;
    *shown = handle;
    switch ((kir_space)a->space) {
    case KIR_BUFFER: return hg_run_buffer(run, handle);
    case KIR_POOL: return hg_run_pool(run, handle);
    case KIR_CLASS: return hg_run_buffer(run, UINT64_MAX - (HG_MAX_CLASSES - 1) + a->class_id);
    case KIR_FLAT:
        *pool = handle >> 63;
        *base = handle & HG_MAX_FLAT_OFFSET;
        *shown = handle >> 40 & HG_MAX_HANDLE_INDEX;
        return hg_run_flat(run, *pool, *shown);
    case KIR_SHARED: break;
    }
    return (hg_range){NULL, 0, 0};
}

static hg_status find_array(hg_run *run, const plan_step *step, const kir_step_array *a, uint64_t bytes, hg_range *range) {
    uint64_t args[2] = {0, 0}, base, shown;
    uint8_t at = a->first_arg;
    bool pool;
    if (a->space == KIR_SHARED)
        return step_fault(run, step, KIR_FAULT_DOMAIN, a->operand, "unsupported operation: a whole-array instruction on shared memory");
    if (a->space != KIR_CLASS) args[0] = argument(run, step, at++);
    if (a->has_index) args[1] = argument(run, step, at);
    hg_range memory = array_memory(run, a, args, &base, &pool, &shown);
    const char *what = pool ? "pool" : "buffer";
    if (!memory.arena && !pool && (a->space == KIR_CLASS || hg_handle_is_class(shown)))
        return hg_fail_memory(); /* no room for the classes */
    if (!memory.arena)
        return step_fault(run, step, KIR_FAULT_HANDLE, a->operand, "invalid %s handle: %llu", what, (unsigned long long)shown);
    hg_i128 offset = (hg_i128)base + args[1] + a->disp;
    if (offset < 0 || offset > memory.size || bytes > memory.size - (uint64_t)offset) {
        bool negative = offset < 0;
        unsigned long long magnitude = (unsigned long long)(negative ? -offset : offset);
        hg_status status = step_fault(run, step, KIR_FAULT_BOUNDS, a->operand,
                                      "%s access out of bounds: offset %s%llu + size %llu > %s size %llu", what, negative ? "-" : "",
                                      magnitude, (unsigned long long)bytes, what, (unsigned long long)memory.size);
        hg_error_record()->offset = (uint64_t)offset;
        hg_error_record()->limit = memory.size;
        return status;
    }
    *range = (hg_range){memory.arena, memory.offset + (uint64_t)offset, bytes};
    return HG_OK;
}

/* Imports may share host memory: where the host sees it, addresses decide. */
static bool overlaps_partly(const hg_backend *b, const hg_range *x, const hg_range *y) {
    bool host = b->caps->host_memory && x->size && y->size;
    if (!host && x->arena != y->arena) return false;
    uint64_t at = host ? (uint64_t)(uintptr_t)b->driver->arena_map(x->arena) + x->offset : x->offset;
    uint64_t other = host ? (uint64_t)(uintptr_t)b->driver->arena_map(y->arena) + y->offset : y->offset;
    return at != other && (at < other ? other - at < x->size : at - other < y->size);
}

static bool is_native(const hg_backend *b, const hg_driver_step *work) {
    return b->driver->step_supported && b->driver->step_supported(b->device, work);
}

static hg_status submit_native(hg_run *run, const plan_step *step, const hg_driver_step *work) {
    hg_driver_command command = {.kind = HG_CMD_STEP, .step = work, .fault = &run->binding->fault};
    run->native = step;
    run->native_step = run->step;
    if (!hg_run_is_immediate(run)) {
        hg_driver_step *kept = hg_run_alloc(run, sizeof *kept);
        if (!kept) return hg_fail_memory();
        *kept = *work;
        command.step = kept;
    }
    return hg_run_add(run, &command);
}

static hg_status submit_step(hg_run *run, const plan_step *step, hg_driver_step *work) {
    const hg_backend *b = run->context->backend;
    run->binding->fault.happened = false;
    work->max_threads = b->config.num_threads;
    if (is_native(b, work)) return submit_native(run, step, work);
    HG_TRY(hg_run_submit(run, false)); /* what is expanded goes to the queue at once */
    HG_TRY(hg_expand_step(run->stream, work, &run->binding->fault));
    if (!run->binding->fault.happened) return HG_OK;
    run->binding->fault.inst = step->inst;
    run->binding->fault.phase = run->binding->fault.lane = HG_NONE;
    return hg_report_fault(run->binding->executable, &run->binding->fault, run->step);
}

/* An input that overlaps the output without being it is read first: copied aside. */
static hg_status set_aside(hg_run *run, hg_range *input) {
    hg_driver_command command = {.kind = HG_CMD_COPY, .from = *input};
    HG_TRY(hg_run_scratch(run, input->size, &command.to));
    *input = command.to;
    return hg_run_add(run, &command);
}

static hg_status array_bytes(hg_run *run, const plan_step *step, uint64_t *count, uint64_t *bytes) {
    *count = argument(run, step, step->info.count_arg);
    if (hg_mul_u64(*count, hg_type_size_bytes((hg_type)step->atlas_type), bytes)) return HG_OK;
    return step_fault(run, step, KIR_FAULT_BOUNDS, 0, "buffer access out of bounds: %llu elements of %s", (unsigned long long)*count,
                      hg_type_name((hg_type)step->atlas_type));
}

static hg_status run_map(hg_run *run, const plan_step *step) {
    hg_driver_step work = {
        .fn = kir_fn_of_name((hg_opname)step->opname), .atlas_type = step->atlas_type, .nin = (uint8_t)(step->info.array_count - 1)};
    uint64_t bytes;
    HG_TRY(array_bytes(run, step, &work.count, &bytes));
    HG_TRY(find_array(run, step, &step->info.arrays[0], bytes, &work.out));
    for (uint8_t i = 0; i < work.nin; i++) HG_TRY(find_array(run, step, &step->info.arrays[i + 1], bytes, &work.in[i]));
    hg_status status = HG_OK;
    for (uint8_t i = 0; i < work.nin && status == HG_OK; i++)
        if (overlaps_partly(run->context->backend, &work.out, &work.in[i])) status = set_aside(run, &work.in[i]);
    run->step_bytes = bytes * (work.nin + 1u);
    if (status == HG_OK) status = submit_step(run, step, &work);
    return status;
}

static hg_op fold_of(const plan_step *step) {
    hg_op named = hg_op_folds_with((hg_op)step->op);
    return named != HG_OP_NONE ? named : hg_opname_op((hg_opname)step->opname);
}

static hg_status run_reduction(hg_run *run, const plan_step *step) {
    bool to_memory = step->op == HG_OP_PARALLEL_REDUCE_MEM;
    uint64_t size = hg_type_size_bytes((hg_type)step->atlas_type), bytes;
    uint8_t *result = run->binding->result; /* stays while a device copies it */
    hg_driver_step work = {.fn = (uint16_t)fold_of(step), .reduce = true, .atlas_type = step->atlas_type, .nin = 1, .host_result = result};
    HG_TRY(array_bytes(run, step, &work.count, &bytes));
    if (to_memory) HG_TRY(find_array(run, step, &step->info.arrays[0], size, &work.out));
    HG_TRY(find_array(run, step, &step->info.arrays[to_memory], bytes, &work.in[0]));
    run->step_bytes = bytes + size;
    bool direct = to_memory && !is_native(run->context->backend, &work);
    if (direct) work.host_result = NULL;
    HG_TRY(submit_step(run, step, &work));
    if (direct) return HG_OK;
    if (to_memory) return hg_run_add(run, &(hg_driver_command){.kind = HG_CMD_COPY_IN, .to = work.out, .host = result});
    run->result_step = step;
    return run->look ? HG_OK : hg_run_take_result(run);
}

hg_status hg_run_step(hg_run *run, const plan_step *step) {
    switch ((hg_op)step->op) {
    case HG_OP_POOL_ALLOC:
    case HG_OP_POOL_ALLOC_CONST: return allocate_pool(run, step);
    case HG_OP_POOL_FREE:
    case HG_OP_POOL_FREE_CONST: return free_pool(run, step);
    case HG_OP_PARALLEL_MAP:
    case HG_OP_PARALLEL_MAP_BINARY: return run_map(run, step);
    case HG_OP_PARALLEL_REDUCE:
    case HG_OP_PARALLEL_REDUCE_MEM:
    case HG_OP_REDUCE_ADD_MEM:
    case HG_OP_REDUCE_MIN_MEM:
    case HG_OP_REDUCE_MAX_MEM:
    case HG_OP_REDUCE_MUL_MEM: return run_reduction(run, step);
    default: return hg_fail(HG_ERROR_INTERNAL, "'%s' is no step", hg_op_get((hg_op)step->op)->text);
    }
}

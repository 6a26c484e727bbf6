/* Where the arrays of a whole-array step lie: the memory that handles name, its bounds, and what
 * must be read from a copy because the step writes over it. All of it follows from what the
 * collective says of its arrays.
 * Must not know: what a step does, who runs it. */
#include "runtime/execute_internal.h"
#include "runtime/step.h"
#include "kir/fault_text.h"
#include <string.h>

hg_status hg_step_fault(hg_run *run, const plan_step *step, const plan_problem *problem,
                        uint64_t offset, uint64_t limit) {
    hg_driver_fault fault = {.happened = true,
                             .code = problem->code,
                             .operand = problem->operand,
                             .inst = step->inst,
                             .phase = HG_NONE,
                             .lane = HG_NONE,
                             .offset = offset,
                             .limit = limit};
    memcpy(fault.message, problem->message, sizeof fault.message);
    return hg_report_fault(run->binding->executable, &fault, run->step);
}

/* ---- memory ---- */

/* What an array operand names. */
typedef struct place {
    hg_range memory;
    uint64_t base; /* where its bytes start counting (flat addresses carry an offset) */
    uint64_t shown;
    bool pool, held; /* held: it is the same as long as the binding lives */
} place;

static bool is_held(const hg_run *run, bool pool, uint64_t handle, bool index) {
    if (pool && (run->binding->executable->moves_pools || run->pools.aliases.count)) return false;
    return hg_binding_held(run->binding, pool, handle, index).arena != NULL;
}

static place find_place(hg_run *run, const kir_step_operand *o, uint64_t handle) {
    place p = {.pool = o->space == KIR_POOL, .shown = handle};
    switch ((kir_space)o->space) {
    case KIR_BUFFER: p.memory = hg_run_buffer(run, handle); break;
    case KIR_POOL: p.memory = hg_run_pool(run, handle); break;
    case KIR_CLASS:
        p.memory = hg_run_buffer(run, UINT64_MAX - (HG_MAX_CLASSES - 1) + o->class_id);
        break;
    case KIR_FLAT:
        p.pool = handle >> 63;
        p.base = handle & HG_MAX_FLAT_OFFSET;
        p.shown = handle >> 40 & HG_MAX_HANDLE_INDEX;
        p.memory = hg_run_flat(run, p.pool, p.shown);
        break;
    case KIR_SHARED: break;
    }
    p.held = o->space == KIR_FLAT ? is_held(run, p.pool, p.shown, true)
                                  : o->space != KIR_CLASS && is_held(run, p.pool, handle, false);
    return p;
}

/* The memory that an array operand names, as far as the binding holds it. */
static hg_range held_memory(const hg_binding *binding, const kir_step_operand *o, uint64_t handle) {
    const bool moves = binding->executable->moves_pools;
    switch ((kir_space)o->space) {
    case KIR_BUFFER: return hg_binding_held(binding, false, handle, false);
    case KIR_POOL:
        return moves ? (hg_range){NULL, 0, 0} : hg_binding_held(binding, true, handle, false);
    case KIR_FLAT:
        if (handle >> 63 && moves) break;
        return hg_binding_held(binding, handle >> 63, handle >> 40 & HG_MAX_HANDLE_INDEX, true);
    case KIR_CLASS:
    case KIR_SHARED: break;
    }
    return (hg_range){NULL, 0, 0};
}

bool hg_step_fits(const hg_binding *binding, const hg_bound_step *s) {
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        const plan_array *a = &s->call.arrays[i];
        if (!a->place) continue;
        hg_range memory = held_memory(
            binding, a->place,
            a->place->space == KIR_CLASS ? 0 : s->args.operands[a->operand].words[0]);
        if (!memory.arena || a->bytes > memory.size) return false;
    }
    return true;
}

void hg_step_find_constants(const hg_binding *binding, hg_bound_step *s) {
    for (uint32_t i = 0; i < s->call.array_count && binding->memory.has_constants; i++) {
        plan_array *a = &s->call.arrays[i];
        bool buffer = a->place && (a->place->space == KIR_BUFFER || a->place->space == KIR_FLAT),
             flat = buffer && a->place->space == KIR_FLAT;
        uint64_t handle = buffer ? s->args.operands[a->operand].words[0] : 0;
        if (flat && handle >> 63) buffer = false; /* a pool */
        a->constant = buffer &&
                      hg_binding_is_constant(
                          binding, flat ? handle >> 40 & HG_MAX_HANDLE_INDEX : handle, flat);
    }
}

static hg_status out_of_bounds(hg_run *run, const hg_bound_step *s, const plan_array *a, bool pool,
                               hg_i128 offset, uint64_t limit) {
    char text[sizeof((plan_problem *)0)->message];
    plan_problem problem = {.found = false};
    hg_u128 bytes = a->bytes == UINT64_MAX ? plan_array_exact_bytes(a) : a->bytes;
    kir_fault_text_bounds(text, sizeof text, pool, offset, bytes, limit);
    plan_refuse(&s->call, &problem, KIR_FAULT_BOUNDS, a->operand, "%s", text);
    return hg_step_fault(run, s->step, &problem, (uint64_t)offset, limit);
}

static hg_status find_array(hg_run *run, hg_bound_step *s, const plan_array *a, hg_range *range) {
    const kir_step_operand *o = a->place;
    plan_problem problem = {.found = false};
    if (o->space == KIR_SHARED) {
        plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, a->operand,
                    "unsupported operation: a whole-array instruction on shared memory");
        return hg_step_fault(run, s->step, &problem, 0, 0);
    }
    const plan_operand *values = &s->args.operands[a->operand];
    bool has_handle = o->space != KIR_CLASS;
    place p = find_place(run, o, has_handle ? values->words[0] : 0);
    const char *what = p.pool ? "pool" : "buffer";
    if (!p.memory.arena && !p.pool && (o->space == KIR_CLASS || hg_handle_is_class(p.shown)))
        return hg_fail_memory(); /* no room for the classes */
    if (!p.memory.arena) {
        plan_refuse(&s->call, &problem, KIR_FAULT_HANDLE, a->operand, "invalid %s handle: %llu",
                    what, (unsigned long long)p.shown);
        return hg_step_fault(run, s->step, &problem, 0, 0);
    }
    hg_i128 offset = (hg_i128)p.base + (o->has_index ? values->words[has_handle] : 0) + o->disp -
                     a->before;
    if (offset < 0 || offset > p.memory.size || a->bytes > p.memory.size - (uint64_t)offset)
        return out_of_bounds(run, s, a, p.pool, offset, p.memory.size);
    *range = (hg_range){p.memory.arena, p.memory.offset + (uint64_t)offset,
                        a->open ? p.memory.size - (uint64_t)offset : a->bytes};
    s->place.stays = s->place.stays && p.held;
    return HG_OK;
}

hg_status hg_step_refuse(hg_run *run, hg_bound_step *s) {
    hg_range range;
    hg_run_guard(run);
    for (uint32_t i = 0; i < s->call.array_count && s->problem.span; i++)
        if (s->call.arrays[i].place) HG_TRY(find_array(run, s, &s->call.arrays[i], &range));
    return hg_step_fault(run, s->step, &s->problem, 0, 0);
}

/* ---- overlap ---- */

bool hg_step_overlap(const hg_backend *b, const hg_range *x, const hg_range *y, bool *same_start) {
    uint64_t at = x->offset, other = y->offset;
    *same_start = false;
    if (!x->size || !y->size || !x->arena || !y->arena) return false;
    if (x->arena != y->arena) {
        uint64_t x_host = (uintptr_t)hg_arena_host(b->driver, b->caps, x->arena),
                 y_host = (uintptr_t)hg_arena_host(b->driver, b->caps, y->arena);
        if (!x_host || !y_host) return false;
        at += x_host;
        other += y_host;
    }
    *same_start = at == other;
    return at < other ? other - at < x->size : at - other < y->size;
}

/* Whether an array that is read must be read from a copy. */
static bool is_overwritten(const hg_backend *b, const hg_bound_step *s, uint32_t i) {
    const plan_array *arrays = s->call.arrays;
    if (s->collective->overlap == PLAN_OVERLAP_ANY || !arrays[i].read || arrays[i].written)
        return false;
    for (uint32_t w = 0; w < s->call.array_count; w++) {
        bool same;
        if (!arrays[w].written ||
            !hg_step_overlap(b, &s->place.ranges[w], &s->place.ranges[i], &same))
            continue;
        if (!plan_may_be_same(s->collective, w) || !same ||
            !plan_array_same_shape(&arrays[w], &arrays[i]))
            return true;
    }
    return false;
}

/* What is written twice has no value that the order of lanes does not decide. */
static hg_status check_written(hg_run *run, const hg_bound_step *s) {
    const plan_array *arrays = s->call.arrays;
    for (uint32_t i = 1; i < s->call.array_count; i++)
        for (uint32_t w = 0; w < i && arrays[i].written; w++) {
            bool same;
            plan_problem problem = {.found = false};
            if (!arrays[w].written || !hg_step_overlap(run->context->backend, &s->place.ranges[w],
                                                       &s->place.ranges[i], &same))
                continue;
            plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, arrays[i].operand,
                        "it shares memory with operand %u, both are written",
                        (unsigned)arrays[w].operand + 1);
            return hg_step_fault(run, s->step, &problem, 0, 0);
        }
    return HG_OK;
}

static hg_status refuse_overlap(hg_run *run, const hg_bound_step *s) {
    const plan_array *arrays = s->call.arrays;
    for (uint32_t i = 0; i < s->call.array_count && s->collective->overlap == PLAN_OVERLAP_REFUSED;
         i++)
        for (uint32_t w = 0; w < s->call.array_count; w++) {
            bool same;
            plan_problem problem = {.found = false};
            if (w == i || !arrays[w].written || arrays[i].written) continue;
            if (!hg_step_overlap(run->context->backend, &s->place.ranges[w], &s->place.ranges[i],
                                 &same))
                continue;
            plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, arrays[i].operand,
                        "it shares memory with '%s', which is written",
                        hg_op_get((hg_op)s->call.op)->operands[arrays[w].operand].name);
            return hg_step_fault(run, s->step, &problem, 0, 0);
        }
    return HG_OK;
}

/* ---- all of a step ---- */

enum { COPY_ALIGN = 256 };

hg_status hg_step_find_memory(hg_run *run, hg_bound_step *s, uint64_t *scratch) {
    const plan_array *arrays = s->call.arrays;
    uint64_t end = 0;
    s->place.stays = true;
    s->place.aside_count = 0;
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        if (arrays[i].place)
            HG_TRY(find_array(run, s, &arrays[i], &s->place.ranges[i]));
        else
            s->place.ranges[i] = hg_env_result(run->binding, s->step, arrays[i].bytes);
    }
    HG_TRY(check_written(run, s));
    HG_TRY(refuse_overlap(run, s));
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        if (!is_overwritten(run->context->backend, s, i)) continue;
        s->place.asides[s->place.aside_count] = (hg_driver_command){
            .kind = HG_CMD_COPY,
            .from = s->place.ranges[i],
            .to = {NULL, end, s->place.ranges[i].size}};
        s->place.aside_arrays[s->place.aside_count++] = (uint8_t)i;
        if (s->place.ranges[i].size > (UINT64_MAX >> 1) - end - COPY_ALIGN) return hg_fail_memory();
        end += (s->place.ranges[i].size + COPY_ALIGN - 1) / COPY_ALIGN * COPY_ALIGN;
    }
    *scratch = end;
    return HG_OK;
}

void hg_step_set_aside(hg_bound_step *s, hg_range scratch) {
    for (uint32_t i = 0; i < s->place.aside_count; i++) {
        hg_range *to = &s->place.asides[i].to;
        to->arena = scratch.arena;
        to->offset += scratch.offset;
        s->place.ranges[s->place.aside_arrays[i]] = *to;
    }
}

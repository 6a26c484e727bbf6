/* Whole-array steps and pool instructions. A step's call, whether the driver does it, and its
 * memory follow from the values of its arguments; they are kept with the binding as long as those
 * stay the same.
 * Must not know: what a collective does. */
#include "runtime/execute_internal.h"
#include "runtime/chain.h"
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

/* The first argument of an operand of a kind; 0 without one. */
static uint64_t argument(const hg_run *run, const plan_step *step, kir_step_kind kind) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        if (o->kind != kind) continue;
        const plan_env *e = &run->binding->executable->plan->env.data[step->args[o->first_arg]];
        uint64_t size = kir_type_bytes(e->type);
        memcpy(&value, run->binding->env.bytes + e->offset, size < 8 ? (size_t)size : 8);
        break;
    }
    return value;
}

/* ---- pools ---- */

void hg_run_end_pools(hg_run *run, bool failed) {
    hg_backend *b = run->context->backend;
    if (!run->pools.aliases.data && !run->pools.own.data) return;
    hg_error kept = *hg_error_record();
    /* Somebody else may have freed them by their numbers: then there is nothing left to do. */
    for (uint64_t i = 0; i < run->pools.aliases.count; i++)
        HG_IGNORE(hg_backend_free_pool(
            b, (hg_pool){hg_handle_public(b, run->pools.aliases.data[i].handle)}));
    for (uint64_t i = 0; failed && i < run->pools.own.count; i++)
        HG_IGNORE(hg_backend_free_pool(b, (hg_pool){hg_handle_public(b, run->pools.own.data[i])}));
    hg_vec_free(&run->pools.aliases);
    hg_vec_free(&run->pools.own);
    *hg_error_record() = kept;
}

static hg_status allocate_pool(hg_run *run, const plan_step *step) {
    hg_backend *b = run->context->backend;
    hg_run_guard(run);
    uint64_t size = argument(run, step, KIR_STEP_COUNT);
    bool chosen = step->op == HG_OP_POOL_ALLOC_CONST;
    uint64_t id = chosen ? argument(run, step, KIR_STEP_HANDLE) : 0;
    static const plan_problem in_use = {.found = true,
                                        .code = KIR_FAULT_DOMAIN,
                                        .operand = 1,
                                        .message = "execution error: pool handle already in use"};
    if (chosen && hg_run_pool(run, id).arena) return hg_step_fault(run, step, &in_use, 0, 0);
    hg_pool pool;
    HG_TRY(hg_backend_allocate_pool(b, size, &pool));
    uint64_t made = hg_handle_plain(b, pool.handle);
    if (chosen) {
        hg_pool_alias *alias = hg_vec_push(&run->pools.aliases);
        if (!alias) {
            HG_IGNORE(hg_backend_free_pool(b, pool)); /* out of memory is what the caller must know
                                                       */
            return hg_fail_memory();
        }
        *alias = (hg_pool_alias){id, made};
        return HG_OK;
    }
    uint64_t *own = hg_vec_push(&run->pools.own);
    if (!own) {
        HG_IGNORE(hg_backend_free_pool(b, pool)); /* the same */
        return hg_fail_memory();
    }
    *own = made;
    hg_env_put(run->binding, step, made);
    return HG_OK;
}

static hg_status free_pool(hg_run *run, const plan_step *step) {
    hg_backend *b = run->context->backend;
    hg_run_guard(run);
    uint64_t id = argument(run, step, KIR_STEP_HANDLE), handle = id;
    for (uint64_t i = 0; i < run->pools.aliases.count; i++) {
        if (run->pools.aliases.data[i].id != id) continue;
        handle = run->pools.aliases.data[i].handle;
        run->pools.aliases.data[i] = run->pools.aliases.data[--run->pools.aliases.count];
        HG_TRY(hg_backend_free_pool(b, (hg_pool){hg_handle_public(b, handle)}));
        if (hg_run_is_immediate(run)) hg_guard_renew(b); /* no kernel is under way */
        return HG_OK;
    }
    for (uint64_t i = 0; i < run->pools.own.count; i++)
        if (run->pools.own.data[i] == handle)
            run->pools.own.data[i] = run->pools.own.data[--run->pools.own.count];
    if (hg_handles_remove(&b->pools, handle)) {
        if (hg_run_is_immediate(run)) hg_guard_renew(b); /* the same */
        return HG_OK;
    }
    plan_problem problem = {.found = true, .code = KIR_FAULT_HANDLE, .operand = 1};
    snprintf(problem.message, sizeof problem.message, "invalid pool handle: %llu",
             (unsigned long long)id);
    return hg_step_fault(run, step, &problem, 0, 0);
}

/* ---- bar.grid: kernels that come see what those before it wrote, as behind every step ---- */

static hg_status clear_shared(hg_run *run) {
    hg_driver_command fill = {.kind = HG_CMD_FILL, .to = run->binding->memory.shared.range};
    return fill.to.arena ? hg_run_add(run, &fill) : HG_OK;
}

/* ---- calls ---- */

/* Words of the arguments' values as they are now. */
static void read_words(const hg_binding *binding, const hg_bound_step *s, uint64_t *words) {
    const hg_plan *plan = binding->executable->plan;
    for (uint32_t i = 0; i < s->step->arg_count; i++) {
        const plan_env *e = &plan->env.data[s->step->args[i]];
        uint64_t size = kir_type_bytes(e->type);
        words[(size - 1) / 8] = 0;
        memcpy(words, binding->env.bytes + e->offset, (size_t)size);
        words += (size + 7) / 8;
    }
}

/* What a promise of bits or the configuration leaves to the driver: never what gives other bits
 * than the expansion, where those were asked for. */
static bool driver_does(const hg_backend *b, const plan_call *call, uint64_t *scratch) {
    bool bounded = hg_op_get((hg_op)call->op)->numbers == HG_NUMBERS_BOUNDED;
    if (b->config.deterministic && (bounded || !b->caps->exact)) return false;
    return b->driver->step_supported && b->driver->step_supported(b->device, call, scratch);
}

hg_status hg_step_charge(hg_backend *b, hg_bound_step *s, uint64_t actions) {
    enum { SLOTS = 16 }; /* of an action: more are few */
    const uint64_t of_one = sizeof(plan_action) + sizeof(hg_step_action) +
                            SLOTS * (sizeof(hg_range) + sizeof(plan_part));
    hg_budget_release(b->memory.budget, s->charged);
    s->charged = 0;
    if (actions) HG_TRY(hg_budget_charge(b->memory.budget, actions * of_one));
    s->charged = actions * of_one;
    return HG_OK;
}

hg_status hg_step_expand(const hg_binding *binding, hg_bound_step *s) {
    if (s->state >= HG_STEP_EXPANDED) return HG_OK;
    if (s->by_driver) {
        s->state = HG_STEP_EXPANDED;
        return HG_OK;
    }
    s->collective->expand(&s->call, &s->expansion.planned);
    if (s->expansion.planned.failed) return hg_fail_memory();
    s->scratch = s->expansion.planned.scratch;
    HG_TRY(hg_step_charge(binding->executable->backend, s, s->expansion.planned.actions.count));
    s->state = HG_STEP_EXPANDED;
    return HG_OK;
}

/* Of a host's; 0: it runs many blocks at a time. */
static uint32_t threads_of(const hg_backend *b) {
    const uint32_t threads = hg_backend_threads(b);
    return !hg_backend_is_host(b) ? 0 : threads ? threads : hg_cpu_count();
}

/* Whether the compiler of a device had better get short kernels: it takes no others, or f64 becomes
 * integer code, a hundred operations for each. */
static bool takes_few(const hg_compiler_caps *caps, hg_type type) {
    return caps->max_operations != 0 ||
           (caps->device_form && !caps->kir.f64 && type == HG_TYPE_F64);
}

/* What follows from the words alone: the call, who does it. A problem is left for the run. */
static hg_status make_call(const hg_binding *binding, hg_bound_step *s) {
    const hg_backend *b = binding->executable->backend;
    s->state = HG_STEP_UNKNOWN;
    s->by_driver = false;
    s->scratch = 0;
    plan_call_make(binding->executable->plan, s->step, s->args.words, s->args.constants,
                   s->args.operands, s->args.arrays, s->ranks, &s->call, &s->problem);
    if (s->problem.found) return HG_OK;
    hg_step_find_constants(binding, s);
    s->bytes = s->collective->cost(&s->call).bytes;
    s->expansion.operations = s->collective->cost(&s->call).operations;
    s->by_driver = driver_does(b, &s->call, &s->scratch);
    plan_expansion_clear(&s->expansion.planned);
    s->expansion.planned.tiles = &b->tiles;
    s->expansion.planned.threads = threads_of(b);
    s->expansion.planned.dot4 = b->caps->hints.dot4;
    s->expansion.planned.rolled = takes_few(&b->caps->compiler, (hg_type)s->call.type);
    s->expansion.planned.most_rounds = b->caps->compiler.target.max_rounds;
    HG_TRY(hg_step_charge(binding->executable->backend, s, 0));
    s->state = HG_STEP_CALLED;
    return HG_OK;
}

/* Whether the words are those of the call; else they are the new ones afterwards. */
static bool same_words(const hg_binding *binding, hg_bound_step *s) {
    uint64_t *fresh = s->args.words + s->args.word_count;
    if (s->state != HG_STEP_UNKNOWN && s->args.fixed) return true;
    read_words(binding, s, fresh);
    size_t size = s->args.word_count * sizeof *fresh;
    if (s->state != HG_STEP_UNKNOWN && memcmp(s->args.words, fresh, size) == 0) return true;
    memcpy(s->args.words, fresh, size);
    return false;
}

hg_status hg_step_call(const hg_binding *binding, hg_bound_step *s) {
    return same_words(binding, s) ? HG_OK : make_call(binding, s);
}

/* ---- memory ---- */

/* Scratch memory for a step: the binding's, which its steps use one after another, where that was
 * planned large enough; else the run's. */
static hg_status find_scratch(hg_run *run, hg_bound_step *s, uint64_t bytes, hg_range *range) {
    *range = run->binding->steps.scratch.range;
    if (bytes <= range->size) return HG_OK;
    s->place.stays = false;
    return hg_run_scratch(run, bytes, range);
}

static uint64_t rounded(uint64_t bytes) {
    return (bytes + HG_PIECE_ALIGN - 1) / HG_PIECE_ALIGN * HG_PIECE_ALIGN;
}

/* Where the memory is the same as last time, so are the actions. */
static hg_status place(hg_run *run, hg_bound_step *s) {
    uint64_t all;
    hg_range scratch, last[HG_MAX_OPERANDS];
    bool placed = s->state == HG_STEP_PLACED;
    hg_run_guard(run);
    size_t size = s->call.array_count * sizeof *last;
    memcpy(last, s->place.ranges, size);
    hg_step_unplace(s);
    HG_TRY(hg_step_find_memory(run, s, &all));
    HG_TRY(hg_step_expand(run->binding, s));
    uint64_t own = rounded(s->scratch),
             tables = s->expansion.keeps_tables ? 0 : rounded(s->expansion.planned.tables);
    if (own < s->scratch || !hg_add_u64(own, tables, &own) || !hg_add_u64(own, all, &all))
        return hg_fail_memory();
    HG_TRY(find_scratch(run, s, all, &scratch));
    hg_step_set_aside(s, (hg_range){scratch.arena, scratch.offset + own, 0});
    if (!s->expansion.keeps_tables)
        s->expansion.tables = (hg_range){scratch.arena, scratch.offset + own - tables, tables};
    scratch.size = s->scratch;
    bool same = placed && memcmp(last, s->place.ranges, size) == 0 &&
                memcmp(&scratch, &s->place.driver.scratch, sizeof scratch) == 0;
    s->place.driver = (hg_driver_step){.call = &s->call,
                                       .ranges = s->place.ranges,
                                       .scratch = scratch,
                                       .max_threads = run->context->backend->config.num_threads};
    if (!s->by_driver && !same) HG_TRY(hg_expansion_prepare(run->stream, &s->expansion, scratch));
    s->state = HG_STEP_PLACED;
    return HG_OK;
}

/* ---- execution ---- */

/* Behind a step that cannot fault the run goes on, unless the next run of the step would write over
 * what the command points to. */
hg_driver_command hg_step_by_driver(hg_binding *binding, const hg_bound_step *s) {
    bool goes_on = binding->executable->backend->caps->scheduling.records_steps && s->args.fixed &&
                   s->place.stays;
    return (hg_driver_command){
        .kind = HG_CMD_STEP, .step = &s->place.driver, .fault = goes_on ? NULL : &binding->fault};
}

/* A batch should take some hundred milliseconds at most, since nobody looks at the clock within it:
 * one of so many operations, on the fastest devices. */
enum { FULL_BATCH_LOG = 43 };
static uint64_t weight_of(const hg_bound_step *s) {
    return s->collective->cost(&s->call).operations /
           ((UINT64_C(1) << FULL_BATCH_LOG) / HG_FULL_BATCH);
}

static hg_status run_by_driver(hg_run *run, hg_bound_step *s) {
    s->place.driver.limit = hg_run_limit(run);
    hg_driver_command command = hg_step_by_driver(run->binding, s);
    HG_TRY(hg_run_add(run, &command));
    if (!hg_run_is_immediate(run)) hg_run_count(run, false, weight_of(s));
    return HG_OK;
}

static hg_status run_collective(hg_run *run, hg_bound_step *s) {
    uint32_t ranks = hg_step_ranks(run->context, s);
    if (HG_UNLIKELY(ranks != s->ranks)) {
        s->ranks = ranks;
        s->state = HG_STEP_UNKNOWN;
    }
    HG_TRY(hg_step_call(run->binding, s));
    if (s->problem.found) return hg_step_refuse(run, s);
    if (s->state != HG_STEP_PLACED || !s->place.stays) HG_TRY(place(run, s));
    run->last_step.bytes = s->bytes;
    run->binding->fault.happened = false;
    run->last_step.plan = s->step;
    run->last_step.number = run->step;
    for (uint32_t i = 0; i < s->place.aside_count; i++)
        HG_TRY(hg_run_add(run, &s->place.asides[i]));
    if (ranks > 1) return hg_exchange_begin(run, s);
    HG_TRY(s->by_driver ? run_by_driver(run, s) : hg_expansion_run(run, &s->expansion));
    return hg_env_after_step(run, s->step);
}

hg_status hg_run_step(hg_run *run, const plan_step *step) {
    switch ((hg_op)step->op) {
    case HG_OP_POOL_ALLOC:
    case HG_OP_POOL_ALLOC_CONST: return allocate_pool(run, step);
    case HG_OP_POOL_FREE:
    case HG_OP_POOL_FREE_CONST: return free_pool(run, step);
    case HG_OP_BAR_GRID: return clear_shared(run);
    default: break;
    }
    hg_bound_step *s =
        &run->binding->steps.bound[step - run->binding->executable->plan->steps.data];
    return s->collective ? run_collective(run, s)
                         : hg_fail(HG_ERROR_INTERNAL, "'%s' is in no line of steps.def",
                                   hg_op_get((hg_op)step->op)->text);
}

/* Whether nobody need look at the time while the steps run: there is no time-out, or they are over
 * in a few milliseconds. */
static bool may_go_unwatched(const hg_binding *binding) {
    enum { SHORT_WORK_LOG = 24 };
    uint64_t work = 0;
    if (!binding->launch.timeout_ms) return true;
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        const hg_bound_step *s = &binding->steps.bound[i];
        if (!s->collective || s->state == HG_STEP_UNKNOWN ||
            !hg_add_u64(work, s->collective->cost(&s->call).operations, &work))
            return false;
    }
    return work <= UINT64_C(1) << SHORT_WORK_LOG;
}

/* Their arguments and results are arrays that lie where they will stay. */
bool hg_steps_only(const hg_binding *binding) {
    const hg_executable *e = binding->executable;
    const hg_plan *plan = e->plan;
    if (e->kernel_count || plan->steps.count == 0 || plan->code.count != plan->steps.count + 1)
        return false;
    if (e->uses_state || binding->guarded || binding->env.changes ||
        binding->memory.shared.range.arena)
        return false;
    if (binding->memory.own_pools.count || binding->memory.own_buffers.count) return false;
    for (uint64_t i = 0; i < plan->steps.count; i++)
        if (plan->code.data[i].op != PLAN_STEP || plan->steps.data[i].result != HG_PLAN_NO_ENV ||
            (binding->steps.bound[i].collective && binding->steps.bound[i].collective->exchange))
            return false;
    return may_go_unwatched(binding);
}

/* ---- bindings ---- */

static bool is_fixed(const hg_plan *plan, const plan_step *step) {
    for (uint32_t i = 0; i < step->arg_count; i++)
        if (plan->env.data[step->args[i]].writer != PLAN_BY_NOBODY) return false;
    return true;
}

static hg_status bind_step(hg_binding *binding, const plan_step *step, hg_bound_step *s) {
    const hg_plan *plan = binding->executable->plan;
    const hg_op_info *row = hg_op_get((hg_op)step->op);
    size_t operands = row->operand_count;
    s->step = step;
    s->expansion.kernels = &binding->executable->backend->expansions.first;
    s->collective = plan_collective_of((hg_op)step->op);
    if (!s->collective) return HG_OK;
    s->ranks = 1;
    s->args.fixed = is_fixed(plan, step);
    s->args.word_count = plan_step_words(plan, step);
    s->args.words = hg_arena_alloc(
        &binding->arena, (2 * (size_t)s->args.word_count + operands + 1) * sizeof *s->args.words);
    s->args.operands = hg_arena_alloc(&binding->arena, operands * sizeof *s->args.operands);
    s->args.arrays = hg_arena_alloc(&binding->arena, operands * sizeof *s->args.arrays);
    s->place.ranges = hg_arena_alloc(&binding->arena, operands * sizeof *s->place.ranges);
    s->place.asides = hg_arena_alloc(&binding->arena, operands * sizeof *s->place.asides);
    s->place.aside_arrays = hg_arena_alloc(&binding->arena, operands);
    if (!s->args.words || !s->args.operands || !s->args.arrays || !s->place.ranges ||
        !s->place.asides || !s->place.aside_arrays)
        return hg_fail_memory();
    s->expansion.ranges = s->place.ranges;
    s->args.constants = s->args.words + 2 * (size_t)s->args.word_count;
    if (!s->args.fixed) return HG_OK;
    read_words(binding, s, s->args.words);
    HG_TRY(make_call(binding, s));
    return s->state == HG_STEP_CALLED && hg_step_fits(binding, s) ? hg_step_expand(binding, s)
                                                                  : HG_OK;
}

/* Of steps whose arguments never change; others' tables are made in each run. */
static hg_status bind_tables(hg_binding *binding, uint64_t bytes) {
    hg_suballocator *memory = &binding->executable->backend->memory;
    HG_TRY(hg_piece_alloc(memory, bytes, &binding->steps.tables));
    hg_range range = binding->steps.tables.range;
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        hg_bound_step *s = &binding->steps.bound[i];
        range.size = rounded(s->expansion.planned.tables);
        if (range.size == 0) continue;
        s->expansion.tables = range;
        s->expansion.keeps_tables = true;
        range.offset += range.size;
    }
    return HG_OK;
}

/* What the steps need beside their arrays. */
static hg_status bind_memory(hg_binding *binding) {
    uint64_t scratch = 0, tables = 0;
    hg_suballocator *memory = &binding->executable->backend->memory;
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        if (binding->steps.bound[i].scratch > scratch) scratch = binding->steps.bound[i].scratch;
        if (!hg_add_u64(tables, rounded(binding->steps.bound[i].expansion.planned.tables), &tables))
            return hg_fail_memory();
    }
    if (rounded(scratch) < scratch) return hg_fail_memory();
    if (scratch)
        HG_TRY(hg_piece_alloc(memory, rounded(scratch), &binding->steps.scratch)); /* as
                                                                                     find_scratch
                                                                                     asks for it */
    return tables ? bind_tables(binding, tables) : HG_OK;
}

/* There is no room for what is made of constants: their steps are expanded without. False: there
 * are none, or this failed too. */
static bool do_without_constants(hg_binding *binding) {
    bool any = false;
    hg_piece_free(&binding->executable->backend->memory, &binding->steps.scratch);
    for (uint64_t i = 0; i < binding->executable->plan->steps.count; i++) {
        hg_bound_step *s = &binding->steps.bound[i];
        bool constant = false;
        for (uint32_t k = 0; s->state == HG_STEP_EXPANDED && k < s->call.array_count; k++) {
            constant = constant || s->call.arrays[k].constant;
            s->call.arrays[k].constant = false;
        }
        if (!constant || s->by_driver) continue;
        any = true;
        plan_expansion_clear(&s->expansion.planned);
        s->state = HG_STEP_CALLED;
        if (hg_step_expand(binding, s) != HG_OK) return false;
    }
    return any;
}

hg_status hg_steps_bind(hg_binding *binding) {
    const hg_plan *plan = binding->executable->plan;
    if (plan->steps.count == 0) return HG_OK;
    binding->steps.bound = hg_arena_alloc(&binding->arena,
                                          (size_t)plan->steps.count * sizeof *binding->steps.bound);
    if (!binding->steps.bound) return hg_fail_memory();
    for (uint64_t i = 0; i < plan->steps.count; i++)
        HG_TRY(bind_step(binding, &plan->steps.data[i], &binding->steps.bound[i]));
    hg_status status = bind_memory(binding);
    return status == HG_ERROR_ALLOCATION_FAILED && do_without_constants(binding)
               ? bind_memory(binding)
               : status;
}

static void free_chain(hg_bound_chain *chain) {
    if (!chain) return;
    plan_expansion_free(&chain->joined.planned);
    hg_arena_free(&chain->joined.memory);
    hg_free(chain);
}

void hg_steps_unbind(hg_binding *binding) {
    for (uint64_t i = 0; binding->steps.bound && i < binding->executable->plan->steps.count; i++) {
        HG_IGNORE(hg_step_charge(binding->executable->backend, &binding->steps.bound[i], 0));
        plan_expansion_free(&binding->steps.bound[i].expansion.planned);
        hg_arena_free(&binding->steps.bound[i].expansion.memory);
        free_chain(binding->steps.bound[i].chain);
    }
    hg_piece_free(&binding->executable->backend->memory, &binding->steps.scratch);
    hg_piece_free(&binding->executable->backend->memory, &binding->steps.tables);
}

/* Whole-array instructions in a module of WebAssembly that stands alone: where their arrays lie,
 * then the launches, as build_launch.c has them in C.
 * Must not know: what an instruction does. */
#include "offline/build_wasm_internal.h"
#include "kir/define/define.h"
#include <string.h>

static uint32_t array_at(const build_wasm *k, uint32_t number) {
    return k->at.arrays + number * WA_MEMORY_BYTES;
}

/* ---- arrays ---- */

/* bytes: a local, how many there must be. before: those in front of the first element. */
static void find_array(build_wasm *k, const plan_step *step, const kir_step_operand *o,
                       uint32_t bytes, uint64_t before, bool open, uint32_t number) {
    const hg_plan *plan = k->f.p->plan;
    wasm_code *c = k->c;
    w_i32(c, array_at(k, number));
    build_wasm_push_env(k, plan->env.data[step->args[o->first_arg]].offset, 8);
    w_i32(c, o->space == KIR_POOL);
    if (o->has_index)
        build_wasm_push_env(k, plan->env.data[step->args[o->first_arg + 1u]].offset, 8);
    else
        w_i64(c, 0);
    w_i64(c, (uint64_t)o->disp - before);
    w_get(c, bytes);
    w_i32(c, open);
    w_i32(c, step->inst);
    w_i32(c, o->operand);
    w_number(c, W_CALL, k->calls.array);
    build_wasm_end_unless(k);
}

static void find_arrays(build_wasm *k, const plan_step *step, const build_step *s) {
    wasm_code *c = k->c;
    const uint32_t bytes = wasm_take(c, WASM_I64);
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        const plan_array *a = &s->arrays[i];
        if (!a->place) { /* the result, a number of the environment */
            bw_store_i32(c, array_at(k, i), k->f.env + k->f.p->plan->env.data[step->result].offset);
            bw_store_i64(c, array_at(k, i) + WA_MEMORY_SIZE, a->bytes);
            bw_store_i32(c, array_at(k, i) + WA_MEMORY_VALID, 1);
            continue;
        }
        w_i64(c, a->bytes);
        w_set(c, bytes);
        find_array(k, step, a->place, bytes, a->before, a->open, i);
    }
}

/* ---- arrays that share memory ---- */

static void push_overlap(build_wasm *k, uint32_t x, uint32_t y) {
    w_i32(k->c, array_at(k, x));
    w_i32(k->c, array_at(k, y));
    w_number(k->c, W_CALL, k->calls.overlap);
}

/* The function ends with a fault of the instruction. */
static void refuse(build_wasm *k, const plan_step *step, const plan_problem *problem) {
    wasm_code *c = k->c;
    bw_store_i32(c, k->run + FOUND_CODE, problem->code);
    bw_store_i32(c, k->run + FOUND_INSTRUCTION, step->inst);
    bw_store_i32(c, k->run + FOUND_OPERAND, problem->operand);
    bw_store_i64(c, k->run + FOUND_LANE, UINT64_MAX);
    bw_store_i32(c, k->run + FOUND_MESSAGE,
                 k->m->alone.base +
                     wasm_data(k->m, problem->message, strlen(problem->message) + 1, 1));
    w_i32(c, problem->code);
    w(c, W_RETURN);
}

static void refuse_overlap(build_wasm *k, const plan_step *step, const build_step *s, uint32_t i,
                           uint32_t written) {
    plan_problem problem = {.found = false};
    if (s->arrays[i].written)
        plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, s->arrays[i].operand,
                    "it shares memory with operand %u, both are written",
                    (unsigned)s->arrays[written].operand + 1);
    else
        plan_refuse(&s->call, &problem, KIR_FAULT_DOMAIN, s->arrays[i].operand,
                    "it shares memory with '%s', which is written",
                    hg_op_get((hg_op)step->op)->operands[s->arrays[written].operand].name);
    push_overlap(k, written, i);
    (void)w_open(k->c, W_IF, WASM_VOID);
    refuse(k, step, &problem);
    w(k->c, W_END);
}

/* Array i is read from a copy where one of those that are written lies on it: elsewhere than on the
 * same elements, or at all. */
static void copy_aside(build_wasm *k, const plan_step *step, const build_step *s, uint32_t i) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    wasm_code *c = k->c;
    const uint32_t to = wasm_take(c, WASM_I32);
    w_i32(c, 0);
    for (uint32_t n = 0; n < s->call.array_count; n++) {
        if (!(s->shares[i] >> n & 1)) continue;
        push_overlap(k, n, i);
        w_i32(c, plan_may_be_same(of, n) && plan_array_same_shape(&s->arrays[n], &s->arrays[i]));
        w(c, W_I32_GT_U);
        w(c, W_I32_OR);
    }
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, k->f.steps);
    w_i32(c, (uint32_t)s->copies[i] - 1);
    w(c, W_I32_ADD);
    w_tee(c, to);
    bw_load(c, W_I32_LOAD, array_at(k, i));
    bw_load(c, W_I32_LOAD, array_at(k, i) + WA_MEMORY_SIZE);
    w(c, W_MEMORY_COPY);
    bw_store(c, W_I32_STORE, array_at(k, i), to);
    w(c, W_END);
}

static void look_at_overlaps(build_wasm *k, const plan_step *step, const build_step *s) {
    const bool refused = plan_collective_of((hg_op)step->op)->overlap == PLAN_OVERLAP_REFUSED;
    for (uint32_t i = 0; i < s->call.array_count; i++)
        for (uint32_t n = 0; n < s->call.array_count; n++)
            if ((s->shares[i] >> n & 1) && (s->arrays[i].written ? n < i : refused))
                refuse_overlap(k, step, s, i, n);
    for (uint32_t i = 0; i < s->call.array_count; i++)
        if (s->copies[i]) copy_aside(k, step, s, i);
}

/* ---- actions ---- */

static bool is_own(const plan_part *part) {
    return part->array == (uint32_t)PLAN_IN_SCRATCH || part->array == (uint32_t)PLAN_IN_TABLES;
}

static void push_address(build_wasm *k, const build_step *s, const plan_part *part) {
    const bool table = part->array == (uint32_t)PLAN_IN_TABLES;
    if (is_own(part))
        w_get(k->c, k->f.steps);
    else
        bw_load(k->c, W_I32_LOAD, array_at(k, part->array));
    w_i32(k->c, (uint32_t)(part->offset + (table ? s->tables : 0)));
    w(k->c, W_I32_ADD);
}

static void push_bytes(build_wasm *k, const plan_part *part) {
    if (part->bytes != PLAN_TO_END) {
        w_i64(k->c, part->bytes);
        return;
    }
    bw_load(k->c, W_I64_LOAD, array_at(k, part->array) + WA_MEMORY_SIZE);
    w_i64(k->c, part->offset);
    w(k->c, W_I64_SUB);
}

/* An input of a kernel: nothing for handles, the values, nothing for where arrays begin, how many
 * bytes they have. */
static void push_input(build_wasm *k, const build_step *s, const plan_action *action,
                       const kir_input *input) {
    const uint32_t arrays = action->key.arrays, values = action->key.values,
                   shift = 8u * input->limb * input->limb_bytes;
    wasm_code *c = k->c;
    if (input->reg >= 2 * arrays + values)
        push_bytes(k,
                   &s->expansion.parts.data[action->first_part + input->reg - 2 * arrays - values]);
    else
        w_i64(c, input->reg >= arrays && input->reg < arrays + values
                     ? s->expansion.values.data[action->first_value + input->reg - arrays]
                     : 0);
    if (shift) {
        w_i64(c, shift);
        w(c, W_I64_SHR_U);
    }
    if (input->limb_bytes != 4) return;
    w_i64(c, UINT32_MAX);
    w(c, W_I64_AND);
}

static void write_launch(build_wasm *k, const plan_step *step, const build_step *s,
                         uint64_t number) {
    const plan_action *action = &s->expansion.actions.data[number];
    const build_kernel *kernel = &k->job->kernels.data[s->kernels[number]];
    const kir_module *m = kernel->low;
    const uint64_t volume = (uint64_t)action->block[0] * action->block[1] * action->block[2];
    const uint32_t shape[] = {action->grid[0],  action->grid[1],  action->grid[2],
                              action->block[0], action->block[1], action->block[2]};
    uint8_t bytes[sizeof shape]; /* little-endian */
    wasm_code *c = k->c;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(shape[i / 4] >> 8 * (i % 4));
    for (uint32_t i = 0; i < m->inputs.count; i++) {
        w_i32(c, k->at.inputs + 8 * i);
        push_input(k, s, action, &m->inputs.data[i]);
        w_memory(c, W_I64_STORE, 0);
    }
    for (uint32_t i = 0; i < m->slots.count; i++) {
        const uint32_t to = k->at.slots + i * WA_MEMORY_BYTES;
        const plan_part *part =
            &s->expansion.parts
                 .data[action->first_part + m->inputs.data[m->slots.data[i].input].reg];
        w_i32(c, to);
        push_address(k, s, part);
        w_memory(c, W_I32_STORE, 0);
        w_i32(c, to);
        push_bytes(k, part);
        w_memory(c, W_I64_STORE, WA_MEMORY_SIZE);
        bw_store_i32(c, to + WA_MEMORY_VALID, 1);
    }
    bw_store_i32(c, k->run + WA_LAUNCH_INPUTS, k->at.inputs);
    bw_store_i32(c, k->run + WA_LAUNCH_SLOTS, k->at.slots);
    w_i32(c, wasm_place(k->m, k->made[s->kernels[number]].function));
    w_i64(c, action->lanes);
    w_i32(c, k->m->alone.base + wasm_data(k->m, bytes, sizeof bytes, 4));
    w_i64(c, kernel->blocks ? (action->shared_bytes + 15) & ~UINT64_C(15) : UINT64_MAX);
    w_i64(c, action->shared_bytes);
    w_i64(c, kernel->blocks && volume ? volume * (1 + AT_ONCE / volume) : AT_ONCE);
    w_i32(c, step->inst);
    w_number(c, W_CALL, k->calls.step);
    build_wasm_end_unless(k);
}

/* Zeros where bytes that are written are all zeros. */
static bool push_source(build_wasm *k, const build_step *s, const plan_action *action) {
    const plan_part *parts = &s->expansion.parts.data[action->first_part];
    bool any = false;
    if (action->kind == PLAN_COPY) {
        push_address(k, s, &parts[1]);
        return true;
    }
    const uint8_t *bytes = s->expansion.bytes.data + action->first_byte;
    for (uint64_t i = 0; i < parts[0].bytes; i++) any |= bytes[i] != 0;
    w_i32(k->c, any ? k->m->alone.base + wasm_data(k->m, bytes, parts[0].bytes, 16) : 0);
    return any;
}

static void write_action(build_wasm *k, const plan_step *step, const build_step *s,
                         uint64_t number) {
    const plan_action *action = &s->expansion.actions.data[number];
    const plan_part *to = &s->expansion.parts.data[action->first_part];
    if (action->kind == PLAN_LAUNCH) {
        write_launch(k, step, s, number);
        return;
    }
    push_address(k, s, to);
    const bool copies = push_source(k, s, action);
    w_i32(k->c, (uint32_t)to->bytes);
    w(k->c, copies ? W_MEMORY_COPY : W_MEMORY_FILL);
}

/* ---- a map or a reduction whose count the call knows ---- */

/* The arrays, of n elements, a local, which is set. A reduction writes one. Returns how many. */
static uint32_t find_counted(build_wasm *k, const plan_step *step, uint32_t n) {
    const uint64_t size = hg_type_size_bytes((hg_type)step->atlas_type);
    const bool folds = plan_collective_of((hg_op)step->op) == &plan_collective_reduce;
    wasm_code *c = k->c;
    const uint32_t bytes = wasm_take(c, WASM_I64);
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->info->count; i++)
        if (step->info->operands[i].kind == KIR_STEP_COUNT) {
            build_wasm_push_env(
                k, k->f.p->plan->env.data[step->args[step->info->operands[i].first_arg]].offset, 8);
            w_set(c, n);
        }
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        if (o->kind != KIR_STEP_ARRAY) continue;
        if (folds && (o->access & HG_WRITE)) {
            w_i64(c, size);
        } else {
            w_get(c, n); /* n * size, or more than there can be */
            w_i64(c, size);
            w(c, W_I64_MUL);
            w_i64(c, UINT64_MAX);
            w_get(c, n);
            w_i64(c, UINT64_MAX / size);
            w(c, W_I64_LE_U);
            w(c, W_SELECT);
        }
        w_set(c, bytes);
        find_array(k, step, o, bytes, 0, false, count++);
    }
    return count;
}

static void write_reduction(build_wasm *k, const plan_step *step, const build_step *s) {
    const hg_type type = (hg_type)step->atlas_type;
    const uint32_t n = wasm_take(k->c, WASM_I64), input = find_counted(k, step, n) - 1;
    uint8_t identity[512];
    uint64_t nothing = 0;
    wasm_code *c = k->c;
    kir_identity((hg_op)build_step_function(step), type, identity);
    memcpy(&nothing, identity, (size_t)hg_type_size_bytes(type));
    w_i32(c, wasm_place(k->m, k->made[s->kernel].function));
    bw_load(c, W_I32_LOAD, array_at(k, input));
    w_get(c, n);
    w_i32(c, (uint32_t)hg_type_size_bytes(type));
    w_i64(c, nothing);
    if (step->result != HG_PLAN_NO_ENV)
        w_i32(c, k->f.env + k->f.p->plan->env.data[step->result].offset);
    else
        bw_load(c, W_I32_LOAD, array_at(k, 0));
    w_number(c, W_CALL, k->calls.reduce);
}

static void write_map(build_wasm *k, const plan_step *step, const build_step *s) {
    wasm_code *c = k->c;
    const uint32_t n = wasm_take(c, WASM_I64), count = find_counted(k, step, n);
    for (uint32_t i = 0; i < count; i++) { /* what is written comes last */
        w_i32(c, k->at.slots + i * WA_MEMORY_BYTES);
        w_i32(c, array_at(k, (i + 1) % count));
        w_i32(c, WA_MEMORY_BYTES);
        w(c, W_MEMORY_COPY);
    }
    w_i32(c, k->at.inputs); /* handles, which nobody looks at */
    w_i32(c, 0);
    w_i32(c, 8 * (HG_MAX_OPERANDS + 1));
    w(c, W_MEMORY_FILL);
    bw_store_i32(c, k->run + WA_LAUNCH_INPUTS, k->at.inputs);
    bw_store_i32(c, k->run + WA_LAUNCH_SLOTS, k->at.slots);
    w_i32(c, wasm_place(k->m, k->made[s->kernel].function));
    w_get(c, n);
    w_i64(c, AT_ONCE);
    w_number(c, W_CALL, k->calls.run_lanes);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    bw_store_i32(c, k->run + FOUND_INSTRUCTION, step->inst);
    bw_store_i64(c, k->run + FOUND_LANE, UINT64_MAX);
    w_i32(c, 0);
    build_wasm_end_unless(k);
    w(c, W_END);
}

/* ---- an instruction ---- */

void build_wasm_add_step(build_wasm *k, uint32_t number) {
    const plan_step *step = &k->f.p->plan->steps.data[number];
    const build_step *s = &k->f.p->steps[number];
    const uint64_t mark = k->c->taken.count;
    if (!plan_collective_of((hg_op)step->op)) return; /* one kernel ends before the next begins */
    if (!s->expanded && plan_collective_of((hg_op)step->op) == &plan_collective_reduce) {
        write_reduction(k, step, s);
    } else if (!s->expanded) {
        write_map(k, step, s);
    } else if (s->problem.found) { /* in each run */
        w_i32(k->c, 1);
        (void)w_open(k->c, W_IF, WASM_VOID);
        refuse(k, step, &s->problem);
        w(k->c, W_END);
    } else {
        find_arrays(k, step, s);
        look_at_overlaps(k, step, s);
        for (uint64_t i = 0; i < s->expansion.actions.count; i++) write_action(k, step, s, i);
    }
    wasm_release(k->c, mark);
}

uint64_t build_wasm_keeps(const emit_wasm_made *made, const uint32_t block[3]) {
    const uint64_t turns = ((uint64_t)block[0] + EMIT_WASM_LANES - 1) / EMIT_WASM_LANES * block[1] *
                           block[2];
    return made->frame_bytes + turns * made->turn_bytes;
}

uint64_t build_wasm_step_keeps(const build_wasm *k, const build_step *s) {
    uint64_t most = 0;
    for (uint64_t i = 0; s->kernels && i < s->expansion.actions.count; i++) {
        const plan_action *action = &s->expansion.actions.data[i];
        if (action->kind != PLAN_LAUNCH) continue;
        const uint64_t bytes = build_wasm_keeps(&k->made[s->kernels[i]], action->block);
        if (bytes > most) most = bytes;
    }
    return most;
}

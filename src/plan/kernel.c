/* One kernel module a segment: a copy of its operations between a prologue that brings in the
 * variables that cross and an epilogue that hands them on. Uniform variables travel in the
 * environment, written by lane 0 (all lanes hold the same value) and read as inputs or from memory
 * (plan_reads); the others in scratch memory, one element a lane.
 * Requires: plan_emit. Provides: plan->kernels; plan code's kernel indices. */
#include "plan/plan_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/clone.h"
#include <stdio.h>

static kir_value *address(kir_builder *b, kir_op op, kir_plan_memory which, kir_value *index,
                          kir_value *value, uint8_t type, int64_t disp) {
    kir_place at = {.space = KIR_BUFFER,
                    .class_id = (uint8_t)which,
                    .handle = kir_const(b, HG_TYPE_U64, 0),
                    .index = index,
                    .disp = disp};
    return kir_access_make(b, op, type, &at, value != NULL, &value);
}

/* The environment is as large as its entries: no access needs a check. */
static kir_value *env_address(const plan_splitter *s, kir_builder *b, kir_op op,
                              const plan_env *entry, kir_value *value, uint8_t type) {
    bool memory = s->plan->reads != PLAN_READS_INPUTS;
    kir_place at = {.space = KIR_BUFFER,
                    .class_id = memory && op == KIR_LOAD ? KIR_PLAN_UNIFORMS : KIR_PLAN_ENV,
                    .handle = kir_const(b, HG_TYPE_U64, 0),
                    .disp = entry->offset,
                    .unchecked = memory};
    return kir_access_make(b, op, type, &at, value != NULL, &value);
}

/* Scratch arrays are one after another: variable at offset o a lane starts at o · lanes, and
 * element i of a private array i · lanes elements behind it. i: u32, NULL: not an array. */
static kir_value *scratch_index(kir_builder *b, const plan_variable *info, uint8_t type,
                                kir_value *i) {
    kir_value *lane = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL),
              *lanes = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    lanes->u.imm = HG_ID_LANE_COUNT;
    kir_value *offset = kir_const(b, HG_TYPE_U64, info->scratch);
    if (i) {
        kir_value *element = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, i),
                  *size = kir_const(b, HG_TYPE_U64, kir_type_bytes(type));
        offset = kir_add(b, offset, kir_mul(b, element, size));
    }
    kir_value *start = kir_mul(b, lanes, offset);
    return kir_add(b, start, kir_mul(b, lane, kir_const(b, HG_TYPE_U64, kir_type_bytes(type))));
}

static kir_value *byte_from_bool(kir_builder *b, kir_value *v) {
    return kir_select(b, v, kir_const(b, HG_TYPE_U8, 1), kir_const(b, HG_TYPE_U8, 0));
}

static kir_value *env_input(kir_builder *b, const plan_env *entry) {
    kir_input *input = b->failed ? NULL : hg_vec_push(&b->module->inputs);
    if (!input) {
        b->failed = true;
        return &b->dummy;
    }
    *input = (kir_input){.kind = KIR_INPUT_ENV, .type = entry->type, .index = entry->offset};
    kir_value *v = kir_emit(b, KIR_INPUT, entry->type, 0, NULL);
    v->u.imm = b->module->inputs.count - 1;
    return v;
}

/* Of an environment entry in memory. Entries have 8 bytes: where kernels read them there, what is
 * narrower than 32 bits is u32. */
static uint8_t env_type(const plan_splitter *s, uint8_t type) {
    if (s->plan->reads != PLAN_READS_INPUTS && kir_type_bytes(type) < 4) return HG_TYPE_U32;
    return type == KIR_BOOL ? HG_TYPE_U8 : type;
}

static kir_value *to_memory(kir_builder *b, kir_value *v, uint8_t memory) {
    if (v->type == KIR_BOOL) v = byte_from_bool(b, v);
    return kir_type_bytes(v->type) < kir_type_bytes(memory) ? kir_convert(b, KIR_ZEXT, memory, v)
                                                            : v;
}

static kir_value *from_memory(kir_builder *b, kir_value *v, uint8_t type) {
    if (type == KIR_BOOL) return kir_not(b, kir_binary(b, KIR_CMP_EQ, v, kir_const(b, v->type, 0)));
    return kir_type_bytes(type) < kir_type_bytes(v->type) ? kir_convert(b, KIR_TRUNC, type, v) : v;
}

/* Whether kernels read a value of the environment as an input: handles too, so that accesses go
 * through slots. */
static bool is_input(const plan_splitter *s, const plan_variable *info) {
    const plan_env *entry = &s->plan->env.data[info->env];
    if (kir_type_bytes(entry->type) > 8) return false;
    bool shown = s->plan->reads == PLAN_READS_SHOWN && s->meets;
    return s->plan->reads == PLAN_READS_INPUTS || shown || info->names_memory ||
           entry->writer == PLAN_BY_HOST;
}

/* Element by element: what a lane keeps in a private array is its own. */
static void move_array(kir_builder *b, kir_op op, kir_var *copy, const plan_variable *info) {
    kir_for i = kir_for_begin(b, kir_const(b, HG_TYPE_U32, copy->length));
    kir_value *index = scratch_index(b, info, copy->type, i.i),
              *v = op == KIR_STORE ? kir_array_get(b, copy, i.i) : NULL;
    kir_value *loaded = address(b, op, KIR_PLAN_SCRATCH, index, v, copy->type, 0);
    if (op == KIR_LOAD) kir_array_set(b, copy, i.i, loaded);
    kir_for_end(b, &i);
}

static void bring_in(plan_splitter *s, kir_builder *b, kir_var *copy, const plan_variable *info) {
    if (!copy) return; /* out of memory: b->failed is set */
    if (copy->length) {
        move_array(b, KIR_LOAD, copy, info);
        return;
    }
    kir_value *v;
    if (!info->in_env) {
        uint8_t memory = copy->type == KIR_BOOL ? HG_TYPE_U8 : copy->type;
        v = address(b, KIR_LOAD, KIR_PLAN_SCRATCH, scratch_index(b, info, copy->type, NULL), NULL,
                    memory, 0);
    } else if (is_input(s, info)) {
        v = env_input(b, &s->plan->env.data[info->env]);
    } else {
        v = env_address(s, b, KIR_LOAD, &s->plan->env.data[info->env], NULL,
                        env_type(s, copy->type));
    }
    kir_set(b, copy, info->in_env && is_input(s, info) ? v : from_memory(b, v, copy->type));
}

static void set_id(kir_cloner *c, kir_var *var, const kir_value *id) {
    kir_value *own = kir_emit(&c->to, KIR_ID, id->type, 0, NULL);
    own->u.imm = id->u.imm;
    kir_set(&c->to, kir_clone_var(c, var), own);
}

static void hand_on(plan_splitter *s, kir_builder *b, kir_var *copy, const plan_variable *info) {
    if (!copy) return;
    if (copy->length) {
        move_array(b, KIR_STORE, copy, info);
        return;
    }
    kir_value *v = kir_get(b, copy);
    if (!info->in_env) {
        v = to_memory(b, v, copy->type == KIR_BOOL ? HG_TYPE_U8 : copy->type);
        address(b, KIR_STORE, KIR_PLAN_SCRATCH, scratch_index(b, info, copy->type, NULL), v,
                v->type, 0);
        return;
    }
    v = to_memory(b, v, env_type(s, copy->type));
    kir_value *lane = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_value *first = kir_if_begin(b,
                                    kir_binary(b, KIR_CMP_EQ, lane, kir_const(b, HG_TYPE_U64, 0)));
    env_address(s, b, KIR_STORE, &s->plan->env.data[info->env], v, v->type);
    kir_if_end(b, first);
}

/* SET_FIRST: nothing reads what it held before the segment. */
enum { READS = 1, SETS = 2, SET_FIRST = 4 };

/* The variables that a segment touches, in the order of the first touch: there may be far more that
 * it does not. */
typedef struct touched_list {
    uint8_t *how; /* by id: READS, SETS, SET_FIRST */
    HG_VEC(kir_var *) vars;
    bool failed;
} touched_list;

static void touch(touched_list *t, kir_var *var, uint8_t how) {
    if (!t->how[var->id]) {
        kir_var **slot = hg_vec_push(&t->vars);
        if (slot)
            *slot = var;
        else
            t->failed = true;
    }
    if (t->how[var->id]) how &= READS | SETS;
    t->how[var->id] |= how;
}

static void find_touched(plan_splitter *s, const plan_segment *segment, touched_list *t) {
    const kir_region *root = segment->first->parent;
    const kir_value *stop = segment->last->next;
    for (kir_value *v = segment->first; v && v != stop; v = kir_walk(v, root))
        if (v->op == KIR_VAR_GET)
            touch(t, v->u.var, READS);
        else if (v->op == KIR_VAR_SET)
            touch(t, v->u.var, v->parent == root && !segment->has_call ? SETS | SET_FIRST : SETS);
        else if (v->op == KIR_ARRAY_GET || v->op == KIR_ARRAY_SET)
            touch(t, v->u.var, v->op == KIR_ARRAY_GET ? READS : READS | SETS);
        else if (v->op == KIR_TRACE && v->u.trace.own)
            touch(t, v->u.trace.own, READS);
    if (s->stopped) touch(t, s->stopped, READS);
    if (!segment->has_call) return;
    for (kir_var *var = s->module->vars; var; var = var->next)
        if (!var->function) touch(t, var, READS | SETS);
}

static bool has_barrier(const kir_value *first, const kir_value *last, const kir_region *root) {
    for (const kir_value *v = first; v && v != last; v = kir_walk(v, root))
        if (v->op == KIR_BARRIER || v->op == KIR_BLOCK) return true;
    return false;
}

/* Whether lanes of the segment's kernel meet at barriers, as far as its calls are not looked at one
 * by one. */
static bool meets(const plan_splitter *s, const plan_segment *segment) {
    if (has_barrier(segment->first, segment->last->next, segment->first->parent)) return true;
    for (const kir_function *f = s->module->functions; f && segment->has_call; f = f->next)
        if (f != s->main && has_barrier(kir_walk(NULL, f->body), NULL, f->body)) return true;
    return false;
}

static bool only_uniform_work(const kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool memory = kir_is_access(v);
            bool environment = memory && v->u.mem.space == KIR_BUFFER &&
                               (v->u.mem.class_id == KIR_PLAN_ENV ||
                                v->u.mem.class_id == KIR_PLAN_UNIFORMS);
            if ((memory && !environment) || v->op == KIR_FAULT_IF || v->op == KIR_BARRIER ||
                v->op == KIR_EXIT || v->op == KIR_TRACE)
                return false;
            if (v->op == KIR_ID && v->u.imm == HG_ID_LANE_COUNT)
                return false; /* a single lane would count itself */
        }
    return true;
}

static void stop_stopped_lanes(plan_splitter *s, kir_cloner *c) {
    if (!s->stopped) return;
    kir_builder *b = &c->to;
    kir_value *stopped = kir_if_begin(b, kir_get(b, kir_clone_var(c, s->stopped)));
    kir_exit(b);
    kir_if_end(b, stopped);
}

/* Spilled variables of a segment that may exit are handed on by the lanes that reach its end; the
 * others need none. The mark of a stopped lane is stored where it is set. */
static void store_stopped(plan_splitter *s, kir_module *m, kir_var *copy,
                          const plan_variable *info) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_VAR_SET || v->u.var != copy || !v->next || v->next->op != KIR_EXIT)
                continue;
            kir_builder b;
            kir_builder_init(&b, m, f);
            kir_value *exit = v->next;
            kir_remove(exit);
            b.region = v->parent;
            hand_on(s, &b, copy, info);
            kir_exit(&b);
            s->failed |= b.failed;
            v = v->parent->last;
        }
}

/* What a kernel does with the environment's entries that it touches, for its lists. */
typedef enum env_use { READS_INPUT, READS_MEMORY, WRITES } env_use;

static plan_list list_entries(plan_splitter *s, const touched_list *touched, env_use use) {
    plan_list list = {(uint32_t)s->plan->refs.count, 0};
    for (uint64_t i = 0; i < touched->vars.count; i++) {
        const kir_var *var = touched->vars.data[i];
        const plan_variable *info = &s->variables.data[var->id];
        uint8_t how = touched->how[var->id];
        if (!info->in_env ||
            (use == WRITES ? !(how & SETS) || info->host
                           : (how & SET_FIRST) || is_input(s, info) != (use == READS_INPUT)))
            continue;
        if (use == WRITES) s->plan->env.data[info->env].writer = PLAN_BY_KERNEL;
        uint32_t *entry = hg_vec_push(&s->plan->refs);
        if (entry)
            *entry = info->env;
        else
            s->failed = true;
        list.count += entry != NULL;
    }
    return list;
}

static void make_kernel(plan_splitter *s, uint32_t index) {
    const plan_segment *segment = &s->segments.data[index];
    plan_kernel *kernel = hg_vec_push(&s->plan->kernels);
    touched_list touched = {.how = hg_calloc(s->module->var_count + 1, 1)};
    char name[300];
    snprintf(name, sizeof name, "%s_%u", s->module->name, (unsigned)(s->plan->kernels.count - 1));
    kir_module *m = kir_module_create(name);
    kir_cloner c;
    if (!kernel || !touched.how || !m || !kir_function_create(m, s->main->name, KIR_VOID) ||
        kir_cloner_init(&c, s->module, m, m->functions) != HG_OK) {
        hg_free(touched.how);
        kir_module_destroy(m);
        s->failed = true;
        return;
    }
    kernel->module = m;
    s->meets = meets(s, segment);
    find_touched(s, segment, &touched);
    for (uint64_t i = 0; i < touched.vars.count; i++) {
        const plan_variable *info = &s->variables.data[touched.vars.data[i]->id];
        bool overwritten = s->plan->reads != PLAN_READS_INPUTS &&
                           (touched.how[touched.vars.data[i]->id] & SET_FIRST);
        if (info->id) set_id(&c, touched.vars.data[i], info->id);
        if ((info->crosses || info->forced) && !overwritten)
            bring_in(s, &c.to, kir_clone_var(&c, touched.vars.data[i]), info);
    }
    stop_stopped_lanes(s, &c);
    kir_clone_run(&c, segment->first, segment->last);
    const kir_value *last = m->functions->body->last;
    bool ends = last && (last->op == KIR_EXIT || last->op == KIR_RETURN);
    for (uint64_t i = 0; i < touched.vars.count && !ends; i++) {
        const kir_var *var = touched.vars.data[i];
        const plan_variable *info = &s->variables.data[var->id];
        if (!(touched.how[var->id] & SETS) || !(info->crosses || info->forced) || info->host ||
            var == s->stopped)
            continue;
        hand_on(s, &c.to, kir_clone_var(&c, var), info);
    }
    kernel->inputs = list_entries(s, &touched, READS_INPUT);
    kernel->loads = list_entries(s, &touched, READS_MEMORY);
    if (!ends) kernel->writes = list_entries(s, &touched, WRITES);
    kir_var *stopped = s->stopped ? kir_clone_var(&c, s->stopped) : NULL;
    if (kir_cloner_finish(&c) != HG_OK || touched.failed) s->failed = true;
    if (stopped && !s->failed) store_stopped(s, m, stopped, &s->variables.data[s->stopped->id]);
    hg_vec_free(&touched.vars);
    hg_free(touched.how);
    if (!s->failed) kernel->single_lane = only_uniform_work(m);
}

void plan_make_kernels(plan_splitter *s) {
    for (uint64_t i = 0; i < s->plan->code.count && !s->failed; i++) {
        plan_inst *inst = &s->plan->code.data[i];
        if (inst->op != PLAN_KERNEL) continue;
        make_kernel(s, inst->index);
        inst->index = (uint32_t)(s->plan->kernels.count - 1);
    }
}

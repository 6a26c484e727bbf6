/* See device_eval.h. */
#include "support/device_eval.h"
#include <stdlib.h>
#include <string.h>

static uint64_t dev_random(device_run *r) {
    r->chance ^= r->chance << 13;
    r->chance ^= r->chance >> 7;
    return r->chance ^= r->chance << 17;
}

static void dev_yield(device_run *r) { swapcontext(&r->now->context, &r->scheduler); }

static uint64_t dev_address(int arena, uint64_t offset) {
    return arena < 0 ? 0 : ((uint64_t)arena + 1) << 32 | offset;
}

/* ---- what the evaluator asks ---- */

static eval_value device_leaf(eval *e, const kir_value *v) {
    device_run *r = e->lane->run;
    const uint32_t *local = e->lane->local, *g = r->group, *n = r->groups, *at = r->at;
    if (v->op == KIR_INPUT) {
        const kir_input *in = &r->m->inputs.data[v->u.imm];
        CHECK(in->kind == KIR_INPUT_FIELD && in->type == v->type &&
              in->index % kir_type_bytes(v->type) == 0 &&
              in->index + kir_type_bytes(v->type) <= r->layout->record_bytes);
        eval_value x = ev_from(0);
        memcpy(&x, (const uint8_t *)r->record + in->index, kir_type_bytes(v->type));
        return x;
    }
    CHECK(v->type == HG_TYPE_U32);
    uint32_t linear = (local[2] * g[1] + local[1]) * g[0] + local[0],
             group = (at[2] * n[1] + at[1]) * n[0] + at[0];
    if (v->u.imm == KIR_ID_THREAD) return ev_from((uint64_t)group * g[0] * g[1] * g[2] + linear);
    CHECK(v->u.imm < KIR_DEVICE_ID_COUNT);
    uint32_t axis = kir_device_id_axis((kir_device_id)v->u.imm);
    return ev_from(kir_device_id_part((kir_device_id)v->u.imm) == KIR_DEVICE_LOCAL ? local[axis]
                                                                                   : at[axis]);
}

static void device_barrier(eval *e, const kir_value *v) {
    e->lane->waits = v;
    dev_yield(e->lane->run);
}

static bool dev_width_exists(const device_run *r, const kir_value *v, uint8_t type, bool group) {
    const kir_device_target *t = &r->options->target;
    bool atomic = v->op == KIR_ATOMIC;
    switch (kir_type_bytes(type)) {
    case 1: return !atomic && (group ? t->shared8 : t->memory8);
    case 2: return !atomic && (group ? t->shared16 : t->memory16);
    case 4: return !(atomic && type != HG_TYPE_U32);
    default:
        return t->i64 && (atomic ? (group ? t->shared_atomic64 : t->atomic64)
                                 : (group ? t->shared64 : t->memory64));
    }
}

/* A byte that is written, and that a distinct slot reaches, no other one reaches. */
static void dev_touch(device_run *r, const kir_value *v, uint64_t arena, uint64_t offset,
                      uint64_t size) {
    enum { SEVERAL = 63, WRITTEN = 64, OF_DISTINCT = 128 };
    uint8_t *bytes = r->touched[arena], slot = (uint8_t)(v->u.mem.slot + 1);
    if (!bytes || v->u.mem.slot < 0) return;
    CHECK(slot < SEVERAL);
    for (uint64_t i = offset; i < offset + size; i++) {
        uint8_t before = bytes[i] & SEVERAL;
        bytes[i] = (uint8_t)((bytes[i] & ~SEVERAL) | (before && before != slot ? SEVERAL : slot));
        if (v->op != KIR_LOAD) bytes[i] |= WRITTEN;
        if (r->m->slots.data[slot - 1].distinct) bytes[i] |= OF_DISTINCT;
        CHECK_MESSAGE(bytes[i] != (SEVERAL | WRITTEN | OF_DISTINCT),
                      "a byte of a distinct slot is another's too, instruction %u",
                      (unsigned)v->inst);
    }
}

/* Where an access of the device form goes. */
static uint8_t *dev_place(device_run *r, const kir_value *v, eval_value *const *x, uint8_t *operand,
                          uint64_t size) {
    uint8_t i = 0;
    uint64_t base = 0, limit = r->arena_bytes, offset;
    uint8_t *memory = NULL;
    uint8_t offset_type = r->options->target.i64 ? HG_TYPE_U64 : HG_TYPE_U32;
    bool group = v->u.mem.space == KIR_SHARED && v->u.mem.slot < 0;
    if (group) {
        memory = r->group_memory;
        limit = r->group_bytes;
        offset_type = HG_TYPE_U32;
    } else if (v->u.mem.slot == KIR_ADDRESS) {
        CHECK(r->options->target.addressed && v->u.mem.split == !r->options->target.i64);
        base = ev_u64(x[i]);
        if (v->u.mem.split) base |= ev_u64(x[++i]) << 32;
        i++;
    } else {
        CHECK(v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot < r->m->slots.count);
        const kir_slot *s = &r->m->slots.data[v->u.mem.slot];
        CHECK(v->op == KIR_LOAD ? s->read : s->written);
        if (s->base >= 0) {
            const kir_input *in = &r->m->inputs.data[s->base];
            memcpy(&base, (const uint8_t *)r->record + in->index, kir_type_bytes(in->type));
            if (r->options->target.addressed && !r->options->target.i64) {
                uint32_t high;
                memcpy(&high, (const uint8_t *)r->record + in[1].index, 4);
                base |= (uint64_t)high << 32;
            }
        }
        if (!r->options->target.addressed)
            base |= dev_address(r->bound[kir_device_binding(r->layout, (uint64_t)v->u.mem.slot)],
                                0);
    }
    CHECK_MESSAGE(v->args[i]->type == offset_type, "offset has type %s",
                  kir_type_name(v->args[i]->type));
    offset = ev_u64(x[i++]);
    *operand = i;
    if (!group) {
        offset += base & UINT32_MAX;
        uint64_t arena = base >> 32;
        if (arena == 0 || arena > DEVICE_ARENAS) {
            CHECK_MESSAGE(false, "access to no memory, instruction %u", (unsigned)v->inst);
            return NULL;
        }
        memory = r->arena[arena - 1];
    }
    bool good = offset + size <= limit && offset % size == 0;
    if (good && !group) dev_touch(r, v, (base >> 32) - 1, offset, size);
    CHECK_MESSAGE(good, "offset %llu of %llu bytes, instruction %u", (unsigned long long)offset,
                  (unsigned long long)size, (unsigned)v->inst);
    return good ? memory + offset : NULL;
}

static uint64_t dev_change(uint8_t op, uint64_t old, uint64_t a, uint64_t b, bool wide) {
    int64_t so = wide ? (int64_t)old : (int32_t)old, sa = wide ? (int64_t)a : (int32_t)a;
    switch ((kir_atomic)op) {
    case KIR_ATOMIC_ADD: return old + a;
    case KIR_ATOMIC_UMIN: return a < old ? a : old;
    case KIR_ATOMIC_SMIN: return sa < so ? a : old;
    case KIR_ATOMIC_UMAX: return a > old ? a : old;
    case KIR_ATOMIC_SMAX: return sa > so ? a : old;
    case KIR_ATOMIC_AND: return old & a;
    case KIR_ATOMIC_OR: return old | a;
    case KIR_ATOMIC_XOR: return old ^ a;
    case KIR_ATOMIC_EXCH: return a;
    default: return old == a ? b : old;
    }
}

/* A device may read a marked load once for all lanes of the group, as WGSL's workgroupUniformLoad
 * does: the first lane's value is that of all. */
static void dev_read_for_all(device_run *r, const kir_value *v, eval_value *value) {
    if (r->uniform == v && r->uniform_at == r->barriers) *value = ev_from(r->uniform_value);
    r->uniform = v;
    r->uniform_value = ev_u64(value);
    r->uniform_at = r->barriers;
}

static eval_value device_access(eval *e, const kir_value *v, eval_value *const *x) {
    device_run *r = e->lane->run;
    eval_value result = {{0}};
    uint8_t i = 0;
    if ((v->u.mem.volatile_access || v->op == KIR_ATOMIC) && dev_random(r) % 2) dev_yield(r);
    CHECK(v->op != KIR_CHECK && v->u.mem.unchecked && v->u.mem.has_index);
    uint8_t type = v->op == KIR_STORE ? v->args[v->nargs - 1]->type : v->type;
    uint64_t size = kir_type_bytes(type), old = 0, now;
    bool group = v->u.mem.space == KIR_SHARED && v->u.mem.slot < 0;
    CHECK_MESSAGE(v->u.mem.bytes == size && dev_width_exists(r, v, type, group), "%s of %s",
                  kir_op_name((kir_op)v->op), kir_type_name(type));
    uint8_t *p = dev_place(r, v, x, &i, size);
    if (!p) {
        e->exited = true;
        return result;
    }
    if (v->op == KIR_LOAD) memcpy(&result, p, (size_t)size);
    if (v->op == KIR_STORE) memcpy(p, x[i], (size_t)size);
    if (v->u.mem.uniform && r->options->target.shown_uniform) dev_read_for_all(r, v, &result);
    if (v->op != KIR_ATOMIC) return result;
    CHECK(v->u.mem.slot == KIR_ADDRESS || kir_device_is_atomic(r->layout, v));
    memcpy(&old, p, (size_t)size);
    now = dev_change(v->u.mem.atomic, old, ev_u64(x[i]),
                     v->u.mem.atomic == KIR_ATOMIC_CAS ? ev_u64(x[i + 1]) : 0, size == 8);
    memcpy(p, &now, (size_t)size);
    return ev_from(old);
}

static const eval_device DEVICE = {device_access, device_leaf, device_barrier};

/* ---- groups ---- */

static void dev_lane_main(uint32_t low, uint32_t high) {
    device_lane *lane = (device_lane *)(uintptr_t)((uint64_t)high << 32 | low);
    eval_function(&lane->e, lane->run->m->functions, NULL, NULL);
    lane->done = true;
    swapcontext(&lane->context, &lane->run->scheduler);
}

static void dev_start_lane(device_run *r, uint32_t i) {
    device_lane *lane = &r->lanes[i];
    char *stack = lane->stack;
    memset(lane, 0, sizeof *lane);
    lane->stack = stack ? stack : malloc(DEVICE_STACK);
    lane->run = r;
    lane->local[0] = i % r->group[0];
    lane->local[1] = i / r->group[0] % r->group[1];
    lane->local[2] = i / r->group[0] / r->group[1];
    eval_begin(&lane->e, r->m);
    lane->e.device = &DEVICE;
    lane->e.lane = lane;
    getcontext(&lane->context);
    lane->context.uc_stack.ss_sp = lane->stack;
    lane->context.uc_stack.ss_size = DEVICE_STACK;
    lane->context.uc_link = &r->scheduler;
    uint64_t where = (uint64_t)(uintptr_t)lane;
    makecontext(&lane->context, (void (*)(void))dev_lane_main, 2, (uint32_t)where,
                (uint32_t)(where >> 32));
}

/* All that are left stand at the same barrier, or one went another way. */
static bool dev_release(device_run *r, uint32_t count) {
    const kir_value *barrier = r->lanes[0].waits;
    for (uint32_t i = 0; i < count; i++) {
        bool same = !r->lanes[i].done && r->lanes[i].waits == barrier;
        CHECK_MESSAGE(same, "%s: lane %u is not at the barrier of the others", r->m->name,
                      (unsigned)i);
        if (!same) return false;
    }
    for (uint32_t i = 0; i < count; i++) r->lanes[i].waits = NULL;
    r->barriers++;
    return true;
}

static void dev_run_group(device_run *r) {
    uint32_t count = r->group[0] * r->group[1] * r->group[2], done = 0;
    memset(r->group_memory, 0xC3, r->group_bytes); /* group memory begins as anything */
    for (uint32_t i = 0; i < count; i++) dev_start_lane(r, i);
    while (done < count && !r->stuck) {
        uint32_t ready[DEVICE_MOST_LANES], n = 0;
        for (uint32_t i = 0; i < count; i++)
            if (!r->lanes[i].done && !r->lanes[i].waits) ready[n++] = i;
        if (n == 0) {
            r->stuck = !dev_release(r, count);
            continue;
        }
        r->now = &r->lanes[ready[dev_random(r) % n]];
        r->stuck = ++r->steps > r->max_steps;
        CHECK_MESSAGE(!r->stuck, "%s does not end", r->m->name);
        swapcontext(&r->scheduler, &r->now->context);
        done += r->now->done;
    }
    for (uint32_t i = 0; i < count; i++) eval_end(&r->lanes[i].e);
}

static void dev_dispatch(device_run *r) {
    for (r->at[2] = 0; r->at[2] < r->groups[2]; r->at[2]++)
        for (r->at[1] = 0; r->at[1] < r->groups[1]; r->at[1]++)
            for (r->at[0] = 0; r->at[0] < r->groups[0] && !r->stuck; r->at[0]++) dev_run_group(r);
}

/* ---- the launch record ---- */

static uint64_t dev_limit(uint64_t size, uint64_t reach, bool i64) {
    uint64_t limit = size >= reach ? size - reach + 1 : 0;
    return !i64 && limit > UINT32_MAX ? UINT32_MAX : limit;
}

static uint64_t dev_field(const device_run *r, const device_launch *l, const kir_field *f,
                          uint64_t first, uint64_t count, const uint32_t box[3]) {
    bool i64 = r->options->target.i64;
    const device_memory *m = f->kind == KIR_FIELD_BASE || f->kind == KIR_FIELD_LIMIT ||
                                     f->kind == KIR_FIELD_SIZE
                                 ? &r->slots[f->index]
                                 : NULL;
    uint64_t shared = (l->shared_bytes + 15) & ~UINT64_C(15), rest = first;
    switch ((kir_field_kind)f->kind) {
    case KIR_FIELD_INPUT: return l->inputs[f->index];
    case KIR_FIELD_BASE:
        return r->options->target.addressed ? dev_address(m->arena, m->offset) : m->offset;
    case KIR_FIELD_LIMIT: return m->arena < 0 ? 0 : dev_limit(m->size, f->reach, i64);
    case KIR_FIELD_SHARED_LIMIT: return dev_limit(l->shared_bytes, f->reach, i64);
    case KIR_FIELD_SHARED_BYTES: return shared;
    case KIR_FIELD_SIZE: return m->size;
    case KIR_FIELD_COUNT: return count;
    case KIR_FIELD_FIRST: return first;
    case KIR_FIELD_LANES: return l->lanes;
    case KIR_FIELD_BLOCK_DIM: return l->block[f->index];
    case KIR_FIELD_GRID_DIM: return l->grid[f->index];
    case KIR_FIELD_DIGIT:
        for (uint32_t i = 0; i < f->index; i++) rest /= i < 3 ? l->block[i] : l->grid[i - 3];
        return f->index == 5 ? rest
                             : rest % (f->index < 3 ? l->block[f->index] : l->grid[f->index - 3]);
    case KIR_FIELD_BOX: return box[f->index];
    case KIR_FIELD_TABLE: return f->index ? l->pool_count : l->buffer_count;
    case KIR_FIELD_FUEL: return l->fuel;
    case KIR_FIELD_ZERO: return 0;
    default: return DEVICE_ARENAS;
    }
}

static void dev_fill_record(device_run *r, const device_launch *l, uint64_t first, uint64_t count,
                            const uint32_t box[3]) {
    memset(r->record, 0xEE, sizeof r->record);
    CHECK(r->layout->record_bytes <= sizeof r->record && r->layout->record_bytes % 8 == 0 &&
          r->layout->fields.count == r->m->inputs.count);
    for (uint64_t i = 0; i < r->layout->fields.count; i++) {
        const kir_field *f = &r->layout->fields.data[i];
        uint64_t value = dev_field(r, l, f, first, count, box);
        if (f->high) value >>= 32;
        CHECK(r->m->inputs.data[i].type == HG_TYPE_U32 ||
              (r->m->inputs.data[i].type == HG_TYPE_U64 && r->options->target.i64));
        memcpy((uint8_t *)r->record + r->m->inputs.data[i].index, &value,
               (size_t)kir_type_bytes(r->m->inputs.data[i].type));
    }
}

static void dev_write_table(device_run *r, const device_launch *l, uint8_t *to) {
    for (uint32_t i = 0; i < l->buffer_count + l->pool_count; i++) {
        const device_memory *m = i < l->buffer_count ? &l->buffers[i]
                                                     : &l->pools[i - l->buffer_count];
        uint32_t *words = (uint32_t *)(void *)(to + i * 32);
        uint64_t base = r->options->target.addressed ? dev_address(m->arena, m->offset) : m->offset;
        memset(words, 0, 32);
        if (m->arena < 0) continue;
        words[KIR_ENTRY_HANDLE] = (uint32_t)m->handle;
        words[KIR_ENTRY_HANDLE_HIGH] = (uint32_t)(m->handle >> 32);
        words[KIR_ENTRY_ARENA] = (uint32_t)m->arena;
        words[KIR_ENTRY_VALID] = 1;
        words[KIR_ENTRY_BASE] = (uint32_t)base;
        words[KIR_ENTRY_BASE_HIGH] = (uint32_t)(base >> 32);
        words[KIR_ENTRY_SIZE] = (uint32_t)m->size;
        words[KIR_ENTRY_SIZE_HIGH] = (uint32_t)(m->size >> 32);
    }
}

/* A binding is the arena of all its slots; where arenas are bound, no other binding is. */
static void dev_bind(device_run *r) {
    uint32_t count = kir_device_binding_count(r->layout, r->m);
    bool seen[300] = {false}, taken[DEVICE_ARENAS + 1] = {false};
    CHECK(r->options->target.bind_arenas == (r->layout->bindings.count != 0) || !r->m->slots.count);
    for (uint64_t i = 0; i < r->m->slots.count; i++) {
        uint32_t binding = kir_device_binding(r->layout, i);
        int arena = r->slots[i].arena;
        CHECK(binding < count);
        if (seen[binding]) CHECK(r->bound[binding] == arena);
        if (!seen[binding] && r->options->target.bind_arenas) CHECK(!taken[arena + 1]);
        taken[arena + 1] = seen[binding] = true;
        r->bound[binding] = arena;
    }
}

/* A record of zeros: no lane does anything, and no memory is bound. */
static void dev_idle(device_run *r) {
    int bound[HG_COUNT_OF(r->bound)];
    memcpy(bound, r->bound, sizeof bound);
    for (size_t i = 0; i < HG_COUNT_OF(r->bound); i++) r->bound[i] = -1;
    memset(r->record, 0, sizeof r->record);
    memcpy(r->groups, (uint32_t[]){2, 1, 1}, sizeof r->groups);
    uint32_t barriers = r->barriers;
    dev_dispatch(r); /* dev_place takes no access without memory */
    CHECK_U64(r->barriers, barriers);
    memcpy(r->bound, bound, sizeof bound);
}

void dev_launch(device_run *r, const device_launch *l, uint32_t fault[KIR_FAULT_WORDS]) {
    enum { FAULT_AT = 64, LOCKS_AT = 4096, TABLE_AT = 16384 };
    uint32_t box[3] = {0, 0, 0}, lanes = l->block[0] * l->block[1] * l->block[2],
             fold = r->options->fold > 1 ? r->options->fold : 1;
    memset(r->arena[0] + FAULT_AT, 0, KIR_FAULT_WORDS * 4);
    memset(r->arena[0] + FAULT_AT + KIR_FAULT_BEST * 4, 0xFF, 4);
    r->arena[0][FAULT_AT + KIR_FAULT_CANCEL * 4] = l->cancelled;
    memset(r->arena[0] + LOCKS_AT, 0, KIR_LOCK_WORDS * 4);
    dev_write_table(r, l, r->arena[0] + TABLE_AT);
    for (uint64_t i = 0; i < r->m->slots.count; i++) {
        const kir_slot *s = &r->m->slots.data[i];
        switch ((kir_slot_kind)s->kind) {
        case KIR_SLOT_MEMORY: r->slots[i] = l->slots[i]; break;
        case KIR_SLOT_CLASS: r->slots[i] = l->class_memory; break;
        case KIR_SLOT_FAULT:
            r->slots[i] = (device_memory){0, FAULT_AT, KIR_FAULT_WORDS * 4, 0};
            break;
        case KIR_SLOT_TABLE:
            r->slots[i] = (device_memory){0, TABLE_AT, 32u * (l->buffer_count + l->pool_count), 0};
            break;
        case KIR_SLOT_LOCKS:
            r->slots[i] = (device_memory){0, LOCKS_AT, KIR_LOCK_WORDS * 4, 0};
            break;
        case KIR_SLOT_SHARED: r->slots[i] = l->shared_memory; break;
        case KIR_SLOT_ARENA:
            r->slots[i] = (device_memory){(int)s->handle, 0, r->arena_bytes, 0};
            break;
        }
    }
    dev_bind(r);
    for (int i = 0; i < DEVICE_ARENAS; i++)
        r->touched[i] = r->options->distinct ? calloc(1, r->arena_bytes) : NULL;
    r->group_bytes = r->layout->uses_group_memory
                         ? r->layout->shared_reserved + ((l->shared_bytes + 15) & ~UINT64_C(15))
                         : 0;
    r->group_memory = calloc(1, r->group_bytes + 1);
    if (r->options->form == KIR_FORM_FLAT) {
        for (uint64_t first = 0; first < l->lanes && !r->stuck; first += l->window) {
            uint64_t count = l->lanes - first < l->window ? l->lanes - first : l->window;
            memcpy(r->group, (uint32_t[]){l->flat_group, 1, 1}, sizeof r->group);
            if (r->options->may_idle && first == 0) dev_idle(r);
            memcpy(r->groups,
                   (uint32_t[]){((uint32_t)count + l->flat_group - 1) / l->flat_group + 1, 1, 1},
                   sizeof r->groups);
            dev_fill_record(r, l, first, count, box);
            dev_dispatch(r);
            memcpy(fault, r->arena[0] + FAULT_AT, KIR_FAULT_WORDS * 4);
            if (fault[KIR_FAULT_HAPPENED]) break;
        }
    } else {
        memcpy(r->group, l->block, sizeof r->group);
        if (fold > 1)
            memcpy(r->group, (uint32_t[]){(lanes + fold - 1) / fold, 1, 1}, sizeof r->group);
        if (r->options->may_idle) dev_idle(r);
        uint32_t layers = r->options->at_origin ? l->grid[2] : 1; /* of a dispatch */
        for (box[2] = 0; box[2] < l->grid[2] && !r->stuck; box[2] += layers) {
            memcpy(r->groups, (uint32_t[]){l->grid[0], l->grid[1], layers}, sizeof r->groups);
            dev_fill_record(r, l, 0, 0, box);
            dev_dispatch(r);
        }
    }
    memcpy(fault, r->arena[0] + FAULT_AT, KIR_FAULT_WORDS * 4);
    for (uint32_t i = 0; i < KIR_LOCK_WORDS * 4; i++) CHECK(r->arena[0][LOCKS_AT + i] == 0);
    CHECK_U64(fault[KIR_FAULT_LOCK], 0);
    for (int i = 0; i < DEVICE_ARENAS; i++) free(r->touched[i]);
    free(r->group_memory);
    r->group_memory = NULL;
}

void dev_begin(device_run *r, uint64_t arena_bytes, uint64_t chance) {
    memset(r, 0, sizeof *r);
    r->arena_bytes = arena_bytes;
    for (int i = 0; i < DEVICE_ARENAS; i++) r->arena[i] = calloc(1, (size_t)arena_bytes);
    r->chance = chance * 2 + 1;
    r->max_steps = 4000000;
}

void dev_end(device_run *r) {
    for (int i = 0; i < DEVICE_ARENAS; i++) free(r->arena[i]);
    for (int i = 0; i < DEVICE_MOST_LANES; i++) free(r->lanes[i].stack);
}

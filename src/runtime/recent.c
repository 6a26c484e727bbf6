/* Calls of hg_backend_execute_program_with_params that came before: their bindings, found by the
 * program's serial, the launch and the values of the parameters. Only bindings whose launch is one
 * command and that own no memory are kept, and only from the second call on. Whoever frees a buffer
 * or pool makes them let go of it, so nothing lives longer than without them. A call belongs to one
 * thread at a time, which takes it by an exchange of a word; who finds it taken goes the general
 * way.
 * Must not know: drivers, plans. */
#include "runtime/client.h"
#include "runtime/execute_internal.h"
#include <string.h>

enum { CALLS = 64, WAYS = 4 };

/* Of a call: who has it. DROPPED: somebody has it, and lets go of its binding when that is over. */
typedef enum call_state { CALL_FREE, CALL_TAKEN, CALL_DROPPED } call_state;

/* A value as it is compared: the first eight bytes, and those behind them. */
typedef struct value {
    uint64_t word;
    const char *name; /* NULL: a raw register */
    const uint8_t *more;
    uint16_t more_bytes;
    uint8_t reg, kind, type;
} value;

typedef struct call {
    int state;      /* atomic */
    uint64_t key;   /* atomic; 0: empty */
    uint64_t holds; /* atomic: a bit for each index, modulo 64, of the handles that the binding
                       holds */
    /* of whoever has it */
    hg_binding *binding; /* NULL: empty */
    value *values;
    uint64_t value_count, serial;
    hg_launch launch;
    bool has_launch;
} call;

struct hg_recent {
    uint32_t usable;
    uint32_t turn;          /* atomic: which of a key's calls goes next */
    uint64_t missed[CALLS]; /* atomic: keys that came once */
    call calls[CALLS];
};

/* ---- keys ---- */

static uint64_t mix(uint64_t hash, uint64_t x) {
    hash = (hash ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t first_word(const hg_param_value *v) {
    uint64_t word;
    memcpy(&word, v->bytes, sizeof word);
    return word;
}

/* Never 0. Equal for equal calls; matches() decides. */
static uint64_t key_of(const hg_program *program, const hg_launch *launch,
                       const hg_params *params) {
    uint64_t key = program->serial;
    for (uint64_t i = 0, count = params ? params->values.count : 0; i < count; i++)
        key = mix(key, first_word(&params->values.data[i]) + i);
    if (launch) key = mix(mix(key, launch->lanes), launch->grid[0]);
    return mix(key, 0) | 1;
}

static bool same_value(const value *x, const hg_param_value *y) {
    if (x->word != first_word(y) || x->kind != y->kind || x->type != y->type) return false;
    if (x->name ? !y->name || strcmp(x->name, y->name) != 0 : y->name || x->reg != y->reg)
        return false;
    return !x->more_bytes || memcmp(x->more, y->bytes + sizeof x->word, x->more_bytes) == 0;
}

static bool matches(const call *c, const hg_program *program, const hg_launch *launch,
                    const hg_params *params) {
    uint64_t count = params ? params->values.count : 0;
    if (!c->binding || c->serial != program->serial || c->has_launch != (launch != NULL) ||
        c->value_count != count)
        return false;
    if (launch && memcmp(&c->launch, launch, sizeof *launch) != 0) return false;
    for (uint64_t i = 0; i < count; i++)
        if (!same_value(&c->values[i], &params->values.data[i])) return false;
    return true;
}

/* ---- handles ---- */

static bool are_live(const hg_handles *table, const hg_held *held, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (!hg_handles_is_live(table, held[i].handle)) return false;
    return true;
}

static bool is_live(const hg_backend *b, const hg_binding *binding) {
    return are_live(&b->buffers, binding->memory.held_buffers.data,
                    binding->memory.held_buffers.count) &&
           are_live(&b->pools, binding->memory.held_pools.data, binding->memory.held_pools.count);
}

static uint64_t bit_of(uint64_t handle) { return UINT64_C(1) << (hg_handle_index(handle) & 63); }

static uint64_t bits_of(const hg_binding *binding) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < binding->memory.held_buffers.count; i++)
        bits |= bit_of(binding->memory.held_buffers.data[i].handle);
    for (uint64_t i = 0; i < binding->memory.held_pools.count; i++)
        bits |= bit_of(binding->memory.held_pools.data[i].handle);
    return bits;
}

/* ---- whose a call is ---- */

static bool take(call *c) {
    int nobody = CALL_FREE;
    return hg_atomic_compare_exchange(&c->state, &nobody, CALL_TAKEN, HG_SEQ_CST);
}

static void empty(call *c) {
    hg_binding *binding = c->binding;
    hg_atomic_store(&c->key, 0, HG_RELAXED);
    hg_atomic_store(&c->holds, 0, HG_SEQ_CST);
    hg_free(c->values);
    c->values = NULL;
    c->binding = NULL;
    hg_binding_destroy(binding);
}

static void let_go(call *c) {
    int self = CALL_TAKEN;
    if (HG_LIKELY(hg_atomic_compare_exchange(&c->state, &self, CALL_FREE, HG_SEQ_CST))) return;
    empty(c); /* a handle died meanwhile */
    hg_atomic_store(&c->state, CALL_FREE, HG_SEQ_CST);
}

/* The handle is dead already: a call that is kept from now on sees that, one that is kept is seen
 * here. */
static void forget(hg_backend *b, bool pool, uint64_t handle) {
    hg_recent *r = hg_atomic_load(&b->recent.calls, HG_SEQ_CST);
    for (uint32_t i = 0; r && i < r->usable; i++) {
        call *c = &r->calls[i];
        while (hg_atomic_load(&c->holds, HG_SEQ_CST) & bit_of(handle)) {
            int taken = CALL_TAKEN;
            if (take(c)) {
                if (c->binding && hg_binding_held(c->binding, pool, handle, false).arena) empty(c);
                let_go(c);
                break;
            }
            if (hg_atomic_compare_exchange(&c->state, &taken, CALL_DROPPED, HG_SEQ_CST) ||
                taken == CALL_DROPPED)
                break;
        }
    }
}

/* ---- calls ---- */

bool hg_recent_launch(hg_backend *b, const hg_program *program, const hg_launch *launch,
                      const hg_params *params, hg_status *status) {
    hg_recent *r = hg_atomic_load(&b->recent.calls, HG_ACQUIRE);
    hg_launch own;
    if (!r || b->profile || b->fork.lost) return false;
    if (launch && hg_launch_take(launch, &own) != HG_OK) return false;
    if (launch) launch = &own;
    uint64_t key = key_of(program, launch, params);
    for (uint32_t way = 0; way < WAYS; way++) {
        call *c = &r->calls[(key / CALLS + way) % r->usable];
        if (hg_atomic_load(&c->key, HG_RELAXED) != key || !take(c)) continue;
        bool found = matches(c, program, launch, params) && is_live(b, c->binding);
        if (found) *status = hg_launch_bound(c->binding, b->context);
        let_go(c);
        if (found) return true;
    }
    return false;
}

/* ---- what is kept ---- */

static hg_recent *open_recent(hg_backend *b) {
    hg_recent *r = hg_atomic_load(&b->recent.calls, HG_ACQUIRE), *other = NULL;
    if (r) return r;
    r = hg_calloc(1, sizeof *r);
    if (!r) return NULL;
    r->usable = b->config.cache_programs < CALLS ? b->config.cache_programs : CALLS;
    if (hg_atomic_compare_exchange(&b->recent.calls, &other, r, HG_SEQ_CST)) {
        hg_atomic_store(&b->recent.forget, forget, HG_SEQ_CST);
        return r;
    }
    hg_free(r);
    return other;
}

/* Its launch is one command, and all memory is the caller's. */
static bool may_stay(const hg_backend *b, hg_binding *binding) {
    hg_command_list list;
    if (b->profile || b->fork.lost || b->config.cache_programs == 0 ||
        b->caps->scheduling.asynchronous)
        return false;
    if (binding->env.memory.range.arena || binding->memory.scratch.range.arena ||
        binding->steps.scratch.range.arena || binding->steps.tables.range.arena)
        return false;
    return binding->way.submitted == HG_WAY_COMMAND ||
           (binding->executable->plan->steps.count == 1 && hg_ready_find(binding, &list));
}

static uint16_t bytes_behind(const hg_param_value *v) {
    uint64_t size = v->kind == HG_PARAM_SCALAR ? hg_type_size_bytes((hg_type)v->type)
                                               : sizeof(uint64_t);
    return (uint16_t)(size > sizeof(uint64_t) ? size - sizeof(uint64_t) : 0);
}

/* One block: the values, then names and bytes. */
static value *copy_values(const hg_params *params) {
    uint64_t count = params ? params->values.count : 0;
    size_t bytes = (size_t)(count + 1) * sizeof(value);
    for (uint64_t i = 0; i < count; i++) {
        const hg_param_value *v = &params->values.data[i];
        bytes += (v->name ? strlen(v->name) + 1 : 0) + bytes_behind(v);
    }
    value *values = hg_alloc(bytes);
    uint8_t *at = values ? (uint8_t *)(values + count + 1) : NULL;
    for (uint64_t i = 0; values && i < count; i++) {
        const hg_param_value *v = &params->values.data[i];
        size_t name = v->name ? strlen(v->name) + 1 : 0;
        values[i] = (value){first_word(v), name ? (const char *)at : NULL,
                            at + name,     bytes_behind(v),
                            v->reg,        v->kind,
                            v->type};
        if (name) memcpy(at, v->name, name);
        memcpy(at + name, v->bytes + sizeof(uint64_t), values[i].more_bytes);
        at += name + values[i].more_bytes;
    }
    return values;
}

/* An empty call of the key, or the one whose turn it is to go. NULL: all are taken. */
static call *take_place(hg_recent *r, uint64_t key) {
    uint32_t turn = hg_atomic_fetch_add(&r->turn, 1, HG_RELAXED);
    for (uint32_t way = 0; way < WAYS; way++) {
        call *c = &r->calls[(key / CALLS + way) % r->usable];
        if (!hg_atomic_load(&c->key, HG_RELAXED) && take(c)) return c;
    }
    call *c = &r->calls[(key / CALLS + turn % WAYS) % r->usable];
    return take(c) ? c : NULL;
}

static bool came_before(hg_recent *r, uint64_t key) {
    uint64_t *place = &r->missed[key / CALLS % CALLS];
    bool before = hg_atomic_load(place, HG_RELAXED) == key;
    hg_atomic_store(place, key, HG_RELAXED);
    return before;
}

bool hg_recent_keep(hg_backend *b, const hg_program *program, const hg_launch *launch,
                    const hg_params *params, hg_binding *binding) {
    hg_launch own;
    if (!program->serial || !may_stay(b, binding)) return false;
    if (launch && hg_launch_take(launch, &own) != HG_OK) return false;
    if (launch) launch = &own;
    hg_recent *r = open_recent(b);
    uint64_t key = key_of(program, launch, params);
    if (!r || !came_before(r, key)) return false;
    value *values = copy_values(params);
    call *c = values ? take_place(r, key) : NULL;
    if (!c) {
        hg_free(values);
        return false;
    }
    if (c->binding) empty(c);
    binding->way.ready.launches_left = 1;
    c->binding = binding;
    c->values = values;
    c->value_count = params ? params->values.count : 0;
    c->serial = program->serial;
    c->has_launch = launch != NULL;
    if (launch) c->launch = *launch;
    hg_atomic_store(&c->holds, bits_of(binding), HG_SEQ_CST);
    hg_atomic_store(&c->key, key, HG_RELAXED);
    if (!is_live(b, binding)) empty(c); /* whoever freed something has not seen it */
    let_go(c);
    return true;
}

uint32_t hg_recent_count(const hg_backend *b) {
    uint32_t count = 0;
    for (uint32_t i = 0; b->recent.calls && i < b->recent.calls->usable; i++)
        count += b->recent.calls->calls[i].binding != NULL;
    return count;
}

/* In a forked child calls of the parent's other threads stay taken. */
void hg_recent_close(hg_backend *b) {
    hg_recent *r = b->recent.calls;
    bool all = true;
    if (!r || b->fork.lost) return;
    for (uint32_t i = 0; i < r->usable; i++) {
        call *c = &r->calls[i];
        bool taken = c->state != CALL_FREE;
        all = all && !taken;
        if (!taken && c->binding) empty(c);
    }
    b->recent.forget = NULL;
    b->recent.calls = NULL;
    if (all) hg_free(r);
}

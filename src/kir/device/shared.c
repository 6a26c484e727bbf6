/* Whether a group has to begin with zeroing its shared memory: not when all that is read has been
 * written by the block before, at places that the lanes' coordinates alone decide. They are worked
 * out for each lane of the block.
 * Requires: a legalised module, kir_find_uniformity where it has barriers, a block of known size that starts whole. */
#include "kir/device/device_internal.h"
#include "kir/access.h"
#include "kir/passes/simplify_internal.h"
#include <string.h>

enum { MOST_LANES = 1024, MOST_BYTES = 65536 };

typedef struct cover {
    const device *d;
    kir_value **order;    /* the kernel's operations by id */
    bool *wanted, *known; /* an index needs it; it depends on the lane's coordinates alone */
    uint64_t *value;      /* in the lane that is being written */
    uint8_t *written;
    uint32_t count;
    uint64_t covered; /* bytes written */
    const kir_value *barrier;
    bool breaks; /* a loop around the barrier may be left before it */
} cover;

static bool is_shared(const kir_value *v, bool read) {
    bool access = read ? v->op == KIR_LOAD || v->op == KIR_ATOMIC : v->op == KIR_STORE;
    return access && v->u.mem.space == KIR_SHARED;
}

/* ---- indices ---- */

static bool find_known(const cover *c, const kir_value *v) {
    if (v->op == KIR_CONST) return kir_type_bytes(v->type) <= 8;
    if (v->op == KIR_ID) {
        hg_id_part part = hg_idname_part(kir_id_name(v));
        return !(v->u.imm & KIR_ID_HIGH) && (part == HG_PART_LANE_IDX || part == HG_PART_BLOCK_DIM);
    }
    if (!kir_is_integer_value(v) || kir_type_bytes(v->type) > 8) return false;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (!c->known[v->args[i]->id]) return false;
    return true;
}

static void find_indices(cover *c) {
    for (uint32_t i = c->count; i-- > 0;) {
        const kir_value *v = c->order[i];
        bool access = is_shared(v, true) || is_shared(v, false);
        for (uint8_t k = 0; k < (access ? kir_access_of(v).value : v->nargs); k++)
            if (access || c->wanted[i]) c->wanted[v->args[k]->id] = true;
    }
    for (uint32_t i = 0; i < c->count; i++)
        c->known[i] = c->wanted[i] && find_known(c, c->order[i]);
}

static uint64_t evaluate(const cover *c, const kir_value *v, const uint32_t lane[3]) {
    if (v->op == KIR_CONST) return v->u.imm;
    if (v->op == KIR_ID) {
        uint32_t axis = hg_idname_axis(kir_id_name(v));
        return hg_idname_part(kir_id_name(v)) == HG_PART_LANE_IDX ? lane[axis]
                                                                  : c->d->options->block[axis];
    }
    kir_value args[3], copy = *v, *pointers[3], *same = NULL;
    uint64_t result = 0;
    memset(args, 0, sizeof args);
    for (uint8_t i = 0; i < v->nargs; i++) {
        args[i].op = KIR_CONST;
        args[i].type = v->args[i]->type;
        args[i].u.imm = c->value[v->args[i]->id];
        pointers[i] = &args[i];
    }
    copy.args = pointers;
    fold_result how = simplify_fold(&copy, &result, &same);
    return how == FOLD_CONSTANT ? result : how == FOLD_VALUE ? same->u.imm : UINT64_MAX;
}

/* First byte of an access in the lane that is being written; MOST_BYTES: unknown. */
static uint64_t place(const cover *c, const kir_value *v) {
    uint64_t index = 0;
    if (v->u.mem.has_index) {
        if (!c->known[v->args[0]->id] || (v->u.mem.split && !c->known[v->args[1]->id]))
            return MOST_BYTES;
        index = c->value[v->args[0]->id];
        if (v->u.mem.split) index |= c->value[v->args[1]->id] << 32;
    }
    index += (uint64_t)v->u.mem.disp;
    return index <= MOST_BYTES - 8 ? index : MOST_BYTES;
}

/* Marks what v writes, or checks that what it reads is marked, for every lane. */
static bool each_lane(cover *c, const kir_value *v, bool read) {
    const uint32_t *block = c->d->options->block;
    for (uint32_t i = 0; i < block[0] * block[1] * block[2]; i++) {
        uint32_t lane[3] = {i % block[0], i / block[0] % block[1], i / block[0] / block[1]};
        for (uint32_t k = 0; k < v->id; k++)
            if (c->known[k]) c->value[k] = evaluate(c, c->order[k], lane);
        uint64_t at = place(c, v);
        if (at == MOST_BYTES) return false;
        for (uint64_t k = at; k < at + v->u.mem.bytes; k++) {
            if (read && !c->written[k]) return false;
            c->covered += !read && !c->written[k];
            if (!read) c->written[k] = 1;
        }
    }
    return true;
}

/* ---- the way to the first barrier ---- */

static bool holds(const kir_value *owner, kir_op op, bool shared_read) {
    for (int k = 0; k < 2; k++)
        for (const kir_value *v = owner->body[k] ? kir_walk(NULL, owner->body[k]) : NULL; v;
             v = kir_walk(v, owner->body[k]))
            if (shared_read ? is_shared(v, true) : v->op == op) return true;
    return false;
}

/* Whether an IF or a loop without barrier may stand before the barrier. */
static bool may_pass(cover *c, const kir_value *v) {
    if (holds(v, KIR_LOAD, true) || holds(v, KIR_BARRIER, false) || holds(v, KIR_RETURN, false))
        return false;
    if (v->op == KIR_LOOP) return true;
    if (!holds(v, KIR_BREAK, false) && !holds(v, KIR_CONTINUE, false)) return true;
    c->breaks = true;
    return v->args[0]->uniformity >= KIR_BLOCK_UNIFORM; /* the block leaves the loop as one */
}

static bool follow(cover *c) {
    for (const kir_value *v = c->d->in->functions->body->first; v; v = v->next) {
        while (v->op == KIR_LOOP && holds(v, KIR_BARRIER, false) && v->body[0]->first)
            v = v->body[0]->first;
        if (v->op == KIR_BARRIER) {
            c->barrier = v;
            return true;
        }
        if (is_shared(v, true)) return false;
        if (is_shared(v, false)) (void)each_lane(c, v, false);
        if ((v->op == KIR_IF || v->op == KIR_LOOP) && !may_pass(c, v)) return false;
    }
    return false;
}

static bool behind_barrier(const cover *c, const kir_value *v) {
    if (!c->breaks) return v->id > c->barrier->id;
    while (v && v->parent != c->barrier->parent) v = v->parent->owner;
    return v && v->id > c->barrier->id;
}

static bool check_reads(cover *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        const kir_value *v = c->order[i];
        if (!is_shared(v, true)) continue;
        if (!behind_barrier(c, v)) return false;
        if (c->d->options->shared_bytes && c->covered >= c->d->options->shared_bytes) continue;
        if (!each_lane(c, v, true)) return false;
    }
    return true;
}

static bool kernel_alone(const kir_module *m) {
    for (const kir_function *f = m->functions->next; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (is_shared(v, true) || v->op == KIR_BARRIER) return false;
    return true;
}

bool device_writes_shared_first(device *d) {
    const uint32_t *block = d->options->block;
    uint64_t lanes = (uint64_t)block[0] * block[1] * block[2];
    if (lanes == 0 || lanes > MOST_LANES || !d->options->whole_blocks || d->options->fold > 1 ||
        d->kernel.can_exit || !kernel_alone(d->in))
        return false;
    cover c = {.d = d, .count = kir_number(d->in->functions)};
    c.order = hg_calloc((size_t)c.count + 1, sizeof *c.order);
    c.wanted = hg_calloc((size_t)c.count + 1, 1);
    c.known = hg_calloc((size_t)c.count + 1, 1);
    c.value = hg_calloc((size_t)c.count + 1, sizeof *c.value);
    c.written = hg_calloc(MOST_BYTES, 1);
    bool good = c.order && c.wanted && c.known && c.value && c.written; /* without memory it is
                                                                           filled */
    kir_region *body = d->in->functions->body;
    for (kir_value *v = good ? kir_walk(NULL, body) : NULL; v; v = kir_walk(v, body))
        c.order[v->id] = v;
    if (good) find_indices(&c);
    good = good && follow(&c) && check_reads(&c);
    hg_free(c.order);
    hg_free(c.wanted);
    hg_free(c.known);
    hg_free(c.value);
    hg_free(c.written);
    return good;
}

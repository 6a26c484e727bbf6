/* The interpreter's loop. Operations on all lanes call a handler; everything else is here, in
 * memory.c and in mask.c.
 * Must not know: launches, threads, kernel IR. */
#include "kir/fault_text.h"
#include "base/stream.h"
#include "tile/tile_internal.h"
#include <string.h>

static void splat(void *d_, const void *a_, uint8_t size, uint32_t n) {
    TILE_BY_SIZE(size, element *d = d_; const element a = *(const element *)a_;
                 for (uint32_t i = 0; i < n; i++) d[i] = a;)
}

static void iota(void *d_, const void *a_, uint64_t step, uint8_t size, uint32_t n) {
    TILE_BY_SIZE(size, element *d = d_; const element a = *(const element *)a_;
                 const element s = (element)step;
                 for (uint32_t i = 0; i < n; i++) d[i] = (element)(a + (element)((element)i * s));)
}

static uint64_t cell_of_size(const uint8_t *cell, uint8_t size) {
    uint64_t value = 0;
    memcpy(&value, cell, size);
    return value;
}

/* How many lanes from the first one have a + i * step < b. */
static uint32_t lanes_below(const tile_insn *insn, uint8_t *const *reg, bool or_equal, uint32_t n) {
    uint64_t a = cell_of_size(reg[insn->a], insn->size), b = cell_of_size(reg[insn->b], insn->size);
    if (or_equal ? b < a : b <= a) return 0;
    uint64_t room = or_equal ? b - a : b - a - 1, step = insn->u.imm,
             count = step == 1 ? room : room / step;
    return count >= n ? n : (uint32_t)count + 1;
}

static inline void border(const tile_insn *insn, uint8_t *const *reg, uint32_t n) {
    uint32_t first = lanes_below(insn, reg, insn->kind == TILE_MORE, n);
    uint8_t *d = reg[insn->d], head = insn->kind == TILE_LESS;
    memset(d, head, first);
    memset(d + first, 1 - head, n - first);
}

static int size_class(uint8_t size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }

static void masked_copy(const tile_frame *f, const tile_insn *insn, uint8_t *d, const uint8_t *a) {
    const tile_mask *mask = &f->mask[insn->mask];
    if (mask->count == f->n)
        memcpy(d, a, (size_t)f->n * insn->size);
    else if (mask->count)
        tile_op_handler(f->kernel->handlers, KIR_SELECT, size_class(insn->size), 0)(d, mask->bytes,
                                                                                    a, d, f->n);
}

static void masked_splat(const tile_frame *f, const tile_insn *insn, uint8_t *d, const uint8_t *a) {
    const tile_mask *mask = &f->mask[insn->mask];
    if (mask->count == f->n)
        splat(d, a, insn->size, f->n);
    else if (mask->count)
        tile_op_handler(f->kernel->handlers, KIR_SELECT, size_class(insn->size), 2)(d, mask->bytes,
                                                                                    a, d, f->n);
}

static void first_active(const tile_frame *f, const tile_insn *insn) {
    uint64_t cell = 0;
    memcpy(&cell, f->reg[insn->a] + (size_t)tile_mask_first(f, &f->mask[insn->mask]) * insn->size,
           insn->size);
    memcpy(f->reg[insn->d], &cell, 8);
}

/* ---- private arrays and tables: indexes are in range in active lanes, the others' are not looked
 * at ---- */

static uint8_t *row(const tile_frame *f, const tile_insn *insn, uint32_t index) {
    if (index >= insn->u.imm) index = 0;
    return f->reg[insn->a] + (uint64_t)index * f->width * insn->size;
}

static void array_get(const tile_frame *f, const tile_insn *insn) {
    const uint32_t *index = (const uint32_t *)(void *)f->reg[insn->b];
    const uint64_t length = insn->u.imm, width = f->width;
    TILE_BY_SIZE(insn->size, element *d = (element *)(void *)f->reg[insn->d];
                 const element *a = (const element *)(void *)f->reg[insn->a];
                 for (uint32_t i = 0; i < f->n; i++)
                     d[i] = a[(index[i] < length ? index[i] : 0) * width + i];)
}

static void array_set(const tile_frame *f, const tile_insn *insn) {
    const uint32_t *index = (const uint32_t *)(void *)f->reg[insn->b];
    const uint8_t *active = tile_mask_bytes(f, &f->mask[insn->mask]);
    const uint64_t length = insn->u.imm, width = f->width;
    TILE_BY_SIZE(insn->size, element *a = (element *)(void *)f->reg[insn->a];
                 const element *c = (const element *)(void *)f->reg[insn->c];
                 for (uint32_t i = 0; i < f->n; i++) if (active[i] && index[i] < length)
                     a[index[i] * width + i] = c[i];)
}

static void table_get(const tile_frame *f, const tile_insn *insn, uint32_t n) {
    const uint32_t *index = (const uint32_t *)(void *)f->reg[insn->b];
    const uint32_t length = insn->c;
    TILE_BY_SIZE(insn->size, element *d = (element *)(void *)f->reg[insn->d];
                 const element *t = (const element *)(const void *)insn->u.table;
                 for (uint32_t i = 0; i < n; i++) d[i] = t[index[i] < length ? index[i] : 0];)
}

static void join_halves(const tile_frame *f, const tile_insn *insn, uint32_t n) {
    uint64_t *d = (uint64_t *)(void *)f->reg[insn->d];
    const uint32_t *a = (const uint32_t *)(void *)f->reg[insn->a],
                   *b = (const uint32_t *)(void *)f->reg[insn->b];
    for (uint32_t i = 0; i < n; i++) d[i] = a[i] | (uint64_t)b[i] << 32;
}

static bool go_on(void *user) { return !tile_out_of_time(user); }

/* Of an operation on arrays of limbs; what it costs grows with their square at the most. */
static HG_NOINLINE void wide(tile_frame *f, const tile_insn *insn) {
    const tile_mask *mask = &f->mask[insn->mask];
    if (!mask->count) return;
    insn->u.wide(&(tile_wide){.d = (uint64_t *)(void *)f->reg[insn->d],
                              .a = (const uint64_t *)(const void *)f->reg[insn->a],
                              .b = (const uint64_t *)(const void *)f->reg[insn->b],
                              .c = (const uint64_t *)(const void *)f->reg[insn->c],
                              .carry = (uint64_t *)(void *)f->scratch,
                              .active = mask->count == f->n ? NULL : tile_mask_bytes(f, mask),
                              .width = f->width,
                              .n = f->n,
                              .limbs = insn->size,
                              .fuel = &f->fuel,
                              .go_on = go_on,
                              .user = f});
    f->fuel -= (int64_t)f->n * insn->size;
}

/* ---- faults ---- */

static uint64_t fault_value(const tile_frame *f, const tile_fault_value *v, uint32_t lane) {
    uint64_t value = 0;
    for (uint32_t half = 0; v->size && half < 8u / v->size; half++) {
        uint64_t part = 0;
        memcpy(&part, f->reg[v->reg[half]] + (v->one[half] ? 0 : (size_t)lane * v->size), v->size);
        value |= part << (32 * half);
    }
    return value;
}

static void fault_if(tile_frame *f, const tile_insn *insn) {
    tile_mask *mask = &f->mask[insn->mask];
    const uint8_t *cond = f->reg[insn->a], *active = tile_mask_bytes(f, mask);
    uint32_t first = f->n;
    if (insn->b) { /* one condition for all */
        if (!cond[0] || !mask->count) return;
        first = tile_mask_first(f, mask);
    } else {
        for (uint32_t i = 0; i < f->n && first == f->n; i++)
            if (active[i] & cond[i]) first = i;
        if (first == f->n) return;
    }
    tile_fault *fault = tile_fault_lane(f, first);
    if (fault) {
        fault->code = insn->size;
        fault->operand = (uint8_t)insn->c;
        fault->inst = insn->inst ? insn->inst - 1 : 0;
        uint64_t values[KIR_FAULT_VALUES] = {0, 0};
        for (int i = 0; insn->values && i < KIR_FAULT_VALUES; i++)
            values[i] = fault_value(f, &insn->values[i], first);
        kir_fault_text(fault->message, sizeof fault->message, insn->size, insn->u.message, values);
    }
    if (insn->b)
        mask->count = 0;
    else
        tile_mask_remove(f, mask, cond);
}

/* ---- control ---- */

static void enter_if(const tile_frame *f, const tile_insn *insn) {
    tile_mask_split(f, &f->mask[insn->mask], f->reg[insn->a], &f->mask[insn->b], &f->mask[insn->c]);
}

static void leave_if(const tile_frame *f, const tile_insn *insn) {
    tile_mask *mask = &f->mask[insn->mask];
    const tile_mask *yes = &f->mask[insn->b], *no = &f->mask[insn->c];
    if (yes->count + no->count == mask->count) return; /* nobody left */
    mask->count = 0;
    tile_mask_join(f, mask, yes);
    tile_mask_join(f, mask, no);
}

/* True when the loop goes on. */
static bool leave_loop(const tile_frame *f, const tile_insn *insn) {
    tile_mask *body = &f->mask[insn->b];
    tile_mask_join(f, body, &f->mask[insn->d]);
    f->mask[insn->d].count = 0;
    if (body->count) return true;
    tile_mask_copy(f, &f->mask[insn->mask], &f->mask[insn->c]);
    return false;
}

static void leave_region(const tile_frame *f, const tile_insn *insn) {
    if (insn->b != TILE_NONE) tile_mask_join(f, &f->mask[insn->b], &f->mask[insn->mask]);
    f->mask[insn->mask].count = 0;
}

static void fence(uint64_t scope) {
    hg_stream_end();
    if (scope == HG_SCOPE_SYSTEM)
        atomic_thread_fence(memory_order_seq_cst);
    else if (scope != HG_SCOPE_THREAD)
        atomic_thread_fence(memory_order_acq_rel);
}

/* What does not concern the program counter. */
static void run_other(tile_frame *f, const tile_insn *insn) {
    uint8_t **reg = f->reg;
    switch ((tile_kind)insn->kind) {
    case TILE_ID: tile_id_vector(f, reg[insn->d], (uint32_t)insn->u.imm, insn->size); break;
    case TILE_FIRST: first_active(f, insn); break;
    case TILE_ARRAY_GET: array_get(f, insn); break;
    case TILE_ARRAY_GET_ONE:
        memcpy(reg[insn->d], row(f, insn, *(const uint32_t *)(void *)reg[insn->b]),
               (size_t)f->n * insn->size);
        break;
    case TILE_ARRAY_SET: array_set(f, insn); break;
    case TILE_ARRAY_SET_ONE:
        masked_copy(f, insn, row(f, insn, *(const uint32_t *)(void *)reg[insn->b]), reg[insn->c]);
        break;
    case TILE_ARRAY_ZERO:
        for (uint64_t i = 0; i < insn->u.imm; i++)
            memset(reg[insn->a] + i * f->width * insn->size, 0, (size_t)f->n * insn->size);
        break;
    case TILE_ARRAY_BIND: reg[insn->d] = reg[insn->a]; break;
    case TILE_TABLE: table_get(f, insn, f->n); break;
    case TILE_TABLE_ONE: table_get(f, insn, 1); break;
    case TILE_JOIN: join_halves(f, insn, f->n); break;
    case TILE_JOIN_ONE: join_halves(f, insn, 1); break;
    case TILE_LOAD:
    case TILE_STORE:
    case TILE_CHECK:
    case TILE_ATOMIC: tile_access_run(f, insn); break;
    case TILE_FENCE: fence(insn->u.imm); break;
    case TILE_TRACE: tile_trace(f, insn); break;
    case TILE_FAULT_IF: fault_if(f, insn); break;
    default: break;
    }
}

void tile_execute(tile_frame *f) {
    const tile_insn *insns = f->kernel->code.insns, *pc = insns;
    uint8_t **reg = f->reg;
    tile_mask *mask = f->mask;
    const uint32_t n = f->n;
    mask[f->kernel->code.body_mask].count = n;
    for (;;) {
        const tile_insn *i = pc++;
        switch ((tile_kind)i->kind) {
        case TILE_RUN: i->run(reg[i->d], reg[i->a], reg[i->b], reg[i->c], n); break;
        case TILE_RUN_ONE: i->run(reg[i->d], reg[i->a], reg[i->b], reg[i->c], 1); break;
        case TILE_SPLAT: splat(reg[i->d], reg[i->a], i->size, n); break;
        case TILE_IOTA: iota(reg[i->d], reg[i->a], i->u.imm, i->size, n); break;
        case TILE_LESS:
        case TILE_MORE: border(i, reg, n); break;
        case TILE_COPY: masked_copy(f, i, reg[i->d], reg[i->a]); break;
        case TILE_COPY_ONE: memcpy(reg[i->d], reg[i->a], 8); break;
        case TILE_COPY_SPLAT: masked_splat(f, i, reg[i->d], reg[i->a]); break;
        case TILE_COPY_ALL: memcpy(reg[i->d], reg[i->a], (size_t)n * i->size); break;
        case TILE_SWAP:
            if (mask[i->mask].count == n) {
                uint8_t *other = reg[i->d];
                reg[i->d] = reg[i->a];
                reg[i->a] = other;
            } else {
                masked_copy(f, i, reg[i->d], reg[i->a]);
            }
            break;
        case TILE_IF:
            enter_if(f, i);
            if (!mask[i->b].count) pc = insns + i->target;
            break;
        case TILE_ELSE:
            if (!mask[i->c].count) pc = insns + i->target;
            break;
        case TILE_END_IF: leave_if(f, i); break;
        case TILE_JUMP: pc = insns + i->target; break;
        case TILE_JUMP_UNLESS:
            if (!*reg[i->a]) pc = insns + i->target;
            break;
        case TILE_LOOP:
            tile_mask_copy(f, &mask[i->b], &mask[i->mask]);
            mask[i->c].count = mask[i->d].count = 0;
            break;
        case TILE_END_LOOP:
            if (!leave_loop(f, i)) break;
            f->fuel -= (int64_t)n + (pc - (insns + i->target)); /* a long body takes time with one
                                                                   lane too */
            if (f->fuel >= 0 || !tile_out_of_time(f)) {
                pc = insns + i->target;
                break;
            }
            mask[i->b].count = 0; /* these lanes end here; the others go on to their own ends, and
                                     may fault */
            (void)leave_loop(f, i);
            break;
        case TILE_BACK:
            if (!mask[i->mask].count) break;
            f->fuel -= (int64_t)n + (pc - (insns + i->target)); /* a long body takes time with one
                                                                   lane too */
            if (f->fuel < 0 && tile_out_of_time(f))
                mask[i->mask].count = 0;
            else
                pc = insns + i->target;
            break;
        case TILE_BREAK:
            leave_region(f, i);
            pc = insns + i->target;
            break;
        case TILE_WIDE:
            wide(f, i);
            if (f->fuel < 0 && tile_out_of_time(f)) return;
            break;
        case TILE_CALL:
            tile_mask_copy(f, &mask[i->b], &mask[i->mask]);
            mask[i->c].count = 0;
            if (!mask[i->mask].count) break; /* nobody calls */
            f->fuel -= n; /* calls alone can take for ever: a tree of them doubles with each level
                           */
            if (f->fuel < 0 && tile_out_of_time(f)) {
                mask[i->mask].count = 0;
                break;
            }
            f->returns[i->u.imm] = (uint32_t)(pc - insns);
            pc = insns + f->kernel->code.entries[i->u.imm];
            break;
        case TILE_RETURN:
            tile_mask_join(f, &mask[i->c], &mask[i->b]);
            /* Looked at by the next call or loop. */
            f->fuel -= pc - (insns + f->kernel->code.entries[i->u.imm]);
            pc = insns + f->returns[i->u.imm];
            break;
        case TILE_END_CALL:
            if (mask[i->c].count != mask[i->mask].count)
                tile_mask_copy(f, &mask[i->mask], &mask[i->c]);
            break;
        case TILE_BARRIER:
            if (f->faults.in_block) return;
            f->phase += i->u.imm != KIR_BARRIER_INNER;
            break;
        case TILE_END: return;
        default: run_other(f, i); break;
        }
    }
}

/* ---- for launches that are made ready; behind the loop, which is laid out as it is ---- */

void tile_border(const tile_insn *insn, uint8_t *const *reg, uint32_t n) { border(insn, reg, n); }

const tile_insn *tile_branch(const tile_frame *f, const tile_insn *insn) {
    const tile_insn *next = insn + 1, *target = f->kernel->code.insns + insn->target;
    switch ((tile_kind)insn->kind) {
    case TILE_IF: enter_if(f, insn); return f->mask[insn->b].count ? next : target;
    case TILE_ELSE: return f->mask[insn->c].count ? next : target;
    case TILE_END_IF: leave_if(f, insn); return next;
    case TILE_JUMP: return target;
    case TILE_JUMP_UNLESS: return *f->reg[insn->a] ? next : target;
    case TILE_BREAK: leave_region(f, insn); return target;
    default: return NULL;
    }
}

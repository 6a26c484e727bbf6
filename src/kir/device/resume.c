/* Loops with more rounds than the device runs in one dispatch (target.max_rounds): a lane counts
 * its rounds, and where it has had enough it keeps what it has and leaves; the next dispatch of the
 * same lanes goes on at the round where it stopped, as often as it takes.
 *
 * Long loops, and the IFs and LOOPs around them, are outer operations; what stands between them is
 * cut into runs. The variable `at` says where a lane goes on: 0 where it just runs, else the number
 * of a long loop. A lane that goes on skips runs (they become IFs) and other outer operations,
 * enters those around its loop whatever their conditions say, and at the start of the loop's round
 * sets `at` to 0. What one run makes and another uses lives in variables. All variables are kept,
 * words of them, in the slot that forms with groups have for shared memory, one piece a lane of the
 * dispatch; the first word is `at`, or DONE.
 * Requires: a kernel in device form, FLAT, without barriers, in which called functions hold no long loop. */
#include "kir/analysis/analysis.h"
#include "kir/builder.h"
#include "kir/device/device_internal.h"
#include "kir/sugar.h"

enum {
    SHORT = 64,      /* rounds of a loop with all in it that needs no count */
    NEIGHBOURS = 32, /* lanes run in step, at most 16 of them, and rounds of each may be rounds of
                        none of the others; compilers have some of their own */
    UNKNOWN = 256,   /* of a called function of which nobody knows */
    TOGETHER = 8     /* elements of an array that are kept in a round */
};
#define DONE UINT32_MAX

typedef struct long_loop {
    kir_value *loop;
    uint32_t cost; /* rounds of one of its, with those of all short loops in it */
} long_loop;

typedef struct resumer {
    device *d;
    kir_module *m;
    kir_function *f; /* with the loops */
    kir_builder b;
    kir_value **order; /* by id, before anything moves; in scratch: the resumer where outer, else
                          NULL */
    uint32_t *run, *first, *count_in; /* by id: run of an operation (0: outer); of outer ones the
                                         first long loop in it, and how many */
    uint64_t *cost;                   /* by id: rounds of what an operation holds, in one pass */
    uint32_t count, runs;
    kir_var *at, *spent;
    HG_VEC(long_loop) loops;
    HG_VEC(kir_region *) regions; /* that hold outer operations */
} resumer;

/* ---- which loops ---- */

static uint64_t times(uint64_t x, uint64_t y) {
    uint64_t product;
    return hg_mul_u64(x, y, &product) ? product : UINT64_MAX;
}

static uint64_t rounds_of(const kir_value *loop) {
    uint64_t rounds = loop->u.loop.once   ? 1
                      : loop->u.loop.most ? loop->u.loop.most
                                          : loop->u.loop.rounds;
    return rounds ? rounds : UINT64_MAX;
}

static uint64_t rounds_of_call(const kir_function *f) {
    uint64_t all = 0;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        all += v->op == KIR_LOOP || v->op == KIR_CALL;
    return all ? UNKNOWN : 0;
}

/* Rounds that an operation takes; marks it where it is a long loop. Those in it were asked before.
 */
static uint64_t ask(resumer *x, const kir_value *v) {
    uint64_t inside = x->cost[v->id];
    if (v->op == KIR_CALL) return rounds_of_call(v->u.call.function);
    if (v->op != KIR_LOOP) return inside;
    uint64_t all = times(rounds_of(v), inside + 1);
    if (v->u.loop.once || (all <= SHORT && !x->count_in[v->id])) return all;
    x->count_in[v->id]++;
    return 1; /* it leaves before it has too many; where no lane enters it, it takes one */
}

static void find_loops(resumer *x) {
    for (uint32_t i = x->count; i-- > 0;) {
        kir_value *owner = x->order[i]->parent->owner;
        uint64_t own = ask(x, x->order[i]);
        if (!owner) continue;
        x->cost[owner->id] = own > UINT32_MAX - x->cost[owner->id] ? UINT32_MAX
                                                                   : x->cost[owner->id] + own;
        x->count_in[owner->id] += x->count_in[i];
    }
}

static bool is_long(const resumer *x, const kir_value *v) {
    return v->op == KIR_LOOP && !v->u.loop.once && x->count_in[v->id];
}

/* Numbers them in the order of the text: those in an operation are neighbours. */
static bool number_loops(resumer *x) {
    for (uint32_t i = 0; i < x->count; i++) {
        kir_value *v = x->order[i];
        x->first[i] = (uint32_t)x->loops.count + 1;
        x->run[i] = x->count_in[i] ? 0 : UINT32_MAX;
        v->scratch = x->count_in[i] ? x : NULL;
        if (!is_long(x, v)) continue;
        long_loop *loop = hg_vec_push(&x->loops);
        if (!loop) return false;
        *loop = (long_loop){v, (uint32_t)x->cost[i] + 1};
    }
    return true;
}

/* ---- runs ---- */

static bool number_runs(resumer *x) {
    kir_region **place = hg_vec_push(&x->regions);
    if (!place) return false;
    *place = x->f->body;
    for (uint64_t i = 0; i < x->regions.count; i++) {
        bool open = false;
        for (kir_value *v = x->regions.data[i]->first; v; v = v->next) {
            bool outer = v->scratch == x;
            if (!outer && !open) x->runs++;
            open = !outer;
            if (!outer) x->run[v->id] = x->runs;
            for (int k = 0; k < 2 && v->body[k]; k++) {
                if (outer && !(place = hg_vec_push(&x->regions))) return false;
                if (outer) *place = v->body[k];
                for (kir_value *w = outer ? NULL : kir_walk(NULL, v->body[k]); w;
                     w = kir_walk(w, v->body[k]))
                    x->run[w->id] = x->runs;
            }
        }
    }
    return true;
}

/* ---- values that another run uses ---- */

static void begin_head(resumer *x, kir_region *head, const kir_value *at) {
    *head = (kir_region){.owner = at->parent->owner};
    x->b.region = head;
    x->b.inst = at->inst;
}

static bool is_leaf(const kir_value *v) {
    return v->op == KIR_CONST || v->op == KIR_INPUT || v->op == KIR_ID;
}

static kir_value *fetch(resumer *x, const kir_value *v, kir_var **carried) {
    if (!is_leaf(v)) {
        if (!carried[v->id]) carried[v->id] = kir_var_create(x->m, NULL, v->type, 0, "kept");
        if (!carried[v->id]) x->b.failed = true;
        return x->b.failed ? &x->b.dummy : kir_get(&x->b, carried[v->id]);
    }
    kir_value *copy = kir_emit(&x->b, (kir_op)v->op, v->type, 0, NULL);
    copy->u = v->u;
    return copy;
}

static void carry_values(resumer *x) {
    kir_var **carried = hg_calloc((size_t)x->count + 1, sizeof *carried);
    if (!carried) x->b.failed = true;
    for (uint32_t i = 0; i < x->count && !x->b.failed; i++) {
        kir_value *user = x->order[i];
        for (uint8_t k = 0; k < user->nargs && !x->b.failed; k++) {
            kir_value *v = user->args[k];
            kir_region head;
            if (x->run[v->id] == x->run[i]) continue;
            begin_head(x, &head, user);
            user->args[k] = fetch(x, v, carried);
            if (x->b.failed) break;
            user->args[k]->scratch = user->scratch;
            kir_splice(user->parent, user, &head);
        }
    }
    for (uint32_t i = 0; i < x->count && !x->b.failed; i++) {
        kir_region head;
        if (!carried[i]) continue;
        begin_head(x, &head, x->order[i]);
        kir_set(&x->b, carried[i], x->order[i]);
        if (!x->b.failed)
            kir_insert(x->order[i]->parent, x->order[i]->next, head.first, head.first);
    }
    hg_free(carried);
}

/* ---- the way to a loop ---- */

static kir_value *runs_on(resumer *x) { return is_zero(&x->b, kir_get(&x->b, x->at)); }

/* Whether a lane goes on at one of `count` loops from `first` on. */
static kir_value *goes_on_in(resumer *x, uint32_t first, uint32_t count) {
    kir_builder *b = &x->b;
    if (!count) return kir_const(b, KIR_BOOL, 0);
    kir_value *number = by(b, KIR_SUB, kir_get(b, x->at), first);
    return kir_not(b, below(b, u32(b, count - 1), number));
}

static uint32_t loops_in(const resumer *x, const kir_region *region) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->loops.count; i++)
        for (const kir_value *v = x->loops.data[i].loop; v; v = v->parent->owner)
            if (v->parent == region) count++;
    return count;
}

/* Operations first … last become what an IF holds, in the same place. */
static void wrap(resumer *x, kir_region *region, kir_value *first, kir_value *last, uint32_t loop,
                 uint32_t count) {
    kir_region head;
    kir_value *next = last->next, *before = first->prev;
    begin_head(x, &head, first);
    kir_value *cond = runs_on(x);
    if (count) cond = kir_binary(&x->b, KIR_OR, cond, goes_on_in(x, loop, count));
    kir_value *branch = kir_if_begin(&x->b, cond);
    kir_if_end(&x->b, branch);
    if (x->b.failed) return;
    if (before)
        before->next = next;
    else
        region->first = next;
    if (next)
        next->prev = before;
    else
        region->last = before;
    kir_insert(branch->body[0], NULL, first, last);
    kir_splice(region, next, &head);
}

/* What an IF asks, of lanes that go on too. The number of loops in its branches is known before
 * anything moves. */
static void open_if(resumer *x, kir_value *v, uint32_t first, uint32_t in_first) {
    kir_region head;
    kir_builder *b = &x->b;
    begin_head(x, &head, v);
    kir_value *on = runs_on(x), *cond = kir_binary(b, KIR_AND, on, v->args[0]);
    v->args[0] = kir_binary(b, KIR_OR, cond, goes_on_in(x, first, in_first));
    for (kir_value *w = head.first; w; w = w->next) w->scratch = x; /* in no run */
    if (!b->failed) kir_splice(v->parent, v, &head);
}

/* At the start of a round: the lane is there, or it counts, and leaves where it has had enough. */
static void open_loop(resumer *x, kir_value *loop, uint32_t number, uint32_t cost, uint32_t most) {
    kir_builder *b = &x->b;
    kir_region head = {.owner = loop};
    b->region = &head;
    b->inst = loop->inst;
    kir_value *mine = kir_if_begin(b, by(b, KIR_CMP_EQ, kir_get(b, x->at), number));
    kir_set(b, x->at, u32(b, 0));
    kir_if_end(b, mine);
    kir_value *counts = kir_if_begin(b, runs_on(x));
    kir_value *spent = kir_get(b, x->spent),
              *enough = kir_if_begin(b, kir_not(b, below(b, spent, u32(b, most))));
    kir_set(b, x->at, u32(b, number));
    kir_return(b, NULL);
    kir_if_end(b, enough);
    kir_set(b, x->spent, by(b, KIR_ADD, spent, cost));
    kir_if_end(b, counts);
    if (b->failed) return;
    kir_splice(loop->body[0], loop->body[0]->first, &head);
}

/* All but what follows the last outer operation: there every lane just runs. */
static void open_region(resumer *x, kir_region *region) {
    kir_value *last_outer = NULL;
    for (kir_value *v = region->first; v; v = v->next)
        if (v->scratch == x && v->body[0]) last_outer = v;
    for (kir_value *v = region->first, *next; v && v != last_outer && !x->b.failed; v = next) {
        kir_value *last = v;
        if (v->scratch == x && v->body[0]) {
            next = v->next;
            wrap(x, region, v, v, x->first[v->id], x->count_in[v->id]);
            continue;
        }
        if (v->scratch == x) { /* reads a variable for an outer operation */
            next = v->next;
            continue;
        }
        while (last->next && last->next != last_outer && last->next->scratch != x)
            last = last->next;
        next = last->next;
        wrap(x, region, v, last, 0, 0);
    }
}

static void open_ways(resumer *x) {
    uint32_t *in_first = hg_calloc((size_t)x->count + 1, sizeof *in_first);
    if (!in_first) x->b.failed = true;
    for (uint32_t i = 0; i < x->count && in_first; i++)
        if (x->order[i]->op == KIR_IF && x->count_in[i])
            in_first[i] = loops_in(x, x->order[i]->body[0]);
    for (uint32_t i = 0; i < x->count && !x->b.failed; i++)
        if (x->order[i]->op == KIR_IF && x->count_in[i])
            open_if(x, x->order[i], x->first[i], in_first[i]);
    hg_free(in_first);
    for (uint64_t i = 0; i < x->regions.count && !x->b.failed; i++)
        open_region(x, x->regions.data[i]);
    uint32_t most = x->d->options->target.max_rounds / NEIGHBOURS;
    for (uint32_t i = 0; i < x->loops.count && !x->b.failed; i++)
        open_loop(x, x->loops.data[i].loop, i + 1,
                  x->loops.data[i].cost < most ? x->loops.data[i].cost : most, most);
}

/* ---- what a lane keeps ---- */

static uint32_t words_of(uint8_t type) {
    return type == HG_TYPE_U64 || type == HG_TYPE_F64 ? 2 : 1;
}

typedef struct keeper {
    resumer *x;
    device_place place;
    kir_value *base; /* u32: offset of the lane's piece */
    uint32_t word;   /* of the variable at work */
    bool put;
} keeper;

static kir_value *offset_of(keeper *k, kir_value *place, uint32_t word) {
    kir_builder *b = &k->x->b;
    return doffset_of_u32(k->x->d, b, by(b, KIR_ADD, place, 4 * (uint64_t)word));
}

static kir_value *load_word(keeper *k, kir_value *place, uint32_t word) {
    return device_raw_load(k->x->d, &k->x->b, &k->place, offset_of(k, place, word), HG_TYPE_U32,
                           true);
}

static void store_word(keeper *k, kir_value *place, uint32_t word, kir_value *value) {
    device_raw_store(k->x->d, &k->x->b, &k->place, offset_of(k, place, word), value, true);
}

static void put(keeper *k, kir_value *place, uint32_t word, kir_value *v) {
    kir_builder *b = &k->x->b;
    uint8_t type = v->type;
    if (type == KIR_BOOL) v = kir_select(b, v, u32(b, 1), u32(b, 0));
    if (type == HG_TYPE_F32) v = kir_convert(b, KIR_BITCAST, HG_TYPE_U32, v);
    if (type == HG_TYPE_F64) v = kir_convert(b, KIR_BITCAST, HG_TYPE_U64, v);
    if (type == HG_TYPE_U8 || type == HG_TYPE_U16) v = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, v);
    store_word(k, place, word, words_of(type) == 2 ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, v) : v);
    if (words_of(type) == 2)
        store_word(k, place, word + 1,
                   kir_convert(b, KIR_TRUNC, HG_TYPE_U32, shift_by(b, KIR_LSHR, v, 32)));
}

static kir_value *take(keeper *k, kir_value *place, uint32_t word, uint8_t type) {
    kir_builder *b = &k->x->b;
    kir_value *v = load_word(k, place, word);
    if (words_of(type) == 2) {
        kir_value *high = shift_by(
            b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, load_word(k, place, word + 1)), 32);
        v = kir_binary(b, KIR_OR, high, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, v));
    }
    if (type == KIR_BOOL) return kir_not(b, is_zero(b, v));
    if (type == HG_TYPE_F32 || type == HG_TYPE_F64) return kir_convert(b, KIR_BITCAST, type, v);
    return type == HG_TYPE_U8 || type == HG_TYPE_U16 ? kir_convert(b, KIR_TRUNC, type, v) : v;
}

static void exchange_array(keeper *k, kir_var *var, uint32_t from, uint32_t count,
                           kir_value *place) {
    kir_builder *b = &k->x->b;
    uint32_t words = words_of(var->type);
    for (uint32_t i = 0; i < count; i++) {
        kir_value *at = by(b, KIR_ADD, place, from + i),
                  *bytes = by(b, KIR_MUL, at, 4 * (uint64_t)words);
        kir_value *to = kir_add(b, k->base, bytes);
        if (k->put)
            put(k, to, k->word, kir_array_get(b, var, at));
        else
            kir_array_set(b, var, at, take(k, to, k->word, var->type));
    }
}

/* Elements of arrays several at a time: these are rounds too. */
static void exchange_var(keeper *k, kir_var *var) {
    kir_builder *b = &k->x->b;
    uint32_t rounds = var->length / TOGETHER;
    if (!var->length) {
        if (k->put)
            put(k, k->base, k->word, kir_get(b, var));
        else
            kir_set(b, var, take(k, k->base, k->word, var->type));
        return;
    }
    if (rounds) {
        kir_for i = kir_for_begin(b, u32(b, rounds));
        exchange_array(k, var, 0, TOGETHER, by(b, KIR_MUL, i.i, TOGETHER));
        kir_for_end(b, &i);
    }
    exchange_array(k, var, rounds * TOGETHER, var->length % TOGETHER, u32(b, 0));
}

/* Those of the kernel alone are none: loops over arrays have variables of their own. */
static bool is_kept(const resumer *x, const kir_var *var) {
    return !var->function && !var->by_reference && var != x->at && var != x->spent;
}

static void exchange(keeper *k, bool put_them) {
    k->word = 1;
    k->put = put_them;
    for (kir_var *var = k->x->m->vars; var && !k->x->b.failed; var = var->next) {
        if (!is_kept(k->x, var)) continue;
        exchange_var(k, var);
        k->word += words_of(var->type) * (var->length ? var->length : 1);
    }
}

/* The kernel around the lane: takes what was kept, runs it, keeps what it has. */
static void write_kernel(resumer *x, kir_function *lane) {
    device *d = x->d;
    kir_builder *b = &x->b;
    kir_builder_init(b, x->m, x->m->functions);
    const int16_t slot = device_slot(d, KIR_SLOT_SHARED, 0);
    device_touch(d, slot, false);
    keeper k = {.x = x, .place = device_slot_place(d, slot, true)};
    uint64_t words = 1;
    for (const kir_var *var = x->m->vars; var; var = var->next)
        if (is_kept(x, var))
            words += (uint64_t)words_of(var->type) * (var->length ? var->length : 1);
    d->layout->resume_bytes = (uint32_t)(4 * words);
    kir_value *number = kir_emit(b, KIR_ID, HG_TYPE_U32, 0, NULL);
    number->u.imm = KIR_ID_THREAD;
    k.base = by(b, KIR_MUL, number, 4 * words);
    kir_value *kept = load_word(&k, k.base, 0);
    kir_value *runs = kir_if_begin(b, kir_not(b, by(b, KIR_CMP_EQ, kept, DONE)));
    kir_set(b, x->at, kept);
    kir_value *more = kir_if_begin(b, kir_not(b, is_zero(b, kept)));
    exchange(&k, false);
    kir_if_end(b, more);
    (void)kir_call(b, lane, 0, NULL, NULL);
    kir_value *now = kir_get(b, x->at), *over = is_zero(b, now);
    store_word(&k, k.base, 0, kir_select(b, over, u32(b, DONE), now));
    kir_value *left = kir_if_begin(b, kir_not(b, over));
    device_write_word(d, b, KIR_FAULT_LEFT, u32(b, 1));
    exchange(&k, true);
    kir_if_end(b, left);
    kir_if_end(b, runs);
}

/* ---- ---- */

static bool prepare(resumer *x) {
    (void)kir_most_rounds(x->m, x->d->vars.recorder); /* numbers, and what loops show */
    x->count = kir_number(x->f);
    size_t size = (size_t)x->count + 1;
    x->order = hg_calloc(size, sizeof *x->order);
    x->run = hg_calloc(size, sizeof *x->run);
    x->first = hg_calloc(size, sizeof *x->first);
    x->count_in = hg_calloc(size, sizeof *x->count_in);
    x->cost = hg_calloc(size, sizeof *x->cost);
    if (!x->order || !x->run || !x->first || !x->count_in || !x->cost) return false;
    for (kir_value *v = kir_walk(NULL, x->f->body); v; v = kir_walk(v, x->f->body))
        x->order[v->id] = v;
    find_loops(x);
    if (!number_loops(x)) return false;
    if (!x->loops.count) return true;
    x->at = kir_var_create(x->m, NULL, HG_TYPE_U32, 0, "resume_at");
    x->spent = kir_var_create(x->m, NULL, HG_TYPE_U32, 0, "spent");
    return x->at && x->spent && number_runs(x);
}

static void resume(resumer *x, kir_module *m) {
    kir_builder_init(&x->b, m, x->f);
    if (!prepare(x)) x->b.failed = true;
    if (!x->loops.count || x->b.failed) return;
    carry_values(x);
    if (!x->b.failed) open_ways(x);
    if (x->b.failed) return;
    for (kir_var *var = m->vars; var; var = var->next)
        if (var->function == x->f && !var->by_reference) var->function = NULL;
    for (kir_var *var = m->vars; var; var = var->next) /* the kernel is a function from now on */
        if (var->function == m->functions) var->function = NULL;
    kir_function *lane = device_wrap_kernel(m);
    if (lane)
        write_kernel(x, lane);
    else
        x->b.failed = true;
}

void device_resume(device *d, kir_module *m, kir_function *lane) {
    resumer x = {.d = d, .m = m, .f = lane ? lane : m->functions};
    if (!d->options->resumes || d->failed) return;
    bool wrapped = lane != NULL;
    if (!wrapped) { /* what leaves the kernel must leave the function alone */
        x.f = device_wrap_kernel(m);
        if (!x.f) d->failed = true;
        if (!x.f) return;
        kir_builder_init(&x.b, m, m->functions);
        (void)kir_call(&x.b, x.f, 0, NULL, NULL);
    }
    resume(&x, m);
    d->failed = d->failed || x.b.failed;
    hg_free(x.order);
    hg_free(x.run);
    hg_free(x.first);
    hg_free(x.count_in);
    hg_free(x.cost);
    hg_vec_free(&x.loops);
    hg_vec_free(&x.regions);
}

/* Canonical forms. The gate rules of 6.9 rewrite text: they look at generators and primary classes
 * alone, so data would change. hg_circuit_simplify removes calls that no element of any class can
 * tell from nothing. Must not know: instructions. */
#include "translators/circuit/circuit_internal.h"

#include <string.h>

/* ---- the gate rules ---- */

enum { MOST_REWRITES = 100, LONGEST_PATTERN = 5 };
typedef struct gate {
    uint8_t generator, cls;
} gate;
typedef struct rule {
    uint8_t length;
    gate pattern[LONGEST_PATTERN];
    uint8_t mark;
} rule;

#define COPY5 \
    { GENERATOR_COPY, 5 }
#define MARK(c) \
    { GENERATOR_MARK, c }
/* In order of priority: 100, 50, 10, 10, 10, 5. */
static const rule RULES[] = {
    {5, {COPY5, MARK(21), MARK(21), COPY5, MARK(21)}, 42}, /* HXH = Z */
    {4, {COPY5, MARK(21), COPY5, MARK(21)}, 0},            /* H² = I */
    {2, {MARK(21), MARK(21)}, 0},                          /* X² = I */
    {2, {MARK(42), MARK(42)}, 0},                          /* Z² = I */
    {2, {MARK(7), MARK(7)}, 42},                           /* S² = Z */
    {2, {MARK(0), MARK(0)}, 0},                            /* I·I = I */
};

static bool is_gate(const circuit_item *item, gate g) {
    return item->kind == ITEM_TERM && item->target != TARGET_RANGE &&
           item->generator == g.generator && item->sigils[0].cls == g.cls;
}

static bool rewrite_with(circuit_items *items, const rule *r) {
    for (uint64_t i = 0; i + r->length <= items->count; i++) {
        uint32_t n = 0;
        while (n < r->length && is_gate(&items->data[i + n], r->pattern[n])) n++;
        if (n < r->length) continue;
        items->data[i] = (circuit_item){.kind = ITEM_TERM,
                                        .generator = GENERATOR_MARK,
                                        .sigils = {{.cls = r->mark, .page = -1}}};
        memmove(&items->data[i + 1], &items->data[i + n],
                (size_t)(items->count - i - n) * sizeof *items->data);
        items->count -= n - 1u;
        return true;
    }
    return false;
}

/* Whether each group has one branch, at the index of its OPEN; NULL when out of memory. */
static bool *find_single_groups(const circuit_items *items) {
    bool *single = hg_calloc((size_t)items->count + 1, sizeof *single);
    HG_VEC(uint32_t) open = {0};
    for (uint64_t i = 0; single && i < items->count; i++) {
        uint8_t kind = items->data[i].kind;
        if (kind == ITEM_OPEN) {
            uint32_t *slot = hg_vec_push(&open);
            if (!slot) {
                hg_free(single);
                single = NULL;
                break;
            }
            *slot = (uint32_t)i;
            single[i] = true;
        } else if (kind == ITEM_CLOSE) {
            open.count--;
        } else if (kind == ITEM_BRANCH && open.count) {
            single[open.data[open.count - 1]] = false;
        }
    }
    hg_vec_free(&open);
    return single;
}

/* A copy without groups of one branch; their transforms go to what they held. `match` is not kept.
 */
static bool flatten(const circuit_items *items, const bool *single, circuit_items *out) {
    circuit_shifts carried = {0};
    circuit_shift carry = {0};
    bool good = true;
    for (uint64_t i = 0; good && i < items->count; i++) {
        circuit_item item = items->data[i];
        bool drop = false;
        if (item.kind == ITEM_TERM) {
            item.prefix = hg_shift_combine(carry, item.prefix);
        } else if (item.kind == ITEM_OPEN) {
            circuit_shift *slot = hg_vec_push(&carried);
            good = slot != NULL;
            if (slot) *slot = carry;
            drop = single[i];
            item.prefix = hg_shift_combine(carry, item.prefix);
            carry = drop ? item.prefix : (circuit_shift){0};
        } else if (item.kind == ITEM_CLOSE) {
            carry = carried.data[--carried.count];
            drop = single[item.match];
        }
        if (drop || !good) continue;
        circuit_item *slot = hg_vec_push(out);
        good = slot != NULL;
        if (slot) *slot = item;
    }
    hg_vec_free(&carried);
    return good;
}

hg_status hg_circuit_gate_form(const hg_circuit *circuit, hg_text *out, uint64_t *ops) {
    circuit_items items = {0};
    bool *single = find_single_groups(&circuit->items);
    bool good = single && flatten(&circuit->items, single, &items);
    hg_free(single);
    for (uint32_t rewrites = 0, i = 0;
         good && rewrites < MOST_REWRITES && i < HG_COUNT_OF(RULES);) {
        if (rewrite_with(&items, &RULES[i])) {
            rewrites++;
            i = 0;
        } else {
            i++;
        }
    }
    *ops = 0;
    for (uint64_t i = 0; i < items.count; i++) *ops += items.data[i].kind == ITEM_TERM;
    if (good) hg_circuit_print_items(out, circuit, circuit->phrase, &items);
    hg_vec_free(&items);
    return good && !out->failed ? HG_OK : hg_fail_memory();
}

/* ---- the sound form ---- */

enum { MOST_MEMBERS = 4 * HG_MAX_INSTRUCTIONS };

/* A call kept so far. before: the last kept call that touched the same class, + 1, one for each
 * class of `classes`. */
typedef struct kept {
    hg_circuit_call call;
    uint8_t count, classes[3];
    bool removed;
    uint32_t before[3];
} kept;
typedef struct simplifier {
    HG_VEC(kept) list;
    uint32_t last[HG_MAX_CLASSES], last_write[HG_MAX_CLASSES]; /* + 1; last_write is never taken
                                                                  back: that only keeps more */
} simplifier;

static uint8_t touched(const hg_circuit_call *call, uint8_t classes[3]) {
    uint8_t all[5];
    uint32_t n = hg_call_reads(call, all);
    n += hg_call_writes(call, all + n);
    uint8_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!memchr(classes, all[i], count)) classes[count++] = all[i];
    return count;
}

static void take_back(simplifier *s, uint32_t number) {
    kept *k = &s->list.data[number - 1];
    k->removed = true;
    for (uint32_t i = 0; i < k->count; i++) s->last[k->classes[i]] = k->before[i];
}

/* Whether nothing is left to do for the call; what it undoes is taken back. */
static bool is_without_effect(simplifier *s, const hg_circuit_call *call) {
    if (call->kind == HG_CIRCUIT_QUOTE || call->kind == HG_CIRCUIT_EVALUATE) return true;
    bool moves = call->kind == HG_CIRCUIT_COPY || call->kind == HG_CIRCUIT_SWAP;
    if (moves && call->src == call->dst) return true;
    if (!moves && call->kind != HG_CIRCUIT_MARK) return false;
    uint32_t number = s->last[call->kind == HG_CIRCUIT_COPY ? call->dst : call->src];
    if (!number) return false;
    const hg_circuit_call *other = &s->list.data[number - 1].call;
    if (other->kind != call->kind) return false;
    if (call->kind == HG_CIRCUIT_COPY) /* the same copy, and its source has not changed since */
        return other->src == call->src && other->dst == call->dst &&
               s->last_write[call->src] < number;
    bool same = other->src == call->src &&
                (call->kind == HG_CIRCUIT_MARK || other->dst == call->dst);
    bool turned = call->kind == HG_CIRCUIT_SWAP && other->src == call->dst &&
                  other->dst == call->src;
    if ((!same && !turned) || (call->kind == HG_CIRCUIT_SWAP && s->last[call->dst] != number))
        return false;
    take_back(s, number);
    return true;
}

static bool keep(simplifier *s, const hg_circuit_call *call) {
    if (is_without_effect(s, call)) return true;
    kept *k = hg_vec_push(&s->list);
    if (!k) return false;
    uint32_t number = (uint32_t)s->list.count;
    k->call = *call;
    k->count = touched(call, k->classes);
    for (uint32_t i = 0; i < k->count; i++) {
        k->before[i] = s->last[k->classes[i]];
        s->last[k->classes[i]] = number;
    }
    uint8_t written[2];
    uint32_t n = hg_call_writes(call, written);
    for (uint32_t i = 0; i < n; i++) s->last_write[written[i]] = number;
    return true;
}

static bool is_double(const hg_circuit_call *c) {
    return c->kind == HG_CIRCUIT_MERGE && c->src == c->context && c->src == c->dst;
}

/* Lengthens the range that `last` is or could become by the next class. */
static bool extend(hg_circuit_call *last, const hg_circuit_call *call) {
    bool mark = call->kind == HG_CIRCUIT_MARK;
    if ((!mark && !is_double(call)) || call->src == 0) return false;
    uint8_t range = mark ? HG_CIRCUIT_MARK_RANGE : HG_CIRCUIT_MERGE_RANGE;
    bool single = last->kind == call->kind && (mark || is_double(last));
    if (last->kind != range && !single) return false;
    if ((single ? last->src : last->dst) + 1 != call->src ||
        (!mark && last->variant != call->variant))
        return false;
    last->kind = range;
    last->dst = call->src;
    return true;
}

/* A member takes a `kept`, and lowered an instruction at least: far more than a program may have
 * are not looked at. */
static bool is_too_much(const hg_circuit *circuit) {
    uint64_t members = 0;
    for (uint64_t i = 0; i < circuit->calls.count; i++)
        members += hg_call_count(&circuit->calls.data[i]);
    return members > MOST_MEMBERS;
}

hg_status hg_circuit_simplify(hg_circuit *circuit) {
    hg_circuit_class_use(circuit, circuit->use);
    if (is_too_much(circuit)) return HG_OK;
    simplifier *s = hg_calloc(1, sizeof *s);
    bool good = s != NULL;
    for (uint64_t i = 0; good && i < circuit->calls.count; i++)
        for (uint32_t m = 0; good && m < hg_call_count(&circuit->calls.data[i]); m++) {
            hg_circuit_call one = hg_call_member(&circuit->calls.data[i], m);
            good = keep(s, &one);
        }
    if (good) { /* at most as many as were kept, which is more than the calls only where ranges fell
                   apart */
        hg_circuit_call *calls = hg_calloc((size_t)s->list.count + 1, sizeof *calls);
        uint64_t count = 0;
        good = calls != NULL;
        for (uint64_t i = 0; good && i < s->list.count; i++) {
            const kept *k = &s->list.data[i];
            if (!k->removed && !(count && extend(&calls[count - 1], &k->call)))
                calls[count++] = k->call;
        }
        if (good && count <= circuit->calls.count) {
            hg_vec_free(&circuit->calls);
            circuit->calls.data = calls;
            circuit->calls.count = count;
            circuit->calls.capacity = s->list.count + 1;
        } else {
            hg_free(calls);
        }
    }
    if (s) hg_vec_free(&s->list);
    hg_free(s);
    return good ? HG_OK : hg_fail_memory();
}

/* The verifier against two oracles that know nothing of dataflow, on random small programs:
 *   types    every path through the program is walked with concrete types and call stacks; a
 * program verifies exactly when no path reads an unset register, a register of another type, an
 * unset predicate, returns without a call, or calls recursively uniform  several lanes run the
 * program with real values; where it verifies they must meet the same whole-array instructions, and
 *            lanes of a block the same barriers until they stop */
#include "test.h"
#include "isa/cfg.h"
#include "support/sanitized.h"
#include <hologram/builder.h>

#include <stdlib.h>

static uint64_t seed;
static uint32_t random_below(uint32_t n) { /* splitmix64, Steele, Lea, Flood 2014 */
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}
static uint8_t pick_reg(void) { return (uint8_t)random_below(4); }

/* ---- types ---- */

enum { MAX_INSTS = 16, MAX_DEPTH = 12, MAX_STATES = 8000, UNSET = 2 };
static const hg_type TYPES[2] = {HG_TYPE_U32, HG_TYPE_F32};

/* A program in parts: the first is the program itself, the others functions. Branches stay inside
 * their part and calls go to later parts, but for a few that go anywhere. */
enum { MAX_PARTS = 3 };
typedef struct layout {
    hg_builder *b;
    hg_label labels[MAX_INSTS * 2 + 1];
    uint32_t total, parts, first[MAX_PARTS + 1], part;
} layout;

static void begin_layout(layout *l, const char *name, uint32_t total) {
    l->b = hg_builder_create(name);
    l->total = total;
    l->parts = 1 + random_below(MAX_PARTS);
    for (uint32_t i = 0; i <= l->parts; i++) l->first[i] = i * total / l->parts;
    for (uint32_t i = 0; i <= total; i++) l->labels[i] = hg_builder_label(l->b);
}
static hg_label branch_target(const layout *l) {
    if (random_below(20) == 0) return l->labels[random_below(l->total + 1)];
    uint32_t first = l->first[l->part], size = l->first[l->part + 1] - first;
    return l->labels[first + random_below(size)];
}
static hg_label call_target(const layout *l) {
    if (random_below(30) == 0) return l->labels[random_below(l->total + 1)];
    uint32_t later = l->parts - 1 - l->part;
    return later ? l->labels[l->first[l->part + 1 + random_below(later)]] : l->labels[l->total];
}
/* The last instruction of a part. */
static void end_part(const layout *l) {
    if (random_below(25) == 0)
        hg_build_memfence_block(l->b); /* runs into what follows */
    else if (l->part == 0 || random_below(12) == 0)
        hg_build_exit(l->b);
    else
        hg_build_ret(l->b);
}
static hg_program *end_layout(layout *l, void (*add)(layout *)) {
    for (l->part = 0; l->part < l->parts; l->part++)
        for (uint32_t i = l->first[l->part]; i < l->first[l->part + 1]; i++) {
            hg_builder_place(l->b, l->labels[i]);
            if (i + 1 < l->first[l->part + 1])
                add(l);
            else
                end_part(l);
        }
    hg_builder_place(l->b, l->labels[l->total]);
    hg_program *p = NULL;
    CHECK(hg_builder_build(l->b, NULL, &p) == HG_OK);
    hg_builder_destroy(l->b);
    return p;
}

/* Registers 0 and 2 usually hold u32, 1 and 3 f32. */
static uint8_t reg_for(hg_type t) {
    return random_below(25) == 0 ? pick_reg() : (uint8_t)(2 * random_below(2) + (t == HG_TYPE_F32));
}

static void add_typed(layout *l) {
    hg_builder *b = l->b;
    hg_type t = TYPES[random_below(2)];
    uint8_t pred = (uint8_t)(random_below(4) == 0), d = reg_for(t), x = reg_for(t), y = reg_for(t);
    switch (random_below(10)) {
    case 0:
    case 1: hg_build_mov_imm(b, t, d, t == HG_TYPE_U32 ? hg_imm_u64(1) : hg_imm_f64(1)); break;
    case 2: hg_build_mov(b, t, d, x); break;
    case 3: hg_build_add(b, t, d, x, y); break;
    case 4: hg_build_setlt(b, t, pred, x, y); break;
    case 5: hg_build_sel(b, t, d, pred, x, y); break;
    case 6: hg_build_bra_if(b, pred, branch_target(l)); break;
    case 7:
        random_below(3) ? hg_build_loop(b, reg_for(HG_TYPE_U32), branch_target(l))
                        : hg_build_bra(b, branch_target(l));
        break;
    default: hg_build_call(b, call_target(l)); break;
    }
}

static hg_program *random_typed(void) {
    layout l;
    begin_layout(&l, "t", 4 + random_below(MAX_INSTS - 4));
    hg_builder_param_scalar(l.b, 0, "a", HG_TYPE_U32);
    hg_builder_param_scalar(l.b, 1, "x", HG_TYPE_F32);
    if (random_below(3) == 0) hg_builder_param_scalar(l.b, 2, "c", HG_TYPE_U32);
    if (random_below(3) == 0) hg_builder_param_scalar(l.b, 3, "y", HG_TYPE_F32);
    return end_layout(&l, add_typed);
}

typedef struct state {
    uint8_t pc, depth, preds, types[4], back[MAX_DEPTH], entry[MAX_DEPTH + 1];
} state;

static state queue[MAX_STATES];
static uint32_t queued, table[4 * MAX_STATES];
static bool too_many;

static void reach(const state *s) {
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof *s; i++) h = (h ^ ((const uint8_t *)s)[i]) * 1099511628211u;
    uint32_t at = (uint32_t)((h ^ h >> 29) % (4 * MAX_STATES));
    for (; table[at]; at = (at + 1) % (4 * MAX_STATES))
        if (memcmp(&queue[table[at] - 1], s, sizeof *s) == 0) return;
    if (queued == MAX_STATES) {
        too_many = true;
        return;
    }
    queue[queued++] = *s;
    table[at] = queued;
}

typedef struct verdict {
    bool bad, unknown, no_return;
} verdict;

static bool is(const state *s, uint8_t reg, uint8_t type) {
    return s->types[reg] == (type == HG_TYPE_U32 ? 0 : 1);
}

/* Follows one state; false when the program does something wrong there. */
static bool follow(const hg_program *p, state s, bool *returned) {
    if (s.pc >= p->inst_count) return true;
    const hg_inst *in = &p->insts[s.pc];
    const hg_operand *o = hg_inst_operands(p, s.pc);
    uint8_t t = in->type == HG_TYPE_U32 ? 0 : 1;
    s.pc++;
    switch (in->op) {
    case HG_OP_MOV_IMM: s.types[o[0].reg] = t; break;
    case HG_OP_MOV:
        if (!is(&s, o[1].reg, in->type)) return false;
        s.types[o[0].reg] = t;
        break;
    case HG_OP_ADD:
        if (!is(&s, o[1].reg, in->type) || !is(&s, o[2].reg, in->type)) return false;
        s.types[o[0].reg] = t;
        break;
    case HG_OP_SET:
        if (!is(&s, o[2].reg, in->type) || !is(&s, o[3].reg, in->type)) return false;
        s.preds |= (uint8_t)(1u << o[1].reg);
        break;
    case HG_OP_SEL:
        if (!(s.preds >> o[1].reg & 1) || !is(&s, o[2].reg, in->type) ||
            !is(&s, o[3].reg, in->type))
            return false;
        s.types[o[0].reg] = t;
        break;
    case HG_OP_BRA:
        if (o[0].reg != 255) {
            if (!(s.preds >> o[0].reg & 1)) return false;
            reach(&s);
        }
        s.pc = (uint8_t)o[1].value;
        break;
    case HG_OP_LOOP:
        if (!is(&s, o[0].reg, HG_TYPE_U32)) return false;
        reach(&s);
        s.pc = (uint8_t)o[1].value;
        break;
    case HG_OP_CALL:
        for (uint32_t i = 0; i <= s.depth; i++)
            if (s.entry[i] == o[0].value) return false;
        if (s.depth == MAX_DEPTH) {
            too_many = true;
            return true;
        }
        s.back[s.depth++] = s.pc;
        s.pc = s.entry[s.depth] = (uint8_t)o[0].value;
        break;
    case HG_OP_RET:
        if (s.depth == 0) return false;
        s.entry[s.depth--] = 0;
        s.pc = s.back[s.depth];
        s.back[s.depth] = 0;
        returned[s.pc - 1] = true;
        break;
    case HG_OP_MEMFENCE: break;
    default: return true; /* exit */
    }
    reach(&s);
    return true;
}

static verdict walk(const hg_program *p) {
    verdict v = {false, false, false};
    bool called[MAX_INSTS] = {false}, returned[MAX_INSTS] = {false};
    state start;
    memset(&start, 0, sizeof start);
    memset(start.types, UNSET, sizeof start.types);
    for (uint32_t i = 0; i < p->param_count; i++)
        start.types[p->params[i].reg] = p->params[i].type == HG_TYPE_U32 ? 0 : 1;
    memset(table, 0, sizeof table);
    queued = 0;
    too_many = false;
    reach(&start);
    for (uint32_t i = 0; i < queued && !v.bad; i++) {
        if (queue[i].pc < p->inst_count && p->insts[queue[i].pc].op == HG_OP_CALL)
            called[queue[i].pc] = true;
        v.bad = !follow(p, queue[i], returned);
    }
    for (uint32_t i = 0; i < MAX_INSTS; i++) v.no_return |= called[i] && !returned[i];
    v.unknown = too_many && !v.bad;
    return v;
}

static void test_types(uint32_t count) {
    uint32_t accepted = 0, rejected = 0, with_calls = 0;
    for (uint32_t i = 0; i < count; i++) {
        seed = i * 0x1234567u + 1;
        hg_program *p = random_typed();
        verdict v = walk(p);
        hg_status status = hg_program_verify(p, NULL);
        if (status == HG_OK) {
            accepted++;
            for (uint32_t k = 0; k < p->inst_count; k++)
                if (p->insts[k].op == HG_OP_CALL) {
                    with_calls++;
                    break;
                }
            CHECK_MESSAGE(!v.bad, "program %u verifies, but a path of it is wrong", (unsigned)i);
        } else if (!v.unknown && !(v.no_return && !v.bad)) {
            rejected++; /* code behind a call that never returns is checked although no path gets
                           there */
            CHECK_MESSAGE(v.bad, "program %u: \"%s\", but no path of it is wrong", (unsigned)i,
                          hg_last_error()->message);
        }
        hg_program_release(p);
    }
    CHECK_MESSAGE(accepted > count / 50 && rejected > count / 10 && with_calls > count / 200,
                  "accepted %u (with calls %u), rejected %u of %u", (unsigned)accepted,
                  (unsigned)with_calls, (unsigned)rejected, (unsigned)count);
}

/* ---- uniform ---- */

enum { LANES = 6, BLOCK = 3, FUEL = 300, MAX_TRACE = 64 };

static void add_step(layout *l) {
    hg_builder *b = l->b;
    switch (random_below(14)) {
    case 0: hg_build_mov_imm(b, HG_TYPE_U32, pick_reg(), hg_imm_u64(random_below(4))); break;
    case 1: hg_build_mov(b, HG_TYPE_U32, pick_reg(), (uint8_t)(252 + random_below(3))); break;
    case 2: hg_build_add(b, HG_TYPE_U32, pick_reg(), pick_reg(), pick_reg()); break;
    case 3: hg_build_and(b, HG_TYPE_U32, pick_reg(), pick_reg(), pick_reg()); break;
    case 4:
    case 5:
        hg_build_setltu(b, HG_TYPE_U32, (uint8_t)random_below(2), pick_reg(), pick_reg());
        break;
    case 6:
    case 7: hg_build_bra_if(b, (uint8_t)random_below(2), branch_target(l)); break;
    case 8: hg_build_loop(b, pick_reg(), branch_target(l)); break;
    case 9: hg_build_call(b, call_target(l)); break;
    case 10: random_below(2) ? hg_build_exit(b) : hg_build_call(b, call_target(l)); break;
    case 11: hg_build_pool_free_const(b, 7); break;
    case 12: hg_build_bar_sync(b, 0); break;
    default:
        random_below(2) ? hg_build_bar_sync(b, 1)
                        : hg_build_pool_alloc_const(b, 9, hg_count_reg(pick_reg()));
        break;
    }
}

static hg_program *random_lanes(void) {
    layout l;
    begin_layout(&l, "u", 5 + random_below(2 * MAX_INSTS - 5));
    hg_build_mov_imm(l.b, HG_TYPE_U32, 0, hg_imm_u64(random_below(3)));
    hg_build_mov(l.b, HG_TYPE_U32, 1, 252);
    hg_build_mov(l.b, HG_TYPE_U32, 2, random_below(2) ? 253 : 254);
    hg_build_mov_imm(l.b, HG_TYPE_U32, 3, hg_imm_u64(1));
    hg_build_setltu(l.b, HG_TYPE_U32, 0, (uint8_t)random_below(4), 254);
    hg_build_setltu(l.b, HG_TYPE_U32, 1, 3, 2);
    return end_layout(&l, add_step);
}

typedef struct trace {
    uint32_t count;
    uint64_t met[MAX_TRACE];
} trace;
typedef struct lane {
    uint32_t r[256];
    bool p[2], stopped;
    trace collectives, barriers;
} lane;

static void meet(trace *t, uint64_t what) {
    if (t->count < MAX_TRACE) t->met[t->count++] = what;
}

static void run_lane(const hg_program *p, uint32_t number, lane *l) {
    uint32_t back[16], depth = 0, pc = 0;
    memset(l, 0, sizeof *l);
    l->r[252] = number % BLOCK;
    l->r[253] = number / BLOCK;
    l->r[254] = BLOCK;
    for (uint32_t fuel = 0; fuel < FUEL; fuel++) {
        if (pc >= p->inst_count || p->insts[pc].op == HG_OP_EXIT) {
            l->stopped = true;
            return;
        }
        const hg_operand *o = hg_inst_operands(p, pc);
        uint32_t at = pc++;
        switch (p->insts[at].op) {
        case HG_OP_MOV_IMM: memcpy(&l->r[o[0].reg], hg_literal(p, &o[1]), 4); break;
        case HG_OP_MOV: l->r[o[0].reg] = l->r[o[1].reg]; break;
        case HG_OP_ADD: l->r[o[0].reg] = l->r[o[1].reg] + l->r[o[2].reg]; break;
        case HG_OP_AND: l->r[o[0].reg] = l->r[o[1].reg] & l->r[o[2].reg]; break;
        case HG_OP_SET: l->p[o[1].reg] = l->r[o[2].reg] < l->r[o[3].reg]; break;
        case HG_OP_BRA:
            if (o[0].reg == 255 || l->p[o[0].reg]) pc = (uint32_t)o[1].value;
            break;
        case HG_OP_LOOP:
            if (l->r[o[0].reg]) {
                l->r[o[0].reg]--;
                pc = (uint32_t)o[1].value;
            }
            break;
        case HG_OP_CALL:
            back[depth++ & 15] = pc;
            pc = (uint32_t)o[0].value;
            break;
        case HG_OP_RET: pc = back[--depth & 15]; break;
        case HG_OP_MEMFENCE: break;
        case HG_OP_BAR_SYNC: meet(&l->barriers, at); break;
        case HG_OP_POOL_FREE_CONST: meet(&l->collectives, at); break;
        default: meet(&l->collectives, at + ((uint64_t)l->r[o[1].reg] << 32)); break;
        }
    }
}

/* One is the beginning of the other; equal when both lanes came to their end and `whole`. */
static bool agree(const trace *a, const trace *b, bool whole) {
    uint32_t n = a->count < b->count ? a->count : b->count;
    return memcmp(a->met, b->met, n * sizeof *a->met) == 0 && (!whole || a->count == b->count);
}

static void test_uniform(uint32_t count) {
    uint32_t accepted = 0, interesting = 0, rejected = 0, really_bad = 0;
    static lane lanes[LANES];
    for (uint32_t i = 0; i < count; i++) {
        seed = i * 0x7654321u + 5;
        hg_program *p = random_lanes();
        hg_status status = hg_program_verify(p, NULL);
        const char *code = hg_last_error()->code;
        bool relevant = status == HG_OK || strcmp(code, "V08") == 0 || strcmp(code, "V09") == 0 ||
                        strcmp(code, "V10") == 0;
        if (relevant) {
            bool collectives = true, barriers = true, differs = false;
            for (uint32_t k = 0; k < LANES; k++) {
                run_lane(p, k, &lanes[k]);
                collectives &= agree(&lanes[0].collectives, &lanes[k].collectives,
                                     lanes[0].stopped && lanes[k].stopped);
                barriers &= agree(&lanes[k / BLOCK * BLOCK].barriers, &lanes[k].barriers, false);
                differs |= !agree(&lanes[0].barriers, &lanes[k].barriers, true);
            }
            if (status == HG_OK) {
                accepted++;
                interesting += differs || lanes[0].collectives.count > 1;
                CHECK_MESSAGE(
                    collectives,
                    "program %u verifies, but lanes meet different whole-array instructions",
                    (unsigned)i);
                CHECK_MESSAGE(barriers,
                              "program %u verifies, but lanes of a block meet different barriers",
                              (unsigned)i);
            } else {
                rejected++;
                really_bad += !collectives || !barriers;
            }
        }
        hg_program_release(p);
    }
    CHECK_MESSAGE(accepted > count / 50 && interesting > count / 200 && really_bad > count / 50,
                  "accepted %u (%u of interest), rejected %u, of those wrong %u, of %u",
                  (unsigned)accepted, (unsigned)interesting, (unsigned)rejected,
                  (unsigned)really_bad, (unsigned)count);
}

int main(int argc, char **argv) { /* argument: how many programs of each kind */
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10)
                              : (uint32_t)rounds_here(20000, 1500);
    test_types(count);
    test_uniform(count);
    return test_done();
}

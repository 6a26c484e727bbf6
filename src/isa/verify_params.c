/* Parameters used against their declaration: V11 (store to an `in` array), V12 (handle used as a
 * flat address), V15 (elements of another type; a warning).
 *
 * Follows the handles of .param lines through registers: each tracked register holds, on every
 * path, what a tracked register held when the function began, or something else. Who calls a
 * function with what is worked out afterwards, callers first.
 * Requires: hg_cfg_build. Provides: errors and warnings only. */
#include "isa/verify_internal.h"

#include <stdio.h>
#include <string.h>

enum { OTHER = 0xFF, MAX_TRACKED = OTHER };

typedef struct handles {
    hg_check *check;
    const hg_cfg *cfg;
    const hg_program *program;
    uint32_t count;              /* tracked registers */
    uint8_t slot[256], reg[256]; /* register → slot or OTHER; slot → register */
    bool moves;                  /* some tracked register is written */
    uint8_t **in;                /* function → block states, count bytes each */
    uint8_t **out;               /* function → state over its returns; NULL: none */
    uint8_t *dirty;
    uint16_t *bound; /* function × slot → parameter + 1, 0: no parameter's handle, or UNKNOWN */
} handles;
enum { UNKNOWN = 0xFFFF, NOT_SEEN = 0xFE };

static bool is_handle(const hg_param *p) { return p->kind != HG_PARAM_SCALAR; }

/* ---- which registers to track: handles, and where mov takes them ---- */

static void track(handles *h, uint8_t reg) {
    if (h->slot[reg] != OTHER || h->count >= NOT_SEEN) return;
    h->slot[reg] = (uint8_t)h->count;
    h->reg[h->count++] = reg;
}

static bool is_move(const hg_inst *in) { return in->op == HG_OP_MOV && in->type == HG_TYPE_U64; }

static bool find_tracked(handles *h) {
    const hg_program *p = h->program;
    uint64_t(*moves)[4] = hg_check_alloc(h->check, 256, sizeof *moves); /* source → destinations */
    if (!moves) return false;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        if (!is_move(&p->insts[i])) continue;
        const hg_operand *o = hg_inst_operands(p, i);
        moves[o[1].reg][o[0].reg / 64] |= (uint64_t)1 << (o[0].reg % 64);
    }
    memset(h->slot, OTHER, sizeof h->slot);
    for (uint32_t i = 0; i < p->param_count; i++)
        if (is_handle(&p->params[i])) track(h, p->params[i].reg);
    for (uint32_t s = 0; s < h->count; s++)
        for (uint32_t r = 0; r < 256; r++)
            if (moves[h->reg[s]][r / 64] >> (r % 64) & 1) track(h, (uint8_t)r);
    return h->count != 0;
}

/* ---- states ---- */

static void step(const handles *h, uint32_t inst, uint8_t *state) {
    const hg_inst *in = &h->program->insts[inst];
    const hg_operand *o = hg_inst_operands(h->program, inst);
    if (is_move(in)) {
        if (h->slot[o[0].reg] != OTHER)
            state[h->slot[o[0].reg]] = h->slot[o[1].reg] == OTHER ? (uint8_t)OTHER
                                                                  : state[h->slot[o[1].reg]];
        return;
    }
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    for (uint32_t k = 0; k < row->operand_count; k++)
        if (row->operands[k].kind == HG_K_REG && (row->operands[k].access & HG_WRITE) &&
            h->slot[o[k].reg] != OTHER)
            state[h->slot[o[k].reg]] = OTHER;
}

static void call(const handles *h, uint32_t callee, uint8_t *state) {
    const uint8_t *out = h->out[callee];
    if (!out) return;
    uint8_t before[MAX_TRACKED];
    memcpy(before, state, h->count);
    for (uint32_t s = 0; s < h->count; s++)
        state[s] = out[s] == OTHER ? (uint8_t)OTHER : before[out[s]];
}

static bool join(uint8_t *to, const uint8_t *from, uint32_t n) {
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t v = to[i] == NOT_SEEN || to[i] == from[i] ? from[i] : (uint8_t)OTHER;
        changed |= v != to[i];
        to[i] = v;
    }
    return changed;
}

static bool run_block(handles *h, uint32_t f, uint32_t b, uint8_t *state) {
    const hg_function *fn = &h->cfg->functions[f];
    const hg_block *block = &fn->blocks[b];
    memcpy(state, h->in[f] + (uint64_t)b * h->count, h->count);
    for (uint32_t i = block->first; i < block->last; i++) step(h, i, state);
    if (block->exit == HG_EXIT_CALL) call(h, block->callee, state);
    if (block->exit == HG_EXIT_RET) {
        if (!h->out[f]) {
            h->out[f] = hg_check_alloc(h->check, h->count, 1);
            if (!h->out[f]) return false;
            memset(h->out[f], NOT_SEEN, h->count);
        }
        join(h->out[f], state, h->count);
    }
    bool again = false;
    for (int k = 0; k < 2; k++) {
        uint32_t to = block->succ[k];
        if (to == HG_NO_BLOCK || !join(h->in[f] + (uint64_t)to * h->count, state, h->count))
            continue;
        h->dirty[to] = 1;
        again |= to <= b;
    }
    return again;
}

static void run_function(handles *h, uint32_t f) {
    uint32_t n = h->cfg->functions[f].block_count;
    uint8_t state[MAX_TRACKED];
    h->in[f] = hg_check_alloc(h->check, (uint64_t)n * h->count, 1);
    h->dirty = hg_check_alloc(h->check, n, 1);
    if (h->check->out_of_memory) return;
    memset(h->in[f], NOT_SEEN, (size_t)n * h->count);
    for (uint32_t s = 0; s < h->count; s++) h->in[f][s] = (uint8_t)s;
    h->dirty[0] = 1;
    for (bool again = true; again && !h->check->out_of_memory;) {
        again = false;
        for (uint32_t b = 0; b < n; b++) {
            if (!h->dirty[b]) continue;
            h->dirty[b] = 0;
            again |= run_block(h, f, b, state);
        }
    }
}

/* ---- checks ---- */

/* The parameter whose handle a register holds on every path; NULL: none. */
static const hg_param *holds(const handles *h, uint32_t f, uint8_t reg, const uint8_t *state) {
    if (h->slot[reg] == OTHER || state[h->slot[reg]] >= NOT_SEEN) return NULL;
    uint16_t bound = h->bound[(uint64_t)f * h->count + state[h->slot[reg]]];
    return bound == 0 || bound == UNKNOWN ? NULL : &h->program->params[bound - 1];
}

static void check_operand(const handles *h, uint32_t inst, uint32_t k, const hg_operand *o,
                          const hg_param *p, bool writes) {
    bool buffer = p->kind != HG_PARAM_POOL;
    const char *kind = p->kind == HG_PARAM_SCRATCH ? "scratch"
                       : p->kind == HG_PARAM_DATA  ? "table"
                       : buffer                    ? "buffer"
                                                   : "pool",
               *place = buffer ? "buf" : "pool";
    if (o->place == HG_PLACE_FLAT) {
        uint64_t size = o->disp < 0 ? 0 - (uint64_t)o->disp : (uint64_t)o->disp;
        hg_check_error(h->check, "V12", inst, (int)k, NULL,
                       "r%u holds the %s '%s': write [%s(r%u) %c %llu] or %s%u%s", (unsigned)o->reg,
                       kind, p->name, place, (unsigned)o->reg, o->disp < 0 ? '-' : '+',
                       (unsigned long long)size, buffer ? "[r" : "[pool(r", (unsigned)o->reg,
                       buffer ? " + rN]" : ") + rN]");
    } else if (writes && p->kind == HG_PARAM_DATA &&
               (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_BARE)) {
        hg_check_error(h->check, "V11", inst, (int)k, "copy it to a .scratch first",
                       "store to '%s', a table of the program", p->name);
    } else if (writes && buffer && p->dir == HG_DIR_IN &&
               (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_BARE)) {
        hg_check_error(h->check, "V11", inst, (int)k, "declare it inout or out",
                       "store to '%s', an 'in' parameter", p->name);
    }
}

/* Whether an access of one type to an array of another may be meant: signed and unsigned; bytes,
 * which are anything; words of a wide integer, or a wide integer of words; the bits of a float as
 * an integer of its size. */
static bool may_be_meant(hg_type access, hg_type array) {
    uint64_t m = hg_type_size_bytes(access), n = hg_type_size_bytes(array);
    bool integers = hg_type_is_integer(access) && hg_type_is_integer(array);
    if (access == HG_TYPE_U8 || array == HG_TYPE_U8) return true;
    return m == n ? hg_type_is_integer(access) : integers && (m > 8 || n > 8);
}

static void check_element(const handles *h, uint32_t inst, const hg_param *p, hg_type type) {
    bool buffer = p->kind == HG_PARAM_BUFFER || p->kind == HG_PARAM_SCRATCH ||
                  p->kind == HG_PARAM_DATA;
    if (!buffer || type >= HG_TYPE_COUNT || type == p->type || may_be_meant(type, (hg_type)p->type))
        return;
    char hint[64];
    snprintf(hint, sizeof hint, "declare it %s, or as u8 when its bytes are meant",
             hg_type_name(type));
    hg_check_warning(h->check, "V15", inst, hint, "elements of type %s in '%s', an array of %s",
                     hg_type_name(type), p->name, hg_type_name((hg_type)p->type));
}

static void check_instruction(const handles *h, uint32_t f, uint32_t inst, const uint8_t *state) {
    const hg_op_info *row = hg_op_get((hg_op)h->program->insts[inst].op);
    const hg_operand *o = hg_inst_operands(h->program, inst);
    for (uint32_t k = 0; k < row->operand_count; k++) {
        if (row->operands[k].kind != HG_K_ADDRESS && row->operands[k].kind != HG_K_ARRAY) continue;
        if (o[k].place != HG_PLACE_FLAT && o[k].place != HG_PLACE_BUF_REG &&
            o[k].place != HG_PLACE_BARE)
            continue;
        const hg_param *p = holds(h, f, o[k].reg, state);
        if (!p) continue;
        check_operand(h, inst, k, &o[k], p, (row->operands[k].access & HG_WRITE) != 0);
        if (o[k].place != HG_PLACE_FLAT)
            check_element(h, inst, p,
                          hg_element_type(h->program->insts[inst].type,
                                          h->program->insts[inst].type2, &row->operands[k]));
    }
}

/* What a call passes on: every caller has to agree. */
static void bind_callee(const handles *h, uint32_t f, uint32_t callee, const uint8_t *state) {
    for (uint32_t s = 0; s < h->count; s++) {
        uint16_t *to = &h->bound[(uint64_t)callee * h->count + s];
        uint16_t from = state[s] >= NOT_SEEN ? 0 : h->bound[(uint64_t)f * h->count + state[s]];
        *to = *to == UNKNOWN || *to == from ? from : 0;
    }
}

static void check_function(handles *h, uint32_t f, bool bind) {
    const hg_function *fn = &h->cfg->functions[f];
    uint8_t state[MAX_TRACKED];
    for (uint32_t s = 0; s < h->count; s++) state[s] = (uint8_t)s;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        if (h->moves) memcpy(state, h->in[f] + (uint64_t)b * h->count, h->count);
        for (uint32_t i = fn->blocks[b].first; i < fn->blocks[b].last; i++) {
            if (!bind) check_instruction(h, f, i, state);
            if (h->moves) step(h, i, state);
        }
        if (bind && fn->blocks[b].exit == HG_EXIT_CALL)
            bind_callee(h, f, fn->blocks[b].callee, state);
    }
}

static bool writes_tracked(const handles *h) {
    const hg_program *p = h->program;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        const hg_operand *o = hg_inst_operands(p, i);
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (row->operands[k].kind == HG_K_REG && (row->operands[k].access & HG_WRITE) &&
                h->slot[o[k].reg] != OTHER)
                return true;
    }
    return false;
}

void hg_check_params(hg_check *c, hg_cfg *cfg) {
    handles h = {.check = c, .cfg = cfg, .program = c->program};
    uint32_t n = cfg->function_count;
    if (!find_tracked(&h)) return;
    h.moves = writes_tracked(&h);
    h.in = hg_check_alloc(c, n, sizeof *h.in);
    h.out = hg_check_alloc(c, n, sizeof *h.out);
    h.bound = hg_check_alloc(c, (uint64_t)n * h.count, sizeof *h.bound);
    if (c->out_of_memory) return;
    for (uint32_t i = 0; h.moves && i < n && !c->out_of_memory; i++)
        run_function(&h, cfg->bottom_up[i]);
    if (c->out_of_memory) return;
    for (uint64_t i = 0; i < (uint64_t)n * h.count; i++) h.bound[i] = i < h.count ? 0 : UNKNOWN;
    for (uint32_t i = 0; i < c->program->param_count; i++)
        if (is_handle(&c->program->params[i]) && h.slot[c->program->params[i].reg] != OTHER)
            h.bound[h.slot[c->program->params[i].reg]] = (uint16_t)(i + 1);
    for (uint32_t i = n; i-- > 0;) check_function(&h, cfg->bottom_up[i], true);
    for (uint32_t f = 0; f < n; f++) check_function(&h, f, false);
}

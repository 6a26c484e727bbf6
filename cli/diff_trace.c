/* Rewrites a program so that it records what every instruction gives: after each, the result goes
 * to a place of the lane's own and into a running hash, which stops changing after `limit` results.
 * Two devices whose hashes agree up to a limit computed the same so far, so the first difference is
 * found by halving the limit, loops and calls included. Before and after every whole-array
 * instruction the program can stop. No branch depends on what is recorded; the program's own values
 * are not touched.
 * Must not know: devices. */
#include "diff.h"
#include <stdio.h>
#include <string.h>

enum {
    AT_HASH = 0,
    AT_COUNT = 8,
    AT_INSTRUCTION = 16,
    AT_STEPS = 24,
    AT_STEP_INSTRUCTION = 32,
    AT_VALUE = DIFF_EVENT_BYTES
};
/* Any odd number with its bits well mixed makes the step of the hash a permutation: here the golden
 * ratio of 2^64. */
#define MULTIPLIER "0x9e3779b97f4a7c15"

/* Registers that the program does not use. */
typedef enum spare {
    RECORDS,
    LIMIT,
    STEP_LIMIT,
    LANE,
    CAPTURE, /* parameters */
    BASE,
    COUNT,
    HASH,
    INSTRUCTION,
    STEPS,
    WORD,
    MIXED,
    VALUE,
    FACTOR,
    SHIFT,
    ZERO,
    ONE,
    CAPTURE_AT,
    CAPTURE_NOW,
    EXECUTIONS,
    SPARE_REGISTERS
} spare;

typedef struct writer {
    hg_text text;
    const hg_program *p;
    unsigned r[SPARE_REGISTERS], pred;
    char stop[40];
    uint32_t capture;
    bool steps;               /* the program has whole-array instructions */
    const uint8_t *unordered; /* an instruction: its result depends on the order of lanes; NULL: no
                                 matter */
    diff_trace *trace;
} writer;

/* ---- what a program uses ---- */

typedef struct usage {
    uint8_t registers[256], predicates[16];
} usage;

static void use_operand(const hg_operand *o, const hg_operand_info *info, usage *u) {
    if (info->kind == HG_K_PRED && o->reg < 16) u->predicates[o->reg] = 1;
    if (info->kind == HG_K_REG || (info->kind == HG_K_COUNT && o->is_reg)) u->registers[o->reg] = 1;
    if (info->kind != HG_K_ADDRESS && info->kind != HG_K_ARRAY) return;
    if (o->place == HG_PLACE_FLAT || o->place == HG_PLACE_BUF_REG ||
        o->place == HG_PLACE_POOL_REG || o->place == HG_PLACE_BARE)
        u->registers[o->reg] = 1;
    if (o->has_index) u->registers[o->index] = 1;
}

static void use_items(const hg_program *p, const hg_operand *o, usage *u) {
    for (uint64_t i = 0; i < o->item_count; i++) {
        uint32_t count;
        const hg_tuple_item *counts = hg_tuple_counts(p, &hg_tuple(p, o)[i], &count);
        for (uint32_t k = 0; k < count; k++)
            if (counts[k].is_reg) u->registers[counts[k].reg] = 1;
    }
}

static void use_instruction(const hg_program *p, uint32_t inst, usage *u) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t k = 0; k < row->operand_count; k++) {
        use_operand(&o[k], &row->operands[k], u);
        if (row->operands[k].kind == HG_K_TUPLE || row->operands[k].kind == HG_K_TUPLES)
            use_items(p, &o[k], u);
    }
    if (!(row->flags & HG_F_RUN)) return;
    for (uint64_t i = 0; i < o[2].value && o[1].reg + i < 256; i++) u->registers[o[1].reg + i] = 1;
}

static bool find_spares(writer *w) {
    usage u = {.registers[252] = 1, .registers[253] = 1, .registers[254] = 1, .registers[255] = 1};
    for (uint32_t i = 0; i < w->p->param_count; i++) u.registers[w->p->params[i].reg] = 1;
    for (uint32_t i = 0; i < w->p->inst_count; i++) use_instruction(w->p, i, &u);
    uint32_t found = 0;
    for (unsigned r = 0; r < 256 && found < SPARE_REGISTERS; r++)
        if (!u.registers[r]) w->r[found++] = r;
    for (w->pred = 0; w->pred < 16 && u.predicates[w->pred];) w->pred++;
    return found == SPARE_REGISTERS && w->pred < 16;
}

/* A name that no parameter and no label has. */
static void fresh_name(const hg_program *p, const char *wish, char name[40]) {
    bool taken = true;
    for (unsigned n = 0; taken; n++) {
        snprintf(name, 40, n ? "diff_%s_%u" : "diff_%s", wish, n);
        taken = false;
        for (uint32_t i = 0; i < p->param_count; i++) taken |= strcmp(p->params[i].name, name) == 0;
        for (uint32_t i = 0; i < p->label_count; i++) taken |= strcmp(p->labels[i].name, name) == 0;
    }
}

/* The operand that an instruction writes, to a register or predicate; NULL: none. */
static const hg_operand *result_of(const hg_program *p, uint32_t inst,
                                   const hg_operand_info **info) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    if (row->flags & HG_F_CONTROL) return NULL; /* a loop's counter is seen through what it does */
    for (uint32_t k = 0; k < row->operand_count; k++) {
        *info = &row->operands[k];
        if (((*info)->kind == HG_K_REG || (*info)->kind == HG_K_PRED) &&
            ((*info)->access & HG_WRITE))
            return &o[k];
    }
    return NULL;
}

/* The type of a register operand, HG_TYPE_COUNT where the table leaves it open (u32 or u64). */
static uint8_t type_of(const hg_program *p, uint32_t inst, const hg_operand_info *info) {
    const hg_inst *in = &p->insts[inst];
    switch ((hg_type_rule)info->rule) {
    case HG_R_T: return in->type;
    case HG_R_T2: return in->type2;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U64: return HG_TYPE_U64;
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    case HG_R_ID: return (uint8_t)hg_idname_type((hg_idname)hg_inst_operands(p, inst)[1].value);
    default: return HG_TYPE_COUNT;
    }
}

/* ---- results that depend on the order of lanes ---- */

static bool is_atomic(uint16_t op) { return (hg_op_get((hg_op)op)->flags & HG_F_ATOMIC) != 0; }

static bool reads_any(const hg_program *p, uint32_t inst, const usage *of) {
    usage u = {0};
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t k = 0; k < row->operand_count; k++) {
        bool address = row->operands[k].kind == HG_K_ADDRESS || row->operands[k].kind == HG_K_ARRAY;
        if ((row->operands[k].access & HG_READ) || address)
            use_operand(&o[k], &row->operands[k], &u);
    }
    for (int i = 0; i < 256; i++)
        if (u.registers[i] && of->registers[i]) return true;
    for (int i = 0; i < 16; i++)
        if (u.predicates[i] && of->predicates[i]) return true;
    return false;
}

/* Atomics and everything that may be made of their old values, whatever the path: too much rather
 * than too little. */
static void mark_unordered(const hg_program *p, uint8_t *marks) {
    usage tainted = {0};
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < p->inst_count; i++) {
            const hg_operand_info *info;
            if (marks[i] || (!is_atomic(p->insts[i].op) && !reads_any(p, i, &tainted))) continue;
            const hg_operand *result = result_of(p, i, &info);
            marks[i] = 1;
            again = true;
            if (!result) continue;
            if (info->kind == HG_K_PRED)
                tainted.predicates[result->reg] = 1;
            else
                tainted.registers[result->reg] = 1;
        }
    }
}

/* ---- text ---- */

#define LINE(w, ...) hg_text_addf(&(w)->text, "    " __VA_ARGS__)

/* Directives of the canonical text: all lines before the first label or instruction, but for names,
 * which count instructions. */
static hg_status add_directives(hg_text *out, const hg_program *p, bool entry) {
    char *text = NULL;
    size_t length = 0;
    HG_TRY(hg_program_print(p, &text, &length));
    for (const char *at = text; *at == '.';) {
        const char *end = strchr(at, '\n');
        if (!end || end[-1] == ':') break;
        bool wanted = (entry || strncmp(at, ".entry ", 7) != 0) && strncmp(at, ".name ", 6) != 0;
        if (wanted) hg_text_add(out, at, (size_t)(end + 1 - at));
        at = end + 1;
    }
    hg_string_free(text);
    return HG_OK;
}

/* Every name that a branch may use for this place. */
static void add_labels(hg_text *out, const hg_program *p, uint32_t inst, uint32_t *label) {
    bool named = false;
    for (; *label < p->label_count && p->labels[*label].index <= inst; ++*label) {
        named = true;
        hg_text_addf(out, "%s:\n", p->labels[*label].name);
    }
    if (!named) hg_text_addf(out, ".L%u:\n", (unsigned)inst);
}

void diff_print_kept(hg_text *out, const hg_program *p, const uint8_t *keep) {
    uint32_t label = 0;
    if (add_directives(out, p, true) != HG_OK) out->failed = true;
    for (uint32_t i = 0; i <= p->inst_count; i++) {
        add_labels(out, p, i, &label);
        if (i == p->inst_count || !keep[i]) continue;
        hg_text_addf(out, "    ");
        hg_print_instruction(out, p, i);
        hg_text_addf(out, "\n");
    }
}

static void add_prologue(writer *w) {
    const unsigned *r = w->r;
    LINE(w, "rdid r%u, global_lane_id\n", r[BASE]);
    LINE(w, "mov_imm.u64 r%u, 0\n", r[ZERO]);
    LINE(w, "mov_imm.u64 r%u, 1\n", r[ONE]);
    if (w->capture != DIFF_NO_CAPTURE) {
        LINE(w, "mov_imm.u64 r%u, 0\n", r[EXECUTIONS]);
        LINE(w, "mov_imm.u64 r%u, %d\n", r[CAPTURE_NOW], DIFF_CAPTURE_BYTES); /* where nobody looks
                                                                               */
        LINE(w, "seteq.u64 p%u, r%u, r%u\n", w->pred, r[BASE], r[LANE]);
        LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", r[CAPTURE_AT], w->pred, r[ZERO], r[CAPTURE_NOW]);
    }
    LINE(w, "mov_imm.u64 r%u, %llu\n", r[WORD], (unsigned long long)w->trace->stride);
    LINE(w, "mul.u64 r%u, r%u, r%u\n", r[BASE], r[BASE], r[WORD]);
    LINE(w, "mov_imm.u64 r%u, " MULTIPLIER "\n", r[FACTOR]);
    LINE(w, "mov_imm.u32 r%u, 29\n", r[SHIFT]);
    LINE(w, "mov_imm.u64 r%u, 0\n", r[COUNT]);
    LINE(w, "mov_imm.u64 r%u, 0\n", r[HASH]);
    LINE(w, "mov_imm.u64 r%u, 0\n", r[STEPS]);
    LINE(w, "mov_imm.u64 r%u, 0\n", r[INSTRUCTION]);
    if (w->p->entry) {
        uint32_t label = 0;
        while (label < w->p->label_count && w->p->labels[label].index < w->p->entry) label++;
        if (label < w->p->label_count && w->p->labels[label].index == w->p->entry)
            LINE(w, "bra @%s\n", w->p->labels[label].name);
        else
            LINE(w, "bra @.L%u\n", (unsigned)w->p->entry);
    }
}

static void add_store(writer *w, const char *type, spare at, unsigned from, uint32_t offset,
                      spare buffer) {
    hg_text_addf(&w->text, "    stg%s%s [r%u + r%u + %u], r%u\n", *type ? "." : "", type,
                 w->r[buffer], w->r[at], (unsigned)offset, from);
}

/* Puts a value where the hash reads it; all NaNs become one, by integers: a device may have a NaN
 * of its own. */
static void add_value(writer *w, hg_type type, unsigned reg) {
    const unsigned *r = w->r;
    add_store(w, hg_type_name(type), BASE, reg, AT_VALUE, RECORDS);
    if (!hg_type_is_float(type)) return;
    const char *bits = hg_type_size_bytes(type) == 2   ? "u16"
                       : hg_type_size_bytes(type) == 4 ? "u32"
                                                       : "u64";
    LINE(w, "setne.%s p%u, r%u, r%u\n", hg_type_name(type), w->pred, reg, reg);
    LINE(w, "mov_imm.%s r%u, 0x%llx\n", bits, r[WORD],
         (unsigned long long)(UINT64_MAX >> (65 - 8 * hg_type_size_bytes(type))));
    LINE(w, "ldg.%s r%u, [r%u + r%u + %d]\n", bits, r[VALUE], r[RECORDS], r[BASE], AT_VALUE);
    LINE(w, "sel.%s r%u, p%u, r%u, r%u\n", bits, r[VALUE], w->pred, r[WORD], r[VALUE]);
    add_store(w, bits, BASE, r[VALUE], AT_VALUE, RECORDS);
}

static bool is_store(uint16_t form) {
    hg_op op = hg_op_access((hg_op)form);
    return op == HG_OP_STG || op == HG_OP_STS || op == HG_OP_POOL_STORE ||
           op == HG_OP_POOL_STORE_CONST;
}

/* What an instruction is recorded by: its result, or what it stores (the last operand of every
 * store). */
static const hg_operand *recorded_of(const hg_program *p, uint32_t inst,
                                     const hg_operand_info **info) {
    if (!is_store(p->insts[inst].op)) return result_of(p, inst, info);
    uint32_t last = hg_op_get((hg_op)p->insts[inst].op)->operand_count - 1u;
    *info = &hg_op_get((hg_op)p->insts[inst].op)->operands[last];
    return &hg_inst_operands(p, inst)[last];
}

static void add_event(writer *w, uint32_t inst) {
    const hg_operand_info *info;
    const hg_operand *o = recorded_of(w->p, inst, &info);
    const unsigned *r = w->r;
    if (!o || (w->unordered && w->unordered[inst])) return;
    hg_type type = info->kind == HG_K_PRED ? HG_TYPE_U64 : (hg_type)type_of(w->p, inst, info);
    unsigned value = o->reg;
    if (info->kind == HG_K_PRED) {
        value = r[VALUE];
        LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", value, o->reg, r[ONE], r[ZERO]);
    }
    add_value(w, type, value);
    LINE(w, "mov_imm.u64 r%u, %u\n", r[MIXED], (unsigned)inst + 1);
    LINE(w, "xor.u64 r%u, r%u, r%u\n", r[MIXED], r[MIXED], r[HASH]);
    LINE(w, "mul.u64 r%u, r%u, r%u\n", r[MIXED], r[MIXED], r[FACTOR]);
    for (uint32_t at = 0; at < hg_type_size_bytes(type); at += 8) {
        LINE(w, "ldg.u64 r%u, [r%u + r%u + %u]\n", r[WORD], r[RECORDS], r[BASE],
             AT_VALUE + (unsigned)at);
        LINE(w, "xor.u64 r%u, r%u, r%u\n", r[MIXED], r[MIXED], r[WORD]);
        LINE(w, "mul.u64 r%u, r%u, r%u\n", r[MIXED], r[MIXED], r[FACTOR]);
        LINE(w, "shr.u64 r%u, r%u, r%u\n", r[WORD], r[MIXED], r[SHIFT]);
        LINE(w, "xor.u64 r%u, r%u, r%u\n", r[MIXED], r[MIXED], r[WORD]);
    }
    LINE(w, "add.u64 r%u, r%u, r%u\n", r[COUNT], r[COUNT], r[ONE]);
    LINE(w, "setleu.u64 p%u, r%u, r%u\n", w->pred, r[COUNT], r[LIMIT]);
    LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", r[HASH], w->pred, r[MIXED], r[HASH]);
    LINE(w, "mov_imm.u64 r%u, %u\n", r[WORD], (unsigned)inst);
    LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", r[INSTRUCTION], w->pred, r[WORD], r[INSTRUCTION]);
    add_store(w, "u64", BASE, r[HASH], AT_HASH, RECORDS);
    add_store(w, "u64", BASE, r[COUNT], AT_COUNT, RECORDS);
    add_store(w, "u64", BASE, r[INSTRUCTION], AT_INSTRUCTION, RECORDS);
}

/* A place where the program can stop. */
static void add_step(writer *w, uint32_t inst) {
    const unsigned *r = w->r;
    if (!(hg_op_get((hg_op)w->p->insts[inst].op)->flags & HG_F_COLLECTIVE)) return;
    LINE(w, "add.u64 r%u, r%u, r%u\n", r[STEPS], r[STEPS], r[ONE]);
    LINE(w, "mov_imm.u64 r%u, %u\n", r[WORD], (unsigned)inst);
    add_store(w, "u64", BASE, r[STEPS], AT_STEPS, RECORDS);
    add_store(w, "u64", BASE, r[WORD], AT_STEP_INSTRUCTION, RECORDS);
    LINE(w, "seteq.u64 p%u, r%u, r%u\n", w->pred, r[STEPS], r[STEP_LIMIT]);
    LINE(w, "bra.p%u @%s\n", w->pred, w->stop);
}

/* ---- operands of one instruction ---- */

static void capture_register(writer *w, unsigned reg, uint8_t type, bool result) {
    diff_trace *t = w->trace;
    if (t->operand_count == DIFF_MOST_OPERANDS) return;
    diff_operand *o = &t->operands[t->operand_count];
    snprintf(o->name, sizeof o->name, "r%u", reg);
    o->type = type;
    o->is_result = result;
    o->offset = t->operand_count++ * 512;
    add_store(w, type < HG_TYPE_COUNT ? hg_type_name((hg_type)type) : "", CAPTURE_NOW, reg,
              o->offset, CAPTURE); /* without a type: inferred */
}

static void capture_predicate(writer *w, unsigned pred, bool result) {
    diff_trace *t = w->trace;
    if (pred > 15 || t->operand_count == DIFF_MOST_OPERANDS) return;
    diff_operand *o = &t->operands[t->operand_count];
    snprintf(o->name, sizeof o->name, "p%u", pred);
    o->type = HG_TYPE_COUNT;
    o->is_result = result;
    o->offset = t->operand_count++ * 512;
    LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", w->r[WORD], pred, w->r[ONE], w->r[ZERO]);
    add_store(w, "u64", CAPTURE_NOW, w->r[WORD], o->offset, CAPTURE);
}

static void capture_operand(writer *w, uint32_t inst, const hg_operand *o,
                            const hg_operand_info *info) {
    bool address = info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY;
    if (address && (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_POOL_REG ||
                    o->place == HG_PLACE_BARE)) {
        /* handles have no meaning outside their backend */
    } else if (address && o->place == HG_PLACE_FLAT) {
        capture_register(w, o->reg, HG_TYPE_COUNT, false);
    }
    if (address && o->has_index) capture_register(w, o->index, HG_TYPE_COUNT, false);
    if (!(info->access & HG_READ) || address) return;
    if (info->kind == HG_K_PRED) capture_predicate(w, o->reg, false);
    if (info->kind == HG_K_REG || (info->kind == HG_K_COUNT && o->is_reg))
        capture_register(w, o->reg, type_of(w->p, inst, info), false);
}

/* In front of the instruction: its operands, of the last time that it is among the first `limit`
 * results. */
static void add_operands(writer *w, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)w->p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(w->p, inst);
    const unsigned *r = w->r;
    LINE(w, "mov_imm.u64 r%u, %d\n", r[CAPTURE_NOW], DIFF_CAPTURE_BYTES);
    LINE(w, "setltu.u64 p%u, r%u, r%u\n", w->pred, r[COUNT], r[LIMIT]);
    LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", r[CAPTURE_NOW], w->pred, r[CAPTURE_AT], r[CAPTURE_NOW]);
    LINE(w, "sel.u64 r%u, p%u, r%u, r%u\n", r[WORD], w->pred, r[ONE], r[ZERO]);
    LINE(w, "add.u64 r%u, r%u, r%u\n", r[EXECUTIONS], r[EXECUTIONS], r[WORD]);
    add_store(w, "u64", CAPTURE_NOW, r[EXECUTIONS], DIFF_EXECUTIONS_AT, CAPTURE);
    for (uint32_t k = 0; k < row->operand_count; k++)
        capture_operand(w, inst, &o[k], &row->operands[k]);
    if (!(row->flags & HG_F_RUN)) return;
    for (uint64_t i = 1; i < o[2].value && o[1].reg + i < 256; i++)
        capture_register(w, o[1].reg + (unsigned)i, w->p->insts[inst].type, false);
}

static void add_result(writer *w, uint32_t inst) {
    const hg_operand_info *info;
    const hg_operand *o = result_of(w->p, inst, &info);
    if (o && info->kind == HG_K_PRED) capture_predicate(w, o->reg, true);
    if (o && info->kind == HG_K_REG) capture_register(w, o->reg, type_of(w->p, inst, info), true);
}

/* ---- the whole ---- */

static void add_parameters(writer *w) {
    const diff_trace *t = w->trace;
    const struct {
        spare reg;
        const char *name;
        bool buffer;
    } parameters[] = {{RECORDS, t->records, true},
                      {LIMIT, t->limit, false},
                      {STEP_LIMIT, t->step_limit, false},
                      {LANE, t->lane, false},
                      {CAPTURE, t->capture, true}};
    for (size_t i = 0; i < HG_COUNT_OF(parameters); i++)
        hg_text_addf(&w->text, ".param r%u %s %s\n", w->r[parameters[i].reg], parameters[i].name,
                     parameters[i].buffer ? "buffer u8 inout" : "u64");
}

/* The directives come with .param lines first: mine go behind the program's. */
static hg_status add_head(writer *w) {
    hg_text head = {0};
    HG_TRY(add_directives(&head, w->p, false));
    const char *at = head.data;
    for (int line = 0; at && line < 2; line++) at = strchr(at, '\n') + 1; /* .atlas, .program */
    if (!at) return hg_fail_memory();
    hg_text_add(&w->text, head.data, (size_t)(at - head.data));
    add_parameters(w);
    hg_text_add(&w->text, at, strlen(at));
    hg_text_free(&head);
    return HG_OK;
}

static hg_status add_body(writer *w) {
    const hg_program *p = w->p;
    uint32_t label = 0;
    add_prologue(w);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        add_labels(&w->text, p, i, &label);
        add_step(w, i);
        if (i == w->capture) add_operands(w, i);
        LINE(w, "");
        hg_print_instruction(&w->text, p, i);
        hg_text_addf(&w->text, "\n");
        if (i == w->capture) add_result(w, i);
        add_event(w, i);
        add_step(w, i);
    }
    add_labels(&w->text, p, p->inst_count, &label);
    hg_text_addf(&w->text, "    exit\n%s:\n    exit\n", w->stop);
    return w->text.failed ? hg_fail_memory() : HG_OK;
}

static uint64_t widest_result(const hg_program *p) {
    uint64_t widest = 8;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_operand_info *info;
        const hg_operand *o = recorded_of(p, i, &info);
        uint64_t size = o && info->kind == HG_K_REG
                            ? hg_type_size_bytes((hg_type)type_of(p, i, info))
                            : 0;
        if (size > widest) widest = size;
    }
    return widest;
}

/* Types that inference found for operands stored without one. */
static void learn_types(diff_trace *t, unsigned capture_register_number) {
    const hg_program *p = t->program;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const hg_operand *o = hg_inst_operands(p, i);
        if (p->insts[i].op != HG_OP_STG || o[0].place != HG_PLACE_BUF_REG ||
            o[0].reg != capture_register_number)
            continue;
        for (uint32_t k = 0; k < t->operand_count; k++)
            if (t->operands[k].name[0] == 'r' && o[0].disp == (int64_t)t->operands[k].offset)
                t->operands[k].type = p->insts[i].type;
    }
}

hg_status diff_trace_build(const hg_program *p, uint32_t capture, bool ordered, diff_trace *trace) {
    memset(trace, 0, sizeof *trace);
    uint8_t *unordered = hg_calloc(p->inst_count + 1u, 1);
    if (!unordered) return hg_fail_memory();
    writer w = {
        .p = p, .capture = capture, .trace = trace, .unordered = ordered ? NULL : unordered};
    if (!ordered) mark_unordered(p, unordered);
    trace->stride = DIFF_EVENT_BYTES + widest_result(p);
    fresh_name(p, "records", trace->records);
    fresh_name(p, "limit", trace->limit);
    fresh_name(p, "step_limit", trace->step_limit);
    fresh_name(p, "lane", trace->lane);
    fresh_name(p, "capture", trace->capture);
    fresh_name(p, "stop", w.stop);
    hg_status status = find_spares(&w) ? HG_OK
                                       : hg_fail(HG_ERROR_INVALID_ARGUMENT,
                                                 "the program leaves no registers to record with");
    if (status == HG_OK) status = add_head(&w);
    if (status == HG_OK) status = add_body(&w);
    if (status == HG_OK)
        status = hg_program_assemble(w.text.data, w.text.length, NULL, &trace->program);
    if (status == HG_OK && capture != DIFF_NO_CAPTURE) learn_types(trace, w.r[CAPTURE]);
    hg_text_free(&w.text);
    hg_free(unordered);
    return status;
}

void diff_trace_free(diff_trace *trace) {
    hg_program_release(trace->program);
    memset(trace, 0, sizeof *trace);
}

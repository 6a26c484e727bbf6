#include "support/structured_text.h"
#include "base/base.h"
#include "isa/verify_internal.h"
#include "kir/pipeline/pipeline.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 4096 };

typedef struct names {
    char (*name)[40];
    uint32_t count;
} names;

static uint32_t number_of(names *n, const char *text, size_t length) {
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (uint32_t i = 0; i < n->count; i++)
        if (strcmp(n->name[i], name) == 0) return i;
    if (n->count == MOST_NAMES) return MOST_NAMES;
    memcpy(n->name[n->count], name, sizeof name);
    return n->count++;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Without comments, declarations of variables and the registers of inputs; variables are numbered
 * as they come. */
static void normalise(const char *text, hg_text *out) {
    names n = {hg_calloc(MOST_NAMES, sizeof *n.name), 0};
    for (const char *line = text; line && *line && n.name;) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        const char *word = line;
        while (*word == ' ') word++;
        bool input = begins(line, "input ");
        for (size_t i = 0; i < length && !begins(word, "var ") && line[i] != ';';) {
            bool variable = begins(line + i, "get ") || begins(line + i, "set ");
            bool param = input && begins(line + i, " param ");
            if (!variable && !param) {
                hg_text_add(out, line + i++, 1);
                continue;
            }
            size_t from = i + (param ? 7 : 4), to = from;
            while (to < length && line[to] != ' ' && line[to] != ',') to++;
            hg_text_add(out, line + i, from - i);
            if (variable) hg_text_addf(out, "v%u", number_of(&n, line + from, to - from));
            i = to;
        }
        if (!begins(word, "var ")) hg_text_add(out, "\n", 1);
        line = end ? end + 1 : NULL;
    }
    hg_free(n.name);
}

static bool kernel_ir(const hg_program *p, hg_text *out) {
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    hg_text text = {0};
    bool good = hg_verify(p, NULL, NULL, &cfg) == HG_OK &&
                kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                                 KIR_STAGE_PROGRAM, NULL, &m) == HG_OK;
    if (good) kir_print(&text, m);
    if (good) normalise(text.data, out);
    hg_text_free(&text);
    kir_module_destroy(m);
    hg_cfg_destroy(cfg);
    return good && !out->failed;
}

/* ---- which writes reach which reads ---- */

/* By themselves: from each read backwards over all ways to it. */
typedef struct ways {
    const hg_program *p;
    uint32_t *from, *next, *first; /* jumps to each instruction: lists */
    uint32_t *stack, *seen, *reached, stamp;
} ways;

static bool falls_through(const hg_program *p, uint32_t i) {
    uint16_t op = p->insts[i].op;
    return op != HG_OP_EXIT && op != HG_OP_RET &&
           (op != HG_OP_BRA || hg_inst_operands(p, i)[0].reg != 255);
}

static bool find_ways(ways *w, const hg_program *p) {
    uint32_t n = p->inst_count;
    uint32_t *memory = hg_calloc(6 * ((size_t)n + 2), sizeof *memory);
    if (!memory) return false;
    *w = (ways){.p = p, .from = memory, .next = memory + n + 2, .first = memory + 2 * (n + 2)};
    w->stack = memory + 3 * (n + 2);
    w->seen = memory + 4 * (n + 2);
    w->reached = memory + 5 * (n + 2);
    for (uint32_t i = 0; i < n; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (row->operands[k].kind == HG_K_LABEL) {
                uint32_t to = (uint32_t)hg_inst_operands(p, i)[k].value;
                w->from[i] = i;
                w->next[i] = w->first[to];
                w->first[to] = i + 1;
            }
    }
    return true;
}

/* Sum over the writes that reach a read of numbers that tell instructions apart. */
static uint64_t reaching(ways *w, uint32_t inst, const hg_access *r) {
    hg_accesses what;
    uint64_t sum = 0;
    uint32_t depth = 0;
    w->stamp++;
    w->stack[depth++] = inst;
    while (depth) {
        uint32_t at = w->stack[--depth];
        if (at == w->p->entry) sum += 12345;
        uint32_t before[2] = {at && falls_through(w->p, at - 1) ? at - 1 : UINT32_MAX, 0};
        for (uint32_t j = w->first[at], k = before[0]; j || k != UINT32_MAX;) {
            uint32_t from = k != UINT32_MAX ? k : j - 1;
            if (k == UINT32_MAX) j = w->next[from];
            k = UINT32_MAX;
            if (w->seen[from] == w->stamp || !w->reached[from]) continue;
            w->seen[from] = w->stamp;
            hg_inst_accesses(w->p, from, &what);
            bool written = false;
            for (uint32_t x = 0; x < what.writes; x++)
                written |= what.write[x].reg == r->reg && what.write[x].is_pred == r->is_pred;
            if (written)
                sum += (from + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15) ^ from;
            else
                w->stack[depth++] = from;
        }
    }
    return sum;
}

static bool same_instruction(const hg_program *p, const hg_program *q, uint32_t i) {
    const hg_inst *a = &p->insts[i], *b = &q->insts[i];
    if (a->op != b->op || a->type != b->type || a->type2 != b->type2) return false;
    const hg_op_info *row = hg_op_get((hg_op)a->op);
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand *x = &hg_inst_operands(p, i)[k], *y = &hg_inst_operands(q, i)[k];
        uint8_t kind = row->operands[k].kind;
        if (x->kind != y->kind || x->place != y->place || x->is_reg != y->is_reg) return false;
        if (kind == HG_K_LITERAL) {
            hg_type type = hg_literal_type(a, &row->operands[k]);
            if (memcmp(hg_literal(p, x), hg_literal(q, y), (size_t)hg_type_size_bytes(type)) != 0)
                return false;
        } else if (kind == HG_K_ADDRESS || kind == HG_K_ARRAY) {
            if (x->disp != y->disp || hg_operand_scale(x) != hg_operand_scale(y)) return false;
        } else if (kind != HG_K_COND && kind != HG_K_TUPLE && kind != HG_K_TUPLES &&
                   kind != HG_K_REG && kind != HG_K_PRED && x->value != y->value) {
            return false;
        }
    }
    return true;
}

/* Marks what some lane may come to. */
static void mark_reached(ways *w) {
    const hg_program *p = w->p;
    uint32_t depth = 0;
    w->stamp++;
    w->stack[depth++] = p->entry;
    w->seen[p->entry] = w->stamp;
    while (depth) {
        uint32_t at = w->stack[--depth];
        if (at >= p->inst_count) continue;
        const hg_op_info *row = hg_op_get((hg_op)p->insts[at].op);
        uint32_t to[2] = {falls_through(p, at) ? at + 1 : UINT32_MAX, UINT32_MAX};
        for (uint32_t k = 0; k < row->operand_count; k++)
            if (row->operands[k].kind == HG_K_LABEL)
                to[1] = (uint32_t)hg_inst_operands(p, at)[k].value;
        for (int k = 0; k < 2; k++) {
            if (to[k] == UINT32_MAX || w->seen[to[k]] == w->stamp) continue;
            w->seen[to[k]] = w->stamp;
            w->stack[depth++] = to[k];
        }
    }
    for (uint32_t i = 0; i < p->inst_count; i++) w->reached[i] = w->seen[i] == w->stamp;
}

/* The same instructions, whose reads are reached by the same writes. */
static bool same_uses(const hg_program *p, const hg_program *q) {
    ways x = {0}, y = {0};
    bool same = p->inst_count == q->inst_count && find_ways(&x, p) && find_ways(&y, q);
    if (same) mark_reached(&x);
    if (same) mark_reached(&y);
    for (uint32_t i = 0; same && i < p->inst_count; i++) {
        hg_accesses of, other;
        hg_inst_accesses(p, i, &of);
        hg_inst_accesses(q, i, &other);
        same = same_instruction(p, q, i) && of.reads == other.reads && of.writes == other.writes;
        for (uint32_t k = 0; same && x.reached[i] && k < of.reads; k++)
            same = reaching(&x, i, &of.read[k]) == reaching(&y, i, &other.read[k]);
    }
    hg_free(x.from);
    hg_free(y.from);
    return same;
}

static void count_lines(const char *text, structured_result *r) {
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n');
        const char *word = line;
        while (*word == ' ') word++;
        bool indented = word > line;
        if (indented) {
            r->lines++;
            r->blocks += end && end > line && end[-1] == '{' && *word != '}';
            r->jumps += begins(word, "bra") || (begins(word, "loop") && !begins(word, "loop {"));
            const char *blank = strpbrk(word, " \n");
            const char *dot = memchr(word, '.', blank ? (size_t)(blank - word) : 0);
            r->plain += dot != NULL && !begins(word, "bra");
        }
        line = end ? end + 1 : NULL;
    }
}

static void first_difference(const char *x, const char *y, char *why, size_t size) {
    size_t i = 0, line = 0;
    for (; x[i] && x[i] == y[i]; i++)
        if (x[i] == '\n') line = i + 1;
    snprintf(why, size, "'%.*s' became '%.*s'", (int)strcspn(x + line, "\n"), x + line,
             (int)strcspn(y + line, "\n"), y + line);
}

structured_result structured_round_trip(const hg_program *p) {
    structured_result r = {0};
    char *text = NULL;
    hg_program *again = NULL;
    hg_text before = {0}, after = {0};
    if (hg_program_verify(p, NULL) != HG_OK) {
        r.good = r.unknown = true;
        return r;
    }
    if (hg_program_print_structured(p, &text, NULL) != HG_OK) {
        snprintf(r.why, sizeof r.why, "print: %s", hg_last_error_text());
    } else if (hg_program_assemble(text, strlen(text), NULL, &again) != HG_OK) {
        snprintf(r.why, sizeof r.why, "assemble: %s", hg_last_error_text());
    } else if (!kernel_ir(p, &before) || !kernel_ir(again, &after)) {
        snprintf(r.why, sizeof r.why, "kernel IR: %s", hg_last_error_text());
    } else {
        r.good = before.length == after.length &&
                 memcmp(before.data, after.data, before.length) == 0;
        r.same_uses = !r.good && same_uses(p, again);
        if (r.same_uses) r.good = true;
        if (!r.good) first_difference(before.data, after.data, r.why, sizeof r.why);
    }
    if (text) count_lines(text, &r);
    hg_string_free(text);
    hg_program_release(again);
    hg_text_free(&before);
    hg_text_free(&after);
    return r;
}

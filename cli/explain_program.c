/* hologram explain PROGRAM: each line with what lanes do there. Must not know: how it was found
 * out. */
#include "native/native.h"
#include "offline/explain.h"
#include "cli.h"
#include "source.h"
#include "why_slow.h"
#include <stdio.h>
#include <string.h>

typedef struct counts {
    uint32_t gathered, strided, divergent, live, live_at;
} counts;

static bool is_store(uint16_t form) {
    hg_op op = hg_op_access((hg_op)form);
    return op == HG_OP_STG || op == HG_OP_STS || op == HG_OP_POOL_STORE ||
           op == HG_OP_POOL_STORE_CONST;
}

/* The name of what an access reaches: a parameter, or shared memory. */
static void add_place(const hg_program *p, uint32_t inst, hg_text *out) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool address = o[i].kind == HG_K_ADDRESS || o[i].kind == HG_K_ARRAY;
        if (!address) continue;
        if (o[i].place == HG_PLACE_PRIVATE) hg_text_addf(out, " of private memory");
        if (o[i].place == HG_PLACE_SHARED) hg_text_addf(out, " of shared memory");
        if (o[i].place == HG_PLACE_CLASS || o[i].place == HG_PLACE_PHI)
            hg_text_addf(out, " of class memory");
        for (uint32_t k = 0; k < p->param_count &&
                             (o[i].place == HG_PLACE_BUF_REG || o[i].place == HG_PLACE_POOL_REG);
             k++)
            if (p->params[k].reg == o[i].reg && p->params[k].kind != HG_PARAM_SCALAR)
                hg_text_addf(out, " of %s", p->params[k].name);
        return;
    }
}

static void add_check(const hg_explained *e, hg_text *out) {
    if (e->unchecked)
        hg_text_addf(out, "; proven in bounds");
    else if (e->reach == HG_REACH_GATHERED)
        hg_text_addf(out, "; checked in each lane");
    else
        hg_text_addf(out, "; one check for all lanes of a tile");
    if (e->open) hg_text_addf(out, "; the handle is looked up at run time");
}

static void add_access(const hg_program *p, uint32_t inst, const hg_explained *e, hg_text *out) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    bool store = is_store(p->insts[inst].op);
    hg_text_addf(out, "%s",
                 row->flags & HG_F_ATOMIC ? "atomic operation"
                 : store                  ? "store"
                                          : "load");
    add_place(p, inst, out);
    switch ((hg_reach)e->reach) {
    case HG_REACH_UNIFORM: hg_text_addf(out, ", uniform: the same element in all lanes"); break;
    case HG_REACH_BLOCK: hg_text_addf(out, ", uniform in a block"); break;
    case HG_REACH_CONTIGUOUS: hg_text_addf(out, ", contiguous: elements side by side"); break;
    case HG_REACH_STRIDED:
        hg_text_addf(out, ", strided: lanes are %lld bytes apart", (long long)e->stride);
        break;
    default: hg_text_addf(out, store ? ", scattered" : ", gathered"); break;
    }
    add_check(e, out);
}

static void add_branch(const hg_explained *e, hg_text *out) {
    hg_text_addf(out, "%s",
                 e->way == HG_WAY_UNIFORM ? "branch, uniform: all lanes go one way"
                 : e->way == HG_WAY_BLOCK ? "branch, uniform in a block"
                                          : "branch, divergent: lanes may part, both ways are run");
    if (e->rounds) hg_text_addf(out, "; at most %llu rounds", (unsigned long long)e->rounds);
}

/* The same instruction in native code, where that is more than was said. */
static void add_native(const hg_program *p, uint32_t inst, const hg_explained *e, hg_text *out) {
    bool store = is_store(p->insts[inst].op);
    static const char *const reaches[] = {NULL, "one element for all lanes",
                                          "one element for all lanes", "a row", "strided"};
    const char *dear = store ? "scattered" : "gathered";
    if (e->native_reach && e->reach) {
        const char *reach = e->native_reach == HG_REACH_GATHERED ? dear : reaches[e->native_reach];
        if (e->native_guess)
            hg_text_addf(out, "%s in turns whose numbers allow it, else %s",
                         reaches[e->native_guess], reach);
        else
            hg_text_addf(out, "%s", reach);
        if (e->native_masked) hg_text_addf(out, ", under a mask");
    }
    if (e->way == HG_WAY_DIVERGENT && e->native_way)
        hg_text_addf(out, "%s",
                     e->native_way == HG_NATIVE_ENDS      ? "the lanes that do not take it end"
                     : e->native_way == HG_NATIVE_SKIPPED ? "a way that no lane takes is skipped"
                                                          : "both ways are run, under masks");
}

/* One of several instructions that the assembler made of a line: what becomes of it alone tells
 * nothing. */
static bool shares_line(const hg_program *p, uint32_t inst) {
    if (!p->lines) return false;
    return (inst && p->lines[inst - 1] == p->lines[inst]) ||
           (inst + 1 < p->inst_count && p->lines[inst + 1] == p->lines[inst]);
}

static void add_note(const hg_program *p, uint32_t inst, const hg_explained *e, hg_text *out) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    if (row->flags & HG_F_COLLECTIVE)
        hg_text_addf(
            out,
            "whole-array step: the launch is cut here, what lanes still need is kept in memory");
    else if (row->flags & HG_F_BARRIER)
        hg_text_addf(out, "barrier of the block");
    else if (e->reach != HG_REACH_NONE)
        add_access(p, inst, e, out);
    else if (e->way != HG_WAY_NONE)
        add_branch(e, out);
    else if (!e->kept && !(row->flags & HG_F_CONTROL) && !shares_line(p, inst))
        hg_text_addf(out, "nothing is left of it: a constant, or folded into what uses it");
}

static void count_one(const hg_explained *e, uint32_t inst, counts *n) {
    n->gathered += e->reach == HG_REACH_GATHERED;
    n->strided += e->reach == HG_REACH_STRIDED;
    n->divergent += e->way == HG_WAY_DIVERGENT;
    if (e->live > n->live) {
        n->live = e->live;
        n->live_at = inst;
    }
}

static void explain_kernels(const hg_program *p, const hg_explained_kernel *kernels, uint32_t count,
                            hg_text *out) {
    for (uint32_t i = 0; i < count; i++) {
        const hg_explained_kernel *k = &kernels[i];
        if (count > 1)
            hg_text_addf(out, "kernel %u compiled (%s): ", (unsigned)i, k->level);
        else
            hg_text_addf(out, "compiled (%s): ", k->level);
        if (!k->native) {
            hg_text_addf(out, "no, it runs on the tile interpreter (%s)\n", k->reason);
            continue;
        }
        if (k->lanes == 1) {
            hg_text_addf(out, "one lane a turn: its elements are its own, its branches jumps\n");
            continue;
        }
        hg_text_addf(out,
                     "%u lanes a turn; about %u bytes a lane live in vectors where that is most",
                     (unsigned)k->lanes, (unsigned)k->live);
        if (k->live_inst && p->lines)
            hg_text_addf(out, " (line %u)", (unsigned)p->lines[k->live_inst - 1]);
        if (k->live > k->most_live)
            hg_text_addf(out, ", of which the registers hold %u: the rest is spilled",
                         (unsigned)k->most_live);
        hg_text_addf(out, "\n");
    }
    char reason[256];
    if (!native_by(reason))
        hg_text_addf(out, "here it stays interpreted, there is no compiler: %s\n", reason);
}

static void explain_text(cli *c, const hg_explained *list, const hg_explained_kernel *each,
                         uint32_t kernels, const counts *n) {
    const hg_program *p = c->program;
    hg_text *out = &c->outputs;
    hg_text_addf(out, "%s: %u instructions in %u kernel%s; %u registers live at most", p->name,
                 (unsigned)p->inst_count, (unsigned)kernels, kernels == 1 ? "" : "s",
                 (unsigned)n->live);
    if (p->lines && p->inst_count) hg_text_addf(out, " (line %u)", (unsigned)p->lines[n->live_at]);
    hg_text_addf(out, "; %u gathered, %u strided access%s; %u divergent branch%s\n",
                 (unsigned)n->gathered, (unsigned)n->strided,
                 n->gathered + n->strided == 1 ? "" : "es", (unsigned)n->divergent,
                 n->divergent == 1 ? "" : "es");
    explain_kernels(p, each, kernels, out);
    hg_text_addf(out, " line live\n");
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const char *source = NULL;
        size_t length = 0;
        uint32_t line = p->lines ? p->lines[i] : 0;
        bool same = i && p->lines && p->lines[i - 1] == line;
        hg_text note = {0}, native = {0};
        add_note(p, i, &list[i], &note);
        add_native(p, i, &list[i], &native);
        hg_text_addf(out, "%5u %4u | ", (unsigned)(line ? line : i), (unsigned)list[i].live);
        if (!same && cli_source_line(c, line, &source, &length))
            hg_text_add(out, source, cli_source_shown(source, length, 160));
        else {
            hg_text_addf(out, "    ");
            hg_print_instruction(out, p, i);
        }
        if (note.length) hg_text_addf(out, "\n           |       = %s", note.data);
        if (native.length) hg_text_addf(out, "\n           |         compiled: %s", native.data);
        hg_text_addf(out, "\n");
        hg_text_free(&note);
        hg_text_free(&native);
    }
}

static void explain_json(cli *c, const hg_explained *list) {
    static const char *const reaches[] = {NULL,         "uniform", "block-uniform",
                                          "contiguous", "strided", "gathered"},
                             *const ways[] = {NULL, "uniform", "block-uniform", "divergent"};
    static const char *const natives[] = {NULL, "masked", "skipped", "ends"};
    const hg_program *p = c->program;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        hg_json json;
        hg_text text = {0};
        hg_print_instruction(&text, p, i);
        cli_json_item(c, &json);
        hg_json_add_u64(&json, "instruction", i);
        hg_json_add_text(&json, "text", text.data ? text.data : "");
        if (p->lines) hg_json_add_u64(&json, "line", p->lines[i]);
        hg_json_add_u64(&json, "live", list[i].live);
        if (list[i].reach) {
            hg_json_add_text(&json, "access", reaches[list[i].reach]);
            hg_json_add_bool(&json, "proven", list[i].unchecked);
            hg_json_add_bool(&json, "open", list[i].open);
            if (list[i].reach == HG_REACH_STRIDED) hg_json_add_i64(&json, "stride", list[i].stride);
        }
        if (list[i].way) hg_json_add_text(&json, "branch", ways[list[i].way]);
        if (list[i].reach && list[i].native_reach) {
            hg_json_add_text(&json, "compiled", reaches[list[i].native_reach]);
            if (list[i].native_guess)
                hg_json_add_text(&json, "compiled_mostly", reaches[list[i].native_guess]);
            hg_json_add_bool(&json, "masked", list[i].native_masked);
        }
        if (list[i].way == HG_WAY_DIVERGENT && list[i].native_way)
            hg_json_add_text(&json, "compiled", natives[list[i].native_way]);
        if (list[i].rounds) hg_json_add_u64(&json, "rounds", list[i].rounds);
        hg_json_add_bool(&json, "kept", list[i].kept);
        hg_json_end_object(&json);
        hg_text_free(&text);
    }
}

void cli_explain_program(cli *c, bool why_slow) {
    static const hg_explain_native native = {native_caps, native_form};
    counts n = {0};
    uint32_t kernels = 0;
    hg_config config;
    hg_explained *list = hg_calloc((size_t)c->program->inst_count + 1, sizeof *list);
    hg_explained_kernel *each = hg_calloc((size_t)c->program->inst_count + 1, sizeof *each);
    hg_status status = list && each ? hg_config_load(NULL, &config) : hg_fail_memory();
    if (status == HG_OK)
        status = hg_explain(c->program, config.cpu_level, &native, list, each, &kernels);
    for (uint32_t i = 0; i < c->program->inst_count && status == HG_OK; i++)
        count_one(&list[i], i, &n);
    if (status != HG_OK)
        cli_last_error(c);
    else if (why_slow)
        cli_why_slow(c, list, each, kernels);
    else if (c->json)
        explain_json(c, list);
    else
        explain_text(c, list, each, kernels, &n);
    hg_free(list);
    hg_free(each);
}

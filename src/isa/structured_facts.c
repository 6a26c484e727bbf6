/* What has to be known of a program before it is written as statements: which values are read once,
 * which jumps lead where, names of variables.
 * Requires: nothing; the program is verified here. Must not know: text. */
#include "isa/structured.h"

#include <stdio.h>
#include <string.h>

static void *make(hg_st_facts *f, uint64_t count, size_t size) {
    void *made = hg_arena_alloc(&f->arena, (size_t)(count ? count : 1) * size);
    if (made) memset(made, 0, (size_t)(count ? count : 1) * size);
    return made;
}

/* ---- jumps ---- */

static void add_source(hg_st_facts *f, uint64_t target, uint32_t from) {
    hg_st_target *t = &f->target.all[target];
    if (!t->count++) t->low = t->high = from;
    if (from < t->low) t->low = from;
    if (from > t->high) t->high = from;
}

static void find_targets(hg_st_facts *f) {
    const hg_program *p = f->program;
    for (uint32_t i = 0; i < f->count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)p->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            if (row->operands[k].kind != HG_K_LABEL) continue;
            uint64_t target = hg_inst_operands(p, i)[k].value;
            add_source(f, target, i);
            f->leader[target] = 1;
        }
        if (row->flags & HG_F_CONTROL) f->leader[i + 1] = 1;
    }
    if (!p->entry) return;
    f->leader[p->entry] = 1;
    add_source(f, p->entry, 0);
    add_source(f, p->entry, UINT32_MAX);
}

static bool make_ranges(hg_st_facts *f) {
    for (f->target.width = 1; f->target.width <= f->count; f->target.width *= 2) {}
    f->target.least = make(f, 2 * (uint64_t)f->target.width, sizeof *f->target.least);
    f->target.most = make(f, 2 * (uint64_t)f->target.width, sizeof *f->target.most);
    if (!f->target.least || !f->target.most) return false;
    for (uint32_t i = 0; i < f->target.width; i++) {
        bool some = i <= f->count && f->target.all[i].count;
        f->target.least[f->target.width + i] = some ? f->target.all[i].low : UINT32_MAX;
        f->target.most[f->target.width + i] = some ? f->target.all[i].high : 0;
    }
    for (uint32_t i = f->target.width; i-- > 1;) {
        uint32_t x = 2 * i, y = x + 1;
        f->target.least[i] = f->target.least[x] < f->target.least[y] ? f->target.least[x]
                                                                     : f->target.least[y];
        f->target.most[i] = f->target.most[x] > f->target.most[y] ? f->target.most[x]
                                                                  : f->target.most[y];
    }
    return true;
}

bool hg_st_only_from(const hg_st_facts *f, uint32_t first, uint32_t last, uint32_t low,
                     uint32_t high) {
    if (first > last) return true;
    uint32_t a = first + f->target.width, b = last + f->target.width + 1;
    for (; a < b; a /= 2, b /= 2) {
        if ((a & 1) && (f->target.least[a] < low || f->target.most[a] > high)) return false;
        a += a & 1;
        if ((b & 1) && (f->target.least[b - 1] < low || f->target.most[b - 1] > high)) return false;
        b -= b & 1;
    }
    return true;
}

bool hg_st_is_reached(const hg_st_facts *f, uint32_t inst) {
    if (!inst || f->target.all[inst].count) return true;
    uint16_t op = f->program->insts[inst - 1].op;
    return op != HG_OP_EXIT && op != HG_OP_RET && !hg_st_is_jump(f, inst - 1);
}

/* ---- values that are read once ---- */

enum { REGISTERS = HG_MAX_REGISTERS + HG_MAX_PREDICATES };

/* The next mention of a register in the instructions up to the next leader. */
typedef struct mention {
    uint32_t inst, stretch, reads; /* reads 0: it is only written */
} mention;

static uint32_t slot_of(const hg_access *a) {
    return a->is_pred ? HG_LIVE_PREDICATES + (uint32_t)a->reg : a->reg;
}

/* The instruction reads what the one at `inst` has written, nothing else does. */
static bool is_once(hg_st_facts *f, const mention *next, uint32_t slot) {
    hg_accesses *what = &f->what;
    if (next->reads != 1 || !f->reached[next->inst]) return false;
    hg_inst_accesses(f->program, next->inst, what);
    for (uint32_t k = 0; k < what->writes; k++)
        if (slot_of(&what->write[k]) == slot) return true;
    return !hg_live_has(&f->after[next->inst], slot);
}

static void find_uses(hg_st_facts *f) {
    mention next[REGISTERS];
    memset(next, 0, sizeof next);
    uint32_t stretch = 1;
    for (uint32_t i = f->count; i-- > 0;) {
        f->use[i] = HG_ST_NONE;
        if (f->leader[i + 1]) stretch++;
        hg_inst_accesses(f->program, i, &f->what);
        hg_access write = f->what.write[0];
        uint32_t slot = f->what.writes == 1 ? slot_of(&write) : 0;
        if (f->what.writes == 1 && f->reached[i] && next[slot].stretch == stretch &&
            is_once(f, &next[slot], slot))
            f->use[i] = next[slot].inst;
        hg_inst_accesses(f->program, i, &f->what);
        for (uint32_t k = 0; k < f->what.writes; k++)
            next[slot_of(&f->what.write[k])] = (mention){i, stretch, 0};
        for (uint32_t k = 0; k < f->what.reads; k++) {
            mention *m = &next[slot_of(&f->what.read[k])];
            uint32_t reads = m->inst == i && m->stretch == stretch ? m->reads : 0;
            *m = (mention){i, stretch, reads + 1};
        }
    }
}

/* ---- registers that stand by their numbers ---- */

static bool is_array_kind(const hg_param *p) {
    return p &&
           (p->kind == HG_PARAM_BUFFER || p->kind == HG_PARAM_SCRATCH || p->kind == HG_PARAM_DATA);
}

static void keep_number(hg_st_facts *f, uint32_t variable, uint8_t reg) {
    f->numbered[reg] = true;
    if (variable != HG_ST_NONE && !f->variables.data[variable].array)
        f->variables.data[variable].raw = true;
}

/* What a text can name only by its number: runs, handles that are no array's, the handle of an
 * array as a number. */
static void look_at_read(hg_st_facts *f, uint32_t inst, uint32_t k) {
    const hg_access *r = &f->what.read[k];
    const hg_inst *in = &f->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = &hg_inst_operands(f->program, inst)[r->operand];
    uint8_t kind = row->operands[r->operand].kind;
    uint32_t v = hg_st_read(f, inst, k);
    bool address = kind == HG_K_ADDRESS || kind == HG_K_ARRAY;
    bool index = address && r->want == HG_WANT_U32_U64 && o->place != HG_PLACE_FLAT;
    bool base = address && !index && o->place != HG_PLACE_FLAT;
    bool array = v != HG_ST_NONE && f->variables.data[v].array;
    if (base && array && o->place != HG_PLACE_POOL_REG) return;
    bool by_name = base && o->place == HG_PLACE_BUF_REG && o->has_index;
    if ((row->flags & HG_F_RUN) || array || hg_st_is_raw(f, v) || (base && !by_name))
        keep_number(f, v, r->reg);
}

static void find_numbers(hg_st_facts *f) {
    for (uint32_t i = 0; i < f->count; i++) {
        hg_inst_accesses(f->program, i, &f->what);
        for (uint32_t k = 0; k < f->what.reads; k++)
            if (!f->what.read[k].is_pred) look_at_read(f, i, k);
        for (uint32_t k = 0; k < f->what.writes; k++) {
            uint32_t v = hg_st_written(f, i, &f->what, k);
            if (!f->what.write[k].is_pred && hg_st_is_raw(f, v))
                keep_number(f, v, f->what.write[k].reg);
        }
    }
}

/* ---- names ---- */

static hg_st_name *find_name(const hg_st_facts *f, const char *text) {
    uint32_t hash = 2166136261u;
    for (const char *at = text; *at; at++) hash = (hash ^ (uint8_t)*at) * 16777619u; /* FNV-1a */
    uint32_t i = hash & (f->name.capacity - 1);
    while (f->name.all[i].text && strcmp(f->name.all[i].text, text) != 0)
        i = (i + 1) & (f->name.capacity - 1);
    return &f->name.all[i];
}

static const char *add_name(hg_st_facts *f, const char *text) {
    const char *kept = hg_arena_text(&f->arena, text, strlen(text));
    if (kept) *find_name(f, kept) = (hg_st_name){kept, 2};
    return kept;
}

/* The name, or the first of name_2, name_3, … that no variable has. */
static const char *new_name(hg_st_facts *f, const char *text) {
    char longer[HG_ST_MOST_NAME + 16];
    hg_st_name *taken = find_name(f, text);
    if (!taken->text) return add_name(f, text);
    do snprintf(longer, sizeof longer, "%s_%u", text, (unsigned)taken->next++);
    while (find_name(f, longer)->text);
    return add_name(f, longer);
}

/* Words that mean something else as a value. */
static bool is_word(const char *name) {
    static const char *const WORDS[] = {"inf",      "nan",      "shared",   "private", "global_x",
                                        "global_y", "global_z", "reversed", "true",    "false"};
    hg_idname id;
    if (hg_idname_from_text(name, strlen(name), &id)) return true;
    for (uint32_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        if (strcmp(WORDS[i], name) == 0) return true;
    for (uint32_t i = 0; i < HG_SPECIAL_COUNT; i++)
        if (strcmp(hg_specials[i].text, name) == 0) return true;
    return false;
}

/* Values that there are where the program begins: of parameters and special registers. */
static void name_beginning(hg_st_facts *f, hg_st_variable *v) {
    const hg_param *p = f->param[v->reg];
    v->fixed = true;
    if (p) {
        v->name = p->name;
        if (is_word(p->name)) v->raw = true;
        if (is_array_kind(p) && !v->written && !v->raw) v->array = p;
        if (p->kind != HG_PARAM_SCALAR && !v->array) v->raw = true;
        return;
    }
    const char *word = v->reg >= HG_FIRST_SPECIAL ? hg_specials[v->reg - HG_FIRST_SPECIAL].text
                                                  : NULL;
    v->raw = !word || v->written || find_name(f, word)->text;
    v->name = word;
}

/* What the text called it: a record of a name begins behind the instruction that writes it. */
static void find_given(hg_st_facts *f) {
    const hg_program *p = f->program;
    for (uint32_t i = 0; i < p->register_name_count; i++) {
        const hg_register_name *n = &p->register_names[i];
        bool kept = n->first && n->first <= f->count && !n->predicate &&
                    strlen(n->name) < HG_ST_MOST_NAME && !is_word(n->name) &&
                    hg_is_identifier(n->name, strlen(n->name));
        if (!kept) continue;
        hg_inst_accesses(p, n->first - 1, &f->what);
        for (uint32_t k = 0; k < f->what.writes; k++) {
            uint32_t v = hg_st_written(f, n->first - 1, &f->what, k);
            if (!f->what.write[k].is_pred && f->what.write[k].reg == n->number && v != HG_ST_NONE)
                f->variables.data[v].name = n->name;
        }
    }
}

static bool find_names(hg_st_facts *f) {
    uint64_t most = f->variables.count + f->program->param_count + 1;
    for (f->name.capacity = 64; f->name.capacity < 2 * most; f->name.capacity *= 2) {}
    f->name.all = make(f, f->name.capacity, sizeof *f->name.all);
    if (!f->name.all) return false;
    for (uint32_t i = 0; i < f->program->param_count; i++)
        if (!add_name(f, f->program->params[i].name)) return false;
    find_given(f);
    for (uint64_t i = 0; i < f->variables.count; i++)
        if (f->variables.data[i].begins) name_beginning(f, &f->variables.data[i]);
    find_numbers(f);
    for (uint64_t i = 0; i < f->variables.count; i++) {
        hg_st_variable *v = &f->variables.data[i];
        char number[16];
        if (v->fixed || v->raw) continue;
        snprintf(number, sizeof number, "v%u", (unsigned)v->reg);
        v->name = new_name(f, v->name ? v->name : number);
        if (!v->name) return false;
    }
    return true;
}

/* ---- rows that are functions ---- */

static bool is_argument(const hg_operand_info *o) {
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG:
    case HG_K_PRED: return o->access == HG_READ;
    case HG_K_COUNT:
    case HG_K_ADDRESS:
    case HG_K_U8:
    case HG_K_I8: return true;
    default: return false;
    }
}

/* The number of arguments; HG_ST_NONE: it is no function of one result. */
static uint32_t arguments_of(const hg_op_info *row) {
    uint32_t results = 0, arguments = 0;
    if (row->flags & (HG_F_CONTROL | HG_F_COLLECTIVE | HG_F_RUN)) return HG_ST_NONE;
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        bool is_result = (o->kind == HG_K_REG || o->kind == HG_K_PRED) && o->access == HG_WRITE;
        if (is_result)
            results++;
        else if (o->kind == HG_K_COND || hg_operand_is_named(o))
            continue;
        else if (hg_operand_in_mnemonic(o) || !is_argument(o))
            return HG_ST_NONE;
        else
            arguments++;
    }
    return results == 1 && arguments <= 4 ? arguments : HG_ST_NONE;
}

static void find_functions(hg_st_facts *f) {
    for (uint32_t op = 0; op < HG_OP_COUNT; op++) {
        uint32_t arguments = arguments_of(hg_op_get((hg_op)op));
        f->form[op] = arguments != HG_ST_NONE;
        for (uint32_t other = 0; other < HG_OP_COUNT && f->form[op]; other++)
            if (other != op &&
                strcmp(hg_op_get((hg_op)op)->text, hg_op_get((hg_op)other)->text) == 0)
                f->form[op] = arguments_of(hg_op_get((hg_op)other)) != arguments;
    }
}

/* ---- the whole ---- */

hg_status hg_st_find_facts(hg_st_facts *f, const hg_program *program) {
    f->program = program;
    f->count = program->inst_count;
    HG_TRY(hg_verify(program, NULL, NULL, &f->cfg));
    f->after = make(f, f->count, sizeof *f->after);
    f->reached = make(f, f->count, 1);
    f->leader = make(f, (uint64_t)f->count + 1, 1);
    f->use = make(f, f->count, sizeof *f->use);
    f->target.all = make(f, (uint64_t)f->count + 1, sizeof *f->target.all);
    if (!f->after || !f->reached || !f->leader || !f->use || !f->target.all)
        return hg_fail_memory();
    HG_TRY(hg_live_after(f->cfg, NULL, NULL, f->after, f->reached));
    find_targets(f);
    if (!make_ranges(f)) return hg_fail_memory();
    for (uint32_t i = 0; i < program->param_count; i++)
        f->param[program->params[i].reg] = &program->params[i];
    find_uses(f);
    if (!hg_st_find_webs(f) || !find_names(f)) return hg_fail_memory();
    find_functions(f);
    return HG_OK;
}

void hg_st_facts_free(hg_st_facts *f) {
    hg_cfg_destroy(f->cfg);
    hg_vec_free(&f->variables);
    hg_vec_free(&f->fors);
    hg_free(f->webs);
    hg_arena_free(&f->arena);
}

/* hologram diff: one program over the same inputs on two devices, compared bit for bit, down to the
 * first lane and instruction. */
#include "diff.h"
#include <stdio.h>
#include <string.h>

typedef struct diff_options {
    cli_launch launch;
    const char *sides[2], *against_program, *seed, *to;
    bool no_reduce, passes;
} diff_options;

/* ---- the two sides ---- */

static bool is_level(const char *word) {
    return strcmp(word, "baseline") == 0 || strcmp(word, "v3") == 0 || strcmp(word, "v4") == 0;
}

static bool add_pretence(cli *c, const char *option, hg_config *config, const char *word) {
    size_t used = strlen(config->pretend);
    int length = snprintf(config->pretend + used, sizeof config->pretend - used, "%s%s",
                          used ? "," : "", word);
    if (length >= 0 && (size_t)length < sizeof config->pretend - used) return true;
    cli_usage(c, "%s: too many words", option);
    return false;
}

/* NAME[:DEVICE][,WORD…]: a word is a CPU level or one of HOLOGRAM_PRETEND. */
static bool read_side(cli *c, const char *option, const char *text, hg_config *config) {
    char copy[128];
    if (!text) return true;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy) {
        cli_usage(c, "%s expects BACKEND[:DEVICE][,WORD…], got '%s'", option, text);
        return false;
    }
    char *comma = strchr(copy, ','), *word = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    if (!cli_read_device(c, option, copy, strlen(copy), config)) return false;
    while (word) {
        char *next = strchr(word, ',');
        if (next) *next++ = '\0';
        if (is_level(word))
            snprintf(config->cpu_level, sizeof config->cpu_level, "%s", word);
        else if (!add_pretence(c, option, config, word))
            return false;
        word = next;
    }
    return true;
}

static bool open_side(cli *c, const char *option, const char *text, const char *preset,
                      diff_side *side) {
    hg_config config;
    if (hg_config_load(NULL, &config) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    config.deterministic = true; /* other bits within a bound are no difference to look for */
    config.max_memory = c->own_memory.limit / 4; /* two sides, and what each of them computed */
    if (preset && !text) text = preset;
    if (!read_side(c, option, text, &config)) return false;
    if (cli_device_open(&config, &side->backend) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    const char *words = text ? strchr(text, ',') : NULL;
    snprintf(side->label, sizeof side->label, "%s %u%s", hg_backend_name(side->backend),
             (unsigned)config.device_id, words ? words : "");
    return true;
}

/* Two sides of one name get others. */
static void tell_apart(diff_case *d) {
    if (strcmp(d->sides[0].label, d->sides[1].label) != 0) return;
    for (int i = 0; i < 2; i++) {
        size_t used = strlen(d->sides[i].label);
        snprintf(d->sides[i].label + used, sizeof d->sides[i].label - used, i ? " (B)" : " (A)");
    }
}

static bool open_sides(cli *c, const diff_options *o, diff_case *d) {
    if (!open_side(c, "--backend", o->sides[0], NULL, &d->sides[0]) ||
        !open_side(c, "--against", o->sides[1], "cpu", &d->sides[1]))
        return false;
    tell_apart(d);
    bool cpu = strcmp(hg_backend_name(d->sides[0].backend), "cpu") == 0 ||
               strcmp(hg_backend_name(d->sides[1].backend), "cpu") == 0;
    if (cpu || d->sides[0].program != d->sides[1].program) return true;
    d->judge.program = d->sides[0].program;
    return open_side(c, "--backend", "cpu", NULL, &d->judge);
}

/* ---- --against-program ---- */

static bool same_parameters(const hg_program *a, const hg_program *b) {
    if (a->param_count != b->param_count) return false;
    for (uint32_t i = 0; i < a->param_count; i++) {
        const hg_param *x = &a->params[i], *y = &b->params[i];
        if (strcmp(x->name, y->name) != 0 || x->kind != y->kind || x->type != y->type ||
            x->pool_bytes != y->pool_bytes)
            return false;
    }
    return true;
}

/* What a circuit works on is class memory, which no parameter shows. */
static bool load_program(cli *c, const char *path) {
    if (!cli_load(c, path) || !cli_verify(c)) return false;
    if (!c->circuit.program) return true;
    cli_usage(c, "'%s' is a circuit: diff compares programs with parameters", path);
    return false;
}

static bool load_other(cli *c, const char *path, cli *other) {
    *other = (cli){
        .command = c->command, .json = c->json, .diagnostics = hg_diagnostics_create(20)};
    if (!load_program(other, path)) return false;
    if (same_parameters(c->program, other->program)) return true;
    cli_usage(c, "'%s' and '%s' have different parameters", c->file, path);
    return false;
}

/* ---- telling ---- */

static const char *place_name(const diff_case *d, const diff_place *p) {
    static const char *const behind[] = {"class memory", "phase", "resonance"};
    return p->param < d->values->count ? d->values->data[p->param].param->name
                                       : behind[p->param - d->values->count];
}

static uint8_t place_type(const diff_case *d, const diff_place *p) {
    static const uint8_t behind[] = {HG_TYPE_U8, HG_TYPE_U32, HG_TYPE_F64};
    if (p->param >= d->values->count) return behind[p->param - d->values->count];
    return d->values->data[p->param].param->kind == HG_PARAM_BUFFER
               ? d->values->data[p->param].param->type
               : (uint8_t)HG_TYPE_U8;
}

static const uint8_t *place_bytes(const diff_case *d, const diff_place *p, const diff_result *r) {
    const uint8_t *const behind[] = {r->class_memory, (const uint8_t *)r->phase,
                                     (const uint8_t *)r->resonance};
    const uint8_t *from = p->param < d->values->count ? r->arrays[p->param]
                                                      : behind[p->param - d->values->count];
    return from + p->element * hg_type_size_bytes((hg_type)place_type(d, p));
}

/* y[3], or m[1, 2] */
static void add_place(hg_text *out, const diff_case *d, const diff_place *p) {
    const cli_value *v = p->param < d->values->count ? &d->values->data[p->param] : NULL;
    hg_text_addf(out, "%s", place_name(d, p));
    if (v && v->param->kind == HG_PARAM_BUFFER && v->rank)
        diff_add_index(out, v->rank, v->extent, p->element);
    else
        hg_text_addf(out, "[%llu]", (unsigned long long)p->element);
}

static void key_text(hg_json *json, const char *key, const char *text) {
    hg_json_key(json, key);
    hg_json_text(json, text);
}

static void key_number(hg_json *json, const char *key, uint64_t n) {
    hg_json_key(json, key);
    if (n == HG_NONE)
        hg_json_null(json);
    else
        hg_json_u64(json, n);
}

static uint64_t whole_array_count(const hg_program *p) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->inst_count; i++)
        n += (hg_op_get((hg_op)p->insts[i].op)->flags & HG_F_COLLECTIVE) != 0;
    return n;
}

static void fault_text(const diff_result *r, char text[400]) {
    const hg_error *e = &r->error;
    if (r->status == HG_OK) {
        snprintf(text, 400, "ends without a fault");
        return;
    }
    int length = snprintf(text, 400, "fault[%s] %.200s", e->code, e->message);
    if (length > 0 && length < 300 && e->instruction != HG_NONE)
        length += snprintf(text + length, 400 - (size_t)length, ", instruction %llu",
                           (unsigned long long)e->instruction);
    if (length > 0 && length < 340 && e->lane != HG_NONE)
        snprintf(text + length, 400 - (size_t)length, ", lane %llu", (unsigned long long)e->lane);
}

static void tell_equal(const diff_case *d, const diff_result *r, const diff_place *place) {
    cli *c = d->c;
    uint64_t lanes = d->launch.lanes ? d->launch.lanes : hg_launch_total_threads(&d->launch),
             arrays = 0;
    uint64_t steps = whole_array_count(d->sides[0].program);
    char fault[400];
    for (uint32_t i = 0; i < d->values->count; i++) {
        uint8_t kind = d->values->data[i].param->kind;
        arrays += kind == HG_PARAM_BUFFER || kind == HG_PARAM_POOL;
    }
    fault_text(r, fault);
    if (!c->json) {
        cli_out(c, "equal: %s on %s and %s\n", hg_program_name(d->sides[0].program),
                d->sides[0].label, d->sides[1].label);
        if (r->status != HG_OK)
            cli_out(c, "  %llu lanes; both stop with %s\n", (unsigned long long)lanes, fault);
        else
            cli_out(c,
                    "  %llu lanes, %llu instructions, %llu of them whole-array; %llu values of "
                    "%llu arrays compared bit for bit\n",
                    (unsigned long long)lanes, (unsigned long long)d->sides[0].program->inst_count,
                    (unsigned long long)steps, (unsigned long long)place->compared,
                    (unsigned long long)arrays);
        return;
    }
    hg_json json = {.out = &c->outputs};
    hg_json_begin_object(&json);
    key_text(&json, "kind", "equal");
    key_text(&json, "backend", d->sides[0].label);
    key_text(&json, "against", d->sides[1].label);
    key_number(&json, "lanes", lanes);
    key_number(&json, "steps", steps);
    key_number(&json, "compared", place->compared);
    hg_json_key(&json, "fault");
    hg_json_text(&json, r->status == HG_OK ? NULL : fault);
    hg_json_end_object(&json);
}

/* The header of a difference: faults, or the first element that differs. */
static void tell_results(const diff_case *d, const diff_result results[2], int kind,
                         const diff_place *p) {
    cli *c = d->c;
    hg_text line = {0};
    cli_out(c, "differ: %s on %s and %s\n", hg_program_name(d->sides[0].program), d->sides[0].label,
            d->sides[1].label);
    for (int i = 0; i < 2 && kind == DIFF_FAULT; i++) {
        char fault[400];
        fault_text(&results[i], fault);
        cli_out(c, "  %s: %s\n", d->sides[i].label, fault);
    }
    if (kind == DIFF_DATA) {
        hg_text_addf(&line, "  ");
        add_place(&line, d, p);
        hg_text_addf(&line, " is ");
        diff_add_value(&line, place_type(d, p), place_bytes(d, p, &results[0]));
        hg_text_addf(&line, " and ");
        diff_add_value(&line, place_type(d, p), place_bytes(d, p, &results[1]));
        hg_text_addf(&line, "; %llu of its values differ\n", (unsigned long long)p->differing);
    }
    if (line.data) hg_text_add(&c->outputs, line.data, line.length);
    hg_text_free(&line);
}

/* "  axpy.atlas:17: fma.f32 r12, r5, r10, r11" */
static void add_instruction(const diff_case *d, hg_text *out, int side, uint64_t inst) {
    const hg_program *p = d->sides[side].program;
    if (inst >= p->inst_count) return;
    if (p->lines)
        hg_text_addf(out, "%s:%u: ",
                     side == 0 || p == d->sides[0].program ? d->c->file : "the other program",
                     (unsigned)p->lines[inst]);
    hg_print_instruction(out, p, (uint32_t)inst);
}

static void add_row(hg_text *out, const char *name, const char *type,
                    const char *const values[DIFF_SIDES], int columns, bool mark) {
    hg_text_addf(out, "    %-9s %-6s", name, type);
    for (int i = 0; i < columns; i++)
        hg_text_addf(out, i + 1 < columns ? "  %-36s" : "  %s", values[i]);
    hg_text_addf(out, mark ? "   <- differs\n" : "\n");
}

static bool is_repeated(const diff_finding *f, int side, uint32_t k) {
    for (uint32_t i = k + 1; i < f->operand_count[side]; i++)
        if (!f->operands[side][i].is_result &&
            strcmp(f->operands[side][i].name, f->operands[side][k].name) == 0)
            return true;
    return false;
}

static bool has_value(const diff_finding *f, int side, const diff_operand *o) {
    return side == 2 || !f->stopped[side] || (f->reached[side] && !o->is_result);
}

static bool same_value(const diff_operand *o, const uint8_t *a, const uint8_t *b) {
    return o->type < HG_TYPE_COUNT ? diff_same_value((hg_type)o->type, a + o->offset, b + o->offset)
                                   : a[o->offset] == b[o->offset];
}

/* The side whose operands are shown: both have the same, unless they run two programs. */
static int shown_side(const diff_finding *f) { return f->operand_count[0] ? 0 : 1; }

static void add_operands(const diff_case *d, const diff_finding *f, hg_text *out) {
    int columns = f->judged ? 3 : 2, shown = shown_side(f);
    const char *labels[DIFF_SIDES] = {d->sides[0].label, d->sides[1].label, "the tile interpreter"};
    if (f->operand_count[shown]) add_row(out, "", "", labels, columns, false);
    for (uint32_t k = f->operand_count[shown]; k-- > 0;) { /* the result was captured last and
                                                              stands first */
        const diff_operand *o = &f->operands[shown][k],
                           *other = k < f->operand_count[1] ? &f->operands[1][k] : o;
        char texts[DIFF_SIDES][160], name[20];
        const char *values[DIFF_SIDES];
        bool renamed = strcmp(o->name, other->name) != 0;
        if (is_repeated(f, shown, k) && !renamed) continue;
        snprintf(name, sizeof name, renamed ? "%s/%s" : "%s", o->name, other->name);
        for (int i = 0; i < columns; i++) {
            values[i] = texts[i];
            if (has_value(f, i, o))
                diff_value_text(i == 1 ? other->type : o->type, f->values[i] + o->offset, texts[i]);
            else
                snprintf(texts[i], sizeof texts[i],
                         f->reached[i] ? "(a fault)" : "(the lane had stopped)");
        }
        bool differs = has_value(f, 0, o) && has_value(f, 1, o) &&
                       !same_value(o, f->values[0], f->values[1]);
        add_row(out, name, o->type < HG_TYPE_COUNT ? hg_type_name((hg_type)o->type) : "bool",
                values, columns, differs);
    }
}

static void add_verdict(const diff_case *d, const diff_finding *f, hg_text *out) {
    uint32_t count = f->operand_count[shown_side(f)];
    const diff_operand *o = count ? &f->operands[shown_side(f)][count - 1] : NULL;
    if (!f->judged || !o || !o->is_result || f->stopped[0] || f->stopped[1]) return;
    bool right[2] = {same_value(o, f->values[0], f->values[2]),
                     same_value(o, f->values[1], f->values[2])};
    if (right[0] != right[1])
        hg_text_addf(out, "  the tile interpreter agrees with %s\n",
                     d->sides[right[0] ? 0 : 1].label);
    else
        hg_text_addf(out, "  the tile interpreter agrees with neither\n");
}

static void tell_finding(const diff_case *d, const diff_finding *f, hg_text *out) {
    uint64_t block = d->c->block_lanes ? d->c->block_lanes : 1;
    if (f->by_step) {
        hg_text_addf(
            out, "  first at whole-array instruction %llu in the order of running, which leaves ",
            (unsigned long long)f->step + 1);
        add_place(out, d, &f->place);
        hg_text_addf(out, " different; %llu of its values differ\n    ",
                     (unsigned long long)f->place.differing);
        add_instruction(d, out, 0, f->instruction[0]);
        hg_text_addf(out, "\n");
    } else if (f->lane != HG_NONE) {
        hg_text_addf(out, "  first in lane %llu (block %llu, lane %llu of it), its result %llu",
                     (unsigned long long)f->lane, (unsigned long long)(f->lane / block),
                     (unsigned long long)(f->lane % block), (unsigned long long)f->result);
        if (f->step != HG_NONE)
            hg_text_addf(out, ", after %llu whole-array instructions", (unsigned long long)f->step);
        hg_text_addf(out, "\n");
        bool same = f->instruction[0] == f->instruction[1] || f->stopped[0] || f->stopped[1];
        bool two_programs = d->sides[0].program != d->sides[1].program;
        for (int i = 0; i < (same ? 1 : 2); i++) {
            int side = same && f->stopped[0] ? 1 : i;
            hg_text_addf(out, "    ");
            if (!same) hg_text_addf(out, "%s runs ", d->sides[i].label);
            hg_text_addf(out, "instruction %llu", (unsigned long long)f->instruction[side]);
            if (f->execution != HG_NONE)
                hg_text_addf(out, ", execution %llu", (unsigned long long)f->execution);
            hg_text_addf(out, ": ");
            add_instruction(d, out, side, f->instruction[side]);
            if (same && two_programs) {
                hg_text_addf(out, "\n    against ");
                add_instruction(d, out, 1 - side, f->instruction[side]);
            }
            hg_text_addf(out, "\n");
        }
        if (!same)
            hg_text_addf(out, "    all results before are equal: a branch went another way\n");
        add_operands(d, f, out);
        add_verdict(d, f, out);
    }
    if (f->ordered)
        hg_text_addf(out, "  the result depends on the order in which lanes run (an atomic's old "
                          "value): it may differ on a right device\n");
    if (d->sides[0].program->flags & 1)
        hg_text_addf(out, "  the program is relaxed: devices may differ\n");
    if (f->note[0]) hg_text_addf(out, "  not narrowed: %s\n", f->note);
}

static void json_operands(const diff_finding *f, hg_json *json) {
    static const char *const keys[] = {"backend_value", "against_value", "cpu_value"};
    hg_json_key(json, "operands");
    hg_json_begin_array(json);
    int shown = shown_side(f);
    for (uint32_t k = f->operand_count[shown]; k-- > 0;) {
        const diff_operand *o = &f->operands[shown][k];
        hg_json_begin_object(json);
        key_text(json, "register", o->name);
        key_text(json, "type", o->type < HG_TYPE_COUNT ? hg_type_name((hg_type)o->type) : "bool");
        hg_json_key(json, "result");
        hg_json_bool(json, o->is_result);
        for (int i = 0; i < (f->judged ? 3 : 2); i++) {
            char text[160];
            diff_value_text(o->type, f->values[i] + o->offset, text);
            key_text(json, keys[i], has_value(f, i, o) ? text : NULL);
        }
        hg_json_end_object(json);
    }
    hg_json_end_array(json);
}

static void json_difference(const diff_case *d, const diff_result results[2], int kind,
                            const diff_place *p, const diff_finding *f, const char *command) {
    hg_json json = {.out = &d->c->outputs};
    char fault[400], value[160];
    hg_json_begin_object(&json);
    key_text(&json, "kind", kind == DIFF_FAULT ? "fault" : "values");
    for (int i = 0; i < 2; i++) {
        key_text(&json, i ? "against" : "backend", d->sides[i].label);
        fault_text(&results[i], fault);
        key_text(&json, i ? "against_fault" : "backend_fault",
                 results[i].status == HG_OK ? NULL : fault);
    }
    if (kind == DIFF_DATA) {
        key_text(&json, "array", place_name(d, p));
        key_number(&json, "element", p->element);
        key_number(&json, "differing", p->differing);
        for (int i = 0; i < 2; i++) {
            diff_value_text(place_type(d, p), place_bytes(d, p, &results[i]), value);
            key_text(&json, i ? "against_value" : "backend_value", value);
        }
    }
    int side = f->stopped[0];
    key_number(&json, "instruction", f->instruction[side]);
    key_number(&json, "line",
               d->sides[0].program->lines && f->instruction[side] < d->sides[0].program->inst_count
                   ? d->sides[0].program->lines[f->instruction[side]]
                   : HG_NONE);
    key_number(&json, "step", f->step);
    key_number(&json, "lane", f->lane);
    key_number(&json, "result", f->result);
    key_number(&json, "execution", f->execution);
    hg_json_key(&json, "ordered");
    hg_json_bool(&json, f->ordered);
    key_text(&json, "note", f->note[0] ? f->note : NULL);
    json_operands(f, &json);
    key_text(&json, "command", command);
    hg_json_end_object(&json);
}

/* ---- the command ---- */

static void tell_difference(const diff_case *d, const diff_options *o, const diff_result results[2],
                            int kind, const diff_place *place) {
    diff_finding *f = hg_calloc(1, sizeof *f);
    hg_text folder = {0}, command = {0}, text = {0};
    if (!f) {
        (void)hg_fail_memory();
        cli_last_error(d->c);
        return;
    }
    bool good = diff_narrow(d, results, f);
    if (good && !d->c->json) {
        tell_results(d, results, kind, place);
        tell_finding(d, f, &text);
        if (text.data) hg_text_add(&d->c->outputs, text.data, text.length);
    }
    if (o->to)
        hg_text_addf(&folder, "%s", o->to);
    else
        hg_text_addf(&folder, "%s.diff", hg_program_name(d->sides[0].program));
    const char *sides[2] = {o->sides[0] ? o->sides[0] : hg_backend_name(d->sides[0].backend),
                            o->sides[1] ? o->sides[1] : "cpu"};
    if (good && !o->no_reduce && folder.data &&
        diff_reduce(d, &o->launch, folder.data, sides, &command) && !d->c->json)
        hg_text_addf(&d->c->outputs, "reduced to %s:\n  %s\n", folder.data, command.data);
    if (good && d->c->json) json_difference(d, results, kind, place, f, command.data);
    if (d->c->status == CLI_OK) d->c->status = CLI_FAILED;
    hg_text_free(&folder);
    hg_text_free(&command);
    hg_text_free(&text);
    hg_free(f);
}

static void compare(diff_case *d, const diff_options *o) {
    diff_result results[2] = {{0}, {0}};
    diff_place place;
    hg_status status = HG_OK;
    for (int i = 0; i < 2 && status == HG_OK; i++)
        status = diff_run(&d->sides[i], d->sides[i].program, d->values, &d->launch, NULL, 0,
                          &results[i]);
    if (status != HG_OK) {
        cli_last_error(d->c);
    } else {
        int kind = diff_compare(d->values, &results[0], &results[1], &place);
        if (kind == DIFF_SAME)
            tell_equal(d, &results[0], &place);
        else
            tell_difference(d, o, results, kind, &place);
    }
    diff_result_free(&results[0]);
    diff_result_free(&results[1]);
}

static void run(cli *c, const diff_options *o) {
    cli other = {0};
    cli_values values = {0};
    diff_case d = {.c = c, .values = &values};
    uint64_t seed = 1, lanes = 0;
    bool good = !o->against_program || load_other(c, o->against_program, &other);
    d.sides[0].program = c->program;
    d.sides[1].program = o->against_program ? other.program : c->program;
    good = good && cli_number(c, "--seed", o->seed, UINT64_MAX, &seed) &&
           cli_number(c, "--lanes", o->launch.lanes, HG_MAX_LANES, &lanes) &&
           diff_inputs(c, &values, lanes, seed) &&
           cli_prepare_launch(c, &o->launch, &values, &d.launch) && open_sides(c, o, &d);
    if (good) compare(&d, o);
    hg_backend_destroy(d.sides[0].backend);
    hg_backend_destroy(d.sides[1].backend);
    hg_backend_destroy(d.judge.backend);
    cli_values_free(&values);
    if (o->against_program) cli_join(c, &other);
}

static bool load_other_graph(cli *c, const char *path, cli *other) {
    *other = (cli){
        .command = c->command, .json = c->json, .diagnostics = hg_diagnostics_create(20)};
    if (!c->as_graph && !cli_is_graph(other, path))
        cli_usage(c, "'%s' is no array graph, '%s' is one", path, c->file);
    else if (cli_load_graph(other, path) && !same_parameters(c->program, other->program))
        cli_usage(c, "'%s' and '%s' have different inputs, outputs or extents", c->file, path);
    return c->status == CLI_OK && other->status == CLI_OK;
}

static bool check_graph_options(cli *c, const diff_options *o) {
    if (o->to || o->no_reduce)
        cli_usage(c, "%s is for programs, '%s' is an array graph", o->to ? "--to" : "--no-reduce",
                  c->file);
    else if (o->passes && (o->sides[1] || o->against_program))
        cli_usage(c, "--passes compares runs of one graph on one device: it goes without %s",
                  o->sides[1] ? "--against" : "--against-program");
    return c->status == CLI_OK;
}

/* Two devices, or one with passes and without. */
static void run_graph(cli *c, const diff_options *o) {
    cli other = {0};
    cli_values values = {0};
    diff_case d = {.c = c, .values = &values};
    hg_graph_options options;
    uint64_t seed = 1;
    bool good = check_graph_options(c, o) &&
                (!o->against_program || load_other_graph(c, o->against_program, &other));
    d.graphs[0] = c->graph;
    d.graphs[1] = o->against_program ? other.graph : c->graph;
    if (good && cli_number(c, "--seed", o->seed, UINT64_MAX, &seed) &&
        cli_graph_options(c, &o->launch, &options) && diff_inputs(c, &values, 0, seed) &&
        open_side(c, "--backend", o->sides[0], NULL, &d.sides[0]) &&
        (o->passes || open_side(c, "--against", o->sides[1], "cpu", &d.sides[1]))) {
        tell_apart(&d);
        diff_graph(&d, &options, o->passes);
    }
    hg_backend_destroy(d.sides[0].backend);
    hg_backend_destroy(d.sides[1].backend);
    cli_values_free(&values);
    if (o->against_program) cli_join(c, &other);
}

int command_diff(int argc, char **argv) {
    cli c = {.keep_outputs = true};
    diff_options o = {0};
    const cli_option options[] = {
        CLI_LAUNCH_OPTIONS(o.launch),        {"--backend", &o.sides[0], NULL},
        {"--against", &o.sides[1], NULL},    {"--against-program", &o.against_program, NULL},
        {"--seed", &o.seed, NULL},           {"--to", &o.to, NULL},
        {"--no-reduce", NULL, &o.no_reduce}, {"--passes", NULL, &o.passes},
        {"--weights", &c.weights, NULL},     {"--as-graph", NULL, &c.as_graph},
    };
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count != 1)
        cli_usage(&c, "expects one PROGRAM, got %llu", (unsigned long long)c.arguments.count);
    else if (!cli_memory_begin(&c, o.launch.max_memory))
        ;
    else if (cli_is_graph(&c, c.arguments.data[0])) {
        if (cli_load_graph(&c, c.arguments.data[0])) run_graph(&c, &o);
    } else if (o.passes || c.weights)
        cli_usage(&c, "%s is for array graphs: name a .graph, or write --as-graph for a program",
                  o.passes ? "--passes" : "--weights");
    else if (load_program(&c, c.arguments.data[0]))
        run(&c, &o);
    return cli_finish(&c);
}

/* The debugger's commands: read from standard input, answered on standard output; with --json an
 * object a line.
 * Must not know: how a launch is stopped. */
#include "debug.h"
#include "source.h"
#include <stdio.h>
#include <string.h>

typedef enum answer { STAY, GO_ON, END_RUN } answer;

/* ---- saying ---- */

/* A line of text, or an object with `event` and what `fill` adds. */
static void send_line(hg_text *text) {
    hg_text_addf(text, "\n");
    if (text->data) fwrite(text->data, 1, text->length, stdout);
    fflush(stdout);
    hg_text_free(text);
}

/* Without memory it is cut. */
void debug_say(debug *d, const char *event, const char *format, ...) {
    char brief[256], *message = brief;
    hg_text text = {0};
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(brief, sizeof brief, format, args);
    char *whole = length >= (int)sizeof brief ? hg_alloc((size_t)length + 1) : NULL;
    if (whole) {
        (void)vsnprintf(whole, (size_t)length + 1, format, again);
        message = whole;
    }
    va_end(again);
    va_end(args);
    if (strcmp(event, "error") == 0) d->failed = true;
    if (d->c->json) {
        hg_json json = {.out = &text};
        hg_json_begin_object(&json);
        hg_json_add_text(&json, "event", event);
        hg_json_add_text(&json, "message", message);
        hg_json_end_object(&json);
    } else {
        hg_text_addf(&text, "%s%s", strcmp(event, "error") == 0 ? "error: " : "", message);
    }
    hg_free(whole);
    send_line(&text);
}

/* One value: `name type = text`. */
static void say_value(debug *d, const char *name, const char *type, uint64_t lane,
                      const char *text) {
    hg_text line = {0};
    if (d->c->json) {
        hg_json json = {.out = &line};
        hg_json_begin_object(&json);
        hg_json_add_text(&json, "event", "value");
        hg_json_add_text(&json, "name", name);
        if (type) hg_json_add_text(&json, "type", type);
        if (lane != HG_NONE) hg_json_add_u64(&json, "lane", lane);
        hg_json_add_text(&json, "value", text);
        hg_json_end_object(&json);
    } else {
        hg_text_addf(&line, "%s%s%s = %s", name, type ? " " : "", type ? type : "", text);
    }
    send_line(&line);
}

/* ---- places ---- */

static uint32_t line_of(const debug *d, uint32_t inst) {
    return d->program->lines && inst < d->program->inst_count ? d->program->lines[inst] : 0;
}

static uint32_t count_active(const tile_place *p) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->n; i++) count += p->active[i] != 0;
    return count;
}

static uint64_t block_lanes(const debug *d) {
    uint64_t lanes = (uint64_t)d->launch.block[0] * d->launch.block[1] * d->launch.block[2];
    return lanes ? lanes : 1;
}

static void say_where_json(debug *d, const char *reason, const char *detail) {
    hg_text text = {0}, inst = {0};
    hg_json json = {.out = &text};
    hg_json_begin_object(&json);
    hg_json_add_text(&json, "event", d->run.ended ? "ended" : "stopped");
    hg_json_add_text(&json, "reason", reason);
    if (detail) hg_json_add_text(&json, "detail", detail);
    if (d->run.place) {
        uint32_t line = line_of(d, d->run.place->inst);
        hg_print_instruction(&inst, d->program, d->run.place->inst);
        hg_json_add_u64(&json, "instruction", d->run.place->inst);
        hg_json_add_text(&json, "text", inst.data ? inst.data : "");
        if (line) hg_json_add_u64(&json, "line", line);
        hg_json_add_u64(&json, "lane", d->look.lane);
        hg_json_add_u64(&json, "block", d->look.lane / block_lanes(d));
        hg_json_add_u64(&json, "active", count_active(d->run.place));
        hg_json_add_u64(&json, "of", d->run.place->n);
        hg_json_add_u64(&json, "phase", d->run.place->phase);
    }
    hg_json_end_object(&json);
    hg_text_free(&inst);
    send_line(&text);
}

/* Below the source line: which expression of it comes next. */
static void add_carets(const debug *d, hg_text *text, uint32_t inst, const char *source,
                       size_t length) {
    const hg_program *p = d->program;
    if (!p->lengths || !p->lengths[inst] || !p->columns[inst] || p->columns[inst] > length) return;
    size_t first = p->columns[inst] - 1u, end = first + p->lengths[inst];
    if (end > length) end = length;
    hg_text_addf(text, "\n      | ");
    for (size_t i = 0; i < first; i++) hg_text_add(text, source[i] == '\t' ? "\t" : " ", 1);
    for (size_t i = first; i < end; i++) hg_text_add(text, i == first ? "^" : "~", 1);
}

static void say_where(debug *d, const char *reason, const char *detail) {
    if (d->c->json) {
        say_where_json(d, reason, detail);
        return;
    }
    hg_text text = {0};
    if (!d->run.place) {
        hg_text_addf(&text, "%s%s%s", reason, detail ? " " : "", detail ? detail : "");
        if (detail) hg_text_addf(&text, "\nfinished"); /* by the last instruction */
        send_line(&text);
        return;
    }
    uint32_t line = line_of(d, d->run.place->inst);
    const char *source;
    size_t length;
    if (detail) hg_text_addf(&text, "%s %s\n", reason, detail);
    hg_text_addf(&text, "%s at ", detail ? "stopped" : reason);
    if (line) hg_text_addf(&text, "line %u, ", (unsigned)line);
    hg_text_addf(
        &text, "instruction %u, lane %llu (block %llu, lane %llu of it); %u of %u lanes are here\n",
        (unsigned)d->run.place->inst, (unsigned long long)d->look.lane,
        (unsigned long long)(d->look.lane / block_lanes(d)),
        (unsigned long long)(d->look.lane % block_lanes(d)), (unsigned)count_active(d->run.place),
        (unsigned)d->run.place->n);
    if (cli_source_line(d->c, line, &source, &length)) {
        length = cli_source_shown(source, length, 160);
        hg_text_addf(&text, "%5u | %.*s", (unsigned)line, (int)length, source);
        add_carets(d, &text, d->run.place->inst, source, length);
    } else {
        hg_text_addf(&text, "%5u : ", (unsigned)d->run.place->inst);
        hg_print_instruction(&text, d->program, d->run.place->inst);
    }
    send_line(&text);
}

static bool needs_place(debug *d) {
    if (d->run.place) return true;
    debug_say(d, "error", "the program has ended: 'back' or 'restart' come back into it");
    return false;
}

static bool read_instruction(debug *d, const char *word, uint32_t *inst) {
    const hg_program *p = d->program;
    uint64_t n;
    bool good = cli_read_number(word + 1, strlen(word + 1), UINT32_MAX, &n) && n < p->inst_count;
    if (good)
        *inst = (uint32_t)n;
    else
        debug_say(d, "error", "instruction %s: the program has %u, counted from 0", word + 1,
                  (unsigned)p->inst_count);
    return good;
}

static bool read_line(debug *d, const char *word, uint32_t *inst) {
    const hg_program *p = d->program;
    uint64_t line;
    if (!cli_read_number(word, strlen(word), UINT32_MAX, &line) || !line) {
        debug_say(d, "error", "'%s' is no line: they count from 1", word);
        return false;
    }
    for (uint32_t i = 0; i < p->inst_count; i++)
        if (line_of(d, i) >= line) {
            *inst = i;
            return true;
        }
    debug_say(d, "error",
              p->lines ? "there is no instruction at line %s or below"
                       : "the program has no lines: assemble it with -g",
              word);
    return false;
}

static bool read_label(debug *d, const char *word, uint32_t *inst) {
    const hg_program *p = d->program;
    for (uint32_t i = 0; i < p->label_count; i++) {
        if (strcmp(p->labels[i].name, word) != 0) continue;
        if (p->labels[i].index >= p->inst_count) {
            debug_say(d, "error", "'%s' is the end of the program: no instruction is there", word);
            return false;
        }
        *inst = p->labels[i].index;
        return true;
    }
    debug_say(d, "error", "'%s' is no line, no label and no instruction (i7)", word);
    return false;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* LINE, a label, or i and the number of an instruction. */
static bool read_place(debug *d, const char *word, uint32_t *inst) {
    size_t digits = strspn(word + 1, "0123456789_");
    if (word[0] == 'i' && is_digit(word[1]) && !word[1 + digits])
        return read_instruction(d, word, inst);
    return is_digit(word[0]) ? read_line(d, word, inst) : read_label(d, word, inst);
}

/* ---- values ---- */

/* r7, p1. */
static bool read_register(const char *word, bool *predicate, uint8_t *number) {
    uint64_t n;
    *predicate = word[0] == 'p';
    if (word[0] != 'r' && !*predicate) return false;
    if (!cli_read_number(word + 1, strlen(word + 1),
                         (*predicate ? HG_MAX_PREDICATES : HG_MAX_REGISTERS) - 1, &n))
        return false;
    *number = (uint8_t)n;
    return true;
}

/* The name that a register has here; NULL: none. */
static const char *name_of(const debug *d, bool predicate, uint8_t number) {
    return d->run.place
               ? hg_program_register_name(d->program, d->run.place->inst, predicate, number)
               : NULL;
}

static bool find_named(const debug *d, const char *word, bool *predicate, uint8_t *number) {
    for (int bank = 0; bank < 2; bank++)
        for (uint32_t n = 0; n < (bank ? HG_MAX_PREDICATES : HG_MAX_REGISTERS); n++) {
            const char *name = name_of(d, bank, (uint8_t)n);
            if (!name || strcmp(name, word) != 0) continue;
            *predicate = bank;
            *number = (uint8_t)n;
            return true;
        }
    return false;
}

/* The register that a word names here. Names of the program come before the language's own. */
static bool find_register(const debug *d, const char *word, bool *predicate, uint8_t *number) {
    const hg_program *p = d->program;
    *predicate = false;
    if (find_named(d, word, predicate, number)) return true;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].kind == HG_PARAM_SCALAR && strcmp(p->params[i].name, word) == 0) {
            *number = p->params[i].reg;
            return true;
        }
    if (read_register(word, predicate, number)) return true;
    *predicate = false;
    for (int i = 0; i < HG_SPECIAL_COUNT; i++)
        if (strcmp(hg_specials[i].text, word) == 0) {
            *number = hg_specials[i].reg;
            return true;
        }
    return false;
}

/* What the launch gives r252 ... r255 where no instruction has told. */
static bool special_value(const debug *d, uint8_t number, uint64_t lane, hg_type *type,
                          uint64_t *value) {
    uint64_t per = block_lanes(d), in_block = lane % per;
    if (number < HG_FIRST_SPECIAL) return false;
    hg_idname id = (hg_idname)hg_specials[number - HG_FIRST_SPECIAL].id;
    *type = hg_idname_type(id);
    switch (hg_idname_part(id)) {
    case HG_PART_LANE_IDX:
        *value = in_block % (d->launch.block[0] ? d->launch.block[0] : 1);
        return true;
    case HG_PART_BLOCK_IDX:
        *value = lane / per % (d->launch.grid[0] ? d->launch.grid[0] : 1);
        return true;
    case HG_PART_BLOCK_DIM: *value = d->launch.block[0]; return true;
    default: *value = lane; return true;
    }
}

static bool register_text(const debug *d, bool predicate, uint8_t number, uint64_t lane,
                          hg_text *text, hg_type *type) {
    uint64_t words[64] = {0};
    *type = debug_register(d, predicate, number, lane, words);
    if (*type == HG_TYPE_COUNT && (predicate || !special_value(d, number, lane, type, words)))
        return false;
    if (predicate)
        hg_text_addf(text, "%s", words[0] ? "true" : "false");
    else
        hg_print_value(text, *type, (const uint8_t *)words);
    return true;
}

static void print_register(debug *d, const char *name, bool predicate, uint8_t number,
                           uint64_t from, uint64_t to) {
    for (uint64_t lane = from; lane <= to; lane++) {
        hg_text text = {0};
        char shown[160];
        hg_type type;
        bool known = register_text(d, predicate, number, lane, &text, &type);
        if (from == to)
            snprintf(shown, sizeof shown, "%s", name);
        else
            snprintf(shown, sizeof shown, "%s of lane %llu", name, (unsigned long long)lane);
        say_value(d, shown,
                  !known      ? NULL
                  : predicate ? "pred"
                              : hg_type_name(type),
                  lane, known && text.data ? text.data : "not set");
        hg_text_free(&text);
    }
}

/* ---- memory: x, x[3], x[2..5], shared[16..31] as f32, private[2] ---- */

typedef struct range {
    int array; /* parameter, or DEBUG_… */
    hg_type type;
    uint64_t from, to; /* elements */
    bool whole;
} range;

/* A[..B] of elements or lanes; one number is both. */
static bool read_interval(const char *text, size_t length, uint64_t *from, uint64_t *to) {
    size_t first = 0;
    while (first < length && text[first] != '.') first++;
    if (!cli_read_number(text, first, UINT64_MAX, from)) return false;
    *to = *from;
    if (first == length) return true;
    return length - first > 2 && text[first + 1] == '.' &&
           cli_read_number(text + first + 2, length - first - 2, UINT64_MAX, to) && *to >= *from;
}

/* False, without a word: it names no memory. Names of the program come before the language's own.
 */
static bool find_array(const debug *d, const char *word, size_t length, int *array) {
    bool predicate;
    uint8_t number;
    for (uint32_t i = 0; i < d->program->param_count; i++) {
        const hg_param *p = &d->program->params[i];
        if (p->kind == HG_PARAM_SCALAR || strlen(p->name) != length ||
            memcmp(p->name, word, length) != 0)
            continue;
        *array = (int)i;
        return true;
    }
    bool shared = length == 6 && memcmp(word, "shared", 6) == 0,
         own = length == 7 && memcmp(word, "private", 7) == 0;
    *array = shared ? DEBUG_SHARED : DEBUG_PRIVATE;
    return (shared || own) && !find_named(d, word, &predicate, &number);
}

typedef enum reading { NOT_MEMORY, WRONG, READ } reading;

/* WRONG has been reported. type NULL: the array's own. */
static reading read_range(debug *d, const char *word, const char *type, range *r) {
    size_t length = strcspn(word, "["), rest = strlen(word) - length;
    if (!find_array(d, word, length, &r->array)) return NOT_MEMORY;
    const hg_param *p = r->array < 0 ? NULL : &d->program->params[r->array];
    r->type = p && p->kind != HG_PARAM_POOL ? (hg_type)p->type : HG_TYPE_U32;
    r->whole = rest == 0;
    r->from = 0;
    r->to = UINT64_MAX;
    if (!r->whole && (rest < 3 || word[length + rest - 1] != ']' ||
                      !read_interval(word + length + 1, rest - 2, &r->from, &r->to))) {
        debug_say(d, "error", "'%s': write NAME[3] or NAME[2..5]", word);
        return WRONG;
    }
    if (!type || hg_type_from_name(type, strlen(type), &r->type)) return READ;
    debug_say(d, "error", "'%s' is no type", type);
    return WRONG;
}

static bool ends_inside(debug *d, const char *word, const range *r, uint64_t bytes) {
    uint64_t count = bytes / hg_type_size_bytes(r->type);
    if (r->from < count && (r->whole || r->to < count)) return true;
    debug_say(d, "error", "'%s': it has %llu elements of %s", word, (unsigned long long)count,
              hg_type_name(r->type));
    return false;
}

/* Why there are no bytes. */
static void say_no_memory(debug *d, const char *word, const range *r, uint64_t lane) {
    const tile_place *p = d->run.place;
    if (r->array >= 0)
        debug_say(d, "error", "'%s' has no memory here", word);
    else if (r->array == DEBUG_SHARED)
        debug_say(d, "error", "there is no shared memory here");
    else if (!p || !d->program->private_bytes)
        debug_say(d, "error",
                  p ? "the program has no private memory" : "there is no private memory here");
    else
        debug_say(d, "error",
                  "the private memory of lane %llu is not here: lanes %llu to %llu run now",
                  (unsigned long long)lane, (unsigned long long)p->lane0,
                  (unsigned long long)(p->lane0 + p->n - 1));
}

static bool print_memory(debug *d, const char *word, const char *name, const range *r,
                         uint64_t lane) {
    uint64_t bytes = debug_memory_size(d, r->array, lane), size = hg_type_size_bytes(r->type);
    if (!bytes) {
        say_no_memory(d, word, r, lane);
        return false;
    }
    if (!ends_inside(d, word, r, bytes)) return false;
    hg_text text = {0};
    uint8_t element[512];
    uint64_t most = r->whole ? 16 : 4096, last = r->whole ? bytes / size - 1 : r->to;
    for (uint64_t i = r->from; i <= last && i - r->from < most; i++) {
        if (i > r->from) hg_text_addf(&text, " ");
        if (debug_bytes(d, r->array, lane, i * size, size, element))
            hg_print_value(&text, r->type, element);
    }
    if (last - r->from >= most)
        hg_text_addf(&text, " … %llu more", (unsigned long long)(last - r->from + 1 - most));
    say_value(d, name, hg_type_name(r->type), r->array == DEBUG_PRIVATE ? lane : HG_NONE,
              text.data ? text.data : "");
    hg_text_free(&text);
    return true;
}

/* Of one lane after another. */
static void print_private(debug *d, const char *word, const range *r, uint64_t from, uint64_t to) {
    bool good = true;
    for (uint64_t lane = from; lane <= to && good; lane++) {
        char name[384];
        snprintf(name, sizeof name, "%s of lane %llu", word, (unsigned long long)lane);
        good = print_memory(d, word, from == to ? word : name, r, lane);
    }
}

/* ---- commands ---- */

enum { MAX_WORDS = 8 };
typedef struct words {
    char *at[MAX_WORDS];
    int count;
} words;

/* A number above 0. */
static bool read_count(debug *d, const char *word, uint64_t *count) {
    if (cli_read_number(word, strlen(word), UINT64_MAX, count) && *count) return true;
    debug_say(d, "error", "'%s' is no number above 0", word);
    return false;
}

static answer do_step(debug *d, const words *w) {
    uint64_t steps = 1;
    if (!needs_place(d) || (w->count > 1 && !read_count(d, w->at[1], &steps))) return STAY;
    d->run.steps = steps;
    d->run.mode = DEBUG_STOP;
    return GO_ON;
}

static answer do_next(debug *d, const words *w) {
    (void)w;
    if (!needs_place(d)) return STAY;
    d->run.steps = 1;
    d->run.mode = DEBUG_STOP;
    if (d->program->insts[d->run.place->inst].op == HG_OP_CALL) {
        d->run.mode = DEBUG_UNTIL;
        d->run.inst = d->run.place->inst + 1;
    }
    return GO_ON;
}

static answer do_continue(debug *d, const words *w) {
    (void)w;
    if (!needs_place(d)) return STAY;
    d->run.mode = DEBUG_CONTINUE;
    return GO_ON;
}

static answer do_until(debug *d, const words *w) {
    uint32_t inst;
    if (!needs_place(d) || !read_place(d, w->at[1], &inst)) return STAY;
    d->run.inst = inst;
    d->run.mode = DEBUG_UNTIL;
    return GO_ON;
}

static answer do_back(debug *d, const words *w) {
    (void)w;
    d->run.mode = DEBUG_SEARCH;
    d->run.target = d->run.ended ? UINT64_MAX : d->run.events;
    d->run.inst = UINT32_MAX;
    d->run.found = 0;
    d->run.reason = "back";
    d->run.again = true;
    return END_RUN;
}

static answer do_restart(debug *d, const words *w) {
    (void)w;
    d->run.mode = DEBUG_STOP;
    d->run.steps = 1;
    d->run.again = true;
    return END_RUN;
}

static answer do_quit(debug *d, const words *w) {
    (void)w;
    d->run.quit = true;
    return END_RUN;
}

static answer do_break(debug *d, const words *w) {
    uint32_t inst;
    if (!read_place(d, w->at[1], &inst)) return STAY;
    debug_break *b = hg_vec_push(&d->breaks);
    if (!b) {
        debug_say(d, "error", "no memory left");
        return STAY;
    }
    *b = (debug_break){++d->next_number, inst};
    debug_say(d, "breakpoint", "breakpoint %u: line %u, instruction %u", (unsigned)b->number,
              (unsigned)line_of(d, inst), (unsigned)inst);
    return STAY;
}

/* `as TYPE` and `lanes A..B`, behind what they belong to. */
typedef struct manner {
    const char *type, *lanes;
} manner;

static bool read_manner(debug *d, const words *w, manner *m) {
    *m = (manner){0};
    for (int i = 2; i < w->count; i += 2) {
        const char **place = strcmp(w->at[i], "as") == 0      ? &m->type
                             : strcmp(w->at[i], "lanes") == 0 ? &m->lanes
                                                              : NULL;
        if (place && !*place && i + 1 < w->count) {
            *place = w->at[i + 1];
            continue;
        }
        debug_say(d, "error", "'%s': expected 'as TYPE' or 'lanes A..B' here", w->at[i]);
        return false;
    }
    return true;
}

/* One element, which is there if that can be said now. */
static bool read_watched(debug *d, const words *w, range *r) {
    manner m;
    uint64_t bytes, end;
    if (!read_manner(d, w, &m)) return false;
    reading got = m.lanes ? NOT_MEMORY : read_range(d, w->at[1], m.type, r);
    if (got == WRONG) return false;
    if (got == NOT_MEMORY || r->whole || r->from != r->to) {
        debug_say(d, "error", "watch expects one element: watch x[3] or watch shared[4] as f32");
        return false;
    }
    bytes = r->array == DEBUG_PRIVATE ? d->program->private_bytes
                                      : debug_memory_size(d, r->array, d->look.lane);
    if (bytes) return ends_inside(d, w->at[1], r, bytes);
    if (r->array == DEBUG_PRIVATE) {
        debug_say(d, "error", "the program has no private memory");
        return false;
    }
    if (hg_mul_u64(r->from, hg_type_size_bytes(r->type), &end)) return true;
    debug_say(d, "error", "'%s': no memory is so large", w->at[1]);
    return false;
}

static answer do_watch(debug *d, const words *w) {
    range r;
    if (!read_watched(d, w, &r)) return STAY;
    uint64_t size = hg_type_size_bytes(r.type);
    debug_watch *watch = hg_vec_push(&d->watches);
    if (!watch) {
        debug_say(d, "error", "no memory left");
        return STAY;
    }
    *watch = (debug_watch){.number = ++d->next_number,
                           .array = r.array,
                           .lane = d->look.lane,
                           .offset = r.from * size,
                           .type = (uint8_t)r.type,
                           .size = (uint16_t)size};
    snprintf(watch->text, sizeof watch->text, "%s", w->at[1]);
    if (r.array == DEBUG_PRIVATE)
        snprintf(watch->text, sizeof watch->text, "%s of lane %llu", w->at[1],
                 (unsigned long long)d->look.lane);
    watch->known = debug_bytes(d, watch->array, watch->lane, watch->offset, size, watch->last);
    debug_say(d, "watch", "watch %u: %s", (unsigned)watch->number, watch->text);
    return STAY;
}

static answer do_delete(debug *d, const words *w) {
    uint64_t number;
    if (!read_count(d, w->at[1], &number)) return STAY;
    for (uint64_t i = 0; i < d->breaks.count; i++)
        if (d->breaks.data[i].number == number) {
            d->breaks.data[i] = d->breaks.data[--d->breaks.count];
            return STAY;
        }
    for (uint64_t i = 0; i < d->watches.count; i++)
        if (d->watches.data[i].number == number) {
            d->watches.data[i] = d->watches.data[--d->watches.count];
            return STAY;
        }
    debug_say(d, "error", "there is no breakpoint or watch %llu", (unsigned long long)number);
    return STAY;
}

static answer do_info(debug *d, const words *w) {
    (void)w;
    for (uint64_t i = 0; i < d->breaks.count; i++)
        debug_say(d, "breakpoint", "breakpoint %u: line %u, instruction %u",
                  (unsigned)d->breaks.data[i].number, (unsigned)line_of(d, d->breaks.data[i].inst),
                  (unsigned)d->breaks.data[i].inst);
    for (uint64_t i = 0; i < d->watches.count; i++)
        debug_say(d, "watch", "watch %u: %s", (unsigned)d->watches.data[i].number,
                  d->watches.data[i].text);
    if (!d->breaks.count && !d->watches.count)
        debug_say(d, "info", "no breakpoints and no watches");
    return STAY;
}

static bool read_lanes(debug *d, const char *word, uint64_t *from, uint64_t *to) {
    if (read_interval(word, strlen(word), from, to) && *to < d->run.lanes) return true;
    debug_say(d, "error", "'%s' is no lane: the launch has 0 to %llu", word,
              (unsigned long long)(d->run.lanes - 1));
    return false;
}

static bool read_lane(debug *d, const char *word, uint64_t *lane) {
    if (cli_read_number(word, strlen(word), d->run.lanes - 1, lane)) return true;
    debug_say(d, "error", "'%s' is no lane: the launch has 0 to %llu", word,
              (unsigned long long)(d->run.lanes - 1));
    return false;
}

/* Its registers are known when it is in the window; else the run is repeated with another window.
 */
static answer choose_lane(debug *d, uint64_t lane) {
    d->look.lane = lane;
    d->look.pinned = true;
    if (lane >= d->look.window && lane - d->look.window < d->look.window_lanes) {
        if (d->run.place && lane < d->run.place->lane0)
            debug_say(d, "lane", "lane %llu has been here already: 'restart' begins again",
                      (unsigned long long)lane);
        else if (d->run.place && !debug_is_here(d, lane))
            debug_say(d, "lane", "lane %llu is not here now: the next stop is where it is",
                      (unsigned long long)lane);
        else
            debug_say(d, "lane", "lane %llu", (unsigned long long)lane);
        return STAY;
    }
    return do_restart(d, NULL);
}

static answer do_lane(debug *d, const words *w) {
    uint64_t lane;
    if (w->count == 1) {
        debug_say(d, "lane", "lane %llu%s", (unsigned long long)d->look.lane,
                  d->look.pinned ? "" : ", and any other that comes to a breakpoint");
        return STAY;
    }
    if (strcmp(w->at[1], "any") == 0) {
        d->look.pinned = false;
        return STAY;
    }
    return read_lane(d, w->at[1], &lane) ? choose_lane(d, lane) : STAY;
}

static answer do_block(debug *d, const words *w) {
    uint64_t block, last = (d->run.lanes - 1) / block_lanes(d);
    if (cli_read_number(w->at[1], strlen(w->at[1]), last, &block))
        return choose_lane(d, block * block_lanes(d));
    debug_say(d, "error", "'%s' is no block: the launch has blocks 0 to %llu", w->at[1],
              (unsigned long long)last);
    return STAY;
}

/* A scalar parameter whose register is another value's by now: what the launch was given. NULL:
 * none, or its register has it. */
static const cli_value *launch_scalar(const debug *d, const char *word) {
    const hg_program *p = d->program;
    bool predicate, shared = false;
    uint8_t number;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (p->params[i].kind != HG_PARAM_SCALAR || strcmp(p->params[i].name, word) != 0) continue;
        for (uint32_t k = 0; k < p->register_name_count; k++) {
            const hg_register_name *r = &p->register_names[k];
            shared |= !r->predicate && r->number == p->params[i].reg; /* the assembler chose it:
                                                                         literals come there too */
        }
        return shared && !find_named(d, word, &predicate, &number) ? &d->values.data[i] : NULL;
    }
    return NULL;
}

static void print_given(debug *d, const char *word, const cli_value *v) {
    hg_text text = {0};
    hg_print_value(&text, (hg_type)v->param->type, v->scalar);
    say_value(d, word, hg_type_name((hg_type)v->param->type), HG_NONE, text.data ? text.data : "");
    hg_text_free(&text);
}

static void print_word(debug *d, const char *word, const manner *m, uint64_t from, uint64_t to) {
    range r;
    bool predicate;
    uint8_t number;
    const cli_value *given = launch_scalar(d, word);
    reading got = read_range(d, word, m->type, &r);
    if (got == WRONG) return;
    if (given && !m->type)
        print_given(d, word, given);
    else if (got == READ && r.array == DEBUG_PRIVATE)
        print_private(d, word, &r, from, to);
    else if (got == READ && !m->lanes)
        (void)print_memory(d, word, word, &r, from);
    else if (got == READ)
        debug_say(d, "error", "'%s' is the same for all lanes", word);
    else if (!find_register(d, word, &predicate, &number))
        debug_say(d, "error", "'%s' is no register, parameter or array here", word);
    else if (m->type)
        debug_say(d, "error", "'%s' has the type that it was written with: 'as' is for memory",
                  word);
    else
        print_register(d, word, predicate, number, from, to);
}

static answer do_print(debug *d, const words *w) {
    manner m;
    uint64_t from = d->look.lane, to = d->look.lane;
    if (read_manner(d, w, &m) && (!m.lanes || read_lanes(d, m.lanes, &from, &to)))
        print_word(d, w->at[1], &m, from, to);
    return STAY;
}

static answer do_registers(debug *d, const words *w) {
    (void)w;
    bool any = false;
    for (int bank = 0; bank < 2; bank++)
        for (uint32_t n = 0; n < (bank ? HG_MAX_PREDICATES : HG_MAX_REGISTERS); n++) {
            uint64_t words_of[64];
            char name[300];
            const char *own = name_of(d, bank, (uint8_t)n);
            if (debug_register(d, bank, (uint8_t)n, d->look.lane, words_of) == HG_TYPE_COUNT)
                continue;
            snprintf(name, sizeof name, "%c%u%s%s%s", bank ? 'p' : 'r', (unsigned)n,
                     own ? " (" : "", own ? own : "", own ? ")" : "");
            print_register(d, name, bank, (uint8_t)n, d->look.lane, d->look.lane);
            any = true;
        }
    if (!any)
        debug_say(d, "info", "lane %llu has set no register", (unsigned long long)d->look.lane);
    return STAY;
}

/* Runs of lanes, as 0-3,8. */
static answer do_mask(debug *d, const words *w) {
    (void)w;
    if (!needs_place(d)) return STAY;
    const tile_place *p = d->run.place;
    hg_text text = {0};
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t first = i;
        if (!p->active[i]) continue;
        while (i + 1 < p->n && p->active[i + 1]) i++;
        hg_text_addf(&text, "%s%llu", text.length ? "," : "",
                     (unsigned long long)(p->lane0 + first));
        if (i > first) hg_text_addf(&text, "-%llu", (unsigned long long)(p->lane0 + i));
    }
    debug_say(d, "mask", "lanes here: %s; of %llu to %llu, which run together",
              text.data ? text.data : "none", (unsigned long long)p->lane0,
              (unsigned long long)(p->lane0 + p->n - 1));
    hg_text_free(&text);
    return STAY;
}

static answer do_where(debug *d, const words *w) {
    (void)w;
    if (needs_place(d)) say_where(d, "stopped", NULL);
    return STAY;
}

static answer do_list(debug *d, const words *w) {
    (void)w;
    uint32_t inst = d->run.place ? d->run.place->inst : 0, line = line_of(d, inst);
    const char *source;
    size_t length;
    if (cli_source_line(d->c, line, &source, &length)) {
        for (uint32_t i = line > 5 ? line - 5 : 1;
             i < line + 6 && cli_source_line(d->c, i, &source, &length); i++)
            debug_say(d, "line", "%s%4u | %.*s", i == line ? ">" : " ", (unsigned)i,
                      (int)cli_source_shown(source, length, 160), source);
    } else {
        for (uint32_t i = inst > 5 ? inst - 5 : 0; i < inst + 6 && i < d->program->inst_count;
             i++) {
            hg_text text = {0};
            hg_print_instruction(&text, d->program, i);
            debug_say(d, "line", "%s%4u : %s", i == inst ? ">" : " ", (unsigned)i,
                      text.data ? text.data : "");
            hg_text_free(&text);
        }
    }
    return STAY;
}

static answer do_help(debug *d, const words *w);

static const struct {
    const char *name, *brief;
    answer (*run)(debug *, const words *);
    int least, most; /* words behind the name */
    const char *expects;
    const char *what;
} COMMANDS[] = {
    {"step", "s", do_step, 0, 1, "at most a number of steps",
     "[N]             to the next instruction of the lane"},
    {"next", "n", do_next, 0, 0, "nothing more",
     "                to the next instruction, over a call"},
    {"continue", "c", do_continue, 0, 0, "nothing more",
     "            to a breakpoint, a watch, a fault or the end"},
    {"until", "u", do_until, 1, 1, "a place: until LINE, until LABEL or until i7",
     "PLACE          to a place"},
    {"back", "b-", do_back, 0, 0, "nothing more",
     "                one instruction of the lane back"},
    {"restart", NULL, do_restart, 0, 0, "nothing more", "             from the start"},
    {"break", "b", do_break, 1, 1, "a place: break LINE, break LABEL or break i7",
     "PLACE          stop at a line, a label or an instruction (i7)"},
    {"watch", "w", do_watch, 1, 3, "one element: watch x[3] or watch shared[4] as f32",
     "x[3]           stop when the element changes; shared[4] as f32, private[2] of the lane"},
    {"delete", "d", do_delete, 1, 1, "the number of a breakpoint or watch",
     "N             remove a breakpoint or watch"},
    {"info", NULL, do_info, 0, 0, "nothing more", "                list breakpoints and watches"},
    {"lane", "l", do_lane, 0, 1, "a number or 'any'",
     "N | any         the lane that commands speak of"},
    {"block", NULL, do_block, 1, 1, "a number", "N              its first lane"},
    {"print", "p", do_print, 1, 5,
     "what: print i, print r7 lanes 0..7, print x[2..5], print shared[0..7] as f32",
     "WHAT           r7, n, r7 lanes 0..7, x[2..5], shared[0..7] as f32, private[2] lanes 0..7"},
    {"registers", "r", do_registers, 0, 0, "nothing more", "           all registers of the lane"},
    {"mask", "m", do_mask, 0, 0, "nothing more", "                which lanes are here"},
    {"where", NULL, do_where, 0, 0, "nothing more", "               the place again"},
    {"list", NULL, do_list, 0, 0, "nothing more", "                the lines around it"},
    {"help", "h", do_help, 0, 0, "nothing more", "                this list"},
    {"quit", "q", do_quit, 0, 0, "nothing more", "                leave"},
};

static answer do_help(debug *d, const words *w) {
    (void)w;
    for (size_t i = 0; i < HG_COUNT_OF(COMMANDS); i++)
        debug_say(d, "help", "  %-2s %s %s", COMMANDS[i].brief ? COMMANDS[i].brief : "",
                  COMMANDS[i].name, COMMANDS[i].what);
    return STAY;
}

static answer run_command(debug *d, size_t i, const words *w) {
    if (w->count - 1 >= COMMANDS[i].least && w->count - 1 <= COMMANDS[i].most)
        return COMMANDS[i].run(d, w);
    debug_say(d, "error", "%s expects %s", COMMANDS[i].name, COMMANDS[i].expects);
    return STAY;
}

/* Words beyond MAX_WORDS are more than any command takes. */
static answer obey(debug *d, char *line) {
    words w = {0};
    for (char *word = strtok(line, " \t\r\n"); word && w.count < MAX_WORDS;
         word = strtok(NULL, " \t\r\n"))
        w.at[w.count++] = word;
    if (!w.count || w.at[0][0] == '#') return STAY;
    for (size_t i = 0; i < HG_COUNT_OF(COMMANDS); i++)
        if (strcmp(w.at[0], COMMANDS[i].name) == 0 ||
            (COMMANDS[i].brief && strcmp(w.at[0], COMMANDS[i].brief) == 0))
            return run_command(d, i, &w);
    debug_say(d, "error", "'%s' is no command: 'help' lists them", w.at[0]);
    return STAY;
}

bool debug_talk(debug *d, const char *reason, const char *detail) {
    say_where(d, reason, detail);
    for (;;) {
        if (d->interactive) {
            fputs("(debug) ", stdout);
            fflush(stdout);
        }
        ssize_t length = getline(&d->line, &d->line_bytes, stdin);
        if (length < 0) {
            d->run.quit = true;
            return false;
        }
        answer a = obey(d, d->line);
        if (a != STAY) return a == GO_ON;
    }
}

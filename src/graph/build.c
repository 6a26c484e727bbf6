/* Building array graphs: symbols, values, calls. Must not know: text, devices. */
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static uint64_t hash_name(const char *name, size_t length) {
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001B3);
    return h ^ h >> 32;
}

typedef const char *name_of(const hg_graph *g, uint32_t number);
static const char *value_name(const hg_graph *g, uint32_t number) {
    return g->values.data[number].name;
}
static const char *output_name(const hg_graph *g, uint32_t number) {
    return g->outputs.data[number].name;
}

/* Where a name stands in a table, or the free place where it would. */
static uint32_t *slot_of(const hg_graph *g, const graph_names *names, name_of *of, const char *name,
                         size_t length) {
    uint64_t at = hash_name(name, length) & (names->count - 1);
    while (names->data[at] && !graph_is_name(of(g, names->data[at] - 1), name, length))
        at = (at + 1) & (names->count - 1);
    return &names->data[at];
}

static uint32_t find(const hg_graph *g, const graph_names *names, name_of *of, const char *name,
                     size_t length) {
    return names->count ? *slot_of(g, names, of, name, length) - 1 : GRAPH_NOT_SET; /* 0 - 1 is
                                                                                       GRAPH_NOT_SET
                                                                                     */
}

static void enter(const hg_graph *g, graph_names *names, name_of *of, uint32_t number) {
    const char *name = of(g, number);
    if (name) *slot_of(g, names, of, name, strlen(name)) = number + 1;
}

/* Room for one more than `count` names. */
static bool make_room(const hg_graph *g, graph_names *names, name_of *of, uint64_t count) {
    if (2 * (count + 1) <= names->count) return true;
    uint64_t slots = names->count ? 2 * names->count : 64;
    uint32_t *data = hg_calloc((size_t)slots, sizeof *data);
    if (!data) return false;
    hg_free(names->data);
    names->data = data;
    names->count = names->capacity = slots;
    for (uint64_t i = 0; i < count; i++) enter(g, names, of, (uint32_t)i);
    return true;
}

uint32_t graph_find_value(const hg_graph *g, const char *name, size_t length) {
    return find(g, &g->names, value_name, name, length);
}

static uint32_t find_output(const hg_graph *g, const char *name, size_t length) {
    return find(g, &g->output_names, output_name, name, length);
}

static hg_status check_name(const hg_graph *g, const char *name, size_t length) {
    int shown = length > 80 ? 80 : (int)length;
    if (length > HG_MAX_IDENT_BYTES || !hg_is_parameter_name(name, length))
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "'%.*s' is no name: letters, digits and _, at most %d bytes, and no register or type",
            shown, name, HG_MAX_IDENT_BYTES);
    if (graph_find_value(g, name, length) != GRAPH_NOT_SET ||
        graph_find_symbol(g, name, length) != GRAPH_NOT_SET)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "'%.*s' is declared already: a value never changes, so each has a name of its own",
            shown, name);
    return HG_OK;
}

/* Whoever binds the graph tells symbols, inputs, constants and outputs apart by their names. */
static hg_status check_bound_name(const hg_graph *g, const char *name, size_t length) {
    if (find_output(g, name, length) == GRAPH_NOT_SET) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%.*s' is the name of an output",
                   length > 80 ? 80 : (int)length, name);
}

/* ---- symbols and values ---- */

hg_status graph_add_symbol(hg_graph *g, const char *name, size_t length) {
    HG_TRY(check_name(g, name, length));
    HG_TRY(check_bound_name(g, name, length));
    if (g->symbols.count >= HG_MAX_GRAPH_EXTENTS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d extents of a graph",
                       HG_MAX_GRAPH_EXTENTS);
    const char *kept = hg_arena_text(&g->arena, name, length);
    const char **to = kept ? hg_vec_push(&g->symbols) : NULL;
    if (!to) return hg_fail_memory();
    *to = kept;
    return HG_OK;
}

hg_status graph_add_value(hg_graph *g, const graph_value *value, const char *name, size_t length,
                          uint32_t *number) {
    const char *kept = NULL;
    if (name) HG_TRY(check_name(g, name, length));
    if (name && (value->source == GRAPH_INPUT || value->source == GRAPH_CONSTANT))
        HG_TRY(check_bound_name(g, name, length));
    if (g->values.count >= HG_MAX_GRAPH_VALUES)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d values of a graph",
                       HG_MAX_GRAPH_VALUES);
    if (!make_room(g, &g->names, value_name, g->values.count)) return hg_fail_memory();
    if (name && !(kept = hg_arena_text(&g->arena, name, length))) return hg_fail_memory();
    graph_extent elements = graph_number(g, 1);
    for (uint8_t d = 0; d < value->rank; d++)
        elements = graph_combine(g, HG_EXTENT_OP_MUL, elements, value->extents[d]);
    if (elements == GRAPH_NOT_SET) return hg_error_record()->status;
    graph_value *to = hg_vec_push(&g->values);
    if (!to) return hg_fail_memory();
    *to = *value;
    to->name = kept;
    to->elements = elements;
    to->takes = GRAPH_NOT_SET;
    *number = (uint32_t)(g->values.count - 1);
    enter(g, &g->names, value_name, *number);
    return HG_OK;
}

uint32_t graph_base(const hg_graph *g, uint32_t value) {
    while (g->values.data[value].source == GRAPH_VIEW) value = g->values.data[value].of;
    return value;
}

void graph_mark_read(const hg_graph *g, uint8_t *read) {
    for (uint64_t i = 0; i < g->calls.count; i++)
        for (uint32_t k = 0; k < g->calls.data[i].operand_count; k++) {
            const graph_operand *o = &g->operands.data[g->calls.data[i].first_operand + k];
            if (o->kind == GRAPH_ARRAY) read[graph_base(g, o->number)] = 1;
        }
}

/* ---- calls ---- */

bool graph_is_array(const hg_operand_info *info) {
    return info->kind == HG_K_ARRAY || info->kind == HG_K_ADDRESS ||
           (info->kind == HG_K_REG && (info->access & HG_WRITE));
}

hg_op graph_op_named(const char *text, size_t length) {
    hg_op found = HG_OP_NONE;
    for (hg_op op = 0; op < HG_OP_COUNT; op++) {
        const hg_op_info *row = hg_op_get(op);
        if (!plan_collective_of(op) || !graph_is_name(row->text, text, length)) continue;
        if (found == HG_OP_NONE || row->operands[0].kind != HG_K_REG) found = op;
    }
    return found;
}

const graph_operand *graph_operand_of(const hg_graph *g, const graph_call *call, uint32_t operand) {
    for (uint32_t i = 0; i < call->operand_count; i++)
        if (g->operands.data[call->first_operand + i].operand == operand)
            return &g->operands.data[call->first_operand + i];
    return NULL;
}

uint32_t graph_result_of(const hg_graph *g, const graph_call *call, uint32_t operand) {
    for (uint32_t i = 0; i < call->result_count; i++)
        if (g->results.data[call->first_result + i].operand == operand)
            return g->results.data[call->first_result + i].value;
    return GRAPH_NOT_SET;
}

bool graph_result_is(const hg_graph *g, const graph_call *call, uint32_t value) {
    for (uint32_t i = 0; i < call->result_count; i++)
        if (g->results.data[call->first_result + i].value == value) return true;
    return false;
}

bool graph_is_collective(const graph_call *call) {
    if (call->program) return false;
    const char *name = hg_op_get((hg_op)call->op)->text;
    return call->op == HG_OP_ALL_REDUCE || call->op == HG_OP_ALL_GATHER ||
           strcmp(name, "reduce_scatter") == 0 || strcmp(name, "broadcast") == 0;
}

const char *graph_call_text(const hg_graph *g, const graph_call *call, char buffer[160]) {
    const char *what = call->program ? hg_program_name(call->program)
                                     : hg_op_get((hg_op)call->op)->text;
    uint32_t result = call->result_count ? g->results.data[call->first_result].value
                                         : GRAPH_NOT_SET;
    const char *name = result == GRAPH_NOT_SET ? NULL : g->values.data[result].name;
    int length = snprintf(buffer, 160, "%.60s", what && *what ? what : "program");
    if (name)
        length += snprintf(buffer + length, (size_t)(160 - length), " that makes %.60s", name);
    if (call->line)
        snprintf(buffer + length, (size_t)(160 - length), ", line %u", (unsigned)call->line);
    return buffer;
}

hg_status graph_add_parts(hg_graph *g, graph_call *call, const graph_operand *operands,
                          uint32_t operand_count, const graph_result *results,
                          uint32_t result_count) {
    call->first_operand = (uint32_t)g->operands.count;
    call->operand_count = operand_count;
    call->first_result = (uint32_t)g->results.count;
    call->result_count = result_count;
    for (uint32_t i = 0; i < operand_count; i++) {
        graph_operand *to = hg_vec_push(&g->operands);
        if (!to) return hg_fail_memory();
        *to = operands[i];
    }
    for (uint32_t i = 0; i < result_count; i++) {
        graph_result *to = hg_vec_push(&g->results);
        if (!to) return hg_fail_memory();
        *to = results[i];
    }
    return HG_OK;
}

hg_status graph_append(hg_graph *g, const graph_call *call) {
    graph_call *to = hg_vec_push(&g->calls);
    if (!to) return hg_fail_memory();
    *to = *call;
    for (uint32_t i = 0; i < call->result_count; i++)
        g->values.data[g->results.data[call->first_result + i].value].call =
            (uint32_t)(g->calls.count - 1);
    return HG_OK;
}

/* The names that were entered last go first: no other name stands behind one of them because its
 * own place was taken. */
void graph_cut(hg_graph *g, uint64_t values, uint64_t operands, uint64_t results) {
    for (uint64_t i = g->values.count; i-- > values;) {
        const char *name = g->values.data[i].name;
        if (name) *slot_of(g, &g->names, value_name, name, strlen(name)) = 0;
    }
    g->values.count = values;
    g->operands.count = operands;
    g->results.count = results;
}

/* ---- programs and outputs ---- */

uint32_t graph_find_program(const hg_graph *g, const char *name, size_t length) {
    for (uint64_t i = 0; i < g->programs.count; i++)
        if (graph_is_name(g->programs.data[i].name, name, length)) return (uint32_t)i;
    return GRAPH_NOT_SET;
}

hg_status graph_add_program(hg_graph *g, hg_program *program, const char *name, size_t length,
                            const char *file) {
    const char *kept = hg_arena_text(&g->arena, name, length);
    const char *kept_file = file ? hg_arena_text(&g->arena, file, strlen(file)) : NULL;
    graph_program *to = kept && (kept_file || !file) ? hg_vec_push(&g->programs) : NULL;
    if (!to) {
        hg_program_release(program);
        return hg_fail_memory();
    }
    *to = (graph_program){.program = program, .name = kept, .file = kept_file};
    return HG_OK;
}

hg_status graph_keep_program(hg_graph *g, hg_program *program) {
    char name[HG_MAX_IDENT_BYTES + 24];
    const char *own = hg_program_name(program);
    for (uint64_t i = 0; i < g->programs.count; i++)
        if (g->programs.data[i].program == program) return HG_OK;
    if (!own || !hg_is_identifier(own, strlen(own))) own = "program";
    HG_TRY(hg_program_verify(program, NULL)); /* its extents name parameters that are there */
    snprintf(name, sizeof name, "%.255s", own);
    for (uint32_t i = 2; graph_find_program(g, name, strlen(name)) != GRAPH_NOT_SET; i++)
        snprintf(name, sizeof name, "%.255s_%u", own, (unsigned)i);
    return graph_add_program(g, hg_program_retain(program), name, strlen(name), NULL);
}

bool graph_is_output(const hg_graph *g, uint32_t value) {
    for (uint64_t i = 0; i < g->outputs.count; i++)
        if (g->outputs.data[i].value == value) return true;
    return false;
}

hg_status graph_add_output(hg_graph *g, uint32_t value, const char *name, size_t length) {
    uint32_t same = graph_find_value(g, name, length);
    const graph_value *other = same == GRAPH_NOT_SET ? NULL : &g->values.data[same];
    int shown = length > 80 ? 80 : (int)length;
    if (!hg_is_parameter_name(name, length))
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "'%.*s' is no name of an output: letters, digits and _, and no register or type", shown,
            name);
    if (find_output(g, name, length) != GRAPH_NOT_SET)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is an output '%.*s' already", shown, name);
    if (graph_find_symbol(g, name, length) != GRAPH_NOT_SET)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%.*s' is the name of an extent", shown, name);
    if (other && (other->source == GRAPH_INPUT || other->source == GRAPH_CONSTANT))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%.*s' is the name of an input or constant: write .output NAME = %.*s",
                       shown, name, shown, name);
    if (!make_room(g, &g->output_names, output_name, g->outputs.count)) return hg_fail_memory();
    const char *kept = hg_arena_text(&g->arena, name, length);
    graph_output *to = kept ? hg_vec_push(&g->outputs) : NULL;
    if (!to) return hg_fail_memory();
    *to = (graph_output){kept, value};
    enter(g, &g->output_names, output_name, (uint32_t)(g->outputs.count - 1));
    return HG_OK;
}

/* ---- graphs ---- */

/* A name that text can say: other characters become _. */
static const char *keep_graph_name(hg_graph *g, const char *name) {
    size_t length = name ? strnlen(name, HG_MAX_IDENT_BYTES) : 0;
    char *kept = length ? hg_arena_text(&g->arena, name, length)
                        : hg_arena_text(&g->arena, "graph", 5);
    for (size_t i = 0; kept && kept[i]; i++) {
        char c = kept[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
                      c == '$';
        if (!letter && (i == 0 || c < '0' || c > '9')) kept[i] = '_';
    }
    return kept;
}

hg_graph *hg_graph_create(const char *name) {
    HG_ENTRY;
    hg_graph *g = hg_calloc(1, sizeof *g);
    if (!g) return NULL;
    g->references = 1;
    g->name = keep_graph_name(g, name);
    if (g->name) return g;
    hg_graph_release(g);
    return NULL;
}

hg_graph *hg_graph_retain(hg_graph *g) {
    HG_ENTRY;
    if (g) hg_atomic_fetch_add(&g->references, 1, HG_RELAXED);
    return g;
}

void hg_graph_release(hg_graph *g) {
    HG_ENTRY;
    if (!g || hg_atomic_sub_fetch(&g->references, 1, HG_ACQ_REL) != 0) return;
    for (uint64_t i = 0; i < g->programs.count; i++)
        hg_program_release(g->programs.data[i].program);
    hg_vec_free(&g->programs);
    hg_vec_free(&g->terms);
    hg_free(g->term_slots.data);
    hg_vec_free(&g->symbols);
    hg_vec_free(&g->values);
    hg_vec_free(&g->calls);
    hg_vec_free(&g->once);
    hg_vec_free(&g->operands);
    hg_vec_free(&g->results);
    hg_vec_free(&g->items);
    hg_vec_free(&g->outputs);
    hg_vec_free(&g->names);
    hg_vec_free(&g->output_names);
    hg_arena_free(&g->arena);
    hg_graph_release(g->origin);
    hg_free(g);
}

static void *copied(const void *data, uint64_t count, size_t size) {
    void *to = hg_alloc((size_t)count * size + 1);
    if (to && count) memcpy(to, data, (size_t)count * size);
    return to;
}

#define COPY(field)                                                                           \
    (c->field.data = copied(g->field.data, g->field.count, sizeof *g->field.data),            \
     c->field.count = c->field.data ? g->field.count : 0, c->field.capacity = c->field.count, \
     c->field.data != NULL)

hg_status graph_copy(const hg_graph *g, hg_graph **copy) {
    hg_graph *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->references = 1;
    c->name = g->name;
    c->source = g->source;
    c->origin = hg_graph_retain((hg_graph *)(uintptr_t)g);
    bool done = COPY(terms) && COPY(symbols) && COPY(values) && COPY(calls) && COPY(once) &&
                COPY(operands) && COPY(results) && COPY(items) && COPY(outputs) && COPY(names) &&
                COPY(output_names);
    for (uint64_t i = 0; i < g->programs.count && done; i++) {
        graph_program *to = hg_vec_push(&c->programs);
        done = to != NULL;
        if (to) *to = g->programs.data[i];
        if (to) hg_program_retain(to->program);
    }
    if (done && g->term_slots.count) {
        c->term_slots.data = copied(g->term_slots.data, g->term_slots.count,
                                    sizeof *g->term_slots.data);
        done = c->term_slots.data != NULL;
        c->term_slots.count = done ? g->term_slots.count : 0;
    }
    if (!done) {
        hg_graph_release(c);
        return hg_fail_memory();
    }
    *copy = c;
    return HG_OK;
}

/* Kernel IR to StableHLO: functions, control flow and the launch around them. A branch runs both
 * ways, each for its lanes; a loop is a while whose operands are what its rounds write; a function
 * takes and returns what it reads and writes beside its values.
 * Must not know: how an operation is written (emit_stablehlo_value.c), memory
 * (emit_stablehlo_memory.c). */
#include "emit/emit_stablehlo_internal.h"
#include "kir/analysis/analysis.h"
#include <string.h>

enum { MOST_LANES = 1 << 18, MOST_PRIVATE = 1 << 26 /* bytes */, MOST_LEVELS = 200 };

void emit_stablehlo_caps(kir_caps *caps) {
    memset(caps, 0, sizeof *caps);
    caps->i8 = caps->i16 = caps->i64 = caps->f64 = true;
    caps->subnormals = true;
    caps->name = "stablehlo";
}

/* What divides the place of an access in its memory: a power of 2, 8 at the most. */
static uint8_t divisor_of(const kir_value *v, const uint8_t *zeros) {
    kir_access a = kir_access_of(v);
    uint64_t place = (uint64_t)v->u.mem.disp | v->u.mem.bytes | 8;
    if (v->op == KIR_ATOMIC) return v->u.mem.bytes; /* else it is a fault */
    if (v->u.mem.has_index || v->u.mem.space == KIR_FLAT) {
        uint8_t known = zeros[v->args[v->u.mem.has_index ? a.index : a.handle]->id];
        place |= known < 3 ? UINT64_C(1) << known : 8;
    }
    return (uint8_t)(place & -place);
}

hg_status emit_stablehlo_words(kir_module *kernel, uint8_t *words) {
    uint64_t slots = kernel->slots.count;
    kir_side_table zeros;
    memset(words, 8, (size_t)slots + EMIT_STABLEHLO_WORDS);
    for (kir_function *f = kernel->functions; f; f = f->next) kir_number(f);
    kir_count_uses(kernel);
    HG_TRY(kir_find_zero_bits(kernel, &zeros));
    for (const kir_function *f = kernel->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (!kir_is_access(v) || v->op == KIR_CHECK) continue;
            uint64_t place = v->u.mem.space == KIR_CLASS    ? slots + EMIT_STABLEHLO_CLASS
                             : v->u.mem.space == KIR_SHARED ? slots + EMIT_STABLEHLO_SHARED
                             : kir_access_is_open(v)        ? slots + EMIT_STABLEHLO_ANY
                                                            : (uint64_t)v->u.mem.slot;
            uint8_t word = divisor_of(v, kir_side_of(&zeros, f));
            if (word < words[place]) words[place] = word;
        }
    kir_side_free(&zeros);
    return HG_OK;
}

/* ---- sets of items ---- */

static void add(uint64_t *set, uint32_t item) { set[item / 64] |= UINT64_C(1) << item % 64; }
static bool has(const uint64_t *set, uint32_t item) { return set[item / 64] >> item % 64 & 1; }
static uint64_t *reads_of(const hlo *p, const kir_function *f) {
    return p->reads + (uint64_t)f->id * p->set_words;
}
static uint64_t *writes_of(const hlo *p, const kir_function *f) {
    return p->writes + (uint64_t)f->id * p->set_words;
}
/* Whether it is the function's own: no caller sees it. f NULL: nothing is. */
static bool is_own(const hlo *p, const kir_function *f, uint32_t item) {
    if (!f) return false;
    if (item >= p->module->var_count)
        return item >= hlo_of(p, HLO_STAYS) && item <= hlo_of(p, HLO_RESULT);
    return p->vars[item]->function == f && !p->vars[item]->by_reference;
}

static void note(uint64_t *reads, uint64_t *writes, uint32_t item, bool written) {
    add(reads, item);
    if (written) add(writes, item);
}

/* The item of the caller that an item of the function that it calls is. */
static uint32_t callers_item(const hlo *p, const kir_value *call, uint32_t item) {
    const kir_function *g = call->u.call.function;
    for (uint8_t i = 0; item < p->module->var_count && i < g->array_count; i++)
        if (g->array_params[i]->id == item) return call->u.call.arrays[i]->id;
    return item;
}

static void note_call(const hlo *p, const kir_value *v, uint64_t *reads, uint64_t *writes) {
    const kir_function *g = v->u.call.function;
    for (uint32_t item = 0; item < p->item_count; item++)
        if (has(reads_of(p, g), item) && !is_own(p, g, item))
            note(reads, writes, callers_item(p, v, item), has(writes_of(p, g), item));
}

static void note_access(const hlo *p, const kir_value *v, uint64_t *reads, uint64_t *writes) {
    bool written = v->op == KIR_STORE || v->op == KIR_ATOMIC;
    uint32_t array = EMIT_STABLEHLO_NOWHERE;
    if (v->u.mem.space == KIR_SHARED) {
        add(reads, hlo_of(p, HLO_SHARED_BASE));
        array = p->launch->shared_array;
        if (array == EMIT_STABLEHLO_NOWHERE) note(reads, writes, hlo_of(p, HLO_SHARED), written);
    } else if (v->u.mem.space == KIR_CLASS) {
        add(reads, hlo_of(p, HLO_CLASS_BASE));
        array = p->launch->class_array;
    } else if (kir_access_is_open(v)) {
        const hlo_item items[] = {HLO_TABLE, HLO_TABLE_BUFFERS, HLO_TABLE_POOLS};
        for (size_t i = 0; i < HG_COUNT_OF(items); i++) add(reads, hlo_of(p, items[i]));
        for (uint32_t i = 0; i < p->launch->table_array_count; i++)
            note(reads, writes, hlo_array(p, p->launch->table_arrays[i]), written);
    } else {
        add(reads, hlo_slot_limit(p, (uint32_t)v->u.mem.slot));
        add(reads, hlo_slot_base(p, (uint32_t)v->u.mem.slot));
        array = p->launch->slot_arrays[v->u.mem.slot];
    }
    if (array != EMIT_STABLEHLO_NOWHERE) note(reads, writes, hlo_array(p, array), written);
}

static void note_fault(const hlo *p, uint64_t *reads, uint64_t *writes) {
    const hlo_item items[] = {HLO_CODE, HLO_FIRST, HLO_SECOND, HLO_ALIVE};
    for (size_t i = 0; i < HG_COUNT_OF(items); i++) note(reads, writes, hlo_of(p, items[i]), true);
}

static void note_value(const hlo *p, const kir_value *v, uint64_t *reads, uint64_t *writes) {
    switch ((kir_op)v->op) {
    case KIR_VAR_GET:
    case KIR_ARRAY_GET: note(reads, writes, v->u.var->id, false); break;
    case KIR_VAR_SET:
    case KIR_ARRAY_SET: note(reads, writes, v->u.var->id, true); break;
    case KIR_ID: add(reads, hlo_of(p, HLO_ID + (uint32_t)kir_id_name(v))); break;
    case KIR_INPUT: add(reads, hlo_of(p, HLO_INPUT + (uint32_t)v->u.imm)); break;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC:
        note_access(p, v, reads, writes);
        note_fault(p, reads, writes);
        break;
    case KIR_FAULT_IF: note_fault(p, reads, writes); break;
    case KIR_BARRIER: note(reads, writes, hlo_of(p, HLO_PHASE), true); break;
    case KIR_EXIT: note(reads, writes, hlo_of(p, HLO_ALIVE), true); break;
    case KIR_RETURN:
        note(reads, writes, hlo_of(p, HLO_RETURNED), true);
        if (v->nargs) note(reads, writes, hlo_of(p, HLO_RESULT), true);
        break;
    case KIR_CALL: note_call(p, v, reads, writes); break;
    case KIR_LOOP:
        if (v->u.loop.bounded) break;
        note(reads, writes, hlo_of(p, HLO_FUEL), true);
        note_fault(p, reads, writes);
        break;
    default: break;
    }
}

static void note_region(const hlo *p, const kir_region *r, uint64_t *reads, uint64_t *writes) {
    for (const kir_value *v = kir_walk(NULL, r); v; v = kir_walk(v, r))
        note_value(p, v, reads, writes);
}

/* ---- names and types of many items ---- */

static void line_of(hlo *p, const char *before, uint32_t name, const char *after) {
    hg_text_addf(p->out, "%s%%%u%s", before, (unsigned)name, after);
}

/* "a, b, c" of the set's items but those that are the function's own. what: 0 names, 1 types, 2
 * names that are declared with their types. first: what stands in front of the first one. */
enum { NAMES, TYPES, DECLARED };
static void list(hlo *p, const uint64_t *set, const kir_function *f, const kir_value *call,
                 int what, const char *first) {
    for (uint32_t item = 0; item < p->item_count; item++) {
        if (!has(set, item) || is_own(p, f, item)) continue;
        uint32_t mine = call ? callers_item(p, call, item) : item;
        hg_text_addf(p->out, "%s", first);
        if (what != TYPES) line_of(p, "", p->items[mine], what == DECLARED ? ": " : "");
        if (what != NAMES) hlo_item_type(p, item);
        first = ", ";
    }
}

/* The same of what the function returns: its result and what it writes. call: of one who calls
 * it. */
static void list_results(hlo *p, const kir_function *f, const kir_value *call, int what) {
    bool has_result = f->result != KIR_VOID;
    if (has_result && what == NAMES)
        line_of(p, "", call ? hlo_name(p, call) : p->items[hlo_of(p, HLO_RESULT)], "");
    if (has_result && what == TYPES) hlo_type(p, f->result);
    list(p, writes_of(p, f), f, call, what, has_result ? ", " : "");
}

static uint32_t count_of(const hlo *p, const uint64_t *set, const kir_function *f) {
    uint32_t count = 0;
    for (uint32_t item = 0; item < p->item_count; item++)
        count += has(set, item) && !is_own(p, f, item);
    return count;
}

/* A new name for each, which an operation or a function gives them. */
static void rename_items(hlo *p, const uint64_t *set, const kir_function *f,
                         const kir_value *call) {
    for (uint32_t item = 0; item < p->item_count; item++)
        if (has(set, item) && !is_own(p, f, item))
            p->items[call ? callers_item(p, call, item) : item] = p->next++;
}

/* ---- lanes that leave ---- */

/* By what lanes leave a place. */
static const hlo_item LEAVING[] = {HLO_ALIVE, HLO_RETURNED, HLO_STAYS, HLO_GOES_ON};
typedef struct here {
    uint32_t mask, stay[HG_COUNT_OF(LEAVING)];
} here;

static here where(const hlo *p) {
    here h = {.mask = p->mask};
    for (size_t i = 0; i < HG_COUNT_OF(LEAVING); i++) h.stay[i] = p->items[hlo_of(p, LEAVING[i])];
    return h;
}

/* The lanes of `mask` that left neither the launch, the function, the loop nor the round since. */
static uint32_t still(hlo *p, const here *h, uint32_t mask) {
    for (size_t i = 0; i < HG_COUNT_OF(LEAVING); i++) {
        uint32_t stay = p->items[hlo_of(p, LEAVING[i])];
        if (stay != h->stay[i]) mask = hlo_and(p, mask, stay);
    }
    return mask;
}

static void print_return(hlo *p, const kir_value *v) {
    uint32_t *result = &p->items[hlo_of(p, HLO_RESULT)];
    /* No lane has a result yet, and none gets one behind it. */
    bool only = p->items[hlo_of(p, HLO_RETURNED)] == p->all && !v->parent->owner;
    if (!v->nargs) return;
    uint32_t value = hlo_name(p, v->args[0]);
    *result = only ? value : hlo_select(p, v->args[0]->type, p->mask, value, *result);
}

static void print_jump(hlo *p, const kir_value *v) {
    hlo_item from = v->op == KIR_BREAK      ? HLO_STAYS
                    : v->op == KIR_CONTINUE ? HLO_GOES_ON
                    : v->op == KIR_EXIT     ? HLO_ALIVE
                                            : HLO_RETURNED;
    uint32_t *stay = &p->items[hlo_of(p, from)];
    if (v->op == KIR_RETURN) print_return(p, v);
    *stay = hlo_and(p, *stay, hlo_not(p, p->mask));
}

/* ---- operations ---- */

static void print_region(hlo *p, const kir_region *r, int level);

static void print_if(hlo *p, const kir_value *v, int level) {
    here h = where(p);
    uint32_t condition = hlo_name(p, v->args[0]);
    for (int i = 0; i < 2; i++) {
        if (!v->body[i]->first) continue;
        uint32_t mask = i ? still(p, &h, h.mask) : h.mask;
        p->mask = hlo_and(p, mask, i ? hlo_not(p, condition) : condition);
        print_region(p, v->body[i], level);
    }
    p->mask = still(p, &h, h.mask);
}

static uint32_t any(hlo *p, uint32_t mask) {
    uint32_t none = p->next++, r = p->next++;
    hg_text_addf(p->out,
                 "    %%%u = stablehlo.constant dense<false> : tensor<i1>\n    %%%u = "
                 "stablehlo.reduce(%%%u init: %%%u) applies stablehlo.or across dimensions = [0] : "
                 "(tensor<%lluxi1>, tensor<i1>) -> tensor<i1>\n",
                 (unsigned)none, (unsigned)r, (unsigned)mask, (unsigned)none,
                 (unsigned long long)p->lanes);
    return r;
}

/* One number: %name = constant of u64. */
static uint32_t one_number(hlo *p, uint64_t value) {
    uint32_t name = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.constant dense<%llu> : tensor<ui64>\n",
                 (unsigned)name, (unsigned long long)value);
    return name;
}

static uint32_t scalar(hlo *p, const char *op, uint32_t a, uint32_t b, const char *type) {
    uint32_t name = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.%s %%%u, %%%u : %s\n", (unsigned)name, op,
                 (unsigned)a, (unsigned)b, type);
    return name;
}

static void print_condition(hlo *p, bool bounded) {
    uint32_t goes = any(p, p->items[hlo_of(p, HLO_STAYS)]);
    if (!bounded) {
        uint32_t zero = one_number(p, 0), left = p->next++;
        hg_text_addf(
            p->out,
            "    %%%u = stablehlo.compare GT, %%%u, %%%u : (tensor<ui64>, tensor<ui64>) -> "
            "tensor<i1>\n",
            (unsigned)left, (unsigned)p->items[hlo_of(p, HLO_FUEL)], (unsigned)zero);
        goes = scalar(p, "and", goes, left, "tensor<i1>");
    }
    hg_text_addf(p->out, "    stablehlo.return %%%u : tensor<i1>\n", (unsigned)goes);
}

/* set: the loop's operands. */
static void print_round(hlo *p, const kir_value *v, const uint64_t *set, int level) {
    uint32_t fuel = hlo_of(p, HLO_FUEL), *stays = &p->items[hlo_of(p, HLO_STAYS)],
             *goes_on = &p->items[hlo_of(p, HLO_GOES_ON)];
    p->mask = *goes_on = *stays;
    here h = where(p);
    print_region(p, v->body[0], level);
    *goes_on = h.mask; /* who left the round alone is in the next one */
    *stays = still(p, &h, h.mask);
    if (!v->u.loop.bounded)
        p->items[fuel] = scalar(p, "subtract", p->items[fuel], one_number(p, 1), "tensor<ui64>");
    hg_text_addf(p->out, "    stablehlo.return ");
    list(p, set, NULL, NULL, NAMES, "");
    hg_text_addf(p->out, " : ");
    list(p, set, NULL, NULL, TYPES, "");
    hg_text_addf(p->out, "\n    }\n");
}

/* given: names of items in front of the loop. */
static void print_while(hlo *p, const kir_value *v, const uint64_t *set, const uint32_t *given,
                        int level) {
    uint32_t results = p->next; /* their names stand first in the text, in the order of items */
    rename_items(p, set, NULL, NULL);
    list(p, set, NULL, NULL, NAMES, "    ");
    hg_text_addf(p->out, " = stablehlo.while(");
    rename_items(p, set, NULL, NULL);
    const char *comma = "";
    for (uint32_t item = 0; item < p->item_count; item++) {
        if (!has(set, item)) continue;
        hg_text_addf(p->out, "%s%%%u = %%%u", comma, (unsigned)p->items[item],
                     (unsigned)given[item]);
        comma = ", ";
    }
    hg_text_addf(p->out, ") : ");
    list(p, set, NULL, NULL, TYPES, "");
    hg_text_addf(p->out, "\n    cond {\n");
    print_condition(p, v->u.loop.bounded);
    hg_text_addf(p->out, "    } do {\n");
    print_round(p, v, set, level);
    for (uint32_t item = 0; item < p->item_count; item++)
        if (has(set, item)) p->items[item] = results++;
}

static void print_loop(hlo *p, const kir_value *v, int level) {
    uint64_t *reads = hg_calloc(2 * (size_t)p->set_words, sizeof *reads);
    uint32_t *given = hg_calloc(p->item_count, sizeof *given), stays = hlo_of(p, HLO_STAYS),
             goes_on = hlo_of(p, HLO_GOES_ON);
    if (reads && given) {
        uint64_t *writes = reads + p->set_words;
        here h = where(p);
        uint32_t around[2] = {p->items[stays], p->items[goes_on]};
        note_value(p, v, reads, writes);
        note_region(p, v->body[0], reads, writes);
        add(writes, stays);
        memcpy(given, p->items, p->item_count * sizeof *given);
        given[stays] = p->mask;
        print_while(p, v, writes, given, level);
        uint32_t left = p->items[stays]; /* where rounds ended before lanes did */
        p->items[stays] = around[0];
        p->items[goes_on] = around[1];
        p->mask = still(p, &h, h.mask);
        if (!v->u.loop.bounded)
            hlo_fault(p, v, hlo_and(p, p->mask, left), hlo_constant(p, HG_TYPE_U64, 0),
                      hlo_constant(p, HG_TYPE_U64, 0));
    } else {
        p->failed = true;
    }
    hg_free(reads);
    hg_free(given);
}

static void print_call(hlo *p, const kir_value *v) {
    const kir_function *g = v->u.call.function;
    const uint64_t *reads = reads_of(p, g), *writes = writes_of(p, g);
    uint32_t alive = p->items[hlo_of(p, HLO_ALIVE)], results = count_of(p, writes, g);
    bool has_result = g->result != KIR_VOID;
    if (!results && !has_result) return;
    hg_text inputs = {0}, *out = p->out;
    p->out = &inputs;
    line_of(p, "(", p->mask, "");
    for (uint8_t i = 0; i < v->nargs; i++) line_of(p, ", ", hlo_name(p, v->args[i]), "");
    list(p, reads, g, v, NAMES, ", ");
    hg_text_addf(p->out, ") : (");
    hlo_type(p, KIR_BOOL);
    for (uint8_t i = 0; i < v->nargs; i++) {
        hg_text_addf(p->out, ", ");
        hlo_type(p, v->args[i]->type);
    }
    list(p, reads, g, v, TYPES, ", ");
    hg_text_addf(p->out, ") -> (");
    list_results(p, g, v, TYPES);
    hg_text_addf(p->out, ")\n");
    p->out = out;
    if (has_result) p->names[v->id] = p->next++;
    rename_items(p, writes, g, v);
    hg_text_addf(p->out, "    ");
    list_results(p, g, v, NAMES);
    hg_text_addf(p->out, " = func.call @f%u%s", (unsigned)g->id, inputs.data ? inputs.data : "");
    if (inputs.failed) p->failed = true;
    hg_text_free(&inputs);
    uint32_t now = p->items[hlo_of(p, HLO_ALIVE)];
    if (now != alive) p->mask = hlo_and(p, p->mask, now);
}

static void print_set(hlo *p, const kir_value *v) {
    const kir_var *x = v->u.var;
    uint32_t value = hlo_name(p, v->args[0]);
    /* Nobody reads it in the other lanes again. */
    bool whole = !v->parent->owner &&
                 (x->function == p->function || p->function == p->module->functions);
    p->items[x->id] = whole ? value : hlo_select(p, x->type, p->mask, value, p->items[x->id]);
}

static void print_operation(hlo *p, const kir_value *v) {
    if (hlo_print_value(p, v) || hlo_print_memory(p, v)) return;
    switch ((kir_op)v->op) {
    case KIR_VAR_GET: p->names[v->id] = p->items[v->u.var->id]; break;
    case KIR_VAR_SET: print_set(p, v); break;
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET:
    case KIR_TABLE_GET: hlo_print_array(p, v); break;
    case KIR_INPUT: p->names[v->id] = p->items[hlo_of(p, HLO_INPUT + (uint32_t)v->u.imm)]; break;
    case KIR_PARAM: break;
    case KIR_ID: {
        uint8_t type = kir_type_of(hg_idname_type(kir_id_name(v)));
        p->names[v->id] = hlo_convert(p, "convert", v->type, type,
                                      p->items[hlo_of(p, HLO_ID + (uint32_t)kir_id_name(v))]);
        break;
    }
    case KIR_BREAK:
    case KIR_CONTINUE:
    case KIR_EXIT:
    case KIR_RETURN: print_jump(p, v); break;
    case KIR_CALL: print_call(p, v); break;
    default: p->unsupported = "an operation was not lowered"; break;
    }
}

static void print_region(hlo *p, const kir_region *r, int level) {
    if (level > MOST_LEVELS) {
        p->unsupported = "loops and branches nested beyond 200 levels";
        return;
    }
    for (const kir_value *v = r->first; v && !p->unsupported && !p->failed; v = v->next) {
        if (v->op == KIR_IF)
            print_if(p, v, level + 1);
        else if (v->op == KIR_LOOP)
            print_loop(p, v, level + 1);
        else
            print_operation(p, v);
    }
}

/* ---- functions ---- */

static void print_zero(hlo *p, uint32_t item) {
    const kir_var *x = item < p->module->var_count ? p->vars[item] : NULL;
    bool real = x && kir_type_is_float(x->type), mask = x && x->type == KIR_BOOL;
    p->items[item] = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.constant dense<%s> : ", (unsigned)p->items[item],
                 mask   ? "false"
                 : real ? "0.0"
                        : "0");
    hlo_item_type(p, item);
    hg_text_addf(p->out, "\n");
}

static bool begin_function(hlo *p, const kir_function *f) {
    hg_free(p->names);
    p->names = hg_calloc((size_t)f->value_count + 1, sizeof *p->names);
    p->failed = p->failed || !p->names;
    p->function = f;
    return !p->failed;
}

/* Its first lines: what is its own. */
static void begin_body(hlo *p, const kir_function *f) {
    p->all = p->items[hlo_of(p, HLO_RETURNED)] = hlo_constant(p, KIR_BOOL, 1);
    if (f->result != KIR_VOID) p->items[hlo_of(p, HLO_RESULT)] = hlo_constant(p, f->result, 0);
    p->items[hlo_of(p, HLO_STAYS)] = p->items[hlo_of(p, HLO_GOES_ON)] = 0;
}

static void print_own_variables(hlo *p, const kir_function *f, bool all) {
    for (uint32_t item = 0; item < p->module->var_count; item++)
        if (has(reads_of(p, f), item) && (all || is_own(p, f, item))) print_zero(p, item);
}

static void print_function(hlo *p, const kir_function *f) {
    uint32_t params[16];
    if (!begin_function(p, f)) return;
    rename_items(p, reads_of(p, f), f, NULL);
    p->mask = p->next++;
    hg_text_addf(p->out, "  func.func private @f%u(", (unsigned)f->id);
    line_of(p, "", p->mask, ": ");
    hlo_type(p, KIR_BOOL);
    for (uint8_t i = 0; i < f->param_count; i++) {
        params[i] = p->next++;
        line_of(p, ", ", params[i], ": ");
        hlo_type(p, f->param_types[i]);
    }
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_PARAM) p->names[v->id] = params[v->u.imm];
    list(p, reads_of(p, f), f, NULL, DECLARED, ", ");
    hg_text_addf(p->out, ") -> (");
    list_results(p, f, NULL, TYPES);
    hg_text_addf(p->out, ") {\n");
    begin_body(p, f);
    print_own_variables(p, f, false);
    print_region(p, f->body, 0);
    hg_text_addf(p->out, "    return ");
    list_results(p, f, NULL, NAMES);
    hg_text_addf(p->out, " : ");
    list_results(p, f, NULL, TYPES);
    hg_text_addf(p->out, "\n  }\n");
}

/* Finds sets of a function and those that it calls, and prints the ones it calls first. */
static void print_called(hlo *p, const kir_function *f, uint8_t *seen, int level) {
    if (seen[f->id] || p->unsupported || p->failed) return;
    seen[f->id] = 1;
    if (level > MOST_LEVELS) p->unsupported = "calls nested beyond 200 levels";
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_CALL) print_called(p, v->u.call.function, seen, level + 1);
    add(reads_of(p, f), hlo_of(p, HLO_ZERO32));
    add(reads_of(p, f), hlo_of(p, HLO_ZERO64));
    note_region(p, f->body, reads_of(p, f), writes_of(p, f));
    bool does = f->result != KIR_VOID || count_of(p, writes_of(p, f), f);
    if (f != p->module->functions && does) print_function(p, f);
}

/* ---- the launch ---- */

static uint64_t record_count(const hlo *p) {
    uint64_t table = HLO_TABLE_COUNTS + HLO_ENTRY_WORDS * p->launch->table_room;
    return hlo_table_begin(p) + (p->module->has_open ? table : 0);
}

/* One number in each lane. */
static uint32_t everywhere(hlo *p, uint32_t one) {
    uint32_t all = p->next++;
    hg_text_addf(p->out,
                 "    %%%u = stablehlo.broadcast_in_dim %%%u, dims = [] : (tensor<ui64>) -> ",
                 (unsigned)all, (unsigned)one);
    hlo_type(p, HG_TYPE_U64);
    hg_text_addf(p->out, "\n");
    return all;
}

/* Number i of the record. */
static uint32_t of_record(hlo *p, uint32_t record, uint64_t i) {
    uint32_t part = p->next++, one = p->next++;
    hg_text_addf(p->out,
                 "    %%%u = stablehlo.slice %%%u [%llu:%llu] : (tensor<%lluxui64>) -> "
                 "tensor<1xui64>\n    %%%u = stablehlo.reshape %%%u : (tensor<1xui64>) -> "
                 "tensor<ui64>\n",
                 (unsigned)part, (unsigned)record, (unsigned long long)i, (unsigned long long)i + 1,
                 (unsigned long long)record_count(p), (unsigned)one, (unsigned)part);
    return one;
}

/* The table of memory, as it stands at the end of the record. */
static void take_table(hlo *p, uint32_t record) {
    uint64_t begin = hlo_table_begin(p);
    uint32_t *items = p->items + hlo_of(p, 0);
    for (uint32_t i = 0; i < HLO_TABLE_COUNTS; i++)
        items[HLO_TABLE_BUFFERS + i] = everywhere(p, of_record(p, record, begin + i));
    items[HLO_TABLE] = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.slice %%%u [%llu:%llu] : (tensor<%lluxui64>) -> ",
                 (unsigned)items[HLO_TABLE], (unsigned)record,
                 (unsigned long long)begin + HLO_TABLE_COUNTS, (unsigned long long)record_count(p),
                 (unsigned long long)record_count(p));
    hlo_item_type(p, hlo_of(p, HLO_TABLE));
    hg_text_addf(p->out, "\n");
}

static uint32_t as_type(hlo *p, uint8_t type, uint32_t a) {
    uint8_t bits = type == HG_TYPE_F32 ? HG_TYPE_U32 : type == HG_TYPE_F64 ? HG_TYPE_U64 : type;
    if (type == KIR_BOOL) a = hlo_binary(p, "and", HG_TYPE_U64, a, hlo_constant(p, HG_TYPE_U64, 1));
    a = hlo_convert(p, "convert", bits, HG_TYPE_U64, a);
    return hlo_convert(p, "bitcast_convert", type, bits, a);
}

static uint32_t part_of(hlo *p, uint32_t a, uint64_t stride, uint64_t count) {
    if (stride != 1)
        a = hlo_binary(p, "divide", HG_TYPE_U64, a, hlo_constant(p, HG_TYPE_U64, stride));
    if (count) a = hlo_binary(p, "remainder", HG_TYPE_U64, a, hlo_constant(p, HG_TYPE_U64, count));
    return a;
}

static void print_ids(hlo *p, uint32_t lane) {
    const emit_stablehlo_launch *l = p->launch;
    const uint64_t *reads = reads_of(p, p->module->functions);
    for (uint32_t i = 0; i < HG_ID_COUNT; i++) {
        uint32_t item = hlo_of(p, HLO_ID + i), axis = hg_idname_axis((hg_idname)i), value;
        hg_id_part part = hg_idname_part((hg_idname)i);
        const uint32_t *extents = part == HG_PART_LANE_IDX ? l->block : l->grid;
        uint64_t stride = part == HG_PART_LANE_IDX ? 1 : hlo_block_lanes(p);
        if (!has(reads, item)) continue;
        for (uint32_t k = 0; k < axis; k++) stride *= extents[k];
        switch (part) {
        case HG_PART_LANE_IDX: value = part_of(p, lane, stride, extents[axis]); break;
        case HG_PART_BLOCK_IDX:
            value = part_of(p, lane, stride, axis < 2 ? extents[axis] : 0);
            break;
        case HG_PART_BLOCK_DIM: value = hlo_constant(p, HG_TYPE_U64, l->block[axis]); break;
        case HG_PART_GRID_DIM: value = hlo_constant(p, HG_TYPE_U64, l->grid[axis]); break;
        case HG_PART_GLOBAL_LANE_ID: value = lane; break;
        default: value = hlo_constant(p, HG_TYPE_U64, l->lanes); break;
        }
        p->items[item] = hlo_convert(p, "convert", kir_type_of(hg_idname_type((hg_idname)i)),
                                     HG_TYPE_U64, value);
    }
}

static uint32_t reduce(hlo *p, const char *op, uint32_t a, uint64_t start) {
    uint32_t first = one_number(p, start), r = p->next++;
    hg_text_addf(
        p->out,
        "    %%%u = stablehlo.reduce(%%%u init: %%%u) applies stablehlo.%s across dimensions "
        "= [0] : (tensor<%lluxui64>, tensor<ui64>) -> tensor<ui64>\n",
        (unsigned)r, (unsigned)a, (unsigned)first, op, (unsigned long long)p->lanes);
    return r;
}

/* The first fault of these lanes: five numbers. */
static uint32_t first_fault(hlo *p, uint32_t lane) {
    uint32_t zero = hlo_constant(p, HG_TYPE_U64, 0), code = p->items[hlo_of(p, HLO_CODE)],
             phase = p->items[hlo_of(p, HLO_PHASE)],
             key = hlo_binary(
                 p, "or", HG_TYPE_U64,
                 hlo_binary(p, "shift_left", HG_TYPE_U64, phase, hlo_constant(p, HG_TYPE_U64, 40)),
                 lane),
             faulted = hlo_compare(p, "NE", HG_TYPE_U64, code, zero);
    key = hlo_select(p, HG_TYPE_U64, faulted, key, hlo_constant(p, HG_TYPE_U64, UINT64_MAX));
    uint32_t least = everywhere(p, reduce(p, "minimum", key, UINT64_MAX)),
             is = hlo_and(p, faulted, hlo_compare(p, "EQ", HG_TYPE_U64, key, least)),
             parts[5] = {code, phase, lane, p->items[hlo_of(p, HLO_FIRST)],
                         p->items[hlo_of(p, HLO_SECOND)]};
    for (int i = 0; i < 5; i++) {
        uint32_t one = reduce(p, "maximum", hlo_select(p, HG_TYPE_U64, is, parts[i], zero), 0);
        parts[i] = p->next++;
        hg_text_addf(p->out,
                     "    %%%u = stablehlo.reshape %%%u : (tensor<ui64>) -> tensor<1xui64>\n",
                     (unsigned)parts[i], (unsigned)one);
    }
    uint32_t r = p->next++;
    hg_text_addf(p->out,
                 "    %%%u = stablehlo.concatenate %%%u, %%%u, %%%u, %%%u, %%%u, dim = 0 : (",
                 (unsigned)r, (unsigned)parts[0], (unsigned)parts[1], (unsigned)parts[2],
                 (unsigned)parts[3], (unsigned)parts[4]);
    for (int i = 0; i < 5; i++) hg_text_addf(p->out, "%stensor<1xui64>", i ? ", " : "");
    hg_text_addf(p->out, ") -> tensor<5xui64>\n");
    return r;
}

/* Loops that nobody has proven short: who waits may stop waiting, and has what was there before. */
static bool stays_as_given(const hlo *p) {
    return has(writes_of(p, p->module->functions), hlo_of(p, HLO_FUEL));
}

/* Of all arrays, or of those that are written. */
static void list_arrays(hlo *p, int what, bool all, const uint32_t *names) {
    uint32_t result = 1; /* behind the fault */
    for (uint32_t i = 0; i < p->launch->array_count; i++) {
        if (!all && !p->launch->arrays[i].written) continue;
        if (what != TYPES) line_of(p, ", ", names[i], what == DECLARED ? ": " : "");
        if (what == TYPES) hg_text_addf(p->out, ", ");
        if (what != NAMES) hlo_item_type(p, hlo_array(p, i));
        if (what == DECLARED && p->launch->arrays[i].written && !stays_as_given(p))
            hg_text_addf(p->out, " {tf.aliasing_output = %u : i32}", (unsigned)result++);
    }
}

static void name_arrays(hlo *p, uint32_t *names) {
    for (uint32_t i = 0; i < p->launch->array_count; i++) names[i] = p->next++;
}

/* Where the lane's block begins in shared memory: of the tile, or of the launch where shared memory
 * lives in an array. */
static uint32_t shared_base(hlo *p, uint32_t in_tile, uint32_t lane, uint32_t record) {
    const emit_stablehlo_launch *l = p->launch;
    bool in_array = l->shared_array != EMIT_STABLEHLO_NOWHERE;
    uint32_t base = hlo_binary(p, "multiply", HG_TYPE_U64,
                               part_of(p, in_array ? lane : in_tile, hlo_block_lanes(p), 0),
                               hlo_constant(p, HG_TYPE_U64, l->shared_bytes));
    if (!in_array) return base;
    return hlo_binary(p, "add", HG_TYPE_U64, base,
                      everywhere(p, of_record(p, record, HLO_RECORD_SHARED)));
}

/* The work of some neighbouring blocks, or lanes of a kernel without blocks. */
static void print_tile(hlo *p) {
    const kir_function *f = p->module->functions;
    const emit_stablehlo_launch *l = p->launch;
    const uint64_t *reads = reads_of(p, f);
    if (!begin_function(p, f)) return;
    uint32_t tile = p->next++, record = p->next++, fuel = p->next++;
    name_arrays(p, p->items + hlo_array(p, 0));
    hg_text_addf(p->out,
                 "  func.func private @tile(%%%u: tensor<ui64>, %%%u: tensor<%lluxui64>, %%%u: "
                 "tensor<ui64>",
                 (unsigned)tile, (unsigned)record, (unsigned long long)record_count(p),
                 (unsigned)fuel);
    list_arrays(p, DECLARED, true, p->items + hlo_array(p, 0));
    hg_text_addf(p->out, ") -> (tensor<5xui64>, tensor<ui64>");
    list_arrays(p, TYPES, false, NULL);
    hg_text_addf(p->out, ") {\n");
    uint32_t iota = p->next++,
             first = scalar(p, "multiply", tile, one_number(p, p->lanes), "tensor<ui64>");
    hg_text_addf(p->out, "    %%%u = stablehlo.iota dim = 0 : ", (unsigned)iota);
    hlo_type(p, HG_TYPE_U64);
    hg_text_addf(p->out, "\n");
    uint32_t lane = hlo_binary(p, "add", HG_TYPE_U64, iota, everywhere(p, first));
    p->mask = p->items[hlo_of(p, HLO_ALIVE)] = hlo_compare(p, "LT", HG_TYPE_U64, lane,
                                                           hlo_constant(p, HG_TYPE_U64, l->lanes));
    p->items[hlo_of(p, HLO_FUEL)] = fuel;
    const hlo_item zeros[] = {HLO_SHARED, HLO_CODE, HLO_FIRST, HLO_SECOND, HLO_PHASE};
    for (size_t i = 0; i < HG_COUNT_OF(zeros); i++) print_zero(p, hlo_of(p, zeros[i]));
    uint32_t zero = everywhere(p, of_record(p, record, HLO_RECORD_ZERO));
    p->items[hlo_of(p, HLO_ZERO64)] = zero;
    p->items[hlo_of(p, HLO_ZERO32)] = as_type(p, HG_TYPE_U32, zero);
    p->items[hlo_of(p, HLO_CLASS_BASE)] = everywhere(p, of_record(p, record, HLO_RECORD_CLASS));
    for (uint32_t i = 0; i < p->module->inputs.count + 2 * p->module->slots.count; i++) {
        uint32_t item = hlo_of(p, HLO_INPUT + i);
        bool is_input = i < p->module->inputs.count;
        if (has(reads, item))
            p->items[item] = as_type(p, is_input ? p->module->inputs.data[i].type : HG_TYPE_U64,
                                     everywhere(p, of_record(p, record, HLO_RECORD + i)));
    }
    print_ids(p, lane);
    if (has(reads, hlo_of(p, HLO_SHARED_BASE)))
        p->items[hlo_of(p, HLO_SHARED_BASE)] = shared_base(p, iota, lane, record);
    if (has(reads, hlo_of(p, HLO_TABLE))) take_table(p, record);
    begin_body(p, f);
    print_own_variables(p, f, true);
    print_region(p, f->body, 0);
    uint32_t fault = first_fault(p, lane);
    hg_text_addf(p->out, "    return %%%u, %%%u", (unsigned)fault,
                 (unsigned)p->items[hlo_of(p, HLO_FUEL)]);
    list_arrays(p, NAMES, false, p->items + hlo_array(p, 0));
    hg_text_addf(p->out, " : tensor<5xui64>, tensor<ui64>");
    list_arrays(p, TYPES, false, NULL);
    hg_text_addf(p->out, "\n  }\n");
}

/* Of two faults the one that comes first, by phase and lane. */
static void print_earlier(hlo *p) {
    hg_text_addf(p->out, "  func.func private @earlier(%%a: tensor<5xui64>, %%b: tensor<5xui64>) "
                         "-> tensor<5xui64> {\n"
                         "    %%z = stablehlo.constant dense<0> : tensor<1xui64>\n"
                         "    %%s = stablehlo.constant dense<40> : tensor<1xui64>\n");
    for (int i = 0; i < 2; i++) {
        char x = (char)('a' + i);
        for (int k = 0; k < 3; k++)
            hg_text_addf(p->out,
                         "    %%%c%d = stablehlo.slice %%%c [%d:%d] : (tensor<5xui64>) -> "
                         "tensor<1xui64>\n",
                         x, k, x, k, k + 1);
        hg_text_addf(p->out,
                     "    %%%ch = stablehlo.shift_left %%%c1, %%s : tensor<1xui64>\n"
                     "    %%%ck = stablehlo.or %%%ch, %%%c2 : tensor<1xui64>\n",
                     x, x, x, x, x);
    }
    hg_text_addf(
        p->out,
        "    %%n = stablehlo.compare EQ, %%a0, %%z : (tensor<1xui64>, tensor<1xui64>) -> "
        "tensor<1xi1>\n"
        "    %%m = stablehlo.compare NE, %%b0, %%z : (tensor<1xui64>, tensor<1xui64>) -> "
        "tensor<1xi1>\n"
        "    %%l = stablehlo.compare LT, %%bk, %%ak : (tensor<1xui64>, tensor<1xui64>) -> "
        "tensor<1xi1>\n"
        "    %%o = stablehlo.or %%n, %%l : tensor<1xi1>\n"
        "    %%t = stablehlo.and %%m, %%o : tensor<1xi1>\n"
        "    %%c = stablehlo.broadcast_in_dim %%t, dims = [0] : (tensor<1xi1>) -> tensor<5xi1>\n"
        "    %%r = stablehlo.select %%c, %%b, %%a : tensor<5xi1>, tensor<5xui64>\n"
        "    return %%r : tensor<5xui64>\n  }\n");
}

static void print_main(hlo *p, uint64_t tiles) {
    uint32_t count = p->launch->array_count, *names = p->items + hlo_array(p, 0),
             record = p->next++, zero, fuel, fault, next;
    name_arrays(p, names);
    hg_text_addf(p->out, "  func.func public @main(%%%u: tensor<%lluxui64>", (unsigned)record,
                 (unsigned long long)record_count(p));
    list_arrays(p, DECLARED, true, names);
    hg_text_addf(p->out, ") -> (tensor<5xui64>");
    list_arrays(p, TYPES, false, NULL);
    hg_text_addf(p->out, ") {\n");
    zero = one_number(p, 0);
    fuel = of_record(p, record, HLO_RECORD_FUEL);
    fault = p->next++;
    hg_text_addf(p->out, "    %%%u = stablehlo.constant dense<0> : tensor<5xui64>\n",
                 (unsigned)fault);
    uint32_t *given = hg_calloc((size_t)count + 1, sizeof *given);
    if (!given) {
        p->failed = true;
        return;
    }
    memcpy(given, names, count * sizeof *given);
    uint32_t tile = zero, end = one_number(p, tiles), one = one_number(p, 1), results = p->next;
    if (tiles > 1) { /* %results, … = while(tile, fault, fuel, arrays) */
        uint32_t carried_count = 3;
        for (uint32_t i = 0; i < count; i++) carried_count += p->launch->arrays[i].written;
        p->next += carried_count;
        for (uint32_t i = 0; i < carried_count; i++) line_of(p, i ? ", " : "    ", results + i, "");
        uint32_t inside = p->next;
        p->next += carried_count;
        hg_text_addf(p->out, " = stablehlo.while(%%%u = %%%u, %%%u = %%%u, %%%u = %%%u",
                     (unsigned)inside, (unsigned)zero, (unsigned)inside + 1, (unsigned)fault,
                     (unsigned)inside + 2, (unsigned)fuel);
        for (uint32_t i = 0, at = inside + 3; i < count; i++) {
            if (!p->launch->arrays[i].written) continue;
            hg_text_addf(p->out, ", %%%u = %%%u", (unsigned)at, (unsigned)given[i]);
            given[i] = at++;
        }
        hg_text_addf(p->out, ") : tensor<ui64>, tensor<5xui64>, tensor<ui64>");
        list_arrays(p, TYPES, false, NULL);
        hg_text_addf(
            p->out,
            "\n    cond {\n    %%c = stablehlo.compare LT, %%%u, %%%u : (tensor<ui64>, "
            "tensor<ui64>) -> tensor<i1>\n    stablehlo.return %%c : tensor<i1>\n    } do {\n",
            (unsigned)inside, (unsigned)end);
        tile = inside;
        fault = inside + 1;
        fuel = inside + 2;
    }
    uint32_t found = p->next++, left = p->next++;
    name_arrays(p, names);
    hg_text_addf(p->out, "    %%%u, %%%u", (unsigned)found, (unsigned)left);
    list_arrays(p, NAMES, false, names);
    hg_text_addf(p->out, " = func.call @tile(%%%u, %%%u, %%%u", (unsigned)tile, (unsigned)record,
                 (unsigned)fuel);
    list_arrays(p, NAMES, true, given);
    hg_text_addf(p->out, ") : (tensor<ui64>, tensor<%lluxui64>, tensor<ui64>",
                 (unsigned long long)record_count(p));
    list_arrays(p, TYPES, true, NULL);
    hg_text_addf(p->out, ") -> (tensor<5xui64>, tensor<ui64>");
    list_arrays(p, TYPES, false, NULL);
    hg_text_addf(p->out, ")\n");
    if (tiles > 1) {
        next = scalar(p, "add", tile, one, "tensor<ui64>");
        uint32_t best = p->next++;
        hg_text_addf(
            p->out,
            "    %%%u = func.call @earlier(%%%u, %%%u) : (tensor<5xui64>, tensor<5xui64>) -> "
            "tensor<5xui64>\n    stablehlo.return %%%u, %%%u, %%%u",
            (unsigned)best, (unsigned)fault, (unsigned)found, (unsigned)next, (unsigned)best,
            (unsigned)left);
        list_arrays(p, NAMES, false, names);
        hg_text_addf(p->out, " : tensor<ui64>, tensor<5xui64>, tensor<ui64>");
        list_arrays(p, TYPES, false, NULL);
        hg_text_addf(p->out, "\n    }\n");
        found = results + 1;
        for (uint32_t i = 0, at = results + 3; i < count; i++)
            if (p->launch->arrays[i].written) names[i] = at++;
    }
    line_of(p, "    return ", found, "");
    list_arrays(p, NAMES, false, names);
    hg_text_addf(p->out, " : tensor<5xui64>");
    list_arrays(p, TYPES, false, NULL);
    hg_text_addf(p->out, "\n  }\n");
    hg_free(given);
}

/* Lanes of a tensor: whole blocks where the kernel has some, as many as memory for private arrays
 * allows. */
static uint64_t lanes_of_tile(const hlo *p) {
    const emit_stablehlo_launch *l = p->launch;
    uint64_t block = hlo_block_lanes(p), own = 8, most = MOST_LANES;
    for (const kir_var *x = p->module->vars; x; x = x->next)
        own += kir_type_bytes(x->type) * (x->length ? x->length : 1);
    if (p->module->uses_shared) own += l->shared_bytes / block;
    if (most > MOST_PRIVATE / own) most = MOST_PRIVATE / own;
    uint64_t blocks = (l->lanes + block - 1) / block, some = most / block ? most / block : 1;
    return block * (blocks < some ? blocks ? blocks : 1 : some);
}

static bool open_printer(hlo *p) {
    const kir_module *m = p->module;
    p->item_count = hlo_of(p, HLO_INPUT) + (uint32_t)(m->inputs.count + 2 * m->slots.count);
    p->set_words = p->item_count / 64 + 1;
    p->reads = hg_calloc((size_t)m->function_count * p->set_words, sizeof *p->reads);
    p->writes = hg_calloc((size_t)m->function_count * p->set_words, sizeof *p->writes);
    p->items = hg_calloc(p->item_count, sizeof *p->items);
    p->vars = hg_calloc((size_t)m->var_count + 1, sizeof *p->vars);
    if (!p->reads || !p->writes || !p->items || !p->vars) return false;
    for (const kir_var *x = m->vars; x; x = x->next) p->vars[x->id] = x;
    for (kir_function *f = m->functions; f; f = f->next) kir_number(f);
    p->lanes = lanes_of_tile(p);
    return true;
}

hg_status emit_stablehlo(const kir_module *kernel, const emit_stablehlo_launch *launch,
                         const char *about, hg_text *out, emit_stablehlo_sites *sites) {
    hlo printer = {.out = out, .module = kernel, .launch = launch, .sites = sites, .next = 1},
        *p = &printer;
    uint8_t *seen = hg_calloc((size_t)kernel->function_count + 1, 1);
    bool ok = seen && open_printer(p);
    if (ok) {
        uint64_t tiles = (launch->lanes + p->lanes - 1) / p->lanes;
        char name[96];
        emit_kernel_name(kernel, name);
        hg_text_addf(out, "// Written by hologram.\n%smodule @%s {\n", about, name);
        print_called(p, kernel->functions, seen, 0);
        for (uint32_t i = 0; i < launch->array_count; i++)
            launch->arrays[i].written = has(writes_of(p, kernel->functions), hlo_array(p, i));
        if (!p->unsupported && !p->failed) print_tile(p);
        if (tiles > 1) print_earlier(p);
        if (!p->unsupported && !p->failed) print_main(p, tiles ? tiles : 1);
        hg_text_addf(out, "}\n");
    }
    ok = ok && !p->failed && !out->failed;
    hg_free(seen);
    hg_free(p->reads);
    hg_free(p->writes);
    hg_free(p->items);
    hg_free(p->names);
    hg_free((void *)p->vars);
    if (p->unsupported)
        return hg_fail(HG_ERROR_ISA, "no StableHLO for '%s': %s", kernel->name, p->unsupported);
    return ok ? HG_OK : hg_fail_memory();
}

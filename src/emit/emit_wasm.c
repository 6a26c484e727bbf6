/* The vector form as a module of WebAssembly with SIMD: functions and control flow. What kernels
 * compute, and what is called when they fault, is that of the C text (emit_vector_c.c) for wasm32.
 * Must not know: devices, who compiles and loads the module. */
#include "emit/emit.h"
#include "emit/emit_wasm_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- functions ---- */

static uint32_t field(wa_printer *p, wasm_op load, uint64_t offset, wasm_type type) {
    const uint32_t local = wasm_take(p->c, type);
    w_get(p->c, p->l.launch);
    w_memory(p->c, load, offset);
    w_set(p->c, local);
    return local;
}

static void declare_memory(wa_printer *p, const vec_function *f) {
    const uint64_t count = p->k->module->slots.count;
    if (count) {
        const uint32_t slots = field(p, W_I32_LOAD, WA_LAUNCH_SLOTS, WASM_I32);
        for (uint64_t i = 0; i < count; i++) {
            p->m.bases[i] = wasm_take(p->c, WASM_I32);
            p->m.sizes[i] = wasm_take(p->c, WASM_I64);
            w_get(p->c, slots);
            w_memory(p->c, W_I32_LOAD, i * WA_MEMORY_BYTES);
            w_set(p->c, p->m.bases[i]);
            w_get(p->c, slots);
            w_memory(p->c, W_I64_LOAD, i * WA_MEMORY_BYTES + WA_MEMORY_SIZE);
            w_set(p->c, p->m.sizes[i]);
        }
    }
    if (vec_reaches(f, KIR_SHARED)) {
        p->m.shared_base = field(p, W_I32_LOAD, WA_LAUNCH_SHARED, WASM_I32);
        p->m.shared_size = field(p, W_I64_LOAD, WA_LAUNCH_SHARED_VISIBLE, WASM_I64);
    }
    if (vec_reaches(f, KIR_CLASS)) {
        p->m.class_base = field(p, W_I32_LOAD, WA_LAUNCH_CLASS, WASM_I32);
        p->m.class_size = wasm_take(p->c, WASM_I64);
        w_i64(p->c, VEC_CLASS_BYTES);
        w_i64(p->c, 0);
        w_get(p->c, p->l.launch);
        w_memory(p->c, W_I32_LOAD8_U, WA_LAUNCH_CLASS + WA_MEMORY_VALID);
        w(p->c, W_SELECT);
        w_set(p->c, p->m.class_size);
    }
}

/* Operations on limbs that the launch brings. */
static void call_ready(wa_printer *p, const vec_function *f) {
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I32_LOAD, WA_LAUNCH_WIDE);
    (void)w_open(p->c, W_IF, WASM_VOID);
    w_get(p->c, p->l.launch);
    w_i32(p->c, f->limbs_op);
    for (uint8_t i = 0; i < 4; i++) {
        if (i < f->array_count)
            w_get(p->c, p->vars[f->array_params[i]->id].base);
        else
            w_i32(p->c, 0);
    }
    w_i32(p->c, f->array_params[0]->length);
    w_i32(p->c, p->k->lanes);
    w_get(p->c, p->l.run);
    w_get(p->c, p->l.launch);
    w_memory(p->c, W_I32_LOAD, WA_LAUNCH_WIDE);
    w_indirect(p->c, wasm_type_of(&p->module->m, "iiiiiiiiI:"));
    if (f->masked) w_get(p->c, p->l.ended);
    w(p->c, W_RETURN);
    w(p->c, W_END);
}

static void free_tables(wa_printer *p) {
    hg_free(p->of.widths);
    hg_free(p->of.at);
    hg_free(p->of.labels);
    hg_free(p->of.marks);
    hg_free(p->of.made);
    hg_free(p->vars);
    hg_free(p->shared);
    hg_free(p->m.bases);
    hg_free(p->m.sizes);
    hg_vec_free(&p->locals);
    p->of.widths = NULL;
    p->of.at = p->of.labels = NULL;
    p->of.marks = NULL;
    p->of.made = NULL;
    p->vars = p->shared = NULL;
    memset(&p->l, 0, sizeof p->l);
    memset(&p->m, 0, sizeof p->m);
    memset(&p->b, 0, sizeof p->b);
}

/* Tables by value and variable of the function that is to be printed. */
static bool make_tables(wa_printer *p, vec_function *f) {
    const size_t values = (size_t)f->value_count + 1, slots = p->k->module->slots.count + 1;
    free_tables(p);
    p->f = f;
    p->mask_bytes = vec_common_size(f);
    p->of.widths = vec_find_widths(f, p->mask_bytes);
    p->of.at = hg_calloc(values, sizeof *p->of.at);
    p->of.labels = hg_calloc(values, sizeof *p->of.labels);
    p->of.marks = hg_calloc(values, sizeof *p->of.marks);
    p->of.made = hg_calloc(values, sizeof *p->of.made);
    p->vars = hg_calloc((size_t)f->var_count + f->array_count + 1, sizeof *p->vars);
    p->shared = hg_calloc((size_t)p->k->shared_count + 1, sizeof *p->shared);
    p->m.bases = hg_calloc(slots, sizeof *p->m.bases);
    p->m.sizes = hg_calloc(slots, sizeof *p->m.sizes);
    return p->of.widths && p->of.at && p->of.labels && p->of.marks && p->of.made && p->vars &&
           p->shared && p->m.bases && p->m.sizes;
}

static uint32_t declare(wa_printer *p, const char *suffix, const char *signature, bool exported) {
    char name[112];
    snprintf(name, sizeof name, "%s%s", p->name, suffix);
    return wasm_declare(&p->module->m, name, signature, exported);
}

/* Begins the code of a function of this kernel; parameters: the locals that they are, in order. */
static void begin(wa_printer *p, wasm_code *c, const char *signature, uint32_t *const *parameters,
                  uint32_t count) {
    wasm_begin(c, signature);
    p->c = c;
    p->locals.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (parameters[i]) *parameters[i] = i;
}

/* The question of WHOLE. */
static uint32_t print_question(wa_printer *p, vec_function *f, const vec_value *whole) {
    wasm_code c;
    const uint32_t number = declare(p, "_well", "iII:i", false);
    uint32_t *const parameters[] = {&p->l.launch, &p->l.begin, &p->l.end};
    if (!make_tables(p, f)) return p->module->m.failed = true, 0;
    begin(p, &c, "iII:i", parameters, 3);
    declare_memory(p, f);
    wa_body(p, whole->body[0]);
    w(&c, W_UNREACHABLE);
    wasm_define(&p->module->m, number, &c);
    return number;
}

/* Turns in which all goes well, of a stretch; the lane behind them. */
static uint32_t print_well(wa_printer *p, vec_function *f, const vec_value *whole) {
    wasm_code c;
    const uint32_t number = declare(p, "_turns", "iiII:I", false);
    uint32_t *const parameters[] = {&p->l.launch, &p->l.frame, &p->l.first, &p->l.end};
    if (!make_tables(p, f)) return p->module->m.failed = true, 0;
    begin(p, &c, "iiII:I", parameters, 4);
    p->settled = p->all_run = true;
    declare_memory(p, f);
    p->l.run = wasm_take(&c, WASM_I64);
    p->l.shared_at = p->l.frame;
    w_i64(&c, wa_all(p));
    w_set(&c, p->l.run);
    wa_place_vars(p, f);
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->op == VEC_INPUT && v->uses && v->parent->owner != whole) wa_input(p, v);
    const uint32_t behind = w_open(&c, W_BLOCK, WASM_VOID), loop = w_open(&c, W_LOOP, WASM_VOID);
    w_get(&c, p->l.first);
    w_get(&c, p->l.end);
    w(&c, W_I64_GE_U);
    w_branch(&c, W_BR_IF, behind);
    if (vec_asks_time(f)) {
        w_get(&c, p->l.launch);
        w_memory(&c, W_I32_LOAD8_U, WA_LAUNCH_STOPPED);
        w_branch(&c, W_BR_IF, behind);
    }
    p->l.over = w_open(&c, W_BLOCK, WASM_VOID);
    wa_fill_zero(p, p->l.frame, 0, p->memory.shared_bytes);
    wa_clear_vars(p, NULL, true);
    wa_body(p, f->body);
    w(&c, W_END);
    w_get(&c, p->l.first);
    w_i64(&c, p->k->lanes);
    w(&c, W_I64_ADD);
    w_set(&c, p->l.first);
    w_branch(&c, W_BR, loop);
    w(&c, W_END);
    w(&c, W_END);
    w_get(&c, p->l.first);
    wa_leave_settled(p);
    wasm_define(&p->module->m, number, &c);
    return number;
}

static uint32_t print_turn(wa_printer *p, vec_function *f) {
    wasm_code c;
    const uint32_t number = declare(p, "_turn", "iiII:", false);
    uint32_t *const parameters[] = {&p->l.launch, &p->l.frame, &p->l.first, &p->l.run};
    if (!make_tables(p, f)) return p->module->m.failed = true, 0;
    begin(p, &c, "iiII:", parameters, 4);
    p->l.shared_at = p->l.frame;
    wa_place_vars(p, f);
    declare_memory(p, f);
    wa_fill_zero(p, p->l.frame, 0, p->memory.shared_bytes);
    wa_clear_vars(p, NULL, false);
    wa_body(p, f->body);
    wasm_define(&p->module->m, number, &c);
    return number;
}

/* launch, frame, what turns keep, the block's lanes, its place, its turns. */
static const char BLOCK_SIGNATURE[] = "iiiIIiiii:";

static uint32_t print_block(wa_printer *p, vec_function *f) {
    wasm_code c;
    const uint32_t number = declare(p, "_block", BLOCK_SIGNATURE, false);
    uint32_t *const parameters[] = {&p->l.launch,   &p->l.frame,    &p->b.all,
                                    &p->l.begin,    &p->l.end,      &p->b.block[0],
                                    &p->b.block[1], &p->b.block[2], &p->b.turns};
    if (!make_tables(p, f)) return p->module->m.failed = true, 0;
    begin(p, &c, BLOCK_SIGNATURE, parameters, HG_COUNT_OF(parameters));
    uint32_t *const words[] = {&p->b.turn[0], &p->b.turn[1], &p->b.turn[2], &p->b.number,
                               &p->b.intact,  &p->b.started, &p->b.kept,    &p->l.shared_at,
                               &p->b.rows[0], &p->b.rows[1]};
    for (size_t i = 0; i < HG_COUNT_OF(words); i++) *words[i] = wasm_take(&c, WASM_I32);
    p->l.first = wasm_take(&c, WASM_I64);
    p->l.run = wasm_take(&c, WASM_I64);
    wa_place_vars(p, f);
    declare_memory(p, f);
    for (uint32_t axis = 0; axis < HG_COUNT_OF(p->b.rows); axis++) {
        wa_push_block(p, axis);
        w_set(&c, p->b.rows[axis]);
    }
    /* intact: all lanes of the block are here, and rows are whole turns */
    w_get(&c, p->l.end);
    w_get(&c, p->l.begin);
    w(&c, W_I64_SUB);
    for (uint32_t axis = 0; axis < 3; axis++) {
        wa_push_block(p, axis);
        w(&c, W_I64_EXTEND_I32_U);
        if (axis) w(&c, W_I64_MUL);
    }
    w(&c, W_I64_EQ);
    wa_push_block(p, 0);
    w_i32(&c, p->k->lanes - 1);
    w(&c, W_I32_AND);
    w(&c, W_I32_EQZ);
    w(&c, W_I32_AND);
    w_set(&c, p->b.intact);
    wa_clear_vars(p, NULL, false);
    wa_body(p, f->body);
    wasm_define(&p->module->m, number, &c);
    return number;
}

static void print_function(wa_printer *p, vec_function *f) {
    wasm_code c;
    hg_text signature = {0};
    wa_signature(p, f, &signature);
    if (!signature.data || !make_tables(p, f)) {
        p->module->m.failed = true;
        hg_text_free(&signature);
        return;
    }
    uint32_t *const parameters[] = {&p->l.launch, &p->l.frame, &p->l.shared_at, &p->l.first,
                                    &p->l.run};
    begin(p, &c, signature.data, parameters, f->masked ? 5 : 2);
    if (f->masked) {
        p->l.ended = wasm_take(&c, WASM_I64);
    } else {
        p->l.run = wasm_take(&c, WASM_I64);
        w_i64(&c, wa_all(p));
        w_set(&c, p->l.run);
    }
    wa_place_vars(p, f);
    if (f->masked) declare_memory(p, f);
    wa_clear_vars(p, NULL, false);
    if (f->limbs_op != KIR_OP_COUNT) call_ready(p, f);
    wa_body(p, f->body);
    if (f->result != KIR_VOID)
        w(&c, W_UNREACHABLE);
    else if (f->masked)
        w_get(&c, p->l.ended);
    wasm_define(&p->module->m, p->memory.frames[f->id].function, &c);
    hg_text_free(&signature);
}

/* ---- the kernel's entry ---- */

/* What turns keep is on the stack, which is the host's, where there is little of it. */
enum { MOST_ON_STACK = 16384 };

/* The memory of so many bytes, an i64 that is on the stack, as a local; the function returns where
 * there is none. old: the stack pointer before. */
static void take_memory(wasm_code *c, wasm_module *m, uint32_t launch, uint32_t at, uint32_t old) {
    const uint32_t bytes = wasm_take(c, WASM_I64);
    w_set(c, bytes);
    w_number(c, W_GLOBAL_GET, WASM_STACK_POINTER);
    w_set(c, old);
    w_get(c, bytes);
    w_i64(c, MOST_ON_STACK);
    w(c, W_I64_LE_U);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, old);
    w_get(c, bytes);
    w(c, W_I32_WRAP_I64);
    w(c, W_I32_SUB);
    w_i32(c, 0xfffffff0u);
    w(c, W_I32_AND);
    w_tee(c, at);
    w_number(c, W_GLOBAL_SET, WASM_STACK_POINTER);
    w(c, W_ELSE);
    w_get(c, launch);
    w_get(c, bytes);
    w_get(c, launch);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_MEMORY);
    w_indirect(c, wasm_type_of(m, "iI:i"));
    w_tee(c, at);
    w(c, W_I32_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w(c, W_RETURN);
    w(c, W_END);
    w(c, W_END);
}

static void push_stopped(wasm_code *c, uint32_t launch) {
    w_get(c, launch);
    w_memory(c, W_I32_LOAD8_U, WA_LAUNCH_STOPPED);
}

/* The lanes that are left: end - first. */
static void push_left(wasm_code *c, uint32_t first, uint32_t end) {
    w_get(c, end);
    w_get(c, first);
    w(c, W_I64_SUB);
}

/* As many whole turns as there are where all goes well, else half as many, and so on. */
static void print_stretches(const wa_printer *p, wasm_code *c, uint32_t frame, uint32_t first,
                            uint32_t well, uint32_t turns) {
    enum { LAUNCH, BEGIN, END };
    const uint32_t n = wasm_take(c, WASM_I64), left = wasm_take(c, WASM_I64);
    push_left(c, first, END);
    w_set(c, n);
    const uint32_t behind = w_open(c, W_BLOCK, WASM_VOID), loop = w_open(c, W_LOOP, WASM_VOID);
    push_left(c, first, END);
    w_set(c, left);
    w_get(c, n);
    w_get(c, left);
    w_get(c, n);
    w_get(c, left);
    w(c, W_I64_LT_U);
    w(c, W_SELECT);
    w_i64(c, ~(uint64_t)(p->k->lanes - 1));
    w(c, W_I64_AND);
    w_tee(c, n);
    w(c, W_I64_EQZ);
    push_stopped(c, LAUNCH);
    w(c, W_I32_OR);
    w_branch(c, W_BR_IF, behind);
    w_get(c, LAUNCH);
    w_get(c, first);
    w_get(c, first);
    w_get(c, n);
    w(c, W_I64_ADD);
    w_number(c, W_CALL, well);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, LAUNCH);
    w_get(c, frame);
    w_get(c, first);
    w_get(c, first);
    w_get(c, n);
    w(c, W_I64_ADD);
    w_number(c, W_CALL, turns);
    w_set(c, first);
    w(c, W_END);
    w_get(c, n);
    w_i64(c, 1);
    w(c, W_I64_SHR_U);
    w_set(c, n);
    w_branch(c, W_BR, loop);
    w(c, W_END);
    w(c, W_END);
}

static void print_entry(wa_printer *p, uint32_t entry, uint32_t turn, uint32_t well,
                        uint32_t turns) {
    enum { LAUNCH, BEGIN, END };
    wasm_code code, *c = &code;
    wasm_begin(c, "iII:");
    const uint32_t frame = wasm_take(c, WASM_I32), old = wasm_take(c, WASM_I32),
                   first = wasm_take(c, WASM_I64);
    if (p->memory.frame_bytes) {
        w_i64(c, p->memory.frame_bytes);
        take_memory(c, &p->module->m, LAUNCH, frame, old);
    }
    w_get(c, BEGIN);
    w_set(c, first);
    if (turns) print_stretches(p, c, frame, first, well, turns);
    const uint32_t behind = w_open(c, W_BLOCK, WASM_VOID), loop = w_open(c, W_LOOP, WASM_VOID);
    push_left(c, first, END);
    w_i64(c, p->k->lanes);
    w(c, W_I64_LT_U);
    push_stopped(c, LAUNCH);
    w(c, W_I32_OR);
    w_branch(c, W_BR_IF, behind);
    w_get(c, LAUNCH);
    w_get(c, frame);
    w_get(c, first);
    w_i64(c, wa_all(p));
    w_number(c, W_CALL, turn);
    w_get(c, first);
    w_i64(c, p->k->lanes);
    w(c, W_I64_ADD);
    w_set(c, first);
    w_branch(c, W_BR, loop);
    w(c, W_END);
    w(c, W_END);
    w_get(c, first);
    w_get(c, END);
    w(c, W_I64_LT_U);
    push_stopped(c, LAUNCH);
    w(c, W_I32_EQZ);
    w(c, W_I32_AND);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, LAUNCH);
    w_get(c, frame);
    w_get(c, first);
    w_i64(c, 1);
    push_left(c, first, END);
    w(c, W_I64_SHL);
    w_i64(c, 1);
    w(c, W_I64_SUB);
    w_number(c, W_CALL, turn);
    w(c, W_END);
    if (p->memory.frame_bytes) {
        w_get(c, old);
        w_number(c, W_GLOBAL_SET, WASM_STACK_POINTER);
    }
    wasm_define(&p->module->m, entry, c);
}

/* Which lanes of a turn run, in front of what it keeps. */
enum { RECORD_BYTES = 16 };

static void push_grid(wasm_code *c, uint32_t axis) {
    w_get(c, 0);
    w_memory(c, W_I64_LOAD32_U, WA_LAUNCH_GRID + 4 * (uint64_t)axis);
}
/* Where block `number` is in the grid. */
static void place_block(wasm_code *c, uint32_t number, const uint32_t place[3]) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        w_get(c, number);
        for (uint32_t below = 0; below < axis; below++) {
            push_grid(c, below);
            w(c, W_I64_DIV_U);
        }
        if (axis < 2) {
            push_grid(c, axis);
            w(c, W_I64_REM_U);
        }
        w(c, W_I32_WRAP_I64);
        w_set(c, place[axis]);
    }
}
/* The place behind it, without a division. */
static void next_place(wasm_code *c, const uint32_t place[3]) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        w_get(c, place[axis]);
        w_i32(c, 1);
        w(c, W_I32_ADD);
        w_set(c, place[axis]);
        if (axis == 2) break;
        w_get(c, place[axis]);
        w(c, W_I64_EXTEND_I32_U);
        push_grid(c, axis);
        w(c, W_I64_EQ);
        (void)w_open(c, W_IF, WASM_VOID);
        w_i32(c, 0);
        w_set(c, place[axis]);
    }
    w(c, W_END);
    w(c, W_END);
}
/* turns = hgv_turns of n lanes, in rows of x: rows * turns of a row + those of the rest. */
static void count_turns(wasm_code *c, uint32_t turns, uint32_t n, uint32_t x, uint64_t most) {
    for (int rest = 0; rest < 2; rest++) {
        w_get(c, n);
        w_get(c, x);
        w(c, rest ? W_I64_REM_U : W_I64_DIV_U);
        if (!rest) w_get(c, x);
        w_i64(c, most - 1);
        w(c, W_I64_ADD);
        w_i64(c, most);
        w(c, W_I64_DIV_U);
        w(c, rest ? W_I64_ADD : W_I64_MUL);
    }
    w(c, W_I32_WRAP_I64);
    w_set(c, turns);
}

/* A block after another; each with memory for what its turns keep. */
static void print_blocks(wa_printer *p, uint32_t entry, uint32_t block) {
    enum { LAUNCH, BEGIN, END };
    wasm_code code, *c = &code;
    wasm_begin(c, "iII:");
    const uint32_t all = wasm_take(c, WASM_I32), old = wasm_take(c, WASM_I32),
                   turns = wasm_take(c, WASM_I32), lanes = wasm_take(c, WASM_I64),
                   first = wasm_take(c, WASM_I64), last = wasm_take(c, WASM_I64),
                   number = wasm_take(c, WASM_I64), x = wasm_take(c, WASM_I64);
    uint32_t place[3];
    for (uint32_t axis = 0; axis < 3; axis++) place[axis] = wasm_take(c, WASM_I32);
    p->c = c;
    p->l.launch = LAUNCH;
    for (uint32_t axis = 0; axis < 3; axis++) {
        wa_push_block(p, axis);
        w(c, W_I64_EXTEND_I32_U);
        if (!axis) w_tee(c, x);
        if (axis) w(c, W_I64_MUL);
    }
    w_set(c, lanes);
    w_get(c, BEGIN);
    w_set(c, first);
    const uint32_t behind = w_open(c, W_BLOCK, WASM_VOID);
    w_get(c, first);
    w_get(c, END);
    w(c, W_I64_GE_U);
    w_branch(c, W_BR_IF, behind);
    w_get(c, first);
    w_get(c, lanes);
    w(c, W_I64_DIV_U);
    w_set(c, number);
    place_block(c, number, place);
    count_turns(c, turns, lanes, x, p->k->lanes);
    const uint32_t loop = w_open(c, W_LOOP, WASM_VOID);
    w_get(c, first); /* last = first + min(lanes, end - first) */
    w_get(c, lanes);
    push_left(c, first, END);
    w_get(c, lanes);
    push_left(c, first, END);
    w(c, W_I64_LT_U);
    w(c, W_SELECT);
    w(c, W_I64_ADD);
    w_set(c, last);
    /* hgv_begin_block */
    w_get(c, LAUNCH);
    w_i64(c, 0);
    w_memory(c, W_I64_STORE, WA_LAUNCH_PHASE);
    w_get(c, LAUNCH);
    w_i32(c, 0);
    w_memory(c, W_I32_STORE8, WA_LAUNCH_FAULTED);
    w_get(c, LAUNCH);
    w_memory(c, W_I64_LOAD, WA_LAUNCH_SHARED_STEP);
    w(c, W_I64_EQZ);
    (void)w_open(c, W_IF, WASM_VOID);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_SHARED);
    w_i32(c, 0);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_SHARED + WA_MEMORY_SIZE);
    w(c, W_MEMORY_FILL);
    w(c, W_END);
    w_get(c, last);
    w_get(c, first);
    w(c, W_I64_SUB);
    w_tee(c, number);
    w_get(c, lanes);
    w(c, W_I64_NE);
    (void)w_open(c, W_IF, WASM_VOID); /* the last one, which is cut off */
    count_turns(c, turns, number, x, p->k->lanes);
    w(c, W_END);
    w_get(c, turns);
    w(c, W_I64_EXTEND_I32_U);
    w_i64(c, p->memory.kept_bytes);
    w(c, W_I64_MUL);
    w_i64(c, p->memory.frame_bytes);
    w(c, W_I64_ADD);
    take_memory(c, &p->module->m, LAUNCH, all, old);
    if (p->memory.kept_bytes > RECORD_BYTES) { /* of the lanes that run start_turns says all */
        w_get(c, all);
        w_i32(c, 0);
        w_get(c, turns);
        w_i32(c, p->memory.kept_bytes);
        w(c, W_I32_MUL);
        w(c, W_MEMORY_FILL);
    }
    w_get(c, LAUNCH);
    w_get(c, all);
    w_get(c, turns);
    w_i32(c, p->memory.kept_bytes);
    w(c, W_I32_MUL);
    w(c, W_I32_ADD);
    w_get(c, all);
    w_get(c, first);
    w_get(c, last);
    for (uint32_t axis = 0; axis < 3; axis++) w_get(c, place[axis]);
    w_get(c, turns);
    w_number(c, W_CALL, block);
    w_get(c, old);
    w_number(c, W_GLOBAL_SET, WASM_STACK_POINTER);
    push_stopped(c, LAUNCH);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD8_U, WA_LAUNCH_FAULTED);
    w_get(c, LAUNCH);
    w_memory(c, W_I64_LOAD, WA_LAUNCH_PHASE);
    w(c, W_I64_EQZ);
    w(c, W_I32_AND);
    w(c, W_I32_OR);
    w_branch(c, W_BR_IF, behind);
    w_get(c, LAUNCH);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_SHARED);
    w_get(c, LAUNCH);
    w_memory(c, W_I32_LOAD, WA_LAUNCH_SHARED_STEP);
    w(c, W_I32_ADD);
    w_memory(c, W_I32_STORE, WA_LAUNCH_SHARED);
    next_place(c, place);
    w_get(c, last);
    w_tee(c, first);
    w_get(c, END);
    w(c, W_I64_LT_U);
    w_branch(c, W_BR_IF, loop);
    w(c, W_END);
    w(c, W_END);
    wasm_define(&p->module->m, entry, c);
}

/* Numbers of functions, and where in the kernel's frame the arrays of each are. */
static void plan_frames(wa_printer *p) {
    uint32_t shared = 0, frame = 0, kept = RECORD_BYTES;
    for (const vec_var *var = p->k->shared; var; var = var->next) {
        p->mask_bytes = VEC_SHARED_MASK_BYTES;
        shared += wa_align(wa_var_memory(p, var));
    }
    p->memory.shared_bytes = shared;
    frame = shared;
    for (vec_function *f = p->k->functions; f; f = f->next) {
        vec_count_uses(f);
        p->mask_bytes = vec_common_size(f);
        p->memory.frames[f->id].at = frame;
        for (const vec_var *var = f->vars; var; var = var->next)
            if (var->length && !var->by_reference && !var->kept)
                frame += wa_align(wa_var_memory(p, var));
        for (const vec_var *var = f->vars; var; var = var->next)
            if (var->kept) kept += wa_align(wa_var_memory(p, var));
        if (f == p->k->functions) continue;
        hg_text signature = {0};
        char suffix[16];
        wa_signature(p, f, &signature);
        snprintf(suffix, sizeof suffix, "_f%u", (unsigned)f->id);
        if (signature.data)
            p->memory.frames[f->id].function = declare(p, suffix, signature.data, false);
        else
            p->module->m.failed = true;
        hg_text_free(&signature);
    }
    p->memory.frame_bytes = frame;
    p->memory.kept_bytes = kept + shared;
}

static emit_wasm_made print_kernel(wa_printer *p) {
    vec_function *kernel = p->k->functions;
    const uint32_t entry = declare(p, "", "iII:", !p->module->m.alone.yes);
    plan_frames(p);
    for (const kir_table *t = p->k->module->tables; t; t = t->next)
        p->memory.tables[t->id] = wasm_data(&p->module->m, t->data,
                                            t->length * kir_type_bytes(t->type), 16);
    for (vec_function *f = kernel->next; f; f = f->next) print_function(p, f);
    if (p->k->blocks) {
        const uint32_t block = print_block(p, kernel);
        print_blocks(p, entry, block);
    } else {
        const vec_value *whole = vec_whole_of(p->k);
        const uint32_t well = whole ? print_question(p, kernel, whole) : 0,
                       turns = whole ? print_well(p, kernel, whole) : 0,
                       turn = print_turn(p, kernel);
        print_entry(p, entry, turn, well, turns);
    }
    return (emit_wasm_made){.function = entry,
                            .frame_bytes = p->memory.frame_bytes,
                            .turn_bytes = p->k->blocks ? p->memory.kept_bytes : 0};
}

void emit_wasm_caps(kir_caps *caps) {
    vec_caps(caps);
    caps->name = "wasm";
    caps->fma64 = false;
    caps->half = caps->mad = caps->long_code = false;
}

hg_status wa_check_limits(const wasm_module *m, const char *name) {
    if (m->locals > WASM_MOST_LOCALS)
        return hg_fail(
            HG_ERROR_ISA,
            "no WebAssembly for '%s': a function of it takes %llu locals, at most %d are "
            "compiled",
            name, (unsigned long long)m->locals, (int)WASM_MOST_LOCALS);
    if (m->bytes > WASM_MOST_BYTES)
        return hg_fail(HG_ERROR_ISA,
                       "no WebAssembly for '%s': a function of it takes %llu bytes, at most %d are "
                       "compiled",
                       name, (unsigned long long)m->bytes, (int)WASM_MOST_BYTES);
    return HG_OK;
}

/* made: NULL, or what became of each kernel. */
static hg_status print_kernels(wa_module *module, vec_kernel *const *kernels, uint32_t count,
                               const char *const *names, emit_wasm_made *made) {
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < count && status == HG_OK; i++) {
        char name[96];
        uint32_t tables = 0;
        emit_wasm_made one = {0};
        emit_kernel_name(kernels[i]->module, name);
        for (const kir_table *t = kernels[i]->module->tables; t; t = t->next) tables++;
        wa_printer p = {.module = module, .k = kernels[i], .name = names ? names[i] : name};
        p.memory.frames = hg_calloc((size_t)kernels[i]->function_count + 1,
                                    sizeof *p.memory.frames);
        p.memory.tables = hg_calloc((size_t)tables + 1, sizeof *p.memory.tables);
        if (p.memory.frames && p.memory.tables)
            one = print_kernel(&p);
        else
            module->m.failed = true;
        if (made) made[i] = one;
        if (p.unsupported)
            status = hg_fail(HG_ERROR_ISA, "no WebAssembly for '%s': %s", kernels[i]->module->name,
                             p.unsupported);
        else
            status = wa_check_limits(&module->m, kernels[i]->module->name);
        free_tables(&p);
        hg_free(p.memory.frames);
        hg_free(p.memory.tables);
    }
    if (status == HG_OK) wa_write_helpers(module);
    return status;
}

hg_status emit_wasm(vec_kernel *const *kernels, uint32_t count, const char *const *names,
                    const char *about, hg_text *out) {
    wa_module module = {0};
    hg_status status = print_kernels(&module, kernels, count, names, NULL);
    if (status == HG_OK) {
        wasm_write(&module.m, about, out);
        if (out->failed) status = hg_fail_memory();
    }
    wasm_free(&module.m);
    return status;
}

hg_status emit_wasm_alone(vec_kernel *const *kernels, uint32_t count, const char *const *names,
                          emit_wasm_more *more, void *user, const char *about, hg_text *out) {
    wa_module module = {.m.alone.yes = true};
    emit_wasm_made *made = hg_calloc((size_t)count + 1, sizeof *made);
    hg_status status = made ? print_kernels(&module, kernels, count, names, made)
                            : hg_fail_memory();
    if (status == HG_OK) status = more(user, &module.m, made);
    if (status == HG_OK) {
        wasm_write(&module.m, about, out);
        if (out->failed) status = hg_fail_memory();
    }
    wasm_free(&module.m);
    hg_free(made);
    return status;
}

void emit_wasm_text(const hg_text *bytes, const char *about, hg_text *out) {
    wasm_text(bytes->data, bytes->length, about, out);
}

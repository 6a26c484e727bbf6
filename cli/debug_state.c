/* What the debugger is told by a launch: registers of lanes, where lanes are, which bytes changed.
 * Must not know: commands. */
#include "debug.h"
#include <signal.h>
#include <string.h>

enum { WINDOW = 65536 }; /* lanes whose registers are kept */

/* ---- registers ---- */

static void free_row(debug_row *row) {
    hg_free(row->type);
    for (size_t i = 0; i < HG_COUNT_OF(row->parts); i++) hg_free(row->parts[i]);
    memset(row, 0, sizeof *row);
}

static void free_rows(debug *d) {
    for (size_t i = 0; i < HG_COUNT_OF(d->look.registers); i++) free_row(&d->look.registers[i]);
    for (size_t i = 0; i < HG_COUNT_OF(d->look.predicates); i++) free_row(&d->look.predicates[i]);
}

void debug_forget(debug *d) {
    free_rows(d);
    memset(d->look.has_handle, 0, sizeof d->look.has_handle);
    d->look.window = d->look.lane / WINDOW * WINDOW;
    d->look.window_lanes = d->run.lanes - d->look.window < WINDOW
                               ? (uint32_t)(d->run.lanes - d->look.window)
                               : WINDOW;
}

void debug_free_state(debug *d) {
    free_rows(d);
    hg_vec_free(&d->breaks);
    hg_vec_free(&d->watches);
}

/* The type that an instruction writes to a register; `bits` is what the kernel knows of it. */
static hg_type written_type(const debug *d, uint32_t inst, uint8_t number, hg_type bits) {
    const hg_program *p = d->program;
    if (inst >= p->inst_count) return bits;
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *info = &row->operands[i];
        if (info->kind != HG_K_REG || !(info->access & HG_WRITE) || o[i].reg != number ||
            info->rule != HG_R_T)
            continue;
        hg_type type = (hg_type)p->insts[inst].type;
        if (type < HG_TYPE_COUNT && hg_type_size_bytes(type) == hg_type_size_bytes(bits))
            return type;
    }
    return bits;
}

/* The start of a launch writes parameters, before any instruction. */
static hg_type start_type(const debug *d, uint8_t number, hg_type bits) {
    for (uint32_t i = 0; i < d->program->param_count; i++) {
        const hg_param *p = &d->program->params[i];
        if (p->reg == number && p->kind == HG_PARAM_SCALAR) return (hg_type)p->type;
    }
    return bits;
}

static bool make_part(debug *d, debug_row *row, uint8_t part) {
    if (!row->type) row->type = hg_calloc(d->look.window_lanes, 1);
    if (!row->parts[part]) row->parts[part] = hg_calloc(d->look.window_lanes, sizeof **row->parts);
    return row->type && row->parts[part];
}

static void told_value(void *user, const tile_place *place, bool predicate, uint8_t number,
                       uint8_t type, uint8_t part, const void *elements, uint8_t size, bool one) {
    debug *d = user;
    debug_row *row = predicate ? &d->look.predicates[number % HG_MAX_PREDICATES]
                               : &d->look.registers[number];
    bool first_ran = d->run.last_inst == 0 && d->run.last_lane0 == place->lane0; /* the tile is
                                                                                    behind the
                                                                                    start:
                                                                                    instruction 0
                                                                                    writes */
    bool start = d->run.events == 0 || (place->inst == 0 && !first_ran);
    hg_type kept = predicate ? HG_TYPE_U8 : written_type(d, place->inst, number, (hg_type)type);
    if (!predicate && start && kept == (hg_type)type) kept = start_type(d, number, kept);
    if (d->run.events == 0 && !predicate && part == 0) {
        d->look.handle[number] = 0;
        memcpy(&d->look.handle[number], elements, size);
        d->look.has_handle[number] = true;
    }
    if (!make_part(d, row, part)) return; /* shown as not known */
    for (uint32_t i = 0; i < place->n; i++) {
        uint64_t lane = place->lane0 + i;
        if (!place->active[i] || lane < d->look.window ||
            lane - d->look.window >= d->look.window_lanes)
            continue;
        uint64_t value = 0;
        memcpy(&value, (const uint8_t *)elements + (one ? 0 : (size_t)i * size), size);
        row->type[lane - d->look.window] = (uint8_t)(kept + 1);
        row->parts[part][lane - d->look.window] = value;
    }
}

/* ---- watches ---- */

/* The first watch whose bytes are others than before; their old value stays in *before. All of them
 * are up to date afterwards. */
static debug_watch *changed_watch(debug *d, uint8_t before[512]) {
    debug_watch *found = NULL;
    for (uint64_t i = 0; i < d->watches.count; i++) {
        debug_watch *w = &d->watches.data[i];
        uint8_t now[512];
        bool known = debug_bytes(d, w->array, w->lane, w->offset, w->size, now);
        if (w->array == DEBUG_SHARED && d->run.place && d->run.place->lane0 != d->run.last_lane0)
            w->known = false; /* of another block */
        if (known && w->known && !found && memcmp(now, w->last, w->size) != 0) {
            found = w;
            memcpy(before, w->last, w->size);
        }
        w->known = known;
        if (known) memcpy(w->last, now, w->size);
    }
    return found;
}

/* ---- stops ---- */

/* Commands speak of a lane that is here. */
static bool take_lane(debug *d) {
    if (debug_is_here(d, d->look.lane)) return true;
    if (d->look.pinned) return false;
    uint32_t first = 0;
    while (first < d->run.place->n && !d->run.place->active[first]) first++;
    d->look.lane = d->run.place->lane0 + first;
    return first < d->run.place->n;
}

static const debug_break *break_at(const debug *d, uint32_t inst) {
    for (uint64_t i = 0; i < d->breaks.count; i++)
        if (d->breaks.data[i].inst == inst) return &d->breaks.data[i];
    return NULL;
}

bool debug_stop_at_watch(debug *d, bool *go_on) {
    uint8_t before[512];
    const debug_watch *w = d->watches.count ? changed_watch(d, before) : NULL;
    if (!w) return false;
    hg_text detail = {0};
    hg_text_addf(&detail, "%s: ", w->text);
    hg_print_value(&detail, (hg_type)w->type, before);
    hg_text_addf(&detail, " -> ");
    hg_print_value(&detail, (hg_type)w->type, w->last);
    if (d->run.last_inst < d->program->inst_count) {
        hg_text_addf(&detail, ", by instruction %u (", (unsigned)d->run.last_inst);
        hg_print_instruction(&detail, d->program, d->run.last_inst);
        hg_text_addf(&detail, ")");
    }
    if (d->run.place) (void)take_lane(d);
    *go_on = debug_talk(d, "watch", detail.data ? detail.data : w->text);
    hg_text_free(&detail);
    return true;
}

static volatile sig_atomic_t interrupted;
static void note_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

void debug_watch_signals(void) {
    struct sigaction handler = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &handler, NULL);
}

static bool normal_stop(debug *d, uint32_t inst) {
    bool go_on;
    if (interrupted) {
        interrupted = 0;
        (void)take_lane(d);
        return debug_talk(d, "interrupt", NULL);
    }
    if (debug_stop_at_watch(d, &go_on)) return go_on;
    const debug_break *stop = break_at(d, inst);
    if (d->run.mode == DEBUG_CONTINUE)
        return stop && take_lane(d) ? debug_talk(d, "breakpoint", NULL) : true;
    if (!debug_is_here(d, d->look.lane) && !(stop && take_lane(d))) return true;
    if (d->run.mode == DEBUG_UNTIL && inst != d->run.inst && !stop) return true;
    if (d->run.mode == DEBUG_STOP && d->run.steps > 1 && !stop) {
        d->run.steps--;
        return true;
    }
    return debug_talk(d, stop ? "breakpoint" : "stopped", NULL);
}

static bool told_point(void *user, const tile_place *place) {
    debug *d = user;
    bool go_on = true;
    d->run.events++;
    d->run.place = place;
    if (d->run.mode == DEBUG_SEARCH) {
        if (d->run.events >= d->run.target)
            go_on = false;
        else if (debug_is_here(d, d->look.lane) &&
                 (d->run.inst == UINT32_MAX || d->run.inst == place->inst))
            d->run.found = d->run.events;
    } else if (d->run.mode == DEBUG_REPLAY) {
        if (d->run.events == d->run.target) {
            uint8_t before[512];
            (void)changed_watch(d, before);
            go_on = debug_talk(d, d->run.reason, NULL);
        }
    } else {
        go_on = normal_stop(d, place->inst);
    }
    d->run.last_inst = place->inst;
    d->run.last_lane0 = place->lane0;
    d->run.place = NULL;
    return go_on;
}

const tile_debugger debug_hooks = {.point = told_point, .value = told_value};

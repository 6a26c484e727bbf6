/* Capabilities of devices by name. Must not know: devices of this machine. */
#include "driver/capsets.h"
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name, *title;
    bool i8, i16, i64, f64, fma32, fma64, subnormals, half, folds_zeros, dot4, addressed, memory8,
        memory16, memory64, shared8, shared16, shared64, atomic64, shared_atomic64, wgsl;
    uint32_t max_slots, max_rounds, written_rounds;
    const char *inexact;
} row;
static const row ROWS[] = {
#define HG_CAPSET(...) {__VA_ARGS__},
#include "driver/devices.def"
};
static const char MACHINE[] =
#define HG_CAPSET_MACHINE(text) text
#include "driver/devices.def"
    ;

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

const char *hg_capset_machine(void) { return MACHINE; }
uint32_t hg_capset_count(void) { return HG_COUNT_OF(ROWS); }

void hg_capset_get(uint32_t index, hg_capset *set) {
    const row *r = &ROWS[index];
    memset(set, 0, sizeof *set);
    set->name = r->name;
    set->title = r->title;
    set->kir.name = r->name;
    set->kir.i8 = r->i8;
    set->kir.i16 = r->i16;
    set->kir.i64 = r->i64;
    set->kir.f64 = r->f64;
    set->kir.fma32 = r->fma32;
    set->kir.fma64 = r->fma64;
    set->kir.mad = r->fma32 && r->fma64;
    set->kir.subnormals = r->subnormals;
    set->kir.half = r->half;
    set->kir.folds_zeros = r->folds_zeros;
    set->kir.dot4 = r->dot4;
    for (int op = 0; op < KIR_OP_COUNT; op++)
        set->kir.inexact[op][0] = set->kir.inexact[op][1] = has_word(r->inexact,
                                                                     kir_op_name((kir_op)op));
    set->max_slots = r->max_slots;
    set->target = (kir_device_target){.addressed = r->addressed,
                                      .i64 = r->i64,
                                      .memory8 = r->memory8,
                                      .memory16 = r->memory16,
                                      .memory64 = r->memory64,
                                      .shared8 = r->shared8,
                                      .shared16 = r->shared16,
                                      .shared64 = r->shared64,
                                      .atomic64 = r->atomic64,
                                      .shared_atomic64 = r->shared_atomic64,
                                      .bind_arenas = r->wgsl,
                                      .bind_parts = r->wgsl,
                                      .whole_atomics = r->wgsl,
                                      .shown_uniform = r->wgsl,
                                      .rewrites = r->wgsl,
                                      .max_arenas = r->wgsl ? 2 : 8,
                                      .max_rounds = r->max_rounds,
                                      .written_rounds = r->written_rounds};
}

bool hg_capset_find(const char *name, hg_capset *set) {
    const char *wanted = strcmp(name, "poor") == 0 ? "swiftshader" : name;
    for (uint32_t i = 0; i < hg_capset_count(); i++) {
        if (strcmp(ROWS[i].name, wanted) != 0) continue;
        hg_capset_get(i, set);
        return true;
    }
    return false;
}

void hg_capset_names(char *text, size_t size) {
    text[0] = 0;
    for (uint32_t i = 0; i < hg_capset_count(); i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used ? ", " : "", ROWS[i].name);
    }
}

/* The tables of the analyses in front of the writing, a row for each value. Must not know: what
 * stands in them. */
#include "vector/form_internal.h"

typedef struct tables {
    value_rows *rows;
    uniformity_fact *uniformity;
    guess_fact *guess;
    split_fact *split;
    kept_fact *kept;
    written_fact *written;
    live_fact *live;
    control_fact *control;
} tables;

static bool make_tables(former *x, tables *t, size_t values, size_t owners) {
    t->rows = hg_arena_alloc(&x->arena, values * sizeof *t->rows);
    t->uniformity = hg_arena_alloc(&x->arena, values * sizeof *t->uniformity);
    t->guess = hg_arena_alloc(&x->arena, values * sizeof *t->guess);
    t->split = hg_arena_alloc(&x->arena, values * sizeof *t->split);
    t->kept = hg_arena_alloc(&x->arena, values * sizeof *t->kept);
    t->written = hg_arena_alloc(&x->arena, values * sizeof *t->written);
    t->live = hg_arena_alloc(&x->arena, owners * sizeof *t->live);
    t->control = hg_arena_alloc(&x->arena, owners * sizeof *t->control);
    return t->rows && t->uniformity && t->guess && t->split && t->kept && t->written && t->live &&
           t->control;
}

static bool make_of_function(former *x, kir_function *f) {
    tables t;
    size_t owners = 0;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        owners += v->body[0] != NULL;
    if (!make_tables(x, &t, (size_t)kir_number(f) + 1, owners + 1)) return false;
    owners = 0;
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        const uint32_t i = v->id;
        value_rows *rows = v->scratch = &t.rows[i];
        *rows = (value_rows){.uniformity = &t.uniformity[i],
                             .guess = &t.guess[i],
                             .split = &t.split[i],
                             .kept = &t.kept[i],
                             .written = &t.written[i]};
        if (!v->body[0]) continue;
        rows->live = &t.live[owners];
        rows->control = &t.control[owners++];
    }
    return true;
}

bool vec_make_tables(former *x) {
    for (kir_var *v = x->m->vars; v; v = v->next)
        if (!(v->scratch = hg_arena_alloc(&x->arena, sizeof(var_fact)))) return false;
    for (kir_function *f = x->m->functions; f; f = f->next)
        if (!(f->scratch = hg_arena_alloc(&x->arena, sizeof(function_fact)))) return false;
    if (!kir_list_callers_first(x->m, NULL, NULL, &x->order)) return false;
    kir_count_uses(x->m);
    for (uint64_t i = 0; i < x->order.count; i++)
        if (!make_of_function(x, x->order.data[i])) return false;
    return true;
}

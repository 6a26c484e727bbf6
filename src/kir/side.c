/* Side tables.
 * Must not know: what an entry means. */
#include "kir/side.h"

hg_status kir_side_create(const kir_module *m, kir_side_table *table) {
    *table = (kir_side_table){
        .first = hg_calloc((size_t)m->function_count + 1, sizeof *table->first)};
    for (const kir_function *f = m->functions; f && table->first; f = f->next) {
        table->first[f->id] = table->count;
        table->count += f->value_count;
    }
    table->entries = table->first ? hg_calloc((size_t)table->count + 1, 1) : NULL;
    if (table->entries) return HG_OK;
    kir_side_free(table);
    return hg_fail_memory();
}

void kir_side_free(kir_side_table *table) {
    hg_free(table->entries);
    hg_free(table->first);
    *table = (kir_side_table){0};
}

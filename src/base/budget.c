/* Budgets: a sum that never passes its limit. Must not know: what the memory is for. */
#include "base/budget.h"

static uint64_t three_quarters(uint64_t bytes) { return bytes ? bytes - bytes / 4 : UINT64_MAX; }

void hg_budget_of_host(hg_budget *budget, uint64_t asked) {
    *budget = (hg_budget){.limit = asked ? asked : three_quarters(hg_system_memory(""))};
}

bool hg_budget_take(hg_budget *budget, uint64_t bytes) {
    if (!budget) return true;
    uint64_t used = hg_atomic_load(&budget->used, HG_RELAXED);
    do {
        if (used > budget->limit || bytes > budget->limit - used) return false;
    } while (!hg_atomic_compare_exchange(&budget->used, &used, used + bytes, HG_RELAXED));
    return true;
}

hg_status hg_budget_refuse(const hg_budget *budget, uint64_t asked) {
    uint64_t idle = hg_atomic_load(&budget->idle, HG_RELAXED), used = hg_budget_used(budget);
    uint64_t busy = idle < used ? used - idle : 0; /* the two are not read at one moment */
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "%llu bytes asked for, %llu are in use, the limit is %llu (max_memory)%s",
                   (unsigned long long)asked, (unsigned long long)busy,
                   (unsigned long long)budget->limit,
                   busy <= budget->limit && asked <= budget->limit - busy
                       ? "; the rest is free in pieces, none of them large enough"
                       : "");
}

hg_status hg_budget_charge(hg_budget *budget, uint64_t bytes) {
    return hg_budget_take(budget, bytes) ? HG_OK : hg_budget_refuse(budget, bytes);
}

bool hg_budget_fits(const hg_budget *budget, uint64_t bytes) {
    uint64_t used = hg_budget_used(budget);
    return !budget || (used <= budget->limit && bytes <= budget->limit - used);
}

void hg_budget_release(hg_budget *budget, uint64_t bytes) {
    if (budget) (void)hg_atomic_sub_fetch(&budget->used, bytes, HG_RELAXED);
}

void hg_budget_idle(hg_budget *budget, uint64_t bytes) {
    if (budget) (void)hg_atomic_add_fetch(&budget->idle, bytes, HG_RELAXED);
}

void hg_budget_busy(hg_budget *budget, uint64_t bytes) {
    if (budget) (void)hg_atomic_sub_fetch(&budget->idle, bytes, HG_RELAXED);
}

uint64_t hg_budget_used(const hg_budget *budget) {
    return budget ? hg_atomic_load(&budget->used, HG_RELAXED) : 0;
}

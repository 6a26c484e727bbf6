/* The table of passes over the form. Must not know: what a pass does. */
#include "vector/passes.h"

#include <string.h>

static const struct {
    const char *name;
    hg_status (*run)(vec_kernel *kernel);
} PASSES[VEC_PASS_COUNT] = {
#define VEC_PASS(id, name, what) [VEC_PASS_##id] = {#name, vec_pass_##name},
#include "vector/pipeline.def"
};

vec_pass_id vec_pass_find(const char *name) {
    int id = 0;
    while (id < VEC_PASS_COUNT && strcmp(PASSES[id].name, name) != 0) id++;
    return (vec_pass_id)id;
}

static void count_all(vec_kernel *kernel) {
    for (vec_function *f = kernel->functions; f; f = f->next) vec_count_uses(f);
}

hg_status vec_pass_run(vec_kernel *kernel, vec_pass_id id) {
    count_all(kernel);
    HG_TRY(PASSES[id].run(kernel));
    count_all(kernel);
    return HG_OK;
}

/* The named kernels: programs of kernels.atlas by name.
 * Must not know: kernel IR, launches, devices. */
#include "base/nearest.h"
#include "library/texts.h"
#include <hologram/program.h>
#include <string.h>

static const struct {
    const char *name, *about;
} KERNELS[] = {
#define KERNEL(name, about) {name, about},
#include "library/kernels.def"
#undef KERNEL
};

const char *hg_kernel_name(uint32_t index) {
    HG_ENTRY;
    return index < HG_COUNT_OF(KERNELS) ? KERNELS[index].name : NULL;
}
const char *hg_kernel_about(uint32_t index) {
    HG_ENTRY;
    return index < HG_COUNT_OF(KERNELS) ? KERNELS[index].about : NULL;
}

static hg_status unknown(const char *name) {
    hg_nearest nearest;
    hg_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < HG_COUNT_OF(KERNELS); i++) hg_nearest_try(&nearest, KERNELS[i].name);
    const char *hint = hg_nearest_hint(&nearest);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "no kernel is called '%s'%s%s", name,
                   hint ? "; " : "", hint ? hint : "");
}

hg_status hg_kernel_by_name(const char *name, hg_program **program) {
    HG_ENTRY;
    if (!name || !program)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "kernel by name: %s is NULL",
                       name ? "program" : "name");
    *program = NULL;
    size_t i = 0;
    while (i < HG_COUNT_OF(KERNELS) && strcmp(KERNELS[i].name, name) != 0) i++;
    if (i == HG_COUNT_OF(KERNELS)) return unknown(name);
    hg_assemble_options options = {
        .size = sizeof options, .program = KERNELS[i].name, .source_name = "kernels.atlas"};
    return hg_program_assemble_with(hg_unpacked(&library_text_kernels), library_text_kernels.length,
                                    &options, NULL, program);
}

/* Vector form, then the compiler. */
#include "backends/cpu/compiled.h"

const cpu_compiler *cpu_compiler_in_use;

hg_status cpu_compile(const kir_module *module, tile_kernel *kernel) {
    const cpu_compiler *compiler = cpu_compiler_in_use;
    vec_kernel *k;
    tile_native native = {.lanes = compiler->lanes};
    hg_status status = vec_form(module, &(vec_options){.lanes = compiler->lanes}, &k);
    if (status == HG_ERROR_ISA) return HG_OK; /* no vector form */
    if (status != HG_OK) return status;
    status = vec_verify(k);
    if (status == HG_OK) status = compiler->compile(compiler->user, k, &native);
    if (status == HG_ERROR_ISA)
        status = HG_OK; /* the compiler does not know all of it */
    else if (status == HG_OK && !tile_kernel_attach(kernel, &native) && native.destroy)
        native.destroy(native.user);
    vec_kernel_destroy(k);
    return status;
}

/* See compilers.h. */
#include "native/compilers.h"

const native_compiler *const native_compilers[] = {
#define NATIVE_COMPILER(id) &native_##id,
#include "native/compilers.def"
#undef NATIVE_COMPILER
    NULL};

const native_compiler *native_compiler_in_use;

const native_compiler *native_choose(void) {
    const native_compiler *first = NULL;
    if (native_compiler_in_use) return native_compiler_in_use;
    for (const native_compiler *const *c = native_compilers; *c; c++) {
        if (!(*c)->compile) continue;
        if ((*c)->possible()) return *c;
        if (!first) first = *c;
    }
    return first;
}

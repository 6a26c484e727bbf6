/* emission.cpp, the one file in C++: what LLVM's functions for C do not have. */
#ifndef HG_JIT_EMISSION_H
#define HG_JIT_EMISSION_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jit_emission jit_emission;

/* Makes the passes; by one thread at a time. NULL: LLVM cannot. sinks: values are calculated where
 * they are used, which takes LLVM the square of the number of loads. */
jit_emission *jit_emission_begin(LLVMTargetMachineRef machine, LLVMModuleRef module, bool sinks);
void jit_emission_run(jit_emission *e);
const char *jit_emission_code(const jit_emission *e, size_t *bytes); /* an object file, until the
                                                                        end */
void jit_emission_end(jit_emission *e);

#ifdef __cplusplus
}
#endif

#endif

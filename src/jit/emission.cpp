// Machine code of a module, with an option of LLVM that it has for all of a process only: whether
// machine code is moved to where it is used (machine code sinking). It is looked at while the list
// of passes is made, so that is a step of its own, which one thread does at a time.
// Must not know: kernels.
#include "jit/emission.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

struct jit_emission {
    llvm::Module *module;
    llvm::SmallString<0> code;
    llvm::raw_svector_ostream out{code};
    llvm::legacy::PassManager passes;
};

static void set_sinking(bool sinks) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find("disable-machine-sink");
    if (found != options.end()) static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(!sinks);
}

jit_emission *jit_emission_begin(LLVMTargetMachineRef machine, LLVMModuleRef module, bool sinks) {
    auto *target = reinterpret_cast<llvm::TargetMachine *>(machine);
    auto *e = new jit_emission;
    e->module = llvm::unwrap(module);
    e->module->setDataLayout(target->createDataLayout());
    set_sinking(sinks);
    if (!target->addPassesToEmitFile(e->passes, e->out, nullptr, llvm::CodeGenFileType::ObjectFile))
        return e;
    delete e;
    return nullptr;
}

void jit_emission_run(jit_emission *e) { e->passes.run(*e->module); }

const char *jit_emission_code(const jit_emission *e, size_t *bytes) {
    *bytes = e->code.size();
    return e->code.data();
}

void jit_emission_end(jit_emission *e) { delete e; }

/* The entry of the module: LLVM's side of a compile, from a module of IR to the bytes of an object.
 *
 * Each compile has its own LLVM context, so several threads compile at once. LLVM's options, signal handlers and default diagnostics, which belong
 * to the process, are left alone. Where LLVM gives up (it would end the process), the compile fails and the module compiles no more.
 * Must not know: operations of the vector form. */
#include "jit/jit_internal.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- when LLVM gives up ---- */

static _Thread_local jmp_buf *give_up;
static _Thread_local char *give_up_reason;
static atomic_bool broken;

static void on_fatal_error(const char *text) {
    broken = true;
    if (!give_up) return; /* LLVM ends the process */
    snprintf(give_up_reason, 256, "LLVM: %s", text);
    longjmp(*give_up, 1);
}

static void start_llvm(void) {
    LLVMInstallFatalErrorHandler(on_fatal_error);
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

/* ---- targets ---- */

/* What LLVM knows of a CPU is made once and used by one compile after another, by one at a time. */
typedef struct machine {
    struct machine *next;
    char cpu[32];
    bool dot4;
    LLVMTargetMachineRef llvm;
} machine;

static struct {
    pthread_mutex_t lock;
    machine *free;
} machines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static machine *take_machine(const hg_jit_options *o) {
    machine **at = &machines.free;
    pthread_mutex_lock(&machines.lock);
    while (*at && (strcmp((*at)->cpu, o->cpu) != 0 || (*at)->dot4 != o->dot4)) at = &(*at)->next;
    machine *m = *at;
    if (m) *at = m->next;
    pthread_mutex_unlock(&machines.lock);
    return m;
}

static void keep_machine(machine *m) {
    pthread_mutex_lock(&machines.lock);
    m->next = machines.free;
    machines.free = m;
    pthread_mutex_unlock(&machines.lock);
}

static machine *make_machine(const hg_jit_options *o, char reason[256]) {
    char *message = NULL, *triple = LLVMGetDefaultTargetTriple();
    machine *m = hg_calloc(1, sizeof *m);
    LLVMTargetRef target = NULL;
    if (m && LLVMGetTargetFromTriple(triple, &target, &message) == 0)
        m->llvm = LLVMCreateTargetMachine(target, triple, o->cpu, o->dot4 ? "+avx512vnni" : "", LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                          LLVMCodeModelSmall);
    bool good = m && m->llvm;
    if (good) {
        snprintf(m->cpu, sizeof m->cpu, "%s", o->cpu);
        m->dot4 = o->dot4;
    } else {
        snprintf(reason, 256, "LLVM: no target %s: %s", triple, message ? message : "");
    }
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(triple);
    if (good) return m;
    hg_free(m);
    return NULL;
}

/* ---- one compile ---- */

typedef struct compile_state {
    jit_printer printer;
    machine *machine;
    LLVMMemoryBufferRef object;
    char *reason;
    bool diagnosed;
} compile_state;

/* Remarks and warnings say nothing about the code. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    compile_state *s = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    snprintf(s->reason, 256, "LLVM: %s", text);
    LLVMDisposeMessage(text);
    s->diagnosed = true;
}

static void drop_unused(LLVMModuleRef module) {
    for (bool again = true; again;) {
        again = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
            next = LLVMGetNextFunction(f);
            if (LLVMGetLinkage(f) != LLVMInternalLinkage || LLVMGetFirstUse(f)) continue;
            LLVMDeleteFunction(f);
            again = true;
        }
    }
}

static LLVMMetadataRef weights(LLVMContextRef context, uint32_t first, uint32_t second) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, "branch_weights", 14), LLVMValueAsMetadata(LLVMConstInt(i32, first, false)),
                               LLVMValueAsMetadata(LLVMConstInt(i32, second, false))};
    return LLVMMDNodeInContext2(context, parts, 3);
}

static bool start_printer(compile_state *s, vec_kernel *kernel, const hg_jit_options *options) {
    jit_printer *p = &s->printer;
    LLVMContextRef c = p->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(c, on_diagnostic, s);
    p->module = LLVMModuleCreateWithNameInContext("kernel", c);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(s->machine->llvm);
    char *triple = LLVMGetTargetMachineTriple(s->machine->llvm);
    LLVMSetModuleDataLayout(p->module, layout);
    LLVMSetTarget(p->module, triple);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    p->b = LLVMCreateBuilderInContext(c);
    p->t = (jit_types){LLVMVoidTypeInContext(c),  LLVMInt1TypeInContext(c),   LLVMInt8TypeInContext(c),      LLVMInt16TypeInContext(c),
                       LLVMInt32TypeInContext(c), LLVMInt64TypeInContext(c),  LLVMInt128TypeInContext(c),    LLVMHalfTypeInContext(c),
                       LLVMFloatTypeInContext(c), LLVMDoubleTypeInContext(c), LLVMPointerTypeInContext(c, 0)};
    p->k = kernel;
    p->lanes = kernel->lanes;
    p->bytes = options->bytes;
    p->cpu = options->cpu;
    p->dot4 = options->dot4;
    p->mask_registers = options->bytes == 64;
    p->fused = p->halves = options->bytes >= 32;
    p->prof = LLVMGetMDKindIDInContext(c, "prof", 4);
    p->unlikely = weights(c, 1, 2000);
    p->likely = weights(c, 2000, 1);
    uint32_t tables = 0;
    for (const kir_table *t = kernel->module->tables; t; t = t->next) tables = t->id >= tables ? t->id + 1 : tables;
    p->tables = hg_calloc((size_t)tables + 1, sizeof *p->tables);
    p->functions = hg_calloc((size_t)kernel->function_count + 1, sizeof *p->functions);
    p->function_types = hg_calloc((size_t)kernel->function_count + 1, sizeof *p->function_types);
    LLVMTypeRef zeros = LLVMArrayType2(p->t.i64, ZEROS_BYTES / 8);
    p->zeros = LLVMAddGlobal(p->module, zeros, "zeros");
    LLVMSetInitializer(p->zeros, LLVMConstNull(zeros));
    LLVMSetGlobalConstant(p->zeros, true);
    LLVMSetLinkage(p->zeros, LLVMInternalLinkage);
    return p->tables && p->functions && p->function_types;
}

static hg_status print_and_emit(compile_state *s) {
    jit_printer *p = &s->printer;
    char *message = NULL;
    jit_kernel(p);
    if (p->failed) return HG_ERROR_OUT_OF_MEMORY;
    if (p->unsupported) {
        snprintf(s->reason, 256, "the native compiler does not know %s", p->unsupported);
        return HG_ERROR_ISA;
    }
    drop_unused(p->module);
#ifndef NDEBUG
    if (LLVMVerifyModule(p->module, LLVMReturnStatusAction, &message)) {
        snprintf(s->reason, 256, "LLVM IR of '%s': %s", p->k->module->name, message);
        LLVMDisposeMessage(message);
        return HG_ERROR_INTERNAL;
    }
    LLVMDisposeMessage(message);
    message = NULL;
#endif
    if (LLVMTargetMachineEmitToMemoryBuffer(s->machine->llvm, p->module, LLVMObjectFile, &message, &s->object) || s->diagnosed) {
        if (message) snprintf(s->reason, 256, "LLVM: %s", message);
        LLVMDisposeMessage(message);
        return HG_ERROR_INTERNAL;
    }
    return HG_OK;
}

static void stop(compile_state *s) {
    jit_printer *p = &s->printer;
    if (s->object) LLVMDisposeMemoryBuffer(s->object);
    if (p->b) LLVMDisposeBuilder(p->b);
    if (p->module) LLVMDisposeModule(p->module);
    if (p->context) LLVMContextDispose(p->context);
    if (s->machine) keep_machine(s->machine);
    hg_vec_free(&p->frames);
    hg_free(p->tables);
    hg_free(p->functions);
    hg_free(p->function_types);
}

static hg_status run(compile_state *s, vec_kernel *kernel, const hg_jit_options *options, uint8_t **object, uint64_t *size) {
    s->machine = take_machine(options);
    if (!s->machine) s->machine = make_machine(options, s->reason);
    if (!s->machine) return HG_ERROR_INTERNAL;
    if (!start_printer(s, kernel, options)) return HG_ERROR_OUT_OF_MEMORY;
    HG_TRY(print_and_emit(s));
    *size = LLVMGetBufferSize(s->object);
    *object = hg_alloc(*size);
    if (!*object) return HG_ERROR_OUT_OF_MEMORY;
    memcpy(*object, LLVMGetBufferStart(s->object), *size);
    return HG_OK;
}

/* LLVM goes down chains of operations by calls: the stack of a thread bounds them, and its time grows faster than they do. */
enum { MOST_OPERATIONS = 8192 };

static uint64_t operations_of(const vec_kernel *kernel) {
    uint64_t count = 0;
    for (const vec_function *f = kernel->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) count++;
    return count;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options, uint8_t **object, uint64_t *size, char reason[256]) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    compile_state s = {.reason = reason};
    jmp_buf here;
    reason[0] = 0;
    if (pthread_once(&once, start_llvm) != 0 || broken) return snprintf(reason, 256, "LLVM has given up before"), HG_ERROR_INTERNAL;
    if (kernel->lanes > 64 || kernel->lanes * 8 < options->bytes)
        return snprintf(reason, 256, "the native compiler does not know turns of %u lanes", (unsigned)kernel->lanes), HG_ERROR_ISA;
    if (operations_of(kernel) > MOST_OPERATIONS)
        return snprintf(reason, 256, "the native compiler takes no kernels of more than %d operations", (int)MOST_OPERATIONS), HG_ERROR_ISA;
    give_up = &here;
    give_up_reason = reason;
    if (setjmp(here) != 0) { /* what LLVM holds is left alone: nobody knows in what state it is */
        give_up = NULL;
        return HG_ERROR_INTERNAL;
    }
    hg_status status = run(&s, kernel, options, object, size);
    give_up = NULL;
    if (status == HG_ERROR_OUT_OF_MEMORY) snprintf(reason, 256, "out of memory");
    stop(&s);
    return status;
}

static void release(uint8_t *object) { hg_free(object); }

HG_API const hg_jit_table *hologram_jit(uint32_t version);
HG_API const hg_jit_table *hologram_jit(uint32_t version) {
    static const hg_jit_table table = {HG_JIT_VERSION, "LLVM " HG_LLVM_VERSION, compile, release};
    return version == HG_JIT_VERSION ? &table : NULL;
}

/* The entry of the module: LLVM's side of a compile, from a module of IR to the bytes of an object.
 *
 * Each compile has its own LLVM context and its own thread, so several compile at once. LLVM's
 * options, signal handlers and default diagnostics, which belong to the process, are left alone.
 * Where LLVM gives up (it has no memory, or would end the process), the compile fails with the
 * reason and the module compiles no more.
 * Must not know: operations of the vector form. */
#include "jit/emission.h"
#include "jit/jit_internal.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- when LLVM gives up ---- */

/* Of a compile: where it goes on when LLVM cannot. Kept by thread in a key, not in a thread's own
 * variables: the C library ends a process that has no memory for those of a module. */
typedef struct way_out {
    jmp_buf here;
    char *reason;
} way_out;

static pthread_key_t way_out_key;
static atomic_bool key_made, broken;

void jit_give_up(const char *why) {
    way_out *way = key_made ? pthread_getspecific(way_out_key) : NULL;
    if (!way) return;
    broken = true;
    snprintf(way->reason, 256, "LLVM: %s", why);
    longjmp(way->here, 1);
}

static void on_fatal_error(const char *text) { jit_give_up(text); }

/* Loop-invariant code of checks that fail is not moved in front of the turns, where it would live
 * through all of them. An option of this module's own LLVM. */
static void set_options(void) {
    static const char *const options[] = {"hologram", "-disable-hoisting-to-hotter-blocks=all"};
    LLVMParseCommandLineOptions((int)HG_COUNT_OF(options), options, NULL);
}

static void start_llvm(void) {
    set_options();
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
    bool dot4, vbmi;
    LLVMTargetMachineRef llvm;
} machine;

static struct {
    pthread_mutex_t lock;
    machine *free;
} machines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_machine(const machine *m, const hg_jit_options *o) {
    return strcmp(m->cpu, o->cpu) == 0 && m->dot4 == o->dot4 && m->vbmi == o->vbmi;
}

static machine *take_machine(const hg_jit_options *o) {
    machine **at = &machines.free;
    pthread_mutex_lock(&machines.lock);
    while (*at && !is_machine(*at, o)) at = &(*at)->next;
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
    static const char *const FEATURES[2][2] = {{"", "+avx512vbmi"},
                                               {"+avx512vnni", "+avx512vnni,+avx512vbmi"}};
    char *message = NULL, *triple = LLVMGetDefaultTargetTriple();
    machine *m = hg_calloc(1, sizeof *m);
    LLVMTargetRef target = NULL;
    if (m && LLVMGetTargetFromTriple(triple, &target, &message) == 0)
        m->llvm = LLVMCreateTargetMachine(target, triple, o->cpu, FEATURES[o->dot4][o->vbmi],
                                          LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                          LLVMCodeModelSmall);
    bool good = m && m->llvm;
    if (good) {
        snprintf(m->cpu, sizeof m->cpu, "%s", o->cpu);
        m->dot4 = o->dot4;
        m->vbmi = o->vbmi;
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
    jit_emission *emission;
    bool begins; /* it has the lock of emissions that begin */
    char *reason;
    bool diagnosed;
} compile_state;

/* Of what is no error only the sizes of frames are read. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    compile_state *s = user;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    char *text = LLVMGetDiagInfoDescription(info);
    if (severity == LLVMDSError) {
        snprintf(s->reason, 256, "LLVM: %s", text);
        s->diagnosed = true;
    } else if (severity == LLVMDSWarning) {
        (void)jit_frame_of(&s->printer, text);
    }
    LLVMDisposeMessage(text);
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
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                               LLVMValueAsMetadata(LLVMConstInt(i32, first, false)),
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
    p->t = (jit_types){
        LLVMVoidTypeInContext(c),   LLVMInt1TypeInContext(c),      LLVMInt8TypeInContext(c),
        LLVMInt16TypeInContext(c),  LLVMInt32TypeInContext(c),     LLVMInt64TypeInContext(c),
        LLVMInt128TypeInContext(c), LLVMHalfTypeInContext(c),      LLVMFloatTypeInContext(c),
        LLVMDoubleTypeInContext(c), LLVMPointerTypeInContext(c, 0)};
    p->k = kernel;
    p->level.lanes = kernel->lanes;
    p->level.bytes = options->bytes;
    p->level.cpu = options->cpu;
    p->level.dot4 = options->dot4;
    p->level.vbmi = options->vbmi;
    p->level.mask_registers = options->bytes == 64;
    p->level.fused = p->level.halves = options->bytes >= 32;
    p->made.prof = LLVMGetMDKindIDInContext(c, "prof", 4);
    p->made.unlikely = weights(c, 1, 2000);
    p->made.likely = weights(c, 2000, 1);
    uint32_t tables = 0;
    for (const kir_table *t = kernel->module->tables; t; t = t->next)
        tables = t->id >= tables ? t->id + 1 : tables;
    p->made.tables = hg_calloc((size_t)tables + 1, sizeof *p->made.tables);
    p->made.functions = hg_calloc((size_t)kernel->function_count + 1, sizeof *p->made.functions);
    p->made.function_types = hg_calloc((size_t)kernel->function_count + 1,
                                       sizeof *p->made.function_types);
    p->frame.frame_bytes = hg_calloc((size_t)kernel->function_count + 1,
                                     sizeof *p->frame.frame_bytes);
    LLVMTypeRef zeros = LLVMArrayType2(p->t.i64, ZEROS_BYTES / 8);
    p->made.zeros = LLVMAddGlobal(p->module, zeros, "zeros");
    LLVMSetInitializer(p->made.zeros, LLVMConstNull(zeros));
    LLVMSetGlobalConstant(p->made.zeros, true);
    LLVMSetLinkage(p->made.zeros, LLVMInternalLinkage);
    return p->made.tables && p->made.functions && p->made.function_types && p->frame.frame_bytes;
}

/* Values that only a failed check needs are calculated behind it, and leave registers to the loops;
 * LLVM's time for that goes with the square of the number of loads, so large kernels do without. */
enum { MOST_WORK_TO_SINK = 1500 };

static pthread_mutex_t emission_begins = PTHREAD_MUTEX_INITIALIZER;

static void emit(compile_state *s) {
    const jit_printer *p = &s->printer;
    pthread_mutex_lock(&emission_begins);
    s->begins = true;
    s->emission = jit_emission_begin(s->machine->llvm, p->module,
                                     vec_work(p->k, p->level.bytes) <= MOST_WORK_TO_SINK);
    s->begins = false;
    pthread_mutex_unlock(&emission_begins);
    if (s->emission) jit_emission_run(s->emission);
}

static hg_status print_and_emit(compile_state *s) {
    jit_printer *p = &s->printer;
    jit_kernel(p);
    if (p->failed) return HG_ERROR_OUT_OF_MEMORY;
    if (p->unsupported) {
        snprintf(s->reason, 256, "the native compiler does not know %s", p->unsupported);
        return HG_ERROR_ISA;
    }
    drop_unused(p->module);
#ifndef NDEBUG
    char *message = NULL;
    if (LLVMVerifyModule(p->module, LLVMReturnStatusAction, &message)) {
        snprintf(s->reason, 256, "LLVM IR of '%s': %s", p->k->module->name, message);
        LLVMDisposeMessage(message);
        return HG_ERROR_INTERNAL;
    }
    LLVMDisposeMessage(message);
#endif
    emit(s);
    return s->emission && !s->diagnosed ? HG_OK : HG_ERROR_INTERNAL;
}

static void stop(compile_state *s) {
    jit_printer *p = &s->printer;
    if (s->emission) jit_emission_end(s->emission);
    if (p->b) LLVMDisposeBuilder(p->b);
    if (p->module) LLVMDisposeModule(p->module);
    if (p->context) LLVMContextDispose(p->context);
    if (s->machine) keep_machine(s->machine);
    hg_vec_free(&p->frames);
    hg_free(p->made.tables);
    hg_free(p->made.functions);
    hg_free(p->made.function_types);
    hg_free(p->frame.frame_bytes);
    hg_free(p->frame.own_at);
}

/* Refuses code that would take more of the stack than it may. */
static hg_status measure_frame(compile_state *s, hg_jit_object *object) {
    uint64_t *room = s->printer.frame.own_at, deepest = jit_deepest_frame(&s->printer, room); /* of
                                                                                           no use
                                                                                           any more
                                                                                         */
    if (deepest > HG_JIT_MOST_FRAME) {
        snprintf(s->reason, 256,
                 "its code would take %llu bytes of the stack, and may take at most %d",
                 (unsigned long long)deepest, (int)HG_JIT_MOST_FRAME);
        return HG_ERROR_ISA;
    }
    object->frame = (uint32_t)deepest;
    return HG_OK;
}

static hg_status run(compile_state *s, vec_kernel *kernel, const hg_jit_options *options,
                     hg_jit_object *object) {
    s->machine = take_machine(options);
    if (!s->machine) s->machine = make_machine(options, s->reason);
    if (!s->machine) return HG_ERROR_INTERNAL;
    if (!start_printer(s, kernel, options)) return HG_ERROR_OUT_OF_MEMORY;
    HG_TRY(print_and_emit(s));
    HG_TRY(measure_frame(s, object));
    size_t bytes;
    const char *code = jit_emission_code(s->emission, &bytes);
    object->size = bytes;
    object->bytes = hg_alloc(bytes);
    if (!object->bytes) return HG_ERROR_OUT_OF_MEMORY;
    memcpy(object->bytes, code, bytes);
    return HG_OK;
}

/* ---- the boundary ---- */

/* A compile, on a thread with a stack of its own: the caller's may be small. Who asked waits for
 * it, or leaves it alone: then the thread has all that is here, and what it points to. */
typedef struct compile_job {
    vec_kernel *kernel;
    hg_jit_options options;
    char cpu[32];
    hg_jit_object object;
    char reason[256];
    compile_state state;
    way_out way;
    hg_status status;
    hg_mutex lock; /* of over, left */
    hg_cond changed;
    bool over, left;
} compile_job;

static uint32_t work_count; /* jobs that are not over; atomic */
static uint32_t at_work(void) { return hg_atomic_load(&work_count, HG_ACQUIRE); }

static compile_job *new_job(vec_kernel *kernel, const hg_jit_options *options) {
    compile_job *job = hg_calloc(1, sizeof *job);
    if (!job) return NULL;
    job->kernel = kernel;
    job->options = *options;
    snprintf(job->cpu, sizeof job->cpu, "%s", options->cpu);
    job->options.cpu = job->cpu;
    job->state.reason = job->way.reason = job->reason;
    job->status = HG_ERROR_INTERNAL;
    hg_mutex_init(&job->lock);
    hg_cond_init(&job->changed);
    return job;
}

static void destroy_job(compile_job *job) {
    hg_cond_destroy(&job->changed);
    hg_mutex_destroy(&job->lock);
    hg_free(job);
}

/* One that was left alone, and what became its own. */
static void destroy_left(compile_job *job) {
    kir_module *module = (kir_module *)(uintptr_t)job->kernel->module;
    vec_kernel_destroy(job->kernel);
    kir_module_destroy(module);
    hg_free(job->object.bytes);
    destroy_job(job);
}

enum { STACK_BYTES = 16 << 20 };

/* What LLVM makes once in a process, it makes in the first compile, at places of its own where
 * other threads would wait for ever if it gave up there. So the first compile that succeeds runs
 * alone. */
static struct {
    pthread_mutex_t alone;
    bool started;
    atomic_bool over;
} first = {.alone = PTHREAD_MUTEX_INITIALIZER};

static void compile_within(compile_job *job) {
    if (broken) {
        snprintf(job->reason, 256, "LLVM has given up before");
        job->status = HG_ERROR_INTERNAL;
        return;
    }
    if (setjmp(job->way.here) != 0) { /* what LLVM holds is left alone: nobody knows in what state
                                         it is */
        if (job->state.begins) pthread_mutex_unlock(&emission_begins);
        job->status = HG_ERROR_INTERNAL;
        return;
    }
    if (pthread_setspecific(way_out_key, &job->way) != 0) {
        job->status = HG_ERROR_OUT_OF_MEMORY;
        return;
    }
    if (!first.started) start_llvm();
    first.started = true;
    job->status = run(&job->state, job->kernel, &job->options, &job->object);
    stop(&job->state);
}

static bool is_left(compile_job *job) {
    hg_mutex_lock(&job->lock);
    bool left = job->left;
    hg_mutex_unlock(&job->lock);
    return left;
}

static void *compile_there(void *user) {
    compile_job *job = user;
    bool alone = !first.over;
    (void)pthread_setname_np(pthread_self(), "hologram-llvm");
    if (alone) pthread_mutex_lock(&first.alone);
    if (!is_left(job)) compile_within(job);
    (void)pthread_setspecific(way_out_key, NULL);
    if (job->status == HG_OK) first.over = true;
    if (alone) pthread_mutex_unlock(&first.alone);
    hg_mutex_lock(&job->lock);
    bool left = job->left;
    job->over = true;
    hg_cond_signal(&job->changed);
    hg_mutex_unlock(&job->lock);
    if (left) destroy_left(job);
    hg_atomic_sub_fetch(&work_count, 1, HG_RELEASE);
    return NULL;
}

static bool start_there(compile_job *job, pthread_t *thread) {
    pthread_attr_t attributes;
    sigset_t all, before; /* the host's signals are for the host's threads */
    if (pthread_attr_init(&attributes) != 0) return false;
    sigfillset(&all);
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    if (started) {
        started = pthread_create(thread, &attributes, compile_there, job) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return started;
}

/* False: the job was left alone, and is not the caller's any more. */
static bool wait_for(compile_job *job, const hg_patience *patience) {
    enum { LOOK_NS = 10000000 }; /* how often it is asked whether anybody still wants it */
    hg_mutex_lock(&job->lock);
    while (!job->over && !hg_patience_stopped(patience) && !hg_patience_late(patience)) {
        if (patience)
            (void)hg_cond_wait_until(&job->changed, &job->lock, hg_clock_ns() + LOOK_NS);
        else
            hg_cond_wait(&job->changed, &job->lock);
    }
    bool over = job->over;
    job->left = !over;
    hg_mutex_unlock(&job->lock);
    return over;
}

/* Compiles of kernels that took too long go on: so many of them at a time. */
enum { MOST_AT_WORK = 8 };

static hg_status run_there(compile_job *job, const hg_patience *patience, hg_jit_object *object,
                           char reason[256]) {
    pthread_t thread;
    uint64_t start = hg_clock_ns();
    hg_atomic_add_fetch(&work_count, 1, HG_ACQ_REL);
    if (!start_there(job, &thread)) {
        hg_atomic_sub_fetch(&work_count, 1, HG_RELEASE);
        destroy_job(job);
        return snprintf(reason, 256, "the system has no thread for it"), HG_ERROR_INTERNAL;
    }
    if (!wait_for(job, patience)) {
        pthread_detach(thread);
        snprintf(reason, 256, "it has worked on the kernel for %llu ms, and is left alone",
                 (unsigned long long)((hg_clock_ns() - start) / 1000000));
        return HG_ERROR_WOULD_BLOCK;
    }
    (void)pthread_join(thread, NULL);
    hg_status status = job->status;
    *object = job->object;
    snprintf(reason, 256, "%s", status == HG_ERROR_OUT_OF_MEMORY ? "out of memory" : job->reason);
    destroy_job(job);
    return status;
}

static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    *object = (hg_jit_object){0};
    reason[0] = 0;
    if (kernel->lanes > 64 || (kernel->lanes > 1 && kernel->lanes * 16 < options->bytes))
        return snprintf(reason, 256, "the native compiler does not know turns of %u lanes",
                        (unsigned)kernel->lanes),
               HG_ERROR_ISA;
    if (vec_is_too_much(kernel, options->bytes, reason)) return HG_ERROR_ISA;
    if (patience && at_work() >= MOST_AT_WORK)
        return snprintf(reason, 256, "it still works on %d kernels that took too long",
                        (int)MOST_AT_WORK),
               HG_ERROR_EXECUTION_FAILED;
    compile_job *job = new_job(kernel, options);
    if (!job) return snprintf(reason, 256, "out of memory"), HG_ERROR_OUT_OF_MEMORY;
    return run_there(job, patience, object, reason);
}

static void release(uint8_t *bytes) { hg_free(bytes); }

static void make_key(void) { key_made = pthread_key_create(&way_out_key, NULL) == 0; }

HG_API const hg_jit_table *hologram_jit(uint32_t version);
HG_API const hg_jit_table *hologram_jit(uint32_t version) {
    static const hg_jit_table table = {HG_JIT_VERSION, "LLVM " HG_LLVM_VERSION, compile, release,
                                       at_work};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (version != HG_JIT_VERSION || pthread_once(&once, make_key) != 0 || !key_made) return NULL;
    return &table;
}

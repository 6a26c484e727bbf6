/* Wrong arguments end by value: NULL for every pointer and numbers out of range for every function
 * of the public headers (generate.py writes the calls), and what single functions must say. */
#include "misuse.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

misuse_fixture f;

#define TEXT ".atlas 1\n.program p\n.param r5 x u32 = 1\n    add.u32 r6, r5, r5\n"

#define GRAPH ".graph 1\n.input x f32 [4]\ny = parallel_map abs, in=x\n.output y\n"

static void must(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

static void *made(void *pointer) {
    if (!pointer) exit(1);
    return pointer;
}

static void on_done(void *user, hg_status status, const hg_error *error) {
    (void)user, (void)status, (void)error;
}

static void on_config(void *user, const hg_config_item *item) { (void)user, (void)item; }

static void open_fixture(void) {
    f.on_done = on_done;
    f.on_config = on_config;
    f.text = TEXT;
    f.launch = hg_launch_default();
    f.config = hg_config_default();
    memcpy(f.config.backend, "cpu", sizeof "cpu");
    must(hg_backend_create_with_config(&f.config, &f.backend));
    must(hg_backend_open_start(&f.config, &f.opening));
    must(hg_executor_create_from_config(&f.config, &f.executor));
    f.extents[0] = f.extents[1] = 1;
    f.order[0] = 1;
    f.axes[0] = 1;
    must(hg_tensor_zeros(f.executor, HG_TYPE_F32, f.extents, 2, &f.tensor));
    must(hg_context_create(f.backend, &f.context));
    must(hg_queue_create(f.backend, NULL, &f.queue));
    must(hg_program_assemble(TEXT, strlen(TEXT), NULL, &f.program));
    must(hg_executable_create(f.backend, f.program, &f.executable));
    f.params = made(hg_params_create());
    f.no_params = made(hg_params_create());
    must(hg_binding_create(f.executable, &f.launch, f.no_params, &f.binding));
    f.diagnostics = made(hg_diagnostics_create(4));
    f.circuit = made(hg_circuit_create());
    must(hg_ring_create(64, &f.ring));
    must(hg_program_cache_create(4, &f.program_cache));
    must(hg_class_allocator_create(&f.class_allocator));
    must(hg_optimizer_create(&f.optimizer));
    must(hg_backend_allocate_buffer(f.backend, 4096, &f.buffer));
    must(hg_backend_allocate_pool(f.backend, 4096, &f.pool));
    f.typed = (hg_typed_buffer){.buffer = f.buffer, .type = HG_TYPE_U32, .count = 1};
    must(hg_backend_allocate_buffer(f.backend, 16, &f.other));
    must(hg_graph_read_text(GRAPH, strlen(GRAPH), NULL, NULL, &f.graph));
    f.graph_params = made(hg_params_create());
    must(hg_params_set_buffer(f.graph_params, "x", f.buffer));
    must(hg_params_set_buffer(f.graph_params, "y", f.other));
    must(hg_graph_compile(f.backend, f.graph, NULL, &f.graph_executable));
    must(hg_graph_bind(f.graph_executable, f.graph_params, &f.graph_binding));
    f.command = (hg_command){
        .size = sizeof f.command, .kind = HG_COMMAND_LAUNCH, .binding = f.binding};
    must(hg_comm_create_local(&f.backend, 1, &f.comm));
    must(hg_multi_gpu_create("cpu", f.devices, 1, &f.multi));
    f.address = "here:1";
    f.weight = 1;
    f.placement = (hg_placement){"q", "whole"};
    must(hg_distributed_create(&f.address, 1, "cpu", &f.distributed));
    f.call = (hg_comm_call){.size = sizeof f.call, .kind = HG_COMM_BARRIER};
    must(hg_queue_submit(f.queue, &f.command, 1, NULL, 0, &f.event));
}

static void close_fixture(void) {
    hg_event_destroy(f.event);
    hg_comm_destroy(f.comm);
    hg_multi_gpu_destroy(f.multi);
    hg_distributed_destroy(f.distributed);
    hg_tensor_release(f.tensor);
    hg_executor_destroy(f.executor);
    hg_opening_destroy(f.opening);
    hg_queue_destroy(f.queue);
    hg_binding_destroy(f.binding);
    hg_graph_binding_destroy(f.graph_binding);
    hg_graph_executable_destroy(f.graph_executable);
    hg_graph_release(f.graph);
    hg_params_destroy(f.graph_params);
    hg_executable_destroy(f.executable);
    hg_program_release(f.program);
    hg_params_destroy(f.params);
    hg_params_destroy(f.no_params);
    hg_diagnostics_destroy(f.diagnostics);
    hg_circuit_destroy(f.circuit);
    hg_ring_destroy(f.ring);
    hg_program_cache_destroy(f.program_cache);
    hg_class_allocator_destroy(f.class_allocator);
    hg_optimizer_destroy(f.optimizer);
    hg_context_destroy(f.context);
    hg_backend_destroy(f.backend);
}

sigjmp_buf misuse_crash;
static const char *current;
static void crashed(int number) {
    CHECK_MESSAGE(false, "%s: signal %d", current, number);
    siglongjmp(misuse_crash, 1);
}

void misuse_prepare(const char *call) {
    current = call;
    alarm(20);
    hg_builder_destroy(f.builder);
    f.builder = hg_builder_create("b");
    hg_tree_destroy(f.tree);
    f.tree = hg_tree_create("t", NULL);
    f.label = hg_builder_label(f.builder);
    f.launch = hg_launch_default();
    f.config = hg_config_default();
    memcpy(f.config.backend, "cpu", sizeof "cpu");
    f.made = NULL;
    f.status = HG_OK;
}

void refused(const char *call) { CHECK_MESSAGE(f.status != HG_OK, "%s returned HG_OK", call); }

void end(void) {
    hg_builder_destroy(f.builder);
    f.builder = NULL;
    hg_tree_destroy(f.tree);
    f.tree = NULL;
    test_passed++;
}

/* The first mistake of a builder, as hg_builder_build says it. */
static void builder_says(hg_builder *b, const char *code, const char *text, int line) {
    hg_program *p = NULL;
    hg_status status = hg_builder_build(b, NULL, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && !p, "line %d: a program was built", line);
    CHECK_MESSAGE(strcmp(hg_last_error()->code, code) == 0 && strstr(hg_last_error_text(), text),
                  "line %d: %s %s", line, hg_last_error()->code, hg_last_error_text());
    hg_program_release(p);
    hg_builder_destroy(b);
}
#define BUILDER(call, code, text)                    \
    do {                                             \
        hg_builder *b = hg_builder_create("misuse"); \
        call;                                        \
        builder_says(b, code, text, __LINE__);       \
    } while (0)

static void test_builder(void) {
    BUILDER(hg_build_mov_imm(b, HG_TYPE_U32, 1, hg_imm_bits(NULL)), "N03", "NULL");
    BUILDER(hg_builder_param_buffer(b, 1, "x", HG_TYPE_U32, HG_PARAM_INOUT, NULL, 2), "N03",
            "NULL");
    BUILDER(hg_builder_scratch(b, 1, "x", HG_TYPE_U32, NULL, 1), "N03", "NULL");
    BUILDER(hg_builder_lanes(b, NULL, 2), "N03", "NULL");
    BUILDER(hg_builder_add(b, 0x010, HG_TYPE_U32, HG_TYPE_COUNT, NULL, 3), "N03", "NULL");
    BUILDER(hg_builder_param_scalar(b, 1, "x", (hg_type)256), "N03", "256");
    BUILDER(hg_builder_param_scalar(b, 1, "x", HG_TYPE_COUNT), "N03", "24");
    BUILDER(hg_builder_param_scalar_default(b, 1, "x", (hg_type)256, hg_imm_u64(1)), "N03", "256");
    BUILDER(hg_builder_param_buffer(b, 1, "x", (hg_type)-1, HG_PARAM_IN, NULL, 0), "N03", "type");
    BUILDER(hg_builder_param_buffer(b, 1, "x", HG_TYPE_U8, 256 + 1, NULL, 0), "N03", "257");
    BUILDER(hg_builder_param_buffer(b, 1, "x", HG_TYPE_U8, 0, NULL, 0), "N03", "direction");
    BUILDER(hg_builder_scratch(b, 1, "x", (hg_type)300, NULL, 0), "N03", "300");
    BUILDER(hg_build_add(b, (hg_type)256, 1, 2, 3), "N03", "256");
    BUILDER(hg_build_cvt(b, HG_TYPE_U32, (hg_type)256, 1, 2), "N03", "256");
    BUILDER(hg_build_cvt(b, (hg_type)-7, HG_TYPE_U32, 1, 2), "N03", "type");
}

/* A backend before its children: a build that counts them refuses, names them, and both still work.
 */
static void test_children(void) {
#ifndef NDEBUG
    static const char *const expected[] = {"1 contexts, 1 queues", "1 contexts, 1 queues",
                                           "1 executables, 1 bindings", "1 executables"};
    for (int left = 0; left < 4; left++) {
        hg_config config = hg_config_default();
        memcpy(config.backend, "cpu", sizeof "cpu");
        hg_backend *b;
        must(hg_backend_create_with_config(&config, &b));
        hg_context *context = NULL;
        hg_queue *queue = NULL;
        hg_executable *executable = NULL;
        hg_binding *binding = NULL;
        hg_program *program = NULL;
        must(hg_program_assemble(TEXT, strlen(TEXT), NULL, &program));
        must(hg_backend_execute_program(b, program, NULL)); /* what the cache keeps is no child */
        if (left == 0) must(hg_context_create(b, &context));
        if (left < 2) must(hg_queue_create(b, context, &queue));
        if (left >= 2) must(hg_executable_create(b, program, &executable));
        if (left == 2) must(hg_binding_create(executable, NULL, NULL, &binding));
        hg_backend_destroy(b);
        CHECK_MESSAGE(strstr(hg_last_error_text(), expected[left]), "%d: %s", left,
                      hg_last_error_text());
        if (binding) must(hg_binding_launch(binding));
        hg_queue_destroy(queue);
        hg_context_destroy(context);
        hg_binding_destroy(binding);
        hg_executable_destroy(executable);
        hg_program_release(program);
        hg_backend_destroy(b);
    }
#else
    SKIP("this build does not count what a backend has made");
#endif
}

int main(void) {
    test_builder();
    test_children();
    open_fixture();
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    signal(SIGFPE, crashed);
    signal(SIGALRM, crashed);
    misuse_all();
    alarm(0);
    signal(SIGSEGV, SIG_DFL);
    /* everything still works */
    must(hg_binding_launch(f.binding));
    must(hg_queue_synchronize(f.queue));
    CHECK(true);
    close_fixture();
    return test_done();
}

/* Many launches of random programs in one process: its memory must stay flat.
 *
 *     soak [--launches N] [--seed N] [--backend B] [--jit on|off|auto] [--pretend WORDS]
 *
 * Each program of tests/differential is bound and launched a few hundred times: waited for, started
 * and waited for, started and cancelled, submitted to a queue that is destroyed in flight, with
 * buffers freed in flight. All of it is done twice with the same programs: what caches keep is
 * there after the first time, so after the second no more than LIVE_GROWTH may be allocated by
 * malloc, nor more than MAPPED_GROWTH resident as memory of no file. The test suite runs a slice;
 * docs/reference/proof.md has the long run. */
/* test: labels=differential timeout=600 */
#include "differential/generate.h"
#include "support/sanitized.h"
#include "test.h"
#include <hologram/hologram.h>

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { PROGRAMS = 80 /* of the slice */, REPORTS = 10 };
enum { LIVE_GROWTH = 1 << 20, MAPPED_GROWTH = 32 << 20 /* a thread may start late */ };

typedef struct memory {
    uint64_t live, mapped; /* bytes that malloc has handed out; resident bytes of no file */
} memory;

typedef struct soak {
    hg_backend *backend;
    hg_context *context;
    uint64_t launches, each, done, seed; /* each: launches of a program */
    uint64_t ended[3];                   /* well, with a fault, refused or cancelled */
} soak;

/* The number that stands after `word` in `text`; 0 without it. */
static uint64_t number_after(const char *text, const char *word) {
    const char *found = text ? strstr(text, word) : NULL;
    return found ? strtoull(found + strlen(word), NULL, 10) : 0;
}

/* Zeros where the system does not say. What malloc_info writes ends with the sums of all arenas. */
static memory memory_now(void) {
    memory m = {0};
#ifdef __GLIBC__
    char *text = NULL, status[8192] = "";
    size_t length = 0;
    malloc_trim(0);
    FILE *file = open_memstream(&text, &length);
    if (!file) return m;
    int failed = malloc_info(0, file);
    if (fclose(file) || failed) return free(text), m;
    const char *sums = text;
    for (const char *heap = text; (heap = strstr(heap, "</heap>")); sums = ++heap) continue;
    uint64_t of_system = number_after(strstr(sums, "<system type=\"current\""), "size=\"");
    uint64_t free_fast = number_after(strstr(sums, "<total type=\"fast\""), "size=\"");
    uint64_t free_rest = number_after(strstr(sums, "<total type=\"rest\""), "size=\"");
    uint64_t in_maps = number_after(strstr(sums, "<total type=\"mmap\""), "size=\"");
    m.live = of_system - free_fast - free_rest + in_maps;
    free(text);
    file = fopen("/proc/self/status", "r");
    if (!file) return m;
    status[fread(status, 1, sizeof status - 1, file)] = 0;
    fclose(file);
    m.mapped = number_after(status, "RssAnon:") << 10;
#endif
    return m;
}

static void must(hg_status status) {
    if (status == HG_OK) return;
    fprintf(stderr, "%s\n", hg_last_error_text());
    exit(1);
}

static void count(soak *s, hg_status status) {
    bool fault = status == HG_ERROR_EXECUTION_FAILED;
    CHECK_MESSAGE(status == HG_OK || fault, "%s", hg_last_error_text());
    s->ended[status == HG_OK ? 0
             : strcmp(hg_last_error()->code, "F08") == 0 ||
                     strcmp(hg_last_error()->code, "F11") == 0
                 ? 2
                 : 1]++;
    s->done++;
    if (s->launches >= 100000 && s->done % (s->launches / REPORTS) == 0)
        fprintf(stderr, "%llu launches, %.1f MB allocated\n", (unsigned long long)s->done,
                (double)memory_now().live / 1e6);
}

/* ---- one launch, in one of five ways ---- */

static void start(soak *s, hg_binding *binding, bool cancel) {
    hg_event *event = NULL;
    must(hg_binding_start(binding, s->context, &event));
    if (cancel) hg_event_cancel(event);
    count(s, hg_event_wait(event));
    hg_event_destroy(event);
}

/* Three launches on a queue that is destroyed before anyone waits for them. */
static void submit(soak *s, hg_binding *binding) {
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    hg_command commands[3];
    for (int i = 0; i < 3; i++)
        commands[i] = (hg_command){
            .size = sizeof *commands, .kind = HG_COMMAND_LAUNCH, .binding = binding};
    must(hg_queue_create(s->backend, NULL, &queue));
    must(hg_queue_submit(queue, commands, 3, NULL, 0, &event));
    hg_queue_destroy(queue);
    for (int i = 0; i < 3; i++) count(s, hg_event_wait(event));
    hg_event_destroy(event);
}

static void launch(soak *s, hg_binding *binding, uint64_t i) {
    switch (i % 8) {
    case 5: start(s, binding, false); break;
    case 6: start(s, binding, true); break;
    case 7: submit(s, binding); break;
    default: count(s, hg_binding_launch(binding));
    }
}

/* ---- one program ---- */

static bool has_param(const hg_program *program, const char *name) {
    for (size_t i = 0; i < hg_program_param_count(program); i++)
        if (strcmp(hg_program_param_name(program, i), name) == 0) return true;
    return false;
}

/* Binds the case; memory that is freed while the binding holds it goes with the binding. */
static hg_binding *bind(soak *s, const hg_program *program, const run_case *c) {
    hg_params *params = hg_params_create();
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    hg_buffer buffers[CASE_ARRAYS];
    hg_pool pools[CASE_ARRAYS];
    hg_launch l = HG_LAUNCH_INIT;
    memcpy(l.grid, c->launch.grid, sizeof l.grid);
    memcpy(l.block, c->launch.block, sizeof l.block);
    l.lanes = c->launch.lanes;
    l.shared_memory = c->launch.shared;
    l.max_steps = c->launch.max_steps;
    if (!params) exit(1);
    for (uint32_t i = 0; i < c->array_count; i++) {
        const case_array *a = &c->arrays[i];
        if (!has_param(program, a->name)) continue;
        if (a->pool) {
            must(hg_backend_allocate_pool(s->backend, a->size, &pools[i]));
            must(hg_backend_copy_to_pool(s->backend, pools[i], 0, a->bytes, a->size));
            must(hg_params_set_pool(params, a->name, pools[i]));
        } else {
            must(hg_backend_allocate_buffer(s->backend, a->size, &buffers[i]));
            must(hg_backend_copy_to_buffer(s->backend, buffers[i], a->bytes, a->size));
            must(hg_params_set_buffer(params, a->name, buffers[i]));
        }
    }
    for (uint32_t i = 0; i < c->scalar_count; i++)
        if (has_param(program, c->scalars[i].name))
            must(hg_params_set_scalar(params, c->scalars[i].name, c->scalars[i].type,
                                      &c->scalars[i].bits));
    must(hg_executable_create_for(s->backend, program, &l, params, &executable));
    must(hg_binding_create(executable, &l, params, &binding));
    hg_executable_destroy(executable);
    hg_params_destroy(params);
    for (uint32_t i = 0; i < c->array_count; i++) {
        if (!has_param(program, c->arrays[i].name)) continue;
        must(c->arrays[i].pool ? hg_backend_free_pool(s->backend, pools[i])
                               : hg_backend_free_buffer(s->backend, buffers[i]));
    }
    return binding;
}

static void run_program(soak *s, uint64_t last) {
    run_case c;
    hg_program *program = NULL;
    uint64_t seed = s->seed++;
    if (!generate_case(seed, GENERATE_SHORT | (seed % 10 == 9 ? (uint32_t)GENERATE_FAULTS : 0), &c))
        exit(1);
    must(hg_program_assemble(c.text, c.length, NULL, &program));
    hg_binding *binding = bind(s, program, &c);
    for (uint64_t i = 0; i < s->each && s->done < last; i++) launch(s, binding, i);
    hg_binding_destroy(binding);
    hg_program_release(program);
    case_free(&c);
}

/* The programs from `seed` on, until so many launches are done. */
static memory run_programs(soak *s, uint64_t seed, uint64_t last) {
    s->seed = seed;
    while (s->done < last && test_failed < 10) run_program(s, last);
    return memory_now();
}

int main(int argc, char **argv) {
    const uint64_t each = rounds_here(250, 15); /* a sanitizer's build is not asked for its size */
    soak s = {.launches = 2 * PROGRAMS * each, .each = each};
    uint64_t seed = 1;
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", sizeof "cpu");
    memcpy(config.jit, "off", sizeof "off"); /* a compiler that comes late looks like growth */
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--launches") == 0) s.launches = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--backend") == 0)
            snprintf(config.backend, sizeof config.backend, "%s", argv[i + 1]);
        if (strcmp(argv[i], "--jit") == 0)
            snprintf(config.jit, sizeof config.jit, "%s", argv[i + 1]);
        if (strcmp(argv[i], "--pretend") == 0)
            snprintf(config.pretend, sizeof config.pretend, "%s", argv[i + 1]);
    }
    must(hg_backend_create_with_config(&config, &s.backend));
    must(hg_context_create(s.backend, &s.context));
    memory base = run_programs(&s, seed, s.launches / 2);
    memory end = run_programs(&s, seed, s.launches);
    if (SANITIZED || !base.live || !base.mapped) {
        SKIP("this build or system does not say what is allocated");
    } else {
        CHECK_MESSAGE(end.live <= base.live + LIVE_GROWTH,
                      "%llu bytes allocated after half of the launches, %llu at the end",
                      (unsigned long long)base.live, (unsigned long long)end.live);
        CHECK_MESSAGE(end.mapped <= base.mapped + MAPPED_GROWTH,
                      "%llu bytes resident after half of the launches, %llu at the end",
                      (unsigned long long)base.mapped, (unsigned long long)end.mapped);
    }
    fprintf(stderr,
            "%llu launches of %llu programs: %llu ended well, %llu with a fault, %llu cancelled; "
            "%llu bytes allocated after half of them, %llu at the end\n",
            (unsigned long long)s.done, (unsigned long long)(s.seed - seed),
            (unsigned long long)s.ended[0], (unsigned long long)s.ended[1],
            (unsigned long long)s.ended[2], (unsigned long long)base.live,
            (unsigned long long)end.live);
    hg_context_destroy(s.context);
    hg_backend_destroy(s.backend);
    return test_done();
}

/* See shim_run.h. */
#include "support/shim_run.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024 };

/* As tests/shim/shim.h has it. */
typedef struct shim_id {
    unsigned x, y, z;
} shim_id;
typedef struct shim_state {
    shim_id lane, block, block_dim, grid_dim;
    void (*barrier)(void);
    unsigned long long *group_memory;
} shim_state;

/* ---- compiling ---- */

void shim_print_facts(char *out, size_t size, const char *name, shim_record record,
                      bool has_barriers) {
    int used = snprintf(out, size,
                        "\nextern \"C\" {\nextern const int hg_shim_has_barriers;\nconst int "
                        "hg_shim_has_barriers = %d;\nextern const int "
                        "hg_shim_by_pointer;\nconst int hg_shim_by_pointer = %d;\n",
                        has_barriers, record == SHIM_RECORD_POINTER);
    used += snprintf(out + used, size - (size_t)used,
                     "extern const unsigned long hg_shim_record_bytes;\nconst unsigned long "
                     "hg_shim_record_bytes = ");
    if (record == SHIM_RECORD_NONE)
        snprintf(out + used, size - (size_t)used, "0;\n}\n");
    else
        snprintf(out + used, size - (size_t)used, "sizeof(%s_record);\n}\n", name);
}

void shim_print_entry(char *out, size_t size, const char *name, shim_record record) {
    int used = snprintf(out, size,
                        "extern \"C\" void hg_shim_lane(void *const *slots, const void *record) "
                        "{\n    (void)slots, (void)record;\n    %s(",
                        name);
    if (record == SHIM_RECORD_VALUE)
        used += snprintf(out + used, size - (size_t)used, "*(const %s_record *)record", name);
    if (record == SHIM_RECORD_POINTER)
        used += snprintf(out + used, size - (size_t)used, "(const %s_record *)record", name);
    snprintf(out + used, size - (size_t)used, ");\n}\n");
}

static bool write_source(const char *path, const char *text, const char *entry) {
    FILE *f = fopen(path, "w");
    bool ok = f && fputs(text, f) >= 0 && fputs(entry, f) >= 0;
    if (f) ok = fclose(f) == 0 && ok;
    return ok;
}

bool shim_compile(const char *text, const char *entry, const char *options, const char *source,
                  const char *library, char *message, size_t size) {
    char command[2048], log[512];
    snprintf(log, sizeof log, "%s.log", library);
    snprintf(command, sizeof command,
             "clang++-14 -std=c++17 -O1 -fPIC -shared -nostdinc++ -ffp-contract=off "
             "-fno-strict-aliasing -Wall -Wextra "
             "-Wno-unknown-attributes -Wno-pass-failed "
             "-Wno-unused-function -Wno-unknown-pragmas -Werror -I%s/tests/shim %s '%s' -o '%s' "
             ">'%s' 2>&1",
             HG_SOURCE_DIR, options, source, library, log);
    message[0] = 0;
    bool ok = write_source(source, text, entry) && system(command) == 0;
    FILE *f = ok ? NULL : fopen(log, "r");
    if (f) message[fread(message, 1, size - 1, f)] = 0, (void)fclose(f);
    if (!getenv("HG_SHIM_KEEP")) (void)unlink(source);
    (void)unlink(log);
    return ok;
}

bool shim_open(const char *library, shim_code *code, char *message, size_t size) {
    *code = (shim_code){.library = dlopen(library, RTLD_NOW | RTLD_LOCAL)};
    if (!code->library) {
        snprintf(message, size, "dlopen: %s", dlerror());
        return false;
    }
    const int *barriers = dlsym(code->library, "hg_shim_has_barriers");
    const int *by_pointer = dlsym(code->library, "hg_shim_by_pointer");
    const unsigned long *record = dlsym(code->library, "hg_shim_record_bytes");
    code->state = dlsym(code->library, "hg_shim");
    code->group_memory = dlsym(code->library, "group_memory");
    *(void **)&code->lane = dlsym(code->library, "hg_shim_lane");
    if (!code->state || !code->lane || !barriers || !by_pointer || !record) {
        snprintf(message, size, "the compiled text has no entry");
        shim_close(code);
        return false;
    }
    code->has_barriers = *barriers != 0;
    code->record_bytes = *record;
    code->record_by_pointer = *by_pointer != 0;
    return true;
}

void shim_close(shim_code *code) {
    if (code->library) (void)dlclose(code->library);
    *code = (shim_code){0};
}

/* ---- running: one group of the process at a time ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    ucontext_t main, lanes[SHIM_MOST_LANES];
    shim_id ids[SHIM_MOST_LANES];
    bool ended[SHIM_MOST_LANES];
    uint32_t now; /* the invocation that runs */
    uint8_t *stacks;
    const shim_code *code;
    void *const *slots;
    const void *record;
} world;

static void at_barrier(void) { (void)swapcontext(&world.lanes[world.now], &world.main); }
static void no_barrier(void) { abort(); }

static void run_lane(void) {
    world.code->lane(world.slots, world.record);
    world.ended[world.now] = true;
}

static void begin_fiber(uint32_t lane) {
    ucontext_t *c = &world.lanes[lane];
    (void)getcontext(c);
    c->uc_stack.ss_sp = world.stacks + (size_t)lane * STACK_BYTES;
    c->uc_stack.ss_size = STACK_BYTES;
    c->uc_link = &world.main;
    makecontext(c, run_lane, 0);
    world.ended[lane] = false;
}

/* All invocations up to the next barrier, again and again; odd rounds from the last to the first,
 * since no order is promised. */
static void run_fibers(uint32_t lanes) {
    shim_state *state = world.code->state;
    for (uint32_t i = 0; i < lanes; i++) begin_fiber(i);
    for (uint32_t round = 0, left = lanes; left; round++) {
        left = 0;
        for (uint32_t i = 0; i < lanes; i++) {
            world.now = round & 1 ? lanes - 1 - i : i;
            if (world.ended[world.now]) continue;
            state->lane = world.ids[world.now];
            (void)swapcontext(&world.main, &world.lanes[world.now]);
            left += !world.ended[world.now];
        }
    }
}

static void run_group(uint32_t lanes, uint64_t group_memory) {
    shim_state *state = world.code->state;
    memset(state->group_memory, 0xA5, (size_t)group_memory); /* it holds anything at first */
    if (world.code->has_barriers) {
        run_fibers(lanes);
        return;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        state->lane = world.ids[i];
        world.code->lane(world.slots, world.record);
    }
}

static bool has_stacks(void) {
    if (world.stacks) return true;
    void *stacks = mmap(NULL, (size_t)SHIM_MOST_LANES * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    world.stacks = stacks == MAP_FAILED ? NULL : stacks;
    return world.stacks != NULL;
}

static void run_groups(const shim_code *code, const uint32_t groups[3], const uint32_t group[3],
                       uint64_t group_memory) {
    static unsigned long long own_memory[SHIM_MOST_SHARED / 8];
    shim_state *state = code->state;
    uint32_t lanes = group[0] * group[1] * group[2];
    state->group_memory = code->group_memory ? code->group_memory : own_memory;
    state->block_dim = (shim_id){group[0], group[1], group[2]};
    state->grid_dim = (shim_id){groups[0], groups[1], groups[2]};
    state->barrier = code->has_barriers ? at_barrier : no_barrier;
    for (uint32_t i = 0; i < lanes; i++)
        world.ids[i] = (shim_id){i % group[0], i / group[0] % group[1], i / group[0] / group[1]};
    for (uint32_t z = 0; z < groups[2]; z++)
        for (uint32_t y = 0; y < groups[1]; y++)
            for (uint32_t x = 0; x < groups[0]; x++) {
                state->block = (shim_id){x, y, z};
                run_group(lanes, group_memory);
            }
}

bool shim_run(const shim_code *code, const uint32_t groups[3], const uint32_t group[3],
              uint64_t group_memory, void *const *slots, const void *record) {
    if ((uint64_t)group[0] * group[1] * group[2] > SHIM_MOST_LANES ||
        group_memory > SHIM_MOST_SHARED)
        return false;
    (void)pthread_mutex_lock(&lock);
    bool ok = has_stacks();
    world.code = code;
    world.slots = slots;
    world.record = record;
    if (ok) run_groups(code, groups, group, group_memory);
    (void)pthread_mutex_unlock(&lock);
    return ok;
}

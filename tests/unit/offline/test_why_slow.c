/* test: labels=offline timeout=300 */
/* What explain --why-slow says a turn takes, against instructions of native code that are counted
 * one by one: a child launches, its parent stops it behind each instruction. For each kind of cost
 * a program that pays for it, whose loops have lengths that are known. The count is of the
 * difference between launches of different lengths, so that what a launch takes once is not in it.
 */
#include "support/sanitized.h"
#include "test.h"
#if defined __x86_64__ && !SANITIZED
#include "native/compilers.h"
#include "native/native.h"
#include "offline/explain.h"
#include "support/runtime_support.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD                                                                                    \
    ".atlas 1\n.program p\n.param x buffer f32 in [n, 4]\n.param at buffer u32 inout [n]\n"     \
    ".param y buffer f32 inout [n]\n.param n u64\n.lanes n\n.reg a, b, c, d f32\n.reg i, j, k " \
    "u32\n.reg q u64\n"

typedef struct example {
    const char *name, *body;
    vec_cost first; /* the dearest kind besides the work itself and scalars */
} example;

static const example EXAMPLES[] = {
    {"arithmetic",
     "ldg a, [x[global]]\nldg b, [y[global]]\nloop r200, 8\nfma a, a, b, b\nmul a, a, b\n"
     "sub b, a, b\nmul b, b, a\nadd a, a, b\nfma b, a, a, b\nadd a, b, a\nmul b, b, a\nendloop\n"
     "stg [y[global]], a\n",
     VEC_COST_CHECKS},
    {"gathers",
     "ldg i, [at[global]]\nmov a, 0.0\nloop r200, 8\nldg b, [x[i]]\nadd a, a, b\nxor i, i, 1\n"
     "endloop\nstg [y[global]], a\n",
     VEC_COST_GATHERS},
    {"scatters",
     "ldg i, [at[global]]\nldg a, [x[global]]\nloop r200, 8\nstg [y[i]], a\nxor i, i, 1\nendloop\n",
     VEC_COST_GATHERS},
    {"private",
     ".private 64\nldg a, [x[global]]\nmov j, 0\nloop r200, 8\nstp [private + j*4], a\nadd j, j, "
     "1\n"
     "endloop\nmov j, 0\nloop r200, 8\nldp b, [private + j*4]\nadd a, a, b\nadd j, j, 1\nendloop\n"
     "stg [y[global]], a\n",
     VEC_COST_PRIVATE},
    {"masks",
     "ldg a, [x[global]]\nldg b, [y[global]]\nloop r200, 8\nbra.gt a, 0.25, @less\nmul a, a, "
     "3.0\nadd b, b, a\n"
     "bra @next\nless:\nmul a, a, 0.5\nmul b, b, a\nsub b, b, a\nnext:\nendloop\nstg [y[global]], "
     "b\n",
     VEC_COST_MASKS},
    {"ends",
     "ldg a, [x[global]]\nldg b, [y[global]]\nmov j, 0\nagain:\nmul a, a, 1.5\nadd b, b, a\nadd j, "
     "j, 1\n"
     "bra.ge j, 8, @out\nbra.lt a, 1.0e30, @again\nout:\nstg [y[global]], b\n",
     VEC_COST_MASKS},
    {"checks",
     "ldg a, [x[global]]\nldg i, [at]\nloop r200, 8\nldg b, [x[i]]\nadd a, a, b\nldg k, "
     "[at[i]]\nxor i, k, i\n"
     "rem i, i, 16\nendloop\nstg [y[global]], a\n",
     VEC_COST_CHECKS},
    {"rows",
     "ldg a, [x[global]]\nmov j, 0\nloop r200, 8\nadd k, j, 0\nldg b, [y[j]]\nadd a, a, b\nadd j, "
     "j, 1\nendloop\n"
     "stg [y[global]], a\n",
     VEC_COST_CHECKS},
    {"functions",
     "ldg a, [x[global]]\nloop r200, 2\nexp a, a\nlog a, a\nendloop\nstg [y[global]], a\n",
     VEC_COST_FUNCTIONS},
    {"atomics",
     "ldg i, [at[global]]\nloop r200, 4\nand i, i, 7\natom.add k, [at[i]], 1\nxor i, i, "
     "k\nendloop\n",
     VEC_COST_ATOMICS},
    {"strided",
     "mul q, global, 3\nldg a, [x[q]]\nldg b, [x[q + 1]]\nadd a, a, b\nstg [y[global]], a\n",
     VEC_COST_GATHERS},
};

/* ---- instructions of native code that a launch takes ---- */

/* In turns of so many lanes: what is said is of those. Else trials find by the clock whether turns
 * of one lane are faster. */
static const native_compiler *machine;
static uint32_t turn;

static void level_of(tile_level level, native_level *how) {
    machine->level(level, how);
    how->lanes = turn;
    how->fixed = true;
}

static void fix_turns(uint32_t lanes) {
    static native_compiler fixed;
    machine = native_choose();
    if (!machine) return;
    turn = lanes;
    fixed = *machine;
    fixed.level = level_of;
    fixed.identity = NULL; /* what it makes is not kept */
    native_compiler_in_use = &fixed;
}

typedef struct work {
    hg_backend *b;
    hg_binding *binding;
} work;

static bool prepare(const char *text, const char *level, uint32_t lanes, work *w) {
    hg_config config = hg_config_default();
    hg_program *program = NULL;
    hg_executable *executable = NULL;
    hg_params *params = hg_params_create();
    hg_buffer x, at, y;
    uint64_t n = lanes;
    float *values = calloc(4 * (size_t)lanes, sizeof *values);
    uint32_t *places = calloc(lanes, sizeof *places);
    for (uint32_t i = 0; i < 4 * lanes; i++) values[i] = 1.0f / (float)(i + 2);
    for (uint32_t i = 0; i < lanes; i++) places[i] = i ^ 6;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "on", 3);
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    config.num_threads = 1;
    config.cache_bytes = 0;
    bool ok = hg_backend_create_with_config(&config, &w->b) == HG_OK &&
              hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK;
    if (ok) {
        x = make_buffer(w->b, values, 4 * lanes * sizeof *values);
        y = make_buffer(w->b, values, lanes * sizeof *values);
        at = make_buffer(w->b, places, lanes * sizeof *places);
        ok = hg_params_set_buffer(params, "x", x) == HG_OK &&
             hg_params_set_buffer(params, "y", y) == HG_OK &&
             hg_params_set_buffer(params, "at", at) == HG_OK &&
             hg_params_set_scalar(params, "n", HG_TYPE_U64, &n) == HG_OK &&
             hg_executable_create(w->b, program, &executable) == HG_OK &&
             hg_binding_create(executable, NULL, params, &w->binding) == HG_OK;
    }
    for (int i = 0; i < 3 && ok; i++) ok = hg_binding_launch(w->binding) == HG_OK;
    if (!ok) fprintf(stderr, "%s\n", hg_last_error_text());
    free(values), free(places);
    return ok;
}

static void be_counted(const char *text, const char *level, uint32_t lanes, uint32_t turns) {
    work w;
    fix_turns(lanes);
    if (!prepare(text, level, lanes * turns, &w)) _exit(1);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(2);
    raise(SIGSTOP);
    (void)!hg_binding_launch(w.binding);
    raise(SIGSTOP);
    _exit(0);
}

enum { MOST_AREAS = 16 };
typedef struct area {
    unsigned long from, to;
} area;

/* Executable memory that is of no file. */
static int find_areas(pid_t child, area areas[MOST_AREAS]) {
    char path[64], line[512];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
    FILE *f = fopen(path, "r");
    while (f && count < MOST_AREAS && fgets(line, sizeof line, f)) {
        char rights[8] = "", name[256] = "";
        area a;
        sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &a.from, &a.to, rights, name);
        if (rights[2] == 'x' && (!*name || strstr(name, "deleted"))) areas[count++] = a;
    }
    if (f) fclose(f);
    return count;
}

/* The lanes of a gather or scatter of AVX2 or AVX-512 at this place; 1 of anything else. */
static unsigned steps_at(pid_t child, unsigned long place) {
    unsigned char code[6] = {0};
    struct iovec own = {code, sizeof code}, other = {(void *)place, sizeof code};
    if (process_vm_readv(child, &own, 1, &other, 1, 0) != sizeof code) return 1;
    bool evex = code[0] == 0x62 && (code[1] & 7) == 2, vex = code[0] == 0xC4 && (code[1] & 31) == 2;
    unsigned char op = evex ? code[4] : code[3];
    if (!(evex || vex) || (op & 0xCC) != (op & 0x20 ? 0xA0 : 0x90) || (vex && op >= 0xA0)) return 1;
    bool wide_elements = code[2] & 0x80;
    unsigned bytes = evex ? 16u << (code[3] >> 5 & 3) : code[2] & 4 ? 32 : 16;
    return bytes / (wide_elements || (op & 1) ? 8 : 4);
}

/* 0: it cannot be counted, `reason` says why. */
static uint64_t count_steps(const char *text, const char *level, uint32_t lanes, uint32_t turns,
                            const char **reason) {
    int status;
    pid_t child = fork();
    if (child == 0) be_counted(text, level, lanes, turns);
    area areas[MOST_AREAS];
    uint64_t steps = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        *reason = "no process of this one can be followed here";
        return 0;
    }
    int count = find_areas(child, areas);
    for (;;) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) break;
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
        if (WSTOPSIG(status) != SIGTRAP) break;
        if (ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0) break;
        for (int i = 0; i < count; i++)
            if (registers.rip >= areas[i].from && registers.rip < areas[i].to)
                steps += steps_at(child, registers.rip);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    if (!steps) *reason = "native code is not found in memory";
    return steps;
}

/* ---- what is said of it ---- */

static double said(const char *text, const char *level, uint32_t *lanes, vec_cost *first) {
    static const hg_explain_native native = {native_caps, native_form};
    hg_program *p = assemble(text);
    hg_explained list[256];
    hg_explained_kernel kernels[257];
    uint32_t count = 0;
    double sum = 0;
    CHECK_OK(hg_explain(p, level, &native, list, kernels, &count));
    CHECK_U64(count, 1);
    CHECK(kernels[0].native);
    *lanes = kernels[0].lanes;
    *first = VEC_COST_COUNT;
    for (int i = 0; i < VEC_COST_COUNT; i++) {
        double steps = kernels[0].costs.steps[i];
        sum += i == VEC_COST_PROLOGUE ? 0 : steps;
        if (i == VEC_COST_WORK || i == VEC_COST_SCALARS || i == VEC_COST_PROLOGUE) continue;
        if (*first == VEC_COST_COUNT || steps > kernels[0].costs.steps[*first])
            *first = (vec_cost)i;
    }
    hg_program_release(p);
    return sum;
}

static void compare(const example *e, const char *level) {
    char text[4096];
    uint32_t lanes = 0;
    vec_cost first;
    const char *reason = NULL;
    snprintf(text, sizeof text, "%s%s", HEAD, e->body);
    double steps = said(text, level, &lanes, &first);
    uint64_t one = count_steps(text, level, lanes, 2, &reason);
    uint64_t two = reason ? 0 : count_steps(text, level, lanes, 3, &reason);
    if (reason) {
        SKIP(reason);
        return;
    }
    double counted = (double)(two - one);
    printf("%-12s %s: %6.0f steps said, %6.0f counted\n", e->name, level, steps, counted);
    CHECK_MESSAGE(steps > 0.55 * counted && steps < 1.8 * counted, "%s at %s: %.0f, %.0f", e->name,
                  level, steps, counted);
    CHECK_MESSAGE(first == e->first, "%s at %s: %d is the dearest", e->name, level, (int)first);
}

int main(void) {
    static const char *const levels[] = {"v3", "v4"};
    char reason[256];
    tile_level best = tile_level_best();
    if (!native_by(reason)) {
        SKIP(reason);
        return test_done();
    }
    for (int i = 0; i < 2; i++) {
        tile_level level;
        CHECK_OK(tile_level_find(levels[i], &level));
        if (level > best) {
            fprintf(stderr, "skipped: this machine has no %s\n", levels[i]);
            test_skipped++;
            continue;
        }
        for (size_t k = 0; k < HG_COUNT_OF(EXAMPLES); k++) compare(&EXAMPLES[k], levels[i]);
    }
    return test_done();
}
#else
int main(void) {
    SKIP("instructions are counted on x86-64, without sanitizers");
    return test_done();
}
#endif

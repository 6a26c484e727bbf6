/* What native code of a kernel costs to get: made in a process that has never opened the compiler,
 * made once it is open, and from the object cache in a process of its own. `bench_native [ROUNDS]`;
 * each round is three processes. Milliseconds from the program to a kernel that can be launched,
 * less what the same takes without native code. */
#include "calls.h"
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* 50 instructions: Black and Scholes without the branches, over and over; k makes it another
 * kernel. */
static void write_text(char *text, size_t size, double k) {
    int n = snprintf(text, size,
                     ".atlas 1\n.program fifty\n.param r1 x buffer f32 in\n.param r2 y buffer f32 "
                     "in\n.param r3 z buffer f32 out\n.lanes 4096\n"
                     "mov_imm.u32 r250, 2\nshl.u64 r0, r255, r250\nldg.f32 r10, [r1 + r0]\nldg.f32 "
                     "r11, [r2 + r0]\nmov_imm.f32 r12, %.9g\n",
                     k);
    for (int i = 0; i < 11; i++)
        n += snprintf(text + n, size - (size_t)n,
                      "mul.f32 r13, r10, r12\nadd.f32 r14, r13, r11\nfma.f32 r10, r14, r12, "
                      "r10\nsub.f32 r11, r11, r13\n");
    snprintf(text + n, size - (size_t)n, "stg.f32 [r3 + r0], r10\n");
}

static hg_backend *open_with(const char *jit, const char *cache) {
    hg_config config = hg_config_default();
    hg_backend *b;
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = cache;
    OK(hg_backend_create_with_config(&config, &b));
    return b;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double make(hg_backend *b, double k) {
    char text[8192];
    hg_program *p;
    hg_executable *e;
    write_text(text, sizeof text, k);
    OK(hg_program_assemble(text, strlen(text), NULL, &p));
    double start = now_ms();
    OK(hg_executable_create(b, p, &e));
    double ms = now_ms() - start;
    hg_executable_destroy(e);
    hg_program_release(p);
    return ms;
}

/* In a process of its own: the first kernel and a second one. */
static void sample(const char *jit, const char *cache, double ms[2]) {
    int ends[2];
    if (pipe(ends) != 0) exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        hg_backend *b = open_with(jit, cache);
        ms[0] = make(b, 0.5);
        ms[1] = make(b, 0.25);
        _exit(write(ends[1], ms, 2 * sizeof *ms) != 2 * sizeof *ms);
    }
    if (read(ends[0], ms, 2 * sizeof *ms) != 2 * sizeof *ms || waitpid(pid, NULL, 0) != pid)
        exit(1);
    close(ends[0]);
    close(ends[1]);
}

static int less(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell(const char *what, double *ms, int rounds) {
    qsort(ms, (size_t)rounds, sizeof *ms, less);
    printf("%-34s median %7.2f ms, least %7.2f\n", what, ms[rounds / 2], ms[0]);
}

int main(int argc, char **argv) {
    enum { MOST = 1000 };
    static double fresh[MOST], open[MOST], cached[MOST], second[MOST], without[MOST];
    char folder[] = "/tmp/hologram-bench-XXXXXX", command[64];
    int rounds = argc > 1 ? atoi(argv[1]) : 51;
    if (rounds < 1 || rounds > MOST || !mkdtemp(folder)) return 2;
    for (int i = -1; i < rounds; i++) { /* the first one fills the caches */
        double off[2], on[2], kept[2];
        int at = i < 0 ? 0 : i;
        sample("off", "off", off);
        sample("on", "off", on);
        sample("on", folder, kept);
        without[at] = off[0];
        fresh[at] = on[0] - off[0];
        open[at] = on[1] - off[1];
        cached[at] = kept[0] - off[0];
        second[at] = kept[1] - off[1];
    }
    tell("without native code", without, rounds);
    tell("compiled in a fresh process, more", fresh, rounds);
    tell("compiled once open, more", open, rounds);
    tell("from the cache, fresh process, more", cached, rounds);
    tell("from the cache, then, more", second, rounds);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}

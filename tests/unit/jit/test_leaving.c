/* A process that ends, or closes its backend, while LLVM is at work: nobody waits for it, and it
 * does not meet the end of what it uses.
 *
 *     test_leaving             runs itself for each way to leave, several times, at different
 * moments of the compilation test_leaving WAY JIT MS  leaves MS after the compilation has begun */
#include "test.h"
#include "base/base.h"
#include <hologram/hologram.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 150, LANES = 20000, WORDS = 1000, LONG_MS = 20000 };

/* Gathers, each of an index that is made of the one before: seconds for LLVM. */
static hg_program *large(void) {
    static char text[4096];
    hg_program *program = NULL;
    snprintf(text, sizeof text,
             ".atlas 1\n.program large\n.param x buffer u32 in [m]\n.param y buffer u32 out "
             "[n]\n.param m u64\n.param n u64\n.lanes n\n"
             ".reg i, v, s u32\n cvt i, global\n mov s, 0\n.for k, 0, %d\n mad i, i, 1664525, "
             "1013904223\n rem v, i, 1000\n ldg v, [x[v]]\n"
             " add s, s, v\n.end\n stg [y[global]], s\n",
             ROUNDS);
    return hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK ? program : NULL;
}

static hg_backend *backend;
static hg_program *program;
static int told; /* atomic */

static void listen(void *user, const hg_code_report *report) {
    (void)user, (void)report;
    __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
}

static hg_status launch_once(void) {
    hg_buffer x, y;
    hg_params *params = hg_params_create();
    hg_launch launch = HG_LAUNCH_PROGRAM;
    hg_status status = params ? hg_backend_allocate_buffer(backend, 4 * WORDS, &x)
                              : HG_ERROR_OUT_OF_MEMORY;
    if (status == HG_OK) status = hg_backend_allocate_buffer(backend, 4 * LANES, &y);
    if (status == HG_OK) status = hg_params_set_buffer(params, "x", x);
    if (status == HG_OK) status = hg_params_set_buffer(params, "y", y);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(backend, program, &launch, params);
    hg_params_destroy(params);
    return status;
}

static void *launch_there(void *user) {
    (void)launch_once();
    return user;
}

static void begin(const char *jit) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = "off";
    pthread_t thread;
    if (!(program = large()) || hg_backend_create_with_config(&config, &backend) != HG_OK)
        _exit(10);
    if (hg_backend_listen(backend, listen, NULL) != HG_OK) _exit(11);
    if (strcmp(jit, "on") == 0) {
        if (pthread_create(&thread, NULL, launch_there, NULL) != 0) _exit(12);
    } else if (launch_once() != HG_OK || launch_once() != HG_OK) {
        _exit(13);
    }
}

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Status 20: the compilation was over before; 0: it was not. */
static int leave(const char *way, const char *jit, useconds_t ms) {
    begin(jit);
    usleep(ms * 1000);
    bool over = __atomic_load_n(&told, __ATOMIC_RELAXED) != 0;
    if (strcmp(way, "destroy") == 0 || strcmp(way, "fork") == 0) {
        if (strcmp(way, "fork") == 0) {
            pid_t pid = fork();
            int status = -1;
            if (pid == 0) {
                hg_status launched = launch_once();
                hg_backend_destroy(backend);
                exit(launched == HG_OK ? 0 : 1);
            }
            if (waitpid(pid, &status, 0) != pid || status != 0) return 30;
        }
        hg_backend_destroy(backend);
        hg_program_release(program);
    }
    if (strcmp(way, "exit") == 0) exit(over ? 20 : 0);
    return over ? 20 : 0;
}

static int run_child(const char *self, const char *way, const char *jit, unsigned ms) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        char text[16];
        snprintf(text, sizeof text, "%u", ms);
        alarm(LONG_MS / 1000);
        execl(self, self, way, jit, text, (char *)NULL);
        _exit(40);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv) {
    static const struct {
        const char *way, *jit;
    } WAYS[] = {{"destroy", "auto"}, {"exit", "auto"}, {"return", "auto"},
                {"fork", "auto"},    {"exit", "on"},   {"return", "on"}};
    if (argc == 4) return leave(argv[1], argv[2], (useconds_t)strtoul(argv[3], NULL, 10));
    uint32_t at_work = 0, all = 0;
    if (access(HG_BUILD_DIR "/libhologram_jit.so", R_OK) != 0) {
        SKIP("no libhologram_jit.so");
        return test_done();
    }
    uint64_t start = now_ms();
    for (size_t i = 0; i < HG_COUNT_OF(WAYS); i++)
        for (unsigned ms = 0; ms <= 80; ms += 40) {
            int status = run_child(argv[0], WAYS[i].way, WAYS[i].jit, ms);
            bool over = WIFEXITED(status) && WEXITSTATUS(status) == 20;
            CHECK_MESSAGE(over || status == 0, "%s %s %s %u ended with %x", argv[0], WAYS[i].way,
                          WAYS[i].jit, ms, (unsigned)status);
            at_work += !over;
            all++;
        }
    printf("%u of %u processes left while LLVM was at work, %llu ms\n", (unsigned)at_work,
           (unsigned)all, (unsigned long long)(now_ms() - start));
    CHECK(at_work > all / 2);
    return test_done();
}

/* Memory that fails while native code is made: the n-th allocation of the process, malloc and all
 * its kin, whoever asks, fails, alone or with all that follow. The launch gives its numbers or an
 * error by value, and the process lives. Each n is tried in a process of its own, with the compiler
 * at once (JIT=on) and in the background (auto). test_jit_memory [--step N]     every N-th n: 1 is
 * all of them; the test suite takes a slice */
/* test: timeout=600 */
#include "native/native.h"
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__GLIBC__) && !SANITIZED

/* ---- an allocator that fails ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_long allocations, fail_at = -1;
static bool for_good;

static bool fails(void) {
    long at = fail_at, n = at >= 0 ? atomic_fetch_add(&allocations, 1) : 0;
    if (at < 0 || (for_good ? n < at : n != at)) return false;
    errno = ENOMEM;
    return true;
}

#pragma GCC visibility push(default) /* what shared libraries call too */
void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t align, size_t size) {
    return fails() ? NULL : __libc_memalign(align, size);
}
void *memalign(size_t align, size_t size) { return fails() ? NULL : __libc_memalign(align, size); }
int posix_memalign(void **p, size_t align, size_t size) {
    void *made = fails() ? NULL : __libc_memalign(align, size);
    if (made) *p = made;
    return made ? 0 : ENOMEM;
}
#pragma GCC visibility pop

/* ---- a launch with native code ---- */

enum { LANES = 200, ROUNDS = 4000, SLICE_STEP = 2503 };

/* A loop, a branch that lanes part at, wide integers, a gather, a division that may fault: what
 * code generators have to do. */
static const char TEXT[] = ".atlas 1\n.program k\n.param x buffer u32 in [256]\n.param y buffer "
                           "u32 out [n]\n.param n u64\n.param m u32\n.lanes n\n"
                           ".reg i, a, b, c u32\n.reg w, v u256\n"
                           "    cvt i, global\n    mov a, 0\n    and b, i, 255\n    ldg b, "
                           "[x[b]]\n    and b, b, 255\n    cvt w, i\n"
                           "    loop c, 4\n    add a, a, b\n    ldg b, [x[b]]\n    and b, b, 255\n "
                           "   mul w, w, w\n    add w, w, 3\n"
                           "    bra.lt b, 9, @odd\n    div a, a, m\nodd:\n    endloop\n"
                           "    cvt c, w\n    xor a, a, c\n    stg [y[global]], a\n";

static uint32_t expected_of(const uint32_t *x, uint32_t i, uint32_t m) {
    uint32_t a = 0, b = x[i & 255] & 255, w = i; /* the low word of a product is that of the low
                                                    words */
    for (int round = 0; round < 4; round++) {
        a += b;
        b = x[b] & 255;
        w = w * w + 3;
        if (b >= 9) a /= m;
    }
    return a ^ w;
}

/* How a process ended: as it should, with an error by value, with other numbers. */
enum { GOOD, REFUSED, WRONG };

static int launch(hg_backend *b, hg_program *p, hg_params *params, hg_buffer out,
                  const uint32_t *x) {
    static uint32_t y[LANES];
    hg_launch l = HG_LAUNCH_INIT;
    l.lanes = LANES;
    l.block[0] = LANES;
    if (hg_backend_execute_program_with_params(b, p, &l, params) != HG_OK) return REFUSED;
    if (hg_buffer_read(b, out, 0, y, sizeof y) != HG_OK) return REFUSED;
    for (uint32_t i = 0; i < LANES; i++)
        if (y[i] != expected_of(x, i, 3)) return WRONG;
    return GOOD;
}

/* What a child does: fails from here on, until it is over. `done`: allocations that it made. */
static int child(bool background, long at, bool good, long *done) {
    uint32_t x[256], m = 3;
    uint64_t n = LANES;
    hg_config config = hg_config_default();
    hg_program *program = assemble(TEXT);
    hg_backend *b = NULL;
    hg_params *params = hg_params_create();
    int result = GOOD;
    for (uint32_t i = 0; i < 256; i++) x[i] = i * 2654435761u >> 7;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.jit, sizeof config.jit, background ? "auto" : "on");
    config.cache_dir = "off";
    config.num_threads = 1;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    hg_buffer in = make_buffer(b, x, sizeof x), out = make_buffer(b, NULL, 4 * LANES);
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U32, &m));
    for_good = good;
    fail_at = at;
    for (int round = 0; round < (background ? ROUNDS : 2) && result != WRONG; round++) {
        int now = launch(b, program, params, out, x);
        if (now > result) result = now;
    }
    fail_at = -1;
    *done = allocations;
    if (launch(b, program, params, out, x) != GOOD) result = WRONG; /* with memory it is as ever */
    hg_params_destroy(params);
    hg_program_release(program);
    hg_backend_destroy(b);
    return result;
}

typedef struct tally {
    long runs, native, refused;
} tally;

static long run_child(bool background, long at, bool good, tally *t, long *shared) {
    int status = 0;
    *shared = 0;
    pid_t id = fork();
    if (id == 0) {
        alarm(120);
        _exit(child(background, at, good, shared));
    }
    bool ended = id > 0 && waitpid(id, &status, 0) == id;
    CHECK_MESSAGE(ended && WIFEXITED(status) && WEXITSTATUS(status) <= REFUSED,
                  "test_jit_memory: %s, allocation %ld%s: %s %d", background ? "auto" : "on", at,
                  good ? " and all behind it" : "", WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    t->runs++;
    t->refused += ended && WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
    return *shared;
}

static void try_all(bool background, bool good, long step, long *shared) {
    tally t = {0};
    long count = run_child(background, LONG_MAX, false, &t, shared);
    CHECK_MESSAGE(count > 1000, "only %ld allocations: native code was not made", count);
    for (long at = 0; at < count && test_failed < 20; at += step)
        run_child(background, at, good, &t, shared);
    printf("%s, %s: %ld allocations, %ld runs, %ld with an error by value\n",
           background ? "auto" : "on", good ? "all from the n-th on" : "only the n-th", count,
           t.runs, t.refused);
}

int main(int argc, char **argv) {
    long step = argc > 2 && strcmp(argv[1], "--step") == 0 ? strtol(argv[2], NULL, 10) : SLICE_STEP;
    long *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    if (!native_likely()) {
        SKIP("no native code here");
        return test_done();
    }
    for (int background = 0; background < 2; background++)
        for (int good = 0; good < 2; good++) try_all(background != 0, good != 0, step, shared);
    return test_done();
}

#else

int main(void) {
    SKIP("this build has an allocator of its own");
    return test_done();
}

#endif

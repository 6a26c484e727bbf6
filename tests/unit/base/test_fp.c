/* The guard of the floating-point mode, threads of ours, and calls on a deep stack. */
#include "base/deep.h"
#include "base/fp.h"
#include "base/thread.h"
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* ---- modes, by the C library: an oracle of its own ---- */

static volatile double one = 1, three = 3, least = 0x1p-1022, tiny = 0x1p-1074, nothing;

/* What the thread computes: a third says how it rounds, half of the least normal number whether it
 * flushes. */
typedef struct sample {
    double third, minus_third, half, twice;
    long double wide;
} sample;
/* Of the x87 unit, whose flags are put back only behind what is not ours. */
static long double wide_third(void) {
    HG_CALLS_OTHERS;
    long double third = (long double)one / three;
    HG_WORKED_OUT(third);
    return third;
}
static sample take_sample(void) {
    return (sample){one / three, -one / three, least / 2, tiny * 2, wide_third()};
}
static bool is_right(sample s) {
    return s.third == 0x1.5555555555555p-2 && s.minus_third == -0x1.5555555555555p-2 &&
           s.half == 0x1p-1023 && s.twice == 0x1p-1073 && s.wide == take_sample().wide;
}

enum { FLUSH = 4, TRAPS = 8, FLAGS = 16, MODES = 32 };
static void set_mode(int m) {
    static const int rounding[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    fesetenv(FE_DFL_ENV);
    fesetround(rounding[m & 3]);
#if defined(__x86_64__)
    if (m & FLUSH) hg_mxcsr_write(hg_mxcsr_read() | HG_MXCSR_FLUSH);
#elif defined(__aarch64__)
    if (m & FLUSH) hg_fpcr_write(hg_fpcr_read() | HG_FPCR_FLUSH);
#endif
    if (m & FLAGS) feraiseexcept(FE_DIVBYZERO | FE_INEXACT);
#if defined(__GLIBC__)
    if (m & TRAPS) feenableexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
#endif
}

/* Everything that raises a flag, and would end the process were traps on. */
static void raise_all(void) {
    volatile double sink = one / nothing;
    sink = nothing / nothing;
    sink = least * least;
    sink = 0x1p1023 * three * three;
    sink = one / three;
    (void)sink;
}

static sample guarded(void) {
    HG_ENTRY;
    raise_all();
    sample s = take_sample();
    HG_WORKED_OUT(s);
    return s;
}

typedef struct registers {
    uint64_t a, b;
} registers;
static registers read_registers(void) {
#if defined(__x86_64__)
    return (registers){hg_mxcsr_read(), (uint64_t)(hg_x87_status_read() & HG_X87_FLAGS) << 16 |
                                            hg_x87_control_read()};
#elif defined(__aarch64__)
    return (registers){hg_fpcr_read(), hg_fpsr_read()};
#else
    return (registers){(uint64_t)fegetround(), (uint64_t)fetestexcept(FE_ALL_EXCEPT)};
#endif
}

static void test_entry(void) {
    for (int m = 0; m < MODES; m++) {
        set_mode(m);
        registers before = read_registers();
        sample s = guarded();
        registers after = read_registers();
        set_mode(0);
        CHECK_MESSAGE(is_right(s), "mode %d: %a %a %a %a", m, s.third, s.minus_third, s.half,
                      s.twice);
        CHECK_MESSAGE(before.a == after.a && before.b == after.b,
                      "mode %d: %llx %llx became %llx %llx", m, (unsigned long long)before.a,
                      (unsigned long long)before.b, (unsigned long long)after.a,
                      (unsigned long long)after.b);
    }
}

/* A library that leaves another mode, and flags of the x87 unit. */
static void call_spoiler(int m) {
    HG_CALLS_OTHERS;
    set_mode(m);
#if defined(__x86_64__)
    volatile long double wide = 1, zero = 0;
    if (!(m & TRAPS)) wide = wide / zero;
#endif
}

static sample between_calls(int m) {
    HG_ENTRY;
    call_spoiler(m);
    sample s = take_sample();
    HG_WORKED_OUT(s);
    return s;
}

static void test_others(void) {
    for (int m = 0; m < MODES * MODES; m++) {
        set_mode(m / MODES);
        registers before = read_registers();
        sample s = between_calls(m % MODES);
        registers after = read_registers();
        set_mode(0);
        CHECK_MESSAGE(is_right(s), "mode %d, left in %d: %a %a", m / MODES, m % MODES, s.third,
                      s.half);
        CHECK_MESSAGE(before.a == after.a && before.b == after.b,
                      "mode %d, left in %d: %llx %llx became %llx %llx", m / MODES, m % MODES,
                      (unsigned long long)before.a, (unsigned long long)before.b,
                      (unsigned long long)after.a, (unsigned long long)after.b);
    }
}

/* ---- threads ---- */

static void *sample_there(void *user) {
    *(sample *)user = take_sample();
    return NULL;
}

static void test_threads(void) {
    for (int m = 0; m < MODES; m++) {
        hg_thread thread;
        sample s = {0};
        set_mode(m);
        registers before = read_registers();
        bool started = hg_thread_start(&thread, sample_there, &s);
        if (started) hg_thread_join(thread);
        registers after = read_registers();
        set_mode(0);
        CHECK_MESSAGE(started && is_right(s), "a thread that was started in mode %d: %a %a", m,
                      s.third, s.half);
        CHECK(before.a == after.a);
    }
}

/* What a handler of the host does about a failed instruction, it does on every thread: only signals
 * of the process are held back. */
static void *look_at_signals(void *user) {
    sigset_t held;
    pthread_sigmask(SIG_SETMASK, NULL, &held);
    *(bool *)user = !sigismember(&held, SIGSEGV) && !sigismember(&held, SIGFPE) &&
                    sigismember(&held, SIGINT) && sigismember(&held, SIGTERM);
    return NULL;
}

static void test_signals(void) {
    hg_thread thread;
    bool right = false;
    CHECK(hg_thread_start(&thread, look_at_signals, &right));
    hg_thread_join(thread);
    CHECK(right);
}

/* ---- deep calls ---- */

/* Uses `bytes` of the stack, 4 KiB at a time. */
static uint64_t go_down(uint64_t bytes) {
    volatile unsigned char frame[4096];
    frame[0] = 1;
    return frame[0] + (bytes > sizeof frame ? go_down(bytes - sizeof frame) : 0);
}

typedef struct visit {
    pthread_t thread;
    sample s;
    uint64_t left, depth;
} visit;

static hg_status call(void *user) {
    visit *v = user;
    v->thread = pthread_self();
    v->s = take_sample();
    v->left = hg_stack_left();
    v->depth = go_down(6 << 20);
    return HG_OK;
}
static hg_status refuse(void *user) {
    return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "number %d", *(int *)user);
}
static hg_status nest(void *user) { return hg_call_deep(call, user, "nesting"); }

/* 64 KiB, or more where a system's smallest stack is larger. */
static size_t small_stack(void) {
    return PTHREAD_STACK_MIN > 64 << 10 ? (size_t)PTHREAD_STACK_MIN : 64 << 10;
}

static void *call_from_small_stack(void *user) {
    visit v = {0};
    set_mode(1 | FLUSH);
    CHECK(HG_THREAD_SANITIZER || hg_stack_left() < small_stack()); /* it makes small stacks larger
                                                                    */
    hg_status status = hg_call_deep(call, &v, "testing");
    fesetenv(FE_DFL_ENV);
    CHECK(status == HG_OK && is_right(v.s) && v.depth == (6 << 20) / 4096);
    CHECK_MESSAGE(v.left > (7 << 20), "%llu bytes", (unsigned long long)v.left);
    CHECK(!pthread_equal(v.thread, pthread_self()));
    CHECK(hg_call_deep(nest, &v, "testing") == HG_OK && v.depth == (6 << 20) / 4096);
    int number = 7;
    CHECK(hg_call_deep(refuse, &number, "testing") == HG_ERROR_BACKEND_UNAVAILABLE);
    CHECK_TEXT(hg_last_error()->message, "number 7");
    return user;
}

static void in_small_stack(void *(*run)(void *)) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, small_stack()) == 0);
    bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
    if (started) pthread_join(thread, NULL);
    CHECK(started);
    pthread_attr_destroy(&attributes);
}

/* Where no thread can be had, the calling thread does it if its stack will do. */

#if defined(__SANITIZE_ADDRESS__) || HG_THREAD_SANITIZER
static void test_refusal(void) { SKIP("sanitizers have a pthread_create of their own"); }
#else

typedef int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *user);
static atomic_bool refuses;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user) {
    create_thread *next;
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return atomic_load(&refuses) ? EAGAIN : next(thread, attributes, run, user);
}

static hg_status note_thread(void *user) {
    *(pthread_t *)user = pthread_self();
    set_mode(2 | FLUSH);
    return HG_OK;
}

static void *call_without_threads(void *user) {
    pthread_t thread;
    atomic_store(&refuses, true);
    CHECK(hg_call_deep(note_thread, &thread, "opening this") == HG_ERROR_OUT_OF_MEMORY);
    CHECK(strstr(hg_last_error()->message, "opening this needs a thread with 8 MiB of stack"));
    atomic_store(&refuses, false);
    return user;
}

static void test_refusal(void) {
    pthread_t thread;
    atomic_store(&refuses, true);
    CHECK(hg_call_deep(note_thread, &thread, "testing") == HG_OK);
    CHECK(pthread_equal(thread, pthread_self()) && is_right(take_sample()));
    atomic_store(&refuses, false);
    in_small_stack(call_without_threads);
}

#endif

int main(void) {
    test_entry();
    test_others();
    test_threads();
    test_signals();
    in_small_stack(call_from_small_stack);
    test_refusal();
    return test_done();
}

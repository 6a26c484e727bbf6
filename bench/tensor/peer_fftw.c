/* Transforms of FFTW, measured plans. A program of its own, which nothing else is linked with.
 * Lines it takes, and its answers: prepare f32|f64 N BATCH THREADS WISDOM   ok, or a reason load
 * FILE                                ok: batch * n complex numbers, raw time RUNS seconds a run
 *     save FILE                                ok */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct {
    int wide, n, batch;
    size_t bytes;
    void *x, *y;
    fftw_plan plan;
    fftwf_plan narrow;
} s;

static void drop(void) {
    if (s.plan) fftw_destroy_plan(s.plan);
    if (s.narrow) fftwf_destroy_plan(s.narrow);
    fftw_free(s.x);
    fftw_free(s.y);
    memset(&s, 0, sizeof s);
}

static const char *prepare(const char *line) {
    char type[8], wisdom[512], path[600];
    int n, batch, threads;
    if (sscanf(line, "prepare %7s %d %d %d %511s", type, &n, &batch, &threads, wisdom) != 5)
        return "not understood";
    drop();
    s.wide = strcmp(type, "f64") == 0, s.n = n, s.batch = batch,
    s.bytes = (size_t)n * (size_t)batch * (s.wide ? 16 : 8);
    s.x = fftw_malloc(s.bytes), s.y = fftw_malloc(s.bytes);
    if (!s.x || !s.y) return "out of memory";
    memset(s.x, 0, s.bytes);
    memset(s.y, 0, s.bytes);
    snprintf(path, sizeof path, "%s.%s.%d", wisdom, type, threads); /* measured once: reading it is
                                                                       not measuring it */
    if (s.wide) {
        fftw_plan_with_nthreads(threads);
        fftw_import_wisdom_from_filename(path);
        fftw_set_timelimit(20);
        s.plan = fftw_plan_many_dft(1, &n, batch, s.x, NULL, 1, n, s.y, NULL, 1, n, FFTW_FORWARD,
                                    FFTW_MEASURE);
        if (s.plan) fftw_export_wisdom_to_filename(path);
    } else {
        fftwf_plan_with_nthreads(threads);
        fftwf_import_wisdom_from_filename(path);
        fftwf_set_timelimit(20);
        s.narrow = fftwf_plan_many_dft(1, &n, batch, s.x, NULL, 1, n, s.y, NULL, 1, n, FFTW_FORWARD,
                                       FFTW_MEASURE);
        if (s.narrow) fftwf_export_wisdom_to_filename(path);
    }
    return s.plan || s.narrow ? "ok" : "FFTW made no plan";
}

static const char *file(const char *path, void *data, const char *mode) {
    FILE *f = fopen(path, mode);
    if (!f) return "no such file";
    size_t done = mode[0] == 'r' ? fread(data, 1, s.bytes, f) : fwrite(data, 1, s.bytes, f);
    return fclose(f) == 0 && done == s.bytes ? "ok" : "short file";
}

int main(void) {
    char line[1024];
    fftw_init_threads();
    fftwf_init_threads();
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "time ", 5) == 0) {
            int runs = atoi(line + 5);
            double start = now();
            for (int i = 0; i < runs; i++) {
                if (s.wide)
                    fftw_execute(s.plan);
                else
                    fftwf_execute(s.narrow);
            }
            printf("%.9g\n", (now() - start) / runs);
        } else {
            puts(strncmp(line, "prepare", 7) == 0 ? prepare(line)
                 : strncmp(line, "load ", 5) == 0 ? file(line + 5, s.x, "rb")
                                                  : file(line + 5, s.y, "wb"));
        }
        fflush(stdout);
    }
    drop();
    return 0;
}

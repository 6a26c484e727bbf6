/* Sends readings through `hologram stream` and a pool of 36 KB, checks every result, prints rate
 * and memory.
 *
 *     stream HOLOGRAM FOLDER WORK MEGABYTES
 *
 * FOLDER is examples/digits; WORK takes the temporary files. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POOL = 36864 };

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static float *allocate(size_t count) {
    float *x = malloc(count * sizeof *x);
    if (!x) fail("out of memory");
    return x;
}

/* A slow wave with noise and rare spikes, the same every time. */
static float *make_readings(size_t count) {
    float *x = allocate(count);
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13; /* xorshift, Marsaglia 2003 */
        state ^= state >> 7;
        state ^= state << 17;
        float noise = (float)(state >> 40) * 0x1p-24f - 0.5f;
        x[i] = sinf((float)i * 1e-3f) + 2.0f + noise + (i % 9973 == 0 ? 7.0f : 0.0f);
    }
    return x;
}

static void write_floats(const char *path, const float *x, size_t count) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(x, sizeof *x, count, file) != count || fclose(file) != 0)
        fail("%s cannot be written", path);
}

/* The floats of a file, which must hold exactly count of them. */
static float *read_floats(const char *path, size_t count) {
    float *x = allocate(count + 1);
    FILE *file = fopen(path, "rb");
    if (!file) fail("%s cannot be read", path);
    size_t got = fread(x, sizeof *x, count + 1, file);
    fclose(file);
    if (got != count)
        fail("%s holds %s than %zu results", path, got < count ? "fewer" : "more", count);
    return x;
}

/* ---- the command ---- */

typedef struct {
    pid_t id;
    int said; /* the reading end of its standard error */
} process;

static process start(const char *command, const char *program, const char *in, const char *out) {
    char pool[16];
    int ends[2];
    snprintf(pool, sizeof pool, "%d", POOL);
    if (pipe(ends) != 0) fail("no pipe");
    process p = {.id = fork(), .said = ends[0]};
    if (p.id < 0) fail("no process");
    if (p.id == 0) {
        int from = open(in, O_RDONLY), to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (from < 0 || to < 0 || dup2(from, 0) < 0 || dup2(to, 1) < 0 || dup2(ends[1], 2) < 0)
            _exit(126);
        close(ends[0]);
        execl(command, command, "stream", program, "--pool", pool, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return p;
}

/* VmHWM of a process that runs, the most memory it ever held; kB, 0 when that is not to be had. */
static long most_memory(pid_t id) {
    char path[64], line[256];
    long most = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)id);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0) most = strtol(line + 6, NULL, 10);
    if (file) fclose(file);
    return most;
}

/* Waits for its end and watches its memory; what it said on standard error goes to said. */
static long watch(process p, char *said, size_t size) {
    long most = 0;
    int status;
    while (waitpid(p.id, &status, WNOHANG) == 0) {
        long now = most_memory(p.id); /* the last one counts: the first may be of this process,
                                         before exec */
        if (now) most = now;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    ssize_t length = read(p.said, said, size - 1);
    said[length > 0 ? length : 0] = '\0';
    close(p.said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail("hologram stream ended with status %d: %s", status, said);
    return most;
}

/* ---- what it must give ---- */

/* y = x/2 - 1: half of a float is exact, so that two roundings are the one rounding of fma. Returns
 * how many lie outside [-1, 1]. */
static uint64_t check_results(const float *x, const float *y, size_t count) {
    uint64_t outside = 0;
    for (size_t i = 0; i < count; i++) {
        float expected = x[i] * 0.5f - 1.0f;
        if (memcmp(&expected, &y[i], sizeof expected) != 0)
            fail("result %zu is %.9g, not %.9g", i, (double)y[i], (double)expected);
        outside += expected < -1.0f || expected > 1.0f;
    }
    return outside;
}

int main(int argc, char **argv) {
    if (argc != 5) fail("usage: stream HOLOGRAM FOLDER WORK MEGABYTES");
    char program[4096], in[4096], out[4096], said[4096], wanted[64];
    size_t count = (size_t)(strtod(argv[4], NULL) * 1e6 / sizeof(float));
    snprintf(program, sizeof program, "%s/programs/stream.atlas", argv[2]);
    snprintf(in, sizeof in, "%s/readings.f32", argv[3]);
    snprintf(out, sizeof out, "%s/calibrated.f32", argv[3]);
    float *x = make_readings(count);
    write_floats(in, x, count);

    double begin = seconds_now();
    long most = watch(start(argv[1], program, in, out), said, sizeof said);
    double seconds = seconds_now() - begin;

    float *y = read_floats(out, count);
    uint64_t outside = check_results(x, y, count);
    snprintf(wanted, sizeof wanted, "outside u64[1] = %" PRIu64 "\n", outside);
    if (strcmp(said, wanted) != 0) fail("expected '%s', got '%s'", wanted, said);
    double megabytes = (double)count * sizeof(float) / 1e6;
    printf("%.0f MB in, %.0f MB out through a pool of %d bytes: %.0f MB/s, peak memory of the "
           "whole process %.1f MiB\n",
           megabytes, megabytes, POOL, megabytes / seconds, (double)most / 1024);
    printf("all %zu results have the bits of plain C; %" PRIu64 " readings outside [-1, 1]\n",
           count, outside);
    remove(in);
    remove(out);
    free(x);
    free(y);
    return 0;
}

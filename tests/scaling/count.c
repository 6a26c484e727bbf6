/* Counts the work of a process, the same in every run: one for each basic block of the library and
 * the command that runs, and what calls of libc that walk memory walk. Objects compiled with
 * -fsanitize-coverage=trace-pc call the first function; the linker's --wrap sends the others here.
 * At its end the process appends its count to the file HOLOGRAM_WORK. Must not be compiled with
 * that option itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t work; /* threads may lose some of each other's counts: run with one */

/* Bytes that count as one block: about what a vectorised loop takes in the time of a basic block.
 */
enum { BYTES = 64 };

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { work++; }

void *__real_memset(void *to, int byte, size_t count);
void *__wrap_memset(void *to, int byte, size_t count);
void *__wrap_memset(void *to, int byte, size_t count) {
    work += count / BYTES;
    return __real_memset(to, byte, count);
}

void *__real_memcpy(void *to, const void *from, size_t count);
void *__wrap_memcpy(void *to, const void *from, size_t count);
void *__wrap_memcpy(void *to, const void *from, size_t count) {
    work += count / BYTES;
    return __real_memcpy(to, from, count);
}

void *__real_memmove(void *to, const void *from, size_t count);
void *__wrap_memmove(void *to, const void *from, size_t count);
void *__wrap_memmove(void *to, const void *from, size_t count) {
    work += count / BYTES;
    return __real_memmove(to, from, count);
}

size_t __real_strlen(const char *text);
size_t __wrap_strlen(const char *text);
size_t __wrap_strlen(const char *text) {
    size_t length = __real_strlen(text);
    work += length / BYTES;
    return length;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("HOLOGRAM_WORK");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%llu\n", (unsigned long long)work);
    fclose(file);
}

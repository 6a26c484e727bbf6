/* How many lines of text are assembled in a second: plain lines, lines of a macro, rounds of a
 * repetition, lines with expressions. The thread's own CPU clock. Run:
 * build/release/bench/bench_lines; figures in docs/performance.md. */
#include "bench.h"
#include <hologram/hologram.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 1000000, SAMPLES = 5 };

typedef struct text {
    char *data;
    size_t length;
} text;

static void add(text *t, const char *line) {
    size_t length = strlen(line);
    memcpy(t->data + t->length, line, length);
    t->length += length;
}

static void measure(const char *what, const text *t, double lines) {
    bench_samples seconds = {.count = 0};
    for (int i = 0; i < SAMPLES; i++) {
        hg_program *p = NULL;
        double start = bench_cpu();
        hg_status status = hg_program_assemble(t->data, t->length, NULL, &p);
        bench_add(&seconds, bench_cpu() - start);
        if (status != HG_OK) {
            fprintf(stderr, "%s: %s\n", what, hg_last_error_text());
            exit(1);
        }
        hg_program_release(p);
    }
    printf("%-34s %6.2f M lines/s  (%.2f ... %.2f)\n", what, lines / bench_median(&seconds) * 1e-6,
           lines / bench_high(&seconds) * 1e-6, lines / bench_low(&seconds) * 1e-6);
}

int main(void) {
    static const char head[] = ".atlas 1\n.program lines\n.const K = 3\n";
    text t = {malloc((size_t)LINES * 64), 0};
    if (!t.data) return 1;
    add(&t, head);
    for (int i = 0; i < LINES; i++)
        add(&t,
            i % 4 == 3 ? "    ldg.f32 r4, [r5 + r6 + 16] ; a load\n" : "    add.f32 r1, r2, r3\n");
    measure("plain", &t, LINES);

    t.length = 0;
    add(&t, head);
    for (int i = 0; i < LINES; i++) add(&t, "    mov_imm.u32 r1, (K + 1) * 4 - 1\n");
    measure("with an expression each", &t, LINES);

    t.length = 0;
    add(&t, head);
    add(&t, ".macro two d, a\n    add.f32 d, a, r3\n    mul.f32 d, d, a\n.end\n");
    for (int i = 0; i < LINES / 2; i++) add(&t, "    two r1, r2\n");
    measure("macros of two lines", &t, LINES);

    t.length = 0;
    add(&t, head);
    add(&t, ".for k, 0, 250000\n    add.f32 r{10 + k % 8}, r2, r3\n    ldg.f32 r4, [r5 + r6 + k * "
            "4]\n    add.f32 r1, r2, r3\n"
            "    mul.f32 r1, r2, r3\n.end\n");
    measure("rounds of four lines", &t, LINES);
    free(t.data);
    return 0;
}

/* What it takes to have machine code of a program with 50 instructions for a GPU, beside NVRTC on
 * the same kernel written by hand: in one run, by turns. No GPU is needed. bench/cuda/run [BUILD]
 */
#include "../bench.h"
#include "emit/nvrtc.h"
#include <hologram/emit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 41 };

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, hg_last_error_text());
    exit(1);
}
#define OK(call) ((call) == HG_OK ? (void)0 : die(#call))

static char *read_text(const char *name) {
    char path[512];
    snprintf(path, sizeof path, HG_BENCH_DIR "/cuda/%s", name);
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!f || !text || fread(text, 1, 65535, f) == 0) die(path);
    (void)fclose(f);
    return text;
}

/* Returns seconds of NVRTC. */
static double compile(const char *text, uint32_t architecture, bool full_language) {
    hg_bytes code = {0}, ptx = {0};
    const emit_nvrtc_request request = {.text = text,
                                        .name = "fifty",
                                        .architecture = architecture,
                                        .full_language = full_language};
    double t = bench_now();
    OK(emit_nvrtc_compile(&request, &code, &ptx));
    t = bench_now() - t;
    hg_bytes_free(&code);
    hg_bytes_free(&ptx);
    return t;
}

static void race(const hg_program *program, const char *hand, uint32_t architecture, bool proven) {
    bench_samples all = {.count = 0}, emitting = {.count = 0}, peer = {.count = 0},
                  minimal = {.count = 0};
    hg_emit_options options = {.size = sizeof options, .proven = proven};
    for (int i = 0; i < ROUNDS; i++) {
        char *text = NULL;
        double t = bench_now();
        OK(hg_program_emit(program, "cuda", &options, &text, NULL));
        t = bench_now() - t;
        double compiled = compile(text, architecture, false),
               by_hand = compile(hand, architecture, true),
               same = compile(hand, architecture, false);
        hg_string_free(text);
        if (i == 0) continue; /* NVRTC opens its own library */
        bench_add(&emitting, t);
        bench_add(&all, t + compiled);
        bench_add(&peer, by_hand);
        bench_add(&minimal, same);
    }
    double ratio = bench_median(&all) / bench_median(&peer);
    printf("sm_%-4u %-8s %.3f x NVRTC on the kernel by hand (%.3f … %.3f)  goal <= 1.2 %-7s "
           "[verify, lower, print %.2f ms; with NVRTC %.1f "
           "ms; by hand %.1f ms, with -minimal too %.1f ms]\n",
           (unsigned)architecture, proven ? "proven" : "checked", ratio,
           bench_low(&all) / bench_high(&peer), bench_high(&all) / bench_low(&peer),
           ratio <= 1.2 ? "met" : "NOT MET", bench_median(&emitting) * 1e3,
           bench_median(&all) * 1e3, bench_median(&peer) * 1e3, bench_median(&minimal) * 1e3);
}

int main(void) {
    static const uint32_t ARCHITECTURES[] = {75, 90, 1000};
    char reason[256];
    hg_program *program = NULL;
    if (!emit_nvrtc_load(reason)) {
        fprintf(stderr, "not run: %s\n", reason);
        return 1;
    }
    char *text = read_text("fifty.atlas"), *hand = read_text("fifty.cu");
    OK(hg_program_assemble(text, strlen(text), NULL, &program));
    printf("NVRTC %u.%u, %zu instructions\n", (unsigned)(emit_nvrtc_version() / 1000),
           (unsigned)(emit_nvrtc_version() % 1000 / 10), hg_program_len(program));
    for (size_t i = 0; i < sizeof ARCHITECTURES / sizeof *ARCHITECTURES; i++) {
        uint32_t architecture = emit_nvrtc_architecture(ARCHITECTURES[i]);
        race(program, hand, architecture, true);
        race(program, hand, architecture, false);
    }
    hg_program_release(program);
    free(text);
    free(hand);
    return 0;
}

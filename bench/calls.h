/* Calls of the library that a benchmark cannot go on without. */
#ifndef HG_BENCH_CALLS_H
#define HG_BENCH_CALLS_H

#include "bench.h"
#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>

static inline void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, hg_last_error_text());
    exit(1);
}
#define OK(call) ((call) == HG_OK ? (void)0 : die(#call))

/* The program that a text is, with parameters. Text and parameters are used up. */
static inline hg_binding *bind_text(hg_backend *b, char *text, size_t length,
                                    const hg_launch *launch, hg_params *params) {
    hg_program *p;
    hg_executable *e;
    hg_binding *binding;
    OK(hg_program_assemble(text, length, NULL, &p));
    OK(hg_executable_create(b, p, &e));
    OK(hg_binding_create(e, launch, params, &binding));
    hg_executable_destroy(e);
    hg_program_release(p);
    hg_params_destroy(params);
    free(text);
    return binding;
}

/* One launch each; the first round is for compilers. */
static inline void time_both(hg_binding *all, hg_binding *half, int round, bench_samples *many,
                             bench_samples *few) {
    double start = bench_now();
    OK(hg_binding_launch(all));
    double middle = bench_now();
    OK(hg_binding_launch(half));
    double end = bench_now();
    if (round) bench_add(many, middle - start), bench_add(few, end - middle);
}

#endif

/* Calls of the library that a benchmark cannot go on without. */
#ifndef HG_BENCH_CALLS_H
#define HG_BENCH_CALLS_H

#include <hologram/hologram.h>
#include <stdio.h>
#include <stdlib.h>

static inline void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, hg_last_error_text());
    exit(1);
}
#define OK(call) ((call) == HG_OK ? (void)0 : die(#call))

/* The program that a text is, with parameters. Text and parameters are used up. */
static inline hg_binding *bind_text(hg_backend *b, char *text, size_t length, const hg_launch *launch, hg_params *params) {
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

#endif

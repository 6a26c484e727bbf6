/* Cases as CUDA C, compiled by NVRTC, which assembles too, for an old, a middle and a new architecture and the newest that it knows: no warning. */
#include "cts.h"
#include "support/nvrtc.h"
#include "test.h"
#include <hologram/emit.h>
#include <string.h>

static int architectures[4], architecture_count;
static uint64_t texts;

bool cts_compile_open(char reason[256]) {
    if (!nvrtc_open(reason)) return false;
    architecture_count = nvrtc_architectures(architectures);
    return architecture_count > 0;
}

/* Bounds checked in the kernel and before it, by turns. */
void cts_compile(cts *s, const char *name, const hg_program *program) {
    hg_emit_options options = {.size = sizeof options, .proven = texts++ % 2 != 0, .one_kernel = true};
    char *text = NULL;
    for (; hg_program_emit(program, "cuda", &options, &text, NULL) == HG_OK; options.kernel++) {
        for (int i = 0; i < architecture_count; i++) {
            static char message[2000];
            nvrtc_kernel kernel;
            if (nvrtc_compile(text, architectures[i], &kernel, message))
                test_passed++;
            else
                cts_fail(s, NULL, name, message);
        }
        hg_string_free(text);
    }
    if (!strstr(hg_last_error_text(), "the program has")) cts_fail(s, NULL, name, hg_last_error_text());
    for (uint32_t i = 0; i < program->inst_count; i++) s->compiled[program->insts[i].op] |= UINT64_C(1) << program->insts[i].type;
}

static bool allows(hg_op op, hg_type type) {
    for (int other = 0; other < HG_TYPE_COUNT; other++)
        if (hg_op_allows_types(op, type, (hg_type)other)) return true;
    return false;
}

void cts_compile_close(cts *s) {
    uint32_t pairs = 0, missing = 0;
    bool all = !s->only_row && !s->only_type && !s->only_case && !s->parts && !s->widest;
    for (int op = 0; op < HG_OP_COUNT; op++)
        for (int type = 0; type < HG_TYPE_COUNT; type++) {
            if (!allows((hg_op)op, (hg_type)type)) continue;
            bool done = s->compiled[op] >> type & 1;
            pairs += done;
            missing += !done;
            char reason[96];
            snprintf(reason, sizeof reason, "no CUDA C in %s", hg_type_name((hg_type)type));
            if (!done && all) cts_fail(s, NULL, hg_op_get((hg_op)op)->id, reason);
        }
    printf("cts: %u rows in a type as CUDA C for %d architectures", (unsigned)pairs, architecture_count);
    for (int i = 0; i < architecture_count; i++) printf(" sm_%d", architectures[i]);
    printf("; %u of the table not among these cases\n", (unsigned)missing);
}

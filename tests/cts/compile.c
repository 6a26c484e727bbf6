/* Cases as texts that nothing runs: CUDA C, compiled by NVRTC, which assembles too, for an old, a
 * middle and a new architecture and the newest that it knows: no warning; or the texts of any
 * target as files, for a compiler elsewhere. */
#include "cts.h"
#include "support/nvrtc.h"
#include "test.h"
#include <hologram/emit.h>
#include <string.h>

static int architectures[NVRTC_ARCHITECTURES], architecture_count;
static uint64_t texts;

/* A target of texts, or the reason why there are none. */
static bool has_texts(const char *target, char reason[256]) {
    for (size_t i = 0; hg_emit_target_get(i); i++) {
        const hg_emit_target *row = hg_emit_target_get(i);
        if (strcmp(row->name, target) != 0) continue;
        if (row->binary) snprintf(reason, 256, "--texts %s: it is no text", target);
        return !row->binary;
    }
    snprintf(reason, 256, "--texts %s: there is no such target", target);
    return false;
}

bool cts_compile_open(const cts *s, char reason[256]) {
    if (s->texts) return has_texts(s->target, reason);
    if (!nvrtc_open(reason)) return false;
    architecture_count = nvrtc_architectures(architectures);
    return architecture_count > 0;
}

static bool is_new(const cts *s, const hg_program *program) {
    for (uint32_t i = 0; i < program->inst_count; i++)
        if (!(s->compiled[program->insts[i].op] >> program->insts[i].type & 1)) return true;
    return false;
}

static void compile_text(cts *s, const char *name, const char *text) {
    for (int i = 0; i < architecture_count; i++) {
        static char message[2000];
        nvrtc_kernel kernel;
        if (nvrtc_compile(text, architectures[i], &kernel, message))
            test_passed++;
        else
            cts_fail(s, NULL, name, message);
    }
}

/* The first device of a target's row or the last, by turns. */
static const char *caps_of(const cts *s) {
    for (size_t i = 0; s->texts && texts / 2 % 2 && hg_emit_target_get(i); i++) {
        const hg_emit_target *row = hg_emit_target_get(i);
        const char *last = strrchr(row->caps, ' ');
        if (strcmp(row->name, s->target) == 0) return last ? last + 1 : NULL;
    }
    return NULL;
}

static const char *comment_of(const char *target) {
    if (strcmp(target, "wat") == 0) return ";;";
    const bool listing = strcmp(target, "vector") == 0 || strcmp(target, "spirv-asm") == 0;
    return listing ? ";" : "//";
}

/* FOLDER/NUMBER.TARGET, whose first line names the case. */
static void write_text(cts *s, const char *name, const char *text) {
    static uint32_t number;
    char path[400];
    snprintf(path, sizeof path, "%s/%u.%s", s->texts, (unsigned)++number, s->target);
    FILE *file = fopen(path, "w");
    bool ok = file && fprintf(file, "%s %s\n%s", comment_of(s->target), name, text) > 0;
    if (file && fclose(file) != 0) ok = false;
    if (ok)
        test_passed++;
    else
        cts_fail(s, NULL, name, path);
}

/* Bounds checked in the kernel and before it, by turns. Of all cases those with a row in a type
 * that none had so far; of a part every one. */
void cts_compile(cts *s, const char *name, const hg_program *program) {
    if (!s->parts && !s->only_row && !is_new(s, program)) return;
    hg_emit_options options = {
        .size = sizeof options, .proven = texts % 2 != 0, .one_kernel = true, .caps = caps_of(s)};
    texts++;
    char *text = NULL;
    for (; hg_program_emit(program, s->target, &options, &text, NULL) == HG_OK; options.kernel++) {
        if (s->texts)
            write_text(s, name, text);
        else
            compile_text(s, name, text);
        hg_string_free(text);
    }
    if (!strstr(hg_last_error_text(), "the program has"))
        cts_fail(s, NULL, name, hg_last_error_text());
    for (uint32_t i = 0; i < program->inst_count; i++)
        s->compiled[program->insts[i].op] |= UINT64_C(1) << program->insts[i].type;
}

static bool allows(hg_op op, hg_type type) {
    for (int other = 0; other < HG_TYPE_COUNT; other++)
        if (hg_op_allows_types(op, type, (hg_type)other)) return true;
    return false;
}

/* Copies and sums of whole arrays, which the suite runs in floats: in all other types they are the
 * same text of moves. */
static void compile_copies(cts *s, hg_op op, hg_type type) {
    static const struct {
        hg_op op;
        const char *instruction;
    } COPIES[] = {
        {HG_OP_KV_CACHE_UPDATE, "kv_cache_update.%s cache=r1, new_kv=r2, position=4, "
                                "batch=2, heads=3, head_dim=5, seq_len=3"},
        {HG_OP_ALL_GATHER, "all_gather.%s output=r1, input=r2, n=37, devices=(0)"},
        {HG_OP_REDUCE_SCATTER, "reduce_scatter.%s output=r1, input=r2, n=37, operation=sum"},
        {HG_OP_BROADCAST, "broadcast.%s buffer=r1, n=37, root=0"},
        {HG_OP_ALL_REDUCE, "all_reduce.%s buffer=r1, n=37, operation=sum, devices=()"}};
    const char *t = hg_type_name(type);
    for (size_t i = 0; i < HG_COUNT_OF(COPIES); i++) {
        char instruction[160], text[400];
        hg_program *program = NULL;
        if (COPIES[i].op != op) continue;
        snprintf(instruction, sizeof instruction, COPIES[i].instruction, t);
        snprintf(text, sizeof text,
                 ".atlas 1\n.program copies\n.param r1 y buffer %s inout\n.param r2 x buffer %s "
                 "in\n    %s\n",
                 t, t, instruction);
        if (hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK)
            cts_compile(s, instruction, program);
        else
            cts_fail(s, NULL, instruction, hg_last_error_text());
        hg_program_release(program);
    }
}

void cts_compile_close(cts *s) {
    uint32_t pairs = 0, missing = 0;
    bool all = !s->only_row && !s->only_case && !s->parts;
    for (int op = 0; op < HG_OP_COUNT; op++)
        for (int type = 0; type < HG_TYPE_COUNT; type++) {
            if (s->widest && oracle_size((hg_type)type) * 8 > s->widest) continue;
            if (!allows((hg_op)op, (hg_type)type) ||
                (s->only_type && strcmp(s->only_type, hg_type_name((hg_type)type)) != 0))
                continue;
            if (all && !(s->compiled[op] >> type & 1)) compile_copies(s, (hg_op)op, (hg_type)type);
            bool done = s->compiled[op] >> type & 1;
            pairs += done;
            missing += !done;
            char reason[96];
            snprintf(reason, sizeof reason, "no %s in %s", s->target, hg_type_name((hg_type)type));
            if (!done && all) cts_fail(s, NULL, hg_op_get((hg_op)op)->id, reason);
        }
    printf("cts: %u rows in a type as %s for %d architectures", (unsigned)pairs, s->target,
           architecture_count);
    for (int i = 0; i < architecture_count; i++) printf(" sm_%d", architectures[i]);
    printf("; %u of the table not among these cases\n", (unsigned)missing);
}

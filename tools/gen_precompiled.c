/* Writes kernels of the operator table as C that the library carries: gen_precompiled
 * v3|v3_narrow|v4|v4_narrow|v4_thin OUTPUT.c Of the programs that are one kernel those are taken
 * that run several times as fast so as on the tile interpreter (docs/performance.md); maps and
 * reductions have handlers of their own. At v4 those that gain by its vectors once more; what is
 * carried for v3 does for all others. A file has one length of turns: the narrow ones have the
 * kernels of whole-array instructions whose blocks are shorter than the turn of the level. */
#include "native/precompiled.h"
#include "base/base.h"
#include "emit/emit.h"
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/steps/steps.h"
#include "vector/vector.h"
#include <hologram/operators.h>
#include <hologram/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole-array instructions: those kernels of their expansions that are library programs. instead: a
 * compiler's code is faster where there is one (softmax, rotary embeddings and transforms take up
 * to four times as long as C). */
static const struct {
    const char *instruction;
    bool instead;
} STEPS[] = {
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=r5, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=r5, k=r5, trans_b=true", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=r5, k=64", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=r5, k=64, trans_b=true", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=16, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=16, k=r5, trans_b=true", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=8, n=16, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=2, n=16, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=1, n=16, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=8, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=r5, n=8, k=r5, trans_b=true", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=2, n=r5, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=2, n=8, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=1, n=r5, k=r5", false},
    {"gemm.f32 c=r1, a=r2, b=r3, m=1, n=8, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=r5, n=r5, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=r5, n=16, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=2, n=16, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=1, n=16, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=r5, n=8, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=2, n=r5, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=2, n=8, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=1, n=r5, k=r5", false},
    {"gemm.f64 c=r1, a=r2, b=r3, m=1, n=8, k=r5", false},
    {"conv2d.f32 output=r1, input=r2, kernel=r3, batch=r5, in_channels=64, out_channels=64, "
     "height=56, width=56, kernel_h=3, kernel_w=3, "
     "stride=(1, 1), padding=(1, 1)",
     false},
    {"attention.f32 output=r1, query=r2, key=r3, value=r4, batch=1, heads=8, seq_len=512, "
     "head_dim=64",
     false},
    {"attention.f32 output=r1, query=r2, key=r3, value=r4, batch=1, heads=8, seq_len=512, "
     "head_dim=64, causal=true",
     false},
    {"layer_norm.f32 output=r1, input=r2, gamma=r3, beta=r4, n=r5, eps=0.001, rows=r5", false},
    {"layer_norm.f32 output=r1, input=r2, gamma=r3, beta=r4, n=128, eps=0.001, rows=r5", false},
    {"group_norm.f32 output=r1, input=r2, gamma=r3, beta=r4, batch=1, channels=64, groups=32, "
     "spatial=3136, eps=0.001",
     false},
    {"softmax.f32 output=r1, input=r2, n=r5, rows=r5", true},
    {"softmax.f32 output=r1, input=r2, n=128, rows=r5", true},
    {"rope.f32 output=r1, input=r2, freqs=r3, batch=1, seq_len=r5, heads=8, head_dim=64", true},
    {"fft.f32 output=r1, input=r2, n=64, inverse=false, batch=16", true},
    {"fft.f32 output=r1, input=r2, n=1024, inverse=false, batch=16", true},
    {"fft.f32 output=r1, input=r2, n=256, inverse=false, batch=16", true},
    {"fft.f32 output=r1, input=r2, n=4096, inverse=false, batch=16", true},
    {"fft.f32 output=r1, input=r2, n=65536, inverse=false", true},
};

enum {
    MOST_OF_STEP = 8,
    MOST = HG_OPERATOR_COUNT + MOST_OF_STEP * (int)(sizeof STEPS / sizeof *STEPS)
};

typedef struct carried {
    const char *name;
    uint32_t bytes, lanes; /* of a vector, of a turn */
    library_tile_kind tiles;
    const char *operations[16];
} carried;
static const carried LEVELS[] = {
    {"v3",
     32,
     16,
     LIBRARY_TILES_V3,
     {"MatMul", "GEMM", "Conv", "Concat", "Split", "Transpose", "ArgMax", "ArgMin"}},
    {"v3_narrow", 32, 8, LIBRARY_TILES_V3, {NULL}},
    {"v4", 64, 32, LIBRARY_TILES_V4, {"MatMul", "GEMM"}},
    {"v4_narrow", 64, 16, LIBRARY_TILES_V4, {NULL}},
    {"v4_thin", 32, 8, LIBRARY_TILES_V4, {NULL}},
};
static const carried *level;

typedef struct made {
    const hg_program *program;
    hg_plan *plan; /* NULL: a library program */
    kir_module *low;
    vec_kernel *form;
    hg_text text; /* of its kernel, without names */
    const struct made *same;
    bool instead; /* of a compiler */
    char name[64];
} made;

static made all[MOST];
static uint32_t count;

static bool is_wanted(const char *operation) {
    for (size_t i = 0; level->operations[i]; i++)
        if (strcmp(level->operations[i], operation) == 0) return true;
    return false;
}

/* The lanes of a turn are those of native/llvm.c: the level's, which blocks that are shorter halve.
 * Kernels of other turns belong to another file. */
static hg_status form_of(made *m) {
    uint32_t row = m->low->program->block[0], most = level->tiles == LIBRARY_TILES_V4 ? 32 : 16,
             lanes = most;
    while (lanes > 8 && row % lanes != 0) lanes /= 2;
    if (row % lanes != 0) lanes = most;
    if (lanes != level->lanes) return HG_OK;
    return vec_form(m->low, &(vec_options){.lanes = lanes, .blocks = m->plan == NULL}, &m->form);
}

static hg_status lower(made *m) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    kir_caps caps;
    vec_caps(&caps);
    HG_TRY(hg_verify(m->program, NULL, NULL, &cfg));
    hg_status status = kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                                        KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &m->plan);
    hg_cfg_destroy(cfg);
    if (status != HG_OK) {
        kir_module_destroy(module);
        return status;
    }
    if (m->plan->kernels.count != 1 || m->plan->steps.count)
        return hg_fail(HG_ERROR_INTERNAL, "'%s' is not one kernel", m->program->name);
    HG_TRY(kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL, KIR_STAGE_LOW,
                            m->plan->kernels.data[0].module, &m->low));
    return form_of(m);
}

/* Kernels of signed and unsigned integers, and of elements that are only moved, are the same. */
static hg_status find_same(made *m) {
    const char *name = m->low->name;
    const hg_program *program = m->low->program;
    m->low->name = "kernel";
    m->low->program = NULL;
    kir_print(&m->text, m->low);
    m->low->name = name;
    m->low->program = program;
    if (m->text.failed) return hg_fail_memory();
    for (const made *other = all; other < m && !m->same; other++)
        if (!other->same && other->text.length == m->text.length &&
            memcmp(other->text.data, m->text.data, m->text.length) == 0)
            m->same = other;
    return HG_OK;
}

/* Keeps it, where it has a form. */
static hg_status keep(made *m) {
    if (!m->form) return HG_OK;
    HG_TRY(find_same(m));
    HG_TRY(vec_verify(m->form));
    snprintf(m->name, sizeof m->name, "p%u_%s", (unsigned)count, m->program->name);
    count++;
    return HG_OK;
}

static hg_status make(const hg_operator *row) {
    made *m = &all[count];
    hg_program *program = NULL;
    HG_TRY(hg_operator_program(row, &program));
    m->program = program;
    HG_TRY(lower(m));
    return keep(m);
}

/* ---- whole-array instructions ---- */

static bool is_new(const kir_module *m) {
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(all[i].program->hash, m->program->hash, sizeof m->program->hash) == 0)
            return false;
    return true;
}

static hg_status make_kernel(const plan_kernel_key *key, bool instead) {
    made *m = &all[count];
    kir_caps caps;
    vec_caps(&caps);
    kir_module *module = key->make(key);
    if (!module) return HG_ERROR_INTERNAL;
    if (!module->unchecked || !is_new(module)) {
        kir_module_destroy(module);
        return HG_OK;
    }
    m->program = module->program; /* the module stays */
    m->instead = instead;
    HG_TRY(kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL, KIR_STAGE_LOW,
                            module, &m->low));
    HG_TRY(form_of(m));
    return keep(m);
}

static hg_status make_step(const char *instruction, bool instead) {
    char text[1024];
    hg_program *program = NULL;
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    library_tiles tiles = library_tiles_of(level->tiles);
    plan_expansion x = {.tiles = &tiles};
    plan_problem problem = {.found = false};
    snprintf(text, sizeof text,
             ".atlas 1\n.program step\n.param r1 x buffer f32 inout\n.param r2 y buffer f32 "
             "in\n.param r3 z buffer f32 in\n"
             ".param r4 w buffer f32 in\n.param r5 n u64\n    %s\n",
             instruction);
    HG_TRY(hg_program_assemble(text, strlen(text), NULL, &program));
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    HG_TRY(kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                            KIR_STAGE_PROGRAM, NULL, &module));
    HG_TRY(plan_build(module, PLAN_READS_INPUTS, &plan));
    HG_TRY(plan_expand_example(plan, &plan->steps.data[0], &x, &problem));
    if (problem.found) return hg_fail(HG_ERROR_INTERNAL, "%s: %s", instruction, problem.message);
    hg_status status = HG_OK;
    for (uint64_t i = 0; i < x.actions.count && status == HG_OK; i++)
        if (x.actions.data[i].kind == PLAN_LAUNCH)
            status = make_kernel(&x.actions.data[i].key, instead);
    plan_expansion_free(&x);
    return status; /* the rest ends with the process */
}

static void add_row(hg_text *out, const made *m) {
    hg_text_addf(out, "    {{");
    for (int i = 0; i < 32; i++)
        hg_text_addf(out, i ? ", %u" : "%u", (unsigned)m->program->hash[i]);
    hg_text_addf(out, "}, %u, %u, %s, %s, %s, %s},\n", (unsigned)m->low->inputs.count,
                 (unsigned)m->low->slots.count, m->form->blocks ? "true" : "false",
                 m->low->unchecked ? "true" : "false", m->instead ? "true" : "false",
                 m->same ? m->same->name : m->name);
}

static hg_status print(hg_text *out) {
    vec_kernel *forms[MOST];
    const char *names[MOST];
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].same) continue;
        forms[unique] = all[i].form;
        names[unique++] = all[i].name;
    }
    hg_text_addf(out,
                 "/* Written by tools/gen_precompiled.c: generated */\n#define HGV_LANES "
                 "%u\n#define HGV_BYTES %u\n#include <hologram/vector.h>\n"
                 "#include \"native/precompiled.h\"\n\n",
                 (unsigned)level->lanes, (unsigned)level->bytes);
    HG_TRY(emit_vector_c_local(forms, names, unique, level->bytes, out));
    hg_text_addf(out, "static const native_carried rows[] = {\n");
    for (uint32_t i = 0; i < count; i++) add_row(out, &all[i]);
    hg_text_addf(out, "};\nconst native_carried_list native_carried_%s = {%u, %u, rows};\n",
                 level->name, (unsigned)level->lanes, (unsigned)count);
    return out->failed ? hg_fail_memory() : HG_OK;
}

int main(int argc, char **argv) {
    hg_text out = {0};
    hg_status status = HG_OK;
    for (size_t i = 0; i < HG_COUNT_OF(LEVELS); i++)
        if (argc == 3 && strcmp(LEVELS[i].name, argv[1]) == 0) level = &LEVELS[i];
    if (!level) {
        fprintf(
            stderr,
            "gen_precompiled: expects v3, v3_narrow, v4, v4_narrow or v4_thin, and the output\n");
        return 2;
    }
    for (size_t i = 0; hg_operator_at(i) && status == HG_OK; i++)
        if (is_wanted(hg_operator_at(i)->operation)) status = make(hg_operator_at(i));
    for (size_t i = 0; i < HG_COUNT_OF(STEPS) && status == HG_OK; i++)
        status = make_step(STEPS[i].instruction, STEPS[i].instead);
    if (status == HG_OK) status = print(&out);
    FILE *f = status == HG_OK ? fopen(argv[2], "w") : NULL;
    bool good = f && fwrite(out.data, 1, out.length, f) == out.length;
    good = f && fclose(f) == 0 && good;
    if (!good)
        fprintf(stderr, "gen_precompiled: %s\n",
                status == HG_OK ? "cannot write the output" : hg_last_error_text());
    return good ? 0 : 1;
}

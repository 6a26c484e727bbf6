/* Whole-array instructions in C text whose extents only a call knows: the library's own sources
 * decide there, as they do in the library, which launches one is, so that both have the same bits
 * and the same words for what cannot be. The text has these sources (build_source.c), what they
 * need (built/steps.inc), what carries their launches out (built/steps_run.inc), and the kernels.
 * Must not know: what an instruction does, which kernels it has. */
#include "offline/build_internal.h"
#include "kir/define/define.h"
#include "plan/steps/sparse.h"
#include <string.h>

typedef unsigned long long ull;

/* ---- the sources of collectives ---- */

extern hg_packed built_head_call, built_head_expansion, built_head_product, built_head_rows,
    built_head_sparse, built_head_windows, built_head_conv2d;
#define SOURCE(name) extern hg_packed built_code_##name;
SOURCE(shape)
SOURCE(parts)
SOURCE(rows)
SOURCE(gemm)
SOURCE(windows)
SOURCE(conv2d)
SOURCE(conv)
SOURCE(pool)
SOURCE(softmax)
SOURCE(norm)
SOURCE(batch_norm)
SOURCE(attention)
SOURCE(rope)
SOURCE(kv_cache)
SOURCE(all)
SOURCE(tensor_contract)
SOURCE(quantized_gemm)
SOURCE(sparse_gemm)
SOURCE(fft)
#undef SOURCE

enum { MOST_SOURCES = 5 };
typedef struct source_row {
    const plan_collective *of;
    const char *name;
    const char *known; /* an operand that is a number all the same, as kernels follow from it */
    struct {
        const char *name;
        hg_packed *text;
    } sources[MOST_SOURCES + 1]; /* names NULL behind the last; headers have none of their own */
} source_row;

static const source_row SOURCES[] = {
    {&plan_collective_gemm,
     "gemm",
     NULL,
     {{"product", &built_head_product}, {"gemm", &built_code_gemm}}},
    {&plan_collective_conv2d,
     "conv2d",
     NULL,
     {{"windows_head", &built_head_windows},
      {"windows", &built_code_windows},
      {"conv2d_head", &built_head_conv2d},
      {"conv2d", &built_code_conv2d}}},
    {&plan_collective_conv,
     "conv",
     NULL,
     {{"windows_head", &built_head_windows},
      {"windows", &built_code_windows},
      {"conv2d_head", &built_head_conv2d},
      {"conv2d", &built_code_conv2d},
      {"conv", &built_code_conv}}},
    {&plan_collective_pool,
     "pool",
     NULL,
     {{"windows_head", &built_head_windows},
      {"windows", &built_code_windows},
      {"pool", &built_code_pool}}},
    {&plan_collective_rms_norm,
     "rms_norm",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"norm", &built_code_norm}}},
    {&plan_collective_softmax,
     "softmax",
     NULL,
     {{"rows_head", &built_head_rows},
      {"rows", &built_code_rows},
      {"softmax", &built_code_softmax}}},
    {&plan_collective_norm,
     "norm",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"norm", &built_code_norm}}},
    {&plan_collective_batch_norm,
     "batch_norm",
     NULL,
     {{"rows_head", &built_head_rows},
      {"rows", &built_code_rows},
      {"batch_norm", &built_code_batch_norm}}},
    {&plan_collective_attention, "attention", NULL, {{"attention", &built_code_attention}}},
    {&plan_collective_rope,
     "rope",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"rope", &built_code_rope}}},
    {&plan_collective_kv_cache,
     "kv_cache",
     NULL,
     {{"rows_head", &built_head_rows},
      {"rows", &built_code_rows},
      {"kv_cache", &built_code_kv_cache}}},
    {&plan_collective_all_reduce,
     "all_reduce",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"all", &built_code_all}}},
    {&plan_collective_all_gather,
     "all_gather",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"all", &built_code_all}}},
    {&plan_collective_reduce_scatter,
     "reduce_scatter",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"all", &built_code_all}}},
    {&plan_collective_broadcast,
     "broadcast",
     NULL,
     {{"rows_head", &built_head_rows}, {"rows", &built_code_rows}, {"all", &built_code_all}}},
    {&plan_collective_tensor_contract,
     "tensor_contract",
     "contract_dims",
     {{"product", &built_head_product},
      {"gemm", &built_code_gemm},
      {"tensor_contract", &built_code_tensor_contract}}},
    {&plan_collective_quantized_gemm,
     "quantized_gemm",
     NULL,
     {{"quantized_gemm", &built_code_quantized_gemm}}},
    {&plan_collective_sparse_gemm,
     "sparse_gemm",
     NULL,
     {{"sparse_head", &built_head_sparse}, {"sparse_gemm", &built_code_sparse_gemm}}},
    {&plan_collective_fft, "fft", "n", {{"fft", &built_code_fft}}},
};

static const source_row *source_of(const plan_step *step) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    for (size_t i = 0; i < HG_COUNT_OF(SOURCES); i++)
        if (SOURCES[i].of == of) return &SOURCES[i];
    return NULL;
}

bool build_has_source(const plan_step *step, const char **known) {
    const source_row *row = source_of(step);
    *known = row ? row->known : NULL;
    return row != NULL;
}

/* ---- the sources in the text ---- */

static bool has_step(const build_job *job, const plan_collective *of, bool alone) {
    for (uint32_t i = 0; i < job->count; i++)
        for (uint64_t k = 0; k < job->programs[i].plan->steps.count; k++)
            if (job->programs[i].steps[k].open &&
                (!alone ||
                 plan_collective_of((hg_op)job->programs[i].plan->steps.data[k].op) == of))
                return true;
    return false;
}

static void add_types(hg_text *out) {
    hg_text_addf(out, "enum {\n");
    for (int i = 0; i < HG_TYPE_COUNT; i++) {
        hg_text_addf(out, "    HG_TYPE_");
        for (const char *c = hg_type_name((hg_type)i); *c; c++)
            hg_text_addf(out, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        hg_text_addf(out, " = %d,\n", i);
    }
    hg_text_addf(out,
                 "    HG_TYPE_COUNT = %d\n};\nstatic const struct {\n    const char *name;\n    "
                 "uint16_t bytes, sum;\n} hg_types[] = {\n",
                 (int)HG_TYPE_COUNT);
    for (int i = 0; i < HG_TYPE_COUNT; i++)
        hg_text_addf(out, "    {\"%s\", %llu, %d},\n", hg_type_name((hg_type)i),
                     (ull)hg_type_size_bytes((hg_type)i), (int)library_sum_type((hg_type)i));
    hg_text_addf(out, "};\n");
}

static void add_ids(hg_text *out) {
    hg_text_addf(out,
                 "enum { LIBRARY_MOST_CONSTANTS = %d, PLAN_OPEN_INPUTS = %d, HG_MAX_OPERANDS = %d, "
                 "HG_READ = %d, HG_WRITE = %d, HG_NAMED = %d, KIR_FAULT_BOUNDS = %d, "
                 "KIR_FAULT_DOMAIN = %d };\n",
                 (int)LIBRARY_MOST_CONSTANTS, (int)BUILD_OPEN_INPUTS, (int)HG_MAX_OPERANDS,
                 (int)HG_READ, (int)HG_WRITE, (int)HG_NAMED, (int)KIR_FAULT_BOUNDS,
                 (int)KIR_FAULT_DOMAIN);
    hg_text_addf(out, "enum {\n    HG_OP_NONE = %d,\n    HG_OP_MOV = %d,\n", (int)HG_OP_NONE,
                 (int)HG_OP_MOV);
#define PLAN_COLLECTIVE(id, name) hg_text_addf(out, "    HG_OP_" #id " = %d,\n", (int)HG_OP_##id);
#include "plan/steps/steps.def"
#undef PLAN_COLLECTIVE
    hg_text_addf(out, "};\nenum {\n");
#define LIBRARY(id, ...) hg_text_addf(out, "    LIBRARY_" #id " = %d,\n", (int)LIBRARY_##id);
#include "library/library.def"
#undef LIBRARY
    hg_text_addf(out, "    LIBRARY_COUNT = %d\n};\nstatic const uint8_t library_constants[] = {",
                 (int)LIBRARY_COUNT);
    for (int i = 0; i < LIBRARY_COUNT; i++)
        hg_text_addf(out, "%u, ", (unsigned)library_constant_count((library_id)i));
    hg_text_addf(out, "};\n");
}

static void add_tiles(const build_job *job, hg_text *out) {
    hg_text_addf(out, "enum {\n");
#define LIBRARY_TILE(id, ...) \
    hg_text_addf(out, "    LIBRARY_TILE_" #id " = %d,\n", (int)LIBRARY_TILE_##id);
#include "library/tiles.def"
#undef LIBRARY_TILE
    hg_text_addf(out,
                 "    LIBRARY_TILE_COUNT = %d,\n    LIBRARY_TILES_V4 = %d\n};\nstatic const "
                 "uint16_t library_tile_sizes[] = {",
                 (int)LIBRARY_TILE_COUNT, (int)LIBRARY_TILES_V4);
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++)
        hg_text_addf(out, "%u, ", (unsigned)job->tiles.sizes[i]);
    hg_text_addf(out, "};\n");
}

static bool has_op(const build_job *job, hg_op op) {
    for (uint32_t i = 0; i < job->count; i++)
        for (uint64_t k = 0; k < job->programs[i].plan->steps.count; k++)
            if (job->programs[i].steps[k].open && job->programs[i].plan->steps.data[k].op == op)
                return true;
    return false;
}

/* Rows of the instructions' table. */
static void add_rows(const build_job *job, hg_text *out) {
    hg_text_addf(out, "static const hg_op_info *hg_op_get(hg_op op) {\n");
    for (int op = 0; op < HG_OP_COUNT; op++) {
        if (!has_op(job, (hg_op)op)) continue;
        const hg_op_info *row = hg_op_get((hg_op)op);
        hg_text_addf(out, "    static const hg_operand_info of_%d[] = {", op);
        for (uint32_t i = 0; i < row->operand_count; i++)
            hg_text_addf(out, "{%u, \"%s\"}, ", (unsigned)row->operands[i].access,
                         row->operands[i].name ? row->operands[i].name : "");
        hg_text_addf(out,
                     "{0, 0}};\n    static const hg_op_info row_%d = {%u, of_%d};\n    if (op == "
                     "%d) return &row_%d;\n",
                     op, (unsigned)row->operand_count, op, op, op);
    }
    hg_text_addf(out, "    return NULL;\n}\n");
}

static void add_sources(const build_job *job, hg_text *out) {
    const hg_packed *there[HG_COUNT_OF(SOURCES) * MOST_SOURCES];
    uint32_t count = 0;
    build_add_source(out, "call", hg_unpacked(&built_head_call));
    build_add_source(out, "expansion", hg_unpacked(&built_head_expansion));
    build_add_source(out, "shape", hg_unpacked(&built_code_shape));
    build_add_source(out, "parts", hg_unpacked(&built_code_parts));
    for (size_t r = 0; r < HG_COUNT_OF(SOURCES); r++)
        for (uint32_t k = 0; SOURCES[r].sources[k].name && has_step(job, SOURCES[r].of, true);
             k++) {
            hg_packed *text = SOURCES[r].sources[k].text;
            uint32_t i = 0;
            while (i < count && there[i] != text) i++;
            if (i < count) continue;
            there[count++] = text;
            build_add_source(out, SOURCES[r].sources[k].name, hg_unpacked(text));
        }
}

/* Through build_add_source, so that names are as those in sources. */
static void add_prepared(const build_job *job, hg_text *out) {
    hg_text text = {0};
    add_types(&text);
    add_ids(&text);
    add_tiles(job, &text);
    hg_text_addf(&text, "%s", hg_unpacked(&built_text_steps));
    hg_text_addf(&text, "static const library_tiles library_tiles_of_text = {{");
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++)
        hg_text_addf(&text, "%u, ", (unsigned)job->tiles.sizes[i]);
    hg_text_addf(&text, "}};\n");
    add_rows(job, &text);
    if (text.data) build_add_source(out, "steps", text.data);
    out->failed |= text.failed;
    hg_text_free(&text);
}

void build_add_open_sources(const build_job *job, hg_text *out) {
    hg_text text = {0};
    if (!has_step(job, NULL, false)) return;
    hg_text_addf(&text, "\n/* ==== whole-array instructions: the library's own sources ==== "
                        "*/\n\n#include <float.h>\n#include <math.h>\n#include <stdarg.h>\n#pragma "
                        "GCC diagnostic ignored \"-Wunused-const-variable\"\n");
    add_prepared(job, &text);
    add_sources(job, &text);
    if (has_step(job, &plan_collective_sparse_gemm, true))
        build_add_source(
            &text, "sparse",
            "kir_module *plan_sparse_check(const plan_kernel_key *key) {\n    (void)key;\n "
            "   return NULL;\n}\n");
    build_add_source(&text, "run", hg_unpacked(&built_text_steps_run));
    if (text.data) build_add_named(out, job->name, text.data);
    out->failed |= text.failed;
    hg_text_free(&text);
}

/* ---- an instruction in the text ---- */

static const plan_env *argument(const build_program *p, const plan_step *step, uint32_t arg) {
    return &p->plan->env.data[step->args[arg]];
}

static void add_kernel_inputs(const build_kernel *k, uint32_t number, hg_text *out) {
    const kir_module *m = k->low;
    hg_text_addf(out, "static const hgd_plan_open_input hgd_i%u[] = {", (unsigned)number);
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *in = &m->inputs.data[i];
        hg_text_addf(out, "{%u, %u, %u}, ", (unsigned)in->reg,
                     in->limb_bytes ? (unsigned)(8 * in->limb * in->limb_bytes) : 0u,
                     in->limb_bytes ? (unsigned)in->limb_bytes : 8u);
    }
    hg_text_addf(out, "{0, 0, 0}};\nstatic const uint8_t hgd_s%u[] = {", (unsigned)number);
    for (uint64_t i = 0; i < m->slots.count; i++)
        hg_text_addf(out, "%u, ", (unsigned)m->inputs.data[m->slots.data[i].input].reg);
    hg_text_addf(out, "0};\n");
}

static bool is_open_kernel(const build_job *job, uint32_t kernel) {
    for (uint32_t i = 0; i < job->count; i++)
        for (uint64_t k = 0; k < job->programs[i].plan->steps.count; k++)
            for (uint64_t n = 0; n < job->programs[i].steps[k].open_kernels.count; n++)
                if (job->programs[i].steps[k].open_kernels.data[n] == kernel) return true;
    return false;
}

void build_add_open_kernels(const build_job *job, hg_text *out) {
    uint32_t count = 0;
    if (!has_step(job, NULL, false)) return;
    for (uint32_t i = 0; i < job->kernels.count; i++)
        if (is_open_kernel(job, i)) add_kernel_inputs(&job->kernels.data[i], i, out);
    hg_text_addf(out, "static const hgd_plan_open_kernel hgd_kernels[] = {\n");
    for (uint32_t i = 0; i < job->kernels.count; i++) {
        const build_kernel *k = &job->kernels.data[i];
        if (!is_open_kernel(job, i)) continue;
        count++;
        hg_text_addf(out,
                     "    {{.make = hgd_%s, .fn = %u, .type = %u, .arrays = %u, "
                     ".values = %u, .choice = %u, .program = %u, .constants = {",
                     k->key.make == plan_sparse_check ? "plan_sparse_check" : "plan_library_kernel",
                     (unsigned)k->key.fn, (unsigned)k->key.type, (unsigned)k->key.arrays,
                     (unsigned)k->key.values, (unsigned)k->key.choice, (unsigned)k->key.program);
        for (uint32_t c = 0; c < LIBRARY_MOST_CONSTANTS; c++)
            hg_text_addf(out, "%ld, ", (long)k->key.constants[c]);
        hg_text_addf(out, "}},\n     %s, %s, %u, %u, hgd_i%u, hgd_s%u},\n", k->name,
                     k->blocks ? "true" : "false", (unsigned)k->low->inputs.count,
                     (unsigned)k->low->slots.count, (unsigned)i, (unsigned)i);
    }
    hg_text_addf(out, "    {{0}, 0, false, 0, 0, 0, 0}};\nenum { hgd_kernel_count = %u };\n",
                 (unsigned)count);
}

static void add_step(const build_program *p, uint32_t number, hg_text *out) {
    const plan_step *step = &p->plan->steps.data[number];
    const build_step *s = &p->steps[number];
    const hg_op_info *row = hg_op_get((hg_op)step->op);
    hg_text_addf(out, "static const uint8_t hgd_%s_counts%u[] = {", p->function, (unsigned)number);
    for (uint32_t i = 0; i < row->operand_count; i++)
        hg_text_addf(out, "%u, ", plan_array_of(&s->call, i) ? 0u : (unsigned)s->operands[i].count);
    hg_text_addf(out, "};\nstatic const hgd_plan_open_array hgd_%s_arrays%u[] = {", p->function,
                 (unsigned)number);
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        const plan_array *a = &s->arrays[i];
        hg_text_addf(out, "\n    {%u, %u, %s, %s, %s, %s, %s, UINT32_C(%lu), INT64_C(%lld)},",
                     (unsigned)a->operand, (unsigned)a->type,
                     a->place && a->place->space == KIR_POOL ? "true" : "false",
                     a->read ? "true" : "false", a->written ? "true" : "false",
                     a->place ? "true" : "false", s->copies[i] ? "true" : "false",
                     (unsigned long)s->shares[i], a->place ? (long long)a->place->disp : 0);
    }
    hg_text_addf(out,
                 "\n};\nstatic const hgd_plan_open_step hgd_%s_step%u = {\n    "
                 "&hgd_plan_collective_%s, %u, %u, %u, %s, hgd_%s_counts%u, %u, hgd_%s_arrays%u, "
                 "hgd_kernels, hgd_kernel_count, %u};\n",
                 p->function, (unsigned)number, source_of(step)->name, (unsigned)s->call.op,
                 (unsigned)s->call.fn, (unsigned)s->call.type, p->plan->relaxed ? "true" : "false",
                 p->function, (unsigned)number, (unsigned)s->call.array_count, p->function,
                 (unsigned)number, (unsigned)step->inst);
}

void build_add_open_steps(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->plan->steps.count; i++)
        if (p->steps[i].open) add_step(p, i, out);
}

/* The words of an argument: of a scalar that the function takes, or a number. */
static void add_words(const build_program *p, const plan_step *step, const kir_step_operand *o,
                      hg_text *out) {
    for (uint32_t a = 0; a < o->arg_count; a++) {
        const plan_env *e = argument(p, step, o->first_arg + a);
        uint64_t size = kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_PARAM) {
            build_add_param_value(p, build_param_of(p, e->reg), 0, size, out);
            hg_text_addf(out, ", ");
            continue;
        }
        for (uint64_t at = 0; at < size; at += 8) {
            uint64_t word = 0;
            if (e->init == PLAN_INIT_CONST)
                memcpy(&word, (e->bytes ? e->bytes : (const uint8_t *)&e->value) + at,
                       (size_t)(size - at < 8 ? size - at : 8));
            hg_text_addf(out, "UINT64_C(%llu), ", (ull)word);
        }
    }
    if (o->kind == KIR_STEP_NUMBER || o->kind == KIR_STEP_NAME)
        hg_text_addf(out, "UINT64_C(%llu), ", (ull)o->value);
}

static void add_all_words(const build_program *p, const plan_step *step, hg_text *out) {
    const hg_op_info *row = hg_op_get((hg_op)step->op);
    hg_text_addf(out, "(const uint64_t[]){");
    for (uint32_t r = 0; r < row->operand_count; r++)
        for (uint32_t i = 0; i < step->info->count; i++) {
            const kir_step_operand *o = &step->info->operands[i];
            if (o->operand == r + 1 && o->kind != KIR_STEP_ARRAY) add_words(p, step, o, out);
        }
    hg_text_addf(out, "0}");
}

void build_add_open_bytes(const build_program *p, uint32_t number, hg_text *out) {
    hg_text_addf(out, "hgd_plan_open_bytes(&hgd_%s_step%u, ", p->function, (unsigned)number);
    add_all_words(p, &p->plan->steps.data[number], out);
    hg_text_addf(out, ")");
}

void build_add_open_call(const build_program *p, uint32_t number, hg_text *out) {
    const plan_step *step = &p->plan->steps.data[number];
    const build_step *s = &p->steps[number];
    hg_text_addf(out, "    if (!hgd_plan_open_run(&run, &hgd_%s_step%u, ", p->function,
                 (unsigned)number);
    add_all_words(p, step, out);
    hg_text_addf(out, ",\n                           (const uint64_t[]){");
    for (uint32_t i = 0; i < s->call.array_count; i++) {
        const kir_step_operand *o = s->arrays[i].place;
        if (o)
            build_add_env_value(argument(p, step, o->first_arg)->offset, 8, out);
        else
            hg_text_addf(out, "0");
        hg_text_addf(out, ", ");
        if (o && o->has_index)
            build_add_env_value(argument(p, step, o->first_arg + 1u)->offset, 8, out);
        else
            hg_text_addf(out, "0");
        hg_text_addf(out, ", ");
    }
    hg_text_addf(out, "0}, ");
    if (step->result != HG_PLAN_NO_ENV)
        hg_text_addf(out, "(uint8_t *)env + %u, ",
                     (unsigned)p->plan->env.data[step->result].offset);
    else
        hg_text_addf(out, "NULL, ");
    hg_text_addf(out, "work ? (uint8_t *)work + spans[%u].begin.value : NULL, level)) goto end;\n",
                 (unsigned)p->step_span);
}

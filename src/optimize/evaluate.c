/* What an instruction makes of literals: a program of that one instruction, run by the tile
 * interpreter, so that its meaning is the one that every launch has. Must not know: the rest of the
 * program. */
#include "base/thread.h"
#include "kir/pipeline/pipeline.h"
#include "optimize/optimize.h"
#include "tile/tile.h"

#include <string.h>

enum { PLACE_BYTES = 64, PATIENCE_NS = 1000000000 };

/* ---- the text of the program ---- */

typedef struct question {
    const hg_program *program;
    uint32_t inst;
    const hg_accesses *what;
    const optimize_value *values; /* one a read */
    uint8_t out, temporary, zero; /* registers that the instruction does not name */
    hg_text text;
} question;

static bool is_named(const hg_accesses *what, uint32_t reg) {
    for (uint32_t k = 0; k < what->reads; k++)
        if (!what->read[k].is_pred && what->read[k].reg == reg) return true;
    for (uint32_t k = 0; k < what->writes; k++)
        if (!what->write[k].is_pred && what->write[k].reg == reg) return true;
    return false;
}

static uint8_t free_register(const hg_accesses *what, uint32_t from) {
    while (from < HG_FIRST_SPECIAL && is_named(what, from)) from++;
    return (uint8_t)from;
}

static void set_value(question *q, const hg_access *a, const optimize_value *v) {
    hg_text *t = &q->text;
    if (a->is_pred) {
        hg_text_addf(t, "mov_imm.u32 r%u, %u\nsetne.u32 p%u, r%u, r%u\n", q->temporary, v->bytes[0],
                     a->reg, q->temporary, q->zero);
        return;
    }
    hg_text_addf(t, "mov_imm.%s r%u, ", hg_type_name((hg_type)v->type), a->reg);
    hg_print_literal(t, (hg_type)v->type, v->bytes);
    hg_text_addf(t, "\n");
}

static void take_value(question *q, uint32_t k) {
    hg_text *t = &q->text;
    const hg_access *a = &q->what->write[k];
    const char *type = a->is_pred ? "u32" : hg_type_name((hg_type)a->want);
    uint8_t reg = a->is_pred ? q->temporary : a->reg;
    if (a->is_pred)
        hg_text_addf(t, "mov_imm.u32 r%u, 1\nsel.u32 r%u, p%u, r%u, r%u\n", reg, reg, a->reg, reg,
                     q->zero);
    hg_text_addf(t, "stg.%s [buf(r%u) + %u], r%u\n", type, q->out, (unsigned)(k * PLACE_BYTES),
                 reg);
}

static void write_text(question *q) {
    hg_text *t = &q->text;
    q->out = free_register(q->what, 0);
    q->temporary = free_register(q->what, q->out + 1u);
    q->zero = free_register(q->what, q->temporary + 1u);
    hg_text_addf(t,
                 ".atlas 1\n.program literal\n.param r%u out buffer u8 inout\nmov_imm.u32 r%u, 0\n",
                 q->out, q->zero);
    for (uint32_t k = 0; k < q->what->reads; k++) set_value(q, &q->what->read[k], &q->values[k]);
    hg_print_instruction(t, q->program, q->inst);
    hg_text_addf(t, "\n");
    for (uint32_t k = 0; k < q->what->writes; k++) take_value(q, k);
}

/* ---- running it ---- */

static hg_status compile(const hg_program *p, tile_kernel **kernel) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    kir_caps caps;
    tile_caps(false, &caps);
    HG_TRY(hg_verify(p, NULL, NULL, &cfg));
    const kir_compilation c = {.program = cfg, .caps = &caps};
    hg_status status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_LOW, NULL, &module);
    const tile_options options = {.level = TILE_LEVEL_BEST, .max_threads = 1};
    if (status == HG_OK) status = tile_compile(module, &options, kernel);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status;
}

static hg_status run(const hg_program *p, uint8_t *out, uint64_t size, bool *done) {
    tile_kernel *kernel = NULL;
    tile_fault fault;
    const uint64_t handle = 1;
    const tile_memory memory = {out, size, true};
    const tile_launch launch = {.grid = {1, 1, 1},
                                .block = {1, 1, 1},
                                .lanes = 1,
                                .inputs = &handle,
                                .slots = &memory,
                                .deadline_ns = hg_clock_ns() + PATIENCE_NS,
                                .timeout_ms = 1000,
                                .max_threads = 1};
    HG_TRY(compile(p, &kernel));
    hg_status status = tile_run(kernel, &launch, &fault);
    *done = status == HG_OK && !fault.happened;
    tile_kernel_destroy(kernel);
    return status;
}

/* The bits of a NaN are a device's own. */
static bool is_nan(const optimize_value *v) {
    static const struct {
        uint64_t exponent, fraction;
    } PARTS[] = {[HG_TYPE_F16] = {0x7C00, 0x3FF},
                 [HG_TYPE_BF16] = {0x7F80, 0x7F},
                 [HG_TYPE_F32] = {0x7F800000, 0x7FFFFF},
                 [HG_TYPE_F64] = {UINT64_C(0x7FF) << 52, (UINT64_C(1) << 52) - 1}};
    uint64_t bits = 0;
    if (!hg_type_is_float((hg_type)v->type)) return false;
    for (uint64_t i = 0; i < hg_type_size_bytes((hg_type)v->type); i++)
        bits |= (uint64_t)v->bytes[i] << (8 * i);
    return (bits & PARTS[v->type].exponent) == PARTS[v->type].exponent &&
           (bits & PARTS[v->type].fraction);
}

static bool fits(uint8_t type) {
    return type < HG_TYPE_COUNT && hg_type_size_bytes((hg_type)type) <= OPTIMIZE_VALUE_BYTES;
}

hg_status optimize_evaluate(const hg_program *program, uint32_t inst, const hg_accesses *what,
                            const optimize_value *values, optimize_value *results, bool *done) {
    question q = {.program = program, .inst = inst, .what = what, .values = values};
    hg_program *p = NULL;
    uint8_t out[HG_COUNT_OF(((hg_accesses *)0)->write) * PLACE_BYTES] = {0};
    *done = false;
    for (uint32_t k = 0; k < what->writes; k++)
        if (!what->write[k].is_pred && !fits(what->write[k].want)) return HG_OK;
    write_text(&q);
    hg_status status = q.text.failed ? hg_fail_memory()
                                     : hg_program_assemble(q.text.data, q.text.length, NULL, &p);
    if (status == HG_OK) status = run(p, out, sizeof out, done);
    hg_program_release(p);
    hg_text_free(&q.text);
    for (uint32_t k = 0; k < what->writes; k++) {
        results[k] = (optimize_value){.type = what->write[k].is_pred ? OPTIMIZE_PREDICATE
                                                                     : what->write[k].want};
        memcpy(results[k].bytes, &out[k * PLACE_BYTES],
               what->write[k].is_pred ? 1 : (size_t)hg_type_size_bytes((hg_type)results[k].type));
        if (!what->write[k].is_pred && is_nan(&results[k])) *done = false;
    }
    return status == HG_ERROR_OUT_OF_MEMORY ? status : HG_OK;
}

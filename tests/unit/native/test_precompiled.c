/* Kernels of the operator table that the library carries as native code: each is attached where its
 * program is launched, with the bits and faults of the tile interpreter. */
/* test: labels=code */
#include "support/runtime_support.h"
#include "native/native.h"
#include "base/base.h"
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"
#include "plan/steps/steps.h"
#include "tile/tile_internal.h"
#include <hologram/operators.h>
#include <stdlib.h>

enum { ELEMENTS = 16384, FEW = 40, MOST_BUFFERS = 4 };

static bool is_carried(const hg_operator *r) {
    static const char *const names[] = {"MatMul", "GEMM",      "Conv",   "Concat",
                                        "Split",  "Transpose", "ArgMax", "ArgMin"};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++)
        if (strcmp(names[i], r->operation) == 0) return true;
    return false;
}

/* ---- attached ---- */

static kir_module *lower(const hg_program *program, uint64_t max_steps, hg_plan **plan) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL, *low = NULL;
    kir_caps caps;
    tile_caps(false, &caps);
    CHECK_OK(hg_verify(program, NULL, NULL, &cfg));
    const kir_compilation c = {.program = cfg, .build = {.max_steps = max_steps}, .caps = &caps};
    CHECK_OK(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module));
    CHECK_OK(plan_build(module, PLAN_READS_INPUTS, plan));
    CHECK_OK(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, (*plan)->kernels.data[0].module,
                              &low));
    hg_cfg_destroy(cfg);
    return low;
}

static bool attaches(const hg_operator *r, uint64_t max_steps, tile_level level) {
    hg_program *program = NULL;
    hg_plan *plan = NULL;
    tile_kernel *kernel = NULL;
    CHECK_OK(hg_operator_program(r, &program));
    kir_module *low = lower(program, max_steps, &plan);
    CHECK_OK(tile_compile(low, &(tile_options){.level = level}, &kernel));
    native_attach(level, low, true, kernel);
    bool attached = kernel->native.now != NULL;
    tile_kernel_destroy(kernel);
    if (low != plan->kernels.data[0].module) kir_module_destroy(low);
    plan_destroy(plan);
    hg_program_release(program);
    return attached;
}

/* The kernel of products with the sizes of a CPU level. */
static bool attaches_tile(hg_type type, uint32_t rows, library_tile columns, tile_level level) {
    library_tiles sizes = library_tiles_of(level == TILE_LEVEL_V4 ? LIBRARY_TILES_V4
                                                                  : LIBRARY_TILES_V3);
    plan_kernel_key key = plan_library_key(
        LIBRARY_GEMM_TILE, type, HG_OP_MOV,
        (int32_t[]){(int32_t)type, (int32_t)rows, sizes.sizes[columns], 0, 0, 0}, 3, 13);
    kir_module *module = key.make(&key), *low = NULL;
    tile_kernel *kernel = NULL;
    kir_caps caps;
    tile_caps(false, &caps);
    CHECK(module != NULL);
    CHECK_OK(kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL, KIR_STAGE_LOW,
                              module, &low));
    CHECK_OK(tile_compile(low, &(tile_options){.level = level}, &kernel));
    native_attach(level, low, true, kernel);
    bool attached = kernel->native.now != NULL;
    tile_kernel_destroy(kernel);
    if (low != module) kir_module_destroy(low);
    kir_module_destroy(module);
    return attached;
}

static void check_rows(hg_type type, library_tile rows, library_tile columns, tile_level level) {
    uint32_t most =
        library_tiles_of(level == TILE_LEVEL_V4 ? LIBRARY_TILES_V4 : LIBRARY_TILES_V3).sizes[rows];
    CHECK(attaches_tile(type, most, columns, level));
    CHECK(attaches_tile(type, (most + 1) / 2, columns, level));
    CHECK(attaches_tile(type, 1, columns, level));
    CHECK(!attaches_tile(type, most + 1, columns, level));
}

static void check_products(tile_level level) {
    check_rows(HG_TYPE_F32, LIBRARY_TILE_GEMM_ROWS, LIBRARY_TILE_GEMM_COLUMNS, level);
    check_rows(HG_TYPE_F32, LIBRARY_TILE_GEMM_ROWS, LIBRARY_TILE_GEMM_NARROW, level);
    check_rows(HG_TYPE_F64, LIBRARY_TILE_GEMM_ROWS_F64, LIBRARY_TILE_GEMM_COLUMNS_F64, level);
    check_rows(HG_TYPE_F64, LIBRARY_TILE_GEMM_ROWS_F64, LIBRARY_TILE_GEMM_NARROW_F64, level);
}

/* ---- runs ---- */

typedef struct outcome {
    hg_status status;
    uint64_t lane, instruction;
    char message[512];
    uint8_t *bytes[MOST_BUFFERS];
} outcome;

static uint64_t number_of(const char *name) {
    static const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"m", 13},       {"n", 101},        {"k", 17},          {"rows", 19},
                   {"columns", 23}, {"a_columns", 10}, {"b_columns", 13},  {"batch", 1},
                   {"height", 9},   {"width", 11},     {"in_channels", 2}, {"out_channels", 3},
                   {"kernel_h", 3}, {"kernel_w", 2},   {"out_h", 7},       {"out_w", 10},
                   {"stride_h", 1}, {"stride_w", 1}};
    for (size_t i = 0; i < HG_COUNT_OF(numbers); i++)
        if (strcmp(numbers[i].name, name) == 0) return numbers[i].value;
    return 0;
}

static hg_backend *open_cpu(const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    return b;
}

/* first: elements of the first buffer. */
static void run(hg_backend *b, const hg_operator *r, uint64_t first, outcome *o) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_buffer buffers[MOST_BUFFERS];
    uint64_t size = hg_type_size_bytes(r->type), sizes[MOST_BUFFERS];
    int count = 0;
    memset(o, 0, sizeof *o);
    CHECK_OK(hg_operator_program(r, &program));
    for (uint32_t i = 0; i < program->param_count; i++) {
        const hg_param *p = &program->params[i];
        uint64_t value = number_of(p->name);
        if (p->kind == HG_PARAM_SCALAR && p->type == HG_TYPE_U64 && !p->has_default)
            CHECK_OK(hg_params_set_scalar(params, p->name, HG_TYPE_U64, &value));
        if (p->kind != HG_PARAM_BUFFER) continue;
        sizes[count] = (count ? (uint64_t)ELEMENTS : first) * (p->type == HG_TYPE_U64 ? 8 : size);
        o->bytes[count] = malloc(sizes[count]);
        for (uint64_t n = 0; n < sizes[count]; n++) /* small floats of both signs */
            o->bytes[count][n] = (uint8_t)(n % size == size - 1 ? 0x3c | (n * 7 & 0x80)
                                                                : n * 37 + n / 251);
        buffers[count] = make_buffer(b, o->bytes[count], sizes[count]);
        CHECK_OK(hg_params_set_buffer(params, p->name, buffers[count]));
        count++;
    }
    o->status = hg_backend_execute_program_with_params(b, program, NULL, params);
    if (o->status != HG_OK) {
        o->lane = hg_last_error()->lane;
        o->instruction = hg_last_error()->instruction;
        snprintf(o->message, sizeof o->message, "%s", hg_last_error()->message);
    }
    for (int i = 0; i < count; i++) {
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[i], o->bytes[i], sizes[i]));
        CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    }
    for (int i = count; i < MOST_BUFFERS; i++) sizes[i] = 0;
    hg_params_destroy(params);
    hg_program_release(program);
}

static void compare(hg_backend *interpreter, hg_backend *native, const hg_operator *r,
                    uint64_t first) {
    outcome a, b;
    run(interpreter, r, first, &a);
    run(native, r, first, &b);
    CHECK_MESSAGE(a.status == b.status && a.lane == b.lane && a.instruction == b.instruction &&
                      strcmp(a.message, b.message) == 0,
                  "%s.%s: '%s' at lane %" PRIu64 ", natively '%s' at lane %" PRIu64, r->operation,
                  hg_type_name(r->type), a.message, a.lane, b.message, b.lane);
    CHECK_MESSAGE((first == ELEMENTS) == (a.status == HG_OK), "%s.%s: %s", r->operation,
                  hg_type_name(r->type), a.message);
    for (int i = 0; i < MOST_BUFFERS; i++) {
        uint64_t n = (i ? (uint64_t)ELEMENTS : first) * hg_type_size_bytes(r->type);
        if (a.bytes[i] && a.status == HG_OK)
            CHECK_MESSAGE(memcmp(a.bytes[i], b.bytes[i], n) == 0, "%s.%s: other bits in array %d",
                          r->operation, hg_type_name(r->type), i);
        free(a.bytes[i]);
        free(b.bytes[i]);
    }
}

int main(void) {
    tile_level level = tile_level_best();
    const hg_operator *first = hg_operator_find("MatMul", HG_TYPE_F32);
    if (level < TILE_LEVEL_V3 || !attaches(first, 0, level)) {
        SKIP("this build carries no native code for this machine");
        return test_done();
    }
    CHECK(!attaches(first, 5, level));               /* it counts steps */
    CHECK(!attaches(first, 0, TILE_LEVEL_BASELINE)); /* the level that was asked for has no such
                                                        code */
    for (tile_level l = TILE_LEVEL_V3; l <= level; l++) check_products(l);
    hg_backend *interpreter = open_cpu("off"), *native = open_backend("auto");
    for (size_t i = 0; hg_operator_at(i); i++) {
        const hg_operator *r = hg_operator_at(i);
        if (!is_carried(r)) continue;
        CHECK_MESSAGE(attaches(r, 0, level), "%s.%s has no native code", r->operation,
                      hg_type_name(r->type));
        compare(interpreter, native, r, ELEMENTS);
        compare(interpreter, native, r, FEW);
    }
    hg_backend_destroy(interpreter);
    hg_backend_destroy(native);
    return test_done();
}

/* The C emitter: the text of every kernel compiles without warnings, and run lane by lane it does
 * what the tile interpreter does, bit by bit, faults included. Needs a C compiler named cc. */
#include "emit/emit.h"
#include "isa/cfg.h"
#include "test.h"
#include "tile/tile.h"
#include "kir/pipeline/pipeline.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { LANES = 200, MAX_PARAMS = 8, BYTES = 1 << 16 };

/* As the emitted file defines them. */
typedef struct env_memory {
    uint8_t *base;
    uint64_t size;
    bool valid, pool;
} env_memory;
typedef struct env {
    uint32_t lane_idx[3], block_idx[3], block_dim[3], grid_dim[3];
    uint64_t global_lane_id, lane_count;
    const uint64_t *inputs;
    const env_memory *slots;
    env_memory shared, class_memory;
    env_memory (*resolve)(void *user, uint64_t handle, bool pool, bool flat);
    void (*barrier)(void *user);
    void *user;
    uint64_t fuel;
    bool stopped;
    uint32_t fault, fault_instruction, fault_operand;
    uint64_t fault_offset, fault_limit;
    const char *fault_message;
} env;
typedef void kernel_fn(env *e);

typedef struct setup {
    const hg_program *program;
    uint8_t *memory[MAX_PARAMS];
    uint64_t scalars[MAX_PARAMS];
    uint8_t wide[MAX_PARAMS][64];
} setup;

static bool have_cc;
static char folder[64];

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static int param_of(const hg_program *p, uint8_t reg) {
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].reg == reg) return (int)i;
    return -1;
}

static uint64_t input_value(const setup *s, const kir_input *input) {
    int i = param_of(s->program, input->reg);
    return i < 0                                           ? 0
           : s->program->params[i].kind == HG_PARAM_SCALAR ? s->scalars[i]
                                                           : (uint64_t)i + 1;
}

static kir_module *lower(const hg_program *program, const kir_caps *caps) {
    hg_cfg *cfg = NULL;
    kir_module *low = NULL;
    hg_status status = hg_verify(program, NULL, NULL, &cfg);
    kir_compilation c = {.program = cfg, .caps = caps};
    if (status == HG_OK)
        status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_LOW, NULL, &low);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", program->name ? program->name : "?",
                  hg_last_error_text());
    hg_cfg_destroy(cfg);
    return status == HG_OK ? low : NULL;
}

/* ---- the tile interpreter ---- */

static void run_tiles(const setup *s, tile_fault *fault) {
    kir_caps caps;
    tile_caps(false, &caps);
    kir_module *m = lower(s->program, &caps);
    tile_kernel *kernel = NULL;
    if (!m || tile_compile(m, &(tile_options){.level = TILE_LEVEL_BEST}, &kernel) != HG_OK) {
        CHECK_MESSAGE(false, "%s", hg_last_error_text());
        kir_module_destroy(m);
        return;
    }
    uint64_t inputs[32] = {0};
    tile_memory slots[16] = {{0}};
    CHECK(m->inputs.count <= 32 && m->slots.count <= 16);
    for (uint64_t i = 0; i < m->inputs.count; i++) inputs[i] = input_value(s, &m->inputs.data[i]);
    for (uint64_t i = 0; i < m->slots.count; i++)
        slots[i] = (tile_memory){s->memory[inputs[m->slots.data[i].input] - 1], BYTES, true};
    tile_launch launch = {.grid = {2, 1, 1},
                          .block = {LANES / 2, 1, 1},
                          .lanes = LANES,
                          .inputs = inputs,
                          .slots = slots};
    CHECK(tile_run(kernel, &launch, fault) == HG_OK);
    tile_kernel_destroy(kernel);
    kir_module_destroy(m);
}

/* ---- the emitted text ---- */

static kernel_fn *compile(const char *text, const char *name, void **library) {
    char path[128], command[512];
    snprintf(path, sizeof path, "%s/%s.c", folder, name);
    FILE *out = fopen(path, "w");
    if (!out) return NULL;
    fputs(text, out);
    fclose(out);
    snprintf(command, sizeof command,
             "cc -std=c17 -Wall -Wextra -Wpedantic -Wshadow -Werror -O1 -ffp-contract=off "
             "-fno-math-errno -shared -fPIC %s -o %s.so -lm",
             path, path);
    CHECK_MESSAGE(system(command) == 0, "%s", command);
    snprintf(command, sizeof command, "%s.so", path);
    *library = dlopen(command, RTLD_NOW | RTLD_LOCAL);
    kernel_fn *run = NULL;
    snprintf(path, sizeof path, "%s_kernel", name);
    if (*library) *(void **)&run = dlsym(*library, path);
    CHECK_MESSAGE(run != NULL, "no function %s", path);
    return run;
}

static char *emit(const hg_program *program, kir_module **module) {
    kir_caps caps;
    emit_c_caps(&caps);
    *module = lower(program, &caps);
    if (!*module) return NULL;
    hg_text text = {0};
    const kir_module *kernels[] = {*module};
    hg_status status = emit_c(kernels, 1, "", &text);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    return text.data;
}

static void run_emitted(const setup *s, tile_fault *fault) {
    kir_module *m = NULL;
    char *text = emit(s->program, &m);
    void *library = NULL;
    kernel_fn *run = text ? compile(text, m->name, &library) : NULL;
    if (run) {
        uint64_t inputs[32] = {0};
        env_memory slots[16] = {{0}};
        for (uint64_t i = 0; i < m->inputs.count; i++)
            inputs[i] = input_value(s, &m->inputs.data[i]);
        for (uint64_t i = 0; i < m->slots.count; i++)
            slots[i] = (env_memory){s->memory[inputs[m->slots.data[i].input] - 1], BYTES, true,
                                    false};
        for (uint32_t lane = 0; lane < LANES; lane++) {
            env e = {.lane_idx = {lane % (LANES / 2)},
                     .block_idx = {lane / (LANES / 2)},
                     .block_dim = {LANES / 2, 1, 1},
                     .grid_dim = {2, 1, 1},
                     .global_lane_id = lane,
                     .lane_count = LANES,
                     .inputs = inputs,
                     .slots = slots};
            run(&e);
            if (!e.fault || fault->happened) continue;
            fault->happened = true;
            fault->code = (uint8_t)e.fault;
            fault->lane = lane;
            fault->inst = e.fault_instruction;
            fault->operand = (uint8_t)e.fault_operand;
        }
    }
    if (library) dlclose(library);
    hg_free(text);
    kir_module_destroy(m);
}

/* ---- programs ---- */

static void fill(setup *s, uint64_t seed) {
    random_state = seed * 2654435761u + 88172645463325252u;
    for (uint32_t i = 0; i < s->program->param_count; i++) {
        const hg_param *p = &s->program->params[i];
        if (p->kind == HG_PARAM_SCALAR) {
            s->scalars[i] = p->type == HG_TYPE_U64   ? LANES
                            : p->type == HG_TYPE_F32 ? 0x40200000u
                                                     : next_random();
            continue;
        }
        uint8_t *memory = s->memory[i];
        for (uint64_t k = 0; k < BYTES; k += 4) {
            uint32_t word = (uint32_t)next_random();
            if (p->type == HG_TYPE_F32) { /* ordinary numbers and now and then anything */
                float f = (float)(int32_t)word * 0x1p-24f;
                if (word % 16) memcpy(&word, &f, 4);
            } else if (p->type == HG_TYPE_U64) {
                word = k % 8 ? 0 : word % 100000 + 1;
            }
            memcpy(memory + k, &word, 4);
        }
    }
}

/* NaNs differ in sign and payload between compilers: floats are compared as equal when both are
 * NaN. */
static uint64_t compare(const hg_param *p, const uint8_t *a, const uint8_t *b) {
    if (p->type != HG_TYPE_F32) {
        uint64_t at = 0;
        while (at < BYTES && a[at] == b[at]) at++;
        return at;
    }
    for (uint64_t at = 0; at < BYTES; at += 4) {
        uint32_t x, y;
        memcpy(&x, a + at, 4);
        memcpy(&y, b + at, 4);
        if (x != y && !((x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000)) return at;
    }
    return BYTES;
}

static void test_program(const char *text) {
    hg_program *program = NULL;
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK, "%s",
                  hg_last_error_text());
    if (!program) return;
    setup one = {.program = program}, two = {.program = program};
    for (int i = 0; i < MAX_PARAMS; i++) {
        one.memory[i] = malloc(BYTES);
        two.memory[i] = malloc(BYTES);
        memset(one.memory[i], 0, BYTES);
        memset(two.memory[i], 0, BYTES);
    }
    fill(&one, 1);
    fill(&two, 1);
    tile_fault expected = {0}, got = {0};
    run_tiles(&one, &expected);
    run_emitted(&two, &got);
    CHECK_U64(got.happened, expected.happened);
    if (expected.happened && got.happened) {
        CHECK_U64(got.code, expected.code);
        CHECK_U64(got.lane, expected.lane);
        CHECK_U64(got.inst, expected.inst);
        CHECK_U64(got.operand, expected.operand);
    }
    for (uint32_t i = 0; i < program->param_count && !expected.happened; i++) {
        if (program->params[i].kind == HG_PARAM_SCALAR) continue;
        uint64_t at = compare(&program->params[i], one.memory[i], two.memory[i]);
        CHECK_MESSAGE(at == BYTES, "%s: parameter %u differs at byte %llu", program->name,
                      (unsigned)i, (unsigned long long)at);
    }
    for (int i = 0; i < MAX_PARAMS; i++) {
        free(one.memory[i]);
        free(two.memory[i]);
    }
    hg_program_release(program);
}

static void test_file(const char *name) {
    char path[512], text[8192];
    snprintf(path, sizeof path, "%s/examples/programs/%s", HG_SOURCE_DIR, name);
    FILE *in = fopen(path, "r");
    CHECK_MESSAGE(in != NULL, "cannot open %s", path);
    if (!in) return;
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = 0;
    test_program(text);
}

static const char FUNCTIONS[] =
    ".atlas 1\n.program functions\n.param r1 x buffer f32 in\n.param r2 y buffer f32 inout\n.param "
    "r4 n u64\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.f32 r10, [r1 + r0]\nldg.f32 r11, [r2 + r0]\n"
    "exp.f32 r12, r10\nsin.f32 r13, r11\nadd.f32 r12, r12, r13\ntanh.f32 r13, r10\nmul.f32 r12, "
    "r12, r13\n"
    "abs.f32 r14, r10\nlog.f32 r14, r14\npow.f32 r15, r14, r11\nmax.f32 r12, r12, r14\nfma.f32 "
    "r12, r12, r15, r11\n"
    "round.f32 r13, r11\nrem.f32 r13, r13, r10\nsub.f32 r12, r12, r13\nstg.f32 [r2 + r0], "
    "r12\nexit\n";
static const char HALVES[] =
    ".atlas 1\n.program halves\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n.param r4 "
    "n u64\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.f16 r10, [r1 + r0]\nldg.f16 r11, [r1 + r0 + "
    "2]\nadd.f16 r12, r10, r11\n"
    "setlt.f16 p0, r10, r11\nsel.f16 r12, p0, r12, r10\ncvt.f32.f16 r13, r12\ncvt.bf16.f32 r14, "
    "r13\nstg.bf16 [r2 + r0], r14\n"
    "cvt.i32.f32 r15, r13\ncvt.i8.f32 r16, r13\nstg.i8 [r2 + r0 + 2], r16\nexit\n";
static const char INTEGERS[] =
    ".atlas 1\n.program integers\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n.param "
    "r4 n u64\n"
    "mov_imm.u64 r5, 8\nmul.u64 r0, r255, r5\nldg.i64 r10, [r1 + r0]\nldg.i32 r11, [r1 + r0 + "
    "4]\ncvt.i64.i32 r12, r11\n"
    "mov_imm.i64 r20, 0\nsetne.i64 p1, r12, r20\nmov_imm.i64 r21, 1\nsel.i64 r12, p1, r12, "
    "r21\ndiv.i64 r13, r10, r12\nrem.i64 r14, r10, "
    "r12\n"
    "xor.i64 r13, r13, r14\ncvt.u32.i32 r15, r11\nshl.i64 r13, r13, r15\nshr.i64 r14, r10, "
    "r15\nadd.i64 r13, r13, r14\nabs.i64 r14, r13\n"
    "min.i64 r13, r13, r14\nstg.i64 [r2 + r0], r13\nexit\n";
/* Comparisons that never hold, values that nobody reads: no warnings. */
static const char CORNERS[] =
    ".atlas 1\n.program corners\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.i8 r10, [r1 + r0]\nldg.u32 r11, [r1 + "
    "r0]\nmov_imm.i8 r12, -128\nmov_imm.u32 r13, 0\n"
    "setlt.i8 p0, r10, r12\nsetltu.u32 p1, r11, r13\nsetgt.i8 p2, r10, r10\nsel.u32 r14, p0, r13, "
    "r11\nsel.u32 r14, p1, r13, r14\n"
    "sel.u32 r14, p2, r13, r14\nmul.u32 r15, r14, r14\nldg.u32 r16, [r1 + r0 + 8]\nstg.u32 [r2 + "
    "r0], r14\nexit\n";
static const char DIVISION[] =
    ".atlas 1\n.program division\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.u32 r10, [r1 + r0]\ncvt.u32.u64 r11, "
    "r255\nmov_imm.u32 r12, 77\nxor.u32 r11, r11, r12\n"
    "div.u32 r10, r10, r11\nstg.u32 [r2 + r0], r10\nexit\n";
static const char BOUNDS[] =
    ".atlas 1\n.program bounds\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 500\nmul.u64 r0, r255, r5\nldg.u32 r10, [r1 + r0]\nstg.u32 [r2 + r0 + 4], "
    "r10\nexit\n";
static const char ATOMICS[] =
    ".atlas 1\n.program atomics\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.u32 r10, [r1 + r0]\natom.add.u32 r11, [buf(r2) + "
    "0], "
    "r10\natom.max.u32 r11, [buf(r2) + 4], r10\n"
    "cvt.i32.u32 r12, r10\natom.min.i32 r13, [buf(r2) + 8], r12\natom.xor.u32 r11, [buf(r2) + 12], "
    "r10\nexit\n";

/* Emitted text of a kernel with barriers compiles too; it needs one thread a lane to run. */
static void test_barriers(void) {
    static const char TEXT[] =
        ".atlas 1\n.program barriers\n.param r1 x buffer u32 inout\n.shared 1024\n"
        "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.u32 r10, [r1 + r0]\ncvt.u64.u32 r6, "
        "r252\nmul.u64 r6, r6, "
        "r5\nsts.u32 [shared + r6], r10\nbar.sync 0\n"
        "lds.u32 r11, [shared + 0]\nadd.u32 r10, r10, r11\nstg.u32 [r1 + r0], r10\nexit\n";
    hg_program *program = NULL;
    CHECK_MESSAGE(hg_program_assemble(TEXT, strlen(TEXT), NULL, &program) == HG_OK, "%s",
                  hg_last_error_text());
    if (!program) return;
    kir_module *m = NULL;
    void *library = NULL;
    char *text = emit(program, &m);
    if (text) (void)compile(text, m->name, &library);
    if (library) dlclose(library);
    hg_free(text);
    kir_module_destroy(m);
    hg_program_release(program);
}

int main(void) {
    have_cc = system("cc --version >/dev/null 2>&1") == 0;
    snprintf(folder, sizeof folder, "/tmp/hologram-emit-XXXXXX");
    if (!have_cc || !mkdtemp(folder)) {
        SKIP("no C compiler named cc, or no place for its files");
        return test_done();
    }
    test_file("axpy.atlas");
    test_file("collatz.atlas");
    test_file("gcd3.atlas");
    test_file("wide.atlas");
    test_program(FUNCTIONS);
    test_program(HALVES);
    test_program(INTEGERS);
    test_program(CORNERS);
    test_program(DIVISION);
    test_program(BOUNDS);
    test_program(ATOMICS);
    test_barriers();
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    return test_done();
}

/* Proofs that a launch stays in bounds, against the reference interpreter running the same launch:
 * what is proven must not fault. Known kernels must be proven (or must not be).
 * test: labels=slow */
#include "isa/cfg.h"
#include "kir/analysis/prove.h"
#include "kir/parse.h"
#include "reference/reference.h"
#include "test.h"
#include "kir/pipeline/pipeline.h"

#include <stdarg.h>
#include <stdlib.h>

typedef struct launch {
    uint64_t n, m, bytes;
    ref_launch dims;
} launch;

enum { HANDLE = 1 };

static kir_module *lower(const char *text, hg_program **program) {
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    *program = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, program);
    if (status == HG_OK) status = hg_verify(*program, NULL, NULL, &cfg);
    if (status == HG_OK)
        status = kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                                  KIR_STAGE_KERNEL, NULL, &m);
    CHECK_MESSAGE(status == HG_OK, "%s\n%s", hg_last_error_text(), text);
    hg_cfg_destroy(cfg);
    return status == HG_OK ? m : NULL;
}

static bool prove(kir_module *m, const launch *l) {
    uint64_t inputs[8] = {0}, sizes[4] = {0};
    for (uint64_t i = 0; i < m->inputs.count && i < 8; i++) {
        uint8_t reg = m->inputs.data[i].reg;
        inputs[i] = reg == 1 ? HANDLE : reg == 3 ? l->n : l->m;
    }
    for (uint64_t i = 0; i < m->slots.count && i < 4; i++) sizes[i] = l->bytes;
    kir_prove_launch p = {.lanes = l->dims.lanes,
                          .inputs = inputs,
                          .slot_bytes = sizes,
                          .shared_bytes = l->dims.shared};
    memcpy(p.grid, l->dims.grid, sizeof p.grid);
    memcpy(p.block, l->dims.block, sizeof p.block);
    kir_prover *prover = NULL;
    bool ok = kir_prover_create(m, &prover) == HG_OK && kir_prove(prover, &p);
    kir_prover_destroy(prover);
    return ok;
}

/* Whether some lane left its bounds. */
static bool leaves_bounds(const hg_program *program, const launch *l, const uint8_t *bytes) {
    uint8_t *copy = malloc(l->bytes + 1);
    uint64_t handle = HANDLE;
    ref_fault fault = {0};
    ref_machine *r = ref_create(program);
    memcpy(copy, bytes, l->bytes);
    ref_bind(r, REF_BUFFER, HANDLE, copy, l->bytes);
    ref_set_register(r, 1, HG_TYPE_U64, &handle);
    ref_set_register(r, 3, HG_TYPE_U64, &l->n);
    ref_set_register(r, 4, HG_TYPE_U64, &l->m);
    ref_launch dims = l->dims;
    dims.max_steps = 400;
    ref_outcome outcome = ref_run(r, &dims, &fault);
    ref_destroy(r);
    free(copy);
    return outcome == REF_FAULT && strcmp(fault.code, "F01") == 0;
}

#define HEAD ".atlas 1\n.program p\n.param r1 b buffer u8 inout\n.param r3 n u64\n.param r4 m u64\n"

/* ---- known kernels ---- */

static const struct {
    const char *what, *body;
    uint64_t n, m, bytes, lanes;
    bool proven;
} KNOWN[] = {
    {"a lane an element", " mov_imm.u32 r9, 2\n shl.u64 r10, r255, r9\n ldg.u32 r11, [r1 + r10]\n",
     0, 0, 40, 10, true},
    {"one byte too few", " mov_imm.u32 r9, 2\n shl.u64 r10, r255, r9\n ldg.u32 r11, [r1 + r10]\n",
     0, 0, 39, 10, false},
    {"a displacement", " ldg.u32 r11, [r1 + r255 + 4]\n", 0, 0, 17, 10, true},
    {"a displacement below zero", " ldg.u32 r11, [r1 + r255 - 1]\n", 0, 0, 170, 10, false},
    {"a guard", " setgeu.u64 p0, r255, r3\n bra.p0 @out\n ldg.u8 r11, [r1 + r255]\nout:\n exit\n",
     10, 0, 10, 64, true},
    {"a guard that is too late",
     " mov_imm.u64 r9, 8\n mul.u64 r10, r255, r9\n setgeu.u64 p0, r255, r3\n bra.p0 @out\n ldg.u64 "
     "r11, [r1 + r10]\nout:\n exit\n",
     10, 0, 80, 64, true},
    {"a guard of one more",
     " setgtu.u64 p0, r255, r3\n bra.p0 @out\n ldg.u8 r11, [r1 + r255]\nout:\n exit\n", 10, 0, 10,
     64, false},
    {"a loop tested above",
     " mov_imm.u64 r9, 1\n mov_imm.u64 r10, 0\ntop:\n setgeu.u64 p0, r10, r3\n bra.p0 @out\n "
     "ldg.u8 r11, [r1 + r10]\n"
     " add.u64 r10, r10, r9\n bra @top\nout:\n exit\n",
     10, 0, 10, 4, true},
    {"a loop tested below",
     " mov_imm.u64 r9, 1\n mov_imm.u64 r10, 0\ntop:\n ldg.u8 r11, [r1 + r10]\n add.u64 r10, r10, "
     "r9\n"
     " setltu.u64 p0, r10, r3\n bra.p0 @top\n exit\n",
     10, 0, 10, 4, true},
    {"a loop that goes one too far",
     " mov_imm.u64 r9, 1\n mov_imm.u64 r10, 0\ntop:\n ldg.u8 r11, [r1 + r10]\n add.u64 r10, r10, "
     "r9\n"
     " setleu.u64 p0, r10, r3\n bra.p0 @top\n exit\n",
     10, 0, 10, 4, false},
    {"a loop in a loop",
     " mov_imm.u64 r9, 1\n mov_imm.u64 r10, 0\nouter:\n mov_imm.u64 r12, 0\ninner:\n mul.u64 r13, "
     "r10, r4\n add.u64 r13, r13, r12\n"
     " ldg.u8 r11, [r1 + r13]\n add.u64 r12, r12, r9\n setltu.u64 p0, r12, r4\n bra.p0 @inner\n "
     "add.u64 r10, r10, r9\n"
     " setltu.u64 p0, r10, r3\n bra.p0 @outer\n exit\n",
     7, 5, 35, 2, true},
    {"a clamped index", " mov_imm.u64 r9, 31\n min.u64 r10, r255, r9\n ldg.u8 r11, [r1 + r10]\n", 0,
     0, 32, 100, true},
    {"an index out of memory",
     " ldg.u8 r10, [r1 + r255]\n cvt.u64.u8 r11, r10\n ldg.u8 r12, [r1 + r11]\n", 0, 0, 256, 10,
     true},
    {"the same, too large",
     " ldg.u8 r10, [r1 + r255]\n cvt.u64.u8 r11, r10\n ldg.u8 r12, [r1 + r11]\n", 0, 0, 255, 10,
     false},
    {"a mirrored index",
     " mov_imm.u64 r9, 1\n sub.u64 r10, r3, r9\n sub.u64 r10, r10, r255\n ldg.u8 r12, [r1 + r10]\n",
     10, 0, 10, 10, true},
    {"a call",
     " mov.u64 r10, r255\n call @f\n exit\nf:\n setgeu.u64 p0, r10, r3\n bra.p0 @g\n ldg.u8 r11, "
     "[r1 + r10]\ng:\n ret\n",
     10, 0, 10, 20, true},
};

static void known(void) {
    uint8_t zeros[256] = {0};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        char text[2048];
        hg_program *program;
        snprintf(text, sizeof text, HEAD "%s", KNOWN[i].body);
        kir_module *m = lower(text, &program);
        if (!m) continue;
        launch l = {KNOWN[i].n,
                    KNOWN[i].m,
                    KNOWN[i].bytes,
                    {{1, 1, 1}, {(uint32_t)KNOWN[i].lanes, 1, 1}, .lanes = KNOWN[i].lanes}};
        bool proven = prove(m, &l);
        CHECK_MESSAGE(proven == KNOWN[i].proven, "%s: %s", KNOWN[i].what,
                      proven ? "proven" : "not proven");
        if (proven) CHECK(!leaves_bounds(program, &l, zeros));
        kir_module_destroy(m);
        hg_program_release(program);
    }
}

/* A plane of blocks with a guard in each direction. */
static void plane(void) {
    static const char BODY[] = HEAD " rdid r20, block_idx_x\n rdid r21, block_dim_x\n rdid r22, "
                                    "lane_idx_x\n mul.u32 r20, r20, r21\n add.u32 r20, r20, r22\n"
                                    " cvt.u64.u32 r10, r20\n rdid r20, block_idx_y\n rdid r21, "
                                    "block_dim_y\n rdid r22, lane_idx_y\n mul.u32 r20, r20, r21\n"
                                    " add.u32 r20, r20, r22\n cvt.u64.u32 r11, r20\n setgeu.u64 "
                                    "p0, r10, r3\n bra.p0 @out\n setgeu.u64 p0, r11, r4\n"
                                    " bra.p0 @out\n mul.u64 r12, r11, r3\n add.u64 r12, r12, r10\n "
                                    "ldg.u8 r13, [r1 + r12]\nout:\n exit\n";
    hg_program *program;
    kir_module *m = lower(BODY, &program);
    if (!m) return;
    launch l = {10, 7, 70, {{3, 2, 1}, {4, 4, 1}, .lanes = 96}};
    CHECK(prove(m, &l));
    l.bytes = 69;
    CHECK(!prove(m, &l));
    kir_module_destroy(m);
    hg_program_release(program);
}

/* ---- random kernels ---- */

static uint64_t random_state;
static uint64_t below(uint64_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % n;
}

typedef struct writer {
    char text[16384];
    size_t length;
    uint32_t labels, depth, calls;
} writer;

static void put(writer *w, const char *format, ...) HG_PRINTF(2, 3);
static void put(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(w->text + w->length, sizeof w->text - w->length, format, list);
    va_end(list);
    if (n > 0 && w->length + (size_t)n < sizeof w->text) w->length += (size_t)n;
}

static unsigned any(void) { /* a register */
    static const unsigned REGS[] = {10, 11, 12, 13, 14, 15, 3, 4, 255};
    return REGS[below(sizeof REGS / sizeof *REGS)];
}
static unsigned own(void) { return 10 + (unsigned)below(6); }

static void compute(writer *w) {
    static const char *const OPS[] = {"add", "add", "add", "sub", "mul", "and", "and",
                                      "or",  "xor", "min", "min", "max", "rem", "div"};
    unsigned d = own();
    switch (below(6)) {
    case 0: put(w, " mov_imm.u64 r%u, %u\n", d, (unsigned)below(20)); return;
    case 1:
        put(w, " mov_imm.u64 r30, %u\n and.u64 r%u, r%u, r30\n", (1u << below(6)) - 1, d, any());
        return;
    case 2:
        put(w, " mov_imm.u32 r31, %u\n %s.u64 r%u, r%u, r31\n", (unsigned)below(4),
            below(2) ? "shl" : "shr", d, any());
        return;
    default: break;
    }
    const char *op = OPS[below(sizeof OPS / sizeof *OPS)];
    unsigned b = any();
    if (op[0] == 'r' || op[0] == 'd') { /* of at least 1 */
        put(w, " mov_imm.u64 r30, 1\n or.u64 r30, r%u, r30\n", b);
        b = 30;
    }
    put(w, " %s.u64 r%u, r%u, r%u\n", op, d, any(), b);
}

static void compare(writer *w) {
    static const char *const SETS[] = {"setltu", "setleu", "setgtu", "setgeu", "seteq", "setne"};
    put(w, " %s.u64 p0, r%u, r%u\n", SETS[below(6)], any(), any());
}

static void access_memory(writer *w) {
    static const char *const TYPES[] = {"u8", "u16", "u32", "u64"};
    const char *type = TYPES[below(4)];
    unsigned index = any();
    int disp = (int)below(12) - (below(8) ? 0 : 6);
    if (disp)
        put(w, " ldg.%s r%u, [r1 + r%u %c %d]\n", type,
            strcmp(type, "u64") ? 40 + (unsigned)type[1] % 3 : own(), index, disp < 0 ? '-' : '+',
            abs(disp));
    else
        put(w, " ldg.%s r%u, [r1 + r%u]\n", type,
            strcmp(type, "u64") ? 40 + (unsigned)type[1] % 3 : own(), index);
    if (!strcmp(type, "u8") && below(2))
        put(w, " cvt.u64.u8 r%u, r%u\n", own(), 40 + (unsigned)type[1] % 3);
}

static void statements(writer *w, unsigned count);

static void branch(writer *w) {
    uint32_t l = w->labels++;
    compare(w);
    if (below(5) == 0) {
        put(w, " bra.p0 @out\n");
        return;
    }
    put(w, " bra.p0 @a%u\n", l);
    statements(w, 1 + (unsigned)below(3));
    if (below(2)) {
        put(w, " bra @b%u\na%u:\n", l, l);
        statements(w, 1 + (unsigned)below(2));
        put(w, "b%u:\n", l);
    } else {
        put(w, "a%u:\n", l);
    }
}

static void loop(writer *w) {
    uint32_t l = w->labels++;
    unsigned counter = 20 + w->depth, bound = 24 + w->depth, step = 1 + (unsigned)below(2);
    put(w, " mov_imm.u64 r30, 15\n and.u64 r%u, r%u, r30\n mov_imm.u64 r%u, %u\na%u:\n", bound,
        any(), counter, (unsigned)below(3), l);
    bool above = below(2);
    if (above) put(w, " setgeu.u64 p1, r%u, r%u\n bra.p1 @b%u\n", counter, bound, l);
    if (below(3)) put(w, " mov.u64 r%u, r%u\n", own(), counter);
    statements(w, 1 + (unsigned)below(4));
    put(w, " mov_imm.u64 r30, %u\n add.u64 r%u, r%u, r30\n", step, counter, counter);
    if (above)
        put(w, " bra @a%u\nb%u:\n", l, l);
    else
        put(w, " setltu.u64 p1, r%u, r%u\n bra.p1 @a%u\n", counter, bound, l);
}

static void statements(writer *w, unsigned count) {
    w->depth++;
    for (unsigned i = 0; i < count; i++) {
        uint64_t kind = below(12);
        if (kind < 5 || w->depth > 3)
            compute(w);
        else if (kind < 8)
            access_memory(w);
        else if (kind < 10)
            branch(w);
        else
            loop(w);
    }
    w->depth--;
}

static bool random_kernel(uint64_t seed, bool *faulted) {
    static writer w;
    random_state = seed * 977 + 5;
    memset(&w, 0, sizeof w);
    put(&w, HEAD);
    for (unsigned i = 10; i < 16; i++) put(&w, " mov_imm.u64 r%u, %u\n", i, (unsigned)below(9));
    statements(&w, 3 + (unsigned)below(4));
    access_memory(&w);
    put(&w, "out:\n exit\n");
    launch l = {below(24),
                below(24),
                8 + below(300),
                {{1 + (uint32_t)below(3), 1, 1}, {1 + (uint32_t)below(7), 1, 1}, .lanes = 0}};
    uint64_t most = (uint64_t)l.dims.grid[0] * l.dims.block[0];
    l.dims.lanes = most - below(l.dims.block[0]);
    uint8_t bytes[320];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)below(below(2) ? 256 : 4);
    hg_program *program;
    kir_module *m = lower(w.text, &program);
    if (!m) return false;
    bool proven = prove(m, &l);
    *faulted = leaves_bounds(program, &l, bytes);
    CHECK_MESSAGE(!proven || !*faulted,
                  "seed %" PRIu64 ": proven, but it leaves its bounds (n %" PRIu64 ", m %" PRIu64
                  ", %" PRIu64 " bytes, %" PRIu64 " lanes)\n%s",
                  seed, l.n, l.m, l.bytes, l.dims.lanes, w.text);
    kir_module_destroy(m);
    hg_program_release(program);
    return proven;
}

/* An offset from the plan's environment: proven where the host knows it and it is inside. */
static void uniforms(void) {
    static const char *const TEXT =
        "module t\ninput 0: u64 param 1 buffer \"x\"\n\nfunction @main() -> void {\n"
        "  %zero: u64 = const 0\n  %x = input 0\n"
        "  %at: u64 = load buffer.uniforms unchecked %zero [8]\n"
        "  %v: u32 = load buffer %x [%at]\n  store buffer %x [], %v\n}\n";
    kir_module *m = NULL, *with_slots = NULL;
    kir_prover *prover = NULL;
    CHECK(kir_parse(TEXT, strlen(TEXT), NULL, &m) == HG_OK);
    CHECK(kir_pipeline_run(&(kir_compilation){.verify = true}, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL,
                           m, &with_slots) == HG_OK);
    CHECK(kir_prover_create(with_slots, &prover) == HG_OK);
    uint64_t input = HANDLE, values[2] = {1000, 60}, sizes[2] = {64, 64};
    bool unknown[2] = {true, false};
    kir_prove_launch p = {
        .lanes = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}, .inputs = &input, .slot_bytes = sizes};
    CHECK(!kir_prove(prover, &p));
    p.uniforms = (const uint8_t *)values;
    p.unknown = unknown;
    CHECK(kir_prove(prover, &p));
    values[1] = 61;
    CHECK(!kir_prove(prover, &p));
    values[1] = 60;
    unknown[1] = true;
    CHECK(!kir_prove(prover, &p));
    kir_prover_destroy(prover);
    if (with_slots != m) kir_module_destroy(with_slots);
    kir_module_destroy(m);
}

int main(int argc, char **argv) {
    uint64_t proven = 0, inside = 0, count = argc > 1 ? strtoull(argv[1], NULL, 0) : 3000;
    known();
    plane();
    uniforms();
    for (uint64_t seed = 0; seed < count; seed++) {
        bool faulted = true;
        proven += random_kernel(seed, &faulted);
        inside += !faulted;
    }
    CHECK_MESSAGE(proven * 4 > inside,
                  "only %" PRIu64 " of %" PRIu64 " launches that stay in bounds were proven",
                  proven, inside);
    return test_done();
}

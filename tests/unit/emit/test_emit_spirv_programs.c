/* The SPIR-V emitter on whole programs: every device form of them is a valid module that goes
 * through its text unchanged. Failing allocations, devices that lack a type and damaged modules are
 * errors and nothing else.
 * test: labels=slow */
#include "isa/cfg.h"
#include "support/spirv_kit.h"
#include "kir/builder.h"
#include "kir/pipeline/pipeline.h"
#include <hologram/program.h>

/* ---- what may go wrong ---- */

static uint64_t allocations_left, blocks;
static void *scarce(void *user, void *old, size_t size) {
    (void)user;
    if (allocations_left == 0) return NULL;
    allocations_left--;
    void *block = realloc(old, size);
    if (block && !old) blocks++;
    return block;
}
static void give_back(void *user, void *block) {
    (void)user;
    blocks--;
    free(block);
}

/* Every allocation fails in turn: an error, nothing lost. */
static void test_no_memory(void) {
    static const hg_allocator SCARCE = {sizeof(hg_allocator), NULL, scarce, give_back};
    kit made, *k = &made;
    emit_spirv_options o;
    begin(k, &WAYS[0], "scarce", 2);
    static const uint32_t NUMBERS[64] = {1, 2, 3};
    kir_table *table = kir_table_create(k->m, HG_TYPE_U32, 64, NUMBERS, "table");
    kir_function *helper = kir_function_create(k->m, "helper", HG_TYPE_U32);
    kir_builder b;
    kir_builder_init(&b, k->m, helper);
    helper->param_count = 1;
    helper->param_types[0] = HG_TYPE_U32;
    kir_value *x = kir_param(&b, 0);
    for (uint32_t i = 0; i < 200; i++)
        x = kir_binary(&b, KIR_MUL, x, kir_const(&b, HG_TYPE_U32, 1000 + i)); /* tables have to grow
                                                                               */
    kir_return(
        &b, kir_table_get(&b, table, kir_binary(&b, KIR_AND, x, kir_const(&b, HG_TYPE_U32, 63))));
    kir_value *arg = load(k, HG_TYPE_U32, 0, offset(k, k->thread, 4, 0));
    store(k, 1, offset(k, k->thread, 4, 0), kir_call(&k->b, helper, 1, &arg, NULL));
    set_options(k, &o);
    hg_status status = HG_ERROR_OUT_OF_MEMORY, printed = HG_ERROR_OUT_OF_MEMORY;
    uint64_t tries = 0;
    while ((status == HG_ERROR_OUT_OF_MEMORY || printed == HG_ERROR_OUT_OF_MEMORY) &&
           tries < 1000) {
        emit_words words = {0};
        hg_text text = {0};
        CHECK(hg_set_allocator(&SCARCE) == HG_OK);
        blocks = 0;
        allocations_left = tries++;
        status = emit_spirv(k->m, &k->layout, &o, &words);
        printed = status == HG_OK ? emit_spirv_text(words.data, words.count, "", &text) : status;
        CHECK(status == HG_OK || words.count == 0);
        hg_vec_free(&words);
        hg_text_free(&text);
        CHECK_U64(blocks, 0);
        CHECK(hg_set_allocator(NULL) == HG_OK);
    }
    CHECK(status == HG_OK && printed == HG_OK && tries > 20);
    end(k);
}

static void test_refusals(void) {
    kit made, *k = &made;
    emit_spirv_options o;
    emit_words words = {0};
    begin(k, &WAYS[0], "wide", 1);
    kir_value *at = offset(k, k->thread, 8, 0);
    store(k, 0, at, load(k, HG_TYPE_U64, 0, at));
    kir_value *number = load(k, HG_TYPE_F64, 0, at);
    store(k, 0, at,
          kir_select(&k->b, kir_binary(&k->b, KIR_FCMP_LT, number, kir_f64(&k->b, 0.1)),
                     kir_f64(&k->b, 1e-310), number));
    set_options(k, &o);
    o.caps.i64 = false;
    CHECK(emit_spirv(k->m, &k->layout, &o, &words) == HG_ERROR_ISA && words.count == 0);
    o.caps.i64 = true;
    CHECK(emit_spirv(k->m, &k->layout, &o, &words) == HG_OK);
    for (uint64_t count = 0; count < words.count; count++) { /* cut anywhere: text or an error,
                                                                nothing else */
        hg_text text = {0};
        hg_status status = emit_spirv_text(words.data, count, "", &text);
        CHECK(status == HG_OK || status == HG_ERROR_INVALID_ARGUMENT);
        hg_text_free(&text);
    }
    for (uint64_t i = 0; i < words.count; i++) {
        uint32_t word = words.data[i];
        for (int n = 0; n < 8; n++) {
            hg_text text = {0};
            words.data[i] = word ^ 1u << below(32);
            hg_status status = emit_spirv_text(words.data, words.count, "", &text);
            CHECK(status == HG_OK || status == HG_ERROR_INVALID_ARGUMENT);
            hg_text_free(&text);
        }
        words.data[i] = word;
    }
    hg_vec_free(&words);
    end(k);
}

/* ---- programs ---- */

static const char FUNCTIONS[] =
    ".atlas 1\n.program functions\n.param r1 x buffer f32 in\n.param r2 y buffer f32 inout\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.f32 r10, [r1 + r0]\nldg.f32 r11, [r2 + r0]\n"
    "exp.f32 r12, r10\nsin.f32 r13, r11\nadd.f32 r12, r12, r13\nabs.f32 r14, r10\nlog.f32 r14, "
    "r14\npow.f32 r15, r14, r11\n"
    "max.f32 r12, r12, r14\nfma.f32 r12, r12, r15, r11\nrem.f32 r13, r13, r10\nsub.f32 r12, r12, "
    "r13\nstg.f32 [r2 + r0], r12\nexit\n";
static const char NARROW[] =
    ".atlas 1\n.program narrow\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.f16 r10, [r1 + r0]\nldg.bf16 r11, [r1 + r0 + "
    "2]\ncvt.f16.bf16 r11, r11\n"
    "add.f16 r12, r10, r11\nstg.f16 [r2 + r0], r12\ncvt.i8.f16 r16, r12\nstg.i8 [r2 + r0 + 2], "
    "r16\nldg.i64 r17, [r1 + r0]\n"
    "cvt.f64.i64 r18, r17\nsqrt.f64 r18, r18\nstg.f64 [r2 + r0], r18\nexit\n";
static const char OPEN[] =
    ".atlas 1\n.program open\n.param r1 x buffer u64 in\n.param r2 y buffer u32 inout\n"
    "mov_imm.u64 r5, 8\nmul.u64 r0, r255, r5\nldg.u64 r10, [r1 + r0]\nldg.u32 r11, [r10 + 4]\n"
    "cvt.u8.u32 r12, r11\nstg.u8 [r10 + 8], r12\natom.add.u32 r11, [buf(r2) + 4], r11\nexit\n";
static const char SHARED[] =
    ".atlas 1\n.program shared\n.param r1 x buffer u32 inout\n.shared 1024\n"
    "mov_imm.u64 r5, 4\nmul.u64 r0, r255, r5\nldg.u32 r10, [r1 + r0]\ncvt.u64.u32 r6, "
    "r252\nmul.u64 r6, r6, r5\n"
    "sts.u32 [shared + r6], r10\nbar.sync 0\nlds.u32 r11, [shared + 0]\nadd.u32 r10, r10, r11\n"
    "stg.u32 [r1 + r0], r10\nexit\n";

static hg_status lower(const hg_program *program, const kit *k, const kir_device_options *how,
                       kir_module **out, kir_device_layout *layout) {
    emit_spirv_options o;
    hg_cfg *cfg = NULL;
    set_options(k, &o);
    o.caps.subnormals = k->how->i64;
    o.caps.name = "test";
    hg_status status = hg_verify(program, NULL, NULL, &cfg);
    kir_compilation c = {.program = cfg, .caps = &o.caps, .device = how, .layout = layout};
    if (status == HG_OK)
        status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_DEVICE, NULL, out);
    hg_cfg_destroy(cfg);
    return status;
}

/* Variables that are said to share no memory with others. One memory read in elements of two sizes
 * is two variables, which share it. */
static uint32_t count_restricted(const kit *k, const emit_words *words) {
    enum { OP_DECORATE = 71, RESTRICT = 19, ALIASED = 20, BINDING = 33, MOST_IDS = 100000 };
    static uint32_t binding[MOST_IDS];
    static bool restricted[MOST_IDS];
    uint32_t variables[64] = {0}, count = 0, bound = words->data[3];
    CHECK(bound < MOST_IDS);
    memset(binding, 0, sizeof binding);
    memset(restricted, 0, sizeof restricted);
    for (uint64_t at = 5; at < words->count && bound < MOST_IDS; at += words->data[at] >> 16) {
        const uint32_t *w = words->data + at;
        if ((w[0] & 0xffff) != OP_DECORATE) continue;
        if (w[2] == BINDING) binding[w[1]] = w[3] % 64 + 1;
        if (w[2] == BINDING) variables[w[3] % 64]++;
        restricted[w[1]] |= w[2] == RESTRICT;
    }
    for (uint32_t id = 0; id < bound; id++) {
        if (!restricted[id] || !binding[id]) continue;
        count++;
        CHECK_MESSAGE(variables[binding[id] - 1] == 1, "%s (%s): binding %u is several variables",
                      k->m->name, k->how->name, (unsigned)binding[id] - 1);
    }
    return count;
}

/* Memory that atomic operations reach is read and written by them alone. Returns how often it is
 * read or written. */
static uint32_t count_atomic(const kit *k, const emit_words *words) {
    enum {
        OP_LOAD = 61,
        OP_STORE = 62,
        OP_CHAIN = 65,
        OP_DECORATE = 71,
        OP_ATOMIC_LOAD = 227,
        OP_ATOMIC_STORE = 228
    };
    enum { BINDING = 33, MOST_IDS = 100000 };
    static bool atomic[MOST_IDS];
    uint32_t count = 0;
    memset(atomic, 0, sizeof atomic);
    CHECK(words->data[3] < MOST_IDS);
    for (uint64_t at = 5; at < words->count && words->data[3] < MOST_IDS;
         at += words->data[at] >> 16) {
        const uint32_t *w = words->data + at, op = w[0] & 0xffff;
        if (op == OP_DECORATE && w[2] == BINDING && w[3] < k->layout.atomic_bindings.count)
            atomic[w[1]] = k->layout.atomic_bindings.data[w[3]];
        if (op == OP_CHAIN) atomic[w[2]] = atomic[w[3]];
        bool plain = (op == OP_LOAD && atomic[w[3]]) || (op == OP_STORE && atomic[w[1]]);
        CHECK_MESSAGE(!plain, "%s (%s): memory with atomics is reached without one", k->m->name,
                      k->how->name);
        count += (op == OP_ATOMIC_LOAD && atomic[w[3]]) || (op == OP_ATOMIC_STORE && atomic[w[1]]);
    }
    return count;
}

/* The device forms of a program are valid modules, in both forms where they exist. restricted:
 * variables of distinct slots where memory has no addresses and elements of all sizes. */
typedef enum memories { ANY, DISTINCT, ONE_ARENA, WGSL } memories;
static uint32_t atomics; /* reads and writes of memory that atomic operations reach */
static void test_program(const char *text, bool grouped, memories how, uint32_t restricted) {
    hg_program *program = NULL;
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), NULL, &program) == HG_OK, "%s",
                  hg_last_error_text());
    for (size_t way_index = 0; program && way_index < sizeof WAYS / sizeof *WAYS; way_index++)
        for (int form = grouped ? KIR_FORM_BLOCK : KIR_FORM_FLAT; form <= KIR_FORM_BLOCK; form++) {
            kit k = {.how = &WAYS[way_index], .group_memory = 4096};
            emit_spirv_options o;
            set_options(&k, &o);
            kir_device_options options = {.target = o.target,
                                          .form = (uint8_t)form,
                                          .small = form == KIR_FORM_FLAT,
                                          .fold = 1};
            options.target.max_arenas = 4;
            options.distinct = how == DISTINCT ? UINT64_MAX : 0;
            options.target.bind_arenas = (how == ONE_ARENA || how == WGSL) && !o.target.addressed;
            if (how == WGSL && (o.target.addressed || !k.how->words))
                continue; /* has neither addresses nor anything but words */
            if (how == WGSL)
                options.target = (kir_device_target){.i64 = o.target.i64,
                                                     .bind_arenas = true,
                                                     .whole_atomics = true,
                                                     .shown_uniform = true};
            if (options.target.bind_arenas)
                options.target.max_arenas = 1; /* everything lies in number 0 */
            hg_status status = lower(program, &k, &options, &k.m, &k.layout);
            CHECK_MESSAGE(status == HG_OK, "%s (%s): %s", program->name, k.how->name,
                          hg_last_error_text());
            if (status == HG_OK) {
                emit_words words = {0};
                o.target = options.target;
                o.record_is_pushed &= k.layout.record_bytes <= 128;
                status = emit_spirv(k.m, &k.layout, &o, &words);
                CHECK_MESSAGE(status == HG_OK, "%s (%s): %s", program->name, k.how->name,
                              hg_last_error_text());
                if (status == HG_OK) check_words(&k, &words);
                uint32_t found = status == HG_OK ? count_restricted(&k, &words) : 0;
                if (how != DISTINCT || o.target.addressed) CHECK_U64(found, 0);
                if (options.target.bind_arenas) CHECK_U64(k.layout.binding_count, 1);
                if (how == WGSL && status == HG_OK) atomics += count_atomic(&k, &words);
                if (how == DISTINCT && !o.target.addressed && !k.how->words)
                    CHECK_U64(found, restricted);
                hg_vec_free(&words);
            }
            kir_device_layout_free(&k.layout);
            kir_module_destroy(k.m);
        }
    hg_program_release(program);
}

static void test_all(const char *text, bool grouped, uint32_t restricted) {
    test_program(text, grouped, ANY, 0);
    test_program(text, grouped, DISTINCT, restricted);
    test_program(text, grouped, ONE_ARENA, 0);
    test_program(text, grouped, WGSL, 0);
}

static void test_file(const char *name, bool grouped, uint32_t restricted) {
    char path[512], text[8192];
    snprintf(path, sizeof path, "%s/examples/programs/%s", HG_SOURCE_DIR, name);
    FILE *in = fopen(path, "r");
    CHECK_MESSAGE(in != NULL, "cannot open %s", path);
    if (!in) return;
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    test_all(text, grouped, restricted);
}

int main(void) {
    open_folder();
    for (int i = 0; i < 2; i++) {
        float_controls.float_controls_rte[i] = float_controls.float_controls_preserve[i] = true;
        float_controls.float_controls_inf_nan[i] = true;
    }
    test_no_memory();
    test_refusals();
    test_file("axpy.atlas", false, 2);
    test_file("collatz.atlas", false, 2);
    test_file("gcd3.atlas", false, 4);
    test_file("wide.atlas", false, 4);
    test_file("block_reverse.atlas", true, 1);
    test_all(FUNCTIONS, false, 2);
    test_all(NARROW, false, 0);
    test_all(OPEN, false, 0);
    test_all(SHARED, true, 1);
    CHECK(atomics > 0);
    close_folder();
    return test_done();
}

/* The builder: what it makes is what the assembler makes of the same program; every mistake is reported; the generated header is
 * up to date and covers every instruction. */
#include "support/failing_allocator.h"
#include "test.h"
#include "base/base.h"
#include "isa/program.h"
#include <hologram/builder.h>

#define HG_GEN_BUILDER_NO_MAIN
#include "../../../tools/gen_builder.c"

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n"

/* The built program and the text encode to the same bytes. */
static void same_as(const char *what, hg_builder *b, const char *text) {
    hg_program *built = NULL, *assembled = NULL;
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    hg_status status = hg_builder_build(b, NULL, &built);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error()->message);
    status = hg_program_assemble(text, strlen(text), NULL, &assembled);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error()->message);
    if (built && assembled) {
        CHECK(hg_program_encode(built, 0, &x, &n) == HG_OK && hg_program_encode(assembled, 0, &y, &m) == HG_OK);
        bool same = n == m && memcmp(x, y, n) == 0;
        CHECK_MESSAGE(same, "%s: builder and assembler differ", what);
        char *printed = NULL;
        if (!same && hg_program_print(built, &printed, &n) == HG_OK) fprintf(stderr, "%s", printed);
        hg_string_free(printed);
        hg_string_free((char *)x);
        hg_string_free((char *)y);
    }
    hg_program_release(built);
    hg_program_release(assembled);
    hg_builder_destroy(b);
}

static void fails(const char *what, hg_builder *b, const char *code, const char *message) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK_MESSAGE(hg_builder_build(b, d, &p) == HG_ERROR_ISA && p == NULL, "%s is accepted", what);
    CHECK_TEXT(hg_last_error()->message, message);
    CHECK_TEXT(hg_last_error()->code, code);
    CHECK_U64(hg_diagnostics_errors(d), 1);
    hg_diagnostics_destroy(d);
    hg_program_release(p);
    hg_builder_destroy(b);
}

static void test_axpy(void) {
    hg_dim n = hg_dim_param("n");
    hg_builder *b = hg_builder_create("axpy");
    hg_builder_param_buffer(b, 1, "x", HG_TYPE_F32, HG_PARAM_IN, &n, 1);
    hg_builder_param_buffer(b, 2, "y", HG_TYPE_F32, HG_PARAM_INOUT, &n, 1);
    hg_builder_param_scalar(b, 5, "alpha", HG_TYPE_F32);
    hg_builder_param_scalar(b, 4, "n", HG_TYPE_U64);
    hg_builder_lanes(b, &n, 1);
    hg_label done = hg_builder_label_named(b, "done");
    hg_build_setgeu(b, HG_TYPE_U64, 0, 255, 4);
    hg_build_bra_if(b, 0, done);
    hg_build_mov_imm(b, HG_TYPE_U32, 250, hg_imm_u64(2));
    hg_build_shl(b, HG_TYPE_U64, 0, 255, 250);
    hg_build_ldg(b, HG_TYPE_F32, 10, hg_addr_buffer(1, 0));
    hg_build_ldg(b, HG_TYPE_F32, 11, hg_addr_buffer(2, 0));
    hg_build_fma(b, HG_TYPE_INFER, 12, 5, 10, 11);
    hg_build_stg(b, HG_TYPE_INFER, hg_addr_buffer(2, 0), 12);
    hg_build_exit(hg_builder_place(b, done));
    CHECK_U64(hg_builder_len(b), 9);
    same_as("axpy", b,
            ".atlas 1\n.program axpy\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r5 alpha f32\n.param r4 n "
            "u64\n.lanes n\n"
            "    setgeu.u64 p0, r255, r4\n    bra.p0 @done\n    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    ldg.f32 r10, [r1 + "
            "r0]\n    ldg.f32 r11, [r2 + r0]\n"
            "    fma.f32 r12, r5, r10, r11\n    stg.f32 [r2 + r0], r12\ndone:\n    exit\n");
}

static void test_everything_else(void) {
    hg_dim dims[2] = {hg_dim_param("n"), hg_dim_of(3)};
    hg_builder *b = hg_builder_create("t");
    hg_builder_param_scalar_default(b, 4, "n", HG_TYPE_U32, hg_imm_u64(16));
    hg_builder_param_scalar_default(b, 5, "alpha", HG_TYPE_F16, hg_imm_f64(-1.5));
    hg_builder_param_buffer(b, 1, "x", HG_TYPE_I256, HG_PARAM_OUT, dims, 2);
    hg_builder_param_buffer(b, 2, "y", HG_TYPE_U8, HG_PARAM_IN, NULL, HG_NO_DIMS);
    hg_builder_param_buffer(b, 3, "z", HG_TYPE_U8, HG_PARAM_INOUT, NULL, 0);
    hg_builder_param_pool(b, 6, "tmp", 36864);
    hg_builder_meta(hg_builder_meta(hg_builder_relaxed(hg_builder_block(hg_builder_shared(b, 64), 8, 4, 1)), "z", "2"), "a", "1");
    hg_builder_lanes(b, dims, 2);
    hg_label start = hg_builder_label_named(b, "start"), f = hg_builder_label(b);
    hg_builder_entry(b, start);
    hg_build_add(b, HG_TYPE_U8, 20, 21, 22);
    hg_builder_place(b, start);
    hg_build_ldg(b, HG_TYPE_F64, 10, hg_addr_disp(hg_addr_index(hg_addr_buffer_handle(42), 11), -16));
    hg_build_stg(b, HG_TYPE_F64, hg_addr_disp(hg_addr_pool_handle(3), 8), 10);
    hg_build_lds(b, HG_TYPE_F64, 10, hg_addr_index(hg_addr_shared(), 252));
    hg_build_stg(b, HG_TYPE_F64, hg_addr_class(95), 10);
    hg_build_stg(b, HG_TYPE_F64, hg_addr_phi(95, 47, 255), 10);
    hg_build_stg(b, HG_TYPE_F64, hg_addr_disp(hg_addr_flat(255), 32), 10);
    hg_build_stg(b, HG_TYPE_F64, hg_addr_disp(hg_addr_buffer_start(1), 16), 10);
    hg_build_stg(b, HG_TYPE_F64, hg_addr_pool(6), 10);
    hg_build_cvt(b, HG_TYPE_I128, HG_TYPE_F64, 12, 10);
    hg_build_rdid(b, 13, "grid_dim_z");
    hg_build_memfence_system(b);
    hg_build_call(b, f);
    hg_build_parallel_map_binary(b, HG_TYPE_F32, hg_addr_buffer_start(3), hg_array(1), hg_array(2), "atan2", hg_count_reg(4));
    hg_build_parallel_reduce(b, HG_TYPE_F32, 14, hg_array(2), "product", hg_count(7));
    hg_build_reduce_max_mem(b, HG_TYPE_F32, 14, hg_addr_flat(255), hg_count(7));
    hg_build_reduce_max(b, HG_TYPE_F32, 14, 14, 1);
    hg_build_pool_alloc_const(b, 9, hg_count(64));
    hg_build_atom_cas(b, HG_TYPE_U32, 15, hg_addr_index(hg_addr_shared(), 252), 253, 254);
    hg_build_bar_sync(b, 255);
    hg_build_exit(b);
    hg_build_ret(hg_builder_place(b, f));
    same_as("every kind of operand", b,
            ".atlas 1\n.program t\n.param r4 n u32 = 16\n.param r5 alpha f16 = -1.5\n.param r1 x buffer i256 out [n, 3]\n.param r2 y "
            "buffer u8 in\n.param r3 z buffer u8 inout []\n"
            ".param r6 tmp pool 36864\n.shared 64\n.block 8, 4\n.lanes n * 3\n.entry start\n.flag relaxed\n.meta a \"1\"\n.meta z \"2\"\n  "
            "  add.u8 r20, r21, r22\nstart:\n"
            "    ldg.f64 r10, [buf42 + r11 - 16]\n    stg.f64 [pool3 + 8], r10\n    lds.f64 r10, [shared + r252]\n    stg.f64 [class95 + "
            "0], r10\n    stg.f64 [phi(95, 47, 255)], r10\n"
            "    stg.f64 [r255 + 32], r10\n    stg.f64 [buf(r1) + 16], r10\n    stg.f64 [pool(r6) + 0], r10\n    cvt.i128.f64 r12, r10\n   "
            " rdid r13, grid_dim_z\n    memfence.system\n"
            "    call @.L1\n    parallel_map_binary.f32 [buf(r3) + 0], r1, r2, atan2, r4\n    parallel_reduce.f32 r14, r2, product, 7\n    "
            "reduce.max.f32 r14, [r255], 7\n"
            "    reduce.max.f32 r14, r14, 1\n    pool.alloc pool9, 64\n    atom.cas.u32 r15, [shared + r252], r253, r254\n    bar.sync "
            "255\n    exit\n.L1:\n    ret\n");
}

/* Instructions of the specification that name no type have f32: their elements are in memory, where nothing else tells. */
static void test_default_types(void) {
    hg_builder *b = hg_builder_create("t");
    hg_build_parallel_map(b, HG_TYPE_INFER, hg_array(1), hg_array(2), "neg", hg_count(256));
    hg_build_parallel_map_binary(b, HG_TYPE_INFER, hg_array(1), hg_array(2), hg_array(3), "add", hg_count(256));
    hg_build_parallel_reduce(b, HG_TYPE_INFER, 4, hg_array(1), "sum", hg_count(256));
    hg_build_reduce_add_mem(b, HG_TYPE_INFER, 5, hg_addr_flat(1), hg_count(256));
    hg_build_pool_load(b, HG_TYPE_INFER, 6, 7, hg_count(0));
    hg_build_pool_load_const(b, HG_TYPE_INFER, 8, 3, hg_count(0));
    hg_build_pool_store(b, HG_TYPE_INFER, 7, hg_count(0), 5);
    hg_build_exit(b);
    same_as("types left out", b,
            HEAD "    parallel_map.f32 r1, r2, neg, 256\n    parallel_map_binary.f32 r1, r2, r3, add, 256\n"
                 "    parallel_reduce.f32 r4, r1, sum, 256\n    reduce.add.f32 r5, [r1], 256\n    pool.load.f32 r6, r7, 0\n"
                 "    pool.load.f32 r8, pool3, 0\n    pool.store.f32 r7, 0, r5\n    exit\n");
}

static void test_loops(void) {
    hg_builder *b = hg_builder_create("t");
    hg_builder_loop(b, 1, 5);
    hg_builder_loop(b, 2, 1);
    hg_builder_loop(b, 3, 0);
    hg_build_mov_imm(b, HG_TYPE_U8, 9, hg_imm_u64(255));
    hg_builder_endloop(hg_builder_endloop(hg_builder_endloop(b)));
    same_as("loops", b,
            HEAD "    loop r1, 5\n    loop r2, 1\n    loop r3, 0\n    mov_imm.u8 r9, 255\n    endloop\n    endloop\n    endloop\n");
    b = hg_builder_create("t");
    for (int i = 0; i < 256; i++) hg_builder_loop(b, 1, UINT32_MAX);
    for (int i = 0; i < 256; i++) hg_builder_endloop(b);
    hg_program *p = NULL;
    CHECK(hg_builder_build(b, NULL, &p) == HG_OK);
    CHECK_U64(hg_program_len(p), 512);
    hg_program_release(p);
    for (int i = 0; i < 257; i++) hg_builder_loop(b, 1, 2);
    fails("deep nesting", b, "S05", "more than 256 nested loops");
    b = hg_builder_create("t");
    fails("open loop", hg_builder_loop(b, 1, 2), "L04", "loop without endloop");
    b = hg_builder_create("t");
    fails("endloop alone", hg_builder_endloop(b), "L03", "endloop without loop");
}

/* Places of a source: kept in the program and in its binary, named by messages. */
static void test_places(void) {
    hg_builder *b = hg_builder_create("t");
    hg_build_mov_imm(b, HG_TYPE_U8, 1, hg_imm_u64(1));
    hg_builder_at(b, 9, 9);
    hg_builder_at(b, 3, 7);
    hg_build_mov_imm(b, HG_TYPE_U8, 2, hg_imm_u64(1));
    hg_build_mov(b, HG_TYPE_U8, 3, 2);
    hg_builder_at(b, 4, 1);
    hg_build_mov(b, HG_TYPE_U8, 4, 99);
    hg_program *p = NULL;
    CHECK(hg_builder_build(b, NULL, &p) == HG_OK);
    const uint32_t lines[] = {0, 3, 3, 4}, columns[] = {0, 7, 7, 1};
    CHECK(p && p->lines && memcmp(p->lines, lines, sizeof lines) == 0 && memcmp(p->columns, columns, sizeof columns) == 0);
    hg_diagnostics *d = hg_diagnostics_create(8);
    CHECK(hg_program_verify(p, d) == HG_ERROR_ISA);
    const hg_diagnostic *message = hg_diagnostics_get(d, 0);
    CHECK(message && message->line == 4 && message->column == 1);
    hg_diagnostics_destroy(d);
    hg_program_release(p);
    hg_builder_destroy(b);
}

/* Reals and integers against the assembler's exact reading of the same number. */
static void test_literals(void) {
    static const struct {
        hg_type type;
        double value;
        const char *text;
    } reals[] = {{HG_TYPE_F16, 65519.999, "65519.999"},
                 {HG_TYPE_F16, 2049, "2049.0"},
                 {HG_TYPE_F16, 2051, "2051.0"},
                 {HG_TYPE_F16, 5.960464477539063e-08, "0x1p-24"},
                 {HG_TYPE_F16, 2.9802322387695312e-08, "0x1p-25"},
                 {HG_TYPE_F16, 2.98023223876953125001e-08 * 1.0001, "0x1.001p-25"},
                 {HG_TYPE_F16, 6.097555160522461e-05, "0x1.ff8p-15"},
                 {HG_TYPE_F16, 6.1e-5, "6.1e-5"},
                 {HG_TYPE_F16, -0.0, "-0.0"},
                 {HG_TYPE_F16, 1.0 / 3, "0x1.5555555555555p-2"},
                 {HG_TYPE_BF16, 16842753, "16842753.0"},
                 {HG_TYPE_BF16, 1.0 / 3, "0x1.5555555555555p-2"},
                 {HG_TYPE_BF16, 3.3895313892515355e38, "3.3895313892515355e38"},
                 {HG_TYPE_BF16, 1e-40, "1e-40"},
                 {HG_TYPE_BF16, 9.183549615799121e-41, "0x1p-133"},
                 {HG_TYPE_F32, 0.1, "0.1"},
                 {HG_TYPE_F64, 0.1, "0.1"},
                 {HG_TYPE_F32, -1e-45, "-1e-45"}};
    char text[128];
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        snprintf(text, sizeof text, HEAD "    mov_imm.%s r1, %s\n", hg_type_name(reals[i].type), reals[i].text);
        same_as(reals[i].text, hg_build_mov_imm(hg_builder_create("t"), reals[i].type, 1, hg_imm_f64(reals[i].value)), text);
    }
    same_as("-1 in 4096 bits", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I4096, 1, hg_imm_i64(-1)),
            HEAD "    mov_imm.i4096 r1, -1\n");
    same_as("2^64 - 1", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I128, 1, hg_imm_u64(UINT64_MAX)),
            HEAD "    mov_imm.i128 r1, 18446744073709551615\n");
    same_as("-128", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I8, 1, hg_imm_i64(-128)), HEAD "    mov_imm.i8 r1, -128\n");
    same_as("least i64", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I64, 1, hg_imm_i64(INT64_MIN)),
            HEAD "    mov_imm.i64 r1, -9223372036854775808\n");
    static const uint8_t bits[4] = {1, 0, 0x80, 0x7F};
    same_as("bits", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_F32, 1, hg_imm_bits(bits)),
            HEAD "    mov_imm.f32 r1, bits(0x7f800001)\n");
    fails("128 as i8", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I8, 1, hg_imm_u64(128)), "S04", "literal out of range for type i8");
    fails("-129 as i8", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I8, 1, hg_imm_i64(-129)), "S04",
          "literal out of range for type i8");
    fails("-1 as u256", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_U256, 1, hg_imm_i64(-1)), "S04",
          "literal out of range for type u256");
    fails("2^63 as i64", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I64, 1, hg_imm_u64((uint64_t)1 << 63)), "S04",
          "literal out of range for type i64");
    fails("real as integer", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_I8, 1, hg_imm_f64(1)), "N03",
          "a real number where an integer of type i8 is expected");
    fails("integer as real", hg_build_mov_imm(hg_builder_create("t"), HG_TYPE_F32, 1, hg_imm_u64(1)), "N03",
          "an integer where a number of type f32 is expected");
}

static void test_mistakes(void) {
    hg_builder *b = hg_builder_create("t");
    hg_label l = hg_builder_label_named(b, "l");
    fails("undefined label", hg_build_bra(hg_build_exit(b), l), "L02", "undefined label 'l' referenced in instruction 1");
    b = hg_builder_create("t");
    l = hg_builder_label_named(b, "l");
    fails("label twice", hg_builder_place(hg_build_exit(hg_builder_place(b, l)), l), "L01", "duplicate label 'l' at instruction 1");
    hg_label foreign = {7};
    fails("foreign label", hg_build_bra(hg_builder_create("t"), foreign), "L02", "a label of another builder");
    fails("name of the program", hg_builder_create("r7"), "N03", "'r7' cannot be a program's name");
    fails("name of a parameter", hg_builder_param_scalar(hg_builder_create("t"), 1, "a.b", HG_TYPE_U8), "N03",
          "'a.b' cannot be a parameter's name");
    b = hg_builder_create("t");
    hg_builder_param_scalar(b, 1, "a", HG_TYPE_U8);
    fails("register twice", hg_builder_param_scalar(b, 1, "c", HG_TYPE_U8), "D02", "register r1 is declared twice: 'a' and 'c'");
    b = hg_builder_create("t");
    hg_builder_param_scalar(b, 1, "a", HG_TYPE_U8);
    fails("name twice", hg_builder_param_scalar(b, 2, "a", HG_TYPE_U8), "D02", "parameter 'a' is declared twice");
    hg_dim n = hg_dim_param("n");
    fails("extent", hg_builder_lanes(hg_builder_create("t"), &n, 1), "D03",
          "an extent of .lanes is no scalar parameter of type u32 or u64");
    fails("shared", hg_builder_shared(hg_builder_create("t"), 65537), "S05", "65537 bytes of shared memory: a block has at most 65536");
    fails("type", hg_build_and(hg_builder_create("t"), HG_TYPE_F32, 1, 252, 252), "N06", "unsupported operation: AND for type f32");
    fails("predicate", hg_build_setlt(hg_builder_create("t"), HG_TYPE_U32, 16, 252, 252), "N07",
          "invalid predicate index: 16 (must be < 16)");
    fails("class", hg_build_ldg(hg_builder_create("t"), HG_TYPE_U32, 1, hg_addr_class(96)), "N07",
          "invalid class index: 96 (must be < 96)");
    fails("page", hg_build_ldg(hg_builder_create("t"), HG_TYPE_U32, 1, hg_addr_phi(1, 48, 200)), "N07",
          "invalid boundary coordinates: page=48 (must be < 48), byte=200 (must be < 256)");
    fails("range of registers", hg_build_reduce_add(hg_builder_create("t"), HG_TYPE_U32, 1, 250, 7), "N07",
          "registers r250 to r256: the last register is r255");
    fails("shared only", hg_build_lds(hg_builder_create("t"), HG_TYPE_U32, 1, hg_addr_class(1)), "N03",
          "'lds' takes an address in shared memory only");
    fails("whole arrays in shared memory",
          hg_build_parallel_map(hg_builder_create("t"), HG_TYPE_F32, hg_addr_shared(), hg_array(255), "abs", hg_count(1)), "N03",
          "'parallel_map' runs once for all blocks and cannot use shared memory");
    fails("operation", hg_build_parallel_map(hg_builder_create("t"), HG_TYPE_F32, hg_array(255), hg_array(255), "sum", hg_count(1)), "N03",
          "'sum' is no operation of 'parallel_map'");
    fails("word", hg_build_rdid(hg_builder_create("t"), 1, "nonsense"), "N03", "operand 'id' of 'rdid' is of another kind");
    fails("kind", hg_build_ldg(hg_builder_create("t"), HG_TYPE_F32, 1, hg_count(3)), "N03",
          "operand 'address' of 'ldg' is of another kind");
    fails("opcode", hg_builder_add(hg_builder_create("t"), 0x3FF, HG_TYPE_COUNT, HG_TYPE_COUNT, NULL, 0), "N01", "unknown opcode 0x3ff");
    fails("operand count", hg_builder_add(hg_builder_create("t"), 0x010, HG_TYPE_F32, HG_TYPE_COUNT, NULL, 0), "N04",
          "'add' has 3 operands, not 0");
    fails("type not to be inferred", hg_build_ldg(hg_builder_create("t"), HG_TYPE_INFER, 1, hg_addr_class(0)), "V05",
          "type of 'ldg' cannot be inferred here: write ldg.TYPE");
    fails("the specification's first example", hg_build_add(hg_builder_create("t"), HG_TYPE_INFER, 3, 1, 2), "V01",
          "uninitialized register: r1");
    b = hg_builder_create("t");
    hg_build_and(hg_builder_endloop(b), HG_TYPE_F32, 1, 2, 3);
    fails("the first mistake stays", hg_builder_meta(b, "-", "-"), "L03", "endloop without loop");
    hg_program *p = NULL;
    CHECK(hg_builder_build(NULL, NULL, &p) == HG_ERROR_OUT_OF_MEMORY);
    CHECK(hg_build_exit(NULL) == NULL);
    CHECK_U64(hg_builder_len(NULL), 0);
    hg_builder_destroy(NULL);
}

/* Every row of the table can be built, printed and assembled again; the header on disk is what the generator writes. */
static void test_header(void) {
    char *fresh = NULL, *kept;
    size_t length = 0;
    FILE *out = open_memstream(&fresh, &length);
    write_builder_ops(out);
    fclose(out);
    FILE *in = fopen(HG_SOURCE_DIR "/include/hologram/builder_ops.h", "rb");
    kept = calloc(length + 2, 1);
    size_t n = in ? fread(kept, 1, length + 1, in) : 0;
    if (in) fclose(in);
    CHECK_MESSAGE(n == length && memcmp(kept, fresh, length) == 0,
                  "include/hologram/builder_ops.h is out of date: see tools/gen_builder.c");
    for (int i = 0; i < HG_OP_COUNT; i++) {
        char opcode[40];
        snprintf(opcode, sizeof opcode, "hg_builder_add(builder, 0x%03X,", hg_op_get((hg_op)i)->opcode);
        CHECK_MESSAGE(strstr(kept, opcode) != NULL, "no function for %s", hg_op_get((hg_op)i)->id);
    }
    free(fresh);
    free(kept);
}

/* ---- out of memory at every allocation ---- */

static failing_allocator memory;

static hg_status build_something(void) {
    hg_dim n = hg_dim_param("n");
    hg_program *p = NULL;
    hg_builder *b = hg_builder_create("t");
    hg_builder_param_buffer(b, 1, "x", HG_TYPE_F32, HG_PARAM_IN, &n, 1);
    hg_builder_param_scalar_default(b, 4, "n", HG_TYPE_U64, hg_imm_u64(3));
    hg_builder_meta(b, "k", "v");
    hg_label l = hg_builder_label_named(b, "l");
    hg_builder_loop(b, 7, 3);
    hg_build_mov_imm(b, HG_TYPE_F32, 9, hg_imm_f64(1));
    hg_build_add(b, HG_TYPE_INFER, 9, 9, 9);
    hg_build_bra(b, l);
    hg_builder_endloop(hg_builder_place(b, l));
    hg_status status = hg_builder_build(b, NULL, &p);
    hg_program_release(p);
    hg_builder_destroy(b);
    return status;
}

static void test_out_of_memory(void) {
    hg_allocator hooks = {.size = sizeof hooks, .user = &memory, .reallocate = failing_reallocate, .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    uint64_t k = 0;
    for (bool done = false; !done && k < 1000; k++) {
        allow_allocations(&memory, k);
        hg_status status = build_something();
        done = status == HG_OK;
        CHECK(done || status == HG_ERROR_OUT_OF_MEMORY);
        CHECK_U64(memory.live, 0);
    }
    CHECK(k > 5 && k < 1000);
    allow_allocations(&memory, UINT64_MAX);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

int main(void) {
    test_out_of_memory(); /* first: the hooks are to be set before anything else */
    test_axpy();
    test_everything_else();
    test_default_types();
    test_loops();
    test_places();
    test_literals();
    test_mistakes();
    test_header();
    return test_done();
}

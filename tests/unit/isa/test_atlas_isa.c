/* Atlas instructions (block 1C0) from outside: text, binary, builder, the words of errors and
 * faults, and the numbers of the specification (semantics 4.5, 5.1 to 5.12) as instructions give
 * them. */
#include "support/runtime_support.h"

/* ---- text, binary, builder ---- */

#define FORMS                                                                                      \
    "    mov_imm.u8 r1, 5\n    mov_imm.f64 r2, 1.5\n    mov_imm.u64 r3, 96\n    cls.get r4, r2\n " \
    "   cls.get r5\n    mirror r6, r1\n"                                                           \
    "    unity.test p0, r1\n    unity.test p1, eps=0.25\n    nbr.load.f32 r7, r1, -128\n    "      \
    "nbr.store.f64 r1, r2, 127\n"                                                                  \
    "    nbr.count r8, r1\n    nbr.get r9, r1, 5\n    nbr.get r9, r1, r3\n    res.accum r10, r2, " \
    "95\n    res.accum r10, r1, r1\n"                                                              \
    "    phase.read r11, 0\n    phase.write r1, r1\n    phase.get r12\n    phase.adv "             \
    "18446744073709551615\n    phase.adv r3\n"                                                     \
    "    bound.map r13, r3\n    bound.map r13, 95, 47, 255\n    bound.map.i4096 r13, r1, 12287, "  \
    "24575\n    char.product.i128 r14, 193, "                                                      \
    "0\n"                                                                                          \
    "    char.product.f64 r15, r1, r1\n    orbit.classify r16, 18446744073709551615, 301989888\n " \
    "   orbit.representative r17, 31, r3\n"                                                        \
    "    mult.inverse r18, 5, 96\n    mult.inverse r18, r3, r1\n"

static void test_round_trip(void) {
    static const char text[] = ".atlas 1\n.program p\n" FORMS;
    char *printed = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    hg_program *p = assemble(text), *again = NULL;
    CHECK_OK(hg_program_verify(p, NULL));
    CHECK_OK(hg_program_print(p, &printed, NULL));
    CHECK_TEXT(printed, text);
    hg_string_free(printed);
    CHECK_OK(hg_program_encode(p, 0, &bytes, &length));
    CHECK_STATUS(hg_program_decode(bytes, length, NULL, &again), HG_OK);
    printed = NULL;
    if (again) CHECK_OK(hg_program_print(again, &printed, NULL));
    CHECK_TEXT(printed, text);
    hg_string_free(printed);
    hg_string_free((char *)bytes);
    hg_program_release(again);
    hg_program_release(p);
}

static void expect_same(hg_builder *b, const char *text) {
    hg_program *built = NULL, *written = assemble(text);
    char *printed = NULL, *wanted = NULL;
    CHECK_OK(hg_builder_build(b, NULL, &built));
    CHECK_OK(hg_program_print(written, &wanted, NULL));
    if (built) CHECK_OK(hg_program_print(built, &printed, NULL));
    CHECK_TEXT(printed, wanted);
    hg_string_free(printed);
    hg_string_free(wanted);
    hg_program_release(built);
    hg_program_release(written);
    hg_builder_destroy(b);
}

static void test_builder(void) {
    hg_builder *b = hg_builder_create("p");
    hg_build_mov_imm(b, HG_TYPE_U8, 1, hg_imm_u64(5));
    hg_build_unity_test_eps(b, 1, -0.5);
    hg_build_nbr_load(b, HG_TYPE_INFER, 7, 1, -3);
    hg_build_nbr_store(b, HG_TYPE_INFER, 1, 7, 3);
    hg_build_res_accum(b, 10, 1, hg_count(9));
    hg_build_bound_map_parts(b, 13, hg_count_reg(1), hg_count(2), hg_count(3));
    hg_build_bound_map_typed(b, HG_TYPE_F16, 13, hg_count(1), hg_count(2), hg_count(3));
    hg_build_char_product(b, HG_TYPE_I128, 14, hg_count(1), hg_count(0));
    expect_same(b, PROGRAM("    mov_imm.u8 r1, 5\n    unity.test p1, eps=-0.5\n    nbr.load r7, "
                           "r1, -3\n    nbr.store r1, r7, 3\n    "
                           "res.accum r10, r1, 9\n"
                           "    bound.map r13, r1, 2, 3\n    bound.map.f16 r13, 1, 2, 3\n    "
                           "char.product.i128 r14, 1, 0\n"));
}

/* ---- errors: the first one of an instruction on r1 (u8), r2 (f32), r3 (u64) ---- */

static void test_errors(void) {
    static const struct {
        const char *instruction, *code, *message;
    } ERRORS[] = {
        {"phase.read r9, 96", "N07", "invalid class index: 96 (must be < 96)"},
        {"phase.write r1, 97", "N07", "invalid class index: 97 (must be < 96)"},
        {"res.accum r9, r2, 18446744073709551615", "N07",
         "invalid class index: 18446744073709551615 (must be < 96)"},
        {"bound.map r9, 96, 0, 0", "N07", "invalid class index: 96 (must be < 96)"},
        {"bound.map r9, 0, 48, 255", "N07",
         "invalid boundary coordinates: page=48 (must be < 48), byte=255 (must be < 256)"},
        {"bound.map r9, 0, r1, 256", "N07",
         "invalid boundary coordinates: page=r1 (must be < 48), byte=256 (must be < 256)"},
        {"bound.map.f32 r9, 0, 96, 0", "N07",
         "invalid boundary coordinates: page=96 (must be < 96), byte=0 (must be < 192)"},
        {"char.product.f64 r9, 194, 0", "N07", "invalid character index: 194 (must be < 194)"},
        {"char.product.i128 r9, 15, 75", "N07", "character value not rational"},
        {"char.product.f32 r9, 1, 1", "N06", "unsupported operation: CHAR_PRODUCT for type f32"},
        {"orbit.classify r9, 1, 97", "N07", "unknown torus size: 97"},
        {"orbit.representative r9, 32, 96", "N07", "invalid orbit index: 32 (must be < 32)"},
        {"orbit.representative r9, 3, 2305", "N07", "unknown torus size: 2305"},
        {"mult.inverse r9, 2, 96", "N07", "no multiplicative inverse: 2 mod 96"},
        {"mult.inverse r9, 12345, 18432", "N07", "no multiplicative inverse: 12345 mod 18432"},
        {"mult.inverse r9, 1, 1", "N07", "no multiplicative inverse: 1 mod 1"},
        {"mult.inverse r9, 1, 4294967297", "N07", "no multiplicative inverse: 1 mod 4294967297"},
        {"nbr.load r9, r1, 128", "N07", "128 is out of range: -128 to 127"},
        {"nbr.store r1, r2, -129", "N07", "-129 is out of range: -128 to 127"},
        {"mirror r9, r2", "V03", "type mismatch: expected u8, got f32"},
        {"unity.test p0, r2", "V03", "type mismatch: expected u8, got f32"},
        {"bound.map r9, r2", "V03", "type mismatch: expected an integer, got f32"},
        {"phase.write r2, 0", "V03", "type mismatch: expected an integer, got f32"},
        {"phase.read r9, r2", "V03", "type mismatch: expected u8, u16, u32 or u64, got f32"},
        {"res.accum r9, r8, 0", "V01", "uninitialized register: r8"},
        {"unity.test p0, epsilon=1", "N03",
         "operand 2 of 'unity.test': expected a register, got 'epsilon='"},
        {"unity.test p0, 1.5", "S04", "'1.5' is no literal of type u8"},
        {"unity.test p0, eps=1, eps=2", "N04", "'unity.test' takes 2 operands, got 3"},
        {"mirror r9, src=r1", "N03",
         "named operand 'src=': this instruction takes its operands by position"},
        {"mirror.u8 r9, r1", "N06", "'mirror' takes no type"},
        {"bound.map.f32 r9, r3", "N04", "'bound.map' takes 4 operands, got 2"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++) {
        char text[300];
        hg_program *p = NULL;
        snprintf(
            text, sizeof text,
            PROGRAM(
                "    mov_imm.u8 r1, 5\n    mov_imm.f32 r2, 1.5\n    mov_imm.u64 r3, 7\n    %s\n"),
            ERRORS[i].instruction);
        hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
        if (status == HG_OK) status = hg_program_verify(p, NULL);
        CHECK_MESSAGE(status == HG_ERROR_ISA, "%s is accepted", ERRORS[i].instruction);
        CHECK_TEXT(hg_last_error()->code, ERRORS[i].code);
        CHECK_TEXT(hg_last_error()->message, ERRORS[i].message);
        CHECK_U64(hg_last_error()->line, 6);
        hg_program_release(p);
    }
}

/* An operand of any type in a function has the type of the first caller, and is one type for all.
 */
static void test_functions(void) {
    hg_program *p = assemble(PROGRAM("    mov_imm.u8 r1, 5\n    call @f\n    mov_imm.u64 r1, 6\n   "
                                     " call @f\n    exit\nf:\n    cls.get r2, r1\n    ret\n"));
    CHECK_FAILS(hg_program_verify(p, NULL), HG_ERROR_ISA, "V03",
                "type mismatch: expected u8, got u64");
    hg_program_release(p);
    p = assemble(PROGRAM("    mov_imm.u16 r1, 5\n    call @f\n    call @f\n    exit\nf:\n    "
                         "res.accum r2, r1, 3\n    phase.read r3, r1\n  "
                         "  phase.write r1, r1\n    ret\n"));
    CHECK_OK(hg_program_verify(p, NULL));
    hg_program_release(p);
}

/* What can differ between lanes decides no whole-array instruction; numbers worked out from
 * constants can. */
static void test_uniform(void) {
    hg_program *p = assemble(PROGRAM(".param r1 x buffer f32 inout\n    phase.read r2, 3\n    "
                                     "parallel_map.f32 r1, r1, neg, r2\n"));
    CHECK_FAILS(hg_program_verify(p, NULL), HG_ERROR_ISA, "V10",
                "operand 'count' of 'parallel_map' must be the same in all lanes: r2 is not");
    hg_program_release(p);
    p = assemble(PROGRAM(".param r1 x buffer f32 inout\n    orbit.representative r2, 1, 96\n    "
                         "parallel_map.f32 r1, r1, neg, r2\n"));
    CHECK_OK(hg_program_verify(p, NULL));
    hg_program_release(p);
}

/* ---- values ---- */

static hg_backend *cpu;

/* Runs body in n lanes; r30 of each (as u64) is its result. */
static void run(const char *body, uint64_t n, uint64_t *results) {
    char text[2048];
    snprintf(text, sizeof text,
             PROGRAM(".param r1 out buffer u64 out\n%s    mov_imm.u64 r40, 8\n    mul.u64 r41, "
                     "r255, r40\n    stg.u64 [r1 + r41], r30\n"),
             body);
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_buffer out = make_buffer(cpu, NULL, 8 * n);
    hg_launch launch = hg_launch_linear(n);
    CHECK_OK(hg_params_set_buffer(params, "out", out));
    CHECK_OK(hg_backend_execute_program_with_params(cpu, p, &launch, params));
    CHECK_OK(hg_backend_copy_from_buffer(cpu, out, results, 8 * n));
    CHECK_OK(hg_backend_free_buffer(cpu, out));
    hg_params_destroy(params);
    hg_program_release(p);
}

static uint64_t value(const char *body) {
    uint64_t result = 0;
    run(body, 1, &result);
    return result;
}

/* CRC-32 as zlib has it. */
static uint32_t crc(const uint8_t *bytes, size_t n) {
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    return ~c;
}

static void test_tables(void) {
    static uint64_t results[576];
    uint8_t bytes[576];
    run("    cls.get r2, r255\n    cvt.u64.u8 r30, r2\n", 256, results);
    uint64_t sum = 0;
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)results[i], sum += results[i];
    CHECK_U64(sum, 11648);
    CHECK_U64(crc(bytes, 256), 0xb0a6a4c7);
    run("    mov_imm.u64 r2, 6\n    div.u64 r3, r255, r2\n    rem.u64 r4, r255, r2\n    cvt.u8.u64 "
        "r5, r3\n    nbr.get r6, r5, r4\n    "
        "nbr.count r7, r5\n"
        "    cvt.u64.u32 r7, r7\n    setlt.u64 p0, r4, r7\n    mov_imm.u64 r8, 255\n    cvt.u64.u8 "
        "r6, r6\n    sel.u64 r30, p0, r6, r8\n",
        576, results);
    for (int i = 0; i < 576; i++) bytes[i] = (uint8_t)results[i];
    CHECK_U64(crc(bytes, 576), 0x227427cf);
    run("    cvt.u8.u64 r2, r255\n    mirror r3, r2\n    cvt.u64.u8 r30, r3\n", 96, results);
    static const uint8_t MIRRORS[][2] = {{0, 48},  {5, 53},  {7, 55}, {13, 61}, {21, 69},
                                         {42, 90}, {47, 95}, {48, 0}, {63, 15}, {95, 47}};
    for (size_t i = 0; i < sizeof MIRRORS / sizeof MIRRORS[0]; i++)
        CHECK_U64(results[MIRRORS[i][0]], MIRRORS[i][1]);
    run("    cls.get r2, r255\n    unity.test p0, r2\n    mov_imm.u64 r3, 1\n    mov_imm.u64 r4, "
        "0\n    sel.u64 r30, p0, r3, r4\n",
        256, results);
    for (int b = 0; b < 256; b++)
        CHECK_U64(results[b], b == 0 || b == 1 || b == 0x30 || b == 0x31 || b == 0x80 ||
                                  b == 0x81 || b == 0xB0 || b == 0xB1);
}

/* Each with numbers, with registers, and with registers that the compiler knows to hold wide
 * numbers. */
static void check_numbers(const char *name, const char *convert, uint64_t a, uint64_t b, uint64_t c,
                          uint64_t expected) {
    char body[400], third[32] = "";
    bool three = c != UINT64_MAX;
    if (three) snprintf(third, sizeof third, ", %llu", (unsigned long long)c);
    snprintf(body, sizeof body, "    %s r2, %llu, %llu%s\n    %s r30, r2\n", name,
             (unsigned long long)a, (unsigned long long)b, third, convert);
    CHECK_MESSAGE(value(body) == expected, "%s %llu %llu", name, (unsigned long long)a,
                  (unsigned long long)b);
    snprintf(body, sizeof body,
             "    mov_imm.u64 r3, 3\n    div.u64 r3, r255, r3\n    mov_imm.u64 r4, %llu\n    "
             "add.u64 r4, r4, r3\n    mov_imm.u32 r5, "
             "%llu\n    mov_imm.u16 r6, %llu\n"
             "    %s r2, r4, r5%s\n    %s r30, r2\n",
             (unsigned long long)a, (unsigned long long)b, three ? (unsigned long long)c : 0, name,
             three ? ", r6" : "", convert);
    CHECK_MESSAGE(value(body) == expected, "%s %llu %llu in registers", name, (unsigned long long)a,
                  (unsigned long long)b);
    snprintf(body, sizeof body,
             "    mov_imm.u64 r4, %llu\n    mov_imm.u64 r5, %llu\n    mov_imm.u64 r6, %llu\n    %s "
             "r2, r4, r5%s\n    %s r30, r2\n",
             (unsigned long long)a, (unsigned long long)b, three ? (unsigned long long)c : 0, name,
             three ? ", r6" : "", convert);
    CHECK_MESSAGE(value(body) == expected, "%s %llu %llu in wide registers", name,
                  (unsigned long long)a, (unsigned long long)b);
}

static void test_coordinates(void) {
    static const uint64_t MAPS[][4] = {{42, 10, 200, 518856},
                                       {95, 47, 255, 1179647},
                                       {0, 0, 0, 0},
                                       {1, 0, 0, 12288},
                                       {3, 5, 7, 38151}};
    for (size_t i = 0; i < sizeof MAPS / sizeof MAPS[0]; i++) {
        char body[160];
        check_numbers("bound.map", "mov.u64", MAPS[i][0], MAPS[i][1], MAPS[i][2], MAPS[i][3]);
        snprintf(body, sizeof body, "    mov_imm.u32 r2, %llu\n    bound.map r30, r2\n",
                 (unsigned long long)(MAPS[i][0] << 16 | MAPS[i][1] << 8 | MAPS[i][2]));
        CHECK_U64(value(body), MAPS[i][3]);
    }
    check_numbers("bound.map.f32", "mov.u64", 0, 5, 7, 967);
    check_numbers("bound.map.f32", "mov.u64", 3, 5, 7, 56263);
    check_numbers("bound.map.f64", "mov.u64", 0, 191, 383, 73727);
    check_numbers("bound.map.u4096", "mov.u64", 95, 12287, 24575, UINT64_C(28991029247));
    static const uint16_t ORBITS[][2] = {{0, 0},   {1, 1},  {7, 7},    {8, 0},      {16, 0},
                                         {23, 7},  {24, 8}, {31, 15},  {47, 15},    {48, 16},
                                         {95, 31}, {96, 0}, {1000, 8}, {18431, 31}, {18432, 0}};
    for (size_t i = 0; i < sizeof ORBITS / sizeof ORBITS[0]; i++)
        check_numbers("orbit.classify", "cvt.u64.u8", ORBITS[i][0], 18432, UINT64_MAX,
                      ORBITS[i][1]);
    static const uint8_t FIRST[][2] = {{0, 0}, {7, 7}, {8, 24}, {15, 31}, {16, 48}, {31, 79}};
    for (size_t i = 0; i < sizeof FIRST / sizeof FIRST[0]; i++)
        check_numbers("orbit.representative", "cvt.u64.u32", FIRST[i][0], 18432, UINT64_MAX,
                      FIRST[i][1]);
    static const uint32_t INVERSES[][3] = {{5, 96, 77},
                                           {37, 96, 13},
                                           {95, 96, 95},
                                           {7, 192, 55},
                                           {25, 384, 169},
                                           {2303, 2304, 2303},
                                           {7, 2304, 1975},
                                           {13, 4608, 709},
                                           {11, 18432, 5027},
                                           {5, 73728, 44237},
                                           {3, 4294967291, 1431655764},
                                           {4294967290, 4294967291, 4294967290}};
    for (size_t i = 0; i < sizeof INVERSES / sizeof INVERSES[0]; i++)
        check_numbers("mult.inverse", "cvt.u64.u32", INVERSES[i][0], INVERSES[i][1], UINT64_MAX,
                      INVERSES[i][2]);
}

static void test_characters(void) {
    static const int64_t ROW[] = {196883, 4371, 275, 782, 53, -1, 275, 51},
                         DEGREES[] = {1, 196883, 21296876, 842609326, 18538750076};
    for (uint64_t i = 0; i < 8; i++)
        check_numbers("char.product.i128", "cvt.u64.i128", 1, i, UINT64_MAX, (uint64_t)ROW[i]);
    for (uint64_t i = 0; i < 5; i++)
        check_numbers("char.product.f64", "cvt.u64.f64", i, 0, UINT64_MAX, (uint64_t)DEGREES[i]);
}

/* ---- faults: the words, with register operands ---- */

static void test_faults(void) {
    static const struct {
        const char *body, *code, *message;
    } FAULTS[] = {
        {"    mirror r2, r3\n", "F04", "invalid class index: 200 (must be < 96)"},
        {"    nbr.store.u8 r3, r3, 0\n", "F04", "invalid class index: 200 (must be < 96)"},
        {"    phase.read r2, r4\n", "F04",
         "invalid class index: 18446744073709551615 (must be < 96)"},
        {"    bound.map r2, 0, r4, r3\n", "F04",
         "invalid boundary coordinates: page=18446744073709551615 (must be < 48), byte=200 (must "
         "be < 256)"},
        {"    bound.map.i8 r2, 95, 23, r3\n", "F04",
         "invalid boundary coordinates: page=23 (must be < 24), byte=200 (must be < 96)"},
        {"    bound.map r2, r4\n", "F04", "invalid class index: 281474976710655 (must be < 96)"},
        {"    orbit.classify r2, 0, r3\n", "F05", "unknown torus size: 200"},
        {"    orbit.representative r2, r3, 96\n", "F04", "invalid orbit index: 200 (must be < 32)"},
        {"    mult.inverse r2, r3, 96\n", "F05", "no multiplicative inverse: 200 mod 96"},
        {"    mov_imm.u64 r5, 0\n    mult.inverse r2, r3, r5\n", "F05",
         "no multiplicative inverse: 200 mod 0"},
        {"    mov_imm.u64 r5, 4294967392\n    mult.inverse r2, 5, r5\n", "F05",
         "no multiplicative inverse: 5 mod 4294967392"},
        {"    mov_imm.u64 r5, 4294967392\n    add.u64 r5, r5, r255\n    mult.inverse r2, 5, r5\n",
         "F05", "no multiplicative inverse: 5 mod 4294967392"},
        {"    mult.inverse r2, r3, r4\n", "F05",
         "no multiplicative inverse: 200 mod 18446744073709551615"},
        {"    char.product.f64 r2, 0, r3\n", "F04", "invalid character index: 200 (must be < 194)"},
        {"    mov_imm.u8 r5, 15\n    char.product.i128 r2, r5, 75\n", "F05",
         "character value not rational"},
        {"    mov_imm.u8 r5, 3\n    rdid r6, global_lane_id\n    nbr.load.u4096 r2, r5, 0\n", "F01",
         "buffer access out of bounds: offset 12288 + size 512 > buffer size 12288"},
    };
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        char text[400];
        snprintf(
            text, sizeof text,
            PROGRAM(
                ".lanes 30\n    mov_imm.u8 r3, 200\n    mov_imm.u64 r4, 18446744073709551615\n%s"),
            FAULTS[i].body);
        hg_program *p = assemble(text);
        CHECK_FAILS(hg_backend_execute_program(cpu, p, NULL), HG_ERROR_EXECUTION_FAILED,
                    FAULTS[i].code, FAULTS[i].message);
        CHECK_U64(hg_last_error()->lane, FAULTS[i].code[2] == '1' ? 24 : 0);
        hg_program_release(p);
    }
}

/* What a lane added and wrote is still its own behind whole-array instructions, one of which reads
 * memory that lanes write. */
static void test_own_state_across_steps(void) {
    static const char text[] =
        ".atlas 1\n.program own\n.param r1 x buffer f64 inout [n]\n.param r4 n u64\n.lanes n\n"
        "    mov_imm.u32 r250, 3\n    shl.u64 r0, r255, r250\n    ldg.f64 r5, [r1 + r0]\n"
        "    phase.write r255, 3\n    res.accum r6, r5, 3\n    parallel_map.f64 r1, r1, neg, r4\n"
        "    res.accum r6, r5, 3\n    phase.read r7, 3\n    cvt.f64.u32 r7, r7\n    add.f64 r6, "
        "r6, r7\n"
        "    ldg.f64 r8, [r1 + r0]\n    add.f64 r6, r6, r8\n    stg.f64 [r1 + r0], r6\n";
    double x[500];
    uint64_t n = sizeof x / sizeof *x;
    for (uint32_t i = 0; i < n; i++) x[i] = i;
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_buffer buffer = make_buffer(cpu, x, sizeof x);
    CHECK_OK(hg_params_set_buffer(params, "x", buffer));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_reset_state(cpu));
    CHECK_OK(hg_backend_execute_program_with_params(cpu, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(cpu, buffer, x, sizeof x));
    for (uint32_t i = 0; i < n; i++)
        CHECK(x[i] == 2.0 * i + i - i); /* both additions, the phase, the step's negative */
    CHECK_OK(hg_backend_reset_state(cpu));
    CHECK_OK(hg_backend_free_buffer(cpu, buffer));
    hg_params_destroy(params);
    hg_program_release(p);
}

/* dst holds what earlier launches added, exactly. */
static void test_resonance(void) {
    uint64_t results[3];
    double sum;
    CHECK_OK(hg_backend_reset_state(cpu));
    run("    mov_imm.f64 r2, 0x1p60\n    res.accum r3, r2, 9\n    cvt.u64.f64 r30, r3\n", 3,
        results);
    for (int i = 0; i < 3; i++) CHECK_U64(results[i], UINT64_C(1) << 60);
    run("    mov_imm.i32 r2, -1\n    res.accum r3, r2, 9\n    mov_imm.f64 r4, -0x1p60\n    "
        "res.accum r3, r4, 9\n    res.accum r3, r4, 9\n  "
        "  res.accum r3, r4, 9\n    neg.f64 r3, r3\n    cvt.u64.f64 r30, r3\n",
        3, results);
    for (int i = 0; i < 3; i++) CHECK_U64(results[i], 1); /* 3·2^60 - 1 - 3·2^60 */
    CHECK_OK(hg_backend_resonance(cpu, 9, &sum));
    CHECK(sum == 3 * 0x1p60 - 9 * 0x1p60 - 3);
    /* the sum of all classes at launch, and what the lane added to another class */
    static const char test[] = "    unity.test p0, eps=0.5\n    mov_imm.u64 r4, 1\n    mov_imm.u64 "
                               "r5, 0\n    sel.u64 r30, p0, r4, r5\n";
    char body[400];
    CHECK_U64(value(test), 0);
    snprintf(body, sizeof body, "    mov_imm.i64 r2, %lld\n    res.accum r3, r2, 95\n%s",
             (long long)(6 * (INT64_C(1) << 60) + 3), test);
    CHECK_U64(value(body), 0); /* 6·2^60 + 3 is rounded on its way to f64 */
    snprintf(body, sizeof body, "    mov_imm.i64 r2, 3\n    res.accum r3, r2, 94\n%s", test);
    CHECK_U64(value(body), 1);
    CHECK_U64(value(test), 1);
    CHECK_OK(hg_backend_reset_state(cpu));
}

/* Functions of a program that are called as the ones that lowering adds: theirs are still their
 * own. */
static void test_names(void) {
#define ADDS(name) name ":\n    add.u64 r30, r30, r31\n    ret\n"
#define CALLS(name) "    call @" name "\n"
    static const char body[] = "    bra @main\n" ADDS("mult.inverse") ADDS("res.add")
        ADDS("res.own") ADDS("res.round") ADDS("h2f") ADDS(
            "f2h") "main:\n    mov_imm.u64 r30, 1\n    mov_imm.u64 r31, 2\n" CALLS("mult.inverse")
            CALLS("res.add") CALLS("res.own") CALLS("res.round") CALLS("h2f")
                CALLS("f2h") "    mov_imm.u32 r2, 5\n    mov_imm.u32 r3, 96\n    mult.inverse r4, "
                             "r2, r3\n    cvt.u64.u32 r4, r4\n    "
                             "add.u64 r30, r30, r4\n"
                             "    res.accum r5, r30, 1\n    cvt.u64.f64 r6, r5\n    add.u64 r30, "
                             "r30, r6\n"
                             "    cvt.f16.u64 r7, r31\n    mul.f16 r7, r7, r7\n    cvt.u64.f16 r7, "
                             "r7\n    add.u64 r30, r30, r7\n";
    hg_config config = hg_config_default();
    hg_backend *machines[2] = {cpu, NULL}, *plain = cpu;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.pretend, "poor", 5);
    CHECK_OK(hg_backend_create_with_config(&config, &machines[1]));
    for (int i = 0; i < 2 && machines[i]; i++) {
        cpu = machines[i];
        CHECK_U64(value(body), 2 * (13 + 77) + 4);
        CHECK_OK(hg_backend_reset_state(cpu));
    }
    cpu = plain;
    hg_backend_destroy(machines[1]);
}

int main(void) {
    cpu = open_backend("cpu");
    test_round_trip();
    test_builder();
    test_errors();
    test_functions();
    test_uniform();
    test_tables();
    test_coordinates();
    test_characters();
    test_faults();
    test_resonance();
    test_own_state_across_steps();
    test_names();
    hg_backend_destroy(cpu);
    return test_done();
}

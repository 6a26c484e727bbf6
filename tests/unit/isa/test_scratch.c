/* `.scratch`: an array that belongs to the launch. Text, binary by hand, builder, messages with
 * their places, what the verifier says. */
#include "isa/program.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/builder.h>

#define HEAD ".atlas 1\n.program t\n" /* the next line is 3 */
#define TEXT                                                                                     \
    HEAD ".param r1 x buffer f32 in [n]\n.scratch r2 tmp f32 [n, 4]\n.param r4 n u32\n.scratch " \
         "r5 one i128 []\n    mov.u64 r6, r2\n"                                                  \
         "    exit\n"

static void test_text_and_binary(void) {
    hg_program *p = assemble(TEXT), *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    prints(p, TEXT);
    CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK);
    uint64_t at = 0, size = 0;
    for (int i = 0; i < 8; i++)
        at |= (uint64_t)bytes[64 + 24 + 8 + i] << (8 * i),
            size |= (uint64_t)bytes[64 + 24 + 16 + i] << (8 * i);
    static const uint8_t section[] = {4, 0, 0,  0,                      /* count */
                                      1, 1, 2,  1, 1, 'x', 1,   1,   2, /* x */
                                      2, 3, 2,  0, 3, 't', 'm', 'p', 2, 1,
                                      2, 0, 4,  0, 0, 0,   0,   0,   0, 0, /* tmp */
                                      4, 0, 16, 0, 1, 'n', 0,              /* n */
                                      5, 3, 8,  0, 3, 'o', 'n', 'e', 0};   /* one */
    CHECK(size == sizeof section && memcmp(bytes + at, section, sizeof section) == 0);
    CHECK(hg_program_decode(bytes, length, NULL, &again) == HG_OK);
    if (again) prints(again, TEXT);
    CHECK_U64(hg_program_param_count(p), 2); /* what a caller sets */
    CHECK_TEXT(hg_program_param_name(p, 0), "x");
    CHECK_TEXT(hg_program_param_name(p, 1), "n");
    CHECK(hg_program_param_name(p, 2) == NULL);
    /* a direction; any shape */
    static const struct {
        size_t offset;
        uint8_t value;
    } bad[] = {{4 + 9 + 3, 3}, {sizeof section - 1, 255}, {4 + 9 + 1, 5}};
    for (size_t i = 0; i < HG_COUNT_OF(bad); i++) {
        hg_program *q = NULL;
        hg_blake3 h;
        uint8_t was = bytes[at + bad[i].offset];
        bytes[at + bad[i].offset] = bad[i].value;
        memset(bytes + 24, 0, 32);
        hg_blake3_init(&h);
        hg_blake3_update(&h, bytes, length);
        hg_blake3_final(&h, bytes + 24);
        CHECK(hg_program_decode(bytes, length, NULL, &q) == HG_ERROR_ISA &&
              strcmp(hg_last_error()->code, "B08") == 0);
        bytes[at + bad[i].offset] = was;
        hg_program_release(q);
    }
    hg_string_free((char *)bytes);
    hg_program_release(again);
    hg_program_release(p);
}

static void test_messages(void) {
    static const struct {
        const char *text, *code;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {".scratch r1 x f32\n", "S02", 3, 18, "expected '[', got end of line"},
        {".scratch r1 x f32 in [4]\n", "S02", 3, 19, "expected '[', got 'in'"},
        {".scratch r1 x buffer f32 [4]\n", "S02", 3, 15, "expected an element type, got 'buffer'"},
        {".scratch [4]\n", "S02", 3, 10, "expected a register or a parameter name, got '['"},
        {".scratch r1 x f32 [4] 5\n", "S02", 3, 23, "expected end of line, got '5'"},
        {".scratch r1 x f32 [m]\n", "D03", 3, 20,
         "extent 'm' is no scalar parameter of type u32 or u64"},
        {".scratch r1 x f32 [1,2,3,4,5,6,7,8,9]\n", "S05", 3, 36, "more than 8 extents"},
        {".scratch r1 x f32 [x]\n", "D03", 3, 20,
         "extent 'x' is no scalar parameter of type u32 or u64"},
        {".param r1 x f32\n.scratch r1 y f32 [1]\n", "D02", 4, 10,
         "register r1 declared twice: it holds 'x'"},
        {".param r1 x f32\n.scratch r2 x f32 [1]\n", "D02", 4, 13, "parameter 'x' declared twice"},
        {".scratch r1 x f32 [1]\n    ldg.f32 r2, [r1]\n", "V12", 4, 17,
         "r1 holds the scratch 'x': write [buf(r1) + 0] or [r1 + rN]"},
        {".scratch r1 x f32 [1]\n    add.f32 r2, r1, r1\n", "V03", 4, 17,
         "type mismatch: expected f32, got u64"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        char text[400];
        hg_program *p = NULL;
        snprintf(text, sizeof text, HEAD "%s", cases[i].text);
        hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
        if (status == HG_OK) status = hg_program_verify(p, NULL);
        const hg_error *e = hg_last_error();
        CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(e->code, cases[i].code) == 0 &&
                          strcmp(e->message, cases[i].message) == 0 && e->line == cases[i].line &&
                          e->column == cases[i].column,
                      "%s\n  expected %s %u:%u %s\n  got %s %u:%u %s", cases[i].text, cases[i].code,
                      (unsigned)cases[i].line, (unsigned)cases[i].column, cases[i].message, e->code,
                      (unsigned)e->line, (unsigned)e->column, e->message);
        hg_program_release(p);
    }
}

static void test_builder(void) {
    hg_program *p = NULL;
    hg_builder *b = hg_builder_create("t");
    hg_builder_param_buffer(b, 1, "x", HG_TYPE_F32, HG_PARAM_IN, (hg_dim[]){hg_dim_param("n")}, 1);
    hg_builder_scratch(b, 2, "tmp", HG_TYPE_F32, (hg_dim[]){hg_dim_param("n"), hg_dim_of(4)}, 2);
    hg_builder_param_scalar(b, 4, "n", HG_TYPE_U32);
    hg_builder_scratch(b, 5, "one", HG_TYPE_I128, NULL, 0);
    hg_build_mov(b, HG_TYPE_U64, 6, 2);
    hg_build_exit(b);
    CHECK(hg_builder_build(b, NULL, &p) == HG_OK);
    if (p) prints(p, TEXT);
    hg_program_release(p);
    hg_builder_destroy(b);
    b = hg_builder_scratch(hg_builder_create("t"), 1, "x", HG_TYPE_F32, NULL, HG_NO_DIMS);
    CHECK(hg_builder_build(b, NULL, &p) == HG_ERROR_ISA &&
          strcmp(hg_last_error()->code, "S05") == 0);
    hg_builder_destroy(b);
    b = hg_builder_scratch(hg_builder_create("t"), 1, "x", HG_TYPE_F32,
                           (hg_dim[]){hg_dim_param("m")}, 1);
    CHECK(hg_builder_build(b, NULL, &p) == HG_ERROR_ISA &&
          strcmp(hg_last_error()->code, "D03") == 0);
    hg_builder_destroy(b);
}

int main(void) {
    test_text_and_binary();
    test_messages();
    test_builder();
    return test_done();
}

/* What an instruction on whole arrays leaves out: its type, its operands, and which type its
 * numbers have. Text, builder and binary say the same, and containers of older versions are read as
 * they were meant. Bytes are written by hand. */
#include "isa/cfg.h"
#include "isa/program.h"
#include "test.h"
#include <hologram/builder.h>

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n" /* the next line is 3 */

static hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    CHECK_MESSAGE(status == HG_OK, "%u:%u: %s: %s\n%s", (unsigned)hg_last_error()->line,
                  (unsigned)hg_last_error()->column, hg_last_error()->code,
                  hg_last_error()->message, text);
    return p;
}

static void refused(const char *text, const char *code, uint32_t line, uint32_t column,
                    const char *words) {
    hg_program *p = NULL;
    const hg_error *e = hg_last_error();
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(e->code, code) == 0 && e->line == line &&
                      e->column == column && strstr(e->message, words) != NULL,
                  "expected %u:%u: %s: ...%s..., got %u:%u: %s: %s\n%s", (unsigned)line,
                  (unsigned)column, code, words, (unsigned)e->line, (unsigned)e->column,
                  status == HG_OK ? "" : e->code, status == HG_OK ? "a program" : e->message, text);
    hg_program_release(p);
}

/* ---- types that are left out ---- */

/* Each instruction on whole arrays with all of its arrays by name: x of the instruction's type, w
 * of type W, i of u32. */
static const struct {
    const char *name, *operands;
} WHOLE[] = {
    {"gemm", "c=y, a=x, b=x, m=1, n=1, k=1, bias=x"},
    {"batched_gemm", "c=y, a=x, b=x, batch=1, m=1, n=1, k=1"},
    {"conv2d", "output=y, input=x, kernel=x, batch=1, in_channels=1, out_channels=1, height=1, "
               "width=1, kernel_h=1, kernel_w=1, stride=(1, 1), "
               "padding=(0, 0)"},
    {"conv", "output=y, input=x, kernel=x, batch=1, in_channels=1, out_channels=1, size=(1), "
             "window=(1)"},
    {"conv_transpose", "output=y, input=x, kernel=x, batch=1, in_channels=1, out_channels=1, "
                       "size=(1), window=(1)"},
    {"max_pool", "output=y, input=x, planes=1, size=(1), window=(1)"},
    {"avg_pool", "output=y, input=x, planes=1, size=(1), window=(1)"},
    {"sparse_gemm", "c=y, a_values=x, a_indices=i, a_ptr=i, b=x, m=1, n=1, k=1"},
    {"tensor_contract", "output=y, a=x, b=x, shape_a=(1), shape_b=(1), contract_dims=((0, 0))"},
    {"layer_norm", "output=y, input=x, gamma=x, beta=x, n=1, eps=1e-5"},
    {"batch_norm", "output=y, input=x, gamma=x, beta=x, mean=x, variance=x, batch=1, channels=1, "
                   "spatial=1, eps=1e-5"},
    {"group_norm",
     "output=y, input=x, gamma=x, beta=x, batch=1, channels=1, groups=1, spatial=1, eps=1e-5"},
    {"softmax", "output=y, input=x, n=1"},
    {"reduce_axis", "output=y, input=x, n=1"},
    {"sort", "output=y, input=x, n=1"},
    {"top_k", "output=y, input=x, n=1, k=1"},
    {"fft", "output=y, input=x, n=1, inverse=false"},
    {"layer_scale", "output=y, input=x, scale=x, n=1"},
    {"rope", "output=y, input=x, freqs=x, batch=1, seq_len=1, heads=1, head_dim=2"},
    {"kv_cache_update", "cache=y, new_kv=x, position=0, batch=1, heads=1, head_dim=1"},
    {"scan", "output=y, input=x, n=1"},
    {"gather", "output=y, input=x, indices=i, n=1, count=1"},
    {"scatter", "output=y, input=x, indices=i, n=1, count=1"},
    {"scatter_add", "output=y, input=x, indices=i, n=1, count=1"},
    {"segment_reduce", "output=y, input=x, offsets=i, segments=1, n=1"},
    {"arg_max", "output=w, input=x, n=1"},
    {"arg_min", "output=w, input=x, n=1"},
    {"log_softmax", "output=y, input=x, n=1"},
    {"rms_norm", "output=y, input=x, gamma=x, n=1, eps=1e-5"},
    {"all_reduce", "buffer=y, n=1, operation=sum, devices=(0)"},
    {"all_gather", "output=y, input=x, n=1, devices=(0)"},
    {"reduce_scatter", "output=y, input=x, n=1, operation=sum, devices=(0)"},
    {"broadcast", "buffer=y, n=1, devices=(0), root=0"},
    {"attention",
     "output=y, query=x, key=x, value=x, batch=1, heads=1, seq_len=1, head_dim=1, mask=x"},
    {"flash_attention",
     "output=y, query=x, key=x, value=x, batch=1, heads=1, seq_len=1, head_dim=1, block_size=1"},
    {"quantized_gemm", "c=y, a=x, b=w, a_scale=1, b_scale=1, c_scale=1, m=1, n=1, k=1"},
    {"mixed_precision_gemm", "c=w, a=x, b=x, m=1, n=1, k=1, bias=w"},
    {"parallel_map", "y, x, abs, 1"},
    {"parallel_map_binary", "y, x, x, add, 1"},
    {"parallel_reduce", "[y], x, sum, 1"},
};

static hg_op op_of(const char *name) {
    for (int op = 0; op < HG_OP_COUNT; op++)
        if (strcmp(hg_op_get((hg_op)op)->text, name) == 0) return (hg_op)op;
    return HG_OP_NONE;
}

static void text_of(char *text, size_t size, uint32_t which, hg_type type, const char *suffix) {
    const char *w = strcmp(WHOLE[which].name, "quantized_gemm") == 0 ? "i8" : "f32";
    snprintf(text, size,
             HEAD ".param x buffer %s in\n.param y buffer %s inout\n.param w buffer %s "
                  "inout\n.param i buffer u32 in\n    %s%s %s\n",
             hg_type_name(type), hg_type_name(type), w, WHOLE[which].name, suffix,
             WHOLE[which].operands);
}

static void test_types_of_arrays(void) {
    unsigned count = 0;
    for (uint32_t k = 0; k < HG_COUNT_OF(WHOLE); k++)
        for (int t = 0; t < HG_TYPE_COUNT; t++) {
            char plain[800], typed[800], suffix[16];
            if (!hg_op_allows_type(op_of(WHOLE[k].name), (hg_type)t)) continue;
            snprintf(suffix, sizeof suffix, ".%s", hg_type_name((hg_type)t));
            text_of(plain, sizeof plain, k, (hg_type)t, "");
            text_of(typed, sizeof typed, k, (hg_type)t, suffix);
            hg_program *p = assemble(plain), *q = assemble(typed);
            hg_diagnostics *d = hg_diagnostics_create(20);
            CHECK_MESSAGE(p && q && memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0, "%s",
                          plain);
            CHECK_MESSAGE(q && hg_verify(q, NULL, d, NULL) == HG_OK && hg_diagnostics_count(d) == 0,
                          "a warning or an error: %s", typed);
            hg_diagnostics_destroy(d);
            hg_program_release(p);
            hg_program_release(q);
            count++;
        }
    CHECK_MESSAGE(count > 100, "only %u", count);
}

/* No name tells, or bytes: f32. Arrays that differ, or that the instruction does not take, are
 * mistakes. */
static void test_no_type(void) {
    static const char unnamed[] = HEAD ".param r1 a buffer f64 in\n.param r2 b buffer f64 out\n    "
                                       "softmax%s output=r2, input=r1, n=3\n";
    static const char bytes[] = HEAD
        ".param a buffer u8 in\n.param b buffer u8 out\n    softmax%s output=b, input=a, n=3\n";
    static const char *const texts[] = {unnamed, bytes};
    for (int i = 0; i < 2; i++) {
        char plain[200], typed[200];
        snprintf(plain, sizeof plain, texts[i], "");
        snprintf(typed, sizeof typed, texts[i], ".f32");
        hg_program *p = assemble(plain), *q = assemble(typed);
        CHECK(p && q && memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
        hg_program_release(p);
        hg_program_release(q);
    }
#define TWO(x, y) HEAD ".param x buffer " x " in\n.param y buffer " y " out\n"
    refused(TWO("f32", "f64") "    softmax output=y, input=x, n=3\n", "V05", 5, 29,
            "elements of 'y' are f64, of 'x' f32");
    refused(TWO("f64", "f64") ".param g buffer f32 in\n    layer_norm output=y, input=x, gamma=x, "
                              "beta=g, n=3, eps=1\n",
            "V05", 6, 49, "elements of 'x' are f64, of 'g' f32");
    refused(TWO("i32", "i32") "    softmax output=y, input=x, n=3\n", "N06", 5, 5,
            "SOFTMAX for type i32");
    refused(TWO("f16", "f32") "    parallel_map y, x, abs, 3\n", "V05", 5, 21,
            "elements of 'y' are f32, of 'x' f16");
    refused(TWO("u8", "f32") "    kv_cache_update cache=y, new_kv=x, position=0, batch=1, heads=1, "
                             "head_dim=1\n",
            "V05", 5, 37, "of 'x' u8");
}

/* ---- V15 and V13 ---- */

static uint32_t warnings(const char *text, const char *code) {
    hg_program *p = assemble(text);
    hg_diagnostics *d = hg_diagnostics_create(20);
    uint32_t count = 0;
    CHECK(p && hg_verify(p, NULL, d, NULL) == HG_OK);
    for (size_t i = 0; i < hg_diagnostics_count(d); i++)
        count += strcmp(hg_diagnostics_get(d, i)->code, code) == 0;
    hg_diagnostics_destroy(d);
    hg_program_release(p);
    return count;
}

static void test_warnings(void) {
    CHECK_U64(warnings(TWO("f32", "f32") "    softmax.f64 output=y, input=x, n=2\n", "V15"), 2);
    CHECK_U64(warnings(TWO("f64", "f32") "    softmax.f64 output=y, input=x, n=2\n", "V15"), 1);
    CHECK_U64(
        warnings(TWO("f16", "bf16") "    layer_scale.f16 output=y, input=x, scale=x, n=2\n", "V15"),
        1);
    CHECK_U64(warnings(TWO("u8", "u8") "    softmax.f64 output=y, input=x, n=2\n", "V15"), 0);
    CHECK_U64(warnings(TWO("f32", "i32") "    parallel_map.u32 y, x, abs, 2\n", "V15"), 0);
    CHECK_U64(warnings(TWO("f64", "f32") ".reg s f32\n    parallel_reduce s, x, sum, 2\n", "V15"),
              1);
    CHECK_U64(warnings(TWO("f64", "f64") ".reg s f32\n    reduce.add s, [x], 2\n", "V15"), 1);
    CHECK_U64(warnings(TWO("i64", "f32") "    sparse_gemm.f32 c=y, a_values=y, a_indices=x, "
                                         "a_ptr=x, b=y, m=1, n=1, k=1\n",
                       "V15"),
              2);
    /* the bits of a float as an integer of its size, signed or not */
    static const char *const integers[] = {"i32", "u32"};
    for (int i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 TWO("f32", "f32") "    ldg.%s r9, [x[0]]\n    stg.%s [y[0]], r9\n", integers[i],
                 integers[i]);
        CHECK_U64(warnings(text, "V15"), 0);
    }
    CHECK_U64(warnings(TWO("f32", "f32") "    ldg.i16 r9, [x[0]]\n", "V15"), 1);
    CHECK_U64(warnings(TWO("f32", "u32") "    ldg.f32 r9, [y[0]]\n", "V15"), 1);
    /* a loop of no rounds, alone, around another, inside one that runs */
    CHECK_U64(warnings(HEAD "    loop r1, 0\n    mov_imm.u32 r2, 1\n    endloop\n", "V13"), 0);
    CHECK_U64(warnings(HEAD "    loop.u64 r1, 0\n    loop r2, 3\n    mov_imm.u32 r3, 1\n    "
                            "endloop\n    loop r2, 0\n    exit\n    endloop\n    endloop\n",
                       "V13"),
              0);
    CHECK_U64(
        warnings(
            HEAD
            "    loop r1, 2\n    loop r2, 0\n    mov_imm.u32 r3, 1\n    endloop\n    endloop\n",
            "V13"),
        0);
    CHECK_U64(
        warnings(
            HEAD
            "    loop r1, 0\n    mov_imm.u32 r2, 1\n    endloop\n    exit\n    mov_imm.u32 r2, 1\n",
            "V13"),
        1);
    hg_builder *b = hg_builder_create("t");
    hg_builder_loop(b, 1, 0);
    hg_build_mov_imm(b, HG_TYPE_U32, 2, hg_imm_u64(1));
    hg_builder_endloop(b);
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(20);
    CHECK(hg_builder_build(b, NULL, &p) == HG_OK && hg_verify(p, NULL, d, NULL) == HG_OK &&
          hg_diagnostics_count(d) == 0);
    hg_diagnostics_destroy(d);
    hg_program_release(p);
    hg_builder_destroy(b);
}

/* ---- tuples and destinations ---- */

static void test_tuples(void) {
#define CONV                                                                                  \
    "    conv2d.f32 output=r1, input=r2, kernel=r3, batch=1, in_channels=1, out_channels=1, " \
    "height=1, width=1, kernel_h=1, kernel_w=1, "
    refused(HEAD CONV "stride=(1), padding=(0, 0)\n", "N04", 3, 138,
            "operand 'stride' of 'conv2d': expected 2 numbers, got 1");
    refused(HEAD CONV "stride=(1, 1, 1), padding=(0, 0)\n", "N04", 3, 138,
            "expected 2 numbers, got 3");
    refused(HEAD CONV "stride=(1, 1), padding=()\n", "N04", 3, 154, "expected 2 numbers, got 0");
    refused(HEAD CONV "stride=(1, 1), padding=(0, 0), padding_end=(r4)\n", "N04", 3, 174,
            "expected 2 numbers, got 1");
    refused(HEAD CONV "stride=(1, 1), padding=(0, 0), dilation=()\n", "N04", 3, 171,
            "expected 2 numbers, got 0");
    refused(HEAD
            "    batched_gemm.f32 c=r1, a=r2, b=r3, batch=1, m=1, n=1, k=1, batch_strides=(1, 1)\n",
            "N04", 3, 78, "expected 3 numbers, got 2");
    refused(HEAD "    attention.f32 output=r1, query=r2, key=r3, value=r4, batch=1, heads=1, "
                 "seq_len=1, head_dim=1, mask_strides=(1, 1, 1, 1)\n",
            "N04", 3, 112, "expected 2 numbers, got 4");
    refused(HEAD "    tensor_contract.f32 output=r1, a=r2, b=r3, shape_a=(1), shape_b=(1), "
                 "contract_dims=((0, 0), (0, 0, 0))\n",
            "N04", 3, 88, "expected 2 numbers in each tuple, got 3");
    hg_program_release(assemble(HEAD CONV "stride=(1, r4), padding=(0, 0), padding_end=()\n"));
    hg_program_release(assemble(HEAD "    tensor_contract.f32 output=r1, a=r2, b=r3, shape_a=(1), "
                                     "shape_b=(1), contract_dims=()\n"));
}

static void test_destinations(void) {
#define ARRAYS                                                                                \
    HEAD ".param x buffer f64 in\n.param y buffer f64 out\n.param q pool 64\n.scratch s u64 " \
         "[4]\n.param n u64\n"
    static const struct {
        const char *line;
        uint32_t column;
        const char *words;
    } cases[] = {{"reduce.add y, [x], 4", 16,
                  "'reduce.add' cannot write 'y': its register holds the handle of the array"},
                 {"reduce.max.u64 s, [s], 4", 20, "cannot write 's'"},
                 {"parallel_reduce.u64 y, s, sum, 4", 25, "cannot write 'y'"},
                 {"add y, n, 1", 9, "cannot write 'y'"},
                 {"ldg.u64 q, [s[0]]", 13, "its register holds the handle of the pool"},
                 {"mov y, 5", 9, "cannot write 'y'"},
                 {"cvt.u64.f64 y, r9", 17, "cannot write 'y'"},
                 {"rdid y, lane_count", 10, "cannot write 'y'"}};
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        char text[300];
        snprintf(text, sizeof text, ARRAYS "    %s\n", cases[i].line);
        refused(text, "N03", 8, cases[i].column, cases[i].words);
    }
    static const char *const allowed[] = {"mov y, x",
                                          ".reg p pred\n    seteq p, n, 0\n    sel y, p, x, y",
                                          "pool.alloc q, 64", "add n, n, 1"};
    for (size_t i = 0; i < HG_COUNT_OF(allowed); i++) {
        char text[300];
        snprintf(text, sizeof text, ARRAYS "    %s\n", allowed[i]);
        hg_program_release(assemble(text));
    }
}

/* ---- operands that are left out, in containers ---- */

typedef struct bytes {
    uint8_t data[1024];
    size_t length;
} bytes;

static void le(bytes *b, uint64_t value, int count) {
    for (int i = 0; i < count; i++) b->data[b->length++] = (uint8_t)(value >> (8 * i));
}
static void number(bytes *b, uint64_t value) { le(b, 0, 1), le(b, value, 8); }
static void in_register(bytes *b, uint8_t reg) { le(b, 1, 1), le(b, reg, 1); }
static void array(bytes *b, uint8_t reg) { le(b, 8, 1), le(b, reg, 1); }
static void set(uint8_t *at, uint64_t value, int count) {
    for (int i = 0; i < count; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/* A container of one instruction. */
static void container(bytes *file, uint16_t minor, const bytes *instruction) {
    file->length = 0;
    memcpy(file->data,
           "\x89"
           "ATLASB\n",
           8);
    file->length = 8;
    le(file, 1, 2), le(file, minor, 2), le(file, 2, 4), le(file, 0, 8);
    for (int i = 0; i < 4; i++) le(file, 0, 8);
    le(file, 0, 8); /* flags */
    size_t table = file->length;
    for (int i = 0; i < 6; i++) le(file, 0, 8);
    for (uint64_t kind = 0; kind < 2; kind++) {
        while (file->length % 8) le(file, 0, 1);
        size_t start = file->length;
        if (kind == 0) {
            le(file, 0, 4), le(file, 1, 4);
            memcpy(file->data + file->length, instruction->data, instruction->length);
            file->length += instruction->length;
        } else {
            le(file, 1, 1), le(file, 't', 1), le(file, 0, 4);
        }
        set(file->data + table + 24 * kind, kind ? 4 : 1, 4);
        set(file->data + table + 24 * kind + 8, start, 8);
        set(file->data + table + 24 * kind + 16, file->length - start, 8);
    }
    set(file->data + 16, file->length, 8);
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, file->data, file->length);
    hg_blake3_final(&h, file->data + 24);
}

/* A container of that version is what the text is. `same`: writing it gives the same bytes, else
 * those of minor version 2. */
static void reads(uint16_t minor, const bytes *instruction, const char *text, bool same) {
    bytes file;
    hg_program *p = NULL, *q = assemble(text);
    uint8_t *again = NULL;
    size_t length = 0;
    container(&file, minor, instruction);
    hg_status status = hg_program_decode(file.data, file.length, NULL, &p);
    CHECK_MESSAGE(status == HG_OK, "1.%u: %s: %s", (unsigned)minor, hg_last_error()->message, text);
    if (status != HG_OK || !q) {
        hg_program_release(q);
        return;
    }
    char *printed = NULL;
    CHECK(hg_program_print(p, &printed, NULL) == HG_OK);
    CHECK_TEXT(printed, text);
    CHECK(memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
    CHECK(hg_program_encode(p, 0, &again, &length) == HG_OK);
    CHECK((length == file.length && memcmp(again, file.data, length) == 0) == same);
    CHECK(again[10] == (same ? minor : 2));
    hg_string_free((char *)again);
    hg_string_free(printed);
    hg_program_release(p);
    hg_program_release(q);
}

static void not_read(uint16_t minor, const bytes *instruction, const char *what) {
    bytes file;
    hg_program *p = NULL;
    container(&file, minor, instruction);
    CHECK_MESSAGE(hg_program_decode(file.data, file.length, NULL, &p) == HG_ERROR_ISA &&
                      strcmp(hg_last_error()->code, "B06") == 0,
                  "1.%u: %s: expected B06, got %s", (unsigned)minor, what,
                  p ? "a program" : hg_last_error()->code);
    hg_program_release(p);
}

enum { SOFTMAX_ROWS = 1, SOFTMAX_LD = 2 }; /* optional operands */

static void softmax(bytes *b, uint32_t bits) {
    b->length = 0;
    le(b, 0x125, 2), le(b, HG_TYPE_F32, 1), array(b, 1), array(b, 2), number(b, 4), le(b, bits, 4);
}

static void test_zero(void) {
#define SOFTMAX HEAD "    softmax.f32 output=r1, input=r2, n=4"
    bytes b;
    softmax(&b, 0);
    reads(0, &b, SOFTMAX "\n", true);
    softmax(&b, SOFTMAX_LD), number(&b, 5);
    reads(0, &b, SOFTMAX ", ld=5\n", true);
    not_read(2, &b, "nothing of version 2");
    softmax(&b, SOFTMAX_LD), in_register(&b, 3); /* what it holds is its value in every version */
    reads(0, &b, SOFTMAX ", ld=r3\n", true);
    softmax(&b, SOFTMAX_LD), number(&b, 0);
    reads(2, &b, SOFTMAX ", ld=0\n", true);
    not_read(0, &b, "a 0 that is written");
    not_read(1, &b, "a 0 that is written");
    softmax(&b, SOFTMAX_ROWS), number(&b, 1);
    not_read(0, &b, "a value that it has where it is left out");
    softmax(&b, SOFTMAX_ROWS), number(&b, 0);
    reads(0, &b, SOFTMAX ", rows=0\n", true);
}

static void attention(bytes *b, uint32_t bits) {
    b->length = 0;
    le(b, 0x126, 2), le(b, HG_TYPE_F16, 1);
    for (uint8_t i = 1; i <= 4; i++) array(b, i);
    for (int i = 0; i < 4; i++) number(b, 2);
    le(b, bits, 4); /* kv_heads, kv_len, causal, mask, mask_strides, scale */
}

static void test_attention(void) {
#define ATTENTION                                                                                 \
    HEAD "    attention.f16 output=r1, query=r2, key=r3, value=r4, batch=2, heads=2, seq_len=2, " \
         "head_dim=2"
    bytes b;
    attention(&b, 0);
    reads(0, &b, ATTENTION "\n", true);
    attention(&b, 32), le(&b, 0x3FE0000000000000, 8); /* scale is f64 in halves too */
    reads(0, &b, ATTENTION ", scale=0.5\n", true);
    attention(&b, 32), le(&b, 0, 8);
    reads(2, &b, ATTENTION ", scale=0.0\n", true);
    not_read(0, &b, "a scale of 0");
    attention(&b, 3), number(&b, 0), number(&b, 0);
    reads(2, &b, ATTENTION ", kv_heads=0, kv_len=0\n", true);
    attention(&b, 2), number(&b, 7);
    reads(0, &b, ATTENTION ", kv_len=7\n", true);
    attention(&b, 16), le(&b, 2, 4), number(&b, 0), number(&b, 0);
    reads(0, &b, ATTENTION ", mask_strides=(0, 0)\n", true);
    attention(&b, 16), le(&b, 0, 4);
    not_read(0, &b, "an empty tuple, which stands for one that is left out");
}

/* Factors of halves: two bytes below version 2, f32 from there on. */
static void test_factors(void) {
    static const struct {
        hg_type type;
        uint16_t half;
        uint32_t wide;
        const char *text;
    } cases[] = {{HG_TYPE_F16, 0x3800, 0x3F000000, "0.5"},
                 {HG_TYPE_F16, 0x00A8, 0x37280000, "1.001358e-05"}, /* 168 x 2^-24 */
                 {HG_TYPE_F16, 0x0001, 0x33800000, "5.9604645e-08"},
                 {HG_TYPE_F16, 0x83FF, 0xB87FC000, "-6.097555e-05"},
                 {HG_TYPE_F16, 0x7BFF, 0x477FE000, "65504.0"},
                 {HG_TYPE_F16, 0x7C00, 0x7F800000, "inf"},
                 {HG_TYPE_F16, 0x8000, 0x80000000, "-0.0"},
                 {HG_TYPE_BF16, 0x3727, 0x37270000, "9.953976e-06"},
                 {HG_TYPE_BF16, 0x0001, 0x00010000, "9.1835e-41"}};
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        char text[300];
        for (int version = 0; version <= 2; version += 2) {
            bytes b = {.length = 0};
            le(&b, 0x123, 2), le(&b, cases[i].type, 1);
            for (uint8_t r = 1; r <= 4; r++) array(&b, r);
            number(&b, 4);
            if (version)
                le(&b, cases[i].wide, 4);
            else
                le(&b, cases[i].half, 2);
            le(&b, 0, 4);
            snprintf(text, sizeof text,
                     HEAD "    layer_norm.%s output=r1, input=r2, gamma=r3, beta=r4, n=4, eps=%s\n",
                     hg_type_name(cases[i].type), cases[i].text);
            reads((uint16_t)version, &b, text, version == 2);
        }
    }
    /* f32 and f64 need no new version */
    hg_program *p = assemble(
        HEAD "    layer_norm.f64 output=r1, input=r2, gamma=r3, beta=r4, n=4, eps=1e-12\n");
    uint8_t *file = NULL;
    size_t length = 0;
    CHECK(hg_program_encode(p, 0, &file, &length) == HG_OK && file[10] == 0);
    hg_string_free((char *)file);
    hg_program_release(p);
    /* alpha that a gemm of halves has where it is left out */
    bytes b = {.length = 0};
    le(&b, 0x120, 2), le(&b, HG_TYPE_F16, 1), array(&b, 1), array(&b, 2), array(&b, 3),
        number(&b, 1), number(&b, 1), number(&b, 1);
    size_t bits = b.length;
    le(&b, 0, 4);
    reads(0, &b, HEAD "    gemm.f16 c=r1, a=r2, b=r3, m=1, n=1, k=1\n", true);
    set(b.data + bits, 2, 4), le(&b, 0x3800, 2); /* beta */
    reads(0, &b, HEAD "    gemm.f16 c=r1, a=r2, b=r3, m=1, n=1, k=1, beta=0.5\n", false);
    b.length = bits;
    le(&b, 1, 4), le(&b, 0x3C00, 2);
    not_read(0, &b, "an alpha of 1");
    b.length = bits;
    le(&b, 1, 4), le(&b, 0x3F800000, 4);
    not_read(2, &b, "an alpha of 1");
}

/* ---- the builder ---- */

static void builds(hg_builder *b, const char *text) {
    hg_program *p = NULL, *q = assemble(text);
    CHECK_MESSAGE(hg_builder_build(b, NULL, &p) == HG_OK, "%s", hg_last_error()->message);
    char *printed = NULL;
    if (p) CHECK(hg_program_print(p, &printed, NULL) == HG_OK);
    CHECK_TEXT(printed, text);
    CHECK(p && q && memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
    hg_string_free(printed);
    hg_program_release(p);
    hg_program_release(q);
    hg_builder_destroy(b);
}

static void build_fails(hg_builder *b, const char *code) {
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_builder_build(b, NULL, &p) == HG_ERROR_ISA &&
                      strcmp(hg_last_error()->code, code) == 0,
                  "expected %s, got %s", code, p ? "a program" : hg_last_error()->message);
    hg_program_release(p);
    hg_builder_destroy(b);
}

#define BUILD_SOFTMAX(type, ...)      \
    hg_build_softmax(                 \
        hg_builder_create("t"), type, \
        (hg_softmax_operands){        \
            .output = hg_array(1), .input = hg_array(2), .n = hg_count(4), __VA_ARGS__})
#define BUILD_NORM(type, number)                                        \
    hg_build_layer_norm(hg_builder_create("t"), type,                   \
                        (hg_layer_norm_operands){.output = hg_array(1), \
                                                 .input = hg_array(2),  \
                                                 .gamma = hg_array(3),  \
                                                 .beta = hg_array(4),   \
                                                 .n = hg_count(4),      \
                                                 .eps = number})

static hg_builder *infer(hg_type x, hg_type y) {
    hg_builder *b = hg_builder_create("t");
    hg_builder_param_buffer(b, 2, "x", x, HG_PARAM_IN, NULL, HG_NO_DIMS);
    hg_builder_param_buffer(b, 1, "y", y, HG_PARAM_OUT, NULL, HG_NO_DIMS);
    return hg_build_softmax(
        b, HG_TYPE_INFER,
        (hg_softmax_operands){.output = hg_array(1), .input = hg_array(2), .n = hg_count(4)});
}

static void test_builder(void) {
    static const uint16_t half = 0x00A8;
    static const float single = 1e-12F;
    builds(BUILD_SOFTMAX(HG_TYPE_F32, .rows = hg_count(1)), SOFTMAX "\n");
    builds(BUILD_SOFTMAX(HG_TYPE_F32, .ld = hg_left_out()), SOFTMAX "\n");
    builds(BUILD_SOFTMAX(HG_TYPE_F32, .ld = hg_count(0)), SOFTMAX ", ld=0\n");
    builds(BUILD_SOFTMAX(HG_TYPE_F32, .ld = hg_count_reg(0)), SOFTMAX ", ld=r0\n");
#define NORM "output=r1, input=r2, gamma=r3, beta=r4, n=4, eps="
    builds(BUILD_NORM(HG_TYPE_F16, hg_imm_f64(1e-12)), HEAD "    layer_norm.f16 " NORM "1e-12\n");
    builds(BUILD_NORM(HG_TYPE_F16, hg_imm_bits(&half)),
           HEAD "    layer_norm.f16 " NORM "1.001358e-05\n");
    builds(BUILD_NORM(HG_TYPE_F32, hg_imm_bits(&single)),
           HEAD "    layer_norm.f32 " NORM "1e-12\n");
    build_fails(BUILD_NORM(HG_TYPE_F16, hg_left_out()), "N05");
#define PARAMS(x, y) HEAD ".param r2 x buffer " x " in\n.param r1 y buffer " y " out\n"
    builds(infer(HG_TYPE_F64, HG_TYPE_F64),
           PARAMS("f64", "f64") "    softmax.f64 output=r1, input=r2, n=4\n");
    builds(infer(HG_TYPE_U8, HG_TYPE_BF16),
           PARAMS("u8", "bf16") "    softmax.bf16 output=r1, input=r2, n=4\n");
    builds(BUILD_SOFTMAX(HG_TYPE_INFER, .rows = hg_count(2)), SOFTMAX ", rows=2\n");
    build_fails(infer(HG_TYPE_F64, HG_TYPE_F32), "V05");
    const hg_arg two[] = {hg_count(1), hg_count(0)};
    hg_batched_gemm_operands product = {.c = hg_array(1),
                                        .a = hg_array(2),
                                        .b = hg_array(3),
                                        .batch = hg_count(1),
                                        .m = hg_count(1),
                                        .n = hg_count(1),
                                        .k = hg_count(1),
                                        .batch_strides = hg_tuple_of(two, 2)};
    build_fails(hg_build_batched_gemm(hg_builder_create("t"), HG_TYPE_F32, product), "N04");
    product.batch_strides = hg_tuple_of(NULL, 0);
    builds(hg_build_batched_gemm(hg_builder_create("t"), HG_TYPE_F32, product),
           HEAD "    batched_gemm.f32 c=r1, a=r2, b=r3, batch=1, m=1, n=1, k=1\n");
}

int main(void) {
    test_types_of_arrays();
    test_no_type();
    test_warnings();
    test_tuples();
    test_destinations();
    test_zero();
    test_attention();
    test_factors();
    test_builder();
    return test_done();
}

/* The check of an axis: arrays of several axes by parameters and expressions, indices of every
 * type, inside and outside, in functions, and accesses behind a chain that is not whole. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 40, ROWS = 5, COLUMNS = 7, DEPTH = 3 };

/* x[i, j, k] + z[i, j * 3 + k], with extents by expressions of h and w, which the program writes
 * over; # is the type of the indices. Lane 29 gets `bad` as its index of axis 1. */
static const char CHAIN[] =
    ".atlas 1\n.program cts\n.param r1 y buffer u32 out [lanes]\n.param r2 x buffer u32 in [h, w + "
    "2, 3]\n"
    ".param r3 z buffer u32 in [ceil(h / 1), (w + 2) * min(3, h)]\n.param r4 i buffer # in [lanes, "
    "3]\n"
    ".param r5 h u32\n.param r6 w u32\n.param r7 lanes u64\n.scratch r8 t u32 [h, lanes]\n"
    "    mov_imm.u64 r40, 3\n    mul.u64 r41, r255, r40\n    mov_imm.u64 r42, @\n"
    "    mul.u64 r43, r41, r42\n    ldg.# r10, [r4 + r43]\n    add.u64 r43, r43, r42\n"
    "    ldg.# r11, [r4 + r43]\n    add.u64 r43, r43, r42\n    ldg.# r12, [r4 + r43]\n"
    "    mov_imm.u32 r5, 0\n    mov_imm.u32 r6, 1\n%s"
    "    axis.# r20, r10, [buf(r2) + 0], 0\n    axis.# r20, r20, r11, [buf(r2) + 0], 1\n"
    "    axis.# r20, r20, r12, [buf(r2) + 0], 2\n    ldg.u32 r21, [r2 + r20*4]\n"
    "    mov_imm.# r13, 3\n    mul.# r14, r11, r13\n    add.# r14, r14, r12\n"
    "    axis.# r22, r10, [buf(r3) + 0], 0\n    axis.# r22, r22, r14, [buf(r3) + 0], 1\n"
    "    ldg.u32 r23, [r3 + r22*4]\n    axis.u64 r24, r22, [buf(r3) + 0], 255\n"
    "    ldg.u8 r25, [r3 + r24*4]\n    cvt.u32.u8 r25, r25\n    mad.u32 r21, r21, r23, r25\n"
    "    axis.# r26, r10, [buf(r8) + 0], 0\n    axis.u64 r26, r26, r255, [buf(r8) + 0], 1\n"
    "    stg.u32 [r8 + r26*4], r21\n    ldg.u32 r21, [r8 + r26*4]\n"
    "    axis.u64 r27, r255, [buf(r1) + 0], 0\n    stg.u32 [r1 + r27*4], r21\n%s";

/* # becomes the type, @ its size. */
static void write_chain(char *out, size_t room, hg_type type, const char *before,
                        const char *after) {
    char text[4096], *to = out;
    snprintf(text, sizeof text, CHAIN, before, after);
    for (const char *c = text; *c && to + 8 < out + room; c++)
        if (*c == '#')
            to += sprintf(to, "%s", hg_type_name(type));
        else if (*c == '@' && c[1] == '\n')
            to += sprintf(to, "%u", oracle_size(type));
        else
            *to++ = *c;
    *to = '\0';
}

static void put(case_array *a, hg_type type, uint64_t at, int64_t value) {
    memcpy(a->bytes + at * oracle_size(type), &value, oracle_size(type));
}

static void fill_words(cts *s, run_case *c, const char *name, uint64_t count) {
    case_array *a = case_add_array(c, name, HG_TYPE_U32, NULL, 4 * count);
    for (uint64_t i = 0; a && i < count; i++) cts_any(s, HG_TYPE_U32, a->bytes + 4 * i);
}

static void chain(cts *s, hg_type type, int64_t bad, const char *what, const char *before,
                  const char *after) {
    run_case c = {.cleared_class = 96};
    char text[4096], name[80];
    if (!cts_wanted(s, "axis", type)) return;
    write_chain(text, sizeof text, type, before, after);
    cts_text(&c, "%s", text);
    fill_words(s, &c, "y", LANES);
    fill_words(s, &c, "x", ROWS * COLUMNS * DEPTH + 9); /* larger than its extents */
    fill_words(s, &c, "z", ROWS * COLUMNS * DEPTH);
    case_array *i = case_add_array(&c, "i", type, NULL, (uint64_t)3 * LANES * oracle_size(type));
    for (uint64_t k = 0; i && k < LANES; k++) {
        put(i, type, 3 * k, (int64_t)(k * 7 % ROWS));
        put(i, type, 3 * k + 1, (int64_t)(k * 5 % COLUMNS));
        put(i, type, 3 * k + 2, (int64_t)(k % DEPTH));
    }
    if (i && bad) put(i, type, 3 * 29 + 1, bad);
    case_array *t = case_add_array(&c, "t", HG_TYPE_U32, NULL, 4 * ROWS * LANES);
    if (t) t->scratch = true;
    case_add_scalar(&c, "h", HG_TYPE_U32, ROWS);
    case_add_scalar(&c, "w", HG_TYPE_U32, COLUMNS - 2);
    case_add_scalar(&c, "lanes", HG_TYPE_U64, LANES);
    case_set_lanes(&c, LANES);
    snprintf(name, sizeof name, "axis.%s: %s", hg_type_name(type), what);
    cts_compare(s, name, &c);
}

/* Beside extents that numbers and registers say; and chains with a hole, whose accesses are checked
 * by bytes. Lane 9 has its index behind the memory where it can. */
static const struct {
    const char *name, *text;
} FORMS[] = {
#define START                                                                                     \
    ".atlas 1\n.program cts\n.param r1 y buffer u32 out [40]\n.param r2 x buffer u32 in [8, 5]\n" \
    ".param r3 few buffer u32 in [4]\n.shared 200\n.private 64\n.block 8\n"                       \
    "    mov_imm.u64 r30, 5\n    div.u64 r10, r255, r30\n    rem.u64 r11, r255, r30\n"            \
    "    mov_imm.u64 r31, 9\n    seteq.u64 p0, r255, r31\n    mov_imm.u64 r32, 0\n"               \
    "    mov_imm.u64 r33, 4000\n    sel.u64 r12, p0, r33, r32\n"
#define CELL \
    "    axis.u64 r20, r10, [buf(r2) + 0], 0\n    axis.u64 r20, r20, r11, [buf(r2) + 0], 1\n"
#define FINISH "    ldg.u32 r21, [r2 + r20*4]\n    stg.u32 [r1 + r255*4], r21\n"
    {"rows and columns", START CELL FINISH},
    {"an index that was changed", START CELL "    add.u64 r20, r20, r12\n" FINISH},
    {"a handle that was changed", START "    mov.u64 r2, r3\n" CELL FINISH},
    {"the axes of another array",
     START "    axis.u64 r20, r255, [buf(r1) + 0], 0\n    add.u64 r20, r20, r12\n"
           "    axis.u64 r20, r20, [buf(r2) + 0], 255\n" FINISH},
    {"one axis of two",
     START "    axis.u64 r20, r10, [buf(r2) + 0], 0\n    mul.u64 r20, r20, r33\n" FINISH},
    {"the axes in another order",
     START "    axis.u64 r20, r11, [buf(r2) + 0], 1\n    mul.u64 r20, r20, r33\n"
           "    mov_imm.u64 r13, 1\n    axis.u64 r20, r20, r13, [buf(r2) + 0], 1\n" FINISH},
    {"another before", START "    axis.u64 r22, r10, [buf(r2) + 0], 0\n    add.u64 r22, r22, r12\n"
                             "    axis.u64 r20, r22, r11, [buf(r2) + 0], 1\n" FINISH},
    {"extents of the block",
     START "    mov_imm.u32 r14, 5\n    cvt.u32.u64 r15, r11\n"
           "    axis.u32 r20, r252, [shared + 16], 0, extent=8\n"
           "    axis.u32 r20, r20, r15, [shared + 16], 1, extent=r14\n"
           "    cvt.u32.u64 r16, r20\n    sts.u32 [shared + r20*4 + 16], r16\n"
           "    lds.u32 r21, [shared + r20*4 + 16]\n    stg.u32 [r1 + r255*4], r21\n"},
    {"outside of extents of the block",
     START "    axis.u64 r20, r12, [shared + 16], 0, extent=r30\n    stg.u64 [buf(r1) + 0], r20\n"},
    {"extents of the lane",
     START "    axis.u64 r20, r11, [private + 16], 0, extent=5\n    stp.u32 [private + r20*4 + "
           "16], r252\n"
           "    ldp.u32 r21, [private + r20*4 + 16]\n    stg.u32 [r1 + r255*4], r21\n"},
    {"in a function", START "    call @f\n    stg.u32 [r1 + r255*4], r21\n    exit\nf:\n" CELL
                            "    ldg.u32 r21, [r2 + r20*4]\n    ret\n"},
    {"across bar.grid", START CELL "    bar.grid\n" FINISH "    bar.grid\n" CELL FINISH},
    {"guarded", START
     "    mov_imm.u64 r13, 3\n    setlt.u64 p1, r11, r13\n    bra.p1 @in\n    exit\nin:\n" CELL
         FINISH},
#undef START
#undef CELL
#undef FINISH
};

static void form(cts *s, size_t i) {
    run_case c = {.cleared_class = 96};
    char name[80];
    cts_text(&c, "%s", FORMS[i].text);
    fill_words(s, &c, "y", 40);
    fill_words(s, &c, "x", 40);
    fill_words(s, &c, "few", 4);
    case_set_lanes(&c, 40);
    c.launch.block[0] = 8;
    snprintf(name, sizeof name, "axis: %s", FORMS[i].name);
    cts_compare(s, name, &c);
}

void cts_arrays(cts *s) {
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        hg_type type = (hg_type)t;
        if (!hg_op_allows_type(HG_OP_AXIS, type)) continue;
        chain(s, type, 0, "inside", "", "");
        chain(s, type, COLUMNS, "one too far", "", "");
        if (oracle_is_signed(type)) chain(s, type, -1, "below 0", "", "");
        if (oracle_size(type) == 8) chain(s, type, INT64_MIN + 2, "far away", "", "");
    }
    chain(s, HG_TYPE_U32, 0, "in a function", "    call @f\n    exit\nf:\n", "    ret\n");
    for (size_t i = 0; i < HG_COUNT_OF(FORMS) && cts_wanted(s, "axis", HG_TYPE_U64); i++)
        form(s, i);
}

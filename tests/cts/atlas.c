/* Atlas instructions (block 1C0): every form, register operands of every type they take, constants,
 * faults, and what lanes leave in phases and resonances. The reference says what is right. */
#include "cts.h"
#include <hologram/characters.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 3 };
typedef void (*filler)(cts *s, hg_type type, uint64_t lane, uint8_t *bytes);
typedef struct input {
    hg_type type;
    filler fill;
} input; /* fill NULL: not used */

static void put(hg_type type, uint64_t value, uint8_t *bytes) {
    memset(bytes, 0, oracle_size(type));
    for (uint32_t i = 0; i < oracle_size(type) && i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* What registers hold: */
static void anything(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, cts_any(s, type, bytes);
}
static void each_class(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)s, put(type, lane * 5 % 96, bytes);
}
static void some_class(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, cts_random(s) % 96, bytes);
}
static void small(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, cts_random(s) % 9, bytes);
}
static void page(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, cts_random(s) % 24, bytes);
}
static void byte(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, cts_random(s) % 96, bytes);
}
static void orbit(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)s, put(type, lane % 32, bytes);
}
static void character(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, cts_random(s) % 194, bytes);
}
static void trivial(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)s, (void)lane, put(type, 0, bytes);
}
static void odd(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane, put(type, (cts_random(s) % 40000) * 6 + 1, bytes), bytes[0] |= 1;
}
static void power(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)s, put(type, UINT64_C(1) << (1 + lane % (8 * oracle_size(type) > 31 ? 31 : 7)), bytes);
}

static uint64_t torus(uint64_t i) {
    uint64_t pages, residues;
    if (i % 25 == 24) return 96;
    oracle_torus((hg_type)(i % 25), &pages, &residues);
    return pages * residues;
}
static void torus_size(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)s;
    uint64_t n = torus(lane);
    put(type, oracle_size(type) < 4 && n >> (8 * oracle_size(type)) ? 96 : n, bytes);
}
static void packed(cts *s, hg_type type, uint64_t lane, uint8_t *bytes) {
    (void)lane;
    put(type,
        oracle_size(type) == 1
            ? cts_random(s) % 256
            : cts_random(s) % 96 << 16 | cts_random(s) % 48 << 8 | cts_random(s) % 256,
        bytes);
}

/* body: instructions on r10 … (one an input) that leave their result in r30; %T in it is the type
 * given. */
static void run(cts *s, const char *name, hg_type result, uint64_t lanes, const input *inputs,
                const char *body, const char *type) {
    run_case c = {.cleared_class = 96, .all_classes = true};
    char text[4096];
    int n = snprintf(text, sizeof text, ".atlas 1\n.program cts\n.param r1 out buffer %s out\n",
                     hg_type_name(result));
    case_add_array(&c, "out", result, NULL, lanes * oracle_size(result));
    for (uint32_t i = 0; i < INPUTS && inputs[i].fill; i++) {
        char array[4];
        uint32_t size = oracle_size(inputs[i].type);
        snprintf(array, sizeof array, "a%u", i);
        n += snprintf(text + n, sizeof text - (size_t)n, ".param r%u a%u buffer %s in\n", 2 + i, i,
                      hg_type_name(inputs[i].type));
        case_array *a = case_add_array(&c, array, inputs[i].type, NULL, lanes * size);
        for (uint64_t k = 0; a && k < lanes; k++)
            inputs[i].fill(s, inputs[i].type, k, a->bytes + k * size);
    }
    for (uint32_t i = 0; i < INPUTS && inputs[i].fill; i++)
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    ldg.%s r%u, [r%u + r41]\n",
            oracle_size(inputs[i].type), hg_type_name(inputs[i].type), 10 + i, 2 + i);
    for (const char *p = body; *p; p++) {
        if (p[0] == '%' && p[1] == 'T')
            n += snprintf(text + n, sizeof text - (size_t)n, "%s", type), p++;
        else
            text[n++] = *p;
    }
    snprintf(text + n, sizeof text - (size_t)n,
             "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    stg.%s [r1 + r41], r30\n",
             oracle_size(result), hg_type_name(result));
    cts_text(&c, "%s", text);
    case_set_lanes(&c, lanes);
    c.launch.block[0] = lanes < 7 ? (uint32_t)lanes : 7;
    c.launch.grid[0] = (uint32_t)((lanes + c.launch.block[0] - 1) / c.launch.block[0]);
    cts_compare(s, name, &c);
}

/* ---- classes, coordinates, orbits ---- */

static const hg_type INDEX_TYPES[] = {HG_TYPE_U8, HG_TYPE_U16, HG_TYPE_U32, HG_TYPE_U64};

typedef struct form {
    const char *name;
    hg_type result;
    input inputs[INPUTS];
    const char *body;
} form;
#define U8 HG_TYPE_U8
static const form FORMS[] = {
    {"cls.get of the lane", U8, {{U8, each_class}}, "    cls.get r30\n"},
    {"mirror", U8, {{U8, each_class}}, "    mirror r30, r10\n"},
    {"unity.test",
     U8,
     {{U8, each_class}},
     "    unity.test p3, r10\n    mov_imm.u8 r31, 1\n    sel.u8 r30, p3, r31, r10\n"},
    {"nbr.count", HG_TYPE_U32, {{U8, each_class}}, "    nbr.count r30, r10\n"},
    {"nbr.get 0", U8, {{U8, each_class}}, "    nbr.get r30, r10, 0\n"},
    {"nbr.get 4", U8, {{U8, each_class}}, "    nbr.get r30, r10, 4\n"},
    {"nbr.get 5", U8, {{U8, each_class}}, "    nbr.get r30, r10, 5\n"},
    {"nbr.get 1000", U8, {{U8, each_class}}, "    nbr.get r30, r10, 1000\n"},
    {"phase.get",
     HG_TYPE_U32,
     {{HG_TYPE_U64, anything}},
     "    phase.adv r10\n    phase.adv 1000000\n    phase.adv r10\n    phase.get r30\n"},
    {"numbers",
     HG_TYPE_U64,
     {{U8, each_class}},
     "    bound.map r30, 3, 5, 7\n    bound.map.f64 r31, 95, 191, 383\n    add.u64 r30, r30, r31\n"
     "    mult.inverse r32, 12345, 73729\n    cvt.u64.u32 r32, r32\n    add.u64 r30, r30, r32\n    "
     "orbit.classify r33, 1000, 18432\n    "
     "cvt.u64.u8 r33, r33\n"
     "    add.u64 r30, r30, r33\n    orbit.representative r34, 31, 96\n    cvt.u64.u32 r34, r34\n  "
     "  add.u64 r30, r30, r34\n"},
    {"char.product, numbers",
     HG_TYPE_I128,
     {{U8, each_class}},
     "    char.product.i128 r30, 193, 0\n    char.product.i128 r31, 2, 4\n    mul.i128 r30, r30, "
     "r31\n"},
    {"char.product, irrational",
     HG_TYPE_F64,
     {{U8, each_class}},
     "    char.product.f64 r30, 15, 75\n    char.product.f64 r31, 16, 134\n    add.f64 r30, r30, "
     "r31\n"},
};
/* With registers of u8, u16, u32 and u64 in place of numbers: %T is that type. */
static const form REGISTER_FORMS[] = {
    {"nbr.get", U8, {{U8, each_class}, {U8, small}}, "    nbr.get r30, r10, r11\n"},
    {"bound.map",
     HG_TYPE_U64,
     {{U8, some_class}, {U8, page}, {U8, byte}},
     "    bound.map r30, r10, r11, r12\n"},
    {"bound.map class", HG_TYPE_U64, {{U8, some_class}}, "    bound.map r30, r10, 47, 255\n"},
    {"bound.map.u4096",
     HG_TYPE_U64,
     {{U8, some_class}, {U8, page}, {U8, byte}},
     "    bound.map.u4096 r30, r10, r11, r12\n"},
    {"orbit.classify",
     U8,
     {{U8, anything}, {U8, torus_size}},
     "    orbit.classify r30, r10, r11\n"},
    {"orbit.classify number", U8, {{U8, anything}}, "    orbit.classify r30, r10, 73728\n"},
    {"orbit.representative",
     HG_TYPE_U32,
     {{U8, orbit}, {U8, torus_size}},
     "    orbit.representative r30, r10, r11\n"},
    {"mult.inverse", HG_TYPE_U32, {{U8, odd}, {U8, power}}, "    mult.inverse r30, r10, r11\n"},
    {"mult.inverse mod 2304",
     HG_TYPE_U32,
     {{U8, trivial}},
     "    mov_imm.%T r11, 77\n    add.%T r10, r10, r11\n    mult.inverse r30, r10, 2304\n"},
    {"mult.inverse of 5", HG_TYPE_U32, {{U8, power}}, "    mult.inverse r30, 5, r10\n"},
    {"char.product.f64",
     HG_TYPE_F64,
     {{U8, character}, {U8, character}},
     "    char.product.f64 r30, r10, r11\n"},
    {"char.product.i128",
     HG_TYPE_I128,
     {{U8, character}, {U8, trivial}},
     "    char.product.i128 r30, r10, r11\n"},
    {"char.product.i128 of a class",
     HG_TYPE_I128,
     {{U8, character}},
     "    char.product.i128 r30, 2, r10\n"},
    {"res.accum",
     HG_TYPE_F64,
     {{U8, some_class}, {HG_TYPE_F64, anything}},
     "    res.accum r30, r11, r10\n"},
    {"phase.read", HG_TYPE_U32, {{U8, some_class}}, "    phase.read r30, r10\n"},
    {"phase.write",
     HG_TYPE_U32,
     {{U8, some_class}, {HG_TYPE_I32, anything}},
     "    phase.write r11, r10\n    phase.read r30, r10\n"},
};

static void forms(cts *s) {
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (cts_wanted(s, "atlas", HG_TYPE_U8))
            run(s, FORMS[i].name, FORMS[i].result, 96, FORMS[i].inputs, FORMS[i].body, "");
    for (size_t i = 0; i < sizeof REGISTER_FORMS / sizeof REGISTER_FORMS[0]; i++)
        for (int t = s->quick /* every program is a second on a device */ ? (int)i % 4 : 0;
             t < (s->quick ? (int)i % 4 + 1 : 4); t++) {
            form f = REGISTER_FORMS[i];
            char name[64];
            for (int k = 0; k < INPUTS; k++)
                if (f.inputs[k].type == U8 && !(k == 0 && f.inputs[0].fill == each_class))
                    f.inputs[k].type = INDEX_TYPES[(t + k) % 4];
            snprintf(name, sizeof name, "%s by %s", f.name, hg_type_name(f.inputs[0].type));
            if (cts_wanted(s, "atlas", INDEX_TYPES[t]))
                run(s, name, f.result, 120, f.inputs, f.body, hg_type_name(f.inputs[0].type));
        }
}

/* ---- every type ---- */

static void every_type(cts *s, hg_type type) {
    static const int OFFSETS[] = {-128, -1, 0, 5, 127};
    const char *t = hg_type_name(type);
    char name[64], body[512];
    if (!cts_wanted(s, "atlas", type) || (s->quick && type % 5 != 1)) return;
    snprintf(name, sizeof name, "cls.get of %s", t);
    run(s, name, U8, 64, (input[INPUTS]){{type, anything}}, "    cls.get r30, r10\n", t);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "nbr.load, nbr.store.%s %d", t, OFFSETS[i]);
        snprintf(body, sizeof body,
                 "    nbr.store.%%T r10, r11, %d\n    nbr.load.%%T r30, r10, %d\n", OFFSETS[i],
                 OFFSETS[i]);
        if (i == (int)type / 5 || !s->quick)
            run(s, name, type, 20, (input[INPUTS]){{U8, some_class}, {type, anything}}, body, t);
    }
    snprintf(name, sizeof name, "bound.map.%s", t);
    run(s, name, HG_TYPE_U64, 40,
        (input[INPUTS]){{U8, some_class}, {HG_TYPE_U32, page}, {HG_TYPE_U16, byte}},
        "    bound.map.%T r30, r10, r11, r12\n", t);
    snprintf(name, sizeof name, "res.accum of %s", t);
    if (!s->quick)
        run(s, name, HG_TYPE_F64, 48, (input[INPUTS]){{type, anything}, {type, anything}},
            "    res.accum r30, r10, 7\n    res.accum r30, r11, 7\n    res.accum r31, r10, 8\n    "
            "add.f64 r30, r30, r31\n",
            t);
    if (oracle_is_float(type)) return;
    snprintf(name, sizeof name, "bound.map of %s", t);
    run(s, name, HG_TYPE_U64, 40, (input[INPUTS]){{type, packed}}, "    bound.map r30, r10\n", t);
    snprintf(name, sizeof name, "phase.write of %s", t);
    run(s, name, HG_TYPE_U32, 40, (input[INPUTS]){{type, anything}, {U8, some_class}},
        "    phase.write r10, r11\n    phase.write r11, 5\n    phase.read r30, r11\n    phase.read "
        "r31, 5\n    add.u32 r30, r30, r31\n",
        t);
}

/* ---- sums and phases that many lanes and loops make ---- */

static void sums(cts *s) {
    static const form CASES[] = {
        {"unread sums",
         HG_TYPE_F64,
         {{HG_TYPE_F64, anything}, {U8, some_class}},
         "    res.accum r31, r10, r11\n    res.accum r31, r10, 95\n    mov.f64 r30, r10\n"},
        {"sums in a loop",
         HG_TYPE_F64,
         {{HG_TYPE_F64, anything}, {U8, some_class}},
         "    mov_imm.u32 r15, 4\nagain:\n    res.accum r30, r10, r11\n    neg.f64 r10, r10\n    "
         "res.accum r30, r10, 7\n    loop r15, "
         "@again\n"},
        {"one sum a lane",
         HG_TYPE_F64,
         {{HG_TYPE_F64, anything}, {U8, some_class}},
         "    res.accum r30, r10, r11\n"},
        {"sums that cancel",
         HG_TYPE_F64,
         {{HG_TYPE_F64, anything}},
         "    mov_imm.f64 r20, 0x1p-1074\n    res.accum r30, r10, 3\n    res.accum r30, r20, 3\n   "
         " neg.f64 r10, r10\n    res.accum r30, "
         "r10, 3\n"},
        {"sums in a function",
         HG_TYPE_F64,
         {{HG_TYPE_F32, anything}, {U8, some_class}},
         "    call @f\n    call @f\n    bra @on\nf:\n    res.accum r30, r10, r11\n    ret\non:\n"},
        {"unity.test eps",
         U8,
         {{HG_TYPE_I32, small}, {U8, some_class}},
         "    res.accum r31, r10, r11\n    setlt.u32 p2, r252, r252\n    neg.i32 r10, r10\n    "
         "res.accum r31, r10, 5\n    unity.test p1, "
         "eps=0x1p-1074\n    unity.test p3, eps=-1.0\n"
         "    mov_imm.u8 r32, 1\n    mov_imm.u8 r33, 0\n    sel.u8 r30, p1, r32, r33\n    sel.u8 "
         "r34, p2, r32, r33\n    add.u8 r30, r30, "
         "r34\n    add.u8 r30, r30, r34\n"
         "    sel.u8 r34, p3, r32, r33\n    shl.u8 r34, r34, r252\n    or.u8 r30, r30, r34\n"},
        {"unity.test eps alone",
         U8,
         {{U8, small}},
         "    unity.test p1, eps=1.0\n    mov_imm.u8 r31, 1\n    sel.u8 r30, p1, r31, r10\n"},
        {"phases written twice",
         HG_TYPE_U32,
         {{HG_TYPE_U16, anything}, {HG_TYPE_U16, anything}, {U8, small}},
         "    phase.write r10, r12\n    phase.write r11, r12\n    phase.read r30, r12\n"},
        {"phases, unread",
         HG_TYPE_U16,
         {{HG_TYPE_U16, anything}, {U8, some_class}},
         "    phase.write r10, r11\n    mov.u16 r30, r10\n"},
        {"lane phase in functions and a step",
         HG_TYPE_U32,
         {{HG_TYPE_U32, anything}},
         "    call @f\n    parallel_reduce.u32 r20, r2, max, 3\n    phase.adv r20\n    call @f\n   "
         " phase.get r30\n    bra @on\nf:\n    "
         "phase.adv r10\n    ret\non:\n"},
        {"sums around a step",
         HG_TYPE_U32,
         {{HG_TYPE_U32, anything}},
         "    res.accum r22, r10, 4\n    parallel_reduce.u32 r20, r2, max, 3\n    res.accum r22, "
         "r20, 4\n    phase.write r20, 9\n    "
         "add.u32 r30, r10, r20\n"},
        {"sums read around steps",
         HG_TYPE_F64,
         {{HG_TYPE_F64, anything}, {U8, some_class}},
         "    res.accum r22, r10, 4\n    parallel_reduce.f64 r20, r2, max, 3\n    res.accum r30, "
         "r22, r11\n    call @f\n    "
         "parallel_reduce.f64 r20, r2, min, 3\n    call @f\n    res.accum r30, r30, 4\n    bra "
         "@on\nf:\n    neg.f64 r10, r10\n    "
         "res.accum r31, r10, 4\n    ret\non:\n"},
        {"phases read around steps",
         HG_TYPE_U32,
         {{HG_TYPE_U16, anything}, {HG_TYPE_U32, anything}, {U8, some_class}},
         "    mov_imm.u32 r40, 3\nagain:\n    phase.write r10, r12\n    parallel_reduce.u32 r20, "
         "r3, max, 3\n    phase.read r30, r12\n    "
         "phase.write r20, 9\n    add.u16 r10, r10, r10\n    loop r40, @again\n    "
         "parallel_reduce.u32 r20, r3, min, 3\n    phase.read "
         "r31, r12\n    add.u32 r30, r30, r31\n    phase.read r31, 9\n    add.u32 r30, r30, r31\n"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i += s->quick ? 3 : 1)
        if (cts_wanted(s, "atlas", HG_TYPE_F64))
            run(s, CASES[i].name, CASES[i].result, 300, CASES[i].inputs, CASES[i].body, "");
}

/* ---- faults: one lane of several ---- */

static void faults(cts *s) {
    static const struct {
        const char *name, *body;
    } FAULTS[] = {
        {"mirror", "mirror r30, r11"},
        {"unity.test", "unity.test p0, r11"},
        {"nbr.count", "nbr.count r31, r11"},
        {"nbr.get", "nbr.get r30, r11, 0"},
        {"nbr.load", "nbr.load r31, r11, 0"},
        {"nbr.store", "nbr.store.u8 r11, r11, -3"},
        {"res.accum", "res.accum r31, r11, r11"},
        {"phase.read", "phase.read r31, r11"},
        {"phase.write", "phase.write r11, r11"},
        {"bound.map class", "bound.map r31, r11, 1, 2"},
        {"bound.map page", "bound.map r31, 1, r11, 2"},
        {"bound.map byte", "bound.map.u8 r31, 1, 2, r11"},
        {"orbit.classify", "orbit.classify r30, 3, r11"},
        {"orbit.representative", "orbit.representative r31, r11, 96"},
        {"orbit.representative torus", "orbit.representative r31, 3, r11"},
        {"mult.inverse", "mult.inverse r31, 2, r11"},
        {"char.product", "char.product.i128 r31, r11, 0"},
        {"char.product class", "char.product.f64 r31, 3, r11"},
        {"packed class", "mul.u32 r12, r12, r12\n    bound.map r31, r12"},
        {"irrational",
         "mov_imm.u8 r13, 15\n    mov_imm.u8 r14, 75\n    char.product.i128 r31, r13, r14"},
    };
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0] && cts_wanted(s, "fault", HG_TYPE_U32);
         i += s->quick ? 3 : 1) {
        run_case c = {.cleared_class = 96};
        char label[64];
        snprintf(label, sizeof label, "atlas fault: %s", FAULTS[i].name);
        cts_text(&c,
                 ".atlas 1\n.program cts\n.param r1 out buffer u8 out\n    mov_imm.u32 r12, "
                 "250000\n    cvt.u8.u64 r11, r255\n    "
                 "mov_imm.u8 r13, 240\n    or.u8 r11, r11, r13\n"
                 "    mov_imm.u8 r30, 1\n    mov_imm.u64 r15, 9\n    setne.u64 p1, r255, r15\n    "
                 "bra.p1 @on\n    %s\non:\n    stg.u8 [r1 "
                 "+ r255], r30\n",
                 FAULTS[i].body);
        case_add_array(&c, "out", U8, NULL, 16);
        case_set_lanes(&c, 16);
        cts_compare(s, label, &c);
    }
    if (!cts_wanted(s, "fault", HG_TYPE_F32)) return;
    run(s, "nbr.load past its class", HG_TYPE_F32, 3200, (input[INPUTS]){{U8, each_class}},
        "    nbr.load r30, r10, 1\n", "");
}

void cts_atlas(cts *s) {
    forms(s);
    for (int t = 0; t < HG_TYPE_COUNT; t++) every_type(s, (hg_type)t);
    sums(s);
    faults(s);
}

/* Rows that need a form of their own: memory through every kind of address, pools, atomics, control
 * flow, barriers, faults. Small programs, with the reference's memory or fault as what is expected.
 */
#include "cts.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 16 };

/* One array more of the case, filled with anything of its type. */
static void add_random(cts *s, run_case *c, const char *name, hg_type type, uint64_t elements) {
    uint32_t size = oracle_size(type);
    case_array *a = case_add_array(c, name, type, NULL, elements * size + 16);
    for (uint64_t i = 0; a && i < elements; i++) cts_any(s, type, a->bytes + i * size);
    if (a) a->size = elements * size;
}

/* Address texts; # stands for the size of the type. r41: the lane's byte offset as u64, r42: as
 * u32, r43: flat address of it in buffer w, r44: the same in pool p. */
static const struct {
    const char *load, *store, *address;
} PLACES[] = {{"ldg", "stg", "[r5 + r41]"},
              {"ldg", "stg", "[r5 + r42]"},
              {"ldg", "stg", "[r5 + r41 + 3]"},
              {"ldg", "stg", "[buf(r5) + r41]"},
              {"ldg", "stg", "[r5 + r255*#]"},
              {"ldg", "stg", "[r5 + r252*# + 3]"},
              {"ldg", "stg", "[pool(r3) + r255*# + 1]"},
              {"ldg", "stg", "[class7 + r252*#]"},
              {"lds", "sts", "[shared + r255*# + 7]"},
              {"ldg", "stg", "[r43]"},
              {"ldg", "stg", "[r43 + 5]"},
              {"ldg", "stg", "[r44]"},
              {"ldg", "stg", "[pool(r3) + r41]"},
              {"ldg", "stg", "[pool(r3) + r41 + 1]"},
              {"ldg", "stg", "[class7 + r41]"},
              {"ldg", "stg", "[class7 + r42 + 2]"},
              {"ldg", "stg", "[shared + r41]"},
              {"lds", "sts", "[shared + r42]"},
              {"lds", "sts", "[shared + r41 + 7]"},
              {"ldg", "stg", "[buf0xffffffffffffffa7 + r41]"},
              {"pool.load", "pool.store", "r3, r41"},
              {"pool.load", "pool.store", "r3, r42"}};

/* Every lane stores its element at the place, loads it back, and writes it out. */
static void memory_forms(cts *s, hg_type type) {
    const char *t = hg_type_name(type);
    uint32_t size = oracle_size(type);
    for (size_t p = 0; p < sizeof PLACES / sizeof PLACES[0]; p++) {
        run_case c = {.cleared_class = 7};
        char name[96], address[48];
        if (!cts_wanted(s, PLACES[p].load, type)) continue;
        const char *at = strchr(PLACES[p].address, '#');
        if (at)
            snprintf(address, sizeof address, "%.*s%u%s", (int)(at - PLACES[p].address),
                     PLACES[p].address, size, at + 1);
        else
            snprintf(address, sizeof address, "%s", PLACES[p].address);
        cts_text(&c,
                 ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s "
                 "in\n.param r5 w buffer u8 inout\n"
                 ".param r3 p pool %u\n.shared %u\n    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, "
                 "r40\n    cvt.u32.u64 r42, r41\n"
                 "    mov_imm.u64 r45, 8388607\n    mov_imm.u32 r46, 40\n    and.u64 r43, r5, "
                 "r45\n    shl.u64 r43, r43, r46\n"
                 "    add.u64 r43, r43, r41\n    and.u64 r44, r3, r45\n    shl.u64 r44, r44, r46\n "
                 "   add.u64 r44, r44, r41\n"
                 "    mov_imm.u64 r47, bits(0x8000000000000000)\n    or.u64 r44, r44, r47\n"
                 "    ldg.%s r10, [r2 + r41]\n    %s.%s %s, r10\n    %s.%s r11, %s\n    stg.%s [r1 "
                 "+ r41], r11\n",
                 t, t, LANES * size + 8, LANES * size + 8, size, t, PLACES[p].store, t, address,
                 PLACES[p].load, t, address, t);
        add_random(s, &c, "out", type, LANES);
        add_random(s, &c, "in", type, LANES);
        case_add_array(&c, "w", HG_TYPE_U8, NULL, LANES * size + 8);
        case_array *pool = case_add_array(&c, "p", HG_TYPE_U8, NULL, LANES * size + 8);
        if (pool) pool->pool = true;
        case_set_lanes(&c, LANES);
        snprintf(name, sizeof name, "%s.%s %s", PLACES[p].load, t, PLACES[p].address);
        cts_compare(s, name, &c);
    }
}

/* Constant places, and pools under a handle of the program's own. */
static void constant_forms(cts *s, hg_type type) {
    const char *t = hg_type_name(type);
    run_case c = {.cleared_class = 7};
    char name[32];
    if (!cts_wanted(s, "pool.load", type)) return;
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s "
             "in\n.param r4 bytes u64\n    ldg.%s r10, "
             "[buf(r2) + 0]\n"
             "    stg.%s [phi(7, 40, 3)], r10\n    ldg.%s r11, [class7 + 10243]\n    stg.%s "
             "[buf(r1) + 0], r11\n"
             "    pool.alloc pool900, 1024\n    pool.alloc r6, r4\n    pool.store.%s pool900, 17, "
             "r10\n    pool.load.%s r12, pool900, 17\n"
             "    ldg.%s r13, [pool900 + 17]\n    pool.store.%s r6, 5, r13\n    pool.load.%s r14, "
             "r6, 5\n    stg.%s [buf(r1) + %u], r12\n"
             "    stg.%s [buf(r1) + %u], r14\n    pool.free pool900\n    pool.free r6\n    "
             "pool.alloc pool900, 600\n"
             "    pool.load.%s r15, pool900, 17\n    stg.%s [buf(r1) + %u], r15\n",
             t, t, t, t, t, t, t, t, t, t, t, t, oracle_size(type), t, 2 * oracle_size(type), t, t,
             3 * oracle_size(type));
    add_random(s, &c, "out", type, 4);
    add_random(s, &c, "in", type, 1);
    case_add_scalar(&c, "bytes", HG_TYPE_U64, 1000);
    case_set_lanes(&c, 3);
    snprintf(name, sizeof name, "constant places.%s", t);
    cts_compare(s, name, &c);
}

/* Private memory: zeros at the start, elements chosen by an index, across a call, a barrier and a
 * whole-array instruction; beside accesses of another width, which make the elements of the
 * lowering smaller. */
static void private_forms(cts *s, hg_type type) {
    static const struct {
        const char *type;
        uint32_t size;
    } BESIDE[] = {{NULL, 0}, {"u8", 1}, {"u64", 8}};
    const char *t = hg_type_name(type);
    uint32_t size = oracle_size(type);
    for (size_t w = 0; w < sizeof BESIDE / sizeof BESIDE[0] && cts_wanted(s, "ldp", type); w++) {
        run_case c = {.cleared_class = 96};
        char name[48], beside[200] = "";
        if (BESIDE[w].type)
            snprintf(beside, sizeof beside,
                     "    mov_imm.%s r20, 77\n    stp.%s [private + %u], r20\n    ldp.%s r21, "
                     "[private + %u]\n",
                     BESIDE[w].type, BESIDE[w].type, 4 * size, BESIDE[w].type, 4 * size);
        cts_text(&c,
                 ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s "
                 "in\n.param r5 w buffer u32 inout\n"
                 ".private %u\n    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    "
                 "mov_imm.u64 r42, 3\n    and.u64 r43, r255, r42\n"
                 "    cvt.u32.u64 r44, r43\n    ldg.%s r10, [r2 + r41]\n    stp.%s [private + "
                 "r43*%u], r10\n%s    call @more\n"
                 "    bar.sync 0\n    ldp.%s r11, [private + r44*%u]\n    parallel_reduce.u32 r15, "
                 "r5, sum, 4\n"
                 "    sub.u64 r45, r42, r43\n    ldp.%s r12, [private + r45*%u]\n    ldp.%s r13, "
                 "[private + 0]\n"
                 "    or.u64 r46, r43, r42\n    ldp.%s r14, [private + r46*%u - %u]\n    mul.u64 "
                 "r47, r41, r42\n"
                 "    mov_imm.u64 r48, %u\n    add.u64 r47, r47, r41\n    stg.%s [r1 + r47], r11\n "
                 "   stg.%s [r1 + r47 + %u], r12\n"
                 "    stg.%s [r1 + r47 + %u], r13\n    stg.%s [r1 + r47 + %u], r14\n    "
                 "exit\nmore:\n    ldp.%s r16, [private + r44*%u]\n"
                 "    stp.%s [private + r44*%u], r16\n    stp.%s [private + %u], r10\n    ret\n",
                 t, t, 4 * size + 8, size, t, t, size, beside, t, size, t, size, t, t, size, size,
                 size, t, t, size, t, 2 * size, t, 3 * size, t, size, t, size, t, 3 * size);
        add_random(s, &c, "out", type, 4 * 60);
        add_random(s, &c, "in", type, 60);
        add_random(s, &c, "w", HG_TYPE_U32, 4);
        c.launch = (ref_launch){.grid = {3, 1, 1}, .block = {20, 1, 1}};
        snprintf(name, sizeof name, "private.%s %zu", t, w);
        cts_compare(s, name, &c);
    }
}

/* Every lane loads a narrow element as a wide one, stores its wide element as a narrow one, and
 * sends it through narrow elements of shared and of private memory. */
static void converting_pair(cts *s, hg_type wide, hg_type narrow) {
    const char *w = hg_type_name(wide), *n = hg_type_name(narrow);
    uint32_t size = oracle_size(wide), part = oracle_size(narrow);
    run_case c = {.cleared_class = 96};
    char name[48];
    cts_text(
        &c,
        ".atlas 1\n.program cts\n.param r1 wide buffer %s out\n.param r2 narrow buffer %s out\n"
        ".param r3 in buffer %s in\n.param r4 parts buffer %s in\n.shared %u\n.private 1024\n"
        "    mov_imm.u64 r40, 3\n    mul.u64 r41, r255, r40\n"
        "    ldg.%s r10, [r3 + r255*%u]\n    ldg.%s.%s r11, [r4 + r255*%u]\n"
        "    stg.%s.%s [r2 + r255*%u], r10\n    sts.%s.%s [shared + r252*%u], r10\n"
        "    stp.%s.%s [private + %u], r11\n    lds.%s.%s r12, [shared + r252*%u]\n"
        "    ldp.%s.%s r13, [private + %u]\n    stg.%s [r1 + r41*%u], r11\n"
        "    stg.%s [r1 + r41*%u + %u], r12\n    stg.%s [r1 + r41*%u + %u], r13\n",
        w, n, w, n, LANES * part, w, size, w, n, part, n, w, part, n, w, part, n, w, part, w, n,
        part, w, n, part, w, size, w, size, size, w, size, 2 * size);
    add_random(s, &c, "wide", wide, 3 * LANES);
    add_random(s, &c, "narrow", narrow, LANES);
    add_random(s, &c, "in", wide, LANES);
    add_random(s, &c, "parts", narrow, LANES);
    case_set_lanes(&c, LANES);
    snprintf(name, sizeof name, "ldg.%s.%s", w, n);
    cts_compare(s, name, &c);
}

/* Of each width one narrow type, of the same sign and of the other in turn; above 64 bits one
 * narrow type of all. */
static void converting_forms(cts *s, hg_type wide) {
    uint32_t size = oracle_size(wide), only = wide % 3 == 0 ? size / 2 : wide % 3 == 1 ? 8 : 1;
    if (!cts_wanted(s, "ldg", wide)) return;
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        hg_type narrow = (hg_type)t;
        if (!hg_op_allows_types(HG_OP_LDG_WIDE, wide, narrow)) continue;
        uint32_t part = oracle_size(narrow);
        bool same = oracle_is_signed(wide) == oracle_is_signed(narrow),
             turn = part != 2 && part != 8;
        if (!oracle_is_float(wide) && size > 2 && same != turn) continue;
        if (size > 8 && part != only) continue;
        converting_pair(s, wide, narrow);
    }
}

/* Lane values and predicates that live across whole-array instructions and barriers. */
static void living_forms(cts *s, hg_type type) {
#define REDUCTION "    parallel_reduce.u32 r15, r5, sum, 4\n"
#define MAP "    parallel_map.u32 r5, r5, neg, 4\n"
    static const char *const BETWEEN[] = {REDUCTION,
                                          "    bar.sync 0\n",
                                          REDUCTION "    bar.sync 0\n" MAP,
                                          REDUCTION
                                          "    add.$ r12, r12, r11\n    setlt.$ p1, r12, r11\n" MAP,
                                          "    bar.grid\n",
                                          ("    bar.grid\n    bar.sync 0\n    add.$ r12, r12, r11\n"
                                           "    bar.grid\n    setlt.$ p1, r12, r11\n")};
#undef REDUCTION
#undef MAP
    const char *t = hg_type_name(type);
    for (size_t i = 0; i < sizeof BETWEEN / sizeof BETWEEN[0] && cts_wanted(s, "living", type);
         i++) {
        run_case c = {.cleared_class = 96};
        char name[48], between[256], *to = between;
        for (const char *at = BETWEEN[i]; *at; at++) { /* $ is the type */
            if (*at == '$')
                to += sprintf(to, "%s", t);
            else
                *to++ = *at;
        }
        *to = '\0';
        cts_text(&c,
                 ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s "
                 "in\n.param r5 w buffer u32 inout\n"
                 "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    ldg.%s r10, [r2 + "
                 "r41]\n    ldg.%s r11, [r2 + r41 + %u]\n"
                 "    add.%s r12, r10, r11\n    setlt.%s p1, r10, r11\n%s    sel.%s r13, p1, r12, "
                 "r10\n    stg.%s [r1 + r41], r13\n",
                 t, t, oracle_size(type), t, t, oracle_size(type), t, t, between, t, t);
        add_random(s, &c, "out", type, 90);
        add_random(s, &c, "in", type, 91);
        add_random(s, &c, "w", HG_TYPE_U32, 4);
        c.launch = (ref_launch){.grid = {3, 1, 1}, .block = {30, 1, 1}};
        snprintf(name, sizeof name, "living.%s %u", t, (unsigned)i);
        cts_compare(s, name, &c);
    }
}

/* Totals of 100 lanes in two blocks; what shared memory holds goes out after a barrier. */
static void atomic_totals(cts *s, const char *op, hg_type type) {
    static const char *const TOTALS[] = {"[buf(r1) + 8]", "[pool(r3) + 16]", "[class7 + 24]",
                                         "[r43]", "[shared + 8]"};
    const char *t = hg_type_name(type);
    for (size_t p = 0; p < sizeof TOTALS / sizeof TOTALS[0]; p++) {
        run_case c = {.cleared_class = 7};
        char name[64], row[24];
        snprintf(row, sizeof row, "atom.%s", op);
        if (!cts_wanted(s, row, type)) continue;
        cts_text(&c,
                 ".atlas 1\n.program cts\n.param r1 out buffer %s inout\n.param r2 in buffer %s "
                 "in\n.param r3 p pool 64\n.shared 16\n"
                 "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    mov_imm.u64 r45, "
                 "8388607\n    mov_imm.u32 r46, 40\n"
                 "    and.u64 r43, r1, r45\n    shl.u64 r43, r43, r46\n    mov_imm.u64 r44, 32\n   "
                 " add.u64 r43, r43, r44\n"
                 "    ldg.%s r10, [r2 + r41]\n    atom.%s.%s r11, %s, r10\n    memfence.device\n   "
                 " bar.sync 0\n    lds.%s r12, [shared + 8]\n"
                 "    mul.u64 r47, r255, r40\n    add.u64 r47, r47, r44\n    add.u64 r47, r47, "
                 "r44\n    stg.%s [r1 + r47], r12\n",
                 t, t, oracle_size(type), t, op, t, TOTALS[p], t, t);
        add_random(s, &c, "out", type, 64 / oracle_size(type) + 100);
        add_random(s, &c, "in", type, 100);
        case_array *pool = case_add_array(&c, "p", type, NULL, 64);
        if (pool) pool->pool = true;
        c.launch = (ref_launch){.grid = {2, 1, 1}, .block = {50, 1, 1}};
        snprintf(name, sizeof name, "%s.%s %s", row, t, TOTALS[p]);
        cts_compare(s, name, &c);
    }
}

/* On a place of its own a lane sees the old value. */
static void atomic_old_values(cts *s, const char *op, hg_type type) {
    const char *t = hg_type_name(type);
    bool cas = strcmp(op, "cas") == 0;
    run_case c = {.cleared_class = 96};
    char name[64], row[24];
    snprintf(row, sizeof row, "atom.%s", op);
    if (!cts_wanted(s, row, type)) return;
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s inout\n.param r2 in buffer %s "
             "in\n.param r5 old buffer %s out\n"
             "    mov_imm.u64 r40, %u\n    mul.u64 r41, r255, r40\n    ldg.%s r10, [r2 + r41]\n    "
             "ldg.%s r12, [r2 + r41 + %u]\n"
             "    atom.%s.%s r11, [r1 + r41], r10%s\n    stg.%s [r5 + r41], r11\n",
             t, t, t, oracle_size(type), t, t, oracle_size(type), op, t, cas ? ", r12" : "", t);
    add_random(s, &c, "out", type, 200);
    add_random(s, &c, "in", type, 201);
    add_random(s, &c, "old", type, 200);
    for (uint32_t i = 0; c.array_count == 3 && i < 200; i += 2) /* every other comparison holds */
        memcpy(c.arrays[1].bytes + i * oracle_size(type), c.arrays[0].bytes + i * oracle_size(type),
               oracle_size(type));
    case_set_lanes(&c, 200);
    snprintf(name, sizeof name, "%s.%s old value", row, t);
    cts_compare(s, name, &c);
}

#define START                                                                                     \
    ".atlas 1\n.program cts\n.param r1 out buffer u32 inout\n.param r2 in buffer u32 in\n.param " \
    "r3 p pool 64\n.shared 256\n"                                                                 \
    "    mov_imm.u32 r40, 2\n    shl.u64 r41, r255, r40\n    ldg.u32 r10, [r2 + r41]\n    "       \
    "mov_imm.u32 r11, 1\n    mov_imm.u32 r12, 0\n"                                                \
    "    mov_imm.u32 r13, 7\n"
#define FINISH "    stg.u32 [r1 + r41], r10\n    exit\n"

/* in: 32 values; each lane ends with r10 as its output. */
static const struct {
    const char *name, *text;
} CONTROL[] = {
    {"bra", START "    setlt.u32 p0, r10, r13\n    bra.p0 @small\n    add.u32 r10, r10, r13\n    "
                  "bra @end\nsmall:\n    mul.u32 r10, r10, "
                  "r13\nend:\n" FINISH},
    {"loop", START "    and.u32 r14, r10, r13\nbody:\n    mad.u32 r10, r10, r13, r14\n    loop "
                   "r14, @body\n" FINISH},
    {"predicates", START "    and.u32 r14, r10, r11\n    setne.u32 p0, r14, r12\n    shr.u32 r14, "
                         "r10, r11\n    and.u32 r14, r14, r11\n"
                         "    setne.u32 p1, r14, r12\n    shr.u32 r14, r10, r40\n    and.u32 r14, "
                         "r14, r11\n    setne.u32 p2, r14, r12\n"
                         "    and.p p3, p0, p1\n    or.p p4, p0, p1\n    xor.p p5, p0, p1\n    "
                         "not.p p6, p0\n    mov.p p7, p2\n"
                         "    sel.p p8, p0, p1, p2\n    sel.p p0, p0, p0, p1\n    xor.p p9, p8, "
                         "p8\n    mov.u32 r10, r12\n"
                         "    sel.u32 r14, p3, r11, r12\n    mad.u32 r10, r10, r13, r14\n    "
                         "sel.u32 r14, p4, r11, r12\n"
                         "    mad.u32 r10, r10, r13, r14\n    sel.u32 r14, p5, r11, r12\n    "
                         "mad.u32 r10, r10, r13, r14\n"
                         "    sel.u32 r14, p6, r11, r12\n    mad.u32 r10, r10, r13, r14\n    "
                         "sel.u32 r14, p7, r11, r12\n"
                         "    mad.u32 r10, r10, r13, r14\n    sel.u32 r14, p8, r11, r12\n    "
                         "mad.u32 r10, r10, r13, r14\n"
                         "    sel.u32 r14, p0, r11, r12\n    mad.u32 r10, r10, r13, r14\n    "
                         "sel.u32 r14, p9, r11, r12\n"
                         "    mad.u32 r10, r10, r13, r14\n" FINISH},
    {"predicates and branches", START "    setlt.u32 p0, r10, r13\n    seteq.u32 p1, r12, r12\n    "
                                      "not.p p2, p1\n    and.p p3, p0, p1\n    bra.p3 @small\n"
                                      "    or.p p2, p2, p0\n    bra.p2 @small\n    add.u32 r10, "
                                      "r10, r13\n    xor.p p1, p1, p1\nsmall:\n    bra.p1 @end\n"
                                      "    mul.u32 r10, r10, r13\nend:\n" FINISH},
    {"loop.u64", START "    and.u32 r14, r10, r13\n    cvt.u64.u32 r15, r14\nbody:\n    mad.u32 "
                       "r10, r10, r13, r14\n    loop.u64 r15, "
                       "@body\n    cvt.u32.u64 r15, r15\n    add.u32 r10, r10, r15\n" FINISH},
    {"loop.u64 past 32 bits", START "    cvt.u64.u32 r14, r10\n    mov_imm.u64 r15, 4294967299\n   "
                                    " mov_imm.u64 r16, 4294967294\nbody:\n"
                                    "    add.u32 r10, r10, r13\n    setle.u64 p0, r15, r16\n    "
                                    "bra.p0 @end\n    loop.u64 r15, @body\nend:\n"
                                    "    cvt.u32.u64 r15, r15\n    xor.u32 r10, r10, r15\n" FINISH},
    {"jump into a loop.u64", START "    and.u32 r14, r10, r13\n    cvt.u64.u32 r14, r14\n    "
                                   "setlt.u32 p0, r10, r13\n    bra.p0 @middle\nhead:\n"
                                   "    add.u32 r10, r10, r11\nmiddle:\n    add.u32 r10, r10, "
                                   "r13\n    loop.u64 r14, @head\n" FINISH},
    {"loop count", START "    loop r14, 9\n    xor.u32 r10, r10, r14\n    loop r15, 3\n    add.u32 "
                         "r10, r10, r15\n    endloop\n    endloop\n"
                         "    loop r16, 0\n    mov.u32 r10, r12\n    endloop\n" FINISH},
    {"while", START "head:\n    setle.u32 p0, r10, r13\n    bra.p0 @end\n    shr.u32 r10, r10, "
                    "r11\n    add.u32 r12, r12, r11\n    bra "
                    "@head\nend:\n    add.u32 r10, r10, r12\n" FINISH},
    {"call", START "    call @twice\n    call @twice\n" FINISH
                   "twice:\n    add.u32 r10, r10, r10\n    call @once\n    ret\nonce:\n    "
                   "setgt.u32 p0, r10, r13\n"
                   "    bra.p0 @skip\n    add.u32 r10, r10, r11\nskip:\n    ret\n"},
    {"exit in a function",
     START "    call @leave\n" FINISH
           "leave:\n    setgt.u32 p0, r10, r13\n    bra.p0 @stay\n    exit\nstay:\n    ret\n"},
    {"jump into a loop", START "    and.u32 r14, r10, r13\n    setlt.u32 p0, r10, r13\n    bra.p0 "
                               "@middle\nhead:\n    add.u32 r10, r10, r11\nmiddle:\n"
                               "    add.u32 r10, r10, r13\n    loop r14, @head\n" FINISH},
    {"end without exit", START "    stg.u32 [r1 + r41], r10\n    setlt.u32 p0, r10, r13\n    "
                               "bra.p0 @end\n    stg.u32 [r1 + r41], r13\nend:\n"},
    {"bar.sync", START "    shl.u32 r14, r252, r40\n    sts.u32 [shared + r14], r10\n    bar.sync "
                       "0\n    sub.u32 r15, r254, r11\n    sub.u32 r15, r15, r252\n"
                       "    shl.u32 r15, r15, r40\n    lds.u32 r10, [shared + r15]\n" FINISH},
    {"bar.sync in a loop", START "    shl.u32 r14, r252, r40\n    mov_imm.u32 r16, 4\nagain:\n    "
                                 "sts.u32 [shared + r14], r10\n    "
                                 "bar.sync 1\n    add.u32 r15, r252, r11\n"
                                 "    rem.u32 r15, r15, r254\n    shl.u32 r15, r15, r40\n    "
                                 "lds.u32 r10, [shared + r15]\n    bar.sync 2\n "
                                 "   loop r16, @again\n" FINISH},
    {"bar.sync after exits",
     START "    shl.u32 r14, r252, r40\n    sts.u32 [shared + r14], r10\n    setlt.u32 p0, r10, "
           "r13\n    bra.p0 @gone\n    bar.sync 200\n"
           "    lds.u32 r10, [shared + 0]\n    stg.u32 [r1 + r41], r10\ngone:\n    exit\n"},
    {"bar.sync by block", START "    shl.u32 r14, r252, r40\n    sts.u32 [shared + r14], r10\n    "
                                "seteq.u32 p0, r253, r11\n    bra.p0 @skip\n    bar.sync 3\n"
                                "    lds.u32 r10, [shared + 4]\nskip:\n" FINISH},
    {"bar.sync in a function",
     START "    shl.u32 r14, r252, r40\n    call @swap\n    call @swap\n" FINISH
           "swap:\n    sts.u32 [shared + r14], r10\n    bar.sync 0\n"
           "    xor.u32 r15, r252, r11\n    rem.u32 r15, r15, r254\n    shl.u32 r15, r15, r40\n    "
           "lds.u32 r10, [shared + r15]\n    "
           "bar.sync 0\n    ret\n"},
    {"memfence", START "    memfence.thread\n    memfence.block\n    stg.u32 [r1 + r41], r13\n    "
                       "memfence.device\n    memfence.system\n" FINISH},
    {"collective in a loop",
     START "    mov_imm.u32 r14, 3\nagain:\n    parallel_map_binary.u32 r1, r1, r2, add, 32\n    "
           "loop r14, @again\n    ldg.u32 r10, [r1 + r41]\n"
           "    parallel_reduce.u32 r15, r1, max, 32\n    add.u32 r10, r10, r15\n" FINISH},
    {"collective after all have left",
     START "    call @leave\n    parallel_map.u32 r1, r2, neg, 32\n" FINISH "leave:\n    exit\n"},
    {"collective after some loops",
     START "    and.u32 r14, r10, r13\nbody:\n    mad.u32 r10, r10, r13, r14\n    loop r14, @body\n"
           "    parallel_reduce.u32 r15, r2, sum, 32\n    add.u32 r16, r10, r15\n    "
           "parallel_map.u32 r1, r2, neg, 32\n"
           "    xor.u32 r10, r10, r16\n" FINISH},
    {"collective and some blocks' barrier in a loop",
     START "    shl.u32 r14, r252, r40\n    mov_imm.u32 r16, 2\nagain:\n    "
           "parallel_map_binary.u32 r1, r1, r2, add, 32\n"
           "    seteq.u32 p0, r253, r11\n    bra.p0 @skip\n    sts.u32 [shared + r14], r10\n    "
           "bar.sync 3\n    lds.u32 r10, [shared + 4]\n"
           "    bar.sync 4\n    add.u32 r10, r10, r252\nskip:\n    loop r16, @again\n" FINISH},
    {"bar.grid", START "    stg.u32 [r1 + r41], r10\n    bar.grid\n    mov_imm.u64 r14, 124\n    "
                       "sub.u64 r14, r14, r41\n"
                       "    ldg.u32 r10, [r1 + r14]\n    bar.grid\n" FINISH},
    {"bar.grid in a loop", START "    mov_imm.u32 r16, 4\n    mov_imm.u64 r17, 127\n    "
                                 "mov_imm.u64 r18, 36\nagain:\n    stg.u32 [r1 + r41], r10\n"
                                 "    bar.grid\n    add.u64 r14, r41, r18\n    and.u64 r14, r14, "
                                 "r17\n    ldg.u32 r15, [r1 + r14]\n    mad.u32 r10, r10, r13, "
                                 "r15\n    bar.grid\n    loop r16, @again\n" FINISH},
    {"bar.grid in a function", START
     "    mov_imm.u64 r17, 124\n    sub.u64 r17, r17, r41\n    call @swap\n    add.u32 r10, r10, "
     "r13\n    call @swap\n" FINISH "swap:\n    stg.u32 [r1 + r41], r10\n    bar.grid\n    ldg.u32 "
     "r10, [r1 + r17]\n    bar.grid\n    ret\n"},
    {"bar.grid while memory decides",
     START "    stg.u32 [r1 + r41], r10\n    parallel_reduce.u32 r16, r2, max, 32\n    and.u32 "
           "r16, r16, r13\nagain:\n    bar.grid\n"
           "    add.u32 r10, r10, r16\n    setlt.u32 p0, r16, r11\n    bra.p0 @end\n    sub.u32 "
           "r16, r16, r11\n    bra @again\nend:\n" FINISH},
    {"bar.grid in a branch", START
     "    mov_imm.u32 r16, 3\nagain:\n    and.u32 r14, r16, r11\n    seteq.u32 p0, r14, r11\n    "
     "bra.p0 @odd\n    bar.grid\n"
     "    add.u32 r10, r10, r13\nodd:\n    mul.u32 r10, r10, r13\n    loop r16, @again\n" FINISH},
    {"bar.grid and exits behind it",
     START "    bar.grid\n    setlt.u32 p0, r10, r13\n    bra.p0 @gone\n    stg.u32 [r1 + r41], "
           "r10\ngone:\n    exit\n"},
    {"shared memory behind bar.grid",
     START "    shl.u32 r14, r252, r40\n    sts.u32 [shared + r14], r13\n    bar.sync 0\n    "
           "lds.u32 r15, [shared + 4]\n"
           "    bar.grid\n    lds.u32 r16, [shared + r14]\n    add.u32 r10, r10, r15\n    add.u32 "
           "r10, r10, r16\n" FINISH},
    {"shared memory behind bar.grid and a collective",
     START "    shl.u32 r14, r252, r40\n    sts.u32 [shared + r14], r13\n    parallel_reduce.u32 "
           "r17, r2, sum, 32\n    bar.grid\n"
           "    lds.u32 r16, [shared + r14]\n    add.u32 r10, r10, r17\n    add.u32 r10, r10, "
           "r16\n    sts.u32 [shared + r14], r10\n"
           "    bar.sync 0\n    lds.u32 r10, [shared + 8]\n" FINISH},
    {"values across bar.grid",
     START "    mul.u32 r20, r10, r13\n    setlt.u32 p3, r10, r13\n    cvt.u128.u32 r22, r20\n    "
           "cvt.u8.u32 r23, r20\n    bar.grid\n"
           "    sel.u32 r21, p3, r20, r13\n    bar.grid\n    cvt.u32.u128 r24, r22\n    cvt.u32.u8 "
           "r25, r23\n    add.u32 r10, r21, r24\n"
           "    add.u32 r10, r10, r25\n" FINISH},
    {"values across a collective",
     START "    mul.u32 r20, r10, r13\n    setlt.u32 p3, r10, r13\n    parallel_reduce.u32 r15, "
           "r2, sum, 32\n    sel.u32 r21, p3, r20, r15\n"
           "    parallel_reduce.u32 r16, r2, min, 32\n    add.u32 r10, r21, r16\n" FINISH},
};

#define AT_LANE(n, body)                                                                    \
    "    mov_imm.u64 r50, " #n "\n    setne.u64 p9, r255, r50\n    bra.p9 @on" #n "\n" body \
    "on" #n ":\n"

#define PRIVATE                                                                                   \
    ".atlas 1\n.program cts\n.param r1 out buffer u32 inout\n.param r2 in buffer u32 in\n.param " \
    "r3 p pool 64\n.private 64\n"                                                                 \
    "    mov_imm.u32 r40, 2\n    shl.u64 r41, r255, r40\n    ldg.u32 r10, [r2 + r41]\n    "       \
    "mov_imm.u32 r12, 0\n    mov_imm.u32 r13, 7\n"

static const struct {
    const char *name, *text;
    uint64_t max_steps;
} FAULTS[] = {
    {"past the end", START AT_LANE(5, "    ldg.u32 r14, [buf(r1) + 125]\n") FINISH, 0},
    {"before the start", START AT_LANE(5, "    ldg.u32 r14, [buf(r1) - 1]\n") FINISH, 0},
    {"far away",
     START "    mov_imm.u64 r14, bits(0xffffffffffffffff)\n" AT_LANE(
         5, "    stg.u32 [r1 + r14], r10\n") FINISH,
     0},
    {"sum without wrap",
     START "    mov_imm.u64 r14, bits(0xffffffffffffffff)\n" AT_LANE(
         0, "    ldg.u32 r15, [r1 + r14 + 8]\n") FINISH,
     0},
    {"element of a gather",
     START "    ldg.u32 r14, [r2 + r41]\n    shl.u32 r14, r14, r40\n    mov_imm.u32 r15, 4000\n    "
           "add.u32 r14, r14, r15\n    ldg.u32 r10, "
           "[r2 + r14]\n" FINISH,
     0},
    {"pool", START AT_LANE(3, "    pool.load.u32 r14, r3, 61\n") FINISH, 0},
    {"pool by handle", START AT_LANE(3, "    stg.u32 [pool(r3) + 64], r10\n") FINISH, 0},
    {"shared", START AT_LANE(3, "    sts.u32 [shared + 253], r10\n") FINISH, 0},
    {"class",
     START "    mov_imm.u64 r14, 12285\n" AT_LANE(3, "    ldg.u32 r10, [class7 + r14]\n") FINISH,
     0},
    {"class memory, flat",
     START "    mov_imm.u64 r14, 1179645\n" AT_LANE(3, "    ldg.u32 r10, [r14]\n") FINISH, 0},
    {"flat displacement",
     START "    mov_imm.u64 r14, 2\n" AT_LANE(3, "    ldg.u8 r15, [r14 - 3]\n") FINISH, 0},
    {"buffer handle",
     START "    mov_imm.u64 r14, 8000000\n" AT_LANE(2, "    ldg.u32 r10, [buf(r14) + 0]\n") FINISH,
     0},
    {"pool handle",
     START "    mov_imm.u64 r14, 8000000\n" AT_LANE(2, "    pool.store.u32 r14, 0, r10\n") FINISH,
     0},
    {"constant pool handle", START AT_LANE(2, "    pool.store.u32 pool8000000, 0, r10\n") FINISH,
     0},
    {"pool.free of nothing", START "    pool.free pool8000000\n" FINISH, 0},
    {"pool.alloc twice", START "    pool.alloc pool900, 8\n    pool.alloc pool900, 8\n" FINISH, 0},
    {"map past the end", START "    parallel_map.u32 r1, r2, neg, 33\n" FINISH, 0},
    {"reduce past the end", START "    parallel_reduce.u32 r14, [buf(r2) + 4], sum, 32\n" FINISH,
     0},
    {"map dividing by zero", START "    parallel_map_binary.u32 r1, r1, r1, div, 32\n" FINISH, 0},
    {"misaligned atomic", START AT_LANE(2, "    atom.add.u32 r14, [buf(r1) + 6], r10\n") FINISH, 0},
    {"misaligned shared atomic",
     START AT_LANE(2, "    atom.add.u32 r14, [shared + 2], r10\n") FINISH, 0},
    {"private", PRIVATE AT_LANE(3, "    ldp.u32 r14, [private + 61]\n") FINISH, 0},
    {"private index", PRIVATE "    ldp.u32 r14, [private + r10*4]\n" FINISH, 0},
    {"private index before the start",
     PRIVATE AT_LANE(6, "    stp.u64 [private + r12*8 - 8], r255\n") FINISH, 0},
    {"private index far away",
     PRIVATE "    mov_imm.u64 r14, bits(0x4000000000000000)\n" AT_LANE(
         6, "    stp.u32 [private + r14*4], r10\n") FINISH,
     0},
    {"private, misaligned", PRIVATE AT_LANE(2, "    ldp.u32 r14, [private + 6]\n") FINISH, 0},
    {"private index, misaligned", PRIVATE AT_LANE(2, "    ldp.u64 r14, [private + r13*4]\n") FINISH,
     0},
    {"division",
     START AT_LANE(30, "    div.u32 r14, r10, r12\n") AT_LANE(9, "    rem.u32 r14, r10, r12\n")
         FINISH,
     0},
    {"phase before lane",
     START AT_LANE(14, "    div.u32 r14, r10, r12\n") "    bar.sync 0\n" AT_LANE(
         9, "    rem.u32 r14, r10, r12\n") FINISH,
     0},
    {"phase before block",
     START AT_LANE(30, "    div.u32 r14, r10, r12\n") "    bar.sync 0\n" AT_LANE(
         2, "    rem.u32 r14, r10, r12\n") FINISH,
     0},
    {"step before lane",
     START AT_LANE(30, "    div.u32 r14, r10, r12\n") "    parallel_reduce.u32 r15, r2, sum, "
                                                      "32\n" AT_LANE(
                                                          2, "    rem.u32 r14, r10, r12\n") FINISH,
     0},
    {"bar.grid before lane",
     START AT_LANE(30, "    div.u32 r14, r10, r12\n") "    bar.grid\n" AT_LANE(
         2, "    rem.u32 r14, r10, r12\n") FINISH,
     0},
    {"behind two of bar.grid",
     START
     "    stg.u32 [r1 + r41], r13\n    bar.grid\n    bar.sync 0\n    bar.grid\n    bar.sync "
     "0\n" AT_LANE(20, "    div.u32 r14, r10, r12\n") AT_LANE(
         17,
         "    ldg.u32 r14, [buf(r1) + 125]\n") "    bar.grid\n    stg.u32 [r1 + r41], r11\n" FINISH,
     0},
    {"in a round of bar.grid",
     START "    mov_imm.u32 r16, 6\n    mov_imm.u32 r17, 2\nagain:\n    bar.grid\n    sub.u32 r14, "
           "r16, r17\n    div.u32 r14, r10, "
           "r14\n    stg.u32 [r1 + r41], r14\n    loop r16, @again\n" FINISH,
     0},
    {"in a function",
     START "    call @f\n" FINISH "f:\n" AT_LANE(6, "    div.u32 r14, r10, r12\n") "    ret\n", 0},
    {"in a loop",
     START "    mov_imm.u32 r16, 5\nagain:\n    div.u32 r14, r13, r16\n    sub.u32 r16, r16, r11\n "
           "   bra @again\n",
     0},
    {"step limit", START AT_LANE(11, "again:\n    bra @again\n") FINISH, 1000},
    {"step limit not reached",
     START
     "    mov_imm.u32 r16, 90\nagain:\n    add.u32 r10, r10, r16\n    loop r16, @again\n" FINISH,
     90},
    {"step limit of loop.u64",
     START "    mov_imm.u64 r16, 91\nagain:\n    add.u32 r10, r10, r13\n    loop.u64 r16, "
           "@again\n" FINISH,
     90},
    {"step limit reached",
     START
     "    mov_imm.u32 r16, 91\nagain:\n    add.u32 r10, r10, r16\n    loop r16, @again\n" FINISH,
     90},
};

static void text_form(cts *s, const char *group, const char *name, const char *text,
                      uint64_t max_steps) {
    run_case c = {.cleared_class = 7};
    char label[80];
    snprintf(label, sizeof label, "%s: %s", group, name);
    cts_text(&c, "%s", text);
    case_add_array(&c, "out", HG_TYPE_U32, NULL, 128);
    case_array *in = case_add_array(&c, "in", HG_TYPE_U32, NULL, 128);
    for (uint32_t i = 0; in && i < 32; i++)
        in->bytes[4 * i] = (uint8_t)(i * 37 % 23), in->bytes[4 * i + 1] = (uint8_t)(i % 5 == 0);
    case_array *pool = case_add_array(&c, "p", HG_TYPE_U8, NULL, 64);
    if (pool) pool->pool = true;
    c.launch = (ref_launch){.grid = {2, 1, 1}, .block = {16, 1, 1}, .max_steps = max_steps};
    cts_compare(s, label, &c);
}

void cts_forms(cts *s) {
    static const char *const TOTALS[] = {"add", "min", "max", "and", "or", "xor"};
    static const char *const OLD[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas"};
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        memory_forms(s, (hg_type)t);
        constant_forms(s, (hg_type)t);
        living_forms(s, (hg_type)t);
        private_forms(s, (hg_type)t);
        converting_forms(s, (hg_type)t);
        if (!hg_op_allows_type(HG_OP_ATOM_ADD, (hg_type)t)) continue;
        for (size_t i = 0; i < sizeof TOTALS / sizeof TOTALS[0]; i++)
            atomic_totals(s, TOTALS[i], (hg_type)t);
        for (size_t i = 0; i < sizeof OLD / sizeof OLD[0]; i++)
            atomic_old_values(s, OLD[i], (hg_type)t);
    }
    for (size_t i = 0;
         i < sizeof CONTROL / sizeof CONTROL[0] && cts_wanted(s, "control", HG_TYPE_U32); i++)
        text_form(s, "control", CONTROL[i].name, CONTROL[i].text, 0);
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0] && cts_wanted(s, "fault", HG_TYPE_U32);
         i++)
        text_form(s, "fault", FAULTS[i].name, FAULTS[i].text, FAULTS[i].max_steps);
}

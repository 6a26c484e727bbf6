/* Instructions on the lanes of a block: every row and type, blocks of all shapes, the last one
 * partly empty, with lanes that have left, in branches that blocks take as one, in loops and
 * functions, beside shared memory of the program. */
#include "cts.h"
#include <stdio.h>
#include <string.h>

/* What stands in front of the instruction (lanes may leave there), around it, and behind it. r10:
 * the lane's value, r11: the result. */
typedef struct shape {
    const char *name, *before, *after;
    ref_launch launch;
    bool small; /* for wide types too */
} shape;

#define LOCAL                                                                                     \
    "    rdid r20, lane_idx_z\n    rdid r21, block_dim_y\n    rdid r22, lane_idx_y\n    mad.u32 " \
    "r20, r20, r21, r22\n"                                                                        \
    "    mad.u32 r20, r20, r254, r252\n    mov_imm.u32 r30, 1\n    mov_imm.u32 r31, 3\n    "      \
    "mov_imm.u32 r32, 0\n"
#define LEAVE "    rem.u32 r23, r20, r31\n    seteq.u32 p1, r23, r30\n    bra.p1 @done\n"

static const shape SHAPES[] = {
    {"one block", "", "", {.grid = {1, 1, 1}, .block = {7, 1, 1}}, true},
    {"one lane", "", "", {.grid = {3, 1, 1}, .block = {1, 1, 1}}, true},
    {"blocks of three dimensions",
     "",
     "",
     {.grid = {2, 1, 2}, .block = {3, 2, 5}, .lanes = 101},
     true},
    {"a large block", "", "", {.grid = {2, 1, 1}, .block = {700, 1, 1}, .lanes = 1237}, false},
    {"the largest block", "", "", {.grid = {1, 1, 1}, .block = {1024, 1, 1}}, false},
    {"a power of two", "", "", {.grid = {2, 1, 1}, .block = {128, 1, 1}, .lanes = 255}, false},
    {"lanes that have left",
     LEAVE,
     "",
     {.grid = {2, 1, 1}, .block = {40, 1, 1}, .lanes = 73},
     true},
    {"all but the last have left",
     "    rdid r23, block_dim_x\n    sub.u32 r23, r23, r30\n    setlt.u32 p1, r20, r23\n    bra.p1 "
     "@done\n",
     "",
     {.grid = {2, 1, 1}, .block = {150, 1, 1}},
     false},
    {"exits",
     "    rem.u32 r23, r20, r31\n    setne.u32 p1, r23, r32\n    bra.p1 @stay\n    exit\nstay:\n",
     "",
     {.grid = {3, 1, 1}, .block = {9, 5, 1}},
     true},
    {"blocks that do without",
     "    and.u32 r23, r253, r30\n    mov $11, $10\n    seteq.u32 p1, r23, r30\n    bra.p1 @skip\n",
     "skip:\n",
     {.grid = {4, 1, 1}, .block = {33, 1, 1}},
     true},
    {"a loop in a branch",
     "    mov_imm.u32 r24, 3\nagain:\n    and.u32 r23, r24, r30\n    seteq.u32 p1, r23, r30\n    "
     "bra.p1 @odd\n",
     "    mov $10, $11\nodd:\n    loop r24, @again\n    mov $11, $10\n",
     {.grid = {2, 1, 1}, .block = {21, 2, 1}, .lanes = 80},
     true},
};

static void add_values(cts *s, run_case *c, const char *name, hg_type type, uint64_t elements,
                       bool fill) {
    uint32_t size = oracle_size(type);
    case_array *a = case_add_array(c, name, type, NULL, elements * size);
    for (uint64_t i = 0; a && fill && i < elements; i++) cts_any(s, type, a->bytes + i * size);
}

static uint64_t lanes_of(const ref_launch *l) {
    uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] *
                   l->block[2];
    return l->lanes ? l->lanes : all;
}

/* text with $ in it as the letter of a register. */
static const char *plain(const char *text, char *out) {
    char *to = out;
    for (; *text; text++) *to++ = *text == '$' ? 'r' : *text;
    *to = '\0';
    return out;
}

static void one(cts *s, hg_op op, hg_type type, const shape *at, const char *operands) {
    const char *t = hg_type_name(type), *row = hg_op_get(op)->text;
    run_case c = {.cleared_class = 96};
    char name[120], before[300], after[300];
    cts_text(&c,
             ".atlas 1\n.program cts\n.param r1 out buffer %s out\n.param r2 in buffer %s "
             "in\n.shared 20\n    mov_imm.u64 r40, %u\n"
             "    mul.u64 r41, r255, r40\n" LOCAL
             "    ldg.%s r10, [r2 + r41]\n    mov.%s r11, r10\n    seteq.u32 p0, r20, r32\n%s    "
             "%s.%s r11, r10%s\n%s    stg.%s [r1 + r41], "
             "r11\ndone:\n    exit\n",
             t, t, oracle_size(type), t, t, plain(at->before, before), row, t, operands,
             plain(at->after, after), t);
    add_values(s, &c, "out", type, lanes_of(&at->launch), false);
    add_values(s, &c, "in", type, lanes_of(&at->launch), true);
    c.launch = at->launch;
    snprintf(name, sizeof name, "%s.%s%s: %s", row, t, operands, at->name);
    cts_compare(s, name, &c);
}

static const char *const LANES[] = {", 0", ", 5", ", r20",
                                    ", r255" /* u64, beyond the block in all but the first */,
                                    ", 18446744073709551615"};

/* A third of the shapes for each row and type; where each program is compiled, one for some of
 * them. */
static bool is_chosen(const cts *s, int op, int type, size_t i) {
    if (s->quick)
        return (op + 5 * type) % 12 == 0 && i == (size_t)(op + type) % HG_COUNT_OF(SHAPES);
    return (i + (size_t)op + (size_t)type) % 3 == 0;
}

static void each_shape(cts *s, hg_op op, hg_type type) {
    for (size_t i = 0; i < HG_COUNT_OF(SHAPES); i++) {
        if ((oracle_size(type) > 8 && !SHAPES[i].small) || !is_chosen(s, (int)op, (int)type, i))
            continue;
        if (op == HG_OP_SHUFFLE) {
            for (size_t k = 0; k < HG_COUNT_OF(LANES); k++) one(s, op, type, &SHAPES[i], LANES[k]);
            continue;
        }
        one(s, op, type, &SHAPES[i], "");
        if (hg_op_get(op)->operand_count > 2) one(s, op, type, &SHAPES[i], ", exclusive=true");
    }
}

/* Two of them in a row, in a function, beside the program's own shared memory and a barrier; a
 * fault of a lane before. */
static const struct {
    const char *name, *text;
} FORMS[] = {
#define START                                                                                    \
    ".atlas 1\n.program cts\n.param r1 out buffer u32 out\n.param r2 in buffer u32 in\n.shared " \
    "200\n    mov_imm.u64 r40, 4\n"                                                              \
    "    mul.u64 r41, r255, r40\n    ldg.u32 r10, [r2 + r41]\n    mov_imm.u32 r30, 1\n    "      \
    "mov_imm.u32 r31, 2\n    shl.u32 r14, r252, "                                                \
    "r31\n"
#define FINISH "    stg.u32 [r1 + r41], r10\n    exit\n"
    {"beside shared memory", START
     "    sts.u32 [shared + r14], r10\n    bscan.add.u32 r11, r10\n    lds.u32 r12, [shared + 8]\n"
     "    breduce.max.u32 r13, r12\n    bar.sync 0\n    sts.u32 [shared + r14], r11\n    "
     "shuffle.u32 r15, r11, 2\n"
     "    lds.u32 r16, [shared + 0]\n    add.u32 r10, r13, r15\n    mad.u32 r10, r10, r31, "
     "r16\n" FINISH},
    {"in a function",
     START "    call @f\n    add.u32 r10, r10, r11\n    call @f\n    add.u32 r10, r10, r11\n" FINISH
           "f:\n    bscan.xor.u32 r11, r10, exclusive=true\n    ret\n"},
    {"in a function after exits",
     START "    and.u32 r12, r10, r30\n    seteq.u32 p0, r12, r30\n    bra.p0 @gone\n    call @f\n "
           "   add.u32 r10, r10, r11\n" FINISH
           "gone:\n    exit\nf:\n    breduce.add.u32 r11, r10\n    ret\n"},
    {"all in a row", START "    breduce.min.u32 r11, r10\n    breduce.max.u32 r12, r10\n    "
                           "bscan.max.u32 r13, r10\n    bscan.min.u32 r14, r10\n"
                           "    bscan.or.u32 r15, r10, exclusive=true\n    shuffle.u32 r16, r15, "
                           "r11\n    shuffle.u32 r17, r10, r252\n    breduce.and.u32 "
                           "r18, r10\n"
                           "    breduce.mul.u32 r19, r10\n    breduce.xor.u32 r20, r10\n    "
                           "bscan.mul.u32 r21, r10\n    bscan.and.u32 r22, r21\n    "
                           "add.u32 r18, r18, r19\n    add.u32 r18, r18, r20\n    mad.u32 r18, "
                           "r18, r31, r22\n    sub.u32 r10, r12, r11\n    mad.u32 r10, "
                           "r10, r13, r14\n    xor.u32 r10, r10, r15\n    add.u32 r10, r10, r16\n"
                           "    add.u32 r10, r10, r17\n    add.u32 r10, r10, r18\n" FINISH},
    {"across bar.grid", START "    bscan.add.u32 r11, r10\n    breduce.add.u32 r12, r10\n    "
                              "bar.grid\n    breduce.add.u32 r13, r11\n"
                              "    parallel_reduce.u32 r15, r2, sum, 20\n    sts.u32 [shared + "
                              "r14], r13\n    bscan.add.u32 r14, r12, exclusive=true\n"
                              "    lds.u32 r16, [shared + 4]\n    add.u32 r10, r13, r14\n    "
                              "add.u32 r10, r10, r15\n    add.u32 r10, r10, r16\n" FINISH},
    {"kept behind a step",
     START "    sts.u32 [shared + r14], r10\n    parallel_reduce.u32 r15, r2, sum, 20\n"
           "    mov_imm.u32 r16, 188\n    sub.u32 r16, r16, r14\n    lds.u32 r17, [shared + r16]\n"
           "    add.u32 r10, r15, r17\n" FINISH},
    {"a result decides", START "    breduce.or.u32 r11, r10\n    setgt.u32 p0, r10, r11\n    "
                               "bra.p0 @low\n    add.u32 r10, r10, r11\nlow:\n" FINISH},
    {"any and all",
     START "    and.u32 r12, r10, r30\n    seteq.u32 p0, r12, r30\n    block.any p1, p0\n"
           "    block.all p2, p0\n    setge.u32 p3, r254, r30\n    block.all p4, p3\n"
           "    not.p p3, p3\n    block.any p5, p3\n    mov_imm.u32 r13, 0\n"
           "    sel.u32 r14, p1, r30, r13\n    sel.u32 r15, p2, r31, r13\n"
           "    add.u32 r10, r10, r14\n    add.u32 r10, r10, r15\n"
           "    mov_imm.u32 r16, 64\n    sel.u32 r14, p4, r16, r13\n"
           "    sel.u32 r15, p5, r30, r13\n    add.u32 r10, r10, r14\n"
           "    sub.u32 r10, r10, r15\n" FINISH},
    {"any of those that go on", /* a lane in three goes, then rounds with a barrier while one is odd
                                 */
     START "    mov_imm.u32 r15, 3\n    rem.u32 r16, r252, r15\n    seteq.u32 p0, r16, r30\n"
           "    bra.p0 @gone\n    mov_imm.u32 r17, 0\n    mov_imm.u32 r18, 15\n"
           "    and.u32 r10, r10, r18\nagain:\n    sts.u32 [shared + r14], r10\n    bar.sync 1\n"
           "    lds.u32 r19, [shared + 0]\n    xor.u32 r17, r17, r19\n    bar.sync 2\n"
           "    mov_imm.u32 r20, 0\n    setne.u32 p1, r10, r20\n    shr.u32 r10, r10, r30\n"
           "    add.u32 r17, r17, r30\n    block.any p2, p1\n    bra.p2 @again\n"
           "    block.all p2, p1\n    mov.u32 r10, r17\n    bra.p2 @gone\n" FINISH
           "gone:\n    exit\n"},
    {"of the launch", /* rounds while one is not 0 */
     ".atlas 1\n.program cts\n.param r1 out buffer u32 out\n.param r2 in buffer u32 in\n"
     ".scratch r5 flag u32 [1]\n.shared 200\n    mov_imm.u64 r40, 4\n    mul.u64 r41, r255, r40\n"
     "    ldg.u32 r10, [r2 + r41]\n    mov_imm.u32 r30, 1\n    mov_imm.u32 r31, 2\n"
     "    shl.u32 r14, r252, r31\n    mov_imm.u32 r17, 0\n    mov_imm.u32 r18, 15\n"
     "    and.u32 r10, r10, r18\n    mov_imm.u32 r20, 0\nagain:\n    setne.u32 p1, r10, r20\n"
     "    sts.u32 [shared + r14], r30\n    grid.any p2, p1, [buf(r5) + 0]\n"
     "    lds.u32 r19, [shared + r14]\n    sel.u32 r21, p2, r30, r20\n    add.u32 r17, r17, r21\n"
     "    add.u32 r17, r17, r19\n    shr.u32 r10, r10, r30\n    bra.p2 @again\n"
     "    setle.u32 p3, r10, r20\n    grid.all p4, p3, [buf(r5) + 0]\n    seteq.u32 p3, r252, r31\n"
     "    grid.all p5, p3, [buf(r5) + 0]\n    grid.any p6, p3, [buf(r5) + 0]\n"
     "    sel.u32 r21, p4, r18, r20\n    add.u32 r17, r17, r21\n    sel.u32 r21, p5, r31, r20\n"
     "    add.u32 r17, r17, r21\n    sel.u32 r21, p6, r18, r20\n    add.u32 r10, r17, "
     "r21\n" FINISH},
    {"behind a fault", START "    mov_imm.u32 r15, 0\n    mov_imm.u64 r16, 19\n    setne.u64 p0, "
                             "r255, r16\n    bra.p0 @on\n    div.u32 r10, r10, r15\non:\n"
                             "    breduce.add.u32 r11, r10\n    mov_imm.u64 r16, 2\n    setne.u64 "
                             "p0, r255, r16\n    bra.p0 @off\n    div.u32 r10, r10, "
                             "r15\noff:\n" FINISH},
    {"a fault behind", START "    breduce.add.u32 r11, r10\n    bscan.add.u32 r12, r10\n    "
                             "mov_imm.u32 r15, 0\n    mov_imm.u64 r16, 19\n    setne.u64 p0, r255, "
                             "r16\n"
                             "    bra.p0 @on\n    div.u32 r10, r10, r15\non:\n    mov_imm.u64 r17, "
                             "4000\n    mov_imm.u64 r16, 7\n    setne.u64 p0, r255, r16\n"
                             "    bra.p0 @off\n    lds.u32 r10, [shared + 197]\noff:\n" FINISH},
#undef START
#undef FINISH
};

static void form(cts *s, size_t i) {
    run_case c = {.cleared_class = 96};
    char name[80];
    cts_text(&c, "%s", FORMS[i].text);
    add_values(s, &c, "out", HG_TYPE_U32, 120, false);
    add_values(s, &c, "in", HG_TYPE_U32, 120, true);
    if (strstr(FORMS[i].text, ".scratch")) {
        case_array *flag = case_add_array(&c, "flag", HG_TYPE_U32, NULL, 4);
        if (flag) flag->scratch = true;
    }
    c.launch = (ref_launch){.grid = {3, 1, 1}, .block = {48, 1, 1}, .lanes = 120};
    snprintf(name, sizeof name, "block: %s", FORMS[i].name);
    cts_compare(s, name, &c);
}

void cts_blocks(cts *s) {
    for (int op = 0; op < HG_OP_COUNT; op++) {
        const hg_op_info *row = hg_op_get((hg_op)op);
        for (int t = 0; t < HG_TYPE_COUNT && (row->flags & HG_F_BLOCK); t++)
            if (hg_op_allows_type((hg_op)op, (hg_type)t) && cts_wanted(s, row->text, (hg_type)t))
                each_shape(s, (hg_op)op, (hg_type)t);
    }
    for (size_t i = 0; i < HG_COUNT_OF(FORMS) && cts_wanted(s, "block", HG_TYPE_U32); i++)
        form(s, i);
}

/* The optimiser of programs: each pass on small texts, what it leaves alone, and its interface. */
#include "isa/program.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/hologram.h>

#define HEAD                              \
    ".atlas 1\n.program p\n"              \
    ".param r1 x buffer f32 inout [64]\n" \
    ".param r2 n u32\n.param r3 k u32\n"  \
    ".param r4 y buffer u32 inout [64]\n"

static size_t pass_number(const char *name) {
    size_t i = 0;
    while (hg_optimizer_pass_get(i) && strcmp(hg_optimizer_pass_get(i)->name, name) != 0) i++;
    return i;
}

static hg_program *optimise(const char *passes, const hg_program *source,
                            hg_optimize_stats *stats) {
    const hg_optimize_options options = {.size = sizeof options, .passes = passes};
    hg_program *made = NULL;
    hg_status status = hg_program_optimize(source, &options, stats, &made);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", passes, hg_last_error_text());
    return made;
}

/* The code after HEAD becomes that other code. */
static void becomes_with(const char *head, const char *passes, const char *before,
                         const char *after, int line) {
    char text[8192], wanted[8192], *got = NULL, *expected = NULL;
    snprintf(text, sizeof text, "%s%s", head, before);
    snprintf(wanted, sizeof wanted, "%s%s", head, after);
    hg_optimize_stats stats = {.size = sizeof stats};
    hg_program *source = assemble(text), *second = assemble(wanted),
               *made = source ? optimise(passes, source, &stats) : NULL;
    if (made && second) {
        CHECK(hg_program_print(made, &got, NULL) == HG_OK &&
              hg_program_print(second, &expected, NULL) == HG_OK);
        CHECK_MESSAGE(got && expected && strcmp(got, expected) == 0,
                      "line %d: %s: expected\n%s, got\n%s", line, passes, expected, got);
        bool same = strcmp(before, after) == 0;
        CHECK_MESSAGE(same == (made == source), "line %d: %s: changed %d", line, passes,
                      made != source);
        CHECK_U64(stats.instructions_before, source->inst_count);
        CHECK_U64(stats.instructions_after, made->inst_count);
        for (size_t i = 0; hg_optimizer_pass_get(i); i++) CHECK_U64(stats.passes[i].refused, 0);
    }
    hg_string_free(got);
    hg_string_free(expected);
    hg_program_release(made);
    hg_program_release(second);
    hg_program_release(source);
}
static void becomes_at(const char *passes, const char *before, const char *after, int line) {
    becomes_with(HEAD, passes, before, after, line);
}
#define BECOMES(passes, before, after) becomes_at(passes, before, after, __LINE__)
#define STAYS(passes, text) becomes_at(passes, text, text, __LINE__)

static void test_dead(void) {
    BECOMES("dead", "mov.u32 r9, r2\nadd.u32 r10, r9, r3\nstg.u32 [buf(r4)], r2\n",
            "stg.u32 [buf(r4)], r2\n");
    /* also round a loop, and in the loop the counter stays */
    BECOMES("dead", "mov.u32 r9, r2\nl: add.u32 r9, r9, r3\nloop r2, @l\nstg.u32 [buf(r4)], r3\n",
            "l: loop r2, @l\nstg.u32 [buf(r4)], r3\n");
    BECOMES("dead", "bra @e\nadd.u32 r3, r3, r2\ne: stg.u32 [buf(r4)], r3\n",
            "bra @e\ne: stg.u32 [buf(r4)], r3\n");
    BECOMES("dead", "seteq.u32 p0, r2, r3\nstg.u32 [buf(r4)], r3\n", "stg.u32 [buf(r4)], r3\n");
    BECOMES("dead", "ldg.f32 r10, [buf(r1)]\ndiv.f32 r9, r10, r10\n", "ldg.f32 r10, [buf(r1)]\n");
    /* what may fault, waits, or changes anything stays */
    STAYS("dead", "div.u32 r9, r2, r3\nrem.u32 r10, r2, r3\n");
    STAYS("dead", "ldg.u32 r9, [r4 + r2*4]\n");
    STAYS("dead", "atom.add.u32 r9, [buf(r4)], r2\nbar.sync 0\nphase.adv r2\nmemfence.device\n");
    STAYS("dead", "breduce.add.u32 r9, r2\nparallel_reduce.u32 r10, r4, sum, 4\n");
    STAYS("dead", "l: bra @l\n");
    /* functions: what a caller needs, and code that two of them share */
    BECOMES("dead",
            "call @f\nstg.u32 [buf(r4)], r9\nexit\nf: mov.u32 r9, r2\nmov.u32 r10, r3\nret\n",
            "call @f\nstg.u32 [buf(r4)], r9\nexit\nf: mov.u32 r9, r2\nret\n");
    STAYS("dead", "call @f\nstg.u32 [buf(r4)], r9\ncall @g\nstg.u32 [buf(r4) + 4], r8\nexit\n"
                  "f: mov.u32 r10, r2\nbra @s\ng: mov.u32 r10, r3\nbra @s\ns: mov.u32 r9, "
                  "r10\nmov.u32 r8, r10\nret\n");
    STAYS(
        "dead",
        "call @f\nstg.u32 [buf(r4)], r9\ncall @g\nstg.u32 [buf(r4) + 4], r8\nexit\n"
        "f: mov.u32 r10, r2\nmov.u32 r11, r3\nbra @s\ng: mov.u32 r10, r3\nmov.u32 r11, r2\nbra @s\n"
        "s: mov.u32 r9, r10\nmov.u32 r8, r11\nret\n");
    BECOMES("dead", "exit\nf: ret\n", "exit\nf:\n"); /* the label stays */
}

static void test_copies(void) {
    BECOMES("peephole",
            "mov.u32 r9, r2\nmov.u32 r10, r9\nadd.u32 r11, r10, r9\nstg.u32 [r4 + r10*4], r11\n",
            "mov.u32 r9, r2\nmov.u32 r10, r2\nadd.u32 r11, r2, r2\nstg.u32 [r4 + r2*4], r11\n");
    BECOMES("peephole,dead",
            "mov.u32 r9, r2\nmov.u32 r10, r9\nadd.u32 r11, r10, r9\nstg.u32 [r4 + r10*4], r11\n",
            "add.u32 r11, r2, r2\nstg.u32 [r4 + r2*4], r11\n");
    /* what was copied is written in between; a handle keeps its register; so do the registers of a
     * run */
    STAYS("peephole", "mov.u32 r9, r2\nadd.u32 r2, r2, r3\nstg.u32 [r4 + r9*4], r2\n");
    STAYS("peephole", "mov.u64 r9, r4\nstg.u32 [buf(r9)], r2\n");
    STAYS("peephole",
          "mov.u32 r9, r2\nmov.u32 r10, r3\nreduce.add.u32 r11, r9, 2\nstg.u32 [buf(r4)], r11\n");
    BECOMES("peephole", "mov.u32 r9, r2\nmov.u32 r2, r9\nmov.u32 r9, r2\nstg.u32 [buf(r4)], r9\n",
            "mov.u32 r9, r2\nstg.u32 [buf(r4)], r2\n");
}

static void test_pairs(void) {
    BECOMES("peephole", "mul.u32 r9, r2, r3\nadd.u32 r10, r2, r9\nstg.u32 [buf(r4)], r10\n",
            "mad.u32 r10, r2, r3, r2\nstg.u32 [buf(r4)], r10\n");
    BECOMES("peephole",
            "ldg.f32 r9, [buf(r1)]\nmul.f32 r10, r9, r9\nadd.f32 r10, r10, r9\nstg.f32 [buf(r1)], "
            "r10\n",
            "ldg.f32 r9, [buf(r1)]\nmad.f32 r10, r9, r9, r9\nstg.f32 [buf(r1)], r10\n");
    /* sums of floats keep their order; the product is read again; a factor is written in between;
     * the type differs */
    STAYS("peephole", "ldg.f32 r9, [buf(r1)]\nmul.f32 r10, r9, r9\nadd.f32 r10, r9, r10\nstg.f32 "
                      "[buf(r1)], r10\n");
    STAYS("peephole", "mul.u32 r9, r2, r3\nadd.u32 r10, r9, r2\nstg.u32 [buf(r4)], r10\nstg.u32 "
                      "[buf(r4) + 4], r9\n");
    STAYS("peephole",
          "mul.u32 r9, r2, r3\nmov.u32 r11, r9\nadd.u32 r10, r9, r2\nstg.u32 [buf(r4)], r10\n");
    STAYS(
        "peephole",
        "mul.u32 r9, r2, r3\nldg.u32 r2, [buf(r4)]\nadd.u32 r10, r9, r2\nstg.u32 [buf(r4)], r10\n");
    STAYS("peephole", "mul.u32 r9, r2, r3\nadd.u32 r10, r9, r9\nstg.u32 [buf(r4)], r10\n");
    BECOMES("peephole", "not.u32 r9, r2\nnot.u32 r10, r9\nstg.u32 [buf(r4)], r10\n",
            "not.u32 r9, r2\nmov.u32 r10, r2\nstg.u32 [buf(r4)], r2\n");
    BECOMES("peephole,dead",
            "ldg.f32 r9, [buf(r1)]\nneg.f32 r10, r9\nneg.f32 r10, r10\nstg.f32 [buf(r1)], r10\n",
            "ldg.f32 r9, [buf(r1)]\nstg.f32 [buf(r1)], r9\n");
}

static void test_identities(void) {
    BECOMES("peephole,dead",
            "mov_imm.u32 r9, 0\nadd.u32 r10, r2, r9\nor.u32 r10, r9, r10\nshl.u32 r10, r10, "
            "r9\nstg.u32 [buf(r4)], r10\n",
            "stg.u32 [buf(r4)], r2\n");
    BECOMES("peephole,dead", "mov_imm.u32 r9, 64\nrotl.u32 r10, r2, r9\nstg.u32 [buf(r4)], r10\n",
            "stg.u32 [buf(r4)], r2\n");
    BECOMES(
        "peephole,dead",
        "mov_imm.u32 r9, 1\nmul.u32 r10, r9, r2\ndiv.u32 r10, r10, r9\nstg.u32 [buf(r4)], r10\n",
        "stg.u32 [buf(r4)], r2\n");
    BECOMES("peephole,dead", "xor.u32 r9, r2, r2\nstg.u32 [buf(r4)], r9\n",
            "mov_imm.u32 r9, 0\nstg.u32 [buf(r4)], r9\n");
    BECOMES("peephole,dead",
            "seteq.u32 p0, r2, r3\nsel.u32 r9, p0, r2, r2\nstg.u32 [buf(r4)], r9\n",
            "stg.u32 [buf(r4)], r2\n");
    BECOMES("peephole,dead",
            "mov_imm.i256 r9, -1\nldg.i256 r10, [buf(r4)]\nand.i256 r11, r10, r9\nstg.i256 "
            "[buf(r4)], r11\n",
            "ldg.i256 r10, [buf(r4)]\nstg.i256 [buf(r4)], r10\n");
    /* floats have none: -0 + 0 is +0, and 0 * x may be NaN */
    STAYS("peephole,dead", "mov_imm.f32 r9, 0.0\nldg.f32 r10, [buf(r1)]\nadd.f32 r10, r10, "
                           "r9\nstg.f32 [buf(r1)], r10\n");
    STAYS("peephole,dead", "mov_imm.f32 r9, 1.0\nldg.f32 r10, [buf(r1)]\nmul.f32 r10, r10, "
                           "r9\nstg.f32 [buf(r1)], r10\n");
}

static void test_jumps(void) {
    BECOMES("peephole", "bra @a\na: seteq.u32 p0, r2, r3\nbra.p0 @b\nb: stg.u32 [buf(r4)], r2\n",
            "a: seteq.u32 p0, r2, r3\nb: stg.u32 [buf(r4)], r2\n");
    BECOMES("peephole,dead",
            "seteq.u32 p0, r2, r3\nbra.p0 @a\nstg.u32 [buf(r4)], r2\nexit\na: bra @b\nc: stg.u32 "
            "[buf(r4)], r3\nexit\nb: stg.u32 [buf(r4) "
            "+ 4], r3\n",
            "seteq.u32 p0, r2, r3\nbra.p0 @b\nstg.u32 [buf(r4)], r2\nexit\na:\nc:\nb: stg.u32 "
            "[buf(r4) + 4], r3\n");
    STAYS("peephole", "l: bra @l\n");
    STAYS("peephole", "bra @m\nl: bra @l\nm: bra @l\n");
}

static void test_constants(void) {
    BECOMES(
        "constants",
        "mov_imm.f32 r9, 0.1\nmov_imm.f32 r10, 0.2\nadd.f32 r11, r9, r10\nstg.f32 [buf(r1)], r11\n",
        "mov_imm.f32 r9, 0.1\nmov_imm.f32 r10, 0.2\nmov_imm.f32 r11, 0.3\nstg.f32 [buf(r1)], "
        "r11\n");
    /* every type and kind: halves, wide integers, conversions that saturate, functions, predicates
     * on the way, runs of registers */
    BECOMES("all",
            "mov_imm.f16 r9, 2048.0\nmov_imm.f16 r10, 1.0\nadd.f16 r11, r9, r10\nstg.f16 "
            "[buf(r1)], r11\n",
            "mov_imm.f16 r11, 2048.0\nstg.f16 [buf(r1)], r11\n");
    BECOMES("all",
            "mov_imm.i256 r9, -1\nmov_imm.u32 r10, 200\nshl.i256 r11, r9, r10\nneg.i256 r11, "
            "r11\nclz.i256 r12, r11\nstg.u32 [buf(r4)], r12\n",
            "mov_imm.u32 r12, 55\nstg.u32 [buf(r4)], r12\n");
    BECOMES("all", "mov_imm.f64 r9, -1.0e300\ncvt.i32.f64 r10, r9\nstg.i32 [buf(r4)], r10\n",
            "mov_imm.i32 r10, -2147483648\nstg.i32 [buf(r4)], r10\n");
    BECOMES("all",
            "mov_imm.f32 r9, 1.0e-38\nmov_imm.f32 r10, 0.5\nmul.f32 r11, r9, r10\nstg.f32 "
            "[buf(r1)], r11\n",
            "mov_imm.f32 r11, 5.0e-39\nstg.f32 [buf(r1)], r11\n");
    BECOMES("all",
            "mov_imm.u32 r9, 3\nmov_imm.u32 r10, 4\nsetlt.u32 p0, r9, r10\nnot.p p1, p0\nsel.u32 "
            "r11, p1, r2, r3\nstg.u32 [buf(r4)], r11\n",
            "stg.u32 [buf(r4)], r3\n");
    BECOMES("all",
            "mov_imm.u32 r9, 3\nmov_imm.u32 r10, 4\nreduce.mul.u32 r11, r9, 2\nstg.u32 [buf(r4)], "
            "r11\n",
            "mov_imm.u32 r11, 12\nstg.u32 [buf(r4)], r11\n");
    BECOMES("all", "mov_imm.u8 r9, 50\nmirror r10, r9\nstg.u8 [buf(r4)], r10\n",
            "mov_imm.u8 r10, 2\nstg.u8 [buf(r4)], r10\n");
    /* one way of a branch, what is the same on both, a loop of no rounds */
    BECOMES("all",
            "mov_imm.u32 r9, 0\nmov_imm.u32 r12, 1\nseteq.u32 p0, r9, r12\nbra.p0 @a\nmov_imm.u32 "
            "r10, 5\nbra @e\na: mov_imm.u32 r10, "
            "6\ne: stg.u32 [buf(r4)], r10\n",
            "mov_imm.u32 r10, 5\na:\ne: stg.u32 [buf(r4)], r10\n");
    BECOMES("all",
            "seteq.u32 p0, r2, r3\nmov_imm.u32 r10, 5\nbra.p0 @e\nmov_imm.u32 r10, 5\ne: add.u32 "
            "r11, r10, r10\nstg.u32 [buf(r4)], r11\n",
            "e: mov_imm.u32 r11, 10\nstg.u32 [buf(r4)], r11\n");
    BECOMES("all", "mov_imm.u32 r9, 0\nl: stg.u32 [buf(r4)], r2\nloop r9, @l\n",
            "l: stg.u32 [buf(r4)], r2\n");
    /* what changes round a loop is not known; nor is what a function leaves; what would fault
     * stays, and NaN */
    STAYS("constants", "mov_imm.u32 r9, 1\nmov_imm.u32 r10, 1\nl: add.u32 r10, r10, r9\nloop r2, "
                       "@l\nstg.u32 [buf(r4)], r10\n");
    STAYS("constants", "mov_imm.u32 r9, 1\ncall @f\nadd.u32 r10, r9, r9\nstg.u32 [buf(r4)], "
                       "r10\nexit\nf: mov.u32 r9, r2\nret\n");
    STAYS("constants",
          "mov_imm.u32 r9, 1\nmov_imm.u32 r10, 0\ndiv.u32 r11, r9, r10\nstg.u32 [buf(r4)], r11\n");
    STAYS("constants", "mov_imm.u8 r9, 96\nmirror r10, r9\nstg.u8 [buf(r4)], r10\n");
    STAYS("constants", "mov_imm.f32 r9, -1.0\nsqrt.f32 r10, r9\nstg.f32 [buf(r1)], r10\n");
    STAYS("constants", "mov_imm.i4096 r9, 1\nadd.i4096 r10, r9, r9\nstg.i4096 [buf(r4)], r10\n");
    STAYS("constants", "rdid r9, block_dim_x\nadd.u32 r10, r9, r9\nstg.u32 [buf(r4)], r10\n");
}

#define MAPS                                                                                     \
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 inout [n]\n" \
    ".param r3 w buffer f32 in [8]\n.param r7 n u64\n.scratch r4 s f32 [n]\n.scratch r5 t f32 "  \
    "[n]\n"
#define LANES MAPS ".lanes n\n"
#define KEEPS(head, text) becomes_with(head, "fuse", text, text, __LINE__)

/* What each lane does on its element stands in the result as these lines. */
static void fuses_at(const char *head, const char *before, const char *lines, int line) {
    char text[8192], *got = NULL;
    snprintf(text, sizeof text, "%s%s", head, before);
    hg_program *source = assemble(text), *made = source ? optimise("fuse", source, NULL) : NULL;
    if (made) {
        CHECK(hg_program_print(made, &got, NULL) == HG_OK);
        CHECK_MESSAGE(got && strstr(got, lines), "line %d: got\n%s", line, got);
        hg_program *again = optimise("fuse", made, NULL); /* once is enough */
        CHECK(again == made);
        hg_program_release(again);
    }
    hg_string_free(got);
    hg_program_release(made);
    hg_program_release(source);
}
#define FUSES(head, before, lines) fuses_at(head, before, lines, __LINE__)

static void test_fuse(void) {
    FUSES(LANES, "parallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, relu, r7\n",
          "    rdid r250, lane_count\n    setne.u64 p0, r250, r7\n    bra.p0 @.L11\n    rdid r251, "
          "global_lane_id\n"
          "    ldg.f32 r247, [r1 + r251*4]\n    neg.f32 r247, r247\n    mov_imm.f32 r248, 0.0\n    "
          "setlt.f32 p0, r248, r247\n"
          "    sel.f32 r247, p0, r247, r248\n    stg.f32 [r1 + r251*4], r247\n    bra "
          "@.L13\n.L11:\n    parallel_map.f32 r1, r1, neg, r7\n");
    FUSES(MAPS, "parallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, abs, r7\n",
          ".lanes max(n, 1)\n    rdid r250, lane_count\n");
    /* loads and stores of the lane's own element take part */
    FUSES(LANES,
          "ldg.f32 r10, [r1 + r255*4]\nadd.f32 r10, r10, r10\nstg.f32 [r1 + r255*4], "
          "r10\nparallel_map.f32 r1, r1, exp, r7\n",
          "    ldg.f32 r247, [r1 + r251*4]\n    mov.f32 r10, r247\n    add.f32 r10, r10, r10\n    "
          "mov.f32 r247, r10\n    exp.f32 r247, "
          "r247\n    stg.f32");
    /* through a scratch, which is written first and only here: it is not stored; one that a round
     * hands to the next is */
    FUSES(LANES,
          "parallel_map.f32 r4, r3, neg, 8\nparallel_map.f32 r4, r1, neg, "
          "r7\nparallel_map_binary.f32 r5, r4, r1, add, r7\n",
          "    neg.f32 r246, r247\n    add.f32 r245, r246, r247\n    stg.f32 [r4 + r251*4], r246\n "
          "   bra");
    FUSES(LANES, "parallel_map.f32 r4, r1, neg, r7\nparallel_map_binary.f32 r1, r4, r1, add, r7\n",
          "    neg.f32 r246, r247\n    add.f32 r247, r246, r247\n    stg.f32 [r1 + r251*4], r247\n "
          "   bra");
    FUSES(LANES,
          "mov_imm.u32 r9, 3\nl: parallel_map_binary.f32 r4, r4, r1, add, "
          "r7\nparallel_map_binary.f32 r1, r4, r1, add, r7\nloop r9, @l\n",
          "    stg.f32 [r4 + r251*4], r247\n    stg.f32 [r1 + r251*4], r246\n    bra");
    /* two runs: lanes meet between them */
    FUSES(LANES,
          "parallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, abs, r7\nparallel_map.f32 "
          "r2, r2, neg, r7\nparallel_map.f32 r2, r2, "
          "abs, r7\n",
          "    stg.f32 [r1 + r251*4], r247\n    bar.grid\n    bra");
    /* x and y may overlap; other numbers of elements, lanes or types; what may fault; memory
     * outside; one map alone */
    KEEPS(LANES, "parallel_map.f32 r2, r1, neg, r7\nparallel_map_binary.f32 r1, r1, r2, add, r7\n");
    KEEPS(
        LANES,
        "mov_imm.u64 r8, 4\nparallel_map.f32 r1, r1, neg, r8\nparallel_map.f32 r1, r1, neg, r8\n");
    KEEPS(MAPS ".lanes 64\n",
          "parallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, neg, r7\n");
    KEEPS(MAPS ".grid 4\n", "parallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, neg, r7\n");
    KEEPS(LANES, "parallel_map.i32 r1, r1, neg, r7\nparallel_map.i32 r1, r1, neg, r7\n");
    KEEPS(LANES ".param r6 i buffer u32 inout [n]\n",
          "parallel_map_binary.u32 r6, r6, r6, div, r7\nparallel_map_binary.u32 r6, r6, r6, div, "
          "r7\n");
    KEEPS(LANES, "ldg.f32 r10, [buf(r1) + 8]\nparallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 "
                 "r1, r1, neg, r7\n");
    KEEPS(LANES, "parallel_map.f32 r1, r1, neg, r7\n");
    KEEPS(MAPS, "rdid r9, block_dim_x\nparallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, "
                "neg, r7\n");
    KEEPS(LANES,
          "mov_imm.u64 r255, 0\nldg.f32 r10, [r1 + r255*4]\nparallel_map.f32 r1, r1, neg, r7\n");
    KEEPS(LANES, "rdid r9, lane_count\nparallel_map.f32 r1, r1, neg, r7\nparallel_map.f32 r1, r1, "
                 "neg, r7\n");
}

/* Names of registers and labels, lines, and where instructions came from. */
static void test_places(void) {
    hg_program *p = assemble(HEAD ".reg total u32\nmov.u32 total, r2\nmov.u32 r30, r3\nadd.u32 "
                                  "total, total, r3\nend: stg.u32 [buf(r4)], total\n");
    hg_optimize_stats stats = {.size = sizeof stats};
    hg_program *q = p ? optimise("dead", p, &stats) : NULL;
    if (q) {
        CHECK(q->inst_count == 3 && q->label_count == 1 && q->labels[0].index == 2 &&
              strcmp(q->labels[0].name, "end") == 0);
        CHECK(q->register_name_count == p->register_name_count && q->lines && p->lines &&
              q->lines[1] == p->lines[2]);
        const uint64_t from[] = {0, 2, 3};
        for (uint32_t i = 0; i < 3; i++) CHECK_U64(hg_program_source_instruction(q, i), from[i]);
        CHECK_U64(hg_program_source_instruction(q, 3), HG_NONE);
        CHECK_U64(hg_program_source_instruction(p, 3), 3);
        CHECK_U64(hg_program_source_instruction(NULL, 0), HG_NONE);
        CHECK_U64(stats.passes[pass_number("dead")].changes, 1);
        /* a second optimisation still tells of the first source */
        hg_program *r = optimise("peephole,dead", q, &stats);
        if (r) CHECK_U64(hg_program_source_instruction(r, r->inst_count - 1), 3);
        hg_program_release(r);
    }
    hg_program_release(q);
    hg_program_release(p);
}

/* A fault of the optimised program has the lane and the line of the source. */
static void test_fault(void) {
    hg_backend *backend = NULL;
    hg_buffer buffer;
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_default();
    hg_program *p = assemble(".atlas 1\n.program p\n.param r1 x buffer u32 inout\n.lanes 8\n    "
                             "mov.u32 r5, lane\n    mov.u32 r6, r5\n    "
                             "stg.u32 [r1 + r6*4], r6\n");
    hg_program *q = p ? optimise(NULL, p, NULL) : NULL;
    CHECK(hg_backend_create("cpu", 0, &backend) == HG_OK);
    if (q && backend && hg_backend_allocate_buffer(backend, 12, &buffer) == HG_OK &&
        hg_params_set_buffer(params, "x", buffer) == HG_OK) {
        CHECK_U64(hg_program_len(q), 1);
        launch.lanes = 8;
        launch.block[0] = 8;
        CHECK(hg_backend_execute_program_with_params(backend, q, &launch, params) ==
              HG_ERROR_EXECUTION_FAILED);
        const hg_error *e = hg_last_error();
        CHECK(e->lane == 3 && e->line == 7 && e->instruction == 0);
        CHECK_U64(hg_program_source_instruction(q, e->instruction), 2);
    }
    hg_program_release(p);
    hg_program_release(q);
    hg_params_destroy(params);
    hg_backend_destroy(backend);
}

static void test_interface(void) {
    hg_program *p = assemble(HEAD "mov.u32 r9, r2\nstg.u32 [buf(r4)], r2\n"), *q = NULL,
               *again = NULL;
    hg_optimize_options options = {.size = sizeof options};
    hg_optimize_stats stats = {.size = 3};
    for (int i = 0; i < 4; i++) {
        static const char *const BAD[] = {"peep", "dead,", "", "dead,deaf"};
        options.passes = BAD[i];
        CHECK(hg_program_optimize(p, &options, NULL, &q) == HG_ERROR_INVALID_ARGUMENT && !q);
        CHECK_MESSAGE(strstr(hg_last_error_text(), "is no pass of the optimiser: expected ") &&
                          strstr(hg_last_error_text(), "dead"),
                      "%s", hg_last_error_text());
    }
    CHECK(hg_program_optimize(p, NULL, &stats, &q) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "hg_optimize_stats"));
    options = (hg_optimize_options){.size = 5};
    CHECK(hg_program_optimize(p, &options, NULL, &q) == HG_ERROR_INVALID_ARGUMENT &&
          strstr(hg_last_error_text(), "hg_optimize_options"));
    /* a program that reads a register which only a launch sets */
    hg_program *open = assemble(".atlas 1\n.program p\nstg.u32 [buf(r4)], r2\n");
    CHECK(hg_program_optimize(open, NULL, NULL, &q) == HG_ERROR_ISA && !q);
    hg_program_release(open);

    hg_optimizer *o = NULL;
    CHECK(hg_optimizer_create(&o) == HG_OK);
    CHECK(hg_optimizer_optimize(o, p, &q) == HG_OK && hg_program_len(q) == 1);
    CHECK(hg_optimizer_optimize(o, p, &again) == HG_OK && again == q);
    hg_program_release(again);
    CHECK_U64(hg_optimizer_len(o), 1);
    hg_program *twin = assemble(HEAD "mov.u32 r9, r2\nstg.u32 [buf(r4)], r2\n");
    CHECK(hg_optimizer_optimize(o, twin, &again) == HG_OK && again == q);
    hg_program_release(again);
    hg_program_release(twin);
    for (int i = 0; i < 300; i++) { /* more than it remembers */
        char text[512];
        snprintf(text, sizeof text, HEAD "mov_imm.u32 r9, %d\nstg.u32 [buf(r4)], r9\n", i);
        hg_program *one = assemble(text), *made = NULL;
        CHECK(hg_optimizer_optimize(o, one, &made) == HG_OK);
        hg_program_release(one);
        hg_program_release(made);
    }
    CHECK_U64(hg_optimizer_len(o), 256);
    hg_optimizer_destroy(o);
    hg_program_release(q);
    CHECK(hg_optimizer_eliminate_dead_code(p, &q) == HG_OK && hg_program_len(q) == 1);
    hg_program_release(q);
    CHECK(hg_optimizer_peephole_optimize(p, &q) == HG_OK && q == p);
    hg_program_release(q);
    CHECK(hg_optimizer_propagate_constants(p, &q) == HG_OK && q == p);
    hg_program_release(q);
    CHECK(hg_optimizer_fuse_instructions(p, &q) == HG_OK && q == p);
    hg_program_release(q);
    hg_program_release(p);
}

int main(void) {
    test_dead();
    test_copies();
    test_pairs();
    test_identities();
    test_jumps();
    test_constants();
    test_fuse();
    test_places();
    test_fault();
    test_interface();
    return test_done();
}

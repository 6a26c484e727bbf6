/* The verifier's diagnostics: every code with its exact text and place, what must be accepted, and
 * size. */
#include "support/failing_allocator.h"
#include "test.h"
#include "isa/cfg.h"

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n"

typedef struct expectation {
    const char *code;
    uint32_t line, column;
    const char *message, *hint;
} expectation;

static hg_status assemble_and_verify(const char *text, hg_diagnostics *d) {
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), d, &p);
    if (status == HG_OK) status = hg_program_verify(p, d);
    hg_program_release(p);
    return status;
}

static void show(const hg_diagnostics *d) {
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        fprintf(stderr, "   got %s %u:%u %s | %s\n", g->code, (unsigned)g->line,
                (unsigned)g->column, g->message, g->hint ? g->hint : "");
    }
}

static bool same_text(const char *a, const char *b) {
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool is_warning(const char *code) {
    return strcmp(code, "V13") == 0 || strcmp(code, "V14") == 0 || strcmp(code, "V15") == 0;
}

/* Exactly these diagnostics, in this order; an error unless all are warnings. */
static void expect(const char *name, const char *text, const expectation *e, size_t count) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = assemble_and_verify(text, d);
    bool errors = false, ok = hg_diagnostics_count(d) == count;
    for (size_t i = 0; i < count; i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        errors |= !is_warning(e[i].code);
        ok = ok && g && strcmp(g->code, e[i].code) == 0 && g->line == e[i].line &&
             g->column == e[i].column && same_text(g->message, e[i].message) &&
             same_text(g->hint, e[i].hint);
    }
    CHECK_MESSAGE(ok, "%s: other diagnostics than expected", name);
    if (!ok) show(d);
    CHECK_MESSAGE(status == (errors ? HG_ERROR_ISA : HG_OK), "%s: status %s", name,
                  hg_status_name(status));
    if (errors && status == HG_ERROR_ISA) {
        size_t first = 0;
        while (is_warning(e[first].code)) first++;
        CHECK_TEXT(hg_last_error()->message, e[first].message);
        CHECK_TEXT(hg_last_error()->code, e[first].code);
        CHECK_U64(hg_last_error()->line, e[first].line);
        CHECK_U64(hg_last_error()->column, e[first].column);
    }
    hg_diagnostics_destroy(d);
}

#define EXPECT(name, text, ...)                                 \
    do {                                                        \
        const expectation list[] = {__VA_ARGS__};               \
        expect(name, text, list, sizeof list / sizeof list[0]); \
    } while (0)
#define ACCEPT(name, text) expect(name, text, NULL, 0)

static void test_registers(void) {
    EXPECT("the specification's first example", HEAD "    add r3, r1, r2\n",
           {"V01", 3, 13, "uninitialized register: r1", NULL});
    EXPECT("with a type", HEAD "    add.f32 r3, r1, r2\n",
           {"V01", 3, 17, "uninitialized register: r1", "nothing sets it"});
    EXPECT("one path does not write",
           HEAD ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.p0 @l\n    mov_imm.u32 r2, "
                "1\nl:\n    add.u32 r3, r2, r2\n    "
                "add.u32 r3, r2, r2\n",
           {"V01", 8, 17, "uninitialized register: r2",
            "line 6 sets it, but not where the branch in line 5 is taken"});
    /* the branch that is meant is not the last one before the read */
    EXPECT("a branch between, that leads past no write",
           HEAD ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.p0 @l\n    mov_imm.u32 r2, "
                "1\nl:\n    bra.p0 @done\n"
                "    add.u32 r3, r2, r2\ndone:\n",
           {"V01", 9, 17, "uninitialized register: r2",
            "line 6 sets it, but not where the branch in line 5 is taken"});
    EXPECT("two branches between",
           HEAD
           ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.p0 @l\n    mov_imm.u32 r2, 1\nl:\n"
           "    bra.p0 @done\n    bra.p0 @done\n    add.u32 r3, r2, r2\ndone:\n",
           {"V01", 10, 17, "uninitialized register: r2",
            "line 6 sets it, but not where the branch in line 5 is taken"});
    EXPECT("written behind the jump",
           HEAD ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.p0 @set\n    bra @l\nset:\n"
                "    mov_imm.u32 r2, 1\nl:\n    bra.p0 @done\n    add.u32 r3, r2, r2\ndone:\n",
           {"V01", 11, 17, "uninitialized register: r2",
            "line 8 sets it, but not where the branch in line 5 is not taken"});
    EXPECT(
        "a negated branch",
        HEAD
        ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.!p0 @l\n    mov_imm.u32 r2, 1\nl:\n"
        "    bra.p0 @done\n    add.u32 r3, r2, r2\ndone:\n",
        {"V01", 9, 17, "uninitialized register: r2",
         "line 6 sets it, but not where the branch in line 5 is taken"});
    EXPECT("a comparison",
           HEAD ".param r1 a u32\n    bra.lt.u32 r1, 5, @l\n    mov_imm.u32 r2, 1\nl:\n    "
                "bra.eq.u32 r1, 9, @done\n"
                "    add.u32 r3, r2, r2\ndone:\n",
           {"V01", 8, 17, "uninitialized register: r2",
            "line 5 sets it, but not where the branch in line 4 is taken"});
    EXPECT("of two that lead past writes the nearer one",
           HEAD ".param r1 a u32\n    setlt.u32 p0, r1, r252\n    bra.p0 @m\n    mov_imm.u32 r2, "
                "1\nm:\n    bra.p0 @l\n"
                "    mov_imm.u32 r2, 2\nl:\n    add.u32 r3, r2, r2\n",
           {"V01", 11, 17, "uninitialized register: r2",
            "line 9 sets it, but not where the branch in line 8 is taken"});
    EXPECT("set for the next round",
           HEAD "    mov_imm.u32 r1, 5\nagain:\n    add.u32 r3, r2, r2\n    mov_imm.u32 r2, 1\n"
                "    loop r1, @again\n",
           {"V01", 5, 17, "uninitialized register: r2",
            "line 6 sets it, but behind this line: nothing has the first time"});
    EXPECT("predicate",
           HEAD "    mov_imm.u32 r1, 1\n    sel.u32 r2, p3, r1, r1\n    sel.u32 r2, p3, r1, r1\n",
           {"V02", 4, 17, "uninitialized predicate: p3", NULL});
    EXPECT("predicate of a branch", HEAD "    bra.p3 @l\nl:\n    exit\n",
           {"V02", 3, 5, "uninitialized predicate: p3", NULL});
    EXPECT("language.md 6", HEAD ".param r4 n u64\n    shl.u64     r0, r255, r4\n",
           {"V03", 4, 27, "type mismatch: expected u32, got u64",
            "the shift amount is a u32 register; load it with mov_imm.u32"});
    EXPECT("each source",
           HEAD "    mov_imm.u32 r1, 1\n    mov_imm.f32 r2, 1.0\n    add.u32 r3, r1, r2\n    "
                "add.f32 r3, r2, r1\n    add.u32 r3, r3, r3\n",
           {"V03", 5, 21, "type mismatch: expected u32, got f32", NULL},
           {"V03", 6, 21, "type mismatch: expected f32, got u32", NULL},
           {"V03", 7, 17, "type mismatch: expected u32, got f32", NULL});
    EXPECT("loop counter", HEAD "    mov_imm.u64 r1, 3\nl:\n    loop r1, @l\n",
           {"V03", 5, 10, "type mismatch: expected u32, got u64",
            "the loop counter is a u32 register; loop.u64 has a u64 one"});
    EXPECT("loop.u64 counter", HEAD "    mov_imm.u32 r1, 3\nl:\n    loop.u64 r1, @l\n",
           {"V03", 5, 14, "type mismatch: expected u64, got u32",
            "the counter of loop.u64 is a u64 register; loop has a u32 one"});
    EXPECT("rotation", HEAD "    rotl.u64 r1, r255, r255\n",
           {"V03", 3, 24, "type mismatch: expected u32, got u64",
            "the shift amount is a u32 register; load it with mov_imm.u32"});
    EXPECT("a count of bits is a u32", HEAD "    popc.u64 r1, r255\n    add.u64 r2, r1, r1\n",
           {"V03", 4, 17, "type mismatch: expected u64, got u32", NULL});
    EXPECT("carry that nobody wrote", HEAD "    addc.u32 r1, p0, r252, r254, p1\n",
           {"V02", 3, 34, "uninitialized predicate: p1", NULL});
    ACCEPT("carry of the first limb", HEAD "    addc.u32 r1, p0, r252, r254\n    subb.u32 r1, p1, "
                                           "r1, r254, p0\n    sel.u32 r1, p1, r1, r1\n");
    EXPECT("product of twice the width", HEAD "    mulw.u64.u64 r1, r255, r255\n",
           {"N06", 3, 14, "unsupported operation: MULW for type u64",
            "'mulw' is for integers of 16 bits and more, from the one of half the width"});
    EXPECT("product of another sign", HEAD "    mulw.i64.u32 r1, r252, r252\n",
           {"N06", 3, 14, "unsupported operation: MULW for type u32",
            "'mulw' is for integers of 16 bits and more, from the one of half the width"});
    EXPECT("private memory that is not there", HEAD "    ldp.u32 r1, [private + 0]\n",
           {"N03", 3, 17, "the program has no private memory",
            "write .private BYTES before the code"});
    EXPECT("private memory of every kind",
           HEAD ".private 8\n    stp.u32 [private + r252*4], r252\n    ldp.u64 r2, [private + 0]\n "
                "   ldg.u32 r1, [private + 0]\n",
           {"N03", 6, 17, "'ldg' cannot use private memory", "ldp and stp reach it"});
    ACCEPT("a pool called pool", HEAD
           ".param r6 pool pool 64\n    ldg.u32 r1, [pool(r6) + 4]\n    ldg.u32 r1, [pool + 8]\n");
    EXPECT("predicate of a predicate",
           HEAD "    seteq.u32 p0, r252, r254\n    and.p p1, p0, p2\n    not.p p3, p1\n    sel.p "
                "p4, p3, p0, p5\n",
           {"V02", 4, 19, "uninitialized predicate: p2", NULL},
           {"V02", 6, 23, "uninitialized predicate: p5", NULL});
    EXPECT("barrier under a predicate of each lane",
           HEAD "    seteq.u32 p0, r252, r254\n    seteq.u32 p1, r253, r254\n    and.p p2, p1, "
                "p0\n    bra.p2 @l\n    bar.sync 0\nl:\n"
                "    mov.u32 r1, r254\n",
           {"V09", 7, 5, "barrier at line 7 is under the per-lane branch at line 6",
            "put it where all lanes that go on come together, or let the others end with exit"});
    ACCEPT("barrier under a predicate of the block",
           HEAD "    seteq.u32 p0, r253, r254\n    not.p p1, p0\n    or.p p2, p1, p0\n    "
                "bra.p2 @l\n    bar.sync 0\nl:\n    mov.u32 r1, r254\n");
    EXPECT("index",
           HEAD ".param r1 x buffer f32 in\n    mov_imm.i32 r2, 0\n    ldg.f32 r3, [r1 + r2]\n",
           {"V03", 5, 17, "type mismatch: expected u32 or u64, got i32", NULL});
    EXPECT("handle", HEAD "    ldg.f32 r3, [buf(r252) + 0]\n",
           {"V03", 3, 17, "type mismatch: expected u64, got u32", NULL});
    EXPECT("cvt", HEAD "    cvt.f32.u32 r3, r255\n",
           {"V03", 3, 21, "type mismatch: expected u32, got u64", NULL});
    EXPECT("a range of registers", HEAD "    mov_imm.u32 r1, 1\n    reduce.add.u32 r5, r1, 2\n",
           {"V01", 4, 24, "uninitialized register: r2", "nothing sets it"});
    EXPECT("ambiguous",
           HEAD "    mov_imm.u32 r1, 1\n    setlt.u32 p0, r1, r252\n    bra.p0 @l\n    mov_imm.f32 "
                "r1, 1.0\nl:\n    mov.u32 r2, r1\n    "
                "mov.u32 r2, r1\n",
           {"V04", 8, 17,
            "type of r1 is ambiguous where paths meet: u32 from line 3, f32 from line 6", NULL});
    EXPECT("ambiguous around a loop",
           HEAD "    mov_imm.u32 r1, 1\n    mov_imm.u32 r2, 1\nl:\n    mov.u32 r3, r1\n    "
                "mov_imm.f32 r1, 1.0\n    loop r2, @l\n",
           {"V04", 6, 17,
            "type of r1 is ambiguous where paths meet: u32 from line 3, f32 from line 7", NULL});
    EXPECT("ambiguous with a parameter",
           HEAD ".param r1 a f64\n    setlt.u32 p0, r252, r253\n    bra.p0 @l\n    mov_imm.f32 r1, "
                "1.0\nl:\n    mov.f32 r2, r1\n",
           {"V04", 8, 17,
            "type of r1 is ambiguous where paths meet: f32 from line 6, f64 from the start", NULL});
    ACCEPT("ambiguous but dead", HEAD "    mov_imm.u32 r1, 1\n    setlt.u32 p0, r1, r252\n    "
                                      "bra.p0 @l\n    mov_imm.f32 r1, 1.0\nl:\n    "
                                      "mov_imm.u32 r1, 5\n    mov.u32 r2, r1\n");
    ACCEPT(
        "the same type from both sides", HEAD
        "    setlt.u32 p0, r252, r253\n    bra.p0 @l\n    mov_imm.f32 r1, 1.0\n    bra @m\nl:\n   "
        " mov_imm.f32 r1, 2.0\nm:\n    add.f32 r1, r1, r1\n");
    ACCEPT("specials", HEAD
           "    add.u32 r1, r252, r253\n    add.u32 r1, r1, r254\n    add.u64 r1, r255, r255\n");
    EXPECT("a parameter takes a special",
           HEAD ".param r255 n f32\n    add.f32 r1, r255, r255\n    add.u64 r1, r255, r255\n",
           {"V03", 5, 17, "type mismatch: expected u64, got f32", NULL});
    ACCEPT("rdid has its own types", HEAD "    rdid r1, lane_count\n    add.u64 r1, r1, r255\n    "
                                          "rdid r1, block_idx_z\n    add.u32 r1, r1, r252\n");
}

static void test_functions(void) {
    EXPECT("a call reads what its function reads",
           HEAD "    call @f\n    exit\nf:\n    add.f32 r1, r2, r2\n    ret\n",
           {"V01", 3, 10, "uninitialized register: r2", "@f reads it at line 6"});
    EXPECT("two levels",
           HEAD "    mov_imm.u32 r2, 1\n    call @f\n    exit\nf:\n    call @g\n    ret\ng:\n    "
                "add.f32 r1, r2, r2\n    ret\n",
           {"V03", 4, 10, "type mismatch: expected f32, got u32", "@f reads it at line 7"});
    EXPECT(
        "predicate of a callee",
        HEAD
        "    mov_imm.u32 r1, 1\n    call @f\n    exit\nf:\n    sel.u32 r2, p1, r1, r1\n    ret\n",
        {"V02", 4, 10, "uninitialized predicate: p1", "@f reads it at line 7"});
    EXPECT("inside, the first use counts",
           HEAD "    mov_imm.u32 r1, 1\n    call @f\n    exit\nf:\n    add.u32 r2, r1, r1\n    "
                "add.f32 r2, r1, r1\n    ret\n",
           {"V03", 8, 17, "type mismatch: expected f32, got u32", NULL});
    ACCEPT("a register passed through has no type there",
           HEAD "    mov_imm.u32 r1, 1\n    call @f\n    add.u32 r2, r1, r9\n    mov_imm.f32 r1, "
                "1.0\n    call @f\n    add.f32 r2, r1, "
                "r1\n    exit\nf:\n    mov_imm.u32 r9, 3\n    ret\n");
    ACCEPT("a result", HEAD
           "    call @f\n    add.f64 r2, r9, r9\n    exit\nf:\n    mov_imm.f64 r9, 3.0\n    ret\n");
    EXPECT("a result of the wrong type",
           HEAD
           "    call @f\n    add.f32 r2, r9, r9\n    exit\nf:\n    mov_imm.f64 r9, 3.0\n    ret\n",
           {"V03", 4, 17, "type mismatch: expected f32, got f64", NULL});
    ACCEPT("written on one path only: as before",
           HEAD "    mov_imm.u32 r9, 1\n    call @f\n    add.u32 r2, r9, r9\n    exit\nf:\n    "
                "setlt.u32 p0, r252, r253\n    bra.p0 @l\n    mov_imm.u32 r9, 3\nl:\n    ret\n");
    EXPECT("written on one path only: nothing before",
           HEAD "    call @f\n    add.u32 r2, r9, r9\n    exit\nf:\n    setlt.u32 p0, r252, r253\n "
                "   bra.p0 @l\n    mov_imm.u32 r9, "
                "3\nl:\n    ret\n",
           {"V01", 4, 17, "uninitialized register: r9",
            "the call in line 3 sets it on some paths only"});
    EXPECT("written on one path only: another type before",
           HEAD "    mov_imm.f32 r9, 1.0\n    call @f\n    add.u32 r2, r9, r9\n    exit\nf:\n    "
                "setlt.u32 p0, r252, r253\n    bra.p0 @l\n "
                "   mov_imm.u32 r9, 3\nl:\n    ret\n",
           {"V04", 5, 17, "type of r9 is ambiguous where paths meet", NULL});
    EXPECT("predicate written on one path only",
           HEAD "    call @f\n    sel.u32 r2, p1, r252, r253\n    exit\nf:\n    setlt.u32 p0, "
                "r252, r253\n    bra.p0 @l\n    setlt.u32 p1, "
                "r252, r253\nl:\n    ret\n",
           {"V02", 4, 17, "uninitialized predicate: p1", NULL});
    EXPECT("an index takes the first caller's type",
           HEAD ".param r1 x buffer f32 in\n    mov.u32 r9, r252\n    call @f\n    mov.u64 r9, "
                "r255\n    call @f\n    exit\nf:\n    "
                "ldg.f32 r2, [r1 + r9]\n    ret\n",
           {"V03", 7, 10, "type mismatch: expected u32, got u64", "@f reads it at line 10"});
    EXPECT("recursion", HEAD "    call @f\n    exit\nf:\n    call @f\n    ret\n",
           {"V06", 6, 10, "recursion: @f -> @f", "functions cannot call themselves; use a loop"});
    EXPECT("recursion through others",
           HEAD "    call @a\n    exit\na:\n    call @b\n    ret\nb:\n    call @c\n    ret\nc:\n   "
                " call @a\n    ret\n",
           {"V06", 12, 10, "recursion: @a -> @b -> @c -> @a",
            "functions cannot call themselves; use a loop"});
    EXPECT("ret without call", HEAD "    ret\n",
           {"V07", 3, 5, "call stack underflow: attempted return with empty call stack", NULL});
    EXPECT("running into a function", HEAD "    call @f\nf:\n    ret\n",
           {"V07", 5, 5, "call stack underflow: attempted return with empty call stack", NULL});
    ACCEPT("shared code is looked at for each function",
           HEAD "    mov_imm.u32 r1, 1\n    call @f\n    add.u32 r2, r1, r1\n    call @g\n    "
                "add.f32 r2, r1, r1\n    exit\nf:\n    "
                "mov_imm.u32 r1, 2\n    bra @end\ng:\n    mov_imm.f32 r1, 2.0\nend:\n    ret\n");
    ACCEPT("a function that never returns", HEAD "    call @f\n    exit\nf:\n    exit\n");
    ACCEPT("call of the end", HEAD "    call @f\nf:\n");
}

static void test_inference(void) {
    ACCEPT("from parameters, specials, results",
           HEAD ".param r1 a f64\n.param r2 x buffer i16 inout\n    mul r3, r1, r1\n    add r4, "
                "r255, r255\n    ldg.i16 r5, [r2 + r255]\n  "
                "  add r5, r5, r5\n    stg [r2 + r255], r5\n"
                "    setlt p0, r5, r5\n    sel r6, p0, r5, r5\n    add.i16 r6, r6, r6\n    add.f64 "
                "r3, r3, r3\n");
    ACCEPT("around a loop", HEAD "    mov_imm.f32 r1, 1.0\n    mov_imm.u32 r2, 9\nl:\n    add r1, "
                                 "r1, r1\n    loop r2, @l\n    add.f32 r3, r1, r1\n");
    ACCEPT("through calls",
           HEAD "    mov_imm.f32 r1, 1.0\n    call @f\n    sub r4, r3, r1\n    call @g\n    "
                "add.f32 r5, r5, r4\n    "
                "exit\nf:\n    mul r3, r1, r1\n    ret\ng:\n    mul r5, r4, r4\n    ret\n");
    EXPECT("mismatch with what was inferred",
           HEAD "    mov_imm.f32 r1, 1.0\n    add r2, r1, r252\n",
           {"V03", 4, 17, "type mismatch: expected f32, got u32", NULL});
    EXPECT("callers disagree",
           HEAD "    mov_imm.f32 r1, 1.0\n    call @f\n    mov_imm.u32 r1, 1\n    call @f\n    "
                "exit\nf:\n    add r2, r1, r1\n    ret\n",
           {"V05", 9, 5, "type of 'add' cannot be inferred here: write add.TYPE", NULL});
    EXPECT("not reachable", HEAD "    exit\n    add r1, r252, r252\n",
           {"V05", 4, 5, "type of 'add' cannot be inferred here: write add.TYPE",
            "code that no path reaches needs its types written"});
    EXPECT("a callee's register nobody set",
           HEAD "    call @f\n    exit\nf:\n    neg r2, r1\n    ret\n",
           {"V01", 6, 13, "uninitialized register: r1", NULL});
}

static void test_uniform(void) {
    EXPECT("semantics 0.3",
           HEAD ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n.param r4 n u64\n  "
                "  setgeu.u64 p0, r255, r4\n    bra.p0 "
                "@done\n    parallel_map.f32 r2, r1, relu, r4\ndone:\n    exit\n",
           {"V08", 8, 5,
            "collective 'parallel_map' at line 8 is under the per-lane branch at line 7",
            "bring all lanes together before it: none may have jumped past it or ended"});
    ACCEPT("with a join", HEAD ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out "
                               "[n]\n.param r4 n u64\n    setgeu.u64 p0, r255, "
                               "r4\n    bra.p0 @join\n    mov_imm.u32 r9, 1\njoin:\n    "
                               "parallel_map.f32 r2, r1, relu, r4\n");
    EXPECT("in a loop that lanes leave one by one",
           HEAD ".param r1 x buffer f32 in\n    mov.u32 r9, r252\nl:\n    reduce.add.f32 r2, "
                "[buf(r1) + 0], 4\n    loop r9, @l\n",
           {"V08", 6, 5, "collective 'reduce.add' at line 6 is under the per-lane branch at line 7",
            "bring all lanes together before it: none may have jumped past it or ended"});
    ACCEPT("while residual > eps",
           HEAD ".param r1 x buffer f32 inout [n]\n.param r4 n u64\n    mov_imm.f32 r9, 0.5\nl:\n  "
                "  parallel_map.f32 r1, r1, sqrt, r4\n   "
                " parallel_reduce.f32 r3, r1, max, r4\n    setgt.f32 p0, r3, r9\n    bra.p0 @l\n");
    EXPECT("a callee's exit",
           HEAD ".param r1 x buffer f32 in [n]\n.param r4 n u64\n    call @f\n    "
                "parallel_reduce.f32 r3, r1, sum, r4\n    exit\nf:\n    "
                "setlt.u64 p0, r255, r4\n    bra.p0 @l\n    exit\nl:\n    ret\n",
           {"V08", 6, 5,
            "collective 'parallel_reduce' at line 6 is under the per-lane branch at line 10",
            "bring all lanes together before it: none may have jumped past it or ended"});
    EXPECT("in a function called under a branch",
           HEAD ".param r1 x buffer f32 in [n]\n.param r4 n u64\n    setlt.u64 p0, r255, r4\n    "
                "bra.p0 @l\n    call @f\nl:\n    "
                "exit\nf:\n    parallel_reduce.f32 r3, r1, sum, r4\n    ret\n",
           {"V08", 11, 5,
            "collective 'parallel_reduce' at line 11 is under the per-lane branch at line 6",
            "bring all lanes together before it: none may have jumped past it or ended"});
    EXPECT("counts and handles",
           HEAD ".param r1 x buffer f32 inout\n    parallel_reduce.f32 r3, r1, sum, r252\n    "
                "mul.u64 r5, r1, r255\n    parallel_reduce.f32 r3, "
                "r5, sum, 4\n    parallel_reduce.f32 r3, [r1 + r253], sum, 4\n    ldg.u64 r6, "
                "[buf(r1) + 0]\n    pool.alloc r7, r6\n",
           {"V10", 4, 38,
            "operand 'count' of 'parallel_reduce' must be the same in all lanes: r252 is not",
            NULL},
           {"V10", 6, 29,
            "operand 'in' of 'parallel_reduce' must be the same in all lanes: r5 is not", NULL},
           {"V10", 7, 29,
            "operand 'in' of 'parallel_reduce' must be the same in all lanes: r253 is not", NULL},
           {"V15", 8, 5, "elements of type u64 in 'x', an array of f32",
            "declare it u64, or as u8 when its bytes are meant"},
           {"V10", 9, 20, "operand 'size' of 'pool.alloc' must be the same in all lanes: r6 is not",
            NULL});
    ACCEPT("language.md 4.3", HEAD ".param r4 n u64\n    setgeu.u64 p0, r255, r4\n    bra.p0 "
                                   "@done\n    bar.sync 0\ndone:\n    exit\n");
    ACCEPT("a barrier in a uniform loop behind a guard",
           HEAD ".param r4 n u64\n    setgeu.u64 p0, r255, r4\n    bra.p0 @done\n    "
                "mov_imm.u32 r1, 3\nl:\n    bar.sync 0\n    loop r1, @l\ndone:\n    exit\n");
    ACCEPT("a guard inside a uniform loop",
           HEAD ".param r4 n u64\n    mov_imm.u32 r1, 3\n    mov_imm.u32 r2, 1\nhead:\n    "
                "seteq.u32 p0, r1, r2\n    bra.p0 @done\n    "
                "setgeu.u64 p1, r255, r4\n    bra.p1 @done\n    bar.sync 0\n    sub.u32 r1, r1, "
                "r2\n    bra @head\ndone:\n    exit\n");
    ACCEPT("a guard, a barrier, and a loop of each lane at the end",
           HEAD ".param r4 n u64\n    setgeu.u64 p0, r255, r4\n    bra.p0 @done\n    bar.sync 0\n  "
                "  mov.u32 r1, r252\nl:\n    "
                "loop r1, @l\ndone:\n    exit\n");
    ACCEPT("a barrier while any lane of the block wants it",
           HEAD "    mov_imm.u32 r2, 0\n    mov_imm.u32 r3, 1\n    mov.u32 r1, r252\nl:\n    "
                "bar.sync 0\n    setgt.u32 p0, r1, r2\n    sub.u32 r1, r1, r3\n    block.any p1, "
                "p0\n    bra.p1 @l\n");
    ACCEPT("bar.grid while any lane of the launch wants it",
           HEAD ".scratch r5 flag u32 [1]\n    setgt.u32 p0, r252, r254\nl:\n    bar.grid\n    "
                "grid.any p1, p0, [buf(r5) + 0]\n    bra.p1 @l\n");
    EXPECT("bar.grid while any lane of the block wants it",
           HEAD "    setgt.u32 p0, r252, r254\nl:\n    bar.grid\n    block.all p1, p0\n    bra.p1 "
                "@l\n",
           {"V08", 5, 5, "collective 'bar.grid' at line 5 is under the per-lane branch at line 7",
            "bring all lanes together before it: none may have jumped past it or ended"});
    EXPECT("block.any in a branch",
           HEAD "    setgt.u32 p0, r252, r254\n    bra.p0 @l\n    block.any p0, p0\nl:\n    "
                "mov.u32 r1, r254\n",
           {"V09", 5, 5, "'block.any' at line 5 is under the per-lane branch at line 4",
            "put it where all lanes that go on come together, or let the others end with exit"});
#define ARRAY HEAD ".param r1 x buffer f32 in [n, 4]\n.param r4 n u64\n.param r5 z buffer f32 in\n"
    ACCEPT("axes", ARRAY
           "    axis.u32 r2, r252, [buf(r1) + 0], 1\n    mov_imm.i8 r3, 1\n    axis.i8 r2, r2, r3, "
           "[shared + 8], 7, extent=r4\n");
    EXPECT("an axis that the array has not", ARRAY "    axis.u32 r2, r252, [buf(r1) + 0], 2\n",
           {"N07", 6, 39, "invalid axis: 2 (must be < 2)", NULL});
    EXPECT("an axis of an array without extents", ARRAY "    axis.u32 r2, r252, [buf(r5) + 0], 0\n",
           {"N05", 6, 24, "the array of 'axis' is not declared with extents",
            "extent=N says what no declaration does"});
    EXPECT("an axis of a place in an array", ARRAY "    axis.u32 r2, r252, [buf(r1) + 4], 0\n",
           {"N03", 6, 24, "'axis' takes an array: [x], [shared + N] or [private + N]", NULL});
#undef ARRAY
    ACCEPT("a count of the block",
           HEAD "    mov.u32 r1, r253\nl:\n    bar.sync 0\n    loop r1, @l\n");
    EXPECT("a barrier inside if",
           HEAD "    setlt.u32 p0, r252, r253\n    bra.p0 @skip\n    bar.sync 0\nskip:\n    "
                "mov_imm.u32 r1, 1\n",
           {"V09", 5, 5, "barrier at line 5 is under the per-lane branch at line 4",
            "put it where all lanes that go on come together, or let the others end with exit"});
    EXPECT("a loop with a per-lane condition",
           HEAD "    mov.u32 r1, r252\nl:\n    bar.sync 0\n    loop r1, @l\n    exit\n",
           {"V09", 5, 5, "barrier at line 5 is under the per-lane branch at line 6",
            "put it where all lanes that go on come together, or let the others end with exit"});
    EXPECT("the same with the test on top",
           HEAD "head:\n    setlt.u32 p0, r252, r253\n    bra.p0 @done\n    bar.sync 0\n    bra "
                "@head\ndone:\n    exit\n",
           {"V09", 6, 5, "barrier at line 6 is under the per-lane branch at line 5",
            "put it where all lanes that go on come together, or let the others end with exit"});
    ACCEPT(
        "irreducible but uniform", HEAD
        "    setlt.u32 p0, r253, r254\n    bra.p0 @b\na:\n    bar.sync 0\nb:\n    bar.sync 1\n    "
        "setlt.u32 p1, r254, r253\n    bra.p1 @a\n");
}

static void test_params(void) {
    EXPECT("in is read only",
           HEAD ".param r1 x buffer f32 in\n    mov_imm.f32 r9, 1.0\n    stg.f32 [r1 + r255], r9\n "
                "   mov.u64 r7, r1\n    stg.f32 [buf(r7) "
                "+ 4], r9\n    parallel_map.f32 r1, r1, relu, 4\n    mov_imm.u32 r8, 1\n    "
                "atom.add.u32 r6, [r1 + r255], r8\n",
           {"V11", 5, 13, "store to 'x', an 'in' parameter", "declare it inout or out"},
           {"V11", 7, 13, "store to 'x', an 'in' parameter", "declare it inout or out"},
           {"V11", 8, 22, "store to 'x', an 'in' parameter", "declare it inout or out"},
           {"V11", 10, 22, "store to 'x', an 'in' parameter", "declare it inout or out"});
    EXPECT("in a function, with what all callers pass",
           HEAD ".param r1 x buffer f32 in\n.param r2 y buffer f32 out\n    mov_imm.f32 r9, 1.0\n  "
                "  mov.u64 r7, r1\n    call @f\n    "
                "mov.u64 r8, r1\n    call @g\n    mov.u64 r8, r2\n    call @g\n    exit\nf:\n    "
                "stg.f32 [r7 + r255], r9\n    ret\ng:\n    "
                "stg.f32 [r8 + r255], r9\n    ret\n",
           {"V11", 14, 13, "store to 'x', an 'in' parameter", "declare it inout or out"});
    EXPECT("language.md 2.1",
           HEAD ".param r1 x buffer f32 in\n    ldg.f32 r2, [r1 + 16]\n    ldg.f32 r2, [r1]\n    "
                "ldg.f32 r2, [r1 - 8]\n",
           {"V12", 4, 17, "r1 holds the buffer 'x': write [buf(r1) + 16] or [r1 + rN]", NULL},
           {"V12", 5, 17, "r1 holds the buffer 'x': write [buf(r1) + 0] or [r1 + rN]", NULL},
           {"V12", 6, 17, "r1 holds the buffer 'x': write [buf(r1) - 8] or [r1 + rN]", NULL});
    EXPECT(
        "a pool", HEAD ".param r1 tmp pool 64\n    ldg.f32 r2, [r1 + 16]\n",
        {"V12", 4, 17, "r1 holds the pool 'tmp': write [pool(r1) + 16] or [pool(r1) + rN]", NULL});
    ACCEPT("no longer the handle",
           HEAD ".param r1 x buffer f32 in\n    mov_imm.u32 r3, 40\n    shl.u64 r1, r1, r3\n    "
                "ldg.f32 r2, [r1 + 16]\n    stg.f32 [r1], r2\n");
    ACCEPT("not on every path", HEAD ".param r1 x buffer f32 in\n.param r2 y buffer f32 out\n    "
                                     "mov.u64 r7, r1\n    setlt.u32 p0, r252, "
                                     "r253\n    bra.p0 @l\n    mov.u64 r7, r2\nl:\n    mov_imm.f32 "
                                     "r9, 1.0\n    stg.f32 [r7 + r255], r9\n");
}

static void test_operands(void) {
    EXPECT("unsigned order of floats", HEAD ".param r1 a f32\n    setltu.f32 p0, r1, r1\n",
           {"N06", 4, 12, "unsupported operation: SETcc.ltu for type f32",
            "'setltu' is for integers"});
    EXPECT("limits: block with a barrier", HEAD ".block 64, 32\n    bar.sync 0\n",
           {"S05", 3, 8,
            "block of 64 x 32 x 1 lanes: a block that uses a barrier has at most 1024 lanes",
            NULL});
    ACCEPT("limits: block without", HEAD ".block 64, 32\n    exit\n");
    EXPECT("shared memory that not every device has", HEAD ".shared 16385\n    exit\n",
           {"V14", 3, 9, "16385 bytes of shared memory: every device has 16384, not all have more",
            NULL});
    ACCEPT("shared memory that every device has", HEAD ".shared 16384\n    exit\n");
    EXPECT("not reachable",
           HEAD
           "    bra @l\n    mov_imm.u32 r1, 1\n    mov_imm.u32 r1, 1\nl:\n    exit\n    exit\n",
           {"V13", 4, 5, "code not reachable", NULL}, {"V13", 8, 5, "code not reachable", NULL});
    static const char TYPES[] = ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r2 "
                                "w buffer u2048 inout [n]\n.param r3 b buffer u8 inout\n"
                                ".param r5 k buffer i32 inout [n]\n.param r6 words buffer u64 "
                                "inout\n.scratch r7 s f64 [n]\n.param r4 n u64\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", TYPES,
             "    ldg.f64 r11, [r1 + r255]\n    stg.f64 [r1 + r255], r11\n    mov.u64 r20, r5\n    "
             "ldg.f32 r12, [r20 + r255]\n"
             "    ldg.f32 r12, [r7 + r255]\n    ldg.i32 r13, [r1 + r255]\n    ldg.i32 r13, [r6 + "
             "r255]\n    ldg.f32 r12, [r2 + r255]\n");
    EXPECT("elements of another type", text,
           {"V15", 10, 5, "elements of type f64 in 'x', an array of f32",
            "declare it f64, or as u8 when its bytes are meant"},
           {"V15", 11, 5, "elements of type f64 in 'x', an array of f32",
            "declare it f64, or as u8 when its bytes are meant"},
           {"V15", 13, 5, "elements of type f32 in 'k', an array of i32",
            "declare it f32, or as u8 when its bytes are meant"},
           {"V15", 14, 5, "elements of type f32 in 's', an array of f64",
            "declare it f32, or as u8 when its bytes are meant"},
           {"V15", 16, 5, "elements of type i32 in 'words', an array of u64",
            "declare it i32, or as u8 when its bytes are meant"},
           {"V15", 17, 5, "elements of type f32 in 'w', an array of u2048",
            "declare it f32, or as u8 when its bytes are meant"});
    snprintf(text, sizeof text, "%s%s", TYPES,
             "    ldg.u64 r11, [r2 + r255]\n    ldg.u32 r12, [r2 + r255]\n    ldg.u2048 r13, [r6 + "
             "r255]\n    ldg.u32 r12, [r1 + r255]\n"
             "    ldg.f64 r14, [r3 + r255]\n    ldg.u8 r15, [r1 + r255]\n    ldg.u32 r12, [r5 + "
             "r255]\n    add.u64 r1, r2, r255\n");
    expect("other types on purpose", text, NULL, 0);
    EXPECT("types are not checked there", HEAD "    exit\n    add.f32 r1, r2, r252\n",
           {"V13", 4, 5, "code not reachable", NULL});
    EXPECT("an operation of another kind",
           HEAD ".param r1 x buffer i32 inout\n    parallel_map.i32 r1, r1, exp, 4\n",
           {"N06", 4, 30, "unsupported operation: PARALLEL_MAP exp for type i32", NULL});
}

/* 97 functions of two calls each: 2^96 paths, one look at each function. */
static void test_wide_call_graphs(void) {
    hg_text text = {0};
    hg_text_addf(&text, HEAD "    mov_imm.u32 r1, 1\n    call @fn0\n    exit\n");
    for (int i = 0; i < 96; i++)
        hg_text_addf(&text, "fn%d:\n    call @fn%d\n    call @fn%d\n    ret\n", i, i + 1, i + 1);
    hg_text_addf(&text, "fn96:\n    add.u32 r1, r1, r1\n    ret\n");
    ACCEPT("doubling call graph", text.data);
    hg_text_free(&text);
    for (int height = 256; height <= 257; height++) {
        text = (hg_text){0};
        hg_text_addf(&text, HEAD "    call @fn1\n    exit\n");
        for (int i = 1; i < height; i++)
            hg_text_addf(&text, "fn%d:\n    call @fn%d\n    ret\n", i, i + 1);
        hg_text_addf(&text, "fn%d:\n    ret\n", height);
        if (height == 256)
            ACCEPT("256 calls deep", text.data);
        else
            EXPECT("257 calls deep", text.data,
                   {"S05", 3, 10, "call stack overflow (max depth: 256)", NULL});
        hg_text_free(&text);
    }
    /* every function falls into the next one: copies of copies */
    text = (hg_text){0};
    hg_text_addf(&text, HEAD);
    for (int i = 0; i < 3000; i++) hg_text_addf(&text, "    call @fn%d\n", i);
    hg_text_addf(&text, "    exit\n");
    for (int i = 0; i < 3000; i++) hg_text_addf(&text, "fn%d:\n    memfence.block\n", i);
    hg_text_addf(&text, "    ret\n");
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK(assemble_and_verify(text.data, d) == HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_count(d), 1);
    CHECK_TEXT(
        hg_last_error()->message,
        "functions share too much code: more than 161568 instructions when each has its own copy");
    hg_diagnostics_destroy(d);
    hg_text_free(&text);
}

/* The control-flow record that later rooms build on. */
static void test_cfg(void) {
    hg_program *p = NULL;
    hg_cfg *cfg = NULL;
    static const char text[] = HEAD
        ".param r1 a u32\n    mov_imm.u32 r9, 1\n    call @f\n    exit\nf:\n    setlt.u32 p2, r1, "
        "r9\n    bra.p2 @l\n    mov_imm.f32 r3, "
        "1.0\n    mov_imm.u32 r4, 1\n    ret\nl:\n    mov_imm.f32 r3, 2.0\n    mov_imm.u32 r9, 7\n "
        "   ret\n";
    CHECK(hg_program_assemble(text, sizeof text - 1, NULL, &p) == HG_OK);
    CHECK(hg_verify(p, NULL, NULL, &cfg) == HG_OK);
    if (cfg) {
        CHECK_U64(cfg->function_count, 2);
        const hg_function *f = &cfg->functions[1];
        CHECK_U64(f->entry, 3);
        CHECK_U64(f->block_count, 3);
        CHECK_U64(f->height, 1);
        CHECK_U64(cfg->functions[0].height, 2);
        CHECK_U64(f->reads[1], HG_TYPE_U32);
        CHECK_U64(f->reads[9], HG_TYPE_U32);
        CHECK_U64(f->reads[3], HG_TYPE_OMITTED);
        CHECK_U64(f->leaves[1], HG_TYPE_OMITTED);
        CHECK_U64(f->leaves[3], HG_TYPE_F32);
        CHECK_U64(f->leaves[4], HG_LEAVES_MAYBE | HG_TYPE_U32);
        CHECK_U64(f->leaves[9], HG_TYPE_U32);
        CHECK_U64(f->pred_writes, 4);
        CHECK_U64(f->pred_sets, 4);
        CHECK_U64(f->pred_reads, 0);
        CHECK(f->returns && !f->exits && cfg->functions[0].exits && !cfg->functions[0].returns);
        CHECK_U64(cfg->bottom_up[0], 1);
        CHECK_U64(cfg->bottom_up[1], 0);
        CHECK_U64(cfg->param_types[1], HG_TYPE_U32);
        CHECK_U64(cfg->param_types[255], HG_TYPE_U64);
        CHECK_U64(cfg->param_types[2], HG_TYPE_OMITTED);
    }
    hg_cfg_destroy(cfg);
    hg_program_release(p);
    hg_signature raw;
    memset(raw.types, HG_TYPE_OMITTED, sizeof raw.types);
    static const char open[] = HEAD "    add.f32 r3, r1, r2\n";
    CHECK(hg_program_assemble(open, sizeof open - 1, NULL, &p) == HG_OK);
    raw.types[1] = raw.types[2] = HG_TYPE_F32;
    CHECK(hg_verify(p, &raw, NULL, NULL) == HG_OK);
    raw.types[2] = HG_TYPE_U64;
    CHECK(hg_verify(p, &raw, NULL, NULL) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "type mismatch: expected f32, got u64");
    hg_program_release(p);
}

/* ---- out of memory at every allocation ---- */

static failing_allocator memory;

static void test_out_of_memory(void) {
    static const char text[] = HEAD
        ".param r1 x buffer f32 in [n]\n.param r4 n u64\n    mov.u64 r7, r1\n    setlt.u64 p0, "
        "r255, r4\n    bra.p0 @l\n    call @f\nl:\n  "
        "  parallel_reduce.f32 r3, r7, sum, r4\n    setgeu.u64 p0, r255, r4\n    bra.p0 @end\n    "
        "bar.sync 0\n"
        "end:\n    exit\nf:\n    mul r5, r4, r4\n    ret\n";
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    if (hg_set_allocator(&hooks) != HG_OK) {
        CHECK_MESSAGE(false, "allocator hooks");
        return;
    }
    uint64_t n = 0;
    for (bool done = false; !done && n < 2000; n++) {
        allow_allocations(&memory, n);
        hg_program *p = NULL;
        hg_status status = hg_program_assemble(text, sizeof text - 1, NULL, &p);
        if (status == HG_OK) status = hg_program_verify(p, NULL);
        hg_program_release(p);
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
        CHECK_U64(memory.live, 0);
        done = status == HG_OK;
    }
    CHECK(n > 10 && n < 2000);
    allow_allocations(&memory, UINT64_MAX);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

int main(void) {
    test_out_of_memory(); /* first: the hooks are to be set before anything else */
    test_registers();
    test_functions();
    test_inference();
    test_uniform();
    test_params();
    test_operands();
    test_wide_call_graphs();
    test_cfg();
    return test_done();
}

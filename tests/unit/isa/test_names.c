/* Names, immediates and inferred types: what is written with them is the program that is written
 * without, and every mistake has its message.
 * test: labels=slow */
#include "isa/program.h"
#include "test.h"

#include <stdlib.h>

static const char HEAD[] = ".atlas 1\n.program t\n";

static hg_program *assemble(const char *body, bool quiet) {
    char *text = malloc(strlen(HEAD) + strlen(body) + 1);
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    if (!text) exit(2);
    strcpy(text, HEAD);
    strcat(text, body);
    hg_status status = hg_program_assemble(text, strlen(text), d, &p);
    if (status != HG_OK && !quiet) {
        char *errors = hg_diagnostics_print(d, "test", text, strlen(text));
        CHECK_MESSAGE(false, "does not assemble: %s", errors ? errors : "");
        hg_string_free(errors);
    }
    hg_diagnostics_destroy(d);
    free(text);
    return p;
}

/* Both texts are the same program. */
static void same(const char *named, const char *plain) {
    hg_program *a = assemble(named, false), *b = assemble(plain, false);
    char *x = NULL, *y = NULL;
    if (a && b && memcmp(hg_program_hash(a), hg_program_hash(b), 32) != 0) {
        CHECK(hg_program_print(a, &x, NULL) == HG_OK && hg_program_print(b, &y, NULL) == HG_OK);
        CHECK_MESSAGE(false, "%s\nis\n%s\nnot\n%s", named, x ? x : "", y ? y : "");
        hg_string_free(x);
        hg_string_free(y);
    }
    hg_program_release(a);
    hg_program_release(b);
}

static void fails(const char *body, const char *code, uint32_t line, const char *message) {
    hg_program *p = assemble(body, true);
    hg_status status = p ? hg_program_verify(p, NULL) : HG_ERROR_ISA;
    const hg_error *e = hg_last_error();
    CHECK_MESSAGE(status != HG_OK && strcmp(e->code, code) == 0 && e->line == line + 2 &&
                      strstr(e->message, message),
                  "%s\n  expected %s in line %u: %s\n  got %s in line %u: %s", body, code,
                  (unsigned)line, message, status == HG_OK ? "nothing" : e->code,
                  (unsigned)(e->line - 2), status == HG_OK ? "" : e->message);
    hg_program_release(p);
}

static void test_immediates(void) {
    same("shl.u64 r0, r255, 2\n", "mov_imm.u32 r1, 2\nshl.u64 r0, r255, r1\n"); /* the text's own
                                                                                   registers are
                                                                                   taken */
    same("setlt.u32 p0, r252, 16\n", "mov_imm.u32 r0, 16\nsetlt.u32 p0, r252, r0\n");
    same("mov.f32 r10, 1.0\n", "mov_imm.f32 r10, 1.0\n");
    same("mov r10, 1.0\n", "mov_imm r10, 1.0\n");
    same("mov r10, 5\n", "mov_imm.i32 r10, 5\n");
    same("mov.u8 r10, bits(0x1f)\n", "mov_imm.u8 r10, 31\n");
    same("mov_imm.f32 r1, 1\nfma.f32 r1, r1, 2.0, -0.5\n",
         "mov_imm.f32 r1, 1\nmov_imm.f32 r0, 2.0\nmov_imm.f32 r2, -0.5\nfma.f32 r1, r1, r0, r2\n");
    same("mov_imm.f64 r1, 1\nclamp.f64 r1, r1, -inf, 0x1p4\n",
         "mov_imm.f64 r1, 1\nmov_imm.f64 r0, -inf\nmov_imm.f64 r2, 0x1p4\nclamp.f64 r1, r1, r0, "
         "r2\n");
    same("add.u4096 r1, 1, 0xffffffffffffffffffffffffffffffffffff\n",
         "mov_imm.u4096 r0, 1\nmov_imm.u4096 r2, 0xffffffffffffffffffffffffffffffffffff\nadd.u4096 "
         "r1, r0, r2\n");
    same("seteq.u32 p0, 1, 1\nsel.f32 r0, p0, 1.0, 0\n",
         "mov_imm.u32 r1, 1\nmov_imm.u32 r2, 1\nseteq.u32 p0, r1, r2\n"
         "mov_imm.f32 r1, 1.0\nmov_imm.f32 r2, 0\nsel.f32 r0, p0, r1, r2\n");
    same("sts.f32 [shared], 0.5\nstg.u8 [buf7 + 3], 255\n",
         "mov_imm.f32 r0, 0.5\nsts.f32 [shared], r0\nmov_imm.u8 r0, 255\nstg.u8 [buf7 + 3], r0\n");
    same("atom.add.u32 r0, [shared], 1\natom.cas.u32 r0, [shared], 0, 7\n",
         "mov_imm.u32 r1, 1\natom.add.u32 r0, [shared], r1\nmov_imm.u32 r1, 0\nmov_imm.u32 r2, "
         "7\natom.cas.u32 r0, [shared], r1, r2\n");
    same("cvt.f32.u32 r0, 7\n", "mov_imm.u32 r1, 7\ncvt.f32.u32 r0, r1\n");
    same("cls.get r1, 1.5\nphase.write 5, 3\n",
         "mov_imm.f32 r0, 1.5\ncls.get r1, r0\nmov_imm.i32 r0, 5\nphase.write r0, 3\n");
    same("pool.store.f32 r1, 4, 1.5\n", "mov_imm.f32 r0, 1.5\npool.store.f32 r1, 4, r0\n");
    same("pool.store.u32 pool3, 4, 1\n", "mov_imm.u32 r0, 1\npool.store.u32 pool3, 4, r0\n");
    fails("add.u8 r0, r1, 256\n", "S04", 1, "256");
    fails("add r0, r1, 1\n", "V05", 1, "type of 'add' cannot be inferred here: write add.TYPE");
    fails("add.u32 r0, 1.5, r1\n", "S04", 1, "'1.5' is no literal of type u32");
    fails("reduce.add.f32 r0, 1.0, 3\n", "N03", 1, "expected");
    fails("loop 4, @x\nx:\n", "N03", 1, "operand 1 of 'loop'");
    fails("add.u32 4, r1, r2\n", "N03", 1,
          "operand 1 of 'add': expected a register, got literal '4'");
}

static void test_names(void) {
    same(".reg i u64\n.reg a, b f32\n.reg done pred\nmov i, 5\nmov a, 1.5\nadd b, a, a\nsetlt "
         "done, i, 7\nbra.done @e\nadd a, a, b\ne:\n",
         "mov_imm.u64 r0, 5\nmov_imm.f32 r1, 1.5\nadd.f32 r2, r1, r1\nmov_imm.u64 r3, 7\nsetlt.u64 "
         "p0, r0, r3\nbra.p0 @e\n"
         "add.f32 r1, r1, r2\ne:\n");
    /* Numbers come back when a value is read no more; r1 is the text's own. */
    same(".reg a, b, c f32\nmov a, 1.0\nmov.f32 r1, a\nmov b, 2.0\nadd.f32 r1, r1, b\nmov c, "
         "3.0\nadd.f32 r1, r1, c\n",
         "mov_imm.f32 r0, 1.0\nmov.f32 r1, r0\nmov_imm.f32 r0, 2.0\nadd.f32 r1, r1, "
         "r0\nmov_imm.f32 r0, 3.0\nadd.f32 r1, r1, r0\n");
    /* A value that a loop carries is live in all of it. */
    same(".reg i u32\n.reg s, t f32\nmov s, 0\nloop i, 4\nmov t, 1.0\nadd s, s, t\nendloop\n",
         "mov_imm.f32 r0, 0\nmov_imm.u32 r1, 3\nx:\nmov_imm.f32 r2, 1.0\nadd.f32 r0, r0, r2\nloop "
         "r1, @x\n");
    /* Over a call: the caller's value is not the function's. */
    same(".reg a, b f32\nmov a, 1.0\ncall @f\nadd.f32 r9, a, a\nexit\nf:\nmov b, 2.0\nadd.f32 r8, "
         "b, b\nret\n",
         "mov_imm.f32 r0, 1.0\ncall @f\nadd.f32 r9, r0, r0\nexit\nf:\nmov_imm.f32 r1, 2.0\nadd.f32 "
         "r8, r1, r1\nret\n");
    /* A value that a function takes and one that it leaves. */
    same(".reg a, b, c f32\nmov a, 1.0\ncall @f\nadd.f32 r9, b, b\nexit\nf:\nadd c, a, a\nadd b, "
         "c, c\nret\n",
         "mov_imm.f32 r0, 1.0\ncall @f\nadd.f32 r9, r0, r0\nexit\nf:\nadd.f32 r0, r0, r0\nadd.f32 "
         "r0, r0, r0\nret\n");
    /* Two callers: what one keeps does not meet what the other keeps. */
    same(".reg a, b, t f32\nmov a, 1.0\ncall @f\nadd.f32 r9, a, a\nmov b, 1.0\ncall @f\nadd.f32 "
         "r9, b, b\nexit\nf:\nmov t, 2.0\n"
         "add.f32 r8, t, t\nret\n",
         "mov_imm.f32 r0, 1.0\ncall @f\nadd.f32 r9, r0, r0\nmov_imm.f32 r0, 1.0\ncall @f\nadd.f32 "
         "r9, r0, r0\nexit\nf:\n"
         "mov_imm.f32 r1, 2.0\nadd.f32 r8, r1, r1\nret\n");
    same(".reg d[4] pred\nsetlt.u32 d[3], r252, r253\nbra.d[3] @e\ne:\n",
         "setlt.u32 p0, r252, r253\nbra.p0 @e\ne:\n");
    same("setlt.u32 p0, r252, r253\n.reg d pred\nsetlt.u32 d, r252, r253\nsel.u32 r0, d, r252, "
         "r253\n",
         "setlt.u32 p0, r252, r253\nsetlt.u32 p1, r252, r253\nsel.u32 r0, p1, r252, r253\n");
    same(".reg n u32\n.param sum u32\nparallel_reduce.u32 n, [buf3], sum, sum\n",
         ".param r0 sum u32\nparallel_reduce.u32 r0, [buf3], sum, r0\n");
    same(".reg a f32\nmov a, 1.0\nadd.f32 a, a, a\nmov a, 2.0\n",
         "mov_imm.f32 r0, 1.0\nadd.f32 r0, r0, r0\nmov_imm.f32 r0, 2.0\n");
    same(".reg dead f32\n.reg b f32\nmov b, 1.0\nmov dead, 2.0\nadd.f32 r9, b, b\n",
         "mov_imm.f32 r0, 1.0\nmov_imm.f32 r1, 2.0\nadd.f32 r9, r0, r0\n");

    fails(".reg i\n", "S02", 1, "expected ',', a type or 'pred', got end of line");
    fails(".reg i u65\n", "S02", 1, "expected ',', a type or 'pred', got 'u65'");
    fails(".reg r1 u32\n", "S02", 1, "expected a name, got 'r1'");
    fails(".reg a.b u32\n", "S02", 1, "'a.b' cannot be a register's name");
    fails(".reg inf f32\n", "S02", 1, "'inf' cannot be a register's name");
    fails(".reg a u32\n.reg a f32\n", "D02", 2, "name 'a' declared twice: first in line 3");
    fails(".param a u32\n.reg a f32\n", "D02", 2, "name 'a' declared twice");
    fails(".reg a u32\n.param a u32\n", "D02", 2, "name 'a' declared twice");
    fails("add.u32 r0, r1, a\n", "N03", 1, "operand 3 of 'add': expected a register, got word 'a'");
    fails(".reg a pred\nadd.u32 r0, r1, a\n", "N03", 2,
          "operand 3 of 'add': expected a register, got predicate 'a'");
    fails(".reg a u32\nbra.a @x\nx:\n", "N01", 2, "unknown mnemonic");
    fails(".reg a u32\nmov.f32 a, 1.0\n", "V03", 2,
          "type mismatch: 'a' is u32, the instruction writes f32");
    fails(".reg a u32\n.reg b f32\nadd a, a, b\n", "V05", 3,
          "type of 'add' is not clear: its operands are u32 and f32");
    fails(".reg a u32\n.reg b u64\nmov b, 1\nadd a, b, b\n", "V05", 4,
          "type of 'add' is not clear: its operands are u64 and u32");
    fails(".reg a u32\nexp a, a\n", "N06", 2, "unsupported operation: EXP for type u32");
    fails(".reg a f32\nadd.f32 r0, a, a\n", "V01", 2, "uninitialized register");
    /* Not set on one path: no parameter's number, though the parameter is not read. */
    fails(".param n u32\n.reg a u32\nseteq.u32 p0, lane, block\nbra.p0 @x\nmov a, 1\nx: add.u32 "
          "r9, a, a\n",
          "V01", 6, "uninitialized register: a (r1)");
}

static void test_arrays(void) {
    same(".reg acc[2, 3] f32\nmov acc[1, 2], 1.0\nmov acc[0, 0], 2.0\nadd.f32 r9, acc[1, 2], "
         "acc[0, 0]\n",
         "mov_imm.f32 r0, 1.0\nmov_imm.f32 r1, 2.0\nadd.f32 r9, r0, r1\n");
    /* A run is consecutive, also where a lower number is free in between. */
    same(".reg v[3] f32\nmov.f32 r1, 9\nmov v[0], 1\nmov v[1], 2\nmov v[2], 3\nreduce.add r9, "
         "v[0], 3\n",
         "mov_imm.f32 r1, 9\nmov_imm.f32 r2, 1\nmov_imm.f32 r3, 2\nmov_imm.f32 r4, "
         "3\nreduce.add.f32 r9, r2, 3\n");
    same(".reg v[3] f32\nmov v[0], 1\nmov v[1], 2\nmov v[2], 3\nreduce.add r9, v, 3\n",
         "mov_imm.f32 r0, 1\nmov_imm.f32 r1, 2\nmov_imm.f32 r2, 3\nreduce.add.f32 r9, r0, 3\n");
    same(".reg v[4] f32\nmov v[1], 1\nmov v[2], 2\nreduce.max r9, v[1], 2\n",
         "mov_imm.f32 r1, 1\nmov_imm.f32 r2, 2\nreduce.max.f32 r9, r1, 2\n");
    fails(".reg a[2] f32\nmov a, 1.0\n", "N03", 2, "operand 1 of 'mov_imm': expected a register");
    fails(".reg a[2] f32\nmov a[2], 1.0\n", "N07", 2, "index 2 of 'a' is out of range: 0 to 1");
    fails(".reg a[2, 2] f32\nmov a[1], 1.0\n", "N04", 2, "'a' takes 2 indices, got 1");
    fails(".reg a[2] f32\nmov a[1, 0], 1.0\n", "N04", 2, "'a' takes 1 index, got 2");
    fails(".reg a[2] f32\nmov a[r1], 1.0\n", "S02", 2, "expected a constant index");
    fails(".reg a[0] f32\n", "S05", 1, "a register array has 1 to 4096 registers");
    fails(".reg a[64, 65] f32\n", "S05", 1, "a register array has 1 to 4096 registers");
    fails(".reg a[1, 1, 1, 1, 1] f32\n", "S05", 1, "more than 4 extents");
    fails(".reg v[3] f32\nreduce.add r9, v[1], 3\n", "N07", 2,
          "3 registers from 'v' on reach past its last one");
    fails(".param k u32\nreduce.add.u64 r9, k, 1\n", "V03", 2,
          "type mismatch: expected u64, got u32");
    fails("reduce.add.u64 r9, global_lane_id, 1\n", "N03", 1, "operand 2 of 'reduce.add'");
    fails(".reg v f32\nreduce.add r9, v, 2\n", "N07", 2,
          "2 registers from 'v' on reach past its last one");
}

static void test_parameters(void) {
    same(".param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.param k u32 = "
         "3\n.scratch t f32 [n]\n.param w pool 64\n"
         "ldg r10, [x]\nstg [y + 4], r10\nparallel_map.f32 t, x, abs, n\npool.load.u32 r11, w, k\n",
         ".param r0 x buffer f32 in [n]\n.param r1 y buffer f32 out [n]\n.param r2 n u64\n.param "
         "r3 k u32 = 3\n.scratch r4 t f32 [n]\n"
         ".param r5 w pool 64\nldg.f32 r10, [buf(r0)]\nstg.f32 [buf(r1) + 4], "
         "r10\nparallel_map.f32 r4, r0, abs, r2\n"
         "pool.load.u32 r11, r5, r3\n");
    /* Parameters keep their numbers at the start; then those are free again. */
    same(".param a u32\n.param r0 b u32\n.param c u32\n.reg i u32\nadd i, a, c\nadd.u32 r5, i, b\n",
         ".param r1 a u32\n.param r0 b u32\n.param r2 c u32\nadd.u32 r1, r1, r2\nadd.u32 r5, r1, "
         "r0\n");
    same(".param r7 n u64\nmov.u64 r0, n\n", ".param r7 n u64\nmov.u64 r0, r7\n");
    same("add r0, lane, block\nadd r1, lanes, lanes\nadd r2, global, global\n",
         "add.u32 r0, r252, r253\nadd.u32 r1, r254, r254\nadd.u64 r2, r255, r255\n");
    same("add r0, lane_idx_x, block_dim_y\nmov r1, lane_count\n",
         "rdid r2, lane_idx_x\nrdid r3, block_dim_y\nadd.u32 r0, r2, r3\nrdid r2, "
         "lane_count\nmov.u64 r1, r2\n");
    same("rdid r0, lane_idx_x\n", "rdid r0, lane_idx_x\n");
    same(".param lane f32\nadd r0, lane, lane\n",
         ".param r1 lane f32\nadd.f32 r0, r1, r1\n"); /* the
                                                         user's
                                                         name
                                                         wins
                                                       */
    fails(".param r252 a f32\nmov.u32 r0, lane\n", "N03", 2,
          "'lane' is r252, which holds the parameter 'a'");
    fails(".param a f32\n.param a f32\n", "D02", 2, "parameter 'a' declared twice");
    fails(".param 5 f32\n", "S02", 1, "expected a register or a parameter name, got '5'");
}

static void test_addresses(void) {
    same(".param r1 x buffer f32 in\n.reg i u64\nmov i, 4\nldg r10, [x + i]\nldg r10, [x + i + "
         "8]\nldg r10, [x + 8 + i - 4]\nldg r10, [x - "
         "4 + 8]\n",
         ".param r1 x buffer f32 in\nmov_imm.u64 r0, 4\nldg.f32 r10, [r1 + r0]\nldg.f32 r10, [r1 + "
         "r0 + 8]\nldg.f32 r10, [r1 + r0 + 4]\n"
         "ldg.f32 r10, [buf(r1) + 4]\n");
    same(".param r1 x buffer f64 in\nldg r10, [x[3]]\nldg r10, [x[3] + 1]\nldg r10, [x[4 - "
         "1]]\nldg r10, [buf(x) + 24]\n",
         ".param r1 x buffer f64 in\nldg.f64 r10, [buf(r1) + 24]\nldg.f64 r10, [buf(r1) + "
         "25]\nldg.f64 r10, [buf(r1) + 24]\n"
         "ldg.f64 r10, [buf(r1) + 24]\n");
    same(".param r1 x buffer u8 in\nldg r10, [x[global + 3]]\nldg r10, [x[lane]]\nldg r10, [x + "
         "lane_idx_x]\n",
         ".param r1 x buffer u8 in\nldg.u8 r10, [r1 + r255 + 3]\nldg.u8 r10, [r1 + r252]\nrdid r0, "
         "lane_idx_x\nldg.u8 r10, [r1 + r0]\n");
    same(".reg p u64\nmov p, 4\nldg.f32 r1, [p]\nldg.f32 r1, [p + 4]\nldg.f32 r1, [p + lane]\n",
         "mov_imm.u64 r0, 4\nldg.f32 r1, [r0]\nldg.f32 r1, [r0 + 4]\nldg.f32 r1, [r0 + r252]\n");
    same(".reg i u32\nmov i, 4\nlds.f32 r1, [shared + i + 16]\nlds.f32 r1, [shared + 16 + i]\n",
         "mov_imm.u32 r0, 4\nlds.f32 r1, [shared + r0 + 16]\nlds.f32 r1, [shared + r0 + 16]\n");
    same(".param r1 x buffer f64 in\n.reg i u32\nmov i, 4\nldg r10, [x[i]]\nldg r10, [x[i*3 - "
         "1]]\nldg r10, [x + i*16 + 8]\nlds.f32 r10, "
         "[shared + i*4]\n"
         "ldg r10, [x + i*1]\nldg r10, [x[i] + 4]\n",
         ".param r1 x buffer f64 in\nmov_imm.u32 r0, 4\nldg.f64 r10, [r1 + r0*8]\nldg.f64 r10, [r1 "
         "+ r0*24 - 8]\nldg.f64 r10, [r1 + r0*16 "
         "+ 8]\n"
         "lds.f32 r10, [shared + r0*4]\nldg.f64 r10, [r1 + r0]\nldg.f64 r10, [r1 + r0*8 + 4]\n");
    same(".const K = 3\n.param r1 x buffer f32 in\nldg r10, [x[global*K + K - 1]]\nldg r10, [x + "
         "4*K + global*(K + 1)]\nadd.u32 r9, lane, "
         "K*2\n"
         ".reg a[K] f32\nmov a[K - 1], 1.0 / 4\n",
         ".param r1 x buffer f32 in\nldg.f32 r10, [r1 + r255*12 + 8]\nldg.f32 r10, [r1 + r255*4 + "
         "12]\nmov_imm.u32 r0, 6\nadd.u32 r9, "
         "r252, r0\n"
         "mov_imm.f32 r0, 0.25\n");
    same(".param w pool 64\nldg.f32 r9, [w + 4]\n",
         ".param r0 w pool 64\nldg.f32 r9, [pool(r0) + 4]\n");
    same(".const K = 3\n.param r1 x buffer f32 in\nldg r10, [x + 4*lane]\nldg r10, [x[K*2*lane + "
         "1]]\nldg r10, [x + 8 + (K + 1)*r5 - 4]\n",
         ".param r1 x buffer f32 in\nldg.f32 r10, [r1 + r252*4]\nldg.f32 r10, [r1 + r252*24 + "
         "4]\nldg.f32 r10, [r1 + r5*4 + 4]\n");
    fails(".param x buffer f32 in\nldg r1, [x - 4*r2]\n", "S02", 2,
          "expected a number of bytes, got 'r2'");
    fails(".param x buffer f32 in\nldg r1, [x + 4*y]\n", "S02", 2,
          "expected a register or a number of bytes, got 'y'");
    fails(".param x buffer f32 in\nldg r1, [x + r2 + 4*r3]\n", "S02", 2,
          "expected a number of bytes, got 'r3'");
    fails(".param x buffer f32 in\nldg r1, [x + 65536*r2]\n", "N07", 2,
          "an index has a scale of 1 to 65535 bytes");
    fails(".param x buffer f32 in\nldg r1, [x + y]\n", "S02", 2,
          "expected a register or a number of bytes, got 'y'");
    fails(".param x buffer f32 in\nldg r1, [x + r2 + r3]\n", "S02", 2,
          "expected a number of bytes, got 'r3'");
    fails(".param x buffer f32 in\nldg r1, [x - r2]\n", "S02", 2,
          "expected a number of bytes, got 'r2'");
    fails(".param x buffer f32 in\nldg r1, [x[r2] + r3]\n", "S02", 2, "a second index register");
    fails(".param x buffer f32 in\nldg r1, [x + r2*65536]\n", "N07", 2,
          "an index has a scale of 1 to 65535 bytes");
    fails(".param x buffer f32 in\nldg r1, [x + r2*0]\n", "N07", 2,
          "an index has a scale of 1 to 65535 bytes");
    fails(".param x buffer f32 in\nldg r1, [x[r2*16384]]\n", "N07", 2,
          "an index has a scale of 1 to 65535 bytes");
    fails(".param x buffer f32 in\nldg r1, [x[4611686018427387904]]\n", "S05", 2,
          "displacement of 2^63 bytes or more");
    fails(".param x pool 64\nldg.f32 r1, [x[3]]\n", "N03", 2, "has no elements");
    fails("ldg.f32 r1, [y]\n", "S02", 1, "expected a place in memory, got 'y'");
}

static void test_types(void) {
    same(".reg i u64\nadd i, lane, 1\n",
         "cvt.u64.u32 r0, r252\nmov_imm.u64 r1, 1\nadd.u64 r0, r0, r1\n");
    same(".reg i u64\nmov i, lane\n", "cvt.u64.u32 r0, r252\n");
    same(".reg i u64\n.reg k u32\nmov k, 7\nadd.u64 i, k, global\n",
         "mov_imm.u32 r0, 7\ncvt.u64.u32 r0, r0\nadd.u64 r0, r0, r255\n");
    same(".reg k u32\nmov k, 7\nsetlt p1, k, global\n",
         "mov_imm.u32 r0, 7\ncvt.u64.u32 r0, r0\nsetlt.u64 p1, r0, r255\n");
    same(".reg f f32\ncvt f, lane\ncvt.f64 r1, f\n", "cvt.f32.u32 r0, r252\ncvt.f64.f32 r1, r0\n");
    same(".reg old u32\natom.add old, [shared], 1\n",
         "mov_imm.u32 r0, 1\natom.add.u32 r0, [shared], r0\n");
    fails("ldg r1, [buf3]\n", "V05", 1, "type of 'ldg' cannot be inferred here: write ldg.TYPE");
    fails("cvt r1, r2\n", "V05", 1, "type of 'cvt' cannot be inferred here: write cvt.TYPE.TYPE");
}

static void test_branches(void) {
    same("seteq.u32 p0, lane, 0\nbra.!p0 @e\nadd.u32 r0, lane, lane\ne:\n",
         "mov_imm.u32 r1, 0\nseteq.u32 p0, r252, r1\nbra.p0 @x\nbra @e\nx:\nadd.u32 r0, r252, "
         "r252\ne:\n");
    same(".reg d pred\nseteq.u32 d, lane, block\nbra.!d @e\ne:\n",
         "seteq.u32 p0, r252, r253\nbra.p0 @e\nbra @e\ne:\n");
    static const char *const conditions[] = {"eq", "ne",  "lt",  "le",  "gt",
                                             "ge", "ltu", "leu", "gtu", "geu"};
    for (int i = 0; i < 10; i++) {
        char named[200], plain[200];
        snprintf(named, sizeof named, "bra.%s.u32 r252, r253, @e\nbra.%s lane, 7, @e\ne:\n",
                 conditions[i], conditions[i]);
        snprintf(plain, sizeof plain,
                 "set%s.u32 p0, r252, r253\nbra.p0 @e\nmov_imm.u32 r0, 7\nset%s.u32 p0, r252, "
                 "r0\nbra.p0 @e\ne:\n",
                 conditions[i], conditions[i]);
        same(named, plain);
    }
    same(".reg lt pred\nsetlt.u32 lt, lane, block\nbra.lt @e\nbra.lt.u32 lane, block, @e\ne:\n",
         "setlt.u32 p0, r252, r253\nbra.p0 @e\nsetlt.u32 p0, r252, r253\nbra.p0 @e\ne:\n");
    fails("bra.lt.u32 r1, r2\n", "N04", 1, "'bra.lt' takes 3 operands, got 2");
    fails("bra.lt.u32 r1, r2, r3\n", "N03", 1,
          "operand 3 of 'bra.lt': expected a label (@name), got register 'r3'");
    fails("bra.lt.u32 r1, @x, r3\nx:\n", "N03", 1,
          "operand 2 of 'bra.lt': expected a register or a literal, got label '@x'");
    fails("bra.ltu.f32 r1, r2, @x\nx:\n", "N06", 1,
          "unsupported operation: SETcc.ltu for type f32");
    fails("bra.lt r1, r2, @x\nx:\n", "V01", 1, "uninitialized register: r1");
    fails("bra.!r1 @x\nx:\n", "S02", 1, "expected a predicate, got 'r1'");
    fails("bra.! @x\nx:\n", "S02", 1, "expected a predicate, got '@'");
    fails("bra.q @x\nx:\n", "N01", 1, "unknown mnemonic");
}

static void test_loops(void) {
    same(".reg i u32\nloop i, 4\nadd.u32 r9, i, i\nendloop\n",
         "mov_imm.u32 r0, 3\nx:\nadd.u32 r9, r0, r0\nloop r0, @x\n");
    same("loop r5, r6\nadd.u32 r9, r5, r5\nendloop\n",
         "mov_imm.u32 r0, 0\nseteq.u32 p0, r6, r0\nbra.p0 @e\nmov_imm.u32 r0, 1\nsub.u32 r5, "
         "r6, r0\nx:\nadd.u32 r9, r5, r5\nloop r5, @x\ne:\n");
    same(".reg i u64\nloop i, 4294967297\nendloop\n",
         "mov_imm.u64 r0, 4294967296\nx:\nloop.u64 r0, @x\n");
    same("loop.u64 r3, 2\nendloop\nx:\nloop.u64 r3, @x\n",
         "mov_imm.u64 r3, 1\ny:\nloop.u64 r3, @y\nx:\nloop.u64 r3, @x\n");
    same(
        ".param n u32\n.reg i u64\nloop i, n\nadd.u64 r9, i, i\nendloop\nmov i, 3\nx: loop i, @x\n",
        ".param r0 n u32\ncvt.u64.u32 r0, r0\nmov_imm.u64 r1, 0\nseteq.u64 p0, r0, r1\nbra.p0 "
        "@e\nmov_imm.u64 r1, 1\nsub.u64 r0, r0, r1\n"
        "x:\nadd.u64 r9, r0, r0\nloop.u64 r0, @x\ne:\nmov_imm.u64 r0, 3\nx2: loop.u64 r0, @x2\n");
    fails(".reg i f32\nloop i, 4\nendloop\n", "V03", 2, "a loop counter is u32 or u64, not f32");
}

/* A name of an expansion is that expansion's own, and its registers come back with it. */
static void test_expansions(void) {
    same(".reg v u32\n.macro twice d, s\n.reg t u32\nadd t, s, s\nmov d, t\n.end\nmov v, 1\ntwice "
         "v, v\ntwice v, v\n"
         ".for k, 0, 2\n.reg q[2] u32\nmov q[k % 2], k\nadd v, v, q[k]\n.end\n",
         "mov_imm.u32 r0, 1\nadd.u32 r0, r0, r0\nmov.u32 r0, r0\nadd.u32 r0, r0, r0\nmov.u32 r0, "
         "r0\n"
         "mov_imm.u32 r1, 0\nadd.u32 r0, r0, r1\nmov_imm.u32 r1, 1\nadd.u32 r0, r0, r1\n");
    same(".reg d[3] pred\n.for k, 0, 3\nseteq.u32 d[k], lane, k\nbra.!d[k] @l{k}\nadd.u32 r9, "
         "lane, block\nl{k}:\n.end\n",
         ".for k, 0, 3\nmov_imm.u32 r0, k\nseteq.u32 p0, r252, r0\nbra.p0 @m{k}\nbra "
         "@l{k}\nm{k}:\nadd.u32 r9, r252, r253\nl{k}:\n.end\n");
    fails(".rept 1\n.reg t u32\n.end\nmov t, 1\n", "N03", 4,
          "operand 1 of 'mov_imm': expected a register, got word 't'");
}

/* ---- names in messages ---- */

static void check_name(const hg_program *p, uint32_t inst, bool predicate, uint8_t number,
                       const char *expected) {
    const char *name = hg_program_register_name(p, inst, predicate, number);
    CHECK_MESSAGE(expected ? name && strcmp(name, expected) == 0 : !name,
                  "%c%u at %u: expected %s, got %s", predicate ? 'p' : 'r', (unsigned)number,
                  (unsigned)inst, expected ? expected : "none", name ? name : "none");
}

static void test_messages(void) {
    hg_program *p = assemble(".param n u32\n.reg a, b u32\n.reg v[2, 2] u32\n.reg d pred\nadd a, "
                             "n, n\nmov b, 3\nseteq d, a, b\nbra.d @e\n"
                             "add v[1, 0], a, b\nstg.u32 [buf3 + 0], v[1, 0]\ne:\n",
                             false);
    check_name(p, 0, false, 0, "n");
    check_name(p, 1, false, 0, "a");
    check_name(p, 1, false, 1, NULL);
    check_name(p, 2, false, 0, "a");
    check_name(p, 2, false, 1, "b");
    check_name(p, 2, true, 0, NULL);
    check_name(p, 3, true, 0, "d");
    check_name(p, 4, true, 0, NULL);
    check_name(p, 4, false, 0, "a");
    check_name(p, 4, false, 1, "b");
    check_name(p, 5, false, 0, "v[1, 0]");
    check_name(p, 5, false, 1, NULL);
    check_name(p, 5, false, 2, NULL);
    hg_text text = {0};
    for (uint32_t i = 0; i < 6; i++)
        hg_print_named_instruction(&text, p, i), hg_text_addf(&text, "\n");
    CHECK_TEXT(text.data,
               "add.u32 a (r0), n (r0), n (r0)\nmov_imm.u32 b (r1), 3\nseteq.u32 d (p0), a (r0), b "
               "(r1)\nbra.d (p0) @e\n"
               "add.u32 v[1, 0] (r0), a (r0), b (r1)\nstg.u32 [buf3 + 0], v[1, 0] (r0)\n");
    hg_text_free(&text);
    uint8_t *bytes = NULL;
    size_t length = 0;
    hg_program *again = NULL;
    CHECK(p && hg_program_encode(p, 0, &bytes, &length) == HG_OK &&
          hg_program_decode(bytes, length, NULL, &again) == HG_OK);
    check_name(again, 5, false, 0, "v[1, 0]");
    CHECK(memcmp(hg_program_hash(p), hg_program_hash(again), 32) == 0);
    hg_string_free((char *)bytes);
    hg_program_release(p);
    hg_program_release(again);
    fails(".reg i f32\nadd.f32 r9, i, i\n", "V01", 2, "uninitialized register: i (r0)");
    fails(".reg d pred\nbra.d @e\ne:\n", "V02", 2, "uninitialized predicate: d (p0)");
    fails(".reg i u32\nmov i, lane\npool.alloc r5, i\n", "V10", 3,
          "must be the same in all lanes: i (r0) is not");
}

/* ---- how many there are ---- */

/* `names` registers that are all live at once; `reserved` of the text's own. */
static char *crowd(unsigned names, unsigned reserved, const char *type) {
    hg_text t = {0};
    bool predicate = strcmp(type, "pred") == 0;
    for (unsigned i = 0; i < reserved; i++) hg_text_addf(&t, "mov_imm.u32 r%u, 1\n", i * 2);
    for (unsigned i = 0; i < names; i++)
        hg_text_addf(&t,
                     predicate ? ".reg n%u %s\nseteq.u32 n%u, r252, r253\n"
                               : ".reg n%u %s\nmov n%u, 5\n",
                     i, type, i);
    for (unsigned i = 0; i < names; i++)
        hg_text_addf(&t, predicate ? "bra.n%u @e\n" : "stg [buf7 + 4], n%u\n", i);
    hg_text_addf(&t, "e:\n");
    return t.data;
}

static void test_limits(void) {
    char *text = crowd(252, 0, "u32");
    same(text, text);
    hg_string_free(text);
    text = crowd(253, 0, "u32");
    fails(text, "S05", 505 + 1,
          "no register is left for n252: of 252 0 are used by number, the others hold n0, n1, n2, "
          "n3, ");
    hg_string_free(text);
    text = crowd(152, 100, "u32");
    same(text, text);
    hg_string_free(text);
    text = crowd(153, 100, "u32");
    fails(text, "S05", 405 + 1,
          "no register is left for n152: of 252 100 are used by number, the others hold n0, n1, ");
    hg_string_free(text);
    text = crowd(16, 0, "pred");
    same(text, text);
    hg_string_free(text);
    text = crowd(17, 0, "pred");
    fails(text, "S05", 34,
          "no predicate is left for n16: of 16 0 are used by number, the others hold n0, n1, n2, "
          "n3, n4, n5, n6, n7, n8, n9, "
          "n10, n11, n12, n13, n14, n15");
    hg_string_free(text);
    fails(".reg v[253] u32\nmov v[0], 1\nmov v[252], 1\nreduce.add r0, v[252], 1\nreduce.add r0, "
          "v[0], 253\n",
          "S05", 3, "no register is left for v[252] with 253 consecutive ones");
    fails(".reg c u32\n.reg v[251] u32\nmov c, 1\nreduce.add.u32 r251, v[0], 251\n", "S05", 3,
          "no register is left for v[250] with 251 consecutive ones: of 252 1 are used by number, "
          "the others hold c");
}

/* Many names, many blocks, many functions: it ends, and soon enough for a test. */
static void test_sizes(void) {
    hg_text t = {0};
    for (unsigned i = 0; i < 20000; i++)
        hg_text_addf(&t, ".reg n%u u32\nmov n%u, 5\nadd.u32 r1, n%u, n%u\n", i, i, i, i);
    same(t.data, t.data);
    t.length = 0;
    for (unsigned i = 0; i < 200; i++) hg_text_addf(&t, ".reg n%u u32\nmov n%u, 5\n", i, i);
    hg_text_addf(&t, "seteq.u32 p0, r252, r253\ntop:\n");
    for (unsigned i = 0; i < 20000; i++)
        hg_text_addf(&t, "bra.p0 @l%u\nl%u: add n%u, n%u, n%u\n", i * 7919 % 20000, i, i % 200,
                     (i + 1) % 200, (i + 7) % 200);
    hg_text_addf(&t, "bra.p0 @top\n");
    for (unsigned i = 0; i < 200; i++) hg_text_addf(&t, "add n%u, n%u, n%u\n", i, i, i);
    same(t.data, t.data);
    t.length = 0;
    hg_text_addf(&t, ".reg a, b u32\nmov a, 1\n");
    for (unsigned i = 0; i < 5000; i++) hg_text_addf(&t, "call @g%u\n", i);
    hg_text_addf(&t, "add.u32 r9, a, a\nexit\n");
    for (unsigned i = 0; i < 5000; i++)
        hg_text_addf(&t, "g%u: mov b, 1\nadd.u32 r8, b, b\nret\n", i);
    same(t.data, t.data);
    hg_text_free(&t);
}

int main(void) {
    test_immediates();
    test_names();
    test_arrays();
    test_parameters();
    test_addresses();
    test_types();
    test_branches();
    test_loops();
    test_expansions();
    test_messages();
    test_limits();
    test_sizes();
    return test_done();
}

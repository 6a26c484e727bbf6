/* See device_examples.h. */
#include "support/device_examples.h"
#include "base/base.h"

#define H(i) ((uint64_t)(i) << 25 | (i)) /* the handle of buffer i from 2 on */

const example DEVICE_EXAMPLES[] = {
    {.name = "axpy",
     .grid = {10, 1, 1},
     .block = {8, 1, 1},
     .lanes = 77,
     .proven = true,
     .regs = {[1] = 1, [2] = H(3), [5] = 0x40200000, [4] = 70},
     .text = ".atlas 1\n.program axpy\n.param r1 x buffer u32 in\n.param r2 y buffer u32 "
             "inout\n.param r5 alpha u32\n.param r4 n u64\n"
             "    setgeu.u64 p0, r255, r4\n    bra.p0 @done\n    mov_imm.u32 r250, 2\n    shl.u64 "
             "r0, r255, r250\n"
             "    ldg.u32 r10, [r1 + r0]\n    ldg.u32 r11, [r2 + r0]\n    mad.u32 r12, r5, r10, "
             "r11\n    stg.u32 [r2 + r0], r12\ndone:\n   "
             " exit\n"},
    {.name = "outside",
     .grid = {20, 1, 1},
     .block = {8, 1, 1},
     .lanes = 160,
     .faults = true,
     .regs = {[1] = 1, [2] = H(2)},
     .text = ".atlas 1\n.program outside\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
             "    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    ldg.u32 r10, [r1 + r0]\n    "
             "stg.u32 [r2 + r0], r10\n    exit\n"},
    {.name = "before",
     .grid = {2, 1, 1},
     .block = {8, 1, 1},
     .lanes = 16,
     .faults = true,
     .regs = {[1] = 1, [2] = H(2)},
     .text = ".atlas 1\n.program before\n.param r1 x buffer u32 in\n.param r2 y buffer u32 inout\n"
             "    mov_imm.u32 r250, 4\n    mul.u32 r0, r252, r250\n    stg.u32 [r2 + r0 + 4], r0\n "
             "   ldg.u32 r10, [r1 + r0 - 8]\n    "
             "stg.u32 [r2 + r0], r10\n    exit\n"},
    {.name = "huge displacement",
     .grid = {1, 1, 1},
     .block = {8, 1, 1},
     .lanes = 8,
     .faults = true,
     .regs = {[1] = 1, [6] = UINT64_MAX - 3},
     .text = ".atlas 1\n.program hugedisp\n.param r1 x buffer u32 inout\n.param r6 far u64\n"
             "    ldg.u32 r10, [r1 + r6 + 8]\n    stg.u32 [buf(r1) + 0], r10\n    exit\n"},
    {.name = "no memory",
     .grid = {1, 1, 1},
     .block = {8, 1, 1},
     .lanes = 8,
     .faults = true,
     .regs = {[1] = 77},
     .text = ".atlas 1\n.program nomemory\n.param r1 x buffer u32 inout\n"
             "    ldg.u32 r10, [buf(r1) + 0]\n    stg.u32 [buf(r1) + 4], r10\n    exit\n"},
    {.name = "division",
     .grid = {2, 2, 1},
     .block = {4, 2, 1},
     .lanes = 32,
     .faults = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n.program division\n.param r1 x buffer u32 inout\n"
             "    mov_imm.u32 r2, 19\n    cvt.u32.u64 r3, r255\n    sub.u32 r4, r3, r2\n    "
             "div.u32 r5, r3, r4\n"
             "    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    stg.u32 [r1 + r0], r5\n    "
             "exit\n"},
    {.name = "ids",
     .grid = {3, 2, 2},
     .block = {2, 3, 2},
     .lanes = 141,
     .proven = true,
     .regs = {[1] = H(3)},
     .text = ".atlas 1\n.program ids\n.param r1 x buffer u32 inout\n    rdid r10, lane_idx_x\n    "
             "rdid r11, lane_idx_y\n    rdid r12, "
             "lane_idx_z\n"
             "    rdid r13, block_idx_x\n    rdid r14, block_idx_y\n    rdid r15, block_idx_z\n    "
             "rdid r16, block_dim_x\n    rdid r17, "
             "block_dim_y\n    rdid r18, block_dim_z\n"
             "    rdid r19, grid_dim_x\n    rdid r20, grid_dim_y\n    rdid r21, grid_dim_z\n    "
             "rdid r22, lane_count\n    cvt.u32.u64 r22, "
             "r22\n"
             "    mov_imm.u32 r30, 5\n    mul.u32 r31, r10, r30\n    add.u32 r31, r31, r11\n    "
             "mul.u32 r31, r31, r30\n    add.u32 r31, "
             "r31, r12\n    mul.u32 r31, r31, r30\n    add.u32 r31, r31, r13\n"
             "    mul.u32 r31, r31, r30\n    add.u32 r31, r31, r14\n    mul.u32 r31, r31, r30\n    "
             "add.u32 r31, r31, r15\n    mul.u32 r31, "
             "r31, r30\n    add.u32 r31, r31, r16\n    mul.u32 r31, r31, r30\n"
             "    add.u32 r31, r31, r17\n    mul.u32 r31, r31, r30\n    add.u32 r31, r31, r18\n    "
             "add.u32 r31, r31, r19\n    mul.u32 r31, "
             "r31, r20\n    add.u32 r31, r31, r21\n    add.u32 r31, r31, r22\n"
             "    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    stg.u32 [r1 + r0], r31\n    "
             "exit\n"},
    {.name = "zeros",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 37,
     .proven = true,
     .regs = {[1] = H(3)},
     .text =
         ".atlas 1\n.program zeros\n.param r1 x buffer f32 inout\n    cvt.f32.u64 r10, r255\n  "
         "  neg.f32 r10, r10\n    mov_imm.f32 r11, 0\n"
         "    add.f32 r12, r10, r11\n    mul.f32 r13, r10, r11\n    sub.f32 r14, r10, r10\n    "
         "sub.f32 r15, r11, r10\n    exp.f32 r16, "
         "r10\n    cvt.f64.f32 r17, r10\n    mov_imm.f64 r18, 0\n"
         "    add.f64 r18, r17, r18\n    sub.f64 r17, r17, r17\n    mul.f64 r17, r17, r18\n    "
         "mov_imm.u32 r250, 5\n    shl.u64 r0, r255, "
         "r250\n    stg.f32 [r1 + r0], r12\n    ldg.f32 r12, [r1 + r0]\n    add.f32 r15, r15, r12\n"
         "    stg.f32 [r1 + r0 + 4], r13\n"
         "    stg.f32 [r1 + r0 + 8], r14\n    stg.f32 [r1 + r0 + 12], r15\n    stg.f32 [r1 + "
         "r0 + 16], r16\n    stg.f64 [r1 + r0 + 24], "
         "r17\n    exit\n"},
    {.name = "bytes",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[1] = H(4), [2] = H(3)},
     .text = ".atlas 1\n.program bytes\n.param r1 x buffer u8 inout\n.param r2 y buffer u8 inout\n"
             "    ldg.u8 r10, [r1 + r255 + 3]\n    ldg.i8 r11, [r1 + r255 + 50]\n    add.u8 r10, "
             "r10, r10\n    stg.u8 [r2 + r255], r10\n   "
             " cvt.i32.i8 r12, r11\n"
             "    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    stg.i32 [r2 + r0 + 64], "
             "r12\n    mov_imm.u32 r250, 1\n    shl.u64 "
             "r0, r255, r250\n    ldg.u16 r13, [r1 + r0 + 2]\n    stg.u16 [r2 + r0 + 512], r13\n   "
             " exit\n"},
    {.name = "misaligned",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text =
         ".atlas 1\n.program misaligned\n.param r1 x buffer u8 inout\n.param r2 y buffer u8 inout\n"
         "    mov_imm.u64 r3, 23\n    mul.u64 r4, r255, r3\n    mov_imm.u64 r5, 101\n    mul.u64 "
         "r6, r255, r5\n"
         "    ldg.u16 r10, [r1 + r4]\n    ldg.u32 r11, [r1 + r4 + 1]\n    ldg.u64 r12, [r1 + r4 + "
         "2]\n    ldg.f32 r13, [r1 + r4 + 3]\n "
         "   ldg.f64 r14, [r1 + r4 + 4]\n    ldg.u64 r15, [buf(r1) + 20]\n"
         "    stg.u16 [r2 + r6], r10\n    stg.u32 [r2 + r6 + 3], r11\n    stg.u64 [r2 + r6 + 7], "
         "r12\n    stg.f32 [r2 + r6 + 15], "
         "r13\n    stg.f64 [r2 + r6 + 19], r14\n    stg.u64 [r2 + r6 + 27], r15\n    exit\n"},
    {.name = "wide",
     .grid = {2, 1, 1},
     .block = {8, 1, 1},
     .lanes = 16,
     .proven = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text =
         ".atlas 1\n.program wide\n.param r1 x buffer u256 inout\n.param r2 y buffer u256 inout\n"
         "    mov_imm.u32 r250, 5\n    shl.u64 r0, r255, r250\n    ldg.u256 r10, [r1 + r0]\n    "
         "ldg.u128 r12, [r1 + r255 + 7]\n    "
         "add.u256 r11, r10, r10\n    stg.u256 [r2 + r0 + 9], r11\n"
         "    mov_imm.u32 r250, 4\n    shl.u64 r3, r255, r250\n    stg.u128 [r2 + r3 + 1024], "
         "r12\n    exit\n"},
    {.name = "wide outside",
     .grid = {2, 1, 1},
     .block = {8, 1, 1},
     .lanes = 16,
     .faults = true,
     .regs = {[1] = 1, [2] = H(2)},
     .text = ".atlas 1\n.program wideout\n.param r1 x buffer u256 inout\n.param r2 y buffer u256 "
             "inout\n"
             "    mov_imm.u32 r250, 5\n    shl.u64 r0, r255, r250\n    ldg.u256 r10, [r1 + r0]\n   "
             " stg.u256 [r2 + r0 + 250], r10\n    exit\n"},
    {.name = "class",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[1] = H(3)},
     .text = ".atlas 1\n.program class\n.param r1 x buffer u32 inout\n    mov_imm.u32 r250, 2\n    "
             "shl.u64 r0, r255, r250\n    ldg.u32 "
             "r10, [class5 + r0 + 100]\n    stg.u32 [class7 + r0], r10\n    ldg.u8 r11, [phi(3, 2, "
             "9)]\n"
             "    stg.u8 [r1 + r255], r11\n    exit\n"},
    {.name = "class outside",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = H(3)},
     .text = ".atlas 1\n.program classout\n.param r1 x buffer u32 inout\n    mov_imm.u32 r250, 9\n "
             "   shl.u64 r0, r255, r250\n    ldg.u32 "
             "r10, [class5 + r0 + 100]\n    stg.u32 [r1 + r0], r10\n    exit\n"},
    {.name = "atomics",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text = ".atlas 1\n.program atomics\n.param r1 x buffer u32 inout\n.param r2 y buffer u64 "
             "inout\n    cvt.u32.u64 r3, r255\n    "
             "atom.add.u32 r10, [buf(r1) + 0], r3\n    cvt.i32.u32 r8, r3\n    atom.min.i32 r9, "
             "[buf(r1) + 4], r8\n    atom.max.u32 r10, "
             "[buf(r1) + 8], r3\n"
             "    atom.and.u32 r10, [buf(r1) + 12], r3\n    atom.or.u32 r10, [buf(r1) + 16], r3\n  "
             "  atom.xor.u32 r10, [buf(r1) + 20], r3\n    "
             "atom.add.u64 r11, [buf(r2) + 0], r255\n    atom.min.u64 r11, [buf(r2) + 8], r255\n   "
             " atom.max.u64 r11, [buf(r2) + 16], r255\n"
             "    cvt.i64.u64 r7, r255\n    atom.min.i64 r6, [buf(r2) + 24], r7\n    atom.max.i64 "
             "r6, [buf(r2) + 32], r7\n    atom.and.u64 "
             "r11, [buf(r2) + 40], r255\n    atom.or.u64 r11, [buf(r2) + 48], r255\n    "
             "atom.xor.u64 r11, [buf(r2) + 56], r255\n"
             "    mov_imm.u32 r250, 3\n    shl.u64 r0, r255, r250\n    atom.exch.u64 r12, [r2 + r0 "
             "+ 128], r255\n    stg.u64 [r2 + r0 + 1024], "
             "r12\n    atom.cas.u64 r13, [r2 + r0 + 128], r255, r12\n    stg.u64 [r2 + r0 + 2048], "
             "r13\n"
             "    atom.cas.u32 r14, [buf(r1) + 64], r3, r3\n    atom.add.u64 r15, [r2 + r0 + "
             "3000], r13\n    stg.u64 [r2 + r0 + 2400], r15\n   "
             " exit\n"},
    {.name = "misaligned atomic",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = 1, [2] = H(3), [6] = 4},
     .text = ".atlas 1\n.program misatomic\n.param r1 x buffer u32 inout\n.param r2 y buffer u64 "
             "inout\n.param r6 at u64\n    mov_imm.u64 "
             "r5, 20\n    setltu.u64 p0, r255, r5\n    bra.p0 @skip\n    atom.add.u64 r11, [r2 + "
             "r6 + 8], r255\nskip:\n    atom.add.u64 "
             "r11, [buf(r2) + 8], r255\n    exit\n"},
    {.name = "open",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .regs = {[1] = 1, [2] = H(3), [3] = H(1), [7] = 1},
     .text = ".atlas 1\n.program open\n.param r1 x buffer u32 inout\n.param r2 y buffer u32 "
             "inout\n.param r7 one u64\n    mov_imm.u64 r4, "
             "1\n    and.u64 r5, r255, r4\n    mov.u64 r6, r1\n    seteq.u64 p0, r5, r4\n    "
             "bra.p0 @odd\n    mov.u64 r6, r2\nodd:\n"
             "    mov_imm.u32 r250, 3\n    shl.u64 r0, r255, r250\n    ldg.u32 r10, [r6 + r0]\n    "
             "ldg.u8 r11, [r6 + r0 + 7]\n    ldg.u64 "
             "r12, [r6 + r255 + 603]\n    add.u32 r10, r10, r10\n    stg.u32 [r6 + r0 + 4], r10\n  "
             "  stg.u64 [r2 + r0 + 1024], r12\n"
             "    stg.u8 [r6 + r255 + 500], r11\n    atom.add.u32 r13, [buf(r6) + 480], r10\n    "
             "atom.add.u64 r14, [buf(r6) + 488], r255\n "
             "   exit\n"},
    {.name = "class handles",
     .grid = {2, 1, 1},
     .block = {8, 1, 1},
     .lanes = 16,
     .regs = {[1] = UINT64_MAX - 90},
     .text = ".atlas 1\n.program classes\n.param r1 x u64\n    add.u64 r2, r1, r255\n    "
             "mov_imm.u32 r250, 3\n    shl.u64 r0, r255, r250\n "
             "   ldg.u64 r10, [r2 + r0]\n    stg.u64 [r1 + r0 + 256], r10\n    exit\n"},
    {.name = "open bad",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text = ".atlas 1\n.program openbad\n.param r1 x buffer u32 inout\n    mov_imm.u64 r4, 17\n   "
             " mov.u64 r6, r1\n    setltu.u64 p0, "
             "r255, r4\n    bra.p0 @good\n    add.u64 r6, r6, r255\ngood:\n    stg.u64 [buf(r6) + "
             "4], r255\n    exit\n"},
    {.name = "open outside",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = 1, [2] = 1},
     .text = ".atlas 1\n.program openout\n.param r2 p u64\n    mov_imm.u64 r4, 17\n    mov.u64 r6, "
             "r2\n    setltu.u64 p0, r255, r4\n    "
             "bra.p0 @good\n    add.u64 r6, r6, r2\n    mov_imm.u64 r6, 134217732\ngood:\n    "
             "mov_imm.u32 r250, 3\n    shl.u64 r0, r255, "
             "r250\n    stg.u64 [r6 + r0 + 200], r0\n    exit\n"},
    {.name = "flat",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .regs = {[1] = UINT64_C(3) << 40 | 16, [2] = UINT64_C(1) << 63 | UINT64_C(1) << 40},
     .text = ".atlas 1\n.program flat\n.param r1 a u64\n.param r2 b u64\n    mov_imm.u32 r250, 2\n "
             "   shl.u64 r0, r255, r250\n    add.u64 "
             "r3, r1, r0\n    add.u64 r4, r2, r0\n    ldg.u32 r10, [r3 + 8]\n    stg.u32 [r4 + 4], "
             "r10\n    ldg.u64 r11, [r3 - 16]\n    "
             "stg.u64 [r3 + 1021], r11\n    ldg.u8 r12, [r255]\n    stg.u8 [r3 + 2000], r12\n    "
             "exit\n"},
    {.name = "flat outside",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = UINT64_C(4) << 40 | 300},
     .text = ".atlas 1\n.program flatout\n.param r1 a u64\n    add.u64 r3, r1, r255\n    "
             "cvt.u8.u64 r7, r3\n    stg.u8 [r3], r7\n    "
             "ldg.u32 r4, [r3 - 305]\n    exit\n"},
    {.name = "flat bad",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = UINT64_C(1) << 63 | UINT64_C(9) << 40 | 300},
     .text = ".atlas 1\n.program flatbad\n.param r1 a u64\n    add.u64 r3, r1, r255\n    ldg.u32 "
             "r4, [r3 - 5]\n    stg.u32 [r3], r4\n    "
             "exit\n"},
    {.name = "pools",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text = ".atlas 1\n.program pools\n.param r1 p pool 256\n.param r2 y buffer u32 inout\n    "
             "mov_imm.u32 r250, 2\n    shl.u64 r0, r255, "
             "r250\n    pool.load.u32 r10, r1, r0\n    stg.u32 [r2 + r0], r10\n    add.u32 r10, "
             "r10, r10\n    stg.u32 [pool(r1) + r0], "
             "r10\n    exit\n"},
    {.name = "functions",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .faults = true,
     .regs = {[1] = 1, [2] = H(3)},
     .text = ".atlas 1\n.program functions\n.param r1 x buffer u32 inout\n.param r2 y buffer u32 "
             "inout\n    mov_imm.u32 r250, 5\n    "
             "shl.u64 r0, r255, r250\n    call @outer\n    stg.u32 [r2 + r0], r10\n    exit\n"
             "outer:\n    mov_imm.u64 r20, 7\n    seteq.u64 p1, r255, r20\n    bra.p1 @leave\n    "
             "call @inner\n    add.u32 r10, r10, r10\n "
             "   ret\nleave:\n    exit\n"
             "inner:\n    ldg.u32 r10, [r1 + r0 + 4]\n    ret\n"},
    {.name = "collatz",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .proven = true,
     .regs = {[2] = H(3)},
     .text = ".atlas 1\n.program collatz\n.param r2 steps buffer u32 out\n    mov_imm.u64 r11, 1\n "
             "   mov_imm.u64 r12, 3\n    mov_imm.u64 "
             "r13, 0\n    add.u64 r10, r255, r11\n    mov_imm.u32 r14, 1\n    mov_imm.u32 r20, "
             "0\nnext:\n    setleu.u64 p1, r10, r11\n    "
             "bra.p1 @store\n"
             "    add.u32 r20, r20, r14\n    and.u64 r15, r10, r11\n    seteq.u64 p2, r15, r13\n   "
             " bra.p2 @even\n    mad.u64 r10, r10, "
             "r12, r11\n    bra @next\neven:\n    shr.u64 r10, r10, r14\n    bra @next\nstore:\n   "
             " mov_imm.u32 r250, 2\n    shl.u64 r0, "
             "r255, r250\n    stg.u32 [r2 + r0], r20\n    exit\n"},
    {.name = "reverse",
     .grid = {3, 1, 1},
     .block = {8, 1, 1},
     .lanes = 24,
     .shared = 32,
     .proven = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n"
             ".program reverse\n"
             ".param r1 x buffer i32 inout\n"
             ".shared 32\n"
             "    mov_imm.u32 r250, 2\n"
             "    shl.u64 r0, r255, r250\n"
             "    ldg.i32 r10, [r1 + r0]\n"
             "    shl.u32 r5, r252, r250\n"
             "    sts.i32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    mov_imm.u32 r6, 1\n"
             "    sub.u32 r7, r254, r6\n"
             "    sub.u32 r7, r7, r252\n"
             "    shl.u32 r7, r7, r250\n"
             "    lds.i32 r11, [shared + r7]\n"
             "    stg.i32 [r1 + r0], r11\n"
             "    exit\n"},
    {.name = "guarded barrier",
     .grid = {2, 3, 1},
     .block = {4, 2, 1},
     .lanes = 45,
     .shared = 40,
     .proven = true,
     .regs = {[1] = 1, [4] = 37},
     .text = ".atlas 1\n"
             ".program guarded\n"
             ".param r1 x buffer i32 inout\n"
             ".param r4 n u64\n"
             ".shared 40\n"
             "    setgeu.u64 p0, r255, r4\n"
             "    bra.p0 @done\n"
             "    mov_imm.u32 r250, 2\n"
             "    rdid r8, lane_idx_y\n"
             "    shl.u32 r8, r8, r250\n"
             "    add.u32 r9, r252, r8\n"
             "    shl.u64 r0, r255, r250\n"
             "    ldg.i32 r10, [r1 + r0]\n"
             "    shl.u32 r5, r9, r250\n"
             "    sts.i32 [shared + r5 + 8], r10\n"
             "    bar.sync 3\n"
             "    mov_imm.u32 r6, 7\n"
             "    sub.u32 r7, r6, r9\n"
             "    shl.u32 r7, r7, r250\n"
             "    lds.i32 r11, [shared + r7 + 8]\n"
             "    lds.i32 r12, [shared + 4]\n"
             "    add.i32 r11, r11, r12\n"
             "    stg.i32 [r1 + r0], r11\n"
             "done:\n"
             "    exit\n"},
    {.name = "loops",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 37,
     .shared = 32,
     .proven = true,
     .regs = {[1] = 1, [4] = 5},
     .text = ".atlas 1\n"
             ".program loops\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 32\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r23, 15\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r12, [r1 + r0]\n"
             "    and.u32 r12, r12, r23\n"
             "again:\n"
             "    setgeu.u32 p1, r20, r4\n"
             "    bra.p1 @after\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    seteq.u32 p2, r12, r20\n"
             "    bra.p2 @done\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + 4]\n"
             "    bar.sync 1\n"
             "    add.u32 r10, r10, r11\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    add.u32 r20, r20, r21\n"
             "    bra @again\n"
             "after:\n"
             "    stg.u32 [r1 + r0], r20\n"
             "done:\n"
             "    exit\n"},
    {.name = "loops to the end of all",
     .grid = {2, 1, 1},
     .block = {8, 1, 1},
     .lanes = 16,
     .shared = 32,
     .proven = true,
     .regs = {[1] = 1, [4] = 4000000000},
     .text = ".atlas 1\n"
             ".program loops\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 32\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r23, 15\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r12, [r1 + r0]\n"
             "    and.u32 r12, r12, r23\n"
             "again:\n"
             "    setgeu.u32 p1, r20, r4\n"
             "    bra.p1 @after\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    seteq.u32 p2, r12, r20\n"
             "    bra.p2 @done\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + 4]\n"
             "    bar.sync 1\n"
             "    add.u32 r10, r10, r11\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    add.u32 r20, r20, r21\n"
             "    bra @again\n"
             "after:\n"
             "    stg.u32 [r1 + r0], r20\n"
             "done:\n"
             "    exit\n"},
    {.name = "fault in a later phase",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .shared = 32,
     .faults = true,
     .regs = {[1] = 2 << 25 | 2, [4] = 9},
     .text = ".atlas 1\n"
             ".program loops\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 32\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r23, 15\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r12, [r1 + r0]\n"
             "    and.u32 r12, r12, r23\n"
             "again:\n"
             "    setgeu.u32 p1, r20, r4\n"
             "    bra.p1 @after\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    seteq.u32 p2, r12, r20\n"
             "    bra.p2 @done\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + 4]\n"
             "    bar.sync 1\n"
             "    add.u32 r10, r10, r11\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    add.u32 r20, r20, r21\n"
             "    mov_imm.u64 r30, 160\n"
             "    add.u64 r0, r0, r30\n"
             "    bra @again\n"
             "after:\n"
             "    stg.u32 [r1 + r0], r20\n"
             "done:\n"
             "    exit\n"},
    {.name = "fault before a barrier",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 40,
     .shared = 32,
     .faults = true,
     .regs = {[1] = 1, [2] = H(2)},
     .text = ".atlas 1\n"
             ".program faultbefore\n"
             ".param r1 x buffer u32 inout\n"
             ".param r2 y buffer u32 inout\n"
             ".shared 32\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u64 r23, 21\n"
             "    mov_imm.u64 r24, 100000\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    mov.u64 r6, r0\n"
             "    seteq.u64 p0, r255, r23\n"
             "    bra.p0 @far\n"
             "    bra @near\n"
             "far:\n"
             "    mov.u64 r6, r24\n"
             "near:\n"
             "    ldg.u32 r10, [r1 + r6]\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + r5 + 4]\n"
             "    stg.u32 [r2 + r0], r11\n"
             "    bar.sync 0\n"
             "    ldg.u32 r10, [r1 + r24]\n"
             "    exit\n"},
    {.name = "barrier in a function",
     .grid = {5, 1, 1},
     .block = {8, 1, 1},
     .lanes = 39,
     .shared = 64,
     .proven = true,
     .regs = {[1] = 1, [4] = 3},
     .text = ".atlas 1\n"
             ".program barrierfunction\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 64\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "next:\n"
             "    call @exchange\n"
             "    add.u32 r20, r20, r21\n"
             "    setltu.u32 p1, r20, r4\n"
             "    bra.p1 @next\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    exit\n"
             "exchange:\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 5\n"
             "    mov_imm.u32 r30, 28\n"
             "    sub.u32 r31, r30, r5\n"
             "    lds.u32 r11, [shared + r31]\n"
             "    call @mix\n"
             "    mov_imm.u32 r32, 2\n"
             "    seteq.u32 p3, r20, r32\n"
             "    bra.p3 @early\n"
             "    bar.sync 6\n"
             "early:\n"
             "    ret\n"
             "mix:\n"
             "    mov_imm.u32 r33, 5\n"
             "    mul.u32 r10, r10, r33\n"
             "    add.u32 r10, r10, r11\n"
             "    and.u32 r34, r10, r33\n"
             "    mov_imm.u32 r36, 0\n"
             "    seteq.u32 p4, r34, r36\n"
             "    bra.p4 @gone\n"
             "    ret\n"
             "gone:\n"
             "    exit\n"},
    {.name = "uneven loops between barriers",
     .grid = {4, 1, 1},
     .block = {8, 1, 1},
     .lanes = 32,
     .shared = 32,
     .faults = true,
     .regs = {[1] = 1, [2] = H(2)},
     .text = ".atlas 1\n"
             ".program uneven\n"
             ".param r1 x buffer u32 inout\n"
             ".param r2 y buffer u32 inout\n"
             ".shared 32\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r23, 63\n"
             "    mov_imm.u32 r24, 1\n"
             "    mov_imm.u32 r26, 0\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    and.u32 r10, r10, r23\n"
             "    mov_imm.u32 r11, 0\n"
             "round:\n"
             "    seteq.u32 p0, r10, r26\n"
             "    bra.p0 @out\n"
             "    sub.u32 r10, r10, r24\n"
             "    shl.u32 r12, r10, r22\n"
             "    ldg.u32 r13, [r1 + r12]\n"
             "    add.u32 r11, r11, r13\n"
             "    atom.add.u32 r14, [shared + r5], r24\n"
             "    bra @round\n"
             "out:\n"
             "    bar.sync 0\n"
             "    lds.u32 r15, [shared + 8]\n"
             "    add.u32 r11, r11, r15\n"
             "    stg.u32 [r2 + r0], r11\n"
             "    bar.sync 0\n"
             "    mov_imm.u32 r30, 29\n"
             "    cvt.u32.u64 r31, r255\n"
             "    sub.u32 r32, r30, r31\n"
             "    rem.u32 r33, r11, r32\n"
             "    stg.u32 [r2 + r0], r33\n"
             "    exit\n"},
    {.name = "uniform branches around barriers",
     .grid = {4, 1, 1},
     .block = {8, 1, 1},
     .lanes = 32,
     .shared = 48,
     .proven = true,
     .regs = {[1] = 1, [4] = 6},
     .text = ".atlas 1\n"
             ".program branches\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".param r6 m u32\n"
             ".shared 48\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r26, 0\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "outer:\n"
             "    and.u32 r25, r20, r21\n"
             "    seteq.u32 p0, r25, r26\n"
             "    bra.p0 @even\n"
             "    mov_imm.u32 r27, 0\n"
             "inner:\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 1\n"
             "    lds.u32 r11, [shared + 12]\n"
             "    bar.sync 2\n"
             "    add.u32 r10, r10, r11\n"
             "    add.u32 r27, r27, r21\n"
             "    setltu.u32 p1, r27, r20\n"
             "    bra.p1 @inner\n"
             "    mov_imm.u32 r40, 7\n"
             "    and.u32 r41, r10, r40\n"
             "    seteq.u32 p5, r41, r40\n"
             "    bra.p5 @done\n"
             "    bra @join\n"
             "even:\n"
             "    atom.add.u64 r12, [shared + 32], r255\n"
             "    bar.sync 4\n"
             "    lds.u64 r13, [shared + 32]\n"
             "    cvt.u32.u64 r14, r13\n"
             "    xor.u32 r10, r10, r14\n"
             "    bar.sync 4\n"
             "join:\n"
             "    add.u32 r20, r20, r21\n"
             "    setltu.u32 p2, r20, r4\n"
             "    bra.p2 @outer\n"
             "    stg.u32 [r1 + r0], r10\n"
             "done:\n"
             "    exit\n"},
    {.name = "shared bytes",
     .grid = {4, 1, 1},
     .block = {8, 1, 1},
     .lanes = 32,
     .shared = 100,
     .proven = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n"
             ".program sharedbytes\n"
             ".param r1 x buffer u32 inout\n"
             ".shared 100\n"
             "    mov_imm.u32 r3, 3\n"
             "    mul.u32 r5, r252, r3\n"
             "    mov_imm.u32 r22, 2\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u8 r10, [r1 + r255]\n"
             "    ldg.u16 r12, [r1 + r255 + 100]\n"
             "    sts.u8 [shared + r5], r10\n"
             "    sts.u16 [shared + r5 + 1], r12\n"
             "    sts.u64 [shared + 91], r255\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + r5 + 4]\n"
             "    lds.u64 r13, [shared + r5 + 3]\n"
             "    lds.f64 r14, [shared + r5 + 50]\n"
             "    stg.u32 [r1 + r0], r11\n"
             "    mov_imm.u32 r22, 3\n"
             "    shl.u64 r0, r255, r22\n"
             "    stg.u64 [r1 + r0 + 256], r13\n"
             "    stg.f64 [r1 + r0 + 512], r14\n"
             "    exit\n"},
    {.name = "shared outside",
     .grid = {4, 1, 1},
     .block = {8, 1, 1},
     .lanes = 32,
     .shared = 100,
     .faults = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n"
             ".program sharedoutside\n"
             ".param r1 x buffer u32 inout\n"
             ".shared 100\n"
             "    mov_imm.u32 r3, 14\n"
             "    mul.u32 r5, r252, r3\n"
             "    sts.u32 [shared + r5], r3\n"
             "    stg.u32 [buf(r1) + 0], r3\n"
             "    exit\n"},
    {.name = "uniform exit between barriers",
     .grid = {4, 1, 1},
     .block = {8, 1, 1},
     .lanes = 30,
     .shared = 32,
     .proven = true,
     .regs = {[1] = 1, [4] = 2},
     .text = ".atlas 1\n"
             ".program uniformexit\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 32\n"
             "    mov_imm.u32 r22, 2\n"
             "    shl.u32 r5, r252, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r10, [shared + 4]\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    setgeu.u32 p0, r253, r4\n"
             "    bra.p0 @done\n"
             "    bar.sync 0\n"
             "    lds.u32 r10, [shared + 8]\n"
             "    stg.u32 [r1 + r0], r10\n"
             "done:\n"
             "    exit\n"},
    {.name = "endless",
     .grid = {2, 1, 1},
     .block = {4, 1, 1},
     .lanes = 8,
     .proven = true,
     .endless = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n"
             ".program endless\n"
             ".param r1 x buffer u32 inout\n"
             "    mov_imm.u64 r3, 5\n"
             "    setltu.u64 p0, r255, r3\n"
             "    bra.p0 @away\n"
             "again:\n"
             "    ldg.u32 r10, [buf(r1) + 0]\n"
             "    call @inner\n"
             "    bra @again\n"
             "away:\n"
             "    exit\n"
             "inner:\n"
             "    mov_imm.u32 r5, 1\n"
             "more:\n"
             "    add.u32 r10, r10, r5\n"
             "    seteq.u32 p1, r10, r5\n"
             "    bra.p1 @out\n"
             "    bra @more\n"
             "out:\n"
             "    ret\n"},
    {.name = "endless with barriers",
     .grid = {1, 1, 1},
     .block = {4, 1, 1},
     .lanes = 4,
     .shared = 16,
     .proven = true,
     .endless = true,
     .regs = {[1] = 1},
     .text = ".atlas 1\n"
             ".program endlessbarrier\n"
             ".param r1 x buffer u32 inout\n"
             ".shared 16\n"
             "again:\n"
             "    ldg.u32 r10, [buf(r1) + 0]\n"
             "    bar.sync 0\n"
             "    bra @again\n"},
    {.name = "endless between barriers",
     .grid = {1, 1, 1},
     .block = {4, 1, 1},
     .lanes = 4,
     .shared = 16,
     .proven = true,
     .endless = true,
     .regs = {[1] = 1, [4] = 7, [5] = 9},
     .text = ".atlas 1\n"
             ".program endlessbetween\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".param r5 m u32\n"
             ".shared 16\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 2\n"
             "    bar.sync 1\n"
             "again:\n"
             "    add.u32 r20, r20, r21\n"
             "    seteq.u32 p0, r20, r5\n"
             "    bra.p0 @out\n"
             "    bra @again\n"
             "out:\n"
             "    setltu.u32 p1, r20, r4\n"
             "    bra.p1 @over\n"
             "    bar.sync 0\n"
             "    ldg.u32 r10, [buf(r1) + 0]\n"
             "over:\n"
             "    bar.sync 2\n"
             "    exit\n"},
    {.name = "one lane endless between barriers",
     .grid = {1, 1, 1},
     .block = {4, 1, 1},
     .lanes = 3,
     .shared = 16,
     .proven = true,
     .endless = true,
     .regs = {[1] = 1, [4] = 7, [5] = 9},
     .text = ".atlas 1\n"
             ".program oneendless\n"
             ".param r1 x buffer u32 inout\n"
             ".shared 16\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 2\n"
             "    bar.sync 1\n"
             "again:\n"
             "    seteq.u32 p0, r252, r21\n"
             "    bra.p0 @again\n"
             "    bar.sync 0\n"
             "    ldg.u32 r10, [buf(r1) + 0]\n"
             "    bar.sync 2\n"
             "    exit\n"},
    {.name = "tiles",
     .grid = {3, 1, 1},
     .block = {4, 4, 1},
     .lanes = 48,
     .shared = 96,
     .proven = true,
     .regs = {[1] = 1, [4] = 3},
     .text = ".atlas 1\n"
             ".program tiles\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 96\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r23, 3\n"
             "    mov_imm.u32 r25, 5\n"
             "    rdid r8, lane_idx_y\n"
             "    mad.u32 r9, r8, r25, r252\n"
             "    shl.u32 r5, r9, r22\n"
             "    mad.u32 r9, r252, r25, r8\n"
             "    shl.u32 r6, r9, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "again:\n"
             "    setgeu.u32 p0, r20, r4\n"
             "    bra.p0 @after\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + r6]\n"
             "    bar.sync 0\n"
             "    add.u32 r10, r10, r11\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    add.u32 r20, r20, r21\n"
             "    bra @again\n"
             "after:\n"
             "    exit\n"},
    {.name = "hole in a tile",
     .grid = {3, 1, 1},
     .block = {4, 4, 1},
     .lanes = 48,
     .shared = 96,
     .proven = true,
     .regs = {[1] = 1, [4] = 3},
     .text = ".atlas 1\n"
             ".program hole\n"
             ".param r1 x buffer u32 inout\n"
             ".param r4 n u32\n"
             ".shared 96\n"
             "    mov_imm.u32 r22, 2\n"
             "    mov_imm.u32 r20, 0\n"
             "    mov_imm.u32 r21, 1\n"
             "    mov_imm.u32 r23, 3\n"
             "    mov_imm.u32 r25, 5\n"
             "    rdid r8, lane_idx_y\n"
             "    mad.u32 r9, r8, r25, r252\n"
             "    shl.u32 r5, r9, r22\n"
             "    mad.u32 r9, r252, r25, r8\n"
             "    shl.u32 r6, r9, r22\n"
             "    shl.u64 r0, r255, r22\n"
             "again:\n"
             "    setgeu.u32 p0, r20, r4\n"
             "    bra.p0 @after\n"
             "    ldg.u32 r10, [r1 + r0]\n"
             "    sts.u32 [shared + r5], r10\n"
             "    bar.sync 0\n"
             "    lds.u32 r11, [shared + r6 + 4]\n"
             "    add.u32 r10, r10, r11\n"
             "    stg.u32 [r1 + r0], r10\n"
             "    add.u32 r20, r20, r21\n"
             "    bra @after\n"
             "after:\n"
             "    exit\n"},
};

const size_t DEVICE_EXAMPLE_COUNT = HG_COUNT_OF(DEVICE_EXAMPLES);

/* The programs of the operator table as text. In a template $T is the kernel's type, $A the type it
 * adds products in (f32 for f16 and bf16, else $T), $W the 64-bit integer of its signedness, $S the
 * binary logarithm of its bytes, $B its bytes a block of 256 lanes, $O the operation.
 * Must not know: devices, memory. */
#ifndef HG_TRANSLATORS_OPERATORS_TEMPLATES_H
#define HG_TRANSLATORS_OPERATORS_TEMPLATES_H

static const char template_BINARY[] = ".param r1 a buffer $T in [n]\n"
                                      ".param r2 b buffer $T in [n]\n"
                                      ".param r3 output buffer $T out [n]\n"
                                      ".param r4 n u64\n"
                                      " parallel_map_binary.$T r3, r1, r2, $O, r4\n";

static const char template_MAP[] = ".param r1 input buffer $T in [n]\n"
                                   ".param r2 output buffer $T out [n]\n"
                                   ".param r4 n u64\n"
                                   " parallel_map.$T r2, r1, $O, r4\n";

static const char template_THROUGH_F64[] = ".param r1 input buffer $T in [n]\n"
                                           ".param r2 output buffer $T out [n]\n"
                                           ".param r4 n u64\n"
                                           ".lanes n\n"
                                           " mov_imm.u32 r250, $S\n"
                                           " shl.u64 r0, r255, r250\n"
                                           " ldg.$T r10, [r1 + r0]\n"
                                           " cvt.f64.$T r11, r10\n"
                                           " $O.f64 r11, r11\n"
                                           " cvt.$T.f64 r10, r11\n"
                                           " stg.$T [r2 + r0], r10\n";

static const char template_REDUCE[] = ".param r1 input buffer $T in [n]\n"
                                      ".param r2 output buffer $T out []\n"
                                      ".param r4 n u64\n"
                                      " parallel_reduce.$T [buf(r2)], r1, $O, r4\n";

static const char template_MEAN[] = ".param r1 input buffer $T in [n]\n"
                                    ".param r2 output buffer $T out []\n"
                                    ".param r4 n u64\n"
                                    " parallel_reduce.$T r10, r1, sum, r4\n"
                                    " cvt.$A.$T r11, r10\n"
                                    " cvt.$A.u64 r12, r4\n"
                                    " div.$A r11, r11, r12\n"
                                    " cvt.$T.$A r10, r11\n"
                                    " stg.$T [buf(r2)], r10\n";

/* f16 and bf16: the tree of parallel_reduce with its sum left in f32. A block of 128 accumulators
 * adds a chunk of 4,096 elements. */
static const char template_HALF_MEAN[] = ".param r1 input buffer $T in [n]\n"
                                         ".param r2 output buffer $T out []\n"
                                         ".param r4 n u64\n"
                                         ".scratch r3 sums f32 [ceil(n / 4096)]\n"
                                         ".shared 512\n"
                                         ".block 128\n"
                                         ".grid max(ceil(n / 4096), 1)\n"
                                         " mov_imm.u32 r250, $S\n"
                                         " mov_imm.u32 r251, 2\n"
                                         " mov_imm.u32 r249, 12\n"
                                         " mov_imm.u32 r248, 1\n"
                                         " mov_imm.u64 r20, 128\n"
                                         " mov_imm.u64 r21, 4096\n"
                                         " mov_imm.u64 r22, 0\n"
                                         " cvt.u64.u32 r6, r252\n"
                                         " cvt.u64.u32 r23, r253\n"
                                         " shl.u64 r5, r23, r249\n"
                                         " add.u64 r8, r5, r21\n"
                                         " min.u64 r8, r8, r4\n"
                                         " sub.u64 r13, r8, r5\n"
                                         " add.u64 r7, r5, r6\n"
                                         " mov_imm.f32 r10, 0.0\n"
                                         " setge.u64 p0, r7, r8\n"
                                         " bra.p0 @added\n"
                                         " shl.u64 r0, r7, r250\n"
                                         " ldg.$T r11, [r1 + r0]\n"
                                         " cvt.f32.$T r10, r11\n"
                                         "next:\n"
                                         " add.u64 r7, r7, r20\n"
                                         " setge.u64 p0, r7, r8\n"
                                         " bra.p0 @added\n"
                                         " shl.u64 r0, r7, r250\n"
                                         " ldg.$T r11, [r1 + r0]\n"
                                         " cvt.f32.$T r12, r11\n"
                                         " add.f32 r10, r10, r12\n"
                                         " bra @next\n"
                                         "added:\n"
                                         " shl.u64 r0, r6, r251\n"
                                         " sts.f32 [shared + r0], r10\n"
                                         " mov_imm.u64 r14, 64\n"
                                         "halve:\n"
                                         " bar.sync 0\n"
                                         " add.u64 r15, r6, r14\n"
                                         " setge.u64 p0, r6, r14\n"
                                         " bra.p0 @halved\n"
                                         " setge.u64 p0, r15, r13\n"
                                         " bra.p0 @halved\n"
                                         " shl.u64 r16, r15, r251\n"
                                         " lds.f32 r12, [shared + r16]\n"
                                         " add.f32 r10, r10, r12\n"
                                         " sts.f32 [shared + r0], r10\n"
                                         "halved:\n"
                                         " shr.u64 r14, r14, r248\n"
                                         " setne.u64 p0, r14, r22\n"
                                         " bra.p0 @halve\n"
                                         " setne.u64 p0, r6, r22\n"
                                         " bra.p0 @stored\n"
                                         " setge.u64 p0, r5, r4\n"
                                         " bra.p0 @stored\n"
                                         " shl.u64 r16, r23, r251\n"
                                         " stg.f32 [r3 + r16], r10\n"
                                         "stored:\n"
                                         " mov_imm.u64 r15, 4095\n"
                                         " add.u64 r16, r4, r15\n"
                                         " shr.u64 r16, r16, r249\n"
                                         " parallel_reduce.f32 r10, r3, sum, r16\n"
                                         " setne.u64 p0, r255, r22\n"
                                         " bra.p0 @done\n"
                                         " cvt.f32.u64 r12, r4\n"
                                         " div.f32 r10, r10, r12\n"
                                         " cvt.$T.f32 r11, r10\n"
                                         " stg.$T [buf(r2)], r11\n"
                                         "done:\n"
                                         " exit\n";

/* One block: each lane adds every 256th element, the first lane adds the lanes. */
static const char template_INTEGER_MEAN[] = ".param r1 input buffer $T in [n]\n"
                                            ".param r2 output buffer $T out []\n"
                                            ".param r4 n u64\n"
                                            ".shared 2048\n"
                                            ".block 256\n"
                                            ".lanes 256\n"
                                            " mov_imm.u32 r250, $S\n"
                                            " mov_imm.u32 r251, 3\n"
                                            " mov_imm.u64 r6, 256\n"
                                            " mov_imm.$W r10, 0\n"
                                            " mov.u64 r5, r255\n"
                                            "next:\n"
                                            " setge.u64 p0, r5, r4\n"
                                            " bra.p0 @added\n"
                                            " shl.u64 r0, r5, r250\n"
                                            " ldg.$T r11, [r1 + r0]\n"
                                            " cvt.$W.$T r12, r11\n"
                                            " add.$W r10, r10, r12\n"
                                            " add.u64 r5, r5, r6\n"
                                            " bra @next\n"
                                            "added:\n"
                                            " shl.u64 r0, r255, r251\n"
                                            " sts.$W [shared + r0], r10\n"
                                            " bar.sync 0\n"
                                            " mov_imm.u64 r7, 0\n"
                                            " setne.u64 p0, r255, r7\n"
                                            " bra.p0 @done\n"
                                            " mov_imm.u64 r7, 8\n"
                                            " mov.u64 r0, r7\n"
                                            " mov_imm.u32 r8, 254\n"
                                            "lane:\n"
                                            " lds.$W r12, [shared + r0]\n"
                                            " add.$W r10, r10, r12\n"
                                            " add.u64 r0, r0, r7\n"
                                            " loop r8, @lane\n"
                                            " cvt.$W.u64 r12, r4\n"
                                            " div.$W r10, r10, r12\n"
                                            " cvt.$T.$W r11, r10\n"
                                            " stg.$T [buf(r2)], r11\n"
                                            "done:\n"
                                            " exit\n";

/* One block as above. r10 is the best index so far, n while there is none, r11 its element; shared
 * memory: 256 indices, then 256 elements. */
static const char template_ARGUMENT[] = ".param r1 input buffer $T in [n]\n"
                                        ".param r2 output buffer u64 out []\n"
                                        ".param r4 n u64\n"
                                        ".shared $B\n"
                                        ".block 256\n"
                                        ".lanes 256\n"
                                        " mov_imm.u32 r250, $S\n"
                                        " mov_imm.u32 r251, 3\n"
                                        " mov_imm.u64 r6, 256\n"
                                        " mov.u64 r10, r4\n"
                                        " mov_imm.$T r11, 0\n"
                                        " mov.u64 r5, r255\n"
                                        "next:\n"
                                        " setge.u64 p0, r5, r4\n"
                                        " bra.p0 @found\n"
                                        " shl.u64 r0, r5, r250\n"
                                        " ldg.$T r12, [r1 + r0]\n"
                                        " set$O.$T p1, r12, r11\n"
                                        " bra.p1 @take\n"
                                        " setlt.u64 p2, r10, r4\n"
                                        " bra.p2 @skip\n"
                                        " setne.$T p3, r12, r12\n"
                                        " bra.p3 @skip\n"
                                        "take:\n"
                                        " mov.u64 r10, r5\n"
                                        " mov.$T r11, r12\n"
                                        "skip:\n"
                                        " add.u64 r5, r5, r6\n"
                                        " bra @next\n"
                                        "found:\n"
                                        " shl.u64 r0, r255, r251\n"
                                        " sts.u64 [shared + r0], r10\n"
                                        " shl.u64 r0, r255, r250\n"
                                        " sts.$T [shared + r0 + 2048], r11\n"
                                        " bar.sync 0\n"
                                        " mov_imm.u64 r7, 0\n"
                                        " setne.u64 p0, r255, r7\n"
                                        " bra.p0 @done\n"
                                        " mov_imm.u64 r9, 1\n"
                                        " mov.u64 r7, r9\n"
                                        " mov_imm.u32 r8, 254\n"
                                        "lane:\n"
                                        " shl.u64 r0, r7, r251\n"
                                        " lds.u64 r5, [shared + r0]\n"
                                        " setge.u64 p1, r5, r4\n"
                                        " bra.p1 @worse\n"
                                        " shl.u64 r0, r7, r250\n"
                                        " lds.$T r12, [shared + r0 + 2048]\n"
                                        " setge.u64 p1, r10, r4\n"
                                        " bra.p1 @better\n"
                                        " set$O.$T p1, r12, r11\n"
                                        " bra.p1 @better\n"
                                        " setne.$T p1, r12, r11\n"
                                        " bra.p1 @worse\n"
                                        " setge.u64 p1, r5, r10\n"
                                        " bra.p1 @worse\n"
                                        "better:\n"
                                        " mov.u64 r10, r5\n"
                                        " mov.$T r11, r12\n"
                                        "worse:\n"
                                        " add.u64 r7, r7, r9\n"
                                        " loop r8, @lane\n"
                                        " setlt.u64 p1, r10, r4\n"
                                        " mov_imm.u64 r7, 0\n"
                                        " sel.u64 r10, p1, r10, r7\n"
                                        " stg.u64 [buf(r2)], r10\n"
                                        "done:\n"
                                        " exit\n";

/* The sum over k of a[row, k]·b[k, column] in r20; r250 is the shift. */
#define DOT_PRODUCT            \
    " mov_imm.u32 r250, $S\n"  \
    " div.u64 r10, r255, r5\n" \
    " rem.u64 r13, r255, r5\n" \
    " mul.u64 r12, r10, r6\n"  \
    " mov_imm.$A r20, 0\n"     \
    " mov_imm.u64 r14, 0\n"    \
    " mov_imm.u64 r15, 1\n"    \
    "next:\n"                  \
    " setge.u64 p0, r14, r6\n" \
    " bra.p0 @added\n"         \
    " shl.u64 r0, r12, r250\n" \
    " ldg.$T r21, [r1 + r0]\n" \
    " shl.u64 r0, r13, r250\n" \
    " ldg.$T r22, [r2 + r0]\n" \
    " cvt.$A.$T r23, r21\n"    \
    " cvt.$A.$T r24, r22\n"    \
    " mul.$A r23, r23, r24\n"  \
    " add.$A r20, r20, r23\n"  \
    " add.u64 r12, r12, r15\n" \
    " add.u64 r13, r13, r5\n"  \
    " add.u64 r14, r14, r15\n" \
    " bra @next\n"             \
    "added:\n"                 \
    " shl.u64 r0, r255, r250\n"
#define MATRICES(direction)                        \
    ".param r1 a buffer $T in [m, k]\n"            \
    ".param r2 b buffer $T in [k, n]\n"            \
    ".param r3 c buffer $T " direction " [m, n]\n" \
    ".param r4 m u64\n.param r5 n u64\n.param r6 k u64\n"

static const char template_MATMUL[] = MATRICES("out") ".lanes m * n\n" DOT_PRODUCT
                                                      " cvt.$T.$A r21, r20\n"
                                                      " stg.$T [r3 + r0], r21\n";

static const char template_GEMM[] = MATRICES("inout") ".param r7 alpha $T = 1\n"
                                                      ".param r8 beta $T = 0\n"
                                                      ".lanes m * n\n" DOT_PRODUCT
                                                      " cvt.$A.$T r23, r7\n"
                                                      " mul.$A r20, r20, r23\n"
                                                      " mov_imm.$T r22, 0\n"
                                                      " seteq.$T p0, r8, r22\n"
                                                      " bra.p0 @store\n"
                                                      " ldg.$T r22, [r3 + r0]\n"
                                                      " cvt.$A.$T r23, r8\n"
                                                      " cvt.$A.$T r24, r22\n"
                                                      " mul.$A r23, r23, r24\n"
                                                      " add.$A r20, r20, r23\n"
                                                      "store:\n"
                                                      " cvt.$T.$A r21, r20\n"
                                                      " stg.$T [r3 + r0], r21\n";

/* r30 batch, r31 out channel, r32 and r33 output row and column; r34 channel, r35 and r36 kernel
 * row and column. Rows and columns of the input wrap below 0 to numbers above every extent. */
static const char template_CONV[] =
    ".param r1 input buffer $T in [batch, in_channels, height, width]\n"
    ".param r2 kernel buffer $T in [out_channels, in_channels, kernel_h, kernel_w]\n"
    ".param r3 output buffer $T out [batch, out_channels, out_h, out_w]\n"
    ".param r4 batch u64\n.param r5 in_channels u64\n.param r6 height u64\n.param r7 width u64\n"
    ".param r8 out_channels u64\n.param r9 kernel_h u64\n.param r10 kernel_w u64\n"
    ".param r11 out_h u64\n.param r12 out_w u64\n"
    ".param r13 stride_h u64 = 1\n.param r14 stride_w u64 = 1\n"
    ".param r15 padding_h u64 = 0\n.param r16 padding_w u64 = 0\n"
    ".lanes batch * out_channels * out_h * out_w\n"
    " mov_imm.u32 r250, $S\n"
    " mov_imm.u64 r18, 0\n"
    " mov_imm.u64 r19, 1\n"
    " div.u64 r40, r19, r13\n" /* strides of 0 are the fault */
    " div.u64 r40, r19, r14\n"
    " rem.u64 r33, r255, r12\n"
    " div.u64 r40, r255, r12\n"
    " rem.u64 r32, r40, r11\n"
    " div.u64 r40, r40, r11\n"
    " rem.u64 r31, r40, r8\n"
    " div.u64 r30, r40, r8\n"
    " mul.u64 r32, r32, r13\n"
    " sub.u64 r32, r32, r15\n" /* first input row */
    " mul.u64 r33, r33, r14\n"
    " sub.u64 r33, r33, r16\n"
    " mul.u64 r41, r31, r5\n"
    " mul.u64 r41, r41, r9\n"
    " mul.u64 r41, r41, r10\n" /* element of the kernel */
    " mov_imm.$A r20, 0\n"
    " mov.u64 r34, r18\n"
    "channel:\n"
    " setge.u64 p0, r34, r5\n"
    " bra.p0 @added\n"
    " mov.u64 r35, r18\n"
    "row:\n"
    " setge.u64 p0, r35, r9\n"
    " bra.p0 @channel_done\n"
    " mov.u64 r36, r18\n"
    "column:\n"
    " setge.u64 p0, r36, r10\n"
    " bra.p0 @row_done\n"
    " add.u64 r42, r32, r35\n"
    " setge.u64 p0, r42, r6\n"
    " bra.p0 @column_done\n"
    " add.u64 r43, r33, r36\n"
    " setge.u64 p0, r43, r7\n"
    " bra.p0 @column_done\n"
    " mul.u64 r44, r30, r5\n"
    " add.u64 r44, r44, r34\n"
    " mul.u64 r44, r44, r6\n"
    " add.u64 r44, r44, r42\n"
    " mul.u64 r44, r44, r7\n"
    " add.u64 r44, r44, r43\n"
    " shl.u64 r0, r44, r250\n"
    " ldg.$T r21, [r1 + r0]\n"
    " shl.u64 r0, r41, r250\n"
    " ldg.$T r22, [r2 + r0]\n"
    " cvt.$A.$T r23, r21\n"
    " cvt.$A.$T r24, r22\n"
    " mul.$A r23, r23, r24\n"
    " add.$A r20, r20, r23\n"
    "column_done:\n"
    " add.u64 r41, r41, r19\n"
    " add.u64 r36, r36, r19\n"
    " bra @column\n"
    "row_done:\n"
    " add.u64 r35, r35, r19\n"
    " bra @row\n"
    "channel_done:\n"
    " add.u64 r34, r34, r19\n"
    " bra @channel\n"
    "added:\n"
    " shl.u64 r0, r255, r250\n"
    " cvt.$T.$A r21, r20\n"
    " stg.$T [r3 + r0], r21\n";

static const char template_TRANSPOSE[] = ".param r1 input buffer $T in [rows, columns]\n"
                                         ".param r2 output buffer $T out [columns, rows]\n"
                                         ".param r4 rows u64\n.param r5 columns u64\n"
                                         ".lanes columns * rows\n"
                                         " mov_imm.u32 r250, $S\n"
                                         " rem.u64 r10, r255, r4\n"
                                         " div.u64 r11, r255, r4\n"
                                         " mul.u64 r12, r10, r5\n"
                                         " add.u64 r12, r12, r11\n"
                                         " shl.u64 r0, r12, r250\n"
                                         " ldg.$T r20, [r1 + r0]\n"
                                         " shl.u64 r0, r255, r250\n"
                                         " stg.$T [r2 + r0], r20\n";

static const char template_RESHAPE[] = ".param r1 input buffer $T in\n"
                                       ".param r2 output buffer $T out\n"
                                       ".param r4 n u64\n"
                                       ".lanes n\n"
                                       " mov_imm.u32 r250, $S\n"
                                       " shl.u64 r0, r255, r250\n"
                                       " ldg.$T r20, [r1 + r0]\n"
                                       " stg.$T [r2 + r0], r20\n";

/* r10 row, r11 column of the whole; r12 element of a, r13 column in b, r14 element of b. */
#define TWO_PARTS               \
    " mov_imm.u32 r250, $S\n"   \
    " div.u64 r10, r255, r7\n"  \
    " rem.u64 r11, r255, r7\n"  \
    " mul.u64 r12, r10, r5\n"   \
    " add.u64 r12, r12, r11\n"  \
    " sub.u64 r13, r11, r5\n"   \
    " mul.u64 r14, r10, r6\n"   \
    " add.u64 r14, r14, r13\n"  \
    " shl.u64 r0, r255, r250\n" \
    " shl.u64 r15, r12, r250\n" \
    " shl.u64 r16, r14, r250\n"
#define PART_SIZES                                                                             \
    ".param r4 rows u64\n.param r5 a_columns u64\n.param r6 b_columns u64\n.param r7 columns " \
    "u64\n.lanes rows * columns\n"

static const char template_CONCAT[] =
    ".param r1 a buffer $T in [rows, a_columns]\n"
    ".param r2 b buffer $T in [rows, b_columns]\n"
    ".param r3 output buffer $T out [rows, columns]\n" PART_SIZES TWO_PARTS
    " setge.u64 p0, r11, r5\n"
    " bra.p0 @second\n"
    " ldg.$T r20, [r1 + r15]\n"
    " stg.$T [r3 + r0], r20\n"
    " exit\n"
    "second:\n"
    " setge.u64 p0, r13, r6\n"
    " bra.p0 @done\n"
    " ldg.$T r20, [r2 + r16]\n"
    " stg.$T [r3 + r0], r20\n"
    "done:\n"
    " exit\n";

static const char template_SPLIT[] =
    ".param r3 input buffer $T in [rows, columns]\n"
    ".param r1 a buffer $T out [rows, a_columns]\n"
    ".param r2 b buffer $T out [rows, b_columns]\n" PART_SIZES TWO_PARTS " ldg.$T r20, [r3 + r0]\n"
    " setge.u64 p0, r11, r5\n"
    " bra.p0 @second\n"
    " stg.$T [r1 + r15], r20\n"
    " exit\n"
    "second:\n"
    " setge.u64 p0, r13, r6\n"
    " bra.p0 @done\n"
    " stg.$T [r2 + r16], r20\n"
    "done:\n"
    " exit\n";

#endif

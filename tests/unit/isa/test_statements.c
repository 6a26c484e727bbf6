/* Statements (language.md 2.7): what small programs give, and what wrong ones are told. Random ones
 * are in test_statements_random.
 *
 *     test_statements [--print]     --print: the rows of statement_messages.inc as they are now */
#include "support/runtime_support.h"

#include <string.h>

enum { ELEMENTS = 12 };
#define HEAD                                                                                       \
    PROGRAM(".param x buffer i32 in [n]\n.param y buffer i32 inout [n]\n.param n u64\n"            \
            ".param f buffer f32 in [n]\n.param c i32\n.param one f32\n.const K = 6\n.reg r f32\n" \
            ".reg a[3] i32\n")

/* x is 0, 10, 20, …, f half of it, y zeros, c 3, one 1.0. */
static void gives(hg_backend *b, const char *body, const int32_t *expected, size_t count) {
    char text[4096];
    int32_t x[ELEMENTS], y[ELEMENTS] = {0}, c = 3;
    float f[ELEMENTS], one = 1;
    for (int i = 0; i < ELEMENTS; i++) x[i] = i * 10, f[i] = (float)i * 0.5f;
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    hg_buffer bx = make_buffer(b, x, sizeof x), by = make_buffer(b, y, sizeof y),
              bf = make_buffer(b, f, sizeof f);
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_params_set_buffer(params, "f", bf));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &(uint64_t){ELEMENTS}));
    CHECK_OK(hg_params_set_scalar(params, "c", HG_TYPE_I32, &c));
    CHECK_OK(hg_params_set_scalar(params, "one", HG_TYPE_F32, &one));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, by, y, sizeof y));
    for (size_t i = 0; i < count; i++)
        CHECK_MESSAGE(y[i] == expected[i], "y[%zu] = %d, expected %d, of\n%s", i, (int)y[i],
                      (int)expected[i], body);
    hg_params_destroy(params);
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    CHECK_OK(hg_backend_free_buffer(b, bf));
    hg_program_release(p);
}
#define GIVES(body, ...)                                              \
    do {                                                              \
        const int32_t expected[] = {__VA_ARGS__};                     \
        gives(b, body, expected, sizeof expected / sizeof *expected); \
    } while (0)

static void test_expressions(hg_backend *b) {
    GIVES("y[0] = 2 + c * 4 - 1\ny[1] = (2 + c) * 4\ny[2] = c << 2 | 1\ny[3] = -c - -5\n", 13, 20,
          13, 2);
    GIVES("y[0] = c > 2 ? 7 : 8\ny[1] = c == 4 ? 7 : c == 3 ? 9 : 11\ny[2] = ~c & 0xff\n", 7, 9,
          252);
    GIVES("y[0] = i32(f[3] * 10)\ny[1] = i32(u8(c + 255))\ny[2] = i32(c > 2) + i32(c > 3)\n", 15, 2,
          1);
    GIVES("y[0] = K / 4 * 4 + c\ny[1] = i32(one * (K / 4.0) * 10)\ny[2] = max(K, 9) + min(c, 2)\n",
          7, 15, 11);
    GIVES("let t = x[2] +\n    (x[1] *\n     c)\ny[0] = t\n", 50);
    GIVES("let i = lane + 2\ny[i] = x[i + 1]\nlet w = global + i\ny[w + 1] = i32(w)\n", 0, 0, 30,
          2);
    GIVES("y[c - 1] = x[c]\ny[i16(c)] += 4\ny[c] *= 5\ny[c] -= 1\n", 0, 0, 30, 19);
    GIVES("let s, over = addc(u32(0xffffffff), u32(c))\ny[0] = i32(s)\ny[1] = i32(over)\n", 2, 1);
    GIVES("let i = 0\nlet on = c == 3\nwhile grid.any(on) {\n    i += 1\n    on = i < 4\n}\ny[0] = "
          "i\n"
          "y[1] = i32(grid.all(c == 3)) + i32(grid.all(c == 4))\n",
          4, 1);
    GIVES(".scratch grid_flag u32 [2]\nlet p = grid.any(c == 3) && grid.any(c == 4, grid_flag[1])\n"
          "y[0] = i32(p) + 5\n",
          5);
    GIVES("let old = atom.add(y[1], 5)\ny[0] = old + atom.max(y[1], 9)\n", 5, 9);
    GIVES("y[0] = i32(fma(f[2], 2, 0.5) * 2)\ny[1] = i32(popc(u32(0xf0f)))\ny[2] = rotl(c, 31)\n",
          5, 8, -2147483647);
    GIVES("r = 2.5\na[0] = c\na[K - 4] = a[0] * 2\ny[0] = i32(r * 2)\ny[1] = a[2]\n", 5, 6);
    GIVES("let p = c > 2\nlet q = !p || c == 0\ny[0] = p ? 1 : 0\ny[1] = q ? 1 : 0\n", 1, 0);
    GIVES("let p = 1 == 1\ny[0] = i32(p)\ny[1] = 3 > 4 ? c : 5\ny[2] = 4 > 3 ? c : x[99]\n", 1, 5,
          3);
}

/* What is not asked for is not worked out: it would fault, or change memory. */
static void test_sides(hg_backend *b) {
    GIVES("if c > 3 && x[c * 1000] > 0 {\n y[0] = 1\n} else {\n y[0] = 2\n}\n", 2);
    GIVES("y[0] = c == 3 || x[c * 1000] > 0 ? 5 : 6\n", 5);
    GIVES("y[0] = c == 3 ? c : 1 / (c - 3)\n", 3);
    GIVES("let k = c == 3 ? c : atom.add(y[5], 1)\ny[0] = k\n", 3, 0, 0, 0, 0, 0);
    GIVES("let k = c != 3 ? c : atom.add(y[5], 1) + 7\ny[0] = k\n", 7, 0, 0, 0, 0, 1);
    GIVES("let p = c > 2\np = p && (atom.add(y[1], 1) == 9 || p)\ny[0] = i32(p)\n", 1, 1);
}

static void test_flow(hg_backend *b) {
    GIVES("for i in 0 .. 4 {\n y[i] = i * 2\n}\n", 0, 2, 4, 6);
    GIVES("let at = 0\nfor i in reversed 0 .. 10 step 4 {\n y[at] = i\n at += 1\n}\n", 8, 4, 0);
    GIVES("let at = 0\nfor i in 10 .. 0 step -c {\n y[at] = i\n at += 1\n}\n", 10, 7, 4, 1, 0);
    GIVES("let at = 0\nfor i in u8(250) .. 255 step 2 {\n y[at] = i32(i)\n at += 1\n}\n", 250, 252,
          254, 0);
    /* by one, from the least value of a type to its greatest, while the text writes the bounds */
    GIVES("let low = u8(c - 3)\nlet high = u8(c + 252)\nlet to = high\n"
          "for i in low .. to {\n to = 0\n y[0] += i32(i)\n}\n"
          "for i in reversed low .. high {\n y[1] = y[1] * 3 + i32(i)\n}\n"
          "for i in high .. low step -1 {\n y[2] += i32(i)\n}\n"
          "for i in i8(low - 128) .. i8(high - 128) {\n y[3] = y[3] * 3 + i32(i)\n}\n"
          "for i in reversed high .. low step -1 {\n y[4] = y[4] * 3 + i32(i)\n}\n"
          "for i in high .. low {\n y[5] = 1\n}\nfor i in low .. low step -1 {\n y[5] = 1\n}\n",
          32385, -271301333, 32640, -1490043221, -1043579776, 0);
    GIVES("for i in 5 .. c {\n y[i] = 1\n}\ny[0] = 1\n", 1, 0, 0, 0, 0, 0);
    /* conditions with sides that would be faults */
    GIVES("if c > 5 && y[-1] == 0 {\n y[0] = 1\n} else {\n y[0] = 2\n}\n"
          "if c < 5 || y[-1] == 0 {\n y[1] = 3\n}\n"
          "if (c > 5 && y[-1] == 0) || (c == 3 && y[2] == 0) {\n y[2] = 5\n}\n"
          "if !(c < 5 || y[-1] == 0) {\n y[3] = 1\n} else {\n y[3] = 7\n}\nlet k = 0\n"
          "while (k < 3 && y[k] >= 0 && k != 2) || y[k] == 99 {\n k += 1\n}\ny[4] = k\n"
          "loop {\n k += 1\n if k > 4 && y[k - 5] != 100 {\n  break\n }\n}\ny[5] = k\n",
          2, 3, 5, 7, 2, 5);
    GIVES("let k = 0\nwhile k < 8 {\n k += c\n if k == 6 {\n  continue\n }\n y[k] = 1\n}\n"
          "y[0] = k\n",
          9);
    GIVES("let k = 0\nloop {\n k += 1\n if k == 2 {\n  continue\n } else if k > 4 {\n  break\n }\n"
          " y[k] = k\n}\n",
          0, 1, 0, 3, 4, 0);
    GIVES(
        "for i in 0 .. 3 {\n for j in 0 .. 3 {\n  if j > i {\n   break\n  }\n  y[i] += 1\n }\n}\n",
        1, 2, 3);
    GIVES("if c == 1 {\n y[0] = 1\n} else if c == 2 {\n y[0] = 2\n} else if c == 3 {\n y[0] = 3\n"
          "} else {\n y[0] = 4\n}\n",
          3);
    GIVES("y[0] = 1\nif c == 3 {\n return\n}\ny[0] = 2\n", 1);
    GIVES("if K == 6 {\n y[0] = 1\n} else {\n y[0] = 2\n}\nif K > 6 {\n y[1] = 1\n} else if c == 3 "
          "{\n y[1] = 2\n}\n",
          1, 2);
}

/* Arrays of the block and of the lane; loads that widen, stores that narrow, bit patterns. */
static void test_memory(hg_backend *b) {
    GIVES(".shared 20\n.shared s i32 [2, 3]\n.private q u8 [K]\n.shared t u8 [5]\ns[4] = c\n"
          "q[2] = u8(c + 254)\ny[0] = s[4] + i32(q[2])\nt[4] = u8(s[4])\ny[1] = i32(t[c + 1])\n"
          " lds a[0], [s[4]]\n lds a[1], [shared + 48]\ny[2] = a[0] + a[1]\ny[3] = s[0]\n",
          4, 3, 6, 0);
    GIVES("y[0] = i32(bits.u32(one) >> 20)\ny[1] = i32(bits.f32(u32(0x40400000)))\n", 1016, 3);
    GIVES(".private q i16 [K]\nq[1] = -3\ny[0] = i32(i64(i32(q[1])) + 1)\n", -2); /* widens once */
    hg_program *p = assemble(PROGRAM(".param b buffer u8 inout [n]\n.param f buffer f16 inout [n]\n"
                                     ".param n u64\n.lanes n\n.private 4\n.private q u8 [3]\n"
                                     "b[global] = u8(u32(b[global]) + 1)\n"
                                     "f[global] = f16(f32(f[global]) * 2)\nq[1] = u8(lane)\n"));
    prints(p, PROGRAM(".param r0 b buffer u8 inout [n]\n.param r1 f buffer f16 inout [n]\n"
                      ".param r2 n u64\n.private 19\n.lanes n\n.meta private.q \"u8[3] at 16\"\n"
                      ".name r0 \"b\", 13\n.name r1 \"f\", 13\n"
                      "    axis.u64 r2, r255, [buf(r0)], 0\n    ldg.u32.u8 r2, [r0 + r2]\n"
                      "    mov_imm.u32 r3, 1\n    add.u32 r2, r2, r3\n"
                      "    axis.u64 r3, r255, [buf(r0)], 0\n    stg.u8.u32 [r0 + r3], r2\n"
                      "    axis.u64 r2, r255, [buf(r1)], 0\n    ldg.f32.f16 r2, [r1 + r2*2]\n"
                      "    mov_imm.f32 r3, 2.0\n    mul.f32 r2, r2, r3\n"
                      "    axis.u64 r3, r255, [buf(r1)], 0\n    stg.f16.f32 [r1 + r3*2], r2\n"
                      "    stp.u8.u32 [private + 17], r252\n"));
    hg_program_release(p);
}

/* Functions with arguments and results (language.md 2.8). */
static void test_functions(hg_backend *b) {
    GIVES("fn mix(p i32, q i32) -> i32 {\n return p * 10 + q\n}\ny[0] = mix(c, 4)\n"
          "y[1] = mix(mix(1, 2), mix(c, mix(0, 5)))\n",
          34, 155);
    GIVES(
        "let q, s = split(x[3], 7)\ny[0] = q\ny[1] = s\ns, q = split(100, c)\ny[2] = s\ny[3] = q\n"
        "y[split(4, 1)] += split(9, 2)\n"
        "fn split(p i32, d i32) -> i32, i32 {\n return p / d, p % d\n}\n",
        4, 2, 33, 1, 4);
    GIVES("fn most[T](p T, q T) -> T {\n let m T = p\n if q > m {\n  m = q\n }\n return m\n}\n"
          "y[0] = most(c, 7)\ny[1] = i32(most(one, 0.5) * 10)\ny[2] = i32(most(global, lane + 9))\n"
          "y[3] = i32(most(u8(3), 2)) + most(1, 2)\n",
          7, 10, 9, 5);
    GIVES("fn put(at i32, v i32) {\n if at > K {\n  return\n }\n y[at] = v\n}\nput(1, c)\n"
          "put(9, 1)\nput(2,\n    5)\n",
          0, 3, 5);
    GIVES("fn find(v i32) -> i32 {\n for i in 0 .. 12 {\n  if x[i] == v {\n   return i\n  }\n }\n"
          " return -1\n}\ny[0] = find(70)\ny[1] = find(5)\n",
          7, -1);
    GIVES("fn odd(v i32) -> pred {\n return v % 2 == 1\n}\ny[0] = odd(c) && !odd(4) ? 1 : 2\n"
          "if odd(c + 1) || odd(c) {\n y[1] = 1\n}\nlet k = c\nwhile !odd(k / 2) {\n k += 1\n}\n"
          "y[2] = k\n",
          1, 1, 3);
    GIVES("fn twice(v i32) -> i32 {\n let c = v + c\n v += c\n return v\n}\nlet v = 1\n"
          "y[0] = twice(v) + v\ny[1] = twice(y[0]) - twice(2)\n",
          6, 8);
    GIVES(".macro step v\n y[0] = add(y[0], v)\n.end\nfn add(p i32, q i32) -> i32 {\n let t = p\n"
          " .rept 2\n t += q\n .end\n return t\n}\nfn run() {\n step 3\n step c\n}\nrun()\n",
          12);
    GIVES("fn low(v u32) -> u32 {\n let t = popc(v)\n bra @end\n t = 0\nend:\n return t\n}\n"
          "y[0] = i32(low(7)) + i32(low(u32(c)))\nend: y[1] = 1\n",
          5, 1);
    GIVES("fn wide(v u64, w u64) -> u64 {\n return v + w\n}\ny[0] = i32(wide(lane + 2, 5))\n", 7);
    GIVES("if c == 3 {\n let k = inner(c)\n y[0] = k + inner(1)\n}\ny[1] = inner(5)\n"
          "fn inner(v i32) -> i32 {\n return v + 1\n}\n",
          6, 6);
    GIVES(".shared s i32 [2, 3]\n.shared z i32 [2, 3]\n.private q i32 [4]\nfill(s, 7)\nfill(z, c)\n"
          "keep(q, 1)\ny[0] = s[5] + z[5]\ny[1] = q[3] + q[0]\ny[2] = last(s) - last(z)\n"
          "fn fill(t shared i32 [2, 3], v i32) {\n for i in 0 .. 6 {\n  put(t, i, v)\n }\n}\n"
          "fn put(u shared i32 [2, 3], at i32, v i32) {\n u[at] = v\n}\n"
          "fn keep(s private i32 [4], v i32) {\n s[3] = v\n s[0] = z[1]\n}\n"
          "fn last[T](s shared T [2, 3]) -> T {\n return s[5]\n}\n",
          10, 4, 4);
    GIVES(".macro fn v\n mov r20, v\n stg.i32 [y[0]], r20\n.end\n fn c\nfn: y[1] = 1\nsetne.i32 "
          "p0, c, c\n bra.p0 @fn\n",
          3, 1);
    GIVES(".reg fn i32\nfn = c\nfn += 1\ny[0] = fn\n", 4);
}

/* An index for each axis; one counts in row order. Each axis is checked, and nothing else is. */
static void test_axes(hg_backend *b) {
    GIVES(".shared s i32 [2, 3]\n.private q i32 [K / 2, 2]\n.data t i32 [2, 2] 5, 6, 7, 8\n"
          "s[1, 2] = 4\ns[c - 2, c - 2] += 9\ny[0] = s[5] + s[1, 1]\nq[i8(2), n - 11] = c\n"
          "y[1] = q[5] + q[2, 1]\ny[2] = t[c - 2, 0] + t[c]\n"
          "y[3] = atom.add(s[1, c - 1], 3) + s[1, 2]\n",
          13, 6, 15, 11);
    hg_program *p = assemble(
        PROGRAM(".param x buffer u8 inout [h, 2, 3]\n.param h u32\n.param d buffer f32 in\n"
                ".shared s f32 [4]\nlet i = i16(h)\nx[i, 1, 2] += u8(h)\ns[h] = d[h]\n"));
    prints(p, PROGRAM(".param r0 x buffer u8 inout [h, 2, 3]\n.param r1 h u32\n"
                      ".param r2 d buffer f32 in\n.shared 16\n.meta shared.s \"f32[4] at 0\"\n"
                      ".name r2 \"d\", 11\n.name r1 \"h\", 12\n.name r0 \"x\", 13\n"
                      "    cvt.i16.u32 r3, r1\n.name r3 \"i\", 1\n"
                      "    axis.i16 r3, r3, [buf(r0)], 0\n    mov_imm.u32 r4, 1\n"
                      "    axis.u32 r3, r3, r4, [buf(r0)], 1\n    mov_imm.u32 r4, 2\n"
                      "    axis.u32 r3, r3, r4, [buf(r0)], 2\n    ldg.u8 r4, [r0 + r3]\n"
                      "    cvt.u8.u32 r5, r1\n    add.u8 r4, r4, r5\n    stg.u8 [r0 + r3], r4\n"
                      "    ldg.f32 r2, [r2 + r1*4]\n"
                      "    axis.u32 r1, r1, [shared + 0], 0, extent=4\n"
                      "    sts.f32 [shared + r1*4], r2\n"));
    hg_program_release(p);
}

/* .lanes [i < rows, j < cols]: coordinates in row order. */
static void test_lanes(hg_backend *b) {
    GIVES(".lanes [i < 3, j < 4]\ny[j * 3 + i] = i32(i * 10 + j)\n", 0, 10, 20, 1, 11, 21, 2, 12,
          22, 3, 13, 23);
    GIVES(".lanes [i < 2, j < ceil(n / 8), k < n / 4]\ny[global] = i32(i * 100 + j * 10 + k)\n", 0,
          1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112);
    GIVES(".lanes [i < max(m, 2) + 1 - 1, j < min(ceil(2 * m / 4), n) * K / 3]\n.param m u32 = 3\n"
          ".reg k u64\n mul k, i, 10\n add k, k, j\ny[i * 4 + j] = i32(k)\n",
          0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23);
    GIVES(".lanes [i < n]\ny[i] = i32(i) + c\n", 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    GIVES(".lanes [i < 1, j < 2, k < K]\ny[global] = i32(j)\n", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1);
    GIVES(".lanes [i < 1, j < 1, k < 2, l < 1, m < 2, o < 1, p < 3, q < 1]\n"
          "fn at(k u64, m u64, p u64) -> u64 {\n return (k * 2 + m) * 3 + p\n}\n"
          ".macro put v\n y[at(k, m, p)] = i32(v)\n.end\n put k * 100 + m * 10 + p + q + o + l\n",
          0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112);
    GIVES(".lanes [i < 3, j < 4]\nagain: if i < 3 {\n let i = j\n y[global] += i32(i)\n}\n"
          "if y[global] == 1 {\n bra @again\n}\n",
          0, 2, 2, 3, 0, 2, 2, 3, 0, 2, 2, 3);
    hg_program *p = assemble(PROGRAM(".lanes [i < h, j < w, k < 4]\n.param x buffer u64 inout [n]\n"
                                     ".param h u64\n.param w u32\n.param n u64\nx[0] = j\n"));
    prints(p, PROGRAM(".param r0 x buffer u64 inout [n]\n.param r1 h u64\n.param r2 w u32\n"
                      ".param r3 n u64\n.lanes h * w * 4\n.name r2 \"w\", 3\n.name r0 \"x\", 7\n"
                      "    mov_imm.u64 r1, 4\n    div.u64 r1, r255, r1\n"
                      "    cvt.u64.u32 r2, r2\n    rem.u64 r1, r1, r2\n.name r1 \"j\", 3\n"
                      "    mov_imm.u32 r2, 0\n    axis.u32 r2, r2, [buf(r0)], 0\n"
                      "    stg.u64 [r0 + r2*8], r1\n"));
    hg_program_release(p);
}

/* Instructions, labels, macros and repetitions beside statements. */
static void test_beside(hg_backend *b) {
    GIVES("let t = c + 1\n mul t, t, 10\n stg [y[0]], t\n", 40);
    GIVES("let p = c == 3\n bra.p @on\ny[0] = 1\non: y[1] = 2\n", 0, 2);
    GIVES(
        ".macro square d, v\n let t = v\n d = t * t\n.end\nlet t = 2\n square t, c\n square y[1], "
        "t + 1\ny[0] = t\n",
        9, 100);
    GIVES(".for k, 0, 3\n let t = c * k\n y[k] = t\n if t > 3 {\n  y[k] += 100\n }\n.end\n", 0, 3,
          106);
    GIVES("let t = 1\nif c == 3 {\n let t = t + 1\n y[0] = t\n}\ny[1] = t\n", 2, 1);
    GIVES("if c == 3 {\n bra @skip\n y[0] = 1\nskip:\n y[1] = 1\n}\nif c == 3 {\nskip:\n y[2] = "
          "1\n}\n",
          0, 1, 1);
    GIVES(".reg for, in, step i32\n mov for, 2\nin = for + 1\nstep = in\ny[0] = step\n", 3);
    GIVES(".macro let v\n mov r20, v\n stg.i32 [y[0]], r20\n.end\n let c\n", 3);
    GIVES("loop: y[0] = 1\n", 1);
}

static hg_status resolve_library(void *user, const char *from, const char *name,
                                 hg_source *source) {
    static const char TEXT[] = ".atlas 1\nfn twice(v u32) -> u32 {\n return plus(v, v)\n}\n"
                               "fn plus(a u32, b u32) -> u32 {\n return a + b\n}\n"
                               "fn wrong(a u32) -> u32 {\n return a + 1.5\n}\n";
    (void)user, (void)from, (void)name;
    source->name = "lib.atlas";
    source->bytes = TEXT;
    source->length = sizeof TEXT - 1;
    return HG_OK;
}

/* Functions of an included file, of several programs in one text, and where their mistakes are. */
static void test_function_texts(void) {
    static const char TEXT[] = ".atlas 1\n.include \"lib.atlas\"\nfn both(v u32) -> u32 {\n"
                               " return twice(v)\n}\n.program one\n.param y buffer u32 inout [n]\n"
                               ".param n u64\ny[0] = both(1) + only(2)\nfn only(v u32) -> u32 {\n"
                               " return v\n}\n.program two\n.param y buffer u32 inout [n]\n"
                               ".param n u64\ny[0] = both(1) + only(2)\nfn only(v u32) -> u32 {\n"
                               " return wrong(v)\n}\n";
    hg_assemble_options options = {.size = sizeof options, .resolve = resolve_library};
    for (int i = 0; i < 2; i++) {
        hg_program *p = NULL;
        hg_diagnostics *d = hg_diagnostics_create(0);
        options.program = i ? "two" : "one";
        hg_status status = hg_program_assemble_with(TEXT, strlen(TEXT), &options, d, &p);
        CHECK(status == (i ? HG_ERROR_ISA : HG_OK));
        CHECK_U64(hg_diagnostics_count(d), (uint64_t)i);
        if (i && hg_diagnostics_count(d)) {
            char *said = hg_diagnostics_print(d, "text", TEXT, strlen(TEXT));
            static const char EXPECTED[] =
                "lib.atlas:9:13: error[V03]: type mismatch: '1.5' is a real number, the "
                "other operand is u32\n    9 |  return a + 1.5\n      |             "
                "^~~\n   in function 'wrong', first called at 18:9; in function "
                "'only', first called at 16:18\n   hint: an integer may become a float, "
                "a real number no integer\ntext: 1 error\n";
            CHECK_MESSAGE(strcmp(said, EXPECTED) == 0, "%s", said);
            hg_string_free(said);
        }
        hg_diagnostics_destroy(d);
        hg_program_release(p);
    }
}

/* ---- messages ---- */

static void say(const char *body, char *said, size_t room) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s", HEAD, body);
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    if (hg_program_assemble(text, strlen(text), d, &p) == HG_OK) (void)!hg_program_verify(p, d);
    said[0] = 0;
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        size_t length = strlen(said);
        snprintf(said + length, room - length, "%s%u:%u %s %s%s%s", length ? "\n" : "",
                 (unsigned)g->line - 11, (unsigned)g->column, g->code, g->message,
                 g->hint ? " // " : "", g->hint ? g->hint : "");
    }
    hg_diagnostics_destroy(d);
    hg_program_release(p);
}

static void write_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if (*text == '\n')
            printf("\\n");
        else
            putchar(*text);
    }
    putchar('"');
}

/* print: as rows of the file, to be read before they are kept. */
static void test_messages(bool print) {
    static const struct {
        const char *body, *said;
    } cases[] = {
#include "statement_messages.inc"
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[2048];
        say(cases[i].body, said, sizeof said);
        if (!print)
            CHECK_MESSAGE(strcmp(said, cases[i].said) == 0, "\n%s--- expected\n%s\n--- got\n%s",
                          cases[i].body, cases[i].said, said);
        if (!print) continue;
        putchar('{');
        write_string(cases[i].body);
        printf(",\n ");
        write_string(said);
        printf("},\n");
    }
}

/* ---- failing allocations ---- */

static void test_failing_allocations(void) {
    static const char TEXT[] = HEAD
        ".shared s i32 [4]\n.private q u8 [3]\n.lanes [i2 < n, j2 < 3]\nlet t = c + i32(j2)\n"
        "for i in 0 .. t step -c {\n"
        " q[i] = u8(i)\n if t > 1 && x[i] == 2 || one > 0.5 {\n  t = t == 1 ? x[t] : min(t, 4)\n"
        " } else {\n  let s2, over = addc(t, 1)\n }\n}\nwhile t < 3 {\n t += 1\n}\n"
        "let q2, q3 = pair(t, 2)\nlet w = pair(2, u8(q2)) + 1\n"
        "fn pair[T](p T, v u8) -> T, u8 {\n return p + p, v\n}\n";
    failing_allocator memory = {0};
    hg_allocator allocator = {.size = sizeof allocator,
                              .user = &memory,
                              .reallocate = failing_reallocate,
                              .release = failing_release};
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    uint64_t n = 0;
    for (; status == HG_ERROR_OUT_OF_MEMORY && n < 10000; n++) {
        hg_program *p = NULL;
        CHECK(hg_set_allocator(&allocator) == HG_OK);
        allow_allocations(&memory, n);
        status = hg_program_assemble(TEXT, strlen(TEXT), NULL, &p);
        CHECK(status == HG_OK ? p != NULL : status == HG_ERROR_OUT_OF_MEMORY && !p);
        hg_program_release(p);
        CHECK(hg_set_allocator(NULL) == HG_OK);
    }
    CHECK_U64(memory.live, 0);
    CHECK_MESSAGE(status == HG_OK && n > 10, "%s after %d allocations", hg_last_error_text(),
                  (int)n);
}

int main(int argc, char **argv) {
    bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
    hg_backend *b = print ? NULL : open_backend("cpu");
    if (b) {
        test_expressions(b);
        test_sides(b);
        test_flow(b);
        test_beside(b);
        test_memory(b);
        test_functions(b);
        test_axes(b);
        test_lanes(b);
        hg_backend_destroy(b);
    }
    if (!print) test_failing_allocations();
    if (!print) test_function_texts();
    test_messages(print);
    return print ? 0 : test_done();
}

/* Kernels whose places are rows in most turns: sums that wrap, quotients, remainders, lanes that
 * exchange elements; as native code, against the numbers calculated here. test_vector_places
 * [BYTES:LANES:COMPILER]     as differential --vectors
 * test: labels=slow */
#include "support/c_vectors.h"
#include "support/runtime_support.h"
#include <string.h>

enum { LANES = 1003, PLACES = 65536 };

/* A lane's place, from its number and n: as text that leaves it in t (u32), and as a function.
 * `distinct`: no two lanes share one. */
typedef struct pattern {
    const char *text;
    uint32_t (*place)(uint32_t i, uint32_t n);
    bool distinct;
    bool wide; /* t is u64 */
} pattern;

static uint32_t lane(uint32_t i, uint32_t n) { return i + 0 * n; }
static uint32_t thrice(uint32_t i, uint32_t n) { return 3 * i + n; }
static uint32_t by_rows(uint32_t i, uint32_t n) { return i / n * 3 + i % n; }
static uint32_t quotient(uint32_t i, uint32_t n) { return i / n; }
static uint32_t remainder_of(uint32_t i, uint32_t n) { return i % n + n; }
static uint32_t of_threes(uint32_t i, uint32_t n) { return 3 * i % n; }
static uint32_t wrapped(uint32_t i, uint32_t n) { return (uint16_t)(i + 65536 - n); }
static uint32_t exchanged(uint32_t i, uint32_t n) { return i ^ n; }
static uint32_t shifted_exchange(uint32_t i, uint32_t n) { return ((i + 3) ^ n) + n; }
static uint32_t masked(uint32_t i, uint32_t n) { return (i >> 5) * 32 + (i & 31) + n; }
static uint32_t small_mask(uint32_t i, uint32_t n) { return (i & 3) * 256 + (i >> 2) + 0 * n; }

static const pattern PATTERNS[] = {
    {" mov t, i\n", lane, true, false},
    {" mul t, i, 3\n add t, t, n\n", thrice, true, false},
    {" div t, i, n\n mul t, t, 3\n rem q, i, n\n add t, t, q\n", by_rows, false, false},
    {" div t, i, n\n", quotient, false, false},
    {" rem t, i, n\n add t, t, n\n", remainder_of, false, false},
    {" mul t, i, 3\n rem t, t, n\n", of_threes, false, false},
    {" cvt s, i\n cvt r, n\n sub s, s, r\n cvt t, s\n", wrapped, true, false},
    {" xor t, i, n\n", exchanged, true, false},
    {" cvt w, n\n xor t, global, w\n", exchanged, true, true},
    {" cvt w, n\n add t, global, 3\n xor t, t, w\n add t, t, w\n", shifted_exchange, true, true},
    {" add t, i, 3\n xor t, t, n\n add t, t, n\n", shifted_exchange, true, false},
    {" shr t, i, 5\n mul t, t, 32\n and q, i, 31\n add t, t, q\n add t, t, n\n", masked, true,
     false},
    {" and t, i, 3\n mul t, t, 256\n shr q, i, 2\n add t, t, q\n", small_mask, true, false},
};

static const char *const TYPES[] = {"u16", "u32", "u64"};

/* Reads x there, and where lanes are apart writes y there and only lanes without the lowest bit of
 * n. */
static hg_program *program_of(const pattern *p, const char *type) {
    char text[1024];
    snprintf(text, sizeof text,
             ".atlas 1\n.program places\n.param x buffer %s in\n.param y buffer %s inout\n.param z "
             "buffer %s inout\n.param n u32\n.lanes %d\n"
             ".reg i, q u32\n.reg t %s\n.reg w u64\n.reg s, r u16\n.reg v %s\n cvt i, global\n%s "
             "ldg v, [x[t]]\n stg [y[global]], v\n and q, n, "
             "i\n%s"
             " stg [z[%s]], v\nend:\n",
             type, type, type, LANES, p->wide ? "u64" : "u32", type, p->text,
             p->distinct ? " bra.ne q, 0, @end\n" : "", p->distinct ? "t" : "global");
    return assemble(text);
}

static uint64_t element(const uint8_t *at, uint32_t bytes, uint32_t i) {
    uint64_t e = 0;
    memcpy(&e, at + (size_t)i * bytes, bytes);
    return e;
}

static void check(hg_backend *b, hg_program *program, const pattern *p, uint32_t bytes,
                  uint32_t n) {
    static uint8_t x[PLACES * 8], y[PLACES * 8], z[PLACES * 8];
    uint32_t places = LANES;
    for (uint32_t i = 0; i < LANES; i++)
        places = p->place(i, n) >= places ? p->place(i, n) + 1 : places;
    if (places > PLACES) return;
    for (uint32_t i = 0; i < places * bytes; i++) {
        x[i] = (uint8_t)(i * 167 + i / 251 + 1);
        y[i] = z[i] = 0xee;
    }
    hg_buffer buffers[] = {make_buffer(b, x, (uint64_t)places * bytes),
                           make_buffer(b, y, (uint64_t)places * bytes),
                           make_buffer(b, z, (uint64_t)places * bytes)};
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "x", buffers[0]));
    CHECK_OK(hg_params_set_buffer(params, "y", buffers[1]));
    CHECK_OK(hg_params_set_buffer(params, "z", buffers[2]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U32, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, (uint64_t)places * bytes));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[2], z, (uint64_t)places * bytes));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t t = p->place(i, n);
        bool writes = !p->distinct || (n & i) == 0;
        uint64_t there = element(z, bytes, p->distinct ? t : i),
                 untouched = UINT64_C(0xeeeeeeeeeeeeeeee) >> (64 - 8 * bytes);
        wrong += element(y, bytes, i) != element(x, bytes, t) ||
                 there != (writes ? element(x, bytes, t) : untouched);
    }
    CHECK_MESSAGE(wrong == 0, "%u bytes, n %u,%s: %u lanes are wrong", bytes, n, p->text, wrong);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    hg_params_destroy(params);
}

/* ---- places that go on from round to round ---- */

enum { WALKERS = 101, ROOM = 2048 };

/* What a lane adds up and where it ends. */
typedef struct walk {
    const char *text; /* leaves the sum in s (u32), the last place in t */
    void (*end)(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last);
} walk;

static uint32_t x_at(uint32_t i) { return i * 2654435761u; }

static void strides(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                    uint32_t *last) {
    for (*last = 0; i < n; i += WALKERS) *sum += x(*last = i);
}
static void rounds(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last) {
    for (uint32_t k = 0; k < 9; k++, i += n % 100) *sum += x(i);
    *last = i;
}
static void own_rounds(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                       uint32_t *last) {
    uint32_t count = (i + n) % 8 + 1;
    for (uint32_t k = 0; k < count; k++, i += 100) *sum += x(i);
    *last = i;
}
static void some_wait(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                      uint32_t *last) {
    for (uint32_t k = 0, lane = i; k < 9; k++) {
        *sum += x(i);
        if ((lane + k + n) & 4) continue;
        i += 7;
    }
    *last = i;
}
static void inner_rounds(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                         uint32_t *last) {
    uint32_t count = (i + n) % 4 + 1;
    *last = i;
    for (uint32_t q = 0; q < 3; q++)
        for (uint32_t k = 0; k < count; k++, i += 100) *sum += x(i);
}
static void narrow(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last) {
    uint8_t at = (uint8_t)i;
    for (uint32_t k = 0; k < 9; k++, at = (uint8_t)(at + n)) *sum += x(at);
    *last = at;
}

/* Lanes leave one by one, or all when the counter says so, and take the counter along. */
static void counted(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                    uint32_t *last) {
    uint32_t k = 0;
    do {
        *last = i;
        *sum += x(i);
        k++, i += 3;
    } while (((x(*last) >> 20) + n) % 8 != 0 && k < 9);
    *sum += 1000 * k, *last = i;
}
static void goes_on(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                    uint32_t *last) {
    for (uint32_t round = 0, k = 0, most = 5; round < 3; round++, most += 5) {
        do {
            *last = x(i);
            *sum += k++ ^ *last;
            i += 3;
        } while (((*last >> 20) + n) % 4 != 0 && k < most);
    }
    *last = i;
}
static void steps(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last) {
    uint32_t k = 0;
    for (uint32_t round = 0; round < 9; round++) {
        uint32_t old = k;
        k += n;
        *sum += x(i);
        if ((x(i) >> 20) % 8 == 0) break;
        k = old + 1, i += 2;
    }
    *last = k;
}
static void either(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last) {
    for (uint32_t k = 0; k < 12; k++, i += 5) {
        *last = k;
        if ((k & 1) == 0) {
            *sum += x(i);
            if (((x(i) >> 20) + n) % 4 == 0) break;
        } else if (x(i) >> 20 & 1) {
            if (k >= 7) break;
            *sum ^= k;
        }
        *last = 77;
    }
}

/* Branches in branches, that cost less than asking whether a lane is there. */
static void nested(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum, uint32_t *last) {
    for (uint32_t k = 0; k < 9; k++) {
        uint32_t v = (x(i) >> 18) + n;
        if (v & 1) {
            *sum += k;
            if (v & 2) {
                *sum ^= v;
                if (v & 4) i += 3;
            }
        }
        i += 1;
    }
    *last = i;
}

/* An amount that is not below the width. */
static void far_shift(uint32_t i, uint32_t n, uint32_t (*x)(uint32_t), uint32_t *sum,
                      uint32_t *last) {
    uint32_t t = i << 1;
    for (uint32_t k = 0; k < 9; k++, t++) *sum += (x(t) ^ t) + n;
    *last = t;
}

static const walk WALKS[] = {
    {" shl t, t, 33\nnext: ldg v, [x[t]]\n xor v, v, t\n add s, s, v\n add s, s, n\n add t, t, 1\n "
     "add k, k, 1\n bra.lt k, 9, @next\n",
     far_shift},
    {" mov p, global\n mov t, 0\nnext: cvt.u64.u32 q, n\n bra.ge p, q, @out\n cvt t, p\n ldg v, "
     "[x[p]]\n add s, s, v\n"
     " add p, p, 101\n bra @next\nout:\n",
     strides},
    {" rem q32, n, 100\nnext: ldg v, [x[t]]\n add s, s, v\n add t, t, q32\n add k, k, 1\n bra.lt "
     "k, 9, @next\n",
     rounds},
    {" add q32, t, n\n and q32, q32, 7\nnext: ldg v, [x[t]]\n add s, s, v\n add t, t, 100\n add k, "
     "k, 1\n bra.le k, q32, @next\n",
     own_rounds},
    {" mov lane, t\nnext: bra.ge k, 9, @out\n ldg v, [x[t]]\n add s, s, v\n add q32, lane, k\n add "
     "q32, q32, n\n and q32, q32, 4\n"
     " add k, k, 1\n bra.ne q32, 0, @next\n add t, t, 7\n bra @next\nout:\n",
     some_wait},
    {" add q32, t, n\n and q32, q32, 3\n mov lane, 0\n mov p, global\nagain: mov k, 0\nnext: ldg "
     "v, [x[p]]\n add s, s, v\n add p, p, 100\n"
     " add k, k, 1\n bra.le k, q32, @next\n add lane, lane, 1\n bra.lt lane, 3, @again\n",
     inner_rounds},
    {" cvt b, t\n cvt c, n\nnext: cvt t, b\n ldg v, [x[t]]\n add s, s, v\n add b, b, c\n add k, k, "
     "1\n bra.lt k, 9, @next\n cvt t, b\n",
     narrow},
    {"next: ldg v, [x[t]]\n add s, s, v\n add k, k, 1\n add t, t, 3\n shr v, v, 20\n add v, v, n\n "
     "and v, v, 7\n bra.eq v, 0, @out\n"
     " bra.lt k, 9, @next\nout: mul k, k, 1000\n add s, s, k\n",
     counted},
    {" mov lane, 0\n mov q32, 5\nagain:\nnext: ldg v, [x[t]]\n xor r, k, v\n add s, s, r\n add k, "
     "k, 1\n add t, t, 3\n shr v, v, 20\n"
     " add v, v, n\n and v, v, 3\n bra.eq v, 0, @out\n bra.lt k, q32, @next\nout: add lane, lane, "
     "1\n add q32, q32, 5\n bra.lt lane, 3, "
     "@again\n",
     goes_on},
    {" mov lane, 0\nnext: mov q32, k\n add k, k, n\n ldg v, [x[t]]\n add s, s, v\n shr v, v, 20\n "
     "and v, v, 7\n bra.eq v, 0, @out\n add k, "
     "q32, 1\n"
     " add t, t, 2\n add lane, lane, 1\n bra.lt lane, 9, @next\nout: mov t, k\n",
     steps},
    {" mov lane, 0\nnext: mov lane, k\n and q32, k, 1\n bra.ne q32, 0, @odd\n ldg v, [x[t]]\n add "
     "s, s, v\n shr v, v, 20\n add v, v, n\n"
     " and v, v, 3\n bra.eq v, 0, @out\n bra @then\nodd: ldg v, [x[t]]\n shr v, v, 20\n and v, v, "
     "1\n bra.eq v, 0, @then\n bra.ge k, 7, "
     "@out\n"
     " xor s, s, k\nthen: mov lane, 77\n add k, k, 1\n add t, t, 5\n bra.lt k, 12, "
     "@next\n"
     "out: mov t, lane\n",
     either},
    {"next: ldg v, [x[t]]\n shr v, v, 18\n add v, v, n\n and r, v, 1\n bra.eq r, 0, @then\n add s, "
     "s, k\n and r, v, 2\n bra.eq r, 0, "
     "@then\n"
     " xor s, s, v\n and r, v, 4\n bra.eq r, 0, @then\n add t, t, 3\nthen: add t, t, 1\n add k, k, "
     "1\n bra.lt k, 9, @next\n",
     nested},
};

static void check_walk(hg_backend *b, const walk *w) {
    static uint32_t x[ROOM], y[WALKERS], z[WALKERS];
    static const uint32_t NUMBERS[] = {0, 1, 3, 7, 99, 101, 200, 255, 257, 1000};
    char text[1024];
    snprintf(text, sizeof text,
             ".atlas 1\n.program walk\n.param x buffer u32 in\n.param y buffer u32 inout\n.param z "
             "buffer u32 inout\n.param n u32\n.lanes %d\n"
             ".reg p, q u64\n.reg t, q32, k, r, s, v, lane u32\n.reg b, c u8\n mov s, 0\n mov k, "
             "0\n cvt t, global\n%s"
             " stg [y[global]], s\n stg [z[global]], t\n",
             WALKERS, w->text);
    hg_program *program = assemble(text);
    for (uint32_t i = 0; i < ROOM; i++) x[i] = x_at(i);
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; k++) {
        hg_buffer buffers[] = {make_buffer(b, x, sizeof x), make_buffer(b, y, sizeof y),
                               make_buffer(b, z, sizeof z)};
        hg_params *params = hg_params_create();
        CHECK_OK(hg_params_set_buffer(params, "x", buffers[0]));
        CHECK_OK(hg_params_set_buffer(params, "y", buffers[1]));
        CHECK_OK(hg_params_set_buffer(params, "z", buffers[2]));
        CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U32, &NUMBERS[k]));
        CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, sizeof y));
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[2], z, sizeof z));
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < WALKERS; i++) {
            uint32_t sum = 0, last = 0;
            w->end(i, NUMBERS[k], x_at, &sum, &last);
            wrong += y[i] != sum || z[i] != last;
        }
        CHECK_MESSAGE(wrong == 0, "n %u,%s: %u lanes are wrong", NUMBERS[k], w->text, wrong);
        for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
        hg_params_destroy(params);
    }
    hg_program_release(program);
}

/* ---- more than caches hold ---- */

/* Rows at and beside multiples of what is stored at once. */
static void check_large(hg_backend *b) {
    enum { COUNT = (32 << 20) / 4 + 77, MOST = 8 };
    static const uint32_t OFFSETS[] = {0, 4, 7};
    uint32_t *out = malloc((COUNT + MOST) * sizeof *out);
    hg_program *program = assemble(".atlas 1\n.program large\n.param z buffer u32 out\n.param n "
                                   "u64\n.param count u64\n.lanes count\n"
                                   ".reg v u32\n.reg t u64\n cvt v, global\n mul v, v, 3\n add t, "
                                   "n, global\n stg [z[t]], v\n");
    for (size_t k = 0; k < sizeof OFFSETS / sizeof *OFFSETS && out; k++) {
        const uint64_t n = OFFSETS[k], count = COUNT;
        hg_buffer z;
        hg_params *params = hg_params_create();
        CHECK_OK(hg_backend_allocate_buffer(b, (COUNT + MOST) * sizeof *out, &z));
        CHECK_OK(hg_params_set_buffer(params, "z", z));
        CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
        CHECK_OK(hg_params_set_scalar(params, "count", HG_TYPE_U64, &count));
        CHECK_OK(hg_backend_execute_program_with_params(b, program, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, z, out, (COUNT + MOST) * sizeof *out));
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < COUNT + MOST; i++)
            wrong += out[i] != (i < n || i >= n + COUNT ? 0 : (uint32_t)(i - n) * 3);
        CHECK_MESSAGE(wrong == 0, "rows from element %u on: %u are wrong", OFFSETS[k], wrong);
        CHECK_OK(hg_backend_free_buffer(b, z));
        hg_params_destroy(params);
    }
    hg_program_release(program);
    free(out);
}

/* ---- several places of one index ---- */

enum { READERS = 8 };

/* What a launch says, and what lanes have written. */
static void read_four(hg_backend *b, hg_program *program, uint64_t count, char text[512],
                      uint32_t y[READERS]) {
    uint32_t s[16];
    for (uint32_t i = 0; i < 16; i++) s[i] = i + 1;
    for (uint32_t i = 0; i < READERS; i++) y[i] = 77;
    hg_buffer buffers[] = {make_buffer(b, s, count * sizeof *s),
                           make_buffer(b, y, READERS * sizeof *y)};
    hg_params *params = hg_params_create();
    CHECK_OK(hg_params_set_buffer(params, "s", buffers[0]));
    CHECK_OK(hg_params_set_buffer(params, "y", buffers[1]));
    hg_status status = hg_backend_execute_program_with_params(b, program, NULL, params);
    snprintf(text, 512, "%s", status == HG_OK ? "no fault" : hg_last_error_text());
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, READERS * sizeof *y));
    for (int i = 0; i < 2; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    hg_params_destroy(params);
}

/* Lanes leave a loop one by one that reads four neighbours a round: whichever of them ends the
 * array first, those lanes fault that are left, there. */
static void check_four(hg_backend *native, hg_backend *interpreter) {
    hg_program *program = assemble(
        ".atlas 1\n.program four\n.param s buffer u32 in\n.param y buffer u32 inout\n.lanes "
        "8\n.reg k, at, own, sum, v u32\n"
        " cvt own, global\n and own, own, 3\n mov k, 0\n mov sum, 0\nnext: bra.ge k, own, @out\n "
        "shl at, k, 2\n ldg v, [s[at + 2]]\n"
        " add sum, sum, v\n ldg v, [s[at]]\n mul sum, sum, v\n ldg v, [s[at + 3]]\n add sum, sum, "
        "v\n ldg v, [s[at + 1]]\n"
        " xor sum, sum, v\n add k, k, 1\n bra @next\nout: stg [y[global]], sum\n");
    for (uint64_t count = 1; count <= 16; count++) {
        char text[2][512];
        uint32_t y[2][READERS];
        read_four(native, program, count, text[0], y[0]);
        read_four(interpreter, program, count, text[1], y[1]);
        CHECK_MESSAGE(strcmp(text[0], text[1]) == 0, "%u elements: %s, not %s", (unsigned)count,
                      text[0], text[1]);
        for (uint32_t i = 0; i < READERS; i++)
            CHECK_MESSAGE(y[0][i] == y[1][i], "%u elements, lane %u: %u, not %u", (unsigned)count,
                          i, y[0][i], y[1][i]);
    }
    hg_program_release(program);
}

int main(int argc, char **argv) {
    static const uint32_t NUMBERS[] = {1,  2,  3,   4,   7,   8,    9,    15,  16,
                                       31, 64, 100, 255, 256, 1000, 1024, 2048};
    char reason[256];
    hg_backend *interpreter = open_backend("cpu");
    bool native = c_vectors_use(argc > 1 ? argv[1] : "16:8:gcc -O0", reason);
    if (!native) SKIP(reason);
    hg_backend *b = open_backend("cpu");
    for (size_t i = 0; b && i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        const size_t type = argc > 1 ? 0 : i % 3, end = argc > 1 ? 3 : type + 1;
        for (size_t t = type; t < end; t++) {
            hg_program *program = program_of(&PATTERNS[i], TYPES[t]);
            for (size_t n = 0; n < sizeof NUMBERS / sizeof *NUMBERS; n++)
                check(b, program, &PATTERNS[i], 2u << t, NUMBERS[n]);
            hg_program_release(program);
        }
    }
    for (size_t i = 0; b && i < sizeof WALKS / sizeof *WALKS; i++) check_walk(b, &WALKS[i]);
    if (b) check_large(b);
    if (b && interpreter) check_four(b, interpreter);
    hg_backend_destroy(b);
    hg_backend_destroy(interpreter);
    if (native) test_failed += c_vectors_end();
    return test_done();
}

/* test: labels=threads,slow */
/* Atomics whose old values nobody asks for, on memory that nothing else in the kernel touches:
 * threads may have copies of it. What comes out is what one lane after the other leaves, faults
 * included; where the memory has a second name there are no copies. By the interpreter and by a C
 * compiler's code. */
#include "support/c_vectors.h"
#include "support/runtime_support.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 40000, MOST_BINS = 4000 };

static uint64_t state = 7;
static uint64_t random64(void) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static hg_backend *open_with(uint32_t threads) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.num_threads = threads;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    return b;
}

/* ---- every operation, memory of several sizes ---- */

/* y[at[global]] = y[at[global]] op x[global] */
static const char BINS[] = PROGRAM(".param x buffer %s in [n]\n.param at buffer u32 in [n]\n.param "
                                   "y buffer %s inout\n.param n u64\n.lanes n\n"
                                   ".reg v, old %s\n.reg i u32\n ldg v, [x[global]]\n ldg i, "
                                   "[at[global]]\n atom.%s.%s old, [y + i*%u], v\n");

typedef struct kind {
    const char *type;
    unsigned bytes;
    bool is_signed;
} kind;
static const kind KINDS[] = {
    {"u32", 4, false}, {"i32", 4, true}, {"u64", 8, false}, {"i64", 8, true}};
static const char *const OPS[] = {"add", "min", "max", "and", "or", "xor"};

static uint64_t both(const char *op, const kind *k, uint64_t a, uint64_t b) {
    unsigned shift = 64 - 8 * k->bytes;
    bool less = k->is_signed ? (int64_t)(b << shift) < (int64_t)(a << shift)
                             : b << shift < a << shift;
    if (strcmp(op, "add") == 0) return a + b;
    if (strcmp(op, "and") == 0) return a & b;
    if (strcmp(op, "or") == 0) return a | b;
    if (strcmp(op, "xor") == 0) return a ^ b;
    if (a << shift == b << shift) return a;
    return (strcmp(op, "min") == 0) == less ? b : a;
}

static hg_status launch(hg_backend *b, const char *text, const char *const *names,
                        const hg_buffer *buffers, int count, uint64_t n) {
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    for (int i = 0; i < count; i++) CHECK_OK(hg_params_set_buffer(params, names[i], buffers[i]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    hg_status status = hg_backend_execute_program_with_params(b, p, NULL, params);
    hg_params_destroy(params);
    hg_program_release(p);
    return status;
}

static void check_bins(hg_backend *b, const char *op, const kind *k, uint32_t bins) {
    static uint8_t x[LANES * 8], y[MOST_BINS * 8], got[MOST_BINS * 8];
    static uint32_t at[LANES];
    char text[600];
    for (size_t i = 0; i < sizeof x; i += 8) memcpy(x + i, &(uint64_t){random64()}, 8);
    for (size_t i = 0; i < sizeof y; i += 8) memcpy(y + i, &(uint64_t){random64()}, 8);
    for (uint32_t i = 0; i < LANES; i++) at[i] = (uint32_t)(random64() % bins);
    hg_buffer buffers[] = {make_buffer(b, x, LANES * (uint64_t)k->bytes),
                           make_buffer(b, at, sizeof at),
                           make_buffer(b, y, bins * (uint64_t)k->bytes)};
    snprintf(text, sizeof text, BINS, k->type, k->type, k->type, op, k->type, k->bytes);
    CHECK_OK(launch(b, text, (const char *const[]){"x", "at", "y"}, buffers, 3, LANES));
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t one = 0, old = 0;
        memcpy(&one, x + (size_t)i * k->bytes, k->bytes);
        memcpy(&old, y + (size_t)at[i] * k->bytes, k->bytes);
        old = both(op, k, old, one);
        memcpy(y + (size_t)at[i] * k->bytes, &old, k->bytes);
    }
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[2], got, bins * (uint64_t)k->bytes));
    CHECK_MESSAGE(memcmp(got, y, (size_t)bins * k->bytes) == 0, "atom.%s.%s on %u bins differs", op,
                  k->type, (unsigned)bins);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

static void test_operations(hg_backend *b, bool all) {
    for (size_t op = 0; op < sizeof OPS / sizeof *OPS; op++)
        for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
            if (all || (op + k) % 4 == 0) check_bins(b, OPS[op], &KINDS[k], 37);
    check_bins(b, "add", &KINDS[0], 1);
    check_bins(b, "add", &KINDS[2], MOST_BINS); /* one copy */
}

/* ---- one place, a row of places ---- */

static void test_places(hg_backend *b) {
    static const char text[] = PROGRAM(".param y buffer u64 inout [5]\n.param z buffer u32 inout "
                                       "[n]\n.param n u64\n.lanes n\n.reg old, v u64\n.reg o u32\n"
                                       " atom.add.u64 old, [y[0]], global\n atom.add.u64 old, "
                                       "[y[1]], 3\n atom.xor.u64 old, [y[2]], 3\n"
                                       " atom.max.u64 old, [y[3]], global\n and v, global, 1\n "
                                       "bra.eq v, 0, @end\n atom.add.u64 old, [y[4]], 1\n"
                                       "end:\n atom.add.u32 o, [z[global]], 1\n");
    static const char other[] = PROGRAM(
        ".param y buffer u64 inout [5]\n.param z buffer u32 inout [n]\n.param n u64\n.lanes "
        "n\n.reg old, v u64\n.reg o u32\n"
        " atom.add.u64 old, [y[0]], global\n atom.add.u64 old, [y[1]], 3\n and v, global, 1\n "
        "bra.eq v, 0, @end\n"
        " atom.add.u64 old, [y[4]], 1\nend:\n atom.add.u32 o, [z[global]], 1\n");
    const uint64_t n = LANES + 1, sum = n * (n - 1) / 2;
    uint64_t y[5], first[5] = {1, 2, 4, 8, 16};
    static uint32_t z[LANES + 1];
    for (int turn = 0; turn < 2; turn++) { /* several operations on y; one, which can have copies */
        hg_buffer buffers[] = {make_buffer(b, first, sizeof first), make_buffer(b, NULL, sizeof z)};
        CHECK_OK(launch(b, turn ? other : text, (const char *const[]){"y", "z"}, buffers, 2, n));
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[0], y, sizeof y));
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], z, sizeof z));
        CHECK_U64(y[0], 1 + sum);
        CHECK_U64(y[1], 2 + 3 * n);
        CHECK_U64(y[2], turn ? 4 : 4 ^ (n & 1 ? 3 : 0));
        CHECK_U64(y[3], turn ? 8 : n - 1);
        CHECK_U64(y[4], 16 + n / 2);
        uint32_t ones = 0;
        for (uint64_t i = 0; i < n; i++) ones += z[i] == 1;
        CHECK_U64(ones, n);
        for (int i = 0; i < 2; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    }
}

/* Each lane's number into one place, which takes no index. */
static void test_one_place(hg_backend *b) {
    static const char text[] = PROGRAM(
        ".param x buffer u32 in [n]\n.param y buffer u32 inout [3]\n.param n u64\n.lanes n\n"
        ".reg v, old u32\n ldg v, [x[global]]\n atom.add.u32 old, [y[1]], v\n");
    static uint32_t x[LANES];
    uint32_t y[3] = {7, 8, 9}, sum = 8;
    for (uint32_t i = 0; i < LANES; i++) sum += x[i] = (uint32_t)random64();
    hg_buffer buffers[] = {make_buffer(b, x, sizeof x), make_buffer(b, y, sizeof y)};
    CHECK_OK(launch(b, text, (const char *const[]){"x", "y"}, buffers, 2, LANES));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, sizeof y));
    CHECK(y[0] == 7 && y[1] == sum && y[2] == 9);
    for (int i = 0; i < 2; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

/* ---- places that a narrow array says ---- */

/* Bins of 8 bytes. What stands between the load and the update: nothing, a store to where was
 * loaded from, another update, a branch. */
static const char NARROW[] = PROGRAM(
    ".param at buffer u%u inout [n]\n.param y buffer u32 inout\n.param z buffer u32 inout "
    "[8]\n.param n u64\n.lanes n\n.reg i, none u%u\n.reg k, o, old u32\n mov none, 0\n"
    " ldg i, [at[global]]\n cvt k, i\n%s atom.add.u32 old, [y + k*8 + 4], 3\nend:\n");
static const char *const BETWEEN[] = {"", " stg [at[global]], none\n",
                                      " and o, k, 7\n atom.add.u32 old, [z[o]], 1\n",
                                      " bra.lt k, 5, @end\n"};

static void check_narrow(hg_backend *b, uint32_t bytes, size_t between, uint32_t bins) {
    static uint8_t at[LANES * 2];
    static uint32_t y[2 * MOST_BINS], right[2 * MOST_BINS];
    char text[600];
    uint32_t z[8] = {0}, wrong = 0;
    const uint64_t n = LANES - 7;
    memset(right, 0, sizeof right);
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t place = (uint16_t)(random64() % bins);
        memcpy(at + (size_t)i * bytes, &place, bytes);
        if (between != 3 || place >= 5) right[2 * place + 1] += 3;
    }
    hg_buffer buffers[] = {make_buffer(b, at, n * bytes), make_buffer(b, NULL, bins * 8),
                           make_buffer(b, z, sizeof z)};
    snprintf(text, sizeof text, NARROW, 8 * bytes, 8 * bytes, BETWEEN[between]);
    CHECK_OK(launch(b, text, (const char *const[]){"at", "y", "z"}, buffers, 3, n));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, bins * 8));
    for (uint32_t i = 0; i < 2 * bins; i++) wrong += y[i] != right[i];
    CHECK_MESSAGE(wrong == 0, "u%u, way %u, %u bins: %u differ", 8 * bytes, (unsigned)between, bins,
                  wrong);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

static void test_narrow(hg_backend *b) {
    for (size_t i = 0; i < sizeof BETWEEN / sizeof *BETWEEN; i++) {
        check_narrow(b, 1, i, 256); /* whatever a byte says is a bin */
        check_narrow(b, 1, i, 100);
        check_narrow(b, 2, i, 300);
    }
}

/* ---- two names for one memory ---- */

/* A lane sees its own update through the other name. A plain load beside updates by other threads
 * would be a race of the program's own. */
static void test_two_names(hg_backend *b, bool plain) {
#define TWO_NAMES(READ)                                                                          \
    PROGRAM(                                                                                     \
        ".param y buffer u32 inout\n.param z buffer u32 inout\n.param out buffer u32 out "       \
        "[n]\n.param n u64\n.lanes n\n"                                                          \
        ".reg old, v u32\n.reg at u64\n and at, global, 7\n atom.add.u32 old, [y[at]], 1\n" READ \
        " stg [out[global]], v\n")
    const char *text = plain ? TWO_NAMES(" ldg v, [z[at]]\n")
                             : TWO_NAMES(" atom.or.u32 v, [z[at]], 0\n");
    static uint32_t out[LANES];
    uint32_t y[8] = {5, 5, 5, 5, 5, 5, 5, 5}, low = 0;
    hg_buffer shared = make_buffer(b, y, sizeof y),
              buffers[] = {shared, shared, make_buffer(b, NULL, sizeof out)};
    CHECK_OK(launch(b, text, (const char *const[]){"y", "z", "out"}, buffers, 3, LANES));
    CHECK_OK(hg_backend_copy_from_buffer(b, shared, y, sizeof y));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[2], out, sizeof out));
    for (int i = 0; i < 8; i++) CHECK_U64(y[i], 5 + LANES / 8);
    for (int i = 0; i < LANES; i++) low += out[i] < 6;
    CHECK_U64(low, 0);
    CHECK_OK(hg_backend_free_buffer(b, shared));
    CHECK_OK(hg_backend_free_buffer(b, buffers[2]));
}

/* ---- faults ---- */

static void test_faults(hg_backend *b) {
    static const char text[] = PROGRAM(".param at buffer u32 in [n]\n.param y buffer u32 "
                                       "inout\n.param n u64\n.lanes n\n.reg i, old u32\n"
                                       " ldg i, [at[global]]\n atom.add.u32 old, [y + i], 1\n");
    static uint32_t at[LANES];
    const struct {
        uint32_t place;
        const char *code;
    } bad[] = {{64, "F01"}, {61, "F01"}, {2, "F04"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        uint32_t y[16], sum = 0;
        for (uint32_t i = 0; i < LANES; i++) at[i] = i % 16 * 4;
        at[30001] = at[30007] = bad[k].place;
        hg_buffer buffers[] = {make_buffer(b, at, sizeof at), make_buffer(b, NULL, sizeof y)};
        CHECK_STATUS(launch(b, text, (const char *const[]){"at", "y"}, buffers, 2, LANES),
                     HG_ERROR_EXECUTION_FAILED);
        CHECK_TEXT(hg_last_error()->code, bad[k].code);
        CHECK_U64(hg_last_error()->lane, 30001);
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], y, sizeof y));
        for (int i = 0; i < 16; i++) sum += y[i];
        CHECK(sum >= 30000 && sum <= LANES - 2); /* what came before stays */
        for (int i = 0; i < 2; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    }
}

static void test_all(uint32_t threads, bool all) {
    hg_backend *b = open_with(threads);
    test_operations(b, all);
    test_places(b);
    test_one_place(b);
    test_narrow(b);
    if (threads == 1) test_two_names(b, true);
    test_two_names(b, false);
    test_faults(b);
    hg_backend_destroy(b);
}

static const char *const COMPILERS[] = {"16:8:gcc -O1", "32:16:llvm"};

int main(void) {
    char reason[256];
    test_all(1, true);
    test_all(2, true);
    test_all(3, false);
    for (size_t i = 0; i < sizeof COMPILERS / sizeof *COMPILERS; i++) {
        if (!c_vectors_use(COMPILERS[i], reason)) {
            SKIP(reason);
            continue;
        }
        test_all(2, false);
        CHECK_U64(c_vectors_end(), 0);
    }
    return test_done();
}

/* What is larger or later than the usual on the CUDA backend, on the driver of tests/fake_cuda
 * (tests/devices/on.sh fake_cuda): memory beyond 4 GiB, grids beyond what a launch has in y and z,
 * maps whose lanes have several elements, copies while a kernel runs. */
#include "support/fake_cuda.h"
#include "support/in_process.h"
#include "support/runtime_support.h"

static hg_backend *open_cuda(void) {
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create("cuda", 0, &b));
    return b;
}

/* ---- memory ---- */

enum { BEYOND = 16 };
static const uint64_t WORDS = (UINT64_C(1) << 30) + BEYOND; /* the last ones lie behind 4 GiB */

/* Numbers are written behind 4 GiB and read there, and nothing appears 4 GiB before; one more word
 * is out of bounds. */
static void test_memory(void) {
    static const char TEXT[] = ".atlas 1\n.program far\n.param x buffer u32 inout [n]\n.param "
                               "first u64\n.param n u64\n.lanes 16\n.reg v u32\n.reg i u64\n"
                               "    add i, first, global\n    cvt.u32.u64 v, global\n    add v, v, "
                               "1000\n    stg [x[i]], v\n"
                               "    ldg v, [x[i]]\n    add v, v, 1\n    stg [x[i]], v\n";
    hg_backend *b = open_cuda();
    hg_buffer x;
    hg_params *params = hg_params_create();
    hg_program *p = assemble(TEXT);
    uint64_t first = WORDS - BEYOND, size = 0;
    uint32_t words[BEYOND];
    if (!b || !p) return;
    CHECK_OK(hg_backend_allocate_buffer(b, WORDS * 4, &x));
    CHECK_OK(hg_backend_buffer_size(b, x, &size));
    CHECK_U64(size, WORDS * 4);
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &WORDS));
    CHECK_OK(hg_params_set_scalar(params, "first", HG_TYPE_U64, &first));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_buffer_read(b, x, first * 4, words, sizeof words));
    for (uint32_t i = 0; i < BEYOND; i++) CHECK_U64(words[i], 1001 + i);
    CHECK_OK(hg_buffer_read(b, x, first * 4 - (UINT64_C(1) << 32), words, sizeof words));
    for (uint32_t i = 0; i < BEYOND; i++) CHECK_U64(words[i], 0);
    first++;
    CHECK_OK(hg_params_set_scalar(params, "first", HG_TYPE_U64, &first));
    CHECK_STATUS(hg_backend_execute_program_with_params(b, p, NULL, params),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(
        strstr(hg_last_error()->message, "offset 4294967360 + size 4 > buffer size 4294967360"),
        "%s", hg_last_error()->message);
    CHECK_U64(hg_last_error()->lane, 15);
    CHECK_OK(hg_backend_free_buffer(b, x));
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
    CHECK_U64((uint64_t)fake_cuda_things(), 0);
}

/* ---- grids ---- */

/* Each block writes its coordinates at its number. */
static void test_grid(hg_backend *b, uint32_t gx, uint32_t gy, uint32_t gz) {
    static const char TEXT[] =
        ".atlas 1\n.program grid\n.param r1 x buffer u32 out\n.param r2 y buffer u32 out\n"
        "    rdid r3, block_idx_x\n    rdid r4, block_idx_y\n    rdid r5, block_idx_z\n    rdid "
        "r6, grid_dim_x\n    rdid r7, grid_dim_y\n"
        "    mad.u32 r8, r5, r7, r4\n    mad.u32 r8, r8, r6, r3\n    mov_imm.u32 r9, 2\n    "
        "shl.u32 r8, r8, r9\n"
        "    stg.u32 [r1 + r8], r4\n    stg.u32 [r2 + r8], r5\n";
    uint64_t count = (uint64_t)gx * gy * gz, wrong = 0;
    uint32_t *words = calloc(count, sizeof *words);
    hg_program *p = assemble(TEXT);
    hg_params *params = hg_params_create();
    hg_launch launch = {.size = sizeof launch, .grid = {gx, gy, gz}, .block = {1, 1, 1}};
    hg_buffer x, y;
    CHECK_OK(hg_backend_allocate_buffer(b, count * 4, &x));
    CHECK_OK(hg_backend_allocate_buffer(b, count * 4, &y));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, &launch, params));
    for (int which = 0; which < 2 && words; which++) {
        CHECK_OK(hg_backend_copy_from_buffer(b, which ? y : x, words, count * 4));
        for (uint64_t i = 0; i < count; i++)
            wrong += words[i] != (which ? i / gx / gy : i / gx % gy);
    }
    CHECK_MESSAGE(wrong == 0, "grid %u x %u x %u: %llu wrong coordinates", (unsigned)gx,
                  (unsigned)gy, (unsigned)gz, (unsigned long long)wrong);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_params_destroy(params);
    hg_program_release(p);
    free(words);
}

static void test_grids(void) {
    hg_backend *b = open_cuda();
    if (!b) return;
    test_grid(b, 1, 70000, 1);
    test_grid(b, 1, 1, 70001);
    test_grid(b, 2, 65536, 3);
    test_grid(b, 300, 7, 65);
    hg_backend_destroy(b);
}

/* ---- maps of several elements a lane ---- */

/* x += y, and with `chain` x = (x + y) + y: all numbers of elements around those of a lane, and
 * nothing behind them is touched. */
static void test_map(hg_backend *b, const char *type, uint32_t size, bool chain) {
    static const uint64_t COUNTS[] = {0,  1,  2,  3,  4,  5,    7,    8,    9,   15,
                                      16, 17, 31, 32, 33, 1000, 4095, 4096, 4097};
    enum { ROOM = 4100 };
    static uint8_t x[ROOM * 8], y[ROOM * 8], got[ROOM * 8];
    char text[512];
    snprintf(text, sizeof text,
             ".atlas 1\n.program p\n.param r1 x buffer %s inout\n.param r2 y buffer %s in\n.param "
             "r5 n u64\n"
             " parallel_map_binary.%s r1, r1, r2, add, r5\n%s%s%s",
             type, type, type, chain ? " parallel_map_binary." : "", chain ? type : "",
             chain ? " r1, r1, r2, add, r5\n" : "");
    hg_program *p = assemble(text);
    hg_params *params = hg_params_create();
    for (uint32_t i = 0; i < sizeof x; i++) {
        x[i] = i % size ? 0 : (uint8_t)(i / size * 3);
        y[i] = i % size ? 0 : (uint8_t)(i / size % 5 + 1);
    }
    hg_buffer bx = make_buffer(b, x, (uint64_t)ROOM * size),
              by = make_buffer(b, y, (uint64_t)ROOM * size);
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        uint64_t wrong = 0;
        CHECK_OK(hg_backend_copy_to_buffer(b, bx, x, (uint64_t)ROOM * size));
        CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &COUNTS[k]));
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, bx, got, (uint64_t)ROOM * size));
        for (uint32_t i = 0; i < ROOM; i++) {
            uint64_t expected = 0, actual = 0, more = 0;
            memcpy(&expected, x + (size_t)i * size, size);
            memcpy(&more, y + (size_t)i * size, size);
            memcpy(&actual, got + (size_t)i * size, size);
            if (i < COUNTS[k]) expected += more * (chain ? 2 : 1);
            wrong += (actual ^ expected) << (64 - 8 * size) != 0;
        }
        CHECK_MESSAGE(wrong == 0, "%s%s, %llu elements: %llu are wrong", type,
                      chain ? ", two maps" : "", (unsigned long long)COUNTS[k],
                      (unsigned long long)wrong);
    }
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, by));
    hg_params_destroy(params);
    hg_program_release(p);
}

static void test_maps(void) {
    hg_backend *b = open_cuda();
    if (!b) return;
    test_map(b, "u8", 1, false);
    test_map(b, "u16", 2, false);
    test_map(b, "u32", 4, false);
    test_map(b, "u64", 8, false);
    test_map(b, "u16", 2, true);
    test_map(b, "u32", 4, true);
    hg_backend_destroy(b);
}

/* ---- copies beside kernels ---- */

/* A kernel waits for a word of the host's memory, which the host writes when a copy of another
 * queue is over. */
static void test_overlap(void) {
    static const char TEXT[] = ".atlas 1\n.program wait\n.param flag buffer u32 inout [1]\n.lanes "
                               "1\n.reg v, zero u32\n    mov zero, 0\n"
                               "again:\n    atom.add.u32 v, [flag[0]], zero\n    seteq.u32 p0, v, "
                               "zero\n    bra.p0 @again\n";
    enum { BYTES = 3 << 20 };
    static _Alignas(64) uint32_t flag[16];
    static uint8_t in[BYTES], out[BYTES];
    hg_backend *b = open_cuda();
    hg_program *p = assemble(TEXT);
    hg_buffer word, bytes;
    hg_queue *first = NULL, *second = NULL;
    hg_context *other = NULL;
    hg_event *running = NULL, *copied = NULL;
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    hg_params *params = hg_params_create();
    bool done = true;
    if (!b || !p) return;
    for (uint32_t i = 0; i < BYTES; i++) in[i] = (uint8_t)(i * 7 + i / 1000);
    CHECK_OK(hg_buffer_import(b, flag, sizeof flag, &word));
    CHECK_OK(hg_backend_allocate_buffer(b, BYTES, &bytes));
    CHECK_OK(hg_params_set_buffer(params, "flag", word));
    CHECK_OK(hg_executable_create(b, p, &executable));
    CHECK_OK(hg_binding_create(executable, NULL, params, &binding));
    CHECK_OK(hg_context_create(b, &other));
    CHECK_OK(hg_queue_create(b, NULL, &first));
    CHECK_OK(hg_queue_create(b, other, &second));
    hg_command launch = {.size = sizeof launch, .kind = HG_COMMAND_LAUNCH, .binding = binding};
    hg_command copies[] = {{.size = sizeof *copies,
                            .kind = HG_COMMAND_COPY_IN,
                            .buffer = bytes,
                            .host = in,
                            .length = BYTES},
                           {.size = sizeof *copies,
                            .kind = HG_COMMAND_COPY_OUT,
                            .buffer = bytes,
                            .host = out,
                            .length = BYTES}};
    CHECK_OK(hg_queue_submit(first, &launch, 1, NULL, 0, &running));
    CHECK_OK(hg_queue_submit(second, copies, 2, NULL, 0, &copied));
    CHECK_OK(hg_event_wait(copied));
    CHECK(memcmp(in, out, BYTES) == 0);
    CHECK_OK(hg_event_query(running, &done));
    CHECK_MESSAGE(!done, "the kernel is over before it could be");
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    CHECK_OK(hg_event_wait(running));
    hg_event_destroy(running);
    hg_event_destroy(copied);
    hg_queue_destroy(first);
    hg_queue_destroy(second);
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    hg_context_destroy(other);
    CHECK_OK(hg_backend_free_buffer(b, bytes));
    CHECK_OK(hg_backend_free_buffer(b, word));
    hg_params_destroy(params);
    hg_program_release(p);
    hg_backend_destroy(b);
}

int main(void) {
    (void)setenv("FAKE_CUDA_MEMORY", "0x200000000", 1); /* 8 GiB, of which little is touched */
    if (!fake_cuda_is_here()) {
        SKIP("the driver is not that of tests/fake_cuda");
        return test_done();
    }
    test_memory();
    test_grids();
    test_maps();
    test_overlap();
    return test_done();
}

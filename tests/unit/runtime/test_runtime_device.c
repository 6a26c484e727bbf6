/* test: labels=slow timeout=600
 * What the runtime does between a launch and a device's dispatches, on every device that is there,
 * against the CPU: records of faults, timeouts, grids and blocks of all shapes, folded blocks,
 * handle tables, divided arenas, queues beside each other. */
#include "support/runtime_support.h"
#include <time.h>

typedef struct job {
    const char *name, *text;
    uint64_t bytes; /* of buffer b */
    uint32_t grid[3], block[3];
    uint64_t lanes, timeout_ms;
    uint32_t shared;
} job;

typedef struct outcome {
    hg_status status;
    hg_error error;
    uint8_t *bytes;
} outcome;

static const char *const BACKENDS[] = {"opencl", "vulkan", "cpu"};

static hg_buffer numbered(hg_backend *b, uint64_t bytes) {
    uint8_t *data = malloc(bytes + 1);
    for (uint64_t i = 0; i < bytes; i++) data[i] = (uint8_t)(i * 29 + i / 251);
    hg_buffer buffer = make_buffer(b, data, bytes);
    free(data);
    return buffer;
}

static outcome run(hg_backend *b, const job *j) {
    outcome o = {.bytes = malloc(j->bytes + 1)};
    hg_program *p = assemble(j->text);
    hg_params *params = hg_params_create();
    hg_buffer buffer = numbered(b, j->bytes);
    hg_launch launch = HG_LAUNCH_INIT;
    memcpy(launch.grid, j->grid, sizeof launch.grid);
    memcpy(launch.block, j->block, sizeof launch.block);
    launch.lanes = j->lanes;
    launch.shared_memory = j->shared;
    launch.timeout_ms = j->timeout_ms;
    CHECK_OK(hg_params_set_buffer(params, "b", buffer));
    o.status = hg_backend_execute_program_with_params(b, p, &launch, params);
    if (o.status != HG_OK) o.error = *hg_last_error();
    CHECK_OK(hg_buffer_read(b, buffer, 0, o.bytes, j->bytes));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    hg_program_release(p);
    return o;
}

static void compare(const char *device, hg_backend *cpu, hg_backend *b, const job *j) {
    outcome x = run(cpu, j), y = run(b, j);
    CHECK_MESSAGE(x.status == y.status, "%s on %s: expected %s (%s), got %s (%s)", j->name, device,
                  hg_status_name(x.status), x.error.message, hg_status_name(y.status),
                  y.error.message);
    if (x.status == HG_OK && y.status == HG_OK) {
        uint64_t at = 0;
        while (at < j->bytes && x.bytes[at] == y.bytes[at]) at++;
        CHECK_MESSAGE(at == j->bytes, "%s on %s: byte %" PRIu64 " is %02x, expected %02x", j->name,
                      device, at, y.bytes[at], x.bytes[at]);
    } else if (x.status == y.status) {
        CHECK_MESSAGE(strcmp(x.error.message, y.error.message) == 0,
                      "%s on %s: \"%s\", expected \"%s\"", j->name, device, y.error.message,
                      x.error.message);
        CHECK_TEXT(y.error.code, x.error.code);
        CHECK_U64(y.error.lane, x.error.lane);
        CHECK_U64(y.error.phase, x.error.phase);
        CHECK_U64(y.error.instruction, x.error.instruction);
        CHECK_U64(y.error.operand, x.error.operand);
        CHECK_U64(y.error.offset, x.error.offset);
        CHECK_U64(y.error.limit, x.error.limit);
        CHECK_U64(y.error.line, x.error.line);
    }
    free(x.bytes);
    free(y.bytes);
}

#define HEAD ".atlas 1\n.program p\n.param r1 b buffer u8 inout\n"
#define WORD " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"
/* Every coordinate mixed into one word a lane. */
#define IDS                                                                                        \
    WORD " rdid r10, lane_idx_x\n rdid r11, lane_idx_y\n rdid r12, lane_idx_z\n rdid r13, "        \
         "block_idx_x\n rdid r14, block_idx_y\n"                                                   \
         " rdid r15, block_idx_z\n rdid r16, block_dim_x\n rdid r17, grid_dim_y\n rdid r18, "      \
         "lane_count\n cvt.u32.u64 r18, r18\n"                                                     \
         " mov_imm.u32 r9, 31\n mul.u32 r10, r10, r9\n add.u32 r10, r10, r11\n mul.u32 r10, r10, " \
         "r9\n add.u32 r10, r10, r12\n"                                                            \
         " mul.u32 r10, r10, r9\n add.u32 r10, r10, r13\n mul.u32 r10, r10, r9\n add.u32 r10, "    \
         "r10, r14\n mul.u32 r10, r10, r9\n"                                                       \
         " add.u32 r10, r10, r15\n mul.u32 r10, r10, r9\n add.u32 r10, r10, r16\n mul.u32 r10, "   \
         "r10, r9\n add.u32 r10, r10, r17\n"                                                       \
         " mul.u32 r10, r10, r9\n add.u32 r10, r10, r18\n stg.u32 [r1 + r0], r10\n"
/* The block's words in reverse, through shared memory. */
#define REVERSE                                                                                \
    WORD " ldg.u32 r10, [r1 + r0]\n shl.u32 r5, r252, r250\n sts.u32 [shared + r5], r10\n "    \
         "bar.sync 0\n mov_imm.u32 r6, 1\n"                                                    \
         " sub.u32 r7, r254, r6\n sub.u32 r7, r7, r252\n shl.u32 r7, r7, r250\n lds.u32 r11, " \
         "[shared + r7]\n stg.u32 [r1 + r0], r11\n"

/* The lanes of a block leave a loop together, where a device may fill its last vector up. */
#define TOGETHER                                                                                   \
    WORD                                                                                           \
        " mov_imm.u32 r9, 7\nagain:\n ldg.u32 r10, [r1 + r0]\n seteq.u32 p0, r10, r9\n block.all " \
        "p0, p0\n bra.p0 @again\n stg.u32 [r1 + r0], r9\n"

static const job JOBS[] = {
    {"lanes in a row", HEAD IDS, 4000, {10, 1, 1}, {100, 1, 1}, 1000, 0, 0},
    {"some lanes of the last block", HEAD IDS, 4000, {10, 1, 1}, {100, 1, 1}, 937, 0, 0},
    {"three dimensions", HEAD IDS, 3 * 5 * 2 * 7 * 4 * 3 * 4, {7, 4, 3}, {3, 5, 2}, 0, 0, 0},
    {"three dimensions, some lanes", HEAD IDS, 10080, {7, 4, 3}, {3, 5, 2}, 1111, 0, 0},
    {"blocks of a warp", HEAD IDS, 8 * 4 * 5 * 3 * 4, {5, 3, 1}, {8, 4, 1}, 0, 0, 0},
    {"blocks of a warp, some lanes", HEAD IDS, 8 * 4 * 5 * 3 * 4, {5, 3, 1}, {8, 4, 1}, 333, 0, 0},
    {"blocks that no group can be", HEAD IDS, 4 * 5000 * 3, {3, 1, 1}, {5000, 1, 1}, 0, 0, 0},
    {"deep blocks", HEAD IDS, 4 * 2 * 2 * 256 * 2, {2, 1, 1}, {2, 2, 256}, 0, 0, 0},
    {"more blocks than 65535", HEAD IDS, 4 * 32 * 70000, {70000, 1, 1}, {32, 1, 1}, 0, 0, 0},
    {"more rows than 65535", HEAD IDS, 4 * 32 * 66000, {1, 66000, 1}, {32, 1, 1}, 0, 0, 0},
    {"reverse, whole blocks",
     HEAD ".shared 256\n" REVERSE,
     64 * 9 * 4,
     {9, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
    {"reverse, blocks of 1024",
     HEAD ".shared 4096\n" REVERSE,
     1024 * 3 * 4,
     {3, 1, 1},
     {1024, 1, 1},
     0,
     0,
     0},
    {"reverse, blocks of 999",
     HEAD ".shared 4096\n" REVERSE,
     999 * 3 * 4,
     {3, 1, 1},
     {999, 1, 1},
     0,
     0,
     0},
    {"reverse, a narrow deep block",
     HEAD ".shared 4096\n" REVERSE,
     1024 * 4,
     {2, 1, 1},
     {1, 1, 512},
     0,
     0,
     0},
    {"reverse, 60 KiB of shared memory",
     HEAD ".shared 61440\n" REVERSE,
     64 * 9 * 4,
     {9, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
    {"reverse, many rows",
     HEAD ".shared 256\n" REVERSE,
     16 * 4 * 66000,
     {1, 66000, 1},
     {16, 1, 1},
     0,
     0,
     0},
    {"the last block is not whole",
     HEAD ".shared 256\n" REVERSE,
     64 * 9 * 4,
     {9, 1, 1},
     {64, 1, 1},
     555,
     0,
     0},
    {"blocks of 3 that leave a loop together",
     HEAD TOGETHER,
     3 * 2 * 4,
     {2, 1, 1},
     {3, 1, 1},
     0,
     0,
     0},
    {"blocks of 9 that leave a loop together",
     HEAD TOGETHER,
     9 * 2 * 4,
     {2, 1, 1},
     {9, 1, 1},
     0,
     0,
     0},
    {"blocks of 12 that leave a loop together",
     HEAD TOGETHER,
     12 * 2 * 4,
     {2, 1, 1},
     {12, 1, 1},
     0,
     0,
     0},
    {"blocks of 20 that leave a loop together",
     HEAD TOGETHER,
     20 * 2 * 4,
     {2, 1, 1},
     {20, 1, 1},
     0,
     0,
     0},
    /* faults */
    {"out of bounds",
     HEAD WORD " ldg.u32 r10, [r1 + r0 + 8]\n stg.u32 [r1 + r0], r10\n",
     4000,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"below zero",
     HEAD " mov_imm.u64 r9, 700\n sub.u64 r10, r9, r255\n ldg.u32 r10, [r1 + r10 - 8]\n",
     4000,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"a huge index",
     HEAD
     " mov_imm.u64 r9, 0xfffffffffffffff0\n or.u64 r10, r9, r255\n ldg.u32 r10, [r1 + r10 + 16]\n",
     4000,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"a store out of bounds",
     HEAD WORD " stg.u64 [r1 + r0], r255\n",
     400,
     {10, 1, 1},
     {10, 1, 1},
     100,
     0,
     0},
    {"division by zero",
     HEAD " mov_imm.u64 r9, 777\n sub.u64 r9, r9, r255\n div.u64 r10, r255, r9\n stg.u64 [buf(r1) "
          "+ 0], r10\n",
     8,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"a handle of nothing",
     HEAD " mov_imm.u64 r9, 500\n setltu.u64 p0, r255, r9\n mov_imm.u64 r10, 4711\n sel.u64 r10, "
          "p0, r1, r10\n ldg.u32 r11, [buf(r10) + 4]\n",
     8,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"open and out of bounds",
     HEAD " mov_imm.u64 r9, 500\n setltu.u64 p0, r255, r9\n mov_imm.u64 r10, 1\n sel.u64 r10, p0, "
          "r1, r10\n mov_imm.u64 r11, 9\n mul.u64 "
          "r11, r11, r255\n ldg.u32 r11, [buf(r10) + r11]\n",
     4000,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"a pool of nothing",
     HEAD " pool.load.u32 r10, pool99, 4\n",
     8,
     {1, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
    {"a misaligned atomic",
     HEAD " mov_imm.u32 r9, 1\n mov_imm.u64 r10, 3\n mul.u64 r10, r10, r255\n and.u64 r11, r10, "
          "r10\n atom.add.u32 r12, [r1 + r11], r9\n",
     4000,
     {10, 1, 1},
     {100, 1, 1},
     1000,
     0,
     0},
    {"shared memory out of bounds",
     HEAD ".shared 64\n shl.u32 r5, r252, r252\n lds.u32 r6, [shared + r5 + 4]\n stg.u32 [buf(r1) "
          "+ 0], r6\n",
     8,
     {3, 1, 1},
     {16, 1, 1},
     0,
     0,
     0},
    {"a class out of bounds",
     HEAD WORD " mov_imm.u32 r9, 12300\n cvt.u64.u32 r9, r9\n sub.u64 r10, r9, r0\n ldg.u32 r11, "
               "[class5 + r10]\n",
     8,
     {1, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
    {"a fault behind a barrier",
     HEAD ".shared 256\n" REVERSE " bar.sync 0\n ldg.u32 r10, [r1 + r0 + 200]\n",
     64 * 9 * 4,
     {9, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
    {"a fault before and one behind a barrier",
     HEAD ".shared 256\n" REVERSE " mov_imm.u64 r20, 500\n setleu.u64 p0, r255, r20\n mov_imm.u64 "
          "r21, 9999\n mov_imm.u64 r22, 0\n"
          " sel.u64 r21, p0, r22, r21\n ldg.u32 r10, [r1 + r21]\n bar.sync 0\n ldg.u32 r10, [r1 + "
          "r0 + 2400]\n",
     64 * 9 * 4,
     {9, 1, 1},
     {64, 1, 1},
     0,
     0,
     0},
};

/* ---- time ---- */

static const job FOREVER = {"a loop without end",
                            HEAD
                            " mov_imm.u64 r10, 0\nagain:\n add.u64 r10, r10, r255\n mov_imm.u64 "
                            "r9, 0x1000000000000000\n setgtu.u64 p0, r255, r9\n"
                            " stg.u64 [buf(r1) + 0], r10\n bra.p0 @out\n bra @again\nout:\n exit\n",
                            8,
                            {1, 1, 1},
                            {64, 1, 1},
                            0,
                            150,
                            0};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Mesa's llvmpipe leaves a loop after 65535 rounds; launches that come near are stopped. Where
 * arenas are bound no loop goes on. */
static bool ends_loops(const char *message) {
    static const char words[] = "the device cannot run more than 65535 rounds of loops";
    return strncmp(message, words, sizeof words - 1) == 0;
}

static void test_timeout(const char *device, hg_backend *b) {
    for (int i = 0; i < 2; i++) { /* the record is as new afterwards */
        outcome o = run(b, &FOREVER);
        CHECK_MESSAGE(o.status == HG_ERROR_EXECUTION_FAILED, "%s: a loop without end: %s", device,
                      hg_status_name(o.status));
        CHECK_TEXT(o.error.code, ends_loops(o.error.message) ? "F12" : "F08");
        if (!ends_loops(o.error.message)) CHECK_TEXT(o.error.message, "timeout after 150 ms");
        free(o.bytes);
        outcome fine = run(b, &JOBS[0]);
        CHECK(fine.status == HG_OK);
        free(fine.bytes);
    }
}

/* ---- handles ---- */

/* Each lane adds the first words of the buffers whose handles are in b. */
static const char CHASE[] = HEAD
    ".param r4 n u64\n mov_imm.u64 r10, 0\n mov_imm.u64 r9, 8\n mov_imm.u64 r12, 1\n mov_imm.u64 "
    "r13, 0\nagain:\n mul.u64 r11, r10, r9\n"
    " ldg.u64 r14, [r1 + r11]\n ldg.u64 r15, [buf(r14) + 8]\n add.u64 r13, r13, r15\n add.u64 r10, "
    "r10, r12\n setltu.u64 p0, r10, r4\n "
    "bra.p0 @again\n"
    " mul.u64 r11, r4, r9\n stg.u64 [r1 + r11], r13\n";

static void test_handles(const char *device, hg_backend *b) {
    enum { COUNT = 40 };
    hg_buffer buffers[COUNT];
    uint64_t words[COUNT + 1] = {0}, expected = 0, n = COUNT;
    hg_program *p = assemble(CHASE);
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(3);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t data[2] = {0, i * i + 1};
        buffers[i] = make_buffer(b, data, sizeof data);
        words[i] = buffers[i].handle;
        expected += data[1];
    }
    hg_buffer list = make_buffer(b, words, sizeof words);
    CHECK_OK(hg_params_set_buffer(params, "b", list));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_executable_create_for(b, p, &launch, params, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    for (uint64_t round = 0; round < 4; round++) {
        uint64_t sum = 0;
        CHECK_OK(hg_binding_launch(binding));
        CHECK_OK(hg_buffer_read(b, list, COUNT * 8, &sum, 8));
        CHECK_MESSAGE(sum == expected, "%s: round %" PRIu64 ": %" PRIu64 ", expected %" PRIu64,
                      device, round, sum, expected);
        uint64_t data[2] = {0, 1000 + round}; /* another buffer in a place of the table */
        uint64_t old[2];
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[round * 3], old, sizeof old));
        CHECK_OK(hg_backend_free_buffer(b, buffers[round * 3]));
        buffers[round * 3] = make_buffer(b, data, sizeof data);
        CHECK_OK(hg_buffer_write(b, list, round * 3 * 8, &buffers[round * 3].handle, 8));
        expected += data[1] - old[1];
    }
    CHECK_OK(hg_backend_free_buffer(b, buffers[5]));
    CHECK_STATUS(hg_binding_launch(binding), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F03");
    for (int i = 0; i < COUNT; i++)
        if (i != 5) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    CHECK_OK(hg_backend_free_buffer(b, list));
    hg_params_destroy(params);
    hg_program_release(p);
}

/* ---- memory ---- */

/* Buffers of all sizes come and go: new ones are zero, the others keep what they hold. */
static void test_arenas(const char *device, hg_backend *b) {
    enum { COUNT = 60, ROUNDS = 400, MOST = 200000 };
    static hg_buffer buffers[COUNT];
    static uint64_t sizes[COUNT];
    static uint8_t marks[COUNT], bytes[MOST];
    uint32_t state = 12345;
    uint64_t wrong = 0;
    for (int i = 0; i < COUNT; i++) buffers[i].handle = 0;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 1664525u + 1013904223u;
        uint32_t i = (state >> 8) % COUNT;
        if (buffers[i].handle) {
            CHECK_OK(hg_backend_copy_from_buffer(b, buffers[i], bytes, sizes[i]));
            for (uint64_t k = 0; k < sizes[i]; k++) wrong += bytes[k] != marks[i];
            CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
        }
        state = state * 1664525u + 1013904223u;
        sizes[i] = (state >> 7) % 3 ? (state >> 10) % 700 : (state >> 10) % MOST;
        marks[i] = (uint8_t)(1 + round % 250);
        CHECK_OK(hg_backend_allocate_buffer(b, sizes[i], &buffers[i]));
        CHECK_OK(hg_backend_copy_from_buffer(b, buffers[i], bytes, sizes[i]));
        for (uint64_t k = 0; k < sizes[i]; k++) wrong += bytes[k] != 0;
        memset(bytes, marks[i], sizes[i]);
        CHECK_OK(hg_backend_copy_to_buffer(b, buffers[i], bytes, sizes[i]));
    }
    CHECK_MESSAGE(wrong == 0, "%s: %" PRIu64 " bytes of buffers are wrong", device, wrong);
    for (int i = 0; i < COUNT; i++)
        if (buffers[i].handle) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

/* ---- queues ---- */

/* A copy on one queue is over while another queue's launch still runs. */
static void test_overlap(const char *device, hg_backend *b) {
    hg_program *p = assemble(FOREVER.text);
    hg_params *params = hg_params_create();
    hg_buffer buffer = numbered(b, 8), other = numbered(b, 4096);
    hg_launch launch = hg_launch_linear(64);
    uint8_t bytes[4096];
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_queue *queues[2] = {NULL, NULL};
    hg_event *launched = NULL, *copied = NULL;
    bool done = true;
    launch.timeout_ms = 60000;
    CHECK_OK(hg_params_set_buffer(params, "b", buffer));
    CHECK_OK(hg_executable_create_for(b, p, &launch, params, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    for (int i = 0; i < 2; i++) CHECK_OK(hg_queue_create(b, NULL, &queues[i]));
    hg_command start = {.size = sizeof start, .kind = HG_COMMAND_LAUNCH, .binding = binding};
    hg_command copy = {.size = sizeof copy,
                       .kind = HG_COMMAND_COPY_OUT,
                       .buffer = other,
                       .host = bytes,
                       .length = sizeof bytes};
    CHECK_OK(hg_queue_submit(queues[0], &start, 1, NULL, 0, &launched));
    double from = seconds();
    while (seconds() - from < 0.2) {}
    CHECK_OK(hg_queue_submit(queues[1], &copy, 1, NULL, 0, &copied));
    CHECK_OK(hg_event_wait(copied));
    bool early = hg_event_query(launched, &done) != HG_OK && ends_loops(hg_last_error()->message);
    CHECK_MESSAGE(!done || early, "%s: the copy waited for the launch", device);
    hg_event_cancel(launched);
    CHECK_STATUS(hg_event_wait(launched), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, early ? "F12" : "F11");
    hg_event_destroy(launched);
    hg_event_destroy(copied);
    for (int i = 0; i < 2; i++) hg_queue_destroy(queues[i]);
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK_OK(hg_backend_free_buffer(b, other));
    hg_params_destroy(params);
    hg_program_release(p);
}

/* One binding many times, in two contexts and through a fault: what a device keeps of a launch must
 * not outlive what it was made for. */
static const char COUNT_UP[] = HEAD WORD
    " ldg.u32 r10, [r1 + r0]\n cvt.u64.u32 r10, r10\n mov_imm.u32 r9, 1\n"
    " ldg.u32 r11, [r1 + r10]\n add.u32 r11, r11, r9\n stg.u32 [r1 + r10], r11\n";

static void test_often(const char *device, hg_backend *b) {
    enum { LANES = 64, TIMES = 25 };
    uint32_t words[2 * LANES], seen[2 * LANES];
    hg_program *p = assemble(COUNT_UP);
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(LANES);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_context *contexts[2] = {NULL, NULL};
    bool right = true;
    for (uint32_t i = 0; i < 2 * LANES; i++) words[i] = i < LANES ? (LANES + i) * 4 : 0;
    hg_buffer buffer = make_buffer(b, words, sizeof words);
    CHECK_OK(hg_params_set_buffer(params, "b", buffer));
    CHECK_OK(hg_executable_create_for(b, p, &launch, params, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    for (int i = 0; i < 2; i++) CHECK_OK(hg_context_create(b, &contexts[i]));
    for (uint32_t round = 1; round <= 4; round++) {
        for (int i = 0; i < TIMES; i++)
            CHECK_OK(hg_binding_launch_in(binding, contexts[round % 2]));
        CHECK_OK(hg_buffer_read(b, buffer, 0, seen, sizeof seen));
        for (uint32_t i = 0; i < LANES; i++) right = right && seen[LANES + i] == round * TIMES;
        CHECK_MESSAGE(right, "%s: round %u: %u", device, (unsigned)round, (unsigned)seen[LANES]);
        uint32_t good = words[5], bad = 5000;
        CHECK_OK(hg_buffer_write(b, buffer, 20, &bad, 4));
        CHECK_STATUS(hg_binding_launch_in(binding, contexts[round % 2]), HG_ERROR_EXECUTION_FAILED);
        CHECK_U64(hg_last_error()->lane, 5);
        CHECK_OK(hg_buffer_write(b, buffer, 20, &good, 4));
        CHECK_OK(hg_buffer_write(b, buffer, LANES * 4, &seen[LANES], LANES * 4));
    }
    hg_binding_destroy(binding);
    for (int i = 0; i < 2; i++) hg_context_destroy(contexts[i]);
    hg_executable_destroy(e);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    hg_program_release(p);
}

/* Whole-array steps, again and again with other data, while memory and code come and go, in two
 * contexts. */
static const char STEPS[] =
    ".atlas 1\n.program p\n.param r1 b buffer u32 inout\n.param r2 c buffer u32 inout\n.param r4 n "
    "u64\n"
    " parallel_map_binary.u32 r1, r1, r1, add, r4\n parallel_map.u32 r2, r1, neg, r4\n"
    " parallel_map_binary.u32 r1, r1, r2, mul, r4\n parallel_map.u32 r2, r1, neg, r4\n"
    " parallel_map_binary.u32 r1, r2, r1, sub, r4\n exit\n";

static void come_and_go(hg_backend *b, uint32_t *words, uint32_t count) {
    hg_buffer buffer = make_buffer(b, words, count * sizeof *words);
    hg_program *p = assemble(COUNT_UP);
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(1);
    CHECK_OK(hg_params_set_buffer(params, "b", buffer));
    hg_context *c = NULL;
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    CHECK_OK(hg_context_create(b, &c));
    CHECK_OK(hg_executable_create_for(b, p, &launch, params, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    CHECK_OK(hg_binding_launch_in(binding, c));
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    hg_context_destroy(c);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    hg_program_release(p);
}

static void test_steps_often(const char *device, hg_backend *b) {
    enum { N = 1000, TIMES = 96 };
    static uint32_t words[N], seen[N];
    hg_program *p = assemble(STEPS);
    hg_params *params = hg_params_create();
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    hg_context *contexts[2] = {NULL, NULL};
    uint64_t n = N;
    hg_buffer x = make_buffer(b, words, sizeof words), y = make_buffer(b, words, sizeof words);
    CHECK_OK(hg_params_set_buffer(params, "b", x));
    CHECK_OK(hg_params_set_buffer(params, "c", y));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_executable_create(b, p, &e));
    CHECK_OK(hg_binding_create(e, NULL, params, &binding));
    for (int i = 0; i < 2; i++) CHECK_OK(hg_context_create(b, &contexts[i]));
    for (uint32_t i = 0; i < TIMES; i++) {
        bool right = true;
        for (uint32_t k = 0; k < N; k++) words[k] = k * 7 + i;
        CHECK_OK(hg_buffer_write(b, x, 0, words, sizeof words));
        CHECK_OK(hg_binding_launch_in(binding, contexts[i / 36 % 2]));
        CHECK_OK(hg_buffer_read(b, x, 0, seen, sizeof seen));
        for (uint32_t k = 0; k < N; k++) right = right && seen[k] == 8 * words[k] * words[k];
        CHECK_MESSAGE(right, "%s: launch %u", device, (unsigned)i);
        words[0] = 0;
        if (i % 12 == 11) come_and_go(b, words, N);
    }
    hg_binding_destroy(binding);
    for (int i = 0; i < 2; i++) hg_context_destroy(contexts[i]);
    hg_executable_destroy(e);
    CHECK_OK(hg_backend_free_buffer(b, x));
    CHECK_OK(hg_backend_free_buffer(b, y));
    hg_params_destroy(params);
    hg_program_release(p);
}

int main(int argc, char **argv) {
    hg_backend *cpu = open_backend("cpu");
    int found = 0;
    for (size_t k = 0; k < sizeof BACKENDS / sizeof *BACKENDS; k++) {
        hg_backend *b = NULL;
        if (argc > 1 ? strcmp(argv[1], BACKENDS[k]) != 0 : k == 2) continue;
        if (hg_backend_create(BACKENDS[k], 0, &b) != HG_OK) continue;
        found++;
        for (size_t i = 0; i < sizeof JOBS / sizeof *JOBS; i++)
            if (argc < 3 || strstr(JOBS[i].name, argv[2])) compare(BACKENDS[k], cpu, b, &JOBS[i]);
        if (argc < 3 || strcmp(argv[2], "none") == 0) {
            test_timeout(BACKENDS[k], b);
            test_handles(BACKENDS[k], b);
            test_arenas(BACKENDS[k], b);
            test_overlap(BACKENDS[k], b);
            test_often(BACKENDS[k], b);
            test_steps_often(BACKENDS[k], b);
        }
        hg_backend_destroy(b);
    }
    hg_backend_destroy(cpu);
    if (!found) SKIP("no OpenCL and no Vulkan device");
    return test_done();
}

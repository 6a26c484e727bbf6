/* Kernels with barriers and shared memory as native code, made by gcc and by libhologram_jit.so:
 * blocks of all shapes, lanes that end before others, faults in several phases. What the tile
 * interpreter gives is what they give.
 * test: labels=slow */
#include "native/compilers.h"
#include "base/base.h"
#include "support/c_vectors.h"
#include "support/runtime_support.h"
#include "test.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };

/* Lanes whose number is 7 end; the others take their neighbour's number from shared memory, round
 * after round, and count the rounds of the block by atomics. */
static const char ROUNDS[] =
    ".atlas 1\n.program rounds\n.param x buffer u32 inout [n]\n.param n u64\n.param rounds "
    "u32\n.shared 8192\n"
    ".reg v, w, i, at, zero u32\n"
    " mov w, 0\n mov zero, 0\n"
    " ldg v, [x[global]]\n bra.eq v, 7, @gone\n"
    " mad at, lane_idx_z, block_dim_y, lane_idx_y\n mad at, at, block_dim_x, lane_idx_x\n"
    " mov i, 0\n"
    "again:\n sts [shared + at*4 + 64], v\n bar.sync 0\n"
    " add w, at, 1\n lds w, [shared + w*4 + 64]\n"
    " mad v, v, 3, w\n atom.add zero, [shared], 1\n bar.sync 1\n"
    " add i, i, 1\n bra.lt i, rounds, @again\n"
    " lds w, [shared]\n add v, v, w\n mad v, block_idx_x, 1000, v\n stg [x[global]], v\n"
    "gone:\n exit\n";

/* Lane first faults before the first barrier, lane second behind it, lane third behind the second.
 */
static const char FAULTS[] =
    ".atlas 1\n.program faults\n.param x buffer u32 inout [n]\n.param n u64\n.param first "
    "u64\n.param second u64\n"
    ".param third u64\n.shared 64\n.reg v u32\n.reg far u64\n"
    " mov far, global\n bra.ne global, first, @one\n add far, far, n\n"
    "one:\n ldg v, [x[far]]\n bar.sync 0\n bra.ne global, second, @two\n add far, far, n\n"
    "two:\n ldg v, [x[far]]\n bar.sync 1\n bra.ne global, third, @three\n add far, far, n\n"
    "three:\n ldg v, [x[far]]\n add v, v, 1\n stg [x[global]], v\n";

/* Rows of shared memory whose place the launch says: first behind a lane that may be gone, then
 * before an end that lanes may be behind, then from the other side. */
static const char PLACES[] =
    ".atlas 1\n.program places\n.param x buffer u32 inout [n]\n.param n u64\n.param gone "
    "u64\n.param layer u32\n"
    ".param row u32\n.param less u32\n.param end u64\n.shared 4096\n.reg v, w, at, back u32\n.reg "
    "far u64\n"
    " ldg v, [x[global]]\n bra.eq global, gone, @out\n"
    " mul at, lane_idx_z, layer\n mad at, lane_idx_y, row, at\n add at, at, lane_idx_x\n sts "
    "[shared + at*4], v\n"
    " bar.sync 0\n"
    " mad far, block_idx_x, 16, lane_idx_x\n add w, at, less\n bra.ge far, end, @next\n lds w, "
    "[shared + w*4]\n mad v, v, 3, w\n"
    "next:\n bar.sync 1\n"
    " add back, at, 16\n sub back, back, less\n lds w, [shared + back*4]\n mad v, v, 5, w\n"
    " and w, at, 255\n lds w, [shared + w*4 + 64]\n xor v, v, w\n stg [x[global]], v\n"
    "out:\n exit\n";

/* What was read from a register before some lanes set it: before the loop, and in each round. */
static const char KEEPS[] =
    ".atlas 1\n.program keeps\n.param x buffer u32 inout [n]\n.param n u64\n.param rounds "
    "u32\n.shared 256\n"
    ".reg v, w, s, i, base, old u32\n"
    " ldg v, [x[global]]\n mov s, 0\n mov i, 0\n bra.lt v, 2147483648, @start\n mad v, v, 7, 1\n"
    "start:\n mov base, v\n"
    "again:\n mov old, v\n add s, s, base\n sts [shared + lane*4], v\n bar.sync 0\n xor w, lane, "
    "1\n lds w, [shared + w*4]\n"
    " bra.lt w, 2147483648, @next\n mad v, v, 3, w\n"
    "next:\n bar.sync 1\n mad v, old, 5, v\n add i, i, 1\n bra.lt i, rounds, @again\n"
    " add v, v, s\n stg [x[global]], v\n";

/* A tile is written by columns and read by rows, and the other way round. */
static const char TURNED[] =
    ".atlas 1\n.program turned\n.param x buffer u32 inout [n]\n.param n u64\n.shared 8192\n.reg v, "
    "w, at, to u32\n"
    " ldg v, [x[global]]\n mad at, lane_idx_x, 17, lane_idx_y\n mad to, lane_idx_y, 17, "
    "lane_idx_x\n"
    " sts [shared + at*4], v\n bar.sync 0\n lds w, [shared + to*4]\n mad v, v, 3, w\n"
    " sts [shared + to*4 + 2048], v\n bar.sync 1\n lds w, [shared + at*4 + 2048]\n mad v, v, 5, w\n"
    " stg [x[global]], v\n";

/* A number of 16 bits that wraps within a turn is no row of numbers of which the last is the
 * largest. */
static const char STEEP[] = ".atlas 1\n.program steep\n.param x buffer u32 inout [n]\n.param n "
                            "u64\n.param end u16\n.block 8\n.reg i u32\n.reg t u16\n"
                            " mov i, lane_idx_x\n cvt t, i\n mul t, t, 12000\n bra.ge t, end, "
                            "@out\n stg [x[global]], i\nout:\n exit\n";

typedef struct side {
    hg_backend *b;
    hg_program *rounds, *faults, *places, *keeps, *turned, *steep;
    uint32_t values[MOST];
    char error[256];
} side;

static side interpreter, native;

static void open_side(side *s, const char *jit) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    CHECK_OK(hg_backend_create_with_config(&config, &s->b));
    if (!s->b) exit(test_done());
    s->rounds = assemble(ROUNDS);
    s->faults = assemble(FAULTS);
    s->places = assemble(PLACES);
    s->keeps = assemble(KEEPS);
    s->steep = assemble(STEEP);
    s->turned = assemble(TURNED);
}

static void close_side(side *s) {
    hg_program_release(s->rounds);
    hg_program_release(s->faults);
    hg_program_release(s->places);
    hg_program_release(s->keeps);
    hg_program_release(s->steep);
    hg_program_release(s->turned);
    hg_backend_destroy(s->b);
}

typedef struct number {
    const char *name;
    hg_type type;
    uint64_t value;
} number;

/* The values afterwards, and what the launch said. */
static void run(side *s, const hg_program *program, const hg_launch *launch, uint64_t n,
                const number *numbers, size_t count) {
    hg_buffer x;
    for (uint32_t i = 0; i < MOST; i++) s->values[i] = i % 5 == 3 ? 7 : i * 2654435761u;
    hg_params *params = hg_params_create();
    CHECK_OK(hg_backend_allocate_buffer(s->b, n * 4, &x));
    CHECK_OK(hg_buffer_write(s->b, x, 0, s->values, n * 4));
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    for (size_t i = 0; i < count; i++)
        CHECK_OK(hg_params_set_scalar(params, numbers[i].name, numbers[i].type, &numbers[i].value));
    s->error[0] = 0;
    if (hg_backend_execute_program_with_params(s->b, program, launch, params) != HG_OK)
        snprintf(s->error, sizeof s->error, "%s", hg_last_error_text());
    CHECK_OK(hg_buffer_read(s->b, x, 0, s->values, n * 4));
    CHECK_OK(hg_backend_free_buffer(s->b, x));
    hg_params_destroy(params);
}

static void shape(uint32_t x, uint32_t y, uint32_t z, uint32_t blocks, uint64_t missing,
                  uint32_t rounds) {
    hg_launch launch = HG_LAUNCH_INIT;
    const uint64_t lanes = (uint64_t)x * y * z * blocks - missing;
    const number numbers[] = {{"n", HG_TYPE_U64, lanes}, {"rounds", HG_TYPE_U32, rounds}};
    launch.grid[0] = blocks;
    launch.block[0] = x;
    launch.block[1] = y;
    launch.block[2] = z;
    launch.lanes = lanes;
    run(&interpreter, interpreter.rounds, &launch, lanes, numbers, 2);
    run(&native, native.rounds, &launch, lanes, numbers, 2);
    CHECK_MESSAGE(!interpreter.error[0] && !native.error[0], "%s, %s", interpreter.error,
                  native.error);
    uint64_t i = 0;
    while (i < lanes && interpreter.values[i] == native.values[i]) i++;
    CHECK_MESSAGE(i == lanes, "blocks of %u x %u x %u, %u rounds: lane %u has %u, not %u", x, y, z,
                  rounds, (unsigned)i, (unsigned)native.values[i], (unsigned)interpreter.values[i]);
}

static void shapes(void) {
    static const uint32_t SIZES[] = {1, 3, 8, 31, 64, 100, 1024};
    for (size_t i = 0; i < HG_COUNT_OF(SIZES); i++)
        for (uint32_t rounds = 1; rounds < 6; rounds += 2) {
            shape(SIZES[i], 1, 1, 3, 0, rounds);
            shape(SIZES[i], 1, 1, 3, SIZES[i] / 3, rounds); /* the last block is not whole */
        }
    shape(16, 16, 1, 4, 0, 3);
    shape(16, 16, 1, 4, 100, 3);
    shape(5, 7, 3, 6, 0, 3);
    shape(5, 7, 3, 6, 33, 3);
    shape(1, 40, 1, 5, 7, 2);
    shape(20, 3, 4, 3, 1, 2);
}

static void fault(uint64_t first, uint64_t second, uint64_t third) {
    hg_launch launch = HG_LAUNCH_INIT;
    const number numbers[] = {{"n", HG_TYPE_U64, 300},
                              {"first", HG_TYPE_U64, first},
                              {"second", HG_TYPE_U64, second},
                              {"third", HG_TYPE_U64, third}};
    launch.grid[0] = 4;
    launch.block[0] = 75;
    run(&interpreter, interpreter.faults, &launch, 300, numbers, 4);
    run(&native, native.faults, &launch, 300, numbers, 4);
    CHECK_MESSAGE(strcmp(interpreter.error, native.error) == 0, "'%s', not '%s'", native.error,
                  interpreter.error);
    CHECK((first < 300 || second < 300 || third < 300) == (native.error[0] != 0));
    if (!native.error[0]) CHECK(memcmp(interpreter.values, native.values, 300 * 4) == 0);
}

static void faults(void) {
    const uint64_t none = 1000;
    fault(none, none, none);
    fault(12, none, none);
    fault(none, 12, none);
    fault(none, none, 299);
    fault(74, 3, none);  /* phase 0 comes first, though its lane is behind */
    fault(200, 3, 1);    /* another block's */
    fault(none, 160, 2); /* phase 1 before phase 2 */
    fault(none, 20, 20);
    fault(150, 149, 148);
}

/* ---- whole blocks, in which all goes well or not ---- */

static void place(uint64_t gone, uint32_t layer, uint32_t row, uint32_t less, uint64_t end,
                  bool faults) {
    hg_launch launch = HG_LAUNCH_INIT;
    const number numbers[] = {{"n", HG_TYPE_U64, 384},       {"gone", HG_TYPE_U64, gone},
                              {"layer", HG_TYPE_U32, layer}, {"row", HG_TYPE_U32, row},
                              {"less", HG_TYPE_U32, less},   {"end", HG_TYPE_U64, end}};
    launch.grid[0] = 3;
    launch.block[0] = 16;
    launch.block[1] = 4;
    launch.block[2] = 2;
    run(&interpreter, interpreter.places, &launch, 384, numbers, HG_COUNT_OF(numbers));
    run(&native, native.places, &launch, 384, numbers, HG_COUNT_OF(numbers));
    CHECK_MESSAGE(strcmp(interpreter.error, native.error) == 0, "'%s', not '%s'", native.error,
                  interpreter.error);
    CHECK_MESSAGE(faults == (native.error[0] != 0), "layers %u, rows %u apart: %s", (unsigned)layer,
                  (unsigned)row, native.error);
    if (faults) return; /* what the block's other lanes did by then is not said */
    uint64_t i = 0;
    while (i < 384 && interpreter.values[i] == native.values[i]) i++;
    CHECK_MESSAGE(
        i == 384,
        "layers %u, rows %u apart, %u less, end %u, without lane %u: lane %u has %u, not %u",
        (unsigned)layer, (unsigned)row, (unsigned)less, (unsigned)end, (unsigned)gone, (unsigned)i,
        (unsigned)native.values[i], (unsigned)interpreter.values[i]);
}

/* 1,024 words: the last lane's is layer + 3 row + 15. */
static void places(void) {
    const uint64_t none = 1000;
    place(none, 64, 16, 0, 1 << 20, false);
    place(none, 64, 16, 3, 1 << 20, false);
    place(none, 64, 16, 3, 40, false); /* the end is within the block */
    place(none, 64, 16, 0, 48, false);
    place(none, 64, 16, 0, 47, false);
    place(none, 64, 16, 0, 9, false);
    place(none, 64, 16, 0, 0, false);
    place(130, 64, 16, 2, 1 << 20, false); /* one lane is gone */
    place(383, 64, 16, 2, 60, false);
    place(none, 700, 97, 0, 0, false);   /* 1,006, and reads at 16 more */
    place(none, 700, 97, 16, 0, false);  /* 1,006 */
    place(none, 700, 102, 16, 0, false); /* 1,021 */
    place(none, 700, 103, 16, 0, true);
    place(none, 709, 100, 16, 0, true);
    place(none, 64, 1u << 30, 0, 0, true);
    place(none, 1u << 31, 1u << 30, 16, 1 << 20, true);
    place(none, 64, 0x80000000u, 16, 1 << 20, true);
    place(none, 0, 0, 16, 1 << 20, false);  /* all rows in one place: the last lane's stays */
    place(none, 64, 16, 17, 1 << 20, true); /* the first lane's is before the memory */
    place(none, 64, 16, 16, 1 << 20, false);
    place(none, 0xFFFFFFFFu, 16, 0, 1 << 20, true);
    place(none, 900, 0xFFFFFFFFu, 8, 5, true); /* a layer of 900 less some rows */
}

static void same(const hg_program *of_interpreter, const hg_program *of_native, uint32_t x,
                 uint32_t y) {
    hg_launch launch = HG_LAUNCH_INIT;
    const uint64_t lanes = (uint64_t)x * y * 4;
    const number numbers[] = {{"n", HG_TYPE_U64, lanes}, {"rounds", HG_TYPE_U32, 4}};
    const size_t count = of_interpreter == interpreter.keeps ? 2 : 1;
    launch.grid[0] = 4;
    launch.block[0] = x;
    launch.block[1] = y;
    run(&interpreter, of_interpreter, &launch, lanes, numbers, count);
    run(&native, of_native, &launch, lanes, numbers, count);
    CHECK_MESSAGE(!interpreter.error[0] && !native.error[0], "%s, %s", interpreter.error,
                  native.error);
    CHECK(memcmp(interpreter.values, native.values, lanes * 4) == 0);
}

static void steep(void) {
    hg_launch launch = HG_LAUNCH_INIT;
    const number numbers[] = {{"n", HG_TYPE_U64, 192}, {"end", HG_TYPE_U16, 20000}};
    launch.grid[0] = 24;
    launch.block[0] = 8;
    run(&interpreter, interpreter.steep, &launch, 192, numbers, 2);
    run(&native, native.steep, &launch, 192, numbers, 2);
    CHECK_MESSAGE(!interpreter.error[0] && !native.error[0], "%s, %s", interpreter.error,
                  native.error);
    CHECK(memcmp(interpreter.values, native.values, 192 * 4) == 0);
}

/* ---- turns as long as rows ---- */

static native_compiler recorder;
static hg_status (*compile)(vec_kernel *kernel, const hg_jit_options *options,
                            const hg_patience *patience, hg_jit_object *object, char reason[256]);
static uint32_t lanes_of_turn;

static hg_status record(vec_kernel *kernel, const hg_jit_options *options,
                        const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    lanes_of_turn = kernel->lanes;
    return compile(kernel, options, patience, object, reason);
}

static void rows_of(const char *block, uint32_t lanes) {
    char text[512];
    hg_launch launch = HG_LAUNCH_INIT;
    const number numbers[] = {{"n", HG_TYPE_U64, 48}};
    snprintf(text, sizeof text,
             ".atlas 1\n.program row\n.param x buffer u32 inout [n]\n.param n u64\n.shared "
             "256\n.block %s\n.lanes n\n.reg v u32\n"
             " ldg v, [x[global]]\n sts [shared + lane*4], v\n bar.sync 0\n xor v, lane, 1\n lds "
             "v, [shared + v*4]\n stg [x[global]], v\n",
             block);
    hg_program *program = assemble(text);
    lanes_of_turn = 0;
    launch.lanes = 48;
    run(&native, program, &launch, 48, numbers, 1);
    CHECK_MESSAGE(!native.error[0] && lanes_of_turn == lanes,
                  "blocks of %s: %u lanes a turn, not %u (%s)", block, (unsigned)lanes_of_turn,
                  (unsigned)lanes, native.error);
    hg_program_release(program);
}

static void record_turns(void) {
    recorder = *native_compiler_in_use;
    compile = recorder.compile;
    recorder.compile = record;
    native_compiler_in_use = &recorder;
}

/* With 8 lanes at the most and native vectors of 4 floats. */
static void rows(void) {
    record_turns();
    rows_of("16", 8);
    rows_of("4, 4", 4);
    rows_of("12", 4);
    rows_of("6", 8); /* no turn fits */
}

static void with(const char *compiler) {
    char reason[256];
    interpreter = native = (side){0};
    native_compiler_in_use = NULL;
    open_side(&interpreter, "off");
    if (c_vectors_use(compiler, reason)) {
        open_side(&native, "on");
        shapes();
        faults();
        places();
        same(interpreter.keeps, native.keeps, 48, 1);
        same(interpreter.turned, native.turned, 16, 16);
        same(interpreter.turned, native.turned, 12, 16);
        steep();
        rows();
        close_side(&native);
        test_failed += c_vectors_end() != 0;
    } else {
        SKIP(reason);
    }
    close_side(&interpreter);
}

/* With 16 lanes at the most and native vectors of 8 floats. */
static void rows_of_wide(const char *compiler) {
    char reason[256];
    native = (side){0};
    native_compiler_in_use = NULL;
    if (!c_vectors_use(compiler, reason)) {
        SKIP(reason);
        return;
    }
    open_side(&native, "on");
    record_turns();
    rows_of("16", 16);
    rows_of("8, 2", 8);
    rows_of("4", 4);
    rows_of("4, 4", 4);
    rows_of("12", 16); /* no turn fits */
    close_side(&native);
    test_failed += c_vectors_end() != 0;
}

int main(void) {
    rows_of_wide("32:16:llvm");
    with("16:8:gcc -O1");
    with("16:8:llvm");
    return test_done();
}

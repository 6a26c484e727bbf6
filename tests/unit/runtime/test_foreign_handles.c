/* Buffers and pools of one backend are errors for another, in every call that takes them; programs
 * see 1, 2, 3 on each. test_foreign_handles [BACKEND] */
#include "support/runtime_support.h"
#include <string.h>

#define FOREIGN(call)                                                                           \
    do {                                                                                        \
        CHECK_STATUS(call, HG_ERROR_INVALID_BUFFER);                                            \
        CHECK_MESSAGE(strstr(hg_last_error()->message, ": it is of another backend"), "%s: %s", \
                      #call, hg_last_error()->message);                                         \
    } while (0)

static const char *other_name = "cpu";

/* The handles that a program sees are stored. */
#define SHOW                                                                                 \
    PROGRAM(".param r1 x buffer u64 inout [2]\n.param r2 y buffer u32 in [n]\n.param r3 n "  \
            "u64\n.scratch r4 t u32 [n]\n"                                                   \
            ".lanes 1\n mov_imm.u64 r10, 0\n stg.u64 [r1 + r10], r1\n mov_imm.u64 r10, 8\n " \
            "stg.u64 [r1 + r10], r2\n")

static void check_shown(hg_backend *b, hg_buffer x, hg_buffer y) {
    hg_program *p = assemble(SHOW);
    hg_params *params = hg_params_create();
    uint64_t seen[2];
    CHECK_OK(hg_params_set_buffer(params, "x", x));
    CHECK_OK(hg_params_set_buffer(params, "y", y));
    for (int i = 0; i < 4; i++) { /* the fast ways too */
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, x, seen, sizeof seen));
        CHECK(seen[0] == 1 && seen[1] == 2);
    }
    hg_params_destroy(params);
    hg_program_release(p);
}

static void check_copies(hg_backend *b, hg_buffer own, hg_buffer foreign, hg_pool own_pool,
                         hg_pool foreign_pool) {
    uint64_t word = 0, size;
    FOREIGN(hg_backend_copy_to_buffer(b, foreign, &word, 8));
    FOREIGN(hg_backend_copy_from_buffer(b, foreign, &word, 8));
    FOREIGN(hg_buffer_write(b, foreign, 0, &word, 8));
    FOREIGN(hg_buffer_read(b, foreign, 0, &word, 0));
    FOREIGN(hg_backend_buffer_size(b, foreign, &size));
    FOREIGN(hg_backend_copy_to_pool(b, foreign_pool, 0, &word, 8));
    FOREIGN(hg_backend_copy_from_pool(b, foreign_pool, 0, &word, 8));
    FOREIGN(hg_backend_pool_store(b, foreign_pool, 0, &word, 8));
    FOREIGN(hg_backend_pool_load(b, foreign_pool, 0, &word, 8));
    FOREIGN(hg_backend_pool_size(b, foreign_pool, &size));
    FOREIGN(hg_backend_free_buffer(b, foreign));
    FOREIGN(hg_backend_free_pool(b, foreign_pool));
    CHECK_OK(hg_backend_copy_to_buffer(b, own, &word, 8));
    CHECK_OK(hg_backend_copy_to_pool(b, own_pool, 0, &word, 8));
    CHECK_OK(hg_backend_buffer_size(b, own, &size));
    CHECK_U64(size, 16);
}

static void check_launch(hg_backend *b, hg_buffer own, hg_buffer foreign, hg_pool foreign_pool) {
    hg_program *p = assemble(PROGRAM(".param r1 x buffer u32 inout\n.param r2 t pool 8\n.lanes 1\n "
                                     "mov_imm.u64 r10, 0\n stg.u32 [r1 + r10], r252\n"));
    hg_params *params = hg_params_create();
    hg_executable *e;
    hg_binding *binding = NULL;
    CHECK_OK(hg_params_set_buffer(params, "x", foreign));
    FOREIGN(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_executable_create(b, p, &e));
    FOREIGN(hg_binding_create(e, NULL, params, &binding));
    CHECK_OK(hg_params_set_buffer(params, "x", own));
    for (int i = 0; i < 3; i++)
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_params_set_buffer(params, "x", foreign)); /* behind the fast way of the right one */
    FOREIGN(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_params_set_buffer(params, "x", own));
    CHECK_OK(hg_params_set_pool(params, "t", foreign_pool));
    FOREIGN(hg_backend_execute_program_with_params(b, p, NULL, params));
    hg_executable_destroy(e);
    hg_params_destroy(params);
    hg_program_release(p);
}

static void check_queue(hg_backend *b, hg_buffer own, hg_buffer foreign) {
    uint64_t word = 0;
    hg_queue *queue;
    hg_command commands[] = {
        {.size = sizeof *commands,
         .kind = HG_COMMAND_COPY_IN,
         .buffer = foreign,
         .host = &word,
         .length = 8},
        {.size = sizeof *commands,
         .kind = HG_COMMAND_COPY_OUT,
         .buffer = foreign,
         .host = &word,
         .length = 8},
        {.size = sizeof *commands,
         .kind = HG_COMMAND_COPY,
         .buffer = own,
         .source = foreign,
         .length = 8},
        {.size = sizeof *commands,
         .kind = HG_COMMAND_COPY,
         .buffer = foreign,
         .source = own,
         .length = 8},
        {.size = sizeof *commands, .kind = HG_COMMAND_FILL, .buffer = foreign, .length = 8}};
    CHECK_OK(hg_queue_create(b, NULL, &queue));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        hg_status status = hg_queue_submit(queue, &commands[i], 1, NULL, 0, NULL);
        FOREIGN(status == HG_OK ? hg_queue_synchronize(queue) : status);
    }
    hg_queue_destroy(queue);
}

/* A raw register may hold either number of an own buffer. */
static void check_registers(hg_backend *b, hg_buffer own, hg_buffer foreign) {
    hg_program *p = assemble(PROGRAM(".lanes 1\n mov_imm.u64 r10, 0\n stg.u32 [r1 + r10], r254\n"));
    const uint64_t numbers[] = {own.handle, 1};
    hg_params *params = hg_params_create();
    for (size_t i = 0; i < 2; i++) {
        uint32_t seen = 0;
        CHECK_OK(hg_backend_copy_to_buffer(b, own, &seen, 4));
        CHECK_OK(hg_params_set_register_u64(params, 1, numbers[i]));
        CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
        CHECK_OK(hg_backend_copy_from_buffer(b, own, &seen, 4));
        CHECK_U64(seen, 1);
    }
    if (foreign.handle != 1) {
        CHECK_OK(hg_params_set_register_u64(params, 1, foreign.handle));
        CHECK(hg_backend_execute_program_with_params(b, p, NULL, params) != HG_OK);
    }
    hg_params_destroy(params);
    hg_program_release(p);
}

static void test_pair(const char *first, const char *second) {
    hg_backend *b[2] = {open_backend(first), open_backend(second)};
    hg_buffer x[2], y[2];
    hg_pool pool[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hg_backend_allocate_buffer(b[i], 16, &x[i]));
        CHECK_OK(hg_backend_allocate_buffer(b[i], 16, &y[i]));
        CHECK_OK(hg_backend_allocate_pool(b[i], 16, &pool[i]));
    }
    CHECK(x[0].handle == 1 && y[0].handle == 2 && pool[0].handle == 1);
    CHECK(x[1].handle != 1 && x[1].handle >> 63 == 0 && (x[1].handle & ((1 << 23) - 1)) == 1);
    for (int i = 0; i < 2; i++) {
        bool runs = strcmp(hg_backend_name(b[i]), "null") != 0;
        if (runs) check_shown(b[i], x[i], y[i]);
        check_copies(b[i], x[i], x[!i], pool[i], pool[!i]);
        check_launch(b[i], x[i], x[!i], pool[!i]);
        check_queue(b[i], x[i], x[!i]);
        if (runs) check_registers(b[i], x[i], x[!i]);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hg_backend_free_buffer(b[i], x[i]));
        CHECK_STATUS(hg_backend_free_buffer(b[i], x[i]), HG_ERROR_INVALID_BUFFER);
        CHECK_OK(hg_backend_free_buffer(b[i], y[i]));
        CHECK_OK(hg_backend_free_pool(b[i], pool[i]));
    }
    hg_backend_destroy(b[0]);
    hg_backend *again = open_backend(first); /* has the number that is free now */
    CHECK_OK(hg_backend_allocate_buffer(again, 16, &x[0]));
    CHECK_U64(x[0].handle, 1);
    hg_backend_destroy(again);
    hg_backend_destroy(b[1]);
}

/* Very many at a time, each with numbers of its own. */
static void test_many(void) {
    enum { MANY = 100 };
    static hg_backend *b[MANY];
    static hg_buffer x[MANY];
    for (int i = 0; i < MANY; i++) {
        b[i] = open_backend("null");
        CHECK_OK(hg_backend_allocate_buffer(b[i], 16, &x[i]));
        for (int k = 0; k < i; k++) CHECK(x[k].handle != x[i].handle);
    }
    FOREIGN(hg_backend_free_buffer(b[3], x[77]));
    for (int i = 0; i < MANY; i++) hg_backend_destroy(b[i]);
}

/* Memory that would go beyond the end of all addresses. */
static void test_import(void) {
    static uint64_t memory[64];
    hg_backend *b = open_backend("cpu");
    hg_buffer buffer;
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - (uintptr_t)memory + 1,
                              UINT64_MAX / 2 + (UINT64_MAX / 2 - 4096)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_STATUS(hg_buffer_import(b, memory, sizes[i], &buffer), HG_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(hg_buffer_import_device(b, HG_MEMORY_HOST, 0, memory, sizes[i], &buffer),
                     HG_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(hg_last_error()->message, "go beyond the end of all addresses"));
    }
    CHECK_OK(hg_buffer_import(b, memory, sizeof memory, &buffer));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_backend_destroy(b);
}

int main(int argc, char **argv) {
    if (argc > 1) other_name = argv[1];
    test_pair(other_name, "cpu");
    test_pair("cpu", other_name);
    test_pair("cpu", "null");
    test_many();
    test_import();
    return test_done();
}

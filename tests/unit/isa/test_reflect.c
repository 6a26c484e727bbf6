/* Reflection: programs and their parameters against their texts, wrong calls, structures of other
 * sizes, failing allocations. (Every instruction and operand is compared with the table by
 * tests/binding.) */
#include "support/runtime_support.h"
#include <pthread.h>

static failing_allocator memory;

static const char TEXT[] = ".atlas 1\n"
                           ".program whole\n"
                           ".meta author \"somebody\"\n"
                           ".meta zebra \"striped\"\n"
                           ".param r1 x buffer f32 in [n, ceil(m / 4) + 1, 7]\n"
                           ".param r2 y buffer i8 out []\n"
                           ".param r3 z buffer f64 inout\n"
                           ".param r4 n u64\n"
                           ".param r5 m u32 = 12\n"
                           ".param r6 alpha f32 = -0.5\n"
                           ".param r7 p pool 4096\n"
                           ".scratch r8 s f32 [n]\n"
                           ".shared 64\n"
                           ".private 16\n"
                           ".block 8, 2, 1\n"
                           ".grid ceil(n / 16), 2\n"
                           ".entry main\n"
                           "helper:\n"
                           "    ret\n"
                           "main:\n"
                           "    call @helper\n"
                           "last:\n";

#define PARAM(p, i, d)                           \
    hg_param_description d = {.size = sizeof d}; \
    CHECK_OK(hg_program_param(p, i, &d))

static void parameters(const hg_program *p) {
    CHECK_U64(hg_program_param_count(p), 7); /* the scratch is none */
    PARAM(p, 0, x);
    CHECK_TEXT(x.name, "x");
    CHECK(x.kind == HG_PARAM_BUFFER && x.type == HG_TYPE_F32 && x.dir == HG_PARAM_IN &&
          x.rank == 3 && x.reg == 1);
    CHECK_TEXT(x.dims[0], "n");
    CHECK_TEXT(x.dims[1], "ceil(m / 4) + 1");
    CHECK_TEXT(x.dims[2], "7");
    CHECK(!x.dims[3] && !x.default_text && !x.default_value);
    PARAM(p, 1, y);
    CHECK(y.kind == HG_PARAM_BUFFER && y.type == HG_TYPE_I8 && y.dir == HG_PARAM_OUT &&
          y.rank == 0 && !y.dims[0]);
    PARAM(p, 2, z);
    CHECK(z.dir == HG_PARAM_INOUT && z.rank == HG_NO_DIMS && !z.dims[0]);
    PARAM(p, 3, n);
    CHECK(n.kind == HG_PARAM_SCALAR && n.type == HG_TYPE_U64 && n.dir == 0 && n.rank == 0 &&
          !n.default_text);
    PARAM(p, 4, m);
    CHECK_TEXT(m.default_text, "12");
    CHECK(m.default_value && memcmp(m.default_value, &(uint32_t){12}, 4) == 0);
    PARAM(p, 5, alpha);
    CHECK_TEXT(alpha.default_text, "-0.5");
    CHECK(alpha.default_value && memcmp(alpha.default_value, &(float){-0.5f}, 4) == 0);
    PARAM(p, 6, pool);
    CHECK(pool.kind == HG_PARAM_POOL && pool.type == HG_TYPE_COUNT && pool.pool_bytes == 4096 &&
          pool.reg == 7);
}

static void whole_program(const hg_program *p) {
    hg_program_description d = {.size = sizeof d};
    CHECK_OK(hg_program_describe(p, &d));
    CHECK_TEXT(d.name, "whole");
    CHECK_TEXT(d.entry_label, "main");
    CHECK(d.entry == 1 && d.instructions == 2 && d.params == 7 && d.labels == 3 && d.metas == 2 &&
          !d.relaxed);
    CHECK(d.shared_bytes == 64 && d.private_bytes == 16 && d.block[0] == 8 && d.block[1] == 2 &&
          d.block[2] == 1);
    CHECK(d.lanes_count == 0 && !d.lanes[0] && d.grid_count == 2 && !d.grid[2]);
    CHECK_TEXT(d.grid[0], "ceil(n / 16)");
    CHECK_TEXT(d.grid[1], "2");
    static const struct {
        const char *name;
        uint64_t instruction;
        bool entry, called;
    } labels[] = {{"helper", 0, false, true}, {"main", 1, true, false}, {"last", 2, false, false}};
    for (size_t i = 0; i < 3; i++) {
        hg_label_description label = {.size = sizeof label};
        CHECK_OK(hg_program_label(p, i, &label));
        CHECK_TEXT(label.name, labels[i].name);
        CHECK(label.instruction == labels[i].instruction && label.entry == labels[i].entry &&
              label.called == labels[i].called);
    }
    CHECK_TEXT(hg_program_meta_key(p, 0), "author");
    CHECK_TEXT(hg_program_meta_key(p, 1), "zebra");
    CHECK(!hg_program_meta_key(p, 2) && !hg_program_meta_key(NULL, 0));
    CHECK_TEXT(hg_program_meta(p, hg_program_meta_key(p, 1)), "striped");
}

static void lanes_and_flags(void) {
    hg_program *p = NULL;
    hg_builder *b = hg_builder_create("built");
    hg_dim lanes[] = {hg_dim_of(3), hg_dim_param("n")};
    hg_builder_param_scalar(b, 1, "n", HG_TYPE_U32);
    hg_builder_lanes(b, lanes, 2);
    hg_builder_relaxed(b);
    hg_build_exit(b);
    CHECK_OK(hg_builder_build(b, NULL, &p));
    hg_program_description d = {.size = sizeof d};
    CHECK_OK(hg_program_describe(p, &d));
    CHECK(d.relaxed && d.lanes_count == 2 && !d.lanes[2] && d.grid_count == 0 && d.block[0] == 0 &&
          !d.entry_label && d.labels == 0);
    CHECK_TEXT(d.lanes[0], "3");
    CHECK_TEXT(d.lanes[1], "n");
    hg_program_release(p);
    hg_builder_destroy(b);
}

static void types(void) {
    CHECK(hg_bits_version() == HG_BITS_VERSION && hg_version() == HG_VERSION &&
          HG_VERSION == HG_VERSION_OF(HG_VERSION_MAJOR, HG_VERSION_MINOR, HG_VERSION_PATCH));
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        hg_type_description d = {.size = sizeof d};
        hg_type named;
        CHECK_OK(hg_type_describe((hg_type)t, &d));
        CHECK(hg_type_from_name(d.name, strlen(d.name), &named) && (int)named == t);
        bool is_brain = strncmp(d.name, "bf", 2) == 0;
        CHECK_U64(8 * d.bytes, strtoul(d.name + 1 + is_brain, NULL, 10)); /* "bf16", "u4096" */
        CHECK(d.is_float == (d.name[0] == 'f' || is_brain) && d.is_signed == (d.name[0] != 'u'));
    }
}

/* ---- wrong calls ---- */

static void wrong(const hg_program *p) {
    hg_op_description op = {.size = sizeof op};
    hg_operand_description operand = {.size = sizeof operand};
    hg_type_description type = {.size = sizeof type};
    hg_param_description param = {.size = sizeof param};
    hg_program_description program = {.size = sizeof program};
    hg_label_description label = {.size = sizeof label};
    char text[120];
    snprintf(text, sizeof text, "there is no instruction form 100000: there are %zu, from 0",
             hg_op_count());
    CHECK_FAILS(hg_op_describe(100000, &op), HG_ERROR_INVALID_ARGUMENT, "", text);
    CHECK_FAILS(hg_op_operand(100000, 0, &operand), HG_ERROR_INVALID_ARGUMENT, "", text);
    CHECK_OK(hg_op_describe(0, &op));
    snprintf(text, sizeof text, "there is no operand %u of %s: there are %u, from 0",
             (unsigned)op.operand_count, op.id, (unsigned)op.operand_count);
    CHECK_FAILS(hg_op_operand(0, op.operand_count, &operand), HG_ERROR_INVALID_ARGUMENT, "", text);
    CHECK_FAILS(hg_type_describe(HG_TYPE_COUNT, &type), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no type 24: there are 24, from 0");
    CHECK_FAILS(hg_program_param(p, 7, &param), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no parameter 7 of program 'whole': there are 7, from 0");
    CHECK_FAILS(hg_program_label(p, 3, &label), HG_ERROR_INVALID_ARGUMENT, "",
                "there is no label 3 of program 'whole': there are 3, from 0");
    CHECK_FAILS(hg_op_describe(0, NULL), HG_ERROR_INVALID_ARGUMENT, "", "op is NULL");
    CHECK_FAILS(hg_op_operand(0, 0, NULL), HG_ERROR_INVALID_ARGUMENT, "", "description is NULL");
    CHECK_FAILS(hg_type_describe(HG_TYPE_F32, NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "description is NULL");
    CHECK_FAILS(hg_program_param(NULL, 0, &param), HG_ERROR_INVALID_ARGUMENT, "",
                "program is NULL");
    CHECK_FAILS(hg_program_param(p, 0, NULL), HG_ERROR_INVALID_ARGUMENT, "", "description is NULL");
    CHECK_FAILS(hg_program_describe(NULL, &program), HG_ERROR_INVALID_ARGUMENT, "",
                "program is NULL");
    CHECK_FAILS(hg_program_label(NULL, 0, &label), HG_ERROR_INVALID_ARGUMENT, "",
                "program is NULL");
    param.size = 12;
    CHECK_STATUS(hg_program_param(p, 0, &param), HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(hg_last_error_text(), "hg_param_description.size is 12"));
}

/* Each structure as headers of other versions have it: of a newer one, whose bytes become zero, and
 * of none. */
#define AS_OF_OTHERS(type, call)                                                   \
    do {                                                                           \
        struct {                                                                   \
            type known;                                                            \
            uint64_t more, guard;                                                  \
        } s = {.known.size = sizeof s.known + 8, .more = 5, .guard = 77};          \
        CHECK_OK(call);                                                            \
        CHECK(s.known.size == sizeof s.known + 8 && s.more == 0 && s.guard == 77); \
        s.known.size = sizeof s.known + 3;                                         \
        CHECK_STATUS(call, HG_ERROR_INVALID_ARGUMENT);                             \
        CHECK(strstr(hg_last_error_text(), #type ".size is"));                     \
        s.known.size = 8;                                                          \
        CHECK_STATUS(call, HG_ERROR_INVALID_ARGUMENT);                             \
    } while (0)

static void sizes(const hg_program *p) {
    AS_OF_OTHERS(hg_op_description, hg_op_describe(0, &s.known));
    AS_OF_OTHERS(hg_operand_description, hg_op_operand(0, 0, &s.known));
    AS_OF_OTHERS(hg_type_description, hg_type_describe(HG_TYPE_F32, &s.known));
    AS_OF_OTHERS(hg_program_description, hg_program_describe(p, &s.known));
    AS_OF_OTHERS(hg_param_description, hg_program_param(p, 0, &s.known));
    AS_OF_OTHERS(hg_label_description, hg_program_label(p, 0, &s.known));
}

/* ---- failing allocations, and threads ---- */

static hg_status all_of(const hg_program *p) {
    hg_param_description param = {.size = sizeof param};
    hg_program_description program = {.size = sizeof program};
    hg_label_description label = {.size = sizeof label};
    hg_status status = hg_program_label(p, 0, &label);
    if (status == HG_OK) status = hg_program_param(p, 0, &param);
    return status == HG_OK ? hg_program_describe(p, &program) : status;
}

static void failing_allocations(void) {
    bool done = false;
    for (uint64_t n = 1; n < 200 && !done; n++) {
        hg_program *p = assemble(TEXT);
        uint64_t before = memory.live;
        memory.allocations = 0;
        memory.fail_at = n;
        hg_status status = all_of(p);
        done = memory.allocations < n;
        memory.fail_at = 0;
        CHECK_STATUS(status, done ? HG_OK : HG_ERROR_OUT_OF_MEMORY);
        CHECK(status == HG_OK || memory.live == before);
        CHECK_OK(all_of(p)); /* with memory again */
        hg_program_release(p);
    }
    CHECK(done);
}

static void *ask(void *program) {
    hg_param_description *d = calloc(1, sizeof *d);
    d->size = sizeof *d;
    if (hg_program_param(program, 0, d) != HG_OK) d->name = NULL;
    return d;
}

/* Whoever asks first makes the texts: all get the same ones. */
static void threads(void) {
    for (int round = 0; round < 20; round++) {
        hg_program *p = assemble(TEXT);
        pthread_t thread[4];
        hg_param_description *first = NULL;
        for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, ask, p);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(thread[i], &result);
            hg_param_description *d = result;
            CHECK(d->name && (!first || d->dims[1] == first->dims[1]));
            if (first)
                free(d);
            else
                first = d;
        }
        free(first);
        hg_program_release(p);
    }
}

int main(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    hg_program *p = assemble(TEXT);
    parameters(p);
    whole_program(p);
    wrong(p);
    sizes(p);
    hg_program_release(p);
    lanes_and_flags();
    types();
    failing_allocations();
    threads();
    return test_done();
}

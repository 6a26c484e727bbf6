/* Sums, products and LERP of f16 and bf16: in f32, rounded once at the end, in registers as in
 * arrays, on every CPU level and in poor mode. */
#include "support/library.h"
#include "test.h"

enum { COUNT = 3 };

/* Three values, the lines of a program that leave its result in r20, r21 and memory, and what all
 * of them must be. */
typedef struct halves_case {
    const char *type, *op, *name; /* of reduce.* and of parallel_reduce; NULL: the instruction op of
                                     three operands */
    uint16_t values[COUNT], expected;
} halves_case;

static const halves_case CASES[] = {
    {"f16", "add", "sum", {0x6800, 0x3C00, 0x3C00}, 0x6801},     /* 2048 + 1 + 1 = 2050; a step at a
                                                                    time in f16: 2048 */
    {"bf16", "add", "sum", {0x4380, 0x3F80, 0x3F80}, 0x4381},    /* 256 + 1 + 1 = 258, else 256 */
    {"f16", "mul", "product", {0x5CB0, 0x5CB0, 0x3400}, 0x757E}, /* 300 * 300 / 4 = 22500, else
                                                                    infinite */
    {"bf16", "mul", "product", {0x3F85, 0x3F85, 0x3F85}, 0x3F90}, /* 1.0390625^3, else 3F8F */
    {"f16", "lerp", NULL, {0x0001, 0x0000, 0x3C01}, 0x8000}, /* 2^-24 - 2^-24 * (1 + 2^-10) is below
                                                                zero, else 0000 */
    {"bf16", "lerp", NULL, {0x0001, 0x0000, 0x3F81}, 0x8000},
};

/* All forms of the case, each stored at its own place; how many there are. */
static int write_program(const halves_case *s, char *text, size_t room) {
    const char *t = s->type;
    int n = snprintf(
        text, room,
        ".atlas 1\n.program halves\n.param r1 out buffer %s out\n.param r2 in buffer %s in\n"
        "    ldg.%s r10, [buf(r2) + 0]\n    ldg.%s r11, [buf(r2) + 2]\n    ldg.%s r12, [buf(r2) + "
        "4]\n",
        t, t, t, t, t);
    if (!s->name) {
        snprintf(text + n, room - (size_t)n,
                 "    %s.%s r20, r10, r11, r12\n    stg.%s [buf(r1) + 0], r20\n", s->op, t, t);
        return 1;
    }
    snprintf(text + n, room - (size_t)n,
             "    reduce.%s.%s r20, r10, 3\n    stg.%s [buf(r1) + 0], r20\n    reduce.%s.%s r21, "
             "[buf(r2) + 0], 3\n"
             "    stg.%s [buf(r1) + 2], r21\n    parallel_reduce.%s [buf(r1) + 4], r2, %s, 3\n",
             s->op, t, t, s->op, t, t, t, s->name);
    return 3;
}

static void run(const char *level, const char *pretend, const halves_case *s) {
    char reason[256];
    library *l = library_open("cpu", level, pretend, reason);
    if (!l) {
        SKIP(reason);
        return;
    }
    run_case c = {.cleared_class = 96};
    run_result result;
    hg_program *program = NULL;
    hg_type type = s->type[0] == 'b' ? HG_TYPE_BF16 : HG_TYPE_F16;
    char text[1024];
    int forms = write_program(s, text, sizeof text);
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &program);
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    case_add_array(&c, "out", type, NULL, sizeof s->values);
    case_add_array(&c, "in", type, s->values, sizeof s->values);
    case_set_lanes(&c, 1);
    if (status == HG_OK) {
        library_run(l, program, &c, &result);
        CHECK_MESSAGE(result.outcome == RUN_OK, "%s", result.message);
        for (int i = 0; i < forms; i++) {
            uint16_t got;
            memcpy(&got, c.arrays[0].bytes + 2 * i, sizeof got);
            CHECK_MESSAGE(got == s->expected, "%s.%s, form %d, level '%s' %s: %04x, expected %04x",
                          s->op, s->type, i, level, pretend, got, s->expected);
        }
    }
    case_free(&c);
    hg_program_release(program);
    library_close(l);
}

int main(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        run("", "", &CASES[i]);
        run("baseline", "", &CASES[i]);
        run("", "poor", &CASES[i]);
        run("", "expand", &CASES[i]);
    }
    return test_done();
}

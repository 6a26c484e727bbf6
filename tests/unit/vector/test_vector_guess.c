/* Loads whose index is a loaded value: whether the access may ask for the guess of its index says
 * nothing of the value that it loads. Each case is a chain of loads, of every type, one the index
 * of the next, with the control flow that makes guesses, and its last value is read, written
 * through, counted by an atomic, or divides. All have a vector form that keeps its rules. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <hologram/emit.h>
#include <string.h>

static const char *const TYPES[] = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"};
static const unsigned BYTES[] = {1, 1, 2, 2, 4, 4, 8, 8};

/* Where the first load of the chain reads, as an index in i (u32). */
static const char *const PLACES[] = {"",
                                     "    div i, i, m\n",
                                     "    rem i, i, m\n",
                                     "    xor i, i, m\n",
                                     "    add i, i, m\n",
                                     "    mov i, 0\n"};

/* Around the accesses: before, behind. */
static const struct {
    const char *before, *behind;
} FLOWS[] = {
    {"", ""},
    {"    bra.eq i, 70, @end\n", "end:\n"},
    {"    bra.eq i, 65536, @end\n    loop k, 3\n    endloop\n", "end:\n"},
    {"    loop k, m\n", "    endloop\n"},
    {"    and j, i, 3\nagain:\n", "    loop j, @again\n"},
    {"    bra.ge i, m, @end\n    loop k, 2\n", "    endloop\nend:\n"},
};

/* What is done at the value that the chain ends with: as u64 in v. */
static const char *const ENDS[] = {
    "    ldg b, [w + v]\n",
    "    stg [w + v], b\n",
    "    ldg b, [w + v]\n    cvt v, b\n    ldg b, [w + v]\n",
    "    atom.add.u32 q, [c + v*4], i\n",
    "    add v, v, 1\n    div v, v, 3\n    ldg b, [w + v]\n",
    "    cvt q, v\n    bra.lt q, 2, @less\n    ldg b, [w + q]\nless:\n",
};

static hg_program *program_of(size_t first, size_t second, size_t place, size_t flow, size_t end) {
    char text[2048];
    snprintf(text, sizeof text,
             ".atlas 1\n.program guess\n.param at buffer %s in\n.param to buffer %s in\n.param w "
             "buffer u8 inout\n.param c buffer u32 inout\n"
             ".param out buffer u8 out [n]\n.param n u64\n.param m u32\n.lanes n\n.reg i, j, k, q "
             "u32\n.reg v u64\n.reg b u8\n"
             ".reg x %s\n.reg y %s\n    cvt i, global\n    mov b, 0\n    mov q, 0\n%s%s    ldg x, "
             "[at[i]]\n    cvt v, x\n"
             "    ldg y, [to + v*%u]\n    cvt v, y\n%s%s    stg [out[global]], b\n",
             TYPES[first], TYPES[second], TYPES[first], TYPES[second], PLACES[place],
             FLOWS[flow].before, BYTES[second], ENDS[end], FLOWS[flow].behind);
    return assemble(text);
}

static void check(size_t first, size_t second, size_t place, size_t flow, size_t end) {
    hg_program *program = program_of(first, second, place, flow, end);
    char *text = NULL;
    size_t length = 0;
    CHECK_MESSAGE(hg_program_emit(program, "vector", NULL, &text, &length) == HG_OK,
                  "%s, %s, place %zu, flow %zu, end %zu: %s", TYPES[first], TYPES[second], place,
                  flow, end, hg_last_error_text());
    hg_string_free(text);
    hg_program_release(program);
}

int main(void) {
    for (size_t first = 0; first < HG_COUNT_OF(TYPES); first++)
        for (size_t place = 0; place < HG_COUNT_OF(PLACES); place++)
            for (size_t flow = 0; flow < HG_COUNT_OF(FLOWS); flow++)
                for (size_t end = 0; end < HG_COUNT_OF(ENDS); end++)
                    check(first, (first + place + flow + end) % HG_COUNT_OF(TYPES), place, flow,
                          end);
    return test_done();
}

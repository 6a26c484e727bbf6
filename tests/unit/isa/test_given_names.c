/* .name: disassembled text says what registers were called, and assembles to the same bytes; its
 * mistakes. */
#include "isa/program.h"
#include "test.h"

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n"
#define ARRAY ".param x buffer f32 inout [n]\n.param n u64\n.lanes n\n"

static hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    CHECK_MESSAGE(status == HG_OK, "%s\n%s", text, hg_last_error_text());
    return p;
}

/* Text, container and text again are one; the hash is that of the program without names. */
static void round_trip(const hg_program *p) {
    char *text = NULL, *again = NULL;
    uint8_t *bytes = NULL, *bytes_again = NULL;
    size_t length = 0, length_again = 0;
    if (!p) return;
    CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK &&
          hg_program_print(p, &text, NULL) == HG_OK);
    hg_program *q = assemble(text ? text : "");
    if (q)
        CHECK(hg_program_encode(q, 0, &bytes_again, &length_again) == HG_OK &&
              hg_program_print(q, &again, NULL) == HG_OK);
    CHECK_MESSAGE(length == length_again && memcmp(bytes, bytes_again, length) == 0,
                  "other bytes:\n%s", text ? text : "");
    CHECK_TEXT(again ? again : "", text ? text : "");
    CHECK(!q || memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
    hg_string_free(text);
    hg_string_free(again);
    hg_string_free((char *)bytes);
    hg_string_free((char *)bytes_again);
    hg_program_release(q);
}

static void test_texts(void) {
    static const char *const texts[] = {
        HEAD ARRAY ".reg v f32\n ldg v, [x[global]]\n mul v, v, v\n stg [x[global]], v\n",
        HEAD ARRAY ".reg acc[2, 3] f32\n.reg i, j u32\n mov i, 1\n mov acc[1, 2], 2.0\n add acc[0, "
                   "1], acc[1, 2], acc[1, 2]\n mov j, i\n"
                   " stg [x[j]], acc[0, 1]\n",
        HEAD ARRAY ".reg v f32\n.reg small pred\nagain:\n ldg v, [x[global]]\n setlt small, v, "
                   "1.0\n bra.small @again\n stg [x[global]], v\n",
        HEAD ".reg i u32\nloop i, 3\n.reg k u32\n mov k, i\n add k, k, 1\nendloop\n call @f\n "
             "exit\nf:\n.reg deep u64\n mov deep, 7\n"
             " add deep, deep, deep\n ret\n",
        HEAD ".macro M a\n.reg t u32\n mov t, 1\n add a, t, t\n.end\n.reg u u32\n M u\n M u\n add "
             "u, u, u\n", /* two called t */
        HEAD ".for k, 0, 3\n.reg v{k} u32\n mov v{k}, k\n add v{k}, v{k}, v{k}\n.end\n",
        HEAD ".reg named u32\n mov r1, 5\n mov named, 5\n add named, named, r1\n", /* beside
                                                                                      registers by
                                                                                      number */
        HEAD ".name r10 \"v\", 2\n mov_imm.u32 r10, 1\n add.u32 r10, r10, r10\n.name p1 \"done\", "
             "1\n seteq.u32 p1, r10, r10\n",
        HEAD ".name r0 \"a \\\"quoted\\\" \\\\ name, 5\", 1\n exit\n", /* what a container may hold
                                                                          and no .reg can say */
        HEAD ".name r0 \"x\", 1\n.name r0 \"x\", 2\n.name r0 \"y\", 2\n.name r255 \"x\", 1\n "
             "exit\n exit\n",
        HEAD " exit\n.name r3 \"late\", 1\nlast:\n exit\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hg_program *p = assemble(texts[i]);
        round_trip(p);
        hg_program_release(p);
    }
}

/* The same record twice, or in .reg too, is one; where they stand in the text does not matter. */
static void test_merged(void) {
    hg_program *p = assemble(HEAD ".name r7 \"b\", 2\n.name r7 \"a\", 2\n.name r7 \"b\", 2\n "
                                  "exit\n.name r6 \"c\", 1\n exit\n");
    CHECK(p && p->register_name_count == 3 && strcmp(p->register_names[0].name, "a") == 0 &&
          p->register_names[2].first == 1);
    round_trip(p);
    hg_program_release(p);
    p = assemble(HEAD ".reg v u32\n.name r0 \"v\", 2\n mov v, 1\n add v, v, v\n");
    round_trip(p);
    hg_program_release(p);
}

static void fails(const char *body, const char *code, uint32_t line, const char *message) {
    char text[512];
    hg_program *p = NULL;
    snprintf(text, sizeof text, HEAD "%s", body);
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    const hg_error *e = hg_last_error();
    CHECK_MESSAGE(status != HG_OK && strcmp(e->code, code) == 0 && e->line == line + 2 &&
                      strstr(e->message, message),
                  "%s\n  expected %s in line %u: %s\n  got %s in line %u: %s", body, code,
                  (unsigned)line, message, e->code, (unsigned)(e->line - 2), e->message);
    hg_program_release(p);
}

static void test_mistakes(void) {
    fails(".name r256 \"v\", 1\n exit\n", "N07", 1, "r256' is out of range");
    fails(".name p16 \"v\", 1\n exit\n", "N07", 1, "p16' is out of range");
    fails(".name v \"v\", 1\n exit\n", "S02", 1,
          "expected a register (r0 to r255) or a predicate (p0 to p15), got 'v'");
    fails(".name r1 v, 1\n exit\n", "S02", 1, "expected the name as a string");
    fails(".name r1 \"\", 1\n exit\n", "S02", 1,
          "a register's name has 1 to 255 printable characters");
    fails(".name r1 \"a\\n\", 1\n exit\n", "S02", 1,
          "a register's name has 1 to 255 printable characters");
    fails(".name r1 \"v\"\n exit\n", "S02", 1, "expected ','");
    fails(".name r1 \"v\", 0\n exit\n", "S04", 1,
          "a name holds for 1 to 2^32 - 1 instructions, not 0");
    fails(".name r1 \"v\", 4294967296\n exit\n", "S04", 1,
          "a name holds for 1 to 2^32 - 1 instructions");
    fails(".name r1 \"v\", 2\n exit\n", "N07", 1, "a name for 2 instructions, where 1 follow");
    fails(" exit\n.name r1 \"v\", 1\n", "N07", 2, "a name for 1 instructions, where 0 follow");
    fails(".name r1 \"v\", 1 2\n exit\n", "S02", 1, "expected end of line");
}

int main(void) {
    test_texts();
    test_merged();
    test_mistakes();
    return test_done();
}

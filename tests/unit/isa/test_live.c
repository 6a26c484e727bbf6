/* Live registers in front of each instruction, against a search of every path for every register.
 */
#include "isa/live.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/program.h>
#include <stdlib.h>

static uint16_t *live_of(const hg_program *p) {
    hg_cfg *cfg = NULL;
    uint16_t *live = calloc(p->inst_count + 1u, sizeof *live);
    CHECK(hg_verify(p, NULL, NULL, &cfg) == HG_OK);
    if (cfg) CHECK(hg_live_registers(cfg, live) == HG_OK);
    hg_cfg_destroy(cfg);
    return live;
}

static void expect(const char *text, const uint16_t *expected, uint32_t count) {
    hg_program *p = assemble(text);
    if (!p) return;
    uint16_t *live = live_of(p);
    CHECK(p->inst_count == count);
    for (uint32_t i = 0; i < count; i++)
        CHECK_MESSAGE(live[i] == expected[i], "instruction %u: %u, not %u", i, live[i],
                      expected[i]);
    free(live);
    hg_program_release(p);
}

#define HEAD ".atlas 1\n.program p\n.param r1 x buffer u32 inout [4]\n"

static void by_hand(void) {
    expect(HEAD "mov_imm.u32 r2, 1\nmov_imm.u32 r3, 2\nadd.u32 r2, r2, r3\nstg.u32 [buf(r1)], r2\n",
           (uint16_t[]){1, 2, 3, 2}, 4);
    /* around a loop r3 stays live; r9 is never read */
    expect(HEAD "mov_imm.u32 r2, 1\nmov_imm.u32 r3, 2\nmov_imm.u32 r9, 7\nl: add.u32 r2, r2, "
                "r3\nloop r3, @l\nstg.u32 [buf(r1)], r2\n",
           (uint16_t[]){1, 2, 3, 3, 3, 2}, 6);
    /* in the function r5, which the caller needs behind the call, is live too */
    expect(HEAD "mov_imm.u32 r2, 1\nmov_imm.u32 r5, 2\ncall @f\nadd.u32 r2, r2, r5\nstg.u32 "
                "[buf(r1)], r2\nexit\nf: add.u32 r2, r2, r2\nret\n",
           (uint16_t[]){1, 2, 3, 3, 2, 0, 3, 3}, 8);
    /* what one way alone reads is live in front of the branch */
    expect(HEAD "mov_imm.u32 r2, 1\nmov_imm.u32 r3, 2\nsetlt.u32 p0, r2, r3\nbra.p0 @a\nexit\na: "
                "stg.u32 [buf(r1)], r3\n",
           (uint16_t[]){1, 2, 3, 2, 0, 2}, 6);
}

/* ---- random programs of branches over registers r2 … r9, read and written as text says ---- */

typedef struct line {
    int kind; /* 0: d = a + b; 1: branch */
    int d, a, b;
    uint32_t target;
} line;
enum { LINES = 40, REGISTERS = 8 };

static bool reads(const line *l, int r) { return l->kind == 0 ? l->a == r || l->b == r : false; }
static bool writes(const line *l, int r) { return l->kind == 0 && l->d == r; }

static bool needed(const line *lines, uint32_t at, int r, bool *seen) {
    for (; at < LINES; at++) {
        if (seen[at]) return false;
        seen[at] = true;
        if (reads(&lines[at], r)) return true;
        if (writes(&lines[at], r)) return false;
        if (lines[at].kind == 1 && needed(lines, lines[at].target, r, seen)) return true;
    }
    return true; /* the end stores all of them */
}

static void random_programs(void) {
    srand(7);
    for (int round = 0; round < 300; round++) {
        line lines[LINES];
        char text[8192];
        size_t length = (size_t)snprintf(text, sizeof text, HEAD);
        for (int r = 0; r < REGISTERS; r++)
            length += (size_t)snprintf(text + length, sizeof text - length, "mov_imm.u32 r%d, %d\n",
                                       r + 2, r);
        length += (size_t)snprintf(text + length, sizeof text - length, "setlt.u32 p0, r2, r3\n");
        for (uint32_t i = 0; i < LINES; i++) {
            lines[i] = (line){rand() % 3 == 0, rand() % REGISTERS, rand() % REGISTERS,
                              rand() % REGISTERS, (uint32_t)rand() % LINES};
            if (lines[i].kind)
                length += (size_t)snprintf(text + length, sizeof text - length,
                                           "l%u: bra.p0 @l%u\n", i, lines[i].target);
            else
                length += (size_t)snprintf(text + length, sizeof text - length,
                                           "l%u: add.u32 r%d, r%d, r%d\n", i, lines[i].d + 2,
                                           lines[i].a + 2, lines[i].b + 2);
        }
        for (int r = 0; r < REGISTERS; r++)
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "stg.u32 [buf(r1)], r%d\n", r + 2);
        hg_program *p = assemble(text);
        if (!p) continue;
        uint16_t *live = live_of(p);
        for (uint32_t i = 0; i < LINES; i++) {
            uint16_t expected = 1; /* r1 */
            for (int r = 0; r < REGISTERS; r++) {
                bool seen[LINES] = {0};
                expected = (uint16_t)(expected + needed(lines, i, r, seen));
            }
            uint32_t at = REGISTERS + 1 + i;
            CHECK_MESSAGE(live[at] == expected, "round %d, instruction %u: %u, not %u", round, at,
                          live[at], expected);
        }
        free(live);
        hg_program_release(p);
    }
}

int main(void) {
    by_hand();
    random_programs();
    return test_done();
}

/* Loops of many rounds: devices that take them for endless ones, or count them in too small a
 * number, show it here. All lanes of a launch together do at most MOST rounds, so that a case takes
 * no longer than others of the suite.
 * Must not know: memory, barriers. */
#include "generate_internal.h"
#include "oracle/oracle.h"

enum {
    LEAST = 10000, /* rounds of one lane */
    MOST = 1000000,
    R_LONG = 140,   /* counters: they are set before each use */
    R_ROUNDS = 144, /* a counter in a function */
    R_LANE = 145,   /* u32 */
    R_EIGHTH = 146, /* u32 */
    R_SIDE = 147,   /* u64 */
    R_NOTHING = 148 /* u64 */
};

/* What a round does: one or two operations on variables, now and then on wide ones. */
static void work(generator *g) {
    static const char *const NAMES[] = {"add", "mul", "xor", "sub"};
    for (uint32_t i = 1 + pick(g, 2); i > 0; i--) {
        int t = (int)pick(g, 2);
        int to = variable(g, t);
        line(g, "%s.%s r%d, r%d, r%d", NAMES[pick(g, 4)], type_text(g, t), to, to, variable(g, t));
    }
}

/* A counter with that many rounds, or up to seven eighths less, by lane. */
static void set_counter(generator *g, int counter, uint32_t rounds, bool varying) {
    line(g, "mov_imm.u32 r%d, %u", counter, rounds);
    if (!varying || rounds < 16) return;
    line(g, "cvt.u32.u64 r%d, r255", R_LANE);
    line(g, "mov_imm.u32 r%d, 7", R_EIGHTH);
    line(g, "and.u32 r%d, r%d, r%d", R_LANE, R_LANE, R_EIGHTH);
    line(g, "mov_imm.u32 r%d, %u", R_EIGHTH, rounds / 8);
    line(g, "mul.u32 r%d, r%d, r%d", R_LANE, R_LANE, R_EIGHTH);
    line(g, "sub.u32 r%d, r%d, r%d", counter, counter, R_LANE);
}

/* depth loops, one in the other, with so many rounds of the innermost. */
static void nest(generator *g, uint32_t rounds, int depth, bool varying) {
    uint32_t here = rounds;
    int counter = R_LONG + depth, head = new_label(g);
    if (depth > 0) { /* between a few rounds and nearly all of them */
        uint32_t few = 1 + pick(g, 40);
        here = chance(g, 50) ? few : rounds / few;
        if (here < 1) here = 1;
    }
    set_counter(g, counter, here - 1, varying && depth == 0);
    place_label(g, head);
    if (depth > 0) nest(g, rounds / here > 0 ? rounds / here : 1, depth - 1, varying);
    if (depth == 0 || chance(g, 50)) work(g);
    line(g, "loop r%d, @L%d", counter, head);
}

/* One loop that calls a function with a short one. */
static void called(generator *g, uint32_t rounds) {
    text *here = g->to;
    uint32_t inside = 1 + pick(g, 20);
    int inner = new_label(g), outer = new_label(g);
    if (!g->functions[MAX_FUNCTIONS + 1].length) {
        g->to = &g->functions[MAX_FUNCTIONS + 1];
        add_text(g->to, "f%d:\n", MAX_FUNCTIONS + 1);
        line(g, "mov_imm.u32 r%d, %u", R_ROUNDS, inside - 1);
        place_label(g, inner);
        work(g);
        line(g, "loop r%d, @L%d", R_ROUNDS, inner);
        line(g, "ret");
        g->to = here;
    }
    line(g, "mov_imm.u32 r%d, %u", R_LONG, rounds / inside);
    place_label(g, outer);
    line(g, "call @f%d", MAX_FUNCTIONS + 1);
    line(g, "loop r%d, @L%d", R_LONG, outer);
}

/* Lanes beside each other in different loops. */
static void apart(generator *g, uint32_t rounds) {
    int other = new_label(g), end = new_label(g);
    line(g, "mov_imm.u64 r%d, %u", R_SIDE, 1u << pick(g, 3));
    line(g, "and.u64 r%d, r255, r%d", R_SIDE, R_SIDE);
    line(g, "mov_imm.u64 r%d, 0", R_NOTHING);
    line(g, "seteq.u64 p8, r%d, r%d", R_SIDE, R_NOTHING);
    line(g, "bra.p8 @L%d", other);
    nest(g, rounds, (int)pick(g, 2), false);
    line(g, "bra @L%d", end);
    place_label(g, other);
    nest(g, rounds - rounds / 3, (int)pick(g, 2), true);
    place_label(g, end);
}

/* A wide operation in a loop: its definition has loops of its own. */
static void wide(generator *g, uint32_t rounds) {
    int head = new_label(g), t = 0;
    for (int i = 0; i < g->type_count; i++)
        if (oracle_size(g->types[i]) > 8) t = i;
    uint32_t words = oracle_size(g->types[t]) / 8;
    if (words > 1) rounds /= words * words;
    int to = variable(g, t);
    line(g, "mov_imm.u32 r%d, %u", R_LONG, rounds);
    place_label(g, head);
    line(g, "%s.%s r%d, r%d, r%d", chance(g, 50) ? "mul" : "add", type_text(g, t), to, to,
         variable(g, t));
    line(g, "loop r%d, @L%d", R_LONG, head);
}

void many_rounds(generator *g) {
    double most = MOST / (double)g->lanes;
    uint32_t rounds = LEAST;
    while (chance(g, 75) && rounds * 2.0 < most) rounds *= 2;
    rounds += pick(g, rounds / 2);
    switch (pick(g, 5)) {
    case 0: nest(g, rounds, 0, chance(g, 50)); break;
    case 1: nest(g, rounds, 1 + (int)pick(g, 2), chance(g, 50)); break;
    case 2: called(g, rounds); break;
    case 3: apart(g, rounds); break;
    default: wide(g, rounds); break;
    }
}

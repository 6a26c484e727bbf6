/* The state of a generator and what its files share.
 *
 * How programs stay free of races: every lane reads shared inputs and writes only slots of its own,
 * whose place is computed once from its id; slots of other lanes are read only after a barrier
 * (shared memory) or a whole-array instruction (arrays that lanes never write); several lanes meet
 * in one place only through one kind of atomic whose total does not depend on order and whose old
 * value is never read. Every slot has one type, so that the unspecified bits of a NaN never turn
 * into an integer.
 *
 * How they end: every cycle has a counter register of its own, set to a small value before the
 * cycle is entered and counted down by every way round it. (Those of generate_rounds.c are large,
 * and little stands in their cycles.)
 *
 * Registers: r1 … r9 parameters, r10 … r19 places and constants, r20 … r59 loop counters, r60 …
 * scratch, r100 … variables by type; predicates: p0 … p5 variables, p6 … p9 conditions set right
 * before they are used. */
#ifndef HG_TESTS_GENERATE_INTERNAL_H
#define HG_TESTS_GENERATE_INTERNAL_H

#include "generate.h"

enum {
    MAX_TYPES = 6,
    VARIABLES = 4,
    MAX_SLOTS = 64,
    MAX_FUNCTIONS = 4,
    PREDICATES = 6,
    INPUT_MASK = 2047,
    INPUT_BYTES = INPUT_MASK + 1 + 512 + 128,
    SCATTER_SITES = 8,
    SCATTER_LANES = 512, /* of an array of which each site writes a part */
    PLACES = 512,        /* in a row of places */
    FIRST_COUNTER = 20,
    LAST_COUNTER = 59
};

/* Fixed registers. */
enum {
    R_IN = 1,
    R_OUT = 2,
    R_ACC = 3,
    R_XCH = 4,
    R_RES = 5,
    R_POOL = 6,
    R_N = 7,
    R_SCATTER = 8,
    R_PLACES = 9,
    R_OWN = 10,
    R_LOCAL = 11,
    R_SHARED = 12,
    R_OFFSET = 13,
    R_T0 = 14,
    R_T1 = 15,
    R_MASK = 17,
    R_ZERO = 18,
    R_ONE = 19,
    R_SCRATCH = 60,
    R_OLD = 70,
    R_POOL_AT = 80,
    R_CLASS_AT = 81,
    R_XCH_AT = 82,
    R_FLAT = 83,
    R_FLAT_MASK = 84,
    R_PRIVATE_AT = 85,
    R_CLASS = 90 /* u8 */,
    R_SMALL = 91 /* u8 */,
    R_NUMBER = 92 /* u32 */,
    R_SUM = 93 /* f64 */,
    R_UNREAD = 94 /* f64 */,
    R_VARIABLES = 100
};

typedef enum slot_place { IN_OUT, IN_POOL, IN_CLASS } slot_place;
typedef struct slot {
    slot_place place;
    uint32_t offset;
    int type;
    bool aligned;
} slot;

typedef struct text {
    char *data;
    uint64_t length, capacity;
    bool failed;
} text;

typedef struct generator {
    uint64_t state;
    uint32_t flags;
    run_case *c;
    text *to;                                /* where lines go now */
    text body, functions[MAX_FUNCTIONS + 2]; /* the last two: with a barrier, with rounds */
    double function_cost[MAX_FUNCTIONS + 1];
    int type_count;
    hg_type types[MAX_TYPES]; /* types[0] u32, types[1] u64 */
    uint64_t lanes, block_lanes;
    int slot_count;
    slot slots[MAX_SLOTS];
    uint32_t stride[3];   /* of a lane in each slot_place */
    int xch;              /* type of the exchange arrays, -1: none */
    int shared_type;      /* type of shared slots, -1: none */
    uint32_t shared_slot; /* log2 of the bytes of one */
    bool has_private, has_barriers, has_collectives, scratch /* the exchange array is one */,
        has_pool, has_classes, has_atomics, may_exit, wants_fault;
    int function_count, first_callable; /* functions below it may not be called here */
    int next_label, next_counter, next_barrier, next_site;
    double cost, factor, budget; /* instructions of one lane: spent, times the loops around, allowed
                                  */
    int depth;
} generator;

/* generate_text.c */
uint64_t random_bits(generator *g);
uint32_t pick(generator *g, uint32_t n); /* 0 … n-1 */
bool chance(generator *g, uint32_t percent);
void line(generator *g, const char *format, ...) HG_PRINTF(2, 3); /* an instruction */
void place_label(generator *g, int label);
int new_label(generator *g);
const char *literal(generator *g, hg_type type); /* a literal of interesting bits; valid until four
                                                    more are asked for */
void add_text(text *t, const char *format, ...) HG_PRINTF(2, 3);

/* generate_compute.c: instructions on variables. */
int any_type(generator *g);
int any_type_where(generator *g, bool (*accept)(hg_type)); /* falls back to 0 (u32) */
int variables(const generator *g);                         /* of a type */
int variable(generator *g, int type);
int predicates(const generator *g); /* that are variables */
void compute(generator *g);
void set_condition(generator *g, int predicate);
void any_predicate(generator *g, int *predicate);
bool is_integer(hg_type type);
bool is_float(hg_type type);
const char *type_text(const generator *g, int type);

/* generate_rounds.c: loops of many rounds, one in the other, in a function, of other lengths in
 * other lanes. */
void many_rounds(generator *g);

/* generate_vector.c: with GENERATE_VECTOR. A row of many instructions. */
void vector_statement(generator *g);
void fill_places(generator *g, uint8_t *bytes); /* 15 * PLACES */
void long_row(generator *g);
void live_program(generator *g); /* instead of all else */

/* generate_memory.c: loads, stores, atomics, exchanges, whole-array instructions, faults. */
void load_input(generator *g, int type, int reg);
void memory(generator *g);
void exchange(generator *g);
void collective(generator *g);
void fault(generator *g);

#endif

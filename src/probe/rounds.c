/* Whether a device runs loops to their end. Some leave a loop without a word after so many rounds
 * of all loops of an invocation, in the belief that it is endless. And whether lanes that fill the
 * last vector of a group up keep the others in loops.
 * Must not know: what the device form does against it. */
#include "kir/access.h"
#include "kir/builder.h"
#include "probe/probe_internal.h"
#include <string.h>

enum {
    SINGLE = 70000, /* rounds of the first loop; more than any limit that was found */
    OUTER = 300,    /* of two loops, one in the other */
    LANES = PROBE_GROUP,
    CELLS = 4 /* u32 of a lane: what it reads, and what it writes */
};
enum { READS_ONE, READS_SINGLE, READS_OUTER };
enum { WRITES_COUNT, WRITES_FIRST, WRITES_SECOND };

/* One round: a number that no compiler sees through. */
static uint32_t next_number(uint32_t x) { return x * 1664525 + 1013904223; }
static kir_value *write_next(kir_builder *b, kir_value *x) {
    return kir_add(b, kir_mul(b, x, kir_const(b, HG_TYPE_U32, 1664525)),
                   kir_const(b, HG_TYPE_U32, 1013904223));
}

static kir_value *cell(kir_builder *b, kir_op op, uint32_t handle, kir_value *start, uint32_t index,
                       kir_value *value) {
    kir_value *input = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    input->u.imm = handle;
    kir_place at = {.space = KIR_BUFFER,
                    .handle = input,
                    .index = kir_add(b, start, kir_const(b, HG_TYPE_U64, 4 * (uint64_t)index)),
                    .unchecked = true};
    return kir_access_make(b, op, HG_TYPE_U32, &at, value != NULL, &value);
}

/* loop { n += 1; if (n >= limit) break; }, closed by end_count. */
typedef struct counted {
    kir_value *loop;
    kir_var *n;
    kir_value *limit;
} counted;

static counted begin_count(kir_builder *b, kir_value *limit) {
    counted c = {.n = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL), .limit = limit};
    if (!c.n) b->failed = true;
    kir_set(b, c.n, kir_const(b, HG_TYPE_U32, 0));
    c.loop = kir_loop_begin(b, true); /* whatever looks at the clock would count as well */
    kir_set(b, c.n, kir_add(b, kir_get(b, c.n), kir_const(b, HG_TYPE_U32, 1)));
    return c;
}

static void end_count(kir_builder *b, const counted *c) {
    kir_value *over = kir_if_begin(
        b, kir_not(b, kir_binary(b, KIR_CMP_ULT, kir_get(b, c->n), c->limit)));
    kir_break(b);
    kir_if_end(b, over);
    kir_loop_end(b, c->loop);
}

static void step(kir_builder *b, kir_var *x) { kir_set(b, x, write_next(b, kir_get(b, x))); }

static void write_loops(kir_builder *b, kir_value *start) {
    kir_value *one = cell(b, KIR_LOAD, 0, start, READS_ONE, NULL),
              *single = cell(b, KIR_LOAD, 0, start, READS_SINGLE, NULL),
              *outer = cell(b, KIR_LOAD, 0, start, READS_OUTER, NULL);
    kir_var *x = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL);
    if (!x) b->failed = true;
    kir_set(b, x, one);
    counted all = begin_count(b, single);
    step(b, x);
    end_count(b, &all);
    cell(b, KIR_STORE, 1, start, WRITES_COUNT, kir_get(b, all.n));
    cell(b, KIR_STORE, 1, start, WRITES_FIRST, kir_get(b, x));
    counted rows = begin_count(b, outer), columns = begin_count(b, outer);
    step(b, x);
    end_count(b, &columns);
    end_count(b, &rows);
    cell(b, KIR_STORE, 1, start, WRITES_SECOND, kir_get(b, x));
}

/* Lanes that do not exist read 0, and would stay in the first loop until the device leaves all. */
static void write_group(kir_builder *b, kir_value *start) {
    kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL);
    b->module->uses_barrier = true;
    kir_value *single = cell(b, KIR_LOAD, 0, start, READS_SINGLE, NULL),
              *outer = cell(b, KIR_LOAD, 0, start, READS_OUTER, NULL);
    kir_var *x = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL);
    if (!x) b->failed = true;
    counted waiting = begin_count(b, kir_add(b, single, kir_const(b, HG_TYPE_U32, SINGLE)));
    kir_set(b, x, cell(b, KIR_LOAD, 0, start, READS_ONE, NULL));
    kir_value *over = kir_if_begin(
        b, kir_binary(b, KIR_CMP_EQ, kir_get(b, x), kir_const(b, HG_TYPE_U32, 1)));
    kir_break(b);
    kir_if_end(b, over);
    end_count(b, &waiting);
    counted rows = begin_count(b, outer);
    step(b, x);
    end_count(b, &rows);
    cell(b, KIR_STORE, 1, start, WRITES_FIRST, kir_get(b, x));
}

static kir_module *kernel_of(const char *name, void (*write)(kir_builder *b, kir_value *start)) {
    kir_module *m = kir_module_create(name);
    if (!m) return NULL;
    kir_builder b;
    kir_builder_init(&b, m, kir_function_create(m, name, KIR_VOID));
    for (uint8_t i = 0; i < 2; i++) {
        kir_input *input = hg_vec_push(&m->inputs);
        if (input)
            *input = (kir_input){.type = HG_TYPE_U64, .reg = i, .is_buffer = true};
        else
            b.failed = true;
    }
    kir_value *lane = kir_emit(&b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    write(&b, kir_mul(&b, lane, kir_const(&b, HG_TYPE_U64, 4 * CELLS)));
    if (!b.failed) return m;
    kir_module_destroy(m);
    return NULL;
}

kir_module *hg_probe_rounds_kernel(void) { return kernel_of("probe_rounds", write_loops); }
kir_module *hg_probe_group_kernel(void) { return kernel_of("probe_group", write_group); }

void hg_probe_rounds_operands(uint32_t lanes, uint8_t operands[PROBE_ROUNDS_BYTES]) {
    uint32_t in[LANES][CELLS] = {{0}};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        in[lane][READS_ONE] = 1;
        in[lane][READS_SINGLE] = SINGLE;
        in[lane][READS_OUTER] = OUTER;
    }
    memcpy(operands, in, sizeof in);
}

bool hg_probe_rounds_right(const uint8_t results[PROBE_ROUNDS_BYTES], uint32_t *most) {
    uint32_t out[LANES][CELLS], first = 1, second, least = SINGLE; /* rounds of the first loop, of
                                                                      the lane that had the fewest
                                                                    */
    bool right = true;
    memcpy(out, results, sizeof out);
    for (int i = 0; i < SINGLE; i++) first = next_number(first);
    second = first;
    for (int i = 0; i < OUTER * OUTER; i++) second = next_number(second);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (out[lane][WRITES_COUNT] < least) least = out[lane][WRITES_COUNT];
        right = right && out[lane][WRITES_FIRST] == first && out[lane][WRITES_SECOND] == second;
    }
    /* Compilers write a first round in front of the loop. Were all of the first loop there, the two
     * others were too many. */
    *most = least > 1 && least < SINGLE ? least - 1 : OUTER;
    return right;
}

bool hg_probe_group_right(const uint8_t results[PROBE_ROUNDS_BYTES]) {
    uint32_t out[LANES][CELLS], expected = 1;
    bool right = true;
    memcpy(out, results, sizeof out);
    for (int i = 0; i < OUTER; i++) expected = next_number(expected);
    for (uint32_t lane = 0; lane < PROBE_PART_GROUP; lane++)
        right = right && out[lane][WRITES_FIRST] == expected;
    return right;
}

/* Whether a device runs loops to their end. Some leave a loop without a word after so many rounds of all loops of an invocation, in the
 * belief that it is endless.
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
    return kir_add(b, kir_mul(b, x, kir_const(b, HG_TYPE_U32, 1664525)), kir_const(b, HG_TYPE_U32, 1013904223));
}

static kir_value *cell(kir_builder *b, kir_op op, uint32_t handle, kir_value *start, uint32_t index, kir_value *value) {
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
    kir_value *over = kir_if_begin(b, kir_not(b, kir_binary(b, KIR_CMP_ULT, kir_get(b, c->n), c->limit)));
    kir_break(b);
    kir_if_end(b, over);
    kir_loop_end(b, c->loop);
}

static void step(kir_builder *b, kir_var *x) { kir_set(b, x, write_next(b, kir_get(b, x))); }

static void write_loops(kir_builder *b, kir_value *start) {
    kir_value *one = cell(b, KIR_LOAD, 0, start, READS_ONE, NULL), *single = cell(b, KIR_LOAD, 0, start, READS_SINGLE, NULL),
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

static kir_module *loops_kernel(void) {
    kir_module *m = kir_module_create("probe_rounds");
    if (!m) return NULL;
    kir_builder b;
    kir_builder_init(&b, m, kir_function_create(m, "probe_rounds", KIR_VOID));
    for (uint8_t i = 0; i < 2; i++) {
        kir_input *input = hg_vec_push(&m->inputs);
        if (input)
            *input = (kir_input){.type = HG_TYPE_U64, .reg = i, .is_buffer = true};
        else
            b.failed = true;
    }
    kir_value *lane = kir_emit(&b, KIR_ID, HG_TYPE_U64, 0, NULL);
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    write_loops(&b, kir_mul(&b, lane, kir_const(&b, HG_TYPE_U64, 4 * CELLS)));
    if (!b.failed) return m;
    kir_module_destroy(m);
    return NULL;
}

typedef struct answer {
    uint32_t least; /* rounds of the first loop, of the lane that had the fewest */
    bool right, faulted;
} answer;

static hg_status ask(const hg_probe_device *device, answer *a) {
    uint32_t in[LANES][CELLS], out[LANES][CELLS], first = 1, second;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        in[lane][READS_ONE] = 1;
        in[lane][READS_SINGLE] = SINGLE;
        in[lane][READS_OUTER] = OUTER;
    }
    memset(out, 0, sizeof out);
    kir_module *m = loops_kernel();
    if (!m) return hg_fail_memory();
    hg_probe_launch launch = {LANES, PROBE_GROUP, (const uint8_t *)in, sizeof in, (uint8_t *)out, sizeof out, false};
    HG_TRY(device->run(device->user, m, &launch));
    for (int i = 0; i < SINGLE; i++) first = next_number(first);
    second = first;
    for (int i = 0; i < OUTER * OUTER; i++) second = next_number(second);
    *a = (answer){SINGLE, true, launch.faulted};
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (out[lane][WRITES_COUNT] < a->least) a->least = out[lane][WRITES_COUNT];
        a->right = a->right && out[lane][WRITES_FIRST] == first && out[lane][WRITES_SECOND] == second;
    }
    return HG_OK;
}

hg_status hg_probe_rounds(const hg_probe_device *device, uint32_t *most) {
    answer a;
    *most = 0;
    if (!device->set_max_rounds) return HG_OK;
    device->set_max_rounds(device->user, 0);
    HG_TRY(ask(device, &a));
    if (a.right) return HG_OK;
    /* Compilers write a first round in front of the loop. Were all of the first loop there, the two others were too many. */
    *most = a.least > 1 && a.least < SINGLE ? a.least - 1 : OUTER;
    device->set_max_rounds(device->user, *most);
    HG_TRY(ask(device, &a));
    /* Right where lanes go on in another dispatch, else a fault. */
    return a.right || a.faulted
               ? HG_OK
               : hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "the device leaves loops before their end, and nothing shows where it did");
}

/* rope: the library programs rope.atlas: a table of the angles' cosines and sines, where the call
 * has none, and the turns. */
#include "plan/steps/rows.h"

/* Elements from those of a batch to the next, of a place in the sequence, of a head. */
typedef struct layout {
    uint64_t strides[3];
} layout;

typedef struct asked {
    uint64_t batch, places, heads, size, half; /* half: pairs that are turned */
    layout input, output, cos, sin;            /* of tables the first two */
    bool tables, strides, part;
} asked;

static asked read_call(const plan_call *call) {
    asked a = {.batch = plan_named(call, "batch"),
               .places = plan_named(call, "seq_len"),
               .heads = plan_named(call, "heads"),
               .size = plan_named(call, "head_dim")};
    uint32_t input = plan_operand_named(call, "input_strides"),
             output = plan_operand_named(call, "output_strides");
    a.half = plan_named_or(call, "rotary_dim", a.size) / 2;
    const uint64_t row[] = {a.places, a.half}, all[] = {a.places, a.heads, a.size};
    a.tables = plan_array_of(call, plan_operand_named(call, "sin")) != NULL;
    a.part = plan_is_given(call, plan_operand_named(call, "rotary_dim"));
    a.strides = plan_is_given(call, input) || plan_is_given(call, output);
    plan_strides_of(call, "input_strides", 3, all, a.input.strides);
    plan_strides_of(call, "output_strides", 3, all, a.output.strides);
    plan_strides_of(call, "freqs_strides", 2, row, a.cos.strides);
    plan_strides_of(call, "sin_strides", 2, row, a.sin.strides);
    return a;
}

/* Frequencies are those of places that are numbers; cosines and sines are there of each. */
static void check_position(const plan_call *call, plan_problem *problem, const asked *a) {
    uint64_t position = plan_named(call, "position"), last;
    uint32_t strides = plan_operand_named(call, "freqs_strides"),
             of_sin = plan_operand_named(call, "sin_strides");
    if (a->tables && position != 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "position"),
                    "%llu, 0 expected with sin: cosines and sines begin with the first place",
                    (unsigned long long)position);
    if (!hg_add_u64(position, a->places, &last))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "position"),
                    "%llu, less than 2^64 - seq_len expected", (unsigned long long)position);
    if (!a->tables && plan_is_given(call, strides))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, strides,
                    "of cosines, and there is no sin: frequencies have no gaps");
    if (!a->tables && plan_is_given(call, of_sin))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, of_sin, "of sines, and there is no sin");
}

static void check(const plan_call *call, plan_problem *problem) {
    asked a = read_call(call);
    uint64_t turned = plan_named_or(call, "rotary_dim", a.size);
    const char *name = a.part ? "rotary_dim" : "head_dim";
    if (turned % 2)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, name),
                    "%llu, an even number expected", (unsigned long long)turned);
    if (turned > a.size)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, name),
                    "%llu, at most head_dim, %llu, expected", (unsigned long long)turned,
                    (unsigned long long)a.size);
    check_position(call, problem, &a);
    plan_check_strides(call, problem, "freqs_strides", 2, "of a batch and of a place");
    plan_check_strides(call, problem, "sin_strides", 2, "of a batch and of a place");
    plan_check_strides(call, problem, "input_strides", 3, "of a batch, of a place and of a head");
    plan_check_strides(call, problem, "output_strides", 3, "of a batch, of a place and of a head");
    plan_check_apart(call, problem, plan_operand_named(call, "output_strides"),
                     (const uint64_t[]){a.batch, a.places, a.heads}, a.output.strides, a.size);
}

static void heads(const plan_call *call, const char *name, const asked *a, const layout *l) {
    plan_array_strides(plan_array_of(call, plan_operand_named(call, name)), 4,
                       (const uint64_t[]){a->batch, a->places, a->heads, a->size},
                       (const int64_t[]){plan_stride(l->strides[0]), plan_stride(l->strides[1]),
                                         plan_stride(l->strides[2]), 1});
}

static void table(const plan_call *call, const char *name, const asked *a, const layout *l) {
    plan_array_strides(
        plan_array_of(call, plan_operand_named(call, name)), 3,
        (const uint64_t[]){a->batch, a->places, a->half},
        (const int64_t[]){plan_stride(l->strides[0]), plan_stride(l->strides[1]), 1});
}

static void ranges(plan_call *call) {
    asked a = read_call(call);
    heads(call, "output", &a, &a.output);
    heads(call, "input", &a, &a.input);
    if (!a.tables) {
        plan_shape_line(call, "freqs", a.half);
        return;
    }
    table(call, "freqs", &a, &a.cos);
    table(call, "sin", &a, &a.sin);
}

enum { BLOCK = 32, ANGLES = 1024, ELEMENTS = 8192 };

/* A table of the angles' cosines, and behind them the sines. */
static plan_part angles_of(const plan_call *call, plan_expansion *x, const asked *a) {
    hg_type type = (hg_type)call->type;
    uint64_t size = hg_type_size_bytes(library_sum_type(type)),
             step = a->half > ANGLES || a->half == 0 ? 1 : ANGLES / a->half;
    plan_part made = plan_scratch(x, plan_times(plan_times(a->places, a->half), 2), size);
    plan_kernel_key key = plan_library_key(LIBRARY_ROPE_ANGLES, type, HG_OP_MOV,
                                           (int32_t[]){(int32_t)size}, 2, 4);
    if (a->half)
        plan_expand_grid(x, &key, (uint64_t[]){(a->places - 1) / step + 1, 1, 1},
                         (uint32_t[]){BLOCK, 1, 1}, 0,
                         (plan_part[]){plan_part_named(call, "freqs"), made},
                         (uint64_t[]){a->places, a->half, plan_named(call, "position"), step});
    return made;
}

static void expand(const plan_call *call, plan_expansion *x) {
    asked a = read_call(call);
    if (a.places == 0 || a.batch == 0 || a.heads == 0 || a.size == 0) return;
    plan_part angles = a.tables ? plan_part_named(call, "freqs") : angles_of(call, x, &a);
    plan_given g = {.parts = {plan_part_named(call, "input"), angles}, .arrays = 2};
    (void)plan_give_array(&g, call, "sin");
    (void)plan_give_array(&g, call, "output");
    uint64_t of_place = plan_times(a.heads, a.size), rest = a.size - 2 * a.half,
             step = of_place > ELEMENTS ? 1 : ELEMENTS / of_place;
    plan_give_values(&g, (const uint64_t[]){step, a.places, a.heads, a.half}, 4);
    if (a.tables) plan_give_values(&g, a.cos.strides, 2);
    if (a.tables) plan_give_values(&g, a.sin.strides, 2);
    if (a.strides) plan_give_values(&g, a.input.strides, 3);
    if (a.strides) plan_give_values(&g, a.output.strides, 3);
    if (a.part) plan_give_values(&g, &rest, 1);
    plan_kernel_key turn = plan_library_key(
        LIBRARY_ROPE_TURN, (hg_type)call->type, HG_OP_MOV,
        (int32_t[]){plan_named(call, "halves") != 0, a.tables, a.strides, a.part}, g.arrays,
        g.count);
    plan_expand_grid(x, &turn, (uint64_t[]){(a.places - 1) / step + 1, a.batch, 1},
                     (uint32_t[]){BLOCK, 1, 1}, 0, g.parts, g.values);
}

/* Two products and two fmas a pair. */
static plan_cost cost(const plan_call *call) {
    return (plan_cost){
        plan_call_bytes(call),
        plan_times(plan_call_bytes(call) / hg_type_size_bytes((hg_type)call->type), 2)};
}

const plan_collective plan_collective_rope = {
    .check = check, .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_SAME};

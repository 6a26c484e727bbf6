/* Bytes as calls of the builder: any instruction with any types and operands, parameters, labels,
 * loops, hostile numbers. What it builds goes the whole road. No seeds: all bytes mean calls. */
#include "isa/isa.h"
#include "run_any.h"

#include <stdio.h>

enum { MAX_CALLS = 200, LABELS = 6 };

static uint64_t hostile(chooser *c) {
    static const uint64_t values[] = {0,          1,          2,         3,          7,
                                      8,          255,        256,       0x7FFFFFFF, 0x80000000,
                                      0xFFFFFFFF, 1ull << 40, INT64_MAX, 1ull << 63, UINT64_MAX};
    return choose(c, 3) ? values[choose(c, sizeof values / sizeof *values)] : choose_bits(c, 8);
}

/* Registers 1 to 4 are parameters, 5 to 12 hold values and meet each other often, 13 to 15 offsets.
 */
static uint8_t some_reg(chooser *c) {
    uint8_t byte = choose_byte(c);
    return byte < 180 ? (uint8_t)(5 + byte % 8) : byte < 220 ? (uint8_t)(250 + byte % 6) : byte;
}

/* Mostly the program's own type, as most registers are of that; else any, also values that are
 * none. */
static hg_type own_type;
static hg_type some_type(chooser *c) {
    uint8_t byte = choose_byte(c);
    if (byte < 200) return byte < 180 ? own_type : HG_TYPE_U64;
    return byte < 250 ? (hg_type)(byte % HG_TYPE_COUNT)
                      : (hg_type)(HG_TYPE_COUNT + (byte - 250) * 60);
}

static hg_arg some_address(chooser *c) {
    if (choose(c, 4))
        return hg_addr_buffer((uint8_t)(1 + choose(c, 3)), (uint8_t)(13 + choose(c, 3))); /* within
                                                                                             bounds,
                                                                                             often
                                                                                           */
    hg_arg a = hg_arg_make(HG_ARG_ADDRESS, some_reg(c), choose(c, 3) ? 0 : hostile(c));
    a.place = (uint8_t)choose(c, 12);
    a.has_index = (uint8_t)choose(c, 3); /* 2: page and byte are a scale */
    a.index = some_reg(c);
    a.page = choose_byte(c);
    a.byte = choose_byte(c);
    a.disp = choose(c, 2) ? 0 : (int64_t)hostile(c);
    if (choose(c, 4) == 0) a.kind = HG_ARG_ARRAY, a.place = 8;
    return a;
}

static hg_arg some_arg(chooser *c, const hg_operand_info *info, const hg_label *labels,
                       const hg_arg *items) {
    static const char *const names[] = {"eq",     "lt",  "add",   "sum",    "relu",
                                        "sqrt",   "max", "block", "lane_x", "grid_dim_z",
                                        "device", "",    "xyz"};
    static const uint8_t bits[512] = {1, 2, 3, 0xFF, 0x80};
    static const uint8_t kinds[] = {[HG_K_REG] = HG_ARG_REG,       [HG_K_PRED] = HG_ARG_PRED,
                                    [HG_K_LABEL] = HG_ARG_LABEL,   [HG_K_ADDRESS] = HG_ARG_ADDRESS,
                                    [HG_K_ARRAY] = HG_ARG_ADDRESS, [HG_K_COUNT] = HG_ARG_NUMBER,
                                    [HG_K_LITERAL] = HG_ARG_NUMBER};
    uint32_t kind = info->kind < sizeof kinds && choose(c, 16) ? kinds[info->kind]
                                                               : choose(c, HG_ARG_TUPLE + 2);
    switch (kind) {
    case HG_ARG_REG: return hg_arg_reg(some_reg(c));
    case HG_ARG_PRED: return hg_arg_pred((uint8_t)choose(c, 17));
    case HG_ARG_LABEL: return hg_arg_label(labels[choose(c, LABELS)]);
    case HG_ARG_ADDRESS:
    case HG_ARG_ARRAY: return some_address(c);
    case HG_ARG_REAL: return hg_imm_f64(choose(c, 2) ? 1.5 : 1e300 * 1e300);
    case HG_ARG_BITS: return hg_imm_bits(choose(c, 4) ? bits : NULL);
    case HG_ARG_NAME:
        return hg_arg_name(choose(c, 16) ? names[choose(c, sizeof names / sizeof *names)] : NULL);
    case HG_ARG_COUNT_REG: return hg_count_reg(some_reg(c));
    case HG_ARG_TUPLE: return hg_tuple_of(choose(c, 8) ? items : NULL, choose(c, 5));
    default: {
        hg_arg a = hg_arg_make((int)kind, some_reg(c), hostile(c));
        return a;
    }
    }
}

static void add_instruction(hg_builder *b, chooser *c, const hg_label *labels) {
    const hg_op_info *row = hg_op_get((hg_op)choose(c, HG_OP_COUNT));
    hg_arg args[64], items[4];
    for (int i = 0; i < 4; i++)
        items[i] = choose(c, 2) ? hg_count(hostile(c)) : hg_count_reg(some_reg(c));
    for (uint32_t i = 0; i < row->operand_count && i < 64; i++)
        args[i] = some_arg(c, &row->operands[i], labels, items);
    uint32_t count = choose(c, 64) ? row->operand_count : choose(c, 8);
    hg_builder_add(b, row->opcode, some_type(c), some_type(c), choose(c, 64) ? args : NULL,
                   count < 64 ? count : 64);
}

static void add_parameters(hg_builder *b, chooser *c) {
    static const uint64_t elements[16] = {1, 2, 3};
    char text[32]; /* an expression, or garbage */
    static const char words[] = "n+-*/()min max ceil1234567890,,n";
    size_t length = choose(c, sizeof text);
    for (size_t i = 0; i < length; i++) text[i] = words[choose(c, sizeof words - 1)];
    text[length < sizeof text ? length : sizeof text - 1] = '\0';
    hg_dim dims[9], small = hg_dim_of(choose(c, 5));
    for (int i = 0; i < 9; i++)
        dims[i] = choose(c, 2)   ? hg_dim_param("n")
                  : choose(c, 4) ? hg_dim_of(hostile(c))
                                 : hg_dim_expression(choose(c, 2) ? "ceil(n / 3) + 1" : text);
    for (uint8_t reg = 1; reg <= 4; reg++) {
        char name[4] = {(char)('a' + reg)};
        switch (choose(c, 8)) {
        case 0: hg_builder_param_scalar(b, reg, reg == 4 ? "n" : name, some_type(c)); break;
        case 1:
            hg_builder_param_scalar_default(b, reg, name, some_type(c), hg_imm_u64(hostile(c)));
            break;
        case 2: hg_builder_scratch(b, reg, name, some_type(c), dims, choose(c, 10)); break;
        case 3: hg_builder_param_pool(b, reg, name, hostile(c)); break;
        case 4:
            if (choose(c, 4))
                hg_builder_data(b, reg, name, HG_TYPE_U32, &small, 1, elements);
            else
                hg_builder_data(b, reg, name, some_type(c), dims, choose(c, 10), NULL);
            break;
        default:
            hg_builder_param_buffer(b, reg, name, some_type(c), 1 + (int)choose(c, 3), dims,
                                    choose(c, 4) ? HG_NO_DIMS : choose(c, 10));
        }
    }
    if (choose(c, 8) == 0) hg_builder_lanes(b, dims, choose(c, 10));
    if (choose(c, 8) == 0) hg_builder_grid(b, dims, choose(c, 5));
    if (choose(c, 8) == 0) hg_builder_block(b, (uint32_t)hostile(c), choose(c, 4), choose(c, 4));
    if (choose(c, 4) == 0) hg_builder_shared(b, choose(c, 2) ? 256 : hostile(c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chooser c = {data, size};
    hg_builder *b = hg_builder_create("fuzz");
    hg_label labels[LABELS];
    hg_program *p = NULL;
    for (int i = 0; i < LABELS; i++) labels[i] = hg_builder_label(b);
    own_type = (hg_type)choose(&c, HG_TYPE_COUNT);
    add_parameters(b, &c);
    /* What instructions may read: an instruction that reads before anyone writes is refused, and
     * most programs should not be. */
    for (uint8_t reg = 5; reg <= 12; reg++)
        hg_build_mov_imm(b, own_type, reg,
                         hg_type_is_float(own_type) ? hg_imm_f64(choose(&c, 100))
                                                    : hg_imm_u64(choose(&c, 100)));
    for (uint8_t reg = 13; reg <= 15; reg++)
        hg_build_mov_imm(b, HG_TYPE_U64, reg, hg_imm_u64(64 * choose(&c, 16)));
    uint32_t placed = 0;
    for (int i = 0; i < MAX_CALLS && c.size; i++) {
        switch (choose(&c, 12)) {
        case 0:
            if (placed < LABELS) hg_builder_place(b, labels[placed++]);
            break;
        case 1:
            hg_builder_loop(b, some_reg(&c),
                            choose(&c, 4) ? choose(&c, 20) : (uint32_t)hostile(&c));
            break;
        case 2: hg_builder_endloop(b); break;
        default: add_instruction(b, &c, labels);
        }
    }
    while (placed < LABELS) hg_builder_place(b, labels[placed++]);
    if (hg_builder_build(b, NULL, &p) == HG_OK) run_any(p, &c);
    hg_program_release(p);
    hg_builder_destroy(b);
    return 0;
}

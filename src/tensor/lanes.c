/* What texts of programs say of lanes. A stride is a parameter of its size, and its sign is in the
 * text: to a graph parameters of u64 are extents, below 2^63. Strides of 0 and 1 are written out.
 */
#include "tensor/lanes.h"

static const char *const ARRAYS[LANES_OPERANDS] = {"x0", "x1", "x2", "x3", "x4"};
static const char *const EXTENTS[HG_TENSOR_AXES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
static const char *const OFFSETS[LANES_OPERANDS] = {"o0", "o1", "o2", "o3", "o4"};
static const char *const STRIDES[LANES_OPERANDS][HG_TENSOR_AXES] = {
#define ROW(k) \
    { k "0", k "1", k "2", k "3", k "4", k "5", k "6", k "7" }
    ROW("s0"), ROW("s1"), ROW("s2"), ROW("s3"), ROW("s4")
#undef ROW
};

const char *lanes_extent_name(uint32_t axis) { return EXTENTS[axis]; }
const char *lanes_array_name(uint32_t operand) { return ARRAYS[operand]; }
const char *lanes_type_name(hg_element type) { return hg_type_name(tensor_stored(type)); }

/* ---- axes ---- */

static bool joins(const tensor_lanes *l, uint32_t to, uint32_t d) {
    for (uint32_t k = 0; k < l->operands; k++)
        if (l->strides[k][to] != l->strides[k][d] * (int64_t)l->shape[d]) return false;
    return true;
}

void lanes_collapse(tensor_lanes *l, uint32_t kept) {
    uint32_t rank = l->rank;
    bool open = false; /* whether the last axis may take another */
    l->rank = 0;
    for (uint32_t d = 0; d < rank; d++) { /* an axis goes where one before it or itself was */
        bool keep = kept >> d & 1;
        l->at[d] = UINT32_MAX;
        if (l->shape[d] == 1 && !keep) continue;
        bool join = open && !keep && joins(l, l->rank - 1, d);
        uint32_t to = join ? l->rank - 1 : l->rank++;
        l->at[d] = to;
        l->shape[to] = join ? l->shape[to] * l->shape[d] : l->shape[d];
        for (uint32_t k = 0; k < l->operands; k++) l->strides[k][to] = l->strides[k][d];
        open = !keep;
    }
    if (l->rank) return;
    l->rank = 1;
    l->shape[0] = 1;
    for (uint32_t k = 0; k < l->operands; k++) l->strides[k][0] = 1;
}

/* ---- texts ---- */

static bool is_given(int64_t stride) { return stride != 0 && stride != 1; }

static void add_sign(hg_text *out, bool any, bool minus) {
    hg_text_addf(out, "%s", minus ? (any ? " - " : "u64(0) - ") : any ? " + " : "");
}

bool lanes_add_place(hg_text *out, const tensor_lanes *l, uint32_t k) {
    bool any = l->offsets[k] != 0;
    if (any) add_sign(out, false, (int64_t)l->offsets[k] < 0);
    if (any) hg_text_addf(out, "%s", OFFSETS[k]);
    for (uint32_t d = 0; d < l->rank; d++) {
        int64_t stride = l->strides[k][d];
        if (!stride) continue;
        add_sign(out, any, stride < 0);
        hg_text_addf(out, "i%u", (unsigned)d);
        if (is_given(stride)) hg_text_addf(out, " * %s", STRIDES[k][d]);
        any = true;
    }
    return any;
}

void lanes_add_extents(hg_text *out, const tensor_lanes *l, bool pairs) {
    for (uint32_t d = 0; d < l->rank; d++)
        hg_text_addf(out, "%s%s%s", d ? ", " : "", pairs && d + 1 == l->rank ? "2 * " : "",
                     EXTENTS[d]);
}

void lanes_add_head(hg_text *out, const tensor_lanes *l) {
    hg_text_addf(out, ".lanes [");
    for (uint32_t d = 0; d < l->rank; d++)
        hg_text_addf(out, "%si%u < %s", d ? ", " : "", (unsigned)d, EXTENTS[d]);
    hg_text_addf(out, "]\n");
}

void lanes_add_extent_params(hg_text *out, const tensor_lanes *l) {
    for (uint32_t d = 0; d < l->rank; d++) hg_text_addf(out, ".param %s u64\n", EXTENTS[d]);
}

void lanes_add_params(hg_text *out, const tensor_lanes *l, uint32_t k) {
    if (l->offsets[k]) hg_text_addf(out, ".param %s u64\n", OFFSETS[k]);
    for (uint32_t d = 0; d < l->rank; d++)
        if (is_given(l->strides[k][d])) hg_text_addf(out, ".param %s u64\n", STRIDES[k][d]);
}

/* ---- arguments ---- */

void lanes_give_size(tensor_arg *args, uint32_t *count, const char *name, uint64_t value) {
    args[(*count)++] = (tensor_arg){.name = name, .kind = TENSOR_SIZE, .number = value};
}

/* The text adds or subtracts it. */
static void give_size_of(tensor_arg *args, uint32_t *count, const char *name, int64_t value) {
    lanes_give_size(args, count, name, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void lanes_give_extents(tensor_arg *args, uint32_t *count, const tensor_lanes *l) {
    for (uint32_t d = 0; d < l->rank; d++) lanes_give_size(args, count, EXTENTS[d], l->shape[d]);
}

void lanes_give(tensor_arg *args, uint32_t *count, const tensor_lanes *l, uint32_t k) {
    if (l->offsets[k]) give_size_of(args, count, OFFSETS[k], (int64_t)l->offsets[k]);
    for (uint32_t d = 0; d < l->rank; d++)
        if (is_given(l->strides[k][d])) give_size_of(args, count, STRIDES[k][d], l->strides[k][d]);
}

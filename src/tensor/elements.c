/* Element-wise operations: a formula over elements becomes the text of a lane program, for the
 * layout that the tensors have: axes that lie behind each other are one, strides of 0 and 1 are
 * written out, others are parameters.
 * Must not know: which operations there are. */
#include "library/texts.h"
#include "tensor/lanes.h"
#include <stdio.h>
#include <string.h>

enum { MOST_INPUTS = 3, MOST_SCALARS = 4 };

/* Of each operand (inputs, then the result) where its elements are, over common axes. */
typedef struct layout {
    tensor_lanes lanes;
    bool pairs;                   /* lanes do both parts of complex elements */
    bool packed[MOST_INPUTS + 1]; /* its elements are in the order of the lanes */
} layout;

/* Operands are added one by one. */
static void begin_layout(layout *l, const uint64_t *shape, uint32_t rank) {
    l->lanes.rank = rank;
    l->lanes.operands = 0;
    if (rank) memcpy(l->lanes.shape, shape, rank * sizeof *shape);
}

/* A new array in C order. */
static void add_new(layout *l) {
    uint32_t k = l->lanes.operands++;
    l->lanes.offsets[k] = 0;
    tensor_c_strides(l->lanes.shape, l->lanes.rank, l->lanes.strides[k]);
}

static void add_operand(layout *l, const hg_tensor *t) {
    tensor_lanes *a = &l->lanes;
    uint32_t k = a->operands++, rank = a->rank;
    a->offsets[k] = t->offset;
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t own = d + t->rank - rank;
        bool repeated = d < rank - t->rank || (t->shape[own] == 1 && a->shape[d] != 1);
        a->strides[k][d] = repeated ? 0 : t->strides[own];
    }
}

static void find_packed(layout *l) {
    const tensor_lanes *a = &l->lanes;
    int64_t strides[HG_TENSOR_AXES];
    tensor_c_strides(a->shape, a->rank, strides);
    for (uint32_t k = 0; k < a->operands; k++)
        l->packed[k] = !a->offsets[k] &&
                       memcmp(strides, a->strides[k], a->rank * sizeof *strides) == 0;
}

/* Parts of complex elements that lie side by side in all operands are the numbers of a longer last
 * axis. false: they do not, or the formula takes both parts. */
static bool join_parts(layout *l, const tensor_formula *f, const hg_tensor *const *inputs) {
    bool joins = tensor_is_complex(f->computes) && tensor_is_complex(f->gives) &&
                 !strchr(f->expression, ';');
    tensor_lanes *a = &l->lanes;
    uint32_t last = a->rank - 1;
    for (uint32_t k = 0; k < a->operands && joins; k++)
        joins = (a->strides[k][last] == 1 || a->shape[last] == 1) &&
                (k + 1 == a->operands || tensor_is_complex(inputs[k]->type));
    if (!joins) return false;
    a->shape[last] *= 2;
    for (uint32_t k = 0; k < a->operands; k++) {
        a->offsets[k] *= 2;
        for (uint32_t d = 0; d < a->rank; d++) a->strides[k][d] *= 2;
        a->strides[k][last] = 1;
    }
    return true;
}

/* Makes the layout of operands that were added; `real` receives what the formula is to it. */
static void arrange(layout *l, const tensor_formula *f, const hg_tensor *const *inputs,
                    tensor_formula *real) {
    bool any = tensor_is_complex(f->computes) || tensor_is_complex(f->gives);
    for (uint32_t k = 0; k + 1 < l->lanes.operands; k++) any |= tensor_is_complex(inputs[k]->type);
    lanes_collapse(&l->lanes, 0);
    l->pairs = any && !join_parts(l, f, inputs);
    find_packed(l);
    *real = *f;
    if (l->pairs) return;
    real->computes = f->computes == HG_ELEMENT_BOOL ? f->computes : tensor_stored(f->computes);
    real->gives = f->gives == HG_ELEMENT_BOOL ? f->gives : tensor_stored(f->gives);
}

/* ---- names of parameters ---- */

static const char *const SCALARS[MOST_SCALARS] = {"v0", "v1", "v2", "v3"};
/* Numbers of u64 are given as i64 of the same bits: to a graph a parameter of u64 is an extent,
 * below 2^63. */
static const char *const WORDS[MOST_SCALARS] = {"w0", "w1", "w2", "w3"};
/* ---- the text ---- */

/* An expression of a formula, with its $T, $B, $S, $W and $M. */
static void add_expression(hg_text *out, const tensor_formula *f, const char *from) {
    uint64_t bits = tensor_size(f->computes) * 8;
    for (const char *at = from; *at && *at != ';'; at++) {
        if (*at != '$') {
            hg_text_add(out, at, 1);
            continue;
        }
        switch (*++at) {
        case 'T': hg_text_addf(out, "%s", lanes_type_name(f->computes)); break;
        case 'B': hg_text_addf(out, "u%llu", (unsigned long long)bits); break;
        case 'S': hg_text_addf(out, "i%llu", (unsigned long long)bits); break;
        case 'W': hg_text_addf(out, "%llu", (unsigned long long)bits); break;
        case 'M': hg_text_addf(out, "%llu", (unsigned long long)(UINT64_MAX >> (65 - bits))); break;
        }
    }
}

static void add_index(hg_text *out, const layout *l, uint32_t k) {
    if (l->packed[k])
        hg_text_addf(out, l->lanes.rank == 1 ? "i0" : "global_lane_id");
    else if (!lanes_add_place(out, &l->lanes, k))
        hg_text_addf(out, "0");
}

/* part: 0 or 1, of a complex element; 2: of a real one. */
static void add_place(hg_text *out, const layout *l, uint32_t k, uint32_t part) {
    if (part < 2) hg_text_addf(out, "2 * (");
    add_index(out, l, k);
    if (part < 2) hg_text_addf(out, part ? ") + 1" : ")");
}

/* Of input k an element, or a part of it. */
static void add_load(hg_text *out, const layout *l, const tensor_formula *f,
                     const hg_tensor *const *inputs, uint32_t k, uint32_t part) {
    bool cast = tensor_stored(inputs[k]->type) != tensor_stored(f->computes);
    if (cast) hg_text_addf(out, "%s(", lanes_type_name(f->computes));
    hg_text_addf(out, "%s[", lanes_array_name(k));
    add_place(out, l, k, part);
    hg_text_addf(out, cast ? "])\n" : "]\n");
}

static void add_loads(hg_text *out, const layout *l, const tensor_formula *f,
                      const hg_tensor *const *inputs) {
    bool pairs = l->pairs && tensor_is_complex(f->computes);
    for (uint32_t k = 0; k + 1 < l->lanes.operands; k++) {
        bool truth = f->computes == HG_ELEMENT_BOOL || (f->truths >> k & 1);
        bool both = l->pairs && tensor_is_complex(inputs[k]->type);
        hg_text_addf(out, "    let %c%s = ", "abc"[k], pairs && !truth ? "r" : "");
        if (truth) {
            hg_text_addf(out, "%s[", lanes_array_name(k));
            add_place(out, l, k, both ? 0 : 2);
            hg_text_addf(out, "] != 0");
            if (both) hg_text_addf(out, " || %s[", lanes_array_name(k));
            if (both) add_place(out, l, k, 1);
            hg_text_addf(out, both ? "] != 0\n" : "\n");
            continue;
        }
        add_load(out, l, f, inputs, k, both ? 0 : 2);
        if (!pairs) continue;
        hg_text_addf(out, "    let %ci %s = ", "abc"[k], lanes_type_name(f->computes));
        if (both)
            add_load(out, l, f, inputs, k, 1);
        else
            hg_text_addf(out, "0\n");
    }
}

static const char *const PART_NAMES[] = {"r", "i"};

/* `y[…] = …` of an element, or a part of it. */
static void add_store(hg_text *out, const layout *l, const tensor_formula *f, uint32_t part) {
    uint32_t inputs = l->lanes.operands - 1;
    const char *second = strchr(f->expression, ';');
    bool cast = f->gives == HG_ELEMENT_BOOL || f->computes == HG_ELEMENT_BOOL ||
                tensor_stored(f->gives) != tensor_stored(f->computes);
    hg_text_addf(out, "    y[");
    add_place(out, l, inputs, part);
    hg_text_addf(out, "] = ");
    if (cast) hg_text_addf(out, "%s(", lanes_type_name(f->gives));
    if (part < 2 && !second) {
        hg_text_addf(out, "part(");
        for (uint32_t k = 0; k < inputs; k++)
            hg_text_addf(out, "%s%c%s", k ? ", " : "", "abc"[k], PART_NAMES[part]);
        hg_text_addf(out, ")");
    } else {
        add_expression(out, f, part == 1 ? second + 2 : f->expression);
    }
    hg_text_addf(out, cast ? ")\n" : "\n");
}

/* The expression that each part is by itself. */
static void add_part(hg_text *out, const layout *l, const tensor_formula *f) {
    hg_text_addf(out, "\nfn part(");
    for (uint32_t k = 0; k + 1 < l->lanes.operands; k++)
        hg_text_addf(out, "%s%c %s", k ? ", " : "", "abc"[k], lanes_type_name(f->computes));
    hg_text_addf(out, ") -> %s {\n    return ", lanes_type_name(f->computes));
    add_expression(out, f, f->expression);
    hg_text_addf(out, "\n}\n");
}

/* direct: the result is written through strides, else it is an array of its own. */
static void write_text(hg_text *out, const layout *l, const tensor_formula *f,
                       const hg_tensor *const *inputs, uint32_t scalars, bool direct) {
    uint32_t result = l->lanes.operands - 1;
    bool pairs = l->pairs && tensor_is_complex(f->gives);
    hg_text_addf(out, ".atlas 1\n.program %s\n", f->name);
    for (uint32_t k = 0; k < result; k++)
        hg_text_addf(out, ".param %s buffer %s in\n", lanes_array_name(k),
                     lanes_type_name(inputs[k]->type));
    hg_text_addf(out, ".param y buffer %s %s", lanes_type_name(f->gives),
                 direct ? "inout\n" : "out [");
    if (!direct) {
        lanes_add_extents(out, &l->lanes, pairs);
        hg_text_addf(out, "]\n");
    }
    lanes_add_extent_params(out, &l->lanes);
    for (uint32_t k = 0; k < result + direct; k++)
        if (!l->packed[k]) lanes_add_params(out, &l->lanes, k);
    bool words = f->computes == HG_TYPE_U64;
    for (uint32_t i = 0; i < scalars; i++)
        hg_text_addf(out, ".param %s %s\n", words ? WORDS[i] : SCALARS[i],
                     words ? "i64" : lanes_type_name(f->computes));
    lanes_add_head(out, &l->lanes);
    for (uint32_t i = 0; i < scalars && words; i++)
        hg_text_addf(out, "    let %s = u64(%s)\n", SCALARS[i], WORDS[i]);
    add_loads(out, l, f, inputs);
    add_store(out, l, f, pairs ? 0 : 2);
    if (pairs) add_store(out, l, f, 1);
    if (pairs && !strchr(f->expression, ';')) add_part(out, l, f);
    hg_text_addf(out, "\n%s", hg_unpacked(&library_text_elements));
}

/* What the text depends on. Expressions are told by where they stand: they live as long as the
 * library. */
typedef struct text_key {
    const char *name, *expression;
    uint32_t truths;
    uint8_t computes, gives, direct, scalars, operands, rank, types[MOST_INPUTS], pairs;
    uint8_t strides[MOST_INPUTS + 1][HG_TENSOR_AXES]; /* 0, 1, 2: any, 3: backwards; 4: an offset,
                                                         8: packed */
} text_key;

static hg_status program_of(tensor_state *state, const layout *l, const tensor_formula *f,
                            const hg_tensor *const *inputs, uint32_t scalars, bool direct,
                            hg_program **program) {
    text_key key;
    memset(&key, 0, sizeof key); /* between its members too */
    key.name = f->name;
    key.expression = f->expression;
    key.truths = f->truths;
    key.computes = (uint8_t)f->computes;
    key.gives = (uint8_t)f->gives;
    key.direct = direct;
    key.scalars = (uint8_t)scalars;
    key.operands = (uint8_t)l->lanes.operands;
    key.pairs = l->pairs;
    key.rank = (uint8_t)l->lanes.rank;
    for (uint32_t k = 0; k < l->lanes.operands; k++) {
        if (k + 1 < l->lanes.operands)
            key.types[k] = (uint8_t)(l->pairs ? inputs[k]->type : tensor_stored(inputs[k]->type));
        for (uint32_t d = 0; d < l->lanes.rank; d++) {
            int64_t s = l->lanes.strides[k][d];
            key.strides[k][d] = s == 0 ? 0 : s == 1 ? 1 : s > 0 ? 2 : 3;
        }
        if (l->lanes.offsets[k]) key.strides[k][0] |= 4;
        if (l->packed[k]) key.strides[k][0] |= 8;
    }
    *program = tensor_program_known(state, &key, sizeof key);
    if (*program) return HG_OK;
    hg_text text = {0};
    write_text(&text, l, f, inputs, scalars, direct);
    hg_status status = tensor_program_add(state, &key, sizeof key, &text, program);
    hg_text_free(&text);
    return status;
}

/* ---- operands ---- */

typedef struct operands {
    tensor_arg args[2 * MOST_INPUTS + 2 + HG_TENSOR_AXES * (MOST_INPUTS + 2) + MOST_SCALARS];
    uint32_t count;
} operands;

static hg_status add_scalars(operands *o, const tensor_formula *f, const double *scalars,
                             uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        bool word = f->computes == HG_TYPE_U64;
        tensor_arg a = {.name = word ? WORDS[i] : SCALARS[i],
                        .kind = TENSOR_SCALAR,
                        .type = (uint8_t)(word ? HG_TYPE_I64 : tensor_stored(f->computes))};
        if (hg_type_size_bytes(tensor_stored(f->computes)) > sizeof a.bytes)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: numbers of type %s are too wide",
                           f->name, hg_element_name(f->computes));
        HG_TRY(hg_type_from_f64(tensor_stored(f->computes), scalars[i], a.bytes));
        o->args[o->count++] = a;
    }
    return HG_OK;
}

static void add_all(operands *o, const layout *l, const hg_tensor *const *inputs, uint32_t count,
                    bool direct) {
    for (uint32_t k = 0; k < count; k++)
        o->args[o->count++] = (tensor_arg){
            .name = lanes_array_name(k), .kind = TENSOR_ARRAY, .tensor = inputs[k]};
    lanes_give_extents(o->args, &o->count, &l->lanes);
    for (uint32_t k = 0; k < count + direct; k++)
        if (!l->packed[k]) lanes_give(o->args, &o->count, &l->lanes, k);
}

/* ---- as an instruction ---- */

static bool is_map(const tensor_run *run, const tensor_formula *f, const hg_tensor *const *inputs,
                   uint32_t count, uint32_t scalars) {
    bool is = !run->own && f->map && !scalars && count && count <= 2 && f->gives == f->computes;
    for (uint32_t k = 0; k < count && is; k++) is = inputs[k]->type == f->computes;
    return is;
}

/* Of that shape, with no stride that goes backwards. */
static bool is_plain(const hg_tensor *x, const uint64_t *shape, uint32_t rank) {
    bool is = x->rank == rank;
    for (uint32_t d = 0; d < rank && is; d++) is = x->shape[d] == shape[d] && x->strides[d] >= 0;
    return is;
}

static hg_status map_call(tensor_run *run, const tensor_formula *f, const hg_tensor *const *inputs,
                          uint32_t count, const uint64_t *shape, uint32_t rank,
                          hg_tensor **result) {
    static const char *const names[2][2] = {{"in", NULL}, {"a", "b"}};
    hg_tensor *views[2] = {NULL, NULL};
    tensor_arg args[3];
    hg_status status = HG_OK;
    for (uint32_t k = 0; k < count && status == HG_OK; k++) {
        const hg_tensor *x = inputs[k];
        if (!is_plain(x, shape, rank)) {
            hg_tensor *packed = NULL;
            status = tensor_operand(run, x, false, &packed);
            if (status == HG_OK) status = hg_tensor_broadcast_to(packed, shape, rank, &views[k]);
            hg_tensor_release(packed);
            x = views[k];
        }
        args[k] = (tensor_arg){.name = names[count - 1][k], .kind = TENSOR_ARRAY, .tensor = x};
    }
    args[count] = (tensor_arg){.name = "op", .kind = TENSOR_WORD, .text = f->map};
    tensor_result made = {.operand = "out", .type = f->gives, .rank = rank, .shape = shape};
    tensor_work work = {.instruction = count == 1 ? "parallel_map" : "parallel_map_binary",
                        .operation = f->name};
    if (status == HG_OK) status = tensor_call(run, &work, args, count + 1, &made, 1);
    for (uint32_t k = 0; k < count; k++)
        if (views[k]) hg_tensor_release(views[k]);
    *result = made.tensor;
    return status;
}

/* ---- calls ---- */

static hg_status nothing(tensor_run *run, hg_element type, const uint64_t *shape, uint32_t rank,
                         hg_tensor **result) {
    HG_TRY(tensor_make(run->state, type, shape, rank, result));
    hg_status status = tensor_storage_allocate((*result)->storage, false);
    if (status == HG_OK) return HG_OK;
    hg_tensor_release(*result);
    *result = NULL;
    return status;
}

hg_status tensor_map(tensor_run *run, const tensor_formula *f, const hg_tensor *const *inputs,
                     uint32_t input_count, const uint64_t *shape, uint32_t rank,
                     const double *scalars, uint32_t scalar_count, hg_tensor **result) {
    layout l;
    uint64_t count;
    operands o;
    o.count = 0;
    tensor_formula real;
    tensor_work work = {.operation = f->name};
    *result = NULL;
    HG_TRY(tensor_check_shape(f->gives, shape, rank, &count));
    if (!count) return nothing(run, f->gives, shape, rank, result);
    if (is_map(run, f, inputs, input_count, scalar_count))
        return map_call(run, f, inputs, input_count, shape, rank, result);
    begin_layout(&l, shape, rank);
    for (uint32_t k = 0; k < input_count; k++) add_operand(&l, inputs[k]);
    add_new(&l);
    arrange(&l, f, inputs, &real);
    HG_TRY(program_of(run->state, &l, &real, inputs, scalar_count, false, &work.program));
    add_all(&o, &l, inputs, input_count, false);
    HG_TRY(add_scalars(&o, f, scalars, scalar_count));
    if (l.pairs) l.lanes.shape[l.lanes.rank - 1] *= tensor_parts(f->gives);
    tensor_result made = {.operand = "y", .rank = l.lanes.rank, .shape = l.lanes.shape};
    made.type = tensor_is_complex(f->gives) ? tensor_stored(f->gives) : f->gives;
    HG_TRY(tensor_call(run, &work, o.args, o.count, &made, 1));
    made.tensor->type = f->gives;
    made.tensor->rank = rank;
    if (rank) memcpy(made.tensor->shape, shape, rank * sizeof *shape);
    tensor_c_strides(shape, rank, made.tensor->strides);
    *result = made.tensor;
    return HG_OK;
}

/* Whether elements that the input reads may be written for another lane. */
static bool clashes(const hg_tensor *target, const hg_tensor *input) {
    const tensor_storage *a = target->storage, *b = input->storage;
    bool same = a == b && target->offset == input->offset && target->rank == input->rank &&
                target->type == input->type;
    for (uint32_t d = 0; d < target->rank && same; d++)
        same = target->shape[d] == input->shape[d] && target->strides[d] == input->strides[d];
    if (same) return false;
    if (a == b) return true;
    /* memory of the caller may be wrapped twice */
    return (a->borrowed || a->host) && (b->borrowed || b->host);
}

static hg_status write_into(tensor_state *state, const tensor_formula *f,
                            const hg_tensor *const *inputs, uint32_t count, hg_tensor *target) {
    layout l;
    operands o;
    tensor_formula real;
    tensor_work work = {.operation = f->name};
    o.count = 0;
    begin_layout(&l, target->shape, target->rank);
    for (uint32_t k = 0; k < count; k++) add_operand(&l, inputs[k]);
    add_operand(&l, target);
    arrange(&l, f, inputs, &real);
    HG_TRY(program_of(state, &l, &real, inputs, 0, true, &work.program));
    add_all(&o, &l, inputs, count, true);
    tensor_target to = {"y", target->storage};
    return tensor_launch(state, &work, o.args, o.count, &to, 1);
}

static hg_status separate(tensor_state *state, const hg_tensor *target, const hg_tensor *input,
                          hg_tensor **result) {
    tensor_run run;
    if (!clashes(target, input)) return tensor_alias(input, result);
    HG_TRY(tensor_run_begin(&run, state->executor));
    hg_status status = tensor_operand(&run, input, true, result);
    if (status == HG_OK && (*result)->storage == input->storage) { /* it was packed: copy it */
        hg_tensor_release(*result);
        tensor_formula copy = {.name = "copy",
                               .expression = "a",
                               .computes = tensor_copied(input->type),
                               .gives = tensor_copied(input->type)};
        status = tensor_map(&run, &copy, &input, 1, input->shape, input->rank, NULL, 0, result);
    }
    status = tensor_run_end(&run, status);
    return status == HG_OK ? tensor_ready((*result)->storage) : status;
}

hg_status tensor_check_target(const char *operation, const hg_tensor *target) {
    if (!tensor_numel(target->shape, target->rank)) return HG_OK;
    for (uint32_t d = 0; d < target->rank; d++)
        if (!target->strides[d] && target->shape[d] > 1)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%s: elements of the target share memory along axis %u", operation,
                           (unsigned)d);
    return HG_OK;
}

hg_status tensor_map_into(tensor_state *state, const tensor_formula *f,
                          const hg_tensor *const *inputs, uint32_t count, hg_tensor *target) {
    hg_tensor *own[MOST_INPUTS] = {NULL};
    const hg_tensor *read[MOST_INPUTS];
    hg_status status = tensor_place(target->storage, state);
    if (status == HG_OK) status = tensor_writable(target->storage);
    if (status == HG_OK) status = tensor_check_target(f->name, target);
    for (uint32_t k = 0; k < count && status == HG_OK; k++) {
        status = tensor_place(inputs[k]->storage, state);
        if (status == HG_OK) status = tensor_ready(inputs[k]->storage);
        if (status == HG_OK) status = separate(state, target, inputs[k], &own[k]);
        read[k] = own[k];
    }
    tensor_storage_written(target->storage); /* what made an input may have read it */
    if (status == HG_OK && tensor_numel(target->shape, target->rank))
        status = write_into(state, f, read, count, target);
    hg_error kept = *hg_error_record();
    for (uint32_t k = 0; k < count; k++) hg_tensor_release(own[k]);
    *hg_error_record() = kept;
    return status;
}

hg_status tensor_cast(tensor_run *run, const hg_tensor *x, hg_element type, hg_tensor **result) {
    bool truth = type == HG_ELEMENT_BOOL && x->type != HG_ELEMENT_BOOL;
    bool from = tensor_is_complex(x->type), to = tensor_is_complex(type);
    char text[220];
    if (from && !to && !truth)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "cast: %s as %s: real, imag, abs and angle give real numbers",
                       tensor_text(x, text), hg_element_name(type));
    tensor_formula f = {.name = "cast",
                        .expression = from && truth ? "ar != 0 || ai != 0"
                                      : truth       ? "a != 0"
                                      : to && !from ? "a; 0"
                                                    : "a",
                        .computes = truth || (to && !from) ? tensor_copied(x->type)
                                                           : tensor_copied(type),
                        .gives = truth ? HG_ELEMENT_BOOL : tensor_copied(type)};
    HG_TRY(tensor_map(run, &f, &x, 1, x->shape, x->rank, NULL, 0, result));
    (*result)->type = type;
    return HG_OK;
}

hg_status tensor_operand(tensor_run *run, const hg_tensor *x, bool packed, hg_tensor **operand) {
    bool as_it_is = !packed || hg_tensor_is_contiguous(x);
    for (uint32_t d = 0; d < x->rank && as_it_is; d++)
        as_it_is = x->strides[d] >= 0 || x->shape[d] <= 1;
    return as_it_is ? tensor_alias(x, operand) : tensor_cast(run, x, x->type, operand);
}

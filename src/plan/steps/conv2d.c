/* conv2d: the library programs of conv2d.atlas. Where a kernel is more than one place, or rows have
 * ends that show, the input is first copied into planes with zeros around it; then positions of the
 * output count places of such a plane, and a tap is a displacement. */
#include "plan/steps/conv2d.h"
#include "plan/steps/chain.h"

enum {
    OUTPUT,
    INPUT,
    KERNEL,
    BATCH,
    IN_CHANNELS,
    OUT_CHANNELS,
    HEIGHT,
    WIDTH,
    KERNEL_H,
    KERNEL_W,
    STRIDE,
    PADDING,
    DILATION,
    GROUPS,
    PADDING_END,
    BIAS
};

static uint64_t size_of(const plan_call *call, uint32_t operand) {
    return plan_number(call, operand, 0);
}

/* Only of a call that has been checked. */
static plan_window axis_of(const plan_call *call, uint32_t direction) {
    plan_window a = {.size = size_of(call, HEIGHT + direction),
                     .window = size_of(call, KERNEL_H + direction),
                     .stride = plan_number(call, STRIDE, direction),
                     .before = plan_number(call, PADDING, direction),
                     .dilation = plan_number(call, DILATION, direction)};
    a.after = plan_is_given(call, PADDING_END) ? plan_number(call, PADDING_END, direction)
                                               : a.before;
    a.out = (plan_padded(&a) - plan_reach(&a)) / a.stride + 1;
    if (a.out == 1) a.stride = 1;
    return a;
}

static plan_convolution read_call(const plan_call *call) {
    return (plan_convolution){.batch = size_of(call, BATCH),
                              .in_channels = size_of(call, IN_CHANNELS),
                              .out_channels = size_of(call, OUT_CHANNELS),
                              .groups = size_of(call, GROUPS),
                              .rows = axis_of(call, 0),
                              .columns = axis_of(call, 1),
                              .has_bias = plan_array_of(call, BIAS) != NULL,
                              .fuses = true,
                              .type = call->type,
                              .fn = call->fn};
}

/* ---- shapes ---- */

static bool check_pair(const plan_call *call, plan_problem *problem, uint32_t operand,
                       uint64_t least) {
    uint32_t count = call->operands[operand].count;
    if (operand == PADDING_END && count == 0) return true;
    if (count != 2) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand,
                    "%u numbers, 2 expected: of rows and of columns", (unsigned)count);
        return false;
    }
    for (uint32_t i = 0; i < 2; i++)
        if (plan_number(call, operand, i) < least)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand, "%llu, at least %llu expected",
                        (unsigned long long)plan_number(call, operand, i),
                        (unsigned long long)least);
    return !problem->found;
}

static void check_axis(const plan_call *call, plan_problem *problem, uint32_t direction) {
    if (size_of(call, KERNEL_H + direction) == 0) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, KERNEL_H + direction,
                    "0, at least 1 expected");
        return;
    }
    plan_window a = axis_of(call, direction);
    if (plan_padded(&a) >= (uint64_t)INT64_MAX)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, HEIGHT + direction,
                    "%llu and the padding: more than any memory has", (unsigned long long)a.size);
    else if (plan_reach(&a) > plan_padded(&a))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, KERNEL_H + direction,
                    "covers %llu of an input that has %llu with its padding",
                    (unsigned long long)plan_reach(&a), (unsigned long long)plan_padded(&a));
}

static void check(const plan_call *call, plan_problem *problem) {
    uint64_t groups = size_of(call, GROUPS);
    if (!check_pair(call, problem, STRIDE, 1) || !check_pair(call, problem, PADDING, 0) ||
        !check_pair(call, problem, DILATION, 1) || !check_pair(call, problem, PADDING_END, 0))
        return;
    if (groups == 0) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, GROUPS, "0, at least 1 expected");
        return;
    }
    for (uint32_t i = IN_CHANNELS; i <= OUT_CHANNELS; i++)
        if (size_of(call, i) % groups != 0)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, i,
                        "(%llu) must be divisible by groups (%llu)",
                        (unsigned long long)size_of(call, i), (unsigned long long)groups);
    check_axis(call, problem, 0);
    if (!problem->found) check_axis(call, problem, 1);
    if (!problem->found) plan_check_conv2d(call, problem, read_call(call), PADDING, BATCH);
}

static void shape_of(const plan_call *call, uint32_t operand, uint64_t first, uint64_t second,
                     uint64_t third, uint64_t fourth) {
    plan_array_shape(plan_array_of(call, operand), 4,
                     (const uint64_t[]){first, second, third, fourth});
}

static void ranges(plan_call *call) {
    plan_convolution c = read_call(call);
    plan_array *bias = plan_array_of(call, BIAS);
    shape_of(call, OUTPUT, c.batch, c.out_channels, c.rows.out, c.columns.out);
    shape_of(call, INPUT, c.batch, c.in_channels, c.rows.size, c.columns.size);
    shape_of(call, KERNEL, c.out_channels, c.in_channels / c.groups, c.rows.window,
             c.columns.window);
    if (bias) plan_array_shape(bias, 1, &c.out_channels);
}

/* ---- the expansion ---- */

static uint64_t least_of(uint64_t x, uint64_t y) { return x < y ? x : y; }
static uint64_t most_of(uint64_t x, uint64_t y) { return x < y ? y : x; }
static uint64_t rounded(uint64_t x, uint64_t step) {
    return plan_times(x / step + (x % step != 0), step);
}

/* Lanes of a block: neighbouring positions. No bit depends on it, nor on the channels of a tile. */
static uint64_t lanes_of(const plan_expansion *x, hg_type type) {
    return plan_tile(x, type == HG_TYPE_F64 ? LIBRARY_TILE_CONV2D_COLUMNS_F64
                                            : LIBRARY_TILE_CONV2D_COLUMNS);
}

/* Half as many where the last tile would be nearly empty, and fewer where the only one would be
 * half empty. */
static uint64_t lanes_of_tile(uint64_t positions, uint64_t lanes) {
    enum { LEAST = 16 };
    if (plan_times(rounded(positions, lanes / 2), 20) <= plan_times(rounded(positions, lanes), 19))
        lanes /= 2;
    while (lanes >= 2 * LEAST && positions <= lanes / 2) lanes /= 2;
    return lanes;
}

/* Output channels of a tile. More for few lanes, but where rows of the kernel, `bytes` long, would
 * fall on the same places of a cache. */
static int32_t channels_of_tile(const plan_expansion *x, uint64_t channels, bool few_lanes,
                                uint64_t bytes) {
    uint32_t most = plan_tile(x, LIBRARY_TILE_CONV2D_CHANNELS);
    if (x->open) return (int32_t)most;
    if (few_lanes && channels >= 2 * (uint64_t)most && (bytes <= 1024 || bytes % 2048 != 0))
        return (int32_t)(2 * most);
    return (int32_t)plan_tile_for(most, channels);
}

/* Planes of the input, and positions in them. Bytes between what a tile reads, positions between
 * what it writes. */
typedef struct layout {
    bool copied; /* else the input lies as it is needed */
    bool joined; /* positions run over all images; else each has its own */
    uint64_t row_phases, column_phases;
    uint64_t rows, pitch;                    /* of a phase */
    uint64_t slack;                          /* zeros that end the last plane, in elements */
    uint64_t to_image, to_channel, to_phase; /* elements */
    uint64_t positions;
} layout;

/* A kernel of one place without stride and padding does not see rows: an image is one. */
static void merge_rows(plan_convolution *c) {
    const plan_window *y = &c->rows, *x = &c->columns;
    if (y->window != 1 || x->window != 1 || y->stride != 1 || x->stride != 1 || y->before ||
        y->after || x->before || x->after)
        return;
    if (y->out != y->size || x->out != x->size)
        return; /* a stride that takes one row of several counts as 1 too */
    c->columns.size = c->columns.out = plan_times(y->size, x->size);
    c->rows.size = c->rows.out = 1;
}

/* Without a stride the zeros behind a row (an image) are those in front of the next one, if they
 * are few. */
enum { FEW = 16 };
static bool is_shared(const plan_window *a) {
    return a->stride == 1 && a->before <= FEW && a->after <= FEW;
}

/* How far apart rows (images) lie. */
static uint64_t apart(const plan_window *a) {
    if (is_shared(a)) return most_of(plan_plus(a->size, most_of(a->before, a->after)), a->out);
    return plan_plus(a->out, (a->window - 1) * a->dilation / a->stride);
}

static layout lay_out(const plan_convolution *c, bool joined, uint64_t lanes) {
    layout l = {.copied = true, .joined = joined};
    l.row_phases = c->rows.window == 1 ? 1 : least_of(c->rows.stride, plan_reach(&c->rows));
    l.column_phases = c->columns.window == 1 ? 1
                                             : least_of(c->columns.stride, plan_reach(&c->columns));
    l.rows = apart(&c->rows);
    l.pitch = apart(&c->columns);
    l.slack = plan_plus(lanes, FEW);
    if (is_shared(&c->rows))
        l.slack = plan_plus(l.slack, plan_times(least_of(c->rows.before, c->rows.after), l.pitch));
    uint64_t plane = plan_times(l.rows, l.pitch),
             phases = plan_times(l.row_phases, l.column_phases);
    l.to_image = joined ? plane : plan_times(plan_times(plane, phases), c->in_channels);
    l.to_phase = joined ? plan_times(plane, c->batch) : plane;
    l.to_channel = plan_times(l.to_phase, phases);
    uint64_t images = joined ? c->batch : 1;
    l.positions = plan_plus(
        plan_times(plan_plus(plan_times(images - 1, l.rows), c->rows.out - 1), l.pitch),
        c->columns.out);
    return l;
}

/* The work of a layout, about: fma of a lane. */
static uint64_t work_of(const plan_convolution *c, const layout *l, uint64_t lanes) {
    enum { COPY = 48 }; /* what it takes to copy an element */
    uint64_t steps = plan_times(plan_times(c->in_channels / c->groups, c->rows.window),
                                c->columns.window);
    uint64_t chains = plan_times(rounded(l->positions, lanes_of_tile(l->positions, lanes)),
                                 l->joined ? 1 : c->batch);
    uint64_t elements = plan_times(
        plan_times(l->to_phase, plan_times(l->row_phases, l->column_phases)), c->in_channels);
    uint64_t copies = l->copied ? plan_times(plan_times(elements, l->joined ? 1 : c->batch), COPY)
                                : 0;
    return plan_plus(plan_times(plan_times(chains, steps), c->out_channels), copies);
}

/* Whether all positions are calculated for some channels before the next ones: the planes stay
 * near, and the kernel, which is larger, is read once. Else all channels for some positions. */
static bool is_read_often(const plan_convolution *c, const layout *l) {
    enum { NEAR = 1 << 18 }; /* elements: a cache that a core has to itself */
    uint64_t in_group = c->in_channels / c->groups,
             taps = plan_times(c->rows.window, c->columns.window);
    uint64_t planes = plan_times(
        plan_times(l->positions, plan_times(l->row_phases, l->column_phases)), in_group);
    return planes <= NEAR &&
           planes <= plan_times(plan_times(c->out_channels / c->groups, in_group), taps);
}

static layout choose(const plan_expansion *x, const plan_convolution *c, hg_type type,
                     uint64_t lanes) {
    layout best = lay_out(c, false, lanes);
    bool one_row = c->rows.size == 1 && c->rows.out == 1 && c->rows.before == 0 &&
                   c->columns.before == 0;
    bool one_place = one_row && c->rows.window == 1 && c->columns.window == 1 &&
                     c->columns.out == c->columns.size;
    if (!x->open && one_place && c->columns.stride == 1 && type == library_sum_type(type) &&
        best.positions >= lanes)
        best.copied = false;
    if (c->batch > 1) {
        layout joined = lay_out(c, true, lanes);
        uint64_t work = work_of(c, &best, lanes);
        if (best.copied && is_read_often(c, &joined))
            work = plan_plus(work, work / 16); /* the kernel is read once, not for each image */
        if (work_of(c, &joined, lanes) < work) best = joined;
    }
    return best;
}

/* The first `count` elements of a part, or what is behind them. */
static plan_part head(plan_part part, uint64_t bytes) {
    part.bytes = bytes;
    return part;
}

static plan_part tail(plan_part part, uint64_t bytes) {
    part.offset += bytes;
    part.bytes -= bytes;
    return part;
}

/* What the texts divide by a number with: `quotient` in them, of numbers below MOST_DIVIDED. */
enum { MOST_DIVIDED = 1 << 30 };
static uint64_t part_of_one(uint64_t number) {
    return ((UINT64_C(1) << 63) - 1) / most_of(number, 1) + 1;
}

/* Places of an axis with its padding, where that is not negative. */
static uint64_t most_places(const plan_window *a) {
    return (int64_t)a->before < 0 ? plan_plus(a->size, a->after) : plan_padded(a);
}

/* Images whose places are those of the output are not copied, and may have any number. */
void plan_check_conv2d(const plan_call *call, plan_problem *problem, plan_convolution c,
                       uint32_t padding, uint32_t batch) {
    uint64_t all = plan_times(c.groups, c.batch), columns, rows;
    bool one_place = c.rows.window == 1 && c.columns.window == 1;
    if (c.batch == 0 || c.out_channels == 0) return;
    merge_rows(&c);
    columns = most_places(&c.columns);
    rows = plan_times(apart(&c.rows), c.in_channels);
    if (all >= MOST_DIVIDED)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, batch,
                    "%llu groups of all images, at most 2^30 - 1 expected",
                    (unsigned long long)all);
    else if (one_place && c.rows.size == 1 && columns == c.columns.size && c.columns.stride == 1 &&
             library_sum_type((hg_type)c.type) == (hg_type)c.type)
        return;
    else if (columns >= MOST_DIVIDED)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, padding,
                    "%llu and %llu around %llu columns, at most 2^30 - 1 together expected",
                    (unsigned long long)c.columns.before, (unsigned long long)c.columns.after,
                    (unsigned long long)c.columns.size);
    else if (rows >= MOST_DIVIDED)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, padding,
                    "%llu and %llu around %llu rows: %llu of all %llu channels, at most 2^30 - 1 "
                    "expected",
                    (unsigned long long)c.rows.before, (unsigned long long)c.rows.after,
                    (unsigned long long)c.rows.size, (unsigned long long)rows,
                    (unsigned long long)c.in_channels);
}

/* Sizes of elements, as constants of the texts. */
static int32_t bytes_of(hg_type type) { return (int32_t)hg_type_size_bytes(type); }

static plan_part copy_planes(plan_expansion *x, const plan_convolution *c, const layout *l,
                             uint64_t lanes) {
    enum { ELEMENTS = 4096 }; /* of a block, about: its start is little beside them */
    hg_type type = (hg_type)c->type, sum = library_sum_type(type);
    uint64_t size = hg_type_size_bytes(sum), images = l->joined ? 1 : c->batch,
             count = plan_times(plan_times(l->to_channel, c->in_channels), images);
    uint64_t rows = plan_times(l->rows, c->in_channels), some = most_of(ELEMENTS / l->pitch, 1),
             phases = plan_times(l->row_phases, l->column_phases);
    plan_part planes = plan_scratch(x, plan_plus(count, l->slack), size);
    if (rows >= MOST_DIVIDED || phases >= MOST_DIVIDED || most_places(&c->columns) >= MOST_DIVIDED)
        x->failed = true;
    if (x->failed) return planes;
    plan_expand_write(x, tail(planes, count * size), NULL);
    bool pairs = type == HG_TYPE_F32 && c->columns.stride == 2;
    lanes = pairs ? lanes / 2 : x->open ? lanes : lanes_of_tile(l->pitch, lanes);
    plan_kernel_key key = plan_library_key(
        LIBRARY_CONV2D_PLANES, type, HG_OP_MOV,
        (int32_t[]){bytes_of(type), bytes_of(sum), (int32_t)lanes, c->columns.stride != 1, pairs},
        2, 16);
    plan_part parts[2 + PLAN_CHAIN_ARRAYS] = {c->input, head(planes, count * size)};
    if (c->fuses) plan_fuse(x, &key, parts, PLAN_IN_FRONT);
    plan_expand_grid(
        x, &key,
        (uint64_t[]){rows / some + (rows % some != 0), pairs ? l->row_phases : phases, c->batch},
        (uint32_t[]){(uint32_t)lanes, 1, 1}, 0, parts,
        (uint64_t[]){c->in_channels, c->rows.size, c->columns.size, c->rows.before,
                     c->columns.before, c->rows.stride, c->columns.stride, l->column_phases,
                     part_of_one(l->column_phases), l->rows, part_of_one(l->rows), l->pitch, some,
                     l->to_image * size, l->to_channel * size, l->to_phase * size});
    return planes;
}

static plan_part place_taps(plan_expansion *x, const plan_convolution *c, const layout *l,
                            uint64_t steps, uint64_t lanes) {
    hg_type type = (hg_type)c->type;
    uint64_t size = hg_type_size_bytes(library_sum_type(type)), count = c->in_channels / c->groups;
    plan_part taps = plan_scratch(x, steps, sizeof(uint64_t));
    if (steps == 0) return taps;
    plan_kernel_key key = plan_library_key(
        LIBRARY_CONV2D_TAPS, type, HG_OP_MOV,
        (int32_t[]){bytes_of(type), bytes_of(library_sum_type(type)), (int32_t)lanes}, 1, 11);
    plan_expand_grid(x, &key, (uint64_t[]){(count - 1) / lanes + 1, 1, 1},
                     (uint32_t[]){(uint32_t)lanes, 1, 1}, 0, &taps,
                     (uint64_t[]){count, c->rows.window, c->columns.window, c->rows.stride,
                                  c->columns.stride, c->rows.dilation, c->columns.dilation,
                                  l->column_phases, l->pitch, l->to_channel * size,
                                  l->to_phase * size});
    return taps;
}

/* The kernel in the type of the calculation. */
static plan_part widen_kernel(plan_expansion *x, const plan_convolution *c, uint64_t lanes) {
    hg_type type = (hg_type)c->type, sum = library_sum_type(type);
    plan_part kernel = c->kernel;
    if (type == sum) return kernel;
    uint64_t count = kernel.bytes / hg_type_size_bytes(type);
    plan_part wide = plan_scratch(x, count, hg_type_size_bytes(sum));
    plan_kernel_key key = plan_library_key(
        LIBRARY_CONV2D_WIDEN, type, HG_OP_MOV,
        (int32_t[]){bytes_of(type), bytes_of(sum), (int32_t)lanes}, 2, 1);
    plan_expand_grid(x, &key, (uint64_t[]){count / lanes + (count % lanes != 0), 1, 1},
                     (uint32_t[]){(uint32_t)lanes, 1, 1}, 0, (plan_part[]){kernel, wide}, &count);
    return wide;
}

void plan_expand_conv2d(plan_expansion *x, plan_convolution c) {
    hg_type type = (hg_type)c.type, sum = library_sum_type(type);
    uint64_t lanes = lanes_of(x, sum), size = hg_type_size_bytes(sum);
    if (c.batch == 0 || c.out_channels == 0) return;
    merge_rows(&c);
    if (c.columns.out == 0) return; /* an image of no elements */
    layout l = choose(x, &c, type, lanes);
    uint64_t channels = c.out_channels / c.groups, in_group = c.in_channels / c.groups;
    uint64_t steps = plan_times(plan_times(in_group, c.rows.window), c.columns.window),
             image = plan_times(c.rows.out, c.columns.out);
    bool has_taps = l.copied && (steps || x->open);
    plan_part parts[5 + PLAN_CHAIN_ARRAYS];
    uint32_t arrays = 0;
    parts[arrays++] = l.copied ? copy_planes(x, &c, &l, lanes) : c.input;
    parts[arrays++] = widen_kernel(x, &c, lanes);
    if (has_taps) parts[arrays++] = place_taps(x, &c, &l, steps, lanes);
    if (c.has_bias) parts[arrays++] = c.bias;
    parts[arrays++] = c.output;
    if (plan_times(c.groups, c.batch) >= MOST_DIVIDED) x->failed = true;
    if (x->failed) return;
    uint64_t in_tile = x->open ? lanes : lanes_of_tile(l.positions, lanes);
    int32_t tile = channels_of_tile(x, channels, in_tile < lanes, plan_times(steps, size));
    plan_kernel_key key = plan_library_key(LIBRARY_CONV2D_TILE, type, c.fn,
                                           (int32_t[]){bytes_of(type), bytes_of(sum),
                                                       (int32_t)in_tile, tile, has_taps, c.has_bias,
                                                       c.fn != HG_OP_MOV},
                                           (uint8_t)arrays, 16);
    if (c.fuses) plan_fuse(x, &key, parts, PLAN_BEHIND);
    bool by_position = is_read_often(&c, &l);
    uint64_t across = (l.positions - 1) / in_tile + 1, down = (channels - 1) / (uint64_t)tile + 1;
    uint64_t plane = l.copied ? l.to_channel : image;
    plan_expand_grid(
        x, &key,
        (uint64_t[]){by_position ? across : down, by_position ? down : across,
                     plan_times(c.groups, l.joined ? 1 : c.batch)},
        (uint32_t[]){(uint32_t)in_tile, 1, 1}, 0, parts,
        (uint64_t[]){steps, channels, c.groups, part_of_one(c.groups), l.positions, l.pitch,
                     c.columns.out, plan_times(l.joined ? c.batch - 1 : 0, l.rows) + c.rows.out,
                     l.rows, c.rows.out, plane * size, plane * c.in_channels * size,
                     plane * in_group * size, image, image * c.out_channels, by_position});
}

static void expand(const plan_call *call, plan_expansion *x) {
    plan_convolution c = read_call(call);
    c.input = plan_part_of(call, INPUT);
    c.kernel = plan_part_of(call, KERNEL);
    c.output = plan_part_of(call, OUTPUT);
    if (c.has_bias) c.bias = plan_part_of(call, BIAS);
    plan_expand_conv2d(x, c);
}

/* Whether planes have a place for each element along a direction. */
static bool covers(const plan_window *a, uint64_t places, uint64_t phases) {
    return phases == a->stride && plan_times(places, a->stride) >= plan_plus(a->size, a->before);
}

/* With a stride of columns lanes read and store far apart: that takes longer than a pass over the
 * input. */
static bool packs(const plan_call *call, const plan_expansion *x, uint32_t array) {
    plan_convolution c = read_call(call);
    if (&call->arrays[array] != plan_array_of(call, INPUT)) return false;
    merge_rows(&c);
    if (c.columns.stride != 1) return false;
    layout l = choose(x, &c, (hg_type)call->type,
                      lanes_of(x, library_sum_type((hg_type)call->type)));
    return l.copied && covers(&c.rows, l.rows, l.row_phases) &&
           covers(&c.columns, l.pitch, l.column_phases);
}

static plan_cost cost(const plan_call *call) {
    plan_convolution c = read_call(call);
    uint64_t steps = plan_times(plan_times(c.in_channels / c.groups, c.rows.window),
                                c.columns.window);
    return (plan_cost){
        plan_call_bytes(call),
        plan_times(plan_array_of(call, OUTPUT)->bytes / hg_type_size_bytes((hg_type)call->type),
                   steps)};
}

const plan_collective plan_collective_conv2d = {.check = check,
                                                .ranges = ranges,
                                                .expand = expand,
                                                .cost = cost,
                                                .overlap = PLAN_OVERLAP_REFUSED,
                                                .fuses = true,
                                                .packs = packs};

/* conv, conv_transpose: convolutions of images (conv2d.h), whose arrays conv.atlas makes.
 *
 * Along three axes the places of the depth are images, and those of the kernel's depth are
 * channels: the input is copied as often as the kernel is deep, the kernel is as it lies. A
 * transposed convolution is, for each phase of its stride, a convolution with stride 1 by every
 * stride-th place of the kernel, in reverse order; each makes every stride-th place of the output.
 */
#include "plan/steps/conv2d.h"
#include "plan/steps/chain.h"

enum { DEPTH, ROWS, COLUMNS };

typedef struct convolution {
    uint64_t batch, in_channels, out_channels, groups;
    plan_window axis[PLAN_AXES];
} convolution;

static bool is_transposed(const plan_call *call) { return call->op == HG_OP_CONV_TRANSPOSE; }

/* Places that the input and the kernel reach of an axis of a transposed convolution's output, with
 * its padding. */
static uint64_t spread(const plan_window *w) {
    return plan_times(w->size - 1, w->stride) + plan_reach(w);
}

static convolution read_call(const plan_call *call) {
    convolution c = {.batch = plan_named(call, "batch"),
                     .in_channels = plan_named(call, "in_channels"),
                     .out_channels = plan_named(call, "out_channels"),
                     .groups = plan_named(call, "groups")};
    plan_named_windows(call, c.axis);
    for (uint32_t i = 0; i < PLAN_AXES && is_transposed(call); i++) {
        plan_window *w = &c.axis[i];
        w->out = plan_axis_number(call, "out", i, spread(w) - w->before - w->after);
    }
    return c;
}

/* The images that they are (plan_convolution), without parts. */
static plan_convolution images_of(const plan_call *call, const convolution *c) {
    plan_convolution images = {.batch = plan_times(c->batch, c->axis[DEPTH].out),
                               .in_channels = plan_times(c->in_channels, c->axis[DEPTH].window),
                               .out_channels = c->out_channels,
                               .groups = c->groups,
                               .rows = c->axis[ROWS],
                               .columns = c->axis[COLUMNS],
                               .has_bias = plan_array_of(call, plan_operand_named(call, "bias")),
                               .type = call->type,
                               .fn = call->fn};
    if (images.rows.out == 1) images.rows.stride = 1;
    if (images.columns.out == 1) images.columns.stride = 1;
    return images;
}

/* ---- shapes ---- */

static void check_outputs(const plan_call *call, plan_problem *problem) {
    enum { MOST = 1 << 28, MOST_PHASES = 1024 }; /* with what is around it below 2^30 */
    plan_window windows[PLAN_AXES];
    uint64_t phases = 1;
    if (!plan_check_axes(call, problem) || !plan_check_axis_numbers(call, problem, "out", 1))
        return;
    plan_named_windows(call, windows);
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        const plan_window *w = &windows[i];
        uint64_t all = plan_times(w->size - 1, w->stride), cut = w->before + w->after,
                 out = plan_axis_number(call, "out", i, 0);
        phases = plan_times(phases, w->stride);
        if (w->size == 0)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "size"),
                        "0, at least 1 expected");
        else if (all > MOST || plan_reach(w) > MOST || cut > MOST || out > MOST)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "size"),
                        "an axis of more than 2^28 places");
        else if (!out && spread(w) <= cut)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "padding"),
                        "takes %llu of the %llu places of an axis", (unsigned long long)cut,
                        (unsigned long long)spread(w));
    }
    if (phases > MOST_PHASES)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "stride"),
                    "%llu together, at most %u expected", (unsigned long long)phases,
                    (unsigned)MOST_PHASES);
}

static void check(const plan_call *call, plan_problem *problem) {
    static const char *const CHANNELS[] = {"in_channels", "out_channels"};
    uint64_t groups = plan_named(call, "groups");
    if (is_transposed(call))
        check_outputs(call, problem);
    else
        plan_check_windows(call, problem);
    if (groups == 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "groups"),
                    "0, at least 1 expected");
    for (uint32_t i = 0; i < 2 && !problem->found; i++)
        if (plan_named(call, CHANNELS[i]) % groups != 0)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, CHANNELS[i]),
                        "(%llu) must be divisible by groups (%llu)",
                        (unsigned long long)plan_named(call, CHANNELS[i]),
                        (unsigned long long)groups);
    if (!problem->found && !is_transposed(call)) {
        convolution c = read_call(call);
        plan_check_conv2d(call, problem, images_of(call, &c), plan_operand_named(call, "padding"),
                          plan_operand_named(call, "batch"));
    }
}

static void ranges(plan_call *call) {
    convolution c = read_call(call);
    plan_array *bias = plan_array_of(call, plan_operand_named(call, "bias"));
    plan_shape_windows(call, "output", c.batch, c.out_channels, c.axis, PLAN_OUTS);
    plan_shape_windows(call, "input", c.batch, c.in_channels, c.axis, PLAN_SIZES);
    if (is_transposed(call))
        plan_shape_windows(call, "kernel", c.in_channels, c.out_channels / c.groups, c.axis,
                           PLAN_WINDOWS);
    else
        plan_shape_windows(call, "kernel", c.out_channels, c.in_channels / c.groups, c.axis,
                           PLAN_WINDOWS);
    if (bias) plan_array_shape(bias, 1, &c.out_channels);
}

/* ---- the expansion ---- */

enum { LANES = 32, STEPS = 8 /* as conv.atlas has it */ };

/* Where the places of a result lie in the output, of each axis. */
typedef struct phase {
    uint64_t first[PLAN_AXES], step[PLAN_AXES];
} phase;

static bool is_whole(const convolution *c, const phase *p) {
    bool whole = c->axis[DEPTH].out == 1;
    for (uint32_t i = 0; i < PLAN_AXES; i++) whole = whole && p->step[i] == 1;
    return whole;
}

/* The input with images for places of the depth and channels for the kernel's. */
static plan_part unfold_depth(const plan_call *call, plan_expansion *x, const convolution *c,
                              plan_part input) {
    const plan_window *d = &c->axis[DEPTH];
    uint64_t plane = plan_times(c->axis[ROWS].size, c->axis[COLUMNS].size),
             rows = plan_times(plan_times(c->batch, d->out), plan_times(c->in_channels, d->window)),
             parts = plane / (LANES * STEPS) + (plane % (LANES * STEPS) != 0);
    if (d->size == 1 && d->window == 1 && d->out == 1 && d->before == 0) return input;
    plan_part to = plan_scratch(x, plan_times(rows, plane),
                                hg_type_size_bytes((hg_type)call->type));
    if (rows == 0 || plane == 0) return to;
    plan_kernel_key key = plan_library_key(LIBRARY_CONV_DEPTH, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){LANES}, 2, 9);
    plan_expand_grid(x, &key, (uint64_t[]){plan_times(rows, parts), 1, 1},
                     (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){input, to},
                     (uint64_t[]){plane, parts, d->window, c->in_channels, d->out, d->size,
                                  d->stride, d->dilation, d->before});
    return to;
}

/* Moves the result of one phase to its places. */
static void join(const plan_call *call, plan_expansion *x, const convolution *whole,
                 const convolution *c, const phase *p, plan_part from) {
    const plan_window *w = c->axis;
    uint64_t count = plan_times(plan_times(c->batch, c->out_channels),
                                plan_times(w[DEPTH].out, plan_times(w[ROWS].out, w[COLUMNS].out)));
    plan_part parts[2 + PLAN_CHAIN_ARRAYS] = {from, plan_part_named(call, "output")};
    plan_kernel_key key = plan_library_key(LIBRARY_CONV_JOIN, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){LANES}, 2, 14);
    plan_fuse(x, &key, parts, PLAN_BEHIND);
    plan_expand_launch(x, &key, count, LANES, 0, parts,
                       (uint64_t[]){count, c->out_channels, w[DEPTH].out, w[ROWS].out,
                                    w[COLUMNS].out, whole->axis[DEPTH].out, whole->axis[ROWS].out,
                                    whole->axis[COLUMNS].out, p->first[DEPTH], p->first[ROWS],
                                    p->first[COLUMNS], p->step[DEPTH], p->step[ROWS],
                                    p->step[COLUMNS]});
}

/* One convolution, whose result is the output, or the places of a phase in it. */
static void convolve(const plan_call *call, plan_expansion *x, const convolution *whole,
                     const convolution *c, const phase *p, plan_part kernel) {
    bool direct = is_whole(whole, p);
    plan_convolution images = images_of(call, c);
    images.kernel = kernel;
    images.fuses = direct;
    images.input = unfold_depth(call, x, c, plan_part_named(call, "input"));
    if (images.has_bias) images.bias = plan_part_named(call, "bias");
    images.output = direct
                        ? plan_part_named(call, "output")
                        : plan_scratch(x,
                                       plan_times(plan_times(images.batch, images.out_channels),
                                                  plan_times(images.rows.out, images.columns.out)),
                                       hg_type_size_bytes((hg_type)call->type));
    plan_expand_conv2d(x, images);
    if (!direct) join(call, x, whole, c, p, images.output);
}

static uint64_t common_divisor(uint64_t x, uint64_t y) {
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* One axis of a phase: outputs first, first + stride, ..., and the kernel's places `last`, last -
 * step, ..., window of them, that meet an element of the input there. */
typedef struct part {
    plan_window axis; /* of the convolution that it is */
    uint64_t last, step;
} part;

static part part_of(const plan_window *w, uint64_t first) {
    uint64_t divisor = common_divisor(w->dilation, w->stride),
             place = (first + w->before) % w->stride, k = 0, step = w->stride / divisor;
    part p = {.axis = {.size = w->size, .stride = 1, .dilation = w->dilation / divisor},
              .step = step};
    p.axis.out = (w->out - 1 - first) / w->stride + 1;
    while (k < step && k < w->window && k * w->dilation % w->stride != place) k++;
    if (k == step || k >= w->window) return p; /* no place of the kernel */
    p.axis.window = (w->window - 1 - k) / step + 1;
    p.last = k + (p.axis.window - 1) * step;
    /* Output first + t stride takes input t + (first + before - k dilation) / stride by place k. */
    uint64_t place_of_last = p.last * w->dilation, out_place = first + w->before;
    p.axis.before = place_of_last >= out_place ? (place_of_last - out_place) / w->stride
                                               : 0 - (out_place - place_of_last) / w->stride;
    int64_t after = (int64_t)(p.axis.out + plan_reach(&p.axis) - 1 - p.axis.before - p.axis.size);
    p.axis.after = after > 0 ? (uint64_t)after : 0;
    return p;
}

/* The places of the kernel that a phase has, in the order of its convolution. */
static plan_part turn_kernel(const plan_call *call, plan_expansion *x, const convolution *whole,
                             const convolution *c, const part parts[PLAN_AXES]) {
    uint64_t in_group = c->in_channels / c->groups, out_group = c->out_channels / c->groups,
             count = plan_times(c->out_channels, in_group), values[15];
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        count = plan_times(count, parts[i].axis.window);
        values[3 + i] = parts[i].axis.window;
        values[6 + i] = parts[i].last;
        values[9 + i] = parts[i].step;
        values[12 + i] = whole->axis[i].window;
    }
    values[0] = count;
    values[1] = in_group;
    values[2] = out_group;
    plan_part to = plan_scratch(x, count, hg_type_size_bytes((hg_type)call->type));
    plan_kernel_key key = plan_library_key(LIBRARY_CONV_KERNEL, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){LANES}, 2, 15);
    if (count)
        plan_expand_launch(x, &key, count, LANES, 0,
                           (plan_part[]){plan_part_named(call, "kernel"), to}, values);
    return to;
}

static void expand_phase(const plan_call *call, plan_expansion *x, const convolution *whole,
                         const uint64_t first[PLAN_AXES]) {
    convolution c = *whole;
    part parts[PLAN_AXES];
    phase p;
    bool taps = true;
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        if (first[i] >= whole->axis[i].out) return;
        parts[i] = part_of(&whole->axis[i], first[i]);
        p.first[i] = first[i];
        p.step[i] = whole->axis[i].stride;
        taps = taps && parts[i].axis.window;
    }
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        if (!taps)
            parts[i].axis = (plan_window){
                .size = 1, .window = 1, .stride = 1, .dilation = 1, .out = parts[i].axis.out};
        c.axis[i] = parts[i].axis;
    }
    if (!taps) c.in_channels = 0; /* the sum of nothing, the bias and the map */
    plan_part kernel = taps ? turn_kernel(call, x, whole, &c, parts)
                            : plan_part_named(call, "kernel");
    convolve(call, x, whole, &c, &p, kernel);
}

static void expand_transposed(const plan_call *call, plan_expansion *x, const convolution *c) {
    const plan_window *w = c->axis;
    uint64_t start = x->scratch, most = start, first[PLAN_AXES];
    for (first[DEPTH] = 0; first[DEPTH] < w[DEPTH].stride; first[DEPTH]++)
        for (first[ROWS] = 0; first[ROWS] < w[ROWS].stride; first[ROWS]++)
            for (first[COLUMNS] = 0; first[COLUMNS] < w[COLUMNS].stride; first[COLUMNS]++) {
                x->scratch = start; /* a phase is over when the next one begins */
                expand_phase(call, x, c, first);
                if (x->scratch > most) most = x->scratch;
            }
    x->scratch = most;
}

static void expand(const plan_call *call, plan_expansion *x) {
    convolution c = read_call(call);
    const phase all = {{0, 0, 0}, {1, 1, 1}};
    if (c.batch == 0 || c.out_channels == 0) return;
    if (is_transposed(call))
        expand_transposed(call, x, &c);
    else
        convolve(call, x, &c, &c, &all, plan_part_named(call, "kernel"));
}

static plan_cost cost(const plan_call *call) {
    convolution c = read_call(call);
    uint64_t work = plan_times(plan_times(c.batch, c.out_channels), c.in_channels / c.groups);
    for (uint32_t i = 0; i < PLAN_AXES; i++)
        work = plan_times(work, plan_times(c.axis[i].window,
                                           is_transposed(call) ? c.axis[i].size : c.axis[i].out));
    return (plan_cost){plan_call_bytes(call), work};
}

const plan_collective plan_collective_conv = {.check = check,
                                              .ranges = ranges,
                                              .expand = expand,
                                              .cost = cost,
                                              .overlap = PLAN_OVERLAP_REFUSED,
                                              .fuses = true};

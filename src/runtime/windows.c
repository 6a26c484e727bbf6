/* Windows: a launch too long for one dispatch goes to the device in parts, in the order of lanes.
 * Each takes about as long as TARGET says, by what those before it took.
 * Must not know: queues, faults. */
#include "runtime/dispatch_internal.h"
#include <string.h>

/* A dispatch should take TARGET; windows grow and shrink towards it. What was measured to take no
 * longer than ONE_DISPATCH_PS is one dispatch. What was not begins with FIRST_WINDOW lanes, or
 * where nobody knows how long a lane takes with FIRST_UNKNOWN: lanes under way look at the clock
 * every KIR_POLL_ROUNDS rounds, and all of a window must have come to that. UNMEASURED_WORK
 * operations need no measure: a single slow core does them in 50 ms. MOST_WORK bounds a window of
 * lanes that took less than those to come may take. */
#define TARGET_PS UINT64_C(200000000000)
#define ONE_DISPATCH_PS UINT64_C(250000000000)
#define UNMEASURED_WORK (UINT64_C(1) << 24)
#define MOST_WORK (UINT64_C(1) << 31)
#define FIRST_WINDOW (UINT64_C(1) << 16)
#define FIRST_UNKNOWN (UINT64_C(1) << 12)
#define POLLED_WINDOW (UINT64_C(1) << 19)
#define LARGEST_WINDOW (UINT64_C(1) << 30)

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The most lanes of any window of a kernel. With loops each lane of it may run KIR_POLL_ROUNDS
 * rounds after the deadline: that many lanes take a CPU about 250 ms, and longer kernels and
 * atomics, which wait for each other, take longer. */
static uint64_t largest_window(const hg_code_set *v) {
    if (!v->facts.unbounded) return least_of(LARGEST_WINDOW, MOST_WORK / (v->cost.work + 1) + 1);
    if (!v->caps->hints.on_cpu) return LARGEST_WINDOW;
    uint64_t lanes = POLLED_WINDOW / (1 + v->cost.work / 16 + 8 * v->cost.atomics);
    return lanes > FIRST_UNKNOWN ? lanes : FIRST_UNKNOWN;
}

/* Kernels without loops and atomics: so many operations take a device of many lanes milliseconds,
 * and much longer ones where memory is slow; one core of a CPU needs about TARGET for half of them.
 */
#define SHORT_WORK (UINT64_C(1) << 29)
static bool is_short(const hg_code_set *v, uint64_t lanes) {
    uint64_t most = v->caps->hints.on_cpu ? SHORT_WORK / 2 : SHORT_WORK;
    return !v->facts.unbounded && !v->cost.atomics && lanes <= most / (v->cost.work + 1);
}

bool hg_window_never_cuts(const hg_submission *d, uint64_t lanes, uint32_t flat_group) {
    const uint32_t *most = d->set->caps->scheduling.max_groups, *extent = d->extent;
    uint64_t all = d->block_lanes;
    if (!is_short(d->set, lanes) || hg_ranges_needed(d, d->launch)) return false;
    if (flat_group)
        return (lanes - 1) / flat_group < least_of(most[0], LARGEST_WINDOW / flat_group);
    for (int i = 0; i < 3; i++)
        if (extent[i] > most[i] || !hg_mul_u64(all, extent[i], &all)) return false;
    return is_short(d->set, all);
}

/* Lanes that the first dispatch may have. */
static uint64_t first_window(const hg_submission *d) {
    const hg_code_set *v = d->set;
    uint64_t lanes = d->launch->lanes, ps = hg_atomic_load(&v->cost.lane_ps, HG_RELAXED),
             most = largest_window(v), all;
    if (is_short(v, lanes)) return most;
    if (ps)
        return hg_mul_u64(lanes, ps, &all) && all <= ONE_DISPATCH_PS
                   ? most
                   : least_of(TARGET_PS / ps + 1, most);
    if (v->facts.unbounded) return FIRST_UNKNOWN;
    return hg_mul_u64(lanes, v->cost.work + 1, &all) && all <= UNMEASURED_WORK
               ? most
               : least_of(FIRST_WINDOW, most);
}

bool hg_window_is_measured(const hg_submission *d) {
    return !d->one_window || !hg_atomic_load(&d->set->cost.lane_ps, HG_RELAXED);
}

void hg_window_measure(hg_submission *d) {
    uint64_t ns = hg_clock_ns() - d->window.started_ns, lanes = d->window.lanes,
             ps = (ns * 1000 + lanes - 1) / lanes;
    uint64_t next = TARGET_PS / (ps ? ps : 1), least = lanes / 4 + 1,
             most = least_of(lanes * 16, largest_window(d->set));
    d->window.most = next < least ? least : next;
    if (d->window.most > most) d->window.most = most;
    hg_atomic_store(&d->set->cost.lane_ps, ps ? ps : 1, HG_RELAXED);
}

static bool has_field(const hg_code *v, uint8_t kind, uint32_t index) {
    for (uint32_t i = 0; i < v->field_count; i++)
        if (v->fields[i].field.kind == kind && v->fields[i].field.index == index) return true;
    return false;
}

/* Lanes of whole groups, so many that what they keep from dispatch to dispatch is no more than 32
 * MiB. */
uint64_t hg_window_resumes(const hg_submission *d, uint64_t lanes) {
    const uint64_t group = d->command.group[0],
                   most = (UINT64_C(32) << 20) / d->code->layout.resume_bytes;
    if (lanes > most) lanes = most;
    return lanes < group ? group : (lanes + group - 1) / group * group;
}

/* Lanes [first, first + count) as groups in two dimensions. */
static uint64_t cut_flat(hg_submission *d) {
    const uint32_t *limits = d->set->caps->scheduling.max_groups;
    uint64_t count = d->left.end - d->left.first, group = d->command.group[0];
    uint64_t most = (uint64_t)limits[0] * (limits[1] ? limits[1] : 1);
    if (most > LARGEST_WINDOW / group) most = LARGEST_WINDOW / group;
    if (hg_window_leaves(d) && count > hg_window_resumes(d, count))
        count = hg_window_resumes(d, count);
    if (count > d->window.most) count = (d->window.most + group - 1) / group * group;
    if (count > most * group) count = most * group;
    if (count > d->left.end - d->left.first) count = d->left.end - d->left.first;
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t left = has_field(d->code, KIR_FIELD_DIGIT, i)
                            ? UINT32_MAX - hg_launch_digit(d, d->left.first, i)
                            : UINT64_MAX;
        if (count > left) count = left;
    }
    uint64_t end = hg_ranges_end(d, d->left.first);
    if (count > end - d->left.first) count = end - d->left.first;
    uint64_t groups = (count + group - 1) / group, x = groups < limits[0] ? groups : limits[0];
    d->command.groups[0] = (uint32_t)x;
    d->command.groups[1] = hg_ceil_div(groups, x);
    d->command.groups[2] = 1;
    return count;
}

static uint32_t least(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t min = a < b ? a : b;
    return (uint32_t)(min < c ? min : c);
}

/* The first lane of the next box. */
static uint64_t first_of_box(const hg_submission *d) {
    const uint32_t *at = d->left.box;
    return (at[0] + (at[1] + (uint64_t)at[2] * d->extent[1]) * d->extent[0]) * d->block_lanes;
}

/* The next box of blocks, in the order of lanes: whole planes, or whole rows of one plane, or a
 * part of one row. */
static uint64_t cut_box(hg_submission *d) {
    const uint32_t *limits = d->set->caps->scheduling.max_groups;
    const uint32_t *extent = d->extent;
    uint32_t *groups = d->command.groups;
    uint64_t budget = d->window.most / d->block_lanes, row = extent[0], plane = row * extent[1];
    uint64_t first = first_of_box(d), end = hg_ranges_end(d, first);
    budget = least_of(budget, (end - first) / d->block_lanes);
    if (!budget) budget = 1;
    bool rows = row <= limits[0] && row <= budget && d->left.box[0] == 0;
    bool planes = rows && extent[1] <= limits[1] && plane <= budget && d->left.box[1] == 0;
    groups[0] = rows ? extent[0] : least(extent[0] - d->left.box[0], limits[0], budget);
    groups[1] = planes ? extent[1]
                : rows ? least(extent[1] - d->left.box[1], limits[1], budget / row)
                       : 1;
    groups[2] = planes ? least(extent[2] - d->left.box[2], limits[2], budget / plane) : 1;
    return (uint64_t)groups[0] * groups[1] * groups[2] * d->block_lanes;
}

/* Behind the box that was dispatched. */
static void step_box(hg_submission *d) {
    const uint32_t *groups = d->command.groups;
    bool carry = d->left.box[0] + (uint64_t)groups[0] >= d->extent[0];
    d->left.box[0] = carry ? 0 : d->left.box[0] + groups[0];
    if (!carry) return;
    carry = d->left.box[1] + (uint64_t)groups[1] >= d->extent[1];
    d->left.box[1] = carry ? 0 : d->left.box[1] + groups[1];
    if (!carry) return;
    d->left.blocks = d->left.box[2] + (uint64_t)groups[2] < d->extent[2];
    d->left.box[2] += groups[2];
}

void hg_window_rewind(hg_submission *d) {
    d->left.first = 0;
    d->left.end = d->launch->lanes;
    memset(d->left.box, 0, sizeof d->left.box);
    d->left.blocks = true;
    d->window.most = first_window(d);
    d->one_window = d->one_window && d->window.most >= d->left.end;
    d->fault.found.happened = false;
}

void hg_window_cut(hg_submission *d) {
    d->window.lanes = hg_dispatch_is_flat(d) ? cut_flat(d) : cut_box(d);
    hg_ranges_bind(d);
    hg_launch_record_fill(d, true, d->window.lanes);
    if (hg_dispatch_is_flat(d))
        d->one_window = d->window.lanes == d->left.end;
    else
        d->one_window = memcmp(d->command.groups, d->extent, sizeof d->extent) == 0;
}

bool hg_window_step(hg_submission *d) {
    if (!hg_dispatch_is_flat(d)) {
        step_box(d);
        return d->left.blocks;
    }
    d->left.first += d->window.lanes;
    return d->left.first < d->left.end;
}

/* A kernel that was never measured is waited for and has no weight. */
uint64_t hg_dispatch_weight(const hg_submission *d, uint64_t all) {
    uint64_t ps, lanes = least_of(d->launch->lanes, d->window.most);
    if (!hg_mul_u64(lanes, hg_atomic_load(&d->set->cost.lane_ps, HG_RELAXED), &ps) ||
        ps >= TARGET_PS)
        return all;
    return ps / (TARGET_PS / all);
}

bool hg_window_is_one(const hg_submission *d) {
    return first_window(d) >= d->launch->lanes && d->launch->lanes <= LARGEST_WINDOW;
}

/* From two results that differ to the first step, instruction and lane: halving over whole-array
 * steps, then over the results of instructions, with the program that diff_trace.c makes. Must not
 * know: how it is printed. */
#include "diff.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS, LIMIT, STEP_LIMIT, LANE, CAPTURE, EXTRAS };
enum { PROBE_MS = 20000 };
#define MOST_ROUNDS (UINT64_C(1) << 28)
#define MOST_RECORD_BYTES (UINT64_C(1) << 30)

/* One run of one side with recording on. */
typedef struct probe {
    diff_result result;
    diff_extra extras[EXTRAS];
} probe;

typedef struct search {
    const diff_case *d;
    const diff_result *results; /* of the two sides as they are */
    hg_launch launch;
    diff_trace traces[2];
    uint64_t lanes;
    uint64_t suspects[2]; /* only these lanes, when a fault may have kept others from running;
                             HG_NONE: all */
    uint64_t step_limit;  /* 0: to the end */
} search;

static void probe_free(probe *p) {
    diff_result_free(&p->result);
    for (int i = 0; i < EXTRAS; i++) hg_free(p->extras[i].data);
    memset(p, 0, sizeof *p);
}

static hg_status run_probe(const search *s, const diff_side *side, const diff_trace *t,
                           uint64_t limit, uint64_t step_limit, uint64_t lane, probe *p) {
    memset(p, 0, sizeof *p);
    p->extras[RECORDS] = (diff_extra){t->records, 0, s->lanes * t->stride, NULL};
    p->extras[LIMIT] = (diff_extra){t->limit, limit, 0, NULL};
    p->extras[STEP_LIMIT] = (diff_extra){t->step_limit, step_limit, 0, NULL};
    p->extras[LANE] = (diff_extra){t->lane, lane, 0, NULL};
    p->extras[CAPTURE] = (diff_extra){t->capture, 0, 2 * DIFF_CAPTURE_BYTES, NULL};
    hg_status status = diff_run(side, t->program, s->d->values, &s->launch, p->extras, EXTRAS,
                                &p->result);
    if (status == HG_OK) return HG_OK;
    hg_error kept = *hg_last_error();
    probe_free(p);
    *hg_error_record() = kept;
    return status;
}

static diff_event event_of(const search *s, const probe *p, uint64_t lane) {
    diff_event e;
    memcpy(&e, p->extras[RECORDS].data + lane * (p->extras[RECORDS].bytes / s->lanes), sizeof e);
    return e;
}

/* Both sides. On failure nothing is left to free. */
static hg_status run_pair(const search *s, uint64_t limit, uint64_t step_limit, probe pair[2]) {
    for (int i = 0; i < 2; i++) {
        hg_status status = run_probe(s, &s->d->sides[i], &s->traces[i], limit, step_limit, 0,
                                     &pair[i]);
        if (status == HG_OK) continue;
        hg_error kept = *hg_last_error();
        if (i) probe_free(&pair[0]);
        *hg_error_record() = kept;
        return status;
    }
    return HG_OK;
}

static void free_pair(probe pair[2]) {
    probe_free(&pair[0]);
    probe_free(&pair[1]);
}

/* The first lane whose results so far differ; HG_NONE: none. */
static uint64_t differing_lane(const search *s, const probe pair[2]) {
    for (uint64_t lane = 0; lane < s->lanes; lane++) {
        if (s->suspects[0] != HG_NONE && lane != s->suspects[0] && lane != s->suspects[1]) continue;
        if (event_of(s, &pair[0], lane).hash != event_of(s, &pair[1], lane).hash) return lane;
    }
    return HG_NONE;
}

static uint64_t most(const search *s, const probe pair[2], bool steps) {
    uint64_t most = 0;
    for (int i = 0; i < 2; i++)
        for (uint64_t lane = 0; lane < s->lanes; lane++) {
            diff_event e = event_of(s, &pair[i], lane);
            uint64_t n = steps ? e.steps : e.count;
            if (n > most) most = n;
        }
    return most;
}

/* ---- halving ---- */

/* What differs when both stop at a step. */
static hg_status differs_at_step(const search *s, uint64_t step_limit, uint64_t *lane, bool *memory,
                                 diff_place *place) {
    probe pair[2];
    HG_TRY(run_pair(s, UINT64_MAX, step_limit, pair));
    *lane = differing_lane(s, pair);
    *memory = diff_compare(s->d->values, &pair[0].result, &pair[1].result, place) == DIFF_DATA;
    free_pair(pair);
    return HG_OK;
}

/* Sets step_limit to the first stop at which anything differs, 0 when that is only after the last.
 */
static hg_status find_step(search *s, uint64_t steps) {
    uint64_t low = 0, high = steps + 1, lane; /* low agrees, high stands for the end */
    bool memory;
    diff_place place;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        HG_TRY(differs_at_step(s, middle, &lane, &memory, &place));
        if (lane != HG_NONE || memory)
            high = middle;
        else
            low = middle;
    }
    s->step_limit = high > steps ? 0 : high;
    return HG_OK;
}

/* The first result that differs in any lane. */
static hg_status find_result(const search *s, uint64_t results, diff_finding *f) {
    uint64_t low = 0, high = results;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        probe pair[2];
        HG_TRY(run_pair(s, middle, s->step_limit, pair));
        if (differing_lane(s, pair) != HG_NONE)
            high = middle;
        else
            low = middle;
        free_pair(pair);
    }
    probe pair[2];
    HG_TRY(run_pair(s, high, s->step_limit, pair));
    f->lane = differing_lane(s, pair);
    f->result = high;
    for (int i = 0; i < 2 && f->lane != HG_NONE; i++) {
        diff_event e = event_of(s, &pair[i], f->lane);
        f->stopped[i] = e.count < high;
        f->instruction[i] = f->stopped[i] ? HG_NONE : e.instruction;
    }
    free_pair(pair);
    return HG_OK;
}

/* ---- values ---- */

static hg_status capture_side(const search *s, const diff_side *side, uint64_t instruction,
                              diff_finding *f, int index) {
    diff_trace t;
    probe p;
    HG_TRY(diff_trace_build(side->program, (uint32_t)instruction, f->ordered, &t));
    hg_status status = run_probe(s, side, &t, f->result, s->step_limit, f->lane, &p);
    if (status == HG_OK) {
        memcpy(f->values[index], p.extras[CAPTURE].data, DIFF_CAPTURE_BYTES);
        f->operand_count[index] = t.operand_count;
        memcpy(f->operands[index], t.operands, sizeof t.operands);
        memcpy(&f->execution, f->values[index] + DIFF_EXECUTIONS_AT, sizeof f->execution);
        probe_free(&p);
    }
    diff_trace_free(&t);
    return status;
}

static hg_status capture(const search *s, diff_finding *f) {
    uint64_t at = f->instruction[f->stopped[0]];
    if (f->instruction[0] != f->instruction[1] && !f->stopped[0] && !f->stopped[1])
        return HG_OK; /* nothing to compare */
    for (int i = 0; i < 2; i++) {
        const hg_error *e = &s->results[i].error;
        f->reached[i] = f->stopped[i] && s->results[i].status != HG_OK && e->instruction == at &&
                        e->lane == f->lane;
        if (!f->stopped[i] || f->reached[i]) HG_TRY(capture_side(s, &s->d->sides[i], at, f, i));
    }
    if (!s->d->judge.backend) return HG_OK;
    f->judged = capture_side(s, &s->d->judge, at, f, 2) == HG_OK;
    return HG_OK;
}

/* ---- the search ---- */

static hg_status build(search *s, bool ordered) {
    for (int i = 0; i < 2; i++) {
        diff_trace_free(&s->traces[i]);
        HG_TRY(diff_trace_build(s->d->sides[i].program, DIFF_NO_CAPTURE, ordered, &s->traces[i]));
    }
    return HG_OK;
}

/* Lanes of which a fault tells; the others may not have run to their end. */
static void find_suspects(search *s, const probe pair[2]) {
    s->suspects[0] = s->suspects[1] = HG_NONE;
    for (int i = 0; i < 2; i++)
        if (pair[i].result.status != HG_OK) s->suspects[i] = pair[i].result.error.lane;
    for (int i = 0; i < 2; i++)
        if (s->suspects[i] == HG_NONE) s->suspects[i] = s->suspects[1 - i];
}

/* A first look with everything recorded: how many results and steps, and whether lanes differ at
 * all. */
static hg_status look(search *s, diff_finding *f, uint64_t *results, uint64_t *steps,
                      uint64_t *lane, int *kind) {
    probe pair[2];
    HG_TRY(build(s, f->ordered));
    HG_TRY(run_pair(s, UINT64_MAX, 0, pair));
    find_suspects(s, pair);
    *results = most(s, pair, false);
    *steps = most(s, pair, true);
    *lane = differing_lane(s, pair);
    *kind = diff_compare(s->d->values, &pair[0].result, &pair[1].result, &f->place);
    free_pair(pair);
    return HG_OK;
}

/* Memory differs although every result agrees: the whole-array instruction before the stop, or a
 * store. */
static hg_status blame_memory(search *s, diff_finding *f) {
    uint64_t lane;
    bool memory;
    HG_TRY(differs_at_step(s, s->step_limit, &lane, &memory, &f->place));
    f->by_step = s->step_limit && s->step_limit % 2 == 0;
    if (!f->by_step) {
        snprintf(f->note, sizeof f->note,
                 "every instruction gives the same on both sides: a store went elsewhere, or "
                 "stores of several lanes to one place raced");
        return HG_OK;
    }
    probe p;
    HG_TRY(run_probe(s, &s->d->sides[0], &s->traces[0], UINT64_MAX, s->step_limit, 0, &p));
    f->instruction[0] = f->instruction[1] = event_of(s, &p, 0).step_instruction;
    probe_free(&p);
    return HG_OK;
}

/* Where a side does not end, as few rounds of its loops as show the difference. */
static hg_status look_at_endless(search *s, diff_finding *f, uint64_t *results, uint64_t *steps,
                                 uint64_t *lane, int *kind) {
    uint64_t most_steps = s->launch.max_steps ? s->launch.max_steps : MOST_ROUNDS;
    s->launch.timeout_ms = PROBE_MS;
    for (uint64_t rounds = 16; rounds < most_steps; rounds *= 16) {
        s->launch.max_steps = rounds;
        HG_TRY(look(s, f, results, steps, lane, kind));
        if (*lane != HG_NONE) return HG_OK;
    }
    s->launch.max_steps = most_steps;
    return look(s, f, results, steps, lane, kind);
}

static hg_status narrow(search *s, bool endless, diff_finding *f) {
    uint64_t results, steps, lane;
    int kind;
    HG_TRY(endless ? look_at_endless(s, f, &results, &steps, &lane, &kind)
                   : look(s, f, &results, &steps, &lane, &kind));
    if (lane == HG_NONE) { /* perhaps only where the order of lanes matters */
        f->ordered = true;
        HG_TRY(look(s, f, &results, &steps, &lane, &kind));
        if (lane == HG_NONE) f->ordered = false;
    }
    if (lane == HG_NONE && kind == DIFF_SAME) {
        snprintf(f->note, sizeof f->note,
                 "the difference is gone while the results of instructions are recorded");
        return HG_OK;
    }
    if (kind == DIFF_FAULT && lane == HG_NONE) {
        snprintf(f->note, sizeof f->note,
                 "every instruction before the fault gives the same on both sides");
        return HG_OK;
    }
    if (kind != DIFF_FAULT && steps) HG_TRY(find_step(s, steps));
    if (s->step_limit) {
        f->step = (s->step_limit - 1) / 2;
        bool memory;
        HG_TRY(differs_at_step(s, s->step_limit, &lane, &memory, &f->place));
    } else if (steps) {
        f->step = steps / 2;
    }
    if (lane == HG_NONE) return blame_memory(s, f);
    HG_TRY(find_result(s, results, f));
    return f->lane == HG_NONE ? HG_OK : capture(s, f);
}

bool diff_narrow(const diff_case *d, const diff_result results[2], diff_finding *f) {
    search s = {.d = d,
                .results = results,
                .launch = d->launch,
                .lanes = d->launch.lanes ? d->launch.lanes : hg_launch_total_threads(&d->launch)};
    memset(f, 0, sizeof *f);
    f->step = f->instruction[0] = f->instruction[1] = f->lane = f->result = f->execution = HG_NONE;
    if (d->sides[0].program->inst_count != d->sides[1].program->inst_count) {
        snprintf(f->note, sizeof f->note,
                 "the two programs have different numbers of instructions: only what they leave is "
                 "compared");
        return true;
    }
    if (s.lanes > MOST_RECORD_BYTES / (DIFF_EVENT_BYTES + 8)) {
        snprintf(f->note, sizeof f->note, "too many lanes to record: try fewer");
        return true;
    }
    hg_status status = narrow(&s, diff_is_endless(&results[0]) || diff_is_endless(&results[1]), f);
    hg_error kept = *hg_last_error();
    diff_trace_free(&s.traces[0]);
    diff_trace_free(&s.traces[1]);
    *hg_error_record() = kept;
    if (status == HG_ERROR_INVALID_ARGUMENT || status == HG_ERROR_ISA) { /* no free registers, an
                                                                            operand of no known type
                                                                          */
        snprintf(f->note, sizeof f->note, "%.400s", kept.message);
        return true;
    }
    if (status != HG_OK) cli_last_error(d->c);
    return status == HG_OK;
}

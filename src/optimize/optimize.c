/* The passes over a program, in the order that is asked for, until none finds anything. */
#include "base/sized.h"
#include "base/thread.h"
#include "optimize/optimize.h"

#include <string.h>

enum { ROUNDS = 16, MOST_PASSES = 64 /* in a list */ };

typedef struct pass {
    const char *name, *about;
    hg_status (*run)(optimize_edit *e);
} pass;
static const pass PASSES[] = {
#define HG_OPTIMIZE(id, name, what) {#name, what, optimize_##name},
#include "optimize/passes.def"
#undef HG_OPTIMIZE
};
_Static_assert(HG_COUNT_OF(PASSES) <= HG_OPTIMIZE_MAX_PASSES, "statistics of every pass");

const hg_optimizer_pass *hg_optimizer_pass_get(size_t index) {
    HG_ENTRY;
    static const hg_optimizer_pass PUBLIC[] = {
#define HG_OPTIMIZE(id, name, what) {sizeof(hg_optimizer_pass), #name, what},
#include "optimize/passes.def"
#undef HG_OPTIMIZE
    };
    return index < HG_COUNT_OF(PUBLIC) ? &PUBLIC[index] : NULL;
}

/* ---- the list of passes ---- */

typedef struct job {
    uint8_t list[MOST_PASSES];
    uint32_t count, rounds;
    hg_optimize_stats stats;
} job;

static hg_status unknown_pass(const char *name, size_t length) {
    hg_text known = {0};
    for (size_t i = 0; i < HG_COUNT_OF(PASSES); i++) hg_text_addf(&known, "%s, ", PASSES[i].name);
    hg_status status = hg_fail(
        HG_ERROR_INVALID_ARGUMENT, "'%.*s' is no pass of the optimiser: expected %sor all",
        (int)(length < 64 ? length : 64), name, known.data ? known.data : "");
    hg_text_free(&known);
    return status;
}

static void add_all(job *j) {
    for (uint8_t i = 0; i < HG_COUNT_OF(PASSES) && j->count < MOST_PASSES; i++)
        j->list[j->count++] = i;
}

static hg_status add_pass(job *j, const char *name, size_t length) {
    if (length == 3 && memcmp(name, "all", 3) == 0) {
        add_all(j);
        return HG_OK;
    }
    for (uint8_t i = 0; i < HG_COUNT_OF(PASSES); i++) {
        if (strlen(PASSES[i].name) != length || memcmp(PASSES[i].name, name, length) != 0) continue;
        if (j->count == MOST_PASSES)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "more than %d passes are listed",
                           (int)MOST_PASSES);
        j->list[j->count++] = i;
        return HG_OK;
    }
    return unknown_pass(name, length);
}

static hg_status read_list(job *j, const char *passes) {
    if (!passes) add_all(j);
    while (passes) {
        const char *comma = strchr(passes, ',');
        HG_TRY(add_pass(j, passes, comma ? (size_t)(comma - passes) : strlen(passes)));
        passes = comma ? comma + 1 : NULL;
    }
    return HG_OK;
}

static hg_status read_options(job *j, const hg_optimize_options *given) {
    static const hg_sized SIZED = HG_SIZED(hg_optimize_options, rounds,
                                           "zero it and set size to sizeof(hg_optimize_options)");
    hg_optimize_options o = {.size = sizeof o};
    if (given) HG_TRY(hg_sized_take(&SIZED, given, &o));
    j->rounds = o.rounds ? o.rounds : ROUNDS;
    return read_list(j, o.passes);
}

/* ---- running them ---- */

/* A program and what is known of it. */
typedef struct state {
    const hg_program *program;
    hg_program *owned; /* the same; NULL: the caller's */
    hg_cfg *cfg;
} state;

static void drop(state *s) {
    hg_cfg_destroy(s->cfg);
    hg_program_release(s->owned);
}

/* One run of a pass. *next is its result, which verifies; empty: nothing changed, or *refused. */
static hg_status try_pass(const pass *one, const state *s, bool keep_jumps, state *next,
                          uint64_t *changes, bool *refused) {
    optimize_edit e;
    *next = (state){0};
    *refused = false;
    HG_TRY(optimize_open(s->program, s->cfg, &e));
    e.keep_jumps = keep_jumps;
    hg_status status = one->run(&e);
    if (status == HG_OK && e.changes) status = optimize_finish(&e, s->program, &next->owned);
    *changes = e.changes;
    optimize_close(&e);
    next->program = next->owned;
    if (status == HG_OK && next->program) {
        status = hg_verify(next->program, NULL, NULL, &next->cfg);
        *refused = status == HG_ERROR_ISA;
    }
    if (status == HG_OK) return HG_OK;
    drop(next);
    *next = (state){0};
    return *refused ? HG_OK : status;
}

/* A branch that goes one way can leave a barrier behind a branch that the verifier cannot follow:
 * once more without touching jumps then. What does not verify all the same is dropped, so that a
 * mistake of ours costs speed alone. */
static hg_status run_pass(const pass *one, state *s, hg_optimize_pass_stats *stats, bool *changed) {
    state next = {0};
    uint64_t changes = 0, start = hg_clock_ns();
    bool refused = false;
    hg_status status = try_pass(one, s, false, &next, &changes, &refused);
    if (status == HG_OK && refused) status = try_pass(one, s, true, &next, &changes, &refused);
    stats->refused += refused;
    if (next.program) {
        drop(s);
        *s = next;
        stats->changes += changes;
        *changed = true;
    }
    stats->runs++;
    stats->ns += hg_clock_ns() - start;
    return status;
}

static uint64_t count_whole_array(const hg_program *p) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->inst_count; i++)
        count += (hg_op_get((hg_op)p->insts[i].op)->flags & HG_F_COLLECTIVE) != 0;
    return count;
}

static hg_status run_job(job *j, state *s) {
    HG_TRY(hg_verify(s->program, NULL, NULL, &s->cfg));
    j->stats.instructions_before = s->program->inst_count;
    j->stats.whole_array_before = count_whole_array(s->program);
    bool changed = true;
    while (changed && j->stats.rounds < j->rounds) {
        changed = false;
        j->stats.rounds++;
        for (uint32_t i = 0; i < j->count; i++)
            HG_TRY(run_pass(&PASSES[j->list[i]], s, &j->stats.passes[j->list[i]], &changed));
    }
    j->stats.instructions_after = s->program->inst_count;
    j->stats.whole_array_after = count_whole_array(s->program);
    return HG_OK;
}

hg_status hg_program_optimize(const hg_program *program, const hg_optimize_options *options,
                              hg_optimize_stats *stats, hg_program **optimized) {
    HG_ENTRY;
    static const hg_sized SIZED = HG_SIZED(hg_optimize_stats, instructions_after,
                                           "zero it and set size to sizeof(hg_optimize_stats)");
    job j = {.count = 0};
    state s = {.program = program};
    if (optimized) *optimized = NULL;
    if (!program) return hg_null_argument("program");
    if (!optimized) return hg_null_argument("optimized");
    if (stats) HG_TRY(hg_sized_check(&SIZED, stats->size));
    HG_TRY(read_options(&j, options));
    hg_status status = run_job(&j, &s);
    if (status == HG_OK) {
        *optimized = hg_program_retain((hg_program *)(uintptr_t)s.program);
        if (stats) hg_sized_give(&SIZED, &j.stats, stats, stats->size);
    }
    drop(&s);
    return status;
}

static hg_status one_pass(const char *name, const hg_program *program, hg_program **optimized) {
    const hg_optimize_options options = {.size = sizeof options, .passes = name};
    return hg_program_optimize(program, &options, NULL, optimized);
}

hg_status hg_optimizer_peephole_optimize(const hg_program *program, hg_program **optimized) {
    HG_ENTRY;
    return one_pass("peephole", program, optimized);
}
hg_status hg_optimizer_eliminate_dead_code(const hg_program *program, hg_program **optimized) {
    HG_ENTRY;
    return one_pass("dead", program, optimized);
}
hg_status hg_optimizer_propagate_constants(const hg_program *program, hg_program **optimized) {
    HG_ENTRY;
    return one_pass("constants", program, optimized);
}
hg_status hg_optimizer_fuse_instructions(const hg_program *program, hg_program **optimized) {
    HG_ENTRY;
    return one_pass("fuse", program, optimized);
}

uint64_t hg_program_source_instruction(const hg_program *program, uint64_t instruction) {
    HG_ENTRY;
    if (!program || instruction >= program->inst_count) return HG_NONE;
    return program->sources ? program->sources[instruction] : instruction;
}

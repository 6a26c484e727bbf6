/* What plans say of the uniform values that live across steps: which entries kernels, steps and
 * branches read and write, who must wait for whom, and how kernels find the values, as inputs or in
 * memory. */
#include "isa/cfg.h"
#include "kir/access.h"
#include "kir/analysis/analysis.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"
#include "support/kir_text.h"
#include "support/runtime_support.h"

#define HEAD                                                                                      \
    ".param r1 x buffer f32 inout [n]\n.param r3 z buffer f32 inout [n]\n.param r5 u buffer u32 " \
    "inout [n]\n.param r8 eps f32\n.param r9 "                                                    \
    "count u32\n.param r4 n u64\n"
#define MINE " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n"

static hg_plan *plan_of(const char *body, plan_reads reads) {
    char text[2048];
    snprintf(text, sizeof text, PROGRAM(HEAD "%s"), body);
    hg_program *program = assemble(text);
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    hg_plan *plan = NULL;
    CHECK_OK(hg_verify(program, NULL, NULL, &cfg));
    kir_compilation c = {.program = cfg, .verify = true};
    CHECK_OK(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &m));
    CHECK_OK(plan_build(m, reads, &plan));
    hg_cfg_destroy(cfg);
    hg_program_release(program);
    for (uint64_t i = 0; i < plan->kernels.count; i++)
        CHECK(kir_reads_back(plan->kernels.data[i].module, "kernel of a plan"));
    return plan;
}

static uint32_t waits(const hg_plan *plan) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < plan->code.count; i++) count += plan_waits(plan, &plan->code.data[i]);
    return count;
}

static uint32_t entries_of(const hg_plan *plan, plan_writer writer) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < plan->env.count; i++) count += plan->env.data[i].writer == writer;
    return count;
}

/* ---- who waits for whom ---- */

/* waits: instructions that need a value of a kernel or a reduction on the host, with values in
 * memory and as inputs. */
typedef struct wait_case {
    const char *name, *body;
    uint32_t memory, inputs;
    bool memory_static;
} wait_case;

static const wait_case WAITS[] = {
    {"arguments of the launch",
     " parallel_map.f32 r1, r1, neg, r4\n parallel_map.f32 r3, r1, abs, 4\n", 0, 0, true},
    {"reduction to kernel", MINE " parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [r3 + r0], r10\n",
     0, 1, true},
    {"reduction to kernel to reduction",
     MINE " parallel_reduce.f32 r10, r1, sum, r4\n add.f32 r10, r10, r8\n stg.f32 [r1 + r0], r10\n "
          "parallel_reduce.f32 r11, r1, max, r4\n"
          " sub.f32 r11, r11, r10\n stg.f32 [r3 + r0], r11\n",
     0, 2, true},
    {"kernel to count", " cvt.u64.f32 r10, r8\n parallel_map.f32 r3, r1, neg, r10\n", 1, 1, false},
    {"integers that follow from parameters",
     " cvt.u64.u32 r10, r9\n add.u64 r10, r10, r4\n parallel_map.f32 r3, r1, neg, r10\n", 0, 0,
     true},
    {"shape of the launch",
     " rdid r10, lane_count\n rdid r11, block_dim_x\n cvt.u64.u32 r11, r11\n mul.u64 r10, r10, "
     "r11\n"
     " parallel_map.f32 r3, r1, neg, r10\n",
     0, 0, true},
    {"counted loop", " mov_imm.u32 r10, 9\nagain:\n bar.grid\n loop r10, @again\n", 0, 0, false},
    {"counted loop that memory may end",
     MINE " mov_imm.u32 r10, 9\nagain:\n parallel_reduce.f32 r11, r1, max, r4\n setgt.f32 p0, r11, "
          "r8\n bra.p0 @end\n loop r10, @again\nend:\n",
     1, 2, false},
    {"loop of two counters",
     MINE " mov_imm.u32 r10, 1\n mov_imm.u32 r12, 1\nouter:\n mov.u32 r11, r10\ninner:\n "
          "cvt.f32.u32 r13, r11\n stg.f32 [r3 + r0], r13\n"
          " bar.grid\n shr.u32 r11, r11, r12\n setgtu.u32 p0, r11, r12\n bra.p0 @inner\n shl.u32 "
          "r10, r10, r12\n setltu.u32 p1, r10, "
          "r9\n bra.p1 @outer\n",
     0, 0, false},
    {"reduction to count",
     " parallel_reduce.u64 r10, r5, max, 4\n parallel_map.f32 r3, r1, neg, r10\n", 1, 1, false},
    {"reduction to branch",
     MINE "again:\n parallel_map.f32 r1, r1, abs, r4\n parallel_reduce.f32 r10, r1, max, r4\n "
          "setgt.f32 p0, r10, r8\n bra.p0 @again\n",
     1, 2, false},
    {"pool of the program: the host gave its handle",
     MINE " pool.alloc r10, 2800\n pool.store.f32 r10, r0, r8\n parallel_map.f32 [pool(r10) + 0], "
          "[pool(r10) + 0], neg, r4\n"
          " pool.load.f32 r11, r10, r0\n stg.f32 [r3 + r0], r11\n pool.free r10\n",
     0, 0, true},
    {"handle that a kernel chose",
     MINE " cvt.u64.f32 r10, r8\n add.u64 r10, r10, r1\n parallel_map.f32 r3, r1, neg, r4\n "
          "ldg.f32 r11, [r10 + r0]\n stg.f32 [r3 + r0], "
          "r11\n",
     1, 1, false},
};

static void test_waits(const wait_case *c) {
    hg_plan *memory = plan_of(c->body, PLAN_READS_MEMORY),
            *inputs = plan_of(c->body, PLAN_READS_INPUTS);
    CHECK_MESSAGE(waits(memory) == c->memory, "%s, in memory: %u instructions wait, expected %u",
                  c->name, (unsigned)waits(memory), (unsigned)c->memory);
    CHECK_MESSAGE(waits(inputs) == c->inputs, "%s, inputs: %u instructions wait, expected %u",
                  c->name, (unsigned)waits(inputs), (unsigned)c->inputs);
    CHECK_MESSAGE(memory->is_static == c->memory_static, "%s: static?", c->name);
    plan_destroy(memory);
    plan_destroy(inputs);
}

/* ---- lists ---- */

static bool has(const hg_plan *plan, plan_list list, uint32_t entry) {
    for (uint32_t i = 0; i < list.count; i++)
        if (plan->refs.data[list.first + i] == entry) return true;
    return false;
}

static void test_lists(void) {
    /* 0 i = 0; again: 1 map; 2 i += 1, p = i < count; 3 unless p go to the end */
    hg_plan *plan = plan_of(" mov_imm.f32 r10, 0\n mov_imm.f32 r11, 1\nagain:\n parallel_map.f32 "
                            "r1, r1, abs, r4\n add.f32 r10, r10, r11\n"
                            " setlt.f32 p0, r10, r8\n bra.p0 @again\n",
                            PLAN_READS_MEMORY);
    CHECK_U64(plan->kernels.count, 2);
    const plan_kernel *first = &plan->kernels.data[0], *second = &plan->kernels.data[1];
    CHECK(first->single_lane && second->single_lane);
    CHECK_U64(first->writes.count, 1);
    CHECK_U64(first->loads.count + first->inputs.count, 0); /* what it overwrites it does not read
                                                             */
    uint32_t i = plan->refs.data[first->writes.first];
    CHECK_U64(plan->env.data[i].writer, PLAN_BY_KERNEL);
    CHECK(second->loads.count == 1 && has(plan, second->loads, i) && second->writes.count == 2 &&
          has(plan, second->writes, i));
    const uint32_t *needed;
    for (uint64_t k = 0; k < plan->code.count; k++) {
        const plan_inst *inst = &plan->code.data[k];
        uint32_t count = plan_needs(plan, inst, &needed);
        CHECK_U64(count, inst->op == PLAN_STEP ? 3 : inst->op == PLAN_JUMP_UNLESS);
        if (inst->op == PLAN_JUMP_UNLESS)
            CHECK(needed[0] != i && has(plan, second->writes, needed[0]));
        if (inst->op == PLAN_STEP)
            for (uint32_t a = 0; a < count; a++)
                CHECK_U64(plan->env.data[needed[a]].writer, PLAN_BY_NOBODY);
    }
    CHECK(!plan->is_static);
    plan_destroy(plan);

    plan = plan_of(" pool.alloc r10, 64\n parallel_reduce.f32 r11, r1, sum, r4\n pool.store.f32 "
                   "r10, 0, r11\n pool.free r10\n",
                   PLAN_READS_MEMORY);
    CHECK_U64(entries_of(plan, PLAN_BY_HOST), 1);
    CHECK_U64(entries_of(plan, PLAN_BY_KERNEL), 1);
    CHECK(plan->kernels.data[0].inputs.count == 1 && plan->kernels.data[0].loads.count == 1);
    plan_destroy(plan);
}

/* ---- kernels ---- */

/* The passes work in place: the module stays the plan's. */
static kir_module *lowered(const hg_plan *plan, uint32_t index) {
    kir_compilation c = {.verify = true};
    kir_module *m = NULL;
    CHECK_OK(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL,
                              plan->kernels.data[index].module, &m));
    kir_find_uniformity(m, false);
    return m;
}

/* Loads of uniforms, the wide ones too, are the same in all lanes and need no check; the
 * environment is only written. */
static void test_values_in_memory(void) {
    static const char *const BODY = MINE
        " reduce.add.u32 r10, [r5 + r20], r4\n cvt.u8.u32 r11, r10\n cvt.u16.u32 r12, r10\n "
        "cvt.u256.u32 r14, r10\n"
        " mul.u256 r14, r14, r14\n setgeu.u32 p3, r10, r9\n stg.u32 [r5 + r0], r10\n "
        "parallel_map.f32 r3, r1, abs, r4\n"
        " cvt.u32.u256 r17, r14\n cvt.u32.u8 r18, r11\n cvt.u32.u16 r19, r12\n add.u32 r17, r17, "
        "r18\n add.u32 r17, r17, r19\n"
        " sel.u32 r17, p3, r17, r10\n stg.u32 [r5 + r0], r17\n";
    hg_plan *plan = plan_of(BODY, PLAN_READS_MEMORY);
    CHECK_U64(plan->scratch_lane_bytes, 0); /* r0 is made again */
    uint32_t loads = 0, stores = 0;
    for (uint32_t i = 0; i < plan->kernels.count; i++) {
        kir_module *m = lowered(plan, i);
        CHECK_U64(m->inputs.count && m->inputs.data[m->inputs.count - 1].kind == KIR_INPUT_ENV, 0);
        CHECK(!m->has_open);
        for (const kir_value *v = kir_walk(NULL, m->functions->body); v;
             v = kir_walk(v, m->functions->body)) {
            uint8_t memory = kir_is_access(v) && v->u.mem.space == KIR_BUFFER
                                 ? v->u.mem.class_id
                                 : (uint8_t)KIR_PLAN_NONE;
            if (memory == KIR_PLAN_NONE || memory == KIR_PLAN_SCRATCH) continue;
            CHECK(v->u.mem.unchecked &&
                  memory == (v->op == KIR_LOAD ? KIR_PLAN_UNIFORMS : KIR_PLAN_ENV));
            CHECK(kir_access_size(v) >= 4);
            if (v->op == KIR_LOAD) CHECK_U64(v->uniformity, KIR_UNIFORM);
            loads += v->op == KIR_LOAD;
            stores += v->op == KIR_STORE;
        }
    }
    CHECK(loads >= 6 && stores >= 4);
    plan_destroy(plan);
    plan = plan_of(BODY, PLAN_READS_INPUTS); /* a wide value cannot be an input: each lane keeps its
                                                own */
    CHECK_U64(plan->scratch_lane_bytes, 32);
    plan_destroy(plan);
}

/* What may decide whether lanes reach a barrier comes as an input where a compiler must see that
 * they agree; all else from memory. */
static void test_values_shown(void) {
    static const struct {
        const char *text;
        bool input;
    } CASES[] = {{MINE " reduce.max.u32 r10, [r5 + r20], r4\n setgeu.u32 p3, r10, r9\n bra.p3 "
                       "@end\n bar.sync 0\n stg.u32 [r5 + r0], r10\nend:\n",
                  true},
                 {MINE " reduce.max.u32 r10, [r5 + r20], r4\n setgeu.u32 p3, r10, r9\n bra.p3 "
                       "@end\n stg.u32 [r5 + r0], r10\nend:\n",
                  false},
                 {MINE " reduce.max.u32 r10, [r5 + r20], r4\n breduce.add.u32 r11, r10\n stg.u32 "
                       "[r5 + r0], r11\n",
                  true}};
    for (size_t i = 0; i < HG_COUNT_OF(CASES); i++) {
        hg_plan *plan = plan_of(CASES[i].text, PLAN_READS_SHOWN);
        const plan_kernel *last = &plan->kernels.data[plan->kernels.count - 1];
        CHECK_U64(last->inputs.count, CASES[i].input);
        CHECK_U64(last->loads.count, !CASES[i].input);
        CHECK_U64(waits(plan), CASES[i].input);
        plan_destroy(plan);
    }
}

/* A register that begins as an id and that functions share is read anew behind a step: no lane
 * keeps it in memory. */
static void test_ids(void) {
    hg_plan *plan = plan_of(" bar.grid\n call @f\n exit\nf:\n mov_imm.u32 r10, 2\n seteq.u32 p6, "
                            "r253, r10\n bra.p6 @end\n bar.sync 1\nend:\n ret\n",
                            PLAN_READS_MEMORY);
    CHECK_U64(plan->scratch_lane_bytes, 0);
    kir_module *m = lowered(plan, (uint32_t)plan->kernels.count - 1);
    bool found = false;
    for (const kir_value *v = kir_walk(NULL, m->functions->body); v;
         v = kir_walk(v, m->functions->body))
        found = found || (v->op == KIR_ID && v->u.imm == HG_ID_BLOCK_IDX_X);
    CHECK(found);
    plan_destroy(plan);
}

/* A handle from the environment stays an input, and its accesses go through slots. */
static void test_handles(void) {
    hg_plan *plan = plan_of(WAITS[HG_COUNT_OF(WAITS) - 1].body, PLAN_READS_MEMORY);
    kir_module *m = lowered(plan, (uint32_t)plan->kernels.count - 1);
    CHECK(!m->has_open);
    CHECK(plan->kernels.data[plan->kernels.count - 1].inputs.count == 1);
    plan_destroy(plan);
}

/* What a backend would refuse is refused before: whole-array instructions in functions that call
 * each other twice, thirty deep. */
static void test_limits(void) {
    hg_text text = {0};
    hg_text_addf(&text, ".atlas 1\n.program t\n.param r1 x buffer f32 inout [n]\n.param r4 n u64\n "
                        "   call @fn30\n    exit\nfn0:\n"
                        "    parallel_map.f32 r1, r1, neg, r4\n    ret\n");
    for (int i = 1; i <= 30; i++)
        hg_text_addf(&text, "fn%d:\n    call @fn%d\n    call @fn%d\n    ret\n", i, i - 1, i - 1);
    hg_program *program = assemble(text.data);
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK(hg_program_verify(program, d) == HG_ERROR_ISA);
    CHECK(hg_diagnostics_errors(d) == 1 && strcmp(hg_diagnostics_get(d, 0)->code, "S05") == 0);
    CHECK_MESSAGE(strstr(hg_last_error_text(), "whole-array"), "%s", hg_last_error_text());
    hg_diagnostics_destroy(d);
    hg_program_release(program);
    hg_text_free(&text);
}

/* What lives across a step in each lane: rows and columns of a lane's number are made again, what
 * is the same in all lanes on the way there is carried once; what is long, or comes from memory, is
 * kept a lane at a time. */
static void test_made_again(void) {
    static const struct {
        const char *body, *use;
        uint64_t scratch; /* bytes a lane */
    } cases[] = {
        {" cvt.u32.u64 r10, r255\n cvt.u32.u64 r11, r4\n div.u32 r12, r10, r11\n"
         " rem.u32 r13, r10, r11\n mul.u32 r12, r12, r11\n",
         " add.u32 r12, r12, r13\n stg.u32 [r5 + r0], r12\n", 0},
        {" cvt.u32.u64 r10, r255\n reduce.add.u32 r11, [r5 + r20], r4\n rem.u32 r12, r10, r11\n",
         " stg.u32 [r5 + r0], r12\n", 0},
        {" cvt.u32.u64 r10, r255\n ldg.u32 r11, [r5 + r0]\n rem.u32 r12, r10, r11\n",
         " stg.u32 [r5 + r0], r12\n", 8},
        {" cvt.f32.u64 r12, r255\n sqrt.f32 r12, r12\n", " stg.f32 [r1 + r0], r12\n", 8},
    };
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        char body[1024];
        snprintf(body, sizeof body, MINE "%s bar.grid\n%s", cases[i].body, cases[i].use);
        hg_plan *plan = plan_of(body, PLAN_READS_INPUTS);
        CHECK_MESSAGE(plan->scratch_lane_bytes == cases[i].scratch, "case %u: %llu bytes a lane",
                      (unsigned)i, (unsigned long long)plan->scratch_lane_bytes);
        plan_destroy(plan);
    }
    /* As many operations as there may be, and one more. */
    for (uint32_t count = 12; count <= 13; count++) {
        hg_text body = {0};
        hg_text_addf(&body, MINE " cvt.u32.u64 r10, r255\n mov_imm.u32 r12, 77\n");
        for (uint32_t i = 1; i < count; i++)
            hg_text_addf(&body, " %s.u32 r10, r10, r12\n", i % 2 ? "mul" : "xor");
        hg_text_addf(&body, " bar.grid\n stg.u32 [r5 + r0], r10\n");
        hg_plan *plan = plan_of(body.data, PLAN_READS_INPUTS);
        CHECK_U64(plan->scratch_lane_bytes, count == 12 ? 0 : 8);
        plan_destroy(plan);
        hg_text_free(&body);
    }
}

int main(void) {
    test_limits();
    test_made_again();
    for (size_t i = 0; i < HG_COUNT_OF(WAITS); i++) test_waits(&WAITS[i]);
    test_lists();
    test_values_in_memory();
    test_handles();
    test_values_shown();
    test_ids();
    return test_done();
}

/* The workspace of a function of built C text: its parts, one behind the other, and how large it
 * is.
 * Must not know: what lies in a part. */
#include "offline/build_internal.h"

typedef unsigned long long ull;

void build_plan_work(build_program *p) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->program->param_count; i++)
        p->spans += p->program->params[i].kind == HG_PARAM_SCRATCH;
    p->keep_span = p->spans;
    p->spans += p->plan->scratch_lane_bytes != 0;
    p->zeroed_spans = p->step_span = p->spans;
    for (uint64_t i = 0; i < p->plan->steps.count; i++)
        if (p->steps[i].scratch > bytes) bytes = p->steps[i].scratch;
    p->step_bytes = bytes;
    p->spans += bytes != 0 || p->open_steps;
}

/* Whether a parameter is a scalar that the function takes by value. */
static bool is_taken(const build_program *p, uint32_t i) {
    const hg_param *param = &p->program->params[i];
    return param->kind == HG_PARAM_SCALAR && !p->fixed[i] &&
           build_scalar_type((hg_type)param->type);
}

void build_add_work_prototype(const build_job *job, const build_program *p, hg_text *out) {
    hg_text_addf(out, "%ssize_t %s_work_bytes(const %s_launch *launch",
                 p->use == BUILD_LAUNCH ? "static " : "", p->function, job->name);
    for (uint32_t i = 0; i < p->program->param_count; i++)
        if (is_taken(p, i))
            hg_text_addf(out, ", %s %s", build_scalar_type((hg_type)p->program->params[i].type),
                         p->names[i]);
    hg_text_addf(out, ")");
}

static void add_scratch_bytes(const build_program *p, const hg_param *param, hg_text *out) {
    for (uint8_t d = 0; d < param->rank; d++) {
        hg_text_addf(out, "@_mul(");
        build_add_number(p, &param->dims[d], out);
        hg_text_addf(out, ", ");
    }
    hg_text_addf(out, "@_is(%llu)", (ull)hg_type_size_bytes((hg_type)param->type));
    for (uint8_t d = 0; d < param->rank; d++) hg_text_addf(out, ")");
}

/* One step runs behind the other. */
static void add_step_bytes(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->plan->steps.count; i++) {
        if (!p->steps[i].open) continue;
        hg_text_addf(out, "@_max(");
        build_add_open_bytes(p, i, out);
        hg_text_addf(out, ", ");
    }
    hg_text_addf(out, "@_is(UINT64_C(%llu))", (ull)p->step_bytes);
    for (uint32_t i = 0; i < p->plan->steps.count; i++)
        if (p->steps[i].open) hg_text_addf(out, ")");
}

static void add_span(uint32_t *number, hg_text *out) {
    hg_text_addf(out, "    spans[%u] = @_behind(", (unsigned)*number);
    hg_text_addf(out, *number ? "&spans[%u], " : "NULL, ", (unsigned)*number - 1);
    ++*number;
}

/* static void hgk_FUNCTION(lanes, scalars, spans): where the parts lie. */
static void add_layout(const build_program *p, hg_text *out) {
    uint32_t number = 0;
    hg_text_addf(out, "\nstatic void hgk_%s(@_number lanes, ", p->function);
    for (uint32_t i = 0; i < p->program->param_count; i++)
        if (is_taken(p, i)) hg_text_addf(out, "uint64_t v_%s, ", p->names[i]);
    hg_text_addf(out, "@_span *spans) {\n");
    build_add_fixed(p, out);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        if (p->program->params[i].kind != HG_PARAM_SCRATCH) continue;
        add_span(&number, out);
        add_scratch_bytes(p, &p->program->params[i], out);
        hg_text_addf(out, ");\n");
    }
    if (p->keep_span < p->zeroed_spans) {
        add_span(&number, out);
        hg_text_addf(out, "@_mul(lanes, @_is(%llu)));\n", (ull)p->plan->scratch_lane_bytes);
    }
    if (p->step_bytes || p->open_steps) {
        add_span(&number, out);
        add_step_bytes(p, out);
        hg_text_addf(out, ");\n");
    }
    hg_text_addf(out, "}\n");
}

static void add_call(const build_program *p, const char *lanes, hg_text *out) {
    hg_text_addf(out, "    @_span spans[%u];\n    hgk_%s(%s, ", (unsigned)p->spans, p->function,
                 lanes);
    for (uint32_t i = 0; i < p->program->param_count; i++)
        if (is_taken(p, i)) hg_text_addf(out, "v_%s, ", p->names[i]);
    hg_text_addf(out, "spans);\n");
}

void build_add_work_size(const build_job *job, const build_program *p, hg_text *out) {
    if (!p->spans) return;
    add_layout(p, out);
    hg_text_addf(out, "\n");
    build_add_work_prototype(job, p, out);
    hg_text_addf(out, " {\n");
    build_add_scalars(p, out);
    build_add_asked(p, out);
    add_call(p, "launch ? @_is(launch->lanes) : @_sub(@_is(0), @_is(1))", out);
    hg_text_addf(out, "    return @_work_end(&spans[%u]);\n}\n", (unsigned)p->spans - 1);
}

void build_add_work(const build_program *p, hg_text *out) {
    if (!p->spans) return;
    add_call(p, "@_is(run.launch.lanes)", out);
    hg_text_addf(
        out, "    if (@_work(&run, work, work_bytes, spans, %u, %u)) return @_end(&run, fault);\n",
        (unsigned)p->spans, (unsigned)p->zeroed_spans);
}

/* Numbers of built C text: parameters, values of the plan's environment, extents, and the launch
 * that a program asks for.
 * Must not know: kernels. */
#include "offline/build_internal.h"
#include <string.h>

typedef unsigned long long ull;

/* ---- values ---- */

uint32_t build_param_of(const build_program *p, uint8_t reg) {
    uint32_t i = 0;
    while (i < p->program->param_count && p->program->params[i].reg != reg) i++;
    return i;
}

void build_find_pools(const build_program *p, uint64_t pools[BUILD_POOL_WORDS]) {
    memset(pools, 0, BUILD_POOL_WORDS * sizeof *pools);
    for (uint32_t i = 0; i < p->program->param_count; i++)
        if (p->program->params[i].kind == HG_PARAM_POOL) pools[i / 64] |= UINT64_C(1) << i % 64;
}

/* A parameter's bytes as the words of an input: the handle of memory is its number from 1. */
void build_add_param_value(const build_program *p, uint32_t i, uint64_t start, uint64_t size,
                           hg_text *out) {
    const hg_param *param = &p->program->params[i];
    if (param->kind != HG_PARAM_SCALAR)
        hg_text_addf(out, "%u", (unsigned)i + 1);
    else if (build_scalar_type((hg_type)param->type))
        hg_text_addf(out, "v_%s", p->names[i]);
    else
        hg_text_addf(out, "@_bytes_at(%s, %llu, %llu)", p->names[i], (ull)start, (ull)size);
}

void build_add_env_value(uint64_t offset, uint64_t size, hg_text *out) {
    hg_text_addf(out, "@_bytes_at(env, %llu, %llu)", (ull)offset, (ull)size);
}

void build_add_input(const build_program *p, const kir_input *input, hg_text *out) {
    uint64_t size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type),
             start = (uint64_t)input->limb * input->limb_bytes;
    if (input->kind == KIR_INPUT_SHARED) /* behind the program's shared memory */
        hg_text_addf(out, "%llu",
                     input->limb_bytes && input->limb
                         ? 0
                         : (ull)((p->program->shared + 15) & ~UINT64_C(15)));
    else if (input->kind == KIR_INPUT_ENV)
        build_add_env_value(input->index + start, size, out);
    else
        build_add_param_value(p, build_param_of(p, input->reg), start, size, out);
}

void build_add_fixed(const build_program *p, hg_text *out) {
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_build_value *value = p->fixed[i];
        if (value)
            hg_text_addf(out, "    const uint64_t v_%s = UINT64_C(%llu);\n    (void)v_%s;\n",
                         p->names[i], (ull)value->bits, p->names[i]);
    }
}

void build_add_scalars(const build_program *p, hg_text *out) {
    build_add_fixed(p, out);
    for (uint32_t i = 0; i < p->program->param_count; i++) {
        const hg_param *param = &p->program->params[i];
        if (param->kind != HG_PARAM_SCALAR || p->fixed[i] ||
            !build_scalar_type((hg_type)param->type))
            continue;
        hg_text_addf(
            out, "    uint64_t v_%s = 0;\n    memcpy(&v_%s, &%s, sizeof %s);\n    (void)v_%s;\n",
            p->names[i], p->names[i], p->names[i], p->names[i], p->names[i]);
    }
}

/* ---- the launch ---- */

const char *build_extent_function(hg_extent_op_kind kind) {
    static const char *const two[HG_EXTENT_OP_COUNT] = {
        [HG_EXTENT_OP_ADD] = "add", [HG_EXTENT_OP_SUB] = "sub",
        [HG_EXTENT_OP_MUL] = "mul", [HG_EXTENT_OP_DIV] = "div",
        [HG_EXTENT_OP_MIN] = "min", [HG_EXTENT_OP_CEIL_DIV] = "ceil_div",
        [HG_EXTENT_OP_MAX] = "max"};
    return two[kind];
}

void build_add_number(const build_program *p, const hg_extent *e, hg_text *out) {
    if (e->kind == HG_EXTENT_NUMBER) {
        hg_text_addf(out, "@_is(UINT64_C(%llu))", (ull)e->value);
        return;
    }
    if (e->kind == HG_EXTENT_PARAM) {
        hg_text_addf(out, "@_is(v_%s)", p->names[e->param]);
        return;
    }
    /* A stack machine: the text of each value on the stack. */
    HG_VEC(hg_text) stack = {0};
    for (uint16_t i = 0; i < e->op_count && !out->failed; i++) {
        const hg_extent_op *op = &p->program->extent_ops[e->value + i];
        hg_text text = {0};
        if (op->kind == HG_EXTENT_OP_NUMBER)
            hg_text_addf(&text, "@_is(UINT64_C(%llu))", (ull)op->value);
        else if (op->kind == HG_EXTENT_OP_PARAM)
            hg_text_addf(&text, "@_is(v_%s)", p->names[op->param]);
        else if (stack.count >= 2) {
            hg_text b = stack.data[--stack.count], a = stack.data[--stack.count];
            hg_text_addf(&text, "@_%s(%s, %s)", build_extent_function((hg_extent_op_kind)op->kind),
                         a.data ? a.data : "", b.data ? b.data : "");
            hg_text_free(&a);
            hg_text_free(&b);
        }
        hg_text *top = hg_vec_push(&stack);
        if (top)
            *top = text;
        else
            out->failed = true;
    }
    for (uint64_t i = 0; i < stack.count; i++) {
        if (i + 1 == stack.count && stack.data[i].data) hg_text_addf(out, "%s", stack.data[i].data);
        hg_text_free(&stack.data[i]);
    }
    hg_vec_free(&stack);
}

static void add_lanes(const build_program *p, uint32_t first, hg_text *out) {
    bool more = first + 1 < p->program->lanes_count;
    if (more) hg_text_addf(out, "@_mul(");
    build_add_number(p, &p->program->lanes[first], out);
    for (uint32_t i = first + 1; i < p->program->lanes_count; i++) {
        hg_text_addf(out, i + 1 < p->program->lanes_count ? ", @_mul(" : ", ");
        build_add_number(p, &p->program->lanes[i], out);
    }
    for (uint32_t i = first + 1; i < p->program->lanes_count; i++) hg_text_addf(out, ")");
}

/* What a launch is where the caller gives none. */
void build_add_asked(const build_program *p, hg_text *out) {
    const hg_program *program = p->program;
    if (program->lanes_count) {
        hg_text_addf(out, "    @_launch asked;\n    if (!launch && @_asked_lanes(&asked, ");
        add_lanes(p, 0, out);
        hg_text_addf(out, ")) launch = &asked;\n");
    } else if (program->grid_count) {
        hg_text_addf(out,
                     "    @_launch asked;\n    const uint32_t asked_block[3] = {%u, %u, %u};\n    "
                     "if (!launch && @_asked_grid(&asked",
                     program->block[0] ? (unsigned)program->block[0] : 1u,
                     program->block[0] ? (unsigned)program->block[1] : 1u,
                     program->block[0] ? (unsigned)program->block[2] : 1u);
        for (uint32_t i = 0; i < 3; i++) {
            hg_text_addf(out, ", ");
            if (i < program->grid_count)
                build_add_number(p, &program->grid[i], out);
            else
                hg_text_addf(out, "@_is(1)");
        }
        hg_text_addf(out, ", asked_block)) launch = &asked;\n");
    } else if (!p->plan->kernels.count) { /* lanes do nothing */
        hg_text_addf(out,
                     "    const @_launch asked = @_lanes(1);\n    if (!launch) launch = &asked;\n");
    }
}

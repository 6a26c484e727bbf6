/* Plain C: kernels as functions of one lane, and pure functions alone.
 * Must not know: devices, drivers, how the text is compiled. */
#include "emit/emit_c_internal.h"
#include <string.h>

#define MATH(op, name, arguments) \
    {op, C_IN_F32, name "f(" arguments ")"}, { op, C_IN_F64, name "(" arguments ")" }
/* clang-format off */
static const c_builtin BUILTINS[] = {
    MATH(KIR_FSQRT, "sqrt", "$0"),
    MATH(KIR_FFMA, "fma", "$0, $1, $2"),
    MATH(KIR_FFLOOR, "floor", "$0"),
    MATH(KIR_FTRUNC, "trunc", "$0"),
    MATH(KIR_FRINT, "rint", "$0"),
    {0},
};
/* clang-format on */

static const c_dialect C = {
    .types = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "float", "double"},
    .signed_types = {"int8_t", "int16_t", "int32_t", "int64_t", "float", "double"},
    .u64_small = "UINT64_C(%llu)",
    .u64_large = "UINT64_C(0x%llx)",
    .top_i64 = "INT64_MAX",
    .infinity = "INFINITY",
    .nan = "NAN",
    .builtins = BUILTINS,
    .function = "static inline ",
    .table = "static const ",
    .local = "",
};

void emit_c_caps(kir_caps *caps) {
    memset(caps, 0, sizeof *caps);
    caps->i8 = caps->i16 = caps->i64 = caps->f64 = true;
    caps->fma32 = caps->fma64 = caps->mad = caps->subnormals = caps->half = true;
    caps->name = "c";
}

/* One kernel: its lane variables and prototype into heads, its functions into body. Tables go to
 * heads too. */
static bool print_kernel(c_printer *p, const kir_module *m, hg_text *heads, hg_text *body) {
    c_reach r = {0};
    p->module = m;
    emit_kernel_name(m, p->name);
    p->out = body;
    p->inst = 0;
    bool ok = emit_c_reach(m, m->functions, false, &r);
    for (uint64_t i = 0; i < r.order.count; i++) emit_c_print_function(p, r.order.data[i]);
    p->out = heads;
    p->indent = 1;
    hg_text_addf(heads,
                 "/* Variables of a lane that the functions of %s share. */\ntypedef struct "
                 "%s_lane {\n    uint8_t unused;\n",
                 m->name, p->name);
    emit_c_declare_vars(p, NULL);
    hg_text_addf(heads, "} %s_lane;\n\nvoid %s(hg_env *env);\n\n", p->name, p->name);
    emit_c_print_tables(p, heads, &r);
    p->indent = 0;
    hg_vec_free(&r.order);
    return ok;
}

hg_status emit_c(const kir_module *const *kernels, uint32_t count, const char *about,
                 hg_text *out) {
    hg_text heads = {0}, body = {0};
    c_printer printer = {.dialect = &C, .form = &emit_c_lane}, *p = &printer;
    bool ok = true;
    for (uint32_t i = 0; i < count && ok && !p->unsupported; i++)
        ok = print_kernel(p, kernels[i], &heads, &body);
    hg_text_addf(
        out,
        "/* Written by hologram. The caller fills an hg_env and calls a kernel once for every "
        "lane.\n%s */\n"
        "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n",
        about);
    emit_c_environment(out);
    emit_c_helpers(p, out);
    hg_text_addf(out, "\n");
    hg_text_add(out, heads.data ? heads.data : "", heads.length);
    hg_text_add(out, body.data ? body.data : "", body.length);
    ok = ok && !heads.failed && !body.failed && !out->failed;
    hg_text_free(&heads);
    hg_text_free(&body);
    if (p->unsupported)
        return hg_fail(HG_ERROR_ISA, "no C text for '%s': %s", p->module->name, p->unsupported);
    return ok ? HG_OK : hg_fail_memory();
}

static hg_status finish(c_printer *p, hg_text *body, c_reach *r, hg_text *out, bool ok) {
    hg_status status = HG_OK;
    if (p->unsupported)
        status = hg_fail(HG_ERROR_ISA, "no C text for '%s': %s", p->module->name, p->unsupported);
    else if (!ok || body->failed || out->failed)
        status = hg_fail_memory();
    else
        hg_text_add(out, body->data ? body->data : "", body->length);
    if (status == HG_OK && out->failed) status = hg_fail_memory();
    hg_text_free(body);
    hg_vec_free(&r->order);
    return status;
}

static hg_status print_alone(const kir_function *f, const char *name, bool common, hg_text *out) {
    hg_text body = {0};
    c_printer printer = {.dialect = &C,
                         .form = &emit_c_lane,
                         .out = &body,
                         .module = f->module,
                         .prefix = name,
                         .root = f,
                         .common = common},
              *p = &printer;
    c_reach r = {0};
    bool ok = emit_c_reach(f->module, f, false, &r);
    for (uint64_t i = 0; i < r.order.count; i++) emit_c_print_function(p, r.order.data[i]);
    p->out = out;
    emit_c_helpers(p, out);
    emit_c_print_tables(p, out, &r);
    return finish(p, &body, &r, out, ok);
}

hg_status emit_c_function(const kir_function *f, const char *name, hg_text *out) {
    return print_alone(f, name, false, out);
}

hg_status emit_c_function_common(const kir_function *f, const char *name, hg_text *out,
                                 bool *has_branches) {
    *has_branches = false;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_IF || v->op == KIR_LOOP) *has_branches = true;
    return print_alone(f, name, *has_branches, out);
}

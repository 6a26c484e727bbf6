/* The vector form as C with vector extensions, over include/hologram/vector.h: functions and
 * control flow.
 * Must not know: devices, how the text is compiled. */
#include "emit/emit_vector_c.h"
#include "emit/emit.h"
#include "isa/program.h"

#include <string.h>

/* ---- variables ---- */

uint32_t vc_var_size(const vc_printer *p, const vec_var *v) {
    return vec_var_size(v, p->mask_bytes);
}

static const char *var_type(const vc_printer *p, const vec_var *v) {
    return v->type == KIR_BOOL ? vc_mask_type(vc_var_size(p, v)) : vc_short(v->type);
}

static void declare_var(vc_printer *p, const vec_var *v) {
    uint32_t parts = v->each ? vc_parts(p, vc_var_size(p, v)) : 0, id = v->id;
    const char *zero = v->shared || v->kept ? "" : v->each ? " = {0}" : " = 0";
    if (v->length && v->type == KIR_BOOL) p->unsupported = "a private array of truth values";
    if (v->length) {
        vc_line(p, "hgv_%s x%u[%u][%u]%s;", var_type(p, v), (unsigned)id, (unsigned)v->length,
                (unsigned)parts, zero);
        return;
    }
    if (!v->each) vc_line(p, "%s y%u%s;", vc_scalar(v->type), (unsigned)id, zero);
    if (!v->each && !v->shared && !v->kept) vc_line(p, "(void)y%u;", (unsigned)id);
    for (uint32_t i = 0; i < parts; i++) {
        vc_line(p, "hgv_%s x%u_%u%s;", var_type(p, v), (unsigned)id, (unsigned)i, zero);
        if (!v->shared && !v->kept) vc_line(p, "(void)x%u_%u;", (unsigned)id, (unsigned)i);
    }
}

/* Those that are kept, or those of a TURNS, which is NULL for all others. */
static void declare_vars(vc_printer *p, const vec_var *v, bool kept, const vec_value *turns) {
    for (; v; v = v->next)
        if (!v->by_reference && v->kept == kept && (kept || v->turns == turns)) declare_var(p, v);
}

static void get(vc_printer *p, const vec_value *v) {
    if (!v->each) {
        vc_line(p, "const %s s%u = %s;", vc_scalar(v->type), (unsigned)v->id,
                vc_var(v->u.var).text);
        return;
    }
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "const hgv_%s v%u_%u = %s_%u;", vc_type(p, v), (unsigned)v->id, (unsigned)i,
                vc_var(v->u.var).text, (unsigned)i);
}

/* Whether the lanes of a mask add one to what the variable is: it is less the mask then. */
static bool counts(const vec_value *v) {
    const vec_value *from = v->args[0], *old = from->op == VEC_PRIM ? from->args[0] : NULL;
    if (!old || from->prim != KIR_ADD || !from->each || old->op != VEC_GET ||
        old->u.var != v->u.var || from->args[1]->op != VEC_CONST || from->args[1]->u.imm != 1)
        return false;
    const vec_value *w = v->prev;
    while (w && w != old && !w->body[0] && !(w->op == VEC_SET && w->u.var == v->u.var)) w = w->prev;
    return w == old;
}

static void set(vc_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    if (!var->each) {
        hg_text text = {0};
        vc_one(p, &text, v->args[0]);
        vc_line(p, "%s = %s;", vc_var(var).text, text.data ? text.data : "");
        hg_text_free(&text);
        return;
    }
    uint32_t size = vc_var_size(p, var);
    const bool some = v->mask && !vc_is_all(p, v->mask);
    for (uint32_t i = 0; i < vc_parts(p, size); i++) {
        hg_text text = {0};
        if (some && counts(v)) {
            vc_part(p, &text, v->mask, size, i);
            vc_line(p, "%s_%u -= (hgv_%s)(%s);", vc_var(var).text, (unsigned)i, var_type(p, var),
                    text.data ? text.data : "");
            hg_text_free(&text);
            continue;
        }
        if (some) {
            hg_text_addf(&text, "hgv_select_%s(", var_type(p, var));
            vc_part(p, &text, v->mask, size, i);
            hg_text_addf(&text, ", ");
        }
        vc_part(p, &text, v->args[0], size, i);
        if (some) hg_text_addf(&text, ", %s_%u)", vc_var(var).text, (unsigned)i);
        vc_line(p, "%s_%u = %s;", vc_var(var).text, (unsigned)i, text.data ? text.data : "");
        hg_text_free(&text);
    }
}

static void array(vc_printer *p, const vec_value *v) {
    const vec_var *var = v->u.var;
    const vec_value *index = v->args[0], *value = v->nargs > 1 ? v->args[1] : NULL;
    uint32_t size = vc_var_size(p, var);
    hg_text bits = {0}, one = {0};
    if (!value)
        for (uint32_t i = 0; i < vc_parts(p, size); i++)
            vc_line(p, "hgv_%s v%u_%u;", vc_short(var->type), (unsigned)v->id, (unsigned)i);
    vc_block(p);
    vc_bits(p, &bits, v->mask);
    if (!index->each && !value) {
        vc_one(p, &one, index);
        vc_line(p, "const uint32_t at = %s < %u ? %s : 0;", one.data, (unsigned)var->length,
                one.data);
        for (uint32_t i = 0; i < vc_parts(p, size); i++)
            vc_line(p, "v%u_%u = %s[at][%u];", (unsigned)v->id, (unsigned)i, vc_var(var).text,
                    (unsigned)i);
    } else {
        vc_spill(p, "at", index);
        if (value)
            vc_spill(p, "value", value);
        else
            vc_line(p, "%s value[HGV_LANES];", vc_scalar(v->type));
        if (value) vc_line(p, "const uint64_t here = %s;", bits.data ? bits.data : "");
        vc_open(p, "for (unsigned i = 0; i < HGV_LANES; i++)");
        if (value)
            vc_line(p,
                    "if ((here >> i & 1) && at[i] < %u) hgs_store_%s((uint8_t *)%s + "
                    "((uint64_t)at[i] * HGV_LANES + i) * %u, value[i]);",
                    (unsigned)var->length, vc_short(var->type), vc_var(var).text, (unsigned)size);
        else
            vc_line(p,
                    "value[i] = hgs_load_%s((const uint8_t *)%s + ((uint64_t)(at[i] < %u ? at[i] : "
                    "0) * HGV_LANES + i) * %u);",
                    vc_short(var->type), vc_var(var).text, (unsigned)var->length, (unsigned)size);
        vc_close(p);
        if (!value) vc_unspill(p, "value", v);
    }
    vc_close(p);
    hg_text_free(&bits);
    hg_text_free(&one);
}

static void table(vc_printer *p, const vec_value *v) {
    const kir_table *t = v->u.table;
    const char *of_bits = v->type == HG_TYPE_F32   ? "hgs_of_bits_f32"
                          : v->type == HG_TYPE_F64 ? "hgs_of_bits_f64"
                                                   : "";
    hg_text one = {0};
    if (!v->each) {
        vc_one(p, &one, v->args[0]);
        vc_line(p, "const %s s%u = %s(%s_t%u[%s < %u ? %s : 0]);", vc_scalar(v->type),
                (unsigned)v->id, of_bits, p->name, (unsigned)t->id, one.data, (unsigned)t->length,
                one.data);
        hg_text_free(&one);
        return;
    }
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "hgv_%s v%u_%u;", vc_short(v->type), (unsigned)v->id, (unsigned)i);
    vc_block(p);
    vc_spill(p, "at", v->args[0]);
    vc_line(p, "%s value[HGV_LANES];", vc_scalar(v->type));
    vc_line(
        p,
        "for (unsigned i = 0; i < HGV_LANES; i++) value[i] = %s(%s_t%u[at[i] < %u ? at[i] : 0]);",
        of_bits, p->name, (unsigned)t->id, (unsigned)t->length);
    vc_unspill(p, "value", v);
    vc_close(p);
}

/* ---- leaves, masks ---- */

static void block_id(vc_printer *p, const vec_value *v, uint32_t axis) {
    if (vc_in_block(p))
        vc_line(p, "const uint32_t s%u = block->%c;", (unsigned)v->id, "xyz"[axis]);
    else
        vc_line(p, "const uint32_t s%u = hgv_coordinate(launch, %u, first);", (unsigned)v->id,
                (unsigned)axis + 3);
}

static void id(vc_printer *p, const vec_value *v) {
    static const char *const fields[] = {"block[0]", "block[1]", "block[2]",
                                         "grid[0]",  "grid[1]",  "grid[2]"};
    hg_idname name = (hg_idname)v->u.imm;
    uint32_t axis = hg_idname_axis(name);
    if (hg_idname_part(name) == HG_PART_LANE_COUNT)
        vc_line(p, "const uint64_t s%u = launch->lanes;", (unsigned)v->id);
    else if (hg_idname_part(name) == HG_PART_BLOCK_DIM || hg_idname_part(name) == HG_PART_GRID_DIM)
        vc_line(p, "const uint32_t s%u = launch->%s;", (unsigned)v->id,
                fields[axis + (hg_idname_part(name) == HG_PART_GRID_DIM ? 3 : 0)]);
    else if (hg_idname_part(name) == HG_PART_BLOCK_IDX)
        block_id(p, v, axis);
    else if (vc_in_block(p))
        vc_line(p, "const uint32_t s%u = turn.%c;", (unsigned)v->id, "xyz"[axis]);
    else
        vc_line(p, "const uint32_t s%u = hgv_coordinate(launch, %u, first);", (unsigned)v->id,
                (unsigned)axis);
}

static void coordinate(vc_printer *p, const vec_value *v) {
    hg_idname name = (hg_idname)v->u.imm;
    uint32_t number = hg_idname_axis(name) + (hg_idname_part(name) == HG_PART_BLOCK_IDX ? 3 : 0);
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "hgv_%s v%u_%u;", vc_short(v->type), (unsigned)v->id, (unsigned)i);
    vc_block(p);
    vc_line(p, "%s value[HGV_LANES];", vc_scalar(v->type));
    vc_line(p,
            "for (unsigned i = 0; i < HGV_LANES; i++) value[i] = hgv_coordinate(launch, %u, first "
            "+ i);",
            (unsigned)number);
    vc_unspill(p, "value", v);
    vc_close(p);
}

static void ramp(vc_printer *p, const vec_value *v) {
    uint32_t size = vc_size(p, v);
    hg_text one = {0};
    vc_one(p, &one, v->args[0]);
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        vc_line(p, "const hgv_%s v%u_%u = hgv_ramp_%s(%s, (%s)UINT64_C(%llu), %u);",
                vc_short(v->type), (unsigned)v->id, (unsigned)i, vc_short(v->type),
                one.data ? one.data : "", vc_scalar(v->type), (unsigned long long)v->u.imm,
                (unsigned)(i * vc_part_lanes(p, size)));
    hg_text_free(&one);
}

static void running(vc_printer *p, const vec_value *v) {
    uint32_t size = vc_size(p, v);
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        vc_line(p, "const hgv_%s v%u_%u = hgv_lanes_%s(run >> %u);", vc_type(p, v), (unsigned)v->id,
                (unsigned)i, vc_type(p, v), (unsigned)(i * vc_part_lanes(p, size)));
}

static void any(vc_printer *p, const vec_value *v) {
    const vec_value *mask = v->args[0];
    if (vc_is_all(p, mask)) {
        vc_line(p, "const bool s%u = true;", (unsigned)v->id);
        return;
    }
    if (mask->op == VEC_RUNNING) {
        vc_line(p, "const bool s%u = run != 0;", (unsigned)v->id);
        return;
    }
    uint32_t size = vc_size(p, mask);
    hg_text text = {0};
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        hg_text_addf(&text, i ? " | v%u_%u" : "v%u_%u", (unsigned)mask->id, (unsigned)i);
    vc_line(p, "const bool s%u = hgv_any_%s(%s);", (unsigned)v->id, vc_mask_type(size),
            text.data ? text.data : "");
    hg_text_free(&text);
}

static void leave(vc_printer *p, const vec_value *v) {
    hg_text bits = {0};
    vc_bits(p, &bits, v->mask);
    if (v->leave.exits) vc_line(p, "*ended |= %s & run;", bits.data ? bits.data : "");
    if (v->leave.ends && vc_in_block(p))
        vc_line(p, "intact = intact && %s == 0;", bits.data ? bits.data : "");
    if (v->leave.ends) vc_line(p, "run &= ~%s;", bits.data ? bits.data : "");
    for (uint8_t k = 0; k < v->loses.count; k++)
        for (uint32_t i = 0; i < vc_parts(p, p->mask_bytes); i++) {
            hg_text part = {0};
            vc_part(p, &part, v->mask, p->mask_bytes, i);
            vc_line(p, "%s_%u &= ~%s;", vc_var(v->loses.vars[k]).text, (unsigned)i,
                    part.data ? part.data : "");
            hg_text_free(&part);
        }
    hg_text_free(&bits);
}

/* ---- calls ---- */

static const char *function_type(const vec_function *f) {
    if (f->result == KIR_VOID) return "void";
    return f->result_each ? vc_short(f->result) : vc_scalar(f->result);
}

static void call(vc_printer *p, const vec_value *v) {
    const vec_function *f = v->u.call.to;
    hg_text text = {0}, bits = {0};
    vc_bits(p, &bits, v->mask);
    hg_text_addf(&text, "%s_f%u(launch", p->name, (unsigned)f->id);
    if (f->masked) {
        vc_line(p, "uint64_t ended_%u = 0;", (unsigned)v->id);
        hg_text_addf(&text, ", shared, first, %s & run, &ended_%u", bits.data ? bits.data : "",
                     (unsigned)v->id);
    }
    for (uint8_t n = 0; n < f->array_count; n++)
        hg_text_addf(&text, ", %s", vc_var(v->u.call.arrays[n]).text);
    for (uint8_t n = 0; n < v->nargs; n++) {
        if (!f->param_each[n]) {
            hg_text_addf(&text, ", ");
            vc_one(p, &text, v->args[n]);
            continue;
        }
        uint32_t size = f->param_types[n] == KIR_BOOL ? 4
                                                      : (uint32_t)kir_type_bytes(f->param_types[n]);
        for (uint32_t i = 0; i < vc_parts(p, size); i++) {
            hg_text_addf(&text, ", ");
            vc_part(p, &text, v->args[n], size, i);
        }
    }
    hg_text_addf(&text, ")");
    if (v->type == KIR_VOID) {
        vc_line(p, "%s;", text.data ? text.data : "");
    } else if (!v->each) {
        vc_line(p, "const %s s%u = %s;", vc_scalar(v->type), (unsigned)v->id,
                text.data ? text.data : "");
    } else {
        const char *type = v->type == KIR_BOOL ? "b32" : vc_short(v->type);
        vc_line(p, "const hgv_r_%s r%u = %s;", type, (unsigned)v->id, text.data ? text.data : "");
        for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
            vc_line(p, "const hgv_%s v%u_%u = r%u.p[%u];", type, (unsigned)v->id, (unsigned)i,
                    (unsigned)v->id, (unsigned)i);
    }
    if (f->masked && f->can_end) {
        vc_open(p, "if (HGV_UNLIKELY(ended_%u))", (unsigned)v->id);
        vc_line(p, "const uint64_t gone = ended_%u;", (unsigned)v->id);
        vc_end(p, v, "gone");
        vc_close(p);
    }
    hg_text_free(&text);
    hg_text_free(&bits);
}

static void param(vc_printer *p, const vec_value *v) {
    if (!v->each) {
        vc_line(p, "const %s s%u = a%u;", vc_scalar(v->type), (unsigned)v->id, (unsigned)v->u.imm);
        return;
    }
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "const hgv_%s v%u_%u = a%u_%u;", vc_type(p, v), (unsigned)v->id, (unsigned)i,
                (unsigned)v->u.imm, (unsigned)i);
}

static void print_return(vc_printer *p, const vec_value *v) {
    const vec_value *turns = v->nargs ? NULL : vec_turns_around(v);
    if (turns) {
        vc_line(p, "run = 0;");
        vc_line(p, "intact = false;");
        vc_line(p, "goto over_%u%s;", (unsigned)turns->id, p->settled ? "w" : "");
        return;
    }
    if (!v->nargs) {
        vc_line(p, p->settled ? "goto over;" : "return;");
        return;
    }
    hg_text text = {0};
    if (!p->f->result_each) {
        vc_one(p, &text, v->args[0]);
    } else {
        uint32_t size = p->f->result == KIR_BOOL ? 4 : (uint32_t)kir_type_bytes(p->f->result);
        hg_text_addf(&text, "(hgv_r_%s){{",
                     p->f->result == KIR_BOOL ? "b32" : vc_short(p->f->result));
        for (uint32_t i = 0; i < vc_parts(p, size); i++) {
            if (i) hg_text_addf(&text, ", ");
            vc_part(p, &text, v->args[0], size, i);
        }
        hg_text_addf(&text, "}}");
    }
    vc_line(p, "return %s;", text.data ? text.data : "");
    hg_text_free(&text);
}

/* ---- control ---- */

static void comment(vc_printer *p, const vec_value *v) {
    if (!v->inst || v->inst == p->inst || !p->k->module->program) return;
    p->inst = v->inst;
    hg_text source = {0};
    hg_print_instruction(&source, p->k->module->program, v->inst - 1);
    if (source.data && !strstr(source.data, "*/")) vc_line(p, "/* %s */", source.data);
    hg_text_free(&source);
}

/* ---- turns of a block ---- */

static void print_body(vc_printer *p, const vec_region *root);

/* The other text is printed from here on. */
static void leave_settled(vc_printer *p) {
    p->settled = p->all_run = false;
    memset(p->checks, 0, ((size_t)p->f->value_count + 1) * sizeof *p->checks);
    for (uint32_t i = 0; i <= p->f->value_count; i++) p->splats[i] &= VC_SPLAT_USED;
}

static void open_loop(vc_printer *p) {
    vc_open(p, "for (hgv_turn turn = {.first = begin}; turn.number < turns; hgv_next(row, rows, "
               "&turn))");
}

/* Where all goes well and no lane ends, nobody asks which lanes run. */
static void open_turns(vc_printer *p, const vec_value *v) {
    if (!p->all_run)
        vc_line(p, "if (!started) started = %s_start(launch, all, begin, end);", p->name);
    open_loop(p);
    vc_line(p, "%s_kept *const kept = &all[turn.number];", p->name);
    vc_line(p, "const uint64_t first = turn.first;");
    vc_line(p, p->all_run   ? "const uint64_t run = HGV_ALL;"
               : p->settled ? "uint64_t run = HGV_ALL;"
                            : "uint64_t run = kept->run;");
    if (p->k->shared) vc_line(p, "%s_shared *const shared = &kept->own;", p->name);
    if (!p->k->shared) vc_line(p, "void *const shared = 0;");
    vc_line(p, "(void)first, (void)shared, (void)kept, (void)run;");
    if (!p->settled) vc_line(p, "if (HGV_UNLIKELY(!run)) continue;");
    declare_vars(p, p->f->vars, false, v);
}

static void close_turns(vc_printer *p, const vec_value *v) {
    if (vec_loses_lanes(v->body[0]) && !p->all_run) {
        vc_line(p, "over_%u%s: __attribute__((unused));", (unsigned)v->id, p->settled ? "w" : "");
        vc_line(p, "kept->run = run;");
    }
    vc_close(p);
}

/* Where all goes well, what is settled is left out; then the other text, in a block of its own. */
static void print_turns(vc_printer *p, const vec_value *v) {
    if (!v->nargs) {
        open_turns(p, v);
        return;
    }
    hg_text well = {0};
    vc_one(p, &well, v->args[0]);
    vc_open(p, "if (%s)", well.data ? well.data : "");
    p->settled = true;
    p->all_run = !vec_loses_unsettled(v->body[0]);
    open_turns(p, v);
    print_body(p, v->body[0]);
    close_turns(p, v);
    leave_settled(p);
    vc_close(p);
    vc_open(p, "else");
    open_turns(p, v);
    hg_text_free(&well);
}

/* True in all lanes. */
static void define_true(vc_printer *p, const vec_value *v) {
    if (!v->each) {
        vc_line(p, "const bool s%u = true;", (unsigned)v->id);
        return;
    }
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "const hgv_%s v%u_%u = hgv_lanes_%s(HGV_ALL);", vc_type(p, v), (unsigned)v->id,
                (unsigned)i, vc_type(p, v));
}

static void input(vc_printer *p, const vec_value *v) {
    if (kir_type_is_float(v->type))
        vc_line(p, "const %s s%u = hgs_of_bits_%s((%s)launch->inputs[%u]);", vc_scalar(v->type),
                (unsigned)v->id, vc_short(v->type),
                v->type == HG_TYPE_F32 ? "uint32_t" : "uint64_t", (unsigned)v->u.imm);
    else
        vc_line(p, "const %s s%u = (%s)launch->inputs[%u];", vc_scalar(v->type), (unsigned)v->id,
                vc_scalar(v->type), (unsigned)v->u.imm);
    vc_splat(p, v);
}

static void print_value(vc_printer *p, const vec_value *v) {
    if (!v->uses && !vec_op_has((vec_op)v->op, VEC_F_EFFECT)) return;
    if (p->settled && v->settled && v->op != VEC_IF) {
        if (v->type == KIR_BOOL) define_true(p, v);
        return;
    }
    comment(p, v);
    switch ((vec_op)v->op) {
    case VEC_CONST: break; /* by its literal */
    case VEC_PRIM: vc_prim(p, v); break;
    case VEC_INPUT:
        if (p->all_run && !p->k->blocks) break; /* in front of the turns */
        input(p, v);
        break;
    case VEC_ID: id(p, v); break;
    case VEC_FIRST: vc_line(p, "const uint64_t s%u = first;", (unsigned)v->id); break;
    case VEC_BEGIN: vc_line(p, "const uint64_t s%u = begin;", (unsigned)v->id); break;
    case VEC_END: vc_line(p, "const uint64_t s%u = end;", (unsigned)v->id); break;
    case VEC_INTACT: vc_line(p, "const bool s%u = intact;", (unsigned)v->id); break;
    case VEC_COORDINATE: coordinate(p, v); break;
    case VEC_RAMP: ramp(p, v); break;
    case VEC_PARAM: param(p, v); break;
    case VEC_GET: get(p, v); break;
    case VEC_SET: set(p, v); break;
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET: array(p, v); break;
    case VEC_TABLE_GET: table(p, v); break;
    case VEC_RUNNING: running(p, v); break;
    case VEC_ANY: any(p, v); break;
    case VEC_EXCHANGE: vc_exchange(p, v); break;
    case VEC_SLIDE: vc_slide(p, v); break;
    case VEC_PICK: vc_pick(p, v); break;
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_SIZE:
    case VEC_FITS:
    case VEC_ATOMIC:
    case VEC_FAULT_IF: vc_memory(p, v); break;
    case VEC_FENCE:
        vc_line(p, "__atomic_thread_fence(%s);",
                v->u.imm == HG_SCOPE_SYSTEM ? "__ATOMIC_SEQ_CST" : "__ATOMIC_ACQ_REL");
        break;
    case VEC_LEAVE: leave(p, v); break;
    case VEC_BREAK: vc_line(p, "break;"); break;
    case VEC_CONTINUE: vc_line(p, "continue;"); break;
    case VEC_RETURN: print_return(p, v); break;
    case VEC_CALL: call(p, v); break;
    case VEC_FUEL:
        if (vc_in_block(p) && !vec_turns_around(v))
            vc_line(p, "const bool s%u = hgv_fuel(launch, (int64_t)(%llu + turns * HGV_LANES), 1);",
                    (unsigned)v->id, (unsigned long long)v->u.imm);
        else
            vc_line(p, "const bool s%u = hgv_fuel(launch, %llu, run);", (unsigned)v->id,
                    (unsigned long long)v->u.imm + p->k->lanes);
        break;
    case VEC_IF: {
        hg_text text = {0};
        if (p->settled && v->settled) {
            vc_block(p);
            break;
        }
        vc_one(p, &text, v->args[0]);
        vc_open(p, "if (%s)", text.data ? text.data : "");
        hg_text_free(&text);
        break;
    }
    case VEC_LOOP: vc_open(p, "for (;;)"); break;
    case VEC_TURNS: print_turns(p, v); break;
    case VEC_ANSWER: {
        hg_text text = {0};
        vc_one(p, &text, v->args[0]);
        vc_line(p, "return %s;", text.data ? text.data : "");
        hg_text_free(&text);
        break;
    }
    case VEC_BARRIER:
        vc_line(p, "if (HGV_UNLIKELY(launch->faulted)) return;");
        if (v->u.imm != KIR_BARRIER_INNER) vc_line(p, "launch->phase++;");
        break;
    default: p->unsupported = "an unknown operation";
    }
    if (v->op != VEC_INPUT && v->op != VEC_CONST) vc_splat(p, v);
}

static void print_body(vc_printer *p, const vec_region *root) {
    for (vec_cursor c = {root, root, root->first}; c.v || c.region != root;
         (void)vec_cursor_next(&c)) {
        if (c.v && c.v->op == VEC_WHOLE) {
            c = (vec_cursor){root, c.v->body[0], NULL}; /* a function of its own */
            continue;
        }
        if (c.v) {
            print_value(p, c.v);
            continue;
        }
        const vec_value *owner = c.region->owner;
        if (owner->op == VEC_TURNS) close_turns(p, owner);
        if (owner->op != VEC_TURNS || owner->nargs) vc_close(p);
        if (p->settled && owner->settled)
            c = (vec_cursor){root, owner->body[1], NULL}; /* the other branch is left out */
        else if (vec_cursor_at_else(&c))
            vc_open(p, "else");
    }
}

/* ---- functions ---- */

static void declare_memory(vc_printer *p, const vec_function *f) {
    for (uint64_t i = 0; i < p->k->module->slots.count; i++) {
        vc_line(p, "uint8_t *const base_%u = launch->slots[%u].base;", (unsigned)i, (unsigned)i);
        vc_line(p, "const uint64_t size_%u = launch->slots[%u].size;", (unsigned)i, (unsigned)i);
        vc_line(p, "(void)base_%u, (void)size_%u;", (unsigned)i, (unsigned)i);
    }
    if (vec_reaches(f, KIR_SHARED)) {
        vc_line(p, "uint8_t *const base_shared = launch->shared.base;");
        vc_line(p, "const uint64_t size_shared = launch->shared_visible;");
        vc_line(p, "(void)base_shared, (void)size_shared;");
    }
    if (!vec_reaches(f, KIR_CLASS)) return;
    vc_line(p, "uint8_t *const base_class = launch->class_memory.base;");
    vc_line(p, "const uint64_t size_class = launch->class_memory.valid ? 12288 : 0;");
    vc_line(p, "(void)base_class, (void)size_class;");
}

/* Functions that work for a mask get what is shared, the turn, the lanes and a word for those that
 * end. */
static void open_function(vc_printer *p, const vec_function *f) {
    hg_text text = {0};
    if (f->masked) {
        hg_text_addf(&text, p->k->shared ? ", %s_shared *const shared" : ", void *const shared",
                     p->name);
        hg_text_addf(&text, ", const uint64_t first, uint64_t run, uint64_t *const ended");
    }
    for (uint8_t n = 0; n < f->array_count; n++)
        hg_text_addf(&text, ", hgv_%s (*const x%u)[%u]", var_type(p, f->array_params[n]),
                     (unsigned)f->array_params[n]->id,
                     (unsigned)vc_parts(p, vc_var_size(p, f->array_params[n])));
    for (uint8_t n = 0; n < f->param_count; n++) {
        if (!f->param_each[n]) {
            hg_text_addf(&text, ", const %s a%u", vc_scalar(f->param_types[n]), (unsigned)n);
            continue;
        }
        bool truth = f->param_types[n] == KIR_BOOL;
        for (uint32_t i = 0;
             i < vc_parts(p, truth ? 4 : (uint32_t)kir_type_bytes(f->param_types[n])); i++)
            hg_text_addf(&text, ", const hgv_%s a%u_%u",
                         truth ? "b32" : vc_short(f->param_types[n]), (unsigned)n, (unsigned)i);
    }
    vc_open(p, "%s%s%s %s_f%u(hgv_launch *launch%s)",
            f->masked ? "static __attribute__((unused)) " : "static inline ",
            f->result_each && f->result != KIR_VOID ? "hgv_r_" : "", function_type(f), p->name,
            (unsigned)f->id, text.data ? text.data : "");
    if (f->masked)
        vc_line(p, "(void)shared, (void)first, (void)ended;");
    else
        vc_line(p, "uint64_t run = HGV_ALL;");
    vc_line(p, "(void)launch, (void)run;");
    hg_text_free(&text);
}

/* What turns keep is on the stack, which is the host's, where there is little of it. */
enum { MOST_ON_STACK = 16384 };

/* The lanes of each turn that start. */
static void print_start(vc_printer *p) {
    vc_open(p,
            "static __attribute__((noinline, unused)) bool %s_start(const hgv_launch *launch, "
            "%s_kept *all, uint64_t begin, uint64_t end)",
            p->name, p->name);
    vc_line(p, "const uint32_t row = launch->block[0], rows = launch->block[1];");
    vc_line(p, "const uint32_t turns = hgv_turns(launch, end - begin);");
    open_loop(p);
    vc_line(p, "all[turn.number].run = hgv_start(row, &turn, end);");
    vc_close(p);
    vc_line(p, "return true;");
    vc_close(p);
}

static void open_block(vc_printer *p, const vec_function *f) {
    vc_open(p, "typedef struct %s_kept", p->name);
    vc_line(p, "uint64_t run;");
    if (p->k->shared) vc_line(p, "%s_shared own;", p->name);
    declare_vars(p, f->vars, true, NULL);
    p->indent--;
    vc_line(p, "} %s_kept;", p->name);
    print_start(p);
    vc_open(p, "static void %s_block(hgv_launch *launch, const hgv_block *block)", p->name);
    vc_line(p, "const uint64_t begin = block->begin, end = block->end;");
    vc_line(p, "enum { FEW = %d / sizeof(%s_kept) };", (int)MOST_ON_STACK, p->name);
    vc_line(p, "%s_kept few[FEW + !FEW];", p->name);
    vc_line(p, "const uint32_t turns = hgv_turns(launch, end - begin);");
    vc_line(p, "const uint32_t row = launch->block[0], rows = launch->block[1];");
    vc_line(p,
            "%s_kept *const all = FEW > 0 && turns <= FEW ? few : launch->memory(launch, turns * "
            "sizeof *all);",
            p->name);
    vc_line(p, "if (!all) return;");
    if (p->k->shared || vec_reads_unset(f)) vc_line(p, "memset(all, 0, turns * sizeof *all);");
    vc_line(p, "bool started = false, intact = end - begin == hgv_block_lanes(launch) && row %% "
               "HGV_LANES == 0;");
    vc_line(p, "(void)row, (void)rows, (void)started, (void)intact;");
    vc_line(p, "hgv_begin_block(launch);");
}

/* Operations on limbs that the launch brings. */
static void call_ready(vc_printer *p, const vec_function *f) {
    unsigned ids[4] = {0};
    for (uint8_t i = 0; i < f->array_count; i++) ids[i] = f->array_params[i]->id;
    vc_open(p, "if (launch->wide)");
    vc_line(p,
            "launch->wide(launch, %u, (uint64_t *)x%u, (const uint64_t *)x%u, (const uint64_t "
            "*)x%u, %s%.0u, %u, HGV_LANES, run);",
            (unsigned)f->limbs_op, ids[0], ids[1], ids[2],
            f->array_count > 3 ? "(const uint64_t *)x" : "0", ids[3],
            (unsigned)f->array_params[0]->length);
    vc_line(p, "return;");
    vc_close(p);
}

static void open_turn(vc_printer *p) {
    if (p->k->shared)
        vc_line(p, "%s_shared own = {0}, *const shared = &own;", p->name);
    else
        vc_line(p, "void *const shared = 0;");
    vc_line(p, "(void)shared;");
}

/* The question of WHOLE, and the turns in which all goes well; the lane behind them. */
static void print_whole(vc_printer *p, const vec_function *f, const vec_value *whole) {
    vc_open(p, "static bool %s_well(hgv_launch *launch, const uint64_t begin, const uint64_t end)",
            p->name);
    declare_memory(p, f);
    vc_line(p, "(void)begin, (void)end;");
    print_body(p, whole->body[0]);
    vc_close(p);
    p->settled = p->all_run = true;
    vc_open(p, "static uint64_t %s_turns(hgv_launch *launch, uint64_t first, const uint64_t end)",
            p->name);
    declare_memory(p, f);
    vc_line(p, "const uint64_t run = HGV_ALL;");
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->op == VEC_INPUT && v->uses && v->parent->owner != whole) input(p, v);
    vc_open(p, "for (; first < end%s; first += HGV_LANES)",
            vec_asks_time(f) ? " && !launch->stopped" : "");
    vc_line(p, "(void)run;");
    open_turn(p);
    declare_vars(p, f->vars, false, NULL);
    print_body(p, f->body);
    vc_line(p, "over: __attribute__((unused));");
    vc_close(p);
    vc_line(p, "return first;");
    vc_close(p);
    leave_settled(p);
}

static void print_function(vc_printer *p, vec_function *f) {
    bool turn = f == p->k->functions;
    p->f = f;
    p->inst = 0;
    vec_count_uses(f);
    p->mask_bytes = vec_common_size(f);
    hg_free(p->widths);
    hg_free(p->checks);
    hg_free(p->splats);
    p->widths = vec_find_widths(f, p->mask_bytes);
    p->checks = hg_calloc((size_t)f->value_count + 1, sizeof *p->checks);
    p->splats = hg_calloc((size_t)f->value_count + 1, sizeof *p->splats);
    if (!p->widths || !p->checks || !p->splats) {
        p->out->failed = true;
        return;
    }
    vc_find_splats(p);
    p->indent = 0;
    const vec_value *whole = turn ? vec_whole_of(p->k) : NULL;
    if (whole) print_whole(p, f, whole);
    p->inst = 0;
    if (turn && p->k->blocks) {
        open_block(p, f);
    } else if (turn) {
        vc_open(p, "%s void %s_turn(hgv_launch *launch, const uint64_t first, uint64_t run)",
                whole ? "static __attribute__((noinline))" : "HGV_FN", p->name);
        open_turn(p);
    } else {
        open_function(p, f);
    }
    if (f->limbs_op != KIR_OP_COUNT) call_ready(p, f);
    p->limit_count = 0;
    if (turn || f->masked) {
        declare_memory(p, f);
        vc_declare_limits(p);
    }
    declare_vars(p, f->vars, false, NULL);
    print_body(p, f->body);
    vc_close(p);
    hg_text_addf(p->out, "\n");
}

static void print_results(vc_printer *p) {
    static const char *const types[] = {"u8", "u16", "u32", "u64", "f32", "f64", "b32"};
    static const uint32_t sizes[] = {1, 2, 4, 8, 4, 8, 4};
    for (size_t i = 0; i < HG_COUNT_OF(types); i++)
        vc_line(p, "typedef struct hgv_r_%s { hgv_%s p[%u]; } hgv_r_%s;", types[i], types[i],
                (unsigned)vc_parts(p, sizes[i]), types[i]);
    hg_text_addf(p->out, "\n");
}

/* Elements by their bits: floats have values that C has no literals for. */
static void print_table(vc_printer *p, const kir_table *t) {
    uint64_t size = kir_type_bytes(t->type);
    const uint8_t *data = t->data;
    hg_text_addf(p->out, "static const uint%u_t %s_t%u[%u] = {", (unsigned)size * 8, p->name,
                 (unsigned)t->id, (unsigned)t->length);
    for (uint32_t i = 0; i < t->length; i++) {
        uint64_t bits = 0;
        for (uint64_t k = 0; k < size; k++) bits |= (uint64_t)data[i * size + k] << (8 * k);
        hg_text_addf(p->out, i % 6 == 0 ? "\n    " : " ");
        hg_text_addf(p->out, "UINT64_C(%llu),", (unsigned long long)bits);
    }
    hg_text_addf(p->out, "\n};\n");
}

/* Behind the last turn, before anybody else looks. */
static void end_streams(vc_printer *p) {
    const uint32_t from = vec_streams_from(p->k);
    if (from)
        hg_text_addf(p->out, "    if (launch->lanes >= %u) hgv_past_end();\n", (unsigned)from);
}

static void print_blocks(vc_printer *p) {
    hg_text_addf(p->out,
                 "%svoid %s(hgv_launch *launch, uint64_t begin, uint64_t end) {\n"
                 "    (void)%s_sites;\n"
                 "    for (hgv_block block = hgv_first_block(launch, begin, end); block.begin < "
                 "end; hgv_next_block(launch, &block, end)) {\n"
                 "        %s_block(launch, &block);\n"
                 "        if (launch->stopped || (launch->faulted && launch->phase == 0)) break;\n"
                 "    }\n",
                 p->local ? "static " : "", p->name, p->name, p->name);
    end_streams(p);
    hg_text_add(p->out, "}\n\n", 3);
}

static void print_kernel(vc_printer *p) {
    hg_text body = {0}, *out = p->out;
    p->out = &body;
    HG_VEC(vec_function *) order = {0};
    for (vec_function *f = p->k->functions; f; f = f->next) {
        vec_function **slot = hg_vec_push(&order);
        if (slot)
            *slot = f;
        else
            body.failed = true;
    }
    for (uint64_t i = order.count; i-- > 0;) print_function(p, order.data[i]); /* callees first */
    hg_vec_free(&order);
    p->out = out;
    p->indent = 0;
    for (const kir_table *t = p->k->module->tables; t; t = t->next) print_table(p, t);
    if (p->k->shared) {
        vc_open(p, "typedef struct %s_shared", p->name);
        declare_vars(p, p->k->shared, false, NULL);
        p->indent--;
        vc_line(p, "} %s_shared;", p->name);
    }
    hg_text_addf(out, "/* vector form %016llx */\n", (unsigned long long)vec_hash(p->k));
    hg_text_addf(out, "static const hgv_site %s_sites[] = {\n", p->name);
    hg_text_add(out, p->sites.data ? p->sites.data : "    {0},\n",
                p->sites.data ? p->sites.length : sizeof "    {0},\n" - 1);
    hg_text_addf(out, "};\n\n");
    hg_text_add(out, body.data ? body.data : "", body.length);
    out->failed = out->failed || body.failed;
    hg_text_free(&body);
    hg_text_free(&p->sites);
    hg_free(p->widths);
    hg_free(p->checks);
    hg_free(p->splats);
    if (!p->local)
        hg_text_addf(out, "void %s(hgv_launch *launch, uint64_t begin, uint64_t end);\n", p->name);
    if (p->k->blocks) {
        print_blocks(p);
        return;
    }
    hg_text well = {0}; /* as many turns as there are, else half as many, and so on */
    if (vec_whole_of(p->k))
        hg_text_addf(&well,
                     "    for (uint64_t n = hgv_fewer(end - first, end - first); n && "
                     "!launch->stopped; n = hgv_fewer(n / 2, end - first))\n"
                     "        if (%s_well(launch, first, first + n)) first = %s_turns(launch, "
                     "first, first + n);\n",
                     p->name, p->name);
    hg_text_addf(out,
                 "%svoid %s(hgv_launch *launch, uint64_t begin, uint64_t end) {\n"
                 "    uint64_t first = begin;\n"
                 "    (void)%s_sites;\n"
                 "%s"
                 "    for (; end - first >= HGV_LANES && !launch->stopped; first += HGV_LANES) "
                 "%s_turn(launch, first, HGV_ALL);\n"
                 "    if (first < end && !launch->stopped) %s_turn(launch, first, (UINT64_C(1) << "
                 "(end - first)) - 1);\n",
                 p->local ? "static " : "", p->name, p->name, well.data ? well.data : "", p->name,
                 p->name);
    end_streams(p);
    hg_text_add(out, "}\n\n", 3);
    hg_text_free(&well);
}

/* names: of static functions; NULL: the kernels' own, external. */
static hg_status print_kernels(vec_kernel *const *kernels, const char *const *names, uint32_t count,
                               uint32_t vector_bytes, hg_text *out) {
    for (uint32_t i = 0; i < count; i++) {
        char name[96];
        emit_kernel_name(kernels[i]->module, name);
        vc_printer p = {.out = out,
                        .k = kernels[i],
                        .name = names ? names[i] : name,
                        .bytes = vector_bytes,
                        .local = names != NULL};
        if (i == 0) print_results(&p);
        print_kernel(&p);
        if (p.unsupported)
            return hg_fail(HG_ERROR_ISA, "no C text for '%s': %s", kernels[i]->module->name,
                           p.unsupported);
    }
    return out->failed ? hg_fail_memory() : HG_OK;
}

hg_status emit_vector_c(vec_kernel *const *kernels, uint32_t count, uint32_t vector_bytes,
                        const char *about, hg_text *out) {
    hg_text_addf(out,
                 "/* Written by hologram.\n%s */\n#define HGV_LANES %u\n#define HGV_BYTES "
                 "%u\n#include <hologram/vector.h>\n\n",
                 about, count ? (unsigned)kernels[0]->lanes : 1u, (unsigned)vector_bytes);
    return print_kernels(kernels, NULL, count, vector_bytes, out);
}

hg_status emit_vector_c_local(vec_kernel *const *kernels, const char *const *names, uint32_t count,
                              uint32_t vector_bytes, hg_text *out) {
    return print_kernels(kernels, names, count, vector_bytes, out);
}

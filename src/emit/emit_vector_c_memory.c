/* Memory operations and faults of the vector form in C.
 * Must not know: values' primitives, control flow. */
#include "emit/emit_vector_c.h"
#include "vector/stretch.h"

#include <inttypes.h>
#include <string.h>
#include <stdio.h>

/* ---- sites ---- */

static int input_of(const vc_printer *p, const vec_value *v) {
    const kir_slot *slot = vec_slot_of(p->k, v);
    return slot && !slot->constant ? (int)slot->input : -1;
}
static uint64_t handle_of(const vc_printer *p, const vec_value *v) {
    const kir_slot *slot = vec_slot_of(p->k, v);
    return slot && slot->constant ? slot->handle : 0;
}

static uint32_t new_site(vc_printer *p, const vec_value *v, uint8_t code) {
    bool place = vec_op_has((vec_op)v->op, VEC_F_PLACE);
    hg_text_addf(&p->sites, "    {%u, %u, %u, %u, %u, %u, %d, ", (unsigned)code,
                 (unsigned)(place ? v->u.mem.operand : v->u.fault.operand),
                 place ? (unsigned)v->u.mem.pool : 0u, place ? 0u : (unsigned)v->u.fault.values,
                 v->inst ? (unsigned)v->inst - 1 : 0u, place ? (unsigned)v->u.mem.size : 0u,
                 place ? input_of(p, v) : -1);
    if (place || !v->u.fault.message) {
        hg_text_addf(&p->sites, "0, UINT64_C(%" PRIu64 "), 0},\n", place ? handle_of(p, v) : 0);
    } else {
        hg_text_addf(&p->sites, "\"");
        for (const char *c = v->u.fault.message; *c; c++)
            hg_text_addf(&p->sites, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        hg_text_addf(&p->sites, "\", 0, 0},\n");
    }
    return p->site_count++;
}

void vc_lose(vc_printer *p, const vec_value *v, const char *gone) {
    for (uint8_t k = 0; k < v->loses.count; k++)
        for (uint32_t i = 0; i < vc_parts(p, p->mask_bytes); i++)
            vc_line(p, "%s_%u &= ~hgv_lanes_%s(%s >> %u);", vc_var(v->loses.vars[k]).text,
                    (unsigned)i, vc_mask_type(p->mask_bytes), gone,
                    (unsigned)(i * vc_part_lanes(p, p->mask_bytes)));
}

void vc_end(vc_printer *p, const vec_value *v, const char *gone) {
    vc_line(p, "run &= ~%s;", gone);
    if (vc_in_block(p)) vc_line(p, "intact = false;");
    if (p->f != p->k->functions) vc_line(p, "*ended |= %s;", gone);
    vc_lose(p, v, gone);
}

/* ---- places ---- */

static void base_name(hg_text *out, const vec_value *v) {
    if (v->u.mem.open) {
        hg_text_addf(out, "hgv_base(launch, handle[i], %s, %s, &at[i])",
                     v->u.mem.pool ? "true" : "false",
                     v->u.mem.space == KIR_FLAT ? "true" : "false");
        return;
    }
    if (v->u.mem.space == KIR_CLASS)
        hg_text_addf(out, "(base_class + %u)", (unsigned)v->u.mem.class_id * VEC_CLASS_BYTES);
    else if (v->u.mem.space == KIR_SHARED)
        hg_text_addf(out, "base_shared");
    else
        hg_text_addf(out, "base_%u", (unsigned)v->u.mem.slot);
}

/* "base_0 + (s12 + UINT64_C(4))": of the first lane, or of all. */
static void address(const vc_printer *p, hg_text *out, const vec_value *v) {
    base_name(out, v);
    if (v->u.mem.has_index && !v->args[0]->each) {
        hg_text_addf(out, " + (");
        vc_one(p, out, v->args[0]);
        hg_text_addf(out, v->u.mem.disp ? " + UINT64_C(%" PRIu64 "))" : ")",
                     (uint64_t)v->u.mem.disp);
    } else if (v->u.mem.disp) {
        hg_text_addf(out, " + UINT64_C(%" PRIu64 ")", (uint64_t)v->u.mem.disp);
    }
}

/* An array `at` of each lane's index. */
static void indices(vc_printer *p, const vec_value *v) {
    if (v->u.mem.open) {
        vc_spill(p, "handle", v->args[0]);
        if (v->u.mem.has_index)
            vc_spill(p, "at", v->args[1]);
        else
            vc_line(p, "uint64_t at[HGV_LANES] = {0};");
        return;
    }
    if (v->u.mem.has_index && v->args[0]->each) {
        vc_spill(p, "at", v->args[0]);
        return;
    }
    hg_text first = {0};
    if (v->u.mem.has_index)
        vc_one(p, &first, v->args[0]);
    else
        hg_text_addf(&first, "0");
    int64_t stride = v->u.mem.reach == VEC_REACH_ROW   ? (int64_t)v->u.mem.bytes
                     : v->u.mem.reach == VEC_REACH_ONE ? 0
                                                       : v->u.mem.stride;
    vc_line(p, "uint64_t at[HGV_LANES];");
    vc_line(p, "for (unsigned i = 0; i < HGV_LANES; i++) at[i] = %s + i * UINT64_C(%" PRIu64 ");",
            first.data ? first.data : "", (uint64_t)stride);
    hg_text_free(&first);
}

static const char *short_of_bytes(uint8_t bytes) {
    return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}

static void declare_parts(vc_printer *p, const vec_value *v) {
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "hgv_%s v%u_%u;", vc_type(p, v), (unsigned)v->id, (unsigned)i);
}

/* The text of the mask's bits, which the caller frees. */
static hg_text bits_of(const vc_printer *p, const vec_value *v) {
    hg_text bits = {0};
    vc_bits(p, &bits, v->mask);
    return bits;
}

/* ---- check ---- */

static void memory_size(hg_text *out, const vec_value *v) {
    if (v->u.mem.space == KIR_CLASS)
        hg_text_addf(out, "size_class");
    else if (v->u.mem.space == KIR_SHARED)
        hg_text_addf(out, "size_shared");
    else
        hg_text_addf(out, "size_%u", (unsigned)v->u.mem.slot);
}

static bool is_same_memory(const vec_value *a, const vec_value *b) {
    if (a->u.mem.space == KIR_CLASS || a->u.mem.space == KIR_SHARED)
        return a->u.mem.space == b->u.mem.space;
    return b->u.mem.space != KIR_CLASS && b->u.mem.space != KIR_SHARED &&
           a->u.mem.slot == b->u.mem.slot;
}

/* The number of a limit; the count of all: there is none. */
static uint32_t limit_of(const vc_printer *p, const vec_value *v, int64_t high) {
    uint32_t i = 0;
    while (i < p->limit_count && !(p->limits[i].high == high && is_same_memory(p->limits[i].of, v)))
        i++;
    return i;
}

void vc_declare_limits(vc_printer *p) {
    int64_t low = 0, high = 0;
    p->limit_count = 0;
    for (const vec_value *v = vec_walk(NULL, p->f->body); v; v = vec_walk(v, p->f->body)) {
        if (v->op != VEC_CHECK || v->u.mem.open || (v->u.mem.has_index && v->args[0]->each) ||
            !vec_reach_of_all(p->k, v, &low, &high) || high <= 0 ||
            limit_of(p, v, high) < p->limit_count || p->limit_count == VC_MOST_LIMITS)
            continue;
        hg_text size = {0};
        memory_size(&size, v);
        vc_line(p, "const uint64_t limit_%u = hgv_limit(%s, %" PRId64 ");",
                (unsigned)p->limit_count, size.data ? size.data : "", high);
        vc_line(p, "(void)limit_%u;", (unsigned)p->limit_count);
        p->limits[p->limit_count++] = (vc_limit){v, high};
        hg_text_free(&size);
    }
}

/* Whether the places that follow from the first lane's are in bounds. */
static void fits_text(vc_printer *p, hg_text *text, const vec_value *v, int64_t low, int64_t high) {
    const uint32_t limit = low < 0 ? p->limit_count : limit_of(p, v, high);
    hg_text index = {0};
    if (v->u.mem.has_index)
        vc_one(p, &index, v->args[0]);
    else
        hg_text_addf(&index, "0");
    if (limit < p->limit_count) {
        hg_text_addf(text, "(%s < limit_%u)", index.data ? index.data : "", (unsigned)limit);
    } else {
        hg_text_addf(text, "hgv_fits(");
        memory_size(text, v);
        hg_text_addf(text, ", %s, INT64_C(%" PRId64 "), INT64_C(%" PRId64 "))",
                     index.data ? index.data : "", low, high);
    }
    hg_text_free(&index);
}

static void fits(vc_printer *p, const vec_value *v) {
    int64_t low = 0, high = 0;
    hg_text text = {0};
    if (!v->u.mem.open && vec_reach_of(p->k, v, &low, &high) &&
        !(v->u.mem.has_index && v->args[0]->each))
        fits_text(p, &text, v, low, high);
    else
        hg_text_addf(&text, "false");
    vc_line(p, "const bool s%u = %s;", (unsigned)v->id, text.data ? text.data : "");
    hg_text_free(&text);
}

static void size(vc_printer *p, const vec_value *v) {
    hg_text text = {0};
    memory_size(&text, v);
    vc_line(p, "const uint64_t s%u = %s;", (unsigned)v->id, text.data ? text.data : "");
    hg_text_free(&text);
}

static void declare_there(vc_printer *p, const vec_value *load) {
    vc_line(p, "%s s%u;", vc_scalar(load->type), (unsigned)load->id);
    if (p->splats[load->id]) vc_line(p, "hgv_%s e%u;", vc_short(load->type), (unsigned)load->id);
}

/* bits: of lanes, if one of them that runs is there; "": all is well. */
static void load_there(vc_printer *p, const vec_value *load, const char *bits) {
    hg_text at = {0}, all = {0};
    address(p, &at, load);
    vc_line(p, "s%u = %s%s%shgs_load_%s(%s)%s;", (unsigned)load->id, *bits ? "(" : "", bits,
            *bits ? " & run) ? " : "", vc_short(load->type), at.data ? at.data : "",
            *bits ? " : 0" : "");
    if (p->splats[load->id]) {
        vc_part(p, &all, load, (uint32_t)kir_type_bytes(load->type), 0);
        vc_line(p, "e%u = %s;", (unsigned)load->id, all.data ? all.data : "");
    }
    hg_text_free(&at);
    hg_text_free(&all);
}

/* "if (some lane may be outside) {"; load: as load_behind, or NULL. */
static void open_if_outside(vc_printer *p, const vec_value *v, const vec_value *load) {
    int64_t low = 0, high = 0;
    hg_text text = {0};
    if (!vec_reach_of_all(p->k, v, &low, &high)) {
        vc_block(p);
        return;
    }
    if (load) {
        fits_text(p, &text, v, low, high);
        vc_open(p, "if (HGV_LIKELY(%s))", text.data ? text.data : "");
        load_there(p, load, "");
        vc_close(p);
        vc_open(p, "else");
        hg_text_free(&text);
        return;
    }
    if (!v->u.mem.has_index || !v->args[0]->each) {
        hg_text_addf(&text, "!");
        fits_text(p, &text, v, low, high);
    } else {
        if (v->u.mem.end) {
            memory_size(&text, v);
            hg_text_addf(&text, " < UINT64_C(%" PRIu64 ") && ", v->u.mem.end);
        }
        hg_text_addf(&text, "hgv_any_b64(");
        for (uint32_t i = 0; i < vc_parts(p, 8); i++) {
            hg_text_addf(&text, i ? " | (hgv_outside(v%u_%u, " : "(hgv_outside(v%u_%u, ",
                         (unsigned)v->args[0]->id, (unsigned)i);
            memory_size(&text, v);
            hg_text_addf(&text, ", INT64_C(%" PRId64 "), INT64_C(%" PRId64 "))", low, high);
            if (v->mask) {
                hg_text_addf(&text, " & ");
                vc_part(p, &text, v->mask, 8, i);
            }
            hg_text_addf(&text, ")");
        }
        hg_text_addf(&text, ")");
    }
    vc_open(p, "if (HGV_UNLIKELY(%s))", text.data ? text.data : "");
    hg_text_free(&text);
}

static const char *truth(bool is) { return is ? "true" : "false"; }

static void check_open(vc_printer *p, const vec_value *v) {
    hg_text bits = bits_of(p, v);
    uint32_t site = new_site(p, v, 1);
    vc_block(p);
    indices(p, v);
    vc_line(p, "const uint64_t here = %s & run;", bits.data ? bits.data : "");
    vc_line(p,
            "const uint64_t gone = here & ~hgv_check_open(launch, &%s_sites[%u], %s, first, "
            "handle, at, INT64_C(%" PRId64 "), here);",
            p->name, (unsigned)site, truth(v->u.mem.space == KIR_FLAT), v->u.mem.disp);
    vc_open(p, "if (HGV_UNLIKELY(gone))");
    vc_end(p, v, "gone");
    vc_close(p);
    vc_close(p);
    hg_text_free(&bits);
}

/* Where loads of one place may read behind their checks, without a question whether a lane is
 * there: at pN, without disp. */
static bool has_safe_place(const vc_printer *p, const vec_value *v) {
    enum { ZEROS_BYTES = 64 /* of hgv_zeros */ };
    int64_t low = 0, high = 0;
    return v->u.mem.reach == VEC_REACH_ONE && vec_reach_of_all(p->k, v, &low, &high) && low >= 0 &&
           high <= ZEROS_BYTES;
}

/* The load right behind a check that answers for no other: it is done in both branches of the
 * check, so that the usual one is an instruction. NULL: there is none. */
static const vec_value *load_behind(const vc_printer *p, const vec_value *v) {
    const vec_value *load = v->next;
    const bool is = load && load->op == VEC_LOAD && load->uses && load->u.mem.may.checked &&
                    vec_check_of(load) == v;
    return is && !v->u.mem.may.answers && has_safe_place(p, v) ? load : NULL;
}

/* Looks at the lanes that are there: of the mask of the CHECK that answers. */
static void check_lanes(vc_printer *p, const vec_value *v, const vec_value *by) {
    hg_text bits = bits_of(p, by);
    uint32_t site = new_site(p, v, 1);
    vc_block(p);
    vc_line(p, "const uint64_t here = %s & run;", bits.data ? bits.data : "");
    vc_line(p,
            "const uint64_t gone = here & ~hgv_check(launch, &%s_sites[%u], &memory, first, at, "
            "INT64_C(%" PRId64 "), here);",
            p->name, (unsigned)site, v->u.mem.disp);
    vc_end(p, v, "gone");
    vc_close(p);
    hg_text_free(&bits);
}

static void check(vc_printer *p, const vec_value *v) {
    if (p->checks[v->id].made) return; /* with one in front of it */
    if (v->u.mem.open) {
        check_open(p, v);
        return;
    }
    hg_text base = {0}, place = {0}, bits = {0};
    const vec_value *load = load_behind(p, v);
    const bool safe = !load && has_safe_place(p, v);
    base_name(&base, v);
    if (v->u.mem.has_index && !v->args[0]->each) vc_one(p, &place, v->args[0]);
    if (load) declare_there(p, load);
    if (safe)
        vc_line(p, "const uint8_t *p%u = %s + %s;", (unsigned)v->id, base.data ? base.data : "",
                place.data ? place.data : "0");
    open_if_outside(p, v, load);
    indices(p, v);
    if (v->u.mem.space == KIR_CLASS)
        vc_line(p, "const hgv_memory memory = {%s, size_class, launch->class_memory.valid};",
                base.data ? base.data : "");
    else if (v->u.mem.space == KIR_SHARED)
        vc_line(p, "const hgv_memory memory = {base_shared, size_shared, true};");
    else
        vc_line(p, "const hgv_memory memory = launch->slots[%u];", (unsigned)v->u.mem.slot);
    const vec_value *w = v;
    for (uint32_t i = 0; i <= v->u.mem.may.answers; i++, w = vec_next_answered(w)) {
        check_lanes(p, w, v);
        p->checks[w->id] = (vc_check){true, safe, load != NULL, v->id};
    }
    vc_bits(p, &bits, v->mask);
    if (load) load_there(p, load, bits.data ? bits.data : "");
    if (safe)
        vc_line(p, "if (!(%s & run)) p%u = hgv_zeros;", bits.data ? bits.data : "",
                (unsigned)v->id);
    vc_close(p);
    if (load) p->splats[load->id] |= VC_SPLAT_MADE;
    hg_text_free(&base);
    hg_text_free(&place);
    hg_text_free(&bits);
}

/* ---- load and store ---- */

enum { MOST_STRIDE = 1 << 24 };

static void load_one(vc_printer *p, const vec_value *v) {
    hg_text at = {0}, guard = {0};
    const vec_value *checked = v->u.mem.may.checked ? vec_check_of(v) : NULL;
    const vc_check *made = checked && !(p->settled && checked->settled) ? &p->checks[checked->id]
                                                                        : NULL;
    if (made && made->loaded) return;
    if (made && made->safe) {
        vc_line(p, "const %s s%u = hgs_load_%s(p%u + UINT64_C(%" PRIu64 "));", vc_scalar(v->type),
                (unsigned)v->id, vc_short(v->type), (unsigned)made->by, (uint64_t)v->u.mem.disp);
        return;
    }
    if (checked && !made) { /* settled */
        address(p, &at, v);
        vc_line(p, "const %s s%u = hgs_load_%s(%s);", vc_scalar(v->type), (unsigned)v->id,
                vc_short(v->type), at.data ? at.data : "");
        hg_text_free(&at);
        return;
    }
    address(p, &at, v);
    vc_bits(p, &guard, v->mask);
    vc_line(p, "const %s s%u = HGV_LIKELY(%s != 0) ? hgs_load_%s(%s) : 0;", vc_scalar(v->type),
            (unsigned)v->id, guard.data ? guard.data : "", vc_short(v->type),
            at.data ? at.data : "");
    hg_text_free(&at);
    hg_text_free(&guard);
}

/* The mask part i of a row's elements: of the value's mask, or of the lanes that run. */
static void row_mask(const vc_printer *p, hg_text *out, const vec_value *v, uint32_t size,
                     uint32_t i) {
    if (v->mask)
        vc_part(p, out, v->mask, size, i);
    else
        hg_text_addf(out, "hgv_lanes_%s(run >> %u)", vc_mask_type(size),
                     (unsigned)(i * vc_part_lanes(p, size)));
}

/* how: what the functions' names have behind load or store; "_where": with a mask. */
static void rows(vc_printer *p, const vec_value *v, const vec_value *stored, const char *how) {
    uint32_t size = v->u.mem.bytes, lanes = vc_part_lanes(p, size);
    const char *type = vc_short(stored ? stored->type : v->type);
    for (uint32_t i = 0; i < vc_parts(p, size); i++) {
        hg_text at = {0}, rest = {0};
        address(p, &at, v);
        if (i) hg_text_addf(&at, " + %u", (unsigned)(i * lanes * size));
        if (stored) {
            hg_text_addf(&rest, ", ");
            vc_part(p, &rest, stored, size, i);
        }
        if (strcmp(how, "_where") == 0) {
            hg_text_addf(&rest, ", ");
            row_mask(p, &rest, v, size, i);
        }
        if (stored)
            vc_line(p, "hgv_store%s_%s(%s%s);", how, type, at.data ? at.data : "",
                    rest.data ? rest.data : "");
        else
            vc_line(p, "v%u_%u = hgv_load%s_%s(%s%s);", (unsigned)v->id, (unsigned)i, how, type,
                    at.data ? at.data : "", rest.data ? rest.data : "");
        hg_text_free(&at);
        hg_text_free(&rest);
    }
}

static void masked_row(vc_printer *p, const vec_value *v, const vec_value *stored) {
    int64_t low = 0, high = 0;
    const bool asked = v->u.mem.may.fits && vec_reach_of(p->k, v, &low, &high);
    hg_text text = {0};
    if (asked) {
        fits_text(p, &text, v, low, high);
        vc_open(p, "if (HGV_LIKELY(%s))", text.data ? text.data : "");
        rows(p, v, stored, "");
        vc_close(p);
        vc_open(p, "else");
    }
    rows(p, v, stored, "_where");
    if (asked) vc_close(p);
    hg_text_free(&text);
}

static void row(vc_printer *p, const vec_value *v, const vec_value *stored) {
    const bool all = vc_is_all(p, v->mask);
    if (all && !(stored && v->u.mem.may.streams)) {
        rows(p, v, stored, !stored && v->uses > 1 ? "_once" : "");
        return;
    }
    if (v->mask && !all) {
        masked_row(p, v, stored);
        return;
    }
    if (stored && v->u.mem.may.streams) {
        vc_open(p, "if (HGV_UNLIKELY(launch->lanes >= %u) && run == HGV_ALL)",
                (unsigned)v->u.mem.may.streams);
        rows(p, v, stored, "_past");
        vc_close(p);
        vc_open(p, all ? "else" : "else if (HGV_LIKELY(run == HGV_ALL))");
    } else {
        vc_open(p, "if (HGV_LIKELY(run == HGV_ALL))");
    }
    rows(p, v, stored, "");
    vc_close(p);
    if (all) return;
    vc_open(p, "else");
    rows(p, v, stored, "_where");
    vc_close(p);
}

/* All lanes' elements, as far apart. */
static void strided(vc_printer *p, const vec_value *v) {
    uint32_t lanes = vc_part_lanes(p, v->u.mem.bytes);
    hg_text at = {0};
    address(p, &at, v);
    vc_line(p, "const uint8_t *const p = %s;", at.data ? at.data : "");
    for (uint32_t i = 0; i < vc_parts(p, v->u.mem.bytes); i++) {
        hg_text elements = {0};
        for (uint32_t n = 0; n < lanes; n++)
            hg_text_addf(&elements, "%shgs_load_%s(p + INT64_C(%" PRId64 "))", n ? ", " : "",
                         vc_short(v->type), (int64_t)(i * lanes + n) * v->u.mem.stride);
        vc_line(p, "v%u_%u = (hgv_%s){%s};", (unsigned)v->id, (unsigned)i, vc_type(p, v),
                elements.data ? elements.data : "");
        vc_line(p, "HGV_WHOLE_%u(v%u_%u);", 8u * v->u.mem.bytes, (unsigned)v->id, (unsigned)i);
        hg_text_free(&elements);
    }
    hg_text_free(&at);
}

/* Lane by lane. A store to one place: the last lane's stays. */
static void lanes_of(vc_printer *p, const vec_value *v, const vec_value *stored) {
    hg_text bits = bits_of(p, v), base = {0};
    base_name(&base, v);
    vc_block(p);
    indices(p, v);
    const char *type = stored ? vc_short(stored->type) : vc_short(v->type);
    if (stored)
        vc_spill(p, "value", stored);
    else
        vc_line(p, "%s value[HGV_LANES] = {0};", vc_scalar(v->type));
    vc_line(p, "const uint64_t here = %s;", bits.data ? bits.data : "");
    hg_text access = {0};
    hg_text_addf(
        &access,
        stored
            ? "uint8_t *const p = %s; hgs_store_%s(p + (at[i] + UINT64_C(%" PRIu64 ")), value[i]);"
            : "const uint8_t *const p = %s; value[i] = hgs_load_%s(p + (at[i] + UINT64_C(%" PRIu64
              ")));",
        base.data ? base.data : "", type, (uint64_t)v->u.mem.disp);
    vc_line(p, "if (HGV_LIKELY(here == HGV_ALL))");
    vc_line(p, "    for (unsigned i = 0; i < HGV_LANES; i++) { %s }",
            access.data ? access.data : "");
    vc_line(p, "else");
    vc_line(p, "    for (uint64_t rest = here; rest; rest &= rest - 1) {");
    vc_line(p, "        const unsigned i = (unsigned)__builtin_ctzll(rest);");
    vc_line(p, "        %s", access.data ? access.data : "");
    vc_line(p, "    }");
    if (!stored) vc_unspill(p, "value", v);
    vc_close(p);
    hg_text_free(&bits);
    hg_text_free(&base);
    hg_text_free(&access);
}

/* Vectors q0 … of a piece of a round: given ones, then those that are picked. */
static void pick_all(vc_printer *p, const vec_stretch *s, const char *type) {
    for (uint32_t n = 0; n < s->pick_count; n++) {
        const vec_pick *pick = &s->picks[n];
        hg_text numbers = {0};
        for (uint32_t i = 0; i < s->length; i++)
            hg_text_addf(&numbers, ", %u", (unsigned)pick->numbers[i]);
        vc_line(p, "const hgv_%s q%u = __builtin_shufflevector(q%u, q%u%s);", type,
                (unsigned)(s->count + n), (unsigned)pick->a, (unsigned)pick->b,
                numbers.data ? numbers.data : "");
        hg_text_free(&numbers);
    }
}

/* first: of the round. */
static void piece(vc_printer *p, const vec_value *first, const vec_stretch *s, uint64_t offset,
                  uint32_t k) {
    const vec_value *w = first;
    const uint32_t value = vec_place_args(first), size = first->u.mem.bytes;
    const bool loads = first->op == VEC_LOAD;
    const char *type = vc_short(loads ? first->type : first->args[value]->type);
    vc_block(p);
    for (uint32_t i = 0; i < s->count; i++, w = vec_next_member(w)) {
        hg_text given = {0};
        if (loads)
            hg_text_addf(&given, "hgv_load_%s(p + UINT64_C(%" PRIu64 "))", type,
                         offset + s->rows[i]);
        else
            vc_part(p, &given, w->args[value], size, k);
        vc_line(p, "const hgv_%s q%u = %s;", type, (unsigned)i, given.data ? given.data : "");
        hg_text_free(&given);
    }
    pick_all(p, s, type);
    w = first;
    for (uint32_t i = 0; i < s->count; i++, w = vec_next_member(w))
        if (loads)
            vc_line(p, "v%u_%u = q%u;", (unsigned)w->id, (unsigned)k,
                    (unsigned)(s->pick_count + i));
        else
            vc_line(p, "hgv_store_%s(p + UINT64_C(%" PRIu64 "), q%u);", type, offset + s->rows[i],
                    (unsigned)(s->pick_count + i));
    vc_close(p);
}

/* False: its vectors are not those of C. */
static bool stretch(vc_printer *p, const vec_value *v) {
    const vec_value *w = v;
    vec_stretch s;
    vec_plan_stretch(p->k, v, p->bytes, &s);
    if (s.length != vc_part_lanes(p, v->u.mem.bytes)) return false;
    for (uint32_t i = 0; v->op == VEC_LOAD && i < v->u.mem.may.stretch; i++, w = vec_next_member(w))
        declare_parts(p, w);
    hg_text at = {0};
    address(p, &at, v);
    vc_block(p);
    vc_line(p, v->op == VEC_LOAD ? "const uint8_t *const p = %s;" : "uint8_t *const p = %s;",
            at.data ? at.data : "");
    w = v;
    for (uint32_t round = 0; round < s.rounds; round++) {
        for (uint32_t k = 0; k < s.pieces; k++)
            piece(p, w, &s, round * s.by_round + k * s.by_piece, k);
        for (uint32_t i = 0; i < s.count; i++) w = vec_next_member(w);
    }
    vc_close(p);
    hg_text_free(&at);
    return true;
}

/* Whether the access is done with a stretch that it is in. */
static bool is_in_stretch(vc_printer *p, const vec_value *v) {
    if (p->in_stretch) {
        p->in_stretch--;
        return true;
    }
    bool holds = p->settled || vec_is_close(v);
    if (!v->u.mem.may.stretch || !holds || !vc_is_all(p, v->mask) || !stretch(p, v)) return false;
    p->in_stretch = v->u.mem.may.stretch - 1u;
    return true;
}

static void load(vc_printer *p, const vec_value *v) {
    if (is_in_stretch(p, v)) return;
    if (v->u.mem.reach == VEC_REACH_ONE) {
        load_one(p, v);
        return;
    }
    declare_parts(p, v);
    if (v->u.mem.reach == VEC_REACH_ROW) {
        row(p, v, NULL);
        return;
    }
    bool apart = v->u.mem.reach == VEC_REACH_STRIDE && v->u.mem.stride > -MOST_STRIDE &&
                 v->u.mem.stride < MOST_STRIDE;
    if (apart) {
        hg_text bits = bits_of(p, v);
        vc_open(p, "if (HGV_LIKELY(%s == HGV_ALL))", bits.data ? bits.data : "");
        strided(p, v);
        vc_close(p);
        vc_open(p, "else");
        hg_text_free(&bits);
    }
    lanes_of(p, v, NULL);
    if (apart) vc_close(p);
}

static void store(vc_printer *p, const vec_value *v) {
    const vec_value *stored = v->args[vec_place_args(v)];
    if (is_in_stretch(p, v)) return;
    if (v->u.mem.reach == VEC_REACH_ROW)
        row(p, v, stored);
    else
        lanes_of(p, v, stored);
}

/* ---- atomic, fault ---- */

/* Opens the branch in which there is no copy of the thread's own, behind what is done with one. */
static void open_unless_own(vc_printer *p, const vec_value *v, const char *base, const char *bits) {
    hg_text one = {0};
    hg_text_addf(
        &one,
        "hgv_combine_%s(%u, %s + (i %% 8) * spread + (at[i] + UINT64_C(%" PRIu64 ")), value[i]);",
        short_of_bytes(v->u.mem.bytes), (unsigned)v->u.mem.atomic, base, (uint64_t)v->u.mem.disp);
    vc_line(p, "const int64_t spread = launch->spread ? launch->spread[%u] : -1;",
            (unsigned)v->u.mem.slot);
    vc_line(p, "const uint64_t here = %s;", bits);
    vc_line(p, "uint64_t low = 0;");
    if (!v->u.mem.aligned)
        vc_line(p, "for (unsigned i = 0; i < HGV_LANES; i++) low |= at[i] + UINT64_C(%" PRIu64 ");",
                (uint64_t)v->u.mem.disp);
    vc_open(p, "if (HGV_LIKELY(spread >= 0 && low %% %u == 0 && here == HGV_ALL))",
            (unsigned)v->u.mem.bytes);
    vc_line(p, "for (unsigned i = 0; i < HGV_LANES; i++) %s", one.data ? one.data : "");
    vc_close(p);
    vc_open(p, "else if (spread >= 0 && low %% %u == 0)", (unsigned)v->u.mem.bytes);
    vc_open(p, "for (uint64_t rest = here; rest; rest &= rest - 1)");
    vc_line(p, "const unsigned i = (unsigned)__builtin_ctzll(rest);");
    vc_line(p, "%s", one.data ? one.data : "");
    vc_close(p);
    vc_close(p);
    vc_open(p, "else");
    hg_text_free(&one);
}

static void atomic(vc_printer *p, const vec_value *v) {
    hg_text bits = bits_of(p, v), base = {0};
    uint32_t site = new_site(p, v, 4), n = vec_place_args(v);
    bool two = v->nargs > n + 1, own = v->u.mem.may.combines;
    base_name(&base, v);
    if (!own) declare_parts(p, v);
    vc_block(p);
    indices(p, v);
    vc_spill(p, "value", v->args[n]);
    if (two) vc_spill(p, "second", v->args[n + 1]);
    if (own)
        open_unless_own(p, v, base.data ? base.data : "", bits.data ? bits.data : "");
    else
        vc_line(p, "%s old[HGV_LANES] = {0};", vc_scalar(v->type));
    vc_line(p, "uint64_t gone = 0;");
    vc_open(p, "for (uint64_t rest = %s; rest; rest &= rest - 1)", bits.data ? bits.data : "");
    vc_line(p, "const unsigned i = (unsigned)__builtin_ctzll(rest);");
    vc_line(p, "uint8_t *const p = %s;", base.data ? base.data : "");
    vc_line(p, "const uint64_t offset = at[i] + UINT64_C(%" PRIu64 ");", (uint64_t)v->u.mem.disp);
    vc_open(p, "if (HGV_UNLIKELY(offset %% %u))", (unsigned)v->u.mem.bytes);
    vc_line(p, "launch->fault(launch, &%s_sites[%u], first + i, &offset);", p->name,
            (unsigned)site);
    vc_line(p, "gone |= UINT64_C(1) << i;");
    vc_line(p, "continue;");
    vc_close(p);
    vc_line(p, "%shgv_%satomic_%s(%u, p + offset, value[i], %s);",
            own ? "(void)" : "old[i] = ", v->u.mem.space == KIR_SHARED ? "own_" : "",
            short_of_bytes(v->u.mem.bytes), (unsigned)v->u.mem.atomic, two ? "second[i]" : "0");
    vc_close(p);
    if (!own) vc_unspill(p, "old", v);
    vc_open(p, "if (HGV_UNLIKELY(gone))");
    vc_end(p, v, "gone");
    vc_close(p);
    if (own) vc_close(p);
    vc_close(p);
    hg_text_free(&bits);
    hg_text_free(&base);
}

static void fault_if(vc_printer *p, const vec_value *v) {
    hg_text bits = bits_of(p, v), condition = {0};
    uint32_t site = new_site(p, v, v->u.fault.code);
    vc_bits(p, &condition, v->args[0]);
    vc_block(p);
    vc_line(p, "const uint64_t gone = %s & %s & run;", condition.data ? condition.data : "",
            bits.data ? bits.data : "");
    vc_open(p, "if (HGV_UNLIKELY(gone))");
    vc_line(p, "uint64_t values[2] = {0, 0};");
    vc_line(p, "const unsigned i = (unsigned)__builtin_ctzll(gone);");
    for (uint8_t n = 1; n < v->nargs; n++) {
        char name[16];
        snprintf(name, sizeof name, "value_%u", (unsigned)n);
        vc_spill(p, name, v->args[n]);
        vc_line(p, "values[%u] = %s[i];", (unsigned)(n - 1), name);
    }
    vc_line(p, "launch->fault(launch, &%s_sites[%u], first + i, values);", p->name, (unsigned)site);
    vc_end(p, v, "gone");
    vc_close(p);
    vc_close(p);
    hg_text_free(&bits);
    hg_text_free(&condition);
}

void vc_memory(vc_printer *p, const vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_LOAD: load(p, v); break;
    case VEC_STORE: store(p, v); break;
    case VEC_CHECK: check(p, v); break;
    case VEC_FITS: fits(p, v); break;
    case VEC_SIZE: size(p, v); break;
    case VEC_ATOMIC: atomic(p, v); break;
    default: fault_if(p, v);
    }
}

/* Values of the vector form in C: names, parts, conversions between widths, primitives.
 * Must not know: memory, control flow. */
#include "emit/emit_vector_c.h"

#include <stdio.h>
#include <string.h>

const char *vc_short(uint8_t type) {
    int kind = kir_kind_of(type);
    return kind < 0 ? "?" : type == KIR_BOOL ? "bool" : kir_type_name(type);
}

const char *vc_scalar(uint8_t type) {
    static const char *const names[] = {"uint8_t",  "uint16_t", "uint32_t",
                                        "uint64_t", "float",    "double"};
    int kind = kir_kind_of(type);
    return type == KIR_BOOL ? "bool" : kind < 0 ? "void" : names[kind];
}

const char *vc_mask_type(uint32_t size) {
    return size == 1 ? "b8" : size == 2 ? "b16" : size == 4 ? "b32" : "b64";
}

uint32_t vc_size(const vc_printer *p, const vec_value *v) {
    return v->type == KIR_BOOL ? p->widths[v->id] : (uint32_t)kir_type_bytes(v->type);
}

const char *vc_type(const vc_printer *p, const vec_value *v) {
    return v->type == KIR_BOOL ? vc_mask_type(vc_size(p, v)) : vc_short(v->type);
}

/* ---- text of values ---- */

static void literal(hg_text *out, uint8_t type, uint64_t bits) {
    switch (type) {
    case KIR_BOOL: hg_text_addf(out, bits ? "true" : "false"); break;
    case HG_TYPE_F32:
        hg_text_addf(out, "hgs_of_bits_f32(0x%llxu)", (unsigned long long)bits);
        break;
    case HG_TYPE_F64:
        hg_text_addf(out, "hgs_of_bits_f64(UINT64_C(0x%llx))", (unsigned long long)bits);
        break;
    case HG_TYPE_U64: hg_text_addf(out, "UINT64_C(%llu)", (unsigned long long)bits); break;
    default: hg_text_addf(out, "(%s)%lluu", vc_scalar(type), (unsigned long long)bits);
    }
}

void vc_one(const vc_printer *p, hg_text *out, const vec_value *v) {
    (void)p;
    if (v->op == VEC_CONST)
        literal(out, v->type, v->u.imm);
    else
        hg_text_addf(out, "s%u", (unsigned)v->id);
}

static void shuffle(hg_text *out, const char *a, const char *b, uint32_t from, uint32_t count) {
    hg_text_addf(out, "__builtin_shufflevector(%s, %s", a, b);
    for (uint32_t i = 0; i < count; i++) hg_text_addf(out, ", %u", (unsigned)(from + i));
    hg_text_addf(out, ")");
}

typedef struct joining {
    const char *name, *cast, *to;
    uint32_t lanes; /* of a part */
} joining;

/* `count` parts (a power of two) from `first` on, converted to narrower elements, as one vector. */
static void join(const vc_printer *p, hg_text *out, const joining *x, uint32_t first,
                 uint32_t count) {
    if (count == 1) {
        hg_text_addf(out, "__builtin_convertvector(%s%s_%u, hgv_%s_%u)", x->cast, x->name,
                     (unsigned)first, x->to, (unsigned)x->lanes);
        return;
    }
    hg_text_addf(out, "__builtin_shufflevector(");
    join(p, out, x, first, count / 2);
    hg_text_addf(out, ", ");
    join(p, out, x, first + count / 2, count / 2);
    for (uint32_t n = 0; n < count * x->lanes; n++) hg_text_addf(out, ", %u", (unsigned)n);
    hg_text_addf(out, ")");
}

/* Part i of a vector of elements `to` from one of elements `from`, whose parts are called NAME_0 …;
 * cast: of the parts. */
static void convert(const vc_printer *p, hg_text *out, const char *name, const char *cast,
                    uint32_t from_size, const char *to, uint32_t to_size, uint32_t i) {
    uint32_t la = vc_part_lanes(p, from_size), lb = vc_part_lanes(p, to_size);
    char a[96];
    if (la >= lb) {
        uint32_t q = i * lb / la;
        snprintf(a, sizeof a, "%s%s_%u", cast, name, (unsigned)q);
        hg_text_addf(out, "__builtin_convertvector(");
        if (la == lb)
            hg_text_addf(out, "%s", a);
        else
            shuffle(out, a, a, i * lb % la, lb);
        hg_text_addf(out, ", hgv_%s)", to);
        return;
    }
    join(p, out, &(joining){name, cast, to, la}, i * (lb / la), lb / la);
}

static void value_name(char name[16], const vec_value *v) {
    snprintf(name, 16, "v%u", (unsigned)v->id);
}

static void splat(const vc_printer *p, hg_text *out, const vec_value *v, uint32_t size) {
    bool truth = v->type == KIR_BOOL;
    if (p->splats[v->id] & VC_SPLAT_MADE) {
        hg_text_addf(out, "e%u", (unsigned)v->id);
        return;
    }
    hg_text_addf(out, "(hgv_%s){", truth ? vc_mask_type(size) : vc_short(v->type));
    for (uint32_t n = 0; n < vc_part_lanes(p, size); n++) {
        if (n) hg_text_addf(out, ", ");
        if (truth) hg_text_addf(out, "-(int)");
        vc_one(p, out, v);
    }
    hg_text_addf(out, "}");
}

void vc_find_splats(vc_printer *p) {
    for (const vec_value *v = vec_walk(NULL, p->f->body); v; v = vec_walk(v, p->f->body)) {
        const bool stores = v->op == VEC_STORE;
        if (!stores && !(v->op == VEC_PRIM && v->each) && !(v->op == VEC_SET && v->u.var->each))
            continue;
        for (uint8_t n = stores ? vec_place_args(v) : 0; n < v->nargs; n++) {
            const vec_value *a = v->args[n];
            const bool amount = v->op == VEC_PRIM && n == 1 && v->type != a->type &&
                                kir_op_has((kir_op)v->prim, KIR_F_SHIFTS);
            if (!a->each && !amount && a->op != VEC_CONST && a->type != KIR_BOOL)
                p->splats[a->id] |= VC_SPLAT_USED;
        }
    }
}

void vc_splat(vc_printer *p, const vec_value *v) {
    hg_text text = {0};
    if (p->splats[v->id] != VC_SPLAT_USED) return;
    splat(p, &text, v, (uint32_t)kir_type_bytes(v->type));
    vc_line(p, "const hgv_%s e%u = %s;", vc_short(v->type), (unsigned)v->id,
            text.data ? text.data : "");
    p->splats[v->id] |= VC_SPLAT_MADE;
    hg_text_free(&text);
}

void vc_part(const vc_printer *p, hg_text *out, const vec_value *v, uint32_t size, uint32_t i) {
    char name[16];
    if (!v->each) {
        splat(p, out, v, size);
        return;
    }
    value_name(name, v);
    if (v->type == KIR_BOOL && vc_size(p, v) != size)
        convert(p, out, name, "", vc_size(p, v), vc_mask_type(size), size, i);
    else
        hg_text_addf(out, "%s_%u", name, (unsigned)i);
}

bool vc_is_all(const vc_printer *p, const vec_value *mask) {
    return p->all_run && (!mask || (mask->each && vec_has_all_lanes(mask)));
}

void vc_bits(const vc_printer *p, hg_text *out, const vec_value *mask) {
    if (vc_is_all(p, mask)) {
        hg_text_addf(out, "HGV_ALL");
        return;
    }
    if (!mask) {
        hg_text_addf(out, "run");
        return;
    }
    if (!mask->each) {
        hg_text_addf(out, "(");
        vc_one(p, out, mask);
        hg_text_addf(out, " ? HGV_ALL : 0)");
        return;
    }
    uint32_t size = vc_size(p, mask);
    hg_text_addf(out, "(");
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        hg_text_addf(out, "%shgv_bits_%s(v%u_%u) << %u", i ? " | " : "", vc_mask_type(size),
                     (unsigned)mask->id, (unsigned)i, (unsigned)(i * vc_part_lanes(p, size)));
    hg_text_addf(out, ")");
}

/* ---- through memory ---- */

void vc_spill(vc_printer *p, const char *name, const vec_value *v) {
    uint32_t size = v->type == KIR_BOOL ? 1 : (uint32_t)kir_type_bytes(v->type);
    vc_line(p, "%s %s[HGV_LANES];", v->type == KIR_BOOL ? "int8_t" : vc_scalar(v->type), name);
    for (uint32_t i = 0; i < vc_parts(p, size); i++) {
        hg_text part = {0};
        vc_part(p, &part, v, size, i);
        vc_line(p, "hgv_store_%s((uint8_t *)(%s + %u), (hgv_%s)%s);",
                v->type == KIR_BOOL ? "u8" : vc_short(v->type), name,
                (unsigned)(i * vc_part_lanes(p, size)),
                v->type == KIR_BOOL ? "u8" : vc_short(v->type), part.data ? part.data : "");
        hg_text_free(&part);
    }
}

void vc_unspill(vc_printer *p, const char *name, const vec_value *v) {
    uint32_t size = (uint32_t)kir_type_bytes(v->type);
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        vc_line(p, "v%u_%u = hgv_load_%s((const uint8_t *)(%s + %u));", (unsigned)v->id,
                (unsigned)i, vc_short(v->type), name, (unsigned)(i * vc_part_lanes(p, size)));
}

/* ---- primitives ---- */

/* From array to array, by a function of all lanes or of one. */
static void through_arrays(vc_printer *p, const vec_value *v, const char *function, bool all) {
    uint32_t size = (uint32_t)kir_type_bytes(v->type);
    for (uint32_t i = 0; i < vc_parts(p, size); i++)
        vc_line(p, "hgv_%s v%u_%u;", vc_short(v->type), (unsigned)v->id, (unsigned)i);
    vc_block(p);
    vc_spill(p, "from", v->args[0]);
    vc_line(p, "%s to[HGV_LANES];", vc_scalar(v->type));
    vc_line(p,
            all ? "%s(from, to);" : "for (unsigned i = 0; i < HGV_LANES; i++) to[i] = %s(from[i]);",
            function);
    vc_unspill(p, "to", v);
    vc_close(p);
}

static void one_name(hg_text *out, const vec_value *v) {
    const vec_value *a = v->args[0];
    const char *op = kir_op_name((kir_op)v->prim);
    switch ((kir_op)v->prim) {
    case KIR_SELECT: hg_text_addf(out, "hgs_select_%s", vc_short(v->type)); break;
    case KIR_U2F:
    case KIR_S2F:
        hg_text_addf(out, "hgs_%s_%s_%s", op, vc_short(v->type), vc_short(a->type));
        break;
    case KIR_F2U:
    case KIR_F2S:
        hg_text_addf(out, "hgs_%s_%s_%s", op, vc_short(v->type), vc_short(a->type));
        break;
    case KIR_H2F:
    case KIR_F2H:
    case KIR_B2F:
    case KIR_F2B: hg_text_addf(out, "hgs_%s", op); break;
    default: hg_text_addf(out, "hgs_%s_%s", op, vc_short(a->type));
    }
}

/* A conversion of one value that is no function; false: another. */
static bool one_cast(vc_printer *p, const vec_value *v, hg_text *text) {
    const vec_value *a = v->args[0];
    static const char *const of_signed[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    switch ((kir_op)v->prim) {
    case KIR_BITCAST:
        if (kir_type_is_float(v->type) == kir_type_is_float(a->type))
            vc_one(p, text, a);
        else {
            hg_text_addf(text, kir_type_is_float(v->type) ? "hgs_of_bits_%s(" : "hgs_bits_%s(",
                         vc_short(kir_type_is_float(v->type) ? v->type : a->type));
            vc_one(p, text, a);
            hg_text_addf(text, ")");
        }
        return true;
    case KIR_TRUNC:
        if (v->type == KIR_BOOL) hg_text_addf(text, "1 & ");
        hg_text_addf(text, "(%s)", v->type == KIR_BOOL ? vc_scalar(a->type) : vc_scalar(v->type));
        vc_one(p, text, a);
        return true;
    case KIR_ZEXT:
    case KIR_F2F:
        hg_text_addf(text, "(%s)", vc_scalar(v->type));
        vc_one(p, text, a);
        return true;
    case KIR_SEXT:
        if (a->type == KIR_BOOL)
            hg_text_addf(text, "(%s)-(int)", vc_scalar(v->type));
        else
            hg_text_addf(text, "(%s)(%s)(%s)", vc_scalar(v->type), of_signed[kir_kind_of(v->type)],
                         of_signed[kir_kind_of(a->type)]);
        vc_one(p, text, a);
        return true;
    default: return false;
    }
}

static void prim_of_one(vc_printer *p, const vec_value *v) {
    hg_text text = {0};
    if (!one_cast(p, v, &text)) {
        one_name(&text, v);
        hg_text_addf(&text, "(");
        for (uint8_t i = 0; i < v->nargs; i++) {
            if (i) hg_text_addf(&text, ", ");
            vc_one(p, &text, v->args[i]);
        }
        hg_text_addf(&text, ")");
    }
    vc_line(p, "const %s s%u = %s;", vc_scalar(v->type), (unsigned)v->id,
            text.data ? text.data : "");
    hg_text_free(&text);
}

/* Argument n of an operation on elements of `size` bytes. */
static void argument(const vc_printer *p, hg_text *text, const vec_value *v, uint8_t n,
                     uint32_t size, uint32_t i) {
    const vec_value *a = v->args[n];
    bool amount = n == 1 && kir_op_has((kir_op)v->prim, KIR_F_SHIFTS) &&
                  size != kir_type_bytes(a->type);
    if (!amount) {
        vc_part(p, text, a, size, i);
        return;
    }
    if (a->each) {
        char name[16];
        value_name(name, a);
        convert(p, text, name, "", 4, vc_short(v->type), size, i);
        return;
    }
    hg_text_addf(text, "(hgv_%s){", vc_short(v->type));
    for (uint32_t l = 0; l < vc_part_lanes(p, size); l++) {
        hg_text_addf(text, l ? ", (%s)" : "(%s)", vc_scalar(v->type));
        vc_one(p, text, a);
    }
    hg_text_addf(text, "}");
}

/* Elements of the same size all through. */
static void plain(vc_printer *p, const vec_value *v) {
    const vec_value *a = v->args[0];
    uint32_t size = v->prim == KIR_SELECT ? vc_size(p, v)
                    : a->type != KIR_BOOL ? (uint32_t)kir_type_bytes(a->type)
                                          : vc_size(p, v);
    const char *of = v->prim == KIR_SELECT ? vc_type(p, v)
                     : a->type == KIR_BOOL ? vc_mask_type(size)
                                           : vc_short(a->type);
    for (uint32_t i = 0; i < vc_parts(p, size); i++) {
        hg_text text = {0};
        for (uint8_t n = 0; n < v->nargs; n++) {
            if (n) hg_text_addf(&text, ", ");
            argument(p, &text, v, n, size, i);
        }
        vc_line(p, "const hgv_%s v%u_%u = hgv_%s_%s(%s);", vc_type(p, v), (unsigned)v->id,
                (unsigned)i, kir_op_name((kir_op)v->prim), of, text.data ? text.data : "");
        hg_text_free(&text);
    }
}

/* A conversion between element sizes, or of the same size by reinterpretation. */
static void cast(vc_printer *p, const vec_value *v) {
    const vec_value *a = v->args[0];
    uint32_t size = vc_size(p, v),
             from = a->type == KIR_BOOL ? size : (uint32_t)kir_type_bytes(a->type);
    char name[16];
    value_name(name, a);
    for (uint32_t i = 0; i < vc_parts(p, v->type == KIR_BOOL ? from : size); i++) {
        hg_text text = {0};
        if (v->type == KIR_BOOL) {
            hg_text_addf(&text, "(hgv_%s)((", vc_mask_type(from));
            vc_part(p, &text, a, from, i);
            hg_text_addf(&text, " & 1) != 0)");
        } else if (a->type == KIR_BOOL) {
            hg_text_addf(&text, "(hgv_%s)(", vc_short(v->type));
            vc_part(p, &text, a, size, i);
            hg_text_addf(&text, v->prim == KIR_ZEXT ? " & 1)" : ")");
        } else if (v->prim == KIR_S2F) {
            char via[16];
            snprintf(via, sizeof via, "(hgv_i%u)", (unsigned)(from * 8));
            convert(p, &text, name, via, from, vc_short(v->type), size, i);
        } else if (v->prim == KIR_U2F) {
            convert(p, &text, name, "", from, vc_short(v->type), size, i);
        } else if (v->prim == KIR_BITCAST || from == size) {
            hg_text_addf(&text, "(hgv_%s)", vc_short(v->type));
            vc_part(p, &text, a, from, i);
        } else if (v->prim == KIR_SEXT) {
            char to[8], via[16];
            snprintf(to, sizeof to, "i%u", (unsigned)(size * 8));
            snprintf(via, sizeof via, "(hgv_i%u)", (unsigned)(from * 8));
            hg_text_addf(&text, "(hgv_%s)", vc_short(v->type));
            convert(p, &text, name, via, from, to, size, i);
        } else {
            convert(p, &text, name, "", from, vc_short(v->type), size, i);
        }
        vc_line(p, "const hgv_%s v%u_%u = %s;", vc_type(p, v), (unsigned)v->id, (unsigned)i,
                text.data ? text.data : "");
        hg_text_free(&text);
    }
}

/* F2U, F2S to integers as wide as the floats. */
static void same_size(vc_printer *p, const vec_value *v) {
    for (uint32_t i = 0; i < vc_parts(p, vc_size(p, v)); i++)
        vc_line(p, "const hgv_%s v%u_%u = hgv_%s_%s_%s(v%u_%u);", vc_short(v->type),
                (unsigned)v->id, (unsigned)i, kir_op_name((kir_op)v->prim), vc_short(v->type),
                vc_short(v->args[0]->type), (unsigned)v->args[0]->id, (unsigned)i);
}

void vc_exchange(vc_printer *p, const vec_value *v) {
    uint32_t size = vc_size(p, v), count = vc_parts(p, size), bits = 8 * size;
    hg_text parts = {0}, by = {0};
    for (uint32_t i = 0; i < count; i++) {
        hg_text_addf(&parts, "%s(hgv_u%u)", i ? ", " : "", (unsigned)bits);
        vc_part(p, &parts, v->args[0], size, i);
    }
    vc_one(p, &by, v->args[1]);
    for (uint32_t i = 0; i < count; i++)
        vc_line(p,
                "const hgv_%s v%u_%u = (hgv_%s)hgv_exchange_u%u((const hgv_u%u[]){%s}, "
                "(uint32_t)%s, %u);",
                vc_type(p, v), (unsigned)v->id, (unsigned)i, vc_type(p, v), (unsigned)bits,
                (unsigned)bits, parts.data ? parts.data : "", by.data ? by.data : "", (unsigned)i);
    hg_text_free(&parts);
    hg_text_free(&by);
}

/* Part i begins within a part of both arguments, one behind the other, and ends in the next. */
void vc_slide(vc_printer *p, const vec_value *v) {
    const uint32_t size = vc_size(p, v), count = vc_parts(p, size), n = vc_part_lanes(p, size);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = (count + i) * n - (uint32_t)v->u.imm;
        hg_text parts[2] = {{0}, {0}}, made = {0};
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t k = first / n + j < 2 * count ? first / n + j : first / n;
            vc_part(p, &parts[j], v->args[k < count], size, k % count);
            if (!parts[j].data) made.failed = true;
        }
        if (!made.failed) shuffle(&made, parts[0].data, parts[1].data, first % n, n);
        vc_line(p, "const hgv_%s v%u_%u = %s;", vc_type(p, v), (unsigned)v->id, (unsigned)i,
                made.data ? made.data : "");
        p->out->failed = p->out->failed || made.failed;
        for (uint32_t j = 0; j < 2; j++) hg_text_free(&parts[j]);
        hg_text_free(&made);
    }
}

void vc_pick(vc_printer *p, const vec_value *v) {
    const vec_value *from = v->args[0];
    const uint32_t size = vc_size(p, from), n = vc_part_lanes(p, size), lane = (uint32_t)v->u.imm;
    vc_line(p, "const %s s%u = v%u_%u[%u];", vc_scalar(v->type), (unsigned)v->id,
            (unsigned)from->id, (unsigned)(lane / n), (unsigned)(lane % n));
}

void vc_prim(vc_printer *p, const vec_value *v) {
    hg_text name = {0};
    if (!v->each) {
        prim_of_one(p, v);
        return;
    }
    switch ((kir_op)v->prim) {
    case KIR_BITCAST:
    case KIR_ZEXT:
    case KIR_SEXT:
    case KIR_TRUNC:
    case KIR_F2F:
    case KIR_U2F:
    case KIR_S2F: cast(p, v); return;
    case KIR_F2U:
    case KIR_F2S:
        one_name(&name, v);
        if (kir_type_bytes(v->type) == kir_type_bytes(v->args[0]->type))
            same_size(p, v);
        else
            through_arrays(p, v, name.data ? name.data : "", false);
        hg_text_free(&name);
        return;
    case KIR_H2F:
    case KIR_F2H:
    case KIR_B2F:
    case KIR_F2B:
        hg_text_addf(&name, "hgv_all_%s", kir_op_name((kir_op)v->prim));
        through_arrays(p, v, name.data ? name.data : "", true);
        hg_text_free(&name);
        return;
    default: plain(p, v);
    }
}

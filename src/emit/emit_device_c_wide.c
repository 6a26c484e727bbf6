/* Offsets into group memory, computed in 64 bits where 32 provably give the same: compilers then
 * see that neighbouring lanes touch neighbouring words. (PoCL 3.1, transpose of 16 x 16 tiles: 12.7
 * ms instead of 19.4 ms.) The places of such values are marked in their scratch; they are declared
 * as u64 and read as (u32).
 * Must not know: memory, control flow. */
#include "emit/emit_device_c_internal.h"
#include "kir/analysis/range.h"
#include <string.h>

static const char WANTED, WIDE; /* marks: an offset is computed from it; and is declared as u64 */

static bool arithmetic(const kir_value *v) {
    if (v->type != HG_TYPE_U32) return false;
    if (v->op == KIR_TRUNC) return v->args[0]->type == HG_TYPE_U64;
    return v->op == KIR_ADD || v->op == KIR_MUL ||
           (v->op == KIR_SHL && v->args[1]->op == KIR_CONST);
}

/* The largest value in 64 bits; UINT64_MAX where 32 bits may overflow. */
static uint64_t exact(const kir_value *v, const kir_range *ranges) {
    if (v->op == KIR_TRUNC)
        return ranges[v->args[0]->id].high <= UINT32_MAX ? ranges[v->args[0]->id].high : UINT64_MAX;
    uint64_t a = ranges[v->args[0]->id].high, b = v->op == KIR_SHL
                                                      ? UINT64_C(1) << (v->args[1]->u.imm & 31)
                                                      : ranges[v->args[1]->id].high;
    uint64_t result = v->op == KIR_ADD ? a + b : a * b; /* both are below 2^32 */
    return result <= UINT32_MAX ? result : UINT64_MAX;
}

static kir_range range_of(const kir_value *v, const kir_range *ranges) {
    if (v->op == KIR_CONST && (v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64))
        return kir_range_exactly(v->u.imm);
    if (v->op == KIR_ID && v->u.imm < KIR_DEVICE_ID_COUNT &&
        kir_device_id_part((kir_device_id)v->u.imm) == KIR_DEVICE_LOCAL)
        return (kir_range){0, HG_MAX_BLOCK_LANES - 1};
    if (v->type == KIR_VOID || !kir_is_integer_value(v)) return kir_range_full(v->type);
    kir_range args[3];
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = ranges[v->args[i]->id];
    return kir_range_of(v, args);
}

static void want(kir_value *v) {
    if (!v->scratch) v->scratch = (void *)(uintptr_t)&WANTED;
}

bool emit_device_c_widen(const kir_function *f, bool widen) {
    kir_range *ranges = hg_calloc((size_t)f->value_count + 1, sizeof *ranges);
    kir_value **values = hg_calloc((size_t)f->value_count + 1, sizeof *values);
    for (kir_value *v = kir_walk(NULL, f->body); v && ranges && values; v = kir_walk(v, f->body)) {
        v->scratch = NULL;
        values[v->id] = v;
        ranges[v->id] = range_of(v, ranges);
        bool access = v->op == KIR_LOAD || v->op == KIR_STORE || v->op == KIR_ATOMIC;
        if (widen && access && v->u.mem.space == KIR_SHARED && v->u.mem.slot == KIR_OPEN)
            want(v->args[0]);
    }
    for (uint32_t i = f->value_count; i-- > 0 && ranges && values;) { /* users before what they use
                                                                       */
        kir_value *v = values[i];
        if (v && v->scratch == &WANTED && v->type == HG_TYPE_U64 &&
            (v->op == KIR_ADD || v->op == KIR_ZEXT)) { /* as they are */
            for (uint8_t k = 0; k < v->nargs; k++) want(v->args[k]);
            continue;
        }
        if (!v || v->scratch != &WANTED || !arithmetic(v) || exact(v, ranges) == UINT64_MAX)
            continue;
        v->scratch = (void *)(uintptr_t)&WIDE;
        want(v->args[0]);
        if (v->op == KIR_ADD || v->op == KIR_MUL) want(v->args[1]);
    }
    bool ok = ranges && values;
    hg_free(ranges);
    hg_free(values);
    return ok;
}

bool emit_device_c_is_wide(const kir_value *v) { return v->scratch == &WIDE; }

void emit_device_c_wide_name(c_printer *p, const kir_value *v) {
    if (v->op == KIR_CONST) {
        emit_c_literal(p, p->out, HG_TYPE_U64, v->u.imm);
    } else if (emit_device_c_is_wide(v) || v->type == HG_TYPE_U64) {
        hg_text_addf(p->out, "v%u", (unsigned)v->id);
    } else {
        hg_text_addf(p->out, "(%s)", emit_c_type(p, HG_TYPE_U64));
        emit_c_name(p, v);
    }
}

/* "const ulong v48 = (ulong)v11 * 17ul;" */
bool emit_device_c_wide_statement(c_printer *p, const kir_value *v) {
    bool longer = v->op == KIR_ZEXT && v->uses && emit_device_c_is_wide(v->args[0]);
    if (!longer && (!emit_device_c_is_wide(v) || !v->uses)) return false;
    emit_c_line(p);
    hg_text_addf(p->out, "const %s v%u = ", emit_c_type(p, HG_TYPE_U64), (unsigned)v->id);
    emit_device_c_wide_name(p, v->args[0]);
    if (longer || v->op == KIR_TRUNC) {
        hg_text_addf(p->out, ";\n");
    } else if (v->op == KIR_SHL) {
        hg_text_addf(p->out, " << %u;\n", (unsigned)(v->args[1]->u.imm & 31));
    } else {
        hg_text_addf(p->out, v->op == KIR_ADD ? " + " : " * ");
        emit_device_c_wide_name(p, v->args[1]);
        hg_text_addf(p->out, ";\n");
    }
    return true;
}

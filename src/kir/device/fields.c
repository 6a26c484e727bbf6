/* The launch record of a device form: fields made when first read, slots that the form adds, lane
 * and block ids. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <string.h>

/* ---- fields ---- */

static const char *name_of(device *d, const kir_field *f) {
    static const char *const NAMES[] = {
        "in",    "base",  "limit", "shared_limit", "shared_bytes", "size",
        "count", "first", "lanes", "block_dim",    "grid_dim",     "digit",
        "box",   "table", "fuel",  "arenas",       "zero"};
    static const bool INDEXED[] = {true, true, true, false, false, true,  false, false, false,
                                   true, true, true, true,  true,  false, false, false};
    _Static_assert(HG_COUNT_OF(NAMES) == KIR_FIELD_ZERO + 1 &&
                       HG_COUNT_OF(INDEXED) == KIR_FIELD_ZERO + 1,
                   "a name for each field");
    hg_text text = {0};
    const char *own = f->kind == KIR_FIELD_INPUT ? d->in->inputs.data[f->index].name : NULL,
               *name = NULL;
    if (own)
        hg_text_addf(&text, "%s", own);
    else
        hg_text_addf(&text, "%s", NAMES[f->kind]);
    if (!own && INDEXED[f->kind]) hg_text_addf(&text, "%u", (unsigned)f->index);
    if (f->reach) hg_text_addf(&text, "_%llu", (unsigned long long)f->reach);
    if (f->high) hg_text_addf(&text, "_high");
    if (!text.failed) name = hg_arena_text(&d->out->arena, text.data, text.length);
    hg_text_free(&text);
    return name;
}

static uint32_t field(device *d, kir_field f, uint8_t type) {
    for (uint64_t i = 0; i < d->layout->fields.count; i++) {
        const kir_field *have = &d->layout->fields.data[i];
        if (have->kind == f.kind && have->high == f.high && have->index == f.index &&
            have->reach == f.reach && d->out->inputs.data[i].type == type)
            return (uint32_t)i;
    }
    kir_field *field = hg_vec_push(&d->layout->fields);
    kir_input *input = field ? hg_vec_push(&d->out->inputs) : NULL;
    if (!input) {
        d->layout->fields.count -= field != NULL; /* both lists stay in step */
        d->failed = true;
        return 0;
    }
    *field = f;
    uint32_t number = (uint32_t)d->out->inputs.count - 1;
    *input = (kir_input){.kind = KIR_INPUT_FIELD, .type = type, .name = name_of(d, &f)};
    if (!input->name) d->failed = true;
    return number;
}

static kir_value *read_field(kir_builder *b, uint8_t type, uint32_t number) {
    kir_value *v = kir_emit(b, KIR_INPUT, type, 0, NULL);
    v->u.imm = number;
    return v;
}

kir_value *device_field32(device *d, kir_builder *b, kir_field_kind kind, uint32_t index) {
    if (kind == KIR_FIELD_BLOCK_DIM && d->block && d->options->block[0])
        return u32(b, d->options->block[index]);
    return read_field(b, HG_TYPE_U32,
                      field(d, (kir_field){.kind = (uint8_t)kind, .index = index}, HG_TYPE_U32));
}

device_wide device_field64(device *d, kir_builder *b, kir_field_kind kind, uint32_t index) {
    kir_field f = {.kind = (uint8_t)kind, .index = index};
    if (d->i64) return (device_wide){read_field(b, HG_TYPE_U64, field(d, f, HG_TYPE_U64)), NULL};
    uint32_t low = field(d, f, HG_TYPE_U32);
    f.high = true;
    uint32_t high = field(d, f, HG_TYPE_U32);
    kir_value *l = read_field(b, HG_TYPE_U32, low);
    return (device_wide){l, read_field(b, HG_TYPE_U32, high)};
}

kir_value *device_limit(device *d, kir_builder *b, kir_field_kind kind, uint32_t index,
                        uint64_t reach) {
    uint8_t type = d->i64 ? HG_TYPE_U64 : HG_TYPE_U32;
    return read_field(
        b, type,
        field(d, (kir_field){.kind = (uint8_t)kind, .index = index, .reach = reach}, type));
}

/* An input of the legalised module in the type that it is read as. */
bool device_lower_input(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    if (!device_has(d, v, DEVICE_READ)) return true;
    kir_field f = {.kind = KIR_FIELD_INPUT, .index = (uint32_t)v->u.imm};
    uint8_t word = kir_type_bytes(v->type) == 8 ? HG_TYPE_U64 : HG_TYPE_U32;
    kir_value *x = read_field(b, word, field(d, f, word));
    if (v->type == KIR_BOOL)
        x = kir_not(b, is_zero(b, x));
    else if (kir_type_is_float(v->type))
        x = kir_convert(b, KIR_BITCAST, v->type, x);
    else if (v->type != word)
        x = kir_convert(b, KIR_TRUNC, v->type, x);
    rewrite_set(d->p, v, x);
    return true;
}

static kir_value *raw_id(kir_builder *b, kir_device_id id) {
    kir_value *v = kir_emit(b, KIR_ID, HG_TYPE_U32, 0, NULL);
    v->u.imm = id;
    return v;
}

/* A zero that the compiler does not know. Groups of the flat form lie in a plane (cut_flat of the
 * runtime), so that their third number is one, which costs no look at the record. */
static kir_value *opaque_zero(device *d, kir_builder *b) {
    if (!d->block && d->options->hide_results) return raw_id(b, KIR_ID_GROUP_Z);
    return device_field32(d, b, KIR_FIELD_ZERO, 0);
}

/* The bits of a float with those of a zero that the compiler does not know. */
static kir_value *hidden(device *d, kir_value *x) {
    kir_builder *b = &d->p->b;
    kir_value *zero = opaque_zero(d, b);
    if (x->type == HG_TYPE_F64) zero = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, zero);
    kir_value *bits = kir_binary(b, KIR_XOR, kir_convert(b, KIR_BITCAST, zero->type, x), zero);
    return kir_convert(b, KIR_BITCAST, x->type, bits);
}

bool device_hide(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    const kir_device_options *o = d->options;
    bool is_constant = v->op == KIR_CONST,
         has_zero = is_constant ? v->u.imm == 0 : v->op == KIR_FSUB && v->args[0] == v->args[1];
    kir_value *x, *args[3];
    if (!kir_type_is_float(v->type) || !(o->hide_results || (o->hide_zeros && has_zero)))
        return false;
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = rewrite_arg(d->p, v, i);
    if (is_constant)
        x = hidden(d, kir_const(b, v->type, v->u.imm));
    else if (has_zero)
        x = kir_sub(b, args[0], hidden(d, args[0]));
    else
        x = rewrite_copy_with(d->p, v, v->type, v->nargs, args);
    bool hides = o->hide_results && !is_constant && !device_has(d, v, DEVICE_BARE);
    rewrite_set(d->p, v, hides ? hidden(d, x) : x);
    return true;
}

/* u64 first, so that they lie at multiples of 8. */
hg_status device_lay_out(device *d) {
    uint32_t at = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < d->out->inputs.count; i++) {
            kir_input *input = &d->out->inputs.data[i];
            if ((input->type == HG_TYPE_U64) != (pass == 0)) continue;
            input->index = at;
            at += input->type == HG_TYPE_U64 ? 8 : 4;
        }
    d->layout->record_bytes = (at + 7) & ~UINT32_C(7);
    return HG_OK;
}

/* ---- slots ---- */

static int16_t *kind_slot(kir_device_layout *layout, kir_slot_kind kind) {
    switch (kind) {
    case KIR_SLOT_CLASS: return &layout->class_slot;
    case KIR_SLOT_FAULT: return &layout->fault_slot;
    case KIR_SLOT_TABLE: return &layout->table_slot;
    case KIR_SLOT_LOCKS: return &layout->locks_slot;
    case KIR_SLOT_SHARED: return &layout->shared_slot;
    default: return &layout->first_arena_slot;
    }
}

static int16_t add_slot(device *d, kir_slot_kind kind, uint32_t number) {
    kir_slot *slot = hg_vec_push(&d->out->slots);
    if (!slot) {
        d->failed = true;
        return 0;
    }
    *slot = (kir_slot){
        .space = KIR_BUFFER, .kind = (uint8_t)kind, .constant = true, .handle = number, .base = -1};
    return (int16_t)(d->out->slots.count - 1);
}

int16_t device_slot(device *d, kir_slot_kind kind, uint32_t number) {
    int16_t *place = kind_slot(d->layout, kind);
    if (*place < 0) {
        *place = add_slot(d, kind, 0);
        for (uint32_t i = 1; kind == KIR_SLOT_ARENA && i < d->options->target.max_arenas; i++)
            (void)add_slot(d, kind, i);
    }
    return (int16_t)(*place + (int16_t)number);
}

uint8_t device_slot_arena(const device *d, uint64_t slot) {
    const kir_slot *s = &d->out->slots.data[slot];
    if (s->kind == KIR_SLOT_ARENA) return (uint8_t)s->handle;
    return s->kind == KIR_SLOT_MEMORY ? d->options->slot_arenas[slot]
                                      : d->options->kind_arenas[s->kind];
}

void device_touch(device *d, int16_t slot, bool write) {
    if ((uint64_t)slot >= d->out->slots.count) return; /* there was no memory for it: d->failed */
    kir_slot *s = &d->out->slots.data[slot];
    if (write)
        s->written = true;
    else
        s->read = true;
    if (s->base >= 0 || s->kind == KIR_SLOT_ARENA) return;
    if (d->options->target.bind_arenas && device_slot_arena(d, (uint64_t)slot) & KIR_AT_START)
        return;
    kir_field f = {.kind = KIR_FIELD_BASE, .index = (uint32_t)slot};
    int32_t base = (int32_t)field(d, f, d->i64 ? HG_TYPE_U64 : HG_TYPE_U32);
    f.high = true;
    if (!d->i64 && d->options->target.addressed) (void)field(d, f, HG_TYPE_U32);
    d->out->slots.data[slot].base = base;
}

/* ---- ids ---- */

kir_value *device_order(device *d, kir_builder *b) {
    if (!d->block) return raw_id(b, KIR_ID_THREAD);
    return d->small ? dwide_low(d, b, device_lane(d, b)) : NULL;
}

/* Index of the invocation's group member in the block, folded lanes one after another at the
 * distance of the group. */
static kir_value *block_coordinate(device *d, kir_builder *b, uint32_t k) {
    if (d->options->fold <= 1) return raw_id(b, kir_device_id_of(KIR_DEVICE_LOCAL, k));
    kir_value *x = device_linear(d, b);
    for (uint32_t i = 0; i < k; i++)
        x = kir_binary(b, KIR_UDIV, x, device_field32(d, b, KIR_FIELD_BLOCK_DIM, i));
    return k == 2 ? x : kir_binary(b, KIR_UREM, x, device_field32(d, b, KIR_FIELD_BLOCK_DIM, k));
}

kir_value *device_linear(device *d, kir_builder *b) {
    if (d->options->fold > 1)
        return raw_id(b, KIR_DEVICE_ID_COUNT); /* becomes known when the lanes of an invocation are
                                                  numbered */
    kir_value *y = kir_mul(b, raw_id(b, KIR_ID_LOCAL_Z),
                           device_field32(d, b, KIR_FIELD_BLOCK_DIM, 1));
    y = kir_add(b, y, raw_id(b, KIR_ID_LOCAL_Y));
    return kir_add(b, kir_mul(b, y, device_field32(d, b, KIR_FIELD_BLOCK_DIM, 0)),
                   raw_id(b, KIR_ID_LOCAL_X));
}

/* FLAT: coordinates are digits of a number with mixed bases; the first lane's digits are given,
 * unless they are 0, and what is added to them carries. */
static kir_value *digit(device *d, kir_builder *b, uint32_t k) {
    kir_value *sum = raw_id(b, KIR_ID_THREAD);
    for (uint32_t i = 0;; i++) {
        kir_value *size = device_field32(d, b, i < 3 ? KIR_FIELD_BLOCK_DIM : KIR_FIELD_GRID_DIM,
                                         i % 3);
        if (!d->options->at_origin) sum = kir_add(b, sum, device_field32(d, b, KIR_FIELD_DIGIT, i));
        if (i == k) return k == 5 ? sum : kir_binary(b, KIR_UREM, sum, size);
        sum = kir_binary(b, KIR_UDIV, sum, size);
    }
}

static kir_value *block_index(device *d, kir_builder *b, uint32_t k) {
    if (!d->block) return digit(d, b, 3 + k);
    kir_value *first = d->options->at_origin ? NULL : device_field32(d, b, KIR_FIELD_BOX, k);
    kir_value *group = raw_id(b, kir_device_id_of(KIR_DEVICE_GROUP, k));
    return first ? kir_add(b, first, group) : group;
}

/* x · y + z, y and z u32. */
static device_wide dwide_mul_add(const device *d, kir_builder *b, device_wide x, kir_value *y,
                                 kir_value *z) {
    device_wide product = dwide_mul32(d, b, x, y);
    return dwide_add(d, b, product, dwide_of_u32(d, b, z));
}

/* Below 2^32 when the launch is small, else exact. */
device_wide device_block_number(device *d, kir_builder *b) {
    device_wide n = {block_index(d, b, 2), NULL};
    if (!d->small) n = dwide_of_u32(d, b, n.l);
    for (uint32_t k = 2; k-- > 0;) {
        kir_value *size = device_field32(d, b, KIR_FIELD_GRID_DIM, k), *more = block_index(d, b, k);
        if (d->small)
            n.l = kir_add(b, kir_mul(b, n.l, size), more);
        else
            n = dwide_mul_add(d, b, n, size, more);
    }
    return d->small ? dwide_of_u32(d, b, n.l) : n;
}

kir_value *device_block_lanes(device *d, kir_builder *b) {
    kir_value *n = kir_mul(b, device_field32(d, b, KIR_FIELD_BLOCK_DIM, 0),
                           device_field32(d, b, KIR_FIELD_BLOCK_DIM, 1));
    return kir_mul(b, n, device_field32(d, b, KIR_FIELD_BLOCK_DIM, 2));
}

device_wide device_lane(device *d, kir_builder *b) {
    kir_value *inside = d->block ? device_linear(d, b) : raw_id(b, KIR_ID_THREAD);
    if (!d->block && d->options->at_origin) return dwide_of_u32(d, b, inside);
    if (!d->block) {
        if (d->small)
            return dwide_of_u32(d, b, kir_add(b, device_field32(d, b, KIR_FIELD_FIRST, 0), inside));
        device_wide first = device_field64(d, b, KIR_FIELD_FIRST, 0);
        return dwide_add(d, b, first, dwide_of_u32(d, b, inside));
    }
    device_wide block = device_block_number(d, b);
    if (d->small)
        return dwide_of_u32(
            d, b, kir_add(b, kir_mul(b, dwide_low(d, b, block), device_block_lanes(d, b)), inside));
    return dwide_mul_add(d, b, block, device_block_lanes(d, b), inside);
}

static device_wide make_id(device *d, kir_builder *b, uint32_t id) {
    device_wide x = {NULL, NULL};
    uint32_t axis = hg_idname_axis((hg_idname)id);
    switch (hg_idname_part((hg_idname)id)) {
    case HG_PART_GLOBAL_LANE_ID: return device_lane(d, b);
    case HG_PART_LANE_COUNT:
        if (d->small) return dwide_of_u32(d, b, device_field32(d, b, KIR_FIELD_LANES, 0));
        return device_field64(d, b, KIR_FIELD_LANES, 0);
    case HG_PART_GRID_DIM: x.l = device_field32(d, b, KIR_FIELD_GRID_DIM, axis); break;
    case HG_PART_BLOCK_DIM: x.l = device_field32(d, b, KIR_FIELD_BLOCK_DIM, axis); break;
    case HG_PART_BLOCK_IDX: x.l = block_index(d, b, axis); break;
    case HG_PART_LANE_IDX: x.l = d->block ? block_coordinate(d, b, axis) : digit(d, b, axis); break;
    }
    return x;
}

void device_prepare_ids(device *d, kir_builder *b, const kir_function *f) {
    bool used[HG_ID_COUNT] = {false};
    memset(d->at.ids, 0, sizeof d->at.ids);
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_ID) used[kir_id_name(v) % HG_ID_COUNT] = true;
    for (uint32_t i = 0; i < HG_ID_COUNT; i++)
        if (used[i]) d->at.ids[i] = make_id(d, b, i);
}

void device_lower_id(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    hg_idname id = kir_id_name(v);
    device_wide x = d->at.ids[id];
    bool is_wide = id == HG_ID_GLOBAL_LANE_ID || id == HG_ID_LANE_COUNT;
    kir_value *value;
    if (!is_wide)
        value = v->u.imm & KIR_ID_HIGH ? u32(b, 0) : x.l;
    else if (v->type == HG_TYPE_U64)
        value = x.l;
    else
        value = v->u.imm & KIR_ID_HIGH ? dwide_high(d, b, x) : dwide_low(d, b, x);
    if (value->type != v->type && !b->failed) value = kir_convert(b, KIR_ZEXT, v->type, value);
    rewrite_set(d->p, v, value);
}

static bool names_coordinate(hg_idname id) {
    return hg_idname_part(id) == HG_PART_LANE_IDX || hg_idname_part(id) == HG_PART_BLOCK_IDX;
}

bool kir_device_wants_blocks(const kir_module *in) {
    for (const kir_function *f = in->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_ID && names_coordinate(kir_id_name(v))) return true;
    return false;
}

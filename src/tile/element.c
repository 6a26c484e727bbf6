/* Finds the handler of an instruction on whole arrays, or builds and compiles the kernel `out[i] = fn(in[i], …)`.
 * Must not know: threads. */
#include "tile/element.h"
#include <string.h>

/* ---- the kernel ---- */

static bool is_half(hg_type type) { return type == HG_TYPE_F16 || type == HG_TYPE_BF16; }

static kir_value *divide(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    bool is_signed = hg_type_is_signed(type);
    kir_fault_if(b, kir_binary(b, KIR_CMP_EQ, a[1], kir_const(b, a[1]->type, 0)), KIR_FAULT_DIVISION, 3, "division by zero");
    if (fn == HG_OP_DIV) return kir_binary(b, is_signed ? KIR_SDIV : KIR_UDIV, a[0], a[1]);
    return kir_binary(b, is_signed ? KIR_SREM : KIR_UREM, a[0], a[1]);
}

/* As the kernel builder does for the instruction of the same name, on types that are not half. */
static kir_value *operate(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    bool real = hg_type_is_float(type);
    switch (fn) {
    case HG_OP_ADD: return kir_add(b, a[0], a[1]);
    case HG_OP_SUB: return kir_sub(b, a[0], a[1]);
    case HG_OP_MUL: return kir_mul(b, a[0], a[1]);
    case HG_OP_DIV:
        if (real) return kir_binary(b, KIR_FDIV, a[0], a[1]);
        return divide(b, fn, type, a);
    case HG_OP_REM:
        if (!real) return divide(b, fn, type, a);
        break;
    case HG_OP_FMA: return real ? kir_ffma(b, a[0], a[1], a[2]) : kir_add(b, kir_mul(b, a[0], a[1]), a[2]);
    case HG_OP_AND: return kir_binary(b, KIR_AND, a[0], a[1]);
    case HG_OP_OR: return kir_binary(b, KIR_OR, a[0], a[1]);
    case HG_OP_XOR: return kir_binary(b, KIR_XOR, a[0], a[1]);
    case HG_OP_SQRT: return kir_unary(b, KIR_FSQRT, a[0]);
    case HG_OP_FLOOR: return real ? kir_unary(b, KIR_FFLOOR, a[0]) : a[0];
    case HG_OP_TRUNC: return real ? kir_unary(b, KIR_FTRUNC, a[0]) : a[0];
    default: break;
    }
    if (kir_define_is_small(fn, type)) return kir_define(b, fn, type, a);
    return kir_derived(b, fn, type, kir_define_args(fn), a);
}

static kir_value *operate_half(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a, uint8_t nin) {
    if (fn == HG_OP_ABS) return kir_binary(b, KIR_AND, a[0], kir_const(b, HG_TYPE_U16, 0x7FFF));
    if (fn == HG_OP_NEG) return kir_binary(b, KIR_XOR, a[0], kir_const(b, HG_TYPE_U16, 0x8000));
    kir_op up = type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, down = type == HG_TYPE_F16 ? KIR_F2H : KIR_F2B;
    kir_value *w[3] = {0};
    for (uint8_t i = 0; i < nin; i++) w[i] = kir_convert(b, up, HG_TYPE_F32, a[i]);
    return kir_convert(b, down, HG_TYPE_U16, operate(b, fn, HG_TYPE_F32, w));
}

static uint8_t argument_count(uint16_t fn) {
    switch (fn) {
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_REM:
    case HG_OP_AND:
    case HG_OP_OR:
    case HG_OP_XOR: return 2;
    case HG_OP_FMA: return 3;
    case HG_OP_SQRT:
    case HG_OP_FLOOR:
    case HG_OP_TRUNC: return 1;
    default: return kir_define_args(fn);
    }
}

static bool exists(uint16_t fn, hg_type type) {
    if (is_half(type)) type = HG_TYPE_F32;
    bool real = hg_type_is_float(type);
    switch (fn) {
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_FMA:
    case HG_OP_FLOOR:
    case HG_OP_TRUNC: return true;
    case HG_OP_REM: return !real || kir_define_exists(fn, type);
    case HG_OP_AND:
    case HG_OP_OR:
    case HG_OP_XOR: return !real;
    case HG_OP_SQRT: return real;
    default: return kir_define_exists(fn, type);
    }
}

static kir_value *handle_input(kir_builder *b, uint32_t i) {
    kir_input *input = hg_vec_push(&b->module->inputs);
    if (!input) {
        b->failed = true;
    } else {
        input->type = HG_TYPE_U64;
        input->is_buffer = true;
        input->index = i;
        input->reg = (uint8_t)i;
    }
    kir_value *v = kir_emit(b, KIR_INPUT, HG_TYPE_U64, 0, NULL);
    v->u.imm = i;
    return v;
}

static kir_value *access(kir_builder *b, kir_op op, uint8_t type, uint32_t slot, kir_value *index, kir_value *value) {
    kir_value *args[] = {handle_input(b, slot), index, value};
    kir_value *v = kir_emit(b, op, op == KIR_STORE ? (uint8_t)KIR_VOID : type, value ? 3 : 2, args);
    uint64_t size = kir_type_bytes(type);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.bytes = size <= 8 ? (uint8_t)size : 0;
    v->u.mem.bytes_wide = (uint16_t)size;
    v->u.mem.has_index = 1;
    v->u.mem.operand = (uint8_t)(slot + 1);
    v->u.mem.slot = KIR_OPEN;
    return v;
}

static kir_module *build(uint16_t fn, hg_type type, uint8_t nin) {
    kir_module *m = kir_module_create("map");
    if (!m) return NULL;
    kir_builder builder, *b = &builder;
    kir_builder_init(b, m, kir_function_create(m, "map", KIR_VOID));
    uint8_t kind = kir_type_of(type);
    kir_value *lane = kir_emit(b, KIR_ID, HG_TYPE_U64, 0, NULL), *a[3] = {0};
    lane->u.imm = HG_ID_GLOBAL_LANE_ID;
    kir_value *index = kir_mul(b, lane, kir_const(b, HG_TYPE_U64, hg_type_size_bytes(type)));
    for (uint8_t i = 0; i < nin; i++) a[i] = access(b, KIR_LOAD, kind, i, index, NULL);
    kir_value *r = is_half(type) ? operate_half(b, fn, type, a, nin) : operate(b, fn, type, a);
    access(b, KIR_STORE, kind, nin, index, r);
    if (!b->failed) return m;
    kir_module_destroy(m);
    return NULL;
}

static hg_status compile(const tile_options *options, uint16_t fn, hg_type type, uint8_t nin, tile_kernel **kernel) {
    kir_module *high = build(fn, type, nin), *low = NULL;
    if (!high) return hg_fail_memory();
    kir_caps caps;
    tile_caps(options->poor, &caps);
    hg_status status = kir_provenance(high);
    if (status == HG_OK) status = kir_legalise(high, &caps, &low);
    if (status == HG_OK) status = kir_simplify(low);
    if (status == HG_OK) {
        kir_shapes(low, false);
        tile_options plain = *options;
        plain.check_races = false;
        status = tile_compile(low, &plain, kernel);
    }
    kir_module_destroy(low);
    kir_module_destroy(high);
    return status;
}

static hg_status find_kernel(const tile_options *options, uint16_t fn, hg_type type, tile_element *e) {
    e->kernel = options->cache ? tile_cache_find(options->cache, fn, type) : NULL;
    e->cached = e->kernel != NULL;
    if (e->kernel) return HG_OK;
    HG_TRY(compile(options, fn, type, e->nin, &e->kernel));
    e->cached = options->cache && tile_cache_keep(options->cache, fn, type, &e->kernel);
    return HG_OK;
}

/* ---- handlers ---- */

static tile_fn *native_handler(const tile_handlers *h, uint16_t fn, hg_type type) {
    if (is_half(type)) return NULL;
    uint64_t size = hg_type_size_bytes(type);
    bool real = hg_type_is_float(type);
    if (size > 8) return NULL;
    int kind = real ? (type == HG_TYPE_F32 ? 4 : 5) : size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    kir_op op = KIR_CONST;
    switch (fn) {
    case HG_OP_ADD: op = real ? KIR_FADD : KIR_ADD; break;
    case HG_OP_SUB: op = real ? KIR_FSUB : KIR_SUB; break;
    case HG_OP_MUL: op = real ? KIR_FMUL : KIR_MUL; break;
    case HG_OP_AND: op = KIR_AND; break;
    case HG_OP_OR: op = KIR_OR; break;
    case HG_OP_XOR: op = KIR_XOR; break;
    default: break;
    }
    if (real && fn == HG_OP_DIV) op = KIR_FDIV;
    if (real && fn == HG_OP_SQRT) op = KIR_FSQRT;
    if (real && fn == HG_OP_FLOOR) op = KIR_FFLOOR;
    if (real && fn == HG_OP_TRUNC) op = KIR_FTRUNC;
    if (real && fn == HG_OP_FMA) op = KIR_FFMA;
    if (op != KIR_CONST) return h->op[op][kind][0];
    for (uint32_t i = 0; i < h->derived_count; i++)
        if (h->derived[i].fn == fn && h->derived[i].type == type && h->derived[i].variant == 0) return h->derived[i].run;
    return NULL;
}

hg_status tile_element_open(const tile_options *options, uint16_t fn, hg_type type, tile_element *e) {
    memset(e, 0, sizeof *e);
    if (!exists(fn, type))
        return hg_fail(HG_ERROR_ISA, "unsupported operation: %s for type %s", fn < HG_OP_COUNT ? hg_op_get((hg_op)fn)->text : "map",
                       hg_type_name(type));
    e->nin = argument_count(fn);
    e->size = hg_type_size_bytes(type);
    if (!options->poor) e->run = native_handler(tile_handlers_of(options->level), fn, type);
    return e->run ? HG_OK : find_kernel(options, fn, type, e);
}

hg_status tile_element_compile(const tile_options *options, uint16_t fn, hg_type type, tile_element *e) {
    e->run = NULL;
    return find_kernel(options, fn, type, e);
}

void tile_element_close(tile_element *e) {
    if (!e->cached) tile_kernel_destroy(e->kernel);
    e->kernel = NULL;
}

hg_status tile_element_run(const tile_element *e, uint64_t n, uint8_t *out, const uint8_t *const *in, uint32_t max_threads,
                           tile_fault *fault) {
    fault->happened = false;
    if (n == 0) return HG_OK;
    if (e->run) {
        e->run(out, in[0], e->nin > 1 ? in[1] : NULL, e->nin > 2 ? in[2] : NULL, n);
        return HG_OK;
    }
    uint64_t bytes, inputs[16] = {0}; /* handles, whole and in halves: all accesses go through slots */
    if (!hg_mul_u64(n, e->size, &bytes)) return hg_fail_memory();
    tile_memory slots[4] = {{0}};
    for (uint8_t i = 0; i < e->nin; i++) slots[i] = (tile_memory){(uint8_t *)(uintptr_t)in[i], bytes, true};
    slots[e->nin] = (tile_memory){out, bytes, true};
    tile_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .lanes = n, .inputs = inputs, .slots = slots, .max_threads = max_threads};
    return tile_run(e->kernel, &launch, fault);
}

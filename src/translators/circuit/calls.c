/* Calls of generators (6.7): names, checks, which classes each reads and writes. Must not know:
 * text, instructions. */
#include "isa/program.h"
#include "translators/circuit/circuit_internal.h"

#include <string.h>

static const char *const KINDS[HG_CIRCUIT_KIND_COUNT] = {
    "Mark",      "Quote",     "Evaluate",   "Copy",          "Swap",       "Merge",
    "Split",     "MarkRange", "QuoteRange", "EvaluateRange", "MergeRange", "ReduceSum",
    "ReduceMin", "ReduceMax", "Softmax",    "Scale",         "Fma"};
static const char *const VARIANTS[HG_CIRCUIT_VARIANT_COUNT] = {
    "add",  "mul",     "min",  "max",  "abs", "exp", "log",
    "sqrt", "sigmoid", "tanh", "gelu", "sub", "div"};

const char *hg_circuit_kind_name(uint32_t kind) {
    HG_ENTRY;
    return kind < HG_CIRCUIT_KIND_COUNT ? KINDS[kind] : NULL;
}
const char *hg_circuit_variant_name(uint32_t variant) {
    HG_ENTRY;
    return variant < HG_CIRCUIT_VARIANT_COUNT ? VARIANTS[variant] : NULL;
}
bool hg_variant_allows(uint8_t variant, hg_type type) {
    return hg_type_is_float(type) || variant <= HG_MERGE_ABS || variant == HG_SPLIT_SUB ||
           variant == HG_SPLIT_DIV;
}
bool hg_variant_is_unary(uint8_t variant) {
    return variant >= HG_MERGE_ABS && variant <= HG_MERGE_GELU;
}

static bool is_range(const hg_circuit_call *call) {
    return call->kind >= HG_CIRCUIT_MARK_RANGE && call->kind <= HG_CIRCUIT_MERGE_RANGE;
}
static bool is_reduction(const hg_circuit_call *call) {
    return call->kind >= HG_CIRCUIT_REDUCE_SUM && call->kind <= HG_CIRCUIT_SOFTMAX;
}

uint32_t hg_call_count(const hg_circuit_call *call) {
    return is_range(call) ? call->dst - call->src + 1u : 1;
}

hg_circuit_call hg_call_member(const hg_circuit_call *call, uint32_t i) {
    if (!is_range(call)) return *call;
    static const uint8_t SINGLE[] = {HG_CIRCUIT_MARK, HG_CIRCUIT_QUOTE, HG_CIRCUIT_EVALUATE,
                                     HG_CIRCUIT_MERGE};
    uint8_t cls = (uint8_t)(call->src + i), other = call->kind == HG_CIRCUIT_MERGE_RANGE ? cls : 0;
    return (hg_circuit_call){.kind = SINGLE[call->kind - HG_CIRCUIT_MARK_RANGE],
                             .variant = call->variant,
                             .src = cls,
                             .context = other,
                             .dst = other};
}

uint32_t hg_call_reads(const hg_circuit_call *call, uint8_t classes[3]) {
    classes[0] = call->src;
    switch (call->kind) {
    case HG_CIRCUIT_QUOTE:
    case HG_CIRCUIT_EVALUATE: return 0;
    case HG_CIRCUIT_SWAP: classes[1] = call->dst; return 2;
    case HG_CIRCUIT_MERGE:
    case HG_CIRCUIT_SPLIT:
        classes[1] = call->context;
        return hg_variant_is_unary(call->variant) ? 1 : 2;
    case HG_CIRCUIT_FMA:
        classes[1] = call->context;
        classes[2] = call->dst;
        return 3;
    default: return 1;
    }
}

uint32_t hg_call_writes(const hg_circuit_call *call, uint8_t classes[2]) {
    classes[0] = call->kind == HG_CIRCUIT_MARK ? call->src : call->dst;
    switch (call->kind) {
    case HG_CIRCUIT_QUOTE:
    case HG_CIRCUIT_EVALUATE: return 0;
    case HG_CIRCUIT_SWAP: classes[1] = call->src; return 2;
    default: return 1;
    }
}

/* ---- constants and types ---- */

uint32_t hg_circuit_class_elements(hg_type type) {
    HG_ENTRY;
    return (unsigned)type < HG_TYPE_COUNT
               ? (uint32_t)(HG_MAX_CLASS_BYTES / hg_type_size_bytes(type))
               : 0;
}

const char *hg_circuit_check_constant(hg_type type, const char *text, size_t length,
                                      char scratch[160]) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    const char *hint = NULL;
    return hg_parse_literal(text, length, type, bytes, scratch, &hint) ? scratch : NULL;
}

uint32_t hg_circuit_keep_constant(hg_circuit *circuit, const char *text, size_t length) {
    if (circuit->constants.count &&
        strlen(circuit->constants.data[circuit->constants.count - 1]) == length &&
        memcmp(circuit->constants.data[circuit->constants.count - 1], text, length) == 0)
        return (uint32_t)circuit->constants.count - 1; /* often the same again */
    char *copy = hg_alloc(length + 1), **slot = copy ? hg_vec_push(&circuit->constants) : NULL;
    if (!slot) {
        hg_free(copy);
        return UINT32_MAX;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    *slot = copy;
    return (uint32_t)circuit->constants.count - 1;
}

hg_status hg_circuit_constant(hg_circuit *circuit, const char *text, uint32_t *number) {
    HG_ENTRY;
    char message[160];
    if (!circuit) return hg_null_argument("circuit");
    if (!text) return hg_null_argument("text");
    if (!number) return hg_null_argument("number");
    if (hg_circuit_check_constant(circuit->type, text, strlen(text), message))
        return hg_fail(HG_ERROR_ISA, "%s", message);
    *number = hg_circuit_keep_constant(circuit, text, strlen(text));
    return *number == UINT32_MAX ? hg_fail_memory() : HG_OK;
}

hg_status hg_circuit_set_type(hg_circuit *circuit, const char *type) {
    HG_ENTRY;
    hg_type found = HG_TYPE_F32;
    if (!circuit) return hg_null_argument("circuit");
    if (!type) return hg_null_argument("type");
    if (!hg_type_from_name(type, strlen(type), &found))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%.40s' is no element type: f16 ... f64, i8 ... i4096, u8 ... u4096", type);
    if (circuit->calls.count || circuit->constants.count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the circuit has calls or constants: its type is set before them");
    circuit->type = found;
    return HG_OK;
}

/* ---- appending ---- */

static hg_status check_class(const char *what, uint32_t cls) {
    if (cls < HG_MAX_CLASSES) return HG_OK;
    return hg_fail(HG_ERROR_ISA, "Invalid %s: %u (must be < %d)", what, (unsigned)cls,
                   HG_MAX_CLASSES);
}

static bool names_dst(const hg_circuit_call *call) { return call->kind > HG_CIRCUIT_EVALUATE; }

static hg_status check_call(const hg_circuit *circuit, const hg_circuit_call *call) {
    if (call->kind >= HG_CIRCUIT_KIND_COUNT)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "no generator call has the kind %u", call->kind);
    HG_TRY(check_class(is_range(call)                  ? "start_class"
                       : call->kind == HG_CIRCUIT_SWAP ? "class_a"
                                                       : "src_class",
                       call->src));
    if (names_dst(call))
        HG_TRY(check_class(is_range(call)                  ? "end_class"
                           : call->kind == HG_CIRCUIT_SWAP ? "class_b"
                                                           : "dst_class",
                           call->dst));
    bool merge = call->kind == HG_CIRCUIT_MERGE || call->kind == HG_CIRCUIT_MERGE_RANGE,
         split = call->kind == HG_CIRCUIT_SPLIT;
    if ((merge && call->variant > HG_MERGE_GELU) ||
        (split && (call->variant < HG_SPLIT_SUB || call->variant > HG_SPLIT_DIV)))
        return hg_fail(HG_ERROR_ISA, "%s has no variant %u", KINDS[call->kind], call->variant);
    if (((call->kind == HG_CIRCUIT_MERGE || split) && !hg_variant_is_unary(call->variant)) ||
        call->kind == HG_CIRCUIT_FMA)
        HG_TRY(check_class("context_class", call->context));
    if (is_range(call) && call->src >= call->dst)
        return hg_fail(HG_ERROR_ISA, "Invalid range [%u..%u]: Start %u must be less than end %u",
                       call->src, call->dst, call->src, call->dst);
    uint32_t most = hg_circuit_class_elements(circuit->type);
    if (is_reduction(call) && call->n > most && call->n != HG_CIRCUIT_LANES)
        return hg_fail(HG_ERROR_ISA, "%s over %u elements: a class has %u", KINDS[call->kind],
                       (unsigned)call->n, (unsigned)most);
    if (call->kind == HG_CIRCUIT_SOFTMAX && !hg_type_is_float(circuit->type))
        return hg_fail(HG_ERROR_ISA, "Softmax is for floats, not for %s",
                       hg_type_name(circuit->type));
    if ((merge || split) && !hg_variant_allows(call->variant, circuit->type))
        return hg_fail(HG_ERROR_ISA, "variant %s is for floats, not for %s",
                       VARIANTS[call->variant], hg_type_name(circuit->type));
    if (call->kind == HG_CIRCUIT_SCALE && call->n >= circuit->constants.count)
        return hg_fail(HG_ERROR_ISA, "Scale by constant %u: the circuit has %llu",
                       (unsigned)call->n, (unsigned long long)circuit->constants.count);
    return HG_OK;
}

hg_status hg_circuit_append(hg_circuit *circuit, const hg_circuit_call *call) {
    HG_ENTRY;
    if (!circuit || !call) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "circuit or call is NULL");
    if (!circuit->compiled)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "the circuit is parsed only: compile it to append calls");
    HG_TRY(check_call(circuit, call));
    if (circuit->calls.count >= HG_MAX_INSTRUCTIONS)
        return hg_fail(HG_ERROR_ISA, "Circuit too long: at most %d calls are allowed",
                       HG_MAX_INSTRUCTIONS);
    hg_circuit_call *slot = hg_vec_push(&circuit->calls);
    if (!slot) return hg_fail_memory();
    *slot = *call;
    circuit->appended = true;
    circuit->original_ops++;
    circuit->canonical_ops++;
    return HG_OK;
}

/* ---- questions ---- */

/* Whether a call replaces every element that the launch's lanes see. */
static bool writes_all(const hg_circuit_call *call) {
    return !is_reduction(call) || (call->kind == HG_CIRCUIT_SOFTMAX && call->n == HG_CIRCUIT_LANES);
}

static void use_call(const hg_circuit_call *call, uint8_t *use, bool *replaced) {
    uint8_t classes[3];
    use[call->src] |= HG_CLASS_NAMED;
    if (names_dst(call)) use[call->dst] |= HG_CLASS_NAMED;
    if (call->kind == HG_CIRCUIT_MERGE || call->kind == HG_CIRCUIT_SPLIT ||
        call->kind == HG_CIRCUIT_FMA)
        if (call->context < HG_MAX_CLASSES) use[call->context] |= HG_CLASS_NAMED;
    uint32_t n = hg_call_reads(call, classes);
    for (uint32_t i = 0; i < n; i++)
        if (!replaced[classes[i]]) use[classes[i]] |= HG_CLASS_READ;
    n = hg_call_writes(call, classes);
    for (uint32_t i = 0; i < n; i++) {
        use[classes[i]] |= HG_CLASS_WRITTEN;
        if (writes_all(call)) replaced[classes[i]] = true;
    }
}

/* Nothing that a member of a range does to its class is new: texts of a few megabytes have a
 * hundred million members. */
static bool is_settled(const uint8_t *use, const bool *replaced, uint32_t cls) {
    return (use[cls] & HG_CLASS_NAMED) && (use[cls] & HG_CLASS_WRITTEN) &&
           ((use[cls] & HG_CLASS_READ) || replaced[cls]);
}

void hg_circuit_class_use(const hg_circuit *circuit, uint8_t use[HG_CIRCUIT_CLASSES]) {
    HG_ENTRY;
    bool replaced[HG_CIRCUIT_CLASSES] = {false};
    if (!use) return;
    for (uint32_t c = 0; c < HG_CIRCUIT_CLASSES; c++) use[c] = circuit ? circuit->use[c] : 0;
    for (uint64_t i = 0; circuit && i < circuit->calls.count; i++) {
        const hg_circuit_call *call = &circuit->calls.data[i];
        for (uint32_t m = 0; m < hg_call_count(call); m++) {
            if (is_range(call) && is_settled(use, replaced, call->src + m)) continue;
            hg_circuit_call one = hg_call_member(call, m);
            use_call(&one, use, replaced);
        }
    }
}

int hg_circuit_is_whole_array(const hg_circuit *circuit) {
    HG_ENTRY;
    for (uint64_t i = 0; circuit && i < circuit->calls.count; i++)
        if (is_reduction(&circuit->calls.data[i])) return 1;
    return 0;
}

/* Rows of the C family that no device here needs yet: memory by address or by pointers with
 * attributes, ids from functions or as parameters, structs without designators, atomic types,
 * fences that share a function. The two languages are C++ under a head that defines their words, so
 * their texts are compiled as strictly as a reader would and run. */
#include "support/device_support.h"
#include "emit/c_dialect.h"
#include "kir/builder.h"
#include "test.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { LANES = 9, COUNT = 7, NAN_BITS = 0x7fc01234, MULTIPLIER = 0x5e3779b9, MINUS = 5 };

static char folder[] = "/tmp/hologram-test-XXXXXX";
static const char *compiler = "c++";

/* ---- the two languages ---- */

#define TYPES                                                                            \
    .types = {"unsigned char",      "unsigned short", "unsigned int",                    \
              "unsigned long long", "float",          "double"},                         \
    .signed_types = {"signed char", "short", "int", "long long", "float", "double"},     \
    .u64_small = "%lluull", .u64_large = "0x%llxull", .top_i64 = "0x7fffffffffffffffll", \
    .builtins = BUILTINS, .function = "static inline ", .table = "static const ", .local = ""
#define HEAD                                                                                  \
    "#include <cstring>\n"                                                                    \
    "static inline float own_float(unsigned int bits) { float f; std::memcpy(&f, &bits, 4); " \
    "return f; }\n"                                                                           \
    "static inline unsigned int own_high(unsigned int a, unsigned int b) { return (unsigned " \
    "int)(1ull * a * b >> 32); }\n"                                                           \
    "static inline void own_barrier() {}\n"
#define OWN_FENCE                                                                           \
    {                                                                                       \
        "own_fence();",                                                                     \
            "static inline void own_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }\n" \
    }

static const c_builtin BUILTINS[] = {
    {KIR_MULHI_U, C_IN_U32, "own_high($0, $1)"}, {KIR_BITCAST, C_IN_F32, "own_float($0)"}, {0}};

static const c_device_words ADDRESS_WORDS = {
    .top.title = "a language of addresses",
    .top.head = HEAD
    "template <typename T> static inline T own_add(T *p, T x) { T old = *p; *p = old "
    "+ x; return old; }\n"
    "template <typename T> static inline T own_min(T *p, T x) { T old = *p; *p = x < "
    "old ? x : old; return old; }\n"
    "extern \"C\" { extern unsigned int own_thread; unsigned int own_thread; }\n",
    .kernel = "extern \"C\" void ",
    .memory = "",
    .group = "",
    .params.by_address = true,
    .params.group_variable = "static thread_local unsigned long long group_memory[8];",
    .params.ids = {[KIR_ID_THREAD] = "own_thread"},
    .atomic.atomics = {{[KIR_ATOMIC_ADD] = "own_add", [KIR_ATOMIC_SMIN] = "own_min"}},
    .atomic.atomic_qualifier = "",
    .atomic.atomic_order = "",
    .fences = {[HG_SCOPE_DEVICE] = OWN_FENCE, [HG_SCOPE_SYSTEM] = OWN_FENCE},
    .barrier = "own_barrier();",
};
static const c_dialect BY_ADDRESS = {TYPES, .no_designators = true, .device = &ADDRESS_WORDS};

static const c_device_words POINTER_WORDS = {
    .top.title = "a language of attributes",
    .top.head = HEAD
    "#define BUFFER(n)\n"
    "template <typename T> struct own_atomic { T value; };\n"
    "enum own_order { own_relaxed };\n"
    "template <typename T> static inline T own_add(volatile own_atomic<T> *p, T x, own_order) {\n"
    "    T old = p->value;\n    p->value = old + x;\n    return old;\n}\n"
    "template <typename T> static inline T own_min(volatile own_atomic<T> *p, T x, own_order) {\n"
    "    T old = p->value;\n    p->value = x < old ? x : old;\n    return old;\n}\n",
    .kernel = "extern \"C\" void ",
    .memory = "",
    .group = "",
    .params.parameter_bytes = UINT32_MAX,
    .params.attribute = " BUFFER(%u)",
    .params.group_parameter = "unsigned long long *group_memory",
    .params.record = "const %s_record &record",
    .params.id_parameters = "unsigned int position",
    .params.ids = {[KIR_ID_THREAD] = "position"},
    .atomic.atomics = {{[KIR_ATOMIC_ADD] = "own_add", [KIR_ATOMIC_SMIN] = "own_min"}},
    .atomic.atomic_types = {{"own_atomic<unsigned int>", "own_atomic<int>"}},
    .atomic.atomic_qualifier = "volatile ",
    .atomic.atomic_order = ", own_relaxed",
    .fences = {[HG_SCOPE_DEVICE] = {"", NULL}, [HG_SCOPE_SYSTEM] = OWN_FENCE},
    .barrier = "own_barrier();",
};
static const c_dialect BY_POINTER = {TYPES, .no_designators = true, .device = &POINTER_WORDS};

/* ---- a kernel with something of everything: slots 0 floats, 1 two counters, 2 results ---- */

static kir_value *number(kir_builder *b, uint8_t type, uint64_t value) {
    return kir_const(b, type, value);
}

/* Bits of the float at an offset, NaN in place of negative numbers, through group memory, plus the
 * lane. */
static kir_function *build_function(device_kernel *k) {
    kir_function *f = kir_function_create(k->module, "bits", HG_TYPE_U32);
    kir_builder builder, *b = &builder;
    kir_var *total = kir_var_create(k->module, NULL, HG_TYPE_U32, 0, "total");
    f->param_count = 1;
    f->param_types[0] = HG_TYPE_U64;
    kir_builder_init(b, k->module, f);
    kir_value *x = build_load(b, 0, kir_param(b, 0), HG_TYPE_F32);
    kir_value *negative = kir_binary(b, KIR_FCMP_LT, x, number(b, HG_TYPE_F32, 0));
    kir_value *shown = kir_select(b, negative, number(b, HG_TYPE_F32, NAN_BITS), x);
    kir_value *at = number(b, HG_TYPE_U32, 8);
    build_group_store(b, at, kir_convert(b, KIR_BITCAST, HG_TYPE_U32, shown));
    kir_value *lane = build_id(b, KIR_ID_THREAD);
    kir_set(b, total, kir_add(b, kir_get(b, total), lane)); /* starts as zero */
    kir_return(b, kir_add(b, build_group_load(b, at, HG_TYPE_U32), kir_get(b, total)));
    CHECK(!b->failed);
    return f;
}

static void build_fence(kir_builder *b, hg_scope scope) {
    kir_emit(b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = (uint64_t)scope;
}

static void build_kernel(device_kernel *k, const c_dialect *dialect) {
    kir_builder builder, *b = &builder;
    kir_value *base[3] = {NULL, NULL, NULL};
    bool by_address = dialect->device->params.by_address;
    device_kernel_begin(k, b, "everything", 0);
    for (uint32_t i = 0; i < 3; i++) {
        kir_slot *slot = hg_vec_push(&k->module->slots);
        if (!slot) return;
        *slot = (kir_slot){.base = -1};
        if (!by_address && i != 1) continue;
        base[i] = build_field(k, b, KIR_FIELD_BASE, i, HG_TYPE_U64);
        slot->base = (int32_t)base[i]->u.imm;
    }
    k->layout.uses_group_memory = true;
    kir_value *count = build_field(k, b, KIR_FIELD_COUNT, 0, HG_TYPE_U32),
              *lane = build_id(b, KIR_ID_THREAD);
    kir_value *inside = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, lane, count));
    kir_value *four = number(b, HG_TYPE_U32, 4),
              *offset = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, kir_mul(b, lane, four));
    kir_value *bits = kir_call(b, build_function(k), 1, (kir_value *[]){offset}, NULL);
    kir_value *less = kir_sub(b, lane, number(b, HG_TYPE_U32, MINUS));
    build_atomic(b, 1, KIR_ATOMIC_ADD, 1, number(b, HG_TYPE_U64, 0), (kir_value *[]){lane});
    build_atomic(b, 1, KIR_ATOMIC_SMIN, 1, number(b, HG_TYPE_U64, 4), (kir_value *[]){less});
    build_fence(b, HG_SCOPE_DEVICE);
    build_fence(b, HG_SCOPE_SYSTEM);
    kir_value *result = kir_add(
        b, bits, kir_binary(b, KIR_MULHI_U, lane, number(b, HG_TYPE_U32, MULTIPLIER)));
    if (by_address) { /* the same word by an address that is computed */
        kir_value *open = kir_emit(b, KIR_LOAD, HG_TYPE_U32, 2, (kir_value *[]){base[0], offset});
        open->u.mem.slot = KIR_ADDRESS;
        open->u.mem.space = KIR_BUFFER;
        open->u.mem.bytes = 4;
        open->u.mem.has_index = open->u.mem.unchecked = 1;
        result = kir_add(b, result, open);
    }
    build_store(b, 2, offset, result);
    kir_if_end(b, inside);
    build_barrier(b);
    device_kernel_end(k, b);
}

/* ---- running it ---- */

static void *compile(const char *text, const char *name) {
    char source[128], library[128], command[512];
    snprintf(source, sizeof source, "%s/%s.cpp", folder, name);
    snprintf(library, sizeof library, "%s/%s.so", folder, name);
    FILE *out = fopen(source, "w");
    CHECK(out != NULL);
    if (!out) return NULL;
    fputs(text, out);
    fclose(out);
    snprintf(
        command, sizeof command,
        "%s -std=c++17 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -fPIC -shared -o '%s' '%s'",
        compiler, library, source);
    CHECK_MESSAGE(system(command) == 0, "%s", command);
    return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

typedef struct memory {
    float in[LANES];
    uint32_t counters[2], out[LANES];
} memory;

static void fill_record(const device_kernel *k, memory *m, bool by_address, uint8_t *record) {
    void *const slots[] = {m->in, m->counters, m->out};
    for (uint64_t i = 0; i < k->layout.fields.count; i++) {
        const kir_field *field = &k->layout.fields.data[i];
        uint64_t base = by_address ? (uint64_t)(uintptr_t)slots[field->index] : 16; /* in an arena
                                                                                     */
        uint64_t value = field->kind == KIR_FIELD_BASE ? base : COUNT;
        memcpy(record + k->module->inputs.data[i].index, &value,
               kir_type_bytes(k->module->inputs.data[i].type));
    }
}

static void run_lanes(void *library, bool by_address, memory *m, const uint8_t *record) {
    void *symbol = dlsym(library, "everything_kernel");
    uint32_t *thread = by_address ? dlsym(library, "own_thread") : NULL;
    uint64_t group[8] = {0};
    CHECK(symbol != NULL && (thread || !by_address));
    for (uint32_t lane = 0; lane < LANES && symbol; lane++) {
        if (by_address && thread) {
            void (*kernel)(const void *);
            memcpy(&kernel, &symbol, sizeof kernel);
            *thread = lane;
            kernel(record);
        } else {
            void (*kernel)(const void *, void *, void *, void *, const void *, uint32_t);
            memcpy(&kernel, &symbol, sizeof kernel);
            kernel(m->in, (uint8_t *)m->counters - 16, m->out, group, record, lane);
        }
    }
}

static void check_results(const memory *m, bool by_address) {
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t bits, shown;
        memcpy(&bits, &m->in[lane], 4);
        shown = m->in[lane] < 0 ? NAN_BITS : bits;
        uint32_t want = shown + lane + (uint32_t)((uint64_t)lane * MULTIPLIER >> 32) +
                        (by_address ? bits : 0);
        CHECK_U64(m->out[lane], lane < COUNT ? want : 0xeeeeeeee);
    }
    CHECK_U64(m->counters[0], COUNT * (COUNT - 1) / 2);
    CHECK_U64(m->counters[1], (uint32_t)-MINUS);
}

static uint32_t occurrences(const char *text, const char *of) {
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, of)); at++) count++;
    return count;
}

static void test_row(const c_dialect *dialect, const char *name) {
    device_kernel k;
    hg_text text = {0};
    bool by_address = dialect->device->params.by_address;
    memory m = {.in = {1.5f, -2.0f, 0.0f, 3e38f, -0.0f, -1e-30f, 7.0f, 8.0f, 9.0f}};
    uint8_t record[64] = {0};
    memset(m.out, 0xee, sizeof m.out);
    build_kernel(&k, dialect);
    hg_status status = emit_device_c(dialect, k.module, &k.layout, "a test\n", &text);
    CHECK_MESSAGE(status == HG_OK, "%s", hg_last_error_text());
    CHECK(k.layout.record_bytes <= sizeof record);
    CHECK_U64(emit_device_c_record(dialect, k.module, &k.layout),
              by_address ? EMIT_RECORD_BUFFER : EMIT_RECORD_VALUE);
    if (status == HG_OK) {
        CHECK_U64(occurrences(text.data, "void own_fence()"), 1);
        CHECK_U64(occurrences(text.data, "own_fence();"), by_address ? 2 : 1);
        CHECK_U64(occurrences(text.data, " BUFFER(3)"), by_address ? 0 : 1); /* the record, after
                                                                                three slots */
        void *library = compile(text.data, name);
        CHECK_MESSAGE(library != NULL, "%s", text.data);
        fill_record(&k, &m, by_address, record);
        if (library) run_lanes(library, by_address, &m, record);
        if (library) check_results(&m, by_address);
        if (library) dlclose(library);
    }
    hg_text_free(&text);
    device_kernel_free(&k);
}

/* What a row has no word for is an error that says so, never a wrong text. */
static void test_missing(const c_dialect *dialect, kir_op op, const char *why) {
    device_kernel k;
    kir_builder builder, *b = &builder;
    hg_text text = {0};
    device_kernel_begin(&k, b, "missing", 1);
    k.module->slots.data[0].base =
        (int32_t)build_field(&k, b, KIR_FIELD_BASE, 0, HG_TYPE_U64)->u.imm;
    kir_value *x = number(b, HG_TYPE_U32, 1), *at = number(b, HG_TYPE_U64, 0);
    if (op == KIR_ATOMIC) build_atomic(b, 0, KIR_ATOMIC_XOR, 1, at, (kir_value *[]){x});
    if (op == KIR_FENCE) build_fence(b, HG_SCOPE_BLOCK);
    if (op == KIR_FSQRT) x = kir_unary(b, op, build_load(b, 0, at, HG_TYPE_F32));
    build_store(b, 0, at, x);
    device_kernel_end(&k, b);
    CHECK_U64(emit_device_c(dialect, k.module, &k.layout, "", &text), HG_ERROR_ISA);
    CHECK_MESSAGE(strstr(hg_last_error_text(), why) != NULL, "%s", hg_last_error_text());
    hg_text_free(&text);
    device_kernel_free(&k);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    if (system("clang++-14 --version >/dev/null 2>&1") == 0)
        compiler = "clang++-14"; /* it warns about more */
    test_row(&BY_ADDRESS, "address");
    test_row(&BY_POINTER, "pointer");
    test_missing(&BY_POINTER, KIR_ATOMIC, "an atomic of this size");
    test_missing(&BY_ADDRESS, KIR_FENCE, "a fence of this scope");
    test_missing(&BY_POINTER, KIR_FSQRT, "an operation or type was not lowered");
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "left behind: %s\n", folder);
    return test_done();
}

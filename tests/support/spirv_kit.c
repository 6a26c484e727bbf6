/* See spirv_kit.h. */
#include "support/spirv_kit.h"
#include <stdio.h>
#include <unistd.h>

const way WAYS[WAY_COUNT] = {
    {"address, 64 bits", true, true, false, true, true},
    {"address, 64 bits, record by address", true, true, false, false, false},
    {"address, 32 bits", true, false, true, true, false},
    {"address, 32 bits, record by address", true, false, true, false, true},
    {"binding, 64 bits", false, true, false, true, false},
    {"binding of words, record bound", false, true, true, false, false},
    {"binding, 32 bits", false, false, true, true, false},
    {"binding, 32 bits, record bound", false, false, true, false, false},
};

emit_spirv_options float_controls; /* only these fields: what the device offers */

static bool has_tools;

static char folder[64];

uint64_t random_state = 0x9e3779b97f4a7c15u;

uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

uint32_t below(uint32_t n) { return (uint32_t)(next_random() >> 33) % n; }

void add_field(kit *k, uint8_t kind, uint32_t index, bool high) {
    bool wide = k->how->i64;
    kir_input *input = hg_vec_push(&k->m->inputs);
    kir_field *field = hg_vec_push(&k->layout.fields);
    *input = (kir_input){.kind = KIR_INPUT_FIELD,
                         .type = wide ? HG_TYPE_U64 : HG_TYPE_U32,
                         .index = k->layout.record_bytes,
                         .name = "base"};
    *field = (kir_field){.kind = kind, .index = index, .high = high};
    k->layout.record_bytes += wide ? 8 : 4;
}

void begin(kit *k, const way *how, const char *name, uint32_t slots) {
    memset(k, 0, sizeof *k);
    k->how = how;
    k->m = kir_module_create(name);
    k->m->facts = KIR_FACT_DEVICE;
    kir_function *f = kir_function_create(k->m, name, KIR_VOID);
    kir_builder_init(&k->b, k->m, f);
    for (uint32_t i = 0; i < slots; i++) {
        kir_slot *slot = hg_vec_push(&k->m->slots);
        *slot = (kir_slot){.read = true, .written = true, .base = (int32_t)k->m->inputs.count};
        add_field(k, KIR_FIELD_BASE, i, false);
        if (!how->i64) add_field(k, KIR_FIELD_BASE, i, true);
    }
    k->thread = kir_emit(&k->b, KIR_ID, HG_TYPE_U32, 0, NULL);
    k->thread->u.imm = KIR_ID_THREAD;
}

kir_value *op2(kit *k, kir_op op, kir_value *a, kir_value *c) {
    return kir_binary(&k->b, op, a, c);
}

kir_value *offset(kit *k, kir_value *index, uint32_t scale, uint32_t disp) {
    uint8_t type = k->how->i64 ? HG_TYPE_U64 : HG_TYPE_U32;
    kir_value *wide = type == index->type ? index : kir_convert(&k->b, KIR_ZEXT, type, index);
    wide = op2(k, KIR_MUL, wide, kir_const(&k->b, type, scale));
    return op2(k, KIR_ADD, wide, kir_const(&k->b, type, disp));
}

kir_value *access_memory(kit *k, kir_op op, uint8_t type, int16_t slot, kir_value *at,
                         uint8_t count, kir_value *const *operands) {
    kir_value *args[8] = {at};
    for (uint8_t i = 0; i < count; i++) args[1 + i] = operands[i];
    kir_value *v = kir_emit(&k->b, op, op == KIR_STORE ? KIR_VOID : type, (uint8_t)(1 + count),
                            args);
    v->u.mem.space = KIR_BUFFER;
    v->u.mem.bytes = (uint8_t)kir_type_bytes(type);
    v->u.mem.has_index = v->u.mem.unchecked = 1;
    v->u.mem.slot = slot;
    return v;
}

kir_value *load(kit *k, uint8_t type, int16_t slot, kir_value *at) {
    return access_memory(k, KIR_LOAD, type, slot, at, 0, NULL);
}

kir_value *store(kit *k, int16_t slot, kir_value *at, kir_value *value) {
    if (k->how->words && kir_type_bits(value->type) < 32)
        value = kir_convert(&k->b, KIR_ZEXT, HG_TYPE_U32, value);
    return access_memory(k, KIR_STORE, value->type, slot, at, 1, &value);
}

void end(kit *k) {
    hg_vec_free(&k->layout.fields);
    kir_module_destroy(k->m);
}

void set_options(const kit *k, emit_spirv_options *o) {
    bool wide = k->how->i64;
    memset(o, 0, sizeof *o);
    o->caps.i8 = o->caps.i16 = o->caps.i64 = o->caps.f64 = wide;
    o->target = (kir_device_target){.addressed = k->how->addressed, .i64 = wide, .atomic64 = wide};
    o->target.memory8 = o->target.memory16 = o->target.memory64 = !k->how->words;
    o->record_is_pushed = k->how->pushed;
    o->group[0] = GROUP;
    o->group[1] = o->group[2] = 1;
    o->group_memory = k->group_memory;
    o->debug = k->how->debug;
    memcpy(o->float_controls_rte, float_controls.float_controls_rte, sizeof o->float_controls_rte);
    memcpy(o->float_controls_preserve, float_controls.float_controls_preserve,
           sizeof o->float_controls_preserve);
    memcpy(o->float_controls_inf_nan, float_controls.float_controls_inf_nan,
           sizeof o->float_controls_inf_nan);
}

static void write_file(const char *name, const void *data, size_t size) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size) CHECK_MESSAGE(false, "cannot write %s", path);
    if (out) fclose(out);
}

/* The words that spirv-as makes of the text are the module's own, but for the word that names the
 * tool. */
static void check_text(const emit_words *words) {
    hg_text text = {0};
    CHECK_MESSAGE(emit_spirv_text(words->data, words->count, "; a test\n", &text) == HG_OK, "%s",
                  hg_last_error_text());
    write_file("m.spvasm", text.data ? text.data : "", text.length);
    hg_text_free(&text);
}

static bool read_file(const char *name, uint32_t *words, uint64_t count) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    bool same = fread(words, 4, (size_t)count, in) == count && fgetc(in) == EOF;
    fclose(in);
    return same;
}

void check_words(const kit *k, const emit_words *words) {
    if (!has_tools) return;
    char command[512];
    write_file("m.spv", words->data, (size_t)words->count * 4);
    snprintf(command, sizeof command, "spirv-val --target-env vulkan1.2 %s/m.spv", folder);
    CHECK_MESSAGE(system(command) == 0, "%s (%s) is not valid", k->m->name, k->how->name);
    check_text(words);
    snprintf(command, sizeof command, "spirv-as --target-env vulkan1.2 %s/m.spvasm -o %s/back.spv",
             folder, folder);
    CHECK_MESSAGE(system(command) == 0, "the text of %s (%s) is not read back", k->m->name,
                  k->how->name);
    uint32_t *back = malloc((size_t)words->count * 4);
    bool same = back && read_file("back.spv", back, words->count);
    for (uint64_t i = 0; i < words->count && same; i++) same = i == 2 || back[i] == words->data[i];
    CHECK_MESSAGE(same, "%s (%s) differs after its text", k->m->name, k->how->name);
    free(back);
}

void open_folder(void) {
    has_tools = system("spirv-val --version >/dev/null 2>&1") == 0 &&
                system("spirv-as --version >/dev/null 2>&1") == 0;
    snprintf(folder, sizeof folder, "/tmp/hologram-spirv-XXXXXX");
    if (has_tools && mkdtemp(folder)) return;
    has_tools = false;
    SKIP("no spirv-val and spirv-as, or no place for their files");
}

void close_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (has_tools) CHECK(system(command) == 0);
}

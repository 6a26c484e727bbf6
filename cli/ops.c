/* hologram ops: what a device does itself of each instruction and type, and what is lowered to
 * other operations there. Native means: the type and every primitive that the instruction stands
 * for are the device's own. It is found by lowering the instruction twice, for the device and for
 * one that has everything, and comparing. */
#include "cli.h"
#include "device.h"
#include "driver/capsets.h"
#include "isa/cfg.h"
#include "isa/numbers.h"
#include "runtime/backend.h"
#include "kir/pipeline/pipeline.h"
#include "kir/build/build.h"
#include <stdio.h>
#include <string.h>

static const char *const TYPE_SETS[] = {[HG_T_NONE] = "-",
                                        [HG_T_ALL] = "all",
                                        [HG_T_INTEGER] = "integers",
                                        [HG_T_FLOAT] = "floats",
                                        [HG_T_ATOMIC] = "i32 u32 i64 u64",
                                        [HG_T_CHARACTER] = "i128 f64",
                                        [HG_T_UNSIGNED] = "unsigned integers",
                                        [HG_T_REAL] = "f32 f64",
                                        [HG_T_HALF] = "f16 bf16",
                                        [HG_T_BYTE] = "i8 u8",
                                        [HG_T_WORD] = "i32 u32",
                                        [HG_T_INDEX] = "integers of up to 64 bits",
                                        [HG_T_ORDERED] = "types of up to 64 bits",
                                        [HG_T_CONVERTED] = "all",
                                        [HG_T_TWICE] = "integers of 16 bits and more",
                                        [HG_T_WIDER] = "f32, integers of 16 bits and more",
                                        [HG_T_NARROWER] = "f16 bf16, integers of up to 2048 bits",
                                        [HG_T_PATTERN] = "floats, integers of 16 to 64 bits"};
static const char *const SECONDS[] = {
#define HG_OP_SECOND(id, text, about) text,
#include <hologram/reflect.def>
#undef HG_OP_SECOND
};
static const char *const OPERAND_KINDS[] = {
    "none",
#define HG_OPERAND_KIND(id, text, about) text,
#include <hologram/reflect.def>
#undef HG_OPERAND_KIND
};
static const char *const OPERAND_TYPES[] = {
#define HG_OPERAND_TYPE(id, text, about) text,
#include <hologram/reflect.def>
#undef HG_OPERAND_TYPE
};
static const struct {
    uint32_t bit;
    const char *text;
} FLAGS[] = {
#define HG_OP_FLAG(id, bit, text, about) {bit, text},
#include <hologram/reflect.def>
#undef HG_OP_FLAG
};

enum { OPS_VERSION = 2 }; /* of docs/reference/ops.schema.json; to be raised when a field changes */

/* Columns of tables: types that a device has together or not at all. */
typedef enum type_class {
    CLASS_8,
    CLASS_16,
    CLASS_32,
    CLASS_64,
    CLASS_WIDE,
    CLASS_F16,
    CLASS_BF16,
    CLASS_F32,
    CLASS_F64,
    CLASS_COUNT
} type_class;
static const char *const CLASS_NAMES[] = {"i8",  "i16",  "i32", "i64", "i128+",
                                          "f16", "bf16", "f32", "f64"};

typedef struct device_view {
    const kir_caps *kir;
    const kir_device_target *target; /* NULL: memory has every width */
} device_view;

typedef enum answer { ABSENT, NATIVE, LOWERED } answer;

static type_class class_of(hg_type type) {
    if (type == HG_TYPE_F16) return CLASS_F16;
    if (type == HG_TYPE_BF16) return CLASS_BF16;
    if (type == HG_TYPE_F32) return CLASS_F32;
    if (type == HG_TYPE_F64) return CLASS_F64;
    uint64_t bytes = hg_type_size_bytes(type);
    return bytes == 1   ? CLASS_8
           : bytes == 2 ? CLASS_16
           : bytes == 4 ? CLASS_32
           : bytes == 8 ? CLASS_64
                        : CLASS_WIDE;
}

/* ---- one instruction as a program ---- */

static void add_operand(hg_text *text, const hg_operand_info *o, int number,
                        const char **separator) {
    if (o->kind == HG_K_COND || o->kind == HG_K_SCOPE || (o->kind == HG_K_PRED && o->optional))
        return;
    hg_text_addf(text, "%s", *separator);
    *separator = ", ";
    if (o->kind == HG_K_PRED)
        hg_text_addf(text, "p1");
    else if (o->kind == HG_K_U8)
        hg_text_addf(text, "2");
    else if (o->kind == HG_K_LITERAL)
        hg_text_addf(text, "1");
    else if (o->kind == HG_K_IDNAME)
        hg_text_addf(text, "lane_idx_x");
    else
        hg_text_addf(text, "r%d", 10 * number + 10);
}

static const char *operand_type(const hg_operand_info *o, hg_type type, hg_type type2) {
    switch ((hg_type_rule)o->rule) {
    case HG_R_U32: return "u32";
    case HG_R_U64: return "u64";
    case HG_R_F32: return "f32";
    case HG_R_T2: return hg_type_name(type2);
    default: return hg_type_name(type);
    }
}

static void write_program(hg_text *text, const hg_op_info *op, hg_type type, hg_type type2) {
    const char *separator = " ";
    hg_text_addf(text, ".atlas 1\n.program one\n.param r1 one u32\n");
    for (int i = 0; i < op->operand_count; i++) {
        const hg_operand_info *o = &op->operands[i];
        if (o->kind != HG_K_REG || !(o->access & HG_READ)) continue;
        bool two = op->operand_count > 2 && op->operands[2].kind == HG_K_U8; /* the first of
                                                                                consecutive
                                                                                registers */
        for (int k = 0; k < (two ? 2 : 1); k++)
            hg_text_addf(text, ".param r%d a%d_%d %s\n", 10 * i + 10 + k, i, k,
                         operand_type(o, type, type2));
    }
    hg_text_addf(text, "    seteq.u32 p1, r1, r1\n    %s", op->text);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].kind == HG_K_COND) hg_text_addf(text, "lt");
    if (op->type_count) hg_text_addf(text, ".%s", hg_type_name(type));
    if (op->type_count == 2) hg_text_addf(text, ".%s", hg_type_name(type2));
    for (int i = 0; i < op->operand_count; i++) add_operand(text, &op->operands[i], i, &separator);
    hg_text_addf(text, "\n");
}

static hg_status build(const hg_text *text, kir_module **module, hg_program **program) {
    hg_cfg *cfg = NULL;
    HG_TRY(hg_program_assemble(text->data, text->length, NULL, program));
    HG_TRY(hg_verify(*program, NULL, NULL, &cfg));
    bool owned = false;
    hg_status status = kir_pass_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                                    KIR_PASS_BUILD, module, &owned);
    hg_cfg_destroy(cfg);
    return status;
}

static bool has_derived(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_DERIVED) return true;
    return false;
}

/* Whether the device's own lowering of the module is that of a device that has everything. */
static hg_status compare(const kir_module *m, const kir_caps *caps, answer *found) {
    const kir_caps all = {.i8 = true,
                          .i16 = true,
                          .i64 = true,
                          .f64 = true,
                          .fma32 = true,
                          .fma64 = true,
                          .subnormals = true,
                          .half = true,
                          .dot4 = caps->dot4};
    kir_module *own = NULL, *full = NULL;
    hg_text a = {0}, b = {0};
    hg_status status = kir_legalise(m, caps, &own);
    if (status == HG_OK) status = kir_legalise(m, &all, &full);
    if (status == HG_OK) {
        kir_print(&a, own);
        kir_print(&b, full);
        bool same = a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
        *found = same || has_derived(own) ? NATIVE : LOWERED; /* a DERIVED that stays is the
                                                                 device's own */
        if (a.failed || b.failed) status = hg_fail_memory();
    }
    hg_text_free(&a);
    hg_text_free(&b);
    kir_module_destroy(own);
    kir_module_destroy(full);
    return status;
}

static hg_status ask_lowering(const device_view *device, const hg_op_info *op, hg_type type,
                              hg_type type2, answer *found) {
    hg_text text = {0};
    hg_program *program = NULL;
    kir_module *module = NULL;
    write_program(&text, op, type, type2);
    hg_status status = text.failed ? hg_fail_memory() : build(&text, &module, &program);
    if (status == HG_OK) status = compare(module, device->kir, found);
    kir_module_destroy(module);
    hg_program_release(program);
    hg_text_free(&text);
    return status;
}

/* ---- rows ---- */

/* Loads and stores: by the width alone. f16 and bf16 are 16 bits there, wide integers go limb by
 * limb. */
static answer ask_memory(const device_view *device, bool shared, hg_type type) {
    const kir_caps *k = device->kir;
    const kir_device_target *t = device->target;
    switch (hg_type_size_bytes(type)) {
    case 1: return k->i8 && (!t || (shared ? t->shared8 : t->memory8)) ? NATIVE : LOWERED;
    case 2: return k->i16 && (!t || (shared ? t->shared16 : t->memory16)) ? NATIVE : LOWERED;
    case 4: return NATIVE;
    case 8:
        return k->i64 && (type != HG_TYPE_F64 || k->f64) &&
                       (!t || (shared ? t->shared64 : t->memory64))
                   ? NATIVE
                   : LOWERED;
    default: return LOWERED;
    }
}

static answer ask_atomic(const device_view *device, hg_type type) {
    if (hg_type_size_bytes(type) == 4) return NATIVE;
    return device->kir->i64 && (!device->target || device->target->atomic64) ? NATIVE : LOWERED;
}

/* The worse of conversions from and to the common types. */
static hg_status ask_conversion(const device_view *device, const hg_op_info *op, hg_type type,
                                answer *found) {
    const hg_type pairs[4][2] = {
        {type, HG_TYPE_U32}, {type, HG_TYPE_F32}, {HG_TYPE_U32, type}, {HG_TYPE_F32, type}};
    *found = NATIVE;
    for (int i = 0; i < 4 && *found == NATIVE; i++)
        HG_TRY(ask_lowering(device, op, pairs[i][0], pairs[i][1], found));
    return HG_OK;
}

static hg_status ask(const device_view *device, hg_op id, hg_type type, answer *found) {
    const hg_op_info *op = hg_op_get(id);
    *found = ABSENT;
    if (!hg_op_allows_type(id, type)) return HG_OK;
    *found = id == HG_OP_BOUND_MAP_TYPED ? NATIVE : LOWERED; /* of whatever type: numbers of 64 bits
                                                              */
    if (id == HG_OP_BOUND_MAP_TYPED || class_of(type) == CLASS_WIDE)
        return HG_OK; /* limbs, everywhere */
    *found = ask_memory(device, (op->flags & HG_F_SHARED) != 0, type);
    if (id == HG_OP_CVT) return ask_conversion(device, op, type, found);
    if (op->flags & HG_F_ATOMIC) *found = ask_atomic(device, type);
    if (op->flags & (HG_F_ATOMIC | HG_F_POOL | HG_F_ATLAS)) return HG_OK;
    if (op->flags & (HG_F_COLLECTIVE | HG_F_BLOCK))
        return ask_lowering(device, hg_op_get(HG_OP_ADD), type, type, found); /* its commonest
                                                                                 operation */
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].kind == HG_K_ADDRESS) return HG_OK;
    hg_type from = type; /* of a second type there is one */
    for (int t = 0; t < HG_TYPE_COUNT && op->type_count == 2; t++)
        if (hg_op_allows_types(id, type, (hg_type)t)) from = (hg_type)t;
    return ask_lowering(device, op, type, from, found);
}

typedef struct op_row {
    const hg_op_info *op;
    answer cells[CLASS_COUNT];
} op_row;

static hg_status ask_row(const device_view *device, hg_op id, op_row *row) {
    memset(row, 0, sizeof *row);
    row->op = hg_op_get(id);
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        answer found;
        HG_TRY(ask(device, id, (hg_type)t, &found));
        answer *cell = &row->cells[class_of((hg_type)t)];
        if (found > *cell) *cell = found; /* the worse of signed and unsigned */
    }
    return HG_OK;
}

/* ---- printing ---- */

/* The classes that have an answer, or "-"; an instruction without types is native. */
static const char *classes(const op_row *row, answer wanted, char text[96]) {
    size_t used = 0;
    bool typed = false;
    text[0] = 0;
    for (int i = 0; i < CLASS_COUNT; i++) {
        typed = typed || row->cells[i] != ABSENT;
        if (row->cells[i] == wanted)
            used += (size_t)snprintf(text + used, 96 - used, "%s%s", used ? " " : "",
                                     CLASS_NAMES[i]);
    }
    if (!used) snprintf(text, 96, "%s", !typed && wanted == NATIVE ? "yes" : "-");
    return text;
}

static void add_list(hg_json *json, const char *key, const op_row *row, answer wanted) {
    hg_json_key(json, key);
    hg_json_begin_array(json);
    for (int i = 0; i < CLASS_COUNT; i++)
        if (row->cells[i] == wanted) hg_json_text(json, CLASS_NAMES[i]);
    hg_json_end_array(json);
}

static const char *summary(const op_row *row) {
    bool native = false, lowered = false;
    for (int i = 0; i < CLASS_COUNT; i++) {
        native = native || row->cells[i] == NATIVE;
        lowered = lowered || row->cells[i] == LOWERED;
    }
    return lowered ? (native ? "mixed" : "lowered") : "native";
}

static void add_words(hg_json *json, const hg_operand_description *o) {
    hg_json_key(json, "words");
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < o->word_count; i++) hg_json_text(json, o->words[i]);
    hg_json_end_array(json);
}

static void add_operand_description(hg_json *json, const hg_operand_description *o) {
    hg_json_begin_object(json);
    hg_json_add_text(json, "name", o->name);
    hg_json_add_text(json, "kind", OPERAND_KINDS[o->kind]);
    hg_json_add_text(json, "type", OPERAND_TYPES[o->type]);
    hg_json_add_bool(json, "reads", o->reads);
    hg_json_add_bool(json, "writes", o->writes);
    hg_json_add_bool(json, "named", o->named);
    hg_json_add_bool(json, "optional", o->optional);
    hg_json_add_text(json, "default", o->has_default ? o->otherwise : NULL);
    hg_json_add_text(json, "otherwise", o->has_default ? NULL : o->otherwise);
    hg_json_add_u64(json, "items", o->items);
    add_words(json, o);
    hg_json_end_object(json);
}

/* What hologram/reflect.h says of the instruction. */
static hg_status add_description(hg_json *json, hg_op id) {
    hg_op_description op = {.size = sizeof op};
    HG_TRY(hg_op_describe(id, &op));
    hg_json_add_u64(json, "suffixes", op.suffix_count);
    hg_json_key(json, "type_names");
    hg_json_begin_array(json);
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        if (op.types >> t & 1) hg_json_text(json, hg_type_name((hg_type)t));
    hg_json_end_array(json);
    hg_json_add_bool(json, "half_width", op.half_width);
    hg_json_key(json, "second");
    hg_json_text(json, SECONDS[op.second]);
    hg_json_key(json, "flags");
    hg_json_begin_array(json);
    for (size_t i = 0; i < HG_COUNT_OF(FLAGS); i++)
        if (op.flags & FLAGS[i].bit) hg_json_text(json, FLAGS[i].text);
    hg_json_end_array(json);
    hg_json_key(json, "operands");
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < op.operand_count; i++) {
        hg_operand_description operand = {.size = sizeof operand};
        HG_TRY(hg_op_operand(id, i, &operand));
        add_operand_description(json, &operand);
    }
    hg_json_end_array(json);
    return HG_OK;
}

static hg_status print_row(cli *c, hg_op id, const op_row *row) {
    char native[96], lowered[96];
    const hg_op_info *op = row->op;
    if (!c->json) {
        cli_out(c, "%04x  %-19s  %-34s  %-34s  %s · %s\n", op->opcode, op->text,
                classes(row, NATIVE, native), classes(row, LOWERED, lowered), op->doc,
                hg_op_numbers_text(op));
        return HG_OK;
    }
    hg_json json;
    cli_json_item(c, &json);
    hg_json_key(&json, "opcode");
    hg_json_u64(&json, op->opcode);
    hg_json_add_text(&json, "id", op->id);
    hg_json_add_text(&json, "mnemonic", op->text);
    hg_json_add_text(&json, "types", TYPE_SETS[op->types]);
    hg_json_add_text(&json, "numbers", hg_op_numbers_text(op));
    hg_json_add_text(&json, "how", summary(row));
    add_list(&json, "native", row, NATIVE);
    add_list(&json, "lowered", row, LOWERED);
    hg_json_add_text(&json, "does", op->doc);
    HG_TRY(add_description(&json, id));
    hg_json_end_object(&json);
    return HG_OK;
}

static hg_status print_rows(cli *c, const device_view *device, const char *title) {
    op_row row;
    if (!c->json)
        cli_out(c, "%s\ncode  mnemonic             %-34s  %-34s  what it does · how exact it is\n",
                title, "native", "lowered");
    for (int i = 0; i < HG_OP_COUNT; i++) {
        HG_TRY(ask_row(device, (hg_op)i, &row));
        HG_TRY(print_row(c, (hg_op)i, &row));
    }
    return HG_OK;
}

/* ---- the page docs/reference/devices.md: rows with the same answers together ---- */

static void print_markdown_row(cli *c, const op_row *rows, int first) {
    cli_out(c, "| ");
    const char *before = "";
    for (int i = first; i < HG_OP_COUNT; i++) {
        if (memcmp(rows[i].cells, rows[first].cells, sizeof rows[i].cells) != 0) continue;
        bool seen = false; /* another form of the same mnemonic */
        for (int k = first; k < i && !seen; k++)
            seen = strcmp(rows[i].op->text, rows[k].op->text) == 0 &&
                   memcmp(rows[i].cells, rows[k].cells, sizeof rows[i].cells) == 0;
        if (seen) continue;
        cli_out(c, "%s`%s`", before, rows[i].op->text);
        before = " ";
    }
    cli_out(c, " |");
    for (int k = 0; k < CLASS_COUNT; k++)
        cli_out(c, " %s |",
                rows[first].cells[k] == NATIVE    ? "●"
                : rows[first].cells[k] == LOWERED ? "○"
                                                  : "");
    cli_out(c, "\n");
}

static hg_status print_markdown_table(cli *c, const device_view *device, const char *title) {
    op_row rows[HG_OP_COUNT];
    for (int i = 0; i < HG_OP_COUNT; i++) HG_TRY(ask_row(device, (hg_op)i, &rows[i]));
    cli_out(c, "\n## %s\n\n| instructions |", title);
    for (int i = 0; i < CLASS_COUNT; i++) cli_out(c, " %s |", CLASS_NAMES[i]);
    cli_out(c, "\n|---|");
    for (int i = 0; i < CLASS_COUNT; i++) cli_out(c, "---|");
    cli_out(c, "\n");
    for (int i = 0; i < HG_OP_COUNT; i++) {
        bool seen = rows[i].op->types == HG_T_NONE;
        for (int k = 0; k < i && !seen; k++)
            seen = memcmp(rows[i].cells, rows[k].cells, sizeof rows[i].cells) == 0;
        if (!seen) print_markdown_row(c, rows, i);
    }
    return HG_OK;
}

static hg_status print_page(cli *c) {
    cli_out(c, "# Instructions on devices\n\n<!-- from src/isa/isa.def and src/driver/devices.def "
               "by `hologram ops --page`: do not edit -->\n\n"
               "Every instruction runs on every device, with the same bits. ● the device has the "
               "type and every operation that the "
               "instruction stands\n"
               "for. ○ it is lowered: what is missing is made of integer operations that the "
               "device has. An instruction on `i64` is also "
               "one on `u64`;\n"
               "`i128+` are the wide integers. Whole-array instructions are shown for the "
               "operation `add`, conversions for those from and "
               "to `u32` and\n"
               "`f32`. Instructions without types run everywhere as they are.\n\n");
    cli_out(c,
            "These are examples, found on %s. The same driver may be exact in\n"
            "other operations on another CPU: what it does wrongly there is found when a device is "
            "opened, and lowered.\n"
            "`hologram ops --backend NAME` prints the table for a device of your machine.\n",
            hg_capset_machine());
    for (uint32_t i = 0; i < hg_capset_count(); i++) {
        hg_capset set;
        char title[96];
        hg_capset_get(i, &set);
        snprintf(title, sizeof title, "%s (`--caps %s`)", set.title, set.name);
        device_view device = {&set.kir, &set.target};
        HG_TRY(print_markdown_table(c, &device, title));
    }
    return HG_OK;
}

/* ---- the command ---- */

static hg_status of_device(cli *c, const char *backend, uint64_t index, bool markdown) {
    hg_backend *b = NULL;
    hg_config config;
    hg_device_info info;
    char title[256];
    HG_TRY(hg_config_load(NULL, &config));
    if (backend) snprintf(config.backend, sizeof config.backend, "%s", backend);
    if (index != HG_NONE) config.device_id = (uint32_t)index;
    HG_TRY(cli_device_open(&config, &b));
    hg_status status = hg_backend_device(b, &info);
    if (status == HG_OK) {
        device_view device = {&b->caps->compiler.kir,
                              b->caps->compiler.device_form ? &b->caps->compiler.target : NULL};
        snprintf(title, sizeof title, "%s %u: %s, %s", info.backend, (unsigned)info.device,
                 info.name, info.exact ? "exact" : "bounded");
        status = markdown ? print_markdown_table(c, &device, title) : print_rows(c, &device, title);
    }
    hg_backend_destroy(b);
    return status;
}

static hg_status run(cli *c, const char *backend, uint64_t index, const hg_capset *set,
                     bool markdown, bool page) {
    if (page) return print_page(c);
    if (!set->name) return of_device(c, backend, index, markdown);
    device_view device = {&set->kir, &set->target};
    return markdown ? print_markdown_table(c, &device, set->title)
                    : print_rows(c, &device, set->title);
}

int command_ops(int argc, char **argv) {
    cli c = {.version = OPS_VERSION};
    const char *backend = NULL, *number = NULL, *caps = NULL;
    bool markdown = false, page = false;
    uint64_t index = HG_NONE;
    hg_capset set = {0};
    const cli_option options[] = {{"--backend", &backend, NULL},
                                  {"--device", &number, NULL},
                                  {"--caps", &caps, NULL},
                                  {"--markdown", NULL, &markdown},
                                  {"--page", NULL, &page}};
    if (!cli_parse(&c, argc, argv, options, HG_COUNT_OF(options))) return cli_finish(&c);
    if (c.arguments.count)
        cli_usage(&c, "expects no argument, got '%s'", c.arguments.data[0]);
    else if (caps && (backend || number))
        cli_usage(&c, "--caps and a device exclude each other");
    else if ((markdown || page) && c.json)
        cli_usage(&c, "--json and %s exclude each other", page ? "--page" : "--markdown");
    else if (cli_number(&c, "--device", number, UINT32_MAX, &index) &&
             (!caps || cli_find_caps(&c, caps, &set)) &&
             run(&c, backend, index, &set, markdown, page) != HG_OK)
        cli_last_error(&c);
    return cli_finish(&c);
}

/* Declarations of a kernel: the types of scalars and elements, names of parameters and arrays.
 * Must not know: where they stand. */
#include "translators/json/kernel.h"

static const char SCALAR_HINT[] = "one of: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool usize";

jk_type jk_read_scalar(jk_kernel *k, uint32_t node) {
    uint32_t name = jk_string_field(k, node, "type");
    if (!name) return JK_ERROR;
    size_t length;
    jk_type type;
    const char *text = hg_json_decode(k->document, name, &k->arena, &length);
    if (text && jk_scalar_from_name(text, length, &type)) return type;
    k->out_of_memory |= !text;
    jk_error(k, "N01", name, SCALAR_HINT, "unknown scalar type %s", jk_show(k, name).text);
    return JK_ERROR;
}

jk_type jk_read_element(jk_kernel *k, uint32_t object) {
    uint32_t element = jk_field(k, object, "element_type", "a scalar type");
    if (!element) return JK_ERROR;
    uint32_t inner = hg_json_member(k->document, element, "kind");
    if (hg_json_kind_of(k->document, element) != HG_JSON_OBJECT ||
        (inner && !hg_json_string_is(k->document, inner, "scalar"))) {
        jk_error(k, "N03", inner ? inner : element,
                 "elements are scalars: {\"kind\":\"scalar\",\"type\":\"f32\"}",
                 "expected a scalar type, got %s", jk_show(k, inner ? inner : element).text);
        return JK_ERROR;
    }
    return jk_only_fields(k, element, "kind type") ? jk_read_scalar(k, element) : JK_ERROR;
}

uint32_t jk_declare(jk_kernel *k, uint32_t token, const char *what, jk_name_kind kind,
                    jk_type type) {
    size_t length;
    const char *text = hg_json_decode(k->document, token, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        return JK_NONE;
    }
    if (!hg_is_parameter_name(text, length)) {
        jk_error(
            k, "N03", token,
            "letters, digits and _; not a register like r1, a predicate like p0 or a type like f32",
            "%s cannot be %s name", jk_show(k, token).text,
            what[0] == 'a' ? "an array's" : "a parameter's");
        return JK_NONE;
    }
    if (jk_find_name(k, text, length) != JK_NONE) {
        jk_error(k, "D02", token, NULL, "%s %s is declared twice", what, jk_show(k, token).text);
        return JK_NONE;
    }
    uint32_t index = jk_add_name(k, token, kind, type);
    if (index == JK_NONE) return JK_NONE;
    k->name_table.all[index].assigned = true;
    k->name_table.all[index].rank = HG_NO_DIMS;
    return index;
}

/* What a kernel says beside its parameters and its body: arrays of a block and of a lane, extents
 * of parameters, how many lanes a launch has and how they make blocks.
 * Must not know: statements, instructions. */
#include "translators/json/kernel.h"

#include <string.h>

/* ---- numbers ---- */

/* A whole number from `low` to `high`. False after an error. */
static bool read_number(jk_kernel *k, uint32_t token, const char *what, uint64_t low, uint64_t high,
                        uint64_t *value) {
    const hg_json_document *d = k->document;
    hg_json_number number = {0};
    bool whole = hg_json_kind_of(d, token) == HG_JSON_INTEGER;
    if (whole) number = hg_json_number_of(d, token);
    if (whole && number.kind == HG_JSON_U64 && number.u64 >= low && number.u64 <= high) {
        *value = number.u64;
        return true;
    }
    jk_error(k, whole ? "S04" : "N03", token, NULL, "%s is a number from %llu to %llu, got %s",
             what, (unsigned long long)low, (unsigned long long)high, jk_show(k, token).text);
    return false;
}

/* ---- extents ---- */

/* Is it an expression and not a name? The builder reads it. */
static bool is_expression(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(" +-*/(", text[i])) return true;
    return false;
}

/* A number, the name of a scalar parameter of type u32 or u64, or an expression over both. False
 * after an error. */
static bool read_extent(jk_kernel *k, uint32_t token, hg_dim *dim) {
    if (!hg_json_is_string(k->document, token))
        return read_number(k, token, "an extent", 0, UINT64_MAX, &dim->value);
    size_t length;
    const char *text = hg_json_decode(k->document, token, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        return false;
    }
    if (length && !memchr(text, 0, length) && is_expression(text, length)) {
        dim->param = hg_arena_text(&k->arena, text, length);
        k->out_of_memory |= !dim->param;
        return dim->param != NULL;
    }
    uint32_t name = jk_find_name(k, text, length);
    const jk_name *n = name == JK_NONE ? NULL : &k->name_table.all[name];
    if (!n) {
        jk_error(k, "D03", token,
                 "a number, the name of a scalar parameter, or an expression such as ceil(n / 16)",
                 "there is no parameter %s", jk_show(k, token).text);
        return false;
    }
    if (n->type == JK_ERROR) return false;
    if (n->kind != JK_SCALAR || (n->type != HG_TYPE_U32 && n->type != HG_TYPE_U64)) {
        jk_error(k, "N06", token, "extents are scalar parameters of type u32 or u64", "%s is %s",
                 jk_show(k, token).text, n->kind == JK_ARRAY ? "an array" : jk_type_name(n->type));
        return false;
    }
    dim->param = hg_arena_text(&k->arena, n->text, n->length);
    k->out_of_memory |= !dim->param;
    return dim->param != NULL;
}

/* A list of extents, or one alone. *rank is as it was after an error. */
static void read_extents(jk_kernel *k, uint32_t token, uint32_t most, hg_dim **dims,
                         uint32_t *rank) {
    const hg_json_document *d = k->document;
    bool list = hg_json_kind_of(d, token) == HG_JSON_ARRAY;
    uint32_t count = list ? hg_json_length(d, token) : 1;
    if (count > most) {
        jk_error(k, "S05", token, NULL, "%u extents: at most %u", (unsigned)count, (unsigned)most);
        return;
    }
    hg_dim *all = hg_arena_alloc(&k->arena, (count + 1) * sizeof *all);
    if (!all) return;
    for (uint32_t at = list ? token + 1 : token, i = 0; i < count; i++, at = hg_json_next(d, at)) {
        all[i] = (hg_dim){0};
        if (!read_extent(k, at, &all[i])) return;
    }
    *dims = all;
    *rank = count;
}

/* The extents of a parameter. */
static void read_shape(jk_kernel *k, uint32_t param, jk_name *n) {
    uint32_t shape = hg_json_member(k->document, param, "shape"), rank = HG_NO_DIMS;
    if (!shape || n->type == JK_ERROR) return;
    if (n->kind != JK_ARRAY || hg_json_kind_of(k->document, shape) != HG_JSON_ARRAY) {
        jk_error(k, "N03", shape, "for example [\"n\", 4]",
                 n->kind == JK_ARRAY ? "expected a list of extents, got %s"
                                     : "only arrays have a shape",
                 jk_show(k, shape).text);
        return;
    }
    read_extents(k, shape, HG_MAX_EXTENTS, &n->dims, &rank);
    n->rank = (uint8_t)rank;
}

static void read_shapes(jk_kernel *k, uint32_t params) {
    const hg_json_document *d = k->document;
    if (hg_json_kind_of(d, params) != HG_JSON_ARRAY) return;
    for (uint32_t p = params + 1, end = hg_json_next(d, params);
         p < end && k->errors < JK_MOST_ERRORS; p = hg_json_next(d, p)) {
        uint32_t name = hg_json_kind_of(d, p) == HG_JSON_OBJECT ? hg_json_member(d, p, "name") : 0;
        for (uint32_t i = 0; name && i < k->name_table.params; i++)
            if (k->name_table.all[i].token == name) read_shape(k, p, &k->name_table.all[i]);
    }
}

/* ---- arrays of a block and of a lane ---- */

static void read_array(jk_kernel *k, uint32_t token, jk_memory memory, uint64_t most,
                       uint64_t *bytes) {
    if (hg_json_kind_of(k->document, token) != HG_JSON_OBJECT) {
        jk_error(k, "N03", token, NULL,
                 "expected an array {\"name\": …, \"element_type\": …, \"length\": …}, got %s",
                 jk_show(k, token).text);
        return;
    }
    uint32_t name = jk_string_field(k, token, "name"),
             length = jk_field(k, token, "length", "a number");
    uint64_t count = 0;
    if (!name || !jk_only_fields(k, token, "name element_type length")) return;
    jk_type type = jk_read_element(k, token);
    if (!length ||
        (type != JK_ERROR && !read_number(k, length, "the length of an array", 1, most, &count)))
        type = JK_ERROR;
    uint32_t index = jk_declare(k, name, "array", JK_ARRAY, type);
    if (index == JK_NONE) return;
    k->name_table.all[index].memory = (uint8_t)memory;
    if (type == JK_ERROR) return;
    uint64_t size = hg_type_size_bytes(jk_held(type));
    *bytes = (*bytes + size - 1) / size * size;
    k->name_table.all[index].offset = *bytes;
    k->name_table.all[index].elements = count;
    *bytes += count * size;
    if (*bytes > most)
        jk_error(k, "S05", length, NULL, "%llu bytes of %s memory: at most %llu",
                 (unsigned long long)*bytes, memory == JK_SHARED ? "shared" : "private",
                 (unsigned long long)most);
}

static void read_arrays(jk_kernel *k, uint32_t list, jk_memory memory, uint64_t most,
                        uint64_t *bytes) {
    const hg_json_document *d = k->document;
    if (!list) return;
    if (hg_json_kind_of(d, list) != HG_JSON_ARRAY) {
        jk_error(k, "N03", list, NULL, "expected a list of arrays, got %s", jk_show(k, list).text);
        return;
    }
    for (uint32_t at = list + 1, end = hg_json_next(d, list);
         at < end && k->errors < JK_MOST_ERRORS && *bytes <= most; at = hg_json_next(d, at))
        read_array(k, at, memory, most, bytes);
}

/* To a multiple of every element's size, so that an array may be measured from the end of the
 * memory: the check of an index does. */
static void round_private(jk_kernel *k) {
    uint64_t *bytes = &k->launch.private_bytes, most = 1;
    for (uint32_t i = k->name_table.params; i < k->name_table.count; i++)
        if (k->name_table.all[i].memory == JK_PRIVATE && k->name_table.all[i].type != JK_ERROR) {
            uint64_t size = hg_type_size_bytes(jk_held(k->name_table.all[i].type));
            if (size > most) most = size;
        }
    *bytes = (*bytes + most - 1) / most * most;
}

/* ---- the launch ---- */

static void read_block(jk_kernel *k, uint32_t block) {
    const hg_json_document *d = k->document;
    bool list = hg_json_kind_of(d, block) == HG_JSON_ARRAY;
    uint32_t count = list ? hg_json_length(d, block) : 1;
    uint64_t size[3] = {1, 1, 1};
    if (count == 0 || count > 3) {
        jk_error(k, "N03", block, NULL, "a block has one to three extents, got %u",
                 (unsigned)count);
        return;
    }
    for (uint32_t at = list ? block + 1 : block, i = 0; i < count; i++, at = hg_json_next(d, at))
        if (!read_number(k, at, "an extent of a block", 1, UINT32_MAX, &size[i])) return;
    for (int i = 0; i < 3; i++) k->launch.block[i] = (uint32_t)size[i];
}

void jk_read_memory(jk_kernel *k, uint32_t kernel) {
    const hg_json_document *d = k->document;
    read_shapes(k, hg_json_member(d, kernel, "params"));
    uint32_t block = hg_json_member(d, kernel, "block"), lanes = hg_json_member(d, kernel, "lanes"),
             grid = hg_json_member(d, kernel, "grid");
    if (block) read_block(k, block);
    if (lanes) read_extents(k, lanes, HG_MAX_EXTENTS, &k->launch.lanes, &k->launch.lane_rank);
    if (grid && lanes)
        jk_error(k, "D03", grid, NULL, "grid and lanes both say how many lanes there are");
    else if (grid)
        read_extents(k, grid, 3, &k->launch.grid, &k->launch.grid_rank);
    k->launch.token = grid ? grid : lanes;
    read_arrays(k, hg_json_member(d, kernel, "shared"), JK_SHARED, HG_MAX_SHARED_BYTES,
                &k->launch.shared_bytes);
    read_arrays(k, hg_json_member(d, kernel, "private"), JK_PRIVATE, HG_MAX_PRIVATE_BYTES,
                &k->launch.private_bytes);
    round_private(k);
}

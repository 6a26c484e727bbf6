/* Arrays and scalars of a run. Must not know: launches. */
#include "arrays.h"
#include "ranks.h"
#include <stdio.h>
#include <string.h>

static uint64_t size_of(const cli_value *v) { return hg_type_size_bytes((hg_type)v->param->type); }

cli_value *cli_values_find(cli_values *values, const char *name) {
    for (uint32_t i = 0; i < values->count; i++)
        if (strcmp(values->data[i].param->name, name) == 0) return &values->data[i];
    return NULL;
}

bool cli_unknown_parameter(cli *c, const cli_values *values, const char *begin) {
    hg_text names = {0};
    for (uint32_t i = 0; i < values->count; i++) {
        const hg_param *p = values->data[i].param;
        if (p->kind != HG_PARAM_SCRATCH && p->kind != HG_PARAM_DATA)
            hg_text_addf(&names, "%s%s", names.length ? ", " : "", p->name);
    }
    cli_error(c, "P01", "unknown parameter: %s parameter of '%s' (it has %.300s)", begin,
              hg_program_name(c->program), names.length ? names.data : "none");
    hg_text_free(&names);
    return false;
}

void cli_value_drop(cli_value *v) {
    if (v->file.memory.data)
        hg_array_free(&v->file);
    else
        hg_free_aligned(v->data);
    v->data = NULL;
}

void cli_values_free(cli_values *values) {
    for (uint32_t i = 0; i < values->count && values->data; i++) {
        cli_value_drop(&values->data[i]);
        hg_bytes_free(&values->data[i].result);
    }
    hg_free(values->data);
    values->data = NULL;
}

static hg_status copy_part(cli *c, cli_value *v, uint64_t outer, uint64_t row, uint64_t from,
                           uint64_t part) {
    hg_bytes own;
    HG_TRY(hg_bytes_alloc_in(c->memory, outer * part, &own));
    for (uint64_t o = 0; o < outer && part; o++)
        memcpy(own.data + o * part, v->data + o * row + from, (size_t)part);
    cli_value_drop(v);
    v->file = (hg_array){.memory = own};
    v->data = own.data;
    return HG_OK;
}

/* Where the part lies in one piece of a file it is used there. */
hg_status cli_value_cut(cli *c, cli_value *v, uint32_t axis, uint64_t begin, uint64_t length) {
    uint64_t outer = 1, inner = size_of(v), extent = v->extent[axis];
    for (uint32_t d = 0; d < v->rank; d++)
        if (d != axis) *(d < axis ? &outer : &inner) *= v->extent[d];
    if (v->data && outer == 1 && v->file.memory.data)
        v->data += begin * inner;
    else if (v->data)
        HG_TRY(copy_part(c, v, outer, extent * inner, begin * inner, length * inner));
    v->extent[axis] = length;
    v->bytes = outer * length * inner;
    v->elements = v->bytes / size_of(v);
    return HG_OK;
}

static bool no_memory(cli *c) {
    (void)hg_fail_memory();
    cli_last_error(c);
    return false;
}

/* ---- literals ---- */

static bool is_word(const char *text, size_t length, const char *word) {
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* A bool of a JSON kernel is a u8: it may be written as a word. */
static bool literal(cli *c, const cli_value *v, const char *text, size_t length, uint8_t *bytes) {
    char message[160];
    const char *hint = NULL;
    while (length && (*text == ' ' || *text == '\t')) text++, length--;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    bool yes = is_word(text, length, "true");
    if (v->param->type == HG_TYPE_U8 && (yes || is_word(text, length, "false"))) {
        *bytes = yes;
        return true;
    }
    const char *code = hg_parse_literal(text, length, (hg_type)v->param->type, bytes, message,
                                        &hint);
    if (!code) return true;
    cli_usage(c, "--set %s: '%.*s': %s", v->param->name, (int)(length < 80 ? length : 80), text,
              message);
    return false;
}

bool cli_set_scalar(cli *c, cli_value *value, const char *text) {
    char number[16];
    if (strcmp(text, "@rank") == 0 || strcmp(text, "@ranks") == 0) {
        uint32_t ranks = c->rank ? c->rank->count : 1, rank = c->rank ? c->rank->number : 0;
        snprintf(number, sizeof number, "%u", (unsigned)(text[5] ? ranks : rank));
        text = number;
    }
    if (strcmp(text, "@step") == 0) {
        if (!hg_type_is_integer((hg_type)value->param->type)) {
            cli_usage(c, "--set %s=@step: it is %s, an integer is expected", value->param->name,
                      hg_type_name((hg_type)value->param->type));
            return false;
        }
        value->counts = true;
        text = "0";
    }
    if (!literal(c, value, text, strlen(text), value->scalar)) return false;
    return value->bound = value->explicit_scalar = true;
}

hg_status cli_set_step(const cli_values *values, uint64_t step, hg_params *params) {
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        uint8_t bytes[sizeof v->scalar] = {0};
        for (size_t k = 0; k < sizeof step; k++) bytes[k] = (uint8_t)(step >> (8 * k));
        if (v->counts)
            HG_TRY(hg_params_set_scalar(params, v->param->name, (hg_type)v->param->type, bytes));
    }
    return HG_OK;
}

static bool set_array(cli *c, cli_value *v, const char *text) {
    uint64_t count = 0, size = size_of(v);
    for (const char *p = text; *p; p++) count += *p == ',';
    count += *text != '\0';
    v->data = cli_zeroed(c, count * size, sizeof(uint64_t)); /* at most 512 bytes a byte of the
                                                                command line */
    if (!v->data) return false;
    for (uint64_t i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        if (!literal(c, v, text, length, v->data + i * size)) return false;
        text += length + (text[length] == ',');
    }
    v->bound = true;
    v->shaped = v->from_file = v->param->rank == 1 || v->param->rank == 255; /* else as raw bytes:
                                                                                row by row in the
                                                                                declared shape */
    v->rank = 1;
    v->extent[0] = v->elements = count;
    v->bytes = count * size;
    return true;
}

/* ---- options ---- */

/* --shape N=TYPE[D,…] */
static bool read_shape(cli *c, cli_value *v, const char *text) {
    const char *open = strchr(text, '[');
    hg_type type;
    if (!open || text[strlen(text) - 1] != ']' ||
        !hg_type_from_name(text, (size_t)(open - text), &type)) {
        cli_usage(c, "--shape %s expects TYPE[D,…] as f32[3,4], got '%s'", v->param->name, text);
        return false;
    }
    if (type != (hg_type)v->param->type) {
        cli_error(c, "P03", "--shape %s: the parameter is %s, given %s", v->param->name,
                  hg_type_name((hg_type)v->param->type), hg_type_name(type));
        return false;
    }
    uint32_t rank = 0;
    uint64_t extent[HG_MAX_EXTENTS];
    const char *p = open + 1;
    while (*p != ']') {
        size_t digits = strcspn(p, ",]");
        if (rank == HG_MAX_EXTENTS || !cli_read_number(p, digits, UINT64_MAX, &extent[rank])) break;
        rank++;
        p += digits;
        p += *p == ',' && p[1] != ']';
    }
    if (*p != ']' || p[1]) {
        cli_usage(c, "--shape %s expects TYPE[D,…] with at most %d numbers, got '%s'",
                  v->param->name, HG_MAX_EXTENTS, text);
        return false;
    }
    if (v->from_file &&
        (v->rank != rank || memcmp(v->extent, extent, rank * sizeof *extent) != 0)) {
        hg_text own = {0};
        for (uint32_t i = 0; i < v->rank; i++)
            hg_text_addf(&own, "%s%llu", i ? "," : "", (unsigned long long)v->extent[i]);
        cli_error(c, "P04", "array '%s': its data is %s[%s], --shape says %s", v->param->name,
                  hg_type_name(type), own.data ? own.data : "", text);
        hg_text_free(&own);
        return false;
    }
    memcpy(v->extent, extent, rank * sizeof *extent);
    v->rank = rank;
    return v->shaped = true;
}

/* Bytes that the declared extents, or else a --shape, allow; UINT64_MAX while an extent is unknown.
 */
static bool declared_bytes(cli *c, const cli_values *values, const cli_value *v, uint64_t *bytes) {
    const hg_param *p = v->param;
    uint64_t extent, known = size_of(v);
    cli_value given = *v;
    *bytes = UINT64_MAX;
    for (uint64_t i = 0; i < c->pairs.count; i++) {
        const cli_pair *pair = &c->pairs.data[i];
        if (strcmp(pair->option, "--shape") == 0 && strcmp(pair->name, p->name) == 0 &&
            !read_shape(c, &given, pair->value))
            return false;
    }
    uint32_t rank = given.shaped ? given.rank : p->rank == 255 ? 0 : p->rank;
    if (!given.shaped && p->rank == 255) return true;
    for (uint32_t i = 0; i < rank; i++) {
        bool is_known = given.shaped || cli_extent(values, &p->dims[i], &extent) == HG_EXTENT_KNOWN;
        if (given.shaped) extent = given.extent[i];
        if (!is_known || !hg_mul_u64(known, extent, &known)) return true;
    }
    *bytes = known;
    return true;
}

/* v->file was read: it is the array's data now. */
static bool take_file(cli_value *v) {
    v->data = (uint8_t *)(uintptr_t)v->file.data;
    v->elements = v->file.elements;
    v->bytes = v->file.bytes;
    v->bound = true;
    v->from_file = v->file.shaped;
    if (!v->file.shaped) return true; /* raw: --shape, dims, or one dimension from the size */
    v->shaped = true;
    v->rank = v->file.rank;
    memcpy(v->extent, v->file.extent, sizeof v->extent);
    return true;
}

static bool no_axis(cli *c, const char *option, const cli_value *v, uint32_t axis) {
    cli_usage(c, "%s %s: it has no axis %u that ranks could share", option, v->param->name,
              (unsigned)axis);
    return false;
}

/* This rank's part of a file along an axis. */
static bool share_file(cli *c, cli_value *v, uint32_t axis) {
    if (!v->file.shaped || axis >= v->file.rank) return no_axis(c, "--in", v, axis);
    uint64_t extent = v->file.extent[axis];
    uint32_t rank = c->rank ? c->rank->number : 0;
    uint64_t begin = cli_part_begin(c, extent, rank), end = cli_part_begin(c, extent, rank + 1);
    if (!take_file(v)) return false;
    v->shared = true;
    v->axis = axis;
    if (cli_value_cut(c, v, axis, begin, end - begin) == HG_OK) return true;
    cli_last_error(c);
    return false;
}

static bool read_input(cli *c, const cli_values *values, cli_value *v, const char *given) {
    hg_array_bounds bounds = {UINT64_MAX, c->memory};
    char reader[270], what[270], path_of[CLI_PATH_BYTES];
    const char *path = given;
    uint32_t axis;
    snprintf(reader, sizeof reader, "--in %s", v->param->name);
    snprintf(what, sizeof what, "array '%s'", v->param->name);
    if (!cli_shard(c, reader, given, path_of, &axis)) return false;
    bool shard = axis != CLI_NO_AXIS;
    if (shard) path = path_of;
    if (!cli_take_input(c, path, reader, what) ||
        (!shard && !declared_bytes(c, values, v, &bounds.most)))
        return false;
    if (hg_array_read_within(path, v->param->name, (hg_type)v->param->type, &bounds, &v->file) ==
        HG_OK)
        return shard ? share_file(c, v, axis) : take_file(v);
    cli_last_error(c);
    return false;
}

/* ---- all arrays of a .npz ---- */

/* A scalar is a member without extents. */
static bool take_member_scalar(cli *c, const char *path, cli_value *v, hg_array *member) {
    bool good = member->rank == 0;
    if (good)
        memcpy(v->scalar, member->data, (size_t)size_of(v));
    else
        cli_error(c, "P04", "%s: '%s' has %u dimensions, the parameter is a scalar", path,
                  v->param->name, member->rank);
    hg_array_free(member);
    return v->bound = v->explicit_scalar = good;
}

/* What another option names is that option's; an out array begins as zeros, whatever the file has
 * of its name. */
static bool take_member(cli *c, cli_values *values, const hg_bytes *file, const char *path,
                        const char *name, bool may_have_more) {
    cli_value *v = cli_values_find(values, name);
    hg_array member;
    hg_array_bounds bounds = {UINT64_MAX, c->memory};
    if (!v && may_have_more) return true;
    if (!v) {
        char begin[600];
        snprintf(begin, sizeof begin, "%.300s has an array '%.200s', which is no", path, name);
        return cli_unknown_parameter(c, values, begin);
    }
    bool scalar = v->param->kind == HG_PARAM_SCALAR;
    if (v->bound || (!scalar && (v->param->kind != HG_PARAM_BUFFER || v->param->dir == HG_DIR_OUT)))
        return true;
    if (!scalar && !declared_bytes(c, values, v, &bounds.most)) return false;
    if (hg_npz_array(file, path, name, (hg_type)v->param->type, &bounds, &member) != HG_OK) {
        cli_last_error(c);
        return false;
    }
    if (scalar) return take_member_scalar(c, path, v, &member);
    v->file = member;
    return take_file(v);
}

static bool read_members(cli *c, cli_values *values, const char *path, bool may_have_more) {
    hg_bytes file = {0};
    hg_text names = {0};
    const char *what = strcmp(path, "-") == 0 ? "<stdin>" : path;
    if (!cli_take_input(c, path, "--in -", "arrays")) return false;
    bool good = hg_file_map(c->memory, path, &file) == HG_OK;
    bool one_array = good && file.length >= 6 && memcmp(file.data, "\x93NUMPY", 6) == 0;
    if (one_array)
        cli_error(c, "P06", "%s: a .npy file, which is one array: give --in NAME=%s", what, path);
    else if (!good || hg_npz_names(&file, what, &names) != HG_OK)
        cli_last_error(c);
    good = c->status == CLI_OK;
    for (char *name = names.data; good && name && *name;) {
        char *end = strchr(name, '\n');
        *end = '\0';
        good = take_member(c, values, &file, what, name, may_have_more);
        name = end + 1;
    }
    hg_text_free(&names);
    hg_bytes_free(&file);
    return good;
}

bool cli_values_file(cli *c, cli_values *values, const char *name, const char *path) {
    cli_value *v = cli_values_find(values, name);
    return !v || v->bound || read_input(c, values, v, path);
}

bool cli_values_weights(cli *c, cli_values *values, const char *path) {
    return read_members(c, values, path, true);
}

/* ---- options one by one ---- */

static bool apply(cli *c, cli_values *values, const cli_pair *pair) {
    cli_value *v = cli_values_find(values, pair->name);
    if (!v) {
        char begin[300];
        snprintf(begin, sizeof begin, "'%.250s' is no", pair->name);
        return cli_unknown_parameter(c, values, begin);
    }
    bool buffer = v->param->kind == HG_PARAM_BUFFER;
    if (strcmp(pair->option, "--set") == 0) {
        if (v->param->kind == HG_PARAM_SCALAR) return cli_set_scalar(c, v, pair->value);
        if (buffer && !v->bound) return set_array(c, v, pair->value);
    } else if (strcmp(pair->option, "--in") == 0 && buffer && !v->bound) {
        return read_input(c, values, v, pair->value);
    } else if (strcmp(pair->option, "--out") == 0 && buffer) {
        if (v->param->dir == HG_DIR_IN) {
            cli_usage(c, "--out %s: the parameter is an input", pair->name);
            return false;
        }
        char path[CLI_PATH_BYTES];
        uint32_t axis;
        if (!cli_shard(c, "--out", pair->value, path, &axis)) return false;
        if (axis != CLI_NO_AXIS && v->param->rank != 255 && axis >= v->param->rank)
            return no_axis(c, "--out", v, axis);
        if (axis != CLI_NO_AXIS && !v->shared) v->axis = axis;
        v->shared = v->shared || axis != CLI_NO_AXIS;
        v->out = pair->value;
        return true;
    } else if (strcmp(pair->option, "--shape") == 0 && buffer) {
        return read_shape(c, v, pair->value);
    }
    if (v->param->kind == HG_PARAM_DATA)
        cli_usage(c, "%s %s: it is a table of the program that nobody sets", pair->option,
                  pair->name);
    else if (v->param->kind == HG_PARAM_SCRATCH)
        cli_usage(c, "%s %s: it is scratch, memory of the launch that nobody sets", pair->option,
                  pair->name);
    else if (buffer)
        cli_usage(c, "%s %s: the array already has data", pair->option, pair->name);
    else
        cli_usage(c, "%s %s: the parameter is no array", pair->option, pair->name);
    return false;
}

/* ---- resolution ---- */

static bool scalar_value(void *user, uint16_t param, uint64_t *value) {
    const cli_value *scalar = &((const cli_values *)user)->data[param];
    *value = 0;
    for (uint64_t i = 0; i < size_of(scalar) && i < 8; i++)
        *value |= (uint64_t)scalar->scalar[i] << (8 * i);
    return scalar->bound;
}

hg_extent_status cli_extent(const cli_values *values, const hg_extent *e, uint64_t *value) {
    return hg_extent_value(values->program, e, scalar_value, (void *)(uintptr_t)values, value,
                           NULL);
}

/* Canonical text, to be freed. */
static hg_text extent_text(const cli_values *values, const hg_extent *e) {
    hg_text text = {0};
    if (values->program) hg_print_extent(&text, values->program, e);
    return text;
}

bool cli_extent_error(cli *c, const cli_values *values, const char *what, const char *name,
                      const hg_extent *e, hg_extent_status status) {
    hg_text text = extent_text(values, e);
    cli_error(c, "P09", "%s%s%s%s: the extent %s %s", what, name ? " '" : "", name ? name : "",
              name ? "'" : "", text.data ? text.data : "", hg_extent_problem(status));
    hg_text_free(&text);
    return false;
}

bool cli_bind_extent(cli *c, cli_value *scalar, uint64_t extent) {
    uint64_t size = size_of(scalar);
    if (size < 8 && extent >> (8 * size)) {
        cli_error(c, "P05", "extent %llu does not fit '%s' of type %s", (unsigned long long)extent,
                  scalar->param->name, hg_type_name((hg_type)scalar->param->type));
        return false;
    }
    for (uint64_t i = 0; i < size; i++) scalar->scalar[i] = (uint8_t)(extent >> (8 * i));
    return scalar->bound = true;
}

static bool product(cli *c, cli_value *v) {
    v->elements = 1;
    for (uint32_t i = 0; i < v->rank; i++)
        if (!hg_mul_u64(v->elements, v->extent[i], &v->elements)) v->elements = UINT64_MAX / 1024;
    if (hg_mul_u64(v->elements, size_of(v), &v->bytes)) return true;
    cli_error(c, "P04", "array '%s': its shape is too large", v->param->name);
    return false;
}

/* A raw file takes its shape from dims, with one unknown extent from the size. */
static bool shape_raw(cli *c, cli_values *values, cli_value *v) {
    const hg_param *p = v->param;
    uint64_t known = 1, value, size = size_of(v);
    const hg_extent *unknown = NULL;
    if (v->bytes % size) {
        cli_error(c, "P04", "array '%s': %llu bytes are no multiple of %llu, the size of %s",
                  p->name, (unsigned long long)v->bytes, (unsigned long long)size,
                  hg_type_name((hg_type)p->type));
        return false;
    }
    v->shaped = true;
    if (p->rank == 255) {
        v->rank = 1;
        v->extent[0] = v->elements;
        return true;
    }
    v->rank = p->rank;
    for (uint32_t i = 0; i < p->rank; i++) {
        hg_extent_status status = cli_extent(values, &p->dims[i], &value);
        if (status == HG_EXTENT_KNOWN)
            v->extent[i] = value;
        else if (status != HG_EXTENT_UNKNOWN)
            return cli_extent_error(c, values, "array", p->name, &p->dims[i], status);
        else if (unknown) {
            cli_error(c, "P07",
                      "array '%s': more than one extent is unknown: give --shape %s=%s[…]", p->name,
                      p->name, hg_type_name((hg_type)p->type));
            return false;
        } else
            unknown = &p->dims[i];
        if (&p->dims[i] != unknown && !hg_mul_u64(known, value, &known)) known = 0;
    }
    if (unknown && known && v->elements % known == 0)
        v->extent[unknown - p->dims] = v->elements / known;
    else if (unknown) {
        cli_error(c, "P05", "array '%s': %llu elements are no multiple of %llu", p->name,
                  (unsigned long long)v->elements, (unsigned long long)known);
        return false;
    }
    return true;
}

/* The scalar that dimension i tells, where it tells one. */
static bool solve_extent(cli *c, cli_values *values, const cli_value *v, uint32_t i) {
    const hg_extent *e = &v->param->dims[i];
    uint16_t param;
    uint64_t solved;
    hg_extent_status status = hg_extent_solve(values->program, e, v->extent[i], scalar_value,
                                              values, &param, &solved);
    if (status == HG_EXTENT_UNKNOWN) return true; /* checked when all scalars are known */
    if (status == HG_EXTENT_KNOWN) return cli_bind_extent(c, &values->data[param], solved);
    if (status != HG_EXTENT_NO_VALUE)
        return cli_extent_error(c, values, "array", v->param->name, e, status);
    hg_text text = extent_text(values, e);
    cli_error(c, "P05", "array '%s': dimension %u is %llu, which %s is for no '%s'", v->param->name,
              i + 1, (unsigned long long)v->extent[i], text.data ? text.data : "",
              values->data[param].param->name);
    hg_text_free(&text);
    return false;
}

static bool check_dims(cli *c, cli_values *values, cli_value *v) {
    const hg_param *p = v->param;
    uint64_t value, given = v->elements;
    if (!v->shaped && !shape_raw(c, values, v)) return false;
    if (!product(c, v)) return false;
    if (v->bound && given != v->elements) {
        cli_error(c, "P04", "array '%s': its shape has %llu elements, the data %llu", p->name,
                  (unsigned long long)v->elements, (unsigned long long)given);
        return false;
    }
    if (v->bound && !v->data && v->bytes) {
        cli_error(c, "P04", "array '%s': %llu bytes are more than its declared extents allow",
                  p->name, (unsigned long long)v->bytes);
        return false;
    }
    if (p->rank == 255) return true;
    if (v->rank != p->rank) {
        cli_error(c, "P04", "array '%s': expected %u dimension%s, got %u", p->name, p->rank,
                  p->rank == 1 ? "" : "s", v->rank);
        return false;
    }
    for (uint32_t i = 0; i < p->rank; i++) {
        const hg_extent *e = &p->dims[i];
        hg_extent_status status = cli_extent(values, e, &value);
        if (status == HG_EXTENT_UNKNOWN) {
            if (!solve_extent(c, values, v, i)) return false;
        } else if (status != HG_EXTENT_KNOWN) {
            return cli_extent_error(c, values, "array", p->name, e, status);
        } else if (value != v->extent[i]) {
            static const char *const ORDINALS[HG_MAX_EXTENTS] = {
                "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
            hg_text text = extent_text(values, e);
            cli_error(c, "P05", "array '%s': its %s extent is %llu, expected %llu%s%s", p->name,
                      ORDINALS[i], (unsigned long long)v->extent[i], (unsigned long long)value,
                      e->kind != HG_EXTENT_NUMBER ? ", the value of " : "",
                      e->kind != HG_EXTENT_NUMBER && text.data ? text.data : "");
            hg_text_free(&text);
            return false;
        }
    }
    return true;
}

bool cli_shape(cli *c, cli_values *values, cli_value *v) {
    const hg_param *p = v->param;
    if (!v->shaped && p->rank == 255) {
        cli_error(c, "P07", "array '%s': its shape is unknown: give --shape %s=%s[…]", p->name,
                  p->name, hg_type_name((hg_type)p->type));
        return false;
    }
    if (!v->shaped) {
        v->rank = p->rank;
        for (uint32_t i = 0; i < p->rank; i++) {
            hg_extent_status status = cli_extent(values, &p->dims[i], &v->extent[i]); /* all scalars
                                                                                         are bound
                                                                                         by now */
            if (status != HG_EXTENT_KNOWN)
                return cli_extent_error(c, values, "array", p->name, &p->dims[i], status);
        }
        v->shaped = true;
    } else if (!check_dims(c, values, v)) {
        return false;
    }
    return product(c, v);
}

bool cli_values_shapes(cli *c, cli_values *values) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        if (v->param->kind == HG_PARAM_BUFFER &&
            (v->bound || (v->shaped && v->param->rank != 255)) && !check_dims(c, values, v))
            return false;
    }
    return true;
}

static void missing_array(cli *c, const cli_value *v) {
    cli_error(c, "P02", "parameter not bound: array '%s' (give --in %s=FILE or --set %s=1,2,3)",
              v->param->name, v->param->name, v->param->name);
}

/* A scalar that is an extent comes with an array: with one that is read, it is not missing itself.
 */
static void missing_scalar(cli *c, const cli_values *values, uint32_t scalar) {
    const hg_param *p = values->data[scalar].param;
    const cli_value *array = NULL;
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        if (v->param->kind != HG_PARAM_BUFFER || v->bound || v->param->rank == 255) continue;
        for (uint32_t k = 0; k < v->param->rank; k++)
            if (hg_extent_names(values->program, &v->param->dims[k], (uint16_t)scalar) &&
                (!array || v->param->dir == HG_DIR_IN))
                array = v;
        if (array && array->param->dir == HG_DIR_IN) return;
    }
    if (array && array->param->dir == HG_DIR_INOUT)
        cli_error(c, "P02",
                  "parameter not bound: %s '%s' (give --set %s=VALUE, or the array '%s' with --in "
                  "or --set)",
                  hg_type_name((hg_type)p->type), p->name, p->name, array->param->name);
    else
        cli_error(c, "P02", "parameter not bound: %s '%s' (give --set %s=VALUE)",
                  hg_type_name((hg_type)p->type), p->name, p->name);
}

/* Everything that is not bound and must be, in the order of the program; always false. */
static bool report_missing(cli *c, const cli_values *values) {
    for (uint32_t i = 0; i < values->count; i++) {
        const cli_value *v = &values->data[i];
        if (v->bound) continue;
        if (v->param->kind == HG_PARAM_BUFFER && v->param->dir == HG_DIR_IN) missing_array(c, v);
        if (v->param->kind == HG_PARAM_SCALAR && !v->param->has_default)
            missing_scalar(c, values, i);
    }
    return false;
}

bool cli_values_scalars(cli *c, cli_values *values) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        if (v->param->kind == HG_PARAM_SCALAR && !v->bound && v->param->has_default) {
            memcpy(v->scalar, v->param->default_bytes, (size_t)size_of(v));
            v->bound = true;
        }
        if (v->param->kind == HG_PARAM_SCALAR && !v->bound) return report_missing(c, values);
    }
    return true;
}

static bool shape_outputs(cli *c, cli_values *values) {
    for (uint32_t i = 0; i < values->count; i++) {
        cli_value *v = &values->data[i];
        if (v->param->kind != HG_PARAM_BUFFER || v->bound) continue;
        if (v->param->dir == HG_DIR_IN) return report_missing(c, values);
        if (!cli_shape(c, values, v)) return false;
    }
    return true;
}

/* --out FILE, without a name. */
static bool set_archive(cli *c, cli_values *values, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    if (!standard && !hg_path_ends(path, ".npz"))
        cli_usage(c, "--out expects N=FILE, or FILE.npz for all arrays, got '%s'", path);
    else if (values->archive)
        cli_usage(c, "--out FILE.npz is given twice");
    else
        values->archive = path;
    return values->archive == path;
}

static bool apply_whole(cli *c, cli_values *values, const cli_pair *pair) {
    return strcmp(pair->option, "--in") == 0 ? read_members(c, values, pair->value, false)
                                             : set_archive(c, values, pair->value);
}

/* An archive has something to hold. */
static bool check_archive(cli *c, const cli_values *values) {
    for (uint32_t i = 0; values->archive && i < values->count; i++)
        if (cli_is_archived(values, &values->data[i])) return true;
    if (values->archive) cli_usage(c, "--out %s: no array is left for it", values->archive);
    return !values->archive;
}

bool cli_values_params(cli *c, const hg_param *params, uint32_t count, cli_values *values) {
    values->count = count;
    values->data = hg_calloc(count + (size_t)1, sizeof *values->data);
    if (!values->data) return no_memory(c);
    for (uint32_t i = 0; i < count; i++) values->data[i].param = &params[i];
    static const struct {
        const char *option;
        bool named;
    } ORDER[] = {{"--set", true}, {"--in", true},   {"--in", false},
                 {"--out", true}, {"--out", false}, {"--shape", true}};
    for (size_t k = 0; k < HG_COUNT_OF(ORDER); k++)
        for (uint64_t i = 0; i < c->pairs.count; i++) {
            const cli_pair *pair = &c->pairs.data[i];
            if (strcmp(pair->option, ORDER[k].option) != 0 ||
                (pair->name[0] != '\0') != ORDER[k].named)
                continue;
            if (!(ORDER[k].named ? apply(c, values, pair) : apply_whole(c, values, pair)))
                return false;
        }
    return check_archive(c, values);
}

bool cli_is_archived(const cli_values *values, const cli_value *v) {
    return values->archive && !v->out && v->param->kind == HG_PARAM_BUFFER &&
           v->param->dir != HG_DIR_IN;
}

bool cli_values_options(cli *c, cli_values *values) {
    values->program = c->program;
    return cli_values_params(c, c->program->params, c->program->param_count, values);
}

/* What only now can be said of arrays that have data: extents whose scalars others tell. */
static bool check_again(cli *c, cli_values *values) {
    return !c->program->extent_op_count || cli_values_shapes(c, values);
}

bool cli_values_resolve(cli *c, cli_values *values) {
    return cli_values_shapes(c, values) && cli_values_scalars(c, values) &&
           check_again(c, values) && shape_outputs(c, values);
}

bool cli_values_read(cli *c, cli_values *values) {
    return cli_values_options(c, values) && cli_values_resolve(c, values);
}

/* ---- printing ---- */

bool cli_is_nan(hg_type type, const uint8_t *bytes) {
    uint64_t bits = 0, infinity;
    if (!hg_type_is_float(type)) return false;
    memcpy(&bits, bytes, (size_t)hg_type_size_bytes(type));
    switch (type) {
    case HG_TYPE_F16: infinity = 0x7C00; break;
    case HG_TYPE_BF16: infinity = 0x7F80; break;
    case HG_TYPE_F32: infinity = 0x7F800000; break;
    default: infinity = UINT64_C(0x7FF0000000000000); break;
    }
    uint64_t sign = UINT64_C(1) << (hg_type_size_bytes(type) * 8 - 1);
    return (bits & ~sign) > infinity;
}

/* Every NaN reads the same: which one a computation gives is the device's. */
static void print_element(hg_text *out, const cli_value *v, const uint8_t *bytes, uint64_t i) {
    const uint8_t *element = bytes + i * size_of(v);
    if (cli_is_nan((hg_type)v->param->type, element))
        hg_text_addf(out, "nan");
    else
        hg_print_value(out, (hg_type)v->param->type, element);
}

static void begin_json_array(hg_json *json, const cli_value *v) {
    if (json->out->length) hg_text_addf(json->out, ",");
    hg_json_begin_object(json);
    hg_json_key(json, "name");
    hg_json_text(json, v->param->name);
    hg_json_key(json, "type");
    hg_json_text(json, hg_type_name((hg_type)v->param->type));
    hg_json_key(json, "shape");
    hg_json_begin_array(json);
    for (uint32_t i = 0; i < v->rank; i++) hg_json_u64(json, v->extent[i]);
    hg_json_end_array(json);
}

static void print_json_array(hg_text *out, const cli_value *v, const uint8_t *bytes,
                             const char *file) {
    hg_json json = {.out = out};
    begin_json_array(&json, v);
    hg_json_key(&json, file ? "file" : "values");
    if (file)
        hg_json_text(&json, file);
    else {
        bool wide = size_of(v) > 8; /* strings, whatever their value */
        hg_json_begin_array(&json);
        for (uint64_t i = 0; i < v->elements; i++) {
            hg_text one = {0};
            print_element(&one, v, bytes, i);
            if (wide)
                hg_json_text(&json, one.data ? one.data : "");
            else
                hg_json_literal(&json, one.data ? one.data : "", one.length);
            hg_text_free(&one);
        }
        hg_json_end_array(&json);
    }
    hg_json_end_object(&json);
}

static void print_head(hg_text *out, const cli_value *v) {
    hg_text_addf(out, "%s %s[", v->param->name, hg_type_name((hg_type)v->param->type));
    for (uint32_t i = 0; i < v->rank; i++)
        hg_text_addf(out, "%s%llu", i ? ", " : "", (unsigned long long)v->extent[i]);
}

void cli_print_hash(cli *c, hg_text *out, const cli_value *v, const char *hash, const char *file) {
    hg_json json = {.out = out};
    if (!c->json) {
        print_head(out, v);
        hg_text_addf(out, "] blake3 %s\n", hash);
        return;
    }
    begin_json_array(&json, v);
    if (file) hg_json_add_text(&json, "file", file);
    hg_json_add_text(&json, "blake3", hash);
    hg_json_end_object(&json);
}

void cli_print_array(cli *c, hg_text *out, const cli_value *v, const uint8_t *bytes,
                     const char *file) {
    if (c->json) {
        print_json_array(out, v, bytes, file);
        return;
    }
    if (file) return;
    print_head(out, v);
    hg_text_addf(out, "] =");
    for (uint64_t i = 0; i < v->elements && i < CLI_PRINTED_ELEMENTS; i++) {
        hg_text_addf(out, " ");
        print_element(out, v, bytes, i);
    }
    if (v->elements > CLI_PRINTED_ELEMENTS)
        hg_text_addf(out, " … %llu more", (unsigned long long)(v->elements - CLI_PRINTED_ELEMENTS));
    hg_text_addf(out, "\n");
}

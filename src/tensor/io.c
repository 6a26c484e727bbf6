/* Tensors in files: .npy, members of .npz, and safetensors.
 * Must not know: executors, operations. */
#include "io/io.h"
#include "base/json.h"
#include "base/json_read.h"
#include "tensor/tensor.h"
#include <string.h>

/* ---- reading ---- */

static hg_status make(hg_executor *executor, hg_element type, const void *data,
                      const uint64_t *shape, uint32_t rank, hg_tensor **tensor) {
    uint64_t count;
    HG_TRY(tensor_check_shape(type, shape, rank, &count));
    return hg_tensor_from_host(executor, type, data, count, shape, rank, tensor);
}

static hg_status load_npy(hg_executor *executor, const hg_bytes *file, const char *what,
                          hg_tensor **tensor) {
    hg_array array;
    bool fortran;
    hg_npy_kind kind;
    uint64_t shape[HG_MAX_EXTENTS];
    int32_t order[HG_TENSOR_AXES];
    HG_TRY(hg_npy_parse_any(file->data, file->length, what, &kind, &fortran, &array));
    hg_element type = kind == HG_NPY_BOOL      ? HG_ELEMENT_BOOL
                      : kind == HG_NPY_COMPLEX ? tensor_complex_of(array.type)
                                               : (hg_element)array.type;
    if (!fortran || array.rank < 2)
        return make(executor, type, array.data, array.extent, array.rank, tensor);
    for (uint32_t d = 0; d < array.rank; d++) shape[d] = array.extent[array.rank - 1 - d];
    hg_tensor *turned;
    HG_TRY(make(executor, type, array.data, shape, array.rank, &turned));
    for (uint32_t d = 0; d < array.rank; d++) order[d] = (int32_t)(array.rank - 1 - d);
    hg_status status = hg_tensor_permute(turned, order, array.rank, tensor);
    hg_tensor_release(turned);
    return status;
}

/* The only name of a list of names with a line feed behind each. */
static hg_status only_name(const char *path, hg_text *names) {
    const char *end = names->data ? strchr(names->data, '\n') : NULL;
    if (end && !end[1]) {
        names->data[--names->length] = 0;
        return HG_OK;
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: which tensor? name is NULL, the file has %s",
                   path, end ? "several" : "none");
}

static hg_status load_npz(hg_executor *executor, const hg_bytes *file, const char *path,
                          const char *name, hg_tensor **tensor) {
    hg_text names = {0}, member = {0}, what = {0};
    hg_bytes bytes = {0};
    hg_status status = HG_OK;
    if (!name) {
        status = hg_npz_names(file, path, &names);
        if (status == HG_OK && names.failed) status = hg_fail_memory();
        if (status == HG_OK) status = only_name(path, &names);
        name = names.data;
    }
    if (status == HG_OK) {
        hg_text_addf(&member, "%s.npy", name);
        hg_text_addf(&what, "%s:%s", path, name);
        status = member.failed || what.failed ? hg_fail_memory()
                                              : hg_npz_member(file, path, member.data, &bytes);
    }
    if (status == HG_OK) status = load_npy(executor, &bytes, what.data, tensor);
    hg_bytes_free(&bytes);
    hg_text_free(&names);
    hg_text_free(&member);
    hg_text_free(&what);
    return status;
}

/* ---- safetensors: eight bytes of length, a JSON object, elements ---- */

static const struct {
    const char *name;
    hg_element type;
} DTYPES[] = {{"F32", HG_TYPE_F32},      {"F16", HG_TYPE_F16},         {"BF16", HG_TYPE_BF16},
              {"F64", HG_TYPE_F64},      {"I64", HG_TYPE_I64},         {"I32", HG_TYPE_I32},
              {"I16", HG_TYPE_I16},      {"I8", HG_TYPE_I8},           {"U8", HG_TYPE_U8},
              {"U16", HG_TYPE_U16},      {"U32", HG_TYPE_U32},         {"U64", HG_TYPE_U64},
              {"BOOL", HG_ELEMENT_BOOL}, {"C64", HG_ELEMENT_COMPLEX64}};
enum { LENGTH_BYTES = 8 };

typedef struct safetensors {
    const char *path;
    const hg_bytes *file;
    uint64_t data; /* where elements begin */
    hg_json_document d;
} safetensors;

static uint64_t little(const uint8_t *b) {
    uint64_t x = 0;
    for (int i = LENGTH_BYTES; i-- > 0;) x = x << 8 | b[i];
    return x;
}

static bool is_safetensors(const hg_bytes *file) {
    return file->length > LENGTH_BYTES && file->data[LENGTH_BYTES] == '{';
}

static hg_status bad(const safetensors *s, uint32_t token, const char *why) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: byte %llu: %s", s->path,
                   (unsigned long long)s->d.tokens[token].offset + LENGTH_BYTES, why);
}

static hg_status open_safetensors(safetensors *s) {
    uint64_t length = little(s->file->data), most = s->file->length - LENGTH_BYTES;
    hg_json_fault fault;
    if (length > most)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: byte 0: a header of %llu bytes, the file has %llu behind its length",
                       s->path, (unsigned long long)length, (unsigned long long)most);
    s->data = LENGTH_BYTES + length;
    if (hg_json_read(&s->d, (const char *)s->file->data + LENGTH_BYTES, (size_t)length, 64, &fault))
        return HG_OK;
    if (fault.kind == HG_JSON_NO_MEMORY) return hg_fail_memory();
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: byte %llu: %s", s->path,
                   (unsigned long long)fault.offset + LENGTH_BYTES, fault.message);
}

static hg_status find_entry(const safetensors *s, const char *name, uint32_t *entry) {
    const hg_json_document *d = &s->d;
    uint32_t found = 0, count = 0;
    if (hg_json_kind_of(d, 0) != HG_JSON_OBJECT) return bad(s, 0, "an object expected");
    *entry = name ? hg_json_member(d, 0, name) : 0;
    if (name && !*entry)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: there is no tensor '%.100s'", s->path, name);
    for (uint32_t key = 1; key < hg_json_next(d, 0) && !name; key = hg_json_next(d, key + 1)) {
        if (hg_json_string_is(d, key, "__metadata__")) continue;
        found = key + 1;
        count++;
    }
    if (!name && count != 1)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: which tensor? name is NULL, the file has %s",
                       s->path, count ? "several" : "none");
    if (!name) *entry = found;
    return hg_json_kind_of(d, *entry) == HG_JSON_OBJECT ? HG_OK
                                                        : bad(s, *entry, "an object expected");
}

static hg_status member(const safetensors *s, uint32_t entry, const char *key, uint32_t *value) {
    char why[64] = "an entry without ";
    *value = hg_json_member(&s->d, entry, key);
    return *value ? HG_OK : bad(s, entry, strcat(why, key));
}

static hg_status read_type(const safetensors *s, uint32_t entry, hg_element *type) {
    uint32_t value;
    HG_TRY(member(s, entry, "dtype", &value));
    for (size_t i = 0; i < HG_COUNT_OF(DTYPES) && hg_json_is_string(&s->d, value); i++)
        if (hg_json_string_is(&s->d, value, DTYPES[i].name)) {
            *type = DTYPES[i].type;
            return HG_OK;
        }
    return bad(s, value, "a dtype that there is not here");
}

/* An array of at most `most` sizes. */
static hg_status read_sizes(const safetensors *s, uint32_t entry, const char *key, uint32_t most,
                            uint64_t *sizes, uint32_t *count) {
    uint32_t value;
    *count = 0;
    HG_TRY(member(s, entry, key, &value));
    if (hg_json_kind_of(&s->d, value) != HG_JSON_ARRAY || hg_json_length(&s->d, value) > most)
        return bad(s, value,
                   most == 2 ? "an array of two numbers expected"
                             : "an array of at most 8 extents expected");
    for (uint32_t item = value + 1; item < hg_json_next(&s->d, value);
         item = hg_json_next(&s->d, item)) {
        if (hg_json_kind_of(&s->d, item) != HG_JSON_INTEGER)
            return bad(s, item, "a whole number expected");
        hg_json_number number = hg_json_number_of(&s->d, item);
        if (number.kind != HG_JSON_U64) return bad(s, item, "a number of at most 64 bits expected");
        sizes[(*count)++] = number.u64;
    }
    return HG_OK;
}

static hg_status read_entry(const safetensors *s, hg_executor *executor, const char *name,
                            hg_tensor **tensor) {
    uint32_t entry = 0, rank, ends;
    uint64_t shape[HG_TENSOR_AXES], at[2], count;
    hg_element type = HG_TYPE_U8;
    HG_TRY(find_entry(s, name, &entry));
    HG_TRY(read_type(s, entry, &type));
    HG_TRY(read_sizes(s, entry, "shape", HG_TENSOR_AXES, shape, &rank));
    HG_TRY(read_sizes(s, entry, "data_offsets", 2, at, &ends));
    uint32_t where = hg_json_member(&s->d, entry, "data_offsets");
    if (ends != 2) return bad(s, where, "an array of two numbers expected");
    if (at[0] > at[1] || at[1] > s->file->length - s->data)
        return bad(s, where, "offsets that lie outside of the file");
    HG_TRY(tensor_check_shape(type, shape, rank, &count));
    if (count * tensor_size(type) != at[1] - at[0])
        return bad(s, where, "offsets that are not as far apart as shape and dtype say");
    return make(executor, type, s->file->data + s->data + at[0], shape, rank, tensor);
}

static hg_status load_safetensors(hg_executor *executor, const hg_bytes *file, const char *path,
                                  const char *name, hg_tensor **tensor) {
    safetensors s = {.path = path, .file = file};
    HG_TRY(open_safetensors(&s));
    hg_status status = read_entry(&s, executor, name, tensor);
    hg_json_document_free(&s.d);
    return status;
}

static hg_status load(hg_executor *executor, const hg_bytes *file, const char *path,
                      const char *name, hg_tensor **tensor) {
    if (file->length >= 6 && memcmp(file->data, "\x93NUMPY", 6) == 0) {
        if (!name) return load_npy(executor, file, path, tensor);
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: it is one array, without names; '%.100s' is asked for", path, name);
    }
    if (file->length >= 4 && memcmp(file->data, "PK", 2) == 0)
        return load_npz(executor, file, path, name, tensor);
    if (is_safetensors(file)) return load_safetensors(executor, file, path, name, tensor);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "%s: no .npy, .npz or safetensors file by its first bytes", path);
}

hg_status hg_tensor_load(hg_executor *executor, const char *path, const char *name,
                         hg_tensor **tensor) {
    HG_ENTRY;
    hg_bytes file = {0};
    if (!path || !tensor) return hg_null_argument(path ? "tensor" : "path");
    *tensor = NULL;
    HG_TRY(hg_file_map(NULL, path, &file));
    hg_status status = load(executor, &file, path, name, tensor);
    hg_error kept = *hg_error_record();
    hg_bytes_free(&file);
    *hg_error_record() = kept;
    return status;
}

/* ---- writing ---- */

typedef struct saving {
    const char *path;
    const hg_tensor *const *tensors;
    const char *const *names;
    uint32_t count;
    void **data; /* elements of each, in C order */
} saving;

static uint64_t bytes_of(const hg_tensor *t) {
    return tensor_numel(t->shape, t->rank) * tensor_size(t->type);
}

static hg_file_part elements_of(const saving *s, uint32_t i) {
    return (hg_file_part){.data = s->data[i], .length = bytes_of(s->tensors[i])};
}

static hg_npy_kind kind_of(hg_element type) {
    return type == HG_ELEMENT_BOOL   ? HG_NPY_BOOL
           : tensor_is_complex(type) ? HG_NPY_COMPLEX
                                     : HG_NPY_NUMBERS;
}

static hg_status add_npy(const saving *s, hg_outputs *outputs) {
    uint8_t header[HG_NPY_HEADER_BYTES];
    const hg_tensor *t = s->tensors[0];
    hg_file_part parts[2] = {{.data = header}, elements_of(s, 0)};
    parts[0].length = hg_npy_header_of(kind_of(t->type), tensor_stored(t->type), t->rank, t->shape,
                                       header);
    return hg_outputs_add(outputs, s->path, parts, 2);
}

static hg_status add_npz(const saving *s, hg_outputs *outputs) {
    hg_named_array *arrays = hg_calloc(s->count + 1, sizeof *arrays);
    if (!arrays) return hg_fail_memory();
    for (uint32_t i = 0; i < s->count; i++) {
        const hg_tensor *t = s->tensors[i];
        arrays[i] = (hg_named_array){.name = s->names[i],
                                     .type = tensor_stored(t->type),
                                     .rank = t->rank,
                                     .extent = t->shape,
                                     .elements = elements_of(s, i),
                                     .kind = kind_of(t->type)};
    }
    hg_status status = hg_outputs_add_npz(outputs, s->path, arrays, s->count);
    hg_free(arrays);
    return status;
}

static hg_status add_entry(const saving *s, uint32_t i, uint64_t *at, hg_json *json) {
    const hg_tensor *t = s->tensors[i];
    size_t k = 0;
    while (k < HG_COUNT_OF(DTYPES) && DTYPES[k].type != t->type) k++;
    if (k == HG_COUNT_OF(DTYPES))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: safetensors have no elements of type %s",
                       s->path, hg_element_name(t->type));
    hg_json_key(json, s->names[i]);
    hg_json_begin_object(json);
    hg_json_add_text(json, "dtype", DTYPES[k].name);
    hg_json_key(json, "shape");
    hg_json_begin_array(json);
    for (uint32_t d = 0; d < t->rank; d++) hg_json_u64(json, t->shape[d]);
    hg_json_end_array(json);
    hg_json_key(json, "data_offsets");
    hg_json_begin_array(json);
    hg_json_u64(json, *at);
    *at += bytes_of(t);
    hg_json_u64(json, *at);
    hg_json_end_array(json);
    hg_json_end_object(json);
    return HG_OK;
}

static hg_status add_safetensors(const saving *s, hg_outputs *outputs) {
    hg_text header = {0};
    hg_json json = {.out = &header};
    uint64_t at = 0;
    hg_status status = HG_OK;
    hg_text_add(&header, "????????", LENGTH_BYTES);
    hg_json_begin_object(&json);
    for (uint32_t i = 0; i < s->count && status == HG_OK; i++) status = add_entry(s, i, &at, &json);
    hg_json_end_object(&json);
    while (header.length % 8 && !header.failed) hg_text_add(&header, " ", 1);
    hg_file_part *parts = hg_calloc(s->count + 1, sizeof *parts);
    if (status == HG_OK && (header.failed || !parts)) status = hg_fail_memory();
    if (status == HG_OK) {
        uint64_t length = header.length - LENGTH_BYTES;
        for (int i = 0; i < LENGTH_BYTES; i++) header.data[i] = (char)(length >> 8 * i & 255);
        parts[0] = (hg_file_part){.data = header.data, .length = header.length};
        for (uint32_t i = 0; i < s->count; i++) parts[i + 1] = elements_of(s, i);
        status = hg_outputs_add(outputs, s->path, parts, s->count + 1);
    }
    hg_free(parts);
    hg_text_free(&header);
    return status;
}

static hg_status fetch(const saving *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const hg_tensor *t = s->tensors[i];
        s->data[i] = hg_alloc((size_t)bytes_of(t) + 1);
        if (!s->data[i]) return hg_fail_memory();
        HG_TRY(hg_tensor_to_host(t, s->data[i], tensor_numel(t->shape, t->rank)));
    }
    return HG_OK;
}

static hg_status write(const saving *s) {
    hg_outputs *outputs = hg_outputs_create();
    if (!outputs) return hg_fail_memory();
    hg_status status = hg_path_ends(s->path, ".npz")           ? add_npz(s, outputs)
                       : hg_path_ends(s->path, ".safetensors") ? add_safetensors(s, outputs)
                                                               : add_npy(s, outputs);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_error kept = *hg_error_record();
    hg_outputs_destroy(outputs);
    *hg_error_record() = kept;
    return status;
}

static hg_status check_names(const saving *s) {
    bool named = hg_path_ends(s->path, ".npz") || hg_path_ends(s->path, ".safetensors");
    if (!named && s->count == 1) return HG_OK;
    if (!named)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%s: %u tensors; a file that ends in .npz or .safetensors holds several",
                       s->path, (unsigned)s->count);
    if (!s->names) return hg_null_argument("names");
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->names[i]) return hg_null_argument("a name");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(s->names[i], s->names[k]) == 0)
                return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: two tensors are named '%.100s'",
                               s->path, s->names[i]);
    }
    return HG_OK;
}

hg_status hg_tensor_save(const char *path, const hg_tensor *const *tensors,
                         const char *const *names, uint32_t count) {
    HG_ENTRY;
    saving s = {.path = path, .tensors = tensors, .names = names, .count = count};
    if (!path || !tensors) return hg_null_argument(path ? "tensors" : "path");
    if (count > 65535)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u tensors, at most 65535 expected", path,
                       (unsigned)count);
    for (uint32_t i = 0; i < count; i++)
        if (!tensors[i]) return hg_null_argument("a tensor");
    HG_TRY(check_names(&s));
    s.data = hg_calloc(count + 1, sizeof *s.data);
    if (!s.data) return hg_fail_memory();
    hg_status status = fetch(&s);
    if (status == HG_OK) status = write(&s);
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; i < count; i++) hg_free(s.data[i]);
    hg_free(s.data);
    *hg_error_record() = kept;
    return status;
}

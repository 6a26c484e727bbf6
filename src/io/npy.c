/* .npy files, versions 1.0 to 3.0 (NumPy's format document, NEP 1). Must not know: where the bytes
 * come from. */
#include "io/io_internal.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RANK = HG_MAX_EXTENTS + 1 }; /* a wide integer has one more, its limbs */

/* ---- element types ---- */

static uint64_t limbs_of(hg_type type) {
    uint64_t bytes = hg_type_size_bytes(type);
    return bytes > 8 ? bytes / 8 : 0;
}

/* "<f4", "|u1": what NumPy calls the elements (language.md 5.2). */
static void dtype_of(hg_type type, char out[4]) {
    uint64_t bytes = hg_type_size_bytes(type);
    bool wide = bytes > 8;
    out[0] = bytes == 1 ? '|' : '<';
    out[1] = wide || type == HG_TYPE_BF16 || hg_type_is_unsigned(type) ? 'u'
             : hg_type_is_float(type)                                  ? 'f'
                                                                       : 'i';
    out[2] = (char)('0' + (wide ? 8 : bytes));
    out[3] = 0;
}

static hg_status fail_dtype(const char *what, const char *found, size_t length, hg_type type) {
    char expected[4];
    dtype_of(type, expected);
    bool letter = length &&
                  ((found[0] >= 'a' && found[0] <= 'z') || (found[0] >= 'A' && found[0] <= 'Z'));
    bool order = length && (found[0] == '<' || found[0] == '|' || found[0] == '=');
    const char *note = length && found[0] == '>' ? " (big-endian)"
                       : !order && !letter       ? " (structured or unknown)"
                                                 : "";
    char words[64] = "";
    if (limbs_of(type))
        snprintf(words, sizeof words, " with a last extent of %llu",
                 (unsigned long long)limbs_of(type));
    char cure[48] = ""; /* one element stays one */
    if (!words[0] && type != HG_TYPE_BF16 && length > 1 && length < 5 && strchr("fiub", found[1]))
        snprintf(cure, sizeof cure, " (in NumPy: x.astype('%s'))", expected);
    return IO_FAIL(
        HG_ERROR_INVALID_ARGUMENT, "P03", "%s: dtype is '%.*s'%s, expected '%s'%s for %s%s", what,
        (int)(length < 40 ? length : 40), found, note, expected, words, hg_type_name(type), cure);
}

/* Letters that NumPy has for the same elements, and names, which stand without an order. Left out
 * is what depends on the machine: l, int. */
static const char *code_of(const char *name, size_t length, bool ordered) {
    /* clang-format off */
    static const char *const NAMES[][2] = {
        {"e", "f2"}, {"f", "f4"}, {"d", "f8"}, {"b", "i1"}, {"h", "i2"}, {"i", "i4"}, {"q", "i8"}, {"B", "u1"}, {"H", "u2"}, {"I", "u4"},
        {"Q", "u8"}, {"float16", "f2"}, {"half", "f2"}, {"float32", "f4"}, {"single", "f4"}, {"float64", "f8"}, {"double", "f8"},
        {"float", "f8"}, {"int8", "i1"}, {"byte", "i1"}, {"int16", "i2"}, {"short", "i2"}, {"int32", "i4"}, {"intc", "i4"}, {"int64", "i8"},
        {"longlong", "i8"}, {"uint8", "u1"}, {"ubyte", "u1"}, {"uint16", "u2"}, {"ushort", "u2"}, {"uint32", "u4"}, {"uintc", "u4"},
        {"uint64", "u8"}, {"ulonglong", "u8"}};
    /* clang-format on */
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++)
        if (strlen(NAMES[i][0]) == length && memcmp(NAMES[i][0], name, length) == 0)
            return length > 1 && ordered ? "??" : NAMES[i][1];
    return length == 2 ? name : "??";
}

/* '=' and '|' are this machine's order of bytes, as is none at all: here little-endian. One byte
 * has no order. */
static hg_status check_dtype(const char *what, const char *found, size_t length, hg_type type) {
    char expected[4];
    dtype_of(type, expected);
    size_t order = length && strchr("<=|>", found[0]) ? 1 : 0;
    const char *code = code_of(found + order, length - order, order != 0);
    bool big = order && found[0] == '>' && expected[2] != '1';
    return !big && code[0] == expected[1] && code[1] == expected[2]
               ? HG_OK
               : fail_dtype(what, found, length, type);
}

/* ---- header: a Python dictionary of three keys ---- */

typedef struct header {
    const char *dtype;
    size_t dtype_length;
    bool fortran;
    uint32_t rank;
    uint64_t extent[MAX_RANK];
    bool has_dtype, has_order, has_shape;
} header;

typedef struct scanner {
    const char *at, *end;
    const char *what;
    bool python2; /* versions 1.0 and 2.0: numbers may end in L */
} scanner;

static hg_status malformed(const scanner *s, const char *expected) {
    int rest = (int)(s->end - s->at < 16 ? s->end - s->at : 16);
    char shown[17];
    for (int i = 0; i < rest; i++) shown[i] = s->at[i] >= 32 && s->at[i] < 127 ? s->at[i] : '?';
    shown[rest] = 0;
    return IO_FAIL(HG_ERROR_IO, "P06", "%s: malformed .npy header: expected %s, found '%s'",
                   s->what, expected, shown);
}

static void skip_blanks(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
}

static bool accept(scanner *s, char c) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static bool accept_word(scanner *s, const char *word) {
    size_t length = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
    s->at += length;
    return true;
}

static bool read_string(scanner *s, const char **text, size_t *length) {
    skip_blanks(s);
    if (s->end - s->at > 1 && (*s->at == 'u' || *s->at == 'U') &&
        (s->at[1] == '\'' || s->at[1] == '"'))
        s->at++;
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    const char *start = s->at + 1, *end = memchr(start, *s->at, (size_t)(s->end - start));
    if (!end) return false;
    *text = start;
    *length = (size_t)(end - start);
    s->at = end + 1;
    return true;
}

static hg_status read_extent(scanner *s, uint64_t *value) {
    skip_blanks(s);
    if (s->at == s->end || *s->at < '0' || *s->at > '9') return malformed(s, "an extent");
    size_t digits = hg_read_digits((const char *)s->at, (size_t)(s->end - s->at), value);
    if (!digits)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04", "%s: an extent is 2^64 or more", s->what);
    s->at += digits;
    if (s->python2 && s->at < s->end && *s->at == 'L') s->at++;
    return HG_OK;
}

static hg_status read_shape(scanner *s, header *h) {
    if (!accept(s, '(')) return malformed(s, "the tuple of the shape");
    while (!accept(s, ')')) {
        if (h->rank == MAX_RANK)
            return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04", "%s: more than %d dimensions", s->what,
                           (int)HG_MAX_EXTENTS);
        HG_TRY(read_extent(s, &h->extent[h->rank]));
        h->rank++;
        if (accept(s, ',')) continue;
        if (!accept(s, ')')) return malformed(s, "',' or ')'");
        return HG_OK;
    }
    return HG_OK;
}

static hg_status read_dtype(scanner *s, header *h, hg_type type) {
    skip_blanks(s);
    const char *start = s->at;
    if (read_string(s, &h->dtype, &h->dtype_length)) return HG_OK;
    return fail_dtype(s->what, start, (size_t)(s->end - start), type);
}

static hg_status read_entry(scanner *s, header *h, hg_type type) {
    const char *key;
    size_t length;
    if (!read_string(s, &key, &length)) return malformed(s, "a key");
    if (!accept(s, ':')) return malformed(s, "':'");
    if (length == 5 && memcmp(key, "descr", 5) == 0 && !h->has_dtype) {
        h->has_dtype = true;
        return read_dtype(s, h, type);
    }
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !h->has_order) {
        h->has_order = true;
        h->fortran = accept_word(s, "True");
        return h->fortran || accept_word(s, "False") ? HG_OK : malformed(s, "True or False");
    }
    if (length == 5 && memcmp(key, "shape", 5) == 0 && !h->has_shape) {
        h->has_shape = true;
        return read_shape(s, h);
    }
    s->at = key;
    return malformed(s, "descr, fortran_order and shape, each once");
}

static hg_status read_header(scanner *s, header *h, hg_type type) {
    if (!accept(s, '{')) return malformed(s, "'{'");
    while (!accept(s, '}')) {
        HG_TRY(read_entry(s, h, type));
        if (accept(s, ',')) continue;
        if (!accept(s, '}')) return malformed(s, "',' or '}'");
        break;
    }
    skip_blanks(s);
    if (s->at != s->end) return malformed(s, "the end of the header");
    if (!h->has_dtype || !h->has_order || !h->has_shape)
        return malformed(s, "descr, fortran_order and shape");
    return HG_OK;
}

/* ---- the file ---- */

static hg_status check_order(const header *h, const char *what) {
    uint32_t above_one = 0;
    for (uint32_t i = 0; i < h->rank; i++) above_one += h->extent[i] > 1;
    if (h->fortran && above_one > 1)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                       "%s: the array is in Fortran order, expected C order", what);
    return HG_OK;
}

/* Takes the limbs of a wide integer off the shape. */
static hg_status check_limbs(header *h, const char *what, hg_type type) {
    uint64_t limbs = limbs_of(type);
    if (limbs) {
        uint64_t last = h->rank ? h->extent[h->rank - 1] : 0;
        if (last != limbs)
            return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                           "%s: %s needs a last dimension of %llu 64-bit limbs, found %llu", what,
                           hg_type_name(type), (unsigned long long)limbs, (unsigned long long)last);
        h->rank--;
    }
    if (h->rank > HG_MAX_EXTENTS)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                       "%s: %u dimensions, at most %d are allowed", what, h->rank,
                       (int)HG_MAX_EXTENTS);
    return HG_OK;
}

/* parts: numbers of the type that an element is */
static hg_status fill_shape(const header *h, const char *what, hg_type type, uint64_t parts,
                            hg_array *out) {
    uint64_t elements = 1, bytes;
    bool fits = true, empty = false;
    for (uint32_t i = 0; i < h->rank; i++) empty |= h->extent[i] == 0;
    for (uint32_t i = 0; i < h->rank && !empty; i++)
        fits = fits && hg_mul_u64(elements, h->extent[i], &elements);
    if (empty) elements = 0;
    fits = fits && hg_mul_u64(elements, hg_type_size_bytes(type) * parts, &bytes);
    if (!fits)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04", "%s: the shape is larger than any memory",
                       what);
    *out = (hg_array){
        .type = type, .rank = h->rank, .elements = elements, .bytes = bytes, .shaped = true};
    memcpy(out->extent, h->extent, h->rank * sizeof *h->extent);
    return HG_OK;
}

hg_status hg_npy_check_data(const hg_array *array, const char *what, uint64_t bytes) {
    if (bytes == array->bytes) return HG_OK;
    return IO_FAIL(HG_ERROR_IO, "P06", "%s: the shape needs %llu bytes of data, the file has %llu",
                   what, (unsigned long long)array->bytes, (unsigned long long)bytes);
}

/* type: of messages */
static hg_status open_header(const uint8_t *b, uint64_t length, const char *what, hg_type type,
                             header *h, uint64_t *start, uint64_t *needed) {
    *needed = 12;
    if (length < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return IO_FAIL(HG_ERROR_IO, "P06", "%s: not a .npy file: it does not begin with \\x93NUMPY",
                       what);
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return IO_FAIL(HG_ERROR_IO, "P06", "%s: .npy version %u.%u, expected 1.0, 2.0 or 3.0", what,
                       b[6], b[7]);
    uint64_t prefix = b[6] == 1 ? 10 : 12;
    uint64_t header_bytes = (uint64_t)b[8] | (uint64_t)b[9] << 8;
    if (prefix == 12 && length >= 12) header_bytes |= (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
    *start = *needed = prefix + header_bytes;
    if (length < prefix || header_bytes > length - prefix)
        return IO_FAIL(HG_ERROR_IO, "P06", "%s: the file ends inside its .npy header", what);
    *needed = 0;
    scanner s = {(const char *)b + prefix, (const char *)b + prefix + header_bytes, what, b[6] < 3};
    *h = (header){0};
    return read_header(&s, h, type);
}

hg_status hg_npy_layout(const uint8_t *b, uint64_t length, const char *what, hg_type type,
                        hg_array *out, uint64_t *start, uint64_t *needed) {
    header h;
    *out = (hg_array){0};
    HG_TRY(open_header(b, length, what, type, &h, start, needed));
    HG_TRY(check_dtype(what, h.dtype, h.dtype_length, type));
    HG_TRY(check_order(&h, what));
    HG_TRY(check_limbs(&h, what, type));
    return fill_shape(&h, what, type, 1, out);
}

/* "c8", "c16", and NumPy's letters and names for them. */
static bool is_complex(const char *name, size_t length, hg_type *type) {
    static const char *const NAMES[] = {"c8", "F", "complex64", "c16", "D", "complex128"};
    for (size_t i = 0; i < HG_COUNT_OF(NAMES); i++)
        if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) {
            *type = i < 3 ? HG_TYPE_F32 : HG_TYPE_F64;
            return true;
        }
    return false;
}

/* The type that a dtype is, bool as u8, of complex numbers that of their parts. */
static hg_status type_of(const header *h, const char *what, hg_type *type, hg_npy_kind *kind) {
    size_t order = h->dtype_length && strchr("<=|>", h->dtype[0]) ? 1 : 0;
    const char *code = code_of(h->dtype + order, h->dtype_length - order, order != 0);
    *kind = HG_NPY_NUMBERS;
    if (!(order && h->dtype[0] == '>') &&
        is_complex(h->dtype + order, h->dtype_length - order, type)) {
        *kind = HG_NPY_COMPLEX;
        return HG_OK;
    }
    bool big = order && h->dtype[0] == '>' && code[1] != '1';
    *type = HG_TYPE_U8;
    if ((code[0] == 'b' && code[1] == '1') ||
        (h->dtype_length == 4 && memcmp(h->dtype, "bool", 4) == 0)) {
        *kind = HG_NPY_BOOL;
        return HG_OK;
    }
    for (int t = 0; t < HG_TYPE_COUNT && !big; t++) {
        char own[4];
        if (t == HG_TYPE_BF16 || limbs_of((hg_type)t)) continue;
        dtype_of((hg_type)t, own);
        *type = (hg_type)t;
        if (own[1] == code[0] && own[2] == code[1]) return HG_OK;
    }
    char shown[41];
    size_t length = h->dtype_length < 40 ? h->dtype_length : 40;
    for (size_t i = 0; i < length; i++)
        shown[i] = h->dtype[i] >= 32 && h->dtype[i] < 127 ? h->dtype[i] : '?';
    shown[length] = 0;
    return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P03",
                   "%s: dtype is '%s'%s, expected bool, integers of 8 to 64 bits, floats of 16, 32 "
                   "or 64, or complex64 or 128",
                   what, shown, big ? " (big-endian)" : "");
}

hg_status hg_npy_parse_any(const void *bytes, uint64_t length, const char *what, hg_npy_kind *kind,
                           bool *fortran, hg_array *out) {
    header h;
    uint64_t start, needed;
    hg_type type;
    *out = (hg_array){0};
    HG_TRY(open_header(bytes, length, what, HG_TYPE_U8, &h, &start, &needed));
    HG_TRY(type_of(&h, what, &type, kind));
    HG_TRY(check_limbs(&h, what, type));
    HG_TRY(fill_shape(&h, what, type, *kind == HG_NPY_COMPLEX ? 2 : 1, out));
    hg_status status = hg_npy_check_data(out, what, length - start);
    *fortran = h.fortran;
    if (status == HG_OK) out->data = (const uint8_t *)bytes + start;
    return status;
}

hg_status hg_npy_parse(const void *bytes, uint64_t length, const char *what, hg_type type,
                       hg_array *out) {
    uint64_t start, needed;
    hg_status status = hg_npy_layout(bytes, length, what, type, out, &start, &needed);
    if (status == HG_OK) status = hg_npy_check_data(out, what, length - start);
    if (status == HG_OK)
        out->data = (const uint8_t *)bytes + start;
    else
        *out = (hg_array){0};
    return status;
}

/* ---- writing ---- */

/* As NumPy 1.24 lays it out: room for the first extent to grow to 21 digits, then 1 to 64 blanks up
 * to a multiple of 64. */
size_t hg_npy_header_of(hg_npy_kind kind, hg_type type, uint32_t rank, const uint64_t *extent,
                        uint8_t out[HG_NPY_HEADER_BYTES]) {
    char dtype[5], text[HG_NPY_HEADER_BYTES], digits[24];
    dtype_of(type, dtype);
    if (kind == HG_NPY_BOOL) dtype[1] = 'b';
    if (kind == HG_NPY_COMPLEX) strcpy(dtype, type == HG_TYPE_F32 ? "<c8" : "<c16");
    uint64_t all[MAX_RANK], limbs = limbs_of(type);
    for (uint32_t i = 0; i < rank; i++) all[i] = extent[i];
    if (limbs) all[rank++] = limbs;
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{'descr': '%s', 'fortran_order': False, 'shape': (", dtype);
    for (uint32_t i = 0; i < rank; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu%s", i ? ", " : "",
                                 (unsigned long long)all[i], rank == 1 ? "," : "");
    used += (size_t)snprintf(text + used, sizeof text - used, "), }");
    size_t spare = rank ? 21 - (size_t)snprintf(digits, sizeof digits, "%llu",
                                                (unsigned long long)all[0])
                        : 0;
    size_t unpadded = 10 + used + spare + 1, total = unpadded + 64 - unpadded % 64;
    memset(out, ' ', total);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (uint8_t)((total - 10) & 255);
    out[9] = (uint8_t)((total - 10) >> 8);
    memcpy(out + 10, text, used);
    out[total - 1] = '\n';
    return total;
}

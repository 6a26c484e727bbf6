/* .npz: a zip archive of .npy members (APPNOTE.TXT 6.3, sections 4.3 and 4.5.3), and the choice of
 * a reader by the first bytes.
 * Must not know: parameters. */
#include "io/io_internal.h"

#include <string.h>

static uint64_t little(const uint8_t *b, int bytes) {
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | b[i];
    return value;
}

uint32_t hg_crc32(uint32_t crc, const uint8_t *data, uint64_t length) {
    uint32_t table[256];
    crc = ~crc;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
        table[i] = c;
    }
    for (uint64_t i = 0; i < length; i++) crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    return ~crc;
}

static hg_status bad_zip(const char *what, const char *why) {
    return IO_FAIL(HG_ERROR_IO, "P06", "%s: not a readable .npz file: %s", what, why);
}

typedef struct directory {
    uint64_t offset, bytes, entries;
} directory;

/* The end record stands behind everything but a comment of at most 65,535 bytes. */
static hg_status find_directory(const hg_bytes *file, const char *what, directory *d) {
    const uint8_t *b = file->data;
    uint64_t n = file->length;
    if (n < 22) return bad_zip(what, "too short");
    uint64_t lowest = n > 22 + 65535 ? n - 22 - 65535 : 0, at = n - 22;
    while (little(b + at, 4) != 0x06054B50 || at + 22 + little(b + at + 20, 2) != n) {
        if (at == lowest) return bad_zip(what, "no end record");
        at--;
    }
    *d = (directory){little(b + at + 16, 4), little(b + at + 12, 4), little(b + at + 10, 2)};
    if (at >= 20 && little(b + at - 20, 4) == 0x07064B50) { /* zip64: a locator before it, the wide
                                                               record elsewhere */
        uint64_t wide = little(b + at - 12, 8);
        if (wide > n || n - wide < 56 || little(b + wide, 4) != 0x06064B50)
            return bad_zip(what, "bad zip64 end record");
        *d = (directory){little(b + wide + 48, 8), little(b + wide + 40, 8),
                         little(b + wide + 32, 8)};
    }
    if (d->offset > n || d->bytes > n - d->offset)
        return bad_zip(what, "the directory lies outside the file");
    return HG_OK;
}

typedef struct member {
    uint64_t flags, method, crc, packed, size, local;
} member;

/* Sizes that do not fit 32 bits stand in the extra field 1, in this order, those that do are left
 * out there. */
static bool read_wide_sizes(const uint8_t *extra, uint64_t left, member *m) {
    while (left >= 4) {
        uint64_t kind = little(extra, 2), size = little(extra + 2, 2);
        if (size > left - 4) return false;
        const uint8_t *field = extra + 4, *end = field + size;
        uint64_t *values[] = {&m->size, &m->packed, &m->local};
        for (size_t i = 0; i < HG_COUNT_OF(values) && kind == 1; i++) {
            if (*values[i] != UINT32_MAX) continue;
            if (end - field < 8) return false;
            *values[i] = little(field, 8);
            field += 8;
        }
        extra += 4 + size;
        left -= 4 + size;
    }
    return true;
}

/* The entry at d->offset, and d behind it. */
typedef struct entry {
    const uint8_t *at;
    uint64_t name_bytes, extra;
} entry;

static hg_status next_entry(const hg_bytes *file, const char *what, directory *d, entry *e) {
    *e = (entry){.at = file->data + d->offset};
    if (d->bytes < 46 || little(e->at, 4) != 0x02014B50)
        return bad_zip(what, "bad directory entry");
    e->name_bytes = little(e->at + 28, 2);
    e->extra = little(e->at + 30, 2);
    uint64_t bytes = 46 + e->name_bytes + e->extra + little(e->at + 32, 2);
    if (bytes > d->bytes) return bad_zip(what, "bad directory entry");
    d->offset += bytes;
    d->bytes -= bytes;
    d->entries--;
    return HG_OK;
}

static hg_status no_member(const hg_bytes *file, const char *what, const char *name) {
    hg_text names = {0};
    if (hg_npz_names(file, what, &names) != HG_OK) names.length = 0;
    for (size_t at = 0; at + 1 < names.length; at++)
        if (names.data[at] == '\n') names.data[at] = ' ';
    if (names.length) names.data[names.length - 1] = '\0';
    hg_status status = IO_FAIL(HG_ERROR_IO, "P06", "%s: has no member '%s'; its arrays: %.200s",
                               what, name, names.length ? names.data : "none");
    hg_text_free(&names);
    return status;
}

/* Of members with one name the last: it was appended later, and NumPy and unzip take it too. */
static hg_status find_member(const hg_bytes *file, const char *what, const char *name, member *m) {
    directory d;
    entry e, last = {0};
    HG_TRY(find_directory(file, what, &d));
    const size_t name_length = strlen(name);
    while (d.entries) {
        HG_TRY(next_entry(file, what, &d, &e));
        if (e.name_bytes == name_length && memcmp(e.at + 46, name, name_length) == 0) last = e;
    }
    if (!last.at) return no_member(file, what, name);
    *m = (member){little(last.at + 8, 2),  little(last.at + 10, 2), little(last.at + 16, 4),
                  little(last.at + 20, 4), little(last.at + 24, 4), little(last.at + 42, 4)};
    return read_wide_sizes(last.at + 46 + last.name_bytes, last.extra, m)
               ? HG_OK
               : bad_zip(what, "bad extra field");
}

hg_status hg_npz_names(const hg_bytes *file, const char *what, hg_text *names) {
    directory d;
    entry e;
    HG_TRY(find_directory(file, what, &d));
    while (d.entries) {
        HG_TRY(next_entry(file, what, &d, &e));
        const char *name = (const char *)e.at + 46;
        if (e.name_bytes <= 4 || memcmp(name + e.name_bytes - 4, ".npy", 4) != 0 ||
            memchr(name, '\n', (size_t)e.name_bytes))
            continue;
        hg_text_add(names, name, (size_t)e.name_bytes - 4);
        hg_text_add(names, "\n", 1);
    }
    return names->failed ? hg_fail_memory() : HG_OK;
}

static hg_status unpack(const hg_bytes *file, const char *what, const member *m, hg_bytes *out) {
    uint64_t n = file->length;
    if (m->flags & 1) return bad_zip(what, "the member is encrypted");
    if (m->local > n || n - m->local < 30 || little(file->data + m->local, 4) != 0x04034B50)
        return bad_zip(what, "bad member header");
    uint64_t start = m->local + 30 + little(file->data + m->local + 26, 2) +
                     little(file->data + m->local + 28, 2);
    if (start > n || m->packed > n - start)
        return bad_zip(what, "the member's data lies outside the file");
    if (m->method != 0 && m->method != 8)
        return bad_zip(what, "the member is compressed by a method other than deflate");
    if (m->method == 0 && m->packed != m->size) return bad_zip(what, "bad member size");
    if (m->size / 1032 > m->packed)
        return bad_zip(what, "bad member size"); /* deflate packs at most 258 bytes into 2 bits */
    bool memory_failed = false, done = true, mapped = m->method == 0 && file->mapping;
    if (mapped)
        hg_bytes_part(file, start, m->size, out);
    else
        HG_TRY(hg_bytes_alloc_in(file->budget, m->size, out));
    if (m->method == 0 && !mapped)
        memcpy(out->data, file->data + start, (size_t)m->size);
    else if (!mapped)
        done = hg_inflate(file->data + start, m->packed, out->data, m->size, &memory_failed);
    if (done && hg_crc32(0, out->data, out->length) == m->crc) return HG_OK;
    hg_bytes_free(out);
    return memory_failed ? hg_fail_memory()
                         : bad_zip(what, done ? "the member's checksum is wrong"
                                              : "the member's compressed data is malformed");
}

enum {
    MOST_HEADER = 12 + 65536
}; /* of a .npy: what a member may have beside its data, whatever that is */

static hg_status unpack_within(const hg_bytes *file, const char *what, const char *name,
                               uint64_t most, hg_bytes *out) {
    member m = {0};
    *out = (hg_bytes){0};
    HG_TRY(find_member(file, what, name, &m));
    if (m.size > most && m.size - most > MOST_HEADER)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                       "%s: '%s' has %llu bytes, more than the %llu of its declared shape", what,
                       name, (unsigned long long)m.size, (unsigned long long)most);
    return unpack(file, what, &m, out);
}

hg_status hg_npz_member(const hg_bytes *file, const char *what, const char *name, hg_bytes *out) {
    return unpack_within(file, what, name, UINT64_MAX, out);
}

/* ---- arrays ---- */

void hg_array_free(hg_array *array) {
    hg_bytes_free(&array->memory);
    *array = (hg_array){0};
}

static hg_status check_whole(const char *path, hg_type type, uint64_t bytes) {
    uint64_t size = hg_type_size_bytes(type);
    if (size && bytes % size == 0) return HG_OK;
    return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                   "%s: %llu bytes are not a whole number of %s elements of %llu bytes", path,
                   (unsigned long long)bytes, hg_type_name(type), (unsigned long long)size);
}

static hg_status read_all_raw(hg_input *in, hg_type type, const hg_array_bounds *bounds,
                              hg_bytes *bytes) {
    if (in->size > bounds->most) { /* it says so itself: not read */
        HG_TRY(check_whole(in->path, type, in->size));
        *bytes = (hg_bytes){.length = in->size};
        return HG_OK;
    }
    HG_TRY(hg_input_read(in, bounds->most < UINT64_MAX ? bounds->most + 1 : UINT64_MAX));
    if (in->used > bounds->most)
        return IO_FAIL(HG_ERROR_INVALID_ARGUMENT, "P04",
                       "%s: it has more than the %llu bytes of its declared shape", in->path,
                       (unsigned long long)bounds->most);
    HG_TRY(check_whole(in->path, type, in->used));
    hg_input_take(in, bytes);
    return HG_OK;
}

static hg_status read_raw(hg_input *in, hg_type type, const hg_array_bounds *bounds,
                          hg_array *out) {
    hg_bytes bytes = {0};
    HG_TRY(read_all_raw(in, type, bounds, &bytes));
    uint64_t elements = bytes.length / hg_type_size_bytes(type);
    *out = (hg_array){.type = type,
                      .rank = 1,
                      .extent = {elements},
                      .elements = elements,
                      .bytes = bytes.length,
                      .data = bytes.data,
                      .memory = bytes};
    return HG_OK;
}

/* The header first: what it says decides whether the rest is read. */
static hg_status read_npy(hg_input *in, const char *what, hg_type type,
                          const hg_array_bounds *bounds, hg_array *out) {
    uint64_t start = 0, needed = 12;
    hg_status status;
    do {
        HG_TRY(hg_input_read(in, needed));
        status = hg_npy_layout(in->bytes.data, in->used, what, type, out, &start, &needed);
    } while (status != HG_OK && needed > in->used && !in->ended);
    HG_TRY(status);
    if (in->size) HG_TRY(hg_npy_check_data(out, what, in->size - start));
    if (out->bytes > bounds->most) return HG_OK;
    if (!hg_add_u64(start, out->bytes, &in->size) || in->size == UINT64_MAX)
        return hg_fail_memory();
    HG_TRY(hg_input_read(in, in->size + 1));
    HG_TRY(hg_npy_check_data(out, what, in->used - start));
    hg_input_take(in, &out->memory);
    out->data = out->memory.data + start;
    return HG_OK;
}

static bool ends_in(const char *what, const char *name) {
    size_t length = strlen(what), tail = strlen(name);
    return length > tail && what[length - tail - 1] == ':' &&
           strcmp(what + length - tail, name) == 0;
}

hg_status hg_npz_array(const hg_bytes *file, const char *what, const char *name, hg_type type,
                       const hg_array_bounds *bounds, hg_array *out) {
    hg_text key = {0};
    hg_bytes bytes = {0};
    *out = (hg_array){0};
    hg_text_addf(&key, "%s.npy", name);
    hg_status status = key.failed ? hg_fail_memory()
                                  : unpack_within(file, what, key.data, bounds->most, &bytes);
    key.length = 0; /* as FILE.npz:KEY, which `what` may be already */
    hg_text_addf(&key, "%s%s%s", what, ends_in(what, name) ? "" : ":",
                 ends_in(what, name) ? "" : name);
    if (status == HG_OK)
        status = key.failed ? hg_fail_memory()
                            : hg_npy_parse(bytes.data, bytes.length, key.data, type, out);
    bool kept = status == HG_OK && out->bytes <= bounds->most; /* more than that is not handed out
                                                                */
    if (kept)
        out->memory = bytes;
    else
        hg_bytes_free(&bytes);
    if (!kept) out->data = NULL;
    hg_text_free(&key);
    return status;
}

static hg_status read_npz(hg_input *in, const char *source, const char *key, hg_type type,
                          const hg_array_bounds *bounds, hg_array *out) {
    hg_bytes file = {0};
    if (!hg_input_map(in, &file)) {
        HG_TRY(hg_input_read(in, UINT64_MAX));
        hg_input_take(in, &file);
    }
    hg_status status = file.data ? hg_npz_array(&file, source, key, type, bounds, out)
                                 : bad_zip(source, "too short");
    hg_bytes_free(&file);
    return status;
}

static bool begins(const hg_input *in, const char *bytes, size_t length) {
    return in->used >= length && memcmp(in->bytes.data, bytes, length) == 0;
}

static bool is_zip(const hg_input *in) {
    return begins(in, "PK\3\4", 4) || begins(in, "PK\5\6", 4);
}

/* The first bytes say what it is. Where they say nothing, the name says what was meant, for the
 * message. */
static hg_status read_any(hg_input *in, const char *source, const char *key, const char *name,
                          hg_type type, const hg_array_bounds *bounds, hg_array *out) {
    HG_TRY(hg_input_read(in, 8));
    bool zip = is_zip(in) || key || (hg_path_ends(in->path, ".npz") && !begins(in, "\x93NUMPY", 6));
    if (zip) return read_npz(in, key ? source : in->path, key ? key : name, type, bounds, out);
    if (begins(in, "\x93NUMPY", 6) || hg_path_ends(in->path, ".npy"))
        return read_npy(in, in->path, type, bounds, out);
    return IO_FAIL(HG_ERROR_IO, "P06",
                   "%s: neither a .npy nor a .npz file; bytes without a header are raw:%s",
                   in->path, source);
}

/* The ':' of "x.npz:key", NULL when there is none. */
static const char *find_key(const char *source) {
    const char *found = NULL;
    for (const char *at = source; (at = strstr(at, ".npz:")); at++) found = at + 4;
    return found;
}

const char *hg_path_of_raw(const char *source) {
    return strncmp(source, "raw:", 4) == 0 ? source + 4 : NULL;
}

static hg_status read_path(const char *path, const char *source, const char *key, const char *name,
                           hg_type type, const hg_array_bounds *bounds, hg_array *out) {
    hg_input in;
    HG_TRY(hg_input_open(&in, path, bounds->budget));
    hg_status status = hg_path_of_raw(source) ? read_raw(&in, type, bounds, out)
                                              : read_any(&in, source, key, name, type, bounds, out);
    hg_input_close(&in);
    if (status != HG_OK) *out = (hg_array){0};
    return status;
}

hg_status hg_array_read_within(const char *source, const char *name, hg_type type,
                               const hg_array_bounds *bounds, hg_array *out) {
    *out = (hg_array){0};
    const char *raw = hg_path_of_raw(source), *key = raw ? NULL : find_key(source);
    if (!key) return read_path(raw ? raw : source, source, NULL, name, type, bounds, out);
    hg_text path = {0};
    hg_text_add(&path, source, (size_t)(key - source));
    hg_status status = path.failed ? hg_fail_memory()
                                   : read_path(path.data, source, key + 1, name, type, bounds, out);
    hg_text_free(&path);
    return status;
}

hg_status hg_array_read(const char *source, const char *name, hg_type type, hg_array *out) {
    return hg_array_read_within(source, name, type, &(hg_array_bounds){UINT64_MAX, NULL}, out);
}

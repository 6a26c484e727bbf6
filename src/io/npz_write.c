/* A .npz of arrays: a zip archive of .npy members, stored, with 64-bit sizes throughout
 * (APPNOTE.TXT 6.3, sections 4.3 and 4.5.3), as NumPy writes it. Two runs with the same arrays give
 * the same bytes: the date is the archive format's first.
 * Must not know: parameters, how files get in place. */
#include "io/io_internal.h"

#include <string.h>

enum { VERSION = 45, UTF8_NAMES = 0x0800, FIRST_DATE = 0x0021, NARROW = UINT16_MAX };

static void add_number(hg_text *out, uint64_t value, int bytes) {
    char text[8];
    for (int i = 0; i < bytes; i++) text[i] = (char)(uint8_t)(value >> (8 * i));
    hg_text_add(out, text, (size_t)bytes);
}

/* A member as the two kinds of header say it. */
typedef struct member {
    const char *name; /* without .npy */
    uint64_t size, offset;
    uint32_t crc;
} member;

/* Sizes, and in the directory the offset, stand in the extra field 1; the fields of 32 bits say so.
 */
static void add_header(hg_text *out, const member *m, bool directory) {
    add_number(out, directory ? 0x02014B50 : 0x04034B50, 4);
    if (directory) add_number(out, VERSION, 2);
    add_number(out, VERSION, 2);
    add_number(out, UTF8_NAMES, 2);
    add_number(out, 0, 2); /* stored */
    add_number(out, 0, 2);
    add_number(out, FIRST_DATE, 2);
    add_number(out, m->crc, 4);
    add_number(out, UINT32_MAX, 4);
    add_number(out, UINT32_MAX, 4);
    add_number(out, strlen(m->name) + 4, 2);
    add_number(out, directory ? 28 : 20, 2);
    if (directory) {
        add_number(out, 0, 6); /* no comment, the first disk, no inner attributes */
        add_number(out, (uint64_t)0100644 << 16, 4);
        add_number(out, UINT32_MAX, 4);
    }
    hg_text_add(out, m->name, strlen(m->name));
    hg_text_add(out, ".npy", 4);
    add_number(out, 1, 2);
    add_number(out, directory ? 24 : 16, 2);
    add_number(out, m->size, 8);
    add_number(out, m->size, 8);
    if (directory) add_number(out, m->offset, 8);
}

static void add_end(hg_text *out, uint64_t count, uint64_t offset, uint64_t bytes) {
    add_number(out, 0x06064B50, 4);
    add_number(out, 44, 8);
    add_number(out, VERSION, 2);
    add_number(out, VERSION, 2);
    add_number(out, 0, 8);
    add_number(out, count, 8);
    add_number(out, count, 8);
    add_number(out, bytes, 8);
    add_number(out, offset, 8);
    add_number(out, 0x07064B50, 4);
    add_number(out, 0, 4);
    add_number(out, offset + bytes, 8);
    add_number(out, 1, 4);
    add_number(out, 0x06054B50, 4);
    add_number(out, 0, 4);
    add_number(out, count < NARROW ? count : NARROW, 2);
    add_number(out, count < NARROW ? count : NARROW, 2);
    add_number(out, UINT32_MAX, 4);
    add_number(out, UINT32_MAX, 4);
    add_number(out, 0, 2);
}

/* Elements are read once for their sum and once more when they are written. */
static hg_status sum_part(const hg_file_part *part, uint32_t *crc) {
    if (!part->read) {
        *crc = hg_crc32(*crc, part->data, part->length);
        return HG_OK;
    }
    void *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    for (uint64_t at = 0; at < part->length && status == HG_OK; at += HG_PART_BYTES) {
        uint64_t length = part->length - at < HG_PART_BYTES ? part->length - at : HG_PART_BYTES;
        status = part->read(part->user, at, piece, length);
        if (status == HG_OK) *crc = hg_crc32(*crc, piece, length);
    }
    hg_free(piece);
    return status;
}

typedef struct archive {
    hg_text headers; /* of all members, and the directory behind them */
    uint64_t length; /* of the archive so far */
    member *members;
    hg_file_part *parts; /* a header and elements in turn, the directory at last; a header's data is
                            set when all are there */
} archive;

static hg_status add_member(archive *a, size_t index, const char *path,
                            const hg_named_array *array) {
    uint8_t header[HG_NPY_HEADER_BYTES];
    hg_file_part *elements = &a->parts[2 * index + 1];
    member *m = &a->members[index];
    *elements = array->elements;
    HG_TRY(hg_npy_size(path, array->type, array->rank, array->extent, &elements->length));
    if (array->kind == HG_NPY_COMPLEX && !hg_mul_u64(elements->length, 2, &elements->length))
        return hg_fail_memory();
    size_t before = a->headers.length,
           header_bytes = hg_npy_header_of(array->kind, array->type, array->rank, array->extent,
                                           header);
    *m = (member){
        .name = array->name, .offset = a->length, .crc = hg_crc32(0, header, header_bytes)};
    if (!hg_add_u64(elements->length, header_bytes, &m->size)) return hg_fail_memory();
    HG_TRY(sum_part(elements, &m->crc));
    add_header(&a->headers, m, false);
    hg_text_add(&a->headers, (const char *)header, header_bytes);
    a->parts[2 * index].length = a->headers.length - before;
    if (!hg_add_u64(a->length, a->parts[2 * index].length, &a->length) ||
        !hg_add_u64(a->length, elements->length, &a->length))
        return hg_fail_memory();
    return a->headers.failed ? hg_fail_memory() : HG_OK;
}

static hg_status add_directory(archive *a, size_t count) {
    size_t start = a->headers.length;
    for (size_t i = 0; i < count; i++) add_header(&a->headers, &a->members[i], true);
    add_end(&a->headers, count, a->length, a->headers.length - start);
    if (a->headers.failed) return hg_fail_memory();
    a->parts[2 * count].length = a->headers.length - start;
    const char *at = a->headers.data;
    for (size_t i = 0; i <= count; at += a->parts[2 * i++].length) a->parts[2 * i].data = at;
    return HG_OK;
}

hg_status hg_outputs_add_npz(hg_outputs *outputs, const char *path, const hg_named_array *arrays,
                             size_t count) {
    archive a = {.members = hg_calloc(count + 1, sizeof *a.members),
                 .parts = hg_calloc(2 * count + 1, sizeof *a.parts)};
    hg_status status = a.members && a.parts ? HG_OK : hg_fail_memory();
    for (size_t i = 0; i < count && status == HG_OK; i++)
        status = add_member(&a, i, path, &arrays[i]);
    if (status == HG_OK) status = add_directory(&a, count);
    if (status == HG_OK) status = hg_outputs_add(outputs, path, a.parts, 2 * count + 1);
    hg_text_free(&a.headers);
    hg_free(a.members);
    hg_free(a.parts);
    return status;
}

/* Files and array files: reading whole files, .npy, .npz and raw arrays, writing outputs that
 * appear all or not at all. Failures are HG_ERROR_IO or HG_ERROR_INVALID_ARGUMENT with the
 * diagnostic code in hg_error (P03 dtype, P04 shape, P06 not readable, S05 too large, X02 write
 * failed). Must not know: programs, parameters, devices. */
#ifndef HG_IO_IO_H
#define HG_IO_IO_H

#include "base/base.h"
#include "base/budget.h"

/* ---- whole files (file.c) ---- */

/* Contents of a file: 64-byte aligned, a NUL behind them that does not count. Zero-initialise; free
 * with hg_bytes_free. */
typedef struct hg_bytes {
    uint8_t *data;
    uint64_t length;
    hg_budget *budget; /* that it is charged to; NULL: to none */
    uint64_t charged;
    struct hg_mapping *mapping; /* of a file, that data lies in: for reading alone, without the NUL;
                                   NULL: memory of its own */
} hg_bytes;
typedef struct hg_file_part {
    const void *data;
    uint64_t length;
    /* Instead of data: gives any span of it, of at most HG_PART_BYTES. NULL: data */
    hg_status (*read)(void *user, uint64_t offset, void *to, uint64_t length);
    void *user;
} hg_file_part;
enum { HG_PART_BYTES = 1 << 20 };

/* Reads all of a file, "-" is standard input. limit: HG_MAX_SOURCE_BYTES for programs, UINT64_MAX
 * for data. The second charges a budget, HG_ERROR_ALLOCATION_FAILED beyond it. */
hg_status hg_file_read(const char *path, uint64_t limit, hg_bytes *out) HG_NODISCARD;
hg_status hg_file_read_in(hg_budget *budget, const char *path, uint64_t limit,
                          hg_bytes *out) HG_NODISCARD;
/* The same mapped into memory where it is a regular file, which charges nothing; whoever shortens
 * it meanwhile ends the process. What else there is, is read. */
hg_status hg_file_map(hg_budget *budget, const char *path, hg_bytes *out) HG_NODISCARD;
hg_status hg_bytes_alloc(uint64_t length, hg_bytes *out) HG_NODISCARD; /* contents not set, NUL
                                                                          behind */
hg_status hg_bytes_alloc_in(hg_budget *budget, uint64_t length, hg_bytes *out) HG_NODISCARD;
void hg_bytes_free(hg_bytes *bytes);

/* ---- array files (npy.c, npz.c) ---- */

typedef struct hg_array {
    hg_type type;
    uint32_t rank;
    uint64_t extent[HG_MAX_EXTENTS];
    uint64_t elements, bytes;
    const uint8_t *data;
    bool shaped;     /* false: a raw file, rank 1 from its size */
    hg_bytes memory; /* what data points into; empty when the caller owns it */
} hg_array;

/* Reads an array as the command names it: a file or "-" that begins as a .npy does, or as a .npz
 * (its member NAME.npy), whatever its name; x.npz:key; raw:FILE for bytes without a header.
 * Anything else is P06. The element type must be exactly `type`; nothing is converted. The caller
 * frees with hg_array_free. */
hg_status hg_array_read(const char *source, const char *name, hg_type type,
                        hg_array *out) HG_NODISCARD;
/* The same within bounds. most: bytes that its declared extents allow. An array that says that it
 * has more is not read: data is NULL, all else is set. Where nothing says how much there is (a
 * pipe, a device) no more than that is read, and more is P04. budget: of the memory. */
typedef struct hg_array_bounds {
    uint64_t most; /* UINT64_MAX: unknown */
    hg_budget *budget;
} hg_array_bounds;
hg_status hg_array_read_within(const char *source, const char *name, hg_type type,
                               const hg_array_bounds *bounds, hg_array *out) HG_NODISCARD;
void hg_array_free(hg_array *array);

/* A .npy in memory. `what` names it in messages. out->data points into bytes; out->memory stays
 * empty. */
hg_status hg_npy_parse(const void *bytes, uint64_t length, const char *what, hg_type type,
                       hg_array *out) HG_NODISCARD;

/* Elements as NumPy calls them: of a type, bool as u8, pairs of f32 or f64 as complex numbers. */
typedef enum hg_npy_kind { HG_NPY_NUMBERS, HG_NPY_BOOL, HG_NPY_COMPLEX } hg_npy_kind;
/* The same of whatever type it is; *fortran: elements lie in Fortran order. */
hg_status hg_npy_parse_any(const void *bytes, uint64_t length, const char *what, hg_npy_kind *kind,
                           bool *fortran, hg_array *out) HG_NODISCARD;

enum { HG_NPY_HEADER_BYTES = 512 }; /* enough for every type and HG_MAX_EXTENTS extents */
/* The header NumPy writes (version 1.0, C order); returns its length, a multiple of 64. rank at
 * most HG_MAX_EXTENTS. */
size_t hg_npy_header_of(hg_npy_kind kind, hg_type type, uint32_t rank, const uint64_t *extent,
                        uint8_t out[HG_NPY_HEADER_BYTES]);
static inline size_t hg_npy_header(hg_type type, uint32_t rank, const uint64_t *extent,
                                   uint8_t out[HG_NPY_HEADER_BYTES]) {
    return hg_npy_header_of(HG_NPY_NUMBERS, type, rank, extent, out);
}

/* Names of the arrays in a .npz in memory, each with a line feed behind it; of members of one name,
 * of which the last counts, all; and one of them by its name: of a file that is mapped a member
 * that is stored is part of the mapping. what: as messages name the file. */
hg_status hg_npz_names(const hg_bytes *file, const char *what, hg_text *names) HG_NODISCARD;
hg_status hg_npz_array(const hg_bytes *file, const char *what, const char *name, hg_type type,
                       const hg_array_bounds *bounds, hg_array *out) HG_NODISCARD;
/* One member of a .npz in memory, stored or deflated, its CRC checked. `member` is the whole name,
 * "x.npy". */
hg_status hg_npz_member(const hg_bytes *file, const char *what, const char *member,
                        hg_bytes *out) HG_NODISCARD;
/* Raw deflate data (RFC 1951) that unpacks to exactly out_length bytes. False when it does not;
 * *memory_failed: whether memory was the reason. */
bool hg_inflate(const uint8_t *in, uint64_t in_length, uint8_t *out, uint64_t out_length,
                bool *memory_failed);

bool hg_path_ends(const char *path, const char *suffix);
const char *hg_path_of_raw(const char *source); /* FILE of raw:FILE; NULL: another source */

/* ---- outputs (output.c): written beside their targets, renamed together ---- */

typedef struct hg_outputs hg_outputs;

/* NULL when out of memory. */
hg_outputs *hg_outputs_create(void);
/* What is kept in memory is charged to it from now on. */
void hg_outputs_charge(hg_outputs *outputs, hg_budget *budget);
/* Removes what was not committed. NULL is allowed. */
void hg_outputs_destroy(hg_outputs *outputs);
/* Writes the parts, one behind the other, to a temporary file beside path and syncs it; path itself
 * is not touched. "-" (standard output) and paths that are no regular file (/dev/null, a pipe) are
 * kept in memory and written by commit. Two outputs to one path are an error. */
hg_status hg_outputs_add(hg_outputs *outputs, const char *path, const hg_file_part *parts,
                         size_t count) HG_NODISCARD;
/* The same for an array: a .npy whatever the path, for raw:FILE its bytes alone. data holds all
 * elements. */
hg_status hg_outputs_add_array(hg_outputs *outputs, const char *path, hg_type type, uint32_t rank,
                               const uint64_t *extent, const void *data) HG_NODISCARD;
/* The same with the elements as a part. */
hg_status hg_outputs_add_elements(hg_outputs *outputs, const char *path, hg_type type,
                                  uint32_t rank, const uint64_t *extent,
                                  const hg_file_part *elements) HG_NODISCARD;
/* Arrays as the members NAME.npy of one .npz. Parts are read twice. */
typedef struct hg_named_array {
    const char *name;
    hg_type type;
    uint32_t rank;
    const uint64_t *extent;
    hg_file_part elements;
    hg_npy_kind kind;
} hg_named_array;
hg_status hg_outputs_add_npz(hg_outputs *outputs, const char *path, const hg_named_array *arrays,
                             size_t count) HG_NODISCARD;
/* Puts all outputs in place. When one cannot be, those before it are put back as they were. */
hg_status hg_outputs_commit(hg_outputs *outputs) HG_NODISCARD;

/* One file, atomically. */
hg_status hg_file_write(const char *path, const void *data, uint64_t length) HG_NODISCARD;

#endif

/* Shared inside this room only. */
#ifndef HG_IO_IO_INTERNAL_H
#define HG_IO_IO_INTERNAL_H

#include "io/io.h"

/* hg_fail with a diagnostic code. */
#define IO_FAIL(status, diagnostic, ...) \
    (hg_fail(status, __VA_ARGS__), hg_io_code(diagnostic), (status))
void hg_io_code(const char *code);
/* What an errno means, the same in every locale. */
const char *hg_io_reason(int error);

/* ---- file.c: a file that is read in parts ---- */
typedef struct hg_input {
    const char *path; /* for messages */
    int file;
    bool ended;
    uint64_t size; /* of a regular file; 0: unknown */
    bool whole;    /* nothing of it was read before */
    uint64_t used; /* bytes read so far, all of them in bytes */
    hg_bytes bytes;
} hg_input;
/* After a failure it is closed. */
hg_status hg_input_open(hg_input *in, const char *path, hg_budget *budget) HG_NODISCARD;
/* Until so many bytes are there, or the end. */
hg_status hg_input_read(hg_input *in, uint64_t until) HG_NODISCARD;
/* All of it, mapped into memory; false: it cannot be, and is still to be read. */
bool hg_input_map(hg_input *in, hg_bytes *out);
/* Memory that a file is mapped to. */
typedef struct hg_mapping {
    void *data;
    size_t length;
    uint32_t references; /* of bytes; atomic */
} hg_mapping;
void hg_mapping_release(hg_mapping *m); /* one reference */
/* Part of a mapping, which stays as long as the part does. */
void hg_bytes_part(const hg_bytes *whole, uint64_t offset, uint64_t length, hg_bytes *out);
void hg_input_take(hg_input *in, hg_bytes *out); /* what was read, with a NUL behind it */
void hg_input_close(hg_input *in);

/* ---- npz.c ---- */
uint32_t hg_crc32(uint32_t before, const uint8_t *data, uint64_t length); /* of zip archives; 0
                                                                             before the first bytes
                                                                           */

/* ---- output.c ---- */
/* Bytes of an array's elements; an error names the path. */
hg_status hg_npy_size(const char *path, hg_type type, uint32_t rank, const uint64_t *extent,
                      uint64_t *bytes) HG_NODISCARD;

/* ---- npy.c ---- */
/* What the first bytes of a .npy say: shape and size in *out, its data NULL. *start: where the data
 * begins. *needed: nothing is known before there are so many bytes; 0: all is known. */
hg_status hg_npy_layout(const uint8_t *bytes, uint64_t length, const char *what, hg_type type,
                        hg_array *out, uint64_t *start, uint64_t *needed) HG_NODISCARD;
/* P06 unless so many bytes of data are what the shape needs. */
hg_status hg_npy_check_data(const hg_array *array, const char *what, uint64_t bytes) HG_NODISCARD;

#endif

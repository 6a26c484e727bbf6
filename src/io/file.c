/* Reading whole files. Must not know: what is in them. */
#include "io/io_internal.h"

#include <string.h>

void hg_io_code(const char *code) {
    memcpy(hg_error_record()->code, code, sizeof hg_error_record()->code);
}

bool hg_path_ends(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && memcmp(path + length - tail, suffix, tail) == 0;
}

enum { ALIGNMENT = 64, FIRST_BYTES = 65536, STEP = 4096 };

/* ---- memory ---- */

hg_status hg_bytes_alloc_in(hg_budget *budget, uint64_t length, hg_bytes *out) {
    *out = (hg_bytes){0};
    if (length >= SIZE_MAX) return hg_fail_memory();
    HG_TRY(hg_budget_charge(budget, length));
    uint8_t *data = hg_alloc_aligned((size_t)length + 1, ALIGNMENT);
    if (!data) {
        hg_budget_release(budget, length);
        return hg_fail_memory();
    }
    data[length] = 0;
    *out = (hg_bytes){data, length, budget, length, NULL};
    return HG_OK;
}

hg_status hg_bytes_alloc(uint64_t length, hg_bytes *out) {
    return hg_bytes_alloc_in(NULL, length, out);
}

void hg_bytes_part(const hg_bytes *whole, uint64_t offset, uint64_t length, hg_bytes *out) {
    hg_atomic_fetch_add(&whole->mapping->references, 1, HG_RELAXED);
    *out = (hg_bytes){.data = whole->data + offset, .length = length, .mapping = whole->mapping};
}

void hg_bytes_free(hg_bytes *bytes) {
    if (bytes->mapping)
        hg_mapping_release(bytes->mapping);
    else
        hg_free_aligned(bytes->data);
    hg_budget_release(bytes->budget, bytes->charged);
    *bytes = (hg_bytes){0};
}

hg_status hg_file_read(const char *path, uint64_t limit, hg_bytes *out) {
    return hg_file_read_in(NULL, path, limit, out);
}

#if !defined(__wasm__) /* no_files.c */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void hg_mapping_release(hg_mapping *m) {
    if (hg_atomic_sub_fetch(&m->references, 1, HG_ACQ_REL) != 0) return;
    (void)munmap(m->data, m->length);
    hg_free(m);
}

/* Another length, the first `kept` bytes stay. A smaller one cannot fail. */
static hg_status resize(hg_bytes *bytes, uint64_t kept, uint64_t length) {
    if (length >= SIZE_MAX) return hg_fail_memory();
    if (length > bytes->charged) HG_TRY(hg_budget_charge(bytes->budget, length - bytes->charged));
    uint8_t *data = hg_realloc_aligned(bytes->data, (size_t)kept, (size_t)length + 1, ALIGNMENT);
    if (!data && length > bytes->charged) {
        hg_budget_release(bytes->budget, length - bytes->charged);
        return hg_fail_memory();
    }
    if (length < bytes->charged) hg_budget_release(bytes->budget, bytes->charged - length);
    if (data) bytes->data = data;
    bytes->length = bytes->charged = length;
    return HG_OK;
}

/* ---- inputs ---- */

const char *hg_io_reason(int error) {
    switch (error) {
    case ENOENT: return "no such file or directory";
    case EACCES:
    case EPERM: return "permission denied";
    case EBADF: return "is not open";
    case EISDIR: return "is a directory";
    case ENOTDIR: return "a part of the path is not a directory";
    case ENOSPC: return "no space left on the device";
    case EDQUOT: return "quota exceeded";
    case EROFS: return "read-only file system";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "name too long";
    case ELOOP: return "too many symbolic links";
    case EFBIG: return "file too large";
    case EPIPE: return "the reader has gone";
    case EIO: return "device error";
    case ETXTBSY: return "file is being executed";
    default: return "refused by the system";
    }
}

static hg_status fail_read(const char *path, int error) {
    return IO_FAIL(HG_ERROR_IO, "P06", "cannot read %s: %s (errno %d)", *path ? path : "''",
                   hg_io_reason(error), error);
}

hg_status hg_input_open(hg_input *in, const char *path, hg_budget *budget) {
    struct stat info;
    bool standard = strcmp(path, "-") == 0;
    *in = (hg_input){.path = standard ? "<stdin>" : path,
                     .file = standard ? STDIN_FILENO : -1,
                     .bytes = {.budget = budget}};
    if (!standard && (in->file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return fail_read(path, errno);
    int error = fstat(in->file, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (error) {
        hg_input_close(in);
        return fail_read(in->path, error);
    }
    off_t at = S_ISREG(info.st_mode) ? lseek(in->file, 0, SEEK_CUR) : 0;
    if (S_ISREG(info.st_mode) && at >= 0 && info.st_size > at)
        in->size = (uint64_t)(info.st_size - at);
    in->whole = at == 0;
    return HG_OK;
}

void hg_input_close(hg_input *in) {
    if (in->file > STDIN_FILENO) close(in->file);
    in->file = -1;
    hg_bytes_free(&in->bytes);
}

/* Room for more of at most `until` bytes: what a file says of its size and a byte that it must not
 * have, or twice what there is. Where the budget has less, all that it has. */
static hg_status more_room(hg_input *in, uint64_t until) {
    uint64_t now = in->bytes.length,
             wanted = now ? (now > UINT64_MAX / 2 ? UINT64_MAX : now * 2) : FIRST_BYTES;
    if (in->size > now)
        wanted = in->size + 1; /* the read that does not fill it is followed by the one that finds
                                  the end */
    if (wanted > until) wanted = until;
    if (!hg_budget_fits(in->bytes.budget, wanted - now)) {
        uint64_t left = in->bytes.budget->limit - hg_budget_used(in->bytes.budget);
        if (!in->size && left < in->bytes.budget->limit && left >= STEP)
            wanted = now + left / STEP * STEP;
    }
    hg_status status = resize(&in->bytes, in->used, wanted);
    if (status != HG_ERROR_ALLOCATION_FAILED) return status;
    hg_error kept = *hg_error_record();
    return hg_fail(status, "%s: %s", in->path, kept.message);
}

hg_status hg_input_read(hg_input *in, uint64_t until) {
    while (!in->ended && in->used < until) {
        if (in->used == in->bytes.length) HG_TRY(more_room(in, until));
        uint64_t room = (in->bytes.length < until ? in->bytes.length : until) - in->used;
        ssize_t got = read(in->file, in->bytes.data + in->used,
                           room < (1u << 30) ? (size_t)room : (size_t)1 << 30);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_read(in->path, errno);
        in->ended = got == 0;
        in->used += (uint64_t)got;
    }
    return HG_OK;
}

bool hg_input_map(hg_input *in, hg_bytes *out) {
    if (!in->size || !in->whole || in->size > SIZE_MAX) return false;
    hg_mapping *m = hg_alloc(sizeof *m);
    void *data = m ? mmap(NULL, (size_t)in->size, PROT_READ, MAP_PRIVATE, in->file, 0) : MAP_FAILED;
    if (data == MAP_FAILED) {
        hg_free(m);
        return false;
    }
    *m = (hg_mapping){data, (size_t)in->size, 1};
    *out = (hg_bytes){.data = data, .length = in->size, .budget = in->bytes.budget, .mapping = m};
    return true;
}

void hg_input_take(hg_input *in, hg_bytes *out) {
    if (in->bytes.length - in->used > STEP || !in->bytes.data)
        HG_IGNORE(resize(&in->bytes, in->used, in->used)); /* it stays larger */
    in->bytes.length = in->used;
    if (in->bytes.data) in->bytes.data[in->used] = 0;
    *out = in->bytes;
    in->bytes = (hg_bytes){0};
}

static hg_status read_within(hg_input *in, uint64_t limit) {
    if (in->size > limit)
        return IO_FAIL(HG_ERROR_IO, "S05", "%s has %llu bytes, more than the limit of %llu",
                       in->path, (unsigned long long)in->size, (unsigned long long)limit);
    HG_TRY(hg_input_read(in, limit < UINT64_MAX ? limit + 1 : limit));
    if (in->used > limit)
        return IO_FAIL(HG_ERROR_IO, "S05", "%s is larger than the limit of %llu bytes", in->path,
                       (unsigned long long)limit);
    return in->bytes.data ? HG_OK : resize(&in->bytes, 0, 0);
}

hg_status hg_file_read_in(hg_budget *budget, const char *path, uint64_t limit, hg_bytes *out) {
    hg_input in;
    *out = (hg_bytes){0};
    HG_TRY(hg_input_open(&in, path, budget));
    hg_status status = read_within(&in, limit);
    if (status == HG_OK) hg_input_take(&in, out);
    hg_input_close(&in);
    return status;
}

hg_status hg_file_map(hg_budget *budget, const char *path, hg_bytes *out) {
    hg_input in;
    *out = (hg_bytes){0};
    HG_TRY(hg_input_open(&in, path, budget));
    bool mapped = hg_input_map(&in, out);
    hg_input_close(&in);
    return mapped ? HG_OK : hg_file_read_in(budget, path, UINT64_MAX, out);
}

#endif

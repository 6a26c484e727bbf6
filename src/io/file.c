/* Reading whole files. Must not know: what is in them. */
#include "io/io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void hg_io_code(const char *code) { memcpy(hg_error_record()->code, code, sizeof hg_error_record()->code); }

const char *hg_io_reason(int error) {
    switch (error) {
    case ENOENT: return "no such file or directory";
    case EACCES:
    case EPERM: return "permission denied";
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

bool hg_path_ends(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && memcmp(path + length - tail, suffix, tail) == 0;
}

enum { ALIGNMENT = 64, FIRST_BYTES = 65536 };

hg_status hg_bytes_alloc(uint64_t length, hg_bytes *out) {
    *out = (hg_bytes){0};
    if (length >= SIZE_MAX) return hg_fail_memory();
    uint8_t *data = hg_alloc_aligned((size_t)length + 1, ALIGNMENT);
    if (!data) return hg_fail_memory();
    data[length] = 0;
    *out = (hg_bytes){data, length};
    return HG_OK;
}

void hg_bytes_free(hg_bytes *bytes) {
    hg_free_aligned(bytes->data);
    *bytes = (hg_bytes){0};
}

static hg_status fail_read(const char *path, int error) {
    return IO_FAIL(HG_ERROR_IO, "P06", "cannot read %s: %s (errno %d)", path, hg_io_reason(error), error);
}

/* Twice the room, the first `used` bytes kept. */
static hg_status grow(hg_bytes *bytes, uint64_t used) {
    hg_bytes larger;
    HG_TRY(hg_bytes_alloc(bytes->length > UINT64_MAX / 2 ? UINT64_MAX : bytes->length * 2, &larger));
    memcpy(larger.data, bytes->data, (size_t)used);
    hg_bytes_free(bytes);
    *bytes = larger;
    return HG_OK;
}

/* Reads to the end of the file into bytes, which has some room already. */
static hg_status read_all(int file, const char *path, uint64_t limit, hg_bytes *bytes) {
    uint64_t used = 0;
    for (;;) {
        if (used == bytes->length) HG_TRY(grow(bytes, used));
        uint64_t room = bytes->length - used;
        ssize_t got = read(file, bytes->data + used, room < (1u << 30) ? (size_t)room : (size_t)1 << 30);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_read(path, errno);
        if (!got) break;
        used += (uint64_t)got;
        if (used > limit) return IO_FAIL(HG_ERROR_IO, "S05", "%s is larger than the limit of %llu bytes", path, (unsigned long long)limit);
    }
    bytes->length = used;
    bytes->data[used] = 0;
    return HG_OK;
}

static hg_status read_open_file(int file, const char *path, uint64_t limit, hg_bytes *out) {
    struct stat info;
    if (fstat(file, &info) != 0) return fail_read(path, errno);
    if (S_ISDIR(info.st_mode)) return fail_read(path, EISDIR);
    bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
    if (sized && (uint64_t)info.st_size > limit)
        return IO_FAIL(HG_ERROR_IO, "S05", "%s has %llu bytes, more than the limit of %llu", path, (unsigned long long)info.st_size,
                       (unsigned long long)limit);
    /* One byte more than the size: the read that fills it not is followed by the one that finds the end without growing. */
    HG_TRY(hg_bytes_alloc(sized ? (uint64_t)info.st_size + 1 : FIRST_BYTES, out));
    hg_status status = read_all(file, path, limit, out);
    if (status != HG_OK) hg_bytes_free(out);
    return status;
}

hg_status hg_file_read(const char *path, uint64_t limit, hg_bytes *out) {
    *out = (hg_bytes){0};
    if (strcmp(path, "-") == 0) return read_open_file(STDIN_FILENO, "<stdin>", limit, out);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail_read(path, errno);
    hg_status status = read_open_file(file, path, limit, out);
    close(file);
    return status;
}

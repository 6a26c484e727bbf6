/* Outputs that appear all or not at all: temporary files beside their targets, synced, then renamed. Must not know: what is written. */
#include "io/io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct output {
    char *target, *temporary, *backup; /* NULL: none. backup: a second name of the file that the target was */
    hg_bytes direct;                   /* for what cannot be renamed to: standard output, devices, pipes */
    bool existed, placed;
} output;

struct hg_outputs {
    HG_VEC(output) list;
    hg_budget *budget;
};

static hg_status fail_write(const char *path, int error) {
    return IO_FAIL(HG_ERROR_IO, "X02", "cannot write %s: %s (errno %d)", path, hg_io_reason(error), error);
}

hg_outputs *hg_outputs_create(void) { return hg_calloc(1, sizeof(hg_outputs)); }

void hg_outputs_charge(hg_outputs *outputs, hg_budget *budget) { outputs->budget = budget; }

static void discard(output *o) {
    if (o->temporary && !o->placed) unlink(o->temporary);
    if (o->backup) unlink(o->backup);
    hg_free(o->target);
    hg_free(o->temporary);
    hg_free(o->backup);
    hg_bytes_free(&o->direct);
    *o = (output){0};
}

void hg_outputs_destroy(hg_outputs *outputs) {
    if (!outputs) return;
    for (uint64_t i = 0; i < outputs->list.count; i++) discard(&outputs->list.data[i]);
    hg_vec_free(&outputs->list);
    hg_free(outputs);
}

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = hg_alloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

/* 0, or the errno of the failure. */
static int write_span(int file, const void *data, uint64_t length) {
    const char *from = data;
    while (length) {
        ssize_t put = write(file, from, length < (1u << 30) ? (size_t)length : (size_t)1 << 30);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        from += put;
        length -= (uint64_t)put;
    }
    return 0;
}

/* A name beside the target that nobody has: the directory is the same, so the rename stays on one file system. */
static int create_beside(const char *target, char **name) {
    static _Thread_local unsigned counter;
    const char *slash = strrchr(target, '/');
    int directory = slash ? (int)(slash - target) + 1 : 0;
    for (int attempt = 0; attempt < 1000; attempt++) {
        hg_text text = {0};
        hg_text_add(&text, target, (size_t)directory);
        /* the address differs between threads of one process */
        hg_text_addf(&text, ".hologram-%ld-%zx-%u.tmp", (long)getpid(), (size_t)(uintptr_t)&counter, counter++);
        if (text.failed) {
            hg_text_free(&text);
            errno = ENOMEM;
            return -1;
        }
        int file = open(text.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            *name = text.data;
            return file;
        }
        hg_text_free(&text);
        if (errno != EEXIST) return -1;
    }
    return -1;
}

/* File systems without sync say so with EINVAL or the like: there is nothing to wait for then. */
static int sync_file(int file) { return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno; }

/* The second result is the errno of a write that failed, the first the failure of anything else. */
static hg_status write_part(int file, const hg_file_part *part, int *error) {
    if (!part->read) {
        *error = write_span(file, part->data, part->length);
        return HG_OK;
    }
    void *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    for (uint64_t at = 0; at < part->length && status == HG_OK && !*error; at += HG_PART_BYTES) {
        uint64_t length = part->length - at < HG_PART_BYTES ? part->length - at : HG_PART_BYTES;
        status = part->read(part->user, at, piece, length);
        if (status == HG_OK) *error = write_span(file, piece, length);
    }
    hg_free(piece);
    return status;
}

static hg_status copy_part(const hg_file_part *part, uint8_t *to) {
    if (!part->read && part->length) memcpy(to, part->data, (size_t)part->length);
    for (uint64_t at = 0; part->read && at < part->length; at += HG_PART_BYTES)
        HG_TRY(part->read(part->user, at, to + at, part->length - at < HG_PART_BYTES ? part->length - at : HG_PART_BYTES));
    return HG_OK;
}

static hg_status write_temporary(output *o, const struct stat *existing, const hg_file_part *parts, size_t count) {
    int file = create_beside(o->target, &o->temporary);
    if (file < 0) return errno == ENOMEM ? hg_fail_memory() : fail_write(o->target, errno);
    int error = existing && fchmod(file, existing->st_mode & 0777) != 0 ? errno : 0;
    hg_status status = HG_OK;
    for (size_t i = 0; i < count && !error && status == HG_OK; i++) status = write_part(file, &parts[i], &error);
    if (!error && status == HG_OK) error = sync_file(file);
    if (close(file) != 0 && !error) error = errno;
    return error ? fail_write(o->target, error) : status;
}

static hg_status keep_in_memory(hg_budget *budget, output *o, const hg_file_part *parts, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (!hg_add_u64(total, parts[i].length, &total)) return hg_fail_memory();
    HG_TRY(hg_bytes_alloc_in(budget, total, &o->direct));
    uint64_t at = 0;
    for (size_t i = 0; i < count; at += parts[i++].length) HG_TRY(copy_part(&parts[i], o->direct.data + at));
    return HG_OK;
}

/* The file a path leads to: through symbolic links when it exists, so that a link stays a link. */
static char *resolve(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return copy_text(path);
    char *real = realpath(path, NULL);
    if (!real) return copy_text(path);
    char *copy = copy_text(real);
    free(real); /* from libc's own memory */
    return copy;
}

static hg_status prepare(hg_outputs *outputs, output *o, const char *path, const hg_file_part *parts, size_t count) {
    o->target = is_stdout(path) ? copy_text(path) : resolve(path);
    if (!o->target) return hg_fail_memory();
    for (uint64_t i = 0; i + 1 < outputs->list.count; i++)
        if (strcmp(outputs->list.data[i].target, o->target) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "two outputs go to the same file %s", path);
    if (is_stdout(path)) return keep_in_memory(outputs->budget, o, parts, count);
    struct stat info;
    bool exists = o->existed = stat(o->target, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return fail_write(path, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) return keep_in_memory(outputs->budget, o, parts, count);
    if (exists && access(o->target, W_OK) != 0) return fail_write(path, errno);
    return write_temporary(o, exists ? &info : NULL, parts, count);
}

hg_status hg_outputs_add(hg_outputs *outputs, const char *path, const hg_file_part *parts, size_t count) {
    output *o = hg_vec_push(&outputs->list);
    if (!o) return hg_fail_memory();
    hg_status status = prepare(outputs, o, path, parts, count);
    if (status != HG_OK) {
        discard(o);
        outputs->list.count--;
    }
    return status;
}

hg_status hg_outputs_add_array(hg_outputs *outputs, const char *path, hg_type type, uint32_t rank, const uint64_t *extent,
                               const void *data) {
    return hg_outputs_add_elements(outputs, path, type, rank, extent, &(hg_file_part){.data = data});
}

hg_status hg_outputs_add_elements(hg_outputs *outputs, const char *path, hg_type type, uint32_t rank, const uint64_t *extent,
                                  const hg_file_part *elements) {
    uint8_t header[HG_NPY_HEADER_BYTES];
    uint64_t bytes = hg_type_size_bytes(type);
    if (rank > HG_MAX_EXTENTS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u dimensions, at most %d are allowed", path, rank, (int)HG_MAX_EXTENTS);
    if (hg_path_ends(path, ".npz"))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: .npz files are read only; write one .npy file an array", path);
    for (uint32_t i = 0; i < rank; i++)
        if (!hg_mul_u64(bytes, extent[i], &bytes))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: the shape is larger than any memory", path);
    hg_file_part parts[2] = {{.data = header}, *elements};
    parts[1].length = bytes;
    if (hg_path_ends(path, ".npy")) parts[0].length = hg_npy_header(type, rank, extent, header);
    return hg_outputs_add(outputs, path, parts, 2);
}

/* ---- commit ---- */

static hg_status write_direct(output *o) {
    bool standard = is_stdout(o->target);
    int file = standard ? STDOUT_FILENO : open(o->target, O_WRONLY | O_CLOEXEC);
    if (file < 0) return fail_write(o->target, errno);
    int error = write_span(file, o->direct.data, o->direct.length);
    if (!standard && close(file) != 0 && !error) error = errno;
    o->placed = true;
    return error ? fail_write(standard ? "<stdout>" : o->target, error) : HG_OK;
}

/* A second name for what the target is now; without one (no hard links here) a later failure cannot put it back. */
static hg_status make_backup(output *o) {
    hg_text name = {0};
    hg_text_addf(&name, "%s.old", o->temporary);
    if (name.failed) {
        hg_text_free(&name);
        return hg_fail_memory();
    }
    if (link(o->target, name.data) == 0)
        o->backup = name.data;
    else
        hg_text_free(&name);
    return HG_OK;
}

static void put_back(output *o) {
    if (o->backup)
        rename(o->backup, o->target);
    else if (!o->existed)
        unlink(o->target);
    hg_free(o->backup);
    o->backup = NULL;
}

/* The renames last through a power failure only once the directory is on disk. Best effort: the files are in place already. */
static void sync_directory(const char *target) {
    const char *slash = strrchr(target, '/');
    hg_text name = {0};
    hg_text_add(&name, slash ? target : ".", slash ? (size_t)(slash - target) + 1 : 1);
    int directory = name.failed ? -1 : open(name.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        fsync(directory);
        close(directory);
    }
    hg_text_free(&name);
}

static hg_status place(output *o, bool alone) {
    if (!alone) HG_TRY(make_backup(o));
    if (rename(o->temporary, o->target) != 0) return fail_write(o->target, errno);
    o->placed = true;
    return HG_OK;
}

hg_status hg_outputs_commit(hg_outputs *outputs) {
    output *list = outputs->list.data;
    uint64_t count = outputs->list.count;
    for (uint64_t i = 0; i < count; i++)
        if (!list[i].temporary) HG_TRY(write_direct(&list[i]));
    hg_status status = HG_OK;
    uint64_t done = 0;
    for (; done < count && status == HG_OK; done++)
        if (list[done].temporary) status = place(&list[done], count == 1);
    for (uint64_t i = done; status != HG_OK && i-- > 0;)
        if (list[i].temporary && list[i].placed) put_back(&list[i]);
    for (uint64_t i = 0; i < count && status == HG_OK; i++)
        if (list[i].temporary) sync_directory(list[i].target);
    for (uint64_t i = 0; i < count; i++) discard(&list[i]);
    outputs->list.count = 0;
    return status;
}

hg_status hg_file_write(const char *path, const void *data, uint64_t length) {
    hg_outputs *outputs = hg_outputs_create();
    if (!outputs) return hg_fail_memory();
    hg_file_part part = {.data = data, .length = length};
    hg_status status = hg_outputs_add(outputs, path, &part, 1);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    return status;
}

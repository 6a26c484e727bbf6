/* Outputs that appear all or not at all: temporary files in the folders of their targets, without a
 * name where the system has such files, synced, then given the name or renamed to it. Must not
 * know: what is written. */
#include "io/io_internal.h"

hg_status hg_npy_size(const char *path, hg_type type, uint32_t rank, const uint64_t *extent,
                      uint64_t *bytes) {
    *bytes = hg_type_size_bytes(type);
    if (rank > HG_MAX_EXTENTS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u dimensions, at most %d are allowed", path,
                       rank, (int)HG_MAX_EXTENTS);
    for (uint32_t i = 0; i < rank; i++)
        if (!hg_mul_u64(*bytes, extent[i], bytes))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: the shape is larger than any memory",
                           path);
    return HG_OK;
}

hg_status hg_outputs_add_array(hg_outputs *outputs, const char *path, hg_type type, uint32_t rank,
                               const uint64_t *extent, const void *data) {
    return hg_outputs_add_elements(outputs, path, type, rank, extent,
                                   &(hg_file_part){.data = data});
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

#if !defined(__wasm__) /* no_files.c */

#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct output {
    char *target, *temporary, *backup; /* NULL: none. backup: a second name of the file that the
                                          target was */
    hg_bytes direct; /* for what cannot be renamed to: standard output, devices, pipes */
    bool existed, placed, unnamed; /* unnamed: in `file`, open until it gets a name */
    int file;
    mode_t mode; /* existed: of the file that is replaced */
} output;

enum { MOST_UNNAMED = 32 }; /* each keeps a descriptor */

struct hg_outputs {
    HG_VEC(output) list;
    hg_budget *budget;
};

static hg_status fail_write(const char *path, int error) {
    return IO_FAIL(HG_ERROR_IO, "X02", "cannot write %s: %s (errno %d)", *path ? path : "''",
                   hg_io_reason(error), error);
}

hg_outputs *hg_outputs_create(void) { return hg_calloc(1, sizeof(hg_outputs)); }

void hg_outputs_charge(hg_outputs *outputs, hg_budget *budget) { outputs->budget = budget; }

/* A name that a handler of signals has taken is not freed: the process is ending. */
static void free_name(char **name, bool remove) {
    if (!*name) return;
    if (remove) unlink(*name);
    if (hg_temporary_forget(*name)) hg_free(*name);
    *name = NULL;
}

static void discard(output *o) {
    if (o->unnamed) close(o->file);
    free_name(&o->temporary, !o->placed);
    free_name(&o->backup, true);
    hg_free(o->target);
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

static size_t folder_length(const char *target) {
    const char *slash = strrchr(target, '/');
    return slash ? (size_t)(slash - target) + 1 : 0;
}

/* A name beside the target that nobody has: the folder is the same, so a rename stays on one file
 * system. NULL: no memory. */
static char *name_beside(const char *target) {
    static _Thread_local unsigned counter;
    hg_text text = {0};
    hg_text_add(&text, target, folder_length(target));
    /* the address differs between threads of one process */
    hg_text_addf(&text, ".hologram-%ld-%zx-%u.tmp", (long)getpid(), (size_t)(uintptr_t)&counter,
                 counter++);
    if (!text.failed) return text.data;
    hg_text_free(&text);
    return NULL;
}

/* What is tried with names beside the target until one is free: 0 or an errno, EEXIST for a name
 * that somebody has. */
typedef int (*use_name)(output *o, const char *name);

/* The name becomes o->temporary, or *kept where that is not NULL. */
static int with_name(output *o, use_name use, char **kept) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        char *name = name_beside(o->target);
        if (!name) return ENOMEM;
        hg_temporary_note(name);
        int error = use(o, name);
        if (!error) {
            *kept = name;
            return 0;
        }
        if (hg_temporary_forget(name)) hg_free(name);
        if (error != EEXIST) return error;
    }
    return EEXIST;
}

/* For this user alone until it is as the file that it replaces: who opens it earlier would keep it
 * open. */
static unsigned first_mode(const output *o) { return o->existed ? 0600 : 0666; }

static int create_named(output *o, const char *name) {
    o->file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)first_mode(o));
    return o->file >= 0 ? 0 : errno;
}

/* 0 or an errno. */
static int create(output *o, uint64_t unnamed) {
    hg_text folder = {0};
    size_t length = folder_length(o->target);
    hg_text_add(&folder, length ? o->target : ".", length ? length : 1);
    if (folder.failed) {
        hg_text_free(&folder);
        return ENOMEM;
    }
    o->file = unnamed < MOST_UNNAMED ? hg_file_unnamed(AT_FDCWD, folder.data, first_mode(o)) : -1;
    hg_text_free(&folder);
    o->unnamed = o->file >= 0;
    return o->unnamed ? 0 : with_name(o, create_named, &o->temporary);
}

/* File systems without sync say so with EINVAL or the like: there is nothing to wait for then. */
static int sync_file(int file) {
    return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/* The second result is the errno of a write that failed, the first the failure of anything else. */
static hg_status write_part(int file, const hg_file_part *part, int *error) {
    if (!part->read) {
        *error = hg_write_all(file, part->data, part->length);
        return HG_OK;
    }
    void *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    for (uint64_t at = 0; at < part->length && status == HG_OK && !*error; at += HG_PART_BYTES) {
        uint64_t length = part->length - at < HG_PART_BYTES ? part->length - at : HG_PART_BYTES;
        status = part->read(part->user, at, piece, length);
        if (status == HG_OK) *error = hg_write_all(file, piece, length);
    }
    hg_free(piece);
    return status;
}

static hg_status copy_part(const hg_file_part *part, uint8_t *to) {
    if (!part->read && part->length) memcpy(to, part->data, (size_t)part->length);
    for (uint64_t at = 0; part->read && at < part->length; at += HG_PART_BYTES)
        HG_TRY(part->read(part->user, at, to + at,
                          part->length - at < HG_PART_BYTES ? part->length - at : HG_PART_BYTES));
    return HG_OK;
}

static hg_status write_temporary(output *o, uint64_t unnamed, const hg_file_part *parts,
                                 size_t count) {
    int error = create(o, unnamed);
    if (error) return error == ENOMEM ? hg_fail_memory() : fail_write(o->target, error);
    hg_status status = HG_OK;
    for (size_t i = 0; i < count && !error && status == HG_OK; i++)
        status = write_part(o->file, &parts[i], &error);
    if (!error && o->existed && fchmod(o->file, o->mode) != 0) error = errno;
    if (!error && status == HG_OK) error = sync_file(o->file);
    if (!o->unnamed && close(o->file) != 0 && !error) error = errno;
    return error ? fail_write(o->target, error) : status;
}

static hg_status keep_in_memory(hg_budget *budget, output *o, const hg_file_part *parts,
                                size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (!hg_add_u64(total, parts[i].length, &total)) return hg_fail_memory();
    HG_TRY(hg_bytes_alloc_in(budget, total, &o->direct));
    uint64_t at = 0;
    for (size_t i = 0; i < count; at += parts[i++].length)
        HG_TRY(copy_part(&parts[i], o->direct.data + at));
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

static bool find_folder(const char *target, struct stat *info) {
    hg_text folder = {0};
    size_t length = folder_length(target);
    hg_text_add(&folder, length ? target : ".", length ? length : 1);
    bool found = !folder.failed && stat(folder.data, info) == 0;
    hg_text_free(&folder);
    return found;
}

/* Whether two targets are one name in one folder, however the folder is written. */
static bool is_same(const char *one, const char *other) {
    struct stat a, b;
    if (is_stdout(one) || is_stdout(other) || strcmp(one, other) == 0)
        return strcmp(one, other) == 0;
    if (strcmp(one + folder_length(one), other + folder_length(other)) != 0) return false;
    return find_folder(one, &a) && find_folder(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static hg_status prepare(hg_outputs *outputs, output *o, const char *path,
                         const hg_file_part *parts, size_t count) {
    o->target = is_stdout(path) ? copy_text(path) : resolve(path);
    if (!o->target) return hg_fail_memory();
    for (uint64_t i = 0; i + 1 < outputs->list.count; i++)
        if (is_same(outputs->list.data[i].target, o->target))
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "two outputs go to the same file %s", path);
    if (is_stdout(path)) return keep_in_memory(outputs->budget, o, parts, count);
    struct stat info;
    bool exists = o->existed = stat(o->target, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return fail_write(path, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) return keep_in_memory(outputs->budget, o, parts, count);
    if (exists && access(o->target, W_OK) != 0) return fail_write(path, errno);
    o->mode = exists ? info.st_mode & 0777 : 0;
    uint64_t unnamed = 0;
    for (uint64_t i = 0; i + 1 < outputs->list.count; i++) unnamed += outputs->list.data[i].unnamed;
    return write_temporary(o, unnamed, parts, count);
}

hg_status hg_outputs_add(hg_outputs *outputs, const char *path, const hg_file_part *parts,
                         size_t count) {
    output *o = hg_vec_push(&outputs->list);
    if (!o) return hg_fail_memory();
    hg_status status = prepare(outputs, o, path, parts, count);
    if (status != HG_OK) {
        discard(o);
        outputs->list.count--;
    }
    return status;
}

hg_status hg_outputs_add_elements(hg_outputs *outputs, const char *path, hg_type type,
                                  uint32_t rank, const uint64_t *extent,
                                  const hg_file_part *elements) {
    uint8_t header[HG_NPY_HEADER_BYTES];
    const char *raw = hg_path_of_raw(path);
    if (!raw && hg_path_ends(path, ".npz"))
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "%s: one array is a .npy; a .npz is for all arrays: --out FILE.npz, without a name",
            path);
    hg_file_part parts[2] = {{.data = header}, *elements};
    HG_TRY(hg_npy_size(path, type, rank, extent, &parts[1].length));
    if (!raw) parts[0].length = hg_npy_header(type, rank, extent, header);
    return hg_outputs_add(outputs, raw ? raw : path, parts, 2);
}

/* ---- commit ---- */

static hg_status write_direct(output *o) {
    bool standard = is_stdout(o->target);
    int file = standard ? STDOUT_FILENO : open(o->target, O_WRONLY | O_CLOEXEC);
    if (file < 0) return fail_write(o->target, errno);
    int error = hg_write_all(file, o->direct.data, o->direct.length);
    if (!standard && close(file) != 0 && !error) error = errno;
    o->placed = true;
    return error ? fail_write(standard ? "<stdout>" : o->target, error) : HG_OK;
}

static int link_target(output *o, const char *name) {
    return link(o->target, name) == 0 ? 0 : errno;
}

/* A second name for what the target is now; without one (no hard links here) a later failure cannot
 * put it back. */
static hg_status make_backup(output *o) {
    if (!o->existed) return HG_OK;
    return with_name(o, link_target, &o->backup) == ENOMEM ? hg_fail_memory() : HG_OK;
}

static void put_back(output *o) {
    if (o->backup)
        rename(o->backup, o->target);
    else if (!o->existed)
        unlink(o->target);
    free_name(&o->backup, false);
}

/* The renames last through a power failure only once the directory is on disk. Best effort: the
 * files are in place already. */
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

static int give_name(output *o, const char *name) {
    return hg_file_give_name(o->file, AT_FDCWD, name);
}

/* 0 or an errno. A file without a name takes the target's, where there is none, else one for a
 * moment: nothing but a rename replaces a file. */
static int put_in_place(output *o) {
    int error = o->unnamed ? EEXIST : 0;
    if (o->unnamed && !o->existed) error = give_name(o, o->target);
    if (o->unnamed && !error) return 0;
    if (o->unnamed && error == EEXIST) error = with_name(o, give_name, &o->temporary);
    if (error) return error;
    return rename(o->temporary, o->target) == 0 ? 0 : errno;
}

static hg_status place(output *o, bool alone) {
    if (!alone) HG_TRY(make_backup(o));
    int error = put_in_place(o);
    if (error) return error == ENOMEM ? hg_fail_memory() : fail_write(o->target, error);
    o->placed = true;
    return HG_OK;
}

static bool is_file(const output *o) { return o->unnamed || o->temporary; }

/* Signals wait: what they end leaves none of the names for a moment, and all outputs or none. */
static hg_status place_all(output *list, uint64_t count) {
    hg_held_signals held;
    hg_status status = HG_OK;
    uint64_t done = 0;
    hg_signals_hold(&held);
    for (; done < count && status == HG_OK; done++)
        if (is_file(&list[done])) status = place(&list[done], count == 1);
    for (uint64_t i = done; status != HG_OK && i-- > 0;)
        if (is_file(&list[i]) && list[i].placed) put_back(&list[i]);
    for (uint64_t i = 0; i < count; i++) free_name(&list[i].backup, true);
    hg_signals_release(&held);
    return status;
}

hg_status hg_outputs_commit(hg_outputs *outputs) {
    output *list = outputs->list.data;
    uint64_t count = outputs->list.count;
    for (uint64_t i = 0; i < count; i++)
        if (!is_file(&list[i])) HG_TRY(write_direct(&list[i]));
    hg_status status = place_all(list, count);
    for (uint64_t i = 0; i < count && status == HG_OK; i++)
        if (is_file(&list[i])) sync_directory(list[i].target);
    for (uint64_t i = 0; i < count; i++) discard(&list[i]);
    outputs->list.count = 0;
    return status;
}

#endif

/* Files that a program text names: in the folder of the text that names them, then in those of -I.
 */
#include "cli.h"
#include <string.h>

typedef struct found_file {
    hg_bytes bytes;
    hg_text path;
} found_file;

static void free_file(found_file *f) {
    hg_bytes_free(&f->bytes);
    hg_text_free(&f->path);
    hg_free(f);
}

static void release(void *user, hg_source *source) {
    (void)user;
    free_file(source->owner);
}

/* The folder is the first `length` bytes of a text. */
static hg_status read_file(found_file *f, const char *folder, size_t length, const char *name) {
    f->path.length = 0;
    hg_text_add(&f->path, folder, length);
    if (length && folder[length - 1] != '/') hg_text_add(&f->path, "/", 1);
    hg_text_add(&f->path, name, strlen(name));
    if (f->path.failed || !f->path.data) return hg_fail_memory();
    return hg_file_read(f->path.data, HG_MAX_SOURCE_BYTES, &f->bytes);
}

static hg_status find_file(const cli *c, found_file *f, const char *from, const char *name) {
    const char *slash = from ? strrchr(from, '/') : NULL;
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - from) + 1 : 0;
    hg_status first = read_file(f, from, folder, name);
    if (first == HG_OK || name[0] == '/') return first;
    for (uint64_t i = 0; i < c->include_folders.count; i++) {
        const char *other = c->include_folders.data[i];
        if (read_file(f, other, strlen(other), name) == HG_OK) return HG_OK;
    }
    return c->include_folders.count ? read_file(f, from, folder, name) : first; /* for its message
                                                                                 */
}

static hg_status resolve(void *user, const char *from, const char *name, hg_source *source) {
    const cli *c = user;
    if (strcmp(name, "-") == 0 || !*name) return hg_fail(HG_ERROR_IO, "it has no name");
    found_file *f = hg_calloc(1, sizeof *f);
    if (!f) return hg_fail_memory();
    hg_status status = find_file(c, f, from, name);
    if (status != HG_OK) {
        free_file(f);
        return status;
    }
    source->name = f->path.data;
    source->bytes = f->bytes.data;
    source->length = (size_t)f->bytes.length;
    source->owner = f;
    return HG_OK;
}

hg_assemble_options cli_assembling(cli *c) {
    return (hg_assemble_options){.size = sizeof(hg_assemble_options),
                                 .defines = c->defines.data,
                                 .define_count = (size_t)c->defines.count,
                                 .program = c->program_name,
                                 .source_name = c->file,
                                 .resolve = resolve,
                                 .release = release,
                                 .user = c};
}

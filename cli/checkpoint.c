/* Checkpoints of a run of several steps, and of a stream: arrays that are written, whole whatever
 * ranks have of them, so that another number of ranks can go on. The file is
 *
 *     HGCHECK1 · words: steps, bytes read, bytes written, arrays · 32 bytes: hash of the program
 *     of each array: words: bytes of its name, type, rank, extents · its name
 *     elements of each array · 32 bytes: BLAKE3 of all before
 *
 * with words of 64 bits, little-endian. It is written beside the old one, synced and renamed. Must
 * not know: how steps run. */
#include "checkpoint.h"
#include "diff.h"
#include "gather.h"
#include "ranks.h"
#include <string.h>
#include <unistd.h>

enum { HASH_BYTES = 32 };
static const char MAGIC[] = "HGCHECK1";

static bool is_kept(const cli_value *v) {
    return v->param->kind == HG_PARAM_BUFFER && v->param->dir != HG_DIR_IN && !v->passes;
}

bool cli_checkpoint_can(cli *c, const char *path) {
    const hg_program *p = c->program;
    bool pools = false;
    if (strcmp(path, "-") == 0) {
        cli_usage(c, "--checkpoint: the name of a file is expected, got '-'");
        return false;
    }
    for (uint32_t i = 0; i < p->param_count; i++)
        pools = pools || p->params[i].kind == HG_PARAM_POOL;
    if (!pools && !diff_reaches_class(p) && !diff_reaches_state(p)) return true;
    cli_usage(c, "--checkpoint: '%s' keeps something in %s, which no checkpoint has",
              hg_program_name(p), pools ? "a pool" : "memory of the context");
    return false;
}

/* ---- writing ---- */

typedef struct kept_array {
    hg_backend *backend;
    const cli_value *value;
    cli_parts *parts; /* NULL: each rank has it whole */
    uint64_t extent[HG_MAX_EXTENTS];
    hg_file_part elements;
    hg_blake3 *hash;
} kept_array;

static hg_status read_buffer(void *user, uint64_t offset, void *to, uint64_t length) {
    const kept_array *k = user;
    return cli_device_read(k->backend, k->value->buffer, offset, to, length);
}

static hg_status read_hashed(void *user, uint64_t offset, void *to, uint64_t length) {
    const kept_array *k = user;
    HG_TRY(k->elements.read(k->elements.user, offset, to, length));
    hg_blake3_update(k->hash, to, (size_t)length);
    return HG_OK;
}

static hg_status read_end(void *user, uint64_t offset, void *to, uint64_t length) {
    uint8_t hash[HASH_BYTES];
    hg_blake3_final(user, hash);
    memcpy(to, hash + offset, (size_t)length);
    return HG_OK;
}

/* Of an array that is not shared each rank has the same, or no file could say what it is. */
static hg_status check_same(const cli *c, kept_array *k) {
    uint8_t own[HASH_BYTES], all[CLI_MOST_RANKS * HASH_BYTES];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U8,
                               .count = HASH_BYTES,
                               .input = own,
                               .output = all};
    hg_blake3 hash;
    uint8_t *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    hg_blake3_init(&hash);
    for (uint64_t at = 0, size; at < k->value->bytes && status == HG_OK; at += size) {
        size = k->value->bytes - at < HG_PART_BYTES ? k->value->bytes - at : HG_PART_BYTES;
        status = read_buffer(k, at, piece, size);
        hg_blake3_update(&hash, piece, status == HG_OK ? (size_t)size : 0);
    }
    hg_free(piece);
    hg_blake3_final(&hash, own);
    if (status == HG_OK) status = hg_comm_run(c->rank->comm, &call);
    for (uint32_t r = 1; r < c->rank->count && status == HG_OK; r++)
        if (memcmp(all, all + r * HASH_BYTES, HASH_BYTES) != 0)
            status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                             "--checkpoint: array '%s' of rank %u is not that of rank 0: share it "
                             "(--in or --out %s=FILE" CLI_SHARD "AXIS)",
                             k->value->param->name, (unsigned)r, k->value->param->name);
    return status;
}

static hg_status open_array(const cli *c, hg_backend *b, const cli_value *v, hg_blake3 *hash,
                            kept_array *k) {
    *k = (kept_array){.backend = b, .value = v, .hash = hash};
    memcpy(k->extent, v->extent, sizeof k->extent);
    k->elements = (hg_file_part){.length = v->bytes, .read = read_buffer, .user = k};
    if (c->rank && !v->shared) return check_same(c, k);
    if (!c->rank) return HG_OK;
    HG_TRY(cli_parts_open(c, b, v, v->axis, &k->parts, &k->extent[v->axis]));
    k->elements = cli_parts_elements(k->parts);
    return HG_OK;
}

static void add_word(hg_text *out, uint64_t word) {
    char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (char)(word >> (8 * i));
    hg_text_add(out, bytes, sizeof bytes);
}

static void add_head(hg_text *out, const cli *c, const cli_done *done, const kept_array *arrays,
                     uint32_t count) {
    hg_text_add(out, MAGIC, sizeof MAGIC - 1);
    add_word(out, done->steps);
    add_word(out, done->in_bytes);
    add_word(out, done->out_bytes);
    add_word(out, count);
    hg_text_add(out, (const char *)hg_program_hash(c->program), HASH_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        const cli_value *v = arrays[i].value;
        size_t length = strlen(v->param->name);
        add_word(out, length);
        add_word(out, v->param->type);
        add_word(out, v->rank);
        for (uint32_t d = 0; d < v->rank; d++) add_word(out, arrays[i].extent[d]);
        hg_text_add(out, v->param->name, length);
    }
}

static hg_status write_file(const cli *c, const char *path, const hg_text *head, kept_array *arrays,
                            uint32_t count, hg_blake3 *hash) {
    hg_outputs *outputs = hg_outputs_create();
    hg_file_part *parts = hg_calloc(count + (size_t)2, sizeof *parts);
    hg_status status = outputs && parts ? HG_OK : hg_fail_memory();
    if (status == HG_OK) {
        hg_blake3_update(hash, head->data, head->length);
        parts[0] = (hg_file_part){.data = head->data, .length = head->length};
        for (uint32_t i = 0; i < count; i++)
            parts[i + 1] = (hg_file_part){
                .length = arrays[i].elements.length, .read = read_hashed, .user = &arrays[i]};
        parts[count + 1] = (hg_file_part){.length = HASH_BYTES, .read = read_end, .user = hash};
        hg_outputs_charge(outputs, c->memory);
        status = hg_outputs_add(outputs, path, parts, count + (size_t)2);
    }
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    hg_outputs_destroy(outputs);
    hg_free(parts);
    return status;
}

static hg_status save(cli *c, const char *path, const cli_done *done, kept_array *arrays,
                      uint32_t count, hg_blake3 *hash) {
    hg_text head = {0};
    if (c->rank && c->rank->number) {
        for (uint32_t i = 0; i < count; i++)
            if (arrays[i].parts) HG_TRY(cli_parts_send(arrays[i].parts));
        return HG_OK;
    }
    add_head(&head, c, done, arrays, count);
    hg_status status = head.failed || !head.data ? hg_fail_memory()
                                                 : write_file(c, path, &head, arrays, count, hash);
    hg_text_free(&head);
    return status;
}

hg_status cli_checkpoint_save(cli *c, hg_backend *b, const cli_values *values, const char *path,
                              const cli_done *done) {
    kept_array *arrays = hg_calloc(values->count + (size_t)1, sizeof *arrays);
    hg_blake3 hash;
    hg_status status = arrays ? HG_OK : hg_fail_memory();
    uint32_t count = 0;
    hg_blake3_init(&hash);
    for (uint32_t i = 0; i < values->count && status == HG_OK; i++)
        if (is_kept(&values->data[i]))
            status = open_array(c, b, &values->data[i], &hash, &arrays[count++]);
    if (status == HG_OK) status = save(c, path, done, arrays, count, &hash);
    for (uint32_t i = 0; i < count; i++) cli_parts_close(arrays[i].parts);
    hg_free(arrays);
    return status;
}

/* ---- reading ---- */

typedef struct reader {
    const cli *c;
    hg_backend *backend;
    const char *path;
    hg_bytes file;
    uint64_t at, end; /* what was read; where the hash stands */
} reader;

static hg_status damaged(const reader *r, const char *what) {
    return hg_fail(HG_ERROR_IO, "%.300s: the checkpoint is damaged: %s", r->path, what);
}

static bool take_word(reader *r, uint64_t *word) {
    if (r->end - r->at < 8) return false;
    *word = 0;
    for (int i = 0; i < 8; i++) *word |= (uint64_t)r->file.data[r->at + (uint64_t)i] << (8 * i);
    r->at += 8;
    return true;
}

static bool take_bytes(reader *r, uint64_t length, const uint8_t **bytes) {
    if (r->end - r->at < length) return false;
    *bytes = r->file.data + r->at;
    r->at += length;
    return true;
}

static hg_status check_file(reader *r) {
    uint8_t own[HASH_BYTES];
    hg_blake3 hash;
    uint64_t least = sizeof MAGIC - 1 + 8 * (CLI_DONE_WORDS + 1) + 2 * HASH_BYTES;
    if (r->file.length < sizeof MAGIC - 1 || memcmp(r->file.data, MAGIC, sizeof MAGIC - 1) != 0)
        return hg_fail(HG_ERROR_IO, "%.300s is no checkpoint: it does not begin with %s", r->path,
                       MAGIC);
    if (r->file.length < least) return damaged(r, "it is cut off");
    r->end = r->file.length - HASH_BYTES;
    r->at = sizeof MAGIC - 1;
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, r->file.data, (size_t)r->end);
    hg_blake3_final(&hash, own);
    if (memcmp(own, r->file.data + r->end, HASH_BYTES) == 0) return HG_OK;
    return damaged(r, "its hash is not that of its contents");
}

typedef struct found_array {
    const cli_value *value;
    uint64_t extent[HG_MAX_EXTENTS], bytes;
} found_array;

static const cli_value *value_named(const cli_values *values, const uint8_t *name,
                                    uint64_t length) {
    for (uint32_t i = 0; i < values->count; i++) {
        const char *own = values->data[i].param->name;
        if (is_kept(&values->data[i]) && strlen(own) == length &&
            memcmp(own, name, (size_t)length) == 0)
            return &values->data[i];
    }
    return NULL;
}

static void add_shape(hg_text *out, uint32_t rank, const uint64_t *extent) {
    hg_text_addf(out, "[");
    for (uint32_t d = 0; d < rank; d++)
        hg_text_addf(out, "%s%llu", d ? ", " : "", (unsigned long long)extent[d]);
    hg_text_addf(out, "]");
}

/* The whole is as large as what ranks have of it. */
static hg_status check_shape(const reader *r, const found_array *f, uint64_t type, uint64_t rank) {
    const cli_value *v = f->value;
    uint64_t own[HG_MAX_EXTENTS];
    bool good = type == v->param->type && rank == v->rank;
    memcpy(own, v->extent, sizeof own);
    for (uint32_t d = 0; d < v->rank && good; d++) {
        uint32_t number = r->c->rank ? r->c->rank->number : 0;
        bool part = r->c->rank && v->shared && d == v->axis;
        if (part)
            good = cli_part_begin(r->c, f->extent[d], number + 1) -
                       cli_part_begin(r->c, f->extent[d], number) ==
                   own[d];
        else
            good = f->extent[d] == own[d];
    }
    if (good) return HG_OK;
    hg_text is = {0}, wanted = {0};
    add_shape(&is, rank < HG_MAX_EXTENTS ? (uint32_t)rank : HG_MAX_EXTENTS, f->extent);
    add_shape(&wanted, v->rank, own);
    hg_status status = hg_fail(
        HG_ERROR_INVALID_ARGUMENT,
        "%.200s: array '%s' is %s%.100s in the checkpoint, here %s%.100s", r->path, v->param->name,
        type < HG_TYPE_COUNT ? hg_type_name((hg_type)type) : "of an unknown type",
        is.data ? is.data : "", hg_type_name((hg_type)v->param->type),
        wanted.data ? wanted.data : "");
    hg_text_free(&is);
    hg_text_free(&wanted);
    return status;
}

static hg_status find_array(reader *r, const cli_values *values, found_array *f) {
    uint64_t length, type, rank;
    const uint8_t *name;
    if (!take_word(r, &length) || !take_word(r, &type) || !take_word(r, &rank) ||
        rank > HG_MAX_EXTENTS)
        return damaged(r, "an array has no shape");
    for (uint64_t d = 0; d < rank; d++)
        if (!take_word(r, &f->extent[d])) return damaged(r, "an array has no shape");
    if (!take_bytes(r, length, &name)) return damaged(r, "an array has no name");
    f->value = value_named(values, name, length);
    if (!f->value) return damaged(r, "it has an array that the program has not");
    HG_TRY(check_shape(r, f, type, rank));
    f->bytes = hg_type_size_bytes((hg_type)type);
    for (uint64_t d = 0; d < rank; d++)
        if (!hg_mul_u64(f->bytes, f->extent[d], &f->bytes))
            return damaged(r, "an array is too large");
    return HG_OK;
}

static hg_status put_array(reader *r, const found_array *f) {
    const cli_value *v = f->value;
    const uint8_t *whole;
    if (!take_bytes(r, f->bytes, &whole)) return damaged(r, "elements are missing");
    if (!v->buffer.handle) { /* of a stream, before it begins */
        if (f->bytes) memcpy(v->data, whole, (size_t)f->bytes);
        return HG_OK;
    }
    if (!r->c->rank || !v->shared) return cli_device_write(r->backend, v->buffer, whole, v->bytes);
    uint64_t outer = 1, inner = hg_type_size_bytes((hg_type)v->param->type);
    for (uint32_t d = 0; d < v->rank; d++)
        if (d != v->axis) *(d < v->axis ? &outer : &inner) *= v->extent[d];
    uint64_t part = v->extent[v->axis] * inner, row = f->extent[v->axis] * inner,
             from = cli_part_begin(r->c, f->extent[v->axis], r->c->rank->number) * inner;
    hg_bytes own;
    HG_TRY(hg_bytes_alloc_in(r->c->memory, v->bytes, &own));
    for (uint64_t o = 0; o < outer && part; o++)
        memcpy(own.data + o * part, whole + o * row + from, (size_t)part);
    hg_status status = cli_device_write(r->backend, v->buffer, own.data, v->bytes);
    hg_bytes_free(&own);
    return status;
}

static hg_status read_file(reader *r, const cli_values *values, cli_done *done) {
    uint64_t count, kept = 0;
    const uint8_t *program;
    HG_TRY(check_file(r));
    if (!take_word(r, &done->steps) || !take_word(r, &done->in_bytes) ||
        !take_word(r, &done->out_bytes) || !take_word(r, &count) ||
        !take_bytes(r, HASH_BYTES, &program))
        return damaged(r, "it is cut off");
    if (memcmp(program, hg_program_hash(r->c->program), HASH_BYTES) != 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.300s: the checkpoint is of another program than '%s', or of one that was "
                       "changed",
                       r->path, hg_program_name(r->c->program));
    for (uint32_t i = 0; i < values->count; i++) kept += is_kept(&values->data[i]);
    if (count != kept) return damaged(r, "it has not the arrays of the program");
    found_array *found = hg_calloc((size_t)kept + 1, sizeof *found);
    hg_status status = found ? HG_OK : hg_fail_memory();
    for (uint64_t i = 0; i < count && status == HG_OK; i++)
        status = find_array(r, values, &found[i]);
    for (uint64_t i = 0; i < count && status == HG_OK; i++) status = put_array(r, &found[i]);
    hg_free(found);
    return status;
}

/* All ranks have read the same file. */
static hg_status check_steps(const cli *c, const char *path, uint64_t step) {
    uint64_t all[CLI_MOST_RANKS];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U64,
                               .count = 1,
                               .input = &step,
                               .output = all};
    if (!c->rank) return HG_OK;
    HG_TRY(hg_comm_run(c->rank->comm, &call));
    for (uint32_t r = 1; r < c->rank->count; r++)
        if (all[r] != all[0])
            return hg_fail(HG_ERROR_IO,
                           "%.300s: rank %u has a checkpoint of step %llu, rank 0 one of %llu: all "
                           "have to see one file",
                           path, (unsigned)r, (unsigned long long)all[r],
                           (unsigned long long)all[0]);
    return HG_OK;
}

/* Before a run takes its time. */
static hg_status try_file(const cli *c, const char *path) {
    const hg_file_part nothing = {.data = ""};
    if (c->rank && c->rank->number) return HG_OK; /* rank 0 writes it */
    hg_outputs *outputs = hg_outputs_create();
    hg_status status = outputs ? hg_outputs_add(outputs, path, &nothing, 1) : hg_fail_memory();
    hg_outputs_destroy(outputs);
    return status;
}

hg_status cli_checkpoint_restore(cli *c, hg_backend *b, const cli_values *values, const char *path,
                                 cli_done *done, bool *found) {
    reader r = {.c = c, .backend = b, .path = path};
    *done = (cli_done){0};
    *found = access(path, F_OK) == 0;
    if (*found) {
        HG_TRY(hg_file_map(c->memory, path, &r.file));
        hg_status status = read_file(&r, values, done);
        hg_bytes_free(&r.file);
        HG_TRY(status);
    } else {
        HG_TRY(try_file(c, path));
    }
    return check_steps(c, path, done->steps);
}

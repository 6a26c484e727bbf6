/* What a run left in its outputs: printed, or written to files all together. Must not know: how it
 * ran. */
#include "gather.h"
#include "launch.h"
#include "ranks.h"
#include "stamp.h"
#include <string.h>

/* One output that a buffer has: read in parts, so that it is in memory once. */
typedef struct source {
    hg_backend *backend;
    hg_buffer buffer;
} source;

static hg_status read_part(void *user, uint64_t offset, void *to, uint64_t length) {
    const source *s = user;
    return cli_device_read(s->backend, s->buffer, offset, to, length);
}

static hg_file_part elements_of(const cli_value *v, source *from) {
    hg_file_part elements = {.data = v->result.data};
    if (!elements.data) elements = (hg_file_part){.read = read_part, .user = from};
    return elements;
}

/* ---- the elements of an output ---- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Hashed on their way. */
typedef struct hashing {
    hg_file_part from;
    hg_blake3 hash;
} hashing;

static hg_status read_hashed(void *user, uint64_t offset, void *to, uint64_t length) {
    hashing *h = user;
    if (h->from.data)
        memcpy(to, (const uint8_t *)h->from.data + offset, (size_t)length);
    else
        HG_TRY(h->from.read(h->from.user, offset, to, length));
    hg_blake3_update(&h->hash, to, (size_t)length);
    return HG_OK;
}

static hg_status read_all(const hg_file_part *elements, uint64_t bytes, uint8_t *to) {
    for (uint64_t at = 0; at < bytes; at += HG_PART_BYTES)
        HG_TRY(elements->read(elements->user, at, to + at, least(bytes - at, HG_PART_BYTES)));
    return HG_OK;
}

/* To nowhere. */
static hg_status drain(const hg_file_part *elements, uint64_t bytes) {
    uint8_t *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    for (uint64_t at = 0; at < bytes && status == HG_OK; at += HG_PART_BYTES)
        status = elements->read(elements->user, at, piece, least(bytes - at, HG_PART_BYTES));
    hg_free(piece);
    return status;
}

/* All outputs without a file of their own. */
static hg_status add_archive(hg_backend *b, const cli_values *values, hg_outputs *outputs) {
    hg_named_array *arrays = hg_calloc(values->count + (size_t)1, sizeof *arrays);
    source *from = hg_calloc(values->count + (size_t)1, sizeof *from);
    size_t count = 0;
    for (uint32_t i = 0; i < values->count && arrays && from; i++) {
        const cli_value *v = &values->data[i];
        if (!cli_is_archived(values, v)) continue;
        from[count] = (source){b, v->buffer};
        arrays[count] = (hg_named_array){.name = v->param->name,
                                         .type = (hg_type)v->param->type,
                                         .rank = v->rank,
                                         .extent = v->extent,
                                         .elements = elements_of(v, &from[count])};
        count++;
    }
    hg_status status = arrays && from ? hg_outputs_add_npz(outputs, values->archive, arrays, count)
                                      : hg_fail_memory();
    hg_free(arrays);
    hg_free(from);
    return status;
}

/* What printing looks at: the first elements, or for JSON all of them. The text counts too. */
static hg_status print_output(cli *c, hg_backend *b, const cli_value *v, const char *file,
                              hg_text *printed) {
    uint64_t shown = v->bytes, text = 0, size = hg_type_size_bytes((hg_type)v->param->type);
    bool all = c->json;
    const char *raw = file ? hg_path_of_raw(file) : NULL;
    if (file) {
        cli_print_array(c, printed, v, NULL, raw ? raw : file);
        return HG_OK;
    }
    if (!all && shown > CLI_PRINTED_ELEMENTS * size) shown = CLI_PRINTED_ELEMENTS * size;
    if (all && !hg_mul_u64(v->elements, 3 * size + 24, &text)) text = UINT64_MAX;
    HG_TRY(hg_budget_charge(c->memory, text)); /* until the end: it is printed then */
    hg_bytes bytes = {0};
    if (!v->result.data) {
        HG_TRY(hg_bytes_alloc_in(c->memory, shown, &bytes));
        hg_status status = cli_device_read(b, v->buffer, 0, bytes.data, shown);
        if (status != HG_OK) {
            hg_bytes_free(&bytes);
            return status;
        }
    }
    cli_print_array(c, printed, v, bytes.data ? bytes.data : v->result.data, NULL);
    hg_bytes_free(&bytes);
    return HG_OK;
}

/* NAME TYPE[…] blake3 HASH; with the file, where there is one, for --json. */
static void print_hash(cli *c, const cli_value *v, const uint8_t bytes[32], const char *file,
                       hg_text *printed) {
    char text[65];
    cli_hash_text(bytes, text);
    cli_print_hash(c, printed, v, text, file);
}

/* An output with its elements, wherever they come from. */
static hg_status deliver(cli *c, hg_backend *b, const cli_values *values, cli_value *v,
                         const hg_file_part *from, bool in_order, hg_outputs *outputs,
                         hg_text *printed) {
    bool archived = cli_is_archived(values, v);
    const char *file = archived ? values->archive : v->out;
    hashing h = {.from = *from};
    hg_file_part elements = *from;
    uint8_t hash[32];
    hg_blake3_init(&h.hash);
    if (c->hash || c->stamp) elements = (hg_file_part){.read = read_hashed, .user = &h};
    if (v->out)
        HG_TRY(hg_outputs_add_elements(outputs, v->out, (hg_type)v->param->type, v->rank, v->extent,
                                       &elements));
    else if (in_order && (archived || !c->hash)) {
        HG_TRY(hg_bytes_alloc_in(c->memory, v->bytes, &v->result));
        HG_TRY(read_all(&elements, v->bytes, v->result.data));
    } else if (c->hash)
        HG_TRY(drain(&elements, v->bytes));
    hg_blake3_final(&h.hash, hash);
    if (c->stamp && v->out) HG_TRY(cli_stamp_add(c, b, v->out, hash, outputs));
    if (!c->hash) return print_output(c, b, v, file, printed);
    print_hash(c, v, hash, file, printed);
    return HG_OK;
}

/* Rank 0 has the whole afterwards, or has written it. */
static hg_status collect_parts(cli *c, hg_backend *b, const cli_values *values, cli_value *v,
                               uint32_t axis, hg_outputs *outputs, hg_text *printed) {
    uint64_t extent;
    cli_parts *parts;
    cli_value whole = *v;
    whole.result = (hg_bytes){0};
    HG_TRY(cli_parts_open(c, b, v, axis, &parts, &extent));
    hg_status status;
    if (c->rank->number) {
        status = cli_parts_send(parts);
    } else {
        const hg_file_part elements = cli_parts_elements(parts);
        whole.extent[axis] = extent;
        whole.bytes = elements.length;
        whole.elements = whole.bytes / hg_type_size_bytes((hg_type)v->param->type);
        status = deliver(c, b, values, &whole, &elements, true, outputs, printed);
    }
    cli_parts_close(parts);
    if (!c->rank->number) {
        hg_bytes_free(&v->result);
        *v = whole; /* its result, too */
    }
    return status;
}

static hg_status collect_one(cli *c, hg_backend *b, const cli_values *values, cli_value *v,
                             hg_outputs *outputs, hg_text *printed, char path[CLI_PATH_BYTES]) {
    uint32_t axis = CLI_NO_AXIS;
    if (v->out && !cli_shard(c, "--out", v->out, path, &axis))
        return hg_fail(HG_ERROR_INTERNAL, "--out is what it was not");
    if (axis != CLI_NO_AXIS) v->out = path;
    if (v->cut) axis = v->axis;
    if (axis != CLI_NO_AXIS && c->rank)
        return collect_parts(c, b, values, v, axis, outputs, printed);
    if (c->rank && c->rank->number) return HG_OK; /* rank 0 has the same */
    source own = {b, v->buffer};
    hg_file_part elements = elements_of(v, &own);
    return deliver(c, b, values, v, &elements, false, outputs, printed);
}

hg_status cli_collect(cli *c, hg_backend *b, cli_values *values) {
    hg_outputs *outputs = hg_outputs_create();
    hg_text printed = {0};
    char path[CLI_PATH_BYTES];
    hg_status status = outputs ? HG_OK : hg_fail_memory();
    if (outputs) hg_outputs_charge(outputs, c->memory);
    for (uint32_t i = 0; i < values->count && status == HG_OK; i++) {
        const hg_param *p = values->data[i].param;
        if (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_IN)
            status = collect_one(c, b, values, &values->data[i], outputs, &printed, path);
    }
    if (c->rank && status == HG_OK) status = cli_rank_wait(c);
    if (c->rank && c->rank->number) {
        hg_outputs_destroy(outputs);
        hg_text_free(&printed);
        return status;
    }
    if (status == HG_OK && values->archive) status = add_archive(b, values, outputs);
    if (status == HG_OK && values->archive && c->stamp)
        status = cli_stamp_add(c, b, values->archive, NULL, outputs);
    if (c->stamp && !c->json) cli_stamp_print(c, b, &printed);
    if (status == HG_OK && printed.failed) status = hg_fail_memory();
    /* what goes to standard output goes first: if nobody takes it, no file is touched */
    if (status == HG_OK && !c->json) status = cli_print_now(printed.data, printed.length);
    if (status == HG_OK) status = hg_outputs_commit(outputs);
    if (status == HG_OK && c->json && printed.data)
        hg_text_add(&c->outputs, printed.data, printed.length);
    hg_text_free(&printed);
    hg_outputs_destroy(outputs);
    return status;
}

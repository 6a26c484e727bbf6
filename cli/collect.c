/* What a run left in its outputs: printed, or written to files all together. Must not know: how it
 * ran. */
#include "launch.h"
#include "ranks.h"
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

/* ---- outputs that ranks share ---- */

/* The ranks' parts of an output, which rank 0 writes one after another. */
typedef struct parts {
    source own;
    const cli *c;
    uint64_t bytes[256]; /* of each rank */
    uint64_t at;         /* bytes that were given */
    uint32_t rank;       /* whose part comes, */
    uint64_t of_rank;    /* and from which byte of it */
    uint8_t *piece;      /* of another rank, */
    uint64_t have, used; /* its bytes, and how many of them were given */
} parts;

static hg_status carry(const cli *c, hg_comm_kind kind, uint32_t peer, void *memory,
                       uint64_t bytes) {
    const hg_comm_call call = {.size = sizeof call,
                               .kind = kind,
                               .type = HG_TYPE_U8,
                               .peer = peer,
                               .count = bytes,
                               .input = memory,
                               .output = memory};
    return hg_comm_run(c->rank->comm, &call);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The next bytes, at most so many: of one rank. */
static hg_status next_bytes(parts *p, uint8_t *to, uint64_t most, uint64_t *got) {
    while (p->of_rank == p->bytes[p->rank]) {
        p->rank++;
        p->of_rank = 0;
    }
    uint64_t left = p->bytes[p->rank] - p->of_rank;
    if (!p->rank) {
        *got = least(most, left);
        HG_TRY(cli_device_read(p->own.backend, p->own.buffer, p->of_rank, to, *got));
    } else {
        if (p->used == p->have) {
            p->have = least(left, HG_PART_BYTES);
            p->used = 0;
            HG_TRY(carry(p->c, HG_COMM_RECV, p->rank, p->piece, p->have));
        }
        *got = least(most, p->have - p->used);
        memcpy(to, p->piece + p->used, (size_t)*got);
        p->used += *got;
    }
    p->of_rank += *got;
    return HG_OK;
}

static hg_status read_parts(void *user, uint64_t offset, void *to, uint64_t length) {
    parts *p = user;
    uint8_t *at = to;
    if (offset != p->at) return hg_fail(HG_ERROR_INTERNAL, "parts are read in order");
    p->at += length;
    for (uint64_t got; length; length -= got, at += got) HG_TRY(next_bytes(p, at, length, &got));
    return HG_OK;
}

static hg_status send_part(const cli *c, hg_backend *b, const cli_value *v) {
    uint8_t *piece = hg_alloc(HG_PART_BYTES);
    hg_status status = piece ? HG_OK : hg_fail_memory();
    for (uint64_t at = 0; at < v->bytes && status == HG_OK;) {
        uint64_t size = least(v->bytes - at, HG_PART_BYTES);
        status = cli_device_read(b, v->buffer, at, piece, size);
        if (status == HG_OK) status = carry(c, HG_COMM_SEND, 0, piece, size);
        at += size;
    }
    hg_free(piece);
    return status;
}

/* Every rank's extent and bytes: rows are the same, or there is no whole. */
static hg_status gather_shapes(const cli *c, const cli_value *v, parts *p, uint64_t *extent) {
    uint64_t own[2] = {v->rank ? v->extent[0] : 0, v->bytes}, all[2 * 256];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U64,
                               .count = 2,
                               .input = own,
                               .output = all};
    if (!v->rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "--out %s: it has no axis that ranks could share",
                       v->param->name);
    HG_TRY(hg_comm_run(c->rank->comm, &call));
    *extent = 0;
    for (uint32_t r = 0; r < c->rank->count; r++) {
        if (own[0] * all[2 * r + 1] != own[1] * all[2 * r])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "--out %s: rows of rank %u are not as long as those of rank %u",
                           v->param->name, (unsigned)r, (unsigned)c->rank->number);
        *extent += all[2 * r];
        p->bytes[r] = all[2 * r + 1];
    }
    return HG_OK;
}

static hg_status add_parts(cli *c, hg_backend *b, const cli_value *v, const char *path,
                           hg_outputs *outputs) {
    parts p = {.own = {b, v->buffer}, .c = c};
    uint64_t extent[HG_MAX_EXTENTS];
    memcpy(extent, v->extent, sizeof extent);
    HG_TRY(gather_shapes(c, v, &p, &extent[0]));
    if (c->rank->number) return send_part(c, b, v);
    p.piece = hg_alloc(HG_PART_BYTES);
    if (!p.piece) return hg_fail_memory();
    const hg_file_part elements = {.read = read_parts, .user = &p};
    hg_status status = hg_outputs_add_elements(outputs, path, (hg_type)v->param->type, v->rank,
                                               extent, &elements);
    hg_free(p.piece);
    return status;
}

/* ---- outputs of one ---- */

static hg_status add_output(hg_backend *b, const cli_value *v, hg_outputs *outputs) {
    source from = {b, v->buffer};
    hg_file_part elements = elements_of(v, &from);
    return hg_outputs_add_elements(outputs, v->out, (hg_type)v->param->type, v->rank, v->extent,
                                   &elements);
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
    bool all = c->json && !file;
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
    const char *raw = file ? hg_path_of_raw(file) : NULL;
    cli_print_array(c, printed, v, bytes.data ? bytes.data : v->result.data, raw ? raw : file);
    hg_bytes_free(&bytes);
    return HG_OK;
}

static hg_status collect_one(cli *c, hg_backend *b, const cli_values *values, const cli_value *v,
                             hg_outputs *outputs, hg_text *printed) {
    char path[CLI_PATH_BYTES];
    bool shard = false;
    if (v->out && !cli_shard(c, "--out", v->out, path, &shard))
        return hg_fail(HG_ERROR_INTERNAL, "--out is what it was not");
    if (shard && c->rank) return add_parts(c, b, v, path, outputs);
    if (c->rank && c->rank->number) return HG_OK; /* rank 0 has the same */
    cli_value whole = *v;
    if (shard) whole.out = path;
    v = &whole;
    if (v->out) HG_TRY(add_output(b, v, outputs));
    return print_output(c, b, v, cli_is_archived(values, v) ? values->archive : v->out, printed);
}

hg_status cli_collect(cli *c, hg_backend *b, const cli_values *values) {
    hg_outputs *outputs = hg_outputs_create();
    hg_text printed = {0};
    hg_status status = outputs ? HG_OK : hg_fail_memory();
    if (outputs) hg_outputs_charge(outputs, c->memory);
    for (uint32_t i = 0; i < values->count && status == HG_OK; i++) {
        const hg_param *p = values->data[i].param;
        if (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_IN)
            status = collect_one(c, b, values, &values->data[i], outputs, &printed);
    }
    if (c->rank && status == HG_OK) status = cli_rank_wait(c);
    if (c->rank && c->rank->number) {
        hg_outputs_destroy(outputs);
        hg_text_free(&printed);
        return status;
    }
    if (status == HG_OK && values->archive) status = add_archive(b, values, outputs);
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

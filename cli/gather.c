/* An array of which ranks have parts along an axis: rank 0 puts it together while it is read. Must
 * not know: what it is for. */
#include "gather.h"
#include "ranks.h"
#include <string.h>

/* What comes of one rank's part: read ahead, in order. */
typedef struct stream {
    uint8_t *piece;
    uint64_t have, used; /* bytes of the piece, and how many of them were given */
    uint64_t came;       /* bytes in all */
} stream;

/* The ranks' parts of an output along an axis, which rank 0 puts together: of each index in front
 * of the axis a row of every rank. */
struct cli_parts {
    const cli *c;
    hg_backend *backend;
    const cli_value *value;
    uint64_t outer, inner;            /* rows of each rank; bytes behind the axis */
    uint64_t lengths[CLI_MOST_RANKS]; /* along the axis */
    stream streams[CLI_MOST_RANKS];
    uint64_t piece_bytes; /* the same on all ranks */
    uint8_t *pieces;
    uint64_t at;     /* bytes that were given */
    uint32_t rank;   /* whose row comes, */
    uint64_t of_row; /* and from which byte of it */
};

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

static uint64_t piece_bytes(const cli *c) {
    uint64_t each = HG_PART_BYTES / c->rank->count;
    return each < 1 << 16 ? 1 << 16 : each;
}

/* Of this rank's part. */
static hg_status read_own(const cli_parts *p, uint64_t offset, void *to, uint64_t length) {
    const uint8_t *result = p->value->result.data;
    if (!result) return cli_device_read(p->backend, p->value->buffer, offset, to, length);
    memcpy(to, result + offset, (size_t)length);
    return HG_OK;
}

static hg_status read_ahead(cli_parts *p) {
    stream *s = &p->streams[p->rank];
    s->have = least(p->outer * p->lengths[p->rank] * p->inner - s->came, p->piece_bytes);
    s->used = 0;
    s->came += s->have;
    if (p->rank) return carry(p->c, HG_COMM_RECV, p->rank, s->piece, s->have);
    return read_own(p, s->came - s->have, s->piece, s->have);
}

/* The next bytes, at most so many: of one row. */
static hg_status next_bytes(cli_parts *p, uint8_t *to, uint64_t most, uint64_t *got) {
    while (p->of_row == p->lengths[p->rank] * p->inner) {
        p->rank = (p->rank + 1) % p->c->rank->count;
        p->of_row = 0;
    }
    stream *s = &p->streams[p->rank];
    if (s->used == s->have) HG_TRY(read_ahead(p));
    *got = least(least(most, s->have - s->used), p->lengths[p->rank] * p->inner - p->of_row);
    memcpy(to, s->piece + s->used, (size_t)*got);
    s->used += *got;
    p->of_row += *got;
    return HG_OK;
}

static hg_status read_parts(void *user, uint64_t offset, void *to, uint64_t length) {
    cli_parts *p = user;
    uint8_t *at = to;
    if (offset != p->at) return hg_fail(HG_ERROR_INTERNAL, "parts are read in order");
    p->at += length;
    for (uint64_t got; length; length -= got, at += got) HG_TRY(next_bytes(p, at, length, &got));
    return HG_OK;
}

/* Every rank's extent along the axis: other extents are the same, or there is no whole. */
static hg_status gather_shapes(cli_parts *p, uint32_t axis, uint64_t *extent) {
    const cli *c = p->c;
    const cli_value *v = p->value;
    uint64_t own[3] = {0, 1, hg_type_size_bytes((hg_type)v->param->type)}, all[3 * CLI_MOST_RANKS];
    const hg_comm_call call = {.size = sizeof call,
                               .kind = HG_COMM_ALL_GATHER,
                               .type = HG_TYPE_U64,
                               .count = 3,
                               .input = own,
                               .output = all};
    if (axis >= v->rank)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "--out %s: it has no axis %u that ranks could share", v->param->name,
                       (unsigned)axis);
    own[0] = v->extent[axis];
    for (uint32_t d = 0; d < v->rank; d++)
        if (d != axis) own[d < axis ? 1 : 2] *= v->extent[d];
    HG_TRY(hg_comm_run(c->rank->comm, &call));
    *extent = 0;
    for (uint32_t r = 0; r < c->rank->count; r++) {
        if (memcmp(&own[1], &all[3 * r + 1], 2 * sizeof *own) != 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "--out %s: rows of rank %u are not as long as those of rank %u",
                           v->param->name, (unsigned)r, (unsigned)c->rank->number);
        p->lengths[r] = all[3 * r];
        *extent += all[3 * r];
    }
    p->outer = own[1];
    p->inner = own[2];
    return HG_OK;
}

/* ---- all of it ---- */

hg_status cli_parts_open(const cli *c, hg_backend *b, const cli_value *v, uint32_t axis,
                         cli_parts **parts, uint64_t *extent) {
    cli_parts *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->c = c;
    p->backend = b;
    p->value = v;
    p->piece_bytes = piece_bytes(c);
    hg_status status = gather_shapes(p, axis, extent);
    uint32_t pieces = c->rank->number ? 1 : c->rank->count;
    if (status == HG_OK) p->pieces = hg_alloc((size_t)(p->piece_bytes * pieces));
    if (status == HG_OK && !p->pieces) status = hg_fail_memory();
    for (uint32_t r = 0; status == HG_OK && r < pieces; r++)
        p->streams[r].piece = p->pieces + r * p->piece_bytes;
    if (status == HG_OK)
        *parts = p;
    else
        cli_parts_close(p);
    return status;
}

void cli_parts_close(cli_parts *p) {
    if (p) hg_free(p->pieces);
    hg_free(p);
}

hg_file_part cli_parts_elements(cli_parts *p) {
    uint64_t extent = 0;
    for (uint32_t r = 0; r < p->c->rank->count; r++) extent += p->lengths[r];
    return (hg_file_part){.length = p->outer * extent * p->inner, .read = read_parts, .user = p};
}

hg_status cli_parts_send(const cli_parts *p) {
    for (uint64_t at = 0, size; at < p->value->bytes; at += size) {
        size = least(p->value->bytes - at, p->piece_bytes);
        HG_TRY(read_own(p, at, p->pieces, size));
        HG_TRY(carry(p->c, HG_COMM_SEND, 0, p->pieces, size));
    }
    return HG_OK;
}

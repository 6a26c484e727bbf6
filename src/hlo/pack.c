/* Programs of more arrays than a program may have parameters: arrays of one kind and type become
 * parts of one.
 * Must not know: what the program does. */
#include "hlo/lower.h"
#include <string.h>

enum {
    MOST_ARRAYS = 200, /* of a program */
    MOST_JOINED = 100  /* arrays of a graph in one, by a program of its own */
};

typedef struct part_of {
    mlir_storage *pack; /* NULL: none */
    uint64_t offset;    /* in elements */
} part_of;

typedef struct packed {
    part_of *parts; /* by number of the storage */
    mlir_storages outputs;
} packed;

static bool is_of(const mlir_storage *pack, const mlir_storage *s) {
    return mlir_same_elements(&pack->type, &s->type);
}

/* The places of a list's arrays; the list is that of the packs then. */
static void lay_out(mlir_lower *w, mlir_storages *list, uint32_t most, part_of *parts) {
    mlir_storages packs = {0};
    for (uint64_t i = 0; i < list->count && w->status == HG_OK; i++) {
        mlir_storage *s = list->data[i];
        uint64_t count = 0, k = packs.count;
        while (k-- > 0 && !(is_of(packs.data[k], s) && packs.data[k]->parts < most)) {}
        if (k == UINT64_MAX) {
            mlir_storage *pack = mlir_make(w, sizeof *pack), **to = hg_vec_push(&packs);
            if (!pack || !to) {
                mlir_no_memory(w);
                break;
            }
            *pack = (mlir_storage){.number = w->storages++, .type = s->type};
            pack->type.rank = 1;
            pack->type.dims[0] = 0;
            *to = pack;
            k = packs.count - 1;
        }
        mlir_elements(&s->type, &count);
        parts[s->number] = (part_of){packs.data[k], packs.data[k]->type.dims[0]};
        packs.data[k]->type.dims[0] += count;
        packs.data[k]->parts++;
    }
    hg_vec_free(list);
    *list = packs;
}

/* aNUMBER[ … becomes aPACK[OFFSET + … */
static void rename_arrays(mlir_lower *w, const part_of *parts, uint32_t count) {
    hg_text out = {0}, *body = &w->k->body;
    const char *at = body->data, *end = at + body->length;
    while (at < end) {
        const char *found = at;
        uint64_t number = 0;
        size_t digits = 0;
        for (; found < end; found++) {
            bool begins = *found == 'a' && (found == body->data || found[-1] == ' ' ||
                                            found[-1] == '(' || found[-1] == '-');
            digits = begins ? hg_read_digits(found + 1, (size_t)(end - found - 1), &number) : 0;
            if (digits && found + 1 + digits < end && found[1 + digits] == '[') break;
        }
        hg_text_add(&out, at, (size_t)(found - at));
        at = found;
        if (found == end) break;
        at += digits + 2;
        const part_of *part = number < count ? &parts[number] : NULL;
        if (!part || !part->pack) {
            hg_text_add(&out, found, (size_t)(at - found));
            continue;
        }
        hg_text_addf(&out, "a%u[%llu + ", (unsigned)part->pack->number,
                     (unsigned long long)part->offset << part->pack->type.complex);
    }
    if (out.failed) mlir_no_memory(w);
    hg_text_free(body);
    *body = out;
}

/* A lane for each place of the longest part: it copies an element of each. */
static void join_part(mlir_lower *w, mlir_storage *pack, mlir_storage *const *from, uint64_t count,
                      const part_of *parts) {
    mlir_kernel kernel, *outer = w->k;
    mlir_type lanes = pack->type, flat = pack->type;
    lanes.dims[0] = 0;
    for (uint64_t i = 0; i < count; i++) {
        mlir_elements(&from[i]->type, &flat.dims[0]);
        if (parts[from[i]->number].pack == pack && flat.dims[0] > lanes.dims[0])
            lanes.dims[0] = flat.dims[0];
    }
    w->k = NULL;
    mlir_begin(w, &kernel, &lanes);
    mlir_storage *out = mlir_output(w, &pack->type);
    for (uint64_t i = 0; i < count && w->status == HG_OK; i++) {
        const part_of *part = &parts[from[i]->number];
        if (part->pack != pack) continue;
        mlir_elements(&from[i]->type, &flat.dims[0]);
        uint64_t known = mlir_open(w, "if %s < %llu", kernel.at[0],
                                   (unsigned long long)flat.dims[0]);
        mlir_store(w, out,
                   mlir_text(w, "(%s + %llu)", kernel.at[0], (unsigned long long)part->offset),
                   mlir_load(w, from[i], kernel.at[0]));
        mlir_close(w, known, "}");
    }
    mlir_finish(w);
    w->k = outer;
    if (out) pack->value = out->value;
}

static void pack(mlir_lower *w, packed *p) {
    mlir_kernel *k = w->k;
    const uint32_t before = w->storages;
    mlir_storages inputs = {0};
    p->parts = hg_calloc((size_t)before + 1, sizeof *p->parts);
    for (uint64_t i = 0; p->parts && i < k->inputs.count + k->outputs.count; i++) {
        bool input = i < k->inputs.count;
        mlir_storage **to = hg_vec_push(input ? &inputs : &p->outputs);
        if (!to) {
            mlir_no_memory(w);
            break;
        }
        *to = input ? k->inputs.data[i] : k->outputs.data[i - k->inputs.count];
    }
    if (!p->parts) mlir_no_memory(w);
    if (w->status == HG_OK) {
        mlir_storages *const lists[] = {&k->inputs, &k->outputs, &k->scratches};
        for (int i = 0; i < 3; i++) lay_out(w, lists[i], i ? UINT32_MAX : MOST_JOINED, p->parts);
        rename_arrays(w, p->parts, before);
        hg_text_free(&k->head);
        for (int i = 0; i < 3; i++)
            for (uint64_t n = 0; n < lists[i]->count; n++)
                mlir_declare(w, lists[i]->data[n], i == 0 ? "in" : i == 1 ? "out" : NULL);
        for (uint64_t n = 0; n < k->inputs.count && w->status == HG_OK; n++)
            join_part(w, k->inputs.data[n], inputs.data, inputs.count, p->parts);
        w->programs++;
    }
    hg_vec_free(&inputs);
}

static void unpack(mlir_lower *w, packed *p) {
    for (uint64_t i = 0; i < p->outputs.count && w->status == HG_OK; i++) {
        mlir_storage *s = p->outputs.data[i];
        const part_of *part = &p->parts[s->number];
        hg_dim dims[MLIR_MAX_RANK + 1];
        mlir_dims(&s->type, dims);
        hg_status status = hg_graph_view(w->g, NULL, part->pack->value,
                                         hg_dim_of(part->offset << s->type.complex), dims,
                                         s->type.rank + s->type.complex, &s->value);
        mlir_refuse_call(w, status, "");
    }
    hg_vec_free(&p->outputs);
    hg_free(p->parts);
}

void mlir_end(mlir_lower *w) {
    const mlir_kernel *k = w->k;
    packed p = {0};
    if (w->status == HG_OK && k->inputs.count + k->outputs.count + k->scratches.count > MOST_ARRAYS)
        pack(w, &p);
    mlir_finish(w);
    unpack(w, &p);
}

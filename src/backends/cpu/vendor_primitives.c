/* The primitives of a slice. Must not know: threads, instructions. */
#include "backends/cpu/vendor_internal.h"
#include <stdio.h>
#include <string.h>

enum { PLACE_ALIGN = 4096 };

/* ---- all ---- */

static uint64_t take_place(vendor_primitives *list, const onednn_library *l, int memory) {
    uint64_t place = list->scratch_bytes;
    list->used[memory] = true;
    list->place[memory] = place;
    list->scratch_bytes = (place + l->memory_desc_get_size(&list->layout[memory]) + PLACE_ALIGN -
                           1) /
                          PLACE_ALIGN * PLACE_ALIGN;
    return place;
}

static void add_argument(vendor_primitive *link, int which, int memory) {
    link->arguments[link->count].which = which;
    link->arguments[link->count++].memory = memory;
}

/* The next link, without its arguments; NULL: oneDNN cannot. */
static vendor_primitive *add_primitive(const onednn_library *l,
                                       const onednn_description *description,
                                       vendor_primitives *list) {
    vendor_primitive *link = &list->all[list->count];
    int pad = VENDOR_PAD + list->count;
    *link = (vendor_primitive){0};
    if (l->primitive_create(&link->primitive, description) != 0) return NULL;
    list->layout[pad] = *l->primitive_desc_query_md(description, ONEDNN_QUERY_SCRATCHPAD, 0);
    if (l->memory_desc_get_size(&list->layout[pad])) {
        take_place(list, l, pad);
        add_argument(link, ONEDNN_SCRATCHPAD, pad);
    }
    list->count++;
    return link;
}

static bool add_reorder(const onednn_library *l, const onednn_attributes *attributes, int from,
                        int to, vendor_primitives *list) {
    onednn_description *description = NULL;
    int status = l->reorder_primitive_desc_create(&description, &list->layout[from], l->engine,
                                                  &list->layout[to], l->engine, attributes);
    vendor_primitive *link = status == 0 ? add_primitive(l, description, list) : NULL;
    if (description) l->primitive_desc_destroy(description);
    if (!link) return false;
    add_argument(link, ONEDNN_SOURCE, from); /* DNNL_ARG_FROM and DNNL_ARG_TO are these numbers */
    add_argument(link, ONEDNN_RESULT, to);
    return true;
}

/* ---- what the primitive that does the work shall be ---- */

static int add_sum(const onednn_library *l, const vendor_problem *p,
                   onednn_attributes *attributes) {
    onednn_post_ops *after = NULL;
    int status = l->post_ops_create(&after);
    if (!status) status = l->post_ops_append_sum(after, p->beta);
    if (!status) status = l->primitive_attr_set_post_ops(attributes, after);
    if (after) l->post_ops_destroy(after);
    return status;
}

static int set_attributes(const onednn_library *l, const vendor_problem *p,
                          onednn_attributes *attributes) {
    int status = 0;
    if (l->primitive_attr_set_fpmath_mode)
        status = l->primitive_attr_set_fpmath_mode(attributes, ONEDNN_STRICT);
    if (!status && p->alpha != 1)
        status = l->primitive_attr_set_output_scales(attributes, 1, 0, &p->alpha);
    return !status && p->beta != 0 ? add_sum(l, p, attributes) : status;
}

/* Layouts as oneDNN likes them: what it chose is asked afterwards. */
static int describe_convolution(const onednn_library *l, const vendor_problem *p,
                                const vendor_slice *slice, const onednn_layout *bias,
                                onednn_operation *operation) {
    onednn_layout any[VENDOR_TENSORS];
    int64_t dilations[2] = {p->dilation[0] - 1, p->dilation[1] - 1};
    for (int i = 0; i < VENDOR_TENSORS; i++) {
        const vendor_tensor *t = &slice->tensor[i];
        int status = t->rank ? l->memory_desc_init_by_tag(&any[i], t->rank, t->dims, t->type,
                                                          ONEDNN_ANY)
                             : 0;
        if (status) return status;
    }
    return l->dilated_convolution_forward_desc_init(
        operation, ONEDNN_INFERENCE, ONEDNN_DIRECT, &any[VENDOR_SOURCE], &any[VENDOR_WEIGHTS], bias,
        &any[VENDOR_RESULT], p->stride, dilations, slice->before, slice->after);
}

static int describe(const onednn_library *l, const vendor_problem *p, const vendor_slice *slice,
                    const vendor_primitives *list, onednn_operation *operation) {
    const onednn_layout *layout = list->layout,
                        *bias = slice->tensor[VENDOR_BIAS].rank ? &layout[VENDOR_BIAS] : NULL;
    if (p->convolution) return describe_convolution(l, p, slice, bias, operation);
    return l->matmul_desc_init(operation, &layout[VENDOR_SOURCE], &layout[VENDOR_WEIGHTS], bias,
                               &layout[VENDOR_RESULT]);
}

/* One that is written for this CPU: those without are slower than our own code. */
static bool is_good(const char *name) {
    return strncmp(name, "ref", 3) != 0 && strncmp(name, "gemm:ref", 8) != 0;
}

/* ---- the list ---- */

static bool lay_out(const onednn_library *l, const vendor_slice *slice, vendor_primitives *list) {
    for (int i = 0; i < VENDOR_TENSORS; i++) {
        const vendor_tensor *t = &slice->tensor[i];
        list->offset[i] = slice->offset[i];
        list->used[i] = t->rank != 0;
        if (t->rank && l->memory_desc_init_by_strides(&list->layout[i], t->rank, t->dims, t->type,
                                                      t->strides) != 0)
            return false;
    }
    return true;
}

static const int QUERY[VENDOR_TENSORS] = {ONEDNN_QUERY_SOURCE, ONEDNN_QUERY_WEIGHTS, 0,
                                          ONEDNN_QUERY_RESULT};
static const int WHICH[VENDOR_TENSORS] = {ONEDNN_SOURCE, ONEDNN_WEIGHTS, ONEDNN_BIAS,
                                          ONEDNN_RESULT};

/* The tensor itself, or where it stands in the order that the primitive wants. */
static int in_order(const onednn_library *l, const onednn_description *work, int role,
                    vendor_primitives *list) {
    const onednn_layout *wanted = QUERY[role] ? l->primitive_desc_query_md(work, QUERY[role], 0)
                                              : NULL;
    if (!wanted || l->memory_desc_equal(wanted, &list->layout[role])) return role;
    list->layout[VENDOR_INNER + role] = *wanted;
    take_place(list, l, VENDOR_INNER + role);
    return VENDOR_INNER + role;
}

static bool add_work(const onednn_library *l, const onednn_description *work,
                     const onednn_attributes *plain, vendor_primitives *list) {
    int memory[VENDOR_TENSORS];
    for (int i = 0; i < VENDOR_TENSORS; i++) memory[i] = in_order(l, work, i, list);
    for (int i = VENDOR_SOURCE; i <= VENDOR_WEIGHTS; i++)
        if (memory[i] != i && !add_reorder(l, plain, i, memory[i], list)) return false;
    vendor_primitive *link = add_primitive(l, work, list);
    for (int i = 0; i < VENDOR_TENSORS && link; i++)
        if (list->used[i]) add_argument(link, WHICH[i], memory[i]);
    return link && (memory[VENDOR_RESULT] == VENDOR_RESULT ||
                    add_reorder(l, plain, memory[VENDOR_RESULT], VENDOR_RESULT, list));
}

static bool make_list(const onednn_library *l, const vendor_problem *p, const vendor_slice *slice,
                      onednn_attributes *plain, onednn_attributes *attributes,
                      vendor_primitives *list) {
    onednn_operation operation;
    onednn_description *work = NULL;
    const char *name = "";
    bool good = l->primitive_attr_set_scratchpad_mode(plain, ONEDNN_SCRATCHPAD_OF_USER) == 0 &&
                l->primitive_attr_set_scratchpad_mode(attributes, ONEDNN_SCRATCHPAD_OF_USER) == 0 &&
                set_attributes(l, p, attributes) == 0 &&
                describe(l, p, slice, list, &operation) == 0 &&
                l->primitive_desc_create(&work, &operation, attributes, l->engine, NULL) == 0 &&
                l->primitive_desc_query(work, ONEDNN_QUERY_NAME, 0, &name) == 0 && is_good(name) &&
                add_work(l, work, plain, list);
    snprintf(list->name, sizeof list->name, "%s", name);
    if (work) l->primitive_desc_destroy(work);
    return good;
}

bool vendor_primitives_make(const onednn_library *l, const vendor_problem *p,
                            const vendor_slice *slice, vendor_primitives *list) {
    onednn_attributes *plain = NULL, *attributes = NULL;
    memset(list, 0, sizeof *list);
    bool good = lay_out(l, slice, list) && l->primitive_attr_create(&plain) == 0 &&
                l->primitive_attr_create(&attributes) == 0 &&
                make_list(l, p, slice, plain, attributes, list);
    if (plain) l->primitive_attr_destroy(plain);
    if (attributes) l->primitive_attr_destroy(attributes);
    if (!good) vendor_primitives_free(l, list);
    return good;
}

void vendor_primitives_free(const onednn_library *l, vendor_primitives *list) {
    for (int i = 0; i < list->count; i++) l->primitive_destroy(list->all[i].primitive);
    list->count = 0;
}

/* Recognises 1,797 handwritten digits with a network of two layers, as operations on tensors. Its
 * argument is the folder examples/digits, which has images and weights. Prints how many of all, and
 * of those that the network has not seen, are right. */
#include "../digits/npy.h"
#include <hologram/ops.h>
#include <stdio.h>
#include <stdlib.h>

static void check(hg_status status) {
    if (status != HG_OK) exit((fprintf(stderr, "%s\n", hg_last_error_text()), 1));
}

/* FOLDER/NAME as a matrix, or with one column as a vector. */
static hg_tensor *load(const char *folder, const char *name, hg_element type, uint64_t rows,
                       uint64_t columns) {
    size_t size = (size_t)hg_element_size(type), count = (size_t)(rows * columns);
    void *data = npy_load(folder, name, type == HG_TYPE_U8 ? "|u1" : "<f4", size, count);
    hg_tensor *t;
    if (!data) exit(1);
    check(hg_tensor_from_host(NULL, type, data, count, (uint64_t[]){rows, columns},
                              columns > 1 ? 2 : 1, &t));
    free(data);
    return t;
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: tensor_digits FOLDER\n", stderr), 2;
    enum {
        IMAGES,
        W1,
        B1,
        W2,
        B2,
        LABELS,
        UNIT,
        X,
        SUMS,
        HIDDEN,
        SCORES,
        DIGITS,
        RIGHT,
        UNSEEN,
        ALL_COUNT,
        UNSEEN_COUNT,
        TENSORS
    };
    hg_tensor *t[TENSORS] = {load(argv[1], "data/images.npy", HG_TYPE_U8, 1797, 64),
                             load(argv[1], "weights/w1.npy", HG_TYPE_F32, 64, 64),
                             load(argv[1], "weights/b1.npy", HG_TYPE_F32, 64, 1),
                             load(argv[1], "weights/w2.npy", HG_TYPE_F32, 64, 10),
                             load(argv[1], "weights/b2.npy", HG_TYPE_F32, 10, 1),
                             load(argv[1], "data/labels.npy", HG_TYPE_U8, 1797, 1)};
    hg_executor *e;
    hg_tensor_scope *scope;
    hg_ops_options along_rows = hg_ops_defaults();
    along_rows.axes = (int64_t[]){1};
    along_rows.axis_count = 1;
    check(hg_executor_create_auto(&e));
    check(hg_tensor_full(e, HG_TYPE_F32, 0.0625, NULL, 0, &t[UNIT])); /* pixels are 0 to 16 */
    check(hg_scope_begin(e, &scope)); /* one array graph: relu is a part of the first product */
    check(hg_ops_mul(e, t[IMAGES], t[UNIT], &t[X]));
    check(hg_ops_fused_linear(e, t[X], t[W1], t[B1], &t[SUMS]));
    check(hg_ops_relu(e, t[SUMS], &t[HIDDEN]));
    check(hg_ops_fused_linear(e, t[HIDDEN], t[W2], t[B2], &t[SCORES]));
    check(hg_ops_argmax(e, t[SCORES], &along_rows, &t[DIGITS]));
    check(hg_ops_equal(e, t[DIGITS], t[LABELS], &t[RIGHT]));
    check(hg_tensor_slice(t[RIGHT], 0, 3, INT64_MAX, 4, &t[UNSEEN])); /* kept from training */
    check(hg_ops_sum(e, t[RIGHT], NULL, &t[ALL_COUNT]));
    check(hg_ops_sum(e, t[UNSEEN], NULL, &t[UNSEEN_COUNT]));
    check(hg_scope_end(scope));
    double all, unseen;
    check(hg_tensor_item(t[ALL_COUNT], &all));
    check(hg_tensor_item(t[UNSEEN_COUNT], &unseen));
    printf("%g of 1797 digits right, %g of 449 unseen ones\n", all, unseen);
    for (int i = 0; i < TENSORS; i++) hg_tensor_release(t[i]);
    hg_executor_destroy(e);
    return 0;
}

/* Recognises 1,797 handwritten digits with a network of two layers, as operations on tensors. Its
 * argument is the folder examples/digits, which has images and weights. Prints how many of all, and
 * of those that the network has not seen, are right. */
#include <hologram/ops.h>
#include <stdio.h>
#include <stdlib.h>

static void check(hg_status status) {
    if (status != HG_OK) exit((fprintf(stderr, "%s\n", hg_last_error_text()), 1));
}

/* FOLDER/NAME, in memory of the host until an operation takes it to an executor. */
static hg_tensor *load(const char *folder, const char *name) {
    char path[4096];
    hg_tensor *t;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check(hg_tensor_load(NULL, path, NULL, &t));
    return t;
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: tensor_digits FOLDER\n", stderr), 2;
    const char *from = argv[1];
    hg_tensor *images = load(from, "data/images.npy"), *labels = load(from, "data/labels.npy");
    hg_tensor *w1 = load(from, "weights/w1.npy"), *b1 = load(from, "weights/b1.npy");
    hg_tensor *w2 = load(from, "weights/w2.npy"), *b2 = load(from, "weights/b2.npy");
    hg_tensor *unit, *x, *sums, *hidden, *scores, *digits, *right, *right_unseen, *count, *unseen;
    hg_executor *e;
    hg_tensor_scope *scope;
    hg_ops_options along_rows = hg_ops_defaults();
    along_rows.axes = (int64_t[]){1};
    along_rows.axis_count = 1;
    check(hg_executor_create_auto(&e));
    check(hg_tensor_full(e, HG_TYPE_F32, 0.0625, NULL, 0, &unit)); /* pixels are 0 to 16 */
    check(hg_scope_begin(e, &scope)); /* one array graph: relu is a part of the first product */
    check(hg_ops_mul(e, images, unit, &x));
    check(hg_ops_fused_linear(e, x, w1, b1, &sums));
    check(hg_ops_relu(e, sums, &hidden));
    check(hg_ops_fused_linear(e, hidden, w2, b2, &scores));
    check(hg_ops_argmax(e, scores, &along_rows, &digits));
    check(hg_ops_equal(e, digits, labels, &right));
    check(hg_tensor_slice(right, 0, 3, INT64_MAX, 4, &right_unseen)); /* kept from training */
    check(hg_ops_sum(e, right, NULL, &count));
    check(hg_ops_sum(e, right_unseen, NULL, &unseen));
    check(hg_scope_end(scope));
    double of_all, of_unseen;
    check(hg_tensor_item(count, &of_all));
    check(hg_tensor_item(unseen, &of_unseen));
    printf("%g of 1797 digits right, %g of 449 unseen ones\n", of_all, of_unseen);
    hg_tensor *made[] = {images, labels, w1,     b1,     w2,    b2,           unit,  x,
                         sums,   hidden, scores, digits, right, right_unseen, count, unseen};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) hg_tensor_release(made[i]);
    hg_executor_destroy(e);
    return 0;
}

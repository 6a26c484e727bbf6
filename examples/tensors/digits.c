/* Recognises 1,797 handwritten digits with a network of two layers. Its argument is the folder
 * examples/digits. Prints how many of all, and of those kept from training, are right. */
#include <hologram/ops.h>
#include <stdio.h>
#include <stdlib.h>

static hg_tensor *made[16]; /* released at the end */
static int count;
static void check(hg_status status) {
    if (status != HG_OK) exit((fprintf(stderr, "%s\n", hg_last_error_text()), 1));
}
/* The tensor that a call gives, whose last argument receives it. */
#define MADE(call, ...) (check(call(__VA_ARGS__, &made[count])), made[count++])

static hg_tensor *load(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return MADE(hg_tensor_load, NULL, path, NULL); /* on the host, until an operation takes it */
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: tensor_digits FOLDER\n", stderr), 2;
    hg_tensor *images = load(argv[1], "data/images"), *labels = load(argv[1], "data/labels");
    hg_tensor *w1 = load(argv[1], "weights/w1"), *b1 = load(argv[1], "weights/b1");
    hg_tensor *w2 = load(argv[1], "weights/w2"), *b2 = load(argv[1], "weights/b2");
    hg_ops_options along_rows = hg_ops_defaults();
    along_rows.axes = (int64_t[]){1}, along_rows.axis_count = 1;
    bool right[1797];
    int all = 0, unseen = 0;
    hg_executor *e;
    check(hg_executor_create_auto(&e));
    hg_tensor *unit = MADE(hg_tensor_full, e, HG_TYPE_F32, 0.0625, NULL, 0); /* pixels: 0 to 16 */
    hg_tensor *lazy = MADE(hg_tensor_lazy, images); /* from here on one array graph is recorded */
    hg_tensor *x = MADE(hg_ops_mul, e, lazy, unit), *sums = MADE(hg_ops_fused_linear, e, x, w1, b1);
    hg_tensor *hidden = MADE(hg_ops_relu, e, sums);
    hg_tensor *scores = MADE(hg_ops_fused_linear, e, hidden, w2, b2);
    hg_tensor *digits = MADE(hg_ops_argmax, e, scores, &along_rows);
    hg_tensor *equal = MADE(hg_ops_equal, e, digits, labels);
    check(hg_tensor_to_host(equal, right, 1797)); /* which runs it */
    for (int i = 0; i < 1797; i++) all += right[i], unseen += right[i] && i % 4 == 3;
    printf("%d of 1797 digits right, %d of 449 unseen ones\n", all, unseen);
    while (count) hg_tensor_release(made[--count]);
    hg_executor_destroy(e);
    return 0;
}

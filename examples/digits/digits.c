/* Recognises 1,797 handwritten digits with the Atlas programs of programs/, through the C API.
 *
 *     digits FOLDER SHEET.png DIGITS.u8
 *
 * FOLDER is examples/digits. Prints accuracy, confusion matrix and time per image; compares with
 * the network in plain C and with every other device; writes the contact sheet of the held-out
 * digits, and what was recognised as one byte a digit. */
#include "npy.h"
#include "sheet.h"
#include <hologram/backend.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    IMAGES = 1797,
    PIXELS = 64,
    HIDDEN = 64,
    DIGITS = 10,
    HELD_OUT = 449,
    STEPS = 4,
    MOST_RUNS = 51
};

typedef struct {
    uint8_t *images, *labels;
    float *w1, *b1, *w2, *b2;
} data_set;

/* The network for a fixed number of images: buffers, and the four launches with their parameters
 * checked once. */
typedef struct {
    hg_backend *backend;
    hg_buffer pixels, x, w1, b1, hidden, w2, b2, y, digit;
    hg_executable *normalize, *layer, *argmax;
    hg_binding *step[STEPS];
} network;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static void check(hg_status status, const char *what) {
    if (status != HG_OK) fail("%s: %s", what, hg_last_error_text());
}

static double seconds_now(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static data_set load_data(const char *folder) {
    data_set d = {
        .images = npy_load(folder, "data/images.npy", "|u1", 1, IMAGES * PIXELS),
        .labels = npy_load(folder, "data/labels.npy", "|u1", 1, IMAGES),
        .w1 = npy_load(folder, "weights/w1.npy", "<f4", sizeof(float), PIXELS * HIDDEN),
        .b1 = npy_load(folder, "weights/b1.npy", "<f4", sizeof(float), HIDDEN),
        .w2 = npy_load(folder, "weights/w2.npy", "<f4", sizeof(float), HIDDEN * DIGITS),
        .b2 = npy_load(folder, "weights/b2.npy", "<f4", sizeof(float), DIGITS),
    };
    if (!d.images || !d.labels || !d.w1 || !d.b1 || !d.w2 || !d.b2) exit(1);
    return d;
}

/* Reads and assembles FOLDER/programs/NAME and makes it ready for the backend; says what is wrong
 * with the text, if anything. */
static hg_executable *load_program(hg_backend *backend, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/programs/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail("%s cannot be read", path);
    static char text[65536];
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);

    hg_diagnostics *diagnostics = hg_diagnostics_create(0);
    hg_program *program = NULL;
    if (hg_program_assemble(text, length, diagnostics, &program) != HG_OK) {
        char *message = hg_diagnostics_print(diagnostics, path, text, length);
        fail("%s", message ? message : hg_last_error_text());
    }
    hg_executable *executable = NULL;
    check(hg_executable_create(backend, program, &executable), name);
    hg_program_release(program); /* the executable keeps it */
    hg_diagnostics_destroy(diagnostics);
    return executable;
}

static hg_buffer make_buffer(hg_backend *backend, const void *data, uint64_t size) {
    hg_buffer buffer;
    check(hg_backend_allocate_buffer(backend, size, &buffer), "allocate");
    if (data) check(hg_backend_copy_to_buffer(backend, buffer, data, size), "copy");
    return buffer;
}

static hg_binding *bind_layer(hg_executable *layer, hg_buffer x, hg_buffer w, hg_buffer b,
                              hg_buffer y, float low, uint64_t n, uint64_t k, uint64_t m) {
    hg_params *params = hg_params_create();
    if (!params) fail("out of memory");
    check(hg_params_set_buffer(params, "x", x), "x");
    check(hg_params_set_buffer(params, "w", w), "w");
    check(hg_params_set_buffer(params, "b", b), "b");
    check(hg_params_set_buffer(params, "y", y), "y");
    check(hg_params_set_scalar(params, "low", HG_TYPE_F32, &low), "low");
    check(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n), "n");
    check(hg_params_set_scalar(params, "k", HG_TYPE_U64, &k), "k");
    check(hg_params_set_scalar(params, "m", HG_TYPE_U64, &m), "m");
    hg_binding *binding = NULL;
    check(hg_binding_create(layer, NULL, params, &binding), "layer");
    hg_params_destroy(params);
    return binding;
}

/* A program with one input and one output array; n rows, and m if the program has it. */
static hg_binding *bind_map(hg_executable *program, const char *in, hg_buffer from, const char *out,
                            hg_buffer to, uint64_t n, uint64_t m) {
    hg_params *params = hg_params_create();
    if (!params) fail("out of memory");
    check(hg_params_set_buffer(params, in, from), in);
    check(hg_params_set_buffer(params, out, to), out);
    check(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n), "n");
    if (m) check(hg_params_set_scalar(params, "m", HG_TYPE_U64, &m), "m");
    hg_binding *binding = NULL;
    check(hg_binding_create(program, NULL, params, &binding), in);
    hg_params_destroy(params);
    return binding;
}

static network make_network(hg_backend *backend, const char *folder, const data_set *d,
                            uint64_t n) {
    network net = {.backend = backend};
    net.pixels = make_buffer(backend, d->images, n * PIXELS);
    net.x = make_buffer(backend, NULL, n * PIXELS * sizeof(float));
    net.w1 = make_buffer(backend, d->w1, PIXELS * HIDDEN * sizeof(float));
    net.b1 = make_buffer(backend, d->b1, HIDDEN * sizeof(float));
    net.hidden = make_buffer(backend, NULL, n * HIDDEN * sizeof(float));
    net.w2 = make_buffer(backend, d->w2, HIDDEN * DIGITS * sizeof(float));
    net.b2 = make_buffer(backend, d->b2, DIGITS * sizeof(float));
    net.y = make_buffer(backend, NULL, n * DIGITS * sizeof(float));
    net.digit = make_buffer(backend, NULL, n);

    net.normalize = load_program(backend, folder, "normalize.atlas");
    net.layer = load_program(backend, folder, "layer.atlas");
    net.argmax = load_program(backend, folder, "argmax.atlas");
    const float relu = 0.0f, linear = -1.0f / 0.0f; /* -inf: nothing is cut */
    net.step[0] = bind_map(net.normalize, "pixels", net.pixels, "x", net.x, n, 0);
    net.step[1] = bind_layer(net.layer, net.x, net.w1, net.b1, net.hidden, relu, n, PIXELS, HIDDEN);
    net.step[2] = bind_layer(net.layer, net.hidden, net.w2, net.b2, net.y, linear, n, HIDDEN,
                             DIGITS);
    net.step[3] = bind_map(net.argmax, "y", net.y, "digit", net.digit, n, DIGITS);
    return net;
}

static void free_network(network *net) {
    for (int i = 0; i < STEPS; i++) hg_binding_destroy(net->step[i]);
    hg_executable_destroy(net->normalize);
    hg_executable_destroy(net->layer);
    hg_executable_destroy(net->argmax);
    const hg_buffer all[] = {net->pixels, net->x,  net->w1, net->b1,   net->hidden,
                             net->w2,     net->b2, net->y,  net->digit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(hg_backend_free_buffer(net->backend, all[i]), "free");
}

static void run_network(const network *net) {
    for (int i = 0; i < STEPS; i++) check(hg_binding_launch(net->step[i]), "launch");
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of at most MOST_RUNS runs and of about a second of them; the first, which warms
 * up, is not counted. */
static double time_network(const network *net, int *runs) {
    double seconds[MOST_RUNS], begin = seconds_now();
    run_network(net);
    for (*runs = 0; *runs < MOST_RUNS && (*runs < 3 || seconds_now() - begin < 1); ++*runs) {
        double start = seconds_now();
        run_network(net);
        seconds[*runs] = seconds_now() - start;
    }
    qsort(seconds, (size_t)*runs, sizeof *seconds, by_value);
    return seconds[*runs / 2];
}

static void print_confusion(const uint8_t *wanted, const uint8_t *found) {
    int confusion[DIGITS][DIGITS] = {{0}}, right = 0;
    for (int i = 0; i < HELD_OUT; i++) {
        confusion[wanted[i] % DIGITS][found[i] % DIGITS]++;
        right += wanted[i] == found[i];
    }
    printf("%d of %d held-out digits right: %.2f %%\n\n", right, HELD_OUT,
           100.0 * right / HELD_OUT);
    printf("is \\ seen as");
    for (int c = 0; c < DIGITS; c++) printf("%4d", c);
    printf("\n");
    for (int r = 0; r < DIGITS; r++) {
        printf("%12d", r);
        for (int c = 0; c < DIGITS; c++)
            confusion[r][c] ? (void)printf("%4d", confusion[r][c]) : (void)printf("   .");
        printf("\n");
    }
}

/* ---- the same in plain C ---- */

/* y = low or more of x*w + b. */
static void plain_layer(const double *x, const float *w, const float *b, double *y, double low,
                        int inputs, int outputs) {
    for (int j = 0; j < outputs; j++) {
        double sum = (double)b[j];
        for (int i = 0; i < inputs; i++) sum += x[i] * (double)w[i * outputs + j];
        y[j] = sum > low ? sum : low;
    }
}

static void compare_plain(const data_set *d, const uint8_t *found) {
    for (int n = 0; n < IMAGES; n++) {
        double x[PIXELS], hidden[HIDDEN], y[DIGITS];
        int best = 0;
        for (int i = 0; i < PIXELS; i++) x[i] = d->images[n * PIXELS + i] / 16.0;
        plain_layer(x, d->w1, d->b1, hidden, 0, PIXELS, HIDDEN);
        plain_layer(hidden, d->w2, d->b2, y, -1.0 / 0.0, HIDDEN, DIGITS);
        for (int i = 1; i < DIGITS; i++)
            if (y[i] > y[best]) best = i;
        if (found[n] != best) fail("image %d is seen as %d, plain C sees %d", n, found[n], best);
    }
    printf("each of the %d digits is what loops in plain C see\n", IMAGES);
}

/* ---- the same on every device ---- */

enum { DEVICES = 16 };

/* One line a device: whether its outputs have the CPU's bits. Returns whether they do; a device
 * that cannot be opened is said and passed over. */
static bool compare_device(const hg_device_info *info, uint32_t number, const char *folder,
                           const data_set *d, const float *y, const uint8_t *digits) {
    static float device_y[IMAGES * DIGITS];
    static uint8_t device_digits[IMAGES];
    hg_config config;
    hg_backend *backend = NULL;
    check(hg_config_from_env(&config), "configuration");
    snprintf(config.backend, sizeof config.backend, "%s", info->backend);
    config.device_id = number;
    double start = seconds_now();
    if (hg_backend_create_with_config(&config, &backend) != HG_OK) {
        printf("  %-8s %-48.48s not run: %s\n", info->backend, info->name, hg_last_error_text());
        return true;
    }
    network net = make_network(backend, folder, d, IMAGES);
    run_network(&net);
    double first = seconds_now() - start;
    check(hg_backend_copy_from_buffer(backend, net.y, device_y, sizeof device_y), "read");
    check(hg_backend_copy_from_buffer(backend, net.digit, device_digits, sizeof device_digits),
          "read");
    bool same = memcmp(device_y, y, sizeof device_y) == 0 &&
                memcmp(device_digits, digits, sizeof device_digits) == 0;
    int runs;
    printf("  %-8s %-48.48s %s, %.2f us an image, first result after %.0f ms\n", info->backend,
           info->name, same ? "every bit as on the CPU" : "DIFFERS FROM THE CPU",
           1e6 * time_network(&net, &runs) / IMAGES, 1e3 * first);
    free_network(&net);
    hg_backend_destroy(backend);
    return same;
}

static bool compare_devices(const char *folder, const data_set *d, network *cpu) {
    static float y[IMAGES * DIGITS];
    static uint8_t digits[IMAGES];
    hg_device_info devices[DEVICES];
    size_t count = 0;
    bool same = true;
    check(hg_backend_copy_from_buffer(cpu->backend, cpu->y, y, sizeof y), "read");
    check(hg_backend_copy_from_buffer(cpu->backend, cpu->digit, digits, sizeof digits), "read");
    check(hg_devices(devices, DEVICES, &count), "devices");
    if (count > DEVICES) count = DEVICES;
    printf("\nall %d images on every other device of this machine:\n", IMAGES);
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        number = i && strcmp(devices[i].backend, devices[i - 1].backend) == 0 ? number + 1 : 0;
        if (strcmp(devices[i].backend, "null") == 0 || strcmp(devices[i].backend, "cpu") == 0)
            continue;
        if (devices[i].available)
            same &= compare_device(&devices[i], number, folder, d, y, digits);
        else
            printf("  %-8s none: %s\n", devices[i].backend, devices[i].reason);
    }
    return same;
}

int main(int argc, char **argv) {
    if (argc != 4) fail("usage: digits FOLDER SHEET.png DIGITS.u8");
    data_set d = load_data(argv[1]);
    hg_backend *backend = NULL;
    check(hg_backend_create_auto(&backend), "backend");

    static uint8_t found[IMAGES];
    network all = make_network(backend, argv[1], &d, IMAGES),
            one = make_network(backend, argv[1], &d, 1);
    run_network(&all);
    check(hg_backend_copy_from_buffer(backend, all.digit, found, IMAGES), "read");

    /* The rows i mod 4 = 3 were held out from training. */
    static uint8_t images[HELD_OUT * PIXELS], wanted[HELD_OUT], recognised[HELD_OUT];
    for (size_t i = 0; i < HELD_OUT; i++) {
        memcpy(images + i * PIXELS, d.images + (4 * i + 3) * PIXELS, PIXELS);
        wanted[i] = d.labels[4 * i + 3];
        recognised[i] = found[4 * i + 3];
    }
    print_confusion(wanted, recognised);
    int runs, runs_alone;
    double together = time_network(&all, &runs), alone = time_network(&one, &runs_alone);
    printf("\ntime per image: %.2f us when all %d run together, %.1f us for one alone (backend %s, "
           "median of %d runs)\n",
           1e6 * together / IMAGES, IMAGES, 1e6 * alone, hg_backend_name(backend), runs);

    if (sheet_write(argv[2], images, wanted, recognised, HELD_OUT) != 0)
        fail("%s cannot be written", argv[2]);
    FILE *file = fopen(argv[3], "wb");
    if (!file || fwrite(found, 1, IMAGES, file) != IMAGES || fclose(file) != 0)
        fail("%s cannot be written", argv[3]);
    printf("contact sheet with the wrong ones in red: %s\n", argv[2]);

    compare_plain(&d, found);
    bool same = compare_devices(argv[1], &d, &all);
    free_network(&all);
    free_network(&one);
    hg_backend_destroy(backend);
    void *const loaded[] = {d.images, d.labels, d.w1, d.b1, d.w2, d.b2};
    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) free(loaded[i]);
    return same ? 0 : 1;
}

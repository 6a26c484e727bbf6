/* Grey pictures between .png and .npy files, so that `hologram run` reads and writes them: png
 * IN.png OUT.npy, or png IN.npy OUT.png. */
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *path, const char *what) {
    fprintf(stderr, "%s: %s\n", path, what);
    return 1;
}

static int to_npy(const char *from, const char *to) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, from)) return fail(from, image.message);
    image.format = PNG_FORMAT_GRAY;
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!pixels || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        free(pixels);
        return fail(from, pixels ? image.message : "out of memory");
    }
    char head[128];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10); /* version 1, 118 bytes of text */
    int length = snprintf(head + 10, 117,
                          "{'descr': '|u1', 'fortran_order': False, 'shape': (%u, %u), }",
                          (unsigned)image.height, (unsigned)image.width);
    head[10 + length] = ' ';
    head[127] = '\n';
    FILE *f = fopen(to, "wb");
    int good = f && fwrite(head, 1, sizeof head, f) == sizeof head &&
               fwrite(pixels, 1, PNG_IMAGE_SIZE(image), f) == PNG_IMAGE_SIZE(image);
    if (f && fclose(f) != 0) good = 0;
    free(pixels);
    return good ? 0 : fail(to, "cannot be written");
}

static int to_png(const char *from, const char *to) {
    unsigned char head[10], text[1024];
    unsigned height = 0, width = 0;
    FILE *f = fopen(from, "rb");
    if (!f) return fail(from, "cannot be opened");
    size_t length = fread(head, 1, 10, f) == 10 && memcmp(head, "\x93NUMPY\x01", 7) == 0
                        ? head[8] + 256u * head[9]
                        : 0;
    uint8_t *pixels = NULL;
    int good = length > 0 && length < sizeof text && fread(text, 1, length, f) == length;
    text[good ? length : 0] = 0;
    const char *shape = strstr((char *)text, "'shape': (");
    good = good && strstr((char *)text, "'|u1'") &&
           strstr((char *)text, "'fortran_order': False") && shape &&
           sscanf(shape, "'shape': (%u, %u)", &height, &width) == 2;
    good = good && height && width && height <= 65536 && width <= 65536;
    size_t bytes = (size_t)height * width;
    good = good && (pixels = malloc(bytes)) != NULL && fread(pixels, 1, bytes, f) == bytes;
    fclose(f);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_GRAY};
    int written = good && png_image_write_to_file(&image, to, 0, pixels, 0, NULL);
    free(pixels);
    if (!good) return fail(from, "expected a .npy file of u8 with two dimensions");
    return written ? 0 : fail(to, image.message);
}

int main(int argc, char **argv) {
    if (argc != 3) return fail("png", "expected IN.png OUT.npy or IN.npy OUT.png");
    size_t length = strlen(argv[1]);
    return length > 4 && strcmp(argv[1] + length - 4, ".png") == 0 ? to_npy(argv[1], argv[2])
                                                                   : to_png(argv[1], argv[2]);
}

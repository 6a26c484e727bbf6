#include "npy.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header is text: {'descr': '<f4', 'fortran_order': False, 'shape': (64, 10), }. The shape is
 * checked by the file's size alone. */
static int header_fits(const char *header, const char *dtype) {
    const char *found = strstr(header, "'descr': '");
    return found && strncmp(found + 10, dtype, strlen(dtype)) == 0 &&
           strstr(header, "'fortran_order': False");
}

void *npy_load(const char *folder, const char *name, const char *dtype, size_t element_size,
               size_t count) {
    char path[4096], header[65536];
    unsigned char start[10];
    void *data = NULL;
    const char *problem = "cannot be read";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) goto fail;
    if (fread(start, 1, 10, file) != 10) goto fail;
    problem = "is no .npy file of version 1";
    if (memcmp(start, "\x93NUMPY\x01", 7) != 0) goto fail;
    size_t length = (size_t)start[8] | (size_t)start[9] << 8;
    if (fread(header, 1, length, file) != length) goto fail;
    header[length] = '\0';
    problem = "has another dtype or order than expected";
    if (!header_fits(header, dtype)) goto fail;
    problem = "has another size than expected";
    data = malloc(count * element_size);
    if (!data || fread(data, element_size, count, file) != count || fgetc(file) != EOF) goto fail;
    fclose(file);
    return data;
fail:
    fprintf(stderr, "%s %s\n", path, problem);
    free(data);
    if (file) fclose(file);
    return NULL;
}

/* Reads the .npy files of this example: version 1, C order, one dtype expected. */
#ifndef DIGITS_NPY_H
#define DIGITS_NPY_H

#include <stddef.h>

/* The elements of FOLDER/NAME, count of them of the given dtype ("|u1", "<f4") and size; NULL with
 * a message on standard error. The caller frees it. */
void *npy_load(const char *folder, const char *name, const char *dtype, size_t element_size,
               size_t count);

#endif

/* The processor that this process runs on, as part of keys of what is kept on disk: a folder may be shared by machines that differ.
 * Must not know: what is kept. */
#ifndef HG_BASE_HOST_H
#define HG_BASE_HOST_H

#include <stddef.h>

enum { HG_HOST_TEXT = 17 }; /* 16 hexadecimal digits and a zero */

/* Text that is equal where the processor and the values of these environment variables are: its vendor, model and features, and whether
 * the system saves its vectors. The variables are other libraries' settings, which change what their code computes here; our own are read
 * in runtime/config.c. Where the processor cannot be asked only the variables count. */
void hg_host_text(const char *const *variables, size_t count, char text[HG_HOST_TEXT]);

#endif

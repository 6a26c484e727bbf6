/* The processor that this process runs on, as part of keys of what is kept on disk: a folder may be
 * shared by machines that differ.
 * Must not know: what is kept. */
#ifndef HG_BASE_HOST_H
#define HG_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum { HG_HOST_TEXT = 17 }; /* 16 hexadecimal digits and a zero */

/* Text that is equal where the processor and the values of these environment variables are: its
 * vendor, model and features, and whether the system saves its vectors. The variables are other
 * libraries' settings, which change what their code computes here; our own are read in
 * runtime/config.c. Where the processor cannot be asked only the variables count. */
void hg_host_text(const char *const *variables, size_t count, char text[HG_HOST_TEXT]);

/* The value of a variable of another library or of the system; NULL: not set, or not to be believed
 * in a program with more rights than who started it (setuid). */
const char *hg_host_variable(const char *name);
/* Hands all variables whose names begin with one of the prefixes to `each`, as NAME=VALUE, in any
 * order. */
void hg_host_variables(const char *const *prefixes, size_t count,
                       void (*each)(void *user, const char *text), void *user);
/* The first bytes of a file, at most `size`, which is fewer than it has where *length == size.
 * NULL, or why it cannot be read; "": it is not there, or there are no files. */
const char *hg_host_read(const char *path, char *bytes, size_t size, size_t *length);
/* Adds a text at the end of a file, which is made where there is none. NULL, or why it cannot. */
const char *hg_host_append(const char *path, const char *text, size_t length);
/* Whether this program has more rights than who started it, who then chooses no file that it runs
 * or writes. */
bool hg_host_privileged(void);

#endif

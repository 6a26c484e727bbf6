/* Shared libraries that are opened at run time: a driver's library may be missing, and then the
 * program runs without it.
 * Must not know: which libraries. */
#ifndef HG_BASE_LIBRARY_H
#define HG_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hg_library hg_library;

/* The first of count names that opens. NULL: none, with the system's words about the first one in
 * reason (may be NULL). */
hg_library *hg_library_open(const char *const *names, size_t count, char *reason,
                            size_t reason_size);
void hg_library_close(hg_library *library); /* NULL is fine. Only when nothing of it is used any
                                               more */
/* Stores the address of a function in *function, a pointer to any function pointer; NULL and false
 * when there is none. */
bool hg_library_function(hg_library *library, const char *name, void *function);

/* What the file that holds a function is known by, size and time, for keys of caches; "": unknown.
 * function: points to any function pointer. */
void hg_library_mark(const void *function, char *text, size_t size);

/* A file of this library's installation: beside the file that holds this code, in the folder above
 * or in ../lib, or else in `installed`. False: in none of them. A privileged program takes only the
 * installed one. */
bool hg_library_beside(const char *name, const char *installed, char *path, size_t size);

/* The absolute path of the file that holds this code: the shared library, or the program that it is
 * linked into. False: unknown. */
bool hg_library_own_path(char *path, size_t size);

#endif

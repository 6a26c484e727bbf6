/* The texts of this folder, written by cmake/embed.cmake into a source of the build.
 * Must not know: anything. */
#ifndef HG_LIBRARY_TEXTS_H
#define HG_LIBRARY_TEXTS_H

#define LIBRARY(id, text, ...) extern const char library_text_##text[];
#include "library/library.def"
#undef LIBRARY
extern const char library_text_kernels[];
extern const char library_text_elements[];
extern const char library_text_matrix[];
extern const char library_text_search[];

#endif

/* The texts of this folder, written by cmake/texts.cmake into a source of the build: hg_unpacked
 * has them.
 * Must not know: anything. */
#ifndef HG_LIBRARY_TEXTS_H
#define HG_LIBRARY_TEXTS_H

#include "io/packed.h"

#define LIBRARY(id, text, ...) extern hg_packed library_text_##text;
#include "library/library.def"
#undef LIBRARY
extern hg_packed library_text_kernels;
extern hg_packed library_text_elements;
extern hg_packed library_text_matrix;
extern hg_packed library_text_search;

#endif

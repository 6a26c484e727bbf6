/* The words of the vector form's text, for the printer and the reader. */
#ifndef HG_VECTOR_TEXT_INTERNAL_H
#define HG_VECTOR_TEXT_INTERNAL_H

#include "kir/words.h"
#include "vector/vector.h"

extern const kir_words vec_reach_words, vec_mem_flag_words;
/* Truth values of a place that are words of its text, in the order of vec_mem_flag_words. */
enum { VEC_MEM_FLAGS = 5 };
bool *vec_mem_flag(vec_value *v, size_t i);
/* Bytes of an element where the text does not say: as large as what is moved. 0: nothing is. */
uint8_t vec_text_bytes(const vec_value *v);

#endif

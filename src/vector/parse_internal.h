/* Inside the reader of the vector form's text. */
#ifndef HG_VECTOR_PARSE_INTERNAL_H
#define HG_VECTOR_PARSE_INTERNAL_H

#include "kir/reader.h"
#include "vector/parse.h"
#include "vector/text_internal.h"

typedef HG_VEC(vec_var *) vec_var_list; /* by id; NULL: not declared */

typedef struct vec_reader {
    kir_reader r; /* its module has the strings */
    vec_kernel *k;
    vec_function *f;    /* being read */
    vec_region *region; /* open */
    uint32_t inst, depth, place;
    vec_var_list vars, shared;  /* of the function; of all functions */
    HG_VEC(vec_value *) values; /* of the function, by the number of the text; NULL: none */
    HG_VEC(vec_function *) by_id;
} vec_reader;

/* parse_names.c */
bool vec_read_numbered(kir_reader *r, char letter, const char *what, uint32_t *n); /* "f3": the
                                                                                      letter and a
                                                                                      number, as one
                                                                                      word */
bool vec_read_var_name(vec_reader *s, bool *shared, char *letter, uint32_t *id);   /* $v3 is shared,
                                                                                      v3 the
                                                                                      function's */
char vec_var_letter(const vec_var *v); /* m: a mask, a: an array, v: each, s: one */
bool vec_is_var(const vec_reader *s);
bool vec_read_var(vec_reader *s, vec_var **var);
bool vec_read_function_name(vec_reader *s, vec_function **f);
/* parse_op.c: a line of a body that begins with a result or an operation's name. */
bool vec_read_operation(vec_reader *s);

#endif

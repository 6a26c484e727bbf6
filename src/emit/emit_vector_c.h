/* Inside the printer of vector form as C with vector extensions. */
#ifndef HG_EMIT_EMIT_VECTOR_C_H
#define HG_EMIT_EMIT_VECTOR_C_H

#include "vector/vector.h"

/* A CHECK that is made, with the one that answers for it. */
typedef struct vc_check {
    bool made, safe; /* safe: pN is where loads of the place read */
    bool loaded;     /* the load behind it is done in its branches */
    uint32_t by;
} vc_check;

/* The limit of indices from which on memory is reached as far as `high`: limit_N, of a size. */
enum { VC_MOST_LIMITS = 16 };
typedef struct vc_limit {
    const vec_value *of; /* a CHECK of that memory */
    int64_t high;
} vc_limit;

/* Of a value that is one: whether vectors of it are used, and whether eN is one. */
enum { VC_SPLAT_USED = 1, VC_SPLAT_MADE = 2 };

typedef struct vc_printer {
    hg_text *out;
    vec_kernel *k;
    const vec_function *f;
    const char *name; /* of the kernel in C */
    uint32_t bytes;   /* of a native vector */
    uint32_t indent, inst;
    uint32_t mask_bytes; /* of an element of masks in variables */
    uint8_t *widths;     /* by value id: bytes of an element of a bool that is each */
    vc_check *checks;    /* by value id */
    uint8_t *splats;     /* by value id: VC_SPLAT_USED, VC_SPLAT_MADE */
    vc_limit limits[VC_MOST_LIMITS];
    uint32_t limit_count;
    hg_text sites; /* of faults */
    uint32_t site_count;
    bool settled;        /* where all goes well */
    bool all_run;        /* there, and no lane ends */
    uint32_t in_stretch; /* loads or stores that follow here and are done */
    bool local;          /* the kernel is a static function */
    const char *unsupported;
} vc_printer;

/* Bytes of an element of a value that is each. */
uint32_t vc_size(const vc_printer *p, const vec_value *v);
static inline uint32_t vc_parts(const vc_printer *p, uint32_t size) {
    uint32_t all = p->k->lanes * size;
    return all < p->bytes ? 1 : all / p->bytes;
}
static inline uint32_t vc_part_lanes(const vc_printer *p, uint32_t size) {
    return p->k->lanes / vc_parts(p, size);
}
const char *vc_type(const vc_printer *p, const vec_value *v); /* "f32", "b32" */
const char *vc_scalar(uint8_t type);                          /* "float" */
const char *vc_mask_type(uint32_t size);                      /* "b32" */
const char *vc_short(uint8_t type);                           /* "f32" */

void vc_line(vc_printer *p, const char *format, ...) HG_PRINTF(2, 3); /* a line, indented */
void vc_open(vc_printer *p, const char *format, ...) HG_PRINTF(2, 3);
void vc_block(vc_printer *p); /* "{" */
void vc_close(vc_printer *p);
/* Text of a value that is one. */
void vc_one(const vc_printer *p, hg_text *out, const vec_value *v);
/* Text of part i of a value as a vector of hgv_TYPE: a splat of one that is one; a bool in elements
 * of `size` bytes. */
void vc_part(const vc_printer *p, hg_text *out, const vec_value *v, uint32_t size, uint32_t i);
/* Finds the values of the function that are one and are used as vectors. */
void vc_find_splats(vc_printer *p);
/* Behind the definition of a value that is one: a vector of it, if it is used as one. There a load
 * and the vector are one instruction; compilers do not move the second back to the first. */
void vc_splat(vc_printer *p, const vec_value *v);
/* Whether the mask is known to have all lanes; NULL: those that run. */
bool vc_is_all(const vc_printer *p, const vec_value *mask);
/* The lanes of a mask as bits; NULL: run. */
void vc_bits(const vc_printer *p, hg_text *out, const vec_value *mask);
/* An array `NAME` of all lanes' elements of a value, which may be one. */
void vc_spill(vc_printer *p, const char *name, const vec_value *v);
/* Declares the value from such an array. */
void vc_unspill(vc_printer *p, const char *name, const vec_value *v);

/* Of a kernel that runs a block. */
static inline bool vc_in_block(const vc_printer *p) {
    return p->k->blocks && p->f == p->k->functions;
}
void vc_prim(vc_printer *p, const vec_value *v);
void vc_exchange(vc_printer *p, const vec_value *v);
void vc_slide(vc_printer *p, const vec_value *v);
void vc_pick(vc_printer *p, const vec_value *v);
void vc_declare_limits(vc_printer *p); /* of the checks of a function, calculated once */
void vc_memory(vc_printer *p, const vec_value *v); /* PLACE operations and FAULT_IF */
/* Lanes in the word `gone` end: they are taken out of the lanes that run and of the masks that v
 * names. */
void vc_end(vc_printer *p, const vec_value *v, const char *gone);
void vc_lose(vc_printer *p, const vec_value *v, const char *gone); /* out of the masks alone */
typedef struct vc_name {
    char text[32];
} vc_name;
vc_name vc_var(const vec_var *v); /* "x3", "shared->g3"; the parts of one that is each add "_0" … */
uint32_t vc_var_size(const vc_printer *p, const vec_var *v); /* bytes of an element */

#endif
